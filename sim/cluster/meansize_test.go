package cluster

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"productform/bf"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
	"productform/stability"
)

// In random clusters under processor sharing, some of whose classes have their own mean size, all
// estimates are close to the answers of balanced fairness, for any distribution scaled to these
// means.
func TestSharingWithOwnSizes(t *testing.T) {
	models := sharedModels(true)
	shapes := []string{"exponential", "deterministic", "weibull:0.6", "erlang:2"}
	for seed := range 30 {
		m := models.Example(seed)
		if v, err := stability.Cluster(t.Context(), m); err != nil || v.CriticalScale == nil {
			continue // no work arrives
		}
		c := Cluster{Model: m, Sizes: simtest.Sizes(t, shapes[seed%len(shapes)], mean(m)), Policy: ProcessorSharing}
		against5(
			t, fmt.Sprint("seed ", seed), m,
			simtest.Run(t, c, sim.Settings{Runs: 20, Jumps: 5e3, WarmUp: 1e3, Seed: uint64(seed), Distribution: 4}),
		)
	}
}

// twoSizes returns one server of capacity 2 whose short jobs, of mean 1/2, and long jobs, of mean
// 4, each bring a load of 3/5.
func twoSizes() *cluster.Model {
	return &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(2, 1)}},
		Classes: []cluster.Class{
			{Name: "short", ArrivalRate: big.NewRat(6, 5), MeanSize: big.NewRat(1, 2), Servers: cluster.On(0)},
			{Name: "long", ArrivalRate: big.NewRat(3, 20), MeanSize: big.NewRat(4, 1), Servers: cluster.On(0)},
		},
	}
}

// Under FCFS one server has the waiting time of Pollaczek and Khinchine, W = Σ λ_i
// E[S_i²]/(2 (1-ρ)), the same for all classes. Balanced fairness, E[X_i] = ρ_i/(1-ρ), is far off
// even for exponential sizes, so solvers reject such a model under FCFS.
func TestOrderOfArrivalWithOwnSizes(t *testing.T) {
	m := twoSizes()
	for shape, scv := range map[string]float64{"exponential": 1, "deterministic": 0, "erlang:4": 0.25} {
		r := simtest.Run(t, Cluster{Model: m, Sizes: simtest.Sizes(t, shape, 1)}, sim.Settings{
			Runs:   20,
			Jumps:  2e4,
			WarmUp: 5e3,
			Seed:   2,
		})
		wait := (1.2*0.25*0.25 + 0.15*2*2) * (1 + scv) / (2 * 0.4) // service takes 1/4 or 2
		simtest.Near(t, shape+": short", r.Class(0, sim.MeanDelay), wait+0.25)
		simtest.Near(t, shape+": long", r.Class(1, sim.MeanDelay), wait+2)
		simtest.Near(t, shape+": utilization", r.Server(0, sim.Utilization), 0.6)
		exact, err := bf.Solve(t.Context(), m, bf.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if z := r.Class(0, sim.MeanDelay).Z(exact.Classes[0].MeanDelay.Float); !(z > 6) {
			t.Errorf("%s: the delay of balanced fairness is only %.3g standard errors off", shape, z)
		}
	}
	var refused *num.InputError
	if _, err := m.OneMeanSize(); !errors.As(err, &refused) {
		t.Errorf("one mean size: %v", err)
	}
}

// Many interruptions also approach balanced fairness with different mean sizes.
func TestManyInterruptionsWithOwnSizes(t *testing.T) {
	c := Cluster{Model: twoSizes(), Policy: Interrupt, Interruptions: 300}
	r := simtest.Run(t, c, sim.Settings{Runs: 20, Jumps: 1.25e5, WarmUp: 2.5e4, Seed: 1})
	simtest.Near(t, "short", r.Class(0, sim.MeanJobs), 0.75)
	simtest.Near(t, "long", r.Class(1, sim.MeanJobs), 0.75)
}

// The contract of package sim holds. The number of interruptions per job, averaged over all jobs,
// is as requested.
func TestConformsWithOwnSizes(t *testing.T) {
	m := twoSizes()
	simtest.Conforms(t, Cluster{Model: m})
	simtest.Conforms(t, Cluster{
		Model:         m,
		Sizes:         simtest.Sizes(t, "lognormal:2", 1),
		Policy:        Interrupt,
		Interruptions: 3,
	})
	simtest.Conforms(t, Cluster{Model: m, Policy: ProcessorSharing})
}

// If all classes have the same own mean size, they are simulated as fast as if it were that of the
// model, and with the same moments. Otherwise there is one moment per mean size, with as many draws
// as arrivals.
func TestMomentsOfOwnSizes(t *testing.T) {
	describe := func(m *cluster.Model, policy Policy) *sim.Description {
		d, err := Cluster{Model: m, Policy: policy}.Describe(t.Context(), sim.Observation{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	same := twoSizes()
	same.Classes[0].MeanSize = big.NewRat(4, 1)
	same = same.Scale(big.NewRat(1, 3))
	whole := same.EqualSizes()
	for _, policy := range []Policy{FCFS, ProcessorSharing} {
		a, b := describe(same, policy), describe(whole, policy)
		if a.Method != b.Method || a.JumpRate != b.JumpRate || a.StepRate != b.StepRate || len(a.Moments) != 1 ||
			a.Moments[0].Sizes.String() != b.Moments[0].Sizes.String() ||
			!slices.Equal(a.Classes, b.Classes) {
			t.Errorf("%s: %+v, want %+v", policy, a, b)
		}
	}
	d := describe(twoSizes(), FCFS)
	if d.Method != "calendar of events" || len(d.Moments) != 2 {
		t.Fatalf("%+v", d)
	}
	for k, want := range []sim.Moment{
		{Rate: 1.2, Words: "sizes of mean 0.5", Class: d.Classes[0].Name},
		{Rate: 0.15, Words: "sizes of mean 4", Class: d.Classes[1].Name},
	} {
		got := d.Moments[k]
		mean, err := sizes.Mean(got.Sizes)
		if err != nil || got.Rate != want.Rate || got.Words != want.Words || got.Class != want.Class ||
			math.Abs(mean-d.Classes[k].MeanSize) > 0 {
			t.Errorf("moment %d: %+v of mean %v, want %+v", k, got, mean, want)
		}
	}
}

// Mean sizes beyond the range of float64 are rejected, and the error names the class.
func TestOwnSizesOutOfRange(t *testing.T) {
	m := twoSizes()
	m.Classes[1].MeanSize = num.Rat("1e120")
	m = oracle.ScaleTo(m, big.NewRat(1, 2))
	var bad *num.InputError
	if _, err := (Cluster{Model: m}).Describe(t.Context(), sim.Observation{}); !errors.As(err, &bad) ||
		bad.Path != "Model.classes[1].mean_size" {
		t.Errorf("error %v", err)
	}
}
