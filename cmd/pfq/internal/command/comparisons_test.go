package command

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/internal/render"
	"productform/num"
	"productform/sim"
)

// One verdict covers all comparisons of an answer. Constants are not compared; rare events are only
// counted.
func TestJointVerdict(t *testing.T) {
	normal := func(mean float64) *sim.Estimate {
		return &sim.Estimate{Mean: mean, StdError: 1, Runs: 1e6, Confidence: 0.95}
	}
	exact := func(v float64) *num.Value { return &num.Value{Float: v} }
	var c Comparisons
	if c.Estimated(normal(1), nil); c.Joint() != nil {
		t.Errorf("%+v without exact values", c.Joint())
	}
	if e := c.Estimated(&sim.Estimate{Mean: 3, StdError: 1e-16, Runs: 20}, exact(3+1e-14)); e.Z != nil {
		t.Errorf("z = %v of a constant", *e.Z)
	}
	c.Estimated(&sim.Estimate{Mean: 0, Runs: 20}, exact(0))
	if c.Joint() != nil {
		t.Errorf("%+v of constants", c.Joint())
	}
	text := func() string {
		a := render.Answer{Text: c.Joint().Text}
		b, err := a.Format("text")
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
	c.Estimated(&sim.Estimate{Mean: 0, Runs: 20}, exact(1e-9)) // none seen
	skewed := normal(9)
	skewed.Skewed = true
	c.Estimated(skewed, exact(0))
	none := "no comparison with exact values: all estimates that have one are too rare or skewed"
	if got, want := text(), none; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, step := range []struct {
		z    float64
		p    float64
		want string
	}{
		{0.6, 0.549, "1 comparison | 0.6: consistent with theory"}, // a bound without information
		{-1.96, 0.1, "2 comparisons | 2.0 (p <= 0.1 for the whole answer): consistent with theory"},
		{1.5, 0.15, "3 comparisons | 2.0 (p <= 0.15 for the whole answer): consistent with theory"},
		{3.5, 0.00186, "4 comparisons | 3.5 (p <= 0.0019 for the whole answer): " +
			"doubtful; repeat with another seed or longer runs"},
		{-10, 7.62e-23, "5 comparisons | 10.0 (p <= 7.6e-23 for the whole answer): " +
			"not consistent with theory, or the runs are too short"},
	} {
		c.Estimated(normal(step.z), exact(0))
		j := c.Joint()
		if math.Abs(math.Log(*j.PValue/step.p)) > 0.03 || math.Abs(*j.LargestZ) < math.Abs(step.z)-0.01 {
			t.Errorf("p = %v, largest z %v, want %v, %v", *j.PValue, *j.LargestZ, step.p, step.z)
		}
		const between = " with exact values (2 omitted: too rare or skewed); largest |z| "
		want := strings.Replace(step.want, " | ", between, 1)
		if got := text(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// If all runs gave the same number, up to rounding, there is an interval only if that number is the
// exact value.
func TestEstimateOfConstantHasNoInterval(t *testing.T) {
	noise := &sim.Estimate{Mean: 1 - 1e-15, HalfWidth: 4e-15, StdError: 2e-15, Runs: 20, Confidence: 0.95}
	zero := 0.0
	for _, c := range []struct {
		e     *sim.Estimate
		exact *num.Value
		want  *float64
	}{
		{noise, nil, nil},
		{noise, &num.Value{Float: 1}, &zero},
		{noise, &num.Value{Float: 2}, nil},
		{&sim.Estimate{Runs: 20}, nil, nil},
		{&sim.Estimate{Runs: 20}, &num.Value{Float: 0}, &zero},
		{&sim.Estimate{Mean: 1, HalfWidth: 1e-6, StdError: 5e-7, Runs: 20}, &num.Value{Float: 1}, new(1e-6)},
	} {
		var all Comparisons
		if got := all.Estimated(c.e, c.exact); !cmp.Equal(got.HalfWidth, c.want) {
			t.Errorf("%+v with exact value %v: half-width %v, want %v", c.e, c.exact, got.HalfWidth, c.want)
		}
	}
}
