package traffic

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/fluid"
)

// At the critical scale the largest load is 1, exactly, at half of it 1/2; other factors multiply all loads.
func TestCriticalScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rat := func(name string, least int) *big.Rat {
			return big.NewRat(int64(rapid.IntRange(least, 20).Draw(t, name)), int64(rapid.IntRange(1, 20).Draw(t, name)))
		}
		m := &Model{Resources: []fluid.Resource{{Name: "r", Capacity: rat("capacity", 1)}, {Name: "s", Capacity: rat("capacity", 1)}}}
		for range rapid.IntRange(1, 4).Draw(t, "classes") {
			m.Classes = append(m.Classes, Class{Demand: fluid.Demand{rat("demand", 1), rat("demand", 0)}, ArrivalRate: rat("rate", 0), MeanSize: rat("size", 1)})
		}
		scale := m.CriticalScale()
		if scale == nil {
			for _, c := range m.Classes {
				if c.ArrivalRate.Sign() > 0 {
					t.Errorf("no critical scale, but arrivals at %v", c.ArrivalRate)
				}
			}
			return
		}
		var at *UnstableError
		if !errors.As(m.Scale(scale).Stable(), &at) || at.Load.Cmp(big.NewRat(1, 1)) != 0 {
			t.Errorf("at the critical scale %v: %v", scale, at)
		}
		half := m.Scale(new(big.Rat).Quo(scale, big.NewRat(2, 1)))
		if most := half.CriticalScale(); half.Stable() != nil || most.Cmp(big.NewRat(2, 1)) != 0 {
			t.Errorf("at half of it the critical scale is %v", most)
		}
	})
}
