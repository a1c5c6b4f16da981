package tags

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
	"productform/sizes/exact"
)

// An ExactModel is a farm of hosts whose numbers are all exact. Proofs therefore hold for the
// decimals as written, not for the nearest doubles.
type ExactModel struct {
	Sizes  exact.Distribution // X, work
	Hosts  int                // h, 1 to [MaxHosts]
	Load   *big.Rat           // system load ρ = λ E[X] / Σ_i v_i, in (0, 1)
	Speeds []*big.Rat         // v_i > 0, in the order in which jobs visit the hosts; nil if all are 1
	Resume ExactResume        // how stopped jobs continue; the zero value restarts them from scratch
}

// ErrPrecision is wrapped by the error for a question that 16384 bits cannot settle (4096 bits in a
// search for cutoffs), such as whether a load of exactly 1 is below 1.
var ErrPrecision = errors.New("tags: undecided even with more bits")

// A PrecisionError names the host whose load more bits cannot separate from 1. It wraps
// [ErrPrecision].
type PrecisionError struct{ Host int } // 0-based

func (e *PrecisionError) Error() string {
	return fmt.Sprintf("%v: whether the load of host %d is below 1", ErrPrecision, e.Host+1)
}

func (e *PrecisionError) Unwrap() error { return ErrPrecision }

// maxPrec is the maximum precision of a computation, in bits.
const maxPrec = 1 << 14

// Validate checks that every number of m is in its range. The error names the field, its value and
// the range, or wraps [sizes.ErrInfinite] if E[X²] is infinite.
func (m ExactModel) Validate() error {
	if !(m.Hosts >= 1 && m.Hosts <= MaxHosts) {
		return input.Errorf("Hosts", m.Hosts, "a number of hosts from 1 to %d", MaxHosts)
	}
	if m.Load == nil || m.Load.Sign() <= 0 || m.Load.Cmp(big.NewRat(1, 1)) >= 0 {
		return input.Errorf("Load", exact.Text(m.Load), "a number in (0, 1)")
	}
	if m.Sizes == nil {
		return input.Errorf("Sizes", "nil", "a distribution")
	}
	if err := m.Sizes.Check(); err != nil {
		return err
	}
	if m.Speeds != nil && len(m.Speeds) != m.Hosts {
		return input.Errorf("Speeds", fmt.Sprintf("%d speeds", len(m.Speeds)), "one speed per host, %d", m.Hosts)
	}
	for i, v := range m.Speeds {
		if v == nil || v.Sign() <= 0 {
			return input.Errorf(fmt.Sprintf("Speeds[%d]", i), exact.Text(v), "a number > 0")
		}
	}
	return m.Resume.check()
}

// speeds returns v_i and Σ_i v_i.
func (m ExactModel) speeds() (speeds []*big.Rat, total *big.Rat) {
	if m.Speeds == nil {
		return slices.Repeat([]*big.Rat{big.NewRat(1, 1)}, m.Hosts), big.NewRat(int64(m.Hosts), 1)
	}
	total = new(big.Rat)
	for _, v := range m.Speeds {
		total.Add(total, v)
	}
	return m.Speeds, total
}

// Enclose returns the result of [Evaluate] for [PolicyTAGS] or [PolicySITA] with proved bounds:
// every number is enclosed to a relative width of at most tolerance, in [1e-290, 1), where 0 means
// 1e-15. It performs all steps of [Evaluate] on intervals rounded outward, and doubles the number
// of bits until all widths meet the tolerance. Cutoffs that are nearly equal, loads near 1, and α
// near 1 or 2 therefore cost time, not digits. If work is a fraction, as for lists, fractions
// decide whether a load is below 1.
//
// The error names the field of m, policy, cutoff or tolerance that is out of range. It is an
// *[UnstableError] if a load is proved to be at least 1, and [num.ErrRange] for powers beyond
// e^±2e8. It wraps [ErrPrecision] if more bits do not help: a load of 1 is not known as a fraction,
// or a cutoff equals the smallest size, which is computed from the mean. Once ctx is done, Enclose
// promptly returns ctx.Err().
func Enclose(ctx context.Context, m ExactModel, p Policy, cutoffs []*big.Rat, tolerance float64) (Result, error) {
	return m.enclose(ctx, p, cutoffs, tolerance, false)
}

// enclose implements [Enclose]. With formal set, it also evaluates the formulas for overloaded
// hosts.
func (m ExactModel) enclose(
	ctx context.Context, p Policy, cutoffs []*big.Rat, tolerance float64, formal bool,
) (Result, error) {
	if p != PolicyTAGS && p != PolicySITA {
		return Result{}, input.Errorf("Policy", string(p), "%q or %q", PolicyTAGS, PolicySITA)
	}
	if err := m.Validate(); err != nil {
		return Result{}, err
	}
	if err := m.checkCutoffs(cutoffs); err != nil {
		return Result{}, err
	}
	tolerance = cmp.Or(tolerance, 1e-15)
	if !(tolerance >= 1e-290 && tolerance < 1) {
		return Result{}, input.Errorf("tolerance", tolerance, "a number in [1e-290, 1)")
	}
	if !formal {
		for i, load := range m.fractions(p, cutoffs) {
			if load.Cmp(big.NewRat(1, 1)) >= 0 {
				v, _ := load.Float64()
				return Result{}, &UnstableError{Host: i, Load: v}
			}
		}
	}
	var r Result
	undecided := -1 // host whose load may be 1
	err := exact.WithPrecision(ctx, 72-uint(math.Floor(math.Log2(tolerance))), maxPrec, func(prec uint) error {
		f, err := m.Enclosed(ctx, prec)
		if err != nil {
			return err
		}
		at, err := f.points(ctx, cutoffs)
		if err != nil {
			return err
		}
		if r, undecided, err = f.evaluate(p, at, m.resumptions(p, cutoffs), formal); err != nil {
			return err
		}
		r.Cutoffs, r.ExactCutoffs = make([]float64, len(cutoffs)), make([]*big.Rat, len(cutoffs))
		for i, s := range cutoffs {
			r.Cutoffs[i], _ = s.Float64()
			r.ExactCutoffs[i] = new(big.Rat).Set(s)
		}
		r.Precision = prec
		return r.measure(tolerance)
	})
	switch {
	case errors.Is(err, exact.ErrMoreBits) && undecided >= 0:
		err = &PrecisionError{Host: undecided}
	case errors.Is(err, exact.ErrMoreBits):
		err = ErrPrecision
	}
	if err != nil {
		return Result{}, err
	}
	return r, nil
}

// checkCutoffs accepts h-1 nondecreasing cutoffs >= 0.
func (m ExactModel) checkCutoffs(cutoffs []*big.Rat) error {
	if len(cutoffs) != m.Hosts-1 {
		return input.Errorf("Cutoffs", fmt.Sprintf("%d cutoffs", len(cutoffs)), "%d, one fewer than hosts", m.Hosts-1)
	}
	before := new(big.Rat)
	for i, s := range cutoffs {
		if s == nil || s.Cmp(before) < 0 {
			return input.Errorf(fmt.Sprintf("Cutoffs[%d]", i), exact.Text(s), "a number >= %s", exact.Text(before))
		}
		before = s
	}
	return nil
}

// fractions returns the loads of the hosts as fractions, or nil for a load not known as a fraction.
// Intervals never decide whether a load known as a fraction is 1.
func (m ExactModel) fractions(p Policy, cutoffs []*big.Rat) (loads []*big.Rat) {
	mean, _ := m.Sizes.Fractions(new(big.Rat))
	if mean == nil {
		return nil
	}
	speeds, total := m.speeds()
	rate := new(big.Rat).Quo(total.Mul(total, m.Load), mean)
	before := mean            // E[X; X > a]
	visit := big.NewRat(1, 1) // P(X > a)
	resumed := m.resumptions(p, cutoffs)
	for i, v := range speeds {
		work := new(big.Rat).Sub(before, visit.Mul(visit, resumed[i].offset))
		if i < len(cutoffs) {
			after, tail := m.Sizes.Fractions(cutoffs[i])
			work.Sub(work, after)
			if p == PolicyTAGS {
				work.Add(work, new(big.Rat).Mul(tail, cutoffs[i]))
			}
			before, visit = after, tail
		}
		load := new(big.Rat).Mul(rate, work)
		loads = append(loads, load.Quo(load, v))
	}
	return loads
}

// A resumption holds o = a - d, and d, of the jobs that resume after cutoff a.
type resumption struct{ offset, redone *big.Rat }

// resumptions returns the resumption at each host; offsets are 0 if jobs restart from scratch.
func (m ExactModel) resumptions(p Policy, cutoffs []*big.Rat) []resumption {
	list := []resumption{{new(big.Rat), new(big.Rat)}}
	for _, s := range cutoffs {
		o := new(big.Rat)
		if p == PolicyTAGS {
			o = m.Resume.offset(s)
		}
		list = append(list, resumption{o, new(big.Rat).Sub(s, o)})
	}
	return list
}

// measure sets Width. It returns [exact.ErrMoreBits] if Width exceeds the tolerance, and
// [num.ErrRange] for infinite bounds.
func (r *Result) measure(tolerance float64) error {
	check := func(values ...num.Value) error {
		for _, v := range values {
			e, _ := v.Interval()
			if e.Low.IsInf() || e.High.IsInf() {
				return num.ErrRange
			}
			width := e.RelWidth()
			if width > tolerance {
				return exact.ErrMoreBits
			}
			r.Width = max(r.Width, width)
		}
		return nil
	}
	err := check(r.ArrivalRate, r.MeanWaiting, r.MeanSlowdown, r.MeanDelay, r.MeanStretch, r.Lost, r.Excess)
	for i := 0; i < len(r.Hosts) && err == nil; i++ {
		h := &r.Hosts[i]
		err = check(
			h.Load, h.Slack, h.Visit, h.Final, h.VisitMean, h.VisitSquare, h.VisitWait, h.Waiting, h.Slowdown, h.Delay,
		)
	}
	return err
}

// An EnclosedFarm is an [ExactModel] enclosed with a given number of bits.
type EnclosedFarm struct {
	*exact.Enclosure
	Rate   num.Interval   // λ, jobs per second
	Speeds []num.Interval // v_i, work per second

	resume ExactResume
	full   bool // host 1 would have a load of exactly 1 with all the work: ρ Σ v_i = v_1
}

// Enclosed encloses the model with a given number of bits. The error is [exact.ErrMoreBits], or
// ctx.Err() promptly after ctx is done.
func (m ExactModel) Enclosed(ctx context.Context, prec uint) (f EnclosedFarm, err error) {
	if f.Enclosure, err = m.Sizes.Enclose(ctx, prec); err != nil {
		return f, err
	}
	list, total := m.speeds()
	for _, v := range list {
		f.Speeds = append(f.Speeds, num.FromRat(v, f.Prec))
	}
	if f.Mean().Sign() <= 0 {
		return f, exact.ErrMoreBits
	}
	f.resume = m.Resume
	work := total.Mul(total, m.Load)
	f.Rate, f.full = num.FromRat(work, f.Prec).Quo(f.Mean()), work.Cmp(list[0]) == 0
	return f, nil
}

// points returns the smallest size, the cutoffs and the largest size as points.
func (f *EnclosedFarm) points(ctx context.Context, cutoffs []*big.Rat) ([]exact.Point, error) {
	at := make([]exact.Point, 1, len(cutoffs)+2)
	at[0] = f.Low
	for i, s := range cutoffs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i > 0 && s.Cmp(cutoffs[i-1]) == 0 {
			at = append(at, at[i])
			continue
		}
		b, err := f.At(s)
		if err != nil {
			return nil, err
		}
		at = append(at, b)
	}
	return append(at, f.High), nil
}

// visit returns the moments of a host that serves sizes from a to b.
func (f *EnclosedFarm) visit(p Policy, speed num.Interval, a, b exact.Point) visit[num.Interval] {
	zero := num.FromInt(0, f.Prec)
	v := visit[num.Interval]{speed: speed, part: zero, end: zero, first: zero, second: zero, whole: zero, inverse: zero,
		weight: zero, load: zero, slack: num.FromInt(1, f.Prec), run: zero, share: zero, lost: zero,
		killedInverse: zero}
	v.ends = !a.Same(b)
	v.comes, v.kills = v.ends, false
	if p == PolicyTAGS {
		v.comes = !a.Same(f.High) && (b.X.Low == nil || b.X.High.Sign() > 0)
		v.kills = v.comes && !b.Same(f.High)
	}
	if !v.comes {
		v.ends = false
		return v
	}
	v.hasInverse = !f.NoInverse || !a.Same(f.Low)
	if v.ends {
		v.end, v.whole = a.Part(0, b), a.Part(1, b)
		if v.hasInverse {
			v.inverse = a.Part(-1, b)
		}
	}
	v.share = v.end
	v.part, v.weight, v.first, v.second = v.end, v.inverse, v.whole, a.Part(2, b)
	if p != PolicyTAGS {
		return v
	}
	v.part = a.Tail()
	if v.hasInverse {
		v.weight = a.Above[0]
	}
	if v.kills {
		v.run, v.lost, v.killedInverse = b.X, b.X.Mul(b.Tail()), b.Above[0]
		if f.NoInverse && b.Same(f.Low) {
			v.killedInverse = zero // the means of 1/X are infinite
		}
		v.first, v.second = v.first.Add(v.lost), v.second.Add(b.X.Mul(v.lost))
	}
	return v
}

// resumed returns the moments of a visit after cutoff a if the jobs do not restart there from
// scratch: the host does min(X, b) - o of work on each, o = a - d.
func (f *EnclosedFarm) resumed(v visit[num.Interval], a, b exact.Point, offset, redone *big.Rat) visit[num.Interval] {
	if !v.comes {
		return v
	}
	o, d := num.FromRat(offset, f.Prec), num.FromRat(redone, f.Prec)
	spared := o.Mul(v.part)
	v.second = v.second.Sub(o.Mul(v.first).Scale2(1)).Add(o.Mul(spared))
	v.first = v.first.Sub(spared)
	v.lost = d.Mul(v.part)
	v.whole = v.whole.Sub(o.Mul(v.end))
	if v.hasInverse {
		v.share = v.share.Sub(o.Mul(v.inverse))
	}
	if v.kills {
		v.run = b.X.Sub(o)
		if a.X.Low == b.X.Low { // equal cutoffs: no interval that contains 0 if d = 0
			v.run, v.first, v.second = d, v.lost, d.Mul(v.lost)
		}
	}
	return v
}

// leftToOthers returns the slack of host 1, with moments v and cutoff b, if it would have a load of
// exactly 1 with all the work. The slack is then the work that it leaves to the others: λ
// E[max(X-b, 0)]/v_1 under TAGS, and λ E[X; X > b]/v_1 under SITA. Nothing cancels, however large b
// is.
func (f *EnclosedFarm) leftToOthers(v visit[num.Interval], b exact.Point) num.Interval {
	return f.Rate.Mul(b.Above[2].Sub(v.lost)).Quo(v.speed)
}

// evaluate returns all means for the points of 0, s_1, ..., s_{h-1}, ∞. If an interval is not
// positive as it should be, the error is [exact.ErrMoreBits], or an *[UnstableError] if a load is
// proved to be at least 1. undecided is the host whose slack may be 0, or -1.
func (f *EnclosedFarm) evaluate(
	p Policy, at []exact.Point, resumed []resumption, formal bool,
) (r Result, undecided int, err error) {
	resumes := p == PolicyTAGS && !f.resume.restarts()
	visits := make([]visit[num.Interval], 0, len(f.Speeds))
	for i, speed := range f.Speeds {
		v := f.visit(p, speed, at[i], at[i+1])
		if resumes && i > 0 {
			v = f.resumed(v, at[i], at[i+1], resumed[i].offset, resumed[i].redone)
		}
		if !v.comes {
			visits = append(visits, v)
			continue
		}
		if v.part.Sign() <= 0 || v.ends && v.end.Sign() <= 0 {
			return r, -1, exact.ErrMoreBits
		}
		v.load = f.Rate.Mul(v.first).Quo(speed)
		if v.slack = v.slack.Sub(v.load); i == 0 && f.full {
			v.slack = f.leftToOthers(v, at[1])
		}
		if resumes && i == 0 {
			v.lost = num.FromInt(0, f.Prec)
		}
		switch {
		case v.slack.Sign() == 0 && !(v.slack.High.Sign() == 0 && !formal):
			return r, i, exact.ErrMoreBits
		case v.slack.High.Sign() <= 0 && !formal:
			l, _ := v.load.Middle().Float64()
			return r, i, &UnstableError{Host: i, Load: l}
		}
		visits = append(visits, v)
	}
	formulas := formulas[num.Interval]{rate: f.Rate, zero: num.FromInt(0, f.Prec), value: num.Interval.Value}
	r = formulas.loads(visits)
	r.Policy, r.Kind, r.NoSlowdown = p, p.kind(len(visits)), f.NoInverse
	formulas.waits(&r, visits)
	return r, -1, nil
}
