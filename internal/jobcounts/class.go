package jobcounts

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/fractions"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
)

// OfClass returns the coefficients 0..n of Z(λ + (z-1) ρ e_i), in the arithmetic of like, ρ being the given share of λ_i: that of one row of
// classes merged into class i. With r(k) the part of ρ among the rate λ(k) of a state, the values of the states obey
//
//	(d(k) + r(k)) v_k[n] = Σ_t weight_t Π_c v_c[n] + r(k) v_k[n-1],  d(k) = M(k) - λ(k),
//
// over the terms t and their children c, of which one at most has a part of ρ and all others have order 0 only. On the class lattice
// the weight λ_i of the term without class i is λ_i - ρ at n = 0 and ρ at n = 1.
//
// It takes n sweeps over the states with a part of ρ. The error is a *[num.TooLargeError] for fractions that take more than
// maxBytes, or that of the context.
func OfClass(ctx context.Context, p *recursion.Problem, g *recursion.Graph, class int, share *big.Rat, n int, like arithmetic.Number, maxBytes int64) ([]arithmetic.Number, error) {
	c := &classSeries{p: p, g: g, class: class, share: share, like: like.One(), stop: recursion.Cancellation{Ctx: ctx}}
	if err := c.prepare(n, maxBytes); err != nil {
		return nil, err
	}
	z := make([]arithmetic.Number, n+1)
	var err error
	for i := range z {
		if z[i], err = c.next(i); err != nil {
			return nil, err
		}
	}
	return z, nil
}

// classSeries holds one coefficient of every state.
type classSeries struct {
	p     *recursion.Problem
	g     *recursion.Graph
	class int
	share *big.Rat
	like  arithmetic.Number // 1
	stop  recursion.Cancellation

	weights        []arithmetic.Number
	part           []arithmetic.Number // r(k)
	holds          []bool              // r(k) > 0
	total          []arithmetic.Number // d(k) + r(k)
	v              []arithmetic.Number
	others, within arithmetic.Number // λ_i - ρ and ρ
}

func (c *classSeries) ratio(a *big.Int) arithmetic.Number {
	return c.like.Rational(new(big.Rat).SetInt(a))
}

// prepare finds r(k) and d(k) + r(k).
func (c *classSeries) prepare(n int, maxBytes int64) error {
	g, states := c.g, c.g.Inner()
	for _, w := range g.Weights {
		c.weights = append(c.weights, c.ratio(w))
	}
	rate := new(big.Rat).SetInt(c.p.Classes[c.class].Rate)
	rho := new(big.Rat).Mul(rate, c.share)
	c.within, c.others = c.like.Rational(rho), c.like.Rational(new(big.Rat).Sub(rate, rho))
	c.v, c.part, c.total = make([]arithmetic.Number, states), make([]arithmetic.Number, states), make([]arithmetic.Number, states)
	c.holds = make([]bool, states)
	ways := make([]*big.Rat, states) // r(k)/ρ, unless the graph has shares
	var reader *recursion.ShareReader
	if g.Shares != nil {
		reader = g.Shares.Reader()
	}
	common := big.NewInt(1) // of all d(k) + r(k), for fractions
	for k := range states {
		if err := c.stop.After(recursion.BigSteps); err != nil {
			return err
		}
		first, last := g.Terms(k)
		if first == last {
			continue
		}
		ways[k] = c.waysIn(k, ways)
		c.holds[k] = ways[k].Sign() > 0
		c.total[k] = g.Denominator(k, c.like)
		switch {
		case !c.holds[k]:
		case reader != nil:
			c.part[k] = reader.Number(k, int32(c.class), c.like).Mul(c.like.Rational(c.share))
			c.total[k] = c.total[k].Add(c.part[k])
		default:
			var buf big.Int
			r := new(big.Rat).Mul(rho, ways[k])
			c.part[k] = c.like.Rational(r)
			c.total[k] = c.like.Rational(new(big.Rat).Add(r, new(big.Rat).SetInt(g.Den.At(k, &buf))))
		}
		if x := c.total[k].Exact; x != nil {
			common = fractions.LCM(common, x.Num())
			if need := float64(common.BitLen()) / 8 * float64(n+1) * float64(states); need > float64(maxBytes) {
				return &num.TooLargeError{States: float64(states), Bytes: need, Limit: maxBytes, Input: input.Errorf("engine", num.Exact,
					"a smaller model, or fewer probabilities: exact coefficients of %d states up to %d jobs of a class pass %d MiB; enclose gives as many digits as asked",
					states, n, maxBytes>>20)}
			}
		}
	}
	return nil
}

// waysIn returns how many times the rate of one way to choose servers the class has in state k; of a graph with shares, 1 or 0.
func (c *classSeries) waysIn(k int, ways []*big.Rat) *big.Rat {
	g, sum := c.g, new(big.Rat)
	var buf big.Int
	for o := g.OwnFirst[k]; o < g.OwnFirst[k+1]; o++ {
		switch {
		case int(g.Own[o]) != c.class:
		case g.Coef != nil:
			sum.Add(sum, new(big.Rat).SetInt(g.Coef.At(int(o), &buf)))
		default:
			sum.Add(sum, big.NewRat(1, 1))
		}
	}
	if t := g.Rest[k]; t >= 0 {
		for _, child := range g.Children(t) {
			if ways[child] != nil {
				sum.Add(sum, ways[child])
			}
		}
	}
	return sum
}

// next takes all states from order n-1 to n, and returns the coefficient of Z.
func (c *classSeries) next(n int) (arithmetic.Number, error) {
	g := c.g
	sum := c.like.Zero()
	for k := range c.v {
		if n > 0 && !c.holds[k] {
			continue
		}
		first, last := g.Terms(k)
		if err := c.stop.After(8 * int(last-first)); err != nil {
			return sum, err
		}
		if first == last {
			c.v[k] = c.like
		} else {
			x := c.like.Zero()
			if n > 0 {
				x = c.part[k].Mul(c.v[k])
			}
			for t := first; t < last; t++ {
				if y, ok := c.term(t, n); ok {
					x = x.Add(y)
				}
			}
			c.v[k] = x.Quo(c.total[k])
		}
		if g.ByClass {
			sum = sum.Add(c.v[k])
		}
	}
	if g.ByClass {
		return sum, nil
	}
	return c.v[len(c.v)-1], nil
}

// term returns the coefficient of order n of a term, and whether there is one.
func (c *classSeries) term(t int32, n int) (x arithmetic.Number, ok bool) {
	x, ok = c.weights[c.g.Weight[t]], n == 0
	if c.g.ByClass && int(c.g.Weight[t]) == c.class {
		switch {
		case n > 1:
			return x, false
		case n == 0:
			x = c.others
		default:
			x, ok = c.within, true
		}
	}
	for _, child := range c.g.Children(t) {
		x = x.Mul(c.v[child])
		ok = ok || c.holds[child]
	}
	return x, ok
}
