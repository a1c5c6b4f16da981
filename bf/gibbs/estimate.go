package gibbs

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Estimate is a mean of what chains gave, with a confidence interval. It is no bound.
//
// The half-width is the root of the sum of two squares, as of errors that are independent: that of
// Student's distribution, and u times the size of what is averaged, where u is
// log(1/(1-Confidence)) over the number of independent sweeps: 3/n at confidence 0.95. For given
// the order of deaths measures vary so little that an order which has not come up may be off by
// more than the standard error tells; and by the rule of three such orders have a probability of at
// most u. The size is the mean itself for numbers of jobs and delays; of a probability it is the
// largest value that is possible given an order.
type Estimate struct {
	Mean       float64 `json:"mean"`       // over all chains
	HalfWidth  float64 `json:"half_width"` // Mean ± HalfWidth is the interval
	Confidence float64 `json:"confidence"` // how often such intervals hold the true value, if batches are long
	StdError   float64 `json:"-"`          // standard error of Mean
	Freedom    int     `json:"-"`          // degrees of freedom
}

// complement returns the estimate of 1 less the quantity.
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

// inverse returns the estimate of c over the quantity, whose error is that of the quantity to first
// order; c and Mean are > 0.
func (e Estimate) inverse(c float64) Estimate {
	by := c / e.Mean / e.Mean
	e.HalfWidth *= by
	e.StdError *= by
	e.Mean = c / e.Mean
	return e
}

// A sample holds what the chains gave, batch by batch.
type sample struct {
	tallies    []*tally // of equal lengths
	confidence float64
	quantile   float64 // of Student's distribution, for intervals
	unseen     float64 // the probability of orders that may not have come up
}

// newSample makes a sample of tallies. Column jobs has squares, by which independent sweeps are
// counted.
func newSample(tallies []*tally, jobs int, confidence float64) *sample {
	x := &sample{tallies: tallies, confidence: confidence}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(x.batches() - 1)}
	x.quantile = t.Quantile((1 + confidence) / 2)
	sweeps := float64(x.batches() * tallies[0].length)
	x.unseen = -math.Log1p(-confidence) / sweeps * max(1, x.autocorrelation(jobs))
	return x
}

// batches returns their number in all chains.
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

// probability estimates the mean of a column of probabilities of at most so much.
func (x *sample) probability(column int, most float64) Estimate {
	return x.estimate(x.means(column), most)
}

// estimate returns the mean of what the batches gave, from numbers of a size.
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

// covariance estimates the covariance of two positive quantities, of which columns have the product
// and the factors, and the mean of the second so many times besides. With means P, A and B of all
// the covariance is P - AB, and to first order the mean over the batches of p - A b - a B + A B,
// where theirs are p, a and b.
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

// autocorrelation returns the sweeps that are worth an independent one, for a column with squares:
// the variance of the means of batches times their length, over the variance of single values. It
// is 1 for what is constant but for rounding.
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

// constantTol is the variance over the square of the mean below which a quantity is known better
// than anybody asks, or constant but for rounding.
const constantTol = 1e-12

// variance returns that of a column over the batches from..to-1 of all chains, 0 if it is constant
// but for rounding.
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
