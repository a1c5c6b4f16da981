package cluster_test

import (
	"math/big"
	"testing"

	"productform/cluster"
)

// Scale multiplies the rates of a copy and leaves the model unchanged.
func TestScale(t *testing.T) {
	m := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(3, 1)}},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(1, 2), Servers: []cluster.Choice{{Choose: 1}}},
			{Name: "b", ArrivalRate: new(big.Rat), Servers: []cluster.Choice{{Choose: 1}}},
		}}
	c := m.Scale(big.NewRat(4, 3))
	for i, want := range []*big.Rat{big.NewRat(2, 3), new(big.Rat)} {
		if got := c.Classes[i].ArrivalRate; got.Cmp(want) != 0 {
			t.Errorf("class %d: rate %v, want %v", i, got, want)
		}
	}
	c.Classes[1].ArrivalRate.SetInt64(7)
	if m.Classes[0].ArrivalRate.Cmp(big.NewRat(1, 2)) != 0 || m.Classes[1].ArrivalRate.Sign() != 0 {
		t.Errorf("the model was changed: %v", m.Classes)
	}
}
