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
	"productform/stability"
)

func read(t testing.TB, text string) *network.Model {
	t.Helper()
	m, err := network.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// An open station with Order is stable if the queue with the same arrival rates and rank function
// is; package stability finds its critical scale and bottleneck from a table of all sets. With
// limits, the rank function is the total rate with very many jobs of each class.
func TestCriticalScaleMatchesQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "classes")
		m := &network.Model{Stations: []network.Station{{Name: "s", Discipline: network.Order}}}
		s := &m.Stations[0]
		rates := make([]*big.Rat, n)
		for c := range n {
			rates[c] = big.NewRat(int64(rapid.IntRange(0, 6).Draw(t, "rate")), 4)
			m.Classes = append(m.Classes, network.Class{Name: fmt.Sprint(c), ArrivalRate: rates[c],
				Visits: []network.Visit{{
					Next: []network.Branch{{Class: network.Leaves, Probability: big.NewRat(1, 1)}},
				}}})
		}
		rank := make([]*big.Rat, 1<<n)
		rank[0] = new(big.Rat)
		members := func(mask int) (set []int) {
			for c := range n {
				if mask>>c&1 == 1 {
					set = append(set, c)
				}
			}
			return set
		}
		switch rapid.IntRange(0, 2).Draw(t, "service") {
		case 0:
			nodes := rapid.IntRange(1, 3).Draw(t, "nodes")
			for k := range nodes {
				s.Nodes = append(s.Nodes, network.Node{
					Name:     fmt.Sprint(k),
					Capacity: big.NewRat(int64(rapid.IntRange(1, 4).Draw(t, "capacity")), 3),
				})
			}
			for c := range n {
				for k := range nodes {
					if k == c%nodes || rapid.Bool().Draw(t, "serves") {
						m.Classes[c].Visits[0].Nodes = append(m.Classes[c].Visits[0].Nodes, k)
					}
				}
			}
			for mask := range rank {
				rank[mask] = new(big.Rat)
				for k, node := range s.Nodes {
					if slices.ContainsFunc(
						members(mask), func(c int) bool { return slices.Contains(m.Classes[c].Visits[0].Nodes, k) },
					) {
						rank[mask].Add(rank[mask], node.Capacity)
					}
				}
			}
		case 1:
			s.Servers = rapid.IntRange(1, 3).Draw(t, "servers")
			limit := make([]int64, n)
			for c := range n { // MSCCC: each class has a limit
				limit[c] = int64(rapid.IntRange(1, 2).Draw(t, "most"))
				s.Limits = append(s.Limits, network.Limit{Classes: []int{c}, Most: int(limit[c])})
			}
			for mask := range rank {
				sum := int64(0)
				for _, c := range members(mask) {
					sum += limit[c]
				}
				rank[mask] = big.NewRat(min(sum, int64(s.Servers)), 1)
			}
		default:
			for mask := 1; mask < len(rank); mask++ {
				least := big.NewRat(1, 2)
				for c := range n {
					if b := rank[mask&^(1<<c)]; mask>>c&1 == 1 && b.Cmp(least) > 0 {
						least = b
					}
				}
				rank[mask] = new(big.Rat).Add(least, big.NewRat(int64(rapid.IntRange(0, 3).Draw(t, "more")), 4))
				s.Rank = append(s.Rank, network.SetRate{Classes: members(mask), Rate: rank[mask]})
			}
		}
		want, err := stability.Rank(context.Background(), rates, rank)
		if err != nil {
			t.Fatal(err)
		}
		got, err := network.CheckStability(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		if got.Stable != want.Stable || (got.CriticalScale == nil) != (want.CriticalScale == nil) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		if want.CriticalScale == nil {
			return
		}
		load := got.Stations[0]
		attained := new(big.Rat).Quo(load.Capacity, load.Work)
		work, mask := new(big.Rat), 0
		for _, c := range load.Bottleneck {
			work.Add(work, rates[c])
			mask |= 1 << c
		}
		if got.CriticalScale.Cmp(want.CriticalScale) != 0 || attained.Cmp(want.CriticalScale) != 0 ||
			work.Cmp(load.Work) != 0 || rank[mask].Cmp(load.Capacity) != 0 {
			t.Fatalf("%+v, want %+v", load, want)
		}
	})
}

// A mixed network has the expected bottleneck, saturation of closed chains, and error if unstable.
// Open jobs of size 2 leave half of the cpu's rate of 4, so closed cycles with work 3/2 there are
// limited to 2/(3/2) = 4/3. The disk also limits them to 1/(3/4) = 4/3, and the first station
// counts. At the station with Order the rate is 1 for both classes, of which 1/2 is left.
func TestStabilityOfMixedNetworks(t *testing.T) {
	const text = `
stations:
  - {name: think, discipline: delay}
  - {name: cpu, discipline: sharing, servers: 4}
  - {name: disk, discipline: fcfs}
  - {name: pool, discipline: order, nodes: [{name: n1, capacity: 1}, {name: n2, capacity: 3}]}
classes:
  - {name: user, population: 5, visits: [{station: think, visits: 1}, {station: cpu, mean_size: 1.5, visits: 1},
      {station: disk, mean_size: 0.75, visits: 1}]}
  - {name: batch, population: 2, visits: [{station: pool, nodes: [n1], visits: 2}]}
  - {name: idle, population: 2, visits: [{station: think, visits: 2}]}
  - {name: web, arrival_rate: 1, visits: [{station: cpu, mean_size: 2, next: {pool: 0.5, out: 0.5}},
      {station: pool, nodes: [n1, n2], next: {pool/again: 1}}]}
  - {name: again, visits: [{station: pool, nodes: [n1], next: {out: 1}}]}
`
	m := read(t, text)
	r, err := network.CheckStability(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%v %v %d;", r.Stable, r.CriticalScale, r.Critical)
	for _, l := range r.Stations {
		got += fmt.Sprintf(" %v %v %v/%v;", l.CriticalScale, l.Bottleneck, l.Capacity, l.Work)
	}
	for _, c := range r.Chains {
		got += fmt.Sprintf(" %v %v at %d %v;", c.Classes, c.Throughput, c.Station, c.Bottleneck)
	}
	const want = "true 2/1 1; <nil> [] <nil>/<nil>; 2/1 [3] 4/1/2/1; <nil> [] <nil>/<nil>; 2/1 [4] 1/1/1/2;" +
		" [0] 4/3 at 1 [0 3]; [1] 1/4 at 3 [1 4]; [2] <nil> at -1 [];"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	fast := m.Scale(big.NewRat(2, 1))
	if r, err = network.CheckStability(context.Background(), fast); err != nil || r.Stable ||
		r.CriticalScale.Cmp(big.NewRat(1, 1)) != 0 || r.Chains != nil {
		t.Fatalf("%+v %v", r, err)
	}
	_, err = network.Solve(context.Background(), fast, network.Settings{})
	var unstable *network.UnstableError
	if !errors.As(err, &unstable) || !errors.Is(err, num.ErrUnstable) || unstable.Station != 1 ||
		unstable.Work.Cmp(unstable.Capacity) != 0 {
		t.Fatal(err)
	}
	if want := "unstable: work arrives at least as fast as it can be done: " +
		`classes [3] bring 4 units of work per unit of time to station "cpu", which can do 4 for them`; err.Error() !=
		want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// As populations grow, throughput approaches the saturation from below.
func TestThroughputApproachesSaturation(t *testing.T) {
	m := read(t, `
stations:
  - {name: cpu, discipline: fcfs, servers: 2}
  - {name: pool, discipline: order, servers: 3, limits: [{classes: [user], most: 1}]}
classes:
  - {name: user, population: 40, visits: [{station: cpu, visits: 1}, {station: pool, visits: 2}]}
  - {name: batch, population: 2, visits: [{station: cpu, visits: 1}, {station: pool, visits: 1}]}
  - {name: web, arrival_rate: 1/2, visits: [{station: cpu, visits: 1}, {station: pool, visits: 1}]}
`)
	s, err := network.CheckStability(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	before := new(big.Rat)
	for _, n := range []int{1, 5, 40} {
		m.Classes[0].Population = n
		r, err := network.Solve(context.Background(), m, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		x := r.Chains[0].Throughput.Exact
		if limit := s.Chains[0].Throughput; x.Cmp(before) <= 0 || x.Cmp(limit) >= 0 ||
			n == 40 && new(big.Rat).Quo(x, limit).Cmp(big.NewRat(999, 1000)) < 0 {
			t.Errorf("throughput %v of %d users, %v before, limit %v", x, n, before, limit)
		}
		before = x
	}
}

func TestCheckStabilityEnds(t *testing.T) {
	m := read(t, `
stations: [{name: pool, discipline: order, nodes: [{name: a, capacity: 1}, {name: b, capacity: 2}]}]
classes:
  - {name: x, arrival_rate: 1/2, visits: [{station: pool, nodes: [a], next: {out: 1}}]}
  - {name: y, arrival_rate: 1/2, visits: [{station: pool, nodes: [a, b], next: {out: 0.9, pool: 0.1}}]}
  - {name: z, population: 3, visits: [{station: pool, nodes: [b], visits: 1}]}
`)
	err := oracle.CheckEnds(func(ctx context.Context) error {
		_, err := network.CheckStability(ctx, m)
		return err
	}, 1000, 3)
	if err != nil {
		t.Fatal(err)
	}
}

// Stations, chains and visits in results have the names of the model.
func TestNamesInResults(t *testing.T) {
	one := big.NewRat(1, 1)
	m := &network.Model{
		Stations: []network.Station{
			{Name: "think", Discipline: network.Delay}, {Name: "cpu", Discipline: network.FCFS},
		},
		Classes: []network.Class{
			{Name: "user", Population: 3, Visits: []network.Visit{{Station: 0, Count: one}, {Station: 1, Count: one}}},
			{Name: "mail", ArrivalRate: big.NewRat(1, 2), Visits: []network.Visit{{Station: 1, Count: one}}},
		},
	}
	r, err := network.CheckStability(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if r.Stations[0].Name != "think" || r.Stations[1].Name != "cpu" {
		t.Errorf("stations %+v", r.Stations)
	}
	if c := r.Chains[0]; !slices.Equal(c.Names, []string{"user"}) || c.Name != "cpu" {
		t.Errorf("chain %+v", c)
	}
	visits, err := network.Delays(
		t.Context(), m, network.DelayQuestion{Station: 1, Levels: []*big.Rat{big.NewRat(1, 2)}}, network.Settings{},
	)
	if err != nil || len(visits) != 2 || visits[0].Name != "user" || visits[1].Name != "mail" {
		t.Errorf("visits %+v, %v", visits, err)
	}
}
