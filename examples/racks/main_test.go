package main

import (
	"bytes"
	"math"
	"testing"

	"productform/bf"
	"productform/cluster"
	"productform/internal/docs"
)

// The program prints what its README shows.
func TestOutput(t *testing.T) {
	if err := docs.CheckOutput("README.md", "go run ./examples/racks", run); err != nil {
		t.Error(err)
	}
}

// E[X_t] = λ_t d log Z/dλ_t, by a difference quotient of
//
//	Z(k) = Σ_g k_g Z(k-e_g) / (Σ_g k_g - Σ_t λ_t Π_g C(k_g,d_tg)/C(25,d_tg)),  Z(0) = 1,
//
// over the numbers k_g of servers taken from the four racks. A step of h = 1e-4 of λ_t omits terms
// of relative size (h/(1-ρ))², ρ <= 0.84 the load, below 1e-6; the 100 roundings in Z, over h, are
// below 1e-9.
func TestAgainstDifferenceQuotient(t *testing.T) {
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
		rates := make([]float64, len(placed.Classes))
		for i, c := range placed.Classes {
			rates[i], _ = c.ArrivalRate.Float64()
		}
		for i, rate := range rates {
			const h = 1e-4
			rates[i] = rate * (1 + h)
			up := logNormalization(placed, rates)
			rates[i] = rate * (1 - h)
			down := logNormalization(placed, rates)
			rates[i] = rate
			want := (up - down) / (2 * h)
			if got := r.Classes[i].MeanJobs.Float; math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s: mean jobs of %s = %v, want %v", p.name, placed.Classes[i].Name, got, want)
			}
		}
	}
}

// logNormalization returns log Z for four racks of 25 servers of capacity 1.
func logNormalization(m *cluster.Model, rates []float64) float64 {
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
	stride := [4]int{(n + 1) * (n + 1) * (n + 1), (n + 1) * (n + 1), n + 1, 1}
	z := make([]float64, (n+1)*stride[0])
	z[0] = 1
	for state := 1; state < len(z); state++ {
		var k [4]int
		flow, room := 0.0, 0.0
		for g := range k {
			k[g] = state / stride[g] % (n + 1)
			room += float64(k[g])
			if k[g] > 0 {
				flow += float64(k[g]) * z[state-stride[g]]
			}
		}
		for i, c := range m.Classes {
			inside := rates[i]
			for _, choice := range c.Servers {
				inside *= chance[choice.Choose][k[choice.Server]]
			}
			room -= inside
		}
		z[state] = flow / room
	}
	return math.Log(z[len(z)-1])
}
