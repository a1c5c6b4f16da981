package loss_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/network/loss"
	"productform/num"
	"productform/oiqueue"
)

// drawLink draws a system in which each job is served as soon as it arrives. At least half of the
// systems have limits that are not nested.
func drawLink(t *rapid.T) *loss.Model {
	m := &loss.Model{}
	least, more := 1, 3
	if rapid.Bool().Draw(t, "crossing") {
		least, more = 3, 0 // for tables, whose factors depend on the limits
		for k := range 2 {
			m.Limits = append(m.Limits, loss.Limit{
				Classes: []int{k, k + 1},
				Most:    rapid.IntRange(3, 7).Draw(t, "most"),
			})
		}
	}
	n := rapid.IntRange(least, 4).Draw(t, "classes")
	for k := range n {
		c := loss.Class{Name: fmt.Sprint("c", k), Units: rapid.IntRange(1, 3).Draw(t, "units")}
		c.ArrivalRate = rat(rapid.Int64Range(0, 9).Draw(t, "rate"), rapid.Int64Range(1, 5).Draw(t, "over"))
		c.MeanSize = rat(rapid.Int64Range(1, 5).Draw(t, "size"), 2)
		if rapid.Bool().Draw(t, "finite") {
			c.Sources = rapid.IntRange(1, 5).Draw(t, "sources")
		}
		m.Classes = append(m.Classes, c)
	}
	if rapid.Bool().Draw(t, "one room") {
		m.Room = rapid.IntRange(3, 9).Draw(t, "room")
	}
	for range rapid.IntRange(0, more).Draw(t, "limits") {
		l := loss.Limit{Most: rapid.IntRange(3, 7).Draw(t, "most")}
		for k := range n {
			if rapid.Bool().Draw(t, "in") {
				l.Classes = append(l.Classes, k)
			}
		}
		m.Limits = append(m.Limits, l)
		if m.Check() != nil {
			m.Limits = m.Limits[:len(m.Limits)-1]
		}
	}
	return m
}

// limited reports whether a limit or the room binds a class.
func limited(m *loss.Model, k int) bool {
	for _, l := range m.Limits {
		for _, j := range l.Classes {
			if j == k {
				return true
			}
		}
	}
	return m.Room > 0
}

// enumerate calls visit for all x that fit, with Π_k w_k^x_k/x_k! or C(N_k, x_k) w_k^x_k, over the
// classes that are limited or have sources.
func enumerate(m *loss.Model, visit func(x []int, weight *big.Rat)) {
	x := make([]int, len(m.Classes))
	state := func() (s string) {
		for k, n := range x {
			for range n {
				s += string(rune('a' + k))
			}
		}
		return s
	}
	var down func(k int, weight *big.Rat)
	down = func(k int, weight *big.Rat) {
		if k == len(x) {
			visit(x, weight)
			return
		}
		c := &m.Classes[k]
		for x[k] = 0; ; {
			down(k+1, weight)
			if c.Sources == 0 && !limited(m, k) || c.Sources > 0 && x[k] == c.Sources || !fits(m, state(), k) {
				break
			}
			x[k]++
			w := mul(c.ArrivalRate, num.OrOne(c.MeanSize))
			if c.Sources > 0 {
				w = mul(w, rat(int64(c.Sources-x[k]+1), 1))
			}
			weight = quo(mul(weight, w), rat(int64(x[k]), 1))
		}
		x[k] = 0
	}
	down(0, rat(1, 1))
}

// Both on the tree of nested limits and on tables for other limits, all measures are sums over the
// states that fit.
func TestLimitsAgainstEnumeration(t *testing.T) {
	methods := map[loss.Method]int{}
	rapid.Check(t, func(t *rapid.T) {
		m := drawLink(t)
		total := new(big.Rat)
		n := len(m.Classes)
		pass, all, jobs := make([]*big.Rat, n), make([]*big.Rat, n), make([]*big.Rat, n)
		for k := range n {
			pass[k], all[k], jobs[k] = new(big.Rat), new(big.Rat), new(big.Rat)
		}
		enumerate(m, func(x []int, weight *big.Rat) {
			total.Add(total, weight)
			state := ""
			for k, n := range x {
				for range n {
					state += string(rune('a' + k))
				}
			}
			for k := range n {
				jobs[k].Add(jobs[k], mul(weight, rat(int64(x[k]), 1)))
				seen := mul(weight, arrivals(m, state, k))
				all[k].Add(all[k], seen)
				if fits(m, state, k) {
					pass[k].Add(pass[k], seen)
				}
			}
		})
		r := solve(t, m, num.Exact)
		methods[r.Method]++
		if r.EmptyProbability != nil {
			equal(t, "empty", *r.EmptyProbability, new(big.Rat).Inv(total))
		}
		for k, c := range m.Classes {
			got := &r.Classes[k]
			if c.Sources == 0 && !limited(m, k) {
				equal(t, "jobs of M/M/∞", *got.MeanJobs, mul(c.ArrivalRate, num.OrOne(c.MeanSize)))
				equal(t, "blocking of M/M/∞", got.Blocking, new(big.Rat))
				continue
			}
			equal(t, "jobs", *got.MeanJobs, quo(jobs[k], total))
			if all[k].Sign() > 0 {
				equal(t, "throughput", got.Throughput, quo(pass[k], total))
				equal(t, "blocking", got.Blocking, new(big.Rat).Sub(rat(1, 1), quo(pass[k], all[k])))
			}
		}
		checkBounds(t, r, solve(t, m, num.Float))
		checkBounds(t, r, solve(t, m, num.Enclose))
	})
	if methods[loss.Tree] == 0 || methods[loss.Table] == 0 {
		t.Errorf("methods %v", methods)
	}
}

// A class without limits, alongside classes with limits, equals a class with a limit far above its
// number of jobs: in the compatibility graph and with waiting.
func TestFreeClasses(t *testing.T) {
	for _, m := range []*loss.Model{
		{
			Servers: []loss.Server{{Name: "s", Capacity: rat(1, 1)}, {Name: "t", Capacity: rat(2, 1)}},
			Classes: []loss.Class{
				{Name: "free", ArrivalRate: rat(2, 5), Servers: []int{0}},
				{Name: "also", ArrivalRate: rat(3, 5), Servers: []int{0, 1}},
				{Name: "bound", ArrivalRate: rat(5, 1), Servers: []int{1}},
			},
			Limits: []loss.Limit{{Classes: []int{2}, Most: 3}},
		},
		{
			Count: 3,
			Classes: []loss.Class{
				{Name: "free", ArrivalRate: rat(2, 5)},
				{Name: "also", ArrivalRate: rat(3, 5)},
				{Name: "bound", ArrivalRate: rat(5, 1), Units: 2},
				{Name: "source", ArrivalRate: rat(1, 1), Sources: 2},
			},
			Limits: []loss.Limit{{Classes: []int{2, 3}, Most: 3}},
		},
	} {
		exact := solve(t, m, num.Exact)
		checkBounds(t, exact, solve(t, m, num.Float))
		far := *m
		far.Limits = append(far.Limits[:1:1], loss.Limit{Classes: []int{0, 1}, Most: 400})
		r := solve(t, &far, num.Float)
		want := values(exact)
		for i, v := range values(r)[:len(want)-2] {
			if v == nil || i == 6 || i == 14 { // the free classes lose no jobs
				continue
			}
			if d := v.Float/want[i].Float - 1; d > 1e-12 || d < -1e-12 {
				t.Errorf("number %d: %v, without the far limit %v", i, v.Float, want[i].Float)
			}
		}
	}
}

// Without limits the compatibility graph is an order-independent queue.
func TestNoLimitsMatchesQueue(t *testing.T) {
	m := &loss.Model{
		Servers: []loss.Server{{Name: "s", Capacity: rat(1, 1)}, {Name: "t", Capacity: rat(2, 1)}},
		Classes: []loss.Class{
			{Name: "a", ArrivalRate: rat(2, 5), Servers: []int{0}},
			{Name: "b", ArrivalRate: rat(3, 5), Servers: []int{0, 1}},
			{Name: "c", ArrivalRate: rat(1, 1), Servers: []int{1}},
		},
	}
	q, err := oiqueue.FromGraph(
		ctx, []*big.Rat{rat(2, 5), rat(3, 5), rat(1, 1)}, []*big.Rat{rat(1, 1), rat(2, 1)}, [][]int{{0}, {0, 1}, {1}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want, err := oiqueue.Stationary(ctx, q, oiqueue.Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	r := solve(t, m, num.Exact)
	equal(t, "empty", *r.EmptyProbability, want.EmptyProbability.Exact)
	for k := range m.Classes {
		equal(t, "jobs", *r.Classes[k].MeanJobs, want.MeanJobs[k].Exact)
		equal(t, "blocking", r.Classes[k].Blocking, new(big.Rat))
	}
	m.Classes[0].ArrivalRate = rat(5, 1)
	m.Classes[2].ArrivalRate = rat(11, 5)
	_, err = loss.Solve(ctx, m, loss.Settings{})
	var unstable *loss.UnstableError
	if !errors.As(err, &unstable) || !errors.Is(err, num.ErrUnstable) || fmt.Sprint(unstable.Classes) != "[0]" ||
		unstable.Load.Cmp(rat(5, 1)) != 0 || unstable.Capacity.Cmp(rat(1, 1)) != 0 {
		t.Errorf("error %v", err)
	}
	_, err = loss.Solve(ctx, &loss.Model{
		Count:   2,
		Classes: []loss.Class{{Name: "a", ArrivalRate: rat(1, 1)}, {Name: "b", ArrivalRate: rat(1, 1)}},
	}, loss.Settings{})
	if !errors.As(err, &unstable) || unstable.Load.Cmp(rat(2, 1)) != 0 || len(unstable.Classes) != 2 {
		t.Errorf("error %v", err)
	}
}
