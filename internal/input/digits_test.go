package input_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
)

// Texts of the characters of numbers are read as package big reads them, unless they have a sign,
// are not finite, or are not whole numbers up to 2^53 for Digits.
func TestDigitsMatchBig(t *testing.T) {
	check := func(fail func(string, ...any), text string) {
		exact, isNumber := new(big.Rat).SetString(text)
		isNumber = isNumber && text[0] != '-' && text[0] != '+'
		n, ok := input.Digits([]byte(text))
		whole, isInteger := new(big.Int).SetString(text, 10)
		isInteger = isInteger && isNumber && whole.Cmp(big.NewInt(1<<53)) <= 0
		if ok != isInteger || ok && n != whole.Int64() {
			fail("%q is the integer %v, %v", text, n, ok)
		}
		v, ok := input.Decimal([]byte(text))
		want := math.Inf(1)
		if isNumber {
			want, _ = exact.Float64()
		}
		if ok != !math.IsInf(want, 0) || ok && v != want {
			fail("%q is %v, %v, want %v, %v", text, v, ok, want, isNumber)
		}
	}
	for _, text := range []string{
		"", "9007199254740992", "9007199254740993", "00", ".5", "5.", ".", "1e308", "2e308", "-0", "+1", "1e+5", "1e",
	} {
		check(t.Errorf, text)
	}
	rapid.Check(t, func(t *rapid.T) { check(t.Fatalf, rapid.StringMatching(`[0-9.e+-]{1,20}`).Draw(t, "text")) })
	rapid.Check(t, func(t *rapid.T) {
		check(t.Fatalf, rapid.StringMatching(`[0-9]{0,17}(\.[0-9]{0,17})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "text"))
	})
	for _, text := range []string{"NaN", "inf", "Infinity", "0x1p4", "1_000", "½", " 1", "1 "} {
		if v, ok := input.Decimal([]byte(text)); ok {
			t.Errorf("%q is %v", text, v)
		}
	}
}
