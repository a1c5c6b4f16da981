package plot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/plots"
	"productform/sim"
	"productform/sim/pool"
)

// poolCurves holds the numbers of the picture of jobs that arrive and depart.
type poolCurves struct {
	chart
	flags    *question
	model    *traffic.Model
	policies []fluid.Policy
	results  [][]*traffic.Result // results of each policy, at each factor
}

// traffic draws a pool of jobs that arrive and depart. If there is nothing to draw, the figure is
// nil, and the standard error gives the reason.
func (f *question) traffic(q command.Query, s source) (*plots.Figure, error) {
	t, err := command.Read(s.query, traffic.Read, traffic.ReadFile, "solve")
	if err != nil {
		return nil, err
	}
	if err := f.checkTraffic(t); err != nil {
		return nil, command.InFile(q.File, err)
	}
	c, err := f.poolCurves(q, t)
	if err != nil || c == nil {
		return nil, command.InFile(q.File, err)
	}
	if f.settings.Runs > 0 {
		c.apart = c.apart || len(c.policies) > 1
		for i, policy := range c.policies {
			points, err := f.simulate(q, c.factors, func(k int) (*sim.Plan, error) {
				return f.trafficPlan(q, t.Scale(c.factors[k]), policy)
			})
			if err != nil {
				return nil, command.InFile(q.File, err)
			}
			for _, p := range points {
				p.policy = i
				c.points = append(c.points, p)
			}
		}
	}
	return c.figure(q.File), nil
}

// checkTraffic rejects a pool with more to draw than fits a picture.
func (f *question) checkTraffic(t *traffic.Model) error {
	count := len(f.show) * plots.PanelsOf(len(t.Classes))
	var instead []string
	if f.policies.Several() {
		count, instead = len(f.show)*len(t.Classes), append(instead, "one --policy")
	}
	return checkPanels("jobs", fmt.Sprintf("%d classes", len(t.Classes)), count, instead...)
}

// poolCurves solves the traffic at all loads below the critical one. If there are none, it returns
// nil and reports that on the standard error.
func (f *question) poolCurves(q command.Query, t *traffic.Model) (*poolCurves, error) {
	critical := t.CriticalScale()
	if critical == nil {
		return nil, input.Errorf("jobs", "no arrivals", "a class with an arrival_rate > 0")
	}
	if err := checkCritical(critical); err != nil {
		return nil, err
	}
	c := &poolCurves{chart: f.chart(critical, twentieths), flags: f, model: t}
	bound := fmt.Sprintf("with the arrival rates multiplied by %s or more", critical.RatString())
	if f.scaling.Factors == nil {
		c.factors = c.factors[:twentieths-2] // up to 9/10
	}
	switch asked := len(f.scaling.Factors); {
	case len(c.factors) == 0:
		fmt.Fprintf(q.Stderr, "pfq: there is nothing to draw: jobs pile up under every policy %s\n", bound)
		return nil, nil
	case asked > len(c.factors):
		fmt.Fprintf(q.Stderr, "pfq: note: %d of %d loads are not drawn: jobs pile up under every policy %s\n",
			asked-len(c.factors), asked, bound)
	}
	if err := c.solve(q); err != nil {
		return nil, f.translate(err)
	}
	return c, nil
}

// solve solves the traffic under all requested policies. If there are several, those that do not
// support it are reported and omitted.
func (c *poolCurves) solve(q command.Query) error {
	var refused error
	asked := c.flags.policies.List()
	for i, policy := range asked {
		results, err := c.underPolicy(q.Part(i, len(asked)), policy)
		var bad *input.Error
		switch {
		case err == nil:
			c.policies, c.results = append(c.policies, policy), append(c.results, results)
		case len(asked) > 1 && q.Ctx.Err() == nil && errors.As(err, &bad):
			refused = cmp.Or(refused, err)
			fmt.Fprintf(q.Stderr, "pfq: note: %s is not drawn: %s\n", policy, cli.OneLine(c.flags.translate(err)))
		default:
			return err
		}
	}
	if c.results == nil {
		return refused
	}
	solved := 0
	for _, results := range c.results {
		solved = max(solved, len(results))
	}
	if solved == 0 || solved == len(c.factors) {
		return nil
	}
	label := "not solved"
	if c.flags.settings.Runs > 0 {
		label = "simulated only"
	}
	if from, to := float(c.factors[solved]), float(c.last()); from < to {
		c.unsolved = []plots.Region{{Label: label, From: from, To: to}}
	}
	return nil
}

// last returns the largest factor at which there may be numbers.
func (c *poolCurves) last() *big.Rat {
	if last := len(c.asked) - 1; last >= 0 && c.asked[last].Cmp(c.critical) < 0 {
		return c.asked[last]
	}
	return c.critical
}

// underPolicy solves the traffic at the factors under one policy, up to the first factor at which
// it is too large. There are then fewer results, and none at all only if a simulation is requested.
func (c *poolCurves) underPolicy(q command.Query, policy fluid.Policy) (results []*traffic.Result, err error) {
	for k, factor := range c.factors {
		part := q.Of("load").Part(k, len(c.factors))
		r, err := command.WithProgress(part, func(ctx context.Context) (*traffic.Result, error) {
			return traffic.Solve(ctx, c.model.Scale(factor), policy, c.flags.chain)
		})
		if errors.Is(err, traffic.ErrUnsolved) && (k > 0 || c.flags.settings.Runs > 0) {
			c.apart = true
			fmt.Fprintf(q.Stderr, "pfq: note: %s is solved at %d of %d loads: %s\n", policy, k, len(c.factors),
				cli.OneLine(c.flags.translate(err)))
			return results, nil
		}
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// trafficPlan checks the simulation settings.
func (f *question) trafficPlan(q command.Query, t *traffic.Model, policy fluid.Policy) (*sim.Plan, error) {
	return command.NewPlan(q.Ctx, f.binding, pool.Divisible{Traffic: *t, Policy: policy}, &f.settings)
}

// trafficPlans returns the simulations of all points of a pool.
func (f *question) trafficPlans(q command.Query, s source) (plans []*sim.Plan, err error) {
	t, err := command.Read(s.query, traffic.Read, traffic.ReadFile, "solve")
	if err != nil {
		return nil, err
	}
	critical := t.CriticalScale()
	if critical == nil {
		fmt.Fprintln(q.Stderr, "pfq: note: a pool without arrivals has no runs")
		return nil, nil
	}
	factors := f.loads(critical, twentieths)
	if f.scaling.Factors == nil {
		factors = factors[:twentieths-2]
	}
	for _, policy := range f.policies.List() {
		for _, k := range plots.Evenly(len(factors), mostPoints) {
			plan, failed := f.trafficPlan(q, t.Scale(factors[k]), policy)
			if failed != nil {
				err = cmp.Or(err, failed)
				break // this policy is not drawn either
			}
			plans = append(plans, plan)
		}
	}
	if plans == nil {
		return nil, command.InFile(q.File, err)
	}
	return plans, nil
}

// figure returns the figure: under one policy, a panel for each measure; under several, a panel for
// each measure of each class.
func (c *poolCurves) figure(file string) *plots.Figure {
	f := &plots.Figure{
		Title:      "measures against load",
		Caption:    c.caption(file),
		Confidence: c.flags.settings.Confidence,
	}
	var classes []string
	for _, k := range c.model.Classes {
		classes = append(classes, k.Name)
	}
	var names []string
	for _, p := range c.policies {
		names = append(names, string(p))
	}
	for _, word := range c.flags.show {
		q, field := quantityOf(word)
		if word == rate {
			q.unit = "tasks of a job"
		}
		if !c.flags.policies.Several() {
			q.rows = classes
			q.theory = func(k, i int) *float64 { return c.number(field, 0, k, i) }
			f.Panels = append(f.Panels, c.panels(q)...)
			continue
		}
		for i := range classes {
			if c.model.Classes[i].ArrivalRate.Sign() == 0 {
				continue
			}
			one := q
			one.title, one.rows = q.name+" of "+c.label(classes, i), names
			one.theory = func(k, p int) *float64 { return c.number(field, p, k, i) }
			one.simulated = func(p point, policy int) *estimate {
				if p.policy != policy {
					return nil
				}
				return q.simulated(p, i)
			}
			f.Panels = append(f.Panels, c.panels(one)...)
		}
	}
	return f
}

// number returns a measure of class i under a policy at factor k, nil if it does not exist.
func (c *poolCurves) number(field string, policy, k, i int) *float64 {
	if k >= len(c.results[policy]) {
		return nil
	}
	return known(render.Fields(c.results[policy][k].Classes[i]).Get(field))
}

// policyNames returns the policies in words, and by the names that curves have if there are
// several.
func policyNames(policies []fluid.Policy) string {
	if len(policies) == 1 {
		return policies[0].Words()
	}
	var names []string
	for _, p := range policies {
		names = append(names, fmt.Sprintf("%s (%s)", p.Words(), p))
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// caption describes the picture.
func (c *poolCurves) caption(file string) string {
	text := fmt.Sprintf("%s in random traffic with exponential sizes under %s, against its load, a "+
		"factor of all arrival rates. Jobs pile up at loads of %s and above.",
		inFile(file, "pool"), policyNames(c.policies), plots.Short(float(c.critical)))
	if slices.Contains(c.policies, fluid.BMF) {
		text += " Under bottleneck max fairness, stability below this load is not proved."
	}
	if c.apart && !slices.ContainsFunc(c.results, func(of []*traffic.Result) bool { return len(of) > 0 }) {
		text += " All points are simulated: the model is too large to solve."
	}
	return text + c.truncationCaption() + c.flags.simulationCaption(c.points)
}

// truncationCaption describes which part of the error of omitted states is proved and which is
// measured. If both occur, it names the policies.
func (c *poolCurves) truncationCaption() string {
	var proved, measured []string // policies
	var bound, size float64
	for i, results := range c.results {
		var most float64
		all := true
		for _, r := range results {
			most, all = max(most, r.TruncationBound), all && r.TruncationProved
		}
		switch {
		case most == 0:
		case all:
			bound, proved = max(bound, most), append(proved, string(c.policies[i]))
		default:
			size, measured = max(size, most), append(measured, string(c.policies[i]))
		}
	}
	under := func(policies []string) string {
		if proved == nil || measured == nil {
			return ""
		}
		return " under " + strings.Join(policies, ", ")
	}
	text := ""
	if proved != nil {
		text += fmt.Sprintf(" Omitted states change means by a fraction of at most %s%s, which is proved.",
			render.OneDigitUp(bound), under(proved))
	}
	if measured != nil {
		text += fmt.Sprintf(" Omitted states change means by a fraction of %s%s, as measured but not proved.",
			render.OneDigitUp(size), under(measured))
	}
	return text
}
