package recursion_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// drawFloatProblem draws up to four groups of servers, with integers of one word or longer ones.
// Servers range from almost idle to nearly saturated.
func drawFloatProblem(t *rapid.T, most int) *recursion.Problem {
	p := &recursion.Problem{Whole: true, Scale: big.NewInt(1), Small: rapid.Bool().Draw(t, "small")}
	long := uint(0)
	if !p.Small {
		long = 70
	}
	for range rapid.IntRange(1, 4).Draw(t, "groups") {
		n, c := rapid.IntRange(1, most).Draw(t, "servers"), rapid.Int64Range(1, 1_000_000).Draw(t, "capacity")
		p.Groups = append(p.Groups, recursion.Group{N: n, Capacity: new(big.Int).Lsh(big.NewInt(c), long)})
		p.Capacity64 = append(p.Capacity64, c)
		p.Whole = p.Whole && n == 1
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "classes") {
		var k recursion.Class
		for s, g := range p.Groups {
			// the first class uses all groups, so there is one component
			if d := rapid.IntRange(0, g.N).Draw(t, "chosen"); d > 0 || i == 0 {
				k.Choose = append(k.Choose, recursion.Choice{Group: s, Choose: max(d, 1)})
			}
		}
		if k.Choose != nil {
			rate := int64(math.Exp(rapid.Float64Range(0, 12).Draw(t, "log rate")))
			k.Rate = new(big.Int).Lsh(big.NewInt(rate), long)
			p.Classes, p.Rate64 = append(p.Classes, k), append(p.Rate64, rate)
		}
	}
	return p
}

// referenceMeasures returns the measures of a problem by recursion over all sets K of single
// servers, in which every way to choose servers is a separate class: with C_s the capacities, M(K)
// their sum, and λ_i(K) the rate of the ways of class i within K,
//
//	Z(K) = Σ_{s∈K} C_s Z(K∖s) / (M(K) - λ(K)),  J_i(K) = (Σ_{s∈K} C_s J_i(K∖s) + λ_i(K) Z(K)) / (M(K) - λ(K)),
//
// E[X_i] = J_i/Z, as J_i is λ_i times the derivative of Z, and server s is idle with probability
// Z(all∖s)/Z(all). It is nil if the problem is unstable.
func referenceMeasures(p *recursion.Problem) (z *big.Rat, jobs, busy []*big.Rat) {
	var capacity []*big.Int
	start := make([]int, len(p.Groups))
	for s, g := range p.Groups {
		start[s] = len(capacity)
		for range g.N {
			capacity = append(capacity, g.Capacity)
		}
	}
	ways := func(k recursion.Class, set uint) int64 { // within the set
		n := int64(1)
		for _, c := range k.Choose {
			there := bits.OnesCount(set >> start[c.Group] & (1<<p.Groups[c.Group].N - 1))
			n *= new(big.Int).Binomial(int64(there), int64(c.Choose)).Int64()
		}
		return n
	}
	all := uint(1)<<len(capacity) - 1
	zs, js := make([]*big.Rat, all+1), make([][]*big.Rat, all+1)
	for set := range all + 1 {
		slack, rates := new(big.Int), make([]*big.Rat, len(p.Classes))
		for i, k := range p.Classes {
			rate := new(big.Int).Mul(k.Rate, big.NewInt(ways(k, set)))
			slack.Sub(slack, rate)
			rates[i] = new(big.Rat).SetInt(rate)
		}
		sums := make([]*big.Rat, 1+len(p.Classes))
		for i := range sums {
			sums[i] = new(big.Rat)
		}
		for s, c := range capacity {
			if set>>s&1 == 1 {
				without := set &^ (1 << s)
				slack.Add(slack, c)
				for i, before := range append([]*big.Rat{zs[without]}, js[without]...) {
					sums[i].Add(sums[i], new(big.Rat).Mul(new(big.Rat).SetInt(c), before))
				}
			}
		}
		if set == 0 {
			zs[0], js[0] = big.NewRat(1, 1), sums[1:]
			continue
		}
		if slack.Sign() <= 0 {
			return nil, nil, nil
		}
		per := new(big.Rat).SetFrac(big.NewInt(1), slack)
		zs[set] = sums[0].Mul(sums[0], per)
		for i := range rates {
			js[set] = append(js[set], sums[i+1].Add(sums[i+1], rates[i].Mul(rates[i], zs[set])).Mul(sums[i+1], per))
		}
	}
	z = zs[all]
	for i := range p.Classes {
		jobs = append(jobs, new(big.Rat).Quo(js[all][i], z))
	}
	for s := range p.Groups {
		idle := new(big.Rat).Quo(zs[all&^(1<<start[s])], z)
		busy = append(busy, idle.Sub(big.NewRat(1, 1), idle))
	}
	return z, jobs, busy
}

// holds compares a number with a fraction: it must be within its bound, and the bound must be at
// most the given roundings.
func holds(t rapid.TB, name string, roundings float64, x arithmetic.Number, want *big.Rat) {
	t.Helper()
	got, _ := new(big.Float).SetMantExp(big.NewFloat(x.F), 512*x.Exp).Rat(nil)
	off := new(big.Rat).Sub(got, want)
	if !(x.Bound >= 0 && x.Bound <= roundings*arithmetic.Roundoff) ||
		off.Abs(off).Cmp(new(big.Rat).Mul(new(big.Rat).SetFloat64(x.Bound), want)) > 0 {
		t.Errorf("%s = %v within %v, want %v", name, x.Double(), x.Bound, want.FloatString(20))
	}
}

// roundings per server of a number: weights, additions and a division, up and down
const perServer = 20

// The measures of all lattices of servers match those of all sets of single servers, within their
// bounds.
func TestMeasuresAreWithinTheirBounds(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		p := drawFloatProblem(t, 2)
		z, jobs, busy := referenceMeasures(p)
		if z == nil {
			return
		}
		const most = 8 * perServer // 1 - P(idle) has more, because it may lose digits down to LowUtilization
		evaluate := func(name string, p *recursion.Problem, g *recursion.Graph, err error) {
			if err != nil {
				t.Fatal(name, err)
			}
			m, err := recursion.Evaluate(ctx, p, g)
			if err != nil || len(m.Jobs) != len(jobs) || len(m.Busy) != len(busy) {
				t.Fatalf("%s: %d classes, %d groups, %v", name, len(m.Jobs), len(m.Busy), err)
			}
			holds(t, name+": normalization", most, m.Normalization, z)
			for i, x := range m.Jobs {
				holds(t, name+": jobs", most, x, jobs[i])
			}
			for s, x := range m.Busy {
				holds(t, name+": busy", most/recursion.LowUtilization, x, busy[s])
			}
		}
		g, err := recursion.SymmetricGraph(ctx, p, 0)
		evaluate("servers", p, g, err)
		if p.Whole {
			g, _, err := recursion.ConnectedGraph(ctx, p, 1000)
			evaluate("connected sets", p, g, err)
		}
		shared := *p // the rate of a class is that of all its choices together
		shared.Shared, shared.Whole, shared.Small, shared.Capacity64, shared.Rate64, shared.Classes = true,
			false, false, nil, nil, nil
		for _, k := range p.Classes {
			rate := new(big.Int).Set(k.Rate)
			for _, c := range k.Choose {
				rate.Mul(rate, new(big.Int).Binomial(int64(p.Groups[c.Group].N), int64(c.Choose)))
			}
			shared.Classes = append(shared.Classes, recursion.Class{Rate: rate, Choose: k.Choose})
		}
		g, err = recursion.SymmetricGraph(ctx, &shared, recursion.FloatShares)
		evaluate("shares", &shared, g, err)
	})
}

// The values of the states of a graph match its formula in fractions, within their bounds.
func TestValuesAreWithinTheirBounds(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		p := drawFloatProblem(t, 3)
		g, err := recursion.SymmetricGraph(ctx, p, 0)
		var overload *recursion.Overload
		if errors.As(err, &overload) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		v, e, err := recursion.Values(ctx, g)
		if err != nil || len(v) != g.States() || len(e) != len(v) {
			t.Fatalf("%d values, %d bounds of %d states: %v", len(v), len(e), g.States(), err)
		}
		exact := make([]*big.Rat, g.States())
		for k := range exact {
			exact[k] = new(big.Rat)
			first, last := g.Terms(k)
			if first == last {
				exact[k].SetInt64(1)
			}
			for term := first; term < last; term++ {
				product := new(big.Rat).SetFrac(g.Weights[g.Weight[term]], g.Den.At(k, new(big.Int)))
				for _, c := range g.Children(term) {
					product.Mul(product, exact[c])
				}
				exact[k].Add(exact[k], product)
			}
			holds(t, "value", 12*perServer, arithmetic.FromFloat(v[k], e[k]), exact[k])
		}
	})
}

// A plain kernel computes in float64 without bounds.
type plain struct{ g *recursion.Graph }

func (p plain) weight(t int32) float64 { return arithmetic.Scaled(p.g.Weights[p.g.Weight[t]], 0) }

func (p plain) One(z *float64, _ int)                    { *z = 1 }
func (p plain) Begin(z *float64, _ int)                  { *z = 0 }
func (p plain) Mul(z, x *float64)                        { *z *= *x }
func (p plain) Set(z, x *float64)                        { *z = *x }
func (p plain) Add(z, x *float64, _ int, _ int32, _ int) { *z += *x }
func (p plain) Divide(z, x *float64, k int)              { *z = *x / p.g.DenFloat(k) }
func (p plain) Weigh(z, x *float64, _ int, t int32) bool {
	*z = p.weight(t)
	if x != nil {
		*z *= *x
	}
	return true
}

// Plain sweeps in float64 match the values of all states to the last digit, on all sets of servers
// and on connected sets, and the numbers of jobs up to rounding.
func TestSweepsAgree(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		p := drawFloatProblem(t, 3)
		var graphs []*recursion.Graph
		g, err := recursion.SymmetricGraph(ctx, p, 0)
		var overload *recursion.Overload
		if errors.As(err, &overload) {
			return
		}
		graphs = append(graphs, g)
		if err == nil && p.Whole {
			g, _, err = recursion.ConnectedGraph(ctx, p, 1000)
			graphs = append(graphs, g)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range graphs {
			want, _, err := recursion.Values(ctx, g)
			if err != nil {
				t.Fatal(err)
			}
			m, err := recursion.Evaluate(ctx, p, g)
			if err != nil {
				t.Fatal(err)
			}
			s := recursion.NewSweep(ctx, g, g.States(), plain{g}, 0., 1)
			if err := s.Up(); err != nil || !slices.Equal(s.Value, want) {
				t.Fatalf("%v, want %v: %v", s.Value, want, err)
			}
			last := g.States() - 1
			w, carried, jobs := s.Numbers(last+1), s.Numbers(last+1), make([]float64, len(p.Classes))
			w[last] = 1
			err = s.Down(w, func(k int, w *float64) {
				x := *w * s.Value[k]
				s.Carry(carried, k, &x, func(o, i int32, x *float64) {
					y := *x * arithmetic.Scaled(p.Classes[i].Rate, 0)
					if g.Coef != nil {
						y *= g.Coef.Float(int(o))
					}
					jobs[i] += y / s.Value[last]
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range jobs {
				off := math.Abs(x/m.Jobs[i].Double() - 1)
				if off > m.Jobs[i].Bound+12*perServer*arithmetic.Roundoff {
					t.Errorf("%v jobs of class %d, want %v", x, i, m.Jobs[i].Double())
				}
			}
		}
	})
}

// Each job uses half of a thousand servers, so for most sets of servers the share of the ways to
// choose them is below the range of float64. The recursion of exactly runs over the number of
// servers, in 3000 bits.
func TestSharesBelowTheRange(t *testing.T) {
	const n, d, prec = 1100, 550, 3000
	whole := func(v int64) *big.Float { return new(big.Float).SetPrec(prec).SetInt64(v) }
	for _, rate := range []int64{1, 1000} { // the smaller one makes the servers idle nearly all the time
		const capacity = 20_000
		p := &recursion.Problem{
			Shared:  true,
			Scale:   big.NewInt(1),
			Groups:  []recursion.Group{{N: n, Capacity: big.NewInt(capacity)}},
			Classes: []recursion.Class{{Rate: big.NewInt(rate * n), Choose: []recursion.Choice{{Group: 0, Choose: d}}}},
		}
		g, err := recursion.SymmetricGraph(t.Context(), p, recursion.FloatShares)
		if err != nil {
			t.Fatal(err)
		}
		m, err := recursion.Evaluate(t.Context(), p, g)
		if err != nil {
			t.Fatal(err)
		}
		ways := new(big.Float).SetPrec(prec).SetInt(new(big.Int).Binomial(n, d))
		z, j, before := whole(1), whole(0), whole(0)
		for k := int64(1); k <= n; k++ {
			own := new(big.Float).SetPrec(prec).SetInt(new(big.Int).Binomial(k, d)) // λ(k)
			own.Quo(own.Mul(own, whole(rate*n)), ways)
			slack := whole(k * capacity)
			slack.Sub(slack, own)
			before.Set(z)
			z.Quo(z.Mul(z, whole(k*capacity)), slack)
			j.Mul(j, whole(k*capacity))
			j.Quo(j.Add(j, own.Mul(own, z)), slack)
		}
		fraction := func(x *big.Float) *big.Rat { r, _ := x.Rat(nil); return r }
		holds(t, "normalization", n*perServer, m.Normalization, fraction(z))
		holds(t, "jobs", n*perServer, m.Jobs[0], fraction(j.Quo(j, z)))
		holds(t, "busy", n*perServer, m.Busy[0], fraction(before.Sub(whole(1), before.Quo(before, z))))
	}
}

// Numbers beyond the range of float64 are rejected.
func TestBeyondTheRange(t *testing.T) {
	// each server has its own jobs: Z = (C/(C-λ))^n
	own := func(servers int, capacity, slack *big.Int) *recursion.Problem {
		return &recursion.Problem{Scale: big.NewInt(1), Groups: []recursion.Group{{N: servers, Capacity: capacity}},
			Classes: []recursion.Class{{
				Rate:   new(big.Int).Sub(capacity, slack),
				Choose: []recursion.Choice{{Group: 0, Choose: 1}},
			}}}
	}
	long := new(big.Int).Lsh(big.NewInt(1), 1100)
	for name, p := range map[string]*recursion.Problem{
		"large values":     own(40, big.NewInt(1_000_000_000), big.NewInt(1)),
		"large capacities": own(2, long, new(big.Int).Rsh(long, 1)),
	} {
		g, err := recursion.SymmetricGraph(t.Context(), p, 0)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := recursion.Evaluate(t.Context(), p, g); !errors.Is(err, num.ErrFloatRange) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := recursion.Values(t.Context(), g); !errors.Is(err, num.ErrFloatRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A cancelled context stops the sweeps.
func TestCancelled(t *testing.T) {
	p := &recursion.Problem{Whole: true, Scale: big.NewInt(1), Small: true}
	for s := range 14 {
		p.Groups, p.Capacity64 = append(p.Groups, recursion.Group{
			N:        1,
			Capacity: big.NewInt(3),
		}), append(p.Capacity64, 3)
		p.Classes, p.Rate64 = append(p.Classes, recursion.Class{
			Rate:   big.NewInt(1),
			Choose: []recursion.Choice{{Group: s, Choose: 1}},
		}), append(p.Rate64, 1)
	}
	g, err := recursion.SymmetricGraph(t.Context(), p, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := recursion.Evaluate(ctx, p, g); !errors.Is(err, context.Canceled) {
		t.Errorf("Evaluate: %v", err)
	}
	if _, _, err := recursion.Values(ctx, g); !errors.Is(err, context.Canceled) {
		t.Errorf("Values: %v", err)
	}
}
