package oiqueue

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// panel is the number of columns that are eliminated at a time.
const panel = 64

// eliminate solves a x = b in place, for an M-matrix a = I - P^T of n rows: b becomes x, and a its
// factors. Columns of a sum to at least 0, so elimination needs no exchange of rows: each pivot is
// positive and no entry grows. It returns false if rounding leaves a pivot that is not positive. It
// checks ctx at least once every n^2 panel additions.
func eliminate(ctx context.Context, a, b blas64.General) (bool, error) {
	n := a.Rows
	part := func(row, column, rows, columns int) blas64.General {
		return blas64.General{Rows: rows, Cols: columns, Stride: a.Stride, Data: a.Data[row*a.Stride+column:]}
	}
	triangle := func(at, size int, uplo blas.Uplo, diag blas.Diag) blas64.Triangular {
		return blas64.Triangular{Uplo: uplo, Diag: diag, N: size, Stride: a.Stride, Data: a.Data[at*a.Stride+at:]}
	}
	for from := 0; from < n; from += panel {
		to := min(from+panel, n)
		for k := from; k < to; k++ {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			top := a.Data[k*a.Stride : k*a.Stride+to]
			if !(top[k] > 0) {
				return false, nil
			}
			for i := k + 1; i < n; i++ {
				row := a.Data[i*a.Stride : i*a.Stride+to]
				if row[k] == 0 {
					continue
				}
				row[k] /= top[k]
				for j := k + 1; j < to; j++ {
					row[j] -= float64(row[k] * top[j])
				}
			}
		}
		if size, rest := to-from, n-to; rest > 0 {
			right := part(from, to, size, rest)
			blas64.Trsm(blas.Left, blas.NoTrans, 1, triangle(from, size, blas.Lower, blas.Unit), right)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, part(to, from, rest, size), right, 1, part(to, to, rest, rest))
		}
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, triangle(0, n, blas.Lower, blas.Unit), b)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, triangle(0, n, blas.Upper, blas.NonUnit), b)
	return true, nil
}
