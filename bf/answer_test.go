package bf

import (
	"context"
	"math/big"

	"productform/cluster"
	"productform/num"
)

// checkedRequest returns settings with defaults in place of zeros.
func checkedRequest(s Settings) request {
	s, err := s.validate()
	if err != nil {
		panic(err)
	}
	return request{Settings: s}
}

// sweepLoads answers a question at several loads.
func sweepLoads(ctx context.Context, m *cluster.Model, factors []*big.Rat, q Question, s Settings) ([]*Result, error) {
	p, err := Prepare(ctx, m)
	if err != nil {
		return nil, err
	}
	return p.Sweep(ctx, factors, q, s)
}

// gradientOf returns the derivatives of the mean number of all jobs.
func gradientOf(ctx context.Context, m *cluster.Model, s Settings) (*Gradient, error) {
	r, err := Answer(ctx, m, Question{Gradient: true}, s)
	if err != nil {
		return nil, err
	}
	return r.Gradient, nil
}

// gradientsOf returns the derivatives of the means of each class.
func gradientsOf(ctx context.Context, m *cluster.Model, s Settings) (*Gradients, error) {
	r, err := Answer(ctx, m, Question{Gradients: true}, s)
	if err != nil {
		return nil, err
	}
	return r.Gradients, nil
}

// A delayAnswer holds the requested measures of delays, without the means.
type delayAnswer struct {
	Precision
	Classes []ClassDelays
	steps   float64 // products of steps over tables in float64
}

// delaysOf answers a question about delays, without the means.
func delaysOf(ctx context.Context, m *cluster.Model, q Question, s Settings) (*delayAnswer, error) {
	p, err := Prepare(ctx, m)
	if err == nil {
		s, err = s.validate()
	}
	if err == nil {
		err = q.check(m, s)
	}
	if err != nil {
		return nil, err
	}
	r, err := p.delaysByEngines(ctx, request{Question: q, Settings: s})
	if err != nil {
		return nil, err
	}
	return &delayAnswer{r.Precision, r.classes, r.steps}, nil
}

// quantilesOf returns quantiles of the delay of a job of any class.
func quantilesOf(ctx context.Context, m *cluster.Model, levels []*big.Rat, s Settings) ([]num.Value, error) {
	r, err := Answer(ctx, m, Question{Levels: levels, OfAll: true}, s)
	if err != nil {
		return nil, err
	}
	return r.Quantiles, nil
}
