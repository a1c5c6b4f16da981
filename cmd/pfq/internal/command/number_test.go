package command

import (
	"math"
	"strings"
	"testing"

	"productform/internal/render"
	"productform/num"
	"productform/sim"
)

// One verdict stands for all comparisons of an answer; constants are not compared, and rare events are counted only.
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
	if got, want := text(), "no comparison with exact values: all estimates that have one are too rare or skewed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, step := range []struct {
		z    float64
		p    float64
		want string
	}{
		{-1.96, 0.05, "1 comparison | 2.0 (p = 0.05 | consistent with theory"},
		{1.5, 0.1, "2 comparisons | 2.0 (p = 0.1 | consistent with theory"},
		{3.5, 0.0014, "3 comparisons | 3.5 (p = 0.0014 | doubtful; repeat with another seed or longer runs"},
		{-10, 6e-23, "4 comparisons | 10.0 (p = 6.1e-23 | not consistent with theory, or the runs are too short"},
	} {
		c.Estimated(normal(step.z), exact(0))
		j := c.Joint()
		if math.Abs(math.Log(*j.PValue/step.p)) > 0.03 || math.Abs(*j.LargestZ) < math.Abs(step.z)-0.01 {
			t.Errorf("p = %v, largest z %v, want %v, %v", *j.PValue, *j.LargestZ, step.p, step.z)
		}
		parts := strings.Split(step.want, " | ")
		want := parts[0] + " with exact values (2 left out: too rare or skewed); largest |z| " + parts[1] + " for the whole answer): " + parts[2]
		if got := text(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
