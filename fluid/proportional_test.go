package fluid

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/fluid/internal/prices"
	"productform/internal/input"
	"productform/num"
)

// pfTasks returns the tasks of Allocate in float64.
func pfTasks(t interface{ Fatalf(string, ...any) }, p *Pool) (tasks, prices []float64) {
	a, err := Allocate(context.Background(), p, PF, Settings{Engine: num.Float})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, j := range a.Jobs {
		tasks = append(tasks, j.Tasks.Float)
	}
	for _, r := range a.Resources {
		prices = append(prices, *r.Price)
	}
	return tasks, prices
}

// checkKKT checks in fractions, with the demands as written, that Σ_i φ_i a_ij <= 1, with equality
// if p_j > 0, and that φ_i Σ_j p_j a_ij = w_i, to a relative error of tol.
func checkKKT(p *Pool, tasks, prices []float64, tol float64) error {
	one, off := big.NewRat(1, 1), new(big.Rat).SetFloat64(tol)
	used := make([]*big.Rat, len(p.Resources))
	for j := range used {
		used[j] = new(big.Rat)
	}
	for i, job := range p.Jobs {
		phi := new(big.Rat).SetFloat64(tasks[i])
		if phi == nil || phi.Sign() <= 0 {
			return fmt.Errorf("tasks[%d] = %v", i, tasks[i])
		}
		value := new(big.Rat)
		for j, r := range p.Resources {
			part := new(big.Rat).Quo(job.Demand.Of(j), r.Capacity)
			part.Mul(part, phi)
			value.Add(value, new(big.Rat).Mul(part, new(big.Rat).SetFloat64(prices[j])))
			used[j].Add(used[j], part.Mul(part, big.NewRat(int64(job.Size()), 1)))
		}
		value.Quo(value, job.WeightOf())
		if d := value.Sub(value, one); d.Abs(d).Cmp(off) > 0 {
			return fmt.Errorf("row %d: φ_i Σ_j p_j a_ij / w_i differs from 1 by %s", i, d.FloatString(18))
		}
	}
	for j, u := range used {
		d := u.Sub(u, one)
		if prices[j] < 0 {
			return fmt.Errorf("prices[%d] = %v", j, prices[j])
		}
		if prices[j] > 0 {
			d.Abs(d)
		}
		if d.Cmp(off) > 0 {
			return fmt.Errorf("resource %d, price %v: utilization is off by %s", j, prices[j], d.FloatString(18))
		}
	}
	return nil
}

func wantTasks(t interface{ Errorf(string, ...any) }, what string, got, want []float64, tol float64) {
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol*w) {
			t.Errorf("%s: tasks[%d] = %v, want %v", what, i, got[i], w)
		}
	}
}

// In the example of Ghodsi et al., NSDI 2011, section 4.1, with 9 CPU and 18 GB, tasks of a take
// <1, 4> and tasks of b <3, 1>. Both resources are full: φ_a + 3 φ_b = 9 and 4 φ_a + φ_b = 18.
func TestProportionalTwoJobs(t *testing.T) {
	p := poolOf("1 4", "3 1")
	p.Resources[0].Capacity, p.Resources[1].Capacity = big.NewRat(9, 1), big.NewRat(18, 1)
	tasks, prices := pfTasks(t, p)
	wantTasks(t, "float", tasks, []float64{45. / 11, 18. / 11}, 1e-14)
	wantTasks(t, "prices", prices, []float64{1.8, 0.2}, 1e-13)
	a, err := Allocate(context.Background(), p, PF, Settings{RelTol: 1e-30})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []*big.Rat{big.NewRat(45, 11), big.NewRat(18, 11)} {
		v := a.Jobs[i].Tasks
		if low, _ := v.Low.Rat(nil); low.Cmp(want) > 0 {
			t.Errorf("tasks[%d] >= %v, want %v", i, v.Low, want)
		}
		if high, _ := v.High.Rat(nil); high.Cmp(want) < 0 {
			t.Errorf("tasks[%d] <= %v, want %v", i, v.High, want)
		}
	}
	if !a.Resources[0].Saturated || !a.Resources[1].Saturated {
		t.Error("a resource is not saturated")
	}
}

// For n1 jobs with profile (1, a) and n2 jobs with (a, 1), both resources are full if a <= n1/n2 <=
// 1/a, and each class runs 1/(1+a) in total; otherwise one resource is full and each job gets the
// same fraction of it.
func TestProportionalSymmetricProfiles(t *testing.T) {
	for _, a := range []string{"1/2", "1/3", "9/10", "1/1000", "0"} {
		for _, n := range [][2]int{{1, 1}, {2, 1}, {3, 2}, {7, 1}, {1, 7}, {999, 1000}, {1_000_000_000, 1}, {1, 500}} {
			p := poolOf("1"+" "+a, a+" "+"1")
			p.Jobs[0].Count, p.Jobs[1].Count = n[0], n[1]
			x, _ := num.Rat(a).Float64()
			n1, n2 := float64(n[0]), float64(n[1])
			want := []float64{1 / (1 + x) / n1, 1 / (1 + x) / n2}
			if n1 > n2/x {
				want = []float64{1 / (n1 + n2), 1 / (n1 + n2) / x}
			} else if n2 > n1/x {
				want = []float64{1 / (n1 + n2) / x, 1 / (n1 + n2)}
			}
			tasks, _ := pfTasks(t, p)
			wantTasks(t, fmt.Sprint(a, n), tasks, want, 1e-13)
		}
	}
}

// The residual is at most 1e-11, and the rounding of b and of the shares adds a few 1e-16.
const kktTolerance = 2e-11

func TestProportionalConditions(t *testing.T) {
	for seed := range uint64(3000) {
		p := pfRandomPool(rand.New(rand.NewPCG(seed, 1)))
		tasks, prices := pfTasks(t, p)
		if err := checkKKT(p, tasks, prices, kktTolerance); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// The tasks stay the same if rows and resources are permuted, units change, a row of n jobs is
// split, a resource is duplicated, or one is added that is never full. A residual of 1e-14 changes
// tasks by little more than 1e-12 if weights are equal, and by less than 1e-7 in all these cases.
func TestProportionalInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		p := pfRandomPool(rng)
		exact, err := Allocate(context.Background(), p, PF, Settings{RelTol: 1e-20})
		if err != nil {
			t.Fatalf("%v", err)
		}
		var want []float64
		for _, j := range exact.Jobs {
			want = append(want, j.Tasks.Float)
		}
		tasks, _ := pfTasks(t, p)
		wantTasks(t, "float against enclosed", tasks, want, 1e-7)
		check := func(what string, q *Pool, want []float64) {
			a, err := Allocate(context.Background(), q, PF, Settings{RelTol: 1e-15})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			var got []float64
			for _, j := range a.Jobs {
				got = append(got, j.Tasks.Float)
			}
			wantTasks(t, what, got, want, 3e-15)
		}
		q := &Pool{Resources: slices.Clone(p.Resources), Jobs: slices.Clone(p.Jobs)}
		rows, columns := rng.Perm(len(p.Jobs)), rng.Perm(len(p.Resources))
		permuted := make([]float64, len(rows))
		for i, row := range rows {
			q.Jobs[i] = p.Jobs[row]
			q.Jobs[i].Demand = nil
			for _, j := range columns {
				q.Jobs[i].Demand = append(q.Jobs[i].Demand, p.Jobs[row].Demand[j])
			}
			permuted[i] = want[row]
		}
		for j, column := range columns {
			q.Resources[j] = p.Resources[column]
		}
		check("permuted", q, permuted)

		q = &Pool{Resources: slices.Clone(p.Resources), Jobs: slices.Clone(p.Jobs)}
		for j := range q.Resources {
			q.Resources[j].Capacity = new(big.Rat).Mul(q.Resources[j].Capacity, big.NewRat(int64(j+2), 7))
		}
		for i := range q.Jobs {
			q.Jobs[i].Demand = nil
			for j, a := range p.Jobs[i].Demand {
				q.Jobs[i].Demand = append(q.Jobs[i].Demand, new(big.Rat).Mul(a, big.NewRat(int64(j+2), 7)))
			}
		}
		check("units", q, want)

		q = &Pool{Resources: p.Resources}
		var split []float64
		for i, job := range p.Jobs {
			for c := range job.Size() {
				one := job
				one.Name, one.Count = fmt.Sprint(job.Name, ".", c), 1
				q.Jobs = append(q.Jobs, one)
				split = append(split, want[i])
			}
		}
		check("split", q, split)

		q = &Pool{Resources: append(slices.Clone(p.Resources), p.Resources[0], Resource{Capacity: big.NewRat(1, 1)})}
		q.Resources[len(p.Resources)].Name, q.Resources[len(p.Resources)+1].Name = "again", "half"
		for _, job := range p.Jobs { // each job needs half as much of the last resource as of the first
			half := new(big.Rat).Quo(job.Demand[0], p.Resources[0].Capacity)
			job.Demand = append(slices.Clone(job.Demand), job.Demand[0], half.Mul(half, big.NewRat(1, 2)))
			q.Jobs = append(q.Jobs, job)
		}
		check("redundant", q, want)
	})
}

// With two resources, the prices are (t, M-t), and bisection finds t, since Σ_i m_i (b_i1 -
// b_i2)/(t b_i1 + (M-t) b_i2) decreases in t.
func TestProportionalBisection(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 4))
		p := benchPool(1+rng.IntN(20), 2)
		for i := range p.Jobs {
			for j := range p.Jobs[i].Demand {
				p.Jobs[i].Demand[j] = big.NewRat(1+rng.Int64N(100), 1+rng.Int64N(100))
			}
		}
		count := benchCounts(p)
		var demand [][2]float64
		for _, job := range p.Jobs {
			x, _ := job.Demand[0].Float64()
			y, _ := job.Demand[1].Float64()
			demand = append(demand, [2]float64{x, y})
		}
		a := func(i, j int) float64 { return demand[i][j] }
		total := 0.0
		for _, c := range count {
			total += c
		}
		low, high := 0.0, total
		for range 200 {
			x, slope := (low+high)/2, 0.0
			for i, c := range count {
				slope += c * (a(i, 0) - a(i, 1)) / (x*a(i, 0) + (total-x)*a(i, 1))
			}
			if slope > 0 {
				low = x
			} else {
				high = x
			}
		}
		want := make([]float64, len(count))
		for i := range want {
			want[i] = 1 / (low*a(i, 0) + (total-low)*a(i, 1))
		}
		tasks, _ := pfTasks(t, p)
		wantTasks(t, fmt.Sprint("seed ", seed), tasks, want, 1e-11) // 20 terms of either sign
	}
}

// Expectation maximization, p_j <- p_j load_j, converges slowly for all pools: with similar
// demands, after 3,000 rounds it reaches the maximum of Σ_i m_i log φ_i to 1e-5 of Σ_i m_i.
func TestProportionalExpectationMaximisation(t *testing.T) {
	for seed := range uint64(30) {
		p := benchPool(3+int(seed), 2+int(seed%4))
		e := NewProfiles(p)
		f, err := newProblem(e, "")
		if err != nil {
			t.Fatal(err)
		}
		count := benchCounts(p)
		total := 0.0
		for _, c := range count {
			total += c
		}
		price := slices.Repeat([]float64{total / float64(f.resources)}, f.resources)
		share := make([]float64, f.rows)
		for range 3_000 {
			clear(share)
			for j, b := range f.need {
				for i, b := range b {
					share[i] += price[j] * b
				}
			}
			for i, y := range share {
				share[i] = 1 / y
			}
			for j, used := range f.utilization(count, share) {
				price[j] *= used
			}
		}
		got := make([]float64, f.rows)
		if err := prices.NewSolver(f.need, f.weight).Shares(context.Background(), count, got); err != nil {
			t.Fatal(err)
		}
		gap := 0.0
		for i, s := range got {
			gap += count[i] * math.Log(share[i]/s) / total
		}
		if math.Abs(gap) > 1e-5 {
			t.Errorf("seed %d: logarithms differ by %g in the mean", seed, gap)
		}
	}
}

// Sums of 5000 terms are halved twice, and the conditions hold as for few rows.
func TestProportionalManyRows(t *testing.T) {
	for _, resources := range []int{2, 3} {
		p := benchPool(5000, resources)
		tasks, prices := pfTasks(t, p)
		if err := checkKKT(p, tasks, prices, kktTolerance); err != nil {
			t.Errorf("%d resources: %v", resources, err)
		}
	}
}

func TestProportionalDegenerate(t *testing.T) {
	for _, c := range []struct {
		name string
		pool *Pool
		want []float64
	}{
		{"one job", poolOf("1/2 1/4"), []float64{2}},
		{"parallel profiles", poolOf("1 1/2", "2 1", "1/2 1/4"), []float64{1. / 3, 1. / 6, 2. / 3}},
		{"equal resources", poolOf("1 1 1", "1/2 1/2 1/2"), []float64{0.5, 1}},
		{"a resource nobody needs", poolOf("1 0 0", "0 0 1"), []float64{1, 1}},
		{"jobs that never meet", poolOf("1e-6 0", "0 1e6"), []float64{1e6, 1e-6}},
		{"saturated at price 0", poolOf("1 1", "1 1"), []float64{0.5, 0.5}},
		{"twelve orders", poolOf("1 1e-12", "1e-12 1"), []float64{1 / (1 + 1e-12), 1 / (1 + 1e-12)}},
	} {
		for _, s := range []Settings{{Engine: num.Float}, {RelTol: 1e-14}} {
			a, err := Allocate(context.Background(), c.pool, PF, s)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			var got, prices []float64
			for _, j := range a.Jobs {
				got = append(got, j.Tasks.Float)
			}
			for _, r := range a.Resources {
				prices = append(prices, *r.Price)
			}
			wantTasks(t, c.name, got, c.want, 1e-13)
			if err := checkKKT(c.pool, got, prices, kktTolerance); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	p := poolOf("1 1/2 1/3")
	p.Jobs[0].Count = 1_000_000
	tasks, _ := pfTasks(t, p)
	wantTasks(t, "a million jobs", tasks, []float64{1e-6}, 1e-15)
}

// pfHardProblem draws a problem with weights over up to fifty orders of magnitude, and columns that
// are equal or equal up to 1e-9.
func pfHardProblem(rng *rand.Rand) (*problem, []float64) {
	n, resources := 1+rng.IntN([]int{3, 10, 50}[rng.IntN(3)]), 1+rng.IntN(7)
	span := []float64{0.5, 3, 10, 30, 60, 200}[rng.IntN(6)]
	maybe := func() bool { return rng.IntN(2) == 0 }
	zeros, near, heavy, parallel, coarse, equal := maybe(), maybe(), maybe(), maybe(), maybe(), maybe()
	p := &problem{
		rows:      n,
		resources: resources,
		dominant:  make([]float64, n),
		weight:    make([]float64, n),
		speed:     make([]float64, n),
	}
	for range resources {
		p.need = append(p.need, make([]float64, n))
	}
	count := make([]float64, n)
	for i := range n {
		top := 0.0
		for j := range resources {
			x := math.Exp(-span * rng.Float64())
			switch {
			case equal && j > 0 && rng.IntN(resources) < j:
				x = p.need[j-1][i]
			case coarse:
				x = float64(rng.IntN(4)) / 3
			case near && j > 0 && rng.IntN(3) == 0:
				x = p.need[j-1][i] * (1 - 1e-9*float64(rng.IntN(2)))
			case zeros && rng.IntN(3) == 0:
				x = 0
			}
			p.need[j][i] = x
			top = max(top, x)
		}
		for j := range resources {
			switch {
			case parallel && i > 0:
				p.need[j][i] = p.need[j][0]
			case top > 0:
				p.need[j][i] /= top
			default:
				p.need[j][i] = 1
			}
		}
		p.dominant[i], p.weight[i], count[i] = 1, 1, float64(1+rng.IntN(5))
		if heavy {
			count[i], p.weight[i] = math.Exp(rng.NormFloat64()*15), math.Exp(rng.NormFloat64()*15)
		}
		if rng.IntN(10) == 0 {
			count[i] = 0
		}
	}
	count[rng.IntN(n)] = 1
	return p, count
}

// Starting from scratch or from the prices of an earlier call, the kernel ends with a small
// residual, which is the residual of its shares.
func TestProportionalHard(t *testing.T) {
	for seed := range uint64(50_000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		p, count := pfHardProblem(rng)
		k := prices.NewSolver(p.need, p.weight)
		share := make([]float64, p.rows)
		for round := range 3 {
			if err := k.Shares(context.Background(), count, share); err != nil || !(k.Residual <= 2e-11) {
				t.Fatalf("seed %d, round %d: residual %g, %v", seed, round, k.Residual, err)
			}
			for j, used := range p.utilization(count, share) {
				if k.Price[j] > 0 && math.Abs(used-1) > 2e-11 || used > 1+2e-11 {
					t.Fatalf("seed %d: utilization %v at price %v", seed, used, k.Price[j])
				}
			}
			for i := range count {
				if share[i] > 0 != (count[i] > 0) {
					t.Fatalf("seed %d: share %v of %v jobs", seed, share[i], count[i])
				}
				count[i] = max(0, count[i]+float64(rng.IntN(3)-1))
			}
			count[rng.IntN(p.rows)] = 2
		}
	}
}

func TestProportionalForget(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	p := benchPool(30, 4)
	a, err := NewAllocator(p, PF)
	if err != nil {
		t.Fatal(err)
	}
	count, tasks, want := benchCounts(p), make([]float64, 30), make([]float64, 30)
	for range 100 {
		for i := range count {
			count[i] = float64(rng.IntN(5))
		}
		fresh, err := NewAllocator(p, PF)
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh.Tasks(context.Background(), count, want); err != nil {
			t.Fatal(err)
		}
		if err := a.Tasks(context.Background(), count, tasks); err != nil { // starting from the previous prices
			t.Fatal(err)
		}
		for i, x := range tasks {
			if math.Abs(x-want[i]) > 1e-11*want[i] {
				t.Fatalf("warm: tasks[%d] = %v, want %v", i, x, want[i])
			}
		}
		a.Forget()
		if err := a.Tasks(context.Background(), count, tasks); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tasks, want) {
			t.Fatal("digits depend on the calls before Forget")
		}
	}
}

func TestProportionalNoAllocation(t *testing.T) {
	for _, resources := range []int{1, 2, 4, 7} {
		p := benchPool(20, resources)
		a, err := NewAllocator(p, PF)
		if err != nil {
			t.Fatal(err)
		}
		count, tasks := benchCounts(p), make([]float64, 20)
		i := 0
		if n := testing.AllocsPerRun(100, func() {
			count[i%20] = float64(i % 3)
			i++
			if err := a.Tasks(context.Background(), count, tasks); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%d resources: %v allocations per call", resources, n)
		}
	}
}

func TestProportionalBadCounts(t *testing.T) {
	a, err := NewAllocator(poolOf("1 1/2", "1/2 1"), PF)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		count, tasks []float64
		path         string
	}{
		{[]float64{1}, make([]float64, 2), "count"},
		{[]float64{1, 1}, make([]float64, 3), "tasks"},
		{[]float64{1, -1}, make([]float64, 2), "count[1]"},
		{[]float64{math.NaN(), 1}, make([]float64, 2), "count[0]"},
		{[]float64{math.Inf(1), 1}, make([]float64, 2), "count[0]"},
	} {
		var bad *input.Error
		if err := a.Tasks(context.Background(), c.count, c.tasks); !errors.As(err, &bad) || bad.Path != c.path {
			t.Errorf("%v: %v", c.count, err)
		}
	}
}

// Row x has many jobs and needs both of two resources; y and z need one each. With equally many
// jobs of y and z both prices are half of Σ_i m_i. An earlier call with more jobs of y must not
// change the result, nor may the path to the prices if counts are equal.
func TestProportionalWarmSmallRows(t *testing.T) {
	for _, weight := range []string{"1", "1e-3", "1e-6"} {
		for _, x := range []float64{1e3, 1e5, 1e9} {
			p := poolOf("1 1", "0 1", "1 0")
			p.Jobs[1].Weight, p.Jobs[2].Weight = num.Rat(weight), num.Rat(weight)
			a, err := NewAllocator(p, PF)
			if err != nil {
				t.Fatal(err)
			}
			w, _ := num.Rat(weight).Float64()
			tasks, want := make([]float64, 3), 2*w/(x+2*w)
			for _, count := range [][]float64{{x, 5, 1}, {x, 1, 1}} {
				if err := a.Tasks(context.Background(), count, tasks); err != nil {
					t.Fatal(err)
				}
			}
			wantTasks(t, fmt.Sprint(weight, x), tasks, []float64{1 / (x + 2*w), want, want}, 1e-12)
		}
	}
}

// Warm and cold starts agree to 1e-9 if all Σ_i m_i / m_i are at most 1e6, and to the last digit
// otherwise, whether one count changes or all do. The measured difference is 2e-12.
func TestProportionalWarmAgrees(t *testing.T) {
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 11))
		p := benchPool(1+rng.IntN(20), 2+rng.IntN(5))
		if seed%2 == 0 {
			p = pfRandomPool(rng)
			for i := range p.Jobs {
				p.Jobs[i].Weight = big.NewRat(1+rng.Int64N(3), 1)
			}
		}
		warm, err := NewAllocator(p, PF)
		if err != nil {
			t.Fatal(err)
		}
		cold, _ := NewAllocator(p, PF)
		spread := float64(1 + rng.IntN(8))
		draw := func() float64 { return math.Floor(math.Pow(10, spread*rng.Float64())) }
		count, got, want := make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
		for i := range count {
			count[i] = draw()
		}
		for range 10 {
			i := rng.IntN(len(count))
			if count[i] = max(0, count[i]+float64(1-2*rng.IntN(2))); seed%4 < 2 {
				for i := range count {
					count[i] = draw()
				}
			}
			cold.Forget()
			if err := errors.Join(
				warm.Tasks(context.Background(), count, got), cold.Tasks(context.Background(), count, want),
			); err != nil {
				t.Fatal(err)
			}
			tol, total, least := 1e-9, 0.0, math.Inf(1)
			for i, job := range p.Jobs {
				w, _ := job.WeightOf().Float64()
				if total += w * count[i]; count[i] > 0 {
					least = min(least, w*count[i])
				}
			}
			if total > 1.001e6*least {
				tol = 0
			}
			wantTasks(t, fmt.Sprint("seed ", seed), got, want, tol)
		}
	}
}

// A resource with a positive price is saturated, also in float64.
func TestProportionalPriceMeansSaturated(t *testing.T) {
	for seed := range uint64(300) {
		a, err := Allocate(
			context.Background(), pfRandomPool(rand.New(rand.NewPCG(seed, 12))), PF, Settings{Engine: num.Float},
		)
		if err != nil {
			t.Fatal(err)
		}
		for j, r := range a.Resources {
			if *r.Price > 0 && !r.Saturated {
				t.Errorf("seed %d: resource %d of price %v is used %v", seed, j, *r.Price, r.Utilization.Float)
			}
		}
	}
}

// The second job would run 1e-360 tasks, which is an error: no partial results remain.
func TestAllocatorClearsAfterError(t *testing.T) {
	p := poolOf("1", "1e120")
	p.Jobs[0].Weight, p.Jobs[1].Weight = num.Rat("1e120"), num.Rat("1e-120")
	a, err := NewAllocator(p, PF)
	if err != nil {
		t.Fatal(err)
	}
	tasks := []float64{7, 7}
	if err := a.Tasks(context.Background(), []float64{1, 1}, tasks); err == nil || tasks[0] != 0 || tasks[1] != 0 {
		t.Errorf("tasks %v, error %v", tasks, err)
	}
}
