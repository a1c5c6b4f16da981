package elimination

import (
	"math"
	"slices"
)

// A function of the times of w servers is kept in cells: an order of the servers, and for each a
// panel that agrees with the order. In a cell it is e^{a·(t-c)} times a polynomial of degree below
// n in each time, with slopes a and the centre c of the panels. In a cell with two servers in one
// panel only the ordered part counts; the polynomial extends beyond it and is used there.
type function struct {
	servers []int // increasing
	*layout
	size     int       // n^w
	values   []float64 // values of a cell at the nodes; the last server varies fastest
	slopes   []float64 // w per cell
	norms    []float64 // per cell; see norm
	fuzz     []float64 // per cell, at least |values - kept| e^{-a·(t-c)}
	defect   []float64 // per cell, at least |meant - kept| e^{-a·(t-c)}; nil if all are 0
	err      float64   // |log(true/meant)|
	exponent int       // the function is 2^exponent times the kept values
	hat      *function // the weighted function, if requested and not 0
}

// ellipses are the ρ of the norms of functions. With f = Σ_k f_k T_k(x), |f|_ρ = Σ_k |f_k| (ρ^k +
// ρ^-k)/2: the absolute sum of the Laurent coefficients of f((z+1/z)/2), each times ρ to its power.
// Hence
//
//	|fg|_ρ <= |f|_ρ |g|_ρ,  |e^{cx}|_ρ = e^{|c|(ρ+1/ρ)/2},  sup |f| <= |f|_1 <= |f|_ρ,
//	|f - If| <= 2 Σ_{k>=n} |f_k| <= 4 ρ^-n |f|_ρ  (If is f at n nodes),  |∫_{-1}^x f|_ρ <= (1+ρ) |f|_ρ.
//
// The last inequality follows for each T_k from the formula in setWeights.
var ellipses = [...]float64{1, 2, 3, 4, 6, 8, 11, 16}

const radii = len(ellipses)

// ellipseFactor returns (ρ+1/ρ)/2.
func ellipseFactor(r int) float64 { return (ellipses[r] + 1/ellipses[r]) / 2 }

// A layout numbers the cells of functions of w servers.
type layout struct {
	panels int
	orders [][]int
	block  [][]int32 // number of the cell, by order and Σ_v panel_v panels^v; -1 if panels and order disagree
	cells  []cell
}

// A cell is an order of servers, given by its number, and a panel for each server.
type cell struct {
	order int
	panel []int
}

// layout returns the layout of functions of w servers; it is not safe for concurrent use.
func (g *mesh) layout(w int) *layout {
	if l := g.layouts[w]; l != nil {
		return l
	}
	l := &layout{panels: g.panels(), orders: orders(w)}
	g.layouts[w] = l
	for number, order := range l.orders {
		row := make([]int32, power(l.panels, w))
		for k := range row {
			panel, rest := make([]int, w), k
			for v := range w {
				panel[v], rest = rest%l.panels, rest/l.panels
			}
			row[k] = -1
			if slices.IsSortedFunc(order, func(a, b int) int { return panel[a] - panel[b] }) {
				row[k] = int32(len(l.cells))
				l.cells = append(l.cells, cell{number, panel})
			}
		}
		l.block = append(l.block, row)
	}
	return l
}

// cell returns the number of the cell with the given order and panels.
func (l *layout) cell(order int, panel []int) int {
	at := 0
	for v := len(panel) - 1; v >= 0; v-- {
		at = at*l.panels + panel[v]
	}
	return int(l.block[order][at])
}

func newFunction(servers []int, g *mesh) *function {
	w := len(servers)
	f := &function{servers: servers, layout: g.layout(w), size: power(g.n, w)}
	cells := len(f.cells)
	f.values = make([]float64, cells*f.size)
	f.slopes = make([]float64, cells*w)
	f.norms = make([]float64, cells*radii<<w)
	f.fuzz, f.defect = make([]float64, cells), make([]float64, cells)
	return f
}

func (f *function) cellValues(cell int) []float64 { return f.values[cell*f.size:][:f.size] }
func (f *function) cellSlopes(cell int) []float64 {
	return f.slopes[cell*len(f.servers):][:len(f.servers)]
}

// norm returns an upper bound on Σ |a_k| Π_{v in mask} (ρ^k_v + ρ^-k_v)/2 over the coefficients of
// the polynomial of a cell. It bounds the norm in the times of mask for all values of the other
// times.
func (f *function) norm(cell, mask, r int) float64 {
	if mask == 0 {
		r = 0
	}
	return f.norms[(cell<<len(f.servers)+mask)*radii+r]
}

// addDefect updates off, the relative defect of a product, for one more factor f. If functions with
// norms N_i have defects d_i, the true product differs from the kept one by at most Π (N_i+d_i) - Π
// N_i = off Π N_i, with 1 + off = Π (1 + d_i/N_i).
func (f *function) addDefect(off float64, cell int) float64 {
	if f.defect == nil {
		return off
	}
	x := f.defect[cell] / f.norm(cell, 0, 0)
	return off + x + off*x
}

// normalize multiplies by scale and moves a power of two to the exponent.
func (f *function) normalize(scale float64) {
	largest := 0.0
	for _, v := range f.values {
		largest = max(largest, math.Abs(v))
	}
	_, e := math.Frexp(largest)
	f.exponent += e
	down := math.Ldexp(1, -e/2) // in two steps, as the whole power may be out of range
	rest := math.Ldexp(1, -e-(-e/2))
	for _, list := range [][]float64{f.values, f.norms, f.fuzz, f.defect} {
		for i, x := range list {
			list[i] = scale * x * down * rest
		}
	}
	for i, x := range f.norms {
		f.norms[i] = max(x, lost) // other norms are divided by it
	}
}

// orders lists the permutations of 0..w-1 in lexicographic order; each names the servers by
// increasing time.
func orders(w int) [][]int {
	all := [][]int{{}}
	for range w {
		var longer [][]int
		for _, prefix := range all {
			for v := range w {
				if !slices.Contains(prefix, v) {
					longer = append(longer, append(slices.Clone(prefix), v))
				}
			}
		}
		all = longer
	}
	return all
}

// orderNumber returns the index of a permutation in orders.
func orderNumber(order []int) int {
	number := 0
	for i, v := range order {
		less := 0
		for _, u := range order[i+1:] {
			if u < v {
				less++
			}
		}
		number = number*(len(order)-i) + less
	}
	return number
}

// orderIn returns the number of the order that an order of all servers induces on those of list.
func orderIn(order, list []int) int {
	var own []int
	for _, v := range order {
		if k := slices.Index(list, v); k >= 0 {
			own = append(own, k)
		}
	}
	return orderNumber(own)
}
