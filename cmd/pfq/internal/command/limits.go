package command

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cluster"
	"productform/internal/render"
	"productform/stability"
)

// Decide says whether a model is stable, by how much, and what limits it.
func Decide(q Query, m *cluster.Model) (*stability.Result, error) {
	return WithProgress(q, func(ctx context.Context) (*stability.Result, error) { return stability.Cluster(ctx, m) })
}

// An Unstable explains why a model has no answer.
type Unstable struct {
	*Scaled
	Stable  bool    `json:"stable"` // false
	Service Service `json:"service"`
	Limits
}

// NewUnstable explains why a model has no answer, at a factor unless that is nil.
func NewUnstable(m *cluster.Model, r *stability.Result, at *Scaled, p render.Proof) *Unstable {
	return &Unstable{at, false, AllServers, NewLimits(m, r, p)}
}

// Limits are the sets of classes that decide.
type Limits struct {
	Margin             render.Number `json:"margin"`
	MarginSet          []string      `json:"margin_set"`
	CriticalScale      render.Number `json:"critical_scale"`
	Bottleneck         []string      `json:"bottleneck"`
	BottleneckWork     render.Number `json:"bottleneck_work"`
	BottleneckCapacity render.Number `json:"bottleneck_capacity"`

	result *stability.Result
	drawn  int // servers that the jobs of the margin draw, if these are those of one draw or few; else 0
}

// NewLimits returns what stability says about a model.
func NewLimits(m *cluster.Model, r *stability.Result, p render.Proof) Limits {
	return Limits{
		Margin: render.RatBeside(r.Margin, new(big.Rat), p), MarginSet: classNames(m, r.MarginSet),
		CriticalScale: render.RatBeside(r.CriticalScale, big.NewRat(1, 1), p), Bottleneck: classNames(m, r.Bottleneck),
		BottleneckWork: render.Rat(r.Arrival, p), BottleneckCapacity: render.Rat(r.Capacity, p),
		result: r, drawn: drawnServers(m, r),
	}
}

// drawnServers returns how many servers the set has that attains the margin, if its classes can draw others as well: the set then has only
// the jobs that draw from these.
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

// UnstableAnswer explains why a model has no answer.
func UnstableAnswer(m *cluster.Model, r *stability.Result, p render.Proof) render.Answer {
	u := NewUnstable(m, r, nil, p)
	return render.Answer{JSON: u, Lines: []render.Lines{{Of: u}}, Text: func(t *render.Text) {
		u.Service.Write(t)
		u.Limits.Write(t)
	}}
}

func classNames(m *cluster.Model, classes []int) []string {
	names := []string{}
	for _, i := range classes {
		names = append(names, m.Classes[i].Name)
	}
	return names
}

// Write writes them as text.
func (l Limits) Write(t *render.Text) {
	r := l.result
	margin := beside(l.Margin, r.Margin, nil)
	if r.CriticalScale == nil {
		t.Line("stable: no jobs arrive")
		t.Line("margin      %s, of %s", margin, firstNames(l.MarginSet))
		return
	}
	verdict := "unstable: would be stable"
	if r.Stable {
		verdict = "stable: still so"
	}
	t.Line("%s with the arrival rates multiplied by anything below %s", verdict, beside(l.CriticalScale, r.CriticalScale, big.NewRat(1, 1)))
	whose := "the bottleneck"
	switch {
	case l.drawn > 0:
		whose = fmt.Sprintf("the jobs of %s that draw the same %d servers, another set than the bottleneck", firstNames(l.MarginSet), l.drawn)
	case !slices.Equal(r.MarginSet, r.Bottleneck):
		whose = firstNames(l.MarginSet) + ", another set than the bottleneck"
	}
	t.Line("margin      %s, of %s", margin, whose)
	t.Line("bottleneck  %s: work %s on capacity %s", firstNames(l.Bottleneck), beside(l.BottleneckWork, r.Arrival, r.Capacity),
		beside(l.BottleneckCapacity, r.Capacity, nil))
}

// beside returns a number for people, on its own side of the boundary if there is one.
func beside(n render.Number, v, boundary *big.Rat) string {
	decimals := render.SixRat(v)
	if boundary != nil {
		decimals = render.SixBeside(v, boundary)
	}
	const longest = 24
	if n.Proof != render.Fraction || len(n.Exact) > longest {
		return decimals
	}
	if v.IsInt() {
		return n.Exact
	}
	return n.Exact + " = " + decimals
}

// firstNames returns the first names of a list, and how many there are if they are many.
func firstNames(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, ... (%d classes)", strings.Join(names[:most], ", "), len(names))
}
