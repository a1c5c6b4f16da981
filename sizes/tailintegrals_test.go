package sizes

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
)

// The integrals match closed forms: of the exponential distribution, far out, and of Pareto
// distributions, whose tail above any size is again Pareto.
func TestTailIntegralsClosedForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mean := rapid.Float64Range(0.1, 10).Draw(t, "mean")
		a := rapid.Float64Range(0, 30).Draw(t, "a") * mean
		width := math.Pow(10, rapid.Float64Range(-8, 2).Draw(t, "width")) * mean
		d := ok(NewExponential(mean))
		first, second, err := TailIntegrals(d, a, a+width)
		x := (a + width - a) / mean // the width that float64 leaves
		tail := math.Exp(-a / mean)
		want, want2 := -mean*math.Expm1(-x)*tail, 2*mean*mean*tail*(-math.Expm1(-x)-x*math.Exp(-x))
		if x < 1e-3 { // the series, since the closed form cancels
			want2 = mean * mean * tail * x * x * (1 - 2*x/3 + x*x/4 - x*x*x/15 + x*x*x*x/72)
		}
		if err != nil || !oracle.Near(first, want, 1e-13) || !oracle.Near(second, want2, 1e-11) {
			t.Fatalf("exponential: %v %v %v, want %v %v", first, second, err, want, want2)
		}
		if first, second, err = TailIntegrals(d, a, math.Inf(1)); err != nil ||
			!oracle.Near(first, mean*tail, 1e-13) || !oracle.Near(second, 2*mean*mean*tail, 1e-13) {
			t.Fatalf("exponential to infinity: %v %v %v", first, second, err)
		}
		alpha := rapid.Float64Range(2.05, 9).Draw(t, "alpha")
		p := ok(NewPareto(1, alpha))
		a = math.Pow(10, rapid.Float64Range(-1, 4).Draw(t, "log a"))
		from := max(a, 1)
		below, tail := from-a, p.Survival(from)
		above := from * tail / (alpha - 1)
		want, want2 = below+above, below*below+2*below*above+2*from*from*tail/(alpha-1)/(alpha-2)
		if first, second, err = TailIntegrals(p, a, math.Inf(1)); err != nil ||
			!oracle.Near(first, want, 1e-12) || !oracle.Near(second, want2, 1e-12) {
			t.Fatalf("Pareto: %v %v %v, want %v %v", first, second, err, want, want2)
		}
	})
}

// The integrals over neighbouring intervals add up, whatever the distribution: with b between a and
// c, the second over (a, c] is that over (a, b], that over (b, c] and 2(b-a) times the first over
// (b, c]. From 0 they are the moments of min(X, c). Subnormal numbers have fewer digits, so the
// tolerance is relative to the smallest normal number if the integrals are smaller.
func TestTailIntegralsAdd(t *testing.T) {
	near := func(x, y float64) bool {
		const smallestNormal = 0x1p-1022
		return oracle.Near(x+smallestNormal, y+smallestNormal, 1e-12)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := Distribution(randomUnimodal(t))
		if rapid.Bool().Draw(t, "list") {
			d = ok(NewEmpirical(rapid.SliceOfN(rapid.Float64Range(0.1, 9), 1, 9).Draw(t, "sizes")))
		}
		mean, err := d.Moment(1)
		if _, err2 := d.Moment(2); err != nil || err2 != nil || !(mean > 1e-100 && mean < 1e100) {
			t.Skip("no mean square")
		}
		a := rapid.Float64Range(0, 2).Draw(t, "a") * mean
		b := a + rapid.Float64Range(0, 2).Draw(t, "b")*mean
		c := b + rapid.Float64Range(0, 2).Draw(t, "c")*mean
		x1, x2, _ := TailIntegrals(d, a, b)
		y1, y2, _ := TailIntegrals(d, b, c)
		z1, z2, err := TailIntegrals(d, a, c)
		if err != nil || !near(z1, x1+y1) || !near(z2, x2+y2+2*(b-a)*y1) {
			t.Fatalf("%v: %v %v and %v %v, but %v %v: %v", d, x1, x2, y1, y2, z1, z2, err)
		}
		m1, m2, err := TailIntegrals(d, 0, c)
		if err != nil {
			t.Fatal(err)
		}
		p1, _ := d.PartialMoment(1, 0, c)
		p2, _ := d.PartialMoment(2, 0, c)
		tail := d.Survival(c)
		if !near(m1, p1+c*tail) || !near(m2, p2+c*c*tail) {
			t.Fatalf("%v: E[min(X, %v)^r] = %v %v, want %v %v", d, c, m1, m2, p1+c*tail, p2+c*c*tail)
		}
	})
}
