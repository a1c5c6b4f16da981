package optimum

import (
	"math"
	"math/big"

	"productform/num"
	"productform/sizes/exact"
)

// newton runs damped Newton steps until they are below 2^(-3/8 prec), when rounding dominates the
// remaining error, or until they are small and stop shrinking.
func (p *search) newton(s state) (end state, steps int, err error) {
	const most = 400
	last := math.Inf(1)
	n := len(s.at) - 2
	for steps = 0; n > 0 && steps < most; steps++ {
		if err := p.ctx.Err(); err != nil {
			return s, steps, err
		}
		step, decrease, err := p.direction(s)
		if err != nil {
			return s, steps, err
		}
		move := p.moves(s, step)
		size := 0.0
		for i, v := range move {
			size = max(size, math.Abs(v.Approx()), math.Abs(step[i].Quo(s.at[i+1].X).Approx()))
		}
		if !(size <= math.MaxFloat64) {
			return s, steps, exact.ErrMoreBits
		}
		next, ok, err := p.walk(s, move, size, decrease)
		if err != nil {
			return s, steps, err
		}
		if !ok {
			return s, steps, exact.ErrMoreBits
		}
		s = next
		if size < math.Ldexp(1, -int(p.Prec)*3/8) || size < 1e-9 && size > last/2 {
			return s, steps + 1, nil
		}
		last = size
	}
	if steps == most {
		return s, steps, exact.ErrMoreBits
	}
	return s, steps, nil
}

// walk moves along move, whose largest entry is size. It halves the step until the state stays
// inside and the merit falls by 1e-4 of the decrease that the slope predicts; for the fair problem
// the slope predicts a merit of 0. Steps below 1e-6 are not checked, since the merit then has too
// few digits.
func (p *search) walk(s state, move []num.Interval, size float64, decrease num.Interval) (state, bool, error) {
	t := min(1, 30/size)
	merit := p.merit(s)
	if p.fair {
		decrease = merit
	}
	goals := make([]goal, len(s.stages))
	for range 80 {
		for i := 1; i < len(s.stages); i++ {
			way := move[i-1].Mul(num.FromFloat64(t, p.Prec))
			if s.inLayer(i) {
				goals[i] = goal{slack: slackAfter(s.stages[i], way)}
			} else {
				goals[i] = goal{log: s.at[i].Log.Add(way)}
			}
		}
		next, ok, err := p.recover(goals)
		if err != nil {
			return s, false, err
		}
		if ok {
			promised := decrease.Mul(num.FromFloat64(1e-4*t, p.Prec))
			if size < 1e-6 || p.merit(next).Middle().Cmp(merit.Sub(promised).Middle()) <= 0 {
				return next, true, nil
			}
		}
		t /= 2
	}
	return s, false, nil
}

// merit is the quantity that a step must reduce: the objective, or the largest |ln
// E[S_i]/E[S_{i+1}]|.
func (p *search) merit(s state) num.Interval {
	if !p.fair {
		value, _ := p.objective(p.slowdown, p.waiting, s.at, s.stages)
		return value
	}
	value, _, ok := p.slowdowns(s.at, s.stages)
	if !ok {
		return num.FromInt(1<<62, p.Prec)
	}
	worst := num.FromInt(0, p.Prec)
	for _, r := range logRatios(value) {
		if r.Abs().Cmp(worst.High) > 0 {
			worst = num.FromBig(r.Abs(), p.Prec)
		}
	}
	return worst
}

// direction returns the Newton step as a change of the cutoffs, and the decrease of the objective
// along it, to first order.
func (p *search) direction(s state) (step []num.Interval, decrease num.Interval, err error) {
	if p.fair {
		value, slope, ok := p.slowdowns(s.at, s.stages)
		if !ok {
			return nil, num.Interval{}, exact.ErrMoreBits
		}
		n := len(value) - 1
		a, b := make([][]*big.Float, n), make([][]*big.Float, n)
		for i, r := range logRatios(value) {
			b[i] = []*big.Float{r.Neg().Middle()}
			for j := range n {
				a[i] = append(a[i], slope[i][j].Quo(value[i]).Sub(slope[i+1][j].Quo(value[i+1])).Middle())
			}
		}
		if !num.SolveLinear(a, b) {
			return nil, num.Interval{}, exact.ErrMoreBits
		}
		for i := range b {
			step = append(step, num.FromBig(b[i][0], p.Prec))
		}
		return step, num.Interval{}, nil
	}
	value, system := p.objective(p.slowdown, p.waiting, s.at, s.stages)
	return p.descend(value, system, s)
}

// descend returns the Newton step in the variables y = ln(σ/ρ) of hosts 2 to h. Let J = ∂y/∂s,
// which is bidiagonal, and let g and H be the gradient and the Hessian matrix in s. The gradient
// and the Hessian matrix in y are then J^-T g and J^-T M J^-1,
//
//	M = H - Σ_i γ_i ∂²y_i/∂s²,  J^T γ = g,
//
// where M is tridiagonal, so the step is -M^-1 g. While M is not positive definite, an increasing
// multiple of J^T J, which represents the unit matrix, is added.
func (p *search) descend(value num.Interval, system system, s state) (
	step []num.Interval, decrease num.Interval, err error,
) {
	n := len(system.value)
	// beside[i] at (i, i+1)
	g, diagonal, beside := make([]num.Interval, n), make([]num.Interval, n), make([]num.Interval, n)
	unit, unitBeside := make([]num.Interval, n), make([]num.Interval, n) // J^T J
	slopes := make([]jacobian, n)
	var gamma num.Interval
	for i := range n {
		g[i], diagonal[i] = system.value[i].Point(), system.jacobian[i][i].Point()
		if i+1 < n {
			beside[i] = system.jacobian[i][i+1].Point()
		}
	}
	for i := range n {
		y := s.slopes(i + 1)
		slopes[i] = y
		rest := g[i]
		if i > 0 {
			rest = rest.Sub(slopes[i-1].b.Mul(gamma))
		}
		gamma = rest.Quo(y.a).Point()
		diagonal[i] = diagonal[i].Sub(gamma.Mul(y.aa)).Point()
		if unit[i] = y.a.Square(); i > 0 {
			unit[i] = unit[i].Add(slopes[i-1].b.Square())
		}
		if i+1 < n {
			beside[i] = beside[i].Sub(gamma.Mul(y.ab)).Point()
			diagonal[i+1] = diagonal[i+1].Sub(gamma.Mul(y.bb)).Point()
			unitBeside[i] = y.a.Mul(y.b)
		}
	}
	for more := 0.0; more < 1e30; more = max(1e-3, 10*more) {
		d, b := make([]num.Interval, n), make([]num.Interval, n)
		extra := value.Mul(num.FromFloat64(more, p.Prec))
		for i := range n {
			if d[i] = diagonal[i].Add(extra.Mul(unit[i])).Point(); i+1 < n {
				b[i] = beside[i].Add(extra.Mul(unitBeside[i])).Point()
			}
		}
		step, ok := solveTridiagonal(d, b, g)
		if !ok {
			continue
		}
		decrease = num.FromInt(0, p.Prec)
		for i := range step {
			decrease = decrease.Add(step[i].Mul(g[i]))
			step[i] = step[i].Neg()
		}
		return step, decrease.Point(), nil
	}
	return nil, num.Interval{}, exact.ErrMoreBits
}

// logRatios returns ln(x_i/x_{i+1}), with an error of third order if it is near 0, and that of
// doubles elsewhere.
func logRatios(x []num.Interval) []num.Interval {
	list := make([]num.Interval, len(x)-1)
	for i := range list {
		one := num.FromInt(1, x[i].Prec())
		ratio := x[i].Quo(x[i+1])
		d := ratio.Sub(one)
		list[i] = d.Sub(d.Square().Scale2(-1)).Point()
		if f := d.Approx(); math.Abs(f) > 1e-5 {
			fraction := new(big.Float)
			exponent := ratio.Middle().MantExp(fraction)
			f, _ := fraction.Float64()
			list[i] = num.FromFloat64(math.Log(f)+float64(exponent)*math.Ln2, x[i].Prec())
		}
	}
	return list
}
