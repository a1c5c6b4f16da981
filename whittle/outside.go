package whittle

import (
	"math/big"
)

// A spread says what a unit of weight that enters active set A brings outside the lattice. If the weights
// w(x) of a set of states outside satisfy μ(A(x)) w(x) = inflow + Σ_{i: x_i>0} λ_i w(x-e_i),
// a unit of inflow in x adds V(A) to Σ w and x_j V(A) + U_j(A) to Σ x_j w, with A = A(x):
//
//	(μ(A) - λ(A)) V(A)   = 1 + Σ_{i∉A} λ_i V(A∪{i}),
//	(μ(A) - λ(A)) U_j(A) = λ_j V(A∪{j}) + Σ_{i∉A} λ_i U_j(A∪{i}),  λ(A) = Σ_{i∈A} λ_i.
//
// Both follow from one step: x passes λ_i of its weight to x+e_i, in A or A∪{i}.
type spread struct {
	mass []*big.Rat   // V(A)
	jobs [][]*big.Rat // U_j(A) in row A, column j
}

// newSpread visits the sets from the largest mask down, so that A∪{i} comes before A.
func newSpread(n Network) spread {
	classes := len(n.ArrivalRates)
	lambda := setSums(n.ArrivalRates)
	s := spread{mass: make([]*big.Rat, 1<<classes), jobs: make([][]*big.Rat, 1<<classes)}
	for a := 1<<classes - 1; a > 0; a-- {
		margin := new(big.Rat).Sub(n.Rank[a], lambda[a])
		mass, jobs := big.NewRat(1, 1), make([]*big.Rat, classes)
		for j := range jobs {
			jobs[j] = new(big.Rat)
		}
		for i, rate := range n.ArrivalRates {
			if b := a | 1<<i; b != a {
				addMul(mass, rate, s.mass[b])
				for j := range jobs {
					addMul(jobs[j], rate, s.jobs[b][j])
				}
			}
		}
		s.mass[a] = mass.Quo(mass, margin)
		for j := range jobs {
			addMul(jobs[j], n.ArrivalRates[j], s.mass[a|1<<j])
			jobs[j].Quo(jobs[j], margin)
		}
		s.jobs[a] = jobs
	}
	return s
}

// outsideOfRank returns the sums of w(x) and x_j w(x) over the states outside the lattice, exactly:
// λ_i w(y) flows from each state y of the lattice into each y+e_i outside.
func outsideOfRank(n Network, y layout, weights []*big.Rat) (*big.Rat, []*big.Rat) {
	s := newSpread(n)
	mass, jobs := new(big.Rat), make([]*big.Rat, y.classes)
	for j := range jobs {
		jobs[j] = new(big.Rat)
	}
	for w, more := newWalker(y), true; more; more = w.next() {
		for i, rate := range n.ArrivalRates {
			if !w.leaves(i) {
				continue
			}
			a := w.active | 1<<i
			flow := new(big.Rat).Mul(rate, weights[w.at])
			addMul(mass, flow, s.mass[a])
			for j, v := range w.x {
				if j == i {
					v++
				}
				each := new(big.Rat).Mul(big.NewRat(int64(v), 1), s.mass[a])
				addMul(jobs[j], flow, each.Add(each, s.jobs[a][j]))
			}
		}
	}
	return mass, jobs
}

// outsideOfFloor bounds the sums of w(x) and x_j w(x) over the states outside a box, given r_i = λ_i/η_i < 1 with
// φ_i(x) >= η_i wherever x_i > L_i. There w(x) <= r_i w(x-e_i), so with y = min(x, L) the
// weight of x is at most w(y) Π_i r_i^(x_i-y_i), and the x with the same y form a product of geometric
// sequences over the classes with y_i = L_i.
func outsideOfFloor(y layout, weights, r []*big.Rat) (*big.Rat, []*big.Rat) {
	one := big.NewRat(1, 1)
	mass, jobs := new(big.Rat), make([]*big.Rat, y.classes)
	for j := range jobs {
		jobs[j] = new(big.Rat)
	}
	for w, more := newWalker(y), true; more; more = w.next() {
		sum := big.NewRat(1, 1) // Π_{i: y_i=L_i} 1/(1-r_i)
		for i := range r {
			if w.leaves(i) {
				sum.Quo(sum, new(big.Rat).Sub(one, r[i]))
			}
		}
		beyond := new(big.Rat).Sub(sum, one)
		addMul(mass, weights[w.at], beyond)
		for j, v := range w.x {
			each := new(big.Rat).Mul(big.NewRat(int64(v), 1), beyond)
			if w.leaves(j) { // Σ_k k r^k = r/(1-r)^2 = 1/(1-r) · r/(1-r)
				addMul(each, sum, new(big.Rat).Quo(r[j], new(big.Rat).Sub(one, r[j])))
			}
			addMul(jobs[j], weights[w.at], each)
		}
	}
	return mass, jobs
}

// addMul adds a*b to sum.
func addMul(sum, a, b *big.Rat) {
	sum.Add(sum, new(big.Rat).Mul(a, b))
}
