package gibbs

import (
	"fmt"
	"math"

	"productform/internal/input"
)

// result turns a sample into the result.
func (r *runner) result(x *sample) (*Result, error) {
	jobs := x.mean(r.jobs)
	out := &Result{MeanJobs: jobs, Chains: len(r.chains), Sweeps: r.swept, BurnIn: r.burned,
		Autocorrelation: x.autocorrelation(r.jobs),
		PrecisionMet:    r.settings.Sweeps > 0 || jobs.HalfWidth <= r.settings.Precision*jobs.Mean}
	out.EffectiveSamples = float64(r.swept*len(r.chains)) / out.Autocorrelation
	if r.rate > 0 {
		delay := jobs.times(1 / r.rate)
		out.MeanDelay = &delay
	}
	out.EmptyProbability = r.emptyProbability(x)
	ownSizes := r.model.HasOwnMeanSizes()
	for i := range r.model.Classes {
		out.Classes = append(out.Classes, r.classResult(x, i))
		if ownSizes {
			out.Classes[i].MeanSize = r.model.MeanSizeOf(i)
		}
	}
	for s, row := range r.model.Servers {
		out.Servers = append(out.Servers, ServerResult{row.Name, row.GroupSize(), r.utilization(x, s)})
	}
	if r.settings.MaxJobs > 0 {
		out.JobsDistribution = r.law(x, r.jobsLaw)
	}
	if r.settings.Gradient {
		out.Gradient = r.gradient(x)
	}
	r.judge(out, x)
	return out, out.checkRange()
}

func (r *runner) classResult(x *sample, i int) ClassResult {
	row := r.problem.classes[i]
	class := r.model.Classes[i]
	c := ClassResult{Name: class.Name, ArrivalRate: class.ArrivalRate, MeanJobs: Estimate{Confidence: x.confidence}}
	if row.class >= 0 {
		delay := x.mean(r.delays + row.class).times(row.size)
		c.MeanJobs = delay.times(row.rate)
		rate := c.MeanJobs.inverse(row.worked)
		c.MeanDelay, c.ServiceRate = &delay, &rate
	}
	if r.settings.ByClass {
		c.JobsDistribution = r.law(x, r.classLaw+i*(r.settings.MaxJobs+1))
	}
	return c
}

// law estimates the probabilities of 0, 1, ... jobs. Given any lifetimes, P(n) is at most e^-n
// n^n/n!, the largest value of a Poisson probability.
func (r *runner) law(x *sample, first int) []Estimate {
	law := make([]Estimate, r.settings.MaxJobs+1)
	most := 1.0
	for n := range law {
		law[n] = x.probability(first+n, most)
		most *= math.Exp(float64(n)*math.Log1p(1/float64(max(n, 1))) - 1)
	}
	return law
}

// utilization returns the probability that some job is present that a server of the row can serve.
func (r *runner) utilization(x *sample, s int) Estimate {
	switch row := r.problem.servers[s]; {
	case row.reached != nil:
		return x.probability(r.reached+s, 1).complement()
	case row.row >= 0:
		return x.probability(r.idle+row.row, 1).complement()
	}
	return Estimate{Confidence: x.confidence}
}

// emptyProbability returns P(X = 0), averaged over orders of deaths; nil if it is not known to be
// above 0.
func (r *runner) emptyProbability(x *sample) *Estimate {
	e := x.probability(r.empty, 1)
	if e.Mean <= e.HalfWidth {
		return nil
	}
	return &e
}

// gradient returns the derivatives of E[X] = E[L]: E[min T] + Cov(L, min T) with respect to a rate,
// -Cov(L, T_s) with respect to a capacity.
func (r *runner) gradient(x *sample) *Gradient {
	g := &Gradient{
		ArrivalRates: make([]*Estimate, len(r.model.Classes)),
		Capacities:   make([]*Estimate, len(r.model.Servers)),
	}
	partOfClass, partOfRow := make([]int, r.columns.classes), make([]int, r.rows)
	for k, a := range r.parts {
		for i := range a.classes {
			partOfClass[a.firstClass+i] = k
		}
		for s := range a.rows {
			partOfRow[a.firstRow+s] = k
		}
	}
	for i, row := range r.problem.classes {
		if c := row.class; c >= 0 {
			e := x.covariance(r.products+c, r.partJobs+partOfClass[c], r.delays+c, 1).times(row.size)
			g.ArrivalRates[i] = &e
		}
	}
	for s, row := range r.problem.servers {
		if row.row >= 0 {
			e := x.covariance(r.livesOn+row.row, r.partJobs+partOfRow[row.row], r.lives+row.row, 0).times(row.gain)
			e.Mean = -e.Mean
			g.Capacities[s] = &e
		} else if r.model.Servers[s].Capacity.Sign() > 0 {
			g.Capacities[s] = &Estimate{Confidence: x.confidence} // it serves no jobs
		}
	}
	return g
}

// mostRHat is the split R-hat above which chains disagree.
const mostRHat = 1.05

// judge adds warnings about reasons not to trust the result.
func (r *runner) judge(out *Result, x *sample) {
	warn := func(format string, args ...any) { out.Warnings = append(out.Warnings, fmt.Sprintf(format, args...)) }
	if length, need := x.tallies[0].length, r.batchLength(x); float64(length) < need {
		warn("the chains are too short: intervals need batches of %.3g sweeps, and have batches of %d", need, length)
	}
	if !out.PrecisionMet {
		warn("the relative precision %g is not reached after %d sweeps of each chain", r.settings.Precision, r.swept)
	}
	worst := 0
	out.RHat = 1
	for c := range r.watched {
		if hat := x.splitRHat(c); hat > out.RHat {
			out.RHat, worst = hat, c
		}
	}
	if out.RHat > mostRHat {
		warn("the chains disagree about %s: split R-hat is %.3g, and intervals need at most %g, after more sweeps",
			r.nameOf(worst), out.RHat, mostRHat)
	}
}

// nameOf names the quantity of a column with squares.
func (r *runner) nameOf(column int) string {
	for i, row := range r.problem.classes {
		if column > 0 && row.class == column-r.delays {
			return "class " + r.model.Classes[i].Name
		}
	}
	return "all jobs"
}

// splitRHat compares the halves of all chains: it is near 1 if they differ as little as they
// should, by Gelman and others, "Bayesian Data Analysis", third edition, 2013, section 11.4.
func (x *sample) splitRHat(column int) float64 {
	batches := len(x.tallies[0].full())
	half := batches / 2
	n := float64(half * x.tallies[0].length)
	var means []float64
	within := 0.0
	for _, t := range x.tallies {
		for _, part := range [][]batch{t.full()[:half], t.full()[batches-half:]} {
			sum, square := 0.0, 0.0
			for _, b := range part {
				sum += b.sums[column]
				square += b.squares[column]
			}
			means = append(means, sum/n)
			within += max(0, square/n-sum/n*sum/n) * n / (n - 1)
		}
	}
	within /= float64(len(means))
	mean, between := moments(means)
	if within <= constantTol*mean*mean {
		return 1
	}
	return math.Sqrt((n-1)/n + between/within)
}

// checkRange rejects a result with numbers beyond the range of float64.
func (out *Result) checkRange() error {
	all := []*Estimate{&out.MeanJobs, out.MeanDelay, out.EmptyProbability}
	for i := range out.Classes {
		c := &out.Classes[i]
		all = append(all, &c.MeanJobs, c.MeanDelay, c.ServiceRate)
	}
	if out.Gradient != nil {
		all = append(append(all, out.Gradient.ArrivalRates...), out.Gradient.Capacities...)
	}
	for _, e := range all {
		if e != nil && !(isFinite(e.Mean) && isFinite(e.HalfWidth)) {
			return input.Errorf(
				"model", "a measure beyond 1e308",
				"measures within the range of double precision: count time, or work, in other units",
			)
		}
	}
	return nil
}
