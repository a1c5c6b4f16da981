package gibbs

import (
	"context"
	"math"
)

// The columns are indices into the list of values measured after a sweep: conditional means given
// the order of deaths, or given the other lifetimes.
type columns struct {
	jobs     int // E[X], all jobs
	delays   int // from here on, mean delays of the classes of the parts
	watched  int // the columns before this one also have squares
	idle     int // probabilities that a server of each row of the parts is idle
	reached  int // idle probabilities of each model row of capacity 0; 0 for other rows
	empty    int // P(X = 0)
	partJobs int // E[X] of each part
	products int // E[L min T] of the classes, with L = Σ λ_i min T of the part
	lives    int // Σ E[T_s] of each row of the parts
	livesOn  int // Σ E[L T_s]
	all      int // columns measured after each sweep
	jobsLaw  int // P(n jobs), n = 0..MaxJobs
	classLaw int // the same of each row of classes
	count    int

	classes, rows int // numbers of classes and rows of all parts
}

func newColumns(p *problem, s Settings) (c columns) {
	next := 0
	take := func(n int) (first int) {
		first = next
		next += n
		return first
	}
	for _, a := range p.parts {
		c.classes += len(a.classes)
		c.rows += len(a.rows)
	}
	c.jobs, c.delays = take(1), take(c.classes)
	c.watched = next
	c.idle, c.empty = take(c.rows), take(1)
	if p.hasReached() {
		c.reached = take(len(p.servers))
	}
	if s.Gradient {
		c.partJobs, c.products, c.lives, c.livesOn = take(len(p.parts)), take(c.classes), take(c.rows), take(c.rows)
	}
	c.all = next
	if s.MaxJobs > 0 {
		c.jobsLaw = take(s.MaxJobs + 1)
		if s.ByClass {
			c.classLaw = take(len(p.classes) * (s.MaxJobs + 1))
		}
	}
	c.count = next
	return c
}

func (p *problem) hasReached() bool {
	for _, row := range p.servers {
		if row.reached != nil {
			return true
		}
	}
	return false
}

// A meter measures the state of the samplers of all parts.
type meter struct {
	*problem
	columns
	settings Settings
	values   []float64 // by column
	byPlace  []float64 // scratch
	within   []float64 // scratch
	ends     []float64 // scratch, by class
}

func newMeter(p *problem, c columns, s Settings) *meter {
	most := 0
	for _, a := range p.parts {
		most = max(most, len(a.capacity))
	}
	return &meter{problem: p, columns: c, settings: s, values: make([]float64, c.count),
		byPlace: make([]float64, most), within: make([]float64, most), ends: make([]float64, c.classes)}
}

// measure sets the columns measured after each sweep.
func (m *meter) measure(samplers []*sampler) {
	v := m.values
	v[m.jobs], v[m.empty] = 0, 1
	for k, s := range samplers {
		jobs, empty := s.jobs()
		v[m.jobs] += jobs
		v[m.empty] *= empty
		delays := v[m.delays+s.firstClass:][:len(s.classes)]
		s.times(s.ahead, delays)
		scale(delays, s.unit)
		idle := v[m.idle+s.firstRow:][:len(s.rows)]
		for r, row := range s.rows {
			sum := 0.0
			for _, x := range s.idle[row.first : row.first+row.count] {
				sum += x
			}
			idle[r] = sum / float64(row.count)
		}
		if m.settings.Gradient {
			v[m.partJobs+k] = jobs
			m.measureProducts(s, jobs)
		}
	}
	if m.hasReached() {
		m.measureReached(samplers)
	}
}

// jobs returns the mean number of jobs of a part and the probability that there is none, given the
// order. The number is a sum of independent geometric numbers with parameters load/working.
func (o *order) jobs() (mean, empty float64) {
	empty = 1
	for k, load := range o.load {
		mean += load / o.slack[k]
		empty *= o.slack[k] / o.working[k]
	}
	return mean, empty
}

// measureProducts sets the means of products with L. Each time between deaths contributes
// load/slack to L, and thus load/slack² to the covariance of L with the time of a later death.
func (m *meter) measureProducts(s *sampler, jobs float64) {
	joint := m.byPlace[:len(s.slack)]
	sum := 0.0
	for k, slack := range s.slack {
		sum += s.load[k] / (slack * slack)
		joint[k] = sum + jobs*s.ahead[k]
	}
	products := m.values[m.products+s.firstClass:][:len(s.classes)]
	s.times(joint, products)
	scale(products, s.unit)
	lives, livesOn := m.values[m.lives+s.firstRow:][:len(s.rows)], m.values[m.livesOn+s.firstRow:][:len(s.rows)]
	clear(lives)
	clear(livesOn)
	for server, k := range s.place {
		r := s.row[server]
		lives[r] += s.ahead[k] * s.unit
		livesOn[r] += joint[k] * s.unit
	}
}

func scale(list []float64, by float64) {
	for i := range list {
		list[i] *= by
	}
}

// measureReached sets the probabilities that no job is present that a server of capacity 0 could
// serve. Given the lifetimes, the numbers of these jobs are Poisson.
func (m *meter) measureReached(samplers []*sampler) {
	ends := m.ends // min T of each class
	for _, s := range samplers {
		at := m.byPlace[:len(s.deaths)]
		for k, d := range s.deaths {
			at[k] = d.at
		}
		of := ends[s.firstClass:][:len(s.classes)]
		s.times(at, of)
		scale(of, s.unit)
	}
	for s, row := range m.servers {
		mean := 0.0
		for _, to := range row.reached {
			c := m.problem.classes[to.class]
			mean += to.part * c.rate * c.size * ends[c.class]
		}
		if row.reached != nil {
			m.values[m.reached+s] = math.Exp(-mean)
		}
	}
}

// measureLaws sets the distributions of the number of jobs, in total and for each class, given the
// order.
func (m *meter) measureLaws(ctx context.Context, samplers []*sampler) error {
	law := m.values[m.jobsLaw:][:m.settings.MaxJobs+1]
	clear(law)
	law[0] = 1
	for _, s := range samplers {
		for k, load := range s.load {
			addGeometric(law, load, s.slack[k])
		}
	}
	if !m.settings.ByClass {
		return nil
	}
	for i, row := range m.problem.classes {
		law := m.values[m.classLaw+i*len(law):][:len(law)]
		clear(law)
		law[0] = 1
		if row.class < 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, s := range samplers {
			if c := row.class - s.firstClass; c >= 0 && c < len(s.classes) {
				within := m.within[:len(s.slack)]
				s.survivingFraction(int32(c), within)
				for k, w := range within {
					addGeometric(law, w*row.rate*row.size*s.unit, s.slack[k])
				}
			}
		}
	}
	return nil
}

// survivingFraction sets the fraction of the ways to serve a class that remain up to each death.
func (o *order) survivingFraction(c int32, within []float64) {
	if len(o.classes[c].draws) == 0 {
		clear(within)
		for k := range within[:o.ends[c]+1] {
			within[k] = 1
		}
		return
	}
	for k := range within {
		within[k] = 1
	}
	left, from := 1.0, 0
	for _, l := range o.losses {
		if l.class == c {
			for ; from <= int(l.place); from++ {
				within[from] = left
			}
			left -= l.part
		}
	}
	clear(within[from:])
}

// addGeometric adds an independent number to a number with distribution law, in place. The added
// number is Poisson, and its mean is rate times an exponential time of mean 1/slack, so P(n) =
// (1-a) a^n with a = rate/(rate+slack).
func addGeometric(law []float64, rate, slack float64) {
	if rate <= 0 {
		return
	}
	a, b := rate/(rate+slack), slack/(rate+slack)
	before := 0.0
	for n := range law {
		before = a*before + b*law[n]
		law[n] = before
	}
}
