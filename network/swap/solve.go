package swap

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
	"productform/num"
)

// maxPrecision is the maximum number of bits of an enclosure.
const maxPrecision = 1 << 14

// Solve returns the stationary measures of a queue. An open queue takes O(N 2^N) operations
// ([Sets]). A closed queue takes O(N Π_i (ℓ_i+1)) if its start places the classes and each has its
// own server of positive capacity ([Counts]). Otherwise Solve finds all orders that the start can
// reach and sums over them ([Orders]).
//
// It returns the errors of [Model.Check] and a *[num.InputError] for settings out of range. A
// *[cluster.UnstableError] wraps [num.ErrUnstable] and names the classes of an overloaded set. A
// *[num.TooLargeError] rejects a model that needs more than Settings.MaxBytes, or 2^16 states in
// fractions. [num.ErrDigits] occurs only with the engine Float. Solve also returns the error of the
// context promptly after cancellation. m is not modified.
func Solve(ctx context.Context, m *Model, s Settings) (*Result, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	tol, err := arithmetic.CheckEngine(s.Engine, s.RelTol)
	if err != nil {
		return nil, err
	}
	if s.MaxBytes, err = arithmetic.CheckMaxBytes(s.MaxBytes); err != nil {
		return nil, err
	}
	rank, err := m.rank(ctx)
	if err != nil {
		return nil, err
	}
	var orders []string
	var leaving []int
	var arrivals []*big.Rat
	switch {
	case !m.IsClosed():
		if arrivals, err = m.arrivals(ctx); err == nil {
			err = m.checkStable(ctx, rank, arrivals)
		}
	case !m.isPlaced():
		orders, leaving, err = m.reach(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	l := arithmetic.Ladder{Engine: s.Engine, RelTol: tol, MaxPrec: maxPrecision}
	return arithmetic.Climb(l, func(engine num.Engine, prec uint) (*Result, float64, error) {
		r := &Result{Engine: engine}
		q := &queue{Model: m, ctx: ctx, one: arithmetic.One(engine, prec), rank: rank, leaving: leaving, r: r}
		var err error
		switch {
		case !m.IsClosed():
			err = q.open(arrivals, s)
		case orders == nil:
			err = q.counts(s)
		default:
			err = q.orders(orders, s)
		}
		if err == nil {
			err = q.o.Check()
		}
		r.RelativeErrorBound, r.width = q.o.Bound, q.o.Width
		return r, r.width, err
	})
}

// rank returns μ(A) in jobs per unit of time, at the bit mask of each set of classes.
func (m *Model) rank(ctx context.Context) ([]*big.Rat, error) {
	var servers [][]int
	for _, c := range m.Classes {
		servers = append(servers, c.Servers)
	}
	var capacities []*big.Rat
	for s := range m.Servers {
		capacities = append(capacities, m.capacity(s))
	}
	return ranktable.OfServers(ctx, servers, capacities)
}

// arrivals returns the rate at which jobs of the classes of each set arrive.
func (m *Model) arrivals(ctx context.Context) ([]*big.Rat, error) {
	var rates []*big.Rat
	for _, c := range m.Classes {
		rates = append(rates, c.ArrivalRate)
	}
	return ranktable.Sums(ctx, rates)
}

// checkStable returns an error that names the set of classes with the largest load relative to its
// capacity, if that is at least 1.
func (m *Model) checkStable(ctx context.Context, rank, arrivals []*big.Rat) error {
	var worst *cluster.UnstableError
	most := big.NewRat(1, 1)
	for a := 1; a < len(rank); a++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if arrivals[a].Cmp(rank[a]) < 0 {
			continue
		}
		if load := new(big.Rat).Quo(arrivals[a], rank[a]); load.Cmp(most) > 0 || worst == nil {
			worst, most = &cluster.UnstableError{
				Classes:     ranktable.Members(a),
				ArrivalRate: arrivals[a],
				Capacity:    rank[a],
			}, load
		}
	}
	if worst != nil {
		for _, i := range worst.Classes {
			worst.Names = append(worst.Names, m.Classes[i].Name)
		}
		return worst
	}
	return nil
}

// A queue is a model in the arithmetic of an engine, with its partial result.
type queue struct {
	*Model
	ctx  context.Context
	one  arithmetic.Number
	rank []*big.Rat
	r    *Result
	o    arithmetic.Output

	leaving []int // closed: number of jobs of each class that ever leave
}

const maxExactStates = 1 << 16

// checkSize rejects a table of too many states, each with a number of numbers.
func (q *queue) checkSize(states float64, numbers int, s Settings) error {
	if q.one.Exact != nil && states > maxExactStates {
		return &num.TooLargeError{States: states, Input: input.Errorf("Engine", num.Exact,
			"float or enclose: %.3g states are more than the %d that fractions are kept for",
			states, maxExactStates)}
	}
	limit := s.MaxBytes
	if need := states * q.one.Bytes() * float64(numbers); need > float64(limit) {
		return &num.TooLargeError{States: states, Bytes: need, Limit: limit,
			Input: input.Errorf("", fmt.Sprintf("a table of %.3g states, about %.3g GB", states, need/1e9),
				"one of at most %.3g GB", float64(limit)/1e9)}
	}
	q.r.States = int(states)
	return nil
}

// open solves an open queue by the recursion over sets of classes, with Z = Σ_A G(A).
func (q *queue) open(arrivals []*big.Rat, s Settings) error {
	q.r.Method = Sets
	if err := q.checkSize(float64(len(q.rank)), 3, s); err != nil {
		return err
	}
	total := arrivals[len(arrivals)-1]
	drains := make([]*big.Rat, len(q.rank))
	for a, mu := range q.rank {
		drains[a] = new(big.Rat).Sub(mu, arrivals[a])
	}
	g, jobs, z, err := q.sets(drains)
	if err != nil {
		return err
	}
	all := q.one.Zero()
	for i, c := range q.Classes {
		rate := q.one.Rational(c.ArrivalRate)
		row := ClassResult{Name: c.Name, Throughput: q.o.Value(rate), Completions: q.o.Value(rate),
			MeanJobs: q.o.Value(jobs[i])}
		if c.ArrivalRate.Sign() > 0 {
			row.MeanDelay = q.o.Pointer(jobs[i].Quo(rate))
		}
		q.r.Classes = append(q.r.Classes, row)
		all = all.Add(jobs[i])
	}
	q.normalize(z)
	q.r.EmptyProbability = q.o.Pointer(q.one.Quo(z))
	q.r.MeanJobs = q.o.Value(all)
	if total.Sign() > 0 {
		q.r.MeanDelay = q.o.Pointer(all.Quo(q.one.Rational(total)))
	}
	for server, at := range q.Servers {
		users := q.users(server)
		busy, err := arithmetic.Sum(q.ctx, 0, len(g)-1, func(a int) arithmetic.Number {
			if uint(a)&users == 0 {
				return q.one.Zero()
			}
			return g[a]
		})
		if err != nil {
			return err
		}
		q.r.Servers = append(q.r.Servers, ServerResult{Name: at.Name, Utilization: q.o.Value(busy.Quo(z))})
	}
	return nil
}

// sets returns the measure G of each set of classes present, E[X_i] and Z: in float64, as plain
// numbers if these stay in its range.
func (q *queue) sets(drains []*big.Rat) (g, jobs []arithmetic.Number, z arithmetic.Number, err error) {
	ones, rates := make([]int, len(q.Classes)), make([]*big.Rat, len(q.Classes))
	for i, c := range q.Classes {
		ones[i], rates[i] = 1, c.ArrivalRate
	}
	box := lattice.NewBox(ones)
	if q.one.Exact == nil && q.one.Interval.Low == nil {
		if g, jobs, z, bound, ok := lattice.Floats(q.ctx, box, rates, drains); ok {
			return bounded(g, bound), bounded(jobs, bound), arithmetic.FromFloat(z, bound), nil
		}
	}
	r := lattice.Recursion{Lattice: box}
	for _, x := range rates {
		r.Lambda = append(r.Lambda, q.one.Rational(x))
	}
	for _, x := range drains {
		if err := q.ctx.Err(); err != nil {
			return nil, nil, z, err
		}
		r.Drain = append(r.Drain, q.one.Rational(x))
	}
	return r.Measures(q.ctx)
}

// bounded returns numbers with an error bound.
func bounded(list []float64, bound float64) (all []arithmetic.Number) {
	for _, x := range list {
		all = append(all, arithmetic.FromFloat(x, bound))
	}
	return all
}

// users returns the classes that a server can serve, as a bit mask.
func (m *Model) users(server int) (set uint) {
	for i, c := range m.Classes {
		for _, s := range c.Servers {
			if s == server {
				set |= 1 << i
			}
		}
	}
	return set
}

// normalize sets the normalization, if it is in the range of float64.
func (q *queue) normalize(z arithmetic.Number) {
	if v, _ := z.Value(); !math.IsInf(v.Float, 0) {
		q.r.Normalization = q.o.Pointer(z)
	}
}

// finish sets the measures of a closed queue, from the rates at which its classes leave and
// complete, times the normalization.
func (q *queue) finish(z arithmetic.Number, leave, end []arithmetic.Number) {
	q.normalize(z)
	all := 0
	for i, c := range q.Classes {
		rate := leave[i].Quo(z)
		row := ClassResult{Name: c.Name, Throughput: q.o.Value(rate), Completions: q.o.Value(end[i].Quo(z)),
			MeanJobs: q.o.Value(q.one.Integer(c.Population)), LeavingJobs: &q.leaving[i]}
		if !rate.IsZero() {
			row.MeanDelay = q.o.Pointer(q.one.Integer(q.leaving[i]).Quo(rate))
		}
		q.r.Classes = append(q.r.Classes, row)
		all += c.Population
	}
	q.r.MeanJobs = q.o.Value(q.one.Integer(all))
	for server, at := range q.Servers {
		isUsed := q.one.Integer(int(min(q.users(server), 1)))
		q.r.Servers = append(q.r.Servers, ServerResult{Name: at.Name, Utilization: q.o.Value(isUsed)})
	}
}
