package elimination

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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
	floor := leastWide // what targets are no smaller than
	for range 60 {
		if err := checkSize(p, o, g, s); err != nil {
			return nil, err
		}
		a, err := newPasses(p, o, g, s).answer(ctx, target)
		if err != nil && !errors.Is(err, errCoarse) {
			return nil, err
		}
		if err == nil {
			r, worst := a.result(p, s)
			if missed.Bound = worst; worst <= tolerance {
				return r, nil
			}
			if any, _ := a.escape(p.Capacities); any*g.end() > tolerance/8*a.longest() || any > tolerance/8*math.Exp(a.rarest(false, s)) {
				g = g.longer()
				continue
			}
		}
		worst := slices.Max(g.coarse)
		switch finer := g.refined(target); {
		case finer != nil && g.stuck(target) && worst < 0x1p-24: // roundings, which finer panels do not mend
			target, floor = 2*worst, 2*worst
		case finer != nil:
			if more := g.moreNodes(16 * worst / target); g.n+more <= mostNodes && more*g.panels() <= g.n*(finer.panels()-g.panels()) {
				finer = newMesh(g.breaks, g.n+more)
			}
			g = finer
		case target <= floor:
			return nil, missed
		default:
			target = max(floor, target/8)
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
	breaks, before := []float64{0}, []float64{}
	for k, defect := range g.coarse {
		if !(defect <= target) {
			breaks = append(breaks, g.centre(k))
			before = append(before, defect, defect)
		} else {
			before = append(before, math.Inf(1))
		}
		breaks = append(breaks, g.breaks[k+1])
	}
	if len(breaks) == len(g.breaks) {
		return nil
	}
	finer := newMesh(breaks, g.n)
	finer.whole = before
	return finer
}

// stuck reports whether all panels whose cells are kept too coarsely are halves of panels that were hardly worse.
func (g *mesh) stuck(target float64) bool {
	for k, defect := range g.coarse {
		if !(defect <= target) && (g.whole == nil || !(defect > g.whole[k]/2)) {
			return false
		}
	}
	return true
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

// rarestLog is the logarithm of probabilities that are too small to be computed.
const rarestLog = -600

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
		a, err := newPasses(p, o, g, s).answer(ctx, math.Inf(1))
		if err != nil {
			return nil, err
		}
		middle := g.panels() / 2
		y := a.beyond[middle]
		rate := -math.Log(max(y, 1e-12)) / g.breaks[middle]
		rarest := a.rarest(true, s)
		if !(rarest > rarestLog) {
			return nil, &num.TooLargeError{Input: input.Errorf("model", "servers that form no forest", "fewer jobs in distributions: %d jobs of one class are too rare for float64", s.ByClass)}
		}
		need := (math.Log(64*servers/min(s.Tolerance, 0x1p-10)) + 3 - rarest) / rate
		switch {
		case !(y < 0.1):
			end *= 2
		case need > 1.5*end:
			if err := checkSize(p, o, newMesh(evenly(need/2, math.Ceil(need/2*fastest/4), 1.1), nodes), s); err != nil { // half of it is too much
				return nil, err
			}
			end = min(need, 4*end)
		default:
			g = newMesh(evenly(need, math.Ceil(need*fastest/4), 1.1), nodes)
			if s.ByClass > 0 { // such long times are not tried in vain: more panels will be needed
				return g, checkSize(p, o, newMesh(evenly(need, math.Ceil(1.4*float64(g.panels())), 1.1), nodes), s)
			}
			return g, nil
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
		help := "a larger tolerance takes less"
		if s.ByClass > 0 {
			help = fmt.Sprintf("without probabilities as small as those of %d jobs of one class, or with a larger tolerance, they take less", s.ByClass)
		}
		return &num.TooLargeError{Input: input.Errorf("model", fmt.Sprintf("servers of width %d, whose times take %d panels", widest, g.panels()),
			"servers that take at most %.2g products and %d bytes, where these take %.2g and %.2g; %s", most, limit, work, bytes, help), Bytes: bytes, Limit: limit}
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
