package fluid

import (
	"fmt"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// Bits of the mantissas of an enclosure at most.
const maxPrecision = 65_536

// allocateEnclosed encloses proportional fairness. Write m_i = count_i w_i, M = Σ_i m_i, b_ij = need[i][j], and s*
// for the optimal dominant shares. Take any prices p >= 0 with y_i = Σ_j p_j b_ij > 0, and any L >= max_j Σ_i m_i
// b_ij / y_i. The shares s_i = w_i/(y_i L) are feasible by the choice of L, and with r_i = s_i/s*_i
//
//	Σ_i m_i log(1/r_i) = M log L + Σ_i m_i log(s*_i y_i/w_i)
//	                  <= M log L + M log(Σ_i m_i s*_i y_i / (w_i M))         log is concave
//	                   = M log L + M log(Σ_j p_j Σ_i count_i s*_i b_ij / M)
//	                  <= M log(L Σ_j p_j / M) <= L Σ_j p_j - M =: gap         s* is feasible, log x <= x-1.
//
// The optimal prices p* have Σ_j p*_j = M and s*_i = w_i / Σ_j p*_j b_ij, so that Σ_i m_i r_i = Σ_j p*_j Σ_i count_i
// s_i b_ij <= M, since s is feasible. Both together are Σ_i m_i (r_i - 1 - log r_i) <= gap, and no term is negative.
// With ε_i = gap/m_i and t - log(1+t) >= t²/2 for t <= 0 and >= t²/(2(1+t)) for t >= 0,
//
//	1 - sqrt(2 ε_i) <= r_i <= 1 + ε_i + sqrt(ε_i² + 2 ε_i).
//
// The prices come from Newton's method and need no proof; gap, s and the bounds are computed from them with every
// operation rounded outwards, from the rationals of the pool. The precision doubles until all relative widths are at
// most relTol.
func allocateEnclosed(e *exactProblem, relTol float64) (*Allocation, error) {
	p, err := newProblem(e)
	if err != nil {
		return nil, err
	}
	k := newProportional(p)
	// An error says no more than that Newton's method has a longer way to go.
	_ = k.shares(e.counts(), make([]float64, p.rows))
	price := make([]*big.Float, p.resources)
	for j, x := range k.price {
		price[j] = new(big.Float)
		if k.residual <= math.MaxFloat64 {
			price[j].SetFloat64(x)
		}
	}
	least := math.Inf(1)
	for _, m := range k.m {
		least = min(least, m)
	}
	// gap <= m_i relTol²/16 makes the widths about relTol/sqrt(2).
	bits := 2*math.Log2(1/relTol) + 4 + math.Log2(k.total) - math.Log2(least)
	goal := new(big.Float).SetMantExp(big.NewFloat(1), -int(math.Ceil(bits)))
	prec := uint(bits) + 32 + uint(math.Log2(float64(p.rows*p.resources)+1))
	for prec = (prec + 63) / 64 * 64; prec <= maxPrecision; prec *= 2 {
		d := newBigDual(e, price, prec)
		d.minimise(goal)
		price = d.price
		if a, width, err := d.enclose(e); err != nil {
			return nil, err
		} else if a != nil && width <= relTol {
			return a, nil
		}
	}
	return nil, fmt.Errorf("proportional fairness: bounds a relative %g apart were not found with numbers of %d bits",
		relTol, maxPrecision)
}

// costs returns bounds of w_i/s*_i = y_i L r_i, or nil if the prices prove none.
func (d *bigDual) costs(e *exactProblem, down, up directed) (low, high []*big.Float) {
	low, high = d.sums(d.need, down), d.sums(d.above, up)
	mass, total := make([]*big.Rat, len(low)), new(big.Rat)
	z := up.zeros(len(low))
	for i, w := range e.weight {
		if low[i].Sign() <= 0 {
			return nil, nil
		}
		mass[i] = new(big.Rat).Mul(w, e.count[i])
		total.Add(total, mass[i])
		z[i].Quo(z[i].SetRat(mass[i]), low[i])
	}
	worst := up.zero() // L
	for _, load := range d.loads(d.above, z, up) {
		if load.Cmp(worst) > 0 {
			worst = load
		}
	}
	gap := up.zero()
	for _, p := range d.price {
		gap.Add(gap, p)
	}
	gap.Sub(gap.Mul(gap, worst), down.rat(total))
	for i, m := range mass {
		least, most, ok := ratioBounds(gap, down.rat(m), down, up)
		if !ok {
			return nil, nil
		}
		low[i], high[i] = down.mul(down.mul(low[i], worst), least), up.mul(up.mul(high[i], worst), most)
	}
	return low, high
}

// enclose returns the allocation between the bounds that the prices prove, and the largest relative width of the
// bounds; nil if the prices prove none.
func (d *bigDual) enclose(e *exactProblem) (a *Allocation, width float64, err error) {
	down, up := directed{d.prec, big.ToNegativeInf}, directed{d.prec, big.ToPositiveInf}
	cheap, dear := d.costs(e, down, up)
	if cheap == nil {
		return nil, 0, nil
	}
	a = newAllocation(e, PF, Enclose)
	a.Residual = d.residual()
	record := func(low, high *big.Float) (num.Value, bool) {
		x := num.Interval{Low: low, High: high}
		width = max(width, x.RelWidth())
		f, ok := x.Float64()
		return num.Value{Float: f, Low: low, High: high}, ok
	}
	recordJob := func(i int, field string, low, high *big.Float) (num.Value, error) {
		v, ok := record(low, high)
		if !ok {
			return v, input.Errorf(indexed("jobs", i)+field, low.Text('g', 10),
				"demands, capacities and weights for which it is in [2.3e-308, 1.7e308]")
		}
		return v, nil
	}
	lows, highs := make([]*big.Float, len(cheap)), make([]*big.Float, len(cheap)) // of all jobs of the row
	for i, w := range e.weight {
		low, high := down.quo(down.rat(w), dear[i]), up.quo(up.rat(w), cheap[i])
		if a.Jobs[i].DominantShare, err = recordJob(i, ".dominant_share", low, high); err != nil {
			return nil, 0, err
		}
		lows[i], highs[i] = down.mul(low, down.rat(e.count[i])), up.mul(high, up.rat(e.count[i]))
		tasks := new(big.Rat).Quo(w, e.dominant[i])
		low, high = down.quo(down.rat(tasks), dear[i]), up.quo(up.rat(tasks), cheap[i])
		if a.Jobs[i].Tasks, err = recordJob(i, ".tasks", low, high); err != nil {
			return nil, 0, err
		}
	}
	one := big.NewFloat(1)
	least, most := d.loads(d.need, lows, down), d.loads(d.above, highs, up)
	for j, price := range d.price {
		r := &a.Resources[j]
		if r.Saturated = most[j].Cmp(one) >= 0; r.Saturated {
			most[j].Set(one) // s* is feasible
		}
		var ok bool
		if r.Utilization, ok = record(least[j], most[j]); !ok { // below 2^-1022, where doubles are a fixed distance apart
			r.Utilization.Float, _ = least[j].Float64()
		}
		f, _ := price.Float64()
		r.Price = &num.Value{Float: f}
	}
	bound := width + 0x1p-53 // Float is the midpoint, within half the width, rounded
	a.RelativeErrorBound = &bound
	return a, width, nil
}

// ratioBounds returns 1 - sqrt(2 ε) rounded down and 1 + ε + sqrt(ε² + 2 ε) rounded up, ε = gap/m, and whether the
// first is positive.
func ratioBounds(gap, m *big.Float, down, up directed) (least, most *big.Float, ok bool) {
	epsilon := up.quo(gap, m)
	twice := up.mul(epsilon, big.NewFloat(2))
	if twice.Cmp(big.NewFloat(0.25)) > 0 {
		return nil, nil, false
	}
	least = down.zero().Sub(big.NewFloat(1), up.root(twice))
	most = up.zero().Add(epsilon, up.root(up.zero().Add(up.mul(epsilon, epsilon), twice)))
	return least, most.Add(most, big.NewFloat(1)), true
}

// A directed is an arithmetic that rounds in one direction.
type directed struct {
	prec uint
	mode big.RoundingMode
}

func (a directed) zero() *big.Float { return new(big.Float).SetPrec(a.prec).SetMode(a.mode) }
func (a directed) zeros(n int) []*big.Float {
	flat, x := make([]big.Float, n), make([]*big.Float, n)
	for i := range x {
		x[i] = flat[i].SetPrec(a.prec).SetMode(a.mode)
	}
	return x
}
func (a directed) rat(x *big.Rat) *big.Float      { return a.zero().SetRat(x) }
func (a directed) mul(x, y *big.Float) *big.Float { return a.zero().Mul(x, y) }
func (a directed) quo(x, y *big.Float) *big.Float { return a.zero().Quo(x, y) }

// root returns the square root, which big.Float rounds to nearest whatever the mode, moved up by more than its error.
func (a directed) root(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return a.zero()
	}
	z := new(big.Float).SetPrec(a.prec).Sqrt(x)
	more := new(big.Float).SetMantExp(big.NewFloat(1), z.MantExp(nil)-int(a.prec)+2)
	return a.zero().Add(z, more)
}
