package main

import (
	"bytes"
	"math"
	"testing"

	"productform/bf"
	"productform/cluster"
	"productform/internal/docs"
	"productform/num"
)

// The program prints what its README shows.
func TestOutput(t *testing.T) {
	if err := docs.CheckOutput("README.md", "go run ./examples/racks", run); err != nil {
		t.Error(err)
	}
}

// E[X_t] = λ_t d log Z/dλ_t, by the recursion
//
//	Z(k) = Σ_g k_g Z(k-e_g) / (Σ_g k_g - Σ_t λ_t Π_g C(k_g,d_tg)/C(25,d_tg)),  Z(0) = 1,
//
// over the numbers k_g of servers taken from the four racks, and its derivative. All terms are
// positive, so only the denominator loses digits, at most one at a load of at most 0.84: after
// a hundred steps of a dozen roundings the error is below 1e-12. The solver promises 1e-9.
func TestAgainstDerivative(t *testing.T) {
	m, err := cluster.ReadYAML(bytes.NewReader(model))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range placements()[3:] {
		placed := place(m, p)
		r, err := bf.Solve(t.Context(), placed, bf.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range meanJobs(placed) {
			if got := r.Classes[i].MeanJobs.Float; math.Abs(got-want) > num.DefaultRelTol*want {
				t.Errorf("%s: mean jobs of %s = %v, want %v", p.name, placed.Classes[i].Name, got, want)
			}
		}
	}
}

// meanJobs returns λ_t d log Z/dλ_t for four racks of 25 servers of capacity 1.
func meanJobs(m *cluster.Model) []float64 {
	const n = 25
	var chance [4][n + 1]float64 // C(k,d)/C(n,d)
	for d := range chance {
		for k := range chance[d] {
			chance[d][k] = 1
			for j := range d {
				chance[d][k] *= float64(max(k-j, 0)) / float64(n-j)
			}
		}
	}
	rates := make([]float64, len(m.Classes))
	for i, c := range m.Classes {
		rates[i], _ = c.ArrivalRate.Float64()
	}
	values := 1 + len(rates) // Z, and λ_t dZ/dλ_t for each t
	stride := [4]int{(n + 1) * (n + 1) * (n + 1), (n + 1) * (n + 1), n + 1, 1}
	all := make([]float64, (n+1)*stride[0]*values)
	all[0] = 1
	for state := 1; state < (n+1)*stride[0]; state++ {
		z := all[state*values:][:values]
		var k [4]int
		room := 0.0
		for g := range k {
			k[g] = state / stride[g] % (n + 1)
			room += float64(k[g])
			if k[g] == 0 {
				continue
			}
			for i, v := range all[(state-stride[g])*values:][:values] {
				z[i] += float64(k[g]) * v
			}
		}
		var inside [8]float64
		for i, c := range m.Classes {
			inside[i] = rates[i]
			for _, choice := range c.Servers {
				inside[i] *= chance[choice.Choose][k[choice.Server]]
			}
			room -= inside[i]
		}
		z[0] /= room
		for i := range rates {
			z[1+i] = (z[1+i] + inside[i]*z[0]) / room
		}
	}
	last := all[len(all)-values:]
	mean := make([]float64, len(rates))
	for i := range mean {
		mean[i] = last[1+i] / last[0]
	}
	return mean
}
