package num

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"pgregory.net/rapid"
)

// drawFloat draws a number of 1 to 200 bits with an exponent from minExp to maxExp.
func drawFloat(t *rapid.T, name string, minExp, maxExp int) *big.Float {
	words := rapid.SliceOfN(rapid.Uint64(), 1, 3).Draw(t, name+" mantissa")
	m := new(big.Int)
	for _, w := range words {
		m.Lsh(m, 64).Or(m, new(big.Int).SetUint64(w))
	}
	m.SetBit(m, m.BitLen(), 1)
	x := new(big.Float).SetInt(m)
	x.SetMantExp(x, -m.BitLen()) // separately, since an int may have 32 bits
	x.SetMantExp(x, rapid.IntRange(minExp, maxExp).Draw(t, name+" exponent"))
	return x
}

// drawSigned is drawFloat with a sign.
func drawSigned(t *rapid.T, name string, minExp, maxExp int) *big.Float {
	x := drawFloat(t, name, minExp, maxExp)
	if rapid.Bool().Draw(t, name+" negative") {
		x.Neg(x)
	}
	return x
}

// drawNearOne draws 1 ± 2^-j for j up to 300, times a few bits.
func drawNearOne(t *rapid.T) *big.Float {
	z := drawSigned(t, "x-1", -300, -1)
	return new(big.Float).SetPrec(600).Add(z, big.NewFloat(1))
}

func drawPrec(t *rapid.T) uint {
	return rapid.SampledFrom([]uint{1, 2, 53, 64, 100, 333, 1000, 3000}).Draw(t, "prec")
}

// tight checks that the relative width is at most 2^(1-prec), in rationals.
func tight(t *rapid.T, e Interval, prec uint) {
	t.Helper()
	width := new(big.Float).SetPrec(2*prec+300).Sub(e.High, e.Low) // exact, since both are within a factor of 3
	smaller := new(big.Float).Abs(e.Low)
	if high := new(big.Float).Abs(e.High); high.Cmp(smaller) < 0 {
		smaller = high
	}
	if width.Sign() < 0 || width.Cmp(smaller.SetMantExp(smaller, 1-int(prec))) > 0 {
		t.Fatalf("[%g, %g] is wider than 2^(1-%d)", e.Low, e.High, prec)
	}
}

// toDecimal converts exactly: m 2^-k = m 5^k 10^-k.
func toDecimal(x *big.Float) *apd.Decimal {
	k := max(0, int(x.MinPrec())-x.MantExp(nil))
	m, _ := new(big.Float).SetMantExp(x, k).Int(nil)
	m.Mul(m, new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(k)), nil))
	d, _, err := apd.NewFromString(fmt.Sprintf("%se-%d", m, k))
	if err != nil {
		panic(err)
	}
	return d
}

// checkAgainst checks e against an answer of apd with a relative error of at most 10^-digits: e
// must meet the answer widened by that error, which is still far narrower than e.
func checkAgainst(t *rapid.T, e Interval, d *apd.Decimal, digits int) {
	t.Helper()
	answer, _, err := big.ParseFloat(d.Text('E'), 10, 8192, big.ToNearestEven) // d has far fewer bits
	if err != nil {
		t.Fatal(err)
	}
	slack, _, err := big.ParseFloat(fmt.Sprintf("1e-%d", digits), 10, 8192, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	slack.Mul(slack, answer).Abs(slack)
	low := new(big.Float).SetPrec(8192).Sub(answer, slack)
	high := new(big.Float).SetPrec(8192).Add(answer, slack)
	if e.High.Cmp(low) < 0 || e.Low.Cmp(high) > 0 {
		t.Fatalf("[%.40g, %.40g] does not meet %.60g", e.Low, e.High, answer)
	}
}

// againstAPD runs a property at 30, 100 and 300 digits. apd works with 20 more digits, 15 of which
// are trusted.
func againstAPD(t *testing.T, property func(t *rapid.T, prec uint, digits int, apd *apd.Context)) {
	for _, digits := range []int{30, 100, 300} {
		t.Run(fmt.Sprintf("digits=%d", digits), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				context := apd.BaseContext.WithPrecision(uint32(digits + 20))
				property(t, uint(math.Ceil(float64(digits)*math.Log2(10))), digits+15, context)
			})
		})
	}
}

func TestExpAgainstAPD(t *testing.T) {
	againstAPD(t, func(t *rapid.T, prec uint, digits int, context *apd.Context) {
		x := drawSigned(t, "x", -20, 13)
		e, err := ExpInterval(x, prec)
		if err != nil {
			t.Fatal(err)
		}
		tight(t, e, prec)
		want := new(apd.Decimal)
		size, _ := x.Float64()
		// apd rejects |x| > 23 times its precision
		context.Precision = max(context.Precision, uint32(math.Abs(size)/23)+2)
		if _, err := context.Exp(want, toDecimal(x)); err != nil {
			t.Fatal(err)
		}
		checkAgainst(t, e, want, digits)
	})
}

// exp(x) lies between two partial sums of its series in rationals, for either sign: for 0 < x <= 1
// the remainder after n terms is below 2x^n/n!, and exp(-x) = 1/exp(x).
func TestExpAgainstRationalSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prec := rapid.UintRange(1, 200).Draw(t, "prec")
		x := drawFloat(t, "x", -30, 0)
		r, _ := x.Rat(nil)
		const terms = 50                                 // 50! > 2^214
		sum, denominator := big.NewInt(1), big.NewInt(1) // by Horner's rule, without cancelling
		for n := int64(terms); n > 0; n-- {
			denominator.Mul(denominator, r.Denom()).Mul(denominator, big.NewInt(n))
			sum.Add(sum.Mul(sum, r.Num()), denominator)
		}
		low := new(big.Rat).SetFrac(sum, denominator)
		last := new(big.Int).Exp(r.Num(), big.NewInt(terms), nil)
		high := new(big.Rat).SetFrac(last.Lsh(last, 1), denominator)
		high.Add(high, low)
		if rapid.Bool().Draw(t, "negative") {
			x.Neg(x)
			low, high = high.Inv(high), low.Inv(low)
		}
		e, err := ExpInterval(x, prec)
		if err != nil {
			t.Fatal(err)
		}
		tight(t, e, prec)
		if a, _ := e.Low.Rat(nil); a.Cmp(low) > 0 {
			t.Fatalf("Low = %g is above exp(%g)", e.Low, x)
		}
		if b, _ := e.High.Rat(nil); b.Cmp(high) < 0 {
			t.Fatalf("High = %g is below exp(%g)", e.High, x)
		}
	})
}

// exp(a) exp(b) overlaps exp(a+b), far outside the range of doubles and of apd.
func TestExpSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prec := drawPrec(t)
		a, b := drawSigned(t, "a", -100, 29), drawSigned(t, "b", -100, 29)
		sum := new(big.Float).SetPrec(1000).Add(a, b)
		ea, err := ExpInterval(a, prec)
		if err != nil {
			t.Fatal(err)
		}
		eb, err := ExpInterval(b, prec)
		if err != nil {
			t.Fatal(err)
		}
		es, err := ExpInterval(sum, prec)
		if err != nil {
			t.Fatal(err)
		}
		tight(t, es, prec)
		low := new(big.Float).SetPrec(prec+8).SetMode(big.ToNegativeInf).Mul(ea.Low, eb.Low)
		high := new(big.Float).SetPrec(prec+8).SetMode(big.ToPositiveInf).Mul(ea.High, eb.High)
		if es.High.Cmp(low) < 0 || es.Low.Cmp(high) > 0 {
			t.Fatalf("exp(%g) exp(%g) does not meet exp(%g)", a, b, sum)
		}
	})
}

func TestLn2(t *testing.T) {
	// OEIS A002162
	const digits = "0.6931471805599453094172321214581765680755001343602552541206800094933936219696947156058633" +
		"269964186875420014810205706857336855202357581305570326707516350759619307275708283714351903" +
		"0703862389167347112335"
	want, _, err := big.ParseFloat(digits, 10, 1000, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	for w := uint(33); w <= 640; w++ { // 640 bits are 193 of the 200 digits
		exact := new(big.Float).SetMantExp(want, int(w))
		got := new(big.Float).SetPrec(1000).SetInt(ln2(w))
		if d, _ := got.Sub(got, exact).Float64(); math.Abs(d) >= 2 {
			t.Errorf("ln2(%d) is off by %v", w, d)
		}
	}
}

// expFixed is within two units for extreme arguments at every small precision.
func TestExpFixedError(t *testing.T) {
	for w := uint(33); w <= 400; w++ {
		for _, r := range []int64{-1 << 32, -1<<32 + 1, -3, -1, 0, 1, 2, 1<<32 - 1, 1 << 32} { // r / 2^33
			x := new(big.Int).Lsh(big.NewInt(r), w-33)
			coarse := expFixed(x, w)
			fine := expFixed(new(big.Int).Lsh(x, 100), w+100)
			d := new(big.Int).Sub(fine, coarse.Lsh(coarse, 100))
			if bound := new(big.Int).Lsh(big.NewInt(2), 100); d.CmpAbs(bound.Add(bound, big.NewInt(2))) > 0 {
				t.Errorf("w = %d, r = %d / 2^33: off by more than 2", w, r)
			}
		}
	}
}

func TestExpLimits(t *testing.T) {
	parse := func(s string) *big.Float {
		x, _, err := big.ParseFloat(s, 10, 100, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	// The largest exponent is 2^31 - 1, and (2^31 - 1) ln 2 = 1488522235.68...
	for _, s := range []string{"1488522234", "-1488522234", "1e-100000000", "-1e-100000000", "0"} {
		e, err := ExpInterval(parse(s), 100)
		if err != nil {
			t.Errorf("exp(%s): %v", s, err)
		} else if e.RelWidth() > 0x1p-99 {
			t.Errorf("exp(%s): relative width %v", s, e.RelWidth())
		}
	}
	// x/ln 2 = 2147483646.2, according to bc; exp(x) is in [1/2, 1) 2^want
	for s, want := range map[string]int{"1488522235": big.MaxExp, "-1488522235": big.MinExp + 2} {
		if e, err := ExpInterval(parse(s), 100); err != nil || e.Low.MantExp(nil) != want {
			t.Errorf("exp(%s) = [%g, %g], %v; want exponent %d", s, e.Low, e.High, err, want)
		}
	}
	for _, s := range []string{"1488522236", "-1488522237", "3e9", "-3e9", "1e100000000", "-1e100000000"} {
		if _, err := ExpInterval(parse(s), 100); !errors.Is(err, ErrRange) {
			t.Errorf("exp(%s): error %v, want ErrRange", s, err)
		}
	}
	if e, err := ExpInterval(new(big.Float), 0); err != nil || e.Low.Cmp(e.High) != 0 ||
		e.Low.Cmp(big.NewFloat(1)) != 0 {
		t.Errorf("exp(0) = %v, %v", e, err)
	}
}

func TestBadArguments(t *testing.T) {
	one, inf := big.NewFloat(1), new(big.Float).SetInf(false)
	for _, c := range []struct {
		run  func() error
		want string
	}{
		{func() error { _, err := ExpInterval(inf, 53); return err }, "x = +Inf: want a finite number"},
		{func() error { _, err := ExpInterval(one, math.MaxUint); return err }, "want at most 1073741824 bits"},
		{func() error { _, err := LogInterval(new(big.Float), 53); return err }, "x = 0: want a finite number > 0"},
		{func() error { _, err := LogInterval(big.NewFloat(-2), 53); return err }, "x = -2: want a finite number > 0"},
		{func() error { _, err := LogInterval(inf, 53); return err }, "x = +Inf: want a finite number > 0"},
		{func() error { _, err := LogInterval(one, math.MaxUint); return err }, "want at most 1073741824 bits"},
	} {
		if err := c.run(); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func FuzzExpLog(f *testing.F) {
	f.Add(int64(-709), 0, uint(53))
	f.Add(int64(1), -200, uint(300))
	f.Add(int64(math.MaxInt64), -40, uint(1))
	f.Fuzz(func(t *testing.T, m int64, exponent int, prec uint) {
		x := new(big.Float).SetInt64(m)
		x.SetMantExp(x, exponent%1000)
		prec = 1 + prec%1000
		e, err := ExpInterval(x, prec)
		if errors.Is(err, ErrRange) && x.MantExp(nil) > 30 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if w := e.RelWidth(); w > math.Ldexp(1, 1-int(prec)) {
			t.Fatalf("exp(%g) at %d bits has relative width %v", x, prec, w)
		}
		low, err := LogInterval(e.Low, prec)
		if err != nil {
			t.Fatal(err)
		}
		high, err := LogInterval(e.High, prec)
		if err != nil {
			t.Fatal(err)
		}
		if low.Low.Cmp(x) > 0 || high.High.Cmp(x) < 0 {
			t.Fatalf("log(exp(%g)) = [%g, %g] at %d bits", x, low.Low, high.High, prec)
		}
	})
}

func BenchmarkExp(b *testing.B) {
	x, _, _ := big.ParseFloat("-17.3", 10, 256, big.ToNearestEven)
	for _, prec := range []uint{64, 256, 1024, 4096} {
		b.Run(fmt.Sprintf("bits=%d", prec), func(b *testing.B) {
			for b.Loop() {
				if _, err := ExpInterval(x, prec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
