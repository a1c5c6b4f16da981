package tags

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/network/loss"
)

func isClose(got, want, tol float64) bool { return math.Abs(got-want) <= tol*math.Abs(want) }

// C matches an independent computation with 60 to 80 digits.
func TestErlangCReference(t *testing.T) {
	for _, c := range []struct {
		servers int
		load, c float64
	}{
		{1, 0.7, 0.7},
		{2, 0.5, 0.333333333333333333333333333333},
		{4, 0.3, 0.0370497427101200686106346483705},
		{29, 0.7, 0.0472399919154242526530443850124},
	} {
		if got := erlangC(c.servers, c.load); !isClose(got, c.c, 1e-14) {
			t.Errorf("C(%d, %v) = %v, want %v", c.servers, c.load, got, c.c)
		}
	}
}

// sumOf returns C from 1/B = Σ_k n (n-1) ... (n-k+1)/a^k, a = n ρ, in 200 bits.
func sumOf(servers int, load float64) float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	a := number(float64(servers))
	a.Mul(a, number(load))
	sum, term := number(1), number(1)
	for k := 0; k < servers; k++ {
		term.Mul(term, number(float64(servers-k)))
		term.Quo(term, a)
		sum.Add(sum, term)
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-150 {
			break
		}
	}
	b := number(1)
	b.Quo(b, sum)
	free := number(1)
	free.Sub(free, number(load))
	down := number(load)
	down.Mul(down, b)
	down.Add(down, free)
	c, _ := b.Quo(b, down).Float64()
	return c
}

func TestErlangCMatchesSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 300).Draw(t, "servers")
		load := rapid.Float64Range(1e-3, 1-1e-9).Draw(t, "load")
		want := sumOf(servers, load)
		if got := erlangC(servers, load); want > 1e-290 && !isClose(got, want, 1e-15*float64(3*servers+10)) {
			t.Fatalf("C(%d, %v) = %v, want %v", servers, load, got, want)
		}
	})
	const most = 1_000_000
	for _, load := range []float64{0.99, 0.999, 0.9999999, 1 - 1e-12} {
		want := sumOf(most, load)
		if got := erlangC(most, load); !isClose(got, want, 1e-9) { // that many roundings of 1e-16 add up
			t.Errorf("C(10^6, %v) = %v, want %v", load, got, want)
		}
	}
	if c := erlangC(most, 0.5); c != 0 { // about e^-193000
		t.Errorf("C(10^6, 0.5) = %v, want 0", c)
	}
}

func BenchmarkC(b *testing.B) {
	for _, servers := range []int{100, 1_000_000} {
		b.Run(fmt.Sprintf("servers=%d", servers), func(b *testing.B) {
			for b.Loop() {
				erlangC(servers, 0.99)
			}
		})
	}
}

// The recursion in float64 matches the formula with bounds.
func TestErlangCMatchesLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 300).Draw(t, "servers")
		work := big.NewRat(int64(rapid.IntRange(1, 240*servers-servers).Draw(t, "work")), 240)
		load, _ := new(big.Rat).Quo(work, big.NewRat(int64(servers), 1)).Float64()
		want, err := loss.ErlangC(t.Context(), servers, work, loss.FormulaSettings{})
		if err != nil {
			t.Fatal(err)
		}
		// 1 - load >= 1/240 costs three digits
		if got := erlangC(servers, load); want.Float > 1e-290 && !isClose(got, want.Float, 1e-12) {
			t.Errorf("C(%d, %v) = %v, want %v", servers, load, got, want.Float)
		}
	})
}
