package oiqueue

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// Exact answers of an independent program.
func TestReference(t *testing.T) {
	for _, c := range oracle.References() {
		q := must(FromCluster(t.Context(), c.Model))(t)
		exact, err := Stationary(t.Context(), q, exactly)
		float, errFloat := Stationary(t.Context(), q, Settings{})
		if !c.Expect.Stable {
			for _, err := range []error{err, errFloat} {
				var u *cluster.UnstableError
				if !errors.As(err, &u) || !errors.Is(err, num.ErrUnstable) {
					t.Fatalf("%s: error %v, want an UnstableError", c.Name, err)
				}
				lambda := new(big.Rat)
				for _, i := range u.Classes {
					lambda.Add(lambda, q.ArrivalRates[i])
				}
				if lambda.Cmp(u.ArrivalRate) != 0 || oracle.Rank(c.Model, u.Classes).Cmp(u.Capacity) != 0 ||
					lambda.Cmp(u.Capacity) < 0 {
					t.Errorf("%s: %v is no witness", c.Name, err)
				}
			}
			continue
		}
		if err != nil || errFloat != nil {
			t.Fatalf("%s: %v, %v", c.Name, err, errFloat)
		}
		if want := c.Expect.Normalization; exact.Normalization.Exact.Cmp(want) != 0 {
			t.Errorf("%s: Normalization = %v, want %v", c.Name, exact.Normalization, want)
		}
		if want := c.Expect.MeanJobs; !oracle.Equal(oracle.Fractions(exact.MeanJobs), want) {
			t.Errorf("%s: MeanJobs = %v, want %v", c.Name, exact.MeanJobs, want)
		}
		checkBound(t, c.Name, float, exact)
		if float.RelativeErrorBound > 1e-12 { // 9 classes need about 300 roundings
			t.Errorf("%s: bound %v", c.Name, float.RelativeErrorBound)
		}
	}
}

// An arbitrary rank function, rarely that of a graph, against the recursion at its most literal.
func TestRankAgainstActiveSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawStable(t, drawRank(t, rapid.IntRange(1, 4).Draw(t, "classes")))
		got := must(Stationary(t.Context(), q, exactly))(t)
		g, jobs := oracle.ActiveSets(q.ArrivalRates, q.Rank)
		z := oracle.Sum(g)
		for a := range g { // the probability that the classes of A are active, and no other
			if p := new(big.Rat).Quo(g[a], z); got.Active[a].Exact.Cmp(p) != 0 {
				t.Errorf("P(active = %b) = %v, want %v", a, got.Active[a], p)
			}
		}
		if got.Normalization.Exact.Cmp(z) != 0 || got.EmptyProbability.Exact.Cmp(z.Inv(z)) != 0 ||
			!oracle.Equal(oracle.Fractions(got.MeanJobs), jobs) {
			t.Errorf("got %+v, want P(empty) = %v, E[X] = %v", got, z, jobs)
		}
	})
}

// checkBound checks the proved bound on a float result, in exact arithmetic.
func checkBound(t interface {
	Errorf(string, ...any)
	Helper()
}, name string, got, want *Result) {
	t.Helper()
	bound := new(big.Rat).SetFloat64(got.RelativeErrorBound)
	check := func(what string, v, exact num.Value) {
		off, r := new(big.Rat).SetFloat64(v.Float), exact.Exact
		if off.Sub(off, r).Abs(off).Cmp(new(big.Rat).Mul(bound, r)) > 0 {
			t.Errorf("%s: %s = %v, exactly %v: not within %v", name, what, v.Float, r.FloatString(25),
				got.RelativeErrorBound)
		}
		if v.Exact != nil || v.Low != nil || exact.Low != nil {
			t.Errorf("%s: %s = %+v and %+v", name, what, v, exact)
		}
	}
	check("Normalization", got.Normalization, want.Normalization)
	check("EmptyProbability", got.EmptyProbability, want.EmptyProbability)
	for a, p := range want.Active {
		check(fmt.Sprintf("Active[%d]", a), got.Active[a], p)
	}
	for i, m := range want.MeanJobs {
		check(fmt.Sprintf("MeanJobs[%d]", i), got.MeanJobs[i], m)
	}
	if got.States != want.States || got.Slack.Cmp(want.Slack) != 0 || want.RelativeErrorBound != 0 ||
		got.Engine != num.Float || want.Engine != num.Exact {
		t.Errorf("%s: %+v and %+v", name, got, want)
	}
}

// The proved bound holds however near the boundary.
func TestFloatWithinBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "classes")
		q := drawQueue(t, n)
		if rapid.Bool().Draw(t, "a class that never comes") {
			q.ArrivalRates[0] = new(big.Rat)
		}
		if oracle.Sum(q.ArrivalRates).Sign() > 0 {
			away := new(big.Rat).SetFrac64(1, int64(math.Pow10(rapid.IntRange(1, 15).Draw(t, "digits"))))
			q = scaleToLoad(t, q, away.Sub(rat(1, 1), away))
		}
		checkBound(
			t, "random", must(Stationary(t.Context(), q, Settings{}))(t), must(Stationary(t.Context(), q, exactly))(t),
		)
	})
}

func drawStable(t *rapid.T, q *Queue) *Queue {
	return scaleToLoad(t, q, rat(int64(rapid.IntRange(1, 99).Draw(t, "load in percent")), 100))
}

// Truncated sums enclose the exact measures, more and more tightly.
func TestTruncatedEncloses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		q := drawQueue(t, n)
		least := must(totalRate(q, append([]int{1}, make([]int, n-1)...)))(t)
		for i := range n {
			e := make([]int, n)
			e[i] = 1
			if mu := must(totalRate(q, e))(t); mu.Cmp(least) < 0 {
				least = mu
			}
		}
		// Total load below half of the smallest rate: the ratio is at most 1/2.
		factor := new(big.Rat).Quo(least, oracle.Sum(q.ArrivalRates))
		factor.Mul(factor, rat(int64(rapid.IntRange(1, 49).Draw(t, "load in percent")), 100))
		for i, l := range q.ArrivalRates {
			q.ArrivalRates[i] = new(big.Rat).Mul(l, factor)
		}
		exact := must(Stationary(t.Context(), q, exactly))(t)
		width := 0.0
		for _, jobs := range []int{0, 3, 10} {
			got := must(Truncated(t.Context(), q, jobs))(t)
			if !oracle.Holds(got.Normalization, exact.Normalization.Exact) ||
				!oracle.Holds(got.EmptyProbability, exact.EmptyProbability.Exact) {
				t.Errorf("%d jobs: Z = %v outside %v", jobs, exact.Normalization, got.Normalization)
			}
			for i, m := range got.MeanJobs {
				if !oracle.Holds(m, exact.MeanJobs[i].Exact) {
					t.Errorf("%d jobs: E[X_%d] = %v outside %v", jobs, i, exact.MeanJobs[i], m)
				}
			}
			w, _ := new(big.Float).Sub(got.Normalization.High, got.Normalization.Low).Float64()
			if width > 0 && w > width/7 { // three more jobs, ratio <= 1/2
				t.Errorf("width %v after %v", w, width)
			}
			width = w
		}
	})
}

// μ(x) = Σ x_i is the M/M/∞ queue: Z = e^Λ and X_i is Poisson with mean λ_i.
func TestInfiniteServer(t *testing.T) {
	q := &Queue{
		ArrivalRates: rats(t, "1/2", "3/2"),
		TotalRate:    func(x []int) *big.Rat { return rat(int64(x[0]+x[1]), 1) },
	}
	got := must(Truncated(t.Context(), q, 40))(t)
	for what, c := range map[string]struct {
		interval num.Value
		want     float64
	}{"Z": {got.Normalization, math.E * math.E}, "E[X_0]": {got.MeanJobs[0], 0.5}, "E[X_1]": {got.MeanJobs[1], 1.5}} {
		low, high := c.interval.Bounds()
		if math.Abs(low-c.want) > 1e-14 || math.Abs(high-c.want) > 1e-14 { // 2^41/41! < 1e-37; math.E*math.E rounds
			t.Errorf("%s in [%v, %v], want %v", what, low, high, c.want)
		}
	}
	if _, err := Stationary(t.Context(), q, exactly); !errors.Is(err, ErrUnbounded) {
		t.Errorf("Stationary: %v, want ErrUnbounded", err)
	}
	if _, err := Truncated(t.Context(), q, 1); err == nil || err.Error() != "jobs = 1: want more: jobs arrive at "+
		"rate 2, and a state of 2 jobs is served at rate 2, where the bound needs a higher one" {
		t.Errorf("%v", err)
	}
	for _, jobs := range []int{2000, math.MaxInt} { // C(2003, 2) = 2005003 states
		if _, err := Truncated(t.Context(), q, jobs); !isTooLarge(err) {
			t.Errorf("%d jobs: error %v, want a TooLargeError", jobs, err)
		}
	}
}

// One server shared by all classes is the multiclass M/M/1 queue: Z = 1/(1-ρ), E[X_i] = ρ_i/(1-ρ).
func TestSharedServerMatchesMM1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "classes")
		compatible := make([][]int, n)
		for i := range compatible {
			compatible[i] = []int{0}
		}
		mu := drawRat(t, "capacity", 1)
		q := drawStable(t, must(FromGraph(t.Context(), drawRates(t, n), []*big.Rat{mu}, compatible))(t))
		slack := new(big.Rat).Sub(mu, oracle.Sum(q.ArrivalRates))
		got := must(Stationary(t.Context(), q, exactly))(t)
		if want := new(big.Rat).Quo(mu, slack); got.Normalization.Exact.Cmp(want) != 0 ||
			got.Slack.Cmp(want.Inv(want)) != 0 {
			t.Errorf("Z = %v, slack %v", got.Normalization, got.Slack)
		}
		for i, l := range q.ArrivalRates {
			if want := new(big.Rat).Quo(l, slack); got.MeanJobs[i].Exact.Cmp(want) != 0 {
				t.Errorf("MeanJobs[%d] = %v, want %v", i, got.MeanJobs[i], want)
			}
		}
	})
}

// Three servers, the third shared: (10) and (11) of [BC17].
func TestThreeServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := []*big.Rat{drawRat(t, "μ1", 1), drawRat(t, "μ2", 0), drawRat(t, "μ3", 1)}
		q := drawStable(t, must(FromGraph(t.Context(), drawRates(t, 2), mu, [][]int{{0, 2}, {1, 2}}))(t))
		got := must(Stationary(t.Context(), q, exactly))(t)
		f := func(op func(z, x, y *big.Rat) *big.Rat, x, y *big.Rat) *big.Rat { return op(new(big.Rat), x, y) }
		add, sub, mul, quo := (*big.Rat).Add, (*big.Rat).Sub, (*big.Rat).Mul, (*big.Rat).Quo
		one := rat(1, 1)
		total := oracle.Sum(mu)
		rho := f(quo, oracle.Sum(q.ArrivalRates), total)
		m := []*big.Rat{f(add, mu[0], mu[2]), f(add, mu[1], mu[2])}
		r := []*big.Rat{f(quo, q.ArrivalRates[0], m[0]), f(quo, q.ArrivalRates[1], m[1])}
		den := f(add, f(sub, f(sub, total, f(mul, m[0], r[0])), f(mul, m[1], r[1])), f(mul, mu[2], f(mul, r[0], r[1])))
		for i := range 2 {
			j := 1 - i
			second := f(quo, f(mul, f(quo, mu[j], m[i]), f(quo, f(sub, one, r[j]), f(sub, one, r[i]))), den)
			delay := f(add, f(quo, one, f(mul, total, f(sub, one, rho))), second) // 1/γ_i
			if want := f(mul, q.ArrivalRates[i], delay); got.MeanJobs[i].Exact.Cmp(want) != 0 {
				t.Errorf("E[X_%d] = %v, want %v", i+1, got.MeanJobs[i], want)
			}
		}
	})
}

// Four servers, each job on two of them at random: E[Σ X_i] = Σ_s ρ_s/(1-ρ_s), s = 2..4, with
// ρ_s = λ C(s,2)/C(4,2)/s (Gardner et al., Operations Research 65(4), 2017).
func TestRandomAssignment(t *testing.T) {
	var compatible [][]int
	for s := range 4 {
		for r := range s {
			compatible = append(compatible, []int{r, s})
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lambda := rat(int64(rapid.IntRange(1, 399).Draw(t, "λ in percent")), 100)
		rates := make([]*big.Rat, 6)
		for i := range rates {
			rates[i] = new(big.Rat).Quo(lambda, rat(6, 1))
		}
		q := must(FromGraph(t.Context(), rates, []*big.Rat{rat(1, 1), rat(1, 1), rat(1, 1), rat(1, 1)}, compatible))(t)
		want := new(big.Rat)
		for s := int64(2); s <= 4; s++ {
			rho := new(big.Rat).Mul(lambda, rat(s*(s-1)/2, 6*s))
			want.Add(want, rho.Quo(rho, new(big.Rat).Sub(rat(1, 1), rho)))
		}
		if got := oracle.Sum(
			oracle.Fractions(must(Stationary(t.Context(), q, exactly))(t).MeanJobs),
		); got.Cmp(want) != 0 {
			t.Errorf("E = %v, want %v", got, want)
		}
	})
}

// Renaming the classes renames the answers; a faster clock changes nothing.
func TestPermutedAndScaled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "classes")
		q := drawStable(t, drawRank(t, n))
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "new name of each class")
		clock := drawRat(t, "clock", 1)
		p := &Queue{ArrivalRates: make([]*big.Rat, n), Rank: make([]*big.Rat, 1<<n)}
		for i, to := range order {
			p.ArrivalRates[to] = new(big.Rat).Mul(q.ArrivalRates[i], clock)
		}
		for _, set := range oracle.Subsets(n)[1:] {
			mu := q.Rank[oracle.Mask(set)]
			for k, i := range set {
				set[k] = order[i]
			}
			p.Rank[oracle.Mask(set)] = new(big.Rat).Mul(mu, clock)
		}
		want, got := must(Stationary(t.Context(), q, exactly))(t), must(Stationary(t.Context(), p, exactly))(t)
		if got.Normalization.Exact.Cmp(want.Normalization.Exact) != 0 || got.Slack.Cmp(want.Slack) != 0 {
			t.Errorf("Z = %v, want %v", got.Normalization, want.Normalization)
		}
		for i, to := range order {
			if got.MeanJobs[to].Exact.Cmp(want.MeanJobs[i].Exact) != 0 {
				t.Errorf("MeanJobs[%d] = %v, want %v", to, got.MeanJobs[to], want.MeanJobs[i])
			}
		}
	})
}

// At load 1 exactly, and above, there is no answer; just below there is.
func TestBoundary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		q := drawQueue(t, n)
		for _, load := range []*big.Rat{rat(1, 1), rat(101, 100)} {
			bad := scaleToLoad(t, q, load)
			_, err := Stationary(t.Context(), bad, exactly)
			var u *cluster.UnstableError
			if !errors.As(err, &u) {
				t.Fatalf("load %v: error %v", load, err)
			}
			total := new(big.Rat)
			for _, i := range u.Classes {
				total.Add(total, bad.ArrivalRates[i])
			}
			if total.Cmp(u.ArrivalRate) != 0 || total.Cmp(u.Capacity) < 0 || !slices.IsSorted(u.Classes) {
				t.Errorf("load %v: %v is no witness", load, err)
			}
			// With the named classes alone the rate never exceeds u.Capacity.
			x := make([]int, n)
			for _, i := range u.Classes {
				x[i] = 5
			}
			if mu := must(totalRate(bad, x))(t); mu.Cmp(u.Capacity) != 0 {
				t.Errorf("μ(%v) = %v, error says %v", x, mu, u.Capacity)
			}
		}
	})
}

func TestUnstableNamesFirstSet(t *testing.T) {
	q := must(FromGraph(t.Context(), rats(t, "1/2", "3", "3"), rats(t, "1", "2"), [][]int{{0}, {1}, {0, 1}}))(t)
	want := "unstable: jobs arrive at least as fast as their servers can work: class 1 brings 3 jobs per unit of " +
		"time to servers that can do 2"
	if _, err := Stationary(t.Context(), q, Settings{}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Rates far below the smallest float64 still have measures, and results that float64 cannot hold
// are rejected.
func TestFloatRange(t *testing.T) {
	for rate, servers := range map[string]int{"1e-90": 1, "1e-30": 5} { // (λ/2)^5/5! is below 2^-400
		q := must(MMc(rats(t, rate), servers, rat(2, 1)))(t)
		checkBound(
			t, rate, must(Stationary(t.Context(), q, Settings{}))(t), must(Stationary(t.Context(), q, exactly))(t),
		)
	}
	q := must(MMc(rats(t, "1e-320"), 1, rat(1, 1)))(t)
	if _, err := Stationary(t.Context(), q, Settings{}); !errors.Is(err, num.ErrFloatRange) {
		t.Errorf("error %v, want num.ErrFloatRange", err)
	}
	rate := rats(t, "1e-320")[0]
	if got := must(Stationary(t.Context(), q, exactly))(t); got.MeanJobs[0].Exact.Cmp(new(big.Rat).Quo(rate,
		new(big.Rat).Sub(rat(1, 1), rate))) != 0 {
		t.Errorf("%v", got.MeanJobs)
	}
}

func TestTooLarge(t *testing.T) {
	rates := make([]*big.Rat, 21)
	compatible := make([][]int, 21)
	for i := range rates {
		rates[i], compatible[i] = rat(1, 100), []int{0}
	}
	_, err := FromGraph(t.Context(), rates, rats(t, "1"), compatible)
	want := "ArrivalRates = 21 classes: want at most 20 classes, whose sets are tabulated; merge classes with equal " +
		"servers, or let package bf work on sets of servers"
	if !isTooLarge(err) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	q := must(MMc(rates[:13], 1, rat(1, 1)))(t)
	want = "states of the table = 8192: want at most 4096; merge classes that the same servers serve (their rates " +
		"add), take the engine float, or let package bf solve a cluster on sets of servers"
	if _, err := Stationary(t.Context(), q, exactly); !isTooLarge(err) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	got := must(Stationary(t.Context(), q, Settings{}))(t)
	for i, m := range got.MeanJobs { // M/M/1 of load 13/100
		if want := 1.0 / 87; math.Abs(m.Float-want) > (got.RelativeErrorBound+1e-16)*want {
			t.Errorf("MeanJobs[%d] = %v, want %v", i, m, want)
		}
	}
}

// Engines other than these two, and their names, are rejected.
func TestEngines(t *testing.T) {
	q := must(MMc(rats(t, "1/2"), 1, rat(1, 1)))(t)
	for _, engine := range []num.Engine{"", num.Auto, num.Float} {
		if r := must(Stationary(t.Context(), q, Settings{Engine: engine}))(t); r.Engine != num.Float {
			t.Errorf("engine %q gives %q", engine, r.Engine)
		}
	}
	for _, engine := range []num.Engine{num.Enclose, "other"} {
		want := "Engine = " + string(engine) + ": want auto, float or exact"
		if _, err := Stationary(t.Context(), q, Settings{Engine: engine}); err == nil || err.Error() != want {
			t.Errorf("Stationary: error %v, want %s", err, want)
		}
		r := Routing{rats(t, "1"), [][]*big.Rat{{nil}}}
		if _, err := TrafficEquations(t.Context(), r, Settings{Engine: engine}); err == nil || err.Error() != want {
			t.Errorf("TrafficEquations: error %v, want %s", err, want)
		}
	}
}
