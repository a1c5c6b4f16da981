package bf

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"productform/cluster"
	"productform/num"
)

// chainModel has 24 or 25 servers in a line or a ring, of unequal capacities, and unequal classes
// on one to five neighbours.
func chainModel(rng *rand.Rand, ring bool) *cluster.Model {
	n := 24 + rng.IntN(2)
	m := &cluster.Model{}
	for s := range n {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s),
			Capacity: big.NewRat(10+rng.Int64N(10), 10)})
	}
	for first := range n {
		for _, uses := range []int{2, 1 + rng.IntN(5)} {
			if first+uses > n && !ring {
				continue
			}
			k := cluster.Class{Name: fmt.Sprint("c", len(m.Classes)), ArrivalRate: big.NewRat(1+rng.Int64N(40), 100)}
			for s := range uses {
				k.Servers = append(k.Servers, cluster.Choice{Server: (first + s) % n, Choose: 1})
			}
			m.Classes = append(m.Classes, k)
		}
	}
	return m
}

// Servers in a line or a ring are solved by intervals. Enclosures over the graph of connected sets
// contain their means and distributions of jobs. A sweep returns the same numbers.
func TestChains(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		ring := seed%2 == 1
		m := chainModel(rand.New(rand.NewPCG(seed, 17)), ring)
		q := Question{MaxJobs: 6}
		got, err := Answer(t.Context(), m, q, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := Answer(t.Context(), m, q, Settings{Engine: num.Enclose, Lattice: ConnectedLattice, RelTol: 1e-20})
		if err != nil {
			t.Fatal(err)
		}
		shape := map[bool]string{true: "in a ring", false: "in a line"}[ring]
		if part := got.Parts[0]; part.Lattice != ConnectedLattice || !strings.Contains(part.Why, shape) ||
			got.Engine != num.Float {
			t.Errorf("seed %d: %s, %+v", seed, got.Engine, part)
		}
		check := func(what string, x, in num.Value) {
			t.Helper()
			low, _ := in.Low.Rat(nil)
			if e := relativeError(x.Float, low); !(e <= got.RelativeErrorBound) || got.RelativeErrorBound > 1e-10 {
				t.Errorf("seed %d: %s = %v, want %v: relative error %g, bound %g", seed, what, x.Float, in.Low, e,
					got.RelativeErrorBound)
			}
		}
		check("Z", *got.Normalization, *want.Normalization)
		for i, k := range want.Classes {
			check("jobs", got.Classes[i].MeanJobs, k.MeanJobs)
		}
		for i, k := range want.Servers {
			check("utilization", got.Servers[i].Utilization, k.Utilization)
		}
		for n, p := range want.JobsDistribution {
			check(fmt.Sprint("P of ", n), got.JobsDistribution[n], p)
		}
		factors := []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1)}
		swept, err := sweepLoads(t.Context(), m, factors, q, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		half, err := Answer(t.Context(), m.Scale(factors[0]), q, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(withoutBytes(swept[1]), withoutBytes(got)) ||
			!reflect.DeepEqual(withoutBytes(swept[0]), withoutBytes(half)) {
			t.Errorf("seed %d: the sweep differs", seed)
		}
	}
}

func withoutBytes(r *Result) Result {
	x := *r
	x.Parts = nil
	return x
}

// A line of a thousand servers with one overloaded server names its classes.
func TestOverloadedChain(t *testing.T) {
	m := lineModel(1000, 3)
	m.Classes[500].ArrivalRate = big.NewRat(3, 1)
	_, err := Solve(t.Context(), m, Settings{})
	var unstable *cluster.UnstableError
	if !errors.As(err, &unstable) || unstable.ArrivalRate.Cmp(unstable.Capacity) < 0 {
		t.Errorf("error %v", err)
	}
}
