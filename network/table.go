package network

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// A BalanceError refuses a [Table] of rates without the balance property
//
//	φ_c(x) φ_d(x-e_c) = φ_c(x-e_d) φ_d(x)  where x_c > 0 and x_d > 0
//
// and names the worst violation, the first of several. It wraps a *[num.InputError] with its words.
type BalanceError struct {
	Input       *num.InputError
	Station     int
	State       []int    // x, in the order of Table.Classes
	Classes     [2]int   // c and d, rows of the model's classes
	Left, Right *big.Rat // the two sides
	Relative    *big.Rat // |Left - Right| / max(Left, Right)
}

func (e *BalanceError) Error() string { return e.Input.Error() }

func (e *BalanceError) Unwrap() error { return e.Input }

// tableForm is the balance function of a [Table], its axes in the order of the kinds of a station, one for each class.
type tableForm struct {
	most    []int
	balance []*big.Rat // Φ(x) at row Σ_c x_c Π_{d>c} (most_d + 1)
}

// newTableForm reads the table of station i, of which classes are the visitors in the order of the kinds. The error is a [*BalanceError], or
// ctx.Err() soon after ctx is done. It takes O(kinds²) products a state.
func newTableForm(ctx context.Context, m *Model, i int, classes []int) (*tableForm, error) {
	t := m.Stations[i].Table
	phi := t.Balance
	if phi == nil {
		var err error
		if phi, err = t.integrate(ctx, m, i); err != nil {
			return nil, err
		}
	}
	form := &tableForm{most: make([]int, len(classes)), balance: make([]*big.Rat, len(phi))}
	axis := make([]int, len(t.Classes)) // of the form, by axis of the table
	for a, c := range t.Classes {
		axis[a] = slices.Index(classes, c)
		form.most[axis[a]] = t.Most[a]
	}
	stride := strides(form.most)
	x := make([]int, len(classes))
	for _, v := range phi {
		row := 0
		for a, n := range x {
			row += n * stride[axis[a]]
		}
		form.balance[row] = v
		nextVector(x, t.Most)
	}
	return form, nil
}

// integrate returns Φ(x) = Φ(x-e_c)/φ_c(x), c the first class present, after it has looked at all states and pairs.
func (t *Table) integrate(ctx context.Context, m *Model, i int) ([]*big.Rat, error) {
	stride := strides(t.Most)
	phi := make([]*big.Rat, len(t.Rates))
	phi[0] = big.NewRat(1, 1)
	x := make([]int, len(t.Most))
	worst := BalanceError{Station: i, Relative: new(big.Rat)}
	for row := 1; nextVector(x, t.Most); row++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		first := slices.IndexFunc(x, func(n int) bool { return n > 0 })
		phi[row] = new(big.Rat).Quo(phi[row-stride[first]], t.Rates[row][first])
		for c := range x {
			for d := range c {
				if x[c] == 0 || x[d] == 0 {
					continue
				}
				left := new(big.Rat).Mul(t.Rates[row][c], t.Rates[row-stride[c]][d])
				right := new(big.Rat).Mul(t.Rates[row-stride[d]][c], t.Rates[row][d])
				most := left
				if right.Cmp(left) > 0 {
					most = right
				}
				gap := new(big.Rat).Sub(left, right)
				if gap.Abs(gap).Quo(gap, most).Cmp(worst.Relative) > 0 {
					worst.State, worst.Classes = slices.Clone(x), [2]int{t.Classes[c], t.Classes[d]}
					worst.Left, worst.Right, worst.Relative = left, right, gap
				}
			}
		}
	}
	if worst.Relative.Sign() == 0 {
		return phi, nil
	}
	relative, _ := worst.Relative.Float64()
	worst.Input = input.Errorf(input.Index("stations", i)+".table.rates", "rates without a balance function",
		"φ_c(x) φ_d(x-e_c) = φ_c(x-e_d) φ_d(x) for all classes c, d and numbers of jobs x; for %s and %s at x = %v the sides are %s and %s, %.3g apart, the worst of all",
		input.Quote(m.Classes[worst.Classes[0]].Name), input.Quote(m.Classes[worst.Classes[1]].Name), fmt.Sprint(worst.State), worst.Left.RatString(), worst.Right.RatString(), relative)
	return nil, &worst
}

// tableSum returns the sum of weight(x) Φ(x) w^x over all x of a table with n_k jobs of each closed chain k.
func (t *tabulation) tableSum(ctx context.Context, weight func(x []int) int) (populationTable, error) {
	form := t.sh.table
	powers := make([][]arithmetic.Number, len(form.most))
	for c, most := range form.most {
		powers[c] = []arithmetic.Number{t.one}
		for n := range most {
			powers[c] = append(powers[c], powers[c][n].Mul(t.work[c]))
		}
	}
	total := t.zeros()
	x := make([]int, len(form.most))
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
			term := t.one.Rational(form.balance[row])
			for c, j := range x {
				if j > 0 {
					term = term.Mul(powers[c][j])
				}
			}
			if w > 1 {
				term = term.Mul(t.one.Rational(big.NewRat(int64(w), 1)))
			}
			total[at] = total[at].Add(term)
		}
		if !nextVector(x, form.most) {
			return t.spread(total), nil
		}
	}
}
