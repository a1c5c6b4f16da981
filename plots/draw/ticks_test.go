package draw

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/plots"
)

func labels(t []tick) string {
	var s []string
	for _, k := range t {
		s = append(s, k.label)
	}
	return strings.Join(s, " ")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		scale  plots.Scale
		lo, hi float64
		want   string
	}{
		{plots.Linear, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{plots.Linear, 0, 2.2, "0.0 0.5 1.0 1.5 2.0"},
		{plots.Linear, -0.3, 0.3, "−0.2 0.0 0.2"},
		{plots.Linear, 0, 3e7, "0 10⁷ 2·10⁷ 3·10⁷"},
		{plots.Linear, 0, 2e6, "0 5·10⁵ 10⁶ 1.5·10⁶ 2·10⁶"},
		{plots.Linear, 1, 32, "10 20 30"},
		{plots.Linear, 0.99, 1, "0.990 0.992 0.994 0.996 0.998 1.000"},
		{plots.Linear, 0, 1e-8, "0 2·10⁻⁹ 4·10⁻⁹ 6·10⁻⁹ 8·10⁻⁹ 10⁻⁸"},
		{plots.Log, 0.2, 10, "0.2   0.5     1 2   5     10"},
		{plots.Log, 1, 1e6, "1 10² 10⁴ 10⁶"},
		{plots.Log, 2.1, 4.9, "3 4"},
		{plots.Log, 1e-95, 1e4, "10⁻⁸⁰ 10⁻⁶⁰ 10⁻⁴⁰ 10⁻²⁰ 1"},
		{plots.Log, 1, 1e28, "1 10⁶ 10¹² 10¹⁸ 10²⁴"},
		{plots.Log, 1, 1e32, "1 10¹⁰ 10²⁰ 10³⁰"},
	} {
		got := labels(ticks(c.scale, c.lo, c.hi, 5, false))
		if c.scale == plots.Log && c.hi > 1e3 { // ignore minor ticks
			got = strings.Join(strings.Fields(got), " ")
		}
		if got != c.want {
			t.Errorf("ticks of [%v, %v]: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

// value reads a label back.
func value(label string) float64 {
	plain := strings.NewReplacer(
		"−", "-", "⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6",
		"⁷", "7", "⁸", "8", "⁹", "9",
	)
	if strings.ContainsAny(label, "⁰¹²³⁴⁵⁶⁷⁸⁹") {
		mantissa, power, ok := strings.Cut(label, "·10")
		if !ok {
			mantissa, power = "1", strings.TrimPrefix(label, "10")
			if rest, negative := strings.CutPrefix(label, "−10"); negative {
				mantissa, power = "-1", rest
			}
		}
		label = mantissa + "e" + power
	}
	v, err := strconv.ParseFloat(plain.Replace(label), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// On any axis the ticks increase, lie on it and include 2 to 11 labelled ones, and each label
// equals its value.
func TestTicksProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]plots.Scale{plots.Linear, plots.Log}).Draw(t, "scale")
		count := rapid.IntRange(3, 6).Draw(t, "count")
		var lo, hi float64
		if scale == plots.Log {
			lo = math.Pow(10, rapid.Float64Range(-30, 30).Draw(t, "log lo"))
			hi = lo * math.Pow(10, rapid.Float64Range(0.01, 60).Draw(t, "decades"))
		} else {
			lo = rapid.Float64Range(-1e9, 1e9).Draw(t, "lo")
			width := math.Pow(10, rapid.Float64Range(-8, 12).Draw(t, "log width"))
			hi = lo + max(width, 1e-6*math.Abs(lo))
		}
		got := ticks(scale, lo, hi, count, rapid.Bool().Draw(t, "powers"))
		// A linear tick may be outside by the fraction forgiven of a step, which is shorter than
		// the axis, plus four roundings of an end, 4·2^-53·10^6 < 1e-9 of the axis. A logarithmic
		// tick may be outside by the fraction forgiven of an end.
		slack := 2 * forgiven * (hi - lo)
		if scale == plots.Log {
			slack = 2 * forgiven * hi
		}
		labelled := 0
		for i, k := range got {
			if k.value < lo-slack || k.value > hi+slack {
				t.Fatalf("tick %v outside [%v, %v]", k.value, lo, hi)
			}
			if i > 0 && k.value <= got[i-1].value {
				t.Fatalf("tick %v after %v", k.value, got[i-1].value)
			}
			if k.label != "" {
				labelled++
				// the label is the decimal, the value its float64
				if v := value(k.label); !(math.Abs(v-k.value) <= 1e-14*math.Abs(k.value)) {
					t.Fatalf("tick %v is labelled %q", k.value, k.label)
				}
			}
		}
		if labelled < 2 || labelled > 3*count {
			t.Fatalf("%d labels on [%v, %v] for %d", labelled, lo, hi, count)
		}
	})
}

// The axis for values includes them all and wastes at most two thirds of its length.
func TestSpanHoldsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 20).Draw(t, "values")
		scale := plots.Linear
		if rapid.Bool().Draw(t, "log") {
			scale = plots.Log
			for i, v := range values {
				values[i] = math.Pow(10, v/1e5)
			}
		}
		lo, hi := span(scale, values, 5)
		if !(lo < hi) {
			t.Fatalf("span of %v: [%v, %v]", values, lo, hi)
		}
		for _, v := range values {
			// the fraction forgiven of a step, which is shorter than the axis, and at most 8
			// roundings
			slack := forgiven*(hi-lo) + 8*0x1p-53*math.Abs(v)
			if v < lo-slack || v > hi+slack {
				t.Fatalf("span of %v: [%v, %v] omits %v", values, lo, hi, v)
			}
		}
	})
}

// Every label of an axis has glyphs, and exponents and subscripts are narrower than
// digits.
func TestLabelsHaveGlyphs(t *testing.T) {
	text := newTypesetter()
	for e := -100; e <= 100; e++ {
		for _, m := range []float64{1, 2, -5} {
			s := decimal(m*math.Pow(10, float64(e)), scientific)
			if err := text.missing("label", s); err != nil {
				t.Error(err)
			}
		}
	}
	for shifted, digits := range map[string]string{"10⁻⁹": "10−9", "φ₂": "φ2", "λ₁₀": "λ10"} {
		if small, plain := text.width(shifted, 8, false), text.width(digits, 8, false); small >= plain ||
			small < plain/2 {
			t.Errorf("%s has a width of %v, %s of %v", shifted, small, digits, plain)
		}
	}
}

// An axis over many powers of ten starts at a label if one is close, but not before it.
func TestSpanBeginsAtLabel(t *testing.T) {
	for _, c := range []struct{ low, high, want float64 }{
		{2.5, 3e28, 1}, {0.6, 3e28, 0.5}, {1.5, 500, 1}, {3, 500, 2}, {2e7, 1e28, 1e5}, {3e3, 1e28, 2e3},
		{3e3, 2e9, 2e3},
	} {
		if lo, _ := span(plots.Log, []float64{c.low, c.high}, 5); math.Abs(lo/c.want-1) > 1e-12 {
			t.Errorf("from %v to %v: the axis begins at %v, want %v", c.low, c.high, lo, c.want)
		}
	}
}

// Exactly the given ticks are present, all labelled.
func TestGivenTicks(t *testing.T) {
	for _, c := range []struct {
		axis plots.Axis
		want []tick
	}{
		{plots.Axis{Min: -1, Max: 2, Ticks: []float64{-0.5, 2}}, []tick{{-0.5, "−0.5"}, {2, "2"}}},
		{
			plots.Axis{Scale: plots.Log, Min: 0.9, Max: 20, Ticks: []float64{1, 2, 16}},
			[]tick{{1, "1"}, {2, "2"}, {16, "16"}},
		},
		{
			plots.Axis{Scale: plots.Log, Min: 1e-5, Max: 2e6, Ticks: []float64{1e-5, 1, 2e6}},
			[]tick{{1e-5, "10⁻⁵"}, {1, "1"}, {2e6, "2·10⁶"}},
		},
	} {
		if lo, hi, got := axis(&c.axis, nil, 5, false); lo != c.axis.Min || hi != c.axis.Max ||
			!slices.Equal(got, c.want) {
			t.Errorf("%v: [%v, %v], %v, want %v", c.axis.Ticks, lo, hi, got, c.want)
		}
	}
}

// Numbers are powers of ten throughout a figure if a logarithmic axis needs them, except small
// whole numbers on axes of the other direction.
func TestOneStyleOfTicks(t *testing.T) {
	panel := func(x, y plots.Axis) plots.Panel {
		x.Quantity, y.Quantity = "x", "y"
		return plots.Panel{
			Title:  "t",
			X:      x,
			Y:      y,
			Series: []plots.Series{{Label: "s", X: []float64{x.Min, x.Max}, Y: []float64{y.Min, y.Max}}},
		}
	}
	linear := plots.Axis{Max: 1}
	few, far := plots.Axis{Scale: plots.Log, Min: 0.0002, Max: 0.2}, plots.Axis{Scale: plots.Log, Min: 1e3, Max: 1e6}
	workers := plots.Axis{Scale: plots.Log, Min: 4.5, Max: 110, Ticks: []float64{5, 10, 100}}
	for _, c := range []struct {
		panels []plots.Panel
		want   [2]bool
	}{
		{[]plots.Panel{panel(linear, few)}, [2]bool{}},
		{[]plots.Panel{panel(linear, few), panel(linear, far)}, [2]bool{false, true}},
		{[]plots.Panel{panel(workers, few), panel(linear, far)}, [2]bool{false, true}},
		{[]plots.Panel{panel(few, workers), panel(far, linear)}, [2]bool{true, false}},
		{[]plots.Panel{panel(few, linear), panel(linear, far)}, [2]bool{true, true}},
		{[]plots.Panel{panel(workers, few), panel(far, linear)}, [2]bool{true, true}},
	} {
		f := &plots.Figure{ID: "x", Title: "t", Caption: "c", Panels: c.panels}
		if got := powersOf(f); got != c.want {
			t.Errorf("%+v: powers %v, want %v", c.panels, got, c.want)
		}
		for i, l := range layout(t, f) {
			for direction, a := range []plots.Axis{c.panels[i].X, c.panels[i].Y} {
				for _, k := range l.ticks[direction] {
					written := strings.Contains(k.label, "10⁻") || strings.ContainsAny(k.label, "¹²³⁴⁵⁶")
					if a.Scale == plots.Log && k.label != "" && (k.value < 1 || k.value > 10) &&
						written != c.want[direction] {
						t.Errorf("%+v: %q at %v", a, k.label, k.value)
					}
				}
			}
		}
	}
	for _, c := range []struct {
		powers bool
		want   string
	}{{false, "0 200000 400000 600000"}, {true, "0 2·10⁵ 4·10⁵ 6·10⁵"}} {
		if got := labels(linearTicks(0, 6e5, 5, c.powers)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
