package network

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
)

// A system is a network as the solvers take it: what routing and open chains leave of it. Its numbers are not to be changed.
type system struct {
	model    *Model
	chains   []chain
	closed   []int     // the chains that are closed, in order; places in this list are called k
	stations []station // in step with those of the model
}

// A chain is a set of classes that jobs change between.
type chain struct {
	classes     []int // rows of the model's classes, increasing
	closed      bool
	population  int      // closed: N_k >= 1, jobs in the chain
	arrivalRate *big.Rat // open: jobs per unit of time from outside; nil if closed
}

// A station is one as the lattice of populations sees it: exactly one of totals and shared is set.
type station struct {
	visits []visit    // by class
	demand []*big.Rat // D_k = Σ w over the visits of the closed chain k
	load   *big.Rat   // ρ = Σ w over the visits of open chains
	totals *totals    // stations with Delay, Sharing, FCFS, LCFS
	shared *shared    // stations with Order, Balanced
}

// A visit is one of the model's, with what it contributes.
type visit struct {
	class, visit int      // Model.Classes[class].Visits[visit]
	chain        int      // of system.chains
	k            int      // place of the chain in system.closed, -1 for an open one
	ratio        *big.Rat // v: visits per cycle (closed) or per unit of time (open)
	work         *big.Rat // w = v σ
}

// newSystem checks a model and prepares it for the solvers. The error is that of [Model.Check], an [*UnstableError], a [*BalanceError], a
// [*num.TooLargeError], or ctx.Err() soon after ctx is done.
func newSystem(ctx context.Context, m *Model) (*system, error) {
	s, err := newDemands(ctx, m)
	if err != nil {
		return nil, err
	}
	for i := range s.stations {
		if err := s.checkStable(ctx, i); err != nil {
			return nil, err
		}
		if t := s.stations[i].totals; t != nil {
			if err := t.fold(ctx, input.Index("stations", i), s.stations[i].load, s.visiting(i)+1); err != nil { // means of open jobs take a coefficient more
				return nil, err
			}
		}
	}
	return s, nil
}

// newDemands does all of newSystem but to see whether the network is stable, and to fold open chains.
func newDemands(ctx context.Context, m *Model) (*system, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	s := &system{model: m, stations: make([]station, len(m.Stations))}
	k := m.components()
	for i, classes := range k.classes {
		c := chain{classes: classes, closed: k.open[i] < 0, population: k.population[i]}
		if c.closed {
			s.closed = append(s.closed, i)
		} else {
			c.arrivalRate = new(big.Rat)
			for _, a := range classes {
				if rate := m.Classes[a].ArrivalRate; rate != nil {
					c.arrivalRate.Add(c.arrivalRate, rate)
				}
			}
		}
		s.chains = append(s.chains, c)
	}
	for i := range s.stations {
		s.stations[i].load = new(big.Rat)
		for range s.closed {
			s.stations[i].demand = append(s.stations[i].demand, new(big.Rat))
		}
	}
	place := 0
	for i, c := range s.chains {
		k := -1
		if c.closed {
			k = place
			place++
		}
		if err := s.addVisits(ctx, i, k); err != nil {
			return nil, err
		}
	}
	for i := range s.stations {
		slices.SortFunc(s.stations[i].visits, func(a, b visit) int { return a.class - b.class })
		if err := s.describe(ctx, i); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addVisits adds the visits of a chain to their stations.
func (s *system) addVisits(ctx context.Context, chain, k int) error {
	ratios, err := s.model.ratios(ctx, s.chains[chain].classes, k >= 0)
	if err != nil {
		return err
	}
	for _, c := range s.chains[chain].classes {
		for v := range s.model.Classes[c].Visits {
			of := &s.model.Classes[c].Visits[v]
			st := &s.stations[of.Station]
			x := visit{class: c, visit: v, chain: chain, k: k, ratio: ratios[c][v]}
			x.work = new(big.Rat).Mul(x.ratio, of.size())
			st.visits = append(st.visits, x)
			sum := st.load
			if k >= 0 {
				sum = st.demand[k]
			}
			sum.Add(sum, x.work)
		}
	}
	return nil
}

// describe sets what serves the jobs of station i.
func (s *system) describe(ctx context.Context, i int) (err error) {
	of, st := &s.model.Stations[i], &s.stations[i]
	switch of.Discipline {
	case Delay:
		st.totals = &totals{delay: num.OrOne(of.Rate)}
	case Order, Balanced:
		if st.shared, err = s.newShared(ctx, i); err != nil {
			return err
		}
	default:
		st.totals = &totals{alone: of.Rates}
		if of.Rates == nil {
			r := num.OrOne(of.Rate)
			n := max(of.Servers, 1)
			if st.load.Sign() == 0 { // more are never busy
				n = min(n, s.visiting(i)+1)
			}
			for j := range n {
				st.totals.alone = append(st.totals.alone, new(big.Rat).Mul(big.NewRat(int64(j)+1, 1), r))
			}
			st.totals.most = new(big.Rat).Mul(big.NewRat(int64(max(of.Servers, 1)), 1), r)
		} else {
			st.totals.most = of.Rates[len(of.Rates)-1]
		}
	}
	return nil
}

// visiting returns the jobs of all closed chains that visit station i.
func (s *system) visiting(i int) int {
	sum := 0
	for k, d := range s.stations[i].demand {
		if d.Sign() > 0 {
			sum += s.chains[s.closed[k]].population
		}
	}
	return sum
}

// totals is a station whose balance function depends on the total of jobs: with u = Σ_k D_k z_k for the closed chains,
//
//	f(u + ρ) = scale Σ_n u^n / Π_{j <= n} α'(j),   α'(j) = rates[j-1], the last for all greater j,
//
// where α' is α of the model if ρ = 0. Multiplied with a lattice G by Horner's rule all terms are positive, whatever the rates:
// T_{m-1} = G/(1 - u/α'(m)), T_{j-1} = G + (u/α'(j)) T_j, f G = scale T_0. With Delay f(u + ρ) = e^((u + ρ)/delay), and rates is nil. If no closed
// chain visits the station, the mean number of its jobs is ρ/α'(1) = ρ f'(ρ)/f(ρ).
type totals struct {
	delay *big.Rat   // work per unit of time of each server; nil but with Delay
	rates []*big.Rat // α'(1), ..., of which no more are given than matter; nil with Delay
	scale *big.Rat   // f(ρ), 1 if ρ = 0, so that the station is empty with probability 1/f(ρ) if no closed chain visits it; nil with Delay, for which it is e^(ρ/delay)
	alone []*big.Rat // α(1), ..., α(m) of the model, likewise no more than matter; nil with Delay
	most  *big.Rat   // α(n) with as many jobs as can be; nil with Delay
}

// maxFoldedBits bounds the integers that folding open chains into a station takes: their number times their bits, in all.
const maxFoldedBits = 1 << 33

// fold sets rates and scale, given the open load ρ < α(m) and the jobs of closed chains that visit the station.
//
// f(u) = p(u)/(1 - u/a) with a = α(m), p_0 = 1 and p_j = A_j - A_{j-1}/a, A_j = 1/Π_{i <= j} α(i), so that the coefficients of f(u + ρ) = Σ c_j u^j and
// p(u + ρ) = Σ q_j u^j have (1 - ρ/a) c_j = q_j + c_{j-1}/a; then α'(j) = c_{j-1}/c_j, which is a - ρ from m on.
func (t *totals) fold(ctx context.Context, path string, load *big.Rat, jobs int) error {
	if t.delay != nil {
		return nil
	}
	m := len(t.alone)
	t.rates, t.scale = t.alone[:min(m, max(jobs, 1))], big.NewRat(1, 1)
	if load.Sign() == 0 {
		return nil
	}
	a := t.alone[m-1]
	left := new(big.Rat).Sub(a, load)
	if m == 1 {
		t.rates = []*big.Rat{left}
		t.scale.Quo(a, left)
		return nil
	}
	q, err := t.shifted(ctx, path, load, min(m, max(jobs, 1)+1))
	if err != nil {
		return err
	}
	share := new(big.Rat).Quo(left, a) // 1 - ρ/a
	var before *big.Rat
	t.rates = nil
	for j, x := range q {
		if err := ctx.Err(); err != nil {
			return err
		}
		if j > 0 {
			x.Add(x, new(big.Rat).Quo(before, a))
		}
		x.Quo(x, share)
		if j == 0 {
			t.scale = x
		} else {
			t.rates = append(t.rates, new(big.Rat).Quo(before, x))
		}
		before = x
	}
	if len(q) == m {
		t.rates = append(t.rates, left)
	}
	return nil
}

// shifted returns q_0, ..., q_{n-1}, the first coefficients of p(u + ρ), for n <= m. It works on integers: with ρ = x/y, α(i) = r_i/s_i and the common
// denominator d = a Π r_i y^(m-1), p(u/y) is a polynomial of integers over d, which Horner's rule shifts by x.
func (t *totals) shifted(ctx context.Context, path string, load *big.Rat, n int) ([]*big.Rat, error) {
	m := len(t.alone)
	a := t.alone[m-1]
	x, y := load.Num(), load.Denom()
	bits := float64(x.BitLen() + y.BitLen())
	for _, r := range t.alone {
		bits = max(bits, float64(x.BitLen()+y.BitLen()+r.Num().BitLen()+r.Denom().BitLen()))
	}
	if work := float64(m) * float64(m) * bits * float64(n+2); work > maxFoldedBits*8 {
		bad := input.Errorf(path, fmt.Sprintf("%d rates", m), "fewer rates or servers, since open chains are folded into them in fractions of %.0f bits", float64(m)*bits)
		return nil, &num.TooLargeError{Input: bad, Bytes: float64(m) * float64(m) * bits / 8, Limit: maxFoldedBits / 8}
	}
	// A_j Π r_i = Π_{i<=j} s_i Π_{i>j} r_i.
	above := make([]*big.Int, m) // Π_{i>j} r_i for j = 0, ..., m-1: rates i = j+1, ..., m-1 only
	above[m-1] = big.NewInt(1)
	for j := m - 2; j >= 0; j-- {
		above[j] = new(big.Int).Mul(above[j+1], t.alone[j].Num())
	}
	below, power := big.NewInt(1), big.NewInt(1)
	p := make([]*big.Int, m) // of p(u) times a.Num Π r_i
	var before *big.Int
	for j := range m {
		if j > 0 {
			below = new(big.Int).Mul(below, t.alone[j-1].Denom())
		}
		product := new(big.Int).Mul(below, above[j])
		p[j] = new(big.Int).Mul(product, a.Num())
		if j > 0 {
			p[j].Sub(p[j], before.Mul(before, a.Denom()))
		}
		before = product
	}
	for j := m - 1; j >= 0; j-- { // u = z/y: coefficient j times y^(m-1-j)
		p[j].Mul(p[j], power)
		power = new(big.Int).Mul(power, y)
	}
	power.Quo(power, y) // y^(m-1)
	step := new(big.Int)
	for i := range n { // synthetic division by z - x, i times
		for j := m - 2; j >= i; j-- {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			p[j].Add(p[j], step.Mul(p[j+1], x))
		}
	}
	d := new(big.Int).Mul(above[0], a.Num())
	d.Mul(d, power)
	q := make([]*big.Rat, n)
	scale := big.NewInt(1)
	for j := range q { // z - x = y u
		q[j] = new(big.Rat).SetFrac(p[j].Mul(p[j], scale), d)
		scale = new(big.Int).Mul(scale, y)
	}
	return q, nil
}
