package oneserver

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/delays"
)

// manyServers is a number of equal servers for which the tables of a pool exceed float64: F(n/3) is
// about e^(n/3) in the unit of [tables].
const manyServers = 1 << 11

// isLargePool reports whether a part is a pool of at least manyServers.
func (p *part) isLargePool() bool { return p.isPool() && p.groups[0].n >= manyServers }

// isPool reports whether the servers are equal and all jobs may use all of them, which is the queue
// M/M/n.
func (p *part) isPool() bool {
	if len(p.groups) != 1 {
		return false
	}
	for _, c := range p.classes {
		if c.choices[0].servers < p.groups[0].n {
			return false
		}
	}
	return true
}

// measurePool returns the means of M/M/n. With ρ = λ/(nμ) and Erlang's B, the states with fewer
// than n, n and more jobs have the weights 1/B - 1, 1 and ρ/(1 - ρ).
func (p *part) measurePool(ctx context.Context, one arithmetic.Number) (*measures, error) {
	n, rate := p.groups[0].n, new(big.Rat)
	for _, c := range p.classes {
		rate.Add(rate, c.rate)
	}
	capacity := new(big.Rat).Mul(p.groups[0].capacity, big.NewRat(int64(n), 1))
	load := new(big.Rat).Quo(rate, p.groups[0].capacity)
	before, err := delays.InverseBOfMany(ctx, n-1, load, one)
	if err != nil {
		return nil, err
	}
	below := one.Integer(n).Quo(one.Rational(load)).Mul(before) // 1/B(n) - 1 = n/a 1/B(n-1)
	left := new(big.Rat).Sub(capacity, rate)
	wait := one.Rational(new(big.Rat).Quo(capacity, left))
	total := below.Add(wait)
	m := newMeasures(p, one.Zero())
	m.busy[0] = one.Rational(rate.Quo(rate, capacity))
	for i, c := range p.classes {
		of := one.Rational(c.rate)
		m.wait[i] = wait.Quo(total)
		m.queue[i] = m.wait[i].Mul(one.Rational(new(big.Rat).Quo(c.rate, left)))
		m.direct[i], m.waited[i] = of.Mul(below).Quo(total), of.Mul(m.wait[i])
	}
	return m, nil
}
