package whittle

import (
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// A Result holds the stationary measures of the network of a rank function, tabulated on a lattice in float64.
// Every number of at least 1e-200 is within the factor 1 ± RelativeErrorBound of the exact value for the model as
// written; a smaller one differs from it by less than 1e-200.
type Result struct {
	Lattice Lattice
	Weights []float64 // w(x) = Φ(x) Π_i λ_i^x_i at Lattice.Index(x); π(x) = w(x)/Normalization, within RelativeErrorBound, too

	Normalization      float64     // Z = Σ_x w(x) over all states, those outside the lattice included
	EmptyProbability   float64     // π(0) = 1/Z
	MassLeftOut        float64     // P(X outside the lattice)
	MeanLeftOut        []float64   // E[X_i; X outside the lattice]
	MeanJobs           []float64   // E[X_i]
	Marginals          [][]float64 // P(X_i = k; X in the lattice) in row i, column k; P(X_i = k) exceeds it by at most MassLeftOut
	JobsDistribution   []float64   // P(Σ_i X_i = n; X in the lattice), likewise
	RelativeErrorBound float64     // proved bound on the relative rounding error
}

// Prob returns π(x) for the state at an index of the lattice.
func (r *Result) Prob(index int) float64 { return r.Weights[index] / r.Normalization }

// Stationary is [StationaryExact] in float64, for lattices of up to [MaxStates] states: 8 bytes and some 2N
// additions a state. Rates are rounded once, as the exact quotients λ_i/μ(A) and
// λ_i/(μ(A) - Σ_{j∈A} λ_j), and then only positive numbers are added, multiplied and divided, so
// that with u = 2^-53, n the most jobs in a state, and sums over states compensated (Ogita, Rump and Oishi, "Accurate sum
// and dot product", SIAM J. Sci. Comput. 26, 2005, Proposition 4.5),
//
//	RelativeErrorBound = ku/(1-ku),  k = 2((N+1) n + (N+1)(2N+5) + 24),
//
// whatever the load. The error is that of StationaryExact; also an *[cluster.InputError] for arrival rates below
// 2^-150 μ(A) and networks so close to instability that a unit of weight spreads over more than 2^200, which
// are for StationaryExact.
func Stationary(n Network, l Lattice) (*Result, error) {
	y, err := newLayout(l, MaxStates)
	if err != nil {
		return nil, err
	}
	if err := n.checkOn(y); err != nil {
		return nil, err
	}
	m, err := newFloatModel(n)
	if err != nil {
		return nil, err
	}
	r := &Result{Lattice: l, Weights: make([]float64, y.states)}
	s := newFloatSums(y)
	s.tabulate(newWalker(y), m, r.Weights)
	r.summarize(y, m, s)
	return r, nil
}

// relativeError counts roundings, each of a factor within 1 ± u. A weight takes for each job the
// coefficient, the product and N-1 additions: (N+1) n. V(A) takes N+2 a class not in A and 2 for the
// first term, U_j(A) one more and those of V, in all (N+1)(2N+5) at most. The rest is the outflow (rate, product and x_j: 3), compensated
// sums at 2 each (with at most 2^26 terms; inflow, outflow, dot products: 3 times), the sum of
// inside and outside, the factor k of a mean and the division: less than 24. A quotient counts twice.
func relativeError(classes, jobs int) float64 {
	k := 2 * ((classes+1)*jobs + (classes+1)*(2*classes+5) + 24)
	ku := float64(k) * 0x1p-53
	return ku / (1 - ku) * (1 + 0x1p-50)
}

// A floatModel holds the coefficients of a network, flat, with that of set A and class i at A*classes+i.
type floatModel struct {
	classes int
	lambda  []float64
	step    []float64 // λ_i/μ(A)
	mass    []float64 // V(A) at A
	jobs    []float64 // U_i(A)
}

// newFloatModel computes V and U as in newSpread. Ratios are exact until rounded, so nothing cancels.
func newFloatModel(n Network) (floatModel, error) {
	classes := len(n.ArrivalRates)
	sets := 1 << classes
	m := floatModel{
		classes: classes,
		lambda:  make([]float64, classes),
		step:    make([]float64, sets*classes),
		mass:    make([]float64, sets),
		jobs:    make([]float64, sets*classes),
	}
	for i, rate := range n.ArrivalRates {
		m.lambda[i], _ = rate.Float64()
		if !normal(m.lambda[i]) && rate.Sign() > 0 {
			return m, tooExtreme(i, rate)
		}
	}
	lambda := setSums(n.ArrivalRates)
	ratio, margin := new(big.Rat), new(big.Rat)
	spread := make([]float64, classes) // λ_i/(μ(A) - λ(A))
	for a := sets - 1; a > 0; a-- {
		margin.Sub(n.Rank[a], lambda[a])
		for i, rate := range n.ArrivalRates {
			m.step[a*classes+i], _ = ratio.Quo(rate, n.Rank[a]).Float64()
			spread[i], _ = ratio.Quo(rate, margin).Float64()
			if !normal(m.step[a*classes+i]) && rate.Sign() > 0 {
				return m, tooExtreme(i, rate)
			}
		}
		m.mass[a], _ = ratio.Inv(margin).Float64()
		for i := range classes {
			if b := a | 1<<i; b != a {
				m.mass[a] += spread[i] * m.mass[b]
				for j := range classes {
					m.jobs[a*classes+j] += spread[i] * m.jobs[b*classes+j]
				}
			}
		}
		for j := range classes {
			m.jobs[a*classes+j] += spread[j] * m.mass[a|1<<j]
		}
		rank, _ := n.Rank[a].Float64()
		for _, v := range append(m.jobs[a*classes:(a+1)*classes:(a+1)*classes], m.mass[a]) {
			if !(rank*v <= 0x1p200 && normal(m.mass[a])) {
				return m, input.Errorf("ArrivalRates", n.ArrivalRates, "rates farther from instability, or the exact engine")
			}
		}
	}
	return m, nil
}

// normal reports whether v is well inside the range of float64: products with weights then
// underflow only where the result is below any digit that counts.
func normal(v float64) bool { return v >= 0x1p-150 && v <= 0x1p150 }

func tooExtreme(i int, rate *big.Rat) error {
	return input.Errorf(path("ArrivalRates", i), rate.RatString(), "0, or a rate in 2^-150..2^150 and at least 2^-150 of every rank, or the exact engine")
}

// floatSums are sums of weights over the lattice and over the flows out of it.
type floatSums struct {
	first     []int     // marginals of class i start at first[i]
	marginals []num.Sum // Σ w(x) over x_i = k
	total     []num.Sum // Σ w(x) over Σ_i x_i = n
	flow      []num.Sum // inflow of set A outside: Σ λ_i w(y) over y in the lattice, y+e_i outside with active set A
	moment    []num.Sum // Σ λ_i w(y) (y+e_i)_j at A*classes+j
}

func newFloatSums(y layout) *floatSums {
	s := &floatSums{first: make([]int, y.classes), total: make([]num.Sum, y.total+1)}
	entries := 0
	for i := range y.classes {
		s.first[i] = entries
		entries += y.most(i) + 1
	}
	s.marginals = make([]num.Sum, entries)
	s.flow = make([]num.Sum, 1<<y.classes)
	s.moment = make([]num.Sum, y.classes<<y.classes)
	return s
}

// tabulate fills weights by (4) times Π_i λ_i^x_i, w(x) = Σ_{i: x_i>0} λ_i/μ(A(x)) w(x-e_i), and adds each to the sums.
func (s *floatSums) tabulate(w *walker, m floatModel, weights []float64) {
	weights[0] = 1
	for more := true; more; more = w.next() {
		var v float64
		if w.at == 0 {
			v = 1
		}
		step := m.step[int(w.active)*m.classes:][:len(w.x)]
		border := w.limits == nil && w.jobs == w.total
		for i, k := range w.x {
			if k > 0 {
				v += step[i] * weights[w.at-w.drop[i]]
			}
			if w.limits != nil && k == w.limits[i] {
				border = true
			}
		}
		weights[w.at] = v
		for i, k := range w.x {
			s.marginals[s.first[i]+k].Add(v)
		}
		s.total[w.jobs].Add(v)
		if border {
			s.leave(w, m, v)
		}
	}
}

// leave adds what flows out of the lattice from the state of w, of weight v.
func (s *floatSums) leave(w *walker, m floatModel, v float64) {
	for i, rate := range m.lambda {
		if !w.leaves(i) {
			continue
		}
		a := int(w.active | 1<<i)
		flow := rate * v
		s.flow[a].Add(flow)
		moment := s.moment[a*m.classes:][:len(w.x)]
		for j, k := range w.x {
			if j == i {
				k++
			}
			moment[j].Add(flow * float64(k))
		}
	}
}

// summarize fills r from the sums, with x_j V(A) + U_j(A) jobs for a unit that enters A in x.
func (r *Result) summarize(y layout, m floatModel, s *floatSums) {
	var inside, outside num.Sum
	means, meansOutside := make([]num.Sum, y.classes), make([]num.Sum, y.classes)
	for _, c := range s.total {
		inside.Add(c.Value())
	}
	for a := 1; a < len(s.flow); a++ {
		flow := s.flow[a].Value()
		outside.Add(flow * m.mass[a])
		for j := range meansOutside {
			meansOutside[j].Add(s.moment[a*m.classes+j].Value() * m.mass[a])
			meansOutside[j].Add(flow * m.jobs[a*m.classes+j])
		}
	}
	z := inside.Value() + outside.Value()
	r.Normalization, r.EmptyProbability, r.MassLeftOut = z, 1/z, outside.Value()/z
	for i := range y.classes {
		law := make([]float64, y.most(i)+1)
		for k := range law {
			weight := s.marginals[s.first[i]+k].Value()
			means[i].Add(float64(k) * weight)
			law[k] = weight / z
		}
		r.Marginals = append(r.Marginals, law)
		r.MeanJobs = append(r.MeanJobs, (means[i].Value()+meansOutside[i].Value())/z)
		r.MeanLeftOut = append(r.MeanLeftOut, meansOutside[i].Value()/z)
	}
	for _, c := range s.total {
		r.JobsDistribution = append(r.JobsDistribution, c.Value()/z)
	}
	most := 0
	for i := range y.classes {
		most = max(most, y.most(i))
	}
	r.RelativeErrorBound = relativeError(y.classes, max(y.total, most))
}
