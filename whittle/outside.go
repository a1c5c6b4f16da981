package whittle

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
	"productform/internal/ranktable"
	"productform/num"
)

// A unit of weight that enters active set A spreads outside the lattice. If the weights
// w(x) of a set of states outside satisfy μ(A(x)) w(x) = inflow + Σ_{i: x_i>0} λ_i w(x-e_i),
// a unit of inflow in x adds V(A) to Σ w and x_j V(A) + U_j(A) to Σ x_j w, with A = A(x):
//
//	(μ(A) - λ(A)) V(A)   = 1 + Σ_{i∉A} λ_i V(A∪{i}),
//	(μ(A) - λ(A)) U_j(A) = λ_j V(A∪{j}) + Σ_{i∉A} λ_i U_j(A∪{i}),  λ(A) = Σ_{i∈A} λ_i.
//
// Both follow from one step: x passes λ_i of its weight to x+e_i, in A or A∪{i}. V is the adjoint
// of the recursion over sets of active classes, and so is U_j, from another source; see
// [lattice.Recursion].
//
// spreadOf returns V and U_j of a stable network at the bit masks of the sets, in the arithmetic of
// one.
func spreadOf(ctx context.Context, n *Network, one arithmetic.Number) (
	mass []arithmetic.Number, jobs [][]arithmetic.Number, err error,
) {
	r := &lattice.Recursion{
		Lattice: lattice.NewBox(slices.Repeat([]int{1}, len(n.ArrivalRates))),
		Drain:   make([]arithmetic.Number, len(n.Rank)),
	}
	for _, rate := range n.ArrivalRates {
		r.Lambda = append(r.Lambda, one.Rational(rate))
	}
	lambda, err := ranktable.Sums(ctx, n.ArrivalRates)
	if err != nil {
		return nil, nil, err
	}
	for a := 1; a < len(n.Rank); a++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		r.Drain[a] = one.Rational(new(big.Rat).Sub(n.Rank[a], lambda[a]))
	}
	mass, err = r.Down(ctx, func(int) arithmetic.Number { return one })
	if err != nil {
		return nil, nil, err
	}
	for j, rate := range r.Lambda {
		more, err := r.Down(ctx, func(a int) arithmetic.Number { return rate.Mul(mass[a|1<<j]) })
		if err != nil {
			return nil, nil, err
		}
		jobs = append(jobs, more)
	}
	return mass, jobs, nil
}

// An outside holds sums over the states outside the lattice.
type outside struct {
	mass *big.Rat   // Σ w(x)
	jobs []*big.Rat // Σ x_j w(x)
}

func newOutside(classes int) *outside { return &outside{new(big.Rat), zeros(classes)} }

func zeros(n int) []*big.Rat {
	v := make([]*big.Rat, n)
	for k := range v {
		v[k] = new(big.Rat)
	}
	return v
}

// outsideOfRank returns the sums exactly: λ_i w(y) flows from each state y of the lattice into each
// y+e_i outside.
func outsideOfRank(ctx context.Context, n *Network, y lattice.Lattice, weights []*big.Rat) (*outside, error) {
	spreadMass, spreadJobs, err := spreadOf(ctx, n, arithmetic.One(num.Exact, 0))
	if err != nil {
		return nil, err
	}
	out := newOutside(y.Classes)
	for w, more := lattice.Walk(y), true; more; more = w.Next() {
		for i, rate := range n.ArrivalRates {
			if !w.Leaves(i) {
				continue
			}
			a := w.Active | 1<<i
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			flow := new(big.Rat).Mul(rate, weights[w.At])
			addMul(out.mass, flow, spreadMass[a].Exact)
			for j, v := range w.X {
				if j == i {
					v++
				}
				each := new(big.Rat).Mul(big.NewRat(int64(v), 1), spreadMass[a].Exact)
				addMul(out.jobs[j], flow, each.Add(each, spreadJobs[j][a].Exact))
			}
		}
	}
	return out, nil
}

// outsideOfFloor bounds the sums outside a box from above, given r_i = λ_i/η_i < 1 with φ_i(x) >=
// η_i wherever x_i > L_i. There w(x) <= r_i w(x-e_i), so with y = min(x, L) the weight of x is at
// most w(y) Π_i r_i^(x_i-y_i), and the x with the same y form a product of geometric sequences over
// the classes with y_i = L_i.
func outsideOfFloor(ctx context.Context, y lattice.Lattice, weights, r []*big.Rat) (*outside, error) {
	one, out := big.NewRat(1, 1), newOutside(y.Classes)
	for w, more := lattice.Walk(y), true; more; more = w.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum := big.NewRat(1, 1) // Π_{i: y_i=L_i} 1/(1-r_i)
		for i := range r {
			if w.Leaves(i) {
				sum.Quo(sum, new(big.Rat).Sub(one, r[i]))
			}
		}
		beyond := new(big.Rat).Sub(sum, one)
		addMul(out.mass, weights[w.At], beyond)
		for j, v := range w.X {
			each := new(big.Rat).Mul(big.NewRat(int64(v), 1), beyond)
			if w.Leaves(j) { // Σ_k k r^k = r/(1-r)^2 = 1/(1-r) · r/(1-r)
				addMul(each, sum, new(big.Rat).Quo(r[j], new(big.Rat).Sub(one, r[j])))
			}
			addMul(out.jobs[j], weights[w.At], each)
		}
	}
	return out, nil
}

// addMul adds a*b to sum.
func addMul(sum, a, b *big.Rat) {
	sum.Add(sum, new(big.Rat).Mul(a, b))
}
