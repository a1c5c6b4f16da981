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

// Estimated returns an estimate beside its exact value, each nil if there is none.
func Estimated(e *sim.Estimate, exact *num.Value) *render.Estimate {
	if e == nil {
		return nil
	}
	out := &render.Estimate{Mean: e.Mean, HalfWidth: e.HalfWidth, Confidence: e.Confidence}
	if exact != nil {
		out.Theory = &render.Theory{Exact: exact.Float}
		if e.StdError != 0 {
			z := e.Z(exact.Float)
			out.Z = &z
		}
	}
	return out
}
