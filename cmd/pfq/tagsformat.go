package main

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"productform/cmd/internal/render"
)

func (a *tagsAnswer) format(format string) ([]byte, error) {
	switch format {
	case "json":
		return writeJSON(a.record())
	case "csv":
		return a.csv()
	}
	return a.text(), nil
}

// boundSuffix ends the columns that writeCSV adds.
var boundSuffix = regexp.MustCompile(`_(low|high|exact)$`)

// csv returns a line for the farm, each host, each policy and each expansion.
func (a *tagsAnswer) csv() ([]byte, error) {
	var columns []string
	var rows []record
	add := func(kind string, row record) {
		line := record{{"kind", kind}}
		for _, f := range flatten(row) {
			if f.key == "host" || f.key == "policy" {
				f.key = "name"
			}
			line = append(line, f)
		}
		for _, f := range line {
			base := boundSuffix.ReplaceAllString(f.key, "")
			if !slices.Contains(columns, base) {
				columns = append(columns, base)
			}
		}
		rows = append(rows, line)
	}
	farm := record{{"name", nil}}
	for _, f := range a.record() {
		switch f.key {
		case "cutoffs", "hosts", "policies", "expansion", "warnings":
			continue
		}
		farm = append(farm, f)
	}
	add("farm", farm)
	for _, list := range []struct {
		kind string
		rows []record
	}{{"host", a.hosts()}, {"policy", a.policyRows()}, {"expansion", a.expansionRows()}} {
		for _, row := range list.rows {
			add(list.kind, row)
		}
	}
	return writeCSV(columns, rows)
}

// flatten puts the fields of records inside a record under longer names. An estimate is its mean, followed by the rest.
func flatten(row record) (flat record) {
	for _, f := range row {
		inner, ok := f.value.(record)
		if !ok {
			flat = append(flat, f)
			continue
		}
		for _, g := range flatten(inner) {
			key := f.key + "_" + g.key
			if g.key == "mean" && inner.get("half_width") != nil {
				key = f.key
			}
			flat = append(flat, field{key, g.value})
		}
	}
	return flat
}

func (a *tagsAnswer) text() []byte {
	var b bytes.Buffer
	a.headline(&b)
	hosts := []string{"host", "cutoff", "load", "visit_fraction", "final_fraction", "visit_waiting", "waiting", "slowdown", "delay"}
	if a.model.Speeds != nil {
		hosts = slices.Insert(hosts, 1, "speed")
	}
	if !a.feasible() {
		hosts = hosts[:len(hosts)-4]
	}
	rows := a.hosts()
	for _, row := range rows {
		for i := range row {
			if row[i].key == "load" && a.feasible() && six(row[i].value) == "1" {
				row[i].value = "<1"
			}
			if s, ok := row[i].value.(float64); ok && row[i].key == "cutoff" {
				row[i].value = a.cutoff(s)
			}
		}
	}
	table(&b, rows, hosts...)
	policies := a.policyRows()
	for _, row := range policies {
		for i := range row {
			if list, ok := row[i].value.([]float64); ok && row[i].key == "cutoffs" && len(list) > 0 {
				row[i].value = a.cutoffList(list)
			}
		}
	}
	table(&b, policies, "name", "accuracy", "mean_slowdown", "mean_waiting", "mean_delay", "cutoffs")
	for _, p := range a.policies {
		if p.note != "" {
			fmt.Fprintf(&b, "%s: %s\n", p.name, p.note)
		}
	}
	if b.Bytes()[b.Len()-2] != '\n' {
		fmt.Fprintln(&b)
	}
	if a.flags.target > 0 {
		fmt.Fprintf(&b, "hosts to add for a mean slowdown of at most %s:\n", six(a.flags.target))
		table(&b, a.expansionLines(), "name", "accuracy", "extra_hosts", "mean_slowdown")
	}
	a.simulationText(&b)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// headline writes what is known of the farm as a whole.
func (a *tagsAnswer) headline(b *bytes.Buffer) {
	switch {
	case a.feasible():
		fmt.Fprintf(b, "feasible: cutoffs keep every host below load 1 at system loads below %s\n", six(a.maxLoad))
	case a.maxLoad > a.model.Load:
		fmt.Fprintf(b, "infeasible: %s\n", a.reason)
	default:
		fmt.Fprintf(b, "infeasible: %s; there are such cutoffs at system loads below %s\n", a.reason, six(a.maxLoad))
	}
	a.hint(b)
	fmt.Fprintf(b, "%s at system load %s, %s jobs a second\n", counted(a.model.Hosts, "host"), six(a.model.Load), six(a.rate().get("arrival_rate")))
	a.flags.sizes.describe(b, a.model.Sizes)
	if !a.feasible() {
		fmt.Fprintln(b)
		return
	}
	fmt.Fprintln(b, a.aim())
	if a.enclosed != nil {
		fmt.Fprintf(b, "engine enclose: numbers of TAGS are proved to %g, relatively\n", a.flags.tol)
		if a.enclosed.radius > 0 {
			fmt.Fprintf(b, "the best cutoffs are within a part %s of those here, %s\n", render.OneDigitUp(a.enclosed.radius), strings.Join(a.enclosed.texts, ", "))
		}
	}
	fmt.Fprintln(b)
	means := []record{join(a.means(), a.losses())}
	columns := []string{"mean_slowdown", "mean_waiting", "mean_delay", "mean_stretch", "excess", "lost_work"}
	if a.enclosed == nil || a.flags.tol > 1e-6 {
		table(b, means, columns...)
		return
	}
	for _, c := range columns {
		text, _ := means[0].get(c + "_low").(string)
		v, ok := new(big.Float).SetPrec(uint(64 + 4*digits(a.flags.tol))).SetString(text)
		if ok {
			fmt.Fprintf(b, "%-13s  %s\n", strings.ReplaceAll(c, "_", " "), v.Text('g', digits(a.flags.tol)-1))
		}
	}
	fmt.Fprintln(b)
}

// hint tells how an infeasible farm could do.
func (a *tagsAnswer) hint(b *bytes.Buffer) {
	pair := "2 hosts"
	if a.model.Speeds != nil {
		pair += " of one speed"
	}
	switch {
	case a.feasible() || a.pairs == 0:
	case a.pairs > a.model.Load:
		fmt.Fprintf(b, "hint: fewer hosts in a chain bear more load; split the farm into pairs: with %s cutoffs exist below load %s\n", pair, six(a.pairs))
	default:
		fmt.Fprintf(b, "hint: pairs of hosts do not bear this load either: with %s cutoffs exist below load %s\n", pair, six(a.pairs))
	}
}

// aim says what the cutoffs are for.
func (a *tagsAnswer) aim() string {
	o := a.flags.objective
	switch {
	case a.model.Hosts == 1:
		return "one host, and no cutoffs"
	case a.flags.cutoffs != nil:
		return "the cutoffs given"
	case o.fair:
		aim := "cutoffs of equal mean slowdowns at all hosts"
		if len(a.result.Cutoffs) > 0 && a.result.Cutoffs[0] == 0 {
			aim += " that take jobs"
		}
		if a.listed() {
			aim = "cutoffs of the least largest mean slowdown of a host (sizes are a list: equality is out of reach)"
		}
		if u, _ := a.unfairness.(float64); u > 1e-9 {
			aim += fmt.Sprintf("; unfairness %.6g", u)
		}
		return aim
	}
	aim := "cutoffs of the least " + a.flags.objectiveText
	switch a.flags.objectiveText {
	case "slowdown":
		aim = "cutoffs of the least mean slowdown"
	case "waiting":
		aim = "cutoffs of the least mean waiting time"
	}
	gap, _ := a.gap.(float64)
	if gap > 0 {
		gap = math.Pow(10, math.Ceil(math.Log10(gap))) // a bound, so up
	}
	return fmt.Sprintf("%s; no others are better by more than %.1g of it", aim, gap)
}

// simulationText writes the tables of what was simulated.
func (a *tagsAnswer) simulationText(b *bytes.Buffer) {
	s := a.flags.settings
	if s.Runs == 0 {
		return
	}
	fmt.Fprintf(b, "simulated: %d runs of %g jumps; seed %d; ± at confidence %g\n\n", s.Runs, a.flags.jumps(), s.Seed, s.Confidence)
	inner := func(rows []record) (out []record) {
		for _, row := range rows {
			if simulated, ok := row.get("simulated").(record); ok {
				out = append(out, append(row[:1:1], simulated...))
			}
		}
		return out
	}
	hosts, policies := inner(a.hosts()), inner(a.policyRows())
	simulationTable(b, policies, "policy", "name", "mean_slowdown", "mean_waiting", "mean_delay")
	simulationTable(b, hosts, "host", "host", "load", "visit_waiting", "waiting")
	simulationTable(b, hosts, "host", "host", "slowdown", "delay", "interarrival_scv")
}

// expansionLines returns the expansions with numbers of hosts as people read them.
func (a *tagsAnswer) expansionLines() []record {
	whole := func(v float64) string {
		if v < 1e15 {
			return fmt.Sprintf("%.0f", v)
		}
		return six(v)
	}
	lines := []record{}
	for i, row := range a.expansionRows() {
		e := a.expansions[i]
		low, high := e.Extra.Bounds()
		text := whole(low)
		switch high := whole(high); {
		case !e.Within:
			text, _ = row.get("note").(string)
		case high != text:
			text += " to " + high
		}
		lines = append(lines, append(record{{"extra_hosts", text}}, row...))
	}
	return lines
}

// table writes some columns of records, and an empty line; nothing for no records.
func table(b *bytes.Buffer, rows []record, columns ...string) {
	if len(rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	titles := strings.ReplaceAll(strings.Join(columns, "\t"), "_", " ")
	if name, rest, ok := strings.Cut(titles, "\t"); ok && name == "name" {
		titles = "policy\t" + rest
	}
	fmt.Fprintln(w, titles)
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = tagsCell(row, c)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush()
	fmt.Fprintln(b)
}

// cutoff returns a cutoff for people: to six digits, or for a list of sizes in full, so that it is the size it stands for.
func (a *tagsAnswer) cutoff(s float64) string {
	if a.listed() {
		return strconv.FormatFloat(s, 'g', -1, 64)
	}
	return six(s)
}

// cutoffList returns the first cutoffs.
func (a *tagsAnswer) cutoffList(list []float64) string {
	const most = 4
	var words []string
	for _, s := range list[:min(most, len(list))] {
		words = append(words, a.cutoff(s))
	}
	if len(list) > most {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}

// tagsCell returns a value for people: a number, or bounds.
func tagsCell(row record, column string) string {
	v := row.get(column)
	if low := row.get(column + "_low"); v == nil && low != nil {
		return six(low) + " to " + six(row.get(column+"_high"))
	}
	if _, none := v.([]float64); none { // those that are not empty have been written
		return six(nil)
	}
	return six(v)
}
