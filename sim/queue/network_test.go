package queue

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
	"productform/whittle"
)

// exampleNetwork draws arrival rates and a rank function for mean sizes 1, at a load of at most
// 4/5.
func exampleNetwork(seed, classes int) *whittle.Network {
	return rapid.Custom(func(t *rapid.T) *whittle.Network {
		m := oracle.DrawModel(t, oracle.Options{Classes: classes})
		m.MeanSize = nil
		m = oracle.ScaleTo(m, big.NewRat(int64(rapid.IntRange(3, 8).Draw(t, "tenths")), 10))
		return &whittle.Network{ArrivalRates: oracle.Rates(m), Rank: oracle.RankTable(m)}
	}).Example(seed)
}

// Under balanced fairness the mean numbers of jobs depend only on the mean sizes.
func TestNetworkIsInsensitive(t *testing.T) {
	means := simtest.Rationals("1", "1/2", "3", "2/5")
	for seed, shape := range []string{
		"exponential", "deterministic", "hyperexponential", "lognormal:4", "zipf", "erlang:3",
		"bounded-pareto:1.5:1000",
	} {
		exact := exampleNetwork(seed, 4)
		n := Network{Rank: exact.Rank}
		for i, r := range exact.ArrivalRates {
			mean, _ := means[i].Float64()
			n.Sizes = append(n.Sizes, simtest.Sizes(t, shape, mean))
			n.ArrivalRates = append(n.ArrivalRates, new(big.Rat).Quo(r, means[i]))
		}
		// its means do not depend on the lattice
		want, err := whittle.Stationary(
			t.Context(), exact, whittle.Simplex(len(exact.ArrivalRates), 1), whittle.Settings{},
		)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(t.Context(), n, sim.Settings{Runs: 20, Jumps: 1.2e4, WarmUp: 2e3, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Classes {
			jobs, at := want.MeanJobs[i].Float, fmt.Sprintf("%s: class %d: ", shape, i)
			simtest.Near(t, at+"jobs", r.Class(i, sim.MeanJobs), jobs)
			simtest.Near(t, at+"measured delay", r.Class(i, sim.MeasuredDelay), jobs/c.ArrivalRate)
			load, _ := exact.ArrivalRates[i].Float64()
			simtest.Near(t, at+"service rate", r.Class(i, sim.ServiceRate), load/jobs)
		}
	}
}

// With a server for each job the numbers of jobs are independent Poisson variables for all sizes,
// with means λ_i ∫_0^t P(size > u) du from the empty start.
func TestInfiniteServersArePoisson(t *testing.T) {
	for _, shape := range []string{"exponential", "deterministic", "hyperexponential", "zipf"} {
		n := Network{
			ArrivalRates: simtest.Rationals("2", "1/2"),
			Sizes:        []sizes.Distribution{simtest.Sizes(t, shape, 1), simtest.Sizes(t, shape, 2)},
			RatesKey:     "infinite servers",
			Rates: func(x []int, phi []float64) error {
				for i, v := range x {
					phi[i] = float64(v)
				}
				return nil
			},
		}
		r, err := sim.Run(t.Context(), n, sim.Settings{Runs: 20, Jumps: 1.2e4, WarmUp: 2e3, Seed: 2, Distribution: 8})
		if err != nil {
			t.Fatal(err)
		}
		simtest.Near(t, shape+": jobs of class 0", r.Class(0, sim.MeanJobs), 2)
		simtest.Near(t, shape+": jobs of class 1", r.Class(1, sim.MeanJobs), 1)
		simtest.Near(t, shape+": delay of class 0", r.Class(0, sim.MeasuredDelay), 1)
		p := math.Exp(-3)
		for k := range r.Distribution {
			simtest.Near(t, fmt.Sprintf("%s: P(%d jobs)", shape, k), &r.Distribution[k], p)
			p *= 3 / float64(k+1)
		}
		if shape == "exponential" { // over a horizon h the mean is λσ(1 - (1 - e^(-h/σ))σ/h)
			r, err := sim.Run(t.Context(), n, sim.Settings{Runs: 3000, Horizon: 2, Seed: 2})
			if err != nil {
				t.Fatal(err)
			}
			simtest.Near(t, "jobs up to time 2", r.Class(0, sim.MeanJobs), 2*(1-(1-math.Exp(-2))/2))
			simtest.Near(t, "jobs up to time 2", r.Class(1, sim.MeanJobs), 1-(1-math.Exp(-1)))
		}
	}
}

// notAlone works only while two or more jobs are present.
var notAlone = Network{
	ArrivalRates: simtest.Rationals("1/2"),
	RatesKey:     "not alone",
	Rates: func(x []int, phi []float64) error {
		if x[0] > 1 {
			phi[0] = 1
		}
		return nil
	},
}

// A server that works only on two or more jobs always retains one: E[X] = 1 + ρ/(1-ρ).
func TestZeroRates(t *testing.T) {
	r, err := sim.Run(t.Context(), notAlone, sim.Settings{Runs: 20, Jumps: 1.2e4, WarmUp: 2e3, Distribution: 3})
	if err != nil {
		t.Fatal(err)
	}
	simtest.Near(t, "jobs", r.All(sim.MeanJobs), 2)
	if r.Distribution[0].Mean != 0 {
		t.Errorf("P(empty) = %v, want 0", r.Distribution[0].Mean)
	}
	simtest.Near(t, "P(2 jobs)", &r.Distribution[2], 0.25)
}

func TestNetworkConforms(t *testing.T) {
	exact := exampleNetwork(7, 3)
	n := Network{
		ArrivalRates: exact.ArrivalRates,
		Rank:         exact.Rank,
		Sizes:        []sizes.Distribution{simtest.Sizes(t, "zipf", 1)},
	}
	simtest.Conforms(t, n)
	simtest.Golden(t, n, 0.70913123760395691) // the digits of version 1
}

// A run allocates only when the queue of a class or the total is longer than ever before, and for
// new states, which become ever rarer: 20 of them in 15,000 jumps are far below one per jump.
func TestNetworkAllocatesLittle(t *testing.T) {
	for _, n := range []Network{
		{ArrivalRates: simtest.Rationals("1/2", "1/4"), Rank: simtest.Rationals("0", "1", "1", "3/2")},
		{
			ArrivalRates: simtest.Rationals("1/2", "1/4"),
			RatesKey:     "one each",
			Rates:        func(x []int, phi []float64) error { phi[0], phi[1] = 1, 1; return nil },
		},
	} {
		p, err := sim.NewPlan(t.Context(), n, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e := p.Start(t.Context(), sim.NewStream([32]byte{}))
		y := sim.NewTotals(2, 0)
		advance := func() {
			if err := e.Advance(1e4, y); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			advance()
		}
		if k := testing.AllocsPerRun(5, advance); k > 20 {
			t.Errorf("%v allocations, want at most 20", k)
		}
	}
}

func TestBadNetworks(t *testing.T) {
	good := func() Network {
		return Network{ArrivalRates: simtest.Rationals("1/2", "1/4"), Rank: simtest.Rationals("0", "1", "1", "3/2")}
	}
	if _, err := sim.NewPlan(t.Context(), good(), sim.Settings{}); err != nil {
		t.Fatal(err)
	}
	one := func(x []int, phi []float64) error { phi[0] = 1; return nil }
	pareto, err := sizes.NewPareto(1, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	for path, spoil := range map[string]func(*Network){
		"Rank, Rates = both":      func(n *Network) { n.Rates, n.RatesKey = one, "one" },
		"Rank, Rates = neither":   func(n *Network) { n.Rank = nil },
		"RatesKey = one":          func(n *Network) { n.RatesKey = "one" },
		"ArrivalRates = 0":        func(n *Network) { n.ArrivalRates = nil },
		"ArrivalRates = 21":       func(n *Network) { n.ArrivalRates = slices.Repeat(n.ArrivalRates[:1], 21) },
		"ArrivalRates[1] = -1":    func(n *Network) { n.ArrivalRates[1] = big.NewRat(-1, 1) },
		"ArrivalRates[0] is":      func(n *Network) { n.ArrivalRates[0] = nil },
		"ArrivalRates = all 0":    func(n *Network) { n.ArrivalRates = simtest.Rationals("0", "0") },
		"ArrivalRates[0] = 1000":  func(n *Network) { n.ArrivalRates[0] = simtest.Rationals("1e400")[0] },
		"Rank = 3 values":         func(n *Network) { n.Rank = n.Rank[:3] },
		"Rank[3] = 1/2":           func(n *Network) { n.Rank[3] = big.NewRat(1, 2) },
		"Rank[2] = 0":             func(n *Network) { n.Rank[2] = new(big.Rat) },
		"Rank[3] = 1000":          func(n *Network) { n.Rank[3] = simtest.Rationals("1e400")[0] },
		"Sizes = 3 distributions": func(n *Network) { n.Sizes = make([]sizes.Distribution, 3) },
		"Sizes[1] is missing":     func(n *Network) { n.Sizes = []sizes.Distribution{pareto, nil} },
		"Sizes[0] = Pareto":       func(n *Network) { n.Sizes = []sizes.Distribution{pareto} },
	} {
		n := good()
		spoil(&n)
		if _, err := sim.NewPlan(t.Context(), n, sim.Settings{}); err == nil || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1)} {
		n := Network{
			ArrivalRates: simtest.Rationals("1"),
			RatesKey:     "bad",
			Rates:        func(x []int, phi []float64) error { phi[0] = v; return nil },
		}
		var bad *num.InputError
		if _, err := sim.Run(t.Context(), n, sim.Settings{}); !errors.As(err, &bad) ||
			bad.Path != "Rates([1])[0]" {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// Stability depends on the mean sizes. Over a horizon it is not required, and everything works
// without a stationary state.
func TestUnstableNetwork(t *testing.T) {
	n := Network{ArrivalRates: simtest.Rationals("1/2", "1/8"), Rank: simtest.Rationals("0", "1", "1", "2")}
	n.Sizes = []sizes.Distribution{simtest.Sizes(t, "deterministic", 2), simtest.Sizes(t, "exponential", 1)}
	// Class 0 brings work at rate 1/2 times 2 and is served at rate 1, that is, at 1/2 jobs of its
	// mean size per unit of time.
	want := &cluster.UnstableError{Classes: []int{0}, ArrivalRate: big.NewRat(1, 2), Capacity: big.NewRat(1, 2)}
	var u *cluster.UnstableError
	if _, err := sim.NewPlan(t.Context(), n, sim.Settings{}); !errors.As(err, &u) || u.Error() != want.Error() {
		t.Error(err)
	}
	// Both classes together bring work 1/2*2 + 4*1 = 5 in 9/2 jobs of mean size 10/9, and are
	// served at rate 3, that is, at 27/10 such jobs.
	both := Network{
		ArrivalRates: simtest.Rationals("1/2", "4"),
		Rank:         simtest.Rationals("0", "3", "3", "3"),
		Sizes:        n.Sizes,
	}
	want = &cluster.UnstableError{Classes: []int{0, 1}, ArrivalRate: big.NewRat(9, 2), Capacity: big.NewRat(27, 10)}
	if _, err := sim.NewPlan(t.Context(), both, sim.Settings{}); !errors.As(err, &u) || u.Error() != want.Error() {
		t.Error(err)
	}
	var r *sim.Result
	for shape, want := range map[string]float64{
		"exponential": 4500, // λ = 1/2 arrives and 1/20 departs for 20000: half of the difference on average
		// no job departs: each sees ever more others, and receives about 2 ln 10000 < 20 of service
		"deterministic": 5000,
	} {
		n.Sizes[0] = simtest.Sizes(t, shape, 20)
		var err error
		if r, err = sim.Run(t.Context(), n, sim.Settings{Runs: 10, Horizon: 20000}); err != nil {
			t.Fatal(err)
		}
		if m := r.Class(0, sim.MeanJobs).Mean; math.Abs(m-want) > 110 { // 6 times √(λ 20000/3/10)
			t.Errorf("%s: %v jobs, want %v", shape, m, want)
		}
	}
	simtest.Near(t, "jobs of the other class", r.Class(1, sim.MeanJobs), 1.0/7)
}

// If the rate function fails, the run or its plan ends with an error that names the state and wraps
// its error.
func TestRatesThatFail(t *testing.T) {
	failure := errors.New("no solution")
	for from, state := range map[int]string{1: "Rates([1])", 40: "Rates([40])"} {
		n := Network{
			ArrivalRates: simtest.Rationals("1"),
			RatesKey:     "fails",
			Rates: func(x []int, phi []float64) error {
				if x[0] >= from {
					return failure
				}
				phi[0] = 0.5
				return nil
			},
		}
		_, err := sim.NewPlan(t.Context(), n, sim.Settings{})
		if from > 25 { // not a small state
			if err != nil {
				t.Error(err)
			}
			_, err = sim.Run(t.Context(), n, sim.Settings{})
		}
		if !errors.Is(err, failure) || !strings.Contains(err.Error(), state) {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestNetworkKeys(t *testing.T) {
	key := func(n Network) string {
		p, err := sim.NewPlan(t.Context(), n, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Key(0)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	one := func(x []int, phi []float64) error { phi[0] = 1; return nil }
	rates := simtest.Rationals("1/2")
	seen := make(map[string]bool)
	for _, n := range []Network{
		{ArrivalRates: rates, Rank: simtest.Rationals("0", "1")},
		{ArrivalRates: rates, Rank: simtest.Rationals("0", "2")},
		{ArrivalRates: simtest.Rationals("1/3"), Rank: simtest.Rationals("0", "1")},
		{
			ArrivalRates: rates,
			Rank:         simtest.Rationals("0", "1"),
			Sizes:        []sizes.Distribution{simtest.Sizes(t, "zipf", 1)},
		},
		{ArrivalRates: rates, Rates: one, RatesKey: "a"},
		{ArrivalRates: rates, Rates: one, RatesKey: "b"},
		{ArrivalRates: rates, Rates: notAlone.Rates, RatesKey: "b"}, // the values differ
	} {
		seen[key(n)] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d keys of 7 networks, want 7", len(seen))
	}
}

func BenchmarkNetwork(b *testing.B) {
	for _, classes := range []int{2, 4} {
		for _, shape := range []string{"exponential", "bounded-pareto:1.5:1000"} {
			b.Run(fmt.Sprintf("classes=%d/sizes=%s", classes, shape), func(b *testing.B) {
				n := Network{Sizes: []sizes.Distribution{simtest.Sizes(b, shape, 1)}}
				for range classes {
					n.ArrivalRates = append(n.ArrivalRates, big.NewRat(int64(classes+1), int64(2*classes)))
				}
				for a := range 1 << classes { // one server for each class and one for all
					n.Rank = append(n.Rank, big.NewRat(int64(bits.OnesCount(uint(a))+min(a, 1)), 1))
				}
				simtest.Benchmark(b, n)
			})
		}
	}
}
