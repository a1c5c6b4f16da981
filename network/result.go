package network

import "productform/num"

// Settings tunes [Solve]. The zero value asks for 1e-9 in 16 GiB.
type Settings struct {
	Engine   num.Engine // "" means Auto
	RelTol   float64    // relative error asked of Auto and Enclose, in (0, 1); 0 means 1e-9
	MaxJobs  int        // if > 0, StationResult.JobsDistribution has P(n = 0), ..., P(n = MaxJobs), in about as many sweeps more
	MaxBytes int64      // memory the tables may take; 0 means 16 GiB, and at most 2 GiB count where an int has 32 bits
}

// A Method says how a network was solved.
type Method string

// The methods.
const (
	ClosedForm    Method = "closed form"    // of each station apart: open networks
	EqualStations Method = "equal stations" // closed form of closed networks whose stations are all alike, with one server each
	Convolution   Method = "convolution"    // on the lattice of populations
)

// A Result holds the stationary measures of a network. Every number is within RelativeErrorBound of the exact value for the
// model as written; a probability below 2^-1022, where the spacing of float64 is 2^-1074, is within that much more.
type Result struct {
	Engine             num.Engine // the engine that gave the numbers: Float, Enclose or Exact
	Method             Method
	Why                string  // why this method, and on which lattice
	States             float64 // populations of the lattice, 0 without one
	Bytes              float64 // memory that its tables took
	RelativeErrorBound float64 // proved; 0 if the numbers are exact fractions, of which Float is the nearest

	Chains   []ChainResult
	Stations []StationResult // one a station of the model

	width float64 // relative width of the widest enclosure
}

// A ChainResult holds the measures of one chain.
type ChainResult struct {
	Classes    []int      // rows of the model's classes
	Closed     bool       // its jobs never leave
	Population int        // jobs of a closed chain
	Throughput num.Value  // closed: cycles per unit of time of all its jobs together; open: jobs that arrive per unit of time
	MeanJobs   num.Value  // E[jobs of the chain]: the population of a closed one
	MovingJobs int        // closed: the jobs that ever move; fewer than Population only at one station with LCFS alone
	MeanDelay  *num.Value // mean time of a cycle, MovingJobs/X, or of an open job in the network; nil without jobs
}

// A StationResult holds the measures of one station.
type StationResult struct {
	MeanJobs    num.Value     // E[jobs at the station]
	ProbEmpty   num.Value     // P(no jobs)
	Utilization *num.Value    // mean share of its servers that work; with Rates: P(some jobs); nil with Delay, and with Order and Balanced unless they have Limits
	Visits      []VisitResult // in the order of classes and their visits
	Nodes       []NodeResult  // one a node of the model's station, with Order or Balanced

	JobsDistribution []num.Value // P(n jobs), n = 0..Settings.MaxJobs; nil unless asked
}

// A VisitResult holds the measures of the jobs of one class at a station.
type VisitResult struct {
	Class, Visit int        // Model.Classes[Class].Visits[Visit]
	Throughput   num.Value  // jobs per unit of time
	MeanJobs     num.Value  // E[x_ic]
	MeanDelay    *num.Value // of one visit: MeanJobs/Throughput; nil if the throughput is 0
	Utilization  *num.Value // its part in that of the station, by work; nil where that is nil, and with Rates
}

// A NodeResult holds the measures of one node of a station.
type NodeResult struct {
	ProbIdle num.Value // P(no job is present that it can serve)
}
