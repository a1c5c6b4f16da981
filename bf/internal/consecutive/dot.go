package consecutive

// block is the largest number of products in one partial sum of an inner product.
const block = 256

// dotAdditions bounds the additions that one product takes part in, in an inner product of length
// n: one of eight sums of its block takes block/8 and one more at its end, adding the eight takes
// 3, then the blocks are added.
func dotAdditions(n int) float64 { return float64(min(n, block)/8 + 4 + n/block) }

// dot returns Σ_k a[k] b[k].
func dot(a, b []float64) (sum float64) {
	b = b[:len(a)]
	for len(a) > block {
		sum += dotBlock(a[:block], b[:block])
		a, b = a[block:], b[block:]
	}
	return sum + dotBlock(a, b)
}

func dotBlock(a, b []float64) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for len(a) >= 8 && len(b) >= 8 {
		s0 += float64(a[0] * b[0]) // conversions keep processors from fusing products and sums
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		s4 += float64(a[4] * b[4])
		s5 += float64(a[5] * b[5])
		s6 += float64(a[6] * b[6])
		s7 += float64(a[7] * b[7])
		a, b = a[8:], b[8:]
	}
	if len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	if len(a) >= 2 && len(b) >= 2 {
		s4 += float64(a[0] * b[0])
		s5 += float64(a[1] * b[1])
		a, b = a[2:], b[2:]
	}
	if len(a) > 0 && len(b) > 0 {
		s6 += float64(a[0] * b[0])
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// dotReversed returns Σ_k a[k] b[n-1-k], n being the length of both.
func dotReversed(a, b []float64) (sum float64) {
	for len(a) > block {
		at := len(b) - block
		sum += dotReversedBlock(a[:block], b[at:])
		a, b = a[block:], b[:at]
	}
	return sum + dotReversedBlock(a, b)
}

func dotReversedBlock(a, b []float64) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for len(a) >= 8 && len(b) >= 8 {
		c := b[len(b)-8:]
		s0 += float64(a[0] * c[7])
		s1 += float64(a[1] * c[6])
		s2 += float64(a[2] * c[5])
		s3 += float64(a[3] * c[4])
		s4 += float64(a[4] * c[3])
		s5 += float64(a[5] * c[2])
		s6 += float64(a[6] * c[1])
		s7 += float64(a[7] * c[0])
		a, b = a[8:], b[:len(b)-8]
	}
	if len(a) >= 4 && len(b) >= 4 {
		c := b[len(b)-4:]
		s0 += float64(a[0] * c[3])
		s1 += float64(a[1] * c[2])
		s2 += float64(a[2] * c[1])
		s3 += float64(a[3] * c[0])
		a, b = a[4:], b[:len(b)-4]
	}
	if len(a) >= 2 && len(b) >= 2 {
		c := b[len(b)-2:]
		s4 += float64(a[0] * c[1])
		s5 += float64(a[1] * c[0])
		a, b = a[2:], b[:len(b)-2]
	}
	if len(a) > 0 && len(b) > 0 {
		s6 += float64(a[0] * b[0])
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}
