package sim_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"productform/cluster"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/num"
	"productform/oiqueue"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sim/farm"
	"productform/sim/internal/simtest"
	"productform/sim/pool"
	"productform/sim/queue"
	"productform/sweep"
	"productform/tags"
)

// quantileOf returns the time t at which a tail P(T > t), which decreases to 0, is 1-level.
func quantileOf(tail func(float64) float64, level float64) float64 {
	low, high := 0.0, 1.0
	for tail(high) > 1-level {
		low, high = high, 2*high
	}
	for range 60 {
		if mid := (low + high) / 2; tail(mid) > 1-level {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// Tails of delays at load 3/5 for servers of speed 1 and exponential sizes with mean 1. Under FCFS
// with one server the delay is exponential. With two servers it is the size plus the wait, which is
// 0 with probability 1-C by Erlang's formula and otherwise exponential with rate 2-λ.
const load = 0.6

func oneServerTail(t float64) float64 { return math.Exp(-(1 - load) * t) }

func twoServersTail(t float64) float64 {
	wait, rate := 2*load*load/(1+load), 2-2*load
	return (1-wait)*math.Exp(-t) + wait*(rate*(math.Exp(-rate*t)-math.Exp(-t))/(1-rate)+math.Exp(-rate*t))
}

// sharedTail returns the tail under processor sharing. An arriving job finds n others with
// probability (1-ρ)ρ^n. While it is present, n grows at rate λ and falls at rate n/(n+1), and the
// job finishes at rate 1/(n+1). All rates sum to at most λ+1, so by uniformization the tail is the
// mean, over a Poisson number of steps, of the probability that the job is still present.
func sharedTail(t float64) float64 {
	const most = 120 // ρ^120 is 1e-27
	rate := (load + 1) * t
	present := make([]float64, most+1)
	for n := range present {
		present[n] = (1 - load) * math.Pow(load, float64(n))
	}
	tail, logWeight := 0.0, -rate
	for k := 0.0; k < rate+12*math.Sqrt(rate)+60; k++ {
		tail += math.Exp(logWeight) * sim.Sum(present)
		logWeight += math.Log(rate / (k + 1))
		next := make([]float64, most+1)
		for n, p := range present {
			others := float64(n)
			next[min(n+1, most)] += p * load / (load + 1)
			if n > 0 {
				next[n-1] += p * others / (others + 1) / (load + 1)
			}
		}
		present = next
	}
	return tail
}

// exactQuantiles lists systems with one or two servers and the tails of their delays.
func exactQuantiles(t *testing.T) []struct {
	name   string
	system sim.System
	tail   func(float64) float64
} {
	one := big.NewRat(1, 1)
	rate, half := big.NewRat(3, 5), big.NewRat(3, 10)
	model := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: one}}, Classes: []cluster.Class{
		{Name: "a", ArrivalRate: half, Servers: cluster.On(0)}, {Name: "b", ArrivalRate: half, Servers: cluster.On(0)}}}
	exponential := simtest.Sizes(t, "exponential", 1)
	return []struct {
		name   string
		system sim.System
		tail   func(float64) float64
	}{
		{"FCFS cluster", simcluster.Cluster{Model: model}, oneServerTail},
		{
			"cluster under processor sharing", simcluster.Cluster{Model: model, Policy: simcluster.ProcessorSharing},
			sharedTail,
		},
		{"order-independent queue", queue.Queue{
			Model: &oiqueue.Queue{ArrivalRates: []*big.Rat{half, half}, Rank: []*big.Rat{nil, one, one, one}},
		}, oneServerTail},
		{
			"network", queue.Network{ArrivalRates: []*big.Rat{half, half}, Rank: []*big.Rat{nil, one, one, one}},
			sharedTail,
		},
		{
			"farm with one queue",
			farm.Farm{Model: tags.Model{Sizes: exponential, Hosts: 2, Load: load}, Policy: tags.PolicyCentral},
			twoServersTail,
		},
		{
			"farm at random",
			farm.Farm{Model: tags.Model{Sizes: exponential, Hosts: 2, Load: load}, Policy: tags.PolicyRandom},
			oneServerTail,
		},
		{
			"divisible pool",
			pool.Divisible{Traffic: traffic.Model{Resources: []fluid.Resource{{Name: "r", Capacity: one}},
				Classes: []traffic.Class{{Name: "a", Demand: []*big.Rat{one}, ArrivalRate: rate}}}, Policy: fluid.PF},
			sharedTail,
		},
		{"tasks", pool.Tasks{Resources: []string{"r"}, Machines: []pool.Machine{{Capacity: []*big.Rat{one}}},
			Jobs:   []pool.TaskClass{{Name: "a", Demand: []*big.Rat{one}, ArrivalRate: rate}},
			Policy: fluid.DRF}, oneServerTail},
	}
}

// Estimates match known quantiles, for every engine, for all jobs and for each class.
func TestKnownQuantiles(t *testing.T) {
	levels := []float64{0.05, 0.5, 0.9, 0.99}
	var all, outside float64
	for k, c := range exactQuantiles(t) {
		r := simtest.Run(t, c.system, sim.Settings{
			Runs:   20,
			Jumps:  8e3,
			WarmUp: 2e3,
			Seed:   11 + uint64(k),
			Levels: levels,
		})
		if want := (1 + len(r.Classes)) * len(levels); len(r.Quantiles) != want || len(r.Warnings) > 0 {
			t.Errorf("%s: %d quantiles, want %d; warnings %q", c.name, len(r.Quantiles), want, r.Warnings)
		}
		known := make(map[float64]float64)
		for _, level := range levels {
			known[level] = quantileOf(c.tail, level)
		}
		for _, q := range r.Quantiles {
			exact := known[q.Level]
			z := q.Z(exact)
			if all++; math.Abs(z) > 1.96 {
				outside++
			}
			if !(math.Abs(z) < 5) || q.Confidence != 0.95 || q.Runs != 20 || !(q.Low <= q.Value && q.Value <= q.High) {
				t.Errorf("%s: %+v, exact %.4f, z = %.2f", c.name, q, exact, z)
			}
		}
	}
	if outside/all > 0.15 {
		t.Errorf("%g of %g values of z beyond 1.96", outside, all)
	}
}

// Intervals of short runs cover the quantiles of M/M/1 about as often as stated, although delays of
// nearby jobs are correlated, and z is about standard normal.
func TestIntervalsOfShortRunsCover(t *testing.T) {
	c := exactQuantiles(t)[0]
	levels := []float64{0.1, 0.5, 0.9, 0.95}
	const repeats = 150
	missed, beyond := make([]float64, len(levels)), make([]float64, len(levels))
	known := make([]float64, len(levels))
	for k, level := range levels {
		known[k] = quantileOf(c.tail, level)
	}
	for seed := range uint64(repeats) {
		r := simtest.Run(t, c.system, sim.Settings{
			Runs:       10,
			Jumps:      1000,
			WarmUp:     400,
			Seed:       seed,
			Levels:     levels,
			Confidence: 0.9,
		})
		for k, level := range levels {
			q, exact := r.Quantile(sim.OfAll, 0, level), known[k]
			if q.High < exact || q.Low > exact {
				missed[k]++
			}
			if math.Abs(q.Z(exact)) > 1.644854 { // a normal variable exceeds this with probability 0.1
				beyond[k]++
			}
		}
	}
	for k, level := range levels { // skewness of means of 500 jobs per replication: 0.02 on top of 5 standard errors
		tol := 0.02 + 5*math.Sqrt(0.1*0.9/repeats)
		if m, z := missed[k]/repeats, beyond[k]/repeats; math.Abs(m-0.1) > tol || math.Abs(z-0.1) > tol {
			t.Errorf("level %v: %.3f of all intervals miss, and |z| > 1.64 in %.3f of all cases, want 0.1", level, m, z)
		}
	}
}

// Quantiles do not depend on the number of workers or on stored samples. For engines that use real
// time anyway, other measures equal those of a run without quantiles. Samples with and without
// delays are never confused.
func TestQuantilesAndDigits(t *testing.T) {
	s := sim.Settings{Runs: 4, Jumps: 2000, Seed: 9, Levels: []float64{0.3, 0.5}}
	for _, c := range exactQuantiles(t) {
		r := simtest.SameDigits(t, c.system, s)
		kept := sweep.Settings{Folder: t.TempDir()}
		run := func(s sim.Settings) *sim.Result {
			t.Helper()
			p, err := sim.NewPlan(t.Context(), c.system, s)
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Run(t.Context(), kept)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		without := s
		without.Levels = nil
		plain := run(without)
		if plain.Quantiles != nil {
			t.Errorf("%s: quantiles that were not requested", c.name)
		}
		if real := slices.Contains([]string{"FCFS cluster", "order-independent queue"}, c.name); !real {
			if diff := cmp.Diff(plain, r, cmpopts.IgnoreFields(sim.Result{}, "Quantiles")); diff != "" {
				t.Errorf("%s: %s", c.name, diff)
			}
		}
		if diff := cmp.Diff(r, run(s)); diff != "" {
			t.Errorf("%s, with stored samples without delays: %s", c.name, diff)
		}
		if diff := cmp.Diff(plain, run(without)); diff != "" {
			t.Errorf("%s, with stored samples with delays: %s", c.name, diff)
		}
	}
}

// With too few jobs there is no quantile, or one with a warning. A class without arrivals has no
// quantile and no warning.
func TestTooFewJobsForQuantiles(t *testing.T) {
	one := big.NewRat(1, 1)
	model := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: one}}, Classes: []cluster.Class{
		{Name: "a", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)},
		{Name: "b", ArrivalRate: new(big.Rat), Servers: cluster.On(0)}}}
	for runs, want := range map[int][]string{
		2: {"0.1 of delays: only", "50 of delays: its interval has no upper end: more or longer runs are needed",
			"99 of delays: its interval has no upper end: more or longer runs are needed", "99.9 of delays: only"},
		4: {
			"0.1 of delays: only",
			"99 of delays: the runs are worth about 10 independent jobs above it, and intervals need 20",
			"99.9 of delays: only",
		},
	} {
		r := simtest.Run(t, simcluster.Cluster{Model: model}, sim.Settings{
			Runs:   runs,
			Jumps:  1000,
			Seed:   1,
			Levels: []float64{0.001, 0.5, 0.99, 0.999},
		})
		var got []string
		for _, w := range r.Warnings {
			if why, ok := strings.CutPrefix(w, "class a: percentile "); ok {
				before, only, _ := strings.Cut(why, " of delays: only")
				if only != "" {
					why = before + " of delays: only"
				}
				got = append(got, why)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d runs: %s in %q", runs, diff, r.Warnings)
		}
		for _, q := range r.Quantiles {
			if q.Kind == sim.OfClass && q.Index != 0 || runs == 2 || q.Level < 0.5 || q.Level > 0.99 {
				t.Errorf("%d runs: %+v", runs, q)
			}
		}
		if (r.Quantile(sim.OfClass, 0, 0.5) != nil) != (runs == 4) ||
			(r.Quantile(sim.OfAll, 0, 0.99) != nil) != (runs == 4) {
			t.Errorf("%d runs: %+v", runs, r.Quantiles)
		}
	}
}

// Invalid levels and too many levels are rejected.
func TestBadLevels(t *testing.T) {
	c := exactQuantiles(t)[0]
	for path, levels := range map[string][]float64{
		"Levels[0]": {0}, "Levels[1]": {0.5, 1}, "Levels[2]": {0.5, 0.9, math.NaN()}, "Levels": make([]float64, 101),
	} {
		_, err := sim.NewPlan(t.Context(), c.system, sim.Settings{Levels: levels})
		if bad := (*num.InputError)(nil); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%v: %v, want %s", levels, err, path)
		}
	}
}

// A silent engine does not report the delays of departing jobs.
type silent struct{ sim.System }

type silentEngine struct{ sim.Engine }

func (s silent) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	d, err := s.System.Describe(ctx, o)
	if err != nil {
		return nil, err
	}
	start := d.Start
	d.Start = func(ctx context.Context, r *sim.Stream) sim.Engine { return silentEngine{start(ctx, r)} }
	return d, nil
}

func (e silentEngine) Advance(t float64, seen *sim.Totals) error {
	delays := seen.Delays
	seen.Delays = nil
	err := e.Engine.Advance(t, seen)
	seen.Delays = delays
	return err
}

func TestEngineReportsDelays(t *testing.T) {
	_, err := sim.Run(
		t.Context(), silent{exactQuantiles(t)[0].system}, sim.Settings{Runs: 2, Jumps: 1000, Levels: []float64{0.5}},
	)
	if err == nil || !strings.Contains(err.Error(), "want all, by Totals.Leave") {
		t.Error(err)
	}
}
