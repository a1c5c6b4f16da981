package eventqueue_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/eventqueue"
)

// The queue agrees with a sorted list, with so few values that ties are common.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q eventqueue.Queue[float64]
		var sorted []float64
		for range 200 {
			if len(sorted) > 0 && rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				if e := q.Pop(); e.Time != sorted[0] || e.Item != -e.Time {
					t.Fatalf("%+v, want the event %v", e, sorted[0])
				}
				sorted = sorted[1:]
				continue
			}
			v := float64(rapid.IntRange(0, 20).Draw(t, "finish"))
			q.Push(v, -v)
			at, _ := slices.BinarySearch(sorted, v)
			sorted = slices.Insert(sorted, at, v)
		}
	})
}
