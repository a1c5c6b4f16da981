package gang

import (
	"context"

	"productform/num"
)

// A queue is the quasi-birth-death process: its level is the number of jobs present, its phase the
// jobs x in service. With q jobs waiting, the class of the head is known only not to fit next to x,
// and the others are independent draws. The phases of a level are the blocking sets of fewer jobs,
// in order, and then all sets of as many jobs as the level has. From level most on, the largest
// number of jobs in service, all levels have the same phases and transitions.
type queue struct {
	*problem
	lambda  float64
	sets    []set
	first   []int // first set of each number of jobs, and the number of sets
	blocked []int // blocking sets, in order
	before  []int // number of blocking sets with fewer jobs than the level
	index   map[string]int
	most    int
}

// A set is a set of jobs in service.
type set struct {
	x     []int32
	jobs  int
	rank  int     // among the blocking sets
	stop  float64 // T(x), the share of the classes that do not fit; 0 if the set does not block
	rate  float64 // μ(x)
	fits  []bool
	after []int // set after each class that fits starts
	each  []float64
	less  []int // set after a job of each class leaves, -1 without one
}

// maxSets limits the sets of jobs in service, blocking or not, to about 0.1 GB.
const maxSets = 200_000

func newQueue(ctx context.Context, p *problem) (*queue, error) {
	q := &queue{problem: p, lambda: num.Nearest(p.rate), index: map[string]int{}}
	mu := p.rates()
	var byJobs [][]set
	count := 0
	err := p.eachPacking(ctx, false, func(x []int32, free []int) bool {
		s := set{x: append([]int32(nil), x...)}
		for k, n := range x {
			s.jobs += int(n)
			s.rate += float64(n) * mu[k]
			s.each = append(s.each, float64(n)*mu[k])
			fits := p.fits(k, free)
			s.fits = append(s.fits, fits)
			if !fits {
				s.stop += p.load[k]
			}
		}
		for len(byJobs) <= s.jobs {
			byJobs = append(byJobs, nil)
		}
		byJobs[s.jobs] = append(byJobs[s.jobs], s)
		count++
		return count <= maxSets
	})
	if err != nil {
		return nil, err
	}
	if count > maxSets {
		return nil, waitSizeError(limitElsewhere)
	}
	for _, list := range byJobs {
		q.first, q.before = append(q.first, len(q.sets)), append(q.before, len(q.blocked))
		for _, s := range list {
			s.rank = len(q.blocked)
			q.index[key(s.x)] = len(q.sets)
			if s.stop > 0 {
				q.blocked = append(q.blocked, len(q.sets))
			}
			q.sets = append(q.sets, s)
		}
	}
	q.first = append(q.first, len(q.sets))
	q.most = len(byJobs) - 1
	work := 0.0
	for level := range q.most {
		n := float64(q.before[level] + len(byJobs[level]))
		work += n * n * n
	}
	if work > 5*mostWaitWork { // levels below M have all sets of as many jobs, which may be more than S
		return nil, waitSizeError(limitElsewhere)
	}
	for i := range q.sets {
		q.link(&q.sets[i])
	}
	return q, nil
}

// link sets the neighbours of a set.
func (q *queue) link(s *set) {
	x := append([]int32(nil), s.x...)
	for k := range x {
		to, less := -1, -1
		if s.fits[k] {
			x[k]++
			to = q.index[key(x)]
			x[k]--
		}
		if x[k] > 0 {
			x[k]--
			less = q.index[key(x)]
			x[k]++
		}
		s.after, s.less = append(s.after, to), append(s.less, less)
	}
}

// phases returns the number of phases of a level.
func (q *queue) phases(level int) int {
	if level >= q.most {
		return len(q.blocked)
	}
	return q.before[level] + q.first[level+1] - q.first[level]
}

// set returns the jobs in service in a phase of a level.
func (q *queue) set(level, phase int) *set {
	if level >= q.most || phase < q.before[level] {
		return &q.sets[q.blocked[phase]]
	}
	return &q.sets[q.first[level]+phase-q.before[level]]
}

// phase returns the phase of a level with the jobs of set i in service.
func (q *queue) phase(level, i int) int {
	s := &q.sets[i]
	if level > s.jobs || level >= q.most {
		return s.rank
	}
	return q.before[level] + i - q.first[level]
}

// up calls visit with the phases of the next level to which an arrival leads, and the rates.
func (q *queue) up(level, phase int, visit func(to int, rate float64)) {
	s := q.set(level, phase)
	if level > s.jobs {
		visit(s.rank, q.lambda)
		return
	}
	for k, p := range q.load {
		if s.fits[k] {
			visit(q.phase(level+1, s.after[k]), q.lambda*p)
		}
	}
	if s.stop > 0 {
		visit(s.rank, q.lambda*s.stop)
	}
}

// down returns the rates from the phases of a level to those of the level below.
func (q *queue) down(level int) *matrix {
	below := level - 1
	refill := q.refill(below)
	m := newMatrix(q.phases(level), q.phases(below))
	for i := range m.rows {
		s, row := q.set(level, i), m.row(i)
		for j, each := range s.each {
			if s.less[j] < 0 {
				continue
			}
			rest := &q.sets[s.less[j]]
			if level == s.jobs { // no job waits
				row[q.phase(below, s.less[j])] += each
				continue
			}
			stays := 0.0
			for k, p := range q.load {
				switch {
				case s.fits[k]:
				case rest.fits[k]:
					addTimes(row, each*(p/s.stop), refill.row(q.phase(below, rest.after[k])))
				default:
					stays += p
				}
			}
			if stays > 0 {
				row[rest.rank] += each * (stays / s.stop)
			}
		}
	}
	return m
}

// refill returns the distribution of the phase of a level after as many jobs as fit have started
// from each phase, if the jobs that wait have not been tried.
func (q *queue) refill(level int) *matrix {
	m := newMatrix(q.phases(level), q.phases(level))
	for i := m.rows - 1; i >= 0; i-- {
		s, row := q.set(level, i), m.row(i)
		if level == s.jobs {
			row[i] = 1
			continue
		}
		row[i] = s.stop
		for k, p := range q.load {
			if s.fits[k] {
				addTimes(row, p, m.row(q.phase(level, s.after[k])))
			}
		}
	}
	return m
}

// work returns the rates at which jobs of the phases of a level leave.
func (q *queue) work(level int) []float64 {
	rates := make([]float64, q.phases(level))
	for i := range rates {
		rates[i] = q.set(level, i).rate
	}
	return rates
}

// firstPassage returns the matrix G of the phases in which the process first enters the next lower
// level, above level most, by logarithmic reduction (Latouche and Ramaswami, Journal of Applied
// Probability 30, 1993). All matrices have no negative entries, and nothing is subtracted: the rows
// of I - U have the sums (H² + L²) 1.
func (q *queue) firstPassage(ctx context.Context, down *matrix) (*matrix, error) {
	n := down.rows
	low, high := newMatrix(n, n), newMatrix(n, n)
	for i, mu := range q.work(q.most + 1) {
		high.row(i)[i] = q.lambda / (q.lambda + mu)
		for j, x := range down.row(i) {
			low.row(i)[j] = x / (q.lambda + mu)
		}
	}
	g, t := newMatrix(n, n), newMatrix(n, n)
	copy(g.a, low.a)
	copy(t.a, high.a)
	for range 200 { // each step doubles the levels that first passages may reach
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		both := product(high, low)
		both.addProduct(low, high)
		high, low = product(high, high), product(low, low)
		excess := high.rowSums()
		for i, x := range low.rowSums() {
			excess[i] += x
		}
		f := factor(both, make([]float64, n), excess)
		f.solveMatrix(high)
		f.solveMatrix(low)
		g.addProduct(t, low)
		t = product(t, high)
		rest := 0.0
		for _, x := range t.rowSums() {
			rest = max(rest, x)
		}
		if rest < 1e-20 { // far below the rounding errors of G, whose rows have the sum 1
			return g, nil
		}
	}
	return nil, num.ErrDigits
}

// A profile holds the stationary distribution of a queue by level, and sums over the levels >= most,
// all divided by total.
type profile struct {
	*queue
	levels [][]float64 // up to level most
	tail   []float64   // Σ_{j>=1} π(most+j)
	rises  []float64   // Σ_{j>=1} j π(most+j)
	total  float64
	bound  float64 // on the relative errors of the means
}

// solve returns the stationary distribution with the bound on the errors of its means.
func (q *queue) solve(ctx context.Context) (*profile, error) {
	d, err := q.distribution(ctx)
	if err != nil {
		return nil, err
	}
	return d.profile, d.boundErrors(ctx)
}

// distribution returns the stationary distribution. With G_ℓ the matrix of first passages from level ℓ to
// the next lower one and
//
//	B_ℓ = D_ℓ - up_ℓ G_{ℓ+1},  G_ℓ = B_ℓ⁻¹ down_ℓ,
//
// where D_ℓ holds the exit rates, π_{ℓ+1} = π_ℓ up_ℓ B_{ℓ+1}⁻¹. The rows of B_ℓ have the sums μ(x),
// so B_ℓ is factored without subtraction. Above level M, B = D - λG, and with F = μ - λG the
// sums of the levels are Σ_j π_{M+j} = λ π_M F⁻¹ and Σ_j j π_{M+j} = λ (π_M + λ π_M F⁻¹) F⁻¹,
// j >= 1.
func (q *queue) distribution(ctx context.Context) (*defectProblem, error) {
	above := q.down(q.most + 1)
	g, err := q.firstPassage(ctx, above)
	if err != nil {
		return nil, err
	}
	n := g.rows
	mu := q.work(q.most + 1)
	factors := make([]*factored, q.most+2)
	passage := g
	for level := q.most + 1; level >= 1; level-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := newMatrix(q.phases(level), q.phases(level))
		for i := range b.rows {
			q.up(level, i, func(to int, rate float64) { addTimes(b.row(i), rate, passage.row(to)) })
		}
		factors[level] = factor(b, make([]float64, b.rows), q.work(level))
		if level <= q.most {
			passage = q.down(level)
			factors[level].solveMatrix(passage)
		}
	}
	p := &profile{queue: q, levels: [][]float64{{1}}, total: 1}
	for level := 1; level <= q.most; level++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := make([]float64, q.phases(level))
		for i, x := range p.levels[level-1] {
			q.up(level-1, i, func(to int, rate float64) { next[to] += x * rate })
		}
		factors[level].solveLeft(next)
		sum := 0.0
		for _, x := range next {
			sum += x
		}
		p.levels = append(p.levels, next)
		if p.total += sum; p.total > 1e100 {
			p.rescale(1 / p.total) // long before an overflow
		}
	}
	f := newMatrix(n, n)
	d := make([]float64, n)
	for i := range n {
		addTimes(f.row(i), q.lambda, g.row(i))
		d[i] = mu[i] - f.row(i)[i]
	}
	drift := factor(f, d, nil)
	p.tail = append([]float64(nil), p.levels[q.most]...)
	scale(p.tail, q.lambda)
	drift.solveLeft(p.tail)
	p.rises = append([]float64(nil), p.levels[q.most]...)
	addTimes(p.rises, 1, p.tail)
	scale(p.rises, q.lambda)
	drift.solveLeft(p.rises)
	for _, x := range p.tail {
		p.total += x
	}
	p.rescale(1 / p.total)
	return &defectProblem{profile: p, g: g, above: above, factors: factors, drift: drift}, nil
}

// rescale multiplies all probabilities.
func (p *profile) rescale(f float64) {
	for _, level := range p.levels {
		scale(level, f)
	}
	scale(p.tail, f)
	scale(p.rises, f)
	p.total *= f
}

// eachWaiting calls visit with the phases, their probabilities, the number of waiting jobs, and
// whether the probability is that of all levels above most, where the mean of q is waiting/p.
func (p *profile) eachWaiting(visit func(s *set, prob, waiting float64, waits bool)) {
	for level, list := range p.levels {
		for i, x := range list {
			s := p.set(level, i)
			visit(s, x, x*float64(level-s.jobs), level > s.jobs)
		}
	}
	for i, x := range p.tail {
		s := p.set(p.most, i)
		visit(s, x, x*float64(p.most-s.jobs)+p.rises[i], true)
	}
}

// means returns the mean number of waiting jobs and the wait probability of each class. With q jobs
// waiting, the head has class k with the probability p_k/T(x) if it does not fit, and the other q-1
// have shares p.
func (p *profile) means() (waiting, waits []float64) {
	waiting, waits = make([]float64, len(p.classes)), make([]float64, len(p.classes))
	p.eachWaiting(func(s *set, prob, jobs float64, some bool) {
		for k, share := range p.load {
			switch {
			case some:
				waits[k] += prob
				waiting[k] += (jobs - prob) * share
				if !s.fits[k] {
					waiting[k] += prob * (share / s.stop)
				}
			case !s.fits[k]:
				waits[k] += prob
			}
		}
	})
	return waiting, waits
}
