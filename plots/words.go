package plots

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Decimal writes a number with few decimals.
func Decimal(v *big.Rat) string {
	x, _ := v.Float64()
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Power writes 1000000 as 10⁶ and 400000 as 4·10⁵. Numbers below 10000 are written in full.
func Power(v float64) string {
	if v < 1e4 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return scientific(strconv.FormatFloat(v, 'e', -1, 64))
}

// Significant writes a large number with two digits, such as 3.4·10⁹.
func Significant(v float64) string {
	if v < 1e4 {
		return fmt.Sprintf("%.0f", v)
	}
	return scientific(strconv.FormatFloat(v, 'e', 1, 64))
}

// Short writes a number with three digits, 0.123, 12.3, 1234 or 1.23·10⁻⁷.
func Short(v float64) string {
	switch x := math.Abs(v); {
	case x >= 1000 && x < 1e5:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case x >= 1e-3 && x < 1e5 || x == 0:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	m, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', 2, 64), "e")
	return scientific(strings.TrimSuffix(strings.TrimRight(m, "0"), ".") + "e" + e)
}

// scientific turns "4e+05" into "4·10⁵" and "1e-07" into "10⁻⁷".
func scientific(text string) string {
	m, e, _ := strings.Cut(text, "e")
	sign := ""
	if rest, ok := strings.CutPrefix(e, "-"); ok {
		e, sign = rest, "⁻"
	}
	e = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸",
		"9", "⁹").Replace(strings.TrimLeft(e, "+0"))
	if m == "1" {
		return "10" + sign + e
	}
	return m + "·10" + sign + e
}

// ShortList joins the first words, and states the total if there are more than ten.
func ShortList(words []string, comma string) string {
	const most = 10
	if len(words) > most {
		return strings.Join(words[:most], comma) + fmt.Sprintf("%sand %d more", comma, len(words)-most)
	}
	return strings.Join(words, comma)
}

// List writes numbers, separated by commas.
func List(v []float64) string {
	var words []string
	for _, x := range v {
		words = append(words, fmt.Sprint(x))
	}
	return strings.Join(words, ", ")
}

// Spans writes increasing numbers as ranges of equal steps, "0.2, 0.3, ..., 1 and 1.2, 1.4, ...,
// 2".
func Spans(a []float64) string {
	var words []string
	for from := 0; from < len(a); {
		to := from + 1
		for to+1 < len(a) && math.Abs(a[to+1]-2*a[to]+a[to-1]) < 1e-9 {
			to++
		}
		if to-from < 3 { // too few for dots
			words = append(words, fmt.Sprint(a[from]))
			from++
			continue
		}
		words = append(words, fmt.Sprintf("%g, %g, ..., %g", a[from], a[from+1], a[to]))
		from = to + 1
	}
	return strings.Join(words, " and ")
}

// Decimals writes numbers with few decimals.
func Decimals(v []*big.Rat) string {
	var words []string
	for _, x := range v {
		words = append(words, Decimal(x))
	}
	return strings.Join(words, ", ")
}

// LogName is the log whose sizes are shown.
const LogName = "SDSC-Par-1996"

// LogWords names the log and acknowledges its contributors.
const LogWords = "The log is SDSC-Par-1996 of the Parallel Workloads Archive (D. Feitelson, D. Tsafrir and " +
	"D. Krakov, J. Parallel and Distributed Computing 74(10), 2014), version 3.1, cleaned: " +
	"the Intel Paragon of 400 processors of the San Diego Supercomputer Center, 27 December 1995 to 31 December " +
	"1996; thanks to Reagan Moore and Allen Downey, who gave it to the archive."
