package elimination

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"productform/bf/internal/forest"
	"productform/internal/input"
	"productform/num"
)

// fineTol is the tolerance below which panels are shorter, to reduce rounding errors.
const fineTol = 1e-7

// leastWide is the smallest defect requested of functions of several times; rounding errors are
// about that large.
const leastWide = 0x1p-36

// solveWide returns the measures of a problem by functions of up to [MaxWidth] times.
func solveWide(ctx context.Context, p *Problem, o *Order, s Settings) (*forest.Result, error) {
	if w := slices.Max(widths(p, o)); w > MaxWidth { // including classes without arrivals
		return nil, widthError(w)
	}
	tolerance := min(s.Tolerance, 0x1p-10) // the largest bound that an arithmetic.Number may have
	g, err := firstMesh(ctx, p, o, s)
	if err != nil {
		return nil, err
	}
	aim := &aim{leastWide, math.Inf(1), max(leastWide, tolerance/4)}
	if tolerance < fineTol {
		aim.target = max(leastWide, tolerance/(4+float64(len(p.Capacities))/4))
	}
	var seen progress
	missed := &ToleranceError{Tolerance: tolerance, Bound: math.Inf(1)}
	for range 60 {
		if err := checkSize(p, o, g.panels(), g.n, s); err != nil {
			if seen.best > 0 && seen.best < 1 && !s.Gradients && len(s.Of) == 0 { // already known
				missed.Bound = seen.best
				return nil, missed
			}
			return nil, err
		}
		if p.overflows(o, g.end()) {
			return nil, missed
		}
		a, err := newPasses(p, o, g, s).answer(ctx, aim.target)
		if err != nil && !errors.Is(err, errCoarse) {
			return nil, err
		}
		if err == nil {
			r, worst := a.result(p, s)
			derived := worst <= tolerance && (s.Gradients || len(s.Of) > 0)
			if missed.Bound = worst; derived {
				if worst, err = a.derive(ctx, p, o, s, r, aim.target); err != nil && !errors.Is(err, errCoarse) {
					return nil, err
				}
				missed.Bound = max(missed.Bound, worst)
			}
			if err == nil && missed.Bound <= tolerance {
				return r, nil
			}
			if seen.hasStalled(worst, derived) {
				return nil, missed
			}
			if a.isShort(p, tolerance, s) {
				g = g.longer()
				continue
			}
			if worst < 1e6*tolerance && g.noise < aim.target/8 {
				g = g.closer(4 * worst / tolerance)
				aim.lower(aim.target / 4)
				continue
			}
			if worst < 4*tolerance { // slightly shorter panels suffice
				g = g.shortenPanels(2 + int(float64(g.panels())*math.Log(worst/tolerance)/3))
				aim.lower(aim.target / 2)
				continue
			}
			for k, defect := range g.coarseSmall {
				g.coarse[k] = max(g.coarse[k], min(defect, 1))
			}
			if aim.lower(min(aim.target, slices.Max(g.coarse)) / 4); slices.Max(g.coarse) <= aim.target {
				return nil, missed
			}
		}
		if g = aim.refineMesh(g); aim.target > tolerance {
			return nil, missed
		}
	}
	return nil, missed
}

// An aim sets the required accuracy of functions.
type aim struct {
	least  float64 // smallest useful defect: rounding errors are as large
	quiet  float64 // rounding errors on the previous mesh
	target float64 // required defect
}

func (a *aim) lower(target float64) { a.target = max(a.least, target) }

// refineMesh returns a mesh with shorter panels or more nodes where functions were too coarse, and
// raises the target if rounding was the cause.
func (a *aim) refineMesh(g *mesh) *mesh {
	if g.noise > a.target/2 {
		if g.noise > a.quiet/4 {
			a.least = max(a.least, 4*g.noise)
		}
		a.quiet = g.noise
		a.target = max(a.target, a.least)
	}
	worst, refineMesh := slices.Max(g.coarse), g.refined(a.target)
	switch closer := g.closer(4 * worst / a.target); {
	case refineMesh == nil:
		return newMesh(g.breaks, g.n)
	case g.noise < a.target/2 && closer.n*closer.panels() <= refineMesh.n*refineMesh.panels():
		return closer
	}
	return refineMesh
}

// A progress records the smallest bound reached so far, and the number of answers since. Answers
// with derivatives are counted separately because their bounds are larger.
type progress struct {
	best    float64
	since   int
	derived bool
}

// hasStalled records the bound reached by an answer, and reports whether further answers are
// useless because rounding errors dominate.
func (s *progress) hasStalled(bound float64, derived bool) bool {
	switch {
	case s.best == 0 || derived != s.derived:
		*s = progress{bound, 0, derived}
	case bound < 0.95*s.best:
		s.best, s.since = bound, 0
	default:
		s.since++
	}
	return s.since > 2 && bound < math.Inf(1)
}

// refined splits the panels whose cells are too coarse.
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

// shortenPanels shortens all panels, so their number grows by more.
func (g *mesh) shortenPanels(more int) *mesh {
	panels := g.panels() + more
	breaks := make([]float64, 1, panels+1)
	for len(breaks) < panels {
		at := float64(len(breaks)*g.panels()) / float64(panels)
		k := int(at)
		breaks = append(breaks, g.breaks[k]+(at-float64(k))*(g.breaks[k+1]-g.breaks[k]))
	}
	return newMesh(append(breaks, g.end()), g.n)
}

// longer adds a quarter of the panels, each as long as the last one.
func (g *mesh) longer() *mesh {
	breaks := slices.Clone(g.breaks)
	for range (g.panels() + 3) / 4 {
		breaks = append(breaks, breaks[len(breaks)-1]+2*g.half(g.panels()-1))
	}
	return newMesh(breaks, g.n)
}

// closer reduces remainders by a factor with more nodes, or with shorter panels if there are too
// many nodes. Two nodes gain a factor of about 50; if the factor is unknown, closer adds four.
func (g *mesh) closer(factor float64) *mesh {
	more := 4
	if factor <= 1e20 {
		more = 2 * int(math.Ceil(math.Log(factor)/math.Log(50)))
	}
	over := g.n + more - mostNodes
	if over <= 0 {
		return newMesh(g.breaks, g.n+more)
	}
	panels := float64(g.panels()) * math.Expm1(2*float64(over)/mostNodes)
	return newMesh(g.shortenPanels(int(math.Ceil(panels))).breaks, mostNodes)
}

// mostNodes is the largest number of nodes per panel: beyond it rounding errors in the polynomials
// dominate.
const mostNodes = 24

// errCoarse reports that a function is less accurate than required.
var errCoarse = errors.New("coarse")

// rarestLog is the logarithm below which probabilities are too small to compute.
const rarestLog = -600

// firstMesh finds the end of the times by passes without bounds.
//
// A time exceeds the end with probability at least e^{-δ end}, with δ the slack: log P(T_s > t) is
// concave, 0 at 0, and its slope tends to -δ if s is in the set with that slack. This gives a lower
// bound on the end, so a problem can be rejected before any pass.
func firstMesh(ctx context.Context, p *Problem, o *Order, s Settings) (*mesh, error) {
	servers, tolerance := float64(len(p.Capacities)), min(s.Tolerance, 0x1p-10)
	length, nodes := p.resolution(s)
	end := math.Log(servers/tolerance) / p.slack(o)
	if err := p.checkEnd(o, end, length, nodes, s); err != nil {
		return nil, err
	}
	end = min(end, 16/slices.Min(p.Capacities))
	for {
		if p.overflows(o, end) { // larger ends need no fewer panels
			return nil, &ToleranceError{Tolerance: tolerance, Bound: math.Inf(1)}
		}
		g := newMesh(p.breaks(end, 5), 8)
		g.rough = true
		if err := checkSize(p, o, g.panels(), nodes, s); err != nil { // larger ends need no fewer panels
			return nil, err
		}
		a, err := newPasses(p, o, g, s).answer(ctx, math.Inf(1))
		if err != nil {
			return nil, err
		}
		middle := g.panels() / 2
		y := a.beyond[middle]
		rate := -math.Log(max(y, 1e-12)) / g.breaks[middle]
		rarest := a.rarest(true, s)
		if !(rarest > rarestLog) {
			return nil, &num.TooLargeError{Input: input.Errorf("model", "servers that form no forest",
				"fewer jobs in distributions: %d jobs of one class are too rare for float64",
				s.ByClass)}
		}
		need := (math.Log(64*servers/tolerance) + 3 - rarest) / rate
		switch {
		case !(y < 0.1):
			end *= 2
		case need > 1.5*end:
			if err := p.checkEnd(o, need/2, length, nodes, s); err != nil { // half of it is already too much
				return nil, err
			}
			end = min(need, 4*end)
		default:
			g = newMesh(p.breaks(need, length), nodes)
			if s.ByClass > 0 { // skip a useless attempt: more panels will be needed
				return g, p.checkEnd(o, need, length/1.4, nodes, s)
			}
			return g, nil
		}
	}
}

// resolution returns the length of panels in means of the fastest server, and their number of
// nodes. About 1.3 nodes make a remainder ten times smaller; the bounds for all servers add up.
func (p *Problem) resolution(s Settings) (length float64, nodes int) {
	servers, tolerance := float64(len(p.Capacities)), min(s.Tolerance, 0x1p-10)
	length, nodes = 4.0, min(mostNodes, 7+int(math.Ceil(1.5*math.Log10((4+servers/250)/tolerance))))
	if s.Tolerance < fineTol {
		length, nodes = 2.7, nodes-2
	}
	return length, nodes
}

// overflows reports whether a power leaves the range of float64 before the end: the power of a
// server that stays when another is eliminated, if its time is the minimum of all eliminated
// classes of both. No cell with such a power has a bound.
func (p *Problem) overflows(o *Order, end float64) bool {
	place := o.places()
	rates := make(map[[2]int]float64) // rates of the classes eliminated with a server, by another of their servers
	most := 0.0
	for _, k := range p.Classes {
		gone := first(place, k.Servers)
		for _, s := range k.Servers {
			if s != gone {
				rates[[2]int{gone, s}] += k.Rate
				most = max(most, rates[[2]int{gone, s}])
			}
		}
	}
	return most*end > 720 // the last node is within 1 % of the end, and e^710 overflows
}

const mostPanels = 1 << 20 // largest number of panels counted

// checkEnd rejects times up to an end like checkSize, even if their panels are too many to count.
func (p *Problem) checkEnd(o *Order, end, length float64, nodes int, s Settings) error {
	panels := mostPanels
	if end > 0 && end*slices.Min(p.Capacities) < length*mostPanels {
		panels = len(p.breaks(end, length)) - 1
	}
	return checkSize(p, o, panels, nodes, s)
}

// breaks divides [0, end] into panels of about length means of the fastest server still alive
// there; a server counts as alive for a few times its mean. Lengths change gradually.
func (p *Problem) breaks(end, length float64) []float64 {
	around := make([]float64, len(p.Capacities))
	for _, k := range p.Classes {
		for _, s := range k.Servers {
			around[s] += k.Rate
		}
	}
	breaks, at, before := []float64{0}, 0.0, math.Inf(1)
	for at < end {
		fastest := slices.Min(p.Capacities)
		for s, c := range p.Capacities {
			if at*max(c/8, c-around[s]) < 25 {
				fastest = max(fastest, c)
			}
		}
		own := length / fastest
		switch at {
		case 0:
			own *= 0.6
		default:
			own = min(own, 1.4*before)
		}
		before = own
		at += own
		breaks = append(breaks, at)
	}
	for k := range breaks {
		breaks[k] *= end / at
	}
	return breaks
}

// checkSize rejects panels on which passes would exceed the limits on products or bytes.
func checkSize(p *Problem, o *Order, panels, nodes int, s Settings) error {
	work, bytes := p.size(o, panels, nodes)
	asked := float64(len(s.Of)) // passes with weights, each with about five terms
	if s.Gradients {
		asked++
	}
	if work *= 1 + 5*asked; asked > 0 {
		bytes = 2*bytes + linearBytes(p, panels, nodes)
	}
	most, limit := cmp.Or(s.MaxWork, 1e11), cmp.Or(s.MaxBytes, num.DefaultMaxBytes)
	if work > most || bytes > float64(limit) {
		help := "a larger tolerance needs less"
		if s.ByClass > 0 {
			help = fmt.Sprintf("fewer than %d jobs of one class in distributions, or a larger tolerance, need less",
				s.ByClass)
		}
		size := fmt.Sprintf("servers whose times need %d panels", panels)
		return &num.TooLargeError{Bytes: bytes, Limit: limit, Input: input.Errorf("model", size,
			"servers that need at most %.2g products and %d bytes: these need %.2g and %.2g; %s",
			most, limit, work, bytes, help)}
	}
	return nil
}

// size returns the numbers of products and bytes that passes need.
func (p *Problem) size(o *Order, panels, nodes int) (work, bytes float64) {
	for _, w := range widths(p, o) {
		n, places, cells := float64(nodes), float64(panels), 1.0 // compatible orders and panels
		for v := range w {
			cells *= places + float64(v)
		}
		work += 4 * cells * (places + float64(w)) * math.Pow(n, float64(w+1))
		bytes += 3 * 8 * cells * (math.Pow(n, float64(w)) + float64(radii<<w))
	}
	return work, bytes
}

// linearBytes returns the size of the largest function that passes.linear creates, one at a time:
// it depends on as many times as a class has servers, one more than a message may have.
func linearBytes(p *Problem, panels, nodes int) (most float64) {
	for _, k := range p.Classes {
		w, n, places := float64(len(k.Servers)), float64(nodes), float64(panels)
		cells, orders := 1.0, 1.0
		for v := range len(k.Servers) {
			cells *= places + float64(v)
			orders *= float64(v + 1)
		}
		if k.Rate > 0 {
			most = max(
				most,
				2*8*cells*(math.Pow(n, w)+math.Ldexp(float64(radii), len(k.Servers))+w+2)+4*orders*math.Pow(places, w),
			)
		}
	}
	return most
}
