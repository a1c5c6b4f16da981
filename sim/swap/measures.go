package swap

import "productform/sim"

// Measures of a pass-and-swap queue in addition to those common to all systems, for all jobs and
// for each class. Throughput counts departing jobs, which in a closed queue return. A closed queue
// has a MeasuredDelay but no MeanDelay, since Little's law would count jobs that never depart, such
// as the first of two that swap with each other. Utilization of a server is the fraction of time
// during which there is a job that it can serve.
const (
	// finished jobs per unit of time, including jobs that take the place of another
	Completions      = "completions"
	EmptyProbability = "empty_probability" // fraction of time during which an open queue has no jobs
)

// Restart discards everything accumulated so far.
func (m *motion) Restart() {
	clear(m.ended)
	clear(m.gone)
}

// Observed returns the observations of each class and finally of all classes; for a closed queue,
// also the number of its jobs.
func (m *motion) Observed(seen *sim.Totals) (map[string][]*float64, error) {
	own := map[string][]*float64{}
	rate := func(name string, jobs float64) {
		v := jobs / seen.Time
		own[name] = append(own[name], &v)
	}
	for i := range m.classes {
		rate(Completions, m.ended[i])
		rate(sim.Throughput, m.gone[i])
	}
	rate(Completions, sim.Sum(m.ended))
	rate(sim.Throughput, sim.Sum(m.gone))
	if m.start != nil {
		for _, jobs := range seen.Jobs {
			rate(sim.MeanJobs, jobs)
		}
		return own, nil
	}
	empty := 0.0
	if len(seen.Count) > 0 {
		empty = seen.Count[0]
	}
	rate(EmptyProbability, empty)
	return own, nil
}

// measures returns the measures of a run.
func (s *system) measures(all *sim.Samples) (list []sim.Measure) {
	add := func(kind sim.Kind, index int, of, name, unit string, e *sim.Estimate) {
		list = append(list, sim.Measure{Name: name, Kind: kind, Index: index, Of: of, Unit: unit, Estimate: e})
	}
	for _, m := range all.Jobs() {
		switch m.Name {
		case sim.MeanJobs, sim.MeasuredDelay:
			list = append(list, m)
		case sim.MeanDelay:
			if s.start == nil {
				list = append(list, m)
			}
		}
	}
	n := len(s.classes)
	add(sim.OfAll, 0, "", sim.Throughput, "jobs/time", all.Own(sim.Throughput, n))
	add(sim.OfAll, 0, "", Completions, "jobs/time", all.Own(Completions, n))
	if s.start == nil {
		add(sim.OfAll, 0, "", EmptyProbability, "", all.Own(EmptyProbability, 0))
	}
	for i, c := range s.classes {
		add(sim.OfClass, i, c.name, sim.Throughput, "jobs/time", all.Own(sim.Throughput, i))
		add(sim.OfClass, i, c.name, Completions, "jobs/time", all.Own(Completions, i))
	}
	return append(list, all.Utilizations(sim.OfServer)...)
}
