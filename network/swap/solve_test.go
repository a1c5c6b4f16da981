package swap_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/network/swap"
	"productform/num"
	"productform/oiqueue"
)

// ring returns a queue of n classes, each with its own server and the next one. The first two
// classes swap, the next two, and so on. It is closed if classes have a population, and optionally
// has a separate server for each class.
func ring(n, population int, own bool) *swap.Model {
	m := &swap.Model{}
	for i := range n {
		m.Servers = append(m.Servers, swap.Server{Name: fmt.Sprint("s", i), Capacity: rat(int64(2+i%3), 2)})
		c := swap.Class{Name: fmt.Sprint("c", i), Population: population, Servers: []int{i, (i + 1) % n}}
		if population == 0 {
			c.ArrivalRate = rat(4, 5)
		}
		m.Classes = append(m.Classes, c)
		if i%2 == 1 {
			m.Swaps = append(m.Swaps, [2]int{i - 1, i})
		}
	}
	for i := range n {
		if own {
			m.Classes[i].Servers = append(m.Classes[i].Servers, len(m.Servers))
			m.Servers = append(m.Servers, swap.Server{Name: fmt.Sprint("own", i), Capacity: rat(1, 3)})
		}
	}
	return m
}

// The error names the overloaded set, and errors about models that are too large give numbers.
func TestRefusals(t *testing.T) {
	m := ring(4, 0, false)
	m.Classes[0].ArrivalRate, m.Classes[1].ArrivalRate, m.Classes[2].ArrivalRate = rat(2, 1), rat(7, 2), rat(1, 10)
	_, err := swap.Solve(ctx, m, swap.Settings{})
	var unstable *cluster.UnstableError
	if !errors.As(err, &unstable) || !errors.Is(err, num.ErrUnstable) || fmt.Sprint(unstable.Classes) != "[0 1]" ||
		unstable.ArrivalRate.Cmp(rat(11, 2)) != 0 || unstable.Capacity.Cmp(rat(9, 2)) != 0 {
		t.Errorf("error %v", err)
	}
	for what, ask := range map[string]func() error{
		"sets in fractions": func() error {
			_, err := swap.Solve(ctx, ring(17, 0, false), swap.Settings{Engine: num.Exact})
			return err
		},
		"sets": func() error {
			_, err := swap.Solve(ctx, ring(13, 0, false), swap.Settings{MaxBytes: 1 << 16})
			return err
		},
		"counts": func() error { _, err := swap.Solve(ctx, ring(9, 99, true), swap.Settings{}); return err },
		"orders": func() error {
			_, err := swap.Solve(ctx, ring(3, 3, false), swap.Settings{MaxBytes: 1 << 12})
			return err
		},
	} {
		var large *num.TooLargeError
		if err := ask(); !errors.As(err, &large) || large.States == 0 && large.Bytes == 0 {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// Computations that take from seconds to days return promptly after cancellation.
func TestContextEnds(t *testing.T) {
	solve := func(m *swap.Model, engine num.Engine) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := swap.Solve(ctx, m, swap.Settings{Engine: engine})
			return err
		}
	}
	for name, ask := range map[string]func(context.Context) error{
		"open":           solve(ring(10, 0, false), num.Float),
		"open, enclosed": solve(ring(8, 0, false), num.Enclose),
		"counts":         solve(ring(4, 6, true), num.Float),
		"orders":         solve(ring(3, 3, false), num.Float),
	} {
		if err := oracle.CheckEnds(ask, 40_000, 64); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A closed queue of one class has the rate of its busy servers; if the class is joined to itself,
// only one order can be reached.
func TestOneClass(t *testing.T) {
	for _, swaps := range [][][2]int{nil, {{0, 0}}} {
		leaving := int64(4)
		if swaps != nil {
			leaving = 1 // each job takes the place of the next, and the last one leaves
		}
		m := &swap.Model{
			Servers:  []swap.Server{{Name: "s", Capacity: rat(3, 2)}},
			Classes:  []swap.Class{{Name: "a", Population: 4, Servers: []int{0}}},
			Swaps:    swaps,
			MeanSize: rat(1, 2),
		}
		r := solve(t, m, num.Exact)
		equal(t, "throughput", r.Classes[0].Throughput, rat(3, 1))
		equal(t, "completions", r.Classes[0].Completions, rat(3, 1))
		equal(t, "normalization", *r.Normalization, rat(1, 81))
		equal(t, "delay", *r.Classes[0].MeanDelay, rat(leaving, 3))
		if want := map[bool]swap.Method{true: swap.Counts, false: swap.Orders}[swaps == nil]; r.Method != want {
			t.Errorf("method %s, want %s", r.Method, want)
		}
	}
}

// A server without capacity does not count as a class's own server: jobs of one server circulate in
// a single cycle of orders.
func TestServerWithoutCapacityIsIgnored(t *testing.T) {
	m := &swap.Model{
		Servers: []swap.Server{
			{Name: "s", Capacity: rat(1, 1)}, {Name: "a", Capacity: rat(0, 1)}, {Name: "b", Capacity: rat(0, 1)},
		},
		Classes: []swap.Class{
			{Name: "a", Population: 2, Servers: []int{0, 1}}, {Name: "b", Population: 2, Servers: []int{0, 2}},
		},
	}
	r := solve(t, m, num.Exact)
	if r.Method != swap.Orders || r.States != 4 { // aabb, abba, bbaa, baab
		t.Errorf("method %s, %d orders", r.Method, r.States)
	}
	equal(t, "throughput", r.Classes[0].Throughput, rat(1, 2))
}

// The recursion over numbers of jobs matches the sum over all orders of nine jobs that place the
// classes.
func TestCountsMatchSumsOverOrders(t *testing.T) {
	m := ring(3, 3, true)
	q := orderOfArrival(t, m)
	total := new(big.Rat)
	leave, end := []*big.Rat{new(big.Rat), new(big.Rat), new(big.Rat)}, []*big.Rat{
		new(big.Rat), new(big.Rat), new(big.Rat),
	}
	var visit func(c, left []int)
	visit = func(c, left []int) {
		if len(c) < 9 {
			for i := range left {
				if left[i] > 0 && (i != 1 || left[0] == 0) { // class 0 is placed before class 1
					left[i]--
					visit(append(c, i), left)
					left[i]++
				}
			}
			return
		}
		w, err := oiqueue.StateMeasure(ctx, q, c)
		if err != nil {
			t.Fatal(err)
		}
		total.Add(total, w)
		d, _ := swap.Departures(m, c)
		e, _ := swap.Completions(m, c)
		for i := range d {
			leave[i].Add(leave[i], mul(w, d[i]))
			end[i].Add(end[i], mul(w, e[i]))
		}
	}
	visit(nil, []int{3, 3, 3})
	r := solve(t, m, num.Exact)
	if r.Method != swap.Counts {
		t.Errorf("method %s, want %s", r.Method, swap.Counts)
	}
	equal(t, "normalization", *r.Normalization, total)
	for i := range leave {
		equal(t, "throughput", r.Classes[i].Throughput, quo(leave[i], total))
		equal(t, "completions", r.Classes[i].Completions, quo(end[i], total))
	}
	if leave[0].Sign() != 0 || r.Classes[0].MeanDelay != nil {
		t.Error("jobs of the class placed first leave")
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct {
		name string
		m    *swap.Model
	}{
		{"open/classes=12", ring(12, 0, false)}, {"counts/states=161051", ring(5, 10, true)},
		{"orders/jobs=12", ring(4, 3, false)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := swap.Solve(ctx, c.m, swap.Settings{Engine: num.Float}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
