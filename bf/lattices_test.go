package bf

import (
	"fmt"
	"math/big"
	"testing"

	"productform/cluster"

	"pgregory.net/rapid"
)

// drawModel draws a cluster of at most 5 classes and 5 rows of servers, scaled to a load (share
// of the critical one) of at most 9/10 over all sets of classes. With groups, rows may
// hold up to 3 equal servers, of which classes choose some.
func drawModel(t *rapid.T, groups bool) *cluster.Model {
	rational := func(label string, low int) *big.Rat {
		return big.NewRat(int64(rapid.IntRange(low, 12).Draw(t, label)), int64(rapid.IntRange(1, 6).Draw(t, label+" denominator")))
	}
	m := &cluster.Model{}
	servers := rapid.IntRange(1, 5).Draw(t, "servers")
	for s := range servers {
		row := cluster.Server{Name: fmt.Sprint("s", s), Count: 1, Capacity: rational("capacity", 1)}
		if groups {
			row.Count = rapid.IntRange(1, 3).Draw(t, "count")
		}
		m.Servers = append(m.Servers, row)
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "classes") {
		k := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: rational("rate", 0)}
		for _, s := range rapid.Permutation(indices(servers)).Draw(t, "order")[:rapid.IntRange(1, servers).Draw(t, "degree")] {
			k.Servers = append(k.Servers, cluster.Choice{Server: s, Choose: rapid.IntRange(1, m.Servers[s].Count).Draw(t, "choose")})
		}
		m.Classes = append(m.Classes, k)
	}
	if rapid.Bool().Draw(t, "mean size") {
		m.MeanSize = rational("mean size value", 1)
	}
	scaleTo(m, big.NewRat(int64(rapid.IntRange(1, 9).Draw(t, "load")), 10))
	return m
}

func indices(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// scaleTo multiplies all rates so that the load of the fullest set of classes, sets of equal
// servers written out, is the given one.
func scaleTo(m *cluster.Model, load *big.Rat) {
	e, _, _, err := m.Expand(1000)
	if err != nil {
		panic(err)
	}
	fullest := new(big.Rat)
	for a := 1; a < 1<<len(e.Servers); a++ { // classes whose servers all lie in a
		rate, capacity := new(big.Rat), new(big.Rat)
		for s, r := range e.Servers {
			if a>>s&1 == 1 {
				capacity.Add(capacity, r.Capacity)
			}
		}
		for _, k := range e.Classes {
			in := true
			for _, c := range k.Servers {
				in = in && a>>c.Server&1 == 1
			}
			if in {
				rate.Add(rate, k.ArrivalRate)
			}
		}
		if m.MeanSize != nil {
			rate.Mul(rate, m.MeanSize)
		}
		if capacity.Sign() > 0 {
			if r := rate.Quo(rate, capacity); r.Cmp(fullest) > 0 {
				fullest = r
			}
		}
	}
	if fullest.Sign() == 0 {
		return
	}
	factor := new(big.Rat).Quo(load, fullest)
	for i := range m.Classes {
		m.Classes[i].ArrivalRate = new(big.Rat).Mul(m.Classes[i].ArrivalRate, factor)
	}
}

// literal solves a model without groups by the recursion over sets of active classes at its
// most literal, and E[X_i] from its derivatives by the product rule,
//
//	G(A) = Σ_{i∈A} λ_i G(A∖i) / (μ(A)-λ(A)),  λ_j G_j(A) = [λ_j G(A∖j) + Σ_i λ_i λ_j G_j(A∖i) + λ_j G(A)] / (μ(A)-λ(A)).
func literal(m *cluster.Model) (z *big.Rat, jobs []*big.Rat, busy []*big.Rat) {
	n := len(m.Classes)
	size := big.NewRat(1, 1)
	if m.MeanSize != nil {
		size = m.MeanSize
	}
	g := make([]*big.Rat, 1<<n)
	d := make([][]*big.Rat, 1<<n) // λ_j dG/dλ_j
	z = new(big.Rat)
	sums := make([]*big.Rat, n)
	for j := range sums {
		sums[j] = new(big.Rat)
	}
	busy = make([]*big.Rat, len(m.Servers))
	for s := range busy {
		busy[s] = new(big.Rat)
	}
	for a := range 1 << n {
		used := make([]bool, len(m.Servers))
		slack := new(big.Rat)
		for i, k := range m.Classes {
			if a>>i&1 == 0 {
				continue
			}
			slack.Sub(slack, k.ArrivalRate)
			for _, c := range k.Servers {
				if !used[c.Server] {
					used[c.Server] = true
					slack.Add(slack, new(big.Rat).Quo(m.Servers[c.Server].Capacity, size))
				}
			}
		}
		g[a] = new(big.Rat)
		d[a] = make([]*big.Rat, n)
		for i, k := range m.Classes {
			if a>>i&1 == 1 {
				g[a].Add(g[a], new(big.Rat).Mul(k.ArrivalRate, g[a&^(1<<i)]))
			}
		}
		if a == 0 {
			g[a].SetInt64(1)
		} else {
			g[a].Quo(g[a], slack)
		}
		for j, kj := range m.Classes {
			d[a][j] = new(big.Rat)
			if a>>j&1 == 1 {
				d[a][j].Add(g[a&^(1<<j)], g[a])
				d[a][j].Mul(d[a][j], kj.ArrivalRate)
			}
			for i, k := range m.Classes {
				if a>>i&1 == 1 {
					d[a][j].Add(d[a][j], new(big.Rat).Mul(k.ArrivalRate, d[a&^(1<<i)][j]))
				}
			}
			if a != 0 {
				d[a][j].Quo(d[a][j], slack)
			}
			sums[j].Add(sums[j], d[a][j])
		}
		z.Add(z, g[a])
		for s, u := range used {
			if u {
				busy[s].Add(busy[s], g[a])
			}
		}
	}
	for j := range sums {
		sums[j].Quo(sums[j], z)
	}
	for s := range busy {
		busy[s].Quo(busy[s], z)
	}
	return z, sums, busy
}

// All lattices and engines give the answer of the literal recursion on the model with groups
// written out: equal as fractions, enclosed, and within the bound of the float engine. On these
// well-conditioned models the bound is within 10^4 of the true error or of the roundoff of the output.
func TestLatticesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.Bool().Draw(t, "groups")
		m := drawModel(t, groups)
		e, serverRow, classRow, err := m.Expand(12)
		if err != nil {
			return
		}
		z, jobs, busy := literal(e)
		wantJobs := make([]*big.Rat, len(m.Classes))
		for i := range wantJobs {
			wantJobs[i] = new(big.Rat)
		}
		for i, row := range classRow {
			wantJobs[row].Add(wantJobs[row], jobs[i])
		}
		wantBusy := make([]*big.Rat, len(m.Servers))
		for s, row := range serverRow {
			wantBusy[row] = busy[s]
		}
		for _, lattice := range []Lattice{"", ClassLattice, ServerLattice, ConnectedLattice, SymmetricLattice} {
			for _, engine := range []Engine{Float, Enclose, Exact} {
				r, err := Solve(m, Settings{Engine: engine, Lattice: lattice})
				if err != nil {
					if groups && isInput(err) && lattice != "" && lattice != SymmetricLattice {
						continue // a lattice of single servers was asked for a model with groups
					}
					t.Fatalf("%s %s: %v", lattice, engine, err)
				}
				name := fmt.Sprintf("%s %s", lattice, engine)
				checkValue(t, name+" Z", r, r.Normalization.Float, r.Normalization.Exact, z)
				for i, w := range wantJobs {
					checkValue(t, name+" jobs", r, r.Classes[i].MeanJobs.Float, r.Classes[i].MeanJobs.Exact, w)
				}
				for s, w := range wantBusy {
					checkValue(t, name+" busy", r, r.Servers[s].Utilization.Float, r.Servers[s].Utilization.Exact, w)
				}
				if engine == Float && r.RelativeErrorBound > 1e4*0x1p-53 {
					t.Errorf("%s: bound %g", name, r.RelativeErrorBound)
				}
			}
		}
	})
}

func checkValue(t *rapid.T, name string, r *Result, got float64, exact, want *big.Rat) {
	t.Helper()
	e := relativeError(got, want)
	if r.Engine == Exact {
		if exact.Cmp(want) != 0 {
			t.Errorf("%s = %v, want %v", name, exact, want)
		}
	} else if e > r.RelativeErrorBound {
		t.Errorf("%s = %v, want %v: relative error %g, bound %g", name, got, want, e, r.RelativeErrorBound)
	}
}
