package whittle

import (
	"context"
	"fmt"
	"math/big"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
	"productform/num"
)

// stationaryExact works like [Stationary] in fractions.
func stationaryExact(ctx context.Context, n *Network, l Lattice, y lattice.Lattice) (*Result, error) {
	b, err := BalanceFromRank(ctx, n.Rank, l)
	if err != nil {
		return nil, err
	}
	w, err := weights(ctx, y, n.ArrivalRates, b.Phi)
	if err != nil {
		return nil, err
	}
	out, err := outsideOfRank(ctx, n, y, w)
	if err != nil {
		return nil, err
	}
	r := &Result{Engine: num.Exact, Lattice: l, phi: b.Phi, fractions: w}
	if err := r.summarize(ctx, y, out, out); err != nil {
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
// sums that the result reports. Each number has bounds, or is a fraction if they are equal. The
// cost is O(N^2) a state. For infinitely many servers of rate μ_i ([InfiniteServers]), floor[i] =
// (L_i+1) μ_i. The error is a *[num.InputError].
func StationaryOfBalance(
	ctx context.Context, arrivalRates []*big.Rat, b Balance, floor []*big.Rat,
) (*Result, error) {
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
	most, err := outsideOfFloor(ctx, y, w, ratios)
	if err != nil {
		return nil, err
	}
	r := &Result{Engine: num.Enclose, Lattice: b.Lattice, phi: b.Phi, fractions: w}
	if err := r.summarize(ctx, y, newOutside(y.Classes), most); err != nil {
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
		return nil, input.Errorf("prob", len(prob), "%d numbers, one per state", y.States)
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
		return input.Errorf("ArrivalRates", fmt.Sprintf("%d rates", len(n.ArrivalRates)),
			"as many rates as the lattice has classes, %d", y.Classes)
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

// summarize fills the sums over states of r from its weights and from lower and upper bounds on the
// sums outside the lattice.
func (r *Result) summarize(ctx context.Context, y lattice.Lattice, least, most *outside) error {
	marginals, total := make([][]*big.Rat, y.Classes), zeros(y.Total+1)
	for i := range marginals {
		marginals[i] = zeros(y.Most(i) + 1)
	}
	for w, more := lattice.Walk(y), true; more; more = w.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, v := range w.X {
			marginals[i][v].Add(marginals[i][v], r.fractions[w.At])
		}
		total[w.Jobs].Add(total[w.Jobs], r.fractions[w.At])
	}
	inside := new(big.Rat)
	for _, v := range total {
		inside.Add(inside, v)
	}
	r.low, r.high = new(big.Rat).Add(inside, least.mass), new(big.Rat).Add(inside, most.mass)
	r.Inside, r.Outside = num.ExactValue(inside), num.Between(least.mass, most.mass)
	r.Normalization = num.Between(r.low, r.high)
	r.EmptyProbability = r.overZ(big.NewRat(1, 1), big.NewRat(1, 1))
	// Outside/Z = 1 - Inside/Z grows with Outside.
	r.MassLeftOut = num.Between(new(big.Rat).Quo(least.mass, r.low), new(big.Rat).Quo(most.mass, r.high))

	for i := range marginals {
		mean := new(big.Rat)
		for k, v := range marginals[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			addMul(mean, big.NewRat(int64(k), 1), v)
		}
		low, high := least.jobs[i], most.jobs[i]
		r.MeanLeftOut = append(r.MeanLeftOut, r.overZ(low, high))
		r.MeanJobs = append(r.MeanJobs, r.overZ(new(big.Rat).Add(mean, low), new(big.Rat).Add(mean, high)))
		marginal, err := r.probabilities(ctx, marginals[i])
		if err != nil {
			return err
		}
		r.Marginals = append(r.Marginals, marginal)
	}
	var err error
	r.JobsDistribution, err = r.probabilities(ctx, total)
	return err
}

// overZ returns a number between low and high, divided by Z.
func (r *Result) overZ(low, high *big.Rat) num.Value {
	return num.Between(new(big.Rat).Quo(low, r.high), new(big.Rat).Quo(high, r.low))
}

// probabilities returns the probabilities of sets of states of the lattice, given their weights.
func (r *Result) probabilities(ctx context.Context, weights []*big.Rat) ([]num.Value, error) {
	list := make([]num.Value, len(weights))
	for k, v := range weights {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list[k] = r.overZ(v, v)
	}
	return list, nil
}
