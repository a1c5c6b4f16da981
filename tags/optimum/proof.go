package optimum

import (
	"math"
	"math/big"

	"productform/num"
	"productform/sizes/exact"
)

// prove encloses the solution near s. With the cutoffs c of s, an approximate inverse Y of the
// Jacobian matrix F' at c and the box B of all s with |s_i - c_i| <= r_i, it shows for
//
//	K = -Y F(c) + (I - Y F'(B)) [-r, r]
//
// that |K_i| < r_i for all i. Then F has exactly one zero in B, and it lies in c + K (Krawczyk).
// For an objective, F'(B) is the Hessian matrix. All its pivots are shown to be positive, so the
// zero is a minimum. If anything fails, or K is wider than 2^-165 c, the error is
// exact.ErrMoreBits.
func (p *search) prove(s state) (solution, error) {
	n := len(s.at) - 2
	found := solution{points: []*big.Float{}}
	center := make([]num.Interval, n)
	for i := range center {
		center[i] = s.at[i+1].X.Point()
		found.points = append(found.points, center[i].Low)
	}
	value, system, err := p.systemAt(center)
	if err != nil {
		return found, err
	}
	found.objective = value
	if n == 0 {
		return found, nil
	}
	inverse, ok := num.InverseNear(system.jacobian, p.Prec)
	if !ok {
		return found, exact.ErrMoreBits
	}
	shift, box, wide := make([]num.Interval, n), make([]num.Interval, n), make([]num.Interval, n)
	for i := range n {
		sum := num.FromInt(0, p.Prec)
		for j := range n {
			sum = sum.Sub(inverse[i][j].Mul(system.value[j]))
		}
		shift[i] = sum
		r := num.Up(p.Prec).SetMantExp(center[i].High, 24-int(p.Prec))
		r.Add(r, sum.Abs())
		r.Add(r, sum.Abs())
		wide[i] = num.Interval{Low: num.Down(p.Prec).Neg(r), High: r}
		box[i] = center[i].Add(wide[i])
	}
	value, inBox, err := p.systemAt(box)
	if err != nil {
		return found, err
	}
	radius := 0.0
	for i := range n {
		k := shift[i]
		for j := range n {
			c := num.FromInt(0, p.Prec)
			if i == j {
				c = num.FromInt(1, p.Prec)
			}
			for l := range n {
				c = c.Sub(inverse[i][l].Mul(inBox.jacobian[l][j]))
			}
			k = k.Add(c.Mul(wide[j]))
		}
		if !k.Inside(wide[i]) {
			return found, exact.ErrMoreBits
		}
		relative, _ := k.Abs().Quo(k.Abs(), center[i].Low).Float64()
		radius = max(radius, math.Nextafter(relative, math.Inf(1)))
	}
	if !(radius < 0x1p-165) || !p.fair && !positiveDefinite(inBox.jacobian) {
		return found, exact.ErrMoreBits
	}
	found.radius, found.objective = radius, value
	found.gradient = p.gradient(center, value, system)
	return found, nil
}

// systemAt evaluates the system over intervals of the cutoffs.
func (p *search) systemAt(cutoffs []num.Interval) (num.Interval, system, error) {
	at := []exact.Point{p.start()}
	for _, x := range cutoffs {
		if x.Sign() <= 0 {
			return num.Interval{}, system{}, exact.ErrMoreBits
		}
		b, err := p.point(x)
		if err != nil {
			return num.Interval{}, system{}, err
		}
		at = append(at, b)
	}
	at = append(at, p.High)
	stages, ok := p.farm.stages(at)
	if !ok {
		return num.Interval{}, system{}, exact.ErrMoreBits
	}
	value, s, ok := p.system(at, stages)
	if !ok {
		return num.Interval{}, system{}, exact.ErrMoreBits
	}
	return value, s, nil
}

// system returns the equations of the problem and, over all cutoffs of the intervals that solve
// them, the objective or the slowdown common to all hosts.
func (p *search) system(at []exact.Point, stages []stage) (num.Interval, system, bool) {
	if !p.fair {
		value, s := p.objective(p.slowdown, p.waiting, at, stages)
		return value, s, true
	}
	value, slope, ok := p.slowdowns(at, stages)
	if !ok {
		return num.Interval{}, system{}, false
	}
	common := value[0]
	for _, v := range value[1:] { // the number is in all of them
		common = common.Both(v)
	}
	return common, differences(value, slope, p.Prec), true
}

// gradient bounds the gradient that Newton's method left.
func (p *search) gradient(center []num.Interval, value num.Interval, system system) float64 {
	worst := 0.0
	for i, g := range system.value {
		if !p.fair {
			g = g.Mul(center[i])
		}
		f, _ := num.Interval{Low: g.Abs(), High: g.Abs()}.Quo(value).High.Float64()
		worst = max(worst, math.Nextafter(f, math.Inf(1)))
	}
	return worst
}
