package whittle

import (
	"context"
	"math/big"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
	"productform/num"
)

// An ExactResult holds the stationary measures of a network, tabulated on a lattice, in rationals.
// The network is not limited to the lattice: Outside holds the part that the tables leave out, and
// every interval allows for it. Results of [StationaryExact] have Outside, hence Z, every π(x) and
// every mean, exactly.
type ExactResult struct {
	Lattice Lattice
	Phi     []*big.Rat // Φ(x) at Lattice.Index(x)
	Weights []*big.Rat // w(x) = Φ(x) Π_i λ_i^x_i, so that π(x) = w(x)/Z

	Inside           *big.Rat            // Σ w(x) over the lattice
	Outside          num.RatInterval     // Σ w(x) over all other states
	Normalization    num.RatInterval     // Z = Σ_x w(x) over all states
	EmptyProbability num.RatInterval     // π(0) = 1/Z
	MassLeftOut      num.RatInterval     // P(X outside the lattice)
	MeanLeftOut      []num.RatInterval   // E[X_i; X outside the lattice], by which truncation lowers the mean
	MeanJobs         []num.RatInterval   // E[X_i]
	Marginals        [][]num.RatInterval // P(X_i = k) in row i, column k, up to the largest in the lattice
	JobsDistribution []num.RatInterval   // P(Σ_i X_i = n), n up to the largest in the lattice
}

// Prob returns π(x) for the state at an index of the lattice.
func (r *ExactResult) Prob(index int) num.RatInterval {
	return between(
		new(big.Rat).Quo(r.Weights[index], r.Normalization.High),
		new(big.Rat).Quo(r.Weights[index], r.Normalization.Low),
	)
}

// StationaryExact returns the stationary measures (3) of n, with the balance function (4) tabulated
// on l, in rational arithmetic: N operations per state, N^2 per state of the border and N^2 2^N for
// the part outside. The rationals grow with Σ x_i: 10^4 states of five classes take about a second.
// It computes the sums outside exactly (package comment), so means and Z do not depend on l.
//
// The error is a *[num.InputError] with the path of the entry out of range, or an
// *[cluster.UnstableError], which wraps [num.ErrUnstable], if (5) fails. n is not modified, but the
// result may share its numbers.
func StationaryExact(ctx context.Context, n *Network, l Lattice) (*ExactResult, error) {
	y, err := newLayout(l, MaxExactStates)
	if err != nil {
		return nil, err
	}
	if err := n.checkOn(ctx, y); err != nil {
		return nil, err
	}
	b, err := BalanceFromRank(ctx, n.Rank, l)
	if err != nil {
		return nil, err
	}
	w, err := weights(ctx, y, n.ArrivalRates, b.Phi)
	if err != nil {
		return nil, err
	}
	mass, jobs, err := outsideOfRank(ctx, n, y, w)
	if err != nil {
		return nil, err
	}
	r := &ExactResult{Lattice: l, Phi: b.Phi, Weights: w}
	r.Outside = between(mass, mass)
	outsideJobs := make([]num.RatInterval, y.Classes)
	for j := range jobs {
		outsideJobs[j] = between(jobs[j], jobs[j])
	}
	if err := r.summarize(ctx, y, outsideJobs); err != nil {
		return nil, err
	}
	return r, nil
}

// StationaryOfBalance returns the stationary measures (3) of the network with the given balance
// function, known on a box. Nothing is known of Φ outside but what the caller promises:
//
//	φ_i(x) >= floor[i] > λ_i  for every x in ℕ^N with x_i > L_i.
//
// Under this promise the network is stable and sums outside the box lie between 0 and the geometric
// sums that the result reports. The cost is O(N^2) a state. For infinitely many servers of rate μ_i
// ([InfiniteServers]), floor[i] = (L_i+1) μ_i. The error is a *[num.InputError].
func StationaryOfBalance(
	ctx context.Context, arrivalRates []*big.Rat, b Balance, floor []*big.Rat,
) (*ExactResult, error) {
	y, err := b.check(ctx)
	if err != nil {
		return nil, err
	}
	if y.Limits == nil {
		return nil, input.Errorf("Balance.Lattice", b.Lattice, "a box")
	}
	if err := checkNumbers("ArrivalRates", arrivalRates, y.Classes, false); err != nil {
		return nil, err
	}
	if err := checkNumbers("floor", floor, y.Classes, true); err != nil {
		return nil, err
	}
	ratios := make([]*big.Rat, y.Classes)
	for i := range ratios {
		if floor[i].Cmp(arrivalRates[i]) <= 0 {
			return nil, input.Errorf(path("floor", i), floor[i].RatString(), "a number > ArrivalRates[%d] = %s",
				i, arrivalRates[i].RatString())
		}
		ratios[i] = new(big.Rat).Quo(arrivalRates[i], floor[i])
	}
	w, err := weights(ctx, y, arrivalRates, b.Phi)
	if err != nil {
		return nil, err
	}
	mass, jobs, err := outsideOfFloor(ctx, y, w, ratios)
	if err != nil {
		return nil, err
	}
	r := &ExactResult{Lattice: b.Lattice, Phi: b.Phi, Weights: w}
	r.Outside = between(new(big.Rat), mass)
	outsideJobs := make([]num.RatInterval, y.Classes)
	for j := range jobs {
		outsideJobs[j] = between(new(big.Rat), jobs[j])
	}
	if err := r.summarize(ctx, y, outsideJobs); err != nil {
		return nil, err
	}
	return r, nil
}

// LocalImbalances returns π(x) φ_i(x) - π(x-e_i) λ_i in row l.Index(x), column i, 0 where x_i = 0:
// the rate at which class-i jobs leave state x less the rate at which they enter it. All are zero
// if prob is the stationary measure of a Whittle network, up to a factor, so weights do as well as
// probabilities. The error is a *[num.InputError].
func LocalImbalances(
	ctx context.Context, l Lattice, arrivalRates []*big.Rat, rates [][]*big.Rat, prob []*big.Rat,
) ([][]*big.Rat, error) {
	y, err := newLayout(l, MaxExactStates)
	if err != nil {
		return nil, err
	}
	if err := checkNumbers("ArrivalRates", arrivalRates, y.Classes, false); err != nil {
		return nil, err
	}
	if err := checkRates(ctx, y, rates); err != nil {
		return nil, err
	}
	if len(prob) != y.States {
		return nil, input.Errorf("prob", len(prob), "%d numbers, one a state", y.States)
	}
	if err := checkNumbers("prob", prob, y.States, false); err != nil {
		return nil, err
	}
	out := make([][]*big.Rat, y.States)
	for w, more := lattice.Walk(y), true; more; more = w.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := make([]*big.Rat, y.Classes)
		for i, v := range w.X {
			row[i] = new(big.Rat)
			if v > 0 {
				row[i].Mul(prob[w.At], rates[w.At][i])
				row[i].Sub(row[i], new(big.Rat).Mul(prob[w.At-w.Drop[i]], arrivalRates[i]))
			}
		}
		out[w.At] = row
	}
	return out, nil
}

// checkOn checks n, that it has as many classes as the lattice, and that it is stable.
func (n *Network) checkOn(ctx context.Context, y lattice.Lattice) error {
	if n != nil && len(n.ArrivalRates) != y.Classes {
		return input.Errorf("ArrivalRates", len(n.ArrivalRates), "%d rates, one per class of the lattice", y.Classes)
	}
	if err := n.Check(ctx); err != nil {
		return err
	}
	return n.stable(ctx)
}

// weights returns w(x) = Φ(x) Π_i λ_i^x_i.
func weights(ctx context.Context, y lattice.Lattice, lambda, phi []*big.Rat) ([]*big.Rat, error) {
	list := make([]*big.Rat, y.States)
	powers := make([]*big.Rat, y.States) // Π_i λ_i^x_i
	powers[0], list[0] = big.NewRat(1, 1), phi[0]
	for w := lattice.Walk(y); w.Next(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		i := ranktable.Members(int(w.Active))[0]
		powers[w.At] = new(big.Rat).Mul(powers[w.At-w.Drop[i]], lambda[i])
		list[w.At] = new(big.Rat).Mul(phi[w.At], powers[w.At])
	}
	return list, nil
}

// summarize fills the sums over states of r from its weights, Outside, and the sums of x_j w(x)
// outside.
func (r *ExactResult) summarize(ctx context.Context, y lattice.Lattice, outsideJobs []num.RatInterval) error {
	zeros := func(n int) []*big.Rat {
		v := make([]*big.Rat, n)
		for k := range v {
			v[k] = new(big.Rat)
		}
		return v
	}
	marginals, total := make([][]*big.Rat, y.Classes), zeros(y.Total+1)
	for i := range marginals {
		marginals[i] = zeros(y.Most(i) + 1)
	}
	for w, more := lattice.Walk(y), true; more; more = w.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, v := range w.X {
			marginals[i][v].Add(marginals[i][v], r.Weights[w.At])
		}
		total[w.Jobs].Add(total[w.Jobs], r.Weights[w.At])
	}
	r.Inside = new(big.Rat)
	for _, v := range total {
		r.Inside.Add(r.Inside, v)
	}
	z := between(new(big.Rat).Add(r.Inside, r.Outside.Low), new(big.Rat).Add(r.Inside, r.Outside.High))
	r.Normalization = z
	r.EmptyProbability = between(new(big.Rat).Inv(z.High), new(big.Rat).Inv(z.Low))
	// Outside/Z = 1 - Inside/Z grows with Outside.
	r.MassLeftOut = between(new(big.Rat).Quo(r.Outside.Low, z.Low), new(big.Rat).Quo(r.Outside.High, z.High))

	for i := range marginals {
		inside := new(big.Rat)
		for k, v := range marginals[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			addMul(inside, big.NewRat(int64(k), 1), v)
		}
		out := outsideJobs[i]
		r.MeanLeftOut = append(r.MeanLeftOut, between(
			new(big.Rat).Quo(out.Low, z.High), new(big.Rat).Quo(out.High, z.Low),
		))
		low, high := new(big.Rat).Add(inside, out.Low), new(big.Rat).Add(inside, out.High)
		r.MeanJobs = append(r.MeanJobs, between(low.Quo(low, z.High), high.Quo(high, z.Low)))

		marginal := make([]num.RatInterval, len(marginals[i]))
		for k, v := range marginals[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			marginal[k] = r.share(v, false)
		}
		r.Marginals = append(r.Marginals, marginal)
	}
	for n, v := range total {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.JobsDistribution = append(r.JobsDistribution, r.share(v, n <= y.Complete()))
	}
	return nil
}

func between(low, high *big.Rat) num.RatInterval { return num.RatInterval{Low: low, High: high} }

// share returns the probability of an event with weight v inside the lattice, and no weight outside
// if complete.
func (r *ExactResult) share(v *big.Rat, complete bool) num.RatInterval {
	low := new(big.Rat).Quo(v, r.Normalization.High)
	if complete {
		return between(low, new(big.Rat).Quo(v, r.Normalization.Low))
	}
	high := new(big.Rat).Add(v, r.Outside.High)
	return between(low, high.Quo(high, r.Normalization.High)) // (v + Outside)/(Inside + Outside) grows with Outside
}
