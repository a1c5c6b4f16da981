package eventqueue_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/eventqueue"
)

// A heap agrees with a sorted list under random additions and removals.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h eventqueue.Heap
		var want []int
		for range 100 {
			v := rapid.IntRange(0, 20).Draw(t, "number")
			at, is := slices.BinarySearch(want, v)
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				if h.TakeOut(v) != is {
					t.Fatalf("TakeOut(%d) is %v, want %v", v, !is, is)
				}
				if is {
					want = slices.Delete(want, at, at+1)
				}
			default:
				h.Add(v)
				want = slices.Insert(want, at, v)
			}
			if len(h) != len(want) || len(h) > 0 && h[0] != want[0] {
				t.Fatalf("%v, want %v", h, want)
			}
		}
	})
}
