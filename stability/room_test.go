package stability

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// The room of a class is the smallest margin of all sets that contain it, and the set attains it.
func TestRoomsAgainstSubsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawLoad(t, drawModel(t, false))
		lambda, rank := loads(m)
		rooms, err := Rooms(t.Context(), m)
		if stable := bruteForce(lambda, rank).margin.Sign() > 0; !stable {
			var unstable *cluster.UnstableError
			if !errors.As(err, &unstable) || !errors.Is(err, num.ErrUnstable) || rooms != nil {
				t.Fatalf("%v, error %v", rooms, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		margin := func(set []int) *big.Rat {
			h := rank(set)
			for _, i := range set {
				h.Sub(h, lambda[i])
			}
			return h
		}
		for i := range m.Classes {
			var want *big.Rat
			for _, set := range oracle.Subsets(len(lambda))[1:] {
				if h := margin(set); slices.Contains(set, i) && (want == nil || h.Cmp(want) < 0) {
					want = h
				}
			}
			if got := rooms[i]; got.Work.Cmp(want) != 0 || !slices.Contains(got.Set, i) || !slices.IsSorted(got.Set) ||
				margin(got.Set).Cmp(want) != 0 {
				t.Fatalf("class %d: room %v of %v, want %v", i, got.Work, got.Set, want)
			}
		}
	})
}

// The same holds in groups: a class that brings additional work equal to its room makes the cluster
// unstable, and one that brings slightly less does not.
func TestRoomsOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawLoad(t, drawModel(t, true))
		rooms, err := Rooms(t.Context(), m)
		if err != nil {
			if !errors.Is(err, num.ErrUnstable) {
				t.Fatal(err)
			}
			return
		}
		for i := range m.Classes {
			for part, stable := range map[*big.Rat]bool{big.NewRat(1, 1): false, big.NewRat(999_999, 1_000_000): true} {
				grown := *m
				grown.Classes = slices.Clone(m.Classes)
				more := new(big.Rat).Sub(rooms[i].Limit, m.Classes[i].ArrivalRate)
				if work := new(big.Rat).Mul(more, m.MeanSizeOf(i)); work.Cmp(rooms[i].Work) != 0 {
					t.Fatalf("class %d: limit %v, room %v", i, rooms[i].Limit, rooms[i].Work)
				}
				grown.Classes[i].ArrivalRate = more.Add(more.Mul(more, part), m.Classes[i].ArrivalRate)
				overload, err := Overload(t.Context(), &grown)
				if err != nil || (overload == nil) != stable {
					t.Fatalf("class %d with %v of its room %v: %v, %v", i, part, rooms[i].Work, overload, err)
				}
			}
		}
	})
}
