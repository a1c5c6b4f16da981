package sizes

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"

	"productform/internal/input"
)

// A Distribution is the distribution of a job size X > 0, in units of work.
type Distribution interface {
	// Moment returns E[X^order] for any real order in [-1000, 1000]. The error wraps [ErrInfinite]
	// if the moment is infinite, and [ErrOverflow] if the moment or an intermediate result exceeds
	// float64. The moment may underflow to 0.
	Moment(order float64) (float64, error)
	// PartialMoment returns E[X^order; low < X <= high] for the same orders and 0 <= low <= high;
	// high may be math.Inf(1). Its errors are those of Moment, and errors for arguments out of
	// range.
	PartialMoment(order, low, high float64) (float64, error)
	// CDF returns P(X <= x). It panics if x is NaN.
	CDF(x float64) float64
	// Survival returns P(X > x), with a small relative error in the tail. It panics if x is NaN.
	Survival(x float64) float64
	// MeanExcess returns E[(X - x)^+] = E[X] - E[min(X, x)] = ∫_x^∞ P(X > t) dt, by sums of
	// positive terms, so its relative error is also small near the top of the support. It is E[X] -
	// x for x <= 0, and +Inf if E[X] is infinite, which happens only for [NewPareto] with alpha <=
	// 1. It panics if x is NaN.
	//
	// It takes about 0.1 microseconds for exponential, Pareto, bounded Pareto and deterministic
	// distributions, and for empirical ones, where it takes O(log n) time for n sizes.
	// Hyperexponential distributions take the same time per branch, lognormal and Weibull
	// distributions about 5 microseconds, and sums of phases as long as Survival.
	MeanExcess(x float64) float64
	// Quantile returns the smallest x with CDF(x) >= p, up to rounding, for p in [0, 1), and also
	// for p = 1 if X is bounded. It is the low end of the support for p = 0.
	Quantile(p float64) (float64, error)
	// Sample draws X > 0.
	Sample(r *rand.Rand) float64
	// Support returns the ends of the shortest interval that contains X; high is 0 if X is
	// unbounded.
	Support() (low, high float64, bounded bool)
	// Scaled returns the distribution of factor * X, for a finite factor > 0.
	Scaled(factor float64) (Distribution, error)
	// String names the distribution with its parameters in full precision: equal texts mean equal
	// distributions.
	String() string
}

// ErrInfinite is wrapped by the error for an infinite moment.
var ErrInfinite = errors.New("moment is infinite")

// ErrOverflow is wrapped by the error for a finite moment that exceeds the range of float64.
var ErrOverflow = errors.New("moment exceeds the range of float64")

// Mean returns E[X]. Its errors are those of [Distribution.Moment].
func Mean(d Distribution) (float64, error) { return d.Moment(1) }

// SCV returns the squared coefficient of variation E[X²]/E[X]² - 1. Its errors are those of
// [Distribution.Moment]. There is no cancellation for the distributions of this package.
func SCV(d Distribution) (float64, error) {
	if v, ok := d.(interface{ scv() (float64, error) }); ok {
		return v.scv()
	}
	return momentSCV(d)
}

func momentSCV(d Distribution) (float64, error) {
	m, err := d.Moment(1)
	if err != nil {
		return 0, err
	}
	m2, err := d.Moment(2)
	if err != nil {
		return 0, err
	}
	return finite(max(0, m2/m/m-1))
}

// WithMean returns d scaled to the given mean > 0. The error is that of [Mean] or
// [Distribution.Scaled], or names the mean if it is out of range.
func WithMean(d Distribution, mean float64) (Distribution, error) {
	if err := checkPositive("mean", mean); err != nil {
		return nil, err
	}
	m, err := d.Moment(1)
	if err != nil {
		return nil, err
	}
	if m == mean {
		return d, nil
	}
	return d.Scaled(mean / m)
}

// Phases represents a size as a sum X = Y_1 + ... + Y_K of independent exponential variables with
// the same mean ς and an independent K, so a simulation can run as a Markov chain.
type Phases struct {
	Mean      float64                // ς, work
	MeanCount float64                // E[K]; E[X] = ς E[K]
	Fixed     int                    // K if it is the same for all jobs, otherwise 0
	Draw      func(r *rand.Rand) int // draws K >= 1; nil if Fixed > 0. It may be called concurrently
}

// Phased is implemented by distributions that are sums of a random number K >= 1 of independent
// exponential variables with the same mean.
type Phased interface {
	Distribution
	Phases() Phases // the distribution of K and the mean of a phase
}

// checkPositive rejects numbers that overflow if they are multiplied by small integers or inverted.
func checkPositive(path string, v float64) error {
	if !(v >= 1e-300 && v <= 1e300) {
		return input.Errorf(path, v, "a number in [1e-300, 1e300]")
	}
	return nil
}

func checkOrder(order float64) error {
	if !(math.Abs(order) <= 1000) {
		return input.Errorf("order", order, "a number in [-1000, 1000]")
	}
	return nil
}

// checkPartial checks the arguments of PartialMoment.
func checkPartial(order, low, high float64) error {
	if err := checkOrder(order); err != nil {
		return err
	}
	if !(low >= 0) {
		return input.Errorf("low", low, "a number >= 0")
	}
	if !(high >= low) {
		return input.Errorf("high", high, "a number >= low = %v", low)
	}
	return nil
}

// checkProbability checks the argument of Quantile.
func checkProbability(p float64, bounded bool) error {
	if bounded && p == 1 {
		return nil
	}
	if !(p >= 0 && p < 1) {
		if bounded {
			return input.Errorf("p", p, "a probability in [0, 1]")
		}
		return input.Errorf("p", p, "a probability in [0, 1), since the size is not bounded")
	}
	return nil
}

func mustNotBeNaN(x float64) {
	if x != x {
		panic("sizes: distribution function of NaN")
	}
}

// finite returns a moment, or an error if it overflowed.
func finite(v float64) (float64, error) {
	if !(math.Abs(v) <= math.MaxFloat64) {
		return 0, ErrOverflow
	}
	return v, nil
}

// bisectQuantile returns the smallest float x with CDF(x) >= p, for a distribution that is
// unbounded above, in 63 evaluations: positive floats have the order of their bits. Above p = 1/2,
// where 1-p is exact, it uses Survival(x) <= 1-p.
func bisectQuantile(d Distribution, p float64) float64 {
	low, high := uint64(0), math.Float64bits(math.MaxFloat64)
	for high-low > 1 {
		mid := low + (high-low)/2
		x := math.Float64frombits(mid)
		var reached bool
		if p > 0.5 {
			reached = d.Survival(x) <= 1-p
		} else {
			reached = d.CDF(x) >= p
		}
		if reached {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Float64frombits(high)
}

// text formats v such that it parses back to v.
func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
