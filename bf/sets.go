package bf

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"productform/internal/arithmetic"
	"productform/internal/cube"
	"productform/internal/recursion"
	"productform/num"
)

// A table sweeps a table of all sets of classes or of servers in float64. For distributions of the
// number of jobs it uses the graph of the lattice.
type table struct {
	perState float64 // bytes
	sweep    func(ctx context.Context, p *recursion.Problem, memory *cube.Memory, workers int) (measures, error)
}

// graph is the recursion over the graph of a lattice, by any engine.
type graph struct{}

// methods holds the method of the engine Float on a lattice, and the method of the others. Lattices
// that only Float solves have no row.
var methods = map[Lattice]struct{ float, other method }{
	ClassLattice:     {table{8, floatClasses}, graph{}},
	ServerLattice:    {table{24, floatServers}, graph{}},
	SymmetricLattice: {graph{}, graph{}},
	ConnectedLattice: {connected{}, connected{}},
}

// methodOf returns the method of an engine on a lattice.
func methodOf(engine num.Engine, lattice Lattice) method {
	if engine == num.Float {
		return methods[lattice].float
	}
	return methods[lattice].other
}

// onSets returns a plan on the class, server or symmetric lattice.
func (q *query) onSets(lattice Lattice, states float64, why string, args ...any) *plan {
	return &plan{query: *q, lattice: lattice, states: states, why: fmt.Sprintf(why, args...),
		method: methodOf(q.engine, lattice)}
}

func offerClasses(_ context.Context, q *query, _ *plan) (*plan, error) {
	if !q.problem.Whole {
		return nil, nil
	}
	classes, _ := q.problem.SubsetStates()
	why := "2^%d sets of classes, 2^%d of servers"
	return q.onSets(ClassLattice, classes, why, len(q.problem.Classes), len(q.problem.Groups)), nil
}

func offerServers(_ context.Context, q *query, best *plan) (*plan, error) {
	if !q.problem.Whole {
		return nil, nil
	}
	_, servers := q.problem.SubsetStates()
	groups := len(q.problem.Groups)
	if best.terms() <= serverGain*servers*float64(groups) {
		return nil, nil
	}
	why := "2^%d sets of servers, 2^%d of classes"
	return q.onSets(ServerLattice, servers, why, groups, len(q.problem.Classes)), nil
}

func offerCounts(_ context.Context, q *query, _ *plan) (*plan, error) {
	if q.problem.Whole {
		return nil, nil
	}
	_, servers := q.problem.SubsetStates()
	return q.onSets(SymmetricLattice, servers, "%.0f counts of servers in groups of equal ones", servers), nil
}

func requireClasses(_ context.Context, q *query) (*plan, error) {
	if !q.problem.Whole {
		return nil, errDraws(q)
	}
	classes, _ := q.problem.SubsetStates()
	return q.onSets(ClassLattice, classes, "requested; sets of %d classes", len(q.problem.Classes)), nil
}

// requireServers returns the plan on the server or the symmetric lattice. Without groups these are
// the same.
func requireServers(_ context.Context, q *query) (*plan, error) {
	if !q.problem.Whole && q.s.Lattice == ServerLattice {
		return nil, errGroups(q)
	}
	_, servers := q.problem.SubsetStates()
	why := "requested; sets of servers of %d groups"
	return q.onSets(q.s.Lattice, servers, why, len(q.problem.Groups)), nil
}

func (table) work(l *plan, jobs int) float64 {
	terms := l.states * float64(l.elements())
	if jobs > 0 {
		return terms * tableOps(jobs)
	}
	return terms
}

func (graph) work(l *plan, jobs int) float64 {
	if l.engine == num.Float {
		return l.terms() * (opsPerTerm + opsPerCoefficient*float64(jobs))
	}
	return l.terms() * opsPerBigTerm * (1 + float64(jobs))
}

func (t table) bytes(l *plan, jobs int) float64 {
	if jobs == 0 {
		return t.perState * l.states
	}
	g := l.graphSize()
	if g.entries >= maxEntries {
		return math.Inf(1)
	}
	return (t.perState + g.perState + 56) * l.states // series use a graph
}

func (graph) bytes(l *plan, jobs int) float64 {
	series := 0.
	switch {
	case jobs == 0:
	case l.engine == num.Float:
		series = 56
	case l.engine == num.Enclose:
		series = 2 * bigFloatBytes(l.prec)
	}
	return l.graphBytes(series)
}

// graphBytes returns the memory of a graph and its numbers, with some bytes per state for series.
func (l *plan) graphBytes(series float64) float64 {
	g := l.graphSize()
	if g.entries >= maxEntries {
		return math.Inf(1)
	}
	perState := g.perState + series
	switch l.engine {
	case num.Float:
		perState += 56
	case num.Enclose:
		perState += g.numbers * bigFloatBytes(l.prec)
	default:
		perState += 480 // fractions count their own memory; sweeps with derivatives keep several
	}
	return perState*l.states + g.fixed
}

// maxEntries is the maximum number of states, terms and entries that a graph can number.
const maxEntries = 1 << 31

// A graphSize estimates the bytes of a graph: about 40 per state, 16 per term and a big integer for
// each count of servers of a group. The symmetric lattice also has the number of ways of each
// class.
type graphSize struct {
	perState, fixed float64
	numbers         float64 // enclosed numbers per state
	entries         float64
}

func (l *plan) graphSize() graphSize {
	p := l.problem
	long := 0.0 // bytes of an integer that does not fit into a word
	if !p.Small {
		long = 96 + float64(p.Bits)/8
	}
	elements := float64(l.elements())
	g := graphSize{perState: 80 + 20*elements, entries: l.states * elements, numbers: 6}
	switch {
	case !p.Whole:
		perClass := 12.
		switch {
		case p.Shared:
			perClass, g.numbers = 4, 4
			g.perState += 8
			if l.engine != num.Float {
				g.perState += bigFloatBytes(l.prec)
			}
			g.fixed = l.shareBytes()
		case !p.Small:
			perClass += long
			g.perState += 3 * long
		}
		g.perState += perClass * float64(len(p.Classes))
		g.entries = l.states * max(elements, float64(len(p.Classes)))
		for _, group := range p.Groups {
			g.fixed += (96 + float64(group.Capacity.BitLen())/8) * float64(group.N)
		}
	case !p.Small:
		g.perState += 3 * long
	}
	if l.graph != nil {
		g.perState += 16*float64(len(l.graph.Weight))/l.states + float64(len(p.Groups))/8
		g.entries = 0
	}
	return g
}

// shareBytes returns the memory of the tables of shares.
func (l *plan) shareBytes() float64 {
	known := make(map[recursion.Choice]bool)
	entries := 0
	for _, k := range l.problem.Classes {
		for _, c := range k.Choose {
			if !known[c] {
				known[c] = true
				entries += l.problem.Groups[c.Group].N - c.Choose + 1
			}
		}
	}
	return float64(entries) * (8 + bigFloatBytes(max(l.prec, recursion.FloatShares)+128))
}

// bigFloatBytes returns the memory of a big.Float of prec bits that receives products.
func bigFloatBytes(prec uint) float64 { return 72 + 16*math.Ceil(float64(prec)/64) }

// classBytes estimates the memory with the distribution of the number of jobs of a class.
func (l *plan) classBytes() float64 {
	perState := 400.
	if l.engine == num.Enclose {
		perState += 6 * bigFloatBytes(l.prec)
	}
	return l.method.bytes(l, l.s.MaxJobs) + perState*l.states
}

// build builds the graph of the plan.
func (l *plan) build(ctx context.Context) (err error) {
	switch {
	case l.graph != nil:
	case l.base != nil && l.base.graph != nil:
		l.graph, err = l.base.graph.For(ctx, l.base.problem, l.problem)
	case l.lattice == ClassLattice:
		l.graph, err = recursion.ClassGraph(ctx, l.problem)
	default:
		l.graph, err = recursion.SymmetricGraph(ctx, l.problem, max(l.prec, recursion.FloatShares))
	}
	return err
}

func (t table) measure(ctx context.Context, l *plan) (measures, error) {
	return t.sweep(ctx, l.problem, l.s.sweepMemory, runtime.GOMAXPROCS(0))
}

func (graph) measure(ctx context.Context, l *plan) (measures, error) {
	if err := l.build(ctx); err != nil {
		return measures{}, err
	}
	var x recursion.Measures
	var err error
	switch l.engine {
	case num.Float:
		x, err = recursion.Evaluate(ctx, l.problem, l.graph)
	case num.Enclose:
		x, err = recursion.Enclose(ctx, l.problem, l.graph, l.prec)
	default:
		left := l.s.MaxBytes - int64(l.method.bytes(l, 0))
		x, err = recursion.Fractions(ctx, l.problem, l.graph, string(l.lattice), left)
	}
	return measures{normalization: x.Normalization, jobs: x.Jobs, busy: x.Busy}, err
}

func (table) total(ctx context.Context, l *plan) ([]arithmetic.Number, error) {
	return l.total(ctx, false)
}

func (graph) total(ctx context.Context, l *plan) ([]arithmetic.Number, error) {
	return l.total(ctx, false)
}

// total returns the coefficients of Z(zλ) on a graph of all sets, or of the connected ones.
func (l *plan) total(ctx context.Context, connected bool) ([]arithmetic.Number, error) {
	if err := l.build(ctx); err != nil {
		return nil, err
	}
	one := arithmetic.One(l.engine, l.prec)
	return recursion.Total(ctx, l.graph, connected, l.s.MaxJobs, one, l.s.MaxBytes)
}
