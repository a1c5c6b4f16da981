package network_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"productform/network"
	"productform/num"
)

// exactMVA returns cycles per unit of time and mean numbers of jobs by class and station, in
// fractions by mean value analysis of stations with one server and think times (Reiser and
// Lavenberg, 1980): R_ik = D_ik (1 + Q_i(N - e_k)), X_k = N_k/(Z_k + Σ_i R_ik).
func exactMVA(most []int, think []*big.Rat, demand [][]*big.Rat) (x []*big.Rat, jobs [][]*big.Rat) {
	stations := len(demand)
	queue := map[string][]*big.Rat{}
	n := make([]int, len(most))
	for {
		total := make([]*big.Rat, stations)
		for i := range total {
			total[i] = new(big.Rat)
		}
		x, jobs = make([]*big.Rat, len(most)), make([][]*big.Rat, stations)
		for k := range most {
			x[k] = new(big.Rat)
			if n[k] == 0 {
				for i := range jobs {
					jobs[i] = append(jobs[i], new(big.Rat))
				}
				continue
			}
			n[k]--
			before := queue[fmt.Sprint(n)]
			n[k]++
			cycle := new(big.Rat).Set(think[k])
			var r []*big.Rat
			for i := range demand {
				r = append(r, new(big.Rat).Mul(demand[i][k], new(big.Rat).Add(before[i], big.NewRat(1, 1))))
				cycle.Add(cycle, r[i])
			}
			x[k].Quo(big.NewRat(int64(n[k]), 1), cycle)
			for i := range demand {
				q := new(big.Rat).Mul(x[k], r[i])
				jobs[i] = append(jobs[i], q)
				total[i].Add(total[i], q)
			}
		}
		queue[fmt.Sprint(n)] = total
		k := len(n) - 1
		for ; k >= 0; k-- {
			if n[k]++; n[k] <= most[k] {
				break
			}
			n[k] = 0
		}
		if k < 0 {
			return x, jobs
		}
	}
}

// A published is a documented network with the printed throughputs of its first visits, accurate to
// a unit of the last digit.
type published struct {
	name, text string
	throughput []string
}

// Models of H. Schwetman, "Testing network-of-queues software", CSD-TR 330, and "Implementing the
// mean value algorithm for the solution of queueing network models", CSD-TR 355, Purdue University,
// 1980 and 1982. Throughputs are as printed in the tests of the package queueing of Octave
// (qncmmva, M. Marzolla, who recomputed some with JMVA). The last two are demos there, with
// throughputs by mean value analysis in fractions.
var documented = []published{
	{"CSD-TR 330, figure 7", `
stations: [{name: cpu, discipline: sharing}, {name: a, discipline: sharing}, {name: b, discipline: sharing},
    {name: c, discipline: sharing}]
classes:
  - {name: one, population: 3, visits: [{station: cpu, mean_size: 0.01, next: {cpu: 0.05, a: 0.45, b: 0.5}},
      {station: a, mean_size: 0.09, next: {cpu: 1}}, {station: b, mean_size: 0.1, next: {cpu: 1}}]}
  - {name: two, population: 2, visits: [{station: cpu, mean_size: 0.05, next: {cpu: 0.01, b: 0.5, c: 0.49}},
      {station: b, mean_size: 0.1, next: {cpu: 1}}, {station: c, mean_size: 0.08, next: {cpu: 1}}]}
`, []string{"12.1517", "6.8669"}},
	{"CSD-TR 330, figure 6", `
stations: [{name: terminals, discipline: delay}, {name: cpu, discipline: sharing}, {name: d1, discipline: fcfs},
    {name: d2, discipline: fcfs}, {name: d3, discipline: fcfs}, {name: d4, discipline: fcfs}]
classes:
  - name: interactive
    population: 40
    visits:
      - {station: terminals, mean_size: 5, next: {cpu: 1}}
      - {station: cpu, mean_size: 0.010, next: {d1: 0.25, d2: 0.25, d3: 0.25, d4: 0.25}}
      - {station: d1, mean_size: 0.035, next: {terminals: 0.9, cpu: 0.1}}
      - {station: d2, mean_size: 0.035, next: {terminals: 0.9, cpu: 0.1}}
      - {station: d3, mean_size: 0.035, next: {terminals: 0.9, cpu: 0.1}}
      - {station: d4, mean_size: 0.035, next: {terminals: 0.9, cpu: 0.1}}
  - name: batch
    population: 4
    visits:
      - {station: terminals, mean_size: 10, next: {cpu: 1}}
      - {station: cpu, mean_size: 0.100, next: {d1: 0.25, d2: 0.25, d3: 0.25, d4: 0.25}}
      - {station: d1, mean_size: 0.035, next: {terminals: 0.05, cpu: 0.95}}
      - {station: d2, mean_size: 0.035, next: {terminals: 0.05, cpu: 0.95}}
      - {station: d3, mean_size: 0.035, next: {terminals: 0.05, cpu: 0.95}}
      - {station: d4, mean_size: 0.035, next: {terminals: 0.05, cpu: 0.95}}
`, []string{"7.891588", "0.277270"}},
	{"CSD-TR 355, table 5", `
stations: [{name: apl, discipline: delay}, {name: ims, discipline: delay}, {name: sys, discipline: sharing}]
classes:
  - {name: apl, population: 15, visits: [{station: apl, mean_size: 1, visits: 1},
      {station: sys, mean_size: 0.025, visits: 1}]}
  - {name: ims, population: 5, visits: [{station: ims, mean_size: 15, visits: 1},
      {station: sys, mean_size: 0.5, visits: 1}]}
`, []string{"14.323", "0.314"}},
	{"qncsmva, a demo", `
stations: [{name: think, discipline: delay}, {name: a, discipline: fcfs}, {name: b, discipline: fcfs},
    {name: c, discipline: fcfs}]
classes:
  - {name: user, population: 20, visits: [{station: think, mean_size: 4, visits: 1},
      {station: a, mean_size: 0.125, visits: 16}, {station: b, mean_size: 0.3, visits: 10},
      {station: c, mean_size: 0.2, visits: 5}]}
`, nil},
	{"G. Casale and G. Serazzi, Quantitative system evaluation with Java Modeling Tools, ICPE 2011", `
stations: [{name: s1, discipline: sharing}, {name: s2, discipline: sharing}, {name: s3, discipline: sharing},
    {name: s4, discipline: sharing}, {name: s5, discipline: sharing}, {name: s6, discipline: sharing}]
classes:
  - {name: one, population: 10, visits: [{station: s1, mean_size: 20, visits: 1},
      {station: s2, mean_size: 80, visits: 1}, {station: s3, mean_size: 31, visits: 1},
      {station: s4, mean_size: 14, visits: 1}, {station: s5, mean_size: 23, visits: 1},
      {station: s6, mean_size: 12, visits: 1}]}
  - {name: two, population: 20, visits: [{station: s1, mean_size: 90, visits: 1},
      {station: s2, mean_size: 30, visits: 1}, {station: s3, mean_size: 33, visits: 1},
      {station: s4, mean_size: 20, visits: 1}, {station: s5, mean_size: 14, visits: 1},
      {station: s6, mean_size: 7, visits: 1}]}
`, nil},
}

// Documented networks match mean value analysis in fractions exactly, and the printed digits.
func TestDocumentedNetworks(t *testing.T) {
	for _, c := range documented {
		m, err := network.Read(strings.NewReader(c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		r, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		f, err := network.Solve(t.Context(), m, network.Settings{})
		if err != nil || f.Engine != num.Float {
			t.Fatalf("%s: %v", c.name, err)
		}
		most, think, demand := demandsByClass(m)
		x, jobs := exactMVA(most, think, demand)
		for k := range m.Classes {
			of := r.Chains[k].Throughput
			if of.Exact.Cmp(x[k]) != 0 {
				t.Errorf("%s: class %d has the throughput %v, want %v", c.name, k, of.Float, x[k].FloatString(12))
			}
			if c.throughput != nil && !printedAs(of.Float, c.throughput[k]) {
				t.Errorf("%s: %v was printed as %s", c.name, of.Float, c.throughput[k])
			}
			if off := math.Abs(f.Chains[k].Throughput.Float - of.Float); off > f.RelativeErrorBound*of.Float {
				t.Errorf("%s: float is off by %g, bound %g", c.name, off, f.RelativeErrorBound)
			}
		}
		for i, s := range r.Stations {
			for _, v := range s.Visits {
				if m.Stations[i].Discipline != network.Delay && v.MeanJobs.Exact.Cmp(jobs[i][v.Class]) != 0 {
					t.Errorf("%s: station %d has %v jobs of class %d, want %v",
						c.name, i, v.MeanJobs.Float, v.Class, jobs[i][v.Class].FloatString(12))
				}
			}
		}
	}
}

// printedAs reports whether x is within a unit of the last digit of a decimal.
func printedAs(x float64, text string) bool {
	_, digits, _ := strings.Cut(text, ".")
	printed, _ := num.Rat(text).Float64()
	return math.Abs(x-printed) <= math.Pow(10, -float64(len(digits)))
}

// demandsByClass returns populations, think times and demands by station and class, from the visit
// ratios of the routing of each class alone. The classes have few visits, so powers of the routing
// matrix are not needed: v = e_1 + v P, where P lacks the branches back to the first visit.
func demandsByClass(m *network.Model) (most []int, think []*big.Rat, demand [][]*big.Rat) {
	for range m.Stations {
		row := make([]*big.Rat, len(m.Classes))
		for k := range row {
			row[k] = new(big.Rat)
		}
		demand = append(demand, row)
	}
	for k, c := range m.Classes {
		most, think = append(most, c.Population), append(think, new(big.Rat))
		for v, ratio := range visitRatios(c) {
			d := new(big.Rat).Mul(ratio, c.Visits[v].MeanSize)
			if i := c.Visits[v].Station; m.Stations[i].Discipline == network.Delay {
				think[k].Add(think[k], d)
			} else {
				demand[i][k].Add(demand[i][k], d)
			}
		}
	}
	return most, think, demand
}

// visitRatios solves v = v P with v_1 = 1 by Gaussian elimination.
func visitRatios(c network.Class) []*big.Rat {
	n := len(c.Visits)
	v := make([]*big.Rat, n)
	if c.Visits[0].Count != nil {
		for i := range v {
			v[i] = c.Visits[i].Count
		}
		return v
	}
	a := make([][]*big.Rat, n) // rows: v_j - Σ_i v_i p_ij = 0; the first row is v_1 = 1
	for j := range a {
		for range n + 1 {
			a[j] = append(a[j], new(big.Rat))
		}
		a[j][j].SetInt64(1)
	}
	for i := range c.Visits {
		for _, b := range c.Visits[i].Next {
			if b.Visit > 0 {
				a[b.Visit][i].Sub(a[b.Visit][i], b.Probability)
			}
		}
	}
	a[0][n].SetInt64(1)
	for p := range n {
		for r := range n {
			if r != p && a[r][p].Sign() != 0 {
				f := new(big.Rat).Quo(a[r][p], a[p][p])
				for q := range n + 1 {
					a[r][q].Sub(a[r][q], new(big.Rat).Mul(f, a[p][q]))
				}
			}
		}
	}
	for i := range v {
		v[i] = new(big.Rat).Quo(a[i][n], a[i][i])
	}
	return v
}

// Jobs that change class match CSD-TR 355, figure 9, as printed there by qncmmva, to three digits.
func TestDocumentedClassSwitching(t *testing.T) {
	const text = `
stations: [{name: cpu, discipline: sharing}, {name: d1, discipline: fcfs}, {name: d2, discipline: fcfs}]
classes:
  - {name: a, population: 3, visits: [{station: cpu, mean_size: 0.01, next: {d1: 0.7, d2: 0.2, cpu/b: 0.1}},
      {station: d1, mean_size: 0.07, next: {cpu: 1}}, {station: d2, mean_size: 0.1, next: {cpu: 1}}]}
  - {name: b, population: 0, visits: [{station: cpu, mean_size: 0.05, next: {d1: 0.3, d2: 0.5, cpu/a: 0.2}},
      {station: d1, mean_size: 0.07, next: {cpu: 1}}, {station: d2, mean_size: 0.1, next: {cpu: 1}}]}
`
	m, err := network.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ x, q, delay []string }{
		{[]string{"12.609", "6.304"}, []string{"0.185", "0.462"}, []string{"0.015", "0.073"}},
		{[]string{"8.826", "1.891"}, []string{"1.175", "0.252"}, []string{"0.133", "0.133"}},
		{[]string{"2.522", "3.152"}, []string{"0.412", "0.515"}, []string{"0.163", "0.163"}},
	} {
		for _, v := range r.Stations[i].Visits {
			if !printedAs(v.Throughput.Float, want.x[v.Class]) || !printedAs(v.MeanJobs.Float, want.q[v.Class]) ||
				!printedAs(v.MeanDelay.Float, want.delay[v.Class]) {
				t.Errorf("station %d, class %d: %v, %v, %v, want %v",
					i, v.Class, v.Throughput.Float, v.MeanJobs.Float, v.MeanDelay.Float, want)
			}
		}
	}
}

// With nine stations, two of them delays, and two chains, mean value analysis in fractions gives
// the same numbers.
func TestNineStations(t *testing.T) {
	m := manyChains(2, 6, 9, false)
	m.Stations[4].Discipline = network.Delay
	r, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	x, jobs := exactMVA(demandsByClass(m))
	for k := range m.Classes {
		if r.Chains[k].Throughput.Exact.Cmp(x[k]) != 0 {
			t.Errorf("throughput %v, want %v", r.Chains[k].Throughput.Float, x[k])
		}
	}
	for i, s := range r.Stations {
		for _, v := range s.Visits {
			if m.Stations[i].Discipline != network.Delay && v.MeanJobs.Exact.Cmp(jobs[i][v.Class]) != 0 {
				t.Errorf("station %d: %v jobs, want %v", i, v.MeanJobs.Float, jobs[i][v.Class])
			}
		}
	}
}
