package tags

import "math/big"

// A bigStage is the load ρ and the waiting V of a visit to the host that serves sizes from a to b, with their
// derivatives by a and b. Those of M_1, M_2 and of what weighs V are closed forms,
//
//	∂M_1/∂a = -a f(a), ∂M_1/∂b = P(X > b), ∂M_2/∂a = -a² f(a), ∂M_2/∂b = 2b P(X > b), f' = -(α+1) f/x,
//
// and those of V follow from σV = λ M_2/(2v²), σ = 1 - ρ, differentiated once and twice.
type bigStage struct {
	load, slack                                ends
	loadA, loadB, loadAA, loadBB               ends // ∂²ρ/∂a∂b = 0
	wait, waitA, waitB, waitAA, waitAB, waitBB ends
}

// stage returns the stage of host i, and false if its slack is not proved to be above 0.
func (f *bigFarm) stage(i int, a, b bigPoint) (bigStage, bool) {
	v := f.speeds[i]
	byLoad := f.rate.quo(v)
	m1, m2 := f.visit(a, b)
	fa, fb := f.density(a), f.density(b)
	afa, bfb := a.x.mul(fa), b.x.mul(fb)
	s := bigStage{
		load:   byLoad.mul(m1),
		loadA:  byLoad.mul(afa).neg(),
		loadB:  byLoad.mul(b.tail),
		loadAA: byLoad.mul(f.a).mul(fa),
		loadBB: byLoad.mul(fb).neg(),
	}
	s.slack = endsOfInt(1, f.prec).sub(s.load)
	if s.slack.sign() <= 0 {
		return s, false
	}
	byWait := byLoad.quo(v).times2(-1) // λ/(2v²)
	// With n = λ M_2/(2v²): σV = n, σV_a - ρ_a V = n_a, σV_aa - 2ρ_a V_a - ρ_aa V = n_aa, and so on.
	s.wait = byWait.mul(m2).quo(s.slack)
	nA := byWait.mul(a.x).mul(afa).neg()
	nB := byWait.mul(b.x).mul(b.tail).times2(1)
	nAA := byWait.mul(f.aLess1).mul(afa)
	nBB := byWait.mul(b.tail.sub(bfb)).times2(1)
	s.waitA = nA.add(s.wait.mul(s.loadA)).quo(s.slack)
	s.waitB = nB.add(s.wait.mul(s.loadB)).quo(s.slack)
	s.waitAA = nAA.add(s.waitA.mul(s.loadA).times2(1)).add(s.wait.mul(s.loadAA)).quo(s.slack)
	s.waitBB = nBB.add(s.waitB.mul(s.loadB).times2(1)).add(s.wait.mul(s.loadBB)).quo(s.slack)
	s.waitAB = s.waitA.mul(s.loadB).add(s.waitB.mul(s.loadA)).quo(s.slack)
	return s, true
}

// stages returns those of all hosts, and false unless k < s_1 < ... < p and all slacks are above 0, proved.
func (f *bigFarm) stages(at []bigPoint) ([]bigStage, bool) {
	list := make([]bigStage, len(f.speeds))
	for i := range list {
		if at[i].x.hi.Cmp(at[i+1].x.lo) >= 0 {
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
	value    []ends
	jacobian [][]ends
}

func newBigSystem(n int, prec uint) bigSystem {
	s := bigSystem{make([]ends, n), make([][]ends, n)}
	for i := range n {
		s.value[i] = endsOfInt(0, prec)
		s.jacobian[i] = make([]ends, n)
		for j := range n {
			s.jacobian[i][j] = s.value[i]
		}
	}
	return s
}

// objective returns Σ_i w(s_{i-1}) V_i, w(a) = slowdown E[1/X; X > a] + waiting P(X > a), with its gradient and its
// Hessian, which is tridiagonal.
func (f *bigFarm) objective(slowdown, waiting *big.Rat, at []bigPoint, stages []bigStage) (ends, bigSystem) {
	byS, byW := endsOfRat(slowdown, f.prec), endsOfRat(waiting, f.prec)
	sum := endsOfInt(0, f.prec)
	s := newBigSystem(len(stages)-1, f.prec)
	g, h := s.value, s.jacobian
	add := func(z *ends, x ends) { *z = z.add(x) }
	for i, v := range stages {
		a := at[i]
		w := byS.mul(f.part(-1, a, f.high)).add(byW.mul(a.tail))
		sum = sum.add(w.mul(v.wait))
		if i < len(stages)-1 {
			add(&g[i], w.mul(v.waitB))
			add(&h[i][i], w.mul(v.waitBB))
		}
		if i == 0 {
			continue
		}
		fa := f.density(a)
		wA := byS.quo(a.x).add(byW).mul(fa).neg()
		wAA := f.aPlus1.mul(byS.quo(a.x).add(byW)).add(byS.quo(a.x)).mul(fa).quo(a.x)
		add(&g[i-1], wA.mul(v.wait).add(w.mul(v.waitA)))
		add(&h[i-1][i-1], wAA.mul(v.wait).add(wA.mul(v.waitA).times2(1)).add(w.mul(v.waitAA)))
		if i < len(stages)-1 {
			mixed := wA.mul(v.waitB).add(w.mul(v.waitAB))
			add(&h[i-1][i], mixed)
			add(&h[i][i-1], mixed)
		}
	}
	return sum, s
}

// slowdowns returns E[S_i] = W_i E[1/X_i] for all hosts, and their derivatives by all cutoffs. ok is false if a part of
// the jobs is not proved to be above 0.
func (f *bigFarm) slowdowns(at []bigPoint, stages []bigStage) (value []ends, slope [][]ends, ok bool) {
	n := len(stages) - 1
	zero := endsOfInt(0, f.prec)
	waiting := zero
	waitingBy := make([]ends, n)
	for j := range waitingBy {
		waitingBy[j] = zero
	}
	for i, v := range stages {
		a, b := at[i], at[i+1]
		final := f.part(0, a, b)
		if final.sign() <= 0 {
			return nil, nil, false
		}
		inverse := f.part(-1, a, b).quo(final) // E[1/X_i]
		waiting = waiting.add(v.wait)
		row := make([]ends, n)
		if i > 0 {
			waitingBy[i-1] = waitingBy[i-1].add(v.waitA)
		}
		if i < n {
			waitingBy[i] = waitingBy[i].add(v.waitB)
		}
		for j := range row {
			row[j] = waitingBy[j].mul(inverse)
		}
		if i > 0 { // ∂E[1/X_i]/∂a = f(a) (E[1/X_i] - 1/a)/p_i
			by := inverse.sub(endsOfInt(1, f.prec).quo(a.x)).mul(f.density(a)).quo(final)
			row[i-1] = row[i-1].add(waiting.mul(by))
		}
		if i < n {
			by := endsOfInt(1, f.prec).quo(b.x).sub(inverse).mul(f.density(b)).quo(final)
			row[i] = row[i].add(waiting.mul(by))
		}
		value, slope = append(value, waiting.mul(inverse)), append(slope, row)
	}
	return value, slope, true
}

// differences returns the system E[S_i] - E[S_{i+1}] = 0.
func differences(value []ends, slope [][]ends, prec uint) bigSystem {
	s := newBigSystem(len(value)-1, prec)
	for i := range s.value {
		s.value[i] = value[i].sub(value[i+1])
		for j := range s.jacobian[i] {
			s.jacobian[i][j] = slope[i][j].sub(slope[i+1][j])
		}
	}
	return s
}
