// This file follows a job through a station with Order: how long does it stay, and how long does it
// wait until it is first served?
//
// A job of kind i finds the jobs c = c_1, ..., c_n, in order of arrival. Later jobs do not affect
// it, so the probability S_t(c) that it is still there after the time t depends on c only. With the
// weight w(c) = Π_j w_{c_j}/μ(c_1...c_j), let F_t(x) be the sum of w(c) S_t(c) over all c with x_k
// jobs of each kind k. At time 0 this is Φ(x) Π_k w_k^x_k, and in units of time in which the mean
// size is 1
//
//	F_t'(x) = -μ(x + e_i) F_t(x) + Σ_{k: x_k > 0} w_k F_t(x - e_k).
//
// Proof. Job j of c ends at the rate Δ_j = μ(c_1...c_j) - μ(c_1...c_{j-1}), so S_t'(c) = -μ(ci)
// S_t(c) + Σ_j Δ_j S_t(c without job j). The states that b remains of have one more job, of a kind
// k, at one of the places of b, and the sum over the places of weight times Δ is w_k w(b). By
// induction on the length of b: the last place has Δ = μ(bk) - μ(b) and the weight w_k w(b)/μ(bk).
// In the other places the last job of b comes last, and the sum of all is that of b without this
// job, times its w/μ(bk): together w_k w(b) μ(b)/μ(bk).
//
// A job is first served when the jobs ahead of it are such that μ(x + e_i) > μ(x). With S_t(c) = 0
// for such c, the same equation holds at all other x for the time until then.
//
// As in [Shared], the numbers of jobs that do not affect μ are summed up, with d(y) = μ(y + e_i) -
// Σ_{open k: y_k = m_k} w_k in place of μ(x + e_i). At the points of a Poisson process with a rate
// q of at least every d(y), all terms are positive.

package convolution

import (
	"context"
	"math"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// Rest returns, at the index of each population, the product of all stations that closed chains
// visit except for the given ones, in float64. The error is the context's.
func (p *Plan) Rest(ctx context.Context, without ...int) ([]arithmetic.Number, error) {
	lattice := NewLattice(p.Most)
	for segment := p.segment(); ; segment = max(1, segment/8) {
		list, err := p.restWith(ctx, without, NewFloat(ctx, lattice, segment, p.tilt()))
		if err != nil || segment == 1 || !hasLostBounds(list) {
			return list, err
		}
	}
}

func (p *Plan) restWith(ctx context.Context, without []int, zeros *Float) ([]arithmetic.Number, error) {
	c := &convolver[*Float]{Plan: p, ctx: ctx, zeros: zeros, one: arithmetic.Number{Wide: arithmetic.Wide{F: 1}}}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	w := &worker[*Float]{convolver: c}
	h, think := zeros.New(), p.think
	if err := c.setDelays(h, think); err != nil {
		return nil, err
	}
	for g := range p.Groups {
		for _, i := range p.Groups[g].Stations {
			if slices.Contains(without, i) {
				continue
			}
			if err := w.times(&h, g, think); err != nil {
				return nil, err
			}
			think = nil
		}
	}
	list := make([]arithmetic.Number, zeros.Lattice().States)
	for i := range list {
		list[i] = h.At(i)
	}
	return list, ctx.Err()
}

func hasLostBounds(list []arithmetic.Number) bool {
	for _, x := range list {
		if math.IsInf(x.Bound, 1) {
			return true
		}
	}
	return false
}

// Arrivals holds the distribution of the jobs that an arriving job finds at a station with Order.
type Arrivals struct {
	*Tabulation
	rest  []arithmetic.Number // by index of n: factor of the other stations, with the jobs that are not here
	jobs  arithmetic.Number   // Σ_n rest(n) F(n)
	rates []*big.Rat          // μ(y) by row of y
}

// NewArrivals returns the jobs that an arriving job finds if rest has the weights of the jobs
// elsewhere, by index of the populations of a tabulation. The tabulation must be in float64 and
// have no table. The error is [num.ErrFloatRange] or that of the context.
func NewArrivals(ctx context.Context, t *Tabulation, rest []arithmetic.Number) (*Arrivals, error) {
	a := &Arrivals{Tabulation: t, rest: rest}
	err := t.sh.vectors(ctx, func(y []int) { a.rates = append(a.rates, t.sh.Rate(y)) })
	if err != nil {
		return nil, err
	}
	if a.jobs, err = a.weigh(ctx, t.f); err == nil && math.IsInf(a.jobs.Bound, 1) {
		err = num.ErrFloatRange
	}
	return a, err
}

// A Sojourn is the time that a job spends at a station with Order, or the time until it is first
// served, in units of the mean size over q.
type Sojourn struct {
	*Arrivals
	out    []*big.Rat        // d(y) by row of y; nil if the time has ended
	rate   *big.Rat          // q
	stay   []arithmetic.Wide // 1 - d(y)/q
	weight []arithmetic.Wide // w/q of each kind
	now    []arithmetic.Wide // F^y(n) after the steps taken, at row*States + index of n
	tails  []float64         // P(more than n points)
}

// NewSojourn returns the time that a job of a kind spends at the station or, if waiting is true,
// the time until it is first served.
func (t *Arrivals) NewSojourn(ctx context.Context, kind int, waiting bool) (*Sojourn, error) {
	s := &Sojourn{Arrivals: t, rate: new(big.Rat)}
	err := t.sh.vectors(ctx, func(y []int) {
		row := len(s.out)
		with := row
		if y[kind] < t.sh.Most[kind] {
			with += t.rows.Stride[kind]
		}
		if waiting && t.rates[with].Cmp(t.rates[row]) > 0 {
			s.out = append(s.out, nil)
			return
		}
		d := new(big.Rat).Set(t.rates[with])
		for c, k := range t.sh.Kinds {
			if k.K < 0 && y[c] == t.sh.Most[c] {
				d.Sub(d, k.Work)
			}
		}
		if d.Cmp(s.rate) > 0 {
			s.rate = d
		}
		s.out = append(s.out, d)
	})
	if err != nil {
		return nil, err
	}
	if s.rate.Sign() == 0 { // no job waits
		s.rate.SetInt64(1)
	}
	for _, d := range s.out {
		stay := arithmetic.Number{}
		if d != nil {
			d = new(big.Rat).Quo(d, s.rate)
			stay = t.one.Rational(d.Sub(big.NewRat(1, 1), d))
		}
		s.stay = append(s.stay, stay.Wide)
	}
	for _, k := range t.sh.Kinds {
		s.weight = append(s.weight, t.one.Rational(new(big.Rat).Quo(k.Work, s.rate)).Wide)
	}
	return s, s.begin(ctx)
}

// begin sets the sums at time 0.
func (s *Sojourn) begin(ctx context.Context) error {
	err := s.visit(ctx, func(row, i, of int, _, _ []int) {
		x := s.zero
		if s.out[of] != nil {
			x = s.f[row][i]
		}
		s.now = append(s.now, x.Wide)
	})
	if err == nil {
		s.tails = []float64{s.tail()}
	}
	return err
}

// weigh returns Σ_n rest(n) Σ_y f^y(n).
func (s *Arrivals) weigh(ctx context.Context, f [][]arithmetic.Number) (arithmetic.Number, error) {
	total, err := s.total(ctx, f, nil)
	if err != nil {
		return s.zero, err
	}
	return arithmetic.Sum(ctx, 0, len(total)-1, func(i int) arithmetic.Number { return s.rest[i].Mul(total[i]) })
}

// Work returns the number of products of a step.
func (s *Sojourn) Work() float64 { return float64(len(s.now)) * float64(len(s.axis)+1) }

// Rate returns q, in work per unit of time.
func (s *Sojourn) Rate() *big.Rat { return s.rate }

// tail returns the probability that the time has not ended after the steps taken.
func (s *Sojourn) tail() float64 { return s.sum(0, len(s.now)).Over(s.jobs.Wide).Double() }

// sum adds the terms first..last-1 by halves.
func (s *Sojourn) sum(first, last int) arithmetic.Wide {
	const block = 8
	if last-first > block {
		middle := (first + last) / 2
		return s.sum(first, middle).Plus(s.sum(middle, last))
	}
	var sum arithmetic.Wide
	for k := first; k < last; k++ {
		sum = sum.Plus(s.now[k].Times(s.rest[k%len(s.rest)].Wide))
	}
	return sum
}

// ExtendTo takes steps until there are n. The error is the context's.
func (s *Sojourn) ExtendTo(ctx context.Context, n int) error {
	stop := recursion.Cancellation{Ctx: ctx}
	y, all := slices.Clone(s.freeCaps.Limits), slices.Clone(s.most.Limits)
	s.tails = slices.Grow(s.tails, max(0, n+1-len(s.tails)))
	for len(s.tails) <= n {
		if err := s.step(&stop, y, all); err != nil {
			return err
		}
		s.tails = append(s.tails, s.tail())
	}
	return nil
}

// step proceeds from the last sum to the first, since each needs only itself and earlier ones. y
// and n are at their limits before and after it.
func (s *Sojourn) step(stop *recursion.Cancellation, y, n []int) error {
	states := s.most.States
	for row := s.freeCaps.States - 1; row >= 0; row-- {
		for i := states - 1; i >= 0; i-- {
			if err := stop.After(16 * len(s.axis)); err != nil {
				return err
			}
			if of := s.fit(y, n); s.out[of] != nil {
				k := row*states + i
				s.now[k] = s.arriving(row, i, y, n, s.stay[of].Times(s.now[k]))
			}
			s.most.Back(n)
		}
		s.unfit(y)
		s.freeCaps.Back(y)
	}
	return nil
}

// arriving adds Σ_k w_k/q F(x - e_k), summed up to y and n, to sum.
func (s *Sojourn) arriving(row, i int, y, n []int, sum arithmetic.Wide) arithmetic.Wide {
	for c, a := range s.axis {
		if y[c] == 0 || a >= 0 && n[a] == 0 {
			continue
		}
		at := row*s.most.States + i
		if a >= 0 {
			at -= s.most.Stride[a]
		}
		term := s.now[at]
		if s.free[c] {
			fewer := s.now[at-s.freeCaps.Stride[c]*s.most.States]
			if a >= 0 && y[c] == s.sh.Most[c] {
				fewer = fewer.Plus(term)
			}
			term = fewer
		}
		sum = sum.Plus(s.weight[c].Times(term))
	}
	return sum
}

// Tails returns the probabilities that the time is longer than 0, 1, ... points, with a bound on
// their relative errors. A step has two roundings in a weight or in staying, one in the product,
// one in the sum of two terms and one per kind.
func (s *Sojourn) Tails() (tails []float64, relative float64) {
	bound := s.jobs.Bound / (1 - s.jobs.Bound)
	for _, row := range s.f {
		for i, x := range row {
			bound = max(bound, arithmetic.Compound(x.Bound, s.rest[i].Bound, 0))
		}
	}
	steps := float64(len(s.tails) - 1)
	sums := 8 + math.Log2(float64(len(s.now))) + 4
	e := arithmetic.Roundings(steps*float64(len(s.axis)+5) + sums)
	return s.tails, arithmetic.Compound(bound, s.jobs.Bound/(1-s.jobs.Bound), e)
}

// Probability returns the probability that the time is positive.
func (s *Sojourn) Probability(ctx context.Context) (arithmetic.Number, error) {
	f := make([][]arithmetic.Number, len(s.f))
	err := s.visit(ctx, func(row, i, of int, _, _ []int) {
		x := s.zero
		if s.out[of] != nil {
			x = s.f[row][i]
		}
		f[row] = append(f[row], x)
	})
	if err != nil {
		return s.zero, err
	}
	sum, err := s.weigh(ctx, f)
	return sum.Quo(s.jobs), err
}

// Mean returns the mean of the time in units of the mean size. M(x) = ∫ F_t(x) dt satisfies
//
//	d(y) M^y(n) = F^y(n) + Σ_k w_k M(x - e_k), summed up to y and n.
func (s *Sojourn) Mean(ctx context.Context) (arithmetic.Number, error) {
	m := make([][]arithmetic.Number, len(s.f))
	for row := range m {
		m[row] = s.zeros(ctx)
	}
	err := s.visit(ctx, func(row, i, of int, y, n []int) {
		if s.out[of] != nil {
			sum := s.f[row][i].Add(s.flow(m, row, i, y, n, -1))
			m[row][i] = sum.Quo(s.one.Rational(s.out[of]))
		}
	})
	if err != nil {
		return s.zero, err
	}
	sum, err := s.weigh(ctx, m)
	return sum.Quo(s.jobs), err
}

// visit calls do for all y and n, in increasing order, with the row of the free kinds, the index of
// n, and the row of y.
func (s *Sojourn) visit(ctx context.Context, do func(row, i, of int, y, n []int)) error {
	y, n := make([]int, len(s.axis)), make([]int, len(s.all))
	stop := recursion.Cancellation{Ctx: ctx}
	for row := range s.f {
		for i := range s.most.States {
			if err := stop.After(16); err != nil {
				return err
			}
			do(row, i, s.fit(y, n), y, n)
			s.most.Next(n)
		}
		s.unfit(y)
		s.freeCaps.Next(y)
	}
	return nil
}

// Elsewhere returns, by index of the populations of a tabulation, the numbers of a table over the
// populations up to most at the jobs that are not at the station.
func (t *Tabulation) Elsewhere(table []arithmetic.Number, most []int) []arithmetic.Number {
	to := NewLattice(most)
	list, n := make([]arithmetic.Number, t.most.States), make([]int, len(t.all))
	for i := range list {
		others := make([]int, len(n))
		for a := range n {
			others[a] = t.all[a] - n[a]
		}
		list[i] = table[to.Number(others)]
		t.most.Next(n)
	}
	return list
}
