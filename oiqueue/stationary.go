package oiqueue

import (
	"fmt"
	"math/big"
	"math/bits"
)

// A Result holds the stationary measures of a [Queue] in float64.
type Result struct {
	Normalization      float64   // Z = Σ_x Φ(x) Π_i λ_i^x_i
	EmptyProbability   float64   // π(∅) = 1/Z
	MeanJobs           []float64 // E[X_i], jobs of class i
	Slack              float64   // min_A 1 - Σ_{i∈A} λ_i/μ(A)
	States             int       // size of the table
	RelativeErrorBound float64   // proved, for each number above
}

// Stationary returns the measures of [StationaryExact], with its conditions and errors, in
// float64: for all classes at once by one sweep up for G and one down for its adjoint
//
//	H(y) (μ(y) - Σ_{i: y_i=m_i} λ_i) = 1 + Σ_{i: y_i<m_i} λ_i H(y+e_i),
//	λ_i ∂Z/∂λ_i = λ_i Σ_{y: y_i>0} H(y) (G(y-e_i) + G(y) [y_i=m_i]).
//
// It takes O(N Π_i (m_i+1)) operations and 24 bytes a state beside the rationals of the rates;
// at most 2^20 states (20 classes with Rank).
//
// The bound: the factors μ(y) - Σ λ_i are subtracted exactly and rounded once, all else adds, multiplies
// and divides positive numbers, and with K = Σ m_i no number carries more than
// n = 2K(N+4) + 2 log_2(states) + 26 roundings of relative size u = 2^-53, hence a relative error of
// at most n u/(1 - n u) (Higham, Accuracy and Stability of Numerical Algorithms, 2002, Lemma 3.1), however near
// the queue is to instability. Where a value leaves the range in which nothing underflows or
// overflows, the error wraps [ErrFloatRange].
func Stationary(q *Queue) (*Result, error) {
	t, err := newTable(q, maxStates)
	if err != nil {
		return nil, err
	}
	lambda := make([]float64, len(q.ArrivalRates))
	for i, l := range q.ArrivalRates {
		if lambda[i], err = inRange(l, "arrival rate"); err != nil {
			return nil, err
		}
	}
	drain := make([]float64, t.states)
	for s := 1; s < t.states; s++ {
		if drain[s], err = inRange(t.drain[s], "difference of service and arrival rate"); err != nil {
			return nil, err
		}
	}
	g := t.sweepUp(lambda, drain)
	h := t.sweepDown(lambda, drain)
	for s := range g {
		if !(g[s] == 0 || g[s] >= small && g[s] <= large) || s > 0 && !(h[s] >= small && h[s] <= large) {
			return nil, fmt.Errorf("oiqueue: %w: intermediate sums leave [%g, %g]; StationaryExact has no such limit", ErrFloatRange, small, large)
		}
	}
	z := pairwise(g)
	mean := make([]float64, len(lambda))
	terms := drain // no longer needed
	for i := range mean {
		t.adjointTerms(i, g, h, terms)
		mean[i] = lambda[i] * pairwise(terms) / z
	}
	k := 0
	for _, m := range t.top {
		k += m
	}
	n := float64(2*k*(len(lambda)+4) + 2*bits.Len(uint(t.states)) + 26)
	slack, _ := t.slack.Float64()
	return &Result{z, 1 / z, mean, slack, t.states, n * 0x1p-53 / (1 - n*0x1p-53) * (1 + 0x1p-50)}, nil
}

// Rates stay within 2^±200 and sums within 2^±400 or are 0, so that no product of two sums and
// a rate, nor a sum of 2^20 of them, underflows or overflows.
const (
	small     = 0x1p-400
	large     = 0x1p400
	smallRate = 0x1p-200
	largeRate = 0x1p200
)

func inRange(r *big.Rat, what string) (float64, error) {
	f, _ := r.Float64()
	if !(f == 0 && r.Sign() == 0 || f >= smallRate && f <= largeRate) {
		return 0, fmt.Errorf("oiqueue: %w: %s %.3g, want %g to %g; StationaryExact has no such limit", ErrFloatRange, what, f, smallRate, largeRate)
	}
	return f, nil
}

// sweepUp returns G. Each level Σ y_i adds at most N+3 roundings.
func (t *table) sweepUp(lambda, drain []float64) []float64 {
	g := make([]float64, t.states)
	g[0] = 1
	for s, y := 1, t.first(); s < t.states; s++ {
		t.up(y)
		flow := 0.0
		for i, yi := range y {
			if yi > 0 {
				flow += lambda[i] * g[s-t.stride[i]]
			}
		}
		g[s] = flow / drain[s]
	}
	return g
}

// sweepDown returns H, with H(0) = 0 unused. Each level adds at most N+4 roundings to the two at the top.
func (t *table) sweepDown(lambda, drain []float64) []float64 {
	h := make([]float64, t.states)
	y := append([]int(nil), t.top...)
	for s := t.states - 1; s > 0; s-- {
		flow := 1.0
		for i, yi := range y {
			if yi < t.top[i] {
				flow += lambda[i] * h[s+t.stride[i]]
			}
		}
		h[s] = flow / drain[s]
		t.down(y)
	}
	return h
}

// adjointTerms sets terms[y] = H(y) (G(y-e_i) + G(y) [y_i=m_i]), 0 if y_i = 0.
func (t *table) adjointTerms(i int, g, h, terms []float64) {
	stride, top := t.stride[i], t.top[i]
	for s := range terms {
		switch yi := s / stride % (top + 1); yi {
		case 0:
			terms[s] = 0
		case top:
			terms[s] = h[s] * (g[s-stride] + g[s])
		default:
			terms[s] = h[s] * g[s-stride]
		}
	}
}

// pairwise sums v by halves, so that each entry takes part in at most log_2(len(v)) + 8 additions.
func pairwise(v []float64) float64 {
	if len(v) > 8 {
		half := len(v) / 2
		return pairwise(v[:half]) + pairwise(v[half:])
	}
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}
