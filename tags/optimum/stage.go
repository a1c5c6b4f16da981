package optimum

import (
	"math/big"

	"productform/num"
	"productform/sizes/exact"
)

// A stage holds the load ρ and the waiting time V of a visit to the host that serves sizes from a
// to b, with their derivatives with respect to a and b. Those of M_1, M_2 and of the weight of V
// are closed forms,
//
//	∂M_1/∂a = -a f(a), ∂M_1/∂b = P(X > b), ∂M_2/∂a = -a² f(a), ∂M_2/∂b = 2b P(X > b),
//
// and those of V follow from σV = λ M_2/(2v²), σ = 1 - ρ, differentiated once and twice.
type stage struct {
	load, slack                                num.Interval
	loadA, loadB, loadAA, loadBB               num.Interval // ∂²ρ/∂a∂b = 0
	wait, waitA, waitB, waitAA, waitAB, waitBB num.Interval
	resumed                                    bool // whether jobs resume at this host
}

// stage returns the stage of host i, or false if its slack is not proved to be positive. The first
// host has no derivatives with respect to a, the last none with respect to b.
func (f *farm) stage(i int, a, b exact.Point) (stage, bool) {
	zero := num.FromInt(0, f.Prec)
	v := f.Speeds[i]
	byLoad := f.Rate.Quo(v)
	m1, m2 := a.Part(1, b), a.Part(2, b)
	s := stage{loadA: zero, loadB: zero, loadAA: zero, loadBB: zero}
	byWait := byLoad.Quo(v).Scale2(-1) // λ/(2v²)
	nA, nAA, nB, nBB, nAB := zero, zero, zero, zero, zero
	if i < len(f.Speeds)-1 {
		tail := b.Tail()
		lost := b.X.Mul(tail)
		m1, m2 = m1.Add(lost), m2.Add(b.X.Mul(lost))
		s.loadB, s.loadBB = byLoad.Mul(tail), byLoad.Mul(b.Density).Neg()
		nB = byWait.Mul(b.X).Mul(tail).Scale2(1)
		nBB = byWait.Mul(tail.Sub(b.X.Mul(b.Density))).Scale2(1)
	}
	if i > 0 {
		afa, turn := a.X.Mul(a.Density), a.X.Mul(a.Slope) // a f, a f'
		s.loadA, s.loadAA = byLoad.Mul(afa).Neg(), byLoad.Mul(a.Density.Add(turn)).Neg()
		nA = byWait.Mul(a.X).Mul(afa).Neg()
		nAA = byWait.Mul(a.X).Mul(a.Density.Scale2(1).Add(turn)).Neg()
	}
	if s.resumed = i > 0 && f.cut != nil; s.resumed {
		r := f.resumption(a, m1, m2)
		m1, m2 = r.m1, r.m2
		s.loadA, s.loadAA = byLoad.Mul(r.m1A), byLoad.Mul(r.m1AA)
		nA, nAA = byWait.Mul(r.m2A), byWait.Mul(r.m2AA)
		if i < len(f.Speeds)-1 { // the derivatives of (b-a+c)², not of b²
			tail := b.Tail().Scale2(1)
			nAB = byWait.Mul(tail).Neg()
			nB = nB.Sub(byWait.Mul(r.spared).Mul(tail))
			nBB = nBB.Add(byWait.Mul(r.spared).Mul(b.Density).Scale2(1))
		}
	}
	s.load = byLoad.Mul(m1)
	s.slack = num.FromInt(1, f.Prec).Sub(s.load)
	if s.slack.Sign() <= 0 {
		return s, false
	}
	// With n = λ M_2/(2v²): σV = n, σV_a - ρ_a V = n_a, σV_aa - 2ρ_a V_a - ρ_aa V = n_aa, and so
	// on.
	s.wait = byWait.Mul(m2).Quo(s.slack)
	s.waitA = nA.Add(s.wait.Mul(s.loadA)).Quo(s.slack)
	s.waitB = nB.Add(s.wait.Mul(s.loadB)).Quo(s.slack)
	s.waitAA = nAA.Add(s.waitA.Mul(s.loadA).Scale2(1)).Add(s.wait.Mul(s.loadAA)).Quo(s.slack)
	s.waitBB = nBB.Add(s.waitB.Mul(s.loadB).Scale2(1)).Add(s.wait.Mul(s.loadBB)).Quo(s.slack)
	s.waitAB = nAB.Add(s.waitA.Mul(s.loadB)).Add(s.waitB.Mul(s.loadA)).Quo(s.slack)
	return s, true
}

// A resumption holds the moments of the work of a host on jobs that resume where they were stopped,
// at a, with their derivatives with respect to a, and the work a - c that it is spared.
type resumption struct{ spared, m1, m1A, m1AA, m2, m2A, m2AA num.Interval }

// resumption returns, with the overhead c and the moments of restarts,
//
//	∂M_1/∂a = -P(X > a) - c f(a),  ∂M_2/∂a = -2 M_1 - c² f(a).
func (f *farm) resumption(a exact.Point, whole1, whole2 num.Interval) resumption {
	c, tail := num.FromRat(f.cut, f.Prec), a.Tail()
	spared := a.X.Sub(c)
	m1 := whole1.Sub(spared.Mul(tail))
	m2 := whole2.Sub(spared.Mul(whole1.Add(m1)))
	cf, cSlope := c.Mul(a.Density), c.Mul(a.Slope)
	r := resumption{spared: spared, m1: m1, m2: m2}
	r.m1A, r.m1AA = tail.Add(cf).Neg(), a.Density.Sub(cSlope)
	r.m2A = m1.Scale2(1).Add(c.Mul(cf)).Neg()
	r.m2AA = tail.Add(cf).Scale2(1).Sub(c.Mul(cSlope))
	return r
}

// stages returns the stages of all hosts. It returns false unless it is proved that k < s_1 < ... <
// p and that all slacks are positive.
func (f *farm) stages(at []exact.Point) ([]stage, bool) {
	list := make([]stage, len(f.Speeds))
	for i := range list {
		if at[i+1].X.Low != nil && at[i].X.High.Cmp(at[i+1].X.Low) >= 0 {
			return nil, false
		}
		var ok bool
		if list[i], ok = f.stage(i, at[i], at[i+1]); !ok {
			return nil, false
		}
	}
	return list, true
}

// A system holds the values of n = h-1 equations F(s_1, ..., s_n) = 0 at some cutoffs, with their
// Jacobian matrix.
type system struct {
	value    []num.Interval
	jacobian [][]num.Interval
}

func newSystem(n int, prec uint) system {
	s := system{make([]num.Interval, n), make([][]num.Interval, n)}
	for i := range n {
		s.value[i] = num.FromInt(0, prec)
		s.jacobian[i] = make([]num.Interval, n)
		for j := range n {
			s.jacobian[i][j] = s.value[i]
		}
	}
	return s
}

// objective returns Σ_i w(s_{i-1}) V_i, w(a) = slowdown E[1/X; X > a] + waiting P(X > a), with its
// gradient and its Hessian, which is tridiagonal.
func (f *farm) objective(slowdown, waiting *big.Rat, at []exact.Point, stages []stage) (num.Interval, system) {
	byS, byW := num.FromRat(slowdown, f.Prec), num.FromRat(waiting, f.Prec)
	sum := num.FromInt(0, f.Prec)
	s := newSystem(len(stages)-1, f.Prec)
	g, h := s.value, s.jacobian
	add := func(z *num.Interval, x num.Interval) { *z = z.Add(x) }
	for i, v := range stages {
		a := at[i]
		w := byW.Mul(a.Tail())
		if byS.Sign() > 0 {
			w = byS.Mul(a.Above[0]).Add(w)
		}
		sum = sum.Add(w.Mul(v.wait))
		if i < len(stages)-1 {
			add(&g[i], w.Mul(v.waitB))
			add(&h[i][i], w.Mul(v.waitBB))
		}
		if i == 0 {
			continue
		}
		each := byS.Quo(a.X).Add(byW)
		wA := each.Mul(a.Density).Neg()
		wAA := byS.Quo(a.X).Mul(a.Density).Quo(a.X).Sub(each.Mul(a.Slope))
		add(&g[i-1], wA.Mul(v.wait).Add(w.Mul(v.waitA)))
		add(&h[i-1][i-1], wAA.Mul(v.wait).Add(wA.Mul(v.waitA).Scale2(1)).Add(w.Mul(v.waitAA)))
		if i < len(stages)-1 {
			mixed := wA.Mul(v.waitB).Add(w.Mul(v.waitAB))
			add(&h[i-1][i], mixed)
			add(&h[i][i-1], mixed)
		}
	}
	return sum, s
}

// slowdowns returns E[S_i] = W_i E[1/X_i] for all hosts, and their derivatives with respect to all
// cutoffs. ok is false unless every fraction of the jobs is proved to be positive.
func (f *farm) slowdowns(at []exact.Point, stages []stage) (value []num.Interval, slope [][]num.Interval, ok bool) {
	n := len(stages) - 1
	zero := num.FromInt(0, f.Prec)
	waiting := zero
	waitingBy := make([]num.Interval, n)
	for j := range waitingBy {
		waitingBy[j] = zero
	}
	for i, v := range stages {
		a, b := at[i], at[i+1]
		final := a.Part(0, b)
		if final.Sign() <= 0 {
			return nil, nil, false
		}
		inverse := a.Part(-1, b).Quo(final) // E[1/X_i]
		waiting = waiting.Add(v.wait)
		row := make([]num.Interval, n)
		if i > 0 {
			waitingBy[i-1] = waitingBy[i-1].Add(v.waitA)
		}
		if i < n {
			waitingBy[i] = waitingBy[i].Add(v.waitB)
		}
		for j := range row {
			row[j] = waitingBy[j].Mul(inverse)
		}
		if i > 0 { // ∂E[1/X_i]/∂a = f(a) (E[1/X_i] - 1/a)/p_i
			by := inverse.Sub(num.FromInt(1, f.Prec).Quo(a.X)).Mul(a.Density).Quo(final)
			row[i-1] = row[i-1].Add(waiting.Mul(by))
		}
		if i < n {
			by := num.FromInt(1, f.Prec).Quo(b.X).Sub(inverse).Mul(b.Density).Quo(final)
			row[i] = row[i].Add(waiting.Mul(by))
		}
		value, slope = append(value, waiting.Mul(inverse)), append(slope, row)
	}
	return value, slope, true
}

// differences returns the system E[S_i] - E[S_{i+1}] = 0.
func differences(value []num.Interval, slope [][]num.Interval, prec uint) system {
	s := newSystem(len(value)-1, prec)
	for i := range s.value {
		s.value[i] = value[i].Sub(value[i+1])
		for j := range s.jacobian[i] {
			s.jacobian[i][j] = slope[i][j].Sub(slope[i+1][j])
		}
	}
	return s
}
