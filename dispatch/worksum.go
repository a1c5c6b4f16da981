package dispatch

import (
	"math"

	"productform/num"
)

// A workSum is the work of jobs that come and go, without adding that of all of them again.
type workSum struct {
	sum     num.Sum
	terms   int     // that were added, or taken off
	size    float64 // Σ |x| over these terms
	counted []bool  // the jobs that are in the sum
}

func (w *workSum) add(x float64) {
	w.sum.Add(x)
	w.terms++
	w.size += math.Abs(x)
}

// count adds a job with so much work.
func (w *workSum) count(job int, work float64) {
	for len(w.counted) <= job {
		w.counted = append(w.counted, false)
	}
	w.counted[job] = true
	w.add(work)
}

// drop takes it off again.
func (w *workSum) drop(job int, work float64) {
	w.counted[job] = false
	w.add(-work)
}

// change is told that the work of a job changes.
func (w *workSum) change(job int, from, to float64) {
	if job < len(w.counted) && w.counted[job] && from != to {
		w.add(-from)
		w.add(to)
	}
}

// off bounds by how much the sum is off, beside a rounding: by what [num.Sum] promises, and that of its parts here.
func (w *workSum) off() float64 {
	gamma := float64(w.terms) * 0x1p-53
	return 2 * gamma * gamma * w.size
}

// within returns bounds of the sum of all n works added one by one in float64. With u = 2^-53 and the sum s, that differs from s by
// at most 1.01 (n-1) u s; the rest is for four roundings here. The lower bound may be negative.
func (w *workSum) within(n int) (least, most float64) {
	value, off, part := w.sum.Value(), w.off(), 2*(float64(n)+4)*0x1p-53
	return (value - off) * (1 - part), (value + off) * (1 + part)
}

// workOf returns the work of some jobs, added one by one.
func (c *claims) workOf(jobs []int) float64 {
	var total float64
	for _, j := range jobs {
		total += c.of[j].work
	}
	return total
}

// workWithin returns bounds of [claims.workOf] the jobs present, in O(1) as a rule where their sum is kept. Where little is left of a large one, it is
// added anew.
func (c *claims) workWithin(jobs []int) (least, most float64) {
	const loose = 1e-12 // parts seldom hang on less
	w := c.present
	if w == nil {
		total := c.workOf(jobs)
		return total, total
	}
	if w.off() > loose*w.sum.Value() {
		w.sum, w.terms, w.size = num.Sum{}, 0, 0
		for _, j := range jobs {
			w.add(c.of[j].work)
		}
	}
	return w.within(len(jobs))
}
