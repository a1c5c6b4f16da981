package prices

import (
	"context"
	"fmt"
	"math"

	"productform/num"
)

// A Solver computes proportional fairness in float64 from its dual. With b_ij = need[j][i] and
// m_i = count_i w_i, the dominant shares s_i = w_i/y_i, y_i = Σ_j p_j b_ij, are optimal if the
// prices p >= 0 minimize
//
//	Σ_j p_j - Σ_i m_i log y_i,
//
// that is, if every load Σ_i m_i b_ij / y_i is at most 1, and equal to 1 if p_j > 0; then Σ_j p_j =
// Σ_i m_i. The gradient is 1 - load_j and the Hessian Σ_i m_i b_ij b_il / y_i², so the work of a
// Newton step is linear in the rows and the system has the size of the support of p. The range of y
// at the optimum, m_i <= y_i <= Σ m, keeps all numbers within that of float64.
type Solver struct {
	need   [][]float64 // b_ij at [j][i]
	weight []float64   // w_i
	even   []float64   // 1/Σ_j b_ij

	rows    int         // number of rows present
	row     []int       // numbers of the rows present, if not all are
	column  [][]float64 // b of the rows present: the columns of the problem, or packed ones
	packed  [][]float64
	m       []float64 // count_i w_i of the rows present
	inverse []float64 // 1/y_i
	z       []float64 // m_i/y_i, the load of the row on a resource of which it needs 1
	q       []float64 // m_i/y_i²

	Total    float64 // Σ_i m_i
	Least    float64 // min_i m_i
	Price    []float64
	load     []float64
	Residual float64 // maximum of load_j - 1, and of |load_j - 1| if p_j > 0
	warm     bool    // price holds the prices of the last call

	newton *newtonStep
	before []float64 // prices at which a step starts
	best   []float64
}

// NewSolver returns a solver for rows of these needs b_ij, at [j][i], and weights. It retains both.
func NewSolver(need [][]float64, weight []float64) *Solver {
	n, resources := len(weight), len(need)
	flat := make([]float64, n*(resources+5))
	cut := func() []float64 {
		c := flat[:n:n]
		flat = flat[n:]
		return c
	}
	k := &Solver{
		need: need, weight: weight, even: cut(), m: cut(), inverse: cut(), z: cut(), q: cut(), row: make([]int, n),
		column: make([][]float64, resources), packed: make([][]float64, resources),
		Price: make([]float64, resources), load: make([]float64, resources),
		before: make([]float64, resources), best: make([]float64, resources), newton: newNewtonStep(resources),
	}
	for j := range resources {
		k.packed[j] = cut()
		for i, b := range need[j] {
			k.even[i] += b
		}
	}
	for i, sum := range k.even {
		k.even[i] = 1 / sum
	}
	return k
}

// Forget discards the state of the previous call.
func (k *Solver) Forget() { k.warm = false }

// Shares writes the dominant share of one job of each row while count[i] jobs of row i are present.
// It starts from the prices of the previous call, and is deterministic after Forget. A small
// residual r means that the loads are accurate. According to the proof at fluid.allocateEnclosed,
// with a gap of r Σ m, a share is within a factor of about 1 ± sqrt(2 r Σ m / m_i). Rows whose m_i
// is tiny compared with the others of their resources may therefore depend on differences of loads
// below the precision of float64. The error reports that the residual stayed above residualLimit.
func (k *Solver) Shares(ctx context.Context, count, share []float64) error {
	k.enter(count)
	switch {
	case len(k.need) == 1:
		k.Price[0] = k.Total
		k.evaluate()
	default:
		k.start()
		k.minimise(ctx)
		if k.warm && !(k.Residual <= residualFair) {
			k.warm = false
			k.start()
			k.minimise(ctx)
		}
		for range len(k.need) + 5 {
			if k.Residual <= residualFair || ctx.Err() != nil {
				break
			}
			k.sweep()
			k.minimise(ctx)
		}
	}
	if err := ctx.Err(); err != nil {
		k.warm = false
		return err
	}
	k.warm = k.Residual <= residualLimit
	if !k.warm {
		return fmt.Errorf(
			"proportional fairness in float64: the loads of the resources are off by %.3g; use the engine enclose",
			k.Residual,
		)
	}
	if k.rows == len(k.weight) {
		weight := k.weight[:len(share)]
		for i, r := range k.inverse[:len(share)] {
			share[i] = weight[i] * r
		}
		return nil
	}
	clear(share)
	for i, row := range k.row[:k.rows] {
		share[row] = k.weight[row] * k.inverse[i]
	}
	return nil
}

// Residuals of proportional fairness in float64: the one at which to stop once prices have
// converged, the largest at which nothing else is tried, the one below which a step without gain is
// attributed to rounding, and the largest that is returned. Prices have converged if another step
// would change no share by more than convergedTol. If Σ_i m_i divided by the smallest m_i exceeds
// warmSpread, shares depend on the path to the prices, so the path is then always the same.
const (
	residualGoal  = 1e-14
	residualFair  = 1e-11
	residualNear  = 1e-7
	residualLimit = 1e-9
	convergedTol  = 1e-10
	warmSpread    = 1e6
)

// enter extracts the present rows from the problem.
func (k *Solver) enter(count []float64) {
	weight := k.weight[:len(count)]
	k.m = k.m[:len(count)]
	rows := 0
	k.Least = math.Inf(1)
	for i, c := range count {
		if c != 0 {
			m := c * weight[i]
			if m < k.Least {
				k.Least = m
			}
			k.m[rows] = m
			k.row[rows] = i
			rows++
		}
	}
	k.rows, k.Total = rows, num.PairwiseSum(k.m[:rows])
	k.warm = k.warm && k.Total <= warmSpread*k.Least
	if rows == len(count) {
		copy(k.column, k.need)
		return
	}
	k.m = k.m[:rows]
	for j, b := range k.need {
		c := k.packed[j][:rows]
		for i, row := range k.row[:rows] {
			c[i] = b[row]
		}
		k.column[j] = c
	}
}

// start sets the initial prices: those of the last call, or Σ_i m_i b_ij / Σ_l b_il, which is a
// step of expectation maximization from equal prices and exact if no two rows share a resource. It
// uses the latter if the last prices are 0 for all resources of some row.
func (k *Solver) start() {
	if k.warm {
		k.scale()
		if k.evaluate(); k.Residual < math.MaxFloat64 {
			return
		}
	}
	z := k.z[:k.rows]
	if k.rows == len(k.weight) {
		even := k.even[:len(z)]
		for i, m := range k.m[:len(z)] {
			z[i] = m * even[i]
		}
	} else {
		for i, m := range k.m[:len(z)] {
			z[i] = m * k.even[k.row[i]]
		}
	}
	for j, b := range k.column {
		k.Price[j] = dot(b, z)
	}
	k.scale()
	k.evaluate()
}

// scale scales the prices to the sum Σ_i m_i, which is optimal among all multiples. Negligible
// prices become 0.
func (k *Solver) scale() {
	factor := k.Total / num.PairwiseSum(k.Price)
	for j := range k.Price {
		k.Price[j] *= factor
	}
}

// evaluate sets 1/y, m/y, m/y², the loads and the residual, which is +Inf or NaN if some y is 0.
func (k *Solver) evaluate() {
	support := k.newton.support[:0]
	for j, p := range k.Price {
		if p > 0 {
			support = append(support, j)
		}
	}
	k.newton.support = support
	if len(support) == 0 {
		k.Residual = math.Inf(1)
		return
	}
	k.invert(support)
	k.measure()
}

// invert sets 1/y, m/y and m/y² from the positive prices. Few prices are summed in a single pass
// over the rows.
func (k *Solver) invert(support []int) {
	n := k.rows
	m, r, z, q := k.m[:n], k.inverse[:n], k.z[:n], k.q[:n]
	at := func(s int) ([]float64, float64) { return k.column[support[s]][:n], k.Price[support[s]] }
	switch len(support) {
	case 1:
		a, pa := at(0)
		for i, m := range m {
			x := 1 / (pa * a[i])
			r[i], z[i] = x, m*x
			q[i] = m * x * x
		}
	case 2:
		a, pa := at(0)
		b, pb := at(1)
		for i, m := range m {
			x := 1 / (pa*a[i] + pb*b[i])
			r[i], z[i] = x, m*x
			q[i] = m * x * x
		}
	case 3:
		a, pa := at(0)
		b, pb := at(1)
		c, pc := at(2)
		for i, m := range m {
			x := 1 / (pa*a[i] + pb*b[i] + pc*c[i])
			r[i], z[i] = x, m*x
			q[i] = m * x * x
		}
	default:
		a, pa := at(0)
		b, pb := at(1)
		c, pc := at(2)
		d, pd := at(3)
		for i := range r {
			r[i] = pa*a[i] + pb*b[i] + (pc*c[i] + pd*d[i])
		}
		for s := 4; s < len(support); s++ {
			a, pa := at(s)
			for i := range r {
				r[i] += pa * a[i]
			}
		}
		for i, m := range m {
			x := 1 / r[i]
			r[i], z[i] = x, m*x
			q[i] = m * x * x
		}
	}
}

// measure sets the loads and the residual from m/y.
func (k *Solver) measure() {
	z := k.z[:k.rows]
	j := 0
	for ; j+1 < len(k.column); j += 2 {
		k.load[j], k.load[j+1] = dotTwo(k.column[j], k.column[j+1], z)
	}
	if j < len(k.column) {
		k.load[j] = dot(k.column[j], z)
	}
	k.Residual = 0
	for j, load := range k.load {
		off := load - 1
		if k.Price[j] > 0 {
			off = math.Abs(off)
		}
		if !(off <= k.Residual) {
			k.Residual = off
			if off != off {
				return
			}
		}
	}
}

// dot returns Σ_i a_i b_i, with long sums halved as in dotTwo.
func dot(a, b []float64) float64 {
	if half := len(a) / 2; half >= 1024 {
		return dot(a[:half], b[:half]) + dot(a[half:], b[half:])
	}
	var s, t, u, v float64
	for len(a) >= 4 && len(b) >= 4 {
		s += a[0] * b[0]
		t += a[1] * b[1]
		u += a[2] * b[2]
		v += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range min(len(a), len(b)) {
		s += a[i] * b[i]
	}
	return (s + t) + (u + v)
}

// dotTwo returns Σ_i a_i c_i and Σ_i b_i c_i. Long sums are halved to keep rounding from growing
// with their length.
func dotTwo(a, b, c []float64) (x, y float64) {
	a, b = a[:len(c)], b[:len(c)]
	if half := len(c) / 2; half >= 1024 {
		u, v := dotTwo(a[:half], b[:half], c[:half])
		x, y = dotTwo(a[half:], b[half:], c[half:])
		return x + u, y + v
	}
	var s, t, u, v float64
	for len(c) >= 2 && len(a) >= 2 && len(b) >= 2 {
		s += a[0] * c[0]
		t += b[0] * c[0]
		u += a[1] * c[1]
		v += b[1] * c[1]
		a, b, c = a[2:], b[2:], c[2:]
	}
	if len(c) > 0 && len(a) > 0 && len(b) > 0 {
		s += a[0] * c[0]
		t += b[0] * c[0]
	}
	return s + u, t + v
}
