package sizes

import "math"

// BonaldComteBimodal returns the bimodal distribution of [BC17], section 5: 25 phases of mean 1/5
// with probability 1/6, otherwise one. Its mean is 1 and its standard deviation √3.4 = 1.84.
func BonaldComteBimodal() Phased {
	probs := make([]float64, 25)
	probs[0], probs[24] = 5.0/6, 1.0/6
	return must(NewPhaseSum(probs, 1.0/5))
}

// BonaldComteHyperexponential returns the hyperexponential distribution of [BC17], section 5: mean
// 5 with probability 1/6, otherwise 1/5. Its mean is 1 and its standard deviation √7.4 = 2.72. (The
// 2.05 printed there is √4.2, the square root of E[X²]/2.)
func BonaldComteHyperexponential() Phased {
	return must(NewHyperexponential([]float64{1.0 / 6, 5.0 / 6}, []float64{5, 1.0 / 5}))
}

// BonaldComteZipf returns the Zipf distribution of [BC17], section 5: k phases of mean 1 with
// probability proportional to 1/k², k = 1..200. Its mean is 3.58 and its standard deviation 10.62
// (truncated to 10.61 there).
func BonaldComteZipf() Phased { return must(newZipf(200, 2)) }

// newZipf returns the distribution of k phases of mean 1 with probability proportional to k^-alpha,
// k = 1..n.
func newZipf(n int, alpha float64) (Phased, error) {
	probs := make([]float64, n)
	var sum float64
	for k := n; k >= 1; k-- {
		probs[k-1] = math.Pow(float64(k), -alpha)
		sum += probs[k-1]
	}
	for i := range probs {
		probs[i] /= sum
	}
	return NewPhaseSum(probs, 1)
}

// must panics if err is not nil. It is for distributions with constant parameters.
func must(d Phased, err error) Phased {
	if err != nil {
		panic(err)
	}
	return d
}
