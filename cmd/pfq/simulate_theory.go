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
	"productform/gang"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/num"
	"productform/oiqueue"
	"productform/oneserver"
	simcluster "productform/sim/cluster"
)

// A theory holds the exact values of the estimated quantities.
type theory struct {
	means        *bf.Result                // nil if balanced fairness is not exact or takes too long
	oneServer    *oneserver.Result         // the same for one server per job
	patience     *oneserver.PatienceResult // the same if waiting jobs give up
	gang         *gang.Result              // the same for jobs that hold several servers at once
	timeouts     *oiqueue.TimeoutResult    // the same for jobs that time out
	missing      string                    // reason why there are no means
	distribution []num.Value               // probabilities of the numbers of jobs
	delays       exactTimes
	waiting      exactTimes // for one server per job
}

// exact returns the exact means as fields of an answer, nil if there are none.
func (s *simulation) exact() render.Record {
	switch {
	case s.known.gang != nil:
		return s.exactGang()
	case s.known.oneServer != nil:
		return exactOne(render.Fields(s.known.oneServer))
	case s.known.patience != nil:
		return exactOne(render.Fields(s.known.patience))
	case s.known.timeouts != nil:
		return render.Fields(s.known.timeouts).Set("servers", make([]render.Record, len(s.model.Servers)), "")
	case s.known.means != nil:
		return render.Fields(s.known.means)
	}
	return nil
}

// maxWork limits the operations for exact values to about ten seconds of one core.
const maxWork = 1e10

// solve computes the exact values of a system, if any, within maxWork operations and the memory
// that pfq solve allows by default. known holds the means of jobs that hold several servers at
// once, if they are known. It returns an error only if it is interrupted.
func (f *simulateQuestion) solve(q command.Query, c simcluster.Cluster, known *gang.Result) (t theory, err error) {
	if c.Model.Service == cluster.Gang {
		return f.theoryOfGang(q, c, known)
	}
	if t.missing, err = f.isInexact(c); t.missing != "" || err != nil {
		return t, err
	}
	if c.Model.RequireNoTimeouts() != nil {
		t.timeouts, err = command.WithProgress(q, func(ctx context.Context) (*oiqueue.TimeoutResult, error) {
			return oiqueue.SolveTimeouts(ctx, c.Model, oiqueue.TimeoutSettings{})
		})
		if err != nil && !errors.Is(err, command.ErrInterrupted) {
			return theory{missing: noExactValues(err)}, nil
		}
		return t, err
	}
	if c.Model.Service == cluster.OneServer {
		return f.solveOne(q, c.Model)
	}
	t.means, err = command.WithProgress(q, func(ctx context.Context) (*bf.Result, error) {
		asked := bf.Question{MaxJobs: min(f.settings.Distribution, bf.MostJobs)}
		return bf.Answer(ctx, c.Model, asked, bf.Settings{MaxWork: maxWork})
	})
	var large *num.TooLargeError
	switch {
	case err == nil:
		t.distribution = t.means.JobsDistribution
		t.delays, err = f.solveDelays(q, c, t.means)
		return t, err
	case errors.Is(err, command.ErrInterrupted):
		return t, err
	}
	t.missing = noExactValues(err)
	if errors.As(err, &large) && large.Bytes <= float64(large.Limit) {
		t.missing += "; pfq solve allows more operations"
	}
	return theory{missing: t.missing}, nil
}

// noExactValues returns the reason why a solver has failed.
func noExactValues(err error) string { return "there are no exact values: " + cli.OneLine(err) }

// isInexact returns the reason why theory has no exact values for a system, or "" if it has.
func (f *simulateQuestion) isInexact(c simcluster.Cluster) (why string, err error) {
	exponential, err := isExponential(c.Sizes)
	if err != nil {
		return "", err
	}
	_, differ := c.Model.OneMeanSize()
	switch one := c.Model.Service == cluster.OneServer; {
	case f.settings.Horizon != 0:
		return "there are no exact values over a horizon", nil
	case timesOut(c.Model) && c.Policy != simcluster.FCFS && c.Policy != simcluster.LongestIdle:
		return fmt.Sprintf("jobs that time out have no exact values under the policy %s", c.Policy), nil
	case one && c.Policy != simcluster.LongestIdle && c.Policy != simcluster.LeastWork:
		return fmt.Sprintf("the policy %s has no exact values", c.Policy), nil
	case one && c.Policy == simcluster.LeastWork && givesUp(c.Model):
		return "the policy least-work has no exact values if jobs give up", nil
	case one && (differ != nil || !exponential):
		return "one server per job has exact values only for exponential sizes with one mean", nil
	case c.Policy == simcluster.ProcessorSharing:
		return "", nil
	case differ != nil:
		return "first come, first served has no exact values", nil
	case !exponential:
		return "first come, first served has exact values for exponential sizes only", nil
	}
	return "", nil
}

// mostProducts limits the products for exact percentiles to about ten seconds of one core.
const mostProducts = 1e10

// exactTimes holds percentiles of times in the order of --percentiles, nil if they are not known.
type exactTimes struct {
	all     []num.Value
	classes [][]num.Value
}

// of returns the percentiles of a class.
func (d exactTimes) of(class int) []num.Value {
	if d.classes == nil {
		return nil
	}
	return d.classes[class]
}

// solveDelays computes the percentiles, given the means, if they are exact, that is, under FCFS. If
// they would take too long, it writes a note and returns none.
func (f *simulateQuestion) solveDelays(q command.Query, c simcluster.Cluster, means *bf.Result) (
	d exactTimes, err error,
) {
	if len(f.percentiles) == 0 || c.Policy != simcluster.FCFS {
		return d, nil
	}
	m := c.Model
	levels, highest := f.levels()
	if products := delayProducts(m, means, highest); products > mostProducts {
		noteProducts(q, products)
		return d, nil
	}
	d, err = command.WithProgress(q, func(ctx context.Context) (d exactTimes, err error) {
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
		noteTimes(q, cli.OneLine(err))
		return exactTimes{}, nil
	}
	return d, err
}

// levels returns the levels of the percentiles, and the highest of them.
func (f *simulateQuestion) levels() (levels []*big.Rat, highest *big.Rat) {
	highest = new(big.Rat)
	for _, p := range f.percentiles {
		levels = append(levels, p.Level)
		if p.Level.Cmp(highest) > 0 {
			highest = p.Level
		}
	}
	return levels, highest
}

// noteTimes explains why there are no exact percentiles.
func noteTimes(q command.Query, why string) {
	fmt.Fprintln(q.Stderr, "pfq: note: no exact percentiles with the estimates:", why)
}

// noteProducts explains that exact percentiles take too many products.
func noteProducts(q command.Query, products float64) {
	noteTimes(q, fmt.Sprintf("they take about %.1g products; the limit is %g", products, float64(mostProducts)))
}

// delayProducts estimates the products that percentiles up to a level require, given the means.
// Each step takes as many as the lattice has elements. There are as many steps as events in the
// time that an exponential delay of twice the mean exceeds with the probability 1-level.
// Elimination takes no steps: for each server, its products are those of functions of as many
// variables as its width.
func delayProducts(m *cluster.Model, means *bf.Result, level *big.Rat) float64 {
	const solves = 6 // one for each of a few classes, and for all jobs
	var delay, products float64
	for _, c := range means.Classes {
		if c.MeanDelay != nil {
			delay = max(delay, c.MeanDelay.Float)
		}
	}
	rest, _ := new(big.Rat).Sub(big.NewRat(1, 1), level).Float64()
	events := eventsUntil(m, delay, rest)
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

// eventsUntil estimates the events of a cluster, at most one for each job that its servers can do,
// in the time that an exponential delay of twice the given mean exceeds with probability rest.
func eventsUntil(m *cluster.Model, delay, rest float64) float64 {
	capacity := 0.0
	for _, s := range m.Servers {
		v, _ := s.Capacity.Float64()
		capacity += v * float64(s.Size())
	}
	size, _ := num.OrOne(m.MeanSize).Float64()
	return capacity / size * 2 * delay * -math.Log(rest)
}
