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

// drawVisited draws a network whose station 0 is FCFS, with open classes only, or also with closed
// chains that alternate between it and station 1, a delay. Balanced stations have the same
// distribution.
func drawVisited(t *rapid.T) *Model {
	m := drawStation(t, true)
	if rapid.Bool().Draw(t, "open only") {
		*m = Model{Stations: []Station{{Name: "s"}, {Name: "d", Discipline: Delay}}}
		for c := range rapid.IntRange(1, 3).Draw(t, "classes") {
			m.Classes = append(m.Classes, Class{
				Name: fmt.Sprint("open", c), ArrivalRate: big.NewRat(int64(rapid.IntRange(0, 3).Draw(t, "rate")), 20),
				Visits: []Visit{{Station: 0, Next: []Branch{{Class: Leaves, Probability: big.NewRat(1, 1)}}}},
			})
		}
		drawService(t, m, 0)
	}
	if rapid.Bool().Draw(t, "balanced") {
		m.Stations[0].Discipline = Balanced
	}
	m.Stations = append(m.Stations,
		Station{Name: "u", Discipline: Balanced, Nodes: []Node{{Name: "n", Capacity: big.NewRat(1, 1)}}})
	return m
}

// weightsByJobs returns the sums of the product form over the states with 0, ..., most jobs at
// station 0, over all their orders of arrival, with the other closed jobs at the delay.
func weightsByJobs(t *rapid.T, m *Model, most int) []*big.Rat {
	s, work := systemOf(t, m)
	chain, closed := make([]int, len(m.Classes)), make([]int, len(s.Closed))
	for k, row := range s.Closed {
		closed[k] = s.Chains[row].Population
	}
	for _, v := range s.Stations[0].Visits {
		chain[v.Class] = v.K
	}
	sums := make([]*big.Rat, most+1)
	for n := range sums {
		sums[n] = new(big.Rat)
	}
	var extend func(jobs, away []int, weight *big.Rat)
	extend = func(jobs, away []int, weight *big.Rat) {
		w := new(big.Rat).Set(weight)
		for k, n := range away {
			for j := range n { // D^n/n! at the delay
				w.Mul(w, s.Stations[1].Demand[k]).Quo(w, big.NewRat(int64(j)+1, 1))
			}
		}
		sums[len(jobs)].Add(sums[len(jobs)], w)
		for c, k := range chain {
			if len(jobs) == most || k >= 0 && away[k] == 0 {
				continue
			}
			next, left := append(slices.Clone(jobs), c), slices.Clone(away)
			if k >= 0 {
				left[k]--
			}
			x := new(big.Rat).Mul(weight, work[c])
			extend(next, left, x.Quo(x, busy(m, 0, next)))
		}
	}
	extend(nil, closed, big.NewRat(1, 1))
	return sums
}

// The number of jobs at stations with Order and Balanced has the distribution of the sums over all
// states, whether open classes, closed ones, both or none visit them.
func TestDistributionAgainstSumsOverStates(t *testing.T) {
	const most = 3
	rapid.Check(t, func(t *rapid.T) {
		m := drawVisited(t)
		sums := weightsByJobs(t, m, most)
		var exact []*num.Value
		for _, engine := range []num.Engine{num.Exact, num.Float, num.Enclose} {
			r, err := Answer(context.Background(), m, Question{MaxJobs: most}, Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			var all []*num.Value
			for i, at := range r.Stations {
				if len(at.JobsDistribution) != most+1 {
					t.Fatalf("%s: %d probabilities at station %d", engine, len(at.JobsDistribution), i)
				}
				for n := range at.JobsDistribution {
					all = append(all, &at.JobsDistribution[n])
				}
			}
			if engine == num.Exact {
				exact = all
				checkDistribution(t, r.Stations[0], sums)
				for n, p := range r.Stations[2].JobsDistribution {
					if want := big.NewRat(int64(max(0, 1-n)), 1); p.Exact.Cmp(want) != 0 {
						t.Fatalf("without visitors P(%d) = %v", n, p.Exact)
					}
				}
				continue
			}
			for n, p := range all {
				if exact[n].Exact != nil { // otherwise it is not a fraction, as for a delay with open classes
					oracle.HoldValues(t, engine, r.RelativeErrorBound, []*num.Value{p}, []*num.Value{exact[n]})
				}
			}
		}
	})
}

// checkDistribution compares the probabilities of a station with sums that are proportional to
// them.
func checkDistribution(t *rapid.T, at StationResult, sums []*big.Rat) {
	first := at.ProbEmpty.Exact
	for n, p := range at.JobsDistribution {
		want := new(big.Rat).Mul(first, sums[n])
		if want.Quo(want, sums[0]); p.Exact.Cmp(want) != 0 {
			t.Fatalf("P(%d) = %v, want %v", n, p.Exact, want)
		}
	}
}

// The probabilities of all numbers of jobs sum to 1, and their mean is the mean of the station.
func TestDistributionHasMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := withRoom(t, drawVisited(t), 2) // eventually each further job is at most half as likely
		r, err := Answer(context.Background(), m, Question{MaxJobs: 120}, Settings{Engine: num.Float})
		if err != nil {
			t.Fatal(err)
		}
		total, mean := 0.0, 0.0
		for n, p := range r.Stations[0].JobsDistribution {
			total, mean = total+p.Float, mean+float64(n)*p.Float
		}
		if want := r.Stations[0].MeanJobs.Float; !oracle.Near(total, 1, 1e-9) || !oracle.Near(mean, want, 1e-9) {
			t.Fatalf("probabilities add up to %v, with the mean %v, want %v", total, mean, want)
		}
	})
}
