package main

import (
	"bytes"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"productform/cmd/internal/render"
	"productform/fluid"
	"productform/num"
)

// An allocation turns the shares of jobs that stay into records.
type allocation struct {
	pool   *fluid.Pool
	result *fluid.Allocation
	digits int          // decimal digits of the bounds that the engine enclose gives
	shown  int          // the same as text, one more than are shown
	audit  *auditAnswer // nil unless asked for
}

func (a allocation) format(format string) ([]byte, error) {
	switch format {
	case "json":
		return writeJSON(a.json())
	case "csv":
		return writeCSV(columnsOf(a.csv()), a.csv())
	}
	return a.text(), nil
}

func (a allocation) jobs() []record {
	rows := []record{}
	counted := a.counted()
	for i, job := range a.pool.Jobs {
		r := &a.result.Jobs[i]
		row := record{{"name", job.Name}}
		if counted {
			row = append(row, field{"count", job.Size()})
		}
		rows = append(rows, join(row,
			valueFields("tasks", &r.Tasks, string(a.result.Engine), a.digits),
			valueFields("dominant_share", &r.DominantShare, string(a.result.Engine), a.digits),
			record{{"dominant_resource", a.pool.Resources[r.DominantResource].Name}},
		))
	}
	return rows
}

// counted reports whether some row has several jobs.
func (a allocation) counted() bool {
	return slices.ContainsFunc(a.pool.Jobs, func(j fluid.Job) bool { return j.Size() > 1 })
}

// countedJobs returns the jobs with what the rows get in all, for people.
func (a allocation) countedJobs() []record {
	rows := a.jobs()
	for i, r := range rows {
		all := a.result.Jobs[i].Tasks.Times(big.NewRat(int64(a.pool.Jobs[i].Size()), 1))
		for f := range r {
			r[f].key = strings.Replace(r[f].key, "tasks", "tasks_of_each", 1)
			r[f].key = strings.Replace(r[f].key, "dominant_share", "dominant_share_of_each", 1)
		}
		rows[i] = join(r, valueFields("tasks_in_all", &all, string(a.result.Engine), a.digits))
	}
	return rows
}

func (a allocation) resources() []record {
	rows := []record{}
	for j, resource := range a.pool.Resources {
		r := &a.result.Resources[j]
		var price any
		if r.Price != nil {
			price = r.Price.Float
		}
		rows = append(rows, join(record{{"name", resource.Name}},
			valueFields("utilization", &r.Utilization, string(a.result.Engine), a.digits),
			record{{"saturated", r.Saturated}, {"price", price}},
		))
	}
	return rows
}

// trust returns how far the numbers can be trusted.
func (a allocation) trust() record {
	var bound any
	if a.result.RelativeErrorBound != nil {
		bound = *a.result.RelativeErrorBound
	}
	return record{{"residual", a.result.Residual}, {"relative_error_bound", bound}}
}

// json returns the whole answer as one object.
func (a allocation) json() record {
	out := join(a.heading(), record{{"jobs", a.jobs()}, {"resources", a.resources()}}, a.trust())
	if a.audit != nil {
		out = append(out, field{"audit", a.audit.properties()}, field{"indices", a.audit.indexFields()})
	}
	return out
}

func (a allocation) heading() record {
	return record{{"policy", string(a.result.Policy)}, {"engine", string(a.result.Engine)}}
}

// csv returns the lines of the answer.
func (a allocation) csv() []record {
	pool := join(a.heading(), a.trust())
	if a.audit != nil {
		pool = join(pool, flatten(a.audit.properties()), a.audit.indexFields())
	}
	return kinds([]kindRows{{"job", a.jobs()}, {"resource", a.resources()}, {"pool", []record{pool}}})
}

// columnsOf returns the columns of lines, without those of exact values and bounds, which writeCSV adds.
func columnsOf(lines []record) (columns []string) {
	seen := map[string]bool{}
	for _, line := range lines {
		for _, f := range line {
			if key := boundSuffix.ReplaceAllString(f.key, ""); !seen[key] {
				seen[key] = true
				columns = append(columns, key)
			}
		}
	}
	return columns
}

// A kindRows holds the records of one kind of lines.
type kindRows struct {
	kind string
	rows []record
}

// kinds returns all records, each after its kind.
func kinds(groups []kindRows) (lines []record) {
	for _, g := range groups {
		for _, r := range g.rows {
			lines = append(lines, join(record{{"kind", g.kind}}, r))
		}
	}
	return lines
}

func (a allocation) text() []byte {
	var b bytes.Buffer
	r := a.result
	fmt.Fprintf(&b, "%s; %s engine, %s\n\n", policyName(r.Policy), r.Engine, a.accuracy())
	if a.counted() {
		poolTable(&b, a.countedJobs(), "job", a.shown, "name", "count", "tasks_of_each", "tasks_in_all", "dominant_share_of_each", "dominant_resource")
	} else {
		poolTable(&b, a.jobs(), "job", a.shown, "name", "tasks", "dominant_share", "dominant_resource")
	}
	resources := []string{"name", "utilization", "saturated"}
	if r.Policy == fluid.PF {
		resources = append(resources, "price")
	}
	poolTable(&b, a.resources(), "resource", a.shown, resources...)
	if a.audit != nil {
		b.WriteString(a.audit.text())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// accuracy says how the numbers were computed and are shown.
func (a allocation) accuracy() string {
	switch r := a.result; {
	case r.RelativeErrorBound == nil:
		return "without proof, residual " + render.OneDigitUp(r.Residual) + ", shown to six digits"
	case r.Engine == num.Exact:
		return "computed exactly, shown as short fractions and to six digits"
	case a.shown > 7:
		return fmt.Sprintf("within %s of exact (relative), shown to %d digits", render.OneDigitUp(*r.RelativeErrorBound), a.shown-1)
	default:
		return fmt.Sprintf("within %s of exact (relative), shown to six digits", render.OneDigitUp(*r.RelativeErrorBound))
	}
}

// poolTable writes some columns of records and an empty line. The first column has the title first.
func poolTable(w io.Writer, rows []record, first string, digits int, columns ...string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	titles := strings.Split(strings.ReplaceAll(strings.Join(columns, "\t"), "_", " "), "\t")
	titles[0] = first
	fmt.Fprintln(t, strings.Join(titles, "\t"))
	for _, r := range rows {
		var cells []string
		for _, c := range columns {
			if yes, ok := r.get(c).(bool); ok {
				cells = append(cells, map[bool]string{true: "yes", false: "no"}[yes])
				continue
			}
			cells = append(cells, poolCell(r, c, digits))
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	t.Flush()
	fmt.Fprintln(w)
}

// poolCell returns one number for people: as a fraction only if numerator and denominator have at most six digits, and
// not as 1 if it is known to be below.
func poolCell(r record, key string, digits int) string {
	const longest = 6
	exact, _ := r.get(key + "_exact").(string)
	v, _ := r.get(key).(float64)
	below := v < 1 && (key == "load" || key == "true_load" || r.get("saturated") == false) // elsewhere a float64 may be rounded
	if x, ok := new(big.Rat).SetString(exact); ok {
		below = x.Cmp(big.NewRat(1, 1)) < 0
	}
	mend := func(text string) string {
		if below {
			return belowOne("load", text, v)
		}
		return text
	}
	if numerator, denominator, fraction := strings.Cut(exact, "/"); fraction && max(len(numerator), len(denominator)) > longest {
		r = record{{key, r.get(key)}}
	}
	return valueCell(r, key, digits, mend)
}
