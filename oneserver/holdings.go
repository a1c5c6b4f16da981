package oneserver

import (
	"context"
	"math/bits"

	"productform/num"
)

// A holding lists the states in which a class may have to wait: the same positions of some rows of
// the grid. For a class that does not use whole groups it has numbers for each of these states.
type holding struct {
	rows     []int32 // first states of the rows
	position []int32 // positions in each row
	isWhole  bool
	ways     int64       // number of draws, 0 if it is 2^53 or more
	low      []int64     // at each position, draws among the busy servers of the groups of the row; nil without ways
	share    []float64   // q(k); nil if all are 1
	drawn    []float64   // servers that each choice draws
	busy     [][]float64 // k_g of each choice at each position; nil if it is constant in a row
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
		s.addWays(i, &list[i])
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
	return list, s.grid.inParallel(len(list), func(i int) error { return s.addShares(ctx, i, &list[i]) })
}

// addWays counts the draws of a class.
func (s *states) addWays(i int, h *holding) {
	choices := s.classes[i].choices
	h.isWhole, h.ways, h.busy = true, 1, make([][]float64, len(choices))
	for k, c := range choices {
		h.isWhole = h.isWhole && c.servers == s.Limits[c.group]
		h.drawn = append(h.drawn, float64(c.servers))
		if ways := binomial(s.Limits[c.group], c.servers); h.ways > (1<<53-1)/ways {
			h.ways = 0
		} else {
			h.ways *= ways
		}
		if c.group < s.grid.low {
			for _, l := range h.position {
				h.busy[k] = append(h.busy[k], float64(s.Digit(int(l), c.group)))
			}
		}
	}
	if h.ways == 0 || h.isWhole {
		return
	}
	for n := range h.position {
		ways := int64(1)
		for k, c := range choices {
			if h.busy[k] != nil {
				ways *= binomial(int(h.busy[k][n]), c.servers)
			}
		}
		h.low = append(h.low, ways)
	}
}

// binomial returns C(n, d), and 2^53 if it is as large or larger.
func binomial(n, d int) int64 {
	x := int64(1)
	for k := 1; k <= min(d, n-d); k++ { // C(n, k) = C(n, k-1) (n-k+1)/k
		high, low := bits.Mul64(uint64(x), uint64(n-k+1))
		if high > 0 || low/uint64(k) >= 1<<53 {
			return 1 << 53
		}
		x = int64(low / uint64(k))
	}
	return x
}

// addShares adds q of a class that does not use whole groups: the nearest float64.
func (s *states) addShares(ctx context.Context, i int, h *holding) error {
	if h.isWhole {
		return ctx.Err()
	}
	h.share = make([]float64, 0, len(h.rows)*len(h.position))
	for _, from := range h.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if h.ways > 0 {
			ways := s.waysOfRow(i, int(from))
			for _, low := range h.low {
				h.share = append(h.share, float64(ways*low)/float64(h.ways))
			}
			continue
		}
		for _, l := range h.position {
			q, _ := s.fraction(i, s.Point(int(from+l))).Float64()
			h.share = append(h.share, q)
		}
	}
	return nil
}

// eachOf sets list to q(k) d_g/k_g of a choice in the n-th row, the share of one busy server of the
// group, which has a number of busy servers in the row unless it varies there. It returns nil if all
// are 1.
func (h *holding) eachOf(list []float64, n, choice, busy int) []float64 {
	if h.isWhole {
		return nil
	}
	list = list[:len(h.position)]
	drawn, varies, constant := h.drawn[choice], h.busy[choice], float64(busy)
	for l, q := range h.sharesOf(n) {
		if varies == nil {
			list[l] = q * drawn / constant
		} else {
			list[l] = q * drawn / varies[l]
		}
	}
	return list
}

// sharesOf returns q(k) in the n-th row, nil if all are 1.
func (h *holding) sharesOf(n int) []float64 {
	if h.isWhole {
		return nil
	}
	return h.share[n*len(h.position):][:len(h.position)]
}

// dot returns Σ_k w(k) a(k) over the states, with one w for each.
func (h *holding) dot(w, a []float64) float64 {
	var total num.Sum
	for n, from := range h.rows {
		row, w := a[from:], w[n*len(h.position):]
		for position := h.position; len(position) > 0; {
			size := min(len(position), dotBlock)
			total.Add(weightedSum(w[:size], position, row))
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
		if w == nil {
			sum := 0.0
			for _, l := range position[:size] {
				sum += a[l]
			}
			total.Add(sum)
		} else {
			total.Add(weightedSum(w[:size], position, a))
			w = w[size:]
		}
		position = position[size:]
	}
}

// weightedSum returns Σ_l w(l) a(l) over the first len(w) positions.
func weightedSum(w []float64, position []int32, a []float64) float64 {
	var s0, s1, s2, s3 float64
	position = position[:len(w)]
	for ; len(w) >= 4 && len(position) >= 4; w, position = w[4:], position[4:] {
		s0 += float64(w[0] * a[position[0]])
		s1 += float64(w[1] * a[position[1]])
		s2 += float64(w[2] * a[position[2]])
		s3 += float64(w[3] * a[position[3]])
	}
	for k, l := range position {
		s0 += float64(w[k] * a[l])
	}
	return (s0 + s1) + (s2 + s3)
}
