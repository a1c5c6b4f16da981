package consecutive

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"productform/internal/recursion"
)

// A load holds M - λ and λ of a set of servers, in units of 2^shift, both rounded once.
type load struct{ slack, rate float64 }

// loads returns the loads of all intervals except the whole ring, by first server and number of
// servers, and the load of all servers. The error is that of the context, or a
// [*recursion.Overload] for a slack that is not positive.
//
// When an interval grows by one server, it gains the capacity of the server and the classes that
// end there and start within the interval.
func (c *Chain) loads(stop *recursion.Cancellation, shift int) (table [][]load, all load, err error) {
	n, longest, ends := c.servers, c.longest(0, false), c.servers
	if c.Ring {
		ends = 2*n - 1 // an interval across the seam ends at a server + n
	}
	ending := make([][]int, n) // classes ending at each server, the shortest first
	for k, a := range c.arcs {
		last := (a.first + a.servers - 1) % n
		ending[last] = append(ending[last], k)
	}
	for _, list := range ending {
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(c.arcs[a].servers, c.arcs[b].servers) })
	}
	table = rows[load](c, false)
	of := newLoadOf(c.problem, ends, shift)
	for j := range ends {
		if err := stop.After(8 * longest); err != nil {
			return nil, load{}, err
		}
		of.nextEnd(j % n)
		list := ending[j%n]
		for i := j; i >= max(0, j-longest+1); i-- {
			servers := j - i + 1
			for ; len(list) > 0 && c.arcs[list[0]].servers == servers; list = list[1:] {
				of.addClass(list[0])
			}
			d, positive := of.first(i)
			if !positive {
				return nil, load{}, c.problem.Overloaded(c.classesInside(i%n, servers))
			}
			if i < n {
				table[i][servers] = d
			}
		}
	}
	if !c.Ring {
		return table, table[0][n], nil
	}
	of = newLoadOf(c.problem, 1, shift)
	for s := range n {
		of.nextEnd(s)
		if s == n-1 {
			for k := range c.arcs {
				of.addClass(k)
			}
		}
		d, positive := of.first(0)
		if s == n-1 && !positive {
			return nil, load{}, c.problem.Overloaded(c.classesInside(0, n))
		}
		all = d
	}
	return table, all, nil
}

// classesInside returns the classes within an interval.
func (c *Chain) classesInside(first, servers int) (classes []int) {
	for k, a := range c.arcs {
		if servers == c.servers || (a.first-first+c.servers)%c.servers+a.servers <= servers {
			classes = append(classes, k)
		}
	}
	return classes
}

// A loadOf tracks M and λ of the intervals that end at one server, as the first server varies: in
// words for a small problem, otherwise in long integers.
type loadOf struct {
	p              *recursion.Problem
	unit           float64
	shift, end     int
	gain           int64 // rate of the classes that end there and start at the first server or later
	capacity, rate []int64

	longGain, difference   big.Int
	longCapacity, longRate []big.Int
}

func newLoadOf(p *recursion.Problem, intervals, shift int) *loadOf {
	if p.Small {
		return &loadOf{
			p:        p,
			unit:     math.Ldexp(1, -shift),
			capacity: make([]int64, intervals),
			rate:     make([]int64, intervals),
		}
	}
	return &loadOf{p: p, shift: shift, longCapacity: make([]big.Int, intervals), longRate: make([]big.Int, intervals)}
}

// nextEnd moves to the intervals that end at the next server.
func (x *loadOf) nextEnd(server int) {
	x.end, x.gain = server, 0
	x.longGain.SetInt64(0)
}

func (x *loadOf) addClass(k int) {
	if x.p.Small {
		x.gain += x.p.Rate64[k]
		return
	}
	x.longGain.Add(&x.longGain, x.p.Classes[k].Rate)
}

// first moves to the interval with first server i, and returns its load and whether its slack is
// positive.
func (x *loadOf) first(i int) (l load, positive bool) {
	if x.p.Small {
		x.capacity[i] += x.p.Capacity64[x.end]
		x.rate[i] += x.gain
		d := x.capacity[i] - x.rate[i]
		return load{float64(d) * x.unit, float64(x.rate[i]) * x.unit}, d > 0
	}
	x.longCapacity[i].Add(&x.longCapacity[i], x.p.Groups[x.end].Capacity)
	x.longRate[i].Add(&x.longRate[i], &x.longGain)
	d := x.difference.Sub(&x.longCapacity[i], &x.longRate[i])
	return load{scaled(d, x.shift), scaled(&x.longRate[i], x.shift)}, d.Sign() > 0
}

// scaled returns x/2^shift rounded to float64.
func scaled(x *big.Int, shift int) float64 {
	f := new(big.Float).SetPrec(53).SetInt(x)
	v, _ := f.SetMantExp(f, -shift).Float64()
	return v
}
