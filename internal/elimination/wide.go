package elimination

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/forest"
	"productform/internal/input"
	"productform/num"
)

// Functions of several times are not asked to be better than leastWide: roundings count up to that.
const leastWide = 0x1p-36

// solveWide returns the measures of a problem by functions of up to [MaxWidth] times.
func solveWide(ctx context.Context, p *Problem, o *Order, s Settings) (*forest.Result, error) {
	tolerance := min(s.Tolerance, 0x1p-10) // what an arithmetic.Number holds
	g, err := firstMesh(ctx, p, o, s)
	if err != nil {
		return nil, err
	}
	target := max(leastWide, tolerance/(4*float64(len(p.Capacities))))
	missed := &ToleranceError{Tolerance: tolerance, Bound: math.Inf(1)}
	before := math.Inf(1) // worst defect of the mesh before
	for range 60 {
		if err := checkSize(p, o, g, s); err != nil {
			return nil, err
		}
		a, err := newPasses(p, o, g).answer(ctx, target)
		if err != nil && !errors.Is(err, errCoarse) {
			return nil, err
		}
		if err == nil {
			r := a.result(p)
			if missed.Bound = r.Worst(1); missed.Bound <= tolerance {
				return r, nil
			}
			if any, _ := a.escape(p.Capacities); any*g.end() > tolerance/8*slices.Max(a.least) {
				g, before = g.longer(), math.Inf(1)
				continue
			}
		}
		worst := slices.Max(g.coarse)
		switch finer := g.refined(target); {
		case finer != nil && worst > before/2 && worst < 0x1p-24: // roundings, which finer panels do not mend
			target = 2 * worst
		case finer != nil:
			before = worst
			if more := g.moreNodes(16 * worst / target); g.n+more <= mostNodes && more*g.panels() <= g.n*(finer.panels()-g.panels()) {
				finer = newMesh(g.breaks, g.n+more)
			}
			g = finer
		case target <= leastWide || worst > before/2 && worst < 0x1p-24:
			return nil, missed
		default:
			target = max(leastWide, target/8)
			if g.n+2 <= mostNodes {
				g = newMesh(g.breaks, g.n+2)
			} else {
				g = g.halved()
			}
		}
	}
	return nil, missed
}

// refined splits the panels whose cells are kept too coarsely.
func (g *mesh) refined(target float64) *mesh {
	breaks := []float64{0}
	for k, defect := range g.coarse {
		if !(defect <= target) {
			breaks = append(breaks, g.centre(k))
		}
		breaks = append(breaks, g.breaks[k+1])
	}
	if len(breaks) == len(g.breaks) {
		return nil
	}
	return newMesh(breaks, g.n)
}

// longer adds a quarter of the panels, as long as the last.
func (g *mesh) longer() *mesh {
	breaks := slices.Clone(g.breaks)
	for range (g.panels() + 3) / 4 {
		breaks = append(breaks, breaks[len(breaks)-1]+2*g.half(g.panels()-1))
	}
	return newMesh(breaks, g.n)
}

// moreNodes returns how many more nodes make a remainder smaller by a factor: two are good for about 50, and four are tried if it is not known.
func (g *mesh) moreNodes(factor float64) int {
	if factor > 1e20 {
		return 4
	}
	return 2 * int(math.Ceil(math.Log(factor)/math.Log(50)))
}

// mostNodes of a panel: with more the roundings of its polynomials would count.
const mostNodes = 24

// errCoarse says that a function is not kept as well as asked.
var errCoarse = errors.New("coarse")

// halved splits the longest panels.
func (g *mesh) halved() *mesh {
	longest := 0.0
	for k := range g.panels() {
		longest = max(longest, g.half(k))
	}
	for k := range g.coarse {
		g.coarse[k] = 0
		if g.half(k) > 0.7*longest {
			g.coarse[k] = 1
		}
	}
	return g.refined(0)
}

// firstMesh finds how far times go by passes without bounds, and makes panels of about four times the mean of the fastest server.
func firstMesh(ctx context.Context, p *Problem, o *Order, s Settings) (*mesh, error) {
	servers := float64(len(p.Capacities))
	nodes := min(mostNodes, 8+slices.Max(widths(p, o))/3*3+int(math.Ceil(1.3*math.Log10(4*servers/min(s.Tolerance, 0x1p-10)))))
	if err := checkSize(p, o, newMesh(evenly(1, 4, 1), nodes), s); err != nil { // fewer panels are never enough
		return nil, err
	}
	fastest := slices.Max(p.Capacities)
	end := 8 / slices.Min(p.Capacities)
	for {
		g := newMesh(evenly(end, max(2, math.Ceil(end*fastest/5)), 1), 8)
		g.rough = true
		if err := checkSize(p, o, newMesh(g.breaks, nodes), s); err != nil { // what comes is no shorter
			return nil, err
		}
		a, err := newPasses(p, o, g).answer(ctx, math.Inf(1))
		if err != nil {
			return nil, err
		}
		middle := g.panels() / 2
		y := a.beyond[middle]
		rate := -math.Log(max(y, 1e-12)) / g.breaks[middle]
		need := (math.Log(64*servers/min(s.Tolerance, 0x1p-10)) + 3) / rate
		switch {
		case !(y < 0.1):
			end *= 2
		case need > 1.5*end:
			end = min(need, 4*end)
		default:
			return newMesh(evenly(need, math.Ceil(need*fastest/4), 1.1), nodes), nil
		}
	}
}

// checkSize refuses a mesh on which passes would take more products or bytes than are allowed.
func checkSize(p *Problem, o *Order, g *mesh, s Settings) error {
	work, bytes := 0.0, 0.0
	widest := 0
	for _, w := range widths(p, o) {
		widest = max(widest, w)
		n, places, cells := float64(g.n), float64(g.panels()), 1.0 // orders and panels that agree
		for v := range w {
			cells *= places + float64(v)
		}
		work += 4 * cells * (places + float64(w)) * math.Pow(n, float64(w+1))
		bytes += 3 * 8 * cells * (math.Pow(n, float64(w)) + float64(radii<<w))
	}
	most, limit := cmp.Or(s.MaxWork, 1e11), cmp.Or(s.MaxBytes, 4<<30)
	if work > most || bytes > float64(limit) {
		return &num.TooLargeError{Input: input.Errorf("model", fmt.Sprintf("servers of width %d, whose times take %d panels", widest, g.panels()),
			"servers that take at most %.2g products and %d bytes, where these take %.2g and %.2g; a larger tolerance takes less", most, limit, work, bytes), Bytes: bytes, Limit: limit}
	}
	return nil
}

// evenly parts [0, end] in panels, each growth times as long as the one before.
func evenly(end, panels, growth float64) []float64 {
	breaks, at, length := []float64{0}, 0.0, 1.0
	for range int(panels) {
		at += length
		length *= growth
		breaks = append(breaks, at)
	}
	for k := range breaks {
		breaks[k] *= end / at
	}
	return breaks
}

// A reach knows what is beyond the panels.
type reach struct {
	*mesh
	beyond []float64 // of each break, the largest probability that a time is beyond it; of the first, 1
}

func (h *reach) add(f *function) {
	all, _ := h.moments(f, 0)
	for k := 1; k < h.panels(); k++ {
		mass, _ := h.moments(f, k)
		h.beyond[k] = max(h.beyond[k], (mass.value+mass.error)/(all.value-all.error)*(1+8*u))
	}
}

// escape returns a bound of the probability that any time is beyond the end, and of that of one server.
//
// Let R be the event that no time is, and H(x) the largest probability P~(T_s > x) of all servers. P~ given R is what was computed. Both densities are log-supermodular, R is decreasing and T_s > x
// increasing, so that P~(T_s > x | R) grows with all arrival rates, and with h as the largest of them, H(x) <= h + P~(not R) <= h + S H(T). The probability that T_s is beyond a time is
// log-concave in it (Prekopa), and 1 at 0: H(T) <= H(x)^θ with θ = T/x. So H(x) <= h + S H(x)^θ, for all rates from 0 to those given, with the h of these. If Y > h + S Y^θ, then H(x) is never Y. It depends
// continuously on the rates, and is e^{-Cx}, with the least capacity C, if they are 0: if that is below Y, then H(x) < Y always.
func (h *reach) escape(capacities []float64) (any, one float64) {
	servers, slowest := float64(len(capacities)), slices.Min(capacities)
	any, one = 1, 1
	for k := 1; k < h.panels(); k++ {
		theta := h.end() / h.breaks[k] * (1 - 0x1p-40)
		for _, f := range []float64{1.001, 1.1, 2, 4} {
			y := max(f*h.beyond[k], 1.001*math.Exp(-slowest*h.breaks[k]))
			if power := math.Pow(y, theta) * (1 + 0x1p-20); y < 1 && h.beyond[k]+servers*power < y*(1-0x1p-20) && servers*power < any {
				any, one = servers*power, power
			}
		}
	}
	return any, one
}

// An answer is what passes found, for times within the panels.
type answer struct {
	reach
	normalization arithmetic.Number
	least         []float64 // E[min_{S_i} T] of each class with arrivals
	leastBound    []float64 // of |log(true/least)|
	busy          []float64 // Σ_i λ_i P(T_s = min_{S_i} T) of each server
	busyBound     []float64 // of its error
	around        []float64 // Σ_i λ_i
}

// answer goes forward and back.
func (e *passes) answer(ctx context.Context, most float64) (*answer, error) {
	if err := e.forward(ctx, most); err != nil {
		return nil, err
	}
	servers, classes := len(e.order), len(e.problem.Classes)
	a := &answer{reach: reach{e.mesh, make([]float64, e.panels())}, normalization: arithmetic.FromFloat(1, 0), least: make([]float64, classes), leastBound: make([]float64, classes),
		busy: make([]float64, servers), busyBound: make([]float64, servers), around: make([]float64, servers)}
	for _, f := range e.kept {
		if len(f.servers) == 0 {
			steps := f.exponent / 512
			z := arithmetic.NewWide(math.Ldexp(f.values[0], f.exponent-512*steps), steps)
			a.normalization = a.normalization.Mul(arithmetic.FromWide(z, math.Expm1(f.err)*(1+8*u)))
		}
	}
	err := e.back(ctx, func(c *clique) error {
		own, err := c.least(ctx, []int{c.server})
		if err != nil {
			return err
		}
		a.add(own.parts[0])
		for _, i := range e.buckets[c.server].classes {
			if err := a.class(ctx, c, i); err != nil {
				return err
			}
		}
		return nil
	})
	return a, err
}

// class takes the least time of the servers of a class.
func (a *answer) class(ctx context.Context, c *clique, i int) error {
	k := c.problem.Classes[i]
	d, err := c.least(ctx, k.Servers)
	if err != nil {
		return err
	}
	masses := make([]estimate, len(d.parts))
	var mass, mean estimate
	for v, f := range d.parts {
		first, second := a.moments(f, 0)
		masses[v] = first
		if v == 0 {
			mass, mean = first, second
		} else {
			mass, mean = mass.plus(first), mean.plus(second)
		}
	}
	a.least[i], a.leastBound[i] = mean.over(mass)
	for v, s := range k.Servers {
		share, bound := masses[v].over(mass)
		if len(k.Servers) == 1 {
			share, bound = 1, 0
		}
		a.busy[s] += k.Rate * share
		a.busyBound[s] += k.Rate*share*math.Expm1(bound)*(1+8*u) + 4*u*a.busy[s]
		a.around[s] += k.Rate
	}
	return nil
}

// result counts what is beyond the end. As E~ given R is not more than E~, for R is decreasing and a minimum increasing, and E~[min; not R] is at most
// T P(not R) + E[(T_j - T)^+], where P(T_j > x) <= z^{x/T} with z of one server, the mean minimum is between that given R and T (P(not R) + z/log(1/z)) more.
func (a *answer) result(p *Problem) *forest.Result {
	any, one := a.escape(p.Capacities)
	beyond := a.end() * (any - one/math.Log(one)) * (1 + 8*u)
	r := &forest.Result{Times: make([]arithmetic.Number, len(p.Classes)), Busy: make([]arithmetic.Number, len(p.Capacities))}
	r.Normalization = arithmetic.FromWide(a.normalization.Wide, arithmetic.Compound(a.normalization.Bound, any/(1-any)*(1+8*u), 0))
	for i, k := range p.Classes {
		if k.Rate > 0 {
			bound := a.leastBound[i] + beyond/a.least[i]*(1+8*u)
			r.Times[i] = arithmetic.FromFloat(a.least[i], math.Expm1(bound)*(1+8*u))
		}
	}
	for s, c := range p.Capacities {
		r.Busy[s] = arithmetic.FromFloat(0, 0)
		if off := a.busyBound[s] + a.around[s]*any; a.busy[s] > 0 && off < a.busy[s]/2 {
			r.Busy[s] = arithmetic.FromFloat(a.busy[s], off/(a.busy[s]-off)*(1+8*u)).Quo(arithmetic.FromFloat(c, 0))
		} else if a.around[s] > 0 {
			r.Busy[s] = arithmetic.FromFloat(a.busy[s]/c, math.Inf(1))
		}
	}
	return r
}
