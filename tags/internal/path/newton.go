package path

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// newton improves cutoffs by Newton's method in their logarithms, shortening each step until the
// cost decreases.
func (s *Search) newton(cutoffs []float64, cost float64) ([]float64, float64) {
	n := len(cutoffs)
	for range 60 {
		if s.Stopped() {
			break
		}
		step := s.newtonStep(cutoffs)
		if step == nil {
			break
		}
		size := 0.0
		for _, d := range step {
			size = max(size, math.Abs(d))
		}
		next, better := make([]float64, n), math.Inf(1)
		for scale := min(1, 2/size); scale > 1e-12; scale /= 2 {
			for j := range next {
				next[j] = cutoffs[j] * math.Exp(scale*step[j])
			}
			if better = s.Total(next); better < cost {
				break
			}
		}
		switch {
		case better < cost:
			cutoffs, cost = next, better
		case size < 1e-5: // here the cost no longer changes in its last digits, but its derivative does
			for j := range next {
				next[j] = cutoffs[j] * math.Exp(step[j])
			}
			if c := s.Total(next); c <= cost*(1+1e-13) {
				return next, min(c, cost)
			}
			return cutoffs, cost
		default:
			return cutoffs, cost
		}
		if size < 1e-12 {
			break
		}
	}
	return cutoffs, cost
}

// Total returns the cost of a path, +Inf if it is infeasible.
func (s *Search) Total(cutoffs []float64) float64 {
	var sum float64
	a := s.Start
	for i := range len(cutoffs) + 1 {
		b := s.End
		if i < len(cutoffs) {
			if !s.holds(i, cutoffs[i]) {
				return math.Inf(1)
			}
			b = s.point(cutoffs[i])
		}
		sum += s.Cost(i, &a, &b)
		a = b
	}
	return sum
}

// holds reports whether x is in the range of cutoff j.
func (s *Search) holds(j int, x float64) bool {
	return x >= s.Low[j] && x <= s.High[j] || x == 0 && s.IdleFirst
}

// gradient returns s_j ∂cost/∂s_j.
func (s *Search) gradient(cutoffs []float64) ([]float64, bool) {
	g := make([]float64, len(cutoffs))
	a := Cell{Low: s.Start, High: s.Start}
	for i := range len(cutoffs) + 1 {
		b := Cell{Low: s.End, High: s.End}
		if i < len(cutoffs) {
			p := s.point(cutoffs[i])
			b = Cell{Low: p, High: p}
		}
		l, ok := s.Slope(i, &a, &b)
		if !ok || i > 0 && i < len(cutoffs) && cutoffs[i] <= cutoffs[i-1] && cutoffs[i] > 0 {
			return nil, false
		}
		if i > 0 {
			g[i-1] -= l.After * cutoffs[i-1]
		}
		if i < len(cutoffs) {
			g[i] += l.Before * cutoffs[i]
		}
		a = b
	}
	return g, true
}

// newtonStep returns the step in the logarithms of the cutoffs that makes the gradient 0, or one
// against the gradient where the cost is not convex; nil if there is none. The derivatives of the
// gradient, tridiagonal, are finite differences, computed for every third cutoff at a time.
func (s *Search) newtonStep(cutoffs []float64) []float64 {
	const h = 1e-6
	n := len(cutoffs)
	g, ok := s.gradient(cutoffs)
	if !ok {
		return nil
	}
	lower, diagonal, upper := make([]float64, n), make([]float64, n), make([]float64, n)
	for color := range min(3, n) {
		up, down := append([]float64{}, cutoffs...), append([]float64{}, cutoffs...)
		for k := color; k < n; k += 3 {
			up[k] *= 1 + h
			down[k] *= 1 - h
		}
		gu, ok1 := s.gradient(up)
		gd, ok2 := s.gradient(down)
		if !ok1 || !ok2 {
			return nil
		}
		for k := color; k < n; k += 3 {
			for j := max(0, k-1); j <= min(n-1, k+1); j++ {
				d := (gu[j] - gd[j]) / (2 * h)
				switch j {
				case k - 1:
					upper[j] = d
				case k:
					diagonal[j] = d
				case k + 1:
					lower[j] = d
				}
			}
		}
	}
	for j, x := range cutoffs { // a cutoff at which the cost drops remains, unless larger ones are better
		if s.Drop == nil || g[j] < 0 {
			continue
		}
		if _, drops := s.Drop(x); drops {
			g[j], lower[j], diagonal[j], upper[j] = 0, 0, 1, 0
		}
	}
	step := mat.NewVecDense(n, nil)
	right := mat.NewVecDense(n, nil)
	for j := range n {
		right.SetVec(j, -g[j])
	}
	for j, x := range cutoffs {
		if x == 0 { // it remains 0
			diagonal[j] = 1
		}
	}
	var dl, du []float64
	if n > 1 {
		dl, du = lower[1:], upper[:n-1]
	}
	err := mat.NewTridiag(n, dl, append([]float64{}, diagonal...), du).SolveVecTo(step, false, right)
	downhill := 0.0
	for j := range n {
		downhill -= step.AtVec(j) * g[j]
	}
	if err == nil && downhill > 0 {
		return step.RawVector().Data
	}
	against := make([]float64, n)
	for j := range n {
		if d := math.Abs(diagonal[j]); d > 0 {
			against[j] = -g[j] / d
		}
	}
	return against
}

// improveLocally improves cutoffs among atoms: it repeatedly takes the shortest path through some
// atoms around each, first far apart and finally adjacent.
func (s *Search) improveLocally(cutoffs []float64, cost float64) ([]float64, float64) {
	const reach = 32
	for stride := max(1, len(s.Atoms)/(2*reach)); stride > 0 && !s.Stopped(); {
		stages := make([][]Cell, len(cutoffs))
		for j, x := range cutoffs {
			k := sort.SearchFloat64s(s.Atoms, x)
			for i := k - reach*stride; i <= k+reach*stride; i += stride {
				if i >= 0 && i < len(s.Atoms) && s.Atoms[i] >= s.Low[j] && s.Atoms[i] <= s.High[j] {
					stages[j] = append(stages[j], s.atomCell(i, i))
				}
			}
		}
		if next, c := s.shortest(stages); c < cost {
			cutoffs, cost = next, c
		} else {
			stride /= 2
		}
	}
	return cutoffs, cost
}

// zoom improves cutoffs where Newton's method fails, such as at equal cutoffs: it repeatedly takes
// the shortest path through ever closer points around each. The points of a cutoff include its
// neighbours.
func (s *Search) zoom(cutoffs []float64, cost float64) ([]float64, float64) {
	const reach, passes = 12, 8
	for width, pass := 0.1, 0; width > 1e-12 && !s.Stopped(); pass++ {
		stages := make([][]Cell, len(cutoffs))
		for j := range cutoffs {
			xs := append([]float64{}, cutoffs[max(0, j-1):min(len(cutoffs), j+2)]...)
			for i := -reach; i <= reach; i++ {
				xs = append(xs, cutoffs[j]*math.Exp(width*float64(i)/reach))
			}
			for _, x := range xs {
				if s.holds(j, x) {
					p := s.point(x)
					stages[j] = append(stages[j], Cell{Low: p, High: p})
				}
			}
		}
		next, c := s.shortest(stages)
		if !(c < cost*(1-1e-10)) || pass == passes {
			width, pass = width/4, 0
		}
		if c < cost {
			cutoffs, cost = next, c
		}
	}
	return cutoffs, cost
}
