package elimination

import (
	"math"

	"productform/internal/matrices"
	"productform/num"
)

const (
	u    = 0x1p-53  // relative error of one rounding
	lost = 0x1p-900 // more than what numbers lose that fall below the range of float64, where the largest are about 1
)

// A mesh is a partition of [0, T] into panels with n Chebyshev nodes each. A polynomial of degree below n on a panel is known by its values there. The same mesh
// serves all servers, so that two times are in the same panel or in order.
type mesh struct {
	n      int
	breaks []float64 // panel k is [breaks[k], breaks[k+1]]
	rough  bool      // bounds are not wanted
	most   float64   // relative defect of a cell that is let pass
	points []float64 // node i of panel k, at k n + i
	rest   []float64 // and what rounding took from it
	flaws

	// On the panel [-1, 1], with ℓ_j the polynomial that is 1 at node j and 0 at the others:
	node      []float64 // x_i = -cos((2i+1)π/2n)
	weight    []float64 // ∫_{-1}^1 ℓ_j
	before    []float64 // ∫_{-1}^{x_i} ℓ_j, at i n + j
	after     []float64 // ∫_{x_i}^1 ℓ_j, at i n + j
	analysis  square    // coefficients of T_k from values at nodes
	synthesis square    // values from coefficients
	lebesgue  float64   // at least max_x Σ_j |ℓ_j(x)|
	absolute  float64   // at least Σ_j |weight|, |before| and |after| in each row

	multiplyAdd matrices.MultiplyAdd
	layouts     map[int]*layout // of functions, by their number of servers
}

// Flaws are what is worst of all cells so far.
type flaws struct {
	coarse []float64 // of each panel, the largest relative defect of a cell with it
	spare  []float64 // and that of cells whose values may be small beside others
	noise  float64   // the largest part of it that comes of roundings
}

func newFlaws(panels int) flaws { return flaws{make([]float64, panels), make([]float64, panels), 0} }

func (w *flaws) join(other *flaws) {
	for k := range w.coarse {
		w.coarse[k], w.spare[k] = max(w.coarse[k], other.coarse[k]), max(w.spare[k], other.spare[k])
	}
	w.noise = max(w.noise, other.noise)
}

// A square is an n×n matrix and its transpose, rows in sequence.
type square struct{ rows, columns []float64 }

func newMesh(breaks []float64, n int) *mesh {
	g := &mesh{n: n, breaks: breaks, flaws: newFlaws(len(breaks) - 1), multiplyAdd: matrices.Fastest(), layouts: make(map[int]*layout)}
	g.node, g.weight, g.before, g.after = make([]float64, n), make([]float64, n), make([]float64, n*n), make([]float64, n*n)
	for _, m := range []*square{&g.analysis, &g.synthesis} {
		m.rows, m.columns = make([]float64, n*n), make([]float64, n*n)
	}
	g.lebesgue = 1.001 + 2/math.Pi*math.Log(float64(n))
	for j := range n {
		g.node[j] = g.chebyshev(1, j)
		for k := range n {
			g.synthesis.rows[j*n+k] = g.chebyshev(k, j)
			g.analysis.rows[k*n+j] = 2 * g.chebyshev(k, j) / float64(n)
		}
		g.analysis.rows[j] = 1 / float64(n)
	}
	for i := range n {
		for j := range n {
			g.synthesis.columns[i*n+j] = g.synthesis.rows[j*n+i]
			g.analysis.columns[i*n+j] = g.analysis.rows[j*n+i]
		}
	}
	g.setWeights()
	for k := range len(breaks) - 1 {
		for _, x := range g.node {
			begin, length := breaks[k], g.half(k)*(1+x)
			t := begin + length
			g.points = append(g.points, t)
			g.rest = append(g.rest, length-(t-begin)) // exact, or less than a rounding of the length is lost
		}
	}
	return g
}

// A rate is a sum of capacities and arrival rates, as a float64 and what rounding took from it.
type rate struct{ value, rest float64 }

func rateOf(sum num.Sum) rate {
	v := sum.Value()
	sum.Add(-v)
	return rate{v, sum.Value()}
}

// power returns e^{at} at a node, times 1 with some four roundings and those of powerRoundoff.
func (g *mesh) power(a rate, node int) float64 {
	t := g.points[node]
	x := a.value * t
	return math.Exp(x) * (1 + (math.FMA(a.value, t, -x) + a.value*g.rest[node] + a.rest*t))
}

// powerRoundoff bounds the relative error of power beside: the time of a node is off its place in the panel by less than nine roundings of half its length. An angle θ is off by 2.4 of its size,
// so that x = -cos θ is by 2.4 θ sin θ + |x|; then 1 + x has one of 1, and half the length, their product and what is left of a time beside the begin one of 1 + x each.
func (g *mesh) powerRoundoff(a float64, panel int) float64 {
	return 10 * u * math.Abs(a) * g.half(panel)
}

// chebyshev returns T_k at node j, with an angle that is reduced in integers.
func (g *mesh) chebyshev(k, j int) float64 {
	m := k * (2*g.n - 2*j - 1) % (4 * g.n) // T_k(cos θ) = cos kθ, θ = (2n-2j-1) π/2n
	if m > 2*g.n {
		m = 4*g.n - m
	}
	if 2*m == 2*g.n {
		return 0
	}
	if m > g.n {
		return -math.Cos(math.Pi * float64(2*g.n-m) / float64(2*g.n))
	}
	return math.Cos(math.Pi * float64(m) / float64(2*g.n))
}

// setWeights integrates the ℓ_j = Σ_k analysis T_k: ∫_{-1}^x T_k = T_{k+1}/(2k+2) - T_{k-1}/(2k-2) - (-1)^k/(k²-1) for k >= 2. The terms of an entry come to less than
// 10/n in sum, so that compensated sums err by less than 60u/n each.
func (g *mesh) setWeights() {
	n := g.n
	g.absolute = 2
	for i := range n {
		rows := [2]float64{}
		for j := range n {
			var part, whole num.Sum
			for k := range n {
				a, f := g.analysis.rows[k*n+j], float64(k)
				sign := float64(1 - 2*(k%2))
				switch k {
				case 0:
					part.Add(a)
					part.Add(a * g.node[i])
				case 1:
					part.Add(a * (g.chebyshev(2, i) - 1) / 4)
				default:
					part.Add(a * g.chebyshev(k+1, i) / (2*f + 2))
					part.Add(-a * g.chebyshev(k-1, i) / (2*f - 2))
					part.Add(-a * sign / (f*f - 1))
				}
				if k%2 == 0 {
					whole.Add(2 * a / (1 - f*f))
				}
			}
			g.weight[j] = whole.Value()
			g.before[i*n+j] = part.Value()
			g.after[i*n+j] = whole.Value() - part.Value()
			rows[0] += math.Abs(g.before[i*n+j])
			rows[1] += math.Abs(g.after[i*n+j])
		}
		g.absolute = max(g.absolute, rows[0]*(1+0x1p-40), rows[1]*(1+0x1p-40))
	}
}

func (g *mesh) panels() int          { return len(g.breaks) - 1 }
func (g *mesh) half(k int) float64   { return (g.breaks[k+1] - g.breaks[k]) / 2 }
func (g *mesh) centre(k int) float64 { return g.breaks[k] + g.half(k) }
func (g *mesh) end() float64         { return g.breaks[len(g.breaks)-1] }

// transform multiplies a tensor of n^w entries by a matrix along each axis; the result goes into a, and b is room.
func (m *square) transform(multiplyAdd matrices.MultiplyAdd, n, w int, tensor, a, b []float64) {
	switch w {
	case 0:
		copy(a, tensor)
		return
	case 2:
		clear(b)
		multiplyAdd(b, m.rows, tensor, n, n, n)
		tensor = b
	}
	clear(a)
	multiplyAdd(a, tensor, m.columns, len(tensor)/n, n, n)
}

// dot returns the sum of products of the entries of a and b, which are as long, with as many roundings as a [matrices.MultiplyAdd].
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func power(n, w int) int {
	p := 1
	for range w {
		p *= n
	}
	return p
}
