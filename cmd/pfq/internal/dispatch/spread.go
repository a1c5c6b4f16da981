package dispatch

import (
	"math/big"
	"slices"

	"productform/dispatch"
	"productform/internal/render"
)

// spread returns the mean of a spread, its percentiles and its maximum as fields of an answer, all nil for an
// empty spread. It has the values of so many jobs, 0 for a job that the spread leaves out.
func (f *dispatchFlags) spread(s dispatch.Spread, jobs int, value func(job int) float64) render.Record {
	fields := render.Record{{Key: "mean"}}
	var levels []*big.Rat
	for _, p := range f.percentiles {
		fields, levels = append(fields, render.Field{Key: p.Name}), append(levels, p.Level)
	}
	fields = append(fields, render.Field{Key: "max"})
	if s.Count == 0 {
		return fields
	}
	values := make([]float64, jobs)
	for k := range values {
		values[k] = value(k)
	}
	slices.Sort(values)
	quantiles, err := dispatch.Quantiles(values[jobs-s.Count:], levels)
	if err != nil {
		panic(err) // there are values, and flags have levels in (0, 1) only
	}
	for k, v := range slices.Concat([]float64{s.Mean}, quantiles, []float64{s.Max}) {
		fields[k].Value = v
	}
	return fields
}

// noMeasures returns measures that do not exist, for their names and units.
func (f *dispatchFlags) noMeasures(ofBaselines bool) (none measures) {
	empty := f.spread(dispatch.Spread{}, 0, nil)
	none.dispatchMeasures = &dispatchMeasures{Delay: empty, Slowdown: empty}
	if ofBaselines {
		none.baselineMeasures = &baselineMeasures{Waiting: empty, BoundedSlowdown: empty}
	}
	return none
}
