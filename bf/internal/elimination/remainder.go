package elimination

import "math"

// remainder bounds, in one cell and relative to e^{slopes·(t-c)}, the distance between the integral
// of the kept factors over the eliminated time and the interpolation of its values from add at the
// nodes. It also returns the part due to rounding.
//
// Let G be the product of the factors in a region, with the eliminated time s in one of its panels,
// of length 2h. Its norm in a few times is at most the product of the norms of its factors.
//
//   - In the time v of a server that stays, the integral of G over all or a part of the panel has a
//     norm of at most 2h |G|_v if v is not an end of it. If v is an end, the integral of G runs
//     along the straight segment from an end of the panel to v; if the other end is also a time, an
//     integral between two times of the panel is subtracted. If v is in the ellipse of ρ, so is the
//     segment; its length is at most h(1+(ρ+1/ρ)/2), and on it path bounds |G|. A function of at
//     most B in the ellipse has Chebyshev coefficients of at most 2Bρ^-k, so 4ρ^-n must be
//     multiplied by B/(1-1/ρ). Interpolation in v errs by at most 4ρ^-n times the norm, amplified
//     by the interpolations in the times before.
//   - At the nodes, weights integrate the interpolation of G in s, with an error of at most 2h
//     4ρ^-n |G|_s. Values of functions at the nodes are off by their fuzz, and computing with them
//     adds roundings; both count at most by the sum of absolute terms. Every
//     interpolation amplifies all of this.
//   - If a power of one time alone underflows, or the product of the functions with the power of
//     the eliminated server, the value computed for the region is anything from 0 to about the
//     correct one, whatever the powers of other times are.
//   - The errors of the kept functions in the cells themselves, their defects, are integrated like
//     the functions: see addDefect.
func (k *worker) remainder(slopes []float64) (bound, roundings float64) {
	g := k.g
	terms, carried := 0.0, 0.0
	k.spans, k.spanCells = k.spans[:0], k.spanCells[:0]
	k.parts(func(r *region, low, high int) {
		at := len(k.spanCells)
		k.spanCells = append(k.spanCells, k.at...)
		s := span{low: low, high: high, length: 2 * g.half(k.panel[k.w]), cells: k.spanCells[at:]}
		k.locateCells(r, slopes, &s)
		flat := k.norm(&s, 0, 0)
		fuzz, off := k.roundoff, 0.0
		for v, a := range r.exponent {
			fuzz += g.powerRoundoff(a, k.panel[v])
		}
		for i, f := range k.functions {
			fuzz += f.fuzz[s.cells[i]] / f.norm(s.cells[i], 0, 0)
			off = f.addDefect(off, s.cells[i])
		}
		carried += s.length * flat * off
		if k.underflows(r, s.cells) {
			fuzz++
		}
		if low >= 0 && high >= 0 {
			fuzz *= 2
		}
		terms += s.length / 2 * g.absolute * flat * fuzz
		k.spans = append(k.spans, s)
	})
	total, amplified := carried, 1.0
	for v := range k.w {
		total += amplified * k.tail(v, func(sum float64, s *span, e int) float64 {
			if v == s.low || v == s.high {
				sum += s.length / 2 * (1 + ellipseFactor(e)) / (1 - 1/ellipses[e]) * k.path(s, v, v == s.low, e)
			}
			if v != s.low && v != s.high || s.low >= 0 && s.high >= 0 {
				sum += s.length * k.norm(s, 1<<v, e)
			}
			return sum
		})
		amplified *= g.lebesgue
	}
	goes := k.tail(k.w, func(sum float64, s *span, e int) float64 { return sum + s.length*k.norm(s, 1<<k.w, e) })
	return (total + amplified*(goes+terms)) * (1 + 0x1p-30), amplified * terms
}

// A span is a part of the range of the eliminated time: see parts.
type span struct {
	low, high int
	length    float64               // length of its panel
	height    float64               // exponent of the product at the centre
	tilt      [MaxWidth + 1]float64 // net exponent of the product in each time over half its panel
	cells     []int                 // one for each function
}

// tail returns the minimum over ρ of 4ρ^-n times a norm in the time of server v, which add sums over
// the spans. It starts with the ρ of the previous cell, and abandons sums that exceed the minimum.
func (k *worker) tail(v int, add func(sum float64, s *span, e int) float64) float64 {
	least, best := math.Inf(1), k.ellipse[v]
	for i := range radii - 1 {
		e := 1 + (best+i)%(radii-1)
		sum, down, bound := 0.0, k.g.decay[e], 0.0
		for s := range k.spans {
			sum = add(sum, &k.spans[s], e)
			if bound = 4 * sum * down; bound >= least {
				break
			}
		}
		if bound < least {
			k.ellipse[v] = e - 1
		}
		least = min(least, bound)
	}
	return least
}

// underflows reports whether a power of one time may lose digits or vanish in the panels, or the
// product of the functions in these cells with the power of the eliminated server, which is
// multiplied by the other powers only after summation. A lost product is below 2^-1074, so it is
// negligible where its bound, at the smallest of the exponentials, is much larger.
func (k *worker) underflows(r *region, cells []int) bool {
	for v, a := range r.exponent {
		if panel := k.panel[v]; a*(k.g.centre(panel)+k.g.half(panel)) < -700 {
			return true
		}
	}
	product := min(0, r.exponent[k.w]*(k.g.centre(k.panel[k.w])+k.g.half(k.panel[k.w])))
	for i, f := range k.functions {
		product += math.Log(f.norm(cells[i], 0, 0))
		for at, slope := range f.cellSlopes(cells[i]) {
			product -= math.Abs(slope) * k.g.half(k.panel[k.places[i][at]])
		}
	}
	return product < -600
}

// tail returns the minimum over ρ of 4ρ^-n times a norm.
func (g *mesh) tail(norms *[radii]float64) float64 {
	least := math.Inf(1)
	for e, x := range norms {
		if e > 0 {
			least = min(least, 4*x*g.decay[e])
		}
	}
	return least
}

// locateCells finds the cells of the functions and the exponents of their product in a span.
func (k *worker) locateCells(r *region, slopes []float64, s *span) {
	for v, a := range r.exponent {
		s.height += a * k.g.centre(k.panel[v])
		k.net[v] = a
		if v < k.w {
			k.net[v] -= slopes[v]
		}
	}
	for i, f := range k.functions {
		s.cells[i] = k.cellOf(r, i)
		for at, slope := range f.cellSlopes(s.cells[i]) {
			k.net[k.places[i][at]] += slope
		}
	}
	for v, a := range k.net {
		s.tilt[v] = a * k.g.half(k.panel[v])
	}
}

// norm bounds the norm of the product in the times of mask.
func (k *worker) norm(s *span, mask, ellipse int) float64 {
	height := s.height
	for v, x := range s.tilt[:k.w+1] {
		x = math.Abs(x)
		if mask>>v&1 == 1 {
			x *= ellipseFactor(ellipse)
		}
		height += x
	}
	return math.Exp(height) * k.polynomials(s.cells, mask, ellipse)
}

// path bounds the product with the time of v in an ellipse and the eliminated time on the segment
// to it from the start or the end of the panel. The logarithm of the exponentials is linear on the
// segment, so it is largest at an end.
func (k *worker) path(s *span, v int, end bool, ellipse int) float64 {
	own, goes, height := s.tilt[v], s.tilt[k.w], s.height
	for o, x := range s.tilt[:k.w] {
		if o != v {
			height += math.Abs(x)
		}
	}
	first := -goes
	if end {
		first = goes
	}
	height += max(math.Abs(own)*ellipseFactor(ellipse)+first, math.Abs(own+goes)*ellipseFactor(ellipse))
	return math.Exp(height) * k.polynomials(s.cells, 1<<v|1<<k.w, ellipse)
}

// polynomials bounds the product of the polynomials with the times of mask in an ellipse.
func (k *worker) polynomials(cells []int, mask, ellipse int) float64 {
	norm := 1.0
	for i, f := range k.functions {
		own := 0
		for at, v := range k.places[i] {
			own |= mask >> v & 1 << at
		}
		norm *= f.norm(cells[i], own, ellipse)
	}
	return norm
}
