package bf

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"

	"pgregory.net/rapid"
)

// A jet holds the coefficients of the powers of s, up to some power.
type jet []*big.Rat

func newJet(n int) jet {
	x := make(jet, n)
	for i := range x {
		x[i] = new(big.Rat)
	}
	return x
}

func (x jet) times(y jet) jet {
	z := newJet(len(x))
	for i, a := range x {
		for j := range len(x) - i {
			z[i+j].Add(z[i+j], new(big.Rat).Mul(a, y[j]))
		}
	}
	return z
}

// over returns x/y for y[0] != 0.
func (x jet) over(y jet) jet {
	z := newJet(len(x))
	for n := range x {
		z[n].Set(x[n])
		for j := range n {
			z[n].Sub(z[n], new(big.Rat).Mul(z[j], y[n-j]))
		}
		z[n].Quo(z[n], y[0])
	}
	return z
}

// normalization returns Z by the reference recursion over sets of active classes.
func normalization(rates []jet, mu []*big.Rat) jet {
	powers := len(rates[0])
	g := make([]jet, len(mu))
	z := newJet(powers)
	for a := range g {
		sum, d := newJet(powers), newJet(powers)
		d[0].Set(mu[a])
		for i, l := range rates {
			if a>>i&1 == 0 {
				continue
			}
			for k := range d {
				d[k].Sub(d[k], l[k])
			}
			for k, x := range l.times(g[a&^(1<<i)]) {
				sum[k].Add(sum[k], x)
			}
		}
		if a == 0 {
			sum[0].SetInt64(1)
			d[0].SetInt64(1)
		}
		g[a] = sum.over(d)
		for k := range z {
			z[k].Add(z[k], g[a][k])
		}
	}
	return z
}

// constants returns the arrival rates as jets.
func constants(m *cluster.Model, powers int) []jet {
	rates := make([]jet, len(m.Classes))
	for i, l := range oracle.Rates(m) {
		rates[i] = newJet(powers)
		rates[i][0].Set(l)
	}
	return rates
}

// transform returns the coefficients of the first powers of s in E[exp(-s T_i)] = Z(λ - s
// e_i)/Z(λ).
func transform(m *cluster.Model, class, powers int) jet {
	rates := constants(m, powers)
	rates[class][1].SetInt64(-1)
	z := normalization(rates, oracle.RankTable(m))
	constant := newJet(powers)
	constant[0].Set(z[0])
	return z.over(constant)
}

// The distribution of the number of jobs of a class has the generating function Z(λ + (z-1) λ_i
// e_i)/Z(λ). They are equal as fractions on each lattice; a class that chooses its servers covers
// all combinations together. The other engines are within their bounds.
func TestJobsByClassMatchCoefficients(t *testing.T) {
	const most = 3
	rapid.Check(t, func(t *rapid.T) {
		o := oracle.Options{Servers: 4, Classes: 4, Stable: true, ZeroRates: true,
			Long: rapid.IntRange(0, 3).Draw(t, "long") == 0}
		groups := rapid.Bool().Draw(t, "groups")
		if groups {
			o.Servers, o.Count = 2, 3
		}
		m := rapid.Custom(func(t *rapid.T) *cluster.Model { return oracle.DrawModel(t, o) }).
			Filter(func(m *cluster.Model) bool { return oracle.Combinations(m) <= 5 }).Draw(t, "model")
		single, _, rows, err := m.EqualSizes().Expand(100)
		if err != nil {
			t.Fatal(err)
		}
		mu := oracle.RankTable(single)
		all := normalization(constants(single, 1), mu)[0]
		var want [][]*big.Rat
		for row := range m.Classes {
			rates := constants(single, most+1)
			for i, of := range rows {
				if of == row {
					rates[i][0], rates[i][1] = rates[i][1], rates[i][0]
				}
			}
			z := normalization(rates, mu)
			for n := range z {
				z[n].Quo(z[n], all)
			}
			want = append(want, z)
		}
		for _, lattice := range lattices {
			for _, engine := range []num.Engine{num.Exact, num.Enclose, num.Float} {
				r, err := Answer(t.Context(), m, Question{MaxJobs: most, ByClass: true},
					Settings{Engine: engine, Lattice: lattice})
				if err != nil {
					if groups && isInput(err) && lattice != "" && lattice != SymmetricLattice {
						continue
					}
					if engine == num.Float && (errors.Is(err, num.ErrDigits) || errors.Is(err, num.ErrFloatRange)) {
						continue
					}
					t.Fatalf("%s %s: %v", lattice, engine, err)
				}
				for row, list := range want {
					for n, w := range list {
						checkNumber(t, fmt.Sprintf("%s %s: P(X_%d = %d)", lattice, engine, row, n),
							r.Classes[row].JobsDistribution[n], w, r.RelativeErrorBound)
					}
				}
			}
		}
	})
}

// The moments are the derivatives of the transform. They are equal as fractions on each lattice;
// for a class that chooses its servers, any single combination gives them. The first moment is the
// mean delay of Solve. The other engines are within their bounds.
func TestMomentsMatchTransform(t *testing.T) {
	const moments = 3
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.Bool().Draw(t, "groups")
		o := oracle.Options{Servers: 4, Classes: 4, Stable: true, ZeroRates: true,
			Long: rapid.IntRange(0, 3).Draw(t, "long") == 0}
		if groups {
			o.Servers, o.Count = 2, 3
		}
		m := oneSize(rapid.Custom(func(t *rapid.T) *cluster.Model { return oracle.DrawModel(t, o) }).
			Filter(func(m *cluster.Model) bool { return oracle.Combinations(m) <= 5 }).Draw(t, "model"))
		single, _, rows, err := m.Expand(100)
		if err != nil {
			t.Fatal(err)
		}
		solution, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		want := make([]jet, len(single.Classes))
		for i, row := range rows {
			if i == 0 || rows[i-1] != row {
				want[i] = transform(single, i, moments+1)
			}
		}
		for _, lattice := range []Lattice{ClassLattice, ServerLattice, SymmetricLattice} {
			for _, engine := range []num.Engine{num.Exact, num.Enclose, num.Float} {
				r, err := delaysOf(t.Context(), m, Question{Moments: moments},
					Settings{Engine: engine, Lattice: lattice})
				if err != nil {
					if groups && isInput(err) && (lattice == ClassLattice || lattice == ServerLattice) {
						continue // lattices of single servers
					}
					if engine == num.Float && (errors.Is(err, num.ErrDigits) || errors.Is(err, num.ErrFloatRange)) {
						continue
					}
					t.Fatalf("%s %s: %v", lattice, engine, err)
				}
				for i, row := range rows {
					if i > 0 && rows[i-1] == row {
						continue
					}
					got := r.Classes[row]
					if m.Classes[row].ArrivalRate.Sign() == 0 {
						if got.Moments != nil {
							t.Errorf("class %d without arrivals has moments", row)
						}
						continue
					}
					factorial := big.NewRat(1, 1)
					for k := range moments {
						factorial.Mul(factorial, big.NewRat(int64(-k-1), 1))
						checkNumber(t, fmt.Sprintf("%s %s: moment %d of class %d", lattice, engine, k+1, row),
							got.Moments[k],
							new(big.Rat).Mul(want[i][k+1], factorial), r.RelativeErrorBound)
					}
					checkNumber(t, "mean delay", got.Moments[0], solution.Classes[row].MeanDelay.Exact,
						r.RelativeErrorBound)
				}
			}
		}
	})
}

// oneSize returns the model with the same work in jobs of the model's mean size.
func oneSize(m *cluster.Model) *cluster.Model {
	one := m.EqualSizes()
	for i := range one.Classes {
		one.Classes[i].MeanSize = nil
	}
	return one
}

func checkNumber(t *rapid.T, what string, got num.Value, want *big.Rat, bound float64) {
	t.Helper()
	switch {
	case got.Exact != nil && got.Exact.Cmp(want) != 0:
		t.Errorf("%s = %v, want %v", what, got.Exact, want)
	case got.Exact != nil:
	case got.Low != nil && !encloses(got, want):
		t.Errorf("%s in [%v, %v], want %v", what, got.Low, got.High, want)
	case relativeError(got.Float, want) > bound:
		t.Errorf("%s = %v, want %v within %g", what, got.Float, want, bound)
	}
}

// referenceTail solves the recursion of the class lattice in time, over sets of classes that
// contain i:
//
//	K_A' = -(μ(A) - λ(A)) K_A + Σ_{j∈A∖i} λ_j K_{A∖j},  K_A(0) = G(A∖i),
//	P(T_i > t) = 1 - λ_i/Z ∫_0^t Σ_A K_A + (Σ_A K_A(t) - Σ_A K_A(0))/Z.
//
// It uses the Taylor series of the matrix exponential, whose terms are below exp(2qt) with q the
// largest μ(A). The tail is at least exp(-qt); bits for both leave it a relative error below
// [referenceTol].
func referenceTail(m *cluster.Model, class int, t *big.Rat) *big.Float {
	lambda, mu := oracle.Rates(m), oracle.RankTable(m)
	g, _ := oracle.ActiveSets(lambda, mu)
	qt, _ := new(big.Rat).Mul(slices.MaxFunc(mu, (*big.Rat).Cmp), t).Float64()
	prec, last := uint(256+5*qt), -int(256+2*qt) // mantissa bits, exponent of the last terms
	float := func(x *big.Rat) *big.Float { return new(big.Float).SetPrec(prec).SetRat(x) }
	zero := func() *big.Float { return new(big.Float).SetPrec(prec) }
	var rates []*big.Float
	for _, l := range lambda {
		rates = append(rates, float(l))
	}
	term, decay := make([]*big.Float, len(mu)), make([]*big.Float, len(mu)) // K^(n)(0) t^n/n!
	for a := range term {
		d := new(big.Rat).Set(mu[a])
		for i, l := range lambda {
			if a>>i&1 == 1 {
				d.Sub(d, l)
			}
		}
		if a>>class&1 == 1 {
			term[a], decay[a] = float(g[a&^(1<<class)]), float(d.Neg(d))
		}
	}
	z, at := float(oracle.Sum(g)), float(t)
	sum, integral := zero(), zero() // Σ_A K_A(t) - Σ_A K_A(0) and the integral of Σ_A K_A
	perTerm, all, product := zero(), zero(), zero()
	for n, isSmall := int64(1), false; !isSmall; n++ {
		isSmall = true
		perTerm.Quo(at, zero().SetInt64(n))
		all.SetInt64(0)
		for a := len(term) - 1; a > 0; a-- { // sets inside A have smaller numbers
			x := term[a]
			if x == nil {
				continue
			}
			all.Add(all, x)
			x.Mul(x, decay[a])
			for j, l := range rates {
				if j != class && a>>j&1 == 1 {
					x.Add(x, product.Mul(l, term[a&^(1<<j)]))
				}
			}
			x.Mul(x, perTerm)
			sum.Add(sum, x)
			isSmall = isSmall && (x.Sign() == 0 || x.MantExp(nil) < last)
		}
		integral.Add(integral, all.Mul(all, perTerm)) // ∫ of the term of order n-1
	}
	sum.Sub(sum, integral.Mul(integral, rates[class]))
	sum.Quo(sum, z)
	return sum.Add(sum, zero().SetInt64(1))
}

const referenceTol = 0x1p-200 // relative tolerance of [referenceTail]

// Tails and quantiles of both engines on all lattices contain those of the reference implementation
// within their bounds.
func TestDelaysMatchReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.Bool().Draw(t, "groups")
		o := oracle.Options{Servers: 3, Classes: 3, Stable: true, ZeroRates: true}
		if groups {
			o = oracle.Options{Servers: 2, Classes: 2, Count: 3, Stable: true}
		}
		m := rapid.Custom(func(t *rapid.T) *cluster.Model { return oracle.DrawModel(t, o) }).
			Filter(func(m *cluster.Model) bool { return oracle.Combinations(m) <= 5 }).Draw(t, "model")
		m = oneSize(m)
		single, _, rows, err := m.Expand(100)
		if err != nil {
			t.Fatal(err)
		}
		level := big.NewRat(rapid.Int64Range(1, 999).Draw(t, "level"), 1000)
		if rapid.Bool().Draw(t, "deep") {
			level = oracle.Rats("0.999999999")[0]
		}
		tails := make([][]*big.Float, len(rows)) // tails of the reference
		for _, lattice := range []Lattice{rapid.SampledFrom([]Lattice{ClassLattice, ServerLattice}).Draw(t, "lattice"),
			SymmetricLattice} {
			for _, s := range []Settings{{Engine: num.Float, Lattice: lattice},
				{Engine: num.Enclose, Lattice: lattice, RelTol: 1e-25}} {
				q := Question{Levels: []*big.Rat{level}, Times: oracle.Rats("0 1/7 3")}
				r, err := delaysOf(t.Context(), m, q, s)
				if err != nil {
					if groups && isInput(err) && lattice != SymmetricLattice {
						continue
					}
					t.Fatalf("%s %s: %v", lattice, s.Engine, err)
				}
				most := 1e-9
				if s.Engine == num.Float { // the quantile of 1/1000 magnifies the errors of its tail a thousand times
					most = 1e-8
				}
				if r.RelativeErrorBound > most {
					t.Errorf("%s %s: bound %g", lattice, s.Engine, r.RelativeErrorBound)
				}
				for i, row := range rows {
					if d := r.Classes[row]; d.Quantiles != nil && (i == 0 || rows[i-1] != row) {
						if tails[i] == nil {
							for _, at := range oracle.Rats("0 1/7 3") {
								tails[i] = append(tails[i], referenceTail(single, i, at))
							}
						}
						checkDistribution(t, fmt.Sprintf("%s %s, class %d", lattice, s.Engine, row), single, i, level,
							tails[i], d)
					}
				}
			}
		}
	})
}

func checkDistribution(t *rapid.T, what string, m *cluster.Model, class int, level *big.Rat, tails []*big.Float,
	d ClassDelays) {
	t.Helper()
	for j, at := range oracle.Rats("0 1/7 3") {
		want, v := tails[j], d.Tails[j]
		tol := new(big.Float).Mul(want, big.NewFloat(referenceTol))
		if v.Low.Cmp(new(big.Float).Add(want, tol)) > 0 || v.High.Cmp(new(big.Float).Sub(want, tol)) < 0 {
			t.Errorf("%s: P(T > %v) in [%v, %v], want %v", what, at, v.Low, v.High, want)
		}
	}
	v := d.Quantiles[0]
	tail := new(big.Float).SetPrec(1000).SetRat(new(big.Rat).Sub(big.NewRat(1, 1), level))
	low, _ := v.Low.Rat(nil)
	high, _ := v.High.Rat(nil)
	if v.Float > 20 {
		return // the reference takes long
	}
	before, after := referenceTail(m, class, low), referenceTail(m, class, high)
	tol := new(big.Float).Mul(tail, big.NewFloat(referenceTol)) // the interval may be narrower
	if before.Cmp(new(big.Float).Sub(tail, tol)) < 0 || after.Cmp(new(big.Float).Add(tail, tol)) > 0 {
		t.Errorf("%s: quantile %v in [%v, %v]: tails %v and %v", what, level, v.Low, v.High, before, after)
	}
}
