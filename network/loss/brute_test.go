package loss_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
)

// A seen system is the Markov chain of a model, with every state: the classes of the jobs in order
// of arrival. It uses no formula of the package.
type seen struct {
	chain *oracle.Chain[string]
	m     *loss.Model
}

func jobsOf(state string) (list []int) {
	for _, r := range state {
		list = append(list, int(r-'a'))
	}
	return list
}

func count(state string, k int) int { return strings.Count(state, string(rune('a'+k))) }

func units(c *loss.Class) int { return max(1, c.Units) }

// fits reports whether one more job of class k is within the limits.
func fits(m *loss.Model, state string, k int) bool {
	use := func(classes []int) (n int) {
		for _, j := range classes {
			n += units(&m.Classes[j]) * count(state, j)
		}
		return n
	}
	all := make([]int, len(m.Classes))
	for j := range all {
		all[j] = j
	}
	if m.Room > 0 && use(all)+units(&m.Classes[k]) > m.Room {
		return false
	}
	for _, l := range m.Limits {
		if slices.Contains(l.Classes, k) && use(l.Classes)+units(&m.Classes[k]) > l.Most {
			return false
		}
	}
	return true
}

// arrivals returns the rate at which jobs of class k arrive.
func arrivals(m *loss.Model, state string, k int) *big.Rat {
	c := &m.Classes[k]
	if c.Sources == 0 {
		return c.ArrivalRate
	}
	return mul(c.ArrivalRate, rat(int64(c.Sources-count(state, k)), 1))
}

// brute returns the chain of a model in which jobs are served in order of arrival: each job at rate
// 1, or the first c jobs, or by servers that each serve the first job that they can. Sizes are
// exponential; if their means differ, jobs share equal servers.
func brute(m *loss.Model) seen {
	sharing := false
	for _, c := range m.Classes {
		sharing = sharing || num.OrOne(c.MeanSize).Cmp(num.OrOne(m.Classes[0].MeanSize)) != 0
	}
	chain := oracle.NewChain("", func(state string, move func(string, *big.Rat)) {
		for k := range m.Classes {
			if fits(m, state, k) {
				move(state+string(rune('a'+k)), arrivals(m, state, k))
			}
		}
		jobs := jobsOf(state)
		rate := make([]*big.Rat, len(jobs))
		for p := range jobs {
			rate[p] = new(big.Rat)
		}
		switch {
		case m.Count > 0 && sharing:
			for p := range jobs {
				rate[p] = rat(int64(min(m.Count, len(jobs))), int64(len(jobs)))
			}
		case m.Count > 0:
			for p := range min(m.Count, len(jobs)) {
				rate[p] = rat(1, 1)
			}
		case len(m.Servers) > 0:
			for s, server := range m.Servers {
				for p, k := range jobs {
					if slices.Contains(m.Classes[k].Servers, s) {
						rate[p].Add(rate[p], server.Capacity)
						break
					}
				}
			}
		case len(m.Rank) > 0: // a job gets the increase of the rate when it joins earlier jobs
			for p := range jobs {
				rate[p].Sub(rateOf(m, jobs[:p+1]), rateOf(m, jobs[:p]))
			}
		default:
			for p := range jobs {
				rate[p] = rat(1, 1)
			}
		}
		for p, k := range jobs {
			move(state[:p]+state[p+1:], new(big.Rat).Quo(rate[p], num.OrOne(m.Classes[k].MeanSize)))
		}
	})
	return seen{chain, m}
}

// rateOf returns the total rate while some jobs are present.
func rateOf(m *loss.Model, jobs []int) *big.Rat {
	present := slices.Compact(slices.Sorted(slices.Values(jobs)))
	for _, r := range m.Rank {
		if slices.Equal(slices.Sorted(slices.Values(r.Classes)), present) {
			return r.Rate
		}
	}
	return new(big.Rat)
}

// drawRank gives the model a rank function.
func drawRank(t *rapid.T, m *loss.Model) {
	n := len(m.Classes)
	rate := make([]*big.Rat, 1<<n)
	for set := 1; set < len(rate); set++ {
		x, classes := new(big.Rat), []int{}
		for k := range n {
			if set>>k&1 == 1 {
				classes = append(classes, k)
				if less := rate[set&^(1<<k)]; less != nil && less.Cmp(x) > 0 {
					x.Set(less)
				}
			}
		}
		more := rapid.Int64Range(0, 4).Draw(t, "more")
		if x.Sign() == 0 {
			more++
		}
		rate[set] = x.Add(x, rat(more, 2))
		m.Rank = append(m.Rank, loss.SetRate{Classes: rapid.Permutation(classes).Draw(t, "set"), Rate: rate[set]})
	}
	m.Rank = rapid.Permutation(m.Rank).Draw(t, "rank")
}

func rat(a, b int64) *big.Rat       { return big.NewRat(a, b) }
func mul(a, b *big.Rat) *big.Rat    { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat    { return new(big.Rat).Quo(a, b) }
func addUp(a, b *big.Rat) *big.Rat  { return new(big.Rat).Add(a, b) }
func sameNumber(a, b *big.Rat) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }
func indicator(is bool) *big.Rat    { return map[bool]*big.Rat{true: rat(1, 1), false: new(big.Rat)}[is] }
func (s seen) prob(f func(state string) bool) *big.Rat {
	return s.chain.Mean(func(state string) *big.Rat { return indicator(f(state)) })
}

// drawModel draws a model of one of the kinds of service with at most a few dozen states. Classes
// without limit have few sources.
func drawModel(t *rapid.T) *loss.Model {
	number := func(label string) *big.Rat {
		return rat(rapid.Int64Range(1, 9).Draw(t, label), rapid.Int64Range(1, 5).Draw(t, label+" over"))
	}
	m := &loss.Model{}
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	if kind == 1 {
		m.Count = rapid.IntRange(1, 3).Draw(t, "servers")
	}
	if kind == 2 {
		for s := range rapid.IntRange(1, 3).Draw(t, "servers") {
			m.Servers = append(m.Servers, loss.Server{Name: fmt.Sprint("s", s), Capacity: number("capacity")})
		}
	}
	n := rapid.IntRange(1, 3).Draw(t, "classes")
	for k := range n {
		c := loss.Class{
			Name:        fmt.Sprint("c", k),
			ArrivalRate: number("rate"),
			Units:       rapid.IntRange(0, 2).Draw(t, "units"),
		}
		if rapid.Bool().Draw(t, "finite") {
			c.Sources = rapid.IntRange(1, 3).Draw(t, "sources")
		}
		if kind == 0 {
			c.MeanSize = number("mean size")
		}
		for s := range m.Servers {
			if s == k%len(m.Servers) || rapid.Bool().Draw(t, "can") {
				c.Servers = append(c.Servers, s)
			}
		}
		m.Classes = append(m.Classes, c)
	}
	if kind == 3 {
		drawRank(t, m)
	}
	m.Room = rapid.IntRange(2, 6-max(n, 2)).Draw(t, "room") // 121 orders of three classes would take seconds
	for range rapid.IntRange(0, 2).Draw(t, "limits") {
		l := loss.Limit{Most: rapid.IntRange(2, 4).Draw(t, "most")}
		for k := range n {
			if rapid.Bool().Draw(t, "in") {
				l.Classes = append(l.Classes, k)
			}
		}
		m.Limits = append(m.Limits, l)
		if m.Check() != nil { // the model is empty or repeats a set
			m.Limits = m.Limits[:len(m.Limits)-1]
		}
	}
	return m
}

// For every kind of system, all measures equal those of its Markov chain, in fractions; float64
// bounds and enclosures contain them.
func TestAgainstChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		s := brute(m)
		exact := solve(t, m, num.Exact)
		for k := range m.Classes {
			s.compare(t, k, &exact.Classes[k])
		}
		equal(t, "empty", *exact.EmptyProbability, s.chain.Prob[""])
		equal(
			t, "mean jobs", exact.MeanJobs,
			s.chain.Mean(func(state string) *big.Rat { return rat(int64(len(state)), 1) }),
		)
		for j, server := range exact.Servers {
			equal(t, "utilization", server.Utilization, s.prob(func(state string) bool {
				return slices.ContainsFunc(jobsOf(state), func(k int) bool {
					return slices.Contains(m.Classes[k].Servers, j)
				})
			}))
		}
		checkBounds(t, exact, solve(t, m, num.Float))
		checkBounds(t, exact, solve(t, m, num.Enclose))
	})
}

// compare checks the measures of a class against the chain.
func (s seen) compare(t *rapid.T, k int, got *loss.ClassResult) {
	t.Helper()
	m := s.m
	offered := s.chain.Mean(func(state string) *big.Rat { return arrivals(m, state, k) })
	in := s.chain.Mean(func(state string) *big.Rat { return mul(arrivals(m, state, k), indicator(fits(m, state, k))) })
	jobs := s.chain.Mean(func(state string) *big.Rat { return rat(int64(count(state, k)), 1) })
	equal(t, "offered", got.Offered, offered)
	equal(t, "throughput", got.Throughput, in)
	equal(t, "blocking", got.Blocking, new(big.Rat).Sub(rat(1, 1), quo(in, offered)))
	equal(t, "mean jobs", *got.MeanJobs, jobs)
	equal(t, "mean delay", *got.MeanDelay, quo(jobs, in))
	if m.Count == 0 {
		return
	}
	waits := s.chain.Mean(func(state string) *big.Rat {
		return mul(arrivals(m, state, k), indicator(fits(m, state, k) && len(state) >= m.Count))
	})
	queue := s.chain.Mean(func(state string) *big.Rat {
		return rat(int64(count(state[min(m.Count, len(state)):], k)), 1)
	})
	equal(t, "waits", *got.WaitProbability, quo(waits, in))
	equal(t, "queue", *got.MeanQueue, queue)
	equal(t, "waiting", *got.MeanWaiting, quo(queue, in))
}

func solve(t oracle.Tester, m *loss.Model, engine num.Engine) *loss.Result {
	t.Helper()
	r, err := loss.Solve(ctx, m, loss.Settings{Engine: engine})
	if err != nil {
		t.Fatalf("%s: %v", engine, err)
	}
	for k, c := range m.Classes {
		if r.Classes[k].Name != c.Name {
			t.Fatalf("class %d is %q, want %q", k, r.Classes[k].Name, c.Name)
		}
	}
	for s, server := range m.Servers {
		if got := r.Servers[s]; got.Name != server.Name || got.Count != server.Count {
			t.Fatalf("server %d is %q of %d, want %q of %d", s, got.Name, got.Count, server.Name, server.Count)
		}
	}
	for l, limit := range m.Limits {
		if got := r.Limits[l]; got.Most != limit.Most || len(got.Classes) != len(limit.Classes) ||
			got.Classes[0] != m.Classes[limit.Classes[0]].Name {
			t.Fatalf("limit %d is of %d on %q, want %+v", l, got.Most, got.Classes, limit)
		}
	}
	return r
}

func equal(t oracle.Tester, what string, got num.Value, want *big.Rat) {
	t.Helper()
	if got.Exact == nil || got.Exact.Cmp(want) != 0 {
		t.Errorf("%s %v, want %v", what, got.Exact, want)
	}
}

// values lists all numbers of a result in a fixed order, with nil for missing ones.
func values(r *loss.Result) (list []*num.Value) {
	list = append(list, r.EmptyProbability, r.Blocking, &r.Throughput, &r.MeanJobs, r.MeanDelay)
	for k := range r.Classes {
		c := &r.Classes[k]
		list = append(
			list, &c.Offered, &c.Blocking, &c.Throughput, c.MeanJobs, c.MeanDelay, c.WaitProbability,
			c.MeanQueue, c.MeanWaiting,
		)
	}
	for s := range r.Servers {
		list = append(list, &r.Servers[s].Utilization, r.Servers[s].MeanJobs, r.Servers[s].Throughput)
	}
	if r.Room != nil {
		list = append(list, &r.Room.MeanUnits, &r.Room.Utilization)
	}
	for l := range r.Limits {
		list = append(list, &r.Limits[l].MeanUnits, &r.Limits[l].Utilization)
	}
	return list
}

// checkBounds checks the numbers of another engine against fractions.
func checkBounds(t oracle.Tester, exact, other *loss.Result) {
	t.Helper()
	oracle.HoldValues(t, other.Engine, other.RelativeErrorBound, values(other), values(exact))
	if other.RelativeErrorBound > 1e-12 {
		t.Errorf("%s: bound %v", other.Engine, other.RelativeErrorBound)
	}
}

func holds(e num.Interval, x *big.Rat) bool {
	low, _ := e.Low.Rat(nil)
	high, _ := e.High.Rat(nil)
	return low.Cmp(x) <= 0 && x.Cmp(high) <= 0
}

var ctx = context.Background()
