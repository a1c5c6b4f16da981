package convolution

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"productform/internal/arithmetic"
)

// An Operand holds a number for every population of a lattice, in one arithmetic; T is the type
// itself. Its arguments use the same arithmetic; factors d have one number per chain. Once the
// context of the table is done, the methods that return no error stop unfinished.
type Operand[T any] interface {
	New() T              // returns a table of zeros with the same lattice and arithmetic
	Lattice() *Lattice   //
	Copy(from T)         // G ← H
	Add(w int64, from T) // G ← G + w H, w >= 0

	Set(numbers []arithmetic.Number)           // sets the numbers of all populations, by index
	SetProducts(factors [][]arithmetic.Number) // G(n) ← Π_k factors[k][n_k]

	// Divide is G ← H/(1 - Σ_k d_k z_k); H may be G. Horner is G ← w H + Σ_k d_k z_k G, and Shift
	// is Horner without H. They take K + 1 products and sums per population, and return the error
	// of the context.
	Divide(ctx context.Context, from T, d []arithmetic.Number) error
	Horner(ctx context.Context, w int64, from T, d []arithmetic.Number) error
	Shift(ctx context.Context, d []arithmetic.Number) error

	At(index int) arithmetic.Number
	Convolved(with T, index int) arithmetic.Number // Σ_{m <= n} G(m) H(n - m), for n at the index
}

// Convolve sets t to the product of two series, which must be other tables than t. It takes about
// as many steps as there are pairs m <= n of populations, and uses all cores.
func Convolve[T Operand[T]](ctx context.Context, t, a, b T) error {
	numbers := make([]arithmetic.Number, t.Lattice().States)
	const block = 16
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(numbers)/block+1) {
		group.Go(func() {
			for {
				first := int(next.Add(block)) - block
				if first >= len(numbers) || ctx.Err() != nil {
					return
				}
				for i := first; i < min(first+block, len(numbers)); i++ {
					numbers[i] = a.Convolved(b, i)
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	t.Set(numbers)
	return nil
}
