package network

import "productform/num"

// A Question asks for more than the means. The zero value asks for the means only.
type Question struct {
	// MaxJobs > 0, at most 10,000, requests StationResult.JobsDistribution: P(n = 0), ...,
	// P(n = MaxJobs). It takes about MaxJobs more sweeps.
	MaxJobs int

	States int // if > 0, at most 10,000: the length of Result.LikelyStates, or all states if there are fewer
}

// Settings controls how a question is answered. The zero value means a tolerance of
// [num.DefaultRelTol] and tables of at most [num.DefaultMaxBytes].
type Settings struct {
	Engine num.Engine // "" means Auto

	// RelTol is the relative tolerance for Auto and Enclose, in (0, 1). With Float and Exact it has
	// no effect but on the quantiles of [Delays], which are bracketed to this width with any
	// engine. 0 means [num.DefaultRelTol].
	RelTol float64

	MaxBytes int64 // memory for tables; 0 means [num.DefaultMaxBytes]; at most 2 GiB if an int has 32 bits
}

// A Method is the way in which a network was solved.
type Method string

// The methods.
const (
	ClosedForm    Method = "closed form"    // each station separately: open networks
	EqualStations Method = "equal stations" // closed form for closed networks with equal stations, with one server each
	Convolution   Method = "convolution"    // on the lattice of populations
)

// A Result holds the stationary measures of a network. Every number is within RelativeErrorBound of
// the exact value for the model as written; below 2^-1022, where the spacing of float64 is 2^-1074,
// the error of a probability may be larger by that much.
type Result struct {
	Engine num.Engine `json:"engine"` // the engine that gave the numbers: Float, Enclose or Exact
	Method Method     `json:"method"`
	Why    string     `json:"why"`    // reason for the method, and its lattice
	States float64    `json:"states"` // populations of the lattice; 0 without a lattice
	Bytes  float64    `json:"-"`      // memory that its tables took

	// RelativeErrorBound is proved. It is 0 if the numbers are exact fractions, of which Float is
	// the nearest.
	RelativeErrorBound float64 `json:"relative_error_bound"`

	Chains   []ChainResult   `json:"chains"`
	Stations []StationResult `json:"stations"` // one for each station of the model

	// LikelyStates are the most likely states, the most likely first; nil if Question.States is 0.
	// States whose probabilities differ by less than 1e-9 (relative) count as equally likely, and
	// states less likely than 1e-300 may be omitted.
	LikelyStates []StateResult `json:"likely_states,omitempty"`

	width float64 // relative width of the widest enclosure
}

// A ChainResult holds the measures of one chain.
type ChainResult struct {
	Names      []string `json:"classes" title:"chain"` // names of its classes
	Classes    []int    `json:"-"`                     // rows of the model's classes
	Closed     bool     `json:"-"`                     // whether its jobs never leave
	Population int      `json:"population"`            // jobs of a closed chain

	// Throughput is the number of cycles of all jobs together per unit of time; in an open chain it
	// is the number of arriving jobs.
	Throughput num.Value `json:"throughput"`
	MeanJobs   num.Value `json:"mean_jobs"` // E[jobs of the chain]; the population of a closed chain

	// MovingJobs is the number of jobs of a closed chain that ever move: it is below Population
	// only if the chain visits a single station, with LCFS.
	MovingJobs int `json:"-"`

	// MeanDelay is the mean time of a cycle, MovingJobs/X, or of an open job in the network; nil
	// without jobs.
	MeanDelay *num.Value `json:"mean_delay"`

	// MeanResponseTime is the mean time that a job spends in a cycle at stations other than those
	// with Delay, such as think times; nil unless the chain is closed and visits a station with Delay.
	MeanResponseTime *num.Value `json:"mean_response_time"`
}

// A StationResult holds the measures of one station.
type StationResult struct {
	Name       string     `json:"name" title:"station"` // as in the model
	Discipline Discipline `json:"discipline"`
	MeanJobs   num.Value  `json:"mean_jobs"` // E[jobs at the station]

	// Utilization is the mean fraction of busy servers or, with Rates, P(not empty). It is nil with
	// Delay, and with Order and Balanced unless they have Limits.
	Utilization *num.Value    `json:"utilization"`
	ProbEmpty   num.Value     `json:"empty_probability"` // P(no jobs)
	Visits      []VisitResult `json:"-"`                 // in the order of classes and their visits
	Nodes       []NodeResult  `json:"-"`                 // one for each node of the model's station

	// JobsDistribution is P(n jobs), n = 0..Question.MaxJobs; nil if MaxJobs is 0.
	JobsDistribution []num.Value `json:"jobs_distribution,omitempty"`
}

// A VisitResult holds the measures of the jobs of one class at a station.
type VisitResult struct {
	Station      string     `json:"station"`     // its name
	Name         string     `json:"class"`       // name of the class as in the model
	Class, Visit int        `json:"-"`           // Model.Classes[Class].Visits[Visit]
	Throughput   num.Value  `json:"throughput"`  // jobs per unit of time
	MeanJobs     num.Value  `json:"mean_jobs"`   // E[x_ic]
	MeanDelay    *num.Value `json:"mean_delay"`  // MeanJobs/Throughput, per visit; nil if the throughput is 0
	Utilization  *num.Value `json:"utilization"` // its part of the station's utilization, by work; nil with Rates, too
}

// A NodeResult holds the measures of one node of a station.
type NodeResult struct {
	Station  string    `json:"station"`           // its name
	Name     string    `json:"name" title:"node"` // as in the model
	ProbIdle num.Value `json:"idle_probability"`  // P(no job that it can serve is present)
}
