package network_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/network"
	"productform/num"
)

// drawFraction returns a small fraction.
func drawFraction(t *rapid.T, label string) *big.Rat {
	return big.NewRat(rapid.Int64Range(1, 12).Draw(t, label), rapid.Int64Range(1, 12).Draw(t, label+" over"))
}

// drawTotals returns a network of stations whose rates depend on totals, with up to three closed
// classes, and up to two open ones on request.
func drawTotals(t *rapid.T, open bool) *network.Model {
	m := &network.Model{}
	for i := range rapid.IntRange(1, 3).Draw(t, "stations") {
		s := network.Station{Name: fmt.Sprint("s", i), Discipline: network.Sharing}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			s.Discipline = network.Delay
			s.Rate = drawFraction(t, "rate")
		case 1:
			for range rapid.IntRange(1, 4).Draw(t, "rates") {
				s.Rates = append(s.Rates, drawFraction(t, "rate"))
			}
		case 2:
			s.Servers, s.Rate = rapid.IntRange(1, 4).Draw(t, "servers"), drawFraction(t, "rate")
		}
		m.Stations = append(m.Stations, s)
	}
	visits := func(most int64) (list []network.Visit) {
		for i := range m.Stations {
			if i == 0 || rapid.IntRange(0, 3).Draw(t, "visits") > 0 {
				list = append(list, network.Visit{
					Station:  i,
					Count:    big.NewRat(rapid.Int64Range(1, most).Draw(t, "count"), 2),
					MeanSize: drawFraction(t, "size"),
				})
			}
		}
		return list
	}
	left := 5
	if open {
		left = 3
	}
	for c := range rapid.IntRange(1, 3).Draw(t, "closed") {
		if left > 0 {
			jobs := rapid.IntRange(1, left).Draw(t, "jobs")
			left -= jobs
			m.Classes = append(m.Classes, network.Class{Name: fmt.Sprint("c", c), Population: jobs, Visits: visits(4)})
		}
	}
	if !open {
		return m
	}
	for c := range rapid.IntRange(0, 2).Draw(t, "open") {
		k := network.Class{Name: fmt.Sprint("o", c), ArrivalRate: big.NewRat(1, 1), Visits: visits(4)}
		k.Visits[0].Count = big.NewRat(1, 1)
		for _, v := range k.Visits { // at most an eighth of the station's rate with many jobs
			s := m.Stations[v.Station]
			rate := big.NewRat(int64(max(s.Servers, 1)), 1)
			if s.Rate != nil {
				rate.Mul(rate, s.Rate)
			}
			if s.Rates != nil {
				rate = s.Rates[len(s.Rates)-1]
			}
			limit := new(big.Rat).Quo(rate, big.NewRat(8, 1))
			limit.Quo(limit, v.Count).Quo(limit, v.MeanSize)
			if limit.Cmp(k.ArrivalRate) < 0 {
				k.ArrivalRate = limit
			}
		}
		m.Classes = append(m.Classes, k)
	}
	return m
}

// A census holds sums over all states of a network with visits by count, by station and class,
// divided by the normalization.
type census struct {
	jobs  [][]*big.Rat
	empty []*big.Rat
	law   [][]*big.Rat // P(n jobs)
}

// openJobs is the maximum number of open jobs at a station in a census: each further job is at most
// about a fourth as likely.
const openJobs = 50

// takeCensus adds up the weights of all states, by the product form of each class separately, and
// open jobs one by one.
func takeCensus(m *network.Model) *census {
	c := &census{}
	stations, classes := len(m.Stations), len(m.Classes)
	load := make([]*big.Rat, stations)
	for i := range load {
		load[i] = new(big.Rat)
	}
	for _, k := range m.Classes {
		if k.ArrivalRate != nil {
			for _, v := range k.Visits {
				w := new(big.Rat).Mul(k.ArrivalRate, v.Count)
				load[v.Station].Add(load[v.Station], w.Mul(w, v.MeanSize))
			}
		}
	}
	// weight[i][n][o] for n closed and o open jobs: (n+o)!/(o! Π α(j)) ρ^o.
	total := 0
	for _, k := range m.Classes {
		total += k.Population
	}
	weight := make([][][]*big.Rat, stations)
	sums, means := make([][]*big.Rat, stations), make([][]*big.Rat, stations) // Σ_o weight and Σ_o o weight
	for i := range weight {
		most := 0
		if load[i].Sign() > 0 {
			most = openJobs
		}
		for n := range total + 1 {
			var list []*big.Rat
			w, sum, mean := big.NewRat(1, 1), new(big.Rat), new(big.Rat)
			for j := 1; j <= n; j++ {
				w.Mul(w, new(big.Rat).Quo(big.NewRat(int64(j), 1), alphaOf(m.Stations[i], j)))
			}
			for o := 0; o <= most; o++ {
				if o > 0 {
					w = new(big.Rat).Mul(w, big.NewRat(int64(n+o), int64(o)))
					w.Mul(w, load[i]).Quo(w, alphaOf(m.Stations[i], n+o))
				}
				list = append(list, w)
				sum.Add(sum, w)
				mean.Add(mean, new(big.Rat).Mul(w, big.NewRat(int64(o), 1)))
			}
			weight[i] = append(weight[i], list)
			sums[i], means[i] = append(sums[i], sum), append(means[i], mean)
		}
	}
	at := make([]int, stations) // closed jobs at each station
	x := make([][]int, classes) // jobs of each class by visit
	g := new(big.Rat)
	for range m.Stations {
		c.empty = append(c.empty, new(big.Rat))
		var row, law []*big.Rat
		for range m.Classes {
			row = append(row, new(big.Rat))
		}
		for range total + 3 {
			law = append(law, new(big.Rat))
		}
		c.jobs, c.law = append(c.jobs, row), append(c.law, law)
	}
	count := func(state *big.Rat) {
		all := new(big.Rat).Set(state)
		for i, n := range at {
			all.Mul(all, sums[i][n])
		}
		g.Add(g, all)
		for i, closed := range at {
			others := new(big.Rat).Quo(all, sums[i][closed])
			for o, w := range weight[i][closed] {
				if n := closed + o; n < len(c.law[i]) {
					c.law[i][n].Add(c.law[i][n], new(big.Rat).Mul(others, w))
				}
			}
			if load[i].Sign() > 0 {
				mean := new(big.Rat).Mul(others, means[i][closed])
				mean.Quo(mean, load[i])
				for a, k := range m.Classes {
					if k.ArrivalRate != nil {
						for _, v := range k.Visits {
							if v.Station == i {
								part := new(big.Rat).Mul(mean, k.ArrivalRate)
								part.Mul(part, v.Count).Mul(part, v.MeanSize)
								c.jobs[i][a].Add(c.jobs[i][a], part)
							}
						}
					}
				}
			}
			if closed == 0 {
				c.empty[i].Add(c.empty[i], new(big.Rat).Mul(others, weight[i][0][0]))
			}
		}
		for a, k := range m.Classes {
			for v, n := range x[a] {
				part := new(big.Rat).Mul(all, big.NewRat(int64(n), 1))
				c.jobs[k.Visits[v].Station][a].Add(c.jobs[k.Visits[v].Station][a], part)
			}
		}
	}
	var place func(a, v, left int, state *big.Rat)
	place = func(a, v, left int, state *big.Rat) {
		switch {
		case a == classes:
			count(state)
			return
		case m.Classes[a].ArrivalRate != nil:
			place(a+1, 0, 0, state)
			return
		case v == 0 && x[a] == nil:
			x[a] = make([]int, len(m.Classes[a].Visits))
			place(a, 0, m.Classes[a].Population, state)
			x[a] = nil
			return
		}
		visit := m.Classes[a].Visits[v]
		w := new(big.Rat).Mul(visit.Count, visit.MeanSize)
		term := state
		for n := 0; n <= left; n++ {
			if n > 0 {
				term = new(big.Rat).Mul(term, w)
				term.Quo(term, big.NewRat(int64(n), 1))
			}
			if v == len(x[a])-1 && n < left {
				continue
			}
			x[a][v] = n
			at[visit.Station] += n
			if v == len(x[a])-1 {
				place(a+1, 0, 0, term)
			} else {
				place(a, v+1, left-n, term)
			}
			at[visit.Station] -= n
		}
	}
	place(0, 0, 0, big.NewRat(1, 1))
	for i := range c.empty {
		c.empty[i].Quo(c.empty[i], g)
		for n := range c.law[i] {
			c.law[i][n].Quo(c.law[i][n], g)
		}
		for a := range c.jobs[i] {
			c.jobs[i][a].Quo(c.jobs[i][a], g)
		}
	}
	return c
}

// alphaOf returns the total rate of a station with n jobs.
func alphaOf(s network.Station, n int) *big.Rat {
	if s.Rates != nil {
		return s.Rates[min(n, len(s.Rates))-1]
	}
	if s.Discipline != network.Delay {
		n = min(n, max(s.Servers, 1))
	}
	rate := big.NewRat(int64(n), 1)
	if s.Rate != nil {
		rate.Mul(rate, s.Rate)
	}
	return rate
}

// checkNear fails unless a value is within the relative tolerance tol of want, or within its bounds
// if it has any.
func checkNear(t interface {
	Helper()
	Fatalf(string, ...any)
}, what string, got num.Value, want *big.Rat, tol float64) {
	t.Helper()
	w, _ := want.Float64()
	switch {
	case got.Exact != nil && (tol == 0 || want.Sign() == 0):
		if got.Exact.Cmp(want) != 0 {
			t.Fatalf("%s: %v, want %v", what, got.Exact, want)
		}
	case got.Exact != nil:
		off := new(big.Rat).Sub(got.Exact, want)
		if f, _ := off.Quo(off.Abs(off), want).Float64(); f > tol {
			t.Fatalf("%s: %v, want %v", what, got.Float, w)
		}
	case math.Abs(got.Float-w) > tol*w:
		t.Fatalf("%s: %v, want %v", what, got.Float, w)
	}
}

// All engines agree with the sum over all states: closed networks exactly, mixed networks up to the
// truncation of open jobs.
func TestSolveMatchesSumOverStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTotals(t, rapid.Bool().Draw(t, "mixed"))
		tol := 0.0
		for _, k := range m.Classes {
			if k.ArrivalRate != nil {
				tol = 1e-20
			}
		}
		c := takeCensus(m)
		for _, engine := range []num.Engine{num.Exact, num.Float, num.Enclose} {
			r, err := network.Answer(t.Context(), m, network.Question{MaxJobs: 4}, network.Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			within := max(tol, r.RelativeErrorBound)
			if engine != num.Exact && !(r.RelativeErrorBound > 0 && r.RelativeErrorBound < 1e-13) {
				t.Fatalf("%s: bound %g", engine, r.RelativeErrorBound)
			}
			checkNames(t, m, r)
			for i, s := range r.Stations {
				what := fmt.Sprintf("%s %s station %d (%s)", engine, r.Method, i, m.Stations[i].Discipline)
				checkNear(t, what+" empty", s.ProbEmpty, c.empty[i], within)
				for n, p := range s.JobsDistribution {
					if n < len(c.law[i]) {
						checkNear(t, fmt.Sprintf("%s P(%d)", what, n), p, c.law[i][n], within)
					}
				}
				for _, v := range s.Visits {
					checkNear(t, fmt.Sprintf("%s class %d", what, v.Class), v.MeanJobs, c.jobs[i][v.Class], within)
				}
			}
		}
	})
}

// Demands that differ by a factor of 1e240 keep their precision in float64; results beyond its
// range are rejected.
func TestDemandsFarApart(t *testing.T) {
	tiny := new(big.Rat).SetFrac(big.NewInt(3), new(big.Int).Exp(big.NewInt(10), big.NewInt(120), nil))
	for chains := 1; chains <= 2; chains++ {
		m := manyChains(chains, 40/chains, 4, true)
		for c := range m.Classes {
			m.Classes[c].Visits[2].MeanSize = tiny
		}
		m.Classes[0].Visits[3].MeanSize = new(big.Rat).Inv(tiny)
		m.Classes[0].Visits[3].MeanSize.Mul(m.Classes[0].Visits[3].MeanSize, big.NewRat(1, 1_000_000))
		got, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Float})
		if err != nil {
			t.Fatal(err)
		}
		want, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range want.Stations {
			if got.RelativeErrorBound > 1e-12 {
				t.Errorf("bound %g", got.RelativeErrorBound)
			}
			checkNear(t, "empty", got.Stations[i].ProbEmpty, s.ProbEmpty.Exact, got.RelativeErrorBound)
			for v := range s.Visits {
				checkNear(
					t, "jobs", got.Stations[i].Visits[v].MeanJobs, s.Visits[v].MeanJobs.Exact, got.RelativeErrorBound,
				)
			}
		}
	}
	m := manyChains(1, 2, 3, false)
	m.Classes[0].Visits[1].MeanSize = new(big.Rat).Mul(tiny, new(big.Rat).Mul(tiny, tiny))
	for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
		var bad *num.InputError
		if _, err := network.Solve(t.Context(), m, network.Settings{Engine: engine}); !errors.As(err, &bad) ||
			bad.Path != "model" {
			t.Errorf("%s: %v", engine, err)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for path, s := range map[string]network.Settings{
		"Engine": {Engine: "decimal"}, "RelTol": {RelTol: 1}, "MaxBytes": {MaxBytes: -1},
	} {
		var bad *num.InputError
		if _, err := network.Solve(t.Context(), oneChain(3, 3), s); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, q := range map[string]network.Question{"MaxJobs": {MaxJobs: -1}, "States": {States: 10_001}} {
		var bad *num.InputError
		if _, err := network.Answer(t.Context(), oneChain(3, 3), q, network.Settings{}); !errors.As(err, &bad) ||
			bad.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// checkNames compares the names in a result with those of the model.
func checkNames(t *rapid.T, m *network.Model, r *network.Result) {
	t.Helper()
	same := func(got, want string) {
		t.Helper()
		if got != want {
			t.Fatalf("name %q, want %q", got, want)
		}
	}
	for _, c := range r.Chains {
		for k, class := range c.Classes {
			same(c.Names[k], m.Classes[class].Name)
		}
	}
	for i, s := range r.Stations {
		same(s.Name, m.Stations[i].Name)
		same(string(s.Discipline), string(m.Stations[i].Discipline))
		for _, v := range s.Visits {
			same(v.Station, s.Name)
			same(v.Name, m.Classes[v.Class].Name)
		}
		for n, node := range s.Nodes {
			same(node.Station, s.Name)
			same(node.Name, m.Stations[i].Nodes[n].Name)
		}
	}
}

// TestResponseTime checks in fractions that a cycle is the think time and the response time.
func TestResponseTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		think := big.NewRat(rapid.Int64Range(1, 50).Draw(t, "think"), 10)
		visit := func(station int, size *big.Rat) network.Visit {
			return network.Visit{Station: station, MeanSize: size, Count: big.NewRat(1, 1)}
		}
		m := &network.Model{
			Stations: []network.Station{{Name: "think", Discipline: network.Delay},
				{Name: "web", Discipline: network.Sharing},
				{Name: "database", Discipline: network.FCFS, Servers: 2}},
			Classes: []network.Class{{Name: "user", Population: rapid.IntRange(1, 8).Draw(t, "users"),
				Visits: []network.Visit{visit(0, think), visit(1, big.NewRat(1, 4)), visit(2, big.NewRat(1, 3))}}},
		}
		r, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		c := r.Chains[0]
		if sum := new(big.Rat).Add(think, c.MeanResponseTime.Exact); sum.Cmp(c.MeanDelay.Exact) != 0 {
			t.Errorf("think %v and response %v make %v, want %v", think, c.MeanResponseTime.Exact, sum,
				c.MeanDelay.Exact)
		}
		m.Stations[0].Discipline = network.Sharing
		if r, err = network.Solve(t.Context(), m, network.Settings{}); err != nil ||
			r.Chains[0].MeanResponseTime != nil {
			t.Errorf("response time without think time: %v, %v", r.Chains[0].MeanResponseTime, err)
		}
	})
}
