package main

import (
	"bytes"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"text/tabwriter"

	"productform/bf"
	"productform/cluster"
	"productform/num"
	"productform/stability"
)

// A solution turns a result into records.
type solution struct {
	model  *cluster.Model
	result *bf.Result
	digits int // decimal digits of the bounds that the engine enclose gives
}

func formatSolution(m *cluster.Model, r *bf.Result, format string, digits int) ([]byte, error) {
	s := solution{m, r, digits}
	switch format {
	case "json":
		return writeJSON(s.json())
	case "csv":
		return writeCSV(s.csv())
	}
	return s.text(), nil
}

// value returns the fields of one number of the result.
func (s solution) value(key string, v *num.Value) record {
	return valueFields(key, v, string(s.result.Engine), s.digits)
}

// valueFields returns the fields of one number: its float64, and its exact value or its bounds if the engine has them.
func valueFields(key string, v *num.Value, engine string, digits int) record {
	r := record{{key, nil}}
	if v != nil {
		r[0].value = v.Float
	}
	switch engine {
	case string(num.Exact):
		r = append(r, field{key + "_exact", nil})
		if v != nil {
			r[1].value = v.Exact.RatString()
		}
	case string(num.Enclose):
		r = append(r, field{key + "_low", nil}, field{key + "_high", nil})
		if v != nil {
			r[1].value, r[2].value = num.Interval{Low: v.Low, High: v.High}.Text(digits)
		}
	}
	return r
}

func (s solution) rat(key string, v *big.Rat) record {
	r := record{{key, ratNumber(v)}}
	if s.result.Engine == num.Exact {
		r = append(r, field{key + "_exact", ratText(v)})
	}
	return r
}

func join(records ...record) record {
	var all record
	for _, r := range records {
		all = append(all, r...)
	}
	return all
}

func (s solution) cluster() record {
	r := s.result
	var lattice any // of the part with most states
	states, most := 0, -1
	for _, p := range r.Parts {
		states += p.States
		if p.States > most {
			lattice, most = string(p.Lattice), p.States
		}
	}
	return join(
		record{{"stable", true}, {"engine", string(r.Engine)}, {"lattice", lattice}, {"states", states}},
		s.value("normalization", r.Normalization),
		s.value("empty_probability", r.EmptyProbability),
		s.value("mean_jobs", &r.MeanJobs),
		s.value("mean_delay", r.MeanDelay),
		record{{"relative_error_bound", r.RelativeErrorBound}},
	)
}

func (s solution) classes() []record {
	rows := []record{}
	for i := range s.result.Classes {
		c := &s.result.Classes[i]
		rows = append(rows, join(
			record{{"name", s.model.Classes[i].Name}},
			s.rat("arrival_rate", c.ArrivalRate),
			s.value("load", &c.Load),
			s.value("mean_jobs", &c.MeanJobs),
			s.value("mean_delay", c.MeanDelay),
			s.value("service_rate", c.ServiceRate),
		))
	}
	return rows
}

func (s solution) servers() []record {
	rows := []record{}
	for i, server := range s.model.Servers {
		row := record{{"name", server.Name}}
		if server.Size() > 1 {
			row = append(row, field{"count", server.Size()})
		}
		rows = append(rows, join(row, s.value("utilization", &s.result.Servers[i].Utilization)))
	}
	return rows
}

func (s solution) distribution() []record {
	rows := []record{}
	for n := range s.result.JobsDistribution {
		rows = append(rows, join(record{{"jobs", n}}, s.value("probability", &s.result.JobsDistribution[n])))
	}
	return rows
}

// json returns the whole answer as one object.
func (s solution) json() record {
	out := join(s.cluster(), record{{"classes", s.classes()}, {"servers", s.servers()}})
	if rows := s.distribution(); len(rows) > 0 {
		for _, f := range rows[0][1:] { // probability, probability_exact, ...
			var column []any
			for _, row := range rows {
				column = append(column, row.get(f.key))
			}
			out = append(out, field{"jobs_distribution" + strings.TrimPrefix(f.key, "probability"), column})
		}
	}
	parts := []record{}
	for _, p := range s.result.Parts {
		parts = append(parts, record{{"lattice", string(p.Lattice)}, {"states", p.States}, {"why", p.Why}})
	}
	return append(out, field{"parts", parts})
}

// csv returns the columns and the lines of the answer.
func (s solution) csv() (columns []string, rows []record) {
	columns = []string{"kind", "name", "count", "arrival_rate", "load", "mean_jobs", "mean_delay", "service_rate", "utilization",
		"engine", "lattice", "states", "normalization", "empty_probability", "relative_error_bound"}
	if s.result.JobsDistribution != nil {
		columns = append(columns, "jobs", "probability")
	}
	for _, group := range []struct {
		kind string
		rows []record
	}{{"cluster", []record{s.cluster()}}, {"class", s.classes()}, {"server", s.servers()}, {"distribution", s.distribution()}} {
		for _, r := range group.rows {
			rows = append(rows, join(record{{"kind", group.kind}}, r))
		}
	}
	return columns, rows
}

// widest returns the largest relative width of the bounds in a result.
func widest(r *bf.Result) float64 {
	values := []*num.Value{r.Normalization, r.EmptyProbability, &r.MeanJobs, r.MeanDelay}
	for i := range r.Classes {
		c := &r.Classes[i]
		values = append(values, &c.MeanJobs, c.MeanDelay, c.ServiceRate)
	}
	for i := range r.Servers {
		values = append(values, &r.Servers[i].Utilization)
	}
	width := 0.0
	for _, v := range values {
		if v == nil {
			continue
		}
		if e, ok := v.Interval(); ok {
			width = max(width, e.RelWidth())
		}
	}
	return width
}

func (s solution) text() []byte {
	var b bytes.Buffer
	r := s.result
	trust := "within " + oneDigitUp(r.RelativeErrorBound) + " of exact (relative)"
	if r.RelativeErrorBound == 0 {
		trust = "exactly"
	}
	shown := "to six digits"
	const doubles = 16 // digits that the bound of the doubles speaks of
	switch {
	case r.Engine == num.Enclose && s.digits-1 > doubles:
		trust = "between bounds " + oneDigitUp(widest(r)) + " apart (relative)"
		shown = fmt.Sprintf("to %d digits", s.digits-1)
	case r.Engine == num.Exact:
		shown = "as short fractions and to six digits"
	case r.Engine == num.Enclose && s.digits > 6:
		shown = fmt.Sprintf("to %d digits", s.digits-1)
	}
	fmt.Fprintf(&b, "stable; %s engine, computed %s, shown %s\n", r.Engine, trust, shown)
	const most = 8
	for i, p := range r.Parts {
		if i == most && len(r.Parts) > most+1 {
			fmt.Fprintf(&b, "and %d parts more\n", len(r.Parts)-most)
			break
		}
		what := ""
		if len(r.Parts) > 1 {
			what = fmt.Sprintf("part %d of %d: ", i+1, len(r.Parts))
		}
		fmt.Fprintf(&b, "%s%s lattice, %d states: %s\n", what, p.Lattice, p.States, p.Why)
	}
	fmt.Fprintln(&b)
	s.table(&b, []record{s.cluster()}, "normalization", "empty_probability", "mean_jobs", "mean_delay")
	s.table(&b, s.classes(), "name", "arrival_rate", "load", "mean_jobs", "mean_delay", "service_rate")
	servers := []string{"name", "utilization"}
	for _, row := range s.model.Servers {
		if row.Size() > 1 {
			servers = []string{"name", "count", "utilization"}
		}
	}
	s.table(&b, s.servers(), servers...)
	s.table(&b, s.distribution(), "jobs", "probability")
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// table writes some columns of records, and an empty line; nothing for no records.
func (s solution) table(w io.Writer, rows []record, columns ...string) {
	if len(rows) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var header []string
	for _, c := range columns {
		header = append(header, strings.ReplaceAll(c, "_", " "))
	}
	if columns[0] == "name" {
		header[0] = map[bool]string{true: "class", false: "server"}[rows[0].get("arrival_rate") != nil]
	}
	fmt.Fprintln(t, strings.Join(header, "\t"))
	for _, r := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, s.cell(r, c))
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	t.Flush()
	fmt.Fprintln(w)
}

// cell returns one number for people, below one if it must be.
func (s solution) cell(r record, key string) string {
	return valueCell(r, key, s.digits, func(text string) string { return belowOne(key, text, r.get(key)) })
}

// valueCell returns one number for people: six digits, the digits asked of enclose, or a fraction that is not too long.
// Decimals are mended before they are shown.
func valueCell(r record, key string, digits int, mend func(string) string) string {
	const longest = 24
	if text, ok := r.get(key + "_exact").(string); ok && len(text) <= longest {
		if strings.Contains(text, "/") {
			text += " = " + mend(six(r.get(key)))
		}
		return text
	}
	if low, ok := r.get(key + "_low").(string); ok && digits > 6 {
		v, ok := new(big.Float).SetPrec(uint(64 + 4*digits)).SetString(low)
		if ok {
			return mend(v.Text('g', digits-1))
		}
	}
	return mend(six(r.get(key)))
}

// belowOne returns the text of a number, with more digits or as "<1" if it reads 1 and cannot be: in a stable cluster
// loads and utilizations are below 1.
func belowOne(key, text string, v any) string {
	f, ok := v.(float64)
	if !ok || text != "1" || key != "load" && key != "utilization" {
		return text
	}
	for digits := 7; digits <= 17 && f < 1; digits++ {
		if text := strconv.FormatFloat(f, 'g', digits, 64); text != "1" {
			return text
		}
	}
	return "<1"
}

// oneDigitUp returns x rounded up to one decimal digit.
func oneDigitUp(x float64) string {
	_, high := num.Interval{Low: big.NewFloat(x), High: big.NewFloat(x)}.Text(1)
	return high
}

func formatUnstable(m *cluster.Model, r *stability.Result, format string, exact bool) ([]byte, error) {
	out := unstableRecord(m, r, exact)
	switch format {
	case "json":
		return writeJSON(out)
	case "csv":
		return writeCSV([]string{"stable", "critical_scale", "margin", "bottleneck"}, []record{out})
	}
	return stabilityText(m, r, exact), nil
}

func unstableRecord(m *cluster.Model, r *stability.Result, exact bool) record {
	all := stabilityRecord(m, r, exact)
	out := record{{"stable", false}}
	for _, key := range []string{"critical_scale", "critical_scale_exact", "margin", "margin_exact", "bottleneck"} {
		if v := all.get(key); v != nil {
			out = append(out, field{key, v})
		}
	}
	return out
}
