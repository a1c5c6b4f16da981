package main

import (
	"fmt"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
	"productform/plots"
	"productform/sim"
	"productform/sim/farm"
	"productform/sizes"
	"productform/tags"
)

// farmCurves holds the numbers of the picture of a farm.
type farmCurves struct {
	flags   *pictureFlags
	sizes   sizes.Distribution
	answers []*tagsAnswer // at each load
	table   bool
}

// reason explains why there are no cutoffs at the last load without any.
func (c *farmCurves) reason() (why string) {
	for k, a := range c.answers {
		if a.feasible() {
			continue
		}
		if why = a.reason; c.load(k) >= a.maxLoad {
			why += fmt.Sprintf("; there are such cutoffs at loads below %.6g", a.maxLoad)
		}
	}
	return why
}

// warn writes each warning once.
func (c *farmCurves) warn(q command.Query) {
	var seen []string
	for _, a := range c.answers {
		for _, w := range a.warnings {
			if !slices.Contains(seen, w) {
				seen = append(seen, w)
				fmt.Fprintln(q.Stderr, "pfq: warning:", w)
			}
		}
	}
}

// load returns load k.
func (c *farmCurves) load(k int) float64 { return c.flags.loads[k].float }

// axis returns the horizontal axis.
func (c *farmCurves) axis() plots.Axis {
	a := plots.Axis{Quantity: "system load", Unit: "fraction of the total capacity", Max: 1}
	const narrow = 1e-6 // an axis this narrow has no ticks
	if first, last := c.load(0), c.load(len(c.answers)-1); first >= last/2 && last-first > narrow {
		a.Min, a.Max = first, last
	}
	return a
}

// regions returns the loads at which there are no cutoffs: those above the largest load of TAGS, or
// where none were found.
func (c *farmCurves) regions() (all []plots.Region) {
	axis := c.axis()
	for k := 0; k < len(c.answers); k++ {
		if c.answers[k].feasible() {
			continue
		}
		label := "TAGS: no cutoffs"
		if c.flags.objective.fair && c.load(k) < c.answers[k].maxLoad {
			label = "TAGS: no fair cutoffs"
		}
		from := c.load(k)
		if k > 0 && c.answers[k].maxLoad > c.load(k-1) {
			from = min(from, c.answers[k].maxLoad)
		}
		for k+1 < len(c.answers) && !c.answers[k+1].feasible() {
			k++
		}
		to := c.load(k)
		if k == len(c.answers)-1 && c.answers[k].maxLoad <= to {
			to = axis.Max
		}
		if from < to {
			all = append(all, plots.Region{Label: label, From: from, To: to})
		}
	}
	return all
}

// figure returns the figure: the means in the objective under all policies, the cutoffs, and the
// loads of the hosts.
func (c *farmCurves) figure() *plots.Figure {
	f := &plots.Figure{ID: "tags", Title: "cutoffs against load", Caption: c.caption(),
		Confidence: c.flags.settings.Confidence}
	o := c.flags.objective.weights
	if o.Slowdown > 0 {
		f.Panels = append(f.Panels, c.means("mean slowdown", "W/X", farm.MeanSlowdown,
			func(r *tags.Result) (num.Value, bool) { return r.MeanSlowdown, !r.NoSlowdown }))
	}
	if o.Waiting > 0 {
		f.Panels = append(f.Panels, c.means("mean waiting time", "seconds", farm.MeanWaiting,
			func(r *tags.Result) (num.Value, bool) { return r.MeanWaiting, true }))
	}
	f.Panels = append(f.Panels, c.cutoffs().Facets()...)
	f.Panels = append(f.Panels, c.hosts().Facets()...)
	return f
}

// cutoffs returns the panel of the cutoffs, without series if only idle hosts have cutoffs.
func (c *farmCurves) cutoffs() plots.Panel {
	p := plots.Panel{Title: "best cutoffs", X: c.axis(), Regions: c.regions()}
	var values []float64
	for i := range c.flags.hosts - 1 {
		s := plots.Series{Label: fmt.Sprintf("of host %d", i+1), Marked: len(c.answers) == 1}
		for k, a := range c.answers {
			if a.feasible() && a.result.Cutoffs[i] > 0 { // at 0 host i+1 is idle
				s.X, s.Y = append(s.X, c.load(k)), append(s.Y, a.result.Cutoffs[i])
			}
		}
		if s.X != nil {
			p.Series, values = append(p.Series, s), append(values, s.Y...)
		}
	}
	p.Y = plots.Axis{Quantity: "cutoff", Unit: "seconds of work"}
	if !c.table && values != nil {
		p.Y.Scale, p.Y.Min, p.Y.Max = plots.Log, slices.Min(values)/1.5, slices.Max(values)*1.5
	}
	return p
}

// hosts returns the panel of the loads of the hosts under TAGS.
func (c *farmCurves) hosts() plots.Panel {
	p := plots.Panel{Title: "loads of the hosts under TAGS", X: c.axis(),
		Y: plots.Axis{Quantity: "load of the host", Max: 1}, Regions: c.regions()}
	for i := range c.flags.hosts {
		s := plots.Series{Label: fmt.Sprintf("host %d", i+1), Marked: len(c.answers) == 1}
		for k, a := range c.answers {
			if a.feasible() {
				s.X, s.Y = append(s.X, c.load(k)), append(s.Y, a.result.Hosts[i].Load.Float)
			}
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// means returns the panel of a mean under each policy: a curve, or a band if there are bounds, and
// simulated points with the same look.
func (c *farmCurves) means(name, unit, measure string, of func(*tags.Result) (num.Value, bool)) plots.Panel {
	p := plots.Panel{Title: name + " under TAGS and its rivals", X: c.axis(), Regions: c.regions(), Wide: true}
	var values []float64
	for look, policy := range []tags.Policy{tags.PolicyTAGS, tags.PolicyRandom, tags.PolicyRoundRobin,
		tags.PolicyCentral, tags.PolicySITAE, tags.PolicySITA, farm.ShortestQueue} {
		s := plots.Series{Label: string(policy), Look: look, Marked: len(c.answers) == 1}
		simulated := plots.Series{Label: string(policy), Look: look, Kind: plots.Points}
		if c.table {
			simulated.Group = "simulated"
		}
		for k, a := range c.answers {
			at := slices.IndexFunc(a.policies, func(p policyAnswer) bool { return p.name == policy })
			if at < 0 {
				continue
			}
			one := a.policies[at]
			if one.means != nil {
				if v, known := of(one.means); known {
					c.addMean(&s, c.load(k), v, one.means.Kind)
				}
			}
			if one.simulated != nil {
				addEstimate(&simulated, c.load(k), one.simulated.All(measure), c.table)
			}
		}
		if s.X != nil {
			if !c.table {
				s = drawable(s)
			}
			p.Series = append(p.Series, s)
			values = slices.Concat(values, s.Y, s.High) // lower bounds may be next to 0
		}
		if simulated.X != nil {
			p.Series = append(p.Series, simulated)
			values = slices.Concat(values, simulated.Low, simulated.High)
		}
	}
	p.Y = plots.Axis{Quantity: name, Unit: unit}
	if !c.table {
		p.Y = p.Y.Hold(values, true)
	}
	return p
}

// drawable returns a series in a form that can be drawn: a band of one point becomes a bar.
func drawable(s plots.Series) plots.Series {
	if s.Kind == plots.Band && len(s.X) == 1 {
		s.Kind, s.Y = plots.Points, []float64{(s.Low[0] + s.High[0]) / 2}
	}
	return s
}

// addMean adds the mean at a load. Bounds make a band; a picture has only those above 0 because its
// axis is logarithmic.
func (c *farmCurves) addMean(s *plots.Series, x float64, v num.Value, kind tags.Kind) {
	if kind != tags.Bounds {
		if given(false, v.Float) != nil && (v.Float > 0 || c.table) {
			s.X, s.Y = append(s.X, x), append(s.Y, v.Float)
		}
		return
	}
	s.Kind, s.Marked = plots.Band, false
	if low, high := v.Bounds(); low > 0 || c.table {
		s.X, s.Low, s.High = append(s.X, x), append(s.Low, low), append(s.High, high)
	}
}

// addEstimate adds an estimate; a picture has only those with an interval above 0.
func addEstimate(s *plots.Series, x float64, e *sim.Estimate, table bool) {
	if e == nil || !table && e.Mean <= e.HalfWidth {
		return
	}
	s.X, s.Y = append(s.X, x), append(s.Y, e.Mean)
	s.Low, s.High = append(s.Low, e.Mean-e.HalfWidth), append(s.High, e.Mean+e.HalfWidth)
}

// caption describes the farm and its curves.
func (c *farmCurves) caption() string {
	f := c.flags
	var words strings.Builder
	f.sizes.describe(&words, c.sizes)
	hosts := fmt.Sprintf("%d hosts", f.hosts)
	if f.hosts == 1 {
		hosts = "One host"
	}
	if f.speeds != nil {
		var speeds []string
		for _, v := range f.speeds {
			speeds = append(speeds, v.short())
		}
		hosts += " of speeds " + strings.Join(speeds, ", ")
	}
	described := strings.ReplaceAll(strings.TrimSpace(words.String()), "\n", "; ")
	text := fmt.Sprintf("%s; %s. Objective: %s.", hosts, described, f.objectiveText)
	if f.hosts > 1 {
		text += fmt.Sprintf(" Cutoffs keep every host below load 1 at system loads below %.4g.", c.answers[0].maxLoad)
	}
	if slices.ContainsFunc(c.answers, func(a *tagsAnswer) bool { return slices.Contains(a.result.Cutoffs, 0) }) {
		text += " Hosts with a cutoff of 0, which is not drawn, are idle."
	}
	text += " TAGS is exact at host 1 and an approximation at the others"
	for _, p := range c.answers[0].policies {
		switch {
		case p.means == nil:
		case p.name == tags.PolicyCentral:
			text += "; least-work-remaining is " +
				map[bool]string{true: "exact", false: "an approximation"}[p.means.Kind == tags.Exact]
			if p.note != "" {
				text += fmt.Sprintf(", %s times the truth at loads near 0 and right near 1",
					render.Six(c.answers[0].lowLoad))
			}
		case p.name == tags.PolicyRoundRobin && p.means.Kind == tags.Bounds:
			text += "; round-robin lies between bounds"
		}
	}
	text += "."
	if s := f.settings; s.Runs > 0 {
		text += fmt.Sprintf(" Points: simulation, %d runs of %g jumps, seed %d; bars are intervals at confidence %g.",
			s.Runs, f.jumps(), s.Seed, s.Confidence)
	}
	return text
}
