package num

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseRat(t *testing.T) {
	for s, want := range map[string]*big.Rat{
		"0": big.NewRat(0, 1), "-0": big.NewRat(0, 1), "+7": big.NewRat(7, 1), "010": big.NewRat(10, 1),
		"0.1": big.NewRat(1, 10), ".5": big.NewRat(1, 2), "5.": big.NewRat(5, 1), "-1.25": big.NewRat(-5, 4),
		"1e-3": big.NewRat(1, 1000), "2.5E+4": big.NewRat(25000, 1), ".5e1": big.NewRat(5, 1),
		"1e003": big.NewRat(1000, 1),
		"4/5":   big.NewRat(4, 5), "-6/4": big.NewRat(-3, 2), "010/08": big.NewRat(5, 4), "0.1/3": big.NewRat(1, 30),
		"1/0.25": big.NewRat(4, 1), "1e2/1e-1": big.NewRat(1000, 1), "0/9": big.NewRat(0, 1),
	} {
		got, err := ParseRat(s)
		if err != nil || got.Cmp(want) != 0 {
			t.Errorf("ParseRat(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	if got := Rat("1e4096"); len(got.Num().String()) != 4097 {
		t.Errorf("1e4096 has %d digits", len(got.Num().String()))
	}
	longest := strings.Repeat("9", 10_000)
	if got := Rat(longest); got.Num().String() != longest {
		t.Error("10,000 digits are not read exactly")
	}
}

func TestParseRatRejects(t *testing.T) {
	const (
		malformed   = `malformed number; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5"`
		exponent    = "decimal exponent out of range; want one from -4096 to 4096"
		denominator = "zero denominator; want a nonzero one"
	)
	character := func(c, position string) string {
		return "character '" + c + "' at position " + position +
			`; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5"`
	}
	for s, want := range map[string]string{
		"":    `empty; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5"`,
		"NaN": character("N", "1"), "Inf": character("I", "1"),
		"-inf": character("i", "2"), "+Infinity": character("I", "2"),
		"0x1f": character("x", "2"), "0b1": character("b", "2"), "0o7": character("o", "2"),
		"1_000": character("_", "2"),
		"1p3":   character("p", "2"), " 1": character(" ", "1"), "1 ": character(" ", "2"),
		"1 / 2": character(" ", "2"),
		"1,5":   character(",", "2"), "١": character("١", "1"), "1\x00": character(`\x00`, "2"),
		"+": malformed, "-": malformed, ".": malformed, "/": malformed, "e": malformed, "e5": malformed,
		"1e":  malformed,
		"1e+": malformed, "1e1.5": malformed, "1e2e3": malformed, "1.2.3": malformed,
		"--1": malformed, "1-2": malformed,
		"1/": malformed, "/2": malformed, "1/2/3": malformed, "1/-2": malformed, "1/+2": malformed,
		"1/0": denominator, "0/0": denominator, "1/0.00e7": denominator,
		"1e4097": exponent, "1e-4097": exponent, "1e999999999": exponent, "1e-99999999999999999999": exponent,
		"0e5000": exponent, "1/1e5000": exponent, "1e4000/1e-4000": exponent, "1e-2049/1e2048": exponent,
		strings.Repeat("1", 10_001): "10001 characters long; want at most 10000",
	} {
		got, err := ParseRat(s)
		if err == nil {
			t.Errorf("ParseRat(%q) = %v; want an error", s, got)
		} else if d := cmp.Diff(want, err.Error()); d != "" {
			t.Errorf("ParseRat(%q): %s", s, d)
		}
	}
}

func TestRatPanics(t *testing.T) {
	defer func() {
		if want := `num.Rat("1/0"): zero denominator; want a nonzero one`; recover() != want {
			t.Errorf("Rat does not panic with %q", want)
		}
	}()
	Rat("1/0")
}

// FuzzParseRat compares with big.Rat.SetString, which reads a fraction with a leading zero as
// octal.
func FuzzParseRat(f *testing.F) {
	for _, s := range []string{
		"0", "-1.5", "4/5", "1e-3", "2.5E+4", "0.1/3", "010", "1e4096", "1e999999999", "0x1p3", "1_0",
		"NaN", ".5", "5.", "1/1e4",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseRat(s)
		if err != nil {
			return
		}
		numerator, denominator, fraction := strings.Cut(strings.TrimLeft(s, "+-"), "/")
		if fraction && (numerator[0] == '0' || denominator[0] == '0') {
			return
		}
		if want, ok := new(big.Rat).SetString(s); ok && got.Cmp(want) != 0 {
			t.Errorf("ParseRat(%q) = %v, SetString gives %v", s, got, want)
		} else if !ok && !fraction {
			t.Errorf("ParseRat(%q) = %v, SetString rejects it", s, got)
		}
	})
}

// The shortest decimal of a double rounds back to the double.
func TestFloat64RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "x")
		x, err := Decimal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Float64(x)
		if tiny := math.Abs(want) < 0x1p-1022 && want != 0; tiny {
			if back, exact := x.Float64(); back != want || ok != exact {
				t.Fatalf("Float64(%v) = %v, %v", want, got, ok)
			}
		} else if got != want || !ok {
			t.Fatalf("Float64(%v) = %v, %v", want, got, ok)
		}
	})
}

func TestFloat64Limits(t *testing.T) {
	const most = "179769313486231570814527423731704356798070567525844996598917476803157260780028538760589558" +
		"632766878171540458953514382464234321326889464182768467546703537516986049910576551282076245" +
		"490090389328944075868508455133942304583236903222948165808559332123347764797926204144723168" +
		"738177180919299881250404026184124858368"
	for s, want := range map[string]struct {
		f  float64
		ok bool
	}{
		"0": {0, true}, most: {math.MaxFloat64, true},
		"-" + most: {-math.MaxFloat64, true}, most + ".5": {math.MaxFloat64, true},
		"1.797693134862316e308": {0, false}, "-1e400": {0, false}, "1e-307": {1e-307, true},
		"1e-310": {0, false}, "-1e-400": {0, false},
	} {
		if f, ok := Float64(Rat(s)); f != want.f || ok != want.ok {
			t.Errorf("Float64(%s) = %v, %v; want %v", s, f, ok, want)
		}
	}
	tiny := new(big.Rat).SetFloat64(math.SmallestNonzeroFloat64) // exact, so no accuracy is lost
	if f, ok := Float64(tiny); f != math.SmallestNonzeroFloat64 || !ok {
		t.Errorf("Float64(2^-1074) = %v, %v", f, ok)
	}
	lost := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 2000))
	if f, ok := Float64(lost); f != 0 || ok {
		t.Errorf("Float64(2^-2000) = %v, %v; want 0, false", f, ok)
	}
}
