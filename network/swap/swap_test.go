package swap_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network/swap"
	"productform/num"
	"productform/oiqueue"
)

var ctx = context.Background()

func rat(a, b int64) *big.Rat    { return big.NewRat(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }

// drawModel draws a queue of up to three classes and any swaps: open and stable, or closed with a
// start in any order. With own, each class has its own server.
func drawModel(t *rapid.T, closed, own bool) *swap.Model {
	m := &swap.Model{MeanSize: rat(rapid.Int64Range(1, 3).Draw(t, "size"), 2)}
	n := rapid.IntRange(1, 3).Draw(t, "classes")
	for s := range n {
		m.Servers = append(m.Servers, swap.Server{
			Name:     fmt.Sprint("s", s),
			Capacity: rat(rapid.Int64Range(1, 5).Draw(t, "capacity"), 2),
		})
	}
	m.Servers = append(m.Servers, swap.Server{
		Name:     "shared",
		Capacity: rat(rapid.Int64Range(0, 3).Draw(t, "shared"), 1),
	})
	for i := range n {
		c := swap.Class{Name: fmt.Sprint("c", i), Servers: []int{i}}
		for s := range m.Servers {
			if s != i && (s == n || !own) && rapid.Bool().Draw(t, "can") {
				c.Servers = append(c.Servers, s)
			}
		}
		if closed {
			c.Population = rapid.IntRange(1, 2).Draw(t, "population")
		} else {
			c.ArrivalRate = rat(rapid.Int64Range(0, 4).Draw(t, "rate"), 20)
		}
		m.Classes = append(m.Classes, c)
		for k := range i + 1 {
			if rapid.IntRange(0, 2).Draw(t, "joined") > 0 {
				m.Swaps = append(m.Swaps, [2]int{k, i})
			}
		}
	}
	if closed && rapid.Bool().Draw(t, "shuffled") {
		for i, c := range m.Classes {
			m.Start = append(m.Start, slices.Repeat([]int{i}, c.Population)...)
		}
		m.Start = rapid.Permutation(m.Start).Draw(t, "start")
	}
	return m
}

func order(c []int) (s string) {
	for _, i := range c {
		s += string(rune('a' + i))
	}
	return s
}

func jobs(s string) (c []int) {
	for _, r := range s {
		c = append(c, int(r-'a'))
	}
	return c
}

// served returns the rate at which each position is served: each server serves the first job that
// it can.
func served(m *swap.Model, c []int) []*big.Rat {
	rates := make([]*big.Rat, len(c))
	for p := range c {
		rates[p] = new(big.Rat)
	}
	for s, server := range m.Servers {
		if p := slices.IndexFunc(c, func(i int) bool { return slices.Contains(m.Classes[i].Servers, s) }); p >= 0 {
			rates[p].Add(rates[p], quo(server.Capacity, num.OrOne(m.MeanSize)))
		}
	}
	return rates
}

// orderOfArrival returns the queue without swaps, and with arrival rates 1 if it is closed.
func orderOfArrival(t oracle.Tester, m *swap.Model) *oiqueue.Queue {
	t.Helper()
	var rates, capacities []*big.Rat
	var compatible [][]int
	for _, c := range m.Classes {
		rates, compatible = append(rates, num.OrOne(c.ArrivalRate)), append(compatible, c.Servers)
	}
	for _, s := range m.Servers {
		capacities = append(capacities, quo(s.Capacity, num.OrOne(m.MeanSize)))
	}
	q, err := oiqueue.FromGraph(ctx, rates, capacities, compatible)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return q
}

// pass implements the rule literally: the job in position p is removed, finds the first job behind
// it of a joined class and takes its place, and the displaced job does the same.
func pass(m *swap.Model, c []int, p int) (rest []int, leaves int) {
	joined := func(i, k int) bool {
		return slices.Contains(m.Swaps, [2]int{i, k}) || slices.Contains(m.Swaps, [2]int{k, i})
	}
	c = slices.Clone(c)
	empty, moving := p, c[p]
	for at := p + 1; at < len(c); at++ {
		if joined(moving, c[at]) {
			c[at], moving = moving, c[at]
		}
	}
	return slices.Delete(c, empty, empty+1), moving
}

// A job skips jobs of classes that are not joined to its own; if its class is joined to itself, it
// takes the place of the next job of its class.
func TestCompleteByHand(t *testing.T) {
	m := &swap.Model{Servers: []swap.Server{{Name: "s", Capacity: rat(1, 1)}}}
	for i := range 4 {
		m.Classes = append(m.Classes, swap.Class{
			Name:        string(rune('a' + i)),
			ArrivalRate: rat(1, 10),
			Servers:     []int{0},
		})
	}
	m.Swaps = [][2]int{{0, 1}, {2, 1}, {3, 3}}
	for _, c := range []struct {
		state  string
		p      int
		rest   string
		leaves rune
	}{
		{"a", 0, "", 'a'},
		{"ac", 0, "c", 'a'},
		{"acb", 0, "ca", 'b'},
		{"acbdcba", 0, "cadbcb", 'a'}, // a takes the place of b, b of c, c of b, b of a
		{"dad", 0, "ad", 'd'},
		{"bbb", 1, "bb", 'b'},
	} {
		rest, leaves, err := swap.Complete(m, jobs(c.state), c.p)
		if err != nil || order(rest) != c.rest || rune('a'+leaves) != c.leaves {
			t.Errorf("%s at %d: %s, %c leaves, %v; want %s, %c",
				c.state, c.p, order(rest), 'a'+leaves, err, c.rest, c.leaves)
		}
	}
}

// Markov chains of queues with room for four jobs, which preserves the balance of each class, have
// the FCFS measure for all swaps, but different departures.
func TestMeasureAgainstChains(t *testing.T) {
	others := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, false, rapid.Bool().Draw(t, "own"))
		for i := range m.Classes {
			m.Classes[i].ArrivalRate.Add(m.Classes[i].ArrivalRate, rat(1, 20)) // so that all orders can be reached
		}
		room := 4
		if len(m.Classes) == 3 {
			room = 3
		}
		q := orderOfArrival(t, m)
		chain := oracle.NewChain("", func(s string, move func(string, *big.Rat)) {
			c := jobs(s)
			if len(c) < room {
				for i, class := range m.Classes {
					move(s+string(rune('a'+i)), class.ArrivalRate)
				}
			}
			for p, rate := range served(m, c) {
				rest, _ := pass(m, c, p)
				move(order(rest), rate)
			}
		})
		// for each x as a sorted order: Σ π(c) and Σ π(c) times the departures of each class
		mean := map[string][]*big.Rat{}
		for s, p := range chain.Prob {
			c := jobs(s)
			weight, err := oiqueue.StateMeasure(ctx, q, c)
			if err != nil {
				t.Fatal(err)
			}
			if want := mul(chain.Prob[""], weight); p.Cmp(want) != 0 {
				t.Fatalf("π(%s) = %v, want %v", s, p, want)
			}
			others += checkDepartures(t, m, c, p, mean)
		}
		for s, sums := range mean {
			x := make([]int, len(m.Classes))
			for i := range x {
				x[i] = strings.Count(s, string(rune('a'+i)))
			}
			phi, err := oiqueue.Allocation(ctx, q, x)
			if err != nil {
				t.Fatal(err)
			}
			for i := range phi {
				if want := quo(sums[i+1], sums[0]); phi[i].Cmp(want) != 0 {
					t.Fatalf("with %v jobs class %d leaves at %v, want %v", x, i, phi[i], want)
				}
			}
		}
	})
	if others == 0 {
		t.Error("in every state departures are first come, first served")
	}
}

// checkDepartures checks the departures of a state against the rule, and sums them by its jobs. It
// returns 1 if they differ from FCFS.
func checkDepartures(t *rapid.T, m *swap.Model, c []int, prob *big.Rat, mean map[string][]*big.Rat) int {
	want, ends := make([]*big.Rat, len(m.Classes)), make([]*big.Rat, len(m.Classes))
	for i := range want {
		want[i], ends[i] = new(big.Rat), new(big.Rat)
	}
	for p, rate := range served(m, c) {
		_, leaves := pass(m, c, p)
		want[leaves].Add(want[leaves], rate)
		ends[c[p]].Add(ends[c[p]], rate)
	}
	got, err := swap.Departures(m, c)
	if err != nil {
		t.Fatal(err)
	}
	completions, err := swap.Completions(m, c)
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.Sorted(slices.Values(c))
	sums := mean[order(sorted)]
	if sums == nil {
		for range len(m.Classes) + 1 {
			sums = append(sums, new(big.Rat))
		}
		mean[order(sorted)] = sums
	}
	sums[0].Add(sums[0], prob)
	differ := 0
	for i := range want {
		if got[i].Cmp(want[i]) != 0 || completions[i].Cmp(ends[i]) != 0 {
			t.Fatalf("in %v class %d leaves at %v and ends at %v, want %v and %v",
				c, i, got[i], completions[i], want[i], ends[i])
		}
		sums[i+1].Add(sums[i+1], mul(prob, got[i]))
		if got[i].Cmp(completions[i]) != 0 {
			differ = 1
		}
	}
	return differ
}

// Open queues have the normalization, the mean jobs and the sets of FCFS for all swaps.
func TestOpenMatchesFCFS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, false, rapid.Bool().Draw(t, "own"))
		q := orderOfArrival(t, m)
		rates := q.ArrivalRates
		want, err := oiqueue.Stationary(ctx, q, oiqueue.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		r := solve(t, m, num.Exact)
		equal(t, "normalization", *r.Normalization, want.Normalization.Exact)
		equal(t, "empty", *r.EmptyProbability, want.EmptyProbability.Exact)
		total, rate := new(big.Rat), new(big.Rat)
		for i, c := range r.Classes {
			equal(t, "jobs", c.MeanJobs, want.MeanJobs[i].Exact)
			equal(t, "throughput", c.Throughput, rates[i])
			equal(t, "completions", c.Completions, rates[i])
			if rates[i].Sign() > 0 {
				equal(t, "delay", *c.MeanDelay, quo(want.MeanJobs[i].Exact, rates[i]))
			}
			total.Add(total, want.MeanJobs[i].Exact)
			rate.Add(rate, rates[i])
		}
		equal(t, "mean jobs", r.MeanJobs, total)
		if rate.Sign() > 0 {
			equal(t, "mean delay", *r.MeanDelay, quo(total, rate))
		}
		for s, server := range r.Servers {
			busy := new(big.Rat)
			for a, p := range want.Active {
				for i := range m.Classes {
					if a>>i&1 == 1 && slices.Contains(m.Classes[i].Servers, s) {
						busy.Add(busy, p.Exact)
						break
					}
				}
			}
			equal(t, "utilization", server.Utilization, busy)
		}
		checkBounds(t, r, solve(t, m, num.Float))
		checkBounds(t, r, solve(t, m, num.Enclose))
	})
}

// Closed queues reach the orders that their chains reach: all orders with the same placement if
// [swap.Solve] uses the method of counts. Measures, departures and completions match the chain.
func TestClosedAgainstChains(t *testing.T) {
	methods, others := map[swap.Method]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, true, rapid.Bool().Draw(t, "own"))
		start := m.Start
		if start == nil {
			for i, c := range m.Classes {
				start = append(start, slices.Repeat([]int{i}, c.Population)...)
			}
		}
		q := orderOfArrival(t, m)
		chain := oracle.NewChain(order(start), func(s string, move func(string, *big.Rat)) {
			c := jobs(s)
			for p, rate := range served(m, c) {
				rest, leaves := pass(m, c, p)
				move(order(append(rest, leaves)), rate)
			}
		})
		reached, err := swap.Reachable(ctx, m)
		if err != nil || len(reached) != len(chain.Prob) {
			t.Fatalf("%d orders, error %v, want %d", len(reached), err, len(chain.Prob))
		}
		for _, c := range reached {
			if chain.Prob[order(c)] == nil {
				t.Fatalf("order %v is not reached", c)
			}
		}
		r := solve(t, m, num.Exact)
		methods[r.Method]++
		total := new(big.Rat)
		for s := range chain.Prob {
			w, err := oiqueue.StateMeasure(ctx, q, jobs(s))
			if err != nil {
				t.Fatal(err)
			}
			total.Add(total, w)
		}
		equal(t, "normalization", *r.Normalization, total)
		for s, p := range chain.Prob {
			w, _ := oiqueue.StateMeasure(ctx, q, jobs(s))
			if want := quo(w, total); p.Cmp(want) != 0 {
				t.Fatalf("π(%s) = %v, want %v", s, p, want)
			}
		}
		if r.Method == swap.Counts {
			if n := placements(m, start); n != len(chain.Prob) {
				t.Errorf("%d orders are reached, want %d", len(chain.Prob), n)
			}
		} else if r.States != len(chain.Prob) {
			t.Errorf("%d orders, want %d", r.States, len(chain.Prob))
		}
		for i, c := range m.Classes {
			leave := chain.Mean(func(s string) *big.Rat { d, _ := swap.Departures(m, jobs(s)); return d[i] })
			end := chain.Mean(func(s string) *big.Rat { d, _ := swap.Completions(m, jobs(s)); return d[i] })
			equal(t, "throughput", r.Classes[i].Throughput, leave)
			equal(t, "completions", r.Classes[i].Completions, end)
			if d := r.Classes[i].MeanDelay; leave.Sign() > 0 != (d != nil) {
				t.Errorf("class %d: delay %v though %v leave per unit of time", i, d, leave)
			}
			equal(t, "mean jobs", r.Classes[i].MeanJobs, rat(int64(c.Population), 1))
			if leave.Cmp(end) != 0 {
				others++
			}
		}
		checkBounds(t, r, solve(t, m, num.Float))
		checkBounds(t, r, solve(t, m, num.Enclose))
	})
	if methods[swap.Counts] == 0 || methods[swap.Orders] == 0 || others == 0 {
		t.Errorf("methods %v, departures that are not completions %d", methods, others)
	}
}

// placements counts the orders with the same placement as the start.
func placements(m *swap.Model, start []int) int {
	all := map[string]bool{}
	var visit func(rest []int, s string)
	visit = func(rest []int, s string) {
		if len(rest) == 0 {
			all[s] = true
			return
		}
		for p := range rest {
			visit(slices.Delete(slices.Clone(rest), p, p+1), s+string(rune('a'+rest[p])))
		}
	}
	visit(start, "")
	count := 0
	for s := range all {
		good := true
		for _, pair := range m.Swaps {
			i, k := pair[0], pair[1]
			if i == k {
				continue
			}
			if slices.Index(start, i) > slices.Index(start, k) {
				i, k = k, i
			}
			good = good && strings.LastIndex(s, string(rune('a'+i))) < strings.Index(s, string(rune('a'+k)))
		}
		if good {
			count++
		}
	}
	return count
}

func solve(t oracle.Tester, m *swap.Model, engine num.Engine) *swap.Result {
	t.Helper()
	r, err := swap.Solve(ctx, m, swap.Settings{Engine: engine})
	if err != nil {
		t.Fatalf("%s: %v", engine, err)
	}
	for i, c := range m.Classes {
		if r.Classes[i].Name != c.Name {
			t.Fatalf("class %d is %q, want %q", i, r.Classes[i].Name, c.Name)
		}
	}
	for i, s := range m.Servers {
		if r.Servers[i].Name != s.Name {
			t.Fatalf("server %d is %q, want %q", i, r.Servers[i].Name, s.Name)
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

func values(r *swap.Result) (list []*num.Value) {
	list = append(list, r.Normalization, r.EmptyProbability, &r.MeanJobs, r.MeanDelay)
	for i := range r.Classes {
		c := &r.Classes[i]
		list = append(list, &c.Throughput, &c.Completions, &c.MeanJobs, c.MeanDelay)
	}
	for s := range r.Servers {
		list = append(list, &r.Servers[s].Utilization)
	}
	return list
}

// checkBounds checks the numbers of another engine against fractions.
func checkBounds(t oracle.Tester, exact, other *swap.Result) {
	t.Helper()
	oracle.HoldValues(t, other.Engine, other.RelativeErrorBound, values(other), values(exact))
	if other.RelativeErrorBound > 1e-12 {
		t.Errorf("%s: bound %v", other.Engine, other.RelativeErrorBound)
	}
}
