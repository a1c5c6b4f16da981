package traffic

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/fluid"
	"productform/internal/oracle"
	"productform/num"
)

// processorSharing returns E[x_k] of classes that all use the same bundle of resources, in various
// amounts a_k. Every policy except balanced fairness then gives a job a fraction of the scarcest
// resource in proportion to g_k = w_k, or w_k a_k under max-min fairness: discriminatory processor
// sharing. With exponential work of mean s_k = a_k σ_k the mean delays T_k solve
//
//	T_k = s_k + Σ_j λ_j g_j/(g_j/s_j + g_k/s_k) (T_k + T_j)
//
// (G. Fayolle, I. Mitrani and R. Iasnogorodski, "Sharing a processor among many job classes",
// Journal of the ACM 27, 1980), here in fractions. The resource must be the first and have
// capacity 1.
func processorSharing(t *Model, p fluid.Policy) []*big.Rat {
	n := len(t.Classes)
	g, work := make([]*big.Rat, n), make([]*big.Rat, n)
	rate := make([]*big.Rat, n) // g_k/s_k
	for k, c := range t.Classes {
		g[k] = num.OrOne(c.Weight)
		if p == fluid.MaxMin {
			g[k] = new(big.Rat).Mul(g[k], c.Demand[0])
		}
		work[k] = new(big.Rat).Mul(c.Demand[0], num.OrOne(c.MeanSize))
		rate[k] = new(big.Rat).Quo(g[k], work[k])
	}
	rows := make([][]*big.Rat, n)
	for k := range rows {
		for range n + 1 {
			rows[k] = append(rows[k], new(big.Rat))
		}
		rows[k][k].SetInt64(1)
		rows[k][n].Set(work[k])
		for j, c := range t.Classes {
			f := new(big.Rat).Mul(c.ArrivalRate, g[j])
			f.Quo(f, new(big.Rat).Add(rate[j], rate[k]))
			rows[k][k].Sub(rows[k][k], f)
			rows[k][j].Sub(rows[k][j], f)
		}
	}
	for c := range rows { // Gauss-Jordan elimination; pivots are positive because the solution is: this is an M-matrix
		for r := range rows {
			if r == c {
				continue
			}
			f := new(big.Rat).Quo(rows[r][c], rows[c][c])
			for j := c; j <= n; j++ {
				rows[r][j].Sub(rows[r][j], new(big.Rat).Mul(f, rows[c][j]))
			}
		}
	}
	mean := make([]*big.Rat, n)
	for k, c := range t.Classes {
		mean[k] = new(big.Rat).Quo(rows[k][n], rows[k][k])
		mean[k].Mul(mean[k], c.ArrivalRate)
	}
	return mean
}

// oneProcessor returns traffic on one resource with demand 1, given arrival rates, mean sizes and
// weights.
func oneProcessor(lambda, size, weight []*big.Rat) *Model {
	t := &Model{Resources: []fluid.Resource{{Name: "cpu", Capacity: big.NewRat(1, 1)}}}
	for k := range lambda {
		t.Classes = append(t.Classes, Class{
			Name:        fmt.Sprint("c", k),
			Demand:      oracle.Rats("1"),
			Weight:      weight[k],
			ArrivalRate: lambda[k],
			MeanSize:    size[k],
		})
	}
	return t
}

// wantProcessorSharing compares a result with [processorSharing], within the bounds on the result.
func wantProcessorSharing(t *testing.T, what string, tr *Model, r *Result) {
	t.Helper()
	var want []float64
	for _, m := range processorSharing(tr, r.Policy) {
		x, _ := m.Float64()
		want = append(want, x)
	}
	wantMeans(t, what, r, want, errorOf(r)+0x1p-52)
}

// The oracle satisfies Σ_k s_k E[x_k] = Σ_k λ_k s_k²/(1-ρ), which holds for every way to share one
// processor, and E[x_k] = ρ_k/(1-ρ) with equal weights.
func TestProcessorSharing(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		tr := randomTraffic(r, 1+r.IntN(4), 1, big.NewRat(1+r.Int64N(9), 10))
		tr.Resources[0].Capacity = big.NewRat(1, 1)
		for k := range tr.Classes {
			tr.Classes[k].Demand = []*big.Rat{big.NewRat(1+r.Int64N(6), 4)}
		}
		scaleTo(tr, big.NewRat(1+r.Int64N(9), 10))
		idle := new(big.Rat).Sub(big.NewRat(1, 1), tr.Loads()[0])
		for _, p := range []fluid.Policy{fluid.PF, fluid.MaxMin} {
			got, want := new(big.Rat), new(big.Rat)
			for k, m := range processorSharing(tr, p) {
				c := tr.Classes[k]
				s := new(big.Rat).Mul(c.Demand[0], c.MeanSize)
				got.Add(got, new(big.Rat).Mul(s, m))
				s.Mul(s, s).Mul(s, c.ArrivalRate)
				want.Add(want, s.Quo(s, idle))
			}
			if got.Cmp(want) != 0 {
				t.Errorf("seed %d, %s: work %s, want %s", seed, p, got.RatString(), want.RatString())
			}
		}
		for k := range tr.Classes {
			tr.Classes[k].Weight = nil
		}
		for k, m := range processorSharing(tr, fluid.PF) {
			want := new(big.Rat).Mul(tr.Volume()[k], tr.Classes[k].Demand[0])
			if want.Quo(want, idle); m.Cmp(want) != 0 {
				t.Errorf("seed %d: E[x_%d] = %s, want %s", seed, k, m.RatString(), want.RatString())
			}
		}
	}
}

// The bound holds for a rare class of large weight and a frequent one with parallel profiles: while
// a long rare job is served, the frequent jobs accumulate to a level that the stationary
// distribution hardly shows, but that every rare job sees.
func TestTruncationBoundOfRareClass(t *testing.T) {
	solvedAll := 0
	for _, weight := range oracle.Rats("10 1e2 1e3 1e5") {
		for _, load := range oracle.Rats("1e-2 1e-4 1e-6 1e-9 1e-13") {
			for _, size := range oracle.Rats("10 1e5") {
				rate := new(big.Rat).Quo(load, size)
				tr := oneProcessor([]*big.Rat{rate, big.NewRat(1, 2)}, []*big.Rat{size, nil}, []*big.Rat{weight, nil})
				for _, tol := range []float64{0, 1e-3, 1e-2} {
					r, err := Solve(context.Background(), tr, fluid.PF, Settings{TruncationTol: tol, MaxStates: 5_000})
					if err != nil {
						if !errors.Is(err, ErrUnsolved) {
							t.Fatal(err)
						}
						continue
					}
					solvedAll++
					about := fmt.Sprintf("weight %v, load %v, size %v, limits %d", weight, load, size, limitsIn(r))
					wantProcessorSharing(t, about, tr, r)
				}
			}
		}
	}
	if solvedAll < 80 {
		t.Errorf("only %d of 120 models were solved within 5,000 states", solvedAll)
	}
}

// The bound holds for two rare classes and a frequent one.
func TestTruncationBoundOfRareClasses(t *testing.T) {
	for _, rare := range oracle.Rats("1e-4 1e-8 1e-12") {
		twice := new(big.Rat).Mul(rare, big.NewRat(2, 1))
		tr := oneProcessor([]*big.Rat{rare, twice, big.NewRat(1, 3)}, oracle.Rats("3 1000 1"), oracle.Rats("1/9 20 1"))
		r := solved(t, tr, fluid.PF, Settings{TruncationTol: 1e-2})
		wantProcessorSharing(t, fmt.Sprintf("rate %v, limits %d", rare, limitsIn(r)), tr, r)
	}
}

// The bound holds for random classes with parallel profiles and weights, sizes and rates of
// different magnitudes, under every policy with weights. It also holds for chosen limits, unless it
// shows that they are useless.
func TestTruncationBoundAgainstProcessorSharing(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 10))
		magnitude := func(most int) *big.Rat { return big.NewRat(1<<r.IntN(most+1), 1<<r.IntN(most+1)) }
		tr := &Model{Resources: []fluid.Resource{
			{Name: "a", Capacity: big.NewRat(1, 1)}, {Name: "b", Capacity: big.NewRat(1, 1)},
		}}
		for k := range 2 {
			a := magnitude(3)
			tr.Classes = append(tr.Classes, Class{
				Name:        fmt.Sprint("c", k),
				Demand:      []*big.Rat{a, new(big.Rat).Quo(a, big.NewRat(3, 1))},
				Weight:      magnitude(10),
				MeanSize:    magnitude(10),
				ArrivalRate: magnitude(10),
			})
		}
		scaleTo(tr, big.NewRat(1+r.Int64N(15), 20))
		p := fluid.Policies()[r.IntN(4)]
		for _, s := range []Settings{
			{TruncationTol: 0.1}, {TruncationTol: 1e-3}, {}, {Limits: []int{2 + r.IntN(40), 2 + r.IntN(40)}},
		} {
			s.MaxStates = 10_000
			got, err := Solve(context.Background(), tr, p, s)
			if err != nil {
				if !errors.Is(err, ErrUnsolved) {
					t.Fatal(err)
				}
				continue
			}
			if s.Limits == nil || got.TruncationBound < 0.3 {
				wantProcessorSharing(t, fmt.Sprintf("seed %d, limits %d", seed, limitsIn(got)), tr, got)
			}
		}
	}
}
