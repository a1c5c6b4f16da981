package convolution

import (
	"math/bits"

	"productform/internal/arithmetic"
)

// Convolved adds the products by halves. Each product is rounded once, and then by at most the
// additions of a run, two roundings per run of a segment, and two per halving.
func (t *Float) Convolved(with *Float, index int) arithmetic.Number {
	l := t.lattice
	c := convolution{a: t, b: with, n: l.Point(index), row: index / l.width}
	c.columns = c.n[len(c.n)-1] + 1
	c.perRow = (c.columns + t.segment - 1) / t.segment
	pieces := c.perRow
	for _, n := range c.n[:len(c.n)-1] {
		pieces *= n + 1
	}
	sum := c.sum(0, pieces).Times(wide(1, t.tiltAt(index), 0).Wide)
	more := float64(1 + t.segment + 2*(t.segment/with.segment+2) + 2*bits.Len(uint(pieces)))
	total := float64(l.Total(index))
	if t.lost || with.lost {
		return arithmetic.FromWide(sum, 1)
	}
	return arithmetic.FromWide(sum, arithmetic.Roundings(t.a+with.a+max(t.b, with.b)*total+more))
}

// A convolution is Σ_{m <= n} a(m) b(n - m), in pieces: the segments of the rows of a up to n.
type convolution struct {
	a, b    *Float
	n       []int
	row     int // row of n
	columns int
	perRow  int // pieces per row
}

// sum adds the pieces from first to last-1.
func (c *convolution) sum(first, last int) arithmetic.Wide {
	const block = 1 << 10 // pieces between two checks of the context
	if last-first > 1 {
		if last-first >= block && c.a.ctx.Err() != nil {
			return arithmetic.Wide{}
		}
		middle := (first + last) / 2
		return c.sum(first, middle).Plus(c.sum(middle, last))
	}
	l := c.a.lattice
	row, of := 0, first/c.perRow
	for k := len(c.n) - 2; k >= 0; k-- {
		row += of % (c.n[k] + 1) * l.rows.Stride[k]
		of /= c.n[k] + 1
	}
	return c.piece(row, first%c.perRow)
}

// piece adds a(m) b(n-m) over segment i of a row of a.
func (c *convolution) piece(row, i int) arithmetic.Wide {
	var sum arithmetic.Wide
	e := c.a.exponent[row*c.a.perRow+i]
	if e == absent {
		return sum
	}
	width, other := c.a.lattice.width, c.row-row
	first, last := i*c.a.segment, min((i+1)*c.a.segment, c.columns)
	for j := first; j < last; {
		from := c.columns - 1 - j // column of b
		segment := from / c.b.segment
		end := min(last, j+from-segment*c.b.segment+1)
		if f := c.b.exponent[other*c.b.perRow+segment]; f != absent {
			x := c.a.mantissa[row*width+j : row*width+end]
			y := c.b.mantissa[other*width+from-len(x)+1 : other*width+from+1]
			run := 0.0
			for k, v := range x {
				run += v * y[len(y)-1-k]
			}
			sum = sum.Plus(wide(run, e+f, 0).Wide)
		}
		j = end
	}
	return sum
}
