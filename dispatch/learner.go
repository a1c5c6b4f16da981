// This file averages a stream of numbers: what is the mean of all of them, or of the most recent
// ones?

package dispatch

// A learner holds the mean of the numbers seen, or of the most recent ones.
type learner struct {
	Mean float64
	Seen int     // number of numbers learned
	Sum  float64 // sum of all numbers, or of those since Ring was last full

	// Ring holds the numbers since it was last full. From index Seen mod window on, it holds suffix
	// sums of its previous contents: each entry is the sum from there to the end.
	Ring []float64
}

// learn adds a number. The mean is then over the last window numbers, or over all if window is 0.
// Since nothing is ever subtracted, a large number leaves no rounding error behind when it drops
// out. The cost is O(1) on average.
func (l *learner) learn(v float64, window int) {
	l.Seen++
	l.Sum += v
	l.Mean = l.Sum / float64(l.Seen)
	if window == 0 {
		return
	}
	if l.Seen <= window {
		l.Ring = append(l.Ring, v)
	} else {
		l.Ring[(l.Seen-1)%window] = v
	}
	if l.Seen%window == 0 {
		for k := window - 2; k >= 0; k-- {
			l.Ring[k] += l.Ring[k+1]
		}
		l.Sum = 0
	}
	if l.Seen >= window {
		l.Mean = (l.Sum + l.Ring[l.Seen%window]) / float64(window)
	}
}
