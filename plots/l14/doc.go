// Package l14 has the figures after Lin, "Job Dispatching and Scheduling under Heterogeneous
// Clusters", Master's thesis, National Taiwan University, 2014 ([L14]), chapter 6, which run the
// policies of package dispatch: do they keep priorities and deadlines on workers that differ in
// speed?
//
// They show workers of a job over time, with and without failures (dispatch-1, its Figure 6.1);
// priority violations and penalties for missed deadlines of six policies on samples of a log
// (dispatch-2 to dispatch-5, its Figures 6.2 to 6.5). The others go beyond the thesis: many samples
// (dispatch-6), other numbers and speeds of workers (dispatch-7), and the baselines of real sites,
// package rigid, next to these policies (dispatch-8). The live system, module productform/live,
// also runs the first with failures (dispatch-9): its curve comes from a record, which a test of
// that module reproduces.
//
// For example:
//
//	figures := l14.Figures()
//	fmt.Println(l14.Source().Title)
//	for _, f := range figures[:2] {
//		fmt.Println(f.ID, f.Title)
//	}
//	// Output:
//	// Job dispatching and scheduling under heterogeneous clusters
//	// dispatch-1 Workers of a job over time, with and without failures
//	// dispatch-2 Priority violations, equal workers
package l14
