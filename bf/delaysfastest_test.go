package bf

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/delays"
	"productform/internal/oracle"
	"productform/num"
)

// drawStiff draws a tree of at most 8 servers whose capacities differ by a factor of up to 10^4, at
// a load of 0.3 to 0.999.
func drawStiff(t *rapid.T) *cluster.Model {
	m := &cluster.Model{}
	n := rapid.IntRange(1, 8).Draw(t, "servers")
	add := func(servers ...int) {
		rate := big.NewRat(rapid.Int64Range(1, 20).Draw(t, "rate"), 10)
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", len(m.Classes)),
			Servers: cluster.On(servers...), ArrivalRate: rate})
	}
	for s := range n {
		capacity := rapid.SampledFrom(oracle.Rats("0.1 1 10 100 1000")).Draw(t, "capacity")
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: new(big.Rat).Set(capacity)})
		if s > 0 {
			add(rapid.IntRange(0, s-1).Draw(t, "parent"), s)
		}
		if s == 0 || rapid.Bool().Draw(t, "own class") {
			add(s)
		}
	}
	return oracle.ScaleTo(m, rapid.SampledFrom(oracle.Rats("0.3 0.9 0.99 0.999")).Draw(t, "load"))
}

// Percentiles of the fastest method agree with elimination and, if it takes few steps, with the
// table of sets of classes. Steps over tables never take more work than twice the estimate for
// elimination, if elimination has an answer.
func TestDelaysUseFastestMethod(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawStiff(t)
		q := Question{Levels: oracle.Rats("0.5 0.99")}
		got, err := delaysOf(t.Context(), m, q, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if got.RelativeErrorBound > 1e-9 {
			t.Errorf("bound %v", got.RelativeErrorBound)
		}
		want, err := delaysOf(t.Context(), m, q, Settings{Lattice: EliminationLattice})
		var refused *num.InputError
		switch {
		case errors.As(err, &refused):
			return // too stiff for elimination, but the fastest method had an answer
		case err != nil:
			t.Fatal(err)
		}
		compareDelays(t, got, want)
		components, err := m.Reduce(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		most := 0.0
		for k := range components {
			c := &components[k]
			s, err := Settings{}.validate()
			if err != nil {
				t.Fatal(err)
			}
			query := oracle.Must(newQuery(m, c, rung{s: request{Question: q, Settings: s}, engine: num.Float}))
			l, err := query.planElimination(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			most += 2 * max(minCompared, l.estimate(l.elimination(), l.delaySettings(tailsOf(q.Levels))))
			query.s.Lattice = ClassLattice
			table, err := query.planTable(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r := &delayResult{Precision: Precision{Engine: num.Float}, classes: make([]ClassDelays, len(m.Classes))}
			var long *delays.StepsError
			switch _, err := r.add(t.Context(), table, minCompared); {
			case err != nil && !errors.As(err, &long):
				t.Fatal(err)
			case err == nil:
				for _, row := range slices.Concat(c.Classes...) {
					compareDelays(t, &delayAnswer{Classes: got.Classes[row : row+1]},
						&delayAnswer{Classes: r.classes[row : row+1]})
				}
			}
		}
		if got.steps > most {
			t.Errorf("steps take %.3g products, more than %.3g", got.steps, most)
		}
	})
}

// A nearly saturated server and one that is a thousand times as fast take few steps, although the
// table of two servers would take 10^8.
func TestDelaysOfStiffPair(t *testing.T) {
	m := &cluster.Model{
		Servers: []cluster.Server{
			{Name: "slow", Capacity: big.NewRat(1, 10)},
			{Name: "fast", Capacity: big.NewRat(100, 1)},
		},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(999, 10000), Servers: cluster.On(0)},
			{Name: "b", ArrivalRate: big.NewRat(4, 1), Servers: cluster.On(0, 1)},
		},
	}
	r, err := delaysOf(t.Context(), m, Question{Levels: oracle.Rats("0.5 0.999")}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// By enclosures over the table of classes: an independent trial, to ten digits.
	for i, want := range [][]float64{{6931.472222, 69077.55321}, {0.00722027561, 0.07195570920}} {
		for k, x := range want {
			if got := r.Classes[i].Quantiles[k].Float; !oracle.Near(got, x, 1e-9) {
				t.Errorf("class %d, quantile %d: %v, want %v", i, k, got, x)
			}
		}
	}
	if r.steps > 2*minCompared {
		t.Errorf("%.3g products", r.steps)
	}
}
