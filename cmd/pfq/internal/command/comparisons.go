package command

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"productform/internal/render"
	"productform/num"
	"productform/sim"
)

// Comparisons collects the estimates of one answer that have exact values, for one verdict on all
// of them.
type Comparisons struct {
	z       []float64
	leftOut int // estimates that no run observed, or that depend on a few runs, so their z means little
}

// Quantiles returns the requested quantiles of the delays of all jobs or of a class, as fields of
// an answer, with their exact values unless exact is nil. Quantiles that cannot be estimated are
// nil.
func (c *Comparisons) Quantiles(asked []Percentile, levels []float64, r *sim.Result, kind sim.Kind, index int,
	exact []num.Value) (fields render.Record) {
	for k, p := range asked {
		field := render.Field{Key: p.Name}
		if q := r.Quantile(kind, index, levels[k]); q != nil {
			out := render.Quantile{Estimate: q.Value, Low: q.Low, High: q.High, Confidence: q.Confidence, Jobs: q.Jobs}
			if exact != nil {
				e := sim.Estimate{Mean: q.Value, StdError: q.StdError, Runs: q.Runs}
				out.Theory = c.compare(&e, exact[k].Float)
			}
			field.Value = render.Fields(out)
		}
		fields = append(fields, field)
	}
	return fields
}

// Estimated returns an estimate with its exact value, each nil if there is none. If all runs gave
// the same number, the estimate has an interval only if this number is the exact value, with
// width 0: otherwise the interval would exclude the truth.
func (c *Comparisons) Estimated(e *sim.Estimate, exact *num.Value) *render.Estimate {
	if e == nil {
		return nil
	}
	out := &render.Estimate{Mean: e.Mean, Confidence: e.Confidence}
	switch {
	case !isConstant(e):
		out.HalfWidth = &e.HalfWidth
	case exact != nil && isExact(e, exact.Float):
		out.HalfWidth = new(float64)
	}
	if exact != nil {
		out.Theory = c.compare(e, exact.Float)
	}
	return out
}

// Estimates returns measures of one part of a simulated system as fields of an answer, each with
// the exact value of the same name if there is one; that of a measured mean is the mean.
func (c *Comparisons) Estimates(r *sim.Result, kind sim.Kind, index int, exact render.Record,
	names ...string) (fields render.Record) {
	for _, name := range names {
		of := name
		if measured, ok := strings.CutPrefix(name, "measured_"); ok {
			of = "mean_" + measured
		}
		fields = fields.Set(name, c.Estimated(r.Estimate(kind, index, name), ExactValue(exact.Get(of))), "")
	}
	return fields
}

// ExactValue returns a number of an answer, nil if it does not exist.
func ExactValue(v any) *num.Value {
	if n, ok := v.(render.Number); ok {
		v = n.Float
	}
	if v == nil {
		return nil
	}
	x, _ := v.(float64) // 0 beyond the range of float64
	return &num.Value{Float: x}
}

// constantTol is the relative rounding error of a constant that is summed over a run.
const constantTol = 1e-9

// isConstant reports whether all runs gave the same number, up to rounding.
func isConstant(e *sim.Estimate) bool { return e.StdError <= constantTol*math.Abs(e.Mean) }

// isExact reports whether all runs gave the exact value, up to rounding.
func isExact(e *sim.Estimate, exact float64) bool {
	return isConstant(e) && math.Abs(e.Mean-exact) <= constantTol*math.Abs(exact)
}

// compare returns an exact value with the z of the estimate, and counts the comparison.
func (c *Comparisons) compare(e *sim.Estimate, exact float64) *render.Theory {
	out := &render.Theory{Exact: exact}
	if !isConstant(e) {
		z := e.Z(exact)
		out.Z = &z
	}
	switch {
	case isExact(e, exact):
	case out.Z == nil || e.Skewed:
		c.leftOut++
	default:
		c.z = append(c.z, *out.Z)
	}
	return out
}

// A Joint is the verdict on all comparisons of an answer with exact values.
type Joint struct {
	Comparisons int      `json:"comparisons"`
	LeftOut     int      `json:"left_out"`  // estimates with exact values, but of events too rare or skewed to compare
	LargestZ    *float64 `json:"largest_z"` // z with the largest absolute value; nil, like PValue, without comparisons
	PValue      *float64 `json:"p_value"`   // upper bound on the probability of a |z| this large by chance
}

// Joint returns the verdict, nil if no estimate has an exact value.
func (c *Comparisons) Joint() *Joint {
	if len(c.z)+c.leftOut == 0 {
		return nil
	}
	j := &Joint{Comparisons: len(c.z), LeftOut: c.leftOut}
	if len(c.z) > 0 {
		largest := slices.MaxFunc(c.z, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
		p := sim.JointP(c.z)
		j.LargestZ, j.PValue = &largest, &p
	}
	return j
}

// Below these p-values the text calls an answer doubtful or inconsistent with theory.
const doubtfulP, contradictoryP = 0.01, 1e-6

// uselessP is the p-value above which the text omits it.
const uselessP = 0.5

// Text writes the verdict in one line, or nothing for nil.
func (j *Joint) Text(t *render.Text) {
	switch {
	case j == nil:
		return
	case j.Comparisons == 0:
		t.Line("no comparison with exact values: all estimates that have one are too rare or skewed")
		return
	}
	leftOut := ""
	if j.LeftOut > 0 {
		leftOut = fmt.Sprintf(" (%d omitted: too rare or skewed)", j.LeftOut)
	}
	verdict := "consistent with theory"
	switch {
	case *j.PValue < contradictoryP:
		verdict = "not consistent with theory, or the runs are too short"
	case *j.PValue < doubtfulP:
		verdict = "doubtful; repeat with another seed or longer runs"
	}
	p := ""
	if *j.PValue <= uselessP {
		p = fmt.Sprintf(" (p <= %.2g for the whole answer)", *j.PValue)
	}
	t.Line("%s with exact values%s; largest |z| %.1f%s: %s",
		render.Counted(j.Comparisons, "comparison"), leftOut, math.Abs(*j.LargestZ), p, verdict)
}
