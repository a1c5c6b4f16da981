package loss

import "math/big"

// Scale returns m with all arrival rates multiplied by factor >= 0. Everything else is shared with
// m.
func (m *Model) Scale(factor *big.Rat) *Model {
	c := *m
	c.Classes = append([]Class(nil), m.Classes...)
	for k := range c.Classes {
		c.Classes[k].ArrivalRate = new(big.Rat).Mul(m.Classes[k].ArrivalRate, factor)
	}
	return &c
}
