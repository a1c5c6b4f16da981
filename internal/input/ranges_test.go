package input_test

import (
	"math"
	"testing"

	"productform/internal/input"
)

// Each range contains its ends and rejects the adjacent numbers, with an error that states the
// range.
func TestRangeEnds(t *testing.T) {
	beyond := math.Nextafter(1e50, math.Inf(1))
	for _, c := range []struct {
		of      input.Range
		in, out []float64
		want    string
	}{
		{input.Time, []float64{0, 5e-324, 1, 1e50}, []float64{-5e-324, beyond}, "a number in [0, 1e50]"},
		{input.Work, []float64{0, 1e-50, 1e50}, []float64{-1, math.Nextafter(1e-50, 0), beyond},
			"a number of seconds in [1e-50, 1e50], or 0"},
		{input.Speed, []float64{1e-50, 1e50}, []float64{0, math.Nextafter(1e-50, 0), beyond},
			"a number in [1e-50, 1e50]"},
		{input.Moment, []float64{0, 1e50}, []float64{-1, beyond}, "a time in [0, 1e50]"},
		{input.Span, []float64{0, 1e50}, []float64{-1, beyond}, "a number of seconds in [0, 1e50]"},
		{input.Limit, []float64{0, 5e-324, 1e50}, []float64{-5e-324, beyond},
			"a number of seconds in (0, 1e50], or 0 for none"},
		{input.Work.ZeroFor("never"), []float64{0}, []float64{-1},
			"a number of seconds in [1e-50, 1e50], or 0 for never"},
		{input.Due, []float64{0, 1e50}, []float64{-1, beyond}, "a time in (0, 1e50], or 0 for none"},
	} {
		for _, v := range c.in {
			if err := c.of.Check("x", v); err != nil {
				t.Error(err)
			}
		}
		for _, v := range append(c.out, math.NaN(), math.Inf(1), math.Inf(-1)) {
			if err := c.of.Check("x", v); err == nil {
				t.Errorf("%v is %s", v, c.want)
			}
		}
		if err := c.of.Check("x", -2); err == nil || err.Error() != "x = -2: want "+c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}
