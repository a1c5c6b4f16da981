package gang

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// A referenceCase is a model with the answers of an independent program.
type referenceCase struct {
	Name   string
	Model  json.RawMessage
	Answer map[string]any
}

func references(t testing.TB) []referenceCase {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []referenceCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 20 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	return file.Cases
}

func (c *referenceCase) model(t testing.TB) *cluster.Model {
	m, err := cluster.ReadJSON(bytes.NewReader(c.Model))
	if err != nil {
		t.Fatal(c.Name, err)
	}
	return m
}

// number returns a number of the answer, and whether it is a fraction.
func number(t testing.TB, x any) (r *big.Rat, exact bool) {
	text := x.(string)
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	return r, !strings.Contains(text, ".")
}

// The limits of every engine equal those of the independent program: fractions are equal, other
// numbers agree to 1e-9, and bounds contain the values.
func TestReferenceLimits(t *testing.T) {
	for _, c := range references(t) {
		m := c.model(t)
		for _, engine := range []num.Engine{num.Auto, num.Float, num.Exact} {
			r, err := CheckStability(t.Context(), m, Settings{Engine: engine})
			if engine == num.Exact && isTooLarge(err) {
				continue
			}
			if err != nil {
				t.Fatal(c.Name, engine, err)
			}
			if *r.Stable != c.Answer["stable"].(bool) {
				t.Errorf("%s %s: stable %v", c.Name, engine, *r.Stable)
			}
			for name, v := range map[string]*num.Value{"throughput_limit": r.ThroughputLimit,
				"critical_scale": r.CriticalScale, "work_conserving_limit": r.WorkConservingLimit,
				"fifo_waste": r.FIFOWaste} {
				want, exact := number(t, c.Answer[name])
				checkValue(t, c.Name+" "+string(engine)+" "+name, *v, want, exact)
			}
			if states, ok := c.Answer["states"].(float64); ok && r.Method == ValueIteration && r.States != int(states) {
				t.Errorf("%s: %d states, want %v", c.Name, r.States, states)
			}
		}
	}
}

// checkValue compares a value with a fraction, or with a decimal of 30 digits.
func checkValue(t *testing.T, what string, v num.Value, want *big.Rat, exact bool) {
	t.Helper()
	f, _ := want.Float64()
	if !(math.Abs(v.Float-f) <= 1e-9*math.Abs(f)+1e-14) {
		t.Errorf("%s = %v, want %v", what, v.Float, f)
	}
	if v.Exact != nil {
		if exact && v.Exact.Cmp(want) != 0 {
			t.Errorf("%s = %v, want %v", what, v.Exact, want)
		}
		return
	}
	slack := new(big.Rat)
	if !exact { // the 30th digit is rounded, to within 1e-29 of the number
		slack.Mul(want, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(29), nil)))
		slack.Abs(slack)
	}
	low, _ := v.Low.Rat(nil)
	high, _ := v.High.Rat(nil)
	if low.Cmp(new(big.Rat).Add(want, slack)) > 0 || high.Cmp(new(big.Rat).Sub(want, slack)) < 0 {
		t.Errorf("%s between %v and %v, want %v", what, v.Low, v.High, f)
	}
	if !oracle.Near(f, v.Float, 1e-9) && math.Abs(f) > 1e-5 {
		t.Errorf("%s = %v, want %v", what, v.Float, f)
	}
}

// Mean waits, wait probabilities and delays agree with those of the independent program to 1e-9,
// and within the bound on their errors.
func TestReferenceWaits(t *testing.T) {
	found := 0
	for _, c := range references(t) {
		if c.Answer["mean_wait"] == nil {
			continue
		}
		found++
		r, err := Solve(t.Context(), c.model(t), Settings{})
		if err != nil {
			t.Fatal(c.Name, err)
		}
		near := func(what string, got float64, want any, tol float64) {
			x, _ := number(t, want)
			if f, _ := x.Float64(); !oracle.Near(got, f, tol) {
				t.Errorf("%s: %s = %v, want %v, which differs by %.1e", c.Name, what, got, f, math.Abs(got-f)/f)
			}
		}
		tol := min(r.RelativeErrorBound, 1e-9)
		if !(r.RelativeErrorBound < 1e-6) { // 1e-7 at 99 % of the limit
			t.Errorf("%s: error bound %v", c.Name, r.RelativeErrorBound)
		}
		for i, x := range r.Classes {
			near("wait probability", x.WaitProbability.Float, c.Answer["wait_probability"].([]any)[i], tol)
			near("mean wait", x.MeanWaiting.Float, c.Answer["mean_wait"].([]any)[i], tol)
			near("mean delay", x.MeanDelay.Float, c.Answer["mean_delay"].([]any)[i], tol)
		}
		near("mean jobs", r.MeanJobs.Float, c.Answer["mean_jobs"], tol)
		near("mean busy servers", r.MeanBusyServers.Float, c.Answer["mean_busy_servers"], 1e-15)
		near("heavy traffic delay", r.HeavyTrafficDelay.Float, c.Answer["heavy_traffic_delay"], 1e-12)
	}
	if found < 7 {
		t.Errorf("%d cases with waits", found)
	}
}
