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

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/num"
)

// fillingShares returns the exact dominant shares under DRF or MaxMin, and their speeds.
func fillingShares(p *Pool, policy Policy) (e *Profiles, shares, speed []*big.Rat) {
	e = NewProfiles(p)
	speed = e.Weight
	if policy == MaxMin {
		speed = e.Speeds()
	}
	shares, _ = e.fill(context.Background(), speed) // cannot fail without a deadline
	return e, shares, speed
}

// fillingTasks returns the numbers of tasks in float64.
func fillingTasks(t require, p *Pool, policy Policy) []float64 {
	a, err := NewAllocator(p, policy)
	if err != nil {
		t.Fatal(err)
	}
	count, tasks := make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
	for i, job := range p.Jobs {
		count[i] = float64(job.Size())
	}
	if err := a.Tasks(context.Background(), count, tasks); err != nil {
		t.Fatal(err)
	}
	return tasks
}

type require interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

func fillingRat(t require, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("not a fraction: %q", s)
	}
	return r
}

// fillingPool creates a pool from capacities and rows of weight, count and demands.
func fillingPool(t require, capacities []string, rows ...[]string) *Pool {
	p := &Pool{}
	for j, c := range capacities {
		p.Resources = append(p.Resources, Resource{Name: fmt.Sprint("r", j), Capacity: fillingRat(t, c)})
	}
	for i, row := range rows {
		job := Job{
			Name:   fmt.Sprint("j", i),
			Weight: fillingRat(t, row[0]),
			Count:  int(fillingRat(t, row[1]).Num().Int64()),
		}
		for _, a := range row[2:] {
			job.Demand = append(job.Demand, fillingRat(t, a))
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

// Answers equal those of an independent program, in fractions.
func TestFillingReference(t *testing.T) {
	compared := 0
	for _, c := range references(t) {
		p := c.pool
		want, ok := c.expect[DRF]
		if !ok {
			continue
		}
		got, err := Allocate(context.Background(), p, DRF, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(c.name, err)
		}
		tasks := fillingTasks(t, p, DRF)
		for i, job := range got.Jobs {
			compared++
			phi := want.tasks[i]
			if job.Tasks.Exact.Cmp(phi) != 0 || job.DominantShare.Exact.Cmp(want.shares[i]) != 0 {
				t.Errorf("%s: job %d has %v tasks, share %v; want %v, %v",
					c.name, i, job.Tasks.Exact, job.DominantShare.Exact,
					phi, want.shares[i])
			}
			if f, _ := phi.Float64(); math.Abs(tasks[i]-f) > 1e-14*f { // a few roundings
				t.Errorf("%s: job %d has %v tasks in float64, want %v", c.name, i, tasks[i], f)
			}
		}
		for j, r := range got.Resources {
			if r.Utilization.Exact.Cmp(want.utilization[j]) != 0 {
				t.Errorf("%s: resource %d is used at %v, want %v", c.name, j, r.Utilization.Exact, want.utilization[j])
			}
		}
	}
	if compared == 0 {
		t.Error("no answers to compare with")
	}
}

func TestFillingByHand(t *testing.T) {
	for _, c := range []struct {
		name       string
		policy     Policy
		capacities []string
		rows       [][]string // weight, count, demands
		tasks      []string
	}{
		{
			"Ghodsi et al., section 4.1", DRF, []string{"9", "18"},
			[][]string{{"1", "1", "1", "4"}, {"1", "1", "3", "1"}}, []string{"3", "2"},
		},
		{
			"equal tasks", MaxMin, []string{"9", "18"}, [][]string{{"1", "1", "1", "4"}, {"1", "1", "3", "1"}},
			[]string{"9/4", "9/4"},
		},
		{"weights", DRF, []string{"1"}, [][]string{{"3", "1", "1"}, {"1", "1", "1/2"}}, []string{"3/4", "1/2"}},
		{"weights", MaxMin, []string{"1"}, [][]string{{"3", "1", "1"}, {"1", "1", "1/2"}}, []string{"6/7", "2/7"}},
		{"counts", DRF, []string{"1"}, [][]string{{"1", "3", "1"}, {"1", "1", "1/2"}}, []string{"1/4", "1/2"}},
		{"one job", DRF, []string{"10", "6"}, [][]string{{"7", "1", "4", "3"}}, []string{"2"}},
		{"one job", MaxMin, []string{"10", "6"}, [][]string{{"7", "1", "4", "3"}}, []string{"2"}},
		{
			"nothing in common", DRF, []string{"10", "6"}, [][]string{{"7", "1", "4", "0"}, {"1", "2", "0", "1"}},
			[]string{"5/2", "3"},
		},
		{"three rounds", DRF, []string{"1", "1", "1"},
			[][]string{
				{"1", "1", "1", "0", "0"}, {"1", "1", "1", "1", "0"}, {"1", "1", "0", "1", "1/2"},
				{"1", "1", "0", "0", "1"},
			},
			[]string{"1/2", "1/2", "1/2", "3/4"}},
		{"after the first stops", DRF, []string{"1", "1", "1"},
			[][]string{
				{"1", "2", "1", "1/2", "0"}, {"1", "1", "1", "0", "0"}, {"1", "1", "0", "1", "1"},
				{"1", "1", "0", "0", "1"},
			},
			[]string{"1/3", "1/3", "1/2", "1/2"}},
	} {
		p := fillingPool(t, c.capacities, c.rows...)
		e, shares, _ := fillingShares(p, c.policy)
		tasks := fillingTasks(t, p, c.policy)
		for i, share := range shares {
			want := fillingRat(t, c.tasks[i])
			if got := new(big.Rat).Quo(share, e.Dominant[i]); got.Cmp(want) != 0 {
				t.Errorf("%s, %s: job %d has %v tasks, want %v", c.name, c.policy, i, got, want)
			}
			if f, _ := want.Float64(); math.Abs(tasks[i]-f) > 1e-15*f { // a few roundings
				t.Errorf("%s, %s: job %d has %v tasks in float64, want %v", c.name, c.policy, i, tasks[i], f)
			}
		}
	}
}

// Classes of profiles (1, a) and (a, 1) get n_k / max(n_1 + a n_2, a n_1 + n_2) in total, since
// both stop at the same level.
func TestFillingTwoClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := big.NewRat(rapid.Int64Range(1, 100).Draw(t, "hundredths"), 100)
		n1, n2 := rapid.Int64Range(1, maxJobsInRow).Draw(t, "n1"), rapid.Int64Range(1, maxJobsInRow).Draw(t, "n2")
		one := big.NewRat(1, 1)
		p := &Pool{Resources: []Resource{{Name: "r1", Capacity: one}, {Name: "r2", Capacity: one}},
			Jobs: []Job{
				{Name: "1", Demand: []*big.Rat{one, a}, Count: int(n1)},
				{Name: "2", Demand: []*big.Rat{a, one}, Count: int(n2)},
			}}
		most, least := big.NewRat(max(n1, n2), 1), big.NewRat(min(n1, n2), 1)
		want := new(big.Rat).Inv(most.Add(most, least.Mul(least, a)))
		f, _ := want.Float64()
		_, shares, _ := fillingShares(p, DRF)
		for i, got := range fillingTasks(t, p, DRF) {
			if shares[i].Cmp(want) != 0 {
				t.Fatalf("job %d has %v, want %v", i, shares[i], want)
			}
			if math.Abs(got-f) > 1e-15*f { // a few roundings
				t.Fatalf("job %d has %v in float64, want %v", i, got, f)
			}
		}
	})
}

// drawPool draws a pool of small integers, which has many ties.
func drawFillingPool(t *rapid.T) *Pool {
	n, resources := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "resources")
	p := &Pool{}
	for j := range resources {
		p.Resources = append(p.Resources, Resource{
			Name:     fmt.Sprint("r", j),
			Capacity: big.NewRat(rapid.Int64Range(1, 12).Draw(t, "capacity"), 1),
		})
	}
	for i := range n {
		job := Job{Name: fmt.Sprint("j", i), Weight: big.NewRat(rapid.Int64Range(1, 4).Draw(t, "weight"), 2),
			Count: rapid.IntRange(1, 4).Draw(t, "count"), Demand: make([]*big.Rat, resources)}
		for j := range job.Demand {
			job.Demand[j] = big.NewRat(rapid.Int64Range(0, 3).Draw(t, "demand"), 1)
		}
		if j := rapid.IntRange(0, resources-1).Draw(t, "needed"); job.Demand[j].Sign() == 0 {
			job.Demand[j] = big.NewRat(1, 1)
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

func drawFillingPolicy(t *rapid.T) Policy {
	return rapid.SampledFrom([]Policy{DRF, MaxMin}).Draw(t, "policy")
}

// Progressive filling matches linear programmes without a notion of saturation: they find the
// largest common level of all jobs that can still grow, and then, for each of them, whether it can
// have more while the others keep theirs.
func TestFillingMatchesLinearProgrammes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, policy := drawFillingPool(t), drawFillingPolicy(t)
		_, shares, speed := fillingShares(p, policy)
		want := levelsByProgrammes(t, p, policy)
		for i := range shares {
			got, _ := new(big.Rat).Quo(shares[i], speed[i]).Float64()
			if math.Abs(got-want[i]) > 1e-7*want[i] { // tolerances of the programmes, added up over the rounds
				t.Fatalf("job %d has the level %v, want %v", i, got, want[i])
			}
		}
	})
}

// levelsByProgrammes works in tasks per weight or dominant shares per weight: φ_i = level_i w_i or
// level_i w_i / d_i.
func levelsByProgrammes(t require, p *Pool, policy Policy) []float64 {
	n, resources := len(p.Jobs), len(p.Resources)
	use := make([][]float64, n) // use of each resource by all jobs of row i at level 1
	for i, job := range p.Jobs {
		use[i] = make([]float64, resources)
		dominant := 0.0
		for j, r := range p.Resources {
			a, _ := job.Demand[j].Float64()
			c, _ := r.Capacity.Float64()
			use[i][j] = a / c
			dominant = max(dominant, a/c)
		}
		w, _ := job.Weight.Float64()
		for j := range use[i] {
			use[i][j] *= w * float64(job.Count)
			if policy == DRF {
				use[i][j] /= dominant
			}
		}
	}
	levels, active := make([]float64, n), make([]bool, n)
	for i := range active {
		active[i] = true
	}
	// The variables are the common level above floor, the excess of each active row, and the
	// remainder of each resource.
	highest := func(floor float64, aim int) float64 {
		a := mat.NewDense(resources, 1+n+resources, nil)
		b, c := make([]float64, resources), make([]float64, 1+n+resources)
		basis := make([]int, resources)
		for j := range resources {
			b[j] = 1
			for i := range n {
				if active[i] {
					b[j] -= floor * use[i][j]
					a.Set(j, 0, a.At(j, 0)+use[i][j])
					a.Set(j, 1+i, use[i][j])
				} else {
					b[j] -= levels[i] * use[i][j]
					a.Set(j, 1+i, 1) // never worthwhile
				}
			}
			b[j] = max(b[j], 0)
			a.Set(j, 1+n+j, 1)
			basis[j] = 1 + n + j
		}
		c[aim] = -1
		value, _, err := lp.Simplex(c, a, b, 1e-12, basis)
		if err != nil {
			t.Fatal(err)
		}
		return floor - value
	}
	floor := 0.0
	for slices.Contains(active, true) {
		floor = highest(floor, 0)
		stop := make([]bool, n)
		for i := range n {
			stop[i] = active[i] && highest(floor, 1+i) <= floor*(1+1e-8)
		}
		if !slices.Contains(stop, true) {
			t.Fatal("all can grow beyond the largest common level")
		}
		for i := range n {
			if stop[i] {
				active[i], levels[i] = false, floor
			}
		}
	}
	return levels
}

// No feasible allocation has a larger smallest level, or the same smallest level and a larger
// second smallest, and so on.
func TestFillingIsLexicographicallyBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, policy := drawFillingPool(t), drawFillingPolicy(t)
		e, best, speed := fillingShares(p, policy)
		sorted := func(shares []*big.Rat) (levels []*big.Rat) {
			for i, s := range shares {
				levels = append(levels, new(big.Rat).Quo(s, speed[i]))
			}
			slices.SortFunc(levels, (*big.Rat).Cmp)
			return levels
		}
		for range 10 {
			other := make([]*big.Rat, len(best))
			for i, s := range best { // from 0 to 3 times the share, or a few percent more or less
				factor := big.NewRat(rapid.Int64Range(0, 30).Draw(t, "tenths"), 10)
				if rapid.Bool().Draw(t, "near") {
					factor = big.NewRat(rapid.Int64Range(97, 103).Draw(t, "hundredths"), 100)
				}
				other[i] = new(big.Rat).Mul(s, factor)
			}
			most := big.NewRat(1, 1)
			for _, u := range e.used(other) {
				if u.Cmp(most) > 0 {
					most = u
				}
			}
			for _, s := range other {
				s.Quo(s, most)
			}
			if slices.CompareFunc(sorted(other), sorted(best), (*big.Rat).Cmp) > 0 {
				t.Fatalf("shares %v are feasible and better than %v", other, best)
			}
		}
	})
}

// The exact shares are feasible, and each job has a bottleneck: a saturated resource that it needs,
// on which no job is at a higher level. This property characterizes progressive filling. Jobs with
// weights w_i get at least the dominant share w_i / Σ w.
func TestFillingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, policy := drawFillingPool(t), drawFillingPolicy(t)
		e, shares, speed := fillingShares(p, policy)
		one, total := big.NewRat(1, 1), new(big.Rat)
		for i, w := range e.Weight {
			total.Add(total, new(big.Rat).Mul(w, e.Count[i]))
		}
		used := e.used(shares)
		for j, u := range used {
			if u.Cmp(one) > 0 {
				t.Fatalf("resource %d is used at %v", j, u)
			}
		}
		level := func(i int) *big.Rat { return new(big.Rat).Quo(shares[i], speed[i]) }
		for i := range shares {
			bottleneck := false
			for j, u := range used {
				highest := u.Cmp(one) == 0 && e.Need[i][j].Sign() > 0
				for k := range shares {
					highest = highest && (e.Need[k][j].Sign() == 0 || level(k).Cmp(level(i)) <= 0)
				}
				bottleneck = bottleneck || highest
			}
			if !bottleneck {
				t.Fatalf("job %d has no bottleneck", i)
			}
			if policy == DRF && new(big.Rat).Mul(shares[i], total).Cmp(e.Weight[i]) < 0 {
				t.Fatalf("job %d has a share of %v, less than its fraction by weight", i, shares[i])
			}
		}
	})
}

// rawFilling draws problems whose numbers are the same in both engines and spread over orders of
// magnitude.
func rawFilling(rng *rand.Rand, n, resources int, digits float64) (
	e *Profiles, p *problem, speed []*big.Rat, count []float64,
) {
	spread := func() float64 { return math.Pow(10, -digits*rng.Float64()) }
	e, p = &Profiles{}, &problem{rows: n, resources: resources, weight: make([]float64, n)}
	p.need, count = make([][]float64, resources), make([]float64, n)
	for j := range p.need {
		p.need[j] = make([]float64, n)
	}
	for i := range n {
		p.weight[i], count[i] = spread(), math.Round(1e9*spread())
		if count[i] < 1 {
			count[i] = 1
		}
		for j := range resources {
			if rng.IntN(2) == 0 {
				p.need[j][i] = spread()
			}
		}
		p.need[rng.IntN(resources)][i] = 1
		row := make([]*big.Rat, resources)
		for j := range row {
			row[j] = new(big.Rat).SetFloat64(p.need[j][i])
		}
		e.Need = append(e.Need, row)
		e.Count = append(e.Count, new(big.Rat).SetFloat64(count[i]))
		speed = append(speed, new(big.Rat).SetFloat64(p.weight[i]))
	}
	return e, p, speed, count
}

// For any spread of the numbers, shares in float64 have bottlenecks up to rounding: this is the
// error bound in the comment on filling, checked in fractions.
func TestFillingFloatHasBottlenecks(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 11))
		e, p, speed, count := rawFilling(rng, 1+rng.IntN(30), 1+rng.IntN(6), []float64{0.1, 3, 12, 60}[seed%4])
		share := make([]float64, p.rows)
		f := newFilling(p, p.weight).(*filling)
		if err := f.Shares(context.Background(), count, share); err != nil {
			t.Fatal(err)
		}
		shares, level := make([]*big.Rat, p.rows), make([]float64, p.rows)
		if f.tie > 2e-14 {
			t.Fatalf("seed %d: the kernel has an error bound of %v", seed, f.tie)
		}
		for i, s := range share {
			if !(s > 0 && s <= 1) {
				t.Fatalf("seed %d: share %v", seed, s)
			}
			shares[i] = new(big.Rat).SetFloat64(s)
			level[i], _ = new(big.Rat).Quo(shares[i], speed[i]).Float64()
		}
		saturated := make([]bool, p.resources)
		for j, u := range e.used(shares) {
			x, _ := u.Float64()
			if x > 1+2*f.tie {
				t.Errorf("seed %d: resource %d is used at 1 + %v", seed, j, x-1)
			}
			saturated[j] = x >= 1-2*f.tie
		}
		for i := range share {
			bottleneck := false
			for j := range saturated {
				highest := saturated[j] && p.need[j][i] > 0
				for k := range share {
					// A share and a level of the test are rounded once each, for both jobs.
					highest = highest && (p.need[j][k] == 0 || level[k] <= level[i]*(1+0x1p-50))
				}
				bottleneck = bottleneck || highest
			}
			if !bottleneck {
				t.Errorf("seed %d: job %d has no bottleneck", seed, i)
			}
		}
	}
}

// Relative errors compared with the exact engine are within their bounds. A level L that fills the
// fraction u_j(L) of a saturated resource, after the previous levels, is off by at most (tie +
// Σ_{M<L} u_j(M) error(M)) / u_j(L), to first order.
func TestFillingFloatAgainstExact(t *testing.T) {
	for _, digits := range []float64{0.1, 3, 12} {
		sharp := 0
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, uint64(digits*10)))
			e, p, speed, count := rawFilling(rng, 1+rng.IntN(20), 1+rng.IntN(5), digits)
			share := make([]float64, p.rows)
			f := newFilling(p, p.weight).(*filling)
			if err := f.Shares(context.Background(), count, share); err != nil {
				t.Fatal(err)
			}
			shares, _ := e.fill(context.Background(), speed)
			worst := fillingErrors(e, shares, speed, f.tie)
			for i, s := range shares {
				want, _ := s.Float64()
				bound := 2*worst[i] + 0x1p-50
				if math.Abs(share[i]-want) > bound*want {
					t.Errorf("digits %g, seed %d: job %d has %v, want %v, relative error %g, bound %g",
						digits, seed, i, share[i], want, share[i]/want-1, bound)
				}
				if bound <= 1e-12 {
					sharp++
				}
			}
		}
		if sharp < 1000 { // of about 2000 jobs
			t.Errorf("digits %g: the bound is 1e-12 or less for %d jobs only", digits, sharp)
		}
	}
}

// fillingErrors returns the relative error of each share, to first order, if each capacity is off
// by tie.
func fillingErrors(e *Profiles, shares, speed []*big.Rat, tie float64) []float64 {
	order, level := make([]int, len(shares)), make([]*big.Rat, len(shares))
	for i := range order {
		order[i], level[i] = i, new(big.Rat).Quo(shares[i], speed[i])
	}
	slices.SortFunc(order, func(a, b int) int { return level[a].Cmp(level[b]) })
	used, bounds := e.used(shares), make([]float64, len(shares))
	for at := 0; at < len(order); {
		end := at
		for end < len(order) && level[order[end]].Cmp(level[order[at]]) == 0 {
			end++
		}
		worst := 0.0
		for j, u := range used {
			if u.Cmp(big.NewRat(1, 1)) != 0 {
				continue
			}
			part := func(i int) float64 {
				x := new(big.Rat).Mul(shares[i], e.Need[i][j])
				f, _ := x.Mul(x, e.Count[i]).Float64()
				return f
			}
			before, now := 0.0, 0.0
			for _, i := range order[:at] {
				before += part(i) * bounds[i]
			}
			for _, i := range order[at:end] {
				now += part(i)
			}
			highest := true
			for _, i := range order[end:] {
				highest = highest && e.Need[i][j].Sign() == 0
			}
			if highest && now > 0 {
				worst = max(worst, (tie+before)/now)
			}
		}
		for _, i := range order[at:end] {
			bounds[i] = worst
		}
		at = end
	}
	return bounds
}

// Two resources saturated at the same level stop a job of tiny speed, regardless of which one
// rounding puts first. If rounding separated them by 1e-16, its share would change by a factor of
// 1e-16/1e-12.
func TestFillingTies(t *testing.T) {
	for n := range 200 {
		rows := [][]string{{"1e-12", "1", "0", "1", "0"}, {"1e-9", "1", "0", "1/3", "1"}}
		for k := range 1 + n%17 {
			w := fmt.Sprintf("%d/%d", 1+(n+k)%7, 3+k%11)
			rows = append(rows, []string{
				w, fmt.Sprint(1 + k%3), fmt.Sprintf("1/%d", 7+n), fmt.Sprintf("1/%d", 7+n), "0",
			})
		}
		// Another row takes of the first resource what the first two rows take of the second.
		rows = append(rows, []string{"1e-12", "1", "1", "0", "0"}, []string{"1/3000000000", "1", "1", "0", "0"})
		p := fillingPool(t, []string{"1", "1", "1"}, rows...)
		_, shares, _ := fillingShares(p, DRF)
		e := NewProfiles(p)
		for i, got := range fillingTasks(t, p, DRF) {
			want, _ := new(big.Rat).Quo(shares[i], e.Dominant[i]).Float64()
			if math.Abs(got-want) > 1e-13*want { // the bound of one round
				t.Errorf("%d: job %d has %v tasks, want %v", n, i, got, want)
			}
		}
	}
}

// Some changes of a pool leave the allocation unchanged, or change it in a known way: exactly in
// fractions, and up to rounding in float64.
func TestFillingInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, policy := drawFillingPool(t), drawFillingPolicy(t)
		e, shares, _ := fillingShares(p, policy)
		n := len(p.Jobs)
		same := func(name string, q *Pool, row func(i int) int, factor *big.Rat) {
			f, others, _ := fillingShares(q, policy)
			tasks := fillingTasks(t, q, policy)
			for i := range n {
				want := new(big.Rat).Quo(shares[i], e.Dominant[i])
				want.Mul(want, factor)
				k := row(i)
				if got := new(big.Rat).Quo(others[k], f.Dominant[k]); got.Cmp(want) != 0 {
					t.Fatalf("%s: job %d has %v tasks, want %v", name, i, got, want)
				}
				// small integers give fractions of at least 1e-2 in each round
				if x, _ := want.Float64(); math.Abs(tasks[k]-x) > 1e-12*x {
					t.Fatalf("%s: job %d has %v tasks in float64, want %v", name, i, tasks[k], x)
				}
			}
		}
		one, seven := big.NewRat(1, 1), big.NewRat(7, 3)
		itself := func(i int) int { return i }
		clone := func() *Pool {
			q := &Pool{Resources: slices.Clone(p.Resources), Jobs: slices.Clone(p.Jobs)}
			for i := range q.Jobs {
				q.Jobs[i].Demand = slices.Clone(q.Jobs[i].Demand)
			}
			return q
		}

		q := clone()
		slices.Reverse(q.Jobs)
		same("jobs reversed", q, func(i int) int { return n - 1 - i }, one)

		q = clone()
		slices.Reverse(q.Resources)
		for i := range q.Jobs {
			slices.Reverse(q.Jobs[i].Demand)
		}
		same("resources reversed", q, itself, one)

		q = clone()
		q.Resources[0].Capacity = new(big.Rat).Mul(q.Resources[0].Capacity, seven)
		for i := range q.Jobs {
			q.Jobs[i].Demand[0] = new(big.Rat).Mul(q.Jobs[i].Demand[0], seven)
		}
		same("another unit", q, itself, one)

		q = clone()
		for j := range q.Resources {
			q.Resources[j].Capacity = new(big.Rat).Mul(q.Resources[j].Capacity, seven)
		}
		same("more of all", q, itself, seven)

		q = clone()
		for i := range q.Jobs {
			q.Jobs[i].Weight = new(big.Rat).Mul(q.Jobs[i].Weight, seven)
		}
		same("all weights", q, itself, one)

		q = clone()
		twin := q.Resources[0]
		twin.Name = "twin"
		q.Resources = append(q.Resources, twin, Resource{Name: "unneeded", Capacity: seven})
		for i := range q.Jobs {
			q.Jobs[i].Demand = append(q.Jobs[i].Demand, q.Jobs[i].Demand[0], nil)
		}
		same("a twin and an unneeded resource", q, itself, one)

		q = &Pool{Resources: p.Resources}
		first := make([]int, n)
		for i, job := range p.Jobs {
			first[i] = len(q.Jobs)
			for k := range job.Size() {
				single := job
				single.Name, single.Count = fmt.Sprint(job.Name, ".", k), 0
				q.Jobs = append(q.Jobs, single)
			}
		}
		same("a row for each job", q, func(i int) int { return first[i] }, one)
	})
}

// A million equal rows, and a million jobs in a row, each get a millionth. A row without jobs gets
// nothing.
func TestFillingMillion(t *testing.T) {
	const n = 1_000_000
	p := &problem{
		rows:      n + 1,
		resources: 2,
		need:      [][]float64{make([]float64, n+1), make([]float64, n+1)},
		weight:    make([]float64, n+1),
	}
	count := make([]float64, n+1)
	for i := range count {
		p.need[0][i], p.need[1][i], p.weight[i], count[i] = 1, 0.3, 0.1, 1
	}
	count[7] = 0
	share := make([]float64, n+1)
	if err := newFilling(p, p.weight).Shares(context.Background(), count, share); err != nil {
		t.Fatal(err)
	}
	for i, s := range share {
		want := 1e-6
		if i == 7 {
			want = 0
		}
		if math.Abs(s-want) > 1e-14*want { // about 20 roundings
			t.Fatalf("row %d has %v, want %v", i, s, want)
		}
	}
	q := fillingPool(t, []string{"5", "2"}, []string{"2", "1000000", "3", "1"})
	if got := fillingTasks(t, q, DRF)[0]; math.Abs(got-5.0/3e6) > 1e-15*got { // a few roundings
		t.Errorf("each of a million jobs has %v tasks, want %v", got, 5.0/3e6)
	}
}

// Numbers that float64 cannot combine are rejected; the answer is never NaN, 0 or infinity.
func TestFillingOutOfRange(t *testing.T) {
	for _, c := range []struct {
		speed, count []float64
		answer       string
	}{
		{[]float64{1e-120, 1e120}, []float64{1e100, 1e-100}, "shares"},
		{[]float64{1e-100, 1e100}, []float64{1e-90, 1e90}, "shares"},
		{[]float64{1e-140, 1e140}, []float64{1, 1}, "shares"},
		{[]float64{1e-240, 1e240}, []float64{1, 1}, "either"}, // 1e-480 if the two share a resource
		{[]float64{1e-240, 1e240}, []float64{1e100, 1e-100}, "either"},
		{[]float64{1e-240, 1e240}, []float64{1, 1e100}, "error"},
		{[]float64{1e-240, 1e240}, []float64{1e-100, 0}, "error"},
		{[]float64{1e-240, 1e240}, []float64{1e-100, 1e100}, "error"},
		{[]float64{1e-240, 1e240}, []float64{0, 1e100}, "error"},
	} {
		for _, need := range [][][]float64{
			{{1, 1}}, {{1, 0}, {0, 1}}, {{0, 1}, {1, 0}}, {{1, 0}, {0.5, 1}}, {{0, 1}, {1, 1e-100}},
		} {
			p := &problem{rows: 2, resources: len(need), need: need}
			share := make([]float64, 2)
			err := newFilling(p, c.speed).Shares(context.Background(), c.count, share)
			if bad := new(input.Error); c.answer != "either" && (err != nil) != (c.answer == "error") ||
				err != nil && !errors.As(err, &bad) {
				t.Errorf("speeds %g, counts %g, needs %g: error %v", c.speed, c.count, need, err)
			}
			for i, s := range share {
				if err == nil && (!(s >= 0 && s*c.count[i] <= 1+1e-15) || (s > 0) != (c.count[i] > 0)) {
					t.Errorf("speeds %g, counts %g, needs %g: shares %g", c.speed, c.count, need, share)
				}
			}
		}
	}
}

// Rows without jobs have no effect.
func TestFillingAbsentRows(t *testing.T) {
	for seed := range uint64(50) {
		p, rng := smallDecimals(seed, 150, 3, 0.4), rand.New(rand.NewPCG(seed, 12))
		present, count := &Pool{Resources: p.Resources}, make([]float64, len(p.Jobs))
		for i, job := range p.Jobs {
			if rng.IntN(2) == 0 {
				present.Jobs, count[i] = append(present.Jobs, job), float64(job.Size())
			}
		}
		for _, policy := range []Policy{DRF, MaxMin} {
			a, err := NewAllocator(p, policy)
			if err != nil {
				t.Fatal(err)
			}
			tasks := make([]float64, len(p.Jobs))
			if err := a.Tasks(context.Background(), count, tasks); err != nil {
				t.Fatal(err)
			}
			tasks = slices.DeleteFunc(tasks, func(x float64) bool { return x == 0 })
			want := fillingTasks(t, present, policy)
			if len(tasks) != len(want) {
				t.Fatalf("seed %d, %s: %d rows of tasks, want %d", seed, policy, len(tasks), len(want))
			}
			for i, x := range tasks {
				if x != want[i] { // same sums in the same order; speeds differ by a power of two
					t.Errorf("seed %d, %s: %v tasks, want %v", seed, policy, x, want[i])
				}
			}
		}
	}
}

func TestFillingAllocatesNothing(t *testing.T) {
	p := smallDecimals(3, 200, 5, 0.5)
	for _, policy := range []Policy{DRF, MaxMin} {
		a, err := NewAllocator(p, policy)
		if err != nil {
			t.Fatal(err)
		}
		count, tasks := make([]float64, 200), make([]float64, 200)
		round := 0
		if n := testing.AllocsPerRun(20, func() {
			round++
			for i := range count {
				count[i] = float64((i + round) % 3)
			}
			if err := a.Tasks(context.Background(), count, tasks); err != nil {
				t.Fatal(err)
			}
			for i, n := range count {
				if (tasks[i] > 0) != (n > 0) {
					t.Errorf("%s: %v jobs have %v tasks", policy, n, tasks[i])
				}
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", policy, n)
		}
		// Earlier calls of an allocator do not affect later ones.
		for i, job := range p.Jobs {
			count[i] = float64(job.Size())
		}
		if err := a.Tasks(context.Background(), count, tasks); err != nil {
			t.Fatal(err)
		}
		if fresh := fillingTasks(t, p, policy); !slices.Equal(tasks, fresh) {
			t.Errorf("%s: a reused allocator gives a different answer", policy)
		}
	}
}
