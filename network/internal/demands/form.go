package demands

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
)

// A Form is a balance function given by its values. Its axes are the kinds of a station.
type Form struct {
	Most    []int
	Balance []*big.Rat // Φ(x) at row Σ_c x_c Π_{d>c} (most_d + 1)
}

// formSum returns the sum of weight(x) Φ(x) w^x over all x of a table with n_k jobs of each closed chain k.
func (t *Tabulation) formSum(ctx context.Context, weight func(x []int) int) (Table, error) {
	form := t.sh.Form
	powers := make([][]arithmetic.Number, len(form.Most))
	for c, most := range form.Most {
		powers[c] = []arithmetic.Number{t.one}
		for n := range most {
			powers[c] = append(powers[c], powers[c][n].Mul(t.work[c]))
		}
	}
	total := t.zeros()
	x := make([]int, len(form.Most))
	n := make([]int, len(t.most))
	for row := 0; ; row++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(n)
		at, inside := 0, true
		for c, a := range t.axis {
			n[a] += x[c]
			at += x[c] * t.stride[a]
			inside = inside && n[a] <= t.most[a]
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
		if !NextVector(x, form.Most) {
			return t.spread(total), nil
		}
	}
}

// A Violation is a state x and two axes c, d at which rates have no balance property.
type Violation struct {
	State       []int
	C, D        int
	Left, Right *big.Rat // φ_c(x) φ_d(x-e_c) and φ_c(x-e_d) φ_d(x)
	Relative    *big.Rat // |Left - Right| / max(Left, Right)
}

// Integrate returns the balance function Φ(x) = Φ(x-e_c)/φ_c(x), c the first axis with x_c > 0, of rates in the rows of a [Form]; or the worst violation of
// the balance property, the first of several. It takes O(axes²) products a state.
func Integrate(ctx context.Context, most []int, rates [][]*big.Rat) ([]*big.Rat, *Violation, error) {
	stride := Strides(most)
	phi := make([]*big.Rat, len(rates))
	phi[0] = big.NewRat(1, 1)
	x := make([]int, len(most))
	var worst *Violation
	for row := 1; NextVector(x, most); row++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		first := slices.IndexFunc(x, func(n int) bool { return n > 0 })
		phi[row] = new(big.Rat).Quo(phi[row-stride[first]], rates[row][first])
		for c := range x {
			for d := range c {
				if x[c] == 0 || x[d] == 0 {
					continue
				}
				left := new(big.Rat).Mul(rates[row][c], rates[row-stride[c]][d])
				right := new(big.Rat).Mul(rates[row-stride[d]][c], rates[row][d])
				most := left
				if right.Cmp(left) > 0 {
					most = right
				}
				gap := new(big.Rat).Sub(left, right)
				gap.Abs(gap).Quo(gap, most)
				if gap.Sign() > 0 && (worst == nil || gap.Cmp(worst.Relative) > 0) {
					worst = &Violation{slices.Clone(x), c, d, left, right, gap}
				}
			}
		}
	}
	return phi, worst, nil
}
