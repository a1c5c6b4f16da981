package traffic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/fluid"
	"productform/internal/oracle"
)

// limited gives most classes limits on tasks, which a single job often reaches.
func limited(r *rand.Rand, t *Model) *Model {
	for k := range t.Classes {
		if r.IntN(4) > 0 {
			t.Classes[k].MaxTasks = big.NewRat(1+r.Int64N(6), 4)
		}
	}
	return t
}

// One class whose jobs run at most one task each on a resource of n is M/M/n: with Erlang's C and
// load ρ per server, E[x] = nρ + C ρ/(1-ρ) under every policy. A limit that a single job does not
// reach has no effect.
func TestLimitsErlang(t *testing.T) {
	for _, n := range []int64{1, 2, 7, 40, 600} {
		load := oracle.Rats("9/10")[0]
		tr := trafficOf([][]*big.Rat{oracle.Rats("1")}, new(big.Rat).Mul(load, big.NewRat(n, 1)))
		tr.Resources[0].Capacity = big.NewRat(n, 1)
		tr.Classes[0].MaxTasks = big.NewRat(1, 1)
		b, rho := 1.0, 0.9 // Erlang's B, by its recursion
		for m := range n {
			a := rho * float64(n)
			b = a * b / (float64(m+1) + a*b)
		}
		c := b / (1 - rho*(1-b))
		want := []float64{rho*float64(n) + c*rho/(1-rho)}
		for _, p := range fluid.Policies() {
			r := solved(t, tr, p, Settings{})
			wantMeans(t, fmt.Sprint(n, " servers"), r, want, errorOf(r)+1e-12)
			if r.TruncationBound > 1e-10 || !r.TruncationProved || (r.Method == GeometricMethod) != (n == 1) {
				t.Errorf("%d servers: %+v", n, r.Accuracy)
			}
		}
	}
}

// handSolved returns the mean numbers of jobs of the chain on 0..limit in each coordinate, with the
// rates of [fluid.Allocate], one allocation for each state, by Gaussian elimination.
func handSolved(t *testing.T, tr *Model, policy fluid.Policy, limit int) []float64 {
	t.Helper()
	n := limit + 1
	rate := make([][]float64, n*n) // by origin and destination
	for s := range rate {
		rate[s] = make([]float64, n*n)
		x := []int{s / n, s % n}
		pool := &fluid.Pool{Resources: tr.Resources}
		var classes []int
		for k, c := range tr.Classes {
			if x[k] > 0 {
				pool.Jobs = append(pool.Jobs, fluid.Job{
					Name:     c.Name,
					Demand:   c.Demand,
					Weight:   c.Weight,
					MaxTasks: c.MaxTasks,
					Count:    x[k],
				})
				classes = append(classes, k)
			}
			if arrivals, _ := c.ArrivalRate.Float64(); x[k] < limit {
				rate[s][s+[]int{n, 1}[k]] = arrivals
			}
		}
		if s == 0 {
			continue
		}
		a, err := fluid.Allocate(t.Context(), pool, policy, fluid.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range classes {
			size, _ := tr.Classes[k].MeanSize.Float64()
			rate[s][s-[]int{n, 1}[k]] = float64(x[k]) * a.Jobs[i].Tasks.Float / size
		}
	}
	pi := oracleStationary(rate)
	mean := make([]float64, 2)
	for s, p := range pi {
		mean[0] += p * float64(s/n)
		mean[1] += p * float64(s%n)
	}
	return mean
}

// oracleStationary solves the balance equations with Σ_s π_s = 1 instead of the last equation.
func oracleStationary(rate [][]float64) []float64 {
	n := len(rate)
	a := make([][]float64, n)
	for s := range a {
		a[s] = make([]float64, n+1)
		for from := range rate {
			a[s][from] += rate[from][s]
			a[s][s] -= rate[s][from]
		}
	}
	for s := range a[n-1] {
		a[n-1][s] = 1
	}
	for c := range n {
		pivot := c
		for r := c; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[pivot][c]) {
				pivot = r
			}
		}
		a[c], a[pivot] = a[pivot], a[c]
		for r := range n {
			if f := a[r][c] / a[c][c]; r != c && f != 0 {
				for k := c; k <= n; k++ {
					a[r][k] -= f * a[c][k]
				}
			}
		}
	}
	pi := make([]float64, n)
	for s := range pi {
		pi[s] = a[s][n] / a[s][s]
	}
	return pi
}

// For every policy with limits, means match the balance equations with an allocation computed for
// each state.
func TestLimitsByHand(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 31))
		policy := fluid.Policies()[seed%5]
		tr := withoutWeights(limited(r, randomTraffic(r, 2, 1+r.IntN(2), big.NewRat(1+r.Int64N(18), 20))), policy)
		got := solved(t, tr, policy, Settings{Limits: []int{6, 6}})
		// error of enclosed allocations
		wantMeans(t, fmt.Sprint("seed ", seed), got, handSolved(t, tr, policy, 6), 1e-8)
	}
}

// Automatic limits cover the states in which jobs accumulate because of their limits; the reference
// has much larger ones. Equal classes are merged if their limits are equal.
func TestLimitsAutomatic(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 32))
		policy := fluid.Policies()[seed%5]
		tr := withoutWeights(limited(r, randomTraffic(r, 2, 2, big.NewRat(1+r.Int64N(16), 20))), policy)
		tr.Classes[0].MaxTasks = big.NewRat(1+r.Int64N(3), 20)
		auto, far := solved(t, tr, policy, Settings{TruncationTol: 1e-7}), solved(t, tr, policy, Settings{
			Limits: []int{80, 80},
		})
		wantMeans(t, fmt.Sprint("seed ", seed), auto, meansOf(far), errorOf(auto)+errorOf(far))
	}
	tr := trafficOf(
		[][]*big.Rat{oracle.Rats("1/2 1"), oracle.Rats("1/4 1/2"), oracle.Rats("1 1/2")}, oracle.Rats("1/4 1/2 1/4")...,
	)
	tr.Classes[0].MaxTasks, tr.Classes[1].MaxTasks, tr.Classes[1].MeanSize = oracle.Rats("1/2")[0],
		big.NewRat(1, 1), big.NewRat(2, 1)
	scaleTo(tr, big.NewRat(1, 2))
	for _, policy := range []fluid.Policy{fluid.DRF, fluid.BF, fluid.PF} {
		if r := solved(t, tr, policy, Settings{}); len(r.Parts[0].Groups) != 2 {
			t.Errorf("%s: groups %v, want 2", policy, r.Parts[0].Groups)
		} else if apart := solved(t, tr, policy, Settings{
			Limits: []int{28, 28, 28},
		}); math.Abs(apart.Classes[2].MeanJobs/r.Classes[2].MeanJobs-1) > 1e-6 {
			t.Errorf("%s: %v jobs of the third class, %v with separate classes",
				policy, r.Classes[2].MeanJobs, apart.Classes[2].MeanJobs)
		}
	}
	tr.Classes[1].MaxTasks = big.NewRat(1, 2)
	if r := solved(t, tr, fluid.BF, Settings{}); len(r.Parts[0].Groups) != 3 {
		t.Errorf("%v are the groups of classes with different limits, want 3", r.Parts[0].Groups)
	}
}

// Traffic with so many jobs that weights leave the range of float64 is rejected as too large, not
// answered wrongly.
func TestLimitsTooLarge(t *testing.T) {
	tr := trafficOf([][]*big.Rat{oracle.Rats("1 0"), oracle.Rats("1 1")}, oracle.Rats("500 200")...)
	tr.Resources[0].Capacity, tr.Resources[1].Capacity = big.NewRat(1000, 1), big.NewRat(1000, 1)
	for k := range tr.Classes {
		tr.Classes[k].MaxTasks = big.NewRat(1, 1)
	}
	if r, err := Solve(context.Background(), tr, fluid.BF, Settings{}); !errors.Is(err, ErrUnsolved) {
		t.Errorf("%v, %v", r, err)
	}
}
