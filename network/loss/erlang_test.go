package loss_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
)

// The loads at which one arrival in a hundred is lost match tables of Erlang's formula.
func TestErlangBOfTables(t *testing.T) {
	for _, c := range []struct {
		servers int
		load    *big.Rat
	}{
		{1, rat(101, 10000)}, {2, rat(153, 1000)}, {5, rat(136, 100)}, {10, rat(446, 100)}, {20, rat(1203, 100)},
		{50, rat(379, 10)}, {100, rat(841, 10)},
	} {
		v, err := loss.ErlangB(t.Context(), c.servers, c.load, loss.FormulaSettings{})
		if err != nil || math.Abs(v.Float-0.01) > 1e-4 {
			t.Errorf("%d servers: %v, %v", c.servers, v.Float, err)
		}
	}
}

// literalB returns a^n/n! / Σ_j a^j/j!, term by term.
func literalB(n int, a *big.Rat) *big.Rat {
	term, sum := rat(1, 1), rat(1, 1)
	for j := 1; j <= n; j++ {
		term = quo(mul(term, a), rat(int64(j), 1))
		sum = addUp(sum, term)
	}
	return quo(term, sum)
}

// In all engines, the formulas match their sums of terms and the results of Solve for the same
// system.
func TestFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "servers")
		a := rat(rapid.Int64Range(1, 99).Draw(t, "load"), rapid.Int64Range(1, 20).Draw(t, "over"))
		b := literalB(n, a)
		enclosed(t, "B", b, func(s loss.FormulaSettings) (num.Value, error) { return loss.ErlangB(ctx, n, a, s) })
		one := &loss.Model{Room: n, Classes: []loss.Class{{Name: "a", ArrivalRate: a}}}
		r := solve(t, one, num.Exact)
		equal(t, "B of Solve", r.Classes[0].Blocking, b)
		if r.Method != loss.Tree {
			t.Errorf("method %s, want %s", r.Method, loss.Tree)
		}

		sources := rapid.IntRange(1, 15).Draw(t, "sources")
		term, sum := rat(1, 1), rat(1, 1) // over sources-1 others: C(N-1, j) a^j
		for j := 1; j <= n; j++ {
			term = quo(mul(mul(term, a), rat(int64(sources-j), 1)), rat(int64(j), 1))
			if j >= sources {
				term = new(big.Rat)
			}
			sum = addUp(sum, term)
		}
		e := quo(term, sum)
		enclosed(t, "Engset", e, func(s loss.FormulaSettings) (num.Value, error) {
			return loss.Engset(ctx, n, sources, a, s)
		})
		one.Classes[0].Sources = sources
		equal(t, "Engset of Solve", solve(t, one, num.Exact).Classes[0].Blocking, e)

		if a.Cmp(rat(int64(n), 1)) < 0 {
			// C = (a^n/n! n/(n-a)) / (Σ_{j<n} a^j/j! + a^n/n! n/(n-a)), in units of the sum up to n
			top := mul(b, quo(rat(int64(n), 1), new(big.Rat).Sub(rat(int64(n), 1), a)))
			c := quo(top, addUp(new(big.Rat).Sub(rat(1, 1), b), top))
			enclosed(t, "C", c, func(s loss.FormulaSettings) (num.Value, error) { return loss.ErlangC(ctx, n, a, s) })
			r := solve(t, &loss.Model{Count: n, Classes: []loss.Class{
				{Name: "a", ArrivalRate: quo(a, rat(3, 1))}, {Name: "b", ArrivalRate: quo(a, rat(3, 2))},
			}}, num.Exact)
			equal(t, "C of Solve", *r.Classes[1].WaitProbability, c)
			equal(t, "jobs", r.MeanJobs, addUp(a, quo(mul(c, a), new(big.Rat).Sub(rat(int64(n), 1), a))))
			equal(t, "waiting", *r.Classes[0].MeanWaiting, quo(c, new(big.Rat).Sub(rat(int64(n), 1), a)))
			equal(
				t, "empty", *r.EmptyProbability,
				quo(mul(new(big.Rat).Sub(rat(1, 1), c), literalB(0, a)), sumBelow(n, a)),
			)
		}
	})
}

// sumBelow returns Σ_{j<n} a^j/j!, the weight of states in which no arrival waits.
func sumBelow(n int, a *big.Rat) *big.Rat {
	term, sum := rat(1, 1), rat(1, 1)
	for j := 1; j < n; j++ {
		term = quo(mul(term, a), rat(int64(j), 1))
		sum = addUp(sum, term)
	}
	return sum
}

// enclosed checks a formula in all engines against a fraction.
func enclosed(t oracle.Tester, what string, want *big.Rat, formula func(loss.FormulaSettings) (num.Value, error)) {
	t.Helper()
	for _, engine := range []num.Engine{num.Float, num.Enclose, num.Exact} {
		v, err := formula(loss.FormulaSettings{Engine: engine})
		if err != nil {
			t.Fatalf("%s, %s: %v", what, engine, err)
		}
		if engine == num.Exact {
			equal(t, what, v, want)
			continue
		}
		if e, ok := v.Interval(); !ok || !holds(e, want) || e.RelWidth() > 1e-13 {
			t.Errorf("%s, %s: [%v, %v], want %v", what, engine, v.Low, v.High, want)
		}
	}
}

// With a million servers, at load n, B is √(2/(π n)) (1 + O(1/√n)); At far higher loads, the n -
// a(1-B) idle servers are about n/(a-n), so B is close to 1 - n/a. At far lower loads it is the
// Poisson weight a^n/n! e^-a by Stirling's formula.
func TestAMillionServers(t *testing.T) {
	const n = 1_000_000
	b := func(load int64) num.Value {
		v, err := loss.ErlangB(t.Context(), n, rat(load, 1), loss.FormulaSettings{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := b(n); math.Abs(v.Float/math.Sqrt(2/(math.Pi*n))-1) > 1e-3 {
		t.Errorf("at the number of servers: %v", v.Float)
	}
	if v := b(10 * n); math.Abs(v.Float-0.9) > 1e-6 {
		t.Errorf("far above: %v", v.Float)
	}
	if v := b(985_000); math.Abs(math.Log(v.Float)-(n*(0.015+math.Log1p(-0.015))-math.Log(2*math.Pi*n)/2)) > 1e-6 {
		t.Errorf("far below: %v", v.Float)
	}
	v, err := loss.ErlangB(t.Context(), n, rat(1, 2), loss.FormulaSettings{}) // about 10^-5868522
	if low, _ := v.Interval(); err != nil || v.Float != 0 || low.Low.Sign() <= 0 || low.RelWidth() > 1e-8 {
		t.Errorf("next to nothing: %v in [%v, %v], %v", v.Float, v.Low, v.High, err)
	}
}

// Values out of range are rejected.
func TestBadFormulas(t *testing.T) {
	for i, ask := range []func() (num.Value, error){
		func() (num.Value, error) { return loss.ErlangB(ctx, -1, rat(1, 1), loss.FormulaSettings{}) },
		func() (num.Value, error) { return loss.ErlangB(ctx, 1, rat(0, 1), loss.FormulaSettings{}) },
		func() (num.Value, error) { return loss.ErlangB(ctx, 1, nil, loss.FormulaSettings{}) },
		func() (num.Value, error) {
			return loss.ErlangB(ctx, 1, rat(1, 1), loss.FormulaSettings{Engine: "fast"})
		},
		func() (num.Value, error) { return loss.ErlangB(ctx, 1, rat(1, 1), loss.FormulaSettings{RelTol: 1}) },
		func() (num.Value, error) { return loss.ErlangC(ctx, 0, rat(1, 1), loss.FormulaSettings{}) },
		func() (num.Value, error) { return loss.ErlangC(ctx, 1, nil, loss.FormulaSettings{}) },
		func() (num.Value, error) { return loss.Engset(ctx, 1, 0, rat(1, 1), loss.FormulaSettings{}) },
	} {
		var bad *num.InputError
		if v, err := ask(); !errors.As(err, &bad) || v.Float != 0 {
			t.Errorf("%d: %v, error %v", i, v, err)
		}
	}
	if _, err := loss.ErlangC(ctx, 3, rat(3, 1), loss.FormulaSettings{}); !errors.Is(err, num.ErrUnstable) {
		t.Errorf("unstable: error %v", err)
	}
	var large *num.TooLargeError
	if _, err := loss.ErlangB(ctx, 1_000_000, rat(1, 1), loss.FormulaSettings{Engine: num.Exact}); !errors.As(err,
		&large) ||
		large.States != 1e6 {
		t.Errorf("fractions of a million servers: error %v", err)
	}
}
