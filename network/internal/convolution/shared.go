// This file describes a network as the solvers see it, after routing and open chains have been
// resolved: which populations do chains have, and what do jobs demand of each station? It does
// not depend on the model.
//
// On the lattice of the populations of closed chains a station is a series in z_1, ..., z_K. It is
// a series in the single variable u = Σ_k D_k z_k if its total rate depends only on the number of
// jobs ([Totals]), and a table otherwise ([Shared]). All terms of both are positive.

package convolution

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
	"productform/internal/recursion"
)

// MaxVectors is the maximum number of vectors y of one station.
const MaxVectors = 1 << 20

// Shared is a station with Order or Balanced. Classes of one closed chain, or open classes, that
// the station does not distinguish form one kind: a job of the kind has each of its classes with
// probability w_c/w.
//
// With a rank function or limits the total rate is μ(y), where y_c = min(x_c, m_c) are the numbers
// of jobs by kind as far as they affect the rate: m_c = 1 for rank functions of sets. Let F^y(n) be
// the sum of Φ(x) Π_c w_c^x_c over all x that have these y and n_k jobs of the closed chain k. Then
//
//	F^y(n) (μ(y) - Σ_{open c: y_c = m_c} w_c) = Σ_{closed c: y_c > 0} w_c (F^{y-e_c}(n - e_k(c)) +
//	F^y(n - e_k(c)) 1{y_c = m_c}) + Σ_{open c: y_c > 0} w_c F^{y-e_c}(n)
//
// with F^0(0) = 1, F^0(n) = 0 elsewhere (Bonald, Comte and Mathieu, POMACS 1(2), 2017, for open
// classes and sets). Only the denominators, in fractions, have a subtraction; they are positive if
// the open load is stable.
type Shared struct {
	Kinds    []Kind
	Form     *Form                  // replaces μ if not nil
	Most     []int                  // m_c of each kind
	Rate     func(y []int) *big.Rat // μ(y); nil with a table
	CountCap int                    // jobs of a kind above this number do not change μ
	// denominators, at row Σ_c y_c Π_{d>c} (m_d + 1) of y; nil until the station is known to be
	// stable
	left   []*big.Rat
	Serves [][]bool // for each node of the model: whether it serves each kind
}

// A Kind is a set of visits to a station.
type Kind struct {
	Visits []int    // rows of Station.Visits
	K      int      // index of the chain in System.Closed, -1 if open
	Work   *big.Rat // w
}

// vectors calls visit for every y in the order of rows.
func (sh *Shared) vectors(ctx context.Context, visit func(y []int)) error {
	box, y := lattice.LastFastest(sh.Most), make([]int, len(sh.Most))
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		visit(y)
		if box.Next(y) < 0 {
			return nil
		}
	}
}

// Settle computes the denominators of a stable station.
func (sh *Shared) Settle(ctx context.Context) error {
	return sh.vectors(ctx, func(y []int) {
		left := new(big.Rat).Set(sh.Rate(y))
		for c, k := range sh.Kinds {
			if k.K < 0 && y[c] == sh.Most[c] {
				left.Sub(left, k.Work)
			}
		}
		sh.left = append(sh.left, left)
	})
}

// Balance returns Φ(y) for all y <= most, at the index of y in [lattice.NewBox], in the arithmetic
// of one. It takes one addition per kind and vector, and returns the error of the context.
func (sh *Shared) Balance(ctx context.Context, most []int, one arithmetic.Number) ([]arithmetic.Number, error) {
	y := lattice.NewBox(most)
	if sh.Form != nil {
		rows, phi := lattice.LastFastest(sh.Form.Most), make([]arithmetic.Number, y.States)
		for at := range phi {
			phi[at] = one.Rational(sh.Form.Balance[rows.Number(y.Point(at))])
		}
		return phi, ctx.Err()
	}
	rows, matters := lattice.LastFastest(sh.Most), make([]int, len(most))
	rates := make([]*arithmetic.Number, rows.States)
	return lattice.Balance(ctx, y, one, nil, func(w *lattice.Walker) (arithmetic.Number, error) {
		for c, n := range w.X {
			matters[c] = min(n, sh.Most[c])
		}
		rate := &rates[rows.Number(matters)]
		if *rate == nil {
			mu := one.Rational(sh.Rate(matters))
			*rate = &mu
		}
		return **rate, nil
	})
}

// A Table holds the factor of a station in the product form at each population n <= most of closed
// chains, at index Σ_a n_a Π_{b>a} (most_b + 1): the last axis runs fastest.
type Table []arithmetic.Number

// A Tabulation computes tables of a station over populations, in one arithmetic. It uses only the
// chains that visit the station, as if the others had no jobs.
//
// For a chain with one kind here, the populations determine y_c = min(n_k, m_c), so F^y(n) is kept
// only for the vectors of the other kinds, which are called free. For c that is not free,
// F^{y-e_c}(n - e_k) + F^y(n - e_k) 1{y_c = m_c} is the term whose y_c matches n_k - 1; the other
// is 0.
type Tabulation struct {
	sh       *Shared
	one      arithmetic.Number
	zero     arithmetic.Number
	all      []int       // requested populations, by axis
	most     lattice.Box // populations to compute: 0 for chains that do not visit the station
	axis     []int       // axis of each kind; -1 if it is open
	free     []bool
	freeCaps lattice.Box           // rows of f: up to m_c for free kinds, 0 for others
	rows     lattice.Box           // rows of left
	work     []arithmetic.Number   // w of each kind
	left     []arithmetic.Number   // denominators, by row of y
	f        [][]arithmetic.Number // F^y(n), by row of the free kinds and index of n
}

// newTabulation returns a tabulation without its table.
func (sh *Shared) newTabulation(axes, most []int) *Tabulation {
	t := &Tabulation{sh: sh, all: most}
	own, freeCaps := make([]int, len(most)), make([]int, len(sh.Kinds))
	kinds := make([]int, len(most)) // number of kinds on each axis
	for _, k := range sh.Kinds {
		a := -1
		if k.K >= 0 {
			a = slices.Index(axes, k.K)
			own[a] = most[a]
			kinds[a]++
		}
		t.axis = append(t.axis, a)
	}
	for c, a := range t.axis {
		t.free = append(t.free, a < 0 || kinds[a] > 1)
		if t.free[c] && sh.Form == nil {
			freeCaps[c] = sh.Most[c]
		}
	}
	t.most, t.freeCaps = lattice.LastFastest(own), lattice.LastFastest(freeCaps)
	return t
}

// States returns the number of values that Tabulate computes and stores; [Tabulation.Jobs] stores
// as many again.
func (sh *Shared) States(axes, most []int) float64 {
	t := sh.newTabulation(axes, most)
	return lattice.Size(t.most.Limits) * lattice.Size(t.freeCaps.Limits)
}

// Tabulate computes F^y(n) for all n <= most in the arithmetic of one; axis a is the closed chain
// axes[a]. It takes O(kinds) operations for each of [Shared.States]. The caller must have called
// [Shared.Settle].
func (sh *Shared) Tabulate(ctx context.Context, axes, most []int, one arithmetic.Number) (*Tabulation, error) {
	t := sh.newTabulation(axes, most)
	t.one, t.zero = one, one.Zero()
	for _, k := range sh.Kinds {
		t.work = append(t.work, one.Rational(k.Work))
	}
	if sh.Form != nil {
		return t, nil
	}
	t.rows = lattice.LastFastest(sh.Most)
	for _, left := range sh.left {
		t.left = append(t.left, one.Rational(left))
	}
	var err error
	t.f, err = t.sweep(ctx, -1)
	return t, err
}

// zeros returns a table of zeros, as [recursion.Fill] does.
func (t *Tabulation) zeros(ctx context.Context) []arithmetic.Number {
	return recursion.Fill(&recursion.Cancellation{Ctx: ctx}, t.zero, t.most.States)
}

// sweep computes F^y(n) for all free y and n, or, for a marked kind, the sums of [Tabulation.Jobs].
// At the empty station, F is 1 and the number of jobs 0.
func (t *Tabulation) sweep(ctx context.Context, marked int) ([][]arithmetic.Number, error) {
	f := make([][]arithmetic.Number, t.freeCaps.States)
	y, n := make([]int, len(t.axis)), make([]int, len(t.all))
	for row := range f {
		f[row] = t.zeros(ctx)
		for i := range f[row] {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			switch of := t.fit(y, n); {
			case of > 0:
				f[row][i] = t.flow(f, row, i, y, n, marked).Quo(t.left[of])
			case i == 0 && marked < 0:
				f[row][i] = t.one
			}
			t.most.Next(n)
		}
		t.unfit(y)
		t.freeCaps.Next(y)
	}
	return f, nil
}

// fit sets y of the kinds that are not free to match n, and returns the row of y.
func (t *Tabulation) fit(y, n []int) int {
	of := 0
	for c, m := range t.sh.Most {
		if !t.free[c] {
			y[c] = min(n[t.axis[c]], m)
		}
		of += y[c] * t.rows.Stride[c]
	}
	return of
}

// unfit resets them to 0, so y counts only the free kinds.
func (t *Tabulation) unfit(y []int) {
	for c, free := range t.free {
		if !free {
			y[c] = 0
		}
	}
}

// flow returns the right side of the recursion for y and n, whose tables are at row and i of f.
func (t *Tabulation) flow(f [][]arithmetic.Number, row, i int, y, n []int, marked int) arithmetic.Number {
	sum := t.zero
	for c, a := range t.axis {
		if y[c] == 0 || a >= 0 && n[a] == 0 {
			continue
		}
		at, full := i, y[c] == t.sh.Most[c]
		if a >= 0 {
			at -= t.most.Stride[a]
		}
		var term arithmetic.Number
		switch {
		case !t.free[c]:
			term = f[row][at]
		case a >= 0 && full:
			term = f[row-t.freeCaps.Stride[c]][at].Add(f[row][at])
		default:
			term = f[row-t.freeCaps.Stride[c]][at]
		}
		if marked == c {
			switch {
			case !t.free[c]:
				term = term.Add(t.f[row][at])
			case full:
				term = term.Add(t.f[row-t.freeCaps.Stride[c]][at]).Add(t.f[row][at])
			default:
				term = term.Add(t.f[row-t.freeCaps.Stride[c]][at])
			}
		}
		sum = sum.Add(t.work[c].Mul(term))
	}
	return sum
}

// ByJobs calls visit for each number of jobs j = 0, ..., most with F_j(n), the part of
// [Tabulation.Values] from the states with j jobs at the station. Each of these is a state of j-1
// jobs with one more job, so
//
//	F_j^y(n) μ(y) = Σ_{c: y_c > 0} w_c (F_{j-1}^{y-e_c}(n - e_k(c)) + F_{j-1}^y(n - e_k(c)) 1{y_c = m_c}),
//
// with n in place of n - e_k(c) for open c. The station has no table.
func (t *Tabulation) ByJobs(ctx context.Context, most int, visit func(part Table) error) error {
	var rates []arithmetic.Number // μ(y), by row of y
	err := t.sh.vectors(ctx, func(y []int) { rates = append(rates, t.one.Rational(t.sh.Rate(y))) })
	if err != nil {
		return err
	}
	f := make([][]arithmetic.Number, len(t.f))
	for row := range f {
		f[row] = t.zeros(ctx)
	}
	f[0][0] = t.one
	for j := 0; j <= most; j++ {
		if j > 0 {
			if err := t.addJob(ctx, f, rates); err != nil {
				return err
			}
		}
		part, err := t.sum(ctx, f, nil)
		if err != nil {
			return err
		}
		if err := visit(part); err != nil {
			return err
		}
	}
	return nil
}

// addJob turns the sums for j-1 jobs into those for j jobs. It proceeds from the last to the first,
// since each sum needs only itself and earlier sums.
func (t *Tabulation) addJob(ctx context.Context, f [][]arithmetic.Number, rates []arithmetic.Number) error {
	y, n := slices.Clone(t.freeCaps.Limits), slices.Clone(t.most.Limits)
	for row := len(f) - 1; row >= 0; row-- {
		for i := t.most.States - 1; i >= 0; i-- {
			if err := ctx.Err(); err != nil {
				return err
			}
			sum := t.zero
			if of := t.fit(y, n); of > 0 {
				for c := range t.axis {
					sum = sum.Add(t.work[c].Mul(t.withOneLess(f, row, i, y, n, c)))
				}
				sum = sum.Quo(rates[of])
			}
			f[row][i] = sum
			t.most.Back(n)
		}
		t.unfit(y)
		t.freeCaps.Back(y)
	}
	return nil
}

// withOneLess returns the sum over the states that remain when a job of kind c is removed from y
// and n, at row and i of f.
func (t *Tabulation) withOneLess(f [][]arithmetic.Number, row, i int, y, n []int, c int) arithmetic.Number {
	a := t.axis[c]
	switch {
	case y[c] == 0 || a >= 0 && n[a] == 0:
		return t.zero
	case a >= 0:
		i -= t.most.Stride[a]
	}
	switch {
	case !t.free[c]:
		return f[row][i]
	case y[c] == t.sh.Most[c]:
		return f[row-t.freeCaps.Stride[c]][i].Add(f[row][i])
	}
	return f[row-t.freeCaps.Stride[c]][i]
}

// Values returns F(n), the sum of Φ(x) w^x over all x with n_k jobs of each closed chain k.
func (t *Tabulation) Values(ctx context.Context) (Table, error) {
	if t.sh.Form != nil {
		return t.formSum(ctx, func([]int) int { return 1 })
	}
	return t.sum(ctx, t.f, nil)
}

// Idle returns the sum over the x in which a node serves no job.
func (t *Tabulation) Idle(ctx context.Context, node int) (Table, error) {
	serves := t.sh.Serves[node]
	return t.sum(ctx, t.f, func(y []int) bool {
		for c, n := range y {
			if n > 0 && serves[c] {
				return false
			}
		}
		return true
	})
}

// Jobs returns the sum of x_c Φ(x) w^x for a kind c: n_k F(n) if it is the only kind of its chain
// here. Otherwise the sum obeys the recursion of F with an additional term on the right for c
// itself, since x_c = (x - e_c)_c + 1: w_c F^{y-e_c}, plus w_c F^y if y_c = m_c, at n - e_k(c)
// (open: at n).
func (t *Tabulation) Jobs(ctx context.Context, c int) (Table, error) {
	switch {
	case t.sh.Form != nil:
		return t.formSum(ctx, func(x []int) int { return x[c] })
	case t.free[c]:
		f, err := t.sweep(ctx, c)
		if err != nil {
			return nil, err
		}
		return t.sum(ctx, f, nil)
	}
	total, err := t.total(ctx, t.f, nil)
	if err != nil {
		return nil, err
	}
	count := make([]arithmetic.Number, t.most.Limits[t.axis[c]]+1)
	for j := range count {
		count[j] = t.one.Integer(j)
	}
	n := make([]int, len(t.all))
	for i := range total {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		total[i] = total[i].Mul(count[n[t.axis[c]]])
		t.most.Next(n)
	}
	return t.spread(ctx, total)
}

// sum is total for the populations of all chains.
func (t *Tabulation) sum(ctx context.Context, f [][]arithmetic.Number, wanted func(y []int) bool) (Table, error) {
	total, err := t.total(ctx, f, wanted)
	if err != nil {
		return nil, err
	}
	return t.spread(ctx, total)
}

// total adds the tables of the given vectors y, or of all if that is nil.
func (t *Tabulation) total(
	ctx context.Context, f [][]arithmetic.Number, wanted func(y []int) bool,
) ([]arithmetic.Number, error) {
	total := t.zeros(ctx)
	y, n := make([]int, len(t.axis)), make([]int, len(t.all))
	for _, row := range f {
		for i, x := range row {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if wanted == nil {
				total[i] = total[i].Add(x)
				continue
			}
			t.fit(y, n)
			if wanted(y) {
				total[i] = total[i].Add(x)
			}
			t.most.Next(n)
		}
		t.unfit(y)
		t.freeCaps.Next(y)
	}
	return total, nil
}

// spread copies a table of the chains that visit the station into a table of all chains, which is 0
// if other chains have jobs.
func (t *Tabulation) spread(ctx context.Context, x []arithmetic.Number) (Table, error) {
	if slices.Equal(t.all, t.most.Limits) {
		return x, nil
	}
	to := lattice.LastFastest(t.all)
	stop := recursion.Cancellation{Ctx: ctx}
	all := Table(recursion.Fill(&stop, t.zero, to.States))
	n := make([]int, len(t.all))
	for _, v := range x {
		if err := stop.After(16); err != nil {
			return nil, err
		}
		all[to.Number(n)] = v
		t.most.Next(n)
	}
	return all, stop.Ctx.Err()
}
