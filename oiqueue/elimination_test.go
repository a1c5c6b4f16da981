package oiqueue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Elimination by panels against gonum's LU with exchange of rows, for sizes around those of panels.
func TestEliminate(t *testing.T) {
	for _, n := range []int{1, panel - 1, panel, panel + 1, 2 * panel, 3*panel + 7} {
		a, b := returning(n)
		var lu mat.LU
		lu.Factorize(a)
		var want mat.Dense
		if err := lu.SolveTo(&want, false, b); err != nil {
			t.Fatal(err)
		}
		if solved, err := eliminate(t.Context(), a.RawMatrix(), b.RawMatrix()); err != nil || !solved {
			t.Fatalf("%d rows: %v, %v", n, solved, err)
		}
		for i := range n {
			for k := range 2 {
				// Jobs leave with probability 0.05 per step, so the inverse sums to at most 20 per
				// column.
				if x, y := b.At(i, k), want.At(i, k); math.Abs(x-y) > 20*float64(n)*0x1p-52*math.Abs(y) {
					t.Errorf("%d rows: x[%d][%d] = %v, LU has %v", n, i, k, x, y)
				}
			}
		}
	}
}

func BenchmarkEliminate(b *testing.B) {
	for _, n := range []int{500, 2000} {
		a, right := returning(n)
		for _, method := range []string{"panels", "lu"} {
			b.Run(fmt.Sprintf("classes=%d/method=%s", n, method), func(b *testing.B) {
				for b.Loop() {
					if method == "lu" {
						var lu mat.LU
						var x mat.Dense
						lu.Factorize(a)
						if err := lu.SolveTo(&x, false, right); err != nil {
							b.Fatal(err)
						}
					} else if solved, err := eliminate(
						b.Context(), mat.DenseCopyOf(a).RawMatrix(), mat.DenseCopyOf(right).RawMatrix(),
					); err != nil || !solved {
						b.Fatal(solved, err)
					}
				}
			})
		}
	}
}

// returning returns I - P^T for random routing in which a job leaves with probability 0.05, and two
// right sides > 0.
func returning(n int) (a, b *mat.Dense) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	a, b = mat.NewDense(n, n, nil), mat.NewDense(n, 2, nil)
	for i := range n {
		row, sum := make([]float64, n), 0.0
		for j := range row {
			row[j] = rng.Float64()
			sum += row[j]
		}
		for j, p := range row {
			a.Set(j, i, -0.95*p/sum)
		}
		a.Set(i, i, a.At(i, i)+1)
		b.Set(i, 0, rng.Float64())
		b.Set(i, 1, 1)
	}
	return a, b
}
