package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"productform/fluid"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
)

// withoutWeights removes the weights, which balanced fairness does not support.
func withoutWeights(t *Model, p fluid.Policy) *Model {
	for k := range t.Classes {
		if p == fluid.BF {
			t.Classes[k].Weight = nil
		}
	}
	return t
}

// trafficOf returns traffic on resources of capacity 1, given the profiles and arrival rates of the
// classes.
func trafficOf(profiles [][]*big.Rat, lambda ...*big.Rat) *Model {
	t := &Model{}
	for j := range profiles[0] {
		t.Resources = append(t.Resources, fluid.Resource{Name: fmt.Sprint("r", j), Capacity: big.NewRat(1, 1)})
	}
	for k, a := range profiles {
		t.Classes = append(t.Classes, Class{Name: fmt.Sprint("c", k), Demand: a, ArrivalRate: lambda[k]})
	}
	return t
}

// randomTraffic draws classes with profiles in sixths, weights 1 to 3 and mean sizes 1/2 to 2,
// scaled to the given largest load.
func randomTraffic(r *rand.Rand, classes, resources int, load *big.Rat) *Model {
	t := &Model{}
	for j := range resources {
		t.Resources = append(t.Resources, fluid.Resource{
			Name:     fmt.Sprint("r", j),
			Capacity: big.NewRat(1+r.Int64N(3), 1),
		})
	}
	for k := range classes {
		c := Class{
			Name:        fmt.Sprint("c", k),
			ArrivalRate: big.NewRat(1+r.Int64N(6), 6),
			Weight:      big.NewRat(1+r.Int64N(3), 1),
			MeanSize:    big.NewRat(1+r.Int64N(4), 2),
		}
		for range resources {
			c.Demand = append(c.Demand, big.NewRat(r.Int64N(7), 6))
		}
		c.Demand[r.IntN(resources)] = big.NewRat(1, 1)
		t.Classes = append(t.Classes, c)
	}
	scaleTo(t, load)
	return t
}

// scaleTo scales the arrival rates to the given largest load.
func scaleTo(t *Model, load *big.Rat) {
	most := new(big.Rat)
	for _, l := range t.Loads() {
		if l.Cmp(most) > 0 {
			most = l
		}
	}
	factor := new(big.Rat).Quo(load, most)
	for k := range t.Classes {
		t.Classes[k].ArrivalRate = new(big.Rat).Mul(t.Classes[k].ArrivalRate, factor)
	}
}

// limitsIn returns the limits of all classes.
func limitsIn(r *Result) []int {
	all := make([]int, len(r.Classes))
	for k, c := range r.Classes {
		all[k] = c.Limit
	}
	return all
}

// solved solves traffic or fails the test.
func solved(t *testing.T, traffic *Model, p fluid.Policy, s Settings) *Result {
	t.Helper()
	r, err := Solve(context.Background(), traffic, p, s)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	for _, part := range r.Parts {
		for g, rows := range part.Groups {
			for i, k := range rows {
				if part.Names[g][i] != traffic.Classes[k].Name {
					t.Errorf("class %d is named %q in its part", k, part.Names[g][i])
				}
			}
		}
	}
	return r
}

// meansOf returns the mean numbers of jobs.
func meansOf(r *Result) []float64 {
	mean := make([]float64, len(r.Classes))
	for k, c := range r.Classes {
		mean[k] = c.MeanJobs
	}
	return mean
}

// errorOf returns the sum of the bounds on a result.
func errorOf(r *Result) float64 { return r.TruncationBound + r.RoundingBound + r.IterationError }

// wantMeans compares mean numbers with a relative tolerance.
func wantMeans(t *testing.T, what string, r *Result, want []float64, tol float64) {
	t.Helper()
	for k, m := range meansOf(r) {
		if !(math.Abs(m-want[k]) <= tol*want[k]) {
			t.Errorf("%s, %s: E[x_%d] = %.17g, want %.17g within %.2g; it is off by %.2g",
				what, r.Policy, k, m, want[k], tol, math.Abs(m/want[k]-1))
		}
	}
}

// testdata/dynamic.json was computed by an independent program, which solved the balance equations
// on 0..90 x 0..90 by block elimination with subtractions. The tolerance 1e-11 allows for its
// rounding. Results with automatic limits differ by at most the sum of both bounds.
func TestSolveAgainstIndependentProgram(t *testing.T) {
	text, err := os.ReadFile("testdata/dynamic.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Name        string
		A           [][]float64
		Load        float64
		Lambda      []float64
		M           int
		PF, DRF, BF []float64
	}
	if err := json.Unmarshal(text, &rows); err != nil || len(rows) == 0 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows {
		tr := &Model{Resources: []fluid.Resource{
			{Name: "a", Capacity: big.NewRat(1, 1)}, {Name: "b", Capacity: big.NewRat(1, 1)},
		}}
		for k, a := range row.A {
			c := Class{Name: fmt.Sprint(k), ArrivalRate: new(big.Rat).SetFloat64(row.Lambda[k])}
			for _, x := range a {
				c.Demand = append(c.Demand, new(big.Rat).SetFloat64(x))
			}
			tr.Classes = append(tr.Classes, c)
		}
		for policy, want := range map[fluid.Policy][]float64{fluid.PF: row.PF, fluid.DRF: row.DRF, fluid.BF: row.BF} {
			what := fmt.Sprintf("%s at load %v", row.Name, row.Load)
			r := solved(t, tr, policy, Settings{Limits: []int{row.M, row.M}})
			wantMeans(t, what, r, want, 1e-11)
			auto := solved(t, tr, policy, Settings{})
			wantMeans(t, what+", automatic", auto, want, 1e-11+r.TruncationBound+errorOf(auto))
			if auto.TruncationBound > 1e-10 || auto.TruncationProved != (policy == fluid.BF) ||
				r.States != (row.M+1)*(row.M+1) {
				t.Errorf("%s, %s: truncation bound %g, proved %v, %d states with limits %d",
					what, policy, auto.TruncationBound, auto.TruncationProved, r.States, row.M)
			}
		}
	}
}

// One class has E[x] = ρ/(1-ρ), both from the closed form and from a chain of 400 states; ρ^400 <
// 1e-38 at load 4/5.
func TestSolveOneClass(t *testing.T) {
	tr := trafficOf([][]*big.Rat{oracle.Rats("1/2 2 1"), oracle.Rats("1 1 1")}, big.NewRat(1, 5), new(big.Rat))
	tr.Classes[0].MeanSize = big.NewRat(2, 1)
	for _, p := range fluid.Policies() {
		r := solved(t, tr, p, Settings{})
		if c := r.Classes[0]; c.MeanJobs != 4 || *c.MeanDelay != 20 || *c.ServiceRate != 0.1 ||
			!r.TruncationProved || r.Method != GeometricMethod {
			t.Errorf("%s: %+v, want 4 jobs, delay 20 and service rate 0.1, proved", p, r)
		}
		if c := r.Classes[1]; c.MeanJobs != 0 || c.MeanDelay != nil || c.ServiceRate != nil {
			t.Errorf("%s: a class that never arrives has %+v", p, c)
		}
		long := solved(t, tr, p, Settings{Limits: []int{399, 0}})
		if m := long.Classes[0].MeanJobs; math.Abs(m/4-1) > long.RoundingBound || long.RoundingBound > 1e-10 ||
			long.States != 400 {
			t.Errorf("%s: %v jobs on %d states, want 4 within %g", p, m, long.States, long.RoundingBound)
		}
	}
	tr.Classes[0].ArrivalRate = new(big.Rat)
	if r := solved(t, tr, fluid.PF, Settings{}); r.Classes[0].MeanJobs != 0 || slices.Max(limitsIn(r)) != 0 {
		t.Errorf("nothing arrives, but %+v", r)
	}
}

// In a linear network (class 0 uses both resources, classes 1 and 2 one each) proportional fairness
// equals balanced fairness, and Z = (1-ρ0)/((1-ρ0-ρ1)(1-ρ0-ρ2)) (Massoulié and Roberts,
// Telecommunication Systems 15, 2000), E[x_k] = ρ_k ∂ log Z/∂ρ_k. If the same resource is always
// the scarcest, every policy without weights shares it as one processor: E[x_k] = ρ_k/(1-ρ).
func TestSolveClosedForms(t *testing.T) {
	line := trafficOf(
		[][]*big.Rat{oracle.Rats("1 1"), oracle.Rats("1 0"), oracle.Rats("0 1")}, oracle.Rats("1/5 2/5 3/10")...,
	)
	want := []float64{0.2 * (-1/0.8 + 1/0.4 + 1/0.5), 1, 0.3 / 0.5}
	for _, p := range []fluid.Policy{fluid.PF, fluid.BF} {
		r := solved(t, line, p, Settings{TruncationTol: 1e-5})
		wantMeans(t, "linear network", r, want, errorOf(r))
	}
	nested := trafficOf(
		[][]*big.Rat{oracle.Rats("1 0"), oracle.Rats("1 1"), oracle.Rats("1 1/2")}, oracle.Rats("1/5 1/5 1/10")...,
	)
	for _, p := range fluid.Policies() {
		r := solved(t, nested, p, Settings{TruncationTol: 1e-5})
		wantMeans(t, "one scarce resource", r, []float64{0.4, 0.4, 0.2}, errorOf(r))
	}
}

// Every policy is work conserving on one resource: with exponential sizes the mean work there,
// Σ_k a_k σ_k E[x_k], is that of the M/G/1 queue, Σ_k λ_k (a_k σ_k)² / (1-ρ), for all weights.
func TestSolveConservesWork(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		tr := randomTraffic(r, 2+r.IntN(2), 1, big.NewRat(1+r.Int64N(6), 10))
		for k := range tr.Classes {
			tr.Classes[k].Demand = []*big.Rat{big.NewRat(1+r.Int64N(4), 2)}
		}
		scaleTo(tr, big.NewRat(1+r.Int64N(6), 10))
		load, _ := tr.Loads()[0].Float64()
		for _, p := range fluid.Policies() {
			got := solved(t, withoutWeights(tr, p), p, Settings{}) // the last policy is balanced fairness
			var work, want float64
			for k, c := range tr.Classes {
				a := new(big.Rat).Quo(c.Demand[0], tr.Resources[0].Capacity)
				size, _ := a.Mul(a, c.MeanSize).Float64()
				lambda, _ := c.ArrivalRate.Float64()
				work += size * got.Classes[k].MeanJobs
				want += lambda * size * size / (1 - load)
			}
			if math.Abs(work/want-1) > errorOf(got)+1e-13 {
				t.Errorf("seed %d, %s: mean work %v, want %v", seed, p, work, want)
			}
		}
	}
}

// Balanced fairness can also be solved as a chain: a truncated reversible chain has the same
// distribution on fewer states, which the recursion for its weights sums without balance equations.
func TestChainOfBalancedFairness(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 2))
		classes := 2 + int(seed%2)
		tr := withoutWeights(randomTraffic(r, classes, 1+r.IntN(3), big.NewRat(1+r.Int64N(18), 20)), fluid.BF)
		if seed%3 == 0 {
			limited(r, tr)
		}
		w, err := newProblem(tr, tr.singletonGroups())
		if err != nil {
			t.Fatal(err)
		}
		limits := []int{3 + r.IntN(25), 3 + r.IntN(25), 3 + r.IntN(8)}[:classes]
		v, err := w.solveAt(context.Background(), fluid.BF, boxOf(limits), nil, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		z, jobs, _ := w.whittleSums(context.Background(), limits)
		for k := range jobs { // the rates have errors of 1e-15 per step, up to 80 steps
			if want := jobs[k] / z; math.Abs(v.mean[k]/want-1) > v.rounding+v.iteration+1e-12 {
				t.Errorf("seed %d: E[x_%d] = %v by the chain, %v by the recursion", seed, k, v.mean[k], want)
			}
		}
	}
}

// Equivalent models have the same results: with classes and resources permuted, rates and sizes
// scaled, an added class that never arrives, and a declared profile that is another class's true
// one. A class that hardly ever arrives hardly changes the results.
func TestSolveInvariance(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 3))
		for _, p := range fluid.Policies() {
			tr := withoutWeights(randomTraffic(r, 2, 2, big.NewRat(1+r.Int64N(6), 10)), p)
			a := solved(t, tr, p, Settings{})
			if seed == 0 {
				slow := *tr
				slow.Classes = append([]Class{{
					Name:        "rare",
					Demand:      oracle.Rats("1/2 1"),
					ArrivalRate: big.NewRat(1, 1e15),
				}}, tr.Classes...)
				b := solved(t, &slow, p, Settings{TruncationTol: 1e-8})
				b.Classes = b.Classes[1:]
				wantMeans(t, "with a class that hardly arrives", b, meansOf(a), 1e-8+errorOf(a)+errorOf(b))
			}
			b := *tr
			b.Classes = []Class{
				tr.Classes[1], {Name: "never", Demand: oracle.Rats("1 1"), ArrivalRate: new(big.Rat)}, tr.Classes[0],
			}
			b.Resources = []fluid.Resource{tr.Resources[1], tr.Resources[0]}
			for k, c := range b.Classes {
				b.Classes[k].Demand = []*big.Rat{c.Demand[1], c.Demand[0]}
				b.Classes[k].ArrivalRate = new(big.Rat).Mul(c.ArrivalRate, big.NewRat(7, 1))
				b.Classes[k].MeanSize = new(big.Rat).Quo(num.OrOne(c.MeanSize), big.NewRat(7, 1))
				b.Classes[k].Declared = b.Classes[k].Demand
				b.Classes[k].Demand = make([]*big.Rat, 2)
				for j, d := range b.Classes[k].Declared {
					b.Classes[k].Demand[j] = new(big.Rat).Quo(d, big.NewRat(2, 1))
				}
			}
			got := solved(t, &b, p, Settings{})
			want := []float64{a.Classes[1].MeanJobs, 0, a.Classes[0].MeanJobs}
			wantMeans(t, fmt.Sprint("seed ", seed), got, want, errorOf(a)+errorOf(got))
			if limitsIn(got)[1] != 0 {
				t.Errorf("limits %d, though the second class never arrives", limitsIn(got))
			}
		}
	}
}

// Equal classes have equal results.
func TestSolveSymmetric(t *testing.T) {
	two := trafficOf([][]*big.Rat{oracle.Rats("1 1/3"), oracle.Rats("1/3 1")}, oracle.Rats("3/5 3/5")...)
	three := trafficOf(
		[][]*big.Rat{oracle.Rats("1 1/3 0"), oracle.Rats("0 1 1/3"), oracle.Rats("1/3 0 1")},
		oracle.Rats("3/10 3/10 3/10")...,
	)
	for _, p := range fluid.Policies() {
		for _, tr := range []*Model{two, three} {
			r := solved(t, tr, p, Settings{TruncationTol: 1e-5})
			wantMeans(t, "symmetric", r, slices.Repeat([]float64{r.Classes[0].MeanJobs}, len(r.Classes)), errorOf(r))
		}
	}
}

// The measured bound on the truncation error is confirmed with far larger limits, also for weights,
// sizes and rates of different magnitudes, in which case one class waits for rare long jobs of the
// other.
func TestTruncationBound(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 4))
		tr := randomTraffic(r, 2, 1+r.IntN(3), big.NewRat(1, 2))
		if seed%2 == 1 {
			for k := range tr.Classes {
				c := &tr.Classes[k]
				c.Weight = big.NewRat(1<<r.IntN(10), 32)
				scale := big.NewRat(1<<r.IntN(11), 32)
				c.MeanSize.Mul(c.MeanSize, scale)
				c.ArrivalRate.Quo(c.ArrivalRate, scale.Mul(scale, big.NewRat(1<<r.IntN(5), 1)))
			}
		}
		scaleTo(tr, big.NewRat(1+r.Int64N(15), 20))
		p := fluid.Policies()[seed/2%4]
		far := solved(t, tr, p, Settings{TruncationTol: 1e-13})
		limits := []int{1 + r.IntN(40), 1 + r.IntN(40)}
		for _, s := range []Settings{{TruncationTol: 1e-3}, {TruncationTol: 1e-6}, {Limits: limits}} {
			near := solved(t, tr, p, s)
			for k, m := range meansOf(near) {
				if off := math.Abs(m/far.Classes[k].MeanJobs - 1); off > errorOf(near)+errorOf(far) {
					t.Errorf("seed %d, %s, limits %d: E[x_%d] is off by %.3g, bound %.3g",
						seed, p, limitsIn(near), k, off, near.TruncationBound)
				}
			}
			if s.Limits == nil && near.TruncationBound > s.TruncationTol {
				t.Errorf("seed %d: truncation bound %g, want at most %g", seed, near.TruncationBound, s.TruncationTol)
			}
		}
	}
}

// Both solvers agree on a truncated chain of three classes. The tolerance 1e-12 allows for the
// rounding of the iteration.
func TestSolveThreeClassesTwoWays(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 5))
		tr := randomTraffic(r, 3, 2, big.NewRat(3+r.Int64N(5), 10))
		tr.Classes[0].ArrivalRate.Mul(tr.Classes[0].ArrivalRate, big.NewRat(50, 1))
		tr.Classes[0].MeanSize.Quo(tr.Classes[0].MeanSize, big.NewRat(50, 1))
		w, err := newProblem(tr, tr.singletonGroups())
		if err != nil {
			t.Fatal(err)
		}
		g, lost, _, err := w.newChain(
			context.Background(), fluid.PF, boxOf([]int{11 + r.IntN(4), 11 + r.IntN(4), 9 + r.IntN(5)}),
		)
		if err != nil {
			t.Fatal(err)
		}
		pi, bound, _ := g.Eliminate(context.Background())
		a := &solution{chain: g, limits: g.Limits(), lost: lost, pi: pi}
		a.summarize()
		pi, measured, _ := g.Iterate(context.Background(), w.startingPoint(g, nil), w.lambda, 1e-11)
		b := &solution{chain: g, limits: g.Limits(), lost: lost, pi: pi}
		b.summarize()
		for k := range a.mean {
			if math.Abs(a.mean[k]/b.mean[k]-1) > bound+measured+1e-12 || measured > 1e-11 || bound > 1e-7 {
				t.Errorf("seed %d: E[x_%d] = %v by elimination (bound %.2g), %v by iteration (error %.2g)",
					seed, k, a.mean[k], bound, b.mean[k], measured)
			}
		}
	}
}

func TestSolveRefuses(t *testing.T) {
	good := func() *Model {
		return trafficOf([][]*big.Rat{oracle.Rats("1 1/2"), oracle.Rats("1/2 1")}, oracle.Rats("1/3 1/3")...)
	}
	for _, test := range []struct {
		path   string
		spoil  func(*Model)
		policy fluid.Policy
		s      Settings
	}{
		{"policy", nil, "fair", Settings{}},
		{"TruncationTol", nil, fluid.PF, Settings{TruncationTol: 1e-15}},
		{"TruncationTol", nil, fluid.PF, Settings{TruncationTol: 1}},
		{"TruncationTol", nil, fluid.PF, Settings{TruncationTol: -1}},
		{"TruncationTol", nil, fluid.PF, Settings{TruncationTol: math.NaN()}},
		{"MaxStates", nil, fluid.PF, Settings{MaxStates: -1}},
		{"MaxStates", nil, fluid.PF, Settings{MaxStates: 2_000_000_000}},
		{"MaxStates", nil, fluid.PF, Settings{MaxStates: 500}},
		{"MaxStates", nil, fluid.BF, Settings{MaxStates: 500}},
		{"Limits", nil, fluid.PF, Settings{Limits: []int{5}}},
		{"Limits", nil, fluid.BF, Settings{Limits: []int{}}},
		{"Limits[1]", nil, fluid.PF, Settings{Limits: []int{5, -1}}},
		{"Limits[0]", nil, fluid.PF, Settings{Limits: []int{0, 5}}},
		{"Limits[0]", nil, fluid.BF, Settings{Limits: []int{1_000_000_000, 5}}},
		{"Limits", nil, fluid.PF, Settings{Limits: []int{9999, 9999}}},
		{"Limits", nil, fluid.BF, Settings{Limits: []int{9999, 9999}}},
		{"jobs[1].arrival_rate", func(t *Model) { t.Classes[1].ArrivalRate = nil }, fluid.PF, Settings{}},
		{"jobs[1].arrival_rate", func(t *Model) { t.Classes[1].ArrivalRate = big.NewRat(-1, 2) }, fluid.PF, Settings{}},
		{"jobs[0].mean_size", func(t *Model) { t.Classes[0].MeanSize = new(big.Rat) }, fluid.PF, Settings{}},
		{
			"jobs[0].arrival_rate", func(t *Model) { t.Classes[0].ArrivalRate = oracle.Rats("1e-130")[0] },
			fluid.PF, Settings{},
		},
		{
			"jobs[1].mean_size", func(t *Model) { t.Classes[1].MeanSize = oracle.Rats("1e-130")[0] },
			fluid.BF, Settings{},
		},
		{"jobs[1].weight", func(t *Model) { t.Classes[1].Weight = big.NewRat(2, 1) }, fluid.BF, Settings{}},
		{"jobs[0].demand", func(t *Model) { t.Classes[0].Demand = oracle.Rats("0 0") }, fluid.PF, Settings{}},
		{"resources", func(t *Model) { t.Resources = nil }, fluid.PF, Settings{}},
		{"MaxStates", func(t *Model) { scaleTo(t, oracle.Rats("0.9999999")[0]) }, fluid.DRF, Settings{}},
		{"MaxStates", func(t *Model) { scaleTo(t, oracle.Rats("0.9999999999999999999999")[0]) }, fluid.PF, Settings{}},
		{"MaxStates", func(t *Model) { scaleTo(t, oracle.Rats("0.9999999999999999999999")[0]) }, fluid.BF, Settings{}},
		{
			"Limits", func(t *Model) { scaleTo(t, oracle.Rats("0." + strings.Repeat("9", 130))[0]) },
			fluid.BF, Settings{Limits: []int{5, 5}},
		},
		{"jobs[1].weight", func(t *Model) { t.Classes[1].Weight = oracle.Rats("1e-130")[0] }, fluid.PF, Settings{}},
		{"jobs[1].arrival_rate", func(t *Model) {
			t.Classes[1].ArrivalRate, t.Classes[1].MeanSize = oracle.Rats("1e-100")[0], oracle.Rats("1e-30")[0]
		}, fluid.BF, Settings{}},
		{"jobs[0].arrival_rate", func(t *Model) { // total rate of both classes
			for k := range t.Classes {
				t.Classes[k].Demand, t.Classes[k].ArrivalRate, t.Classes[k].MeanSize = oracle.Rats("1/4"),
					oracle.Rats("6e119")[0], oracle.Rats("1e-120")[0]
			}
		}, fluid.PF, Settings{}},
		{"MaxStates", func(t *Model) { // the pilot needs more states than the forecast for all
			t.Classes[0].Weight, t.Classes[0].ArrivalRate = big.NewRat(1, 10000), big.NewRat(2, 5)
			t.Classes[1].MeanSize, t.Classes[1].ArrivalRate = big.NewRat(100, 1), big.NewRat(1, 250)
		}, fluid.PF, Settings{TruncationTol: 1e-2, MaxStates: 150}},
		{"jobs", func(t *Model) {
			t.Classes = append(
				t.Classes, Class{Name: "c", Demand: oracle.Rats("1"), ArrivalRate: big.NewRat(1, 9)},
				Class{Name: "d", Demand: oracle.Rats("0 1"), ArrivalRate: big.NewRat(1, 9)},
			)
		}, fluid.PF, Settings{}},
	} {
		tr := good()
		if test.spoil != nil {
			test.spoil(tr)
		}
		r, err := Solve(context.Background(), tr, test.policy, test.s)
		var e *input.Error
		if r != nil || !errors.As(err, &e) || e.Path != test.path {
			t.Errorf("%s %+v: error %v, want one for %s", test.policy, test.s, err, test.path)
		}
		large := e != nil && (e.Path == "MaxStates" && strings.HasPrefix(e.Want, "more than ") || e.Path == "jobs")
		if errors.Is(err, ErrUnsolved) != large {
			t.Errorf("%s %+v: errors.Is(%v, ErrUnsolved) = %v", test.policy, test.s, err, !large)
		}
	}
	for _, load := range []string{"1", "3/2"} {
		tr := good()
		scaleTo(tr, oracle.Rats(load)[0])
		tr.Classes[0].ArrivalRate, tr.Classes[1].ArrivalRate = oracle.Rats(load)[0], big.NewRat(1, 9)
		tr.Classes[1].Demand = oracle.Rats("0 1")
		var unstable *UnstableError
		if _, err := Solve(context.Background(), tr, fluid.DRF, Settings{}); !errors.As(err, &unstable) ||
			unstable.Resource != 0 || unstable.Load.RatString() != load || !errors.Is(err, num.ErrUnstable) {
			t.Errorf("load %s: error %v", load, err)
		} else if want := "unstable: jobs bring at least as much work as a resource can do: the load of " +
			"resource 0 is " + load; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

// An iteration that ends too early is rejected with an error that names a tolerance that suffices.
func TestConverged(t *testing.T) {
	v := &solution{limits: []int{7, 8}, iteration: 2e-4}
	err := v.checkConverged(Settings{TruncationTol: 1e-10})
	var bad *input.Error
	if !errors.Is(err, ErrUnsolved) || !errors.As(err, &bad) || bad.Path != "TruncationTol" ||
		!strings.HasPrefix(bad.Want, "at least 0.0002") {
		t.Errorf("error %v", err)
	}
	if err := v.checkConverged(Settings{TruncationTol: 1e-3}); err != nil {
		t.Error(err)
	}
}

// The rounding bound covers all measures of the closed form: ρ/(1-ρ) for 1000 loads, compared in
// fractions.
func TestRoundingBoundOfClosedForm(t *testing.T) {
	tr := trafficOf([][]*big.Rat{oracle.Rats("1")}, big.NewRat(1, 2))
	c := &tr.Classes[0]
	off := func(got float64, want *big.Rat) float64 {
		e := new(big.Rat).SetFloat64(got)
		f, _ := e.Quo(e, want).Sub(e, big.NewRat(1, 1)).Float64()
		return math.Abs(f)
	}
	for n := int64(1); n < 7001; n += 7 {
		c.ArrivalRate, c.MeanSize = big.NewRat(n, 7001), big.NewRat(1, 1)
		r := solved(t, tr, fluid.PF, Settings{})
		for what, e := range map[string]float64{
			"mean":  off(r.Classes[0].MeanJobs, big.NewRat(n, 7001-n)),
			"delay": off(*r.Classes[0].MeanDelay, big.NewRat(7001, 7001-n)),
			"rate":  off(*r.Classes[0].ServiceRate, big.NewRat(7001-n, 7001)),
		} {
			if e > r.RoundingBound || r.RoundingBound > 1e-15 {
				t.Errorf("λ = %d/7001: %s is off by %.3g, bound %.3g", n, what, e, r.RoundingBound)
			}
		}
	}
}

// The multigrid iteration for two classes agrees with elimination of the same chain, for speeds
// from equal to very different. The iteration may give up for very different speeds, but the error
// that it reports must still be valid.
func TestSolveTwoClassesTwoWays(t *testing.T) {
	for exponent := range int64(4) {
		tr := trafficOf([][]*big.Rat{oracle.Rats("1 1/2"), oracle.Rats("1/3 1")}, oracle.Rats("1/2 2/5")...)
		speed := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(100), big.NewInt(exponent), nil))
		tr.Classes[0].ArrivalRate.Mul(tr.Classes[0].ArrivalRate, speed)
		tr.Classes[0].MeanSize = new(big.Rat).Inv(speed)
		w, err := newProblem(tr, tr.singletonGroups())
		if err != nil {
			t.Fatal(err)
		}
		g, lost, residual, err := w.newChain(context.Background(), fluid.DRF, boxOf([]int{90, 110}))
		if err != nil || residual > 1e-12 {
			t.Fatal(residual, err)
		}
		pi, bound, _ := g.Eliminate(context.Background())
		a := &solution{chain: g, limits: g.Limits(), lost: lost, pi: pi}
		a.summarize()
		small, err := w.solveAt(context.Background(), fluid.DRF, boxOf([]int{60, 30}), nil, 1e-8)
		if err != nil {
			t.Fatal(err)
		}
		for _, known := range []*solution{nil, small} { // an iteration may start from the solution of a smaller box
			pi, measured, _ := g.Iterate(context.Background(), w.startingPoint(g, known), w.lambda, 1e-11)
			b := &solution{chain: g, limits: g.Limits(), lost: lost, pi: pi}
			b.summarize()
			for k := range a.mean {
				if off := math.Abs(a.mean[k]/b.mean[k] - 1); off > bound+measured+1e-12 || measured > 1e-10 {
					t.Errorf("speeds 1:%s: E[x_%d] is off by %.3g, bound %.3g, measured %.3g",
						speed.RatString(), k, off, bound, measured)
				}
			}
		}
	}
}

// The number of states forecast from a solution at a lower load is close to the number needed,
// region the factor to which forecasts are trusted: otherwise solvable traffic would be rejected.
func TestForecast(t *testing.T) {
	for seed := range uint64(3) {
		d := big.NewRat(int64(1+2*seed), 8)
		tr := trafficOf(
			[][]*big.Rat{{big.NewRat(1, 1), d}, {d, big.NewRat(1, 1)}}, big.NewRat(1, 3),
			big.NewRat(1, 3+int64(seed%2)),
		)
		scaleTo(tr, big.NewRat(92, 100))
		policy := []fluid.Policy{fluid.DRF, fluid.PF, fluid.MaxMin}[seed%3]
		w, err := newProblem(tr, tr.singletonGroups())
		if err != nil {
			t.Fatal(err)
		}
		var many *statesError
		if err := w.forecast(t.Context(), policy, Settings{TruncationTol: 1e-6, MaxStates: 1}, 1500); !errors.As(
			err, &many,
		) {
			t.Fatal(err)
		}
		if states := solved(t, tr, policy, Settings{TruncationTol: 1e-6}).States; many.states > float64(states) ||
			many.states < float64(states)/8 {
			t.Errorf("seed %d, %s: %d states, forecast more than %.0f", seed, policy, states, many.states)
		}
	}
}
