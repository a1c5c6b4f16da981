package network

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/num"
)

// drawSplit returns n probabilities of sum 1, some of them 0 if zeros is set, in twelfths.
func drawSplit(t *rapid.T, n int, zeros bool) []*big.Rat {
	weights, sum := make([]int64, n), int64(0)
	for sum == 0 {
		for i := range weights {
			low := 1
			if zeros {
				low = 0
			}
			weights[i] = int64(rapid.IntRange(low, 4).Draw(t, "weight"))
			sum += weights[i]
		}
	}
	p := make([]*big.Rat, n)
	for i, w := range weights {
		p[i] = big.NewRat(w, sum)
	}
	return p
}

// drawChain draws a model of one chain of several classes, in which each visit leads to some
// others. Closed ones lead back to the first along a ring.
func drawChain(t *rapid.T, open bool) *Model {
	stations := rapid.IntRange(1, 3).Draw(t, "stations")
	classes := rapid.IntRange(1, 3).Draw(t, "classes")
	m := &Model{}
	for i := range stations {
		m.Stations = append(m.Stations, Station{Name: fmt.Sprint("s", i), Discipline: Sharing})
	}
	var all []Branch
	for c := range classes {
		class := Class{Name: fmt.Sprint("c", c)}
		for i := range stations {
			class.Visits = append(class.Visits, Visit{
				Station:  i,
				MeanSize: big.NewRat(int64(rapid.IntRange(1, 5).Draw(t, "size")), 7),
			})
			all = append(all, Branch{Class: c, Visit: i})
		}
		m.Classes = append(m.Classes, class)
	}
	ends := append([]Branch(nil), all...)
	if open {
		ends = append(ends, Branch{Class: Leaves})
		for c := range m.Classes {
			m.Classes[c].ArrivalRate = big.NewRat(int64(rapid.IntRange(0, 5).Draw(t, "rate")), 3)
			for v, p := range drawSplit(t, stations, false) {
				m.Classes[c].Arrives = append(m.Classes[c].Arrives, Branch{c, v, p})
			}
		}
	} else {
		m.Classes[0].Population = 1
	}
	for j, at := range all {
		split := drawSplit(t, len(ends), !open)
		visit := &m.Classes[at.Class].Visits[at.Visit]
		for e, b := range ends {
			b.Probability = split[e]
			if !open { // half of the jobs along a ring
				b.Probability = new(big.Rat).Mul(b.Probability, big.NewRat(1, 2))
				if e == (j+1)%len(ends) {
					b.Probability.Add(b.Probability, big.NewRat(1, 2))
				}
			}
			visit.Next = append(visit.Next, b)
		}
	}
	return m
}

// matrixOf returns arrivals a and routing P between the visits of a chain of all classes, in
// float64.
func matrixOf(m *Model) (a []float64, p [][]float64) {
	g := m.newVisitGraph(allClasses(m))
	a, p = make([]float64, len(g.visits)), make([][]float64, len(g.visits))
	for i, at := range g.visits {
		p[i] = make([]float64, len(g.visits))
		for _, b := range m.Classes[at.Class].Visits[at.Visit].Next {
			if f, _ := b.Probability.Float64(); b.Class != Leaves {
				p[i][g.first[b.Class]+b.Visit] += f
			}
		}
	}
	for c, class := range m.Classes {
		for _, b := range class.Arrives {
			f, _ := new(big.Rat).Mul(b.Probability, class.ArrivalRate).Float64()
			a[g.first[c]+b.Visit] += f
		}
	}
	return a, p
}

func allClasses(m *Model) []int {
	var list []int
	for c := range m.Classes {
		list = append(list, c)
	}
	return list
}

func times(a, b [][]float64) [][]float64 {
	c := make([][]float64, len(a))
	for i := range a {
		c[i] = make([]float64, len(a))
		for k, x := range a[i] {
			for j, y := range b[k] {
				c[i][j] += x * y
			}
		}
	}
	return c
}

// In random chains the visits balance in fractions, and match power iteration: of (P + I)/2 to the
// power 2^40 if closed, of a (I + P)(I + P²)(I + P⁴)... if open.
func TestTrafficEquations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		open := rapid.Bool().Draw(t, "open")
		m := drawChain(t, open)
		if !open {
			m.Classes[0].Reference = rapid.IntRange(0, len(m.Stations)-1).Draw(t, "reference")
		}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		ratios, err := m.ratios(context.Background(), allClasses(m), !open)
		if err != nil {
			t.Fatal(err)
		}
		checkFlowBalance(t, m, ratios)
		a, p := matrixOf(m)
		g := m.newVisitGraph(allClasses(m))
		want := a
		if open {
			for range 40 {
				next := append([]float64(nil), want...)
				for i, x := range want {
					for j, y := range p[i] {
						next[j] += x * y
					}
				}
				want, p = next, times(p, p)
			}
		} else {
			for i := range p {
				for j := range p {
					p[i][j] /= 2
				}
				p[i][i] += 0.5
			}
			for range 40 {
				p = times(p, p)
				for _, row := range p {
					sum := 0.0
					for _, x := range row {
						sum += x
					}
					for j := range row {
						row[j] /= sum
					}
				}
			}
			want = p[0]
			reference := want[m.Classes[0].Reference]
			for i := range want {
				want[i] /= reference
			}
		}
		for i, at := range g.visits {
			got, _ := ratios[at.Class][at.Visit].Float64()
			// about 40 products of 9 terms, and how often their errors return
			if math.Abs(got-want[i]) > 1e-9*(1+want[i]) {
				t.Fatalf("visit %v: %v, by power iteration %v", at, got, want[i])
			}
		}
	})
}

// checkFlowBalance checks v_b = a_b + Σ_a v_a P_ab term by term, and that the reference of a closed
// chain is 1.
func checkFlowBalance(t *rapid.T, m *Model, v map[int][]*big.Rat) {
	into := map[[2]int]*big.Rat{}
	add := func(c, i int, x *big.Rat) {
		if into[[2]int{c, i}] == nil {
			into[[2]int{c, i}] = new(big.Rat)
		}
		into[[2]int{c, i}].Add(into[[2]int{c, i}], x)
	}
	open := false
	for c, class := range m.Classes {
		open = open || class.ArrivalRate != nil
		for _, b := range class.Arrives {
			add(c, b.Visit, new(big.Rat).Mul(b.Probability, class.ArrivalRate))
		}
		for i, visit := range class.Visits {
			for _, b := range visit.Next {
				if b.Class != Leaves {
					add(b.Class, b.Visit, new(big.Rat).Mul(b.Probability, v[c][i]))
				}
			}
		}
	}
	for c := range m.Classes {
		for i := range m.Classes[c].Visits {
			if x := into[[2]int{c, i}]; x == nil || x.Cmp(v[c][i]) != 0 {
				t.Fatalf("into visit %d of class %d flow %v, out of it %v", i, c, x, v[c][i])
			}
		}
	}
	if !open && v[0][m.Classes[0].Reference].Cmp(big.NewRat(1, 1)) != 0 {
		t.Fatalf("reference %v, want 1", v[0][m.Classes[0].Reference])
	}
}

// A central server, by hand: from the cpu, jobs go to the disk with 0.6, to the terminals with 0.3,
// and come back as batch jobs with 0.1.
func TestTrafficByHand(t *testing.T) {
	r := func(s string) *big.Rat { return num.Rat(s) }
	m := &Model{
		Stations: []Station{
			{Name: "think", Discipline: Delay}, {Name: "cpu", Discipline: Sharing}, {Name: "disk", Discipline: FCFS},
		},
		Classes: []Class{
			{Name: "user", Population: 3, Visits: []Visit{
				{Station: 0, Next: []Branch{{0, 1, r("1")}}},
				{Station: 1, Next: []Branch{{0, 2, r("0.6")}, {0, 0, r("0.3")}, {1, 0, r("0.1")}}},
				{Station: 2, Next: []Branch{{0, 1, r("1")}}}}},
			{
				Name:   "batch",
				Visits: []Visit{{Station: 1, MeanSize: r("4"), Next: []Branch{{1, 0, r("0.5")}, {0, 0, r("0.5")}}}},
			},
		},
	}
	s, err := newSystem(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	// Per visit to think there are 1/0.4 = 5/2 to the cpu, 3/2 to the disk, and 1/4 · 2 = 1/2 of
	// batch jobs to the cpu.
	for i, want := range []string{"1", "9/2", "3/2"} { // the cpu has 5/2 of size 1 and 1/2 of size 4
		if got := s.Stations[i].Demand[0]; got.Cmp(r(want)) != 0 {
			t.Errorf("demand of %s: %v, want %s", m.Stations[i].Name, got, want)
		}
	}
	if len(s.Chains) != 1 || s.Chains[0].Population != 3 || len(s.Stations[1].Visits) != 2 {
		t.Errorf("%+v", s.Chains)
	}
}

// Visits given by their number match the routing with that number: per cycle up to a factor, per
// unit of time exactly.
func TestRoutedHasTheVisits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stations := rapid.IntRange(1, 4).Draw(t, "stations")
		m := &Model{}
		closed, open := Class{Name: "closed", Population: 2}, Class{
			Name:        "open",
			ArrivalRate: big.NewRat(int64(rapid.IntRange(0, 9).Draw(t, "rate")), 7),
		}
		sum := new(big.Rat)
		for i := range stations {
			m.Stations = append(m.Stations, Station{Name: fmt.Sprint("s", i), Discipline: Delay})
			a := big.NewRat(int64(rapid.IntRange(1, 9).Draw(t, "count")), 7)
			b := big.NewRat(int64(rapid.IntRange(1, 9).Draw(t, "count")), 4)
			closed.Visits = append(closed.Visits, Visit{Station: i, Count: a})
			open.Visits = append(open.Visits, Visit{Station: i, Count: b})
			sum.Add(sum, b)
		}
		if sum.Cmp(big.NewRat(1, 1)) < 0 {
			open.Visits[0].Count = big.NewRat(1, 1)
		}
		m.Classes = []Class{closed, open}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		long := routed(m)
		if err := long.Check(); err != nil {
			t.Fatal(err)
		}
		for c, closed := range []bool{true, false} {
			short, err := m.ratios(context.Background(), []int{c}, closed)
			if err != nil {
				t.Fatal(err)
			}
			routed, err := long.ratios(context.Background(), []int{c}, closed)
			if err != nil {
				t.Fatal(err)
			}
			for v, x := range routed[c] {
				if closed {
					x = new(big.Rat).Mul(x, short[c][0])
				}
				if x.Cmp(short[c][v]) != 0 {
					t.Fatalf("class %d, visit %d: %v, routed %v", c, v, short[c][v], x)
				}
			}
		}
	})
}

// A long tandem and a ring of many visits are solved immediately; a large chain in which every
// visit leads to every other is rejected.
func TestTrafficOfManyVisits(t *testing.T) {
	one := big.NewRat(1, 1)
	m := &Model{}
	const n = 3000
	for i := range n {
		m.Stations = append(m.Stations, Station{Name: fmt.Sprint(i), Discipline: Delay})
	}
	ring := Class{Name: "ring", Population: 1}
	for i := range n {
		ring.Visits = append(ring.Visits, Visit{Station: i, Next: []Branch{{0, (i + 1) % n, one}}})
	}
	m.Classes = []Class{ring}
	s, err := newSystem(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Stations {
		if s.Stations[i].Demand[0].Cmp(one) != 0 {
			t.Fatal(s.Stations[i].Demand)
		}
	}
	const wide = 200
	all := Class{Name: "all", Population: 1}
	for i := range wide {
		v := Visit{Station: i}
		for j := range wide {
			v.Next = append(v.Next, Branch{0, j, big.NewRat(1, wide)})
		}
		all.Visits = append(all.Visits, v)
	}
	m.Classes = []Class{all}
	var tooLarge *num.TooLargeError
	if _, err := newSystem(context.Background(), m); !errors.As(err, &tooLarge) {
		t.Fatalf("%v, want a *num.TooLargeError", err)
	}
}

func TestTrafficEnds(t *testing.T) {
	m := drawOf(t, func(t *rapid.T) *Model { return drawChain(t, true) })
	err := oracle.CheckEnds(func(ctx context.Context) error {
		_, err := m.ratios(ctx, allClasses(m), false)
		return err
	}, 1000, 3)
	if err != nil {
		t.Fatal(err)
	}
}

// drawOf returns one example from a drawing function.
func drawOf[T any](t *testing.T, draw func(t *rapid.T) T) T {
	t.Helper()
	return rapid.Custom(draw).Example(1)
}

// routed returns m with routing in place of the visits that are given by their number V_i. With S =
// Σ_i V_i, jobs of a closed class then go to visit i with probability V_i/S after every visit, and
// V_0 cycles of the new class, from one visit 0 to the next, make one of m. Jobs of an open class
// arrive at visit i with probability V_i/S, leave after a visit with probability 1/S, and otherwise
// go to visit i with probability (V_i/S) (1 - 1/S).
func routed(m *Model) *Model {
	r := *m
	r.Classes = append([]Class(nil), m.Classes...)
	for c := range r.Classes {
		class := &r.Classes[c]
		if class.Visits[0].Count == nil {
			continue
		}
		class.Visits = append([]Visit(nil), class.Visits...)
		sum := new(big.Rat)
		for _, v := range class.Visits {
			sum.Add(sum, v.Count)
		}
		var next []Branch
		leave := new(big.Rat)
		for v := range class.Visits {
			share := new(big.Rat).Quo(class.Visits[v].Count, sum)
			if class.ArrivalRate != nil {
				class.Arrives = append(class.Arrives, Branch{Class: c, Visit: v, Probability: share})
				leave.Inv(sum)
				share = new(big.Rat).Mul(share, new(big.Rat).Sub(big.NewRat(1, 1), leave))
			}
			next = append(next, Branch{Class: c, Visit: v, Probability: share})
		}
		if leave.Sign() > 0 {
			next = append(next, Branch{Class: Leaves, Probability: leave})
		}
		for v := range class.Visits {
			class.Visits[v].Count, class.Visits[v].Next = nil, next
		}
	}
	return &r
}
