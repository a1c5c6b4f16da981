package elimination

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// uneven returns servers of a shape with random capacities, shared classes and some single-server
// classes. No set of servers exceeds the given load: each server divides load times its capacity
// equally among its classes, and the rate of a class is at most the sum of its fractions.
func uneven(r *rand.Rand, servers int, load float64, parent func(s int) int) *Problem {
	p := linked(servers, parent)
	classes := make([]float64, servers)
	for s := range servers {
		p.Capacities[s] = float64(1+r.IntN(1000)) * 1000
		if r.IntN(3) == 0 {
			p.Classes = append(p.Classes, Class{Servers: []int{s}})
		}
	}
	for _, k := range p.Classes {
		for _, s := range k.Servers {
			classes[s]++
		}
	}
	for i, k := range p.Classes {
		sum := 0.0
		for _, s := range k.Servers {
			sum += p.Capacities[s] / classes[s]
		}
		p.Classes[i].Rate = math.Floor(load * sum * (0.5 + r.Float64()/2))
	}
	return p
}

// fractionsOf returns the measures of an integer problem as fractions, by the lattice of connected
// sets.
func fractionsOf(t *testing.T, p *Problem) exact {
	t.Helper()
	q := &recursion.Problem{Whole: true, Scale: big.NewInt(1), Small: true}
	for _, c := range p.Capacities {
		q.Groups = append(q.Groups, recursion.Group{N: 1, Capacity: big.NewInt(int64(c))})
		q.Capacity64 = append(q.Capacity64, int64(c))
	}
	for _, k := range p.Classes {
		c := recursion.Class{Rate: big.NewInt(int64(k.Rate))}
		for _, s := range slices.Sorted(slices.Values(k.Servers)) {
			c.Choose = append(c.Choose, recursion.Choice{Group: s, Choose: 1})
		}
		q.Classes, q.Rate64 = append(q.Classes, c), append(q.Rate64, int64(k.Rate))
	}
	g, _, err := recursion.ConnectedGraph(context.Background(), q, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	m, err := recursion.Fractions(context.Background(), q, g, "connected", 1<<32)
	if err != nil {
		t.Fatal(err)
	}
	e := exact{z: m.Normalization.Exact}
	for _, x := range m.Jobs {
		e.jobs = append(e.jobs, x.Exact)
	}
	for _, x := range m.Busy {
		e.busy = append(e.busy, x.Exact)
	}
	return e
}

// Larger trees match the fractions from the lattice of connected sets.
func TestShapesMatchConnectedSets(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	for _, c := range []struct {
		name    string
		servers int
		parent  func(s int) int
	}{
		{"binary tree", 11, func(s int) int { return (s - 1) / 2 }},
		{"line", 15, func(s int) int { return s - 1 }},
		{"star", 9, func(int) int { return 0 }},
		{"caterpillar", 12, func(s int) int { return max(0, (s-1)/2*2-1) }},
		{"two trees", 12, func(s int) int { return s - 2 + s%2 }},
	} {
		for _, load := range []float64{0.3, 0.999} {
			p := uneven(r, c.servers, load, c.parent)
			want := fractionsOf(t, p)
			if err := want.check(solved(t, p, 1e-11)); err != nil {
				t.Errorf("%s, load %v: %v", c.name, load, err)
			}
		}
	}
	for _, p := range []*Problem{binaryTree(15), binaryTree(18), line(40), star(12)} {
		want := fractionsOf(t, p)
		if err := want.check(solved(t, p, 1e-11)); err != nil {
			t.Errorf("%d servers: %v", len(p.Capacities), err)
		}
	}
}

// overlap reports whether two numbers with bounds can be equal.
func overlap(a, b arithmetic.Number) bool {
	ratio := a.Over(b.Wide).Double()
	return a.F == 0 && b.F == 0 || math.Abs(ratio-1) <= 1.001*(a.Bound+b.Bound)
}

// The bounds overlap whichever server is eliminated last.
func TestOrdersAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 2))
	for range 10 {
		p := uneven(r, 40, []float64{0.5, 0.95, 0.9999}[r.IntN(3)], func(s int) int { return r.IntN(s) })
		first := solved(t, p, 1e-9)
		o := &Order{Servers: r.Perm(40), Width: 1}
		second, err := Solve(context.Background(), p, o, Settings{Tolerance: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		if !overlap(first.Normalization, second.Normalization) {
			t.Errorf("Z %+v and %+v", first.Normalization, second.Normalization)
		}
		for i := range first.Jobs {
			if !overlap(first.Jobs[i], second.Jobs[i]) {
				t.Errorf("jobs %+v and %+v", first.Jobs[i], second.Jobs[i])
			}
		}
		for s := range first.Busy {
			if !overlap(first.Busy[s], second.Busy[s]) {
				t.Errorf("busy %+v and %+v", first.Busy[s], second.Busy[s])
			}
		}
	}
}

// log Z is convex in each rate, so E[X_i]/λ_i = ∂ log Z/∂λ_i lies between its slopes to the left
// and to the right.
func TestMeansMatchSlopes(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 3))
	p := uneven(r, 21, 0.8, func(s int) int { return (s - 1) / 2 })
	at := solved(t, p, 1e-9)
	for i := range p.Classes[:15] {
		rate := p.Classes[i].Rate
		step := math.Floor(rate / 100)
		slope := func(to float64) (slope, off float64) {
			q := &Problem{p.Capacities, slices.Clone(p.Classes)}
			q.Classes[i].Rate = to
			z := solved(t, q, 1e-9).Normalization
			return math.Log(z.Over(at.Normalization.Wide).Double()) / (to -
				rate), 2 * (z.Bound + at.Normalization.Bound) / step
		}
		left, offLeft := slope(rate - step)
		right, offRight := slope(rate + step)
		x := at.Jobs[i].Double() / rate
		off := 2*at.Jobs[i].Bound*x + offLeft + offRight
		if !(left-off <= x && x <= right+off) || right-left > 0.1*x {
			t.Errorf("class %d: mean delay %v between %v and %v", i, x, left, right)
		}
	}
}

// Scaling all rates and capacities by one factor leaves mean numbers of jobs unchanged, so Σ λ ∂/∂λ
// + Σ C ∂/∂C gives 0. Distributions sum to 1 and have the right means, and derivatives predict the
// effect of small changes.
func TestLargeTreeIsConsistent(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 4))
	p := uneven(r, 18, 0.6, func(s int) int { return r.IntN(s) })
	o, err := NewOrder(p)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Solve(context.Background(), p, o, Settings{Tolerance: 1e-9, Gradients: true, ByClass: 60})
	if err != nil {
		t.Fatal(err)
	}
	sum, off := 0.0, 0.0
	add := func(x float64, d Difference) {
		sum += x * (d.Plus.Double() - d.Minus.Double())
		off += x * (d.Plus.Double()*d.Plus.Bound + d.Minus.Double()*d.Minus.Bound)
	}
	for i, k := range p.Classes {
		add(k.Rate, result.Gradients.Rates[i])
		total, mean := 0.0, 0.0
		for n, x := range result.ClassJobs[i] {
			total += x.Double()
			mean += float64(n) * x.Double()
		}
		// 60 jobs of one class are rarer than 1e-12 here
		if math.Abs(total-1) > 1e-9 || math.Abs(mean/result.Jobs[i].Double()-1) > 1e-8 {
			t.Errorf("class %d: probabilities sum to %v with mean %v, want 1 and %v",
				i, total, mean, result.Jobs[i].Double())
		}
	}
	for s, c := range p.Capacities {
		add(c, result.Gradients.Capacities[s])
	}
	if math.Abs(sum) > 1.001*off || off > 1e-4 {
		t.Errorf("derivatives sum to %v, bound %v", sum, off)
	}
}

// Non-integer inputs have bounds too, though wider ones.
func TestNonIntegerInputs(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 5))
	for range 200 {
		p := &Problem{}
		for s := range 1 + r.IntN(5) {
			p.Capacities = append(p.Capacities, 0.1+r.Float64())
			p.Classes = append(p.Classes, Class{0.09 * r.Float64(), []int{s}})
			if s > 0 {
				p.Classes = append(p.Classes, Class{0.1 * r.Float64(), []int{r.IntN(s), s}}, Class{
					0.01 * r.Float64(), []int{r.IntN(s), s},
				})
			}
		}
		least := math.Inf(1)
		for _, x := range slackOf(p)[1:] {
			f, _ := x.Float64()
			least = min(least, f)
		}
		o, err := NewOrder(p)
		if err != nil || o.Width > 1 || least < 0.005 {
			continue
		}
		want := literal(p)
		if err := want.check(solved(t, p, 1e-7)); err != nil {
			t.Fatal(err)
		}
	}
}

// All bounds meet the tolerance, even if many factors are multiplied.
func TestToleranceIsMet(t *testing.T) {
	p := &Problem{}
	for range 30 {
		p.Capacities = append(p.Capacities, 3, 4)
		p.Classes = append(p.Classes, Class{1, []int{len(p.Capacities) - 1}}, Class{
			2, []int{len(p.Capacities) - 2, len(p.Capacities) - 1},
		})
	}
	for _, tolerance := range []float64{3e-13, 1e-12, 3e-12, 1e-11} {
		o, err := NewOrder(p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(context.Background(), p, o, Settings{Tolerance: tolerance})
		var missed *ToleranceError
		if errors.As(err, &missed) && missed.Bound > tolerance && tolerance < 1e-11 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range slices.Concat([]arithmetic.Number{r.Normalization}, r.Jobs, r.Busy) {
			if !(x.Bound <= tolerance) {
				t.Errorf("bound %v exceeds the tolerance %v", x.Bound, tolerance)
			}
		}
	}
}

func errOf(_ *Result, err error) error { return err }

func TestRejects(t *testing.T) {
	ctx := context.Background()
	ask := func(p *Problem, s Settings) error {
		o, err := NewOrder(p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Solve(ctx, p, o, s)
		return err
	}
	if err := ask(&Problem{[]float64{3, 4}, []Class{{2, []int{0}}, {5, []int{0, 1}}}}, Settings{
		Tolerance: 1e-9,
	}); !errors.Is(err, num.ErrUnstable) {
		t.Errorf("error %v", err)
	}
	var missed *ToleranceError // the slack is smaller than its rounding errors
	if err := ask(&Problem{[]float64{0.3, 0.3}, []Class{{0.3, []int{0}}, {1e-20, []int{0, 1}}}}, Settings{
		Tolerance: 1e-9,
	}); !errors.As(err, &missed) {
		t.Errorf("error %v", err)
	}
	if err := ask(binaryTree(31), Settings{Tolerance: 1e-15}); !errors.As(err, &missed) ||
		!(missed.Bound > 1e-15 && missed.Bound < 1e-10) {
		t.Errorf("error %v", err)
	}
	var large *num.TooLargeError
	if err := ask(binaryTree(31), Settings{Tolerance: 1e-9, MaxBytes: 1 << 15}); !errors.As(err, &large) ||
		large.Bytes <= 1<<15 {
		t.Errorf("error %v", err)
	}
	var bad *num.InputError
	for path, err := range map[string]error{
		"ByClass":    ask(binaryTree(2), Settings{Tolerance: 1e-9, ByClass: -1}),
		"Servers":    errOf(Solve(ctx, binaryTree(2), &Order{}, Settings{Tolerance: 1e-9})),
		"Servers[1]": errOf(Solve(ctx, binaryTree(2), &Order{Servers: []int{1, 1}}, Settings{Tolerance: 1e-9})),
	} {
		if !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("error %v", err)
		}
	}
	for _, tolerance := range []float64{0, 1, -1, math.NaN()} {
		if err := ask(binaryTree(2), Settings{Tolerance: tolerance}); !errors.As(err, &bad) || bad.Path != "Tolerance" {
			t.Errorf("error %v", err)
		}
	}
}

// Two servers with one class act as one server with both capacities, and servers without classes
// are never busy.
func TestKnownClusters(t *testing.T) {
	for _, load := range []float64{0.5, 0.99, 1 - 0x1p-20, 1 - 0x1p-40} {
		p := &Problem{
			[]float64{0x1p45, 0x1p46, 1, 7},
			[]Class{{load * 0x1.8p46, []int{0, 1}}, {0, []int{2}}, {0, []int{0, 1, 2, 3}}},
		}
		r := solved(t, p, 1e-10)
		slack := new(big.Rat).SetFloat64(1 - load)
		if err := checkNumber(r.Normalization, new(big.Rat).Inv(slack)); err != nil {
			t.Error(err)
		}
		if err := checkNumber(r.Jobs[0], new(big.Rat).Quo(rat(load), slack)); err != nil {
			t.Error(err)
		}
		if r.Jobs[1].F != 0 || r.Jobs[2].F != 0 || r.Busy[2].F != 0 || r.Busy[3].F != 0 {
			t.Errorf("jobs %v, busy %v", r.Jobs[1:], r.Busy[2:])
		}
	}
}

// The digits do not depend on the number of processors, and repeated runs agree.
func TestSameDigits(t *testing.T) {
	p := uneven(rand.New(rand.NewPCG(17, 6)), 40, 0.9, func(s int) int { return s / 2 })
	a, b := solved(t, p, 1e-9), solved(t, p, 1e-9)
	if fmt.Sprint(a.Jobs, a.Busy, a.Normalization) != fmt.Sprint(b.Jobs, b.Busy, b.Normalization) {
		t.Error("digits differ")
	}
}
