package elimination

import "math"

// Panels are a partition of [0, T]: panel p runs from At[p] to At[p+1]. All ends and widths are exact.
type panels struct{ at []float64 }

func (g *panels) count() int           { return len(g.at) - 1 }
func (g *panels) half(p int) float64   { return (g.at[p+1] - g.at[p]) / 2 }
func (g *panels) last() float64        { return g.at[len(g.at)-1] }
func (g *panels) middle(p int) float64 { return g.at[p] + g.half(p) }

// newPanels returns panels of a width of at most first near 0, of two an octave further out, that reach at least to end. Functions that
// change on the scale of their argument, as e^-rt does where it is not negligible, have Chebyshev coefficients on them that fall to a tenth each.
func newPanels(first, end float64) *panels {
	h := math.Exp2(math.Floor(math.Log2(first)))
	g := &panels{at: []float64{0, h}}
	for t := h; t < end; t *= 2 {
		g.at = append(g.at, 1.5*t, 2*t)
	}
	return g
}

// split halves the panels that are marked.
func (g *panels) split(marked []bool) *panels {
	finer := &panels{at: make([]float64, 0, 2*len(g.at))}
	for p := range g.count() {
		finer.at = append(finer.at, g.at[p])
		if marked[p] {
			finer.at = append(finer.at, g.middle(p))
		}
	}
	finer.at = append(finer.at, g.last())
	return finer
}
