package rigid

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/internal/input"
)

// Requests determines the requested times of jobs if the log does not give them: their run times
// times a factor. The zero value means perfect estimates.
type Requests struct {
	Factor float64 // F in [1, 1e50]; 0 means 1

	// Uniform draws the factor of each job uniformly from [1, F], as Mu'alem and Feitelson do (f =
	// F - 1).
	Uniform bool
	Seed    uint64 // seed of the random factors
}

// streamRequests is a stream of random numbers that package dispatch does not use.
const streamRequests = 6

// Apply returns jobs whose Estimate is the requested time. Requested times from the list, one per
// job in seconds, are used if they are above 0. All others, or all if the list is nil, are computed
// from the run times. The jobs passed in are not modified. The error is a [num.InputError].
func (q Requests) Apply(jobs []dispatch.Job, requested []float64) ([]dispatch.Job, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	if requested != nil && len(requested) != len(jobs) {
		return nil, input.Errorf("Requested", len(requested), "%d numbers, one per job", len(jobs))
	}
	random := rand.New(rand.NewPCG(q.Seed, streamRequests))
	jobs = slices.Clone(jobs)
	for i := range jobs {
		j := &jobs[i]
		j.Estimate = q.Of(j.Work, random.Float64)
		if requested != nil && requested[i] > 0 {
			j.Estimate = requested[i]
		}
		if !input.IsWork(j.Estimate) {
			return nil, input.Errorf(
				fmt.Sprintf("job %d, requested time", j.ID), j.Estimate, "seconds in [1e-50, 1e50]",
			)
		}
	}
	return jobs, nil
}

// Check returns an error with the path Factor if the factor is out of range.
func (q Requests) Check() error {
	if q.Factor != 0 && !(q.Factor >= 1 && q.Factor <= input.Largest) {
		return input.Errorf("Factor", q.Factor, "a number in [1, 1e50], or 0 for 1")
	}
	return nil
}

// Of returns the time that a job requests, given its run time. If the factor is random, it draws a
// number in [0, 1).
func (q Requests) Of(time float64, draw func() float64) float64 {
	factor := cmp.Or(q.Factor, 1)
	if q.Uniform {
		above := (factor - 1) * draw() // rounded before the sum, which rules out fused multiply-add
		factor = min(factor, 1+above)
	}
	return factor * time
}

// Requested returns the requested times of the jobs at some indices of a log, as returned by
// [dispatch.Sampling.Take], multiplied by the scale of run times. The result is 0 for times that
// are unknown or 0.
func Requested(log []swf.Job, places []int, timeScale float64) []float64 {
	times := make([]float64, len(places))
	for i, place := range places {
		times[i] = timeScale * max(0, log[place].RequestedTime)
	}
	return times
}
