package network

import (
	"math"
	"math/big"
	"testing"

	"productform/network"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// rat reads a fraction.
func rat(s string) *big.Rat { return simtest.Rationals(s)[0] }

// to lists branches of equal probability to visits of class 0, where -1 leaves.
func to(visits ...int) (list []network.Branch) {
	for _, v := range visits {
		b := network.Branch{Visit: v, Probability: big.NewRat(1, int64(len(visits)))}
		if v < 0 {
			b.Class, b.Visit = network.Leaves, 0
		}
		list = append(list, b)
	}
	return list
}

// machineRepair is a closed network of n machines that work for a mean time of 1 and are then repaired, for a mean time of 1/5, by c servers.
func machineRepair(n, c int, discipline network.Discipline) *network.Model {
	return &network.Model{
		Stations: []network.Station{{Name: "works", Discipline: network.Delay}, {Name: "repair", Discipline: discipline, Servers: c}},
		Classes: []network.Class{{Name: "machine", Population: n, Visits: []network.Visit{
			{Station: 0, Next: to(1)}, {Station: 1, MeanSize: rat("1/5"), Next: to(0)},
		}}},
	}
}

// repairLaw returns the probabilities of the numbers of machines in repair, from the balance of ups and downs.
func repairLaw(n, c int) []float64 {
	p := []float64{1}
	sum := 1.0
	for k := 1; k <= n; k++ {
		p = append(p, p[k-1]*float64(n-k+1)/(5*float64(min(k, c))))
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// Machine repair: the numbers in repair are a birth and death process, whatever the law of the working times, and for shared servers also
// whatever that of the repairs.
func TestMachineRepair(t *testing.T) {
	for _, c := range []struct {
		discipline   network.Discipline
		works, shape string
	}{
		{network.FCFS, "deterministic", "exponential"}, {network.FCFS, "hyperexponential:10", "exponential"},
		{network.Sharing, "exponential", "deterministic"}, {network.Sharing, "hyperexponential:10", "hyperexponential:10"},
		{network.LCFS, "deterministic", "exponential"},
	} {
		const n, servers = 12, 2
		system := Network{Model: machineRepair(n, servers, c.discipline), Sizes: [][]sizes.Distribution{{simtest.Sizes(t, c.works, 1), simtest.Sizes(t, c.shape, 0.2)}}}
		r := simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 4e4, Seed: 3, Distribution: n})
		p := repairLaw(n, servers)
		at := string(c.discipline) + " " + c.works + " " + c.shape + ": "
		var jobs, busy float64
		for k, v := range p {
			simtest.Near(t, at+"law", &r.Distribution[k], v) // jobs away from the first visit, where machines work
			jobs += float64(k) * v
			busy += float64(min(k, servers)) * v
		}
		simtest.Near(t, at+"jobs", r.Estimate(OfStation, 1, sim.MeanJobs), jobs)
		simtest.Near(t, at+"utilization", r.Estimate(OfStation, 1, sim.Utilization), busy/servers)
		simtest.Near(t, at+"throughput", r.Class(0, sim.Throughput), 5*busy)
		simtest.Near(t, at+"visits", r.Estimate(sim.OfVisit, 1, sim.Throughput), 5*busy)
		simtest.Near(t, at+"delay", r.Estimate(sim.OfVisit, 1, sim.MeasuredDelay), jobs/(5*busy))
		simtest.Near(t, at+"cycle", r.Class(0, sim.MeasuredDelay), n/(5*busy))
		simtest.Near(t, at+"cycle by Little", r.Class(0, sim.MeanDelay), n/(5*busy))
		simtest.Near(t, at+"empty", r.Estimate(OfStation, 1, EmptyProbability), p[0])
		simtest.Near(t, at+"away", r.Class(0, JobsAway), jobs)
	}
}

// one is an open network of one station.
func one(s network.Station, rates ...string) *network.Model {
	s.Name = "station"
	m := &network.Model{Stations: []network.Station{s}}
	for i, r := range rates {
		m.Classes = append(m.Classes, network.Class{Name: string(rune('a' + i)), ArrivalRate: rat(r), Visits: []network.Visit{{Next: to(-1)}}})
	}
	return m
}

// M/M/c: Erlang's formula for the jobs, and in order of arrival the law of the delays, T = size + wait with P(wait > t) = C e^{-(c-λ)t}.
func TestServersAreErlangs(t *testing.T) {
	const c, lambda = 3, 2.4
	sum, term := 1.0, 1.0
	for k := 1; k < c; k++ {
		term *= lambda / float64(k)
		sum += term
	}
	term *= lambda / c / (1 - lambda/c)
	wait := term / (sum + term)
	jobs := lambda + wait*lambda/(c-lambda)
	for _, discipline := range []network.Discipline{network.FCFS, network.Sharing, network.LCFS} {
		r := simtest.Run(t, Network{Model: one(network.Station{Discipline: discipline, Servers: c}, "9/5", "3/5")}, sim.Settings{Runs: 20, Jumps: 1e5, Seed: 4, Levels: []float64{0.5, 0.9}})
		at := string(discipline) + ": "
		simtest.Near(t, at+"jobs", r.All(sim.MeanJobs), jobs)
		simtest.Near(t, at+"class", r.Class(0, sim.MeanJobs), 0.75*jobs)
		simtest.Near(t, at+"delay", r.Class(1, sim.MeasuredDelay), jobs/lambda)
		simtest.Near(t, at+"delay by Little", r.Class(1, sim.MeanDelay), jobs/lambda)
		simtest.Near(t, at+"utilization", r.Estimate(OfStation, 0, sim.Utilization), lambda/c)
		if discipline != network.FCFS {
			continue
		}
		theta := c - lambda
		for _, kind := range []sim.Kind{sim.OfClass, sim.OfVisit} {
			for _, level := range []float64{0.5, 0.9} {
				q := r.Quantile(kind, 0, level)
				low, high := 0.0, 100.0
				for range 100 { // the tail of the delay, by convolution of the exponential size and wait
					x := (low + high) / 2
					tail := (1-wait)*math.Exp(-x) + wait*(math.Exp(-theta*x)-theta*math.Exp(-x))/(1-theta)
					if tail > 1-level {
						low = x
					} else {
						high = x
					}
				}
				if z := q.Z(low); !(math.Abs(z) < 5) {
					t.Errorf("%s: quantile %v of %s = %v, want %v", at, level, kind, q.Value, low)
				}
			}
		}
	}
}

func TestConforms(t *testing.T) {
	simtest.Conforms(t, Network{Model: machineRepair(5, 2, network.FCFS)})
	simtest.Conforms(t, Network{Model: one(network.Station{Discipline: network.LCFS}, "1/2", "1/4")})
}

func BenchmarkNetwork(b *testing.B) {
	for _, d := range []network.Discipline{network.Sharing, network.FCFS, network.LCFS} {
		b.Run("population=20/"+string(d), func(b *testing.B) { simtest.Benchmark(b, Network{Model: machineRepair(20, 3, d)}) })
	}
	b.Run("population=100000/fcfs", func(b *testing.B) { simtest.Benchmark(b, Network{Model: machineRepair(100_000, 3, network.FCFS)}) })
}
