package sizes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"productform/internal/input"
)

const (
	maxStates    = 100
	maxStiffness = 1e6
)

// phaseType is the law of the time to absorption of a Markov chain.
type phaseType struct {
	alpha     []float64    // initial probabilities
	generator [][]float64  // T
	exit      []float64    // rates to absorption
	start     aliasTable   // draws the first state
	next      []aliasTable // draws the state after i, n for absorption
	rate      float64      // ν, the largest rate of leaving a state
	mean      []float64    // mean time to absorption from each state
	longest   float64      // the largest of them
	step      [][]float64  // one step of the uniformized chain, with absorption as the last state
	powers    [][][]float64
}

// NewPhaseType returns the law of the time to absorption of a Markov chain that starts in state i with probability
// alpha[i] and leaves it with rates generator[i][j] to j, and -Σ_j generator[i][j] >= 0 to absorption: P(X > x) is the
// sum of α e^(Tx). There are 1 to 100 states. The probabilities must sum to 1 within 1e-12 and are taken relative to
// their sum; rows must sum to at most 0, up to 1e-12 of the diagonal, which is then taken as 0; absorption must be
// reachable from each state. The slices are copied. The error names the entry that is out of range.
//
// With ν the largest rate, P = I + T/ν is a transition matrix, and X is the sum of K phases of mean 1/ν, K the number
// of steps of P to absorption. Nothing is subtracted: e^(Tx) is a product of e^(T 2^j/ν), each the square of the last,
// so that CDF, Survival and PartialMoment have a relative error of about ν x n 2^-53 with n states. Therefore the
// mean time to absorption from any state may be 1e6/ν at most. CDF and Survival take O(n² log(νx)) time, a partial
// moment some thousand times n².
func NewPhaseType(alpha []float64, generator [][]float64) (Phased, error) {
	n := len(alpha)
	if n < 1 || n > maxStates {
		return nil, input.Errorf("alpha", n, "1 to %d probabilities", maxStates)
	}
	a, err := normalized("alpha", alpha, true)
	if err != nil {
		return nil, err
	}
	if len(generator) != n {
		return nil, input.Errorf("generator", len(generator), "%d rows, one a state", n)
	}
	t := make([][]float64, n)
	exit := make([]float64, n)
	for i, row := range generator {
		if len(row) != n {
			return nil, input.Errorf(fmt.Sprintf("generator[%d]", i), len(row), "%d rates, one a state", n)
		}
		t[i] = slices.Clone(row)
		var out float64
		for j, v := range row {
			path := fmt.Sprintf("generator[%d][%d]", i, j)
			switch {
			case i == j && !(v <= -1e-300 && v >= -1e300):
				return nil, input.Errorf(path, v, "a number in [-1e300, -1e-300]")
			case i != j && !(v >= 0 && v <= 1e300):
				return nil, input.Errorf(path, v, "a rate in [0, 1e300]")
			case i != j:
				out += v
			}
		}
		exit[i] = -row[i] - out
		if exit[i] < row[i]*1e-12 {
			return nil, input.Errorf(path(i), out, "rates to other states that sum to at most %v", -row[i])
		}
		if exit[i] <= -row[i]*1e-12 {
			exit[i] = 0
		}
	}
	return newPhaseType(a, t, exit)
}

func path(i int) string { return fmt.Sprintf("generator[%d]", i) }

func newPhaseType(alpha []float64, t [][]float64, exit []float64) (Phased, error) {
	if i := trapped(t, exit); i >= 0 {
		return nil, input.Errorf(path(i), t[i], "a state from which absorption can be reached")
	}
	p := phaseType{alpha: alpha, generator: t, exit: exit, start: newAlias(alpha)}
	for i, row := range t {
		weights := append(slices.Clone(row), exit[i])
		weights[i] = 0
		p.next = append(p.next, newAlias(weights))
		p.rate = max(p.rate, -row[i])
	}
	ones := make([]float64, len(t))
	for i := range ones {
		ones[i] = 1 / p.rate
	}
	mean, err := p.solve(ones)
	if err != nil {
		return nil, err
	}
	p.mean, p.longest = mean, slices.Max(mean)
	if !(p.longest*p.rate <= maxStiffness) {
		return nil, input.Errorf("generator", fmt.Sprintf("mean %v, largest rate %v", p.longest, p.rate),
			"mean times to absorption of at most %v over the largest rate", maxStiffness)
	}
	p.uniformize()
	return p, nil
}

// trapped returns a state from which absorption cannot be reached, or -1.
func trapped(t [][]float64, exit []float64) int {
	safe := make([]bool, len(t))
	for changed := true; changed; {
		changed = false
		for i := range t {
			for j, v := range t[i] {
				if !safe[i] && (exit[i] > 0 || (j != i && v > 0 && safe[j])) {
					safe[i], changed = true, true
				}
			}
		}
	}
	return slices.Index(safe, false)
}

// solve returns (-T/ν)^-1 v.
func (p phaseType) solve(v []float64) ([]float64, error) {
	n := len(v)
	a := mat.NewDense(n, n, nil)
	for i, row := range p.generator {
		for j, q := range row {
			a.Set(i, j, -q/p.rate)
		}
	}
	var x mat.VecDense
	if err := x.SolveVec(a, mat.NewVecDense(n, slices.Clone(v))); err != nil {
		if _, stiff := err.(mat.Condition); !stiff {
			return nil, input.Errorf("generator", p.generator, "a matrix that is not singular")
		}
	}
	return x.RawVector().Data, nil
}

func dot(v, w []float64) float64 {
	var sum float64
	for i := range v {
		sum += v[i] * w[i]
	}
	return sum
}

// uniformize tables one step of the uniformized chain and e^(T 2^j/ν), as far as a job can live: in each time of
// 2 longest at least half of the jobs end (Markov's inequality), so after 2200 longest fewer than 2^-1100 are left.
func (p *phaseType) uniformize() {
	n := len(p.alpha)
	p.step = make([][]float64, n+1)
	for i := range n {
		p.step[i] = make([]float64, n+1)
		for j, v := range p.generator[i] {
			p.step[i][j] = v / p.rate
		}
		p.step[i][i] = 1 + p.generator[i][i]/p.rate
		p.step[i][n] = p.exit[i] / p.rate
	}
	p.step[n] = make([]float64, n+1)
	p.step[n][n] = 1
	first := make([][]float64, n+1)
	for i := range first {
		row := make([]float64, n+1)
		row[i] = 1
		first[i] = p.advance(row, 1)
	}
	p.powers = [][][]float64{first}
	for life := 1.0; life < 2200*p.longest*p.rate; life *= 2 {
		last := p.powers[len(p.powers)-1]
		square := make([][]float64, n+1)
		for i, row := range last {
			square[i] = times(row, last)
		}
		p.powers = append(p.powers, square)
	}
}

// times returns the row vector v m.
func times(v []float64, m [][]float64) []float64 {
	w := make([]float64, len(v))
	for i, a := range v {
		if a == 0 {
			continue
		}
		for j, b := range m[i] {
			w[j] += a * b
		}
	}
	return w
}

// advance returns v after time t/ν, 0 <= t <= 1: e^-t Σ_j t^j/j! v P^j.
func (p *phaseType) advance(v []float64, t float64) []float64 {
	sum := slices.Clone(v)
	term := v
	for j := 1.0; j <= 22; j++ { // 1/23! < 1e-22
		term = times(term, p.step)
		for i := range term {
			term[i] *= t / j
			sum[i] += term[i]
		}
	}
	for i := range sum {
		sum[i] *= math.Exp(-t)
	}
	return sum
}

// at returns the probabilities of the states at time x > 0, that of absorption last.
func (p *phaseType) at(x float64) []float64 {
	n := len(p.alpha)
	v := append(slices.Clone(p.alpha), 0)
	t := x * p.rate
	whole := math.Floor(t)
	if !(whole < math.Ldexp(1, len(p.powers))) {
		v = make([]float64, n+1)
		v[n] = 1
		return v
	}
	v = p.advance(v, t-whole)
	for j, bits := 0, uint64(whole); bits > 0; j, bits = j+1, bits>>1 {
		if bits&1 == 1 {
			v = times(v, p.powers[j])
		}
	}
	return v
}

func (p phaseType) String() string {
	lists := append([][]float64{p.alpha}, p.generator...)
	n := len(p.alpha)
	if n*(n+1) > maxListed {
		return fmt.Sprintf("phase-type of %d states, SHA-256 prefix %s", n, digest(append(lists, p.exit)...))
	}
	s := "phase-type, start"
	for i, list := range lists {
		if i > 0 {
			s += fmt.Sprintf(", rates of state %d", i)
		}
		for _, v := range list {
			s += " " + text(v)
		}
		if i > 0 {
			s += " exit " + text(p.exit[i-1])
		}
	}
	return s
}

func (p phaseType) Phases() Phases {
	n := len(p.alpha)
	leave := make([]float64, n)
	for i, row := range p.generator {
		leave[i] = -row[i] / p.rate
	}
	draw := func(r *rand.Rand) int {
		var k int
		for i := p.start.draw(r); i < n; i = p.next[i].draw(r) {
			k += geometricDraw(r, leave[i])
		}
		return k
	}
	return Phases{Mean: 1 / p.rate, MeanCount: dot(p.alpha, p.mean) * p.rate, Draw: draw}
}

// Moment returns k! α (-T)^-k 1 for orders k = 0..32, and integrates for others.
func (p phaseType) Moment(order float64) (float64, error) {
	if err := checkOrder(order); err != nil {
		return 0, err
	}
	if !(order >= 0 && order <= 32 && order == math.Trunc(order)) {
		return p.PartialMoment(order, 0, math.Inf(1))
	}
	v := make([]float64, len(p.alpha))
	for i := range v {
		v[i] = 1
	}
	for k := 1.0; k <= order; k++ {
		var err error
		if v, err = p.solve(v); err != nil {
			return 0, err
		}
		for i := range v {
			v[i] *= k / p.rate
		}
	}
	return finite(dot(p.alpha, v))
}

func (p phaseType) PartialMoment(order, low, high float64) (float64, error) {
	if err := checkPartial(order, low, high); err != nil {
		return 0, err
	}
	if low == high {
		return 0, nil
	}
	seam := 0.5 / p.rate
	var sum float64
	if low < seam {
		v, err := p.early(order, low, min(seam, high))
		if err != nil {
			return 0, err
		}
		sum = v
	}
	if high > seam {
		sum += p.late(order, max(low, seam), high, sum)
	}
	return finite(sum)
}

// early integrates up to 1/(2ν): Σ_k P(K = k) E[Y^order; low < Y <= high], Y of k phases, of which the k-th is less
// than (1/2)^k/k!.
func (p phaseType) early(order, low, high float64) (float64, error) {
	r := newScaledRange(1/p.rate, low, high)
	v := append(slices.Clone(p.alpha), 0)
	n := len(p.alpha)
	var sum float64
	for k := 1; k <= n+40; k++ {
		var ends float64
		for i, e := range p.exit {
			ends += v[i] * e / p.rate
		}
		if ends > 0 {
			if r.diverges(k, order) {
				return 0, ErrInfinite
			}
			sum += ends * r.moment(k, order)
		}
		v = times(v, p.step)
		v[n] = 0
	}
	return sum * math.Pow(p.rate, -order), nil
}

// late integrates x^order f(x), f(x) = α e^(Tx) exit, over (low, high], low >= 1/(2ν), in panels of ln x that double
// x; each is halved until halves and whole agree. At x >= 8 longest max(1, |order|), X > x + 2 longest has at most
// half the probability of X > x and x^order grows by e^(1/4) at most, so what is beyond a panel is less than 3
// times the panel: the sum ends where that does not count.
func (p phaseType) late(order, low, high, sum float64) float64 {
	f := func(u float64) float64 {
		x := low * math.Exp(u)
		v := p.at(x)
		density := dot(p.exit, v[:len(p.exit)])
		if density == 0 {
			return 0
		}
		density *= x
		if l := order * math.Log(x); math.Abs(l) > 600 { // where the power alone would leave float64
			return math.Exp(math.Log(density) + l)
		}
		return density * math.Pow(x, order)
	}
	end := math.Inf(1)
	if !math.IsInf(high, 1) {
		end = logRatio(low, high)
	}
	settled := logRatioFromZero(low, max(low, 8*p.longest*max(1, math.Abs(order))))
	var total float64
	var halve func(x, y, whole float64, depth int) float64
	halve = func(x, y, whole float64, depth int) float64 {
		mid := (x + y) / 2
		a, b := legendre20(f, x, mid), legendre20(f, mid, y)
		rounding := (p.rate*low*math.Exp(y)*float64(len(p.alpha)) + 4*math.Abs(order)*(1+y)) * 0x1p-53 // that of f
		tol := max(1e-14, rounding)
		if depth == 0 || !(math.Abs(a+b-whole) > tol*(sum+total+a+b)) {
			return a + b
		}
		return halve(x, mid, a, depth-1) + halve(mid, y, b, depth-1)
	}
	for u := 0.0; u < end; {
		y := min(u+math.Ln2, end)
		panel := halve(u, y, legendre20(f, u, y), 12)
		total += panel
		if y > settled && !(panel > 1e-18*(sum+total)) || math.IsInf(total, 1) {
			break
		}
		u = y
	}
	return total
}

func (p phaseType) CDF(x float64) float64 {
	mustNotBeNaN(x)
	cdf, _ := p.tails(x)
	return cdf
}

func (p phaseType) Survival(x float64) float64 {
	mustNotBeNaN(x)
	_, survival := p.tails(x)
	return survival
}

// tails returns P(X <= x) and P(X > x), the larger as the complement of the smaller.
func (p phaseType) tails(x float64) (cdf, survival float64) {
	if x <= 0 {
		return 0, 1
	}
	v := p.at(x)
	n := len(v) - 1
	if v[n] < 0.5 {
		return v[n], 1 - v[n]
	}
	for _, a := range v[:n] {
		survival += a
	}
	return 1 - survival, survival
}

func (p phaseType) Quantile(q float64) (float64, error) {
	if err := checkProbability(q, false); err != nil || q == 0 {
		return 0, err
	}
	return bisectQuantile(p, q), nil
}

func (p phaseType) Sample(r *rand.Rand) float64 {
	x := 0.0
	for i := p.start.draw(r); i < len(p.alpha); i = p.next[i].draw(r) {
		x += exponentialDraw(r) / -p.generator[i][i]
	}
	return x
}

func (p phaseType) Support() (low, high float64, bounded bool) { return 0, 0, false }

func (p phaseType) Scaled(factor float64) (Distribution, error) {
	if err := checkPositive("factor", factor); err != nil {
		return nil, err
	}
	t := make([][]float64, len(p.generator))
	exit := make([]float64, len(t))
	for i, row := range p.generator {
		exit[i] = p.exit[i] / factor
		t[i] = make([]float64, len(row))
		for j, v := range row {
			t[i][j] = v / factor
			if math.Abs(t[i][j]) > 1e300 || v != 0 && math.Abs(t[i][j]) < 1e-300 {
				return nil, input.Errorf("factor", factor, "a factor that keeps all rates in [1e-300, 1e300]")
			}
		}
	}
	return newPhaseType(p.alpha, t, exit)
}
