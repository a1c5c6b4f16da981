package bf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
)

// A Prepared model is checked and reduced, and ready for questions. It is safe for concurrent use.
type Prepared struct {
	model      *cluster.Model
	equal      *cluster.Model      // from EqualSizes
	components []cluster.Component // components of equal
	rate       *big.Rat            // Σ λ_i

	// loads is the work of each class divided by the capacity of all servers that its jobs may be
	// assigned.
	loads []*big.Rat

	// first holds the plans of the components for the factor solved first. It is nil unless there
	// are several factors.
	first   map[num.Engine][]*plan
	isFirst bool // this is the factor solved first
}

// Prepare checks and reduces a model, which must not be modified afterwards. It returns the errors
// of [cluster.Model.Check], [cluster.Model.RequireService] for the service [cluster.AllServers],
// and [cluster.Model.Reduce].
func Prepare(ctx context.Context, m *cluster.Model) (p *Prepared, err error) {
	if err := cmp.Or(m.Check(), m.RequireService(cluster.AllServers), m.RequireNoTimeouts()); err != nil {
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
			"arrival rates whose sum has a denominator of at most %d bits (fewer digits, or multiples of one fraction)",
			num.LongestSum)}
	}
	return rate, err
}

// At returns the model with all arrival rates multiplied by a factor >= 0. It does not check and
// reduce the model again: the result has the components of p with other rates, or none if the
// factor is 0.
func (p *Prepared) At(ctx context.Context, factor *big.Rat) (*Prepared, error) {
	if err := checkNonnegative("factor", factor); err != nil {
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
