package plot

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/gang"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/render"
	"productform/plots"
	"productform/sim"
)

// Times selects percentiles and service levels of waiting times.
type Times struct {
	Percentiles []command.Percentile
	Within      []*big.Rat
	Binding     *cli.Binding // names the flags in errors
}

// A Solver returns the fields of the answer of pfq solve about a cluster, nil if it is unstable.
type Solver func(command.Query, *cluster.Model, Times) (render.Record, error)

// serviceKind returns the kind of a cluster.
func serviceKind(root *file.Node) kind {
	has := func(field string) bool {
		at := slices.Index(root.Keys, "classes")
		return at >= 0 && slices.ContainsFunc(root.Kids[at].Kids,
			func(n file.Node) bool { return command.HasField(&n, field) })
	}
	service := ""
	if at := slices.Index(root.Keys, "service"); at >= 0 {
		service = root.Kids[at].Text
	}
	switch {
	case service == string(cluster.Gang):
		return gangFile
	case has("mean_timeout") || command.HasField(root, "mean_timeout"):
		return timeoutFile
	case has("mean_patience") || command.HasField(root, "mean_patience"):
		return patienceFile
	case service == string(cluster.OneServer):
		return oneFile
	}
	return clusterFile
}

// serviceCurves holds the numbers of the picture of a cluster whose jobs run on one server, hold
// several, or leave early.
type serviceCurves struct {
	clusterChart
	kind   kind
	models []*cluster.Model // at each point of the horizontal axis
	waste  []*float64       // of gangs; nil if it is not drawn
}

// service draws a cluster that is not solved by balanced fairness. If there is nothing to draw, the
// figure is nil, and the standard error gives the reason.
func (f *question) service(q command.Query, s source) (*plots.Figure, error) {
	c, err := f.serviceCurves(q, s)
	if err == nil && f.classes.worst == 0 { // the worst classes are known only later
		err = c.checkPanels()
	}
	if err == nil {
		err = c.solve(q)
	}
	if err != nil {
		return nil, command.InFile(q.File, err)
	}
	if len(c.results) == 0 {
		fmt.Fprintln(q.Stderr, "pfq: there is nothing to draw: the cluster is unstable everywhere")
		return nil, nil
	}
	c.chooseWorst()
	if err := c.checkPanels(); err != nil {
		return nil, command.InFile(q.File, err)
	}
	if f.settings.Runs > 0 {
		plan := func(k int) (*sim.Plan, error) { return f.plan(q, c.models[k]) }
		if c.points, err = f.simulate(q, c.factors, plan); err != nil {
			return nil, command.InFile(q.File, err)
		}
	}
	return c.figure(q), nil
}

// serviceCurves returns the points to draw, still without numbers.
func (f *question) serviceCurves(q command.Query, s source) (*serviceCurves, error) {
	m, err := command.ReadModel(s.query)
	if err != nil {
		return nil, err
	}
	command.NotePriorities(q.Stderr, m, command.FirstCome)
	c := &serviceCurves{clusterChart: clusterChart{flags: f, model: m}, kind: s.kind}
	if c.classes, err = f.classes.rows(m); err != nil {
		return nil, err
	}
	row, err := f.scaling.Row(m)
	if err != nil {
		return nil, err
	}
	switch {
	case f.count.sizes != nil:
		return c, c.againstCount()
	case row >= 0:
		c.chart = chart{asked: f.scaling.Factors, beyond: "unstable", table: f.table, factors: f.scaling.Factors,
			x: plots.Axis{Quantity: "load of " + m.Classes[row].Name, Unit: "times its arrival rate"}}
	default:
		err = c.againstLoad(q)
	}
	for _, factor := range c.factors {
		c.models = append(c.models, command.ScaleRow(m, row, factor))
	}
	return c, err
}

// againstCount prepares a picture against the number of servers in a row.
func (c *serviceCurves) againstCount() error {
	sizes := c.flags.count
	row, err := sizes.row(c.model)
	if err != nil {
		return err
	}
	c.chart = chart{asked: sizes.sizes, beyond: "unstable", table: c.flags.table, factors: sizes.sizes,
		x: plots.Axis{Quantity: "number of servers in " + sizes.group}}
	for _, size := range sizes.sizes {
		c.models = append(c.models, sizes.at(c.model, row, size))
	}
	return nil
}

// againstLoad prepares a picture against the load, up to its critical value, or up to twice the
// arrival rates if all jobs leave at some time.
func (c *serviceCurves) againstLoad(q command.Query) error {
	f := c.flags
	critical, err := c.criticalScale(q)
	if err != nil {
		return err
	}
	if critical != nil {
		c.chart = f.chart(critical, fortieths)
		return checkCritical(critical)
	}
	c.chart = f.chart(nil, fortieths)
	if c.asked == nil {
		for k := int64(1); k <= fortieths; k++ {
			c.factors = append(c.factors, big.NewRat(k, twentieths))
		}
		c.asked = c.factors
	}
	return nil
}

// criticalScale returns the factor of the arrival rates at which the cluster is no longer stable,
// nil if there is none.
func (c *serviceCurves) criticalScale(q command.Query) (*big.Rat, error) {
	if c.kind == gangFile {
		s, err := c.gangStability(q, c.model)
		if err != nil || s.CriticalScale == nil {
			return nil, err
		}
		return new(big.Rat).SetFloat64(s.CriticalScale.Float), nil
	}
	verdict, err := command.Decide(q, c.model.WithoutImpatient().WithoutTimed())
	if err != nil {
		return nil, err
	}
	return verdict.CriticalScale, nil
}

func (c *serviceCurves) gangStability(q command.Query, m *cluster.Model) (*gang.Stability, error) {
	return command.WithProgress(q, func(ctx context.Context) (*gang.Stability, error) {
		return gang.CheckStability(ctx, m, gang.Settings{})
	})
}

// solve solves the cluster at all points. It drops points at which the cluster is unstable, and
// marks them.
func (c *serviceCurves) solve(q command.Query) error {
	var factors []*big.Rat
	var models []*cluster.Model
	each := "load"
	if c.flags.count.sizes != nil {
		each = "number of servers"
	}
	for k, m := range c.models {
		part := q.Of(each).Part(k, len(c.models))
		r, err := c.flags.solver(part, m, Times{c.flags.percentiles, c.flags.within, c.flags.binding})
		if err != nil {
			return c.flags.count.explain(err, c.factors[k])
		}
		if r == nil {
			continue
		}
		if slices.Contains(c.flags.show, waste) {
			s, err := c.gangStability(part, m)
			if err != nil {
				return err
			}
			c.waste = append(c.waste, &s.FIFOWaste.Float)
		}
		factors, models, c.results = append(factors, c.factors[k]), append(models, m), append(c.results, r)
	}
	if c.critical == nil {
		c.markUnstable(factors)
	}
	if omitted := len(c.asked) - len(factors); c.asked != nil && omitted > 0 {
		fmt.Fprintf(q.Stderr, "pfq: note: %d of %d points are not drawn: the cluster is unstable there\n", omitted,
			len(c.asked))
	}
	c.factors, c.models = factors, models
	return nil
}

// markUnstable marks the points before the first and after the last one that has numbers.
func (c *chart) markUnstable(solved []*big.Rat) {
	if len(solved) == 0 {
		return
	}
	mark := func(from, to *big.Rat) {
		if from.Cmp(to) < 0 {
			c.unsolved = append(c.unsolved, plots.Region{Label: c.beyond, From: float(from), To: float(to)})
		}
	}
	mark(c.asked[0], solved[0])
	mark(solved[len(solved)-1], c.asked[len(c.asked)-1])
}

// checkPanels rejects a model that has more to draw than fits a picture.
func (c *serviceCurves) checkPanels() error {
	f, classes := c.flags, 0
	for _, i := range c.classes {
		if c.model.Classes[i].ArrivalRate.Sign() > 0 {
			classes++
		}
	}
	count := (len(f.percentiles) + len(f.within)) * plots.PanelsOf(classes)
	for _, word := range f.show {
		switch word {
		case utilization:
			count += plots.PanelsOf(len(f.classes.serversOf(c.model, c.classes)))
		case servedBy, waste:
			count++
		default:
			count += plots.PanelsOf(classes)
		}
	}
	return checkPanels("classes", fmt.Sprint(len(c.classes)), count, "--classes NAMES", "--show "+waiting)
}

// servicePlans returns the simulations of all points.
func (f *question) servicePlans(q command.Query, s source) (plans []*sim.Plan, err error) {
	c, err := f.serviceCurves(q, s)
	if err == nil {
		err = c.solve(q)
	}
	if err != nil {
		return nil, command.InFile(q.File, err)
	}
	for _, k := range plots.Evenly(len(c.models), mostPoints) {
		plan, err := f.plan(q, c.models[k])
		if err != nil {
			return nil, command.InFile(q.File, err)
		}
		plans = append(plans, plan)
	}
	return plans, nil
}
