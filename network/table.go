package network

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/network/internal/convolution"
	"productform/num"
)

// A TableError rejects a [Table] of rates without the balance property
//
//	φ_c(x) φ_d(x-e_c) = φ_c(x-e_d) φ_d(x)  where x_c > 0 and x_d > 0
//
// and names the worst violation, or the first of several equal ones. It wraps a *[num.InputError]
// with its message.
type TableError struct {
	Input       *num.InputError // path and message
	Station     int             // row of the model's stations
	State       []int           // x, in the order of Table.Classes
	Classes     [2]int          // c and d, rows of the model's classes
	Left, Right *big.Rat        // the two sides
	Relative    *big.Rat        // |Left - Right| / max(Left, Right)
}

func (e *TableError) Error() string { return e.Input.Error() }

func (e *TableError) Unwrap() error { return e.Input }

// newTableForm reads the table of station i; classes are its visitors in the order of the kinds.
// Errors are a [*TableError], and ctx.Err() promptly after ctx is done. It takes O(kinds²)
// products per state.
func newTableForm(ctx context.Context, m *Model, i int, classes []int) (*convolution.Form, error) {
	t := m.Stations[i].Table
	phi := t.Balance
	if phi == nil {
		var err error
		if phi, err = t.integrate(ctx, m, i); err != nil {
			return nil, err
		}
	}
	form := &convolution.Form{Most: make([]int, len(classes)), Balance: make([]*big.Rat, len(phi))}
	axis := make([]int, len(t.Classes)) // axis of the form for each axis of the table
	for a, c := range t.Classes {
		axis[a] = slices.Index(classes, c)
		form.Most[axis[a]] = t.Most[a]
	}
	from, to, x := lattice.LastFastest(t.Most), lattice.LastFastest(form.Most), make([]int, len(classes))
	for _, v := range phi {
		row := 0
		for a, n := range x {
			row += n * to.Stride[axis[a]]
		}
		form.Balance[row] = v
		from.Next(x)
	}
	return form, nil
}

// integrate returns the balance function of the rates of station i.
func (t *Table) integrate(ctx context.Context, m *Model, i int) ([]*big.Rat, error) {
	phi, v, err := lattice.Integrate(ctx, lattice.Walk(lattice.NewTable(t.Most)), t.Rates)
	if err != nil || v.Relative.Sign() == 0 {
		return phi, err
	}
	worst := &TableError{Station: i, State: v.State, Classes: [2]int{t.Classes[v.J], t.Classes[v.I]},
		Left: v.Right, Right: v.Left, Relative: v.Relative}
	relative, _ := v.Relative.Float64()
	worst.Input = input.Errorf(input.Index("stations", i)+".table.rates", "rates without a balance function",
		"φ_c(x) φ_d(x-e_c) = φ_c(x-e_d) φ_d(x) for all classes c, d and numbers of jobs x; for %s and %s at x = %v "+
			"the sides are %s and %s, %.3g apart, the worst of all",
		input.Quote(m.Classes[worst.Classes[0]].Name), input.Quote(m.Classes[worst.Classes[1]].Name), v.State,
		v.Left.RatString(), v.Right.RatString(), relative)
	return nil, worst
}
