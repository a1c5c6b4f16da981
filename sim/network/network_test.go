package network

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"productform/network"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// rat reads a fraction.
func rat(s string) *big.Rat { return simtest.Rationals(s)[0] }

// to returns branches of equal probability to visits of class 0; -1 means departure.
func to(visits ...int) (list []network.Branch) {
	for _, v := range visits {
		b := network.Branch{Visit: v, Probability: big.NewRat(1, int64(len(visits)))}
		if v < 0 {
			b.Class, b.Visit = network.Leaves, 0
		}
		list = append(list, b)
	}
	return list
}

// machineRepair returns a closed network of n machines that work for a mean time of 1 and are then
// repaired by c servers, for a mean time of 1/5.
func machineRepair(n, c int, discipline network.Discipline) *network.Model {
	return &network.Model{
		Stations: []network.Station{
			{Name: "works", Discipline: network.Delay}, {Name: "repair", Discipline: discipline, Servers: c},
		},
		Classes: []network.Class{{Name: "machine", Population: n, Visits: []network.Visit{
			{Station: 0, Next: to(1)}, {Station: 1, MeanSize: rat("1/5"), Next: to(0)},
		}}},
	}
}

// repairDistribution returns the distribution of the number of machines in repair, from its balance
// equations.
func repairDistribution(n, c int) []float64 {
	p := []float64{1}
	sum := 1.0
	for k := 1; k <= n; k++ {
		p = append(p, p[k-1]*float64(n-k+1)/(5*float64(min(k, c))))
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// The number of machines in repair has the distribution of a birth-death process for any
// distribution of working times and, with shared servers, also of repair times.
func TestMachineRepair(t *testing.T) {
	for _, c := range []struct {
		discipline   network.Discipline
		works, shape string
	}{
		{network.FCFS, "deterministic", "exponential"}, {network.FCFS, "hyperexponential:10", "exponential"},
		{network.Sharing, "exponential", "deterministic"},
		{network.Sharing, "hyperexponential:10", "hyperexponential:10"},
		{network.LCFS, "deterministic", "exponential"},
	} {
		const n, servers = 12, 2
		system := Network{
			Model: machineRepair(n, servers, c.discipline),
			Sizes: [][]sizes.Distribution{{simtest.Sizes(t, c.works, 1), simtest.Sizes(t, c.shape, 0.2)}},
		}
		r := simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 8e3, WarmUp: 2e3, Seed: 3, Distribution: n})
		p := repairDistribution(n, servers)
		at := string(c.discipline) + " " + c.works + " " + c.shape + ": "
		var jobs, busy float64
		for k, v := range p {
			// jobs away from the first visit, where machines work
			simtest.Near(t, at+"distribution", &r.Distribution[k], v)
			jobs += float64(k) * v
			busy += float64(min(k, servers)) * v
		}
		simtest.Near(t, at+"jobs", r.Estimate(OfStation, 1, sim.MeanJobs), jobs)
		simtest.Near(t, at+"utilization", r.Estimate(OfStation, 1, sim.Utilization), busy/servers)
		simtest.Near(t, at+"throughput", r.Class(0, sim.Throughput), 5*busy)
		simtest.Near(t, at+"visits", r.Estimate(sim.OfVisit, 1, sim.Throughput), 5*busy)
		simtest.Near(t, at+"delay", r.Estimate(sim.OfVisit, 1, sim.MeasuredDelay), jobs/(5*busy))
		simtest.Near(t, at+"cycle", r.Class(0, sim.MeasuredDelay), n/(5*busy))
		simtest.Near(t, at+"cycle by Little", r.Class(0, sim.MeanDelay), n/(5*busy))
		simtest.Near(t, at+"empty", r.Estimate(OfStation, 1, EmptyProbability), p[0])
		simtest.Near(t, at+"away", r.Class(0, JobsAway), jobs)
	}
}

// single returns an open network of one station.
func single(s network.Station, rates ...string) *network.Model {
	s.Name = "station"
	m := &network.Model{Stations: []network.Station{s}}
	for i, r := range rates {
		m.Classes = append(m.Classes, network.Class{
			Name:        string(rune('a' + i)),
			ArrivalRate: rat(r),
			Visits:      []network.Visit{{Next: to(-1)}},
		})
	}
	return m
}

// M/M/c has the number of jobs of Erlang's formula and, under FCFS, the known distribution of
// delays: T = size + wait with P(wait > t) = C e^{-(c-λ)t}.
func TestServersMatchErlang(t *testing.T) {
	const c, lambda = 3, 2.4
	sum, term := 1.0, 1.0
	for k := 1; k < c; k++ {
		term *= lambda / float64(k)
		sum += term
	}
	term *= lambda / c / (1 - lambda/c)
	wait := term / (sum + term)
	jobs := lambda + wait*lambda/(c-lambda)
	for _, discipline := range []network.Discipline{network.FCFS, network.Random, network.Sharing, network.LCFS} {
		r := simtest.Run(
			t, Network{Model: single(network.Station{Discipline: discipline, Servers: c}, "9/5", "3/5")},
			sim.Settings{Runs: 20, Jumps: 8e3, WarmUp: 2e3, Seed: 4, Levels: []float64{0.5, 0.9}},
		)
		at := string(discipline) + ": "
		simtest.Near(t, at+"jobs", r.All(sim.MeanJobs), jobs)
		simtest.Near(t, at+"class", r.Class(0, sim.MeanJobs), 0.75*jobs)
		simtest.Near(t, at+"delay", r.Class(1, sim.MeasuredDelay), jobs/lambda)
		simtest.Near(t, at+"delay by Little", r.Class(1, sim.MeanDelay), jobs/lambda)
		simtest.Near(t, at+"utilization", r.Estimate(OfStation, 0, sim.Utilization), lambda/c)
		if discipline != network.FCFS {
			continue
		}
		theta := c - lambda
		for _, kind := range []sim.Kind{sim.OfClass, sim.OfVisit} {
			for _, level := range []float64{0.5, 0.9} {
				q := r.Quantile(kind, 0, level)
				low, high := 0.0, 100.0
				for range 100 { // the tail of the delay, by convolution of the exponential size and wait
					x := (low + high) / 2
					tail := (1-wait)*math.Exp(-x) + wait*(math.Exp(-theta*x)-theta*math.Exp(-x))/(1-theta)
					if tail > 1-level {
						low = x
					} else {
						high = x
					}
				}
				if z := q.Z(low); !(math.Abs(z) < 5) {
					t.Errorf("%s: quantile %v of %s = %v, want %v", at, level, kind, q.Value, low)
				}
			}
		}
	}
}

func TestConforms(t *testing.T) {
	simtest.Conforms(t, Network{Model: machineRepair(5, 2, network.FCFS)})
	simtest.Conforms(t, Network{Model: single(network.Station{Discipline: network.LCFS}, "1/2", "1/4")})
	// Replications share a table of balanced fairness. Conforms does not suit closed jobs that
	// share: their path magnifies rounding errors about tenfold every hundred jumps, so it depends
	// on the advances, which are those of the plan.
	shared := machineRepair(4, 0, network.Balanced)
	shared.Stations[1].Nodes = []network.Node{{Name: "a", Capacity: rat("1")}, {Name: "b", Capacity: rat("1")}}
	shared.Classes = append(shared.Classes, network.Class{
		Name:        "open",
		ArrivalRate: rat("1/4"),
		Visits: []network.Visit{{
			Station: 1,
			Nodes:   []int{1},
			Next:    []network.Branch{{Class: network.Leaves, Probability: rat("1")}},
		}},
	})
	shared.Classes[0].Visits[1].Nodes = []int{0, 1}
	simtest.SameDigits(t, Network{Model: shared, Shape: simtest.Sizes(t, "lognormal:2", 1)}, sim.Settings{
		Runs:   8,
		Jumps:  1e4,
		Levels: []float64{0.5},
	})
}

func BenchmarkNetwork(b *testing.B) {
	for _, d := range []network.Discipline{network.Sharing, network.FCFS, network.LCFS} {
		b.Run("population=20/"+string(d), func(b *testing.B) {
			simtest.Benchmark(b, Network{Model: machineRepair(20, 3, d)})
		})
	}
	b.Run("population=100000/fcfs", func(b *testing.B) {
		simtest.Benchmark(b, Network{Model: machineRepair(100_000, 3, network.FCFS)})
	})
}

// tableModel returns two closed classes that share a station according to a table of rates, in the
// proportion 2 to 1 of its total rate, which equals that of two servers.
func tableModel(byRates bool) *network.Model {
	m := &network.Model{
		Stations: []network.Station{
			{Name: "think", Discipline: network.Delay}, {Name: "share", Discipline: network.Balanced},
		},
		Classes: []network.Class{
			{Name: "a", Population: 3, Visits: []network.Visit{{Station: 0, Next: to(1)}, {Station: 1, Next: to(0)}}},
			{Name: "b", Population: 2, Visits: []network.Visit{
				{Station: 0, MeanSize: rat("2"), Count: rat("1")},
				{Station: 1, MeanSize: rat("1/3"), Count: rat("3/2")},
			}},
		},
	}
	table := &network.Table{Classes: []int{1, 0}, Most: []int{2, 3}}
	for b := range 3 {
		for a := range 4 {
			phi := big.NewRat(1, 1) // for two servers shared equally: (a+b)! / (a! b!) / Π min(n, 2)
			for n := 1; n <= a+b; n++ {
				phi.Mul(phi, big.NewRat(int64(n), int64(min(n, 2))))
			}
			for n := 2; n <= a; n++ {
				phi.Quo(phi, big.NewRat(int64(n), 1))
			}
			for n := 2; n <= b; n++ {
				phi.Quo(phi, big.NewRat(int64(n), 1))
			}
			rate := big.NewRat(int64(min(a+b, 2)), int64(max(a+b, 1)))
			table.Balance = append(table.Balance, phi)
			table.Rates = append(table.Rates, []*big.Rat{
				new(big.Rat).Mul(rate, big.NewRat(int64(b), 1)), new(big.Rat).Mul(rate, big.NewRat(int64(a), 1)),
			})
		}
	}
	if byRates {
		table.Balance = nil
	} else {
		table.Rates = nil
	}
	m.Stations[1].Table = table
	return m
}

// Rates and balance functions of the same station take the same path, which is that of two shared
// servers.
func TestTables(t *testing.T) {
	shared := tableModel(true)
	shared.Stations[1] = network.Station{Name: "share", Discipline: network.Sharing, Servers: 2}
	for _, model := range []*network.Model{tableModel(true), tableModel(false)} {
		var seen [2]*sim.Totals
		for k, m := range []*network.Model{model, shared} {
			s, err := Network{Model: m, Shape: simtest.Sizes(t, "erlang:3", 1)}.prepare(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			seen[k] = s.describe().NewTotals()
			if err := newMotion(t.Context(), s, sim.NewStream([32]byte{})).Advance(100, seen[k]); err != nil {
				t.Fatal(err)
			}
			seen[k].Busy = nil
		}
		simtest.CompareTotals(t, seen[0], seen[1])
	}
	m := tableModel(true)
	m.Stations[1].Table.Rates[11][0] = rat("7") // without the balance property it can be simulated but not solved
	simtest.Run(t, Network{Model: m}, sim.Settings{Runs: 2, Jumps: 1000})
}

// If open chains bring too much work, the error names the station, except over a horizon.
func TestUnstable(t *testing.T) {
	m := single(network.Station{Discipline: network.FCFS}, "3/4", "1/4")
	var u *network.UnstableError
	if _, err := sim.NewPlan(t.Context(), Network{Model: m}, sim.Settings{}); !errors.As(err, &u) ||
		u.Name != "station" || len(u.Classes) != 2 {
		t.Errorf("%v", err)
	}
	m.Classes = append(m.Classes, network.Class{
		Name:       "closed",
		Population: 3,
		Visits:     []network.Visit{{Next: []network.Branch{{Class: 2, Probability: rat("1")}}}},
	})
	r := simtest.Run(t, Network{Model: m}, sim.Settings{Runs: 5, Horizon: 2000})
	if r.Class(0, sim.MeanJobs).Mean < 10 || len(r.Warnings) == 0 {
		t.Errorf("%v jobs, warnings %q", r.Class(0, sim.MeanJobs).Mean, r.Warnings)
	}
}

// A station that no class visits stays empty under every discipline.
func TestStationWithoutVisits(t *testing.T) {
	nodes := []network.Node{{Name: "node", Capacity: rat("1")}}
	for _, s := range []network.Station{
		{Discipline: network.Delay}, {Discipline: network.FCFS},
		{Discipline: network.Sharing, Rates: simtest.Rationals("1", "2")},
		{Discipline: network.Order, Nodes: nodes}, {Discipline: network.Balanced, Nodes: nodes},
	} {
		m := machineRepair(3, 1, network.FCFS)
		s.Name = "unvisited"
		m.Stations = append(m.Stations, s)
		r := simtest.Run(t, Network{Model: m}, sim.Settings{Runs: 2, Jumps: 1000})
		if e := r.Estimate(OfStation, 2, EmptyProbability); e == nil || e.Mean != 1 {
			t.Errorf("%s: empty with probability %v", s.Discipline, e)
		}
	}
}

// Closed chains may give visits by number: a cycle then has that many visits, and a total below one
// has no cycle time.
func TestVisitsByNumber(t *testing.T) {
	for _, scale := range []string{"1", "1/10"} {
		m := machineRepair(6, 1, network.FCFS)
		for v := range m.Classes[0].Visits {
			m.Classes[0].Visits[v].Next, m.Classes[0].Visits[v].Count = nil, rat(scale)
		}
		exact, err := network.Solve(t.Context(), m, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		r := simtest.Run(t, Network{Model: m}, sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2.5e3, Seed: 2})
		simtest.Near(t, "cycles", r.Class(0, sim.Throughput), exact.Chains[0].Throughput.Float)
		simtest.Near(t, "cycle by Little", r.Class(0, sim.MeanDelay), exact.Chains[0].MeanDelay.Float)
		measured := r.Class(0, sim.MeasuredDelay)
		if scale == "1" {
			simtest.Near(t, "cycle", measured, exact.Chains[0].MeanDelay.Float)
		} else if measured != nil {
			t.Errorf("a measured cycle: %v", measured)
		}
	}
}

// The jobs of a closed chain with one visit are never away, so only the other chains affect the
// precision of a run.
func TestPrecision(t *testing.T) {
	m := machineRepair(6, 1, network.FCFS)
	m.Stations = append(m.Stations, network.Station{Name: "alone", Discipline: network.Sharing})
	m.Classes = append(m.Classes, network.Class{
		Name:       "alone",
		Population: 2,
		Visits:     []network.Visit{{Station: 2, Count: rat("1")}},
	})
	r := simtest.Run(t, Network{Model: m}, sim.Settings{Runs: 200, Jumps: 3000, Precision: 0.02})
	if away := r.Class(0, JobsAway); !r.PrecisionMet || r.Runs == 200 || away.HalfWidth > 0.02*away.Mean ||
		r.Class(1, JobsAway).Mean != 2 {
		t.Errorf("met: %v after %d runs, away %v and %v", r.PrecisionMet, r.Runs, away, r.Class(1, JobsAway))
	}
}

// Names do not change the digits; everything else does.
func TestKeys(t *testing.T) {
	key := func(n Network) string {
		p, err := sim.NewPlan(t.Context(), n, sim.Settings{Jumps: 1e4})
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Key(0)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	same, other := machineRepair(3, 1, network.FCFS), machineRepair(3, 1, network.FCFS)
	same.Stations[0].Name, same.Classes[0].Name = "x", "y"
	other.Classes[0].Visits[0].MeanSize = rat("2")
	first := key(Network{Model: machineRepair(3, 1, network.FCFS)})
	if first != key(Network{Model: same}) {
		t.Error("names change the key")
	}
	for _, n := range []Network{
		{Model: other}, {Model: machineRepair(3, 1, network.LCFS)}, {Model: machineRepair(4, 1, network.FCFS)},
		{Model: same, Shape: simtest.Sizes(t, "deterministic", 1)},
	} {
		if first == key(n) {
			t.Errorf("%+v has the key of another", n)
		}
	}
}

func TestGolden(t *testing.T) {
	simtest.Golden(
		t, Network{Model: single(network.Station{Discipline: network.LCFS}, "1/2", "1/4")}, 3.9717466718127099,
	)
}

// A run allocates only when there are more jobs than ever before.
func TestAllocatesNothing(t *testing.T) {
	for seed := range 10 {
		simtest.AllocatesNothing(t, Network{Model: stableModel(t, seed)}, 1e5, 5)
	}
}

func TestEndsWithContext(t *testing.T) {
	large := machineRepair(100_000, 3, network.FCFS)
	simtest.EndsWithContext(t, Network{Model: large}, 2e6, 300, 5)
}

func TestBadNetworks(t *testing.T) {
	for path, spoil := range map[string]func(*Network){
		"Model = nothing": func(n *Network) { n.Model = nil },
		"stations = []":   func(n *Network) { n.Model = new(network.Model) },
		"Sizes = 2 lists": func(n *Network) { n.Sizes = make([][]sizes.Distribution, 2) },
		"Sizes[0] = 1 distributions": func(n *Network) {
			n.Sizes = [][]sizes.Distribution{
				make([]sizes.Distribution, 1),
			}
		},
		"Sizes[0][1]": func(n *Network) {
			n.Sizes = [][]sizes.Distribution{
				{nil, simtest.Sizes(t, "exponential", 2)},
			}
		},
		"the sizes of shape":  func(n *Network) { n.Shape = simtest.InfiniteMean(t) },
		"stations[1].rate = ": func(n *Network) { n.Model.Stations[1].Rate = rat("1e-400") },
		"classes[0].visits[0].mean_size = 100": func(n *Network) {
			n.Model.Classes[0].Visits[0].MeanSize = rat("1e200")
		},
		"classes = arrival rates that are all 0": func(n *Network) {
			n.Model = single(network.Station{Discipline: network.FCFS}, "0")
		},
	} {
		n := Network{Model: machineRepair(5, 2, network.FCFS)}
		spoil(&n)
		if _, err := sim.NewPlan(t.Context(), n, sim.Settings{Horizon: 1}); err == nil ||
			!strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// If sizes are constant, three jobs that think and then share a server stay together forever: the
// server has three jobs for three quarters of the time, 9/4 on average, but theory gives 33/16. A
// warning names the chain.
func TestConstantSizesInClosedChains(t *testing.T) {
	m := &network.Model{
		Stations: []network.Station{{Name: "think", Discipline: network.Delay},
			{Name: "server", Discipline: network.Sharing}},
		Classes: []network.Class{{Name: "user", Population: 3, Visits: []network.Visit{
			{Station: 0, Next: []network.Branch{{Visit: 1, Probability: rat("1")}}},
			{Station: 1, Next: []network.Branch{{Visit: 0, Probability: rat("1")}}}}}},
	}
	exact, err := network.Solve(t.Context(), m, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	const warning = "chain user: all sizes are constant, so jobs that start together may stay together: "
	for shape, warned := range map[string]bool{"deterministic": true, "erlang:9": false} {
		r := simtest.Run(t, Network{Model: m, Shape: simtest.Sizes(t, shape, 1)},
			sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2e3, Seed: 1})
		if said := strings.Contains(strings.Join(r.Warnings, "\n"), warning); said != warned {
			t.Errorf("%s: warnings %q", shape, r.Warnings)
		}
		jobs := r.Estimate(OfStation, 1, sim.MeanJobs)
		if warned {
			if math.Abs(jobs.Mean-9./4) > 1e-3 {
				t.Errorf("%v jobs in lockstep, want 9/4", jobs.Mean)
			}
			continue
		}
		simtest.Near(t, "jobs at the server", jobs, exact.Stations[1].MeanJobs.Float)
	}
	m.Classes[0].Population = 1 // alone, it meets no other job
	if r := simtest.Run(t, Network{Model: m, Shape: simtest.Sizes(t, "deterministic", 1)},
		sim.Settings{Runs: 4, Jumps: 1000}); strings.Contains(strings.Join(r.Warnings, "\n"), warning) {
		t.Errorf("warnings %q", r.Warnings)
	}
}
