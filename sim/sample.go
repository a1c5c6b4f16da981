package sim

import (
	"context"
	"iter"
	"math"
)

// A Sample is what one replication saw.
type Sample struct {
	Time    float64   `json:"time"`    // observed after the warm-up
	Jumps   float64   `json:"jumps"`   // arrivals, ends of phases and interruptions observed
	Jobs    []float64 `json:"jobs"`    // time average of the number of jobs, by class
	Square  float64   `json:"square"`  // time average of n², n the number of jobs in all
	Count   []float64 `json:"count"`   // part of the time with n = 0, 1, ..., Settings.Distribution jobs
	Busy    []float64 `json:"busy"`    // part of the time a server is busy, by row of servers
	Sojourn []float64 `json:"sojourn"` // mean sojourn time of the jobs that left, by class; 0 if none did
	Left    []float64 `json:"left"`    // jobs that left, by class
	Series  []float64 `json:"series"`  // time averages of n over equal parts of the time, the warm-up first

	Farm  *FarmSample  `json:"farm,omitempty"`  // of a farm, else nil
	Tasks *TasksSample `json:"tasks,omitempty"` // of Tasks, else nil; in a standing population n is the number of tasks that run
}

// parts is the length of Sample.Series: 250 averages, in the fives of MSER-5.
const parts = 50

// observe runs an engine through the warm-up and the time observed. What is seen in the warm-up counts for the series only.
func observe(ctx context.Context, e engine, p *Plan) (*Sample, error) {
	s := &Sample{}
	y := newTally(len(p.classes), len(p.servers))
	now, warm := 0.0, false
	var jobs, time float64 // ∫ n dt and time in the part
	pass := func(until float64) error {
		jobs, time = jobs-y.total(), time-y.time
		for piece := range p.pieces(until - now) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.advance(piece, y); err != nil {
				return err
			}
		}
		jobs, time = jobs+y.total(), time+y.time
		now = until
		return nil
	}
	for k := range parts {
		end := p.partEnd(k)
		jobs, time = 0, 0
		if !warm && p.warmUp <= end {
			if err := pass(p.warmUp); err != nil {
				return nil, err
			}
			y, warm = newTally(len(p.classes), len(p.servers)), true
		}
		if err := pass(end); err != nil {
			return nil, err
		}
		s.Series = append(s.Series, jobs/time)
	}
	s.Time, s.Jumps, s.Square = y.time, y.jumps, y.square/y.time
	for i := range y.jobs {
		s.Jobs = append(s.Jobs, y.jobs[i]/y.time)
		mean := 0.0
		if y.left[i] > 0 {
			mean = y.sojourn[i] / y.left[i]
		}
		s.Sojourn = append(s.Sojourn, mean)
	}
	s.Left = y.left
	for k, b := range y.busy {
		s.Busy = append(s.Busy, b/(y.time*float64(p.servers[k].Size)))
	}
	if p.settings.Distribution > 0 {
		s.Count = make([]float64, p.settings.Distribution+1)
		for n, t := range y.count[:min(len(y.count), len(s.Count))] {
			s.Count[n] = t / y.time
		}
	}
	if y.farm != nil {
		var err error
		if s.Farm, err = y.farm.sample(y.left, p.slowdown); err != nil {
			return nil, err
		}
	}
	if y.tasks != nil {
		s.Tasks = y.tasks.sample(y.time)
	}
	return s, nil
}

// partEnd returns the time at which part k of the series ends.
func (p *Plan) partEnd(k int) float64 { return (p.warmUp + p.time) / parts * float64(k+1) }

// pieces cuts a length of time into pieces of at most about a million fast steps each, between which a run can be stopped.
func (p *Plan) pieces(length float64) iter.Seq[float64] {
	n := math.Ceil(length * p.stepRate * max(p.stepCost, 1) / 1e6)
	return func(yield func(float64) bool) {
		for k := 0.0; k < n && yield(length/n); k++ {
		}
	}
}
