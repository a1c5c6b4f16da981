package loss

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"productform/network/loss"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// erlang returns an M/G/n/n system with load a and room n.
func erlang(n int, a *big.Rat) *loss.Model {
	return &loss.Model{Room: n, Classes: []loss.Class{{Name: "call", ArrivalRate: a}}}
}

// Erlang's formula B(n) = a B(n-1)/(n + a B(n-1)) holds for all sizes.
func TestErlangsFormula(t *testing.T) {
	const n, a = 8, 6.
	b := 1.0
	for k := 1.; k <= n; k++ {
		b = a * b / (k + a*b)
	}
	for _, shape := range []string{"exponential", "deterministic", "hyperexponential:10"} {
		r := simtest.Run(t, System{Model: erlang(n, big.NewRat(6, 1)), Shape: simtest.Sizes(t, shape, 1)}, sim.Settings{
			Runs:   20,
			Jumps:  2e4,
			WarmUp: 5e3,
			Seed:   1,
		})
		simtest.Near(t, shape+": blocking", r.Class(0, Blocking), b)
		simtest.Near(t, shape+": all", r.All(Blocking), b)
		simtest.Near(t, shape+": throughput", r.Class(0, sim.Throughput), a*(1-b))
		simtest.Near(t, shape+": jobs", r.All(sim.MeanJobs), a*(1-b))
		simtest.Near(t, shape+": units", r.Estimate(OfLimit, 0, MeanUnits), a*(1-b))
	}
}

// A pair holds an estimate and the exact value.
type pair struct {
	what     string
	estimate *sim.Estimate
	exact    float64
}

// pairs lists the measures of a system with exact values.
func pairs(r *sim.Result, exact *loss.Result, m *loss.Model, sharing bool) (list []pair) {
	add := func(what string, e *sim.Estimate, v float64) { list = append(list, pair{what, e, v}) }
	add("jobs", r.All(sim.MeanJobs), exact.MeanJobs.Float)
	add("blocking", r.All(Blocking), exact.Blocking.Float)
	add("throughput", r.All(sim.Throughput), exact.Throughput.Float)
	if exact.EmptyProbability != nil {
		add("empty", r.All(EmptyProbability), exact.EmptyProbability.Float)
	}
	for k, c := range exact.Classes {
		at := m.Classes[k].Name
		add(at+" offered", r.Class(k, Offered), c.Offered.Float)
		add(at+" blocking", r.Class(k, Blocking), c.Blocking.Float)
		add(at+" throughput", r.Class(k, sim.Throughput), c.Throughput.Float)
		if c.MeanJobs != nil {
			add(at+" jobs", r.Class(k, sim.MeanJobs), c.MeanJobs.Float)
			add(at+" delay", r.Class(k, sim.MeasuredDelay), c.MeanDelay.Float)
		}
		if c.WaitProbability != nil {
			add(at+" waits", r.Class(k, WaitProbability), c.WaitProbability.Float)
			if waiting := r.Class(k, MeanWaiting); waiting != nil || !sharing {
				add(at+" waiting", waiting, c.MeanWaiting.Float)
			}
		}
	}
	for s, server := range exact.Servers {
		at := m.Servers[s].Name
		add(at+" utilization", r.Server(s, sim.Utilization), server.Utilization.Float)
		if server.MeanJobs != nil {
			add(at+" jobs", r.Server(s, sim.MeanJobs), server.MeanJobs.Float)
			add(at+" throughput", r.Server(s, sim.Throughput), server.Throughput.Float)
		}
	}
	limits := exact.Limits
	if exact.Room != nil {
		limits = append([]loss.LimitResult{*exact.Room}, limits...)
	}
	for b, l := range limits {
		add(fmt.Sprint("units ", b), r.Estimate(OfLimit, b, MeanUnits), l.MeanUnits.Float)
	}
	return list
}

// Random systems of all kinds agree with theory, for several shapes of sizes if only means matter
// in theory. One measure is taken from each run: their z values look normal.
func TestSystemsAsTheory(t *testing.T) {
	var square, count float64
	for seed := range 60 {
		m := rapid.Custom(drawModel).Example(seed)
		exact, err := loss.Solve(t.Context(), m, loss.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		system := System{Model: m, Sharing: seed%2 == 1}
		if system.Sharing || m.Count == 0 && m.Servers == nil {
			system.Shape = simtest.Sizes(t, []string{"hyperexponential:10", "deterministic", "exponential"}[seed%3], 1)
		}
		r := simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 3e3, WarmUp: 1e3, Seed: uint64(seed)})
		all := pairs(r, exact, m, system.Sharing)
		for k, p := range all {
			if p.estimate != nil && p.estimate.StdError <= 1e-9*p.exact { // constant
				continue
			}
			simtest.Near(t, fmt.Sprintf("seed %d: %s", seed, p.what), p.estimate, p.exact)
			if k == seed%len(all) {
				z := p.estimate.Z(p.exact)
				square += z * z
				count++
			}
		}
	}
	if p := (distuv.ChiSquared{K: count}).Survival(square); p < 1e-6 || p > 1-1e-6 {
		t.Errorf("Σ z² = %v of %v values", square, count)
	}
	t.Logf("%v values, Σ z² = %.1f", count, square)
}

// Under FCFS sizes matter, and the test above would detect it. Shared servers lose equally many
// jobs for all sizes; under FCFS, more jobs are lost if sizes vary more.
func TestOrderOfArrivalIsSensitive(t *testing.T) {
	m := &loss.Model{Count: 1, Room: 5, Classes: []loss.Class{{Name: "a", ArrivalRate: big.NewRat(9, 10)}}}
	exact, err := loss.Solve(t.Context(), m, loss.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for shape, sign := range map[string]float64{"deterministic": -1, "hyperexponential:10": 1} {
		system := System{Model: m, Shape: simtest.Sizes(t, shape, 1)}
		r := simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2e3})
		if z := r.All(Blocking).Z(exact.Blocking.Float); sign*z < 5 {
			t.Errorf("%s: blocking %v, exponential %v: z = %v", shape, r.All(Blocking).Mean, exact.Blocking.Float, z)
		}
	}
}

// With random assignment, a server with n tokens is a separate queue with room for n jobs: it loses
// B = (1-r) r^n/(1-r^(n+1)) at load r. The oldest token is better, the shortest queue best.
func TestAssignments(t *testing.T) {
	const tokens = 4
	one := big.NewRat(1, 1)
	m := &loss.Model{Classes: []loss.Class{{Name: "a", ArrivalRate: big.NewRat(12, 5)}}}
	for s := range 3 {
		m.Servers = append(m.Servers, loss.Server{Name: fmt.Sprint(s), Capacity: one, Tokens: tokens})
		m.Classes[0].Servers = append(m.Classes[0].Servers, s)
	}
	exact, err := loss.Solve(t.Context(), m, loss.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var lost []*sim.Estimate
	for _, a := range []Assignment{RandomServer, OldestToken, ShortestQueue} {
		lost = append(lost, simtest.Run(t, System{Model: m, Assign: a}, sim.Settings{
			Runs:   20,
			Jumps:  1e4,
			WarmUp: 2.5e3,
		}).All(Blocking))
	}
	r := 0.8
	simtest.Near(t, "at random", lost[0], (1-r)*math.Pow(r, tokens)/(1-math.Pow(r, tokens+1)))
	simtest.Near(t, "oldest token", lost[1], exact.Blocking.Float)
	if !(lost[0].Mean > lost[1].Mean && lost[1].Mean > lost[2].Mean+5*lost[2].StdError) {
		t.Errorf("lost %v at random, %v by the oldest token, %v by the shortest queue",
			lost[0].Mean, lost[1].Mean, lost[2].Mean)
	}
}

// someTokens returns a system with tokens.
func someTokens() *loss.Model {
	one := big.NewRat(1, 1)
	return &loss.Model{
		Servers: []loss.Server{
			{Name: "left", Capacity: one, Tokens: 3}, {Name: "both", Capacity: one, Tokens: 2},
			{Name: "right", Capacity: one, Tokens: 3},
		},
		Classes: []loss.Class{
			{Name: "a", ArrivalRate: one, Servers: []int{0, 1}},
			{Name: "b", ArrivalRate: big.NewRat(3, 2), Servers: []int{1, 2}},
		},
	}
}

func TestConforms(t *testing.T) {
	simtest.Conforms(t, System{Model: someTokens()})
	engset := erlang(4, big.NewRat(1, 2))
	engset.Classes = append(engset.Classes, loss.Class{
		Name:        "sources",
		ArrivalRate: big.NewRat(1, 3),
		Sources:     5,
		Units:       2,
	})
	simtest.Conforms(t, System{Model: engset})
	graph := someTokens()
	for s := range graph.Servers {
		graph.Servers[s].Tokens = 0
	}
	graph.Room = 10
	simtest.Conforms(t, System{Model: graph, Sharing: true}) // replications share one table
	simtest.Golden(t, System{Model: engset}, 1.2339255408434266)
}

func TestAllocatesNothing(t *testing.T) {
	for seed := range 10 {
		simtest.AllocatesNothing(t, System{Model: rapid.Custom(drawModel).Example(seed), Sharing: seed%2 == 0}, 2e4, 1)
	}
}

func TestEndsWithContext(t *testing.T) {
	m := &loss.Model{Classes: []loss.Class{{Name: "a", Sources: 100_000, ArrivalRate: big.NewRat(1, 10)}}, Room: 10_000}
	simtest.EndsWithContext(t, System{Model: m}, 2e6, 300, 5)
}

// If classes without a limit bring too much work, the error names them, except over a horizon.
func TestUnstable(t *testing.T) {
	one := big.NewRat(1, 1)
	graph := &loss.Model{
		Servers: []loss.Server{{Name: "s", Capacity: one}, {Name: "t", Capacity: one}},
		Classes: []loss.Class{
			{Name: "a", ArrivalRate: one, Servers: []int{0}},
			{Name: "b", ArrivalRate: one, Servers: []int{1}, Sources: 2},
			{Name: "c", ArrivalRate: big.NewRat(1, 2), Servers: []int{0, 1}},
		},
	}
	count := &loss.Model{Count: 2, Classes: []loss.Class{{Name: "a", ArrivalRate: one}, {Name: "b", ArrivalRate: one}}}
	for want, m := range map[string]*loss.Model{"[0]": graph, "[0 1]": count} {
		var u *loss.UnstableError
		if _, err := sim.NewPlan(t.Context(), System{Model: m}, sim.Settings{}); !errors.As(err, &u) ||
			fmt.Sprint(u.Classes) != want {
			t.Errorf("%s: %v", want, err)
		}
		if r := simtest.Run(t, System{Model: m}, sim.Settings{
			Runs:    5,
			Horizon: 3000,
		}); !(r.All(sim.MeanJobs).Mean > 5) ||
			len(r.Warnings) == 0 {
			t.Errorf("%s: %v jobs, warnings %q", want, r.All(sim.MeanJobs).Mean, r.Warnings)
		}
	}
	count.Limits = []loss.Limit{{Classes: []int{0}, Most: 5}}
	if _, err := sim.NewPlan(t.Context(), System{Model: count}, sim.Settings{}); err != nil {
		t.Error(err)
	}
}

// A rank function that no set of servers has agrees with theory, under FCFS and under balanced
// fairness.
func TestRankAsTheory(t *testing.T) {
	rate := func(a, b int64, classes ...int) loss.SetRate {
		return loss.SetRate{Classes: classes, Rate: big.NewRat(a, b)}
	}
	m := &loss.Model{
		Classes: []loss.Class{
			{Name: "a", ArrivalRate: big.NewRat(1, 1)}, {Name: "b", ArrivalRate: big.NewRat(3, 2)},
			{Name: "c", ArrivalRate: big.NewRat(1, 2), Sources: 4},
		},
		Rank: []loss.SetRate{
			rate(1, 1, 0), rate(1, 1, 1), rate(1, 1, 2), rate(3, 1, 1, 0), rate(5, 4, 2, 0),
			rate(3, 2, 1, 2), rate(4, 1, 0, 1, 2),
		},
		Room:   6,
		Limits: []loss.Limit{{Classes: []int{1}, Most: 3}},
	}
	exact, err := loss.Solve(t.Context(), m, loss.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, sharing := range []bool{false, true} {
		system := System{Model: m, Sharing: sharing}
		if sharing {
			system.Shape = simtest.Sizes(t, "hyperexponential:10", 1)
		}
		r := simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 1e3, Seed: 3})
		for _, p := range pairs(r, exact, m, sharing) {
			simtest.Near(t, fmt.Sprintf("sharing %v: %s", sharing, p.what), p.estimate, p.exact)
		}
	}
	m.Room, m.Limits = 0, nil
	var unstable *loss.UnstableError
	if _, err := sim.NewPlan(t.Context(), System{Model: m}, sim.Settings{}); !errors.As(err, &unstable) ||
		fmt.Sprint(unstable.Classes) != "[1]" {
		t.Errorf("error %v", err)
	}
}

func TestBadSystems(t *testing.T) {
	for path, spoil := range map[string]func(*System){
		"Model = nothing":         func(s *System) { s.Model = nil },
		"classes = []":            func(s *System) { s.Model.Classes = nil },
		"Sizes = 2 distributions": func(s *System) { s.Sizes = make([]sizes.Distribution, 2) },
		"Sizes[0]": func(s *System) {
			s.Sizes = []sizes.Distribution{
				simtest.Sizes(t, "exponential", 2),
			}
		},
		"the sizes of shape":         func(s *System) { s.Shape = simtest.InfiniteMean(t) },
		"Assign = nearest":           func(s *System) { s.Assign = "nearest" },
		"Assign = random server":     func(s *System) { s.Assign = RandomServer },
		"classes = arrival rates":    func(s *System) { s.Model.Classes[0].ArrivalRate = new(big.Rat) },
		"classes = 10000001 sources": func(s *System) { s.Model.Classes = sourcesOf(10_000_000, 1) },
		"classes[0].arrival_rate = 1": func(s *System) {
			s.Model.Classes[0].ArrivalRate = simtest.Rationals("1e400")[0]
		},
	} {
		s := System{Model: erlang(3, big.NewRat(2, 1))}
		spoil(&s)
		if _, err := sim.NewPlan(t.Context(), s, sim.Settings{Horizon: 1}); err == nil ||
			!strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// sourcesOf returns classes with the given numbers of sources.
func sourcesOf(counts ...int) (list []loss.Class) {
	for k, n := range counts {
		list = append(list, loss.Class{Name: fmt.Sprint(k), ArrivalRate: big.NewRat(1, 1), Sources: n})
	}
	return list
}

// Fewer than a hundred lost jobs cause a warning.
func TestWarnsOfFewLosses(t *testing.T) {
	r := simtest.Run(t, System{Model: erlang(12, big.NewRat(2, 1))}, sim.Settings{Runs: 5, Jumps: 1e4})
	if !(len(r.Warnings) == 1 && strings.Contains(r.Warnings[0], "jobs were lost")) ||
		math.IsNaN(r.All(Blocking).Mean) {
		t.Errorf("%q", r.Warnings)
	}
}

func BenchmarkSystem(b *testing.B) {
	b.Run("room=100/erlang", func(b *testing.B) { simtest.Benchmark(b, System{Model: erlang(100, big.NewRat(95, 1))}) })
	b.Run("servers=3/tokens", func(b *testing.B) { simtest.Benchmark(b, System{Model: someTokens()}) })
	graph := someTokens()
	for s := range graph.Servers {
		graph.Servers[s].Tokens = 0
	}
	graph.Room = 20
	b.Run("servers=3/order", func(b *testing.B) { simtest.Benchmark(b, System{Model: graph}) })
	b.Run("servers=3/sharing", func(b *testing.B) { simtest.Benchmark(b, System{Model: graph, Sharing: true}) })
}
