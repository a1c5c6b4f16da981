package render

import "testing"

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
