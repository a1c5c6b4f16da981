package markov

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// randomChain draws rates over ten orders of magnitude, with few bits, which keeps fractions short.
func randomChain(r *rand.Rand, size ...int) *Chain {
	g := NewChain(NewRegion(size, nil))
	for k := range size {
		for s := range g.States {
			x := s / NewBox(g.Size).Stride[k] % size[k]
			if x > 0 {
				g.down[k][pad+s] = math.Ldexp(float64(1+r.IntN(7)), r.IntN(33)-16)
			}
			if x < size[k]-1 {
				g.up[k][pad+s] = math.Ldexp(float64(1+r.IntN(7)), r.IntN(33)-16)
			}
		}
	}
	return g
}

// literalStationary solves the balance equations Σ_i π_i q_ij = π_j Σ_i q_ji, π_0 = 1, by Gaussian
// elimination on fractions.
func literalStationary(g *Chain) []*big.Rat {
	n := g.States
	m := make([][]*big.Rat, n) // equation of state j, with unknowns π_1, π_2, ... and the constant in column 0
	for j := range m {
		m[j] = make([]*big.Rat, n)
		for i := range m[j] {
			m[j][i] = new(big.Rat)
		}
	}
	for s, x := range pointsOf(g.Region) {
		for k := range x {
			for _, move := range []struct {
				step int
				rate float64
			}{{1, g.up[k][pad+s]}, {-1, g.down[k][pad+s]}} {
				if move.rate != 0 {
					x[k] += move.step
					to := g.Number(x)
					x[k] -= move.step
					q := new(big.Rat).SetFloat64(move.rate)
					m[to][s].Add(m[to][s], q)
					m[s][s].Sub(m[s][s], q)
				}
			}
		}
	}
	for p := 1; p < n; p++ {
		for row := p; m[p][p].Sign() == 0; row++ {
			m[p], m[row] = m[row], m[p]
		}
		for j := 1; j < n; j++ {
			if j == p || m[j][p].Sign() == 0 {
				continue
			}
			f := new(big.Rat).Quo(m[j][p], m[p][p])
			for i := range n {
				m[j][i].Sub(m[j][i], new(big.Rat).Mul(f, m[p][i]))
			}
		}
	}
	pi := []*big.Rat{big.NewRat(1, 1)}
	for p := 1; p < n; p++ {
		x := new(big.Rat).Quo(m[p][0], m[p][p])
		pi = append(pi, x.Neg(x))
	}
	return pi
}

// Every probability is within the error bound, although probabilities span many orders of
// magnitude.
func TestStationaryMatchesFractions(t *testing.T) {
	for seed, size := range [][]int{
		{1}, {2}, {9}, {25}, {1, 7}, {3, 3}, {4, 6}, {2, 13}, {6, 5}, {2, 2, 2}, {3, 3, 3}, {2, 3, 5},
		{1, 5, 5}, {2, 2, 3, 2},
	} {
		g := randomChain(rand.New(rand.NewPCG(uint64(seed), 6)), size...)
		pi, bound, _ := g.Eliminate(context.Background())
		if bound > 1e-11 {
			t.Errorf("size %d: bound %g", size, bound)
		}
		for s, want := range literalStationary(g) {
			w, _ := want.Float64()
			if math.Abs(pi[s]/w-1) > bound {
				t.Errorf("size %d: π_%d = %v, want %v", size, s, pi[s], w)
			}
		}
	}
}

// plainStationary eliminates the states from the last to the first, on the full matrix.
func plainStationary(g *Chain) []float64 {
	n := g.States
	q := make([][]float64, n)
	for s := range q {
		q[s] = make([]float64, n)
		for k, stride := range NewBox(g.Size).Stride {
			if s+stride < n {
				q[s][s+stride] += g.up[k][pad+s]
			}
			if s >= stride {
				q[s][s-stride] += g.down[k][pad+s]
			}
		}
	}
	exit := make([]float64, n)
	for s := n - 1; s > 0; s-- {
		for j := range s {
			exit[s] += q[s][j]
		}
		for i := range s {
			for j := range s {
				q[i][j] += q[i][s] * q[s][j] / exit[s]
			}
		}
	}
	pi := make([]float64, n)
	pi[0] = 1
	for s := 1; s < n; s++ {
		for i := range s {
			pi[s] += pi[i] * q[i][s] / exit[s]
		}
	}
	return pi
}

// Larger chains, with fronts of more than four states and several levels of cuts, match elimination
// in another order, whose error is also at most about 1e-11.
func TestStationaryMatchesPlainOrder(t *testing.T) {
	for seed, size := range [][]int{{300}, {17, 23}, {24, 16}, {5, 60}, {7, 8, 6}, {3, 10, 11}} {
		g := randomChain(rand.New(rand.NewPCG(uint64(seed), 7)), size...)
		pi, bound, _ := g.Eliminate(context.Background())
		for s, want := range plainStationary(g) {
			if !(math.Abs(pi[s]/want-1) <= bound+1e-10) {
				t.Fatalf("size %d: π_%d = %v, want %v", size, s, pi[s], want)
			}
		}
	}
}

// For a product of birth-death processes, π is the product of their distributions; the
// probabilities of the far corner are below the range of float64 and become 0.
func TestStationaryFarBelowRange(t *testing.T) {
	g := NewChain(NewRegion([]int{300, 250}, nil))
	for k, n := range g.Size {
		for s := range g.States {
			x := s / NewBox(g.Size).Stride[k] % n
			if x > 0 {
				g.down[k][pad+s] = 1
			}
			if x < n-1 {
				g.up[k][pad+s] = 0.1
			}
		}
	}
	pi, bound, _ := g.Eliminate(context.Background())
	for s, p := range pi {
		if want := math.Pow(0.1, float64(s/250+s%250)); want > 1e-300 && math.Abs(p/want-1) > bound+1e-13 ||
			want < 1e-310 && !(p < 1e-305) {
			t.Fatalf("π_%d = %v, want %v within %g", s, p, want, bound)
		}
	}
}

func BenchmarkStationary(b *testing.B) {
	for _, size := range [][]int{{100, 100}, {200, 200}, {500, 500}, {20, 20, 20}} {
		g := NewChain(NewRegion(size, nil))
		for k, n := range size {
			for s := range g.States {
				x := s / NewBox(g.Size).Stride[k] % n
				if x > 0 {
					g.down[k][pad+s] = 1 + 1/float64(x)
				}
				if x < n-1 {
					g.up[k][pad+s] = 0.8
				}
			}
		}
		b.Run(fmt.Sprintf("states=%d/classes=%d", g.States, len(size)), func(b *testing.B) {
			for b.Loop() {
				g.Eliminate(context.Background())
			}
		})
	}
}
