package tags

import "math/big"

// maxPower is the largest α for which loads are computed as fractions.
const maxPower = 64

// fractions returns the loads of the hosts as fractions where they are some: for an integer α > 1 and a rational k, with
// c the constant of the law,
//
//	E[X] = c (k^(1-α) - p^(1-α))/(α-1),  E[min(X, b); X > a] = c ((a^(1-α) - b^(1-α))/(α-1) + b (b^-α - p^-α)/α).
//
// Else it returns nil. Intervals never decide whether such a load is 1.
func (m ExactModel) fractions(cutoffs []*big.Rat) []*big.Rat {
	if !m.Alpha.IsInt() || m.Alpha.Num().Cmp(big.NewInt(1)) <= 0 || m.Alpha.Num().Cmp(big.NewInt(maxPower)) > 0 {
		return nil
	}
	alpha, low := m.Alpha.Num().Int64(), m.Low
	if low == nil && alpha == 2 { // E[X] = 2k/(1 + k/p)
		low = new(big.Rat).Sub(big.NewRat(2, 1), new(big.Rat).Quo(m.Mean, m.High))
		low.Quo(m.Mean, low)
	}
	if low == nil {
		return nil
	}
	power := func(x *big.Rat, n int64) *big.Rat { // x^-n
		e := big.NewInt(n)
		return new(big.Rat).SetFrac(new(big.Int).Exp(x.Denom(), e, nil), new(big.Int).Exp(x.Num(), e, nil))
	}
	part := func(a, b *big.Rat) *big.Rat { // E[X; a < X <= b]/c
		d := new(big.Rat).Sub(power(a, alpha-1), power(b, alpha-1))
		return d.Quo(d, big.NewRat(alpha-1, 1))
	}
	total := new(big.Rat)
	speeds := m.Speeds
	for i := range m.Hosts {
		if m.Speeds == nil {
			speeds = append(speeds, big.NewRat(1, 1))
		}
		total.Add(total, speeds[i])
	}
	rate := total.Mul(total, m.Load) // λ/c
	rate.Quo(rate, part(low, m.High))
	var loads []*big.Rat
	a := low
	for i, v := range speeds {
		b := m.High
		if i < len(cutoffs) {
			b = cutoffs[i]
		}
		inside := b // of the sizes
		switch {
		case b.Cmp(low) < 0:
			inside = low
		case b.Cmp(m.High) > 0:
			inside = m.High
		}
		tail := new(big.Rat).Sub(power(inside, alpha), power(m.High, alpha)) // P(X > b) α/c
		work := tail.Mul(tail, new(big.Rat).Quo(b, m.Alpha))
		work.Add(work, part(a, inside))
		loads = append(loads, work.Quo(work.Mul(work, rate), v))
		a = inside
	}
	return loads
}
