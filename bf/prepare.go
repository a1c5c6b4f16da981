package bf

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
)

// A Prepared model is checked and reduced, ready for questions. It may be used by several goroutines.
type Prepared struct {
	model      *cluster.Model
	equal      *cluster.Model      // its EqualSizes
	components []cluster.Component // of these
	loads      []*big.Rat          // of each class, its work over the capacity of all servers that its jobs may be assigned
	rate       *big.Rat            // Σ λ_i

	first   map[num.Engine][]*plan // of the components at the factor solved first; nil unless there are several
	keeping bool                   // this is that factor
}

// Prepare checks and reduces a model, which must not be modified afterwards. The error is that of [cluster.Model.Check] or
// [cluster.Model.Reduce].
func Prepare(ctx context.Context, m *cluster.Model) (p *Prepared, err error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	return prepare(ctx, m)
}

// prepare reduces a model that has passed its check.
func prepare(ctx context.Context, m *cluster.Model) (p *Prepared, err error) {
	p = &Prepared{model: m, equal: m.EqualSizes(), loads: make([]*big.Rat, len(m.Classes))}
	if p.components, err = p.equal.Reduce(ctx); err != nil {
		return nil, err
	}
	if p.rate, err = totalRate(ctx, m); err != nil {
		return nil, err
	}
	for i, k := range m.Classes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		capacity := new(big.Rat)
		for _, c := range k.Servers {
			all := new(big.Rat).SetInt64(int64(m.Servers[c.Server].Size()))
			capacity.Add(capacity, all.Mul(all, m.Servers[c.Server].Capacity))
		}
		p.loads[i] = capacity.Quo(m.Work(i), capacity)
	}
	return p, nil
}

// totalRate returns Σ λ_i.
func totalRate(ctx context.Context, m *cluster.Model) (*big.Rat, error) {
	rate, err := num.BoundedSumRats(ctx, len(m.Classes), func(i int) *big.Rat { return m.Classes[i].ArrivalRate })
	if errors.Is(err, num.ErrLongSum) {
		err = &num.TooLargeError{Input: input.Errorf("classes", fmt.Sprintf("%d of them", len(m.Classes)),
			"arrival rates whose sum has a denominator of at most %d bits (fewer digits, or multiples of one fraction)", num.LongestSum)}
	}
	return rate, err
}

// At returns the model with all arrival rates multiplied by a factor >= 0. It is not checked and reduced again: it has the
// components of p, with other rates, unless the factor is 0, which leaves none.
func (p *Prepared) At(ctx context.Context, factor *big.Rat) (*Prepared, error) {
	if err := nonnegative("factor", factor); err != nil {
		return nil, err
	}
	if factor.Sign() == 0 {
		return prepare(ctx, p.model.Scale(factor))
	}
	times := func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, factor) }
	q := *p
	q.model = p.model.Scale(factor)
	q.equal = q.model
	if p.equal != p.model {
		q.equal = p.equal.Scale(factor)
	}
	q.rate, q.loads = times(p.rate), make([]*big.Rat, len(p.loads))
	for i, x := range p.loads {
		q.loads[i] = times(x)
	}
	q.components = slices.Clone(p.components)
	for k := range q.components {
		c := &q.components[k]
		c.Model.Classes = slices.Clone(c.Model.Classes)
		for i, rows := range c.Classes {
			if len(rows) == 1 {
				c.Model.Classes[i].ArrivalRate = q.equal.Classes[rows[0]].ArrivalRate
			} else {
				c.Model.Classes[i].ArrivalRate = times(c.Model.Classes[i].ArrivalRate)
			}
		}
	}
	return &q, nil
}

// query returns what one engine is asked about component k.
func (p *Prepared) query(k int, engine num.Engine, prec uint, s request) (*query, error) {
	q, err := newQuery(p.equal, &p.components[k], engine, prec, s)
	if err != nil {
		return nil, err
	}
	q.tol = 0.99 * s.RelTol / float64(len(p.components)) // whose normalizations multiply
	return q, nil
}

// plan returns the plan of a query about component k: that of the factor solved first, with other rates, if it can.
func (p *Prepared) plan(ctx context.Context, k int, q *query) (*plan, error) {
	if first := p.first[q.engine]; !p.keeping && k < len(first) && q.excluded == nil {
		return first[k].at(ctx, q)
	}
	return newPlan(ctx, q)
}

// keep keeps the plan of the next component for other factors.
func (p *Prepared) keep(l *plan) {
	if p.keeping && len(p.first[l.engine]) < len(p.components) {
		p.first[l.engine] = append(p.first[l.engine], l.skeleton())
	}
}
