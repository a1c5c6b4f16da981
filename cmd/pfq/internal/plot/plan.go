package plot

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/plan"
	"productform/plots"
)

// The parts of a plan that can be drawn.
const (
	findFrontier = "frontier"
	findGrowth   = "growth"
	findLoad     = "load"
)

// planCurves holds the numbers of the picture of plans.
type planCurves struct {
	flags   *question
	problem *plan.Problem
	x       plots.Axis     // cost, or load
	at      []float64      // position on that axis of each answer with a plan
	answers []*plan.Answer // answers at these positions; the axis may extend further
	regions []plots.Region
	loads   []*plan.Load // load of each answer with --find load
	note    string       // for the caption
}

// planned draws a plan. The figure is nil if no plan meets the targets, which is then reported on
// the standard error.
func (f *question) planned(q command.Query, s source) (*plots.Figure, error) {
	read := func(r io.Reader) (*plan.Problem, error) { return plan.Read(r, ".") }
	p, err := command.Read(s.query, read, plan.ReadFile, "solve")
	if err != nil {
		return nil, err
	}
	command.NotePriorities(q.Stderr, p.Model, command.FirstCome)
	c := &planCurves{flags: f, problem: p}
	find := c.frontier
	switch {
	case f.find == findGrowth && f.scaling.Factors == nil:
		return nil, cli.FlagError{Err: &input.Error{Path: "--scale",
			Want: "growing factors of the arrival rates, such as 1:2:0.25, with --find growth"}}
	case f.find == findGrowth:
		find = c.growth
	case f.scaling.Factors != nil:
		return nil, cli.FlagError{Err: fmt.Errorf("--find %s and --scale cannot be combined: plans are those of one "+
			"load, which is in the file as scale", f.find)}
	}
	if err := c.check(); err != nil {
		return nil, command.InFile(q.File, err)
	}
	why, err := find(q)
	if err == nil && why == "" && f.find == findLoad {
		err = c.findGreatestLoads(q)
	}
	if err != nil {
		return nil, command.InFile(q.File, c.hintGrowth(f.translate(err)))
	}
	if why != "" {
		fmt.Fprintf(q.Stderr, "pfq: there is nothing to draw: %s\n", why)
		return nil, nil
	}
	return c.figure(q.File), nil
}

// hintGrowth adds a hint at what can be drawn to the error for a service without a frontier.
func (c *planCurves) hintGrowth(err error) error {
	bad, ok := err.(*input.Error)
	if c.flags.find == findGrowth || !ok || bad.Path != "model.service" && bad.Path != "model" {
		return err
	}
	hinted := *bad
	hinted.Want += "; --find growth --scale 1,1.2 draws the smallest costs"
	return &hinted
}

// check rejects a plan with more to draw than fits a picture.
func (c *planCurves) check() error {
	p := c.problem
	options := len(p.Options())
	count := 2 + len(p.Targets) + plots.PanelsOf(options)
	return checkPanels("targets", fmt.Sprintf("%d, and %d options", len(p.Targets), options), count)
}

// frontier finds the plans that are best for their cost, or explains why there are none.
func (c *planCurves) frontier(q command.Query) (why string, err error) {
	p := c.problem
	c.answers, err = command.WithProgress(q, func(ctx context.Context) ([]*plan.Answer, error) {
		return plan.Frontier(ctx, p, c.flags.search)
	})
	if err != nil {
		return "", err
	}
	first, last := c.answers[0], c.answers[len(c.answers)-1]
	switch {
	case first.Plan == nil && !first.Complete:
		return fmt.Sprintf("no plan that meets the targets was found in %d solves; --limit takes more",
			first.Solves), nil
	case first.Plan == nil:
		return "no plan meets the targets, not even everything together; pfq plan says by how much", nil
	case !first.WithinBudget:
		return fmt.Sprintf("no plan within the budget meets the targets: one that does costs %s, the budget is %s",
			render.SixRat(first.Plan.Cost), render.SixRat(p.Budget)), nil
	}
	for _, a := range c.answers {
		c.at = append(c.at, float(a.Plan.Cost))
	}
	end := 1.04 * c.at[len(c.at)-1]
	if p.Budget != nil {
		end = max(c.at[len(c.at)-1], min(1.25*end, float(p.Budget))) // no plan up to this cost is better
	}
	if !last.Complete { // shows how far the search got
		end = max(end, 1.2*c.at[len(c.at)-1])
		if b := last.Proof.Below; b != nil {
			end = max(end, 1.1*float(b))
		}
	}
	c.x = plots.Axis{Quantity: "cost", Unit: "as in the file", Max: end}
	if !(end > 0) {
		c.x.Max = 1
	}
	from := c.at[0]                          // cheaper plans miss a target
	searched := max(from, c.at[len(c.at)-1]) // cheaper plans have separate proofs
	switch b := last.Proof.Below; {
	case b == nil || last.Complete:
	case last.Proof.Delay == nil: // a single plan, the cheapest
		from, searched = float(b), float(b)
	default:
		searched = max(searched, float(b))
	}
	label := "targets missed"
	if len(first.Undecided) > 0 {
		label = "missed or undecided"
	}
	if from > 0 {
		c.regions = append(c.regions, plots.Region{Label: label, To: from})
	}
	if last.Complete {
		return "", nil
	}
	c.note = fmt.Sprintf(" The search ended after %d solves, before proving that the last plan is best for its cost.",
		c.solves())
	if searched < c.x.Max {
		c.regions = append(c.regions, plots.Region{Label: "not searched", From: searched, To: c.x.Max})
	}
	return "", nil
}

// growth finds the cheapest plans as the load grows, or explains why there are none.
func (c *planCurves) growth(q command.Query) (why string, err error) {
	p, loads := c.problem, c.flags.scaling.Factors
	answers, err := command.WithProgress(q, func(ctx context.Context) ([]*plan.Answer, error) {
		return plan.Growth(ctx, p, loads, c.flags.search)
	})
	if err != nil {
		return "", err
	}
	for k, a := range answers {
		if a.Plan != nil {
			c.at, c.answers = append(c.at, float(loads[k])), append(c.answers, a)
		}
	}
	if c.answers == nil {
		return fmt.Sprintf("no plan meets the targets with the arrival rates multiplied by %s",
			loads[0].RatString()), nil
	}
	c.x = plots.Axis{Quantity: "load", Unit: "times the arrival rates"}
	if p.Scale != nil {
		c.x.Unit += " at scale " + plots.Short(float(p.Scale))
	}
	first, last := float(loads[0]), float(loads[len(loads)-1])
	if c.x.Max = last; first >= last/2 && first < last {
		c.x.Min = first - (last-first)/20
	}
	if n := len(c.answers); n < len(loads) {
		failed := answers[len(answers)-1]
		label, why := "targets missed with every purchase", "no plan meets the targets"
		if !failed.Complete {
			label, why = "no plan found", "no plan was found within --limit"
		}
		fmt.Fprintf(q.Stderr,
			"pfq: note: %d of %d loads are not drawn: %s with the arrival rates multiplied by %s or more\n",
			len(loads)-n, len(loads), why, loads[n].RatString())
		if from := float(loads[n]); from < last {
			c.regions = append(c.regions, plots.Region{Label: label, From: from, To: last})
		}
	}
	if slices.ContainsFunc(c.answers, func(a *plan.Answer) bool { return !a.Complete }) {
		c.note = fmt.Sprintf(" Some searches ended before they had a proof: bars go down to what every plan costs at "+
			"least (%d solves).", c.solves())
	}
	return "", nil
}

// findGreatestLoads finds the greatest load of each plan of the frontier.
func (c *planCurves) findGreatestLoads(q command.Query) error {
	for k, a := range c.answers {
		l, err := command.WithProgress(q.Part(k, len(c.answers)), func(ctx context.Context) (*plan.Load, error) {
			return plan.GreatestLoad(ctx, c.problem, a.Plan.Choice, c.flags.search.Settings)
		})
		if err != nil {
			return err
		}
		c.loads = append(c.loads, l)
	}
	return nil
}

// solves returns the number of solved models.
func (c *planCurves) solves() (all int) {
	for _, a := range c.answers {
		all += a.Solves
	}
	return all
}

// figure returns the panels of the quantity in question, of the measures with targets, and of the
// purchases.
func (c *planCurves) figure(file string) *plots.Figure {
	f := &plots.Figure{Title: "plans by cost", Caption: c.caption(file)}
	switch c.flags.find {
	case findGrowth:
		f.Title = "cheapest plans as the load grows"
		f.Panels = append(f.Panels, c.costs())
	case findLoad:
		f.Panels = append(f.Panels, c.greatestLoads())
	default:
		f.Panels = append(f.Panels, c.delays())
	}
	f.Panels[0].Wide = true
	f.Panels = append(f.Panels, c.bought()...)
	if c.flags.find != findLoad {
		for row, t := range c.problem.Targets {
			if panel, ok := c.target(row, t); ok {
				f.Panels = append(f.Panels, panel)
			}
		}
	}
	return f
}

// panel returns a panel with the common horizontal axis and a vertical axis that spans the values.
func (c *planCurves) panel(title string, y plots.Axis, values []float64, series ...plots.Series) plots.Panel {
	return plots.Panel{Title: title, X: c.x, Y: y.Hold(values, true), Series: series, Regions: c.regions}
}

// delays returns the panel of the mean delay that is minimized.
func (c *planCurves) delays() plots.Panel {
	who := "all jobs"
	if c.problem.Minimize != "" {
		who = c.named(c.problem.Minimize)
	}
	s := plots.Series{Label: "least mean delay", Kind: plots.Steps, Marked: true, Names: c.names()}
	bound := plots.Series{Label: "none is below", Marked: true, Look: 1}
	for k, a := range c.answers {
		s.X, s.Y = append(s.X, c.at[k]), append(s.Y, c.aimed(a.Plan))
		if d := a.Proof.Delay; !a.Complete && d != nil && *d > 0 {
			bound.X, bound.Y = append(bound.X, c.at[k]), append(bound.Y, *d)
			if b := a.Proof.Below; b != nil && float(b) > c.at[k] {
				bound.X, bound.Y = append(bound.X, min(c.x.Max, float(b))), append(bound.Y, *d)
			}
		}
	}
	values := slices.Concat(s.Y, bound.Y)
	series := []plots.Series{s}
	if bound.X != nil {
		series = append(series, bound)
	}
	var now []plots.Reference
	if o := c.answers[0].Now; o.Solution != nil && c.at[0] > 0 {
		now = append(now, plots.Reference{Label: "as it is", Y: c.aimed(o)})
		values = append(values, now[0].Y)
	}
	y := plots.Axis{Quantity: "mean delay of " + who, Unit: "units of time"}
	panel := c.panel("plans that are best for their cost", y, values, series...)
	panel.References = now
	return panel
}

// named returns a name of the model; in a picture it is short enough for a title.
func (c *planCurves) named(name string) string {
	names := slices.Concat(c.problem.ClassNames(), c.problem.ServerNames())
	for _, s := range c.problem.NewServers {
		names = append(names, s.Name)
	}
	if row := slices.Index(names, name); row >= 0 && !c.flags.table {
		return shortened(names, row, 16)
	}
	return name
}

// aimed returns the mean delay that is minimized.
func (c *planCurves) aimed(o *plan.Outcome) float64 {
	if row := c.problem.ClassRow(c.problem.Minimize); row >= 0 {
		return o.Solution.Classes[row].MeanDelay.Float
	}
	return o.Solution.MeanDelay.Float
}

// costs returns the panel of the cost of growing loads, with lines from each load to the cost of
// the next one.
func (c *planCurves) costs() plots.Panel {
	points := plots.Series{Label: "cheapest plan", Kind: plots.Points, Names: c.names()}
	between := plots.Series{Label: "up to the next load", Kind: plots.Steps, Look: estimateLook, Thin: true}
	open := false
	for k, a := range c.answers {
		cost := float(a.Plan.Cost)
		points.X, points.Y = append(points.X, c.at[k]), append(points.Y, cost)
		least := cost
		if !a.Complete && a.Proof.Below != nil {
			least, open = float(a.Proof.Below), true
		}
		points.Low, points.High = append(points.Low, least), append(points.High, cost)
		if k+1 < len(c.answers) {
			between.X, between.Y = append(between.X, c.at[k]), append(between.Y, float(c.answers[k+1].Plan.Cost))
		}
	}
	values := slices.Concat(points.Y, points.Low)
	if !open {
		points.Low, points.High = nil, nil
	}
	series := []plots.Series{points}
	if n := len(c.at); n > 1 && !c.flags.table {
		between.X, between.Y = append(between.X, c.at[n-1]), append(between.Y, between.Y[n-2])
		series = append(series, between)
	}
	y := plots.Axis{Quantity: "total cost", Unit: "as in the file"}
	panel := c.panel("cheapest plans", y, values, series...)
	panel.Y = y.Hold(values, false)
	return panel
}

// greatestLoads returns the panel of the greatest loads of plans.
func (c *planCurves) greatestLoads() plots.Panel {
	holds := plots.Series{Label: "targets hold", Kind: plots.Steps, Marked: true, Names: c.names()}
	stable := plots.Series{Label: "stable", Kind: plots.Steps, Marked: true, Look: 1}
	for k, l := range c.loads { // the plans meet the targets at factor 1, so a greatest load exists
		holds.X, holds.Y = append(holds.X, c.at[k]), append(holds.Y, float(l.At))
		stable.X, stable.Y = append(stable.X, c.at[k]),
			append(stable.Y, float(c.answers[k].Plan.Stability.CriticalScale))
	}
	unit := "times the arrival rates"
	if c.problem.Scale != nil {
		unit += " at scale " + plots.Short(float(c.problem.Scale))
	}
	y := plots.Axis{Quantity: "greatest load", Unit: unit}
	return c.panel("greatest load of these plans", y, slices.Concat(holds.Y, stable.Y), holds, stable)
}

// target returns the panel of a measure that has a target, and whether there is a number to draw.
func (c *planCurves) target(row int, t plan.Target) (panel plots.Panel, ok bool) {
	s := plots.Series{Label: "with the plan", Kind: plots.Steps, Marked: true}
	if c.flags.find == findGrowth {
		s.Kind, s.Marked = plots.Points, false
	}
	for k, a := range c.answers {
		if v := a.Plan.Targets[row].Value; v != nil {
			s.X, s.Y = append(s.X, c.at[k]), append(s.Y, v.Float)
		}
	}
	if s.X == nil {
		return panel, false
	}
	t.Class, t.Server = c.named(t.Class), c.named(t.Server)
	name := t.Name()
	measure, _, _ := strings.Cut(name, " of ") // their common prefix
	unit := ""                                 // of probabilities, utilizations and load factors
	switch t.Measure {
	case plan.MeanDelay, plan.MeanWaiting, plan.Percentile, plan.WaitingPercentile, plan.ResponseTime:
		unit = "units of time"
	case plan.Margin, plan.Throughput:
		unit = "jobs per unit of time"
	}
	limit := plots.Reference{Label: limitSide(t) + plots.Short(float(t.Limit)), Y: float(t.Limit)}
	panel = c.panel("target: "+name, plots.Axis{Quantity: measure, Unit: unit}, append(slices.Clone(s.Y), limit.Y), s)
	panel.References = []plots.Reference{limit}
	return panel, true
}

// limitSide describes on which side of its limit a measure must be.
func limitSide(t plan.Target) string {
	if t.IsLeast() {
		return "at least "
	}
	return "at most "
}

// names lists the purchases of each plan, in the form of --choice of pfq plan.
func (c *planCurves) names() (names []string) {
	for _, a := range c.answers {
		names = append(names, c.problem.Words(a.Plan.Choice))
	}
	return names
}

// A lane holds an option and the number of its steps that each plan buys.
type lane struct {
	plan.Option
	steps []int
}

// lanes returns all options.
func (c *planCurves) lanes() (all []lane) {
	for k, o := range c.problem.Options() {
		one := lane{Option: o}
		for _, a := range c.answers {
			one.steps = append(one.steps, c.problem.Bought(a.Plan.Choice)[k])
		}
		all = append(all, one)
	}
	return all
}

// isBought reports whether some plan buys the option.
func (l lane) isBought() bool { return slices.Max(l.steps) > 0 }

// bought returns the panels of the purchases of plans. In a picture each purchased option has a
// lane, in which the height of a step is the fraction bought; a table has the steps of each option.
func (c *planCurves) bought() (panels []plots.Panel) {
	var lanes []lane
	var names []string
	for _, l := range c.lanes() {
		if c.flags.table || l.isBought() {
			lanes, names = append(lanes, l), append(names, l.Name)
		}
	}
	count := plots.PanelsOf(len(lanes))
	for k := range count {
		from, to := k*len(lanes)/count, (k+1)*len(lanes)/count
		panel := plots.Panel{Title: "what is bought", X: c.x, Wide: true, Regions: c.regions,
			Y: plots.Axis{Quantity: "steps bought"}}
		if count > 1 {
			panel.Title = fmt.Sprintf("what is bought, %d of %d", k+1, count)
		}
		for look, l := range lanes[from:to] {
			name := names[from+look]
			if !c.flags.table {
				name = shortened(names, from+look, 18)
			}
			if l.Most > 1 {
				name = fmt.Sprintf("%s, of %d", name, l.Most)
			}
			s := plots.Series{Label: name, Kind: plots.Steps, Marked: true, Look: look}
			floor := float64(look+1) - 0.4
			for i, n := range l.steps {
				y := float64(n)
				if !c.flags.table {
					y = floor + 0.7*y/float64(l.Most)
				}
				s.X, s.Y = append(s.X, c.at[i]), append(s.Y, y)
			}
			if !c.flags.table {
				panel.Y.Categories = append(panel.Y.Categories, s.Label)
				panel.References = append(panel.References, plots.Reference{Y: floor})
			}
			panel.Series = append(panel.Series, s)
		}
		panels = append(panels, panel)
	}
	return panels
}

// caption describes the picture.
func (c *planCurves) caption(file string) string {
	p := c.problem
	var targets, never []string
	for _, t := range p.Targets {
		targets = append(targets, t.Name()+" "+limitSide(t)+plots.Short(float(t.Limit)))
	}
	for _, l := range c.lanes() {
		if !l.isBought() {
			never = append(never, l.Name)
		}
	}
	text := "Plans in " + cli.Source(filepath.Base(file))
	if scale := num.OrOne(p.Scale); scale.Cmp(big.NewRat(1, 1)) != 0 {
		text += fmt.Sprintf(", its arrival rates multiplied by %s", plots.Decimal(scale))
	}
	switch c.flags.find {
	case findGrowth:
		text += ": the cheapest at each load that keep what was bought before."
	case findLoad:
		text += ": each has the smallest mean delay of all that cost less than the next. " +
			"Its greatest load is the factor of the arrival rates up to which the targets hold."
	default:
		text += ": each has the smallest mean delay of all that cost less than the next, as a proof shows."
	}
	if targets != nil {
		text += " Targets: " + plots.ShortList(targets, "; ") + "."
	}
	if p.NoWorse {
		text += " No class is worse off than now."
	}
	if p.Budget != nil {
		text += " Budget: " + plots.Short(float(p.Budget)) + "."
	}
	if never != nil {
		text += " Never bought: " + plots.ShortList(never, ", ") + "."
	}
	undecided := 0
	for _, a := range c.answers {
		undecided = max(undecided, len(a.Undecided))
	}
	if undecided > 0 {
		text += fmt.Sprintf(" For %d plans it is undecided whether they meet the targets.", undecided)
	}
	return text + c.note
}
