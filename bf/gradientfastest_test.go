package bf

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/stability"
)

// drawTree draws a tree of 7 to 11 servers, or a star of 12, at a load of at most 0.95.
func drawTree(t *rapid.T) *cluster.Model {
	m := &cluster.Model{}
	rate := func() *big.Rat { return big.NewRat(rapid.Int64Range(1, 9).Draw(t, "rate"), 10) }
	isStar := rapid.IntRange(0, 2).Draw(t, "star") == 0 // a star has by far the most connected sets
	servers := 12
	if !isStar {
		servers = rapid.IntRange(7, 11).Draw(t, "servers")
	}
	for s := range servers {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s),
			Capacity: big.NewRat(rapid.Int64Range(1, 9).Draw(t, "capacity"), 1)})
		m.Classes = append(m.Classes,
			cluster.Class{Name: fmt.Sprint("own", s), Servers: cluster.On(s), ArrivalRate: rate()})
		if s == 0 {
			continue
		}
		parent := 0
		if !isStar {
			parent = rapid.IntRange(0, s-1).Draw(t, "parent")
		}
		m.Classes = append(m.Classes,
			cluster.Class{Name: fmt.Sprint("with", s), Servers: cluster.On(parent, s), ArrivalRate: rate()})
	}
	r, err := stability.Cluster(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return m.Scale(r.CriticalScale.Mul(r.CriticalScale, rapid.SampledFrom(oracle.Rats("0.3 0.7 0.95")).Draw(t, "load")))
}

// Derivatives of trees match those over the connected sets of servers. Elimination computes them if
// its estimate is below half of the work of these sets and its bounds meet the tolerance of each
// derivative.
func TestGradientUsesLeastWork(t *testing.T) {
	t.Parallel()
	methods := make(map[Lattice]int)
	rapid.Check(t, func(t *rapid.T) {
		m := drawTree(t)
		s, err := Settings{RelTol: rapid.SampledFrom([]float64{0, 1e-8, 1e-5}).Draw(t, "tolerance")}.validate()
		if err != nil {
			t.Fatal(err)
		}
		p := oracle.Must(prepare(t.Context(), m))
		solve := func(lattice Lattice, engine num.Engine) (*plan, *Gradient) {
			t.Helper()
			r := request{Settings: s}
			r.Lattice, r.Engine = lattice, engine
			plans, err := p.gradientPlans(t.Context(), r, false, false)
			if err != nil || len(plans) != 1 {
				t.Fatal(plans, err)
			}
			g, err := solveToWidth(r, plans, func(at rung) (*Gradient, float64, error) {
				return p.gradientWith(t.Context(), plans, at)
			})
			if err != nil {
				t.Fatal(err)
			}
			return plans[0], g
		}
		chosen, got := solve("", num.Auto)
		methods[chosen.lattice]++
		sets, want, byOrder, eliminated := chosen, got, chosen, got
		if chosen.lattice != ConnectedLattice {
			sets, want = solve(ConnectedLattice, num.Auto)
		}
		if chosen.lattice != EliminationLattice {
			byOrder, eliminated = solve(EliminationLattice, num.Float)
		}
		work, terms := byOrder.elimination().operations, sets.connectedTerms
		isCheaper := slopeGain*eliminationSweep*work < meanDerivative*terms
		isNarrow := widestOf(eliminated) <= s.RelTol
		isEliminated := chosen.lattice == EliminationLattice
		if isEliminated && (!isCheaper || widestOf(got) > s.RelTol) || !isEliminated && isCheaper && isNarrow {
			t.Errorf("%s, though elimination takes less: %v, and meets the tolerance: %v", chosen.lattice,
				isCheaper, isNarrow)
		}
		for k, y := range derivativesOf(want) {
			for _, x := range []num.Value{derivativesOf(got)[k], derivativesOf(eliminated)[k]} {
				if x.Low.Cmp(y.High) > 0 || y.Low.Cmp(x.High) > 0 {
					t.Errorf("derivative %d: [%v, %v] by %s or elimination, [%v, %v] by connected sets", k, x.Low,
						x.High, chosen.lattice, y.Low, y.High)
				}
			}
		}
	})
	if !t.Failed() && len(methods) < 2 {
		t.Errorf("all answers come from one method: %v", methods)
	}
}

func derivativesOf(g *Gradient) []num.Value {
	return append(append([]num.Value(nil), g.ArrivalRates...), g.Capacities...)
}

// widestOf returns the largest distance of a derivative from its bounds, relative to the
// derivative.
func widestOf(g *Gradient) (widest float64) {
	for _, x := range derivativesOf(g) {
		width, _ := new(big.Float).Sub(x.High, x.Low).Float64()
		widest = max(widest, width/2/max(x.Float, -x.Float))
	}
	return widest
}
