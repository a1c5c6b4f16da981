package fluid

import (
	"context"
	"math/big"

	"productform/num"
)

// fill returns the dominant share of one job of each row, by progressive filling in fractions: what [filling] does,
// with the same letters. Sums are taken as balanced trees, since their denominators grow: most additions then are of
// short fractions. Without limits at most J rounds, with O(n J) additions and multiplications in all and O(J) divisions a round.
func (e *Profiles) fill(ctx context.Context, speed []*big.Rat) ([]*big.Rat, error) {
	n, resources := len(e.Need), len(e.Need[0])
	share := make([]*big.Rat, n)
	active := make([]int, n)
	rate, frozen := make([]*big.Rat, resources), make([]*big.Rat, resources)
	part := make([][]*big.Rat, n) // n_i speed_i b_ij
	limits := make([]*big.Rat, n) // levels at which rows stop by their limits
	for i := range n {
		active[i] = i
		if l := e.limitOf(i); l != nil {
			limits[i] = new(big.Rat).Quo(l, speed[i])
		}
		flow := new(big.Rat).Mul(e.Count[i], speed[i])
		part[i] = make([]*big.Rat, resources)
		for j, b := range e.Need[i] {
			part[i][j] = new(big.Rat).Mul(flow, b)
		}
	}
	for j := range resources {
		rate[j], frozen[j] = columnSum(part, active, j), new(big.Rat)
	}
	one := big.NewRat(1, 1)
	for len(active) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var level *big.Rat
		sated := -1
		for j := range resources {
			if rate[j].Sign() == 0 {
				continue
			}
			at := new(big.Rat).Sub(one, frozen[j])
			if at.Quo(at, rate[j]); level == nil || at.Cmp(level) < 0 {
				level, sated = at, j // another one at this level follows in the next round
			}
		}
		for _, i := range active {
			if l := limits[i]; l != nil && l.Cmp(level) <= 0 {
				level, sated = l, -1 // others at this level stop with it, resources follow in the next round
			}
		}
		var keep, stop []int
		for _, i := range active {
			if sated >= 0 && e.Need[i][sated].Sign() == 0 || sated < 0 && (limits[i] == nil || limits[i].Cmp(level) != 0) {
				keep = append(keep, i)
				continue
			}
			stop = append(stop, i)
			share[i] = new(big.Rat).Mul(level, speed[i])
		}
		active = keep
		if len(active) == 0 {
			break
		}
		for j := range resources {
			if rate[j].Sign() == 0 {
				continue
			}
			gone := columnSum(part, stop, j)
			rate[j].Sub(rate[j], gone)
			frozen[j].Add(frozen[j], gone.Mul(gone, level))
		}
	}
	return share, nil
}

// columnSum returns Σ x_ij over the rows i.
func columnSum(x [][]*big.Rat, rows []int, j int) *big.Rat {
	terms := make([]*big.Rat, len(rows))
	for k, i := range rows {
		terms[k] = x[i][j]
	}
	return num.SumRats(terms)
}
