package intheap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Numbers come and go as in a sorted list.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap
		var want []int
		for range 100 {
			v := rapid.IntRange(0, 20).Draw(t, "number")
			at, is := slices.BinarySearch(want, v)
			switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
			case what == 0 && len(want) > 0:
				if got := h.TakeFirst(); got != want[0] {
					t.Fatalf("%d is first, want %d", got, want[0])
				}
				want = want[1:]
			case what == 1:
				if h.TakeOut(v) != is {
					t.Fatalf("%d is in the heap or not, want %v", v, is)
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
