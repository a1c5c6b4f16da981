package loss_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/network/loss"
	"productform/num"
)

// A row with a count gives the same numbers, to the last digit, as that many rows without a count.
func TestCountMatchesServersTypedSingly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTokens(t)
		single := &loss.Model{Classes: append([]loss.Class{}, m.Classes...)}
		var rows [][]int // rows of single servers, by row of m
		for s := range m.Servers {
			server := &m.Servers[s]
			server.Count = rapid.IntRange(0, 3).Draw(t, "count")
			var list []int
			for j := range server.Size() {
				list = append(list, len(single.Servers))
				single.Servers = append(single.Servers,
					loss.Server{Name: fmt.Sprint(server.Name, "-", j), Capacity: server.Capacity,
						Tokens: server.Tokens})
			}
			rows = append(rows, list)
		}
		for k, c := range m.Classes {
			single.Classes[k].Servers = nil
			for _, s := range c.Servers {
				single.Classes[k].Servers = append(single.Classes[k].Servers, rows[s]...)
			}
		}
		got, want := solve(t, m, num.Exact), solve(t, single, num.Exact)
		if len(got.Servers) != len(m.Servers) {
			t.Fatalf("%d rows of servers, want %d", len(got.Servers), len(m.Servers))
		}
		for s, list := range rows {
			for _, row := range list {
				equal(t, "utilization", got.Servers[s].Utilization, want.Servers[row].Utilization.Exact)
				equal(t, "mean jobs", *got.Servers[s].MeanJobs, want.Servers[row].MeanJobs.Exact)
				equal(t, "throughput", *got.Servers[s].Throughput, want.Servers[row].Throughput.Exact)
			}
		}
		for k := range m.Classes {
			equal(t, "blocking", got.Classes[k].Blocking, want.Classes[k].Blocking.Exact)
		}
		equal(t, "mean jobs of all", got.MeanJobs, want.MeanJobs.Exact)
		if diff := cmp.Diff(got.States, want.States); diff != "" {
			t.Error(diff)
		}
	})
}

// Agents with one token each lose calls of a single class according to Erlang's B formula.
func TestCountOfAgentsMatchesErlangB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(t, "agents")
		a := rat(rapid.Int64Range(1, 99).Draw(t, "load"), rapid.Int64Range(1, 20).Draw(t, "over"))
		m := &loss.Model{
			Servers: []loss.Server{{Name: "agents", Capacity: rat(1, 1), Tokens: 1, Count: n}},
			Classes: []loss.Class{{Name: "calls", ArrivalRate: a, Servers: []int{0}}},
		}
		equal(t, "blocking", solve(t, m, num.Exact).Classes[0].Blocking, literalB(n, a))
	})
}
