package prices

import (
	"context"
	"math/big"

	"productform/num"
)

// A Dual is the dual problem of [Solver] in big.Float of prec bits, rounded to nearest.
type Dual struct {
	Prec    uint
	Need    [][]*big.Float // b_ij at [j][i], rounded down; nil for 0
	Above   [][]*big.Float // b_ij rounded up
	m       []*big.Float
	total   *big.Float
	Price   []*big.Float
	load    []*big.Float
	inverse []*big.Float // 1/y_i
	z       []*big.Float // m_i/y_i
}

// NewDual returns the dual of rows with needs b_ij, at [i][j], and masses m_i, at the given prices.
func NewDual(need [][]*big.Rat, mass []*big.Rat, price []*big.Float, prec uint) *Dual {
	n, resources := len(need), len(price)
	d := &Dual{
		Prec: prec, Need: make([][]*big.Float, resources), Above: make([][]*big.Float, resources),
		m: make([]*big.Float, n), total: bigOf(prec), Price: make([]*big.Float, resources), load: bigs(prec, resources),
		inverse: bigs(prec, n), z: bigs(prec, n),
	}
	total := new(big.Rat)
	for i := range n {
		total.Add(total, mass[i])
		d.m[i] = bigOf(prec).SetRat(mass[i])
	}
	d.total.SetRat(total)
	for j := range resources {
		d.Price[j] = bigOf(prec).Set(price[j])
		d.Need[j], d.Above[j] = make([]*big.Float, n), make([]*big.Float, n)
		for i := range n {
			if b := need[i][j]; b.Sign() > 0 {
				d.Need[j][i] = num.Down(prec).SetRat(b)
				if d.Above[j][i] = d.Need[j][i]; d.Above[j][i].Acc() != big.Exact {
					d.Above[j][i] = num.Up(prec).SetRat(b)
				}
			}
		}
	}
	return d
}

func bigOf(prec uint) *big.Float { return new(big.Float).SetPrec(prec) }

func bigs(prec uint, n int) []*big.Float {
	flat := make([]big.Float, n)
	x := make([]*big.Float, n)
	for i := range x {
		x[i] = flat[i].SetPrec(prec)
	}
	return x
}

// zeros returns n zeros that round as round specifies.
func zeros(n int, prec uint, round func(uint) *big.Float) []*big.Float {
	x := make([]*big.Float, n)
	for i := range x {
		x[i] = round(prec)
	}
	return x
}

// Sums returns Σ_j p_j b_ij of each row, rounded in the same direction as need, which is d.Need or
// d.Above.
func (d *Dual) Sums(need [][]*big.Float, round func(uint) *big.Float) []*big.Float {
	y, part := zeros(len(d.m), d.Prec, round), round(d.Prec)
	for j, p := range d.Price {
		if p.Sign() > 0 {
			for i, b := range need[j] {
				if b != nil {
					y[i].Add(y[i], part.Mul(p, b))
				}
			}
		}
	}
	return y
}

// Loads returns Σ_i x_i b_ij of each resource, rounded in the same way.
func (d *Dual) Loads(need [][]*big.Float, x []*big.Float, round func(uint) *big.Float) []*big.Float {
	l, part := zeros(len(d.Price), d.Prec, round), round(d.Prec)
	for j, l := range l {
		for i, b := range need[j] {
			if b != nil {
				l.Add(l, part.Mul(x[i], b))
			}
		}
	}
	return l
}

// Evaluate scales the prices to the sum Σ_i m_i and updates the dependent values. It reports
// whether all y_i are positive.
func (d *Dual) Evaluate() bool {
	sum, part := bigOf(d.Prec), bigOf(d.Prec)
	for _, p := range d.Price {
		sum.Add(sum, p)
	}
	if sum.Sign() <= 0 {
		return false
	}
	sum.Quo(d.total, sum)
	for _, p := range d.Price {
		p.Mul(p, sum)
	}
	one := big.NewFloat(1)
	for _, l := range d.load {
		l.SetInt64(0)
	}
	y := bigOf(d.Prec)
	for i, m := range d.m {
		y.SetInt64(0)
		for j, p := range d.Price {
			if b := d.Need[j][i]; b != nil && p.Sign() > 0 {
				y.Add(y, part.Mul(p, b))
			}
		}
		if y.Sign() <= 0 {
			return false
		}
		d.z[i].Mul(m, d.inverse[i].Quo(one, y))
		for j, l := range d.load {
			if b := d.Need[j][i]; b != nil {
				l.Add(l, part.Mul(d.z[i], b))
			}
		}
	}
	return true
}

// excess returns max_j load_j - 1, which is the gap relative to Σ_i m_i, up to rounding.
func (d *Dual) excess() *big.Float {
	worst := bigOf(d.Prec)
	for _, l := range d.load {
		if l.Cmp(worst) > 0 {
			worst.Set(l)
		}
	}
	return worst.Sub(worst, big.NewFloat(1))
}

// Residual returns the residual as [Solver] defines it.
func (d *Dual) Residual() float64 {
	worst := 0.0
	for j, l := range d.load {
		off, _ := bigOf(d.Prec).Sub(l, big.NewFloat(1)).Float64()
		if d.Price[j].Sign() > 0 && off < 0 {
			off = -off
		}
		worst = max(worst, off)
	}
	return worst
}

// Minimise takes Newton steps over p >= 0 until no load exceeds 1 by more than goal, or until steps
// gain no more than rounding. Steps that are too long are shortened, by the test of
// [Solver.advance]. The function always decreases, but loads may not: a price of rows with tiny m_i
// that starts too small doubles at each step, and meanwhile loads exceed 1 by more than at the
// start.
func (d *Dual) Minimise(ctx context.Context, goal *big.Float) {
	const steps, tries = 200, 400
	if !d.Evaluate() {
		for j, p := range d.Price { // restart from equal prices of the needed resources
			p.SetInt64(0)
			for _, b := range d.Need[j] {
				if b != nil {
					p.SetInt64(1)
				}
			}
		}
		d.Evaluate()
	}
	for range steps {
		if ctx.Err() != nil || d.excess().Cmp(goal) <= 0 {
			return
		}
		step := d.step()
		slope := d.slope(step, d.load, nil)
		if slope.Cmp(d.noise(step)) <= 0 {
			return
		}
		from := copyOf(d.Price)
		t := bigOf(d.Prec).SetInt64(1)
		for try := range tries {
			if ctx.Err() != nil {
				return
			}
			sum := bigOf(d.Prec)
			for j, p := range d.Price {
				if p.Add(from[j], bigOf(d.Prec).Mul(t, step[j])); p.Sign() < 0 {
					p.SetInt64(0)
				}
				sum.Add(sum, p)
			}
			if d.Evaluate() {
				sum.Quo(d.total, sum)
				if end := d.slope(step, d.load, sum); end.Sign() <= 0 || end.Cmp(slope) <= 0 {
					break
				}
			}
			if shorter := 24 >> try; shorter > 0 { // a price may have to fall by orders of magnitude, but not to 0
				t.SetFloat64(1 - 1/float64(int(1)<<shorter))
			} else {
				t.Mul(t, big.NewFloat(0.5))
			}
		}
	}
}

// noise returns a bound on the rounding error of the slope along d.
func (d *Dual) noise(step []*big.Float) *big.Float {
	sum := bigOf(d.Prec)
	for _, x := range step {
		sum.Add(sum, bigOf(d.Prec).Abs(x))
	}
	return sum.Mul(sum, bigOf(d.Prec).SetMantExp(big.NewFloat(float64(len(d.m)+len(step))), 2-int(d.Prec)))
}

// slope returns Σ_j d_j (1 - c load_j), the slope of the function along d for the loads c load_j,
// or minus a quarter of it if c is nil.
func (d *Dual) slope(step, load []*big.Float, c *big.Float) *big.Float {
	sum, part, one := bigOf(d.Prec), bigOf(d.Prec), big.NewFloat(1)
	for j, x := range step {
		part.Set(load[j])
		if c != nil {
			part.Mul(part, c)
		}
		sum.Add(sum, part.Mul(part.Sub(one, part), x))
	}
	if c == nil {
		sum.Mul(sum, big.NewFloat(-0.25))
	}
	return sum
}

func copyOf(x []*big.Float) []*big.Float {
	y := make([]*big.Float, len(x))
	for i := range x {
		y[i] = new(big.Float).Set(x[i])
	}
	return y
}

// step returns a minimum of the quadratic model over p + d >= 0, found as [newtonStep.solve] does.
// The step needs half the digits of the prices, and so does the Hessian.
func (d *Dual) step() []*big.Float {
	prec := d.Prec/2 + 64
	one := big.NewFloat(1)
	var at []int
	for j, p := range d.Price {
		if p.Sign() > 0 || d.load[j].Cmp(one) > 0 {
			at = append(at, j)
		}
	}
	h := d.hessian(at, prec)
	move := bigs(d.Prec, len(d.Price))
	gradient := bigs(d.Prec, len(d.Price)) // load - 1 - H move
	for {
		for _, j := range at {
			g := gradient[j].Sub(d.load[j], one)
			for l, x := range move {
				if x.Sign() != 0 {
					g.Sub(g, bigOf(d.Prec).Mul(h[max(j, l)][min(j, l)], x))
				}
			}
		}
		lower, right := make([][]*big.Float, len(at)), make([]*big.Float, len(at))
		for a, j := range at {
			right[a] = gradient[j]
			for _, k := range at[:a+1] {
				lower[a] = append(lower[a], h[j][k])
			}
		}
		more := num.SolveSemidefinite(lower, right, prec) // as in [newtonStep.descend]
		first, step := -1, bigOf(prec).SetInt64(1)
		for a, j := range at {
			p := bigOf(d.Prec).Add(d.Price[j], move[j])
			if bigOf(d.Prec).Add(p, more[a]).Sign() < 0 {
				if t := p.Quo(p, bigOf(prec).Neg(more[a])); first < 0 || t.Cmp(step) < 0 {
					first = a
					step.Set(t)
				}
			}
		}
		for a, j := range at {
			if a == first {
				move[j].Neg(d.Price[j])
			} else if move[j].Add(move[j], more[a].Mul(more[a], step)); bigOf(d.Prec).Add(d.Price[j],
				move[j]).Sign() < 0 {
				move[j].Neg(d.Price[j])
			}
		}
		if first < 0 || len(at) == 1 {
			return move
		}
		at = append(at[:first:first], at[first+1:]...)
	}
}

// hessian returns Σ_i m_i b_ij b_il / y_i² at [j][l], l <= j, for j and l in at.
func (d *Dual) hessian(at []int, prec uint) [][]*big.Float {
	h := make([][]*big.Float, len(d.Price))
	for a, j := range at {
		h[j] = bigs(prec, len(d.Price))
		q := bigOf(prec)
		part := bigOf(prec)
		for i, z := range d.z {
			b := d.Need[j][i]
			if b == nil {
				continue
			}
			q.Mul(q.Mul(z, d.inverse[i]), b)
			for _, l := range at[:a+1] {
				if c := d.Need[l][i]; c != nil {
					h[j][l].Add(h[j][l], part.Mul(q, c))
				}
			}
		}
	}
	return h
}
