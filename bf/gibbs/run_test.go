package gibbs_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/bf"
	"productform/bf/gibbs"
	"productform/cluster"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
)

// racks has a group that jobs draw from, jobs of two sizes, a server that does no work, and a
// separate part.
func racks() *cluster.Model {
	return &cluster.Model{
		Servers: []cluster.Server{
			{Name: "rack", Count: 5, Capacity: big.NewRat(1, 1)}, {Name: "big", Capacity: big.NewRat(3, 1)},
			{Name: "small", Capacity: big.NewRat(1, 2)}, {Name: "broken", Capacity: new(big.Rat)},
			{Name: "apart", Capacity: big.NewRat(1, 1)}, {Name: "spare", Capacity: big.NewRat(1, 1)},
		},
		Classes: []cluster.Class{
			{Name: "pairs", ArrivalRate: big.NewRat(2, 1), Servers: []cluster.Choice{{Server: 0, Choose: 2}}},
			{
				Name:        "wide",
				ArrivalRate: big.NewRat(1, 1),
				Servers:     []cluster.Choice{{Server: 0, Choose: 3}, {Server: 1, Choose: 1}},
				MeanSize:    big.NewRat(2, 1),
			},
			{Name: "local", ArrivalRate: big.NewRat(1, 3), Servers: cluster.On(2, 1)},
			{Name: "alone", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(4, 3)},
			{Name: "never", ArrivalRate: new(big.Rat), Servers: cluster.On(2)},
		},
	}
}

// Results depend on the seed, but no digit depends on the number of workers.
func TestSameDigits(t *testing.T) {
	s := gibbs.Settings{Precision: 0.02, Seed: 5, MaxJobs: 10, ByClass: true, Gradient: true, Workers: 1}
	want, err := gibbs.Run(t.Context(), racks(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	rats := cmp.Comparer(func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
	for _, s.Workers = range []int{2, 7} {
		got, err := gibbs.Run(t.Context(), racks(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, rats); diff != "" {
			t.Errorf("%d workers: %s", s.Workers, diff)
		}
	}
	s.Seed = 6
	if other, err := gibbs.Run(t.Context(), racks(), s, nil); err != nil || other.MeanJobs.Mean == want.MeanJobs.Mean {
		t.Errorf("another seed gives %v, %v", other, err)
	}
}

// Measures that do not depend on an order are exact: one server, a group from which all classes
// draw, and models made of such parts.
func TestExactMeasures(t *testing.T) {
	m := &cluster.Model{
		Servers: []cluster.Server{
			{Name: "rack", Count: 30, Capacity: big.NewRat(1, 1)}, {Name: "one", Capacity: big.NewRat(2, 1)},
		},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(9, 1), Servers: []cluster.Choice{{Server: 0, Choose: 2}}},
			{Name: "b", ArrivalRate: big.NewRat(18, 1), Servers: []cluster.Choice{{Server: 0, Choose: 5}}},
			{Name: "c", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(1)},
		},
	}
	want, err := bf.Answer(t.Context(), m, bf.Question{MaxJobs: 40}, bf.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := gibbs.Run(t.Context(), m, gibbs.Settings{Sweeps: 200, MaxJobs: 40}, nil)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got gibbs.Estimate, want float64) {
		if !oracle.Near(got.Mean, want, 1e-9) {
			t.Errorf("%s: %v, want %v", what, got.Mean, want)
		}
	}
	near("mean jobs", got.MeanJobs, want.MeanJobs.Float)
	for i, c := range want.Classes {
		near("mean delay", *got.Classes[i].MeanDelay, c.MeanDelay.Float)
	}
	for n, p := range want.JobsDistribution {
		near("distribution", got.JobsDistribution[n], p.Float)
	}
	if len(got.Warnings) > 0 || got.RHat != 1 {
		t.Errorf("R-hat %v, warnings %v", got.RHat, got.Warnings)
	}
}

// Without arrivals there are no jobs, and any precision is met.
func TestNoArrivals(t *testing.T) {
	r, err := gibbs.Run(
		t.Context(), racks().Scale(new(big.Rat)), gibbs.Settings{MaxJobs: 1, ByClass: true, Gradient: true}, nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	if r.MeanJobs.Mean != 0 || r.MeanJobs.HalfWidth != 0 || r.MeanDelay != nil || r.JobsDistribution[0].Mean != 1 ||
		r.JobsDistribution[1].Mean != 0 ||
		r.EmptyProbability.Mean != 1 || r.Classes[1].MeanDelay != nil || r.Classes[1].JobsDistribution[0].Mean != 1 ||
		r.Servers[3].Utilization.Mean != 0 || !r.PrecisionMet {
		t.Errorf("%+v", r)
	}
}

// The stopping rule preserves the confidence of the intervals: after several evaluations they
// contain the exact value as often as stated, even without the allowance for orders that did not
// occur.
func TestPrecision(t *testing.T) {
	m := randomModel(t, 9, 6, big.NewRat(95, 100), 3)
	want, err := bf.Solve(t.Context(), m, bf.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	const precision = 0.006
	runs, outside, far, sweeps := 200**trial, 0, 0, 0
	for seed := range runs {
		r, err := gibbs.Run(t.Context(), m, gibbs.Settings{Precision: precision, Seed: uint64(seed)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.PrecisionMet || r.MeanJobs.HalfWidth > precision*r.MeanJobs.Mean || len(r.Warnings) > 0 {
			t.Errorf("seed %d: %+v, warnings %v", seed, r.MeanJobs, r.Warnings)
		}
		sweeps += r.Sweeps
		if e := r.MeanJobs; e.Mean-e.HalfWidth > want.MeanJobs.Float || e.Mean+e.HalfWidth < want.MeanJobs.Float {
			outside++
		}
		if math.Abs(r.MeanJobs.Z(want.MeanJobs.Float)) > 1.96 {
			far++
		}
	}
	t.Logf("%d of %d intervals miss, %d by the standard error alone, after %d sweeps of each chain on average",
		outside, runs, far, sweeps/runs)
	if n := float64(runs); float64(far) > 0.05*n+3*math.Sqrt(0.05*0.95*n) {
		t.Errorf("%d of %d intervals miss by the standard error alone", far, runs)
	}
}

// Run returns promptly after cancellation, at any stage.
func TestEnds(t *testing.T) {
	m := randomModel(t, 40, 80, big.NewRat(9, 10), 1)
	err := oracle.CheckEnds(func(ctx context.Context) error {
		_, err := gibbs.Run(ctx, m, gibbs.Settings{Sweeps: 1000, MaxJobs: 50, ByClass: true}, nil)
		return err
	}, 1e4, 40)
	if err != nil {
		t.Error(err)
	}
}

// Progress is reported one call at a time, and ends with Done equal to Total.
func TestProgress(t *testing.T) {
	var last gibbs.Progress
	r, err := gibbs.Run(t.Context(), racks(), gibbs.Settings{Precision: 0.05}, func(p gibbs.Progress) {
		if p.Done != last.Done+1 || p.Total < p.Done {
			t.Fatalf("%+v after %+v", p, last)
		}
		last = p
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := r.Chains * (r.Sweeps + r.BurnIn); last.Done != all || last.Total != all {
		t.Errorf("%+v, want %d", last, all)
	}
}

// An unstable model gets an error with a witness set, even on the stability boundary.
func TestUnstable(t *testing.T) {
	m := racks()
	m.Classes[3].ArrivalRate = big.NewRat(1, 1)
	_, err := gibbs.Run(t.Context(), m, gibbs.Settings{}, nil)
	var u *cluster.UnstableError
	if !errors.Is(err, num.ErrUnstable) || !errors.As(err, &u) || len(u.Classes) != 1 || u.Classes[0] != 3 ||
		u.ArrivalRate.Cmp(u.Capacity) != 0 {
		t.Errorf("%v", err)
	}
	m.Classes[3].ArrivalRate = big.NewRat(1e10-1, 1e10)
	if _, err = gibbs.Run(t.Context(), m, gibbs.Settings{}, nil); err == nil ||
		!strings.Contains(err.Error(), "a load of 1 - 1e-10: want") {
		t.Errorf("near the boundary: %v", err)
	}
	m.Classes[3].ArrivalRate = big.NewRat(1e6-1, 1e6)
	r, err := gibbs.Run(t.Context(), m, gibbs.Settings{}, nil)
	if err != nil || !oracle.Near(r.Classes[3].MeanJobs.Mean, 1e6-1, 1e-9) {
		t.Errorf("%v, %v", r, err)
	}
}

// Errors about bad input give its path, its value and valid values.
func TestBadInput(t *testing.T) {
	tooMany, farApart, bad := racks(), racks(), racks()
	tooMany.Servers[0].Count, tooMany.Classes[0].Servers[0].Choose = 1_000_000, 500_000
	farApart.Servers[2].Capacity = new(big.Rat).SetFrac(
		big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(150), nil),
	)
	farApart.Classes[2].Servers[1].Server = 0
	bad.Servers[1].Capacity = big.NewRat(-1, 1)
	for _, c := range []struct {
		m    *cluster.Model
		s    gibbs.Settings
		path string
	}{
		{bad, gibbs.Settings{}, "servers[1].capacity"},
		{tooMany, gibbs.Settings{}, "classes[0].servers"},
		{farApart, gibbs.Settings{}, "servers"},
		{racks(), gibbs.Settings{Precision: 1}, "Precision"},
		{racks(), gibbs.Settings{Precision: -0.1}, "Precision"},
		{racks(), gibbs.Settings{Precision: 0.1, Sweeps: 10}, "Precision"},
		{racks(), gibbs.Settings{Sweeps: -1}, "Sweeps"},
		{racks(), gibbs.Settings{Confidence: 1}, "Confidence"},
		{racks(), gibbs.Settings{MaxJobs: 10001}, "MaxJobs"},
		{racks(), gibbs.Settings{ByClass: true}, "MaxJobs"},
		{racks(), gibbs.Settings{Workers: -1}, "Workers"},
	} {
		_, err := gibbs.Run(t.Context(), c.m, c.s, nil)
		var e *input.Error
		if !errors.As(err, &e) || e.Path != c.path {
			t.Errorf("want an error about %s, not %v", c.path, err)
		}
	}
}

// Chains that are too short give a warning.
func TestTooShort(t *testing.T) {
	m := randomModel(t, 60, 30, big.NewRat(999, 1000), 2)
	r, err := gibbs.Run(t.Context(), m, gibbs.Settings{Sweeps: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprint(r.Warnings); !strings.Contains(all, "too short") || r.Sweeps != 8 {
		t.Errorf("%d sweeps, warnings %s", r.Sweeps, all)
	}
}
