package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/fluid"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
)

// lieRuns returns the tasks that a job of the row really runs when it declares a profile.
func lieRuns(t rapid.TB, p *fluid.Pool, policy fluid.Policy, job int, declared []*big.Rat) num.Value {
	t.Helper()
	l := liar{honest: p, job: job}
	pool, row := l.pool(declared)
	return mustAllocate(t, pool, policy).Jobs[row].Tasks.Times(l.unit(declared))
}

// In the example of Ghodsi et al. proportional fairness saturates both resources, with 45/11 and
// 18/11 tasks. If a declares c processors, φ_a = (5/6)/(2/9 - c/54) while both prices are positive.
// The price of memory falls to 0 at φ_b = 3/2, that is, φ_a = 33/8 and c = 12/11; beyond that,
// φ_a = 9/(2c). So this is the best lie. By the same calculation b declares 4 GB and runs 9/4
// tasks: 11/8 of its fair number.
func TestBestLieClassic(t *testing.T) {
	for job, want := range []struct {
		declared        []*big.Rat
		truthful, tasks float64
		gain            float64
	}{
		{oracle.Rats("12/11 4"), 45. / 11, 33. / 8, 121. / 120},
		{oracle.Rats("3 4"), 18. / 11, 9. / 4, 11. / 8},
	} {
		got, err := BestLie(context.Background(), classicPool(), fluid.PF, job, LieSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.declared, got.Declared, sameRat); diff != "" {
			t.Errorf("job %d declares (-want +got):\n%s", job, diff)
		}
		for name, x := range map[string][2]float64{
			"truthful": {got.Truthful.Float, want.truthful}, "tasks": {got.Tasks.Float, want.tasks},
			"gain": {got.Gain.Float, want.gain},
		} {
			if !(math.Abs(x[0]-x[1]) <= 1e-11) { // enclosed to 1e-12
				t.Errorf("job %d: %s %v, want %v", job, name, x[0], x[1])
			}
		}
		if got.Gain.Low == nil || got.Gain.Low.Cmp(big.NewFloat(want.gain)) > 0 &&
			got.Gain.Low.Cmp(new(big.Float).SetFloat64(want.gain+1e-11)) > 0 {
			t.Errorf("job %d: the gain is not enclosed: %v", job, got.Gain)
		}
		if got.Evaluations < 1 || got.Evaluations > 5000 {
			t.Errorf("%d evaluations", got.Evaluations)
		}
	}
}

// Under max-min fairness of tasks, if one of two jobs with one resource declares tasks c times too
// large, it runs c/(c+1) of a task instead of 1/2.
func TestBestLieMaxMin(t *testing.T) {
	p := &fluid.Pool{
		Resources: []fluid.Resource{{Name: "r", Capacity: num.Rat("1")}},
		Jobs:      []fluid.Job{{Name: "jobs", Demand: oracle.Rats("1"), Count: 2}},
	}
	got, err := BestLie(context.Background(), p, fluid.MaxMin, 0, LieSettings{MaxFactor: 16})
	if err != nil {
		t.Fatal(err)
	}
	if got.Gain.Exact == nil || got.Gain.Exact.Cmp(big.NewRat(32, 17)) != 0 {
		t.Errorf("gain %v, want 32/17", got.Gain.Exact)
	}
	c := new(big.Rat).Set(got.Declared[0])
	want := c.Quo(c, new(big.Rat).Add(c, big.NewRat(1, 1)))
	if got.Tasks.Exact.Cmp(want) != 0 {
		t.Errorf("tasks %v, want %v", got.Tasks.Exact, want)
	}
	got, err = BestLie(context.Background(), p, fluid.MaxMin, 0, LieSettings{MaxFactor: 1})
	if err != nil || got.Declared != nil || got.Gain.Float != 1 {
		t.Errorf("with true units: %+v, %v; want no lie", got, err)
	}
}

// drawLie draws a profile to declare, of any size for each resource.
func drawLie(t *rapid.T, p *fluid.Pool, job int) []*big.Rat {
	declared := make([]*big.Rat, len(p.Resources))
	for j, r := range p.Resources {
		declared[j] = new(big.Rat).Set(p.Jobs[job].Demand.Of(j))
		switch rapid.IntRange(0, 3).Draw(t, "lie") {
		case 0:
			declared[j].Mul(declared[j], big.NewRat(rapid.Int64Range(1, 40).Draw(t, "times"), 8))
		case 1:
			declared[j].Add(
				declared[j], new(big.Rat).Mul(r.Capacity, big.NewRat(rapid.Int64Range(1, 64).Draw(t, "more"), 64)),
			)
		}
		if p.Jobs[job].Demand.Of(j).Sign() > 0 && declared[j].Sign() == 0 {
			declared[j].Set(p.Jobs[job].Demand[j])
		}
	}
	return declared
}

// No lie gains under dominant resource and balanced fairness: the test tries thirty lies in each
// random pool, with larger, smaller and skewed demands, in fractions.
func TestFindLieWithoutGain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]fluid.Policy{fluid.DRF, fluid.BF}).Draw(t, "policy")
		p := drawPool(t, 6, 4, policy != fluid.BF, true)
		job := rapid.IntRange(0, len(p.Jobs)-1).Draw(t, "job")
		lie, err := BestLie(context.Background(), p, policy, job, LieSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if lie.Declared != nil || lie.Gain.Exact.Cmp(big.NewRat(1, 1)) != 0 ||
			lie.Tasks.Exact.Cmp(lie.Truthful.Exact) != 0 {
			t.Fatalf("%+v", lie)
		}
		for range 30 {
			declared := drawLie(t, p, job)
			if got := lieRuns(t, p, policy, job, declared); got.Exact.Cmp(lie.Truthful.Exact) > 0 {
				t.Fatalf("declaring %v, job %d runs %v tasks, more than %v",
					declared, job, got.Exact, lie.Truthful.Exact)
			}
		}
	})
}

// A returned lie runs the tasks that it states, and declares at least the truth.
func TestBestLieIsReal(t *testing.T) {
	for _, policy := range []fluid.Policy{fluid.PF, fluid.BMF, fluid.MaxMin} {
		t.Run(string(policy), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := drawPool(t, 4, 3, true, true)
				job := rapid.IntRange(0, len(p.Jobs)-1).Draw(t, "job")
				lie, err := BestLie(context.Background(), p, policy, job, LieSettings{Evaluations: 400})
				if err != nil {
					t.Fatal(err)
				}
				if lie.Evaluations > 400 || lie.Gain.Float < 1 {
					t.Fatalf("%+v", lie)
				}
				truth := lieRuns(t, p, policy, job, fullDemand(p, job))
				if !(math.Abs(truth.Float-lie.Truthful.Float) <= 1e-8*truth.Float) { // enclosed to 1e-9
					t.Fatalf("truthful %v, want %v", lie.Truthful.Float, truth.Float)
				}
				if lie.Declared != nil {
					got := lieRuns(t, p, policy, job, lie.Declared)
					if !(math.Abs(got.Float-lie.Tasks.Float) <= 1e-8*got.Float) {
						t.Fatalf("tasks %v, want %v", lie.Tasks.Float, got.Float)
					}
					for j, d := range lie.Declared {
						if d.Cmp(p.Jobs[job].Demand.Of(j)) < 0 {
							t.Fatalf("declares %v, less than needed", lie.Declared)
						}
					}
				}
			})
		})
	}
}

// fullDemand returns the demand of each resource.
func fullDemand(p *fluid.Pool, job int) []*big.Rat {
	demand := make([]*big.Rat, len(p.Resources))
	for j := range demand {
		demand[j] = p.Jobs[job].Demand.Of(j)
	}
	return demand
}

// gridLies calls visit with the profiles on a grid over the box [a_ij, 1/φ_i] of lies that can
// gain, in which the demand for one needed resource is truthful.
func gridLies(l *liar, steps int, visit func(declared []float64)) {
	for fixed, a := range l.truth {
		if a == 0 {
			continue
		}
		at := make([]int, len(l.truth))
		for d := 0; d < len(at); {
			declared := make([]float64, len(at))
			for j, b := range l.truth {
				declared[j] = b + (1/l.tasks-b)*float64(at[j])/float64(steps)
			}
			visit(declared)
			for d = 0; d < len(at); d++ { // the next point
				if d == fixed {
					continue
				}
				if at[d]++; at[d] <= steps {
					break
				}
				at[d] = 0
			}
		}
	}
}

// In none of the random pools does a lie on a fine grid beat the search by more than one part in a
// million.
func TestBestLieAgainstGrid(t *testing.T) {
	gains := map[fluid.Policy]int{}
	// no lie at all gains under the last
	for seed, policy := range []fluid.Policy{
		fluid.PF, fluid.PF, fluid.PF, fluid.PF, fluid.BMF, fluid.BMF, fluid.BMF, fluid.BF,
	} {
		p, steps := manyJobs(2+seed%3, 2), 1000
		if seed%2 == 1 {
			p, steps = manyJobs(2+seed%3, 3), 40
		}
		for i := range p.Jobs {
			p.Jobs[i].Demand[(i+seed)%len(p.Resources)] = big.NewRat(int64(seed%2), 7)
		}
		for job := range p.Jobs {
			lie, err := BestLie(context.Background(), p, policy, job, LieSettings{})
			if err != nil {
				t.Fatal(err)
			}
			if lie.Declared != nil {
				gains[policy]++
			}
			l, err := newLiar(context.Background(), p, policy, job, lie.Truthful, LieSettings{Evaluations: 1})
			if err != nil {
				t.Fatal(err)
			}
			best := l.tasks
			gridLies(l, steps, func(declared []float64) {
				best = max(best, l.runs(context.Background(), declared))
			})
			if best > lie.Tasks.Float*(1+1e-6) {
				t.Errorf("%s, pool %d, job %d: a lie on the grid runs %v tasks, the best found %v, the truth %v",
					policy, seed, job, best, lie.Tasks.Float, l.tasks)
			}
		}
	}
	if gains[fluid.PF] < 3 || gains[fluid.BMF] < 3 {
		t.Errorf("lies that gain: %v; want some", gains)
	}
}

// A job in a row of equal jobs has the same lie as in a separate row, for any names.
func TestBestLieSplitsRows(t *testing.T) {
	p := classicPool()
	p.Jobs[1].Count = 2
	p.Jobs = append(p.Jobs, fluid.Job{Name: "b'", Demand: oracle.Rats("1 4")})
	q := classicPool()
	q.Jobs = append(q.Jobs, fluid.Job{Name: "b'", Demand: oracle.Rats("1 4")}, fluid.Job{
		Name:   "other",
		Demand: q.Jobs[1].Demand,
	})
	one, err := BestLie(context.Background(), p, fluid.PF, 1, LieSettings{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := BestLie(context.Background(), q, fluid.PF, 3, LieSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(one.Gain.Float-two.Gain.Float) <= 1e-9) || one.Declared == nil || p.Jobs[1].Count != 2 {
		t.Errorf("gains %v and %v", one.Gain.Float, two.Gain.Float)
	}
}

// The search skips profiles without a float64 allocation: with this many jobs of y it fails for
// some that the search tries.
func TestBestLiePassesOver(t *testing.T) {
	one := num.Rat("1")
	p := &fluid.Pool{
		Resources: []fluid.Resource{
			{Name: "r", Capacity: one}, {Name: "s", Capacity: one}, {Name: "u", Capacity: one},
			{Name: "v", Capacity: one},
		},
		Jobs: []fluid.Job{
			{Name: "x", Demand: oracle.Rats("1 1"), Count: 4},
			{Name: "y", Demand: oracle.Rats("3 2 3"), Weight: num.Rat("4"), Count: 143_107_243},
		},
	}
	for job := range p.Jobs {
		lie, err := BestLie(context.Background(), p, fluid.BMF, job, LieSettings{Evaluations: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if lie.Gain.Float < 1 || lie.Truthful.Exact == nil {
			t.Errorf("%+v", lie)
		}
	}
}

func TestBestLieBadInput(t *testing.T) {
	for _, test := range []struct {
		policy fluid.Policy
		job    int
		s      LieSettings
		path   string
	}{
		{fluid.PF, -1, LieSettings{}, "job"},
		{fluid.PF, 2, LieSettings{}, "job"},
		{"fair", 0, LieSettings{}, "policy"},
		{fluid.PF, 0, LieSettings{Evaluations: -1}, "Evaluations"},
		{fluid.MaxMin, 0, LieSettings{MaxFactor: 0.5}, "MaxFactor"},
		{fluid.PF, 0, LieSettings{MaxFactor: 2}, "MaxFactor"},
		{fluid.MaxMin, 0, LieSettings{MaxFactor: math.NaN()}, "MaxFactor"},
		{fluid.MaxMin, 0, LieSettings{MaxFactor: math.Inf(1)}, "MaxFactor"},
	} {
		_, err := BestLie(context.Background(), classicPool(), test.policy, test.job, test.s)
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Path != test.path {
			t.Errorf("%+v: %v, want an error at %s", test, err, test.path)
		}
	}
	p := classicPool()
	p.Resources[0].Capacity = new(big.Rat)
	var bad *input.Error
	if _, err := BestLie(context.Background(), p, fluid.PF, 0, LieSettings{}); !errors.As(err, &bad) ||
		bad.Path != "resources[0].capacity" {
		t.Error(err)
	}
}

// The fraction with the smallest denominator in an interval matches a search through all
// denominators.
func TestShortFraction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(rapid.Int64Range(0, 1_000_000).Draw(t, "x"), rapid.Int64Range(1, 1000).Draw(t, "over"))
		got := shortFraction(x, 0x1p-7, 0x1p-7)
		for q := int64(1); ; q++ {
			scaled := new(big.Rat).Mul(x, big.NewRat(q, 1))
			low := new(big.Rat).Mul(scaled, big.NewRat(127, 128))
			high := scaled.Mul(scaled, big.NewRat(129, 128))
			n := new(big.Int).Quo(high.Num(), high.Denom())
			if new(big.Rat).SetInt(n).Cmp(low) >= 0 {
				if !got.Denom().IsInt64() || got.Denom().Int64() != q {
					t.Fatalf("%v for %v, want the denominator %d", got, x, q)
				}
				break
			}
		}
		if d := new(big.Rat).Sub(got, x); d.Abs(d).Cmp(new(big.Rat).Mul(x, big.NewRat(1, 128))) > 0 {
			t.Fatalf("%v is not near %v", got, x)
		}
	})
}

func BenchmarkBestLie(b *testing.B) {
	for _, rows := range []int{5, 100} {
		p := manyJobs(rows, 3)
		b.Run(fmt.Sprintf("classes=%d/resources=3/policy=pf", rows), func(b *testing.B) {
			for b.Loop() {
				if _, err := BestLie(context.Background(), p, fluid.PF, 0, LieSettings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The search skips profiles that float64 does not solve.
func TestBestLieFarApart(t *testing.T) {
	p := &fluid.Pool{Jobs: []fluid.Job{
		{Name: "j0", Demand: oracle.Rats("1 1 0 0"), Count: 4},
		{Name: "j1", Demand: oracle.Rats("3 2 3 0"), Count: 143107243, Weight: big.NewRat(4, 1)},
	}}
	for j := range 4 {
		p.Resources = append(p.Resources, fluid.Resource{Name: fmt.Sprint("r", j), Capacity: big.NewRat(1, 1)})
	}
	if _, err := BestLie(context.Background(), p, fluid.BMF, 1, LieSettings{Evaluations: 100}); err != nil {
		t.Error(err)
	}
}
