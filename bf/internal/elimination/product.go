package elimination

import "slices"

// A side holds some of the servers that stay, and the eliminated server. No function depends on
// servers of both sides. The sum over the nodes of the eliminated server is a product of matrices:
// its axis is the last of the left tensor and the first of the right one.
type side struct {
	stay      []int // servers that stay
	axes      []int // including the eliminated one
	strides   []int // in the tensor
	functions []int
	own       [][]int // strides of each function
	free      bool    // no function depends on a server that stays
}

// setSides divides the servers that stay into two sides. The near side has the servers that one
// function depends on, or only the first server; it is on the right if its function needs no
// transposition there.
func (st *step) setSides() {
	near := min(1, st.w) // number of servers on that side
	for _, place := range st.places {
		near = max(near, len(place)-1)
	}
	right := 0
	for _, place := range st.places {
		if place[0] == st.w && len(place) == near+1 {
			right = 1
		}
	}
	for v := range st.w {
		s := &st.sides[right]
		if v >= near {
			s = &st.sides[1-right]
		}
		s.stay = append(s.stay, v)
	}
	st.carrier = 1 - right
	st.sides[0].axes = append(slices.Clone(st.sides[0].stay), st.w)
	st.sides[1].axes = append([]int{st.w}, st.sides[1].stay...)
	st.stack = append(slices.Clone(st.sides[0].stay), st.sides[1].stay...)
	for k := range st.sides {
		s := &st.sides[k]
		s.strides = stridesOf(st.g.n, s.axes, s.axes)
		for i, place := range st.places {
			isNear := slices.ContainsFunc(place, func(v int) bool { return v < near })
			if isNear == (k == right) {
				s.functions = append(s.functions, i)
				s.own = append(s.own, stridesOf(st.g.n, s.axes, place))
			}
		}
		s.free = !slices.ContainsFunc(s.functions, func(i int) bool { return len(st.places[i]) > 1 })
	}
	st.lean = st.sides[st.carrier].free
}

// stridesOf returns the stride along each of axes in a tensor with the axes of list, the last of
// which varies fastest.
func stridesOf(n int, axes, list []int) []int {
	strides := make([]int, len(axes))
	for i, v := range axes {
		if k := slices.Index(list, v); k >= 0 {
			strides[i] = power(n, len(list)-1-k)
		}
	}
	return strides
}

// add adds sign times the integral of the functions and of the own factors of the eliminated server
// over one of its panels. The weights depend on the node of server bound, unless bound is -1. Terms
// that are the same for all nodes of one side go to thin.
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

// addThin is add for a carrier side that is the same for all nodes of its servers.
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

// tensor returns the product of the functions of a side at all its nodes, with the weights if their
// server is on it and, on the side of the carrier, with the vector of the eliminated server.
func (k *worker) tensor(scratch []float64, r *region, number, bound int, weights []float64) []float64 {
	n, s := k.g.n, &k.sides[number]
	tensor := scratch[:power(n, len(s.axes))]
	weighted := bound >= 0 && slices.Contains(s.stay, bound)
	if len(s.functions) == 1 && slices.Equal(k.places[s.functions[0]], s.axes) {
		values := k.valuesOf(r, s.functions[0])
		if !weighted && number != k.carrier {
			return values
		}
		copy(tensor, values)
	} else {
		for i := range tensor {
			tensor[i] = 1
		}
		for j, i := range s.functions {
			multiply(tensor, n, s.strides, k.valuesOf(r, i), s.own[j])
		}
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

// cellOf returns the cell of a function that contains the servers.
func (k *worker) cellOf(r *region, at int) int {
	var panel [MaxWidth + 1]int
	for i, v := range k.places[at] {
		panel[i] = k.panel[v]
	}
	return k.functions[at].cell(r.orders[at], panel[:len(k.places[at])])
}

// multiply multiplies a tensor by another, each with its own strides along the axes.
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

// spread multiplies a sum, whose first axes are the servers of the left side, by the powers of the
// servers that stay, and adds it to the values of a cell.
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
	last := k.stack[k.w-1]
	powers, stride := r.powers[last][k.panel[last]*n:][:n], power(n, k.w-1-last)
	for x := range len(sum) / n {
		row, to, factor := sum[x*n:][:n], values, 1.0
		if k.w == 2 {
			other := k.stack[0]
			to, factor = values[x*power(n, 1-other):], r.powers[other][k.panel[other]*n+x]
		}
		for j, p := range powers {
			to[j*stride] += row[j] * (factor * p)
		}
	}
}
