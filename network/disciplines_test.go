package network

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/num"
)

// drawDisciplines draws a closed network of a delay, at which jobs can change their order, and one
// or two stations of any discipline. All classes visit all stations; sizes are exponential, with
// different means if the discipline allows it.
func drawDisciplines(t *rapid.T) *Model {
	m := &Model{Stations: []Station{{
		Name:       "delay",
		Discipline: Delay,
		Rate:       big.NewRat(int64(rapid.IntRange(1, 3).Draw(t, "rate")), 2),
	}}}
	n, classes := rapid.IntRange(2, 3).Draw(t, "stations"), rapid.IntRange(1, 2).Draw(t, "classes")
	jobs := rapid.IntRange(classes, 3).Draw(t, "jobs")
	switches := classes > 1 && rapid.Bool().Draw(t, "switch")
	for c := range classes {
		class := Class{Name: fmt.Sprint("c", c), Population: 1}
		if c == 0 {
			class.Population = jobs - classes + 1
		}
		for i := range n {
			class.Visits = append(class.Visits, Visit{
				Station:  i,
				MeanSize: big.NewRat(int64(rapid.IntRange(1, 3).Draw(t, "size")), 2),
			})
		}
		m.Classes = append(m.Classes, class)
	}
	for c := range m.Classes {
		for i := range n {
			split := drawSplit(t, 2, false)
			to := c
			if switches && i == 0 {
				to = (c + 1) % classes
			}
			m.Classes[c].Visits[i].Next = []Branch{{c, (i + 1) % n, split[0]}, {to, (i + 2) % n, split[1]}}
			if n == 2 && to == c { // two branches with different destinations
				m.Classes[c].Visits[i].Next = []Branch{{c, 1 - i, split[0]}, {c, i, split[1]}}
			}
		}
	}
	for i := 1; i < n; i++ {
		m.Stations = append(m.Stations, Station{Name: fmt.Sprint("s", i)})
		drawDiscipline(t, m, i)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return m
}

func drawDiscipline(t *rapid.T, m *Model, i int) {
	s := &m.Stations[i]
	s.Discipline = rapid.SampledFrom(disciplines[1:]).Draw(t, "discipline")
	sizes := make([]*big.Rat, len(m.Classes))
	for c := range sizes {
		sizes[c] = m.Classes[c].Visits[i].MeanSize
	}
	switch s.Discipline {
	case Order, Balanced:
		of := s.Discipline
		drawService(t, m, i)
		s.Discipline = of
	default:
		if s.Discipline != Random && rapid.Bool().Draw(t, "rates") {
			for range rapid.IntRange(1, 3).Draw(t, "number") {
				s.Rates = append(s.Rates, big.NewRat(int64(rapid.IntRange(1, 4).Draw(t, "rate")), 3))
			}
		} else {
			s.Servers, s.Rate = rapid.IntRange(1, 2).Draw(t, "servers"),
				big.NewRat(int64(rapid.IntRange(1, 3).Draw(t, "rate")), 2)
		}
	}
	for c := range sizes {
		if m.Classes[c].Visits[i].MeanSize = sizes[c]; s.NeedsExponential() {
			m.Classes[c].Visits[i].MeanSize = sizes[0]
		}
	}
}

// serve returns the work per unit of time that each job at a station gets, in order of arrival, by
// the definition of its discipline.
func serve(m *Model, station int, jobs []int) []*big.Rat {
	s := &m.Stations[station]
	rates := make([]*big.Rat, len(jobs))
	total := new(big.Rat)
	if s.Rates != nil && len(jobs) > 0 {
		total = s.Rates[min(len(jobs), len(s.Rates))-1]
	}
	for at, c := range jobs {
		rates[at] = new(big.Rat)
		first, last := at < max(s.Servers, 1), len(jobs)-at <= max(s.Servers, 1)
		switch one := num.OrOne(s.Rate); {
		case s.Discipline == Delay:
			rates[at].Set(one)
		case s.Discipline == Sharing && s.Rates != nil:
			rates[at].Quo(total, big.NewRat(int64(len(jobs)), 1))
		case s.Discipline == Sharing:
			rates[at].Mul(one, big.NewRat(int64(min(len(jobs), max(s.Servers, 1))), int64(len(jobs))))
		case s.Rates != nil && (s.Discipline == FCFS && at == 0 || s.Discipline == LCFS && at == len(jobs)-1):
			rates[at].Set(total)
		case s.Rates == nil && (first && (s.Discipline == FCFS || s.Discipline == Random) ||
			last && s.Discipline == LCFS):
			rates[at].Set(one)
		case s.Discipline == Order:
			rates[at].Sub(busy(m, station, jobs[:at+1]), busy(m, station, jobs[:at]))
		case s.Discipline == Balanced:
			count := int64(0)
			for _, other := range jobs {
				if other == c {
					count++
				}
			}
			rates[at].Quo(balance(m, station, removeAt(jobs, at)), balance(m, station, jobs))
			rates[at].Quo(rates[at], big.NewRat(count, 1))
		}
	}
	return rates
}

// balance returns Φ of balanced fairness for these jobs.
func balance(m *Model, station int, jobs []int) *big.Rat {
	if len(jobs) == 0 {
		return big.NewRat(1, 1)
	}
	sum := new(big.Rat)
	for at, c := range jobs {
		if slices.Index(jobs, c) == at {
			sum.Add(sum, balance(m, station, removeAt(jobs, at)))
		}
	}
	return sum.Quo(sum, busy(m, station, jobs))
}

func removeAt(jobs []int, at int) []int { return slices.Delete(slices.Clone(jobs), at, at+1) }

// An allState holds the classes of the jobs at each of three stations, one byte per job, in order
// of arrival if it matters.
type allState [3]string

// visitAt returns the visit of a class to a station, nil if there is none.
func (m *Model) visitAt(class, station int) *Visit {
	for v := range m.Classes[class].Visits {
		if m.Classes[class].Visits[v].Station == station {
			return &m.Classes[class].Visits[v]
		}
	}
	return nil
}

// canonical sorts the jobs at stations at which their order does not matter.
func (m *Model) canonical(s allState) allState {
	for i, station := range m.Stations {
		if station.Discipline == Delay || station.Discipline == Sharing || station.Discipline == Balanced {
			list := []byte(s[i])
			slices.Sort(list)
			s[i] = string(list)
		}
	}
	return s
}

// moves calls move for every transition out of a state.
func moves(m *Model, from allState, move func(to allState, rate *big.Rat)) {
	for station := range m.Stations {
		jobs := classesOf(from[station])
		for at, rate := range serve(m, station, jobs) {
			v := m.visitAt(jobs[at], station)
			for _, b := range v.Next {
				to := from
				to[station] = from[station][:at] + from[station][at+1:]
				x := new(big.Rat).Mul(rate, b.Probability)
				if x.Sign() > 0 {
					m.arrive(to, b, x.Quo(x, v.size()), move)
				}
			}
		}
	}
}

// arrive calls move for every position at which a job can join a station: the last, or with Random
// each position among the waiting jobs, with equal probability. Servers take the first job, so the
// waiting jobs are always in random order.
func (m *Model) arrive(s allState, b Branch, rate *big.Rat, move func(to allState, rate *big.Rat)) {
	i := m.Classes[b.Class].Visits[b.Visit].Station
	jobs, first := s[i], len(s[i])
	if st := &m.Stations[i]; st.Discipline == Random {
		first = min(first, max(st.Servers, 1))
	}
	share := new(big.Rat).Mul(rate, big.NewRat(1, int64(len(jobs)-first+1)))
	for at := first; at <= len(jobs); at++ {
		s[i] = jobs[:at] + string([]byte{byte(b.Class)}) + jobs[at:]
		move(m.canonical(s), share)
	}
}

// For every discipline, the mean jobs, throughputs and probabilities of empty stations of the
// product form match the stationary distribution of the chain of all states, built from the
// definition of the discipline and solved in fractions. This covers LCFS with several servers or
// its own rates, and balanced fairness of classes with different sizes.
func TestDisciplinesInAllStates(t *testing.T) {
	draw := rapid.Custom(drawDisciplines)
	seen := map[Discipline]int{}
	for seed := range 120 {
		m := draw.Example(seed)
		var start allState
		for c, class := range m.Classes {
			for range class.Population {
				start[0] += string([]byte{byte(c)})
			}
		}
		states := []allState{start}
		const most = 45
		for i := 0; i < len(states) && len(states) <= most; i++ {
			moves(m, states[i], func(to allState, _ *big.Rat) {
				if !slices.Contains(states, to) {
					states = append(states, to)
				}
			})
		}
		if len(states) > most {
			continue
		}
		for _, s := range m.Stations {
			seen[s.Discipline]++
		}
		checkStates(
			t, m, oracle.NewChain(start, func(s allState, move func(to allState, rate *big.Rat)) { moves(m, s, move) }),
		)
	}
	for _, d := range []Discipline{Delay, Sharing, FCFS, LCFS, Random, Order, Balanced} {
		if seen[d] < 8 {
			t.Errorf("only %d stations with %s", seen[d], d)
		}
	}
}

func checkStates(t *testing.T, m *Model, chain *oracle.Chain[allState]) {
	t.Helper()
	r, err := Solve(context.Background(), m, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Stations {
		empty := chain.Mean(func(s allState) *big.Rat {
			if s[i] == "" {
				return big.NewRat(1, 1)
			}
			return new(big.Rat)
		})
		if got := r.Stations[i].ProbEmpty.Exact; got.Cmp(empty) != 0 {
			t.Fatalf("%+v\nstation %d empty: %v, over all states %v", m, i, got, empty)
		}
		for _, v := range r.Stations[i].Visits {
			jobs := chain.Mean(func(s allState) *big.Rat {
				n := int64(0)
				for _, c := range classesOf(s[i]) {
					if c == v.Class {
						n++
					}
				}
				return big.NewRat(n, 1)
			})
			through := chain.Mean(func(s allState) *big.Rat {
				sum, list := new(big.Rat), classesOf(s[i])
				for at, rate := range serve(m, i, list) {
					if list[at] == v.Class {
						sum.Add(sum, rate)
					}
				}
				return sum.Quo(sum, m.Classes[v.Class].Visits[v.Visit].size())
			})
			if v.MeanJobs.Exact.Cmp(jobs) != 0 || v.Throughput.Exact.Cmp(through) != 0 {
				t.Fatalf("%+v\nclass %d at station %d: %v jobs, %v per unit of time; over all states %v, %v",
					m, v.Class, i, v.MeanJobs.Exact, v.Throughput.Exact, jobs, through)
			}
		}
	}
}
