package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"productform/bf"
	"productform/cluster"
	"productform/num"
	"productform/sim"
)

// A simulation turns what was simulated and its result into records.
type simulation struct {
	flags  *simulateFlags
	model  *cluster.Model
	stable bool
	result *sim.Result
	theory *bf.Result // nil where it does not apply
	speed  any        // jumps per second, nil if all runs were found

	warnings []string // not nil
}

func (s simulation) format() ([]byte, error) {
	switch s.flags.format {
	case "json":
		return writeJSON(s.json())
	case "csv":
		return writeCSV([]string{"kind", "name", "quantity", "mean", "half_width", "confidence", "exact", "z"}, s.csv())
	}
	return s.text(), nil
}

// estimate returns the record of an estimate, with the exact value if there is one; nil for nil.
func estimate(e *sim.Estimate, exact *num.Value) any {
	if e == nil {
		return nil
	}
	r := record{{"mean", e.Mean}, {"half_width", e.HalfWidth}, {"confidence", e.Confidence}}
	if exact != nil {
		r = append(r, field{"exact", exact.Float}, field{"z", zOf(e, exact)})
	}
	return r
}

// zOf returns z, or nil where all runs gave the same, as they do for what none has seen.
func zOf(e *sim.Estimate, exact *num.Value) any {
	if e.StdError == 0 {
		return nil
	}
	return e.Z(exact.Float)
}

// whole returns the estimates of the cluster as a whole.
func (s simulation) whole() record {
	var jobs, delay *num.Value
	if s.theory != nil {
		jobs, delay = &s.theory.MeanJobs, s.theory.MeanDelay
	}
	return record{{"mean_jobs", estimate(s.result.All(sim.MeanJobs), jobs)}, {"mean_delay", estimate(s.result.All(sim.MeanDelay), delay)}}
}

func (s simulation) classes() []record {
	rows := []record{}
	for i, c := range s.result.Classes {
		var jobs, delay, rate *num.Value
		if s.theory != nil {
			t := &s.theory.Classes[i]
			jobs, delay, rate = &t.MeanJobs, t.MeanDelay, t.ServiceRate
		}
		rows = append(rows, record{
			{"name", c.Name},
			{"arrival_rate", ratNumber(s.model.Classes[i].ArrivalRate)},
			{"mean_jobs", estimate(s.result.Class(i, sim.MeanJobs), jobs)},
			{"mean_delay", estimate(s.result.Class(i, sim.MeanDelay), delay)},
			{"measured_delay", estimate(s.result.Class(i, sim.MeasuredDelay), delay)},
			{"service_rate", estimate(s.result.Class(i, sim.ServiceRate), rate)},
		})
	}
	return rows
}

func (s simulation) servers() []record {
	rows := []record{}
	for i, server := range s.model.Servers {
		row := record{{"name", server.Name}}
		if server.Size() > 1 {
			row = append(row, field{"count", server.Size()})
		}
		var exact *num.Value
		if s.theory != nil {
			exact = &s.theory.Servers[i].Utilization
		}
		rows = append(rows, append(row, field{"utilization", estimate(s.result.Server(i, sim.Utilization), exact)}))
	}
	return rows
}

func (s simulation) distribution() []record {
	rows := []record{}
	for n := range s.result.Distribution {
		var exact *num.Value
		if s.theory != nil && n < len(s.theory.JobsDistribution) {
			exact = &s.theory.JobsDistribution[n]
		}
		rows = append(rows, record{{"jobs", n}, {"probability", estimate(&s.result.Distribution[n], exact)}})
	}
	return rows
}

// lengths returns the numbers that say how much was simulated.
func (s simulation) lengths() record {
	r := s.result
	return record{{"runs", r.Runs}, {"jumps", r.Jumps}, {"jumps_per_second", s.speed}, {"time", r.Time}, {"warm_up", r.WarmUp},
		{"seed", s.flags.settings.Seed}, {"effective_samples", r.EffectiveSamples}}
}

// json returns the whole answer as one object.
func (s simulation) json() record {
	var interruptions any
	if s.flags.interruptions > 0 {
		interruptions = s.flags.interruptions
	}
	out := join(
		record{{"stable", s.stable}, {"policy", s.flags.policy}, {"sizes", s.flags.sizes}, {"interruptions", interruptions}, {"method", s.result.Method}},
		record{{"classes", s.classes()}, {"servers", s.servers()}},
		s.whole(),
	)
	if rows := s.distribution(); len(rows) > 0 {
		var column []any
		for _, row := range rows {
			column = append(column, row.get("probability"))
		}
		out = append(out, field{"jobs_distribution", column})
	}
	return join(out, s.lengths(), record{{"warnings", s.warnings}})
}

// csv returns a line for each quantity.
func (s simulation) csv() (lines []record) {
	add := func(kind string, name any, row record) {
		for _, f := range row {
			line := record{{"kind", kind}, {"name", name}, {"quantity", f.key}}
			switch v := f.value.(type) {
			case record:
				line = append(line, v...)
			default:
				line = append(line, field{"mean", v})
			}
			lines = append(lines, line)
		}
	}
	add("cluster", nil, s.whole())
	for _, group := range []struct {
		kind string
		rows []record
	}{{"class", s.classes()}, {"server", s.servers()}, {"distribution", s.distribution()}} {
		for _, row := range group.rows {
			estimates := slices.DeleteFunc(row[1:], func(f field) bool { return f.key == "arrival_rate" || f.key == "count" })
			add(group.kind, row[0].value, estimates)
		}
	}
	lengths := slices.DeleteFunc(s.lengths(), func(f field) bool { return f.key == "jumps_per_second" })
	add("simulation", nil, lengths)
	return lines
}

func (s simulation) text() []byte {
	var b bytes.Buffer
	verdict, policy := "stable", s.flags.policy
	if !s.stable {
		verdict = "unstable"
	}
	if m := s.flags.interruptions; m > 0 {
		policy = fmt.Sprintf("%s, %.6g a job on average", policy, m)
	}
	r := s.result
	fmt.Fprintf(&b, "%s; policy %s; sizes %s; %s\n", verdict, policy, s.flags.sizes, r.Method)
	from := fmt.Sprintf("after a warm-up of %.6g", r.WarmUp)
	if r.WarmUp == 0 {
		from = "from the empty start"
	}
	fmt.Fprintf(&b, "%d runs of %.0f jumps, observed for a time of %.6g %s; seed %d; ± at confidence %g\n\n",
		r.Runs, r.Jumps/float64(r.Runs), r.Time, from, s.flags.settings.Seed, s.flags.settings.Confidence)
	all := append(record{{"name", "(all)"}}, s.whole()...)
	classes := append([]record{all}, s.classes()...)
	simulationTable(&b, classes, "class", "name", "arrival_rate", "mean_jobs", "service_rate")
	simulationTable(&b, classes, "class", "name", "mean_delay", "measured_delay")
	servers := []string{"name", "utilization"}
	if slices.ContainsFunc(s.model.Servers, func(row cluster.Server) bool { return row.Size() > 1 }) {
		servers = []string{"name", "count", "utilization"}
	}
	simulationTable(&b, s.servers(), "server", servers...)
	simulationTable(&b, s.distribution(), "jobs", "jobs", "probability")
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// simulationTable writes some columns of records, estimates with their exact values if any row has one, and an empty
// line; nothing for no records.
func simulationTable(w io.Writer, rows []record, first string, columns ...string) {
	if len(rows) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	lines := make([][]string, 1+len(rows))
	for k, c := range columns {
		title := strings.ReplaceAll(c, "_", " ")
		if k == 0 {
			title = first
		}
		lines[0] = append(lines[0], title)
		exact := slices.ContainsFunc(rows, func(row record) bool {
			e, ok := row.get(c).(record)
			return ok && e.get("exact") != nil
		})
		if exact {
			lines[0] = append(lines[0], "exact", "z")
		}
		for i, row := range rows {
			cells := estimateCells(row.get(c))
			if !exact {
				cells = cells[:1]
			}
			lines[i+1] = append(lines[i+1], cells...)
		}
	}
	for _, line := range lines {
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	t.Flush()
	fmt.Fprintln(w)
}

// estimateCells returns a value for people, its exact value and z.
func estimateCells(v any) []string {
	e, ok := v.(record)
	if !ok {
		return []string{six(v), "-", "-"}
	}
	cells := []string{plusMinus(e.get("mean").(float64), e.get("half_width").(float64)), "-", "-"}
	if exact, ok := e.get("exact").(float64); ok {
		cells[1] = six(exact)
		if z, ok := e.get("z").(float64); ok {
			cells[2] = fmt.Sprintf("%+.2f", z)
		}
	}
	return cells
}

// plusMinus returns an estimate for people: two digits of the half-width, and the mean to the same place.
func plusMinus(mean, halfWidth float64) string {
	if halfWidth == 0 {
		return six(mean) + " ± 0"
	}
	places := 1 - int(math.Floor(math.Log10(halfWidth)))
	if places > 9 || halfWidth >= 1e6 || math.Abs(mean) >= 1e9 {
		return fmt.Sprintf("%.6g ± %.2g", mean, halfWidth)
	}
	places = max(places, 0)
	return fmt.Sprintf("%.*f ± %.*f", places, mean, places, halfWidth)
}
