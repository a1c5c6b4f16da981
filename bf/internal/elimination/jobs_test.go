package elimination

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// literalJobs returns P(X_i = k), k = 0..n: the coefficients in z of Z with λ_i z in place of λ_i,
// divided by Z. With z, the recursion over sets of servers is (C(K) - λ(K) + λ_i) Z_k(K) = Σ_s C_s
// Z_k(K∖s) + λ_i Z_{k-1}(K) for the sets K that contain S_i.
func literalJobs(p *Problem, i, n int) []*big.Rat {
	slack := slackOf(p)
	series := make([][]*big.Rat, len(slack))
	sum := new(big.Rat)
	for set := range series {
		series[set] = make([]*big.Rat, n+1)
		holds := set&p.mask(i) == p.mask(i)
		den := slack[set]
		if holds {
			den = new(big.Rat).Add(den, rat(p.Classes[i].Rate))
		}
		for k := range series[set] {
			x := new(big.Rat)
			switch {
			case set == 0 && k == 0:
				series[set][k] = big.NewRat(1, 1)
				continue
			case set == 0:
				series[set][k] = x
				continue
			case holds && k > 0:
				x.Mul(rat(p.Classes[i].Rate), series[set][k-1])
			}
			for s, c := range p.Capacities {
				if set>>s&1 == 1 {
					x.Add(x, new(big.Rat).Mul(rat(c), series[set&^(1<<s)][k]))
				}
			}
			series[set][k] = x.Quo(x, den)
		}
	}
	sum.Set(literal(p).z)
	list := series[len(series)-1]
	for _, x := range list {
		x.Quo(x, sum)
	}
	return list
}

func TestJobsOfClassesMatchFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawForest(t, 4)
		n := rapid.IntRange(1, 12).Draw(t, "jobs")
		o, err := NewOrder(p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(context.Background(), p, o, Settings{Tolerance: 1e-10, ByClass: n})
		if err != nil {
			t.Fatal(err)
		}
		if err := checkJobs(p, r, n); err != nil {
			t.Fatal(err)
		}
	})
}

// checkJobs compares P(X_i = k), k = 0..n, with exact fractions, if n > 0.
func checkJobs(p *Problem, r *Result, n int) error {
	for i := range r.ClassJobs {
		for k, want := range literalJobs(p, i, n) {
			if err := checkNumber(r.ClassJobs[i][k], want); err != nil {
				return fmt.Errorf("class %d, %d jobs: %w", i, k, err)
			}
		}
	}
	return nil
}

// A hyper is a + b ε + c η + d εη with ε² = η² = 0.
type hyper [4]*big.Rat

func newHyper() (x hyper) {
	for i := range x {
		x[i] = new(big.Rat)
	}
	return x
}

func (x hyper) add(y hyper) hyper {
	for i := range x {
		if y[i].Sign() != 0 {
			x[i].Add(x[i], y[i])
		}
	}
	return x
}

func (x hyper) mul(y hyper) hyper {
	z := newHyper()
	for i := range x {
		for j := range y {
			if i&j == 0 && x[i].Sign() != 0 && y[j].Sign() != 0 {
				z[i|j].Add(z[i|j], new(big.Rat).Mul(x[i], y[j]))
			}
		}
	}
	return z
}

// inverse returns 1/x = (1 - n + n²)/a with n = x/a - 1.
func (x hyper) inverse() hyper {
	over := new(big.Rat).Inv(x[0])
	n := newHyper()
	for i := 1; i < 4; i++ {
		n[i].Mul(x[i], over).Neg(n[i])
	}
	r := n.mul(n).add(n)
	r[0].Add(r[0], big.NewRat(1, 1))
	for i := range r {
		r[i].Mul(r[i], over)
	}
	return r
}

// literalDerivative returns the derivative of the mean number of jobs of one class, or of all
// classes for -1, with respect to the rate of class i, or to the capacity of server s if i < 0. The
// rates of the counted classes are (1+ε)(λ+η).
func literalDerivative(p *Problem, of, i, s int) *big.Rat {
	rates, capacities := make([]hyper, len(p.Classes)), make([]hyper, len(p.Capacities))
	for j, k := range p.Classes {
		rates[j] = newHyper()
		rates[j][0] = rat(k.Rate)
		if j == i {
			rates[j][2] = big.NewRat(1, 1)
		}
		if of < 0 || of == j {
			rates[j][1].Set(rates[j][0])
			rates[j][3].Set(rates[j][2])
		}
	}
	for j, c := range p.Capacities {
		capacities[j] = newHyper()
		capacities[j][0] = rat(c)
		if j == s && i < 0 {
			capacities[j][2] = big.NewRat(1, 1)
		}
	}
	z := make([]hyper, 1<<len(capacities))
	for set := range z {
		z[set] = newHyper()
		if set == 0 {
			z[0][0] = big.NewRat(1, 1)
			continue
		}
		slack := newHyper()
		for j, c := range capacities {
			if set>>j&1 == 1 {
				slack.add(c)
				z[set].add(c.mul(z[set&^(1<<j)]))
			}
		}
		for j, c := range rates {
			if m := p.mask(j); set&m == m {
				minus := newHyper()
				minus[0] = big.NewRat(-1, 1)
				slack.add(c.mul(minus))
			}
		}
		z[set] = z[set].mul(slack.inverse())
	}
	all := z[len(z)-1]
	x := new(big.Rat).Mul(all[3], all[0])
	x.Sub(x, new(big.Rat).Mul(all[1], all[2]))
	return x.Quo(x, new(big.Rat).Mul(all[0], all[0]))
}

// boundsContain reports whether want equals Plus - Minus within their bounds.
func boundsContain(got Difference, want *big.Rat) bool {
	plus, minus := rat(got.Plus.F), rat(got.Minus.F)
	off := new(big.Rat).Sub(plus, minus)
	off.Sub(off, want).Abs(off)
	may := plus.Mul(plus, rat(got.Plus.Bound*1.01))
	may.Add(may, minus.Mul(minus, rat(got.Minus.Bound*1.01)))
	return off.Cmp(may) <= 0 && got.Plus.Exp == 0 && got.Minus.Exp == 0
}

func TestGradientsMatchFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawForest(t, 4)
		o, err := NewOrder(p)
		if err != nil {
			t.Fatal(err)
		}
		ask := Settings{Tolerance: 1e-10, Gradients: true}
		for i := range p.Classes {
			if rapid.Bool().Draw(t, "asked") {
				ask.Of = append(ask.Of, i)
			}
		}
		r, err := Solve(context.Background(), p, o, ask)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkDerivatives(p, r, ask); err != nil {
			t.Fatal(err)
		}
	})
}

// checkDerivatives compares all requested derivatives with exact fractions.
func checkDerivatives(p *Problem, r *Result, ask Settings) error {
	check := func(g Gradients, of int) error {
		for i, k := range p.Classes {
			if want := literalDerivative(p, of, i, -1); !boundsContain(g.Rates[i], want) {
				return fmt.Errorf("jobs of %d, class %d of rate %v: %+v, want %v", of, i, k.Rate, g.Rates[i], want)
			}
		}
		for s := range p.Capacities {
			if want := literalDerivative(p, of, -1, s); !boundsContain(g.Capacities[s], want) {
				return fmt.Errorf("jobs of %d, server %d: %+v, want %v", of, s, g.Capacities[s], want)
			}
		}
		return nil
	}
	if ask.Gradients {
		if err := check(*r.Gradients, -1); err != nil {
			return err
		}
	}
	for k, of := range ask.Of {
		if err := check(r.ClassGradients[k], of); err != nil {
			return err
		}
	}
	return nil
}
