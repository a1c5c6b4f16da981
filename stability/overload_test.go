package stability

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
)

// One flow gives the same verdict as the sums over all sets, even at the boundary, and a set that
// proves it.
func TestOverloadAgainstSubsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawLoad(t, drawModel(t, false))
		want := bruteForce(loads(m))
		got, err := Overload(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if stable := want.margin.Sign() > 0; stable != (got == nil) {
			t.Fatalf("margin %v, overloaded %v", want.margin, got)
		}
		if got == nil {
			return
		}
		e := m.EqualSizes()
		rate := new(big.Rat)
		for _, i := range got.Classes {
			rate.Add(rate, e.Classes[i].ArrivalRate)
		}
		if capacity := oracle.Rank(e, got.Classes); got.ArrivalRate.Cmp(rate) != 0 || got.Capacity.Cmp(capacity) != 0 ||
			rate.Cmp(capacity) < 0 {
			t.Fatalf("%v: classes bring %v to %v", got, rate, capacity)
		}
	})
}

// The verdict also matches [Cluster] for groups.
func TestOverloadOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawLoad(t, drawModel(t, true))
		want, err := Cluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Overload(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if want.Stable != (got == nil) || got != nil && got.ArrivalRate.Cmp(got.Capacity) < 0 {
			t.Fatalf("stable %v, overloaded %v", want.Stable, got)
		}
	})
}
