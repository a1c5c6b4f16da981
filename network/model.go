package network

import "math/big"

// A Model is a network of stations that classes of jobs visit. All numbers are rational and exactly
// as in the file.
type Model struct {
	Stations []Station
	Classes  []Class
}

// A Discipline is the order in which a station serves its jobs. It determines which sizes the
// station allows.
type Discipline string

// The disciplines. If a discipline allows classes to differ in mean size, sizes may have any
// distribution: the answers depend only on the means, unless jobs move in lockstep, as jobs of
// constant sizes do on a closed route without branches. Random has the same means and distributions
// as FCFS (J. R. Spirn, "Queuing networks with random selection for service", IEEE Transactions on
// Software Engineering SE-5(3), 1979).
const (
	// Delay gives each job its own server, like a think time.
	Delay Discipline = "delay"
	// Sharing is processor sharing: all jobs share the total rate equally.
	Sharing Discipline = "sharing"
	// FCFS serves jobs in order of arrival; sizes must be exponential with one mean.
	FCFS Discipline = "fcfs"
	// LCFS immediately serves the last job to arrive; the jobs that it interrupts resume later.
	// With several servers, sizes must be exponential with one mean.
	LCFS Discipline = "lcfs"
	// Random lets each free server take a waiting job at random (SIRO); sizes must be exponential
	// with one mean.
	Random Discipline = "random"
	// Order serves jobs in order of arrival with an order-independent total rate given by Nodes,
	// Limits or Rank; sizes must be exponential with one mean.
	Order Discipline = "order"
	// Balanced is balanced fairness with Nodes, Limits or Rank, or a Table: jobs of a class share
	// its rate equally, and the rates of classes have a balance function.
	Balanced Discipline = "balanced"
)

// A Station serves jobs. Stations with Delay, Sharing, FCFS, LCFS and Random have the total rate
// α(n) = min(n, Servers) Rate with n jobs (n Rate with Delay) or, except with Random, the total
// rate in Rates. With Rates, FCFS gives the whole rate to the first job, LCFS to the last. Stations
// with Order and Balanced have exactly one of Nodes, Limits, Rank and (Balanced only) Table.
type Station struct {
	Name       string // not empty, and unique among the stations
	Discipline Discipline
	Servers    int      // number of equal servers, >= 1; 0 means 1; Limits share these servers, too
	Rate       *big.Rat // > 0, work per unit of time of each server; nil means 1
	// α(1), α(2), ... > 0, work per unit of time; the last also applies to more jobs; instead of
	// Servers and Rate
	Rates []*big.Rat
	// servers, each of which serves some classes ([Visit.Nodes]): μ(A) is the capacity of all
	// servers that serve a class of A
	Nodes []Node
	// limits on the number of servers that a set of classes uses at a time; any two sets are
	// disjoint or nested (MSCCC, MSHCC)
	Limits []Limit
	Rank   []SetRate // μ(A) of every non-empty set A of the classes that visit the station, nondecreasing in A
	Table  *Table    // balance function or rates for all numbers of jobs; closed classes only
}

// A Node is one server of a station, of a compatibility graph.
type Node struct {
	Name     string   // not empty, and unique among the nodes of the station
	Capacity *big.Rat // >= 0, work per unit of time
}

// A Limit is the maximum number of servers of the station, Most, that jobs of some classes together
// use at a time. A job that finds a free server within its limits takes it, in order of arrival;
// the others wait.
type Limit struct {
	Classes []int // not empty
	Most    int   // >= 1
}

// A SetRate is the total rate of a station while exactly these classes are present.
type SetRate struct {
	Classes []int    // not empty
	Rate    *big.Rat // μ(A) > 0, work per unit of time
}

// A Table describes a station with Balanced for all numbers of jobs x with x_k <= Most[k] jobs of
// class Classes[k]. The state x is in row Σ_k x_k Π_{l>k} (Most[l] + 1): the last class varies
// fastest.
type Table struct {
	Classes []int      // all classes that visit the station, in the order of the axes
	Most    []int      // >= 1, at least the population of the class's chain
	Balance []*big.Rat // Φ(x) > 0, Φ(0) = 1; or
	// φ_k(x) = Φ(x-e_k)/Φ(x) > 0 if x_k > 0, total work per unit of time on class k; nil or 0 if
	// x_k = 0
	Rates [][]*big.Rat
}

// A Class is a kind of job. Its chain, which consists of all classes that its jobs can change to,
// has either arrivals or a population.
type Class struct {
	Name        string   // not empty, and unique among the classes
	Population  int      // closed: jobs of the class at the start; only the sum over the chain matters
	ArrivalRate *big.Rat // open: >= 0, jobs per unit of time from outside; nil without arrivals
	Arrives     []Branch // open: destinations of arrivals, whose probabilities sum to 1; nil means the first visit
	Visits      []Visit  // at least one, no station twice
	// closed: index into Visits; a cycle of the chain lasts from one visit there to the next; 0
	// with Visit.Count and for all classes but the first
	Reference int
}

// A Visit is a visit of a class to a station. Either all visits of a class have branches to the
// next visits, or all have a number of visits (only if the class does not change into other
// classes).
type Visit struct {
	Station  int      // row of the model's stations
	MeanSize *big.Rat // σ > 0, mean work; nil means 1
	Nodes    []int    // rows of the nodes that can serve it, if the station has Nodes
	Next     []Branch // next visits of jobs, whose probabilities sum to 1; or
	Count    *big.Rat // > 0, mean number of visits per cycle (closed) or per arrival (open, at least 1 in total)
}

// A Branch leads jobs, with some probability, to visit Visit of class Class.
type Branch struct {
	Class, Visit int      // rows of the model's classes, and of the visits of that class
	Probability  *big.Rat // >= 0
}

// Leaves is the Class of a [Branch] that leaves the network.
const Leaves = -1

// Scale returns m with all arrival rates multiplied by factor >= 0. Everything else is shared with
// m.
func (m *Model) Scale(factor *big.Rat) *Model {
	c := *m
	c.Classes = append([]Class(nil), m.Classes...)
	for i := range c.Classes {
		if rate := m.Classes[i].ArrivalRate; rate != nil {
			c.Classes[i].ArrivalRate = new(big.Rat).Mul(rate, factor)
		}
	}
	return &c
}

// names returns the names of classes.
func (m *Model) names(classes []int) (list []string) {
	for _, c := range classes {
		list = append(list, m.Classes[c].Name)
	}
	return list
}
