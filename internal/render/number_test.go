package render

import (
	"math"
	"math/big"
	"testing"
)

// Decimals are rounded to digits, even with exponents that would take long in binary.
func TestRoundText(t *testing.T) {
	for text, want := range map[string]string{
		"1.23456789e-30":         "1.2346e-30",
		"12.3456789":             "12.346",
		"4.59687197e-217031":     "4.5969e-217031",
		"-4.59687197e+200000000": "-4.5969e+200000000",
		"9.99999e-34108787":      "1e-34108786",
		"-9.99999e+5000":         "-1e+5001",
		"2e-5000":                "2e-5000",
	} {
		if got, ok := roundText(text, 5); !ok || got != want {
			t.Errorf("%s: %q, %v, want %s", text, got, ok, want)
		}
	}
}

// Numbers with exponents far from 0 have the digits of big.Float.
func TestDecimalOfFarNumbers(t *testing.T) {
	for _, exponent := range []int{-40_000, -16_385, -16_000, 16_000, 16_385, 40_000} {
		for _, f := range []float64{1, -1.25, 0x1.23456789abcdep0, math.Pi} {
			x := new(big.Float).SetMantExp(big.NewFloat(f), exponent)
			if got, want := decimal(x), x.Text('g', 17); got != want {
				t.Errorf("%v 2^%d = %s, want %s", f, exponent, got, want)
			}
		}
	}
}
