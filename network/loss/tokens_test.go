package loss_test

import (
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

// drawTokens draws a system with tokens.
func drawTokens(t *rapid.T) *loss.Model {
	number := func(label string) *big.Rat {
		return rat(rapid.Int64Range(1, 9).Draw(t, label), rapid.Int64Range(1, 5).Draw(t, label+" over"))
	}
	m := &loss.Model{}
	n := rapid.IntRange(1, 3).Draw(t, "servers")
	for s := range n {
		tokens := rapid.IntRange(1, max(4-n-s, 1)).Draw(t, "tokens")
		m.Servers = append(m.Servers, loss.Server{
			Name:     fmt.Sprint("s", s),
			Capacity: number("capacity"),
			Tokens:   tokens,
		})
	}
	size := number("mean size")
	for k := range rapid.IntRange(1, 3).Draw(t, "classes") {
		c := loss.Class{Name: fmt.Sprint("c", k), ArrivalRate: number("rate"), MeanSize: size}
		for s := range m.Servers {
			if s == k%len(m.Servers) || rapid.Bool().Draw(t, "can") {
				c.Servers = append(c.Servers, s)
			}
		}
		m.Classes = append(m.Classes, c)
	}
	return m
}

// tokens returns the chain of a system with tokens. A state has the free tokens in the order of
// their release, and for each server the jobs in each of two phases, which share it. A job starts
// in the first phase and has a second phase with probability second.
func tokens(m *loss.Model, second *big.Rat) *oracle.Chain[string] {
	n := len(m.Servers)
	start := ""
	for s := range m.Servers {
		all := strings.Repeat(string(rune('a'+s)), m.Servers[s].Tokens)
		if slices.ContainsFunc(m.Classes, func(c loss.Class) bool { return slices.Contains(c.Servers, s) }) {
			start += all
		} else {
			start = all + start // never taken
		}
	}
	start += strings.Repeat("\x00", 2*n)
	// the phases are exponential with the same mean f: σ = f (1 + second)
	phase := new(big.Rat).Quo(num.OrOne(m.Classes[0].MeanSize), addUp(rat(1, 1), second))
	return oracle.NewChain(start, func(state string, move func(string, *big.Rat)) {
		free, jobs := state[:len(state)-2*n], state[len(state)-2*n:]
		change := func(by ...int) string {
			b := []byte(jobs)
			for j := 0; j < len(by); j += 2 {
				b[by[j]] = byte(int(b[by[j]]) + by[j+1])
			}
			return string(b)
		}
		for _, c := range m.Classes {
			p := strings.IndexFunc(free, func(r rune) bool { return slices.Contains(c.Servers, int(r-'a')) })
			if p >= 0 {
				move(free[:p]+free[p+1:]+change(2*int(free[p]-'a'), 1), c.ArrivalRate)
			}
		}
		for s, server := range m.Servers {
			one, two := int64(jobs[2*s]), int64(jobs[2*s+1])
			if one+two == 0 {
				continue
			}
			rate := quo(quo(server.Capacity, phase), rat(one+two, 1))
			first := mul(rate, rat(one, 1))
			token := string(rune('a' + s))
			move(free+change(2*s, -1, 2*s+1, 1), mul(first, second))
			move(free+token+change(2*s, -1), mul(first, new(big.Rat).Sub(rat(1, 1), second)))
			move(free+token+change(2*s+1, -1), mul(rate, rat(two, 1)))
		}
	})
}

// Blocking, jobs and utilization of servers with tokens match the chain, even if jobs that share a
// server have two phases: only the mean size matters.
func TestTokensAgainstChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTokens(t)
		second := new(big.Rat)
		if len(m.Servers) < 3 {
			second = rat(rapid.Int64Range(0, 3).Draw(t, "second"), 3)
		}
		chain := tokens(m, second)
		exact := solve(t, m, num.Exact)
		n := len(m.Servers)
		mean := func(f func(free, jobs string) *big.Rat) *big.Rat {
			return chain.Mean(func(state string) *big.Rat { return f(state[:len(state)-2*n], state[len(state)-2*n:]) })
		}
		total := new(big.Rat)
		for s := range m.Servers {
			jobs := mean(func(_, jobs string) *big.Rat { return rat(int64(jobs[2*s])+int64(jobs[2*s+1]), 1) })
			busy := mean(func(_, jobs string) *big.Rat { return indicator(jobs[2*s]+jobs[2*s+1] > 0) })
			equal(t, "jobs", *exact.Servers[s].MeanJobs, jobs)
			equal(t, "utilization", exact.Servers[s].Utilization, busy)
			equal(
				t, "throughput", *exact.Servers[s].Throughput,
				quo(mul(busy, m.Servers[s].Capacity), num.OrOne(m.Classes[0].MeanSize)),
			)
			total.Add(total, jobs)
		}
		equal(t, "mean jobs", exact.MeanJobs, total)
		for k, c := range m.Classes {
			blocked := mean(func(free, _ string) *big.Rat {
				return indicator(!strings.ContainsFunc(
					free, func(r rune) bool { return slices.Contains(c.Servers, int(r-'a')) },
				))
			})
			equal(t, "blocking", exact.Classes[k].Blocking, blocked)
			equal(t, "offered", exact.Classes[k].Offered, c.ArrivalRate)
			equal(
				t, "throughput", exact.Classes[k].Throughput, mul(c.ArrivalRate, new(big.Rat).Sub(rat(1, 1), blocked)),
			)
		}
		equal(
			t, "empty", *exact.EmptyProbability,
			mean(func(_, jobs string) *big.Rat { return indicator(strings.Trim(jobs, "\x00") == "") }),
		)
		checkBounds(t, exact, solve(t, m, num.Float))
		checkBounds(t, exact, solve(t, m, num.Enclose))
	})
}

// A server that only classes without arrivals can use stays idle, and jobs of such a class would
// never be lost.
func TestTokensWithoutArrivals(t *testing.T) {
	m := &loss.Model{
		Servers: []loss.Server{
			{Name: "used", Capacity: rat(1, 1), Tokens: 2}, {Name: "idle", Capacity: rat(1, 1), Tokens: 3},
		},
		Classes: []loss.Class{
			{Name: "a", ArrivalRate: rat(1, 1), Servers: []int{0}},
			{Name: "never", ArrivalRate: new(big.Rat), Servers: []int{0, 1}},
			{Name: "nor", ArrivalRate: new(big.Rat), Servers: []int{0}},
		},
	}
	r := solve(t, m, num.Exact)
	equal(t, "a", r.Classes[0].Blocking, rat(1, 3)) // M/M/1/2 at load 1
	equal(t, "never", r.Classes[1].Blocking, new(big.Rat))
	equal(t, "nor", r.Classes[2].Blocking, rat(1, 3))
	equal(t, "used", *r.Servers[0].MeanJobs, rat(1, 1))
	equal(t, "idle", *r.Servers[1].MeanJobs, new(big.Rat))
	equal(t, "idle", r.Servers[1].Utilization, new(big.Rat))
}

// Fifty servers of two kinds form two pools. If all classes use equal servers, the number of jobs
// is a birth-death process with the rates of the busy servers. With one class, tokens rotate in the
// order of their release; with one token per server, this is Erlang's loss system.
func TestPoolsOfTokens(t *testing.T) {
	m := &loss.Model{Classes: []loss.Class{{Name: "a", ArrivalRate: rat(40, 1)}, {Name: "b", ArrivalRate: rat(3, 1)}}}
	for s := range 50 {
		m.Servers = append(m.Servers, loss.Server{Name: fmt.Sprint("s", s), Capacity: rat(1, 1), Tokens: 1})
		m.Classes[0].Servers = append(m.Classes[0].Servers, s)
	}
	m.Classes[1].Servers = m.Classes[0].Servers
	r := solve(t, m, num.Exact)
	want, err := loss.ErlangB(ctx, 50, rat(43, 1), loss.FormulaSettings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "blocking", r.Classes[1].Blocking, want.Exact)
	equal(t, "utilization", r.Servers[7].Utilization, mul(rat(43, 50), new(big.Rat).Sub(rat(1, 1), want.Exact)))
	if r.States != 51 {
		t.Errorf("%d states, want 51", r.States)
	}
	m.Classes[1].Servers = m.Classes[0].Servers[:20]
	for s := range m.Servers {
		m.Servers[s].Tokens = 8
		m.Servers[s].Capacity = rat(int64(s%3+1), 2)
	}
	r = solve(t, m, num.Float)
	if r.States != 161*241 {
		t.Errorf("%d states, want %d", r.States, 161*241)
	}
	jobs, throughput := 0.0, 0.0
	for s, server := range r.Servers {
		jobs += server.MeanJobs.Float
		throughput += server.Throughput.Float
		if s+3 < 50 && (s < 20) == (s+3 < 20) && r.Servers[s+3].MeanJobs.Float != server.MeanJobs.Float {
			t.Errorf("equal servers have %v and %v jobs", r.Servers[s+3].MeanJobs.Float, server.MeanJobs.Float)
		}
	}
	if d := jobs/r.MeanJobs.Float - 1; d > 1e-12 || d < -1e-12 {
		t.Errorf("jobs %v, together %v", r.MeanJobs.Float, jobs)
	}
	// work done equals work admitted: two sums without a common term
	if d := throughput/r.Throughput.Float - 1; d > 1e-10 || d < -1e-10 {
		t.Errorf("throughput %v, together %v", r.Throughput.Float, throughput)
	}
}
