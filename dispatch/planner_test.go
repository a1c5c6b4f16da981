package dispatch

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Proportion hands out workers as if all work were added in order, even if the last digit of that
// sum matters. The last job brings the sum to a value at which the number of workers of some job
// crosses an integer.
func TestProportionToTheLastDigit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, workers := rapid.IntRange(1, 60).Draw(t, "jobs"), rapid.IntRange(1, 200).Draw(t, "workers")
		c := claims{of: make([]claim, jobs)}
		var order []int
		var sum float64
		for j := range jobs {
			work := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, 1e-50, 1e50, 0.1})).Draw(
				t, "work",
			)
			c.of[j] = claim{work: work, maxWorkers: rapid.IntRange(0, 2*workers).Draw(t, "most")}
			order = append(order, j)
			sum += work
		}
		m, first := float64(workers), c.of[0].work
		// a total at which that number is near an integer
		edge := first * m * (1 - needTol) / float64(rapid.IntRange(1, workers).Draw(t, "part"))
		if last := edge - (sum - c.of[jobs-1].work); jobs > 1 && last > 0 && last <= 1e50 {
			for range rapid.IntRange(0, 4).Draw(t, "digits") {
				last = math.Nextafter(last, 0)
			}
			c.of[jobs-1].work = last
		}
		if rapid.Bool().Draw(t, "kept") { // running sum: other jobs have departed, and work has changed
			c.present = &workSum{}
			for _, j := range order {
				others := rapid.SampledFrom([]float64{0, 1, 0.3, 1e20, 1e50}).Draw(t, "others")
				c.present.count(jobs+j, others)
				c.present.count(j, others)
				c.present.change(j, others, c.of[j].work)
				c.present.drop(jobs+j, others)
			}
			if least, most := c.workBounds(order); c.workOf(order) < least || c.workOf(order) > most ||
				most-least > 1e-10*most {
				t.Fatalf("work within [%v, %v], is %v", least, most, c.workOf(order))
			}
		}
		q := newPlanner(Policy{Rule: Proportion}, make([]float64, workers), jobs)
		q.setWorkers(q.order)
		q.assign(c, order, nil, 0)

		var total float64
		for _, j := range order {
			total += c.of[j].work
		}
		want, left := make([]int, jobs), workers
		for _, j := range order {
			parts := 1
			if total > 0 {
				parts = max(1, int(math.Ceil(m*(c.of[j].work/total)*(1-needTol))))
			}
			want[j] = min(parts, c.of[j].maxWorkers, left)
			left -= want[j]
		}
		for _, j := range order { // spare workers are given by priority
			more := min(c.of[j].maxWorkers-want[j], left)
			want[j], left = want[j]+more, left-more
		}
		for j := range want {
			if q.planned[j] != want[j] {
				t.Fatalf("job %d gets %d workers, want %d", j, q.planned[j], want[j])
			}
		}
	})
}
