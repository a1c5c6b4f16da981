package gang

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// hasProductForm reports whether the saturated chain has a product form: at most two classes of one
// resource.
func (p *problem) hasProductForm() bool { return len(p.amounts) == 1 && len(p.classes) <= 2 }

// A step leads from one state of the product form to the next: the weights have the ratio up/down.
type step struct {
	throughput *big.Rat // μ(x), rate of completions, times unit
	up, down   *big.Rat // integers
}

// productForm returns λ* for two classes of one resource, in the arithmetic of one. Needs are
// w_1 <= w_2. The states are a path x that starts at (⌊n/w_1⌋, 0). With f the free servers, t(f)
// the share of the classes that do not fit, and μ(x) = x_1 μ_1 + x_2 μ_2, the weights g are t(f) at
// the start and
//
//	f + w_1 < w_2: next = (x_1-1, x_2),    g' = g t(f')/t(f) x_1 μ_1 / (p_1 μ(next)),
//	otherwise:     next = (x_1-1, x_2+1),  g' = g t(f')/t(f) x_1 μ_1 p_2 / (p_1 (x_2+1) μ_2),
//
// and λ* = Σ g μ(x) / Σ g. Both sums are evaluated from the end, Σ = 1 + g'/g (1 + ...), with
// integers in place of fractions: there are no differences, and common factors cancel once, in the
// quotient.
func (p *problem) productForm(ctx context.Context, one arithmetic.Number) (limit arithmetic.Number, err error) {
	path, unit := p.path()
	sum, flow := one.Zero(), one.Zero() // Σ g, Σ g μ(x) unit, times the product of the divisors
	product := one
	for i := len(path) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		s := path[i]
		if s.down != nil {
			up, down := one.Rational(s.up), one.Rational(s.down)
			sum, flow, product = sum.Mul(up), flow.Mul(up), product.Mul(down)
		}
		sum = sum.Add(product)
		flow = flow.Add(product.Mul(one.Rational(s.throughput)))
	}
	return flow.Quo(sum.Mul(one.Rational(unit))), nil
}

// path returns the states of the product form in order. up and down of a state lead to the next
// one; they are nil for the last.
func (p *problem) path() (path []step, unit *big.Rat) {
	small, large := p.classes[len(p.classes)-1], p.classes[0]
	shares, sum := p.integerShares()
	rates, unit := p.integerRates()
	pSmall, pLarge := new(big.Rat).SetInt(shares[len(shares)-1]), new(big.Rat).SetInt(shares[0])
	all := new(big.Rat).SetInt(sum)
	if len(p.classes) == 1 {
		pLarge = new(big.Rat)
	}
	n, w1, w2 := p.amounts[0], small.needs[0], large.needs[0]
	mu1, mu2 := rates[len(rates)-1], rates[0]
	blocked := func(free int) *big.Rat { // t(f), times the sum of the shares
		switch {
		case free < w1:
			return all
		default:
			return pLarge
		}
	}
	times := func(x int, r *big.Rat) *big.Rat { return new(big.Rat).Mul(big.NewRat(int64(x), 1), r) }
	x1, x2 := n/w1, 0
	for {
		free := n - x1*w1 - x2*w2
		s := step{throughput: new(big.Rat).Add(times(x1, mu1), times(x2, mu2))}
		if x1 == 0 || len(p.classes) == 1 {
			return append(path, s), unit
		}
		s.up, s.down = times(x1, mu1), new(big.Rat).Mul(pSmall, blocked(free))
		x1--
		if free+w1 < w2 {
			// p_1 is pSmall over the sum, so the sum multiplies
			s.up.Mul(s.up, all)
			s.down.Mul(s.down, new(big.Rat).Add(times(x1, mu1), times(x2, mu2)))
		} else {
			x2++
			s.up.Mul(s.up, pLarge)
			s.down.Mul(s.down, times(x2, mu2))
		}
		s.up.Mul(s.up, blocked(n-x1*w1-x2*w2))
		path = append(path, s)
	}
}

// integerRates returns the rates μ_k times a unit that makes them integers.
func (p *problem) integerRates() (rates []*big.Rat, unit *big.Rat) {
	for _, c := range p.classes {
		rates = append(rates, new(big.Rat).Inv(c.mean))
	}
	rates, unit = num.OverCommon(rates)
	return rates, unit.Inv(unit)
}

// productFormDerivatives returns the derivatives of λ* along p + ε (e_k - p) for each class: those
// of the logarithms of the weights add up along the path.
func (p *problem) productFormDerivatives(ctx context.Context) ([]float64, error) {
	if len(p.classes) == 1 {
		return []float64{0}, nil
	}
	small, large := p.classes[1], p.classes[0]
	p1, p2 := p.load[1], p.load[0]
	mu := p.rates()
	n, w1, w2, mu1, mu2 := p.amounts[0], small.needs[0], large.needs[0], mu[1], mu[0]
	blocked := func(free int) float64 { // t(f), and its derivative with respect to p_1 is -1 or 0
		if free < w1 {
			return 1
		}
		return p2
	}
	slope := func(free int) float64 { // of log t(f) with respect to p_1, with p_2 = 1 - p_1
		if free < w1 {
			return 0
		}
		return -1 / p2
	}
	x1, x2 := n/w1, 0
	free := n - x1*w1
	weight, rise := blocked(free), slope(free)
	var sum, flow, rises, change float64 // Σ g, Σ g μ, Σ g d log g, Σ g μ d log g
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rate := float64(x1)*mu1 + float64(x2)*mu2
		sum += weight
		flow += weight * rate
		rises += weight * rise
		change += weight * rate * rise
		if x1 == 0 {
			change -= flow / sum * rises
			return []float64{-p1 * change / sum, p2 * change / sum}, nil
		}
		ratio := float64(x1) * mu1 / p1
		rise -= 1/p1 + slope(free)
		ratio /= blocked(free)
		x1--
		if free+w1 < w2 {
			ratio /= float64(x1)*mu1 + float64(x2)*mu2
		} else {
			x2++
			ratio *= p2 / (float64(x2) * mu2)
			rise -= 1 / p2
		}
		free = n - x1*w1 - x2*w2
		ratio *= blocked(free)
		rise += slope(free)
		if weight *= ratio; weight > 1e200 {
			weight, sum, flow = weight*1e-200, sum*1e-200, flow*1e-200
			rises, change = rises*1e-200, change*1e-200
		}
	}
}

// rates returns the rates μ_k, rounded to nearest.
func (p *problem) rates() []float64 {
	mu := make([]float64, len(p.classes))
	for k, c := range p.classes {
		mu[k], _ = new(big.Rat).Inv(c.mean).Float64()
	}
	return mu
}
