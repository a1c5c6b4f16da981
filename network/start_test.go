package network

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
)

// drawClosed draws a closed network of up to three stations and four jobs. Each class visits some
// stations, preferably those with LCFS, and sizes are exponential.
func drawClosed(t *rapid.T) *Model {
	m := &Model{}
	n, classes := rapid.IntRange(1, 3).Draw(t, "stations"), rapid.IntRange(1, 3).Draw(t, "classes")
	disciplines := []Discipline{LCFS, LCFS, LCFS, LCFS, FCFS, Random, Sharing, Delay}
	for i := range n {
		s := Station{Name: fmt.Sprint("s", i), Discipline: rapid.SampledFrom(disciplines).Draw(t, "discipline")}
		switch {
		case s.Discipline == Delay:
		case s.Discipline != Random && rapid.IntRange(0, 3).Draw(t, "kind") == 0:
			s.Rates = []*big.Rat{big.NewRat(1, 1), big.NewRat(int64(rapid.IntRange(1, 3).Draw(t, "rate")), 2)}
		default:
			s.Servers = max(1, rapid.IntRange(-3, 2).Draw(t, "servers"))
		}
		m.Stations = append(m.Stations, s)
	}
	for c := range classes {
		class := Class{Name: fmt.Sprint("c", c), Population: 1}
		mask := rapid.IntRange(1, 1<<n-1).Draw(t, "visits")
		for i := range n {
			if mask>>i&1 == 1 {
				v := Visit{Station: i, MeanSize: big.NewRat(int64(rapid.IntRange(1, 3).Draw(t, "size")), 2)}
				if m.Stations[i].NeedsExponential() {
					v.MeanSize = nil
				}
				class.Visits = append(class.Visits, v)
			}
		}
		m.Classes = append(m.Classes, class)
	}
	if rapid.Bool().Draw(t, "more jobs") {
		m.Classes[0].Population = rapid.IntRange(2, 3).Draw(t, "jobs")
	}
	for c := range m.Classes {
		visits := m.Classes[c].Visits
		for v := range visits {
			visits[v].Next = []Branch{{c, (v + 1) % len(visits), big.NewRat(1, 1)}}
			if len(visits) > 2 && rapid.Bool().Draw(t, "branch") {
				half := big.NewRat(1, 2)
				visits[v].Next = []Branch{{c, (v + 1) % len(visits), half}, {c, (v + 2) % len(visits), half}}
			}
		}
	}
	return m
}

// allArrangements returns every way to place the jobs of a closed network, in every order.
func allArrangements(m *Model) []allState {
	states := []allState{{}}
	for c, class := range m.Classes {
		for range class.Population {
			var next []allState
			for _, s := range states {
				for _, v := range class.Visits {
					at := s[v.Station]
					for k := range len(at) + 1 {
						to := s
						to[v.Station] = at[:k] + string([]byte{byte(c)}) + at[k:]
						next = append(next, m.canonical(to))
					}
				}
			}
			slices.SortFunc(next, func(a, b allState) int { return slices.Compare(a[:], b[:]) })
			states = slices.Compact(next)
		}
	}
	return states
}

// recurrent returns the closed communicating sets of states, each represented by one of its
// members, and their sizes.
func recurrent(m *Model, states []allState) map[allState]int {
	number := map[allState]int{}
	for k, s := range states {
		number[s] = k
	}
	next := make([][]int, len(states))
	for k, s := range states {
		moves(m, s, func(to allState, _ *big.Rat) { next[k] = append(next[k], number[to]) })
	}
	sets := map[allState]int{}
	done := make([]bool, len(states))
	for k := range states {
		if done[k] {
			continue
		}
		from := reach(make([]bool, len(states)), next, k)
		size, closed := 0, true
		for j, reached := range from {
			if reached {
				size++
				closed = closed && reach(make([]bool, len(states)), next, j)[k]
			}
		}
		if !closed {
			continue
		}
		for j, reached := range from {
			done[j] = done[j] || reached
		}
		sets[states[k]] = size
	}
	return sets
}

// Check rejects a closed network if, and only if, its numbers depend on the start. The Markov chain
// of all orders of all jobs has one or more closed sets of states. If these have the same mean jobs
// and throughputs, Solve returns them; otherwise the model is rejected.
func TestRejectedIfNumbersDependOnStart(t *testing.T) {
	answered, rejected := 0, 0
	draw := rapid.Custom(drawClosed)
	for seed := range 1000 {
		m := draw.Example(seed)
		sets := recurrent(m, allArrangements(m))
		most := 0
		for _, size := range sets {
			most = max(most, size)
		}
		if most > 100 {
			continue
		}
		var first []*big.Rat
		same := true
		for s := range sets {
			from := func(s allState, move func(to allState, rate *big.Rat)) { moves(m, s, move) }
			chain := oracle.NewChain(s, from)
			numbers := numbersOf(m, chain)
			same = same && (first == nil || slices.EqualFunc(first, numbers, isEqual))
			first = numbers
		}
		r, err := Solve(context.Background(), m, Settings{Engine: num.Exact})
		var bad *input.Error
		switch {
		case err != nil && !errors.As(err, &bad):
			t.Fatal(err)
		case (err != nil) == same:
			t.Fatalf("seed %d: %d closed sets, numbers agree: %v; error: %v\n%+v", seed, len(sets), same, err, m)
		case err != nil:
			rejected++
			continue
		}
		answered++
		var got []*big.Rat
		for _, s := range r.Stations {
			for _, v := range s.Visits {
				got = append(got, v.MeanJobs.Exact, v.Throughput.Exact)
			}
		}
		if !slices.EqualFunc(got, first, isEqual) {
			t.Fatalf("seed %d: %v, over all states %v\n%+v", seed, got, first, m)
		}
	}
	t.Logf("%d networks answered, %d rejected", answered, rejected)
	if answered < 100 || rejected < 20 {
		t.Errorf("%d networks answered, %d rejected: want more", answered, rejected)
	}
}

func isEqual(a, b *big.Rat) bool { return a.Cmp(b) == 0 }

// numbersOf returns the mean jobs and the throughput of each class at each station, in the order of
// a result.
func numbersOf(m *Model, chain *oracle.Chain[allState]) (list []*big.Rat) {
	for i := range m.Stations {
		for c := range m.Classes {
			v := m.visitAt(c, i)
			if v == nil {
				continue
			}
			list = append(list, chain.Mean(func(s allState) *big.Rat {
				n := int64(0)
				for _, at := range classesOf(s[i]) {
					if at == c {
						n++
					}
				}
				return big.NewRat(n, 1)
			}), chain.Mean(func(s allState) *big.Rat {
				sum, jobs := new(big.Rat), classesOf(s[i])
				for at, rate := range serve(m, i, jobs) {
					if jobs[at] == c {
						sum.Add(sum, rate)
					}
				}
				return sum.Quo(sum, v.size())
			}))
		}
	}
	return list
}
