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
	var stay [MaxWidth][radii]float64
	var goes [radii]float64
	terms, carried := 0.0, 0.0
	cells := k.at
	k.parts(func(r *region, low, high int) {
		height := k.locateCells(r, slopes, cells)
		length := 2 * g.half(k.panel[k.w])
		flat := k.norm(height, cells, 0, 0)
		fuzz, off := k.roundoff, 0.0
		for v, a := range r.exponent {
			fuzz += g.powerRoundoff(a, k.panel[v])
		}
		for i, f := range k.functions {
			fuzz += f.fuzz[cells[i]] / f.norm(cells[i], 0, 0)
			off = f.addDefect(off, cells[i])
		}
		carried += length * flat * off
		if k.underflows(r, cells) {
			fuzz++
		}
		if low >= 0 && high >= 0 {
			fuzz *= 2
		}
		terms += length / 2 * g.absolute * flat * fuzz
		for e := 1; e < radii; e++ {
			goes[e] += length * k.norm(height, cells, 1<<k.w, e)
			for v := range k.w {
				if v == low || v == high {
					stay[v][e] += length / 2 * (1 + ellipseFactor(e)) / (1 - 1/ellipses[e]) * k.path(height,
						cells, v, v == low, e)
				}
				if v != low && v != high || low >= 0 && high >= 0 {
					stay[v][e] += length * k.norm(height, cells, 1<<v, e)
				}
			}
		}
	})
	total, amplified := carried, 1.0
	for v := range k.w {
		total += amplified * g.tail(&stay[v])
		amplified *= g.lebesgue
	}
	return (total + amplified*(g.tail(&goes)+terms)) * (1 + 0x1p-30), amplified * terms
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
			least = min(least, 4*x*math.Pow(ellipses[e], -float64(g.n)))
		}
	}
	return least
}

// locateCells finds the cells of the functions and the net exponents of their product, and returns
// its exponent at the centre.
func (k *worker) locateCells(r *region, slopes []float64, cells []int) float64 {
	height := 0.0
	for v, a := range r.exponent {
		height += a * k.g.centre(k.panel[v])
		k.net[v] = a
		if v < k.w {
			k.net[v] -= slopes[v]
		}
	}
	for i, f := range k.functions {
		cells[i] = k.cellOf(r, i)
		for at, slope := range f.cellSlopes(cells[i]) {
			k.net[k.places[i][at]] += slope
		}
	}
	return height
}

// norm bounds the norm of the product in the times of mask.
func (k *worker) norm(height float64, cells []int, mask, ellipse int) float64 {
	for v, a := range k.net {
		x := math.Abs(a) * k.g.half(k.panel[v])
		if mask>>v&1 == 1 {
			x *= ellipseFactor(ellipse)
		}
		height += x
	}
	return math.Exp(height) * k.polynomials(cells, mask, ellipse)
}

// path bounds the product with the time of v in an ellipse and the eliminated time on the segment
// to it from the start or the end of the panel. The logarithm of the exponentials is linear on the
// segment, so it is largest at an end.
func (k *worker) path(height float64, cells []int, v int, end bool, ellipse int) float64 {
	h := k.g.half(k.panel[v])
	own, goes := k.net[v]*h, k.net[k.w]*h
	for s, a := range k.net[:k.w] {
		if s != v {
			height += math.Abs(a) * k.g.half(k.panel[s])
		}
	}
	first := -goes
	if end {
		first = goes
	}
	height += max(math.Abs(own)*ellipseFactor(ellipse)+first, math.Abs(own+goes)*ellipseFactor(ellipse))
	return math.Exp(height) * k.polynomials(cells, 1<<v|1<<k.w, ellipse)
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
