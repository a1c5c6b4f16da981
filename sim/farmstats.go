package sim

import (
	"errors"
	"math"
	"slices"

	"productform/sizes"
)

// A farmTally adds up what is seen of a farm and of no other system.
type farmTally struct {
	jobs  []jobsTally // by class
	hosts []hostTally
}

// A jobsTally is of the jobs of a class that left.
type jobsTally struct {
	waiting  float64 // sum of their times in queues
	slowdown float64 // sum of their times in queues over their sizes
}

// A hostTally is of the visits to a host.
type hostTally struct {
	visits, wait         float64 // visits that came to be served, and the sum of their times in the queue
	gaps, gap, gapSquare float64 // times between arrivals: number, sum and sum of squares, in units of 1/λ
}

// A FarmSample is what one replication saw of a farm. Means of nothing are 0.
type FarmSample struct {
	Waiting   []float64 `json:"waiting"`    // mean time in queues of the jobs that left, by class
	Slowdown  []float64 `json:"slowdown"`   // mean of this time over the size, by class; 0 where E[1/X] is infinite
	Visits    []float64 `json:"visits"`     // visits that came to be served, by host
	VisitWait []float64 `json:"visit_wait"` // mean time in the queue of these visits, by host
	Gaps      []float64 `json:"gaps"`       // times between arrivals seen, by host
	GapSCV    []float64 `json:"gap_scv"`    // squared coefficient of variation of these times; 0 for fewer than two
}

// errSlowdown is the error of slowdowns that leave float64.
var errSlowdown = errors.New("sim: slowdowns sum to more than 1e308: sizes are too small beside the times in queues")

// sample returns the means, given how many jobs of each class left and which mean slowdowns are finite.
func (y *farmTally) sample(left []float64, finite []bool) (*FarmSample, error) {
	s := &FarmSample{}
	for i, c := range y.jobs {
		waiting, slowdown := 0.0, 0.0
		if left[i] > 0 {
			waiting = c.waiting / left[i]
			if finite[i] {
				slowdown = c.slowdown / left[i]
			}
		}
		if !(slowdown <= math.MaxFloat64) {
			return nil, errSlowdown
		}
		s.Waiting, s.Slowdown = append(s.Waiting, waiting), append(s.Slowdown, slowdown)
	}
	for _, h := range y.hosts {
		wait, scv := 0.0, 0.0
		if h.visits > 0 {
			wait = h.wait / h.visits
		}
		if h.gaps >= 2 && h.gap > 0 {
			mean := h.gap / h.gaps
			scv = max(0, h.gapSquare/h.gaps/mean/mean-1)
		}
		s.Visits, s.VisitWait = append(s.Visits, h.visits), append(s.VisitWait, wait)
		s.Gaps, s.GapSCV = append(s.Gaps, h.gaps), append(s.GapSCV, scv)
	}
	return s, nil
}

// summarizeFarm adds what only farms tell. column estimates a value of samples.
func (p *Plan) summarizeFarm(r *Result, samples []*Sample, column func(func(*Sample) float64) Estimate) {
	seen := func(count, value func(*Sample) float64, least float64) *Estimate {
		if !all(samples, func(s *Sample) bool { return count(s) >= least }) {
			return nil
		}
		e := column(value)
		return &e
	}
	for i := range r.Classes {
		c, left := &r.Classes[i], func(s *Sample) float64 { return s.Left[i] }
		c.MeanWaiting = seen(left, func(s *Sample) float64 { return s.Farm.Waiting[i] }, 1)
		if p.slowdown[i] {
			c.MeanSlowdown = seen(left, func(s *Sample) float64 { return s.Farm.Slowdown[i] }, 1)
		}
	}
	left := func(s *Sample) float64 { return sum(s.Left) }
	r.MeanWaiting = seen(left, func(s *Sample) float64 { return overJobs(s, s.Farm.Waiting) }, 1)
	if p.allSlowdowns() {
		r.MeanSlowdown = seen(left, func(s *Sample) float64 { return overJobs(s, s.Farm.Slowdown) }, 1)
	}
	for k := range r.Servers {
		h := &r.Servers[k]
		h.MeanWaiting = seen(func(s *Sample) float64 { return s.Farm.Visits[k] }, func(s *Sample) float64 { return s.Farm.VisitWait[k] }, 1)
		h.InterarrivalSCV = seen(func(s *Sample) float64 { return s.Farm.Gaps[k] }, func(s *Sample) float64 { return s.Farm.GapSCV[k] }, 2)
	}
}

// judgeWaiting warns where next to no job waited in any run, so that intervals are of no use.
func (r *Result) judgeWaiting() {
	if r.MeanWaiting != nil && r.MeanWaiting.Mean == 0 {
		r.warn("more or longer runs are needed: no job waited in any of them")
	}
}

// allSlowdowns reports whether the mean slowdown of all jobs of a farm is finite.
func (p *Plan) allSlowdowns() bool { return p.slowdown != nil && !slices.Contains(p.slowdown, false) }

// judgeSlowdown looks for small sizes, which a run cannot have seen, that make up much of a mean slowdown.
func (p *Plan) judgeSlowdown(r *Result, law sizes.Distribution, arrived float64) {
	if !p.allSlowdowns() {
		return
	}
	whole, err := law.Moment(-1)
	once, quantileErr := law.Quantile(1 / max(arrived, 2))
	rare, momentErr := law.PartialMoment(-1, 0, math.Nextafter(once, 0))
	if err == nil && quantileErr == nil && momentErr == nil && rare > muchRare*whole {
		r.warn("more or longer runs are needed: sizes below %.3g, of which all runs together see about one, make up %.3g %% of the mean of 1/size, on which slowdowns depend",
			once, 100*rare/whole)
	}
}
