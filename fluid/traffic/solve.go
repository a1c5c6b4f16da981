package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/fluid"
	"productform/internal/input"
	"productform/num"
)

// Settings tunes [Solve]. The zero value means a truncation error of at most [DefaultTruncationTol]
// and at most [DefaultMaxStates] states.
type Settings struct {
	// TruncationTol is the tolerance for the truncation error, relative to the mean numbers of
	// jobs, in [1e-14, 1). 0 means [DefaultTruncationTol]. With Limits it is only the tolerance of
	// iterations. [GeometricMethod] needs none.
	TruncationTol float64

	Limits    []int // x_k <= Limits[k] for all classes, without merging or decomposition; nil means automatic limits
	MaxStates int   // maximum number of states of each part; 0 means [DefaultMaxStates]
}

// The values that replace zeros of [Settings]. The tolerance is smaller than [num.DefaultRelTol],
// as rounding adds to the truncation error.
const (
	DefaultTruncationTol = 1e-10
	DefaultMaxStates     = 10_000_000
)

// A Method is the way in which stationary measures were computed.
type Method string

// The methods.
const (
	ChainMethod     Method = "chain"     // balance equations of the truncated Markov chain, by elimination
	MultigridMethod Method = "multigrid" // the same equations by iteration, if there are many states
	WhittleMethod   Method = "whittle"   // sum of the stationary distribution of balanced fairness
	GeometricMethod Method = "geometric" // closed form for a single class: E[x] = ρ/(1-ρ) under every policy
)

// ErrUnsolved reports that [Solve] cannot solve the traffic with these settings, but simulation
// can.
var ErrUnsolved = errors.New("too large to solve, but it can be simulated")

// An UnsolvedError reports why [Solve] has no answer. It wraps [ErrUnsolved] and an
// *[num.InputError] about the jobs or the setting that would have to change.
type UnsolvedError struct {
	Input   *num.InputError // the jobs or the setting
	Classes int             // number of classes that share resources, if too many for the policy; otherwise 0
	States  float64         // lower bound on the number of states, if that is too many; otherwise 0
	Jobs    string          // extent of these states: "93 jobs of search and 122 of render"
	// with States, the largest load of their resources: as it approaches 1, the number of states
	// grows without bound; otherwise nil
	Load *big.Rat
}

func (e *UnsolvedError) Error() string { return e.Input.Error() + "; " + ErrUnsolved.Error() }

func (e *UnsolvedError) Unwrap() []error { return []error{e.Input, ErrUnsolved} }

// Reason describes what is too large, without the policy or setting.
func (e *UnsolvedError) Reason() string {
	switch {
	case e.Classes > 0:
		return fmt.Sprintf("at most %d classes that share resources, here %d", mostClasses, e.Classes)
	case e.States > 0:
		return fmt.Sprintf("more than %s states, for up to %s", integerUp(e.States), e.Jobs)
	}
	return e.Input.Want
}

// mostClasses is the maximum number of classes that share resources in a solved Markov chain.
const mostClasses = 3

// A Result holds the stationary measures of shared resources in random traffic.
type Result struct {
	Policy    fluid.Policy   `json:"policy"`
	Classes   []ClassResult  `json:"classes"`
	Resources []ResourceLoad `json:"resources"`
	Parts     []Part         `json:"-"` // classes that were solved together, and how; empty if no jobs arrive

	Method   Method `json:"method"` // method of the part with the most states
	States   int    `json:"states"` // in all parts
	Accuracy        // the worst of all parts
}

// A ResourceLoad is the work that jobs bring to a resource.
type ResourceLoad struct {
	Name string `json:"name" title:"resource"` // as in Model.Resources
	// Σ_k λ_k σ_k a_kj, with the profiles that the policy assumes
	Load     *big.Rat `json:"load" beside:"1"`
	TrueLoad *big.Rat `json:"true_load,omitempty" beside:"1"` // the same with true profiles; nil if no class lies
}

// A Part describes how classes that share resources, directly or through other classes, were
// solved.
type Part struct {
	Names  [][]string // names of the classes of each group; the policy treats them as one class
	Groups [][]int    // rows of these classes in Model.Classes
	Method Method
	// the states that were summed have at most Limits[g] jobs of Groups[g]; some may be omitted;
	// nil with the closed form
	Limits []int
	States int // 0 with the closed form
	Accuracy
}

// An Accuracy bounds or estimates the errors of means: MeanJobs, MeanDelay and ServiceRate of every
// class, relative to the exact values.
type Accuracy struct {
	// TruncationBound bounds the error from omitted states; TruncationProved reports whether it is
	// proved or measured. Measured bounds near 1 only show that the limits are too small. A
	// measured bound relies on the summed states, on average and as seen by jobs of each class: it
	// misses effects that require jobs of two classes that are hardly ever present together.
	TruncationBound  float64 `json:"truncation_bound"`
	TruncationProved bool    `json:"truncation_proved"`

	// RoundingBound is a proved bound on the error from rounding, given the rates of the states. It
	// is 0 with the method multigrid: IterationError, otherwise 0, is then an estimate of the error
	// of the iteration: twice what its last steps suggest.
	RoundingBound  float64 `json:"rounding_bound"`
	IterationError float64 `json:"iteration_error" zero:"null"`

	// RateResidual is the largest residual of the float64 allocations that determine the rates of
	// the states, as in [fluid.Allocation]; 0 with the methods whittle and geometric, which have
	// none. Its effect on the means is not proved.
	RateResidual float64 `json:"rate_residual"`
}

// A ClassResult holds the measures of one class. A class that never arrives has none.
type ClassResult struct {
	Name string `json:"name" title:"class"` // as in Model.Classes
	// according to the policy's profile; the first if several are equal
	DominantResource string   `json:"dominant_resource"`
	ArrivalRate      *big.Rat `json:"arrival_rate"` // λ_k, jobs per unit of time
	MeanJobs         float64  `json:"mean_jobs"`    // E[x_k]
	MeanDelay        *float64 `json:"mean_delay"`   // E[x_k]/λ_k, time from arrival to departure; nil if λ_k = 0
	// γ_k = λ_k σ_k / E[x_k], mean number of tasks of a job; nil if λ_k = 0
	ServiceRate *float64 `json:"service_rate"`

	// Limit is the maximum number of jobs of its group in the summed states; 0 if all states are
	// included, as with the closed form, and for a class that never arrives.
	Limit int `json:"limit" zero:"null"`
}

// NewResult returns the known properties of the classes and resources without solving anything, for
// checked traffic.
func NewResult(t *Model, policy fluid.Policy) *Result {
	r := &Result{Policy: policy, Classes: make([]ClassResult, len(t.Classes)),
		Resources: make([]ResourceLoad, len(t.Resources))}
	top := fluid.NewProfiles(t.Pool()).Top
	honest := *t
	honest.Classes = slices.Clone(t.Classes)
	lies := false
	for k, c := range t.Classes {
		r.Classes[k] = ClassResult{Name: c.Name, DominantResource: t.Resources[top[k]].Name, ArrivalRate: c.ArrivalRate}
		honest.Classes[k].Declared = nil
		lies = lies || c.lies(len(t.Resources))
	}
	for j, load := range t.Loads() {
		r.Resources[j] = ResourceLoad{Name: t.Resources[j].Name, Load: load}
	}
	if lies {
		for j, load := range honest.Loads() {
			r.Resources[j].TrueLoad = load
		}
	}
	return r
}

// Solve computes the stationary measures of classes that arrive at random. Balanced fairness has
// the stationary distribution Φ(x) Π_k ρ_k^x_k / Z, which is summed up to limits for any number of
// classes, with a proved bound on the omitted part. For the other policies it solves the balance
// equations of a truncated chain for two or three classes. Solutions of smaller chains determine
// the states that matter, and moves to other states are suppressed; with Limits, arrivals beyond
// them are lost. Elimination without subtractions takes O(n³) time and O(n² log n) memory for n²
// states of two classes (200 by 200: 0.2 s and 30 MB; 1000 by 1000: about ten seconds and a
// gigabyte). Multigrid iteration takes over for three classes with more than 8,000 states or two
// with more than 1,000,000 (a microsecond and 150 bytes per state).
//
// Unless limits are set, the model is first reduced. Classes with λ_k = 0 are omitted. Classes are
// merged if their profiles are equal up to a factor and, except under balanced fairness, their
// weights and their mean sizes in dominant shares are equal (under max-min fairness, w_k d_k
// instead of the weight). Parts that share no resources are solved separately, and the limit of
// three classes above applies to each part. A single class has a closed form.
//
// The error is an *[UnstableError] if the load of some resource is 1 or more; it wraps an
// *[num.InputError] for bad traffic or settings. It also wraps [ErrUnsolved] for more than three
// classes in a part, except under balanced fairness, if more than MaxStates states are needed, and
// if the iteration does not converge to max(TruncationTol, 1e-7). Errors of [fluid.NewAllocator]
// and [fluid.Allocator.Tasks] for the states of the chain are also returned: for numbers beyond the
// range of the kernels, and for an allocation that float64 does not find.
func Solve(ctx context.Context, t *Model, policy fluid.Policy, s Settings) (*Result, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if err := policy.Check("policy"); err != nil {
		return nil, err
	}
	if err := s.check(t); err != nil {
		return nil, err
	}
	s.TruncationTol = cmp.Or(s.TruncationTol, DefaultTruncationTol)
	s.MaxStates = cmp.Or(s.MaxStates, DefaultMaxStates)
	if err := t.Stable(); err != nil {
		return nil, err
	}
	all := t.singletonGroups()
	if policy == fluid.BF {
		if err := t.sameWeights(all); err != nil {
			return nil, err
		}
	}
	parts := [][]group{all}
	switch {
	case len(all) == 0:
		parts = nil
	case s.Limits == nil:
		parts = t.components(t.merged(policy))
	}
	r := NewResult(t, policy)
	r.Method, r.TruncationProved = GeometricMethod, true
	most := 0
	for _, groups := range parts {
		p, err := t.solvePart(ctx, groups, policy, s, r.Classes)
		if err != nil {
			return nil, err
		}
		r.Parts = append(r.Parts, *p)
		if p.States >= most {
			r.Method, most = p.Method, p.States
		}
		for g, l := range p.Limits {
			for _, k := range p.Groups[g] {
				r.Classes[k].Limit = l
			}
		}
		r.States += p.States
		r.TruncationBound, r.TruncationProved = max(r.TruncationBound, p.TruncationBound), r.TruncationProved &&
			p.TruncationProved
		r.RoundingBound, r.IterationError = max(r.RoundingBound, p.RoundingBound),
			max(r.IterationError, p.IterationError)
		r.RateResidual = max(r.RateResidual, p.RateResidual)
	}
	return r, nil
}

// solvePart solves groups with their own resources, and fills in the measures of their classes.
func (t *Model) solvePart(
	ctx context.Context, groups []group, policy fluid.Policy, s Settings, classes []ClassResult,
) (*Part, error) {
	w, err := newProblem(t, groups)
	if err != nil {
		return nil, err
	}
	p := &Part{}
	for _, g := range groups {
		var names []string
		for _, k := range g.rows {
			names = append(names, t.Classes[k].Name)
		}
		p.Names, p.Groups = append(p.Names, names), append(p.Groups, g.rows)
	}
	var mean []float64
	switch {
	case len(groups) == 1 && s.Limits == nil && w.jobs[0] == 0:
		mean = w.geometric(p)
	case policy == fluid.BF || len(groups) == 1 && s.Limits == nil: // one class gets the same share under every policy
		mean, err = w.balanced(ctx, p, s)
	case len(groups) > mostClasses:
		err = &UnsolvedError{Classes: len(groups),
			Input: input.Errorf("jobs", fmt.Sprintf("%d classes that share resources", len(groups)),
				"at most %d for exact means, except under bf",
				mostClasses)}
	default:
		mean, err = w.chain(ctx, p, policy, s)
	}
	if many := (*statesError)(nil); errors.As(err, &many) {
		jobs := w.jobsUpTo(many.limits)
		err = &UnsolvedError{States: many.states, Jobs: jobs, Load: slices.MaxFunc(w.load, (*big.Rat).Cmp),
			Input: input.Errorf("MaxStates", s.MaxStates, "more than %s, for up to %s", integerUp(many.states), jobs)}
	}
	if err != nil {
		return nil, err
	}
	return p, w.report(p, mean, classes)
}

// sameWeights rejects unequal weights, which balanced fairness does not support.
func (t *Model) sameWeights(groups []group) error {
	for _, g := range groups {
		weight := num.OrOne(t.Classes[g.rows[0]].Weight)
		if weight.Cmp(num.OrOne(t.Classes[groups[0].rows[0]].Weight)) != 0 {
			return input.Errorf(input.Index("jobs", g.rows[0])+".weight", weight.RatString(), fluid.WantSameWeight)
		}
	}
	return nil
}

func (s Settings) check(t *Model) error {
	if s.TruncationTol != 0 && !(s.TruncationTol >= 1e-14 && s.TruncationTol < 1) {
		return input.Errorf("TruncationTol", s.TruncationTol, "a number in [1e-14, 1)")
	}
	if s.MaxStates < 0 || s.MaxStates > mostStates {
		return input.Errorf("MaxStates", s.MaxStates, "an integer from 1 to %d, or 0 for %d",
			mostStates, DefaultMaxStates)
	}
	if s.Limits == nil {
		return nil
	}
	if len(s.Limits) != len(t.Classes) {
		return input.Errorf("Limits", len(s.Limits), "%d integers, one for each class", len(t.Classes))
	}
	for k, l := range s.Limits {
		if l < 1 && !(l == 0 && t.Classes[k].ArrivalRate.Sign() == 0) || l >= mostStates {
			return input.Errorf(input.Index("Limits", k), l,
				"an integer from 1 to %d, or 0 for a class that never arrives",
				mostStates-1)
		}
	}
	return nil
}

// mostStates keeps numbers of states within int32.
const mostStates = 1_000_000_000

// A problem holds groups of classes and the resources that they use, in float64, with each number
// rounded once.
type problem struct {
	traffic *Model
	group   []group
	class   []int       // rows of Model.Classes that represent the groups
	lambda  []float64   // λ_k of the group
	sigma   []float64   // σ_k of that class
	part    [][]float64 // a_kj λ_k σ_k, at [j][k]
	load    []*big.Rat  // load of each resource
	slack   []float64   // 1 - load
	// ρ_k/L_k, the mean number of jobs if each ran at its limit; 0 without a limit, or if it never
	// binds
	jobs []float64
}

func newProblem(t *Model, groups []group) (*problem, error) {
	w := &problem{traffic: t, group: groups}
	var volume []*big.Rat
	for _, g := range groups {
		for _, k := range g.rows {
			if err := inFloatRange(input.Index("jobs", k)+
				".arrival_rate", "0, or ", t.Classes[k].ArrivalRate); err != nil {
				return nil, err
			}
			if err := inFloatRange(input.Index("jobs", k)+
				".mean_size", "", num.OrOne(t.Classes[k].MeanSize)); err != nil {
				return nil, err
			}
		}
		k := g.rows[0]
		if err := inFloatRange(input.Index("jobs", k)+
			".arrival_rate", "with those of like jobs, ", g.rate); err != nil {
			return nil, err
		}
		lambda, _ := g.rate.Float64()
		sigma, _ := num.OrOne(t.Classes[k].MeanSize).Float64()
		w.class, w.lambda, w.sigma = append(w.class, k), append(w.lambda, lambda), append(w.sigma, sigma)
		volume = append(volume, new(big.Rat).Mul(g.rate, num.OrOne(t.Classes[k].MeanSize)))
		w.jobs = append(w.jobs, 0)
		if l := t.Classes[k].MaxTasks; l != nil && t.binds(k) {
			w.jobs[len(w.jobs)-1], _ = new(big.Rat).Quo(volume[len(volume)-1], l).Float64()
		}
	}
	for j, r := range t.Resources {
		parts, load := make([]float64, len(groups)), new(big.Rat)
		for n, k := range w.class {
			part := new(big.Rat).Quo(t.Classes[k].Profile().Of(j), r.Capacity)
			parts[n], _ = part.Mul(part, volume[n]).Float64()
			load.Add(load, part)
		}
		if load.Sign() == 0 {
			continue
		}
		slack, _ := new(big.Rat).Sub(big.NewRat(1, 1), load).Float64()
		w.part, w.load, w.slack = append(w.part, parts), append(w.load, load), append(w.slack, slack)
	}
	return w, nil
}

// binds reports whether one job of class k alone would run more tasks without its limit. Otherwise
// the limit has no effect.
func (t *Model) binds(k int) bool {
	c := &t.Classes[k]
	if c.MaxTasks == nil {
		return false
	}
	for j, r := range t.Resources {
		if new(big.Rat).Mul(c.MaxTasks, c.Profile().Of(j)).Cmp(r.Capacity) >= 0 {
			return false
		}
	}
	return true
}

// inFloatRange rejects a number beyond the range of the kernels.
func inFloatRange(path, other string, x *big.Rat) error {
	if f, _ := x.Float64(); !fluid.InRange(f) {
		return input.Errorf(path, f, "%sa number in [%g, %g]", other, fluid.LeastFloat, fluid.MostFloat)
	}
	return nil
}

// gap returns the smallest (1 - load_j)/(1 - load_j + a_kj ρ_k): the ratio of P(x_k = n+1) to
// P(x_k = n) would be 1 minus this gap if the resource were shared as one processor and nothing
// else mattered.
func (w *problem) gap(k int) float64 {
	least := 1.0
	for j, part := range w.part {
		least = min(least, w.slack[j]/(w.slack[j]+part[k]))
	}
	return least
}

// geometric returns the closed form for one class, E[x] = ρ/(1-ρ) with ρ the largest load, rounded
// once.
func (w *problem) geometric(p *Part) []float64 {
	p.Method, p.TruncationProved, p.RoundingBound = GeometricMethod, true, 0x1p-53
	most := w.load[0]
	for _, load := range w.load {
		if load.Cmp(most) > 0 {
			most = load
		}
	}
	mean := new(big.Rat).Sub(big.NewRat(1, 1), most)
	f, _ := mean.Quo(most, mean).Float64()
	return []float64{f}
}

// reportRoundings bounds, in units of 2^-53, what report adds to the error of a mean number: it
// rounds the fraction of the class, its product with the mean, λ_k or ρ_k, and the quotient. The
// fifth is for products of these errors and with earlier rounding, if that is below a fifth.
const reportRoundings = 5

// report fills in the measures of the classes, given the mean numbers of the groups.
func (w *problem) report(p *Part, mean []float64, classes []ClassResult) error {
	volume := w.traffic.Volume()
	for n, g := range w.group {
		for i, k := range g.rows {
			lambda, _ := w.traffic.Classes[k].ArrivalRate.Float64()
			rho, _ := volume[k].Float64()
			part, _ := g.part[i].Float64()
			jobs := mean[n] * part
			for _, x := range []float64{mean[n], jobs} {
				if !fluid.InRange(x) {
					return input.Errorf(input.Index("jobs", k)+".arrival_rate", lambda,
						"a rate with a mean number of jobs in [%g, %g], not %g",
						fluid.LeastFloat, fluid.MostFloat, x)
				}
			}
			delay, rate := jobs/lambda, rho/jobs
			classes[k].MeanJobs, classes[k].MeanDelay, classes[k].ServiceRate = jobs, &delay, &rate
		}
	}
	if p.Method != MultigridMethod {
		p.RoundingBound += reportRoundings * 0x1p-53 * (1 + p.RoundingBound)
	}
	return nil
}

// chosen returns the limits of the settings for the classes that arrive.
func (w *problem) chosen(s Settings) []int {
	limits := make([]int, len(w.class))
	for k, c := range w.class {
		limits[k] = s.Limits[c]
	}
	return limits
}

// checkStates rejects limits that need more than MaxStates states, and returns their number
// otherwise.
func checkStates(limits []int, s Settings) (int, error) {
	states := productOf(limits)
	switch {
	case states <= float64(s.MaxStates):
		return int(states), nil
	case s.Limits != nil:
		return 0, input.Errorf("Limits", s.Limits, "limits with at most %d states, MaxStates, not %.4g",
			s.MaxStates, states)
	}
	return 0, &statesError{states, limits}
}

// productOf returns the number of states within limits.
func productOf(limits []int) float64 {
	states := 1.0
	for _, l := range limits {
		states *= float64(l) + 1
	}
	return states
}

// A statesError reports that automatic limits need too many states. It is not returned to callers
// of the package.
type statesError struct {
	states float64
	limits []int
}

func (e *statesError) Error() string {
	return fmt.Sprintf("%g states with limits %d", e.states, e.limits)
}

// jobsUpTo describes limits in words: "93 jobs of search and 122 of render".
func (w *problem) jobsUpTo(limits []int) string {
	const most = 4
	var words []string
	for n, l := range limits[:min(len(limits), most)] {
		jobs := fmt.Sprintf("%d of %s", l, w.traffic.Classes[w.class[n]].Name)
		if n == 0 {
			jobs = fmt.Sprintf("%d jobs of %s", l, w.traffic.Classes[w.class[n]].Name)
		}
		if like := len(w.group[n].rows) - 1; like > 0 {
			jobs += fmt.Sprintf(" with %d like it", like)
		}
		words = append(words, jobs)
	}
	if rest := len(limits) - most; rest > 0 {
		words = append(words, fmt.Sprintf("those of %d more", rest))
	}
	last := len(words) - 1
	return strings.TrimPrefix(strings.Join(words[:last], ", ")+" and "+words[last], " and ")
}

// integerUp returns a number > 0 rounded up to three digits, as an integer unless it has very many.
func integerUp(x float64) string {
	if x > 1e15 {
		return fmt.Sprintf("%.2g", min(x, math.MaxFloat64))
	}
	unit := math.Pow(10, max(0, math.Floor(math.Log10(x))-2))
	return strconv.FormatFloat(math.Ceil(x/unit)*unit, 'f', 0, 64)
}
