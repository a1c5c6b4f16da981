package ranktable_test

import (
	"testing"

	"pgregory.net/rapid"

	"productform/internal/ranktable"
)

// Root is the smallest number that a search along the joined pairs finds.
func TestRootIsSmallestConnectedNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		s := ranktable.Singles(n)
		linked := make([][]bool, n)
		for x := range linked {
			linked[x] = make([]bool, n)
			linked[x][x] = true
		}
		for range rapid.IntRange(0, 25).Draw(t, "pairs") {
			x, y := rapid.IntRange(0, n-1).Draw(t, "x"), rapid.IntRange(0, n-1).Draw(t, "y")
			s.Join(x, y)
			linked[x][y], linked[y][x] = true, true
		}
		for via := range n { // transitive closure
			for x := range n {
				for y := range n {
					linked[x][y] = linked[x][y] || linked[x][via] && linked[via][y]
				}
			}
		}
		for x := range n {
			want := 0
			for !linked[x][want] {
				want++
			}
			if got := s.Root(x); got != want {
				t.Fatalf("root of %d is %d, want %d", x, got, want)
			}
		}
	})
}
