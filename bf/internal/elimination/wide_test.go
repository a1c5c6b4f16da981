package elimination

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
)

// drawWide draws a problem of any width, and an order for it.
func drawWide(t *rapid.T, servers int) (*Problem, *Order) {
	p := drawGraph(t, servers, 3)
	for s := range p.Capacities {
		p.Capacities[s] = float64(rapid.IntRange(1, 3).Draw(t, "capacity"))
	}
	p = scaleToLoad(p, rapid.SampledFrom([]float64{0.2, 0.5, 0.7, 0.9}).Draw(t, "load"))
	o, err := NewOrder(p)
	if err != nil {
		t.Skip(err)
	}
	return p, o
}

// solvedWide solves a problem of any width with solveWide, and rejects the draw if that needs much
// work, or if rounding errors exceed the tolerance, as in one of thousands.
func solvedWide(t *rapid.T, p *Problem, o *Order, s Settings) *Result {
	s.MaxWork = 3e7
	r, err := solveWide(context.Background(), p, o, s)
	var tooLarge *num.TooLargeError
	var missed *ToleranceError
	if errors.As(err, &tooLarge) || errors.As(err, &missed) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if worst := r.Worst(1); !(worst <= s.Tolerance) {
		t.Fatalf("bound %v exceeds the tolerance %v", worst, s.Tolerance)
	}
	all := &component{}
	for s := range p.Capacities {
		all.servers = append(all.servers, s)
	}
	for i := range p.Classes {
		all.classes = append(all.classes, i)
	}
	whole := newResult(p, s)
	whole.addComponent(p, all, r, s)
	return whole
}

// Every measure of a problem of width at most 2 differs from the exact fraction by at most its
// bound.
func TestWideMatchesFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, o := drawWide(t, 5)
		ask := Settings{
			Tolerance: rapid.SampledFrom([]float64{1e-3, 1e-5}).Draw(t, "tolerance"),
			ByClass:   rapid.SampledFrom([]int{0, 1, 12}).Draw(t, "jobs"),
		}
		r := solvedWide(t, p, o, ask)
		e := literal(p)
		if err := e.check(r); err != nil {
			t.Fatal(err)
		}
		if err := checkJobs(p, r, ask.ByClass); err != nil {
			t.Fatal(err)
		}
	})
}

// Other orders of elimination give the same measures, within the bounds of both.
func TestWideOrdersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, o := drawWide(t, 5)
		other := &Order{Servers: rapid.Permutation(o.Servers).Draw(t, "order")}
		if slices.Max(widths(p, other)) > 2 {
			t.Skip("wide")
		}
		a, b := solvedWide(t, p, o, Settings{Tolerance: 1e-4}), solvedWide(t, p, other, Settings{Tolerance: 1e-3})
		for i, x := range a.Jobs {
			y := b.Jobs[i]
			if y.Bound += 1.01 * x.Bound; p.Classes[i].Rate > 0 {
				if err := checkNumber(y, rat(x.Double())); err != nil {
					t.Fatalf("class %d: %v", i, err)
				}
			}
		}
	})
}

// lattice returns a grid of servers of capacity 1000 at a given load, with a class for each pair of
// neighbours.
func lattice(rows, columns int, load float64) *Problem {
	p := grid(rows, columns)
	for s := range p.Capacities {
		p.Capacities[s] = 1000
	}
	for i := range p.Classes {
		p.Classes[i].Rate = math.Floor(load * 1000 * float64(rows*columns) / float64(len(p.Classes)))
	}
	return p
}

// Ladders and rings match exact fractions at tighter tolerances.
func TestLadders(t *testing.T) {
	ring := lattice(1, 5, 0.6)
	ring.Classes = append(ring.Classes, Class{500, []int{0, 4}})
	for _, p := range []*Problem{lattice(2, 3, 0.7), ring} {
		o, err := NewOrder(p)
		if err != nil || o.Width != 2 {
			t.Fatal(o, err)
		}
		r, err := Solve(context.Background(), p, o, Settings{Tolerance: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		want := literal(p)
		if err := want.check(r); err != nil {
			t.Fatal(err)
		}
	}
}

// The mesh extends far enough for the measures of the fastest server and for derivatives of rare
// classes.
func TestShortTimes(t *testing.T) {
	unequal := scaleToLoad(
		&Problem{[]float64{1, 300, 1}, []Class{{1, []int{0, 1}}, {1, []int{1, 2}}, {1, []int{0, 2}}}}, 0.5,
	)
	rare := &Problem{[]float64{1000, 1000, 1000}, []Class{{3, []int{0, 1}}, {24, []int{1, 2}}, {43, []int{0, 2}}}}
	for _, c := range []struct {
		p   *Problem
		ask Settings
	}{{unequal, Settings{Tolerance: 1e-3, MaxWork: 1e9}}, {rare, Settings{Tolerance: 1e-4, Of: []int{0}}}} {
		o, err := NewOrder(c.p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(context.Background(), c.p, o, c.ask)
		if err != nil {
			t.Fatal(err)
		}
		want := literal(c.p)
		if err := want.check(r); err != nil {
			t.Error(err)
		}
		if err := checkDerivatives(c.p, r, c.ask); err != nil {
			t.Error(err)
		}
	}
}

// Powers beyond the range of float64 are detected before any pass.
func TestOverflow(t *testing.T) {
	p := scaleToLoad(
		&Problem{[]float64{1, 300, 1}, []Class{{300, []int{0, 1}}, {1, []int{1, 2}}, {1, []int{0, 2}}}}, 0.5,
	)
	o, err := NewOrder(p)
	if err != nil {
		t.Fatal(err)
	}
	var missed *ToleranceError
	if _, err := Solve(context.Background(), p, o, Settings{Tolerance: 1e-3, MaxWork: 1e9}); !errors.As(err, &missed) ||
		!math.IsInf(missed.Bound, 1) {
		t.Errorf("error %v", err)
	}
}

// Progress tracks two bounds separately: with and without derivatives.
func TestProgress(t *testing.T) {
	var p progress
	for k, bound := range []float64{3e-3, 2e-3, math.Inf(1), 0.5, 0.1, 0.05, 0.02, 0.0198, 0.0197} {
		if p.hasStalled(bound, k > 1) {
			t.Errorf("stalled at bound %v", bound)
		}
	}
	if !p.hasStalled(0.0196, true) {
		t.Error("never stalled")
	}
}

func TestWideRejects(t *testing.T) {
	p := lattice(2, 10, 0.7)
	o, err := NewOrder(p)
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := Solve(ended, p, o, Settings{Tolerance: 1e-6}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	var large *num.TooLargeError
	for _, s := range []Settings{{Tolerance: 1e-6, MaxWork: 1e5}, {Tolerance: 1e-6, MaxBytes: 1e4}} {
		if _, err := Solve(context.Background(), p, o, s); !errors.As(err, &large) {
			t.Errorf("%+v: error %v", s, err)
		}
	}
	var missed *ToleranceError
	p = lattice(2, 2, 0.3)
	if o, err = NewOrder(p); err != nil {
		t.Fatal(err)
	}
	if _, err := Solve(context.Background(), p, o, Settings{Tolerance: 1e-13}); !errors.As(err, &missed) ||
		!(missed.Bound < 1e-7) {
		t.Errorf("error %v", err)
	}
}

// equalPanels divides [0, end] into equal panels.
func equalPanels(end float64, panels int) []float64 {
	breaks := make([]float64, panels+1)
	for k := range breaks {
		breaks[k] = end * float64(k) / float64(panels)
	}
	return breaks
}

// Answers have the same digits for any number of workers.
func TestWorkersAgree(t *testing.T) {
	p := lattice(3, 2, 0.7)
	o, err := NewOrder(p)
	if err != nil {
		t.Fatal(err)
	}
	var first *answer
	for _, workers := range []int{1, 3} {
		e := newPasses(p, o, newMesh(equalPanels(0.02, 4), 13), Settings{Tolerance: 1e-3})
		e.scratches = nil
		for range workers {
			e.scratches = append(e.scratches, newScratch(e.mesh, o.Width))
		}
		a, err := e.answer(context.Background(), math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = a
		}
		if !slices.Equal(a.least, first.least) || !slices.Equal(a.coarse, first.coarse) ||
			a.noise != first.noise || a.normalization != first.normalization {
			t.Errorf("digits differ between %d workers and one", workers)
		}
	}
}
