package tags

import "math"

// oddSlopes are the derivatives of the variable y of a host by the cutoffs below and above it, first and second.
type oddSlopes struct{ a, b, aa, ab, bb ends }

// inLayer reports whether the variable of host i is y = ln(σ/ρ): where a change of ln a changes that by much more.
// Elsewhere it is ln a itself, as a load that hardly depends on a would not tell much about a.
func (s bigState) inLayer(i int) bool {
	v := s.stages[i]
	return math.Abs(v.loadA.mul(s.at[i].x).quo(v.slack.mul(v.load)).float()) > 8
}

// slopes returns those of host i. For y = ln(σ/ρ), y' = -ρ'/(σρ) and y″ = -ρ″/(σρ) + (σ - ρ)/(σρ)² ρ'².
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
