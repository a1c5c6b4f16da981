package oneserver

import (
	"math/big"

	"productform/num"
)

// A Result holds the stationary measures of a cluster in which each job runs on one server. Every
// number is within RelativeErrorBound of the exact value for the model as written, except those
// that Times covers.
type Result struct {
	Engine num.Engine `json:"engine"` // engine that computed the numbers: Float, Enclose or Exact
	States int        `json:"states"` // numbers of busy servers by group, of all parts

	MeanQueue   num.Value  `json:"mean_queue"`   // mean number of waiting jobs
	MeanJobs    num.Value  `json:"mean_jobs"`    // mean number of jobs, waiting or in service
	MeanWaiting *num.Value `json:"mean_waiting"` // mean time until a job of any class starts; nil if no jobs arrive
	MeanDelay   *num.Value `json:"mean_delay"`   // mean time until a job of any class departs; nil if no jobs arrive

	// RelativeErrorBound is a proved bound. It is 0 if the numbers are exact fractions; Float is
	// then the nearest double.
	RelativeErrorBound float64 `json:"relative_error_bound"`

	Classes []ClassResult  `json:"classes"` // one per row of the model's classes
	Servers []ServerResult `json:"servers"` // one per row of the model's servers

	// QueueDistribution and JobsDistribution are the probabilities of n waiting jobs, and of n jobs
	// waiting or in service, n = 0..Question.MaxJobs; nil without MaxJobs.
	QueueDistribution []num.Value `json:"queue_distribution,omitempty"`
	JobsDistribution  []num.Value `json:"jobs_distribution,omitempty"`

	// Times gives the precision of the distributions of times; nil if none are requested.
	Times *Precision `json:"-"`

	Gradients []ClassGradient `json:"-"` // one per row of the model's classes; nil unless Question.Gradients
}

// A Precision describes the precision of the distributions of times. The bounds are proved.
type Precision struct {
	Engine             num.Engine `json:"engine"`               // Float: the engine of all distributions of times
	RelativeErrorBound float64    `json:"relative_error_bound"` // for every quantile that is not 0
	AbsoluteErrorBound float64    `json:"absolute_error_bound"` // for every probability
}

// A ClassResult holds the measures of one class. Those of a class without arrivals are nil, and it
// has no jobs.
type ClassResult struct {
	Name            string     `json:"name" title:"class"` // as in the model
	ArrivalRate     *big.Rat   `json:"arrival_rate"`       // λ_i, jobs per unit of time
	WaitProbability *num.Value `json:"wait_probability"`   // P(W_i > 0), probability that all its servers are busy
	MeanWaiting     *num.Value `json:"mean_waiting"`       // E[W_i], mean time until a job starts
	MeanDelay       *num.Value `json:"mean_delay"`         // mean time until a job departs
	MeanQueue       num.Value  `json:"mean_queue"`         // mean number of waiting jobs
	ServedBy        []Serving  `json:"served_by"`          // one per row of servers that its jobs may use

	// Waiting holds quantiles of the waiting time, in the order of Question.Levels: 0 if at least
	// that fraction of the jobs does not wait. If the fraction that does not wait is that of the
	// level to within the error bound, Float is 0, and High bounds the quantile.
	Waiting []num.Value `json:"-"`
	Delay   []num.Value `json:"-"` // quantiles of the delay, in the same order
	Within  []Within    `json:"-"` // in the order of Question.Times
}

// A Serving is the rate at which one row of servers serves jobs of a class.
type Serving struct {
	Server string    `json:"server"` // name of the server or group
	Rate   num.Value `json:"rate"`   // jobs per unit of time
	Share  num.Value `json:"share"`  // fraction of the jobs of the class
}

// A Within holds the probabilities that the waiting time and the delay of a job are at most a time.
type Within struct {
	Time    *big.Rat  `json:"time"`              // as in Question.Times
	Waiting num.Value `json:"waiting" below:"1"` // P(W_i <= Time)
	Delay   num.Value `json:"delay" below:"1"`   // P(the delay of a job is at most Time)
}

// A ServerResult holds the measures of one server, or of each server of a group.
type ServerResult struct {
	Name        string    `json:"name" title:"server"`   // as in the model
	Count       int       `json:"count,omitempty"`       // servers in the group; 0 for a single one
	Utilization num.Value `json:"utilization" below:"1"` // probability that it is busy; 0 if no class uses it
}
