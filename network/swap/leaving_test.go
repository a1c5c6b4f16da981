package swap_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network/swap"
	"productform/num"
)

// follow calls move for each transition from an order of jobs, named by their positions at the
// start: a job that completes takes the place of the first job behind it of a joined class, which
// moves in the same way.
func follow(m *swap.Model, start []int, s string, move func(to string, leaves rune, rate *big.Rat)) {
	classes := make([]int, len(s))
	for p, job := range jobs(s) {
		classes[p] = start[job]
	}
	for p, rate := range served(m, classes) {
		if rate.Sign() == 0 {
			continue
		}
		line := []rune(s)
		moving := line[p]
		for at := p + 1; at < len(line); at++ {
			i, k := start[moving-'a'], start[line[at]-'a']
			if slices.Contains(m.Swaps, [2]int{i, k}) || slices.Contains(m.Swaps, [2]int{k, i}) {
				line[at], moving = moving, line[at]
			}
		}
		move(string(append(slices.Delete(line, p, p+1), moving)), moving, rate)
	}
}

// named returns the order of the jobs at the start.
func named(start []int) (s string) {
	for p := range start {
		s += string(rune('a' + p))
	}
	return s
}

// leavers returns the jobs that leave in some order that the start can reach.
func leavers(m *swap.Model, start []int) map[rune]bool {
	first := named(start)
	all, known, leave := []string{first}, map[string]bool{first: true}, map[rune]bool{}
	for at := 0; at < len(all); at++ {
		follow(m, start, all[at], func(to string, leaves rune, _ *big.Rat) {
			leave[leaves] = true
			if !known[to] {
				known[to] = true
				all = append(all, to)
			}
		})
	}
	return leave
}

// delayOf returns the mean time between two departures of one job, from the Markov chain of the
// classes and that job.
func delayOf(m *swap.Model, start []int, job rune) *big.Rat {
	classOf := func(c int) rune { return rune('A' + start[c]) }
	state := func(s string) string { // the followed job as *, the others by their classes
		return strings.Map(func(r rune) rune {
			if r == job {
				return '*'
			}
			return classOf(int(r - 'a'))
		}, s)
	}
	some := map[string]string{} // an order of jobs for each state
	first := named(start)
	some[state(first)] = first
	departs := map[string]*big.Rat{}
	chain := oracle.NewChain(state(first), func(s string, move func(string, *big.Rat)) {
		departs[s] = new(big.Rat)
		follow(m, start, some[s], func(to string, leaves rune, rate *big.Rat) {
			if leaves == job {
				departs[s].Add(departs[s], rate)
			}
			if some[state(to)] == "" {
				some[state(to)] = to
			}
			move(state(to), rate)
		})
	})
	return new(big.Rat).Inv(chain.Mean(func(s string) *big.Rat { return departs[s] }))
}

// drawPopulations draws a closed queue of up to seven jobs, with more jobs per class than drawModel
// draws.
func drawPopulations(t *rapid.T, own bool) (m *swap.Model, start []int) {
	m = drawModel(t, true, own)
	for i := range m.Classes {
		m.Classes[i].Population = rapid.IntRange(1, 7-len(start)-(len(m.Classes)-1-i)).Draw(t, "jobs")
		start = append(start, slices.Repeat([]int{i}, m.Classes[i].Population)...)
	}
	m.Start = rapid.Permutation(start).Draw(t, "order")
	return m, m.Start
}

// In a closed queue, the jobs that leave are those that leave in some reachable order of named
// jobs. Delays are means over the departures of these jobs, each followed by a separate chain.
func TestDelayCountsJobsThatLeave(t *testing.T) {
	methods, some, followed := map[swap.Method]int{}, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m, start := drawPopulations(t, rapid.Bool().Draw(t, "own"))
		r := solve(t, m, num.Exact)
		leave := leavers(m, start)
		count := make([]int, len(m.Classes))
		for job := range leave {
			count[start[job-'a']]++
		}
		methods[r.Method]++
		for i, c := range r.Classes {
			if *c.LeavingJobs != count[i] {
				t.Fatalf("class %d: %d jobs leave, want %d", i, *c.LeavingJobs, count[i])
			}
			if (c.MeanDelay != nil) != (count[i] > 0) {
				t.Fatalf("class %d: delay %v though %d jobs leave", i, c.MeanDelay, count[i])
			}
			if 0 < count[i] && count[i] < m.Classes[i].Population {
				some++
			}
		}
		if len(start) > 4 {
			return // fractions take long for more states
		}
		followed++
		rates, times := make([]*big.Rat, len(m.Classes)), make([]*big.Rat, len(m.Classes))
		for i := range rates {
			rates[i], times[i] = new(big.Rat), new(big.Rat)
		}
		for job := range leave {
			delay, i := delayOf(m, start, job), start[job-'a']
			rate := new(big.Rat).Inv(delay)
			rates[i].Add(rates[i], rate)
			times[i].Add(times[i], mul(rate, delay))
		}
		for i, c := range r.Classes {
			equal(t, "throughput", c.Throughput, rates[i])
			if count[i] > 0 {
				equal(t, "delay", *c.MeanDelay, quo(times[i], rates[i]))
			}
		}
	})
	if methods[swap.Counts] == 0 || methods[swap.Orders] == 0 || some == 0 || followed == 0 {
		t.Errorf("methods %v, %d classes with jobs that leave and others, %d queues with jobs followed",
			methods, some, followed)
	}
}
