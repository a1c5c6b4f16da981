package exact

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
)

// A Branch is one of the distributions that [Gammas] mix: a sum of exponential phases.
type Branch struct {
	Weight *big.Rat // probability, or proportional to it, > 0
	Phases int      // 1 to 1000
	Mean   *big.Rat // mean of a phase, > 0
}

// Gammas is a mixture of sums of exponential phases. It includes exponential, Erlang and
// hyperexponential distributions.
type Gammas []Branch

// mostPhases is the largest number of terms of a sum of phases.
const mostPhases = 1000

// Check checks the branches.
func (d Gammas) Check() error {
	if len(d) == 0 {
		return input.Errorf("Branches", "none", "at least one")
	}
	for i, b := range d {
		if err := checkPositive(fmt.Sprintf("[%d].Weight", i), b.Weight); err != nil {
			return err
		}
		if err := checkPositive(fmt.Sprintf("[%d].Mean", i), b.Mean); err != nil {
			return err
		}
		if b.Phases < 1 || b.Phases > mostPhases {
			return input.Errorf(fmt.Sprintf("[%d].Phases", i), b.Phases, "1 to %d", mostPhases)
		}
	}
	return nil
}

// Enclose uses, for n phases of mean m and t = x/m,
//
//	E[X^j; X > x] = m^j Γ(n+j, t)/(n-1)!,  Γ(i, t) = (i-1)! e^-t Σ_{k<i} t^k/k! for i >= 1, and Γ(0, t) = E_1(t).
//
// It takes one exponential per branch and point. A branch of one phase also takes E_1, whose number
// of terms grows with the number of bits.
func (d Gammas) Enclose(ctx context.Context, prec uint) (*Enclosure, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	total := new(big.Rat)
	for _, b := range d {
		total.Add(total, b.Weight)
	}
	var branches []branch
	for _, b := range d {
		branches = append(branches, branch{
			num.FromRat(new(big.Rat).Quo(b.Weight, total), prec), b.Phases, num.FromRat(b.Mean, prec),
		})
	}
	return encloseGammas(ctx, branches, prec)
}

// A branch is a [Branch] with a given number of bits.
type branch struct {
	weight num.Interval
	phases int
	mean   num.Interval
}

func encloseGammas(ctx context.Context, branches []branch, prec uint) (*Enclosure, error) {
	zero, gamma := num.FromInt(0, prec), newIncompleteGamma(ctx, prec)
	noInverse := slices.ContainsFunc(branches, func(b branch) bool { return b.phases == 1 })
	return positiveEnclosure(prec, noInverse, func(x num.Interval, inverse bool) (Point, error) {
		p := nothingAbove(x, prec)
		p.Density, p.Slope = zero, zero
		for _, b := range branches {
			if err := ctx.Err(); err != nil {
				return p, err
			}
			t := x.Quo(b.mean)
			e, err := t.Neg().Exp()
			if err != nil {
				return p, err
			}
			terms := gammaTerms(t, b.phases+2, prec)      // Σ_{k<i} t^k/k! at index i
			power := b.weight.Quo(b.mean)                 // weight m^j
			factor := ratio(1, int64(max(1, b.phases-1))) // Γ(n+j)/Γ(n)
			for j := -1; j <= 2; j++ {
				switch {
				case j >= 0 || b.phases > 1:
					p.Above[j+1] = p.Above[j+1].Add(power.Mul(num.FromRat(factor, prec)).Mul(e).Mul(terms[b.phases+j]))
				case inverse:
					v, err := gamma.upper(new(big.Rat), t)
					if err != nil {
						return p, err
					}
					p.Above[0] = p.Above[0].Add(power.Mul(v))
				}
				power = power.Mul(b.mean)
				if n := b.phases + j; n > 0 {
					factor = new(big.Rat).Mul(factor, ratio(int64(n), 1))
				}
				if j == -1 {
					factor = ratio(1, 1)
				}
			}
			// f = weight e^-t t^(n-1)/((n-1)! m), f' = (f of n-1 phases - f)/m.
			n := b.phases
			last := terms[n].Sub(terms[n-1]) // t^(n-1)/(n-1)!
			before := zero
			if n > 1 {
				before = terms[n-1].Sub(terms[n-2])
			}
			by := b.weight.Mul(e).Quo(b.mean)
			p.Density = p.Density.Add(by.Mul(last))
			p.Slope = p.Slope.Add(by.Mul(before.Sub(last)).Quo(b.mean))
		}
		return p, nil
	})
}

// gammaTerms returns Σ_{k<i} t^k/k! for i = 0 to most.
func gammaTerms(t num.Interval, most int, prec uint) []num.Interval {
	sums := []num.Interval{num.FromInt(0, prec)}
	term := num.FromInt(1, prec)
	for k := range most {
		sums = append(sums, sums[k].Add(term))
		term = term.Mul(t).Quo(num.FromInt(int64(k+1), prec))
	}
	return sums
}

// Fractions returns nil, since moments contain exponentials.
func (d Gammas) Fractions(*big.Rat) (work, tail *big.Rat) { return nil, nil }

// A Hyperexponential is a mixture of two exponential distributions with balanced means, p_1 m_1 =
// p_2 m_2 = E[X]/2, with p_1 = (1 + s)/2 and s² = (c - 1)/(c + 1) for the squared coefficient of
// variation c.
type Hyperexponential struct {
	Mean *big.Rat // E[X] > 0
	SCV  *big.Rat // c > 1
}

// Check checks the parameters.
func (d Hyperexponential) Check() error {
	if d.SCV == nil || d.SCV.Cmp(ratio(1, 1)) <= 0 {
		return input.Errorf("SCV", Text(d.SCV), "a number > 1")
	}
	return checkPositive("Mean", d.Mean)
}

// Enclose encloses the distribution as [Gammas].
func (d Hyperexponential) Enclose(ctx context.Context, prec uint) (*Enclosure, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	one := ratio(1, 1)
	square := new(big.Rat).Quo(new(big.Rat).Sub(d.SCV, one), new(big.Rat).Add(d.SCV, one))
	s := num.FromRat(square, prec).Sqrt()
	half := num.FromRat(new(big.Rat).Mul(d.Mean, ratio(1, 2)), prec)
	var branches []branch
	for _, p := range []num.Interval{num.FromInt(1, prec).Add(s).Scale2(-1), num.FromInt(1, prec).Sub(s).Scale2(-1)} {
		if p.Sign() <= 0 {
			return nil, ErrMoreBits
		}
		branches = append(branches, branch{p, 1, half.Quo(p)})
	}
	return encloseGammas(ctx, branches, prec)
}

// Fractions returns nil, since moments contain exponentials.
func (d Hyperexponential) Fractions(*big.Rat) (work, tail *big.Rat) { return nil, nil }

// positiveEnclosure returns the enclosure of sizes in (0, ∞), given the moments above a point. It
// omits E[1/X; X > x] unless requested.
func positiveEnclosure(
	prec uint, noInverse bool, above func(x num.Interval, inverse bool) (Point, error),
) (*Enclosure, error) {
	low, err := above(num.FromInt(0, prec), !noInverse)
	if err != nil {
		return nil, err
	}
	if noInverse {
		low.Above[0] = num.Interval{}
	}
	e := &Enclosure{
		Prec:      prec,
		Smooth:    true,
		NoInverse: noInverse,
		low:       new(big.Rat),
		Low:       low,
		High:      nothingAbove(num.Interval{}, prec),
	}
	e.at = func(x num.Interval) (Point, error) { return above(x, true) }
	return e, nil
}
