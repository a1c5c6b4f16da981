package cluster

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// interrupted returns a cluster with m interruptions per job, simulated on a calendar.
func interrupted(m *cluster.Model, jobSizes sizes.Distribution, interruptions float64) Cluster {
	c := Cluster{Model: m, Sizes: jobSizes, Policy: FCFS, Interruptions: interruptions, Calendar: true}
	if interruptions > 0 {
		c.Policy = Interrupt
	}
	return c
}

// singleServer returns a queue with one server of capacity 2 for one class, with sizes of the given
// mean.
func singleServer(arrivalRate, meanSize *big.Rat) *cluster.Model {
	return &cluster.Model{
		Servers:  []cluster.Server{{Name: "server", Capacity: big.NewRat(2, 1)}},
		Classes:  []cluster.Class{{Name: "job", ArrivalRate: arrivalRate, Servers: cluster.On(0)}},
		MeanSize: meanSize,
	}
}

func meanSizeOf(m *cluster.Model) float64 {
	if m.MeanSize == nil {
		return 1
	}
	v, _ := m.MeanSize.Float64()
	return v
}

func newEngine(t testing.TB, c Cluster, s sim.Settings, key byte) (sim.Engine, *sim.Plan) {
	t.Helper()
	p, err := sim.NewPlan(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	return p.Start(t.Context(), sim.NewStream([32]byte{key})), p
}

// With exponential sizes the number of jobs has the distribution of balanced fairness for any
// number of interruptions ([BC17], section 4.1). By Little's law, so do the mean sojourn times.
func TestCalendarAgainstTheory(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) *cluster.Model {
		m := oracle.DrawModel(t, oracle.Options{Servers: 3, Classes: 3, Count: 3, ZeroCapacities: true})
		return oracle.ScaleTo(m, big.NewRat(rapid.Int64Range(3, 8).Draw(t, "load"), 10))
	})
	for k := range 12 {
		m := draw.Example(k)
		for _, interruptions := range []float64{0, 1, 5} {
			s := sim.Settings{Runs: 20, Jumps: 5e3, WarmUp: 1e3, Seed: uint64(k), Distribution: 3}
			r, err := sim.Run(t.Context(), interrupted(m, nil, interruptions), s)
			if err != nil {
				t.Fatal(err)
			}
			against(t, fmt.Sprint("model ", k, ", m = ", interruptions), m, r)
		}
	}
}

// The formula of Pollaczek and Khinchine holds: E[N] = ρ + λ² E[X²] / 2(1-ρ), where X is the
// service time of a job.
func TestCalendarSingleServer(t *testing.T) {
	mean := big.NewRat(3, 2)
	for _, shape := range []string{
		"deterministic", "erlang:3", "lognormal:2", "bounded-pareto:1.5:100", "weibull:0.7",
	} {
		distribution := simtest.Sizes(t, shape, 1.5)
		second, err := distribution.Moment(2)
		if err != nil {
			t.Fatal(err)
		}
		const lambda, rho = 0.8, 0.8 * 1.5 / 2
		exact := rho + lambda*lambda*second/4/2/(1-rho)
		c := interrupted(singleServer(big.NewRat(4, 5), mean), distribution, 0)
		r, err := sim.Run(t.Context(), c, sim.Settings{Runs: 30, Jumps: 2e4, WarmUp: 2e3, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		delay, busy := r.Class(0, sim.MeasuredDelay), *r.Server(0, sim.Utilization)
		for _, z := range []float64{r.All(sim.MeanJobs).Z(exact), delay.Z(exact / lambda), busy.Z(rho)} {
			if !(math.Abs(z) < 5) {
				t.Errorf("%s: %v jobs, exact %v: z = %.1f", shape, *r.All(sim.MeanJobs), exact, z)
			}
		}
	}
}

// Phases on a Markov chain and sizes on a calendar give the same distribution.
func TestCalendarAgainstJumpChain(t *testing.T) {
	load := big.NewRat(3, 5)
	for m, jumps := range map[*cluster.Model]float64{
		simtest.ThreeServers(load): 7.5e3, simtest.RandomAssignment(10, 2, load): 2e4,
	} {
		for _, jobSizes := range []string{"bimodal", "zipf", "hyperexponential"} {
			distribution := simtest.Sizes(t, jobSizes, 1)
			for _, interruptions := range []float64{0, 1} {
				c := interrupted(m, distribution, interruptions)
				s := sim.Settings{Runs: 20, Jumps: jumps, WarmUp: 2.5e3, Seed: 1, Distribution: 4}
				a, err := sim.Run(t.Context(), c, s)
				if err != nil {
					t.Fatal(err)
				}
				c.Calendar = false
				s.Seed = 2
				b, err := sim.Run(t.Context(), c, s)
				if err != nil {
					t.Fatal(err)
				}
				if a.Method == b.Method {
					t.Fatal("both by ", a.Method)
				}
				name := fmt.Sprintf("%s, m = %v", jobSizes, interruptions)
				compare := func(what string, x, y sim.Estimate) {
					if d := x.Mean - y.Mean; !(math.Abs(d) <= 5*math.Hypot(x.StdError, y.StdError)) {
						t.Errorf("%s: %s: %v, %v by %s", name, what, x, y, b.Method)
					}
				}
				compare("mean jobs", *a.All(sim.MeanJobs), *b.All(sim.MeanJobs))
				for i := range a.Classes {
					compare("jobs of a class", *a.Class(i, sim.MeanJobs), *b.Class(i, sim.MeanJobs))
					compare("delay of a class", *a.Class(i, sim.MeasuredDelay), *b.Class(i, sim.MeasuredDelay))
				}
				for k := range a.Servers {
					compare("utilization", *a.Server(k, sim.Utilization), *b.Server(k, sim.Utilization))
				}
				for n := range a.Distribution {
					compare("probability", a.Distribution[n], b.Distribution[n])
				}
			}
		}
	}
}

// A literalCluster implements Algorithm 1 of [BC17] literally: one queue, in which each event scans
// all jobs.
type literalCluster struct {
	queue    []*literalJob
	activity []*literalJob // a_s, nil if server s is idle
	capacity []float64
	row      []int
	now      float64
}

type literalJob struct {
	class      int
	servers    []int
	born, left float64
	out        float64 // time at which it times out; +Inf for never
}

func (q *literalCluster) rate(j *literalJob) (rate float64) {
	for s, a := range q.activity {
		if a == j {
			rate += q.capacity[s]
		}
	}
	return rate
}

// pass advances the clock.
func (q *literalCluster) pass(until float64, y *sim.Totals) {
	t := until - q.now
	y.Time += t
	y.Add(len(q.queue), t)
	for _, j := range q.queue {
		y.Jobs[j.class] += t
		j.left -= t * q.rate(j)
	}
	for s, a := range q.activity {
		if a != nil {
			y.Busy[q.row[s]] += t
		}
	}
	q.now = until
}

// enqueue adds a job to the end of the queue, where it takes the idle servers.
func (q *literalCluster) enqueue(j *literalJob) {
	q.queue = append(q.queue, j)
	for _, s := range j.servers {
		if q.activity[s] == nil {
			q.activity[s] = j
		}
	}
}

// hand passes the servers of a job that has left position k to the jobs from there on.
func (q *literalCluster) hand(j *literalJob, k int) {
	for _, s := range j.servers {
		if q.activity[s] == j {
			q.activity[s] = nil
		}
	}
	for ; k < len(q.queue); k++ {
		for _, s := range q.queue[k].servers {
			if slices.Contains(j.servers, s) && q.activity[s] == nil {
				q.activity[s] = q.queue[k]
			}
		}
	}
}

// simulateLiterally simulates a cluster for t units of time with the random numbers of newCalendar.
// The weights are equal to the last bit, so the alias table is the same.
func simulateLiterally(c Cluster, t float64, r *sim.Stream) (y *sim.Totals, timedOut []float64) {
	mean, err := sizes.Mean(c.Sizes)
	if err != nil {
		panic(err)
	}
	q := &literalCluster{}
	var weights []float64
	var codes []uint32
	ranges := [][2]int{} // the servers of each row
	for row, s := range c.Model.Servers {
		v, _ := s.Capacity.Float64()
		ranges = append(ranges, [2]int{len(q.capacity), len(q.capacity) + s.Size()})
		for range s.Size() {
			weights, codes = append(weights, v*c.Interruptions/mean), append(codes, uint32(len(codes)))
			q.capacity, q.row = append(q.capacity, v), append(q.row, row)
		}
	}
	q.activity = make([]*literalJob, len(q.capacity))
	chosen := make([][]chosenServers, len(c.Model.Classes))
	for i, class := range c.Model.Classes {
		v, _ := class.ArrivalRate.Float64()
		weights, codes = append(weights, v), append(codes, arrivals+uint32(i))
		for _, choice := range class.Servers {
			var order []uint32
			for s := ranges[choice.Server][0]; s < ranges[choice.Server][1]; s++ {
				order = append(order, uint32(s))
			}
			chosen[i] = append(chosen[i], chosenServers{order, choice.Choose})
		}
	}
	servers := len(q.capacity)
	tables := map[bool]sizes.AliasTable{
		false: sizes.NewAliasTable(weights, codes),
		true:  sizes.NewAliasTable(weights[servers:], codes[servers:]),
	}
	// true means the empty cluster, in which only arrivals count
	rates := map[bool]float64{false: sim.Sum(weights), true: sim.Sum(weights[servers:])}
	draws := rand.New(r)
	y, timedOut = sim.NewTotals(len(c.Model.Classes), len(c.Model.Servers)), make([]float64, len(c.Model.Classes))
	tick := draws.ExpFloat64() / rates[true]
	for {
		first, finish := -1, math.Inf(1)
		for k, j := range q.queue {
			if v := q.rate(j); v > 0 && q.now+j.left/v < finish {
				first, finish = k, q.now+j.left/v
			}
			if j.out < finish {
				first, finish = k, j.out
			}
		}
		if finish > t && tick > t {
			q.pass(t, y)
			return y, timedOut
		}
		if finish <= tick {
			q.pass(finish, y)
			j := q.queue[first]
			if j.out == finish {
				timedOut[j.class]++
			}
			q.queue = slices.Delete(q.queue, first, first+1)
			q.hand(j, first)
			y.Jumps++
			y.Sojourn[j.class] += q.now - j.born
			y.Left[j.class]++
			if len(q.queue) == 0 {
				tick = q.now + draws.ExpFloat64()/rates[true]
			}
			continue
		}
		q.pass(tick, y)
		table := tables[len(q.queue) == 0]
		column, fraction := bits.Mul64(r.Uint64(), uint64(len(table)))
		code := table[column].Codes[0]
		if fraction < table[column].Cut {
			code = table[column].Codes[1]
		}
		if code < arrivals {
			if j := q.activity[code]; j != nil {
				k := slices.Index(q.queue, j)
				q.queue = slices.Delete(q.queue, k, k+1)
				q.hand(j, k)
				q.enqueue(j)
				y.Jumps++
			}
		} else {
			i := int(code - arrivals)
			j := &literalJob{class: i, born: q.now, left: c.Sizes.Sample(draws), out: math.Inf(1)}
			for _, choice := range chosen[i] {
				for _, s := range choice.draw(r) {
					j.servers = append(j.servers, int(s))
				}
			}
			if mean := c.Model.TimeoutOf(i); mean != nil {
				j.out = q.now + num.Nearest(mean)*draws.ExpFloat64()
			}
			q.enqueue(j)
			y.Jumps++
		}
		tick = q.now + draws.ExpFloat64()/rates[len(q.queue) == 0]
	}
}

// checkCalendar checks that queues, rates and heap are consistent.
func checkCalendar(t *rapid.T, q *calendar, fcfs bool) {
	rates := make([]float64, len(q.jobs))
	links := make([]int, len(q.jobs))
	servers := uint32(len(q.capacity))
	for s := range servers {
		prev, born := s, math.Inf(-1)
		for n := q.nodes[s].next; n != s; n = q.nodes[n].next {
			x := q.nodes[n]
			if x.prev != prev || x.sentinel != s || (n-servers)/q.stride != x.job {
				t.Fatalf("server %d: node %d is %+v after %d", s, n, x, prev)
			}
			if fcfs && q.jobs[x.job].born < born {
				t.Fatalf("server %d: job %d is too late", s, x.job)
			}
			if prev == s {
				rates[x.job] += q.capacity[s]
			}
			links[x.job]++
			prev, born = n, q.jobs[x.job].born
		}
	}
	jobs, served := 0, 0
	for j, job := range q.jobs {
		if links[j] == 0 {
			continue
		}
		jobs++
		if links[j] != int(q.degree[job.class]) || !(math.Abs(job.rate-rates[j]) <= 1e-12*rates[j]) ||
			!(job.left >= 0) {
			t.Fatalf("job %d, %+v, is in %d queues and served at rate %v", j, job, links[j], rates[j])
		}
		if job.rate > 0 {
			served++
			if f := q.service[q.places[j]]; int(f.Item) != j || !(f.Time >= 0) {
				t.Fatalf("job %d, %+v, is not at its place in the heap but %+v", j, job, f)
			}
		}
	}
	if jobs != q.Total || served != len(q.service) || jobs+len(q.free) != len(q.jobs) {
		t.Fatalf("%d jobs, %d in service, but %d and %d", jobs, served, q.Total, len(q.service))
	}
	for k := 1; k < len(q.service); k++ {
		if q.service[(k-1)/2].Time > q.service[k].Time {
			t.Fatalf("schedule %v", q.service)
		}
	}
}

func TestCalendarMatchesLiteral(t *testing.T) {
	shapes := []string{"exponential", "deterministic", "pareto:1.5", "zipf", "lognormal:4", "empirical"}
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Count: 4, ZeroRates: true, ZeroCapacities: true})
		if oracle.Sum(oracle.Rates(m)).Sign() == 0 {
			m.Classes[0].ArrivalRate = big.NewRat(1, 1)
		}
		shape, mean := rapid.SampledFrom(shapes).Draw(t, "sizes"), meanSizeOf(m)
		var jobSizes sizes.Distribution
		var err error
		if shape == "empirical" {
			jobSizes, err = sizes.NewEmpirical([]float64{mean / 2, mean, mean * 3 / 2})
		} else {
			jobSizes, err = sizes.Parse(shape, mean)
		}
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "timeouts") {
			drawTimeouts(t, m)
		}
		c := interrupted(m, jobSizes, rapid.SampledFrom([]float64{0, 0, 0.5, 3}).Draw(t, "m"))
		p, err := sim.NewPlan(t.Context(), c, sim.Settings{Horizon: 1})
		if err != nil {
			t.Fatal(err)
		}
		horizon := rapid.Float64Range(1, 500).Draw(t, "jumps") / p.JumpRate
		key := [32]byte{rapid.Byte().Draw(t, "key")}
		want, timedOut := simulateLiterally(c, horizon, sim.NewStream(key))
		got := sim.NewTotals(len(p.Classes), len(p.Servers))
		e := p.Start(t.Context(), sim.NewStream(key))
		pieces := rapid.IntRange(1, 20).Draw(t, "pieces")
		for range pieces {
			if err := e.Advance(horizon/float64(pieces), got); err != nil {
				t.Fatal(err)
			}
			q, ok := e.(*calendar)
			if !ok {
				q = e.(timedCalendar).calendar
			}
			checkCalendar(t, q, c.Policy == FCFS)
			if diff := diffTimeouts(&q.timer, q.timer.timedOut); diff != "" {
				t.Error(diff)
			}
		}
		simtest.CompareTotals(t, got, want)
		if q, ok := e.(timedCalendar); ok {
			if diff := diffTimeouts(&q.timer, timedOut); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func TestCalendarConforms(t *testing.T) {
	for _, shape := range []string{"deterministic", "lognormal:2"} {
		simtest.Conforms(t, interrupted(simtest.ThreeServers(big.NewRat(1, 2)), simtest.Sizes(t, shape, 1), 1))
	}
}

// The digits of version 1 are reproduced.
func TestGolden(t *testing.T) {
	half := big.NewRat(1, 2)
	three := simtest.ThreeServers(half)
	// class queues
	simtest.Golden(
		t, Cluster{Model: three, Sizes: simtest.Sizes(t, "bimodal", 1), Policy: Interrupt, Interruptions: 1},
		1.8788368336025845,
	)
	// server queues
	simtest.Golden(
		t, Cluster{Model: simtest.RandomAssignment(10, 2, half), Policy: Interrupt, Interruptions: 1},
		3.2537492501499696,
	)
	// calendar
	simtest.Golden(t, Cluster{Model: three, Sizes: simtest.Sizes(t, "deterministic", 1)}, 1.1704207557929733)
	simtest.Golden(t, Cluster{Model: three, Policy: ProcessorSharing}, 1.2874467694196057)
}

// Over a longer time, queues get long and each job moves often.
func TestCalendarMatchesLiteralLong(t *testing.T) {
	for key, shape := range []string{"deterministic", "pareto:1.5", "weibull:0.5"} {
		for _, m := range []*cluster.Model{
			simtest.ThreeServers(big.NewRat(3, 2)), simtest.RandomAssignment(8, 3, big.NewRat(9, 10)),
		} {
			for _, interruptions := range []float64{0, 2} {
				c := interrupted(m, simtest.Sizes(t, shape, 1), interruptions)
				e, p := newEngine(t, c, sim.Settings{Horizon: 1}, byte(key))
				got := sim.NewTotals(len(p.Classes), len(p.Servers))
				for range 10 {
					if err := e.Advance(30, got); err != nil {
						t.Fatal(err)
					}
				}
				want, _ := simulateLiterally(c, 300, sim.NewStream([32]byte{byte(key)}))
				simtest.CompareTotals(t, got, want)
			}
		}
	}
}

// A queue with arrival rate 2 and service rate 1 grows. P(n jobs at t) solves Kolmogorov's
// equations p_n' = 2 p_{n-1} + p_{n+1} - (2 + 1{n>0}) p_n, here by the Runge-Kutta method with 4000
// steps and an error of 1e-9.
func TestCalendarUnstable(t *testing.T) {
	const horizon, steps, states = 10.0, 4000, 120 // more than 120 jobs by then have probability < 1e-40
	derivative := func(p []float64) []float64 {
		d := make([]float64, len(p))
		for n, v := range p {
			if n+1 < len(p) {
				d[n] -= 2 * v
				d[n+1] += 2 * v
			}
			if n > 0 {
				d[n] -= v
				d[n-1] += v
			}
		}
		return d
	}
	moved := func(p, d []float64, h float64) []float64 {
		q := slices.Clone(p)
		for n := range q {
			q[n] += h * d[n]
		}
		return q
	}
	// time average by the trapezoidal rule, with an error of 1e-6
	p, mean := make([]float64, states), make([]float64, states)
	p[0] = 1
	const h = horizon / steps
	for range steps {
		k1 := derivative(p)
		k2 := derivative(moved(p, k1, h/2))
		k3 := derivative(moved(p, k2, h/2))
		k4 := derivative(moved(p, k3, h))
		for n := range p {
			before := p[n]
			p[n] += h / 6 * (k1[n] + 2*k2[n] + 2*k3[n] + k4[n])
			mean[n] += (before + p[n]) / 2 / steps
		}
	}
	var jobs float64
	for n, v := range mean {
		jobs += float64(n) * v
	}

	m := singleServer(big.NewRat(2, 1), big.NewRat(2, 1))
	r, err := sim.Run(
		t.Context(), interrupted(m, nil, 0), sim.Settings{Runs: 3000, Horizon: horizon, Seed: 1, Distribution: 8},
	)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, e sim.Estimate, exact float64) {
		if z := e.Z(exact); !(math.Abs(z) < 5) {
			t.Errorf("%s = %v ± %v, exact %v, z = %.1f", what, e.Mean, e.StdError, exact, z)
		}
	}
	check("mean jobs", *r.All(sim.MeanJobs), jobs)
	check("utilization", *r.Server(0, sim.Utilization), 1-mean[0])
	for n, e := range r.Distribution {
		check(fmt.Sprintf("P(%d jobs)", n), e, mean[n])
	}
}

// When a job gains a server at or just before its end, rounding causes neither negative work nor a
// later end.
func TestCalendarRounding(t *testing.T) {
	f := &flat{
		classes:   []sim.Class{{Name: "job", ArrivalRate: 1, MeanSize: 1}},
		rows:      []sim.Server{{Name: "a", Size: 1}, {Name: "b", Size: 1}},
		capacity:  []float64{1, 1},
		row:       []int32{0, 1},
		chosen:    [][]chosenServers{{{[]uint32{0}, 1}}},
		sizeOfJob: 1,
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		q := newCalendar(f, Cluster{}, sim.NewStream([32]byte{})).(*calendar)
		q.now = r.ExpFloat64()
		q.jobs = []calendarJob{{rate: r.ExpFloat64(), left: r.ExpFloat64()}}
		q.places = make([]int32, 1)
		q.start(0)
		at := q.service[0].Time
		q.now = at
		if r.IntN(2) == 0 {
			q.now = q.jobs[0].since + r.Float64()*(at-q.jobs[0].since)
		}
		q.gain(0, r.ExpFloat64()*math.Pow(10, -18*r.Float64()))
		if job := q.jobs[0]; !(job.left >= 0) || !(q.service[0].Time >= q.now && q.service[0].Time <= at) {
			t.Fatalf("%+v finishes at %v, want %v", job, q.service[0].Time, at)
		}
	}
}

// A run in which jobs accumulate without limit ends with a clear error before memory is exhausted.
func TestCalendarTooManyJobs(t *testing.T) {
	e, p := newEngine(t, interrupted(simtest.ThreeServers(big.NewRat(2, 1)), nil, 1), sim.Settings{Horizon: 1}, 1)
	q := e.(*calendar)
	if q.most != sim.MaxJobs {
		t.Errorf("at most %d jobs, want %d", q.most, sim.MaxJobs)
	}
	q.most = 100
	err := e.Advance(1e4, sim.NewTotals(len(p.Classes), len(p.Servers)))
	if !errors.Is(err, sim.ErrTooManyJobs) || q.Total != 100 {
		t.Errorf("error %v with %d jobs", err, q.Total)
	}
	wide := simtest.RandomAssignment(1000, 1000, big.NewRat(1, 2))
	e, _ = newEngine(t, interrupted(wide, nil, 0), sim.Settings{Horizon: 1}, 1)
	if q := e.(*calendar); q.most*1000 > maxLinks || q.most*1001 < maxLinks-1001 {
		t.Errorf("at most %d jobs of 1000 servers", q.most)
	}
}

// Extreme sizes and capacities cause neither NaN nor jobs that end immediately.
func TestCalendarExtremes(t *testing.T) {
	m := simtest.ThreeServers(big.NewRat(1, 2))
	tiny, ok := new(big.Rat).SetString("1e-290")
	if !ok {
		t.Fatal("not a number")
	}
	m.Servers[2].Capacity = tiny // 1e290 units of time per job
	m.Classes = append(m.Classes, cluster.Class{Name: "3", ArrivalRate: big.NewRat(1, 10), Servers: cluster.On(2)})
	distribution := simtest.Sizes(t, "pareto:1.01", 1e90)
	m.MeanSize, _ = new(big.Rat).SetString("1e90")
	for _, interruptions := range []float64{0, 1} {
		e, p := newEngine(t, interrupted(m, distribution, interruptions), sim.Settings{Horizon: 1}, 1)
		y := sim.NewTotals(len(p.Classes), len(p.Servers))
		for range 10 {
			if err := e.Advance(100, y); err != nil {
				t.Fatal(err)
			}
		}
		if y.Left[0]+y.Left[1]+y.Left[2] > 0 || !(y.Jobs[0] > 0 && y.Jobs[0] <= 1e6) ||
			!(math.Abs(y.Time-1000) < 1e-9) {
			t.Errorf("m = %v: %+v", interruptions, y)
		}
	}
}

// Once there is space for all jobs, Advance does not allocate.
func TestCalendarAllocatesNothing(t *testing.T) {
	for _, interruptions := range []float64{0, 1} {
		c := interrupted(
			simtest.RandomAssignment(20, 3, big.NewRat(1, 2)), simtest.Sizes(t, "weibull:0.8", 1), interruptions,
		)
		e, p := newEngine(t, c, sim.Settings{}, 1)
		y := sim.NewTotals(len(p.Classes), len(p.Servers))
		advance := func() {
			if err := e.Advance(1e4/p.JumpRate, y); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			advance()
		}
		if n := testing.AllocsPerRun(10, advance); n != 0 {
			t.Errorf("m = %v: %v allocations in 10,000 events, want 0", interruptions, n)
		}
	}
}

// jumps/s counts arrivals, departures and interruptions, but not ticks at idle servers.
func BenchmarkCalendar(b *testing.B) {
	load := big.NewRat(4, 5)
	for _, m := range []struct {
		name  string
		model *cluster.Model
	}{
		{"servers=3", simtest.ThreeServers(load)},
		{"servers=100/d=2", simtest.RandomAssignment(100, 2, load)},
		{"servers=100/d=3", simtest.RandomAssignment(100, 3, load)},
		{"servers=100000/d=3", simtest.RandomAssignment(100000, 3, load)},
	} {
		for _, jobSizes := range []string{"deterministic", "exponential", "pareto:2.5"} {
			for _, interruptions := range []float64{0, 1} {
				b.Run(fmt.Sprintf("%s/sizes=%s/m=%g", m.name, jobSizes, interruptions), func(b *testing.B) {
					simtest.Benchmark(b, interrupted(m.model, simtest.Sizes(b, jobSizes, 1), interruptions))
				})
			}
		}
	}
}
