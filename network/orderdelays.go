package network

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/network/internal/convolution"
	"productform/num"
)

// mostSteps and mostStepWork limit the steps of an answer and the products that these take: at the
// limit, about a quarter of an hour.
const (
	mostSteps    = 1 << 24
	mostStepWork = 1 << 36
)

// orderDelays answers for a station with Order. Visits that the station does not distinguish, of
// one closed chain or of open chains, have equal times.
func (d *delaySolver) orderDelays() ([]VisitDelays, error) {
	m, st := d.problem.model, &d.sys.Stations[d.question.Station]
	all := make([]VisitDelays, len(st.Visits))
	var rest []arithmetic.Number // by population; nil if no closed chain visits the station
	if !slices.Contains(d.problem.Apart, d.question.Station) {
		if err := d.problem.Check(num.Float, 0, d.request.MaxBytes); err != nil {
			return nil, err
		}
		var err error
		if rest, err = d.problem.Rest(d.ctx, d.question.Station); err != nil {
			return nil, err
		}
	}
	found := map[int]*convolution.Arrivals{} // by closed chain, -1 for open ones
	for kind, k := range st.Shared.Kinds {
		if found[k.K] == nil {
			var err error
			if found[k.K], err = d.found(k.K, rest); err != nil {
				return nil, err
			}
		}
		of, err := d.kindDelays(found[k.K], kind)
		if err != nil {
			return nil, err
		}
		for _, row := range k.Visits {
			v := &st.Visits[row]
			all[row] = *of
			all[row].Name, all[row].Class, all[row].Visit = m.Classes[v.Class].Name, v.Class, v.Visit
		}
	}
	return all, nil
}

// found returns the jobs that a job of the closed chain k (-1 for none) finds at the station, given
// the product of the other stations. They do not include the job itself.
func (d *delaySolver) found(k int, rest []arithmetic.Number) (*convolution.Arrivals, error) {
	one, shared := arithmetic.One(num.Float, 0), d.sys.Stations[d.question.Station].Shared
	if rest == nil {
		t, err := shared.Tabulate(d.ctx, nil, nil, one)
		if err != nil {
			return nil, err
		}
		return convolution.NewArrivals(d.ctx, t, []arithmetic.Number{one})
	}
	most := slices.Clone(d.problem.Most)
	for axis, place := range d.problem.Order {
		if place == k {
			most[axis]--
		}
	}
	t, err := shared.Tabulate(d.ctx, d.problem.Order, most, one)
	if err != nil {
		return nil, err
	}
	return convolution.NewArrivals(d.ctx, t, t.Elsewhere(rest, d.problem.Most))
}

// kindDelays returns the times of a job of a kind.
func (d *delaySolver) kindDelays(t *convolution.Arrivals, kind int) (*VisitDelays, error) {
	r := &VisitDelays{}
	delay, err := t.NewSojourn(d.ctx, kind, false)
	if err != nil {
		return nil, err
	}
	if r.Quantiles, r.Tails, err = d.lawTimes(delay, d.sojournUnit(delay)); err != nil {
		return nil, err
	}
	waiting, err := t.NewSojourn(d.ctx, kind, true)
	if err != nil {
		return nil, err
	}
	if r.Waiting.Quantiles, r.Waiting.Tails, err = d.lawTimes(waiting, d.sojournUnit(waiting)); err != nil {
		return nil, err
	}
	waits, err := waiting.Probability(d.ctx)
	if err != nil {
		return nil, err
	}
	mean, err := waiting.Mean(d.ctx)
	if err != nil {
		return nil, err
	}
	r.Waiting.Probability = boundsOf(waits)
	mean = mean.Mul(mean.Rational(d.meanSize()))
	value := boundsOf(mean)
	r.Waiting.Mean = &value
	return r, nil
}

// boundsOf returns a number in float64 with its bounds.
func boundsOf(x arithmetic.Number) num.Value {
	v, _ := x.Value()
	return enclosure(v, x.Bound).Value()
}

// meanSize returns σ of the visits to the station.
func (d *delaySolver) meanSize() *big.Rat {
	first := &d.sys.Stations[d.question.Station].Visits[0]
	return d.problem.model.Classes[first.Class].Visits[first.Visit].size()
}

// sojournUnit returns the time between the points of a sojourn.
func (d *delaySolver) sojournUnit(s *convolution.Sojourn) *big.Rat {
	return new(big.Rat).Quo(d.meanSize(), s.Rate())
}

// A walk computes the distribution of a time at the points of a Poisson process.
type walk interface {
	ExtendTo(ctx context.Context, n int) error // takes steps until there are n
	// Tails returns P(time > k points) for the steps taken, with a bound on the relative errors.
	Tails() (tails []float64, relative float64)
	Work() float64 // products of a step
}

// lawTimes returns the requested quantiles and tails of a time, given the mean time between points.
func (d *delaySolver) lawTimes(s walk, unit *big.Rat) (quantiles, tails []num.Value, err error) {
	q := delays.Question{Times: [][]*big.Rat{d.question.Times}}
	for _, p := range d.question.Levels {
		q.Tails = append(q.Tails, new(big.Rat).Sub(big.NewRat(1, 1), p))
	}
	law, err := d.survival(s, q, unit)
	if err != nil {
		return nil, nil, err
	}
	for i, tail := range q.Tails {
		if below, _ := arithmetic.Around(tail); law.A[0]*(1+law.Bound) <= below {
			quantiles = append(quantiles, num.ExactValue(new(big.Rat))) // most jobs do not wait
			continue
		}
		a, err := law.Answer(d.ctx, q.Tails[i:i+1], nil, unit)
		if err != nil {
			return nil, nil, err
		}
		x := a.Quantiles[0]
		if width := widthOf(x, unit); x.Low.Sign() > 0 && width > max(d.request.RelTol, 0x1p-48) {
			return nil, nil, input.Errorf("RelTol", d.request.RelTol,
				"at least %.2g, the relative width of the bounds on this quantile in float64", width)
		}
		quantiles = append(quantiles, x.Value())
	}
	a, err := law.Answer(d.ctx, nil, d.question.Times, unit)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range a.Tails {
		tails = append(tails, x.Value())
	}
	return quantiles, tails, nil
}

// widthOf returns the width of bounds on a time, in units of the time or of the mean time between
// points if that is larger: the quantile of a waiting time may be close to 0.
func widthOf(x num.Interval, unit *big.Rat) float64 {
	low, high := x.Value().Bounds()
	return (high - low) / max(low, num.Nearest(unit))
}

// firstSteps is the initial number of steps.
const firstSteps = 64

// survival takes as many steps as a question needs.
func (d *delaySolver) survival(s walk, q delays.Question, unit *big.Rat) (delays.Survival, error) {
	least, latest := q.Extremes(unit)
	for steps := firstSteps; ; {
		if work := float64(steps) * s.Work(); steps > mostSteps || work > mostStepWork {
			bad := input.Errorf("times", fmt.Sprintf("%d steps", steps),
				"times and levels that take fewer than %d steps in time and %.2g products; these take at least %.2g",
				mostSteps, float64(mostStepWork), work)
			return delays.Survival{}, &num.TooLargeError{
				Input:   bad,
				States:  s.Work(),
				Instead: []num.Remedy{num.Simulation},
			}
		}
		if err := s.ExtendTo(d.ctx, steps); err != nil {
			return delays.Survival{}, err
		}
		law, tail := delays.NewSurvival(s.Tails()), least
		if law.A[0] <= tail {
			tail = 1 // the quantile is 0
		}
		want := law.Wanted(tail, latest)
		if want <= float64(steps) {
			return law, nil
		}
		steps = delays.NextSteps(steps, want)
	}
}
