package consecutive

import "productform/internal/recursion"

// A Chain is a problem of single servers in a line or a ring, in the order of the problem, in which
// each class uses consecutive servers.
type Chain struct {
	Ring    bool
	problem *recursion.Problem
	servers int
	arcs    []arc   // arc of each class
	byArc   [][]int // the classes with arcs of each number of servers
}

// An arc is a number of consecutive servers from first; on a ring server 0 follows the last.
type arc struct{ first, servers int }

// New returns the problem as a chain, nil if it is not one.
func New(p *recursion.Problem) *Chain {
	n := len(p.Groups)
	if !p.Whole || n < 2 {
		return nil
	}
	c := &Chain{problem: p, servers: n, byArc: make([][]int, n+1)}
	uses := make([]bool, n)
	for i, k := range p.Classes {
		clear(uses)
		for _, choice := range k.Choose {
			uses[choice.Group] = true
		}
		a := arc{servers: len(k.Choose)}
		starts := 0
		for s := range n {
			if uses[s] && !uses[(s+n-1)%n] {
				a.first = s
				starts++
			}
		}
		if starts > 1 {
			return nil
		}
		c.Ring = c.Ring || a.first+a.servers > n
		c.arcs, c.byArc[a.servers] = append(c.arcs, a), append(c.byArc[a.servers], i)
	}
	return c
}

// Intervals returns the number of intervals.
func (c *Chain) Intervals() float64 {
	n := float64(c.servers)
	if c.Ring {
		return n*(n-1) + 1
	}
	return n * (n + 1) / 2
}

// Bytes returns the memory that [Solve] needs, plus that of Total for up to the given number of
// jobs, if positive.
func (c *Chain) Bytes(jobs int) float64 {
	return c.Intervals() * (48 + 16*float64(jobs+1)*float64(min(jobs, 1)))
}

// Work returns the number of products that [Solve] needs, plus that of Total for up to the given
// number of jobs.
func (c *Chain) Work(jobs int) float64 {
	n, order := float64(c.servers), float64(jobs)
	up := n * n * n / 6
	if c.Ring {
		up *= 3
	}
	return up * (3 + order*(order+1)/2)
}

// GraphTerms bounds the terms of the graph of connected sets, which are at most the intervals no
// shorter than the shortest class.
func (c *Chain) GraphTerms() (terms float64) {
	n := c.servers
	shortest := n
	for _, a := range c.arcs {
		shortest = min(shortest, a.servers)
	}
	for l := shortest; l <= n; l++ {
		terms += float64(l) * float64(c.starts(l))
	}
	return terms
}

// longest returns the number of servers of the longest interval, other than the ring itself, that
// starts at server i, or that ends before it if before is set.
func (c *Chain) longest(i int, before bool) int {
	switch {
	case c.Ring:
		return c.servers - 1
	case before:
		return i
	}
	return c.servers - i
}

// starts returns the number of intervals with the given number of servers; they start at 0, 1, ...
func (c *Chain) starts(servers int) int {
	if c.Ring {
		return c.servers
	}
	return c.servers - servers + 1
}

// rows returns a table with a row for each server, indexed by the length 0, 1, ... of the intervals
// that start at it, or end before it. On a line there is one more row, for intervals after the last
// server.
func rows[T any](c *Chain, before bool) [][]T {
	rows, total := make([][]T, c.servers+1), 0
	for i := range rows {
		total += c.longest(i, before) + 1
	}
	slab := make([]T, total)
	for i := range rows {
		n := c.longest(i, before) + 1
		rows[i], slab = slab[:n:n], slab[n:]
	}
	if c.Ring {
		rows[c.servers] = rows[0]
	}
	return rows
}

// row returns the row of a server in a table; on a ring, servers past the last wrap around.
func row[T any](c *Chain, table [][]T, i int) []T {
	if c.Ring {
		i = (i + c.servers) % c.servers
	}
	return table[i]
}

// rowsPerBlock is the number of first servers processed at a time, small enough that their rows
// stay in cache.
const rowsPerBlock = 8

// ascend visits all intervals of at most longest servers except the whole ring, each after its
// subintervals: interval i..j-1 of l servers, where j is beyond the last server if the interval
// crosses the seam of a ring. Intervals with a later start come first; those with the same start
// are ordered by length.
func (c *Chain) ascend(longest int, visit func(i, j, l int) error) error {
	n := c.servers
	for _, seam := range []bool{false, true}[:1+oneIf(c.Ring)] {
		for high := n; high > 0; high -= rowsPerBlock {
			low := max(0, high-rowsPerBlock)
			firstEnd, lastEnd := low+1, n
			if seam {
				firstEnd, lastEnd = n+1, high-1+n-1
			}
			for j := firstEnd; j <= lastEnd; j++ {
				for i := min(high, j) - 1; i >= low && j-i <= min(longest, c.longest(i, false)); i-- {
					if err := visit(i, j, j-i); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
