package dispatch

import (
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
)

// SpreadOf sums up values, which it does not change. It takes O(n log n) time.
func SpreadOf(values []float64) Spread { return spread(slices.Clone(values)) }

// Quantiles returns for each level in (0, 1) the smallest of the values that the part level of them do not exceed: value ⌈n level⌉ of the n in
// order. A log is run once, and these are of its jobs, without error; what other jobs would find is another question. There must be
// a value. It takes O(n log n) time and does not change the values.
func Quantiles(values []float64, levels []*big.Rat) ([]float64, error) {
	if len(values) == 0 {
		return nil, input.Errorf("values", "[]", "at least one")
	}
	sorted := slices.Sorted(slices.Values(values))
	quantiles := make([]float64, len(levels))
	for k, level := range levels {
		if level == nil || level.Sign() <= 0 || level.Cmp(big.NewRat(1, 1)) >= 0 {
			return nil, input.Errorf(input.Index("levels", k), fmt.Sprint(level), "a number > 0 and < 1")
		}
		rank := new(big.Int).Mul(level.Num(), big.NewInt(int64(len(sorted))))
		rank.Add(rank, level.Denom()).Sub(rank, big.NewInt(1)).Quo(rank, level.Denom())
		quantiles[k] = sorted[rank.Int64()-1]
	}
	return quantiles, nil
}
