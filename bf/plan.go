package bf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"

	"productform/bf/internal/derivatives"
	"productform/bf/internal/integers"
	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/cube"
	"productform/internal/doubles"
	"productform/internal/elimination"
	"productform/internal/enclosures"
	"productform/internal/fractions"
	"productform/internal/input"
	"productform/internal/intervals"
	"productform/internal/recursion"
	"productform/num"
)

// A plan is one component on the lattice chosen for it.
type plan struct {
	component *cluster.Component
	spare     *cube.Memory // kept from one point of a sweep to the next, or nil
	problem   *recursion.Problem
	lattice   Lattice
	why       string
	states    float64
	graph     *recursion.Graph   // built when first needed; nil for the sweeps over tables of subsets
	counted   float64            // terms of connected sets, or work as long, that the connected lattice takes
	tooMany   float64            // the number of these that it may take at most, if it takes more; or 0
	like      *plan              // the outline of a plan for other rates, whose graph is shared; or nil
	chain     *intervals.Chain   // of ConnectedLattice, where servers in a line or a ring need no graph; or nil
	order     *elimination.Order // of EliminationLattice, and of byRows
	toOrder   float64            // estimate of the operations of elimination in this order
	maxOrder  float64            // operations beyond which tables are tried instead; 0 means no limit of this kind
	written   *written           // where groups are written out for it; or nil
	// byRows finds the number of jobs of each class by elimination, and the rest on a lattice.
	byRows bool
	tol    float64             // relative tolerance of elimination
	slopes *derivatives.Slopes // derivatives of the mean number of jobs, if found by elimination; or nil
}

// Connected sets are counted if the other lattices have more than many terms, and taken if they
// have at most 1/gain of these. A sweep over a table of subsets goes through about a thousand terms
// in the time that it takes to find one term of a connected set; fractions of connected sets, which
// are multiplied, are longer than those of subsets. Derivatives take as long for each term of
// either, of which subsets have half as many as they have states times elements.
const (
	manyTableTerms, tableGain = 1 << 31, 1 << 12 // about a second
	manyGraphTerms, graphGain = 1 << 12, 4
	exactGain                 = 8
	fewTerms, derivativeGain  = 1 << 8, 2
)

// Servers are eliminated if the tables of subsets have more terms than eliminationTerms, about 30
// ms, and more than twice the estimate for elimination. Below that, tables are as fast and have more
// digits.
const eliminationTerms = 1 << 25

// eliminationRowTerms is the same limit for requests of distributions. Elimination omits the
// distribution of all jobs.
const eliminationRowTerms = 1 << 28

const manyToCheck = 1 << 18 // terms, beyond which a model without an answer is found by a flow before they are counted

// Servers in a line or a ring have tables of intervals where those of subsets have more than so many terms: some milliseconds.
const manyToLineUp = 1 << 22

// newPlan chooses the lattice of a component: the one with the fewest terms to add up, and
// refuses what does not fit into memory. Connected sets are counted only where the other lattices are large.
func newPlan(ctx context.Context, c *cluster.Component, engine num.Engine, prec uint, s Settings) (*plan, error) {
	if err := longWays(c, engine, s); err != nil {
		return nil, err
	}
	p := integers.New(c, engine == num.Exact)
	l := &plan{component: c, problem: p, spare: s.spare, lattice: s.Lattice}
	n, groups := len(p.Classes), len(p.Groups)
	classes, servers := p.SubsetStates()
	switch {
	case s.Lattice == ClassLattice && !p.Whole:
		return nil, input.Errorf("Lattice", s.Lattice, "%q (a class of this component chooses servers at random)", SymmetricLattice)
	case (s.Lattice == ServerLattice || s.Lattice == ConnectedLattice) && !p.Whole:
		return nil, input.Errorf("Lattice", s.Lattice, "%q (this component has groups of servers)", SymmetricLattice)
	case s.Lattice == ClassLattice:
		l.states, l.why = classes, fmt.Sprintf("asked for; sets of %d classes", n)
	case s.Lattice == ServerLattice || s.Lattice == SymmetricLattice:
		l.states, l.why = servers, fmt.Sprintf("asked for; sets of servers of %d groups", groups)
	case s.Lattice == ConnectedLattice:
		if !l.lineUp(engine, s, math.Inf(1), "asked for") {
			if err := l.connect(ctx, s, math.Inf(1)); err != nil {
				return nil, err
			}
			l.why = fmt.Sprintf("asked for; connected sets of %d servers", groups)
		}
	case s.Lattice == EliminationLattice && !p.Whole:
		if err := l.writeOut(s); err != nil {
			return nil, err
		}
		l.why = fmt.Sprintf("asked for; %.0f servers, those of groups written out, one after the other, of width %d", l.states, l.order.Width)
	case s.Lattice == EliminationLattice:
		if err := l.checkElimination(s); err != nil {
			return nil, err
		}
		l.states, l.why = float64(groups), fmt.Sprintf("asked for; %d servers, one after the other, of width %d", groups, l.order.Width)
	case !p.Whole:
		l.lattice, l.states = SymmetricLattice, servers
		l.why = fmt.Sprintf("%.0f counts of servers in groups of equal ones", servers)
		l.preferWritten(engine, prec, s)
	default:
		l.cheapest(classes, servers)
		if err := l.preferSparse(ctx, engine, prec, s); err != nil {
			return nil, err
		}
		l.byRows = l.byRows || l.prefersRows(engine, s)
	}
	if err := l.fits(engine, prec, s); err != nil {
		return nil, err
	}
	return l, nil
}

// fits refuses what takes more memory or work than allowed.
func (l *plan) fits(engine num.Engine, prec uint, s Settings) error {
	if need := l.bytes(engine, prec, s.MaxJobs); need > float64(s.MaxBytes) {
		return l.tooLarge(need, engine, prec, s)
	}
	work := l.work(engine, s.MaxJobs)
	if l.byRows {
		work += l.rowsWork(s)
	}
	if s.MaxWork > 0 && work > s.MaxWork {
		return &num.TooLargeError{States: l.states, Bytes: l.bytes(engine, prec, s.MaxJobs), Limit: s.MaxBytes, Input: input.Errorf("model",
			fmt.Sprintf("%d classes on %d rows of servers", len(l.problem.Classes), len(l.problem.Groups)),
			"at most %.2g operations; the %s lattice takes %.2g", s.MaxWork, l.lattice, work)}
	}
	return nil
}

// Work is counted in additions and products of tables of float64; a core does about aSecond of them
// per second. A term of a graph takes graphWork of them in float64, building included, and longWork
// in other engines. A product of two coefficients of a series takes seriesWork.
const graphWork, longWork, seriesWork, aSecond = 200, 2000, 20, 1e9

// distributionWork returns the work in float64 for the distribution of the number of all jobs, per
// term of a table of subsets or of a graph of connected sets. It counts the graph, a step from each
// order to the next and, on connected sets, a product of series.
func distributionWork(lattice Lattice, maxJobs int) float64 {
	jobs := float64(maxJobs)
	if lattice == ConnectedLattice {
		return graphWork + 10*jobs + 0.04*jobs*jobs
	}
	return 10 + 2*jobs
}

// work estimates how long the answer takes, the distribution of the number of all jobs included.
func (l *plan) work(engine num.Engine, maxJobs int) float64 {
	switch {
	case l.lattice == EliminationLattice:
		return l.toOrder
	case l.chain != nil:
		return l.chain.Work(maxJobs)
	}
	terms := l.states * float64(l.elements())
	if l.graph != nil {
		terms = float64(len(l.graph.Weight))
	}
	perTerm, perOrder := float64(graphWork), float64(seriesWork)
	if engine != num.Float {
		perTerm, perOrder = longWork, longWork
	}
	work, jobs := terms*perTerm, float64(maxJobs)
	switch {
	case l.onTable(engine) && maxJobs == 0:
		return terms
	case engine == num.Float && maxJobs > 0 && (l.onTable(engine) || l.lattice == ConnectedLattice):
		return terms * distributionWork(l.lattice, maxJobs)
	case l.lattice == ConnectedLattice:
		jobs *= max(1, jobs/2)
	}
	return work + terms*jobs*perOrder
}

// preferSparse takes the connected lattice or elimination in place of the lattice of subsets where that takes less time, or this takes more
// memory or work than allowed. A model without an answer is refused before anything of it is counted.
func (l *plan) preferSparse(ctx context.Context, engine num.Engine, prec uint, s Settings) error {
	many, gain := float64(manyGraphTerms), float64(graphGain)
	switch {
	case l.onTable(engine) && s.MaxJobs == 0:
		many, gain = manyTableTerms, tableGain
	case engine == num.Exact && s.Engine == num.Exact:
		gain = exactGain
	case engine == num.Exact: // the graph is for derivatives
		many, gain = fewTerms, derivativeGain
	}
	toEliminate, faster := float64(eliminationTerms), 2.0
	switch jobs := float64(s.MaxJobs); {
	case jobs > 0 && l.onTable(engine):
		subset := distributionWork(l.lattice, s.MaxJobs)
		many, gain = fewProducts/subset, distributionWork(ConnectedLattice, s.MaxJobs)/subset
		toEliminate, faster = eliminationRowTerms, 1
	case jobs > 1: // a product of series takes jobs/2 times as long as a step from one order to the next
		gain *= jobs / 2
	}
	cost := l.states * float64(l.elements())
	if l.fits(engine, prec, s) != nil {
		cost = math.Inf(1)
	}
	n, groups := len(l.problem.Classes), len(l.problem.Groups)
	instead := fmt.Sprintf("instead of 2^%d sets of servers or 2^%d of classes", groups, n)
	eliminates := engine == num.Float && !s.withoutElimination && cost > toEliminate && l.checkElimination(s) == nil &&
		(math.IsInf(cost, 1) || faster*l.toOrder < cost)
	lined := cost
	if eliminates {
		lined = l.toOrder
	}
	if cost > manyToLineUp && l.lineUp(engine, s, lined, instead) || cost <= many && !eliminates {
		return nil
	}
	if cost > manyToCheck {
		if err := checkStable(ctx, &l.component.Model); err != nil {
			return err
		}
	}
	limit := cost / gain
	switch {
	case eliminates && s.MaxJobs > 0: // connected sets have the distribution of all jobs, too
		limit = min(limit, 10*aSecond/distributionWork(ConnectedLattice, s.MaxJobs))
	case eliminates:
		limit = min(limit, l.toOrder/graphWork)
	}
	best := *l
	switch err := l.connect(ctx, s, limit); {
	case err == nil:
		l.lattice = ConnectedLattice
		l.why = fmt.Sprintf("%d connected sets of %d servers, %s", l.graph.States(), groups, instead)
	case !isInput(err):
		return err
	case eliminates: // there are too many connected sets
		*l = best
		l.lattice, l.states = EliminationLattice, float64(groups)
		if s.MaxJobs == 0 && !math.IsInf(cost, 1) {
			l.maxOrder = cost
		}
		l.why = fmt.Sprintf("%d servers, one after the other, of width %d, %s", groups, l.order.Width, instead)
	default:
		best.tooMany = l.tooMany
		*l = best
	}
	return nil
}

// prefersRows reports whether elimination has the distributions of the jobs of each class in less time than the lattice of the plan.
func (l *plan) prefersRows(engine num.Engine, s Settings) bool {
	if l.lattice == EliminationLattice || !l.hasRows(engine, s) {
		return false
	}
	terms := l.states * float64(l.elements())
	if l.graph != nil {
		terms = float64(len(l.graph.Weight))
	}
	rows := 0
	for _, list := range l.component.Classes {
		rows += len(list)
	}
	work := terms * float64(rows) * distributionWork(l.lattice, s.MaxJobs)
	return work > fewProducts && l.rowsWork(s) < work/2
}

// hasRows reports whether distributions by class are requested and elimination can find them.
func (l *plan) hasRows(engine num.Engine, s Settings) bool {
	return engine == num.Float && s.ByClass && s.MaxJobs > 0 && !s.withoutElimination && l.problem.Whole &&
		l.problem.Bits <= exactBits && l.findOrder(s) == nil
}

// rowsWork estimates how long elimination takes for them: functions of several times make one integral for each probability.
func (l *plan) rowsWork(s Settings) float64 {
	if l.order.Width > 1 {
		return l.toOrder * (1 + float64(s.MaxJobs)/5)
	}
	return l.toOrder
}

// lineUp takes the connected lattice of servers in a line or a ring, whose intervals need no graph, if there is one with less work than that and
// fits. A graph of few sets, where all classes are long, takes less.
func (l *plan) lineUp(engine num.Engine, s Settings, cost float64, instead string) bool {
	if engine != num.Float {
		return false
	}
	q := *l
	if q.byRows = s.ByClass && s.MaxJobs > 0; q.byRows && (s.Lattice != "" || !q.hasRows(engine, s)) {
		return false
	}
	c := intervals.New(l.problem)
	if c == nil || c.Work(s.MaxJobs) >= cost || c.GraphTerms()*graphWork < c.Work(0) {
		return false
	}
	q.chain, q.lattice, q.states = c, ConnectedLattice, c.Intervals()
	if q.fits(engine, 0, s) != nil {
		return false
	}
	shape := "a line"
	if c.Ring {
		shape = "a ring"
	}
	q.why = fmt.Sprintf("%.0f intervals of %d servers in %s, %s", q.states, len(l.problem.Groups), shape, instead)
	*l = q
	return true
}

// outline returns what the plan is to another, for the same component with other rates. It is not changed by those it serves.
func (l *plan) outline() *plan {
	o := *l
	o.spare, o.like = nil, nil
	if o.graph != nil {
		o.graph = o.graph.Outline()
	}
	return &o
}

// at returns the plan that newPlan makes of a component which differs from that of the outline l in a common factor of the rates.
func (l *plan) at(ctx context.Context, c *cluster.Component, engine num.Engine, prec uint, s Settings) (*plan, error) {
	if err := longWays(c, engine, s); err != nil {
		return nil, err
	}
	p := integers.New(c, engine == num.Exact)
	if l.graph != nil && !l.graph.Serves(l.problem, p) || (l.lattice == EliminationLattice || l.byRows) && (s.withoutElimination || p.Bits > exactBits) || l.written != nil {
		return newPlan(ctx, c, engine, prec, s)
	}
	q := &plan{component: c, problem: p, spare: s.spare, lattice: l.lattice, why: l.why, states: l.states, counted: l.counted, like: l,
		order: l.order, toOrder: l.toOrder, maxOrder: l.maxOrder, byRows: l.byRows}
	switch {
	case l.chain != nil:
		q.chain = intervals.New(p)
	case l.lattice == ConnectedLattice:
		if err := q.build(ctx, prec); err != nil {
			return nil, err
		}
	}
	if err := q.fits(engine, prec, s); err != nil {
		return nil, err
	}
	return q, nil
}

// tooLarge returns the error for a plan that needs more bytes than allowed.
func (l *plan) tooLarge(need float64, engine num.Engine, prec uint, s Settings) error {
	size := "out of reach"
	if need < 1e15 {
		size = fmt.Sprintf("%.0f states, %.0f MiB", l.states, need/(1<<20))
	}
	help := `merge similar classes or servers, or describe equal servers as groups with "choose"`
	var wide *num.TooLargeError
	eliminates := false
	if l.problem.Whole && s.Lattice == "" && s.byTables == "" {
		eliminates = !errors.As(l.findOrder(s), &wide)
	}
	switch {
	case eliminates && (s.Engine == num.Enclose || s.Engine == num.Exact):
		help = "use the engine auto or float, which can eliminate the servers one by one"
	case eliminates && s.MaxJobs > 0 && !s.ByClass:
		help = "leave out the distribution of the number of jobs, or ask for that of each class beside it, which can be had by eliminating the servers one by one"
	case s.byTables != "" && s.Lattice == "":
		help = s.byTables + " come from such tables only, not from eliminating servers one by one: " + help
	case s.MaxJobs > 0 && l.bytes(engine, prec, 0) <= float64(s.MaxBytes):
		help = "leave out the distribution of the number of jobs, which needs most of it"
	case s.Lattice != "":
		help = "leave the choice of the lattice open"
	case (s.Engine == num.Enclose || s.Engine == num.Exact) && l.bytes(num.Float, 0, s.MaxJobs) <= float64(s.MaxBytes):
		help = "use the float engine, which needs less"
	}
	if l.tooMany > 0 {
		size += fmt.Sprintf(", and the connected lattice has more than %s terms, which is the limit", thousands(l.tooMany))
	}
	if wide != nil {
		size += fmt.Sprintf("; eliminating servers one by one takes %s, and %d is the limit", wide.Input.Value, elimination.MaxWidth)
	}
	return &num.TooLargeError{States: l.states, Bytes: need, Limit: s.MaxBytes, Input: input.Errorf("model",
		fmt.Sprintf("%d classes on %d rows of servers", len(l.problem.Classes), len(l.problem.Groups)),
		"tables of at most %d MiB; those of the %s lattice are %s: %s", s.MaxBytes>>20, l.lattice, size, help)}
}

// cheapest takes the class or the server lattice.
func (l *plan) cheapest(classes, servers float64) {
	n, groups := len(l.problem.Classes), len(l.problem.Groups)
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
		return len(l.problem.Classes)
	}
	return len(l.problem.Groups)
}

const bytesPerTerm = 48 // of a graph of connected sets

// mostConnectedTerms is the most terms of a graph of connected sets. It takes a second to count as many, and some to find them.
const mostConnectedTerms = 2e7

// connect builds the graph of connected sets, if it has at most limit terms and fits into memory. They are counted before.
func (l *plan) connect(ctx context.Context, s Settings, limit float64) error {
	limit = math.Floor(min(limit, float64(s.MaxBytes)/bytesPerTerm, mostConnectedTerms))
	if s.MaxWork > 0 {
		limit = math.Floor(min(limit, s.MaxWork/graphWork))
	}
	g, used, err := recursion.ConnectedGraph(ctx, l.problem, int(limit))
	if err != nil {
		return err
	}
	if g == nil {
		l.tooMany = limit
		return &num.TooLargeError{States: float64(used), Bytes: bytesPerTerm * float64(used), Limit: s.MaxBytes, Input: input.Errorf("model",
			fmt.Sprintf("%d classes on %d servers", len(l.problem.Classes), len(l.problem.Groups)),
			"at most %s terms over the connected sets of servers of the connected lattice", thousands(limit))}
	}
	l.graph, l.states, l.counted = g, float64(g.States()), float64(used)
	return nil
}

// thousands writes a whole number with commas between groups of three digits.
func thousands(x float64) string {
	digits := fmt.Sprintf("%.0f", x)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// onTable reports whether the engine sweeps a table of all subsets.
func (l *plan) onTable(engine num.Engine) bool {
	return engine == num.Float && (l.lattice == ClassLattice || l.lattice == ServerLattice)
}

// longWays refuses what takes fractions of so many bits, as the numbers of ways to choose servers ask for, that they
// cannot fit into memory, before any is made: d(k) and M(k) of all states and, for the exact engine, values whose
// denominators are products of one d(k) a layer; see [fractions.Evaluate]. log2 of the ways, less the bits of the numbers
// that may cancel and some for M(k) near λ(k), is what each takes.
func longWays(c *cluster.Component, engine num.Engine, s Settings) error {
	if engine != num.Exact {
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
		length = max(length, integers.Log2Ways(c.Model.Servers, k.Servers)-float64(k.ArrivalRate.Num().BitLen()+cancels))
	}
	if length == 0 { // there are few ways
		return nil
	}
	need := states * length / 8 * 2
	if s.Engine == num.Exact {
		need += states * length / 8 * layers * 2
	}
	if need <= float64(s.MaxBytes) {
		return nil
	}
	return &num.TooLargeError{States: states, Bytes: need, Limit: s.MaxBytes, Input: input.Errorf("engine", num.Exact, "a smaller model: "+
		"fractions for the %.0f states (lattice %q) take %.0f MiB, more than %d MiB, for the numbers of ways to choose servers are long; enclose gives as many digits as asked",
		states, SymmetricLattice, need/(1<<20), s.MaxBytes>>20)}
}

// bytes estimates the memory of the tables. Graphs hold about 40 bytes a state and 16 a term, and a big integer for
// each count of servers of a group; on the symmetric lattice also the number of ways for each class. Enclosures keep
// two numbers a state, or three, for either bound. The exact engine counts its numbers by themselves, too; the sweeps
// of the derivatives keep several. It is +Inf beyond the 2^31 states, terms and entries that a graph can number.
func (l *plan) bytes(engine num.Engine, prec uint, maxJobs int) float64 {
	p := l.problem
	switch {
	case l.lattice == EliminationLattice:
		return 0 // messages of one variable are small
	case l.chain != nil:
		return l.chain.Bytes(maxJobs)
	}
	long := 0.0 // bytes of an integer that does not fit into a word
	if !p.Small {
		long = 96 + float64(p.Bits)/8
	}
	graph := 80 + 20*float64(l.elements())
	entries := l.states * float64(l.elements())
	fixed := 0.0
	numbers := 6.0
	switch {
	case l.lattice == SymmetricLattice && !p.Whole:
		perClass := 12.
		switch {
		case p.Shared:
			perClass, numbers = 4, 4
			graph += 8
			if engine != num.Float {
				graph += bigFloatBytes(prec)
			}
			fixed = l.tableBytes(engine, prec)
		case !p.Small:
			perClass += long
			graph += 3 * long
		}
		graph += perClass * float64(len(p.Classes))
		entries = l.states * float64(max(l.elements(), len(p.Classes)))
		for _, g := range p.Groups {
			fixed += (96 + float64(g.Capacity.BitLen())/8) * float64(g.N)
		}
	case !p.Small:
		graph += 3 * long
	}
	if l.graph != nil {
		graph += 16*float64(len(l.graph.Weight))/l.states + float64(len(p.Groups))/8
		entries = 0
	}
	perState := graph
	switch {
	case engine == num.Float && l.lattice == ClassLattice:
		perState = 8
	case engine == num.Float && l.lattice == ServerLattice:
		perState = 24
	case engine == num.Float:
		perState += 56
	case engine == num.Enclose:
		perState += numbers * bigFloatBytes(prec)
	default:
		perState += 480
	}
	if maxJobs > 0 {
		if l.onTable(engine) {
			perState += graph // the series run over a graph
		}
		switch {
		case l.lattice == ConnectedLattice && engine == num.Float:
			perState += 64 * float64(maxJobs)
		case l.lattice == ConnectedLattice:
			perState += (64 + 2*bigFloatBytes(prec)) * float64(maxJobs)
		case engine == num.Float:
			perState += 56
		case engine == num.Enclose:
			perState += 2 * bigFloatBytes(prec)
		}
	}
	if entries >= 1<<31 && (!l.onTable(engine) || maxJobs > 0) {
		return math.Inf(1)
	}
	return perState*l.states + fixed
}

// classBytes estimates the memory of a distribution of the number of jobs of a class, beside the graph.
func (l *plan) classBytes(engine num.Engine, prec uint, maxJobs int) float64 {
	perState := 400.
	if engine == num.Enclose {
		perState += 6 * bigFloatBytes(prec)
	}
	return l.bytes(engine, prec, maxJobs) + perState*l.states
}

// bigFloatBytes returns the memory of a big.Float of prec bits that products are written to.
func bigFloatBytes(prec uint) float64 { return 72 + 16*math.Ceil(float64(prec)/64) }

// tableBytes returns the memory of the tables of shares.
func (l *plan) tableBytes(engine num.Engine, prec uint) float64 {
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
	return float64(entries) * (8 + bigFloatBytes(max(prec, recursion.FloatShares)+128))
}

// memory estimates the memory of the plan, its choice included.
func (l *plan) memory(engine num.Engine, prec uint, maxJobs int) float64 {
	return max(l.bytes(engine, prec, maxJobs), bytesPerTerm*l.counted)
}

// build makes the graph of the plan, for an engine of this precision.
func (l *plan) build(ctx context.Context, prec uint) error {
	if l.graph != nil {
		return nil
	}
	var g *recursion.Graph
	var err error
	switch {
	case l.like != nil && l.like.graph != nil:
		g, err = l.like.graph.For(ctx, l.like.problem, l.problem)
	case l.lattice == ClassLattice:
		g, err = recursion.ClassGraph(ctx, l.problem)
	default:
		g, err = recursion.SymmetricGraph(ctx, l.problem, max(prec, recursion.FloatShares))
	}
	if err == nil {
		l.graph = g
	}
	return err
}

// measure solves the component.
func (l *plan) measure(ctx context.Context, engine num.Engine, prec uint, maxBytes int64) (measures, error) {
	workers := runtime.GOMAXPROCS(0)
	if l.onTable(engine) {
		if l.lattice == ClassLattice {
			return floatClasses(ctx, l.problem, l.spare, workers)
		}
		return floatServers(ctx, l.problem, l.spare, workers)
	}
	if l.chain != nil {
		x, err := l.chain.Solve(ctx)
		return measures{normalization: x.Normalization, jobs: x.Jobs, busy: x.Busy}, err
	}
	if err := l.build(ctx, prec); err != nil {
		return measures{}, err
	}
	switch engine {
	case num.Float:
		x, err := doubles.Evaluate(ctx, l.problem, l.graph)
		return measures{normalization: x.Normalization, jobs: x.Jobs, busy: x.Busy}, err
	case num.Enclose:
		x, err := enclosures.Evaluate(ctx, l.problem, l.graph, prec)
		return measures{normalization: x.Normalization, jobs: x.Jobs, busy: x.Busy}, err
	default:
		x, err := fractions.Evaluate(ctx, l.problem, l.graph, string(l.lattice), maxBytes-int64(l.bytes(num.Exact, 0, 0)))
		numbers := func(list []*big.Rat) (numbers []arithmetic.Number) {
			for _, r := range list {
				numbers = append(numbers, arithmetic.Number{Exact: r})
			}
			return numbers
		}
		return measures{normalization: arithmetic.Number{Exact: x.Normalization}, jobs: numbers(x.Jobs), busy: numbers(x.Busy)}, err
	}
}
