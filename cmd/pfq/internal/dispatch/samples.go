package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"productform/internal/render"
)

// Samples that can be asked for: each is kept until all are done.
const mostSamples = 1000

var samplesWanted = fmt.Sprintf("an integer in 2..%d", mostSamples)

// sampled returns the answer on all policies over samples, each with its answer.
func sampled(all []*dispatchAnswer) render.Answer {
	f := all[0].flags
	rows := make([][]replayed, len(f.Policies)) // at the policy, one a sample
	for _, a := range all {
		for p, r := range a.runs {
			rows[p] = append(rows[p], a.replayed(r))
		}
	}
	hasBaseline := slices.ContainsFunc(rows, func(of []replayed) bool { return of[0].baselineMeasures != nil })
	fields := append(render.Fields(f.noMeasures(hasBaseline)), render.Field{Key: "offered_load", Unit: "-"})
	measures := measuresOf(fields, rows)
	answers := make([]render.Record, len(rows))
	for p, of := range rows {
		first := of[0]
		answers[p] = slices.Concat(render.Record{{Key: "policy", Value: first.Policy}, {Key: "samples", Value: len(of)}, {Key: "job_count", Value: first.Jobs}},
			summaries(fields, "", measures, p),
			render.Record{{Key: "workers", Value: first.Workers}, {Key: "seed", Value: f.Seed}, {Key: "skipped", Value: first.Skipped}})
	}
	return render.Answer{
		JSON:  render.Record{{Key: "policies", Value: answers}},
		Lines: []render.Lines{{Of: answers}},
		Text:  func(t *render.Text) { all[0].writeSamples(t, measures) },
	}
}

// A measure is a number that runs have.
type measure struct {
	name, unit string      // the name is that in CSV
	values     [][]float64 // at the policy, one a sample; nil where the policy has none
}

// measuresOf returns the fields that have a unit as measures, with their values in the rows of the policies.
func measuresOf(fields render.Record, rows [][]replayed) (list []measure) {
	for _, f := range fields.Flat() {
		if f.Unit != "" {
			list = append(list, measure{f.Key, f.Unit, make([][]float64, len(rows))})
		}
	}
	for p, of := range rows {
		for _, row := range of {
			flat := render.Fields(row).Flat()
			for i := range list {
				if v, ok := number(flat.Get(list[i].name)); ok {
					list[i].values[p] = append(list[i].values[p], v)
				}
			}
		}
		for i := range list {
			if len(list[i].values[p]) < len(of) { // it does not exist in some
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

// tieTol is the relative difference up to which values count as equal: that of sums in another order.
const tieTol = 1e-9

// smallestIn returns in how many samples no other policy has a smaller value than policy p.
func (m measure) smallestIn(p int) (count int) {
	for k, v := range m.values[p] {
		if !slices.ContainsFunc(m.values, func(of []float64) bool { return of != nil && of[k] < v-tieTol*v }) {
			count++
		}
	}
	return count
}

// mean returns that of the values of policy p.
func (m measure) mean(p int) (mean float64) {
	for k, v := range m.values[p] {
		mean += (v - mean) / float64(k+1)
	}
	return mean
}

// summaries returns the fields that are measures, with the summaries of policy p as values. Names in
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

// writeSamples writes the answer over samples for people, of which a is the first.
func (a *dispatchAnswer) writeSamples(t *render.Text, measures []measure) {
	f := a.flags
	t.Line("%s of %s of %s (seeds %d to %d)", render.Counted(f.samples, "sample"), render.Counted(len(a.List), "job"), a.Name, f.Seed, f.Seed+uint64(f.samples-1))
	a.scaling(t)
	t.Line("%s", f.workersText())
	t.Line("")
	header := []string{"measure", "unit"}
	for _, p := range f.Policies {
		header = append(header, p.String())
	}
	means, smallest := [][]string{header}, [][]string{header}
	for _, m := range measures {
		name := []string{strings.ReplaceAll(m.name, "_", " "), m.unit}
		mean, count := slices.Clone(name), slices.Clone(name)
		for p, v := range m.values {
			if v == nil {
				mean, count = append(mean, render.Six(nil)), append(count, render.Six(nil))
				continue
			}
			mean = append(mean, fmt.Sprintf("%s (%s to %s)", render.Six(m.mean(p)), render.Six(slices.Min(v)), render.Six(slices.Max(v))))
			count = append(count, fmt.Sprint(m.smallestIn(p)))
		}
		means = append(means, mean)
		if m.isCompared() && m.name != "offered_load" {
			smallest = append(smallest, count)
		}
	}
	t.Line("mean over the samples (least to most)")
	t.Columns(means)
	t.Line("")
	if len(f.Policies) > 1 {
		t.Line("in how many of the %d samples no other policy has a smaller value", f.samples)
		t.Columns(smallest)
		t.Line("")
	}
	t.Line("slowdown: %s, %s", slowdownFormula, slowdownLetters)
	a.writeBaselines(t)
	t.Line("")
}
