package br14

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/plots"
)

// lieNeed is the need of a task for its non-dominant resource in fluid-4a to d. It maximizes the
// gain of a liar for profiles (1, a) and (a, 1) under PF without traffic, (1 + a)(1 - a/2).
func lieNeed() *big.Rat { return big.NewRat(1, 2) }

// A lieCase is a panel of fluid-4: a class of jobs that overstate their need for resource 2, and an
// honest class.
type lieCase struct {
	title        string
	liar, honest []*big.Rat // true profiles
	rates        []*big.Rat // arrival rates of liars and honest jobs; nil for one permanent job of each
	most         *big.Rat   // largest declared need
}

// lieCases returns the panels: profiles (1, a) and (a, 1) of permanent jobs, and at three loads
// of both resources with true needs, then two examples in which lying pays in traffic.
func lieCases() []lieCase {
	one, a := big.NewRat(1, 1), lieNeed()
	same := lieCase{title: "Permanent jobs, one of each class", liar: []*big.Rat{one, a}, honest: []*big.Rat{a, one},
		most: one}
	all := []lieCase{same}
	for _, rho := range rats("3/10", "6/10", "8/10") {
		same.title = "Load " + plots.Decimal(rho)
		rate := new(big.Rat).Quo(rho, new(big.Rat).Add(one, a))
		same.rates = []*big.Rat{rate, rate}
		all = append(all, same)
	}
	for _, c := range []lieCase{
		{liar: rats("1", "1/4"), honest: rats("3/4", "1"), rates: rats("1/100", "3/5"), most: one},
		{liar: rats("1/10", "0"), honest: rats("9/10", "1"), rates: rats("1/100", "4/5"), most: big.NewRat(1, 10)},
	} {
		c.title = "Few liars, " + profileWords(c.liar) + ", with " + profileWords(c.honest)
		all = append(all, c)
	}
	return all
}

// lieGains is the index of the first panel whose profiles were chosen because lying pays in
// traffic.
const lieGains = 4

// needs returns the declared needs of liars for resource 2: from the truth to the largest need.
func (c lieCase) needs(p plots.Precision) []*big.Rat {
	steps := int64(30)
	if p == plots.Draft {
		steps = 15
	}
	var v []*big.Rat
	step := new(big.Rat).Sub(c.most, c.liar[1])
	step.Quo(step, big.NewRat(steps, 1))
	for k := int64(0); k <= steps; k++ {
		need := new(big.Rat).Mul(step, big.NewRat(k, 1))
		v = append(v, need.Add(need, c.liar[1]))
	}
	return v
}

// maxDeclaredLoad is the largest load, with declared needs, at which fluid-4 is computed: near 1
// the numbers of jobs are too large.
func maxDeclaredLoad() *big.Rat { return big.NewRat(95, 100) }

var errTooMuch = errors.New("lies bring a resource close to its limit or beyond")

// tasks returns the tasks, static or mean, of a liar and of an honest job if liars declare this
// need for resource 2. The error is errTooMuch if the load of a resource then exceeds
// maxDeclaredLoad.
func (c lieCase) tasks(ctx context.Context, need *big.Rat, policy fluid.Policy) (liar, honest float64, err error) {
	declared := []*big.Rat{c.liar[0], need}
	if c.rates == nil {
		p := &fluid.Pool{Resources: unitResources(2),
			Jobs: []fluid.Job{{Name: "liar", Demand: declared}, {Name: "honest", Demand: c.honest}}}
		r, err := fluid.Allocate(ctx, p, policy, fluid.Settings{})
		if err != nil {
			return 0, 0, err
		}
		return r.Jobs[0].Tasks.Float, r.Jobs[1].Tasks.Float, nil
	}
	t := &traffic.Model{Resources: unitResources(2), Classes: []traffic.Class{
		{Name: "liar", Demand: c.liar, Declared: declared, ArrivalRate: c.rates[0]},
		{Name: "honest", Demand: c.honest, ArrivalRate: c.rates[1]}}}
	for _, load := range t.Loads() {
		if load.Cmp(maxDeclaredLoad()) > 0 {
			return 0, 0, errTooMuch
		}
	}
	r, err := traffic.Solve(ctx, t, policy, traffic.Settings{TruncationTol: 1e-6})
	if err != nil {
		return 0, 0, fmt.Errorf("%s, need %s, %s: %w", c.title, plots.Decimal(need), policyShort(policy), err)
	}
	return *r.Classes[0].ServiceRate, *r.Classes[1].ServiceRate, nil
}

// A lieCurve holds the tasks of liars and honest jobs in one case under one policy.
type lieCurve struct {
	lieCase
	policy       fluid.Policy
	x            []float64 // declared needs
	liar, honest []float64 // tasks; the first entry is without lies
}

// over returns values divided by the first.
func over(v []float64) []float64 {
	all := make([]float64, len(v))
	for k, x := range v {
		all[k] = x / v[0]
	}
	return all
}

// best returns the largest gain of liars and its index.
func (c lieCurve) best() (gain float64, at int) {
	for k, v := range over(c.liar) {
		if v > gain {
			gain, at = v, k
		}
	}
	return gain, at
}

// lieMargin is the error of the numbers: smaller gains count as none.
const lieMargin = 1e-5

// gainWords writes a largest gain as "12.5 %" or "nothing".
func gainWords(gain float64) string {
	if gain <= 1+lieMargin {
		return "nothing"
	}
	return plots.Short(100*(gain-1)) + " %"
}

// compute adds the effect of lies, need by need, and stops when they almost overload a resource.
func (c *lieCurve) compute(ctx context.Context, needs []*big.Rat) error {
	for _, need := range needs {
		if err := ctx.Err(); err != nil {
			return err
		}
		liar, honest, err := c.tasks(ctx, need, c.policy)
		if errors.Is(err, errTooMuch) {
			return nil
		}
		if err != nil {
			return err
		}
		x, _ := need.Float64()
		c.x, c.liar, c.honest = append(c.x, x), append(c.liar, liar), append(c.honest, honest)
	}
	return nil
}

// lies draws the tasks of liars and honest jobs, relative to the truth, under PF and DRF.
func lies(ctx context.Context, e plots.Effort, f *plots.Figure) error {
	var pf, drf []lieCurve // one entry per panel
	var ends, truths, gains []string
	others := 0.0 // largest gain under DRF
	for k, one := range lieCases() {
		needs := one.needs(e.Precision)
		least, _ := needs[0].Float64()
		most, _ := one.most.Float64()
		panel := plots.Panel{Title: one.title, X: plots.Axis{Quantity: "need of resource 2 that liars declare",
			Min: least, Max: most},
			Y:          plots.Axis{Quantity: "mean service rate, over that without lies", Min: 0.6, Max: 1.2},
			References: []plots.Reference{{Label: "without lies", Y: 1}}}
		if k == 2 || k == 3 { // the second row
			panel.Y.Min = 0.2
		}
		if one.rates == nil {
			panel.Y.Quantity = "tasks, over those without lies"
		}
		var both []lieCurve
		var truth []string
		for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
			c := lieCurve{lieCase: one, policy: policy}
			if err := c.compute(ctx, needs); err != nil {
				return err
			}
			both = append(both, c)
			truth = append(truth, fmt.Sprintf("%s and %s under %s", plots.Short(c.liar[0]), plots.Short(c.honest[0]),
				policyShort(policy)))
		}
		truths = append(truths, plots.Letter(k)+" "+strings.Join(truth, ", "))
		for _, c := range both {
			panel.Series = append(panel.Series,
				plots.Series{Label: policyShort(c.policy), Group: "liars", Look: policyLook(c.policy), X: c.x,
					Y: over(c.liar)})
		}
		for _, c := range both {
			panel.Series = append(panel.Series, plots.Series{Label: policyShort(c.policy), Group: "honest jobs",
				Look: policyLook(c.policy), X: c.x, Y: over(c.honest)})
		}
		if n := len(both[0].x); n < len(needs) {
			last := both[0].x[n-1]
			ends = append(ends, fmt.Sprintf("beyond %s in %s", plots.Short(last), plots.Letter(k)))
			panel.Regions = []plots.Region{
				{Label: "load above " + plots.Decimal(maxDeclaredLoad()), From: last, To: most},
			}
		}
		gain, _ := both[0].best()
		gains = append(gains, plots.Letter(k)+" "+gainWords(gain))
		gain, _ = both[1].best()
		others = max(others, gain)
		pf, drf = append(pf, both[0]), append(drf, both[1])
		f.Panels = append(f.Panels, panel)
	}
	var examples []string
	for k, c := range lieCases()[lieGains:] {
		examples = append(examples, fmt.Sprintf("%s liars %s at rate %s, honest jobs %s at rate %s",
			plots.Letter(lieGains+k), profileWords(c.liar), plots.Decimal(c.rates[0]), profileWords(c.honest),
			plots.Decimal(c.rates[1])))
	}
	f.OneLegend = true
	err := texts.Describe(f, map[string]any{
		"Gains": gains, "DRFGain": gainWords(others), "A": plots.Decimal(lieNeed()), "Examples": examples,
		"Hidden": hidden(f.Panels),
		"Ends":   ends, "MostLoad": maxDeclaredLoad(), "Needs": len(lieCases()[0].needs(e.Precision)),
		"MostNeed": lieCases()[lieGains+1].most,
		"Truths":   truths,
	}, nil)
	if err != nil {
		return err
	}
	lieChecks(f, pf[0], drf[0])
	lieClaims(f, pf, drf)
	return loneLiars(ctx, f)
}

// A hiddenCurve is a curve of liars hidden below the curve of honest jobs.
type hiddenCurve struct{ Panel, Policy string }

// hidden returns the curves of liars that are hidden below the curves of honest jobs.
func hidden(panels []plots.Panel) (all []hiddenCurve) {
	for k, p := range panels {
		n := len(p.Series) / 2
		for i, s := range p.Series[:n] {
			if slices.EqualFunc(s.Y, p.Series[n+i].Y, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
				all = append(all, hiddenCurve{plots.Letter(k), s.Label})
			}
		}
	}
	return all
}

// lieChecks compares lies of permanent jobs with their formula.
func lieChecks(f *plots.Figure, pf, drf lieCurve) {
	a, _ := lieNeed().Float64()
	for k, need := range pf.x {
		liar, equal := LiarsTasks(a, need)
		f.Checks = append(f.Checks,
			plots.SolverCheck(f.ID+"a", fmt.Sprintf("tasks of a liar, PF, need %.5g declared, by formula", need),
				pf.liar[k], liar, 1e-8),
			plots.SolverCheck(f.ID+"a", fmt.Sprintf("tasks of a liar, DRF, need %.5g declared, by formula", need),
				drf.liar[k], equal, 1e-12))
	}
}

// strategyProof is the statement of the abstract about lies.
const strategyProof = "In random traffic the strategy-proof property of DRF proves unimportant (abstract)"

// lieClaims tests the statement of the abstract with the profiles that gain most without traffic,
// then with those that gain in traffic.
func lieClaims(f *plots.Figure, pf, drf []lieCurve) {
	profiles := fmt.Sprintf(" Profiles %s and %s, all jobs of class 1 lie.", profileWords(pf[0].lieCase.liar),
		profileWords(pf[0].lieCase.honest))
	permanent, where := pf[0].best()
	words := []string{fmt.Sprintf("%s times as many tasks for a permanent job, with the need %s",
		plots.Short(permanent), plots.Short(pf[0].x[where]))}
	most := 0.0
	var beside []string
	better := true
	for k := 1; k < lieGains; k++ {
		c, d := pf[k], drf[k]
		gain, at := c.best()
		most = max(most, gain)
		last := len(c.x) - 1
		words = append(words, fmt.Sprintf("at %s %s times, with the need %s, and %s times with %s",
			strings.ToLower(c.title), strconv.FormatFloat(gain, 'f', 4, 64), plots.Short(c.x[at]),
			plots.Short(c.liar[last]/c.liar[0]), plots.Short(c.x[last])))
		for i := range c.x {
			better = better && c.honest[i] >= d.honest[i]*(1-lieMargin)
		}
		beside = append(beside, fmt.Sprintf("%s against %s at %s", plots.Short(c.honest[where]),
			plots.Short(d.honest[where]), strings.ToLower(c.title)))
	}
	f.Claims = append(f.Claims,
		plots.Finding(f.ID, strategyProof+"."+profiles,
			"The largest gain of a class from lies under PF is smaller at every load than for permanent jobs, and "+
				"less than 5 % of its service rate.",
			"The best lie under PF gains "+strings.Join(words, "; ")+".", most < permanent && most < 1.05),
		plots.Finding(f.ID, "(Not in the paper.) What liars take from honest jobs under PF is no more than what "+
			"these have more there than under DRF."+profiles,
			"The mean service rate of honest jobs with liars is at least as large under PF as under DRF, at every "+
				"load and need shown.",
			fmt.Sprintf("PF against DRF where liars declare the need %s: ",
				plots.Short(pf[0].x[where]))+strings.Join(beside, "; ")+".", better))
	var examples []string
	none := true
	for k := lieGains; k < len(pf); k++ {
		c := pf[k]
		gain, at := c.best()
		none = none && gain <= 1+lieMargin
		unharmed, _ := drf[k].best()
		examples = append(examples, fmt.Sprintf("%s %s declared as (%s, %s), at rate %s with %s at rate %s: mean "+
			"delay of a liar %s s, %s s with the truth, a mean service rate %.3g times as large; under DRF the best "+
			"lie brings %s",
			plots.Letter(k), profileWords(c.lieCase.liar), plots.Decimal(c.lieCase.liar[0]), plots.Short(c.x[at]),
			plots.Decimal(c.rates[0]), profileWords(c.lieCase.honest), plots.Decimal(c.rates[1]),
			plots.Short(1/c.liar[at]), plots.Short(1/c.liar[0]), gain, gainWords(unharmed)))
	}
	f.Claims = append(f.Claims, plots.Finding(f.ID,
		strategyProof+", read as: under PF no class gains by lying in random traffic, for any profile.",
		"In (e) and (f) no declared need gives liars a larger mean service rate under PF than the truth.",
		strings.Join(examples, "; ")+".", none))
}

// loneLiars states the gain from lying if only a tenth of the jobs of class 1 lie.
func loneLiars(ctx context.Context, f *plots.Figure) error {
	one, a := big.NewRat(1, 1), lieNeed()
	var words []string
	most := 0.0
	for _, rho := range rats("3/10", "6/10") {
		best, at, honest := 0.0, 0.0, 0.0
		for _, factor := range rats("5/4", "3/2", "2") {
			if err := ctx.Err(); err != nil {
				return err
			}
			t := trafficOf(rho, rats("9/10", "1/10", "1"), []*big.Rat{one, a}, []*big.Rat{one, a}, []*big.Rat{a, one})
			need := new(big.Rat).Mul(a, factor)
			t.Classes[1].Declared = []*big.Rat{one, need}
			r, err := traffic.Solve(ctx, t, fluid.PF, traffic.Settings{TruncationTol: 1e-4})
			if err != nil {
				return err
			}
			if gain := *r.Classes[1].ServiceRate / *r.Classes[0].ServiceRate; gain > best {
				best, honest = gain, *r.Classes[0].ServiceRate
				at, _ = need.Float64()
			}
		}
		most = max(most, best)
		words = append(words, fmt.Sprintf("at load %s %s times the %s tasks of those of its class who tell the "+
			"truth, with the need %s", plots.Decimal(rho), plots.Short(best), plots.Short(honest), plots.Short(at)))
	}
	f.Claims = append(f.Claims, plots.Finding(f.ID,
		fmt.Sprintf("%s. Profiles (1, %[2]s) and (%[2]s, 1), a tenth of the jobs of class 1 lie.", strategyProof,
			plots.Decimal(a)),
		"The best of the declared needs 0.625, 0.75 and 1 gains a liar less than 5 % under PF.",
		"The mean service rate of a liar is "+strings.Join(words, "; ")+".", most < 1.05))
	return nil
}
