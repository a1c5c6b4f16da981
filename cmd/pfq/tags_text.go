package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/sizes"
)

// text writes the answer as text.
func (a *tagsAnswer) text(t *render.Text, f render.Record, joint *command.Joint) {
	a.headline(t, f)
	columns := []string{"host", "cutoff", "load", "visit_fraction", "final_fraction"}
	if a.model.Speeds != nil {
		columns = slices.Insert(columns, 1, "speed")
	}
	if a.feasible() {
		columns = append(columns, "visit_waiting", "waiting", "slowdown", "delay")
	}
	if !a.flags.resume.restarts() {
		columns = append(columns, "accuracy")
	}
	hosts, policies := tagsRows(f, "hosts"), tagsRows(f, "policies")
	t.Table(a.readable(hosts), columns...)
	a.writeNoWaits(t)
	t.Table(a.readable(policies), "name", "accuracy", "mean_slowdown", "mean_waiting", "mean_delay", "cutoffs")
	t.Line("slowdown: waiting / size; stretch: delay / size (in pfq dispatch, slowdown is delay / a lower bound on it)")
	for _, p := range a.policies {
		if p.note != "" {
			t.Line("%s: %s", p.name, p.note)
		}
	}
	t.Line("")
	a.writeExpansion(t, tagsRows(f, "expansion"))
	if s := a.flags.settings; a.isSimulated {
		t.Line("simulated: %d runs of %g jumps; seed %d; ± at confidence %g", s.Runs, a.flags.jumps(), s.Seed,
			s.Confidence)
		joint.Text(t)
		t.Line("")
		hosts, policies := simulatedOnly(hosts), simulatedOnly(policies)
		t.Table(policies, "name", "mean_slowdown", "mean_waiting", "mean_delay")
		command.QuantileTables(t, policies, "delay_percentiles")
		t.Table(hosts, "host", "load", "visit_waiting", "waiting")
		t.Table(hosts, "host", "slowdown", "delay", "interarrival_scv")
		command.QuantileTables(t, hosts, "delay_percentiles")
	}
}

// writeExpansion writes the hosts to add, with --expand.
func (a *tagsAnswer) writeExpansion(t *render.Text, rows []render.Record) {
	if a.flags.target == 0 {
		return
	}
	t.Line("hosts to add for a mean slowdown of at most %s:", render.Six(a.flags.target))
	t.Table(a.expansionLines(), "name", "accuracy", "extra_hosts", "mean_slowdown")
	noted := false
	for k, r := range rows {
		if note := r.Get("note"); a.expansions[k].Within && note != nil { // otherwise the note is in the table
			t.Line("%s: %s", r.Get("name"), note)
			noted = true
		}
	}
	if noted {
		t.Line("")
	}
}

// simulatedOnly returns the first column and the simulated ones.
func simulatedOnly(rows []render.Record) (out []render.Record) {
	for _, row := range rows {
		if simulated, ok := row.Get("simulated").(render.Record); ok {
			out = append(out, slices.Concat(row[:1], simulated))
		}
	}
	return out
}

// readable returns rows with short cutoffs, and with "<1" for a load below 1 that rounds to 1.
func (a *tagsAnswer) readable(rows []render.Record) (out []render.Record) {
	const most = 4
	for _, row := range rows {
		row = slices.Clone(row)
		out = append(out, row)
		for i, f := range row {
			switch v := f.Value.(type) {
			case render.Number:
				if f.Key == "load" && a.feasible() && render.Six(v.Float) == "1" {
					row[i].Value = "<1"
				}
			case float64:
				if f.Key == "cutoff" {
					row[i].Value = a.cutoff(v)
				}
			case []any:
				if f.Key != "cutoffs" {
					continue
				}
				var words []any
				for _, s := range v[:min(most, len(v))] {
					words = append(words, a.cutoff(s.(float64)))
				}
				if len(v) > most {
					words = append(words, "...")
				}
				row[i].Value = words
			}
		}
	}
	return out
}

// headline writes the results for the farm as a whole.
func (a *tagsAnswer) headline(t *render.Text, f render.Record) {
	switch {
	case a.feasible():
		t.Line("feasible: cutoffs keep every host below load 1 at system loads below %s", render.Six(a.maxLoad))
	case a.maxLoad > a.model.Load:
		t.Line("infeasible: %s", a.reason)
	default:
		t.Line("infeasible: %s; there are such cutoffs at system loads below %s", a.reason, render.Six(a.maxLoad))
	}
	a.hint(t)
	t.Line("%s at system load %s, %s jobs per second", render.Counted(a.model.Hosts, "host"), render.Six(a.model.Load),
		render.Six(f.Get("arrival_rate").(render.Number).Float))
	a.flags.sizes.describe(t, a.model.Sizes)
	a.flags.resume.describe(t)
	if !a.feasible() {
		t.Line("")
		return
	}
	t.Line("%s", a.aim())
	if a.enclosed != nil {
		t.Line("engine enclose: numbers of TAGS are proved to %g, relatively", a.flags.tol)
		if a.enclosed.radius > 0 {
			t.Line("the best cutoffs are within a relative distance %s of these, %s",
				render.OneDigitUp(a.enclosed.radius), strings.Join(a.enclosed.texts, ", "))
		}
	}
	t.Line("")
	if a.enclosed == nil || a.flags.tol > 1e-6 {
		t.Table(f, farmMeans...)
		return
	}
	t.Digits = command.Digits(a.flags.tol)
	for _, c := range farmMeans {
		if n, ok := f.Get(c).(render.Number); ok && n.Low != nil {
			t.Line("%-13s  %s", strings.ReplaceAll(c, "_", " "), t.Cell(n))
		}
	}
	t.Digits = 0
	t.Line("")
}

// hint suggests how to make an infeasible farm feasible.
func (a *tagsAnswer) hint(t *render.Text) {
	pair := "2 hosts"
	if a.model.Speeds != nil {
		pair += " of one speed"
	}
	switch {
	case a.feasible() || a.pairs == 0:
	case a.pairs > a.model.Load:
		t.Line("hint: fewer hosts in a chain carry more load; split the farm into pairs: with %s cutoffs exist below "+
			"load %s", pair, render.Six(a.pairs))
	default:
		t.Line("hint: pairs of hosts do not carry this load either: with %s cutoffs exist below load %s", pair,
			render.Six(a.pairs))
	}
}

// aim returns what the cutoffs optimize.
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
			aim = "cutoffs with the smallest maximum mean slowdown of a host (sizes are a list: equality is out " +
				"of reach)"
		}
		if u := a.unfairness; u != nil && *u > 1e-9 {
			aim += fmt.Sprintf("; unfairness %.6g", *u)
		}
		return aim
	}
	aim := "cutoffs with the smallest " + a.flags.objectiveText
	switch a.flags.objectiveText {
	case "slowdown":
		aim = "cutoffs with the smallest mean slowdown"
	case "waiting":
		aim = "cutoffs with the smallest mean waiting time"
	}
	gap := 0.0
	if a.gap != nil {
		gap = *a.gap
	}
	if gap > 0 {
		gap = math.Pow(10, math.Ceil(math.Log10(gap))) // rounded up because it is a bound
	}
	return fmt.Sprintf("%s; no others are better by more than %.1g of it", aim, gap)
}

// expansionLines returns the expansions with human-readable numbers of hosts.
func (a *tagsAnswer) expansionLines() []render.Record {
	whole := func(v float64) string {
		if v < 1e15 {
			return fmt.Sprintf("%.0f", v)
		}
		return render.Six(v)
	}
	lines := a.expansionRows()
	for i, e := range a.expansions {
		low, high := e.Extra.Bounds()
		text := whole(low)
		switch high := whole(high); {
		case !e.Within:
			text = noHosts(e.Policy)
		case high != text:
			text += " to " + high
		}
		lines[i].Set("extra_hosts", text, "")
	}
	return lines
}

// cutoff returns a cutoff as text: to six digits, in full if it is a size of a list, "none" if
// sizes are unbounded and it stops no job.
func (a *tagsAnswer) cutoff(s float64) string {
	if s == math.MaxFloat64 {
		return "none"
	}
	if list, ok := a.model.Sizes.(sizes.Atomic); ok && slices.Contains(list.Atoms(), s) {
		return strconv.FormatFloat(s, 'g', -1, 64)
	}
	return render.Six(s)
}

// describe writes a description of the distribution of sizes that the flags name.
func (s *sizeFlags) describe(w io.Writer, d sizes.Distribution) {
	switch {
	case s.file() != "":
		low, high, _ := s.own.Support()
		fmt.Fprintf(w, "%s: %s, %s, from %s to %s\n", s.name, render.Counted(s.count, "size"), momentsText(s.own),
			render.Six(low), render.Six(high))
		if s.fit {
			fmt.Fprintf(w, "the distribution that fits them is bounded Pareto of alpha %s: %s\n", render.Six(s.fitted),
				momentsText(d))
		}
	case s.text != "":
		fmt.Fprintf(w, "sizes are %s: %s\n", s.text, momentsText(d))
	default:
		low, _, _ := d.Support()
		fmt.Fprintf(w, "sizes are bounded Pareto of alpha %s from %s to %s: %s\n", s.alpha.short(), render.Six(low),
			s.max.short(), momentsText(d))
	}
}

// momentsText returns mean and squared coefficient of variation as text.
func momentsText(d sizes.Distribution) string {
	mean, err := sizes.Mean(d)
	scv, errSCV := sizes.SCV(d)
	text := func(v float64, err error) string {
		if given(err != nil, v) == nil {
			return render.Six(nil)
		}
		return render.Six(v)
	}
	return fmt.Sprintf("mean %s, squared coefficient of variation %s", text(mean, err), text(scv, errSCV))
}
