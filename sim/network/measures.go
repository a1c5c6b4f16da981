package network

import (
	"fmt"
	"strings"

	"productform/network"
	"productform/sim"
	"productform/sizes"
)

// Additional kinds of measures.
const (
	OfStation sim.Kind = "station"
	OfNode    sim.Kind = "node" // a server of a station with Nodes, in the order of the model
)

// Additional measures of networks. Throughput counts departing jobs or completed cycles (of a
// chain), or visits. MeanJobs, Throughput and MeasuredDelay of visits are of kind [sim.OfVisit], in
// the order of the classes. Utilization of a station is the mean fraction of its servers that are
// busy or, with Rates, the fraction of time with jobs present; Delay, Order and Balanced have none.
// Utilization of a node is the fraction of time during which there is a job that it can serve.
const (
	EmptyProbability = "empty_probability" // fraction of time during which a station has no jobs
	// mean number of jobs of a chain away from its reference; all jobs of an open chain, or of a
	// closed chain without other visits. Only for networks with closed chains
	JobsAway = "jobs_away"
)

// Restart discards everything accumulated so far.
func (m *motion) Restart() {
	for i := range m.use {
		m.use[i].empty = 0
	}
}

// Observed returns the fractions of time during which stations are empty and, with closed chains,
// the numbers of jobs away.
func (m *motion) Observed(seen *sim.Totals) (map[string][]*float64, error) {
	var empty, away []*float64
	for i := range m.use {
		part := m.use[i].empty / seen.Time
		empty = append(empty, &part)
	}
	own := map[string][]*float64{EmptyProbability: empty}
	for k, c := range m.chains {
		jobs := seen.Jobs[k]
		if c.closed && m.visits[c.reference].away == 0 {
			jobs -= seen.Jobs[len(m.chains)+c.reference]
		}
		jobs /= seen.Time
		away = append(away, &jobs)
	}
	if m.closed {
		own[JobsAway] = away
	}
	return own, nil
}

// measures returns the measures of a run.
func (s *system) measures(all *sim.Samples) []sim.Measure {
	chains := len(s.chains)
	whole := all.Estimate(func(one *sim.Sample) float64 { return sim.Sum(one.Jobs[:chains]) })
	list := []sim.Measure{{Name: sim.MeanJobs, Kind: sim.OfAll, Unit: "jobs", Estimate: whole}}
	for k, c := range s.chains {
		jobs := all.Estimate(func(one *sim.Sample) float64 { return one.Jobs[k] })
		if c.closed {
			jobs = all.Exactly(float64(c.population))
		}
		add := func(name, unit string, e *sim.Estimate) {
			list = append(list, sim.Measure{
				Name:     name,
				Kind:     sim.OfClass,
				Index:    k,
				Of:       c.name,
				Unit:     unit,
				Estimate: e,
			})
		}
		throughput := func(one *sim.Sample) float64 { return s.throughput(k, one) }
		add(sim.MeanJobs, "jobs", jobs)
		add(sim.Throughput, "jobs/time", all.Estimate(throughput))
		add(sim.MeanDelay, "time", all.EstimateIf(
			func(one *sim.Sample) bool { return throughput(one) > 0 && !s.horizon },
			func(one *sim.Sample) float64 { return one.Jobs[k] / throughput(one) },
		))
		add(sim.MeasuredDelay, "time", all.EstimateIf(
			func(one *sim.Sample) bool { return one.Left[k] > 0 },
			func(one *sim.Sample) float64 { return one.Sojourn[k] },
		))
		if s.closed {
			add(JobsAway, "jobs", all.Own(JobsAway, k))
		}
	}
	for _, v := range all.Visits() {
		if v.Index < len(s.visits) || v.Name == sim.MeasuredDelay { // of response times
			list = append(list, v)
		}
	}
	for i, station := range s.stations {
		sum := func(value func(one *sim.Sample, row int) float64) *sim.Estimate {
			return all.Estimate(func(one *sim.Sample) float64 {
				var sum float64
				for v := range s.visits {
					if s.visits[v].station == i {
						sum += value(one, chains+v)
					}
				}
				return sum
			})
		}
		add := func(name, unit string, e *sim.Estimate) {
			list = append(list, sim.Measure{
				Name:     name,
				Kind:     OfStation,
				Index:    i,
				Of:       station.name,
				Unit:     unit,
				Estimate: e,
			})
		}
		add(sim.MeanJobs, "jobs", sum(func(one *sim.Sample, row int) float64 { return one.Jobs[row] }))
		add(
			sim.Throughput, "jobs/time",
			sum(func(one *sim.Sample, row int) float64 { return one.Left[row] / one.Time }),
		)
		add(EmptyProbability, "", all.Own(EmptyProbability, i))
		if s.hasUtilization(i) {
			add(sim.Utilization, "", all.Estimate(func(one *sim.Sample) float64 { return one.Busy[i] }))
		}
	}
	for k, node := range s.nodes {
		busy := all.Estimate(func(one *sim.Sample) float64 { return one.Busy[len(s.stations)+k] })
		list = append(list, sim.Measure{Name: sim.Utilization, Kind: OfNode, Index: k, Of: node.name, Estimate: busy})
	}
	return list
}

// hasUtilization reports whether a station has identical servers, or is a single one.
func (s *system) hasUtilization(i int) bool {
	switch of := &s.model.Stations[i]; of.Discipline {
	case network.Delay:
		return false
	case network.Order, network.Balanced:
		return of.Limits != nil
	}
	return true
}

// throughput returns the departed jobs of a chain, or its completed cycles, per unit of time.
func (s *system) throughput(k int, one *sim.Sample) float64 {
	c := &s.chains[k]
	switch {
	case !c.closed:
		return one.Left[k] / one.Time
	case c.cycle == 0:
		return one.Left[len(s.chains)+c.reference] / one.Time
	}
	var visits float64
	for v := range s.visits {
		if s.visits[v].chain == k {
			visits += one.Left[len(s.chains)+v]
		}
	}
	return visits / c.cycle / one.Time
}

// fewJobs is the number of visits below which means are unreliable.
const fewJobs = 100

// warnings returns reasons to doubt the estimates of closed chains: rare visits, and constant
// sizes. The numbers of visits of open chains are known beforehand.
func (s *system) warnings(r *sim.Result) (list []string) {
	for v := range s.visits {
		if !s.chains[s.visits[v].chain].closed {
			continue
		}
		if ended := r.Estimate(sim.OfVisit, v, sim.Throughput).Mean * r.Time * float64(r.Runs); ended < fewJobs {
			list = append(list, fmt.Sprintf("visit %s: only %.0f ended in all runs, and intervals need %d",
				s.visits[v].name, ended, fewJobs))
		}
	}
	if names := s.constantChains(); names != nil {
		list = append(list, fmt.Sprintf("chain %s: all sizes are constant, so jobs that start together may stay "+
			"together: estimates then depend on the start, and exact values need not hold",
			strings.Join(names, ", chain ")))
	}
	return list
}

// constantChains returns the names of the closed chains that have only constant sizes, or nil if
// they have fewer than two jobs.
func (s *system) constantChains() (names []string) {
	isRandom := make([]bool, len(s.chains))
	for _, v := range s.visits {
		atomic, ok := v.sizes.(sizes.Atomic)
		isRandom[v.chain] = isRandom[v.chain] || !ok || len(atomic.Atoms()) > 1
	}
	jobs := 0
	for k, c := range s.chains {
		if c.closed && c.population > 0 && !isRandom[k] {
			names = append(names, c.name)
			jobs += c.population
		}
	}
	if jobs < 2 {
		return nil
	}
	return names
}
