package forest

import "math"

// Panels are a partition of [0, T]: panel p runs from at[p] to at[p+1]. All ends and widths are exact.
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

// tail is the error at which functions end: it is far below a rounding, as it costs two panels to make it so.
const tail = 0x1p-90

// horizon returns the time T to which functions are kept, for servers of these capacities and a lower bound of σ > 0, if solvers take ω_s <= 2 C_s/σ each
// and twice their product for all: ω is at most 2 Π_s 2 C_s/σ. The error is tail times e^-extra at most. By the bound of Chernoff,
// Q(n, v) <= e^-v (e v/n)^n for v >= n.
//
// The exponent V(t) = Σ_s C_s t_s - Σ_i λ_i min_{S_i} t is homogeneous of degree one, so that V has under E~, whose density is proportional to e^-V, the
// gamma distribution with S degrees: P~(V > v) = Q(S, v). With K_t the servers of t_s > t it is V = ∫ C(K_t) - λ(K_t) dt >= σ max_s T_s, where σ is the least
// C(K) - λ(K) of all sets K of servers, and so P~(max T > T) <= Q(S, σT), E~[max T; max T > T] <= (S/σ) Q(S+1, σT).
//
// Beyond T the solvers are free: they put server s there at T itself, with a mass ω_s e^{-C_s T} of their choice in place of e^{-C_s T}, so that functions are
// smooth at T. With ω the most that the product of all these can be, at least 1, what they find in place of Z is at least
// Z - Z Q and at most Z + ω Z Q, since it is what it should be where no T_s is beyond, and elsewhere at most ω times that. A mean of min_{S_i} T is found
// as if the minimum were up to twice T where all T_s of S_i are beyond, and so within 2ω (S/σ) Q(S+1, σT) of the truth, which is at least
// 1/C(S_i) for the weight e^{Σ λ min} grows in every T_s, as the minimum does.
//
// A mean with the weight Ŷ = Y + c S, where constants of servers have the mean c, and Y = Σ λ min <= Λ V/σ with Λ = Σ λ, adds at most (S/σ) Q(S+1, σT) c S + (S (S+1) Λ/σ²) Q(S+2, σT) there, and is at least c S times
// that without.
func horizon(capacities []float64, slack, extra float64) float64 {
	n, most := float64(len(capacities)), 0.0
	need := extra - math.Log(tail) + math.Ln2*2
	for _, c := range capacities {
		need += math.Log(2 * c / slack)
		most = max(most, c)
	}
	need += math.Log(max(1, n*most*n/slack))
	need = need*(1+0x1p-30) + 1 // more than its roundings
	n += 2
	v := 2 * (n + need)
	for v-n*(1+math.Log(v/n)) < need {
		v *= 1.25
	}
	return v / slack * (1 + 0x1p-30)
}
