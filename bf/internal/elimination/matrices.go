// This file multiplies small float64 matrices, with the same digits on all processors. With AVX2 it
// processes several numbers at a time.

package elimination

// A MultiplyAdd adds the product of a and b, rows×inner and inner×columns, to c, rows×columns, all
// with their rows in sequence. To each entry of c it adds the sums of four products, ((p_0 + p_1) +
// (p_2 + p_3)) of consecutive inner indices, then the remaining products, at most three. Each entry
// takes at most inner/4 + 6 roundings: one of a product, the others of sums.
type MultiplyAdd func(c, a, b []float64, rows, inner, columns int)

// Fastest returns the fastest MultiplyAdd for this processor.
func Fastest() MultiplyAdd { return fastest() }

// multiplyAdd defines the result of the kernel in kernels_amd64.s. Products are converted to
// float64, which keeps compilers from fusing them with sums.
func multiplyAdd(c, a, b []float64, rows, inner, columns int) {
	for x := range rows {
		row, factors := c[x*columns:][:columns], a[x*inner:][:inner]
		s := 0
		for ; s+4 <= inner; s += 4 {
			a0, a1, a2, a3 := factors[s], factors[s+1], factors[s+2], factors[s+3]
			b0, b1, b2, b3 := b[s*columns:][:len(row)], b[(s+1)*columns:][:len(row)], b[(s+2)*columns:][:len(row)],
				b[(s+3)*columns:][:len(row)]
			for y := range row {
				row[y] += (float64(a0*b0[y]) + float64(a1*b1[y])) + (float64(a2*b2[y]) + float64(a3*b3[y]))
			}
		}
		for ; s < inner; s++ {
			f := factors[s]
			for y, v := range b[s*columns:][:len(row)] {
				row[y] += float64(f * v)
			}
		}
	}
}
