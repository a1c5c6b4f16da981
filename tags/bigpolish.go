package tags

import (
	"fmt"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// An ExactOptimum holds cutoffs at which proved bounds enclose a solution.
type ExactOptimum struct {
	EnclosedResult               // at Cutoffs, to a relative width of at most 1e-30
	Points         []*big.Float  // the same cutoffs as floats, of at least 256 bits
	Radius         float64       // proved: the solution lies within Radius s_i of each cutoff s_i; at most 2^-165
	Objective      num.Enclosure // of the solution: the objective, or the slowdown that all hosts have in common
	Gradient       float64       // bounds |s_i ∂objective/∂s_i|/objective at Cutoffs, or |E[S_i] - E[S_{i+1}]|/E[S_i]
	Steps          int           // of Newton's method
}

// OptimizeExact returns the cutoffs that minimise the objective near start, to 49 digits and proved: within Radius of
// them the gradient is 0 at one point, where the Hessian matrix is positive definite, so it is a local minimum. Whether
// it is the global one is for [Optimize] to say, whose cutoffs are the start meant. The start need not be close: slacks
// of 1e-30, which no cutoffs in doubles have, are found from cutoffs that overload hosts.
//
// It is Newton's method with the gradient and the Hessian matrix in closed form, damped, in 256 bits
// or more. Where a cutoff moves the slack of the host above it, σ, by much more than itself, its variable is ln(σ/ρ),
// in which a wait that grows like 1/σ is smooth; elsewhere it is the logarithm of the cutoff. The proof is Krawczyk's
// test on intervals and does not depend on how the point was found (R. Krawczyk, "Newton-Algorithmen zur Bestimmung von
// Nullstellen mit Fehlerschranken", Computing 4, 1969, 187–201). It takes 3 to 50 steps of h logarithms and
// exponentials.
//
// The error names the field of m, the weight or the cutoff that is out of range, wraps [ErrInfeasible] if no cutoffs
// near start keep all loads below 1, or wraps [ErrPrecision] if Newton's method or the proof fails, as the latter does
// for a minimum that is flat or at an end of the sizes.
func OptimizeExact(m ExactModel, o Objective, start []float64) (ExactOptimum, error) {
	p, err := polish(m, start, o)
	if err != nil {
		return ExactOptimum{}, err
	}
	return p.enclose(m)
}

// FairExact returns the cutoffs near start at which all E[S_i] are equal, as [OptimizeExact] does those of the least
// objective. Within Radius there is one solution.
func FairExact(m ExactModel, start []float64) (ExactOptimum, error) {
	p, err := polishFair(m, start)
	if err != nil {
		return ExactOptimum{}, err
	}
	return p.enclose(m)
}

// A polished solution: cutoffs and what is proved of them.
type polished struct {
	points    []*big.Float
	radius    float64
	objective ends // over all cutoffs within the radius, or where they solve the problem
	gradient  float64
	steps     int
}

// enclose adds the means at the cutoffs.
func (p polished) enclose(m ExactModel) (ExactOptimum, error) {
	cutoffs := make([]*big.Rat, len(p.points))
	for i, s := range p.points {
		cutoffs[i], _ = s.Rat(nil)
	}
	r, err := Enclose(m, cutoffs, 1e-30)
	if err != nil {
		return ExactOptimum{}, err
	}
	return ExactOptimum{r, p.points, p.radius, p.objective.enclosure(), p.gradient, p.steps}, nil
}

// A bigSearch is a problem for Newton's method to a number of bits.
type bigSearch struct {
	bigFarm
	fair              bool
	slowdown, waiting *big.Rat // the objective, unless fair
}

// A bigState is a point of the search.
type bigState struct {
	at     []bigPoint // k, s_1, ..., s_{h-1}, p
	stages []bigStage
}

// polish minimises the objective from start.
func polish(m ExactModel, start []float64, o Objective) (polished, error) {
	if err := o.validate(); err != nil {
		return polished{}, err
	}
	return polishFrom(m, start, bigSearch{
		slowdown: new(big.Rat).SetFloat64(o.Slowdown),
		waiting:  new(big.Rat).SetFloat64(o.Waiting),
	})
}

// polishFair makes the slowdowns of all hosts equal from start.
func polishFair(m ExactModel, start []float64) (polished, error) {
	return polishFrom(m, start, bigSearch{fair: true})
}

// polishFrom runs Newton's method to more and more bits, each time from where it ended, until the proof succeeds.
func polishFrom(m ExactModel, start []float64, p bigSearch) (polished, error) {
	if err := m.Validate(); err != nil {
		return polished{}, err
	}
	var goals []bigGoal
	steps := 0
	var found polished
	err := settle(256, 4096, func(prec uint) error {
		var err error
		if p.bigFarm, err = m.farm(prec); err != nil {
			return err
		}
		if goals == nil {
			if goals, err = p.startGoals(start); err != nil {
				return err
			}
		}
		state, err := p.enter(goals)
		if err != nil {
			return err
		}
		state, n, err := p.newton(state)
		steps += n
		if err != nil {
			return err
		}
		for i := range goals {
			goals[i] = bigGoal{log: state.at[i].log}
		}
		found, err = p.prove(state)
		return err
	})
	found.steps = steps
	if err != nil {
		return polished{}, err
	}
	return found, nil
}

// A bigGoal says what the cutoff below a host is to be: e^log, or the one that leaves the host the slack; or if both
// are given, the greater of these. Either is nil if not.
type bigGoal struct{ log, slack ends }

// startGoals returns the cutoffs to start from. A cutoff below an overloaded host is to be raised until the host
// has as much slack as it lacks now.
func (p *bigSearch) startGoals(start []float64) ([]bigGoal, error) {
	n := len(p.speeds) - 1
	if len(start) != n {
		return nil, input.Errorf("start", fmt.Sprintf("%d cutoffs", len(start)), "%d, one fewer than hosts", n)
	}
	at := []bigPoint{p.low}
	for i, s := range start {
		path := fmt.Sprintf("start[%d]", i)
		if !(s > 0 && s <= math.MaxFloat64) {
			return nil, input.Errorf(path, s, "a number in the range of the sizes")
		}
		x := endsOfFloat(s, p.prec)
		if x.lo.Cmp(at[i].x.hi) <= 0 || x.hi.Cmp(p.high.x.lo) >= 0 {
			return nil, input.Errorf(path, s, "a number in the range of the sizes, above the cutoff before")
		}
		b, err := p.at(x)
		if err != nil {
			return nil, err
		}
		at = append(at, b)
	}
	at = append(at, p.high)
	goals := make([]bigGoal, n+1)
	for i := range goals {
		s, _ := p.stage(i, at[i], at[i+1])
		slack := ends{s.slack.size(), s.slack.size()}
		if most := endsOfFloat(0.5, p.prec); slack.lo.Cmp(most.lo) > 0 {
			slack = most
		}
		if least := endsOfFloat(1e-40, p.prec); slack.lo.Cmp(least.lo) < 0 {
			slack = least
		}
		goals[i] = bigGoal{log: at[i].log, slack: slack}
	}
	return goals, nil
}

// enter returns the state that meets the goals, or one with slacks divided by a power of 2, or one in which the
// slacks of hosts 2 to h alone are given: as they go to 0, the cutoffs fall to the least for which these hosts are
// not overloaded, and the first host is off best.
func (p *bigSearch) enter(goals []bigGoal) (bigState, error) {
	try := append([]bigGoal{}, goals...)
	for n := range 250 {
		s, ok, err := p.recover(try)
		if ok || err != nil {
			return s, err
		}
		for i := range try {
			if try[i].slack.lo == nil {
				return s, errUndecided
			}
			try[i].slack = try[i].slack.times2(-1)
			if n == 50 {
				try[i] = bigGoal{slack: goals[i].slack}
			}
		}
	}
	return bigState{}, fmt.Errorf("tags: near the cutoffs to start from: %w", ErrInfeasible)
}

// recover returns the state that meets the goals of hosts 2 to h, from the last to the second, and false if there is
// none in which all hosts have a slack.
func (p *bigSearch) recover(goals []bigGoal) (bigState, bool, error) {
	at := make([]bigPoint, len(p.speeds)+1)
	at[0], at[len(at)-1] = p.low, p.high
	for i := len(p.speeds) - 1; i > 0; i-- {
		ok := goals[i].log.lo != nil
		if ok {
			var err error
			if at[i], err = p.atLog(goals[i].log); err != nil {
				return bigState{}, false, err
			}
			if goals[i].slack.lo != nil {
				s, _ := p.stage(i, at[i], at[i+1])
				ok = s.slack.lo.Cmp(goals[i].slack.lo) >= 0
			}
		}
		if !ok {
			var err error
			if at[i], ok, err = p.withSlack(i, at[i+1], goals[i].slack); !ok || err != nil {
				return bigState{}, false, err
			}
		}
		if at[i].log.lo.Cmp(p.low.log.hi) <= 0 || at[i].log.hi.Cmp(at[i+1].log.lo) >= 0 {
			return bigState{}, false, nil
		}
		at[i].tail = p.part(0, at[i], p.high).point()
	}
	stages, ok := p.bigFarm.stages(at)
	return bigState{at, stages}, ok, nil
}

// atLog returns the point e^log, near enough but not proved, without its tail.
func (p *bigSearch) atLog(log ends) (bigPoint, error) {
	log = endsOfBig(log.middle(), p.prec)
	x, err := log.exp()
	if err != nil {
		return bigPoint{}, err
	}
	q, err := p.a.mul(log).neg().exp()
	return p.raise(x.point(), log, q.point()), err
}

// withSlack returns the point a that leaves host i, which serves sizes from a to b, the slack σ, and false if there is
// none; near enough but not proved, without its tail. E[X; a < X <= b] = (1 - σ) v/λ - b P(X > b) gives a^(1-α), or ln
// a where α = 1.
func (p *bigSearch) withSlack(i int, b bigPoint, slack ends) (bigPoint, bool, error) {
	one := endsOfInt(1, p.prec)
	part := one.sub(endsOfBig(slack.middle(), p.prec)).mul(p.speeds[i]).quo(p.rate).sub(b.x.mul(b.tail))
	if part.sign() <= 0 {
		return bigPoint{}, false, nil
	}
	var log, power ends
	if p.isAlpha(1) {
		log = b.log.sub(part.mul(p.mass)).point()
	} else {
		power = b.power[2].sub(part.mul(p.mass).quo(p.coefficient[2])).point()
		if power.sign() <= 0 {
			return bigPoint{}, false, nil
		}
		l, err := power.log()
		if err != nil {
			return bigPoint{}, false, err
		}
		log = l.quo(p.aLess1).neg().point()
	}
	x, err := log.exp()
	if err != nil {
		return bigPoint{}, false, err
	}
	x = x.point()
	q := one.quo(x)
	if !p.isAlpha(1) {
		q = power.quo(x)
	}
	return p.raise(x, log, q.point()), true, nil
}

// newton runs damped Newton steps until they are below 2^(-3/8 prec), so that the error left is nearly that of
// rounding, or are small and shrink no more.
func (p *bigSearch) newton(s bigState) (end bigState, steps int, err error) {
	const most = 400
	last := math.Inf(1)
	n := len(s.at) - 2
	for steps = 0; n > 0 && steps < most; steps++ {
		step, decrease, err := p.direction(s)
		if err != nil {
			return s, steps, err
		}
		move := p.moves(s, step)
		size := 0.0
		for i, v := range move {
			size = max(size, math.Abs(v.float()), math.Abs(step[i].quo(s.at[i+1].x).float()))
		}
		if !(size <= math.MaxFloat64) {
			return s, steps, errUndecided
		}
		next, ok, err := p.walk(s, move, size, decrease)
		if err != nil {
			return s, steps, err
		}
		if !ok {
			return s, steps, errUndecided
		}
		s = next
		if size < math.Ldexp(1, -int(p.prec)*3/8) || size < 1e-9 && size > last/2 {
			return s, steps + 1, nil
		}
		last = size
	}
	if steps == most {
		return s, steps, errUndecided
	}
	return s, steps, nil
}

// merit is what a step must make smaller: the objective, or the greatest |ln E[S_i]/E[S_{i+1}]|.
func (p *bigSearch) merit(s bigState) ends {
	if !p.fair {
		value, _ := p.objective(p.slowdown, p.waiting, s.at, s.stages)
		return value
	}
	value, _, ok := p.slowdowns(s.at, s.stages)
	if !ok {
		return endsOfInt(1<<62, p.prec)
	}
	worst := endsOfInt(0, p.prec)
	for _, r := range logRatios(value) {
		if r.size().Cmp(worst.hi) > 0 {
			worst = endsOfBig(r.size(), p.prec)
		}
	}
	return worst
}

// walk goes along move, which is size long in its greatest entry, and halves the way until it stays inside and the
// merit falls, by 1e-4 of what the slope promises; the way of the fair problem promises a zero. Steps below 1e-6 are
// taken as they are, where the merit has too few digits to tell.
func (p *bigSearch) walk(s bigState, move []ends, size float64, decrease ends) (bigState, bool, error) {
	t := min(1, 30/size)
	merit := p.merit(s)
	if p.fair {
		decrease = merit
	}
	goals := make([]bigGoal, len(s.stages))
	for range 80 {
		for i := 1; i < len(s.stages); i++ {
			way := move[i-1].mul(endsOfFloat(t, p.prec))
			if s.inLayer(i) {
				goals[i] = bigGoal{slack: slackAfter(s.stages[i], way)}
			} else {
				goals[i] = bigGoal{log: s.at[i].log.add(way)}
			}
		}
		next, ok, err := p.recover(goals)
		if err != nil {
			return s, false, err
		}
		if ok {
			promised := decrease.mul(endsOfFloat(1e-4*t, p.prec))
			if size < 1e-6 || p.merit(next).middle().Cmp(merit.sub(promised).middle()) <= 0 {
				return next, true, nil
			}
		}
		t /= 2
	}
	return s, false, nil
}

// slackAfter returns the slack after y = ln(σ/ρ) has grown by d: e^d σ/(e^d σ + ρ), where e^d need only be good to d³, of
// which Newton's method makes up for the rest.
func slackAfter(v bigStage, d ends) ends {
	one := endsOfInt(1, d.prec())
	grow := one.add(d).add(d.square().times2(-1))
	if f := d.float(); math.Abs(f) > 1e-5 {
		grow = endsOfFloat(math.Exp(f), d.prec())
	}
	up := v.slack.mul(grow)
	return up.quo(up.add(v.load)).point()
}

// oddSlopes are the derivatives of the variable y of a host by the cutoffs below and above it, first and second.
type oddSlopes struct{ a, b, aa, ab, bb ends }

// inLayer reports whether the variable of host i is y = ln(σ/ρ): where a change of ln a changes that by much more.
// Elsewhere it is ln a itself, as a load that hardly depends on a would not tell much about a.
func (s bigState) inLayer(i int) bool {
	v := s.stages[i]
	return math.Abs(v.loadA.mul(s.at[i].x).quo(v.slack.mul(v.load)).float()) > 8
}

// slopes returns those of host i. For y = ln(σ/ρ), y' = -ρ'/(σρ) and y” = -ρ”/(σρ) + (σ - ρ)/(σρ)² ρ'².
func (s bigState) slopes(i int) oddSlopes {
	v := s.stages[i]
	one := endsOfInt(1, v.load.prec())
	if !s.inLayer(i) {
		zero, d := endsOfInt(0, v.load.prec()), one.quo(s.at[i].x)
		return oddSlopes{a: d, b: zero, aa: d.square().neg(), ab: zero, bb: zero}
	}
	d := one.quo(v.slack.mul(v.load))
	c := v.slack.sub(v.load).mul(d).mul(d)
	return oddSlopes{
		a:  v.loadA.mul(d).neg(),
		b:  v.loadB.mul(d).neg(),
		aa: c.mul(v.loadA).mul(v.loadA).sub(d.mul(v.loadAA)),
		ab: c.mul(v.loadA).mul(v.loadB),
		bb: c.mul(v.loadB).mul(v.loadB).sub(d.mul(v.loadBB)),
	}
}

// moves returns the change of y_2, ..., y_h to first order as the cutoffs change by step.
func (p *bigSearch) moves(s bigState, step []ends) []ends {
	move := make([]ends, len(step))
	for i := range step {
		y := s.slopes(i + 1)
		move[i] = y.a.mul(step[i])
		if i+1 < len(step) {
			move[i] = move[i].add(y.b.mul(step[i+1]))
		}
		move[i] = move[i].point()
	}
	return move
}

// direction returns the Newton step as a change of the cutoffs, and by how much the objective falls along it, to first
// order.
func (p *bigSearch) direction(s bigState) (step []ends, decrease ends, err error) {
	if p.fair {
		value, slope, ok := p.slowdowns(s.at, s.stages)
		if !ok {
			return nil, ends{}, errUndecided
		}
		n := len(value) - 1
		a, b := make([][]*big.Float, n), make([][]*big.Float, n)
		for i, r := range logRatios(value) {
			b[i] = []*big.Float{r.neg().middle()}
			for j := range n {
				a[i] = append(a[i], slope[i][j].quo(value[i]).sub(slope[i+1][j].quo(value[i+1])).middle())
			}
		}
		if !solveBig(a, b) {
			return nil, ends{}, errUndecided
		}
		for i := range b {
			step = append(step, endsOfBig(b[i][0], p.prec))
		}
		return step, ends{}, nil
	}
	value, system := p.objective(p.slowdown, p.waiting, s.at, s.stages)
	return p.descend(value, system, s)
}

// descend returns the Newton step in the variables y = ln(σ/ρ) of hosts 2 to h. With J = ∂y/∂s, which is bidiagonal,
// and the gradient g and Hessian matrix H in s, those in y are J^-T g and J^-T M J^-1,
//
//	M = H - Σ_i γ_i ∂²y_i/∂s²,  J^T γ = g,
//
// tridiagonal, so the step is -M^-1 g. While M is not positive definite, more and more of J^T J, which stands for the
// unit matrix, is added.
func (p *bigSearch) descend(value ends, system bigSystem, s bigState) (step []ends, decrease ends, err error) {
	n := len(system.value)
	g, diagonal, beside := make([]ends, n), make([]ends, n), make([]ends, n) // beside[i] at (i, i+1)
	unit, unitBeside := make([]ends, n), make([]ends, n)                     // J^T J
	slopes := make([]oddSlopes, n)
	var gamma ends
	for i := range n {
		g[i], diagonal[i] = system.value[i].point(), system.jacobian[i][i].point()
		if i+1 < n {
			beside[i] = system.jacobian[i][i+1].point()
		}
	}
	for i := range n {
		y := s.slopes(i + 1)
		slopes[i] = y
		rest := g[i]
		if i > 0 {
			rest = rest.sub(slopes[i-1].b.mul(gamma))
		}
		gamma = rest.quo(y.a).point()
		diagonal[i] = diagonal[i].sub(gamma.mul(y.aa)).point()
		if unit[i] = y.a.square(); i > 0 {
			unit[i] = unit[i].add(slopes[i-1].b.square())
		}
		if i+1 < n {
			beside[i] = beside[i].sub(gamma.mul(y.ab)).point()
			diagonal[i+1] = diagonal[i+1].sub(gamma.mul(y.bb)).point()
			unitBeside[i] = y.a.mul(y.b)
		}
	}
	for more := 0.0; more < 1e30; more = max(1e-3, 10*more) {
		d, b := make([]ends, n), make([]ends, n)
		extra := value.mul(endsOfFloat(more, p.prec))
		for i := range n {
			if d[i] = diagonal[i].add(extra.mul(unit[i])).point(); i+1 < n {
				b[i] = beside[i].add(extra.mul(unitBeside[i])).point()
			}
		}
		step, ok := solveTridiagonalBig(d, b, g)
		if !ok {
			continue
		}
		decrease = endsOfInt(0, p.prec)
		for i := range step {
			decrease = decrease.add(step[i].mul(g[i]))
			step[i] = step[i].neg()
		}
		return step, decrease.point(), nil
	}
	return nil, ends{}, errUndecided
}

// solveTridiagonalBig solves A x = g for a symmetric tridiagonal A, and reports false if it is not positive definite.
func solveTridiagonalBig(diagonal, beside, g []ends) ([]ends, bool) {
	n := len(g)
	pivot, x := make([]ends, n), make([]ends, n)
	for i := range n {
		pivot[i], x[i] = diagonal[i], g[i]
		if i > 0 {
			f := beside[i-1].quo(pivot[i-1])
			pivot[i] = pivot[i].sub(f.mul(beside[i-1])).point()
			x[i] = x[i].sub(f.mul(x[i-1])).point()
		}
		if pivot[i].sign() <= 0 {
			return nil, false
		}
	}
	for i := n - 1; i >= 0; i-- {
		if i+1 < n {
			x[i] = x[i].sub(beside[i].mul(x[i+1]))
		}
		x[i] = x[i].quo(pivot[i]).point()
	}
	return x, true
}

// logRatios returns ln(x_i/x_{i+1}) with an error of the third order where they are near 0, and of doubles elsewhere.
func logRatios(x []ends) []ends {
	list := make([]ends, len(x)-1)
	for i := range list {
		one := endsOfInt(1, x[i].prec())
		ratio := x[i].quo(x[i+1])
		d := ratio.sub(one)
		list[i] = d.sub(d.square().times2(-1)).point()
		if f := d.float(); math.Abs(f) > 1e-5 {
			fraction := new(big.Float)
			exponent := ratio.middle().MantExp(fraction)
			f, _ := fraction.Float64()
			list[i] = endsOfFloat(math.Log(f)+float64(exponent)*math.Ln2, x[i].prec())
		}
	}
	return list
}

// solveBig solves A X = B by Gauss's method with the largest pivot of each column; A and B are overwritten, B with X.
// It reports false if a pivot is 0.
func solveBig(a, b [][]*big.Float) bool {
	n := len(a)
	for c := range n {
		best := c
		for r := c + 1; r < n; r++ {
			if new(big.Float).Abs(a[r][c]).Cmp(new(big.Float).Abs(a[best][c])) > 0 {
				best = r
			}
		}
		a[c], a[best], b[c], b[best] = a[best], a[c], b[best], b[c]
		if a[c][c].Sign() == 0 {
			return false
		}
		for r := c + 1; r < n; r++ {
			if a[r][c].Sign() == 0 {
				continue
			}
			f := new(big.Float).Quo(a[r][c], a[c][c])
			subtractBig(a[r][c:], f, a[c][c:])
			subtractBig(b[r], f, b[c])
		}
	}
	for c := n - 1; c >= 0; c-- {
		for j := range b[c] {
			b[c][j].Quo(b[c][j], a[c][c])
		}
		for r := range c {
			if a[r][c].Sign() != 0 {
				subtractBig(b[r], a[r][c], b[c])
			}
		}
	}
	return true
}

// subtractBig takes f times y from x.
func subtractBig(x []*big.Float, f *big.Float, y []*big.Float) {
	t := new(big.Float)
	for i := range x {
		x[i].Sub(x[i], t.Mul(f, y[i]))
	}
}

// system returns the equations of the problem, and over all of the intervals where the hosts meet them: the objective,
// or the slowdown common to all hosts.
func (p *bigSearch) system(at []bigPoint, stages []bigStage) (ends, bigSystem, bool) {
	if !p.fair {
		value, s := p.objective(p.slowdown, p.waiting, at, stages)
		return value, s, true
	}
	value, slope, ok := p.slowdowns(at, stages)
	if !ok {
		return ends{}, bigSystem{}, false
	}
	common := value[0]
	for _, v := range value[1:] { // the number is in all of them
		common.lo = bigMax(common.lo, v.lo)
		if v.hi.Cmp(common.hi) < 0 {
			common.hi = v.hi
		}
	}
	return common, differences(value, slope, p.prec), true
}

// prove encloses the solution near s. With the cutoffs c of s, an approximate inverse Y of the Jacobian matrix F' at c
// and the box B of all s with |s_i - c_i| <= r_i, it shows for
//
//	K = -Y F(c) + (I - Y F'(B)) [-r, r]
//
// that |K_i| < r_i for all i. Then F has exactly one zero in B, and it lies in c + K (Krawczyk). In the case of an
// objective all pivots of F'(B), which is its Hessian matrix, are shown to be positive, so the zero is a minimum. If
// anything fails, or K is wider than 2^-165 c, the error is errUndecided.
func (p *bigSearch) prove(s bigState) (polished, error) {
	n := len(s.at) - 2
	found := polished{points: []*big.Float{}}
	center := make([]ends, n)
	for i := range center {
		center[i] = s.at[i+1].x.point()
		found.points = append(found.points, center[i].lo)
	}
	value, system, err := p.systemAt(center)
	if err != nil {
		return found, err
	}
	found.objective = value
	if n == 0 {
		return found, nil
	}
	inverse, ok := inverseBig(system.jacobian, p.prec)
	if !ok {
		return found, errUndecided
	}
	shift, box, wide := make([]ends, n), make([]ends, n), make([]ends, n)
	for i := range n {
		sum := endsOfInt(0, p.prec)
		for j := range n {
			sum = sum.sub(inverse[i][j].mul(system.value[j]))
		}
		shift[i] = sum
		r := roundUp(p.prec).SetMantExp(center[i].hi, 24-int(p.prec))
		r.Add(r, sum.size())
		r.Add(r, sum.size())
		wide[i] = ends{roundDown(p.prec).Neg(r), r}
		box[i] = center[i].add(wide[i])
	}
	value, inBox, err := p.systemAt(box)
	if err != nil {
		return found, err
	}
	radius := 0.0
	for i := range n {
		k := shift[i]
		for j := range n {
			c := endsOfInt(0, p.prec)
			if i == j {
				c = endsOfInt(1, p.prec)
			}
			for l := range n {
				c = c.sub(inverse[i][l].mul(inBox.jacobian[l][j]))
			}
			k = k.add(c.mul(wide[j]))
		}
		if !k.inside(wide[i]) {
			return found, errUndecided
		}
		relative, _ := k.size().Quo(k.size(), center[i].lo).Float64()
		radius = max(radius, math.Nextafter(relative, 1))
	}
	if !(radius < 0x1p-165) || !p.fair && !positiveDefinite(inBox.jacobian) {
		return found, errUndecided
	}
	found.radius, found.objective = radius, value
	found.gradient = p.gradient(center, value, system)
	return found, nil
}

// gradient bounds what Newton's method left.
func (p *bigSearch) gradient(center []ends, value ends, system bigSystem) float64 {
	worst := 0.0
	for i, g := range system.value {
		if !p.fair {
			g = g.mul(center[i])
		}
		f, _ := ends{g.size(), g.size()}.quo(value).hi.Float64()
		worst = max(worst, math.Nextafter(f, 1))
	}
	return worst
}

// systemAt evaluates the system over intervals of the cutoffs.
func (p *bigSearch) systemAt(cutoffs []ends) (ends, bigSystem, error) {
	at := []bigPoint{p.low}
	for _, x := range cutoffs {
		if x.sign() <= 0 {
			return ends{}, bigSystem{}, errUndecided
		}
		b, err := p.at(x)
		if err != nil {
			return ends{}, bigSystem{}, err
		}
		at = append(at, b)
	}
	at = append(at, p.high)
	stages, ok := p.bigFarm.stages(at)
	if !ok {
		return ends{}, bigSystem{}, errUndecided
	}
	value, s, ok := p.system(at, stages)
	if !ok {
		return ends{}, bigSystem{}, errUndecided
	}
	return value, s, nil
}

// inverseBig returns an inverse of the middles of a, near enough for any use but not proved.
func inverseBig(a [][]ends, prec uint) ([][]ends, bool) {
	n := len(a)
	middle, unit := make([][]*big.Float, n), make([][]*big.Float, n)
	for i := range n {
		for j := range n {
			middle[i] = append(middle[i], a[i][j].middle())
			unit[i] = append(unit[i], new(big.Float).SetPrec(prec))
		}
		unit[i][i].SetInt64(1)
	}
	if !solveBig(middle, unit) {
		return nil, false
	}
	inverse := make([][]ends, n)
	for i := range n {
		for _, x := range unit[i] {
			inverse[i] = append(inverse[i], endsOfBig(x, prec))
		}
	}
	return inverse, true
}

// positiveDefinite reports whether all symmetric tridiagonal matrices in a are proved to be positive definite: the
// pivots of Gauss's method on intervals hold theirs.
func positiveDefinite(a [][]ends) bool {
	pivot := a[0][0]
	for i := 1; i < len(a) && pivot.sign() > 0; i++ {
		pivot = a[i][i].sub(a[i-1][i].square().quo(pivot))
	}
	return pivot.sign() > 0
}
