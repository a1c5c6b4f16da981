package fluid

import (
	"cmp"
	"math/big"

	"productform/internal/input"
)

// TrafficSettings tunes [Solve]. The zero value asks for 1e-10.
type TrafficSettings struct {
	RelTol    float64 // truncation error asked for, relative to the mean numbers, in [1e-14, 1); 0 means 1e-10
	Limits    []int   // x_k <= Limits[k] in place of an automatic truncation; nil means automatic
	MaxStates int     // states at most; 0 means 4,000,000
}

// A Method says how stationary measures were computed.
type Method string

// The methods.
const (
	ChainMethod     Method = "chain"     // balance equations of the truncated Markov chain, by elimination
	MultigridMethod Method = "multigrid" // the same equations by iteration, if there are many states
	WhittleMethod   Method = "whittle"   // sum of the stationary distribution of balanced fairness
	GeometricMethod Method = "geometric" // closed form for one class at most: E[x] = ρ/(1-ρ) under every policy
)

// A TrafficResult holds the stationary measures of shared resources in random traffic.
type TrafficResult struct {
	Policy  Policy
	Method  Method
	Classes []ClassResult
	Loads   []*big.Rat // of each resource, with the profiles that the policy believes

	Limits []int // states x_k <= Limits[k] were summed, 0 for a class that never arrives; nil with the closed form
	States int   // 0 with the closed form

	// TruncationBound bounds the relative error of every mean that comes from states left out; Proved says whether it
	// is proved or measured. Measured bounds near 1 say no more than that the limits are too small.
	TruncationBound float64
	Proved          bool

	// RoundingBound is a proved bound of the relative error of every mean from rounding, given the rates of the states.
	// It is 0 with the method multigrid: IterationError, 0 elsewhere, then is the error of the iteration, measured and
	// not proved.
	RoundingBound  float64
	IterationError float64
}

// A ClassResult holds the measures of one class. A class that never arrives has none.
type ClassResult struct {
	MeanJobs    float64  // E[x_k]
	MeanDelay   *float64 // E[x_k]/λ_k, seconds from arrival to departure; nil if λ_k = 0
	ServiceRate *float64 // γ_k = λ_k σ_k / E[x_k], tasks that a job runs in the mean; nil if λ_k = 0
}

// Solve computes the stationary measures of classes that arrive at random. Balanced fairness has the stationary
// distribution Φ(x) Π_k ρ_k^x_k / Z, which is summed up to limits for any number of classes, with a proved bound of
// what is left out. For the other policies the balance equations of the truncated chain, in which an arrival beyond the
// limits is lost, are solved for two or three classes: by elimination without subtractions, of n² states in O(n³) time
// and O(n² log n) memory (200 by 200 states: a fifth of a second and 30 MB; 1000 by 1000: some ten seconds and a
// gigabyte), or by multigrid iteration for three classes with more than 8,000 states or two with more than 1,000,000
// (100 bytes a state, 500,000 states in some seconds). A class with λ_k = 0 is left out. One class alone has the closed
// form, unless limits are set.
//
// The error is an *[UnstableError] if the load of some resource is 1 or more, and an *[input.Error] for bad traffic or
// settings, for more than three classes under other policies than balanced fairness, and if more than MaxStates states
// are needed; in these two cases simulate.
func Solve(t *Traffic, policy Policy, s TrafficSettings) (*TrafficResult, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if err := policy.check("policy"); err != nil {
		return nil, err
	}
	if err := s.check(t); err != nil {
		return nil, err
	}
	s.RelTol = cmp.Or(s.RelTol, 1e-10)
	s.MaxStates = cmp.Or(s.MaxStates, 4_000_000)
	if err := t.Stable(); err != nil {
		return nil, err
	}
	r := &TrafficResult{Policy: policy, Loads: t.Loads()}
	w, err := newTrafficProblem(t)
	if err != nil {
		return nil, err
	}
	switch {
	case len(w.class) == 0 || len(w.class) == 1 && s.Limits == nil:
		err = w.geometric(r)
	case policy == BF:
		err = w.balanced(r, s)
	case len(w.class) > 3:
		err = input.Errorf("policy", policy, "bf for more than 3 classes that arrive, here %d; simulate the others", len(w.class))
	default:
		err = w.chain(r, s)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s TrafficSettings) check(t *Traffic) error {
	if s.RelTol != 0 && !(s.RelTol >= 1e-14 && s.RelTol < 1) {
		return input.Errorf("RelTol", s.RelTol, "a number in [1e-14, 1)")
	}
	if s.MaxStates < 0 || s.MaxStates > mostStates {
		return input.Errorf("MaxStates", s.MaxStates, "an integer from 1 to %d, or 0 for 4000000", mostStates)
	}
	if s.Limits == nil {
		return nil
	}
	if len(s.Limits) != len(t.Classes) {
		return input.Errorf("Limits", len(s.Limits), "%d integers, one for each class", len(t.Classes))
	}
	for k, l := range s.Limits {
		if l < 1 && !(l == 0 && t.Classes[k].ArrivalRate.Sign() == 0) || l >= mostStates {
			return input.Errorf(indexed("Limits", k), l, "an integer from 1 to %d, or 0 for a class that never arrives", mostStates-1)
		}
	}
	return nil
}

// mostStates keeps numbers of states within int32.
const mostStates = 1_000_000_000

// A trafficProblem is traffic without the classes that never arrive, in float64, each number rounded once.
type trafficProblem struct {
	traffic *Traffic
	class   []int       // rows of Traffic.Classes
	lambda  []float64   // λ_k
	sigma   []float64   // σ_k
	rho     []float64   // ρ_k = λ_k σ_k
	part    [][]float64 // a_kj ρ_k, at [j][k]
	slack   []float64   // 1 - load of each resource
}

func newTrafficProblem(t *Traffic) (*trafficProblem, error) {
	w := &trafficProblem{traffic: t, part: make([][]float64, len(t.Resources))}
	volume := t.Volume()
	for k, c := range t.Classes {
		if c.ArrivalRate.Sign() == 0 {
			continue
		}
		lambda, _ := c.ArrivalRate.Float64()
		sigma, _ := oneIfNil(c.MeanSize).Float64()
		rho, _ := volume[k].Float64()
		if !inRange(lambda) {
			return nil, input.Errorf(indexed("jobs", k)+".arrival_rate", lambda, "0, or a number in [%g, %g]", leastFloat, mostFloat)
		}
		if !inRange(sigma) {
			return nil, input.Errorf(indexed("jobs", k)+".mean_size", sigma, "a number in [%g, %g]", leastFloat, mostFloat)
		}
		w.class = append(w.class, k)
		w.lambda, w.sigma, w.rho = append(w.lambda, lambda), append(w.sigma, sigma), append(w.rho, rho)
		for j, r := range t.Resources {
			part := new(big.Rat).Quo(demandOf(c.Profile(), j), r.Capacity)
			f, _ := part.Mul(part, volume[k]).Float64()
			w.part[j] = append(w.part[j], f)
		}
	}
	for _, load := range t.Loads() {
		slack, _ := new(big.Rat).Sub(oneIfNil(nil), load).Float64()
		w.slack = append(w.slack, slack)
	}
	return w, nil
}

// gap returns the least (1 - load_j)/(1 - load_j + a_kj ρ_k): the ratio of P(x_k = n+1) to P(x_k = n) would be 1 less
// that if the resource were shared as one processor and nothing else mattered.
func (w *trafficProblem) gap(k int) float64 {
	least := 1.0
	for j, part := range w.part {
		least = min(least, w.slack[j]/(w.slack[j]+part[k]))
	}
	return least
}

// geometric is the closed form for one class at most: E[x] = ρ/(1-ρ), ρ the largest load.
func (w *trafficProblem) geometric(r *TrafficResult) error {
	r.Method, r.Proved = GeometricMethod, true
	if len(w.class) == 0 {
		return w.report(r, nil)
	}
	most := r.Loads[0]
	for _, load := range r.Loads {
		if load.Cmp(most) > 0 {
			most = load
		}
	}
	mean := new(big.Rat).Sub(oneIfNil(nil), most)
	f, _ := mean.Quo(most, mean).Float64()
	r.RoundingBound = 0x1p-52
	return w.report(r, []float64{f})
}

// report fills in the measures of the classes, given the mean numbers of those that arrive.
func (w *trafficProblem) report(r *TrafficResult, mean []float64) error {
	r.Classes = make([]ClassResult, len(w.traffic.Classes))
	for k, c := range w.class {
		if !inRange(mean[k]) {
			return input.Errorf(indexed("jobs", c)+".arrival_rate", w.lambda[k], "a rate with a mean number of jobs in [%g, %g], not %g", leastFloat, mostFloat, mean[k])
		}
		delay, rate := mean[k]/w.lambda[k], w.rho[k]/mean[k]
		r.Classes[c] = ClassResult{MeanJobs: mean[k], MeanDelay: &delay, ServiceRate: &rate}
	}
	return nil
}

// spread returns limits of the classes that arrive as limits of all classes.
func (w *trafficProblem) spread(limits []int) []int {
	all := make([]int, len(w.traffic.Classes))
	for k, c := range w.class {
		all[c] = limits[k]
	}
	return all
}

// chosen returns the limits of the settings for the classes that arrive.
func (w *trafficProblem) chosen(s TrafficSettings) []int {
	limits := make([]int, len(w.class))
	for k, c := range w.class {
		limits[k] = s.Limits[c]
	}
	return limits
}

// checkStates refuses limits that need more than MaxStates states, and returns their number otherwise.
func checkStates(limits []int, s TrafficSettings) (int, error) {
	states := 1.0
	for _, l := range limits {
		states *= float64(l) + 1
	}
	switch {
	case states <= float64(s.MaxStates):
		return int(states), nil
	case s.Limits != nil:
		return 0, input.Errorf("Limits", s.Limits, "limits with at most %d states, MaxStates, not %.4g", s.MaxStates, states)
	}
	return 0, input.Errorf("MaxStates", s.MaxStates, "at least %.3g states for this traffic, about x <= %d; or simulate", states, limits)
}
