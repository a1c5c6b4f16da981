package cluster

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// A literalOneJob is a job of a literalOne.
type literalOneJob struct {
	class, priority    int
	born, left, waited float64
	servers            []int // that it may use
	queue              int   // server in whose queue it is, -1 with one queue
	at                 int   // server that serves it, -1 if it waits
	met                bool
	until              float64 // time at which it gives up; +Inf for never
	out                float64 // time at which it times out; +Inf for never
}

// A literalOne simulates jobs that run on one server each, word for word as the policies are
// defined. All choices are made by looking at all jobs and servers.
type literalOne struct {
	policy   Policy
	capacity []float64
	row      []int
	jobs     []*literalOneJob // in the order of arrival
	idle     []int            // servers, idle longest first
	random   *sim.Stream
	now      float64
	y        *sim.Totals
	classes  int
	met      []float64
	gaveUp   []float64
	timedOut []float64
	served   [][]float64
}

// pass lets time pass up to an instant before the next event.
func (q *literalOne) pass(to float64) {
	dt := to - q.now
	q.y.Time += dt
	q.y.Add(len(q.jobs), dt)
	for _, j := range q.jobs {
		q.y.Jobs[j.class] += dt
		if j.at >= 0 {
			j.left = max(0, j.left-dt*q.capacity[j.at])
			q.y.Busy[q.row[j.at]] += dt
			continue
		}
		j.waited += dt
		q.y.Jobs[q.classes+j.class] += dt
		q.y.Jobs[2*q.classes] += dt
	}
	q.now = to
}

func (q *literalOne) anyOf(list []int) int {
	if len(list) == 1 {
		return list[0]
	}
	k, _ := bits.Mul64(q.random.Uint64(), uint64(len(list)))
	return list[k]
}

// begin starts the service of a job.
func (q *literalOne) begin(j *literalOneJob, s int) {
	j.at = s
	q.idle = slices.DeleteFunc(q.idle, func(i int) bool { return i == s })
}

// admit lets a job that has arrived or has lost its server take a server, if it can.
func (q *literalOne) admit(j *literalOneJob) {
	var idle []int // idle servers of the job, in its order
	for _, s := range j.servers {
		if slices.Contains(q.idle, s) {
			idle = append(idle, s)
		}
	}
	longest := func(list []int) int {
		return slices.MinFunc(list, func(a, b int) int { return slices.Index(q.idle, a) - slices.Index(q.idle, b) })
	}
	if len(idle) > 0 {
		switch q.policy {
		case RandomIdle:
			q.begin(j, q.anyOf(idle))
		case FastestIdle:
			speed := 0.
			for _, s := range idle {
				speed = max(speed, q.capacity[s])
			}
			q.begin(j, longest(slices.DeleteFunc(idle, func(s int) bool { return q.capacity[s] < speed })))
		default:
			q.begin(j, longest(idle))
		}
		return
	}
	if q.policy == PreemptivePriority {
		var last *literalOneJob
		for _, other := range q.jobs { // the last of the lowest priority
			if other.at >= 0 && slices.Contains(j.servers, other.at) && other.priority < j.priority &&
				(last == nil || other.priority <= last.priority) {
				last = other
			}
		}
		if last != nil {
			j.at, last.at = last.at, -1
			q.admit(last)
			return
		}
	}
	j.met = true
}

// join sends an arriving job to the queue of a server.
func (q *literalOne) join(j *literalOneJob) {
	measure := make(map[int]float64) // jobs, or the time that they take
	for _, other := range q.jobs {
		switch {
		case other == j:
		case q.policy == LeastWork:
			measure[other.queue] += other.left / q.capacity[other.queue]
		default:
			measure[other.queue]++
		}
	}
	least := math.Inf(1)
	for _, s := range j.servers {
		least = min(least, measure[s])
	}
	var best []int
	for _, s := range j.servers {
		if measure[s] == least {
			best = append(best, s)
		}
	}
	if q.policy == LeastWork && least == 0 {
		j.queue = slices.MinFunc(best, func(a, b int) int { return slices.Index(q.idle, a) - slices.Index(q.idle, b) })
	} else {
		j.queue = q.anyOf(best)
	}
	if slices.Contains(q.idle, j.queue) {
		q.begin(j, j.queue)
	} else {
		j.met = true
	}
}

// vacate removes a job in service. Its server takes the first job of the highest priority that it
// can.
func (q *literalOne) vacate(j *literalOneJob) {
	s := j.at
	q.leave(j)
	var next *literalOneJob
	for _, other := range q.jobs {
		mine := other.at < 0 && (other.queue == s || other.queue < 0 && slices.Contains(other.servers, s))
		if mine && (next == nil || other.priority > next.priority) {
			next = other
		}
	}
	if next == nil {
		q.idle = append(q.idle, s)
		return
	}
	q.begin(next, s)
}

// leave removes a job.
func (q *literalOne) leave(j *literalOneJob) {
	q.jobs = slices.DeleteFunc(q.jobs, func(other *literalOneJob) bool { return other == j })
	q.y.Jumps++
	q.y.Leave(j.class, q.now-j.born)
	q.y.Leave(q.classes+j.class, j.waited)
	q.y.Leave(2*q.classes, j.waited)
	if j.met {
		q.met[j.class]++
	}
}

// simulateOneLiterally simulates t units of time with the random numbers that the engine would
// draw.
func simulateOneLiterally(c Cluster, t float64, r *sim.Stream) *literalOne {
	m := c.Model
	n := len(m.Classes)
	q := &literalOne{
		policy: c.Policy, random: r, classes: n, y: sim.NewTotals(2*n+1, len(m.Servers)), met: make([]float64, n),
		gaveUp: make([]float64, n), timedOut: make([]float64, n),
	}
	first := make([]int, len(m.Servers))
	for row, s := range m.Servers {
		first[row] = len(q.capacity)
		v, _ := s.Capacity.Float64()
		for range s.Size() {
			q.idle = append(q.idle, len(q.capacity))
			q.capacity, q.row = append(q.capacity, v), append(q.row, row)
		}
	}
	var weights []float64
	chosen := make([][]chosenServers, n)
	whole := make([]bool, n)
	compared := make([]chosenServers, n)
	for i, class := range m.Classes {
		v, _ := class.ArrivalRate.Float64()
		weights, whole[i] = append(weights, v), true
		for _, choice := range class.Servers {
			var order []uint32
			for k := range m.Servers[choice.Server].Size() {
				order = append(order, uint32(first[choice.Server]+k))
			}
			chosen[i] = append(chosen[i], chosenServers{order, choice.Choose})
			compared[i].order = append(compared[i].order, order...)
			whole[i] = whole[i] && choice.Choose == len(order)
		}
		compared[i].choose = min(c.Policy.draws(), len(compared[i].order))
		q.served = append(q.served, make([]float64, len(m.Servers)))
	}
	table, rate, draws := sizes.NewAliasTable(weights, nil), sim.Sum(weights), rand.New(r)
	next := draws.ExpFloat64() / rate
	for {
		var first, impatient *literalOneJob
		end, until := math.Inf(1), math.Inf(1)
		for _, j := range q.jobs {
			if j.at >= 0 {
				j.until = math.Inf(1)
			}
			if j.at >= 0 && q.now+j.left/q.capacity[j.at] < end {
				first, end = j, q.now+j.left/q.capacity[j.at]
			}
			if u := min(j.until, j.out); u < until {
				impatient, until = j, u
			}
		}
		if until <= min(end, next, t) {
			q.pass(until)
			switch {
			case impatient.out > until:
				q.leave(impatient)
				q.gaveUp[impatient.class]++
				continue
			case impatient.at < 0:
				q.leave(impatient)
			default:
				q.vacate(impatient)
			}
			q.timedOut[impatient.class]++
			continue
		}
		if end > t && next > t {
			q.pass(t)
			return q
		}
		if end <= next {
			q.pass(end)
			q.served[first.class][q.row[first.at]]++
			q.vacate(first)
			continue
		}
		q.pass(next)
		i := int(table.Pick(r.Uint64()))
		own, err := c.sizesOf(i)
		if err != nil {
			panic(err) // cannot fail: the plan has checked them
		}
		j := &literalOneJob{class: i, born: q.now, left: own.Sample(draws), queue: -1, at: -1, until: math.Inf(1),
			out: math.Inf(1)}
		if mean := m.TimeoutOf(i); mean != nil {
			j.out = q.now + num.Nearest(mean)*draws.ExpFloat64()
		}
		if c.Policy.HasPriorities() {
			j.priority = m.Classes[i].Priority
		}
		var servers []uint32
		if d := c.Policy.draws(); d > 0 && whole[i] {
			servers = compared[i].draw(r)
		} else {
			for _, choice := range chosen[i] {
				servers = append(servers, choice.draw(r)...)
			}
			if d > 0 && !whole[i] {
				some := chosenServers{servers, min(d, len(servers))}
				servers = some.draw(r)
			}
		}
		for _, s := range servers {
			j.servers = append(j.servers, int(s))
		}
		q.y.Jumps++
		q.jobs = append(q.jobs, j)
		if c.Policy.isCentral() {
			q.admit(j)
		} else {
			q.join(j)
		}
		if j.at < 0 && c.Patience != nil && c.Patience[i] != nil {
			j.until = q.now + c.Patience[i].Sample(draws)
		}
		next = q.now + draws.ExpFloat64()/rate
	}
}

// drawOne draws a cluster in which a job runs on one server.
func drawOne(t *rapid.T, o oracle.Options) *cluster.Model {
	m := oracle.DrawModel(t, o)
	m.Service = cluster.OneServer
	if oracle.Sum(oracle.Rates(m)).Sign() == 0 {
		m.Classes[0].ArrivalRate = big.NewRat(1, 1)
	}
	for i := range m.Classes {
		m.Classes[i].Priority = rapid.IntRange(0, 3).Draw(t, "priority")
	}
	return m
}

func everyOnePolicy() []Policy {
	return append(slices.Clone(onePolicies), Power(1), Power(2), Power(3))
}

// drawTimeouts draws mean timeouts for the classes of a model, none for some.
func drawTimeouts(t *rapid.T, m *cluster.Model) {
	for i := range m.Classes {
		m.Classes[i].MeanTimeout = rapid.SampledFrom([]*big.Rat{
			nil, big.NewRat(1, 4), big.NewRat(1, 1), big.NewRat(5, 1),
		}).Draw(t, "mean timeout")
	}
}

// diffTimeouts compares the numbers of jobs that timed out, by class, and checks the timer.
func diffTimeouts(q *timer, want []float64) string {
	for k, e := range q.limits {
		if int(q.places[e.Item]) != k || q.limits[max(k-1, 0)/2].Time > e.Time {
			return fmt.Sprintf("job %d is at place %d of %v", e.Item, q.places[e.Item], q.limits)
		}
	}
	if q.means == nil {
		return ""
	}
	return cmp.Diff(want, q.timedOut)
}

// checkOneCalendar checks that the lists, the schedule and the counts are consistent.
func checkOneCalendar(t *rapid.T, q *oneCalendar) {
	waits, servers := 0, uint32(len(q.capacity))
	links := make(map[uint32]uint32)
	for id := range uint32(q.queues) {
		prev, number := id, int64(-1)
		for n := q.nodes[id].next; n != id; n = q.nodes[n].next {
			x := q.nodes[n]
			job := &q.jobs[x.job]
			if x.prev != prev || x.sentinel != id || (n-uint32(q.queues))/q.stride != x.job || !job.waits ||
				job.number <= number || q.levelOf[id] != q.level[job.class] && q.central {
				t.Fatalf("queue %d: node %d is %+v of %+v after %d", id, n, x, job, prev)
			}
			links[x.job]++
			prev, number = n, job.number
		}
	}
	for j, n := range links {
		if n != q.links[q.jobs[j].class] {
			t.Fatalf("job %d is in %d queues, want %d", j, n, q.links[q.jobs[j].class])
		}
	}
	waits = len(links)
	idles := 0
	for pool := range uint32(q.nPools) {
		since := int64(-1)
		for s := q.idleNext[servers+pool]; s < servers; s = q.idleNext[s] {
			if q.poolOf[s] != pool || q.serving[s] != idle || q.idleSince[s] <= since {
				t.Fatalf("pool %d: server %d of pool %d serves %d", pool, s, q.poolOf[s], q.serving[s])
			}
			since = q.idleSince[s]
			idles++
		}
	}
	for s, j := range q.serving {
		if j != idle && q.service[q.places[s]].Item != uint32(s) {
			t.Fatalf("server %d is not at its place in %v", s, q.service)
		}
	}
	if busy := len(q.service); busy+idles != int(servers) || busy+waits != q.Total ||
		q.Total+len(q.free) != len(q.jobs) ||
		q.waiting[len(q.classes)].jobs != waits {
		t.Fatalf("%d servers busy and %d idle of %d, %d jobs wait of %d", busy, idles, servers, waits, q.Total)
	}
}

// The engine follows the same path as a word-for-word simulation of every policy, on random
// clusters whose jobs also draw servers.
func TestOneMatchesLiteral(t *testing.T) {
	shapes := []string{"exponential", "pareto:1.5", "zipf", "lognormal:4", "deterministic"}
	rapid.Check(t, func(t *rapid.T) {
		m := drawOne(t, oracle.Options{Count: 4, ZeroRates: true, OwnSizes: true})
		shape, mean := rapid.SampledFrom(shapes).Draw(t, "sizes"), meanSizeOf(m)
		jobSizes, err := sizes.Parse(shape, mean)
		if err != nil {
			t.Fatal(err)
		}
		c := Cluster{Model: m, Sizes: jobSizes, Policy: rapid.SampledFrom(everyOnePolicy()).Draw(t, "policy")}
		switch rapid.SampledFrom([]string{"none", "patience", "timeouts"}).Draw(t, "limits") {
		case "timeouts":
			drawTimeouts(t, m)
		case "patience":
			for range m.Classes {
				var p sizes.Distribution
				if name := rapid.SampledFrom([]string{
					"", "exponential", "deterministic",
				}).Draw(t, "patience"); name != "" {
					if p, err = sizes.Parse(name, rapid.Float64Range(0.1, 3).Draw(t, "mean patience")); err != nil {
						t.Fatal(err)
					}
				}
				c.Patience = append(c.Patience, p)
			}
		}
		p, err := sim.NewPlan(t.Context(), c, sim.Settings{Horizon: 1})
		if err != nil {
			t.Fatal(err)
		}
		horizon := rapid.Float64Range(1, 500).Draw(t, "jumps") / p.JumpRate
		key := [32]byte{rapid.Byte().Draw(t, "key")}
		want := simulateOneLiterally(c, horizon, sim.NewStream(key))
		got := p.NewTotals()
		e := p.Start(t.Context(), sim.NewStream(key)).(*oneCalendar)
		pieces := rapid.IntRange(1, 20).Draw(t, "pieces")
		for range pieces {
			if err := e.Advance(horizon/float64(pieces), got); err != nil {
				t.Fatal(err)
			}
			checkOneCalendar(t, e)
		}
		simtest.CompareTotals(t, got, want.y)
		if diff := cmp.Diff(want.met, e.met) + cmp.Diff(want.gaveUp, e.gaveUp) + diffTimeouts(&e.timer, want.timedOut) +
			cmp.Diff(slices.Concat(want.served...), e.served); diff != "" {
			t.Error(diff)
		}
	})
}

// If jobs join the server with the least work, they start at the same times and at the same servers
// as in one queue.
func TestLeastWorkMatchesLongestIdle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawOne(t, oracle.Options{Count: 4, OwnSizes: true, Stable: true})
		shape := rapid.SampledFrom([]string{"exponential", "lognormal:4"}).Draw(t, "sizes")
		jobSizes, err := sizes.Parse(shape, meanSizeOf(m))
		if err != nil {
			t.Fatal(err)
		}
		var totals []*sim.Totals
		var served [][]float64
		for _, policy := range []Policy{LongestIdle, LeastWork} {
			p, err := sim.NewPlan(
				t.Context(), Cluster{Model: m, Sizes: jobSizes, Policy: policy}, sim.Settings{Horizon: 1},
			)
			if err != nil {
				t.Fatal(err)
			}
			seen, e := p.NewTotals(), p.Start(t.Context(), sim.NewStream([32]byte{7})).(*oneCalendar)
			for range 10 {
				if err := e.Advance(100/p.JumpRate, seen); err != nil {
					t.Fatal(err)
				}
			}
			totals, served = append(totals, seen), append(served, e.served)
		}
		simtest.CompareTotals(t, totals[0], totals[1])
		if !slices.Equal(served[0], served[1]) {
			t.Errorf("served %v and %v", served[0], served[1])
		}
	})
}

// The contract of package sim holds under every policy, and so do the digits.
func TestOneConforms(t *testing.T) {
	m := simtest.RandomAssignment(4, 3, big.NewRat(3, 8))
	m.Service = cluster.OneServer
	m.Servers = append(m.Servers, cluster.Server{Name: "fast", Capacity: big.NewRat(3, 1)})
	m.Classes = append(m.Classes, cluster.Class{
		Name: "any", ArrivalRate: big.NewRat(5, 2),
		Servers:  []cluster.Choice{{Server: 0, Choose: 4}, {Server: 1, Choose: 1}},
		Priority: 2,
	}, cluster.Class{Name: "fast", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(1), Priority: 1})
	golden := map[Policy]float64{
		LongestIdle: 5.8754011682369089, FastestIdle: 4.3313729716854104, RandomIdle: 5.0892618918221686,
		JSQ: 8.8752774087008994, LeastWork: 11.588505311106463, Priority: 5.780582738562372,
		PreemptivePriority: 8.1840801725962731, Power(1): 113.09462084682798, Power(2): 8.0019841928067255,
		Power(3): 11.598925010487765,
	}
	for k, policy := range everyOnePolicy() {
		shape := []string{"exponential", "lognormal:2", "deterministic"}[k%3]
		c := Cluster{Model: m, Sizes: simtest.Sizes(t, shape, 1), Policy: policy}
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			t.Parallel()
			simtest.Conforms(t, c)
			simtest.Golden(t, c, golden[policy])
		})
	}
}
