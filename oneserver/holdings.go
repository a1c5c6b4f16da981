package oneserver

import (
	"context"

	"productform/num"
)

// A holding lists the states in which a class may have to wait: the same positions of some rows of
// the grid. For a class that does not use whole groups it has numbers for each of these states.
type holding struct {
	rows     []int32     // first states of the rows
	position []int32     // positions in each row
	share    []float64   // q(k); nil if all are 1
	each     [][]float64 // q(k) d_g/k_g of each choice, the share of one busy server of the group
}

// holdings returns the states in which each class may wait.
func (s *states) holdings(ctx context.Context) ([]holding, error) {
	list := make([]holding, len(s.classes))
	least := make([][]int, len(s.classes)) // numbers of servers drawn
	for i, c := range s.classes {
		least[i] = make([]int, len(s.groups))
		for _, choice := range c.choices {
			least[i][choice.group] = choice.servers
		}
		list[i].position = s.grid.positions(least[i])
	}
	x := make([]int, len(s.groups))
	for from := 0; from < s.States; from += s.grid.size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range list {
			if s.grid.isRowAbove(x, least[i]) {
				list[i].rows = append(list[i].rows, int32(from))
			}
		}
		s.grid.move(x, 1)
	}
	for i := range list {
		if err := s.addShares(ctx, i, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// addShares adds the numbers of a class that does not use whole groups.
func (s *states) addShares(ctx context.Context, i int, h *holding) error {
	choices := s.classes[i].choices
	h.each = make([][]float64, len(choices))
	isWhole, isConstant := true, true // q in a row
	for _, c := range choices {
		isWhole = isWhole && c.servers == s.Limits[c.group]
		isConstant = isConstant && c.group >= s.grid.low
	}
	if isWhole {
		return nil
	}
	q := 0.0
	for _, from := range h.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		for n, l := range h.position {
			x := s.Point(int(from + l))
			if n == 0 || !isConstant {
				q, _ = s.fraction(i, x).Float64()
			}
			h.share = append(h.share, q)
			for k, c := range choices {
				h.each[k] = append(h.each[k], q*float64(c.servers)/float64(x[c.group]))
			}
		}
	}
	return nil
}

// first returns the first state in which the class may wait.
func (h *holding) first() int { return int(h.rows[0] + h.position[0]) }

// numbersOf returns the numbers of a list that belong to the n-th row, nil for no list.
func (h *holding) numbersOf(list []float64, n int) []float64 {
	if list == nil {
		return nil
	}
	return list[n*len(h.position):][:len(h.position)]
}

// visit calls do for the states in increasing order, each with its number in a list; without a list
// these are 1.
func (h *holding) visit(list []float64, do func(at int, x float64)) {
	for n, from := range h.rows {
		row := h.numbersOf(list, n)
		for k, l := range h.position {
			x := 1.0
			if row != nil {
				x = row[k]
			}
			do(int(from+l), x)
		}
	}
}

// dot returns Σ_k w(k) a(k) over the states, with one w for each.
func (h *holding) dot(w, a []float64) float64 {
	var total num.Sum
	for n, from := range h.rows {
		row, w := a[from:], h.numbersOf(w, n)
		for position := h.position; len(position) > 0; {
			size := min(len(position), dotBlock)
			sum := 0.0
			for k, l := range position[:size] {
				sum += float64(w[k] * row[l])
			}
			total.Add(sum)
			position, w = position[size:], w[size:]
		}
	}
	return total.Value()
}

// A sum of products takes at most dotRoundings roundings, as dotBlock terms at a time are added to
// a [num.Sum].
const (
	dotBlock     = 256
	dotRoundings = dotBlock + 16
)

// addDots adds Σ_l w(l) a(l) b(l-shift) over some positions of a row to a sum; without w it is 1.
func addDots(total *num.Sum, w []float64, position []int32, a, b []float64, shift int) {
	for len(position) > 0 {
		size := min(len(position), dotBlock)
		if w == nil {
			total.Add(dots(position[:size], a, b, shift))
		} else {
			total.Add(weightedDots(w[:size], position, a, b, shift))
			w = w[size:]
		}
		position = position[size:]
	}
}

// dots returns Σ_l a(l) b(l-shift).
func dots(position []int32, a, b []float64, shift int) float64 {
	var s0, s1, s2, s3 float64
	for ; len(position) >= 4; position = position[4:] {
		k, l, m, n := int(position[0]), int(position[1]), int(position[2]), int(position[3])
		s0 += float64(a[k] * b[k-shift])
		s1 += float64(a[l] * b[l-shift])
		s2 += float64(a[m] * b[m-shift])
		s3 += float64(a[n] * b[n-shift])
	}
	for _, l := range position {
		s0 += float64(a[l] * b[int(l)-shift])
	}
	return (s0 + s1) + (s2 + s3)
}

// weightedDots returns Σ_l w(l) a(l) b(l-shift) over the first len(w) positions.
func weightedDots(w []float64, position []int32, a, b []float64, shift int) float64 {
	sum := 0.0
	for k, l := range position[:len(w)] {
		sum += float64(w[k] * float64(a[l]*b[int(l)-shift]))
	}
	return sum
}

// addSums adds Σ_l w(l) a(l) over some positions of a row to a sum; without w it is 1.
func addSums(total *num.Sum, w []float64, position []int32, a []float64) {
	for len(position) > 0 {
		size := min(len(position), dotBlock)
		sum := 0.0
		if w == nil {
			for _, l := range position[:size] {
				sum += a[l]
			}
		} else {
			for k, l := range position[:size] {
				sum += float64(w[k] * a[l])
			}
			w = w[size:]
		}
		total.Add(sum)
		position = position[size:]
	}
}
