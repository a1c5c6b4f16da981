package forest

import "math"

// panels is a partition of [0, T]: panel p runs from at[p] to at[p+1]. All ends and widths are
// exact.
type panels struct{ at []float64 }

func (g *panels) count() int           { return len(g.at) - 1 }
func (g *panels) half(p int) float64   { return (g.at[p+1] - g.at[p]) / 2 }
func (g *panels) last() float64        { return g.at[len(g.at)-1] }
func (g *panels) middle(p int) float64 { return g.at[p] + g.half(p) }

// newPanels returns panels of width at most first near 0 and two panels per octave further out, up
// to end or beyond. For functions that vary on the scale of their argument, like e^-rt where it is
// not negligible, Chebyshev coefficients on these panels decrease by a factor of ten each.
func newPanels(first, end float64) *panels {
	h := math.Exp2(math.Floor(math.Log2(first)))
	g := &panels{at: []float64{0, h}}
	for t := h; t < end; t *= 2 {
		g.at = append(g.at, 1.5*t, 2*t)
	}
	return g
}

// split halves the marked panels.
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

// tail is the truncation error of functions at the end: far below a rounding, which costs only two
// panels.
const tail = 0x1p-90

// horizon returns the time T to which functions are kept, for servers of these capacities and a
// lower bound of σ > 0, if solvers use ω_s <= 2 C_s/σ for each server and twice their product in
// total: ω is at most 2 Π_s 2 C_s/σ. The error is at most tail times e^-extra. By Chernoff's bound,
// Q(n, v) <= e^-v (e v/n)^n for v >= n.
//
// The exponent V(t) = Σ_s C_s t_s - Σ_i λ_i min_{S_i} t is homogeneous of degree one. The density
// of E~ is proportional to e^-V, so V has the gamma distribution with S degrees: P~(V > v) = Q(S,
// v). With K_t the servers with t_s > t, V = ∫ C(K_t) - λ(K_t) dt >= σ max_s T_s, where σ is the
// smallest C(K) - λ(K) over the sets K of servers. Hence P~(max T > T) <= Q(S, σT), E~[max T; max T
// > T] <= (S/σ) Q(S+1, σT).
//
// Beyond T the solvers have freedom: they move the mass of server s to T itself and set it to ω_s
// e^{-C_s T} instead of e^{-C_s T}, which makes functions smooth at T. With ω >= 1 an upper bound
// on the product of the ω_s, their approximation of Z is at least Z - Z Q and at most Z + ω Z Q,
// since it is correct if no T_s is beyond T, and otherwise at most ω times too large. A mean of
// min_{S_i} T treats the minimum as up to 2T if all T_s of S_i are beyond T, and so is within 2ω
// (S/σ) Q(S+1, σT) of the truth, which is at least 1/C(S_i) because both the weight e^{Σ λ min} and
// the minimum increase in every T_s.
//
// Now consider a mean with the weight Ŷ = Y + c S, where constants of servers have the mean c, and
// Y = Σ λ min <= Λ V/σ with Λ = Σ λ. It adds at most (S/σ) Q(S+1, σT) c S + (S (S+1) Λ/σ²) Q(S+2,
// σT) there, and is at least c S times the mean without the weight.
func horizon(capacities []float64, slack, extra float64) float64 {
	n, most := float64(len(capacities)), 0.0
	need := extra - math.Log(tail) + math.Ln2*2
	for _, c := range capacities {
		need += math.Log(2 * c / slack)
		most = max(most, c)
	}
	need += math.Log(max(1, n*most*n/slack))
	need = need*(1+0x1p-30) + 1 // exceeds its rounding errors
	n += 2
	v := 2 * (n + need)
	for v-n*(1+math.Log(v/n)) < need {
		v *= 1.25
	}
	return v / slack * (1 + 0x1p-30)
}
