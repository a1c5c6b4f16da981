package bc17

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"productform/plots"
	"productform/plots/internal/plotstest"
)

var computed plotstest.Once

// figures returns all figures of the package, computed once.
func figures(t *testing.T) map[string]*plots.Figure {
	t.Helper()
	return computed.Figures(t, Figures())
}

func TestPictures(t *testing.T) { plotstest.CheckPictures(t, figures(t), "bf-6") }

// activeSetDelays returns E[X_i]/λ_i by the recursion over the sets A of active classes. The weight
// G(A) of the states whose active set is A obeys G(A) (μ(A) - λ(A)) = Σ_{i∈A} λ_i G(A∖i). The
// weighted number of class-i jobs G_i(A) obeys G_i(A) (μ(A) - λ(A)) = λ_i (G(A) + G(A∖i)) + Σ_{j∈A}
// λ_j G_i(A∖j) for i in A, which follows by differentiation with respect to λ_i.
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

// nearly compares two exact numbers that were each rounded once to float64.
func nearly(a, b float64) bool { return math.Abs(a-b) <= 0x1p-52*math.Abs(b) }

// zipfMean is the mean number of phases of the Zipf distribution of [BC17], Σ 1/k / Σ 1/k² for k =
// 1..200.
func zipfMean() *big.Rat {
	a, b := new(big.Rat), new(big.Rat)
	for k := int64(200); k >= 1; k-- {
		a.Add(a, big.NewRat(1, k))
		b.Add(b, big.NewRat(1, k*k))
	}
	return a.Quo(a, b)
}

// checkExact compares the curves of balanced fairness with mean delays for σ = 1; those for Zipf
// sizes take σ times as long.
func checkExact(t *testing.T, f *plots.Figure, stride int, delays func(rho *big.Rat) []*big.Rat) {
	t.Helper()
	if len(f.Panels) != 6 {
		t.Fatalf("%s: %d panels, want 6", f.ID, len(f.Panels))
	}
	means := []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1), zipfMean()}
	for k, rho := range exactLoads() {
		if k%stride != 0 {
			continue
		}
		x, _ := rho.Float64()
		want := delays(rho)
		for row, size := range means {
			a, b := plotstest.Series(t, f.Panels[2*row], "balanced fairness"),
				plotstest.Series(t, f.Panels[2*row+1], "balanced fairness")
			for s := range a {
				rate, _ := new(big.Rat).Inv(want[s]).Float64()
				delay, _ := new(big.Rat).Mul(want[s], size).Float64()
				if a[s].X[k] != x || b[s].X[k] != x || !nearly(a[s].Y[k], rate) || !nearly(b[s].Y[k], delay) {
					t.Errorf("%s, %s, load %v: rate %v, delay %v at %v, want %v, %v",
						f.ID, a[s].Name(), x, a[s].Y[k], b[s].Y[k], a[s].X[k], rate, delay)
				}
			}
		}
	}
}

// Figures 1 and 2 match the recursion over active sets, with the capacities in the captions of
// [BC17].
func TestThreeServersMatchActiveSets(t *testing.T) {
	for id, capacities := range map[string][3]int64{"bf-1": {1, 1, 1}, "bf-2": {1, 0, 1}} {
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
				mu[a].Add(mu[a], big.NewRat(capacities[bits.TrailingZeros(reached)], 1))
			}
		}
		checkExact(t, figures(t)[id], 1, func(rho *big.Rat) []*big.Rat {
			half := new(big.Rat).Mul(rho, mu[3])
			half.Quo(half, big.NewRat(2, 1))
			return activeSetDelays([]*big.Rat{half, half}, mu)
		})
	}
}

// Figures 3 and 4 match the recursion over the number k of servers, Z(k) (k - λ(k)) = k Z(k-1) with
// λ(k) = λ C(k,d)/C(S,d), carried with its derivative: E[X] = λ Z'(S)/Z(S).
func TestRandomAssignmentMatchesServerRecursion(t *testing.T) {
	for id, d := range map[string]int64{"bf-3": 2, "bf-4": 3} {
		checkExact(t, figures(t)[id], 15, func(rho *big.Rat) []*big.Rat {
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
			return []*big.Rat{dz.Quo(dz, z).Quo(dz, lambda)}
		})
	}
}

// Rate times delay is the mean size, for points and ends of intervals; the exact rate decreases
// from its maximum to 0.
func TestShape(t *testing.T) {
	zipf, _ := zipfMean().Float64()
	figures := figures(t)
	for _, id := range []string{"bf-1", "bf-2", "bf-3", "bf-4"} {
		f := figures[id]
		for row, size := range []float64{1, 1, zipf} {
			rate, delay := f.Panels[2*row], f.Panels[2*row+1]
			for s, g := range rate.Series {
				d := delay.Series[s]
				for k := range g.X {
					product := []float64{g.Y[k] * d.Y[k]}
					if g.Low != nil {
						product = append(product, g.Low[k]*d.High[k], g.High[k]*d.Low[k])
					}
					for _, v := range product {
						if math.Abs(v/size-1) > 0x1p-50 { // at most eight roundings
							t.Errorf("%s, %s: rate times delay is %v at load %v, want %v",
								id, g.Name(), v, g.X[k], size)
						}
					}
				}
			}
			for s, g := range plotstest.Series(t, rate, "balanced fairness") {
				most := rate.References[s].Y
				for k, v := range g.Y {
					if v <= 0 || v >= most || k > 0 && v >= g.Y[k-1] {
						t.Errorf("%s: rate %v at load %v is not between 0 and %v and decreasing", id, v, g.X[k], most)
					}
				}
				if g.Y[0] < 0.98*most { // load 1/200
					t.Errorf("%s: rate %v at low load, want nearly %v", id, g.Y[0], most)
				}
			}
		}
	}
}

// Captions name every number that the figure depends on.
func TestCaptionsNameParameters(t *testing.T) {
	figures := figures(t)
	of := []string{"4 runs of 2000 jumps", "after 1000", "seed 1", "95 %", "jumps in total"}
	distributions := []string{
		"25 exponential phases with probability 1/6", "mean 5 with probability 1/6", "k = 1..200 (σ = 3.58",
	}
	loads := []string{"10 loads from 0.1 to 0.95", "198 loads from 0.005 to 0.99", "m = 1 and m = 5"}
	figure := append(append(append([]string{}, of...), distributions...), loads...)
	for id, words := range map[string][]string{
		"bf-1": append([]string{"S = 3", "C₁ = 1, C₂ = 1, C₃ = 1", "N = 2", "λ₁ = λ₂ = 3ρ/2σ", "Figure 1"}, figure...),
		"bf-2": append([]string{"S = 3", "C₁ = 1, C₂ = 0, C₃ = 1", "N = 2", "λ₁ = λ₂ = 2ρ/2σ", "Figure 2"}, figure...),
		"bf-3": append([]string{"d = 2", "S = 100", "C = 1", "4950 classes", "λ = 100ρ/σ", "Figure 3"}, figure...),
		"bf-4": append([]string{"d = 3", "S = 100", "C = 1", "161700 classes", "λ = 100ρ/σ", "Figure 4"}, figure...),
		"bf-5": append(
			append([]string{"load ρ = 0.8", "m = 0.25, 1, 4, 16, 64", "m/16 times as many"}, of...), distributions...,
		),
		"bf-6": append([]string{
			"load ρ = 0.8", "load ρ = 0.9", "2·10⁻⁵", "for m = 5 by runs of 4 times as many", "k = 1..200",
		}, of...),
	} {
		for _, w := range words {
			if !strings.Contains(figures[id].Caption+" "+figures[id].Setting, w) {
				t.Errorf("%s: the caption lacks %q: %s", id, w, figures[id].Caption+" "+figures[id].Setting)
			}
		}
		for _, name := range []string{"runs of each simulation", "seed", "jumps observed in total"} {
			if !slices.ContainsFunc(figures[id].Parameters, func(p plots.Parameter) bool { return p.Name == name }) {
				t.Errorf("%s: no parameter %q", id, name)
			}
		}
	}
}

// The large cluster of bf-6 never has few jobs: its axis starts close to its distribution.
func TestDistributionFillsItsAxis(t *testing.T) {
	for k, p := range figures(t)["bf-6"].Panels {
		x := p.Series[0].X
		from, to := x[0], x[len(x)-1]
		if k == 0 && p.X.Min != 0 ||
			k == 1 && !(0 < p.X.Min && p.X.Min <= from && to <= p.X.Max && to-from > 0.75*(p.X.Max-p.X.Min)) {
			t.Errorf("panel %d: from %v to %v on an axis from %v to %v", k, from, to, p.X.Min, p.X.Max)
		}
	}
}
