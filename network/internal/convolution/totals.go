package convolution

import (
	"context"
	"fmt"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// Totals is a station whose balance function depends on the total of jobs: with u = Σ_k D_k z_k for
// the closed chains,
//
//	f(u + ρ) = Scale Σ_n u^n / Π_{j <= n} α'(j),   α'(j) = Rates[j-1], the last for all greater j,
//
// where α' is α of the model if ρ = 0. Multiplication of a lattice G by Horner's rule has only
// positive terms for any rates: T_{m-1} = G/(1 - u/α'(m)), T_{j-1} = G + (u/α'(j)) T_j, f G = Scale
// T_0. With Delay f(u + ρ) = e^((u + ρ)/Delay), and Rates is nil. If no closed chain visits the
// station, the mean number of its jobs is ρ/α'(1) = ρ f'(ρ)/f(ρ).
type Totals struct {
	Delay *big.Rat   // work per unit of time of each server; only with Delay
	Rates []*big.Rat // α'(1), ..., up to the last one that matters; nil with Delay
	// f(ρ), 1 if ρ = 0: if no closed chain visits the station, it is empty with probability 1/f(ρ);
	// nil with Delay, for which it is e^(ρ/Delay)
	Scale  *big.Rat
	Alone  []*big.Rat // α(1), ..., α(m) of the model, up to the last one that matters; nil with Delay
	Listed bool       // whether the rates are given as a list, not by a number of servers
	Pool   *Pool      // in place of Rates, Scale and Alone: too many servers for fractions
	Most   *big.Rat   // α(n) for the maximum number of jobs; nil with Delay
}

// A Pool is a number of equal servers that only open chains visit.
type Pool struct {
	Servers int
	Rate    *big.Rat // work per unit of time of each server
}

// ManyServers is a number of servers from which on Fold rejects open chains: their fractions have at
// least log2(ManyServers) bits.
const ManyServers = 1 << 15

// Limits on folding open chains into a station: memory, and the bits of all integers that it adds.
const (
	maxFoldedBytes = 1 << 30
	maxFoldedBits  = 1 << 36
)

// Fold sets Rates and Scale, given the open load ρ < α(m) and the jobs of closed chains that visit
// the station.
//
// f(u) = p(u)/(1 - u/a) with a = α(m), p_0 = 1 and p_j = A_j - A_{j-1}/a, A_j = 1/Π_{i <= j} α(i).
// The coefficients of f(u + ρ) = Σ c_j u^j and p(u + ρ) = Σ q_j u^j thus satisfy (1 - ρ/a) c_j =
// q_j + c_{j-1}/a. Then α'(j) = c_{j-1}/c_j, which is a - ρ for j >= m.
func (t *Totals) Fold(ctx context.Context, path string, load *big.Rat, jobs int) error {
	if t.Delay != nil || t.Pool != nil {
		return nil
	}
	m := len(t.Alone)
	t.Rates, t.Scale = t.Alone[:min(m, max(jobs, 1))], big.NewRat(1, 1)
	if load.Sign() == 0 {
		return nil
	}
	a := t.Alone[m-1]
	left := new(big.Rat).Sub(a, load)
	if m == 1 {
		t.Rates = []*big.Rat{left}
		t.Scale.Quo(a, left)
		return nil
	}
	q, err := t.shifted(ctx, path, load, min(m, max(jobs, 1)+1))
	if err != nil {
		return err
	}
	share := new(big.Rat).Quo(left, a) // 1 - ρ/a
	var before *big.Rat
	t.Rates = nil
	for j, x := range q {
		if err := ctx.Err(); err != nil {
			return err
		}
		if j > 0 {
			x.Add(x, new(big.Rat).Quo(before, a))
		}
		x.Quo(x, share)
		if j == 0 {
			t.Scale = x
		} else {
			t.Rates = append(t.Rates, new(big.Rat).Quo(before, x))
		}
		before = x
	}
	if len(q) == m {
		t.Rates = append(t.Rates, left)
	}
	return nil
}

// shifted returns q_0, ..., q_{n-1}, the first coefficients of p(u + ρ), for n <= m. It works on
// integers: with ρ = x/y, α(i) = r_i/s_i and the common denominator d = a Π r_i y^(m-1), p(u/y) is
// a polynomial of integers over d, which Horner's rule shifts by x.
func (t *Totals) shifted(ctx context.Context, path string, load *big.Rat, n int) ([]*big.Rat, error) {
	m := len(t.Alone)
	a := t.Alone[m-1]
	x, y := load.Num(), load.Denom()
	bits := float64(x.BitLen() + y.BitLen())
	for _, r := range t.Alone {
		bits = max(bits, float64(x.BitLen()+y.BitLen()+r.Num().BitLen()+r.Denom().BitLen()))
	}
	memory, work := float64(m)*float64(m)*bits/4, float64(m)*float64(m)*bits*float64(n+2)
	if memory > maxFoldedBytes || work > maxFoldedBits {
		bad := input.Errorf(path, fmt.Sprintf("%d rates", m),
			"fewer rates or servers: open chains are folded into them by fractions of %.0f bits, which take %.3g MiB "+
				"and %.3g operations on words, more than %d MiB or %.0e",
			float64(m)*bits, memory/(1<<20), work/64, int64(maxFoldedBytes)>>20, float64(maxFoldedBits)/64)
		return nil, &num.TooLargeError{
			Input:   bad,
			States:  float64(m) * float64(n),
			Bytes:   memory,
			Limit:   maxFoldedBytes,
			Instead: []num.Remedy{num.Simulation},
		}
	}
	// A_j Π r_i = Π_{i<=j} s_i Π_{i>j} r_i.
	above := make([]*big.Int, m) // Π_{i>j} r_i for j = 0, ..., m-1, where i = j+1, ..., m-1
	above[m-1] = big.NewInt(1)
	for j := m - 2; j >= 0; j-- {
		above[j] = new(big.Int).Mul(above[j+1], t.Alone[j].Num())
	}
	below, power := big.NewInt(1), big.NewInt(1)
	p := make([]*big.Int, m) // coefficients of p(u) times a.Num Π r_i
	var before *big.Int
	for j := range m {
		if j > 0 {
			below = new(big.Int).Mul(below, t.Alone[j-1].Denom())
		}
		product := new(big.Int).Mul(below, above[j])
		p[j] = new(big.Int).Mul(product, a.Num())
		if j > 0 {
			p[j].Sub(p[j], before.Mul(before, a.Denom()))
		}
		before = product
	}
	for j := m - 1; j >= 0; j-- { // u = z/y: coefficient j times y^(m-1-j)
		p[j].Mul(p[j], power)
		power = new(big.Int).Mul(power, y)
	}
	power.Quo(power, y) // y^(m-1)
	step := new(big.Int)
	for i := range n { // synthetic division by z - x, i times
		for j := m - 2; j >= i; j-- {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			p[j].Add(p[j], step.Mul(p[j+1], x))
		}
	}
	d := new(big.Int).Mul(above[0], a.Num())
	d.Mul(d, power)
	q := make([]*big.Rat, n)
	scale := big.NewInt(1)
	for j := range q { // z - x = y u
		q[j] = new(big.Rat).SetFrac(p[j].Mul(p[j], scale), d)
		scale = new(big.Int).Mul(scale, y)
	}
	return q, nil
}
