package pool

import "productform/sim"

// Restart restarts the count of the running tasks.
func (q *calendar) Restart() {
	copy(q.base, q.running)
	clear(q.excess)
}

// Observed returns the time averages of the numbers of running tasks, by class.
func (q *calendar) Observed(seen *sim.Totals) (map[string][]*float64, error) {
	var running []*float64
	for k, v := range q.excess {
		mean := float64(q.base[k]) + v/seen.Time
		running = append(running, &mean)
	}
	return map[string][]*float64{RunningTasks: running}, nil
}

// RunningTasks is the mean number of running tasks of a class. [Tasks] also measures the
// Utilization of a resource over all machines: the fraction that tasks hold. In a standing
// population MeanJobs is the constant number of jobs, and ServiceRate the number of tasks that a
// job runs.
const RunningTasks = "running_tasks"

// OfResource is the kind of measures of a resource of all machines.
const OfResource sim.Kind = "resource"

// measures returns the measures of a run.
func (g *taskPool) measures(s *sim.Samples) (list []sim.Measure) {
	if g.standing {
		list = append(list, sim.Measure{
			Name:     sim.MeanJobs,
			Kind:     sim.OfAll,
			Index:    0,
			Of:       "",
			Unit:     "jobs",
			Estimate: s.Exactly(float64(sim.Sum(g.counts))),
		})
	} else {
		list = s.Jobs()
	}
	for k, c := range s.Classes() {
		running := s.Own(RunningTasks, k)
		list = append(list, sim.Measure{
			Name:     RunningTasks,
			Kind:     sim.OfClass,
			Index:    k,
			Of:       c.Name,
			Unit:     "tasks",
			Estimate: running,
		})
		if g.standing {
			list = append(list,
				sim.Measure{
					Name:     sim.MeanJobs,
					Kind:     sim.OfClass,
					Index:    k,
					Of:       c.Name,
					Unit:     "jobs",
					Estimate: s.Exactly(float64(g.counts[k])),
				},
				sim.Measure{
					Name:     sim.ServiceRate,
					Kind:     sim.OfClass,
					Index:    k,
					Of:       c.Name,
					Unit:     "tasks",
					Estimate: running.Scaled(1 / float64(g.counts[k])),
				})
		}
	}
	for j, resource := range g.fluid.Resources {
		used := s.Estimate(func(one *sim.Sample) float64 {
			used := 0.0
			for k, n := range one.Own[RunningTasks] {
				used += *n * (float64(g.demand[k*g.resources+j]) / g.whole[j])
			}
			return used
		})
		list = append(list, sim.Measure{
			Name:     sim.Utilization,
			Kind:     OfResource,
			Index:    j,
			Of:       resource.Name,
			Unit:     "",
			Estimate: used,
		})
	}
	return list
}
