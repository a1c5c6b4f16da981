package main

import (
	"fmt"
	"slices"

	"productform/internal/render"
)

// mostSamples is the maximum number of samples. All are kept until the last one is done.
const mostSamples = 1000

var samplesWanted = fmt.Sprintf("an integer in 2..%d", mostSamples)

// sampled returns the answer on all policies over samples. Each sample has its own answer.
func sampled(all []*dispatchAnswer) render.Answer {
	f := all[0].flags
	rows := make([][]render.Record, len(f.Policies)) // values under the policy, one per sample
	for _, a := range all {
		for p, r := range a.runs {
			rows[p] = append(rows[p], a.replayed(r))
		}
	}
	fields := append(all[0].noMeasures(all[0].finishesBaseline()), render.Field{Key: "offered_load", Unit: "-"})
	measures := measuresOf(fields, rows)
	answers := make([]render.Record, len(rows))
	for p, of := range rows {
		answers[p] = slices.Concat(
			of[0].Pick("policy", "tasks_together").Set("samples", len(of), ""), of[0].Pick("job_count"),
			summaries(fields, "", measures, p),
			of[0].Pick("workers").Set("seed", f.Seed, ""), of[0].Pick("skipped", "dropped_large"))
	}
	return render.Answer{
		JSON:  render.Record{{Key: "policies", Value: answers}},
		Lines: []render.Lines{{Of: answers}},
		Text:  func(t *render.Text) { all[0].writeSamples(t, answers, fields) },
	}
}

// A measure is a number that each run has.
type measure struct {
	name, unit string      // name is the name in CSV
	values     [][]float64 // values under the policy, one per sample; nil if the policy has none
}

// measuresOf returns the fields with a unit as measures, with their values in the rows of policies.
func measuresOf(fields render.Record, rows [][]render.Record) (list []measure) {
	for _, f := range fields.Flat() {
		if f.Unit != "" {
			list = append(list, measure{f.Key, f.Unit, make([][]float64, len(rows))})
		}
	}
	for p, of := range rows {
		for _, row := range of {
			flat := row.Flat()
			for i := range list {
				if v, ok := number(flat.Get(list[i].name)); ok {
					list[i].values[p] = append(list[i].values[p], v)
				}
			}
		}
		for i := range list {
			if len(list[i].values[p]) < len(of) { // some runs lack the measure
				list[i].values[p] = nil
			}
		}
	}
	return list
}

// number returns the number that a field holds.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// isCompared reports whether several policies have the measure.
func (m measure) isCompared() bool {
	count := 0
	for _, of := range m.values {
		if of != nil {
			count++
		}
	}
	return count > 1
}

// tieTol is the relative difference up to which values count as equal, since the order of summation
// changes the rounding.
const tieTol = 1e-9

// smallestIn returns the number of samples in which no policy has a smaller value than policy p.
func (m measure) smallestIn(p int) (count int) {
	for k, v := range m.values[p] {
		if !slices.ContainsFunc(m.values, func(of []float64) bool { return of != nil && of[k] < v-tieTol*v }) {
			count++
		}
	}
	return count
}

// mean returns the mean of the values of policy p.
func (m measure) mean(p int) (mean float64) {
	for k, v := range m.values[p] {
		mean += (v - mean) / float64(k+1)
	}
	return mean
}

// summaries returns the fields that are measures, each with its summary under policy p. Names in
// CSV begin with the prefix.
func summaries(fields render.Record, prefix string, measures []measure, p int) (out render.Record) {
	for _, f := range fields {
		at := slices.IndexFunc(measures, func(m measure) bool { return m.name == prefix+f.Key })
		if spread, ok := f.Value.(render.Record); ok {
			f.Value = summaries(spread, f.Key+"_", measures, p)
		} else if at >= 0 {
			f.Value = measures[at].summary(p)
		} else {
			continue
		}
		out = append(out, f)
	}
	return out
}

// summary returns the mean and the extremes of policy p, null if the measure does not exist.
func (m measure) summary(p int) render.Record {
	summary := render.Record{{Key: "mean"}, {Key: "least"}, {Key: "most"}, {Key: "smallest_in"}}
	if v := m.values[p]; v != nil {
		summary[0].Value, summary[1].Value, summary[2].Value = m.mean(p), slices.Min(v), slices.Max(v)
		if m.isCompared() {
			summary[3].Value = m.smallestIn(p)
		}
	}
	return summary
}

// statistic returns fields with the given part of each summary in its place, such as its mean.
func statistic(fields render.Record, part string) render.Record {
	out := slices.Clone(fields)
	for i, f := range fields {
		inner, ok := f.Value.(render.Record)
		isSummary := slices.ContainsFunc(inner, func(g render.Field) bool { return g.Key == "smallest_in" })
		switch {
		case isSummary:
			out[i].Value = inner.Get(part)
		case ok:
			out[i].Value = statistic(inner, part)
		}
		if part == "smallest_in" {
			out[i].Unit = "" // a number of samples
		}
	}
	return out
}
