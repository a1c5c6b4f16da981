package convolution

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
)

// A Form is a balance function given by its values. Its axes are the kinds of a station.
type Form struct {
	Most    []int
	Balance []*big.Rat // Φ(x) at row Σ_c x_c Π_{d>c} (most_d + 1)
}

// formSum returns the sum of weight(x) Φ(x) w^x over all x of a table that have n_k jobs of each
// closed chain k.
func (t *Tabulation) formSum(ctx context.Context, weight func(x []int) int) (Table, error) {
	form := t.sh.Form
	powers := make([][]arithmetic.Number, len(form.Most))
	for c, most := range form.Most {
		powers[c] = []arithmetic.Number{t.one}
		for n := range most {
			powers[c] = append(powers[c], powers[c][n].Mul(t.work[c]))
		}
	}
	total := t.zeros(ctx)
	box, x := lattice.LastFastest(form.Most), make([]int, len(form.Most))
	n := make([]int, len(t.all))
	for row := 0; ; row++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(n)
		at, inside := 0, true
		for c, a := range t.axis {
			n[a] += x[c]
			at += x[c] * t.most.Stride[a]
			inside = inside && n[a] <= t.most.Limits[a]
		}
		if w := weight(x); inside && w > 0 {
			term := t.one.Rational(form.Balance[row])
			for c, j := range x {
				if j > 0 {
					term = term.Mul(powers[c][j])
				}
			}
			if w > 1 {
				term = term.Mul(t.one.Integer(w))
			}
			total[at] = total[at].Add(term)
		}
		if box.Next(x) < 0 {
			return t.spread(ctx, total)
		}
	}
}
