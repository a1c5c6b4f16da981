package plan

import (
	"productform/bf"
	"productform/num"
)

// A Solution holds the means of a cluster with any service. Numbers that its service lacks are nil.
type Solution struct {
	Engine             num.Engine // engine that computed the numbers
	RelativeErrorBound float64    // for the numbers that have no Low and High

	MeanDelay   *num.Value // mean delay of all jobs; nil if no jobs arrive
	MeanWaiting *num.Value // mean waiting time of all jobs; nil with the service all
	Abandon     *num.Value // fraction of all jobs that give up; nil without patience

	CriticalScale, FIFOWaste *num.Value // nil except with the service gang

	// nil for clusters, and for networks with several chains
	Throughput   *num.Value // jobs that pass per unit of time
	ResponseTime *num.Value // mean time of a cycle without the stations with discipline delay; nil if there are none
	Blocking     *num.Value // fraction of the arriving jobs that are lost; nil for networks

	Classes []ClassSolution  // one per row of the model's classes
	Servers []ServerSolution // one per row of the model's servers, or per name in [Problem.ServerNames]
}

// A ClassSolution holds the means of a class. They are nil if none of its jobs arrive.
type ClassSolution struct {
	Name        string     // as in the model
	MeanDelay   *num.Value // mean time until a job departs
	MeanWaiting *num.Value // mean time until a job starts or gives up; nil with the service all
	Abandon     *num.Value // fraction of the jobs that give up; nil without patience

	Throughput, ResponseTime, Blocking *num.Value // as in [Solution]; those of its chain in a network

	within  []levels // at the times of the [ask]
	waiting []num.Value
	delay   []num.Value
}

// A ServerSolution holds the measures of a server, or of each server of a group.
type ServerSolution struct {
	Name        string     // as in the model
	Utilization *num.Value // probability that it is busy; nil if it has none, such as a station with delay
}

// levels are the probabilities that times of a class are at most a time; nil if they are not known.
type levels struct{ waiting, served, servedShare, delay *num.Value }

// solutionOf returns the means of balanced fairness.
func solutionOf(r *bf.Result) *Solution {
	s := &Solution{Engine: r.Engine, RelativeErrorBound: r.RelativeErrorBound, MeanDelay: r.MeanDelay}
	for _, c := range r.Classes {
		s.Classes = append(s.Classes, ClassSolution{Name: c.Name, MeanDelay: c.MeanDelay})
	}
	for _, x := range r.Servers {
		s.Servers = append(s.Servers, ServerSolution{x.Name, &x.Utilization})
	}
	return s
}

// measured returns the measure of a target from a solution, or nil if the solution lacks it. If the
// target is on a time, times are those of the [ask].
func (s *Solution) measured(t target, times timesAsked) *num.Value {
	switch t.measure {
	case MeanDelay:
		return s.of(t.row).MeanDelay
	case MeanWaiting:
		return s.of(t.row).MeanWaiting
	case Abandon:
		return s.of(t.row).Abandon
	case Utilization:
		return s.Servers[t.row].Utilization
	case Throughput:
		return s.of(t.row).Throughput
	case ResponseTime:
		return s.of(t.row).ResponseTime
	case Blocking:
		return s.of(t.row).Blocking
	case LoadFactor:
		return s.CriticalScale
	case FIFOWaste:
		return s.FIFOWaste
	}
	if k := times.index(t.time); k >= 0 && t.row >= 0 && k < len(s.Classes[t.row].within) {
		return s.Classes[t.row].within[k].of(t.measure)
	}
	return nil
}

// of returns the means of a class, or of all jobs for -1.
func (s *Solution) of(class int) ClassSolution {
	if class < 0 {
		return ClassSolution{MeanDelay: s.MeanDelay, MeanWaiting: s.MeanWaiting, Abandon: s.Abandon,
			Throughput: s.Throughput, ResponseTime: s.ResponseTime, Blocking: s.Blocking}
	}
	return s.Classes[class]
}

// of returns the probability that a measure refers to.
func (l levels) of(m Measure) *num.Value {
	switch m {
	case WaitingPercentile, WaitingWithin:
		return l.waiting
	case ServedWithin:
		return l.served
	case ServedShareWithin:
		return l.servedShare
	}
	return l.delay
}
