package elimination

import (
	"context"
	"slices"
)

// A side is some of the servers that stay, with the server that goes. No function joins the two sides otherwise. The tensor of the left side has the server that goes as
// its last axis, that of the right side as its first, so that the sum over its nodes is a product of matrices.
type side struct {
	stay      []int   // servers that stay
	axes      []int   // with the one that goes
	orders    [][]int // of the axes
	strides   []int   // in the tensor
	functions []int
	own       [][]int // strides of each function
	free      bool    // no function knows a server that stays

	cells   *layout   // of the axes, if there is a product
	product []float64 // the functions at all nodes, in a tensor a cell
}

// setSides parts the servers that stay: those that functions join to each other are on one side, the largest such group alone on that where its
// function needs no transposition.
func (st *step) setSides() {
	group := make([]int, st.w)
	for v := range group {
		group[v] = v
	}
	for _, place := range st.places {
		joined := -1
		for _, v := range place {
			if v == st.w {
				continue
			}
			if joined < 0 {
				joined = group[v]
			}
			old := group[v]
			for k := range group {
				if group[k] == old {
					group[k] = joined
				}
			}
		}
	}
	var large, rest []int
	for first := range st.w {
		var list []int
		for v := range group {
			if group[v] == first {
				list = append(list, v)
			}
		}
		if len(list) > len(large) {
			large = list
		}
	}
	for v := range st.w {
		if !slices.Contains(large, v) {
			rest = append(rest, v)
		}
	}
	right := 0
	for _, place := range st.places {
		if place[0] == st.w && len(place) == len(large)+1 {
			right = 1
		}
	}
	st.sides[right].stay, st.sides[1-right].stay = large, rest
	st.carrier = 1 - right
	st.sides[0].axes = append(slices.Clone(st.sides[0].stay), st.w)
	st.sides[1].axes = append([]int{st.w}, st.sides[1].stay...)
	st.stack = append(slices.Clone(st.sides[0].stay), st.sides[1].stay...)
	for k := range st.sides {
		s := &st.sides[k]
		s.orders, s.strides = orders(len(s.axes)), stridesOf(st.g.n, s.axes, s.axes)
		for i, place := range st.places {
			onLarge := slices.ContainsFunc(place, func(v int) bool { return slices.Contains(large, v) })
			if onLarge == (k == right) {
				s.functions = append(s.functions, i)
				s.own = append(s.own, stridesOf(st.g.n, s.axes, place))
			}
		}
		s.free = !slices.ContainsFunc(s.functions, func(i int) bool { return len(st.places[i]) > 1 })
	}
	st.lean = st.sides[st.carrier].free
}

// stridesOf returns the distance of neighbours along each of the axes, in a tensor of the axes of list, the last of which varies fastest.
func stridesOf(n int, axes, list []int) []int {
	strides := make([]int, len(axes))
	for i, v := range axes {
		if k := slices.Index(list, v); k >= 0 {
			strides[i] = power(n, len(list)-1-k)
		}
	}
	return strides
}

// add adds sign times the integral of the functions, and of what is the server's that goes, over a panel of it, with weights that depend on the node of server bound
// unless that is -1. What is the same for all nodes of the servers of one side goes to thin.
func (k *worker) add(sum, thin []float64, r *region, bound int, weights []float64, sign float64) {
	n := k.g.n
	vector := k.vector[:n]
	scale := sign * k.g.half(k.panel[k.w])
	for i, p := range r.powers[k.w][k.panel[k.w]*n:][:n] {
		vector[i] = scale * p
		if bound < 0 {
			vector[i] *= weights[i]
		}
	}
	if k.lean && !slices.Contains(k.sides[k.carrier].stay, bound) {
		k.addThin(thin, r, bound, weights)
		return
	}
	left, right := k.tensor(k.left, r, 0, bound, weights), k.tensor(k.right, r, 1, bound, weights)
	k.g.multiplyAdd(sum, left, right, len(left)/n, n, len(right)/n)
}

// addThin is add where the side of the carrier is the same for all nodes of its servers.
func (k *worker) addThin(thin []float64, r *region, bound int, weights []float64) {
	n := k.g.n
	for _, i := range k.sides[k.carrier].functions {
		for j, v := range k.valuesOf(r, i) {
			k.vector[j] *= v
		}
	}
	if k.carrier == 0 {
		right := k.tensor(k.right, r, 1, bound, weights)
		k.g.multiplyAdd(thin, k.vector, right, 1, n, len(right)/n)
	} else {
		left := k.tensor(k.left, r, 0, bound, weights)
		for x := range thin {
			thin[x] += dot(left[x*n:][:n], k.vector)
		}
	}
}

// multiplyFunctions puts the product of the functions of a side in a table of its cells, unless that has more axes than what is computed has times, and more than two. A function alone may be its own.
func (st *step) multiplyFunctions(ctx context.Context, s *side, rooms []*room) error {
	alone := len(s.functions) == 1 && slices.Equal(st.places[s.functions[0]], s.axes)
	if len(s.functions) == 0 || len(s.axes) > MaxWidth || !alone && len(s.axes) > max(2, st.w) {
		return nil
	}
	s.cells = st.g.layout(len(s.axes))
	if alone {
		s.product = st.functions[s.functions[0]].values
		return nil
	}
	size := power(st.g.n, len(s.axes))
	s.product = make([]float64, len(s.cells.cells)*size)
	return share(ctx, len(rooms), len(s.cells.cells), func(_, cell int) {
		c := s.cells.cells[cell]
		st.fill(s.product[cell*size:][:size], s, s.orders[c.order], func(axis int) int { return c.panel[axis] })
	})
}

// fill sets a tensor to the product of the functions of a side, where its axes are in some order and panels.
func (st *step) fill(tensor []float64, s *side, order []int, panel func(axis int) int) {
	for i := range tensor {
		tensor[i] = 1
	}
	for j, i := range s.functions {
		f, place := st.functions[i], st.places[i]
		var own, panels [MaxWidth + 1]int
		count := 0
		for _, axis := range order {
			if at := slices.Index(place, s.axes[axis]); at >= 0 {
				own[count], panels[at] = at, panel(axis)
				count++
			}
		}
		multiply(tensor, st.g.n, s.strides, f.cellValues(f.cell(orderNumber(own[:count]), panels[:count])), s.own[j])
	}
}

// tensor returns the product of the functions of a side at all its nodes, with the weights if their server is there, and with the vector of the
// server that goes on one side.
func (k *worker) tensor(room []float64, r *region, number, bound int, weights []float64) []float64 {
	n, s := k.g.n, &k.sides[number]
	tensor := room[:power(n, len(s.axes))]
	weighted := bound >= 0 && slices.Contains(s.stay, bound)
	if s.product == nil {
		k.fill(tensor, s, s.orders[r.sides[number]], func(axis int) int { return k.panel[s.axes[axis]] })
	} else {
		var panel [MaxWidth]int
		for axis, v := range s.axes {
			panel[axis] = k.panel[v]
		}
		product := s.product[s.cells.cell(r.sides[number], panel[:len(s.axes)])*len(tensor):][:len(tensor)]
		if !weighted && number != k.carrier {
			return product
		}
		copy(tensor, product)
	}
	var strides [MaxWidth + 1]int
	for i, v := range s.axes {
		if v == k.w {
			strides[i] = 1
		}
	}
	if number == k.carrier {
		multiply(tensor, n, s.strides, k.vector, strides[:len(s.axes)])
	}
	if weighted {
		strides[slices.Index(s.axes, bound)] = n
		multiply(tensor, n, s.strides, weights, strides[:len(s.axes)])
	}
	return tensor
}

func (k *worker) valuesOf(r *region, at int) []float64 {
	return k.functions[at].cellValues(k.cellOf(r, at))
}

// cellOf returns the cell of a function in which the servers are.
func (k *worker) cellOf(r *region, at int) int {
	var panel [MaxWidth + 1]int
	for i, v := range k.places[at] {
		panel[i] = k.panel[v]
	}
	return k.functions[at].cell(r.orders[at], panel[:len(k.places[at])])
}

// multiply multiplies a tensor by another, each with strides of its own along the axes.
func multiply(tensor []float64, n int, strides []int, by []float64, own []int) {
	a, b := strides[0], own[0]
	switch {
	case len(strides) > 1:
		for i := range n {
			multiply(tensor[i*a:], n, strides[1:], by[i*b:], own[1:])
		}
	case b == 0:
		f := by[0]
		for i := range tensor[:n] {
			tensor[i] *= f
		}
	case b == 1:
		by = by[:n]
		for i := range tensor[:n] {
			tensor[i] *= by[i]
		}
	default:
		for i := range tensor[:n] {
			tensor[i] *= by[i*b]
		}
	}
}

// spread adds a sum, which has the servers of the left side first, times the powers of the servers that stay, to the values of a cell.
func (k *worker) spread(sum, thin, values []float64, r *region) {
	n := k.g.n
	if rest := len(sum) / len(thin); k.carrier == 0 {
		for block := 0; block < len(sum); block += len(thin) {
			for y, v := range thin {
				sum[block+y] += v
			}
		}
	} else {
		for x, v := range thin {
			row := sum[x*rest:][:rest]
			for y := range row {
				row[y] += v
			}
		}
	}
	if k.w == 0 {
		values[0] += sum[0]
		return
	}
	var powers [MaxWidth][]float64
	var strides [MaxWidth]int
	for i, v := range k.stack {
		powers[i], strides[i] = r.powers[v][k.panel[v]*n:][:n], power(n, k.w-1-v)
	}
	last := k.w - 1
	for x := 0; x < len(sum); x += n {
		at, factor, rest := 0, 1.0, x/n
		for i := last - 1; i >= 0; i-- {
			at += rest % n * strides[i]
			factor *= powers[i][rest%n]
			rest /= n
		}
		row, to, stride := sum[x:][:n], values[at:], strides[last]
		for j, p := range powers[last] {
			to[j*stride] += row[j] * (factor * p)
		}
	}
}
