package markov

import "productform/internal/lattice"

// NewBox returns the points 0 <= x_k < size[k] for positive sizes; the last coordinate varies
// fastest. Without sizes it is a single point.
func NewBox(size []int) lattice.Box {
	limits := make([]int, len(size))
	for k, n := range size {
		limits[k] = n - 1
	}
	return lattice.LastFastest(limits)
}

// A Chain is a Markov chain on a region. Rates are at pad + the number of the state, with a zero on
// either side, so every state has neighbours along its line in the tables; beyond an end of the
// line, their rates towards it are 0.
type Chain struct {
	*Region
	up, down [][]float64 // rates from x to x+e_k and x-e_k, at [k][pad + number of x]
}

const pad = 1

// NewChain returns a chain on a region, without transitions.
func NewChain(r *Region) *Chain {
	c := &Chain{Region: r}
	for range r.Size {
		c.up = append(c.up, make([]float64, c.States+2*pad))
		c.down = append(c.down, make([]float64, c.States+2*pad))
	}
	return c
}

// SetRates sets the rates at which the chain moves from a state up and down in coordinate k. They
// are nonnegative, and 0 if the move would leave the region.
func (c *Chain) SetRates(state, k int, up, down float64) {
	c.up[k][pad+state], c.down[k][pad+state] = up, down
}

// IsEliminable reports whether elimination is affordable: for two coordinates if it needs at most
// about a gigabyte, and for three if it is not much slower than the iteration.
func (c *Chain) IsEliminable() bool {
	switch len(c.Size) {
	case 1:
		return true
	case 2:
		return c.States <= 1_000_000
	}
	return c.States <= 8_000
}

// IsIterable reports whether the iteration is usually faster than elimination.
func (c *Chain) IsIterable() bool { return len(c.Size) > 1 && c.States > 20_000 || !c.IsEliminable() }
