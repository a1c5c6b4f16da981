package bf

import "productform/num"

// The constants below decide which lattice answers. Work is counted in additions and products of tables of float64; a
// core does about aSecond of them per second.
const (
	aSecond = 1e9

	// A term of a graph takes graphWork in float64, building included, and longWork in other engines. A product of two
	// coefficients of a series takes seriesWork.
	graphWork, longWork, seriesWork = 200, 2000, 20

	// Methods are not compared below fewProducts, about 10 ms.
	fewProducts = 1e7
)

// Connected sets are counted if the lattice of sets has more than many terms, and taken if they have at most 1/gain of
// these. A sweep over a table of sets goes through tableGain terms in the time that it takes to find one term of a
// connected set; fractions of connected sets, which are multiplied, are longer than those of sets. Derivatives take as
// long for each term of either, of which sets have half as many as they have states times elements.
const (
	manyTableTerms, tableGain = 1 << 31, 1 << 12 // two seconds
	manyGraphTerms, graphGain = 1 << 12, 4
	exactGain                 = 8
	fewTerms, derivativeGain  = 1 << 8, 2
)

const (
	// manyToCheck is the number of terms above which a flow tells whether a model is stable before connected sets are
	// counted.
	manyToCheck = 1 << 18

	// Servers in a line or a ring have tables of intervals where those of sets have more than manyToLineUp terms: some
	// milliseconds.
	manyToLineUp = 1 << 22

	// Servers are eliminated if the tables of sets have more than eliminationTerms, about 30 ms, and more than twice the
	// estimate for elimination. Below that, tables are as fast and have more digits.
	eliminationTerms = 1 << 25

	// eliminationRowTerms is the same limit for requests of distributions. Elimination omits the distribution of all jobs.
	eliminationRowTerms = 1 << 28

	// mostConnectedTerms is the most terms of a graph of connected sets. It takes a second to count as many, and some to
	// find them; each takes bytesPerTerm.
	mostConnectedTerms, bytesPerTerm = 2e7, 48

	// mostProducts limits an elimination that has no other limit of work.
	mostProducts = 1e11

	// mostWritten limits the classes, and the servers, of a model whose groups are written out for elimination.
	mostWritten = 20000
)

// Derivatives of the mean number of all jobs take meanDerivative for each term of a graph, both sweeps, and elimination
// eliminationSweep for each operation of its estimate: measured on trees of 14 to 19 servers. Those of each class take
// floatDerivative or longDerivative per term and class, longDerivative for classes far apart, which get their digits
// between bounds only. Elimination takes over if all sweeps take more than manyToDerive, three seconds.
const (
	meanDerivative, eliminationSweep              = 1500, 5
	floatDerivative, longDerivative, manyToDerive = 700, 10000, 3e9
)

// distributionWork returns the work in float64 for the distribution of the number of all jobs, per
// term of a table of subsets or of a graph of connected sets. It counts the graph, a step from each
// order to the next and, on connected sets, a product of series.
func distributionWork(lattice Lattice, jobs int) float64 {
	n := float64(jobs)
	if lattice == ConnectedLattice {
		return graphWork + 10*n + 0.04*n*n
	}
	return 10 + 2*n
}

// connectedGain returns the number of terms of a plan on sets above which connected sets are counted, and how many times
// fewer terms these need to have.
func (l *plan) connectedGain() (many, gain float64) {
	jobs := float64(l.s.MaxJobs)
	onTable := isOn[tables](l)
	many, gain = manyGraphTerms, graphGain
	switch {
	case onTable && jobs == 0:
		return manyTableTerms, tableGain
	case onTable:
		sets := distributionWork(l.lattice, l.s.MaxJobs)
		return fewProducts / sets, distributionWork(ConnectedLattice, l.s.MaxJobs) / sets
	case l.engine == num.Exact && l.s.Engine == num.Exact:
		gain = exactGain
	case l.engine == num.Exact: // the graph is for derivatives
		many, gain = fewTerms, derivativeGain
	}
	if jobs > 1 { // a product of series takes jobs/2 times as long as a step from one order to the next
		gain *= jobs / 2
	}
	return many, gain
}
