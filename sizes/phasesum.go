package sizes

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"productform/internal/input"
)

// maxListed is the maximum number of parameters that a distribution lists in its name.
const maxListed = 8

// phaseSum is the distribution of the sum of K exponential phases with the same mean, where K is
// random and bounded.
type phaseSum struct {
	probs  []float64 // P(K = k) at index k-1; the last one is > 0
	phase  float64
	count  indexTable
	biased [4]biasedCount // for orders -1, 0, 1, 2
	left   []float64      // E[(K-j)^+] at index j < n
}

// A biasedCount is the distribution of a number of phases K' = K + r in which K has weight E[T^r],
// with T the sum of K phases of mean 1. Since x^r times the gamma density of shape k is Γ(k+r)/Γ(k)
// times the density of shape k+r,
//
//	E[T^r; a < T <= b] = total P(a < T' <= b),  T' the sum of K' phases,  r an integer, K + r >= 1.
type biasedCount struct {
	total      float64   // Σ_k P(K = k) Γ(k+r)/Γ(k), k+r >= 1
	head, tail []float64 // P(K' <= j) and P(K' > j) at index j
}

func newBiasedCount(probs []float64, r int) biasedCount {
	n := len(probs) + r
	if n < 1 {
		return biasedCount{}
	}
	c := biasedCount{0, make([]float64, n+1), make([]float64, n+1)}
	weights := make([]float64, n+1)
	for j := 1; j <= n; j++ {
		if k := j - r; k >= 1 {
			weights[j] = probs[k-1] * gammaMoment(k, float64(r))
			c.total += weights[j]
		}
	}
	for j := 1; j <= n; j++ {
		c.head[j] = min(1, c.head[j-1]+weights[j]/c.total)
	}
	for j := n - 1; j >= 0; j-- {
		c.tail[j] = min(1, c.tail[j+1]+weights[j+1]/c.total)
	}
	return c
}

// tails returns P(T' <= x) and P(T' > x): if a Poisson process of rate 1 has j events up to x, the
// sum exceeds x with probability P(K' > j).
func (c biasedCount) tails(x float64) (below, above float64) {
	n := len(c.head) - 1
	switch {
	case x <= 0:
		return 0, 1
	case math.IsInf(x, 1):
		return 1, 0
	}
	above = min(1, poissonSum(x, 0, n-1, func(j int) float64 { return c.tail[j] }))
	if above < 0.5 {
		return 1 - above, above
	}
	below, _ = erlangTails(n, x)
	if n > 1 {
		below += poissonSum(x, 1, n-1, func(j int) float64 { return c.head[j] })
	}
	return min(below, 1), 1 - min(below, 1)
}

// intervalProbability returns total P(a < T' <= b) as a difference, and whether at least a
// twentieth of the minuend remains.
func (c biasedCount) intervalProbability(a, b float64) (v float64, exact bool) {
	if c.total == 0 {
		return 0, true
	}
	belowA, aboveA := c.tails(a)
	belowB, aboveB := c.tails(b)
	if aboveA < 0.5 {
		v = aboveA - aboveB
		return c.total * v, v >= aboveA/20
	}
	v = belowB - belowA
	return c.total * v, v >= belowB/20
}

// NewPhaseSum returns the distribution of the sum of K independent exponential phases of the given
// mean, where K = k with probability probs[k-1], k = 1..n, n at most 100,000. The probabilities
// must sum to 1 within 1e-12 and are divided by their sum. The error names the entry that is out of
// range. The slice is copied.
//
// CDF, Survival and partial moments of orders -1, 0, 1 and 2 over intervals that are not short take
// at most O(n) time, Quantile 63 times as long. Other partial moments take an integral, a few
// microseconds, for each k with positive probability.
func NewPhaseSum(probs []float64, phaseMean float64) (Phased, error) {
	if len(probs) < 1 || len(probs) > maxBranches {
		return nil, input.Errorf("probs", len(probs), "1 to %d probabilities", maxBranches)
	}
	p, err := normalized("probs", probs, true)
	if err != nil {
		return nil, err
	}
	return newPhaseSum(p, phaseMean)
}

func newPhaseSum(p []float64, phase float64) (Phased, error) {
	if err := checkPositive("phaseMean", phase); err != nil {
		return nil, err
	}
	for p[len(p)-1] == 0 {
		p = p[:len(p)-1]
	}
	s := phaseSum{probs: p, phase: phase, count: newIndexTable(p)}
	for i := range s.biased {
		s.biased[i] = newBiasedCount(p, i-1)
	}
	s.left = phasesLeft(s.biased[1].tail)
	return s, nil
}

// digest returns the first half of the SHA-256 sum of the numbers, in hexadecimal.
func digest(lists ...[]float64) string {
	h := sha256.New()
	var b [8]byte
	for _, list := range lists {
		for _, v := range list {
			binary.BigEndian.PutUint64(b[:], math.Float64bits(v))
			h.Write(b[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (s phaseSum) String() string {
	var list []string
	for i, p := range s.probs {
		if p > 0 && len(list) <= maxListed {
			list = append(list, fmt.Sprintf("%d with probability %s", i+1, text(p)))
		}
	}
	if len(list) > maxListed {
		return fmt.Sprintf("sum of up to %d phases of mean %s, SHA-256 prefix %s",
			len(s.probs), text(s.phase), digest(s.probs))
	}
	return "sum of phases of mean " + text(s.phase) + ", " + strings.Join(list, ", ")
}

// countMoments returns E[K] and Var(K).
func (s phaseSum) countMoments() (mean, variance float64) {
	for i, p := range s.probs {
		mean += p * float64(i+1)
	}
	for i, p := range s.probs {
		d := float64(i+1) - mean
		variance += p * d * d
	}
	return mean, variance
}

func (s phaseSum) Phases() Phases {
	mean, variance := s.countMoments()
	p := Phases{Mean: s.phase, MeanCount: mean}
	if variance == 0 {
		p.Fixed = len(s.probs)
		return p
	}
	p.Draw = func(r *rand.Rand) int { return 1 + s.count.draw(r) }
	return p
}

func (s phaseSum) Moment(order float64) (float64, error) {
	return s.PartialMoment(order, 0, math.Inf(1))
}

func (s phaseSum) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	r := newScaledRange(s.phase, low, high)
	if order == -1 || order == 0 || order == 1 || order == 2 {
		if r.diverges(1, order) && s.probs[0] > 0 {
			return 0, ErrInfinite
		}
		if v, exact := s.biased[int(order)+1].intervalProbability(r.a, r.b); exact {
			if order == -1 && s.probs[0] > 0 { // a single phase has no biased count
				v += s.probs[0] * r.moment(1, order)
			}
			return finite(math.Pow(s.phase, order) * v)
		}
	}
	var sum float64
	for i, p := range s.probs {
		if p == 0 {
			continue
		}
		if r.diverges(i+1, order) {
			return 0, ErrInfinite
		}
		sum += p * r.moment(i+1, order)
	}
	return finite(math.Pow(s.phase, order) * sum)
}

// scv returns Var(X)/E[X]² = (E[K] + Var(K))/E[K]².
func (s phaseSum) scv() (float64, error) {
	mean, variance := s.countMoments()
	return (mean + variance) / (mean * mean), nil
}

func (s phaseSum) CDF(x float64) float64 {
	mustNotBeNaN(x)
	cdf, _ := s.biased[1].tails(x / s.phase)
	return cdf
}

func (s phaseSum) Survival(x float64) float64 {
	mustNotBeNaN(x)
	_, survival := s.biased[1].tails(x / s.phase)
	return survival
}

func (s phaseSum) Quantile(p float64) (float64, error) {
	if err := checkProbability(p, false); err != nil || p == 0 {
		return 0, err
	}
	return bisectQuantile(s, p), nil
}

func (s phaseSum) Sample(r *rand.Rand) float64 { return s.phase * gammaDraw(r, 1+s.count.draw(r)) }

func (s phaseSum) Support() (low, high float64, bounded bool) { return 0, 0, false }

func (s phaseSum) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	return newPhaseSum(s.probs, s.phase*factor)
}
