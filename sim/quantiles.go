package sim

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// A Quantile is an estimated quantile of the delays of the jobs that depart while a run is
// observed: the delay that a fraction Level of them does not exceed.
//
// The delays of all replications are pooled in bins of relative width [BinWidth]. Value is the time
// below which a fraction Level of them lies if the delays in each bin are spread evenly over it; it
// differs from the quantile of the observed delays by less than the width of a bin. Quantiles of
// single replications are not computed because they would be biased.
//
// For the interval, let N_r of the n_r jobs of replication r have delays below the true quantile.
// In the stationary state N_r - Level n_r has mean 0 even in short replications, because
// all are observed for the same time; over a horizon this defines the true quantile. Since
// replications are independent, the variance of N_r - Level n_r, computed at Value, includes all
// correlations between jobs. It gives Student's interval Level ± δ for the fraction of the jobs
// below the true quantile. Low and High are the times below which fractions Level-δ and Level+δ
// lie, rounded away from Value to ends of bins, so the interval covers the error of binning (R. S.
// Woodruff, "Confidence intervals for medians and other position measures", Journal of the American
// Statistical Association 47 (1952), 635–646).
type Quantile struct {
	Kind       Kind    // [OfAll], [OfClass] or [OfVisit]
	Index      int     // index of the class or visit
	Of         string  // its name
	Level      float64 // in (0, 1); 0.99 is the 99th percentile
	Value      float64 // in units of time
	Low, High  float64 // the interval
	Confidence float64 // coverage probability of such intervals if there are enough jobs
	// standard error of Value: half the width of the unrounded interval divided by Student's
	// quantile
	StdError float64
	Jobs     float64 // number of delays, in all replications
	Runs     int     // number of replications
}

// Z returns the number of standard errors by which the estimate exceeds the exact value; see
// [Estimate.Z].
func (q *Quantile) Z(exact float64) float64 {
	return Estimate{Mean: q.Value, StdError: q.StdError, Runs: q.Runs}.Z(exact)
}

const (
	minBeyond      = 10 // minimum number of jobs above and below a quantile for an estimate
	minIndependent = 20 // minimum effective number of independent jobs above and below for a reliable interval
)

// quantiles estimates the requested quantiles for all jobs, each class and each visit, and warns if
// there are too few jobs. Quantiles that cannot be estimated are omitted.
func (p *Plan) quantiles(ctx context.Context, r *Result, samples []*Sample) error {
	if len(p.settings.Levels) == 0 {
		return nil
	}
	lists := make([][]Histogram, len(samples))
	var doubts worsts
	add := func(one Quantile, name, times string, warn bool) error {
		d, err := newSeenDelays(ctx, lists)
		if err != nil {
			return err
		}
		one.Confidence, one.Jobs, one.Runs = p.settings.Confidence, d.jobs(), len(lists)
		for _, level := range p.settings.Levels {
			q := one
			q.Level = level
			known, why, enough := d.estimate(&q)
			if known {
				r.Quantiles = append(r.Quantiles, q)
			}
			if warn && why != "" {
				words := fmt.Sprintf("%s: percentile %.12g of %s: %s", name, 100*level, times, why)
				doubts.add(fmt.Sprint(level, known, enough > 0), enough, "", words)
			}
		}
		return nil
	}
	arrive := 0 // number of classes with arrivals
	for _, c := range p.Classes {
		if c.ArrivalRate > 0 {
			arrive++
		}
	}
	for k, s := range samples {
		lists[k] = s.Delays[:len(p.Classes)]
	}
	// with only one such class, the warning names that class
	if err := add(Quantile{Kind: OfAll}, "all jobs", "delays", arrive > 1); err != nil {
		return err
	}
	for i := range samples[0].Delays {
		for k, s := range samples {
			lists[k] = s.Delays[i : i+1]
		}
		one, what, times, rows := Quantile{Kind: OfClass, Index: i, Of: p.rowName(i)}, "class ", "delays", p.Classes
		if visit := i - len(p.Classes); visit >= 0 {
			one.Kind, one.Index, what, rows = OfVisit, visit, "visit ", p.Visits
			if p.VisitTimes != "" {
				what, times = "", p.VisitTimes
			}
		}
		// the jobs of closed systems depart although they have no arrival rates
		warn := rows[one.Index].ArrivalRate > 0 ||
			slices.ContainsFunc(samples, func(s *Sample) bool { return s.Left[i] > 0 })
		if err := add(one, what+one.Of, times, warn); err != nil {
			return err
		}
	}
	doubts.warn(r)
	return nil
}

// seenDelays holds the delays of some jobs.
type seenDelays struct {
	runs  []tally // one tally per replication
	whole tally   // tally of all replications together
}

// newSeenDelays adds up the histograms of each replication and of all replications together.
func newSeenDelays(ctx context.Context, lists [][]Histogram) (*seenDelays, error) {
	d := &seenDelays{runs: make([]tally, len(lists))}
	run, whole := new(Counter), new(Counter)
	for r, list := range lists {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for k := range list {
			whole.merge(&list[k])
		}
		if len(list) == 1 {
			d.runs[r] = list[0].tally()
			continue
		}
		for k := range list {
			run.merge(&list[k])
		}
		d.runs[r] = run.tally()
	}
	d.whole = whole.tally()
	return d, nil
}

// jobs returns the number of jobs.
func (d *seenDelays) jobs() float64 { return float64(d.whole.total()) }

// estimate completes a quantile whose Level, Confidence and Runs are set; known reports whether
// that was possible. If it was not, or if the interval is unreliable, why gives the reason, and
// enough gives the fraction of the required jobs that are available, if known.
func (d *seenDelays) estimate(q *Quantile) (known bool, why string, enough float64) {
	rare, side := 1-q.Level, "above"
	if q.Level < 0.5 {
		rare, side = q.Level, "below"
	}
	if beyond := rare * d.jobs(); beyond < minBeyond {
		return false, fmt.Sprintf("only %.3g jobs of all runs are %s it, and an estimate needs %d",
			beyond, side, minBeyond), beyond
	}
	at := d.whole.reached(q.Level * d.jobs())
	part := d.stdError(at, q.Level)
	student := studentQuantile((1+q.Confidence)/2, float64(q.Runs-1))
	upper, lower := q.Level+student*part, q.Level-student*part
	if !(upper <= 1) {
		return false, "its interval has no upper end: more or longer runs are needed", 0
	}
	high, low := d.whole.reached(upper*d.jobs()), place{}
	if lower > 0 {
		low = d.whole.reached(lower * d.jobs())
	}
	q.Value, q.Low, q.High = at.value(), binEnd(low.bin), high.end()
	q.StdError = (high.value() - low.value()) / (2 * student)
	if independent := rare * q.Level * (1 - q.Level) / (part * part); independent < minIndependent {
		why = fmt.Sprintf("the runs are worth about %.2g independent jobs %s it, and intervals need %d",
			independent, side, minIndependent)
		enough = independent
	}
	return true, why, enough
}

// stdError returns the standard error of the fraction of the jobs below the position at which a
// level is reached.
func (d *seenDelays) stdError(at place, level float64) float64 {
	var squares float64
	for r := range d.runs {
		run := &d.runs[r]
		before, within := run.counts(at.bin)
		// its mean over the replications is 0 by the choice of at
		off := float64(before) + at.part*float64(within) - level*float64(run.total())
		squares += off * off
	}
	runs := float64(len(d.runs))
	return math.Sqrt(squares*runs/(runs-1)) / d.jobs()
}
