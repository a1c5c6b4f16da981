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
	low    int  // first coordinates of a row
	size   int  // points of a row
	single bool // at least three first coordinates, with limits of 1

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
	g.single = g.low >= 3 && g.size == 1<<g.low
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

// A filler computes the numbers of the row that begins at a point.
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
		g.climbRow(row, den)
		if !isInRange(row) {
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
		g.fallRow(row, den)
		if !isInRange(row) {
			return num.ErrFloatRange
		}
		g.move(x, -1)
	}
	return nil
}

// climbRow adds the points below in the row, and divides.
func (g *grid) climbRow(row, den []float64) {
	if g.single {
		climbSets(row, den)
		return
	}
	first := int32(0)
	for l, end := range g.belowEnd {
		sum := row[l]
		for _, b := range g.below[first:end] {
			sum += row[b]
		}
		row[l] = sum / den[l]
		first = end
	}
}

// fallRow adds the points above in the row, and divides.
func (g *grid) fallRow(row, den []float64) {
	if g.single {
		fallSets(row, den)
		return
	}
	end := int32(len(g.above))
	for l := g.size - 1; l >= 0; l-- {
		first := int32(0)
		if l > 0 {
			first = g.aboveEnd[l-1]
		}
		sum := row[l]
		for _, a := range g.above[first:end] {
			sum += row[a]
		}
		row[l] = sum / den[l]
		end = first
	}
}

// climbSets is climbRow for limits of 1, eight points at a time.
func climbSets(row, den []float64) {
	for j := 0; j < len(row); j += 8 {
		x, d := (*[8]float64)(row[j:]), (*[8]float64)(den[j:])
		x0, x1, x2, x3, x4, x5, x6, x7 := x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
		for h := j; h != 0; h &= h - 1 {
			y := (*[8]float64)(row[j&^(h&-h):])
			x0, x1, x2, x3 = x0+y[0], x1+y[1], x2+y[2], x3+y[3]
			x4, x5, x6, x7 = x4+y[4], x5+y[5], x6+y[6], x7+y[7]
		}
		x0 /= d[0]
		x1, x2, x4 = (x1+x0)/d[1], (x2+x0)/d[2], (x4+x0)/d[4]
		x3, x5, x6 = (x3+x2+x1)/d[3], (x5+x4+x1)/d[5], (x6+x4+x2)/d[6]
		x7 = (x7 + x6 + x5 + x3) / d[7]
		*x = [8]float64{x0, x1, x2, x3, x4, x5, x6, x7}
	}
}

// fallSets is fallRow for limits of 1, eight points at a time.
func fallSets(row, den []float64) {
	for j := len(row) - 8; j >= 0; j -= 8 {
		x, d := (*[8]float64)(row[j:]), (*[8]float64)(den[j:])
		x0, x1, x2, x3, x4, x5, x6, x7 := x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
		for h := len(row) - 8 - j; h != 0; h &= h - 1 {
			y := (*[8]float64)(row[j|h&-h:])
			x0, x1, x2, x3 = x0+y[0], x1+y[1], x2+y[2], x3+y[3]
			x4, x5, x6, x7 = x4+y[4], x5+y[5], x6+y[6], x7+y[7]
		}
		x7 /= d[7]
		x6, x5, x3 = (x6+x7)/d[6], (x5+x7)/d[5], (x3+x7)/d[3]
		x4, x2, x1 = (x4+x5+x6)/d[4], (x2+x3+x6)/d[2], (x1+x3+x5)/d[1]
		x0 = (x0 + x1 + x2 + x4) / d[0]
		*x = [8]float64{x0, x1, x2, x3, x4, x5, x6, x7}
	}
}

// isInRange reports whether the numbers of a row are between leastValue and mostValue.
func isInRange(row []float64) bool {
	for _, x := range row {
		if !(x >= leastValue && x <= mostValue) {
			return false
		}
	}
	return true
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

// accumulateBelow accumulates along the coordinates before a given one.
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
