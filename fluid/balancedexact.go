package fluid

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
)

// Limits of balanced fairness in integers: points of the lattice, and points times 64-bit words of the largest Φ.
const (
	maxExactStates = 1 << 22
	maxExactWords  = 1 << 25
)

// balanced returns the dominant share of one job of each row under balanced fairness, by the recursion over the whole
// lattice of states below the counts; rows with equal profiles are one class, of which every job gets the same. The
// error is an *[input.Error] if the weights differ or the states are too many.
func (e *Profiles) balanced(ctx context.Context) ([]*big.Rat, error) {
	for i, w := range e.Weight {
		if w.Cmp(e.Weight[0]) != 0 {
			return nil, input.Errorf(indexed("jobs", i)+".weight", w.RatString(), WantSameWeight)
		}
	}
	class, first := e.classes()
	counts := make([]int, len(first))
	for i, k := range class {
		counts[k] += int(e.Count[i].Num().Int64())
	}
	needs := make([][]*big.Rat, len(first))
	inverse := make([]*big.Rat, len(first)) // 1/l_k, nil without a limit
	for k, i := range first {
		needs[k] = e.Need[i]
		if l := e.limitOf(i); l != nil {
			inverse[k] = new(big.Rat).Inv(l)
		}
	}
	total, err := balancedTotals(ctx, needs, inverse, counts)
	if err != nil {
		return nil, err
	}
	shares := make([]*big.Rat, len(e.Need))
	for i, k := range class {
		shares[i] = new(big.Rat).Quo(total[k], new(big.Rat).SetInt64(int64(counts[k])))
	}
	return shares, nil
}

// balancedTotals returns Φ(x-e_k)/Φ(x) for counts x_k >= 1 of classes with profiles need[k]. With q_k the common
// denominator of need[k], it computes the integers Φ(y) Π_k q_k^y_k. With limits l_k of the dominant
// share of a job, Φ(y) is at least Φ(y-e_k)/(y_k l_k) too, and the integers are Φ(y) Π_k q_k^y_k y_k!, with which nothing
// is divided; q_k is then common with that of 1/l_k.
func balancedTotals(ctx context.Context, need [][]*big.Rat, inverse []*big.Rat, count []int) ([]*big.Rat, error) {
	if len(need) == 1 {
		total := big.NewRat(1, 1)
		if inverse[0] != nil {
			if most := new(big.Rat).Quo(big.NewRat(int64(count[0]), 1), inverse[0]); most.Cmp(total) < 0 {
				total = most
			}
		}
		return []*big.Rat{total}, nil
	}
	limited := slices.ContainsFunc(inverse, func(x *big.Rat) bool { return x != nil })
	whole, own, scale := make([][]*big.Int, len(need)), make([]*big.Int, len(need)), make([]*big.Int, len(need))
	states, bits := 1.0, 0.0
	stride := make([]int, len(need))
	for k, profile := range need {
		scale[k] = big.NewInt(1)
		for _, a := range profile {
			num.JoinDenominator(scale[k], a)
		}
		if inverse[k] != nil {
			num.JoinDenominator(scale[k], inverse[k])
			own[k] = new(big.Int).Mul(scale[k], inverse[k].Num())
			own[k].Quo(own[k], inverse[k].Denom())
		}
		for _, a := range profile {
			part := new(big.Int).Mul(scale[k], a.Num())
			whole[k] = append(whole[k], part.Quo(part, a.Denom()))
		}
		stride[k] = int(min(states, maxExactStates))
		states *= float64(count[k] + 1)
		if limited {
			bits += float64(count[k]) * math.Log2(float64(count[k]))
		}
		bits += float64(count[k]) * float64(scale[k].BitLen()+big.NewInt(int64(len(need))).BitLen())
	}
	if states > maxExactStates {
		return nil, input.Errorf("jobs", tableOf(states), "at most %d for exact balanced fairness, %s, or choose the engine float or another policy",
			maxExactStates, wantFewerJobs)
	}
	if words := states * (1 + bits/64); words > maxExactWords {
		return nil, input.Errorf("jobs", fmt.Sprintf("a table of %.2g words of 64 bits", words),
			"at most %d for exact balanced fairness: lower the counts, or choose the engine float or another policy", maxExactWords)
	}

	phi := make([]*big.Int, int(states))
	phi[0] = big.NewInt(1)
	position := make([]int, len(need))
	var sum, part, factor big.Int
	for p := 1; p < len(phi); p++ {
		if p%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for k := range position { // count up in mixed radix
			if position[k]++; position[k] <= count[k] {
				break
			}
			position[k] = 0
		}
		phi[p] = new(big.Int)
		for j := range need[0] {
			sum.SetInt64(0)
			for k, y := range position {
				if y > 0 {
					part.Mul(whole[k][j], phi[p-stride[k]])
					if limited {
						part.Mul(&part, factor.SetInt64(int64(y)))
					}
					sum.Add(&sum, &part)
				}
			}
			if sum.Cmp(phi[p]) > 0 {
				phi[p].Set(&sum)
			}
		}
		for k, y := range position {
			if y > 0 && own[k] != nil && part.Mul(own[k], phi[p-stride[k]]).Cmp(phi[p]) > 0 {
				phi[p].Set(&part)
			}
		}
	}
	last := len(phi) - 1
	total := make([]*big.Rat, len(need))
	for k, q := range scale {
		part.Mul(q, phi[last-stride[k]])
		if limited {
			part.Mul(&part, factor.SetInt64(int64(count[k])))
		}
		total[k] = new(big.Rat).SetFrac(&part, phi[last])
	}
	return total, nil
}
