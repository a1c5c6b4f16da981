package num

import (
	"cmp"
	"math"
	"math/big"
)

// LogInterval encloses the natural logarithm of x > 0 with a relative width of at most 2^(1-prec),
// even for x near 1; prec 0 means 64. The ends carry four bits more than prec. It is exact for x =
// 1. It takes the time of [ExpInterval] plus prec/64 products of prec bits.
//
// The error is an *[InputError] if x is not positive, if x is infinite, or if prec exceeds 2^30. x
// is not modified.
func LogInterval(x *big.Float, prec uint) (Interval, error) {
	prec = cmp.Or(prec, defaultPrec)
	if err := checkPrec(prec); err != nil {
		return Interval{}, err
	}
	if x.Sign() <= 0 || x.IsInf() {
		return Interval{}, InputErrorf("x", x, "a finite number > 0")
	}
	// x = m 2^k with 0.7 <= m < 1.4.
	m := new(big.Float)
	k := x.MantExp(m)
	if m.Cmp(big.NewFloat(0.7)) < 0 {
		m.SetMantExp(m, 1)
		k--
	}
	if k == 0 {
		// x - 1 = Z 2^-p, exactly.
		p := x.MinPrec() + 1
		z, _ := new(big.Float).SetMantExp(x, int(p)).Int(nil)
		one := new(big.Int).Lsh(big.NewInt(1), p)
		if z.Sub(z, one); z.Sign() == 0 {
			return point(0), nil
		}
		if z.BitLen()+16 <= int(p) {
			return logNearOne(z, p, prec)
		}
	}
	return logReduced(m, k, prec)
}

// logNearOne encloses log(1+z) for z = Z 2^-p, 0 < |z| < 2^-16, with z as the unit of magnitude, so
// nothing cancels: log(1+z) = 2y F(y²), y = z/(2+z), F as in atanhRatio.
//
// Let 2^(e-1) <= |z| < 2^e, e <= -16. Y = y 2^(w-e) truncated has |Y| > 2^(w-2.01), so a relative
// error below 5 ulps. Q = floor(Y² / 2^(w-2e)) is y² 2^w with an error below 2, F is then off by
// 2N+2 ulps, and it is at least 1. V = floor(YF/2^w) is log(1+z) 2^(w-e-1) with an error below
// (2N+8) |V|/2^w + 1 <= 2N+9 = E, the 8 containing the products of errors.
//
// As y² < 2^-33, N <= w/33 + 2, and |V| > 2^(w-2.1): 2E/(|V|-E) < 2^(4-w) (w/16 + 13) <= 2^-prec.
func logNearOne(z *big.Int, p, prec uint) (Interval, error) {
	w := workBits(prec)
	shrink := p - uint(z.BitLen()) // -e
	two := new(big.Int).Lsh(big.NewInt(2), p)
	y := new(big.Int).Lsh(z, w+shrink)
	y.Quo(y, two.Add(two, z))
	q := new(big.Int).Mul(y, y)
	f, n := atanhRatio(q.Rsh(q, w+2*shrink), w)
	v := y.Rsh(y.Mul(y, f), w)
	return enclose(v, 2*n+9, 1-int(shrink), w, prec)
}

// logReduced encloses log(m 2^k) for 0.7 <= m < 1.4, and |m-1| >= 2^-16 if k = 0. For any y0,
//
//	log(m 2^k) = y0 + log(m exp(-y0)) + k ln 2.
//
// With y0 the double log m rounded to a multiple of 2^-32, 1+z = m exp(-y0) is within 2^-31 of 1;
// an inaccurate y0 would cost terms of the series, not correctness.
//
// V = 2^w exp(-y0) is off by 2; M = 2^w m by 1; as m < 1.4 and exp(-y0) < 1.65, floor(MV/2^w) is
// off by slightly more than 2.8 + 1.65 + 1, which is below 6. log(1+z) = 2y F(y²), y = z/(2+z),
// changes at most twice as fast as z while |z| < 1/4: 12. Y is off by 1, Q = floor(Y²/2^w) by 2, F
// by 2N+2, and floor(2YF/2^w) by 2 (1.03 + |y| (2N+2)) + 2 <= N+6, as |y| <= 1/7. k ln 2 is off by
// 2 and its shift by 1, as |k| < 2^32; y0 is exact. Together E = N+21.
//
// As |log x| > 2^-17 and N <= w/60 + 2, 2E/(|V|-E) < 2^(19-w) (w/60 + 23) <= 2^-prec.
func logReduced(m *big.Float, k int, prec uint) (Interval, error) {
	const y0Bits = 32
	w := workBits(prec)
	double, _ := m.Float64()
	y0 := new(big.Int).Lsh(big.NewInt(int64(math.Round(math.Log(double)*(1<<y0Bits)))), w-y0Bits)

	z := fixed(m, w)
	z.Mul(z, expFixed(new(big.Int).Neg(y0), w))
	z.Rsh(z, w)
	one := new(big.Int).Lsh(big.NewInt(1), w)
	z.Sub(z, one)
	if z.BitLen() > int(w)-3 {
		panic("num: math.Log is off by more than 1/8")
	}

	y := new(big.Int).Lsh(z, w)
	y.Quo(y, one.Add(one.Lsh(one, 1), z))
	q := new(big.Int).Mul(y, y)
	f, n := atanhRatio(q.Rsh(q, w), w)
	sum := y.Rsh(y.Mul(y, f), w-1)
	sum.Add(sum, y0)
	if k != 0 {
		kLn2 := ln2(w + 32)
		kLn2.Mul(kLn2, big.NewInt(int64(k)))
		sum.Add(sum, kLn2.Rsh(kLn2, 32))
	}
	return enclose(sum, n+21, 0, w, prec)
}

// atanhRatio returns F(q) = atanh(√q)/√q = Σ_j q^j/(2j+1) for 0 <= q <= 1/16, given Q = 2^w q
// within 2, and the number N of its terms: |F 2^w - V| <= 2N + 2.
//
// U_j = floor(U_(j-1) Q/2^w) is low by at most 1/16 of the last deficit plus 1, so by 1.07; the
// term floor(U_j/(2j+1)) by 1.4, and not at all for j = 0; the terms after the last by less than 1:
// a total of 2N. As |F'| < 1 the error of Q adds 2.
func atanhRatio(q *big.Int, w uint) (v *big.Int, n int64) {
	u := new(big.Int).Lsh(big.NewInt(1), w)
	v = new(big.Int)
	for term, odd := new(big.Int), new(big.Int); u.Sign() != 0; n++ {
		v.Add(v, term.Quo(u, odd.SetInt64(2*n+1)))
		term.Mul(u, q)
		u.Rsh(term, w)
	}
	return v, n
}
