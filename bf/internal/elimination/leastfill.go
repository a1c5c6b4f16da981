// This file finds an order in which to eliminate the vertices of a graph. Eliminating a vertex
// links its neighbours, and a good order keeps the number of neighbours at elimination small. The
// maximum of this number is the width of the order.

package elimination

import (
	"container/heap"
	"math"
)

// A Graph has the vertices not yet eliminated.
type Graph struct {
	next  []map[int]bool // neighbours; nil once eliminated
	most  int            // maximum number of neighbours of an eliminated vertex
	queue candidates     // all vertices with at most that many neighbours, some with outdated entries
}

// New returns a graph of n vertices without links.
func New(n int) *Graph {
	g := &Graph{next: make([]map[int]bool, n)}
	for s := range g.next {
		g.next[s] = make(map[int]bool)
	}
	return g
}

// Link links two vertices.
func (g *Graph) Link(s, t int) { g.next[s][t], g.next[t][s] = true, true }

// Eliminate eliminates all vertices, and calls gone with each and its number of neighbours at that
// time. It repeatedly eliminates the vertex whose neighbours lack the fewest links among
// themselves; ties go to the fewest neighbours, then to the first vertex. This finds widths 0, 1
// and 2 whenever possible. If all remaining vertices have more than most neighbours, it returns the
// smallest of these numbers, a lower bound on the width; otherwise 0. It takes O(n log n) steps for
// n vertices with few neighbours.
func (g *Graph) Eliminate(most int, gone func(s, degree int)) (least int) {
	g.most = most
	for s := range g.next {
		g.push(s)
	}
	for left := len(g.next); left > 0; {
		if g.queue.Len() == 0 {
			return g.leastDegree()
		}
		c := heap.Pop(&g.queue).(candidate)
		if g.isCurrent(c) {
			gone(c.vertex, c.degree)
			g.eliminate(c.vertex)
			left--
		}
	}
	return 0
}

// eliminate links the neighbours of s and removes it.
func (g *Graph) eliminate(s int) {
	var around []int
	for t := range g.next[s] {
		delete(g.next[t], s)
		around = append(around, t)
	}
	g.next[s] = nil
	for a, t := range around {
		for _, u := range around[:a] {
			if g.next[t][u] {
				continue
			}
			g.next[t][u], g.next[u][t] = true, true
			few, many := t, u
			if len(g.next[few]) > len(g.next[many]) {
				few, many = many, few
			}
			for v := range g.next[few] {
				if g.next[many][v] {
					g.push(v) // one missing link fewer
				}
			}
		}
	}
	for _, t := range around {
		g.push(t)
	}
}

// push puts a vertex into the queue as it is now, unless it has too many neighbours.
func (g *Graph) push(s int) {
	if len(g.next[s]) <= g.most {
		heap.Push(&g.queue, candidate{g.fill(s), len(g.next[s]), s})
	}
}

// isCurrent reports whether a candidate is up to date.
func (g *Graph) isCurrent(c candidate) bool {
	return g.next[c.vertex] != nil && len(g.next[c.vertex]) == c.degree && g.fill(c.vertex) == c.fill
}

// fill counts the links that the neighbours of s lack.
func (g *Graph) fill(s int) int {
	links := 0
	for t := range g.next[s] {
		for u := range g.next[s] {
			if t < u && !g.next[t][u] {
				links++
			}
		}
	}
	return links
}

// leastDegree returns the smallest number of neighbours of a remaining vertex: the graph is a minor
// of the original, so no order has a smaller width.
func (g *Graph) leastDegree() int {
	least := math.MaxInt
	for _, next := range g.next {
		if next != nil {
			least = min(least, len(next))
		}
	}
	return least
}

// A candidate is a vertex that may be eliminated next.
type candidate struct{ fill, degree, vertex int }

type candidates []candidate

func (c candidates) Len() int { return len(c) }

func (c candidates) Less(i, j int) bool {
	a, b := c[i], c[j]
	switch {
	case a.fill != b.fill:
		return a.fill < b.fill
	case a.degree != b.degree:
		return a.degree < b.degree
	}
	return a.vertex < b.vertex
}

func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }

func (c *candidates) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}
