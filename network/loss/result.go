package loss

import (
	"fmt"
	"math/big"

	"productform/num"
)

// A Method is a way to compute the normalization G.
type Method string

// The methods.
const (
	Tree  Method = "tree"  // recursions over units, and convolutions along nested limits
	Table Method = "table" // a table over units, sets of classes and busy servers
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

// FormulaSettings tunes [ErlangA], [ErlangB], [ErlangC] and [Engset]. The zero value means a
// tolerance of [num.DefaultRelTol].
type FormulaSettings struct {
	Engine num.Engine // "" means Auto

	// RelTol is the relative tolerance for Auto and Enclose, in (0, 1); it has no effect with Float
	// and Exact. 0 means [num.DefaultRelTol].
	RelTol float64
}

// A Result holds the stationary measures of a system. Every number is within RelativeErrorBound of
// the exact value for the model as written; below 2^-1022, where the spacing of float64 is 2^-1074,
// the error may be larger by that much.
type Result struct {
	Engine num.Engine `json:"engine"` // the engine that gave the numbers: Float, Enclose or Exact
	Method Method     `json:"method"`
	States int        `json:"states"` // entries of the tables

	// RelativeErrorBound is proved. It is 0 if the numbers are exact fractions, of which Float is
	// the nearest.
	RelativeErrorBound float64 `json:"relative_error_bound"`

	// EmptyProbability is the probability of no jobs in the system. It is nil if a Poisson class
	// shares nothing, since its factor exp(-w_k) is not a fraction.
	EmptyProbability *num.Value `json:"empty_probability"`
	Blocking         *num.Value `json:"blocking"`   // probability that an arriving job is lost; nil without arrivals
	Throughput       num.Value  `json:"throughput"` // admitted jobs per unit of time
	MeanJobs         num.Value  `json:"mean_jobs"`  // mean number of jobs in the system
	MeanDelay        *num.Value `json:"mean_delay"` // mean delay of admitted jobs; nil if there are none

	Classes []ClassResult  `json:"classes"` // one for each row of the model's classes
	Servers []ServerResult `json:"servers"` // by row of the model's servers: the measures of each server of the row
	Room    *LimitResult   `json:"-"`       // use of the room; nil if the model has none
	Limits  []LimitResult  `json:"limits"`  // one for each row of the model's limits

	width float64 // relative width of the widest enclosure
}

// A ClassResult holds the measures of one class.
type ClassResult struct {
	Name    string    `json:"name" title:"class"` // as in the model
	Offered num.Value `json:"offered"`            // arriving jobs per unit of time, including lost ones

	// Blocking is the probability that an arriving job is lost, in the state that it finds. For a
	// class without arrivals it is the value for a hypothetical arrival.
	Blocking   num.Value  `json:"blocking"`
	Throughput num.Value  `json:"throughput"` // admitted jobs per unit of time
	MeanJobs   *num.Value `json:"mean_jobs"`  // E[X_k]; nil with tokens, since servers then do not distinguish classes
	MeanDelay  *num.Value `json:"mean_delay"` // E[X_k]/Throughput; nil with tokens, and if no jobs are admitted

	// The following are nil without Model.Count.
	WaitProbability *num.Value `json:"wait_probability"` // probability that an admitted job finds all servers busy
	MeanQueue       *num.Value `json:"mean_queue"`       // mean number of jobs that wait for a server, under FCFS
	MeanWaiting     *num.Value `json:"mean_waiting"`     // MeanQueue/Throughput; nil if no jobs are admitted
}

// A ServerResult holds the measures of one server.
type ServerResult struct {
	Name  string `json:"name" title:"server"` // as in the model
	Count int    `json:"count,omitempty"`     // count of the row

	// Utilization is the probability that there is a job that the server can serve or, with tokens,
	// that it has a job.
	Utilization num.Value  `json:"utilization"`
	MeanJobs    *num.Value `json:"mean_jobs"`  // mean number of jobs assigned to it; nil without tokens
	Throughput  *num.Value `json:"throughput"` // jobs assigned to it per unit of time; nil without tokens
}

// A LimitResult reports the use of a limit.
type LimitResult struct {
	Classes     []string  `json:"classes" title:"limit"` // names of its classes
	Most        int       `json:"most"`                  // units that fit
	MeanUnits   num.Value `json:"mean_units"`            // E[Σ b_k X_k] over its classes
	Utilization num.Value `json:"utilization"`           // MeanUnits / Most
}

// An UnstableError names classes without limits whose jobs arrive at least as fast as they can be
// served. It wraps [num.ErrUnstable].
type UnstableError struct {
	Classes  []int    // rows of the model's classes
	Load     *big.Rat // their total work per unit of time
	Capacity *big.Rat // total capacity of the servers that can do it, at most Load
}

func (e *UnstableError) Unwrap() error { return num.ErrUnstable }

func (e *UnstableError) Error() string {
	return fmt.Sprintf(
		"unstable: nothing limits the classes %v, which bring work %s per unit of time to servers that can do %s",
		e.Classes, e.Load.RatString(), e.Capacity.RatString(),
	)
}
