package oiqueue

import (
	"fmt"
	"math/big"
)

// maxStates bounds the tables of states.
const maxStates = 1 << 20

// A lattice numbers the vectors 0 <= y <= top in mixed radix, y_0 fastest: y-e_i has the
// index of y less stride[i], so one pass up visits predecessors first. With top = (1, ..., 1) the
// index is the bit mask of the active set.
type lattice struct {
	top    []int
	stride []int
	states int
}

// newLattice returns the lattice of all y <= top, at most limit of them.
func newLattice(top []int, limit int) (lattice, error) {
	l := lattice{top, make([]int, len(top)), 1}
	for i, t := range top {
		l.stride[i] = l.states
		if t >= limit/l.states {
			return lattice{}, fmt.Errorf("oiqueue: %w: the table would have %s states, want at most %d; "+
				"merge classes that are served alike (their rates add), take Stationary for StationaryExact, or let package bf solve a cluster on sets of servers",
				ErrTooLarge, digits(product(top)), limit)
		}
		l.states *= t + 1
	}
	return l, nil
}

// product returns Π (t_i+1).
func product(top []int) *big.Int {
	one := big.NewInt(1)
	p := big.NewInt(1)
	for _, t := range top {
		f := big.NewInt(int64(t))
		p.Mul(p, f.Add(f, one))
	}
	return p
}

// digits writes a number of states for a message, long ones to six digits.
func digits(states *big.Int) string {
	if states.BitLen() <= 40 {
		return states.String()
	}
	return new(big.Float).SetInt(states).Text('g', 6)
}

func (l lattice) first() []int { return make([]int, len(l.top)) }

// up steps y to the next index, past the last back to 0.
func (l lattice) up(y []int) {
	for i := range y {
		if y[i] < l.top[i] {
			y[i]++
			return
		}
		y[i] = 0
	}
}

// down undoes up.
func (l lattice) down(y []int) {
	for i := range y {
		if y[i] > 0 {
			y[i]--
			return
		}
		y[i] = l.top[i]
	}
}
