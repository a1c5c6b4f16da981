package fluid

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/internal/oracle"
)

// balancedPool returns a pool with unit capacities, demands a_kj and these counts.
func balancedPool(demand [][]*big.Rat, count []int) *Pool {
	p := &Pool{}
	for j := range demand[0] {
		p.Resources = append(p.Resources, Resource{Name: fmt.Sprint("r", j), Capacity: big.NewRat(1, 1)})
	}
	for i, a := range demand {
		p.Jobs = append(p.Jobs, Job{Name: fmt.Sprint("j", i), Demand: a, Count: count[i]})
	}
	return p
}

func balancedRats(s string) [][]*big.Rat {
	var rows [][]*big.Rat
	for row := range strings.SplitSeq(s, ";") {
		rows = append(rows, oracle.Rats(row))
	}
	return rows
}

// literalBalance returns Φ(x) by definition, in the original a_kj, with every row a separate class.
func literalBalance(need [][]*big.Rat, x []int, memo map[string]*big.Rat) *big.Rat {
	key := fmt.Sprint(x)
	if phi, ok := memo[key]; ok {
		return phi
	}
	phi := new(big.Rat)
	if slices.Max(x) == 0 {
		phi.SetInt64(1)
	}
	for j := range need[0] {
		sum := new(big.Rat)
		for k := range x {
			if x[k] > 0 {
				y := slices.Clone(x)
				y[k]--
				sum.Add(sum, new(big.Rat).Mul(need[k][j], literalBalance(need, y, memo)))
			}
		}
		if sum.Cmp(phi) > 0 {
			phi = sum
		}
	}
	memo[key] = phi
	return phi
}

// balancedTasks returns the tasks of one job of each row by both engines; it fails if they differ
// by more than 1e-12, of which rounding explains (K+2) |x| 2^-52 for the few jobs of the tests.
func balancedTasks(t fataler, p *Pool) []*big.Rat {
	t.Helper()
	e := NewProfiles(p)
	shares, err := e.balanced(context.Background())
	if err != nil {
		t.Fatalf("exact: %v", err)
	}
	tasks := kernelTasks(t, p, BF)
	for i := range shares {
		shares[i].Quo(shares[i], e.Dominant[i])
		if want, _ := shares[i].Float64(); math.Abs(tasks[i]-want) > 1e-12*want {
			t.Fatalf("row %d: float %v, exact %v", i, tasks[i], want)
		}
	}
	return shares
}

// With one resource, balanced fairness is processor sharing: x_k of n jobs together get φ_k =
// x_k/(n a_k).
func TestBalancedOneResource(t *testing.T) {
	p := balancedPool(balancedRats("2;1/3;1;2"), []int{3, 1, 4, 2})
	for i, got := range balancedTasks(t, p) {
		want := new(big.Rat).Mul(big.NewRat(10, 1), p.Jobs[i].Demand[0])
		if want.Inv(want); got.Cmp(want) != 0 {
			t.Errorf("row %d: %v tasks, want %v", i, got, want)
		}
	}
}

// On the line of two links with a long route, Φ(x) = (x_0+x_1+x_2 over x_0) with the short routes
// x_1 and x_2 (Bonald and Proutière, 2003): in total the long route gets x_0/n and the short ones
// (x_1+x_2)/n.
func TestBalancedLine(t *testing.T) {
	for _, x := range [][]int{{1, 1, 1}, {3, 2, 5}, {1, 7, 2}, {6, 1, 1}} {
		n := x[0] + x[1] + x[2]
		got := balancedTasks(t, balancedPool(balancedRats("1 1;1 0;0 1"), x))
		want := []*big.Rat{
			big.NewRat(1, int64(n)), big.NewRat(int64(x[1]+x[2]), int64(n*x[1])),
			big.NewRat(int64(x[1]+x[2]), int64(n*x[2])),
		}
		for i := range got {
			if got[i].Cmp(want[i]) != 0 {
				t.Errorf("x = %v: row %d: %v tasks, want %v", x, i, got[i], want[i])
			}
		}
	}
}

// Two classes with access links of capacity 1 to a trunk of capacity 3/2 are a tree. On its
// polymatroid the rates of balanced fairness add up to the rank function of the active classes:
// Φ(x) = Σ_k Φ(x-e_k)/μ({k: x_k > 0}).
func TestBalancedTree(t *testing.T) {
	need := balancedRats("1 0 2/3;0 1 2/3")
	for _, x := range [][]int{{1, 1}, {2, 1}, {5, 3}, {1, 9}} {
		phi := make(map[[2]int]*big.Rat)
		for a := range x[0] + 1 {
			for b := range x[1] + 1 {
				switch {
				case a == 0 || b == 0:
					phi[[2]int{a, b}] = big.NewRat(1, 1)
				default:
					sum := new(big.Rat).Add(phi[[2]int{a - 1, b}], phi[[2]int{a, b - 1}])
					phi[[2]int{a, b}] = sum.Quo(sum, big.NewRat(3, 2))
				}
			}
		}
		whole := phi[[2]int{x[0], x[1]}]
		want := []*big.Rat{
			new(big.Rat).Quo(phi[[2]int{x[0] - 1, x[1]}], whole), new(big.Rat).Quo(phi[[2]int{x[0], x[1] - 1}], whole),
		}
		for i, got := range balancedTasks(t, balancedPool(need, x)) {
			if got.Mul(got, big.NewRat(int64(x[i]), 1)).Cmp(want[i]) != 0 {
				t.Errorf("x = %v: class %d: rate %v, want %v", x, i, got, want[i])
			}
		}
	}
}

func drawBalanced(t *rapid.T) ([][]*big.Rat, []int) {
	rows, resources := rapid.IntRange(1, 4).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "resources")
	var need [][]*big.Rat
	var count []int
	for i := range rows {
		need = append(need, make([]*big.Rat, resources))
		for j := range resources {
			need[i][j] = big.NewRat(rapid.Int64Range(0, 5).Draw(t, "a"), rapid.Int64Range(1, 4).Draw(t, "of"))
		}
		if j := rapid.IntRange(0, resources-1).Draw(t, "needed"); need[i][j].Sign() == 0 {
			need[i][j].SetInt64(1)
		}
		count = append(count, rapid.IntRange(1, 4).Draw(t, "count"))
	}
	return need, count
}

// Both engines give Φ(x-e_k)/Φ(x) as defined; the allocation is feasible, saturates a
// resource and is balanced: φ_k(x) φ_l(x-e_k) = φ_l(x) φ_k(x-e_l).
func TestBalancedDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		need, x := drawBalanced(t)
		memo := make(map[string]*big.Rat)
		phi := literalBalance(need, x, memo)
		got := balancedTasks(t, balancedPool(need, x))
		most := new(big.Rat)
		for j := range need[0] {
			used := new(big.Rat)
			for k := range x {
				part := new(big.Rat).Mul(need[k][j], got[k])
				used.Add(used, part.Mul(part, big.NewRat(int64(x[k]), 1)))
			}
			if used.Cmp(most) > 0 {
				most = used
			}
		}
		if most.Cmp(big.NewRat(1, 1)) != 0 {
			t.Fatalf("x = %v: utilization of the resource used most is %v", x, most)
		}
		for k := range x {
			less := slices.Clone(x)
			less[k]--
			want := new(big.Rat).Quo(literalBalance(need, less, memo), phi)
			if want.Quo(want, big.NewRat(int64(x[k]), 1)).Cmp(got[k]) != 0 {
				t.Fatalf("x = %v: row %d: %v tasks, want %v", x, k, got[k], want)
			}
		}
		if len(x) < 2 || x[0] == 1 || x[1] == 1 {
			return
		}
		rate := func(x []int, k int) *big.Rat { // φ_k(x), of all jobs of the row
			one := balancedTasks(t, balancedPool(need, x))[k]
			return one.Mul(one, big.NewRat(int64(x[k]), 1))
		}
		without0, without1 := slices.Clone(x), slices.Clone(x)
		without0[0]--
		without1[1]--
		left, right := rate(without0, 1), rate(without1, 0)
		left.Mul(left, rate(x, 0))
		right.Mul(right, rate(x, 1))
		if left.Cmp(right) != 0 {
			t.Fatalf("x = %v: φ_0(x) φ_1(x-e_0) = %v, φ_1(x) φ_0(x-e_1) = %v", x, left, right)
		}
	})
}

// Equal rows, and rows whose profiles are parallel, count as one class, here with a million jobs
// each.
func TestBalancedManyEqual(t *testing.T) {
	got := balancedTasks(t, balancedPool(balancedRats("1 1/2;2 1;1 1/2"), []int{1_000_000, 1_000_000, 1_000_000_000}))
	for i, want := range []*big.Rat{
		big.NewRat(1, 1_002_000_000), big.NewRat(1, 2_004_000_000), big.NewRat(1, 1_002_000_000),
	} {
		if got[i].Cmp(want) != 0 {
			t.Errorf("row %d: %v tasks, want %v", i, got[i], want)
		}
	}
}

// Large states, in which Φ is beyond the range of float64, match closed forms: for the line, and
// for classes that share nothing.
func TestBalancedLargeStates(t *testing.T) {
	for _, test := range []struct {
		need  string
		count []float64
		want  []float64 // total of the class
	}{
		{"1 1;1 0;0 1", []float64{480, 20, 560}, []float64{480. / 1060, 580. / 1060, 580. / 1060}},
		{"1 1;1 0", []float64{4000, 1000}, []float64{0.8, 0.2}},
		{"1 1;1 0", []float64{1, 1e6}, []float64{1 / (1 + 1e6), 1e6 / (1 + 1e6)}},
		{"1 1;1 0", []float64{2e6, 2}, []float64{2e6 / (2e6 + 2), 2 / (2e6 + 2)}},
		{"1 0;0 1", []float64{2000, 3000}, []float64{1, 1}},
	} {
		one := make([]int, len(test.count))
		a, err := NewAllocator(balancedPool(balancedRats(test.need), one), BF)
		if err != nil {
			t.Fatal(err)
		}
		tasks := make([]float64, len(one))
		if err := a.Tasks(context.Background(), test.count, tasks); err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			// The rounding of |x| steps adds up to at most (K+2) |x| 2^-52, 5e-9 here, but mostly
			// cancels in the quotient.
			if got := tasks[i] * test.count[i]; math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s at %v: class %d gets %v, want %v", test.need, test.count, i, got, want)
			}
		}
	}
}

// Absent rows and a reused kernel give the digits of a fresh kernel.
func TestBalancedSuccessiveStates(t *testing.T) {
	p := balancedPool(balancedRats("1 1/2 0;1/2 1 1/3;1/3 0 1;1/5 1 1"), []int{1, 1, 1, 1})
	kept, err := NewAllocator(p, BF)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	count, got, want := make([]float64, 4), make([]float64, 4), make([]float64, 4)
	for range 300 {
		for i := range count {
			count[i] = float64(rng.IntN(5))
		}
		fresh, _ := NewAllocator(p, BF)
		if err := errors.Join(
			kept.Tasks(context.Background(), count, got), fresh.Tasks(context.Background(), count, want),
		); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v: %v, a fresh allocator gives %v", count, got, want)
		}
		for i := range count {
			if count[i] == 0 && got[i] != 0 {
				t.Fatalf("%v: row %d gets %v", count, i, got[i])
			}
		}
	}
	count = []float64{3, 4, 2, 5}
	if allocs := testing.AllocsPerRun(20, func() { _ = kept.Tasks(context.Background(), count, got) }); allocs != 0 {
		t.Errorf("%v allocations per call, want 0", allocs)
	}
}

func TestBalancedRefuses(t *testing.T) {
	unequal := balancedPool(balancedRats("1 0;0 1;1 1"), []int{1, 1, 1})
	unequal.Jobs[2].Weight = big.NewRat(2, 1)
	many := balancedPool(balancedRats("1 0;0 1;1 1"), []int{20_000, 20_000, 20_000})
	long := balancedPool(balancedRats("1 1/3;1/7 1"), []int{200_000, 10})
	for name, test := range map[string]struct {
		pool      *Pool
		count     []float64
		path      string
		exactPath string
	}{
		"weights":         {unequal, []float64{1, 1, 1}, "jobs[2].weight", "jobs[2].weight"},
		"not whole":       {balancedPool(balancedRats("1;1"), []int{1, 1}), []float64{1, 1.5}, "count[1]", ""},
		"too many states": {many, []float64{2e4, 2e4, 2e4}, "jobs", "jobs"},
		"too many digits": {long, []float64{2e5, 10}, "", "jobs"},
	} {
		a, err := NewAllocator(test.pool, BF)
		if err != nil {
			t.Fatal(err)
		}
		check := func(engine string, err error, path string) {
			t.Helper()
			var bad *input.Error
			if errors.As(err, &bad) != (path != "") || bad != nil && bad.Path != path {
				t.Errorf("%s, %s: error %v, want one for %q", name, engine, err, path)
			}
		}
		check("float", a.Tasks(context.Background(), test.count, make([]float64, len(test.count))), test.path)
		_, err = NewProfiles(test.pool).balanced(context.Background())
		check("exact", err, test.exactPath)
	}
}

func BenchmarkBalanced(b *testing.B) {
	for _, test := range []struct {
		need  string
		count []float64
	}{
		{"1 1/2;1/2 1", []float64{10, 10}},
		{"1 1/2;1/2 1", []float64{1000, 1000}},
		{"1 1/2 1/3;1/2 1 1/5;1/4 1/5 1", []float64{10, 10, 10}},
		{"1 1/2 1/3;1/2 1 1/5;1/4 1/5 1", []float64{100, 100, 100}},
	} {
		b.Run(fmt.Sprintf("classes=%d/resources=%d/policy=bf/jobs=%v",
			len(test.count), len(test.count), test.count[0]), func(b *testing.B) {
			a, err := NewAllocator(balancedPool(balancedRats(test.need), make([]int, len(test.count))), BF)
			if err != nil {
				b.Fatal(err)
			}
			tasks := make([]float64, len(test.count))
			for b.Loop() {
				if err := a.Tasks(context.Background(), test.count, tasks); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
