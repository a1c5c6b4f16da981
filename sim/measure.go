package sim

// Names of measures that systems have in common.
const (
	MeanJobs      = "mean_jobs"      // mean number of jobs present
	MeanDelay     = "mean_delay"     // mean delay, arrival to end, by Little's law: MeanJobs over the arrival rate
	MeasuredDelay = "measured_delay" // mean delay of the jobs that left
	ServiceRate   = "service_rate"   // λ_i σ_i over MeanJobs, the work that a job gets per unit of time
	Throughput    = "throughput"     // jobs that left per unit of time
	Utilization   = "utilization"    // part of the time that a server has a job it can serve
)

// A Kind is what a measure is of.
type Kind string

// Kinds of parts of a system; packages of systems have more.
const (
	OfAll    Kind = "all" // the system as a whole, at index 0
	OfClass  Kind = "class"
	OfVisit  Kind = "visit"
	OfServer Kind = "server"
)

// A Measure is one number that a run estimates. Its unit is made of jobs, tasks, and the units of time and work of the rates and
// sizes of the system: in files of pfq time is in seconds.
type Measure struct {
	Name     string    // what is measured, such as [MeanJobs]
	Kind     Kind      // of what
	Index    int       // of which one, in the order of the system
	Of       string    // its name
	Unit     string    // of the estimate: "jobs", "time", "work/time" and the like; "" for a pure number
	Estimate *Estimate // nil if it does not exist, or some replication saw nothing of it
}

// Samples are those of all replications of a run, two at least.
type Samples struct {
	plan *Plan
	list []*Sample
}

// Classes returns the classes of the system.
func (s *Samples) Classes() []Class { return s.plan.Classes }

// Servers returns the servers of the system.
func (s *Samples) Servers() []Server { return s.plan.Servers }

// Estimate returns the estimate of the mean of a value.
func (s *Samples) Estimate(value func(*Sample) float64) *Estimate {
	values := make([]float64, len(s.list))
	for k, one := range s.list {
		values[k] = value(one)
	}
	e := estimate(values, s.plan.settings.Confidence)
	return &e
}

// EstimateIf returns the estimate of the mean of a value that exists if all replications have seen something, else nil.
func (s *Samples) EstimateIf(seen func(*Sample) bool, value func(*Sample) float64) *Estimate {
	if !s.all(seen) {
		return nil
	}
	return s.Estimate(value)
}

// Own returns the estimate of an entry of a list in Sample.Own, nil if some replication saw nothing of it.
func (s *Samples) Own(list string, index int) *Estimate {
	return s.EstimateIf(func(one *Sample) bool { return one.Own[list][index] != nil }, func(one *Sample) float64 { return *one.Own[list][index] })
}

// Exactly returns the estimate of a number that is known.
func (s *Samples) Exactly(v float64) *Estimate {
	return &Estimate{Mean: v, Confidence: s.plan.settings.Confidence, Runs: len(s.list)}
}

// Jobs returns [MeanJobs], [MeanDelay] and [MeasuredDelay] of all jobs and of each class, with [ServiceRate]. Little's law is used
// for classes of which jobs arrive, and not over a horizon.
func (s *Samples) Jobs() []Measure {
	p := s.plan
	n := len(p.Classes)
	whole := s.Estimate(func(one *Sample) float64 { return Sum(one.Jobs[:n]) })
	var rate float64
	for _, c := range p.Classes {
		rate += c.ArrivalRate
	}
	measured := s.EstimateIf(func(one *Sample) bool { return Sum(one.Left[:n]) > 0 }, func(one *Sample) float64 { return OverJobs(one.Left[:n], one.Sojourn[:n]) })
	list := []Measure{
		{MeanJobs, OfAll, 0, "", "jobs", whole},
		{MeanDelay, OfAll, 0, "", "time", p.little(whole, rate)},
		{MeasuredDelay, OfAll, 0, "", "time", measured},
	}
	for i, c := range p.Classes {
		jobs := s.Estimate(func(one *Sample) float64 { return one.Jobs[i] })
		delay := p.little(jobs, c.ArrivalRate)
		var service *Estimate
		if delay != nil {
			service = jobs.inverse(c.ArrivalRate * c.MeanSize)
		}
		measured := s.EstimateIf(func(one *Sample) bool { return one.Left[i] > 0 }, func(one *Sample) float64 { return one.Sojourn[i] })
		list = append(list,
			Measure{MeanJobs, OfClass, i, c.Name, "jobs", jobs},
			Measure{MeanDelay, OfClass, i, c.Name, "time", delay},
			Measure{MeasuredDelay, OfClass, i, c.Name, "time", measured},
			Measure{ServiceRate, OfClass, i, c.Name, "work/time", service})
	}
	return list
}

// Visits returns [MeanJobs], [Throughput] and [MeasuredDelay] of each visit.
func (s *Samples) Visits() (list []Measure) {
	for v, visit := range s.plan.Visits {
		i := len(s.plan.Classes) + v
		measured := s.EstimateIf(func(one *Sample) bool { return one.Left[i] > 0 }, func(one *Sample) float64 { return one.Sojourn[i] })
		list = append(list,
			Measure{MeanJobs, OfVisit, v, visit.Name, "jobs", s.Estimate(func(one *Sample) float64 { return one.Jobs[i] })},
			Measure{Throughput, OfVisit, v, visit.Name, "jobs/time", s.Estimate(func(one *Sample) float64 { return one.Left[i] / one.Time })},
			Measure{MeasuredDelay, OfVisit, v, visit.Name, "time", measured})
	}
	return list
}

// little returns a mean delay by Little's law.
func (p *Plan) little(jobs *Estimate, rate float64) *Estimate {
	if rate == 0 || p.settings.Horizon > 0 {
		return nil
	}
	return jobs.Scaled(1 / rate)
}

// Utilizations returns [Utilization] of each server, or of each server of a group. Servers are of the given kind.
func (s *Samples) Utilizations(kind Kind) (list []Measure) {
	for k, server := range s.plan.Servers {
		list = append(list, Measure{Utilization, kind, k, server.Name, "", s.Estimate(func(one *Sample) float64 { return one.Busy[k] })})
	}
	return list
}

// all reports whether something is so in all replications.
func (s *Samples) all(ok func(*Sample) bool) bool {
	for _, one := range s.list {
		if !ok(one) {
			return false
		}
	}
	return true
}

// OverJobs returns the mean over jobs, of which there is one at least, of means by class.
func OverJobs(jobs, means []float64) float64 {
	var mean float64
	all := Sum(jobs)
	for i, n := range jobs {
		mean += n / all * means[i]
	}
	return mean
}
