package bf

import (
	"context"
	"fmt"
	"math"
	"slices"

	"productform/bf/internal/consecutive"
	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
)

// A Lattice is a set of states over which the recursion for the normalization runs.
type Lattice string

// The lattices. AutoLattice, or "", selects the cheapest that applies.
const (
	AutoLattice      Lattice = "auto"
	ClassLattice     Lattice = "class"     // sets of active classes, 2^N states
	ServerLattice    Lattice = "server"    // sets of servers, 2^S states
	ConnectedLattice Lattice = "connected" // connected sets of servers
	SymmetricLattice Lattice = "symmetric" // numbers of servers taken from each group of equal servers

	// EliminationLattice eliminates one server at a time, using functions of the lifetimes of its
	// neighbours; float64 only.
	EliminationLattice Lattice = "elimination"
)

// A lattice is a row of the tables from which the plan of a component is selected.
type lattice struct {
	name Lattice

	// offer returns a plan that is better than the best so far, or nil. It receives the best plan
	// because even an estimate can be expensive: it may count connected sets or search for an order
	// of elimination.
	offer func(ctx context.Context, q *query, best *plan) (*plan, error)

	// require returns the plan of a lattice that was requested by name. The error explains why there
	// is no plan.
	require func(ctx context.Context, q *query) (*plan, error)
}

// The rows are in the order in which they are offered, with immediate estimates first. The recursion
// for delays is linear only on setLattices.
var (
	setLattices = []lattice{
		{ClassLattice, offerClasses, requireClasses},
		{ServerLattice, offerServers, requireServers},
		{SymmetricLattice, offerCounts, requireServers},
	}
	allLattices = append(slices.Clone(setLattices),
		lattice{EliminationLattice, offerElimination, requireElimination},
		lattice{ConnectedLattice, offerConnected, requireConnected})
)

// Lattices returns the values of Settings.Lattice: AutoLattice, then the lattices in the order in
// which they are offered.
func Lattices() []Lattice { return append([]Lattice{AutoLattice}, namesOf(allLattices)...) }

// namesOf returns the lattices in the rows of a table.
func namesOf(rows []lattice) (names []Lattice) {
	for _, row := range rows {
		names = append(names, row.name)
	}
	return names
}

// A query is the question of one engine about one component.
type query struct {
	model     *cluster.Model // model with one mean size
	component *cluster.Component
	problem   *recursion.Problem
	rung
	tol      float64 // relative tolerance of elimination
	maxTerms float64 // terms of connected sets above which another method answers; 0 for no limit
}

// newQuery returns a query about a component. It returns an error if fractions would be too long.
func newQuery(m *cluster.Model, c *cluster.Component, g rung) (*query, error) {
	if err := checkFractionSize(c, g); err != nil {
		return nil, err
	}
	return &query{model: m, component: c, problem: newProblem(c, g.engine == num.Exact), rung: g}, nil
}

// checkFractionSize rejects a component whose fractions cannot fit into memory because the numbers
// of ways to choose servers are long. It counts d(k) and M(k) of all states. For the exact engine
// it also counts values whose denominators are products of one d(k) per layer; see
// [recursion.Fractions]. Each takes log2 of the ways, minus the bits of the numbers that may cancel
// and some for M(k) near λ(k).
func checkFractionSize(c *cluster.Component, g rung) error {
	if g.engine != num.Exact {
		return nil
	}
	states, layers, cancels := 1.0, 0.0, 64
	for _, row := range c.Model.Servers {
		states *= float64(row.Size() + 1)
		layers += float64(row.Size())
		cancels = max(cancels, 64+row.Capacity.Denom().BitLen())
	}
	length := 0.0
	for _, k := range c.Model.Classes {
		ways := log2Ways(c.Model.Servers, k.Servers)
		length = max(length, ways-float64(k.ArrivalRate.Num().BitLen()+cancels))
	}
	if length == 0 { // there are few ways
		return nil
	}
	need := states * length / 8 * 2
	if g.s.Engine == num.Exact {
		need += states * length / 8 * layers * 2
	}
	if need <= float64(g.s.MaxBytes) {
		return nil
	}
	want := "a smaller model: fractions for the %.0f states (lattice %q) take %.0f MiB, more than %d MiB, because " +
		"the numbers of ways to choose servers are long; enclose gives as many digits as requested"
	return &num.TooLargeError{States: states, Bytes: need, Limit: g.s.MaxBytes,
		Input: input.Errorf("engine", num.Exact, want, states, SymmetricLattice, need/(1<<20), g.s.MaxBytes>>20)}
}

// A plan is a query with the lattice selected for it.
type plan struct {
	query     // its problem has single servers if elimination expands groups
	lattice   Lattice
	why       string
	states    float64
	method    method
	sets      *plan   // plan on sets of classes or servers that this plan improves on; or nil
	termLimit float64 // limit on the terms of connected sets if there are more; or 0

	// rows finds the distribution of the jobs of each class; nil if elimination does not save time.
	rows *eliminator

	// connectedTerms is the number of terms of connected sets on the connected lattice, or of terms
	// that take as long.
	connectedTerms float64

	graph  *recursion.Graph  // built when first needed; nil for sweeps over tables
	base   *plan             // skeleton of a plan for other rates, whose graph is shared; or nil
	slopes *recursion.Slopes // derivatives of the mean number of jobs, if elimination has found them; or nil
}

// A method solves the component of a plan: over tables of all sets, the graph of a lattice, the
// intervals of a chain, or by elimination.
type method interface {
	bytes(l *plan, jobs int) float64 // memory, including a distribution up to jobs
	work(l *plan, jobs int) float64  // operations, see [opsPerSecond]
	measure(ctx context.Context, l *plan) (measures, error)
	total(ctx context.Context, l *plan) ([]arithmetic.Number, error) // coefficients of Z(zλ)
}

// choose returns the plan of a query: on the requested lattice, or on the one among these that
// takes the least work.
func choose(ctx context.Context, among []lattice, q *query) (best *plan, err error) {
	for _, lattice := range among {
		var l *plan
		switch {
		case q.s.Lattice == "" && !slices.Contains(q.excluded, lattice.name):
			l, err = lattice.offer(ctx, q, best)
		case q.s.Lattice == lattice.name:
			l, err = lattice.require(ctx, q)
		}
		if err != nil {
			return nil, err
		}
		if l != nil {
			best = l
		}
	}
	return best, nil
}

// newPlan returns the plan for the means and the other requested measures. It returns an error if
// the plan does not fit into memory or takes too much work.
func newPlan(ctx context.Context, q *query) (*plan, error) {
	l, err := choose(ctx, allLattices, q)
	if err != nil {
		return nil, err
	}
	l.preferClassElimination()
	return l, l.checkLimits()
}

// plan returns the plan for component k. It adapts the plan of the factor solved first to the new
// rates if possible.
func (p *Prepared) plan(ctx context.Context, k int, g rung) (*plan, error) {
	q, err := newQuery(p.equal, &p.components[k], g)
	if err != nil {
		return nil, err
	}
	q.tol = 0.99 * g.s.RelTol / float64(len(p.components)) // normalizations of components multiply
	if first := p.first[g.engine]; !p.isFirst && k < len(first) && g.excluded == nil {
		return first[k].withRates(ctx, q)
	}
	return newPlan(ctx, q)
}

// storePlan stores the plan of the next component for other factors.
func (p *Prepared) storePlan(l *plan) {
	if p.isFirst && len(p.first[l.engine]) < len(p.components) {
		p.first[l.engine] = append(p.first[l.engine], l.skeleton())
	}
}

// checkLimits returns an error if the plan takes more memory or work than allowed.
func (l *plan) checkLimits() error {
	jobs := l.s.MaxJobs
	if need := l.method.bytes(l, jobs); need > float64(l.s.MaxBytes) {
		return l.memoryError(need, "")
	}
	work := l.method.work(l, jobs)
	if l.rows != nil {
		work += l.rows.classEliminationOps(jobs)
	}
	if l.s.MaxWork > 0 && work > l.s.MaxWork {
		return l.sizeError(l.method.bytes(l, jobs), "at most %.2g operations; the %s lattice takes %.2g",
			l.s.MaxWork, l.lattice, work)
	}
	return nil
}

// usesMethod reports whether the plan has a method of this kind.
func usesMethod[M method](l *plan) bool {
	_, ok := l.method.(M)
	return ok
}

// elements returns the number of classes, servers or groups that form the states of the plan.
func (l *plan) elements() int {
	if l.lattice == ClassLattice {
		return len(l.problem.Classes)
	}
	return len(l.problem.Groups)
}

// terms returns the number of terms of all sums over the lattice.
func (l *plan) terms() float64 {
	if l.graph != nil {
		return float64(len(l.graph.Weight))
	}
	return l.states * float64(l.elements())
}

// graphTerms returns the number of terms of the graph of the plan.
func (l *plan) graphTerms() float64 {
	if l.graph != nil {
		return float64(len(l.graph.Weight))
	}
	return l.states * float64(l.elements()) / 2
}

// allSets returns the plan on all sets of classes or servers that l improves on, or l itself.
func (l *plan) allSets() *plan {
	if l.sets != nil {
		return l.sets
	}
	return l
}

// termsToBeat returns the number of terms of the plan. It is +Inf if the plan takes more memory or
// work than allowed.
func (l *plan) termsToBeat() float64 {
	if l.checkLimits() != nil {
		return math.Inf(1)
	}
	return l.terms()
}

// withEngine returns the plan of another engine on the same lattice; not for elimination.
func (l *plan) withEngine(engine num.Engine) *plan {
	other := *l
	other.engine, other.method = engine, methodOf(engine, l.lattice)
	return &other
}

// skeleton returns the parts of the plan that plans for the same component with other rates share.
// These plans do not modify it.
func (l *plan) skeleton() *plan {
	o := *l
	o.s.sweepMemory, o.base = nil, nil
	if o.graph != nil {
		o.graph = o.graph.Outline()
	}
	return &o
}

// withRates returns the plan that newPlan would return for a query whose component has the rates of
// the skeleton l times a common factor.
func (l *plan) withRates(ctx context.Context, q *query) (*plan, error) {
	e := l.elimination()
	isLong := q.problem.Bits > exactBits
	if l.graph != nil && !l.graph.Serves(l.problem, q.problem) || e != nil && (isLong || !q.problem.Whole) {
		return newPlan(ctx, q)
	}
	o := &plan{query: *q, lattice: l.lattice, why: l.why, states: l.states, method: l.method,
		connectedTerms: l.connectedTerms, base: l, rows: l.rows}
	switch {
	case usesMethod[chain](l):
		o.method = chain{consecutive.New(q.problem)}
	case l.lattice == ConnectedLattice:
		if err := o.build(ctx); err != nil {
			return nil, err
		}
	}
	return o, o.checkLimits()
}

// thousands formats an integer with commas between groups of three digits.
func thousands(x float64) string {
	digits := fmt.Sprintf("%.0f", x)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
