package elimination

import (
	"math"

	"productform/num"
)

const (
	u    = 0x1p-53  // relative error of one rounding
	lost = 0x1p-900 // bounds the loss by underflow to subnormal numbers, for numbers of at most about 1
)

// A mesh is a partition of [0, T] into panels with n Chebyshev nodes each. A polynomial of degree
// below n on a panel is determined by its values there. The same mesh serves all servers, so two
// times are either in the same panel or ordered by panel.
type mesh struct {
	n      int
	breaks []float64 // panel k is [breaks[k], breaks[k+1]]
	rough  bool      // skip the bounds
	most   float64   // relative defect accepted for a cell
	points []float64 // node i of panel k, at k n + i
	rest   []float64 // rounding error of each point
	flaws

	// On the panel [-1, 1], with ℓ_j the polynomial that is 1 at node j and 0 at the others:
	node      []float64      // x_i = -cos((2i+1)π/2n)
	weight    []float64      // ∫_{-1}^1 ℓ_j
	before    []float64      // ∫_{-1}^{x_i} ℓ_j, at i n + j
	after     []float64      // ∫_{x_i}^1 ℓ_j, at i n + j
	analysis  square         // coefficients of T_k from values at nodes
	synthesis square         // values from coefficients
	lebesgue  float64        // at least max_x Σ_j |ℓ_j(x)|
	absolute  float64        // at least Σ_j |weight|, |before| and |after| in each row
	decay     [radii]float64 // ρ^-n

	multiplyAdd MultiplyAdd
	layouts     map[int]*layout // layouts of functions, by their number of servers
}

// flaws records the worst defects over all cells so far.
type flaws struct {
	coarse      []float64 // for each panel, the largest relative defect of a cell with it
	coarseSmall []float64 // the same for cells whose values may be small relative to others
	noise       float64   // the largest part due to rounding
}

func newFlaws(panels int) flaws { return flaws{make([]float64, panels), make([]float64, panels), 0} }

func (w *flaws) join(other *flaws) {
	for k := range w.coarse {
		w.coarse[k], w.coarseSmall[k] = max(w.coarse[k], other.coarse[k]), max(w.coarseSmall[k], other.coarseSmall[k])
	}
	w.noise = max(w.noise, other.noise)
}

// A square is an n×n matrix and its transpose, rows in sequence.
type square struct{ rows, columns []float64 }

func newMesh(breaks []float64, n int) *mesh {
	g := &mesh{
		n:           n,
		breaks:      breaks,
		flaws:       newFlaws(len(breaks) - 1),
		multiplyAdd: Fastest(),
		layouts:     make(map[int]*layout),
	}
	g.node, g.weight, g.before, g.after = make([]float64, n), make([]float64, n), make([]float64, n*n),
		make([]float64, n*n)
	for _, m := range []*square{&g.analysis, &g.synthesis} {
		m.rows, m.columns = make([]float64, n*n), make([]float64, n*n)
	}
	for e, rho := range ellipses {
		g.decay[e] = math.Pow(rho, -float64(n))
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
			g.rest = append(g.rest, length-(t-begin)) // exact, or off by less than one rounding of the length
		}
	}
	return g
}

// A rate is a sum of capacities and arrival rates, as a float64 and its rounding error.
type rate struct{ value, rest float64 }

func rateOf(sum num.Sum) rate {
	v := sum.Value()
	sum.Add(-v)
	return rate{v, sum.Value()}
}

// power returns e^{at} at a node, with about four roundings besides those bounded by powerRoundoff.
func (g *mesh) power(a rate, node int) float64 {
	t := g.points[node]
	x := a.value * t
	return math.Exp(x) * (1 + (math.FMA(a.value, t, -x) + a.value*g.rest[node] + a.rest*t))
}

// powerRoundoff bounds the relative error of power due to the node: its time is off by less than
// nine roundings of half the length of the panel. An angle θ is off by 2.4 of its size, so x = -cos
// θ is off by 2.4 θ sin θ + |x|. Then 1 + x adds one rounding of 1; half the length, their product
// and the difference to the start add one rounding of 1 + x each.
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

// setWeights integrates the ℓ_j = Σ_k analysis T_k: ∫_{-1}^x T_k = T_{k+1}/(2k+2) -
// T_{k-1}/(2k-2) - (-1)^k/(k²-1) for k >= 2. The terms of an entry sum to less than 10/n, so
// compensated sums are off by less than 60u/n.
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

// transform multiplies a tensor of n^w entries by a matrix along each axis; the result goes into a,
// and b is scratch space.
func (m *square) transform(multiplyAdd MultiplyAdd, n, w int, tensor, a, b []float64) {
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

// dot returns the dot product of a and b, which have the same length, with as many roundings as a
// [MultiplyAdd].
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
