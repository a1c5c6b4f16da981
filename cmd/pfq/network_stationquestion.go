package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/input"
	"productform/network"
	"productform/num"
	"productform/sim"
	simnetwork "productform/sim/network"
	"productform/sizes"
)

// populations holds a class and its populations.
type populations struct {
	class string // "" for the only closed class
	row   int    // its row in the model, set by find
	list  []*big.Rat
}

const mostPopulations = 10_000

func addPopulations(cmd *cobra.Command, target *populations) {
	cli.Flag[populations]{Name: "population", Kind: "[CLASS=]LIST",
		Usage: "solve once for each population of a closed class, such as 1:100:1 or user=10,20,50",
		Want: fmt.Sprintf("numbers of jobs or ranges FROM:TO:STEP, after CLASS= if several classes are closed, "+
			"at most %d in total", mostPopulations),
		Hint: command.HintRange, Parse: parsePopulations}.Add(cmd, target)
}

// parsePopulations reads [CLASS=]LIST.
func parsePopulations(text string) (p populations, ok bool) {
	list := text
	if at := strings.LastIndex(text, "="); at >= 0 {
		p.class, list = text[:at], text[at+1:]
	}
	for word := range strings.SplitSeq(list, ",") {
		values, ok := command.ParseFactors(word)
		if !ok {
			return p, false
		}
		p.list = append(p.list, values...)
	}
	isFraction := func(v *big.Rat) bool { return !v.IsInt() }
	return p, len(p.list) <= mostPopulations && !slices.ContainsFunc(p.list, isFraction)
}

// find finds the row of the class.
func (p *populations) find(m *network.Model) error {
	var closed []int
	var names []string
	for c := range m.Classes {
		if m.Classes[c].Population > 0 {
			closed, names = append(closed, c), append(names, m.Classes[c].Name)
		}
		if m.Classes[c].Name == p.class {
			p.row = c
			return nil
		}
	}
	switch {
	case p.class != "":
		return cli.FlagError{Err: input.Errorf("--population", p.class, "%s",
			file.WantName("the name of a class with a population", p.class, names))}
	case len(closed) == 1:
		p.row = closed[0]
		return nil
	case len(closed) == 0:
		return cli.FlagError{Err: errors.New("--population needs a class with a population")}
	}
	return cli.FlagError{Err: input.Errorf("--population", "", "CLASS= before the list, one of %s",
		strings.Join(names, ", "))}
}

// stations are a network.
type stations struct {
	*network.Model
	uneven error // reason why there are no formulas although it can be simulated; nil if there are
	isLINE bool  // whether the file has the format of LINE
}

func (n stations) isOpen() bool {
	return slices.ContainsFunc(n.Classes, func(c network.Class) bool { return c.ArrivalRate != nil })
}

func (n stations) scale(factor *big.Rat) networkModel {
	n.Model = n.Scale(factor)
	return n
}

func (n stations) meanSize() *big.Rat { return nil }

func (n stations) system(shape sizes.Distribution) sim.System {
	return simnetwork.Network{Model: n.Model, Shape: shape}
}

func (n stations) decide(f *networkQuestion, q command.Query) (
	over *unstable, solve func() (networkSolution, error), err error,
) {
	limits, err := command.WithProgress(q, func(ctx context.Context) (*network.Stability, error) {
		return network.CheckStability(ctx, n.Model)
	})
	switch {
	case err != nil:
		return nil, nil, err
	case !limits.Stable:
		load, station := limits.Stations[limits.Critical], n.Stations[limits.Critical].Name
		at := &critical{limits.CriticalScale, station}
		return &unstable{false, at, n.names(load.Bottleneck), load.Work, load.Capacity}, nil, nil
	case f.bounds:
		return nil, func() (networkSolution, error) { return n.bounds(q, limits) }, nil
	case f.populations.list != nil:
		return nil, func() (networkSolution, error) { return n.sweep(f, q, limits) }, nil
	}
	return nil, func() (networkSolution, error) { return n.solve(f, q, limits) }, nil
}

// solve solves the network. If it is too large, but simulated, a note replaces the exact numbers.
func (n stations) solve(f *networkQuestion, q command.Query, limits *network.Stability) (s networkSolution, err error) {
	var r *network.Result
	if n.uneven == nil {
		r, err = command.WithProgress(q, func(ctx context.Context) (*network.Result, error) {
			return n.means(ctx, f, q)
		})
		if err = f.unlessNoted(q, "means", err); err != nil {
			return s, err
		}
	}
	t, err := command.WithProgress(q, func(ctx context.Context) (knownTimes, error) { return n.times(ctx, f, r) })
	if err = f.unlessNoted(q, "percentiles", err); err != nil {
		return s, err
	}
	return n.solution(f, r, limits, t), nil
}

// unlessNoted returns err. But if the network is simulated and is too large to solve, unlessNoted
// writes a note and returns nil.
func (f *networkQuestion) unlessNoted(q command.Query, what string, err error) error {
	var large *num.TooLargeError
	if f.simulation.Runs > 0 && errors.As(err, &large) {
		fmt.Fprintf(q.Stderr, "pfq: note: no exact %s: %s\n", what, cli.OneLine(err))
		return nil
	}
	return err
}

// manyStates is the number of states from which an enclosure takes long enough to announce.
const manyStates = 50_000

// means computes the means. Before a long enclosure, it reports which tolerance float64 meets.
func (n stations) means(ctx context.Context, f *networkQuestion, q command.Query) (*network.Result, error) {
	s := f.settings
	if s.Engine != num.Auto {
		return network.Answer(ctx, n.Model, f.asked, s)
	}
	quick := s
	quick.Engine = num.Float
	r, err := network.Answer(ctx, n.Model, f.asked, quick)
	switch {
	case err != nil:
	case r.RelativeErrorBound <= s.RelTol:
		return r, nil
	case r.States >= manyStates:
		fmt.Fprintf(q.Stderr, "pfq: note: float64 proves a relative error of %.2g only; engine enclose takes "+
			"about 20 times as long. For the answer of float64, give --tol %s or --engine float\n",
			r.RelativeErrorBound, tolAbove(r.RelativeErrorBound))
	}
	return network.Answer(ctx, n.Model, f.asked, s)
}

// tolAbove returns the smallest one-digit number above a bound, in the form of a flag value.
func tolAbove(bound float64) string {
	exponent := int(math.Floor(math.Log10(bound)))
	return fmt.Sprintf("%.0fe%d", math.Floor(bound/math.Pow10(exponent))+1, exponent)
}

// knownTimes are the distributions of times for each row of visits and chains in the answer, nil if
// they are not known.
type knownTimes struct {
	visits []*network.VisitDelays
	chains []*network.ResponseTime
}

// times returns the requested distributions of times, none without --percentiles and --within, or
// if the network is not solved.
func (n stations) times(ctx context.Context, f *networkQuestion, r *network.Result) (known knownTimes, err error) {
	if f.percentiles == nil && f.within == nil || r == nil {
		return known, nil
	}
	asked := network.DelayQuestion{Times: f.within}
	for _, p := range f.percentiles {
		asked.Levels = append(asked.Levels, p.Level)
	}
	settings := network.Settings{RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
	if f.percentiles != nil {
		if known.chains, err = network.ResponseTimes(ctx, n.Model, asked.Levels, nil, settings); err != nil {
			return knownTimes{}, err
		}
	}
	for i, s := range r.Stations {
		ofStation := make([]*network.VisitDelays, len(s.Visits))
		if n.Stations[i].KnowsDelays() {
			asked.Station = i
			visits, err := network.Delays(ctx, n.Model, asked, settings)
			if err != nil {
				return knownTimes{}, err
			}
			for k := range visits {
				ofStation[k] = &visits[k]
			}
		}
		known.visits = append(known.visits, ofStation...)
	}
	return known, nil
}

// sweep solves the network for all populations.
func (n stations) sweep(f *networkQuestion, q command.Query, limits *network.Stability) (s networkSolution, err error) {
	class := f.populations.row
	results, err := command.WithProgress(q, func(ctx context.Context) ([]*network.Result, error) {
		change := network.Change{Parameter: network.Population, Class: class, Values: f.populations.list}
		return network.Sweep(ctx, n.Model, change, f.asked, f.settings)
	})
	var bad *input.Error
	if errors.As(err, &bad) && bad.Path == input.Index("classes", class)+".population" {
		return s, cli.FlagError{Err: &input.Error{Path: "--population", Value: cmp.Or(bad.Value, "0"), Want: bad.Want}}
	}
	if err != nil {
		return s, err
	}
	known := make([]knownTimes, len(results))
	for k, size := range f.populations.list {
		at := n.withPopulation(class, int(size.Num().Int64()))
		known[k], err = command.WithProgress(q.Of("population").Part(k, len(results)),
			func(ctx context.Context) (knownTimes, error) { return at.times(ctx, f, results[k]) })
		if err != nil {
			return s, err
		}
	}
	return n.swept(f, results, known, limits), nil
}

// bounds encloses the throughputs and delays of the closed chains.
func (n stations) bounds(q command.Query, limits *network.Stability) (s networkSolution, err error) {
	chains, err := network.Bounds(q.Ctx, n.Model)
	if err != nil {
		return s, err
	}
	return n.bounded(chains, limits), nil
}
