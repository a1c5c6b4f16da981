package oneserver

import (
	"fmt"
	"math/big"
	"reflect"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/oracle"
	"productform/num"
)

// drawModel draws a model with groups, draws of some servers, and unused classes and servers.
func drawModel(t *rapid.T) *cluster.Model {
	m := oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: 4, Count: 3, ZeroRates: true, Stable: true})
	m.Service = cluster.OneServer
	return m
}

// values lists the numbers of a result in a fixed order.
func values(r *Result) (list []*num.Value) {
	list = append(list, &r.MeanQueue, &r.MeanJobs, r.MeanWaiting, r.MeanDelay)
	for i := range r.Classes {
		c := &r.Classes[i]
		list = append(list, c.WaitProbability, c.MeanWaiting, c.MeanDelay, &c.MeanQueue)
		for k := range c.ServedBy {
			list = append(list, &c.ServedBy[k].Rate, &c.ServedBy[k].Share)
		}
	}
	for i := range r.Servers {
		list = append(list, &r.Servers[i].Utilization)
	}
	for _, law := range [][]num.Value{r.QueueDistribution, r.JobsDistribution} {
		for n := range law {
			list = append(list, &law[n])
		}
	}
	return list
}

// TestEnginesAgree compares float64 and enclosures with fractions.
func TestEnginesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		q := Question{MaxJobs: rapid.IntRange(0, 4).Draw(t, "jobs")}
		exact, err := Answer(t.Context(), m, q, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		for _, engine := range []num.Engine{num.Float, num.Enclose, num.Auto} {
			r, err := Answer(t.Context(), m, q, Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			if r.RelativeErrorBound > 1e-9 {
				t.Fatalf("%s: bound %g", engine, r.RelativeErrorBound)
			}
			oracle.HoldValues(t, r.Engine, r.RelativeErrorBound, values(r), values(exact))
		}
	})
}

// TestRatesBalance checks in fractions that all jobs begin, that servers are busy with the jobs
// that they begin, and that Little's law holds.
func TestRatesBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		r, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		size, err := m.OneMeanSize()
		if err != nil {
			t.Fatal(err)
		}
		busy := make(map[string]*big.Rat)
		jobs := new(big.Rat)
		for i, c := range r.Classes {
			if m.Classes[i].ArrivalRate.Sign() == 0 {
				if c.WaitProbability != nil || c.ServedBy != nil {
					t.Fatalf("class %d has no arrivals: %+v", i, c)
				}
				continue
			}
			rate, share := new(big.Rat), new(big.Rat)
			for _, s := range c.ServedBy {
				rate.Add(rate, s.Rate.Exact)
				share.Add(share, s.Share.Exact)
				if busy[s.Server] == nil {
					busy[s.Server] = new(big.Rat)
				}
				busy[s.Server].Add(busy[s.Server], s.Rate.Exact)
			}
			if rate.Cmp(c.ArrivalRate) != 0 || share.Cmp(big.NewRat(1, 1)) != 0 {
				t.Errorf("class %d begins at rate %v of %v", i, rate, c.ArrivalRate)
			}
			jobs.Add(jobs, new(big.Rat).Mul(c.ArrivalRate, c.MeanDelay.Exact))
		}
		if jobs.Cmp(r.MeanJobs.Exact) != 0 {
			t.Errorf("%v jobs by Little's law, %v present", jobs, r.MeanJobs.Exact)
		}
		for s, x := range r.Servers {
			want := new(big.Rat)
			if rate := busy[x.Name]; rate != nil {
				all := new(big.Rat).Mul(m.Servers[s].Capacity, big.NewRat(int64(m.Servers[s].Size()), 1))
				want.Mul(rate, size).Quo(want, all)
			}
			if want.Cmp(x.Utilization.Exact) != 0 {
				t.Errorf("server %s is busy with probability %v, begins jobs for %v", x.Name, x.Utilization.Exact, want)
			}
		}
	})
}

// separate returns a part in which every row of servers makes one group.
func separate(p *part) *part {
	q := new(part)
	of := make([][]int, len(p.groups)) // groups of q
	for g, x := range p.groups {
		for _, row := range x.rows {
			of[g] = append(of[g], len(q.groups))
			q.groups = append(q.groups, group{rows: []int{row}, n: 1, capacity: x.capacity})
		}
	}
	for _, c := range p.classes {
		x := class{row: c.row, rate: c.rate}
		for _, k := range c.choices {
			for _, g := range of[k.group] {
				x.choices = append(x.choices, choice{g, 1})
			}
		}
		q.classes = append(q.classes, x)
	}
	return q
}

// answerBySets answers a question about a model of single servers over all sets of servers.
func answerBySets(t *rapid.T, m *cluster.Model, q Question) *Result {
	size := oracle.Must(m.OneMeanSize())
	b := &builder{ctx: t.Context(), model: m, size: size, question: q,
		settings: Settings{MaxBytes: num.DefaultMaxBytes},
		one:      arithmetic.One(num.Float, 0), result: &Result{Engine: num.Float}}
	var spaces []*states
	servers := 0
	for _, p := range split(m, size) {
		p = separate(p)
		servers += len(p.groups)
		spaces = append(spaces, oracle.Must(newStates(t.Context(), p)))
	}
	if err := b.build(spaces); err != nil {
		t.Fatal(err)
	}
	if servers == len(m.Servers) && len(spaces) == 1 && b.result.States != 1<<servers {
		t.Fatalf("%d states for %d servers", b.result.States, servers)
	}
	return b.result
}

// TestGroupsAreServers solves a model again over all sets of servers, with a class for every draw.
func TestGroupsAreServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 3, Classes: 3, Count: 3, Stable: true})
		m.Service = cluster.OneServer
		all, rows, classes, err := m.Expand(1000)
		if err != nil {
			t.Fatal(err)
		}
		q := Question{Levels: oracle.Rats("0.5 0.99"), Times: oracle.Rats("0 0.7"), MaxJobs: 3}
		r, err := Answer(t.Context(), m, q, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e := answerBySets(t, all, q)
		near := func(what string, a, b num.Value) {
			if !oracle.Near(a.Float, b.Float, 1e-9) {
				t.Errorf("%s: %v by groups, %v by servers", what, a.Float, b.Float)
			}
		}
		for k, row := range rows {
			near("utilization of "+m.Servers[row].Name, r.Servers[row].Utilization, e.Servers[k].Utilization)
		}
		for k, row := range classes {
			a, b := r.Classes[row], e.Classes[k]
			near("wait probability", *a.WaitProbability, *b.WaitProbability)
			near("waiting", *a.MeanWaiting, *b.MeanWaiting)
			for n := range q.Levels {
				low, high := a.Waiting[n].Bounds()
				if from, to := b.Waiting[n].Bounds(); !(from <= high && low <= to) {
					t.Errorf("waiting level %d: %v..%v by groups, %v..%v by servers", n, low, high, from, to)
				}
			}
			for n := range q.Times {
				near(fmt.Sprint("waiting within ", n), a.Within[n].Waiting, b.Within[n].Waiting)
			}
			if len(classes) == len(m.Classes) {
				near("delay", *a.MeanDelay, *b.MeanDelay)
				near("delay within", a.Within[1].Delay, b.Within[1].Delay)
			}
		}
		for n := range r.QueueDistribution {
			near("queue", r.QueueDistribution[n], e.QueueDistribution[n])
			near("jobs", r.JobsDistribution[n], e.JobsDistribution[n])
		}
	})
}

// TestSharesOfDraws compares q(k) and λ(k) with fractions, even if there are too many draws to
// count.
func TestSharesOfDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: 4, Count: 4, Stable: true})
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 {
			m.Servers[0].Count = 60
			for i := range m.Classes {
				for k, c := range m.Classes[i].Servers {
					if c.Server == 0 {
						m.Classes[i].Servers[k].Choose = rapid.SampledFrom([]int{1, 2, 30, 58, 60}).Draw(t, "choose")
					}
				}
			}
		}
		for _, p := range split(m, oracle.Must(m.OneMeanSize())) {
			s := oracle.Must(newStates(t.Context(), p))
			for i := range p.classes {
				h, seen := &s.holds[i], 0
				for n, from := range h.rows {
					share := h.sharesOf(n)
					for l, at := range h.position {
						want, _ := s.fraction(i, s.Point(int(from+at))).Float64()
						got := 1.0
						if share != nil {
							got = share[l]
						}
						if got != want {
							t.Fatalf("class %d in state %d: share %v, want %v", i, from+at, got, want)
						}
						seen++
					}
				}
				for at := range s.States {
					if s.fraction(i, s.Point(at)) != nil {
						seen--
					}
				}
				if seen != 0 {
					t.Fatalf("class %d: %d states too many", i, seen)
				}
			}
			for at, held := range s.held64 {
				x := new(big.Rat).SetFrac(big.NewInt(held), s.unit)
				if want := s.heldRate(s.Point(at)); x.Cmp(want) != 0 {
					t.Fatalf("state %d: %v, want %v", at, x, want)
				}
			}
		}
	})
}

// TestCoresKeepDigits checks that one core and several give the same digits.
func TestCoresKeepDigits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	pools := skillGroups()
	pools.Classes[0].Servers[1].Choose = 10
	for _, m := range []*cluster.Model{singles(15), pools} {
		q := Question{Levels: oracle.Rats("0.9"), Times: oracle.Rats("0.1")}
		var want *Result
		for _, cores := range []int{1, 2, 3, 8} {
			runtime.GOMAXPROCS(cores)
			r, err := Answer(t.Context(), m, q, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = r
			}
			if !reflect.DeepEqual(r, want) {
				t.Errorf("%d states: %d cores give other digits than one", r.States, cores)
			}
		}
	}
}

// TestTimesHaveTheirMeans sums the tails of the waiting times and delays at the points of the
// Poisson process, 1/q apart on average.
func TestTimesHaveTheirMeans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: 3, Count: 3})
		m.Service = cluster.OneServer
		m = oracle.ScaleTo(m, big.NewRat(rapid.Int64Range(1, 9).Draw(t, "load"), 10))
		r, err := Solve(t.Context(), m, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range split(m, oracle.Must(m.OneMeanSize())) {
			x := oracle.Must(newTables(t.Context(), oracle.Must(newStates(t.Context(), p))))
			q := delays.Question{Tails: []*big.Rat{big.NewRat(1, 1<<40)}, Times: make([][]*big.Rat, len(p.classes))}
			l := oracle.Must(timesOf(t.Context(), x, x.measure()))
			if rapid.Bool().Draw(t, "wide") {
				n := oracle.Must(newNumbers(t.Context(), x.states, arithmetic.One(num.Float, 0)))
				w := oracle.Must(newSweep(t.Context(), n))
				l = oracle.Must(timesOfSweep(t.Context(), w, oracle.Must(w.measure(t.Context()))))
			}
			list := oracle.Must(l.distributions(t.Context(), q, num.DefaultMaxBytes))
			mean := func(s *delays.Survival) float64 {
				sum := 0.0
				for _, a := range s.A {
					sum += a
				}
				return sum / (l.rate * l.unit)
			}
			for i, c := range p.classes {
				c := r.Classes[c.row]
				if got := mean(&list[i].waiting); !oracle.Near(got, c.MeanWaiting.Float, 1e-8) {
					t.Errorf("class %s waits %v, want %v", c.Name, got, c.MeanWaiting.Float)
				}
				if got := mean(&list[i].delay); !oracle.Near(got, c.MeanDelay.Float, 1e-8) {
					t.Errorf("class %s takes %v, want %v", c.Name, got, c.MeanDelay.Float)
				}
				if got := list[i].waiting.A[0]; !oracle.Near(got, c.WaitProbability.Float, 1e-11) {
					t.Errorf("class %s waits with probability %v, want %v", c.Name, got, c.WaitProbability.Float)
				}
			}
		}
	})
}
