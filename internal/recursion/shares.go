package recursion

import (
	"context"
	"math/big"
	"math/bits"

	"productform/internal/arithmetic"
	"productform/num"
)

// Shares provides the denominators of the symmetric lattice if the numbers of ways to choose
// servers are too long to store. A state k contains all servers of the fraction
//
//	q_t(k) = Π_g C(k_g, d_tg)/C(n_g, d_tg),  λ(k) = Σ_t λ_t q_t(k),
//
// of the jobs of class t, called its share. Each factor is read from a table of big floats, filled
// downwards from the value 1 at k_g = n_g: C(k-1, d) = C(k, d) (k-d)/k.
//
// Every number takes prec+guard bits. A table has two roundings per step, a term of λ(k) one per
// factor and one for λ_t, the sums two per class: fewer than 2 Σ_g n_g + groups + 2 classes + 1 <
// 2^(guard-65) in total. Each is at most 2^-(prec+guard), so computed shares and λ(k) have relative
// errors of at most 2^-(prec+64).
type Shares struct {
	p       *Problem
	prec    uint
	guard   uint
	stride  []int     // state k holds k/stride mod (n+1) servers of a group
	tables  []tableOf // one for each pair of a group and a number of servers chosen
	Choices [][]int   // by class: indices of its tables
	first   []int     // by class: index of its table for the first group; -1 for none
}

// tableOf holds C(k, d)/C(n, d) at k-d for k = d..n.
type tableOf struct {
	group, choose int
	wide          []big.Float
	float         []float64 // rounded once more; 0 below tinyShare
}

// TinyShare is the size below which the float engine replaces a share by bounds, 0 and tinyShare.
const TinyShare = 0x1p-900

// FloatShares is the precision of shares for the float engine.
const FloatShares = 64

func newShares(ctx context.Context, p *Problem, prec uint) (*Shares, error) {
	s := &Shares{p: p, prec: prec}
	roundings, stride := uint(len(p.Groups)+2*len(p.Classes)+1), 1
	for _, g := range p.Groups {
		roundings += 2 * uint(g.N)
		s.stride = append(s.stride, stride)
		stride *= g.N + 1
	}
	s.guard = 65 + uint(bits.Len(roundings))
	known := make(map[Choice]int)
	for _, class := range p.Classes {
		var list []int
		first := -1
		for _, c := range class.Choose {
			at, ok := known[c]
			if !ok {
				at = len(s.tables)
				known[c] = at
				t, err := s.newTable(ctx, c)
				if err != nil {
					return nil, err
				}
				s.tables = append(s.tables, t)
			}
			list = append(list, at)
			if c.Group == 0 {
				first = at
			}
		}
		s.Choices, s.first = append(s.Choices, list), append(s.first, first)
	}
	return s, nil
}

func (s *Shares) newTable(ctx context.Context, c Choice) (tableOf, error) {
	stop := Cancellation{Ctx: ctx}
	n, d := s.p.Groups[c.Group].N, c.Choose
	t := tableOf{c.Group, d, make([]big.Float, n-d+1), make([]float64, n-d+1)}
	factor := new(big.Float).SetPrec(64)
	for k := n; k >= d; k-- {
		if err := stop.After(BigSteps); err != nil {
			return t, err
		}
		z := t.wide[k-d].SetPrec(s.prec + s.guard)
		if k == n {
			z.SetInt64(1)
		} else {
			z.Mul(&t.wide[k+1-d], factor.SetInt64(int64(k+1-d)))
			z.Quo(z, factor.SetInt64(int64(k+1)))
		}
		if f, _ := z.Float64(); f >= TinyShare {
			t.float[k-d] = f
		}
	}
	return t, nil
}

// at returns the place of C(k_g, d)/C(n_g, d) in a table; negative if it is 0.
func (s *Shares) at(t *tableOf, state int) int {
	return state/s.stride[t.group]%(s.p.Groups[t.group].N+1) - t.choose
}

// Float returns q_i in float64, each factor within two roundings and each product within one more.
// It returns 0 if q_i may be below tinyShare; ok is then false, unless q_i is exactly 0.
func (s *Shares) Float(state int, i int32) (q float64, ok bool) {
	q = 1
	for _, c := range s.Choices[i] {
		t := &s.tables[c]
		k := s.at(t, state)
		if k < 0 {
			return 0, true
		}
		q *= t.float[k]
	}
	if q < 2*TinyShare {
		return 0, false
	}
	return q, true
}

// A ShareReader holds the intermediate numbers of one reader of shares.
type ShareReader struct {
	*Shares
	term, sum, difference, integer big.Float
	buf                            big.Int
	outer                          []outerShare // for each class
	above                          int          // the state for which inner is valid, as in outerShare
	// sums of outer over the classes without a factor of the first group, then over the classes
	// with each table
	inner []big.Float
}

// An outerShare is λ_t times the factors of q_t except that of the first group.
type outerShare struct {
	state int // over the places within the first group
	x     big.Float
}

// Reader returns a reader of states in any order; consecutive states are fastest.
func (s *Shares) Reader() *ShareReader {
	r := &ShareReader{
		Shares: s,
		outer:  make([]outerShare, len(s.p.Classes)),
		above:  -1,
		inner:  make([]big.Float, len(s.tables)+1),
	}
	for i := range r.outer {
		r.outer[i].state = -1
	}
	for c := range r.inner {
		r.inner[c].SetPrec(s.prec + s.guard)
	}
	for _, z := range []*big.Float{&r.term, &r.sum, &r.difference} {
		z.SetPrec(s.prec + s.guard)
	}
	return r
}

// Edge returns 1 - 2^-prec or 1 + 2^-prec: a number known within 2^-(prec+1) is bounded by its
// product with these, rounded down or up.
func (s *Shares) Edge(mode big.RoundingMode) *big.Float {
	x := new(big.Float).SetMantExp(big.NewFloat(1), -int(s.prec))
	if mode == big.ToNegativeInf {
		x.Neg(x)
	}
	return x.SetPrec(s.prec+2).Add(x, big.NewFloat(1))
}

// Share returns λ_i q_i(k) within 2^-(prec+64); it is valid until the next call.
func (r *ShareReader) Share(state int, i int32) *big.Float {
	x := r.outerShare(state, i)
	if c := r.first[i]; c >= 0 {
		r.multiply(&r.term, x, &r.tables[c], state)
		return &r.term
	}
	return r.term.Set(x)
}

// enclosed returns the interval of numbers that x approximates within the precision of the shares.
func (s *Shares) enclosed(x *big.Float, prec uint) arithmetic.Number {
	return arithmetic.Number{Interval: num.Interval{
		Low:  num.Down(prec).Mul(x, s.Edge(big.ToNegativeInf)),
		High: num.Up(prec).Mul(x, s.Edge(big.ToPositiveInf))}}
}

// Number returns λ_i q_i(k) in the arithmetic of like, which must not be a fraction.
func (r *ShareReader) Number(k int, i int32, like arithmetic.Number) arithmetic.Number {
	x := r.Share(k, i)
	if like.Interval.Low != nil {
		return r.enclosed(x, like.Interval.Prec())
	}
	return arithmetic.FromWide(arithmetic.WideOf(x), 2*arithmetic.Roundoff)
}

// outerShare returns λ_i q_i(k) without the factor of the first group, the only one that changes
// between most consecutive states.
func (r *ShareReader) outerShare(state int, i int32) *big.Float {
	outer := &r.outer[i]
	if above := state / (r.p.Groups[0].N + 1); outer.state != above {
		outer.state = above
		outer.x.SetPrec(r.prec + r.guard).SetInt(r.p.Classes[i].Rate)
		for _, c := range r.Choices[i] {
			if c != r.first[i] {
				r.multiply(&outer.x, &outer.x, &r.tables[c], state)
			}
		}
	}
	return &outer.x
}

// multiply sets z to x times the entry of a table.
func (r *ShareReader) multiply(z, x *big.Float, t *tableOf, state int) {
	switch k := r.at(t, state); {
	case k < 0:
		z.SetInt64(0)
	case k+1 == len(t.wide): // the last is 1
		z.Set(x)
	default:
		z.Mul(x, &t.wide[k])
	}
}

// Rate returns λ(k) within 2^-(prec+64); it is valid until the next call.
func (r *ShareReader) Rate(k int) *big.Float {
	if above := k / (r.p.Groups[0].N + 1); above != r.above {
		r.above = above
		for c := range r.inner {
			r.inner[c].SetInt64(0)
		}
		for i := range r.outer {
			arithmetic.AddFar(&r.inner[r.first[i]+1], r.outerShare(k, int32(i)))
		}
	}
	r.sum.Set(&r.inner[0])
	for c := range r.tables {
		if t := &r.tables[c]; t.group == 0 && r.inner[c+1].Sign() > 0 {
			r.multiply(&r.term, &r.inner[c+1], t, k)
			arithmetic.AddFar(&r.sum, &r.term)
		}
	}
	return &r.sum
}

// denominator sets z to d(k) = M(k) - λ(k), within 2^-(prec+1) and the rounding of z. If the
// difference loses too many bits, it is computed in fractions. The sign is always correct.
func (r *ShareReader) denominator(z *big.Float, g *Graph, k int) *big.Float {
	if g.First[k] == g.First[k+1] {
		return z.SetInt64(1)
	}
	rate := r.Rate(k)
	r.difference.Neg(r.integer.SetPrec(0).SetInt(g.Total.At(k, &r.buf)))
	arithmetic.AddFar(&r.difference, rate)
	r.difference.Neg(&r.difference)
	// λ(k) is off by at most 2^(e-prec-64) if 2^e is above it, M(k) and the difference by less than
	// 2^-(prec+65) of themselves. If the difference is at least 2^(e-61), that is less than
	// 2^-(prec+1) of it.
	if r.difference.Sign() > 0 && arithmetic.Exponent(&r.integer)-arithmetic.Exponent(&r.difference) <= 60 {
		return z.Set(&r.difference)
	}
	d := r.exactRate(g, k)
	return z.SetRat(d.Sub(new(big.Rat).SetInt(g.Total.At(k, &r.buf)), d))
}

// exactRate returns λ(k), times the scale of the problem.
func (s *Shares) exactRate(g *Graph, k int) *big.Rat {
	sum := new(big.Rat)
	for _, i := range g.Own[g.OwnFirst[k]:g.OwnFirst[k+1]] {
		x := new(big.Rat).SetInt(s.p.Classes[i].Rate)
		for _, c := range s.Choices[i] {
			t := &s.tables[c]
			n, d := int64(s.p.Groups[t.group].N), int64(t.choose)
			if m := int64(s.at(t, k)) + d; m < n {
				x.Mul(x, new(big.Rat).SetFrac(new(big.Int).Binomial(m, d), new(big.Int).Binomial(n, d)))
			}
		}
		sum.Add(sum, x)
	}
	return sum
}

// Gain returns λ(k) - λ(k-e) for the state child = k-e with one fewer server in a group, without
// subtraction: C(k, d) - C(k-1, d) = C(k, d) d/k.
func (r *ShareReader) Gain(g *Graph, k, child int) *big.Float {
	var group int
	for r.stride[group] != k-child {
		group++
	}
	count := k / r.stride[group] % (r.p.Groups[group].N + 1)
	r.sum.SetInt64(0)
	for _, i := range g.Own[g.OwnFirst[k]:g.OwnFirst[k+1]] {
		for _, c := range r.Choices[i] {
			if r.tables[c].group == group {
				term := r.Share(k, i)
				arithmetic.AddFar(&r.sum, term.Mul(term, r.integer.SetInt64(int64(r.tables[c].choose))))
			}
		}
	}
	return r.sum.Quo(&r.sum, r.integer.SetInt64(int64(count)))
}
