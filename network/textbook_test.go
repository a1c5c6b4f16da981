package network_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"productform/network"
	"productform/num"
)

// This file holds textbook recursions in float64, as in published packages, for one closed chain
// with a think time.

// loadDependentMVA returns the throughput by mean value analysis with load-dependent stations
// (Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks", Journal of
// the ACM 27(2), 1980): p(j|n) = X(n) D/α(j) p(j-1|n-1), and p(0|n) = 1 - Σ_j p(j|n).
func loadDependentMVA(jobs int, think float64, demand []float64, alpha func(i, j int) float64) float64 {
	p := make([][]float64, len(demand))
	for i := range p {
		p[i] = make([]float64, jobs+1)
		p[i][0] = 1
	}
	var x float64
	for n := 1; n <= jobs; n++ {
		total := think
		for i, d := range demand {
			for j := 1; j <= n; j++ {
				total += d * float64(j) / alpha(i, j) * p[i][j-1]
			}
		}
		x = float64(n) / total
		for i, d := range demand {
			sum := 0.0
			for j := n; j >= 1; j-- {
				p[i][j] = x * d / alpha(i, j) * p[i][j-1]
				sum += p[i][j]
			}
			p[i][0] = 1 - sum
		}
	}
	return x
}

// convolution returns the throughput by Buzen's algorithm with load-dependent stations, G(n) = Σ_j
// f(j) G(n-j), unscaled, with f(j) = Z^j/j! for the think time.
func convolution(jobs int, think float64, demand []float64, alpha func(i, j int) float64) float64 {
	g := make([]float64, jobs+1)
	factorial := 1.0
	for j := range g {
		if j > 0 {
			factorial *= float64(j)
		}
		g[j] = math.Pow(think, float64(j)) / factorial
	}
	for i, d := range demand {
		f := make([]float64, jobs+1)
		f[0] = 1
		for j := 1; j <= jobs; j++ {
			f[j] = f[j-1] * d / alpha(i, j)
		}
		for n := jobs; n >= 0; n-- {
			sum := 0.0
			for j := 0; j <= n; j++ {
				sum += f[j] * g[n-j]
			}
			g[n] = sum
		}
	}
	return g[jobs-1] / g[jobs]
}

// longConvolution is convolution with numbers of 192 bits, whose range ends at 10^±600000000;
// rounding leaves 50 digits, since all terms are positive. The last station is only convolved to the
// two numbers of the result.
func longConvolution(jobs int, think *big.Rat, demand []*big.Rat, alpha func(i, j int) *big.Rat) *big.Float {
	long := func(x *big.Rat) *big.Float { return new(big.Float).SetPrec(192).SetRat(x) }
	g := make([]*big.Float, jobs+1)
	g[0] = long(big.NewRat(1, 1))
	for j := 1; j <= jobs; j++ {
		g[j] = long(new(big.Rat).Quo(think, big.NewRat(int64(j), 1)))
		g[j].Mul(g[j], g[j-1])
	}
	term := new(big.Float).SetPrec(192)
	for i, d := range demand {
		f := []*big.Float{long(big.NewRat(1, 1))}
		for j := 1; j <= jobs; j++ {
			x := long(new(big.Rat).Quo(d, alpha(i, j)))
			f = append(f, x.Mul(x, f[j-1]))
		}
		least := 0
		if i == len(demand)-1 {
			least = jobs - 1
		}
		for n := jobs; n >= least; n-- {
			sum := new(big.Float).SetPrec(192)
			for j := 0; j <= n; j++ {
				sum.Add(sum, term.Mul(f[j], g[n-j]))
			}
			g[n] = sum
		}
	}
	return g[jobs-1].Quo(g[jobs-1], g[jobs])
}

// Textbook recursions return negative throughputs, NaN or wrong digits for 180 and 500 jobs, 4 to
// 16 servers, and demands and rates that differ by a factor of a million; here every digit is
// proved. Published packages show all three failures. G. Casale ("A note on stable flow-equivalent
// aggregation in closed networks", Queueing Systems 60, 2008) shows mean value analysis at more
// than 80 jobs with 8 servers, service 4 and think time 10, as does a demo of the package queueing
// of Octave (qncscmva).
func TestTextbookCounterexamples(t *testing.T) {
	scaled := func(m *network.Model) *network.Model { // time in thousandths
		for v := range m.Classes[0].Visits {
			size := &m.Classes[0].Visits[v].MeanSize
			*size = new(big.Rat).Mul(*size, big.NewRat(1000, 1))
		}
		return m
	}
	overflow, negative, digits := 0, 0, 0
	for _, c := range []struct {
		name            string
		model           *network.Model
		fails, overflow bool
	}{
		{"the demo", demoOf(90), true, false},
		{"the demo", demoOf(300), true, false},
		{"16 servers", serversOf(90, 16, 10), true, false},
		{"4 servers", serversOf(180, 4, 1), true, false},
		{"8 servers", serversOf(180, 8, 10), true, false},
		{"16 servers", serversOf(180, 16, 1000000), true, false},
		{"16 servers in thousandths", scaled(serversOf(180, 16, 1)), true, true},
		{"16 servers", serversOf(500, 16, 1000000), true, true},
		{"rates", ratesOf(180), true, false},
		{"rates", ratesOf(500), true, true},
	} {
		jobs := c.model.Classes[0].Population
		what := fmt.Sprintf("%s, %d jobs", c.name, jobs)
		r, err := network.Solve(t.Context(), c.model, network.Settings{Engine: num.Float})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got := r.Chains[0].Throughput.Float
		want := longConvolution(jobs, thinkOf(c.model), demandsOf(c.model), ratesAt(c.model))
		off := new(big.Float).SetPrec(100).Sub(want, big.NewFloat(got))
		off.Quo(off, want)
		if e, _ := off.Float64(); !(math.Abs(e) <= r.RelativeErrorBound) || !(r.RelativeErrorBound < 3e-12) {
			t.Errorf("%s: %v is off by %g, bound %g", what, got, e, r.RelativeErrorBound)
		}
		e, err := network.Solve(t.Context(), c.model, network.Settings{Engine: num.Enclose, RelTol: 1e-30})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if x := e.Chains[0].Throughput; x.Low.Cmp(want) > 0 || x.High.Cmp(want) < 0 || e.RelativeErrorBound > 2e-16 {
			t.Errorf("%s: %v is not between %v and %v", what, want, x.Low, x.High)
		}
		think, demand, alpha := floats(c.model)
		mva, conv := loadDependentMVA(jobs, think, demand, alpha), convolution(jobs, think, demand, alpha)
		if !(math.Abs(mva-got) < 0.01*got) != c.fails || math.IsNaN(conv) != c.overflow {
			t.Errorf("%s: %v, mean value analysis %v, convolution %v", what, got, mva, conv)
		}
		if mva < 0 {
			negative++
		} else if c.fails {
			digits++
		}
		if math.IsNaN(conv) {
			overflow++
		}
	}
	if negative == 0 || digits == 0 || overflow == 0 {
		t.Errorf("%d negative throughputs, %d wrong ones, %d overflows: not all symptoms are shown",
			negative, digits, overflow)
	}
}

// demoOf returns the demo of qncscmva: 8 servers, service 4, think time 10.
func demoOf(jobs int) *network.Model {
	m := serversOf(jobs, 8, 1)
	m.Stations, m.Classes[0].Visits = m.Stations[:2], m.Classes[0].Visits[:2]
	return m
}

// ratesOf returns a network of stations with rates that grow by a factor of a million, fall, and go
// up and down.
func ratesOf(jobs int) *network.Model {
	m := serversOf(jobs, 1, 1000)
	m.Stations[1].Servers, m.Stations[2].Servers, m.Stations[3].Servers = 0, 0, 0
	for j := int64(1); j <= 12; j++ {
		m.Stations[1].Rates = append(m.Stations[1].Rates, new(big.Rat).Mul(
			big.NewRat(1, 1000), big.NewRat(int64(math.Pow(3.2, float64(j))), 1),
		))
		m.Stations[2].Rates = append(m.Stations[2].Rates, big.NewRat(1000000, 1+j*j*j))
		m.Stations[3].Rates = append(m.Stations[3].Rates, big.NewRat(1+j*j%7, 1+j%2*1000))
	}
	for i := 1; i <= 3; i++ {
		m.Stations[i].Discipline = network.Sharing
	}
	return m
}

func thinkOf(m *network.Model) *big.Rat { return m.Classes[0].Visits[0].MeanSize }

func demandsOf(m *network.Model) (list []*big.Rat) {
	for _, v := range m.Classes[0].Visits[1:] {
		list = append(list, v.MeanSize)
	}
	return list
}

func ratesAt(m *network.Model) func(i, j int) *big.Rat {
	return func(i, j int) *big.Rat { return alphaOf(m.Stations[i+1], j) }
}

// serversOf returns a network of a think time of 10 and stations with the given number of servers,
// with demands 4, 4, and 4 over the ratio.
func serversOf(jobs, servers, ratio int) *network.Model {
	m := &network.Model{
		Stations: []network.Station{{Name: "think", Discipline: network.Delay}},
		Classes: []network.Class{{
			Name:       "user",
			Population: jobs,
			Visits:     []network.Visit{{Station: 0, MeanSize: big.NewRat(10, 1), Count: big.NewRat(1, 1)}},
		}},
	}
	for i, size := range []*big.Rat{big.NewRat(4, 1), big.NewRat(39, 10), big.NewRat(4, int64(ratio))} {
		m.Stations = append(m.Stations, network.Station{
			Name:       fmt.Sprint("s", i),
			Discipline: network.FCFS,
			Servers:    servers,
		})
		m.Classes[0].Visits = append(m.Classes[0].Visits, network.Visit{
			Station:  i + 1,
			MeanSize: size,
			Count:    big.NewRat(1, 1),
		})
	}
	return m
}

// floats returns a network of one chain and visits by count in the form of the recursions above.
func floats(m *network.Model) (think float64, demand []float64, alpha func(i, j int) float64) {
	var at []network.Station
	for _, v := range m.Classes[0].Visits {
		d, _ := new(big.Rat).Mul(v.MeanSize, v.Count).Float64()
		if m.Stations[v.Station].Discipline == network.Delay {
			think += d
			continue
		}
		demand = append(demand, d)
		at = append(at, m.Stations[v.Station])
	}
	rates := make([][]float64, len(at))
	for i, s := range at {
		for j := 1; j <= m.Classes[0].Population; j++ {
			f, _ := alphaOf(s, j).Float64()
			rates[i] = append(rates[i], f)
		}
	}
	return think, demand, func(i, j int) float64 { return rates[i][j-1] }
}
