package elimination

import (
	"context"
	"math"
	"slices"

	"productform/num"
)

// A step integrates a product of factors over the time of one server, for all nodes of the servers
// that stay. It numbers the servers: those that stay from 0 in increasing order, then the
// eliminated one.
type step struct {
	g         *mesh
	w         int // servers that stay
	out       *function
	functions []*function
	places    [][]int    // servers of each function
	regions   [][]region // by order of the servers that stay, and by the position of the eliminated one among them
	from      []int      // for each order, the first position of the eliminated one
	sides     [2]side
	carrier   int     // the side with the own factors of the eliminated server
	lean      bool    // no function of that side depends on a server that stays
	stack     []int   // servers that stay, those of the left side first
	roundoff  float64 // roundoff of a weighted and summed product at a node, without exponents: see powerRoundoff
	loose     bool    // bounds may count as defects
}

// A region is an order of all servers. Within it one fixed server attains the minimum time of each
// class, so the exponential of a class depends on one time.
type region struct {
	exponent []float64   // exponent of each server
	powers   [][]float64 // e^{exponent t} at all nodes
	orders   []int       // numbers of the orders in which functions have their servers
}

// integrate returns the integral of f over the time of server gone, one of the servers of f, from 0
// to the end or, if above is another server of f, from the time of above to the end. The bound is
// relative because the integral, over a convex set, is log-concave (Prekopa): its smallest value in
// a cell is at a corner. With above the integral may vanish; there the bound in a cell counts as a
// defect, in addition to err for the incoming error. Each worker has its own scratch; the result
// does not depend on their number.
func integrate(
	ctx context.Context, g *mesh, p *Problem, f factors, gone, above int, scratches []*scratch,
) (*function, error) {
	st := newStep(g, p, f, gone, above)
	if len(st.out.cells)*st.out.size*g.n < 1<<14 { // not worth another worker
		scratches = scratches[:1]
	}
	workers := make([]*worker, len(scratches))
	for i, r := range scratches {
		workers[i] = &worker{
			step:    st,
			scratch: r,
			flaws:   newFlaws(g.panels()),
			panel:   make([]int, st.w+1),
			net:     make([]float64, st.w+1),
			at:      make([]int, len(st.functions)),
		}
	}
	err := share(ctx, len(scratches), len(st.out.cells), func(worker, cell int) {
		k := workers[worker]
		k.own = max(k.own, k.cell(cell))
	})
	if err != nil {
		return nil, err
	}
	own := 0.0
	for _, k := range workers {
		own = max(own, k.own)
		g.join(&k.flaws)
	}
	scale := 1.0
	for _, s := range f.servers {
		scale *= p.Capacities[s]
	}
	st.out.normalize(scale)
	st.out.err += own + float64(len(f.servers)+1)*u
	if !st.loose {
		st.out.defect = nil
	}
	return st.out, nil
}

func newStep(g *mesh, p *Problem, f factors, gone, above int) *step {
	stay := slices.DeleteFunc(f.scope(p), func(s int) bool { return s == gone })
	number := make(map[int]int)
	for k, s := range append(slices.Clone(stay), gone) {
		number[s] = k
	}
	place := func(servers []int) []int {
		list := make([]int, len(servers))
		for k, s := range servers {
			list[k] = number[s]
		}
		return list
	}
	st := &step{g: g, w: len(stay), out: newFunction(stay, g), functions: f.functions, loose: above >= 0}
	for _, k := range f.functions {
		st.places = append(st.places, place(k.servers))
		st.out.err += k.err
		st.loose = st.loose || k.defect != nil
		st.out.exponent += k.exponent
	}
	st.setSides()
	capacity, rates := make([]float64, st.w+1), []float64{}
	for _, s := range f.servers {
		capacity[number[s]] = p.Capacities[s]
	}
	var classes [][]int
	for _, i := range f.classes {
		classes = append(classes, place(p.Classes[i].Servers))
		rates = append(rates, p.Classes[i].Rate)
	}
	st.roundoff = float64(g.panels()*(g.n/4+4)+len(f.functions)+150) * u
	for _, order := range st.out.orders {
		from := 0
		if above >= 0 {
			from = slices.Index(order, number[above]) + 1
		}
		st.from = append(st.from, from)
		var list []region
		for j := range st.w + 1 {
			list = append(list, st.newRegion(slices.Insert(slices.Clone(order), j, st.w), capacity, rates, classes))
		}
		st.regions = append(st.regions, list)
	}
	return st
}

func (st *step) newRegion(order []int, capacity, rates []float64, classes [][]int) region {
	r, sums := region{exponent: make([]float64, st.w+1)}, make([]num.Sum, st.w+1)
	for i, servers := range classes {
		least := slices.IndexFunc(order, func(v int) bool { return slices.Contains(servers, v) })
		sums[order[least]].Add(rates[i])
	}
	for v, c := range capacity {
		sums[v].Add(-c)
		a := rateOf(sums[v])
		r.exponent[v] = a.value
		powers := make([]float64, len(st.g.points))
		for i := range powers {
			powers[i] = st.g.power(a, i)
		}
		r.powers = append(r.powers, powers)
	}
	for _, place := range st.places {
		r.orders = append(r.orders, orderIn(order, place))
	}
	return r
}

// A worker computes the cells of a step, one at a time.
type worker struct {
	*step
	*scratch
	flaws
	own    float64   // largest bound on |log(kept/meant)| in a cell
	number int       // number of the order
	panel  []int     // panels of all servers
	net    []float64 // exponents
	at     []int     // one entry per function

	spans     []span            // see remainder
	spanCells []int             // cells of the functions in the spans
	ellipse   [MaxWidth + 1]int // for each server, the number of the best ρ > 1 in the previous cell
}

// cell integrates for the nodes of a cell, and returns a bound on |log(kept/meant)|.
func (k *worker) cell(cell int) float64 {
	k.number = k.out.cells[cell].order
	order, stay := k.out.orders[k.number], k.panel[:k.w]
	copy(stay, k.out.cells[cell].panel)
	values, sum := k.out.cellValues(cell), k.sum[:k.out.size]
	thin := k.thin[:power(k.g.n, len(k.sides[1-k.carrier].stay))]
	clear(sum)
	clear(thin)
	var last *region
	k.parts(func(r *region, low, high int) {
		if last != nil && last != r {
			k.spread(sum, thin, values, last)
			clear(sum)
			clear(thin)
		}
		last = r
		switch {
		case low < 0 && high < 0:
			k.add(sum, thin, r, -1, k.g.weight, 1)
		case high < 0:
			k.add(sum, thin, r, low, k.g.after, 1)
		case low < 0:
			k.add(sum, thin, r, high, k.g.before, 1)
		default:
			k.add(sum, thin, r, high, k.g.before, 1)
			k.add(sum, thin, r, low, k.g.before, -1)
		}
	})
	k.spread(sum, thin, values, last)
	if k.g.rough {
		return 0
	}
	least := k.out.measure(k.g, order, cell, stay, k.scratch)
	bad, noise := k.remainder(k.out.cellSlopes(cell))
	noise += k.out.defect[cell]
	bad += k.out.defect[cell]
	defect := math.Inf(1)
	if least = math.Exp(-2*k.out.err) * (least - bad); least > bad && least > lost {
		defect = -math.Log1p(-bad/least) * (1 + 0x1p-40)
	}
	coarse := k.coarse
	k.out.defect[cell] = 0
	own := defect
	if defect < 1 && !k.loose {
		k.noise = max(k.noise, noise/least)
	}
	if k.loose && defect > k.g.most {
		coarse, own, k.out.defect[cell] = k.coarseSmall, 0, bad+lost
	}
	for _, panel := range stay {
		coarse[panel] = max(coarse[panel], defect)
	}
	return own
}

// parts calls do for each panel of the eliminated server, once per region that it meets there. In
// each call the eliminated time runs from the start of the panel, or the time of server low in it,
// to the end of the panel or the time of server high.
func (k *worker) parts(do func(r *region, low, high int)) {
	order := k.out.orders[k.number]
	for j := k.from[k.number]; j <= k.w; j++ {
		first, last := 0, k.g.panels()-1
		if j > 0 {
			first = k.panel[order[j-1]]
		}
		if j < k.w {
			last = k.panel[order[j]]
		}
		for panel := first; panel <= last; panel++ {
			k.panel[k.w] = panel
			low, high := -1, -1
			if j > 0 && panel == first {
				low = order[j-1]
			}
			if j < k.w && panel == last {
				high = order[j]
			}
			do(&k.regions[k.number][j], low, high)
		}
	}
}
