package ends

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The heap against a sorted list, with few values that tie often.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[float64]
		var sorted []float64
		for range 200 {
			if len(sorted) > 0 && rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				if e := h.Pop(); e.At != sorted[0] || e.Of != -e.At {
					t.Fatalf("%+v, want the end %v", e, sorted[0])
				}
				sorted = sorted[1:]
				continue
			}
			v := float64(rapid.IntRange(0, 20).Draw(t, "finish"))
			h.Push(v, -v)
			at, _ := slices.BinarySearch(sorted, v)
			sorted = slices.Insert(sorted, at, v)
		}
	})
}
