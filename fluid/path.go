package fluid

import (
	"context"
	"math"
	"slices"
)

// A bottleneckPath follows the solutions of
//
//	x_k = min_j t_j/b_kj,  load_j = Σ_k m_k b_kj x_k = 1 if t_j is finite, <= 1 if not,
//
// for resources j < J and one more, of which all classes need 1. Its level t_J is at first the
// level of all classes, and infinite at the end. Between corners of the path each class keeps its
// bottleneck, and each bottleneck has at least one class, so the t_j move along a straight line. At
// a corner one class changes its bottleneck: to one whose level it reaches, or to a resource that
// becomes saturated and of which it takes the largest part. If no class is left at another
// resource, its level becomes infinite. The line continues on the side on which the class prefers
// its new bottleneck, or on which the load of the resource that it left decreases.
//
// Without ties the path ends. The bottlenecks of all classes determine a line. The conditions,
// which are then linear, restrict it to one segment, which has at most two ends, and each corner
// joins two lines. So the lines form chains that do not branch, and the path, which starts at the
// end of a chain, meets no line twice. It cannot go to 0 or to infinity: the loads are at most 1,
// hence m_k x_k <= 1, and a resource at level 0 would have load 0. Rounding can lead it astray, so
// the number of steps is limited, and the result is checked by its residual or in fractions.
type bottleneckPath struct {
	resources int // J
	present   []int
	mass      []float64 // m_k of present[i], slightly changed
	need      []float64 // b_kj of present[i] at [i(J+1) + j], slightly changed
	at        []int     // bottleneck of present[i]
	atClass   []int     // bottleneck of class k at the end; -1 if absent
	members   []int     // number of classes at j, j <= J
	level     []float64 // t_j, defined while members[j] > 0
	part      []float64 // at [j(J+1) + l]: load on j < J by the classes at l <= J
	load      []float64 // load on j
	slope     []float64 // slope of log t_j along the line
	active    []int     // resources with members, except J
	matrix    []float64 // scratch for a linear system
	columns   []int     // its columns
	right     []float64 // its solution
	rate      []float64 // rate of change of t_j along the line
}

func newBottleneckPath(classes, resources int) bottleneckPath {
	r := resources + 1
	return bottleneckPath{
		resources: resources,
		present:   make([]int, 0, classes),
		mass:      make([]float64, classes),
		need:      make([]float64, classes*r),
		at:        make([]int, classes),
		atClass:   make([]int, classes),
		members:   make([]int, r),
		level:     make([]float64, r),
		part:      make([]float64, r*r),
		load:      make([]float64, r),
		slope:     make([]float64, r),
		active:    make([]int, 0, r),
		matrix:    make([]float64, r*(r+1)),
		columns:   make([]int, r+1),
		right:     make([]float64, r),
		rate:      make([]float64, r),
	}
}

// bottleneckChanges returns the relative changes that break ties, in the order in which they are
// tried.
func bottleneckChanges() [6]float64 { return [...]float64{1e-9, 1e-11, 1e-7, 1e-10, 1e-8, 1e-6} }

// starts returns the possible starts of paths, in the order in which they are tried; see start.
// Without limits both are the same.
func (b *bottleneck) starts() []bool {
	low := [...]bool{false, true}
	if b.hasOnes {
		return low[:1]
	}
	return low[:]
}

// solveMany follows the path for one change after another until the residual of the corrected end
// is hardly more than rounding. If none is good, it uses the low start. It keeps the best levels in
// b.level and returns their residual.
func (b *bottleneck) solveMany(ctx context.Context) float64 {
	best := math.Inf(1)
	for _, low := range b.starts() {
		for seed, change := range bottleneckChanges() {
			if !b.follow(ctx, change, uint64(seed), low) {
				continue
			}
			if best = b.refine(best); best <= 1e-12 {
				break
			}
		}
		if best <= maxBottleneckResidual {
			break
		}
	}
	return best
}

// refine corrects the levels at the end of a path and, while the residual exceeds rounding, the
// bottlenecks, which is Newton's method for (*). It keeps levels in b.level whose residual is below
// best and returns the new best residual.
func (b *bottleneck) refine(best float64) float64 {
	const steps = 10
	for range steps {
		for range 3 { // the equations are linear: the second and third rounds refine the solution
			b.path.correct(b.need, b.mass)
		}
		b.path.levels(b.need, b.trial)
		if residual := b.residual(b.trial); residual < best {
			best = residual
			copy(b.level, b.trial)
		}
		if best <= 1e-12 {
			break
		}
		b.path.choose()
	}
	return best
}

// levels writes x_k = min_j t_j/b_kj for the classes present.
func (p *bottleneckPath) levels(need [][]float64, level []float64) {
	for _, k := range p.present {
		level[k] = math.Inf(1)
		for _, j := range p.active {
			if a := need[k][j]; a > 0 {
				level[k] = min(level[k], p.level[j]/a)
			}
		}
	}
}

// residual returns the distance of x_k = level[k] from bottleneck max fairness: the maximum of the
// excess of a load over 1 and of a shortfall of each class. A class falls short by the smallest
// relative amount, over its resources, by which the load is below 1 or its fraction is below the
// largest one.
func (b *bottleneck) residual(level []float64) float64 {
	clear(b.load)
	clear(b.top)
	for k, m := range b.mass {
		if m > 0 {
			for j, a := range b.need[k] {
				b.load[j] += m * a * level[k]
				b.top[j] = max(b.top[j], a*level[k])
			}
		}
	}
	worst := slices.Max(b.load) - 1
	for k, m := range b.mass {
		if m > 0 {
			least := math.Inf(1)
			for j, a := range b.need[k] {
				if a > 0 {
					least = min(least, max(1-b.load[j], 1-a*level[k]/b.top[j]))
				}
			}
			worst = max(worst, least)
		}
	}
	return worst
}

// follow follows the path with the numbers changed as start specifies, and reports whether it
// reached the end.
func (b *bottleneck) follow(ctx context.Context, most float64, seed uint64, low bool) bool {
	b.start(most, seed, low)
	ended := b.path.walk(ctx)
	for i, k := range b.path.present {
		b.path.atClass[k] = b.path.at[i]
	}
	return ended
}

// start sets up the path with relative changes of the numbers by up to most, which depend on seed.
// All x_k are 1/(2 Σ m_k), so no load exceeds 1/2 if no need exceeds 1. Needs for the resource of a
// limit can exceed 1. A resource that is overloaded at the start then stays overloaded while it is
// a bottleneck, which Newton's method may not repair at the end. The low start divides by the
// largest load instead, if that is larger than Σ m_k, which keeps all loads at most 1/2.
func (b *bottleneck) start(most float64, seed uint64, low bool) {
	p, r := &b.path, b.path.resources+1
	p.present = p.present[:0]
	state := seed
	change := func() float64 { // from 1-most to 1+most, from the SplitMix64 sequence
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return 1 + most*(float64(int64(z^z>>31))/(1<<63))
	}
	total := 0.0
	clear(b.load)
	for k, m := range b.mass {
		b.path.atClass[k] = -1
		if m == 0 {
			continue
		}
		i := len(p.present)
		p.present = append(p.present, k)
		p.mass[i] = m * change()
		p.at[i] = p.resources
		for j, a := range b.need[k] {
			p.need[i*r+j] = a * change()
			b.load[j] += m * a
		}
		p.need[i*r+p.resources] = change()
		total += m
	}
	clear(p.members)
	p.members[p.resources] = len(p.present)
	if low {
		total = max(total, slices.Max(b.load))
	}
	p.level[p.resources] = 0.5 / total
}

// walk moves from corner to corner. It reports whether the path reached its end, which it does not
// if the context is done.
func (p *bottleneckPath) walk(ctx context.Context) bool {
	class, left := -1, -1
	for range 100 + 20*len(p.present)*p.resources {
		if class, left = p.step(class, left); class < 0 || ctx.Err() != nil {
			return false
		}
		if p.members[p.resources] == 0 {
			return true
		}
	}
	return false
}

// step moves along a line to the corner at its end, where it changes the bottleneck of a class. It
// returns that class and the bottleneck that it left, given those of the corner where the line
// begins, or -1 for the first line. The class is -1 if rounding hides the next corner.
func (p *bottleneckPath) step(class, left int) (int, int) {
	p.findLoads()
	p.findSlopes()
	if class >= 0 {
		side := p.slope[left] - p.slope[p.at[class]]
		if p.members[left] == 0 {
			side = -p.loadRate(left)
		}
		if side == 0 || math.IsNaN(side) {
			return -1, -1
		}
		if side < 0 {
			for j := range p.slope {
				p.slope[j] = -p.slope[j]
			}
		}
	}
	next, to, length := p.nextCorner(class, left)
	if next < 0 {
		return -1, -1
	}
	p.level[p.resources] *= 1 + length*p.slope[p.resources]
	for _, j := range p.active {
		p.level[j] *= 1 + length*p.slope[j]
	}
	class, left = next, p.at[next]
	if p.members[to] == 0 {
		need := p.need[class*(p.resources+1):]
		p.level[to] = p.level[left] / need[left] * need[to]
	}
	p.at[class] = to
	p.members[left]--
	p.members[to]++
	return class, left
}

// findLoads computes part, load and active.
func (p *bottleneckPath) findLoads() {
	r := p.resources + 1
	clear(p.part)
	for i := range p.present {
		need := p.need[i*r : i*r+r]
		l := p.at[i]
		x := p.mass[i] * p.level[l] / need[l]
		for j, a := range need[:p.resources] {
			p.part[j*r+l] += a * x
		}
	}
	p.active = p.active[:0]
	for j := range p.resources {
		p.load[j] = 0
		for _, part := range p.part[j*r : j*r+r] {
			p.load[j] += part
		}
		if p.members[j] > 0 {
			p.active = append(p.active, j)
		}
	}
}

// loadRate returns the rate of change of the load on j along the line.
func (p *bottleneckPath) loadRate(j int) float64 {
	sum := 0.0
	for l, s := range p.slope {
		sum += p.part[j*(p.resources+1)+l] * s
	}
	return sum
}

// findSlopes computes the direction in which log t_j moves, up to a factor, if the loads of active
// resources stay constant.
func (p *bottleneckPath) findSlopes() {
	n, r := len(p.active), p.resources+1
	clear(p.slope)
	for i, j := range p.active {
		for c, l := range p.active {
			p.matrix[i*(n+1)+c] = p.part[j*r+l]
		}
		p.matrix[i*(n+1)+n] = p.part[j*r+p.resources]
	}
	rank := eliminate(p.matrix, n, n+1, p.columns[:n+1], 0)
	// The first of the columns without a pivot is free and gets 1.
	free := p.columns[rank]
	most := 1.0
	p.setSlope(free, 1)
	for i := rank - 1; i >= 0; i-- {
		sum := p.matrix[i*(n+1)+free]
		for c := i + 1; c < rank; c++ {
			sum += p.matrix[i*(n+1)+p.columns[c]] * p.slopeOf(p.columns[c])
		}
		s := -sum / p.matrix[i*(n+1)+p.columns[i]]
		p.setSlope(p.columns[i], s)
		most = max(most, math.Abs(s))
	}
	for j := range p.slope {
		p.slope[j] /= most
	}
}

func (p *bottleneckPath) resourceOf(column int) int {
	if column == len(p.active) {
		return p.resources
	}
	return p.active[column]
}

func (p *bottleneckPath) setSlope(column int, s float64) { p.slope[p.resourceOf(column)] = s }
func (p *bottleneckPath) slopeOf(column int) float64     { return p.slope[p.resourceOf(column)] }

// eliminate brings rows of the length width to upper triangular form in place, by Gaussian
// elimination with complete pivoting among the first len(order) columns, down to pivots of size
// least. The pivot of row i < rank is in column order[i].
func eliminate(matrix []float64, rows, width int, order []int, least float64) (rank int) {
	for c := range order {
		order[c] = c
	}
	for rank = range rows {
		row, column, most := 0, 0, least
		for i := rank; i < rows; i++ {
			for c := rank; c < len(order); c++ {
				if a := math.Abs(matrix[i*width+order[c]]); a > most {
					row, column, most = i, c, a
				}
			}
		}
		if most == least {
			return rank
		}
		order[rank], order[column] = order[column], order[rank]
		pivot, other := matrix[rank*width:(rank+1)*width], matrix[row*width:(row+1)*width]
		for c := range pivot {
			pivot[c], other[c] = other[c], pivot[c]
		}
		for i := rank + 1; i < rows; i++ {
			low := matrix[i*width : (i+1)*width]
			if factor := low[order[rank]] / pivot[order[rank]]; factor != 0 {
				for c, a := range pivot {
					low[c] -= factor * a
				}
			}
		}
	}
	return rows
}

// nextCorner returns the first class on the line that changes its bottleneck, its new bottleneck,
// and the distance. It does not return to the corner at which class left its bottleneck. Class -1
// means that there is none.
func (p *bottleneckPath) nextCorner(class, left int) (next, to int, length float64) {
	const slack = 1e-13 // for a difference of products that are equal at a tie
	r := p.resources + 1
	live := append(p.active, p.resources)
	for _, l := range live {
		p.rate[l] = p.level[l] * p.slope[l]
	}
	next, length = -1, math.Inf(1)
	for i := range p.present {
		need := p.need[i*r : i*r+r]
		j := p.at[i]
		level, speed, own := p.level[j], p.rate[j], need[j]
		for _, l := range live {
			a := need[l]
			closing, gap := speed*a-p.rate[l]*own, p.level[l]*own-level*a
			if !(gap < length*closing) || closing <= slack*math.Abs(speed*a) || a == 0 || l == j ||
				i == class && l == left {
				continue
			}
			next, to, length = i, l, max(gap, 0)/closing
		}
	}
	filled := false
	for l := range p.resources {
		if p.members[l] > 0 || l == left {
			continue
		}
		if rise := p.loadRate(l); rise > 0 {
			if h := max(1-p.load[l], 0) / rise; h < length {
				to, length, filled = l, h, true
			}
		}
	}
	if filled {
		most := 0.0
		for i := range p.present {
			j := p.at[i]
			level := p.level[j] * (1 + length*p.slope[j])
			if part := level / p.need[i*r+j] * p.need[i*r+to]; part > most {
				next, most = i, part
			}
		}
	}
	return next, to, length
}

// correct changes the levels so that the loads of the active resources become 1 for the original
// numbers, with the bottlenecks of the end. It ignores directions in which the loads hardly change.
func (p *bottleneckPath) correct(need [][]float64, mass []float64) {
	r := p.resources + 1
	for i, k := range p.present {
		p.mass[i] = mass[k]
		copy(p.need[i*r:], need[k])
	}
	p.findLoads()
	n := len(p.active)
	for i, j := range p.active {
		for c, l := range p.active {
			p.matrix[i*(n+1)+c] = p.part[j*r+l]
		}
		p.matrix[i*(n+1)+n] = 1 - p.load[j]
	}
	const least = 1e-10 // each row of the matrix sums to 1
	rank := eliminate(p.matrix, n, n+1, p.columns[:n], least)
	for i := rank - 1; i >= 0; i-- {
		sum := p.matrix[i*(n+1)+n]
		for c := i + 1; c < rank; c++ {
			sum -= p.matrix[i*(n+1)+p.columns[c]] * p.right[c]
		}
		p.right[i] = sum / p.matrix[i*(n+1)+p.columns[i]]
	}
	for i := range rank {
		p.level[p.active[p.columns[i]]] *= 1 + p.right[i]
	}
}

// choose moves the classes to the resources that limit them at these levels. If that overloads a
// resource that is not active, the class that uses the largest fraction of the most overloaded one
// moves there.
func (p *bottleneckPath) choose() {
	r := p.resources + 1
	clear(p.members)
	for i := range p.present {
		need, least := p.need[i*r:i*r+r], math.Inf(1)
		for _, j := range p.active {
			if x := p.level[j] / need[j]; x < least { // false if need[j] is 0
				p.at[i], least = j, x
			}
		}
		p.members[p.at[i]]++
	}
	p.findLoads()
	over, load := -1, 1.0
	for j, l := range p.load[:p.resources] {
		if p.members[j] == 0 && l > load {
			over, load = j, l
		}
	}
	if over < 0 {
		return
	}
	first, most := 0, 0.0
	for i, j := range p.at[:len(p.present)] {
		if part := p.level[j] / p.need[i*r+j] * p.need[i*r+over]; part > most {
			first, most = i, part
		}
	}
	p.members[p.at[first]]--
	p.at[first], p.level[over] = over, most
	p.members[over]++
}
