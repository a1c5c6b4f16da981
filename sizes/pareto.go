package sizes

import (
	"math"
	"math/rand/v2"

	"productform/internal/input"
)

// pareto is the distribution with P(X > x) = (min/x)^alpha for x >= min.
type pareto struct{ min, alpha float64 }

// NewPareto returns the Pareto distribution P(X > x) = (low/x)^alpha, x >= low, whose moments of
// orders below alpha are finite: E[X^r] = alpha low^r/(alpha - r). Low is in [1e-100, 1e100].
// Alpha is at most 1e9 and no smaller than
//
//	0.1 + log10(max(1, low))/400,
//
// which keeps samples and quantiles far within float64. The error names the argument that is out of
// range.
func NewPareto(low, alpha float64) (Distribution, error) {
	if !(low >= 1e-100 && low <= 1e100) {
		return nil, input.Errorf("low", low, "a number in [1e-100, 1e100]")
	}
	if least := 0.1 + math.Log10(max(1, low))/400; !(alpha >= least && alpha <= 1e9) {
		return nil, input.Errorf("alpha", alpha, "a number in [%v, 1e9] for low = %v", least, low)
	}
	return pareto{low, alpha}, nil
}

func (p pareto) String() string {
	return "Pareto of min " + text(p.min) + " and alpha " + text(p.alpha)
}

func (p pareto) Moment(order float64) (float64, error) {
	return p.PartialMoment(order, 0, math.Inf(1))
}

// PartialMoment returns α min^α ∫_a^b x^(order-α-1) dx, with (min/a)^α a^order in place of min^α
// a^(order-α).
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

// paretoIntegral returns low^α ∫_a^b x^(r-α-1) dx for low <= a < b < ∞, computed from the end where
// the power is larger.
func paretoIntegral(r, low, alpha, a, b float64) float64 {
	m, l := r-alpha, logRatio(a, b)
	if m > 0 {
		return paretoPower(r, low, b, alpha) * l * phi(m*l)
	}
	return paretoPower(r, low, a, alpha) * l * phi(-m*l)
}

// paretoPower returns x^r (low/x)^alpha, even if the latter underflows.
func paretoPower(r, low, x, alpha float64) float64 {
	if tail := paretoTail(low, x, alpha); tail > 1e-290 {
		return math.Pow(x, r) * tail
	}
	return math.Exp(r*math.Log(x) - alpha*logRatio(low, x))
}

// paretoTail returns (low/x)^alpha, even if low/x underflows. Rounding low/x costs alpha/2 units in
// the last place. A steep tail, which is negligible beyond 2 low, therefore uses the logarithm,
// which is accurate near low.
func paretoTail(low, x, alpha float64) float64 {
	if alpha > 1000 && x < 2*low {
		return math.Exp(-alpha * logRatio(low, x))
	}
	if q := low / x; q > 1e-290 {
		return math.Pow(q, alpha)
	}
	return math.Exp(-alpha * logRatio(low, x))
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

// boundedPareto has the density α min^α x^(-α-1)/(1 - (min/max)^α) on [min, max].
type boundedPareto struct {
	min, max, alpha float64
	log             float64 // ln(max/min)
	all             float64 // φ(-alpha, log), the integral over all sizes
}

// NewBoundedPareto returns the distribution with density alpha low^alpha x^(-alpha-1)/(1 -
// (low/high)^alpha) on [low, high], for low < high and alpha in [1e-100, 1e9]; as alpha goes to 0
// it becomes the distribution of uniform ln X (Harchol-Balter, "Task assignment with unknown
// duration", J. ACM 49(2), 2002). With φ(m, l) = (e^(ml) - 1)/m, or l for m = 0, and ln(b/a) = l,
//
//	E[X^r; a < X <= b] = a^r (low/a)^alpha φ(r-alpha, l)/φ(-alpha, ln(high/low)),  low <= a <= b <= high.
//
// The error names the argument that is out of range.
func NewBoundedPareto(low, high, alpha float64) (Distribution, error) {
	if err := checkPositive("low", low); err != nil {
		return nil, err
	}
	if !(high > low && high <= 1e300) {
		return nil, input.Errorf("high", high, "a number in (%v, 1e300], above low", low)
	}
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	l := logRatio(low, high)
	return boundedPareto{low, high, alpha, l, l * phi(alpha*l)}, nil
}

func checkAlpha(alpha float64) error {
	if !(alpha >= 1e-100 && alpha <= 1e9) {
		return input.Errorf("alpha", alpha, "a number in [1e-100, 1e9]")
	}
	return nil
}

// NewBoundedParetoOfMean returns the distribution of [NewBoundedPareto] whose low end gives it the
// mean, which must be below high. It also returns an error if that end would be below 1e-300.
func NewBoundedParetoOfMean(alpha, high, mean float64) (Distribution, error) {
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	if err := checkPositive("high", high); err != nil {
		return nil, err
	}
	if !(mean > 0 && mean < high) {
		return nil, input.Errorf("mean", mean, "a number > 0 and below high = %v", high)
	}
	// E[X]/high = e^(-s l) φ(|1-α| l)/φ(α l), s = min(α, 1), falls from 1 to 0 as l = ln(high/low)
	// grows.
	ratio := func(l float64) float64 {
		return math.Exp(-min(alpha, 1)*l) * phi(math.Abs(1-alpha)*l) / phi(alpha*l)
	}
	short, long := 0.0, math.Log(high)-math.Log(1e-300)
	if !(ratio(long) < mean/high) {
		return nil, input.Errorf("mean", mean,
			"a mean for which the low end is at least 1e-300, with alpha = %v", alpha)
	}
	for mid := long / 2; short < mid && mid < long; mid = (short + long) / 2 {
		if ratio(mid) > mean/high {
			short = mid
		} else {
			long = mid
		}
	}
	low := high * math.Exp(-long)
	if long < 0.5 { // for a small range, high - low is more accurate this way
		low = high + high*math.Expm1(-long)
	}
	return NewBoundedPareto(low, high, alpha)
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
	return finite(paretoIntegral(order, p.min, p.alpha, low, high) / p.all)
}

// scv returns S(a+h) S(a-h)/S(a)² - 1 for S(x) = sinh(x)/x, h = ln(max/min)/2 and a = |1-α| h,
// which, since sinh(a+h) sinh(a-h) = sinh²(a) - sinh²(h), is
//
//	(S(h)²/S(a)² - 1)/(α(2-α)) = (e^y - 1)/y 2hc/max(α, 2-α),  y = min(α, 2-α) 2hc,
//
// with the mean c over (a, h) of (ln S)' = coth x - 1/x. It is about h²/3 if max is near min.
func (p boundedPareto) scv() (float64, error) {
	h := p.log / 2
	a, gap := math.Abs(1-p.alpha)*h, min(p.alpha, 2-p.alpha)*h // gap = h - a
	var c float64
	if math.Abs(gap) < 4 {
		c = legendre20(func(t float64) float64 { return langevin(a + gap*t) }, 0, 1)
	} else {
		c = 1 + math.Log(phi(2*h)/phi(2*a))/gap // S(x) = e^x φ(2x)
	}
	y := 2 * gap * c
	return finite(math.Exp(max(y, 0)) * phi(math.Abs(y)) * p.log * c / max(p.alpha, 2-p.alpha))
}

// langevin returns coth x - 1/x for x >= 0. If the difference would cancel, it uses the rest of
// Lambert's continued fraction of coth x, x/(3 + x²/(5 + ...)).
func langevin(x float64) float64 {
	if x > 2 {
		return 1/math.Tanh(x) - 1/x
	}
	f := 27.0
	for k := 25.0; k >= 3; k -= 2 {
		f = k + x*x/f
	}
	return x / f
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
	return min(1, l*phi(p.alpha*l)/p.all)
}

func (p boundedPareto) Survival(x float64) float64 {
	mustNotBeNaN(x)
	switch {
	case x <= p.min:
		return 1
	case x >= p.max:
		return 0
	}
	return min(1, paretoIntegral(0, p.min, p.alpha, x, p.max)/p.all)
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

// quantile solves P(X <= x) = q in ln(x/min) or, from the other end, where 1-q is exact, in
// ln(max/x).
func (p boundedPareto) quantile(q float64) float64 {
	al := p.alpha * p.log
	switch {
	case al < 1e-290: // ln X is uniform up to 1e-290
		return min(p.min+p.min*math.Expm1(q*p.log), p.max)
	case q > 0.5 && al < 700:
		return max(p.min, p.max*math.Exp(-math.Log1p((1-q)*math.Expm1(al))/p.alpha))
	}
	l := -math.Log1p(q*math.Expm1(-al)) / p.alpha
	return min(p.min+p.min*math.Expm1(l), p.max)
}

// Sample draws ln(X/min) as an exponential variable of rate alpha below ln(max/min), by rejection
// if more than 63 % are below it. This resolves the tail better than 53 bits of q.
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
