package dispatch_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"productform/dispatch"
)

// manyJobs draws jobs that each need few workers, so a large number of jobs get some.
func manyJobs(jobs, workers int, own bool) ([]dispatch.Request, []float64) {
	rng := rand.New(rand.NewPCG(uint64(jobs), uint64(workers)))
	draw := func() []float64 {
		speeds := make([]float64, workers)
		for s := range speeds {
			speeds[s] = 0.5 + rng.Float64()
		}
		return speeds
	}
	requests := make([]dispatch.Request, jobs)
	for j := range requests {
		requests[j] = dispatch.Request{
			Priority: float64(rng.IntN(100)), Deadline: 1 + 10*rng.Float64(), Tasks: 1 + rng.IntN(64),
			Work: 10 * rng.Float64(),
		}
		if own {
			requests[j].Speeds = draw()
		}
	}
	return requests, draw()
}

// Sorting dominates the time: ten times the jobs or workers take about ten times as long.
func BenchmarkAssign(b *testing.B) {
	for _, jobs := range []int{5, 20, 400, 10000} {
		for _, workers := range []int{20, 400} {
			requests, speeds := manyJobs(jobs, workers, false)
			for _, rule := range dispatch.AllRules() {
				b.Run(fmt.Sprintf("jobs=%d/workers=%d/rule=%s", jobs, workers, rule), func(b *testing.B) {
					assign(b, dispatch.Policy{Rule: rule}, requests, speeds)
				})
			}
		}
	}
}

// If jobs have their own speeds, the remaining workers are sorted for each job that gets some.
func BenchmarkAssignOwnSpeeds(b *testing.B) {
	for _, jobs := range []int{20, 400} {
		for _, workers := range []int{20, 400} {
			requests, speeds := manyJobs(jobs, workers, true)
			for _, rule := range []dispatch.Rule{dispatch.Priority, dispatch.Workload, dispatch.Deadline} {
				b.Run(fmt.Sprintf("jobs=%d/workers=%d/rule=%s", jobs, workers, rule), func(b *testing.B) {
					assign(b, dispatch.Policy{Rule: rule}, requests, speeds)
				})
			}
		}
	}
}

func assign(b *testing.B, p dispatch.Policy, jobs []dispatch.Request, speeds []float64) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Assign(jobs, speeds, 0.5); err != nil {
			b.Fatal(err)
		}
	}
}
