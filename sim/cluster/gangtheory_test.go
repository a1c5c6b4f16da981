package cluster

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/dispatch/rigid"
	"productform/network/loss"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// gangOf returns a cluster of equal servers with a class for each need, which arrives at the rate of
// the same index.
func gangOf(servers int, needs []int, rates ...string) *cluster.Model {
	m := &cluster.Model{Servers: []cluster.Server{{Name: "s", Count: servers}}, Service: cluster.Gang}
	for i, rate := range simtest.Rationals(rates...) {
		m.Classes = append(m.Classes, cluster.Class{
			Name: fmt.Sprint("c", i), ArrivalRate: rate, Needs: []cluster.Choice{{Server: 0, Choose: needs[i]}},
		})
	}
	return m
}

// If each job needs one server, every policy gives the queue M/M/m, with Erlang's formula C.
func TestGangMatchesErlangC(t *testing.T) {
	t.Parallel()
	const servers, lambda = 4, 3.2
	erlang, err := loss.ErlangC(t.Context(), servers, big.NewRat(16, 5), loss.FormulaSettings{})
	if err != nil {
		t.Fatal(err)
	}
	c := erlang.Float
	levels := []float64{0.9}
	for _, policy := range gangPolicies {
		system := Cluster{Model: gangOf(servers, []int{1, 1}, "2", "1.2"), Policy: policy}
		r := simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 4e3, WarmUp: 1e3, Seed: 3, Levels: levels})
		near := func(what string, e *sim.Estimate, exact float64) {
			t.Helper()
			simtest.Near(t, string(policy)+": "+what, e, exact)
		}
		near("mean queue", r.All(MeanQueue), c*lambda/(servers-lambda))
		near("mean busy", r.Server(0, MeanBusy), lambda)
		for i := range system.Model.Classes {
			near("wait probability", r.Class(i, WaitProbability), c)
			near("mean waiting", r.Class(i, MeanWaiting), c/(servers-lambda))
			near("measured waiting", r.Class(i, MeasuredWaiting), c/(servers-lambda))
			near("mean delay", r.Class(i, sim.MeanDelay), 1+c/(servers-lambda))
		}
		q, exact := r.Quantile(sim.OfVisit, 2, levels[0]), math.Log(c/(1-levels[0]))/(servers-lambda)
		if z := q.Z(exact); !(math.Abs(z) < 5.5) { // a standard normal variable exceeds this with probability 4e-8
			t.Errorf("%s: percentile %v, want %v", policy, q, exact)
		}
	}
}

// If each job needs one server, the run under FCFS, FirstFit, MostServersFirst and ServerFilling is
// that of one server per job, M/G/m, on the same random numbers.
func TestGangOfOneMatchesOneServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 5).Draw(t, "servers")
		shape := rapid.SampledFrom([]string{"exponential", "pareto:1.5", "lognormal:4"}).Draw(t, "sizes")
		jobSizes, err := sizes.Parse(shape, 1)
		if err != nil {
			t.Fatal(err)
		}
		one, many := pool(servers, "1.2", "0.9", "0"), gangOf(servers, []int{1, 1, 1}, "1.2", "0.9", "0")
		one.Classes[1].MeanSize, many.Classes[1].MeanSize = big.NewRat(3, 2), big.NewRat(3, 2)
		policy := rapid.SampledFrom([]Policy{FCFS, FirstFit, MostServersFirst, ServerFilling}).Draw(t, "policy")
		key := [32]byte{rapid.Byte().Draw(t, "key")}
		var totals []*sim.Totals
		for _, c := range []Cluster{
			{Model: one, Sizes: jobSizes}, {Model: many, Sizes: jobSizes, Policy: policy},
		} {
			p, err := sim.NewPlan(t.Context(), c, sim.Settings{Horizon: 1})
			if err != nil {
				t.Fatal(err)
			}
			seen, e := p.NewTotals(), p.Start(t.Context(), sim.NewStream(key))
			for range 5 {
				if err := e.Advance(100, seen); err != nil {
					t.Fatal(err)
				}
			}
			totals = append(totals, seen)
		}
		simtest.CompareTotals(t, totals[1], totals[0])
	})
}

// If each job needs all servers, there is one queue M/G/1, whose mean wait is that of Pollaczek and
// Khinchine.
func TestGangOfAllMatchesPollaczekKhinchine(t *testing.T) {
	t.Parallel()
	for _, policy := range gangPolicies {
		for shape, scv := range map[string]float64{"exponential": 1, "deterministic": 0, "erlang:4": 0.25} {
			system := Cluster{Model: gangOf(8, []int{8}, "0.6"), Sizes: simtest.Sizes(t, shape, 1), Policy: policy}
			r := simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 4e3, WarmUp: 1e3, Seed: 5})
			simtest.Near(t, fmt.Sprint(policy, " ", shape), r.All(MeanWaiting), 0.6*(1+scv)/2/(1-0.6))
			simtest.Near(t, fmt.Sprint(policy, " ", shape), r.Server(0, sim.Utilization), 0.6)
		}
	}
}

// Work is done at the rate at which it arrives, under every policy and for several resources: the mean
// number of busy servers is Σ λ_k w_k σ_k.
func TestGangBalancesWork(t *testing.T) {
	t.Parallel()
	for _, policy := range gangPolicies {
		m := gangOf(8, []int{1, 4, 8}, "1", "0.3", "0.1")
		m.Classes[1].MeanSize = big.NewRat(2, 1)
		busy := []float64{1 + 0.3*4*2 + 0.1*8}
		if policy == FCFS || policy == FirstFit {
			m.Servers = append(m.Servers, cluster.Server{Name: "memory", Count: 100})
			m.Classes[0].Needs = append(m.Classes[0].Needs, cluster.Choice{Server: 1, Choose: 30})
			m.Classes[2].Needs = []cluster.Choice{{Server: 1, Choose: 70}}
			busy = []float64{1 + 0.3*4*2, 30 + 0.1*70}
		}
		for _, shape := range []string{"exponential", "lognormal:2"} {
			system := Cluster{Model: m, Sizes: simtest.Sizes(t, shape, 1), Policy: policy}
			if policy.HasRequests() {
				system.Requests = rigid.Requests{Factor: 5, Uniform: true}
			}
			r := simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 8e3, WarmUp: 2e3, Seed: 7})
			for row, want := range busy {
				simtest.Near(t, fmt.Sprint(policy, " ", shape), r.Server(row, MeanBusy), want)
			}
		}
	}
}

// ServerFilling carries 98 % of the load at which no policy is stable: its servers do all the work.
// FCFS does not if some jobs need all servers and others one.
func TestServerFillingCarriesFullLoad(t *testing.T) {
	t.Parallel()
	for seed := range 6 {
		servers := 4 << (seed % 3)
		needs := []int{1, servers, 2, servers / 2}[:2+seed/2]
		m := gangOf(servers, needs, []string{"1", "1", "1", "1"}[:len(needs)]...)
		for i, n := range needs { // equal loads of 0.98 in total, some of few long jobs
			m.Classes[i].MeanSize = big.NewRat(int64(1+(seed+i)%3), 2)
			m.Classes[i].ArrivalRate = big.NewRat(int64(98*servers), int64(100*len(needs)*n))
			m.Classes[i].ArrivalRate.Quo(m.Classes[i].ArrivalRate, m.Classes[i].MeanSize)
		}
		limit := m.LimitOfWork()
		if got := num.Nearest(new(big.Rat).Quo(limit.ArrivalRate, limit.Limit)); math.Abs(got-0.98) > 1e-12 {
			t.Fatalf("load %v, want 0.98", got)
		}
		s := sim.Settings{Runs: 10, Jumps: 2e4, WarmUp: 4e3, Seed: uint64(seed)}
		r := simtest.Run(t, Cluster{Model: m, Policy: ServerFilling}, s)
		simtest.Near(t, fmt.Sprint("server-filling ", needs), r.Server(0, sim.Utilization), 0.98)
		fcfs := simtest.Run(t, Cluster{Model: m, Policy: FCFS}, s)
		warns := func(r *sim.Result) bool {
			return slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "looks unstable") })
		}
		if u := fcfs.Server(0, sim.Utilization); !(u.Z(0.98) < -6) || !warns(fcfs) || warns(r) {
			t.Errorf("%v of %d servers: utilization %v under FCFS, warnings %q and, under server-filling, %q",
				needs, servers, u, fcfs.Warnings, r.Warnings)
		}
	}
}

// The contract of package sim holds under every policy, and so do the digits.
func TestGangConforms(t *testing.T) {
	golden := map[Policy]float64{
		FCFS: 15.862694248240404, FirstFit: 6.9971857628876917, EASY: 4.5753730509697368,
		Conservative: 7.3719714308156572, MostServersFirst: 4.118381541305328, ServerFilling: 3.9000871775357564,
	}
	for k, policy := range gangPolicies {
		m := gangOf(8, []int{1, 4, 8}, "1.5", "0.3", "0.1")
		m.Classes[1].MeanSize = big.NewRat(3, 2)
		shape := []string{"exponential", "lognormal:2", "deterministic"}[k%3]
		c := Cluster{Model: m, Sizes: simtest.Sizes(t, shape, 1), Policy: policy}
		if policy == EASY {
			c.Requests = rigid.Requests{Factor: 4, Uniform: true}
		}
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			simtest.Conforms(t, c)
			simtest.Golden(t, c, golden[policy])
		})
	}
}

// Policies without reservations allocate nothing once they have had as many jobs as they get.
func TestGangAllocates(t *testing.T) {
	for _, policy := range []Policy{FCFS, FirstFit, MostServersFirst, ServerFilling} {
		p, err := sim.NewPlan(t.Context(), Cluster{Model: gangOf(8, []int{1, 4, 8}, "1", "0.2", "0.1"), Policy: policy},
			sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e, seen := p.Start(t.Context(), sim.NewStream([32]byte{1})), p.NewTotals()
		advance := func() {
			if err := e.Advance(1000, seen); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 { // the run is deterministic, so no later part has more jobs
			advance()
		}
		if n := testing.AllocsPerRun(20, advance); n > 0 {
			t.Errorf("%s: %v allocations", policy, n)
		}
	}
}

func TestGangRejects(t *testing.T) {
	good := gangOf(8, []int{1, 4}, "1", "0.2")
	three, two := gangOf(8, []int{1, 3}, "1", "0.2"), gangOf(8, []int{1, 4}, "1", "0.2")
	six := gangOf(6, []int{1, 4}, "1", "0.2")
	two.Servers = append(two.Servers, cluster.Server{Name: "memory", Count: 9})
	two.Classes[1].Needs = []cluster.Choice{{Server: 0, Choose: 4}, {Server: 1, Choose: 2}}
	exact := rigid.Requests{Factor: 1}
	const several = ": want fcfs or first-fit for several resources, here \"s\" and \"memory\"; the other policies " +
		"need one row of servers"
	const powers = "Policy = server-filling: want a policy other than server-filling, which requires needs that are " +
		"powers of two and divide the number of servers, "
	for _, c := range []struct {
		cluster Cluster
		want    string
	}{
		{Cluster{Model: good, Policy: "esay"}, "Policy = esay: want one of fcfs, first-fit, easy, conservative, " +
			"most-servers-first, server-filling with service gang; did you mean easy?"},
		{Cluster{Model: good, Policy: JSQ}, "Policy = jsq: want one of fcfs, first-fit, easy, conservative, " +
			"most-servers-first, server-filling with service gang"},
		{Cluster{Model: pool(2, "1"), Policy: EASY}, "Policy = easy: want one of longest-idle, fastest-idle, " +
			"random-idle, jsq, least-work, priority, preemptive-priority, power:D with service one"},
		{Cluster{Model: good, Interruptions: 2}, "Interruptions = 2: want 0 with the policy fcfs"},
		{Cluster{Model: three, Policy: ServerFilling}, powers + "8: class \"c1\" needs 3"},
		{Cluster{Model: six, Policy: ServerFilling}, powers + "6: class \"c1\" needs 4"},
		{Cluster{Model: two, Policy: EASY}, "Policy = easy" + several},
		{Cluster{Model: two, Policy: ServerFilling}, "Policy = server-filling" + several},
		{Cluster{Model: good, Policy: EASY, Requests: rigid.Requests{Factor: 0.5}},
			"Requests.Factor = 0.5: want a number in [1, 1e50], or 0 for 1"},
		{Cluster{Model: good, Requests: exact}, "Requests = {Factor:1 Uniform:false Seed:0}: want none, except under " +
			"the policies easy and conservative with service gang"},
		{Cluster{Model: pool(2, "1"), Requests: exact}, "Requests = {Factor:1 Uniform:false Seed:0}: want none, " +
			"except under the policies easy and conservative with service gang"},
		{Cluster{Model: gangOf(8, []int{1, 4}, "0", "0")}, "Model.classes = arrival rates that are all 0: want a " +
			"class with an arrival rate > 0"},
	} {
		if _, err := c.cluster.Describe(t.Context(), sim.Observation{}); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if names := PolicyNames(cluster.Gang); !slices.Equal(names, strings.Fields(
		"fcfs first-fit easy conservative most-servers-first server-filling")) {
		t.Error(names)
	}
}

// At the work-conserving limit no policy is stable. Classes that do not need the scarcest row are not
// to blame.
func TestGangUnstable(t *testing.T) {
	m := gangOf(8, []int{1, 4, 2}, "4", "1", "1")
	m.Servers = append(m.Servers, cluster.Server{Name: "memory", Count: 100})
	m.Classes[2].Needs[0].Server = 1
	_, err := sim.NewPlan(t.Context(), Cluster{Model: m}, sim.Settings{})
	var unstable *cluster.UnstableError
	if !errors.As(err, &unstable) || !slices.Equal(unstable.Names, []string{"c0", "c1"}) ||
		unstable.ArrivalRate.Cmp(big.NewRat(6, 1)) != 0 || unstable.Capacity.Cmp(big.NewRat(6, 1)) != 0 {
		t.Errorf("%v", err)
	}
	m.Classes[0].ArrivalRate = big.NewRat(399, 100)
	if _, err := sim.NewPlan(t.Context(), Cluster{Model: m}, sim.Settings{}); err != nil {
		t.Error(err)
	}
	m.Classes[0].ArrivalRate = big.NewRat(5, 1)
	p, err := sim.NewPlan(t.Context(), Cluster{Model: m}, sim.Settings{Horizon: 10})
	if err != nil || p.Unstable != "cluster" {
		t.Errorf("over a horizon: %v", err)
	}
}
