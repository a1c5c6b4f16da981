package queue

import (
	"encoding/binary"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/oiqueue"
)

// queueRates computes the rates μ of a queue in float64 and caches them: in a table indexed by Σ_i
// min(x_i, m_i) stride_i if only small numbers of jobs matter, otherwise in a map that is emptied
// when full.
type queueRates struct {
	model  *oiqueue.Queue
	dense  *denseRates
	sparse map[string]float64

	counts []int // min(x_i, m_i), by class
	at     int   // current index in dense
	key    []byte
	order  []int // classes, if their order matters
	clone  []int // copy passed to the function
}

// denseRates is a table of rates by numbers of jobs.
type denseRates struct {
	lattice.Box
	rates []float64 // 0 if not yet known
}

// Limits on the cache of a queueRates.
const (
	maxDense  = 1 << 16
	maxSparse = 1 << 24 // bytes of keys
)

// rankRates returns the complete table of a rank function on some classes.
func rankRates(rank []float64, classes int) *denseRates {
	return &denseRates{lattice.FirstFastest(slices.Repeat([]int{1}, classes)), rank}
}

// newQueueRates returns the rates of a queue. The table of a Rank is not modified; it is nil for a
// function.
func newQueueRates(q *oiqueue.Queue, rank *denseRates) *queueRates {
	n := len(q.ArrivalRates)
	r := &queueRates{model: q, dense: rank, counts: make([]int, n), key: make([]byte, 4*n)}
	if q.TotalRate != nil && q.Saturation != nil && lattice.Size(q.Saturation) <= maxDense {
		box := lattice.FirstFastest(q.Saturation)
		r.dense = &denseRates{box, make([]float64, box.States)}
	}
	if r.dense == nil {
		r.sparse = make(map[string]float64)
	}
	return r
}

// of returns μ with x jobs, in this order.
func (r *queueRates) of(x []int, jobs []visitor) (float64, error) {
	if len(jobs) == 0 {
		return 0, nil
	}
	r.reset()
	if r.model.OrderedRate != nil {
		for _, j := range jobs {
			r.add(j.class, 1)
		}
		return r.find()
	}
	for i, n := range x {
		if n > 0 {
			r.add(i, n)
		}
	}
	return r.find()
}

// reset returns to the empty queue.
func (r *queueRates) reset() {
	clear(r.counts)
	r.at = 0
	r.order = r.order[:0]
	if r.model.OrderedRate != nil {
		r.key = r.key[:0]
	} else if r.dense == nil {
		clear(r.key)
	}
}

// push adds a job at the end and returns μ.
func (r *queueRates) push(class int) (float64, error) {
	r.add(class, 1)
	return r.find()
}

// add adds n jobs of a class at the end without computing the rate.
func (r *queueRates) add(class, n int) {
	if r.model.OrderedRate != nil {
		r.order = append(r.order, class)
		r.key = binary.LittleEndian.AppendUint16(r.key, uint16(class))
		return
	}
	if r.model.Rank != nil {
		n = min(n, 1-r.counts[class])
	} else if m := r.model.Saturation; m != nil {
		n = min(n, m[class]-r.counts[class])
	}
	r.counts[class] += n
	if r.dense != nil {
		r.at += n * r.dense.Stride[class]
	} else {
		binary.LittleEndian.PutUint32(r.key[4*class:], uint32(r.counts[class]))
	}
}

// find returns the rate of the queue, from the cache or the function.
func (r *queueRates) find() (float64, error) {
	if r.dense != nil {
		if mu := r.dense.rates[r.at]; mu > 0 {
			return mu, nil
		}
	} else if mu := r.sparse[string(r.key)]; mu > 0 {
		return mu, nil
	}
	exact := r.exactRate()
	if exact == nil || exact.Sign() <= 0 {
		return 0, &oiqueue.RateError{State: r.state(), Rate: exact, Err: oiqueue.ErrNotPositive}
	}
	mu, _ := exact.Float64()
	if !(mu >= 1e-300 && mu <= 1e300) {
		return 0, input.Errorf("a rate of the queue", exact.RatString(), "a number in [1e-300, 1e300]")
	}
	if r.dense != nil {
		r.dense.rates[r.at] = mu
		return mu, nil
	}
	if (len(r.sparse)+1)*(len(r.key)+32) > maxSparse {
		clear(r.sparse)
	}
	r.sparse[string(r.key)] = mu
	return mu, nil
}

// exactRate returns the exact rate.
func (r *queueRates) exactRate() *big.Rat {
	if r.model.Rank != nil {
		return r.model.Rank[r.at]
	}
	if r.model.OrderedRate != nil {
		r.clone = append(r.clone[:0], r.order...)
		return r.model.OrderedRate(r.clone)
	}
	r.clone = append(r.clone[:0], r.counts...)
	return r.model.TotalRate(r.clone)
}

// state lists the classes of the jobs, oldest first, or by class if the order does not matter.
func (r *queueRates) state() []int {
	if r.model.OrderedRate != nil {
		return slices.Clone(r.order)
	}
	var c []int
	for i, n := range r.counts {
		for range n {
			c = append(c, i)
		}
	}
	return c
}

// decreaseError returns the error for a rate that decreases when jobs arrive.
func (r *queueRates) decreaseError(before, after []visitor) error {
	e := &oiqueue.RateError{Err: oiqueue.ErrNotMonotone}
	e.Other, e.OtherRate = r.exact(before)
	e.State, e.Rate = r.exact(after)
	return e
}

func (r *queueRates) exact(jobs []visitor) ([]int, *big.Rat) {
	r.reset()
	for _, j := range jobs {
		r.add(j.class, 1)
	}
	return r.state(), r.exactRate()
}
