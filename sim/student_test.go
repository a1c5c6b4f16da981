package sim

import (
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// Quantiles and tails have the digits of an independent implementation.
func TestStudentMatchesDistuv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nu := float64(rapid.IntRange(1, 1000).Draw(t, "nu"))
		p := rapid.Float64Range(1e-9, 1-1e-9).Draw(t, "p")
		x := rapid.Float64Range(1e-3, 50).Draw(t, "x")
		student := distuv.StudentsT{Sigma: 1, Nu: nu}
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"quantile", studentQuantile(p, nu), student.Quantile(p)},
			{"lower tail", studentLowerTail(x, nu), student.CDF(-x)},
			{"normal quantile", normalQuantile(p), distuv.UnitNormal.Quantile(p)},
			{"normal upper tail", normalUpperTail(x), distuv.UnitNormal.CDF(-x)},
		} {
			if c.got != c.want {
				t.Fatalf("%s(%v, %v, %v) = %v, want %v", c.what, p, x, nu, c.got, c.want)
			}
		}
	})
}
