package bc17

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"

	"productform/bf"
	"productform/plots"
	"productform/sim"
)

// insensitivity returns the figure of the excess of the mean delay of all jobs over balanced
// fairness at load 0.8, against the mean number m of interruptions per job.
func insensitivity(id string, configurations ...configuration) plots.Spec {
	title := "Interruptions make the cluster insensitive to job sizes"
	prepare := func(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
		rho := big.NewRat(8, 10)
		ms := manyInterruptions(e)
		rows := make([][]points, len(configurations)) // one per distribution, with a run for each m
		for k, c := range configurations {
			for _, l := range sizeDistributions() {
				row := points{sizes: l}
				for _, m := range ms {
					s, err := c.simulateAt(ctx, p, e, rho, l, m,
						sim.Settings{Jumps: longer(m) * e.Jumps, WarmUp: longer(m) * e.WarmUp})
					if err != nil {
						return nil, err
					}
					row.runs = append(row.runs, s)
				}
				rows[k] = append(rows[k], row)
			}
		}
		return func(ctx context.Context, f *plots.Figure) error {
			for k, c := range configurations {
				if err := ctx.Err(); err != nil {
					return err
				}
				panel, claim, err := c.gap(ctx, id, rho, ms, rows[k])
				if err != nil {
					return err
				}
				check, err := c.gapCheck(ctx, fmt.Sprintf("%s%c", id, 'a'+k), rho)
				if err != nil {
					return err
				}
				f.Panels = append(f.Panels, panel)
				f.Claims = append(f.Claims, claim)
				f.Checks = append(f.Checks, check)
			}
			y := f.Panels[0].Y // the same for all panels
			for _, p := range f.Panels {
				y.Min, y.Max = min(y.Min, p.Y.Min), max(y.Max, p.Y.Max)
			}
			for k := range f.Panels {
				f.Panels[k].Y = y
			}
			return texts.Describe(f, map[string]any{
				"Load": rho, "Systems": configurations, "Sizes": sizeDistributions(), "Interruptions": ms,
				"Runs": runWords(p, e),
			}, nil)
		}, nil
	}
	return plots.Spec{ID: id, Title: title, Prepare: prepare}
}

// manyInterruptions returns the mean numbers of interruptions per job, 1/4 to 64.
func manyInterruptions(e plots.Effort) []float64 {
	if e.Precision == plots.Draft {
		return []float64{0.25, 1, 4, 16, 64}
	}
	return []float64{0.25, 0.5, 1, 2, 4, 8, 16, 32, 64}
}

// longer returns the factor on the jumps of a run. It exceeds 1 if most jumps are interruptions, so
// the run still observes enough jobs.
func longer(m float64) float64 { return max(1, m/16) }

// gap returns the panel of one configuration and its verdict on the claim that few interruptions
// suffice.
func (c configuration) gap(ctx context.Context, id string, rho *big.Rat, ms []float64, rows []points) (
	plots.Panel, plots.Claim, error,
) {
	panel := plots.Panel{
		Title:      c.Short,
		X:          plots.Axis{Quantity: "mean number m of interruptions per job", Scale: plots.Log, Min: 0.2, Max: 80},
		Y:          plots.Axis{Quantity: "mean delay above balanced fairness", Unit: "%", Min: -10},
		References: []plots.Reference{{Label: "balanced fairness", Y: 0}},
	}
	gamma, err := c.exact(ctx, rho)
	if err != nil {
		return panel, plots.Claim{}, err
	}
	var few []plots.Number
	var words []string
	for k, row := range rows {
		exact, _ := exactDelay(gamma, allClasses, row.sizes.Mean).Float64()
		s := plots.Series{Label: row.sizes.Name, Look: k, Marked: true}
		var worst plots.Number
		for i, m := range ms {
			d := simulatedDelay(row.runs[i].Result, allClasses)
			mean, low, high := d.Mean/exact, (d.Mean-d.HalfWidth)/exact, (d.Mean+d.HalfWidth)/exact
			if m >= fewEnough && mean > worst.Mean {
				worst = plots.Number{Mean: mean, Low: low, High: high, At: plots.Decimal(rho) + ", " + policyName(m)}
			}
			s.X, s.Y = append(s.X, m), append(s.Y, 100*(mean-1))
			s.Low, s.High = append(s.Low, 100*(low-1)), append(s.High, 100*(high-1))
			panel.Y.Min = min(panel.Y.Min, 10*math.Floor(10*(low-1)))
			panel.Y.Max = max(panel.Y.Max, 10*math.Ceil(10*(high-1)))
		}
		panel.Series = append(panel.Series, s)
		few = append(few, worst)
		words = append(words, row.sizes.Name+" "+worst.String())
	}
	return panel, plots.Claim{
		Place:    id,
		Sentence: "Only a few interruptions per job suffice for approximate insensitivity. " + c.Short + ".",
		Criterion: fmt.Sprintf("For every distribution, the mean delay is at most %g %% above that of balanced "+
			"fairness for every m >= %d at load %s.", 100*near, fewEnough, plots.Decimal(rho)),
		Numbers: "Largest ratio: " + strings.Join(words, ", ") + ".",
		Verdict: plots.AtMost(1 + near).Verdict(few...),
	}, nil
}

// gapCheck compares the limit of many interruptions with the general solver.
func (c configuration) gapCheck(ctx context.Context, figure string, rho *big.Rat) (plots.Check, error) {
	one := big.NewRat(1, 1)
	gamma, err := c.exact(ctx, rho)
	if err != nil {
		return plots.Check{}, err
	}
	solved, err := bf.Solve(ctx, c.at(rho, one), bf.Settings{})
	if err != nil {
		return plots.Check{}, fmt.Errorf("%s at load %s: %w", c.Short, plots.Decimal(rho), err)
	}
	exact, _ := exactDelay(gamma, allClasses, one).Float64()
	tolerance := solved.RelativeErrorBound + 0x1p-52 // includes two roundings
	return plots.Check{Figure: figure, Quantity: "mean delay for many interruptions, all jobs, load " +
		plots.Decimal(rho), Exact: exact,
		Solver: &solved.MeanDelay.Float, Tolerance: &tolerance}, nil
}
