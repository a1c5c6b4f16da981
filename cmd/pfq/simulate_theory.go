package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/num"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

// A theory holds the exact values of the estimated quantities.
type theory struct {
	means   *bf.Result // nil if balanced fairness is not exact or takes too long
	missing string     // reason why there are no means
	delays  exactDelays
}

// maxWork limits the operations for exact values to about ten seconds of one core.
const maxWork = 1e10

// solve computes the exact values of a system, if any, within maxWork operations and the memory
// that pfq solve allows by default. It returns an error only if it is interrupted.
func (f *simulateQuestion) solve(q command.Query, c simcluster.Cluster) (t theory, err error) {
	if t.missing, err = f.isInexact(c); t.missing != "" || err != nil {
		return t, err
	}
	t.means, err = command.WithProgress(q, func(ctx context.Context) (*bf.Result, error) {
		asked := bf.Question{MaxJobs: min(f.settings.Distribution, bf.MostJobs)}
		return bf.Answer(ctx, c.Model, asked, bf.Settings{MaxWork: maxWork})
	})
	var large *num.TooLargeError
	switch {
	case err == nil:
		t.delays, err = f.solveDelays(q, c.Model, t.means)
		return t, err
	case errors.Is(err, command.ErrInterrupted):
		return t, err
	}
	t.missing = "there are no exact values: " + cli.OneLine(err)
	if errors.As(err, &large) && large.Bytes <= float64(large.Limit) {
		t.missing += "; pfq solve allows more operations"
	}
	return theory{missing: t.missing}, nil
}

// isInexact returns the reason why balanced fairness is not exact for a system, or "" if it is.
func (f *simulateQuestion) isInexact(c simcluster.Cluster) (why string, err error) {
	mean, err := sizes.Mean(c.Sizes)
	if err != nil {
		return "", err
	}
	e, err := sizes.NewExponential(mean)
	if err != nil {
		return "", err
	}
	_, differ := c.Model.OneMeanSize()
	switch {
	case f.settings.Horizon != 0:
		return "there are no exact values over a horizon", nil
	case c.Policy == simcluster.ProcessorSharing:
		return "", nil
	case differ != nil:
		return "first come, first served has no exact values", nil
	case c.Sizes.String() != e.String():
		return "first come, first served has exact values for exponential sizes only", nil
	}
	return "", nil
}

// mostProducts limits the products for exact percentiles to about ten seconds of one core.
const mostProducts = 1e10

// exactDelays holds percentiles of delays in the order of --percentiles, nil if they are not known.
type exactDelays struct {
	all     []num.Value
	classes [][]num.Value
}

// of returns the percentiles of a class.
func (d exactDelays) of(class int) []num.Value {
	if d.classes == nil {
		return nil
	}
	return d.classes[class]
}

// solveDelays computes the percentiles, given the means, if they are exact, that is, under FCFS. If
// they would take too long, it writes a note and returns none.
func (f *simulateQuestion) solveDelays(q command.Query, m *cluster.Model, means *bf.Result) (d exactDelays, err error) {
	if len(f.percentiles) == 0 || f.policy != string(simcluster.FCFS) {
		return d, nil
	}
	note := func(why string) { fmt.Fprintln(q.Stderr, "pfq: note: no exact percentiles with the estimates:", why) }
	var levels []*big.Rat
	highest := new(big.Rat)
	for _, p := range f.percentiles {
		levels = append(levels, p.Level)
		if p.Level.Cmp(highest) > 0 {
			highest = p.Level
		}
	}
	if products := delayProducts(m, means, highest); products > mostProducts {
		note(fmt.Sprintf("they take about %.1g products; the limit is %g", products, float64(mostProducts)))
		return d, nil
	}
	d, err = command.WithProgress(q, func(ctx context.Context) (d exactDelays, err error) {
		s := bf.Settings{Engine: num.Float, MaxBytes: 1 << 30}
		r, err := bf.Answer(ctx, m, bf.Question{Levels: levels, OfAll: true}, s)
		if err != nil {
			return d, err
		}
		for _, c := range r.Classes {
			d.classes = append(d.classes, c.Quantiles)
		}
		d.all = r.Quantiles
		return d, nil
	})
	if err != nil && !errors.Is(err, command.ErrInterrupted) {
		note(cli.OneLine(err))
		return exactDelays{}, nil
	}
	return d, err
}

// delayProducts estimates the products that percentiles up to a level require, given the means.
// Each step takes as many as the lattice has elements. There are as many steps as events in the
// time that an exponential delay of twice the mean exceeds with the probability 1-level.
// Elimination takes no steps: for each server, its products are those of functions of as many
// variables as its width.
func delayProducts(m *cluster.Model, means *bf.Result, level *big.Rat) float64 {
	const solves = 6 // one for each of a few classes, and for all jobs
	var capacity, delay, products float64
	for _, s := range m.Servers {
		v, _ := s.Capacity.Float64()
		capacity += v * float64(s.Size())
	}
	for _, c := range means.Classes {
		if c.MeanDelay != nil {
			delay = max(delay, c.MeanDelay.Float)
		}
	}
	size, _ := num.OrOne(m.MeanSize).Float64()
	rest, _ := new(big.Rat).Sub(big.NewRat(1, 1), level).Float64()
	events := capacity / size * 2 * delay * -math.Log(rest)
	for _, part := range means.Parts {
		classes, servers := float64(len(part.Classes)), float64(len(part.Servers))
		each := classes * float64(part.States)
		switch part.Lattice {
		case bf.EliminationLattice:
			// about 150 points along each time, and a few thousand operations for each
			products += 1e4 * servers * math.Pow(150, float64(part.Width))
			continue
		case bf.ConnectedLattice: // a lattice that delays do not need
			each = classes * math.Exp2(min(classes, servers))
		case bf.ServerLattice, bf.SymmetricLattice:
			each *= servers
		}
		products += each * (events + 8*math.Sqrt(events))
	}
	return solves * products
}
