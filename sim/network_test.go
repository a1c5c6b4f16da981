package sim

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/sizes"
	"productform/whittle"
)

// near5 fails if an estimate is as far from the exact value as one right one in 1.7 million is: 5 standard errors of
// the normal law, which [Estimate.Z] brings Student's law to. With 20 replications that is 7.4 of them. All seeds are
// fixed.
func near5(t *testing.T, what string, e *Estimate, exact float64) {
	t.Helper()
	if e == nil {
		t.Errorf("%s: no estimate, exact %v", what, exact)
		return
	}
	if z := e.Z(exact); !(math.Abs(z) < 5) {
		t.Errorf("%s = %.6g ± %.2g, exact %.6g, z = %.1f", what, e.Mean, e.StdError, exact, z)
	}
}

func rationals(values ...string) []*big.Rat {
	var list []*big.Rat
	for _, v := range values {
		r, ok := new(big.Rat).SetString(v)
		if !ok {
			panic(v)
		}
		list = append(list, r)
	}
	return list
}

// exampleNetwork draws arrival rates and a rank function of mean sizes 1, of a load of at most 4/5.
func exampleNetwork(seed, classes int) whittle.Network {
	return rapid.Custom(func(t *rapid.T) whittle.Network {
		m := oracle.DrawModel(t, oracle.Options{Classes: classes})
		m.MeanSize = nil
		m = oracle.ScaleTo(m, big.NewRat(int64(rapid.IntRange(3, 8).Draw(t, "tenths")), 10))
		return whittle.Network{ArrivalRates: oracle.Rates(m), Rank: oracle.RankTable(m)}
	}).Example(seed)
}

// Balanced fairness makes the mean numbers of jobs depend on the mean sizes only.
func TestNetworkIsInsensitive(t *testing.T) {
	means := rationals("1", "1/2", "3", "2/5")
	for seed, shape := range []string{"exponential", "deterministic", "hyperexponential", "lognormal:4", "zipf", "erlang:3", "bounded-pareto:1.5:1000"} {
		exact := exampleNetwork(seed, 4)
		n := Network{Rank: exact.Rank}
		for i, r := range exact.ArrivalRates {
			mean, _ := means[i].Float64()
			n.Sizes = append(n.Sizes, parseSizes(t, shape, mean))
			n.ArrivalRates = append(n.ArrivalRates, new(big.Rat).Quo(r, means[i]))
		}
		l, err := whittle.Choose(exact, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		want, err := whittle.Stationary(exact, l)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), n, Settings{Runs: 20, Jumps: 3e4, Seed: 5}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Classes {
			at := fmt.Sprintf("%s: class %d: ", shape, i)
			near5(t, at+"jobs", r.Class(i, MeanJobs), want.MeanJobs[i])
			near5(t, at+"measured delay", r.Class(i, MeasuredDelay), want.MeanJobs[i]/c.ArrivalRate)
			load, _ := exact.ArrivalRates[i].Float64()
			near5(t, at+"service rate", r.Class(i, ServiceRate), load/want.MeanJobs[i])
		}
	}
}

// With a server for each job the numbers of jobs are independent Poisson variables for all sizes, from
// the empty start with means λ_i ∫_0^t P(size > u) du.
func TestInfiniteServersArePoisson(t *testing.T) {
	for _, shape := range []string{"exponential", "deterministic", "hyperexponential", "zipf"} {
		n := Network{
			ArrivalRates: rationals("2", "1/2"),
			Sizes:        []sizes.Distribution{parseSizes(t, shape, 1), parseSizes(t, shape, 2)},
			RatesKey:     "infinite servers",
			Rates: func(x []int, phi []float64) error {
				for i, v := range x {
					phi[i] = float64(v)
				}
				return nil
			},
		}
		r, err := Run(t.Context(), n, Settings{Runs: 20, Jumps: 3e4, Seed: 2, Distribution: 8}, nil)
		if err != nil {
			t.Fatal(err)
		}
		near5(t, shape+": jobs of class 0", r.Class(0, MeanJobs), 2)
		near5(t, shape+": jobs of class 1", r.Class(1, MeanJobs), 1)
		near5(t, shape+": delay of class 0", r.Class(0, MeasuredDelay), 1)
		p := math.Exp(-3)
		for k := range r.Distribution {
			near5(t, fmt.Sprintf("%s: P(%d jobs)", shape, k), &r.Distribution[k], p)
			p *= 3 / float64(k+1)
		}
		if shape == "exponential" { // the mean over a horizon h is λσ(1 - (1 - e^(-h/σ))σ/h)
			r, err := Run(t.Context(), n, Settings{Runs: 3000, Horizon: 2, Seed: 2}, nil)
			if err != nil {
				t.Fatal(err)
			}
			near5(t, "jobs up to time 2", r.Class(0, MeanJobs), 2*(1-(1-math.Exp(-2))/2))
			near5(t, "jobs up to time 2", r.Class(1, MeanJobs), 1-(1-math.Exp(-1)))
		}
	}
}

// notAlone works on two jobs or more only.
var notAlone = Network{ArrivalRates: rationals("1/2"), RatesKey: "not alone", Rates: func(x []int, phi []float64) error {
	if x[0] > 1 {
		phi[0] = 1
	}
	return nil
}}

// A server that works on two jobs or more only always keeps one: E[X] = 1 + ρ/(1-ρ).
func TestRatesThatAreZero(t *testing.T) {
	r, err := Run(t.Context(), notAlone, Settings{Runs: 20, Jumps: 3e4, Distribution: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	near5(t, "jobs", r.All(MeanJobs), 2)
	if r.Distribution[0].Mean != 0 {
		t.Errorf("P(empty) = %v", r.Distribution[0].Mean)
	}
	near5(t, "P(2 jobs)", &r.Distribution[2], 0.25)
}

// A literalNetwork keeps the work left of each job, and takes it down from event to event.
type literalNetwork struct {
	*sharing
	jobs []literalShare
	x    []int
}

type literalShare struct {
	left, born float64
	source     int
}

// run simulates the network from the same stream as sharedQueues.
func (q *literalNetwork) run(t float64, draws *rand.Rand, y *Totals) {
	phi := make([]float64, len(q.x))
	now, arrival := 0.0, draws.ExpFloat64()/q.rate
	for {
		for _, p := range q.parts {
			if err := p.rates(q.x[p.from:p.to], phi[p.from:p.to]); err != nil {
				panic(err)
			}
		}
		first, next := -1, arrival
		for k, j := range q.jobs {
			i := q.sources[j.source].queue
			if at := now + j.left*float64(q.x[i])/phi[i]; at <= next {
				first, next = k, at
			}
		}
		for k := range q.jobs {
			i := q.sources[q.jobs[k].source].queue
			q.jobs[k].left -= (min(next, t) - now) * phi[i] / float64(q.x[i])
			y.Jobs[q.sources[q.jobs[k].source].row] += min(next, t) - now
		}
		y.Add(len(q.jobs), min(next, t)-now)
		if next > t {
			y.Time += t
			return
		}
		now = next
		y.Jumps++
		if first >= 0 {
			s := q.sources[q.jobs[first].source]
			y.Left[s.row]++
			y.Sojourn[s.row] += now - q.jobs[first].born
			q.x[s.queue]--
			q.jobs = slices.Delete(q.jobs, first, first+1)
			continue
		}
		arrival = now + draws.ExpFloat64()/q.rate
		column, fraction := bits.Mul64(draws.Uint64(), uint64(len(q.table)))
		code := q.table[column].Other
		if fraction < q.table[column].Cut {
			code = q.table[column].Own
		}
		s := q.sources[code]
		q.x[s.queue]++
		q.jobs = append(q.jobs, literalShare{s.sizes.Sample(draws), now, int(code)})
	}
}

// The engine does what jobs that share servers do, to rounding. The last network is never empty, so that the
// attained service is set back.
func TestSharedQueuesAreLiteral(t *testing.T) {
	for seed := range 21 {
		exact := exampleNetwork(100+seed, 4)
		shape := []string{"exponential", "deterministic", "pareto:1.1", "bimodal"}[seed%4]
		n := Network{ArrivalRates: exact.ArrivalRates, Rank: exact.Rank, Sizes: []sizes.Distribution{parseSizes(t, shape, 1)}}
		if seed == 20 {
			n = notAlone
		}
		p, err := NewPlan(n, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		key := [32]byte{byte(seed)}
		e := p.Start(t.Context(), NewStream(key)).(*sharedQueues)
		length := 10000 / p.JumpRate
		got, want := NewTotals(len(p.Classes), 0), NewTotals(len(p.Classes), 0)
		for range 10 {
			if err := e.Advance(length/10, got); err != nil {
				t.Fatal(err)
			}
		}
		if a := e.queues[0].attained; seed == 20 && !(a > 0 && a <= 1024) {
			t.Errorf("attained service %v", a)
		}
		q := literalNetwork{sharing: e.sharing, x: make([]int, len(p.Classes))}
		q.run(length, rand.New(NewStream(key)), want)
		// Work attained up to 1024 means has a rounding error of 10^-13, and errors add up over the 10000 events.
		equal := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-8*max(math.Abs(a), math.Abs(b), 1) })
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Totals{}), equal); diff != "" {
			t.Errorf("seed %d, %s: %s", seed, shape, diff)
		}
	}
}

// The rates of a balance are the exact ones, in whatever order they are asked for.
func TestBalanceIsExact(t *testing.T) {
	for seed := range 20 {
		exact := exampleNetwork(200+seed, 4)
		classes := len(exact.ArrivalRates)
		box := whittle.Box(slices.Repeat([]int{6}, classes)...)
		phi, err := whittle.BalanceFromRank(exact.Rank, box)
		if err != nil {
			t.Fatal(err)
		}
		want, err := whittle.Rates(phi)
		if err != nil {
			t.Fatal(err)
		}
		rank, _, err := readRank("", exact.Rank)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		b := newBalance(classes, func(set uint64) float64 { return rank[set] })
		got := make([]float64, classes)
		for _, k := range r.Perm(len(want)) {
			x, _ := box.State(k)
			if err := b.rates(x, got); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				w, _ := want[k][i].Float64()
				if math.Abs(v-w) > 1e-13*w { // 2(N+2)n 2^-53 with n = 24 is 3.2e-14
					t.Errorf("seed %d: φ_%d(%v) = %v, want %v", seed, i, x, v, w)
				}
			}
		}
		if all := len(want); b.states != all {
			t.Errorf("seed %d: %d states, want %d", seed, b.states, all)
		}
	}
}

// Simulations that ask at the same time, and in any order, get the same digits and make the same table.
func TestBalanceDoesNotDependOnOrder(t *testing.T) {
	rank := func(set uint64) float64 { return math.Sqrt(float64(bits.OnesCount64(set))) }
	r := rand.New(rand.NewPCG(1, 2))
	var states [][]int
	for range 300 {
		states = append(states, []int{r.IntN(40), r.IntN(5), r.IntN(90)})
	}
	ask := func(b *balance, order []int) [][]float64 {
		answers := make([][]float64, len(states))
		for _, k := range order {
			answers[k] = make([]float64, 3)
			if err := b.rates(states[k], answers[k]); err != nil {
				t.Error(err)
			}
		}
		return answers
	}
	first := newBalance(3, rank)
	want := ask(first, r.Perm(len(states)))
	other := newBalance(3, rank)
	orders := [][]int{r.Perm(len(states)), r.Perm(len(states)), r.Perm(len(states)), r.Perm(len(states))}
	var all sync.WaitGroup
	for _, order := range orders {
		all.Go(func() {
			if diff := cmp.Diff(want, ask(other, order)); diff != "" {
				t.Error(diff)
			}
		})
	}
	all.Wait()
	if first.states != other.states || first.units != other.units {
		t.Errorf("%d states and %d, %d units and %d", first.states, other.states, first.units, other.units)
	}
}

// The balance function leaves the range of float64, rates do not. One class has all of a server, in every state.
func TestBalanceHasNoRange(t *testing.T) {
	for _, mu := range []float64{1e-290, 1e-3, 1, 7, 1e290} {
		b := newBalance(2, func(set uint64) float64 { return mu })
		phi := make([]float64, 2)
		for _, x := range [][]int{{3000, 0}, {0, 5000}, {2000, 1000}} {
			if err := b.rates(x, phi); err != nil {
				t.Fatal(err)
			}
			for i, v := range x { // a single server is shared equally
				if want := mu * float64(v) / float64(x[0]+x[1]); math.Abs(phi[i]-want) > 4e-12*want { // 2(N+2)n 2^-53 = 4.4e-12
					t.Errorf("μ = %g: φ_%d(%v) = %v, want %v", mu, i, x, phi[i], want)
				}
			}
		}
	}
}

func TestBalanceTooLarge(t *testing.T) {
	b := newBalance(3, func(uint64) float64 { return 1 })
	b.limit = 1000
	phi := make([]float64, 3)
	units, states := b.units, b.states
	for _, x := range [][]int{{20, 10, 10}, {1 << 40, 1 << 40, 1 << 40}} {
		if err := b.rates(x, phi); !errors.Is(err, ErrTooManyStates) || !strings.Contains(err.Error(), "3 classes") {
			t.Errorf("%v: %v", x, err)
		}
		if b.units != units || b.states != states {
			t.Errorf("%v: %d units and %d states, were %d and %d", x, b.units, b.states, units, states)
		}
	}
	if err := b.rates([]int{4, 4, 4}, phi); err != nil { // there is room for these, 125 states in 25 rows
		t.Error(err)
	}
	for n := range 100000 {
		if r := roundUp(n); r < n || r > n+n/8 || roundUp(r) != r {
			t.Fatalf("roundUp(%d) = %d", n, r)
		}
	}
}

func TestNetworkSameDigits(t *testing.T) {
	exact := exampleNetwork(7, 3)
	n := Network{ArrivalRates: exact.ArrivalRates, Rank: exact.Rank, Sizes: []sizes.Distribution{parseSizes(t, "zipf", 1)}}
	s := Settings{Runs: 8, Jumps: 1e4, Distribution: 5, Workers: 1}
	first, err := Run(t.Context(), n, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Workers = 2
	second, err := Run(t.Context(), n, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

// A run allocates nothing but room for a longest queue ever, of a class or in all, and for states never seen before,
// which become ever rarer: 20 of them for 15,000 jumps are far below one for each.
func TestNetworkAllocatesLittle(t *testing.T) {
	for _, n := range []Network{
		{ArrivalRates: rationals("1/2", "1/4"), Rank: rationals("0", "1", "1", "3/2")},
		{ArrivalRates: rationals("1/2", "1/4"), RatesKey: "one each", Rates: func(x []int, phi []float64) error { phi[0], phi[1] = 1, 1; return nil }},
	} {
		p, err := NewPlan(n, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e := p.Start(t.Context(), NewStream([32]byte{}))
		y := NewTotals(2, 0)
		advance := func() {
			if err := e.Advance(1e4, y); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			advance()
		}
		if k := testing.AllocsPerRun(5, advance); k > 20 {
			t.Errorf("%v allocations", k)
		}
	}
}

func TestBadNetworks(t *testing.T) {
	good := func() Network {
		return Network{ArrivalRates: rationals("1/2", "1/4"), Rank: rationals("0", "1", "1", "3/2")}
	}
	if _, err := NewPlan(good(), Settings{}); err != nil {
		t.Fatal(err)
	}
	one := func(x []int, phi []float64) error { phi[0] = 1; return nil }
	pareto, err := sizes.NewPareto(1, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	for path, spoil := range map[string]func(*Network){
		"Rank, Rates = both":     func(n *Network) { n.Rates, n.RatesKey = one, "one" },
		"Rank, Rates = neither":  func(n *Network) { n.Rank = nil },
		"RatesKey is missing":    func(n *Network) { n.Rank, n.Rates = nil, one },
		"RatesKey = one":         func(n *Network) { n.RatesKey = "one" },
		"ArrivalRates = 0":       func(n *Network) { n.ArrivalRates = nil },
		"ArrivalRates = 21":      func(n *Network) { n.ArrivalRates = slices.Repeat(n.ArrivalRates[:1], 21) },
		"ArrivalRates[1] = -1":   func(n *Network) { n.ArrivalRates[1] = big.NewRat(-1, 1) },
		"ArrivalRates[0] is":     func(n *Network) { n.ArrivalRates[0] = nil },
		"ArrivalRates = all 0":   func(n *Network) { n.ArrivalRates = rationals("0", "0") },
		"ArrivalRates[0] = 1000": func(n *Network) { n.ArrivalRates[0] = rationals("1e400")[0] },
		"Rank = 3 values":        func(n *Network) { n.Rank = n.Rank[:3] },
		"Rank[3] = 1/2":          func(n *Network) { n.Rank[3] = big.NewRat(1, 2) },
		"Rank[2] = 0":            func(n *Network) { n.Rank[2] = new(big.Rat) },
		"Rank[3] = 1000":         func(n *Network) { n.Rank[3] = rationals("1e400")[0] },
		"Sizes = 3 laws":         func(n *Network) { n.Sizes = make([]sizes.Distribution, 3) },
		"Sizes[1] is missing":    func(n *Network) { n.Sizes = []sizes.Distribution{pareto, nil} },
		"Sizes[0] = Pareto":      func(n *Network) { n.Sizes = []sizes.Distribution{pareto} },
	} {
		n := good()
		spoil(&n)
		if _, err := NewPlan(n, Settings{}); err == nil || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1)} {
		n := Network{ArrivalRates: rationals("1"), RatesKey: "bad", Rates: func(x []int, phi []float64) error { phi[0] = v; return nil }}
		var bad *cluster.InputError
		if _, err := Run(t.Context(), n, Settings{}, nil); !errors.As(err, &bad) || bad.Path != "Rates([1])[0]" {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// Stability takes the mean sizes; over a horizon it is not asked for, and all works without a stationary state.
func TestUnstableNetwork(t *testing.T) {
	n := Network{ArrivalRates: rationals("1/2", "1/8"), Rank: rationals("0", "1", "1", "2")}
	n.Sizes = []sizes.Distribution{parseSizes(t, "deterministic", 2), parseSizes(t, "exponential", 1)}
	// Class 0 brings work at the rate 1/2 times 2, and is served at rate 1: that is 1/2 jobs of its mean size.
	want := &cluster.UnstableError{Classes: []int{0}, ArrivalRate: big.NewRat(1, 2), Capacity: big.NewRat(1, 2)}
	var u *cluster.UnstableError
	if _, err := NewPlan(n, Settings{}); !errors.As(err, &u) || u.Error() != want.Error() {
		t.Error(err)
	}
	// Both bring 1/2*2 + 4*1 = 5 in 9/2 jobs of mean size 10/9, and are served at rate 3: that is 27/10 of them.
	both := Network{ArrivalRates: rationals("1/2", "4"), Rank: rationals("0", "3", "3", "3"), Sizes: n.Sizes}
	want = &cluster.UnstableError{Classes: []int{0, 1}, ArrivalRate: big.NewRat(9, 2), Capacity: big.NewRat(27, 10)}
	if _, err := NewPlan(both, Settings{}); !errors.As(err, &u) || u.Error() != want.Error() {
		t.Error(err)
	}
	var r *Result
	for shape, want := range map[string]float64{
		"exponential":   4500, // λ = 1/2 comes and 1/20 leaves in 20000: half of that on average
		"deterministic": 5000, // nobody leaves: a job sees ever more others, and gets a service of some 2 ln 10000 < 20
	} {
		n.Sizes[0] = parseSizes(t, shape, 20)
		var err error
		if r, err = Run(t.Context(), n, Settings{Runs: 10, Horizon: 20000}, nil); err != nil {
			t.Fatal(err)
		}
		if m := r.Class(0, MeanJobs).Mean; math.Abs(m-want) > 110 { // 6 times √(λ 20000/3/10)
			t.Errorf("%s: %v jobs, want %v", shape, m, want)
		}
	}
	near5(t, "jobs of the other class", r.Class(1, MeanJobs), 1.0/7)
}

// A rate function that fails ends the run, or its plan, with the state and its own error.
func TestRatesThatFail(t *testing.T) {
	failure := errors.New("no solution")
	for from, state := range map[int]string{1: "Rates([1])", 40: "Rates([40])"} {
		n := Network{ArrivalRates: rationals("1"), RatesKey: "fails", Rates: func(x []int, phi []float64) error {
			if x[0] >= from {
				return failure
			}
			phi[0] = 0.5
			return nil
		}}
		_, err := NewPlan(n, Settings{})
		if from > 25 { // no small state
			if err != nil {
				t.Error(err)
			}
			_, err = Run(t.Context(), n, Settings{}, nil)
		}
		if !errors.Is(err, failure) || !strings.Contains(err.Error(), state) {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestNetworkKeys(t *testing.T) {
	key := func(n Network) string {
		p, err := NewPlan(n, Settings{})
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
	rates := rationals("1/2")
	seen := make(map[string]bool)
	for _, n := range []Network{
		{ArrivalRates: rates, Rank: rationals("0", "1")},
		{ArrivalRates: rates, Rank: rationals("0", "2")},
		{ArrivalRates: rationals("1/3"), Rank: rationals("0", "1")},
		{ArrivalRates: rates, Rank: rationals("0", "1"), Sizes: []sizes.Distribution{parseSizes(t, "zipf", 1)}},
		{ArrivalRates: rates, Rates: one, RatesKey: "a"},
		{ArrivalRates: rates, Rates: one, RatesKey: "b"},
		{ArrivalRates: rates, Rates: notAlone.Rates, RatesKey: "b"}, // the values differ
	} {
		seen[key(n)] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d keys of 7 networks", len(seen))
	}
}

func BenchmarkNetwork(b *testing.B) {
	for _, classes := range []int{2, 4} {
		for _, shape := range []string{"exponential", "bounded-pareto:1.5:1000"} {
			b.Run(fmt.Sprintf("classes=%d/sizes=%s", classes, shape), func(b *testing.B) {
				n := Network{Sizes: []sizes.Distribution{parseSizes(b, shape, 1)}}
				for range classes {
					n.ArrivalRates = append(n.ArrivalRates, big.NewRat(int64(classes+1), int64(2*classes)))
				}
				for a := range 1 << classes { // a server each and one for all
					n.Rank = append(n.Rank, big.NewRat(int64(bits.OnesCount(uint(a))+min(a, 1)), 1))
				}
				benchmarkEngine(b, n)
			})
		}
	}
}

// A refusal reads the same whichever state is the first to be too much, so that it does not depend on which of many
// runs meets its state first.
func TestBalanceRefusesInTheSameWords(t *testing.T) {
	var texts []string
	for _, x := range [][]int{{900, 900, 900}, {1 << 20, 1 << 20, 1}, {3, 1 << 29, 2}} {
		b := newBalance(3, func(uint64) float64 { return 1 })
		err := b.rates(x, make([]float64, 3))
		if !errors.Is(err, ErrTooManyStates) {
			t.Fatalf("%v: error %v", x, err)
		}
		texts = append(texts, err.Error())
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Errorf("refusals differ: %q", texts)
	}
}
