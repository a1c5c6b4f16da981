package bc17

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"productform/bf"
	"productform/plots"
	"productform/sim"
)

// The looks of [BC17], Figures 1 to 4.
const (
	fcfsLook     = 1
	onceLook     = 2
	fiveLook     = 0
	balancedLook = 6
)

// interruptions returns the mean numbers of interruptions per job that [BC17] simulates, with their
// looks.
func interruptions() map[float64]int {
	return map[float64]int{0: fcfsLook, 1: onceLook, 5: fiveLook}
}

// points holds the simulations of one policy with one distribution, one per load or per value of m.
type points struct {
	sizes sizeDistribution
	m     float64
	runs  []*plots.Simulation
}

// prepare plans [BC17], Figure 1, 2, 3 or 4: for each distribution FCFS, m = 1 and m = 5 at every
// load and, for the checks, simulations with known exact answers: exponential sizes, and processor
// sharing.
func (c configuration) prepare(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	all := append(sizeDistributions(), exponentialSizes())
	var shown, checked []points
	for _, l := range all {
		for _, m := range []float64{0, 1, 5} {
			row := points{sizes: l, m: m}
			for _, rho := range e.Loads {
				settings := sim.Settings{}
				if l.Sizes == nil {
					settings.Runs = e.CheckRuns
				}
				s, err := c.simulateAt(ctx, p, e, rho, l, m, settings)
				if err != nil {
					return nil, err
				}
				row.runs = append(row.runs, s)
			}
			if l.Sizes == nil {
				checked = append(checked, row)
			} else {
				shown = append(shown, row)
			}
		}
	}
	var shared []points
	if c.Sharing {
		for _, l := range sizeDistributions() {
			row := points{sizes: l}
			for _, rho := range sharedLoads() {
				s, err := c.shareAt(ctx, p, e, rho, l, sim.Settings{Runs: e.CheckRuns})
				if err != nil {
					return nil, err
				}
				row.runs = append(row.runs, s)
			}
			shared = append(shared, row)
		}
	}
	return func(ctx context.Context, f *plots.Figure) error {
		c := c.memoized()
		err := c.draw(ctx, p, e, f, shown)
		if err != nil {
			return err
		}
		if f.Checks, err = c.checks(ctx, e, checked, shared); err != nil {
			return err
		}
		f.Claims, err = c.claims(ctx, e, shown)
		return err
	}, nil
}

// exactLoads returns the loads of the curves of balanced fairness: 0.005, 0.01, ..., 0.99.
func exactLoads() []*big.Rat { return plots.Multiples(200, 198) }

// sharedLoads returns the loads at which processor sharing is simulated.
func sharedLoads() []*big.Rat {
	return []*big.Rat{big.NewRat(3, 10), big.NewRat(6, 10), big.NewRat(9, 10)}
}

// sizeWords holds the data for texts about sizes and their panels.
type sizeWords struct{ Panels, Name, Words string }

// draw draws mean service rate and mean delay, a row of panels for each distribution.
func (c configuration) draw(ctx context.Context, p *plots.Plan, e plots.Effort, f *plots.Figure,
	shown []points) error {
	var words []sizeWords
	var rates, delays []plots.Panel
	for k, l := range sizeDistributions() {
		rate, delay := c.panels(l)
		for _, row := range shown {
			if row.sizes.Name == l.Name {
				if err := c.addSimulated(&rate, &delay, row, e); err != nil {
					return err
				}
			}
		}
		if err := c.addExact(ctx, &rate, &delay, l); err != nil {
			return err
		}
		rates, delays = append(rates, rate), append(delays, delay)
		words = append(words, sizeWords{fmt.Sprintf("(%c, %c)", 'a'+2*k, 'b'+2*k), l.Name, l.Words})
	}
	plots.ShareY(delays)
	for k := range rates {
		f.Panels = append(f.Panels, rates[k], delays[k])
	}
	var shared []*big.Rat
	if c.Sharing {
		shared = sharedLoads()
	}
	return texts.Describe(f, map[string]any{
		"System": c.Words, "Sizes": words, "ExactLoads": exactLoads(), "Loads": e.Loads, "SharedLoads": shared,
		"Runs":    runWords(p, e),
		"Lighter": len(c.Curves) > 1, "Number": strings.TrimPrefix(c.ID, "bf-"),
	}, nil)
}

// panels returns the two panels for a distribution, without curves.
func (c configuration) panels(l sizeDistribution) (rate, delay plots.Panel) {
	load := plots.Axis{Quantity: "load", Symbol: "ρ", Max: 1}
	rate = plots.Panel{Title: l.title(), X: load,
		Y: plots.Axis{Quantity: "mean service rate", Symbol: "γ", Unit: "work per unit of time"}}
	delay = plots.Panel{Title: l.title(), X: load,
		Y: plots.Axis{Quantity: "mean delay", Symbol: "δ", Unit: "units of time", Scale: plots.Log}}
	for _, k := range c.Curves {
		label := "maximum"
		if len(c.Curves) > 1 {
			label += ", " + k.Label
		}
		rate.References = append(rate.References, plots.Reference{Label: label, Y: float64(k.Max)})
		rate.Y.Max = max(rate.Y.Max, 1.1*float64(k.Max))
	}
	return rate, delay
}

// group returns the name of the curves of a class, or "" if there is only one.
func (c configuration) group(k curve) string {
	if len(c.Curves) > 1 {
		return k.Label
	}
	return ""
}

// addSimulated adds the curves of one policy.
func (c configuration) addSimulated(rate, delay *plots.Panel, row points, e plots.Effort) error {
	size, _ := row.sizes.Mean.Float64()
	for _, k := range c.Curves {
		d := plots.Series{Label: policyName(row.m), Group: c.group(k), Look: interruptions()[row.m],
			Marked: true}
		g := d
		for i, rho := range e.Loads {
			x, _ := rho.Float64()
			mean, low, high, err := plots.LogInterval(simulatedDelay(row.runs[i].Result, k.Class))
			if err != nil {
				return fmt.Errorf("%s: %w", row.runs[i].Name, err)
			}
			d.X, d.Y, d.Low, d.High = append(d.X, x), append(d.Y, mean), append(d.Low, low), append(d.High, high)
			g.X, g.Y, g.Low, g.High = append(g.X, x), append(g.Y, size/mean), append(g.Low, size/high), append(g.High,
				size/low)
		}
		rate.Series, delay.Series = append(rate.Series, g), append(delay.Series, d)
	}
	return nil
}

// addExact adds the curves of balanced fairness.
func (c configuration) addExact(ctx context.Context, rate, delay *plots.Panel, l sizeDistribution) error {
	for _, k := range c.Curves {
		d := plots.Series{Label: "balanced fairness", Group: c.group(k), Look: balancedLook}
		g := d
		for _, rho := range exactLoads() {
			if err := ctx.Err(); err != nil {
				return err
			}
			gamma, err := c.exact(ctx, rho)
			if err != nil {
				return err
			}
			x, _ := rho.Float64()
			exact := exactDelay(gamma, k.Class, l.Mean)
			y, _ := exact.Float64()
			v, _ := new(big.Rat).Quo(l.Mean, exact).Float64()
			d.X, d.Y = append(d.X, x), append(d.Y, y)
			g.X, g.Y = append(g.X, x), append(g.Y, v)
		}
		rate.Series, delay.Series = append(rate.Series, g), append(delay.Series, d)
	}
	return nil
}

// checks compares the closed form with the general solver, then with the simulations whose means it
// gives exactly.
func (c configuration) checks(ctx context.Context, e plots.Effort, checked, shared []points) ([]plots.Check, error) {
	checks, err := c.solverChecks(ctx)
	if err != nil {
		return nil, err
	}
	add := func(loads []*big.Rat, row points, policy string) error {
		for i, rho := range loads {
			if err := ctx.Err(); err != nil {
				return err
			}
			gamma, err := c.exact(ctx, rho)
			if err != nil {
				return err
			}
			one := row.runs[i]
			for k := range gamma {
				class := ""
				if len(gamma) > 1 {
					class = fmt.Sprintf(", class %d", k+1)
				}
				exact, _ := exactDelay(gamma, k, row.sizes.Mean).Float64()
				quantity := fmt.Sprintf("mean delay%s, %s, %s, load %s", class, row.sizes.Name, policy,
					plots.Decimal(rho))
				checks = append(checks,
					plots.SimulatedCheck(c.ID, quantity, exact, simulatedDelay(one.Result, k), one.Name))
			}
		}
		return nil
	}
	for _, row := range checked {
		if err := add(e.Loads, row, policyName(row.m)); err != nil {
			return nil, err
		}
	}
	for _, row := range shared {
		if err := add(sharedLoads(), row, "processor sharing"); err != nil {
			return nil, err
		}
	}
	return checks, nil
}

// solverChecks compares the closed form with the general solver on the same cluster at a few loads.
func (c configuration) solverChecks(ctx context.Context) ([]plots.Check, error) {
	var checks []plots.Check
	one := big.NewRat(1, 1)
	for _, rho := range []*big.Rat{big.NewRat(1, 2), big.NewRat(9, 10), big.NewRat(99, 100)} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		gamma, err := c.exact(ctx, rho)
		if err != nil {
			return nil, err
		}
		solved, err := bf.Solve(ctx, c.at(rho, one), bf.Settings{})
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", plots.Decimal(rho), err)
		}
		// The solver's bound, and 2^-52 for rounding the closed form and comparing.
		tolerance := solved.RelativeErrorBound + 0x1p-52
		for _, k := range c.Curves {
			i := max(k.Class, 0)
			rate, _ := gamma[i].Float64()
			delay, _ := exactDelay(gamma, i, one).Float64()
			class := solved.Classes[i]
			at := fmt.Sprintf(", %s, load %s", k.Label, plots.Decimal(rho))
			checks = append(checks,
				plots.Check{Figure: c.ID + "a", Quantity: "mean service rate" + at, Exact: rate,
					Solver: &class.ServiceRate.Float, Tolerance: &tolerance},
				plots.Check{Figure: c.ID + "b", Quantity: "mean delay" + at, Exact: delay,
					Solver: &class.MeanDelay.Float, Tolerance: &tolerance})
		}
	}
	return checks, nil
}
