package l14

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"productform/dispatch"
	"productform/plots"
)

// The places of policies after those that claims alone want.
const (
	printedPriority = earliestFirst + 1 + iota
	printedDeadline
	spareKept
)

// explanatoryPolicies are what might explain the outcomes that [L14] states.
func explanatoryPolicies() []namedPolicy { return append(asPrinted(), spareKeptPolicy()) }

// spareKeptPolicy is the deadline policy without what section 5.5 adds to it.
func spareKeptPolicy() namedPolicy {
	return namedPolicy{"deadline, spare kept", 6, dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept}}
}

// asPrinted are the deadline policies with the loop of Algorithm 4 as printed: its condition compares the sum of
// 1/execTime with one such term, so that the first worker is enough for each job and all others are spare. A horizon
// beyond all work does the same.
func asPrinted() []namedPolicy {
	return []namedPolicy{
		{"as printed, spare by priority", 4, dispatch.Policy{Rule: dispatch.Workload, Horizon: 1e40,
			Spare: dispatch.SpareByPriority}},
		{"as printed, spare by deadline", 5, dispatch.Policy{Rule: dispatch.Workload, Horizon: 1e40,
			Spare: dispatch.SpareByDeadline}},
	}
}

// A benchmarkResult is what all policies make of all samples on some machines.
type benchmarkResult struct {
	machines
	all [][]outcome
}

// of returns a number of each outcome of the policy at place k.
func (v benchmarkResult) of(k int, of func(outcome) float64) []float64 { return values(v.all[k], of) }

// first returns the field of the first n samples.
func (v benchmarkResult) first(n int) benchmarkResult {
	few := benchmarkResult{machines: v.machines}
	for _, o := range v.all {
		few.all = append(few.all, o[:n])
	}
	return few
}

// manySamples draws violations against penalties.
func manySamples(ctx context.Context, e plots.Effort, f *plots.Figure) error {
	s, err := samples(e, 10*e.Runs)
	if err != nil {
		return err
	}
	policies := slices.Concat(comparedPolicies(), explanatoryPolicies())
	var results []benchmarkResult
	for _, m := range []machines{equalWorkers(), unequalWorkers()} {
		all, err := s.run(ctx, m, policies)
		if err != nil {
			return err
		}
		results = append(results, benchmarkResult{m, all})
	}
	noPenalty, noViolation := 0, 0
	for _, v := range results {
		title := strings.ToUpper(v.name()[:1]) + v.name()[1:] + " workers"
		inHand := plots.Panel{Title: title, X: penaltyAxis(plots.Log), Y: rateAxis(false)}
		inHand.Y.Scale = plots.Log
		planned := plots.Panel{Title: title, X: penaltyAxis(plots.Log), Y: rateAxis(true)}
		var without, unviolated int
		inHand.Series, without, unviolated = v.scatter(runningOf, plots.Log)
		planned.Series, _, _ = v.scatter(plannedOf, plots.Linear)
		noPenalty, noViolation = noPenalty+without, noViolation+unviolated
		f.Panels = append(f.Panels, inHand, planned)
	}
	x := penaltyAxis(plots.Log)
	roomy(&x, f.Panels, alongX)
	for k := range f.Panels {
		f.Panels[k].X = x
	}
	f.OneLegend = true
	words := s.words()
	words["Workers"], words["Few"] = workersTexts(results), fewSamples
	words["NoPenalty"], words["NoViolation"] = noPenalty, noViolation
	if err := texts.Describe(f, words, nil); err != nil {
		return err
	}
	for _, v := range results {
		if err := sampleChecks(ctx, f, s, v.machines, policies, v.all); err != nil {
			return err
		}
	}
	linClaims(f, results)
	f.Claims = append(f.Claims, s.longestClaim(plots.PanelID(f, 0)))
	return nil
}

// scatter returns the means of all policies, then their first samples, then the others, and how many of these have no
// penalty, or else no violation though the axis is logarithmic.
func (v benchmarkResult) scatter(rate func(outcome) float64, scale plots.Scale) (series []plots.Series, noPenalty,
	noViolation int) {
	var first, others []plots.Series
	for k, c := range comparedPolicies() {
		rates, penalties := v.of(k, rate), v.of(k, penaltyOf)
		y, low, high := meanOf(rates)
		if m := mean(penalties); m > 0 && (scale != plots.Log || low > 0) {
			series = append(series,
				plots.Series{Label: c.label, Group: "mean", Kind: plots.Points, Look: c.look, X: []float64{m},
					Y: []float64{y}, Low: []float64{low}, High: []float64{high}})
		}
		order := make([]int, len(rates))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(penalties[a], penalties[b]) })
		early := plots.Series{Label: c.label, Group: fmt.Sprintf("first %d samples", fewSamples), Kind: plots.Points,
			Look: c.look}
		late := plots.Series{Label: c.label, Group: "other samples", Kind: plots.Points, Look: c.look}
		for _, i := range order {
			cloud := &late
			if i < fewSamples {
				cloud = &early
			}
			switch x := penalties[i]; {
			case x == 0:
				noPenalty++
			case scale == plots.Log && rates[i] == 0:
				noViolation++
			case len(cloud.X) == 0 || x > cloud.X[len(cloud.X)-1]:
				cloud.X, cloud.Y = append(cloud.X, x), append(cloud.Y, rates[i])
			}
		}
		first, others = append(first, early), append([]plots.Series{late}, others...)
	}
	for _, s := range append(first, others...) {
		if len(s.X) > 0 {
			series = append(series, s)
		}
	}
	return series, noPenalty, noViolation
}

// A workersWords sets EDF beside deadline, spare by deadline: ratios of their means on some workers.
type workersWords struct {
	Name             string // of the workers
	All              machines
	Running, Penalty float64
}

func workersTexts(results []benchmarkResult) (words []workersWords) {
	for _, v := range results {
		ratio := func(of func(outcome) float64) float64 {
			return meansRatio(mean(v.of(earliestFirst, of)), mean(v.of(spareDeadline, of)))
		}
		words = append(words, workersWords{v.name(), v.machines, ratio(runningOf), ratio(penaltyOf)})
	}
	return words
}
