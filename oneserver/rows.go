package oneserver

import (
	"context"

	"productform/internal/lattice"
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

// climb solves v(k) = (source(k) + Σ v(k-e)) / d(k) over the coordinates of k > 0. Without a
// source v(0) is 1; v itself may be the source.
func (g *grid) climb(ctx context.Context, v, source, d []float64) error {
	x := make([]int, len(g.Limits))
	for from := 0; from < g.States; from += g.size {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := v[from : from+g.size]
		begin(row, source, from)
		if from == 0 && source == nil {
			row[0] = d[0]
		}
		for k := g.low; k < len(x); k++ {
			if x[k] > 0 {
				add(row, v[from-g.Stride[k]:])
			}
		}
		den, first := d[from:from+g.size], int32(0)
		for l, end := range g.belowEnd {
			sum := row[l]
			for _, b := range g.below[first:end] {
				sum += row[b]
			}
			row[l] = sum / den[l]
			first = end
		}
		g.move(x, 1)
	}
	return nil
}

// fall solves v(k) = (source(k) + Σ v(k+e)) / d(k) over the coordinates of k below their limits.
// Without a source v is 1 at the last point.
func (g *grid) fall(ctx context.Context, v, source, d []float64) error {
	x := g.Point(g.States - 1)
	for from := g.States - g.size; from >= 0; from -= g.size {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := v[from : from+g.size]
		begin(row, source, from)
		if from == g.States-g.size && source == nil {
			row[g.size-1] = d[g.States-1]
		}
		for k := g.low; k < len(x); k++ {
			if x[k] < g.Limits[k] {
				add(row, v[from+g.Stride[k]:])
			}
		}
		den, end := d[from:from+g.size], int32(len(g.above))
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

// add adds the first numbers of another list to a row.
func add(row, other []float64) {
	other = other[:len(row)]
	for l := range row {
		row[l] += other[l]
	}
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
