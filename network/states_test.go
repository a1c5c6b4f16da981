package network_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network"
	"productform/num"
	"productform/oiqueue"
)

// For random rank functions at a station that open classes visit, probabilities are products along
// all orders of the jobs, divided by the sum over sets of classes, and no omitted state is more
// likely than a listed one.
func TestLikelyStatesOfRankFunctions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		rank := make([]*big.Rat, 1<<n)
		rank[0] = new(big.Rat)
		s := network.Station{Name: "s", Discipline: rapid.SampledFrom([]network.Discipline{network.Order,
			network.Balanced}).Draw(t, "discipline")}
		m, lambda := &network.Model{}, make([]*big.Rat, n)
		for set := 1; set < len(rank); set++ {
			rank[set] = big.NewRat(1, 2)
			var classes []int
			for i := range n {
				if set>>i&1 == 1 {
					classes = append(classes, i)
					if before := rank[set&^(1<<i)]; before.Cmp(rank[set]) > 0 {
						rank[set] = before
					}
				}
			}
			rank[set] = new(big.Rat).Add(rank[set], big.NewRat(rapid.Int64Range(0, 3).Draw(t, "more"), 2))
			s.Rank = append(s.Rank, network.SetRate{Classes: classes, Rate: rank[set]})
		}
		for i := range lambda { // their total is at most 1/3 of the smallest capacity
			lambda[i] = big.NewRat(rapid.Int64Range(0, 4).Draw(t, "rate"), int64(24*n))
			m.Classes = append(m.Classes, network.Class{Name: string(rune('a' + i)), ArrivalRate: lambda[i],
				Visits: []network.Visit{{Next: leaves()}}})
		}
		m.Stations = []network.Station{s}
		g, _ := oracle.ActiveSets(lambda, rank)
		z := oracle.Sum(g)
		want := func(x []int) *big.Rat { // Σ over the orders of Π λ/μ, by the class of the newest job
			var weight func(x []int) *big.Rat
			weight = func(x []int) *big.Rat {
				set, sum := 0, new(big.Rat)
				for i, k := range x {
					if k > 0 {
						set |= 1 << i
						x[i]--
						sum.Add(sum, new(big.Rat).Mul(lambda[i], weight(x)))
						x[i]++
					}
				}
				if set == 0 {
					return big.NewRat(1, 1)
				}
				return sum.Quo(sum, rank[set])
			}
			return new(big.Rat).Quo(weight(x), z)
		}
		engine := rapid.SampledFrom([]num.Engine{num.Float, num.Enclose, num.Exact}).Draw(t, "engine")
		states := rapid.IntRange(1, 12).Draw(t, "states")
		r, err := network.Answer(
			context.Background(), m, network.Question{States: states}, network.Settings{Engine: engine},
		)
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		least := z
		for _, state := range r.LikelyStates {
			x := make([]int, n)
			for _, j := range state.Jobs {
				x[j.Class] = j.Jobs
			}
			listed[fmt.Sprint(x)] = true
			least = want(x)
			f, _ := least.Float64()
			oracle.HoldValues(t, engine, r.RelativeErrorBound+1e-15, []*num.Value{&state.Probability},
				[]*num.Value{{Float: f, Exact: least}})
		}
		some := slices.ContainsFunc(lambda, func(l *big.Rat) bool { return l.Sign() > 0 })
		if len(listed) != len(r.LikelyStates) || some && len(listed) != states || !some && len(listed) != 1 {
			t.Fatalf("%d states, %d of them distinct, want %d", len(r.LikelyStates), len(listed), states)
		}
		x := make([]int, n)
		var look func(i, left int)
		look = func(i, left int) {
			if i == n {
				bound := new(big.Rat).Mul(least, big.NewRat(1e9+1, 1e9))
				if p := want(x); !listed[fmt.Sprint(x)] && p.Cmp(bound) > 0 {
					t.Fatalf("%v is omitted, with probability %v, and one of %v is not", x, p, least)
				}
				return
			}
			for x[i] = 0; x[i] <= left; x[i]++ {
				look(i+1, left-x[i])
			}
			x[i] = 0
		}
		look(0, 6)
	})
}

// In closed, open and mixed networks, probabilities of numbers of jobs at a station differ from
// sums over the listed states by at most the probability of all other states. A state that differs
// from a listed one by one job is listed or no more likely than the last.
func TestLikelyStatesAddUpToDistributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTotals(t, rapid.Bool().Draw(t, "open"))
		const states = 40
		r, err := network.Answer(
			context.Background(), m, network.Question{MaxJobs: 3, States: states}, network.Settings{},
		)
		if err != nil {
			t.Fatal(err)
		}
		left := 1.0
		with := make([][4]float64, len(m.Stations)) // by station and number of jobs there
		probability := map[string]float64{}
		for _, s := range r.LikelyStates {
			left -= s.Probability.Float
			jobs := make([]int, len(m.Stations))
			for _, j := range s.Jobs {
				jobs[m.Classes[j.Class].Visits[j.Visit].Station] += j.Jobs
			}
			for i, n := range jobs {
				if n < 4 {
					with[i][n] += s.Probability.Float
				}
			}
			if probability[s.Name] > 0 {
				t.Fatalf("%s is listed twice", s.Name)
			}
			probability[s.Name] = s.Probability.Float
		}
		if left < -1e-9 || len(r.LikelyStates) < states && left > 1e-9 {
			t.Fatalf("%d states, with %g left for others", len(r.LikelyStates), left)
		}
		for i, of := range r.Stations {
			for n, p := range of.JobsDistribution {
				if gap := p.Float - with[i][n]; gap < -1e-9 || gap > left+1e-9 {
					t.Fatalf("P(%d jobs at %s) = %g, of states listed %g, with %g left",
						n, of.Name, p.Float, with[i][n], left)
				}
			}
		}
		last := r.LikelyStates[len(r.LikelyStates)-1].Probability.Float
		for _, s := range r.LikelyStates {
			checkNeighbours(t, m, s, probability, last)
		}
	})
}

// checkNeighbours moves a job of a state to another visit of its chain or, if it is open, to any
// visit, removes it, or adds one.
func checkNeighbours(t *rapid.T, m *network.Model, s network.StateResult, listed map[string]float64, last float64) {
	x := make([][]int, len(m.Classes))
	for c, class := range m.Classes {
		x[c] = make([]int, len(class.Visits))
	}
	for _, j := range s.Jobs {
		x[j.Class][j.Visit] = j.Jobs
	}
	weight := func(x [][]int) float64 { // Π_i n_i!/Π α(j) Π w^x/x!
		w, at := 1.0, make([]int, len(m.Stations))
		for c, class := range m.Classes {
			for v, n := range x[c] {
				visit := class.Visits[v]
				work, _ := new(big.Rat).Mul(visit.Count, visit.MeanSize).Float64()
				if class.ArrivalRate != nil {
					rate, _ := class.ArrivalRate.Float64()
					work *= rate
				}
				for k := range n {
					at[visit.Station]++
					alpha, _ := alphaOf(m.Stations[visit.Station], at[visit.Station]).Float64()
					w *= work / float64(k+1) * float64(at[visit.Station]) / alpha
				}
			}
		}
		return w
	}
	own := weight(x)
	check := func() {
		p := s.Probability.Float * (weight(x) / own)
		switch found, is := listed[nameOf(m, x)]; {
		case is && !oracle.Near(found, p, 1e-9):
			t.Fatalf("P(%s) = %g, by that of %s it is %g", nameOf(m, x), found, s.Name, p)
		case !is && p > last*(1+1e-9):
			t.Fatalf("%s is omitted, with probability %g, and one of %g is not", nameOf(m, x), p, last)
		}
	}
	for c := range x {
		for v := range x[c] {
			if m.Classes[c].ArrivalRate != nil {
				x[c][v]++
				check()
				x[c][v]--
			}
			if x[c][v] == 0 {
				continue
			}
			x[c][v]--
			if m.Classes[c].ArrivalRate != nil {
				check()
			}
			for other := range x[c] {
				x[c][other]++
				check()
				x[c][other]--
			}
			x[c][v]++
		}
	}
}

// nameOf returns the name of a state in results.
func nameOf(m *network.Model, x [][]int) string {
	var stations []string
	for i, station := range m.Stations {
		var jobs []string
		for c, class := range m.Classes {
			for v, visit := range class.Visits {
				if visit.Station == i && x[c][v] > 0 {
					jobs = append(jobs, fmt.Sprint(x[c][v], " ", class.Name))
				}
			}
		}
		if jobs != nil {
			stations = append(stations, station.Name+": "+strings.Join(jobs, ", "))
		}
	}
	if stations == nil {
		return "empty"
	}
	return strings.Join(stations, "; ")
}

// leaves returns the branch out of the network.
func leaves() []network.Branch {
	return []network.Branch{{Class: network.Leaves, Probability: big.NewRat(1, 1)}}
}

// If a cluster written as a station with nodes is stable, no state is more likely than the empty
// one, which has probability 1/Z.
func TestLikelyStatesOfReferences(t *testing.T) {
	for _, ref := range oracle.References() {
		if !ref.Expect.Stable {
			continue
		}
		m := &network.Model{Stations: []network.Station{{Name: "s", Discipline: network.Order}}}
		for _, s := range ref.Model.Servers {
			m.Stations[0].Nodes = append(m.Stations[0].Nodes, network.Node{Name: s.Name, Capacity: s.Capacity})
		}
		for _, c := range ref.Model.Classes {
			v := network.Visit{Next: leaves()}
			for _, u := range c.Servers {
				v.Nodes = append(v.Nodes, u.Server)
			}
			one := network.Class{Name: c.Name, ArrivalRate: c.ArrivalRate, Visits: []network.Visit{v}}
			m.Classes = append(m.Classes, one)
		}
		r, err := network.Answer(
			context.Background(), m, network.Question{States: 1}, network.Settings{Engine: num.Exact},
		)
		if err != nil {
			t.Fatalf("%s: %v", ref.Name, err)
		}
		s, want := r.LikelyStates[0], new(big.Rat).Inv(ref.Expect.Normalization)
		if s.Name != "empty" || s.Probability.Exact.Cmp(want) != 0 {
			t.Errorf("%s: P(%s) = %v, want that of the empty state, %v", ref.Name, s.Name, s.Probability.Exact, want)
		}
	}
}

func TestLikelyStatesTooMany(t *testing.T) {
	one := big.NewRat(1, 1)
	m := &network.Model{}
	for i := range 4 {
		m.Stations = append(m.Stations, network.Station{Name: fmt.Sprint("s", i), Discipline: network.Sharing})
	}
	for c := range 3 {
		k := network.Class{Name: fmt.Sprint("c", c), Population: 60}
		for i := range m.Stations {
			k.Visits = append(k.Visits, network.Visit{Station: i, Count: one, MeanSize: big.NewRat(int64(i+c+1), 1)})
		}
		m.Classes = append(m.Classes, k)
	}
	_, err := network.Answer(context.Background(), m, network.Question{States: 3}, network.Settings{Engine: num.Float})
	var large *num.TooLargeError
	if !errors.As(err, &large) || large.Input.Path != "States" {
		t.Fatalf("error %v", err)
	}
	ends := &network.Model{Stations: m.Stations[:2], Classes: []network.Class{{Name: "c", Population: 20,
		Visits: []network.Visit{{Station: 0, Count: one}, {Station: 1, Count: one}}}}}
	err = oracle.CheckEnds(func(ctx context.Context) error {
		_, err := network.Answer(ctx, ends, network.Question{States: 3}, network.Settings{Engine: num.Float})
		return err
	}, 10_000, 3)
	if err != nil {
		t.Fatal(err)
	}
}

// Classes of one queue that change into each other with routing probabilities form an
// order-independent queue with the effective arrival rates: the throughputs of visits solve the
// traffic equations, and jobs and states match package oiqueue.
func TestRoutingWithinAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		rank := make([]*big.Rat, 1<<n)
		rank[0] = new(big.Rat)
		s := network.Station{Name: "s", Discipline: network.Order}
		for set := 1; set < len(rank); set++ {
			var classes []int
			for i := range n {
				if set>>i&1 == 1 {
					classes = append(classes, i)
				}
			}
			rank[set] = big.NewRat(int64(len(classes))+rapid.Int64Range(0, 1).Draw(t, "more"), 2)
			for _, i := range classes {
				if before := rank[set&^(1<<i)]; before.Cmp(rank[set]) > 0 {
					rank[set] = before
				}
			}
			s.Rank = append(s.Rank, network.SetRate{Classes: classes, Rate: rank[set]})
		}
		r := oiqueue.Routing{}
		m := &network.Model{Stations: []network.Station{s}}
		for i := range n {
			r.External = append(r.External, big.NewRat(rapid.Int64Range(1, 4).Draw(t, "rate"), int64(100*n)))
			row, left := make([]*big.Rat, n), int64(10) // a job leaves with probability at least 1/10
			var next []network.Branch
			for j := range n {
				p := rapid.Int64Range(0, left-1).Draw(t, "probability")
				left -= p
				row[j] = big.NewRat(p, 10)
				next = append(next, network.Branch{Class: j, Probability: row[j]})
			}
			r.Prob = append(r.Prob, row)
			next = append(next, network.Branch{Class: network.Leaves, Probability: big.NewRat(left, 10)})
			m.Classes = append(m.Classes, network.Class{Name: string(rune('a' + i)), ArrivalRate: r.External[i],
				Visits: []network.Visit{{Next: next}}})
		}
		q, err := oiqueue.Routed(ctx, &oiqueue.Queue{ArrivalRates: r.External, Rank: rank}, r)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := oiqueue.Stationary(ctx, q, oiqueue.Settings{Engine: num.Exact})
		found, solveErr := network.Answer(ctx, m, network.Question{States: 6}, network.Settings{Engine: num.Exact})
		if err != nil || solveErr != nil {
			if (err == nil) != (solveErr == nil) {
				t.Fatalf("the queue: %v; the network: %v", err, solveErr)
			}
			return
		}
		for i, v := range found.Stations[0].Visits {
			if v.Throughput.Exact.Cmp(q.ArrivalRates[i]) != 0 || v.MeanJobs.Exact.Cmp(exact.MeanJobs[i].Exact) != 0 {
				t.Fatalf("class %d: throughput %v and %v jobs, want %v and %v", i, v.Throughput.Exact, v.MeanJobs.Exact,
					q.ArrivalRates[i], exact.MeanJobs[i].Exact)
			}
		}
		for _, state := range found.LikelyStates {
			x := make([]int, n)
			for _, j := range state.Jobs {
				x[j.Class] = j.Jobs
			}
			p, err := oiqueue.AggregateMeasure(ctx, q, x)
			if err != nil {
				t.Fatal(err)
			}
			if p.Quo(p, exact.Normalization.Exact).Cmp(state.Probability.Exact) != 0 {
				t.Fatalf("P(%s) = %v, of the queue %v", state.Name, state.Probability.Exact, p)
			}
			rates, err := oiqueue.Allocation(ctx, q, x)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range state.Jobs {
				if rates[j.Class].Cmp(j.DepartureRate.Exact) != 0 {
					t.Fatalf("%s: class %s leaves at rate %v, of the queue %v",
						state.Name, j.Name, j.DepartureRate.Exact,
						rates[j.Class])
				}
			}
		}
	})
}

// The states for several populations match those of each model alone.
func TestLikelyStatesOfASweep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTotals(t, rapid.Bool().Draw(t, "open"))
		most := int64(m.Classes[0].Population)
		question, settings := network.Question{States: 5}, network.Settings{Engine: num.Float}
		change := network.Change{Parameter: network.Population}
		for n := int64(1); n <= most; n++ {
			change.Values = append(change.Values, big.NewRat(n, 1))
		}
		list, err := network.Sweep(context.Background(), m, change, question, settings)
		if err != nil {
			t.Fatal(err)
		}
		for n, r := range list {
			m.Classes[0].Population = n + 1
			alone, err := network.Answer(context.Background(), m, question, settings)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.LikelyStates) != len(alone.LikelyStates) {
				t.Fatalf("%d states, %d alone", len(r.LikelyStates), len(alone.LikelyStates))
			}
			for k, s := range r.LikelyStates {
				if want := alone.LikelyStates[k].Probability.Float; !oracle.Near(s.Probability.Float, want, 1e-9) {
					t.Fatalf("population %d: state %d has probability %g, alone %g", n+1, k, s.Probability.Float, want)
				}
			}
		}
	})
}
