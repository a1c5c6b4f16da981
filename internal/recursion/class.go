package recursion

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// OfClass returns the coefficients 0..n of Z(λ + (z-1) ρ e_i), in the arithmetic of like, where ρ
// is the rate of one of the rows of classes merged into class i. With r(k) the contribution of ρ to
// the rate λ(k) of a state, the values of the states obey
//
//	(d(k) + r(k)) v_k[n] = Σ_t weight_t Π_c v_c[n] + r(k) v_k[n-1],  d(k) = M(k) - λ(k),
//
// over the terms t and their children c, at most one of which contains a contribution of ρ; all
// others have only order 0. On the class lattice the weight λ_i of the term without class i is λ_i
// - ρ at n = 0 and ρ at n = 1.
//
// It takes n sweeps over the states with r(k) > 0. The error is a *[num.TooLargeError] for
// fractions that need more than maxBytes, or that of the context.
func OfClass(
	ctx context.Context, p *Problem, g *Graph, class int, share *big.Rat, n int, like arithmetic.Number, maxBytes int64,
) ([]arithmetic.Number, error) {
	c := &classSeries{Numbers: NewNumbers(g, g.Inner(), like), class: class}
	s := NewSweep(ctx, g, g.Inner(), c, arithmetic.Number{}, 8)
	if err := c.prepare(&s.Stop, p, share, n, maxBytes); err != nil {
		return nil, err
	}
	c.value = s.Value
	for k := range s.Value {
		s.Order = append(s.Order, int32(k))
	}
	z := make([]arithmetic.Number, n+1)
	for c.order = range z {
		if err := s.Up(); err != nil {
			return nil, err
		}
		z[c.order] = s.Value[len(s.Value)-1]
		if g.ByClass {
			z[c.order] = c.Like.Zero()
			for _, k := range s.Order {
				if err := s.Stop.After(s.Steps); err != nil {
					return nil, err
				}
				z[c.order] = z[c.order].Add(s.Value[k])
			}
		}
		if c.order == 0 {
			s.Order = slices.DeleteFunc(s.Order, func(k int32) bool { return !c.holds[k] })
		}
	}
	return z, nil
}

// A classSeries is the kernel of a sweep that moves every state from one order to the next.
type classSeries struct {
	Numbers     // the denominators are d(k) + r(k)
	class       int
	order       int
	value       []arithmetic.Number // values of the states
	part        []arithmetic.Number // r(k)
	holds       []bool              // r(k) > 0
	others, row arithmetic.Number   // λ_i - ρ and ρ
}

// prepare finds r(k) and d(k) + r(k).
func (c *classSeries) prepare(stop *Cancellation, p *Problem, share *big.Rat, n int,
	maxBytes int64) error {
	g, states := c.Graph, c.Graph.Inner()
	rate := new(big.Rat).SetInt(p.Classes[c.class].Rate)
	rho := new(big.Rat).Mul(rate, share)
	c.row, c.others = c.Like.Rational(rho), c.Like.Rational(new(big.Rat).Sub(rate, rho))
	c.part, c.holds = make([]arithmetic.Number, states), make([]bool, states)
	ways, err := g.Ways(stop, c.class) // r(k)/ρ, unless the graph has shares
	if err != nil {
		return err
	}
	var reader *ShareReader
	if g.Shares != nil {
		reader = g.Shares.Reader()
	}
	common := big.NewInt(1) // common denominator of all d(k) + r(k), for fractions
	for k := range states {
		if err := stop.After(BigSteps); err != nil {
			return err
		}
		first, last := g.Terms(k)
		if first == last {
			continue
		}
		c.holds[k] = ways[k].Sign() > 0
		c.Denominators[k] = g.Denominator(k, c.Like)
		switch {
		case !c.holds[k]:
		case reader != nil:
			c.part[k] = reader.Number(k, int32(c.class), c.Like).Mul(c.Like.Rational(share))
			c.Denominators[k] = c.Denominators[k].Add(c.part[k])
		default:
			var buf big.Int
			r := new(big.Rat).SetInt(ways[k])
			r.Mul(r, rho)
			c.part[k] = c.Like.Rational(r)
			c.Denominators[k] = c.Like.Rational(new(big.Rat).Add(r, new(big.Rat).SetInt(g.Den.At(k, &buf))))
		}
		if x := c.Denominators[k].Exact; x != nil {
			common = LCM(common, x.Num())
			if need := float64(common.BitLen()) / 8 * float64(n+1) * float64(states); need > float64(maxBytes) {
				return &num.TooLargeError{
					States: float64(states),
					Bytes:  need,
					Limit:  maxBytes,
					Input: input.Errorf("engine", num.Exact,
						"a smaller model, or fewer probabilities: exact coefficients of %d states up to %d jobs of a "+
							"class exceed %d MiB; enclose gives as many digits as requested",
						states, n, maxBytes>>20),
				}
			}
		}
	}
	return nil
}

func (c *classSeries) Begin(z *arithmetic.Number, k int) {
	*z = arithmetic.Number{}
	if c.order > 0 {
		*z = c.part[k].Mul(c.value[k])
	}
}

// Weigh omits terms without a coefficient of this order.
func (c *classSeries) Weigh(z, x *arithmetic.Number, k int, t int32) bool {
	g := c.Graph
	switch w := g.Weight[t]; {
	case !g.ByClass || int(w) != c.class:
		if c.order > 0 && !slices.ContainsFunc(g.Children(t), func(child int32) bool { return c.holds[child] }) {
			return false
		}
		return c.Numbers.Weigh(z, x, k, t)
	case c.order == 0:
		*z = c.others.Mul(*x)
	case c.order == 1:
		*z = c.row.Mul(*x)
	}
	return c.order <= 1
}
