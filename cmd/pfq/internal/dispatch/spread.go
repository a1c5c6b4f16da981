package dispatch

import (
	"math/big"
	"slices"

	"productform/cmd/pfq/internal/command"
	"productform/dispatch"
	"productform/internal/render"
)

// spread returns the mean of what s sums up, the percentiles asked for, or those of s if none are, and the largest, as fields of an answer; all are nil
// if s sums up nothing. The values are those of the records of jobs; a job that s leaves out has 0 there, the least that there is.
func spread[R any](asked []command.Percentile, s dispatch.Spread, records []R, value func(*R) float64) (render.Record, error) {
	names, numbers := []string{"mean", "p50", "p95", "p99", "max"}, []float64{s.Mean, s.P50, s.P95, s.P99, s.Max}
	if asked != nil {
		var levels []*big.Rat
		names = []string{"mean"}
		for _, p := range asked {
			names, levels = append(names, p.Name), append(levels, p.Level)
		}
		names = append(names, "max")
		if s.Count > 0 {
			values := make([]float64, len(records))
			for i := range records {
				values[i] = value(&records[i])
			}
			slices.Sort(values)
			quantiles, err := dispatch.Quantiles(values[len(values)-s.Count:], levels)
			if err != nil {
				return nil, err
			}
			numbers = slices.Concat([]float64{s.Mean}, quantiles, []float64{s.Max})
		}
	}
	fields := make(render.Record, len(names))
	for k, name := range names {
		fields[k].Key = name
		if s.Count > 0 {
			fields[k].Value = numbers[k]
		}
	}
	return fields, nil
}

// noMeasures returns measures that do not exist, for the names of all.
func (f *dispatchFlags) noMeasures() (*dispatchMeasures, *baselineMeasures) {
	none, err := spread[dispatch.Record](f.percentiles, dispatch.Spread{}, nil, nil)
	if err != nil {
		panic(err) // nothing is computed
	}
	return &dispatchMeasures{Delay: none, Slowdown: none}, &baselineMeasures{Waiting: none, BoundedSlowdown: none}
}
