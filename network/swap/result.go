package swap

import "productform/num"

// A Method is a way to compute the normalization.
type Method string

// The methods.
const (
	Sets Method = "sets" // open: the recursion over sets of classes
	// closed: the recursion over numbers of jobs, if the start places the classes and each has its
	// own server
	Counts Method = "counts"
	Orders Method = "orders" // closed: all orders that the start can reach, one by one
)

// Settings tunes [Solve]. The zero value means a tolerance of [num.DefaultRelTol] and tables of at
// most [num.DefaultMaxBytes].
type Settings struct {
	Engine num.Engine // "" means Auto

	// RelTol is the relative tolerance for Auto and Enclose, in (0, 1); it has no effect with Float
	// and Exact. 0 means [num.DefaultRelTol].
	RelTol float64

	MaxBytes int64 // memory for tables; 0 means [num.DefaultMaxBytes]; at most 2 GiB if an int has 32 bits
}

// A Result holds the stationary measures of a queue. Every number is within RelativeErrorBound of
// the exact value for the model as written; below 2^-1022, where the spacing of float64 is 2^-1074,
// the error may be larger by that much.
type Result struct {
	Engine num.Engine `json:"engine"` // the engine that gave the numbers: Float, Enclose or Exact
	Method Method     `json:"method"`
	States int        `json:"states"` // sets, numbers of jobs or orders that were examined

	// RelativeErrorBound is proved. It is 0 if the numbers are exact fractions, of which Float is
	// the nearest.
	RelativeErrorBound float64 `json:"relative_error_bound"`

	// Normalization is Σ_c Π_p λ_{c_p}/μ(c_1..c_p), or, in a closed queue, Σ_c Π_p 1/μ(c_1..c_p)
	// over the orders that the start can reach. It is nil beyond the range of float64.
	Normalization    *num.Value `json:"normalization"`
	EmptyProbability *num.Value `json:"empty_probability"` // open: π(∅)
	MeanJobs         num.Value  `json:"mean_jobs"`         // E[X] over all classes
	// open: mean delay of all jobs until departure; nil without arrivals
	MeanDelay *num.Value `json:"mean_delay"`

	Classes []ClassResult  `json:"classes"` // one for each row of the model's classes
	Servers []ServerResult `json:"servers"` // one for each row of the model's servers

	width float64
}

// A ClassResult holds the measures of one class.
type ClassResult struct {
	Name       string    `json:"name" title:"class"` // as in the model
	Throughput num.Value `json:"throughput"`         // jobs that leave per unit of time; in a closed queue they return

	// Completions is the number of jobs that complete per unit of time, including jobs that take
	// the place of another; under the common stationary measure it equals the departures under
	// FCFS.
	Completions num.Value `json:"completions"`
	MeanJobs    num.Value `json:"mean_jobs"` // closed: the population

	// LeavingJobs is the number of jobs of a closed queue that ever leave; nil for an open queue,
	// in which all do.
	LeavingJobs *int `json:"leaving_jobs,omitempty"`

	// MeanDelay is the mean time from arrival to departure or, in a closed queue, between two
	// departures of a job; nil if no job leaves.
	MeanDelay *num.Value `json:"mean_delay"`
}

// A ServerResult holds the measures of one server.
type ServerResult struct {
	Name        string    `json:"name" title:"server"` // as in the model
	Utilization num.Value `json:"utilization"`         // probability that a job that it can serve is present
}
