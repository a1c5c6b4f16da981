package dispatch

import (
	"math"

	"productform/num"
)

// A workSum maintains the total work of the jobs present as they arrive and depart.
type workSum struct {
	sum     num.Sum
	terms   int     // number of terms added or subtracted
	size    float64 // Σ |x| over these terms
	counted []bool  // whether the sum includes a job
}

func (w *workSum) add(x float64) {
	w.sum.Add(x)
	w.terms++
	w.size += math.Abs(x)
}

// count adds a job of the given work.
func (w *workSum) count(job int, work float64) {
	for len(w.counted) <= job {
		w.counted = append(w.counted, false)
	}
	w.counted[job] = true
	w.add(work)
}

// drop subtracts the work of a job.
func (w *workSum) drop(job int, work float64) {
	w.counted[job] = false
	w.add(-work)
}

// change updates the sum when the work of a job changes.
func (w *workSum) change(job int, from, to float64) {
	if job < len(w.counted) && w.counted[job] && from != to {
		w.add(-from)
		w.add(to)
	}
}

// errorBound bounds the error of the sum except for one rounding: the error that [num.Sum]
// guarantees, plus the error of the terms added here.
func (w *workSum) errorBound() float64 {
	gamma := float64(w.terms) * 0x1p-53
	return 2 * gamma * gamma * w.size
}

// bounds returns bounds on the sum of all n works added one by one in float64. With u = 2^-53, that
// differs from the exact sum s by at most 1.01 (n-1) u s; the rest covers four roundings here. The
// lower bound may be negative.
func (w *workSum) bounds(n int) (least, most float64) {
	value, bound, part := w.sum.Value(), w.errorBound(), 2*(float64(n)+4)*0x1p-53
	return (value - bound) * (1 - part), (value + bound) * (1 + part)
}

// workOf returns the total work of some jobs, added one by one.
func (c *claims) workOf(jobs []int) float64 {
	var total float64
	for _, j := range jobs {
		total += c.of[j].work
	}
	return total
}

// workBounds returns bounds on [claims.workOf] for the jobs present, usually in O(1) if their sum
// is maintained. If little remains of a large sum, it is recomputed.
func (c *claims) workBounds(jobs []int) (least, most float64) {
	const loose = 1e-12 // the number of workers rarely depends on less
	w := c.present
	if w == nil {
		total := c.workOf(jobs)
		return total, total
	}
	if w.errorBound() > loose*w.sum.Value() {
		w.sum, w.terms, w.size = num.Sum{}, 0, 0
		for _, j := range jobs {
			w.add(c.of[j].work)
		}
	}
	return w.bounds(len(jobs))
}
