package whittle

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/lattice"
	"productform/num"
)

// stationaryFloat works like [Stationary] in float64.
func stationaryFloat(ctx context.Context, n *Network, l Lattice, y lattice.Lattice) (*Result, error) {
	m, err := newFloatModel(ctx, n)
	if err != nil {
		return nil, err
	}
	r := &Result{Engine: num.Float, Lattice: l, weights: make([]float64, y.States)}
	s := newFloatSums(y)
	if err := s.tabulate(ctx, lattice.Walk(y), m, r.weights); err != nil {
		return nil, err
	}
	r.summarizeFloat(y, m, s)
	return r, nil
}

// relativeError counts roundings, each of a factor within 1 ± u, in addition to those of V and U. A
// weight takes for each job the coefficient, the product and N-1 additions: (N+1) n. The rest is
// the outflow (rate, product and x_j: 3), compensated sums at 2 each (with at most 2^26 terms;
// inflow, outflow, dot products: 3 times), the sum of inside and outside, the factor k of a mean
// and the division: less than 24. A quotient counts twice.
func (m *floatModel) relativeError(jobs int) float64 {
	k := 2 * ((m.classes+1)*jobs + 24)
	e := float64(k)*0x1p-53 + 2*m.spreadError
	return e / (1 - e) * (1 + 0x1p-50)
}

// A floatModel holds the coefficients of a network, flat, with that of set A and class i at
// A*classes+i.
type floatModel struct {
	classes int
	lambda  []float64
	step    []float64 // λ_i/μ(A)
	mass    []float64 // V(A) at A
	jobs    []float64 // U_i(A)

	spreadError float64 // bounds the relative errors of V and U
}

// newFloatModel computes V and U by [spreadOf]. Ratios are exact until rounded, so nothing cancels.
func newFloatModel(ctx context.Context, n *Network) (floatModel, error) {
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
		if !isNormal(m.lambda[i]) && rate.Sign() > 0 {
			return m, rateError(i, rate)
		}
	}
	mass, jobs, err := spreadOf(ctx, n, arithmetic.One(num.Float, 0))
	if err != nil {
		return m, err
	}
	ratio := new(big.Rat)
	for a := sets - 1; a > 0; a-- {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		for i, rate := range n.ArrivalRates {
			m.step[a*classes+i], _ = ratio.Quo(rate, n.Rank[a]).Float64()
			if !isNormal(m.step[a*classes+i]) && rate.Sign() > 0 {
				return m, rateError(i, rate)
			}
		}
		m.mass[a] = mass[a].Double()
		m.spreadError = max(m.spreadError, mass[a].Bound)
		for j := range classes {
			m.jobs[a*classes+j] = jobs[j][a].Double()
			m.spreadError = max(m.spreadError, jobs[j][a].Bound)
		}
		rank, _ := n.Rank[a].Float64()
		for _, v := range append(m.jobs[a*classes:(a+1)*classes:(a+1)*classes], m.mass[a]) {
			if !(rank*v <= 0x1p200 && isNormal(m.mass[a])) {
				return m, input.Errorf(
					"ArrivalRates", n.ArrivalRates, "rates farther from instability, or the exact engine",
				)
			}
		}
	}
	return m, nil
}

// isNormal reports whether v is well inside the range of float64: products with weights then
// underflow only where the result is below any digit that counts.
func isNormal(v float64) bool { return v >= 0x1p-150 && v <= 0x1p150 }

func rateError(i int, rate *big.Rat) error {
	return input.Errorf(
		path("ArrivalRates", i), rate.RatString(),
		"0, or a rate in 2^-150..2^150 and at least 2^-150 of every rank, or the exact engine",
	)
}

// floatSums are sums of weights over the lattice and over the flows out of it.
type floatSums struct {
	first     []int     // marginals of class i start at first[i]
	marginals []num.Sum // Σ w(x) over x_i = k
	total     []num.Sum // Σ w(x) over Σ_i x_i = n
	flow      []num.Sum // inflow of set A outside: Σ λ_i w(y) over y in the lattice, y+e_i outside with active set A
	flowJobs  []num.Sum // Σ λ_i w(y) (y+e_i)_j at A*classes+j
}

func newFloatSums(y lattice.Lattice) *floatSums {
	s := &floatSums{first: make([]int, y.Classes), total: make([]num.Sum, y.Total+1)}
	entries := 0
	for i := range y.Classes {
		s.first[i] = entries
		entries += y.Most(i) + 1
	}
	s.marginals = make([]num.Sum, entries)
	s.flow = make([]num.Sum, 1<<y.Classes)
	s.flowJobs = make([]num.Sum, y.Classes<<y.Classes)
	return s
}

// statesBetween is the number of states between two checks of the context.
const statesBetween = 1 << 12

// tabulate fills weights by (4) times Π_i λ_i^x_i, w(x) = Σ_{i: x_i>0} λ_i/μ(A(x)) w(x-e_i), and
// adds each to the sums.
func (s *floatSums) tabulate(ctx context.Context, w *lattice.Walker, m floatModel, weights []float64) error {
	weights[0] = 1
	for more := true; more; more = w.Next() {
		if w.At%statesBetween == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var v float64
		if w.At == 0 {
			v = 1
		}
		step := m.step[int(w.Active)*m.classes:][:len(w.X)]
		border := w.Limits == nil && w.Jobs == w.Total
		for i, k := range w.X {
			if k > 0 {
				v += step[i] * weights[w.At-w.Drop[i]]
			}
			if w.Limits != nil && k == w.Limits[i] {
				border = true
			}
		}
		weights[w.At] = v
		for i, k := range w.X {
			s.marginals[s.first[i]+k].Add(v)
		}
		s.total[w.Jobs].Add(v)
		if border {
			s.leave(w, m, v)
		}
	}
	return nil
}

// leave adds the flow out of the lattice from the state of w, whose weight is v.
func (s *floatSums) leave(w *lattice.Walker, m floatModel, v float64) {
	for i, rate := range m.lambda {
		if !w.Leaves(i) {
			continue
		}
		a := int(w.Active | 1<<i)
		flow := rate * v
		s.flow[a].Add(flow)
		jobs := s.flowJobs[a*m.classes:][:len(w.X)]
		for j, k := range w.X {
			if j == i {
				k++
			}
			jobs[j].Add(flow * float64(k))
		}
	}
}

// summarizeFloat fills r from the sums, with x_j V(A) + U_j(A) jobs for a unit that enters A in x.
func (r *Result) summarizeFloat(y lattice.Lattice, m floatModel, s *floatSums) {
	var inside, outside num.Sum
	means, meansOutside := make([]num.Sum, y.Classes), make([]num.Sum, y.Classes)
	for _, c := range s.total {
		inside.Add(c.Value())
	}
	for a := 1; a < len(s.flow); a++ {
		flow := s.flow[a].Value()
		outside.Add(flow * m.mass[a])
		for j := range meansOutside {
			meansOutside[j].Add(s.flowJobs[a*m.classes+j].Value() * m.mass[a])
			meansOutside[j].Add(flow * m.jobs[a*m.classes+j])
		}
	}
	z := inside.Value() + outside.Value()
	r.Inside, r.Outside, r.Normalization = float(inside.Value()), float(outside.Value()), float(z)
	r.EmptyProbability, r.MassLeftOut = float(1/z), float(outside.Value()/z)
	most := 0
	for i := range y.Classes {
		marginal := make([]num.Value, y.Most(i)+1)
		for k := range marginal {
			weight := s.marginals[s.first[i]+k].Value()
			means[i].Add(float64(k) * weight)
			marginal[k] = float(weight / z)
		}
		r.Marginals = append(r.Marginals, marginal)
		r.MeanJobs = append(r.MeanJobs, float((means[i].Value()+meansOutside[i].Value())/z))
		r.MeanLeftOut = append(r.MeanLeftOut, float(meansOutside[i].Value()/z))
		most = max(most, y.Most(i))
	}
	for _, c := range s.total {
		r.JobsDistribution = append(r.JobsDistribution, float(c.Value()/z))
	}
	r.RelativeErrorBound = m.relativeError(max(y.Total, most))
}

func float(v float64) num.Value { return num.Value{Float: v} }
