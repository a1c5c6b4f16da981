package swap

import "math/big"

// Scale returns m with all arrival rates multiplied by factor >= 0. Everything else is shared with
// m.
func (m *Model) Scale(factor *big.Rat) *Model {
	c := *m
	c.Classes = append([]Class(nil), m.Classes...)
	for i := range c.Classes {
		if rate := m.Classes[i].ArrivalRate; rate != nil {
			c.Classes[i].ArrivalRate = new(big.Rat).Mul(rate, factor)
		}
	}
	return &c
}
