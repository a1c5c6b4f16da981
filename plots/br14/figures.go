package br14

import (
	"productform/plots"
)

// Source returns the source of the entries.
func Source() plots.Source {
	return plots.Source{
		Prefix: "fluid", Name: "T. Bonald and J. Roberts (2014)",
		Title:   "Enhanced cluster computing performance through proportional fairness",
		Address: "https://doi.org/10.1016/j.peva.2014.07.009",
		Claim: "When jobs arrive and depart, proportional fairness serves them faster than dominant " +
			"resource fairness.",
		Verdict: "In the mean over all jobs it does; one class may lose, and lies can pay.",
		Figures: len(Figures()),
	}
}

// Figures returns the entries after [BR14]. The parameters of the paper's figures are not available
// here; the captions state those used instead.
func Figures() []plots.Spec {
	return []plots.Spec{
		plots.Exact("fluid-1", "Two jobs that share processors and memory", twoJobs),
		serviceRates("fluid-2", "Mean service rate in random traffic"),
		plots.Exact("fluid-3", "Efficiency and fairness in random traffic", tradeOff),
		plots.Exact("fluid-4", "Gains from lies about needs, for permanent jobs and in random traffic", lies),
		taskByTask("fluid-5", "Sharing task by task against sharing in any proportion"),
		plots.Exact("fluid-6", "Sharing among users with profiles estimated from a log", loggedUsers),
	}
}
