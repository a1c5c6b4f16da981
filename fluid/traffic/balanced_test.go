package traffic

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/fluid"
	"productform/fluid/internal/markov"
	"productform/internal/oracle"
)

// literalWhittle returns Σ w(x) and Σ x_i w(x) over x <= limits in fractions, by the definition of
// Φ, with memoization.
func literalWhittle(t *Model, limits []int) (z *big.Rat, jobs []*big.Rat) {
	rho, known := t.Volume(), map[string]*big.Rat{}
	var phi func(x []int) *big.Rat
	phi = func(x []int) *big.Rat {
		key := fmt.Sprint(x)
		if known[key] != nil {
			return known[key]
		}
		most, empty := new(big.Rat), true
		for j, r := range t.Resources {
			sum := new(big.Rat)
			for k := range x {
				if x[k] > 0 {
					empty = false
					a := new(big.Rat).Quo(t.Classes[k].Profile().Of(j), r.Capacity)
					sum.Add(sum, a.Mul(a, phi(with(x, k, x[k]-1))))
				}
			}
			if sum.Cmp(most) > 0 {
				most = sum
			}
		}
		for k, n := range x {
			if l := t.Classes[k].MaxTasks; n > 0 && l != nil {
				own := new(big.Rat).Quo(phi(with(x, k, n-1)), l)
				if own.Quo(own, big.NewRat(int64(n), 1)); own.Cmp(most) > 0 {
					most = own
				}
			}
		}
		if empty {
			most.SetInt64(1)
		}
		known[key] = most
		return most
	}
	z, jobs = new(big.Rat), make([]*big.Rat, len(limits))
	for k := range jobs {
		jobs[k] = new(big.Rat)
	}
	size := make([]int, len(limits))
	for k, l := range limits {
		size[k] = l + 1
	}
	g, x := markov.NewBox(size), make([]int, len(limits))
	for range g.States {
		w := new(big.Rat).Set(phi(x))
		for k, n := range x {
			for range n {
				w.Mul(w, rho[k])
			}
		}
		z.Add(z, w)
		for k, n := range x {
			jobs[k].Add(jobs[k], new(big.Rat).Mul(w, big.NewRat(int64(n), 1)))
		}
		g.Next(x)
	}
	return z, jobs
}

func TestWhittleAgainstFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(1, 4).Draw(t, "classes")
		tr := &Model{Resources: []fluid.Resource{
			{Name: "a", Capacity: big.NewRat(3, 2)}, {Name: "b", Capacity: big.NewRat(1, 1)},
			{Name: "c", Capacity: big.NewRat(2, 1)},
		}}
		var limits []int
		for k := range classes {
			c := Class{Name: fmt.Sprint(k), ArrivalRate: big.NewRat(rapid.Int64Range(1, 9).Draw(t, "rate"), 10)}
			for range tr.Resources {
				c.Demand = append(c.Demand, big.NewRat(rapid.Int64Range(1, 8).Draw(t, "demand"), 4))
			}
			if rapid.Bool().Draw(t, "limited") {
				c.MaxTasks = big.NewRat(rapid.Int64Range(1, 6).Draw(t, "tasks"), 8)
			}
			tr.Classes = append(tr.Classes, c)
			limits = append(limits, rapid.IntRange(1, 3).Draw(t, "limit"))
		}
		scaleTo(tr, big.NewRat(rapid.Int64Range(1, 99).Draw(t, "load"), 100))
		got, err := Solve(context.Background(), tr, fluid.BF, Settings{Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		z, jobs := literalWhittle(tr, limits)
		for k, m := range jobs {
			want, _ := m.Quo(m, z).Float64()
			if math.Abs(got.Classes[k].MeanJobs/want-1) > got.RoundingBound+0x1p-52 || got.RoundingBound > 1e-13 {
				t.Fatalf("E[x_%d] = %v, want %v; bound %g", k, got.Classes[k].MeanJobs, want, got.RoundingBound)
			}
		}
	})
}

// The proved bounds on the truncation error exceed sums over far more states, term by term and in
// total.
func TestWhittleTail(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 8))
		classes := 1 + r.IntN(3)
		tr := withoutWeights(randomTraffic(r, classes, 1+r.IntN(3), big.NewRat(1+r.Int64N(14), 20)), fluid.BF)
		if seed%3 == 0 {
			limited(r, tr)
		}
		limits := []int{1 + r.IntN(40), 1 + r.IntN(40), 1 + r.IntN(40)}[:classes]
		near := solved(t, tr, fluid.BF, Settings{Limits: limits})
		far := solved(t, tr, fluid.BF, Settings{Limits: make80(classes)})
		auto := solved(t, tr, fluid.BF, Settings{TruncationTol: 1e-7})
		wantMeans(t, fmt.Sprint("seed ", seed, ", limits ", limits), near, meansOf(far), errorOf(near)+errorOf(far))
		wantMeans(t, fmt.Sprint("seed ", seed, ", automatic limits ", limitsIn(auto)), auto, meansOf(far),
			errorOf(auto)+errorOf(far))
		if auto.TruncationBound > 1e-7 || !auto.TruncationProved {
			t.Errorf("seed %d: bound %g, want at most 1e-7", seed, auto.TruncationBound)
		}
		w, err := newProblem(tr, tr.singletonGroups())
		if err != nil {
			t.Fatal(err)
		}
		all, allJobs, _ := w.whittleSums(context.Background(), make80(classes))
		for k, l := range limits {
			z, jobs, _ := w.whittleSums(context.Background(), with(make80(classes), k, l))
			mass, moments := w.newBalancedTail().tailBounds(k, l)
			if all-z > math.Exp(mass)+1e-13*all {
				t.Errorf("seed %d: mass %g beyond x_%d = %d, bound %g", seed, all-z, k, l, math.Exp(mass))
			}
			for i := range jobs {
				if allJobs[i]-jobs[i] > math.Exp(moments[i])+1e-13*allJobs[i] {
					t.Errorf("seed %d: %g jobs of class %d beyond x_%d = %d, bound %g",
						seed, allJobs[i]-jobs[i], i, k, l, math.Exp(moments[i]))
				}
			}
		}
	}
}

// with returns x with another coordinate k.
func with(x []int, k, value int) []int {
	y := slices.Clone(x)
	y[k] = value
	return y
}

func make80(classes int) []int { return []int{80, 80, 80}[:classes] }

// Many classes match closed forms. A star of resources with one class each and one class on all of
// them has Z = (1-ρ0)^(n-1)/Π_j (1-ρ0-ρ_j) (Bonald, Massoulié, Proutière and Virtamo, Queueing
// Systems 53, 2006); classes of one resource share it as one processor.
func TestWhittleManyClasses(t *testing.T) {
	star := trafficOf([][]*big.Rat{
		oracle.Rats("1 1 1 1"), oracle.Rats("1 0 0 0"), oracle.Rats("0 1 0 0"), oracle.Rats("0 0 1 0"),
		oracle.Rats("0 0 0 1"),
	},
		oracle.Rats("1/10 1/10 1/20 3/20 1/5")...)
	r := solved(t, star, fluid.BF, Settings{TruncationTol: 1e-6})
	rho := []float64{0.1, 0.1, 0.05, 0.15, 0.2}
	want := []float64{-3 * 0.1 / 0.9}
	for _, x := range rho[1:] {
		want[0] += 0.1 / (0.9 - x)
		want = append(want, x/(0.9-x))
	}
	wantMeans(t, "star", r, want, errorOf(r))
	one := trafficOf([][]*big.Rat{
		oracle.Rats("1"), oracle.Rats("1/2"), oracle.Rats("1/3"), oracle.Rats("1"), oracle.Rats("2"),
		oracle.Rats("1/4"),
	},
		oracle.Rats("1/100 1/50 3/100 1/25 1/100 1/25")...)
	r = solved(t, one, fluid.BF, Settings{TruncationTol: 1e-5})
	load := 0.01 + 0.01 + 0.01 + 0.04 + 0.02 + 0.01
	wantMeans(t, "one resource", r, []float64{
		0.01 / (1 - load), 0.01 / (1 - load), 0.01 / (1 - load), 0.04 / (1 - load), 0.02 / (1 - load),
		0.01 / (1 - load),
	}, errorOf(r))
}
