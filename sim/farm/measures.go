package farm

import (
	"errors"
	"math"
	"slices"

	"productform/sim"
)

// classTotals holds sums over the departed jobs of a class.
type classTotals struct {
	waiting  float64 // sum of their times in queues
	slowdown float64 // sum of the ratios of their times in queues to their sizes
}

// hostTotals holds sums over the visits to a host.
type hostTotals struct {
	visits, wait         float64 // number of visits that reached service, and the sum of their times in the queue
	gaps, gap, gapSquare float64 // times between arrivals: number, sum and sum of squares, in units of 1/λ
}

// Restart discards everything accumulated so far.
func (q *calendar) Restart() {
	clear(q.byClass)
	clear(q.byHost)
}

// errSlowdown reports slowdowns that exceed the range of float64.
var errSlowdown = errors.New("slowdowns sum to more than 1e308: sizes are too small compared to the times in queues")

// Observed returns the mean waiting times and slowdowns of the departed jobs, by class and over all
// jobs, and the observations of each host.
func (q *calendar) Observed(seen *sim.Totals) (map[string][]*float64, error) {
	means := map[string][]*float64{}
	var waiting, slowdown []float64 // by class, 0 if no job departed
	for i, c := range q.byClass {
		w, s := 0.0, 0.0
		if seen.Left[i] > 0 {
			w = c.waiting / seen.Left[i]
			if q.slowdown[i] {
				s = c.slowdown / seen.Left[i]
			}
		}
		if !(s <= math.MaxFloat64) {
			return nil, errSlowdown
		}
		waiting, slowdown = append(waiting, w), append(slowdown, s)
		means["waiting"] = append(means["waiting"], valueIf(seen.Left[i] > 0, w))
		means["slowdown"] = append(means["slowdown"], valueIf(seen.Left[i] > 0 && q.slowdown[i], s))
	}
	left := sim.Sum(seen.Left) > 0
	means["all"] = []*float64{
		valueIf(left, sim.OverJobs(seen.Left, waiting)),
		valueIf(left && q.hasSlowdown(), sim.OverJobs(seen.Left, slowdown)),
	}
	for _, h := range q.byHost {
		wait, scv := 0.0, 0.0
		if h.visits > 0 {
			wait = h.wait / h.visits
		}
		if h.gaps >= 2 && h.gap > 0 {
			mean := h.gap / h.gaps
			scv = max(0, h.gapSquare/h.gaps/mean/mean-1)
		}
		means["visit_waiting"] = append(means["visit_waiting"], valueIf(h.visits > 0, wait))
		means["interarrival_scv"] = append(means["interarrival_scv"], valueIf(h.gaps >= 2, scv))
	}
	return means, nil
}

// valueIf returns a value, or nil if it was not observed.
func valueIf(seen bool, v float64) *float64 {
	if !seen {
		return nil
	}
	return &v
}

// hasSlowdown reports whether the mean slowdown of all jobs is finite.
func (g *farm) hasSlowdown() bool { return !slices.Contains(g.slowdown, false) }

// Additional measures of a farm.
const (
	MeanWaiting  = "mean_waiting"  // mean time in queues of the departed jobs, over all visits of a job
	MeanSlowdown = "mean_slowdown" // mean of W/X, the time in queues divided by the size; none if E[1/X] is infinite
	VisitWaiting = "visit_waiting" // mean time in the queue of a host per visit
	// squared coefficient of variation of the times between arrivals at a host; none with a central
	// queue
	InterarrivalSCV = "interarrival_scv"
)

// OfHost is the kind of measures of a host; Utilization is its load.
const OfHost sim.Kind = "host"

// measures returns the measures of a run.
func (g *farm) measures(s *sim.Samples) []sim.Measure {
	list := append(s.Jobs(), s.Utilizations(OfHost)...)
	list = append(list,
		sim.Measure{Name: MeanWaiting, Kind: sim.OfAll, Unit: "time", Estimate: s.Own("all", 0)},
		sim.Measure{Name: MeanSlowdown, Kind: sim.OfAll, Unit: "time/work", Estimate: s.Own("all", 1)})
	for i, c := range s.Classes() {
		list = append(list,
			sim.Measure{
				Name:     MeanWaiting,
				Kind:     sim.OfClass,
				Index:    i,
				Of:       c.Name,
				Unit:     "time",
				Estimate: s.Own("waiting", i),
			},
			sim.Measure{
				Name:     MeanSlowdown,
				Kind:     sim.OfClass,
				Index:    i,
				Of:       c.Name,
				Unit:     "time/work",
				Estimate: s.Own("slowdown", i),
			})
	}
	for k, h := range s.Servers() {
		list = append(list,
			sim.Measure{
				Name:     VisitWaiting,
				Kind:     OfHost,
				Index:    k,
				Of:       h.Name,
				Unit:     "time",
				Estimate: s.Own("visit_waiting", k),
			},
			sim.Measure{
				Name:     InterarrivalSCV,
				Kind:     OfHost,
				Index:    k,
				Of:       h.Name,
				Unit:     "",
				Estimate: s.Own("interarrival_scv", k),
			})
	}
	return list
}

// warnings warns if hardly any job waited in any run: intervals are then meaningless.
func (g *farm) warnings(r *sim.Result) []string {
	if w := r.All(MeanWaiting); w != nil && w.Mean == 0 {
		return []string{"more or longer runs are needed: no job waited in any of them"}
	}
	return nil
}
