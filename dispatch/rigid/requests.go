package rigid

import (
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
	factor := q.Factor
	switch {
	case factor == 0:
		factor = 1
	case !(factor >= 1 && factor <= input.Largest):
		return nil, input.Errorf("Factor", factor, "a number in [1, 1e50], or 0 for 1")
	}
	if requested != nil && len(requested) != len(jobs) {
		return nil, input.Errorf("Requested", len(requested), "%d numbers, one per job", len(jobs))
	}
	random := rand.New(rand.NewPCG(q.Seed, streamRequests))
	jobs = slices.Clone(jobs)
	for i := range jobs {
		j := &jobs[i]
		by := factor
		if q.Uniform {
			above := (factor - 1) * random.Float64() // rounded before the sum, which rules out fused multiply-add
			by = min(factor, 1+above)
		}
		j.Estimate = by * j.Work
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
