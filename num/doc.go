// Package num holds the numbers the solvers work on: what is the exact value of a number, and how
// large can the error of a computed one be? It reads decimals and fractions exactly, and computes
// in binary floating point of any precision with proved error bounds.
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
// [ParseRat] reads "4/5", "0.1" and "1e-3" as the rationals they are, within bounds on length
// and exponent that keep hostile input cheap. [Float64] is the way back.
//
// An [Interval] is proved to hold a real number. [ExpInterval] and [LogInterval] make one whose
// width is at most 2^(1-prec) of its value, wherever the argument lies: exp far below -709, log
// next to 1, exponents up to those of big.Float. They work on integers V for reals v with |V - v
// 2^w| <= E:
//
//	exp(x) = 2^k exp(t)^(2^s),  t = (x - k ln 2)/2^s, exp(t) by Taylor's series,
//	log(m 2^k) = k ln 2 + y0 + 2 atanh(z/(2+z)),  1 + z = m exp(-y0), y0 near log m,
//	log(1+z) = 2 atanh(z/(2+z)) relative to z, if |z| < 2^-16,
//
// after Brent and Zimmermann, Modern Computer Arithmetic, 2010, chapter 4; the count of E is in the
// comment of each function. Constants are computed at each call: the package has no state, and all
// of it may be used concurrently.
//
// A [Value] is a number of a result: a double, a fraction if the engine has one, or bounds.
// [Between] makes one from two fractions. A [Sum] adds doubles with an error as if in twice their
// precision. [JoinDenominator] brings fractions to a common denominator.
package num
