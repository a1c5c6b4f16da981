package oiqueue

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// A Routing holds the routes of the jobs of n = len(External) classes. Arriving and returning jobs
// join the end of the queue.
type Routing struct {
	External []*big.Rat // ν_i >= 0, jobs per unit of time that arrive from outside
	// Prob[i][j] = p_ij, probability that a served job of class i becomes one of class j; nil is 0;
	// it leaves with probability 1 - Σ_j p_ij
	Prob [][]*big.Rat
}

// A Traffic holds effective arrival rates.
type Traffic struct {
	// ArrivalRates are λ_i, jobs per unit of time: fractions, or with Float doubles with proved
	// bounds Low and High.
	ArrivalRates []num.Value
	Residual     float64 // largest |ν + λP - λ| of the doubles, rounded up; 0 for fractions
}

// TrafficEquations returns the effective arrival rates λ = ν + λP, external and returning jobs
// together, by elimination in O(n^3) operations. The bounds of Float come from the rates and a
// second solution w >= 0 of (I - P^T) w ≈ 1. The residual r = ν - (I - P^T) λ and v = (I - P^T) w >
// 0 are computed exactly. Since the inverse of the M-matrix I - P^T is nonnegative, the error is at
// most w max_i |r_i|/v_i.
//
// The error is a *[num.InputError] for a negative probability, a row that sums to more than 1, or
// an engine other than Float and Exact, a [*ClosedError] naming the classes, if any, from which no
// job ever leaves, or ctx.Err() promptly after ctx is done. With Float it wraps [num.ErrFloatRange]
// if v is not positive, because jobs leave too rarely for float64, or a rate or its bound is beyond
// the largest float64.
func TrafficEquations(ctx context.Context, r Routing, s Settings) (*Traffic, error) {
	engine, err := arithmetic.FloatOrExact(s.Engine)
	if err != nil {
		return nil, err
	}
	if engine == num.Float {
		return floatTraffic(ctx, r)
	}
	lambda, err := exactTraffic(ctx, r)
	if err != nil {
		return nil, err
	}
	t := &Traffic{}
	for _, l := range lambda {
		t.ArrivalRates = append(t.ArrivalRates, num.ExactValue(l))
	}
	return t, nil
}

func exactTraffic(ctx context.Context, r Routing) ([]*big.Rat, error) {
	if err := checkRouting(ctx, r); err != nil {
		return nil, err
	}
	n := len(r.External)
	a := make([][]*big.Rat, n) // (I - P)^T, and ν as the last column
	for j := range a {
		a[j] = make([]*big.Rat, n+1)
		for i := range n {
			a[j][i] = new(big.Rat).Neg(entry(r.Prob[i][j]))
		}
		a[j][j].Add(a[j][j], big.NewRat(1, 1))
		a[j][n] = new(big.Rat).Set(r.External[j])
	}
	// Every class leads out, so I - P is a nonsingular M-matrix and each pivot is positive.
	term := new(big.Rat)
	for k := range n {
		for j := range n {
			if j == k || a[j][k].Sign() == 0 {
				continue
			}
			f := new(big.Rat).Quo(a[j][k], a[k][k])
			for i := k; i <= n; i++ {
				if err := ctx.Err(); err != nil { // fractions grow long
					return nil, err
				}
				a[j][i].Sub(a[j][i], term.Mul(f, a[k][i]))
			}
		}
	}
	lambda := make([]*big.Rat, n)
	for k := range n {
		lambda[k] = a[k][n].Quo(a[k][n], a[k][k])
	}
	return lambda, nil
}

func floatTraffic(ctx context.Context, r Routing) (*Traffic, error) {
	if err := checkRouting(ctx, r); err != nil {
		return nil, err
	}
	n := len(r.External)
	a := mat.NewDense(n, n, nil)
	b := mat.NewDense(n, 2, nil)
	for j := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range n {
			p, _ := entry(r.Prob[i][j]).Float64()
			a.Set(j, i, -p)
		}
		p, _ := new(big.Rat).Sub(big.NewRat(1, 1), entry(r.Prob[j][j])).Float64()
		a.Set(j, j, p)
		nu, _ := r.External[j].Float64()
		if math.IsInf(nu, 0) {
			return nil, rateTooLarge(fmt.Sprintf("External[%d]", j))
		}
		b.Set(j, 0, nu)
		b.Set(j, 1, 1)
	}
	if solved, err := eliminate(ctx, a.RawMatrix(), b.RawMatrix()); err != nil {
		return nil, err
	} else if !solved {
		return nil, leaveRarely()
	}
	lambda := mat.Col(nil, 0, b)
	w := mat.Col(nil, 1, b)
	v, err := applyExact(ctx, r, w)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, leaveRarely()
	}
	residual, err := applyExact(ctx, r, lambda)
	if err != nil {
		return nil, err
	}
	if residual == nil {
		return nil, rateTooLarge("an effective rate")
	}
	worst, factor := new(big.Rat), new(big.Rat)
	for i, nu := range r.External {
		residual[i].Sub(nu, residual[i]).Abs(residual[i])
		if v[i].Sign() <= 0 || w[i] < 0 {
			return nil, leaveRarely()
		}
		if residual[i].Cmp(worst) > 0 {
			worst = residual[i]
		}
		if f := new(big.Rat).Quo(residual[i], v[i]); f.Cmp(factor) > 0 {
			factor = f
		}
	}
	t := &Traffic{Residual: roundUp(worst)}
	for i, l := range lambda {
		bound := new(big.Rat).SetFloat64(w[i])
		e := roundUp(bound.Mul(bound, factor))
		if math.IsInf(max(e, t.Residual), 0) {
			return nil, rateTooLarge("the error bound on an effective rate")
		}
		in := num.FromFloat64(l, 64).Add(num.Interval{Low: big.NewFloat(-e), High: big.NewFloat(e)})
		t.ArrivalRates = append(t.ArrivalRates, num.Value{Float: l, Low: in.Low, High: in.High})
	}
	return t, nil
}

// applyExact returns (I - P^T) x exactly, nil if x is not finite. The error is the context's.
func applyExact(ctx context.Context, r Routing, x []float64) ([]*big.Rat, error) {
	exact := make([]*big.Rat, len(x))
	for i, f := range x {
		if exact[i] = new(big.Rat).SetFloat64(f); exact[i] == nil {
			return nil, nil
		}
	}
	y, term := make([]*big.Rat, len(x)), new(big.Rat)
	for j := range y {
		y[j] = new(big.Rat).Set(exact[j])
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range x {
			if p := r.Prob[i][j]; p != nil && p.Sign() != 0 {
				y[j].Sub(y[j], term.Mul(p, exact[i]))
			}
		}
	}
	return y, nil
}

func roundUp(r *big.Rat) float64 {
	f, exact := r.Float64()
	if exact && (f != 0 || r.Sign() == 0) { // Rat.Float64 takes 0 for an exact 2^-2000
		return f
	}
	return math.Nextafter(f, math.Inf(1))
}

func leaveRarely() error {
	return rangeErrorf("jobs leave too rarely to solve the traffic equations; the engine exact has no such limit")
}

func rateTooLarge(what string) error {
	return rangeErrorf("%s is beyond %.3g; the engine exact has no such limit", what, math.MaxFloat64)
}

// Routed returns q with the effective arrival rates of r in place of its own. By
// quasi-reversibility its stationary measure is that of the queue with this routing. The
// number of classes must agree; errors as in [TrafficEquations].
func Routed(ctx context.Context, q *Queue, r Routing) (*Queue, error) {
	if err := checkShape(q); err != nil {
		return nil, err
	}
	if len(r.External) != len(q.ArrivalRates) {
		return nil, input.Errorf("External", fmt.Sprintf("%d entries", len(r.External)),
			"one for each of the %d classes",
			len(q.ArrivalRates))
	}
	lambda, err := exactTraffic(ctx, r)
	if err != nil {
		return nil, err
	}
	routed := *q
	routed.ArrivalRates = lambda
	return &routed, nil
}

// Reentrant returns the re-entrant queue of [BC17] section 3: after each service a job leaves with
// probability p in (0, 1] and otherwise returns to the end of the queue as a job of its class.
// External rates are λ_i p, so each job is served 1/p times on average. The effective rates, and
// hence the stationary distribution, are those of q for every p. As p falls to 0 every job in a
// given x is served at the mean rates of Theorem 2, balanced fairness.
func Reentrant(ctx context.Context, q *Queue, p *big.Rat) (*Queue, Routing, error) {
	if err := checkShape(q); err != nil {
		return nil, Routing{}, err
	}
	one := big.NewRat(1, 1)
	if p == nil || p.Sign() <= 0 || p.Cmp(one) > 0 {
		return nil, Routing{}, input.Errorf("p", show(p), "a probability > 0 and <= 1")
	}
	n := len(q.ArrivalRates)
	r := Routing{make([]*big.Rat, n), make([][]*big.Rat, n)}
	for i, lambda := range q.ArrivalRates {
		r.External[i] = new(big.Rat).Mul(lambda, p)
		r.Prob[i] = make([]*big.Rat, n)
		r.Prob[i][i] = new(big.Rat).Sub(one, p)
	}
	routed, err := Routed(ctx, q, r)
	return routed, r, err
}

// entry reads a routing probability, nil as 0.
func entry(p *big.Rat) *big.Rat {
	if p == nil {
		return new(big.Rat)
	}
	return p
}

func checkRouting(ctx context.Context, r Routing) error {
	n := len(r.External)
	if err := checkRates("External", r.External); err != nil {
		return err
	}
	if len(r.Prob) != n {
		return input.Errorf("Prob", fmt.Sprintf("%d rows", len(r.Prob)), "one for each of the %d classes", n)
	}
	one := big.NewRat(1, 1)
	leads := make([]bool, n) // jobs of this class leave sooner or later
	for i, row := range r.Prob {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(row) != n {
			return input.Errorf(fmt.Sprintf("Prob[%d]", i),
				fmt.Sprintf("%d entries", len(row)), "one for each of the %d classes",
				n)
		}
		total := new(big.Rat)
		for j, p := range row {
			if entry(p).Sign() < 0 {
				return input.Errorf(fmt.Sprintf("Prob[%d][%d]", i, j), show(p), "a probability, >= 0")
			}
			total.Add(total, entry(p))
		}
		if total.Cmp(one) > 0 {
			return input.Errorf(fmt.Sprintf("Prob[%d]", i), "a row of sum "+total.RatString(), "a sum <= 1")
		}
		leads[i] = total.Cmp(one) < 0
	}
	for queue := found(leads); len(queue) > 0; queue = queue[1:] {
		for i, row := range r.Prob {
			if p := row[queue[0]]; !leads[i] && p != nil && p.Sign() > 0 {
				leads[i] = true
				queue = append(queue, i)
			}
		}
	}
	stays := make([]bool, n)
	for i := range stays {
		stays[i] = !leads[i]
	}
	if closed := found(stays); closed != nil {
		return &ClosedError{closed}
	}
	return nil
}

// found lists the classes for which set holds.
func found(set []bool) []int {
	var classes []int
	for i, in := range set {
		if in {
			classes = append(classes, i)
		}
	}
	return classes
}
