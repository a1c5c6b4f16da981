package sim

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
	"productform/sizes"
	"productform/stability"
)

// parseSizes returns a shape of sizes scaled to a mean.
func parseSizes(t testing.TB, shape string, mean float64) sizes.Distribution {
	t.Helper()
	d, err := sizes.Parse(shape, mean)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// against compares a simulation with the exact answer of balanced fairness: of 10^9 right ones, two fail a comparison.
func against(t *testing.T, name string, m *cluster.Model, r *Result) (zs []float64) {
	t.Helper()
	exact, err := bf.Solve(t.Context(), m, bf.Settings{MaxJobs: max(1, len(r.Distribution)-1)})
	if err != nil {
		t.Fatal(err)
	}
	compare := func(what string, e *Estimate, v *num.Value) {
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
	compare("mean jobs", r.All(MeanJobs), &exact.MeanJobs)
	compare("mean delay", r.All(MeanDelay), exact.MeanDelay)
	for i := range r.Classes {
		x := exact.Classes[i]
		at := fmt.Sprintf(" of class %d", i)
		compare("jobs"+at, r.Class(i, MeanJobs), &x.MeanJobs)
		compare("delay"+at, r.Class(i, MeanDelay), x.MeanDelay)
		compare("measured delay"+at, r.Class(i, MeasuredDelay), x.MeanDelay)
		compare("service rate"+at, r.Class(i, ServiceRate), x.ServiceRate)
	}
	for s := range r.Servers {
		compare(fmt.Sprintf("utilization of server %d", s), r.Server(s, Utilization), &exact.Servers[s].Utilization)
	}
	for n := range r.Distribution {
		if p := exact.JobsDistribution[n].Float; p > 1e-4 {
			compare(fmt.Sprintf("P(%d jobs)", n), &r.Distribution[n], &exact.JobsDistribution[n])
		}
	}
	return zs
}

// jump returns the cluster with exponential sizes and m interruptions a job.
func jump(m *cluster.Model, interruptions float64) Cluster {
	c := Cluster{Model: m, Interruptions: interruptions}
	if interruptions > 0 {
		c.Policy = Interrupt
	}
	return c
}

// With exponential sizes the means are those of balanced fairness for every m ([BC17], section 4).
func TestJumpChainsAgainstTheory(t *testing.T) {
	load := big.NewRat(4, 5)
	for _, m := range []*cluster.Model{threeServers(load), randomAssignment(10, 2, load), randomAssignment(100, 3, load)} {
		for _, interruptions := range []float64{0, 1, 5} {
			s := Settings{Runs: 20, Jumps: 1e5, WarmUp: 3e4, Seed: 1, Distribution: 10}
			r, err := Run(t.Context(), jump(m, interruptions), s, nil)
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

// Random clusters of every shape: groups, capacities 0, classes without arrivals. 60 models with fixed seeds; replications are
// a little skewed, so that |z| of some 400 numbers may come near 5.
func TestRandomClustersAgainstTheory(t *testing.T) {
	models := rapid.Custom(func(rt *rapid.T) *cluster.Model { return oracle.DrawModel(rt, oracle.Options{}) })
	for k := range 60 {
		m := models.Example(k)
		v, err := stability.Cluster(m)
		if err != nil {
			t.Fatal(err)
		}
		if v.CriticalScale == nil {
			continue // no work arrives
		}
		m = oracle.ScaleTo(m, big.NewRat(int64(1+k%8), 10))
		c := jump(m, []float64{0, 0.5, 4}[k%3])
		r, err := Run(t.Context(), c, Settings{Runs: 20, Jumps: 4e4, Seed: uint64(k)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		against(t, fmt.Sprintf("model %d, m = %g", k, c.Interruptions), m, r)
	}
}

// The two kinds of queues give the same answers for sizes beyond theory.
func TestClassAndServerQueuesAgree(t *testing.T) {
	model := threeServers(big.NewRat(7, 10))
	for _, shape := range []string{"bimodal", "hyperexponential", "zipf", "erlang:3"} {
		for _, m := range []float64{0, 1} {
			c := jump(model, m)
			c.Sizes = parseSizes(t, shape, 1)
			s := Settings{Runs: 16, Jumps: 2e5, Seed: 3}
			few, err := Run(t.Context(), c, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			// A ninth class without jobs asks for server queues.
			more := *model
			for k := range 7 {
				more.Classes = append(more.Classes[:len(more.Classes):len(more.Classes)],
					cluster.Class{Name: fmt.Sprint("none ", k), ArrivalRate: new(big.Rat), Servers: cluster.On(0)})
			}
			c.Model = &more
			many, err := Run(t.Context(), c, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if few.Method == many.Method {
				t.Fatalf("both by %s", few.Method)
			}
			d := few.All(MeanJobs).Mean - many.All(MeanJobs).Mean
			if e := math.Hypot(few.All(MeanJobs).StdError, many.All(MeanJobs).StdError); !(math.Abs(d) < 6*e) {
				t.Errorf("%s, m = %g: mean jobs %g and %g, %.1f standard errors apart", shape, m, few.All(MeanJobs).Mean, many.All(MeanJobs).Mean, d/e)
			}
		}
	}
}

// One server with few interruptions is nearly the M/G/1 queue in order of arrival, whose mean is that of Pollaczek and Khinchine.
func TestOneServerIsPollaczekKhinchine(t *testing.T) {
	rho := 0.6
	model := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(6, 10), Servers: cluster.On(0)}},
	}
	for _, shape := range []string{"exponential", "bimodal", "hyperexponential", "erlang:4"} {
		jobSizes := parseSizes(t, shape, 1)
		scv, err := sizes.SCV(jobSizes)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), Cluster{Model: model, Sizes: jobSizes}, Settings{Runs: 20, Jumps: 4e5, Seed: 4}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := rho + rho*rho*(1+scv)/2/(1-rho)
		if z := r.All(MeanJobs).Z(want); !(math.Abs(z) < 6) {
			t.Errorf("%s: mean jobs %g ± %g, want %g", shape, r.All(MeanJobs).Mean, r.All(MeanJobs).StdError, want)
		}
		if z := r.Class(0, MeasuredDelay).Z(want / rho); !(math.Abs(z) < 6) {
			t.Errorf("%s: measured delay %v, want %g", shape, *r.Class(0, MeasuredDelay), want/rho)
		}
	}
}

// Rings that grow keep the order of the jobs: a long queue that empties again.
func TestLongQueues(t *testing.T) {
	model := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(999, 1000), Servers: cluster.On(0)}},
	}
	for _, m := range []float64{0, 2} {
		p, err := NewPlan(jump(model, m), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		q := p.Start(t.Context(), NewStream([32]byte{5})).(*classQueues)
		longest := 0
		for range 3000 {
			if err := q.Advance(1000, NewTotals(1, 1)); err != nil {
				t.Fatal(err)
			}
			longest = max(longest, q.present)
			for k := q.head[0]; k+1 < q.tail[0]; k++ {
				if a, b := q.jobs[(k&(q.size-1))<<3], q.jobs[((k+1)&(q.size-1))<<3]; a.order >= b.order || a.born > a.order || a.phases != 1 {
					t.Fatalf("jobs %v, %v follow each other", a, b)
				}
			}
		}
		if longest < 1000 || q.size == batch {
			t.Errorf("m = %g: the longest queue had %d jobs", m, longest)
		}
	}
}
