package lattice

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/internal/oracle"
	"productform/num"
)

// drawSteps returns a box, arrival rates and denominators, up to 2^exponent and down to its
// inverse.
func drawSteps(t *rapid.T, exponent int) (y Lattice, lambda, drain []*big.Rat) {
	draw := func(label string, least int64) *big.Rat {
		r := big.NewRat(rapid.Int64Range(least, 999).Draw(t, label), rapid.Int64Range(1, 999).Draw(t, "over"))
		power := new(big.Int).Lsh(big.NewInt(1), uint(rapid.IntRange(0, exponent).Draw(t, "exponent")))
		if rapid.Bool().Draw(t, "large") {
			return r.Mul(r, new(big.Rat).SetInt(power))
		}
		return r.Quo(r, new(big.Rat).SetInt(power))
	}
	limits := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 4).Draw(t, "limits")
	y = NewBox(limits)
	drain = make([]*big.Rat, y.States)
	for range limits {
		lambda = append(lambda, draw("arrival rate", 0))
	}
	for at := 1; at < y.States; at++ {
		drain[at] = draw("denominator", 1)
	}
	return y, lambda, drain
}

func inNumbers(y Lattice, lambda, drain []*big.Rat, engine num.Engine) *Recursion {
	one := arithmetic.One(engine, 0)
	r := &Recursion{Lattice: y, Drain: make([]arithmetic.Number, y.States)}
	for _, l := range lambda {
		r.Lambda = append(r.Lambda, one.Rational(l))
	}
	for at := 1; at < y.States; at++ {
		r.Drain[at] = one.Rational(drain[at])
	}
	return r
}

// Plain float64 gives the same digits as the literal recursion in numbers with exponents, and its
// bound holds for the fractions of the same recursion.
func TestFloatsMatchRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y, lambda, drain := drawSteps(t, rapid.SampledFrom([]int{0, 20, 60, 190}).Draw(t, "largest exponent"))
		g, jobs, z, bound, ok := Floats(context.Background(), y, lambda, drain)
		if !ok {
			return
		}
		if !(bound < 1e-13) { // fewer than 400 roundings
			t.Errorf("bound %v", bound)
		}
		wantG, wantJobs, wantZ, err := inNumbers(y, lambda, drain, num.Float).Measures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		exactG, exactJobs, exactZ, err := inNumbers(y, lambda, drain, num.Exact).Measures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, got float64, literal, exact arithmetic.Number) {
			if got != literal.Double() {
				t.Errorf("%s = %v, literally %v", what, got, literal.Double())
			}
			off := new(big.Rat).SetFloat64(got)
			off.Sub(off, exact.Exact).Abs(off)
			if most := new(big.Rat).SetFloat64(bound); off.Cmp(most.Mul(most, exact.Exact)) > 0 {
				t.Errorf("%s = %v is not within %v of %v", what, got, bound, exact.Exact)
			}
		}
		for at := range g {
			check("G", g[at], wantG[at], exactG[at])
			check("G/Z", g[at]/z, wantG[at].Quo(wantZ), exactG[at].Quo(exactZ))
		}
		for i := range jobs {
			check("E[X]", jobs[i], wantJobs[i], exactJobs[i])
		}
		check("Z", z, wantZ, exactZ)
	})
}

// Numbers beyond the range of float64 are not returned.
func TestFloatsRefuse(t *testing.T) {
	y, one := NewBox([]int{3, 3}), big.NewRat(1, 1)
	far := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 150))
	for _, c := range []struct {
		name          string
		lambda, drain *big.Rat
		ok            bool
	}{
		{"plain", one, one, true},
		{"no arrivals", new(big.Rat), one, true},
		{"G beyond 2^400", far, one, false},
		{"G below 2^-400", new(big.Rat).Inv(far), one, false},
		{"a rate beyond 2^200", new(big.Rat).Mul(far, far), far, false},
		{"a denominator beyond 2^200", far, new(big.Rat).Mul(far, far), false},
	} {
		drain := make([]*big.Rat, y.States)
		for at := 1; at < y.States; at++ {
			drain[at] = c.drain
		}
		if _, _, _, _, ok := Floats(t.Context(), y, []*big.Rat{c.lambda, c.lambda}, drain); ok != c.ok {
			t.Errorf("%s: ok %v", c.name, ok)
		}
	}
}

// The queue of rate min(Σ_i min(x_i, m_i), 3) matches sums over states of up to 60 jobs of each of
// two classes. At a load of at most 1/2, this omits a probability below 2^-50.
func TestRecursionAgainstStates(t *testing.T) {
	const most = 60
	for _, limits := range [][]int{{1, 1}, {1, 3}, {2, 2}, {3, 3}} {
		rate := func(x []int) float64 { return float64(min(min(x[0], limits[0])+min(x[1], limits[1]), 3)) }
		lambda := []float64{0.5, 0.375}
		y := NewBox(limits)
		g, jobs, z := make([]float64, y.States), make([]float64, 2), 0.0
		weight := [most + 1][most + 1]float64{{1}}
		for n := range most + 1 {
			for m := range most + 1 {
				x := []int{n, m}
				if n > 0 {
					weight[n][m] += lambda[0] * weight[n-1][m] / rate(x)
				}
				if m > 0 {
					weight[n][m] += lambda[1] * weight[n][m-1] / rate(x)
				}
				g[y.Index([]int{min(n, limits[0]), min(m, limits[1])})] += weight[n][m]
				jobs[0] += float64(n) * weight[n][m]
				jobs[1] += float64(m) * weight[n][m]
				z += weight[n][m]
			}
		}
		drain := make([]*big.Rat, y.States)
		for w := Walk(y); w.Next(); {
			d := rate(w.X)
			for i, l := range lambda {
				if w.X[i] == limits[i] {
					d -= l
				}
			}
			drain[w.At] = new(big.Rat).SetFloat64(d)
		}
		gotG, gotJobs, gotZ, err := inNumbers(
			y, []*big.Rat{big.NewRat(1, 2), big.NewRat(3, 8)}, drain, num.Exact,
		).Measures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got arithmetic.Number, want float64) {
			if f, _ := got.Exact.Float64(); math.Abs(f-want) > 1e-12*want {
				t.Errorf("limits %v: %s = %v, state by state %v", limits, what, f, want)
			}
		}
		for at := range g {
			near("G", gotG[at], g[at])
		}
		near("E[X_0]", gotJobs[0], jobs[0]/z)
		near("E[X_1]", gotJobs[1], jobs[1]/z)
		near("Z", gotZ, z)
	}
}

// Floats stops at any check of its context that finds it done, and has no answer then.
func TestFloatsStopsWithItsContext(t *testing.T) {
	y := NewBox(slices.Repeat([]int{1}, 14))
	lambda, drain := make([]*big.Rat, 14), make([]*big.Rat, y.States)
	for i := range lambda {
		lambda[i] = big.NewRat(1, 2)
	}
	for at := range drain {
		drain[at] = big.NewRat(1, 1)
	}
	all := oracle.NewCountdown(1 << 30)
	if _, _, _, _, ok := Floats(all, y, lambda, drain); !ok || all.Asked() < 3*y.States/statesPerLook {
		t.Fatalf("%d checks for %d states, ok = %v", all.Asked(), y.States, ok)
	}
	for last := range all.Asked() {
		ctx := oracle.NewCountdown(last)
		if _, _, _, _, ok := Floats(ctx, y, lambda, drain); ok || ctx.Asked() > last+3 {
			t.Errorf("cancelled after %d checks: %d checks, ok = %v", last, ctx.Asked(), ok)
		}
	}
}
