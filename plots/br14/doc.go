// Package br14 answers, with figures after Bonald and Roberts, "Enhanced cluster computing
// performance through proportional fairness", Performance Evaluation 79, 2014, 134–145 ([BR14]):
// does proportional fairness serve jobs faster than dominant resource fairness? The parameters of
// the paper are not available here.
//
// They show two permanent jobs (fluid-1), mean service rates in random traffic (fluid-2), efficiency
// against fairness (fluid-3), lies (fluid-4), sharing task by task (fluid-5), and users of a log
// (fluid-6).
//
// For example:
//
//	figures := br14.Figures()
//	fmt.Println(br14.Source().Title)
//	for _, f := range figures[:2] {
//		fmt.Println(f.ID, f.Title)
//	}
//	// Output:
//	// Enhanced cluster computing performance through proportional fairness
//	// fluid-1 Two jobs that share processors and memory
//	// fluid-2 Mean service rate in random traffic
package br14
