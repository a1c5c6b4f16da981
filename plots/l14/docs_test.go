package l14

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"productform/dispatch/rigid"
	"productform/internal/docs"
	"productform/plots"
)

var updateOutcomes = flag.Bool("update", false, "rewrite the table of docs/dispatch.md")

// docs/dispatch.md compares the outcomes that [L14] states with ours over 5 and 200 samples, with
// seeds from 1. "go test ./plots/l14 -run TestOutcomesInDocs -update" writes its table.
func TestOutcomesInDocs(t *testing.T) {
	const head = "| outcome | workers | [L14] | 5 samples | 200 samples | groups of five among them |\n" +
		"|---|---|---|---|---|---|\n"
	s, err := samples(plots.Effort{Seed: 1}, 200)
	if err != nil {
		t.Fatal(err)
	}
	table := head
	row := func(cells ...string) { table += "| " + strings.Join(cells, " | ") + " |\n" }
	for _, m := range []machines{equalWorkers(), unequalWorkers()} {
		all, err := s.run(t.Context(), m, slices.Concat(comparedPolicies(), explanatoryPolicies()))
		if err != nil {
			t.Fatal(err)
		}
		v := benchmarkResult{m, all}
		few := v.first(fewSamples)
		span := func(k int, of func(outcome) float64, v benchmarkResult) string {
			mean, low, high := meanOf(v.of(k, of))
			if high == 0 {
				return "0"
			}
			return fmt.Sprintf("%s (%s to %s)", plots.Short(mean), plots.Short(low), plots.Short(high))
		}
		for k, c := range comparedPolicies() {
			theirs := "-"
			if k == byPriority || k == sparePriority {
				theirs = "0"
			}
			row(
				"violation rate by the plan, "+c.label, m.name(), theirs, span(k, plannedOf, few),
				span(k, plannedOf, v), "-",
			)
		}
		row(
			"violation rate by the plan, "+spareKeptPolicy().label, m.name(), "-", span(spareKept, plannedOf, few),
			span(spareKept, plannedOf, v), "-",
		)
		for k, c := range comparedPolicies() {
			row(
				"violation rate by running tasks, "+c.label, m.name(), "-", span(k, runningOf, few),
				span(k, runningOf, v), "-",
			)
		}
		row(
			"violation rate by running tasks, "+spareKeptPolicy().label, m.name(), "-", span(spareKept, runningOf, few),
			span(spareKept, runningOf, v), "-",
		)
		leap := "0.004"
		if m.spread > 0 {
			leap = "0.002"
		}
		for _, q := range []struct {
			name, theirs string
			above, below int
			of           func(outcome) float64
		}{
			{
				"violations by running tasks, EDF over deadline, spare by deadline", "about 4",
				earliestFirst, spareDeadline, runningOf,
			},
			{"penalty, priority over EDF", "3 magnitudes", byPriority, earliestFirst, penaltyOf},
			{"penalty, deadline, spare by priority, over EDF", "3 magnitudes", sparePriority, earliestFirst, penaltyOf},
			{
				"penalty, deadline, spare by deadline, over EDF", "quite close, above 1", spareDeadline,
				earliestFirst, penaltyOf,
			},
			{
				"penalty, deadline, spare by deadline over spare by priority", leap, spareDeadline,
				sparePriority, penaltyOf,
			},
			{"the same with the loop of Algorithm 4 as printed", leap, printedDeadline, printedPriority, penaltyOf},
			{"penalty, deadline, spare kept, over EDF", "-", spareKept, earliestFirst, penaltyOf},
			{"penalty, deadline, spare kept over spare by priority", "-", spareKept, sparePriority, penaltyOf},
		} {
			a, b := v.of(q.above, q.of), v.of(q.below, q.of)
			low, high := resampled(draws(len(a), fewSamples), ratioOver(a, b))
			row(
				q.name, m.name(), q.theirs, ratioOf(few.of(q.above, q.of), few.of(q.below, q.of)).String(),
				ratioOf(a, b).String(), fmt.Sprintf("%s to %s", finite(low), finite(high)),
			)
		}
	}
	if err := docs.CheckTable("../../docs/dispatch.md", head, table, *updateOutcomes); err != nil {
		t.Error(err)
	}
}

// docs/dispatch.md shows the results for the whole log under the baselines of real sites and the
// policies of [L14]. "go test ./plots/l14 -run TestBaselinesInDocs -update" writes its table.
func TestBaselinesInDocs(t *testing.T) {
	const head = "| policy | tasks of a job | mean waiting, h | mean delay, h | mean bounded slowdown | jobs ahead " +
		"of others |\n|---|---|---|---|---|---|\n"
	s, err := newSite(plots.Effort{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	table := head
	row := func(cells ...string) { table += "| " + strings.Join(cells, " | ") + " |\n" }
	n, waiting, delay, slowdown := 0.0, 0.0, 0.0, 0.0
	for _, j := range s.log {
		if j.Wait >= 0 && j.RunTime >= 0 {
			n++
			waiting += j.Wait
			delay += j.Wait + j.RunTime
			slowdown += max(1, (j.Wait+j.RunTime)/max(j.RunTime, leastRun))
		}
	}
	row(
		fmt.Sprintf("the machine in 1996, %.0f jobs", n), "together", plots.Short(waiting/n/3600),
		plots.Short(delay/n/3600), plots.Short(slowdown/n), "-",
	)
	jobs, err := s.at(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range comparedBaselines() {
		r, err := rigid.Run(t.Context(), rigid.Scenario{Jobs: jobs, Workers: s.workers, Policy: c.policy})
		if err != nil {
			t.Fatal(err)
		}
		row(
			c.policy.String(), "together", plots.Short(r.Waiting.Mean/3600), plots.Short(r.Delay.Mean/3600),
			plots.Short(r.BoundedSlowdown.Mean), fmt.Sprint(r.Backfilled),
		)
	}
	for _, c := range comparedPolicies() {
		f, _, err := s.runDivisible(t.Context(), jobs, c.policy)
		if err != nil {
			t.Fatal(err)
		}
		row(c.policy.String(), "separately", "-", plots.Short(delayOf(f)), plots.Short(f.slowdown), "-")
	}
	if err := docs.CheckTable("../../docs/dispatch.md", head, table, *updateOutcomes); err != nil {
		t.Error(err)
	}
}
