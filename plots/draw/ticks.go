package draw

import (
	"math"
	"strconv"
	"strings"

	"productform/plots"
)

// A tick is a mark on an axis. A minor tick has no label.
type tick struct {
	value float64
	label string
}

// forgiven is the fraction of a step, or of a value, by which rounding may move the end of an axis;
// it is invisible.
const forgiven = 1e-9

// ticks returns the ticks in [lo, hi], about count of them labelled, in increasing order; as powers
// of ten if requested or needed.
func ticks(scale plots.Scale, lo, hi float64, count int, powers bool) []tick {
	if scale == plots.Log {
		return logTicks(lo, hi, count, powers || needsPowers(lo, hi))
	}
	return linearTicks(lo, hi, count, powers)
}

// needsPowers reports whether the numbers on a logarithmic axis are too small or too large to be
// written out.
func needsPowers(lo, hi float64) bool { return lo < 1e-4 || hi > 1e5 }

// givenTicks returns the ticks at the given values; as powers of ten if requested or needed.
func givenTicks(scale plots.Scale, values []float64, powers bool) []tick {
	var t []tick
	for _, v := range values {
		label := minus(strconv.FormatFloat(v, 'f', -1, 64))
		if scale == plots.Log && (powers || needsPowers(values[0], values[len(values)-1])) {
			label = decimal(v, scientific)
		}
		t = append(t, tick{v, label})
	}
	return t
}

// linearTicks returns the multiples of the smallest round step, 1, 2 or 5 times a power of ten,
// that makes at most max(count, 2) intervals of [lo, hi], or of smaller steps if fewer than two
// would be in the interval. Numbers are written out up to 1e6, or below 1e5 in figures with powers
// of ten.
func linearTicks(lo, hi float64, count int, powers bool) []tick {
	mantissa, exponent := roundStep((hi - lo) / float64(max(count, 2)))
	first := math.Ceil(multiple(lo, mantissa, exponent) - forgiven)
	last := math.Floor(multiple(hi, mantissa, exponent) + forgiven)
	if last <= first {
		return linearTicks(lo, hi, 2*max(count, 2), powers)
	}
	digits := max(0, -exponent)
	if largest := max(math.Abs(lo), math.Abs(hi)); digits > 6 || largest >= 1e6 || powers && largest >= 1e5 {
		digits = scientific
	}
	var t []tick
	for k := first; k <= last; k++ {
		v := scaled(k*mantissa, exponent)
		t = append(t, tick{v, decimal(v, digits)})
	}
	return t
}

// powersOf reports whether the horizontal and the vertical axes of a figure write numbers as powers
// of ten. They do throughout the figure if a logarithmic axis needs them, except on the axes of the
// other direction if these have whole numbers up to 1000, such as workers.
func powersOf(f *plots.Figure) (powers [2]bool) {
	whole := [2]bool{true, true}
	for i := range f.Panels {
		p := &f.Panels[i]
		look := func(direction int, a *plots.Axis, values []float64, count int) {
			if a.Scale != plots.Log {
				return
			}
			lo, hi, ticks := axis(a, values, count, false)
			if a.Ticks != nil {
				lo, hi = a.Ticks[0], a.Ticks[len(a.Ticks)-1]
			}
			powers[direction] = powers[direction] || needsPowers(lo, hi)
			for _, k := range ticks {
				whole[direction] = whole[direction] &&
					(k.label == "" || k.value <= 1000 && k.value == math.Trunc(k.value))
			}
		}
		look(0, &p.X, xValues(p), ticksAcross)
		look(1, &p.Y, p.YValues(), ticksUp)
	}
	return [2]bool{powers[0] || powers[1] && !whole[0], powers[1] || powers[0] && !whole[1]}
}

// roundStep returns the smallest m 10^e >= width with m = 1, 2 or 5.
func roundStep(width float64) (m float64, e int) {
	e = int(math.Floor(math.Log10(width)))
	for _, m := range []float64{1, 2, 5} {
		if scaled(m, e) >= width*(1-forgiven) {
			return m, e
		}
	}
	return 1, e + 1
}

// scaled returns k 10^e. It is rounded only once if 10^|e| is a float64, that is, up to 10^22.
func scaled(k float64, e int) float64 {
	if e < 0 {
		return k / math.Pow10(-e)
	}
	return k * math.Pow10(e)
}

// multiple returns v / (m 10^e).
func multiple(v, m float64, e int) float64 { return scaled(v, -e) / m }

// logTicks returns ticks at 1, 2 and 5 times powers of ten, and minor ticks at the other digits. On
// less than one decade it adds 3 and 7. It uses only 1 if ticks would be crowded, or if two or more
// are written as powers. If the range covers less than one such interval, it returns linear ticks.
func logTicks(lo, hi float64, count int, powers bool) []tick {
	decades := math.Log10(hi / lo)
	every := labelEvery(lo, hi, count)
	labelled := map[int]bool{1: true}
	if hi < 10*lo && !powers {
		labelled = map[int]bool{1: true, 2: true, 3: true, 5: true, 7: true}
	} else if 3*decades <= 2*float64(max(count, 2)) && !(powers && decades >= 2) {
		labelled = map[int]bool{1: true, 2: true, 5: true}
	}
	minor := max(1, every/5)
	if every < 10 {
		minor = 1
	}
	var t []tick
	labels := 0
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for m := 1; m <= 9; m++ {
			v := scaled(float64(m), e)
			if v < lo*(1-forgiven) || v > hi*(1+forgiven) || every > 1 && (m > 1 || e%minor != 0) {
				continue
			}
			label := ""
			if labelled[m] && e%every == 0 {
				label = decimal(v, max(0, -e))
				if powers {
					label = superscripts(strconv.Itoa(m) + "e" + strconv.Itoa(e)) // correctly rounded
				}
				labels++
			}
			t = append(t, tick{v, label})
		}
	}
	if labels < 2 {
		return linearTicks(lo, hi, count, powers)
	}
	return t
}

// labelEvery returns the number of powers of ten between labels.
func labelEvery(lo, hi float64, count int) int {
	return roundEvery(int(math.Ceil(math.Log10(hi/lo) / float64(max(count, 2)))))
}

// toLabel returns the labelled power of ten below lo if it is less than a tenth of the axis away
// and many powers have no label, otherwise lo.
func toLabel(lo, hi float64, count int) float64 {
	every := labelEvery(lo, hi, count)
	if every == 1 {
		return lo
	}
	p := scaled(1, every*int(math.Floor(math.Log10(lo)/float64(every))))
	if math.Log10(lo/p) > 0.1*math.Log10(hi/lo) || labelEvery(p, hi, count) != every {
		return lo
	}
	return p
}

// roundEvery returns max(n, 1), or above 6 the next multiple of 5.
func roundEvery(n int) int {
	if n <= 6 {
		return max(1, n)
	}
	return (n + 4) / 5 * 5
}

// scientific, in place of a number of digits, requests powers of ten.
const scientific = -1

// decimal writes v with this many digits after the point.
func decimal(v float64, digits int) string {
	if v == 0 {
		v = 0 // avoids -0
	}
	if digits == scientific {
		return superscripts(strconv.FormatFloat(v, 'e', -1, 64))
	}
	return minus(strconv.FormatFloat(v, 'f', digits, 64))
}

// superscripts turns "2e-07" into "2·10⁻⁷", "1e+06" into "10⁶" and "3e+00" into "3".
func superscripts(s string) string {
	m, e, _ := strings.Cut(s, "e")
	digits := strings.TrimPrefix(e, "+")
	sign := ""
	if rest, ok := strings.CutPrefix(digits, "-"); ok {
		digits, sign = rest, "⁻"
	}
	digits = strings.TrimLeft(digits, "0")
	switch digits {
	case "":
		return minus(m)
	case "1":
		if m == "1" && sign == "" {
			return "10"
		}
	}
	raised := strings.NewReplacer(
		"0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹",
	).Replace(digits)
	switch m {
	case "1":
		m = "10"
	case "-1":
		m = "-10"
	default:
		m += "·10"
	}
	return minus(m) + sign + raised
}

// minus writes the sign of a negative number as wide as a plus.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

// span returns the ends of an axis for the values: on a linear axis the ticks around them, starting
// at 0 if they are close to it; on a logarithmic one the digits 1, 2, 5 around them, or a label
// slightly below.
func span(scale plots.Scale, values []float64, count int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	if scale == plots.Log {
		lo, hi = roundDown(lo), roundUp(hi*1.0001)
		return toLabel(lo, hi, count), hi
	}
	if lo >= 0 && lo < hi/2 {
		lo = 0
	}
	if hi-lo <= max(1e-100, forgiven*max(math.Abs(lo), math.Abs(hi))) { // the width is negligible
		lo, hi = lo-math.Max(math.Abs(lo), 1)/2, hi+math.Max(math.Abs(hi), 1)/2
	}
	m, e := roundStep((hi - lo) / float64(max(count, 2)))
	return scaled(math.Floor(multiple(lo, m, e)+forgiven)*m, e), scaled(math.Ceil(multiple(hi, m, e)-forgiven)*m, e)
}

// roundUp returns the smallest m 10^e >= v > 0 with m = 1, 2 or 5, roundDown the largest below v.
func roundUp(v float64) float64 {
	m, e := roundStep(v)
	return scaled(m, e)
}

func roundDown(v float64) float64 {
	e := int(math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2, 1} {
		if x := scaled(m, e); x < v {
			return x
		}
	}
	return scaled(5, e-1)
}
