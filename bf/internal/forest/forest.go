package forest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// A Forest is a cluster whose servers form a tree, with classes of one or two servers. Each edge e
// has two directions, 2e from its first end to its second and 2e+1 back. With all times on the far
// side of direction d = (s -> t) except T_s integrated out,
//
//	F_d(x) = e^{-κ_d x} q_d(x),  R_d(x) = ∫_x^∞ F_d = e^{-κ_d x} r_d(x),
//	M_d(x) = ∫ F_d(y) e^{λ min(x,y)} dy = e^{g_d x} m_d(x),
//
// where q_d is the product of the m of the other directions into s, κ_d = C_s - λ_s minus their g,
// and M' = λ e^{λx} R, so g_d = max(0, λ - κ_d). Each κ_d is the smallest slack C(K) - λ(K) of the
// connected sets K with s on this side, positive if the cluster is stable; the factors C_s are
// applied at the end. q, r and m are positive and vary on the scale of their argument.
type Forest struct {
	capacity []float64
	own      []float64 // λ_s, total rate of the classes with only this server
	edges    []edge
	classes  []place
	into     [][]int   // directions into each server
	terms    []int     // classes and edges of each server
	exact    bool      // sums of capacities and rates are exact
	order    []int     // servers, the root last
	parent   []int     // direction from each server towards the root; -1 for the root
	decay    []float64 // κ of each direction
	growth   []float64 // g
	slack    float64   // lower bound on all κ
	inexact  float64   // bound on the error of each κ, given the exponents it is computed from
}

// An edge joins two servers that share classes.
type edge struct {
	ends [2]int
	rate float64
}

// A place is the edge or server where a class is served.
type place struct {
	rate   float64
	shared bool // by the two servers of edge at; otherwise only by server at
	at     int
}

// entry returns the entry of a class among those of edges and servers.
func entry[T any](p place, edges, servers []T) T {
	if p.shared {
		return edges[p.at]
	}
	return servers[p.at]
}

// source returns the server that direction d leads from.
func (f *Forest) source(d int) int { return f.edges[d/2].ends[d%2] }

// prepare finds directions, an order with the given server last, and exponents. The error wraps
// [num.ErrUnstable], or is a [*ToleranceError] if rounding hides the sign of the slack.
func (f *Forest) prepare(root int, tolerance float64) error {
	n := len(f.capacity)
	f.into = make([][]int, n)
	for e, k := range f.edges {
		f.into[k.ends[1]] = append(f.into[k.ends[1]], 2*e)
		f.into[k.ends[0]] = append(f.into[k.ends[0]], 2*e+1)
	}
	f.parent = make([]int, n)
	f.order = append(make([]int, 0, n), root)
	f.parent[root] = -1
	for k := 0; k < len(f.order); k++ {
		s := f.order[k]
		for _, d := range f.into[s] {
			if d^1 != f.parent[s] {
				f.parent[f.source(d)] = d
				f.order = append(f.order, f.source(d))
			}
		}
	}
	slices.Reverse(f.order)
	f.decay, f.growth = make([]float64, 2*len(f.edges)), make([]float64, 2*len(f.edges))
	f.slack = math.Inf(1)
	for _, s := range f.order[:n-1] {
		f.exponents(s, f.parent[s])
	}
	for _, s := range slices.Backward(f.order) {
		for _, d := range f.into[s] {
			if d^1 != f.parent[s] {
				f.exponents(s, d^1)
			}
		}
	}
	f.slack = min(f.slack, f.total(root))
	return f.round(tolerance)
}

// round bounds the rounding errors of the exponents. They are 0 if all numbers are multiples of a
// power of two with a sum below 2^53 times it. Otherwise each κ of server s is a sum with 3 more
// terms than s has edges and classes.
func (f *Forest) round(tolerance float64) error {
	if f.exact {
		if f.slack <= 0 {
			return fmt.Errorf("a set of servers has slack %v: %w", f.slack, num.ErrUnstable)
		}
		return nil
	}
	off := 0.0
	for s := range f.capacity {
		x := 2 * u * float64(f.terms[s]+3) * f.incidentRates(s)
		f.inexact = max(f.inexact, 2*x)
		off += 2 * x
	}
	switch {
	case f.slack <= -off:
		return fmt.Errorf("a set of servers has slack %v: %w", f.slack, num.ErrUnstable)
	case f.slack <= 2*off:
		return &ToleranceError{tolerance, math.Inf(1)}
	}
	f.slack -= off
	return nil
}

// incidentRates returns the sum of C_s and the rates of all classes of s.
func (f *Forest) incidentRates(s int) float64 {
	sum := f.capacity[s] + f.own[s]
	for _, d := range f.into[s] {
		sum += f.edges[d/2].rate
	}
	return sum
}

// exponents sets κ and g of direction d out of s.
func (f *Forest) exponents(s, d int) {
	kappa := f.capacity[s] - f.own[s]
	for _, in := range f.into[s] {
		if in != d^1 {
			kappa -= f.growth[in]
		}
	}
	f.decay[d], f.growth[d] = kappa, max(0, f.edges[d/2].rate-kappa)
	f.slack = min(f.slack, kappa)
}

// total returns κ of s with all its directions.
func (f *Forest) total(s int) float64 {
	kappa := f.capacity[s] - f.own[s]
	for _, in := range f.into[s] {
		kappa -= f.growth[in]
	}
	return kappa
}

// leastDefect is the smallest required defect of polynomials, a few roundings; maxPanels is the
// largest number of panels.
const (
	leastDefect = 0x1p-43
	maxPanels   = 5000
)

// A task is a forest with the requested measures.
type task struct {
	*Forest
	Settings
	target float64 // largest defect of a polynomial
	extra  float64 // argument of horizon
}

// Solve returns the measures. It refines a partition until its polynomials meet the tolerance for
// one of s.Parts trees.
//
// The error is a [*num.TooLargeError]; one that wraps [num.ErrUnstable]; a [*ToleranceError]; or
// that of the context.
func (f *Forest) Solve(ctx context.Context, s Settings) (*Result, error) {
	if err := f.prepare(len(f.capacity)-1, s.Tolerance); err != nil {
		return nil, err
	}
	t := &task{Forest: f, Settings: s, target: max(leastDefect, s.Tolerance/(16*float64(len(f.capacity))))}
	if s.ByClass > 0 {
		for _, k := range f.classes {
			if k.rate > 0 {
				t.extra = max(t.extra, float64(s.ByClass)*math.Log1p(f.decayOf(k)/k.rate))
			}
		}
		t.extra += 20
	}
	if s.Rarest > 0 {
		t.extra = max(t.extra, -math.Log(s.Rarest))
	}
	g := t.panels()
	for g.count() <= maxPanels {
		if err := t.checkMemory(g); err != nil {
			return nil, err
		}
		r, finer, err := t.try(ctx, g)
		switch {
		case err != nil:
			return nil, err
		case finer != nil:
			g = finer
		case r.Worst(s.Parts) <= s.Tolerance:
			return r, nil
		case t.target <= leastDefect:
			return nil, &ToleranceError{s.Tolerance, r.Worst(s.Parts)}
		default:
			t.target = max(leastDefect, t.target/8)
		}
	}
	return nil, &ToleranceError{s.Tolerance, math.Inf(1)}
}

// Estimate returns the approximate number of float64 operations of [Forest.Solve] without
// derivatives; +Inf if the forest is unstable or rounding hides its slack.
func (f *Forest) Estimate(s Settings) float64 {
	own := *f
	if own.prepare(len(f.capacity)-1, s.Tolerance) != nil {
		return math.Inf(1)
	}
	t := &task{Forest: &own, Settings: s}
	if s.Rarest > 0 {
		t.extra = -math.Log(s.Rarest)
	}
	const perPanel = 4500 // operations per server or edge, for both passes and measures, including refinement
	return perPanel * float64(t.panels().count()) * float64(len(f.capacity)+len(f.edges))
}

// checkMemory rejects a partition whose messages need too much memory.
func (t *task) checkMemory(g *panels) error {
	limit := cmp.Or(t.MaxBytes, num.DefaultMaxBytes)
	need := 6 * float64(len(t.edges)) * float64(g.count()) * float64(unsafe.Sizeof(piece{}))
	if t.Gradients || len(t.Of) > 0 {
		need *= 2
	}
	if need > float64(limit) {
		return &num.TooLargeError{Bytes: need, Limit: limit, Input: input.Errorf("model",
			fmt.Sprintf("%d servers that need %d panels each", len(t.capacity), g.count()),
			"fewer servers, or fewer neighbours of one server: messages need %.0f MiB of %d", need/(1<<20), limit>>20)}
	}
	return nil
}

// panels returns the first partition.
func (t *task) panels() *panels {
	fastest := 0.0
	for s := range t.capacity {
		fastest = max(fastest, t.incidentRates(s))
	}
	return newPanels(2/fastest, horizon(t.capacity, t.slack, t.extra))
}

// try returns the measures on a partition, or a better partition.
func (t *task) try(ctx context.Context, g *panels) (r *Result, finer *panels, err error) {
	w := t.newSweep(ctx, g, nil, nil)
	base := w
	w.lack = math.Log(tail) - t.extra
	if r, err = w.measures(t.target); err != nil {
		return nil, nil, err
	}
	if r != nil && t.Rarest == 0 {
		r.Laws = nil
	}
	if t.ByClass > 0 && !w.isCoarse(t.target) {
		if further, err := t.jobs(w, r); err != nil || further {
			return nil, t.panels(), err
		}
	}
	var asked []int
	if t.Gradients {
		asked = append(asked, -1)
	}
	for _, class := range append(asked, t.Of...) {
		if w.isCoarse(t.target) {
			break
		}
		c := t.weigh(class, r)
		if extra := t.extraWeight(c.constant); extra > t.extra {
			t.extra = extra + 1
			return nil, t.panels(), nil
		}
		w = t.newSweep(ctx, g, c, base)
		gradients, err := w.gradients(class, t.target)
		if err != nil {
			return nil, nil, err
		}
		r.Gradients = append(r.Gradients, gradients)
	}
	if w.isCoarse(t.target) {
		return nil, w.refined(t.target), nil
	}
	return r, nil, nil
}

// jobs adds the distribution of the number of jobs of each class, and reports and records whether
// it needs a later horizon.
func (t *task) jobs(w *sweep, r *Result) (further bool, err error) {
	lack := 0.0
	r.Jobs = make([][]arithmetic.Number, len(t.classes))
	for i, k := range t.classes {
		if k.rate == 0 {
			r.Jobs[i] = NoJobs(t.ByClass)
			continue
		}
		if r.Jobs[i], err = w.classJobs(t.ByClass, k, math.Log(tail)-t.extra); err != nil {
			return false, err
		}
		for _, p := range r.Jobs[i] {
			if p.F > 0 {
				lack = max(lack, math.Log(tail)-t.extra-logarithm(p)+50)
			}
		}
	}
	if lack == 0 || w.isCoarse(t.target) {
		return false, nil
	}
	t.extra += 2 * lack
	return true, nil
}
