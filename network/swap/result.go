package swap

import "productform/num"

// A Method is a way to the normalization.
type Method string

// The methods.
const (
	Sets   Method = "sets"   // open: the recursion over sets of classes
	Counts Method = "counts" // closed: the recursion over numbers of jobs, where the start places the classes and each has a server of its own
	Orders Method = "orders" // closed: all orders that the start can reach, one by one
)

// Settings tunes [Solve]. The zero value asks for 1e-9 in 4 GiB.
type Settings struct {
	Engine   num.Engine // "" means Auto
	RelTol   float64    // relative error asked of Auto and Enclose, in (0, 1); 0 means 1e-9
	MaxBytes int64      // memory that tables may take; 0 means 4 GiB, and at most 2 GiB count where an int has 32 bits
}

// A Result holds the stationary measures of a queue. Every number is within RelativeErrorBound of the exact value for the model as written;
// one below 2^-1022, where the spacing of float64 is 2^-1074, is within that much more.
type Result struct {
	Engine             num.Engine // the engine that gave the numbers: Float, Enclose or Exact
	Method             Method
	States             int     // sets, numbers of jobs or orders that were looked at
	RelativeErrorBound float64 // proved; 0 if the numbers are exact fractions, of which Float is the nearest

	Normalization    *num.Value // Σ_c Π_p λ_{c_p}/μ(c_1..c_p), closed Σ_c Π_p 1/μ(c_1..c_p) over the orders that the start can reach; nil if it is beyond the range of float64
	EmptyProbability *num.Value // open: π(∅)
	MeanJobs         num.Value  // E[X], of all classes
	MeanDelay        *num.Value // open: of all jobs, from arrival to departure; nil if none arrive

	Classes []ClassResult  // one a row of the model's classes
	Servers []ServerResult // one a row of the model's servers

	width float64
}

// A ClassResult holds the measures of one class.
type ClassResult struct {
	Throughput  num.Value  // jobs that leave per unit of time, in a closed queue to come back
	Completions num.Value  // jobs that end per unit of time, those that take the place of another among them; by the measure, the departures in order of arrival
	MeanJobs    num.Value  // closed: the population
	LeavingJobs int        // closed: how many of its jobs ever leave; 0 in an open queue, which every job leaves
	MeanDelay   *num.Value // from arrival to departure, closed between two departures of a job; nil if none leave
}

// A ServerResult holds the measures of one server.
type ServerResult struct {
	Utilization num.Value // probability that a job which it can serve is present
}
