package sizes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"productform/internal/input"
)

// maxErlangPhases is the largest number of phases of an Erlang distribution; it keeps sums of K
// phases cheap.
const maxErlangPhases = 1_000_000

// erlang is the distribution of a sum of exponential phases. With one phase, it is the exponential
// distribution.
type erlang struct {
	phases int
	phase  float64 // mean of a phase
}

// NewExponential returns the exponential distribution of the given mean, P(X > x) = e^(-x/mean).
// The error names a mean out of range.
func NewExponential(mean float64) (Phased, error) {
	if err := checkPositive("mean", mean); err != nil {
		return nil, err
	}
	return erlang{1, mean}, nil
}

// NewErlang returns the distribution of the sum of 1 to 1,000,000 independent exponential phases
// with the given total mean. Its squared coefficient of variation is 1/phases. The error names the
// argument that is out of range.
func NewErlang(phases int, mean float64) (Phased, error) {
	if phases < 1 || phases > maxErlangPhases {
		return nil, input.Errorf("phases", phases, "an integer in 1..%d", maxErlangPhases)
	}
	if err := checkPositive("mean", mean); err != nil {
		return nil, err
	}
	return newErlang(phases, mean/float64(phases))
}

func newErlang(phases int, phase float64) (Phased, error) {
	if err := checkPositive("mean of a phase", phase); err != nil {
		return nil, err
	}
	return erlang{phases, phase}, nil
}

func (e erlang) String() string {
	if e.phases == 1 {
		return "exponential of mean " + text(e.phase)
	}
	return fmt.Sprintf("Erlang of %d phases of mean %s", e.phases, text(e.phase))
}

func (e erlang) Phases() Phases {
	k := float64(e.phases)
	return Phases{Mean: e.phase, MeanCount: k, Fixed: e.phases}
}

func (e erlang) Moment(order float64) (float64, error) { return e.PartialMoment(order, 0, math.Inf(1)) }

func (e erlang) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	p := newScaledRange(e.phase, low, high)
	if p.diverges(e.phases, order) {
		return 0, ErrInfinite
	}
	return finite(math.Pow(e.phase, order) * p.moment(e.phases, order))
}

// A scaledRange is an interval (a, b] in units of a phase, with l = ln(b/a).
type scaledRange struct{ a, b, l float64 }

func newScaledRange(phase, low, high float64) scaledRange {
	if low == high {
		return scaledRange{}
	}
	s := scaledRange{low / phase, high / phase, math.Inf(1)}
	if low > 0 {
		s.l = logRatio(low, high)
	}
	return s
}

// diverges reports whether the integral of t^order over the gamma distribution of shape k is
// infinite because it diverges at 0.
func (s scaledRange) diverges(k int, order float64) bool {
	return s.a == 0 && s.b > 0 && math.IsInf(s.l, 1) && float64(k)+order <= 0
}

func (s scaledRange) moment(k int, order float64) float64 {
	return gammaPartial(k, order, s.a, s.b, s.l)
}

func (e erlang) scv() (float64, error) { return 1 / float64(e.phases), nil }

func (e erlang) CDF(x float64) float64 {
	mustNotBeNaN(x)
	cdf, _ := erlangTails(e.phases, x/e.phase)
	return cdf
}

func (e erlang) Survival(x float64) float64 {
	mustNotBeNaN(x)
	_, survival := erlangTails(e.phases, x/e.phase)
	return survival
}

func (e erlang) Quantile(p float64) (float64, error) {
	if err := checkProbability(p, false); err != nil {
		return 0, err
	}
	switch {
	case p == 0:
		return 0, nil
	case e.phases == 1:
		return -e.phase * math.Log1p(-p), nil
	}
	return bisectQuantile(e, p), nil
}

func (e erlang) Sample(r *rand.Rand) float64 { return e.phase * gammaDraw(r, e.phases) }

func (e erlang) Support() (low, high float64, bounded bool) { return 0, 0, false }

func (e erlang) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	return newErlang(e.phases, e.phase*factor)
}

// maxSpread is the largest ratio of the means of a hyperexponential distribution. It ensures that
// counts of phases fit an int: see geometricDraw.
const maxSpread int = min(1e9, math.MaxInt/100)

// hyperexponential is a mixture of exponential distributions.
type hyperexponential struct {
	probs, means []float64
	branch       indexTable
}

// NewHyperexponential returns the mixture of exponential distributions that has mean means[i] with
// probability probs[i]. The means may span a factor of at most 1e9, or 2.1e7 if an int has 32 bits.
// The probabilities, each > 0, must sum to 1 within 1e-12; they are divided by their sum, so
// decimals need not add up exactly. The error names the entry that is out of range. The slices are
// copied.
//
// As a sum of phases with the smallest mean m, a size of branch i has a geometric number of phases
// K, with P(K > k) = (1 - m/means[i])^k.
func NewHyperexponential(probs, means []float64) (Phased, error) {
	if len(probs) < 1 || len(probs) > maxBranches {
		return nil, input.Errorf("probs", len(probs), "1 to %d probabilities", maxBranches)
	}
	if len(means) != len(probs) {
		return nil, input.Errorf("means", len(means), "%d means, one per probability", len(probs))
	}
	p, err := normalized("probs", probs, false)
	if err != nil {
		return nil, err
	}
	return newHyperexponential(p, append([]float64(nil), means...))
}

const maxBranches = 100_000

func newHyperexponential(p, means []float64) (Phased, error) {
	low, high := math.Inf(1), 0.0
	for i, m := range means {
		if err := checkPositive(fmt.Sprintf("means[%d]", i), m); err != nil {
			return nil, err
		}
		low, high = min(low, m), max(high, m)
	}
	if high/low > float64(maxSpread) {
		return nil, input.Errorf("means", fmt.Sprintf("%v to %v", low, high), "means that span a factor of at most %d",
			maxSpread)
	}
	return hyperexponential{p, means, newIndexTable(p)}, nil
}

// NewBalancedHyperexponential returns the mixture of two exponential distributions with the given
// mean and squared coefficient of variation c in (1, 1e8], and balanced means, p_1 m_1 = p_2 m_2 =
// mean/2: p_1 = (1 + s)/2 with s² = (c-1)/(c+1). The error names the argument that is out of range.
func NewBalancedHyperexponential(mean, scv float64) (Phased, error) {
	if err := checkPositive("mean", mean); err != nil {
		return nil, err
	}
	if !(scv > 1 && scv <= 1e8) {
		return nil, input.Errorf("scv", scv, "a number in (1, 1e8]")
	}
	s := math.Sqrt((scv - 1) / (scv + 1))
	p1, p2 := (1+s)/2, 1/((scv+1)*(1+s)) // p2 = (1-s)/2 = (1-s²)/(2(1+s))
	return newHyperexponential([]float64{p1, p2}, []float64{mean / (2 * p1), mean / (2 * p2)})
}

// normalized returns probabilities divided by their sum, which must be 1 within 1e-12.
// Probabilities may be 0 if zeros is set.
func normalized(name string, p []float64, zeros bool) ([]float64, error) {
	var sum float64
	for i, v := range p {
		if zeros && !(v >= 0 && v <= 2) {
			return nil, input.Errorf(fmt.Sprintf("%s[%d]", name, i), v, "a probability in [0, 1]")
		}
		if !zeros && !(v > 0 && v <= 2) {
			return nil, input.Errorf(fmt.Sprintf("%s[%d]", name, i), v, "a probability in (0, 1]")
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= 1e-12) {
		return nil, input.Errorf(name, fmt.Sprintf("(sum %v)", sum), "probabilities that sum to 1 within 1e-12")
	}
	q := make([]float64, len(p))
	for i, v := range p {
		q[i] = v / sum
	}
	return q, nil
}

func (h hyperexponential) String() string {
	if len(h.probs) > maxListed {
		return fmt.Sprintf("hyperexponential of %d branches, SHA-256 prefix %s", len(h.probs), digest(h.probs, h.means))
	}
	var b strings.Builder
	b.WriteString("hyperexponential of")
	for i, p := range h.probs {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " mean %s with probability %s", text(h.means[i]), text(p))
	}
	return b.String()
}

func (h hyperexponential) smallest() float64 {
	low := math.Inf(1)
	for _, m := range h.means {
		low = min(low, m)
	}
	return low
}

func (h hyperexponential) Phases() Phases {
	phase := h.smallest()
	var mean float64
	success := make([]float64, len(h.means))
	for i, m := range h.means {
		mean += h.probs[i] * m / phase
		success[i] = phase / m
	}
	return Phases{Mean: phase, MeanCount: mean, Draw: func(r *rand.Rand) int {
		return geometricDraw(r, success[h.branch.draw(r)])
	}}
}

func (h hyperexponential) Moment(order float64) (float64, error) {
	return h.PartialMoment(order, 0, math.Inf(1))
}

func (h hyperexponential) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	var sum float64
	for i, m := range h.means {
		p := newScaledRange(m, low, high)
		if p.diverges(1, order) {
			return 0, ErrInfinite
		}
		sum += h.probs[i] * math.Pow(m, order) * p.moment(1, order)
	}
	return finite(sum)
}

// scv returns E[X²]/E[X]² - 1 = 1 + 2 Var(M)/E[M]² for the random mean M of a branch.
func (h hyperexponential) scv() (float64, error) {
	scale := h.smallest()
	var mean, variance float64
	for i, m := range h.means {
		mean += h.probs[i] * m / scale
	}
	for i, m := range h.means {
		d := m/scale - mean
		variance += h.probs[i] * d * d
	}
	return finite(1 + 2*variance/(mean*mean))
}

func (h hyperexponential) CDF(x float64) float64 {
	mustNotBeNaN(x)
	if x <= 0 {
		return 0
	}
	var sum float64
	for i, m := range h.means {
		sum += h.probs[i] * -math.Expm1(-x/m)
	}
	return min(1, sum)
}

func (h hyperexponential) Survival(x float64) float64 {
	mustNotBeNaN(x)
	if x <= 0 {
		return 1
	}
	var sum float64
	for i, m := range h.means {
		sum += h.probs[i] * math.Exp(-x/m)
	}
	return min(1, sum)
}

func (h hyperexponential) Quantile(p float64) (float64, error) {
	if err := checkProbability(p, false); err != nil || p == 0 {
		return 0, err
	}
	return bisectQuantile(h, p), nil
}

func (h hyperexponential) Sample(r *rand.Rand) float64 {
	return h.means[h.branch.draw(r)] * exponentialDraw(r)
}

func (h hyperexponential) Support() (low, high float64, bounded bool) { return 0, 0, false }

func (h hyperexponential) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	means := make([]float64, len(h.means))
	for i, m := range h.means {
		means[i] = m * factor
	}
	return newHyperexponential(h.probs, means)
}
