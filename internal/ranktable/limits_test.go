package ranktable_test

import (
	"testing"

	"pgregory.net/rapid"

	"productform/internal/ranktable"
)

// In any order of arrival, each job takes a server if one is free and no limit on its class is used
// up. Busy counts the servers taken.
func TestBusyIsWhatJobsTakeInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const classes = 4
		small := rapid.IntRange(1, 4)
		var limits []ranktable.Limit
		for from := 0; from < classes; { // blocks of classes, some with a limit, and limits inside
			to := from + rapid.IntRange(1, classes-from).Draw(t, "block")
			var block []int
			for i := from; i < to; i++ {
				block = append(block, i)
				if to-from > 1 && rapid.Bool().Draw(t, "own limit") {
					limits = append(limits, ranktable.Limit{[]int{i}, small.Draw(t, "most")})
				}
			}
			if rapid.Bool().Draw(t, "limit") {
				limits = append(limits, ranktable.Limit{block, small.Draw(t, "most")})
			}
			from = to
		}
		servers := rapid.IntRange(1, 6).Draw(t, "servers")
		jobs := rapid.SliceOfN(rapid.IntRange(0, classes-1), 0, 12).Draw(t, "jobs")
		x, held, busy := make([]int, classes), make([]int, len(limits)), 0
		for _, i := range jobs {
			x[i]++
			var on []int
			free := busy < servers
			for k, l := range limits {
				if ranktable.Mask(l.Classes)>>i&1 == 1 {
					on = append(on, k)
					free = free && held[k] < l.Most
				}
			}
			if free {
				busy++
				for _, k := range on {
					held[k]++
				}
			}
		}
		l := ranktable.NewLimits(servers, classes, rapid.Permutation(limits).Draw(t, "limits"))
		if got := l.Busy(x); got != busy {
			t.Fatalf("%d busy servers with %v, want %d", got, x, busy)
		}
	})
}
