package bf

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"productform/bf/internal/integers"
	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
)

// A Gradient holds the derivatives of the mean number of jobs E[X] = Σ_i E[X_i], as fractions with the engine Exact and
// between proved bounds Low and High with the others.
type Gradient struct {
	Engine       num.Engine  // the engine that gave the numbers: Float, Enclose or Exact
	ArrivalRates []num.Value // ∂E[X]/∂λ_i of each row of classes, in units of time; to the right where λ_i = 0
	Capacities   []num.Value // ∂E[X]/∂C_s of each row of servers, all servers of a group together; to the right where C_s = 0
}

// MeanJobsGradient returns the derivatives of the mean number of jobs with respect to every
// arrival rate and capacity. Since E[X] is the derivative of log Z(zλ) at z = 1, one sweep up
// the lattice and one down, each carrying the derivative in z along, give all of them.
//
// Auto and Enclose ask for Settings.RelTol of each derivative (where its terms cancel further than that, of RelTol
// times these; by elimination, which takes over where graphs are too large, of RelTol times their sum). The sweeps carry the error bounds along in every operation, over an explicit graph of the lattice: 12
// classes take 0.03 seconds in float64. Errors are those of [Solve].
func MeanJobsGradient(ctx context.Context, m *cluster.Model, s Settings) (g *Gradient, err error) {
	plans, s, err := gradientPlans(ctx, m, s, true)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(plans, func(l *plan) bool { return l.lattice == EliminationLattice }) {
		g, width, err := gradientWith(ctx, m, plans, num.Float, 0, s)
		if err == nil && s.Engine != num.Float && !(width <= s.RelTol) {
			err = errMissed(s, width)
		}
		if err != nil {
			return nil, err
		}
		return g, nil
	}
	err = precisely(s, func(engine num.Engine, prec uint) (width float64, err error) {
		g, width, err = gradientWith(ctx, m, plans, engine, prec, s)
		return width, err
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// gradientPlans returns a graph for each component of m, and the settings with the values that zeros stand for. Components that are
// too large for one, or all that are asked for so, are eliminated, if that may be and gives float64.
func gradientPlans(ctx context.Context, m *cluster.Model, s Settings, eliminates bool) ([]*plan, Settings, error) {
	if err := m.Check(); err != nil {
		return nil, s, err
	}
	s, err := s.checked()
	if err == nil && s.Lattice == EliminationLattice && !eliminates {
		err = input.Errorf("Lattice", s.Lattice, "class, server, connected or symmetric for the derivatives of each class")
	}
	if err != nil {
		return nil, s, err
	}
	if !eliminates {
		s.byTables = "derivatives for each class"
	}
	components, err := reduceAll(ctx, m.EqualSizes())
	if err != nil {
		return nil, s, err
	}
	plans := make([]*plan, len(components))
	for k := range components {
		c := &components[k]
		l, err := gradientPlan(ctx, c, s, eliminates)
		if err != nil {
			return nil, s, inRows(err, m, c)
		}
		plans[k] = l
	}
	return plans, s, nil
}

func gradientPlan(ctx context.Context, c *cluster.Component, s Settings, eliminates bool) (*plan, error) {
	if s.Lattice == EliminationLattice {
		return newPlan(ctx, c, num.Float, 0, s)
	}
	l, err := newPlan(ctx, c, num.Exact, firstPrecision, s)
	if err == nil {
		return l, l.build(ctx, 0)
	}
	var large *num.TooLargeError
	if eliminates && s.Lattice == "" && s.Engine != num.Enclose && s.Engine != num.Exact && errors.As(err, &large) {
		s.Lattice = EliminationLattice
		if l, otherwise := newPlan(ctx, c, num.Float, 0, s); otherwise == nil {
			return l, nil
		}
	}
	return nil, err
}

// precisely tries the engine of the settings, or engines and precisions until one gives the width asked for.
func precisely(s Settings, try func(engine num.Engine, prec uint) (width float64, err error)) error {
	switch s.Engine {
	case num.Exact:
		_, err := try(num.Exact, 0)
		return err
	case num.Float:
		width, err := try(num.Float, 0)
		if err == nil && math.IsInf(width, 1) {
			return ErrRange
		}
		return err
	case "", num.Auto:
		if width, err := try(num.Float, 0); err != nil || width <= s.RelTol {
			return err
		}
	}
	for prec := uint(firstPrecision); prec <= maxPrecision; prec *= 2 {
		if width, err := try(num.Enclose, prec); err != nil || width <= s.RelTol {
			return err
		}
	}
	return errPrecision(s)
}

// gradientWith returns the gradient as one engine gives it, and the largest relative width of a derivative.
func gradientWith(ctx context.Context, m *cluster.Model, plans []*plan, engine num.Engine, prec uint, s Settings) (*Gradient, float64, error) {
	g := &Gradient{Engine: engine, ArrivalRates: make([]num.Value, len(m.Classes)), Capacities: make([]num.Value, len(m.Servers))}
	setZero(g.ArrivalRates, engine) // rows in no component keep a derivative of 0
	setZero(g.Capacities, engine)
	equal := m.EqualSizes()
	width, beyond := 0.0, false
	tol := 0.0
	set := func(d *num.Value, x difference, times *big.Rat) {
		var w float64
		*d, w = x.times(times, tol)
		width, beyond = max(width, w), beyond || math.IsInf(d.Float, 0)
	}
	for _, l := range plans {
		tol = s.RelTol
		if l.lattice == EliminationLattice {
			tol = 1 // widths are relative to the terms at least
		}
		rates, capacities, err := l.derivatives(ctx, engine, prec, s)
		if err != nil {
			return nil, 0, inRows(err, m, l.component)
		}
		for i, list := range l.component.Classes {
			for _, row := range list {
				set(&g.ArrivalRates[row], rates[i], perRate(l, i, row, m, equal))
			}
		}
		for i, list := range l.component.Servers {
			for _, row := range list {
				set(&g.Capacities[row], capacities[i], perCapacity(l, i, row, equal))
			}
		}
	}
	if beyond {
		return nil, 0, errSteep()
	}
	return g, width, nil
}

// derivatives returns the derivatives of the mean number of jobs in the rates and capacities of the problem of the plan.
func (l *plan) derivatives(ctx context.Context, engine num.Engine, prec uint, s Settings) (rates, capacities []difference, err error) {
	if l.lattice == EliminationLattice {
		return l.eliminateDerivatives(ctx, s)
	}
	r := newDualRun(ctx, l, arithmetic.One(engine, prec))
	if err := r.sweep(r.allClasses()); err != nil {
		return nil, nil, err
	}
	for i := range r.rates {
		rates = append(rates, r.derivative(&r.rates[i], true))
	}
	for s := range r.capacities {
		capacities = append(capacities, r.derivative(&r.capacities[s], false))
	}
	return rates, capacities, nil
}

// errSteep refuses a model of which float64 cannot hold some derivative.
func errSteep() error {
	return input.Errorf("model", "a derivative beyond 1e308", "derivatives within the range of float64: count time, or work, in other units")
}

// setZero makes all values 0 as an engine writes it. They share memory.
func setZero(list []num.Value, engine num.Engine) {
	zero := num.Value{Low: new(big.Float), High: new(big.Float)}
	if engine == num.Exact {
		zero = num.Value{Exact: new(big.Rat)}
	}
	for i := range list {
		list[i] = zero
	}
}

// perRate returns by how much the rate of class i of a problem grows for each unit of λ of a row of m. A rate of the problem
// counts one way to choose servers, of which the class moves all, in jobs of one mean size.
func perRate(l *plan, i, row int, m, equal *cluster.Model) *big.Rat {
	ways := integers.Ways(l.component.Model.Servers, l.component.Model.Classes[i].Servers)
	return new(big.Rat).Mul(sizeRatio(m, equal, row), new(big.Rat).SetFrac(l.problem.Scale, ways))
}

// sizeRatio returns σ_i/σ, the mean size of a row of classes over that of equal.
func sizeRatio(m, equal *cluster.Model, row int) *big.Rat {
	if m.Classes[row].MeanSize == nil && m.MeanSize == equal.MeanSize {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).Quo(m.MeanSizeOf(row), num.OrOne(equal.MeanSize))
}

// perCapacity returns by how much the capacity of server i of a problem grows for each unit of capacity of a row of the model:
// a row of n servers that is one server of the component moves it n times as fast.
func perCapacity(l *plan, i, row int, equal *cluster.Model) *big.Rat {
	times := big.NewRat(int64(equal.Servers[row].Size()/l.component.Model.Servers[i].Size()), 1)
	times.Mul(times, new(big.Rat).SetInt(l.problem.Scale))
	return times.Quo(times, num.OrOne(equal.MeanSize))
}

// reduceAll reduces a model of one mean size but keeps classes of rate 0 and servers of capacity 0, which have derivatives too.
func reduceAll(ctx context.Context, m *cluster.Model) ([]cluster.Component, error) {
	positive := func(x *big.Rat) *big.Rat {
		if x.Sign() == 0 {
			return big.NewRat(1, 1)
		}
		return x
	}
	full := &cluster.Model{MeanSize: m.MeanSize, Servers: append([]cluster.Server(nil), m.Servers...), Classes: append([]cluster.Class(nil), m.Classes...)}
	for i := range full.Servers {
		full.Servers[i].Capacity = positive(full.Servers[i].Capacity)
	}
	for i := range full.Classes {
		full.Classes[i].ArrivalRate = positive(full.Classes[i].ArrivalRate)
	}
	components, err := full.Reduce(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		for i, list := range c.Classes {
			c.Model.Classes[i].ArrivalRate, err = num.BoundedSumRats(ctx, len(list), func(k int) *big.Rat { return m.Classes[list[k]].ArrivalRate })
			if err != nil {
				return nil, err // not for its length: fewer terms than Reduce adds up
			}
		}
		for i, list := range c.Servers {
			sum, err := num.BoundedSumRats(ctx, len(list), func(k int) *big.Rat {
				times := big.NewRat(int64(m.Servers[list[k]].Size()/c.Model.Servers[i].Size()), 1)
				return times.Mul(times, m.Servers[list[k]].Capacity)
			})
			if err != nil {
				return nil, err
			}
			c.Model.Servers[i].Capacity = sum.Quo(sum, num.OrOne(m.MeanSize))
		}
	}
	return components, nil
}

// A dual is a number and its derivative in a direction of the rates: see direction.
type dual struct{ x, d arithmetic.Number }

func (a dual) mul(b dual) dual { return dual{a.x.Mul(b.x), a.x.Mul(b.d).Add(a.d.Mul(b.x))} }
func (a dual) add(b dual) dual { return dual{a.x.Add(b.x), a.d.Add(b.d)} }

// over returns a/(M - λ), where den = M - λ and slope is the derivative of λ.
func (a dual) over(den, slope arithmetic.Number) dual {
	x := a.x.Quo(den)
	return dual{x, a.d.Add(x.Mul(slope)).Quo(den)}
}

// A direction says how fast rates grow: those of weights on the class lattice, and λ(k) of a state.
type direction struct {
	weight func(class int) arithmetic.Number
	slope  func(k int) arithmetic.Number
}

// A dualRun sweeps a graph with dual numbers: the values v of the states, and the
// derivatives of Z with respect to the numbers of the problem.
type dualRun struct {
	*recursion.Graph
	problem           *recursion.Problem
	zero, one         arithmetic.Number
	along             direction
	weights           []dual
	v                 []dual
	stop              recursion.Cancellation
	rates, capacities []signed
}

func newDualRun(ctx context.Context, l *plan, like arithmetic.Number) *dualRun {
	return &dualRun{Graph: l.graph, problem: l.problem, stop: recursion.Cancellation{Ctx: ctx}, one: like, zero: like.Rational(new(big.Rat))}
}

// allClasses is the direction of the rates themselves: derivatives in z at z = 1, rates being z λ.
func (r *dualRun) allClasses() direction {
	var buf big.Int
	return direction{
		func(class int) arithmetic.Number { return r.integer(r.problem.Classes[class].Rate) },
		func(k int) arithmetic.Number { return r.integer(r.Rate.At(k, &buf)) },
	}
}

// sweep finds the derivatives of Z with respect to the integers of the problem, and their derivatives in a direction.
func (r *dualRun) sweep(along direction) error {
	r.along, r.weights = along, make([]dual, len(r.Weights))
	for i, w := range r.Weights {
		r.weights[i] = dual{r.integer(w), r.zero}
		if r.ByClass { // a rate
			r.weights[i].d = along.weight(i)
		}
	}
	blank := signed{[2]dual{{r.zero, r.zero}, {r.zero, r.zero}}}
	r.rates, r.capacities = slices.Repeat([]signed{blank}, len(r.problem.Classes)), slices.Repeat([]signed{blank}, len(r.problem.Groups))
	if err := r.up(); err != nil {
		return err
	}
	return r.down()
}

func (r *dualRun) integer(v *big.Int) arithmetic.Number {
	return r.one.Rational(new(big.Rat).SetInt(v))
}

// termWeight returns the weight of a term; those of the root of the class lattice are 1.
func (r *dualRun) termWeight(t int32) dual {
	if w := r.Weight[t]; w >= 0 {
		return r.weights[w]
	}
	return dual{r.one, r.zero}
}

func (r *dualRun) up() error {
	var buf big.Int
	r.v = make([]dual, r.States())
	for k := range r.v {
		first, last := r.Terms(k)
		if first == last {
			r.v[k] = dual{r.one, r.zero}
			continue
		}
		if err := r.stop.After(recursion.BigSteps * int(last-first)); err != nil {
			return err
		}
		sum := r.product(r.termWeight(first), first, -1)
		for t := first + 1; t < last; t++ {
			sum = sum.add(r.product(r.termWeight(t), t, -1))
		}
		r.v[k] = sum.over(r.integer(r.Den.At(k, &buf)), r.along.slope(k))
	}
	return nil
}

// product multiplies x by the values of the children of term t but for number skip.
func (r *dualRun) product(x dual, t int32, skip int) dual {
	for j, c := range r.Children(t) {
		if j != skip {
			x = x.mul(r.v[c])
		}
	}
	return x
}

// down goes through the states from the root with the adjoint w of their numerators. The
// derivative of Z with respect to a weight is w times the values of the children; that with
// respect to d(k) is -w(k) v(k), and sums of these over the states that have a class are carried
// down along the rests.
func (r *dualRun) down() error {
	var buf big.Int
	n := r.States()
	group, copies := r.problem.WeightGroups()
	masks := r.problem.ClassMasks()
	w, carry := slices.Repeat([]dual{{r.zero, r.zero}}, n), slices.Repeat([]dual{{r.zero, r.zero}}, n)
	w[n-1] = dual{r.one, r.zero}
	for k := n - 1; k >= 0; k-- {
		first, last := r.Terms(k)
		if first == last {
			continue
		}
		if err := r.stop.After(2 * recursion.BigSteps * int(last-first)); err != nil {
			return err
		}
		w[k] = w[k].over(r.integer(r.Den.At(k, &buf)), r.along.slope(k))
		loss := w[k].mul(r.v[k])
		for t := first; t < last; t++ {
			pushed := r.termWeight(t).mul(w[k])
			for i, c := range r.Children(t) {
				w[c] = w[c].add(r.product(pushed, t, i))
			}
			if r.Weight[t] < 0 {
				continue
			}
			term := r.product(w[k], t, -1)
			if r.ByClass {
				r.rates[r.Weight[t]].add(0, term)
				continue
			}
			s, count := group[r.Weight[t]], dual{r.one.Rational(copies[r.Weight[t]]), r.zero}
			r.capacities[s].add(0, term.mul(count))
			r.capacities[s].add(1, loss.mul(count))
		}
		if r.ByClass {
			if k == n-1 {
				continue // adds up the others: its denominator is 1
			}
			for s, mask := range masks {
				if mask&k != 0 {
					r.capacities[s].add(1, loss)
				}
			}
		}
		carry[k] = carry[k].add(loss)
		for o := r.OwnFirst[k]; o < r.OwnFirst[k+1]; o++ {
			x := carry[k]
			if r.Coef != nil {
				x = x.mul(dual{r.integer(r.Coef.At(int(o), &buf)), r.zero})
			}
			r.rates[r.Own[o]].add(0, x)
		}
		if t := r.Rest[k]; t >= 0 {
			for _, c := range r.Children(t) {
				carry[c] = carry[c].add(carry[k])
			}
		}
	}
	return nil
}

// A signed adds up the derivative of Z with respect to one number, and its derivative in the direction: what adds to Z
// at 0, what takes away at 1.
type signed struct{ side [2]dual }

func (s *signed) add(side int, t dual) { s.side[side] = s.side[side].add(t) }

// derivative returns the derivative of E = Z'/Z with respect to a number, Z' being the derivative in the direction: with y = ∂Z
// and y' its derivative in the direction, it is y'/Z - E y/Z. If z multiplies the number in the direction, y' + y stands for y'.
func (r *dualRun) derivative(s *signed, multiplied bool) difference {
	z := r.v[r.States()-1]
	mean := z.d.Quo(z.x)
	var side [2]arithmetic.Number
	for i, y := range s.side {
		side[i] = y.d
		if multiplied {
			side[i] = side[i].Add(y.x)
		}
	}
	return difference{
		side[0].Add(mean.Mul(s.side[1].x)).Quo(z.x),
		side[1].Add(mean.Mul(s.side[0].x)).Quo(z.x),
	}
}

// A difference is plus - minus of two values >= 0.
type difference struct{ plus, minus arithmetic.Number }

// times returns the difference times a factor > 0, and the width of its bound: relative to the
// difference, or to tol times its two terms where they cancel further than that.
func (d difference) times(factor *big.Rat, tol float64) (num.Value, float64) {
	f := d.plus.Rational(factor)
	a, b := d.plus.Mul(f), d.minus.Mul(f)
	switch {
	case a.Exact != nil:
		x := new(big.Rat).Sub(a.Exact, b.Exact)
		v, _ := x.Float64()
		return num.Value{Float: v, Exact: x}, 0
	case a.Interval.Low != nil:
		in := a.Interval.Sub(b.Interval)
		v, _ := in.Middle().Float64()
		width, _ := num.Up(in.Prec()).Sub(in.High, in.Low).Float64()
		r := num.Value{Float: v, Low: in.Low, High: in.High}
		if width == 0 {
			return r, 0
		}
		size, _ := a.Interval.Add(b.Interval).High.Float64()
		return r, width / max(math.Abs(v), tol*size)
	}
	x, y := a.Double(), b.Double()
	if a.F != 0 && !(x >= arithmetic.Least) || b.F != 0 && !(y >= arithmetic.Least) || !(x+y <= math.MaxFloat64) {
		return num.Value{}, math.Inf(1)
	}
	v := x - y
	off := func(x, e float64) float64 { return x * (e / (1 - e)) } // x is off by at most that: see [arithmetic.Number]
	e := (off(x, a.Bound) + off(y, b.Bound) + arithmetic.Roundoff*math.Abs(v)) * (1 + 8*arithmetic.Roundoff)
	if !(e <= math.MaxFloat64) {
		return num.Value{}, math.Inf(1)
	}
	in := num.FromFloat64(v, 64)
	r := num.Value{Float: v, Low: in.Low.Sub(in.Low, big.NewFloat(e)), High: in.High.Add(in.High, big.NewFloat(e))}
	if x+y == 0 {
		return r, 0
	}
	return r, e / max(math.Abs(v), tol*(x+y))
}
