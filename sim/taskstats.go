package sim

// A tasksTally adds up what is seen of [Tasks] and of no other system.
type tasksTally struct {
	base     []int     // tasks that ran when the tally began, by class
	more     []float64 // ∫ tasks that run - base dt, by class: a number that is constant stays so to the last digit
	standing bool      // what is seen of the number of jobs is seen of that of tasks
}

// A TasksSample is what one replication saw of [Tasks].
type TasksSample struct {
	Running []float64 `json:"running"` // time average of the number of tasks that run, by class
}

func (y *tasksTally) sample(time float64) *TasksSample {
	s := &TasksSample{}
	for k, v := range y.more {
		s.Running = append(s.Running, float64(y.base[k])+v/time)
	}
	return s
}

// total returns ∫ n dt, n the number of tasks that run.
func (y *tasksTally) total(time float64) float64 { return float64(total(y.base))*time + sum(y.more) }

// standing reports whether the system is a standing population, of which the tasks that run are looked at in place of
// the jobs.
func (p *Plan) standing() bool { return p.pool != nil && p.pool.standing }

// number returns the estimate of the number of jobs in all, or of tasks that run.
func (p *Plan) number(samples []*Sample) Estimate {
	values := make([]float64, len(samples))
	for k, s := range samples {
		if p.standing() {
			values[k] = sum(s.Tasks.Running)
		} else {
			values[k] = sum(s.Jobs)
		}
	}
	return estimate(values, p.settings.Confidence)
}

// summarizeTasks adds what only [Tasks] tell. column estimates a value of samples.
func (p *Plan) summarizeTasks(r *Result, column func(func(*Sample) float64) Estimate) {
	g := p.pool
	exactly := func(n int) Estimate {
		return Estimate{Mean: float64(n), Confidence: p.settings.Confidence, Runs: r.Runs}
	}
	for k := range r.Classes {
		c := &r.Classes[k]
		e := column(func(s *Sample) float64 { return s.Tasks.Running[k] })
		c.RunningTasks = &e
		if g.standing {
			c.MeanJobs = exactly(g.counts[k])
			c.ServiceRate = e.scaled(1 / float64(g.counts[k]))
		}
	}
	if g.standing {
		r.MeanJobs = exactly(total(g.counts))
	}
	for j, resource := range g.fluid.Resources {
		r.Resources = append(r.Resources, ResourceResult{resource.Name, column(func(s *Sample) float64 {
			used := 0.0
			for k, n := range s.Tasks.Running {
				used += n * (float64(g.demand[k*g.resources+j]) / g.whole[j])
			}
			return used
		})})
	}
}
