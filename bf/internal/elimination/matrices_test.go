package elimination

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func random(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(40)-20)
	}
	return x
}

// The kernel for this processor gives the digits of that in Go, for matrices of all shapes, and
// writes nothing else.
func TestKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.IntRange(0, 40)
		rows, inner, columns := draw.Draw(t, "rows"), draw.Draw(t, "inner"), draw.Draw(t, "columns")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a, b, c := random(r, rows*inner), random(r, inner*columns), random(r, rows*columns+8)
		d := slices.Clone(c)
		multiplyAdd(c[:rows*columns], a, b, rows, inner, columns)
		Fastest()(d[:rows*columns], a, b, rows, inner, columns)
		for i := range c {
			if math.Float64bits(c[i]) != math.Float64bits(d[i]) {
				t.Fatalf("entry %d: %v in Go, %v in the fastest", i, c[i], d[i])
			}
		}
	})
}

// The error of each entry is within the documented number of roundings of the sum of its absolute
// terms.
func TestRoundings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, inner, columns := rapid.IntRange(1, 3).Draw(t, "rows"), rapid.IntRange(0, 20).Draw(t, "inner"),
			rapid.IntRange(1, 9).Draw(t, "columns")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a, b, c := random(r, rows*inner), random(r, inner*columns), random(r, rows*columns)
		before := slices.Clone(c)
		Fastest()(c, a, b, rows, inner, columns)
		for x := range rows {
			for y := range columns {
				sum, size := new(big.Rat).SetFloat64(before[x*columns+y]), math.Abs(before[x*columns+y])
				for s := range inner {
					f, g := new(big.Rat).SetFloat64(a[x*inner+s]), new(big.Rat).SetFloat64(b[s*columns+y])
					sum.Add(sum, f.Mul(f, g))
					size += math.Abs(a[x*inner+s] * b[s*columns+y])
				}
				off, _ := sum.Sub(sum, new(big.Rat).SetFloat64(c[x*columns+y])).Float64()
				if bound := float64(inner/4+inner%4+3) * 0x1p-53 * size * (1 + 0x1p-40); !(math.Abs(off) <= bound) {
					t.Fatalf("entry %d, %d is off by %v, more than %v", x, y, off, bound)
				}
			}
		}
	})
}

func BenchmarkMultiplyAdd(b *testing.B) {
	for _, k := range []struct {
		name string
		do   MultiplyAdd
	}{{"go", multiplyAdd}, {"fastest", Fastest()}} {
		for _, n := range []int{12, 17} {
			for _, shape := range [][3]int{{n, n, n * n}, {n * n, n, n}, {n, n, n}} {
				b.Run(fmt.Sprintf("%s/rows=%d/inner=%d/columns=%d",
					k.name, shape[0], shape[1], shape[2]), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 1))
					x, y, z := random(r, shape[0]*shape[1]), random(r, shape[1]*shape[2]), random(r, shape[0]*shape[2])
					for b.Loop() {
						k.do(z, x, y, shape[0], shape[1], shape[2])
					}
					b.ReportMetric(
						float64(shape[0]*shape[1]*shape[2])/float64(b.Elapsed().Nanoseconds())*float64(b.N),
						"products/ns",
					)
				})
			}
		}
	}
}
