package whittle

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// Settings selects the arithmetic. The zero value means float64.
type Settings struct {
	Engine num.Engine // Float or Exact; "" and Auto mean Float
}

// A Result holds the stationary measures of a network, tabulated on a lattice. The network is not
// limited to the lattice: Outside holds the part that the tables leave out. Lists of classes are in
// the order of the arrival rates.
type Result struct {
	Engine  num.Engine // Float or Exact; Enclose for [StationaryOfBalance]
	Lattice Lattice

	Inside           num.Value   // Σ w(x) over the lattice, w(x) = Φ(x) Π_i λ_i^x_i
	Outside          num.Value   // Σ w(x) over all other states
	Normalization    num.Value   // Z = Inside + Outside
	EmptyProbability num.Value   // π(0) = 1/Z
	MassLeftOut      num.Value   // P(X outside the lattice)
	MeanLeftOut      []num.Value // E[X_i; X outside the lattice], by which truncation lowers the mean
	MeanJobs         []num.Value // E[X_i]

	// Marginals is P(X_i = k; X in the lattice) in row i, column k, up to the largest in the
	// lattice. P(X_i = k) exceeds it by at most MassLeftOut.
	Marginals [][]num.Value

	// JobsDistribution is P(Σ_i X_i = n; X in the lattice), n up to the largest in the lattice. It
	// is P(Σ_i X_i = n) if the lattice holds all states of n jobs, as a simplex does; otherwise
	// this exceeds it by at most MassLeftOut.
	JobsDistribution []num.Value

	// RelativeErrorBound is a proved bound on the relative error of every number of Float that is
	// at least 1e-200; a smaller one is off by less than 1e-200. It is 0 if the numbers are
	// fractions or have bounds.
	RelativeErrorBound float64

	weights        []float64  // w(x) at Lattice.Index(x), with Float
	phi, fractions []*big.Rat // Φ(x) and w(x) there, with other engines
	low, high      *big.Rat   // low <= Z <= high, with other engines
}

// Weight returns w(x) = Φ(x) Π_i λ_i^x_i for the state at an index of the lattice, hence π(x) =
// w(x)/Z. It is a fraction unless the engine is Float.
func (r *Result) Weight(index int) num.Value {
	if r.weights != nil {
		return float(r.weights[index])
	}
	return num.ExactValue(r.fractions[index])
}

// Prob returns π(x) for the state at an index of the lattice.
func (r *Result) Prob(index int) num.Value {
	if r.weights != nil {
		return float(r.weights[index] / r.Normalization.Float)
	}
	return r.overZ(r.fractions[index], r.fractions[index])
}

// Phi returns Φ(x) for the state at an index of the lattice, as a fraction that the caller
// must not change. It is nil if the engine is Float, which tabulates w(x) only.
func (r *Result) Phi(index int) *big.Rat {
	if r.phi == nil {
		return nil
	}
	return r.phi[index]
}

// Stationary returns the stationary measures (3) of n, with the balance function (4) tabulated on
// l. It computes the sums outside l, too (package comment), so means and Z do not depend on l.
//
// Exact takes at most [MaxExactStates] states: N operations on fractions per state, N^2 per state
// of the border and N^2 2^N for the part outside. The fractions grow with Σ x_i: 10^4 states of
// five classes take about a second.
//
// Float takes at most [MaxStates] states: 8 bytes and about 2N additions per state. Rates are
// rounded once, as the exact quotients λ_i/μ(A) and λ_i/(μ(A) - Σ_{j∈A} λ_j). After that only
// positive numbers are added, multiplied and divided. Let u = 2^-53 and n be the maximum number of
// jobs in a state. With sums over states compensated (Ogita, Rump and Oishi, "Accurate sum and dot
// product", SIAM J. Sci. Comput. 26, 2005, Proposition 4.5),
//
//	RelativeErrorBound = e/(1-e),  e = 2((N+1) n + 24) u + 2 v,
//
// with v the bound that the sums outside carry along, whatever the load.
//
// The error is a *[num.InputError] with the path of the entry out of range, or an
// *[cluster.UnstableError], which wraps [num.ErrUnstable], if (5) fails. Float also rejects arrival
// rates below 2^-150 μ(A) and networks so close to instability that a unit of weight spreads over
// more than 2^200, which are for Exact. n is not modified, but the result may share its numbers.
func Stationary(ctx context.Context, n *Network, l Lattice, s Settings) (*Result, error) {
	engine, err := arithmetic.FloatOrExact(s.Engine)
	if err != nil {
		return nil, err
	}
	most, solve := MaxStates, stationaryFloat
	if engine == num.Exact {
		most, solve = MaxExactStates, stationaryExact
	}
	y, err := newLayout(l, most)
	if err != nil {
		return nil, err
	}
	if err := n.checkOn(ctx, y); err != nil {
		return nil, err
	}
	return solve(ctx, n, l, y)
}
