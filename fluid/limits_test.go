package fluid

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/num"
)

// drawLimited draws a pool of small numbers in which most rows have limits, tight or wide.
func drawLimited(t *rapid.T, weights bool) *Pool {
	small := func(label string, low, high, over int64) *big.Rat {
		return big.NewRat(rapid.Int64Range(low, high).Draw(t, label), rapid.Int64Range(1, over).Draw(t, "over"))
	}
	p := &Pool{}
	for j := range rapid.IntRange(1, 3).Draw(t, "resources") {
		p.Resources = append(p.Resources, Resource{Name: fmt.Sprint("r", j), Capacity: small("capacity", 4, 20, 1)})
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "rows") {
		job := Job{
			Name:   fmt.Sprint("j", i),
			Count:  rapid.IntRange(1, 2).Draw(t, "count"),
			Demand: make(Demand, len(p.Resources)),
		}
		for j := range job.Demand {
			job.Demand[j] = small("demand", 0, 4, 2)
		}
		job.Demand[rapid.IntRange(0, len(job.Demand)-1).Draw(t, "needed")] = small("demand", 1, 4, 2)
		if weights {
			job.Weight = small("weight", 1, 4, 2)
		}
		if rapid.IntRange(0, 3).Draw(t, "limited") > 0 {
			job.MaxTasks = small("limit", 1, 12, 4)
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

// ownResources gives each job a separate row, replaces limits by separate resources, and returns
// the original row of each job.
func ownResources(p *Pool) (q *Pool, from []int) {
	q = &Pool{Resources: append([]Resource(nil), p.Resources...)}
	for i, job := range p.Jobs {
		for n := range job.Size() {
			demand := append(Demand(nil), job.Demand...)
			if job.MaxTasks != nil {
				for len(demand) < len(q.Resources) {
					demand = append(demand, nil)
				}
				demand = append(demand, big.NewRat(1, 1))
				q.Resources = append(q.Resources, Resource{
					Name:     fmt.Sprint("limit", len(q.Jobs)),
					Capacity: job.MaxTasks,
				})
			}
			q.Jobs = append(q.Jobs, Job{Name: fmt.Sprint(job.Name, ".", n), Demand: demand, Weight: job.Weight})
			from = append(from, i)
		}
	}
	return q, from
}

// In fractions, a limit on tasks is equivalent to a resource that only this job demands. This
// covers balanced fairness with a row for each job, max-min fairness, and dominant resource
// fairness, written as max-min fairness of tasks with weights w_i/d_i, where the limit is no job's
// dominant resource. Float64 agrees.
func TestLimitsMatchResources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]Policy{DRF, MaxMin, BF}).Draw(t, "policy")
		p := drawLimited(t, policy != BF)
		q, from := ownResources(p)
		other := policy
		if policy == DRF {
			other = MaxMin
			for i, d := range NewProfiles(p).Dominant {
				for k := range q.Jobs {
					if from[k] == i {
						q.Jobs[k].Weight = new(big.Rat).Quo(q.Jobs[k].WeightOf(), d)
					}
				}
			}
		}
		want := mustAllocate(t, q, other)
		exact, err := Allocate(context.Background(), p, policy, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		float, err := Allocate(context.Background(), p, policy, Settings{Engine: num.Float})
		if err != nil {
			t.Fatal(err)
		}
		if float.Residual > 1e-12 {
			t.Fatalf("residual %g", float.Residual)
		}
		for k, i := range from {
			x := want.Jobs[k].Tasks.Exact
			if exact.Jobs[i].Tasks.Exact.Cmp(x) != 0 {
				t.Fatalf("%s: row %d runs %v tasks, want %v", policy, i, exact.Jobs[i].Tasks.Exact, x)
			}
			if f, _ := x.Float64(); math.Abs(float.Jobs[i].Tasks.Float-f) > 1e-11*f { // numbers are small integers
				t.Fatalf("%s: row %d runs %v tasks in float64, want %v", policy, i, float.Jobs[i].Tasks.Float, f)
			}
		}
		if len(exact.Resources) != len(p.Resources) {
			t.Fatalf("%d resources, want %d", len(exact.Resources), len(p.Resources))
		}
	})
}

// Under bottleneck max fairness every job is at its limit or has a bottleneck, which is the
// definition with limits as resources.
func TestLimitsBottleneck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawLimited(t, true)
		q, from := ownResources(p)
		a, err := Allocate(context.Background(), p, BMF, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		tasks := make([]*big.Rat, len(from))
		for k, i := range from {
			tasks[k] = a.Jobs[i].Tasks.Exact
		}
		if fault := bottleneckFault(q, tasks); fault != "" {
			t.Fatal(fault)
		}
		float, err := Allocate(context.Background(), p, BMF, Settings{Engine: num.Float})
		if err != nil || float.Residual > 1e-9 {
			t.Fatal(err, float)
		}
		for i, job := range p.Jobs {
			if l, _ := num.OrOne(job.MaxTasks).Float64(); job.MaxTasks != nil &&
				float.Jobs[i].Tasks.Float > l*(1+1e-9) {
				t.Fatalf("row %d runs %v tasks, at most %v", i, float.Jobs[i].Tasks.Float, l)
			}
		}
	})
}

// If a limit is far below what the row would get, its resource is overloaded eighteenfold at the
// usual start of paths, and all of these end with wrong bottlenecks.
func TestLimitsBottleneckOverloadedStart(t *testing.T) {
	p := poolOf("4 3", "2 1", "0 1")
	p.Resources[0].Capacity, p.Resources[1].Capacity = big.NewRat(11, 1), big.NewRat(9, 1)
	p.Jobs[2].Weight, p.Jobs[2].MaxTasks = big.NewRat(2, 1), big.NewRat(1, 2)
	exact, err := Allocate(context.Background(), p, BMF, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	float, err := Allocate(context.Background(), p, BMF, Settings{Engine: num.Float})
	if err != nil || float.Residual > 1e-12 {
		t.Fatal(err, float)
	}
	// two halves of resource 0, and the limit
	for i, want := range []*big.Rat{big.NewRat(11, 8), big.NewRat(11, 4), big.NewRat(1, 2)} {
		if exact.Jobs[i].Tasks.Exact.Cmp(want) != 0 {
			t.Errorf("row %d runs %v tasks, want %v", i, exact.Jobs[i].Tasks.Exact, want)
		}
		if f, _ := want.Float64(); math.Abs(float.Jobs[i].Tasks.Float-f) > 1e-12*f { // the residual
			t.Errorf("row %d runs %v tasks in float64, want %v", i, float.Jobs[i].Tasks.Float, f)
		}
	}
}

// For limited rows together with three rows that have three possible allocations, paths that start
// overloaded end with wrong bottlenecks in one of 25 pools. Numbers are drawn with a fixed seed.
func TestLimitsBottleneckManyWays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for round := range 500 {
		p := poolOf("10 9 9", "9 10 0", "9 0 10")
		for j, c := range []int64{28, 19, 19} {
			p.Resources[j].Capacity = big.NewRat(20*c+rng.Int64N(11), 20)
		}
		for i := range 1 + rng.IntN(2) {
			job := Job{Name: fmt.Sprint("limited", i), Count: 1, MaxTasks: big.NewRat(1+rng.Int64N(9), 10)}
			for range p.Resources {
				job.Demand = append(job.Demand, big.NewRat(1+rng.Int64N(9), 10))
			}
			p.Jobs = append(p.Jobs, job)
		}
		if a, err := Allocate(context.Background(), p, BMF, Settings{Engine: num.Float}); err != nil ||
			a.Residual > 1e-9 {
			t.Fatalf("round %d: %v, %+v", round, err, a)
		}
	}
}

// Under proportional fairness φ_i is the smaller of the limit and w_i / Σ_j p_j a_ij, and only
// saturated resources have a price. These conditions of an optimum do not involve resources for
// limits.
func TestLimitsProportional(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawLimited(t, true)
		for _, engine := range []num.Engine{num.Float, num.Enclose} {
			a, err := Allocate(context.Background(), p, PF, Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			used := make([]float64, len(p.Resources))
			for i, job := range p.Jobs {
				cost := 0.0
				tasks := a.Jobs[i].Tasks.Float
				for j, r := range p.Resources {
					part, _ := new(big.Rat).Quo(job.Demand.Of(j), r.Capacity).Float64()
					cost += part * *a.Resources[j].Price
					used[j] += part * tasks * float64(job.Size())
				}
				want, _ := job.WeightOf().Float64()
				want /= cost // +Inf if all its resources are free
				if job.MaxTasks != nil {
					l, _ := job.MaxTasks.Float64()
					want = min(want, l)
				}
				// residuals of 1e-14, with rows that are small compared with others
				if math.Abs(tasks-want) > 2e-7*want {
					t.Fatalf("%s: row %d runs %v tasks, want %v", engine, i, tasks, want)
				}
			}
			for j, r := range a.Resources {
				off := math.Abs(used[j] - r.Utilization.Float)
				if used[j] > 1+1e-7 || *r.Price > 1e-6 && used[j] < 1-1e-6 || off > 1e-7 {
					t.Fatalf("%s: resource %d is used at %v, price %v", engine, j, used[j], *r.Price)
				}
			}
		}
	})
}

// Capacity that limits leave unused stays unused: two jobs run one task each on a resource of ten.
func TestLimitsLeaveRest(t *testing.T) {
	p := poolOf("1/10", "1/5")
	p.Jobs[0].MaxTasks, p.Jobs[1].MaxTasks = big.NewRat(1, 1), big.NewRat(1, 1)
	for _, policy := range Policies() {
		a := mustAllocate(t, p, policy)
		for i, want := range []float64{1, 1} {
			if math.Abs(a.Jobs[i].Tasks.Float-want) > 1e-8 {
				t.Errorf("%s: row %d runs %v tasks", policy, i, a.Jobs[i].Tasks.Float)
			}
		}
		r := a.Resources[0]
		if r.Saturated || math.Abs(r.Utilization.Float-0.3) > 1e-8 || a.Jobs[0].DominantResource != r.Name {
			t.Errorf("%s: %+v", policy, a.Resources[0])
		}
	}
}

// Options that do not support limits are rejected, and the error names the entry.
func TestLimitsRefused(t *testing.T) {
	var bad *input.Error
	p := poolOf("1 1/2", "1/2 1")
	p.Jobs[1].MaxTasks = new(big.Rat)
	if err := p.Check(); !errors.As(err, &bad) || bad.Path != "jobs[1].max_tasks" {
		t.Error(err)
	}
	p.Jobs[1].MaxTasks = num.Rat("1e-130")
	if _, err := Allocate(context.Background(), p, DRF, Settings{Engine: num.Float}); !errors.As(err, &bad) ||
		bad.Path != "jobs[1].max_tasks" {
		t.Error(err)
	}
	p.Jobs[1].MaxTasks, p.Jobs[1].Count, p.Jobs[0].Count = num.Rat("1e-6"), 2000, 2
	if _, err := Allocate(context.Background(), p, BF, Settings{Engine: num.Float}); !errors.As(err, &bad) ||
		bad.Path != "jobs" {
		t.Error(err)
	}
	many := &Pool{Resources: p.Resources}
	for i := range mostLimits + 1 {
		many.Jobs = append(many.Jobs, Job{
			Name:     fmt.Sprint(i),
			Demand:   p.Jobs[0].Demand,
			MaxTasks: big.NewRat(1, int64(1_000_000+i)),
		})
	}
	if _, err := Allocate(context.Background(), many, PF, Settings{Engine: num.Float}); !errors.As(err, &bad) ||
		bad.Path != "jobs" {
		t.Error(err)
	}
}

// Balanced fairness with about a hundred limited jobs is the same in float64 and in fractions.
func TestLimitsBalancedMany(t *testing.T) {
	p := poolOf("1 1/3", "1/2 1")
	p.Jobs[0].Count, p.Jobs[1].Count = 150, 60
	p.Jobs[0].MaxTasks, p.Jobs[1].MaxTasks = big.NewRat(1, 130), big.NewRat(1, 20)
	exact, err := Allocate(context.Background(), p, BF, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	float, err := Allocate(context.Background(), p, BF, Settings{Engine: num.Float})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Jobs {
		// 210 steps with a few roundings each
		if x, y := exact.Jobs[i].Tasks.Float, float.Jobs[i].Tasks.Float; math.Abs(x-y) > 1e-11*x {
			t.Errorf("row %d: %v and %v", i, x, y)
		}
	}
}

// In successive calls, allocations for changing numbers of jobs under limits equal those of pools
// with these numbers.
func TestLimitsOfChangingNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom(Policies()).Draw(t, "policy")
		p := drawLimited(t, policy != BF)
		a, err := NewAllocator(p, policy)
		if err != nil {
			t.Fatal(err)
		}
		count, tasks := make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
		for range 3 {
			now := &Pool{Resources: p.Resources}
			var rows []int
			for i := range count {
				n := rapid.IntRange(0, 6).Draw(t, "count")
				if count[i] = float64(n); n > 0 {
					now.Jobs, rows = append(now.Jobs, p.Jobs[i]), append(rows, i)
					now.Jobs[len(rows)-1].Count = n
				}
			}
			if err := a.Tasks(context.Background(), count, tasks); err != nil {
				t.Fatal(err)
			}
			if rows == nil {
				continue
			}
			if r := a.Residual(count, tasks); !(r <= 1e-9) {
				t.Fatalf("%s: residual %g", policy, r)
			}
			if policy == BMF && len(p.Resources) > 2 {
				continue // there may be several allocations
			}
			want := mustAllocate(t, now, policy)
			for k, i := range rows {
				if f := want.Jobs[k].Tasks.Float; math.Abs(tasks[i]-f) > 1e-9*f {
					t.Fatalf("%s: %v jobs run %v tasks, want %v", policy, count, tasks, f)
				}
			}
		}
	})
}
