package queue

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"

	"productform/cluster"
	"productform/internal/input"
	"productform/oiqueue"
	"productform/sim"
	"productform/stability"
)

// A Queue is an order-independent queue with exponential sizes, or any other queue of this form:
// with jobs of classes c_1, ..., c_n, oldest first, the job at position k finishes at the rate
// μ(c_1, ..., c_k) - μ(c_1, ..., c_{k-1}). It then departs or, with the probabilities of Routing,
// joins the end of the queue as a job of some class.
//
// Jobs are counted by visit, from joining the end of the queue to the end of service. In the
// results, the arrival rate of a class is the effective one; delays, including the mean delay of
// all jobs, and service rates are per visit.
//
// Such a queue is a Markov chain and is simulated by its jumps: each state counts for the expected
// time 1/(Σ_i ν_i + μ(c)) spent in it, so no exponential variables are drawn. Over a horizon and
// for quantiles of delays these times are drawn, because the state at a given time, or the delay of
// each job, is needed.
//
// Stability is checked for a Rank table, and for a TotalRate with Saturation of at most 12 classes;
// for other functions it is up to the caller. A run ends with an error that wraps
// [sim.ErrTooManyJobs] when more than 10,000,000 jobs are present, or with an error when it reaches
// a state in which the function is not positive or decreases when a job arrives.
type Queue struct {
	Model *oiqueue.Queue // TotalRate and OrderedRate are called concurrently by several replications
	// nil if no job returns; otherwise its rates replace Model.ArrivalRates, as in [oiqueue.Routed]
	Routing *oiqueue.Routing

	// RatesKey is needed only if samples are stored in a folder, and is "" with Rank.
	// It identifies TotalRate or OrderedRate in the names of samples, together with the values at
	// 50 states of at most 25 jobs, for which the function is called before the run. Two functions
	// that agree there must not share a key. The random numbers also derive from both.
	RatesKey string
}

// visits is a checked queue: all replications share it.
type visits struct {
	model    *oiqueue.Queue
	dense    *denseRates
	external []float64   // ν_i, summed up to class i
	next     [][]float64 // cumulative probability of becoming a job of class 0..j; nil if all depart
	timed    bool        // whether the times of states are drawn
}

// Describe implements [sim.System].
func (q Queue) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	model, external, err := q.checked(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkStable(ctx, model, o.OverHorizon); err != nil {
		return nil, err
	}
	v := &visits{model: model, timed: o.OverHorizon || o.Delays}
	d := &sim.Description{Method: "jump chain of the queue in order of arrival"}
	source := "Model.ArrivalRates"
	if q.Routing != nil {
		source = "Routing.External"
	}
	var text []any
	outside := 0.0
	for i, exact := range external {
		rate, err := sim.RateOf(fmt.Sprintf("%s[%d]", source, i), exact)
		if err != nil {
			return nil, err
		}
		effective, err := sim.RateOf(
			fmt.Sprintf("Routing: effective arrival rate of class %d", i), model.ArrivalRates[i],
		)
		if err != nil {
			return nil, err
		}
		outside += rate
		v.external = append(v.external, outside)
		d.Classes = append(d.Classes, sim.Class{Name: strconv.Itoa(i), ArrivalRate: effective, MeanSize: 1})
		d.JumpRate += rate + effective
		text = append(text, exact.RatString())
	}
	if outside == 0 {
		return nil, input.Errorf(source, "all 0", "jobs to simulate")
	}
	if q.Routing != nil {
		for _, row := range q.Routing.Prob {
			cumulative, names := accumulate(row)
			v.next, text = append(v.next, cumulative), append(text, names)
		}
	}
	if model.Rank == nil {
		values, err := fingerprintOf(model)
		if err != nil {
			return nil, err
		}
		d.Identity = []any{"queue", text, "rates", q.RatesKey, values, model.Saturation, v.timed}
		if q.RatesKey == "" {
			d.Unnamed = "RatesKey"
		}
	} else {
		rank, name, err := readRank("Model.Rank", model.Rank)
		if err != nil {
			return nil, err
		}
		v.dense = rankRates(rank, len(external))
		d.Identity = []any{"queue", text, "rank", name, v.timed}
	}
	d.Start = func(_ context.Context, r *sim.Stream) sim.Engine { return newVisitQueue(v, r) }
	return d, nil
}

// checked returns the model with effective arrival rates, and the external rates.
func (q Queue) checked(ctx context.Context) (*oiqueue.Queue, []*big.Rat, error) {
	if q.Model == nil {
		return nil, nil, input.Errorf("Model", "nothing", "an order-independent queue")
	}
	if err := q.Model.Check(ctx); err != nil {
		return nil, nil, err
	}
	if q.Model.Rank != nil && q.RatesKey != "" {
		return nil, nil, input.Errorf("RatesKey", q.RatesKey, "none with Rank")
	}
	if n := len(q.Model.ArrivalRates); n > maxRateClasses {
		return nil, nil, input.Errorf("Model.ArrivalRates", fmt.Sprintf("%d rates", n), "at most %d", maxRateClasses)
	}
	if q.Routing == nil {
		return q.Model, q.Model.ArrivalRates, nil
	}
	routed, err := oiqueue.Routed(ctx, q.Model, *q.Routing)
	if err != nil {
		return nil, nil, err
	}
	return routed, q.Routing.External, nil
}

// maxCheckedClasses is the largest number of classes for which a TotalRate is evaluated for all
// sets of classes.
const maxCheckedClasses = 12

// checkStable returns an error for an overloaded set of classes, as far as it can tell from the
// rates with Saturation jobs of each of these classes.
func checkStable(ctx context.Context, q *oiqueue.Queue, overHorizon bool) error {
	rank := q.Rank
	if q.TotalRate != nil && q.Saturation != nil && len(q.ArrivalRates) <= maxCheckedClasses {
		rank = make([]*big.Rat, 1<<len(q.ArrivalRates))
		for a := 1; a < len(rank); a++ {
			x := make([]int, len(q.Saturation))
			for i, m := range q.Saturation {
				x[i] = m * (a >> i & 1)
			}
			rank[a] = q.TotalRate(x)
		}
	}
	if rank == nil || overHorizon {
		return nil
	}
	v, err := stability.Rank(ctx, q.ArrivalRates, rank)
	if err != nil {
		return fmt.Errorf("the rates with as many jobs of some classes as Saturation: %w", err)
	}
	if !v.Stable {
		return &cluster.UnstableError{Classes: v.Bottleneck, ArrivalRate: v.Arrival, Capacity: v.Capacity}
	}
	return nil
}

// accumulate returns the cumulative sums of probabilities, where nil means 0, and the probabilities
// as text.
func accumulate(probs []*big.Rat) (cumulative []float64, names []string) {
	sum := new(big.Rat)
	for _, p := range probs {
		name := "0"
		if p != nil {
			sum.Add(sum, p)
			name = p.RatString()
		}
		v, _ := sum.Float64()
		cumulative, names = append(cumulative, v), append(names, name)
	}
	return cumulative, names
}

// A visitor is a job of a visitQueue.
type visitor struct {
	born  float64 // time at which it joined the queue
	class int
}

// visitQueue is the engine of a queue. With n jobs of N classes a jump takes O(N + n), plus the
// calls of the rate function. It allocates only when there are more jobs than ever before, and to
// cache rates.
type visitQueue struct {
	*visits
	rates *queueRates
	draws *rand.Rand
	mu    float64   // service rate in the current state
	now   float64   // time
	jump  float64   // time at which the state ends
	jobs  []visitor // jobs[head:], oldest first
	head  int
	sim.Population
}

func newVisitQueue(v *visits, r *sim.Stream) *visitQueue {
	q := &visitQueue{
		visits:     v,
		rates:      newQueueRates(v.model, v.dense),
		draws:      rand.New(r),
		Population: sim.NewPopulation(len(v.external)),
	}
	q.jump = q.holdingTime()
	return q
}

// holdingTime returns how long the state lasts.
func (q *visitQueue) holdingTime() float64 {
	mean := 1 / (q.external[len(q.external)-1] + q.mu)
	if q.timed {
		return q.draws.ExpFloat64() * mean
	}
	return mean
}

// Advance simulates t units of time. Its error is an [oiqueue.RateError] or wraps
// [sim.ErrTooManyJobs].
func (q *visitQueue) Advance(t float64, seen *sim.Totals) error {
	outside := q.external[len(q.external)-1]
	for q.jump <= t {
		seen.Jumps++
		q.now = q.jump
		var err error
		if u := q.draws.Float64() * (outside + q.mu); u < outside {
			i := 0
			for u >= q.external[i] {
				i++
			}
			err = q.join(i, seen)
		} else {
			err = q.depart(u-outside, seen)
		}
		if err != nil {
			return err
		}
		if q.mu, err = q.rates.of(q.Present, q.jobs[q.head:]); err != nil {
			return err
		}
		q.jump = q.now + q.holdingTime()
	}
	q.flush(t, seen)
	return nil
}

// depart ends the visit of the job at the first position k with μ(c_1, ..., c_k) > u.
func (q *visitQueue) depart(u float64, seen *sim.Totals) error {
	jobs := q.jobs[q.head:]
	q.rates.reset()
	k, before := 0, 0.0
	for at := range jobs {
		mu, err := q.rates.push(jobs[at].class)
		if err != nil {
			return err
		}
		if mu < before {
			return q.rates.decreaseError(jobs[:at], jobs[:at+1])
		}
		if mu > q.mu {
			return q.rates.decreaseError(jobs[:at+1], jobs)
		}
		if mu > before { // the last such k, if rounding leaves none with μ > u
			k, before = at, mu
		}
		if mu > u {
			break
		}
	}
	job := jobs[k]
	copy(jobs[1:k+1], jobs[:k])
	q.head++
	if q.head > 1000 && q.head > len(q.jobs)/2 {
		q.jobs = q.jobs[:copy(q.jobs, q.jobs[q.head:])]
		q.head = 0
	}
	q.Change(job.class, -1, q.now, seen)
	seen.Leave(job.class, q.now-job.born)
	if q.next == nil {
		return nil
	}
	p := q.draws.Float64()
	for j, sum := range q.next[job.class] {
		if p < sum {
			return q.join(j, seen)
		}
	}
	return nil
}

// join adds a job to the end of the queue.
func (q *visitQueue) join(class int, seen *sim.Totals) error {
	if err := sim.CheckJobs(q.Total+1, sim.MaxJobs); err != nil {
		return err
	}
	q.Change(class, 1, q.now, seen)
	q.jobs = append(q.jobs, visitor{q.now, class})
	return nil
}

// flush counts up to the end of an advance at time t, which becomes time 0.
func (q *visitQueue) flush(t float64, seen *sim.Totals) {
	q.Population.Flush(t, seen)
	for k := q.head; k < len(q.jobs); k++ {
		q.jobs[k].born -= t
	}
	q.jump -= t
	q.now = 0
}
