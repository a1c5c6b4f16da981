package stability

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"productform/internal/input"
	"productform/internal/ranktable"
	"productform/num"
)

// maxClasses is the maximum number of classes of [Rank], which examines all sets of classes.
const maxClasses = 24

// setsBetween is the number of sets between two checks of a context.
const setsBetween = 1 << 12

// Rank decides whether an order-independent queue with n = len(arrivalRates) classes is stable.
// rank[A] is μ(A) at the bit mask of A, in jobs per unit of time. rank[0] must be nil or 0; the
// others must be positive and not decrease as classes join. Otherwise the error, a
// *[num.InputError], names an A for which this fails. With h(A) = μ(A) - Σ_{i∈A} λ_i, the proof of
// a stable result is
//
//	η_i = λ_i + ½ min_{A∋i} h(A)/|A|
//
// (Bonald and Comte 2017, Appendix). Rank examines all sets, in O(n 2^n) time. If all numbers are
// 64-bit multiples of one fraction, it takes 8·2^n bytes; n is at most 24. Once ctx is done, Rank
// promptly returns ctx.Err().
func Rank(ctx context.Context, arrivalRates, rank []*big.Rat) (*Result, error) {
	t, err := newTable(ctx, arrivalRates, rank)
	if err != nil {
		return nil, err
	}
	f := findings{etas: make([]int, t.n)}
	if t.small != nil {
		err = t.scanSmall(ctx, &f)
	} else {
		err = t.scanBig(ctx, &f)
	}
	if err != nil {
		return nil, err
	}
	if f.bad > 0 {
		return nil, ranktable.CheckSet(rank, f.bad)
	}

	h := func(a int) *big.Rat {
		return new(big.Rat).Sub(rank[a], load(arrivalRates, a))
	}
	r := &Result{Stable: true, Margin: h(f.margin), MarginSet: ranktable.Members(f.margin)}
	if a := f.scale; a > 0 {
		r.Bottleneck = ranktable.Members(a)
		r.Arrival, r.Capacity = load(arrivalRates, a), new(big.Rat).Set(rank[a])
		r.CriticalScale = new(big.Rat).Quo(r.Capacity, r.Arrival)
	}
	if r.Stable = r.Margin.Sign() > 0; r.Stable {
		r.Eta = make([]*big.Rat, t.n)
		for i, a := range f.etas {
			half := new(big.Rat).Mul(h(a), big.NewRat(1, int64(2*bits.OnesCount(uint(a)))))
			r.Eta[i] = half.Add(half, arrivalRates[i])
		}
	}
	return r, nil
}

// load returns Σ_{i∈A} λ_i.
func load(rates []*big.Rat, a int) *big.Rat {
	sum := new(big.Rat)
	for _, i := range ranktable.Members(a) {
		sum.Add(sum, rates[i])
	}
	return sum
}

// smaller reports whether a has fewer classes than b, or the same number and precedes it as a list.
func smaller(a, b int) bool {
	if d := bits.OnesCount(uint(a)) - bits.OnesCount(uint(b)); d != 0 {
		return d < 0
	}
	differ := a ^ b
	return a&(differ&-differ) != 0
}

// A table is the input as whole multiples of a common unit.
type table struct {
	n     int
	small []int64 // μ, if all entries, and 2n times any h(A), fit
	low   []int64 // λ of the sets of the first half of the classes
	high  []int64 // λ of the sets of the other classes
	half  int
	big   []*big.Int // μ otherwise
	rates []*big.Int
}

// findings holds the masks that a scan finds.
type findings struct {
	bad           int   // the first mask whose rank falls as a class joins; 0 if none
	margin, scale int   // masks that attain the margin and the critical scale; 0 if none
	etas          []int // masks that attain min_{A∋i} h(A)/|A|
}

func newTable(ctx context.Context, rates, rank []*big.Rat) (*table, error) {
	n := len(rates)
	if n < 1 || n > maxClasses {
		return nil, input.Errorf("ArrivalRates", fmt.Sprintf("%d classes", n),
			"1 to %d classes, since all 2^n sets are examined; a cluster takes any number",
			maxClasses)
	}
	if err := ranktable.CheckShape(rank, n); err != nil {
		return nil, err
	}
	unit := big.NewInt(1)
	for i, list := range [][]*big.Rat{rates, rank} {
		for k, x := range list {
			if k%setsBetween == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			path := func() string { return fmt.Sprintf([]string{"ArrivalRates[%d]", "Rank[%d]"}[i], k) }
			switch {
			case i == 1 && k == 0: // nil or 0
			case i == 1 && (x == nil || x.Sign() <= 0):
				return nil, ranktable.CheckSet(rank, k)
			case x == nil:
				return nil, input.Errorf(path(), "", "a number >= 0")
			case x.Sign() < 0:
				return nil, input.Errorf(path(), x.RatString(), "a number >= 0")
			case !x.IsInt():
				num.JoinDenominator(unit, x)
			}
			if int64(unit.BitLen()) > maxDenominatorBits>>n {
				return nil, input.Errorf(path(), x.RatString(), "numbers whose common denominator has at most %d bits",
					maxDenominatorBits>>n)
			}
		}
	}
	t := &table{n: n, rates: make([]*big.Int, n)}
	most := new(big.Int)
	for i, x := range rates {
		t.rates[i] = scaled(x, unit)
		most.Add(most, t.rates[i])
	}
	if most.BitLen() < 57 && unit.IsInt64() && t.fillSmall(rank, unit.Int64()) {
		t.half = n / 2
		t.low, t.high = subsetSums(t.rates[:t.half]), subsetSums(t.rates[t.half:])
		return t, nil
	}
	t.big = make([]*big.Int, len(rank))
	t.big[0] = new(big.Int)
	for a := 1; a < len(rank); a++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.big[a] = scaled(rank[a], unit)
	}
	return t, nil
}

// fillSmall sets small if all its entries are below 2^57, so they still fit after multiplication by
// 2·maxClasses < 2^6.
func (t *table) fillSmall(rank []*big.Rat, unit int64) bool {
	t.small = make([]int64, len(rank))
	for a := 1; a < len(rank); a++ {
		x, factor := rank[a], unit
		if !x.IsInt() {
			factor = unit / x.Denom().Int64()
		}
		if x.Num().IsInt64() {
			if hi, lo := bits.Mul64(uint64(x.Num().Int64()), uint64(factor)); hi == 0 && lo < 1<<57 {
				t.small[a] = int64(lo)
				continue
			}
		}
		t.small = nil
		return false
	}
	return true
}

// subsetSums returns the sums over all subsets, by mask.
func subsetSums(x []*big.Int) []int64 {
	sums := make([]int64, 1<<len(x))
	for a := 1; a < len(sums); a++ {
		sums[a] = sums[a&(a-1)] + x[bits.TrailingZeros(uint(a))].Int64()
	}
	return sums
}

func (t *table) scanSmall(ctx context.Context, f *findings) error {
	margin, mu, lambda := int64(math.MaxInt64), uint64(1), uint64(0) // values of the best set so far
	least := make([]int64, t.n)                                      // h of etas
	count := make([]int64, t.n)                                      // |A| of etas, 0 before the first
	mask := 1<<t.half - 1
	for a := 1; a < len(t.small); a++ {
		if a%setsBetween == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		v := t.small[a]
		l := t.low[a&mask] + t.high[a>>t.half]
		h, size := v-l, int64(bits.OnesCount(uint(a)))
		for rest := uint(a); rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros(rest)
			if t.small[a&^(1<<i)] > v {
				f.bad = a
				return nil
			}
			if count[i] == 0 || h*count[i] < least[i]*size {
				least[i], count[i], f.etas[i] = h, size, a
			}
		}
		if h < margin || h == margin && smaller(a, f.margin) {
			margin, f.margin = h, a
		}
		if l > 0 {
			hi, lo := bits.Mul64(uint64(v), lambda)
			hi2, lo2 := bits.Mul64(mu, uint64(l))
			if hi < hi2 || hi == hi2 && (lo < lo2 || lo == lo2 && smaller(a, f.scale)) {
				mu, lambda, f.scale = uint64(v), uint64(l), a
			}
		}
	}
	return nil
}

// scanBig is scanSmall for numbers of any length.
func (t *table) scanBig(ctx context.Context, f *findings) error {
	sums := make([]*big.Int, len(t.big))
	sums[0] = new(big.Int)
	h := make([]*big.Int, len(t.big))
	x, y := new(big.Int), new(big.Int)
	times := func(z, v *big.Int, a int) *big.Int { return z.Mul(v, big.NewInt(int64(bits.OnesCount(uint(a))))) }
	for a := 1; a < len(t.big); a++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		sums[a] = new(big.Int).Add(sums[a&(a-1)], t.rates[bits.TrailingZeros(uint(a))])
		h[a] = new(big.Int).Sub(t.big[a], sums[a])
		for _, i := range ranktable.Members(a) {
			if t.big[a&^(1<<i)].Cmp(t.big[a]) > 0 {
				f.bad = a
				return nil
			}
			if b := f.etas[i]; b == 0 || times(x, h[a], b).Cmp(times(y, h[b], a)) < 0 {
				f.etas[i] = a
			}
		}
		if b := f.margin; b == 0 || h[a].Cmp(h[b]) < 0 || h[a].Cmp(h[b]) == 0 && smaller(a, b) {
			f.margin = a
		}
		if sums[a].Sign() > 0 {
			b := f.scale
			if b == 0 {
				f.scale = a
				continue
			}
			if c := x.Mul(t.big[a], sums[b]).Cmp(y.Mul(t.big[b], sums[a])); c < 0 || c == 0 && smaller(a, b) {
				f.scale = a
			}
		}
	}
	return nil
}
