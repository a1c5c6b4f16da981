package l14

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"productform/plots"
)

// fewSamples is how many samples [L14] draws.
const fewSamples = 5

// values returns a number of each outcome.
func values(outcomes []outcome, of func(outcome) float64) []float64 {
	v := make([]float64, len(outcomes))
	for k, o := range outcomes {
		v[k] = of(o)
	}
	return v
}

func mean(v []float64) float64 { return stat.Mean(v, nil) }

// student returns the 95 % Student interval of the mean of values, which may begin below 0.
func student(v []float64) (low, high float64) {
	m, deviation := stat.MeanStdDev(v, nil)
	half := distuv.StudentsT{Sigma: 1, Nu: float64(len(v) - 1)}.Quantile(0.975) * deviation / math.Sqrt(float64(len(v)))
	return m - half, m + half
}

// The groups of series of few samples.
const (
	onlyMean     = "mean"
	intervalMean = "mean with 95 % interval"
	oneSample    = "one sample"
)

// meansAndSamples returns the mean of each policy at its place, with its Student interval if asked for, then the
// samples of each to the right of it; on a logarithmic axis without zeros, of which it returns the number.
func meansAndSamples(all [][]outcome, of func(outcome) float64, scale plots.Scale,
	intervals bool) (series []plots.Series, zeros int) {
	var each []plots.Series
	for k, c := range comparedPolicies() {
		v := values(all[k], of)
		m := mean(v)
		s := plots.Series{Label: c.label, Group: onlyMean, Kind: plots.Points, Look: c.look,
			X: []float64{float64(k + 1)}, Y: []float64{m}}
		if intervals {
			s.Group = intervalMean
			low, high := student(v)
			s.Low, s.High = []float64{min(low, m)}, []float64{max(high, m)}
		}
		if scale != plots.Log || m > 0 {
			series = append(series, s)
		}
		one := plots.Series{Label: c.label, Group: oneSample, Kind: plots.Points, Look: c.look}
		for i, y := range v {
			if scale == plots.Log && y == 0 {
				zeros++
				continue
			}
			one.X, one.Y = append(one.X, float64(k+1)+0.16+0.6*float64(i)/float64(len(v))), append(one.Y, y)
		}
		if len(one.X) > 0 {
			each = append(each, one)
		}
	}
	return append(series, each...), zeros
}

// roomy ends a logarithmic axis at powers of ten clearly beyond the values that series of panels have there.
func roomy(a *plots.Axis, panels []plots.Panel, pick func(plots.Series) []float64) {
	least, most := math.Inf(1), 0.0
	for _, p := range panels {
		for _, s := range p.Series {
			least, most = min(least, slices.Min(pick(s))), max(most, slices.Max(pick(s)))
		}
	}
	if most > 0 {
		a.Min, a.Max = math.Pow10(int(math.Floor(math.Log10(least/1.2)))), math.Pow10(int(math.Ceil(math.Log10(most*1.2))))
	}
}

func alongX(s plots.Series) []float64 { return s.X }
func alongY(s plots.Series) []float64 { return s.Y }

// few runs the policies on as many samples as [L14].
func few(ctx context.Context, e plots.Effort, m machines) (*benchmark, [][]outcome, error) {
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
		s, all, err := few(ctx, e, m)
		if err != nil {
			return err
		}
		a := plots.Panel{Title: "By the plan", X: policyAxis(), Y: rateAxis(true)}
		b := plots.Panel{Title: "By tasks in hand", X: policyAxis(), Y: rateAxis(false)}
		a.Series, _ = meansAndSamples(all, plannedOf, plots.Linear, true)
		b.Series, _ = meansAndSamples(all, runningOf, plots.Linear, true)
		f.OneLegend = true
		f.Panels = []plots.Panel{a, b}
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

// A policyMean is a policy and a mean over the samples.
type policyMean struct {
	Policy string
	Mean   float64
}

// violatedByPlan returns the policies that the plan violates, with their mean violation rates.
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
		s, all, err := few(ctx, e, m)
		if err != nil {
			return err
		}
		a := plots.Panel{Title: "Samples and means", X: policyAxis(), Y: penaltyAxis(plots.Log)}
		b := plots.Panel{Title: "Means with intervals", X: policyAxis(), Y: penaltyAxis(plots.Linear)}
		var zeros int
		a.Series, zeros = meansAndSamples(all, penaltyOf, plots.Log, false)
		b.Series, _ = meansAndSamples(all, penaltyOf, plots.Linear, true)
		b.Series = slices.DeleteFunc(b.Series, func(s plots.Series) bool { return s.Group == oneSample })
		roomy(&a.Y, []plots.Panel{a}, alongY)
		f.OneLegend = true
		f.Panels = []plots.Panel{a, b}
		edf := mean(values(all[earliestFirst], penaltyOf))
		over := func(k int) string { return finite(meansRatio(mean(values(all[k], penaltyOf)), edf)) }
		words := s.words()
		words["Workers"], words["Zeros"] = m, zeros
		words["Priority"], words["SparePriority"] = over(byPriority), over(sparePriority)
		words["SpareDeadline"] = over(spareDeadline)
		words["Figure"] = map[bool]string{false: "6.4", true: "6.5"}[m.spread > 0]
		if err := texts.Describe(f, words, nil); err != nil {
			return err
		}
		return sampleChecks(ctx, f, s, m, comparedPolicies(), all)
	}
}
