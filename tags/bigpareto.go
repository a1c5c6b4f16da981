package tags

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"

	"productform/dist"
	"productform/internal/input"
	"productform/num"
)

// An ExactModel is a farm of hosts whose job sizes have a Bounded Pareto law, all numbers exact: what is proved about
// it is proved for the decimals that were written, not for the doubles next to them. The density of the sizes is
//
//	f(x) = α x^(-α-1)/(k^-α - p^-α),  k <= x <= p.
//
// One of Low and Mean is given and the other nil.
type ExactModel struct {
	Hosts  int        // h, 1 to [MaxHosts]
	Load   *big.Rat   // system load ρ = λ E[X] / Σ_i v_i, in (0, 1)
	Alpha  *big.Rat   // α > 0
	High   *big.Rat   // p > 0
	Low    *big.Rat   // k in (0, p)
	Mean   *big.Rat   // E[X] in (0, p)
	Speeds []*big.Rat // v_i > 0, in the order in which jobs visit the hosts; nil if all are 1
}

// ErrPrecision is wrapped by the error for a question that 16384 bits do not settle, such as whether a load that is 1
// is below 1, or 4096 bits where cutoffs are sought.
var ErrPrecision = errors.New("tags: more bits do not settle it")

// maxPrec is the greatest precision of a computation, in bits.
const maxPrec = 1 << 14

// Validate checks that every number of m is in its range. The error names the field, its value and the range.
func (m ExactModel) Validate() error {
	if !(m.Hosts >= 1 && m.Hosts <= MaxHosts) {
		return input.Errorf("Hosts", m.Hosts, "a number of hosts from 1 to %d", MaxHosts)
	}
	if m.Load == nil || m.Load.Sign() <= 0 || m.Load.Cmp(big.NewRat(1, 1)) >= 0 {
		return input.Errorf("Load", ratText(m.Load), "a number in (0, 1)")
	}
	if err := m.checkLaw(); err != nil {
		return err
	}
	if m.Speeds != nil && len(m.Speeds) != m.Hosts {
		return input.Errorf("Speeds", fmt.Sprintf("%d speeds", len(m.Speeds)), "one speed a host, %d", m.Hosts)
	}
	for i, v := range m.Speeds {
		if v == nil || v.Sign() <= 0 {
			return input.Errorf(fmt.Sprintf("Speeds[%d]", i), ratText(v), "a number > 0")
		}
	}
	return nil
}

// checkLaw checks the law of the sizes.
func (m ExactModel) checkLaw() error {
	switch {
	case m.Alpha == nil || m.Alpha.Sign() <= 0:
		return input.Errorf("Alpha", ratText(m.Alpha), "a number > 0")
	case m.High == nil || m.High.Sign() <= 0:
		return input.Errorf("High", ratText(m.High), "a number > 0")
	case m.Low == nil && m.Mean == nil:
		return input.Errorf("Low", "nil", "a number in (0, High), or Mean in its place")
	case m.Low != nil && m.Mean != nil:
		return input.Errorf("Mean", ratText(m.Mean), "nil, since Low is given")
	case m.Low != nil && (m.Low.Sign() <= 0 || m.Low.Cmp(m.High) >= 0):
		return input.Errorf("Low", ratText(m.Low), "a number in (0, High = %s)", ratText(m.High))
	case m.Mean != nil && (m.Mean.Sign() <= 0 || m.Mean.Cmp(m.High) >= 0):
		return input.Errorf("Mean", ratText(m.Mean), "a number in (0, High = %s)", ratText(m.High))
	}
	return nil
}

// ratText writes integers as such, other numbers to 17 digits.
func ratText(x *big.Rat) string {
	switch {
	case x == nil:
		return "nil"
	case x.IsInt():
		return x.Num().String()
	}
	return new(big.Float).SetPrec(64).SetRat(x).Text('g', 17)
}

// Rounded returns the model of doubles next to m. The error is that of [dist.NewBoundedPareto], or says that a number
// is beyond double precision.
func (m ExactModel) Rounded() (Model, error) {
	if err := m.Validate(); err != nil {
		return Model{}, err
	}
	low, err := m.LowEnd(64)
	if err != nil {
		return Model{}, err
	}
	k, ok := low.Float64()
	if !ok {
		return Model{}, input.Errorf("Low", low.Low.Text('g', 17), "a low end within double precision")
	}
	f := Model{Hosts: m.Hosts}
	var alpha, high float64
	double := func(path string, x *big.Rat) float64 {
		v, ok := num.Float64(x)
		if !ok && err == nil {
			err = input.Errorf(path, ratText(x), "a number within double precision")
		}
		return v
	}
	f.Load, alpha, high = double("Load", m.Load), double("Alpha", m.Alpha), double("High", m.High)
	for i, v := range m.Speeds {
		f.Speeds = append(f.Speeds, double(fmt.Sprintf("Speeds[%d]", i), v))
	}
	if err != nil {
		return Model{}, err
	}
	if f.Sizes, err = dist.NewBoundedPareto(k, high, alpha); err != nil {
		return Model{}, err
	}
	return f, f.Validate()
}

// LowEnd encloses k, the least size, to a relative width of at most 2^(1-prec); prec 0 means 64. If the mean is given,
// k solves
//
//	E[X] = α/(1-α) (p^(1-α) - k^(1-α))/(k^-α - p^-α)
//
// and is found by Newton's method. The proof is separate: E[X] rises with k, since the sizes do, and the mean is proved
// to be below the one given at the lower end of the enclosure and above at the upper end.
//
// The error of this and the methods below names the field of m or the argument that is out of range, wraps
// [ErrPrecision], or is [num.ErrRange] for powers beyond e^±2e8.
func (m ExactModel) LowEnd(prec uint) (num.Enclosure, error) {
	return m.measure(prec, func(l bigLaw) (ends, error) { return l.low.x, nil })
}

// Moment encloses E[X^order] for any real order, to a relative width of at most 2^(1-prec); prec 0 means 64.
func (m ExactModel) Moment(order *big.Rat, prec uint) (num.Enclosure, error) {
	return m.PartialMoment(order, new(big.Rat), m.High, prec)
}

// PartialMoment encloses E[X^order; low < X <= high] for 0 <= low <= high, to a relative width of at most 2^(1-prec);
// prec 0 means 64. The error wraps [ErrPrecision] if k follows from the mean and is high itself.
func (m ExactModel) PartialMoment(order, low, high *big.Rat, prec uint) (num.Enclosure, error) {
	if err := m.checkLaw(); err != nil {
		return num.Enclosure{}, err
	}
	if order == nil {
		return num.Enclosure{}, input.Errorf("order", "nil", "a number")
	}
	if low == nil || low.Sign() < 0 {
		return num.Enclosure{}, input.Errorf("low", ratText(low), "a number >= 0")
	}
	if high == nil || high.Cmp(low) < 0 {
		return num.Enclosure{}, input.Errorf("high", ratText(high), "a number >= low = %s", ratText(low))
	}
	return m.measure(prec, func(l bigLaw) (ends, error) {
		a, b, ok, err := l.clip(low, high)
		if err != nil || !ok {
			return endsOfInt(0, l.prec), err
		}
		return l.anyPart(order, a, b)
	})
}

// Tail encloses P(X > x), to a relative width of at most 2^(1-prec); prec 0 means 64.
func (m ExactModel) Tail(x *big.Rat, prec uint) (num.Enclosure, error) {
	if x == nil || x.Sign() < 0 {
		return num.Enclosure{}, input.Errorf("x", ratText(x), "a number >= 0")
	}
	high := m.High
	if high == nil || x.Cmp(high) > 0 {
		high = x
	}
	return m.PartialMoment(new(big.Rat), x, high, prec)
}

// CDF encloses P(X <= x), to a relative width of at most 2^(1-prec); prec 0 means 64. The error wraps [ErrPrecision] if
// k follows from the mean and is x itself.
func (m ExactModel) CDF(x *big.Rat, prec uint) (num.Enclosure, error) {
	if x == nil || x.Sign() < 0 {
		return num.Enclosure{}, input.Errorf("x", ratText(x), "a number >= 0")
	}
	return m.PartialMoment(new(big.Rat), new(big.Rat), x, prec)
}

// Density encloses f(x), that inside at the ends, to a relative width of at most 2^(1-prec); prec 0 means 64. The error
// wraps [ErrPrecision] if k follows from the mean and is x itself.
func (m ExactModel) Density(x *big.Rat, prec uint) (num.Enclosure, error) {
	if x == nil || x.Sign() < 0 {
		return num.Enclosure{}, input.Errorf("x", ratText(x), "a number >= 0")
	}
	return m.measure(prec, func(l bigLaw) (ends, error) {
		at := endsOfRat(x, l.prec)
		switch {
		case x.Cmp(m.High) > 0, m.Low != nil && x.Cmp(m.Low) < 0, m.Low == nil && at.hi.Cmp(l.low.x.lo) < 0:
			return endsOfInt(0, l.prec), nil
		case m.Low == nil && at.lo.Cmp(l.low.x.hi) < 0:
			return ends{}, errUndecided
		}
		point, err := l.powers(at)
		if err != nil {
			return ends{}, err
		}
		return l.density(point), nil
	})
}

// measure doubles the precision until what f returns is narrow enough.
func (m ExactModel) measure(prec uint, f func(bigLaw) (ends, error)) (num.Enclosure, error) {
	prec = cmp.Or(prec, 64)
	if err := m.checkLaw(); err != nil {
		return num.Enclosure{}, err
	}
	if prec > 1000 {
		return num.Enclosure{}, input.Errorf("prec", prec, "at most 1000 bits")
	}
	var e num.Enclosure
	err := settle(prec+64, maxPrec, func(w uint) error {
		l, err := m.law(w)
		if err != nil {
			return err
		}
		v, err := f(l)
		if err != nil {
			return err
		}
		e = v.enclosure()
		return narrowEnough(e, math.Ldexp(1, 1-int(prec)))
	})
	if err != nil {
		return num.Enclosure{}, err
	}
	return e, nil
}

// settle calls try with more and more bits, up to most, while it returns errUndecided.
func settle(prec, most uint, try func(prec uint) error) error {
	for ; prec <= most; prec *= 2 {
		if err := try(prec); !errors.Is(err, errUndecided) {
			return err
		}
	}
	return ErrPrecision
}

// narrowEnough returns errUndecided if e is relatively wider than tolerance, [num.ErrRange] if it is infinite.
func narrowEnough(e num.Enclosure, tolerance float64) error {
	if e.Low.IsInf() || e.High.IsInf() {
		return num.ErrRange
	}
	if e.RelWidth() > tolerance {
		return errUndecided
	}
	return nil
}

// A bigLaw is the law of an [ExactModel] to a number of bits.
type bigLaw struct {
	prec        uint
	alpha       *big.Rat
	exactLow    *big.Rat // nil if k follows from the mean
	exactHigh   *big.Rat
	a           ends     // α
	aLess1      ends     // α - 1
	aPlus1      ends     // α + 1
	coefficient [4]ends  // α/(j-α) for j = -1, 0, 1, 2; α where j = α
	low, high   bigPoint // k, p
	mass        ends     // k^-α - p^-α
}

// A bigPoint is a size x with the powers that all partial moments need.
type bigPoint struct {
	x, log ends
	power  [4]ends // x^(j-α) for j = -1, 0, 1, 2
	tail   ends    // P(X > x)
}

func (m ExactModel) law(prec uint) (bigLaw, error) {
	l := bigLaw{prec: prec, alpha: m.Alpha, exactLow: m.Low, exactHigh: m.High, a: endsOfRat(m.Alpha, prec)}
	for i := range l.coefficient {
		c := new(big.Rat).Sub(big.NewRat(int64(i-1), 1), m.Alpha)
		if c.Sign() == 0 {
			c.SetInt64(1)
		}
		l.coefficient[i] = endsOfRat(c.Quo(m.Alpha, c), prec)
	}
	one := big.NewRat(1, 1)
	l.aLess1 = endsOfRat(new(big.Rat).Sub(m.Alpha, one), prec)
	l.aPlus1 = endsOfRat(one.Add(one, m.Alpha), prec)
	var err error
	if l.high, err = l.powers(endsOfRat(m.High, prec)); err != nil {
		return bigLaw{}, err
	}
	if m.Low != nil {
		err = l.setLow(endsOfRat(m.Low, prec))
	} else {
		err = l.solveLow(m.Mean)
	}
	return l, err
}

// setLow completes l for the given k.
func (l *bigLaw) setLow(k ends) error {
	var err error
	if l.low, err = l.powers(k); err != nil {
		return err
	}
	if l.mass = l.low.power[1].sub(l.high.power[1]); l.mass.sign() <= 0 {
		return errUndecided
	}
	l.low.tail, l.high.tail = endsOfInt(1, l.prec), endsOfInt(0, l.prec)
	return nil
}

// solveLow completes l for the k that gives the mean; see [ExactModel.LowEnd]. With l = ln(p/k),
//
//	E[X]/p = N/D,  N = (1 - e^(-(1-α)l))/(1-α), l if α = 1,  D = (e^(αl) - 1)/α,
//	d ln E[X]/dl = e^(-(1-α)l)/N - e^(αl)/D.
//
// The proof tries wider and wider brackets around what Newton's method gives.
func (l *bigLaw) solveLow(mean *big.Rat) error {
	ratio := endsOfRat(new(big.Rat).Quo(mean, l.exactHigh), l.prec)
	start, err := roughLog(l.alpha, ratio)
	if err != nil {
		return err
	}
	one := endsOfInt(1, l.prec)
	x := endsOfFloat(start, l.prec)
	for range 60 {
		d, err := l.a.mul(x).exp()
		if err != nil {
			return err
		}
		n, err := l.aLess1.mul(x).exp()
		if err != nil {
			return err
		}
		slopeN, slopeD := n, d
		if n = x; !l.isAlpha(1) {
			n = one.sub(slopeN).mul(l.coefficient[2]).quo(l.a)
		}
		d = d.sub(one).quo(l.a)
		if n.sign() <= 0 || d.sign() <= 0 {
			return errUndecided
		}
		f := n.quo(d)
		slope := f.mul(slopeN.quo(n).sub(slopeD.quo(d)))
		if slope.sign() == 0 {
			return errUndecided
		}
		step := f.sub(ratio).quo(slope).point()
		if x = x.sub(step).point(); x.sign() <= 0 {
			return errUndecided
		}
		if step.sign() == 0 || x.lo.MantExp(nil)-step.lo.MantExp(nil) > int(l.prec)*9/16 {
			break
		}
	}
	k, err := x.neg().exp()
	if err != nil {
		return err
	}
	k = k.mul(l.high.x).point()
	want := endsOfRat(mean, l.prec)
	for bits := int(l.prec) - 16; bits > 16; bits -= 16 {
		around := ends{roundDown(l.prec).Sub(k.lo, new(big.Float).SetMantExp(k.lo, -bits)),
			roundUp(l.prec).Add(k.hi, new(big.Float).SetMantExp(k.hi, -bits))}
		switch proved, err := l.brackets(around, want); {
		case err != nil && !errors.Is(err, errUndecided):
			return err
		case proved:
			return l.setLow(around)
		}
	}
	return errUndecided
}

// brackets reports whether E[X] is proved to be below want for the lower end of k and above it for the upper one.
func (l *bigLaw) brackets(k, want ends) (bool, error) {
	for _, end := range []*big.Float{k.lo, k.hi} {
		if err := l.setLow(endsOfBig(end, l.prec)); err != nil {
			return false, err
		}
		mean := l.part(1, l.low, l.high)
		if end == k.lo && mean.hi.Cmp(want.lo) >= 0 || end == k.hi && mean.lo.Cmp(want.hi) <= 0 {
			return false, nil
		}
	}
	return true, nil
}

// roughLog returns ln(p/k) in doubles, given α and E[X]/p, by bisection of ln(p/E[X]), which rises with it:
//
//	ln(p/E[X]) = l/2 + ln S(αl/2) - ln S(|1-α|l/2),  S(y) = sinh(y)/y.
func roughLog(alpha *big.Rat, ratio ends) (float64, error) {
	log, err := ratio.log()
	if err != nil {
		return 0, err
	}
	want := -log.float()
	a, _ := alpha.Float64()
	rest, _ := new(big.Rat).Sub(alpha, big.NewRat(1, 1)).Float64()
	low, high := math.Log(1e-300), math.Log(greatestLog)
	for range 100 {
		mid := (low + high) / 2
		if l := math.Exp(mid); l/2+logSinhRatio(a*l/2)-logSinhRatio(math.Abs(rest)*l/2) < want {
			low = mid
		} else {
			high = mid
		}
	}
	if high == math.Log(greatestLog) {
		return 0, num.ErrRange
	}
	return math.Exp(high), nil
}

// logSinhRatio returns ln(sinh(y)/y) for y >= 0.
func logSinhRatio(y float64) float64 {
	if y < 1e-2 {
		return y * y / 6
	}
	return y - math.Log(2*y) + math.Log1p(-math.Exp(-2*y))
}

// powers returns the point x without its tail, from a logarithm and an exponential.
func (l *bigLaw) powers(x ends) (bigPoint, error) {
	log, err := x.log()
	if err != nil {
		return bigPoint{}, err
	}
	q, err := l.a.mul(log).neg().exp()
	if err != nil {
		return bigPoint{}, err
	}
	return l.raise(x, log, q), nil
}

// raise returns the point x with its powers, given q = x^-α.
func (l *bigLaw) raise(x, log, q ends) bigPoint {
	xq := x.mul(q)
	return bigPoint{x: x, log: log, power: [4]ends{q.quo(x), q, xq, x.mul(xq)}}
}

// at returns the point x in (k, p).
func (l *bigLaw) at(x ends) (bigPoint, error) {
	b, err := l.powers(x)
	if err != nil {
		return bigPoint{}, err
	}
	b.tail = l.part(0, b, l.high)
	return b, nil
}

// part returns E[X^j; a < X <= b] for j = -1, 0, 1, 2, which is
//
//	α/(j-α) (b^(j-α) - a^(j-α))/(k^-α - p^-α),  and α ln(b/a)/(k^-α - p^-α) if j = α.
//
// What cancels when a is near b, or j near α, is paid with bits.
func (l *bigLaw) part(j int, a, b bigPoint) ends {
	if l.isAlpha(j) {
		return l.a.mul(b.log.sub(a.log)).quo(l.mass)
	}
	return l.coefficient[j+1].mul(b.power[j+1].sub(a.power[j+1])).quo(l.mass)
}

func (l *bigLaw) isAlpha(j int) bool {
	return l.alpha.IsInt() && l.alpha.Num().Cmp(big.NewInt(int64(j))) == 0
}

// anyPart returns E[X^order; a < X <= b] for any real order.
func (l *bigLaw) anyPart(order *big.Rat, a, b bigPoint) (ends, error) {
	if order.IsInt() && order.Num().IsInt64() {
		if j := order.Num().Int64(); j >= -1 && j <= 2 {
			return l.part(int(j), a, b), nil
		}
	}
	excess := new(big.Rat).Sub(order, l.alpha)
	if excess.Sign() == 0 {
		return l.a.mul(b.log.sub(a.log)).quo(l.mass), nil
	}
	e := endsOfRat(excess, l.prec)
	upper, err := e.mul(b.log).exp()
	if err != nil {
		return ends{}, err
	}
	lower, err := e.mul(a.log).exp()
	if err != nil {
		return ends{}, err
	}
	return l.a.mul(upper.sub(lower)).quo(e.mul(l.mass)), nil
}

// density returns f(x).
func (l *bigLaw) density(b bigPoint) ends { return l.a.mul(b.power[0]).quo(l.mass) }

// clip returns the points a = max(low, k) and b = min(high, p), and false if a >= b. Where k is known by its ends only,
// the greater of it and x has for ends the greater of their lower and that of their upper ends.
func (l *bigLaw) clip(low, high *big.Rat) (a, b bigPoint, ok bool, err error) {
	if low.Cmp(high) >= 0 || low.Cmp(l.exactHigh) >= 0 {
		return a, b, false, nil
	}
	a, b = l.low, l.high
	if x := endsOfRat(low, l.prec); l.exactLow != nil && low.Cmp(l.exactLow) > 0 {
		a, err = l.powers(x)
	} else if l.exactLow == nil && x.hi.Cmp(l.low.x.lo) > 0 {
		a, err = l.powers(ends{bigMax(x.lo, l.low.x.lo), bigMax(x.hi, l.low.x.hi)})
	}
	if err != nil || high.Cmp(l.exactHigh) >= 0 {
		return a, b, true, err
	}
	x := endsOfRat(high, l.prec)
	if l.exactLow != nil && high.Cmp(l.exactLow) <= 0 || l.exactLow == nil && x.hi.Cmp(l.low.x.lo) <= 0 {
		return a, b, false, nil
	}
	if l.exactLow == nil && x.lo.Cmp(l.low.x.lo) < 0 {
		x.lo = l.low.x.lo
	}
	b, err = l.powers(x)
	return a, b, true, err
}

func bigMax(x, y *big.Float) *big.Float {
	if x.Cmp(y) >= 0 {
		return x
	}
	return y
}
