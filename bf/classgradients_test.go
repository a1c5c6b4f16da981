package bf

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// A hyper is a number with its derivatives in two variables and in both, in fractions.
type hyper struct{ x, a, b, ab *big.Rat }

func constant(x *big.Rat) hyper { return hyper{x, new(big.Rat), new(big.Rat), new(big.Rat)} }

func (p hyper) plus(q hyper) hyper {
	return hyper{add(p.x, q.x), add(p.a, q.a), add(p.b, q.b), add(p.ab, q.ab)}
}

func (p hyper) times(q hyper) hyper {
	return hyper{mul(p.x, q.x), add(mul(p.x, q.a), mul(p.a, q.x)), add(mul(p.x, q.b), mul(p.b, q.x)),
		add(add(mul(p.x, q.ab), mul(p.ab, q.x)), add(mul(p.a, q.b), mul(p.b, q.a)))}
}

// inverse returns 1/p: its derivatives are -p_a/p², -p_b/p² and 2 p_a p_b/p³ - p_ab/p².
func (p hyper) inverse() hyper {
	i := inv(p.x)
	minus := mul(big.NewRat(-1, 1), i, i)
	return hyper{i, mul(minus, p.a), mul(minus, p.b), add(mul(big.NewRat(2, 1), i, i, i, p.a, p.b), mul(minus, p.ab))}
}

// referenceDerivatives returns the derivatives of E[X_i] = λ_i ∂ log Z/∂λ_i and of E[X_i]/λ_i with
// respect to the rate of class row other, or to the capacity of server row other. It carries
// derivatives along the recursion over sets of active classes, with groups expanded:
//
//	G(∅) = 1,  G(A) = Σ_{i∈A} λ_i σ_i G(A∖i)/(μ(A) - Σ_{i∈A} λ_i σ_i),  Z = Σ_A G(A).
func referenceDerivatives(t *rapid.T, m *cluster.Model, class, other int, isRate bool) (jobs, delay *big.Rat) {
	e, serverRow, classRow, err := m.Expand(100)
	if err != nil {
		t.Fatal(err)
	}
	inRow := make([]int64, len(m.Classes))
	for _, row := range classRow {
		inRow[row]++
	}
	one := func(yes bool, x *big.Rat) *big.Rat {
		if yes {
			return x
		}
		return new(big.Rat)
	}
	work := make([]hyper, len(e.Classes))
	for k, c := range e.Classes {
		each := mul(big.NewRat(1, inRow[classRow[k]]), e.MeanSizeOf(k))
		work[k] = hyper{mul(c.ArrivalRate, e.MeanSizeOf(k)), one(classRow[k] == class, each),
			one(isRate && classRow[k] == other, each), new(big.Rat)}
	}
	g, z := make([]hyper, 1<<len(work)), constant(new(big.Rat))
	for a := range g {
		g[a] = constant(big.NewRat(1, 1))
		if a > 0 {
			used, den, sum := make(map[int]bool), constant(new(big.Rat)), constant(new(big.Rat))
			for k, c := range e.Classes {
				if a>>k&1 == 0 {
					continue
				}
				sum = sum.plus(work[k].times(g[a&^(1<<k)]))
				den = den.plus(work[k].times(constant(big.NewRat(-1, 1))))
				for _, s := range c.Servers {
					if !used[s.Server] {
						used[s.Server] = true
						capacity := constant(e.Servers[s.Server].Capacity)
						capacity.b = one(!isRate && serverRow[s.Server] == other, big.NewRat(1, 1))
						den = den.plus(capacity)
					}
				}
			}
			g[a] = sum.times(den.inverse())
		}
		z = z.plus(g[a])
	}
	h := quo(z.a, z.x)
	slope := sub(quo(z.ab, z.x), mul(h, quo(z.b, z.x)))
	jobs = mul(m.Classes[class].ArrivalRate, slope)
	if isRate && class == other {
		jobs = add(jobs, h)
	}
	return jobs, slope
}

// The derivatives match the reference recursion: as fractions with the engine Exact, and within
// tight bounds with the others.
func TestClassGradientsMatchDerivatives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := oracle.Options{Servers: 3, Classes: 3, Count: rapid.IntRange(1, 3).Draw(t, "count"), ZeroRates: true,
			ZeroCapacities: true, OwnSizes: true, Stable: true}
		m := rapid.Custom(func(t *rapid.T) *cluster.Model { return oracle.DrawModel(t, o) }).
			Filter(func(m *cluster.Model) bool { return oracle.Combinations(m) <= 5 }).Draw(t, "model")
		lattice := rapid.SampledFrom(lattices).Draw(t, "lattice")
		class := rapid.IntRange(0, len(m.Classes)-1).Draw(t, "class")
		for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
			g, err := gradientsOf(t.Context(), m, Settings{Lattice: lattice, Engine: engine})
			if isInput(err) && lattice != "" {
				return // does not apply
			}
			if err != nil {
				t.Fatal(err)
			}
			if delay := g.Classes[class].MeanDelay; (delay != nil) != (m.Classes[class].ArrivalRate.Sign() > 0) {
				t.Fatalf("delay %v", delay)
			}
			check := func(name string, got num.Value, want *big.Rat) {
				if engine == num.Exact {
					if got.Exact.Cmp(want) != 0 {
						t.Fatalf("%s %s %s: %v, want %v", lattice, engine, name, got.Exact, want)
					}
					return
				}
				w, _ := want.Float64()
				if width := boundsWidth(got); !encloses(got, want) || width > 1e-9*(max(w, -w)+1) {
					t.Fatalf("%s %s %s: [%v, %v], want %v", lattice, engine, name, got.Low, got.High, w)
				}
			}
			all := func(kind string, isRate bool, jobs func(p *Partials) []num.Value) {
				for other, got := range jobs(&g.Classes[class].MeanJobs) {
					wantJobs, wantDelay := referenceDerivatives(t, m, class, other, isRate)
					check(fmt.Sprint("jobs over ", kind, " ", other), got, wantJobs)
					if p := g.Classes[class].MeanDelay; p != nil {
						check(fmt.Sprint("delay over ", kind, " ", other), jobs(p)[other], wantDelay)
					}
				}
			}
			all("rate", true, func(p *Partials) []num.Value { return p.ArrivalRates })
			all("capacity", false, func(p *Partials) []num.Value { return p.Capacities })
		}
	})
}

// The mean numbers of jobs and the mean delays of all classes grow with every rate and fall with
// every capacity, since the numbers of jobs do so in the strong stochastic order. By Theorem 2 of
// [BC17], X is distributed as in a queue where server s completes the first job that it can serve
// at the points of a Poisson process of rate C_s. Additional points leave a subsequence of the
// original queue. Summed over the classes, the derivatives of the numbers of jobs give those of the
// total.
func TestClassGradientsHaveSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rapid.Bool().Draw(t, "groups"), false)
		g, err := gradientsOf(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := gradientOf(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		rates, capacities := make([]*big.Rat, len(m.Classes)), make([]*big.Rat, len(m.Servers))
		for _, list := range [][]*big.Rat{rates, capacities} {
			for i := range list {
				list[i] = new(big.Rat)
			}
		}
		for i, c := range g.Classes {
			for _, p := range []*Partials{&c.MeanJobs, c.MeanDelay} {
				if p == nil {
					continue
				}
				for j, v := range p.ArrivalRates {
					if v.Exact.Sign() < 0 {
						t.Fatalf("class %d: derivative %v in rate %d", i, v.Exact, j)
					}
				}
				for s, v := range p.Capacities {
					if v.Exact.Sign() > 0 {
						t.Fatalf("class %d: derivative %v in capacity %d", i, v.Exact, s)
					}
				}
			}
			for j, v := range c.MeanJobs.ArrivalRates {
				rates[j].Add(rates[j], v.Exact)
			}
			for s, v := range c.MeanJobs.Capacities {
				capacities[s].Add(capacities[s], v.Exact)
			}
		}
		for j, v := range sum.ArrivalRates {
			if rates[j].Cmp(v.Exact) != 0 {
				t.Fatalf("rate %d: sum %v, want %v", j, rates[j], v.Exact)
			}
		}
		for s, v := range sum.Capacities {
			if capacities[s].Cmp(v.Exact) != 0 {
				t.Fatalf("capacity %d: sum %v, want %v", s, capacities[s], v.Exact)
			}
		}
	})
}

// For one server of capacity C, E[X_i] = w_i/(C - w) with w_i = λ_i σ_i and w = Σ w_j. So
// ∂E[X_i]/∂C = -w_i/(C - w)² and ∂E[X_i]/∂λ_j = σ_j (w_i/(C - w)² + [i = j]/(C - w)), with every
// engine, even for long fractions.
func TestClassGradientsOfOneServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 1, OwnSizes: true, ZeroRates: true, Stable: true, Long: true})
		left := new(big.Rat).Set(m.Servers[0].Capacity)
		for i := range m.Classes {
			left.Sub(left, m.Work(i))
		}
		for _, engine := range []num.Engine{num.Auto, num.Enclose, num.Exact} {
			g, err := gradientsOf(t.Context(), m, Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			check := func(name string, got num.Value, want *big.Rat) {
				if engine == num.Exact && got.Exact.Cmp(want) != 0 || engine != num.Exact && !encloses(got, want) {
					t.Fatalf("%s %s: %v, want %v", engine, name, got, want)
				}
			}
			for i, c := range g.Classes {
				w := quo(m.Work(i), mul(left, left))
				check("capacity", c.MeanJobs.Capacities[0], mul(big.NewRat(-1, 1), w))
				for j, v := range c.MeanJobs.ArrivalRates {
					want := w
					if i == j {
						want = add(w, inv(left))
					}
					check(fmt.Sprint(i, " over rate ", j), v, mul(m.MeanSizeOf(j), want))
					if c.MeanDelay != nil {
						check(fmt.Sprint("delay ", i, " over rate ", j), c.MeanDelay.ArrivalRates[j],
							quo(mul(m.MeanSizeOf(i), m.MeanSizeOf(j)), mul(left, left)))
					}
				}
			}
		}
	})
}
