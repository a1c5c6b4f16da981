package oneserver

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/sizes"
	"productform/stability"
)

// solvePatience solves a model with a tolerance of 1e-10.
func solvePatience(t oracle.Tester, m *cluster.Model, times ...*big.Rat) *PatienceResult {
	t.Helper()
	r, err := SolvePatience(context.Background(), m, PatienceSettings{RelTol: 1e-10, Times: times})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// drawPatience draws a model whose classes have patience, of the given distributions.
func drawPatience(t *rapid.T, o oracle.Options, distributions ...string) *cluster.Model {
	m := oracle.DrawModel(t, o)
	m.Service, m.MeanSize = cluster.OneServer, nil
	m = oracle.ScaleTo(m, big.NewRat(rapid.Int64Range(1, 5).Draw(t, "load"), 3))
	for i := range m.Classes {
		m.Classes[i].MeanPatience = big.NewRat(rapid.Int64Range(1, 8).Draw(t, "patience"), 4)
		m.Classes[i].Patience = rapid.SampledFrom(distributions).Draw(t, "distribution")
	}
	return m
}

// TestPatienceMatchesLiteralChain compares with the chain of all orders of idle servers and waiting
// jobs. The chain loses jobs beyond a room; what that changes is at most a few times the
// probability of a full room.
func TestPatienceMatchesLiteralChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPatience(t, oracle.Options{Servers: 3, Classes: 2}, "")
		m = oracle.ScaleTo(m, big.NewRat(1, 3))
		m.Classes[0].MeanPatience = big.NewRat(1, 8)
		r := room{m, 8}
		all := ""
		for s := range m.Servers {
			if slices.ContainsFunc(m.Classes, func(c cluster.Class) bool {
				return slices.ContainsFunc(c.Servers, func(c cluster.Choice) bool { return c.Server == s })
			}) {
				all += string(rune('A' + s))
			}
		}
		states, p := r.solve(all + "|")
		x := solvePatience(t, m)
		wait, queue, busy := make([]float64, len(m.Classes)), make([]float64, len(m.Classes)),
			make([]float64, len(m.Servers))
		full := 0.0
		for j, state := range states {
			idle, waiting, _ := strings.Cut(state, "|")
			if len(waiting) == r.n {
				full += p[j]
			}
			for i := range m.Classes {
				queue[i] += p[j] * float64(strings.Count(waiting, string(rune('a'+i))))
				if !strings.ContainsFunc(idle, func(s rune) bool { return r.serves(byte('a'+i), byte(s)) }) {
					wait[i] += p[j]
				}
			}
			for s := range m.Servers {
				if strings.IndexByte(all, byte('A'+s)) >= 0 && strings.IndexByte(idle, byte('A'+s)) < 0 {
					busy[s] += p[j]
				}
			}
		}
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-9+100*full) {
				t.Errorf("%s: %v, want %v; the room is full with probability %.2g", what, got, want, full)
			}
		}
		for i, c := range x.Classes {
			rate := num.Nearest(m.Classes[i].ArrivalRate)
			near("wait probability", *c.WaitProbability, wait[i])
			near("mean queue", c.MeanQueue, queue[i])
			near("mean waiting", *c.MeanWaiting*rate, queue[i])
			near("abandon probability", *c.AbandonProbability*rate, queue[i]/num.Nearest(m.Classes[i].MeanPatience))
		}
		for s, c := range x.Servers {
			near("utilization", c.Utilization, busy[s])
		}
		if full > 1e-3 {
			t.Fatalf("the room is full with probability %g", full)
		}
	})
}

// A line simulates a cluster with patience, event by event: who is idle since when, who waits since
// when and until when.
type line struct {
	m       *cluster.Model
	byClass []sizes.Distribution
	random  *rand.Rand
	clock   float64
	arrival []float64 // next, by class
	busy    []float64 // end of service by server; 0 if idle
	since   []float64 // when a server became idle
	waiting []waiter  // in order of arrival
}

type waiter struct {
	class       int
	from, until float64
}

// run simulates arrivals, and calls done with the class of each job, its waiting time and its
// server, -1 if it gave up.
func (l *line) run(arrivals int, done func(class int, waiting float64, server int)) {
	serves := func(i, s int) bool {
		return slices.ContainsFunc(l.m.Classes[i].Servers, func(c cluster.Choice) bool { return c.Server == s })
	}
	service := func(s int) { l.busy[s] = l.clock + l.random.ExpFloat64()/num.Nearest(l.m.Servers[s].Capacity) }
	next := func(i int) {
		l.arrival[i] = l.clock + l.random.ExpFloat64()/num.Nearest(l.m.Classes[i].ArrivalRate)
	}
	if l.arrival == nil {
		l.arrival = make([]float64, len(l.m.Classes))
		for i := range l.arrival {
			next(i)
		}
		l.busy, l.since = make([]float64, len(l.m.Servers)), make([]float64, len(l.m.Servers))
	}
	for arrivals > 0 {
		at, kind, who := math.Inf(1), 0, 0
		earlier := func(x float64, k, w int) {
			if x < at {
				at, kind, who = x, k, w
			}
		}
		for i, x := range l.arrival {
			earlier(x, 0, i)
		}
		for s, x := range l.busy {
			if x > 0 {
				earlier(x, 1, s)
			}
		}
		for k, w := range l.waiting {
			earlier(w.until, 2, k)
		}
		l.clock = at
		switch kind {
		case 0:
			arrivals--
			best := -1
			for s := range l.busy {
				if l.busy[s] == 0 && serves(who, s) && (best < 0 || l.since[s] < l.since[best]) {
					best = s
				}
			}
			if best >= 0 {
				service(best)
				done(who, 0, best)
			} else {
				l.waiting = append(l.waiting, waiter{who, at, at + l.byClass[who].Sample(l.random)})
			}
			next(who)
		case 1:
			k := slices.IndexFunc(l.waiting, func(w waiter) bool { return serves(w.class, who) })
			if k < 0 {
				l.busy[who], l.since[who] = 0, at
				break
			}
			service(who)
			done(l.waiting[k].class, at-l.waiting[k].from, who)
			l.waiting = slices.Delete(l.waiting, k, k+1)
		default:
			done(l.waiting[who].class, at-l.waiting[who].from, -1)
			l.waiting = slices.Delete(l.waiting, who, who+1)
		}
	}
}

// TestPatienceMatchesSimulation simulates three servers, overloaded by jobs of several kinds of
// patience. Batches of 4000 arrivals have nearly independent means; with 90 comparisons of normal
// ones, one beyond 5 standard errors has a probability of 5e-5, and the seed is fixed.
func TestPatienceMatchesSimulation(t *testing.T) {
	t.Parallel()
	const text = `
service: one
servers: [{name: a, capacity: 1}, {name: b, capacity: 2}, {name: c, capacity: 0.5}]
classes:
- {name: x, arrival_rate: 1.5, servers: [a], mean_patience: 1, patience: %s}
- {name: y, arrival_rate: 1.5, servers: [a, b], mean_patience: 2, patience: %s}
- {name: z, arrival_rate: 1, servers: [b, c], mean_patience: 0.5, patience: %s}
`
	for n, list := range [][3]any{
		{"exponential", "deterministic", "exponential"}, {"'lognormal:2'", "'erlang:3'", "deterministic"},
		{"'pareto:2.5'", "'weibull:0.5'", "'hyperexponential:4'"},
	} {
		m := oracle.Must(cluster.ReadYAML(strings.NewReader(fmt.Sprintf(text, list[:]...))))
		horizon := big.NewRat(1, 3)
		r := solvePatience(t, m, horizon)
		l := &line{m: m, random: rand.New(rand.NewPCG(7, uint64(n)))}
		for i := range m.Classes {
			mean, law := m.PatienceOf(i)
			l.byClass = append(l.byClass, oracle.Must(sizes.Parse(law, num.Nearest(mean))))
		}
		l.run(4000, func(int, float64, int) {})
		const batches = 100
		var means [3][10][]float64
		for range batches {
			var sums [3][10]float64
			var count, served [3]float64
			l.run(4000, func(i int, waiting float64, server int) {
				count[i]++
				soon := 0.0
				if waiting <= 1./3 {
					soon = 1
				}
				sums[i][2] += waiting
				sums[i][5] += soon
				if waiting > 0 {
					sums[i][0]++
				}
				if server >= 0 {
					sums[i][7+server]++
					served[i]++
					sums[i][3] += waiting
					sums[i][6] += soon
				} else {
					sums[i][1]++
					sums[i][4] += waiting
				}
			})
			for i := range sums {
				for k, by := range [10]float64{count[i], count[i], count[i], served[i], sums[i][1],
					count[i], count[i], count[i], count[i], count[i]} {
					means[i][k] = append(means[i][k], sums[i][k]/by)
				}
			}
		}
		for i, c := range r.Classes {
			shares := make([]float64, len(m.Servers))
			for _, x := range c.ServedBy {
				shares[strings.Index("abc", x.Server)] = x.Share.Float
			}
			for k, want := range append([]float64{
				*c.WaitProbability, *c.AbandonProbability, *c.MeanWaiting, *c.MeanWaitingServed,
				*c.MeanWaitingAbandoned, c.Within[0].WaitWithin, c.Within[0].ServedWithin,
			}, shares...) {
				mean, squares := 0.0, 0.0
				for _, x := range means[i][k] {
					mean += x / batches
				}
				for _, x := range means[i][k] {
					squares += (x - mean) * (x - mean)
				}
				// 1e-12 for deterministic patience, whose jobs give up at the same time up to
				// roundings
				if z := (mean - want) / (math.Sqrt(squares/batches/(batches-1)) + 1e-12); !(math.Abs(z) < 5) {
					t.Errorf("%v: measure %d of %s = %v, simulated %v: z = %.1f", list, k, c.Name, want, mean, z)
				}
			}
		}
	}
}

// TestPatienceOfMixture splits a class with hyperexponential patience into classes with exponential
// patience: they have the same waiting times together.
func TestPatienceOfMixture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPatience(t, oracle.Options{Servers: 3, Classes: 3, Count: 3}, "exponential")
		m.Classes[0].Patience = "hyperexponential:4"
		times := oracle.Rats("1/3")
		mixed := solvePatience(t, m, times...).Classes[0]
		// balanced means, SCV 4: p = (1 ± √(3/5))/2, with mean 1/(2p) of each
		split := *m
		split.Classes = slices.Clone(m.Classes)
		c := m.Classes[0]
		c.Name, c.Patience = "slow", "exponential"
		p := new(big.Rat).SetFloat64((1 - math.Sqrt(3./5)) / 2)
		q := new(big.Rat).Sub(big.NewRat(1, 1), p)
		half := new(big.Rat).Quo(m.Classes[0].MeanPatience, big.NewRat(2, 1))
		c.ArrivalRate, c.MeanPatience = new(big.Rat).Mul(m.Classes[0].ArrivalRate, p), new(big.Rat).Quo(half, p)
		split.Classes = append(split.Classes, c)
		split.Classes[0].Patience = "exponential"
		split.Classes[0].ArrivalRate = new(big.Rat).Mul(m.Classes[0].ArrivalRate, q)
		split.Classes[0].MeanPatience = new(big.Rat).Quo(half, q)
		r := solvePatience(t, &split, times...)
		a, b := r.Classes[0], r.Classes[len(r.Classes)-1]
		pf, qf := num.Nearest(p), num.Nearest(q)
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-8*want) { // tolerances of both, and the tail of the tail
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		near("wait probability", *mixed.WaitProbability, *a.WaitProbability)
		near("abandon probability", *mixed.AbandonProbability, qf**a.AbandonProbability+pf**b.AbandonProbability)
		near("mean waiting", *mixed.MeanWaiting, qf**a.MeanWaiting+pf**b.MeanWaiting)
		near("waiting of jobs that give up", *mixed.AbandonProbability**mixed.MeanWaitingAbandoned,
			qf**a.AbandonProbability**a.MeanWaitingAbandoned+pf**b.AbandonProbability**b.MeanWaitingAbandoned)
		near("within", mixed.Within[0].WaitWithin, qf*a.Within[0].WaitWithin+pf*b.Within[0].WaitWithin)
		near("served within", mixed.Within[0].ServedWithin, qf*a.Within[0].ServedWithin+pf*b.Within[0].ServedWithin)
	})
}

// TestPatienceIdentities checks, on random models of all kinds of patience: the work of the servers
// is that of the served jobs, waiting is the mean of served and other jobs, and the model expanded
// to single servers and classes without draws gives the same.
func TestPatienceIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPatience(t, oracle.Options{Servers: 3, Classes: 3, Count: 2, ZeroRates: true},
			"exponential", "deterministic", "erlang:3", "lognormal:2", "pareto:2.5", "bounded-pareto:1.5:100",
			"weibull:2")
		times := oracle.Rats("0 2/3")
		r := solvePatience(t, m, times...)
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-8*want+1e-13) { // 1e-10 of the operands of differences and quotients
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		served, work, queue, jobs := 0.0, 0.0, 0.0, 0.0
		own := make([]float64, len(m.Servers)) // jobs of each row per unit of time
		for _, c := range r.Classes {
			rate := num.Nearest(c.ArrivalRate)
			if rate == 0 {
				if c.WaitProbability != nil || c.MeanQueue != 0 {
					t.Errorf("class without arrivals: %+v", c)
				}
				continue
			}
			lost := *c.AbandonProbability
			served += rate * (1 - lost)
			shares, duration := 0.0, 0.0
			for _, x := range c.ServedBy {
				s := slices.IndexFunc(m.Servers, func(s cluster.Server) bool { return s.Name == x.Server })
				shares += x.Share.Float
				duration += x.Share.Float / num.Nearest(m.Servers[s].Capacity)
				own[s] += x.Rate.Float
			}
			near("shares", shares, 1-lost)
			near("delay", *c.MeanDelay, *c.MeanWaiting+duration)
			jobs += rate * *c.MeanDelay
			queue += c.MeanQueue
			near("waiting", *c.MeanWaiting, (1-lost)**c.MeanWaitingServed+lost**c.MeanWaitingAbandoned)
			near("no wait", c.Within[0].WaitWithin, 1-*c.WaitProbability)
			near("served at once", c.Within[0].ServedWithin, 1-*c.WaitProbability)
			if w := c.Within[1]; w.ServedWithin > w.WaitWithin || w.WithinIfServed > 1 ||
				w.ServedWithin < c.Within[0].ServedWithin {
				t.Errorf("within %+v", w)
			}
		}
		busy := 0.0
		for s, x := range r.Servers {
			n := float64(m.Servers[s].Size())
			work += n * num.Nearest(m.Servers[s].Capacity) * x.Utilization
			busy += n * x.Utilization
			near("jobs of "+x.Name, own[s], n*num.Nearest(m.Servers[s].Capacity)*x.Utilization)
		}
		near("Little's law", r.MeanJobs, jobs)
		near("work", work, served)
		near("queue", r.MeanQueue, queue)
		near("jobs", r.MeanJobs, queue+busy)
		expanded, _, rows, err := m.Expand(1000)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range solvePatience(t, expanded, times...).Classes {
			if of := r.Classes[rows[i]]; c.WaitProbability != nil && of.WaitProbability != nil &&
				count(rows, rows[i]) == 1 {
				near("wait probability of "+c.Name, *c.WaitProbability, *of.WaitProbability)
				near("mean waiting of "+c.Name, *c.MeanWaiting, *of.MeanWaiting)
				near("abandon probability of "+c.Name, *c.AbandonProbability, *of.AbandonProbability)
				near("mean delay of "+c.Name, *c.MeanDelay, *of.MeanDelay)
			}
		}
	})
}

func count(list []int, x int) (n int) {
	for _, y := range list {
		if x == y {
			n++
		}
	}
	return n
}

// TestPatienceWithoutEnd compares jobs that never give up with [Solve], together with classes so
// impatient that they hardly wait, and with classes of long patience.
func TestPatienceWithoutEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		want, err := Answer(t.Context(), m, Question{Times: oracle.Rats("1/2")}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, mean := range []*big.Rat{nil, big.NewRat(1e12, 1)} {
			m.MeanPatience = mean
			r := solvePatience(t, m, oracle.Rats("1/2")...)
			for i, c := range r.Classes {
				if c.WaitProbability == nil {
					continue
				}
				x := want.Classes[i]
				// patience 1e-12 changes the numbers by about 1e-12/(1 - load)², where 1 - load >=
				// 1e-2
				for _, pair := range [][2]float64{{*c.WaitProbability, x.WaitProbability.Float},
					{*c.MeanWaiting, x.MeanWaiting.Float}, {*c.MeanWaitingServed, x.MeanWaiting.Float},
					{c.Within[0].WaitWithin, x.Within[0].Waiting.Float}} {
					if !(math.Abs(pair[0]-pair[1]) <= 1e-7*pair[1]) {
						t.Errorf("mean patience %v: %v, want %v", mean, pair[0], pair[1])
					}
				}
				for k, s := range x.ServedBy {
					got := c.ServedBy[k]
					if got.Server != s.Server ||
						!(math.Abs(got.Share.Float-s.Share.Float) <= 1e-7*s.Share.Float+1e-13) {
						t.Errorf("mean patience %v: served by %v, want %v", mean, got, s)
					}
				}
			}
		}
	})
}

// TestBadPatience checks that errors name the field, the value and the valid range.
func TestBadPatience(t *testing.T) {
	good := func() *cluster.Model {
		m := model("1 1", "1/4 1/4", "a", "ab")
		m.Service, m.MeanPatience = cluster.OneServer, big.NewRat(2, 1)
		return m
	}
	for _, c := range []struct {
		change func(m *cluster.Model, s *PatienceSettings)
		want   string
	}{
		{func(m *cluster.Model, _ *PatienceSettings) { m.Patience = "normal" }, `patience = "normal": want`},
		{func(m *cluster.Model, _ *PatienceSettings) {
			m.Classes[1].MeanPatience, m.Classes[1].Patience = big.NewRat(1, 1), "lognormal"
		}, `classes[1].patience = "lognormal": want`},
		{
			func(m *cluster.Model, _ *PatienceSettings) { m.MeanPatience = big.NewRat(-1, 2) },
			"mean_patience = -1/2: want a number >= 0",
		},
		{func(m *cluster.Model, _ *PatienceSettings) {
			m.MeanPatience, m.Patience = new(big.Rat), "lognormal"
		}, `patience = "lognormal": want`},
		{
			func(_ *cluster.Model, s *PatienceSettings) { s.Levels = oracle.Rats("1/2 1") },
			"Levels[1] = 1: want a number > 0 and < 1",
		},
		{
			func(_ *cluster.Model, s *PatienceSettings) { s.Levels = oracle.Rats("0.9999999999999") },
			"Levels[0] = 9999999999999/10000000000000: want a number > 0 and < 1, at most 1 - 1e-12",
		},
		{func(m *cluster.Model, _ *PatienceSettings) { m.MeanPatience, _ = new(big.Rat).SetString("1e200") },
			"mean_patience = 1000"},
		{func(_ *cluster.Model, s *PatienceSettings) { s.RelTol = 2 }, "RelTol = 2: want"},
		{func(_ *cluster.Model, s *PatienceSettings) { s.RelTol = 1e-15 }, "RelTol = 1e-15: want"},
		{
			func(_ *cluster.Model, s *PatienceSettings) { s.Times = []*big.Rat{big.NewRat(-1, 1)} },
			"Times[0] = -1: want",
		},
		{func(m *cluster.Model, _ *PatienceSettings) {
			m.Service, m.MeanPatience = "", nil
		}, `service = "all": want one`},
		{func(m *cluster.Model, _ *PatienceSettings) {
			m.MeanPatience, m.Classes[1].MeanPatience = nil, big.NewRat(1, 1)
			m.Classes[0].ArrivalRate = big.NewRat(1, 1)
		}, "unstable: "},
	} {
		m, s := good(), PatienceSettings{}
		c.change(m, &s)
		if r, err := SolvePatience(t.Context(), m, s); err == nil || !strings.HasPrefix(err.Error(), c.want) ||
			r != nil {
			t.Errorf("%v, error %v, want %s", r, err, c.want)
		}
	}
}

// TestPatienceCancel cancels the context at many points.
func TestPatienceCancel(t *testing.T) {
	m := &cluster.Model{Service: cluster.OneServer, MeanPatience: big.NewRat(1, 1)}
	for s := range 3 {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Count: 20, Capacity: big.NewRat(1, 1)})
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", s), ArrivalRate: big.NewRat(18, 1),
			Servers: []cluster.Choice{{Server: s, Choose: 20}}})
		if s > 0 {
			m.Classes[s].Servers = append(m.Classes[s].Servers, cluster.Choice{Server: 0, Choose: 20})
		}
	}
	if err := oracle.CheckEnds(func(ctx context.Context) error {
		_, err := SolvePatience(ctx, m, PatienceSettings{})
		return err
	}, 60, 64); err != nil {
		t.Error(err)
	}
}

// TestPatienceRejected checks that solvers of endless patience reject models in which jobs give up.
func TestPatienceRejected(t *testing.T) {
	m := model("1 1", "1/4 1/4", "a", "ab")
	m.Service, m.Classes[1].MeanPatience = cluster.OneServer, big.NewRat(2, 1)
	_, solved := Solve(t.Context(), m, Settings{})
	_, stable := stability.Cluster(t.Context(), m)
	for _, err := range []error{solved, stable} {
		if err == nil || !strings.HasPrefix(err.Error(), "classes[1].mean_patience = 2: want none: ") {
			t.Error(err)
		}
	}
}
