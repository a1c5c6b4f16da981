package oiqueue

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"productform/internal/oracle"
	"productform/num"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// jumps calls visit with each successor of state c and the rate to it: external arrivals, and
// services after which the job leaves or joins the end as a job of another class.
func jumps(c []int, served func(c []int) []*big.Rat, r Routing, visit func(d []int, rate *big.Rat)) {
	for i, nu := range r.External {
		visit(append(slices.Clone(c), i), nu)
	}
	for k, rate := range served(c) {
		rest := slices.Delete(slices.Clone(c), k, k+1)
		leave := rat(1, 1)
		for j, p := range r.Prob[c[k]] {
			leave.Sub(leave, entry(p))
			visit(append(slices.Clone(rest), j), new(big.Rat).Mul(rate, entry(p)))
		}
		visit(rest, leave.Mul(leave, rate))
	}
}

// imbalance returns what flows out of state c less what flows in, in the chain with routing r
// under the measure of q.
func imbalance(t *rapid.T, q *Queue, served func(c []int) []*big.Rat, r Routing, c []int) *big.Rat {
	n, net := len(q.ArrivalRates), new(big.Rat)
	pi := must(StateMeasure(t.Context(), q, c))(t)
	jumps(c, served, r, func(_ []int, rate *big.Rat) { net.Add(net, new(big.Rat).Mul(pi, rate)) })
	for k := max(len(c)-1, 0); k <= len(c)+1; k++ {
		for _, d := range states(n, k) {
			var pd *big.Rat
			jumps(d, served, r, func(to []int, rate *big.Rat) {
				if slices.Equal(to, c) {
					if pd == nil {
						pd = must(StateMeasure(t.Context(), q, d))(t)
					}
					net.Sub(net, new(big.Rat).Mul(pd, rate))
				}
			})
		}
	}
	return net
}

// drawRouting draws probabilities with every row below 1 but the first n-1 possibly equal to it.
func drawRouting(t *rapid.T, n int) Routing {
	r := Routing{make([]*big.Rat, n), make([][]*big.Rat, n)}
	for i := range n {
		r.External[i] = drawRat(t, "ν", 0)
		weights := rapid.SliceOfN(rapid.Int64Range(0, 4), n+1, n+1).Draw(t, "weights")
		if i == n-1 {
			weights[n]++
		} else if weights[n] == 0 {
			weights[i+1]++ // the next class leads out
		}
		total := int64(0)
		for _, w := range weights {
			total += w
		}
		r.Prob[i] = make([]*big.Rat, n)
		for j := range n {
			r.Prob[i][j] = rat(weights[j], total)
		}
	}
	return r
}

// Global balance of the chain with jobs that change class and come back: quasi-reversibility.
func TestGlobalBalanceWithRouting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		s := drawSystem(t, n)
		r := drawRouting(t, n)
		q := must(Routed(t.Context(), s.q, r))(t)
		c := drawState(t, n, 3)
		if d := imbalance(t, q, s.served, r, c); d.Sign() != 0 {
			t.Errorf("state %v is out of balance by %v with λ = %v", c, d, q.ArrivalRates)
		}
	})
}

// The re-entrant queue of [BC17] section 3 keeps rates and measure for every p.
func TestReentrant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		s := drawSystem(t, n)
		c := drawState(t, n, 3)
		for _, p := range []*big.Rat{rat(1, 1), rat(int64(rapid.IntRange(1, 999).Draw(t, "p")), 1000)} {
			q, r, err := Reentrant(t.Context(), s.q, p)
			if err != nil {
				t.Fatal(err)
			}
			if !oracle.Equal(q.ArrivalRates, s.q.ArrivalRates) {
				t.Fatalf("effective rates %v, want %v", q.ArrivalRates, s.q.ArrivalRates)
			}
			if d := imbalance(t, s.q, s.served, r, c); d.Sign() != 0 {
				t.Errorf("p = %v: state %v is out of balance by %v", p, c, d)
			}
		}
	})
}

// The re-entrant chain that loses arrivals beyond 4 jobs, solved as a linear system of 31
// states, has the measure of the queue without re-entrance, cut there.
func TestReentrantChainSolved(t *testing.T) {
	capacities := rats(t, "1", "1/2", "3/2")
	compatible := [][]int{{0, 2}, {1, 2}}
	base := must(FromGraph(t.Context(), rats(t, "4/5", "1"), capacities, compatible))(t)
	served := func(c []int) []*big.Rat {
		rates := make([]*big.Rat, len(c))
		for k := range rates {
			rates[k] = new(big.Rat)
		}
		for s, capacity := range capacities {
			if k := slices.IndexFunc(c, func(i int) bool { return slices.Contains(compatible[i], s) }); k >= 0 {
				rates[k].Add(rates[k], capacity)
			}
		}
		return rates
	}
	var all [][]int
	for k := range 5 {
		all = append(all, states(2, k)...)
	}
	index := func(c []int) int { return slices.IndexFunc(all, func(d []int) bool { return slices.Equal(c, d) }) }
	want, total := make([]float64, len(all)), 0.0
	for k, c := range all {
		want[k], _ = must(StateMeasure(t.Context(), base, c))(t).Float64()
		total += want[k]
	}
	for _, p := range []*big.Rat{rat(1, 1), rat(1, 3), rat(1, 100)} {
		_, r, err := Reentrant(t.Context(), base, p)
		if err != nil {
			t.Fatal(err)
		}
		a := mat.NewDense(len(all), len(all), nil)
		for from, c := range all {
			jumps(c, served, r, func(d []int, rate *big.Rat) {
				if to := index(d); to >= 0 {
					f, _ := rate.Float64()
					a.Set(to, from, a.At(to, from)+f)
					a.Set(from, from, a.At(from, from)-f)
				}
			})
		}
		b := mat.NewVecDense(len(all), nil)
		b.SetVec(0, 1)
		for k := range all {
			a.Set(0, k, 1) // one equation is superfluous; probabilities sum to 1
		}
		var pi mat.VecDense
		if err := pi.SolveVec(a, b); err != nil {
			t.Fatal(err)
		}
		for k, c := range all {
			// 31 unknowns, conditioning about 1/p: 1e-11 leaves three digits to spare.
			if math.Abs(pi.AtVec(k)-want[k]/total) > 1e-11 {
				t.Errorf("p = %v: π(%v) = %v, want %v", p, c, pi.AtVec(k), want[k]/total)
			}
		}
	}
}

// Fractions satisfy the equations, and float64 results are within their bound.
func TestTrafficEquations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "classes")
		r := drawRouting(t, n)
		exact := oracle.Fractions(must(TrafficEquations(t.Context(), r, exactly))(t).ArrivalRates)
		for j, l := range exact {
			rest := new(big.Rat).Sub(l, r.External[j])
			for i := range n {
				rest.Sub(rest, new(big.Rat).Mul(exact[i], r.Prob[i][j]))
			}
			if rest.Sign() != 0 || l.Sign() < 0 {
				t.Errorf("λ_%d = %v leaves %v", j, l, rest)
			}
		}
		got := must(TrafficEquations(t.Context(), r, Settings{}))(t)
		for j, v := range got.ArrivalRates {
			if !oracle.Holds(v, exact[j]) || v.Low == nil {
				t.Errorf("λ_%d = %v is not in [%v, %v]", j, exact[j], v.Low, v.High)
			}
			// at most 5 classes that leave with probability 1/21 or more a step
			low, high := v.Bounds()
			if scale, _ := exact[j].Float64(); !(v.Float-low <= 1e-10*(1+scale) && high-v.Float <= 1e-10*(1+scale)) {
				t.Errorf("[%v, %v] for λ_%d = %v is wide", low, high, j, scale)
			}
		}
	})
}

func TestTrafficAgainstSeries(t *testing.T) {
	r := Routing{rats(t, "1", "0", "1/2"), [][]*big.Rat{
		{nil, rat(1, 2), nil}, {nil, nil, rat(1, 1)}, {rat(1, 4), nil, rat(1, 4)}}}
	lambda := []float64{0, 0, 0}
	v := []float64{1, 0, 0.5}
	for range 400 { // spectral radius below 0.8
		next := []float64{v[2] / 4, v[0] / 2, v[1] + v[2]/4}
		for i := range v {
			lambda[i] += v[i]
		}
		v = next
	}
	for i, l := range must(TrafficEquations(t.Context(), r, exactly))(t).ArrivalRates {
		// 400 roundings of numbers below 3
		if f, _ := l.Exact.Float64(); f != l.Float || math.Abs(f-lambda[i]) > 1e-14*10 {
			t.Errorf("λ_%d = %v, series gives %v", i, f, lambda[i])
		}
	}
}

func TestTrafficNearlyClosed(t *testing.T) {
	p := new(big.Rat).Sub(rat(1, 1), must2(new(big.Rat).SetString("1e-30")))
	r := Routing{rats(t, "1"), [][]*big.Rat{{p}}}
	want := num.Rat("1e30")
	exact := func() num.Value { return must(TrafficEquations(t.Context(), r, exactly))(t).ArrivalRates[0] }
	if l := exact(); l.Exact.Cmp(want) != 0 {
		t.Errorf("λ = %v, want 1e30", l.Exact)
	}
	// One class: 1 - p is formed exactly, so float64 holds it too.
	if f := must(TrafficEquations(t.Context(), r, Settings{}))(t); !oracle.Holds(f.ArrivalRates[0], want) {
		t.Errorf("%+v", f)
	}
	// Two classes that swap: the determinant 1 - p^2 cancels in float64.
	r = Routing{rats(t, "1", "1"), [][]*big.Rat{{nil, p}, {p, nil}}}
	if _, err := TrafficEquations(t.Context(), r, Settings{}); !errors.Is(err, num.ErrFloatRange) {
		t.Errorf("error %v, want num.ErrFloatRange", err)
	}
	if l := exact(); l.Exact.Cmp(want) != 0 {
		t.Errorf("λ = %v, want 1e30", l.Exact)
	}
}

// Rates that no float64 holds are named as the reason.
func TestTrafficBeyondFloat(t *testing.T) {
	huge := must2(new(big.Rat).SetString("1e400"))
	large := must2(new(big.Rat).SetString("1e308"))
	for want, r := range map[string]Routing{
		"External[1] is beyond 1.8e+308":        {[]*big.Rat{rat(1, 1), huge}, [][]*big.Rat{{nil, nil}, {nil, nil}}},
		"an effective rate is beyond 1.8e+308;": {[]*big.Rat{large, large}, [][]*big.Rat{{nil, rat(1, 1)}, {nil, nil}}},
	} {
		if _, err := TrafficEquations(t.Context(), r, Settings{}); !errors.Is(err, num.ErrFloatRange) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		must(TrafficEquations(t.Context(), r, exactly))(t)
	}
	tiny := must2(new(big.Rat).SetString("1e-400")) // rounds to 0, and the bound says so
	got := must(TrafficEquations(t.Context(), Routing{[]*big.Rat{tiny}, [][]*big.Rat{{nil}}}, Settings{}))(t)
	if l := got.ArrivalRates[0]; l.Float != 0 || !oracle.Holds(l, tiny) || !(l.High.Cmp(big.NewFloat(1e-300)) < 0) {
		t.Errorf("%+v", got)
	}
}

func TestBadRouting(t *testing.T) {
	half, one := rat(1, 2), rat(1, 1)
	nu := []*big.Rat{one, one, one}
	for name, c := range map[string]struct {
		r    Routing
		want string
	}{
		"no class": {Routing{}, "External = an empty list: want at least one class"},
		"negative rate": {
			Routing{[]*big.Rat{rat(-1, 1)}, [][]*big.Rat{{nil}}}, "External[0] = -1: want a number >= 0",
		},
		"missing rate": {
			Routing{[]*big.Rat{nil}, [][]*big.Rat{{nil}}}, "External[0] is missing: want a number >= 0",
		},
		"few rows": {Routing{nu, [][]*big.Rat{{nil}}}, "Prob = 1 rows: want one for each of the 3 classes"},
		"short row": {
			Routing{nu, [][]*big.Rat{{nil, nil, nil}, {nil}, {nil, nil, nil}}},
			"Prob[1] = 1 entries: want one for each of the 3 classes",
		},
		"negative": {
			Routing{nu, [][]*big.Rat{{nil, rat(-1, 2), nil}, {nil, nil, nil}, {nil, nil, nil}}},
			"Prob[0][1] = -1/2: want a probability, >= 0",
		},
		"above 1": {
			Routing{nu, [][]*big.Rat{{nil, nil, nil}, {half, half, rat(1, 9)}, {nil, nil, nil}}},
			"Prob[1] = a row of sum 10/9: want a sum <= 1",
		},
		"never leave": {
			Routing{nu, [][]*big.Rat{{nil, half, nil}, {nil, nil, one}, {nil, one, nil}}},
			"oiqueue: jobs of classes [1 2] never leave: want from each class a chain of positive probabilities to " +
				"one whose row sums to less than 1",
		},
		"leads to a sink": {
			Routing{nu, [][]*big.Rat{{nil, one, nil}, {nil, one, nil}, {nil, nil, nil}}},
			"oiqueue: jobs of classes [0 1] never leave: want from each class a chain of positive probabilities to " +
				"one whose row sums to less than 1",
		},
	} {
		for _, solve := range []func(Routing) error{
			func(r Routing) error { _, err := TrafficEquations(t.Context(), r, exactly); return err },
			func(r Routing) error { _, err := TrafficEquations(t.Context(), r, Settings{}); return err },
		} {
			if err := solve(c.r); err == nil || err.Error() != c.want {
				t.Errorf("%s: error %q, want %q", name, err, c.want)
			}
		}
	}
	var closed *ClosedError
	if _, err := TrafficEquations(t.Context(), Routing{nu[:1], [][]*big.Rat{{one}}}, exactly); !errors.As(err,
		&closed) ||
		!slices.Equal(closed.Classes, []int{0}) {
		t.Errorf("%v", err)
	}
	q := must(MMc(nu, 1, one))(t)
	if _, err := Routed(t.Context(), q, Routing{nu[:1], [][]*big.Rat{{nil}}}); err == nil ||
		err.Error() != "External = 1 entries: want one for each of the 3 classes" {
		t.Error(err)
	}
	for p, want := range map[*big.Rat]string{
		nil:       "p is missing: want a probability > 0 and <= 1",
		rat(0, 1): "p = 0: want a probability > 0 and <= 1",
		rat(3, 2): "p = 3/2: want a probability > 0 and <= 1",
	} {
		if _, _, err := Reentrant(t.Context(), q, p); err == nil || err.Error() != want {
			t.Errorf("Reentrant: %v, want %s", err, want)
		}
	}
}

func must2(r *big.Rat, ok bool) *big.Rat {
	if !ok {
		panic("not a number")
	}
	return r
}
