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

// twentieths are the parts of the critical factor at which pools are drawn: near it chains have many states.
const twentieths = 20

// A poolCurves holds the numbers of the picture of jobs that come and go.
type poolCurves struct {
	chart
	flags    *plotFlags
	model    *traffic.Model
	policies []fluid.Policy
	results  [][]*traffic.Result // of each policy, at each factor
}

// traffic draws a pool of jobs that come and go. The figure is nil where there is nothing to draw, which the standard error says.
func (f *plotFlags) traffic(q command.Query, s source) (*plots.Figure, error) {
	t, err := command.Read(s.query(q), traffic.Read, traffic.ReadFile, "solve")
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
		if c.points, err = f.simulate(q, c.factors, func(k int) (*sim.Plan, error) { return f.trafficPlan(q, scaledTraffic(t, c.factors[k])) }); err != nil {
			return nil, command.InFile(q.File, err)
		}
	}
	return c.figure(q.File), nil
}

// checkTraffic refuses a pool with more to draw than a picture has room for.
func (f *plotFlags) checkTraffic(t *traffic.Model) error {
	count := len(f.show) * plots.PanelsOf(len(t.Classes))
	if f.policy == allPolicies {
		count = len(f.show) * len(t.Classes)
	}
	return tooMany("jobs", fmt.Sprintf("%d classes", len(t.Classes)), count)
}

// scaledTraffic returns the traffic with all arrival rates multiplied by the factor.
func scaledTraffic(t *traffic.Model, factor *big.Rat) *traffic.Model {
	out := *t
	out.Classes = slices.Clone(t.Classes)
	for k := range out.Classes {
		out.Classes[k].ArrivalRate = new(big.Rat).Mul(factor, t.Classes[k].ArrivalRate)
	}
	return &out
}

// criticalFactor returns the factor of the arrival rates at which the largest load is 1, nil if no jobs arrive.
func criticalFactor(t *traffic.Model) *big.Rat {
	most := new(big.Rat)
	for _, load := range t.Loads() {
		if load.Cmp(most) > 0 {
			most = load
		}
	}
	if most.Sign() == 0 {
		return nil
	}
	return most.Inv(most)
}

// asked returns the policies to draw.
func (f *plotFlags) asked() []fluid.Policy {
	if f.policy == allPolicies {
		return fluid.Policies()
	}
	return []fluid.Policy{fluid.Policy(f.policy)}
}

// poolCurves solves the traffic at all loads below the critical one. It is nil where there are none, which the standard error says.
func (f *plotFlags) poolCurves(q command.Query, t *traffic.Model) (*poolCurves, error) {
	critical := criticalFactor(t)
	if critical == nil {
		return nil, input.Errorf("jobs", "no arrivals", "a class with an arrival_rate > 0")
	}
	c := &poolCurves{chart: f.chart(critical, twentieths), flags: f, model: t}
	bound := critical.RatString()
	if f.factors == nil {
		c.factors = c.factors[:twentieths-2] // up to 9/10
	}
	switch asked := len(f.factors); {
	case len(c.factors) == 0:
		fmt.Fprintf(q.Stderr, "pfq: there is nothing to draw: jobs pile up under every policy with the arrival rates multiplied by %s or more\n", bound)
		return nil, nil
	case asked > len(c.factors):
		fmt.Fprintf(q.Stderr, "pfq: note: %d of %d loads are not drawn: jobs pile up under every policy with the arrival rates multiplied by %s or more\n",
			asked-len(c.factors), asked, bound)
	}
	var refused error
	for i, policy := range f.asked() {
		results, err := f.solveTraffic(q.Part(i, len(f.asked())), t, policy, c.factors)
		var bad *input.Error
		switch {
		case err == nil:
			c.policies, c.results = append(c.policies, policy), append(c.results, results)
		case f.policy == allPolicies && q.Ctx.Err() == nil && errors.As(err, &bad):
			refused = cmp.Or(refused, err)
			fmt.Fprintf(q.Stderr, "pfq: note: %s is not drawn: %s\n", policy, cli.OneLine(err))
		default:
			return nil, f.translate(err)
		}
	}
	if c.results == nil {
		return nil, f.translate(refused)
	}
	return c, nil
}

// solveTraffic solves the traffic at all factors under one policy.
func (f *plotFlags) solveTraffic(q command.Query, t *traffic.Model, policy fluid.Policy, factors []*big.Rat) (results []*traffic.Result, err error) {
	for k, factor := range factors {
		r, err := command.WithProgress(q.Part(k, len(factors)), func(ctx context.Context) (*traffic.Result, error) {
			return traffic.Solve(ctx, scaledTraffic(t, factor), policy, traffic.Settings{MaxStates: f.states})
		})
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// translate says what an error of the solver means on the command line: it names the flag instead of the setting.
func (f *plotFlags) translate(err error) error {
	states := "the default of --states"
	if f.states != 0 {
		states = "--states"
	}
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	if flag := map[string]string{"policy": "--policy", "MaxStates": states}[bad.Path]; flag != "" {
		e := &input.Error{Path: flag, Value: bad.Value, Want: bad.Want}
		if bad.Path == "MaxStates" {
			e.Want += "; or smaller factors in --scale"
		}
		return command.FlagError{Err: e}
	}
	return err
}

// trafficPlan checks what is to be simulated.
func (f *plotFlags) trafficPlan(q command.Query, t *traffic.Model) (*sim.Plan, error) {
	plan, err := sim.NewPlan(q.Ctx, pool.Divisible{Traffic: *t, Policy: fluid.Policy(f.policy)}, f.settings)
	return plan, command.SimulationError(err, f.settings.Folder)
}

// trafficPlans returns the simulations of all points of a pool.
func (f *plotFlags) trafficPlans(q command.Query, s source) (plans []*sim.Plan, err error) {
	t, err := command.Read(s.query(q), traffic.Read, traffic.ReadFile, "solve")
	if err != nil {
		return nil, err
	}
	critical := criticalFactor(t)
	if critical == nil {
		fmt.Fprintln(q.Stderr, "pfq: note: a pool without arrivals has no runs")
		return nil, nil
	}
	factors := f.loads(critical, twentieths)
	if f.factors == nil {
		factors = factors[:twentieths-2]
	}
	for _, k := range simulated(len(factors)) {
		plan, err := f.trafficPlan(q, scaledTraffic(t, factors[k]))
		if err != nil {
			return nil, command.InFile(q.File, err)
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// figure returns what is drawn: of one policy a panel for each measure, of several one for each measure of each class.
func (c *poolCurves) figure(file string) *plots.Figure {
	f := &plots.Figure{Title: "measures against load", Caption: c.caption(file), Confidence: c.flags.settings.Confidence}
	var classes []string
	for _, k := range c.model.Classes {
		classes = append(classes, k.Name)
	}
	var names []string
	for _, p := range c.policies {
		names = append(names, string(p))
	}
	for _, word := range c.flags.show {
		q := poolMeasure(word)
		if c.flags.policy != allPolicies {
			q.rows = classes
			q.theory = func(k, i int) *float64 { return measureOf(word, &c.results[0][k].Classes[i]) }
			f.Panels = append(f.Panels, c.panels(q)...)
			continue
		}
		for i := range classes {
			if measureOf(word, &c.results[0][0].Classes[i]) == nil {
				continue
			}
			one := q
			one.name, one.rows = q.name+" of "+label(classes, i), names
			one.theory = func(k, p int) *float64 { return measureOf(word, &c.results[p][k].Classes[i]) }
			f.Panels = append(f.Panels, c.panels(one)...)
		}
	}
	return f
}

// poolMeasure returns a measure of classes in random traffic without its rows.
func poolMeasure(word string) quantity {
	class := func(measure string) func(*sim.Result, int) *estimate {
		return func(r *sim.Result, i int) *estimate { return mean(r.Class(i, measure)) }
	}
	switch word {
	case jobs:
		return quantity{name: "mean jobs", simulated: class(sim.MeanJobs), grows: true}
	case rate:
		return quantity{name: "service rate", unit: "tasks of a job", simulated: class(sim.ServiceRate)}
	}
	return quantity{name: "mean delay", unit: "seconds", simulated: class(sim.MeanDelay), grows: true}
}

// measureOf returns a measure of a class, nil if it does not exist.
func measureOf(word string, r *traffic.ClassResult) *float64 {
	switch word {
	case jobs:
		return &r.MeanJobs
	case rate:
		return r.ServiceRate
	}
	return r.MeanDelay
}

// policyName returns a policy in words.
func policyName(p fluid.Policy) string {
	return map[fluid.Policy]string{fluid.PF: "proportional fairness", fluid.DRF: "dominant resource fairness", fluid.MaxMin: "max-min fairness",
		fluid.BMF: "bottleneck max fairness", fluid.BF: "balanced fairness"}[p]
}

// policyNames returns the policies in words, and by the names that curves have if there are several.
func policyNames(policies []fluid.Policy) string {
	if len(policies) == 1 {
		return policyName(policies[0])
	}
	var names []string
	for _, p := range policies {
		names = append(names, fmt.Sprintf("%s (%s)", policyName(p), p))
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// caption says what is drawn.
func (c *poolCurves) caption(file string) string {
	text := fmt.Sprintf("%s in random traffic with exponential sizes under %s, against the factor by which all arrival rates are multiplied; jobs pile up from %s on.",
		titled(file, "pool"), policyNames(c.policies), plots.Short(float(c.critical)))
	worst := 0.0
	for _, results := range c.results {
		for _, r := range results {
			worst = max(worst, r.TruncationBound)
		}
	}
	if slices.Contains(c.policies, fluid.BMF) {
		text += " That they do not below is not proved for bottleneck max fairness."
	}
	return text + fmt.Sprintf(" States left out change means by a part %s at most, proved or measured.", render.OneDigitUp(worst)) + c.flags.simulationCaption(c.points)
}
