package l14

import (
	"cmp"
	"context"
	"slices"

	"productform/dispatch"
	"productform/plots"
)

// Positions of the additional policies that only claims use.
const (
	printedPriority = earliestFirst + 1 + iota
	printedDeadline
	spareKept
)

// explanatoryPolicies returns policies that might explain the outcomes that [L14] states.
func explanatoryPolicies() []namedPolicy { return append(printedPolicies(), spareKeptPolicy()) }

// spareKeptPolicy returns the deadline policy without the extension of section 5.5.
func spareKeptPolicy() namedPolicy {
	return namedPolicy{"deadline, spare kept", 6, dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept}}
}

// printedPolicies returns the deadline policies with the loop of Algorithm 4 as printed: its
// condition compares the sum of 1/execTime with one such term, so the first worker suffices for
// each job, and all other workers are spare. A horizon beyond all work has the same effect.
func printedPolicies() []namedPolicy {
	return []namedPolicy{
		{"as printed, spare by priority", 4, dispatch.Policy{Rule: dispatch.Workload, Horizon: 1e40,
			Spare: dispatch.SpareByPriority}},
		{"as printed, spare by deadline", 5, dispatch.Policy{Rule: dispatch.Workload, Horizon: 1e40,
			Spare: dispatch.SpareByDeadline}},
	}
}

// A benchmarkResult holds the outcomes of all policies on all samples for some machines.
type benchmarkResult struct {
	machines
	all [][]outcome
}

// of returns one number per outcome of the policy at position k.
func (v benchmarkResult) of(k int, of func(outcome) float64) []float64 { return values(v.all[k], of) }

// first returns the result restricted to the first n samples.
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
	without := 0
	for k := range comparedPolicies() {
		p, n := policyPanel(results, k)
		f.Panels, without = append(f.Panels, p), without+n
	}
	left, right := ends(f.Panels, alongX)
	low, high := ends(f.Panels, alongY)
	for k := range f.Panels {
		x, y := &f.Panels[k].X, &f.Panels[k].Y
		x.Min, x.Max, y.Min, y.Max = left/1.2, right*1.2, low/1.2, high*1.2
	}
	f.OneLegend = true
	words := s.words()
	words["Workers"], words["Without"], words["Few"] = workersTexts(results), without, fewSamples
	words["Shown"] = min(len(s.seeds), shownSamples)
	words["HeldPenalty"], words["HeldRate"] = 100*coverage(results, penaltyOf), 100*coverage(results, runningOf)
	if err := texts.Describe(f, words, nil); err != nil {
		return err
	}
	for _, v := range results {
		if err := sampleChecks(ctx, f, s, v.machines, policies, v.all); err != nil {
			return err
		}
	}
	linClaims(f, results)
	f.Claims = append(f.Claims, s.longestClaim(f.ID))
	return nil
}

// intervalsMean is the group of the means of many samples, and shownSamples the number of samples that
// are drawn: more would hide each other.
const (
	intervalsMean = "mean with 95 % intervals"
	shownSamples  = 100
)

// policyPanel shows a policy on all workers: the mean of violation rates by running tasks and of
// penalties with bootstrap intervals, then the first samples. It returns the number of samples without
// penalty or violation, which logarithmic axes cannot show.
func policyPanel(results []benchmarkResult, k int) (p plots.Panel, without int) {
	p = plots.Panel{Title: comparedPolicies()[k].label, X: penaltyAxis(plots.Log), Y: rateAxis(false)}
	p.Y.Scale = plots.Log
	var each []plots.Series
	for look, v := range results {
		rates, penalties := v.of(k, runningOf), v.of(k, penaltyOf)
		x, leftEnd, rightEnd := meanOf(penalties)
		y, low, high := meanOf(rates)
		if leftEnd > 0 && low > 0 {
			p.Series = append(p.Series, plots.Series{
				Label: v.name() + " workers", Group: intervalsMean, Kind: plots.Points, Look: look,
				X: []float64{x}, Y: []float64{y}, Low: []float64{low}, High: []float64{high},
				Left: []float64{leftEnd}, Right: []float64{rightEnd},
			})
		}
		var shown []outcome
		for i, o := range v.all[k] {
			if o.penalty == 0 || o.running == 0 {
				without++
			} else if i < shownSamples {
				shown = append(shown, o)
			}
		}
		slices.SortStableFunc(shown, func(a, b outcome) int { return cmp.Compare(a.penalty, b.penalty) })
		if len(shown) > 0 {
			each = append(each, plots.Series{
				Label: v.name() + " workers", Group: oneSample, Kind: plots.Points, Thin: true, Look: look,
				X: values(shown, penaltyOf), Y: values(shown, runningOf),
			})
		}
	}
	p.Series = append(p.Series, each...)
	return p, without
}

// workersWords compares EDF with deadline, spare by deadline: ratios of their means on some
// workers.
type workersWords struct {
	Name             string // name of the workers
	All              machines
	Running, Penalty float64
	Violated         []policyMean // violation rates in the plan
}

func workersTexts(results []benchmarkResult) (words []workersWords) {
	for _, v := range results {
		ratio := func(of func(outcome) float64) float64 {
			return meansRatio(mean(v.of(earliestFirst, of)), mean(v.of(spareDeadline, of)))
		}
		words = append(words, workersWords{
			v.name(), v.machines, ratio(runningOf), ratio(penaltyOf), violatedByPlan(v.all),
		})
	}
	return words
}
