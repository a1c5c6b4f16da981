package sim

import (
	"context"
	"fmt"
	"iter"
	"math"
)

// A Sample holds the observations of one replication. n is the number of jobs present, unless the
// system counts something other than jobs.
type Sample struct {
	Time  float64 `json:"time"`  // observed time after the warm-up
	Jumps float64 `json:"jumps"` // arrivals, ends of phases and interruptions observed
	// time average of the number of jobs by class, then by visit; all lists by class continue with
	// visits
	Jobs    []float64 `json:"jobs"`
	Square  float64   `json:"square"`  // time average of n²
	Count   []float64 `json:"count"`   // fraction of time with n = 0, 1, ..., Settings.Distribution
	Busy    []float64 `json:"busy"`    // fraction of time a server is busy, by group of servers
	Sojourn []float64 `json:"sojourn"` // mean delay of the departed jobs, by class; 0 if there are none
	Left    []float64 `json:"left"`    // number of departed jobs, by class
	Series  []float64 `json:"series"`  // time averages of n over equal parts of the time, starting with the warm-up

	Delays []Histogram `json:"delays,omitempty"` // delays of the departed jobs, by class, if quantiles are requested

	// measures specific to the system, by name; nil if nothing was observed
	Own map[string][]*float64 `json:"own,omitempty"`
}

// parts is the length of Sample.Series: means over 250 intervals, in groups of five as in MSER-5.
const parts = 50

// total returns ∫ n dt.
func (p *Plan) total(seen *Totals) float64 {
	if p.Counted.List != "" {
		return seen.Number
	}
	return Sum(seen.Jobs[:len(p.Classes)])
}

// rowName returns the name of a row of totals, which is a class or a visit.
func (p *Plan) rowName(i int) string {
	if visit := i - len(p.Classes); visit >= 0 {
		return p.Visits[visit].Name
	}
	return p.Classes[i].Name
}

// observe runs an engine through the warm-up and the observed time. The warm-up counts only for the
// series.
func (p *Plan) observe(ctx context.Context, e Engine) (*Sample, error) {
	var series []float64
	seen := p.NewTotals()
	now, warm := 0.0, false
	var number, time float64 // ∫ n dt and time in the current part
	pass := func(until float64) error {
		number, time = number-p.total(seen), time-seen.Time
		for piece := range p.pieces(until - now) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.Advance(piece, seen); err != nil {
				return err
			}
		}
		number, time = number+p.total(seen), time+seen.Time
		now = until
		return nil
	}
	for k := range parts {
		end := p.partEnd(k)
		number, time = 0, 0
		if !warm && p.warmUp <= end {
			if err := pass(p.warmUp); err != nil {
				return nil, err
			}
			seen, warm = p.NewTotals(), true
			if len(p.settings.Levels) > 0 {
				seen.Delays = make([]Counter, len(seen.Jobs))
			}
			if own, ok := e.(Observer); ok {
				own.Restart()
			}
		}
		if err := pass(end); err != nil {
			return nil, err
		}
		series = append(series, number/time)
	}
	s := p.sample(seen)
	s.Series = series
	for i := range seen.Delays {
		h := seen.Delays[i].histogram()
		if counted := float64(h.Total()); counted != s.Left[i] {
			return nil, fmt.Errorf(
				"the engine reported the delays of %g of the %g departed jobs of class %s; want all, by Totals.Leave",
				counted, s.Left[i], p.rowName(i),
			)
		}
		s.Delays = append(s.Delays, h)
	}
	if own, ok := e.(Observer); ok {
		var err error
		if s.Own, err = own.Observed(seen); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// sample returns the means over the observed time.
func (p *Plan) sample(seen *Totals) *Sample {
	s := &Sample{Time: seen.Time, Jumps: seen.Jumps, Square: seen.Square / seen.Time, Left: seen.Left}
	for i := range seen.Jobs {
		s.Jobs = append(s.Jobs, seen.Jobs[i]/seen.Time)
		mean := 0.0
		if seen.Left[i] > 0 {
			mean = seen.Sojourn[i] / seen.Left[i]
		}
		s.Sojourn = append(s.Sojourn, mean)
	}
	for k, b := range seen.Busy {
		s.Busy = append(s.Busy, b/(seen.Time*float64(p.Servers[k].Size)))
	}
	if p.settings.Distribution > 0 {
		s.Count = make([]float64, p.settings.Distribution+1)
		for n, t := range seen.Count[:min(len(seen.Count), len(s.Count))] {
			s.Count[n] = t / seen.Time
		}
	}
	return s
}

// partEnd returns the time at which part k of the series ends.
func (p *Plan) partEnd(k int) float64 { return (p.warmUp + p.time) / parts * float64(k+1) }

// pieces divides a period into pieces of at most about a million fast steps each. A run can be
// stopped between pieces.
func (p *Plan) pieces(length float64) iter.Seq[float64] {
	n := math.Ceil(length * p.StepRate * max(p.StepCost, 1) / 1e6)
	return func(yield func(float64) bool) {
		for k := 0.0; k < n && yield(length/n); k++ {
		}
	}
}

// Sum returns the sum of values, added in order.
func Sum[T int | float64](values []T) T {
	var s T
	for _, v := range values {
		s += v
	}
	return s
}
