package bf

import "productform/num"

// The constants in this file decide which lattice answers. They count operations: additions and
// products of float64 over tables of sets.
const (
	// opsPerSecond is the number of operations per second on one core.
	opsPerSecond = 1e9

	// A term of a graph takes opsPerTerm in float64, including the construction of the graph, and
	// opsPerBigTerm with the other engines. A product of two coefficients of a series takes
	// opsPerCoefficient.
	opsPerTerm, opsPerBigTerm, opsPerCoefficient = 200, 2000, 20

	// Methods that take less than minCompared, about 10 ms, are not compared.
	minCompared = 1e7

	// An element of a set of servers takes serverGain times as long as one of a set of classes,
	// because the sweep over sets of servers reads one more table.
	serverGain = 1.5
)

// Connected sets are counted if the lattice of all sets has more terms than one of these limits.
// They answer if they have at most 1/gain as many terms. The reasons for the gains:
const (
	manyTableTerms = 1 << 31 // two seconds of a sweep over a table
	tableGain      = 1 << 12 // terms that such a sweep adds up while a graph finds one term
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
	// than intervalTerms, which take some milliseconds.
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

// Derivatives of the mean number of all jobs take meanDerivative operations per term of a graph,
// both sweeps included, and eliminationSweep per operation of the estimate for elimination. Both
// were measured on trees of 14 to 19 servers. Derivatives of each class take floatDerivative per
// term and class, or longDerivative if classes are far apart, where only enclosures have their
// digits. Elimination takes over above slowGradientOps, three seconds.
const (
	meanDerivative, eliminationSweep                 = 1500, 5
	floatDerivative, longDerivative, slowGradientOps = 700, 10000, 3e9
)

// distributionOps returns the operations in float64 for the distribution of the number of all jobs,
// per term of a table of sets or of a graph of connected sets: the graph, a step from each order to
// the next and, on connected sets, a product of series.
func distributionOps(lattice Lattice, jobs int) float64 {
	n := float64(jobs)
	if lattice == ConnectedLattice {
		return opsPerTerm + 10*n + 0.04*n*n
	}
	return 10 + 2*n
}

// connectedGain returns the number of terms of a plan on sets above which connected sets are
// counted, and how many times fewer terms connected sets must have.
func (l *plan) connectedGain() (many, gain float64) {
	jobs := float64(l.s.MaxJobs)
	onTable := usesMethod[tables](l)
	many, gain = manyGraphTerms, graphGain
	switch {
	case onTable && jobs == 0:
		return manyTableTerms, tableGain
	case onTable:
		sets := distributionOps(l.lattice, l.s.MaxJobs)
		return minCompared / sets, distributionOps(ConnectedLattice, l.s.MaxJobs) / sets
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
