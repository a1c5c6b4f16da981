package gibbs

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Estimate is a mean over all chains with a confidence interval. The interval is not a bound.
//
// The half-width combines two independent errors, as the root of the sum of their squares: the
// half-width of Student's distribution, and u times the size of the averaged quantity, where u is
// log(1/(1-Confidence)) over the number of independent sweeps: 3/n at confidence 0.95. The second
// error covers orders of deaths that have not occurred: measures given the order vary so little
// that such an order may differ by more than the standard error suggests. By the rule of three,
// these orders have a probability of at most u. The size is the mean itself for numbers of jobs and
// delays; for a probability it is the largest possible value given an order.
type Estimate struct {
	Mean       float64 `json:"mean"`       // over all chains
	HalfWidth  float64 `json:"half_width"` // Mean ± HalfWidth is the interval
	Confidence float64 `json:"confidence"` // how often such intervals contain the true value, if batches are long
	StdError   float64 `json:"-"`          // standard error of Mean
	Freedom    int     `json:"-"`          // degrees of freedom
}

// complement returns the estimate of 1 minus the quantity.
func (e Estimate) complement() Estimate {
	e.Mean = 1 - e.Mean
	return e
}

// times returns the estimate of c times the quantity, c >= 0.
func (e Estimate) times(c float64) Estimate {
	e.Mean *= c
	e.HalfWidth *= c
	e.StdError *= c
	return e
}

// inverse returns the estimate of c divided by the quantity, with the same relative error to first
// order; c and Mean are > 0.
func (e Estimate) inverse(c float64) Estimate {
	by := c / e.Mean / e.Mean
	e.HalfWidth *= by
	e.StdError *= by
	e.Mean = c / e.Mean
	return e
}

// A sample holds the measurements of all chains, batch by batch.
type sample struct {
	tallies    []*tally // tallies of equal lengths
	confidence float64
	quantile   float64 // quantile of Student's distribution, for intervals
	unseen     float64 // the probability of orders that may not have come up
}

// newSample returns a sample of tallies. The squares of column jobs give the number of independent
// sweeps.
func newSample(tallies []*tally, jobs int, confidence float64) *sample {
	x := &sample{tallies: tallies, confidence: confidence}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(x.batches() - 1)}
	x.quantile = t.Quantile((1 + confidence) / 2)
	sweeps := float64(x.batches() * tallies[0].length)
	x.unseen = -math.Log1p(-confidence) / sweeps * max(1, x.autocorrelation(jobs))
	return x
}

// batches returns the number of batches of all chains.
func (x *sample) batches() int { return len(x.tallies) * len(x.tallies[0].full()) }

// means returns the mean of a column in each batch, chain by chain.
func (x *sample) means(column int) []float64 {
	list := make([]float64, 0, x.batches())
	for _, t := range x.tallies {
		for _, b := range t.full() {
			list = append(list, b.sums[column]/float64(t.length))
		}
	}
	return list
}

// mean estimates the mean of a column of positive numbers.
func (x *sample) mean(column int) Estimate {
	list := x.means(column)
	mean, _ := moments(list)
	return x.estimate(list, mean)
}

// probability estimates the mean of a column of probabilities, which are at most most.
func (x *sample) probability(column int, most float64) Estimate {
	return x.estimate(x.means(column), most)
}

// estimate returns the estimate from the means of batches, for a quantity of the given size.
func (x *sample) estimate(values []float64, size float64) Estimate {
	mean, variance := moments(values)
	e := Estimate{
		Mean:       mean,
		Confidence: x.confidence,
		StdError:   math.Sqrt(variance / float64(len(values))),
		Freedom:    len(values) - 1,
	}
	e.HalfWidth = math.Hypot(x.quantile*e.StdError, x.unseen*size)
	return e
}

// covariance estimates the covariance of two positive quantities, plus besides times the mean of
// the second. Columns hold the product and the two factors. With overall means P, A and B, the
// covariance is P - AB; to first order it is the mean over the batches of p - A b - a B + A B,
// where p, a and b are the means of a batch.
func (x *sample) covariance(product, first, second int, besides float64) Estimate {
	p, a, b := x.means(product), x.means(first), x.means(second)
	meanP, _ := moments(p)
	meanA, _ := moments(a)
	meanB, _ := moments(b)
	for k := range p {
		p[k] += besides*b[k] - meanA*b[k] - (a[k]-meanA)*meanB
	}
	return x.estimate(p, meanP+besides*meanB)
}

// moments returns the mean of values and the variance of one of them.
func moments(values []float64) (mean, variance float64) {
	var square float64
	for k, v := range values { // Welford
		d := v - mean
		mean += d / float64(k+1)
		square += d * (v - mean)
	}
	return mean, square / float64(len(values)-1)
}

// autocorrelation returns the number of sweeps worth an independent one, for a column with squares:
// the variance of the means of batches times their length, over the variance of single values. It
// is 1 for a column that is constant up to rounding.
func (x *sample) autocorrelation(column int) float64 {
	_, ofMeans := moments(x.means(column))
	variance := x.variance(column, 0, len(x.tallies[0].full()))
	if variance == 0 {
		return 1
	}
	return ofMeans * float64(x.tallies[0].length) / variance
}

// slowest returns the largest autocorrelation of a column with squares, at least 1.
func (x *sample) slowest() float64 {
	slowest := 1.0
	for column := range x.tallies[0].watched {
		slowest = max(slowest, x.autocorrelation(column))
	}
	return slowest
}

// constantTol is the ratio of variance to squared mean below which a quantity is constant up to
// rounding, or known more precisely than any request.
const constantTol = 1e-12

// variance returns the variance of a column over the batches from..to-1 of all chains, 0 if it is
// constant up to rounding.
func (x *sample) variance(column, from, to int) float64 {
	sum, square, n := 0.0, 0.0, 0.0
	for _, t := range x.tallies {
		for _, b := range t.full()[from:to] {
			sum += b.sums[column]
			square += b.squares[column]
			n += float64(t.length)
		}
	}
	mean := sum / n
	variance := square/n - mean*mean
	if variance <= constantTol*mean*mean {
		return 0
	}
	return variance
}
