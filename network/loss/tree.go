package loss

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
)

// A node is a limit with everything directly below it: classes that no smaller limit binds, and
// smaller limits.
type node struct {
	most             int   // units that fit
	poisson, sources []int // rows of the model's classes
	units            []int // units of each class of the model, counted in units of the tree
	children         []*node
	rows             []int // rows of all classes below
}

// forest returns the trees of the limits. ok is false unless all limits are pairwise nested or
// disjoint.
func (m *Model) forest() (roots []*node, ok bool) {
	bounds := m.bounds()
	slices.SortStableFunc(bounds, func(a, b bound) int { return cmp.Compare(len(a.classes), len(b.classes)) })
	nodes := make([]*node, len(bounds))
	place := make([]*node, len(m.Classes))
	for l, b := range bounds {
		nodes[l] = &node{most: m.mostOf(b), rows: b.classes}
		below := map[*node]bool{}
		for _, k := range b.classes {
			if p := place[k]; p == nil {
				if m.Classes[k].Sources > 0 {
					nodes[l].sources = append(nodes[l].sources, k)
				} else {
					nodes[l].poisson = append(nodes[l].poisson, k)
				}
			} else if !below[p] {
				below[p] = true
				nodes[l].children = append(nodes[l].children, p)
			}
		}
		for p := range below {
			if !contains(b.classes, p.rows) {
				return nil, false
			}
		}
		for _, k := range b.classes {
			place[k] = nodes[l]
		}
	}
	seen := map[*node]bool{}
	for _, p := range place {
		if p != nil && !seen[p] {
			seen[p] = true
			p.divide(m)
			roots = append(roots, p)
		}
	}
	return roots, true
}

// mostOf returns the units of a bound in the model, including units that sources cannot use.
func (m *Model) mostOf(b bound) int { return b.most * m.Classes[b.classes[0]].units() / b.units[0] }

func contains(set, subset []int) bool {
	return !slices.ContainsFunc(subset, func(k int) bool { return !slices.Contains(set, k) })
}

// divide divides the units of a tree by their greatest common divisor.
func (v *node) divide(m *Model) {
	g := 0
	for _, k := range v.rows {
		g = gcd(g, m.Classes[k].units())
	}
	units := make([]int, len(m.Classes))
	for _, k := range v.rows {
		units[k] = m.Classes[k].units() / g
	}
	v.walk(func(w *node) { w.most, w.units = w.most/g, units })
}

// walk calls do for the node and every node below it.
func (v *node) walk(do func(*node)) {
	do(v)
	for _, c := range v.children {
		c.walk(do)
	}
}

// cost returns the number of entries of all arrays of a tree, and of the operations that fill them.
func (v *node) cost() (states, operations float64) {
	v.walk(func(w *node) {
		n, parts := float64(w.most+1), float64(len(w.children)+len(w.sources))
		different := map[int]bool{}
		for _, k := range w.rows {
			different[w.units[k]] = true
		}
		states += n * (1 + 3*parts)
		if parts > 0 {
			states += n * float64(1+2*len(different))
		}
		operations += n*float64(1+len(w.poisson)) + n*n/2*parts*float64(4+2*len(different))
	})
	return states, operations
}

// A view holds the states that a class sees on the way up from a limit: at j units, the weights of
// the completions in which one more job fits and does not fit.
type view struct{ pass, lost []arithmetic.Number }

// A forestRun evaluates trees in the arithmetic of an engine.
type forestRun struct {
	ctx  context.Context
	stop recursion.Cancellation
	m    *Model
	one  arithmetic.Number
	law  map[*node][]arithmetic.Number   // weights of j units in use below a limit
	part map[*node][][]arithmetic.Number // factors of the weights: the Poisson classes, then sources, then children

	total arithmetic.Number // total of the current tree
	// for each class, divided by total: the states seen by arrivals, times N_k for sources
	pass, lost []arithmetic.Number
}

// solveTree sets pass and lost of the classes of a tree and returns its G.
func (f *forestRun) solveTree(root *node) (arithmetic.Number, error) {
	var err error
	if _, err = f.up(root); err != nil {
		return f.one, err
	}
	if f.total, err = f.sum(f.law[root]); err != nil {
		return f.one, err
	}
	law := f.law[root]
	for _, k := range root.poisson {
		fit := root.most - root.units[k]
		if f.pass[k], err = f.sum(law[:fit+1]); err != nil {
			return f.one, err
		}
		if f.lost[k], err = f.sum(law[fit+1:]); err != nil {
			return f.one, err
		}
		f.pass[k], f.lost[k] = f.pass[k].Quo(f.total), f.lost[k].Quo(f.total)
	}
	if len(f.part[root]) == 1 {
		return f.total, nil
	}
	whole := recursion.Fill(&f.stop, f.one, root.most+1)
	views := map[int]view{}
	for _, k := range root.rows {
		b := root.units[k]
		if _, ok := views[b]; ok || slices.Contains(root.poisson, k) {
			continue
		}
		v := view{recursion.Fill(&f.stop, f.one, root.most+1), f.zeros(root.most)}
		for j := max(0, root.most-b+1); j <= root.most; j++ {
			v.pass[j], v.lost[j] = f.one.Zero(), f.one
		}
		views[b] = v
	}
	return f.total, f.down(root, whole, views)
}

// zeros returns zeros for 0, ..., most units, as [recursion.Fill] does.
func (f *forestRun) zeros(most int) []arithmetic.Number {
	return recursion.Fill(&f.stop, f.one.Zero(), most+1)
}

// sum adds the entries of an array.
func (f *forestRun) sum(a []arithmetic.Number) (arithmetic.Number, error) {
	return f.add(len(a), func(j int) arithmetic.Number { return a[j] })
}

// add returns Σ_{j<n} term(j).
func (f *forestRun) add(n int, term func(j int) arithmetic.Number) (arithmetic.Number, error) {
	var sum accumulator[arithmetic.Number]
	for j := range n {
		if j%1024 == 0 || f.one.Exact != nil {
			if err := f.ctx.Err(); err != nil {
				return f.one, err
			}
		}
		sum.add(term(j))
	}
	return sum.value(f.one.Zero()), nil
}

// up returns the weights of a limit and everything below it.
func (f *forestRun) up(v *node) ([]arithmetic.Number, error) {
	poisson, err := f.poisson(v)
	if err != nil {
		return nil, err
	}
	parts := [][]arithmetic.Number{poisson}
	for _, k := range v.sources {
		part, err := f.binomial(k, f.m.Classes[k].Sources, v.units[k], v.most)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	for _, c := range v.children {
		law, err := f.up(c)
		if err != nil {
			return nil, err
		}
		parts = append(parts, law)
	}
	law := parts[0]
	for _, p := range parts[1:] {
		if law, err = convolve(f.ctx, law, p, v.most); err != nil {
			return nil, err
		}
	}
	f.law[v], f.part[v] = law, parts
	return law, nil
}

// poisson returns W(j), j W(j) = Σ_k b_k w_k W(j - b_k), over the Poisson classes directly below a
// limit.
func (f *forestRun) poisson(v *node) ([]arithmetic.Number, error) {
	if len(v.poisson) == 0 {
		return []arithmetic.Number{f.one}, nil
	}
	flow, units := make([]arithmetic.Number, len(v.poisson)), make([]int, len(v.poisson)) // b_k w_k, b_k
	for i, k := range v.poisson {
		units[i] = v.units[k]
		flow[i] = f.one.Integer(units[i]).Mul(f.one.Rational(f.m.Classes[k].work()))
	}
	if f.one.Exact == nil && f.one.Interval.Low == nil {
		return f.poissonWide(flow, units, v.most)
	}
	w := f.zeros(v.most)
	w[0] = f.one
	for j := 1; j <= v.most; j++ {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		for i, b := range units {
			if b <= j {
				w[j] = w[j].Add(flow[i].Mul(w[j-b]))
			}
		}
		w[j] = w[j].Quo(f.one.Integer(j))
	}
	return w, nil
}

// poissonWide is poisson in float64 with exponents. With K classes a step takes K + 1 roundings,
// and less than one for terms omitted from sums, in addition to the error e of b_k w_k; W(j) takes
// at most n = j/min b_k steps, and (1+x)^n - 1 <= r (1 + r) for r = n x <= 1.
func (f *forestRun) poissonWide(flow []arithmetic.Number, units []int, most int) ([]arithmetic.Number, error) {
	worst := 0.0
	for _, x := range flow {
		worst = max(worst, x.Bound)
	}
	step := worst + float64(len(flow)+2)*arithmetic.Roundoff
	out, least := make([]arithmetic.Number, most+1), slices.Min(units)
	out[0] = f.one
	for j := 1; j <= most; j++ {
		if j%1024 == 0 {
			if err := f.ctx.Err(); err != nil {
				return nil, err
			}
		}
		var sum arithmetic.Wide
		for i, b := range units {
			if b <= j {
				sum = sum.Plus(flow[i].Wide.Times(out[j-b].Wide))
			}
		}
		r := step * float64(j/least) * (1 + 4*arithmetic.Roundoff)
		out[j] = arithmetic.FromWide(sum.Over(arithmetic.Wide{F: float64(j)}), r*(1+r)*(1+4*arithmetic.Roundoff))
	}
	return out, nil
}

// binomial returns C(n, x) w_k^x at x b units, up to the largest x that fits. The error is the
// context's.
func (f *forestRun) binomial(k, n, b, most int) ([]arithmetic.Number, error) {
	x := min(n, most/b)
	a := f.zeros(x * b)
	a[0] = f.one
	work := f.one.Rational(f.m.Classes[k].work())
	for i := 1; i <= x; i++ {
		if err := f.stop.After(2 * recursion.BigSteps); err != nil {
			return nil, err
		}
		a[i*b] = a[(i-1)*b].Mul(work).Mul(f.one.Integer(n - i + 1)).Quo(f.one.Integer(i))
	}
	return a, nil
}

// down takes the weights of the completions of j units below a limit, in whole, and the views from
// there, and passes them to the classes below.
func (f *forestRun) down(v *node, whole []arithmetic.Number, views map[int]view) error {
	parts := f.part[v]
	after := make([][]arithmetic.Number, len(parts)+1) // products of the parts with index t and above
	after[len(parts)] = []arithmetic.Number{f.one}
	var err error
	for t := len(parts) - 1; t > 0; t-- {
		if after[t], err = convolve(f.ctx, parts[t], after[t+1], v.most); err != nil {
			return err
		}
	}
	before := parts[0]
	for t := 1; t < len(parts); t++ {
		rest, err := convolve(f.ctx, before, after[t+1], v.most)
		if err != nil {
			return err
		}
		if i := t - 1; i < len(v.sources) {
			err = f.source(v, v.sources[i], rest, views)
		} else {
			err = f.child(v.children[i-len(v.sources)], rest, whole, views)
		}
		if err != nil {
			return err
		}
		if before, err = convolve(f.ctx, before, parts[t], v.most); err != nil {
			return err
		}
	}
	return nil
}

// source computes the states that the sources of a class see, which are those of the system with
// one fewer source.
func (f *forestRun) source(v *node, k int, rest []arithmetic.Number, views map[int]view) error {
	n, b := f.m.Classes[k].Sources, v.units[k]
	law, err := f.binomial(k, n-1, b, v.most)
	if err != nil {
		return err
	}
	var at view
	if at.pass, err = correlate(f.ctx, rest, views[b].pass, len(law)-1); err != nil {
		return err
	}
	if at.lost, err = correlate(f.ctx, rest, views[b].lost, len(law)-1); err != nil {
		return err
	}
	if err := f.setBlocking(k, law, at); err != nil {
		return err
	}
	f.pass[k], f.lost[k] = f.pass[k].Mul(f.one.Integer(n)), f.lost[k].Mul(f.one.Integer(n))
	return nil
}

// child continues with a smaller limit.
func (f *forestRun) child(c *node, rest, whole []arithmetic.Number, views map[int]view) error {
	below, err := correlate(f.ctx, rest, whole, c.most)
	if err != nil {
		return err
	}
	seen := map[int]view{}
	for _, k := range c.rows {
		b := c.units[k]
		if _, ok := seen[b]; ok {
			continue
		}
		var v view
		if v.pass, err = correlate(f.ctx, rest, views[b].pass, c.most); err != nil {
			return err
		}
		if v.lost, err = correlate(f.ctx, rest, views[b].lost, c.most); err != nil {
			return err
		}
		for j := max(0, c.most-b+1); j <= c.most; j++ {
			v.pass[j], v.lost[j] = f.one.Zero(), below[j]
		}
		seen[b] = v
	}
	for _, k := range c.poisson {
		if err := f.setBlocking(k, f.law[c], seen[c.units[k]]); err != nil {
			return err
		}
	}
	return f.down(c, below, seen)
}

// setBlocking sets the blocking of class k from the weights of j units and the view at its limit.
func (f *forestRun) setBlocking(k int, law []arithmetic.Number, at view) (err error) {
	if f.pass[k], err = f.add(len(law), func(j int) arithmetic.Number { return law[j].Mul(at.pass[j]) }); err != nil {
		return err
	}
	if f.lost[k], err = f.add(len(law), func(j int) arithmetic.Number { return law[j].Mul(at.lost[j]) }); err != nil {
		return err
	}
	f.pass[k], f.lost[k] = f.pass[k].Quo(f.total), f.lost[k].Quo(f.total)
	return nil
}

// treeSizeError rejects limits whose arrays need too much memory.
func treeSizeError(states, bytes float64, maxBytes int64) error {
	return &num.TooLargeError{States: states, Bytes: bytes, Limit: maxBytes,
		Input: input.Errorf("", fmt.Sprintf("arrays of %.3g entries, about %.3g GB", states, bytes/1e9),
			"limits whose arrays take at most %.3g GB", float64(maxBytes)/1e9)}
}
