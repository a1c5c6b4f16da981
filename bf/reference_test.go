package bf

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"productform/cluster"
	"productform/num"
)

type referenceCase struct {
	Name   string
	Model  json.RawMessage
	Expect struct {
		Stable        bool
		Normalization string
		MeanJobs      []string `json:"mean_jobs"`
		ServiceRate   []string `json:"service_rate"`
		MeanDelay     []string `json:"mean_delay"`
		Utilization   []string
	}
}

func referenceCases(t *testing.T) []referenceCase {
	data, err := os.ReadFile("testdata/oi_reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []referenceCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// numbers lists every number of a result that the reference has, beside the reference's.
func (c *referenceCase) numbers(r *Result) (got []num.Value, want []*big.Rat) {
	add := func(v num.Value, s string) {
		got = append(got, v)
		want = append(want, num.MustRat(s))
	}
	add(*r.Normalization, c.Expect.Normalization)
	for i := range r.Classes {
		add(r.Classes[i].MeanJobs, c.Expect.MeanJobs[i])
		add(*r.Classes[i].ServiceRate, c.Expect.ServiceRate[i])
		add(*r.Classes[i].MeanDelay, c.Expect.MeanDelay[i])
	}
	for i := range r.Servers {
		add(r.Servers[i].Utilization, c.Expect.Utilization[i])
	}
	return got, want
}

// relativeError returns |got - want| / want in exact arithmetic, 0 if both are 0.
func relativeError(got float64, want *big.Rat) float64 {
	if got == 0 && want.Sign() == 0 {
		return 0
	}
	if math.IsNaN(got) || math.IsInf(got, 0) || want.Sign() == 0 {
		return math.Inf(1)
	}
	d := new(big.Rat).SetFloat64(got)
	d.Sub(d, want)
	f, _ := d.Abs(d).Quo(d, want).Float64()
	return f
}

func TestReference(t *testing.T) {
	for _, c := range referenceCases(t) {
		m, err := cluster.ReadJSON(strings.NewReader(string(c.Model)))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for _, lattice := range []Lattice{"", ClassLattice, ServerLattice, ConnectedLattice, SymmetricLattice} {
			for _, engine := range []Engine{Auto, Enclose, Exact} {
				name := c.Name + "/" + string(lattice) + "/" + string(engine)
				r, err := Solve(m, Settings{Engine: engine, Lattice: lattice, RelTol: 1e-12})
				if !c.Expect.Stable {
					var u *UnstableError
					if !errors.As(err, &u) || !errors.Is(err, ErrUnstable) || u.ArrivalRate.Cmp(u.Capacity) < 0 {
						t.Errorf("%s: error %v, want an overloaded set", name, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				got, want := c.numbers(r)
				for i := range got {
					e := relativeError(got[i].Float, want[i])
					switch {
					case engine == Exact && got[i].Exact.Cmp(want[i]) != 0:
						t.Errorf("%s: number %d = %v, want %v", name, i, got[i].Exact, want[i])
					case engine == Exact && r.RelativeErrorBound == 0 && e <= 0x1p-53:
					case e > r.RelativeErrorBound || e > 1e-12:
						t.Errorf("%s: number %d = %v, relative error %g, bound %g", name, i, got[i].Float, e, r.RelativeErrorBound)
					case engine == Enclose && !inside(got[i], want[i]):
						t.Errorf("%s: number %d = [%v, %v] does not hold %v", name, i, got[i].Low, got[i].High, want[i])
					}
				}
			}
		}
	}
}

// inside reports whether an enclosure holds x.
func inside(v num.Value, x *big.Rat) bool {
	low, _ := v.Low.Rat(nil)
	high, _ := v.High.Rat(nil)
	return low.Cmp(x) <= 0 && x.Cmp(high) <= 0
}
