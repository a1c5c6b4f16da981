package plots

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"productform/fluid"
)

// lieNeed is what tasks need of the resource that is not their dominant one in fluid-4: with it a liar gains most, for
// profiles (1, a) and (a, 1) under PF at rest, namely (1 + a)(1 - a/2).
func lieNeed() *big.Rat { return big.NewRat(1, 2) }

// lieFactors are by how much liars overstate that need: from the truth to twice as much, where both needs are declared equal.
func lieFactors(p Precision) []*big.Rat {
	steps := int64(24)
	if p == Draft {
		steps = 12
	}
	var v []*big.Rat
	for k := int64(0); k <= steps; k++ {
		v = append(v, big.NewRat(steps+k, steps))
	}
	return v
}

// lieLoads are the loads with true needs; 0 stands for one job of each class at rest.
func lieLoads() []*big.Rat { return rats("0", "3/10", "6/10", "8/10") }

// mostLied is the largest load, with the needs declared, at which fluid-4 is computed: near 1 the numbers of jobs are too large.
func mostLied() *big.Rat { return big.NewRat(95, 100) }

var errTooMuch = errors.New("lies bring a resource close to its limit or beyond")

// A lie is one class of jobs that overstate their need, beside an honest one.
type lie struct {
	rho, factor *big.Rat
	policy      fluid.Policy
}

// rates returns the tasks, at rest or in the mean, of a liar and of an honest job. The error is
// errTooMuch if lies bring a resource to a load above mostLied.
func (l lie) rates() (liar, honest float64, err error) {
	one, a := big.NewRat(1, 1), lieNeed()
	declared := []*big.Rat{one, new(big.Rat).Mul(a, l.factor)}
	if l.rho.Sign() == 0 {
		p := &fluid.Pool{Resources: unitResources(2), Jobs: []fluid.Job{{Name: "liar", Demand: declared}, {Name: "honest", Demand: []*big.Rat{a, one}}}}
		r, err := fluid.Allocate(p, l.policy, fluid.Settings{})
		if err != nil {
			return 0, 0, err
		}
		return r.Jobs[0].Tasks.Float, r.Jobs[1].Tasks.Float, nil
	}
	t := trafficOf(l.rho, rats("1", "1"), []*big.Rat{one, a}, []*big.Rat{a, one})
	t.Classes[0].Declared = declared
	for _, load := range t.Loads() {
		if load.Cmp(mostLied()) > 0 {
			return 0, 0, errTooMuch
		}
	}
	r, err := fluid.Solve(t, l.policy, fluid.TrafficSettings{RelTol: 1e-5})
	if err != nil {
		return 0, 0, fmt.Errorf("load %s, factor %s, %s: %w", decimal(l.rho), decimal(l.factor), policyShort(l.policy), err)
	}
	return *r.Classes[0].ServiceRate, *r.Classes[1].ServiceRate, nil
}

// lieCurve is what liars and honest jobs get at one load under one policy, relative to the truth.
type lieCurve struct {
	rho          *big.Rat
	policy       fluid.Policy
	x            []float64
	liar, honest []float64
	truth        float64 // tasks of all if nobody lies, the same for both classes
}

// best returns the largest gain of liars and where.
func (c lieCurve) best() (gain, at float64) {
	for k, v := range c.liar {
		if v > gain {
			gain, at = v, c.x[k]
		}
	}
	return gain, at
}

// compute adds what lies bring, factor by factor; where they come too close to overloading a resource it ends.
func (c *lieCurve) compute(ctx context.Context, factors []*big.Rat) error {
	for _, factor := range factors {
		if err := ctx.Err(); err != nil {
			return err
		}
		liar, honest, err := lie{c.rho, factor, c.policy}.rates()
		if errors.Is(err, errTooMuch) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(c.x) == 0 {
			c.truth = liar
		}
		x, _ := factor.Float64()
		c.x, c.liar, c.honest = append(c.x, x), append(c.liar, liar/c.truth), append(c.honest, honest/c.truth)
	}
	return nil
}

// lies draws what liars and honest jobs get, relative to the truth, at rest and at three loads.
func lies(ctx context.Context, e effort, f *Figure) error {
	factors := lieFactors(e.precision)
	axis := Axis{Quantity: "need of resource 2 that class 1 declares, over the true one", Min: 1, Max: 2}
	var curves []*lieCurve
	var ends, truths []string
	for k, rho := range lieLoads() {
		title, quantity := "Load "+decimal(rho), "mean service rate, over that without lies"
		if k == 0 {
			title, quantity = "At rest, one job of each class", "tasks, over those without lies"
		}
		panel := Panel{Title: title, X: axis, Y: Axis{Quantity: quantity}, References: []Reference{{Label: "", Y: 1}}}
		var truth []string
		for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
			c := &lieCurve{rho: rho, policy: policy}
			if err := c.compute(ctx, factors); err != nil {
				return err
			}
			curves = append(curves, c)
			truth = append(truth, fmt.Sprintf("%s under %s", short(c.truth), policyShort(policy)))
		}
		truths = append(truths, fmt.Sprintf("(%c) %s", 'a'+k, strings.Join(truth, ", ")))
		for _, liar := range []bool{true, false} {
			for _, c := range curves[2*k:] {
				s := Series{Label: policyShort(c.policy), Group: "honest jobs", Look: policyLook(c.policy), X: c.x, Y: c.honest}
				if liar {
					s.Group, s.Y = "liars", c.liar
				}
				panel.Series = append(panel.Series, s)
			}
		}
		if n := len(curves[2*k].x); n < len(factors) {
			ends = append(ends, fmt.Sprintf("beyond f = %s at load %s", short(curves[2*k].x[n-1]), decimal(rho)))
		}
		f.Panels = append(f.Panels, panel)
	}
	a := lieNeed()
	f.OneLegend = true
	f.Caption = fmt.Sprintf("Tasks of class 1 need (1, %[1]s) of two resources of capacity 1, tasks of class 2 (%[1]s, 1). All jobs of class 1 declare (1, %[1]s·f), hold what they declare and use what they need. ", decimal(a)) +
		"Numbers of tasks of a liar and (lighter) of an honest job of class 2, over those without lies, against f: (a) at rest, with one job of each class, and mean service rates γ_k = λ_kσ_k/E[x_k] in random traffic with λ₁ = λ₂ and σ₁ = σ₂ = 1 at load (b) 0.3, (c) 0.6, (d) 0.8 of both resources with true needs. " +
		"Without lies both classes have " + strings.Join(truths, "; ") + ". " + trafficWords + policyWords + ". " + lieEnds(ends) +
		"The profiles are those of this form with which a lie brings most under PF at rest, (1 + a)(1 − a/2) at f = 1/(a(2 − a)). " +
		fmt.Sprintf("Exact, from the balance equations of a truncated Markov chain, at %d factors joined by straight lines. ", len(factors)) + afterRoberts
	f.Parameters = []Parameter{
		{"profiles", fmt.Sprintf("(1, %[1]s), declared as (1, %[1]s·f), and (%[1]s, 1)", decimal(a))},
		{"factors", fmt.Sprintf("f at %d values from 1 to 2", len(factors))},
		{"capacities", "1 and 1"},
		{"loads", "at rest; " + decimals(lieLoads()[1:]) + " of both resources with true needs"},
		{"arrival rates", "λ₁ = λ₂"},
		{"sizes", "exponential, mean 1; weights 1"},
	}
	return lieClaims(ctx, f, curves)
}

// lieEnds tells where lies overload a resource.
func lieEnds(ends []string) string {
	if len(ends) == 0 {
		return ""
	}
	return fmt.Sprintf("Curves end where lies bring resource 2 to a load above %s (%s); from a load of 1 on the numbers of jobs grow without limit. ", decimal(mostLied()), strings.Join(ends, " and "))
}

// lieClaims compares lies at rest with their formula, and what they bring in traffic with that.
func lieClaims(ctx context.Context, f *Figure, curves []*lieCurve) error {
	a, _ := lieNeed().Float64()
	rest := curves[0]
	for k, x := range rest.x {
		// PF fills both resources, φ₁ = (1 - a)/(1 - a²f), until the price of resource 1 is 0 at f = 1/(a(2 - a)); then φ₁ = 1/(2af).
		liar := (1 - a) / (1 - a*a*x)
		if x > 1/(a*(2-a)) {
			liar = 1 / (2 * a * x)
		}
		f.Checks = append(f.Checks,
			solved(f.ID+"a", fmt.Sprintf("tasks of a liar over those without lies, PF, factor %g, by formula", x), rest.liar[k], liar*(1+a), 1e-8),
			solved(f.ID+"a", fmt.Sprintf("tasks of a liar over those without lies, DRF, factor %g, by formula", x), curves[1].liar[k], (1+a)/max(1+a, 1+a*x), 1e-12))
	}
	atRest, where := rest.best()
	words := []string{fmt.Sprintf("at rest %s times as many tasks, with f = %s", short(atRest), short(where))}
	most := 0.0
	for k := 2; k < len(curves); k += 2 {
		c := curves[k]
		gain, at := c.best()
		most = max(most, gain)
		last := len(c.x) - 1
		words = append(words, fmt.Sprintf("at load %s %s times, with f = %s, and %s times with f = %s", decimal(c.rho), strconv.FormatFloat(gain, 'f', 4, 64), short(at), short(c.liar[last]), short(c.x[last])))
	}
	f.Claims = append(f.Claims, verdict(f.ID, "In random traffic the strategy-proof property of DRF proves unimportant (abstract).",
		"The most that lies of a class bring it under PF is smaller at every load than at rest, and less than 5 % of its service rate.",
		"The best lie under PF brings "+strings.Join(words, "; ")+".", most < atRest && most < 1.05))
	var beside []string
	better := true
	for k := 2; k < len(curves); k += 2 {
		pf, drf := curves[k], curves[k+1]
		for i, x := range pf.x {
			better = better && pf.truth*pf.honest[i] >= drf.truth*drf.honest[i]*(1-1e-6)
			if math.Abs(x-where) < 0.051 && len(beside) < k/2 {
				beside = append(beside, fmt.Sprintf("%s against %s at load %s, f = %s", short(pf.truth*pf.honest[i]), short(drf.truth*drf.honest[i]), decimal(pf.rho), short(x)))
			}
		}
	}
	f.Claims = append(f.Claims, verdict(f.ID, "(Not in the paper.) What liars take from honest jobs under PF is no more than what these have more there than under DRF.", "The mean service rate of honest jobs beside liars is at least as large under PF as under DRF, at every load and factor shown.",
		"PF against DRF: "+strings.Join(beside, "; ")+".", better))
	return loneLiars(ctx, f)
}

// loneLiars states what a lie brings if only a tenth of the jobs of class 1 lie.
func loneLiars(ctx context.Context, f *Figure) error {
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
			t.Classes[1].Declared = []*big.Rat{one, new(big.Rat).Mul(a, factor)}
			r, err := fluid.Solve(t, fluid.PF, fluid.TrafficSettings{RelTol: 1e-4})
			if err != nil {
				return err
			}
			if gain := *r.Classes[1].ServiceRate / *r.Classes[0].ServiceRate; gain > best {
				best, honest = gain, *r.Classes[0].ServiceRate
				at, _ = factor.Float64()
			}
		}
		most = max(most, best)
		words = append(words, fmt.Sprintf("at load %s %s times the %s tasks of those of its class who tell the truth, with f = %s", decimal(rho), short(best), short(honest), short(at)))
	}
	f.Claims = append(f.Claims, verdict(f.ID, "In random traffic the strategy-proof property of DRF proves unimportant (abstract), if only a tenth of the jobs of class 1 lie.",
		"Of f = 1.25, 1.5 and 2 the best brings a liar under PF less than 5 %.",
		"The mean service rate of a liar is "+strings.Join(words, "; ")+".", most < 1.05))
	return nil
}
