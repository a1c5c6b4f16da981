package bf

import "productform/num"

// The constants in this file decide which method answers. They count operations: one takes about a
// nanosecond on one core. `go run ./internal/cmd/tool calibrate` measures them.
const (
	// opsPerSecond is the number of operations per second, by definition.
	opsPerSecond = 1e9

	// opsPerTerm and opsPerBigTerm are the numbers of operations per term of a graph, in float64
	// and with the other engines. They include the construction of the graph.
	opsPerTerm, opsPerBigTerm = 200, 2000

	// opsPerCoefficient is the number of operations per term of a graph and per number of jobs, for
	// the distribution of the number of all jobs.
	opsPerCoefficient = 20

	// opsPerRowState and opsPerRowTerm are the numbers of operations for the distribution of the
	// jobs of one row of classes: per state of a graph, for the rate of the row there, and per term
	// and number of jobs.
	opsPerRowState, opsPerRowTerm = 1500, 40

	// opsPerRowSweep relates the distributions of all rows in width 1 to the estimate for
	// elimination: the factor on that estimate, per number of jobs. These are integrals over the
	// same panels.
	opsPerRowSweep = 0.3

	// opsPerFirstStep is the number of operations per term of a table of sets, for its graph and
	// the first steps of delays over it.
	opsPerFirstStep = 100

	// Methods that take less than minCompared operations, about 10 ms, are not compared.
	minCompared = 1e7

	// Delays over a table and distributions by class are compared with other methods only above
	// minCounted operations, about 1 ms: the estimates of these methods take less time than that.
	minCounted = 1e6

	// serverGain is the time per element of a set of servers over the time per element of a set of
	// classes. The sweep over sets of servers reads one more table.
	serverGain = 1.5
)

// Connected sets are counted if the lattice of all sets has more terms than one of these limits.
// They answer if they have at most 1/gain as many terms. The reasons for the gains:
const (
	// A sweep over a table of manyTableTerms takes about 10 ms. It sums half of tableGain terms in
	// the time in which a graph finds one. The other half is for counting sets that turn out to be
	// too many, which then takes a fifth of the sweep.
	manyTableTerms = 1 << 25
	tableGain      = 1 << 10
	manyGraphTerms = 1 << 12
	graphGain      = 4 // finding connected sets takes longer than numbering all sets
	exactGain      = 8 // fractions of connected sets are products, so they are longer
	fewTerms       = 1 << 8
	derivativeGain = 2 // a term of either takes as long; all sets have half as many as states times elements
)

const (
	// stabilityTerms is the number of terms above which a maximum flow decides whether a model is
	// stable before connected sets are counted.
	stabilityTerms = 1 << 18

	// Servers in a line or a ring are solved over intervals if the lattice of all sets has more
	// than intervalTerms, which take a few milliseconds.
	intervalTerms = 1 << 22

	// Servers are eliminated if the tables of sets have more than eliminationTerms, about 30 ms,
	// and more than twice the estimate for elimination. Below that, tables are as fast and have
	// more digits.
	eliminationTerms = 1 << 25

	// eliminationRowTerms is the same limit for requests of distributions. Elimination omits the
	// distribution of all jobs.
	eliminationRowTerms = 1 << 28

	// maxConnectedTerms is the largest graph of connected sets. Counting this many terms takes one
	// second and finding them several; each takes bytesPerTerm.
	maxConnectedTerms, bytesPerTerm = 2e7, 48

	// maxProducts limits eliminations unless Settings.MaxWork does.
	maxProducts = 1e11

	// maxExpanded limits the classes, and the servers, of a model whose groups are expanded for
	// elimination.
	maxExpanded = 20000
)

// Derivatives of the mean number of all jobs, and of each class.
const (
	// meanDerivative is the number of operations per term of a graph, both sweeps included, for the
	// derivatives of the mean number of all jobs.
	meanDerivative = 1500

	// eliminationSweep is the factor on the estimate for elimination that gives the operations for
	// the same derivatives in width 1.
	eliminationSweep = 5

	// slopeGain is the work of a graph over that of elimination above which elimination is tried.
	// If its bounds miss the tolerance, it has cost half as much as the graph.
	slopeGain = 2

	// Derivatives of each class take floatDerivative operations per term and class, or
	// longDerivative if classes are so far apart that only enclosures have enough digits.
	// Elimination takes over above slowGradientOps, three seconds.
	floatDerivative, longDerivative, slowGradientOps = 700, 10000, 3e9
)

// tableOps and connectedOps return the operations in float64 for the distribution of the number of
// all jobs, per term of a table of sets or of a graph of connected sets. They count the graph, a
// step from each order to the next and, on connected sets, a product of series.
func tableOps(jobs int) float64 { return 10 + 2*float64(jobs) }

func connectedOps(jobs int) float64 {
	n := float64(jobs)
	return opsPerTerm + 10*n + 0.04*n*n
}

// rowOps returns the operations in float64 for the distributions of the jobs of all rows of classes
// on a graph.
func (q *query) rowOps(states, terms float64) float64 {
	rows := 0
	for _, list := range q.component.Classes {
		rows += len(list)
	}
	return float64(rows) * (opsPerRowState*states + opsPerRowTerm*terms*float64(q.s.MaxJobs))
}

// connectedGain returns the number of terms of a plan on sets of single servers above which connected
// sets are counted, and how many times fewer terms connected sets must have.
func (l *plan) connectedGain() (many, gain float64) {
	jobs := float64(l.s.MaxJobs)
	many, gain = manyGraphTerms, graphGain
	switch {
	case l.engine == num.Float && l.s.ByClass:
		rows := l.rowOps(l.states, l.graphTerms()) / l.terms()
		sets := tableOps(l.s.MaxJobs) + rows
		// A connected set has as many terms as another has elements, which are counted twice.
		return minCounted / sets, (connectedOps(l.s.MaxJobs) + 2*rows) / sets
	case l.engine == num.Float && jobs == 0:
		return manyTableTerms, tableGain
	case l.engine == num.Float:
		sets := tableOps(l.s.MaxJobs)
		return minCompared / sets, connectedOps(l.s.MaxJobs) / sets
	case l.engine == num.Exact && l.s.Engine == num.Exact:
		gain = exactGain
	case l.engine == num.Exact: // the graph is of derivatives
		many, gain = fewTerms, derivativeGain
	}
	if jobs > 1 { // a product of series takes jobs/2 times as long as a step from one order to the next
		gain *= jobs / 2
	}
	return many, gain
}
