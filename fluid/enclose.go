package fluid

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/fluid/internal/prices"
	"productform/internal/input"
	"productform/num"
)

// maxPrecision is the maximum number of bits of the mantissas of an enclosure.
const maxPrecision = 65_536

// allocateEnclosed encloses proportional fairness. Write m_i = count_i w_i, M = Σ_i m_i, b_ij =
// need[i][j], and s* for the optimal dominant shares. Take any prices p >= 0 with y_i = Σ_j p_j
// b_ij > 0, and any L >= max_j Σ_i m_i b_ij / y_i. The shares s_i = w_i/(y_i L) are feasible by the
// choice of L, and with r_i = s_i/s*_i
//
//	Σ_i m_i log(1/r_i) = M log L + Σ_i m_i log(s*_i y_i/w_i)
//	                  <= M log L + M log(Σ_i m_i s*_i y_i / (w_i M))         log is concave
//	                   = M log L + M log(Σ_j p_j Σ_i count_i s*_i b_ij / M)
//	                  <= M log(L Σ_j p_j / M) <= L Σ_j p_j - M =: gap         s* is feasible, log x <= x-1.
//
// The optimal prices p* have Σ_j p*_j = M and s*_i = w_i / Σ_j p*_j b_ij. Hence Σ_i m_i r_i = Σ_j
// p*_j Σ_i count_i s_i b_ij <= M, since s is feasible. Together these give Σ_i m_i (r_i - 1 - log
// r_i) <= gap, and no term is negative. With ε_i = gap/m_i and t - log(1+t) >= t²/2 for t <= 0
// and >= t²/(2(1+t)) for t >= 0,
//
//	1 - sqrt(2 ε_i) <= r_i <= 1 + ε_i + sqrt(ε_i² + 2 ε_i).
//
// The prices come from Newton's method and need no proof. The gap, s and the bounds are computed
// from them and the fractions of the pool, with every operation rounded outward. The precision
// doubles until all relative widths are at most relTol.
func allocateEnclosed(ctx context.Context, e *Profiles, relTol float64) (*Allocation, error) {
	p, err := newProblem(e, "")
	if err != nil {
		return nil, err
	}
	k := prices.NewSolver(p.need, p.weight)
	// An error only means that Newton's method needs more steps.
	_ = k.Shares(ctx, e.counts(), make([]float64, p.rows))
	price := make([]*big.Float, p.resources)
	for j, x := range k.Price {
		price[j] = new(big.Float)
		if k.Residual <= math.MaxFloat64 {
			price[j].SetFloat64(x)
		}
	}
	// gap <= m_i relTol²/16 makes the widths about relTol/sqrt(2).
	bits := 2*math.Log2(1/relTol) + 4 + math.Log2(k.Total) - math.Log2(k.Least)
	goal := new(big.Float).SetMantExp(big.NewFloat(1), -int(math.Ceil(bits)))
	prec := uint(bits) + 32 + uint(math.Log2(float64(p.rows*p.resources)+1))
	mass := make([]*big.Rat, p.rows)
	for i, w := range e.Weight {
		mass[i] = new(big.Rat).Mul(w, e.Count[i])
	}
	for prec = (prec + 63) / 64 * 64; prec <= maxPrecision; prec *= 2 {
		d := prices.NewDual(e.Need, mass, price, prec)
		d.Minimise(ctx, goal)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		price = d.Price
		if a, width, err := enclose(d, e); err != nil {
			return nil, err
		} else if a != nil && width <= relTol {
			return a, nil
		}
	}
	return nil, fmt.Errorf("proportional fairness: bounds within a relative %g were not found with numbers of %d bits",
		relTol, maxPrecision)
}

// costs encloses w_i/s*_i = y_i L r_i. It returns nil if the prices prove no bounds.
func costs(d *prices.Dual, e *Profiles) []num.Interval {
	low, high := d.Sums(d.Need, num.Down), d.Sums(d.Above, num.Up)
	mass, total := make([]*big.Rat, len(low)), new(big.Rat)
	z := make([]*big.Float, len(low))
	for i, w := range e.Weight {
		if low[i].Sign() <= 0 {
			return nil
		}
		mass[i] = new(big.Rat).Mul(w, e.Count[i])
		total.Add(total, mass[i])
		z[i] = num.Up(d.Prec).SetRat(mass[i])
		z[i].Quo(z[i], low[i])
	}
	worst := num.Up(d.Prec) // L
	for _, load := range d.Loads(d.Above, z, num.Up) {
		if load.Cmp(worst) > 0 {
			worst = load
		}
	}
	gap := num.Up(d.Prec)
	for _, p := range d.Price {
		gap.Add(gap, p)
	}
	gap.Sub(gap.Mul(gap, worst), num.FromRat(total, d.Prec).Low)
	costs := make([]num.Interval, len(mass))
	for i, m := range mass {
		ratio, ok := ratioBounds(gap, num.FromRat(m, d.Prec))
		if !ok {
			return nil
		}
		costs[i] = num.Interval{Low: low[i], High: high[i]}.Mul(num.Interval{Low: worst, High: worst}).Mul(ratio)
	}
	return costs
}

// enclose returns the allocation with the bounds that the prices prove, and the largest relative
// width of the bounds; it returns nil if the prices prove none.
func enclose(d *prices.Dual, e *Profiles) (a *Allocation, width float64, err error) {
	costs := costs(d, e)
	if costs == nil {
		return nil, 0, nil
	}
	a = newAllocation(e, PF, num.Enclose)
	a.Residual = d.Residual()
	record := func(x num.Interval) (num.Value, bool) {
		width = max(width, x.RelWidth())
		f, ok := x.Float64()
		return num.Value{Float: f, Low: x.Low, High: x.High}, ok
	}
	recordJob := func(i int, field string, x num.Interval) (num.Value, error) {
		v, ok := record(x)
		if !ok {
			return v, input.Errorf(indexed("jobs", i)+field, x.Low.Text('g', 10),
				"demands, capacities and weights for which it is in [2.3e-308, 1.7e308]")
		}
		return v, nil
	}
	lows, highs := make([]*big.Float, len(costs)), make([]*big.Float, len(costs)) // bounds for all jobs of the row
	for i, w := range e.Weight {
		share := num.FromRat(w, d.Prec).Quo(costs[i])
		if a.Jobs[i].DominantShare, err = recordJob(i, ".dominant_share", share); err != nil {
			return nil, 0, err
		}
		all := share.Mul(num.FromRat(e.Count[i], d.Prec))
		lows[i], highs[i] = all.Low, all.High
		tasks := num.FromRat(new(big.Rat).Quo(w, e.Dominant[i]), d.Prec).Quo(costs[i])
		if a.Jobs[i].Tasks, err = recordJob(i, ".tasks", tasks); err != nil {
			return nil, 0, err
		}
	}
	one := big.NewFloat(1)
	least, most := d.Loads(d.Need, lows, num.Down), d.Loads(d.Above, highs, num.Up)
	for j, price := range d.Price {
		r := &a.Resources[j]
		if r.Saturated = most[j].Cmp(one) >= 0; r.Saturated {
			most[j].Set(one) // s* is feasible
		}
		var ok bool
		// below 2^-1022, where float64 numbers have a fixed spacing
		if r.Utilization, ok = record(num.Interval{Low: least[j], High: most[j]}); !ok {
			r.Utilization.Float, _ = least[j].Float64()
		}
		f, _ := price.Float64()
		r.Price = &f
	}
	bound := width + 0x1p-53 // Float is the rounded midpoint, within half the width
	a.RelativeErrorBound = &bound
	return a, width, nil
}

// ratioBounds encloses r_i: 1 - sqrt(2 ε) to 1 + ε + sqrt(ε² + 2 ε), ε = gap/m, and reports whether
// that is positive.
func ratioBounds(gap *big.Float, m num.Interval) (ratio num.Interval, ok bool) {
	prec := m.Prec()
	epsilon := num.Interval{Low: gap, High: gap}.Quo(m)
	epsilon.Low = epsilon.High // the larger bound serves as both
	twice := epsilon.Scale2(1)
	if twice.High.Cmp(big.NewFloat(0.25)) > 0 {
		return ratio, false
	}
	one := num.FromInt(1, prec)
	below, above := twice.Sqrt(), epsilon.Square().Add(twice).Sqrt()
	return num.Interval{Low: one.Sub(below).Low, High: epsilon.Add(above).Add(one).High}, true
}
