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

// A Queue is an order-independent queue with exponential sizes, or any other queue of the form: with jobs of classes
// c_1, ..., c_n, oldest first, the job at position k is done at the rate μ(c_1, ..., c_k) - μ(c_1, ..., c_{k-1}). It then leaves, or
// with the probabilities of Routing joins the end of the queue as a job of a class.
//
// Jobs are counted by visit, from joining the end of the queue to the end of service: the arrival rate of a class in the
// results is the effective one, and its delays and rates of service are those of a visit. The mean delay of all
// jobs, too, is that of a visit.
//
// Such a queue is a Markov chain: it is simulated by its jumps, each state standing for the expected time 1/(Σ_i ν_i + μ(c))
// spent in it, so that no exponential variable is drawn. Over a horizon and for quantiles of delays these times are drawn, since
// the state at a given time, or the delay of each job, is wanted.
//
// A Rank table, and a TotalRate with Saturation of at most 12 classes, are checked to be stable; other functions are
// the caller's business. A run ends with an error when more than 10,000,000 jobs are present, which wraps
// [sim.ErrTooManyJobs], or when it meets a state in which the function is not positive or falls when a job arrives.
type Queue struct {
	Model   *oiqueue.Queue   // TotalRate and OrderedRate are called by several replications at the same time
	Routing *oiqueue.Routing // nil if no job comes back; else its rates take the place of Model.ArrivalRates, as in [oiqueue.Routed]

	// RatesKey is wanted only if samples are kept, in [sim.Settings].Folder, and is "" with Rank. It stands for TotalRate or OrderedRate
	// in their names, together with the values at 50 states of at most 25 jobs, for which the function is called before the
	// run. Two functions that agree there must not share a key. The random numbers come from both, too.
	RatesKey string
}

// A visits is a queue: what all its replications have in common.
type visits struct {
	model    *oiqueue.Queue
	dense    *denseRates
	external []float64   // ν_i, summed up to class i
	next     [][]float64 // probability to become a job of class 0..j, summed; nil if all leave
	timed    bool        // the times of states are drawn
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
		effective, err := sim.RateOf(fmt.Sprintf("Routing: effective arrival rate of class %d", i), model.ArrivalRates[i])
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

// checked returns the model with effective arrival rates, and the external ones.
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

// maxCheckedClasses bounds the classes of a TotalRate that is asked for all their sets.
const maxCheckedClasses = 12

// checkStable returns an error for an overloaded set of classes, as far as that is known: from the rates with
// as many jobs of these classes as matter.
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
		return fmt.Errorf("the rates with as many jobs as Saturation says of some classes: %w", err)
	}
	if !v.Stable {
		return &cluster.UnstableError{Classes: v.Bottleneck, ArrivalRate: v.Arrival, Capacity: v.Capacity}
	}
	return nil
}

// accumulate returns the sums of probabilities, nil being 0, and their names.
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
	born  float64 // time at which it joined
	class int
}

// visitQueue is a queue in motion. With n jobs of N classes a jump takes O(N + n), besides the calls of
// the rate function, and allocates nothing but room for more jobs than ever before, and for what it remembers of the rates.
type visitQueue struct {
	*visits
	rates *queueRates
	draws *rand.Rand
	mu    float64   // rate of service in this state
	now   float64   // time
	jump  float64   // time at which the state ends
	jobs  []visitor // jobs[head:], oldest first
	head  int
	sim.Population
}

func newVisitQueue(v *visits, r *sim.Stream) *visitQueue {
	q := &visitQueue{visits: v, rates: newQueueRates(v.model, v.dense), draws: rand.New(r), Population: sim.NewPopulation(len(v.external))}
	q.jump = q.holdingTime()
	return q
}

// holdingTime returns the time for which the state lasts.
func (q *visitQueue) holdingTime() float64 {
	mean := 1 / (q.external[len(q.external)-1] + q.mu)
	if q.timed {
		return q.draws.ExpFloat64() * mean
	}
	return mean
}

// Advance simulates t units of time. The error is an [oiqueue.RateError], or wraps [sim.ErrTooManyJobs].
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
			return q.rates.falls(jobs[:at], jobs[:at+1])
		}
		if mu > q.mu {
			return q.rates.falls(jobs[:at+1], jobs)
		}
		if mu > before { // the last such k, should rounding leave none with μ > u
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

// join puts a job at the end of the queue.
func (q *visitQueue) join(class int, seen *sim.Totals) error {
	if err := sim.CheckJobs(q.Total+1, sim.MaxJobs); err != nil {
		return err
	}
	q.Change(class, 1, q.now, seen)
	q.jobs = append(q.jobs, visitor{q.now, class})
	return nil
}

// flush counts what lasts until the end of an advance at time t, and sets the clock to 0.
func (q *visitQueue) flush(t float64, seen *sim.Totals) {
	q.Population.Flush(t, seen)
	for k := q.head; k < len(q.jobs); k++ {
		q.jobs[k].born -= t
	}
	q.jump -= t
	q.now = 0
}
