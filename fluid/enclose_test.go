package fluid

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/fluid/internal/prices"
	"productform/num"
)

// nearRat reports whether |x - want| <= tol max(|want|, floor).
func nearRat(x float64, want *big.Rat, tol, floor float64) bool {
	w, _ := want.Float64()
	return math.Abs(x-w) <= tol*max(math.Abs(w), floor)
}

// holds reports whether the interval of v contains want, up to one unit of its 24th digit.
func holds(v num.Value, want *big.Rat) bool {
	unit := new(big.Rat).Mul(new(big.Rat).Abs(want), num.Rat("1e-23"))
	if want.Sign() == 0 {
		unit.SetInt64(0)
	}
	low, _ := v.Low.Rat(nil)
	high, _ := v.High.Rat(nil)
	return low.Cmp(new(big.Rat).Add(want, unit)) <= 0 && high.Cmp(new(big.Rat).Sub(want, unit)) >= 0
}

// Answers match the reference to 24 digits; the error of prices is the residual times a condition
// number that is small here.
func TestProportionalReference(t *testing.T) {
	for _, r := range references(t) {
		expect := r.expect[PF]
		for _, s := range []Settings{{Engine: num.Float}, {}, {Engine: num.Enclose, RelTol: 1e-40}} {
			a, err := Allocate(context.Background(), r.pool, PF, s)
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			for i, want := range expect.tasks {
				got := a.Jobs[i].Tasks
				tol := 1e-12
				if s.Engine == "" {
					tol = 1e-9
				}
				if !nearRat(got.Float, want, tol, 0) {
					t.Errorf("%s %v: tasks[%d] = %v, want %v", r.name, s, i, got.Float, want.FloatString(24))
				}
				if s.Engine != num.Float && !holds(got, want) {
					t.Errorf("%s %v: tasks[%d] in [%.30g, %.30g], want %v",
						r.name, s, i, got.Low, got.High, want.FloatString(24))
				}
			}
			for j, want := range expect.prices {
				if got := *a.Resources[j].Price; !nearRat(got, want, 1e-12, 1) {
					t.Errorf("%s %v: prices[%d] = %v, want %v", r.name, s, j, got, want.FloatString(24))
				}
				got := a.Resources[j].Utilization
				ok := nearRat(got.Float, expect.utilization[j], 1e-12, 0)
				if s.Engine != num.Float {
					ok = holds(got, expect.utilization[j])
				}
				if !ok {
					t.Errorf("%s %v: utilization[%d] = %v, want %v",
						r.name, s, j, got.Float, expect.utilization[j].FloatString(24))
				}
				if one := expect.utilization[j].Cmp(big.NewRat(1, 1)) == 0; a.Resources[j].Saturated != one {
					t.Errorf("%s %v: resource %d saturated: %v", r.name, s, j, !one)
				}
			}
		}
	}
}

func TestEncloseWidths(t *testing.T) {
	p := poolOf("1 1/3 1/7", "1/5 1 2/3", "1/2 0 1", "1 1 1/9")
	p.Jobs[2].Weight = num.Rat("1e-30")
	p.Jobs[1].Count = 1_000_000_000
	var last *Allocation
	for _, tol := range []float64{0.1, 1e-3, 1e-9, 1e-20, 1e-60, 1e-300} {
		a, err := Allocate(context.Background(), p, PF, Settings{RelTol: tol})
		if err != nil {
			t.Fatal(err)
		}
		if b := *a.RelativeErrorBound; !(b <= tol+0x1p-53) {
			t.Errorf("RelTol %g: bound %g", tol, b)
		}
		for i := range a.Jobs {
			x := a.Jobs[i].Tasks
			if w := (num.Interval{Low: x.Low, High: x.High}).RelWidth(); !(w <= tol) {
				t.Errorf("RelTol %g: tasks[%d] has relative width %g", tol, i, w)
			}
			if last != nil {
				if y := last.Jobs[i].Tasks; x.Low.Cmp(y.High) > 0 || x.High.Cmp(y.Low) < 0 {
					t.Errorf("RelTol %g: tasks[%d] contradicts the earlier bounds", tol, i)
				}
			}
		}
		last = a
	}
}

// The closed form of TestProportionalSymmetricProfiles in fractions is between the bounds, no
// matter how tight they are.
func TestEncloseSymmetricProfiles(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 8))
		a := big.NewRat(1+rng.Int64N(99), 100)
		p := poolOf("1"+" "+a.RatString(), a.RatString()+" "+"1")
		n1, n2 := 1+rng.Int64N(1000), 1+rng.Int64N(1000)
		p.Jobs[0].Count, p.Jobs[1].Count = int(n1), int(n2)
		sum, ratio := big.NewRat(1, n1+n2), big.NewRat(n1, n2)
		both := new(big.Rat).Inv(new(big.Rat).Add(a, big.NewRat(1, 1))) // 1/(1+a)
		want := []*big.Rat{new(big.Rat).Mul(both, big.NewRat(1, n1)), new(big.Rat).Mul(both, big.NewRat(1, n2))}
		if ratio.Cmp(new(big.Rat).Inv(a)) > 0 {
			want = []*big.Rat{sum, new(big.Rat).Quo(sum, a)}
		} else if ratio.Cmp(a) < 0 {
			want = []*big.Rat{new(big.Rat).Quo(sum, a), sum}
		}
		r, err := Allocate(context.Background(), p, PF, Settings{RelTol: math.Pow(10, -1-float64(rng.IntN(60)))})
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			low, _ := r.Jobs[i].Tasks.Low.Rat(nil)
			high, _ := r.Jobs[i].Tasks.High.Rat(nil)
			if w.Cmp(low) < 0 || w.Cmp(high) > 0 {
				t.Errorf("seed %d: tasks[%d] in [%s, %s], want %s",
					seed, i, low.FloatString(70), high.FloatString(70), w)
			}
			off := new(big.Rat).SetFloat64(r.Jobs[i].Tasks.Float)
			off.Sub(off, w).Quo(off.Abs(off), w)
			if off.Cmp(new(big.Rat).SetFloat64(*r.RelativeErrorBound)) > 0 {
				t.Errorf("seed %d: tasks[%d] = %v, want %s within %g",
					seed, i, r.Jobs[i].Tasks.Float, w, *r.RelativeErrorBound)
			}
		}
	}
}

// Prices that are far off still prove valid bounds, or none.
func TestEncloseAnyPrices(t *testing.T) {
	proved := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 9))
		p := pfRandomPool(rng)
		e := NewProfiles(p)
		want, err := allocateEnclosed(context.Background(), e, 1e-20)
		if err != nil {
			t.Fatal(err)
		}
		price := make([]*big.Float, len(p.Resources))
		size := math.Pow(10, -float64(rng.IntN(8)))
		for j := range price {
			price[j] = big.NewFloat(*want.Resources[j].Price * (1 + size*rng.Float64()))
		}
		mass := make([]*big.Rat, len(e.Need))
		for i, w := range e.Weight {
			mass[i] = new(big.Rat).Mul(w, e.Count[i])
		}
		d := prices.NewDual(e.Need, mass, price, 64)
		if !d.Evaluate() {
			continue
		}
		got, _, err := enclose(d, e)
		if err != nil {
			t.Fatal(err)
		}
		if got == nil {
			continue
		}
		proved++
		for i, job := range got.Jobs {
			if x := want.Jobs[i].Tasks; job.Tasks.Low.Cmp(x.High) > 0 || job.Tasks.High.Cmp(x.Low) < 0 {
				t.Errorf("seed %d: tasks[%d] in [%g, %g], not in [%g, %g]",
					seed, i, x.Low, x.High, job.Tasks.Low, job.Tasks.High)
			}
		}
		for j, r := range got.Resources {
			if x := want.Resources[j].Utilization; r.Utilization.Low.Cmp(x.High) > 0 ||
				r.Utilization.High.Cmp(x.Low) < 0 {
				t.Errorf("seed %d: utilization[%d] in [%g, %g], not in [%g, %g]",
					seed, j, x.Low, x.High, r.Utilization.Low, r.Utilization.High)
			}
		}
	}
	if proved < 150 {
		t.Errorf("only %d of 300 prices prove bounds", proved)
	}
}

// Problems with weights over up to fifty orders of magnitude, taken as exact, are also enclosed;
// float64 agrees if all weights are equal.
func TestEncloseHard(t *testing.T) {
	for seed := range uint64(1500) {
		p, count := pfHardProblem(rand.New(rand.NewPCG(seed, 5)))
		e, even := &Profiles{Top: make([]int, p.rows)}, true
		for i := range p.rows {
			count[i] = max(count[i], 1)
			even = even && p.weight[i] == 1
			row := make([]*big.Rat, p.resources)
			for j := range row {
				row[j] = new(big.Rat).SetFloat64(p.need[j][i])
			}
			e.Need, e.Dominant = append(e.Need, row), append(e.Dominant, big.NewRat(1, 1))
			e.Weight = append(e.Weight, new(big.Rat).SetFloat64(p.weight[i]))
			e.Count = append(e.Count, new(big.Rat).SetFloat64(count[i]))
		}
		a, err := allocateEnclosed(context.Background(), e, 1e-10)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		if !(*a.RelativeErrorBound <= 1e-10+0x1p-53) {
			t.Errorf("seed %d: relative error %g", seed, *a.RelativeErrorBound)
		}
		share := make([]float64, p.rows)
		if err := prices.NewSolver(p.need, p.weight).Shares(context.Background(), count, share); err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		for i, s := range share {
			if want := a.Jobs[i].DominantShare.Float; even && !(math.Abs(s-want) <= 1e-9*want) {
				t.Errorf("seed %d: share[%d] = %v in float64, %v enclosed", seed, i, s, want)
			}
		}
	}
}

// pfRandomPool draws a pool with features that make proportional fairness hard: zeros, equal and
// parallel columns, resources that are nearly redundant, and weights and demands of 12 orders of
// magnitude.
func pfRandomPool(rng *rand.Rand) *Pool {
	resources, jobs := 1+rng.IntN(6), 1+rng.IntN(12)
	p := &Pool{}
	for j := range resources {
		p.Resources = append(p.Resources, Resource{Name: fmt.Sprint("r", j), Capacity: big.NewRat(1+rng.Int64N(30), 1)})
	}
	kind := rng.IntN(8)
	for i := range jobs {
		job := Job{Name: fmt.Sprint("j", i), Weight: big.NewRat(1+rng.Int64N(4), 2), Count: 1 + rng.IntN(4)}
		if kind == 1 {
			job.Weight = num.Rat(fmt.Sprintf("%de%d", 1+rng.IntN(9), rng.IntN(13)-6))
		}
		for j := range resources {
			a := big.NewRat(rng.Int64N(5), 1+rng.Int64N(4))
			switch {
			case kind == 2:
				a = num.Rat(fmt.Sprintf("%de%d", rng.IntN(9), rng.IntN(13)-6))
			case kind == 3 && j > 0 && rng.IntN(3) > 0:
				a.Set(job.Demand[j-1])
			case kind == 4 && i > 0 && rng.IntN(2) > 0:
				a.Mul(p.Jobs[0].Demand[j], big.NewRat(int64(i), 1))
			case kind == 5 && j == resources-1:
				a.SetInt64(0)
			}
			job.Demand = append(job.Demand, a)
		}
		if j := rng.IntN(resources); job.Demand[j].Sign() == 0 {
			job.Demand[j] = big.NewRat(1, 1)
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

// With weights over forty orders of magnitude, prices of light rows start far too small and double
// at each step, while loads exceed 1 by more than at the start. Each row lists demands, weight and
// count.
func TestEncloseSpreadWeights(t *testing.T) {
	type row struct {
		demand string
		weight string
		count  int
	}
	for _, rows := range [][]row{
		{
			{"1 8293835575277197/4398046511104 0 1", "765141420312015/9671406556917033397649408", 138131},
			{"0 6343462549917849/128 0 0", "1715129016104303/590295810358705651712", 745188},
			{"0 2911443782068201/8388608 0 0", "3264865694519543/524288", 4},
			{"5868190681529899/64 0 504668989773143/2199023255552 1", "5617750236731389/140737488355328", 1},
			{"0 1 1 1", "2586435413520117/4", 1053007},
		}, {
			{"1 0 1", "3902586632212245/134217728", 3},
			{"1 0 0", "1956092637592015/5316911983139663491615228241121378304", 1},
			{"0 1 1", "6864671870498005/16384", 3},
			{"0 1 0", "20362410276937043586247436895007014912", 3},
		},
	} {
		var demands []string
		for _, r := range rows {
			demands = append(demands, r.demand)
		}
		p := poolOf(demands...)
		for i, r := range rows {
			p.Jobs[i].Weight, p.Jobs[i].Count = num.Rat(r.weight), r.count
		}
		near, err := Allocate(context.Background(), p, PF, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		nearer, err := Allocate(context.Background(), p, PF, Settings{RelTol: 1e-50})
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Jobs {
			x, y := near.Jobs[i].Tasks, nearer.Jobs[i].Tasks
			if x.Low.Cmp(y.High) > 0 || x.High.Cmp(y.Low) < 0 {
				t.Errorf("tasks[%d] in [%g, %g] and in [%g, %g]", i, x.Low, x.High, y.Low, y.High)
			}
		}
		one := 0
		for _, r := range near.Resources {
			if r.Saturated {
				one++
			}
		}
		if one == 0 {
			t.Error("no resource is saturated")
		}
	}
}

// Only one job needs the second resource, 1e-300 per dominant share of 1, and its weight is 1e-20:
// the utilization 1e-320/(1 + 1e-20) is a subnormal number but enclosed like any other.
func TestEncloseTinyUtilization(t *testing.T) {
	p := poolOf("1 0", "1 1e-300")
	p.Jobs[1].Weight = num.Rat("1e-20")
	for _, s := range []Settings{{}, {Engine: num.Float}} {
		a, err := Allocate(context.Background(), p, PF, s)
		if err != nil {
			t.Fatal(err)
		}
		u := a.Resources[1].Utilization
		if !(math.Abs(u.Float-1e-320) <= 1e-323) || a.Resources[1].Saturated {
			t.Errorf("%v: utilization %v, saturated %v", s, u.Float, a.Resources[1].Saturated)
		}
		if s.Engine != num.Float && !holds(u, new(big.Rat).Quo(num.Rat("1e-320"), num.Rat("1.00000000000000000001"))) {
			t.Errorf("utilization in [%g, %g]", u.Low, u.High)
		}
	}
}
