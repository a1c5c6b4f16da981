package rigid

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/internal/ranges"
)

// A Requests says for how long jobs ask whose log does not tell: for their run times times a factor. The zero value is
// perfect estimates.
type Requests struct {
	Factor float64 // F in [1, 1e50]; 0 means 1

	// Uniform draws the factor of each job uniformly from [1, F], as Mu'alem and Feitelson do with their f = F - 1.
	Uniform bool
	Seed    uint64 // of what is drawn
}

// streamRequests is the stream of random numbers of a seed, other than those of package dispatch.
const streamRequests = 6

// Apply returns jobs with requested times, as Estimate. Those of the list, one a job in seconds, are taken where they are
// above 0, and all others, or all if the list is nil, are made of run times. The jobs are not modified. The error is a
// [num.InputError].
func (q Requests) Apply(jobs []dispatch.Job, requested []float64) ([]dispatch.Job, error) {
	factor := q.Factor
	switch {
	case factor == 0:
		factor = 1
	case !(factor >= 1 && factor <= ranges.Largest):
		return nil, input.Errorf("Factor", factor, "a number in [1, 1e50], or 0 for 1")
	}
	if requested != nil && len(requested) != len(jobs) {
		return nil, input.Errorf("Requested", len(requested), "%d numbers, one a job", len(jobs))
	}
	random := rand.New(rand.NewPCG(q.Seed, streamRequests))
	jobs = slices.Clone(jobs)
	for i := range jobs {
		j := &jobs[i]
		by := factor
		if q.Uniform {
			above := (factor - 1) * random.Float64() // rounded, so that no machine fuses it with the sum
			by = min(factor, 1+above)
		}
		j.Estimate = by * j.Work
		if requested != nil && requested[i] > 0 {
			j.Estimate = requested[i]
		}
		if !ranges.IsWork(j.Estimate) {
			return nil, input.Errorf(fmt.Sprintf("job %d, requested time", j.ID), j.Estimate, "seconds in [1e-50, 1e50]")
		}
	}
	return jobs, nil
}

// Requested returns the requested times of the jobs at these places of a log, as [workload.Sampling.Take] gives them, times
// the scale of run times; 0 for those that the log does not know or that are 0.
func Requested(log []swf.Job, places []int, timeScale float64) []float64 {
	times := make([]float64, len(places))
	for i, place := range places {
		times[i] = timeScale * max(0, log[place].RequestedTime)
	}
	return times
}
