package cluster

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/sim"
	"productform/sim/internal/simtest"
)

// pool returns servers of speed 1 for two classes, which have priorities 1 and 0 and mean size 1.
func pool(servers int, rates ...string) *cluster.Model {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Count: servers, Capacity: big.NewRat(1, 1)}}, Service: cluster.OneServer,
	}
	for i, rate := range simtest.Rationals(rates...) {
		m.Classes = append(m.Classes, cluster.Class{
			Name: fmt.Sprint("c", i), ArrivalRate: rate, Priority: len(rates) - 1 - i,
			Servers: []cluster.Choice{{Server: 0, Choose: servers}},
		})
	}
	return m
}

// Every policy that keeps no server idle while jobs wait gives equal servers the mean queue of
// M/M/m by Erlang's formula C. Those without priorities also have its exponential waiting times,
// P(W > t) = C e^-(m μ - λ)t.
func TestOneMatchesErlangC(t *testing.T) {
	t.Parallel()
	const servers, lambda = 3, 2.1
	m := pool(servers, "1.2", "0.9")
	inverse := 1.
	for k := 1; k <= servers; k++ {
		inverse = 1 + inverse*float64(k)/lambda // 1/B(k)
	}
	c := 1 / (1 + (inverse-1)*(1-lambda/servers)) // C from B
	levels := []float64{0.2, 0.9}
	quantile := max(0, math.Log(c/(1-levels[1]))/(servers-lambda))
	for _, policy := range []Policy{
		LongestIdle, FastestIdle, RandomIdle, LeastWork, Priority, PreemptivePriority, Power(3), JSQ,
	} {
		r := simtest.Run(t, Cluster{Model: m, Policy: policy}, sim.Settings{
			Runs:   20,
			Jumps:  1e4,
			WarmUp: 1e3,
			Seed:   3,
			Levels: levels,
		})
		if policy == JSQ || policy.draws() > 0 { // a server may be idle while jobs wait at another
			if z := r.All(MeanWaiting).Z(c / (servers - lambda)); z < 5 {
				t.Errorf("%s: z = %v", policy, z)
			}
			continue
		}
		near := func(what string, e *sim.Estimate, exact float64) {
			t.Helper()
			simtest.Near(t, string(policy)+": "+what, e, exact)
		}
		near("mean queue", r.All(MeanQueue), c*lambda/(servers-lambda))
		near("mean waiting", r.All(MeanWaiting), c/(servers-lambda))
		near("measured waiting", r.All(MeasuredWaiting), c/(servers-lambda))
		near("mean jobs", r.All(sim.MeanJobs), lambda+c*lambda/(servers-lambda))
		near("utilization", r.Server(0, sim.Utilization), lambda/servers)
		if policy != PreemptivePriority {
			near("wait probability", r.All(WaitProbability), c)
		}
		if policy.HasPriorities() {
			continue
		}
		for i := range m.Classes {
			near("wait probability", r.Class(i, WaitProbability), c)
			near("mean waiting", r.Class(i, MeanWaiting), c/(servers-lambda))
			near("served by", r.Estimate(OfServing, i, ServedBy), 1)
		}
		for visit := range len(m.Classes) + 1 {
			if q := r.Quantile(sim.OfVisit, visit, levels[0]); q == nil || q.Value != 0 || q.Low != 0 || q.High != 0 {
				t.Errorf("%s: visit %d has the quantile %+v, want 0", policy, visit, q)
			}
			if q := r.Quantile(sim.OfVisit, visit, levels[1]); q == nil || !(math.Abs(q.Z(quantile)) < 5) {
				t.Errorf("%s: visit %d has the quantile %+v, want %v", policy, visit, q, quantile)
			}
		}
	}
}

// One server is the queue M/G/1. Without priorities the formula is that of Pollaczek and Khinchine.
// With them it is Cobham's, W_k = R/((1 - σ_{k-1})(1 - σ_k)), where R = Σ_i λ_i E[S_i²]/2 and σ_k
// is the load of the classes up to k. If jobs are interrupted, R is over the classes up to k, and
// W_k has the further term S_k σ_{k-1}/(1 - σ_{k-1}).
func TestOneServerMatchesFormulas(t *testing.T) {
	t.Parallel()
	m := pool(1, "0.6", "0.3", "0.2")
	for i, mean := range simtest.Rationals("1/2", "1", "1/2") {
		m.Classes[i].MeanSize = mean
	}
	rate, mean := []float64{0.6, 0.3, 0.2}, []float64{0.5, 1, 0.5}
	for shape, scv := range map[string]float64{
		"exponential":   1,
		"deterministic": 0,
		"lognormal:2":   2,
	} {
		residual, load := make([]float64, 4), make([]float64, 4) // sums over the first k classes
		for i := range rate {
			residual[i+1] = residual[i] + rate[i]*mean[i]*mean[i]*(1+scv)/2
			load[i+1] = load[i] + rate[i]*mean[i]
		}
		for _, policy := range everyOnePolicy() {
			c := Cluster{Model: m, Sizes: simtest.Sizes(t, shape, 1), Policy: policy}
			r := simtest.Run(t, c, sim.Settings{Runs: 20, Jumps: 4e3, WarmUp: 2e3, Seed: 4})
			for i := range rate {
				want := residual[3] / (1 - load[3])
				switch policy {
				case Priority:
					want = residual[3] / (1 - load[i]) / (1 - load[i+1])
				case PreemptivePriority:
					want = residual[i+1]/(1-load[i])/(1-load[i+1]) + mean[i]*load[i]/(1-load[i])
				}
				what := fmt.Sprintf("%s, %s, class %d", policy, shape, i)
				simtest.Near(t, what+": mean waiting", r.Class(i, MeanWaiting), want)
				simtest.Near(t, what+": measured waiting", r.Class(i, MeasuredWaiting), want)
				simtest.Near(t, what+": mean delay", r.Class(i, sim.MeanDelay), want+mean[i])
				served := r.Class(i, sim.MeasuredDelay).Mean - r.Class(i, MeasuredWaiting).Mean
				if shape == "deterministic" && math.Abs(served-mean[i]) > 1e-9 { // no interruption loses work
					t.Errorf("%s: served for %v, want %v", what, served, mean[i])
				}
				if policy != PreemptivePriority {
					simtest.Near(t, what+": wait probability", r.Class(i, WaitProbability), load[3])
				}
			}
			simtest.Near(t, string(policy)+": utilization", r.Server(0, sim.Utilization), load[3])
		}
	}
}

// A oneAnswer holds the exact measures of single servers and classes.
type oneAnswer struct {
	wait, queue []float64   // by class: P(W_i > 0) and E[Q_i]
	busy        []float64   // by server
	begins      [][]float64 // by class and server: rate at which services begin
}

// check compares a simulation with exact measures, whose servers and classes belong to the rows of
// the simulated model.
func (a *oneAnswer) check(t *testing.T, what string, m *cluster.Model, r *sim.Result, serverRow, classRow []int) {
	t.Helper()
	rates := oracle.Rates(m)
	wait, queue, busy := make([]float64, len(m.Classes)), make([]float64, len(m.Classes)),
		make([]float64, len(m.Servers))
	begins := make([]float64, len(m.Classes)*len(m.Servers))
	share := make([]float64, len(m.Classes)) // number of jobs of each class in a row
	for _, i := range classRow {
		share[i]++
	}
	for k, i := range classRow {
		wait[i] += a.wait[k] / share[i]
		queue[i] += a.queue[k]
		for s, v := range a.begins[k] {
			begins[i*len(m.Servers)+serverRow[s]] += v
		}
	}
	for s, v := range a.busy {
		busy[serverRow[s]] += v / float64(m.Servers[serverRow[s]].Size())
	}
	near := func(what string, e *sim.Estimate, exact float64) {
		t.Helper()
		if e != nil && (e.Skewed || e.StdError == 0) && math.Abs(e.Mean-exact) < 1e-3 {
			return // an event that few jobs or none met
		}
		simtest.Near(t, what, e, exact)
	}
	for i, class := range m.Classes {
		rate, _ := rates[i].Float64()
		if rate == 0 {
			continue
		}
		near(fmt.Sprint(what, ": wait probability of class ", i), r.Class(i, WaitProbability), wait[i])
		near(fmt.Sprint(what, ": mean queue of class ", i), r.Class(i, MeanQueue), queue[i])
		near(fmt.Sprint(what, ": mean waiting of class ", i), r.Class(i, MeanWaiting), queue[i]/rate)
		near(fmt.Sprint(what, ": measured waiting of class ", i), r.Class(i, MeasuredWaiting), queue[i]/rate)
		for _, choice := range class.Servers {
			at := i*len(m.Servers) + choice.Server
			near(fmt.Sprint(what, ": served by ", at), r.Estimate(OfServing, at, ServedBy), begins[at]/rate)
		}
	}
	for k := range m.Servers {
		near(fmt.Sprint(what, ": utilization of ", k), r.Server(k, sim.Utilization), busy[k])
	}
}

// singles returns the arrival rates, the capacities and the sets of servers of a model of single
// servers, with mean size 1.
func singles(m *cluster.Model) (lambda, mu []float64, servers []uint) {
	size, _ := big.NewRat(1, 1).Float64()
	if m.MeanSize != nil {
		size, _ = m.MeanSize.Float64()
	}
	for _, s := range m.Servers {
		v, _ := s.Capacity.Float64()
		mu = append(mu, v/size)
	}
	for _, c := range m.Classes {
		v, _ := c.ArrivalRate.Float64()
		set := uint(0)
		for _, choice := range c.Servers {
			set |= 1 << choice.Server
		}
		lambda, servers = append(lambda, v), append(servers, set)
	}
	return lambda, mu, servers
}

// longestIdleByProducts returns the measures under LongestIdle by its product form (I. Adan and G.
// Weiss, "A skill based parallel service system under FCFS-ALIS", Stochastic Systems 4, 2014),
// summed over sets of servers: a set K is busy with a probability proportional to F(K) H(S∖K), with
//
//	F(K) = Σ_{s∈K} F(K∖s)/(μ(K) - λ(K)),  H(L) = Σ_{s∈L} H(L∖s)/λ(C(L)),  F(∅) = H(∅) = 1,
//
// where λ(K) is the arrival rate of the classes whose servers are all in K, and λ(C(L)) that of the
// classes with a server in L.
func longestIdleByProducts(m *cluster.Model) *oneAnswer {
	lambda, mu, of := singles(m)
	used := uint(0)
	for i := range lambda {
		if lambda[i] > 0 {
			used |= of[i]
		}
	}
	sum := func(ok func(i int) bool) (sum float64) {
		for i := range lambda {
			if ok(i) {
				sum += lambda[i]
			}
		}
		return sum
	}
	inside := func(k uint) float64 { return sum(func(i int) bool { return of[i]&^k == 0 }) }
	touches := func(l uint) float64 { return sum(func(i int) bool { return of[i]&l != 0 }) }
	slack := func(k uint) float64 {
		v := -inside(k)
		for s := range mu {
			if k>>s&1 == 1 {
				v += mu[s]
			}
		}
		return v
	}
	each := func(set uint, visit func(s int, bit uint)) {
		for s := range mu {
			if set>>s&1 == 1 {
				visit(s, 1<<s)
			}
		}
	}
	size := uint(1) << len(mu)
	f, h := make([]float64, size), make([]float64, size)
	f[0], h[0] = 1, 1
	z := 0.0
	for k := range size {
		if k&^used != 0 {
			continue
		}
		each(k, func(_ int, bit uint) {
			f[k] += f[k&^bit] / slack(k)
			h[k] += h[k&^bit] / touches(k)
		})
	}
	for k := range size {
		if k&^used == 0 {
			z += f[k] * h[used&^k]
		}
	}
	// derivatives of Z by F(K), and by H(L)
	df, dh := make([]float64, size), make([]float64, size)
	for k := int(size) - 1; k >= 0; k-- {
		if k := uint(k); k&^used == 0 {
			df[k], dh[k] = h[used&^k], f[used&^k]
			each(used&^k, func(_ int, bit uint) {
				df[k] += df[k|bit] / slack(k|bit)
				dh[k] += dh[k|bit] / touches(k|bit)
			})
		}
	}
	a := &oneAnswer{busy: make([]float64, len(mu))}
	for i := range lambda {
		var wait, queue float64
		begins := make([]float64, len(mu))
		for k := range size {
			if k&^used != 0 {
				continue
			}
			if of[i]&^k == 0 {
				wait += f[k] * h[used&^k] / z
				queue += lambda[i] / z * df[k] * f[k] / slack(k)
			}
			if of[i]&k == 0 { // idle before the server s
				each(of[i]&used, func(s int, bit uint) {
					begins[s] += lambda[i] / z * h[k] * dh[k|bit] / touches(k|bit)
				})
			}
		}
		each(of[i], func(s int, bit uint) { // after waiting
			g := make([]float64, size)
			for k := range size {
				if k&bit == 0 || k&^used != 0 {
					continue
				}
				v := f[k&^bit]
				each(k&^bit, func(_ int, other uint) { v += g[k&^other] })
				g[k] = v / (slack(k) + inside(k) - inside(k&^bit))
				if of[i]&^k == 0 {
					begins[s] += mu[s] * lambda[i] / z * g[k] * df[k] / slack(k)
				}
			}
		})
		a.wait, a.queue, a.begins = append(a.wait, wait), append(a.queue, queue), append(a.begins, begins)
	}
	for k := range size {
		if k&^used == 0 {
			each(k, func(s int, _ uint) { a.busy[s] += f[k] * h[used&^k] / z })
		}
	}
	return a
}

// Under LongestIdle random clusters, some of whose jobs draw servers, have the product form.
func TestLongestIdleMatchesProductForm(t *testing.T) {
	models := rapid.Custom(func(t *rapid.T) *cluster.Model {
		m := drawOne(t, oracle.Options{Servers: 4, Classes: 4, Count: 3, ZeroRates: true})
		return oracle.ScaleTo(m, big.NewRat(int64(rapid.IntRange(3, 8).Draw(t, "tenths")), 10))
	})
	for seed := range 20 {
		m := models.Example(seed)
		single, serverRow, classRow, err := m.Expand(1000)
		if err != nil {
			t.Fatal(err)
		}
		exact := longestIdleByProducts(single)
		for i, want := range exact.begins { // each job begins once
			rate, _ := single.Classes[i].ArrivalRate.Float64()
			if v := sim.Sum(want); math.Abs(v-rate) > 1e-9*rate {
				t.Fatalf("seed %d: jobs of class %d begin at rate %v, want %v", seed, i, v, rate)
			}
		}
		r := simtest.Run(t, Cluster{Model: m}, sim.Settings{Runs: 20, Jumps: 6e3, WarmUp: 1.5e3, Seed: uint64(seed)})
		exact.check(t, fmt.Sprint("seed ", seed), m, r, serverRow, classRow)
	}
}

// A oneMove is a transition of the chain of a cluster. If it begins a service, class and server say
// of which job and where; class is -1 otherwise.
type oneMove struct {
	to            string
	rate          float64
	class, server int
}

// oneChain returns the transitions from a state of the Markov chain of a cluster of single servers
// with exponential sizes. A state has the idle servers in the order in which they became idle, a
// bar, and the classes of the waiting jobs in the order of arrival. At most most jobs wait.
func oneChain(m *cluster.Model, policy Policy, most int) func(state string) []oneMove {
	lambda, mu, of := singles(m)
	return func(state string) (moves []oneMove) {
		idle, queue, _ := strings.Cut(state, "|")
		can := func(i int, s byte) bool { return of[i]>>(s-'0')&1 == 1 }
		for i, rate := range lambda {
			var free []byte
			speed := 0.0
			for _, s := range []byte(idle) {
				if can(i, s) {
					free, speed = append(free, s), max(speed, mu[s-'0'])
				}
			}
			switch policy {
			case FastestIdle:
				free = slices.DeleteFunc(free, func(s byte) bool { return mu[s-'0'] < speed })
			case RandomIdle:
			default:
				free = free[:min(1, len(free))]
			}
			if policy == FastestIdle {
				free = free[:min(1, len(free))]
			}
			for _, s := range free {
				to := strings.ReplaceAll(idle, string(s), "") + "|" + queue
				moves = append(moves, oneMove{to, rate / float64(len(free)), i, int(s - '0')})
			}
			if len(free) == 0 && len(queue) < most {
				moves = append(moves, oneMove{idle + "|" + queue + string(rune('a'+i)), rate, -1, 0})
			}
		}
		for s, rate := range mu {
			name := byte('0' + s)
			if strings.IndexByte(idle, name) >= 0 {
				continue
			}
			next := -1
			for k := range len(queue) {
				i := int(queue[k] - 'a')
				if can(i, name) && (next < 0 || policy == Priority &&
					m.Classes[i].Priority > m.Classes[queue[next]-'a'].Priority) {
					next = k
				}
			}
			if next < 0 {
				moves = append(moves, oneMove{idle + string(name) + "|" + queue, rate, -1, 0})
				continue
			}
			moves = append(moves, oneMove{idle + "|" + queue[:next] + queue[next+1:], rate, int(queue[next] - 'a'), s})
		}
		return moves
	}
}

// solveOneChain returns the stationary measures of the chain.
func solveOneChain(t *testing.T, m *cluster.Model, policy Policy, most int) *oneAnswer {
	t.Helper()
	lambda, mu, of := singles(m)
	moves := oneChain(m, policy, most)
	start := "0123456789"[:len(mu)] + "|"
	states, p := oracle.FloatChain(start, func(s string, move func(string, float64)) {
		for _, m := range moves(s) {
			move(m.to, m.rate)
		}
	})
	a := &oneAnswer{
		wait: make([]float64, len(lambda)), queue: make([]float64, len(lambda)), busy: make([]float64, len(mu)),
	}
	for range lambda {
		a.begins = append(a.begins, make([]float64, len(mu)))
	}
	full := 0.0
	for at, state := range states {
		idle, queue, _ := strings.Cut(state, "|")
		free := uint(0)
		for _, s := range []byte(idle) {
			free |= 1 << (s - '0')
		}
		for s := range mu {
			if free>>s&1 == 0 {
				a.busy[s] += p[at]
			}
		}
		for i := range lambda {
			if of[i]&free == 0 {
				a.wait[i] += p[at]
			}
			a.queue[i] += p[at] * float64(strings.Count(queue, string(rune('a'+i))))
		}
		for _, move := range moves(state) {
			if move.class >= 0 {
				a.begins[move.class][move.server] += p[at] * move.rate
			}
		}
		if len(queue) == most {
			full += p[at]
		}
	}
	if full > 2e-6 {
		t.Fatalf("the chain is cut with probability %v", full)
	}
	return a
}

// With two and three servers the measures are those of the chain under each policy, and the product
// form agrees with the chain.
func TestOneMatchesChain(t *testing.T) {
	for k, text := range []string{
		`
servers: [{name: slow, capacity: 1}, {name: fast, capacity: 3}]
classes:
- {name: any, arrival_rate: 0.9, servers: [slow, fast]}
- {name: slow, arrival_rate: 0.2, servers: [slow], priority: 2}
service: one
`, `
servers: [{name: a, capacity: 1}, {name: b, capacity: 2}, {name: c, capacity: 2}]
classes:
- {name: ab, arrival_rate: 0.5, servers: [a, b]}
- {name: any, arrival_rate: 0.7, servers: [a, b, c], priority: 1}
service: one
`} {
		m, err := cluster.Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		identity := []int{0, 1, 2}
		for _, policy := range []Policy{LongestIdle, FastestIdle, RandomIdle, Priority} {
			exact := solveOneChain(t, m, policy, 10)
			what := fmt.Sprint("model ", k, ", ", policy)
			s := sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2e3, Seed: 6}
			r := simtest.Run(t, Cluster{Model: m, Policy: policy}, s)
			exact.check(t, what, m, r, identity[:len(m.Servers)], identity[:len(m.Classes)])
			if policy != LongestIdle {
				continue
			}
			product := longestIdleByProducts(m)
			for i := range m.Classes { // the chain is cut with probability 2e-6
				if math.Abs(product.queue[i]-exact.queue[i]) > 1e-4*product.queue[i] {
					t.Errorf("%s: mean queue %v by products, %v by the chain", what, product.queue[i], exact.queue[i])
				}
			}
		}
	}
}
