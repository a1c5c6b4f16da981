package plots

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"testing"
)

// activeSetDelays returns E[X_i]/λ_i by the recursion over the sets A of active classes: with
// G(A) (μ(A) - λ(A)) = Σ_{i∈A} λ_i G(A∖i), the weight of the states whose active set is A, the weighted number
// of class-i jobs G_i(A) obeys G_i(A) (μ(A) - λ(A)) = λ_i (G(A) + G(A∖i)) + Σ_{j∈A} λ_j G_i(A∖j) for i in A,
// which is the former multiplied out and differentiated by λ_i.
func activeSetDelays(lambda, mu []*big.Rat) []*big.Rat {
	n := len(lambda)
	g := make([]*big.Rat, 1<<n)
	jobs := make([][]*big.Rat, n)
	g[0] = big.NewRat(1, 1)
	total := big.NewRat(1, 1)
	for i := range jobs {
		jobs[i] = make([]*big.Rat, 1<<n)
		jobs[i][0] = new(big.Rat)
	}
	mean := make([]*big.Rat, n)
	for a := 1; a < 1<<n; a++ {
		slack := new(big.Rat).Set(mu[a])
		flow := new(big.Rat)
		for i := range n {
			if a>>i&1 == 1 {
				slack.Sub(slack, lambda[i])
				flow.Add(flow, new(big.Rat).Mul(lambda[i], g[a&^(1<<i)]))
			}
		}
		g[a] = new(big.Rat).Quo(flow, slack)
		total.Add(total, g[a])
		for i := range n {
			sum := new(big.Rat)
			if a>>i&1 == 1 {
				sum.Mul(lambda[i], new(big.Rat).Add(g[a], g[a&^(1<<i)]))
				for j := range n {
					if a>>j&1 == 1 {
						sum.Add(sum, new(big.Rat).Mul(lambda[j], jobs[i][a&^(1<<j)]))
					}
				}
				sum.Quo(sum, slack)
			}
			jobs[i][a] = sum
		}
	}
	for i := range n {
		sum := new(big.Rat)
		for a := range 1 << n {
			sum.Add(sum, jobs[i][a])
		}
		mean[i] = sum.Quo(sum, total).Quo(sum, lambda[i])
	}
	return mean
}

func build(t *testing.T, id string, p Precision) *Figure {
	t.Helper()
	for _, e := range Catalogue() {
		if e.ID == id {
			f, err := e.Build(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Validate(); err != nil {
				t.Fatal(err)
			}
			return f
		}
	}
	t.Fatalf("no figure %s", id)
	return nil
}

// near compares numbers that were both exact before they were rounded to float64: one rounding each.
func near(a, b float64) bool { return math.Abs(a-b) <= 0x1p-52*math.Abs(b) }

// Figures 1 and 2 against the recursion over active sets, from the capacities in the captions of [BC17].
func TestThreeServersAgainstActiveSets(t *testing.T) {
	for _, c := range []struct {
		id         string
		capacities [3]int64
		classes    []int // of the curves
	}{{"bf-1", [3]int64{1, 1, 1}, []int{0}}, {"bf-2", [3]int64{1, 0, 1}, []int{0, 1}}} {
		servers := [2]uint{0b101, 0b110} // servers 1, 3 and 2, 3
		mu := make([]*big.Rat, 4)
		for a := range mu {
			var reached uint
			for i := range 2 {
				if a>>i&1 == 1 {
					reached |= servers[i]
				}
			}
			mu[a] = new(big.Rat)
			for ; reached != 0; reached &= reached - 1 {
				mu[a].Add(mu[a], big.NewRat(c.capacities[bits.TrailingZeros(reached)], 1))
			}
		}
		for _, p := range Precisions() {
			f := build(t, c.id, p)
			if len(f.Panels) != 2 || len(f.Panels[0].Series) != len(c.classes) || len(f.Panels[1].Series) != len(c.classes) {
				t.Fatalf("%s: wrong panels or series", c.id)
			}
			rhos := loads(p)
			for k, rho := range rhos {
				half := new(big.Rat).Mul(rho, mu[3])
				half.Quo(half, big.NewRat(2, 1))
				delays := activeSetDelays([]*big.Rat{half, half}, mu)
				x, _ := rho.Float64()
				for s, class := range c.classes {
					delay, _ := delays[class].Float64()
					rate, _ := new(big.Rat).Inv(delays[class]).Float64()
					a, b := f.Panels[0].Series[s], f.Panels[1].Series[s]
					if a.X[k] != x || b.X[k] != x || !near(a.Y[k], rate) || !near(b.Y[k], delay) {
						t.Errorf("%s, %s, load %v: rate %v, delay %v at %v, want %v, %v", c.id, a.Label, x, a.Y[k], b.Y[k], a.X[k], rate, delay)
					}
				}
			}
		}
	}
}

// Figures 3 and 4 against the recursion over the number k of servers, Z(k) (k - λ(k)) = k Z(k-1) with
// λ(k) = λ C(k,d)/C(S,d), carried with its derivative: E[X] = λ Z'(S)/Z(S).
func TestRandomAssignmentAgainstServerRecursion(t *testing.T) {
	for id, d := range map[string]int64{"bf-3": 2, "bf-4": 3} {
		f := build(t, id, Draft)
		for i, rho := range loads(Draft) {
			if i%7 != 0 && i != len(loads(Draft))-1 {
				continue
			}
			lambda := new(big.Rat).Mul(rho, big.NewRat(100, 1))
			z, dz := big.NewRat(1, 1), new(big.Rat) // Z and λ dZ/dλ
			for k := int64(1); k <= 100; k++ {
				inside := new(big.Rat).SetFrac(new(big.Int).Binomial(k, d), new(big.Int).Binomial(100, d))
				inside.Mul(inside, lambda)
				count := big.NewRat(k, 1)
				slack := new(big.Rat).Sub(count, inside)
				z.Mul(z, count).Quo(z, slack)
				dz.Mul(dz, count).Add(dz, new(big.Rat).Mul(inside, z)).Quo(dz, slack)
			}
			delay := dz.Quo(dz, z).Quo(dz, lambda)
			wantDelay, _ := delay.Float64()
			wantRate, _ := new(big.Rat).Inv(delay).Float64()
			if rate, delay := f.Panels[0].Series[0].Y[i], f.Panels[1].Series[0].Y[i]; !near(rate, wantRate) || !near(delay, wantDelay) {
				t.Errorf("%s, load %v: rate %v, delay %v, want %v, %v", id, rho, rate, delay, wantRate, wantDelay)
			}
		}
	}
}

// The mean service rate falls from its maximum to 0, and a job of size 1 takes 1/γ.
func TestShape(t *testing.T) {
	for _, e := range Catalogue() {
		f := build(t, e.ID, Normal)
		rate, delay := f.Panels[0], f.Panels[1]
		for s := range rate.Series {
			most := rate.References[min(s, len(rate.References)-1)].Y
			for k, g := range rate.Series[s].Y {
				if g <= 0 || g >= most || k > 0 && g >= rate.Series[s].Y[k-1] {
					t.Errorf("%s: rate %v at load %v is not between 0 and %v and decreasing", e.ID, g, rate.Series[s].X[k], most)
				}
				if d := delay.Series[s].Y[k]; math.Abs(d*g-1) > 0x1p-51 { // two roundings
					t.Errorf("%s: rate %v times delay %v is not the job size 1", e.ID, g, d)
				}
			}
			if first := rate.Series[s].Y[0]; first < 0.97*most { // load 1/100
				t.Errorf("%s: rate %v at low load, want nearly %v", e.ID, first, most)
			}
		}
	}
}

func TestLoads(t *testing.T) {
	one := big.NewRat(1, 1)
	count := 0
	for _, p := range Precisions() {
		rhos := loads(p)
		if len(rhos) <= count {
			t.Errorf("%s has %d loads, no more than the one before", p, len(rhos))
		}
		count = len(rhos)
		previous := new(big.Rat)
		for _, rho := range rhos {
			if rho.Cmp(previous) <= 0 || rho.Cmp(one) >= 0 {
				t.Errorf("%s: load %v after %v", p, rho, previous)
			}
			previous = rho
		}
		if previous.Cmp(big.NewRat(999, 1000)) != 0 {
			t.Errorf("%s ends at %v, want 999/1000", p, previous)
		}
	}
}

// Captions name every number that the configuration depends on.
func TestCaptionsNameParameters(t *testing.T) {
	for id, words := range map[string][]string{
		"bf-1": {"S = 3", "C₁ = 1, C₂ = 1, C₃ = 1", "N = 2", "λ₁ = λ₂ = 3ρ/2", "σ = 1", "126 loads from 0.01 to 0.999", "ends at δ = 100,", "Figure 1"},
		"bf-2": {"S = 3", "C₁ = 1, C₂ = 0, C₃ = 1", "N = 2", "λ₁ = λ₂ = 2ρ/2", "σ = 1", "126 loads from 0.01 to 0.999", "ends at δ = 100,", "Figure 2"},
		"bf-3": {"d = 2", "S = 100", "C = 1", "4950 classes", "λ = 100ρ", "σ = 1", "126 loads from 0.01 to 0.999", "ends at δ = 10,", "Figure 3"},
		"bf-4": {"d = 3", "S = 100", "C = 1", "161700 classes", "λ = 100ρ", "σ = 1", "126 loads from 0.01 to 0.999", "ends at δ = 10,", "Figure 4"},
	} {
		f := build(t, id, Normal)
		for _, w := range words {
			if !strings.Contains(f.Caption, w) {
				t.Errorf("%s: the caption lacks %q: %s", id, w, f.Caption)
			}
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	e := Catalogue()[0]
	if _, err := e.Build(t.Context(), "fine"); err == nil || err.Error() != "precision = fine: want draft, normal or paper" {
		t.Errorf("unknown precision: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Build(ctx, Draft); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
