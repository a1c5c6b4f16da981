package elimination

import (
	"math"
	"slices"

	"productform/bf/internal/forest"
)

// Estimate returns the approximate number of float64 operations of [Solve] for a problem and an
// order, without derivatives. It is +Inf for an unstable problem.
func Estimate(p *Problem, o *Order, s Settings) (work float64) {
	for _, c := range components(p, o, false) {
		own := c.problem(p)
		if f := own.forest(); f != nil {
			work += f.Estimate(forest.Settings{Tolerance: s.Tolerance, ByClass: s.ByClass, Rarest: s.Rarest})
			continue
		}
		work += estimateWide(own, inOrder(len(c.servers)), s)
	}
	return work
}

// forest returns the problem as a forest if its servers form one, otherwise nil.
func (p *Problem) forest() *forest.Forest {
	classes := make([]forest.Class, len(p.Classes))
	for i, k := range p.Classes {
		classes[i] = forest.Class(k)
	}
	return forest.New(p.Capacities, classes)
}

// inOrder returns the order 0, 1, ..., servers-1.
func inOrder(servers int) *Order {
	o := &Order{}
	for k := range servers {
		o.Servers = append(o.Servers, k)
	}
	return o
}

// estimateWide estimates the work of [solveWide] from the smallest end of times that [firstMesh]
// may find.
func estimateWide(p *Problem, o *Order, s Settings) float64 {
	slack := p.slack(o)
	if !(slack > 0) {
		return math.Inf(1)
	}
	length, nodes := p.resolution(s)
	rarest := 0.0
	if s.Rarest > 0 {
		rarest = math.Log(s.Rarest)
	}
	end := (math.Log(64*float64(len(p.Capacities))/min(s.Tolerance, 0x1p-10)) + 3 - rarest) / slack
	if end*slices.Min(p.Capacities) > length*mostPanels {
		return math.Inf(1)
	}
	work, _ := p.size(o, len(p.breaks(end, length))-1, nodes)
	return work
}
