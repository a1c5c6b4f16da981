package elimination

import "math"

// negligible is the size of a coefficient, relative to the largest value, below which it is
// dropped: such coefficients are rounding noise that large ellipses would amplify.
const negligible = 0x1p-47

// A scratch holds the buffers of one worker.
type scratch struct {
	scaled, polynomial, kept, other []float64
	left, right, sum, thin, vector  []float64
	levels                          [MaxWidth][]float64
	growth                          [][radii]float64 // (ρ^k + ρ^-k)/2, by k
}

func newScratch(g *mesh, w int) *scratch {
	size := power(g.n, w)
	r := &scratch{}
	for _, list := range []*[]float64{&r.scaled, &r.polynomial, &r.kept, &r.other, &r.sum, &r.thin} {
		*list = make([]float64, size)
	}
	r.vector = make([]float64, g.n)
	r.left, r.right = make([]float64, size*g.n), make([]float64, size*g.n)
	for v := range r.levels {
		r.levels[v] = make([]float64, radii*power(g.n, v))
	}
	r.growth = make([][radii]float64, g.n)
	for i := range radii {
		a, b := 1.0, ellipseFactor(i)
		for k := range r.growth {
			r.growth[k][i] = a * (1 + 0x1p-40)
			a, b = b, 2*ellipseFactor(i)*b-a
		}
	}
	return r
}

// measure chooses slopes for the values of a cell, finds the polynomial and its norms, and replaces
// the values by those of the polynomial, which differ by less than the defect. It returns a lower
// bound on the smallest value of the polynomial at the corners.
func (f *function) measure(g *mesh, order []int, cell int, panel []int, r *scratch) float64 {
	w := len(f.servers)
	values, slopes := f.cellValues(cell), f.cellSlopes(cell)
	steep := 0.0
	for v := range w {
		slopes[v] = g.slope(values, order, panel, v)
		steep += math.Abs(slopes[v]) * g.half(panel[v])
	}
	scaled, kept, other, polynomial := r.scaled[:f.size], r.kept[:f.size], r.other[:f.size], r.polynomial[:f.size]
	copy(scaled, values)
	g.tilt(scaled, slopes, panel, -1, r.vector)
	g.analysis.transform(g.multiplyAdd, g.n, w, scaled, polynomial, other)
	largest, total := 0.0, 0.0
	for _, v := range scaled {
		largest = max(largest, math.Abs(v))
	}
	for x, a := range polynomial {
		if a = math.Abs(a); a <= negligible*largest {
			polynomial[x] = 0
		} else {
			total += a
		}
	}
	g.synthesis.transform(g.multiplyAdd, g.n, w, polynomial, kept, other)
	off := 0.0
	for x, v := range kept {
		off = max(off, math.Abs(v-scaled[x]))
	}
	copy(values, kept)
	g.tilt(values, slopes, panel, 1, r.vector)
	noise := (float64(w*(g.n/4+12)) + 8*steep) * u * total
	f.fuzz[cell] = noise
	f.defect[cell] = math.Pow(g.lebesgue, float64(w)) * (off + 2*noise)
	f.contract(cell, w-1, 0, 0, polynomial, r)
	return f.cornerMinimum(g, order, panel, polynomial, r) - float64(w*g.n+4)*u*total
}

// slope returns the slope of the logarithm along axis v, or 0: between nodes not far from the ends
// of the panel, where integrals may vanish, or from the adjacent times in order if these are also
// in the panel. The other times are at nodes in their order.
func (g *mesh) slope(values []float64, order, panel []int, v int) float64 {
	at, stride := 0, power(g.n, len(order)-1-v)
	low, high := g.n/5, g.n-1-g.n/5
	if len(order) == 2 {
		other, node := 1-v, g.n/2
		if panel[0] == panel[1] {
			before, after := g.n/3, 2*g.n/3
			if v == order[0] {
				node, high = after, after
			} else {
				node, low = before, before
			}
		}
		at = node * power(g.n, 1-other)
	}
	from, to := values[at+low*stride], values[at+high*stride]
	if !(from > 0 && to > 0 && from < math.MaxFloat64 && to < math.MaxFloat64) {
		return 0
	}
	return math.Log(to/from) / (g.half(panel[v]) * (g.node[high] - g.node[low]))
}

// tilt multiplies values by e^{±slopes·(t-c)}. It overwrites powers, one for each node.
func (g *mesh) tilt(values, slopes []float64, panel []int, sign float64, powers []float64) {
	w := len(slopes)
	for v, slope := range slopes {
		rest := power(g.n, w-1-v)
		for i, x := range g.node {
			powers[i] = math.Exp(sign * slope * g.half(panel[v]) * x)
		}
		for block := 0; block < len(values); block += g.n * rest {
			for i, e := range powers {
				row := values[block+i*rest:][:rest]
				for k := range row {
					row[k] *= e
				}
			}
		}
	}
}

// contract sets the norms of a cell from a tensor in the times 0..v; later times are already
// summed, those of mask with the weights of ellipse e.
func (f *function) contract(cell, v, mask, e int, tensor []float64, r *scratch) {
	if v < 0 {
		norms := f.norms[(cell<<len(f.servers)+mask)*radii:][:radii]
		norms[e] = math.Abs(tensor[0]) * (1 + 0x1p-40)
		return
	}
	n := len(r.growth)
	count := len(tensor) / n
	rests := r.levels[v][:radii*count]
	for x := range count {
		for next, sum := range weigh(tensor[x*n:][:n], r.growth) {
			rests[next*count+x] = sum
		}
	}
	for next := range radii {
		own := mask | 1<<v
		if next == 0 {
			own = mask
		} else if mask != 0 && next != e {
			continue
		}
		f.contract(cell, v-1, own, max(e, next), rests[next*count:][:count], r)
	}
	if v == len(f.servers)-1 { // the ellipse with ρ = 1 is the panel
		for mask := 1; mask < 1<<len(f.servers); mask++ {
			f.norms[(cell<<len(f.servers)+mask)*radii] = f.norms[cell<<len(f.servers)*radii]
		}
	}
}

// weigh returns the sums of the sizes of coefficients with the weights of each ellipse.
func weigh(row []float64, growth [][radii]float64) [radii]float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64 // independent sums overlap
	for k, a := range row {
		a, g := math.Abs(a), &growth[k]
		s0 += a * g[0]
		s1 += a * g[1]
		s2 += a * g[2]
		s3 += a * g[3]
		s4 += a * g[4]
		s5 += a * g[5]
		s6 += a * g[6]
		s7 += a * g[7]
	}
	return [radii]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

// cornerMinimum returns the smallest value of a polynomial at the corners of its cell. Along each
// axis T_k(-1) = (-1)^k and T_k(1) = 1. In a cell with two servers in one panel the first is not at
// the end unless the second is.
func (f *function) cornerMinimum(g *mesh, order, panel []int, polynomial []float64, r *scratch) float64 {
	least, w := math.Inf(1), len(f.servers)
	for corner := range 1 << w {
		if !(w == 2 && panel[0] == panel[1] && corner == 1<<order[0]) {
			least = min(least, g.cornerValue(corner, w-1, polynomial, r))
		}
	}
	return least
}

func (g *mesh) cornerValue(corner, v int, polynomial []float64, r *scratch) float64 {
	for ; v >= 0; v-- {
		rest := r.levels[v][:len(polynomial)/g.n]
		for x := range rest {
			even, odd := 0.0, 0.0
			row := polynomial[x*g.n : x*g.n+g.n]
			for k := 0; k+1 < len(row); k += 2 {
				even += row[k]
				odd += row[k+1]
			}
			if len(row)%2 == 1 {
				even += row[len(row)-1]
			}
			if corner>>v&1 == 0 {
				odd = -odd
			}
			rest[x] = even + odd
		}
		polynomial = rest
	}
	return polynomial[0]
}
