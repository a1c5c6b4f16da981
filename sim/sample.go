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
	Series  []float64 `json:"series"`  // time averages of n over equal parts of the warm-up and what follows
}

// parts is the length of Sample.Series: 250 averages, in the fives of MSER-5.
const parts = 50

// observe runs an engine through the warm-up and the time observed.
func observe(ctx context.Context, e engine, p *Plan) (*Sample, error) {
	warmParts := p.warmParts()
	s := &Sample{}
	y := newTally(len(p.classes), len(p.servers))
	for k := range parts {
		length := p.time / float64(parts-warmParts)
		if k < warmParts {
			length = p.warmUp / float64(warmParts)
		}
		if k == warmParts {
			y = newTally(len(p.classes), len(p.servers))
		}
		before, from := y.total(), y.time
		for piece := range p.pieces(length) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := e.advance(piece, y); err != nil {
				return nil, err
			}
		}
		s.Series = append(s.Series, (y.total()-before)/(y.time-from))
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
	return s, nil
}

// warmParts returns how many of the parts of the series are the warm-up.
func (p *Plan) warmParts() int {
	if p.warmUp == 0 {
		return 0
	}
	return min(max(int(parts*p.warmUp/(p.warmUp+p.time)+0.5), 1), parts-1)
}

// pieces cuts a length of time into pieces of about a million steps each, between which a run can be stopped.
func (p *Plan) pieces(length float64) iter.Seq[float64] {
	n := math.Floor(length*p.stepRate/1e6) + 1
	return func(yield func(float64) bool) {
		for k := 0.0; k < n && yield(length/n); k++ {
		}
	}
}
