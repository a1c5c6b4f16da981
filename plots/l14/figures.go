package l14

import (
	"productform/plots"
)

// Source returns the common source of the entries.
func Source() plots.Source {
	return plots.Source{
		Prefix: "dispatch", Name: "T.-C. Lin (2014)",
		Title: "Job dispatching and scheduling under heterogeneous clusters",
		Claim: "Policies that plan by priority and deadline keep both, on workers that differ in speed.",
		Verdict: "By the plan they do; running tasks violate priorities all the same, and earliest deadline first is " +
			"often the better trade.",
		Figures: len(Figures()),
	}
}

// Figures returns the entries after [L14]. The captions state the parameters that [L14] does not.
func Figures() []plots.Spec {
	return []plots.Spec{
		plots.Exact("dispatch-1", "Workers of a job over time, with and without failures", workersOverTime),
		plots.Exact("dispatch-2", "Priority violations, equal workers", violations(equalWorkers())),
		plots.Exact("dispatch-3", "Priority violations, unequal workers", violations(unequalWorkers())),
		plots.Exact("dispatch-4", "Penalty for missed deadlines, equal workers", penalties(equalWorkers())),
		plots.Exact("dispatch-5", "Penalty for missed deadlines, unequal workers", penalties(unequalWorkers())),
		plots.Exact("dispatch-6", "Violations against penalty over many samples", manySamples),
		plots.Exact("dispatch-7", "Policies against the number of workers and the spread of their speeds", sensitivity),
		plots.Exact("dispatch-8", "Baselines of real sites and the policies of [L14]", baselines),
		plots.Exact("dispatch-9", "Workers of a job over time, live and simulated", liveJob),
	}
}
