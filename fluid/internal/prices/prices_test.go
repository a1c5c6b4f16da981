package prices_test

import (
	"context"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/fluid/internal/prices"
	"productform/internal/oracle"
)

// If each of two rows needs only one of two resources, the prices are the masses of the rows. A row
// that needs both equally adds its mass to the sum of the prices.
func TestPricesOfSeparateRows(t *testing.T) {
	k := prices.NewSolver([][]float64{{1, 0}, {0, 1}}, []float64{1, 2})
	share := make([]float64, 2)
	if err := k.Shares(t.Context(), []float64{3, 1}, share); err != nil {
		t.Fatal(err)
	}
	// Row 0 has mass 3 and row 1 mass 2; three jobs share the first resource.
	for i, want := range []float64{1.0 / 3, 1} {
		if !oracle.Near(share[i], want, 1e-12) {
			t.Errorf("share %d is %v, want %v", i, share[i], want)
		}
	}
	if !oracle.Near(k.Price[0], 3, 1e-12) || !oracle.Near(k.Price[1], 2, 1e-12) || k.Total != 5 {
		t.Errorf("prices %v of the total %v", k.Price, k.Total)
	}
}

// Both solvers find prices at which no load exceeds 1, and loads are 1 if the price is positive.
// These are the conditions of the optimum, which the test evaluates independently.
func TestPricesAreOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, resources := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "resources")
		need, weight, count := make([][]float64, resources), make([]float64, rows), make([]float64, rows)
		exact, mass := make([][]*big.Rat, rows), make([]*big.Rat, rows)
		for j := range resources {
			need[j] = make([]float64, rows)
		}
		for i := range rows {
			weight[i], count[i] = float64(rapid.IntRange(1, 9).Draw(t, "weight")), float64(rapid.IntRange(1, 9).Draw(
				t, "count",
			))
			mass[i] = new(big.Rat).SetFloat64(weight[i] * count[i])
			dominant := rapid.IntRange(0, resources-1).Draw(t, "dominant")
			for j := range resources {
				need[j][i] = float64(rapid.IntRange(0, 8).Draw(t, "need")) / 8
				if j == dominant {
					need[j][i] = 1
				}
				exact[i] = append(exact[i], new(big.Rat).SetFloat64(need[j][i]))
			}
		}
		optimal := func(name string, price []float64, tol float64) {
			load := make([]float64, resources)
			for i := range rows {
				y := 0.0
				for j, p := range price {
					y += p * need[j][i]
				}
				for j := range load {
					load[j] += weight[i] * count[i] * need[j][i] / y
				}
			}
			for j, p := range price {
				if !(p >= 0 && load[j] <= 1+tol) || p > 0 && load[j] < 1-tol {
					t.Errorf("%s: prices %v give the loads %v", name, price, load)
				}
			}
		}

		k := prices.NewSolver(need, weight)
		if err := k.Shares(context.Background(), count, make([]float64, rows)); err != nil {
			t.Fatal(err)
		}
		optimal("float64", k.Price, 1e-6)

		start := make([]*big.Float, resources)
		for j := range start {
			start[j] = big.NewFloat(1)
		}
		d := prices.NewDual(exact, mass, start, 200)
		d.Minimise(context.Background(), new(big.Float).SetMantExp(big.NewFloat(1), -100))
		price := make([]float64, resources)
		for j, p := range d.Price {
			price[j], _ = p.Float64()
		}
		optimal("big.Float", price, 1e-12)
		if r := d.Residual(); !(r <= 1e-12) || math.IsNaN(r) {
			t.Errorf("residual %v", r)
		}
	})
}

// Minimise checks the context, and stops at the current prices.
func TestMinimiseStops(t *testing.T) {
	half, one := big.NewRat(1, 2), big.NewRat(1, 1)
	start := []*big.Float{big.NewFloat(1), big.NewFloat(1)}
	d := prices.NewDual([][]*big.Rat{{one, half}, {half, one}, {one, one}}, []*big.Rat{one, one, half}, start, 100)
	d.Minimise(oracle.NewCountdown(0), new(big.Float))
	if d.Price[0].Cmp(d.Price[1]) != 0 {
		t.Errorf("prices %v after no step", d.Price)
	}
}
