// Package hb02 answers, with the figures of Harchol-Balter, "Task assignment with unknown
// duration", Journal of the ACM 49(2), 2002, 260–288 ([HB02]), under their original numbers: what
// do time limits gain if run times are unknown?
//
// They show sizes, tails and moments (tags-3, tags-4, tags-14); mean slowdown and waiting time of
// TAGS with the best cutoffs and of other policies (tags-6, tags-7, tags-9, tags-12, tags-15);
// loads of the hosts (tags-8, tags-10); hosts to add (tags-13). Two figures go further: the mean
// slowdown against the number of hosts (tags-16) and all policies on measured run times (tags-17).
// Simulation confirms the theory where it is exact and shows its error where it approximates. The
// claims in the text of the paper are a table in the tests, from which docs/tags-claims.md is
// generated.
//
// For example:
//
//	figures := hb02.Figures()
//	fmt.Println(hb02.Source().Title)
//	for _, f := range figures[:2] {
//		fmt.Println(f.ID, f.Title)
//	}
//	// Output:
//	// Task assignment with unknown duration
//	// tags-3 Job sizes of a supercomputer and the bounded Pareto distributions that fit them
//	// tags-4 The bounded Pareto distribution and its second moment
package hb02
