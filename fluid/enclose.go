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
	p, err := newProblem(e, "jobs")
	if err != nil {
		return nil, err
	}
	count, share := make([]float64, p.rows), make([]float64, p.rows)
	for i, c := range e.count {
		count[i], _ = c.Float64()
	}
	k := newProportionalKernel(p)
	// An error says no more than that Newton's method has a longer way to go.
	_ = k.shares(count, share)
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
		if a, err := d.enclose(e); err != nil {
			return nil, err
		} else if a != nil && *a.RelativeErrorBound <= relTol {
			return a, nil
		}
	}
	return nil, fmt.Errorf("proportional fairness: bounds a relative %g apart were not found with numbers of %d bits", relTol, maxPrecision)
}

// enclose returns the allocation between the bounds that the prices prove, or nil if they prove nothing.
func (d *bigDual) enclose(e *exactProblem) (*Allocation, error) {
	n, resources := len(e.need), len(d.price)
	down, up := directed{d.prec, big.ToNegativeInf}, directed{d.prec, big.ToPositiveInf}
	low, high := d.sums(d.need, down), d.sums(d.above, up)
	for _, y := range low {
		if y.Sign() <= 0 {
			return nil, nil
		}
	}
	mass, total := make([]*big.Rat, n), new(big.Rat)
	z := up.zeros(n)
	for i, w := range e.weight {
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

	a := newAllocation(e, PF, Enclose)
	a.Residual = d.residual()
	bound := 0.0
	record := func(low, high *big.Float) (num.Value, bool) {
		x := num.Enclosure{Low: low, High: high}
		bound = max(bound, x.RelWidth())
		f, ok := x.Float64()
		return num.Value{Float: f, Low: low, High: high}, ok
	}
	recordJob := func(i int, field string, low, high *big.Float) (num.Value, error) {
		v, ok := record(low, high)
		if !ok {
			return v, input.Errorf(indexed("jobs", i)+field, low.Text('g', 10), "demands, capacities and weights for which it is in [2.3e-308, 1.7e308]")
		}
		return v, nil
	}
	lows, highs := make([]*big.Float, n), make([]*big.Float, n)
	var err error
	for i := range n {
		least, most, ok := ratioBounds(gap, down.rat(mass[i]), down, up)
		if !ok {
			return nil, nil
		}
		// s*_i = w_i / (y_i L r_i)
		least = down.mul(down.mul(low[i], worst), least)
		most = up.mul(up.mul(high[i], worst), most)
		lows[i], highs[i] = down.quo(down.rat(e.weight[i]), most), up.quo(up.rat(e.weight[i]), least)
		if a.Jobs[i].DominantShare, err = recordJob(i, ".dominant_share", lows[i], highs[i]); err != nil {
			return nil, err
		}
		tasks := new(big.Rat).Quo(e.weight[i], e.dominant[i])
		low, high := down.quo(down.rat(tasks), most), up.quo(up.rat(tasks), least)
		if a.Jobs[i].Tasks, err = recordJob(i, ".tasks", low, high); err != nil {
			return nil, err
		}
		lows[i], highs[i] = down.mul(lows[i], down.rat(e.count[i])), up.mul(highs[i], up.rat(e.count[i]))
	}
	one := big.NewFloat(1)
	least, most := d.loads(d.need, lows, down), d.loads(d.above, highs, up)
	for j := range resources {
		r := &a.Resources[j]
		if r.Saturated = most[j].Cmp(one) >= 0; r.Saturated {
			most[j].Set(one) // s* is feasible
		}
		var ok bool
		if r.Utilization, ok = record(least[j], most[j]); !ok { // below 2^-1022, where doubles are a fixed distance apart
			r.Utilization.Float, _ = least[j].Float64()
		}
		f, _ := d.price[j].Float64()
		r.Price = &num.Value{Float: f}
	}
	a.RelativeErrorBound = &bound
	return a, nil
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
