package bf

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// numbers lists every number of a result that the reference has, with the value of the reference.
func numbers(r *Result, e *oracle.Expect) (got []num.Value, want []*big.Rat) {
	add := func(v num.Value, x *big.Rat) {
		got = append(got, v)
		want = append(want, x)
	}
	add(*r.Normalization, e.Normalization)
	for i := range r.Classes {
		add(r.Classes[i].MeanJobs, e.MeanJobs[i])
		add(*r.Classes[i].ServiceRate, e.ServiceRate[i])
		add(*r.Classes[i].MeanDelay, e.MeanDelay[i])
	}
	for i := range r.Servers {
		add(r.Servers[i].Utilization, e.Utilization[i])
	}
	return got, want
}

// relativeError returns |got - want| / want, or 0 if both are 0. Only the last quotient, of
// integers, is rounded, to 100 bits: reducing a fraction of thousands of digits takes long.
func relativeError(got float64, want *big.Rat) float64 {
	if got == 0 && want.Sign() == 0 {
		return 0
	}
	if math.IsNaN(got) || math.IsInf(got, 0) || want.Sign() == 0 {
		return math.Inf(1)
	}
	g := new(big.Rat).SetFloat64(got)
	over := new(big.Int).Mul(g.Denom(), want.Num())
	off := new(big.Int).Mul(g.Num(), want.Denom())
	off.Abs(off.Sub(off, over))
	number := func(n *big.Int) *big.Float { return new(big.Float).SetPrec(100).SetInt(n) }
	f, _ := new(big.Float).Quo(number(off), number(over)).Float64()
	return f
}

func TestReference(t *testing.T) {
	for _, c := range oracle.References() {
		for _, lattice := range lattices {
			for _, engine := range []num.Engine{num.Auto, num.Enclose, num.Exact} {
				name := c.Name + "/" + string(lattice) + "/" + string(engine)
				r, err := Solve(t.Context(), c.Model, Settings{Engine: engine, Lattice: lattice, RelTol: 1e-12})
				if !c.Expect.Stable {
					var u *cluster.UnstableError
					if !errors.As(err, &u) || !errors.Is(err, num.ErrUnstable) || u.ArrivalRate.Cmp(u.Capacity) < 0 {
						t.Errorf("%s: error %v, want an overloaded set", name, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				got, want := numbers(r, &c.Expect)
				for i := range got {
					e := relativeError(got[i].Float, want[i])
					switch {
					case engine == num.Exact && got[i].Exact.Cmp(want[i]) != 0:
						t.Errorf("%s: number %d = %v, want %v", name, i, got[i].Exact, want[i])
					case engine == num.Exact && r.RelativeErrorBound == 0 && e <= 0x1p-53:
					case e > r.RelativeErrorBound || e > 1e-12:
						t.Errorf("%s: number %d = %v, relative error %g, bound %g", name, i, got[i].Float, e,
							r.RelativeErrorBound)
					case engine == num.Enclose && !encloses(got[i], want[i]):
						t.Errorf("%s: number %d = [%v, %v] does not contain %v", name, i, got[i].Low, got[i].High,
							want[i])
					}
				}
			}
		}
	}
}

// encloses reports whether an enclosure contains x.
func encloses(v num.Value, x *big.Rat) bool {
	low, _ := v.Low.Rat(nil)
	high, _ := v.High.Rat(nil)
	return low.Cmp(x) <= 0 && x.Cmp(high) <= 0
}
