package dispatch

// A learner holds the mean of the numbers that it is told, or of the last of them.
type learner struct {
	mean float64
	seen int     // numbers told
	sum  float64 // of them, or of those since ring was last full

	// ring holds the numbers since it was last full, and from place seen mod window on what the numbers that it held then
	// add up to, from each place to its end.
	ring []float64
}

// learn adds a number; the mean is that of the last window of them, or of all if window is 0. Nothing is subtracted, so
// that a large number leaves no trace when it has left, and the cost is O(1) on average.
func (l *learner) learn(v float64, window int) {
	l.seen++
	l.sum += v
	l.mean = l.sum / float64(l.seen)
	if window == 0 {
		return
	}
	if l.seen <= window {
		l.ring = append(l.ring, v)
	} else {
		l.ring[(l.seen-1)%window] = v
	}
	if l.seen%window == 0 {
		for k := window - 2; k >= 0; k-- {
			l.ring[k] += l.ring[k+1]
		}
		l.sum = 0
	}
	if l.seen >= window {
		l.mean = (l.sum + l.ring[l.seen%window]) / float64(window)
	}
}
