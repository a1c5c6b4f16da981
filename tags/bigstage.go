package tags

import (
	"math/big"

	"productform/num"
)

// A bigStage is the load ρ and the waiting V of a visit to the host that serves sizes from a to b, with their
// derivatives by a and b. Those of M_1, M_2 and of what weighs V are closed forms,
//
//	∂M_1/∂a = -a f(a), ∂M_1/∂b = P(X > b), ∂M_2/∂a = -a² f(a), ∂M_2/∂b = 2b P(X > b), f' = -(α+1) f/x,
//
// and those of V follow from σV = λ M_2/(2v²), σ = 1 - ρ, differentiated once and twice.
type bigStage struct {
	load, slack                                num.Interval
	loadA, loadB, loadAA, loadBB               num.Interval // ∂²ρ/∂a∂b = 0
	wait, waitA, waitB, waitAA, waitAB, waitBB num.Interval
}

// stage returns the stage of host i, and false if its slack is not proved to be above 0.
func (f *bigFarm) stage(i int, a, b bigPoint) (bigStage, bool) {
	v := f.speeds[i]
	byLoad := f.rate.Quo(v)
	m1, m2 := f.visit(a, b)
	fa, fb := f.density(a), f.density(b)
	afa, bfb := a.x.Mul(fa), b.x.Mul(fb)
	s := bigStage{
		load:   byLoad.Mul(m1),
		loadA:  byLoad.Mul(afa).Neg(),
		loadB:  byLoad.Mul(b.tail),
		loadAA: byLoad.Mul(f.a).Mul(fa),
		loadBB: byLoad.Mul(fb).Neg(),
	}
	s.slack = num.FromInt(1, f.prec).Sub(s.load)
	if s.slack.Sign() <= 0 {
		return s, false
	}
	byWait := byLoad.Quo(v).Scale2(-1) // λ/(2v²)
	// With n = λ M_2/(2v²): σV = n, σV_a - ρ_a V = n_a, σV_aa - 2ρ_a V_a - ρ_aa V = n_aa, and so on.
	s.wait = byWait.Mul(m2).Quo(s.slack)
	nA := byWait.Mul(a.x).Mul(afa).Neg()
	nB := byWait.Mul(b.x).Mul(b.tail).Scale2(1)
	nAA := byWait.Mul(f.aLess1).Mul(afa)
	nBB := byWait.Mul(b.tail.Sub(bfb)).Scale2(1)
	s.waitA = nA.Add(s.wait.Mul(s.loadA)).Quo(s.slack)
	s.waitB = nB.Add(s.wait.Mul(s.loadB)).Quo(s.slack)
	s.waitAA = nAA.Add(s.waitA.Mul(s.loadA).Scale2(1)).Add(s.wait.Mul(s.loadAA)).Quo(s.slack)
	s.waitBB = nBB.Add(s.waitB.Mul(s.loadB).Scale2(1)).Add(s.wait.Mul(s.loadBB)).Quo(s.slack)
	s.waitAB = s.waitA.Mul(s.loadB).Add(s.waitB.Mul(s.loadA)).Quo(s.slack)
	return s, true
}

// stages returns those of all hosts, and false unless k < s_1 < ... < p and all slacks are above 0, proved.
func (f *bigFarm) stages(at []bigPoint) ([]bigStage, bool) {
	list := make([]bigStage, len(f.speeds))
	for i := range list {
		if at[i].x.High.Cmp(at[i+1].x.Low) >= 0 {
			return nil, false
		}
		var ok bool
		if list[i], ok = f.stage(i, at[i], at[i+1]); !ok {
			return nil, false
		}
	}
	return list, true
}

// A bigSystem is a system of n = h-1 equations F(s_1, ..., s_n) = 0 at some cutoffs, with its Jacobian matrix.
type bigSystem struct {
	value    []num.Interval
	jacobian [][]num.Interval
}

func newBigSystem(n int, prec uint) bigSystem {
	s := bigSystem{make([]num.Interval, n), make([][]num.Interval, n)}
	for i := range n {
		s.value[i] = num.FromInt(0, prec)
		s.jacobian[i] = make([]num.Interval, n)
		for j := range n {
			s.jacobian[i][j] = s.value[i]
		}
	}
	return s
}

// objective returns Σ_i w(s_{i-1}) V_i, w(a) = slowdown E[1/X; X > a] + waiting P(X > a), with its gradient and its
// Hessian, which is tridiagonal.
func (f *bigFarm) objective(slowdown, waiting *big.Rat, at []bigPoint, stages []bigStage) (num.Interval, bigSystem) {
	byS, byW := num.FromRat(slowdown, f.prec), num.FromRat(waiting, f.prec)
	sum := num.FromInt(0, f.prec)
	s := newBigSystem(len(stages)-1, f.prec)
	g, h := s.value, s.jacobian
	add := func(z *num.Interval, x num.Interval) { *z = z.Add(x) }
	for i, v := range stages {
		a := at[i]
		w := byS.Mul(f.part(-1, a, f.high)).Add(byW.Mul(a.tail))
		sum = sum.Add(w.Mul(v.wait))
		if i < len(stages)-1 {
			add(&g[i], w.Mul(v.waitB))
			add(&h[i][i], w.Mul(v.waitBB))
		}
		if i == 0 {
			continue
		}
		fa := f.density(a)
		wA := byS.Quo(a.x).Add(byW).Mul(fa).Neg()
		wAA := f.aPlus1.Mul(byS.Quo(a.x).Add(byW)).Add(byS.Quo(a.x)).Mul(fa).Quo(a.x)
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

// slowdowns returns E[S_i] = W_i E[1/X_i] for all hosts, and their derivatives by all cutoffs. ok is false if a part of
// the jobs is not proved to be above 0.
func (f *bigFarm) slowdowns(at []bigPoint, stages []bigStage) (value []num.Interval, slope [][]num.Interval, ok bool) {
	n := len(stages) - 1
	zero := num.FromInt(0, f.prec)
	waiting := zero
	waitingBy := make([]num.Interval, n)
	for j := range waitingBy {
		waitingBy[j] = zero
	}
	for i, v := range stages {
		a, b := at[i], at[i+1]
		final := f.part(0, a, b)
		if final.Sign() <= 0 {
			return nil, nil, false
		}
		inverse := f.part(-1, a, b).Quo(final) // E[1/X_i]
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
			by := inverse.Sub(num.FromInt(1, f.prec).Quo(a.x)).Mul(f.density(a)).Quo(final)
			row[i-1] = row[i-1].Add(waiting.Mul(by))
		}
		if i < n {
			by := num.FromInt(1, f.prec).Quo(b.x).Sub(inverse).Mul(f.density(b)).Quo(final)
			row[i] = row[i].Add(waiting.Mul(by))
		}
		value, slope = append(value, waiting.Mul(inverse)), append(slope, row)
	}
	return value, slope, true
}

// differences returns the system E[S_i] - E[S_{i+1}] = 0.
func differences(value []num.Interval, slope [][]num.Interval, prec uint) bigSystem {
	s := newBigSystem(len(value)-1, prec)
	for i := range s.value {
		s.value[i] = value[i].Sub(value[i+1])
		for j := range s.jacobian[i] {
			s.jacobian[i][j] = slope[i][j].Sub(slope[i+1][j])
		}
	}
	return s
}
