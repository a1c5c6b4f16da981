package demands

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
)

// MaxVectors bounds the vectors y of one station.
const MaxVectors = 1 << 22

// Shared is a station with Order or Balanced. Classes that it cannot tell apart, of one closed chain or open ones, are one kind: its jobs are of
// each of its classes with probability w_c/w.
//
// With a rank function or limits the total rate is μ(y), where y_c = min(x_c, m_c) are the numbers of jobs by kind as far as they matter: m_c = 1 for
// rank functions of sets. Let F^y(n) be the sum of Φ(x) Π_c w_c^x_c over all x with these y and n_k jobs of the closed chain k. Then
//
//	F^y(n) (μ(y) - Σ_{open c: y_c = m_c} w_c) = Σ_{closed c: y_c > 0} w_c (F^{y-e_c}(n - e_k(c)) + F^y(n - e_k(c)) 1{y_c = m_c}) + Σ_{open c: y_c > 0} w_c F^{y-e_c}(n)
//
// with F^0(0) = 1, F^0(n) = 0 elsewhere (Bonald, Comte and Mathieu, POMACS 1(2), 2017, for open classes and sets). Only the denominators, in fractions, have
// a subtraction; they are positive if the open load is stable.
type Shared struct {
	Kinds  []Kind
	Form   *Form                  // in place of μ
	Most   []int                  // m_c of each kind
	Rate   func(y []int) *big.Rat // μ(y); nil with a table
	Much   int                    // so many jobs of a kind are as good as any more
	left   []*big.Rat             // the denominators, at row Σ_c y_c Π_{d>c} (m_d + 1) of y; nil until the station is known to be stable
	Serves [][]bool               // of each node of the model: whether it serves a kind
}

// A Kind is a set of visits to a station.
type Kind struct {
	Visits []int    // rows of Station.Visits
	K      int      // place of the chain in System.Closed, -1 if open
	Work   *big.Rat // w
}

// vectors calls visit for every y in the order of rows, with its row; y-e_c is Stride[c] rows before.
func (sh *Shared) vectors(ctx context.Context, visit func(row int, y []int) error) error {
	y := make([]int, len(sh.Most))
	for row := 0; ; row++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(row, y); err != nil {
			return err
		}
		if !NextVector(y, sh.Most) {
			return nil
		}
	}
}

// NextVector makes y the next vector up to most, the last number fastest, and is false after the last one.
func NextVector(y, most []int) bool {
	for c := len(y) - 1; c >= 0; c-- {
		if y[c]++; y[c] <= most[c] {
			return true
		}
		y[c] = 0
	}
	return false
}

// Strides returns the rows from y-e_c to y, by kind.
func Strides(most []int) []int {
	stride := make([]int, len(most))
	step := 1
	for c := len(most) - 1; c >= 0; c-- {
		stride[c] = step
		step *= most[c] + 1
	}
	return stride
}

// Settle sets the denominators of a stable station.
func (sh *Shared) Settle(ctx context.Context) error {
	return sh.vectors(ctx, func(row int, y []int) error {
		left := new(big.Rat).Set(sh.Rate(y))
		for c, k := range sh.Kinds {
			if k.K < 0 && y[c] == sh.Most[c] {
				left.Sub(left, k.Work)
			}
		}
		sh.left = append(sh.left, left)
		return nil
	})
}

// A Table is what a station contributes to the product form at each population n <= most of closed chains, at index
// Σ_a n_a Π_{b>a} (most_b + 1): the last axis runs fastest.
type Table []arithmetic.Number

// A Tabulation computes tables of a station over populations, in one arithmetic. It works on the chains that visit the station, as if the others had no jobs.
type Tabulation struct {
	sh     *Shared
	one    arithmetic.Number
	zero   arithmetic.Number
	full   []int // the populations asked for, by axis
	most   []int // those worked on: 0 for chains that do not visit the station
	points int
	stride []int                 // by axis
	axis   []int                 // of each kind; -1 if it is open
	work   []arithmetic.Number   // w of each kind
	left   []arithmetic.Number   // denominators, by row of y
	vector []int                 // rows between y-e_c and y
	f      [][]arithmetic.Number // F^y(n), by row of y and index of n
}

// Tabulate computes F^y(n) for all n <= most in the arithmetic of one; axis a is the closed chain axes[a]. It takes
// O(vectors points kinds) operations. [Shared.Settle] has been called.
func (sh *Shared) Tabulate(ctx context.Context, axes, most []int, one arithmetic.Number) (*Tabulation, error) {
	t := &Tabulation{sh: sh, one: one, zero: one.Zero(), full: most, most: make([]int, len(most)), points: 1}
	for _, k := range sh.Kinds {
		a := slices.Index(axes, k.K)
		if k.K < 0 {
			a = -1
		} else {
			t.most[a] = most[a]
		}
		t.axis = append(t.axis, a)
		t.work = append(t.work, one.Rational(k.Work))
	}
	for _, n := range t.most {
		t.points *= n + 1
	}
	t.stride = Strides(t.most)
	if sh.Form != nil {
		return t, nil
	}
	t.vector = Strides(sh.Most)
	for row, left := range sh.left {
		if row == 0 {
			left = big.NewRat(1, 1)
		}
		t.left = append(t.left, one.Rational(left))
	}
	t.f = make([][]arithmetic.Number, len(sh.left))
	t.f[0] = t.zeros()
	t.f[0][0] = one
	return t, sh.vectors(ctx, func(row int, y []int) error {
		if row == 0 {
			return nil
		}
		var err error
		t.f[row], err = t.sweep(ctx, row, y, nil)
		return err
	})
}

// zeros returns a table of zeros.
func (t *Tabulation) zeros() []arithmetic.Number {
	x := make([]arithmetic.Number, t.points)
	for i := range x {
		x[i] = t.zero
	}
	return x
}

// sweep computes F^y(n) for all n, or of a marking what [Tabulation.Jobs] says.
func (t *Tabulation) sweep(ctx context.Context, row int, y []int, marked *marking) ([]arithmetic.Number, error) {
	f := t.f
	if marked != nil {
		f = marked.f
	}
	g := make([]arithmetic.Number, t.points)
	n := make([]int, len(t.most))
	for i := range g {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum := t.zero
		for c, a := range t.axis {
			at := i
			if y[c] == 0 || a >= 0 && n[a] == 0 {
				continue
			}
			if a >= 0 {
				at -= t.stride[a]
			}
			before := row - t.vector[c]
			full := y[c] == t.sh.Most[c]
			term := f[before][at]
			if full && a >= 0 {
				term = term.Add(g[at])
			}
			if marked != nil && marked.kind == c {
				term = term.Add(t.f[before][at])
				if full {
					term = term.Add(t.f[row][at])
				}
			}
			sum = sum.Add(t.work[c].Mul(term))
		}
		g[i] = sum.Quo(t.left[row])
		NextVector(n, t.most)
	}
	return g, nil
}

// A marking is a table of sums weighted by the jobs of one kind.
type marking struct {
	kind int
	f    [][]arithmetic.Number
}

// Values returns F(n), the sum of Φ(x) w^x over all x with n_k jobs of each closed chain k.
func (t *Tabulation) Values(ctx context.Context) (Table, error) {
	if t.sh.Form != nil {
		return t.tableSum(ctx, func([]int) int { return 1 })
	}
	return t.sum(ctx, t.f, func([]int) bool { return true })
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

// Jobs returns the sum of x_c Φ(x) w^x, c a kind. It obeys the recursion of F with w_c F^{y-e_c}, and w_c F^y where y_c = m_c, at n - e_k(c) (open: at n) added on the
// right for c itself, since x_c = (x - e_c)_c + 1.
func (t *Tabulation) Jobs(ctx context.Context, c int) (Table, error) {
	if t.sh.Form != nil {
		return t.tableSum(ctx, func(x []int) int { return x[c] })
	}
	marked := &marking{kind: c, f: make([][]arithmetic.Number, len(t.f))}
	marked.f[0] = t.zeros()
	err := t.sh.vectors(ctx, func(row int, y []int) error {
		if row == 0 {
			return nil
		}
		var err error
		marked.f[row], err = t.sweep(ctx, row, y, marked)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.sum(ctx, marked.f, func([]int) bool { return true })
}

// sum adds the tables of the vectors y that are wanted.
func (t *Tabulation) sum(ctx context.Context, f [][]arithmetic.Number, wanted func(y []int) bool) (Table, error) {
	total := t.zeros()
	err := t.sh.vectors(ctx, func(row int, y []int) error {
		if wanted(y) {
			for i, x := range f[row] {
				total[i] = total[i].Add(x)
			}
		}
		return nil
	})
	return t.spread(total), err
}

// spread puts a table of the chains that visit the station among those of all: 0 where others have jobs.
func (t *Tabulation) spread(x []arithmetic.Number) Table {
	if slices.Equal(t.full, t.most) {
		return x
	}
	points := 1
	for _, n := range t.full {
		points *= n + 1
	}
	all := make(Table, points)
	for i := range all {
		all[i] = t.zero
	}
	stride := Strides(t.full)
	n := make([]int, len(t.most))
	for _, v := range x {
		at := 0
		for a, j := range n {
			at += j * stride[a]
		}
		all[at] = v
		NextVector(n, t.most)
	}
	return all
}
