package bf_test

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/num"
)

// activeSets is a cluster of single servers, where the servers in the mask on[i] serve class i. It
// checks the closed forms by the recursion over sets of active classes.
type activeSets struct {
	capacity []*big.Rat
	on       []uint
	rate     []*big.Rat
}

func (q activeSets) rank(a uint) *big.Rat {
	var servers uint
	for i := range q.on {
		if a>>i&1 == 1 {
			servers |= q.on[i]
		}
	}
	mu := new(big.Rat)
	for s, c := range q.capacity {
		if servers>>s&1 == 1 {
			mu.Add(mu, c)
		}
	}
	return mu
}

func (q activeSets) load(a uint) *big.Rat {
	sum := new(big.Rat)
	for i, l := range q.rate {
		if a>>i&1 == 1 {
			sum.Add(sum, l)
		}
	}
	return sum
}

// criticalScale returns min_A μ(A)/λ(A), or nil if all rates are 0.
func (q activeSets) criticalScale() *big.Rat {
	var low *big.Rat
	for a := uint(1); a < 1<<len(q.rate); a++ {
		if load := q.load(a); load.Sign() > 0 {
			if t := load.Quo(q.rank(a), load); low == nil || t.Cmp(low) < 0 {
				low = t
			}
		}
	}
	return low
}

// weights returns G(A) and its derivative in the given direction of the rates: G(∅) = 1, G(A) (μ(A)
// - λ(A)) = Σ_{i∈A} λ_i G(A∖i).
func (q activeSets) weights(direction []*big.Rat) (g, dg []*big.Rat) {
	g, dg = []*big.Rat{big.NewRat(1, 1)}, []*big.Rat{new(big.Rat)}
	for a := uint(1); a < 1<<len(q.rate); a++ {
		den := new(big.Rat).Sub(q.rank(a), q.load(a))
		flow, dflow := new(big.Rat), new(big.Rat)
		for i, l := range q.rate {
			if b := a &^ (1 << i); b != a {
				flow.Add(flow, new(big.Rat).Mul(l, g[b]))
				dflow.Add(dflow, new(big.Rat).Mul(l, dg[b]))
				dflow.Add(dflow, new(big.Rat).Mul(direction[i], g[b]))
			}
		}
		g = append(g, flow.Quo(flow, den))
		for i, d := range direction {
			if a>>i&1 == 1 {
				dflow.Add(dflow, new(big.Rat).Mul(d, g[a]))
			}
		}
		dg = append(dg, dflow.Quo(dflow, den))
	}
	return g, dg
}

// logDerivative returns the derivative of log Z in the given direction of the rates.
func (q activeSets) logDerivative(direction []*big.Rat) *big.Rat {
	g, dg := q.weights(direction)
	d := sumRat(dg)
	return d.Quo(d, sumRat(g))
}

// meanJobs returns the mean number of jobs of the classes in the mask.
func (q activeSets) meanJobs(classes uint) *big.Rat {
	direction := make([]*big.Rat, len(q.rate))
	for i := range direction {
		direction[i] = new(big.Rat)
		if classes>>i&1 == 1 {
			direction[i] = q.rate[i]
		}
	}
	return q.logDerivative(direction)
}

func (q activeSets) normalization() *big.Rat {
	g, _ := q.weights(q.rate)
	return sumRat(g)
}

// utilization returns the probability that a job that server s can serve is present.
func (q activeSets) utilization(s int) *big.Rat {
	g, _ := q.weights(q.rate)
	var served uint
	for i, on := range q.on {
		served |= on >> s & 1 << i
	}
	busy := new(big.Rat)
	for a := range g {
		if uint(a)&served != 0 {
			busy.Add(busy, g[a])
		}
	}
	return busy.Quo(busy, sumRat(g))
}

func sumRat(v []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, x := range v {
		sum.Add(sum, x)
	}
	return sum
}

func checkEqual(t *rapid.T, what string, got, want *big.Rat) {
	t.Helper()
	if got.Cmp(want) != 0 {
		t.Errorf("%s = %s, want %s", what, got.RatString(), want.RatString())
	}
}

// compareMeasures compares the measures of a closed form for the whole cluster with those of the
// recursion.
func compareMeasures(t *rapid.T, got *bf.ClosedForm, q activeSets) {
	t.Helper()
	checkEqual(t, "Z", got.Normalization, q.normalization())
	jobs := q.meanJobs(1<<len(q.rate) - 1)
	checkEqual(t, "E[X]", got.MeanJobs, jobs)
	if total := sumRat(q.rate); total.Sign() > 0 {
		checkEqual(t, "E[T]", got.MeanDelay, jobs.Quo(jobs, total))
	} else if got.MeanDelay != nil {
		t.Errorf("E[T] = %v without arrivals", got.MeanDelay)
	}
	for s, u := range got.Utilization {
		checkEqual(t, "utilization", u, q.utilization(s))
	}
}

func drawRat(t *rapid.T, low int64, label string) *big.Rat {
	return big.NewRat(rapid.Int64Range(low, 12).Draw(t, label), rapid.Int64Range(1, 7).Draw(t, label+" over"))
}

// scale multiplies the rates so that the critical scale of q becomes 1/load, and returns that load.
func scale(t *rapid.T, q *activeSets) *big.Rat {
	load := rapid.SampledFrom([]*big.Rat{
		new(big.Rat), big.NewRat(1, 3), big.NewRat(9, 10), big.NewRat(999999, 1000000), big.NewRat(1, 1),
		big.NewRat(101, 100),
	}).Draw(t, "load")
	critical := q.criticalScale()
	if critical == nil {
		return new(big.Rat)
	}
	for i, l := range q.rate {
		l = new(big.Rat).Mul(l, critical)
		q.rate[i] = l.Mul(l, load)
	}
	return load
}

// isUnstable reports whether the load is at least 1. In that case it checks that the error is
// [num.ErrUnstable].
func isUnstable(t *rapid.T, load *big.Rat, err error) bool {
	t.Helper()
	unstable := load.Cmp(big.NewRat(1, 1)) >= 0
	if unstable && !errors.Is(err, num.ErrUnstable) {
		t.Fatalf("load %s: error %v, want ErrUnstable", load.RatString(), err)
	}
	if !unstable && err != nil {
		t.Fatalf("load %s: %v", load.RatString(), err)
	}
	return unstable
}

// 1/γ_i is the derivative of log Z with respect to λ_i, even at λ_i = 0.
func TestThreeServersMatchesRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := activeSets{
			capacity: []*big.Rat{drawRat(t, 0, "mu1"), drawRat(t, 0, "mu2"), drawRat(t, 1, "mu3")},
			on:       []uint{0b101, 0b110},
			rate:     []*big.Rat{drawRat(t, 0, "lambda1"), drawRat(t, 0, "lambda2")},
		}
		load := scale(t, &q)
		gamma1, gamma2, err := bf.ThreeServers(q.rate[0], q.rate[1], q.capacity[0], q.capacity[1], q.capacity[2])
		if isUnstable(t, load, err) {
			return
		}
		zero, one := new(big.Rat), big.NewRat(1, 1)
		checkEqual(t, "1/γ1", gamma1.Inv(gamma1), q.logDerivative([]*big.Rat{one, zero}))
		checkEqual(t, "1/γ2", gamma2.Inv(gamma2), q.logDerivative([]*big.Rat{zero, one}))
	})
}

// In the recursion every set of d of the S servers is a separate class.
func TestRandomAssignmentMatchesRecursion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "servers")
		q := activeSets{}
		mu := drawRat(t, 1, "mu")
		for range n {
			q.capacity = append(q.capacity, mu)
		}
		var classes []bf.RandomClass
		var of []uint // classes of the recursion that make up classes[t]
		for range rapid.IntRange(0, 3).Draw(t, "classes") {
			c := bf.RandomClass{ArrivalRate: drawRat(t, 0, "rate"), Choose: rapid.IntRange(1, n).Draw(t, "choose")}
			sets := new(big.Int).Binomial(int64(n), int64(c.Choose)).Int64()
			if len(q.on)+int(sets) > 9 {
				continue // 2^9 active sets are the limit of the recursion
			}
			var members uint
			for s := uint(0); s < 1<<n; s++ {
				if bits.OnesCount(s) == c.Choose {
					members |= 1 << len(q.on)
					q.on = append(q.on, s)
					q.rate = append(q.rate, new(big.Rat).Mul(c.ArrivalRate, big.NewRat(1, sets)))
				}
			}
			classes, of = append(classes, c), append(of, members)
		}
		load := scale(t, &q)
		for i := range classes {
			classes[i].ArrivalRate = q.load(of[i])
		}
		got, err := bf.RandomAssignment(t.Context(), n, mu, classes)
		if isUnstable(t, load, err) {
			return
		}
		compareMeasures(t, got, q)
		for i := range classes {
			checkEqual(t, "E[X_t]", got.ClassJobs[i], q.meanJobs(of[i]))
		}
	})
}

// The bound holds, and is at most the S^2 rounding errors that the deepest cancellation allows.
func TestRandomAssignmentFloatWithinBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "servers")
		d := rapid.IntRange(1, n).Draw(t, "choose")
		loads := rapid.OneOf(rapid.Float64Range(0x1p-900, 1-0x1p-53), rapid.Just(1-0x1p-53), rapid.Just(0.0))
		load := loads.Draw(t, "load")
		got, bound, err := bf.RandomAssignmentFloat(n, d, load)
		if err != nil {
			t.Fatal(err)
		}
		rate := new(big.Rat).SetFloat64(load)
		rate.Mul(rate, big.NewRat(int64(n), 1))
		exact, err := bf.RandomAssignment(t.Context(), n, big.NewRat(1, 1),
			[]bf.RandomClass{{ArrivalRate: rate, Choose: d}})
		if err != nil {
			t.Fatal(err)
		}
		diff := new(big.Rat).SetFloat64(got)
		diff.Sub(diff, exact.MeanJobs)
		allowed := new(big.Rat).SetFloat64(bound)
		allowed.Mul(allowed, exact.MeanJobs)
		if diff.Abs(diff).Cmp(allowed) > 0 {
			t.Errorf("%v is off by %v, more than %v of %v",
				got, diff.FloatString(30), bound, exact.MeanJobs.FloatString(30))
		}
		if limit := float64(4*n*n+4) * 0x1p-53; bound > limit {
			t.Errorf("bound %v exceeds %v", bound, limit)
		}
	})
}

// At d = S/2 and load 1/2, ρ_{S-j} is 2^-(j+1) within a factor 1 ± j²/S until it underflows. So
// E[X] is Σ_j 1/(2^(j+1)-1), the Erdős–Borwein constant, within Σ_j j² 2^-j/S = 6/S < 1e-5.
func TestRandomAssignmentFloatManyServers(t *testing.T) {
	const erdosBorwein = 1.6066951524152917 // https://oeis.org/A065442
	got, bound, err := bf.RandomAssignmentFloat(1<<20, 1<<19, 0.5)
	if err != nil || !(math.Abs(got-erdosBorwein) < 1e-5) || !(bound > 0 && bound < 1e-8) {
		t.Errorf("got %v within %v, error %v", got, bound, err)
	}
}

func TestClosedFormsReject(t *testing.T) {
	rat := func(s string) *big.Rat { r, _ := new(big.Rat).SetString(s); return r }
	random := func(n int, mu string, d int, rate string) error {
		_, err := bf.RandomAssignment(t.Context(), n, rat(mu), []bf.RandomClass{{ArrivalRate: rat(rate), Choose: d}})
		return err
	}
	float := func(n, d int, load float64) error {
		_, _, err := bf.RandomAssignmentFloat(n, d, load)
		return err
	}
	three := func(v ...string) error {
		_, _, err := bf.ThreeServers(rat(v[0]), rat(v[1]), rat(v[2]), rat(v[3]), rat(v[4]))
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{three("-1", "0", "1", "1", "1"), "lambda1 = -1: want a number >= 0"},
		{three("0", "0", "0", "1", "0"), "mu1 + mu3 = 0: want a number > 0"},
		{three("0", "0", "1", "0", "0"), "mu2 + mu3 = 0: want a number > 0"},
		{three("0", "0", "1", "1", "-1"), "mu3 = -1: want a number >= 0"},
		{random(0, "1", 1, "1"), "servers = 0: want an integer >= 1"},
		{random(3, "0", 1, "1"), "mu = 0: want a number > 0"},
		{random(3, "1", 4, "1"), "classes[0].choose = 4: want an integer in 1..3, the number of servers"},
		{random(3, "1", 2, "-1"), "classes[0].arrival_rate = -1: want a number >= 0"},
		{float(0, 1, 0.5), "servers = 0: want an integer in 1..2^20"},
		{float(5, 6, 0.5), "choose = 6: want an integer in 1..5, the number of servers"},
		{float(5, 2, math.NaN()), "load = NaN: want 0 or a number in [2^-900, 1)"},
		{float(5, 2, math.Inf(1)), "load = +Inf: want 0 or a number in [2^-900, 1)"},
		{float(5, 2, -0.1), "load = -0.1: want 0 or a number in [2^-900, 1)"},
		{float(5, 2, 1e-300), "load = 1e-300: want 0 or a number in [2^-900, 1)"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("error %v, want %s", c.err, c.want)
		}
	}
	for _, err := range []error{float(5, 2, 1), float(5, 2, 7), three("2", "0", "1", "1", "1")} {
		if !errors.Is(err, num.ErrUnstable) || !strings.Contains(err.Error(), "unstable") {
			t.Errorf("error %v, want ErrUnstable", err)
		}
	}
}

func BenchmarkClosedForm(b *testing.B) {
	one := big.NewRat(1, 1)
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"servers=100/form=random/engine=float", func() error {
			_, _, err := bf.RandomAssignmentFloat(100, 2, 0.8)
			return err
		}},
		{"servers=100/form=random/engine=exact", func() error {
			_, err := bf.RandomAssignment(b.Context(), 100, one,
				[]bf.RandomClass{{ArrivalRate: big.NewRat(80, 1), Choose: 2}})
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
