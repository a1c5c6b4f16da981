package command

import (
	"math"

	"productform/internal/render"
	"productform/num"
	"productform/sim"
)

// Engines are the kinds of arithmetic that --engine may name.
var Engines = []string{string(num.Auto), string(num.Float), string(num.Enclose), string(num.Exact)}

// ProofOf returns what an engine proves of each number.
func ProofOf(e num.Engine) render.Proof {
	return map[num.Engine]render.Proof{num.Exact: render.Fraction, num.Enclose: render.Bounds}[e]
}

// GivenProof returns the same of numbers that are given, not computed.
func GivenProof(e num.Engine) render.Proof {
	if e == num.Exact {
		return render.Fraction
	}
	return render.Unproved
}

// Digits returns the decimal digits that a tolerance asks for.
func Digits(tol float64) int { return 1 + int(math.Ceil(-math.Log10(tol))) }

// Quantiles returns the quantiles of the delays of all jobs or of a class that were asked for, as fields of an answer, each beside its exact
// value if exact is not nil. One that could not be estimated is nil.
func Quantiles(asked []Percentile, levels []float64, r *sim.Result, kind sim.Kind, index int, exact []num.Value) (fields render.Record) {
	for k, p := range asked {
		field := render.Field{Key: p.Name}
		if q := r.Quantile(kind, index, levels[k]); q != nil {
			out := render.Quantile{Estimate: q.Value, Low: q.Low, High: q.High, Confidence: q.Confidence, Jobs: q.Jobs}
			if exact != nil {
				out.Theory = &render.Theory{Exact: exact[k].Float}
				if q.StdError != 0 {
					z := q.Z(exact[k].Float)
					out.Z = &z
				}
			}
			field.Value = render.Fields(out)
		}
		fields = append(fields, field)
	}
	return fields
}

// Estimated returns an estimate beside its exact value, each nil if there is none. Where all runs gave the same, as they do for what none has seen, it has
// no interval, unless that is the exact value: one of width 0 would leave out the truth.
func Estimated(e *sim.Estimate, exact *num.Value) *render.Estimate {
	if e == nil {
		return nil
	}
	out := &render.Estimate{Mean: e.Mean, Confidence: e.Confidence}
	if e.StdError != 0 || exact != nil && e.Mean == exact.Float {
		out.HalfWidth = &e.HalfWidth
	}
	if exact != nil {
		out.Theory = &render.Theory{Exact: exact.Float}
		if e.StdError != 0 {
			z := e.Z(exact.Float)
			out.Z = &z
		}
	}
	return out
}
