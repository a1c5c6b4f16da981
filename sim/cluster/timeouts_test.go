package cluster

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/oiqueue"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// Jobs that time out have the means of the product form, on all their servers and on a pool.
func TestTimeoutsMatchProductForm(t *testing.T) {
	for name, text := range map[string]string{
		"all": `
servers: [{name: a, capacity: 1}, {name: b, capacity: 1, count: 3}, {name: off, capacity: 0}]
classes:
- {name: x, arrival_rate: 3/2, servers: [a, {group: b, choose: 2}, off], mean_timeout: 3}
- {name: y, arrival_rate: 2, servers: [a, off], mean_timeout: 1}
- {name: z, arrival_rate: 1, servers: [b]}`,
		"pool": `
service: one
servers: [{name: a, capacity: 1}, {name: b, capacity: 1, count: 2}]
mean_timeout: 2
classes:
- {name: x, arrival_rate: 3, servers: [a, b]}
- {name: y, arrival_rate: 2, servers: [b, a], mean_timeout: 1/2}`,
	} {
		m := oracle.Must(cluster.Read(strings.NewReader(text)))
		want := oracle.Must(oiqueue.SolveTimeouts(t.Context(), m, oiqueue.TimeoutSettings{}))
		r := simtest.Run(t, Cluster{Model: m}, sim.Settings{Runs: 20, Jumps: 4e4, WarmUp: 1e4, Seed: 3})
		simtest.Near(t, name+": all jobs", r.All(sim.MeanJobs), want.MeanJobs.Float)
		simtest.Near(t, name+": all timeouts", r.All(TimeoutProbability), want.TimeoutProbability.Float)
		for i, c := range want.Classes {
			simtest.Near(t, name+": jobs of "+c.Name, r.Class(i, sim.MeanJobs), c.MeanJobs.Float)
			simtest.Near(t, name+": delay of "+c.Name, r.Class(i, sim.MeasuredDelay), c.MeanDelay.Float)
			if c.MeanTimeout != nil {
				p := r.Class(i, TimeoutProbability)
				simtest.Near(t, name+": timeouts of "+c.Name, p, c.TimeoutProbability.Float)
			}
		}
	}
}

// A job that never waits times out with the transform of its size, with any sizes and under every
// policy.
func TestTimeoutsInService(t *testing.T) {
	m := pool(2, "1", "1")
	m.Servers[0].Count = 30
	for i := range m.Classes {
		m.Classes[i].Servers[0].Choose = 30
	}
	m.MeanTimeout = big.NewRat(2, 1)
	for _, policy := range everyOnePolicy() {
		c := Cluster{Model: m, Policy: policy, Sizes: simtest.Sizes(t, "deterministic", 1)}
		if policy.draws() == 1 {
			continue // its jobs wait
		}
		r := simtest.Run(t, c, sim.Settings{Runs: 10, Jumps: 1e4, WarmUp: 2e3, Seed: 5})
		simtest.Near(t, string(policy), r.All(TimeoutProbability), 1-math.Exp(-0.5))
	}
}

// All jobs are served or time out, jobs leave at the rate of their timeouts, and under every policy
// a cluster is stable if the other classes leave capacity.
func TestTimeoutsAreStable(t *testing.T) {
	m := pool(2, "3", "1/2")
	m.Classes[0].MeanTimeout = big.NewRat(1, 2)
	m.Classes[1].Priority = 1
	for _, policy := range everyOnePolicy() {
		r := simtest.Run(t, Cluster{Model: m, Policy: policy}, sim.Settings{Runs: 10, Jumps: 1e4, WarmUp: 2e3, Seed: 1})
		for i := range m.Classes {
			timedOut, served := r.Class(i, TimeoutProbability).Mean, r.Estimate(OfServing, i, ServedBy).Mean
			if d := timedOut + served - 1; d > 1e-12 || d < -1e-12 || (timedOut == 0) != (i == 1) {
				t.Errorf("%s: of class %d the fractions %v time out and %v are served", policy, i, timedOut, served)
			}
		}
		p, jobs := r.Class(0, TimeoutProbability), r.Class(0, sim.MeanJobs)
		if want := jobs.Mean / 3 * 2; math.Abs(p.Mean-want) > 5*(p.StdError+jobs.StdError) {
			t.Errorf("%s: a fraction %v times out, want %v", policy, p.Mean, want)
		}
	}
}

func TestTimeoutsBadInput(t *testing.T) {
	m := pool(2, "1", "1")
	m.MeanTimeout = big.NewRat(1, 1)
	short := simtest.Sizes(t, "exponential", 0.5)
	all := *m
	all.Service, all.Classes = "", all.Classes[1:]
	for want, c := range map[string]Cluster{
		"Patience = 2: want none with mean_timeout":             {Model: m, Patience: []sizes.Distribution{short, nil}},
		"Policy = ps: want fcfs or interrupt with mean_timeout": {Model: &all, Policy: ProcessorSharing},
	} {
		if _, err := sim.NewPlan(t.Context(), c, sim.Settings{Runs: 2, Jumps: 1e3}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
