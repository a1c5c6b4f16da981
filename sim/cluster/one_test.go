package cluster

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/stability"
)

// Policies of the other service, unknown ones and bad parameters are rejected, with the valid
// names.
func TestOnePolicies(t *testing.T) {
	if names := PolicyNames(""); !slices.Equal(names, []string{"fcfs", "interrupt", "ps"}) {
		t.Error(names)
	}
	names := PolicyNames(cluster.OneServer)
	if len(names) != len(onePolicies)+1 || names[0] != "longest-idle" || names[len(names)-1] != "power:D" {
		t.Error(names)
	}
	m := pool(2, "1")
	for _, c := range []struct {
		cluster Cluster
		want    string
	}{
		{
			Cluster{Policy: FCFS},
			`Policy = fcfs: want one of longest-idle, fastest-idle, random-idle, jsq, least-work, ` +
				`priority, preemptive-priority, power:D with service one`,
		},
		{
			Cluster{Policy: "prioritiy"},
			`Policy = prioritiy: want one of longest-idle, fastest-idle, random-idle, jsq, ` +
				`least-work, priority, preemptive-priority, power:D with service one; did you mean priority?`,
		},
		{Cluster{Policy: "power:0"}, `Policy = power:0: want power:D, D an integer from 1 to 1048576`},
		{Cluster{Policy: "power:02"}, `Policy = power:02: want power:D, D an integer from 1 to 1048576`},
		{Cluster{Policy: JSQ, Interruptions: 2}, `Interruptions = 2: want 0 with the policy jsq`},
	} {
		c.cluster.Model = m
		if _, err := c.cluster.Describe(t.Context(), sim.Observation{}); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	all := *m
	all.Service = cluster.AllServers
	_, err := Cluster{Model: &all, Policy: JSQ}.Describe(t.Context(), sim.Observation{})
	if want := "Policy = jsq: want fcfs, interrupt or ps with service all"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if d, err := (Cluster{Model: m}).Describe(t.Context(), sim.Observation{}); err != nil ||
		d.Identity[3] != LongestIdle {
		t.Errorf("%+v, %v", d, err)
	}
}

// If jobs compare d servers, the cluster is stable if and only if that of all combinations is.
func TestPowerStability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawOne(t, oracle.Options{Servers: 3, Classes: 3, Count: 3, OwnSizes: true})
		d := rapid.IntRange(1, 4).Draw(t, "d")
		single, _, _, err := m.Expand(1000)
		if err != nil {
			t.Fatal(err)
		}
		combinations := *single
		combinations.Classes = nil
		for i, class := range single.Classes {
			servers := class.Servers
			var some [][]cluster.Choice
			for _, set := range oracle.Subsets(len(servers)) {
				if len(set) == min(d, len(servers)) {
					var list []cluster.Choice
					for _, k := range set {
						list = append(list, servers[k])
					}
					some = append(some, list)
				}
			}
			for k, list := range some {
				one := class
				one.Name, one.Servers = fmt.Sprint(i, " ", k), list
				one.ArrivalRate = new(big.Rat).Quo(class.ArrivalRate, big.NewRat(int64(len(some)), 1))
				combinations.Classes = append(combinations.Classes, one)
			}
		}
		want, err := stability.Cluster(t.Context(), &combinations)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Cluster{Model: m, Policy: Power(d)}.Describe(t.Context(), sim.Observation{})
		if errors.Is(err, num.ErrUnstable) == want.Stable || err != nil && want.Stable {
			t.Errorf("%v, but stable is %v", err, want.Stable)
		}
	})
}

// The error names the classes that overload servers only because they compare too few.
func TestPowerUnstable(t *testing.T) {
	m, err := cluster.Read(strings.NewReader(`
servers: [{name: fast, capacity: 3}, {name: slow, capacity: 1, count: 2}]
classes: [{name: web, arrival_rate: 3.5, servers: [fast, slow]}, {name: other, arrival_rate: 0.1, servers: [fast]}]
service: one
`))
	if err != nil {
		t.Fatal(err)
	}
	var unstable *cluster.UnstableError
	_, err = Cluster{Model: m, Policy: Power(1)}.Describe(t.Context(), sim.Observation{})
	if !errors.As(err, &unstable) || !slices.Equal(unstable.Names, []string{"web"}) ||
		unstable.ArrivalRate.Cmp(big.NewRat(7, 3)) != 0 || unstable.Capacity.Cmp(big.NewRat(2, 1)) != 0 {
		t.Errorf("%+v", err)
	}
	for _, policy := range []Policy{JSQ, Power(2), Power(3)} {
		if _, err := (Cluster{Model: m, Policy: policy}).Describe(t.Context(), sim.Observation{}); err != nil {
			t.Errorf("%s: %v", policy, err)
		}
	}
	many := &cluster.Model{Service: cluster.OneServer}
	for range 60 {
		many.Servers = append(many.Servers, cluster.Server{
			Name:     fmt.Sprint(len(many.Servers)),
			Capacity: big.NewRat(1, 1),
		})
	}
	var all []int
	for s := range many.Servers {
		all = append(all, s)
	}
	many.Classes = []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(30, 1), Servers: cluster.On(all...)}}
	var bad *input.Error
	if _, err := (Cluster{Model: many, Policy: Power(5)}).Describe(t.Context(), sim.Observation{}); !errors.As(err,
		&bad) ||
		bad.Path != "Policy" {
		t.Errorf("5 of 60 rows: %v", err)
	}
	if _, err := (Cluster{Model: many, Policy: Power(2)}).Describe(t.Context(), sim.Observation{}); err != nil {
		t.Errorf("2 of 60 rows: %v", err)
	}
}

// A cluster with capacity for all work may still be unstable with priorities: server 2 serves the
// first class although server 1 is idle. In the limit the first class, a chain on two servers,
// leaves 2.05/7 of server 2. Such runs warn.
func TestPrioritiesMayOverload(t *testing.T) {
	m, err := cluster.Read(strings.NewReader(`
servers: [{name: s1, capacity: 1}, {name: s2, capacity: 1}]
classes:
- {name: first, arrival_rate: 1.5, servers: [s1, s2], priority: 1}
- {name: last, arrival_rate: 0.4, servers: [s2]}
service: one
`))
	if err != nil {
		t.Fatal(err)
	}
	s := sim.Settings{Runs: 5, Jumps: 1e5, WarmUp: 2e4, Seed: 1}
	r := simtest.Run(t, Cluster{Model: m, Policy: PreemptivePriority}, s)
	if len(r.Warnings) == 0 || r.Class(1, sim.MeanJobs).Mean < 1000 {
		t.Errorf("%v jobs, warnings %q", r.Class(1, sim.MeanJobs), r.Warnings)
	}
	if r := simtest.Run(t, Cluster{Model: m}, s); r.Class(1, sim.MeanJobs).Mean > 100 {
		t.Errorf("%v jobs without priorities", r.Class(1, sim.MeanJobs))
	}
}

// Over a horizon an unstable cluster is simulated, without the means of Little's law.
func TestOneOverHorizon(t *testing.T) {
	m := pool(2, "1.5", "1")
	if _, err := (Cluster{Model: m}).Describe(t.Context(), sim.Observation{}); !errors.Is(err, num.ErrUnstable) {
		t.Error(err)
	}
	r := simtest.Run(t, Cluster{Model: m}, sim.Settings{Runs: 4, Horizon: 1000})
	if r.All(MeanWaiting) != nil || r.All(MeasuredWaiting) == nil || r.All(MeanQueue) == nil {
		t.Errorf("%+v", r.Measures)
	}
}

// An event allocates nothing.
func TestOneAllocatesNothing(t *testing.T) {
	m := simtest.RandomAssignment(10, 9, big.NewRat(9, 10))
	m.Service = cluster.OneServer
	for _, policy := range everyOnePolicy() {
		p, err := sim.NewPlan(t.Context(), Cluster{Model: m, Policy: policy}, sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e, seen := p.Start(t.Context(), sim.NewStream([32]byte{1})), p.NewTotals()
		advance := func(jumps float64) {
			if err := e.Advance(jumps/p.JumpRate, seen); err != nil {
				t.Fatal(err)
			}
		}
		advance(1e5)
		if n := testing.AllocsPerRun(10, func() { advance(1000) }); n >= 1 {
			t.Errorf("%s: %v allocations per 1000 events", policy, n)
		}
	}
}

// Warnings about quantiles tell waiting times from delays.
func TestOneWarnings(t *testing.T) {
	r := simtest.Run(t, Cluster{Model: pool(4, "3.8")}, sim.Settings{
		Runs: 4, Jumps: 2000, Seed: 1, Levels: []float64{0.5},
	})
	if list := strings.Join(r.Warnings, "\n"); !strings.Contains(list, "class c0: percentile 50 of waiting times: ") {
		t.Error(list)
	}
	if of := r.Visits; len(of) != 2 || of[0].Name != "class c0" || of[1].Name != "all jobs" {
		t.Errorf("visits %+v", of)
	}
}
