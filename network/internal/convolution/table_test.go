package convolution_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/internal/oracle"
	"productform/network/internal/convolution"
	"productform/num"
)

func newFloat(l *convolution.Lattice, segment int, tilt []int) *convolution.Float {
	return convolution.NewFloat(context.Background(), l, segment, tilt)
}

func newEnclosed(l *convolution.Lattice, prec uint) *convolution.Enclosed {
	return convolution.NewEnclosed(context.Background(), l, prec)
}

func newExact(l *convolution.Lattice, scale []*big.Int) *convolution.Exact {
	return convolution.NewExact(context.Background(), l, scale)
}

// A station has the series Σ_n u^n / Π_{j <= n} rates[j], u = Σ_k demand[k] z_k, with the last rate
// for all further j.
type station struct {
	demand []*big.Rat
	rates  []*big.Rat
}

// ratio returns demand/rates[j].
func (s station) ratio(j int, like arithmetic.Number) []arithmetic.Number {
	var list []arithmetic.Number
	for _, d := range s.demand {
		list = append(list, like.Rational(new(big.Rat).Quo(d, s.rates[j])))
	}
	return list
}

// coefficient returns the coefficient of z^n by the multinomial formula.
func (s station) coefficient(n []int) *big.Rat {
	c := big.NewRat(1, 1)
	jobs := 0
	for k, m := range n {
		for i := range m {
			jobs++
			c.Mul(c, s.demand[k])
			c.Mul(c, big.NewRat(int64(jobs), int64(i+1)))
			c.Quo(c, s.rates[min(jobs, len(s.rates))-1])
		}
	}
	return c
}

// sumOverStates returns Σ over all ways to put n jobs at the stations of the product of their
// coefficients.
func sumOverStates(stations []station, n []int) *big.Rat {
	if len(stations) == 0 {
		for _, m := range n {
			if m > 0 {
				return new(big.Rat)
			}
		}
		return big.NewRat(1, 1)
	}
	sum := new(big.Rat)
	here := make([]int, len(n))
	var choose func(k int)
	choose = func(k int) {
		if k == len(n) {
			rest := make([]int, len(n))
			for i := range n {
				rest[i] = n[i] - here[i]
			}
			sum.Add(sum, new(big.Rat).Mul(stations[0].coefficient(here), sumOverStates(stations[1:], rest)))
			return
		}
		for here[k] = 0; here[k] <= n[k]; here[k]++ {
			choose(k + 1)
		}
	}
	choose(0)
	return sum
}

// apply multiplies t by the series of a station, using another table as scratch.
func apply[T convolution.Operand[T]](t, help T, s station, like arithmetic.Number) (T, T) {
	m := len(s.rates)
	ctx := context.Background()
	help.Divide(ctx, t, s.ratio(m-1, like))
	for j := m - 2; j >= 0; j-- {
		help.Horner(ctx, 1, t, s.ratio(j, like))
	}
	return help, t
}

func product[T convolution.Operand[T]](t T, stations []station, like arithmetic.Number) T {
	numbers := make([]arithmetic.Number, t.Lattice().States)
	for i := range numbers {
		numbers[i] = like.Zero()
	}
	numbers[0] = like.One()
	t.Set(numbers)
	help := t.New()
	for _, s := range stations {
		t, help = apply(t, help, s, like)
	}
	return t
}

func drawRat(t *rapid.T, label string) *big.Rat {
	r := big.NewRat(rapid.Int64Range(1, 50).Draw(t, label), rapid.Int64Range(1, 50).Draw(t, label+" over"))
	if e := rapid.SampledFrom([]int{0, 0, 0, 0, 20, 900, 5000}).Draw(t, label+" scale"); e > 0 {
		by := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(e)))
		if rapid.Bool().Draw(t, label+" small") {
			by.Inv(by)
		}
		r.Mul(r, by)
	}
	return r
}

func drawPopulations(t *rapid.T) []int {
	chains := rapid.IntRange(1, 3).Draw(t, "chains")
	return rapid.SliceOfN(rapid.IntRange(0, 5-chains), chains, chains).Draw(t, "populations")
}

func drawTilt(t *rapid.T, most []int) []int {
	return rapid.SliceOfN(rapid.IntRange(-3000, 3000), len(most), len(most)).Draw(t, "tilt")
}

func drawStations(t *rapid.T, chains, most int) []station {
	list := make([]station, rapid.IntRange(1, most).Draw(t, "stations"))
	for i := range list {
		for range chains {
			d := new(big.Rat)
			if rapid.IntRange(0, 4).Draw(t, "visits") > 0 {
				d = drawRat(t, "demand")
			}
			list[i].demand = append(list[i].demand, d)
		}
		for range rapid.IntRange(1, 4).Draw(t, "rates") {
			list[i].rates = append(list[i].rates, drawRat(t, "rate"))
		}
	}
	return list
}

// scales returns multiples of all denominators.
func scales(stations []station, chains int) []*big.Int {
	var list []*big.Int
	for k := range chains {
		scale := big.NewInt(1)
		for _, s := range stations {
			for j := range s.rates {
				scale.Mul(scale, s.ratio(j, arithmetic.Number{Exact: new(big.Rat)})[k].Exact.Denom())
			}
		}
		list = append(list, scale)
	}
	return list
}

// hold checks that a fraction is within the error bound on a float and inside an enclosure.
func hold(t interface {
	Helper()
	Fatalf(string, ...any)
}, what string, want *big.Rat, got arithmetic.Number, lostToo bool) {
	t.Helper()
	switch {
	case got.Exact != nil:
		if got.Exact.Cmp(want) != 0 {
			t.Fatalf("%s: %v, want %v", what, got.Exact, want)
		}
	case got.Interval.Low != nil:
		low, _ := got.Interval.Low.Rat(nil)
		high, _ := got.Interval.High.Rat(nil)
		if low.Cmp(want) > 0 || high.Cmp(want) < 0 {
			t.Fatalf("%s: %v not in %v", what, want, got.Interval)
		}
		if got.Width() > 1e-20 {
			t.Fatalf("%s: %v is %g wide", what, got.Interval, got.Width())
		}
	default:
		if math.IsInf(got.Bound, 1) && lostToo {
			return
		}
		if !(got.Bound < 1e-12) {
			t.Fatalf("%s: bound %v", what, got.Bound)
		}
		f := new(big.Float).SetMantExp(big.NewFloat(got.F), 512*got.Exp)
		off, _ := f.Rat(nil)
		off.Sub(off, want).Abs(off)
		if bound := new(big.Rat).SetFloat64(got.Bound); off.Cmp(bound.Mul(bound, want)) > 0 {
			t.Fatalf("%s: %v is off %v by more than %g", what, f, want.FloatString(20), got.Bound)
		}
	}
}

// All types of arithmetic match the sum over all states, even far beyond the range of float64, and
// segments of length 1 never lose their bound.
func TestProductsMatchSumsOverStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := drawPopulations(t)
		stations := drawStations(t, len(most), 3)
		l := convolution.NewLattice(most)
		exact := product(newExact(l, scales(stations, len(most))), stations, arithmetic.One(num.Exact, 0))
		enclosed := product(newEnclosed(l, 100), stations, arithmetic.One(num.Enclose, 100))
		float := arithmetic.One(num.Float, 0)
		alone := product(newFloat(l, 1, drawTilt(t, most)), stations, float)
		some := product(
			newFloat(l, rapid.IntRange(2, 5).Draw(t, "segment"), drawTilt(t, most)), stations, float,
		)
		for i := range l.States {
			want := sumOverStates(stations, l.Point(i))
			hold(t, "exact", want, exact.At(i), false)
			hold(t, "enclosed", want, enclosed.At(i), false)
			hold(t, "float", want, alone.At(i), false)
			hold(t, "float in segments", want, some.At(i), true)
		}
	})
}

// The convolution of two parts of a product is the whole product, Set and SetProducts give the same
// tables, and Add and Shift match their definitions.
func TestConvolved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := drawPopulations(t)
		stations := drawStations(t, len(most), 4)
		half := rapid.IntRange(0, len(stations)).Draw(t, "half")
		l := convolution.NewLattice(most)
		segment := rapid.IntRange(1, 5).Draw(t, "segment")
		var whole, part []*big.Rat
		for i := range l.States {
			whole = append(whole, sumOverStates(stations, l.Point(i)))
			part = append(part, sumOverStates(stations[:half], l.Point(i)))
		}
		testConvolved(
			t, newExact(l, scales(stations, len(most))), arithmetic.One(num.Exact, 0), stations, half, whole, part,
		)
		testConvolved(t, newEnclosed(l, 100), arithmetic.One(num.Enclose, 100), stations, half, whole, part)
		testConvolved(
			t, newFloat(l, segment, drawTilt(t, most)), arithmetic.One(num.Float, 0), stations, half, whole, part,
		)
	})
}

// testConvolved compares with the sums over states of all stations and of the first half, by index.
func testConvolved[T convolution.Operand[T]](
	t *rapid.T, zeros T, like arithmetic.Number, stations []station, half int, whole, part []*big.Rat,
) {
	a, b := product(zeros.New(), stations[:half], like), product(zeros.New(), stations[half:], like)
	l := zeros.Lattice()
	sum := a.New()
	sum.Copy(a)
	sum.Add(3, a)
	shifted := a.New()
	shifted.Copy(a)
	d := stations[0].ratio(0, like)
	shifted.Shift(context.Background(), d)
	convolved := a.New()
	if err := convolution.Convolve(context.Background(), convolved, a, b); err != nil {
		t.Fatal(err)
	}
	for i := range l.States {
		n := l.Point(i)
		hold(t, "convolved", whole[i], a.Convolved(b, i), true)
		hold(t, "convolved", whole[i], convolved.At(i), true)
		hold(t, "four times", new(big.Rat).Mul(part[i], big.NewRat(4, 1)), sum.At(i), true)
		want := new(big.Rat)
		for k := range n {
			if n[k] > 0 {
				n[k]--
				x := new(big.Rat).Quo(stations[0].demand[k], stations[0].rates[0])
				want.Add(want, x.Mul(x, part[l.Number(n)]))
				n[k]++
			}
		}
		hold(t, "shifted", want, shifted.At(i), true)
	}
}

// SetProducts matches products of factors per chain, such as powers over factorials.
func TestSetProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 3).Draw(t, "populations")
		l := convolution.NewLattice(most)
		var exact [][]*big.Rat
		for _, m := range most {
			var list []*big.Rat
			for range m + 1 {
				list = append(list, drawRat(t, "factor"))
			}
			exact = append(exact, list)
		}
		factors := func(like arithmetic.Number) [][]arithmetic.Number {
			all := make([][]arithmetic.Number, len(exact))
			for k, list := range exact {
				for _, x := range list {
					all[k] = append(all[k], like.Rational(x))
				}
			}
			return all
		}
		scale := make([]*big.Int, len(most))
		for k := range scale {
			scale[k] = big.NewInt(int64(1 + k))
		}
		f, a, e, x := newFloat(l, 4, drawTilt(t, most)), newFloat(l, 1, drawTilt(t, most)),
			newEnclosed(l, 100), newExact(l, scale)
		f.SetProducts(factors(arithmetic.One(num.Float, 0)))
		a.SetProducts(factors(arithmetic.One(num.Float, 0)))
		e.SetProducts(factors(arithmetic.One(num.Enclose, 100)))
		x.SetProducts(factors(arithmetic.One(num.Exact, 0)))
		for i := range l.States {
			want := big.NewRat(1, 1)
			for k, n := range l.Point(i) {
				want.Mul(want, exact[k][n])
			}
			hold(t, "float", want, f.At(i), true)
			hold(t, "float alone", want, a.At(i), false)
			hold(t, "enclosed", want, e.At(i), false)
			hold(t, "exact", want, x.At(i), false)
		}
	})
}

// The bound for a long row is that of a single path, and it holds for numbers that span a factor of
// e^50000, far beyond float64.
func TestLongRow(t *testing.T) {
	const jobs = 3000
	stations := []station{
		{demand: []*big.Rat{big.NewRat(1, 3)}, rates: []*big.Rat{big.NewRat(1, 1), big.NewRat(2, 1), big.NewRat(3, 1)}},
		{demand: []*big.Rat{big.NewRat(1000003, 7)}, rates: []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 1)}},
		{demand: []*big.Rat{big.NewRat(1, 1000000)}, rates: []*big.Rat{big.NewRat(1, 1)}},
	}
	l := convolution.NewLattice([]int{jobs})
	float := product(newFloat(l, 16, []int{8}), stations, arithmetic.One(num.Float, 0)).At(l.States - 1)
	enclosed := product(newEnclosed(l, 200), stations, arithmetic.One(num.Enclose, 200)).At(l.States - 1)
	if !(float.Bound < 2e-12) {
		t.Fatalf("bound %g", float.Bound)
	}
	f := new(big.Float).SetMantExp(big.NewFloat(float.F), 512*float.Exp)
	off := new(big.Float).SetPrec(100).Sub(f, enclosed.Interval.Low)
	off.Quo(off, enclosed.Interval.Low)
	if e, _ := off.Float64(); !(math.Abs(e) <= float.Bound) || enclosed.Width() > 1e-50 {
		t.Errorf("off by %g, bound %g; enclosed to %g", e, float.Bound, enclosed.Width())
	}
}

func TestSweepsReturnAfterCancellation(t *testing.T) {
	l := convolution.NewLattice([]int{300, 300})
	like := arithmetic.One(num.Float, 0)
	err := oracle.CheckEnds(func(ctx context.Context) error {
		f := newFloat(l, 64, make([]int, 2))
		f.SetProducts([][]arithmetic.Number{make([]arithmetic.Number, 301), make([]arithmetic.Number, 301)})
		if err := f.Divide(ctx, f, []arithmetic.Number{like, like}); err != nil {
			return err
		}
		return f.Horner(ctx, 1, f.New(), []arithmetic.Number{like, like})
	}, 10, 1)
	if err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e := newEnclosed(l, 64)
	interval := arithmetic.One(num.Enclose, 64)
	if err := e.Divide(ctx, e, []arithmetic.Number{interval, interval}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Tables check their context in every loop over their numbers, in all arithmetics.
func TestTablesCheckContext(t *testing.T) {
	l := convolution.NewLattice([]int{299, 299})
	ctx := oracle.NewCountdown(1 << 30)
	testContext(t, ctx, convolution.NewFloat(ctx, l, 64, make([]int, 2)), arithmetic.One(num.Float, 0))
	testContext(t, ctx, convolution.NewEnclosed(ctx, l, 64), arithmetic.One(num.Enclose, 64))
	scale := []*big.Int{big.NewInt(1), big.NewInt(1)}
	testContext(t, ctx, convolution.NewExact(ctx, l, scale), arithmetic.One(num.Exact, 0))
}

func testContext[T convolution.Operand[T]](t *testing.T, ctx *oracle.Countdown, table T, one arithmetic.Number) {
	t.Helper()
	states := table.Lattice().States
	all, ones := slices.Repeat([]arithmetic.Number{one}, states), slices.Repeat([]arithmetic.Number{one}, 300)
	other := table.New()
	other.SetProducts([][]arithmetic.Number{ones, ones})
	for name, do := range map[string]func(){
		"Copy":        func() { table.Copy(other) },
		"SetProducts": func() { table.SetProducts([][]arithmetic.Number{ones, ones}) },
		"Set":         func() { table.Set(all) },
		"Add":         func() { table.Add(2, other) },
		"Convolved":   func() { table.Convolved(other, states-1) },
	} {
		asked := ctx.Asked()
		if do(); ctx.Asked() == asked {
			t.Errorf("%T: %s of %d numbers does not check its context", table, name, states)
		}
	}
}

// Small numbers in segments with large numbers are convolved correctly: their products are as small
// as 2^-780.
func TestConvolvedSmall(t *testing.T) {
	for exponent := -600; exponent <= 600; exponent += 40 {
		l := convolution.NewLattice([]int{2})
		f := newFloat(l, 3, []int{0})
		one := arithmetic.One(num.Float, 0)
		power := func(e int) *big.Rat {
			x := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e))))
			if e < 0 {
				x.Inv(x)
			}
			return x
		}
		x, y := power(exponent), power(exponent-390)
		f.Set([]arithmetic.Number{one.Rational(y), one.Rational(x), one.Rational(y)})
		got := f.Convolved(f, 0)
		want := new(big.Rat).Mul(y, y)
		hold(t, "square", want, got, false)
	}
}

// The memory that sweeps allocate does not grow with the table.
func TestSweepsDoNotAllocate(t *testing.T) {
	like := arithmetic.One(num.Float, 0)
	l := convolution.NewLattice([]int{30, 30, 30})
	f := newFloat(l, 64, make([]int, 3))
	g := f.New()
	ones := make([]arithmetic.Number, 31)
	for i := range ones {
		ones[i] = like
	}
	f.SetProducts([][]arithmetic.Number{ones, ones, ones})
	if n := testing.AllocsPerRun(3, func() {
		g.Divide(context.Background(), f, []arithmetic.Number{like, like, like})
		g.Horner(context.Background(), 2, f, []arithmetic.Number{like, like, like})
	}); n > 20 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDivide(b *testing.B) {
	for _, c := range []struct {
		name    string
		most    []int
		segment int
	}{
		{"populations=100000", []int{100000}, 64},
		{"populations=100000/segment=1", []int{100000}, 1},
		{"populations=30x30x30", []int{30, 30, 30}, 64},
		{"populations=50x50x50x50", []int{50, 50, 50, 50}, 64},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := convolution.NewLattice(c.most)
			f, g := newFloat(l, c.segment, make([]int, len(c.most))),
				newFloat(l, c.segment, make([]int, len(c.most)))
			like := arithmetic.One(num.Float, 0)
			factors := make([][]arithmetic.Number, len(c.most))
			var d []arithmetic.Number
			for k, m := range c.most {
				for range m + 1 {
					factors[k] = append(factors[k], like)
				}
				d = append(d, like.Rational(big.NewRat(1, int64(len(c.most)+1))))
			}
			f.SetProducts(factors)
			b.Run("divide", func(b *testing.B) {
				for b.Loop() {
					g.Divide(context.Background(), f, d)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(l.States), "ns/point")
			})
			b.Run("horner", func(b *testing.B) {
				for b.Loop() {
					g.Horner(context.Background(), 1, f, d)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(l.States), "ns/point")
			})
		})
	}
}
