package loss_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/network"
	"productform/network/loss"
	"productform/num"
)

// Tokens form a closed network of two stations: the tokens at busy servers, and the free tokens,
// which leave when jobs arrive.
func TestTokensMatchClosedNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTokens(t)
		for s := range m.Servers { // each is used, since otherwise its tokens could not leave
			if !slices.ContainsFunc(m.Classes, func(c loss.Class) bool { return slices.Contains(c.Servers, s) }) {
				m.Classes[0].Servers = append(m.Classes[0].Servers, s)
			}
		}
		pair := &network.Model{Stations: []network.Station{
			{Name: "busy", Discipline: network.Order}, {Name: "free", Discipline: network.Order},
		}}
		for _, s := range m.Servers {
			pair.Stations[0].Nodes = append(pair.Stations[0].Nodes, network.Node{
				Name:     s.Name,
				Capacity: quo(s.Capacity, num.OrOne(m.Classes[0].MeanSize)),
			})
		}
		for _, c := range m.Classes {
			pair.Stations[1].Nodes = append(pair.Stations[1].Nodes, network.Node{Name: c.Name, Capacity: c.ArrivalRate})
		}
		for s, server := range m.Servers {
			var users []int
			for k, c := range m.Classes {
				if slices.Contains(c.Servers, s) {
					users = append(users, k)
				}
			}
			on := func(class, visit int) []network.Branch {
				return []network.Branch{{Class: class, Visit: visit, Probability: rat(1, 1)}}
			}
			pair.Classes = append(pair.Classes, network.Class{Name: server.Name, Population: server.Tokens,
				Visits: []network.Visit{
					{Station: 0, Nodes: []int{s}, Next: on(s, 1)}, {Station: 1, Nodes: users, Next: on(s, 0)},
				}})
		}
		want, err := network.Solve(ctx, pair, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		r := solve(t, m, num.Exact)
		for k := range m.Classes {
			equal(t, "blocking", r.Classes[k].Blocking, want.Stations[1].Nodes[k].ProbIdle.Exact)
		}
		for s := range m.Servers {
			equal(t, "jobs", *r.Servers[s].MeanJobs, want.Stations[0].Visits[s].MeanJobs.Exact)
			equal(t, "throughput", *r.Servers[s].Throughput, want.Stations[0].Visits[s].Throughput.Exact)
		}
	})
}

// Machines that fail and wait for repairmen are a closed network with think times. Their weights
// range from 1 to more than 1e308, more than 1e600, and far more: float64 keeps its precision in
// all ranges.
func TestMachineRepair(t *testing.T) {
	for _, machines := range []int{5, 200, 290, 3000} {
		m := &loss.Model{
			Count:   2,
			Classes: []loss.Class{{Name: "machine", Sources: machines, ArrivalRate: rat(3, 1), MeanSize: rat(2, 3)}},
		}
		closed := &network.Model{
			Stations: []network.Station{
				{Name: "up", Discipline: network.Delay}, {Name: "repair", Discipline: network.FCFS, Servers: 2},
			},
			Classes: []network.Class{{Name: "machine", Population: machines, Visits: []network.Visit{
				{Station: 0, MeanSize: rat(1, 3), Next: []network.Branch{{Class: 0, Visit: 1, Probability: rat(1, 1)}}},
				{Station: 1, MeanSize: rat(2, 3), Next: []network.Branch{{Class: 0, Visit: 0, Probability: rat(1, 1)}}},
			}}},
		}
		want, err := network.Solve(ctx, closed, network.Settings{Engine: num.Enclose})
		if err != nil {
			t.Fatal(err)
		}
		repair := want.Stations[1]
		for _, engine := range []num.Engine{num.Float, num.Enclose} {
			r := solve(t, m, engine)
			checkNear(t, "jobs", r.MeanJobs, repair.MeanJobs, r.RelativeErrorBound)
			checkNear(t, "throughput", r.Throughput, repair.Visits[0].Throughput, r.RelativeErrorBound)
			if machines < 100 { // otherwise it is below 2^-1022
				checkNear(t, "empty", *r.EmptyProbability, repair.ProbEmpty, r.RelativeErrorBound)
			}
			if !(r.RelativeErrorBound < 1e-10) {
				t.Errorf("%d machines, %s: bound %v", machines, engine, r.RelativeErrorBound)
			}
		}
	}
}

// checkNear checks a number against an enclosure.
func checkNear(t *testing.T, what string, got, want num.Value, bound float64) {
	t.Helper()
	e, ok := want.Interval()
	if !ok {
		t.Fatalf("%s: no bounds", what)
	}
	x := new(big.Rat).SetFloat64(got.Float)
	low, _ := e.Low.Rat(nil)
	high, _ := e.High.Rat(nil)
	room := mul(x, new(big.Rat).SetFloat64(2*bound))
	if low.Cmp(addUp(x, room)) > 0 || addUp(high, room).Cmp(x) < 0 {
		t.Errorf("%s %v, want in [%v, %v]", what, got.Float, want.Low, want.High)
	}
}
