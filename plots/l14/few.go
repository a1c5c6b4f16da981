package l14

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"productform/plots"
)

// fewSamples is the number of samples in [L14].
const fewSamples = 5

// values returns one number per outcome.
func values(outcomes []outcome, of func(outcome) float64) []float64 {
	v := make([]float64, len(outcomes))
	for k, o := range outcomes {
		v[k] = of(o)
	}
	return v
}

func mean(v []float64) float64 { return stat.Mean(v, nil) }

// The groups of series of few samples.
const (
	intervalMean = "mean with nominal 95 % interval"
	oneSample    = "one sample"
)

// meansAndSamples returns the mean of each policy at its position, with its bootstrap interval,
// then its samples, shifted slightly to the right. A logarithmic axis cannot show samples of 0 or
// intervals that start at 0; it returns the number of each.
func meansAndSamples(all [][]outcome, of func(outcome) float64, scale plots.Scale, beside float64) (
	series []plots.Series, zeros, bare int,
) {
	var each []plots.Series
	for k, c := range comparedPolicies() {
		v := values(all[k], of)
		m, low, high := meanOf(v)
		s := plots.Series{Label: c.label, Group: intervalMean, Kind: plots.Points, Look: c.look,
			X: []float64{float64(k + 1)}, Y: []float64{m}, Low: []float64{low}, High: []float64{high}}
		if scale == plots.Log && m > 0 && low == 0 {
			s.Low, s.High = nil, nil
			bare++
		}
		if scale != plots.Log || m > 0 {
			series = append(series, s)
		}
		one := plots.Series{Label: c.label, Group: oneSample, Kind: plots.Points, Look: c.look}
		for _, y := range v {
			if scale == plots.Log && y == 0 {
				zeros++
				continue
			}
			one.X, one.Y = append(one.X, float64(k+1)+beside), append(one.Y, y)
		}
		if len(one.X) > 0 {
			each = append(each, one)
		}
	}
	return append(series, each...), zeros, bare
}

// Minimum ranges of the axes of dispatch-2 and dispatch-3, and of dispatch-4 and dispatch-5, for
// comparability.
const (
	usualRate                     = 0.2
	lowestPenalty, highestPenalty = 1e2, 1e6
)

// ends returns the smallest and the largest value of the series of panels.
func ends(panels []plots.Panel, pick func(plots.Series) []float64) (least, most float64) {
	least, most = math.Inf(1), 0
	for _, p := range panels {
		for _, s := range p.Series {
			least, most = min(least, slices.Min(pick(s))), max(most, slices.Max(pick(s)))
		}
	}
	return least, most
}

// shareAxis gives panels one logarithmic vertical axis that covers all their values.
func shareAxis(panels ...*plots.Panel) {
	least, most := math.Inf(1), 0.0
	for _, p := range panels {
		low, high := ends([]plots.Panel{*p}, alongY)
		least, most = min(least, low), max(most, high)
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max = least/1.2, most*1.2
	}
}

func alongX(s plots.Series) []float64 { return slices.Concat(s.X, s.Left, s.Right) }
func alongY(s plots.Series) []float64 { return slices.Concat(s.Y, s.Low, s.High) }

// runFewSamples runs the policies on as many samples as [L14] does.
func runFewSamples(ctx context.Context, e plots.Effort, m machines) (*benchmark, [][]outcome, error) {
	s, err := samples(e, fewSamples)
	if err != nil {
		return nil, nil, err
	}
	all, err := s.run(ctx, m, comparedPolicies())
	return s, all, err
}

// violations draws priority violations on few samples.
func violations(m machines) func(context.Context, plots.Effort, *plots.Figure) error {
	return func(ctx context.Context, e plots.Effort, f *plots.Figure) error {
		s, all, err := runFewSamples(ctx, e, m)
		if err != nil {
			return err
		}
		a := plots.Panel{Title: "By the plan", X: policyAxis(), Y: rateAxis(true)}
		b := plots.Panel{Title: "By running tasks", X: policyAxis(), Y: rateAxis(false)}
		a.Series, _, _ = meansAndSamples(all, plannedOf, plots.Linear, 0.25)
		b.Series, _, _ = meansAndSamples(all, runningOf, plots.Linear, 0.25)
		f.OneLegend = true
		f.Panels = []plots.Panel{a, b}
		_, most := ends(f.Panels, alongY)
		for k := range f.Panels {
			f.Panels[k].Y.Max = max(usualRate, 1.05*most)
		}
		edf, spare := mean(values(all[earliestFirst], runningOf)), mean(values(all[spareDeadline], runningOf))
		words := s.words()
		words["Workers"], words["Violated"], words["EDF"] = m, violatedByPlan(all), finite(meansRatio(edf, spare))
		words["Figure"] = map[bool]string{false: "6.2", true: "6.3"}[m.spread > 0]
		if err := texts.Describe(f, words, nil); err != nil {
			return err
		}
		return sampleChecks(ctx, f, s, m, comparedPolicies(), all)
	}
}

// A policyMean holds a policy and a mean over the samples.
type policyMean struct {
	Policy string
	Mean   float64
}

// violatedByPlan returns the policies whose plan has violations, with their mean violation rates.
func violatedByPlan(all [][]outcome) (violated []policyMean) {
	for k, c := range comparedPolicies() {
		if v := values(all[k], plannedOf); slices.Max(v) > 0 {
			violated = append(violated, policyMean{c.label, mean(v)})
		}
	}
	return violated
}

// penalties draws penalties on few samples.
func penalties(m machines) func(context.Context, plots.Effort, *plots.Figure) error {
	return func(ctx context.Context, e plots.Effort, f *plots.Figure) error {
		s, all, err := runFewSamples(ctx, e, m)
		if err != nil {
			return err
		}
		p := plots.Panel{Title: "Means and samples", X: policyAxis(), Y: penaltyAxis(plots.Log), Wide: true}
		var zeros, bare int
		p.Series, zeros, bare = meansAndSamples(all, penaltyOf, plots.Log, 0.12)
		least, most := ends([]plots.Panel{p}, alongY)
		p.Y.Min, p.Y.Max = min(lowestPenalty, least/1.2), max(highestPenalty, most*1.2)
		f.OneLegend = true
		f.Panels = []plots.Panel{p}
		edf := mean(values(all[earliestFirst], penaltyOf))
		over := func(k int) string { return finite(meansRatio(mean(values(all[k], penaltyOf)), edf)) }
		words := s.words()
		words["Workers"], words["Zeros"], words["Bare"] = m, zeros, bare
		words["Least"], words["Most"] = slices.Min(values(all[earliestFirst], penaltyOf)), slices.Max(values(
			all[earliestFirst], penaltyOf,
		))
		words["Priority"], words["SparePriority"] = over(byPriority), over(sparePriority)
		words["SpareDeadline"] = over(spareDeadline)
		words["Figure"] = map[bool]string{false: "6.4", true: "6.5"}[m.spread > 0]
		if err := texts.Describe(f, words, nil); err != nil {
			return err
		}
		return sampleChecks(ctx, f, s, m, comparedPolicies(), all)
	}
}
