package bf

import (
	"fmt"
	"math"
	"runtime"

	"productform/cluster"
	"productform/internal/input"
)

// A plan is one component on the lattice chosen for it.
type plan struct {
	component *cluster.Component
	problem   *problem
	lattice   Lattice
	why       string
	states    float64
	graph     *graph // built when first needed; nil for the sweeps over tables of subsets
}

// Connected sets are counted where the other lattices have more than many terms, up to 1/gain of
// these. A sweep over a table of subsets goes through about a thousand terms in the time that it takes to find one
// term of a connected set, and the count must not cost much when it is in vain.
const (
	manyTableTerms, tableGain = 1 << 31, 1 << 12 // about a second
	manyGraphTerms, graphGain = 1 << 18, 4
)

// newPlan chooses the lattice of a component: the one with the fewest terms to add up, and
// refuses what does not fit into memory. Connected sets are counted only where the other lattices are large.
func newPlan(c *cluster.Component, engine Engine, s Settings) (*plan, error) {
	p := newProblem(c)
	p.spare = s.spare
	l := &plan{component: c, problem: p, lattice: s.Lattice}
	n, groups := len(p.classes), len(p.groups)
	classes, servers := p.states()
	switch {
	case s.Lattice == ClassLattice && !p.whole:
		return nil, input.Errorf("Lattice", s.Lattice, "%q (a class of this component chooses servers at random; Model.Expand writes its server sets out)", SymmetricLattice)
	case (s.Lattice == ServerLattice || s.Lattice == ConnectedLattice) && !p.whole:
		return nil, input.Errorf("Lattice", s.Lattice, "%q (this component has groups of servers)", SymmetricLattice)
	case s.Lattice == ClassLattice:
		l.states, l.why = classes, fmt.Sprintf("asked for; sets of %d classes", n)
	case s.Lattice == ServerLattice || s.Lattice == SymmetricLattice:
		l.states, l.why = servers, fmt.Sprintf("asked for; sets of servers of %d groups", groups)
	case s.Lattice == ConnectedLattice:
		if err := l.connect(s, math.Inf(1)); err != nil {
			return nil, err
		}
		l.why = fmt.Sprintf("asked for; connected sets of %d servers", groups)
	case !p.whole:
		l.lattice, l.states = SymmetricLattice, servers
		l.why = fmt.Sprintf("%.0f counts of servers in groups of equal ones", servers)
	default:
		l.cheapest(classes, servers)
		many, gain := float64(manyTableTerms), float64(tableGain)
		if !l.onTable(engine) {
			many, gain = manyGraphTerms, graphGain
		}
		if cost := l.states * float64(l.elements()); cost > many {
			best := *l
			err := l.connect(s, cost/gain)
			switch {
			case err == nil:
				l.lattice = ConnectedLattice
				l.why = fmt.Sprintf("%d connected sets of %d servers, instead of 2^%d sets of servers or 2^%d of classes", l.graph.states(), groups, groups, n)
			case isInput(err): // too many of them
				*l = best
			default:
				return nil, err
			}
		}
	}
	if need := l.bytes(engine, s.MaxJobs); need > float64(s.maxBytes()) {
		return nil, l.tooLarge(need, engine, s)
	}
	return l, nil
}

// tooLarge returns the error for a plan that needs more bytes than allowed.
func (l *plan) tooLarge(need float64, engine Engine, s Settings) error {
	size := "out of reach"
	if need < 1e15 {
		size = fmt.Sprintf("%.0f states, %.0f MiB", l.states, need/(1<<20))
	}
	help := `merge similar classes or servers, or describe equal servers as groups with "choose"`
	switch {
	case s.MaxJobs > 0 && l.bytes(engine, 0) <= float64(s.maxBytes()):
		help = "leave out the distribution of the number of jobs, which needs most of it"
	case s.Lattice != "":
		help = "leave the choice of the lattice open"
	case (s.Engine == Enclose || s.Engine == Exact) && l.bytes(Float, s.MaxJobs) <= float64(s.maxBytes()):
		help = "use the float engine, which needs less"
	}
	return input.Errorf("model", fmt.Sprintf("%d classes on %d rows of servers", len(l.problem.classes), len(l.problem.groups)),
		"tables of at most %d MiB; those of the %s lattice are %s: %s", s.maxBytes()>>20, l.lattice, size, help)
}

// cheapest takes the class or the server lattice.
func (l *plan) cheapest(classes, servers float64) {
	n, groups := len(l.problem.classes), len(l.problem.groups)
	if classes*float64(n) <= 1.5*servers*float64(groups) {
		l.lattice, l.states = ClassLattice, classes
		l.why = fmt.Sprintf("2^%d sets of classes, 2^%d of servers", n, groups)
		return
	}
	l.lattice, l.states = ServerLattice, servers
	l.why = fmt.Sprintf("2^%d sets of servers, 2^%d of classes", groups, n)
}

func (l *plan) elements() int {
	if l.lattice == ClassLattice {
		return len(l.problem.classes)
	}
	return len(l.problem.groups)
}

// connect builds the graph of connected sets, if it has at most limit terms and fits into memory.
func (l *plan) connect(s Settings, limit float64) error {
	const (
		perTerm = 48  // bytes
		most    = 2e7 // terms: it takes some seconds to find so many
	)
	limit = min(limit, float64(s.maxBytes())/perTerm, most)
	g, overloaded := connectedGraph(l.problem, int(limit))
	if g == nil {
		return input.Errorf("model", fmt.Sprintf("%d servers", len(l.problem.groups)), "at most %.3g terms over connected sets of servers", limit)
	}
	if overloaded >= 0 {
		return l.problem.overloadedState(g, overloaded)
	}
	l.graph, l.states = g, float64(g.states())
	return nil
}

// onTable reports whether the engine sweeps a table of all subsets.
func (l *plan) onTable(engine Engine) bool {
	return engine == Float && (l.lattice == ClassLattice || l.lattice == ServerLattice)
}

// bytes estimates the memory of the tables. Graphs hold about 80 bytes a state and 20 a term, and on
// the symmetric lattice 12 or, of numbers longer than a word, 64 for each class; enclosures six numbers a state, of
// 80 bytes or more. The exact engine counts its own numbers. It is +Inf beyond the 2^31 states, terms and
// entries that a graph can number.
func (l *plan) bytes(engine Engine, maxJobs int) float64 {
	graph := 80 + 20*float64(l.elements())
	entries := l.states * float64(l.elements())
	if l.lattice == SymmetricLattice && !l.problem.whole {
		perClass := 12.
		if !l.problem.small {
			perClass = 64
		}
		graph += perClass * float64(len(l.problem.classes))
		entries = l.states * float64(max(l.elements(), len(l.problem.classes)))
	}
	if l.graph != nil {
		graph += 16*float64(len(l.graph.weight))/l.states + float64(len(l.problem.groups))/8
		entries = 0
	}
	perState := graph
	switch {
	case engine == Float && l.lattice == ClassLattice:
		perState = 8
	case engine == Float && l.lattice == ServerLattice:
		perState = 24
	case engine == Float:
		perState += 56
	default:
		perState += 480
	}
	if maxJobs > 0 {
		if l.onTable(engine) {
			perState += graph // the series run over a graph
		}
		perState += 8
		if l.lattice == ConnectedLattice {
			perState += 250 * float64(maxJobs)
		}
	}
	if entries >= 1<<31 && (!l.onTable(engine) || maxJobs > 0) {
		return math.Inf(1)
	}
	return perState * l.states
}

// build makes the graph of the plan.
func (l *plan) build() error {
	if l.graph != nil {
		return nil
	}
	var g *graph
	var overloaded int
	if l.lattice == ClassLattice {
		g, overloaded = classGraph(l.problem)
	} else {
		g, overloaded = symmetricGraph(l.problem)
	}
	if overloaded >= 0 {
		return l.problem.overloadedState(g, overloaded)
	}
	l.graph = g
	return nil
}

// measure solves the component.
func (l *plan) measure(engine Engine, prec uint, maxBytes int64) (measures, error) {
	workers := runtime.GOMAXPROCS(0)
	if l.onTable(engine) {
		if l.lattice == ClassLattice {
			return floatClasses(l.problem, workers)
		}
		return floatServers(l.problem, workers)
	}
	if err := l.build(); err != nil {
		return measures{}, err
	}
	switch engine {
	case Float:
		return floatGraph(l.problem, l.graph)
	case Enclose:
		return encloseGraph(l.problem, l.graph, prec), nil
	default:
		return exactGraph(l.problem, l.graph, maxBytes)
	}
}
