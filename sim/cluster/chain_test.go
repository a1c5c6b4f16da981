package cluster

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
	"productform/stability"
)

// against compares a simulation with the exact answer of balanced fairness; a correct value fails
// with probability 2e-9.
func against(t *testing.T, name string, m *cluster.Model, r *sim.Result) (zs []float64) {
	t.Helper()
	exact, err := bf.Answer(t.Context(), m, bf.Question{MaxJobs: max(1, len(r.Distribution)-1)}, bf.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	compare := func(what string, e *sim.Estimate, v *num.Value) {
		if (e == nil) != (v == nil) {
			t.Errorf("%s: %s: estimate %v, exact %v", name, what, e, v)
			return
		}
		if e == nil {
			return
		}
		z := e.Z(v.Float)
		if !(math.Abs(z) <= 6) {
			t.Errorf("%s: %s = %.6g ± %.2g, exact %.6g, z = %.1f", name, what, e.Mean, e.StdError, v.Float, z)
		}
		if what == "mean jobs" {
			zs = append(zs, z)
		}
	}
	compare("mean jobs", r.All(sim.MeanJobs), &exact.MeanJobs)
	compare("mean delay", r.All(sim.MeanDelay), exact.MeanDelay)
	for i := range r.Classes {
		x := exact.Classes[i]
		at := fmt.Sprintf(" of class %d", i)
		compare("jobs"+at, r.Class(i, sim.MeanJobs), &x.MeanJobs)
		compare("delay"+at, r.Class(i, sim.MeanDelay), x.MeanDelay)
		compare("measured delay"+at, r.Class(i, sim.MeasuredDelay), x.MeanDelay)
		compare("service rate"+at, r.Class(i, sim.ServiceRate), x.ServiceRate)
	}
	for s := range r.Servers {
		compare(fmt.Sprintf("utilization of server %d", s), r.Server(s, sim.Utilization), &exact.Servers[s].Utilization)
	}
	for n := range r.Distribution {
		if p := exact.JobsDistribution[n].Float; p > 1e-4 {
			compare(fmt.Sprintf("P(%d jobs)", n), &r.Distribution[n], &exact.JobsDistribution[n])
		}
	}
	return zs
}

// jump returns the cluster with exponential sizes and m interruptions per job.
func jump(m *cluster.Model, interruptions float64) Cluster {
	c := Cluster{Model: m, Interruptions: interruptions}
	if interruptions > 0 {
		c.Policy = Interrupt
	}
	return c
}

// With exponential sizes the means equal those of balanced fairness for every m ([BC17], section
// 4).
func TestJumpChainsAgainstTheory(t *testing.T) {
	load := big.NewRat(4, 5)
	for _, m := range []*cluster.Model{
		simtest.ThreeServers(load), simtest.RandomAssignment(10, 2, load), simtest.RandomAssignment(100, 3, load),
	} {
		for _, interruptions := range []float64{0, 1, 5} {
			s := sim.Settings{Runs: 20, Jumps: 2.5e4, WarmUp: 5e3, Seed: 1, Distribution: 10}
			r, err := sim.Run(t.Context(), jump(m, interruptions), s)
			if err != nil {
				t.Fatal(err)
			}
			against(t, fmt.Sprint(len(m.Servers), " rows, m = ", interruptions), m, r)
			if len(r.Warnings) > 0 {
				t.Errorf("m = %g: %v", interruptions, r.Warnings)
			}
		}
	}
}

// Random clusters of every shape match theory: groups, capacities 0, classes without arrivals.
// There are 60 models with fixed seeds; replications are slightly skewed, so the largest |z| of
// about 400 numbers may approach 5. The z values of the total mean jobs look like a standard normal
// sample, which finds errors far below the standard error of one model.
func TestRandomClustersAgainstTheory(t *testing.T) {
	var zs []float64
	models := rapid.Custom(func(rt *rapid.T) *cluster.Model { return oracle.DrawModel(rt, oracle.Options{}) })
	for k := range 60 {
		m := models.Example(k)
		v, err := stability.Cluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if v.CriticalScale == nil {
			continue // no work arrives
		}
		m = oracle.ScaleTo(m, big.NewRat(int64(1+k%8), 10))
		c := jump(m, []float64{0, 0.5, 4}[k%3])
		r, err := sim.Run(t.Context(), c, sim.Settings{Runs: 20, Jumps: 6e3, WarmUp: 2e3, Seed: uint64(k)})
		if err != nil {
			t.Fatal(err)
		}
		zs = append(zs, against(t, fmt.Sprintf("model %d, m = %g", k, c.Interruptions), m, r)...)
	}
	looksNormal(t, zs)
}

// The two kinds of queues give the same answers for sizes without theory.
func TestClassAndServerQueuesAgree(t *testing.T) {
	model := simtest.ThreeServers(big.NewRat(7, 10))
	for _, shape := range []string{"bimodal", "hyperexponential", "zipf", "erlang:3"} {
		for _, m := range []float64{0, 1} {
			c := jump(model, m)
			c.Sizes = simtest.Sizes(t, shape, 1)
			s := sim.Settings{Runs: 16, Jumps: 3e4, WarmUp: 5e3, Seed: 3}
			few, err := sim.Run(t.Context(), c, s)
			if err != nil {
				t.Fatal(err)
			}
			// A ninth class without jobs forces server queues.
			more := *model
			for k := range 7 {
				more.Classes = append(more.Classes[:len(more.Classes):len(more.Classes)],
					cluster.Class{Name: fmt.Sprint("none ", k), ArrivalRate: new(big.Rat), Servers: cluster.On(0)})
			}
			c.Model = &more
			many, err := sim.Run(t.Context(), c, s)
			if err != nil {
				t.Fatal(err)
			}
			if few.Method == many.Method {
				t.Fatalf("both by %s", few.Method)
			}
			d := few.All(sim.MeanJobs).Mean - many.All(sim.MeanJobs).Mean
			if e := math.Hypot(few.All(sim.MeanJobs).StdError, many.All(sim.MeanJobs).StdError); !(math.Abs(d) < 6*e) {
				t.Errorf("%s, m = %g: mean jobs %g and %g, %.1f standard errors apart",
					shape, m, few.All(sim.MeanJobs).Mean, many.All(sim.MeanJobs).Mean, d/e)
			}
		}
	}
}

// One server with few interruptions is close to the M/G/1 FCFS queue, whose mean is given by
// Pollaczek and Khinchine.
func TestOneServerMatchesPollaczekKhinchine(t *testing.T) {
	rho := 0.6
	model := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(6, 10), Servers: cluster.On(0)}},
	}
	for _, shape := range []string{"exponential", "bimodal", "hyperexponential", "erlang:4"} {
		jobSizes := simtest.Sizes(t, shape, 1)
		scv, err := sizes.SCV(jobSizes)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(
			t.Context(), Cluster{Model: model, Sizes: jobSizes},
			sim.Settings{Runs: 20, Jumps: 1e5, WarmUp: 2e4, Seed: 4},
		)
		if err != nil {
			t.Fatal(err)
		}
		want := rho + rho*rho*(1+scv)/2/(1-rho)
		if z := r.All(sim.MeanJobs).Z(want); !(math.Abs(z) < 6) {
			t.Errorf("%s: mean jobs %g ± %g, want %g",
				shape, r.All(sim.MeanJobs).Mean, r.All(sim.MeanJobs).StdError, want)
		}
		if z := r.Class(0, sim.MeasuredDelay).Z(want / rho); !(math.Abs(z) < 6) {
			t.Errorf("%s: measured delay %v, want %g", shape, *r.Class(0, sim.MeasuredDelay), want/rho)
		}
	}
}

// Growing rings preserve the order of the jobs: a long queue empties again.
func TestLongQueues(t *testing.T) {
	model := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(999, 1000), Servers: cluster.On(0)}},
	}
	for _, m := range []float64{0, 2} {
		p, err := sim.NewPlan(t.Context(), jump(model, m), sim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		q := p.Start(t.Context(), sim.NewStream([32]byte{5})).(*classQueues)
		longest := 0
		for range 3000 {
			if err := q.Advance(1000, sim.NewTotals(1, 1)); err != nil {
				t.Fatal(err)
			}
			longest = max(longest, q.present)
			for k := q.head[0]; k+1 < q.tail[0]; k++ {
				if a, b := q.jobs[(k&(q.size-1))<<3], q.jobs[((k+1)&(q.size-1))<<3]; a.order >= b.order ||
					a.born > a.order || a.phases != 1 {
					t.Fatalf("jobs %v, %v follow each other", a, b)
				}
			}
		}
		if longest < 1000 || q.size == batch {
			t.Errorf("m = %g: the longest queue had %d jobs", m, longest)
		}
	}
}
