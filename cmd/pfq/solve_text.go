package main

import (
	"fmt"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
)

// text writes the lines above the tables.
func (s *solveResult) text(t *render.Text) {
	command.WriteService(t, s.model)
	s.heading(t, "")
	s.partsText(t)
}

// sweepText writes the lines above the tables of all points.
func (f *solveQuestion) sweepText(t *render.Text, m *cluster.Model, points []point) {
	command.WriteService(t, m)
	var last *solveResult
	for _, p := range points {
		before := beforeFactor(p.at.Class, p.factor)
		if p.unstable != nil {
			t.WriteString(before)
			command.WriteLimits(t, m, p.unstable, f.settings.Engine)
			continue
		}
		p.solution.heading(t, before)
		if !p.solution.hasSameParts(last) {
			p.solution.partsText(t)
			last = p.solution
		}
	}
}

// heading writes how the numbers were computed.
func (s *solveResult) heading(t *render.Text, before string) {
	r, digits := s.result, s.style.Digits
	t.Digits = digits
	trust, shown := command.Trust(r.Engine, r.RelativeErrorBound)
	const doubles = 16 // digits of a double
	if r.Engine == num.Enclose && digits > 6 {
		shown = fmt.Sprintf("to %d digits", digits-1)
		if digits-1 > doubles {
			trust = "between bounds " + render.OneDigitUp(widest(r)) + " apart (relative)"
		}
	}
	t.Line("%sstable; %s engine, computed %s, shown %s", before, r.Engine, trust, shown)
}

// partsText writes how the parts of the model were solved, and the notes on the answer.
func (s *solveResult) partsText(t *render.Text) {
	const most = 8
	parts := s.result.Parts
	for i, p := range parts {
		if i == most && len(parts) > most+1 {
			t.Line("and %d more parts", len(parts)-most)
			break
		}
		what := ""
		if len(parts) > 1 {
			what = fmt.Sprintf("part %d of %d: ", i+1, len(parts))
		}
		t.Line("%s%s lattice, %d states: %s", what, p.Lattice, p.States, p.Why)
	}
	if s.note != "" {
		t.Line("%s", s.note)
	}
	if d := s.result.Delays; d != nil {
		t.Line("means hold for any sizes, percentiles %s; these by the %s engine, within %s of exact",
			whenDelaysHold, d.Engine, render.OneDigitUp(d.RelativeErrorBound))
	}
}

// hasSameParts reports whether the parts of another answer have the same text.
func (s *solveResult) hasSameParts(other *solveResult) bool {
	return other != nil && slices.EqualFunc(s.result.Parts, other.result.Parts, func(p, q bf.Part) bool {
		return p.Lattice == q.Lattice && p.States == q.States && p.Width == q.Width && p.Why == q.Why
	})
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

// perServer returns derivatives for text: those in the capacity of a group include the number of
// its servers.
func perServer(list []render.Record) []render.Record {
	rows := slices.Clone(list)
	for i, r := range rows {
		if count, ok := r.Get("count").(int); ok && count > 1 {
			rows[i] = slices.Clone(r).Set("by", fmt.Sprintf("capacity of each of %d servers", count), "")
		}
	}
	return rows
}
