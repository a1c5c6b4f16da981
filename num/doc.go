// Package num holds the numbers that solvers work with: what is the exact value of a number, and
// how large can the error of a computed one be? It reads decimals and fractions exactly, and
// computes in binary floating point of any precision with proved error bounds.
//
// For example:
//
//	x, err := num.ParseRat("0.1")
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println("one tenth:", x)
//	e, err := num.ExpInterval(big.NewFloat(-1000), 100)
//	if err != nil {
//		log.Fatal(err)
//	}
//	low, high := e.Text(20)
//	fmt.Println("exp(-1000) is at least", low)
//	fmt.Println("           and at most", high)
//	// Output:
//	// one tenth: 1/10
//	// exp(-1000) is at least 5.0759588975494567652e-435
//	//            and at most 5.0759588975494567653e-435
//
// [ParseRat] reads "4/5", "0.1" and "1e-3" as exact rationals, within limits on length and exponent
// that keep hostile input cheap. [Float64] converts back.
//
// An [Interval] is proved to contain a real number. [ExpInterval] and [LogInterval] return one of
// relative width at most 2^(1-prec), wherever the argument lies: exp far below -709, log near 1,
// exponents up to those of big.Float. They work with integers V that represent reals v with |V - v
// 2^w| <= E:
//
//	exp(x) = 2^k exp(t)^(2^s),  t = (x - k ln 2)/2^s, exp(t) by Taylor's series,
//	log(m 2^k) = k ln 2 + y0 + 2 atanh(z/(2+z)),  1 + z = m exp(-y0), y0 near log m,
//	log(1+z) = 2 atanh(z/(2+z)) relative to z, if |z| < 2^-16,
//
// after Brent and Zimmermann, Modern Computer Arithmetic, 2010, chapter 4; the comment of each
// function derives its E. Constants are computed at each call, so the package has no state, and all
// of it may be used concurrently.
//
// A [Value] is a number of a result: a double, a fraction if the engine has one, or bounds.
// [Between] builds one from two fractions. A [Sum] adds doubles with an error as if in twice their
// precision. [JoinDenominator] brings fractions to a common denominator.
package num
