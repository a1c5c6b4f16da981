package loss

import (
	"fmt"

	"productform/sim"
)

// Additional measures of loss systems. Offered, Blocking and Throughput are given for all jobs and
// each class. MeanJobs and Throughput of a server are given only with tokens. Utilization of a
// server is the fraction of time during which there is a job that it can serve or, with tokens, a
// job assigned to it.
const (
	Offered          = "offered"           // arriving jobs per unit of time, lost ones included
	Blocking         = "blocking"          // fraction of the arriving jobs that are lost
	EmptyProbability = "empty_probability" // fraction of time during which the system is empty
	// fraction of the admitted jobs that find all servers busy; only for equal servers
	WaitProbability = "wait_probability"
	// mean time that departed jobs waited for a server; only for equal servers under FCFS
	MeanWaiting = "mean_waiting"
	MeanUnits   = "mean_units" // mean number of units in use, for the room and each limit
)

// OfLimit is the kind of measures of bounds: the room at index 0, if there is one, then the limits.
const OfLimit sim.Kind = "limit"

// Restart discards everything accumulated so far.
func (m *motion) Restart() {
	clear(m.byClass)
	clear(m.byToken)
	m.byServer.Restart()
}

// Observed returns the observations of arrivals, by class and finally for all classes, and of the
// servers.
func (m *motion) Observed(seen *sim.Totals) (map[string][]*float64, error) {
	own := map[string][]*float64{}
	var all tally
	add := func(t tally, left float64) {
		own[Offered] = append(own[Offered], meanOf(t.offered, seen.Time))
		own[Blocking] = append(own[Blocking], meanOf(t.lost, t.offered))
		own[sim.Throughput] = append(own[sim.Throughput], meanOf(t.offered-t.lost, seen.Time))
		own[WaitProbability] = append(own[WaitProbability], meanOf(t.met, t.offered-t.lost))
		own[MeanWaiting] = append(own[MeanWaiting], meanOf(t.waited, left)) // meaningless under sharing
	}
	var left float64
	for k, t := range m.byClass {
		add(t, seen.Left[k])
		all.offered, all.lost, all.met, all.waited, left = all.offered+t.offered, all.lost+t.lost,
			all.met+t.met, all.waited+t.waited, left+seen.Left[k]
	}
	add(all, left)
	empty := 0.0
	if len(seen.Count) > 0 {
		empty = seen.Count[0]
	}
	own[EmptyProbability] = []*float64{meanOf(empty, seen.Time)}
	for s := range m.byToken {
		own["server_jobs"] = append(own["server_jobs"], meanOf(m.byServer.Area(s), seen.Time))
		own["server_throughput"] = append(own["server_throughput"], meanOf(m.byToken[s], seen.Time))
	}
	return own, nil
}

// meanOf returns a mean, or nil if n is 0.
func meanOf(sum, n float64) *float64 {
	if !(n > 0) {
		return nil
	}
	mean := sum / n
	return &mean
}

// measures returns the measures of a run.
func (p *system) measures(all *sim.Samples) (list []sim.Measure) {
	n := len(p.classes)
	add := func(kind sim.Kind, index int, of, name, unit string, e *sim.Estimate) {
		list = append(list, sim.Measure{Name: name, Kind: kind, Index: index, Of: of, Unit: unit, Estimate: e})
	}
	own := func(kind sim.Kind, index int, of string, row int) {
		add(kind, index, of, Offered, "jobs/time", all.Own(Offered, row))
		add(kind, index, of, Blocking, "", all.Own(Blocking, row))
		add(kind, index, of, sim.Throughput, "jobs/time", all.Own(sim.Throughput, row))
		if p.servers > 0 {
			add(kind, index, of, WaitProbability, "", all.Own(WaitProbability, row))
		}
		if p.servers > 0 && !p.sharing {
			add(kind, index, of, MeanWaiting, "time", all.Own(MeanWaiting, row))
		}
	}
	for _, m := range all.Jobs() {
		switch m.Name { // the other names do not depend on losses
		case sim.MeanJobs, sim.MeasuredDelay:
			list = append(list, m)
		}
	}
	own(sim.OfAll, 0, "", n)
	add(sim.OfAll, 0, "", EmptyProbability, "", all.Own(EmptyProbability, 0))
	for k, c := range p.classes {
		own(sim.OfClass, k, c.name, k)
	}
	list = append(list, all.Utilizations(sim.OfServer)...)
	for s := range p.tokens {
		name := p.model.Servers[s].Name
		add(sim.OfServer, s, name, sim.MeanJobs, "jobs", all.Own("server_jobs", s))
		add(sim.OfServer, s, name, sim.Throughput, "jobs/time", all.Own("server_throughput", s))
	}
	for b := range p.most {
		units := all.Estimate(func(one *sim.Sample) float64 {
			var sum float64
			for k, c := range p.classes {
				for _, at := range c.bounds {
					if at == b {
						sum += float64(c.units) * one.Jobs[k]
					}
				}
			}
			return sum
		})
		add(OfLimit, b, "", MeanUnits, "units", units)
	}
	return list
}

// fewLosses is the number of lost jobs below which blocking is not informative.
const fewLosses = 100

// warnings warns about classes with few lost jobs, or without arrivals in some run.
func (p *system) warnings(r *sim.Result) (list []string) {
	for k, c := range p.classes {
		if c.rate == 0 || p.tokens == nil && len(c.bounds) == 0 {
			continue
		}
		offered, blocking := r.Class(k, Offered), r.Class(k, Blocking)
		if offered == nil || blocking == nil {
			list = append(list, "class "+c.name+": no jobs arrived in some run")
		} else if lost := offered.Mean * blocking.Mean * r.Time * float64(r.Runs); lost < fewLosses {
			list = append(list, fmt.Sprintf(
				"class %s: only about %.0f jobs were lost in all runs, and intervals of blocking need %d",
				c.name, lost, fewLosses,
			))
		}
	}
	return list
}
