package oneserver

import (
	"context"
	"fmt"
	"math"
	"slices"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/num"
)

// A pace determines the steps in which the equations of a part are solved, before there are tables
// of its states.
type pace struct {
	*part
	byClass []patience
	lambda  []float64
	mu      []float64 // by group

	// The states among which d_k(x) is smallest, whatever x is: their μ(k), and the classes with
	// servers inside, number insideEnd[k-1] to insideEnd[k]. By each k_g, -q_i(k) is concave, and
	// so is d_k, so it is smallest where each k_g is 0 or n_g, or the only positive k_g is 1.
	lowest    []float64
	insideEnd []int
	inside    []classInside
}

// A classInside is a class with a fraction of draws among the servers of a state.
type classInside struct {
	class    int
	fraction float64
}

// newPace prepares a part, whose classes have this patience.
func newPace(ctx context.Context, part *part, byClass []patience) (*pace, error) {
	p := &pace{part: part, byClass: byClass}
	for _, c := range part.classes {
		p.lambda = append(p.lambda, num.Nearest(c.rate))
	}
	for _, g := range part.groups {
		p.mu = append(p.mu, num.Nearest(g.capacity))
	}
	limits := part.limits()
	x := make([]int, len(limits))
	ends := lattice.FirstFastest(slices.Repeat([]int{1}, len(limits)))
	for at := range ends.States {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for g := range x {
			x[g] = limits[g] * ends.Digit(at, g)
		}
		if at > 0 {
			p.addLowest(x)
		}
	}
	for g := range x {
		clear(x)
		x[g] = 1
		p.addLowest(x)
	}
	return p, nil
}

// addLowest adds a state whose numbers are 0, 1 or those of all servers.
func (p *pace) addLowest(x []int) {
	work := 0.0
	for g, k := range x {
		work += float64(k) * p.mu[g]
	}
	for i, c := range p.classes {
		q := 1.0
		for _, choice := range c.choices {
			switch n := p.groups[choice.group].n; {
			case x[choice.group] == n:
			case x[choice.group] == choice.servers: // 1 server of n
				q /= float64(n)
			default:
				q = 0
			}
		}
		if q > 0 {
			p.inside = append(p.inside, classInside{i, q})
		}
	}
	p.lowest, p.insideEnd = append(p.lowest, work), append(p.insideEnd, len(p.inside))
}

// maxWork is the default of PatienceSettings.MaxWork. A step takes about a microsecond per state,
// in all passes, and one or two grids of half the steps follow: in total 3 to 7 times as much, up
// to about five minutes. maxSteps limits the ends of steps to 8 MiB.
const (
	maxWork  = 5e7
	maxSteps = 1 << 20
)

// checkSteps returns an error if a number of steps for each state exceeds the limit on their
// product, work.
func (p *part) checkSteps(steps int, work float64) error {
	states := lattice.Size(p.limits())
	most := min(maxSteps, work/states)
	if float64(steps) <= most {
		return nil
	}
	groups := "1 group"
	if len(p.groups) > 1 {
		groups = fmt.Sprintf("%d groups", len(p.groups))
	}
	return &num.TooLargeError{States: states, Input: input.Errorf("model",
		fmt.Sprintf("%d servers in %s of equal ones, %.2g states", p.servers(), groups, states),
		"at most %.3g steps in time, and more are necessary: fewer servers, or one pool that all classes use with the "+
			"same exponential patience", most)}
}

// grid returns the ends of steps that are about as long as possible. The error is a
// *[num.TooLargeError] if there are too many.
func (p *pace) grid(ctx context.Context, times []float64, work float64) ([]float64, error) {
	corners := slices.Clone(times)
	end := p.end(ctx)
	for i := range p.byClass {
		corners = append(corners, p.byClass[i].corners()...)
	}
	for _, t := range times {
		end = max(end, t)
	}
	list, err := steps(ctx, corners, end, p.longest(64), maxSteps)
	if err != nil {
		return nil, err
	}
	return list, p.checkSteps(len(list), work)
}

// end returns a time after which waiting jobs can be omitted, for one of two reasons. After it, at
// most 1e-18 jobs arrive that are patient enough to wait, and no class with less than endless
// patience waits for more than 1e-18 of its mean waiting time, since P(V > x) falls. Or V is longer
// with a probability of about e^-45: if d_K(y) >= c for all K that are not empty, P(V > x) falls
// like e^{-cx} after x = y. Both are below the roundings of float64.
func (p *pace) end(ctx context.Context) float64 {
	rest := func(x float64) float64 {
		sum := 0.0
		for i := range p.byClass {
			if mean := p.byClass[i].rest(0); mean > 0 {
				sum += max(p.lambda[i], 1/mean) * p.byClass[i].rest(x)
			}
		}
		return sum
	}
	end := firstTime(func(x float64) bool { return rest(x) <= 1e-18 })
	if slices.ContainsFunc(p.byClass, func(p patience) bool { return p.endless() }) {
		end = math.Inf(1)
	}
	last := p.gap(math.Inf(1))
	for c := last / 2; c > last/1e6; c /= 4 {
		from := firstTime(func(x float64) bool { return ctx.Err() != nil || p.gap(x) >= c })
		end = min(end, from+45/c)
	}
	return end
}

// gap returns the smallest d_K(x).
func (p *pace) gap(x float64) float64 {
	rates := make([]float64, len(p.byClass))
	for i := range rates {
		if !math.IsInf(x, 1) || p.byClass[i].endless() {
			rates[i] = p.lambda[i] * p.byClass[i].tail(x)
		}
	}
	least, first := math.Inf(1), 0
	for k, d := range p.lowest {
		for _, in := range p.inside[first:p.insideEnd[k]] {
			d -= rates[in.class] * in.fraction
		}
		first = p.insideEnd[k]
		least = min(least, d)
	}
	return least
}

// firstTime returns about the first time x at which a condition holds that remains true; 0 if it
// always does.
func firstTime(holds func(x float64) bool) float64 {
	if holds(0) {
		return 0
	}
	high := 1.0
	for !holds(high) && high < 1e150 {
		high *= 2
	}
	for high > 1e-150 && holds(high/2) {
		high /= 2
	}
	low := high / 2
	for high > 1.01*low {
		if middle := (low + high) / 2; holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// longest returns the function that limits the steps: the numbers that a step solves change by at
// most about e^fineness. While jobs with a patience beyond x may bring half the capacity of group
// g, all its servers may be busy for longer than x; from then on, their fraction falls like e^(-μ_g
// x).
func (p *pace) longest(fineness float64) func(x float64) float64 {
	uses := make([]bool, len(p.classes)*len(p.groups))
	for i, c := range p.classes {
		for _, choice := range c.choices {
			uses[i*len(p.groups)+choice.group] = true
		}
	}
	long := make([]float64, len(p.groups))
	for g := range long {
		long[g] = firstTime(func(x float64) bool {
			sum := 0.0
			for i := range p.byClass {
				if uses[i*len(p.groups)+g] && !p.byClass[i].endless() {
					sum += p.lambda[i] * p.byClass[i].tail(x)
				}
			}
			return sum <= p.mu[g]*float64(p.groups[g].n)/2
		})
	}
	return func(x float64) float64 {
		rate, scale := 0.0, math.Inf(1)
		for i := range p.byClass {
			rate += p.lambda[i] * p.byClass[i].tail(x)
			scale = min(scale, p.byClass[i].scale(x))
		}
		for g, group := range p.groups {
			busy := min(1, 3*math.Exp(-p.mu[g]*max(0, x-long[g])))
			rate += p.mu[g] * max(1, busy*float64(group.n))
		}
		return fineness * min(1/rate, scale/2)
	}
}
