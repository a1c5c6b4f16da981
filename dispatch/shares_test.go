package dispatch

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Plans match a reference that hands out workers from a list of remaining ones, both if jobs use
// the order of the list and if they use their own. After Settle, the shares are the maximal runs
// along the list.
func TestPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 12
		p := newSharePlan(most, 0)
		for range 3 {
			workers := slices.DeleteFunc(rapid.Permutation(firstNumbers(most)).Draw(t, "workers"), func(w int) bool {
				return w%5 == 4
			})
			p.SetWorkers(workers)
			p.Prepare(nil)
			for k, w := range workers {
				if p.Place[w] != k {
					t.Fatalf("worker %d is at index %d of %v", w, p.Place[w], workers)
				}
			}
			inOwnOrder := rapid.Bool().Draw(t, "in own order")
			p.Clear(inOwnOrder)
			left, want := slices.Clone(workers), slices.Repeat([]int{-1}, most)
			for len(left) > 0 && rapid.IntRange(0, 5).Draw(t, "continue") > 0 {
				if inOwnOrder {
					times := rapid.SampledFrom([]int{1, 5, 7}).Draw(t, "order")
					order := func(a, b int) int { return cmp.Compare(a*times%most, b*times%most) }
					slices.SortFunc(left, order)
					slices.SortFunc(p.Rest(), order)
				}
				job, k := rapid.IntRange(0, 3).Draw(t, "job"), rapid.IntRange(1, len(left)).Draw(t, "workers of it")
				p.Take(job, k)
				for _, w := range left[:k] {
					want[w] = job
				}
				left = left[k:]
				if p.Left() != len(left) {
					t.Fatalf("%d workers left, want %v", p.Left(), left)
				}
			}
			for range 2 {
				if got := p.ByWorker(); !slices.Equal(got, want) {
					t.Fatalf("%v, want %v", got, want)
				}
				p.Settle()
				at := 0
				for n, x := range p.Shares {
					isNext := n > 0 && p.Shares[n-1].To == x.From && p.Shares[n-1].Job == x.Job
					if x.From < at || x.To <= x.From || isNext {
						t.Fatalf("shares %v", p.Shares)
					}
					at = x.To
				}
				p.isListed = false // rebuild from the shares
			}
		}
	})
}
