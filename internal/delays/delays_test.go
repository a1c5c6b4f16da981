package delays

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/internal/recursion"
)

// With m = n(1+δ) the exponent n(1 + log(m/n)) - m is n(log(1+δ) - δ) = n(-δ²/2 + δ³/3 - ...),
// which exceeds any partial sum that ends with a negative term. The bound is at least its
// exponential, even if the two terms of the exponent cancel.
func TestChernoffBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := math.Floor(math.Exp2(rapid.Float64Range(0, 52).Draw(t, "log n")))
		m := n * (1 + rapid.Float64Range(0, min(1e-3, 30/math.Sqrt(n))).Draw(t, "excess"))
		exact := func(x float64) *big.Float { return new(big.Float).SetPrec(500).SetFloat64(x) }
		d := exact(0).Sub(exact(m), exact(n))
		d.Quo(d, exact(n))
		sum, power := exact(0), exact(0).Set(d)
		for k := 2; k <= 12; k += 2 { // two terms at a time, the second of them negative
			power.Mul(power, d)
			sum.Sub(sum, exact(0).Quo(power, exact(float64(k))))
			if power.Mul(power, d); k < 12 {
				sum.Add(sum, exact(0).Quo(power, exact(float64(k+1))))
			}
		} // the sum ends below the limit
		least, _ := sum.Mul(sum, exact(n)).Float64()
		if got := chernoff(n, m); !(got >= math.Exp(least)*(1-1e-9)) {
			t.Fatalf("n = %v, m = n(1+%v): %v, less than %v", n, d, got, math.Exp(least))
		}
	})
}

// The error of a quotient of two numbers with bounded errors is at most quotientBound.
func TestQuotientBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(0, 0.9).Draw(t, "bound")
		d, one := new(big.Rat).SetFloat64(e), big.NewRat(1, 1)
		worst := new(big.Rat).Quo(new(big.Rat).Add(one, d), new(big.Rat).Sub(one, d))
		if got := new(big.Rat).SetFloat64(quotientBound(e, 0)); got.Cmp(worst.Sub(worst, one)) < 0 {
			t.Fatalf("%v for %v", got.FloatString(20), e)
		}
	})
	for _, e := range []float64{1, 1.5, math.Inf(1)} {
		if got := quotientBound(e, 0); got >= 0 && got < 1 {
			t.Errorf("%v for numbers without a digit: %v", got, e)
		}
	}
}

// queues returns a chain of n independent queues, and 1 for every state.
func queues(t *testing.T, n int, maxBytes int64) (*Chain, []big.Float) {
	t.Helper()
	p := &recursion.Problem{Whole: true, Scale: big.NewInt(1), Bits: 10}
	for i := range n {
		p.Groups = append(p.Groups, recursion.Group{N: 1, Capacity: big.NewInt(3)})
		p.Classes = append(p.Classes, recursion.Class{
			Rate:   big.NewInt(1),
			Choose: []recursion.Choice{{Group: i, Choose: 1}},
		})
	}
	g, err := recursion.ClassGraph(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]big.Float, g.States())
	for k := range v {
		v[k].SetPrec(64).SetInt64(1)
	}
	return New(p, g, maxBytes, 0), v
}

// Enclose rejects a question before the first step if there are too many steps, including those for
// a requested time.
func TestEncloseIsRefusedFirst(t *testing.T) {
	for _, c := range []struct {
		maxBytes int64
		time     string
	}{{1 << 10, "1"}, {1 << 40, "1e18"}} {
		chain, v := queues(t, 2, c.maxBytes)
		ctx := oracle.NewCountdown(2)
		_, err := Enclose(ctx, chain, v, v, 64, Question{Times: [][]*big.Rat{oracle.Rats(c.time), oracle.Rats(c.time)}})
		var long *StepsError
		if !errors.As(err, &long) {
			t.Errorf("%d bytes, time %s: %v", c.maxBytes, c.time, err)
		}
	}
}

// Bounds check their context every few hundred products, even within a step.
func TestBoundsLookWithinAStep(t *testing.T) {
	chain, v := queues(t, 9, 1<<30)
	for _, mode := range []big.RoundingMode{big.ToNegativeInf, big.ToPositiveInf} {
		everything := Question{Tails: oracle.Rats("1/2")}
		top, err := chain.topRate(t.Context(), 64)
		if err != nil {
			t.Fatal(err)
		}
		b := newBounds(t.Context(), chain, v, top, 64, mode, everything)
		if err := b.enter(); err != nil {
			t.Fatal(err)
		}
		b.a[0] = make([]*big.Float, 12000)
		for n := range b.a[0] {
			b.a[0][n] = big.NewFloat(1)
		}
		for name, do := range map[string]func() error{
			"step": b.step,
			"rest": func() error { _, err := b.rest(); return err },
			"dot":  func() error { _, err := b.dot(0, b.y); return err },
			"tail": func() error { _, err := b.tail(0, big.NewFloat(9000), big.NewFloat(1)); return err },
		} {
			products := len(chain.Weight)
			switch name {
			case "dot":
				products = len(b.state[0])
			case "tail": // about ten standard deviations on either side of the mode, eight products each
				products = 8 * 2 * 900
			}
			ctx := oracle.NewCountdown(math.MaxInt32)
			b.stop = recursion.Cancellation{Ctx: ctx}
			if err := do(); err != nil {
				t.Fatal(err)
			}
			if looks := ctx.Asked(); looks < products/512 {
				t.Errorf("%s: %d checks in %d products", name, looks, products)
			}
			b.stop = recursion.Cancellation{Ctx: oracle.NewCountdown(0)}
			if err := do(); products >= 512 && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error %v, want that of the context", name, err)
			}
		}
	}
}

// Steps in float64 check their context once for at most 2^17 products, even within a step.
func TestFloatsLookWithinAStep(t *testing.T) {
	chain, _ := queues(t, 16, 1<<30)
	v := slices.Repeat([]float64{1}, chain.States())
	f, err := newFloats(t.Context(), chain, v, 0x1p-50, Question{Tails: oracle.Rats("1/2")})
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"by class": f.stepByClass, "by terms": f.stepByTerms, "flows": f.addFlows, "step": f.step,
		"survivals": func() error { _, err := f.survivalsNow(); return err },
	} {
		ctx := oracle.NewCountdown(math.MaxInt32)
		f.cancel, f.stepCancel = recursion.Cancellation{Ctx: ctx}, recursion.Cancellation{Ctx: ctx}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if looks := ctx.Asked(); looks < len(chain.Weight)>>17 {
			t.Errorf("%s: %d checks in %d products", name, looks, len(chain.Weight))
		}
		ctx = oracle.NewCountdown(0)
		f.cancel, f.stepCancel = recursion.Cancellation{Ctx: ctx}, recursion.Cancellation{Ctx: ctx}
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want that of the context", name, err)
		}
	}
}

// A step on the class lattice adds the terms of the graph in the same order, so all digits agree.
func TestStepByClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "classes")
		p := &recursion.Problem{Whole: true, Scale: big.NewInt(1), Bits: 10}
		for i := range n {
			p.Groups = append(p.Groups, recursion.Group{
				N:        1,
				Capacity: big.NewInt(rapid.Int64Range(10, 99).Draw(t, "capacity")),
			})
			class := recursion.Class{
				Rate:   big.NewInt(rapid.Int64Range(1, 9).Draw(t, "rate")),
				Choose: []recursion.Choice{{Group: i, Choose: 1}},
			}
			if i > 0 && rapid.Bool().Draw(t, "shares") {
				class.Choose = append(class.Choose, recursion.Choice{Group: i - 1, Choose: 1})
			}
			p.Classes = append(p.Classes, class)
		}
		g, err := recursion.ClassGraph(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		v := slices.Repeat([]float64{1}, g.States())
		f, err := newFloats(context.Background(), New(p, g, 1<<30, 0), v, 0x1p-50, Question{Tails: oracle.Rats("1/2")})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := f.stepByTerms(); err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(f.next)
			if err := f.stepByClass(); err != nil {
				t.Fatal(err)
			}
			want[0], f.next[0] = 0, 0 // the empty set is excluded
			if diff := cmp.Diff(want, f.next); diff != "" {
				t.Fatal(diff)
			}
			f.y, f.next = f.next, f.y
		}
	})
}
