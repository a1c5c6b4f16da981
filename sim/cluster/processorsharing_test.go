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

	"productform/bf"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sim/internal/stations"
	"productform/stability"
)

// mean returns the mean size of a model.
func mean(m *cluster.Model) float64 {
	if m.MeanSize == nil {
		return 1
	}
	v, _ := m.MeanSize.Float64()
	return v
}

// against5 compares all estimates of a run with the exact answers of balanced fairness.
func against5(t *testing.T, name string, m *cluster.Model, r *sim.Result) {
	t.Helper()
	exact, err := bf.Answer(t.Context(), m, bf.Question{MaxJobs: max(1, len(r.Distribution)-1)}, bf.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	simtest.Near(t, name+": jobs", r.All(sim.MeanJobs), exact.MeanJobs.Float)
	for i, c := range r.Classes {
		x, at := exact.Classes[i], fmt.Sprintf("%s: class %d: ", name, i)
		simtest.Near(t, at+"jobs", r.Class(i, sim.MeanJobs), x.MeanJobs.Float)
		if x.MeanDelay == nil {
			if r.Class(i, sim.MeanDelay) != nil || r.Class(i, sim.MeasuredDelay) != nil ||
				r.Class(i, sim.ServiceRate) != nil || r.Class(i, sim.MeanJobs).Mean != 0 {
				t.Errorf("%shas no jobs, but %+v", at, c)
			}
			continue
		}
		simtest.Near(t, at+"delay", r.Class(i, sim.MeanDelay), x.MeanDelay.Float)
		simtest.Near(t, at+"measured delay", r.Class(i, sim.MeasuredDelay), x.MeanDelay.Float)
		simtest.Near(t, at+"service rate", r.Class(i, sim.ServiceRate), x.ServiceRate.Float)
	}
	for s := range r.Servers {
		simtest.Near(
			t, fmt.Sprintf("%s: utilization of server %d", name, s), r.Server(s, sim.Utilization),
			exact.Servers[s].Utilization.Float,
		)
	}
	for n := range r.Distribution {
		if p := exact.JobsDistribution[n].Float; p > 1e-3 {
			simtest.Near(t, fmt.Sprintf("%s: P(%d jobs)", name, n), &r.Distribution[n], p)
		}
	}
}

// A cluster under processor sharing has the distribution of balanced fairness for all sizes with a
// given mean ([BC17], section 3).
func TestSharingIsInsensitive(t *testing.T) {
	for _, m := range []*cluster.Model{
		simtest.ThreeServers(big.NewRat(3, 4)), simtest.RandomAssignment(4, 2, big.NewRat(1, 2)),
	} {
		for _, shape := range []string{
			"exponential", "deterministic", "bimodal", "hyperexponential", "lognormal:3", "zipf",
		} {
			c := Cluster{Model: m, Sizes: simtest.Sizes(t, shape, 1), Policy: ProcessorSharing}
			r, err := sim.Run(t.Context(), c, sim.Settings{Runs: 20, Jumps: 5e3, WarmUp: 1e3, Seed: 3, Distribution: 8})
			if err != nil {
				t.Fatal(err)
			}
			against5(t, fmt.Sprintf("%d rows, %s", len(m.Servers), shape), m, r)
		}
	}
}

// sharedModels generates clusters at loads of 0.2 to 0.7 for any policy that shares servers.
func sharedModels(ownSizes bool) *rapid.Generator[*cluster.Model] {
	return rapid.Custom(func(t *rapid.T) *cluster.Model {
		m := oracle.DrawModel(t, oracle.Options{
			Servers: 4, Classes: 4, Count: 2, ZeroRates: true, ZeroCapacities: true, OwnSizes: ownSizes,
		})
		return oracle.ScaleTo(m, big.NewRat(int64(rapid.IntRange(2, 7).Draw(t, "tenths")), 10))
	})
}

// Random clusters match theory, with groups chosen whole and in part, equal classes, parts that
// share nothing, and rates and capacities of 0.
func TestSharingOfRandomClusters(t *testing.T) {
	models := sharedModels(false)
	shapes := []string{"exponential", "deterministic", "weibull:0.6", "erlang:2"}
	for seed := range 30 {
		m := models.Example(seed)
		if v, err := stability.Cluster(t.Context(), m); err != nil || v.CriticalScale == nil {
			continue // no work arrives
		}
		c := Cluster{Model: m, Sizes: simtest.Sizes(t, shapes[seed%len(shapes)], mean(m)), Policy: ProcessorSharing}
		s := sim.Settings{Runs: 20, Jumps: 5e3, WarmUp: 1e3, Seed: uint64(seed), Distribution: 4}
		r, err := sim.Run(t.Context(), c, s)
		if err != nil {
			t.Fatal(err)
		}
		against5(t, fmt.Sprint("seed ", seed), m, r)
	}
}

// A single server distinguishes the policies: E[X] is ρ/(1-ρ) if it is shared, and ρ +
// ρ²(1+c²)/(2(1-ρ)) under FCFS by the formula of Pollaczek and Khinchine, with c² = 3.4 for bimodal
// sizes.
func TestSharingIsNotOrderOfArrival(t *testing.T) {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(2, 1)}},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(2, 5), Servers: cluster.On(0)},
			{Name: "b", ArrivalRate: big.NewRat(4, 5), Servers: cluster.On(0)},
		},
	}
	for policy, want := range map[Policy]float64{ProcessorSharing: 1.5, FCFS: 0.6 + 0.36*4.4/0.8} {
		c := Cluster{Model: m, Sizes: simtest.Sizes(t, "bimodal", 1), Policy: policy}
		r, err := sim.Run(t.Context(), c, sim.Settings{Runs: 20, Jumps: 2.5e4, WarmUp: 5e3, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		simtest.Near(t, string(policy), r.All(sim.MeanJobs), want)
		if policy == ProcessorSharing { // a third of the jobs are of class a
			simtest.Near(t, "jobs of class a", r.Class(0, sim.MeanJobs), 0.5)
			simtest.Near(t, "jobs of class b", r.Class(1, sim.MeanJobs), 1)
		}
	}
}

// Many parts without common servers have small separate tables, and many classes with the same
// servers have one queue.
func TestSharingInParts(t *testing.T) {
	m := &cluster.Model{}
	for k := range 40 {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", k), Capacity: big.NewRat(1, 1)})
		for i := range 3 {
			m.Classes = append(m.Classes, cluster.Class{
				Name:        fmt.Sprint(k, "/", i),
				ArrivalRate: big.NewRat(int64(i+1), 10),
				Servers:     cluster.On(k),
			})
		}
	}
	r, err := sim.Run(
		t.Context(), Cluster{Model: m, Policy: ProcessorSharing},
		sim.Settings{Runs: 10, Jumps: 2.5e4, WarmUp: 5e3, Seed: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	simtest.Near(t, "jobs", r.All(sim.MeanJobs), 60)
	for k := range m.Servers {
		simtest.Near(t, "utilization", r.Server(k, sim.Utilization), 0.6)
		for i := range 3 {
			simtest.Near(t, "jobs of a class", r.Class(3*k+i, sim.MeanJobs), 0.25*float64(i+1))
		}
	}
}

func TestSharingConforms(t *testing.T) {
	simtest.Conforms(t, Cluster{
		Model:  simtest.RandomAssignment(3, 2, big.NewRat(4, 5)),
		Sizes:  simtest.Sizes(t, "lognormal:2", 1),
		Policy: ProcessorSharing,
	})
}

// The mean number of jobs from the empty start of one server at load 1/2 is exact: at first jobs
// arrive and none depart.
func TestSharingOverHorizon(t *testing.T) {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(3, 1), Servers: cluster.On(0)}},
	}
	c := Cluster{Model: m, Sizes: simtest.Sizes(t, "deterministic", 1), Policy: ProcessorSharing}
	r, err := sim.Run(t.Context(), c, sim.Settings{Runs: 2000, Horizon: 1, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	simtest.Near(t, "jobs", r.All(sim.MeanJobs), 1.5) // no job departs before time 1
	simtest.Near(t, "utilization", r.Server(0, sim.Utilization), 1-(1-math.Exp(-3))/3)
}

func TestSharingTooLarge(t *testing.T) {
	advice := "interrupt with many interruptions"
	load := big.NewRat(4, 5)
	for name, m := range map[string]*cluster.Model{
		"combinations": simtest.RandomAssignment(100, 3, load), // 161700 sets
		"sets":         simtest.RandomAssignment(20, 2, load),  // 190 sets that share servers
	} {
		_, err := sim.NewPlan(t.Context(), Cluster{Model: m, Policy: ProcessorSharing}, sim.Settings{})
		var bad *num.InputError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), advice) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := Cluster{Model: simtest.RandomAssignment(3, 2, load), Policy: ProcessorSharing}
	f, err := c.flatOf()
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.describeSharing(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	e := p.Start(t.Context(), sim.NewStream([32]byte{})).(*stations.Queues)
	x, phi := slices.Repeat([]int{1e6}, 3), make([]float64, 3)
	if err := e.Parts[0].Rates(x, phi); err == nil || !strings.Contains(err.Error(), advice) {
		t.Error(err)
	}
}

// flatOf returns the flat cluster of exponential sizes.
func (c Cluster) flatOf() (*flat, error) {
	exponential, _, err := sim.SizesOf(nil, c.Model.MeanSize, "", "")
	if err != nil {
		return nil, err
	}
	c.Sizes = exponential
	return c.flatten()
}

func BenchmarkSharing(b *testing.B) {
	for _, m := range []struct {
		name  string
		model *cluster.Model
	}{
		{"servers=3", simtest.ThreeServers(big.NewRat(4, 5))},
		{"servers=4/d=2", simtest.RandomAssignment(4, 2, big.NewRat(4, 5))},
	} {
		b.Run(m.name, func(b *testing.B) { simtest.Benchmark(b, Cluster{Model: m.model, Policy: ProcessorSharing}) })
	}
}
