package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"productform/cmd/pfq/internal/command"
	"productform/dispatch"
	"productform/dispatch/logstats"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/plots"
)

// answerLog returns the answer about a log.
func answerLog(q command.Query, r *logstats.Result) render.Answer {
	whole, groups := render.Fields(r), render.Rows(r.Groups)
	for _, row := range append(groups, whole) {
		for _, key := range []string{"waiting", "bounded_slowdown"} {
			if row.Get(key) == nil { // the same fields in all logs
				row.Set(key, noSpread(), "")
			}
		}
	}
	whole.Set("groups", groups, "")
	return render.Answer{
		JSON: whole,
		Lines: []render.Lines{
			{Kind: "log", Of: whole}, {Kind: "window", Of: r.Dispersion}, {Kind: "hour", Of: r.Hours},
			{Kind: "weekday", Of: r.Weekdays}, {Kind: "group", Of: groups},
		},
		Text: func(t *render.Text) { writeLog(t, cli.Source(q.File), r) },
	}
}

// noSpread returns the fields of a spread without values.
func noSpread() render.Record {
	fields := render.Fields(dispatch.Spread{})
	for i := range fields {
		fields[i].Value = nil
	}
	return fields
}

// writeLog writes the answer as text, at most 100 columns wide.
func writeLog(t *render.Text, name string, r *logstats.Result) {
	line := fmt.Sprintf("%s of %s", render.Counted(r.Jobs, "job"), name)
	if r.Users != nil {
		line += "; " + render.Counted(*r.Users, "user")
	}
	t.Line("%s", line)
	days := ""
	if r.Span >= 86400 {
		days = fmt.Sprintf(" (%s days)", render.Six(r.Span/86400))
	}
	t.Line("%s s%s from the first submission to the last", render.Six(r.Span), days)
	writeLoads(t, r)
	writeVariation(t, r)
	t.Blank()
	writeGroups(t, r)
	writeHours(t, r)
}

// writeLoads writes the processors and the loads.
func writeLoads(t *render.Text, r *logstats.Result) {
	if r.Processors == nil {
		t.Line("the number of processors is unknown: --workers W gives it")
		return
	}
	t.Line("%s (%s)", render.Counted(int(*r.Processors), "processor"), processorsFrom(r.Source))
	if r.Peak != nil && *r.Peak > *r.Processors {
		t.Line("more were in use at the peak: %d", *r.Peak)
	}
	if r.Offered != nil {
		t.Line("offered load %s: work submitted, over what they can do from the first submission to the last",
			render.Six(*r.Offered))
	}
	if r.Carried != nil {
		t.Line("carried load %s: work done in that time", render.Six(*r.Carried))
	}
}

// processorsFrom returns where the number of processors comes from.
func processorsFrom(source logstats.Source) string {
	return map[logstats.Source]string{logstats.Given: "that of --workers", logstats.OfHeader: "MaxProcs of the log",
		logstats.PeakInUse: "the peak in use; --workers W gives another number"}[source]
}

// writeVariation writes the distance of arrivals from Poisson and of sizes from exponential.
func writeVariation(t *render.Text, r *logstats.Result) {
	scv := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fourDigits(*v)
	}
	names := map[float64]string{60: "minute", 3600: "hour", 86400: "day"}
	var windows []string
	for _, d := range r.Dispersion {
		windows = append(windows, fmt.Sprintf("%s by %s", fourDigits(d.Index), names[d.Window]))
	}
	if windows != nil {
		t.Line("index of dispersion of arrivals (Poisson: 1): %s", strings.Join(windows, ", "))
	}
	t.Line("squared coefficients of variation (exponential: 1): gaps %s, run times %s, work %s",
		scv(r.GapSCV), scv(r.RunTimeSCV), scv(r.WorkSCV))
	if r.UnknownWaits > 0 {
		t.Line("waiting time unknown for %s", render.Counted(r.UnknownWaits, "job"))
	}
}

// mostRows is the maximum number of groups of a kind in text.
const mostRows = 10

// writeGroups writes a table of waiting times and slowdowns for each kind of group.
func writeGroups(t *render.Text, r *logstats.Result) {
	t.Line("%-32s   %-26s   %s", "", "waiting, s", "bounded slowdown")
	name, kind := "all", ""
	rows := []logstats.Group{{Name: &name, Jobs: r.Jobs, Waiting: r.Waiting, Slowdown: r.Slowdown}}
	flush := func() {
		t.Line("%-16s %8s %6s %7s %6s %6s %6s %8s %6s %6s %6s", kind, "jobs", "work %", "mean", "p50", "p95", "p99",
			"mean", "p50", "p95", "p99")
		shown := rows
		if len(rows) > mostRows && kind != logstats.Size {
			shown = rows[:mostRows]
		}
		for _, g := range shown {
			writeGroup(t, g)
		}
		if more := len(rows) - len(shown); more > 0 {
			t.Line("%d more in --format json or csv", more)
		}
		t.Blank()
	}
	for _, g := range r.Groups {
		if g.Kind != kind {
			flush()
			kind, rows = g.Kind, nil
		}
		rows = append(rows, g)
	}
	flush()
}

// writeGroup writes the row of a group.
func writeGroup(t *render.Text, g logstats.Group) {
	name, share := "unknown", ""
	if g.Name != nil {
		name = *g.Name
	}
	if g.Share != nil {
		share = fmt.Sprintf("%.1f", 100**g.Share)
	}
	spread := func(s *dispatch.Spread) []any {
		if s == nil {
			return []any{"-", "-", "-", "-"}
		}
		return []any{fourDigits(s.Mean), fourDigits(s.P50), fourDigits(s.P95), fourDigits(s.P99)}
	}
	cells := append([]any{shortened(name, 16), g.Jobs, share}, spread(g.Waiting)...)
	t.Line("%-16s %8d %6s %7s %6s %6s %6s %8s %6s %6s %6s", append(cells, spread(g.Slowdown)...)...)
}

// shortened returns a name in at most the given number of characters.
func shortened(name string, most int) string {
	if utf8.RuneCountInString(name) > most {
		return string([]rune(name)[:most-1]) + "…"
	}
	return name
}

// fourDigits returns a number >= 0 in at most 6 characters, or 7 if it is at least 1e10.
func fourDigits(x float64) string {
	switch {
	case x >= 999999.5:
		mantissa, exponent, _ := strings.Cut(fmt.Sprintf("%.2e", x), "e+")
		return mantissa + "e" + cmp.Or(strings.TrimLeft(exponent, "0"), "0")
	case x >= 1000:
		return fmt.Sprintf("%.0f", x)
	case x >= 1 || x == 0:
		return fmt.Sprintf("%.4g", x)
	case x >= 0.0005:
		return strings.TrimRight(fmt.Sprintf("%.3f", x), "0")
	}
	return "<0.001"
}

// writeHours writes the submissions by hour and weekday.
func writeHours(t *render.Text, r *logstats.Result) {
	if r.Zone == nil {
		return
	}
	t.Line("submissions by hour and weekday (zone %s)", *r.Zone)
	line := func(list []logstats.Arrivals) {
		var when, jobs strings.Builder
		for _, a := range list {
			fmt.Fprintf(&when, "%7.3s", a.When)
			fmt.Fprintf(&jobs, "%7d", a.Jobs)
		}
		t.Line("%s", when.String())
		t.Line("%s", jobs.String())
	}
	line(r.Hours[:12])
	line(r.Hours[12:])
	line(r.Weekdays)
}

// usageParts is the number of equal parts of the time in a picture.
const usageParts = 400

// usageFigure returns the picture of the processors in use over time.
func usageFigure(name string, log *logstats.Log, r *logstats.Result) *plots.Figure {
	unit, seconds := "days", 86400.0
	if *r.End-r.First < 2*86400 {
		unit, seconds = "hours", 3600.0
	}
	busy := logstats.Usage(log.Jobs, r.First, *r.End, usageParts)
	width := (*r.End - r.First) / usageParts / seconds
	s := plots.Series{Label: "in use", Kind: plots.Area, X: []float64{0}, Y: []float64{busy[0]}}
	for k, y := range busy[1:] {
		s.X, s.Y = append(s.X, float64(k+1)*width), append(s.Y, y)
	}
	s.X, s.Y = append(s.X, usageParts*width), append(s.Y, busy[usageParts-1])
	most := 0.0
	for _, y := range busy {
		most = math.Max(most, y)
	}
	m := float64(*r.Processors)
	return &plots.Figure{
		Title: "processors in use over time",
		Caption: fmt.Sprintf("The jobs of %s keep %s of %d processors busy on average, and %d at the peak. "+
			"Heights are means over %s %s.", name, render.Six(mean(busy)), *r.Processors, *r.Peak, render.Six(width),
			unit),
		Panels: []plots.Panel{{Title: "processors in use", Wide: true,
			X:      plots.Axis{Quantity: "time since the first submission", Unit: unit, Max: usageParts * width},
			Y:      plots.Axis{Quantity: "processors", Max: 1.05 * max(m, most)},
			Series: []plots.Series{s}, References: []plots.Reference{{Label: fmt.Sprintf("all %.0f", m), Y: m}},
		}},
	}
}

// mean returns the mean of values.
func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}
