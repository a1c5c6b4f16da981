package elimination

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
)

// exact holds the measures of a problem as fractions.
type exact struct {
	z          *big.Rat
	jobs, busy []*big.Rat
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// slackOf returns C(K) - λ(K) for every set K of servers, as a mask.
func slackOf(p *Problem) []*big.Rat {
	all := make([]*big.Rat, 1<<len(p.Capacities))
	for k := range all {
		all[k] = new(big.Rat)
		for s, c := range p.Capacities {
			if k>>s&1 == 1 {
				all[k].Add(all[k], rat(c))
			}
		}
		for i := range p.Classes {
			if m := p.mask(i); k&m == m {
				all[k].Sub(all[k], rat(p.Classes[i].Rate))
			}
		}
	}
	return all
}

// mask returns the servers of class i.
func (p *Problem) mask(i int) int {
	m := 0
	for _, s := range p.Classes[i].Servers {
		m |= 1 << s
	}
	return m
}

// literal computes the measures by the recursion over all sets of servers, (C(K) - λ(K)) Z(K) = Σ_s
// C_s Z(K∖s), and its derivatives in each rate: E[X_i] = λ_i ∂ log Z/∂λ_i, and server s is idle
// with probability Z(all but s)/Z.
func literal(p *Problem) exact {
	slack := slackOf(p)
	z := make([]*big.Rat, len(slack))
	d := make([][]*big.Rat, len(slack))
	for k := range z {
		if k == 0 {
			z[0], d[0] = big.NewRat(1, 1), make([]*big.Rat, len(p.Classes))
			for i := range d[0] {
				d[0][i] = new(big.Rat)
			}
			continue
		}
		add := func(value func(from int) *big.Rat) *big.Rat {
			sum := new(big.Rat)
			for s, c := range p.Capacities {
				if k>>s&1 == 1 {
					sum.Add(sum, new(big.Rat).Mul(rat(c), value(k&^(1<<s))))
				}
			}
			return sum
		}
		z[k] = add(func(from int) *big.Rat { return z[from] })
		z[k].Quo(z[k], slack[k])
		for i := range p.Classes {
			x := add(func(from int) *big.Rat { return d[from][i] })
			if m := p.mask(i); k&m == m {
				x.Add(x, z[k])
			}
			d[k] = append(d[k], x.Quo(x, slack[k]))
		}
	}
	all := len(z) - 1
	e := exact{z: z[all]}
	for i, c := range p.Classes {
		x := new(big.Rat).Mul(rat(c.Rate), d[all][i])
		e.jobs = append(e.jobs, x.Quo(x, z[all]))
	}
	for s := range p.Capacities {
		idle := new(big.Rat).Quo(z[all&^(1<<s)], z[all])
		e.busy = append(e.busy, idle.Sub(big.NewRat(1, 1), idle))
	}
	return e
}

// checkNumber returns an error unless want is within the bound of got.
func checkNumber(got arithmetic.Number, want *big.Rat) error {
	if got.F == 0 && want.Sign() == 0 {
		return nil
	}
	f := rat(got.F)
	if e := got.Exp; e != 0 {
		power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(512*max(e, -e))))
		if e < 0 {
			power.Inv(power)
		}
		f.Mul(f, power)
	}
	off := f.Sub(f, want)
	off.Quo(off, want)
	if r, _ := off.Abs(off).Float64(); !(r <= got.Bound) {
		w, _ := want.Float64()
		return fmt.Errorf("%v 2^(512 %d) differs from %v by a relative %.3g, bound %.3g",
			got.F, got.Exp, w, r, got.Bound)
	}
	return nil
}

func (e *exact) check(r *Result) error {
	if err := checkNumber(r.Normalization, e.z); err != nil {
		return fmt.Errorf("Z: %w", err)
	}
	for i := range e.jobs {
		if err := checkNumber(r.Jobs[i], e.jobs[i]); err != nil {
			return fmt.Errorf("jobs of class %d: %w", i, err)
		}
	}
	for s := range e.busy {
		if err := checkNumber(r.Busy[s], e.busy[s]); err != nil {
			return fmt.Errorf("server %d: %w", s, err)
		}
	}
	return nil
}

// scaleToLoad returns a problem with capacities multiplied by 2^20 and rates such that the smallest
// C(K)/λ(K) is 1/load or slightly more: all are rounded down to integers.
func scaleToLoad(p *Problem, load float64) *Problem {
	least := big.NewRat(1<<40, 1)
	for k, slack := range slackOf(p) {
		capacity := new(big.Rat)
		for s, c := range p.Capacities {
			if k>>s&1 == 1 {
				capacity.Add(capacity, rat(c))
			}
		}
		if rate := new(big.Rat).Sub(capacity, slack); rate.Sign() > 0 {
			if x := capacity.Quo(capacity, rate); x.Cmp(least) < 0 {
				least = x
			}
		}
	}
	critical, _ := least.Float64()
	q := &Problem{}
	for _, c := range p.Capacities {
		q.Capacities = append(q.Capacities, c*0x1p20)
	}
	for _, k := range p.Classes {
		q.Classes = append(q.Classes, Class{math.Floor(k.Rate * critical * load * (1 - 0x1p-40) * 0x1p20), k.Servers})
	}
	return q
}

// drawForest draws servers in trees: each is linked to an earlier server or to none, possibly by
// several classes, and some have single-server classes.
func drawForest(t *rapid.T, most int) *Problem {
	p := &Problem{}
	number := func(label string) float64 {
		return float64(rapid.IntRange(1, 9).Draw(t, label)) * math.Pow(10,
			float64(rapid.SampledFrom([]int{0, 0, 0, 0, 1, 3, 6}).Draw(t, "power of "+label)))
	}
	for s := range rapid.IntRange(1, most).Draw(t, "servers") {
		p.Capacities = append(p.Capacities, number("capacity"))
		if parent := rapid.IntRange(-1, s-1).Draw(t, "parent"); s > 0 && parent >= 0 {
			for range rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "shared") {
				p.Classes = append(p.Classes, Class{number("rate"), []int{s, parent}})
			}
		}
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "own") {
			p.Classes = append(p.Classes, Class{number("own rate") - 1, []int{s}})
		}
	}
	return scaleToLoad(p, rapid.SampledFrom([]float64{0, 0.01, 0.3, 0.7, 0.9, 0.99, 0.9999}).Draw(t, "load"))
}

func solved(t interface{ Fatal(...any) }, p *Problem, tolerance float64) *Result {
	o, err := NewOrder(p)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Solve(context.Background(), p, o, Settings{Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every measure differs by at most its bound from the exact fraction of the recursion over all sets
// of servers.
func TestForestsMatchFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawForest(t, 6)
		want := literal(p)
		if err := want.check(solved(t, p, 1e-10)); err != nil {
			t.Fatal(err)
		}
	})
}
