package cluster

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/cluster"
	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// A literalGangJob is a job of a literalGang.
type literalGangJob struct {
	class              int
	born, left, waited float64
	needs              []int // by row
	runs, met          bool
}

// A literalGang simulates jobs that hold several servers at once, word for word as the policies are
// defined. After each event it looks at all jobs.
type literalGang struct {
	policy  Policy
	servers []int             // by row
	jobs    []*literalGangJob // in the order of arrival
	now     float64
	classes int
	seen    *sim.Totals
	met     []float64
}

// pass lets time pass up to an instant before the next event.
func (q *literalGang) pass(to float64) {
	dt := to - q.now
	q.seen.Time += dt
	q.seen.Add(len(q.jobs), dt)
	for _, j := range q.jobs {
		q.seen.Jobs[j.class] += dt
		if j.runs {
			j.left = max(0, j.left-dt)
			for row, n := range j.needs {
				q.seen.Busy[row] += float64(n) * dt
			}
			continue
		}
		j.waited += dt
		q.seen.Jobs[q.classes+j.class] += dt
		q.seen.Jobs[2*q.classes] += dt
	}
	q.now = to
}

// fits reports whether the servers that are free suffice for a job.
func (q *literalGang) fits(j *literalGangJob) bool {
	for row, n := range j.needs {
		for _, other := range q.jobs {
			if other.runs {
				n += other.needs[row]
			}
		}
		if n > q.servers[row] {
			return false
		}
	}
	return true
}

// decide starts and interrupts jobs after an event.
func (q *literalGang) decide() {
	bySize := slices.SortedStableFunc(slices.Values(q.jobs), func(a, b *literalGangJob) int {
		return cmp.Compare(b.needs[0], a.needs[0])
	})
	switch q.policy {
	case FCFS:
		for _, j := range q.jobs {
			if !j.runs && !q.fits(j) {
				break
			}
			j.runs = true
		}
	case FirstFit:
		for _, j := range q.jobs {
			j.runs = j.runs || q.fits(j)
		}
	case MostServersFirst:
		for _, j := range bySize {
			j.runs = j.runs || q.fits(j)
		}
	case ServerFilling:
		need, prefix := 0, 0
		for ; prefix < len(q.jobs) && need < q.servers[0]; prefix++ {
			need += q.jobs[prefix].needs[0]
		}
		for _, j := range q.jobs {
			j.runs = false
		}
		for _, j := range bySize {
			j.runs = slices.Contains(q.jobs[:prefix], j) && q.fits(j)
		}
	}
	for _, j := range q.jobs {
		j.met = j.met || !j.runs
	}
}

// simulateGangLiterally simulates t units of time with the random numbers that the engine would
// draw.
func simulateGangLiterally(c Cluster, t float64, r *sim.Stream) *literalGang {
	m := c.Model
	n := len(m.Classes)
	q := &literalGang{policy: c.Policy, classes: n, seen: sim.NewTotals(2*n+1, len(m.Servers)), met: make([]float64, n)}
	for _, s := range m.Servers {
		q.servers = append(q.servers, s.Size())
	}
	stream := newGangArrivals(c, r)
	for {
		var first *literalGangJob
		end := math.Inf(1)
		for _, j := range q.jobs {
			if j.runs && q.now+j.left < end {
				first, end = j, q.now+j.left
			}
		}
		if end > t && stream.next > t {
			q.pass(t)
			return q
		}
		q.seen.Jumps++
		if end <= stream.next {
			q.pass(end)
			q.jobs = slices.DeleteFunc(q.jobs, func(j *literalGangJob) bool { return j == first })
			q.seen.Leave(first.class, q.now-first.born)
			q.seen.Leave(n+first.class, first.waited)
			q.seen.Leave(2*n, first.waited)
			if first.met {
				q.met[first.class]++
			}
		} else {
			q.pass(stream.next)
			a := stream.draw()
			j := &literalGangJob{class: a.class, born: q.now, left: a.size, needs: make([]int, len(m.Servers))}
			for _, need := range m.Classes[a.class].Needs {
				j.needs[need.Server] = need.Choose
			}
			q.jobs = append(q.jobs, j)
		}
		q.decide()
	}
}

// gangArrivals draws the arrivals of a run.
type gangArrivals struct {
	c      Cluster
	next   float64
	rate   float64
	table  sizes.AliasTable
	stream *sim.Stream
	draws  *rand.Rand
}

// An arrival is a job that arrives.
type arrival struct {
	class               int
	time, size, request float64
}

func newGangArrivals(c Cluster, r *sim.Stream) *gangArrivals {
	a := &gangArrivals{c: c, stream: r, draws: rand.New(r)}
	var weights []float64
	for _, class := range c.Model.Classes {
		v, _ := class.ArrivalRate.Float64()
		weights = append(weights, v)
	}
	a.rate, a.table = sim.Sum(weights), sizes.NewAliasTable(weights, nil)
	a.next = a.draws.ExpFloat64() / a.rate
	return a
}

func (a *gangArrivals) draw() arrival {
	i := int(a.table.Pick(a.stream.Uint64()))
	own, err := a.c.sizesOf(i)
	if err != nil {
		panic(err) // cannot fail: the plan has checked them
	}
	one := arrival{class: i, time: a.next, size: own.Sample(a.draws)}
	if a.c.Policy.HasRequests() {
		one.request = a.c.Requests.Of(one.size, a.draws.Float64)
	}
	a.next += a.draws.ExpFloat64() / a.rate
	return one
}

// drawGang draws a cluster whose jobs hold several servers at once.
func drawGang(t *rapid.T, policy Policy) *cluster.Model {
	m := &cluster.Model{Service: cluster.Gang}
	rows := 1
	if policy == FCFS || policy == FirstFit {
		rows = rapid.IntRange(1, 3).Draw(t, "rows")
	}
	for k := range rows {
		n := rapid.IntRange(1, 12).Draw(t, "servers")
		if policy == ServerFilling {
			n = rapid.SampledFrom([]int{1, 2, 4, 8, 12, 16, 24}).Draw(t, "servers")
		}
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", k), Count: n})
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "classes") {
		c := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(rapid.Int64Range(1, 9).Draw(t, "rate"), 4)}
		if rapid.Bool().Draw(t, "own mean") {
			c.MeanSize = big.NewRat(rapid.Int64Range(1, 12).Draw(t, "mean"), 4)
		}
		first := rapid.IntRange(0, rows-1).Draw(t, "first")
		for k := range rapid.IntRange(1, rows).Draw(t, "resources") {
			row := (first + k) % rows
			n := m.Servers[row].Size()
			need := rapid.IntRange(1, n).Draw(t, "need")
			for policy == ServerFilling && (need&(need-1) != 0 || n%need != 0) {
				need--
			}
			c.Needs = append(c.Needs, cluster.Choice{Server: row, Choose: need})
		}
		m.Classes = append(m.Classes, c)
	}
	return m
}

// check checks that the lists, the schedule and the counts are consistent.
func (q *gangCalendar) check(t *rapid.T) {
	waits, runs, listed := 0, 0, 0
	lists := slices.Clone(q.queues)
	if q.filling != nil {
		for _, l := range q.filling.lists {
			lists = append(lists, l.jobList)
		}
	}
	for _, list := range lists {
		last, number := uint32(none), int64(-1)
		for j := list.head; j != none; j = q.jobs[j].next {
			if q.jobs[j].number <= number || q.jobs[j].prev != last {
				t.Fatalf("job %d is %+v behind %d", j, q.jobs[j], last)
			}
			last, number = j, q.jobs[j].number
			listed++
		}
		if list.tail != last {
			t.Fatalf("a list ends with job %d, not %d", list.tail, last)
		}
	}
	unused := make(map[uint32]bool)
	for _, j := range q.free {
		unused[j] = true
	}
	idle := make([]int, len(q.rows))
	for row, s := range q.rows {
		idle[row] = s.Size
	}
	for j := range q.jobs {
		job := &q.jobs[j]
		switch {
		case unused[uint32(j)]:
		case job.runs:
			runs++
			for _, need := range q.needs[job.class] {
				idle[need.Server] -= need.Choose
			}
			if q.service[q.places[j]].Item != uint32(j) {
				t.Fatalf("job %d is not at its place in %v", j, q.service)
			}
		case job.waits:
			waits++
		default:
			t.Fatalf("job %d neither waits nor runs", j)
		}
	}
	want := waits
	switch {
	case q.filling != nil:
		want = q.Total
		if waits > 0 && slices.Max(idle) > 0 {
			t.Fatalf("%d jobs wait, and %v servers are idle", waits, idle)
		}
	case q.planned != nil:
		want = 0
	}
	if listed != want || runs != len(q.service) || waits+runs != q.Total || !slices.Equal(idle, q.idle) ||
		q.waiting[len(q.classes)].jobs != waits || slices.Min(idle) < 0 {
		t.Fatalf("%d jobs listed, %d wait and %d run of %d, servers free %v, %v",
			listed, waits, runs, q.Total, idle, q.idle)
	}
}

// On random clusters, the engine follows the same path as a word-for-word simulation of every
// policy without reservations.
func TestGangMatchesLiteral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]Policy{FCFS, FirstFit, MostServersFirst, ServerFilling}).Draw(t, "policy")
		shape := rapid.SampledFrom([]string{"exponential", "pareto:1.5", "lognormal:4"}).Draw(t, "sizes")
		jobSizes, err := sizes.Parse(shape, 1)
		if err != nil {
			t.Fatal(err)
		}
		c := Cluster{Model: drawGang(t, policy), Sizes: jobSizes, Policy: policy}
		p, err := sim.NewPlan(t.Context(), c, sim.Settings{Horizon: 1})
		if err != nil {
			t.Fatal(err)
		}
		horizon := rapid.Float64Range(1, 500).Draw(t, "jumps") / p.JumpRate
		key := [32]byte{rapid.Byte().Draw(t, "key")}
		want := simulateGangLiterally(c, horizon, sim.NewStream(key))
		got := p.NewTotals()
		e := p.Start(t.Context(), sim.NewStream(key)).(*gangCalendar)
		pieces := rapid.IntRange(1, 20).Draw(t, "pieces")
		for range pieces {
			if err := e.Advance(horizon/float64(pieces), got); err != nil {
				t.Fatal(err)
			}
			e.check(t)
		}
		simtest.CompareTotals(t, got, want.seen)
		if diff := gocmp.Diff(want.met, e.met); diff != "" {
			t.Error(diff)
		}
	})
}

// Under FCFS, EASY and conservative backfilling, jobs start at the times at which package rigid
// starts the same jobs, to the last digit, however the run is divided into advances.
func TestGangMatchesRigid(t *testing.T) {
	policies := map[Policy]rigid.Policy{FCFS: {Order: rigid.FCFS, Backfill: rigid.None}}
	for name, p := range baselines {
		policies[name] = p
	}
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]Policy{FCFS, EASY, Conservative}).Draw(t, "policy")
		shape := rapid.SampledFrom([]string{"exponential", "deterministic", "zipf", "lognormal:4"}).Draw(t, "sizes")
		jobSizes, err := sizes.Parse(shape, 1)
		if err != nil {
			t.Fatal(err)
		}
		m := drawGang(t, policy)
		m.Servers, m.Classes = m.Servers[:1], slices.Clone(m.Classes)
		for i := range m.Classes {
			need := m.Classes[i].Needs[0]
			m.Classes[i].Needs = []cluster.Choice{{Server: 0, Choose: min(need.Choose, m.Servers[0].Size())}}
		}
		c := Cluster{Model: m, Sizes: jobSizes, Policy: policy}
		if policy.HasRequests() {
			requests := []rigid.Requests{{}, {Factor: 3}, {Factor: 20, Uniform: true}}
			c.Requests = rapid.SampledFrom(requests).Draw(t, "requests")
		}
		p, err := sim.NewPlan(t.Context(), c, sim.Settings{Horizon: 1})
		if err != nil {
			t.Fatal(err)
		}
		jobs := rapid.IntRange(1, 200).Draw(t, "jobs")
		key := [32]byte{rapid.Byte().Draw(t, "key")}
		s := rigid.Scenario{Workers: m.Servers[0].Size(), Policy: policies[policy]}
		stream := newGangArrivals(c, sim.NewStream(key))
		for range jobs {
			a := stream.draw()
			s.Jobs = append(s.Jobs, dispatch.Job{
				Submit: a.time, Tasks: m.Classes[a.class].Needs[0].Choose, Work: a.size, Estimate: a.request,
			})
		}
		r, err := rigid.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		e := p.Start(t.Context(), sim.NewStream(key)).(*gangCalendar)
		seen := p.NewTotals()
		horizon := s.Jobs[jobs-1].Submit // later jobs do not arrive before its end
		pieces := 1
		if policy.HasRequests() {
			pieces = rapid.IntRange(1, 5).Draw(t, "pieces")
		}
		started := make(map[int64]float64)
		for k := range pieces {
			until := horizon / float64(pieces) * float64(k+1)
			for {
				again, err := e.step(until, seen)
				if err != nil {
					t.Fatal(err)
				}
				for _, entry := range e.service {
					job := &e.jobs[entry.Item]
					if _, known := started[job.number]; !known {
						started[job.number] = job.began
					}
				}
				if !again {
					break
				}
			}
			if policy.HasRequests() {
				e.flush(until-e.origin, seen)
			}
		}
		for i, rec := range r.Jobs {
			at, ok := started[int64(i)]
			if ok && at != rec.Start || !ok && rec.Start < horizon {
				t.Fatalf("%s: job %d starts at %v (%v), want %v", policy, i, at, ok, rec.Start)
			}
		}
		e.check(t)
	})
}
