// Package oneserver has figures of clusters in which each job runs on one server: how far from the
// exact answer are other rules, and is it better to run copies of a job on several servers?
//
// They compare the rule of the exact answer, longest idle server first, with others, and jobs whose
// copies are cancelled when one starts with jobs whose copies run until one ends (one-1).
//
// For example:
//
//	fmt.Println(oneserver.Source().Title)
//	for _, f := range oneserver.Figures() {
//		fmt.Println(f.ID, f.Title)
//	}
//	// Output:
//	// One server per job
//	// one-1 Choice of server and cancellation of copies
package oneserver
