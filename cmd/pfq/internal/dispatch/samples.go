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

// sampled returns what is told of all policies over samples, each of which has its own answer.
func sampled(all []*dispatchAnswer) (render.Answer, error) {
	f := all[0].flags
	rows := make([][]replayed, len(f.Policies)) // at the policy, one a sample
	for _, a := range all {
		for p, r := range a.runs {
			row, err := a.replayed(r)
			if err != nil {
				return render.Answer{}, err
			}
			rows[p] = append(rows[p], row)
		}
	}
	measures := f.measures(rows)
	answers := make([]render.Record, len(rows))
	for p, of := range rows {
		first := of[0]
		answers[p] = slices.Concat(render.Record{{Key: "policy", Value: first.Policy}, {Key: "samples", Value: len(of)}, {Key: "job_count", Value: first.Jobs}},
			summaries(measures, p),
			render.Record{{Key: "workers", Value: first.Workers}, {Key: "seed", Value: f.Seed}, {Key: "skipped", Value: first.Skipped}})
	}
	return render.Answer{
		JSON: struct {
			Policies []render.Record `json:"policies"`
		}{answers},
		Lines: []render.Lines{{Of: answers}},
		Text:  func(t *render.Text) { all[0].writeSamples(t, measures) },
	}, nil
}

// A measure is a number that runs have.
type measure struct {
	of, key, unit string      // of is the name of the spread that it belongs to, or empty
	values        [][]float64 // at the policy, one a sample; nil where the policy has none
}

// name returns that of the field in CSV.
func (m measure) name() string { return strings.TrimPrefix(m.of+"_"+m.key, "_") }

// measures returns those of the policies whose rows these are.
func (f *dispatchFlags) measures(rows [][]replayed) (list []measure) {
	none, ofBaselines := f.noMeasures()
	fields := render.Fields(none)
	if slices.ContainsFunc(rows, func(of []replayed) bool { return of[0].baselineMeasures != nil }) {
		fields = append(fields, render.Fields(ofBaselines)...)
	}
	for _, field := range append(fields, render.Field{Key: "offered_load", Unit: "-"}) {
		spread, ok := field.Value.(render.Record)
		switch {
		case field.Unit == "":
		case ok:
			for _, part := range spread {
				list = append(list, measure{of: field.Key, key: part.Key, unit: field.Unit})
			}
		default:
			list = append(list, measure{key: field.Key, unit: field.Unit})
		}
	}
	for i := range list {
		list[i].values = make([][]float64, len(rows))
	}
	for p, of := range rows {
		for _, row := range of {
			flat := render.Fields(row).Flat()
			for i := range list {
				if v, ok := number(flat.Get(list[i].name())); ok {
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

// summaries returns the fields of a policy, those of a spread in a field of its name.
func summaries(measures []measure, p int) (fields render.Record) {
	for _, m := range measures {
		summary := render.Record{{Key: "mean"}, {Key: "least"}, {Key: "most"}, {Key: "smallest_in"}}
		if v := m.values[p]; v != nil {
			summary[0].Value, summary[1].Value, summary[2].Value = m.mean(p), slices.Min(v), slices.Max(v)
			if m.isCompared() {
				summary[3].Value = m.smallestIn(p)
			}
		}
		field, last := render.Field{Key: m.key, Value: summary}, len(fields)-1
		switch {
		case m.of == "":
			fields = append(fields, field)
		case last >= 0 && fields[last].Key == m.of:
			fields[last].Value = append(fields[last].Value.(render.Record), field)
		default:
			fields = append(fields, render.Field{Key: m.of, Value: render.Record{field}})
		}
	}
	return fields
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
		name := []string{strings.ReplaceAll(m.name(), "_", " "), m.unit}
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
		if m.isCompared() && m.key != "offered_load" {
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
