package fluid

import (
	"context"
	"fmt"
	"math/big"

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
	for k, i := range first {
		needs[k] = e.Need[i]
	}
	total, err := balancedTotals(ctx, needs, counts)
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
// denominator of need[k], it computes the integers Φ(y) Π_k q_k^y_k.
func balancedTotals(ctx context.Context, need [][]*big.Rat, count []int) ([]*big.Rat, error) {
	if len(need) == 1 {
		return []*big.Rat{big.NewRat(1, 1)}, nil
	}
	whole, scale := make([][]*big.Int, len(need)), make([]*big.Int, len(need))
	states, bits := 1.0, 0.0
	stride := make([]int, len(need))
	for k, profile := range need {
		scale[k] = big.NewInt(1)
		for _, a := range profile {
			num.JoinDenominator(scale[k], a)
		}
		for _, a := range profile {
			part := new(big.Int).Mul(scale[k], a.Num())
			whole[k] = append(whole[k], part.Quo(part, a.Denom()))
		}
		stride[k] = int(min(states, maxExactStates))
		states *= float64(count[k] + 1)
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
	var sum, part big.Int
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
					sum.Add(&sum, part.Mul(whole[k][j], phi[p-stride[k]]))
				}
			}
			if sum.Cmp(phi[p]) > 0 {
				phi[p].Set(&sum)
			}
		}
	}
	last := len(phi) - 1
	total := make([]*big.Rat, len(need))
	for k, q := range scale {
		total[k] = new(big.Rat).SetFrac(part.Mul(q, phi[last-stride[k]]), phi[last])
	}
	return total, nil
}
