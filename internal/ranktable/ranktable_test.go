package ranktable_test

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/internal/oracle"
	"productform/internal/ranktable"
)

// The rank function of servers matches its definition and passes the check. If one value is set
// below that of a subset, the check fails and names the changed set.
func TestOfServersAndCheck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{ZeroCapacities: true})
		m.MeanSize = nil
		n := len(m.Classes)
		servers, capacities := make([][]int, n), make([]*big.Rat, len(m.Servers))
		for i, class := range m.Classes {
			for _, c := range class.Servers {
				servers[i] = append(servers[i], c.Server)
			}
		}
		for s, server := range m.Servers {
			capacities[s] = server.Capacity
		}
		rank, err := ranktable.OfServers(t.Context(), servers, capacities)
		if err != nil {
			t.Fatal(err)
		}
		if want := oracle.RankTable(m); !slices.EqualFunc(
			rank, want, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 },
		) {
			t.Fatalf("rank %v, want %v", rank, want)
		}
		if err := ranktable.Check(t.Context(), rank, n); err != nil {
			t.Fatal(err)
		}
		a := rapid.IntRange(1, len(rank)-1).Draw(t, "A")
		sub := a & (a - 1)
		if sub == 0 {
			return
		}
		rank[a] = new(big.Rat).Sub(rank[sub], big.NewRat(1, 1000))
		err = ranktable.Check(t.Context(), rank, n)
		if e := new(input.Error); !errors.As(err, &e) {
			t.Fatalf("μ(%v) = %v is accepted, error %v", ranktable.Members(a), rank[a], err)
		}
	})
}

func TestCheckMessages(t *testing.T) {
	one := big.NewRat(1, 1)
	for want, rank := range map[string][]*big.Rat{
		"Rank = 3 values: want 2^2 = 4 values, one for each set of classes": {
			nil, one, one,
		},
		"Rank[0] = 1: want 0 or nil, the rate with no class present": {
			one, one, one, one,
		},
		"Rank[2] is missing: want a number > 0, the rate with classes [1] present": {
			nil, one, nil, one,
		},
		"Rank[3] = 0: want a number > 0, the rate with classes [0 1] present": {
			nil, one, one, new(big.Rat),
		},
		"Rank[3] = 1: want at least Rank[1] = 3/2: the rate with classes [0] present cannot fall when class 1 joins": {
			new(big.Rat), big.NewRat(3, 2), one, one,
		},
	} {
		if err := ranktable.Check(t.Context(), rank, 2); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err := ranktable.Check(t.Context(), []*big.Rat{nil, one, one, one}, 2); err != nil {
		t.Error(err)
	}
}

// Each sum is the sum over the members of its set.
func TestSums(t *testing.T) {
	values := []*big.Rat{big.NewRat(1, 2), big.NewRat(0, 1), big.NewRat(3, 7), big.NewRat(5, 1)}
	sums, err := ranktable.Sums(t.Context(), values)
	if err != nil || len(sums) != 16 {
		t.Fatal(sums, err)
	}
	for a, got := range sums {
		want := new(big.Rat)
		for _, i := range ranktable.Members(a) {
			want.Add(want, values[i])
		}
		if got.Cmp(want) != 0 {
			t.Errorf("sum of %b is %v, want %v", a, got, want)
		}
	}
}
