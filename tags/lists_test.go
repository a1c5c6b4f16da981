package tags

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
	"productform/sizes"
)

// A literalFarm is a farm whose sizes are a list, with all numbers as fractions. The tests below
// compare with it.
type literalFarm struct {
	sizes  []*big.Rat
	load   *big.Rat
	speeds []*big.Rat
}

func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sum(list []*big.Rat) *big.Rat {
	s := new(big.Rat)
	for _, x := range list {
		s.Add(s, x)
	}
	return s
}
func doubleOf(x *big.Rat) float64 { v, _ := x.Float64(); return v }

// rate returns λ.
func (f literalFarm) rate() *big.Rat {
	return quo(mul(mul(f.load, sum(f.speeds)), big.NewRat(int64(len(f.sizes)), 1)), sum(f.sizes))
}

// visits returns Σ min(x, b)^r/n over the sizes x > a; b is nil for no limit. Without kills, the
// sizes above b do not count.
func (f literalFarm) visits(r int, a, b *big.Rat, kills bool) *big.Rat {
	s := new(big.Rat)
	for _, x := range f.sizes {
		if x.Cmp(a) <= 0 {
			continue
		}
		if b != nil && x.Cmp(b) > 0 {
			if !kills {
				continue
			}
			x = b
		}
		p := big.NewRat(1, int64(len(f.sizes)))
		for range r {
			p.Mul(p, x)
		}
		s.Add(s, p)
	}
	return s
}

// loads returns the loads of the hosts.
func (f literalFarm) loads(cutoffs []*big.Rat, kills bool) []*big.Rat {
	var loads []*big.Rat
	for i, v := range f.speeds {
		a, b := f.hostCutoffs(cutoffs, i)
		loads = append(loads, quo(mul(f.rate(), f.visits(1, a, b, kills)), v))
	}
	return loads
}

func (f literalFarm) hostCutoffs(cutoffs []*big.Rat, i int) (a, b *big.Rat) {
	a = new(big.Rat)
	if i > 0 {
		a = cutoffs[i-1]
	}
	if i < len(cutoffs) {
		b = cutoffs[i]
	}
	return a, b
}

// means returns E[W], E[S] and the largest E[S_i], or false if a host is overloaded.
func (f literalFarm) means(cutoffs []*big.Rat) (waiting, slowdown, largest *big.Rat, ok bool) {
	one := big.NewRat(1, 1)
	waiting, slowdown, largest = new(big.Rat), new(big.Rat), new(big.Rat)
	waited := new(big.Rat)
	for i, load := range f.loads(cutoffs, true) {
		if load.Cmp(one) >= 0 {
			return nil, nil, nil, false
		}
		a, b := f.hostCutoffs(cutoffs, i)
		v := f.speeds[i]
		slack := new(big.Rat).Sub(one, load)
		wait := quo(mul(f.rate(), f.visits(2, a, b, true)), mul(mul(v, v), mul(big.NewRat(2, 1), slack)))
		waited = add(waited, wait)
		inverse, ended := new(big.Rat), 0
		for _, x := range f.sizes {
			if x.Cmp(a) <= 0 {
				continue
			}
			n := big.NewRat(1, int64(len(f.sizes)))
			waiting = add(waiting, mul(n, wait))
			slowdown = add(slowdown, mul(n, quo(wait, x)))
			if b == nil || x.Cmp(b) <= 0 {
				inverse, ended = add(inverse, quo(one, x)), ended+1
			}
		}
		if ended > 0 {
			if s := mul(waited, quo(inverse, big.NewRat(int64(ended), 1))); s.Cmp(largest) > 0 {
				largest = s
			}
		}
	}
	return waiting, slowdown, largest, true
}

// model returns the farm as a [tags.Model].
func (f literalFarm) model() Model {
	jobSizes := make([]float64, len(f.sizes))
	for i, x := range f.sizes {
		jobSizes[i] = doubleOf(x)
	}
	m := Model{Sizes: ok(sizes.NewEmpirical(jobSizes)), Hosts: len(f.speeds), Load: doubleOf(f.load),
		Fractions: &Fractions{Load: f.load, Speeds: f.speeds, Sizes: f.sizes}}
	for _, v := range f.speeds {
		m.Speeds = append(m.Speeds, doubleOf(v))
	}
	return m
}

// candidates returns 0, half of the smallest size, the sizes and the midpoints between them. If
// several sizes round to the same double, it returns only the largest.
func (f literalFarm) candidates() []*big.Rat {
	sorted := slices.Clone(f.sizes)
	slices.SortFunc(sorted, (*big.Rat).Cmp)
	list := []*big.Rat{new(big.Rat)}
	for _, x := range sorted {
		if last := len(list) - 1; doubleOf(x) == doubleOf(list[last]) {
			list[last] = x
		} else {
			list = append(list, mul(add(list[last], x), big.NewRat(1, 2)), x)
		}
	}
	return list
}

// eachCutoffs calls try with all nondecreasing cutoffs among the candidates.
func (f literalFarm) eachCutoffs(try func(cutoffs []*big.Rat)) {
	list := f.candidates()
	cutoffs := make([]*big.Rat, len(f.speeds)-1)
	var next func(j, from int)
	next = func(j, from int) {
		if j == len(cutoffs) {
			try(cutoffs)
			return
		}
		for k := from; k < len(list); k++ {
			cutoffs[j] = list[k]
			next(j+1, k)
		}
	}
	next(0, 0)
}

// drawLiteral returns a farm of two or three hosts. In half of the cases some cutoffs give a host a
// load of exactly 1, and in half of them two different sizes round to the same double.
func drawLiteral(t *rapid.T) literalFarm {
	var f literalFarm
	scale := rapid.SampledFrom([]int64{1, 10, 3}).Draw(t, "scale")
	for _, x := range rapid.SliceOfN(rapid.Int64Range(1, 30), 1, 5).Draw(t, "sizes") {
		f.sizes = append(f.sizes, big.NewRat(x, scale))
	}
	if rapid.Bool().Draw(t, "near sizes") {
		f.sizes = append(f.sizes, add(f.sizes[0], num.Rat("1e-30")))
	}
	hosts := rapid.IntRange(2, 3).Draw(t, "hosts")
	equal := rapid.Bool().Draw(t, "equal speeds")
	for range hosts {
		v := big.NewRat(1, 1)
		if !equal {
			v = num.Rat(rapid.SampledFrom([]string{"1", "1/2", "2", "0.1", "3", "1/3", "0.7"}).Draw(t, "speed"))
		}
		f.speeds = append(f.speeds, v)
	}
	f.load = big.NewRat(rapid.Int64Range(1, 99).Draw(t, "load"), 100)
	if rapid.Bool().Draw(t, "load of 1") {
		list := f.candidates()
		var at []int
		for range hosts - 1 {
			at = append(at, rapid.IntRange(0, len(list)-1).Draw(t, "cutoff"))
		}
		slices.Sort(at)
		var cutoffs []*big.Rat
		for _, k := range at {
			cutoffs = append(cutoffs, list[k])
		}
		loads := f.loads(cutoffs, rapid.Bool().Draw(t, "kills"))
		if load := loads[rapid.IntRange(0, hosts-1).Draw(t, "host")]; load.Sign() > 0 {
			if one := quo(f.load, load); doubleOf(one) < 1 {
				f.load = one
			}
		}
	}
	return f
}

// A load of exactly 1 is distinguished from one just below or above: for all cutoffs, the verdict
// and the means of Analyze match the sums over the list in fractions, up to about twenty rounding
// errors.
func TestAnalyzeListsInFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawLiteral(t)
		m := f.model()
		f.eachCutoffs(func(cutoffs []*big.Rat) {
			m.Fractions.Cutoffs = cutoffs
			var rounded []float64
			for _, x := range cutoffs {
				rounded = append(rounded, doubleOf(x))
			}
			got, err := Evaluate(context.Background(), m, PolicyTAGS, rounded)
			waiting, slowdown, _, below := f.means(cutoffs)
			var unstable *UnstableError
			if below != (err == nil) || err != nil && !(errors.As(err, &unstable) && !unstable.Undecided) {
				t.Fatalf("cutoffs %v: error %v, every host below load 1: %v", rounded, err, below)
			}
			if below && !(isWithinTol(got.MeanWaiting.Float, doubleOf(waiting), 1e-10) &&
				isWithinTol(got.MeanSlowdown.Float, doubleOf(slowdown), 1e-10)) {
				t.Fatalf("cutoffs %v: %v and %v, want %v and %v",
					rounded, got.MeanWaiting.Float, got.MeanSlowdown.Float, doubleOf(waiting), doubleOf(slowdown))
			}
		})
	})
}

// No cutoffs are better than those found, and if all cutoffs overload a host, none are found. Brute
// force tries the sizes, 0, and points between.
func TestListsByBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawLiteral(t)
		var best [3]*big.Rat // best waiting time, slowdown and largest slowdown of a host
		f.eachCutoffs(func(cutoffs []*big.Rat) {
			waiting, slowdown, largest, below := f.means(cutoffs)
			if !below {
				return
			}
			for i, v := range []*big.Rat{waiting, slowdown, largest} {
				if best[i] == nil || v.Cmp(best[i]) < 0 {
					best[i] = v
				}
			}
		})
		m := f.model()
		for i, optimize := range []func() (Result, error){
			func() (Result, error) { return Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1}) },
			func() (Result, error) { return Optimize(context.Background(), m, PolicyTAGS, Objective{Slowdown: 1}) },
			func() (Result, error) { return Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true}) },
		} {
			got, err := optimize()
			switch {
			case best[i] == nil:
				if !errors.Is(err, ErrInfeasible) {
					t.Fatalf("problem %d: error %v, but no cutoffs keep every host below load 1", i, err)
				}
			case err != nil:
				t.Fatalf("problem %d: error %v, by brute force %v", i, err, doubleOf(best[i]))
			case !isWithinTol(got.Objective.Float, doubleOf(best[i]), 1e-9): // the search ends within 5e-11
				t.Fatalf("problem %d: %v with cutoffs %v, by brute force %v",
					i, got.Objective.Float, got.Cutoffs, doubleOf(best[i]))
			}
		}
	})
}

// The largest load is the one at which the best cutoffs give a host load 1 in fractions, up to the
// last two digits.
func TestMaxLoadOfLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawLiteral(t)
		want := new(big.Rat)
		f.eachCutoffs(func(cutoffs []*big.Rat) {
			largest := slices.MaxFunc(f.loads(cutoffs, true), (*big.Rat).Cmp)
			if most := quo(f.load, largest); most.Cmp(want) > 0 {
				want = most
			}
		})
		got := ok(MaxLoad(context.Background(), f.model()))
		if !(math.Abs(got-min(1, doubleOf(want))) <= 0x1p-53) {
			t.Fatalf("largest load %v, want %v", got, doubleOf(want))
		}
	})
}

// The same holds for assignment by size.
func TestSITAListsInFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawLiteral(t)
		m := f.model()
		feasible := false
		f.eachCutoffs(func(cutoffs []*big.Rat) {
			m.Fractions.Cutoffs = cutoffs
			var rounded []float64
			for _, x := range cutoffs {
				rounded = append(rounded, doubleOf(x))
			}
			below := slices.MaxFunc(f.loads(cutoffs, false), (*big.Rat).Cmp).Cmp(big.NewRat(1, 1)) < 0
			feasible = feasible || below
			if _, err := Evaluate(context.Background(), m, PolicySITA, rounded); below != (err == nil) {
				t.Fatalf("cutoffs %v: error %v, every host below load 1: %v", rounded, err, below)
			}
		})
		if _, err := Optimize(context.Background(), m, PolicySITA, Objective{Waiting: 1}); feasible != (err == nil) {
			t.Fatalf("error %v, but some cutoffs keep every host below load 1: %v", err, feasible)
		}
	})
}

// Sizes 2 and 5 at load 0.7: cutoff 2 gives host 2 a load of (2/5)(1/2)(5) = 1, and no other cutoff
// is better. The double next to 0.7 is below it.
func TestLoadOfExactlyOne(t *testing.T) {
	m := Model{
		Sizes:     ok(sizes.NewEmpirical([]float64{2, 5})),
		Hosts:     2,
		Load:      0.7,
		Fractions: &Fractions{Load: big.NewRat(7, 10)},
	}
	if _, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1}); !errors.Is(err, ErrInfeasible) {
		t.Errorf("load 7/10: error %v", err)
	}
	m.Fractions = nil
	got := ok(Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1}))
	// With the double ρ, the slack of host 2 is 1 - ρ 10/7.
	slack, _ := new(big.Rat).Sub(big.NewRat(1, 1), mul(new(big.Rat).SetFloat64(0.7), big.NewRat(10, 7))).Float64()
	if got.Hosts[1].Slack.Float != slack {
		t.Errorf("the double next to it: slack %v, want %v", got.Hosts[1].Slack.Float, slack)
	}
}

// Fractions that differ from their float64 values are rejected by name.
func TestFractionErrors(t *testing.T) {
	third := big.NewRat(1, 3)
	for want, spoil := range map[string]func(m *Model){
		"Fractions.Load":   func(m *Model) { m.Fractions.Load = big.NewRat(2, 3) },
		"Fractions.Speeds": func(m *Model) { m.Fractions.Speeds = []*big.Rat{third} },
		"Fractions.Speeds[1]": func(m *Model) {
			m.Fractions.Speeds = []*big.Rat{
				big.NewRat(1, 1), nil, big.NewRat(1, 1),
			}
		},
		"Fractions.Sizes":      func(m *Model) { m.Fractions.Sizes = m.Fractions.Sizes[:1] },
		"Fractions.Sizes[1]":   func(m *Model) { m.Fractions.Sizes[1] = third },
		"Fractions.Cutoffs":    func(m *Model) { m.Fractions.Cutoffs = []*big.Rat{third} },
		"Fractions.Cutoffs[0]": func(m *Model) { m.Fractions.Cutoffs = []*big.Rat{num.Rat("1e-400"), third} },
		"Fractions.Cutoffs[1]": func(m *Model) {
			m.Fractions.Cutoffs = []*big.Rat{
				third, num.Rat("0.33333333333333332"),
			}
		},
	} {
		m := Model{
			Sizes:     ok(sizes.NewEmpirical([]float64{1.0 / 3, 2})),
			Hosts:     3,
			Load:      0.25,
			Speeds:    []float64{1, 1, 1},
			Fractions: &Fractions{Load: big.NewRat(1, 4), Sizes: []*big.Rat{third, big.NewRat(2, 1)}},
		}
		cutoffs := []float64{1.0 / 3, 1.0 / 3}
		if want == "Fractions.Cutoffs[0]" {
			cutoffs[0] = 0
		}
		if _, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs); err != nil {
			t.Fatal(err)
		}
		spoil(&m)
		_, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs)
		var bad *num.InputError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

// A list of 10^5 sizes that are not doubles takes a few tenths of a second.
func BenchmarkAnalyzeDecimals(b *testing.B) {
	var exact []*big.Rat
	var jobSizes []float64
	for i := range 100_000 {
		exact = append(exact, big.NewRat(int64(10*i+1), 10))
		jobSizes = append(jobSizes, doubleOf(exact[i]))
	}
	m := Model{Sizes: ok(sizes.NewEmpirical(jobSizes)), Hosts: 2, Load: 0.4, Fractions: &Fractions{Sizes: exact}}
	for b.Loop() {
		if _, err := Evaluate(context.Background(), m, PolicyTAGS, []float64{1000}); err != nil {
			b.Fatal(err)
		}
	}
}
