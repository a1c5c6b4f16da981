// Package net has figures of networks, losses and pass-and-swap queues, with systems of our own: do
// product forms and simulations agree there?
//
// They show throughput and delay against the population (net-1), the failure of the textbooks' mean
// value analysis for many servers (net-2), and blocking against the load for skills (net-3). They
// compare tokens with other assignments (net-4), show losses that do not depend on the sizes
// (net-5), and compare pass-and-swap with FCFS (net-6). All points come from job-by-job simulation.
//
// For example:
//
//	figures := net.Figures()
//	fmt.Println(net.Source().Title)
//	for _, f := range figures[:2] {
//		fmt.Println(f.ID, f.Title)
//	}
//	// Output:
//	// Networks of stations, losses, and pass-and-swap queues
//	// net-1 An interactive system against its number of users
//	// net-2 Many servers: textbook mean value analysis loses all digits
package net
