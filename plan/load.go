package plan

import (
	"context"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
	"productform/stability"
)

// A Load is the greatest common factor of the arrival rates at which a plan meets the targets, between two that are close.
type Load struct {
	Holds *Outcome // at the factor At; nil if the targets fail at all loads looked at
	At    *big.Rat // by which the arrival rates of the problem are multiplied; nil if Holds is
	Fails *Outcome // at the factor Below, the least that is known to be too much
	Below *big.Rat
}

// leastPart is the part of the critical scale below which no loads are looked at.
const leastPart = 0x1p-30

// GreatestLoad returns the greatest factor of all arrival rates at which the cluster with a plan meets the targets, to within
// Settings.RelTol of it. All measures only get worse as arrival rates grow, so that the targets hold at all smaller factors if they
// hold at one, and fail at all larger ones if they fail at one: two outcomes prove the bracket. A target that is undecided at a
// factor counts as one that fails. Factors below 2^-30 of the critical scale are not looked at.
//
// The error for a problem with NoWorse is a *[num.InputError], since delays of other loads are not compared; others are those of
// [Evaluate].
func GreatestLoad(ctx context.Context, p *Problem, c Choice, s Settings) (*Load, error) {
	in, s, err := begin(p, s)
	if err != nil {
		return nil, err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return nil, err
	}
	if p.NoWorse {
		return nil, input.Errorf("no_worse", true, "false: the delays are those of another load")
	}
	at := func(factor *big.Rat) (*Outcome, error) {
		scaled := *in
		scaled.base = in.base.Scale(factor)
		return scaled.outcome(ctx, edges, steps, s)
	}
	limit, err := stability.Cluster(ctx, in.model(edges, steps))
	if err != nil {
		return nil, err
	}
	l := &Load{Below: limit.CriticalScale}
	if l.Fails, err = at(l.Below); err != nil {
		return nil, err
	}
	// Parts of the critical scale are doubles of few bits, so that rates stay short.
	part := func(x float64) *big.Rat {
		f := new(big.Rat)
		f.SetFloat64(x)
		return f.Mul(f, limit.CriticalScale)
	}
	low, high := 0., 1.
	for high > leastPart && (low == 0 || high-low > s.RelTol*high) {
		x := high / 2
		if low > 0 {
			x = (low + high) / 2
		}
		if x == low || x == high {
			break
		}
		o, err := at(part(x))
		if err != nil {
			return nil, err
		}
		if isMet(o) {
			low, l.Holds, l.At = x, o, part(x)
		} else {
			high, l.Fails, l.Below = x, o, part(x)
		}
	}
	return l, nil
}

// isMet reports whether all targets are met in a stable cluster.
func isMet(o *Outcome) bool {
	for _, t := range o.Targets {
		if t.Verdict != Met {
			return false
		}
	}
	return o.Stability.Stable
}

// Growth returns the cheapest plans for growing loads, factors > 0 by which all arrival rates are multiplied, one after the other:
// each holds what was bought before. Answers are those of [LeastCost] with Proof.From; the last one has no plan if none meets the
// targets at its load.
//
// The errors are those of [Evaluate], and a *[num.InputError] for loads that do not increase.
func Growth(ctx context.Context, p *Problem, loads []*big.Rat, s Settings) ([]*Answer, error) {
	var answers []*Answer
	var from Choice
	for i, load := range loads {
		path := input.Index("loads", i)
		if err := input.CheckNumber(path, load, input.Positive); err != nil {
			return nil, err
		}
		if i > 0 && load.Cmp(loads[i-1]) <= 0 {
			return nil, input.Errorf(path, load.RatString(), "a number above the one before it")
		}
	}
	for _, load := range loads {
		at := *p
		at.Scale = new(big.Rat).Mul(num.OrOne(p.Scale), load)
		in, settings, err := begin(&at, s)
		if err != nil {
			return nil, err
		}
		a, err := in.leastCost(ctx, settings, question{from: from, below: math.MaxInt64})
		if err != nil {
			return nil, err
		}
		if answers = append(answers, a); a.Plan == nil {
			break
		}
		from = a.Plan.Choice
	}
	return answers, nil
}
