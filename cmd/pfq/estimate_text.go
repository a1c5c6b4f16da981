package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"productform/bf/gibbs"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
)

// heading writes the lines above the tables.
func heading(t *render.Text, m *cluster.Model, r *gibbs.Result, s gibbs.Settings, note string) {
	command.WriteService(t, m)
	t.Line("stable; estimates, not bounds: ± at confidence %g", s.Confidence)
	t.Line("%d chains of %d sweeps, after a warm-up of %d each; autocorrelation time %.3g sweeps; "+
		"split R-hat %.4g; seed %d", r.Chains, r.Sweeps, r.BurnIn, r.Autocorrelation, r.RHat, s.Seed)
	if note != "" {
		t.Line("%s", note)
	}
}

// gradientSection returns the section of the derivatives. In text the derivatives in rates come
// first, largest first, and one line counts the capacities that are indistinguishable from the most
// valuable one.
func gradientSection(rows []estimateGradientRow) render.Section {
	s := render.Section{Kind: "gradient", Of: "gradients", Columns: "by of mean_jobs_change"}
	shown := slices.SortedStableFunc(slices.Values(rows), func(x, y estimateGradientRow) int {
		return cmp.Or(cmp.Compare(x.By, y.By), cmp.Compare(y.size(), x.size()))
	})
	s.Rows = func([]render.Record) []render.Record { return render.Rows(shown) }
	first := slices.IndexFunc(shown, func(g estimateGradientRow) bool { return g.By == byCapacity })
	if first < 0 {
		return s
	}
	alike := 0
	for _, g := range shown[first:] {
		if g.isLike(shown[first]) {
			alike++
		}
	}
	if alike > 1 {
		s.After = fmt.Sprintf("the %d most valuable capacities cannot be distinguished", alike)
	}
	return s
}

// size returns the absolute value of a derivative, -1 if there is none.
func (g estimateGradientRow) size() float64 {
	if g.MeanJobs == nil {
		return -1
	}
	return math.Abs(g.MeanJobs.Mean)
}

// isLike reports whether two derivatives differ by no more than the interval of their difference,
// computed as if they were independent.
func (g estimateGradientRow) isLike(other estimateGradientRow) bool {
	x, y := g.MeanJobs, other.MeanJobs
	return x != nil && y != nil && math.Abs(x.Mean-y.Mean) <= math.Hypot(x.HalfWidth, y.HalfWidth)
}
