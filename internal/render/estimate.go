package render

import (
	"fmt"
	"math"
	"slices"
)

// An Estimate is an estimate of a simulation, with the exact value if known.
type Estimate struct {
	Mean float64 `json:"mean"`
	// nil if all runs gave the same value, which says nothing about its error
	HalfWidth  *float64 `json:"half_width"`
	Confidence float64  `json:"confidence"`
	*Theory
}

// A Quantile is an estimated quantile with its interval, and the exact value if known.
type Quantile struct {
	Estimate   float64 `json:"estimate"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	Jobs       float64 `json:"jobs"` // used for the estimate
	*Theory
}

// A Theory is the exact value of an estimated quantity, and the number of standard errors by which
// the estimate exceeds it: nil if all runs gave the same value, as they do for an event that never
// occurred.
type Theory struct {
	Exact float64  `json:"exact"`
	Z     *float64 `json:"z"`
}

func isEstimate(r Record) bool {
	return slices.ContainsFunc(r, func(f Field) bool { return f.Key == "half_width" })
}

func isQuantile(r Record) bool { return r.field("estimate").Value != nil }

// estimateCells returns a human-readable value, its exact value and z.
func (t *Text) estimateCells(v any) []string {
	e, ok := v.(Record)
	if !ok {
		return []string{t.Cell(v), "-", "-"}
	}
	cells := []string{"", "-", "-"}
	if isQuantile(e) {
		cells[0] = Between(e.Get("estimate").(float64), e.Get("low").(float64), e.Get("high").(float64))
	} else {
		cells[0] = estimateCell(e.Get("mean").(float64), e.Get("half_width"))
	}
	if exact, ok := e.Get("exact").(float64); ok {
		cells[1] = Six(exact)
		if z, ok := e.Get("z").(float64); ok {
			cells[2] = fmt.Sprintf("%+.2f", z)
		}
	}
	return cells
}

// estimateCell returns a human-readable estimate; its half-width is nil if all runs gave the same
// value.
func estimateCell(mean float64, halfWidth any) string {
	h, ok := halfWidth.(float64)
	switch {
	case ok:
		return PlusMinus(mean, h)
	case mean == 0:
		return "none seen"
	}
	return Six(mean) + " in all runs"
}

// PlusMinus returns a human-readable estimate: two digits of the half-width, and the mean to the
// same place.
func PlusMinus(mean, halfWidth float64) string {
	if halfWidth == 0 {
		return Six(mean) + " ± 0"
	}
	places := 1 - int(math.Floor(math.Log10(halfWidth)))
	if places > 9 || halfWidth >= 1e6 || math.Abs(mean) >= 1e9 {
		return fmt.Sprintf("%.6g ± %.2g", mean, halfWidth)
	}
	places = max(places, 0)
	return fmt.Sprintf("%.*f ± %.*f", places, mean, places, halfWidth)
}

// Between returns a human-readable estimate with its interval, to two digits of half the width,
// with the ends rounded away from the estimate.
func Between(value, low, high float64) string {
	places := 10
	if half := (high - low) / 2; half > 0 {
		places = 1 - int(math.Floor(math.Log10(half)))
	}
	if places > 9 || high >= 1e9 || high-low >= 2e6 {
		return fmt.Sprintf("%.6g [%.6g, %.6g]", value, low, high)
	}
	places = max(places, 0)
	unit := math.Pow(10, float64(places))
	return fmt.Sprintf("%.*f [%.*f, %.*f]",
		places, value, places, math.Floor(low*unit)/unit, places, math.Ceil(high*unit)/unit)
}
