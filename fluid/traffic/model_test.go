package traffic

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"productform/fluid"
)

// At the critical scale the largest load is exactly 1, and at half of it 1/2; other factors
// multiply all loads.
func TestCriticalScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rat := func(name string, least int) *big.Rat {
			return big.NewRat(
				int64(rapid.IntRange(least, 20).Draw(t, name)), int64(rapid.IntRange(1, 20).Draw(t, name)),
			)
		}
		m := &Model{Resources: []fluid.Resource{
			{Name: "r", Capacity: rat("capacity", 1)}, {Name: "s", Capacity: rat("capacity", 1)},
		}}
		for range rapid.IntRange(1, 4).Draw(t, "classes") {
			m.Classes = append(m.Classes, Class{
				Demand:      fluid.Demand{rat("demand", 1), rat("demand", 0)},
				ArrivalRate: rat("rate", 0),
				MeanSize:    rat("size", 1),
			})
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

// Loads from declared and from true demands are sums over the classes; the latter are present if
// and only if some class lies.
func TestNewResultLoads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		m := randomTraffic(rand.New(rand.NewPCG(seed, 11)), 3, 2, big.NewRat(1, 2))
		lie := big.NewRat(rapid.Int64Range(1, 2).Draw(t, "lie"), 1)
		c := &m.Classes[rapid.IntRange(0, 2).Draw(t, "class")]
		for _, d := range c.Demand {
			c.Declared = append(c.Declared, new(big.Rat).Mul(d, lie))
		}
		lies := lie.Cmp(big.NewRat(1, 1)) > 0
		for j, got := range NewResult(m, fluid.PF).Resources {
			load, honest := new(big.Rat), new(big.Rat)
			for _, c := range m.Classes {
				work := new(big.Rat).Mul(c.ArrivalRate, c.MeanSize)
				work.Quo(work, m.Resources[j].Capacity)
				honest.Add(honest, new(big.Rat).Mul(work, c.Demand[j]))
				load.Add(load, work.Mul(work, c.Profile()[j]))
			}
			if got.Load.Cmp(load) != 0 || (got.TrueLoad != nil) != lies || lies && got.TrueLoad.Cmp(honest) != 0 {
				t.Fatalf("resource %d: %v and %v, want %v and %v", j, got.Load, got.TrueLoad, load, honest)
			}
		}
	})
}
