package dispatch

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Items come in lots and go one by one, at the front, at the back and anywhere: the list is the sorted one.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := order{compare: cmp.Compare[int]}
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
				o.add(lot)
			}
			slices.Sort(want)
			for range rapid.IntRange(0, 20).Draw(t, "gone") {
				if len(want) == 0 {
					break
				}
				k := rapid.SampledFrom([]int{0, len(want) - 1, len(want) / 3}).Draw(t, "place")
				o.remove(want[k])
				want = slices.Delete(want, k, k+1)
			}
			if !slices.Equal(o.list(), want) {
				t.Fatalf("%v, want %v", o.list(), want)
			}
		}
	})
}

// What comes at the back and goes at the front, or the other way round, as in queues, does not make the array grow.
func TestOrderStaysSmall(t *testing.T) {
	for _, sign := range []int{1, -1} {
		o := order{compare: cmp.Compare[int]}
		for i := range 100000 {
			o.add([]int{sign * i})
			if i >= 100 {
				o.remove(sign * (i - 100))
			}
		}
		if n := len(o.array); n > 1000 || len(o.list()) != 100 {
			t.Errorf("%d places for %d items", n, len(o.list()))
		}
	}
}

// The mean of the last numbers, by adding them; sums of at most 30 terms of one sign in another order agree to 1e-14.
func TestLearner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l learner
		var told []float64
		window := rapid.IntRange(0, 10).Draw(t, "window")
		for range 30 {
			v := rapid.SampledFrom([]float64{0, 0.1, 1, 7.3, 1e16, 1e50}).Draw(t, "v")
			told = append(told, v)
			l.learn(v, window)
			last := told
			if window > 0 {
				last = told[max(0, len(told)-window):]
			}
			want := 0.0
			for _, u := range last {
				want += u / float64(len(last))
			}
			if math.Abs(l.mean-want) > 1e-14*want {
				t.Fatalf("mean %v of the last %d of %v, want %v", l.mean, window, told, want)
			}
		}
	})
}
