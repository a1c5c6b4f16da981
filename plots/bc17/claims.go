package bc17

import (
	"context"
	"fmt"
	"strings"

	"productform/plots"
)

// Thresholds for "very close", "sufficient in practice" and "a significant improvement" ([BC17],
// section 5). Close is not equal: at load 0.8 and m = 5 mean delays exceed those of balanced
// fairness by 2 to 12 %.
const (
	near      = 0.25 // largest relative excess of the mean delay over balanced fairness
	improved  = 0.5  // fraction of the excess of FCFS that may remain with m = 1
	fewEnough = 4    // interruptions per job that suffice
)

// worst returns the largest mean delay of one policy, relative to balanced fairness, over classes
// and loads up to most.
func (c configuration) worst(ctx context.Context, e plots.Effort, row points, most float64) (plots.Number, error) {
	var worst plots.Number
	for i, rho := range e.Loads {
		if x, _ := rho.Float64(); x > most {
			break
		}
		gamma, err := c.exact(ctx, rho)
		if err != nil {
			return worst, err
		}
		for _, k := range c.Curves {
			mean, low, high, err := plots.LogInterval(simulatedDelay(row.runs[i].Result, k.Class))
			if err != nil {
				return worst, err
			}
			exact, _ := exactDelay(gamma, k.Class, row.sizes.Mean).Float64()
			if mean/exact > worst.Mean {
				worst = plots.Number{Mean: mean / exact, Low: low / exact, High: high / exact, At: plots.Decimal(rho)}
			}
		}
	}
	return worst, nil
}

// claims tests the claims of [BC17], section 5, about the configuration with the largest ratios
// over loads and classes.
func (c configuration) claims(ctx context.Context, e plots.Effort, shown []points) ([]plots.Claim, error) {
	ratios := func(m, most float64) (all []plots.Number, text string, err error) { // one entry per distribution
		var words []string
		for _, row := range shown {
			if row.m != m {
				continue
			}
			r, err := c.worst(ctx, e, row, most)
			if err != nil {
				return nil, "", err
			}
			all = append(all, r)
			words = append(words, row.sizes.Name+" "+r.String())
		}
		return all, policyName(m) + ": " + strings.Join(words, ", "), nil
	}
	fcfs, fcfsText, err := ratios(0, 1)
	if err != nil {
		return nil, err
	}
	once, onceText, err := ratios(1, 1)
	if err != nil {
		return nil, err
	}
	five, fiveText, err := ratios(5, 1)
	if err != nil {
		return nil, err
	}
	var limits []plots.Number
	for _, r := range fcfs {
		part := func(v float64) float64 { return 1 + improved*(v-1) }
		limits = append(limits, plots.Number{Mean: part(r.Mean), Low: part(r.Low), High: part(r.High)})
	}
	claims := []plots.Claim{{
		Place:    c.ID,
		Sentence: "One interruption per job brings a significant improvement compared to FCFS.",
		Criterion: fmt.Sprintf("For every distribution, the largest excess of the mean delay over balanced fairness "+
			"is at most %g of that of FCFS.", improved),
		Numbers: "Largest ratio of the mean delay to that of balanced fairness: " + fcfsText + "; " + onceText + ".",
		Verdict: plots.Below(once, limits),
	}}
	if c.Sharing {
		return append(claims, plots.Claim{
			Place:    c.ID,
			Sentence: "For m = 5, performance is very close to that of balanced fairness, even for Zipf sizes.",
			Criterion: fmt.Sprintf("For every distribution, the mean delay is at most %g %% above that of balanced "+
				"fairness at every load; close does not mean equal.", 100*near),
			Numbers: "Largest ratio: " + fiveText + ".",
			Verdict: plots.AtMost(1 + near).Verdict(five...),
		}), nil
	}
	early, earlyText, err := ratios(1, 0.8)
	if err != nil {
		return nil, err
	}
	return append(claims, plots.Claim{
		Place:    c.ID,
		Sentence: "In the large system it is sufficient in practice to set m = 1.",
		Criterion: fmt.Sprintf("For every distribution, the mean delay is at most %g %% above that of balanced "+
			"fairness at every load up to 0.8; beyond, the gap grows.", 100*near),
		Numbers: "Largest ratio up to load 0.8: " + earlyText + "; over all loads: " + onceText + "; " + fiveText +
			".",
		Verdict: plots.AtMost(1 + near).Verdict(early...),
	}), nil
}
