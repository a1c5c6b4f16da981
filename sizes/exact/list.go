package exact

import (
	"context"
	"math/big"
	"slices"
	"sort"

	"productform/internal/input"
	"productform/num"
)

// A List is the distribution of the sizes in a list, each with its frequency there.
type List []*big.Rat

// Check checks that there are sizes, all of them positive.
func (d List) Check() error {
	if len(d) == 0 {
		return input.Errorf("Sizes", "none", "at least one size")
	}
	for _, x := range d {
		if err := checkPositive("Sizes", x); err != nil {
			return err
		}
	}
	return nil
}

// Enclose sums from the largest size down. It takes one sort of the list and four operations per
// size.
func (d List) Enclose(_ context.Context, prec uint) (*Enclosure, error) {
	sorted := slices.Clone(d)
	slices.SortFunc(sorted, (*big.Rat).Cmp)
	n := num.FromInt(int64(len(d)), prec)
	points := make([]Point, len(sorted)+1) // above the first i sizes
	points[len(sorted)] = nothingAbove(num.FromRat(sorted[len(sorted)-1], prec), prec)
	for i := len(sorted) - 1; i >= 0; i-- {
		x, p := num.FromRat(sorted[i], prec), points[i+1]
		power := num.FromInt(1, prec).Quo(n.Mul(x))
		for j := range p.Above {
			points[i].Above[j] = p.Above[j].Add(power)
			power = power.Mul(x)
		}
	}
	at := func(x *big.Rat) Point {
		return points[sort.Search(len(sorted), func(i int) bool { return sorted[i].Cmp(x) > 0 })]
	}
	e := &Enclosure{
		Prec:   prec,
		Low:    points[0],
		High:   points[len(sorted)],
		listed: at,
		low:    sorted[0],
		high:   sorted[len(sorted)-1],
	}
	e.Low.X = num.FromRat(sorted[0], prec)
	return e, nil
}

// Fractions returns the sums over the sizes above x.
func (d List) Fractions(x *big.Rat) (work, tail *big.Rat) {
	n := ratio(1, int64(len(d)))
	work, count := new(big.Rat), int64(0)
	for _, y := range d {
		if y.Cmp(x) > 0 {
			work.Add(work, y)
			count++
		}
	}
	return work.Mul(work, n), n.Mul(n, ratio(count, 1))
}
