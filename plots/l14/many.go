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

// The places of policies after the contenders that claims alone want.
const (
	printedPriority = earliestFirst + 1 + iota
	printedDeadline
	spareKept
)

// explanations are what might explain the outcomes that [L14] states.
func explanations() []contender { return append(asPrinted(), keeping()) }

// keeping is the deadline policy without what section 5.5 adds to it.
func keeping() contender {
	return contender{"deadline, spare kept", 6, dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept}}
}

// asPrinted are the deadline policies with the loop of Algorithm 4 as printed: its condition compares the sum of
// 1/execTime with one such term, so that the first worker is enough for each job and all others are spare. A horizon
// beyond all work does the same.
func asPrinted() []contender {
	return []contender{
		{"as printed, spare by priority", 4, dispatch.Policy{Rule: dispatch.Workload, Horizon: 1e40, Spare: dispatch.SpareByPriority}},
		{"as printed, spare by deadline", 5, dispatch.Policy{Rule: dispatch.Workload, Horizon: 1e40, Spare: dispatch.SpareByDeadline}},
	}
}

// A field is what all policies make of all samples on some machines.
type field struct {
	machines
	all [][]outcome
}

// of returns a number of each outcome of the policy at place k.
func (v field) of(k int, of func(outcome) float64) []float64 { return values(v.all[k], of) }

// first returns the field of the first n samples.
func (v field) first(n int) field {
	few := field{machines: v.machines}
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
	policies := slices.Concat(contenders(), explanations())
	var fields []field
	for _, m := range []machines{equalWorkers(), unequalWorkers()} {
		all, err := s.run(ctx, m, policies)
		if err != nil {
			return err
		}
		fields = append(fields, field{m, all})
	}
	noPenalty, noViolation := 0, 0
	for _, v := range fields {
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
	none := ""
	if noPenalty+noViolation > 0 {
		none = fmt.Sprintf(" Runs without penalty (%d), or in (a, c) without violation (%d more), have no place on logarithmic axes; the means hold them.", noPenalty, noViolation)
	}
	f.Caption = tradeWords(fields) + fmt.Sprintf("Each pale mark is one of %d samples under one of six policies on (a, b) %s, (c, d) %s, its priority violation rate (a, c) by tasks in hand, (b, d) by the plan, against its penalty. "+
		"The first %d samples, which dispatch-2 to dispatch-5 show, are less pale. Full colours mark the means, bars 95 %% bootstrap intervals of the mean violation rate over all starts in this log.%s ",
		len(s.seeds), fields[0].machines, fields[1].machines, fewSamples, none) +
		plannedWords + penaltyWords + contenderWords + s.words() + afterLin + "section 6.3.2, on the trade-off between the two measures; number and speeds of workers are ours."
	f.Parameters = append([]plots.Parameter{
		{Name: "workers", Value: fmt.Sprintf("(a, b) %s; (c, d) %s", fields[0].machines, fields[1].machines)},
		{Name: "intervals", Value: bootstrapWords()},
		{Name: "marks", Value: "of runs of one policy with equal penalties one is drawn"},
	}, s.parameters()...)
	for _, v := range fields {
		if err := sampleChecks(ctx, f, s, v.machines, policies, v.all); err != nil {
			return err
		}
	}
	linClaims(f, fields)
	f.Claims = append(f.Claims, s.longestClaim(plots.PanelID(f, 0)))
	return nil
}

// scatter returns the means of all policies, then their first samples, then the others, and how many of these have no
// penalty, or else no violation though the axis is logarithmic.
func (v field) scatter(rate func(outcome) float64, scale plots.Scale) (series []plots.Series, noPenalty, noViolation int) {
	var first, others []plots.Series
	for k, c := range contenders() {
		rates, penalties := v.of(k, rate), v.of(k, penaltyOf)
		y, low, high := meanOf(rates)
		if m := mean(penalties); m > 0 && (scale != plots.Log || low > 0) {
			series = append(series, plots.Series{Label: c.label, Group: "mean", Kind: plots.Points, Look: c.look, X: []float64{m}, Y: []float64{y}, Low: []float64{low}, High: []float64{high}})
		}
		order := make([]int, len(rates))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(penalties[a], penalties[b]) })
		early := plots.Series{Label: c.label, Group: fmt.Sprintf("first %d samples", fewSamples), Kind: plots.Points, Look: c.look}
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

// tradeWords sets EDF beside the deadline policy.
func tradeWords(fields []field) string {
	var words []string
	for _, v := range fields {
		ratio := func(of func(outcome) float64) string {
			return plots.Short(meansRatio(mean(v.of(earliestFirst, of)), mean(v.of(spareDeadline, of))))
		}
		words = append(words, fmt.Sprintf("%s times as often at %s times the penalty on %s workers", ratio(runningOf), ratio(penaltyOf), v.name()))
	}
	return "Compared with deadline, spare by deadline, EDF in the mean violates priorities by tasks in hand " + strings.Join(words, ", and ") + ". "
}
