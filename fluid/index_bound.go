package fluid

import (
	"math"
	"math/big"
)

// maxDominantShare returns the largest Σ_i n_i φ_i d_i of all feasible allocations. With y_i = n_i φ_i d_i it is the
// largest Σ_i y_i with y >= 0 and Σ_i y_i a_ij/d_i <= 1 for every resource j, found by the revised simplex method in
// fractions, which holds the inverse of the J x J basis. The row that gains most in float64 enters if it does gain;
// after a step of length 0, or if none seems to, the first variable that gains, by Bland's rule, so that it ends. At
// the end the prices π >= 0 with Σ_j π_j a_ij/d_i >= 1 for every i prove that no allocation does better.
func (h *holdings) maxDominantShare() *big.Rat {
	n, resources := len(h.need), len(h.need[0])
	one := big.NewRat(1, 1)
	basis := make([]int, resources) // y_i is variable i, the slack of resource j is variable n + j
	value := make([]*big.Rat, resources)
	inverse := make([][]*big.Rat, resources)
	for r := range inverse {
		basis[r], value[r] = n+r, big.NewRat(1, 1)
		inverse[r] = make([]*big.Rat, resources)
		for j := range inverse[r] {
			inverse[r][j] = new(big.Rat)
		}
		inverse[r][r].Set(one)
	}
	unit := make([][]*big.Rat, resources)
	for j := range unit {
		unit[j] = make([]*big.Rat, resources)
		for k := range unit[j] {
			unit[j][k] = new(big.Rat)
		}
		unit[j][j].Set(one)
	}
	rounded := make([][]float64, n)
	for i, need := range h.need {
		rounded[i] = make([]float64, resources)
		for j, a := range need {
			rounded[i][j], _ = a.Float64()
		}
	}
	stuck := false
	for {
		price := make([]*big.Rat, resources)
		for j := range price {
			price[j] = new(big.Rat)
			for r, v := range basis {
				if v < n {
					price[j].Add(price[j], inverse[r][j])
				}
			}
		}
		entering, enter := -1, []*big.Rat(nil)
		if !stuck {
			entering, enter = h.seemsToGain(rounded, price)
		}
		for v := 0; v < n+resources && enter == nil; v++ {
			if v < n && ratDot(price, h.need[v]).Cmp(one) < 0 {
				entering, enter = v, h.need[v]
			} else if v >= n && price[v-n].Sign() < 0 {
				entering, enter = v, unit[v-n]
			}
		}
		if enter == nil {
			break
		}
		step := make([]*big.Rat, resources)
		leave := -1
		var least *big.Rat
		for r := range basis {
			if step[r] = ratDot(inverse[r], enter); step[r].Sign() > 0 {
				ratio := new(big.Rat).Quo(value[r], step[r])
				if leave < 0 || ratio.Cmp(least) < 0 || ratio.Cmp(least) == 0 && basis[r] < basis[leave] {
					leave, least = r, ratio
				}
			}
		}
		if leave < 0 {
			panic("fluid: allocations without limit")
		}
		stuck = least.Sign() == 0
		basis[leave], value[leave] = entering, least
		for j, x := range inverse[leave] {
			inverse[leave][j] = new(big.Rat).Quo(x, step[leave])
		}
		for r := range basis {
			if r == leave || step[r].Sign() == 0 {
				continue
			}
			value[r].Sub(value[r], new(big.Rat).Mul(step[r], least))
			for j, x := range inverse[leave] {
				inverse[r][j].Sub(inverse[r][j], new(big.Rat).Mul(step[r], x))
			}
		}
	}
	sum := new(big.Rat)
	for r, v := range basis {
		if v < n {
			sum.Add(sum, value[r])
		}
	}
	return sum
}

// seemsToGain returns the row i with the least Σ_j π_j a_ij/d_i in float64 and its profile, nil if in truth that sum is
// not below 1.
func (h *holdings) seemsToGain(rounded [][]float64, price []*big.Rat) (int, []*big.Rat) {
	pi := make([]float64, len(price))
	for j, p := range price {
		pi[j], _ = p.Float64()
	}
	least, at := math.Inf(1), 0
	for i, need := range rounded {
		cost := 0.
		for j, a := range need {
			cost += pi[j] * a
		}
		if cost < least {
			least, at = cost, i
		}
	}
	if ratDot(price, h.need[at]).Cmp(big.NewRat(1, 1)) < 0 {
		return at, h.need[at]
	}
	return at, nil
}

// maxSeconds estimates the time that maxDominantShare takes, with some hundred steps: entries of the inverse are ratios
// of determinants, with up to J times the bits of a profile's entries.
func (e *exactProblem) maxSeconds() float64 {
	longest := 0
	for _, need := range e.need {
		for _, a := range need {
			longest = max(longest, a.Num().BitLen()+a.Denom().BitLen())
		}
	}
	r := float64(len(e.need[0]))
	bits := r * float64(longest)
	return 100 * r * r * 3e-11 * bits * bits
}

func ratDot(x, y []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for j, v := range x {
		if v.Sign() != 0 && y[j].Sign() != 0 {
			sum.Add(sum, new(big.Rat).Mul(v, y[j]))
		}
	}
	return sum
}
