package dispatch_test

import (
	"fmt"
	"testing"

	"productform/dispatch"
)

// BenchmarkMaker decides and applies moments, at each of which one task ends and the next starts,
// with ten jobs present.
func BenchmarkMaker(b *testing.B) {
	for _, workers := range []int{8, 32, 256} {
		speeds := make([]float64, workers)
		for w := range speeds {
			speeds[w] = 1
		}
		begin := []dispatch.Happening{}
		for j := range 10 {
			begin = append(begin, dispatch.Happening{
				Kind: dispatch.Submitted,
				Job:  j,
				What: &dispatch.Job{Tasks: 1e8, Work: 1, Priority: float64(j)},
			})
		}
		rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Deadline}}
		start := func() *dispatch.Maker {
			m := mustMake(b, rules, speeds)
			if _, err := m.Decide(0, begin); err != nil {
				b.Fatal(err)
			}
			return m
		}
		next := func(m *dispatch.Maker, n int) []dispatch.Happening {
			job, task, attempt, _ := m.Hand(n % workers)
			return []dispatch.Happening{
				{Kind: dispatch.Finished, Worker: n % workers, Job: job, Task: task, Attempt: attempt},
			}
		}
		b.Run(fmt.Sprintf("workers=%d/do=decide", workers), func(b *testing.B) {
			m, n := start(), 0
			for b.Loop() {
				if _, err := m.Decide(1, next(m, n)); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
		b.Run(fmt.Sprintf("workers=%d/do=follow", workers), func(b *testing.B) {
			const moments = 10_000
			m := start()
			var what [][]dispatch.Happening
			var events [][]dispatch.Event
			for n := range moments {
				what = append(what, next(m, n))
				decided, err := m.Decide(1, what[n])
				if err != nil {
					b.Fatal(err)
				}
				events = append(events, decided)
			}
			var f *dispatch.Maker
			n := moments
			for b.Loop() {
				if n == moments {
					b.StopTimer()
					f, n = start(), 0
					b.StartTimer()
				}
				if err := f.Apply(1, what[n], events[n]); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}
