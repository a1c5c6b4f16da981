package command

import (
	"math"

	"productform/internal/render"
	"productform/num"
)

// Digits returns the number of decimal digits that a tolerance requires.
func Digits(tol float64) int { return 1 + int(math.Ceil(-math.Log10(tol))) }

// Trust describes the accuracy of the numbers of an engine, and how text shows them.
func Trust(engine num.Engine, bound float64) (trust, shown string) {
	trust, shown = "within "+render.OneDigitUp(bound)+" of exact (relative)", "to six digits"
	if bound == 0 {
		trust = "exactly"
	}
	if engine == num.Exact {
		shown = "as short fractions and to six digits"
	}
	return trust, shown
}
