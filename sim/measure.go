package sim

// Names of measures common to all systems.
const (
	MeanJobs = "mean_jobs" // mean number of jobs present
	// mean delay from arrival to end by Little's law: MeanJobs divided by the arrival rate
	MeanDelay     = "mean_delay"
	MeasuredDelay = "measured_delay" // mean delay of the departed jobs
	ServiceRate   = "service_rate"   // λ_i σ_i divided by MeanJobs, the work done per job and unit of time
	Throughput    = "throughput"     // departed jobs per unit of time
	Utilization   = "utilization"    // fraction of time during which a server has a job that it can serve
)

// A Kind is the kind of part of a system that a measure describes.
type Kind string

// Kinds of parts of a system; subpackages define more.
const (
	OfAll    Kind = "all" // the system as a whole, at index 0
	OfClass  Kind = "class"
	OfVisit  Kind = "visit"
	OfServer Kind = "server"
)

// A Measure is one number that a run estimates. Units are jobs, tasks, and the units of time and
// work in the rates and sizes of the system; in pfq files time is in seconds.
type Measure struct {
	Name     string    // such as [MeanJobs]
	Kind     Kind      // kind of the measured part
	Index    int       // index of the part, in the order of the system
	Of       string    // name of the part
	Unit     string    // unit of the estimate, such as "jobs", "time" or "work/time"; "" for a pure number
	Estimate *Estimate // nil if it does not exist or some replication has no data
}

// Samples are the samples of all replications of a run, at least two.
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

// EstimateIf returns the estimate of the mean of a value, or nil if some replication has no data.
func (s *Samples) EstimateIf(seen func(*Sample) bool, value func(*Sample) float64) *Estimate {
	if !s.holdsInAll(seen) {
		return nil
	}
	return s.Estimate(value)
}

// Own returns the estimate of an entry of a list in Sample.Own, or nil if some replication has no
// data.
func (s *Samples) Own(list string, index int) *Estimate {
	return s.EstimateIf(func(one *Sample) bool { return one.Own[list][index] != nil }, func(one *Sample) float64 {
		return *one.Own[list][index]
	})
}

// Exactly returns a known number as an estimate.
func (s *Samples) Exactly(v float64) *Estimate {
	return &Estimate{Mean: v, Confidence: s.plan.settings.Confidence, Runs: len(s.list)}
}

// Jobs returns [MeanJobs], [MeanDelay] and [MeasuredDelay] of all jobs and of each class, and
// [ServiceRate] of each class. Little's law is used for classes with arrivals, but not over a
// horizon.
func (s *Samples) Jobs() []Measure {
	p := s.plan
	n := len(p.Classes)
	whole := s.Estimate(func(one *Sample) float64 { return Sum(one.Jobs[:n]) })
	var rate float64
	for _, c := range p.Classes {
		rate += c.ArrivalRate
	}
	measured := s.EstimateIf(func(one *Sample) bool { return Sum(one.Left[:n]) > 0 }, func(one *Sample) float64 {
		return OverJobs(one.Left[:n], one.Sojourn[:n])
	})
	list := []Measure{
		{MeanJobs, OfAll, 0, "", "jobs", whole},
		{MeanDelay, OfAll, 0, "", "time", p.littleDelay(whole, rate)},
		{MeasuredDelay, OfAll, 0, "", "time", measured},
	}
	for i, c := range p.Classes {
		jobs := s.Estimate(func(one *Sample) float64 { return one.Jobs[i] })
		delay := p.littleDelay(jobs, c.ArrivalRate)
		var service *Estimate
		if delay != nil {
			service = jobs.inverse(c.ArrivalRate * c.MeanSize)
		}
		measured := s.EstimateIf(func(one *Sample) bool { return one.Left[i] > 0 }, func(one *Sample) float64 {
			return one.Sojourn[i]
		})
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
		measured := s.EstimateIf(func(one *Sample) bool { return one.Left[i] > 0 }, func(one *Sample) float64 {
			return one.Sojourn[i]
		})
		list = append(list,
			Measure{
				MeanJobs, OfVisit, v, visit.Name, "jobs", s.Estimate(func(one *Sample) float64 { return one.Jobs[i] }),
			},
			Measure{
				Throughput, OfVisit, v, visit.Name, "jobs/time",
				s.Estimate(func(one *Sample) float64 { return one.Left[i] / one.Time }),
			},
			Measure{MeasuredDelay, OfVisit, v, visit.Name, "time", measured})
	}
	return list
}

// littleDelay returns the mean delay by Little's law, or nil if it does not apply.
func (p *Plan) littleDelay(jobs *Estimate, rate float64) *Estimate {
	if rate == 0 || p.settings.Horizon > 0 {
		return nil
	}
	return jobs.Scaled(1 / rate)
}

// Utilizations returns [Utilization] of each server or group of servers, whose measures have the
// given kind.
func (s *Samples) Utilizations(kind Kind) (list []Measure) {
	for k, server := range s.plan.Servers {
		list = append(list, Measure{
			Utilization, kind, k, server.Name, "", s.Estimate(func(one *Sample) float64 { return one.Busy[k] }),
		})
	}
	return list
}

// holdsInAll reports whether a condition holds in all replications.
func (s *Samples) holdsInAll(ok func(*Sample) bool) bool {
	for _, one := range s.list {
		if !ok(one) {
			return false
		}
	}
	return true
}

// OverJobs returns the mean over all jobs, of which there is at least one, from means by class.
func OverJobs(jobs, means []float64) float64 {
	var mean float64
	all := Sum(jobs)
	for i, n := range jobs {
		mean += n / all * means[i]
	}
	return mean
}
