package whittle

import (
	"math/big"

	"productform/internal/ranktable"
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

// Eta returns rates η_i > λ_i with Σ_{i∈A} η_i < μ(A) for every A, a certificate of stability,
//
//	η_i = λ_i + ½ min_{A: i∈A} (μ(A) - Σ_{j∈A} λ_j)/|A|,
//
// those of the appendix of [BC17] (and of Result.Eta in package stability), in O(N 2^N). By Lemma 1,
// Φ(x) <= Π_i η_i^-x_i. The error is that of [StationaryExact].
func Eta(n Network) ([]*big.Rat, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	step := make([]*big.Rat, len(n.ArrivalRates))
	for a, lambda := range setSums(n.ArrivalRates) {
		set := ranktable.Members(a)
		if len(set) == 0 {
			continue
		}
		share := new(big.Rat).Sub(n.Rank[a], lambda)
		share.Quo(share, big.NewRat(int64(2*len(set)), 1))
		for _, i := range set {
			if step[i] == nil || share.Cmp(step[i]) < 0 {
				step[i] = share
			}
		}
	}
	eta := make([]*big.Rat, len(step))
	for i := range eta {
		eta[i] = new(big.Rat).Add(n.ArrivalRates[i], step[i])
	}
	return eta, nil
}

// GeometricBound returns the bound of [BC17], Lemma 1, on the weight outside the lattice: with the η of
// [Eta] and r_i = λ_i/η_i < 1,
//
//	Σ_{x outside} Φ(x) Π_i λ_i^x_i <= Σ_{x outside} Π_i r_i^x_i,
//
// in O(N 2^N) operations and one for each Σ_i L_i or N n, without a table of states. Since Z >= 1, it also
// bounds the probability of being outside. It is closed but coarse; [ExactResult].Outside has the exact sum.
// The error is that of [StationaryExact].
func GeometricBound(n Network, l Lattice) (*big.Rat, error) {
	y, err := newLayout(l, MaxStates)
	if err != nil {
		return nil, err
	}
	if err := n.checkOn(y); err != nil {
		return nil, err
	}
	eta, err := Eta(n)
	if err != nil {
		return nil, err
	}
	one := big.NewRat(1, 1)
	all, ratios := big.NewRat(1, 1), make([]*big.Rat, y.classes)
	for i := range ratios {
		ratios[i] = new(big.Rat).Quo(n.ArrivalRates[i], eta[i])
		all.Quo(all, new(big.Rat).Sub(one, ratios[i]))
	}
	return all.Sub(all, geometricInside(y, ratios)), nil
}

// geometricInside returns the sum of Π_i r_i^x_i over the lattice: a product for a box, the
// complete homogeneous symmetric polynomials of degree 0..n for a simplex.
func geometricInside(y layout, r []*big.Rat) *big.Rat {
	if y.limits == nil {
		level := make([]*big.Rat, y.total+1) // sum over |x| = n with the classes so far
		for n := range level {
			level[n] = new(big.Rat)
		}
		level[0].SetInt64(1)
		for i := range r {
			for n := 1; n < len(level); n++ {
				addMul(level[n], r[i], level[n-1])
			}
		}
		sum := new(big.Rat)
		for _, v := range level {
			sum.Add(sum, v)
		}
		return sum
	}
	product := big.NewRat(1, 1)
	for i, limit := range y.limits {
		sum := big.NewRat(1, 1) // 1 + r (1 + r (...)), L times
		for range limit {
			sum.Mul(sum, r[i])
			sum.Add(sum, big.NewRat(1, 1))
		}
		product.Mul(product, sum)
	}
	return product
}

// addMul adds a*b to sum.
func addMul(sum, a, b *big.Rat) {
	sum.Add(sum, new(big.Rat).Mul(a, b))
}
