package network

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// A ResponseTime holds the requested numbers for the response time R of a closed chain: the time
// that a job spends in a cycle at stations other than those with Delay. Each number lies between
// Low and High.
type ResponseTime struct {
	Quantiles, Tails []num.Value // in the order of the levels and times
}

// ResponseTimes returns quantiles and tails P(R > t) of the response times of the closed chains, by
// index of [Result].Chains; nil for open chains, chains without Delay, and those without a formula.
// There is a formula if jobs make the same visits between delays in each cycle, and these are
//
//   - one visit to a station at which [Delays] knows the delay, or
//   - visits to stations with FCFS and one server that no other class visits. Then no job overtakes
//     another. A job that finds n_j jobs at each station j, with the probability in the network
//     without it, takes Σ_j (n_j + 1) independent stages of rate ν_j = rate/σ, although it meets
//     other numbers of jobs on its way (H. Daduna, "Passage times for overtake-free paths in
//     Gordon-Newell networks", Advances in Applied Probability 14, 1982; F. P. Kelly, P. K.
//     Pollett, "Sojourn times in closed queueing networks", Advances in Applied Probability 15,
//     1983).
//
// It returns the errors of [Delays].
func ResponseTimes(ctx context.Context, m *Model, levels, times []*big.Rat, s Settings) ([]*ResponseTime, error) {
	ask, sys, p, err := prepare(ctx, m, Question{}, s)
	if err != nil {
		return nil, err
	}
	list := make([]*ResponseTime, len(sys.Chains))
	for k, c := range sys.Chains {
		if !c.Closed {
			continue
		}
		path := sys.responsePath(c.Classes)
		if len(path) == 0 {
			continue
		}
		q := DelayQuestion{Station: path[0].station(m), Levels: levels, Times: times}
		d := &delaySolver{ctx: ctx, sys: sys, problem: p, question: q, request: ask}
		switch {
		case len(path) == 1 && m.Stations[q.Station].KnowsDelays():
			list[k], err = visitResponse(ctx, m, q, s, path[0])
		case d.isTandem(path):
			list[k], err = d.tandemResponse(k, path)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// station returns the row of the station that a branch leads to.
func (b Branch) station(m *Model) int { return m.Classes[b.Class].Visits[b.Visit].Station }

// responsePath returns the visits that each job of a closed chain makes in each cycle at stations
// other than those with Delay, one after the other; nil if jobs make different visits, or other
// ones in between.
func (s *system) responsePath(classes []int) []Branch {
	if s.model.Classes[classes[0]].Visits[0].Count != nil {
		return nil // in any order
	}
	g := s.model.newVisitGraph(classes)
	isDelay := func(a int) bool { return s.model.Stations[g.visits[a].station(s.model)].Discipline == Delay }
	entry, served := -1, 0
	for a, next := range g.next {
		if !isDelay(a) {
			served++
			continue
		}
		for _, b := range next {
			switch {
			case isDelay(b) || b == entry:
			case entry >= 0:
				return nil
			default:
				entry = b
			}
		}
	}
	if entry < 0 {
		return nil
	}
	path, at := []Branch{g.visits[entry]}, entry
	for !slices.ContainsFunc(g.next[at], isDelay) {
		if len(g.next[at]) > 1 || len(path) == served {
			return nil
		}
		at = g.next[at][0]
		path = append(path, g.visits[at])
	}
	if len(path) < served || slices.ContainsFunc(g.next[at], func(b int) bool { return !isDelay(b) }) ||
		!s.isOncePerCycle(g, g.first[classes[0]]+s.model.Classes[classes[0]].Reference, entry) {
		return nil
	}
	return path
}

// isOncePerCycle reports whether jobs make the visit entry, the first one after delays, exactly
// once between two visits to the reference. They make it at most once if every route from entry
// back to entry passes the reference, and then exactly once if the mean is 1.
func (s *system) isOncePerCycle(g visitGraph, reference, entry int) bool {
	v := g.visits[entry]
	for _, x := range s.Stations[v.station(s.model)].Visits {
		if x.Class == v.Class && x.Visit == v.Visit && x.Ratio.Cmp(big.NewRat(1, 1)) != 0 {
			return false
		}
	}
	if reference == entry {
		return true
	}
	if s.model.Stations[g.visits[reference].station(s.model)].Discipline != Delay {
		return false // a cycle starts on the way
	}
	next := slices.Clone(g.next)
	next[reference] = nil
	return !reach(make([]bool, len(next)), next, next[entry]...)[entry]
}

// visitResponse returns the response time of a chain whose jobs make one visit.
func visitResponse(ctx context.Context, m *Model, q DelayQuestion, s Settings, at Branch) (*ResponseTime, error) {
	visits, err := Delays(ctx, m, q, s)
	if err != nil {
		return nil, err
	}
	for _, v := range visits {
		if v.Class == at.Class && v.Visit == at.Visit {
			return &ResponseTime{v.Quantiles, v.Tails}, nil
		}
	}
	panic("network: a visit without delays") // Delays returns all visits of the station
}

// isTandem reports whether all stations of a path have FCFS with one server, and no other visits.
func (d *delaySolver) isTandem(path []Branch) bool {
	for _, b := range path {
		i := b.station(d.problem.model)
		st := &d.problem.model.Stations[i]
		if st.Discipline != FCFS || st.Rates != nil || st.Servers > 1 || len(d.sys.Stations[i].Visits) > 1 {
			return false
		}
	}
	return true
}

// tandemResponse returns the response time of a closed chain whose jobs pass the stations of a
// tandem.
func (d *delaySolver) tandemResponse(chain int, path []Branch) (*ResponseTime, error) {
	if err := d.problem.Check(num.Float, 0, d.request.MaxBytes); err != nil {
		return nil, err
	}
	t, q := &tandem{}, new(big.Rat)
	var stations []int
	var rates, demands []*big.Rat
	for _, b := range path {
		i := b.station(d.problem.model)
		st, size := &d.problem.model.Stations[i], d.problem.model.Classes[b.Class].Visits[b.Visit].size()
		rate := new(big.Rat).Quo(num.OrOne(st.Rate), size)
		if rate.Cmp(q) > 0 {
			q = rate
		}
		stations, rates = append(stations, i), append(rates, rate)
		demands = append(demands, new(big.Rat).Inv(rate)) // with one visit per cycle
	}
	rest, err := d.problem.Rest(d.ctx, stations...)
	if err != nil {
		return nil, err
	}
	one := arithmetic.One(num.Float, 0)
	for j, rate := range rates {
		p := new(big.Rat).Quo(rate, q)
		t.stay = append(t.stay, one.Rational(new(big.Rat).Sub(big.NewRat(1, 1), p)).Wide)
		t.leave = append(t.leave, one.Rational(p).Wide)
		t.more = append(t.more, one.Rational(new(big.Rat).Mul(p, demands[j])).Wide)
	}
	if err := t.begin(d, chain, demands, rest); err != nil {
		return nil, err
	}
	r := &ResponseTime{}
	r.Quantiles, r.Tails, err = d.lawTimes(t, new(big.Rat).Inv(q))
	return r, err
}

// A tandem is the response time at stations j = 1, ..., J in a row, at the points of a Poisson
// process of rate q, the largest ν_j. With p_j = ν_j/q, demands D_j = 1/ν_j and R(m) the product of
// all other stations with m jobs of the chain, the response time lasts more than k points with the
// probability S_k(1, 0)/S_0(1, 0), where a job is at station j and has found n jobs so far:
//
//	S_0(j, n) = D_j S_0(j, n+1) + S_0(j+1, n),  S_0(J+1, n) = R(N-1-n),
//	S_{k+1}(j, n) = (1-p_j) S_k(j, n) + p_j (D_j S_k(j, n+1) + S_k(j+1, n)),  S_k(J+1, n) = 0.
//
// A stage lasts a geometric number of points, after which another job may have been found at the
// station, with the factor D_j in the product form, or the job moves on.
type tandem struct {
	stay, leave, more []arithmetic.Wide   // 1-p, p, pD of each station
	now               [][]arithmetic.Wide // S_k, by station and n
	whole             arithmetic.Wide     // S_0(1, 0)
	bound             float64             // on the relative errors of S_0
	tails             []float64
}

// begin sets S_0, given the product of the other stations by population.
func (t *tandem) begin(d *delaySolver, chain int, demands []*big.Rat, rest []arithmetic.Number) error {
	at, axis := len(rest)-1, 0 // the index of all jobs
	stride := 1
	for a := len(d.problem.Order) - 1; a >= 0; a-- {
		if d.sys.Closed[d.problem.Order[a]] == chain {
			axis = a
			break
		}
		stride *= d.problem.Most[a] + 1
	}
	jobs := d.problem.Most[axis]
	sums := make([]arithmetic.Number, jobs) // R(N-1-n)
	for n := range sums {
		sums[n] = rest[at-(n+1)*stride]
	}
	t.now = make([][]arithmetic.Wide, len(demands))
	for j := len(demands) - 1; j >= 0; j-- {
		by := sums[0].Rational(demands[j])
		for n := jobs - 2; n >= 0; n-- {
			sums[n] = sums[n].Add(by.Mul(sums[n+1]))
		}
		for _, x := range sums {
			t.now[j] = append(t.now[j], x.Wide)
			t.bound = max(t.bound, x.Bound)
		}
	}
	if !(t.bound < 1e-3) {
		return num.ErrFloatRange
	}
	t.whole, t.tails = t.now[0][0], []float64{1}
	return d.ctx.Err()
}

// Work returns the number of products of a step.
func (t *tandem) Work() float64 { return 3 * float64(len(t.now)*len(t.now[0])) }

// ExtendTo takes steps until there are n. The error is the context's.
func (t *tandem) ExtendTo(ctx context.Context, n int) error {
	stop := recursion.Cancellation{Ctx: ctx}
	for len(t.tails) <= n {
		if err := stop.After(int(8 * t.Work())); err != nil {
			return err
		}
		for j, row := range t.now { // S_k(j+1, n) is still that of k
			for n, x := range row {
				x = t.stay[j].Times(x)
				if n+1 < len(row) {
					x = x.Plus(t.more[j].Times(row[n+1]))
				}
				if j+1 < len(t.now) {
					x = x.Plus(t.leave[j].Times(t.now[j+1][n]))
				}
				row[n] = x
			}
		}
		t.tails = append(t.tails, t.now[0][0].Over(t.whole).Double())
	}
	return nil
}

// Tails returns the probabilities that the time is longer than 0, 1, ... points, with a bound on
// their relative errors. A step has two roundings in a weight, one in its product and two in sums.
func (t *tandem) Tails() (tails []float64, relative float64) {
	e := arithmetic.Roundings(6*float64(len(t.tails)) + 4)
	return t.tails, arithmetic.Compound(t.bound/(1-t.bound), t.bound, e)
}
