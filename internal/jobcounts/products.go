package jobcounts

// AddProduct adds the coefficients of the product of two series to those of sum, as many as it has; a and b have as many, too. A coefficient
// takes part in [ProductAdditions] additions.
func AddProduct(sum, a, b []float64) {
	n := len(sum)
	a, b = a[:n], b[:n]
	p := 0
	for ; p+4 <= n; p += 4 {
		a0, a1, a2, a3 := a[p], a[p+1], a[p+2], a[p+3]
		sum[p] += float64(a0 * b[0])
		sum[p+1] += float64(a0*b[1]) + float64(a1*b[0])
		sum[p+2] += (float64(a0*b[2]) + float64(a1*b[1])) + float64(a2*b[0])
		s := sum[p+3:]
		b3, b2, b1, b0 := b[3:][:len(s)], b[2:][:len(s)], b[1:][:len(s)], b[:len(s)]
		for k := range s {
			s[k] += (float64(a0*b3[k]) + float64(a1*b2[k])) + (float64(a2*b1[k]) + float64(a3*b0[k]))
		}
	}
	for ; p < n; p++ {
		s, x := sum[p:], a[p]
		for k, y := range b[:len(s)] {
			s[k] += float64(x * y)
		}
	}
}

// ProductAdditions bounds the additions in which a coefficient of a product takes part in sums of so many products of n coefficients each.
func ProductAdditions(products, n int) float64 { return float64(products*(n/4+4)) + 2 }
