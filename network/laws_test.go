package network_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/network"
	"productform/num"
)

// With N machines and m repairers, P(n broken) is that of a birth-death chain, p_n = p_{n-1}
// (N-n+1)/z s/min(n, m).
func TestMachineRepair(t *testing.T) {
	testMachineRepair(t, 12, 3)
	testMachineRepair(t, 12, 8)
	testMachineRepair(t, 9, 20)
}

func testMachineRepair(t *testing.T, machines, repairers int) {
	up, repair := big.NewRat(7, 2), big.NewRat(5, 3)
	m := &network.Model{
		Stations: []network.Station{
			{Name: "up", Discipline: network.Delay}, {Name: "shop", Discipline: network.FCFS, Servers: repairers},
		},
		Classes: []network.Class{{Name: "machine", Population: machines, Visits: []network.Visit{
			{Station: 0, MeanSize: up, Next: []network.Branch{{Class: 0, Visit: 1, Probability: big.NewRat(1, 1)}}},
			{
				Station:  1,
				MeanSize: repair,
				Next:     []network.Branch{{Class: 0, Visit: 0, Probability: big.NewRat(1, 1)}},
			}}}},
	}
	r, err := network.Answer(t.Context(), m, network.Question{MaxJobs: machines}, network.Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	p := []*big.Rat{big.NewRat(1, 1)}
	sum, mean := big.NewRat(1, 1), new(big.Rat)
	for n := int64(1); n <= int64(machines); n++ {
		x := new(big.Rat).Mul(p[n-1], big.NewRat(int64(machines)-n+1, min(n, int64(repairers))))
		x.Mul(x, repair).Quo(x, up)
		p = append(p, x)
		sum.Add(sum, x)
		mean.Add(mean, new(big.Rat).Mul(x, big.NewRat(n, 1)))
	}
	for n, x := range p {
		want := new(big.Rat).Quo(x, sum)
		if got := r.Stations[1].JobsDistribution[n].Exact; got.Cmp(want) != 0 {
			t.Errorf("P(%d broken) = %v, want %v", n, got, want)
		}
		if got := r.Stations[0].JobsDistribution[machines-n].Exact; got.Cmp(want) != 0 {
			t.Errorf("P(%d up) = %v, want %v", machines-n, got, want)
		}
	}
	if got := r.Stations[1].MeanJobs.Exact; got.Cmp(mean.Quo(mean, sum)) != 0 {
		t.Errorf("%v broken, want %v", got, mean)
	}
}

// One open station is M/M/c: its numbers match Erlang's C and B and the mean delay, in fractions.
func TestErlang(t *testing.T) {
	for _, servers := range []int64{1, 2, 10, 60} {
		load := big.NewRat(9*servers, 10)
		m := &network.Model{
			Stations: []network.Station{{Name: "queue", Discipline: network.FCFS, Servers: int(servers)}},
			Classes: []network.Class{
				{
					Name:        "a",
					ArrivalRate: new(big.Rat).Quo(load, big.NewRat(3, 1)),
					Visits:      []network.Visit{{Station: 0}},
				},
				{
					Name:        "b",
					ArrivalRate: new(big.Rat).Quo(load, big.NewRat(3, 2)),
					Visits:      []network.Visit{{Station: 0}},
				},
			},
		}
		for c := range m.Classes {
			m.Classes[c].Visits[0].Next = []network.Branch{{Class: network.Leaves, Probability: big.NewRat(1, 1)}}
		}
		r, err := network.Answer(
			t.Context(), m, network.Question{MaxJobs: int(servers)}, network.Settings{Engine: num.Exact},
		)
		if err != nil {
			t.Fatal(err)
		}
		b := big.NewRat(1, 1) // Erlang's recursion
		for n := int64(1); n <= servers; n++ {
			x := new(big.Rat).Mul(load, b)
			b = x.Quo(x, new(big.Rat).Add(big.NewRat(n, 1), x))
		}
		rho := new(big.Rat).Quo(load, big.NewRat(servers, 1))
		c := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Mul(rho, new(big.Rat).Sub(big.NewRat(1, 1), b)))
		c.Quo(b, c)
		delay := new(big.Rat).Quo(c, new(big.Rat).Sub(big.NewRat(servers, 1), load))
		delay.Add(delay, big.NewRat(1, 1))
		for _, v := range r.Stations[0].Visits {
			if v.MeanDelay.Exact.Cmp(delay) != 0 {
				t.Errorf("%d servers: mean delay %v, want %v", servers, v.MeanDelay.Float, delay)
			}
		}
		free, upTo := new(big.Rat), new(big.Rat)
		for n, p := range r.Stations[0].JobsDistribution {
			if n < int(servers) {
				free.Add(free, p.Exact)
			}
			upTo.Add(upTo, p.Exact)
		}
		if free.Sub(big.NewRat(1, 1), free).Cmp(c) != 0 {
			t.Errorf("%d servers: P(wait) = %v, want %v", servers, free, c)
		}
		if got := new(big.Rat).Quo(r.Stations[0].JobsDistribution[servers].Exact, upTo); got.Cmp(b) != 0 {
			t.Errorf("%d servers: blocking %v, want %v", servers, got, b)
		}
		if r.Method != network.ClosedForm || r.Stations[0].Utilization.Exact.Cmp(rho) != 0 {
			t.Errorf("method %s, utilization %v", r.Method, r.Stations[0].Utilization.Exact)
		}
	}
}

// A job that moves in a closed network sees the network without that job: its mean delay at a
// station is σ Σ_n n/α(n) P(n-1 jobs, with one fewer job of its chain). Jobs of a chain add up to
// its population, and cycles take N/X.
func TestArrivalTheorem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTotals(t, false)
		r, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		for c := range m.Classes {
			jobs, cycle := new(big.Rat), new(big.Rat)
			var fewer *network.Result
			if m.Classes[c].Population > 1 {
				n := *m
				n.Classes = slices.Clone(m.Classes)
				n.Classes[c].Population--
				if fewer, err = network.Answer(t.Context(), &n, network.Question{MaxJobs: 6}, network.Settings{
					Engine: num.Exact,
				}); err != nil {
					t.Fatal(err)
				}
			} else if len(m.Classes) > 1 {
				n := *m
				n.Classes = slices.Delete(slices.Clone(m.Classes), c, c+1)
				if fewer, err = network.Answer(t.Context(), &n, network.Question{MaxJobs: 6}, network.Settings{
					Engine: num.Exact,
				}); err != nil {
					t.Fatal(err)
				}
			}
			for i, s := range r.Stations {
				for _, v := range s.Visits {
					if v.Class != c {
						continue
					}
					of := m.Classes[c].Visits[v.Visit]
					jobs.Add(jobs, v.MeanJobs.Exact)
					cycle.Add(cycle, new(big.Rat).Mul(v.MeanDelay.Exact, of.Count))
					want := new(big.Rat)
					if fewer == nil {
						want.Quo(of.MeanSize, alphaOf(m.Stations[i], 1))
					} else {
						for n, p := range fewer.Stations[i].JobsDistribution {
							term := new(big.Rat).Mul(p.Exact, big.NewRat(int64(n)+1, 1))
							want.Add(want, term.Quo(term, alphaOf(m.Stations[i], n+1)))
						}
						want.Mul(want, of.MeanSize)
					}
					if v.MeanDelay.Exact.Cmp(want) != 0 {
						t.Fatalf("station %d, class %d: mean delay %v, want %v", i, c, v.MeanDelay.Exact, want)
					}
				}
			}
			if jobs.Cmp(big.NewRat(int64(m.Classes[c].Population), 1)) != 0 ||
				cycle.Cmp(r.Chains[c].MeanDelay.Exact) != 0 {
				t.Fatalf("class %d: %v jobs, cycle %v, want %v", c, jobs, cycle, r.Chains[c].MeanDelay.Exact)
			}
		}
	})
}

// drawShared returns a closed network of one or two stations with nodes and up to two other
// stations.
func drawShared(t *rapid.T) *network.Model {
	m := &network.Model{}
	shared := rapid.IntRange(1, 2).Draw(t, "shared")
	for i := range shared {
		s := network.Station{
			Name:       fmt.Sprint("o", i),
			Discipline: rapid.SampledFrom([]network.Discipline{network.Order, network.Balanced}).Draw(t, "discipline"),
		}
		for n := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			s.Nodes = append(s.Nodes, network.Node{Name: fmt.Sprint("n", n), Capacity: drawFraction(t, "capacity")})
		}
		m.Stations = append(m.Stations, s)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "others") {
		s := network.Station{
			Name:       fmt.Sprint("t", i),
			Discipline: network.Sharing,
			Servers:    rapid.IntRange(1, 3).Draw(t, "servers"),
		}
		if rapid.Bool().Draw(t, "delay") {
			s = network.Station{Name: s.Name, Discipline: network.Delay}
		}
		m.Stations = append(m.Stations, s)
	}
	left := 4
	for c := range rapid.IntRange(1, 3).Draw(t, "classes") {
		if left == 0 {
			break
		}
		k := network.Class{Name: fmt.Sprint("c", c), Population: rapid.IntRange(1, left).Draw(t, "jobs")}
		left -= k.Population
		for i, s := range m.Stations {
			v := network.Visit{Station: i, Count: drawFraction(t, "count"), MeanSize: big.NewRat(2, 3)}
			for n := range s.Nodes {
				if n == c%len(s.Nodes) || rapid.Bool().Draw(t, "serves") {
					v.Nodes = append(v.Nodes, n)
				}
			}
			k.Visits = append(k.Visits, v)
		}
		m.Classes = append(m.Classes, k)
	}
	return m
}

// balance returns the balance function of a station for the given numbers of jobs by class; with
// nodes it uses Φ(x) = Σ_c Φ(x-e_c)/μ(x).
func balance(m *network.Model, i int, x []int) *big.Rat {
	s := m.Stations[i]
	total := 0
	for _, n := range x {
		total += n
	}
	if total == 0 {
		return big.NewRat(1, 1)
	}
	rate := new(big.Rat)
	if s.Nodes == nil {
		rate = alphaOf(s, total)
	}
	for n, node := range s.Nodes {
		for c := range x {
			if x[c] > 0 && slices.Contains(m.Classes[c].Visits[i].Nodes, n) {
				rate = new(big.Rat).Add(rate, node.Capacity)
				break
			}
		}
	}
	sum := new(big.Rat)
	for c := range x {
		if x[c] > 0 {
			x[c]--
			sum.Add(sum, balance(m, i, x))
			x[c]++
		}
	}
	return sum.Quo(sum, rate)
}

// Networks of order-independent stations match the sum over all states of their balance functions.
func TestSharedStationsMatchSumOverStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawShared(t)
		stations, classes := len(m.Stations), len(m.Classes)
		x := make([][]int, stations)
		jobs, empty, idle := make([][]*big.Rat, stations), make([]*big.Rat, stations), make([][]*big.Rat, stations)
		for i := range x {
			x[i] = make([]int, classes)
			empty[i] = new(big.Rat)
			for range classes {
				jobs[i] = append(jobs[i], new(big.Rat))
			}
			for range m.Stations[i].Nodes {
				idle[i] = append(idle[i], new(big.Rat))
			}
		}
		g := new(big.Rat)
		count := func() {
			w := big.NewRat(1, 1)
			for i := range x {
				w.Mul(w, balance(m, i, x[i]))
				for c, n := range x[i] {
					for range n {
						w.Mul(w, m.Classes[c].Visits[i].Count).Mul(w, m.Classes[c].Visits[i].MeanSize)
					}
				}
			}
			g.Add(g, w)
			for i := range x {
				none := true
				for c, n := range x[i] {
					jobs[i][c].Add(jobs[i][c], new(big.Rat).Mul(w, big.NewRat(int64(n), 1)))
					none = none && n == 0
				}
				if none {
					empty[i].Add(empty[i], w)
				}
				for n := range idle[i] {
					busy := slices.ContainsFunc(m.Classes, func(k network.Class) bool {
						return x[i][slices.IndexFunc(m.Classes, func(o network.Class) bool {
							return o.Name == k.Name
						})] > 0 && slices.Contains(k.Visits[i].Nodes, n)
					})
					if !busy {
						idle[i][n].Add(idle[i][n], w)
					}
				}
			}
		}
		var place func(c, i, left int)
		place = func(c, i, left int) {
			switch {
			case c == classes:
				count()
			case i == stations-1:
				x[i][c] = left
				if c+1 < classes {
					place(c+1, 0, m.Classes[c+1].Population)
				} else {
					place(c+1, 0, 0)
				}
			default:
				for n := 0; n <= left; n++ {
					x[i][c] = n
					place(c, i+1, left-n)
				}
			}
		}
		place(0, 0, m.Classes[0].Population)
		for _, engine := range []num.Engine{num.Exact, num.Float, num.Enclose} {
			r, err := network.Answer(t.Context(), m, network.Question{MaxJobs: 5}, network.Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			checkNames(t, m, r)
			for i, s := range r.Stations {
				checkNear(t, "empty", s.ProbEmpty, new(big.Rat).Quo(empty[i], g), r.RelativeErrorBound)
				if len(s.JobsDistribution) != 6 ||
					s.JobsDistribution[0].Float != s.ProbEmpty.Float && engine == num.Exact {
					t.Fatalf("distribution %v", s.JobsDistribution)
				}
				for _, v := range s.Visits {
					checkNear(t, "jobs", v.MeanJobs, new(big.Rat).Quo(jobs[i][v.Class], g), r.RelativeErrorBound)
				}
				for n, node := range s.Nodes {
					checkNear(t, "idle", node.ProbIdle, new(big.Rat).Quo(idle[i][n], g), r.RelativeErrorBound)
				}
			}
		}
	})
}

// One open station with nodes is a cluster under balanced fairness.
func TestOpenOrderStationMatchesCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &network.Model{Stations: []network.Station{{Name: "o", Discipline: network.Order}}}
		c := &cluster.Model{MeanSize: big.NewRat(1, 1)}
		total := new(big.Rat)
		for n := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			node := network.Node{Name: fmt.Sprint("n", n), Capacity: drawFraction(t, "capacity")}
			total.Add(total, node.Capacity)
			m.Stations[0].Nodes = append(m.Stations[0].Nodes, node)
			c.Servers = append(c.Servers, cluster.Server{Name: node.Name, Capacity: node.Capacity})
		}
		for k := range rapid.IntRange(1, 3).Draw(t, "classes") {
			v := network.Visit{
				Station: 0,
				Next:    []network.Branch{{Class: network.Leaves, Probability: big.NewRat(1, 1)}},
			}
			of := cluster.Class{Name: fmt.Sprint("c", k)}
			least := total
			for n, node := range m.Stations[0].Nodes {
				if n == k%len(m.Stations[0].Nodes) || rapid.Bool().Draw(t, "serves") {
					v.Nodes = append(v.Nodes, n)
					of.Servers = append(of.Servers, cluster.Choice{Server: n, Choose: 1})
				}
				if node.Capacity.Cmp(least) < 0 {
					least = node.Capacity
				}
			}
			of.ArrivalRate = new(big.Rat).Quo(least, big.NewRat(4, 1))
			c.Classes = append(c.Classes, of)
			m.Classes = append(m.Classes, network.Class{
				Name:        of.Name,
				ArrivalRate: of.ArrivalRate,
				Visits:      []network.Visit{v},
			})
		}
		got, err := network.Answer(t.Context(), m, network.Question{MaxJobs: 6}, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		want, err := bf.Answer(t.Context(), c, bf.Question{MaxJobs: 6}, bf.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		if got.Stations[0].ProbEmpty.Exact.Cmp(want.EmptyProbability.Exact) != 0 {
			t.Fatalf("empty %v, want %v", got.Stations[0].ProbEmpty.Exact, want.EmptyProbability.Exact)
		}
		for n, p := range want.JobsDistribution {
			if len(got.Stations[0].JobsDistribution) != 7 ||
				got.Stations[0].JobsDistribution[n].Exact.Cmp(p.Exact) != 0 {
				t.Fatalf("P(%d) of %v, want %v", n, got.Stations[0].JobsDistribution, p.Exact)
			}
		}
		for k, v := range got.Stations[0].Visits {
			if v.MeanJobs.Exact.Cmp(want.Classes[k].MeanJobs.Exact) != 0 {
				t.Fatalf("class %d: %v, want %v", k, v.MeanJobs.Exact, want.Classes[k].MeanJobs.Exact)
			}
		}
	})
}
