package command

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cluster"
	"productform/internal/render"
	"productform/num"
	"productform/stability"
)

// Decide reports whether a model is stable, by how much, and what limits it.
func Decide(q Query, m *cluster.Model) (*stability.Result, error) {
	return WithProgress(q, func(ctx context.Context) (*stability.Result, error) { return stability.Cluster(ctx, m) })
}

// Limits returns the answer of pfq stability about a model, with the names of the deciding sets of
// classes.
func Limits(m *cluster.Model, r *stability.Result, e num.Engine) render.Record {
	return render.Style{Engine: e}.Record(r).Set("margin_set", m.NamesOf(r.MarginSet), "").
		Set("bottleneck", m.NamesOf(r.Bottleneck), "")
}

// drawnServers returns the number of servers of the set that attains the margin, if its classes can
// also draw other servers: the set then counts only jobs that draw all theirs from these.
func drawnServers(m *cluster.Model, r *stability.Result) int {
	drawn, all := 0, true
	for _, i := range r.MarginSet {
		for _, c := range m.Classes[i].Servers {
			all = all && r.MarginServers[c.Server] >= m.Servers[c.Server].Size()
		}
	}
	if all {
		return 0
	}
	for _, n := range r.MarginServers {
		drawn += n
	}
	return drawn
}

// Unstable returns the fields that explain why a model has no answer.
func Unstable(m *cluster.Model, r *stability.Result, e num.Engine) render.Record {
	return Limits(m, r, e).Set("service", cmp.Or(m.Service, cluster.AllServers), "margin")
}

// UnstableAnswer explains why a model has no answer.
func UnstableAnswer(m *cluster.Model, r *stability.Result, e num.Engine) render.Answer {
	point := render.Point{Body: Unstable(m, r, e), Sections: []render.Section{{Columns: "-"}}}
	return render.Points([]render.Point{point}, false, nil, func(t *render.Text) {
		WriteService(t, m)
		WriteLimits(t, m, r, e)
	})
}

// WriteLimits writes the limits as text.
func WriteLimits(t *render.Text, m *cluster.Model, r *stability.Result, e num.Engine) {
	margin := formatOnSide(r.Margin, nil, e)
	if r.CriticalScale == nil {
		t.Line("stable: no jobs arrive")
		t.Line("margin      %s, of %s", margin, firstNames(m, r.MarginSet))
		return
	}
	verdict := "unstable: would be stable"
	if r.Stable {
		verdict = "stable: remains so"
	}
	t.Line("%s with the arrival rates multiplied by anything below %s", verdict,
		formatOnSide(r.CriticalScale, big.NewRat(1, 1), e))
	whose := "the bottleneck"
	if drawn := drawnServers(m, r); drawn > 0 {
		whose = fmt.Sprintf("the jobs of %s that draw the same %d servers, a different set from the bottleneck",
			firstNames(m, r.MarginSet), drawn)
	} else if !slices.Equal(r.MarginSet, r.Bottleneck) {
		whose = firstNames(m, r.MarginSet) + ", a different set from the bottleneck"
	}
	t.Line("margin      %s, of %s", margin, whose)
	t.Line("bottleneck  %s: work %s on capacity %s", firstNames(m, r.Bottleneck),
		formatOnSide(r.Arrival, r.Capacity, e), formatOnSide(r.Capacity, nil, e))
}

// formatOnSide formats a number for display, rounded so that it stays on its side of the boundary,
// if any.
func formatOnSide(v, boundary *big.Rat, e num.Engine) string {
	decimals := render.SixRat(v)
	if boundary != nil {
		decimals = render.SixBeside(v, boundary)
	}
	const longest = 24
	if e != num.Exact || len(v.RatString()) > longest {
		return decimals
	}
	if v.IsInt() {
		return v.RatString()
	}
	return v.RatString() + " = " + decimals
}

// firstNames returns the names of classes; if there are many, only the first ones and the number of
// classes.
func firstNames(m *cluster.Model, classes []int) string {
	const most = 12
	if len(classes) <= most {
		return strings.Join(m.NamesOf(classes), ", ")
	}
	return fmt.Sprintf("%s, ... (%d classes)", strings.Join(m.NamesOf(classes[:most]), ", "), len(classes))
}
