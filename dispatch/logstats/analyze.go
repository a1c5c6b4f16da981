package logstats

import (
	"context"
	"math"
	"slices"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/internal/input"
)

// slowdownThreshold is the threshold of bounded slowdowns, in seconds, as in package rigid.
const slowdownThreshold = 10

// Analyze describes a log, which is not modified. The error is an [*input.Error] for a log without
// jobs or for settings out of range, or the cause of the context. It takes O(n log n) time for n
// jobs, and 100 bytes per job.
func Analyze(ctx context.Context, log *Log, s Settings) (*Result, error) {
	switch {
	case len(log.Jobs) == 0:
		return nil, input.Errorf("", "a log with none", "a job of known submission, run time and processors")
	case s.Processors < 0 || s.Processors > input.MaxInteger:
		return nil, input.Errorf("Processors", s.Processors, "an integer in 1..2^53, or 0 if unknown")
	}
	r := span(log.Jobs)
	r.setLoads(log, s.Processors)
	for _, step := range []func(){
		func() { r.setSizes(log.Jobs) },
		func() { r.setArrivals(log, s.Zone) },
		func() { r.setGroups(log) },
	} {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		step()
	}
	return r, nil
}

// span returns the part of a result about jobs, users and times.
func span(jobs []Job) *Result {
	r := &Result{Jobs: len(jobs), First: jobs[0].Submit, Last: jobs[0].Submit}
	users := map[int64]bool{}
	ofUser := slices.Index(fields[:], "user")
	for i := range jobs {
		j := &jobs[i]
		r.First, r.Last = min(r.First, j.Submit), max(r.Last, j.Submit)
		r.Work += j.work()
		if user := j.Numbers[ofUser]; user != swf.Unknown {
			users[user] = true
		}
		if j.Wait == swf.Unknown {
			r.UnknownWaits++
			continue
		}
		end := j.Submit + j.Wait + j.RunTime
		if r.End == nil {
			r.End = &end
		}
		*r.End = max(*r.End, end)
	}
	r.Span = r.Last - r.First
	if n := len(users); n > 0 {
		r.Users = &n
	}
	return r
}

// setSizes sets the spread of run times and how much sizes vary.
func (r *Result) setSizes(jobs []Job) {
	values := make([]float64, len(jobs))
	for i := range jobs {
		values[i] = jobs[i].work()
	}
	r.WorkSCV = scv(values)
	for i := range jobs {
		values[i] = jobs[i].RunTime
	}
	r.RunTimeSCV = scv(values)
	r.RunTime = dispatch.SpreadOf(values)
}

// scv returns variance / mean² of the values, 1/n Σ (x / mean - 1)²; nil if the mean is 0 or there
// are no values.
func scv(values []float64) *float64 {
	var mean, sum float64
	for _, x := range values {
		mean += x / float64(len(values))
	}
	if mean == 0 {
		return nil
	}
	for _, x := range values {
		sum += (x/mean - 1) * (x/mean - 1) / float64(len(values))
	}
	return &sum
}

// slowdown returns the bounded slowdown of a job whose waiting time is known.
func (j *Job) slowdown() float64 {
	return max(1, (j.Wait+j.RunTime)/math.Max(j.RunTime, slowdownThreshold))
}
