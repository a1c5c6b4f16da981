package oneserver

import (
	"context"
	"math/big"
	"math/bits"

	"productform/internal/lattice"
	"productform/num"
)

// states are the numbers k_g of busy servers of each group, with the numbers that the recursions
// need, as integers in a common unit if they fit into words.
type states struct {
	*part
	lattice.Box
	grid *grid

	// share[i*groups+g][k] = C(k, d)/C(n, d), d servers drawn of n: the fraction of the draws of
	// class i from group g that are among k given servers; nil if the class does not use the group.
	share [][]*big.Rat

	holds []holding // one per class

	held64     []int64  // λ(k) as integers; nil if there are none
	all64      int64    // λ
	capacity64 []int64  // capacity of each server, by group
	unit       *big.Int // 1 as an integer
}

// newStates returns the states of a part.
func newStates(ctx context.Context, p *part) (*states, error) {
	s := &states{part: p, grid: newGrid(p.limits())}
	s.Box = s.grid.Box
	s.share = make([][]*big.Rat, len(p.classes)*len(p.groups))
	for i, c := range p.classes {
		for _, choice := range c.choices {
			n := p.groups[choice.group].n
			s.share[i*len(p.groups)+choice.group] = shares(n, choice.servers)
		}
	}
	var err error
	if s.holds, err = s.holdings(ctx); err == nil {
		err = s.addIntegers(ctx)
	}
	return s, err
}

// shares returns C(k, d)/C(n, d), k = 0..n.
func shares(n, d int) []*big.Rat {
	list := make([]*big.Rat, n+1)
	for k := range list {
		list[k] = new(big.Rat)
	}
	list[n].SetInt64(1)
	for k := n - 1; k >= d; k-- { // C(k, d) = C(k+1, d) (k+1-d)/(k+1)
		list[k].Mul(list[k+1], big.NewRat(int64(k+1-d), int64(k+1)))
	}
	return list
}

// addIntegers tabulates λ(k) as integers unless they do not fit.
func (s *states) addIntegers(ctx context.Context) error {
	unit, total := big.NewInt(1), new(big.Rat)
	for _, g := range s.groups {
		num.JoinDenominator(unit, g.capacity)
		total.Add(total, new(big.Rat).Mul(g.capacity, big.NewRat(int64(g.n), 1)))
	}
	each := make([]*big.Rat, len(s.classes)) // rate of each draw of servers
	for i, c := range s.classes {
		ways := s.holds[i].ways
		if ways == 0 {
			return nil
		}
		each[i] = new(big.Rat).Quo(c.rate, new(big.Rat).SetInt64(ways))
		num.JoinDenominator(unit, each[i])
		total.Add(total, c.rate)
	}
	total.Mul(total, new(big.Rat).SetInt(unit))
	if bits.UintSize < 64 || total.Num().BitLen() > 62 {
		return nil
	}
	integer := func(x *big.Rat) int64 {
		return new(big.Int).Mul(x.Num(), new(big.Int).Quo(unit, x.Denom())).Int64()
	}
	s.unit, s.held64 = unit, make([]int64, s.States)
	for _, g := range s.groups {
		s.capacity64 = append(s.capacity64, integer(g.capacity))
	}
	for i, c := range s.classes {
		s.all64 += integer(c.rate)
		if h := &s.holds[i]; h.isWhole { // in the first row of the class; the others follow by addition
			row := s.held64[h.rows[0]:]
			for _, l := range h.position {
				row[l] += integer(c.rate)
			}
		}
	}
	if err := s.grid.accumulate(ctx, s.held64); err != nil {
		return err
	}
	for i := range s.classes {
		h, rate := &s.holds[i], integer(each[i])
		if h.isWhole {
			continue
		}
		for _, from := range h.rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			row, ways := s.held64[from:], rate*s.waysOfRow(i, int(from))
			for n, l := range h.position {
				row[l] += ways * h.low[n]
			}
		}
	}
	return nil
}

// waysOfRow returns the number of draws of class i among the busy servers of the groups that are
// constant in a row.
func (s *states) waysOfRow(i, from int) int64 {
	ways := int64(1)
	for _, c := range s.classes[i].choices {
		if c.group >= s.grid.low {
			ways *= binomial(s.Digit(from, c.group), c.servers)
		}
	}
	return ways
}

// work64 returns μ(k) as an integer.
func (s *states) work64(at int) int64 {
	sum := int64(0)
	for g, capacity := range s.capacity64 {
		sum += int64(s.Digit(at, g)) * capacity
	}
	return sum
}

// heldRate returns λ(x), the rate of the jobs whose servers are all busy in state x.
func (s *states) heldRate(x []int) *big.Rat {
	sum := new(big.Rat)
	for i, c := range s.classes {
		if p := s.fraction(i, x); p != nil {
			sum.Add(sum, new(big.Rat).Mul(p, c.rate))
		}
	}
	return sum
}

// fraction returns the fraction of the draws of class i that are among the busy servers of state x,
// nil for none. It must not be modified.
func (s *states) fraction(i int, x []int) *big.Rat {
	choices := s.classes[i].choices
	for _, c := range choices {
		if x[c.group] < c.servers {
			return nil
		}
	}
	p := s.share[i*len(s.groups)+choices[0].group][x[choices[0].group]]
	for _, c := range choices[1:] {
		p = new(big.Rat).Mul(p, s.share[i*len(s.groups)+c.group][x[c.group]])
	}
	return p
}

// exact calls visit with λ(x) and μ(x) of every state, in order.
func (s *states) exact(ctx context.Context, visit func(at int, x []int, inside, work *big.Rat)) error {
	x, work := make([]int, len(s.groups)), new(big.Rat)
	for at := range s.States {
		if err := ctx.Err(); err != nil {
			return err
		}
		work.SetInt64(0)
		for g, k := range x {
			work.Add(work, new(big.Rat).Mul(big.NewRat(int64(k), 1), s.groups[g].capacity))
		}
		visit(at, x, s.heldRate(x), work)
		s.Next(x)
	}
	return nil
}
