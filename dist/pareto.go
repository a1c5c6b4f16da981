package dist

import (
	"math"
	"math/rand/v2"

	"productform/internal/input"
)

// pareto has P(X > x) = (min/x)^alpha for x >= min.
type pareto struct{ min, alpha float64 }

// NewPareto returns the Pareto law P(X > x) = (min/x)^alpha, x >= min, whose moments of orders below alpha are
// finite: E[X^r] = alpha min^r/(alpha - r). Alpha must be at least 0.1, since samples exceed float64 otherwise. The
// error names the argument that is out of range.
func NewPareto(min, alpha float64) (Distribution, error) {
	if !(min >= 1e-100 && min <= 1e100) {
		return nil, input.Errorf("min", min, "a number in [1e-100, 1e100]")
	}
	if !(alpha >= 0.1+math.Log10(math.Max(1, min))/400 && alpha <= 1e9) {
		return nil, input.Errorf("alpha", alpha, "a number in [0.1, 1e9], up to 0.35 for min up to 1e100")
	}
	return pareto{min, alpha}, nil
}

func (p pareto) String() string {
	return "Pareto of min " + text(p.min) + " and alpha " + text(p.alpha)
}

func (p pareto) Moment(order float64) (float64, error) {
	return p.PartialMoment(order, 0, math.Inf(1))
}

// PartialMoment returns α min^α ∫_a^b x^(order-α-1) dx, with (min/a)^α a^order in place of min^α a^(order-α).
func (p pareto) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	low = max(low, p.min)
	if low >= high {
		return 0, nil
	}
	if math.IsInf(high, 1) {
		if order >= p.alpha {
			return 0, ErrInfinite
		}
		return finite(math.Pow(low, order) * p.Survival(low) * p.alpha / (p.alpha - order))
	}
	return finite(p.alpha * paretoIntegral(order, p.min, p.alpha, low, high))
}

// paretoIntegral returns min^α ∫_a^b x^(r-α-1) dx for min <= a < b < ∞, from the end where the power is larger.
func paretoIntegral(r, min, alpha, a, b float64) float64 {
	m, l := r-alpha, logRatio(a, b)
	if m > 0 {
		return math.Pow(b, r) * paretoTail(min, b, alpha) * l * phi(m*l)
	}
	return math.Pow(a, r) * paretoTail(min, a, alpha) * l * phi(-m*l)
}

// paretoTail returns (min/x)^alpha, also where min/x underflows.
func paretoTail(min, x, alpha float64) float64 {
	if q := min / x; q > 1e-290 {
		return math.Pow(q, alpha)
	}
	return math.Exp(-alpha * logRatio(min, x))
}

// scv returns 1/(α(α-2)).
func (p pareto) scv() (float64, error) {
	if p.alpha <= 2 {
		return 0, ErrInfinite
	}
	return 1 / (p.alpha * (p.alpha - 2)), nil
}

func (p pareto) CDF(x float64) float64 {
	mustNotBeNaN(x)
	if x <= p.min {
		return 0
	}
	return -math.Expm1(-p.alpha * logRatio(p.min, x))
}

func (p pareto) Survival(x float64) float64 {
	mustNotBeNaN(x)
	if x <= p.min {
		return 1
	}
	return math.Exp(-p.alpha * logRatio(p.min, x))
}

func (p pareto) Quantile(q float64) (float64, error) {
	if err := checkProbability(q, false); err != nil {
		return 0, err
	}
	return p.min * math.Exp(-math.Log1p(-q)/p.alpha), nil
}

func (p pareto) Sample(r *rand.Rand) float64 { return p.min * math.Exp(exponentialDraw(r)/p.alpha) }

func (p pareto) Support() (low, high float64, bounded bool) { return p.min, 0, false }

func (p pareto) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	return NewPareto(p.min*factor, p.alpha)
}

// boundedPareto has density α min^α x^(-α-1)/(1 - (min/max)^α) on [min, max].
type boundedPareto struct{ min, max, alpha, log float64 } // log = ln(max/min)

// NewBoundedPareto returns the law with density alpha min^alpha x^(-alpha-1)/(1 - (min/max)^alpha) on [min, max], for
// min < max and alpha in [1e-100, 1e9]; as alpha goes to 0 it becomes the law of uniform ln X (Harchol-Balter, "Task
// assignment with unknown duration", J. ACM 49(2), 2002). With φ(m, l) = (e^(ml) - 1)/m, or l for m = 0, and
// ln(b/a) = l,
//
//	E[X^r; a < X <= b] = a^r (min/a)^alpha φ(r-alpha, l)/φ(-alpha, ln(max/min)),  min <= a <= b <= max.
//
// The error names the argument that is out of range.
func NewBoundedPareto(min, max, alpha float64) (Distribution, error) {
	if err := checkPositive("min", min); err != nil {
		return nil, err
	}
	if !(max > min && max <= 1e300) {
		return nil, input.Errorf("max", max, "a number in (%v, 1e300], above min", min)
	}
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	return boundedPareto{min, max, alpha, logRatio(min, max)}, nil
}

func checkAlpha(alpha float64) error {
	if !(alpha >= 1e-100 && alpha <= 1e9) {
		return input.Errorf("alpha", alpha, "a number in [1e-100, 1e9]")
	}
	return nil
}

// NewBoundedParetoOfMean returns the law of [NewBoundedPareto] with the min that gives it the mean, below max. The
// error also says when that min would be below 1e-300.
func NewBoundedParetoOfMean(alpha, max, mean float64) (Distribution, error) {
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	if err := checkPositive("max", max); err != nil {
		return nil, err
	}
	if !(mean > 0 && mean < max) {
		return nil, input.Errorf("mean", mean, "a number > 0 and below max = %v", max)
	}
	// E[X]/max = e^(-s l) φ(|1-α| l)/φ(α l), s = min(α, 1), falls from 1 to 0 as l = ln(max/min) grows.
	ratio := func(l float64) float64 {
		return math.Exp(-math.Min(alpha, 1)*l) * phi(math.Abs(1-alpha)*l) / phi(alpha*l)
	}
	low, high := 0.0, math.Log(max)-math.Log(1e-300)
	if !(ratio(high) < mean/max) {
		return nil, input.Errorf("mean", mean, "a mean that a min of at least 1e-300 gives for alpha = %v", alpha)
	}
	for mid := high / 2; low < mid && mid < high; mid = (low + high) / 2 {
		if ratio(mid) > mean/max {
			low = mid
		} else {
			high = mid
		}
	}
	min := max * math.Exp(-high)
	if high < 0.5 { // a small max - min is more exact so
		min = max + max*math.Expm1(-high)
	}
	return NewBoundedPareto(min, max, alpha)
}

func (p boundedPareto) String() string {
	return "bounded Pareto of min " + text(p.min) + ", max " + text(p.max) + " and alpha " + text(p.alpha)
}

func (p boundedPareto) Moment(order float64) (float64, error) {
	return p.PartialMoment(order, 0, math.Inf(1))
}

func (p boundedPareto) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	low, high = max(low, p.min), min(high, p.max)
	if low >= high {
		return 0, nil
	}
	return finite(paretoIntegral(order, p.min, p.alpha, low, high) / (p.log * phi(p.alpha*p.log)))
}

func (p boundedPareto) CDF(x float64) float64 {
	mustNotBeNaN(x)
	switch {
	case x <= p.min:
		return 0
	case x >= p.max:
		return 1
	}
	l := logRatio(p.min, x)
	return min(1, l*phi(p.alpha*l)/(p.log*phi(p.alpha*p.log)))
}

func (p boundedPareto) Survival(x float64) float64 {
	mustNotBeNaN(x)
	switch {
	case x <= p.min:
		return 1
	case x >= p.max:
		return 0
	}
	return min(1, paretoIntegral(0, p.min, p.alpha, x, p.max)/(p.log*phi(p.alpha*p.log)))
}

func (p boundedPareto) Quantile(q float64) (float64, error) {
	if err := checkProbability(q, true); err != nil {
		return 0, err
	}
	if q == 1 {
		return p.max, nil
	}
	return p.quantile(q), nil
}

// quantile solves P(X <= x) = q: in ln(x/min), or from the other end, where 1-q is exact, in ln(max/x).
func (p boundedPareto) quantile(q float64) float64 {
	al := p.alpha * p.log
	switch {
	case al < 1e-290: // ln X is uniform but for 1e-290
		return min(p.min+p.min*math.Expm1(q*p.log), p.max)
	case q > 0.5 && al < 700:
		return max(p.min, p.max*math.Exp(-math.Log1p((1-q)*math.Expm1(al))/p.alpha))
	}
	l := -math.Log1p(q*math.Expm1(-al)) / p.alpha
	return min(p.min+p.min*math.Expm1(l), p.max)
}

// Sample takes ln(X/min) exponential of rate alpha below ln(max/min), by rejection if more than 63 % are, which
// resolves the tail better than 53 bits of q do.
func (p boundedPareto) Sample(r *rand.Rand) float64 {
	for p.alpha*p.log > 1 {
		if l := exponentialDraw(r) / p.alpha; l <= p.log {
			return min(p.min*math.Exp(l), p.max)
		}
	}
	return p.quantile(r.Float64())
}

func (p boundedPareto) Support() (low, high float64, bounded bool) { return p.min, p.max, true }

func (p boundedPareto) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	return NewBoundedPareto(p.min*factor, p.max*factor, p.alpha)
}
