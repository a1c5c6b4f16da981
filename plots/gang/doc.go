// Package gang has figures of clusters whose jobs hold several servers at once: how much load is
// lost because the first waiting job blocks all others, and how long do jobs wait?
//
// They show the load limit and the mean waits under first come, first served against the share of
// large jobs, and compare the waits with backfilling and with interruptions (gang-1).
//
// For example:
//
//	fmt.Println(gang.Source().Title)
//	for _, f := range gang.Figures() {
//		fmt.Println(f.ID, f.Title)
//	}
//	// Output:
//	// Jobs that need several servers
//	// gang-1 Cost of blocking
package gang
