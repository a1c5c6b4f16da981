package l14

import (
	"context"
	"fmt"

	"productform/dispatch"
	"productform/plots"
)

// workerNumbers and spreads are the parameters that dispatch-7 varies.
func workerNumbers(p plots.Precision) []int {
	if p == plots.Draft {
		return []int{5, 10, 20, 40, 100}
	}
	return []int{5, 7, 10, 14, 20, 30, 40, 55, 75, 100}
}

func spreads(p plots.Precision) []float64 {
	if p == plots.Draft {
		return []float64{0, 0.3, 0.6, 0.9}
	}
	return plots.Grid(0, 9, 10)
}

// A variation holds the outcomes of policies on all samples for varying machines.
type variation struct {
	at      []float64 // number of workers, or spread of speeds
	results []benchmarkResult
}

// vary runs all samples on each of the machines.
func (s *benchmark) vary(ctx context.Context, at []float64, on func(float64) machines) (variation, error) {
	v := variation{at: at}
	for _, x := range at {
		m := on(x)
		all, err := s.run(ctx, m, comparedPolicies())
		if err != nil {
			return v, err
		}
		v.results = append(v.results, benchmarkResult{m, all})
	}
	return v, nil
}

// panel draws the mean of a number over the samples, with bootstrap intervals as bars, and counts
// the values that a logarithmic axis cannot show.
func (v variation) panel(title string, x, y plots.Axis, of func(outcome) float64) (p plots.Panel, zeros int) {
	p = plots.Panel{Title: title, X: x, Y: y}
	for k, c := range comparedPolicies() {
		s := plots.Series{Label: c.label, Kind: plots.Curve, Marked: true, Bars: true, Look: c.look}
		for i, f := range v.results {
			m, low, high := meanOf(f.of(k, of))
			if y.Scale == plots.Log && low <= 0 {
				zeros++
				continue
			}
			s.X, s.Y, s.Low, s.High = append(s.X, v.at[i]), append(s.Y, m), append(s.Low, low), append(s.High, high)
		}
		if len(s.X) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	return p, zeros
}

// sensitivity draws penalties and violations against the number of workers and the spread of their
// speeds.
func sensitivity(ctx context.Context, e plots.Effort, f *plots.Figure) error {
	s, err := samples(e, 4*e.Runs)
	if err != nil {
		return err
	}
	var workers []float64
	for _, n := range workerNumbers(e.Precision) {
		workers = append(workers, float64(n))
	}
	usual := equalWorkers().workers
	byNumber, err := s.vary(ctx, workers, func(n float64) machines { return machines{int(n), 0} })
	if err != nil {
		return err
	}
	bySpread, err := s.vary(ctx, spreads(e.Precision), func(a float64) machines { return machines{usual, a} })
	if err != nil {
		return err
	}
	numbers := plots.Axis{Quantity: "workers", Symbol: "m", Scale: plots.Log, Min: 4, Max: 125,
		Ticks: []float64{5, 10, 20, 50, 100}}
	apart := plots.Axis{Quantity: "spread of speeds", Symbol: "δ", Min: -0.06, Max: 0.96,
		Ticks: []float64{0, 0.2, 0.4, 0.6, 0.8}}
	a, zerosA := byNumber.panel("Penalty, workers of speed 1", numbers, penaltyAxis(plots.Log), penaltyOf)
	rates := rateAxis(false)
	rates.Scale = plots.Log
	b, zerosB := byNumber.panel("Violations, workers of speed 1", numbers, rates, runningOf)
	c, zerosC := bySpread.panel(fmt.Sprintf("Penalty, %d workers", usual), apart, penaltyAxis(plots.Log), penaltyOf)
	d, zerosD := bySpread.panel(fmt.Sprintf("Violations, %d workers", usual), apart, rates, runningOf)
	shareAxis(&a, &c)
	shareAxis(&b, &d)
	f.OneLegend = true
	f.Panels = []plots.Panel{a, b, c, d}
	words := s.words()
	words["Usual"], words["Least"], words["Zeros"] = usual, leastPenalties(bySpread), zerosA+zerosB+zerosC+zerosD
	words["Numbers"], words["Spreads"] = workers, bySpread.at
	if err := texts.Describe(f, words, nil); err != nil {
		return err
	}
	if err := sampleChecks(ctx, f, s, byNumber.results[0].machines, comparedPolicies(),
		byNumber.results[0].all); err != nil {
		return err
	}
	otherMachines(f, plots.PanelID(f, 0), "any number of workers", byNumber,
		func(m machines) string { return fmt.Sprintf("m = %d", m.workers) })
	otherMachines(f, plots.PanelID(f, 2), "any spread of speeds", bySpread,
		func(m machines) string { return fmt.Sprintf("δ = %g", m.spread) })
	return checkUnitSpeeds(ctx, f, s, bySpread)
}

// spreadWords holds the spread that minimizes the mean penalty of a policy, and the ratio of that
// mean to the mean with equal workers.
type spreadWords struct {
	Policy string
	Spread float64
	Ratio  string
}

func leastPenalties(v variation) (words []spreadWords) {
	for _, k := range []int{byPriority, sparePriority, earliestFirst} {
		first := mean(v.results[0].of(k, penaltyOf))
		least, at := first, v.at[0]
		for i, f := range v.results {
			if m := mean(f.of(k, penaltyOf)); m < least {
				least, at = m, v.at[i]
			}
		}
		words = append(words, spreadWords{comparedPolicies()[k].label, at, finite(meansRatio(least, first))})
	}
	return words
}

// otherMachines tests whether the statements of [L14] about penalties hold on other machines.
func otherMachines(f *plots.Figure, id, words string, v variation, name func(machines) string) {
	for _, q := range []struct {
		what         string
		above, below int
		largest      bool
		asked        float64
	}{
		{"the penalty of priority 3 magnitudes higher than that of EDF", byPriority, earliestFirst, true,
			magnitudesFrom},
		{"the penalty of deadline, spare by priority, 3 magnitudes higher than that of EDF", sparePriority,
			earliestFirst, true, magnitudesFrom},
		{"the penalty of deadline, spare by deadline, 0.004 or 0.002 of that of spare by priority", spareDeadline,
			sparePriority, false, 0.004 * digitFactor},
	} {
		var best overRatio
		var at string
		for i, one := range v.results {
			r := ratioOf(one.of(q.above, penaltyOf), one.of(q.below, penaltyOf))
			if i == 0 || q.largest == (r.Mean > best.Mean) && r.Mean != best.Mean {
				best, at = r, name(one.machines)
			}
		}
		extreme, comparison, least, most := "smallest", "at most", 0.0, q.asked
		if q.largest {
			extreme, comparison, least, most = "largest", "at least", q.asked, 1e100
		}
		f.Claims = append(f.Claims, plots.Claim{Place: id,
			Sentence:  fmt.Sprintf("(Would other machines explain section 6.3.2?) With %s, %s.", words, q.what),
			Criterion: fmt.Sprintf("The %s ratio of the means is %s %g.", extreme, comparison, q.asked),
			Verdict:   plots.Limit{Least: least, Most: most}.Verdict(best.Number), Finding: true,
			Numbers: fmt.Sprintf("The %s is %v, with %s.", extreme, best, at)})
	}
}

// checkUnitSpeeds compares workers of spread 0 with workers whose individual speeds for each job
// are 1.
func checkUnitSpeeds(ctx context.Context, f *plots.Figure, s *benchmark, v variation) error {
	for k, c := range comparedPolicies() {
		scenario, err := s.scenario(equalWorkers(), c.policy, s.seeds[0])
		if err != nil {
			return err
		}
		for i := range scenario.Jobs {
			scenario.Jobs[i].Speeds = scenario.Speeds
		}
		r, err := dispatch.Run(ctx, scenario)
		if err != nil {
			return err
		}
		if was := v.results[0].all[k][0].penalty; was > 0 {
			f.Checks = append(f.Checks, plots.SolverCheck(plots.PanelID(f, 2),
				fmt.Sprintf("penalty, %s, δ = 0, sample of seed %d, with speeds given job by job", c.label, s.seeds[0]),
				was, r.DeadlineMissPenalty, 1e-9))
		}
	}
	return nil
}
