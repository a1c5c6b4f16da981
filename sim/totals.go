package sim

import (
	"errors"
	"fmt"
	"math"
)

// Totals accumulate the observations of an engine on jobs and servers, in units of time. Lists by
// class also hold the visits, after the classes.
type Totals struct {
	Time    float64   // observed
	Jumps   float64   // arrivals, ends of phases and interruptions
	Jobs    []float64 // ∫ X_i dt by class
	Busy    []float64 // ∫ 1{s busy} dt by group, summed over the servers of the group
	Sojourn []float64 // sum of the delays of the departed jobs, by class
	Left    []float64 // number of departed jobs, by class
	Number  float64   // ∫ n dt, for a system that counts something other than jobs ([Description].Counted)
	Square  float64   // ∫ n² dt
	Count   []float64 // ∫ 1{n = k} dt, up to the largest n seen

	Delays []Counter // delays of the departed jobs, by class; nil unless individual delays are needed
}

// NewTotals returns empty totals for a number of classes, visits included, and of groups of
// servers.
func NewTotals(classes, servers int) *Totals {
	return &Totals{
		Jobs:    make([]float64, classes),
		Busy:    make([]float64, servers),
		Sojourn: make([]float64, classes),
		Left:    make([]float64, classes),
	}
}

// Leave counts a departing job of a class, with its delay >= 0, the time since its arrival.
func (s *Totals) Leave(class int, delay float64) {
	s.Left[class]++
	s.Sojourn[class] += delay
	if s.Delays != nil {
		s.countDelay(class, delay)
	}
}

// countDelay is a separate function so that Leave is inlined.
//
//go:noinline
func (s *Totals) countDelay(class int, delay float64) {
	if !(delay >= 0 && delay <= math.MaxFloat64) {
		panic(fmt.Sprintf("sim: a job of class %d has the delay %v", class, delay)) // a broken invariant of the engine
	}
	s.Delays[class].add(delay)
}

// NewTotals returns empty totals for an engine of the system.
func (d *Description) NewTotals() *Totals {
	return NewTotals(len(d.Classes)+len(d.Visits), len(d.Servers))
}

// Add adds t units of time with n jobs.
func (s *Totals) Add(n int, t float64) {
	if n >= len(s.Count) {
		s.Count = append(s.Count, make([]float64, n+1-len(s.Count))...)
	}
	s.Count[n] += t
	s.Square += float64(n) * float64(n) * t
}

// A Population counts the jobs of an engine in continuous time. A count is added to totals when it
// changes, multiplied by how long it has lasted, so an event takes constant time for any number of
// classes. Times count from the start of the current advance.
type Population struct {
	Total   int       // jobs
	Present []int     // jobs by class
	counted float64   // time up to which Total is counted
	changed []float64 // by class, time up to which Present is counted
}

// NewPopulation returns the population of an empty system.
func NewPopulation(classes int) Population {
	return Population{Present: make([]int, classes), changed: make([]float64, classes)}
}

// Change adds the jobs up to now to the totals, and then changes the number of jobs of a class.
func (p *Population) Change(class, by int, now float64, seen *Totals) {
	seen.Add(p.Total, now-p.counted)
	seen.Jobs[class] += float64(p.Present[class]) * (now - p.changed[class])
	p.counted, p.changed[class] = now, now
	p.Total += by
	p.Present[class] += by
}

// Flush adds the jobs until the end of an advance at time t, which becomes time 0.
func (p *Population) Flush(t float64, seen *Totals) {
	seen.Time += t
	seen.Add(p.Total, t-p.counted)
	for class, n := range p.Present {
		seen.Jobs[class] += float64(n) * (t - p.changed[class])
	}
	p.counted = 0
	clear(p.changed)
}

// MaxJobs is the largest number of jobs that may be present at the same time.
const MaxJobs = 10_000_000

// ErrTooManyJobs is wrapped by the error of a run in which too many jobs accumulate: more than
// [MaxJobs] at a time, or fewer if each job has many servers.
var ErrTooManyJobs = errors.New("too many jobs are present at a time")

// ErrTooManyStates is wrapped by the error of a run under balanced fairness that needs the balance
// function at more states than memory or time allow.
var ErrTooManyStates = errors.New("the model is too large")

// CheckJobs returns an error that wraps [ErrTooManyJobs] if the number of jobs exceeds a limit.
func CheckJobs(jobs, limit int) error {
	if jobs <= limit {
		return nil
	}
	return fmt.Errorf("%w, %d, and the most is %d: lower the load or, with a horizon, shorten it",
		ErrTooManyJobs, jobs, limit)
}
