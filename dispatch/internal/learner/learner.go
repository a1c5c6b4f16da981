// Package learner keeps means of the last numbers that were told.
package learner

// A Learner holds the mean of the numbers that it is told, or of the last of them.
type Learner struct {
	Mean float64
	Seen int     // numbers told
	Sum  float64 // of them, or of those since Ring was last full

	// Ring holds the numbers since it was last full, and from place Seen mod window on what the numbers that it held then
	// add up to, from each place to its end.
	Ring []float64
}

// Learn adds a number; the mean is that of the last window of them, or of all if window is 0. Nothing is subtracted, so
// that a large number leaves no trace when it has left, and the cost is O(1) on average.
func (l *Learner) Learn(v float64, window int) {
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
