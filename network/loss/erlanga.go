package loss

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/num"
)

// A Queue is a pool of equal servers with one queue, whose waiting jobs may give up. Jobs arrive as
// a Poisson process and run on one server each, first come, first served. Durations and patience
// are exponential.
type Queue struct {
	Servers      int      // n >= 1
	ArrivalRate  *big.Rat // λ > 0, jobs per unit of time
	MeanDuration *big.Rat // σ = 1/μ > 0, mean time that a job runs

	// MeanPatience is 1/θ >= 0, the mean time after which a job gives up if it still waits. If it
	// is 0, jobs that find all servers busy are lost (Erlang B). If it is nil, no jobs give up
	// (Erlang C).
	MeanPatience *big.Rat
}

// A QueueQuestion selects measures of the distribution of waiting in a [Queue].
type QueueQuestion struct {
	Within []*big.Rat // times t >= 0 for P(W <= t)
	Levels []*big.Rat // levels in (0, 1) of percentiles of the waiting of served jobs
}

// A QueueResult holds the stationary measures of a [Queue]. The waiting W of a job ends when it
// starts or gives up. Every number is within RelativeErrorBound of the exact value; percentiles are
// between their own bounds, Low and High.
type QueueResult struct {
	Engine num.Engine `json:"engine"` // the engine that computed the numbers: Float or Enclose

	// RelativeErrorBound is proved. It includes the omitted terms of the series.
	RelativeErrorBound float64 `json:"relative_error_bound"`

	WaitProbability      num.Value  `json:"wait_probability"`       // P(W > 0)
	AbandonProbability   num.Value  `json:"abandon_probability"`    // fraction of the jobs that give up
	MeanWaiting          num.Value  `json:"mean_waiting"`           // mean waiting time of all jobs
	MeanWaitingServed    num.Value  `json:"mean_waiting_served"`    // mean over the jobs that are served
	MeanWaitingAbandoned *num.Value `json:"mean_waiting_abandoned"` // mean over the jobs that give up; nil if none do
	MeanQueue            num.Value  `json:"mean_queue"`             // mean number of waiting jobs
	MeanJobs             num.Value  `json:"mean_jobs"`              // mean number of jobs, running or waiting
	Utilization          num.Value  `json:"utilization"`            // fraction of the time that a server is busy

	Within      []QueueWithin     `json:"within"`      // one for each time of the question
	Percentiles []QueuePercentile `json:"percentiles"` // one for each level of the question
}

// A QueueWithin holds the fractions of jobs that wait at most a given time.
type QueueWithin struct {
	Time           *big.Rat  `json:"time"`             // t
	WaitWithin     num.Value `json:"wait_within"`      // P(W <= t) over all jobs
	ServedWithin   num.Value `json:"served_within"`    // P(served and W <= t) over all jobs
	WithinIfServed num.Value `json:"within_if_served"` // P(W <= t) over served jobs
}

// A QueuePercentile is a percentile of the waiting of served jobs.
type QueuePercentile struct {
	Level   *big.Rat  `json:"level"`   // in (0, 1)
	Waiting num.Value `json:"waiting"` // the shortest t with P(W <= t | served) >= Level
}

// ErlangA returns the measures of a queue whose waiting jobs may give up, the M/M/n+M queue of
// Palm. With nμ = n/σ, N jobs in the system and k >= 0 of them waiting,
//
//	P(N = n+k) = P(N = n) t_k,  t_k = λ^k / Π_{i=1..k} (nμ+iθ),  P(N < n) = P(N = n) (1/B(n) - 1),
//
// where B is [ErlangB]. A job that finds k waiting is served with probability nμ/(nμ+(k+1)θ), and
//
//	P(W > 0)      = P(N = n) Σ_k t_k
//	E[W; served]  = P(N = n) Σ_k t_k nμ/(nμ+(k+1)θ) Σ_{i=1..k+1} 1/(nμ+iθ)
//	E[W; gave up] = P(N = n) Σ_k t_k  1/(nμ+(k+1)θ) Σ_{i=1..k+1} iθ/(nμ+iθ).
//
// All terms are positive. The bounds on the result include a proved bound on the omitted terms.
// The number of terms is about the smaller of 50/(1-ρ) and 10 √(λ/θ), ρ = λ/nμ, if ρ < 1, and
// otherwise (λ-nμ)/θ + 10 √(λ/θ). A time of the question takes as many, a percentile ten to twenty
// times as many. No fractions exist, so the engine [num.Exact] is rejected.
//
// The error is a *[num.InputError], a *[num.TooLargeError] beyond 2^24 terms, an [*UnstableError]
// if jobs do not give up and λ >= nμ, or the error of the context. The formulas are those of Palm
// (1957), Baccelli and Hebuterne (1981), and Mandelbaum and Zeltyn ("The impact of customers'
// patience on delay and abandonment", OR Spectrum 26, 2004).
func ErlangA(ctx context.Context, q *Queue, ask QueueQuestion, s FormulaSettings) (*QueueResult, error) {
	if err := q.check(ask); err != nil {
		return nil, err
	}
	tol, err := arithmetic.CheckEngine(s.Engine, s.RelTol)
	if err != nil {
		return nil, err
	}
	if s.Engine == num.Exact {
		return nil, input.Errorf("Engine", s.Engine, "auto, float or enclose: infinite series have no exact fractions")
	}
	return arithmetic.Climb(ladder(s.Engine, tol), func(engine num.Engine, prec uint) (*QueueResult, float64, error) {
		l, err := delays.NewLine(ctx, delays.Queue(*q), engine, prec)
		if err != nil {
			return nil, 0, err
		}
		var o arithmetic.Output
		r := queueMeans(l, &o)
		r.Engine = engine
		if len(ask.Within)+len(ask.Levels) > 0 {
			if l, err = l.Whole(); err != nil {
				return nil, 0, err
			}
		}
		if err := r.addDistribution(l, &o, ask, tol); err != nil {
			return nil, 0, err
		}
		r.RelativeErrorBound = o.Bound
		return r, o.Width, o.Check()
	})
}

// check checks a queue and a question.
func (q *Queue) check(ask QueueQuestion) error {
	if q.Servers < 1 || q.Servers > maxUnits {
		return input.Errorf("Servers", q.Servers, "an integer from 1 to %d", maxUnits)
	}
	if err := input.CheckNumber("ArrivalRate", q.ArrivalRate, input.Positive); err != nil {
		return err
	}
	if err := input.CheckNumber("MeanDuration", q.MeanDuration, input.Positive); err != nil {
		return err
	}
	if q.MeanPatience != nil {
		if err := input.CheckNumber("MeanPatience", q.MeanPatience, input.Nonnegative); err != nil {
			return err
		}
	} else if load := new(big.Rat).Mul(q.ArrivalRate, q.MeanDuration); load.Cmp(ratOf(q.Servers)) >= 0 {
		return &UnstableError{Load: load, Capacity: ratOf(q.Servers)}
	}
	for i, t := range ask.Within {
		if err := input.CheckNumber(input.Index("Within", i), t, input.Nonnegative); err != nil {
			return err
		}
	}
	for i, level := range ask.Levels {
		path := input.Index("Levels", i)
		if err := input.CheckNumber(path, level, input.Positive); err != nil {
			return err
		}
		if level.Cmp(ratOf(1)) >= 0 {
			return input.Errorf(path, level.RatString(), "a number in (0, 1)")
		}
	}
	return nil
}

// queueMeans returns a result with all means.
func queueMeans(l *delays.Line, o *arithmetic.Output) *QueueResult {
	m := l.Measures()
	r := &QueueResult{
		WaitProbability: o.Value(m.Wait), AbandonProbability: o.Value(m.Abandon), MeanWaiting: o.Value(m.Waiting),
		MeanWaitingServed: o.Value(m.WaitingServed), MeanQueue: o.Value(m.Queue),
		MeanJobs:    o.Value(m.Queue.Add(m.Busy)),
		Utilization: o.Value(m.Utilization),
	}
	if m.WaitingAbandoned != nil {
		r.MeanWaitingAbandoned = o.Pointer(*m.WaitingAbandoned)
	}
	return r
}

// addDistribution adds the answers to a question about the distribution of waiting.
func (r *QueueResult) addDistribution(l *delays.Line, o *arithmetic.Output, ask QueueQuestion, tol float64) error {
	for _, t := range ask.Within {
		w, err := l.Within(t)
		if err != nil {
			return err
		}
		r.Within = append(r.Within, QueueWithin{
			Time: t, WaitWithin: o.Value(w.All), ServedWithin: o.Value(w.Served), WithinIfServed: o.Value(w.IfServed),
		})
	}
	for _, level := range ask.Levels {
		v, width, err := l.Percentile(delays.ServedJobs, level, tol)
		if err != nil {
			return err
		}
		o.Width = max(o.Width, width)
		r.Percentiles = append(r.Percentiles, QueuePercentile{level, v})
	}
	return nil
}
