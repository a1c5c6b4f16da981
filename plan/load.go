package plan

import (
	"context"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// A Load brackets the greatest common factor of the arrival rates at which a plan meets the targets
// between two close factors.
type Load struct {
	// Complete is true if At and Below are within the tolerance. Otherwise, no engine can decide
	// the factors between them.
	Complete bool `json:"complete"`

	Holds *Outcome `json:"-"`                       // at the factor At; nil if the targets fail at all loads tried
	At    *big.Rat `json:"holds_at" exact:"always"` // factor of the arrival rates of the problem; nil if Holds is nil
	Fails *Outcome `json:"-"`                       // at the factor Below, the smallest factor known to fail
	Below *big.Rat `json:"fails_at" exact:"always"` // nil if Fails is nil
}

// leastPart is the smallest load tried, as a fraction of the critical scale.
const leastPart = 0x1p-30

// GreatestLoad returns the greatest factor of all arrival rates at which the cluster with a plan
// meets the targets, to within Settings.RelTol on either side. All measures only get worse as
// arrival rates grow. So if the targets hold at a factor, they hold at all smaller ones, and if
// they fail at a factor, they fail at all larger ones: two outcomes prove the bracket. If a target
// is undecided at a factor, nearby factors are tried. Factors below 2^-30 of the critical scale are
// not tried.
//
// The error for a problem with NoWorse is a *[num.InputError], since delays at different loads are
// not compared; other errors are those of [Evaluate].
func GreatestLoad(ctx context.Context, p *Problem, c Choice, s Settings) (*Load, error) {
	in, s, err := begin(p, s)
	if err == nil {
		err = in.checkSize(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return nil, err
	}
	if err := in.refuseLoads(); err != nil {
		return nil, err
	}
	b, _, err := in.greatest(ctx, edges, steps, s)
	if err != nil {
		return nil, err
	}
	l := &Load{Below: b.factor(b.high), Complete: b.isNarrow(s.RelTol)}
	if l.Fails, err = in.scaled(l.Below).outcome(ctx, edges, steps, s); err != nil || b.low == 0 {
		return l, err
	}
	l.At = b.factor(b.low)
	l.Holds, err = in.scaled(l.At).outcome(ctx, edges, steps, s)
	return l, err
}

// refuseLoads rejects problems whose measures are not known to get worse with the load, or whose
// load has no limit.
func (in *instance) refuseLoads() error {
	switch {
	case in.NoWorse:
		return input.Errorf("no_worse", true, "false: delays at different loads are not compared")
	case in.base.cluster == nil:
		return in.requireAll("pfq network --scale multiplies the arrival rates of others")
	case in.Service() == serviceGang:
		return in.requireAll("the greatest load of gangs is the load factor of pfq stability")
	case isImpatient(in.base.cluster):
		return input.Errorf("model.mean_patience", "", "none: with patience, no load is too large to be stable")
	}
	for i, t := range in.targets {
		if in.Service() == serviceOne && t.measure.isDelay() && !in.hasOneSpeed(t.row) {
			return input.Errorf(input.Index("targets", i), in.Targets[i].limitText(),
				"a limit on a waiting time, since delays at servers of several speeds may fall as the load grows")
		}
	}
	return nil
}

// scaled returns the instance with all arrival rates multiplied by a factor.
func (in *instance) scaled(factor *big.Rat) *instance {
	at := *in
	at.base, at.now = in.base.scale(factor), nil
	return &at
}

// greatest finds the bracket of the greatest load of a plan.
func (in *instance) greatest(ctx context.Context, edges bits, steps []int, s Settings) (
	b *bracket, solves int, err error,
) {
	_, limit, err := in.kind.stable(ctx, in.model(edges, steps))
	if err != nil {
		return nil, 0, err
	}
	b = &bracket{critical: limit.CriticalScale, high: 1}
	for {
		x, ok := b.next(s.RelTol)
		if !ok {
			return b, solves, nil
		}
		at := in.scaled(b.factor(x))
		j := &judge{in: at, s: s, targets: at.targets, base: map[num.Engine]*Solution{}}
		r, err := j.judge(ctx, edges, steps, nil)
		if err != nil {
			return nil, solves, err
		}
		solves += j.solves
		b.take(x, r.verdict)
	}
}

// A bracket encloses the greatest load, as a fraction of the critical scale. Fractions are doubles
// with few bits, so rates stay short.
type bracket struct {
	critical    *big.Rat
	low, high   float64 // the targets hold at low, which is 0 if none is known, and fail at high
	first, last float64 // fractions that no engine decides, with none beyond them; 0 for none
}

// factor returns the factor of the arrival rates at this fraction of the critical scale.
func (b *bracket) factor(part float64) *big.Rat {
	f := new(big.Rat)
	f.SetFloat64(part)
	return f.Mul(f, b.critical)
}

// next returns a fraction to try, midway between two that are too far apart.
func (b *bracket) next(tol float64) (x float64, ok bool) {
	if b.first == 0 {
		return midpoint(b.low, b.high, tol)
	}
	if x, ok = midpoint(b.low, b.first, tol); ok {
		return x, ok
	}
	return midpoint(b.last, b.high, tol)
}

func midpoint(low, high, tol float64) (x float64, ok bool) {
	x = high / 2
	if low > 0 {
		x = low + (high-low)/2
	}
	return x, high > leastPart && (low == 0 || high-low > tol*high) && x > low && x < high
}

// take records the outcome of the targets at a fraction from [bracket.next].
func (b *bracket) take(x float64, v Verdict) {
	switch {
	case v == Met:
		b.low = x
	case v == Failed:
		b.high = x
	case b.first == 0:
		b.first, b.last = x, x
	default:
		b.first, b.last = min(b.first, x), max(b.last, x)
	}
}

// isNarrow reports whether the ends are within a tolerance of everything between them, or no load
// holds.
func (b *bracket) isNarrow(tol float64) bool {
	if b.low == 0 {
		return b.high <= leastPart
	}
	return b.high-b.low <= 2*tol*b.high
}

// Growth returns the cheapest plans for growing loads, one after the other: each includes the
// earlier purchases. Loads are factors > 0 by which all arrival rates are multiplied. Answers are
// those of [LeastCost] with Proof.From; the last one has no plan if none meets the targets at its
// load.
//
// The errors are those of [Evaluate], and a *[num.InputError] for loads that do not increase.
func Growth(ctx context.Context, p *Problem, loads []*big.Rat, s SearchSettings) ([]*Answer, error) {
	var answers []*Answer
	var from Choice
	for i, load := range loads {
		path := input.Index("loads", i)
		if err := input.CheckNumber(path, load, input.Positive); err != nil {
			return nil, err
		}
		if i > 0 && load.Cmp(loads[i-1]) <= 0 {
			return nil, input.Errorf(path, load.RatString(), "a number above the previous one")
		}
	}
	for _, load := range loads {
		at := *p
		at.Scale = new(big.Rat).Mul(num.OrOne(p.Scale), load)
		in, err := newInstance(&at)
		if err == nil {
			s, err = s.validate()
		}
		if err == nil && len(answers) == 0 {
			err = in.checkSize(ctx, s.Settings)
		}
		if err != nil {
			return nil, err
		}
		a, err := in.leastCost(ctx, s, question{from: from, below: math.MaxInt64})
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
