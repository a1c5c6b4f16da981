package sizes

import (
	"math"
	"math/rand/v2"
)

// deterministic is the distribution of a constant.
type deterministic struct{ size float64 }

// NewDeterministic returns the distribution of jobs that all have the given size. The error names a
// size out of range.
func NewDeterministic(size float64) (Distribution, error) {
	if err := checkPositive("size", size); err != nil {
		return nil, err
	}
	return deterministic{size}, nil
}

func (d deterministic) String() string { return "deterministic of size " + text(d.size) }

func (d deterministic) Moment(order float64) (float64, error) {
	return d.PartialMoment(order, 0, math.Inf(1))
}

func (d deterministic) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	if low < d.size && d.size <= high {
		return finite(math.Pow(d.size, order))
	}
	return 0, nil
}

func (d deterministic) scv() (float64, error) { return 0, nil }

func (d deterministic) CDF(x float64) float64 { return 1 - d.Survival(x) }

func (d deterministic) Survival(x float64) float64 {
	mustNotBeNaN(x)
	if x < d.size {
		return 1
	}
	return 0
}

func (d deterministic) Quantile(p float64) (float64, error) {
	if err := checkProbability(p, true); err != nil {
		return 0, err
	}
	return d.size, nil
}

func (d deterministic) Sample(*rand.Rand) float64 { return d.size }

func (d deterministic) Support() (low, high float64, bounded bool) { return d.size, d.size, true }

func (d deterministic) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	return NewDeterministic(d.size * factor)
}
