package gibbs

import "math"

// Constants of exchanges. They were chosen on 1,500 models of TestLinkedBlocksWarnOrAgree: with one
// proposal per sweep, or sharpest at 100 or 1000, some estimates were off by 2.8 to 10 half-widths,
// with these by at most 2.3.
const (
	exchanges = 4  // proposals per sweep
	standsOut = 4  // ratio of slacks of neighbouring sets; without a larger one, sweeps alone change the order quickly
	sharpest  = 16 // largest ratio of weights between a place that stands out and one that does not
)

// blockWeights are the weights by which [sampler.exchange] draws two neighbouring blocks of an
// order of deaths: places i to j-1 and places j to k-1, with 0 <= i < j < k <= n.
//
// A block should begin at a set of servers with less slack than the sets next to it. So the weight
// of j is the smaller slack next to it divided by its own, and the weight of i or k is the minimum
// slack between it and j divided by its own. Weights are at most sharpest. The end of the order,
// place n, has weight sharpest.
type blockWeights struct{ left, middle, right []float64 } // by place: of i, of j, of k

func newBlockWeights(n int) blockWeights {
	return blockWeights{make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)}
}

// setMiddle sets the weights of j.
func (w *blockWeights) setMiddle(slack []float64) {
	last := len(slack) - 1
	for j := 1; j < last; j++ {
		w.middle[j] = min(sharpest, min(slack[j-1], slack[j+1])/slack[j])
	}
	w.middle[last] = min(sharpest, slack[last-1]/slack[last])
}

// setEnds sets the weights of i and k given j.
func (w *blockWeights) setEnds(slack []float64, j int) {
	clear(w.left)
	clear(w.right)
	n := len(slack)
	smallest := slack[j-1]
	for i := j - 1; i >= 0; i-- {
		w.left[i] = min(sharpest, smallest/slack[i])
		smallest = min(smallest, slack[i])
	}
	if j+1 < n {
		smallest = slack[j+1]
	}
	for k := j + 1; k < n; k++ {
		w.right[k] = min(sharpest, smallest/slack[k])
		smallest = min(smallest, slack[k])
	}
	w.right[n] = sharpest
}

// share returns the probability of a place.
func share(weights []float64, place int) float64 {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	return weights[place] / sum
}

// pick draws a place.
func (s *sampler) pick(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u, last := s.random.Float64()*sum, 0
	for place, w := range weights {
		if w > 0 {
			last = place
			if u -= w; u < 0 {
				break
			}
		}
	}
	return last
}

// exchange proposes to exchange two neighbouring blocks of servers in the order of deaths. If the
// proposal is accepted, it becomes the order.
//
// Without exchanges, a server joins a set of servers short of capacity only if the whole set dies
// at about the same time. Two such sets, weakly linked, then keep their order for about
// capacity/slack sweeps.
//
// The marginal probability of an order is proportional to Π_m 1/slack[m]. Let q be the probability
// of drawing i < j < k by [blockWeights], and q' that of i < i+k-j < k in the proposed order, which
// leads back. The proposal is accepted with probability
//
//	min(1, q'/q Π_m slack[m]/slack'[m]),
//
// which preserves the distribution of orders (Hastings, "Monte Carlo sampling methods using Markov
// chains and their applications", Biometrika 57, 1970). Only the sets at places i+1 to k-1 differ.
func (s *sampler) exchange() {
	if len(s.deaths) < 2 {
		return
	}
	w, o := &s.weights, s.proposed
	w.setMiddle(s.slack)
	j := s.pick(w.middle)
	w.setEnds(s.slack, j)
	i, k := s.pick(w.left), s.pick(w.right)
	before := share(w.middle, j) * share(w.left, i) * share(w.right, k)
	copy(o.deaths, s.deaths)
	met := i + copy(o.deaths[i:], s.deaths[j:k])
	copy(o.deaths[met:], s.deaths[i:j])
	o.set()
	w.setMiddle(o.slack)
	w.setEnds(o.slack, met)
	odds := math.Log(share(w.middle, met) * share(w.left, i) * share(w.right, k) / before)
	for m := i + 1; m < k; m++ {
		odds += math.Log(s.slack[m] / o.slack[m])
	}
	if s.random.ExpFloat64() >= -odds { // with probability e^odds
		s.order, s.proposed = o, s.order
	}
}
