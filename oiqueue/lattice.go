package oiqueue

import (
	"math/big"

	"productform/internal/lattice"
)

// newLattice returns the lattice of all y <= top, at most limit of them.
func newLattice(top []int, limit int) (lattice.Lattice, error) {
	if lattice.Size(top) > float64(limit) {
		engine := ""
		if limit < maxStates {
			engine = "take the engine float, "
		}
		return lattice.Lattice{}, sizeError("states of the table", digits(product(top)), product(top),
			"at most %d; merge classes that the same servers serve (their rates add), %sor let package bf solve a "+
				"cluster on sets of servers", limit, engine)
	}
	return lattice.NewBox(top), nil
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
