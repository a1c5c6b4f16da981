package swap

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"productform/cluster"
	"productform/network/swap"
	"productform/sim"
	"productform/sim/internal/simtest"
)

// drawModel draws an open queue, which may be unstable, or a closed one.
func drawModel(t *rapid.T) *swap.Model {
	m := new(swap.Model)
	number := func(most, over int) *big.Rat {
		return big.NewRat(int64(rapid.IntRange(1, most).Draw(t, "number")), int64(over))
	}
	for s := range rapid.IntRange(1, 3).Draw(t, "servers") {
		m.Servers = append(m.Servers, swap.Server{Name: fmt.Sprint("s", s), Capacity: number(4, 2)})
	}
	m.MeanSize = number(3, 2)
	closed := rapid.Bool().Draw(t, "closed")
	for i := range rapid.IntRange(1, 4).Draw(t, "classes") {
		c := swap.Class{Name: fmt.Sprint("c", i)}
		c.Servers = rapid.Permutation(indices(len(m.Servers))).Draw(t, "of")[:rapid.IntRange(1, len(m.Servers)).Draw(
			t, "some",
		)]
		if closed {
			c.Population = rapid.IntRange(1, 2).Draw(t, "population")
		} else {
			c.ArrivalRate = number(3, 16)
		}
		for j := range i + 1 {
			if rapid.Bool().Draw(t, "joined") {
				m.Swaps = append(m.Swaps, [2]int{j, i})
			}
		}
		m.Classes = append(m.Classes, c)
	}
	return m
}

func indices(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// A literalQueue holds the jobs in order of arrival, with their remaining work.
type literalQueue struct {
	*system
	jobs []literalJob
}

type literalJob struct {
	came, left float64
	class      int
}

// run simulates the queue from the same stream as the engine, and returns the completions and
// departures by class.
func (l *literalQueue) run(t float64, draws *rand.Rand, y *sim.Totals) (ended, gone []float64) {
	ended, gone = make([]float64, len(l.classes)), make([]float64, len(l.classes))
	now, arrival := 0.0, math.Inf(1)
	if l.rate > 0 {
		arrival = draws.ExpFloat64() / l.rate
	}
	join := func(class int, came float64) {
		l.jobs = append(l.jobs, literalJob{came, l.sizes.Sample(draws), class})
	}
	for _, class := range l.start {
		join(class, math.Inf(1))
	}
	for {
		rates := make([]float64, len(l.jobs))
		for s, capacity := range l.capacity {
			if first := slices.IndexFunc(
				l.jobs, func(j literalJob) bool { return slices.Contains(l.model.Classes[j.class].Servers, s) },
			); first >= 0 {
				rates[first] += capacity
			}
		}
		done, next := -1, arrival
		for k, j := range l.jobs {
			if at := now + j.left/rates[k]; rates[k] > 0 && at < next {
				done, next = k, at
			}
		}
		passed := min(next, t) - now
		y.Add(len(l.jobs), passed)
		for s := range l.capacity {
			if slices.ContainsFunc(
				l.jobs, func(j literalJob) bool { return slices.Contains(l.model.Classes[j.class].Servers, s) },
			) {
				y.Busy[s] += passed
			}
		}
		for k := range l.jobs {
			l.jobs[k].left -= passed * rates[k]
			y.Jobs[l.jobs[k].class] += passed
		}
		if next > t {
			y.Time += t
			if l.start != nil {
				y.Number = float64(len(l.start)) * y.Time
			}
			return ended, gone
		}
		now = next
		y.Jumps++
		if done < 0 {
			arrival = now + draws.ExpFloat64()/l.rate
			join(int(l.arrivals.Pick(draws.Uint64())), now)
			continue
		}
		ended[l.jobs[done].class]++
		moving := l.jobs[done]
		l.jobs = slices.Delete(l.jobs, done, done+1)
		for at := done; at < len(l.jobs); at++ {
			a, b := moving.class, l.jobs[at].class
			if slices.Contains(l.model.Swaps, [2]int{a, b}) || slices.Contains(l.model.Swaps, [2]int{b, a}) {
				moving, l.jobs[at] = l.jobs[at], moving
				l.jobs[at].left = l.sizes.Sample(draws)
			}
		}
		gone[moving.class]++
		if moving.came <= now {
			y.Leave(moving.class, now-moving.came)
		}
		if l.start != nil {
			join(moving.class, now)
		}
	}
}

// The engine takes the same path as the literal rules.
func TestEngineMatchesLiteral(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := drawModel(rt)
		mean, _ := m.MeanSize.Float64()
		s, err := Queue{
			Model: m,
			Sizes: simtest.Sizes(t, rapid.SampledFrom([]string{"exponential", "lognormal:4"}).Draw(rt, "shape"), mean),
		}.prepare()
		if err != nil {
			rt.Fatal(err)
		}
		key := [32]byte{byte(rapid.IntRange(0, 255).Draw(rt, "seed"))}
		first := newMotion(t.Context(), s, sim.NewStream(key))
		got, want := s.describe().NewTotals(), s.describe().NewTotals()
		for range 150 {
			if err := first.step(s.describe().NewTotals()); err != nil {
				rt.Fatal(err)
			}
		}
		length := (first.now + first.next()) / 2 // between events
		e := newMotion(t.Context(), s, sim.NewStream(key))
		for range 3 {
			if err := e.Advance(length/3, got); err != nil {
				rt.Fatal(err)
			}
		}
		ended, gone := (&literalQueue{system: s}).run(length, rand.New(sim.NewStream(key)), want)
		simtest.CompareTotals(rt, got, want)
		if !slices.Equal(ended, e.ended) || !slices.Equal(gone, e.gone) {
			rt.Errorf("%v done and %v left, want %v and %v", e.ended, e.gone, ended, gone)
		}
	})
}

// Random queues, open and closed, agree with theory. One measure is taken from each run: their z
// values look normal.
func TestQueuesAsTheory(t *testing.T) {
	var square, count float64
	for seed := range 60 {
		m := rapid.Custom(drawModel).Example(seed)
		exact, err := swap.Solve(t.Context(), m, swap.Settings{})
		var u *cluster.UnstableError
		if errors.As(err, &u) {
			if _, err := sim.NewPlan(t.Context(), Queue{Model: m}, sim.Settings{}); !errors.As(err, &u) {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r := simtest.Run(t, Queue{Model: m}, sim.Settings{Runs: 20, Jumps: 3e3, WarmUp: 1e3, Seed: uint64(seed)})
		type pair struct {
			what     string
			estimate *sim.Estimate
			exact    float64
		}
		pairs := []pair{{"jobs", r.All(sim.MeanJobs), exact.MeanJobs.Float}}
		for i, c := range exact.Classes {
			pairs = append(pairs,
				pair{fmt.Sprint("throughput of ", i), r.Class(i, sim.Throughput), c.Throughput.Float},
				pair{fmt.Sprint("completions of ", i), r.Class(i, Completions), c.Completions.Float},
				pair{fmt.Sprint("jobs of ", i), r.Class(i, sim.MeanJobs), c.MeanJobs.Float})
			if c.MeanDelay != nil {
				pairs = append(pairs, pair{fmt.Sprint("measured delay of ", i), r.Class(i, sim.MeasuredDelay),
					c.MeanDelay.Float})
				if !m.IsClosed() {
					pairs = append(pairs, pair{fmt.Sprint("delay of ", i), r.Class(i, sim.MeanDelay),
						c.MeanDelay.Float})
				}
			}
		}
		for s, server := range exact.Servers {
			pairs = append(pairs, pair{
				fmt.Sprint("server ", s), r.Server(s, sim.Utilization), server.Utilization.Float,
			})
		}
		if exact.EmptyProbability != nil {
			pairs = append(pairs, pair{"empty", r.All(EmptyProbability), exact.EmptyProbability.Float})
		}
		for k, p := range pairs {
			// constant
			if p.estimate != nil && p.estimate.StdError <= 1e-9*p.exact &&
				math.Abs(p.estimate.Mean-p.exact) <= 1e-9*p.exact {
				continue
			}
			simtest.Near(t, fmt.Sprintf("seed %d: %s", seed, p.what), p.estimate, p.exact)
			if p.estimate != nil && k == seed%len(pairs) {
				z := p.estimate.Z(p.exact)
				square += z * z
				count++
			}
		}
	}
	if p := (distuv.ChiSquared{K: count}).Survival(square); count < 20 || p < 1e-6 || p > 1-1e-6 {
		t.Errorf("Σ z² = %v of %v values", square, count)
	}
	t.Logf("%v values, Σ z² = %.1f", count, square)
}

// twoClasses returns a queue of two classes that share one server and have one each; joined means
// that they can swap.
func twoClasses(joined bool) *swap.Model {
	one := big.NewRat(1, 1)
	m := &swap.Model{
		Servers: []swap.Server{{Name: "a", Capacity: one}, {Name: "both", Capacity: one}, {Name: "b", Capacity: one}},
		Classes: []swap.Class{
			{Name: "a", ArrivalRate: big.NewRat(3, 2), Servers: []int{0, 1}},
			{Name: "b", ArrivalRate: big.NewRat(3, 4), Servers: []int{1, 2}},
		},
	}
	if joined {
		m.Swaps = [][2]int{{0, 1}}
	}
	return m
}

func TestConforms(t *testing.T) {
	simtest.Conforms(t, Queue{Model: twoClasses(true)})
	simtest.Conforms(t, Queue{Model: closedQueue()})
	simtest.Golden(t, Queue{Model: twoClasses(true)}, 6.9402299210672851)
}

// closedQueue returns a queue of two classes of three jobs each; at the start all jobs of one class
// are in front.
func closedQueue() *swap.Model {
	m := twoClasses(true)
	for i := range m.Classes {
		m.Classes[i].ArrivalRate, m.Classes[i].Population = nil, 3
	}
	return m
}

func TestAllocatesNothing(t *testing.T) {
	for _, m := range []*swap.Model{twoClasses(true), closedQueue()} {
		simtest.AllocatesNothing(t, Queue{Model: m}, 1e5, 1)
	}
}

func TestEndsWithContext(t *testing.T) {
	m := closedQueue()
	m.Classes[0].Population = 1000
	simtest.EndsWithContext(t, Queue{Model: m}, 1e4, 100, 5)
}

func TestBadQueues(t *testing.T) {
	for path, spoil := range map[string]func(*Queue){
		"Model = nothing": func(q *Queue) { q.Model = nil },
		"servers = []":    func(q *Queue) { q.Model.Servers = nil },
		"Sizes":           func(q *Queue) { q.Sizes = simtest.Sizes(t, "exponential", 2) },
		"classes = arrival rates": func(q *Queue) {
			q.Model.Classes[0].ArrivalRate, q.Model.Classes[1].ArrivalRate = new(big.Rat), new(big.Rat)
		},
		"servers[0].capacity = 1": func(q *Queue) { q.Model.Servers[0].Capacity = simtest.Rationals("1e-400")[0] },
		"classes[0].arrival_rate = 1": func(q *Queue) {
			q.Model.Classes[0].ArrivalRate = simtest.Rationals("1e-400")[0]
		},
	} {
		q := Queue{Model: twoClasses(true)}
		spoil(&q)
		if _, err := sim.NewPlan(t.Context(), q, sim.Settings{Horizon: 1}); err == nil ||
			!strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Over a horizon, an unstable queue is simulated and grows.
func TestUnstable(t *testing.T) {
	m := twoClasses(true)
	m.Classes[0].ArrivalRate = big.NewRat(5, 2)
	r := simtest.Run(t, Queue{Model: m}, sim.Settings{Runs: 5, Horizon: 1000})
	if !(r.All(sim.MeanJobs).Mean > 50) || len(r.Warnings) == 0 {
		t.Errorf("%v jobs, warnings %q", r.All(sim.MeanJobs).Mean, r.Warnings)
	}
}

func BenchmarkQueue(b *testing.B) {
	b.Run("open/swap", func(b *testing.B) { simtest.Benchmark(b, Queue{Model: twoClasses(true)}) })
	b.Run("open/order", func(b *testing.B) { simtest.Benchmark(b, Queue{Model: twoClasses(false)}) })
	b.Run("closed/swap", func(b *testing.B) { simtest.Benchmark(b, Queue{Model: closedQueue()}) })
}
