package bc17

import (
	"productform/plots"
)

// Source returns the source of the entries.
func Source() plots.Source {
	return plots.Source{
		Prefix: "bf", Name: "T. Bonald and C. Comte (2017)",
		Title:   "Balanced fair resource sharing in computer clusters",
		Address: "https://doi.org/10.1016/j.peva.2017.08.006",
		Claim: "First come, first served with an occasional interruption of jobs comes close to balanced " +
			"fairness: mean delays hardly depend on the distribution of job sizes.",
		Verdict: "They do: with five interruptions per job, simulated delays are close to the exact ones of balanced " +
			"fairness in all four systems.",
		Figures: len(Figures()),
	}
}

// Figures returns the entries of [BC17]: Figures 1 to 4, then two more on the findings of the
// paper.
func Figures() []plots.Spec {
	equal := equalServers()
	unequal := threeServers(2, "Two classes, one with an exclusive server", 1, 0, 1,
		curve{Label: "class 1", Class: 0, Max: 2}, curve{Label: "class 2", Class: 1, Max: 1})
	two, three := randomAssignment(3, 100, 2), randomAssignment(4, 100, 3)
	var entries []plots.Spec
	for _, c := range []configuration{equal, unequal, two, three} {
		entries = append(entries, plots.Spec{ID: c.ID, Title: c.Title, Prepare: c.prepare})
	}
	return append(entries,
		insensitivity("bf-5", equal, unequal, two, three),
		distribution("bf-6", equal, two))
}

// equalServers is the cluster of Figure 1.
func equalServers() configuration {
	return threeServers(1, "Two classes sharing three equal servers", 1, 1, 1,
		curve{Label: "both classes", Class: allClasses, Max: 2})
}
