package l14

import (
	"fmt"
	"slices"
	"strings"

	"productform/plots"
)

// Accepted ranges for "about 4 times", "3 magnitudes", and for 0.004 and 0.002, which [L14] states
// with one digit from five samples.
const (
	aboutFrom, aboutTo           = 3, 5
	magnitudesFrom, magnitudesTo = 316, 3162 // within half a magnitude
	digitFactor                  = 2
)

// A finding compares a ratio of means with the statement of [L14] about it.
type finding struct {
	sentence, criterion string
	above, below        int // policies
	of                  func(outcome) float64
	least, most         float64 // accepted range of the ratio
}

// linFindings returns the ratios that [L14] states.
func linFindings(m machines) []finding {
	leap := 0.004
	if m.spread > 0 {
		leap = 0.002
	}
	three := fmt.Sprintf("The ratio of the means is %d to %d.", magnitudesFrom, magnitudesTo)
	return []finding{
		{"The violation rate of EDF is 4 times that of deadline, spare by deadline.",
			fmt.Sprintf("By running tasks, as that of the latter by the plan is 0, the ratio of the means is %d to %d.",
				aboutFrom, aboutTo),
			earliestFirst, spareDeadline, runningOf, aboutFrom, aboutTo},
		{"The penalty of priority is 3 magnitudes higher than that of EDF.", three, byPriority, earliestFirst,
			penaltyOf, magnitudesFrom, magnitudesTo},
		{"The penalty of deadline, spare by priority, is 3 magnitudes higher than that of EDF.", three, sparePriority,
			earliestFirst, penaltyOf, magnitudesFrom, magnitudesTo},
		{fmt.Sprintf("The penalty of deadline, spare by deadline, is %g of that of deadline, spare by priority.", leap),
			fmt.Sprintf("The ratio of the means is within a factor of %d of it.", digitFactor),
			spareDeadline, sparePriority, penaltyOf, leap / digitFactor, leap * digitFactor},
		{"The penalty of deadline, spare by deadline, is quite close to that of EDF.",
			fmt.Sprintf("The ratio of the means is within a factor of %d of 1.", digitFactor),
			spareDeadline, earliestFirst, penaltyOf, 1.0 / digitFactor, digitFactor},
		{fmt.Sprintf("(Would the loop of Algorithm 4 as printed, which gives each job one worker before all others "+
			"are spare, explain it?) The penalty with spare by deadline is %g of that with spare by priority.", leap),
			fmt.Sprintf("The ratio of the means is within a factor of %d of it.", digitFactor),
			printedDeadline, printedPriority, penaltyOf, leap / digitFactor, leap * digitFactor},
		{"(Would the loop of Algorithm 4 as printed explain it?) The penalty with spare by priority is 3 magnitudes " +
			"higher than that of EDF.", three, printedPriority, earliestFirst, penaltyOf, magnitudesFrom, magnitudesTo},
		{fmt.Sprintf("(Would spare workers that are kept, not given by deadline, explain it? Section 5.5 adds that "+
			"they are given.) The penalty of deadline, spare kept, is %g of that of deadline, spare by priority.",
			leap), fmt.Sprintf("The ratio of the means is within a factor of %d of it.", digitFactor),
			spareKept, sparePriority, penaltyOf, leap / digitFactor, leap * digitFactor},
		{"(Would spare workers that are kept explain it?) The penalty of priority is 3 magnitudes higher than that " +
			"of deadline, spare kept.", three, byPriority, spareKept, penaltyOf, magnitudesFrom, magnitudesTo},
		{"(Would spare workers that are kept explain it?) The penalty of deadline, spare by priority, is 3 " +
			"magnitudes higher than that of deadline, spare kept.", three, sparePriority, spareKept, penaltyOf,
			magnitudesFrom, magnitudesTo},
		{"(Would spare workers that are kept explain it?) The violation rate of EDF is 4 times that of deadline, " +
			"spare kept.", fmt.Sprintf("By running tasks, the ratio of the means is %d to %d.", aboutFrom, aboutTo),
			earliestFirst, spareKept, runningOf, aboutFrom, aboutTo},
	}
}

// linClaims compares the statements of [L14] with few samples, with all samples, and with the range
// that random groups of few samples would have shown.
func linClaims(f *plots.Figure, results []benchmarkResult) {
	for _, v := range results {
		id := f.ID
		few := v.first(min(fewSamples, len(v.all[0])))
		f.Claims = append(f.Claims, zeroClaims(id, v)...)
		for _, q := range linFindings(v.machines) {
			a, b := v.of(q.above, q.of), v.of(q.below, q.of)
			all := ratioOf(a, b)
			low, high := resampled(draws(len(a), fewSamples), ratioOver(a, b))
			f.Claims = append(f.Claims, plots.Claim{
				Place: id, Sentence: stated(v.machines) + q.sentence, Criterion: q.criterion,
				Verdict: plots.Limit{Least: q.least, Most: q.most}.Verdict(all.Number), Finding: true,
				Numbers: fmt.Sprintf("%v over the first %d samples (bootstrap intervals of this few are too narrow), "+
					"%v over %d; of groups of %d drawn from all, 95 %% show %s to %s, and %s %% a ratio within "+
					"the required range.",
					ratioOf(few.of(q.above, q.of), few.of(q.below, q.of)), len(few.all[0]), all, len(a), fewSamples,
					finite(low), finite(high), plots.Short(100*q.shown(a, b))),
			})
		}
		f.Claims = append(f.Claims, leastClaim(id, v), spareClaim(id, v))
	}
}

// longestClaim tests the reason that [L14] gives for its penalties.
func (s *benchmark) longestClaim(id string) plots.Claim {
	longest := 0.0
	for _, j := range s.log {
		longest = max(longest, s.sampling.TimeScale*j.RunTime)
	}
	return plots.Finding(id, "(Section 6.3.2, on the penalties.) Despite being scaled down, the workload still "+
		"contains some very heavy-weighted jobs which take 500 to 800 seconds.",
		"Some job of the log has a scaled run time of 500 s or more.",
		fmt.Sprintf("The longest run time in the log, of which the thesis counts as many jobs, is %s s when "+
			"scaled.", plots.Short(longest)), longest >= 500)
}

func stated(m machines) string {
	return fmt.Sprintf("(Section 6.3.2, %s.) ", m.environment())
}

// shown returns the fraction of groups of few samples in which the ratio is in its range.
func (q finding) shown(a, b []float64) float64 {
	ratio := ratioOver(a, b)
	return partOf(len(a), fewSamples, func(drawn []int) bool {
		r := ratio(drawn)
		return r >= q.least && r <= q.most
	})
}

// zeroClaims tests the violation rate by the plan, which the algorithms should make 0.
func zeroClaims(id string, v benchmarkResult) []plots.Claim {
	claim := func(sentence, criterion, more string, holds bool) plots.Claim {
		return plots.Finding(id, stated(v.machines)+sentence, criterion, more, holds)
	}
	n := len(v.all[0])
	above := func(policies ...int) (samples int, words string) {
		for i := range n {
			if slices.ContainsFunc(policies, func(k int) bool { return v.all[k][i].planned > 0 }) {
				samples++
			}
		}
		if samples == 0 {
			return 0, fmt.Sprintf("0 in all %d samples", n)
		}
		return samples, fmt.Sprintf("above 0 in %d of %d samples", samples, n)
	}
	inHand := func(k int) string { return plots.Short(mean(v.of(k, runningOf))) }
	priority, priorityWords := above(byPriority, sparePriority)
	deadline, deadlineWords := above(spareDeadline)
	_, otherWords := above(byProportion, byWorkload)
	edf, edfWords := above(earliestFirst)
	return []plots.Claim{
		claim("The violation rate of priority and of deadline, spare by priority, is 0.",
			"By the plan it is 0 in every sample.",
			fmt.Sprintf("It is %s, which is certain, as each job is given a worker before any of lower priority is. "+
				"By running tasks, means %s and %s.", priorityWords, inHand(byPriority), inHand(sparePriority)),
			priority == 0),
		claim("Deadline, spare by deadline, does not guarantee a violation rate of 0.",
			"By the plan it is above 0 in some sample.",
			fmt.Sprintf("It is %s, which is certain, as only workers that are spare once each job was given one, in "+
				"order of priority, go by deadline. Under proportion and workload, for the same reason, it is %s. By "+
				"running tasks, mean %s.",
				deadlineWords, otherWords, inHand(spareDeadline)), deadline > 0),
		claim("EDF does not guarantee a violation rate of 0.", "By the plan it is above 0 in some sample.",
			fmt.Sprintf("It is %s, mean %s. By running tasks, mean %s.", edfWords,
				plots.Short(mean(v.of(earliestFirst, plannedOf))), inHand(earliestFirst)), edf > 0),
	}
}

// leastClaim tests whether the penalty of EDF is the smallest.
func leastClaim(id string, v benchmarkResult) plots.Claim {
	edf := v.of(earliestFirst, penaltyOf)
	var ratios []plots.Number
	numbers := "Mean penalty over that of EDF: "
	for k, c := range comparedPolicies() {
		if k == earliestFirst {
			continue
		}
		r := ratioOf(v.of(k, penaltyOf), edf)
		numbers += fmt.Sprintf("%s %v, ", c.label, r)
		ratios = append(ratios, r.Number)
	}
	return plots.Claim{Place: id, Sentence: stated(v.machines) +
		"EDF gives the best performance on the deadline miss penalty.",
		Criterion: "None of the six policies has a smaller mean penalty.",
		Numbers: fmt.Sprintf("%sover %d samples. Deadline, spare kept, is not among the six: %v, smaller than EDF in "+
			"%d samples.", numbers, len(edf), ratioOf(v.of(spareKept, penaltyOf), edf),
			v.smaller(spareKept, earliestFirst)), Verdict: plots.AtLeast(1).Verdict(ratios...), Finding: true}
}

// spareClaim tests the addition of section 5.5 to the deadline policy.
func spareClaim(id string, v benchmarkResult) plots.Claim {
	kept := v.of(spareKept, penaltyOf)
	var ratios []plots.Number
	var numbers []string
	for _, k := range []int{sparePriority, spareDeadline} {
		r := ratioOf(kept, v.of(k, penaltyOf))
		numbers = append(numbers, fmt.Sprintf("%v of that of %s, smaller in %d samples", r, comparedPolicies()[k].label,
			v.smaller(spareKept, k)))
		ratios = append(ratios, r.Number)
	}
	return plots.Claim{Place: id, Sentence: fmt.Sprintf("(Section 5.5, %s.) To give spare workers to jobs is an "+
		"optimization of the deadline policy.", v.environment()),
		Criterion: "With spare workers kept the mean penalty is larger than with either way of giving them.",
		Numbers: fmt.Sprintf("With spare kept, over %d samples, it is %s. Running tasks are not interrupted, so spare "+
			"workers would not be free when a job arrives. Violation rate by running tasks with spare kept: mean %s.",
			len(kept), strings.Join(numbers, "; "), plots.Short(mean(v.of(spareKept, runningOf)))),
		Verdict: plots.Over(1).Verdict(ratios...), Finding: true}
}

// smaller returns the number of samples in which the policy at position a has a smaller penalty
// than the policy at position b.
func (v benchmarkResult) smaller(a, b int) (n int) {
	for i, o := range v.all[a] {
		if o.penalty < v.all[b][i].penalty {
			n++
		}
	}
	return n
}
