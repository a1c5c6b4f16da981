package oneserver

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/num"
)

// The means of a large pool by Erlang's formula match sums over all numbers of busy servers.
func TestLargePoolMatchesSweep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(manyServers, 3000).Draw(t, "servers")
		m := &cluster.Model{Service: cluster.OneServer, MeanSize: big.NewRat(2, 1),
			Servers: []cluster.Server{{Name: "g", Capacity: big.NewRat(3, 1), Count: n}}}
		share := big.NewRat(rapid.Int64Range(1, 9999).Draw(t, "load"), 10_000)
		for i, weight := range []int64{1, 4} { // of 5
			rate := new(big.Rat).Mul(share, big.NewRat(weight*int64(n)*3, 10))
			m.Classes = append(m.Classes, cluster.Class{Name: string(rune('a' + i)), ArrivalRate: rate,
				Servers: []cluster.Choice{{Server: 0, Choose: n}}})
		}
		got, err := Solve(t.Context(), m, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		parts := split(m, m.MeanSize)
		if len(parts) != 1 || !parts[0].isLargePool() {
			t.Fatalf("%d parts", len(parts))
		}
		s, err := newStates(t.Context(), parts[0])
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := newNumbers(t.Context(), s, arithmetic.One(num.Float, 0))
		if err != nil {
			t.Fatal(err)
		}
		w, err := newSweep(t.Context(), numbers)
		if err != nil {
			t.Fatal(err)
		}
		want, err := w.measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, x num.Value, y arithmetic.Number) {
			if f := y.Double(); !(math.Abs(x.Float-f) <= (got.RelativeErrorBound+y.RelativeError())*f+0x1p-1000) {
				t.Fatalf("%s = %v, want %v within %v and %v", what, x.Float, f, got.RelativeErrorBound,
					y.RelativeError())
			}
		}
		near("utilization", got.Servers[0].Utilization, want.busy[0])
		for i, c := range got.Classes {
			near("probability of waiting", *c.WaitProbability, want.wait[i])
			near("queue", c.MeanQueue, want.queue[i])
			near("rate", c.ServedBy[0].Rate, want.direct[i].Add(want.waited[i]))
		}
		// a step of the recursion has eight roundings, and there are a few more
		if most := 9 * float64(n) * arithmetic.Roundoff; !(got.RelativeErrorBound < most) || got.States != n+1 {
			t.Fatalf("bound %v, %d states", got.RelativeErrorBound, got.States)
		}
	})
}
