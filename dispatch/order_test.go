package dispatch

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The list stays sorted while items are added in batches and removed one by one, at the front, at
// the back and in between.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := jobOrder{Compare: cmp.Compare[int]}
		var want []int
		for range 60 {
			low, size := rapid.IntRange(0, 900).Draw(t, "low"), rapid.IntRange(1, 20).Draw(t, "size")
			var lot []int
			for k := low; k < low+size; k++ {
				if i := k * 7919 % 1000; !slices.Contains(want, i) {
					lot = append(lot, i)
				}
			}
			if len(lot) > 0 {
				want = append(want, lot...)
				o.Add(lot)
			}
			slices.Sort(want)
			for range rapid.IntRange(0, 20).Draw(t, "gone") {
				if len(want) == 0 {
					break
				}
				k := rapid.SampledFrom([]int{0, len(want) - 1, len(want) / 3}).Draw(t, "place")
				o.Remove(want[k])
				want = slices.Delete(want, k, k+1)
			}
			if !slices.Equal(o.List(), want) {
				t.Fatalf("%v, want %v", o.List(), want)
			}
		}
	})
}

// The array does not grow when items are added at one end and removed at the other, as in a queue.
func TestOrderStaysSmall(t *testing.T) {
	for _, sign := range []int{1, -1} {
		o := jobOrder{Compare: cmp.Compare[int]}
		for i := range 100000 {
			o.Add([]int{sign * i})
			if i >= 100 {
				o.Remove(sign * (i - 100))
			}
		}
		if n := len(o.array); n > 1000 || len(o.List()) != 100 {
			t.Errorf("array of %d for %d items", n, len(o.List()))
		}
	}
}
