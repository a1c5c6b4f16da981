package oneserver

import (
	"context"
	"math"
	"slices"
)

// stages is the number of points of a step of [collocation], whose order is twice that.
const stages = 6

// A collocation solves y' = r(t) - d(t) y over a step of length h by a polynomial whose derivative
// is right at the zeros of a Legendre polynomial (Gauss). Its values Y_j there and the one at the
// end are
//
//	(A⁻¹ + h diag(d_j)) Y = h r + y_0 A⁻¹1,  y_1 = y_0 (1 - Σ_j w_j) + Σ_j w_j Y_j.
type collocation struct {
	nodes   [stages]float64 // c_j in (0, 1), increasing
	weights [stages]float64 // b_j
	inverse [stages][stages]float64
	start   [stages]float64 // A⁻¹ 1
	end     [stages]float64 // w
	keep    float64         // 1 - Σ_j w_j
}

// newCollocation computes the coefficients.
func newCollocation() *collocation {
	c := new(collocation)
	for j := range stages { // Newton's method on the Legendre polynomial
		x := math.Cos(math.Pi * (float64(stages-j) - 0.25) / (stages + 0.5))
		var slope float64
		for range 100 {
			p, q := 1.0, 0.0
			for n := 1; n <= stages; n++ {
				p, q = (float64(2*n-1)*x*p-float64(n-1)*q)/float64(n), p
			}
			slope = stages * (x*p - q) / (x*x - 1)
			x -= p / slope
		}
		c.nodes[j] = (1 + x) / 2
		c.weights[j] = 1 / ((1 - x*x) * slope * slope)
	}
	// A⁻¹ takes the values at the nodes of a polynomial that is 0 at 0 to those of its derivative:
	// the derivatives of the Lagrange polynomials of 0 and the nodes. The w_j are their values
	// at 1.
	point := append([]float64{0}, c.nodes[:]...)
	product := func(at float64, without int) float64 { // of at - point
		p := 1.0
		for m, x := range point {
			if m != without {
				p *= at - x
			}
		}
		return p
	}
	for j := range stages {
		x := point[j+1]
		for l := range stages {
			if l != j {
				c.inverse[j][l] = product(x, j+1) / product(point[l+1], l+1) / (x - point[l+1])
			}
		}
		for m, y := range point {
			if m != j+1 {
				c.inverse[j][j] += 1 / (x - y)
			}
		}
		c.start[j] = -product(x, j+1) / product(0, 0) / x
		c.end[j] = product(1, j+1) / product(x, j+1)
	}
	c.keep = product(1, 0) / product(0, 0)
	return c
}

// step solves one equation over a step. On entry y has the values h r_j, on return the Y_j; hd has
// the values h d_j.
func (c *collocation) step(y, hd *[stages]float64, y0 float64) float64 {
	m := c.inverse
	for j := range stages {
		m[j][j] += hd[j]
		y[j] += y0 * c.start[j]
	}
	for k := range stages - 1 { // the symmetric part with weights b is positive for d >= 0, so no pivots are needed
		inverse := 1 / m[k][k]
		for i := k + 1; i < stages; i++ {
			f := m[i][k] * inverse
			for j := k + 1; j < stages; j++ {
				m[i][j] -= f * m[k][j]
			}
			y[i] -= f * y[k]
		}
	}
	y1 := c.keep * y0
	for k := stages - 1; k >= 0; k-- {
		v := y[k]
		for j := k + 1; j < stages; j++ {
			v -= m[k][j] * y[j]
		}
		v /= m[k][k]
		y[k] = v
		y1 += c.end[k] * v
	}
	return y1
}

// halve halves all steps.
func halve(grid []float64) []float64 {
	list := make([]float64, 0, 2*len(grid))
	for k, x := range grid {
		if k > 0 {
			list = append(list, grid[k-1]+(x-grid[k-1])/2)
		}
		list = append(list, x)
	}
	return list
}

// steps returns the ends of the steps from 0 to end: all corners are among them, and in between the
// lengths rise by at most a factor of 5 and are at most those that longest returns. It ends after a
// number of steps that is too large.
func steps(
	ctx context.Context, corners []float64, end float64, longest func(x float64) float64, most int,
) ([]float64, error) {
	list := []float64{0}
	corners = slices.DeleteFunc(slices.Clone(corners), func(x float64) bool { return !(x > 0 && x < end) })
	slices.Sort(corners)
	last := longest(0)
	for _, corner := range append(slices.Compact(corners), end) {
		for x := list[len(list)-1]; x < corner; {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if len(list) > most {
				return list, nil
			}
			h := min(longest(x), 5*last)
			if n := math.Ceil((corner - x) / h); n < 8 { // equal steps up to the corner
				h = (corner - x) / n
			}
			last = h
			if x += h; x > corner-h/2 {
				x = corner
			}
			list = append(list, x)
		}
	}
	return list, nil
}
