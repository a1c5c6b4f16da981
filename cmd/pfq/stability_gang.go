// This file implements pfq stability for clusters whose jobs hold several servers.

package main

import (
	"context"
	"slices"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/gang"
	"productform/internal/render"
	"productform/num"
)

// gangLimitSections are the lines of CSV and the table of text about the limits of gangs.
var gangLimitSections = []render.Section{
	{Kind: "cluster", Columns: "-"},
	{Kind: "class", Of: "limit_derivatives", Columns: "class value",
		Before: "change of the limit per unit of the share of a class, at the expense of the others"},
}

// gangSizes is the distribution of sizes for which limits and waits of gangs hold.
const gangSizes = "exponential"

// answerGangStability decides whether a cluster whose jobs hold several servers is stable.
func answerGangStability(q command.Query, m *cluster.Model) (a render.Answer, stable bool, err error) {
	s, err := command.WithProgress(q, func(ctx context.Context) (*gang.Stability, error) {
		return gang.CheckStability(ctx, m, gang.Settings{})
	})
	if err != nil {
		return a, false, command.InFile(q.File, err)
	}
	return render.Points([]render.Point{gangLimits(s)}, false, gangLimitColumns, func(t *render.Text) {
		command.WriteService(t, m)
		writeGangVerdict(t, s)
		writeGangLimit(t, s)
		t.Line("the limit holds for exponential sizes; for others use pfq simulate --sizes")
	}), s.Verdict == gang.Stable, nil
}

// gangLimitColumns are the first columns of CSV.
var gangLimitColumns = []string{"kind", "class", "value", "service", "sizes", "verdict", "stable", "arrival_rate",
	"throughput_limit", "critical_scale", "work_conserving_limit", "fifo_waste", "engine", "method", "states"}

// gangLimits returns the answer about the limit of gangs. Derivatives may be approximate although
// the limit is a fraction.
func gangLimits(s *gang.Stability) render.Point {
	limits, derivatives := *s, render.Style{Engine: num.Exact}
	if slices.ContainsFunc(s.LimitDerivatives, func(d gang.LimitDerivative) bool { return d.Value.Exact == nil }) {
		derivatives.Engine = num.Float
	}
	limits.LimitDerivatives = nil
	body := limitStyle(s).Record(limits).Set("service", cluster.Gang, "engine").Set("sizes", gangSizes, "engine")
	return render.Point{
		Body:     body.Set("limit_derivatives", derivatives.Rows(s.LimitDerivatives), ""),
		Sections: gangLimitSections,
	}
}

// limitStyle returns the style of the limits: fractions, or bounds.
func limitStyle(s *gang.Stability) render.Style {
	if s.Engine == num.Exact {
		return render.Style{Engine: num.Exact}
	}
	return render.Style{Engine: num.Enclose}
}

// writeGangVerdict writes whether the arrival rates are below the limit, and by what factor.
func writeGangVerdict(t *render.Text, s *gang.Stability) {
	if s.CriticalScale == nil {
		t.Line("stable: no jobs arrive")
		return
	}
	verdict := map[gang.Verdict]string{
		gang.Stable:    "stable: remains so",
		gang.Unstable:  "unstable: would be stable",
		gang.Undecided: "undecided, within the bounds on the limit: stable",
	}[s.Verdict]
	t.Line("%s with the arrival rates multiplied by anything below %s", verdict,
		t.Cell(limitStyle(s).Computed(s.CriticalScale)))
}

// writeGangLimit writes the limit, if jobs arrive.
func writeGangLimit(t *render.Text, s *gang.Stability) {
	if s.ThroughputLimit == nil {
		return
	}
	style := limitStyle(s)
	t.Line("limit   %s jobs per unit of time; a policy that leaves no server idle could reach %s",
		t.Cell(style.Computed(s.ThroughputLimit)), t.Cell(style.Computed(s.WorkConservingLimit)))
	if s.FIFOWaste.Float == 0 {
		t.Line("waste   none: no job blocks servers that others could use")
		return
	}
	t.Line("waste   %s of that is lost because a job that does not fit blocks those behind it",
		t.Cell(style.Computed(s.FIFOWaste)))
	if len(s.LimitDerivatives) > 1 {
		t.Line("class   %s costs most: a larger share of its jobs lowers the limit most", s.Costliest())
	}
}
