package oneserver

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// A ClassGradient holds the derivatives of the mean waiting time of one class: as fractions with the
// engine Exact, and otherwise between proved bounds Low and High.
type ClassGradient struct {
	Name        string    // as in the model
	MeanWaiting *Partials // nil if λ_i = 0
}

// Partials holds the derivatives of one number with respect to all rates and capacities.
type Partials struct {
	// ArrivalRates is ∂/∂λ_j for each row of classes; 0 for a class without arrivals, which has none.
	ArrivalRates []num.Value

	// Capacities is ∂/∂C_s for each row of servers. All servers of a group change together.
	Capacities []num.Value
}

// addGradients adds the derivatives of the mean waiting times of the classes of a part. With U = A/d,
// N_i = Σ_k q_i(k) U(k) F(k) and E[W_i] = N_i/Z, the recursions for F, H and U give those for their
// derivatives; a derivative ' is split into what it adds, +, and what it subtracts, -:
//
//	∂λ_j:  F+ d = Σ F+(k-e) + q_j F,  H- (λ-λ(k)) = Σ H-(k+e) + (1 - q_j) H,
//	       U+ d = Σ U+(k+e) + q_j U,  U- d = Σ U-(k+e) + H-,
//	∂μ_g:  F- d = Σ F-(k-e) + k_g F,  U- d = Σ U-(k+e) + k_g U,
//	N_i' = Σ q_i (U' F + U F'),  Z' = Σ (F' H + F H'),  E[W_i]' = (N_i' Z - N_i Z')/Z².
func (b *builder) addGradients(w *sweep, size *big.Rat) error {
	g := &gradients{sweep: w}
	if err := g.prepare(b.ctx); err != nil {
		return err
	}
	add := func(of func(*Partials) *num.Value, list []arithmetic.Difference, factor *big.Rat) {
		for i, x := range list {
			v, width := x.Times(factor, b.settings.RelTol)
			*of(b.result.Gradients[w.classes[i].row].MeanWaiting) = v
			b.out.Width = max(b.out.Width, width)
		}
	}
	for j, c := range w.classes {
		list, err := g.byRate(b.ctx, j)
		if err != nil {
			return err
		}
		add(func(p *Partials) *num.Value { return &p.ArrivalRates[c.row] }, list, big.NewRat(1, 1))
	}
	for k, group := range w.groups {
		list, err := g.byCapacity(b.ctx, k)
		if err != nil {
			return err
		}
		for _, row := range group.rows { // μ_s = C_s/σ; equal servers have equal derivatives
			part := big.NewRat(int64(b.model.Servers[row].Size()), int64(group.n))
			add(func(p *Partials) *num.Value { return &p.Capacities[row] }, list, part.Quo(part, size))
		}
	}
	return nil
}

// newGradients returns derivatives that are all 0.
func (b *builder) newGradients() []ClassGradient {
	list := make([]ClassGradient, len(b.model.Classes))
	zeros := func(n int) []num.Value {
		values := make([]num.Value, n)
		for k := range values {
			values[k], _ = arithmetic.Difference{Plus: b.one.Zero(), Minus: b.one.Zero()}.Times(big.NewRat(1, 1), 1)
		}
		return values
	}
	for i, c := range b.model.Classes {
		list[i].Name = c.Name
		if c.ArrivalRate.Sign() > 0 {
			list[i].MeanWaiting = &Partials{zeros(len(b.model.Classes)), zeros(len(b.model.Servers))}
		}
	}
	return list
}

// gradients are the derivatives of a part.
type gradients struct {
	*sweep
	share [][]arithmetic.Number // q_i(k) of each class
	rest  [][]arithmetic.Number // 1 - q_i(k)
	busyK [][]arithmetic.Number // k_g of each group
	wall  []arithmetic.Number   // U = A/d
	n     []arithmetic.Number   // N_i
}

// prepare tabulates q, k, U and N.
func (g *gradients) prepare(ctx context.Context) error {
	g.share, g.rest = make([][]arithmetic.Number, len(g.classes)), make([][]arithmetic.Number, len(g.classes))
	g.busyK = make([][]arithmetic.Number, len(g.groups))
	x := make([]int, len(g.groups))
	for at := range g.States {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range g.classes {
			q := g.fraction(i, x)
			if q == nil {
				q = new(big.Rat)
			}
			g.share[i] = append(g.share[i], g.one.Rational(q))
			g.rest[i] = append(g.rest[i], g.one.Rational(new(big.Rat).Sub(big.NewRat(1, 1), q)))
		}
		for h, k := range x {
			g.busyK[h] = append(g.busyK[h], g.one.Integer(k))
		}
		u := g.one.Zero()
		if at > 0 {
			u = g.up[at].Quo(g.gain[at])
		}
		g.wall = append(g.wall, u)
		g.Next(x)
	}
	for i := range g.classes {
		n, err := g.sum(ctx, func(at int) arithmetic.Number {
			return g.share[i][at].Mul(g.wall[at]).Mul(g.busy[at])
		})
		if err != nil {
			return err
		}
		g.n = append(g.n, n)
	}
	return nil
}

func (g *gradients) sum(ctx context.Context, term func(at int) arithmetic.Number) (arithmetic.Number, error) {
	return arithmetic.Sum(ctx, 0, g.States-1, term)
}

// climbFrom solves X(k) = (Σ_g X(k-e_g) + source(k)) / d(k), X(0) = 0.
func (g *gradients) climbFrom(ctx context.Context, source func(at int) arithmetic.Number) ([]arithmetic.Number, error) {
	v, x := make([]arithmetic.Number, g.States), make([]int, len(g.groups))
	v[0] = g.one.Zero()
	for at := 1; at < g.States; at++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g.Next(x)
		sum := source(at)
		for h, k := range x {
			if k > 0 {
				sum = sum.Add(v[at-g.Stride[h]])
			}
		}
		v[at] = sum.Quo(g.gain[at])
	}
	return v, nil
}

// fallFrom solves X(k) = (Σ_g X(k+e_g) + source(k)) / d(k) except at one state, where X is 0.
func (g *gradients) fallFrom(
	ctx context.Context, d []arithmetic.Number, except int, source func(at int) arithmetic.Number,
) ([]arithmetic.Number, error) {
	v, x := make([]arithmetic.Number, g.States), g.Point(g.States-1)
	for at := g.States - 1; at >= 0; at-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum := source(at)
		for h, k := range x {
			if k < g.Limits[h] {
				sum = sum.Add(v[at+g.Stride[h]])
			}
		}
		if v[at] = g.one.Zero(); at != except {
			v[at] = sum.Quo(d[at])
		}
		g.Back(x)
	}
	return v, nil
}

// byRate returns the derivatives of E[W_i] with respect to λ_j.
func (g *gradients) byRate(ctx context.Context, j int) ([]arithmetic.Difference, error) {
	q := g.share[j]
	busy, err := g.climbFrom(ctx, func(at int) arithmetic.Number { return q[at].Mul(g.busy[at]) })
	if err != nil {
		return nil, err
	}
	free, err := g.fallFrom(ctx, g.idle, g.States-1, func(at int) arithmetic.Number {
		return g.rest[j][at].Mul(g.free[at])
	})
	if err != nil {
		return nil, err
	}
	plus, err := g.fallFrom(ctx, g.gain, 0, func(at int) arithmetic.Number { return q[at].Mul(g.wall[at]) })
	if err != nil {
		return nil, err
	}
	minus, err := g.fallFrom(ctx, g.gain, 0, func(at int) arithmetic.Number { return free[at] })
	if err != nil {
		return nil, err
	}
	more, err := g.sum(ctx, func(at int) arithmetic.Number { return busy[at].Mul(g.free[at]) })
	if err != nil {
		return nil, err
	}
	less, err := g.sum(ctx, func(at int) arithmetic.Number { return g.busy[at].Mul(free[at]) })
	if err != nil {
		return nil, err
	}
	return g.quotients(ctx, slopes{more, less}, func(at int) arithmetic.Number {
		return plus[at].Mul(g.busy[at]).Add(g.wall[at].Mul(busy[at]))
	}, func(at int) arithmetic.Number { return minus[at].Mul(g.busy[at]) })
}

// byCapacity returns the derivatives of E[W_i] with respect to μ_s of all servers of a group.
func (g *gradients) byCapacity(ctx context.Context, group int) ([]arithmetic.Difference, error) {
	k := g.busyK[group]
	busy, err := g.climbFrom(ctx, func(at int) arithmetic.Number { return k[at].Mul(g.busy[at]) })
	if err != nil {
		return nil, err
	}
	minus, err := g.fallFrom(ctx, g.gain, 0, func(at int) arithmetic.Number { return k[at].Mul(g.wall[at]) })
	if err != nil {
		return nil, err
	}
	less, err := g.sum(ctx, func(at int) arithmetic.Number { return busy[at].Mul(g.free[at]) })
	if err != nil {
		return nil, err
	}
	return g.quotients(ctx, slopes{g.one.Zero(), less}, func(int) arithmetic.Number { return g.one.Zero() },
		func(at int) arithmetic.Number { return minus[at].Mul(g.busy[at]).Add(g.wall[at].Mul(busy[at])) })
}

// slopes is Z' = more - less.
type slopes struct{ more, less arithmetic.Number }

// quotients returns E[W_i]' for every class, given Z' and the terms of N_i' before q_i.
func (g *gradients) quotients(
	ctx context.Context, z slopes, plus, minus func(at int) arithmetic.Number,
) ([]arithmetic.Difference, error) {
	list := make([]arithmetic.Difference, len(g.classes))
	for i, q := range g.share {
		more, err := g.sum(ctx, func(at int) arithmetic.Number { return q[at].Mul(plus(at)) })
		if err != nil {
			return nil, err
		}
		less, err := g.sum(ctx, func(at int) arithmetic.Number { return q[at].Mul(minus(at)) })
		if err != nil {
			return nil, err
		}
		mean := g.n[i].Quo(g.z)
		list[i] = arithmetic.Difference{
			Plus:  more.Add(mean.Mul(z.less)).Quo(g.z),
			Minus: less.Add(mean.Mul(z.more)).Quo(g.z),
		}
	}
	return list, nil
}
