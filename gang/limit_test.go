package gang

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
)

// The three methods agree where more than one applies: fractions are equal, and the bounds of
// float64 contain them.
func TestMethodsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawGang(t, 2, 12, 4, true)
		if rapid.Bool().Draw(t, "two classes") {
			m = drawGang(t, 1, 30, 2, rapid.Bool().Draw(t, "equal"))
		}
		a, err := newAnalysis(m, Settings{RelTol: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		s, err := newStates(t.Context(), a.problem, 60)
		if isTooLarge(err) {
			t.Skip("too many states for elimination in fractions") // 2 of 100 models; rapid draws others
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.limitExact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		check := func(
			method Method, exact func(context.Context) (*big.Rat, error), float func(context.Context, float64) error,
		) {
			if exact != nil {
				if got, err := exact(t.Context()); err != nil || got.Cmp(want) != 0 {
					t.Errorf("%s: %v, want %v", method, got, want)
				}
			}
			a.low, a.high = nil, nil
			if err := float(t.Context(), 1e-9); err != nil {
				t.Fatal(err)
			}
			if a.low.Cmp(want) > 0 || a.high.Cmp(want) < 0 ||
				!oracle.Near(num.Nearest(a.low), num.Nearest(a.high), 1e-9) {
				t.Errorf("%s: between %v and %v, want %v",
					method, num.Nearest(a.low), num.Nearest(a.high), num.Nearest(want))
			}
		}
		if a.hasOneMean() {
			check(Convolution, a.convolveExactly, a.convolve)
		}
		if a.hasProductForm() {
			check(ProductForm, a.followPathExactly, a.followPath)
		}
		if a.chain, err = newChain(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		check(ValueIteration, nil, a.iterate)
	})
}

// The bounds of value iteration contain the product form and meet the tolerance for hundreds of
// servers, and for rare and long jobs.
func TestValueIterationOfTwoClasses(t *testing.T) {
	for _, c := range []struct {
		n             int
		needs         []int
		means, shares []string
	}{
		{300, []int{1, 30}, []string{"1", "2"}, []string{"1", "1"}},
		{300, []int{1, 100}, []string{"1", "100"}, []string{"1", "1/1000"}},
		{200, []int{3, 7}, []string{"1000", "1"}, []string{"1", "1"}},
	} {
		m := gangOf(c.n, c.needs, c.means, c.shares)
		r, err := CheckStability(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		a := chainAnalysis(t, m)
		for _, tol := range []float64{1e-9, 1e-12} {
			if err := a.iterate(t.Context(), tol); err != nil {
				t.Fatal(err)
			}
			want, width := r.ThroughputLimit.Exact, num.Nearest(a.high)/num.Nearest(a.low)-1
			// rounding leaves 2e-12 if rates differ by a factor of 1,000
			if a.low.Cmp(want) > 0 || a.high.Cmp(want) < 0 || !(width <= max(1.1*tol, 2e-12)) {
				t.Errorf("%v: between %v and %v, want %v; width %v", c.needs, num.Nearest(a.low), num.Nearest(a.high),
					num.Nearest(want), width)
			}
		}
	}
}

// chainAnalysis prepares value iteration for a model, whatever its classes.
func chainAnalysis(t *testing.T, m *cluster.Model) *analysis {
	a, err := newAnalysis(m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStates(t.Context(), a.problem, maxStates)
	if err != nil {
		t.Fatal(err)
	}
	if a.chain, err = newChain(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return a
}

// Derivatives agree with differences in fractions: along p + ε (e_k - p), the limit at ±ε.
func TestDerivatives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawGang(t, 2, 6, 3, rapid.Bool().Draw(t, "equal"))
		total := new(big.Rat)
		for _, c := range m.Classes {
			total.Add(total, c.ArrivalRate)
		}
		step := big.NewRat(1, 1<<26)
		limit := func(k int, step *big.Rat) *big.Rat {
			moved := m.Scale(new(big.Rat).Sub(big.NewRat(1, 1), step))
			rate := moved.Classes[k].ArrivalRate
			rate.Add(rate, new(big.Rat).Mul(step, total))
			r, err := CheckStability(t.Context(), moved, Settings{Engine: num.Exact})
			if err != nil { // with at most 6 servers of each kind and 3 classes there are few states
				t.Fatal(err)
			}
			return r.ThroughputLimit.Exact
		}
		for _, engine := range []num.Engine{num.Auto, num.Float} {
			r, err := CheckStability(t.Context(), m, Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			for k, d := range r.LimitDerivatives {
				if d.Class != m.Classes[k].Name {
					t.Errorf("derivative %d is that of %s", k, d.Class)
				}
				change := limit(k, step)
				change.Sub(change, limit(k, new(big.Rat).Neg(step)))
				change.Quo(change, new(big.Rat).Add(step, step))
				// the third derivative times ε² is below 1e-12; float64 solves for v and π to about
				// 1e-10
				if want := num.Nearest(change); !(math.Abs(d.Value.Float-
					want) <= 1e-8*(math.Abs(want)+r.ThroughputLimit.Float)) {
					t.Errorf("%s %s: derivative %v, want %v", r.Method, engine, d.Value.Float, want)
				}
			}
		}
	})
}

// At the limit the model is unstable; a computation that cannot tell says so.
func TestVerdictAtTheLimit(t *testing.T) {
	for _, m := range []*cluster.Model{
		gangOf(4, []int{1, 2, 4}, []string{"1"}, []string{"4/7", "2/7", "1/7"}),
		gangOf(6, []int{1, 3}, []string{"1", "1/3"}, []string{"1", "1"}),
		gangOf(12, []int{2, 7, 10}, []string{"2", "7/3", "3"}, []string{"22/125", "24/125", "14/125"}),
	} {
		r, err := CheckStability(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		less := new(big.Rat).Mul(r.CriticalScale.Exact, big.NewRat(1e15-1, 1e15))
		for _, c := range []struct {
			engine num.Engine
			scale  *big.Rat
			want   Verdict
		}{
			{num.Auto, r.CriticalScale.Exact, Unstable}, {num.Exact, r.CriticalScale.Exact, Unstable},
			{num.Float, r.CriticalScale.Exact, Undecided}, {num.Auto, less, Stable},
			{num.Float, new(big.Rat).Mul(r.CriticalScale.Exact, big.NewRat(1e11-1, 1e11)), Stable},
			{num.Float, new(big.Rat).Mul(r.CriticalScale.Exact, big.NewRat(1e11+1, 1e11)), Unstable},
		} {
			got, err := CheckStability(t.Context(), m.Scale(c.scale), Settings{Engine: c.engine, RelTol: 1e-6})
			if err != nil {
				t.Fatal(err)
			}
			isNil := got.Stable == nil
			if got.Verdict != c.want && !(c.want == Undecided && got.Verdict == Unstable) ||
				isNil != (got.Verdict == Undecided) {
				t.Errorf("%s %s: %s, want %s", got.Method, c.engine, got.Verdict, c.want)
			}
		}
		var unstable *UnstableError
		if _, err := Solve(t.Context(), m.Scale(r.CriticalScale.Exact), Settings{}); !errors.As(err, &unstable) ||
			!errors.Is(err, num.ErrUnstable) {
			t.Error(err)
		}
	}
}

// Units, order of classes, equal classes, implied resources and classes that never arrive change no
// answer.
func TestReduction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawGang(t, 2, 8, 3, rapid.Bool().Draw(t, "equal"))
		want, err := CheckStability(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil { // with at most 8 servers of each kind and 3 classes there are few states
			t.Fatal(err)
		}
		same := &cluster.Model{Service: cluster.Gang}
		unit := rapid.IntRange(1, 5).Draw(t, "unit")
		for _, s := range m.Servers {
			s.Count = unit*s.Count + rapid.IntRange(0, unit-1).Draw(t, "rest")
			same.Servers = append(same.Servers, s)
		}
		same.Servers = append(same.Servers, cluster.Server{Name: "licences", Count: 1000}, cluster.Server{Name: "copy",
			Count: m.Servers[0].Count})
		for i := len(m.Classes) - 1; i >= 0; i-- {
			c := m.Classes[i]
			var needs []cluster.Choice
			for _, need := range c.Needs {
				if need.Server == 0 {
					needs = append(needs, cluster.Choice{Server: len(m.Servers) + 1, Choose: need.Choose})
				}
				needs = append(needs, cluster.Choice{Server: need.Server, Choose: unit * need.Choose})
			}
			c.Needs = append(needs, cluster.Choice{Server: len(m.Servers), Choose: 1})
			half := new(big.Rat).Quo(c.ArrivalRate, big.NewRat(3, 1))
			c.ArrivalRate = new(big.Rat).Sub(c.ArrivalRate, half)
			same.Classes = append(same.Classes, c)
			c.Name, c.ArrivalRate = c.Name+"'", half
			same.Classes = append(same.Classes, c)
			c.Name, c.ArrivalRate, c.MeanSize = c.Name+"'", new(big.Rat), big.NewRat(77, 1)
			same.Classes = append(same.Classes, c)
		}
		got, err := CheckStability(t.Context(), same, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		if got.ThroughputLimit.Exact.Cmp(want.ThroughputLimit.Exact) != 0 || got.Verdict != want.Verdict {
			t.Errorf("limit %v, want %v", got.ThroughputLimit.Exact, want.ThroughputLimit.Exact)
		}
	})
}

// Each error names the field, the value and the valid range, or the limit.
func TestBadQuestions(t *testing.T) {
	good := gangOf(4, []int{1, 2, 4}, []string{"1", "2", "3"}, []string{"1/10"})
	all := gangOf(4, []int{1}, []string{"1"}, []string{"1"})
	all.Service = cluster.AllServers
	all.Classes[0].Needs, all.Classes[0].Servers = nil, cluster.On(0)
	all.Servers[0].Capacity = big.NewRat(1, 1)
	far := gangOf(4, []int{1, 2}, []string{"1", "1e200"}, []string{"1"})
	rare := gangOf(4, []int{1, 2}, []string{"1"}, []string{"1", "1e-200"})
	for _, c := range []struct {
		m    *cluster.Model
		s    Settings
		want string
	}{
		{all, Settings{}, `service = "all": want gang`},
		{good, Settings{Engine: num.Enclose}, "Engine = enclose: want auto, float or exact"},
		{good, Settings{RelTol: -1}, "RelTol = -1: want a number in (0, 1), or 0 for 1e-9"},
		{far, Settings{}, "classes[1].mean_size = 1" + strings.Repeat("0", 56) + "..." +
			": want a number in [1e-150, 1e150]: count time in other units"},
		{rare, Settings{}, "classes[1].arrival_rate = 1/1" + strings.Repeat("0", 54) + "..." +
			": want 0 or at least 1e-150 of the rate of all classes"},
	} {
		for _, solve := range []func() error{
			func() error { _, err := CheckStability(t.Context(), c.m, c.s); return err },
			func() error { _, err := Solve(t.Context(), c.m, c.s); return err },
		} {
			err := solve()
			var bad *input.Error
			if !errors.As(err, &bad) || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
	}
	large := gangOf(3000, []int{1, 10, 100}, []string{"1", "2", "3"}, []string{"1"})
	if _, err := CheckStability(t.Context(), large, Settings{}); !isTooLarge(err) {
		t.Error(err)
	}
	if _, err := CheckStability(t.Context(), gangOf(200, []int{1, 10, 100}, []string{"1", "2", "3"}, []string{"1"}),
		Settings{Engine: num.Exact}); !isTooLarge(err) {
		t.Error(err)
	}
	if _, err := Solve(
		t.Context(), gangOf(128, []int{1, 8, 64}, []string{"1"}, []string{"1/10"}), Settings{},
	); !isTooLarge(err) {
		t.Error(err)
	}
}

// A model without arrivals is stable, and has no limit.
func TestNoArrivals(t *testing.T) {
	m := gangOf(4, []int{1, 2}, []string{"1"}, []string{"0"})
	s, err := CheckStability(t.Context(), m, Settings{})
	if err != nil || !*s.Stable || s.ThroughputLimit != nil || s.Costliest() != "" {
		t.Error(s, err)
	}
	r, err := Solve(t.Context(), m, Settings{})
	if err != nil || r.MeanJobs.Float != 0 || r.MeanDelay != nil || r.Classes[1].MeanWaiting != nil ||
		r.MeanBusyServers.Exact.Sign() != 0 {
		t.Error(r, err)
	}
}

// TestCancel ends questions at many points.
func TestCancel(t *testing.T) {
	waits := gangOf(12, []int{1, 4, 6}, []string{"1", "2", "3"}, []string{"1/10"})
	for _, ask := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := CheckStability(
				ctx, gangOf(90, []int{1, 10, 30}, []string{"1", "2", "3"}, []string{"1"}), Settings{},
			)
			return err
		},
		func(ctx context.Context) error {
			_, err := CheckStability(ctx, gangOf(90, []int{1, 10, 30}, []string{"1"}, []string{"1"}), Settings{})
			return err
		},
		func(ctx context.Context) error {
			_, err := CheckStability(ctx, gangOf(90, []int{1, 10}, []string{"1", "2"}, []string{"1"}), Settings{})
			return err
		},
		func(ctx context.Context) error { _, err := Solve(ctx, waits, Settings{}); return err },
		func(ctx context.Context) error { _, err := Solve(ctx, waits, Settings{Engine: num.Exact}); return err },
	} {
		if err := oracle.CheckEnds(ask, 1000, 16); err != nil {
			t.Error(err)
		}
	}
}

// The derivatives of value iteration agree with those of the product form for a thousand servers,
// even if rates and shares differ by orders of magnitude.
func TestDerivativesOfLargeChains(t *testing.T) {
	for _, c := range []struct {
		n             int
		needs         []int
		means, shares []string
	}{
		{1000, []int{1, 50}, []string{"1", "2"}, []string{"1", "1"}},
		{1500, []int{1, 500}, []string{"1", "20"}, []string{"1", "1/1000"}},
		{1000, []int{3, 7}, []string{"30", "1"}, []string{"1", "1"}},
		{1000, []int{1, 2}, []string{"1", "1000"}, []string{"1", "1"}},
		{1000, []int{1, 1000}, []string{"1", "1/1000"}, []string{"1", "1/1000000"}},
	} {
		m := gangOf(c.n, c.needs, c.means, c.shares)
		r, err := CheckStability(t.Context(), m, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		a := chainAnalysis(t, m)
		if err := a.chain.iterate(t.Context(), &a.found, 1e-10); err != nil {
			t.Fatal(err)
		}
		d := a.chain.derivatives(a.found.pi, a.found.value)
		for k := range d { // classes are in decreasing order of their needs
			if want := r.LimitDerivatives[1-k].Value.Float; !oracle.Near(d[k], want, 1e-9) {
				t.Errorf("%v: derivative %v, want %v", c.needs, d[k], want)
			}
		}
	}
}

// Models survive being written and read.
func TestModelsSurviveFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawGang(t, 3, 20, 4, false)
		var text bytes.Buffer
		if err := m.WriteJSON(&text); err != nil {
			t.Fatal(err)
		}
		again, err := cluster.ReadJSON(&text)
		if err != nil {
			t.Fatal(err)
		}
		same := cmp.Comparer(func(x, y *big.Rat) bool { return x == y || x != nil && y != nil && x.Cmp(y) == 0 })
		if d := cmp.Diff(m, again, same); d != "" {
			t.Error(d)
		}
	})
}

// If value iteration ends early, as with means that differ by 1e20, the limit is still at most that
// of a policy that never idles.
func TestLimitBelowWorkConserving(t *testing.T) {
	m := gangOf(10, []int{1, 2, 4}, []string{"1e10", "1e-10", "1"}, []string{"1"})
	r, err := CheckStability(t.Context(), m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if most := r.WorkConservingLimit.Float; !(r.ThroughputLimit.Float <= most) {
		t.Errorf("limit %v, of all policies %v", r.ThroughputLimit.Float, most)
	}
}

// Sizes may differ so much that the measure of the likely states, relative to the first state,
// overflows float64. The bounds still contain the limit.
func TestUnlikelyFirstState(t *testing.T) {
	large := "1" + strings.Repeat("0", 50)
	m := gangOf(8, []int{1, 2, 3}, []string{large, "1", "1/" + large}, []string{"1", "1", "1"})
	want, err := CheckStability(t.Context(), m, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	got, err := CheckStability(t.Context(), m, Settings{Engine: num.Float})
	if err != nil {
		t.Fatal(err)
	}
	x, exact := got.ThroughputLimit, new(big.Float).SetPrec(1000).SetRat(want.ThroughputLimit.Exact)
	if got.Method != ValueIteration || x.Low.Cmp(exact) > 0 || x.High.Cmp(exact) < 0 {
		t.Errorf("%s: in [%v, %v], want %v", got.Method, x.Low, x.High, exact)
	}
}
