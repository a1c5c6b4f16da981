package num

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
)

// Throughout exp.go and log.go, a real v is represented by an integer V with a bound E: |V - v 2^w|
// <= E. An ulp is 2^-w, and errors of V are in ulps. A right shift rounds down and a quotient
// towards zero, so the error of each is less than one.

// ExpInterval encloses exp(x) with a relative width of at most 2^(1-prec); prec 0 means 64. The
// ends carry four bits more than prec. It is exact for x = 0. It takes the time of about 2√prec
// products of prec bits.
//
// The error is [ErrRange] if exp(x) is beyond 2^±(2^31-1), nearly the range of big.Float, and an
// *[InputError] if x is infinite or prec exceeds 2^30. x is not modified.
func ExpInterval(x *big.Float, prec uint) (Interval, error) {
	prec = cmp.Or(prec, defaultPrec)
	if err := checkPrec(prec); err != nil {
		return Interval{}, err
	}
	switch {
	case x.IsInf():
		return Interval{}, InputErrorf("x", x, "a finite number")
	case x.Sign() == 0:
		return point(1), nil
	case x.MantExp(nil) > 31: // |x| >= 2^31 > 2^31 ln 2
		return Interval{}, ErrRange
	}
	// x = k ln 2 + r. X is off by 1 ulp; L = 2^(w+32) ln 2 by 2, so kL / 2^32 is off by 2, since
	// |k| < 2^32, and its shift by 1: R is off by 4 from r. Since k is the integer nearest to X/L,
	// |R| is at most 2^w (ln 2)/2 + 4 < 2^w/2.
	w := workBits(prec)
	bigX := fixed(x, w)
	bigL := ln2(w + 32)
	k := new(big.Int).Lsh(bigX, 33) // k = floor(x/ln 2 + 1/2) = floor((2x + ln 2) / (2 ln 2))
	k.Add(k, bigL)
	k.Div(k, new(big.Int).Lsh(bigL, 1))
	if k.Int64() > big.MaxExp || k.Int64() < big.MinExp { // in these two cases, enclose examines exp(r)
		return Interval{}, ErrRange
	}
	r := new(big.Int).Mul(k, bigL)
	r.Sub(bigX, r.Rsh(r, 32))
	// 2^w (exp(r) - exp(R ulp)) is at most 1.65 (e^(4 ulp) - 1) / ulp < 10, and expFixed adds 2. As
	// V > 0.6 2^w, 2E/(V-E) = 24/(V-12) < 2^(6-w) < 2^-prec.
	return enclose(expFixed(r, w), 12, int(k.Int64()), w, prec)
}

// expFixed returns 2^w exp(r) with an error below 2, for R = 2^w r, |r| <= 1/2 and w > 32.
//
// It works at W = w+g bits with exp(r) = exp(t)^(2^s), t = r/2^s, |t| <= 2^-(s+1). Below, an ulp
// is 2^-W. As g >= s, T = 2^W t is an integer.
//
// Taylor. P_0 = 2^W, P_j = trunc(floor(P_(j-1) T / 2^W) / j) is t^j/j! with an error of δ_j <=
// δ_(j-1) |t|/j + 1/j + 1 ulps, where δ_1 = 0 since P_0 T/2^W = T: so δ_j <= 2. At the first N with
// P_N = 0 the true term is at most 2 ulps, and all terms from N on sum to at most 4, since each is
// less than half of the previous one. The sum of P_0 to P_(N-1) is off by E_0 = 2(N-1) + 4.
//
// Squaring. V_0 is that sum, V_(i+1) = floor(V_i²/2^W), and ρ_i the relative error of V_i. All
// powers v_i are at least exp(-1/2) > 0.6, so ρ_0 <= 2E_0 ulps, and rounding costs at most 2:
//
//	1 + ρ_(i+1) <= (1 + ρ_i)² + 2 ulp, hence 1 + ρ_(i+1) + 2 ulp <= (1 + ρ_i + 2 ulp)²,
//	1 + ρ_s <= (1 + (2E_0+2) ulp)^(2^s) <= exp(2^(s+1) (E_0+1) ulp) <= 1 + 2^(s+2) (E_0+1) ulp
//
// while 2^(s+1) (E_0+1) ulp <= 1. As exp(r) < 2, V_s is off by E = 2^(s+3) (2N+3) ulps.
//
// Guard bits. For j >= 2, |P_j| <= (|P_(j-1)|/2^s + 1)/j is at most |P_(j-1)|/2^s while that is at
// least 1, and then P_j = 0: N <= W/s + 2. With s = floor(√w) >= 5 and g = s + 4 + bitlen(w), which
// is at most w, 2N+3 <= 4w/5 + 7 <= 2w, so that E <= 2^g: one unit of 2^-w; the last shift adds
// another.
func expFixed(r *big.Int, w uint) *big.Int {
	s := uint(math.Sqrt(float64(w)))
	g := s + 4 + uint(bits.Len(w))
	t := new(big.Int).Lsh(r, g-s)
	p := new(big.Int).Lsh(big.NewInt(1), w+g)
	v := new(big.Int)
	scratch, divisor := new(big.Int), new(big.Int)
	for j := int64(1); p.Sign() != 0; j++ {
		v.Add(v, p)
		scratch.Mul(p, t)
		scratch.Rsh(scratch, w+g)
		p.Quo(scratch, divisor.SetInt64(j))
	}
	for range s {
		scratch.Mul(v, v)
		v.Rsh(scratch, w+g)
	}
	return v.Rsh(v, g)
}

// workBits returns the bits w after the binary point that suffice for a relative error of 2^-prec.
func workBits(prec uint) uint { return prec + 32 + uint(bits.Len(prec)) }

// ln2 returns 2^w ln 2 with an error below 2, from ln 2 = 18 atanh(1/26) - 2 atanh(1/4801) + 8
// atanh(1/8749).
//
// At w+g bits each series has at most (w+g)/9 + 2 terms (26² > 2^9) and an error of twice that plus
// 2 (see atanhInverse). So the sum is off by less than 28 (2(w+g)/9 + 6) < 7(w+g) + 168. With g =
// bitlen(w) + 8 and w > 32 this is below 2^g, and the shift costs one more.
func ln2(w uint) *big.Int {
	g := uint(bits.Len(w)) + 8
	sum := new(big.Int)
	for _, term := range [...][2]int64{{18, 26}, {-2, 4801}, {8, 8749}} {
		a := atanhInverse(term[1], w+g)
		sum.Add(sum, a.Mul(a, big.NewInt(term[0])))
	}
	return sum.Rsh(sum, g)
}

// atanhInverse returns 2^w atanh(1/q) = 2^w Σ_j 1/((2j+1) q^(2j+1)), q > 10. U_j =
// floor(U_(j-1)/q²) is below 2^w/q^(2j+1) by at most 1.02, and each term is low by at most
// 1.02/(2j+1) + 1 <= 2; the terms after the last sum to less than 2. N terms are off by 2N + 2.
func atanhInverse(q int64, w uint) *big.Int {
	u := new(big.Int).Lsh(big.NewInt(1), w)
	u.Quo(u, big.NewInt(q))
	square := big.NewInt(q * q)
	sum, term, odd, rest := new(big.Int), new(big.Int), new(big.Int), new(big.Int) // rest: Quo would allocate it
	for j := int64(1); u.Sign() != 0; j += 2 {
		term.QuoRem(u, odd.SetInt64(j), rest)
		sum.Add(sum, term)
		u.QuoRem(u, square, rest)
	}
	return sum
}

// fixed returns trunc(x 2^w).
func fixed(x *big.Float, w uint) *big.Int {
	n, _ := new(big.Float).SetMantExp(x, int(w)).Int(nil)
	return n
}

// enclose returns [V-E, V+E] 2^(exponent-w), rounded outward to prec+4 bits. If 2E/(|V|-E) is at
// most 2^-prec, its relative width is less than 2^(1-prec), including the two relative roundings of
// at most 2^-(prec+3) each.
func enclose(v *big.Int, e int64, exponent int, w, prec uint) (Interval, error) {
	end := func(e int64, mode big.RoundingMode) *big.Float {
		z := new(big.Float).SetPrec(prec + 4).SetMode(mode)
		z.SetInt(new(big.Int).Add(v, big.NewInt(e)))
		z.SetMantExp(z, -int(w))
		return z.SetMantExp(z, exponent)
	}
	c := Interval{end(-e, big.ToNegativeInf), end(e, big.ToPositiveInf)}
	if c.Low.IsInf() || c.High.IsInf() || c.Low.Sign()*c.High.Sign() <= 0 {
		return Interval{}, ErrRange
	}
	return c, nil
}

// point returns the interval that contains only n.
func point(n int64) Interval {
	return Interval{new(big.Float).SetInt64(n), new(big.Float).SetInt64(n)}
}

func checkPrec(prec uint) error {
	const most = 1 << 30
	if prec > most {
		return InputErrorf("prec", prec, "at most %d bits", most)
	}
	return nil
}
