package queue

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/oiqueue"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sim/internal/simtest"
	"productform/sweep"
)

// againstQueue compares a run with the exact answers of an order-independent queue whose arrival
// rates are the effective ones.
func againstQueue(t *testing.T, name string, q *oiqueue.Queue, r *sim.Result) {
	t.Helper()
	exact, err := oiqueue.Stationary(t.Context(), q, oiqueue.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for i, c := range r.Classes {
		jobs, at := exact.MeanJobs[i].Float, fmt.Sprintf("%s: class %d: ", name, i)
		total += jobs
		simtest.Near(t, at+"jobs", r.Class(i, sim.MeanJobs), jobs)
		simtest.Near(t, at+"delay", r.Class(i, sim.MeanDelay), jobs/c.ArrivalRate)
		simtest.Near(t, at+"measured delay", r.Class(i, sim.MeasuredDelay), jobs/c.ArrivalRate)
		simtest.Near(t, at+"service rate", r.Class(i, sim.ServiceRate), c.ArrivalRate/jobs)
	}
	simtest.Near(t, name+": jobs", r.All(sim.MeanJobs), total)
	if r.Distribution != nil {
		simtest.Near(t, name+": P(empty)", &r.Distribution[0], exact.EmptyProbability.Float)
	}
}

func runQueue(t *testing.T, q Queue, s sim.Settings) *sim.Result {
	t.Helper()
	r, err := sim.Run(t.Context(), q, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exampleQueue draws a queue with the rank function of a cluster, at a load of at most 4/5.
func exampleQueue(seed, classes int) *oiqueue.Queue {
	n := exampleNetwork(seed, classes)
	return &oiqueue.Queue{ArrivalRates: n.ArrivalRates, Rank: n.Rank}
}

var quick = sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2e3, Seed: 11, Distribution: 3}

func TestQueuesOfRank(t *testing.T) {
	for seed := range 10 {
		q := exampleQueue(300+seed, 4)
		againstQueue(t, fmt.Sprint("seed ", seed), q, runQueue(t, Queue{Model: q}, quick))
	}
}

// Stations of equal servers, whose rates depend on the numbers of jobs, match theory.
func TestStations(t *testing.T) {
	rates := simtest.Rationals("1", "1/2", "3/4")
	mmc, err := oiqueue.MMc(rates, 3, big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	msccc, err := oiqueue.MSCCC(simtest.Rationals("1/2", "1/3", "3/4"), 3, big.NewRat(1, 1), []int{2, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	tree := oiqueue.Constraint{
		Limit:    3,
		Classes:  []int{0},
		Children: []oiqueue.Constraint{{Limit: 2, Classes: []int{1, 2}}},
	}
	mshcc, err := oiqueue.MSHCC(simtest.Rationals("1/2", "1/3", "3/4"), tree, big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]*oiqueue.Queue{"MMc": mmc, "MSCCC": msccc, "MSHCC": mshcc} {
		againstQueue(t, name, q, runQueue(t, Queue{Model: q, RatesKey: name}, quick))
	}
	// Without Saturation, or with OrderedRate, rates are cached in a map, which gives the same
	// digits.
	want := runQueue(t, Queue{Model: msccc, RatesKey: "MSCCC"}, quick)
	free := *msccc
	free.Saturation = nil
	ordered := &oiqueue.Queue{ArrivalRates: msccc.ArrivalRates, OrderedRate: func(c []int) *big.Rat {
		x := make([]int, 3)
		for _, i := range c {
			x[i]++
		}
		return msccc.TotalRate(x)
	}}
	for name, q := range map[string]*oiqueue.Queue{"no saturation": &free, "ordered": ordered} {
		p, err := sim.NewPlan(t.Context(), Queue{Model: q, RatesKey: name}, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.NewPlan(t.Context(), Queue{Model: msccc, RatesKey: "MSCCC"}, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		got, want := sim.NewTotals(3, 0), sim.NewTotals(3, 0)
		for _, err := range []error{
			p.Start(t.Context(), sim.NewStream([32]byte{1})).Advance(2000, got),
			r.Start(t.Context(), sim.NewStream([32]byte{1})).Advance(2000, want),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(sim.Totals{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if len(want.Warnings) > 0 {
		t.Error(want.Warnings)
	}
}

// infinite returns a queue with a server for each job.
func infinite(rates ...string) Queue {
	return Queue{
		RatesKey: "infinite",
		Model: &oiqueue.Queue{ArrivalRates: simtest.Rationals(rates...), TotalRate: func(x []int) *big.Rat {
			return big.NewRat(int64(sim.Sum(x)), 1)
		}},
	}
}

// With a server for each job the number of jobs is Poisson; from the empty start its mean over a
// horizon h is λ(1 - (1 - e^-h)/h): in that case, the times in states are drawn.
func TestQueueOfInfiniteServers(t *testing.T) {
	r := runQueue(t, infinite("2", "1"), quick)
	p := math.Exp(-3)
	for k := range r.Distribution {
		simtest.Near(t, fmt.Sprintf("P(%d jobs)", k), &r.Distribution[k], p)
		p *= 3 / float64(k+1)
	}
	simtest.Near(t, "jobs", r.Class(0, sim.MeanJobs), 2)
	r = runQueue(t, infinite("2", "1"), sim.Settings{Runs: 3000, Horizon: 2, Distribution: 1})
	simtest.Near(t, "jobs up to time 2", r.Class(0, sim.MeanJobs), 2*(1-(1-math.Exp(-2))/2))
}

// An FCFS cluster is an order-independent queue ([BC17], section 2); both simulations agree.
func TestClusterMatchesQueue(t *testing.T) {
	for seed := range 4 {
		m := rapid.Custom(func(t *rapid.T) *cluster.Model {
			return oracle.ScaleTo(oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: 3}), big.NewRat(7, 10))
		}).Example(seed)
		q, err := oiqueue.FromCluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		a := runQueue(t, Queue{Model: q}, quick)
		b, err := sim.Run(t.Context(), simcluster.Cluster{Model: m}, quick)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := bf.Answer(t.Context(), m, bf.Question{MaxJobs: 3}, bf.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Classes {
			x, y := *a.Class(i, sim.MeanJobs), *b.Class(i, sim.MeanJobs)
			// Student's t with about 38 degrees of freedom
			if z := (x.Mean - y.Mean) / math.Hypot(x.StdError, y.StdError); !(math.Abs(z) < 6) {
				t.Errorf("seed %d: class %d: %v and %v, z = %v", seed, i, x, y, z)
			}
			simtest.Near(t, "jobs", &x, exact.Classes[i].MeanJobs.Float)
		}
		for k := range a.Distribution {
			simtest.Near(t, fmt.Sprintf("P(%d jobs)", k), &a.Distribution[k], exact.JobsDistribution[k].Float)
		}
	}
}

// Returning jobs leave the stationary distribution unchanged ([BC17], section 3); other routings
// give the distribution for the effective rates.
func TestReturningJobs(t *testing.T) {
	q := exampleQueue(400, 3)
	for _, p := range []string{"1", "1/2", "1/10"} {
		same, routing, err := oiqueue.Reentrant(t.Context(), q, simtest.Rationals(p)[0])
		if err != nil {
			t.Fatal(err)
		}
		r := runQueue(t, Queue{Model: same, Routing: &routing}, sim.Settings{
			Runs:         20,
			Jumps:        2.5e4,
			Seed:         1,
			Distribution: 3,
		})
		againstQueue(t, "p = "+p, q, r)
	}
	rank := simtest.Rationals("0", "1", "1", "2", "1", "2", "2", "3")
	routing := &oiqueue.Routing{
		External: simtest.Rationals("1/4", "1/8", "0"),
		Prob: [][]*big.Rat{
			{nil, big.NewRat(1, 2), big.NewRat(1, 4)}, simtest.Rationals("1/8", "1/8", "1/8"),
			{big.NewRat(1, 3), nil, nil},
		},
	}
	empty := &oiqueue.Queue{ArrivalRates: simtest.Rationals("0", "0", "0"), Rank: rank}
	routed, err := oiqueue.Routed(t.Context(), empty, *routing)
	if err != nil {
		t.Fatal(err)
	}
	r := runQueue(t, Queue{Model: empty, Routing: routing}, quick)
	againstQueue(t, "three classes", routed, r)
	for i, c := range r.Classes {
		if want, _ := routed.ArrivalRates[i].Float64(); c.ArrivalRate != want {
			t.Errorf("arrival rate of class %d is %v, want %v", i, c.ArrivalRate, want)
		}
	}
}

// Each position is served at its rate μ(c_1, ..., c_k) - μ(c_1, ..., c_{k-1}), even if the rate
// depends on the order.
func TestPositionRates(t *testing.T) {
	msccc, err := oiqueue.MSCCC(simtest.Rationals("1", "1", "1"), 4, big.NewRat(1, 2), []int{2, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	ordered := &oiqueue.Queue{ArrivalRates: simtest.Rationals("1", "1", "1"), OrderedRate: func(c []int) *big.Rat {
		sum := big.NewRat(1, 1)
		for k, i := range c {
			sum.Add(sum, big.NewRat(int64(i), int64(k+1)))
		}
		return sum
	}}
	draws := rand.New(rand.NewPCG(3, 4))
	c := []int{1, 1, 0, 2, 2, 0, 2, 1}
	for name, q := range map[string]*oiqueue.Queue{"rank": exampleQueue(401, 3), "MSCCC": msccc, "ordered": ordered} {
		classes := len(q.ArrivalRates)
		state := slices.Clone(c)
		for k := range state {
			state[k] %= classes
		}
		rates, err := oiqueue.PositionRates(t.Context(), q, state)
		if err != nil {
			t.Fatal(err)
		}
		p := Queue{Model: q, RatesKey: name}
		if q.Rank != nil {
			p.RatesKey = ""
		}
		plan, err := sim.NewPlan(t.Context(), p, sim.Settings{Horizon: 1})
		if err != nil {
			t.Fatal(err)
		}
		e := plan.Start(t.Context(), sim.NewStream([32]byte{})).(*visitQueue)
		y := sim.NewTotals(classes, 0)
		seen := make([]float64, len(c))
		mu, _ := oracle.Sum(rates).Float64()
		const n = 20000
		for range n {
			e.jobs, e.head = e.jobs[:0], 0
			clear(e.Present)
			e.Total = len(state)
			for k, i := range state {
				e.jobs = append(e.jobs, visitor{born: float64(k), class: i})
				e.Present[i]++
			}
			e.mu = mu
			if err := e.depart(draws.Float64()*mu, y); err != nil {
				t.Fatal(err)
			}
			gone := 0
			for gone < len(c)-1 && e.jobs[e.head+gone].born == float64(gone) {
				gone++
			}
			seen[gone]++
		}
		square, freedom := 0.0, -1.0
		for k, r := range rates {
			rate, _ := r.Float64()
			if rate == 0 {
				if seen[k] > 0 {
					t.Errorf("%s: position %d is served at rate 0, but was %v times", name, k, seen[k])
				}
				continue
			}
			want := n * rate / mu
			square += (seen[k] - want) * (seen[k] - want) / want
			freedom++
		}
		if freedom > 0 {
			if p := (distuv.ChiSquared{K: freedom}).Survival(square); p < 1e-6 {
				t.Errorf("%s: χ² = %v with %v degrees of freedom, p = %v", name, square, freedom, p)
			}
		}
	}
}

// The contract of package sim holds: short advances end within states, which continue in the next
// advance.
func TestQueueConforms(t *testing.T) {
	simtest.Conforms(t, Queue{Model: exampleQueue(402, 3)})
	simtest.Conforms(t, infinite("1/100"))
}

// The digits of version 1 are reproduced.
func TestQueueGolden(t *testing.T) {
	simtest.Golden(t, Queue{Model: exampleQueue(402, 3)}, 1.8870328605696427)
}

// A run allocates only when the queue is longer than ever before and, in a map, for new rates,
// which become ever rarer: 30 of them in 10,000 jumps are far below one per jump.
func TestQueueAllocatesLittle(t *testing.T) {
	mmc, err := oiqueue.MMc(simtest.Rationals("1", "1/2"), 2, big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	free := *mmc
	free.Saturation = nil
	for name, q := range map[string]*oiqueue.Queue{"": exampleQueue(403, 3), "MMc": mmc, "free": &free} {
		p, err := sim.NewPlan(t.Context(), Queue{Model: q, RatesKey: name}, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e := p.Start(t.Context(), sim.NewStream([32]byte{}))
		y := sim.NewTotals(len(q.ArrivalRates), 0)
		advance := func() {
			if err := e.Advance(1e4/p.JumpRate, y); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			advance()
		}
		if k := testing.AllocsPerRun(5, advance); k > 30 {
			t.Errorf("%q: %v allocations, want at most 30", name, k)
		}
	}
}

func TestUnstableQueues(t *testing.T) {
	mmc, err := oiqueue.MMc(simtest.Rationals("1", "1"), 2, big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	rank := &oiqueue.Queue{ArrivalRates: simtest.Rationals("1/2", "1/2"), Rank: simtest.Rationals("0", "1/2", "1", "2")}
	for name, q := range map[string]Queue{
		"[0 1]": {Model: mmc, RatesKey: "M/M/2"},
		"[0]":   {Model: rank},
	} {
		var u *cluster.UnstableError
		if _, err := sim.NewPlan(t.Context(), q, sim.Settings{}); !errors.As(err, &u) || fmt.Sprint(u.Classes) != name {
			t.Errorf("%s: %v", name, err)
		}
		if r := runQueue(t, q, sim.Settings{Runs: 5, Horizon: 1000}); r.All(sim.MeanJobs).Mean < 10 {
			t.Errorf("%s: %v", name, *r.All(sim.MeanJobs))
		}
	}
}

// An impossible rate function ends the run with an error that names the states.
func TestImpossibleRates(t *testing.T) {
	rates := simtest.Rationals("1", "1")
	falls := &oiqueue.Queue{
		ArrivalRates: rates,
		Saturation:   []int{1, 1},
		TotalRate:    func(x []int) *big.Rat { return big.NewRat(9, int64(sim.Sum(x))) },
	}
	if _, err := sim.NewPlan(t.Context(), Queue{Model: falls, RatesKey: "bad"}, sim.Settings{}); err == nil ||
		!strings.Contains(err.Error(), "Saturation") {
		t.Error(err)
	}
	for want, q := range map[error]*oiqueue.Queue{
		oiqueue.ErrNotPositive: {
			ArrivalRates: rates,
			TotalRate:    func(x []int) *big.Rat { return big.NewRat(int64(max(0, 3-x[0])/max(1, 3-x[0])), 1) },
		},
		oiqueue.ErrNotMonotone: {
			ArrivalRates: rates,
			OrderedRate:  func(c []int) *big.Rat { return big.NewRat(1, int64(len(c))) },
		},
	} {
		var r *oiqueue.RateError
		if _, err := sim.Run(
			t.Context(), Queue{Model: q, RatesKey: "bad"}, sim.Settings{Runs: 2, Jumps: 1000},
		); !errors.As(err, &r) ||
			!errors.Is(err, want) || len(r.State) < 2 {
			t.Errorf("%v: %v", want, err)
		}
	}
	tiny := &oiqueue.Queue{
		ArrivalRates: rates,
		TotalRate:    func(x []int) *big.Rat { return simtest.Rationals("1e-400")[0] },
	}
	var bad *num.InputError
	if _, err := sim.Run(t.Context(), Queue{Model: tiny, RatesKey: "bad"}, sim.Settings{}); !errors.As(err, &bad) {
		t.Error(err)
	}
}

// Functions that share a RatesKey are distinguished by their values; equal values give the same
// key.
func TestQueueKeys(t *testing.T) {
	key := func(rate func(x []int) *big.Rat) string {
		p, err := sim.NewPlan(t.Context(), Queue{
			RatesKey: "same",
			Model:    &oiqueue.Queue{ArrivalRates: simtest.Rationals("1/2", "1/4"), TotalRate: rate},
		}, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Key(0)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	servers := func(c int) func([]int) *big.Rat {
		return func(x []int) *big.Rat { return big.NewRat(int64(min(c, sim.Sum(x))), 1) }
	}
	seen := map[string]bool{
		key(servers(1)):  true,
		key(servers(2)):  true,
		key(servers(20)): true,
		key(servers(21)): true,
	}
	if len(seen) != 4 || !seen[key(servers(2))] {
		t.Errorf("%d keys of 4 functions", len(seen))
	}
}

// Functions without a name are never confused, even if they agree up to 25 jobs, and their samples
// are not stored.
func TestNoRatesKey(t *testing.T) {
	faster := func(above int) Queue {
		return Queue{Model: &oiqueue.Queue{ArrivalRates: simtest.Rationals("9/10"), TotalRate: func(x []int) *big.Rat {
			if x[0] > above {
				return big.NewRat(3, 1)
			}
			return big.NewRat(1, 1)
		}}}
	}
	var plans []*sim.Plan
	for _, above := range []int{25, 100} {
		p, err := sim.NewPlan(t.Context(), faster(above), sim.Settings{Runs: 2, Jumps: 5e4})
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	r, err := sim.RunAll(t.Context(), plans, sweep.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if r[0].All(sim.MeanJobs).Mean > 0.95*r[1].All(sim.MeanJobs).Mean {
		t.Errorf("mean jobs %v and %v", r[0].All(sim.MeanJobs).Mean, r[1].All(sim.MeanJobs).Mean)
	}
	tasks, err := sim.Tasks(t.Context(), plans)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for range 2 {
		reused := 0
		if _, err := sweep.Run(t.Context(), tasks, sweep.Settings{
			Folder:   folder,
			Progress: func(now sweep.Progress) { reused = now.Reused },
		}); err != nil || reused > 0 {
			t.Errorf("%d runs reused, %v", reused, err)
		}
	}
	var bad *num.InputError
	if _, err := sim.RunAll(t.Context(), plans, sweep.Settings{Folder: folder}); !errors.As(err, &bad) ||
		bad.Path != "RatesKey" {
		t.Errorf("folder for functions without a name: %v", err)
	}
	for _, precision := range []float64{0, 0.1} {
		p, err := sim.NewPlan(t.Context(), faster(25), sim.Settings{Runs: 2, Jumps: 5e4, Precision: precision})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Run(t.Context(), sweep.Settings{Folder: folder})
		if !errors.As(err, &bad) || bad.Path != "RatesKey" {
			t.Error(err)
		}
	}
}

func TestBadQueues(t *testing.T) {
	good := func() Queue {
		return Queue{
			Model: &oiqueue.Queue{
				ArrivalRates: simtest.Rationals("1/2", "1/4"),
				Rank:         simtest.Rationals("0", "1", "1", "3/2"),
			},
			Routing: &oiqueue.Routing{
				External: simtest.Rationals("1/4", "0"),
				Prob:     [][]*big.Rat{simtest.Rationals("0", "1/2"), simtest.Rationals("0", "0")},
			},
		}
	}
	if _, err := sim.NewPlan(t.Context(), good(), sim.Settings{}); err != nil {
		t.Fatal(err)
	}
	one := func(x []int) *big.Rat { return big.NewRat(1, 1) }
	for path, spoil := range map[string]func(*Queue){
		"Model = nothing":      func(q *Queue) { q.Model = nil },
		"ArrivalRates[1] = -1": func(q *Queue) { q.Model.ArrivalRates[1] = big.NewRat(-1, 1) },
		"Rank = 3 values":      func(q *Queue) { q.Model.Rank = q.Model.Rank[1:] },
		"Rank[3] = 1/2":        func(q *Queue) { q.Model.Rank[3] = big.NewRat(1, 2) },
		"Rank, TotalRate":      func(q *Queue) { q.Model.TotalRate = one },
		"Saturation[0]": func(q *Queue) {
			q.Model.Rank, q.Model.TotalRate, q.Model.Saturation = nil,
				one, []int{0, 1}
		},
		"RatesKey = a":               func(q *Queue) { q.RatesKey = "a" },
		"External = 1 entries":       func(q *Queue) { q.Routing.External = q.Routing.External[:1] },
		"External[0] = -1":           func(q *Queue) { q.Routing.External[0] = big.NewRat(-1, 1) },
		"Prob[0] = a row":            func(q *Queue) { q.Routing.Prob[0][0] = big.NewRat(2, 3) },
		"oiqueue: jobs of":           func(q *Queue) { q.Routing.Prob[1][1] = big.NewRat(1, 1) },
		"Routing.External = all 0":   func(q *Queue) { q.Routing.External = simtest.Rationals("0", "0") },
		"Routing.External[1] = 1000": func(q *Queue) { q.Routing.External[1] = simtest.Rationals("1e400")[0] },
	} {
		q := good()
		spoil(&q)
		if _, err := sim.NewPlan(t.Context(), q, sim.Settings{Horizon: 1}); err == nil ||
			!strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func BenchmarkQueue(b *testing.B) {
	for _, classes := range []int{2, 8} {
		var rates []*big.Rat
		rank := make([]*big.Rat, 1<<classes)
		for range classes {
			rates = append(rates, big.NewRat(int64(classes+1), int64(2*classes)))
		}
		for a := range rank { // one server for each class and one for all
			rank[a] = big.NewRat(int64(bits.OnesCount(uint(a))+min(a, 1)), 1)
		}
		b.Run(fmt.Sprintf("classes=%d/rates=rank", classes), func(b *testing.B) {
			simtest.Benchmark(b, Queue{Model: &oiqueue.Queue{ArrivalRates: rates, Rank: rank}})
		})
		msccc, err := oiqueue.MSCCC(rates, classes+1, big.NewRat(1, 1), slices.Repeat([]int{2}, classes))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("classes=%d/rates=MSCCC", classes), func(b *testing.B) {
			simtest.Benchmark(b, Queue{Model: msccc, RatesKey: "MSCCC"})
		})
	}
}
