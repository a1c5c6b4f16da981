package hb02

import (
	"context"

	"productform/plots"
)

// Source returns the source of the entries.
func Source() plots.Source {
	return plots.Source{
		Prefix: "tags", Name: "M. Harchol-Balter (2002)", Title: "Task assignment with unknown duration",
		Address: "https://doi.org/10.1145/506147.506154",
		Claim: "Killing jobs after a time limit and starting them again elsewhere (TAGS) makes slowdowns far " +
			"shorter than one queue does, if sizes vary greatly.",
		Verdict: "The main claim holds for its distributions; on the run times of a real supercomputer only the " +
			"slowdown gains, and several numbers of its text are not those of its formulas.",
		Figures: len(Figures()),
	}
}

// Figures returns the entries of [HB02], by the numbers of its figures, then two on open questions.
func Figures() []plots.Spec {
	exact := func(id, title string, build func(context.Context, *plots.Figure) error) plots.Spec {
		return plots.Exact(id, title,
			func(ctx context.Context, _ plots.Effort, f *plots.Figure) error { return build(ctx, f) })
	}
	return []plots.Spec{
		exact("tags-3", "Job sizes of a supercomputer and the bounded Pareto distributions that fit them", tailFits),
		exact("tags-4", "The bounded Pareto distribution and its second moment", secondMoment),
		twoHosts("tags-6", "Mean slowdown with two hosts"),
		twoHosts("tags-7", "Mean waiting time with two hosts"),
		hostLoads("tags-8", "TAGS unbalances the loads of two hosts"),
		systemLoads("tags-9", "Mean slowdown with two hosts at three loads"),
		excess("tags-10", "Loads of two hosts, and the excess due to killed runs"),
		fourHosts("tags-12", "Mean slowdown with four hosts"),
		expansion("tags-13", "Server expansion: hosts to add for a mean slowdown of 3"),
		exact("tags-14", "Second moment of sizes of a smaller range", smallerMoment),
		smallerRange("tags-15", "Mean slowdown with sizes of a smaller range"),
		moreHosts("tags-16", "Best mean slowdown against the number of hosts"),
		measured("tags-17", "TAGS and its rivals on the run times of a supercomputer"),
	}
}
