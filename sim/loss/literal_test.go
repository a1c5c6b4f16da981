package loss

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/network/loss"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// drawModel draws a system of any kind with limits on all jobs or few jobs.
func drawModel(t *rapid.T) *loss.Model {
	m := new(loss.Model)
	number := func(most int) *big.Rat { return big.NewRat(int64(rapid.IntRange(1, most).Draw(t, "number")), 2) }
	kind := rapid.SampledFrom([]string{"none", "count", "graph", "tokens"}).Draw(t, "kind")
	switch kind {
	case "count":
		m.Count = rapid.IntRange(1, 3).Draw(t, "servers")
	case "graph", "tokens":
		for s := range rapid.IntRange(1, 3).Draw(t, "servers") {
			one := loss.Server{Name: fmt.Sprint("s", s), Capacity: number(4)}
			if kind == "tokens" {
				one.Tokens = rapid.IntRange(1, 3).Draw(t, "tokens")
			}
			m.Servers = append(m.Servers, one)
		}
	}
	size := number(4)
	for k := range rapid.IntRange(1, 3).Draw(t, "classes") {
		c := loss.Class{Name: fmt.Sprint("c", k), ArrivalRate: number(4), MeanSize: size}
		if kind == "none" {
			c.MeanSize = number(4)
		}
		if kind != "tokens" {
			c.Units = rapid.IntRange(1, 3).Draw(t, "units")
			c.Sources = rapid.IntRange(0, 4).Draw(t, "sources")
		}
		if m.Servers != nil {
			c.Servers = rapid.Permutation(indices(len(m.Servers))).Draw(t, "of")[:rapid.IntRange(
				1, len(m.Servers),
			).Draw(t, "some")]
		}
		m.Classes = append(m.Classes, c)
	}
	if kind == "tokens" {
		return m
	}
	m.Room = rapid.IntRange(3, 8).Draw(t, "room")
	if rapid.Bool().Draw(t, "limits") && len(m.Classes) > 1 {
		m.Limits = []loss.Limit{{Classes: []int{1}, Most: rapid.IntRange(3, 5).Draw(t, "most")}}
		if len(m.Classes) > 2 {
			m.Limits = append(m.Limits, loss.Limit{Classes: []int{0, 2}, Most: rapid.IntRange(3, 6).Draw(t, "most")})
		}
	}
	return m
}

func indices(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// A literalSystem stores the remaining work of each job, oldest first, the free tokens in order of
// release, and the time at which each source is ready.
type literalSystem struct {
	*system
	jobs   []literalJob
	tokens []int // the servers of the free tokens
	ready  []literalSource
	draws  *rand.Rand
}

type literalJob struct {
	came, left float64
	class      int
	server     int // server of its token
}

type literalSource struct {
	time  float64
	class int
}

// rates returns the rate of each job.
func (l *literalSystem) rates() []float64 {
	rates := make([]float64, len(l.jobs))
	for k, j := range l.jobs {
		switch {
		case len(l.system.tokens) > 0:
			capacity := float(l.model.Servers[j.server].Capacity)
			before, all := 0, 0
			for other, o := range l.jobs {
				if o.server == j.server {
					all++
					if other < k {
						before++
					}
				}
			}
			if l.sharing {
				rates[k] = capacity / float64(all)
			} else if before == 0 {
				rates[k] = capacity
			}
		case l.servers > 0 && l.sharing:
			rates[k] = float64(min(l.servers, len(l.jobs))) / float64(len(l.jobs))
		case l.servers > 0:
			if k < l.servers {
				rates[k] = 1
			}
		case len(l.model.Servers) > 0 && l.sharing:
			x := make([]int, len(l.classes))
			for _, o := range l.jobs {
				x[o.class]++
			}
			jobs, all := x[j.class], l.balance(x)
			x[j.class]--
			rates[k] = l.balance(x) / all / float64(jobs)
		case len(l.model.Servers) > 0:
			for s, server := range l.model.Servers {
				first := slices.IndexFunc(l.jobs, func(o literalJob) bool {
					return slices.Contains(l.classes[o.class].servers, s)
				})
				if first == k {
					rates[k] += float(server.Capacity)
				}
			}
		default:
			rates[k] = 1
		}
	}
	return rates
}

// balance returns the balance function of the graph.
func (l *literalSystem) balance(x []int) float64 {
	var sum, capacity float64
	for s, server := range l.model.Servers {
		for k := range x {
			if x[k] > 0 && slices.Contains(l.classes[k].servers, s) {
				capacity += float(server.Capacity)
				break
			}
		}
	}
	for k := range x {
		if x[k] > 0 {
			x[k]--
			sum += l.balance(x)
			x[k]++
		}
	}
	if capacity == 0 {
		return 1
	}
	return sum / capacity
}

func float(x *big.Rat) float64 {
	v, _ := num.OrOne(x).Float64()
	return v
}

// admits reports whether a job of a class fits, and returns the index of its token.
func (l *literalSystem) admits(class int) (bool, int) {
	units := func(classes []int) (sum int) {
		for _, j := range append(slices.Clone(l.jobs), literalJob{class: class}) {
			if slices.Contains(classes, j.class) {
				sum += max(1, l.model.Classes[j.class].Units)
			}
		}
		return sum
	}
	if l.model.Room > 0 && units(indices(len(l.classes))) > l.model.Room {
		return false, 0
	}
	for _, limit := range l.model.Limits {
		if slices.Contains(limit.Classes, class) && units(limit.Classes) > limit.Most {
			return false, 0
		}
	}
	if len(l.system.tokens) == 0 {
		return true, 0
	}
	servers := l.model.Classes[class].Servers
	token := slices.IndexFunc(l.tokens, func(s int) bool { return slices.Contains(servers, s) })
	if l.assign == OldestToken {
		return token >= 0, token
	}
	best := -1
	if l.assign == RandomServer {
		best = servers[l.draws.IntN(len(servers))]
	} else {
		jobs := make([]int, len(l.model.Servers))
		for _, j := range l.jobs {
			jobs[j.server]++
		}
		ties := 0
		for _, s := range servers {
			if !slices.Contains(l.tokens, s) {
				continue
			}
			if best < 0 || jobs[s] < jobs[best] {
				best, ties = s, 1
			} else if jobs[s] == jobs[best] {
				if ties++; l.draws.IntN(ties) == 0 {
					best = s
				}
			}
		}
	}
	token = slices.Index(l.tokens, best)
	return token >= 0, token
}

// run simulates the system from the same stream as the engine, and returns its observations of
// arrivals by class.
func (l *literalSystem) run(t float64, draws *rand.Rand, y *sim.Totals) []tally {
	l.draws = draws
	seen := make([]tally, len(l.classes))
	now, arrival := 0.0, math.Inf(1)
	for k := range 3 {
		for s, server := range l.model.Servers {
			if k < server.Tokens {
				l.tokens = append(l.tokens, s)
			}
		}
	}
	rest := func(class int) {
		l.ready = append(l.ready, literalSource{now + draws.ExpFloat64()/l.classes[class].rate, class})
	}
	if l.rate > 0 {
		arrival = draws.ExpFloat64() / l.rate
	}
	for k, c := range l.model.Classes {
		for range c.Sources {
			rest(k)
		}
	}
	arrive := func(class int) {
		seen[class].offered++
		fits, token := l.admits(class)
		if !fits {
			seen[class].lost++
			if l.model.Classes[class].Sources > 0 {
				rest(class)
			}
			return
		}
		if l.servers > 0 && len(l.jobs) >= l.servers {
			seen[class].met++
		}
		j := literalJob{came: now, left: l.classes[class].sizes.Sample(draws), class: class}
		if len(l.system.tokens) > 0 {
			j.server = l.tokens[token]
			l.tokens = slices.Delete(l.tokens, token, token+1)
		}
		l.jobs = append(l.jobs, j)
	}
	for {
		rates := l.rates()
		done, source, next := -1, -1, arrival
		for k, s := range l.ready {
			if s.time < next {
				source, next = k, s.time
			}
		}
		for k, j := range l.jobs {
			if at := now + j.left/rates[k]; rates[k] > 0 && at < next {
				done, next = k, at
			}
		}
		l.count(min(next, t)-now, y)
		for k := range l.jobs {
			l.jobs[k].left -= (min(next, t) - now) * rates[k]
		}
		if next > t {
			y.Time += t
			return seen
		}
		now = next
		y.Jumps++
		switch {
		case done >= 0:
			j := l.jobs[done]
			l.jobs = slices.Delete(l.jobs, done, done+1)
			l.tokens = append(l.tokens, j.server)
			y.Leave(j.class, now-j.came)
			if l.model.Classes[j.class].Sources > 0 {
				rest(j.class)
			}
		case source >= 0:
			class := l.ready[source].class
			l.ready = slices.Delete(l.ready, source, source+1)
			arrive(class)
		default:
			arrival = now + draws.ExpFloat64()/l.rate
			arrive(int(l.arrivals.Pick(draws.Uint64())))
		}
	}
}

// count adds up t units of time.
func (l *literalSystem) count(t float64, y *sim.Totals) {
	y.Add(len(l.jobs), t)
	for _, j := range l.jobs {
		y.Jobs[j.class] += t
	}
	for s := range l.model.Servers {
		if slices.ContainsFunc(l.jobs, func(j literalJob) bool {
			if len(l.system.tokens) > 0 {
				return j.server == s
			}
			return slices.Contains(l.classes[j.class].servers, s)
		}) {
			y.Busy[s] += t
		}
	}
}

// The engine takes the same path as the literal rules, for systems of all kinds and several shapes
// of sizes.
func TestEngineMatchesLiteral(t *testing.T) {
	shapes := []sizes.Distribution{nil, simtest.Sizes(t, "lognormal:4", 1), simtest.Sizes(t, "erlang:3", 1)}
	rapid.Check(t, func(rt *rapid.T) {
		system := System{
			Model:   drawModel(rt),
			Sharing: rapid.Bool().Draw(rt, "sharing"),
			Shape:   rapid.SampledFrom(shapes).Draw(rt, "shape"),
		}
		if system.Model.Servers != nil && system.Model.Servers[0].Tokens > 0 {
			system.Assign = rapid.SampledFrom([]Assignment{OldestToken, RandomServer, ShortestQueue}).Draw(rt, "assign")
		}
		s, err := system.prepare()
		if err != nil {
			rt.Fatal(err)
		}
		key := [32]byte{byte(rapid.IntRange(0, 255).Draw(rt, "seed"))}
		stream := func() *sim.Stream { return sim.NewStream(key) }
		d := s.describe()
		first := newMotion(t.Context(), s, stream())
		for range 150 {
			if err := first.step(d.NewTotals()); err != nil {
				rt.Fatal(err)
			}
		}
		length := (first.now + first.next()) / 2 // between events
		got, want := d.NewTotals(), d.NewTotals()
		e := newMotion(t.Context(), s, stream())
		for range 3 {
			if err := e.Advance(length/3, got); err != nil {
				rt.Fatal(err)
			}
		}
		l := &literalSystem{system: s}
		seen := l.run(length, rand.New(stream()), want)
		simtest.CompareTotals(rt, got, want)
		for k, v := range seen {
			if m := e.byClass[k]; m.offered != v.offered || m.lost != v.lost || m.met != v.met {
				rt.Errorf("class %d: %+v, want %+v", k, m, v)
			}
		}
	})
}
