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

// shared is a station with Order or Balanced. Classes that it cannot tell apart, of one closed chain or open ones, are one kind: its jobs are of
// each of its classes with probability w_c/w.
//
// With a rank function or limits the total rate is μ(y), where y_c = min(x_c, m_c) are the numbers of jobs by kind as far as they matter: m_c = 1 for
// rank functions of sets. Let F^y(n) be the sum of Φ(x) Π_c w_c^x_c over all x with these y and n_k jobs of the closed chain k. Then
//
//	F^y(n) (μ(y) - Σ_{open c: y_c = m_c} w_c) = Σ_{closed c: y_c > 0} w_c (F^{y-e_c}(n - e_k(c)) + F^y(n - e_k(c)) 1{y_c = m_c}) + Σ_{open c: y_c > 0} w_c F^{y-e_c}(n)
//
// with F^0(0) = 1, F^0(n) = 0 elsewhere (Bonald, Comte and Mathieu, POMACS 1(2), 2017, for open classes and sets). Only the denominators, in fractions, have
// a subtraction; they are positive if the open load is stable.
type shared struct {
	kinds []kind
	table *tableForm             // in place of μ
	most  []int                  // m_c of each kind
	rate  func(y []int) *big.Rat // μ(y); nil with a table
	much  int                    // so many jobs of a kind are as good as any more
	left  []*big.Rat             // the denominators, at row Σ_c y_c Π_{d>c} (m_d + 1) of y; nil until the station is known to be stable
	nodes []nodeOf               // in step with those of the model
}

// A kind is a set of visits to a station.
type kind struct {
	visits []int    // rows of station.visits
	k      int      // place of the chain in system.closed, -1 if open
	work   *big.Rat // w
}

// A nodeOf is a node as the kinds see it.
type nodeOf struct {
	serves []bool // whether it serves a kind
}

// maxVectors bounds the vectors y of one station.
const maxVectors = 1 << 22

// newShared describes station i, whose visits and loads are known.
func (s *system) newShared(ctx context.Context, i int) (*shared, error) {
	of, st := &s.model.Stations[i], &s.stations[i]
	sh := &shared{}
	switch {
	case of.Nodes != nil:
		sh.group(st, func(v visit) string {
			nodes := slices.Clone(s.model.Classes[v.class].Visits[v.visit].Nodes)
			slices.Sort(nodes)
			return fmt.Sprint(nodes)
		})
	case of.Limits != nil:
		sh.group(st, func(v visit) string {
			var in []int
			for l, limit := range of.Limits {
				if slices.Contains(limit.Classes, v.class) {
					in = append(in, l)
				}
			}
			return fmt.Sprint(in)
		})
	default:
		sh.group(st, func(v visit) string { return fmt.Sprint(v.class) })
	}
	if of.Table != nil {
		var classes []int
		for _, v := range st.visits {
			classes = append(classes, v.class)
		}
		form, err := newTableForm(ctx, s.model, i, classes)
		sh.table = form
		return sh, err
	}
	for _, k := range sh.kinds {
		most := 1
		if of.Limits != nil {
			most = s.saturation(of, st, k)
		}
		sh.most = append(sh.most, most)
	}
	vectors := 1.0
	for _, m := range sh.most {
		vectors *= float64(m + 1)
	}
	if vectors > maxVectors {
		bad := input.Errorf(input.Index("stations", i), fmt.Sprintf("%d kinds of classes", len(sh.kinds)), "at most %d sets or vectors of numbers of classes that it tells apart, not %.0f", maxVectors, vectors)
		return nil, &num.TooLargeError{Input: bad, States: vectors, Bytes: 64 * vectors, Limit: 64 * maxVectors}
	}
	sh.much = 1
	switch {
	case of.Nodes != nil:
		sh.ofNodes(s.model, of, st)
	case of.Limits != nil:
		sh.much = max(of.Servers, 1)
		sh.ofLimits(of, st)
	default:
		sh.ofRank(of, st)
	}
	return sh, nil
}

// group makes the kinds: visits of one role, of one closed chain or all open.
func (sh *shared) group(st *station, role func(v visit) string) {
	of := map[string]int{}
	for row, v := range st.visits {
		key := fmt.Sprint(v.k, " ", role(v))
		i, ok := of[key]
		if !ok {
			i = len(sh.kinds)
			of[key] = i
			sh.kinds = append(sh.kinds, kind{k: v.k, work: new(big.Rat)})
		}
		sh.kinds[i].visits = append(sh.kinds[i].visits, row)
		sh.kinds[i].work = new(big.Rat).Add(sh.kinds[i].work, v.work)
	}
}

// saturation returns the number of jobs of a kind from which on more do not matter: what its limits and servers allow, and no more than there are.
func (s *system) saturation(of *Station, st *station, k kind) int {
	most := max(of.Servers, 1)
	class := st.visits[k.visits[0]].class
	for _, l := range of.Limits {
		if slices.Contains(l.Classes, class) {
			most = min(most, l.Most)
		}
	}
	if k.k >= 0 {
		most = min(most, s.chains[s.closed[k.k]].population)
	}
	return most
}

// vectors calls visit for every y in the order of rows, with its row; y-e_c is Stride[c] rows before.
func (sh *shared) vectors(ctx context.Context, visit func(row int, y []int) error) error {
	y := make([]int, len(sh.most))
	for row := 0; ; row++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(row, y); err != nil {
			return err
		}
		if !nextVector(y, sh.most) {
			return nil
		}
	}
}

// nextVector makes y the next vector up to most, the last number fastest, and is false after the last one.
func nextVector(y, most []int) bool {
	for c := len(y) - 1; c >= 0; c-- {
		if y[c]++; y[c] <= most[c] {
			return true
		}
		y[c] = 0
	}
	return false
}

// strides returns the rows from y-e_c to y, by kind.
func strides(most []int) []int {
	stride := make([]int, len(most))
	step := 1
	for c := len(most) - 1; c >= 0; c-- {
		stride[c] = step
		step *= most[c] + 1
	}
	return stride
}

// ofNodes sets μ(y), the capacity of all nodes that serve a kind with y_c > 0.
func (sh *shared) ofNodes(m *Model, of *Station, st *station) {
	sh.nodes = make([]nodeOf, len(of.Nodes))
	for n := range sh.nodes {
		sh.nodes[n].serves = make([]bool, len(sh.kinds))
	}
	for c, k := range sh.kinds {
		v := st.visits[k.visits[0]]
		for _, n := range m.Classes[v.class].Visits[v.visit].Nodes {
			sh.nodes[n].serves[c] = true
		}
	}
	// Nodes that serve the same kinds are one.
	type group struct {
		serves   []bool
		capacity *big.Rat
	}
	groups := map[string]*group{}
	var order []*group
	for n, node := range of.Nodes {
		key := fmt.Sprint(sh.nodes[n].serves)
		if groups[key] == nil {
			groups[key] = &group{sh.nodes[n].serves, new(big.Rat)}
			order = append(order, groups[key])
		}
		groups[key].capacity.Add(groups[key].capacity, node.Capacity)
	}
	sh.rate = func(y []int) *big.Rat {
		rate := new(big.Rat)
		for _, g := range order {
			for c, n := range y {
				if n > 0 && g.serves[c] {
					rate.Add(rate, g.capacity)
					break
				}
			}
		}
		return rate
	}
}

// ofLimits sets μ(y): with b(L) the bound of a set, the busy servers of it are the least of b(L) and the sum over the largest sets in it and the classes of it in none of
// these; the servers bound the whole.
func (sh *shared) ofLimits(of *Station, st *station) {
	limits := slices.Clone(of.Limits)
	slices.SortStableFunc(limits, func(a, b Limit) int { return len(a.Classes) - len(b.Classes) }) // those inside come first
	first := func(c int) int { return st.visits[sh.kinds[c].visits[0]].class }
	parent := make([]int, len(limits)) // the least set around a limit, len(limits) the station
	for l := range limits {
		parent[l] = len(limits)
		for o := l + 1; o < len(limits); o++ {
			if slices.Contains(limits[o].Classes, limits[l].Classes[0]) {
				parent[l] = o
				break
			}
		}
	}
	home := make([]int, len(sh.kinds)) // the least set that holds a kind
	for c := range home {
		home[c] = slices.IndexFunc(limits, func(l Limit) bool { return slices.Contains(l.Classes, first(c)) })
		if home[c] < 0 {
			home[c] = len(limits)
		}
	}
	rate := num.OrOne(of.Rate)
	busy := make([]int, len(limits)+1)
	sh.rate = func(y []int) *big.Rat {
		clear(busy)
		for c, n := range y {
			busy[home[c]] += n
		}
		for l, limit := range limits {
			busy[parent[l]] += min(busy[l], limit.Most)
		}
		n := min(busy[len(limits)], max(of.Servers, 1))
		return new(big.Rat).Mul(big.NewRat(int64(n), 1), rate)
	}
}

// ofRank sets μ(y) from the table of sets.
func (sh *shared) ofRank(of *Station, st *station) {
	bit := map[int]int{} // of the kind of a class
	for c, k := range sh.kinds {
		bit[st.visits[k.visits[0]].class] = 1 << c
	}
	rates := make([]*big.Rat, 1<<len(sh.kinds))
	rates[0] = new(big.Rat)
	for _, r := range of.Rank {
		mask := 0
		for _, c := range r.Classes {
			mask |= bit[c]
		}
		rates[mask] = r.Rate
	}
	sh.rate = func(y []int) *big.Rat {
		mask := 0
		for c, n := range y {
			if n > 0 {
				mask |= 1 << c
			}
		}
		return rates[mask]
	}
}

// settle sets the denominators of a stable station.
func (sh *shared) settle(ctx context.Context) error {
	return sh.vectors(ctx, func(row int, y []int) error {
		left := new(big.Rat).Set(sh.rate(y))
		for c, k := range sh.kinds {
			if k.k < 0 && y[c] == sh.most[c] {
				left.Sub(left, k.work)
			}
		}
		sh.left = append(sh.left, left)
		return nil
	})
}

// A populationTable is what a station contributes to the product form at each population n <= most of closed chains, at index
// Σ_a n_a Π_{b>a} (most_b + 1): the last axis runs fastest.
type populationTable []arithmetic.Number

// A tabulation computes tables of a station over populations, in one arithmetic. It works on the chains that visit the station, as if the others had no jobs.
type tabulation struct {
	sh     *shared
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

// tabulate computes F^y(n) for all n <= most in the arithmetic of one; axis a is the closed chain axes[a]. It takes
// O(vectors points kinds) operations. settle has found the station stable.
func (sh *shared) tabulate(ctx context.Context, axes, most []int, one arithmetic.Number) (*tabulation, error) {
	t := &tabulation{sh: sh, one: one, zero: one.Zero(), full: most, most: make([]int, len(most)), points: 1}
	for _, k := range sh.kinds {
		a := slices.Index(axes, k.k)
		if k.k < 0 {
			a = -1
		} else {
			t.most[a] = most[a]
		}
		t.axis = append(t.axis, a)
		t.work = append(t.work, one.Rational(k.work))
	}
	for _, n := range t.most {
		t.points *= n + 1
	}
	t.stride = strides(t.most)
	if sh.table != nil {
		return t, nil
	}
	t.vector = strides(sh.most)
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
func (t *tabulation) zeros() []arithmetic.Number {
	x := make([]arithmetic.Number, t.points)
	for i := range x {
		x[i] = t.zero
	}
	return x
}

// sweep computes F^y(n) for all n, or of a marking what [tabulation.jobs] says.
func (t *tabulation) sweep(ctx context.Context, row int, y []int, marked *marking) ([]arithmetic.Number, error) {
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
			full := y[c] == t.sh.most[c]
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
		nextVector(n, t.most)
	}
	return g, nil
}

// A marking is a table of sums weighted by the jobs of one kind.
type marking struct {
	kind int
	f    [][]arithmetic.Number
}

// values returns F(n), the sum of Φ(x) w^x over all x with n_k jobs of each closed chain k.
func (t *tabulation) values(ctx context.Context) (populationTable, error) {
	if t.sh.table != nil {
		return t.tableSum(ctx, func([]int) int { return 1 })
	}
	return t.sum(ctx, t.f, func([]int) bool { return true })
}

// idle returns the sum over the x in which a node serves no job.
func (t *tabulation) idle(ctx context.Context, node int) (populationTable, error) {
	serves := t.sh.nodes[node].serves
	return t.sum(ctx, t.f, func(y []int) bool {
		for c, n := range y {
			if n > 0 && serves[c] {
				return false
			}
		}
		return true
	})
}

// jobs returns the sum of x_c Φ(x) w^x, c a kind. It obeys the recursion of F with w_c F^{y-e_c}, and w_c F^y where y_c = m_c, at n - e_k(c) (open: at n) added on the
// right for c itself, since x_c = (x - e_c)_c + 1.
func (t *tabulation) jobs(ctx context.Context, c int) (populationTable, error) {
	if t.sh.table != nil {
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
func (t *tabulation) sum(ctx context.Context, f [][]arithmetic.Number, wanted func(y []int) bool) (populationTable, error) {
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
func (t *tabulation) spread(x []arithmetic.Number) populationTable {
	if slices.Equal(t.full, t.most) {
		return x
	}
	points := 1
	for _, n := range t.full {
		points *= n + 1
	}
	all := make(populationTable, points)
	for i := range all {
		all[i] = t.zero
	}
	stride := strides(t.full)
	n := make([]int, len(t.most))
	for _, v := range x {
		at := 0
		for a, j := range n {
			at += j * stride[a]
		}
		all[at] = v
		nextVector(n, t.most)
	}
	return all
}
