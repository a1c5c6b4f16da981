package oneserver

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"productform/internal/lattice"
	"productform/num"
)

// A grid solves recursions over the points of a box in float64. It takes a row of points at a time:
// those that differ in the first coordinates only. The neighbours of a row in the other coordinates
// are rows as well, and are added as a whole.
type grid struct {
	lattice.Box
	low  int // first coordinates of a row
	size int // points of a row

	// below[belowEnd[l-1]:belowEnd[l]] are the points of a row below its point l, and above those
	// above it.
	below, above       []int32
	belowEnd, aboveEnd []int32
}

// newGrid returns the grid of a box.
func newGrid(limits []int) *grid {
	const most = 512 // points of a row, unless it has one coordinate
	g := &grid{Box: lattice.FirstFastest(limits), size: 1}
	for g.low < len(limits) && (g.low == 0 || g.size*(limits[g.low]+1) <= most) {
		g.size *= limits[g.low] + 1
		g.low++
	}
	for l := range g.size {
		for k := range g.low {
			switch x := g.Digit(l, k); {
			case x > 0 && x < limits[k]:
				g.below, g.above = append(g.below, int32(l-g.Stride[k])), append(g.above, int32(l+g.Stride[k]))
			case x > 0:
				g.below = append(g.below, int32(l-g.Stride[k]))
			case x < limits[k]:
				g.above = append(g.above, int32(l+g.Stride[k]))
			}
		}
		g.belowEnd, g.aboveEnd = append(g.belowEnd, int32(len(g.below))), append(g.aboveEnd, int32(len(g.above)))
	}
	return g
}

// positions returns the positions in a row of the points whose first coordinates are at least those
// of a point.
func (g *grid) positions(least []int) []int32 {
	list := []int32{0}
	for k := range g.low {
		var next []int32
		for n := least[k]; n <= g.Limits[k]; n++ {
			for _, l := range list {
				next = append(next, l+int32(n*g.Stride[k]))
			}
		}
		list = next
	}
	return list
}

// isRowAbove reports whether the other coordinates of x are at least those of a point.
func (g *grid) isRowAbove(x, least []int) bool {
	for k := g.low; k < len(x); k++ {
		if x[k] < least[k] {
			return false
		}
	}
	return true
}

// taskStates is the number of states that one goroutine takes at a time.
const taskStates = 1 << 14

// inParallel calls a function with 0..n-1, on several cores if there are many points. It returns an
// error from one of the calls.
func (g *grid) inParallel(n int, do func(k int) error) error {
	if g.States <= taskStates {
		for k := range n {
			if err := do(k); err != nil {
				return err
			}
		}
		return nil
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for k := range n {
		group.Go(func() error { return do(k) })
	}
	return group.Wait()
}

// A filler sets numbers to those of the row that begins at a point.
type filler func(row []float64, from int)

// Limits on the solutions of a recursion.
const (
	leastValue = 0x1p-900
	mostValue  = 0x1p900
)

// climb solves v(k) = (source(k) + Σ v(k-e)) / d(k) over the coordinates of k > 0. Without a
// source v(0) is 1; v itself may be the source. The error is [num.ErrFloatRange] or that of the
// context.
func (g *grid) climb(ctx context.Context, v, source []float64, d filler) error {
	x, den, others := make([]int, len(g.Limits)), make([]float64, g.size), make([][]float64, 0, len(g.Limits))
	for from := 0; from < g.States; from += g.size {
		if err := ctx.Err(); err != nil {
			return err
		}
		others = others[:0]
		for k := g.low; k < len(x); k++ {
			if x[k] > 0 {
				others = append(others, v[from-g.Stride[k]:][:g.size])
			}
		}
		row := v[from : from+g.size]
		d(den, from)
		begin(row, source, from)
		if from == 0 && source == nil {
			row[0] = den[0]
		}
		addRows(row, others)
		first, isIn := int32(0), true
		for l, end := range g.belowEnd {
			sum := row[l]
			for _, b := range g.below[first:end] {
				sum += row[b]
			}
			sum /= den[l]
			row[l] = sum
			isIn = isIn && sum >= leastValue && sum <= mostValue
			first = end
		}
		if !isIn {
			return num.ErrFloatRange
		}
		g.move(x, 1)
	}
	return nil
}

// fall solves v(k) = (source(k) + Σ v(k+e)) / d(k) over the coordinates of k below their limits, as
// climb does upwards. Without a source v is 1 at the last point.
func (g *grid) fall(ctx context.Context, v, source []float64, d filler) error {
	x, den, others := g.Point(g.States-1), make([]float64, g.size), make([][]float64, 0, len(g.Limits))
	for from := g.States - g.size; from >= 0; from -= g.size {
		if err := ctx.Err(); err != nil {
			return err
		}
		others = others[:0]
		for k := g.low; k < len(x); k++ {
			if x[k] < g.Limits[k] {
				others = append(others, v[from+g.Stride[k]:][:g.size])
			}
		}
		row := v[from : from+g.size]
		d(den, from)
		begin(row, source, from)
		if from == g.States-g.size && source == nil {
			row[g.size-1] = den[g.size-1]
		}
		addRows(row, others)
		end, isIn := int32(len(g.above)), true
		for l := g.size - 1; l >= 0; l-- {
			first := int32(0)
			if l > 0 {
				first = g.aboveEnd[l-1]
			}
			sum := row[l]
			for _, a := range g.above[first:end] {
				sum += row[a]
			}
			sum /= den[l]
			row[l] = sum
			isIn = isIn && sum >= leastValue && sum <= mostValue
			end = first
		}
		if !isIn {
			return num.ErrFloatRange
		}
		g.move(x, -1)
	}
	return nil
}

// begin sets a row to that of the source, or to 0 if there is none.
func begin(row, source []float64, from int) {
	if source == nil {
		clear(row)
		return
	}
	copy(row, source[from:from+len(row)]) // nothing to do if the source is solved in place
}

// addRows adds other rows to a row, one after the other.
func addRows(row []float64, others [][]float64) {
	for ; len(others) >= 4; others = others[4:] {
		a, b, c, d := others[0][:len(row)], others[1][:len(row)], others[2][:len(row)], others[3][:len(row)]
		for l, x := range row {
			row[l] = x + a[l] + b[l] + c[l] + d[l]
		}
	}
	for _, a := range others {
		addTo(row, a)
	}
}

// addTo adds a list to another of the same length.
func addTo[T int64 | float64](a, b []T) {
	b = b[:len(a)]
	for l := range a {
		a[l] += b[l]
	}
}

// accumulate replaces each number of a table by the sum over the rows that are not above its own,
// at the same position.
func (g *grid) accumulate(ctx context.Context, table []int64) error {
	last := len(g.Limits) - 1
	if last < g.low {
		return nil
	}
	stride := g.Stride[last]
	slice := func(k int) []int64 { return table[k*stride : (k+1)*stride] }
	err := g.inParallel(g.Limits[last]+1, func(k int) error { return g.accumulateBelow(ctx, slice(k), last) })
	if err != nil {
		return err
	}
	return g.inParallel(stride/g.size, func(row int) error {
		for k := range g.Limits[last] {
			addTo(slice(k + 1)[row*g.size:][:g.size], slice(k)[row*g.size:][:g.size])
		}
		return nil
	})
}

// accumulateBelow does so along the coordinates before one.
func (g *grid) accumulateBelow(ctx context.Context, table []int64, end int) error {
	if end == g.low {
		return ctx.Err()
	}
	stride := g.Stride[end-1]
	for k := range g.Limits[end-1] + 1 {
		slice := table[k*stride : (k+1)*stride]
		if err := g.accumulateBelow(ctx, slice, end-1); err != nil {
			return err
		}
		if k > 0 {
			addTo(slice, table[(k-1)*stride:k*stride])
		}
	}
	return nil
}

// move moves x to the next row, or to the previous one.
func (g *grid) move(x []int, step int) {
	for k := g.low; k < len(x); k++ {
		if x[k] += step; x[k] >= 0 && x[k] <= g.Limits[k] {
			return
		}
		if x[k] = 0; step < 0 {
			x[k] = g.Limits[k]
		}
	}
}
