package whittle

import (
	"math/big"

	"productform/internal/input"
	"productform/internal/ranktable"
	"productform/num"
)

// Choose returns a lattice outside which the network is with probability at most tol, 0 < tol < 1:
// the box with the smallest limits L_i such that P(X_i > L_i) <= tol/N for each class, or the simplex
// with the smallest n such that P(Σ_i X_i > n) <= tol, whichever has fewer states. Neither needs a table
// of states. By (4), the weights Q_A(k) of the states with active set A and x_i = k satisfy
//
//	(μ(A) - Σ_{j∈A∖{i}} λ_j) Q_A(k) = Σ_{j∈A∖{i}} λ_j Q_{A∖{j}}(k) + λ_i Q_B(k-1),  B = A if k > 1, A∖{i} if k = 1,
//
// and those with active set A and n jobs, μ(A) Q_A(n) = Σ_{i∈A} λ_i (Q_A(n-1) + Q_{A∖{i}}(n-1)); V(A) of the
// package comment gives what lies beyond. This takes O(N 2^N) a limit, for a total of Σ_i L_i + n; the bound on its
// rounding is allowed for. [StationaryExact] and [Stationary] say what is really left out.
//
// The error is that of Stationary, or an *[cluster.InputError] for a tol that would need more than
// [MaxStates] states.
func Choose(n Network, tol float64) (Lattice, error) {
	if !(tol > 0 && tol < 1) {
		return Lattice{}, input.Errorf("tol", tol, "a number in (0, 1)")
	}
	if err := n.check(); err != nil {
		return Lattice{}, err
	}
	m, err := newFloatModel(n)
	if err != nil {
		return Lattice{}, err
	}
	z := 1.0 // Σ_x w(x): the empty state, and what a unit in it sends to each {i}
	for i, rate := range m.lambda {
		z += rate * m.mass[1<<i]
	}
	limits, left := make([]int, m.classes), MaxStates // left: states a box may still have for each state of the classes so far
	for i := range limits {
		limits[i] = m.limit(n, i, z*tol/float64(m.classes), left)
		left /= limits[i] + 1
	}
	box, simplex := Box(limits...), Simplex(m.classes, m.limitTotal(z*tol))
	inBox, inSimplex := MaxStates+1, simplexStates(m.classes, simplex.Total)
	if left > 0 {
		inBox, _ = box.States()
	}
	switch {
	case min(inBox, inSimplex) > MaxStates:
		return Lattice{}, input.Errorf("tol", tol, "a tolerance that at most %d states meet, such as a larger one", MaxStates)
	case inBox <= inSimplex:
		return box, nil
	}
	return simplex, nil
}

// within reports whether a weight beyond k is at most bound in spite of rounding: both sides err by less than relativeError.
func (m *floatModel) within(weight, bound float64, k int) bool {
	return weight*(1+3*relativeError(m.classes, m.classes*(k+1))) <= bound
}

// limit returns the smallest k such that the weight of {x: x_i > k} is at most bound, or most if that is not below.
func (m *floatModel) limit(n Network, i int, bound float64, most int) int {
	sets := len(m.mass)
	bit := 1 << i
	into := make([]float64, sets*m.classes) // λ_j/(μ(A) - λ(A∖{i})), A not empty
	lambda := setSums(n.ArrivalRates)
	ratio := new(big.Rat)
	for a := 1; a < sets; a++ {
		for j, rate := range n.ArrivalRates {
			ratio.Sub(n.Rank[a], lambda[a&^bit])
			into[a*m.classes+j], _ = ratio.Quo(rate, ratio).Float64()
		}
	}
	q := make([]float64, sets) // Q_A(k); A holds i if and only if k > 0
	q[0] = 1
	m.fill(q, into, i, 0)
	for k := range most {
		var tail num.Sum
		for a := bit; a < sets; a = (a + 1) | bit {
			from := a
			if k == 0 {
				from = a &^ bit
			}
			tail.Add(m.lambda[i] * q[from] * m.mass[a])
		}
		if m.within(tail.Value(), bound, k) {
			return k
		}
		if k == 0 { // the states with x_i = 1 come from those without class i
			for a := bit; a < sets; a = (a + 1) | bit {
				q[a] = q[a&^bit]
			}
		}
		m.fill(q, into, i, bit)
	}
	return most
}

// fill computes Q_A(k) in place for the sets A with A∩{i} = bit, smaller sets first. If bit is not 0, q[A] holds what
// comes from k-1; else k = 0 and q[0] = 1 is given.
func (m *floatModel) fill(q, into []float64, i, bit int) {
	for a := 1; a < len(q); a++ {
		if a&(1<<i) != bit {
			continue
		}
		sum := 0.0
		if bit != 0 {
			sum = into[a*m.classes+i] * q[a]
		}
		for j := range m.classes {
			if j != i && a>>j&1 == 1 {
				sum += into[a*m.classes+j] * q[a&^(1<<j)]
			}
		}
		q[a] = sum
	}
}

// limitTotal returns the smallest n such that the weight of {x: Σ_i x_i > n} is at most bound, or one more than the largest simplex has.
func (m *floatModel) limitTotal(bound float64) int {
	q := make([]float64, len(m.mass)) // Q_A(n)
	q[0] = 1
	for n := 0; ; n++ {
		if simplexStates(m.classes, n) > MaxStates {
			return n
		}
		var tail num.Sum
		for a, v := range q {
			for i, rate := range m.lambda {
				tail.Add(rate * v * m.mass[a|1<<i])
			}
		}
		if m.within(tail.Value(), bound, n) {
			return n
		}
		// From the largest set down, q[A∖{i}] still is that of n.
		for a := len(q) - 1; a > 0; a-- {
			sum := 0.0
			for _, i := range ranktable.Members(a) {
				sum += m.step[a*m.classes+i] * (q[a] + q[a&^(1<<i)])
			}
			q[a] = sum
		}
		q[0] = 0
	}
}
