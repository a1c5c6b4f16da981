package markov

import "slices"

// A Region is a set of points of the box 0 <= x_k < Size[k]: one interval of each line along the
// last coordinate. Its points are numbered 0 to States-1, line after line. Point 0 is the origin.
type Region struct {
	Size   []int
	States int
	lines  []line
	stride []int // stride from a line to the next one in coordinate k, for all coordinates except the last
}

// A line holds the points from <= x < to of a line along the last coordinate. Point x has number
// at + x.
type line struct{ from, to, at int }

// NewRegion returns the region of a box of these sizes, all positive, where interval returns the
// points from <= x < to of the line with the given other coordinates, none if to <= from. A nil
// interval means all points. Points not connected to the origin by moves of one are removed; the
// origin is always included.
func NewRegion(size []int, interval func(x []int) (from, to int)) *Region {
	last := len(size) - 1
	across := NewBox(size[:last])
	r := &Region{Size: size, lines: make([]line, across.States), stride: across.Stride}
	x := make([]int, last)
	for i := range r.lines {
		r.lines[i] = line{to: size[last]}
		if interval != nil {
			from, to := interval(x)
			r.lines[i] = line{from: max(from, 0), to: min(to, size[last])}
		}
		across.Next(x)
	}
	r.lines[0].from, r.lines[0].to = 0, max(r.lines[0].to, 1)
	if interval != nil {
		r.keepConnected()
	}
	for i := range r.lines {
		l := &r.lines[i]
		l.at = r.States - l.from
		r.States += l.to - l.from
	}
	return r
}

// keepConnected empties the lines that are not connected to the first.
func (r *Region) keepConnected() {
	joined := make([]bool, len(r.lines))
	joined[0] = true
	for todo := []int{0}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for k := range r.stride {
			for _, n := range [2]int{r.neighbourLine(i, k, -1), r.neighbourLine(i, k, 1)} {
				if n >= 0 && !joined[n] && r.lines[i].meets(r.lines[n]) {
					joined[n] = true
					todo = append(todo, n)
				}
			}
		}
	}
	for i, yes := range joined {
		if !yes {
			r.lines[i] = line{}
		}
	}
}

func (l line) meets(m line) bool { return max(l.from, m.from) < min(l.to, m.to) }

// neighbourLine returns the line next to line i in coordinate k, 1 step up or down, or -1 beyond
// the box.
func (r *Region) neighbourLine(i, k, step int) int {
	if x := i/r.stride[k]%r.Size[k] + step; x < 0 || x == r.Size[k] {
		return -1
	}
	return i + step*r.stride[k]
}

// lineOf returns the line through a point of the box.
func (r *Region) lineOf(x []int) int {
	i := 0
	for k, s := range r.stride {
		i += x[k] * s
	}
	return i
}

// Number returns the number of a point with integer coordinates, or -1 if it is not in the region.
func (r *Region) Number(x []int) int {
	for k, n := range x {
		if n < 0 || n >= r.Size[k] {
			return -1
		}
	}
	last := len(x) - 1
	if l := r.lines[r.lineOf(x)]; x[last] >= l.from && x[last] < l.to {
		return l.at + x[last]
	}
	return -1
}

// Limits returns the largest coordinates of points.
func (r *Region) Limits() []int {
	most, last := make([]int, len(r.Size)), len(r.Size)-1
	for i, l := range r.lines {
		if l.from < l.to {
			for k, s := range r.stride {
				most[k] = max(most[k], i/s%r.Size[k])
			}
			most[last] = max(most[last], l.to-1)
		}
	}
	return most
}

// Next moves x to the point with the next number; the last point is followed by the origin.
func (r *Region) Next(x []int) {
	last := len(x) - 1
	i := r.lineOf(x)
	if x[last]++; x[last] < r.lines[i].to {
		return
	}
	for i++; i < len(r.lines); i++ {
		if l := r.lines[i]; l.from < l.to {
			for k, s := range r.stride {
				x[k] = i / s % r.Size[k]
			}
			x[last] = l.from
			return
		}
	}
	clear(x)
}

// coarser returns the region of blocks that contain a point, or are between such blocks in a line.
// The sizes give the number of points of a block in each coordinate.
func (r *Region) coarser(block []int) *Region {
	size := make([]int, len(r.Size))
	for k, n := range r.Size {
		size[k] = (n + block[k] - 1) / block[k]
	}
	last := len(size) - 1
	hull := make([]line, len(r.lines)) // longer than the number of blocks
	of := r.linesOf(block, size)
	for i, l := range r.lines {
		if l.from < l.to {
			h := &hull[of[i]]
			from, to := l.from/block[last], (l.to-1)/block[last]+1
			if h.to > 0 {
				from, to = min(from, h.from), max(to, h.to)
			}
			*h = line{from: from, to: to}
		}
	}
	next := -1
	return NewRegion(slices.Clone(size), func([]int) (int, int) {
		next++
		return hull[next].from, hull[next].to
	})
}

// linesOf returns the line of blocks of each line, given the sizes of the coarser box.
func (r *Region) linesOf(block, size []int) []int {
	of := make([]int, len(r.lines))
	across, coarse := NewBox(r.Size[:len(r.Size)-1]), NewBox(size[:len(size)-1])
	x := make([]int, len(across.Limits))
	for i := range of {
		for k, n := range x {
			of[i] += n / block[k] * coarse.Stride[k]
		}
		across.Next(x)
	}
	return of
}
