package gang

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// Auto computes fractions up to the short sizes, and up to the long sizes if bounds do not decide
// whether the model is stable. Sizes are the words of all numbers of a convolution, the states of a
// path, and the states of the saturated chain. Short ones take a few milliseconds; long ones take
// minutes (2e10 words), 8 s (20,000 states of a path), and 0.2 s (150 states). Auto reports bounds
// in place of fractions of more bits than longest, about 300 digits.
const (
	shortWords, longWords   = 2e5, 2e10
	shortPath, longPath     = 200, 20_000
	shortStates, longStates = 24, 150
	longest                 = 1024
)

// undecidedTol is the relative width of the bounds below which an open verdict is Undecided;
// rounding errors in float64 are about that large.
const undecidedTol = 1e-12

// defectTol is the defect of a stationary distribution, relative to the mean rate, above which
// derivatives are not reported. Tests of those that are agree to 1e-9 with the product form.
const defectTol = 1e-9

// CheckStability returns how much load a cluster with the service [cluster.Gang] carries, and
// whether it carries that of the model; see the package comment for the formulas. Job sizes are
// exponential; the limit depends on their distribution. m is not modified.
//
// With equal mean sizes it takes K n²/w steps for K classes, n servers and the smallest need w;
// with two classes of one resource n/w steps. Otherwise it takes hundreds of products with the
// matrix of the saturated chain, of at most 300,000 states and a total of 2e10 multiplications,
// about a minute; if these do not reach the tolerance, bounds are wider. A convolution keeps 40
// bytes for each combination of amounts in use, at most 2.7 GB.
//
// The error is one of the following:
//   - a [*num.InputError] if the model fails [cluster.Model.Check] or has another service, or if a
//     setting, a mean size or a share is out of range;
//   - a [*num.TooLargeError] for too many states or steps;
//   - [num.ErrFloatRange] if rates leave the range of float64;
//   - the error of the context, promptly after it is cancelled.
func CheckStability(ctx context.Context, m *cluster.Model, s Settings) (*Stability, error) {
	a, err := newAnalysis(m, s)
	if err != nil {
		return nil, err
	}
	return a.check(ctx)
}

// check returns how much load the cluster carries, and whether it carries the load of the model.
func (a *analysis) check(ctx context.Context) (*Stability, error) {
	if a.problem == nil {
		stable := true
		return &Stability{Verdict: Stable, Stable: &stable, Engine: num.Exact, ArrivalRate: new(big.Rat)}, nil
	}
	if err := a.findLimit(ctx); err != nil {
		return nil, err
	}
	if err := a.addDerivatives(ctx); err != nil {
		return nil, err
	}
	return a.answer(), nil
}

// An analysis finds the throughput limit.
type analysis struct {
	*problem
	model    *cluster.Model
	settings Settings
	method   Method
	states   int

	exact     *big.Rat // λ*, nil if unknown
	low, high *big.Rat // bounds on λ*

	grid     *grid
	chain    *chain
	found    solution // solution of the chain
	exactDPs []*big.Rat
	dps      []float64 // dλ*/dε by merged class
}

// newAnalysis checks a question. Its problem is nil if no jobs arrive.
func newAnalysis(m *cluster.Model, s Settings) (*analysis, error) {
	if err := cmp.Or(m.Check(), m.RequireService(cluster.Gang)); err != nil {
		return nil, err
	}
	var err error
	if s.Engine != num.Exact && s.Engine != num.Float && s.Engine != num.Auto && s.Engine != "" {
		return nil, input.Errorf("Engine", s.Engine, "auto, float or exact")
	}
	if s.RelTol, err = arithmetic.CheckEngine(s.Engine, s.RelTol); err != nil {
		return nil, err
	}
	a := &analysis{model: m, settings: s, problem: newProblem(m)}
	if a.problem == nil {
		return a, nil
	}
	return a, a.checkRange()
}

// checkRange rejects mean sizes and shares beyond the range of the solvers in float64: products of
// two numbers of 1e-150 to 1e150 neither overflow nor underflow.
func (a *analysis) checkRange() error {
	for k, rows := range a.rows {
		i := rows[0]
		c, path := a.model.Classes[i], input.Index("classes", i)
		if mean := num.Nearest(a.classes[k].mean); !(mean >= 1e-150 && mean <= 1e150) {
			if c.MeanSize == nil {
				path = ""
			} else {
				path += "."
			}
			return input.Errorf(path+"mean_size", a.classes[k].mean.RatString(),
				"a number in [1e-150, 1e150]: count time in other units")
		}
		if !(a.load[k] >= 1e-150) {
			return input.Errorf(path+".arrival_rate", c.ArrivalRate.RatString(),
				"0 or at least 1e-150 of the rate of all classes")
		}
	}
	return nil
}

// isAuto reports whether the solver may choose the engine.
func (a *analysis) isAuto() bool { return a.settings.Engine == num.Auto || a.settings.Engine == "" }

// findLimit sets the bounds on λ*, and λ* itself if it is found exactly.
func (a *analysis) findLimit(ctx context.Context) error {
	switch {
	case a.hasOneMean():
		a.method = Convolution
		return a.climb(ctx, a.convolutionWords, shortWords, longWords, a.convolve, a.convolveExactly)
	case a.hasProductForm():
		a.method, a.states = ProductForm, a.amounts[0]/a.classes[len(a.classes)-1].needs[0]+1
		words := func() float64 { return float64(a.states) }
		return a.climb(ctx, words, shortPath, longPath, a.followPath, a.followPathExactly)
	}
	a.method = ValueIteration
	s, err := newStates(ctx, a.problem, maxStates)
	if err != nil {
		return err
	}
	a.states = len(s.x)
	if a.chain, err = newChain(ctx, s); err != nil {
		return err
	}
	words := func() float64 { return float64(a.states) }
	return a.climb(ctx, words, shortStates, longStates, a.iterate, func(ctx context.Context) (*big.Rat, error) {
		return s.limitExact(ctx)
	})
}

// checkLimitSize returns the error of findLimit for a model that is too large for it.
func (a *analysis) checkLimitSize(ctx context.Context) error {
	switch {
	case a.hasOneMean():
		return a.prepareGrid()
	case a.hasProductForm():
		return nil
	}
	_, err := newStates(ctx, a.problem, maxStates)
	return err
}

// climb finds the limit by float, by exact, or by both: by fractions if they are short, and also if
// float does not decide whether the model is stable and fractions are not too long.
func (a *analysis) climb(
	ctx context.Context, size func() float64, short, long float64,
	float func(ctx context.Context, tol float64) error, exact func(context.Context) (*big.Rat, error),
) (err error) {
	words := size()
	if a.settings.Engine == num.Exact && words > long {
		return &num.TooLargeError{Input: input.Errorf("Engine", a.settings.Engine,
			"auto or float: the throughput limit of this model is a fraction of too many digits")}
	}
	if a.settings.Engine == num.Exact || a.isAuto() && words <= short {
		return a.setExact(exact(ctx))
	}
	if err := float(ctx, a.settings.RelTol); err != nil {
		return err
	}
	if a.verdict() == Undecided && a.settings.RelTol > undecidedTol {
		if err := float(ctx, undecidedTol); err != nil {
			return err
		}
	}
	if a.verdict() == Undecided && a.isAuto() && words <= long {
		return a.setExact(exact(ctx))
	}
	return nil
}

func (a *analysis) setExact(limit *big.Rat, err error) error {
	if err == nil {
		a.exact, a.low, a.high = limit, limit, limit
	}
	return err
}

// verdict compares the arrival rate with the bounds.
func (a *analysis) verdict() Verdict {
	switch {
	case a.rate.Cmp(a.low) < 0:
		return Stable
	case a.rate.Cmp(a.high) >= 0:
		return Unstable
	}
	return Undecided
}

// prepareGrid sets the grid.
func (a *analysis) prepareGrid() error {
	if a.grid == nil {
		a.grid = newGrid(a.problem)
	}
	if a.grid == nil || a.grid.steps() > maxSteps {
		return gridError()
	}
	return nil
}

// convolutionWords estimates the words of the numbers in all steps of a convolution in fractions.
func (a *analysis) convolutionWords() float64 {
	if a.prepareGrid() != nil {
		return math.Inf(1)
	}
	if len(a.classes) == 1 {
		return 0 // as many jobs as fit
	}
	_, unit := a.integerShares()
	jobs := a.grid.steps() / float64(a.grid.cells) / float64(len(a.classes)) * 2
	return a.grid.steps() * (4 + jobs*float64(unit.BitLen())/128)
}

// convolve sets the bounds and derivatives by a convolution in float64; it has one tolerance.
func (a *analysis) convolve(ctx context.Context, _ float64) error {
	if a.low != nil {
		return nil
	}
	if err := a.prepareGrid(); err != nil {
		return err
	}
	c, err := a.grid.convolve(ctx)
	if err != nil {
		return err
	}
	if math.IsInf(c.mean.Bound, 1) {
		return num.ErrFloatRange
	}
	f, e := c.mean.Double(), new(big.Rat).SetFloat64(c.mean.Bound)
	middle := new(big.Rat).Mul(new(big.Rat).SetFloat64(f), a.classes[0].mean)
	middle.Inv(middle)
	one := big.NewRat(1, 1)
	a.low = new(big.Rat).Mul(middle, new(big.Rat).Sub(one, e))
	a.high = new(big.Rat).Mul(middle, new(big.Rat).Add(one, e))
	limit := num.Nearest(middle)
	for _, d := range c.derivative {
		a.dps = append(a.dps, limit*(1+f-d)/f)
	}
	return nil
}

// convolveExactly returns λ* and sets its derivatives by a convolution in fractions.
func (a *analysis) convolveExactly(ctx context.Context) (*big.Rat, error) {
	if err := a.prepareGrid(); err != nil {
		return nil, err
	}
	mean, derivative, err := a.grid.convolveExact(ctx)
	if err != nil {
		return nil, err
	}
	limit := new(big.Rat).Mul(mean, a.classes[0].mean)
	limit.Inv(limit)
	all := new(big.Rat).Add(mean, big.NewRat(1, 1)) // Σ p_k ∂/∂p_k, as N+1 jobs decide N
	a.exactDPs = nil
	for _, d := range derivative {
		x := new(big.Rat).Sub(all, d)
		a.exactDPs = append(a.exactDPs, x.Mul(x, limit).Quo(x, mean))
	}
	return limit, nil
}

// followPath sets the bounds by the product form in float64, or in intervals if tol needs them.
func (a *analysis) followPath(ctx context.Context, tol float64) error {
	for prec := uint(0); ; prec = max(arithmetic.FirstPrecision, 2*prec) {
		engine := num.Float
		if prec > 0 {
			engine = num.Enclose
		}
		limit, err := a.productForm(ctx, arithmetic.One(engine, prec))
		if err != nil {
			return err
		}
		if limit.Width() > tol {
			continue
		}
		if prec == 0 {
			f, e := new(big.Rat), new(big.Rat).SetFloat64(limit.Bound/(1-limit.Bound))
			f.SetFloat64(limit.Double())
			one := big.NewRat(1, 1)
			a.low = new(big.Rat).Mul(f, new(big.Rat).Sub(one, e))
			a.high = new(big.Rat).Mul(f, new(big.Rat).Add(one, e))
			return nil
		}
		a.low, _ = limit.Interval.Low.Rat(nil)
		a.high, _ = limit.Interval.High.Rat(nil)
		return nil
	}
}

func (a *analysis) followPathExactly(ctx context.Context) (*big.Rat, error) {
	limit, err := a.productForm(ctx, arithmetic.One(num.Exact, 0))
	return limit.Exact, err
}

// iterate sets the bounds by value iteration. λ_max is also an upper bound.
func (a *analysis) iterate(ctx context.Context, tol float64) error {
	if err := a.chain.iterate(ctx, &a.found, tol); err != nil {
		return err
	}
	a.low, a.high = new(big.Rat).SetFloat64(max(a.found.low, 0)), new(big.Rat).SetFloat64(a.found.high)
	if a.high.Cmp(a.limitOfWork) > 0 {
		a.high = a.limitOfWork
	}
	return nil
}

// addDerivatives sets the derivatives of λ*.
func (a *analysis) addDerivatives(ctx context.Context) (err error) {
	switch {
	case a.method == Convolution:
	case a.method == ProductForm:
		a.dps, err = a.productFormDerivatives(ctx)
	default:
		if err := a.chain.iterate(ctx, &a.found, min(a.settings.RelTol, 1e-10)); err != nil {
			return err
		}
		if a.found.defect <= defectTol {
			a.dps = a.chain.derivatives(a.found.pi, a.found.value)
		}
	}
	return err
}

// answer returns the result.
func (a *analysis) answer() *Stability {
	r := &Stability{Verdict: a.verdict(), Engine: num.Float, Method: a.method, States: a.states, ArrivalRate: a.rate}
	if r.Verdict != Undecided {
		stable := r.Verdict == Stable
		r.Stable = &stable
	}
	low, high := a.low, a.high
	if a.exact != nil && !(a.isAuto() && a.exact.Num().BitLen()+a.exact.Denom().BitLen() > longest) {
		r.Engine = num.Exact
	} else if a.exact != nil { // the fraction lies between two neighbours
		e := num.FromRat(a.exact, 64)
		low, _ = e.Low.Rat(nil)
		high, _ = e.High.Rat(nil)
	}
	between := func(f func(x *big.Rat) *big.Rat) *num.Value {
		x, y := f(low), f(high)
		if x.Cmp(y) > 0 {
			x, y = y, x
		}
		v := num.Between(x, y)
		return &v
	}
	r.ThroughputLimit = between(func(x *big.Rat) *big.Rat { return x })
	r.CriticalScale = between(func(x *big.Rat) *big.Rat { return new(big.Rat).Quo(x, a.rate) })
	most := num.ExactValue(a.limitOfWork)
	r.WorkConservingLimit = &most
	r.FIFOWaste = between(func(x *big.Rat) *big.Rat {
		x = new(big.Rat).Quo(x, a.limitOfWork)
		if x.Sub(big.NewRat(1, 1), x).Sign() < 0 {
			return x.SetInt64(0) // a bound above λ_max
		}
		return x
	})
	if a.dps == nil && a.exactDPs == nil {
		return r
	}
	for i, k := range a.merged(len(a.model.Classes)) {
		if k < 0 {
			continue
		}
		d := LimitDerivative{Class: a.model.Classes[i].Name}
		switch {
		case a.exactDPs == nil:
			d.Value = num.Value{Float: a.dps[k]}
		case r.Engine == num.Exact:
			d.Value = num.ExactValue(a.exactDPs[k])
		default:
			d.Value = num.Value{Float: num.Nearest(a.exactDPs[k])}
		}
		r.LimitDerivatives = append(r.LimitDerivatives, d)
	}
	return r
}

// isTooLarge reports whether an error rejects a model because of its size.
func isTooLarge(err error) bool {
	var large *num.TooLargeError
	return errors.As(err, &large)
}
