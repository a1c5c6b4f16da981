// This file defines the input of the package: the existing cluster, the available options, and the
// targets.
//
// A [Problem] is plain data, read by [Read] and [ReadFile] and checked by [Problem.Check]. A
// [Choice] is a plan: how many steps of each upgrade and new server it buys, and which edges.

package plan

import (
	"math/big"
	"slices"

	"productform/cluster"
	"productform/network"
	"productform/network/loss"
)

// A Problem is a model with the available options and the targets that it must meet. The model is a
// cluster, a network of stations or a system with losses. Classes and servers are named as in the
// model; the servers of a network are its stations, and those of a system with losses the numbers
// "room", "servers" and "limits[0]", "limits[1]" etc.
type Problem struct {
	Model   *cluster.Model // one of these three; the others are nil
	Network *network.Model
	Loss    *loss.Model

	Scale *big.Rat // > 0, factor of all arrival rates; nil means 1

	Targets []Target
	NoWorse bool // no class has a larger mean delay than without purchases, at the same arrival rates

	Upgrades   []Upgrade
	NewServers []NewServer
	Edges      []Edge

	Budget *big.Rat // >= 0, maximum cost of a plan; nil for no limit
	// the class whose mean delay is minimized, if a question minimizes one; empty for the mean
	// delay of all jobs
	Minimize string
}

// A Measure is the quantity that a target bounds.
type Measure string

// The measures of targets, each with what a target requires: at most or at least its limit.
const (
	MeanDelay   Measure = "mean_delay"  // E[T_i] of a class, or of all jobs; at most
	Percentile  Measure = "percentile"  // percentile of the delay of a class under FCFS with exponential sizes; at most
	Utilization Measure = "utilization" // utilization of a server; at most
	LoadFactor  Measure = "load_factor" // critical scale of the arrival rates; at least
	Margin      Measure = "margin"      // min over A of μ(A) - λ(A)σ; at least

	// mean time until a job of a class, or any job, begins or gives up; at most
	MeanWaiting       Measure = "mean_waiting"
	Abandon           Measure = "abandon_probability" // fraction of jobs, of a class or all, that give up; at most
	WaitingPercentile Measure = "waiting_percentile"  // percentile of the waiting time of a class; at most
	WaitingWithin     Measure = "waiting"             // P(W_i <= t) over all jobs of a class; at least
	ServedWithin      Measure = "served"              // P(served and W_i <= t); at least
	ServedShareWithin Measure = "served_share"        // P(W_i <= t | served); at least
	DelayWithin       Measure = "delay"               // P(T_i <= t); at least
	// throughput of a closed chain, or of the jobs that are not lost; at least
	Throughput   Measure = "throughput"
	ResponseTime Measure = "mean_response_time" // mean time of a cycle without stations with delay; at most
	// fraction of the jobs of a class, or of all, that are lost; at most
	Blocking  Measure = "blocking"
	FIFOWaste Measure = "fifo_waste" // fraction of the load lost to blocking; at most
)

// A Target is an upper bound on a measure, or a lower bound for load factor, margin and service
// levels, which are probabilities of times within Within. A measure equal to its limit meets the
// target. In addition, every plan must be stable. The measures depend on the service of the model.
type Target struct {
	Measure Measure
	Class   string   // class of a mean, empty for all jobs, or of a percentile or service level
	Server  string   // server of a utilization
	Level   *big.Rat // level of a percentile, in (0, 100)
	Limit   *big.Rat // > 0; a time, or a utilization or probability < 1
	Within  *big.Rat // time >= 0 of a service level
}

// An Upgrade adds capacity to a server, or to each server of a group or station, or further servers
// to the group or station, in equal steps. It has either Step or Count. In a system with losses it
// adds Count to a number.
type Upgrade struct {
	Server string   // name in [Problem.ServerNames]
	Step   *big.Rat // > 0, work per unit of time
	Cost   *big.Rat // >= 0, cost of one step
	Most   int      // steps that can be bought, >= 1
	Count  int      // >= 1, servers that a step adds to the group or station; 0 for steps of capacity
}

// A NewServer adds up to Most servers that serve some classes. Each job uses all of them at once,
// or any one of them if it runs on one server.
type NewServer struct {
	Name     string   // not empty, and different from the names of all other servers
	Capacity *big.Rat // > 0, of each server, work per unit of time
	Classes  []string // names of classes of the model
	Cost     *big.Rat // >= 0, cost of each server
	Most     int      // >= 1
}

// An Edge lets a class use a server that it cannot use now, or all purchased new servers of a kind,
// in addition to the classes that can already use them.
type Edge struct {
	Class  string   // name of a class of the model
	Server string   // name of a server of the model, or of a new one
	Choose int      // servers drawn from a group of the model for each job; 0 means 1
	Cost   *big.Rat // >= 0
}

// A Choice is a plan: which options of a problem to buy.
type Choice struct {
	Steps []int `json:"steps" zero:"[]"` // steps of each upgrade, then of each new server; nil for none
	Edges []int `json:"edges" zero:"[]"` // rows of Problem.Edges, increasing
}

// IsNothing reports whether a choice buys nothing.
func (c Choice) IsNothing() bool {
	return len(c.Edges) == 0 && !slices.ContainsFunc(c.Steps, func(n int) bool { return n != 0 })
}

// Everything returns the plan that buys every option in full.
func (p *Problem) Everything() (c Choice) {
	for _, u := range p.Upgrades {
		c.Steps = append(c.Steps, u.Most)
	}
	for _, s := range p.NewServers {
		c.Steps = append(c.Steps, s.Most)
	}
	for k := range p.Edges {
		c.Edges = append(c.Edges, k)
	}
	return c
}
