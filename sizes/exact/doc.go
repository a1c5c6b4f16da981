// Package exact encloses partial moments of job sizes whose parameters are fractions: what can be
// proved for the decimals as written, rather than for the nearest float64 numbers?
//
// For example:
//
//	d, err := exact.Parse("weibull:1/2", num.Rat("3"))
//	if err != nil {
//		log.Fatal(err)
//	}
//	e, err := d.Enclose(context.Background(), 200)
//	if err != nil {
//		log.Fatal(err)
//	}
//	p, err := e.At(num.Rat("10"))
//	if err != nil {
//		log.Fatal(err)
//	}
//	low, high := p.Above[1].Text(20) // P(X > 10)
//	fmt.Println("P(X > 10) >=", low)
//	fmt.Println("P(X > 10) <=", high)
//	// Output:
//	// P(X > 10) >= 0.075623447068633373237
//	// P(X > 10) <= 0.075623447068633373238
//
// A [Distribution] with a given number of bits is an [Enclosure]. A size in it is a [Point] with
// the moments
//
//	E[X^j; X > x],  j = -1, 0, 1, 2,
//
// as intervals, so proofs hold for the decimals as written, not for the nearest doubles. Moments
// between two sizes are differences, whose cancellation costs bits. Callers double the number of
// bits until the answer is narrow enough.
package exact
