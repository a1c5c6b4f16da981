package gibbs_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/cluster"
	"productform/stability"
)

// randomModel draws classes that each use three servers of capacity 1, at a fraction of the
// critical load.
func randomModel(tb testing.TB, classes, servers int, load *big.Rat, seed uint64) *cluster.Model {
	r := rand.New(rand.NewPCG(seed, 0))
	m := &cluster.Model{}
	for s := range servers {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(1, 1)})
	}
	for i := range classes {
		m.Classes = append(m.Classes, cluster.Class{
			Name:        fmt.Sprint("c", i),
			ArrivalRate: big.NewRat(50+r.Int64N(100), 100),
			Servers:     cluster.On(r.Perm(servers)[:3]...),
		})
	}
	return scaleToLoad(tb, m, load)
}

// scaleToLoad scales the rates of a model to a fraction of the critical ones.
func scaleToLoad(tb testing.TB, m *cluster.Model, load *big.Rat) *cluster.Model {
	v, err := stability.Cluster(tb.Context(), m)
	if err != nil {
		tb.Fatal(err)
	}
	return m.Scale(new(big.Rat).Mul(v.CriticalScale, load))
}
