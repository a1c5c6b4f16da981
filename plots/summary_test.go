package plots

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"productform/sim"
)

// Higher precisions simulate more.
func TestEffortsIncrease(t *testing.T) {
	jumps := 0.0
	for _, p := range Precisions() {
		e, err := Settings{Precision: p}.effort()
		if err != nil {
			t.Fatal(err)
		}
		if v := float64(e.Runs) * (e.Jumps + e.WarmUp) * float64(len(e.Loads)); v <= jumps {
			t.Errorf("%s: %v jumps, no more than the one before", p, v)
		} else {
			jumps = v
		}
		if last := e.Loads[len(e.Loads)-1]; last.Cmp(big.NewRat(19, 20)) != 0 {
			t.Errorf("%s: last load %v", p, last)
		}
		for k := 1; k < len(e.Loads); k++ {
			if e.Loads[k].Cmp(e.Loads[k-1]) <= 0 {
				t.Errorf("%s: load %v after %v", p, e.Loads[k], e.Loads[k-1])
			}
		}
	}
}

// The claim of a source is decided only by all of its figures, and only if none of their claims or
// checks is open or wrong.
func TestFinding(t *testing.T) {
	p := Source{Prefix: "a", Verdict: "It is.", Figures: 2}
	with := func(c ...Claim) []*Figure { return []*Figure{{ID: "a-1"}, {ID: "a-2", Claims: c}} }
	off := 10.0
	wrong := with()
	wrong[0].Checks = []Check{{Exact: 1, Simulated: &off, HalfWidth: &off, Z: &off}}
	for _, c := range []struct {
		drawn     []*Figure
		precision Precision
		want      string
	}{
		{with(), Paper, "It is."},
		{with(Claim{Verdict: Holds}, Claim{Verdict: Refuted, Finding: true}), Draft, "It is."},
		{with()[:1], Draft, "Not decided in this draft, which has 1 of the 2 figures."},
		{with()[:1], Normal, "Not decided on this page, which has 1 of the 2 figures."},
		{with(Claim{Verdict: Holds}, Claim{Verdict: Open, Finding: true}), Draft, ""},
		{with(Claim{Verdict: Holds}, Claim{Verdict: Open, Finding: true}), Paper, "Not decided on this page."},
		{with(Claim{Verdict: Open}, Claim{Verdict: Refuted}), Draft, "Not decided in this draft."},
		{with(Claim{Verdict: Refuted}), Normal, "Not decided on this page."},
		{wrong, Paper, "Not decided on this page."},
	} {
		if got := p.Finding(c.drawn, c.precision); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestLogInterval(t *testing.T) {
	mean, low, high, err := LogInterval(&sim.Estimate{Mean: 2, HalfWidth: 0.5})
	if err != nil || mean != 2 || math.Abs(math.Log(high/2)-0.25) > 1e-15 || math.Abs(math.Log(2/low)-0.25) > 1e-15 {
		t.Errorf("[%v, %v] about %v, %v", low, high, mean, err)
	}
	for _, v := range []*sim.Estimate{nil, {}, {Mean: 1, HalfWidth: 1000}} {
		if _, _, _, err := LogInterval(v); err == nil {
			t.Errorf("%v: no error", v)
		}
	}
}

func zRows(z ...float64) []Check {
	var rows []Check
	for i, v := range z {
		name := fmt.Sprint(i)
		rows = append(rows, Check{Z: &v, Simulation: &name})
	}
	return rows
}

// Standard normal z pass, shifted or too regular z fail, and dependent rows count once.
func TestSummarize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var normal, shifted, narrow []float64
	for range 1000 {
		v := r.NormFloat64()
		normal, shifted, narrow = append(normal, v), append(shifted, v+0.5), append(narrow, v/2)
	}
	rows := zRows(normal...)
	s := Summarize(rows)
	if !s.OK() || s.Rows != 1000 || s.Simulations != 1000 || s.Beyond196 < 20 || s.Beyond196 > 90 || *s.PValue < 1e-6 {
		t.Errorf("standard normal: %+v", s)
	}
	if d := Summarize(append(rows, rows...)); d.Rows != s.Rows || d.Beyond196 != s.Beyond196 ||
		d.Simulations != s.Simulations || *d.ChiSquare != *s.ChiSquare {
		t.Errorf("every row twice: %+v", d)
	}
	others := slices.Clone(rows) // other numbers of the same simulations
	for k := range others {
		others[k].Quantity += "another"
	}
	if d := Summarize(slices.Concat(rows, others)); d.Rows != 2*s.Rows || d.Beyond196 != 2*s.Beyond196 ||
		d.Simulations != s.Simulations || *d.ChiSquare != *s.ChiSquare {
		t.Errorf("two numbers a simulation: %+v", d)
	}
	if Summarize(zRows(shifted...)).OK() || Summarize(zRows(narrow...)).OK() {
		t.Error("shifted or narrow z agree")
	}
	if s := Summarize(zRows(-5.5)); s.OK() || s.Largest != 5.5 || s.Beyond3 != 1 || s.PValue != nil {
		t.Errorf("one large z: %+v", s)
	}
	if s := Summarize([]Check{{Exact: 1}}); !s.OK() || s.Rows != 0 {
		t.Errorf("nothing simulated: %+v", s)
	}
	// Each cell has a tenth of fifty, except that one is moved: χ² = 2/5, and P(χ²_9 > 0.4) =
	// 0.99999 (from tables).
	var even []float64
	for k := range 50 {
		even = append(even, math.Sqrt2*math.Erfinv(2*(float64(k)+0.5)/50-1))
	}
	even[0] = 0.1
	if s := Summarize(zRows(even...)); math.Abs(*s.ChiSquare-0.4) > 1e-12 || *s.PValue < 0.9999 {
		t.Errorf("even cells: χ² = %v, p = %v", *s.ChiSquare, *s.PValue)
	}
}

func TestVerdicts(t *testing.T) {
	limit := func(low, high float64) Number { return Number{Mean: (low + high) / 2, Low: low, High: high} }
	for _, c := range []struct {
		number, limit Number
		want          Verdict
	}{
		{limit(1, 1.1), limit(1.2, 1.2), Holds},
		{limit(1, 1.3), limit(1.2, 1.2), Open},
		{limit(1.25, 1.3), limit(1.2, 1.2), Refuted},
		{limit(1.25, 1.3), limit(1.2, 1.4), Open},
		{limit(math.NaN(), math.NaN()), limit(1.2, 1.2), Refuted},
		{limit(1, 1.1), limit(math.NaN(), math.NaN()), Refuted},
	} {
		if got := Below([]Number{c.number}, []Number{c.limit}); got != c.want {
			t.Errorf("%v below %v: %s, want %s", c.number, c.limit, got, c.want)
		}
		if got := AtMost(c.limit.High).Verdict(c.number); c.limit.Low == c.limit.High && got != c.want {
			t.Errorf("%v at most %v: %s, want %s", c.number, c.limit.High, got, c.want)
		}
	}
	if got := AtMost(1.5).Verdict(limit(1, 9), limit(2, 3)); got != Refuted {
		t.Errorf("one open, one refuted: %s, want refuted", got)
	}
	for _, c := range []struct {
		limit  Limit
		number float64
		want   Verdict
	}{
		{AtLeast(2), 2, Holds}, {Over(2), 2, Refuted}, {Over(2), 2.001, Holds}, {AtMost(2), 2, Holds},
		{Under(2), 2, Refuted}, {Under(2), 1.999, Holds},
		{Rounded(2), 1.5, Holds}, {Rounded(2), 2.5, Refuted}, {PowerOfTen(3), 1000, Holds},
		{PowerOfTen(3), 999, Refuted}, {PowerOfTen(3), 10000, Refuted},
		{Limit{1, 2}, 1, Holds}, {Limit{1, 2}, 0.9, Refuted}, {AtLeast(0), math.NaN(), Refuted},
		{AtMost(0), math.NaN(), Refuted}, {AtMost(0), math.Inf(1), Refuted},
	} {
		if got := c.limit.Verdict(Exactly(c.number)...); got != c.want {
			t.Errorf("%v within %v: %s, want %s", c.number, c.limit, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Power(1e6): "10⁶", Power(4e5): "4·10⁵", Power(2000): "2000", Significant(3.44e9): "3.4·10⁹",
		Significant(12):                                   "12",
		ShortList([]string{"a", "b"}, ", "):               "a, b",
		ShortList(strings.Split("abcdefghijkl", ""), " "): "a b c d e f g h i j and 2 more",
		Decimal(big.NewRat(19, 20)):                       "0.95",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.001234: "0.00123", 12.34: "12.3", 1234.5: "1234", 99999: "99999", 123456: "1.23·10⁵",
		1e10: "10¹⁰", 1.5e-7: "1.5·10⁻⁷", 1e-20: "10⁻²⁰",
	} {
		if got := Short(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
