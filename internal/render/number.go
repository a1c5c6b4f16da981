package render

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"productform/num"
)

// A Proof selects what is written next to a number.
type Proof int

const (
	Unproved Proof = iota
	Fraction       // in a field that ends in _exact
	Bounds         // in fields that end in _low and _high
)

// A Number is a number of an answer. The zero value represents a missing number.
type Number struct {
	Float     any    // float64, or json.Number beyond the range of doubles; nil if it does not exist or has only bounds
	Proof     Proof  // which of the next fields are written, as null if they do not exist
	Exact     string // fraction in lowest terms; "" if it does not exist
	Low, High any    // decimals as strings, or float64; nil if they do not exist
	Double    bool   // computed in float64: text shows six digits, whatever the precision of the bounds
	BelowOne  bool   // known to be below 1: text does not show it as 1
}

// Value returns a number of a result with its proof, with bounds to the given number of digits; nil
// gives a missing number.
func Value(v *num.Value, p Proof, digits int) Number {
	n := Number{Proof: p}
	if v == nil {
		return n
	}
	n.Float = Nearest(*v)
	switch p {
	case Fraction:
		n.Exact, n.BelowOne = v.Exact.RatString(), isBelowOne(v.Exact)
	case Bounds:
		if e, ok := v.Interval(); ok {
			n.Low, n.High = e.Text(digits)
		}
	}
	return n
}

// Nearest returns the float64 of a result, or 17 digits of a number beyond its range, if the engine
// computed it.
func Nearest(v num.Value) any {
	switch {
	case v.Float != 0:
		return v.Float
	case v.Exact != nil:
		return nearestRat(v.Exact)
	case v.Low != nil && v.Low.Sign()*v.High.Sign() > 0:
		return json.Number(decimal(v.Low))
	}
	return v.Float
}

// decimal returns 17 digits of x. The method Text of big.Float is slow for exponents far from 0: it
// computes all digits before or after the point.
func decimal(x *big.Float) string {
	const far = 1 << 14
	if exponent := x.MantExp(nil); exponent < -far || exponent > far {
		long, _ := num.Interval{Low: x, High: x}.Text(40)
		if text, ok := roundText(long, 17); ok {
			return text
		}
	}
	return x.Text('g', 17)
}

func nearestRat(v *big.Rat) any {
	f, _ := v.Float64()
	if math.IsInf(f, 0) || f == 0 && v.Sign() != 0 {
		return json.Number(new(big.Float).SetPrec(64).SetRat(v).Text('g', 17))
	}
	return f
}

// Rat returns a fraction as the nearest float64, or to 17 digits if that is out of range. With the
// proof Fraction, it includes the fraction itself.
func Rat(v *big.Rat, p Proof) Number {
	n := Number{Proof: p}
	if v == nil {
		return n
	}
	n.Exact, n.Float, n.BelowOne = v.RatString(), nearestRat(v), p == Fraction && isBelowOne(v)
	return n
}

func isBelowOne(v *big.Rat) bool { return v.Num().Cmp(v.Denom()) < 0 }

// RatBeside returns a fraction as [Rat] does, and text does not show it as 1 if it is below. If it
// and a boundary round to the same double, the double is the next one on its side of the boundary.
func RatBeside(v, boundary *big.Rat, p Proof) Number {
	n := Rat(v, p)
	if v == nil {
		return n
	}
	n.BelowOne = isBelowOne(v)
	f, _ := v.Float64()
	if at, _ := boundary.Float64(); f == at && !math.IsInf(f, 0) {
		n.Float = math.Nextafter(at, at+float64(v.Cmp(boundary)))
	}
	return n
}

// fields returns the number and its proof.
func (n Number) fields(key string) Record {
	exact := any(n.Exact)
	if n.Exact == "" {
		exact = nil
	}
	switch n.Proof {
	case Fraction:
		return Record{{Key: key, Value: n.Float}, {Key: key + "_exact", Value: exact}}
	case Bounds:
		return Record{
			{Key: key, Value: n.Float}, {Key: key + "_low", Value: n.Low}, {Key: key + "_high", Value: n.High},
		}
	}
	return Record{{Key: key, Value: n.Float}}
}

// text returns the number in human-readable form: as a fraction if it is short, otherwise to the
// requested digits of bounds, or to six digits.
func (n Number) text(t *Text) string {
	if n.Proof == Fraction && n.Exact != "" && t.isShort(n.Exact) {
		if strings.Contains(n.Exact, "/") {
			return n.Exact + " = " + n.decimals(Six(n.Float))
		}
		return n.Exact
	}
	low, isText := n.Low.(string)
	switch {
	case n.Float == nil && n.Low != nil:
		return Six(n.Low) + " to " + Six(n.High)
	case isText && !n.Double && t.Digits > 6:
		if v, ok := roundText(low, t.Digits-1); ok {
			return n.decimals(v)
		}
	}
	return n.decimals(Six(n.Float))
}

// roundText rounds a decimal to a number of digits. An extreme exponent is set aside first, because
// in binary it would take as many digits as its value.
func roundText(decimal string, digits int) (string, bool) {
	head, tail, _ := strings.Cut(decimal, "e")
	exponent, err := strconv.Atoi(tail)
	far := err == nil && (exponent < -1000 || exponent > 1000)
	if !far {
		head = decimal
	}
	v, ok := new(big.Float).SetPrec(uint(64 + 4*digits)).SetString(head)
	if !ok {
		return "", false
	}
	text := v.Text('g', digits)
	if !far {
		return text, true
	}
	if short, ok := strings.CutSuffix(text, "10"); ok && (short == "" || short == "-") { // 9.99... rounded up
		text, exponent = short+"1", exponent+1
	}
	return fmt.Sprintf("%se%+d", text, exponent), true
}

// decimals formats a number below 1 that would read as 1: with more digits, or as "<1".
func (n Number) decimals(text string) string {
	f, ok := n.Float.(float64)
	if !ok || text != "1" || !n.BelowOne {
		return text
	}
	for digits := 7; digits <= 17 && f < 1; digits++ {
		if text := strconv.FormatFloat(f, 'g', digits, 64); text != "1" {
			return text
		}
	}
	return "<1"
}

// Six formats a value with six digits, or as "-" if it does not exist.
func Six(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case float64:
		return fmt.Sprintf("%.6g", v)
	case json.Number:
		if text, ok := roundText(string(v), 6); ok {
			return text
		}
		return string(v)
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	}
	return fmt.Sprint(v)
}

// SixRat returns a fraction to six digits.
func SixRat(v *big.Rat) string {
	return new(big.Float).SetPrec(128).SetRat(v).Text('g', 6)
}

// SixBeside returns a fraction to six digits. If that reads like the boundary, it returns the
// distance from it instead: "1 + 3e-23".
func SixBeside(v, boundary *big.Rat) string {
	short := SixRat(v)
	if v.Cmp(boundary) == 0 || short != SixRat(boundary) {
		return short
	}
	distance := new(big.Rat).Sub(v, boundary)
	sign := map[int]string{1: " + ", -1: " - "}[distance.Sign()]
	return short + sign + SixRat(distance.Abs(distance))
}

// SixDown returns a fraction > 0 rounded down to six digits, SixUp rounded up.
func SixDown(v *big.Rat) string { return SixRat(sixDigits(v, false)) }

// SixUp returns a fraction > 0 rounded up to six digits.
func SixUp(v *big.Rat) string { return SixRat(sixDigits(v, true)) }

// sixDigits returns a fraction of at most six digits on one side of v > 0.
func sixDigits(v *big.Rat, up bool) *big.Rat {
	_, after, _ := strings.Cut(new(big.Float).SetPrec(256).SetRat(v).Text('e', 20), "e")
	exponent, err := strconv.Atoi(after)
	if err != nil {
		return v // not a number
	}
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent-5, 5-exponent))), nil))
	if exponent < 5 {
		unit.Inv(unit)
	}
	quotient := new(big.Rat).Quo(v, unit)
	n, rest := new(big.Int).QuoRem(quotient.Num(), quotient.Denom(), new(big.Int))
	if up && rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return unit.Mul(unit, new(big.Rat).SetInt(n))
}

// OneDigitUp returns x rounded up to one decimal digit.
func OneDigitUp(x float64) string {
	_, high := num.Interval{Low: big.NewFloat(x), High: big.NewFloat(x)}.Text(1)
	return high
}
