package elimination

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Each vertex is eliminated once, with the neighbours given by the definition: those reached by a
// link or a path of eliminated vertices. It has the minimum fill of all remaining vertices, and a
// rejected graph has no remaining vertex with few neighbours.
func TestEliminate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, most := rapid.IntRange(1, 9).Draw(t, "vertices"), rapid.IntRange(0, 4).Draw(t, "most")
		g := New(n)
		link := make([][]bool, n)
		for s := range link {
			link[s] = make([]bool, n)
		}
		for range rapid.IntRange(0, 2*n).Draw(t, "links") {
			s, u := rapid.IntRange(0, n-1).Draw(t, "s"), rapid.IntRange(0, n-1).Draw(t, "t")
			if s != u {
				g.Link(s, u)
				link[s][u], link[u][s] = true, true
			}
		}
		left := make(map[int]bool)
		for s := range n {
			left[s] = true
		}
		around := func(s int) (list []int) {
			for u := range n {
				if left[u] && link[s][u] {
					list = append(list, u)
				}
			}
			return list
		}
		rank := func(s int) []int { // the smallest goes first
			fill, list := 0, around(s)
			for i, a := range list {
				for _, b := range list[:i] {
					if !link[a][b] {
						fill++
					}
				}
			}
			return []int{fill, len(list), s}
		}
		least := g.Eliminate(most, func(s, degree int) {
			for u := range left {
				if r := rank(u); r[1] <= most && slices.Compare(r, rank(s)) < 0 {
					t.Fatalf("%d goes before %d", s, u)
				}
			}
			list := around(s)
			if !left[s] || len(list) != degree {
				t.Fatalf("%d goes with %d neighbours, not %v", s, degree, list)
			}
			for _, a := range list {
				for _, b := range list {
					link[a][b] = a != b
				}
			}
			delete(left, s)
		})
		if (least == 0) != (len(left) == 0) {
			t.Fatalf("%d vertices remain, and the smallest degree is %d", len(left), least)
		}
		for s := range left {
			if len(around(s)) < least || least <= most {
				t.Fatalf("vertex %d has %d neighbours, want at least %d, more than %d", s, len(around(s)), least, most)
			}
		}
	})
}
