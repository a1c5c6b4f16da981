package optimum

import (
	"math"

	"productform/num"
)

// A jacobian holds the first and second derivatives of the variable y of a host with respect to the
// cutoffs below and above it.
type jacobian struct{ a, b, aa, ab, bb num.Interval }

// inLayer reports whether the variable of host i is y = ln(σ/ρ), because it changes by much more
// than ln a. Otherwise the variable is ln a itself: a load that hardly depends on a carries little
// information about a.
func (s state) inLayer(i int) bool {
	v := s.stages[i]
	if v.resumed {
		return false
	}
	return math.Abs(v.loadA.Mul(s.at[i].X).Quo(v.slack.Mul(v.load)).Approx()) > 8
}

// slopes returns the slopes of host i. For y = ln(σ/ρ), y' = -ρ'/(σρ) and y″ = -ρ″/(σρ) + (σ -
// ρ)/(σρ)² ρ'².
func (s state) slopes(i int) jacobian {
	v := s.stages[i]
	one := num.FromInt(1, v.load.Prec())
	if !s.inLayer(i) {
		zero, d := num.FromInt(0, v.load.Prec()), one.Quo(s.at[i].X)
		return jacobian{a: d, b: zero, aa: d.Square().Neg(), ab: zero, bb: zero}
	}
	d := one.Quo(v.slack.Mul(v.load))
	c := v.slack.Sub(v.load).Mul(d).Mul(d)
	return jacobian{
		a:  v.loadA.Mul(d).Neg(),
		b:  v.loadB.Mul(d).Neg(),
		aa: c.Mul(v.loadA).Mul(v.loadA).Sub(d.Mul(v.loadAA)),
		ab: c.Mul(v.loadA).Mul(v.loadB),
		bb: c.Mul(v.loadB).Mul(v.loadB).Sub(d.Mul(v.loadBB)),
	}
}

// moves returns the change of y_2, ..., y_h to first order as the cutoffs change by step.
func (p *search) moves(s state, step []num.Interval) []num.Interval {
	move := make([]num.Interval, len(step))
	for i := range step {
		y := s.slopes(i + 1)
		move[i] = y.a.Mul(step[i])
		if i+1 < len(step) {
			move[i] = move[i].Add(y.b.Mul(step[i+1]))
		}
		move[i] = move[i].Point()
	}
	return move
}

// slackAfter returns the slack after y = ln(σ/ρ) has grown by d: e^d σ/(e^d σ + ρ), where e^d need
// only be accurate to d³, since Newton's method corrects the rest.
func slackAfter(v stage, d num.Interval) num.Interval {
	one := num.FromInt(1, d.Prec())
	grow := one.Add(d).Add(d.Square().Scale2(-1))
	if f := d.Approx(); math.Abs(f) > 1e-5 {
		grow = num.FromFloat64(math.Exp(f), d.Prec())
	}
	up := v.slack.Mul(grow)
	return up.Quo(up.Add(v.load)).Point()
}
