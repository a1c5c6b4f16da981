package intervals

import "productform/internal/recursion"

// A Chain is a problem of single servers in a line or in a ring, in the order of the problem, in which each class uses neighbours.
type Chain struct {
	Ring    bool
	problem *recursion.Problem
	servers int
	arcs    []arc   // of each class
	byArc   [][]int // the classes with arcs of each number of servers
}

// An arc is a number of servers one after another from the first on; on a ring server 0 comes after the last.
type arc struct{ first, servers int }

// New returns the chain of a problem, nil if it is none.
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

// Intervals returns how many intervals n servers have.
func (c *Chain) Intervals() float64 {
	n := float64(c.servers)
	if c.Ring {
		return n*(n-1) + 1
	}
	return n * (n + 1) / 2
}

// Bytes returns the memory that [Solve] takes, and Total for up to so many jobs, if there are any.
func (c *Chain) Bytes(jobs int) float64 {
	return c.Intervals() * (32 + 16*float64(jobs+1)*float64(min(jobs, 1)))
}

// Work returns the number of products that [Solve] takes, and Total for up to so many jobs.
func (c *Chain) Work(jobs int) float64 {
	n, order := float64(c.servers), float64(jobs)
	up := n * n * n / 6
	if c.Ring {
		up *= 3
	}
	return up * (3 + order*(order+1)/2)
}

// longest returns the number of servers of the longest interval but the ring itself that begins at server i of a line, or ends before it
// if that is asked for.
func (c *Chain) longest(i int, before bool) int {
	switch {
	case c.Ring:
		return c.servers - 1
	case before:
		return i
	}
	return c.servers - i
}

// starts returns the number of intervals of so many servers, which begin at 0, 1, ...
func (c *Chain) starts(servers int) int {
	if c.Ring {
		return c.servers
	}
	return c.servers - servers + 1
}

// rows returns a table with a row of numbers for each server: those of the intervals of 0, 1, ..., servers that begin at it, or end before
// it. On a line there is one row more, for what begins after the last.
func (c *Chain) rows(before bool) [][]float64 {
	rows, total := make([][]float64, c.servers+1), 0
	for i := range rows {
		total += c.longest(i, before) + 1
	}
	slab := make([]float64, total)
	for i := range rows {
		n := c.longest(i, before) + 1
		rows[i], slab = slab[:n:n], slab[n:]
	}
	if c.Ring {
		rows[c.servers] = rows[0]
	}
	return rows
}
