package fluid

import "math/big"

// maxDominantShare returns the largest Σ_i n_i φ_i d_i of all feasible allocations. With y_i = n_i φ_i d_i it is the
// largest Σ_i y_i with y >= 0 and Σ_i y_i a_ij/d_i <= 1 for every resource j, found by the revised simplex method in
// fractions, which holds the inverse of the J x J basis; by Bland's rule it ends. At the end the prices π >= 0 with Σ_j
// π_j a_ij/d_i >= 1 for every i prove that no allocation does better.
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
		var enter []*big.Rat // the column of the first variable that increases the sum
		entering := 0
		for ; entering < n+resources; entering++ {
			if entering < n && ratDot(price, h.need[entering]).Cmp(one) < 0 {
				enter = h.need[entering]
				break
			}
			if entering >= n && price[entering-n].Sign() < 0 {
				enter = unit[entering-n]
				break
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

func ratDot(x, y []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for j, v := range x {
		if v.Sign() != 0 && y[j].Sign() != 0 {
			sum.Add(sum, new(big.Rat).Mul(v, y[j]))
		}
	}
	return sum
}
