package traffic

import (
	"math"
	"slices"

	"productform/fluid/internal/markov"
)

// A reach records how far from the origin, in each direction, states have a weight of e^-t of the
// largest. The weight of a state is its contribution to the bound on the truncation error, π(x)
// (1 + Σ_k x_k) (1 + max_i x_i/E[x_i]). Far from the axes, rates depend on proportions only. There
// log π is approximately homogeneous of degree 1, and the distance in a direction approximately
// linear in t, so a solution with small limits predicts the states that matter with larger limits.
type reach struct {
	of     *solution
	most   float64     // largest importance of a state; its weight is 1
	limits []int       // unit of each coordinate
	parts  int         // directions with the same x_k/limits[k] / Σ_l x_l/limits[l], to 1/parts, count as one
	far    [][]float64 // Σ_k x_k/limits[k] of the farthest state with weight at least e^-t, at [direction][t]
	edge   []float64   // e^-edge is the largest weight of the states in a direction that lose moves
	level  float64     // e^-level is the mean weight, by rates, of the states that lose moves
}

const (
	mostLevels = 60  // number of t: e^-60 is far below all tolerances
	mostParts  = 128 // number of directions; each has at most about 200 states
)

// reach returns the reach of the solution.
func (v *solution) reach() *reach {
	r := &reach{of: v, limits: v.limits, parts: mostParts}
	for _, l := range v.limits {
		r.parts = min(r.parts, max(l/4, 4))
	}
	if len(v.limits) == 3 {
		r.parts = min(r.parts, 32)
	}
	r.far = make([][]float64, r.directions())
	for d := range r.far {
		r.far[d] = make([]float64, mostLevels+1)
	}
	r.edge = slices.Repeat([]float64{mostLevels}, len(r.far))
	x := make([]int, len(v.limits))
	for _, p := range v.pi {
		r.most = max(r.most, p*v.importance(x))
		v.chain.Next(x)
	}
	var weights, rates float64
	lost := v.lost
	for s, p := range v.pi {
		w := p * v.importance(x) / r.most
		t := mostLevels + 1.0
		if w > 0 {
			t = min(t, -math.Log(w))
		}
		distance, d := r.direction(x)
		up := int(math.Ceil(t))
		if up <= mostLevels {
			r.far[d][up] = max(r.far[d][up], distance)
		}
		for ; len(lost) > 0 && lost[0].state == s; lost = lost[1:] {
			r.edge[d] = min(r.edge[d], t)
			weights, rates = weights+w*lost[0].rate, rates+lost[0].rate
		}
		v.chain.Next(x)
	}
	r.level = min(-math.Log(weights/rates), mostLevels)
	for _, far := range r.far {
		for t := 1; t <= mostLevels; t++ {
			far[t] = max(far[t], far[t-1])
		}
	}
	return r
}

// importance returns the contribution of a unit of probability of a state.
func (v *solution) importance(x []int) float64 {
	jobs, most := 1.0, 0.0
	for i, n := range x {
		jobs += float64(n)
		most = max(most, float64(n)/v.mean[i])
	}
	return jobs * (1 + most)
}

// directions returns the number of directions, some of which do not exist.
func (r *reach) directions() int {
	n := 1
	for range len(r.limits) - 1 {
		n *= r.parts + 1
	}
	return n
}

// direction returns the distance of a state and its direction.
func (r *reach) direction(x []int) (distance float64, d int) {
	for k, n := range x {
		distance += float64(n) / float64(r.limits[k])
	}
	if distance == 0 {
		return 0, 0
	}
	for k, n := range x[:len(x)-1] {
		d = d*(r.parts+1) + int(math.Round(float64(r.parts)*float64(n)/(float64(r.limits[k])*distance)))
	}
	return distance, d
}

// extended returns the distance of weight e^-t in each direction, slightly enlarged: as observed
// or, beyond the edge, linear in t with the slope between half of the edge and the edge. Beyond the
// edge it is at least an eighth more than at the edge, so the next solution shows more, and at
// maxProbability four times as much, because tails are not known better. It is the maximum over neighbouring
// directions.
func (r *reach) extended(t float64) []float64 {
	t = min(t, mostLevels)
	distance := make([]float64, len(r.far))
	step := 0.0 // two jobs of the class with the smallest limit
	for _, l := range r.limits {
		step = max(step, 2/float64(l))
	}
	for d, far := range r.far {
		seen := far[int(math.Ceil(t))]
		if e := r.edge[d]; e < t {
			half := int(math.Ceil(e)) / 2
			edge := far[int(math.Ceil(e))]
			beyond := 2 * edge
			if far[half] > 0 && float64(half) < e {
				slope := (edge - far[half]) / (e - float64(half))
				beyond = min(max(edge+slope*(t-e), 1.125*edge), 4*edge)
			}
			seen = max(seen, beyond)
		}
		distance[d] = 1.02*seen + step
	}
	wide := make([]float64, len(distance))
	for d := range distance {
		wide[d] = distance[d]
		for by := 1; by < len(distance); by *= r.parts + 1 { // neighbours in one coordinate
			if part := d / by % (r.parts + 1); part > 0 {
				wide[d] = max(wide[d], distance[d-by])
			}
			if part := d / by % (r.parts + 1); part < r.parts {
				wide[d] = max(wide[d], distance[d+by])
			}
		}
	}
	return wide
}

// region returns the region of the states up to the distance in their direction, and of the states
// with weight e^-t in the pilot, between the first and the last on each line. The error is a
// *statesError if that exceeds the states that the settings allow.
func (r *reach) region(distance []float64, pilot *reach, t float64, s Settings) (*markov.Region, error) {
	size, states := r.boundingBox(distance)
	if states > 1.5*float64(s.MaxStates) { // as estimated
		return nil, &statesError{states, limitsOf(size)}
	}
	for k, l := range pilot.limits {
		size[k] = max(size[k], l+1)
	}
	least := math.Exp(-t)
	last := len(size) - 1
	x := make([]int, len(size))
	region := markov.NewRegion(size, func(line []int) (from, to int) {
		copy(x, line)
		for n := range size[last] {
			x[last] = n
			if pilot.hasWeight(x, least) || r.holds(distance, x) {
				if to == 0 {
					from = n
				}
				to = n + 1
			}
		}
		return from, to
	})
	if region.States > s.MaxStates {
		return nil, &statesError{float64(region.States), limitsOf(size)}
	}
	return region, nil
}

// holds reports whether a state, or one at most a job to the side, is within the distance of its
// direction. So cones that are narrower than a job near the origin are connected to it.
func (r *reach) holds(distance []float64, x []int) bool {
	far, d := r.direction(x)
	if far <= distance[d] {
		return true
	}
	least := r.limits[0]
	for _, l := range r.limits {
		least = min(least, l)
	}
	aside := min(int(float64(r.parts)/(float64(least)*far)), r.parts) // directions that a job to the side leads to
	if aside == 0 {
		return false
	}
	row := r.parts + 1 // number of directions in a row
	rows := 0
	if len(r.limits) == 3 {
		rows = aside
	}
	for i := max(0, d/row-rows); i <= min(len(distance)/row-1, d/row+rows); i++ {
		for j := max(0, d%row-aside); j <= min(r.parts, d%row+aside); j++ {
			if far <= distance[i*row+j] {
				return true
			}
		}
	}
	return false
}

// hasWeight reports whether a state of the solution has at least this weight.
func (r *reach) hasWeight(x []int, least float64) bool {
	s := r.of.chain.Number(x)
	return s >= 0 && r.of.pi[s]*r.of.importance(x)/r.most >= least
}

// boundingBox returns the sizes of a box that contains the states up to these distances, and
// approximately the number of these states.
func (r *reach) boundingBox(distance []float64) (size []int, states float64) {
	size = make([]int, len(r.limits))
	part := make([]int, len(r.limits))
	for d, far := range distance {
		rest, index := r.parts, d
		for k := len(part) - 2; k >= 0; k-- {
			part[k] = index % (r.parts + 1)
			index /= r.parts + 1
			rest -= part[k]
		}
		if part[len(part)-1] = rest; rest < 0 {
			continue // no such direction, up to rounding
		}
		for k, p := range part {
			share := min(1, (float64(p)+1)/float64(r.parts))
			size[k] = max(size[k], 2+int(min(share*far*float64(r.limits[k]), mostStates)))
		}
		states += math.Pow(far, float64(len(part)))
	}
	states /= float64(len(part)) * math.Pow(float64(r.parts), float64(len(part)-1))
	for _, l := range r.limits {
		states *= float64(l)
	}
	return size, states
}

func limitsOf(size []int) []int {
	limits := make([]int, len(size))
	for k, n := range size {
		limits[k] = n - 1
	}
	return limits
}
