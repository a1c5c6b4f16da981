package gang

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
)

// One class that needs w of n servers is the queue M/M/c with c = ⌊n/w⌋, also with thousands of
// servers.
func TestSingleClassMatchesErlangC(t *testing.T) {
	for _, c := range []struct {
		n, w int
		load float64
	}{{5, 1, 4}, {50, 1, 5}, {17, 3, 4.5}, {1000, 2, 480}, {3000, 1, 2900}} {
		lambda := big.NewRat(int64(1000*c.load), 2000)
		m := gangOf(c.n, []int{c.w}, []string{"2"}, []string{lambda.RatString()})
		r, err := Solve(t.Context(), m, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		servers := float64(c.n / c.w)
		erlang, err := loss.ErlangC(t.Context(), c.n/c.w, new(big.Rat).SetFloat64(c.load),
			loss.FormulaSettings{Engine: num.Enclose, RelTol: 1e-15})
		if err != nil {
			t.Fatal(err)
		}
		want := erlang.Float
		x := r.Classes[0]
		if !oracle.Near(x.WaitProbability.Float, want, 1e-9) ||
			!oracle.Near(x.MeanWaiting.Float, 2*want/(servers-c.load), 1e-9) {
			t.Errorf("%v: wait probability %v, want %v; mean wait %v",
				c, x.WaitProbability.Float, want, x.MeanWaiting.Float)
		}
		if !(math.Abs(x.WaitProbability.Float/want-1) <= r.RelativeErrorBound+1e-15 && r.RelativeErrorBound < 1e-6) {
			t.Errorf("%v: error bound %v", c, r.RelativeErrorBound)
		}
		if h := r.HeavyTrafficDelay.Float; !oracle.Near(h, 2/servers, 1e-14) {
			t.Errorf("heavy traffic delay %v", h)
		}
	}
}

// A rate below the range of the waits is an error, although the model is stable.
func TestRareJobs(t *testing.T) {
	m := gangOf(2, []int{1}, []string{"1"}, []string{"1e-999"})
	_, err := Solve(t.Context(), m, Settings{})
	var bad *input.Error
	if !errors.As(err, &bad) || bad.Path != "classes[0].arrival_rate" || !strings.HasPrefix(bad.Want, "0 or a number") {
		t.Errorf("error %v", err)
	}
	if r, err := CheckStability(t.Context(), m, Settings{}); err != nil || r.Verdict != Stable {
		t.Errorf("stability: %v, %v", r, err)
	}
}

// By Little's law the mean number of jobs in service is that of the offered load: the probabilities
// of the levels also give it. The mean number of jobs is the sum over the levels.
func TestLevelsHaveOfferedLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawStable(t, 12, 3)
		p, err := solveProfile(t, m)
		if err != nil {
			t.Fatal(err)
		}
		busy := make([]float64, len(p.classes))
		total := 0.0
		p.eachWaiting(func(s *set, prob, _ float64, _ bool) {
			total += prob
			for k, n := range s.x {
				busy[k] += prob * float64(n)
			}
		})
		if !oracle.Near(total, 1, 1e-13) {
			t.Errorf("total %v", total)
		}
		for k, c := range p.classes {
			want := new(big.Rat).Mul(p.rate, c.share)
			if x := num.Nearest(want.Mul(want, c.mean)); !oracle.Near(busy[k], x, 1e-9) {
				t.Errorf("class %d: %v jobs in service, want %v", k, busy[k], x)
			}
		}
	})
}

// drawStable draws a model of one group of servers at 5 to 95 % of its limit.
func drawStable(t *rapid.T, most, classes int) *cluster.Model {
	m := drawGang(t, 1, most, classes, false)
	r, err := CheckStability(t.Context(), m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	load := big.NewRat(rapid.Int64Range(1, 19).Draw(t, "load"), 20)
	scale, _ := new(big.Rat).SetString(big.NewFloat(r.CriticalScale.Float).Text('g', 6))
	return m.Scale(load.Mul(load, scale))
}

func solveProfile(t *rapid.T, m *cluster.Model) (*profile, error) {
	q, err := newQueue(t.Context(), newProblem(m))
	if err != nil {
		t.Fatal(err)
	}
	return q.solve(t.Context())
}

// One more server, shorter durations and fewer jobs of a class lengthen no wait.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawStable(t, 8, 3)
		solve := func(m *cluster.Model) *Result {
			r, err := Solve(t.Context(), m, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		before := solve(m)
		k := rapid.IntRange(0, len(m.Classes)-1).Draw(t, "class")
		more, shorter := *m, m.ScaleClass(k, big.NewRat(1, 1))
		more.Servers = []cluster.Server{{Name: "s", Count: m.Servers[0].Count + 1}}
		shorter.Classes[k].MeanSize = new(big.Rat).Mul(m.MeanSizeOf(k), big.NewRat(9, 10))
		for what, m := range map[string]*cluster.Model{
			"one more server": &more, "shorter durations": shorter, "fewer jobs": m.ScaleClass(k, big.NewRat(9, 10)),
		} {
			after := solve(m)
			for i, x := range after.Classes {
				old := before.Classes[i]
				if !(x.MeanWaiting.Float <= old.MeanWaiting.Float*(1+1e-9)+1e-14) ||
					!(x.WaitProbability.Float <= old.WaitProbability.Float*(1+1e-9)+1e-14) {
					t.Errorf("%s: class %d waits %v with probability %v, before %v with %v",
						what, i, x.MeanWaiting.Float,
						x.WaitProbability.Float, old.MeanWaiting.Float, old.WaitProbability.Float)
				}
			}
		}
	})
}

// Near the limit, (1 - λ/λ*) E[T] approaches its limit.
func TestHeavyTraffic(t *testing.T) {
	for _, m := range []*cluster.Model{
		gangOf(5, []int{1, 2, 4}, []string{"1", "2", "1/2"}, []string{"1", "1/2", "1/3"}),
		gangOf(8, []int{1, 8}, []string{"2", "1"}, []string{"1", "1/10"}),
		gangOf(6, []int{2, 3}, []string{"1", "3"}, []string{"1", "2"}),
	} {
		r, err := CheckStability(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		near := new(big.Rat).Mul(r.CriticalScale.Exact, big.NewRat(9999, 10000))
		got, err := Solve(t.Context(), m.Scale(near), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		// the difference is of order 1 - λ/λ* = 1e-4
		if ratio := 1e-4 * got.MeanDelay.Float / got.HeavyTrafficDelay.Float; !(math.Abs(ratio-1) < 1e-3) {
			t.Errorf("ratio %v", ratio)
		}
	}
}

// Several rows of servers have their own mean numbers of busy servers.
func TestSeveralResources(t *testing.T) {
	m := gangOf(4, []int{1, 2}, []string{"1", "2"}, []string{"1/2", "1/4"})
	m.Servers = append(m.Servers, cluster.Server{Name: "memory", Count: 3})
	m.Classes[0].Needs = append(m.Classes[0].Needs, cluster.Choice{Server: 1, Choose: 2})
	r, err := Solve(t.Context(), m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if r.MeanBusyServers != nil || r.Servers[0].MeanBusy.Exact.Cmp(big.NewRat(3, 2)) != 0 ||
		r.Servers[1].MeanBusy.Exact.Cmp(big.NewRat(1, 1)) != 0 ||
		r.Servers[1].Utilization.Exact.Cmp(big.NewRat(1, 3)) != 0 {
		t.Errorf("%+v", r)
	}
}

// Waits of which no digit is proved are rejected: at a load of 1 - 1e-12 or 1 - 5e-19, or of a
// class with a rate of 1e-30. Further from the limit they are those of an M/M/2 queue.
func TestWaitsNearLimit(t *testing.T) {
	m := gangOf(4, []int{2}, []string{"1"}, []string{"1.999999999999"})
	for _, bad := range []struct {
		m    *cluster.Model
		load string
	}{
		{m, "0.99999999999"},
		{gangOf(2, []int{2, 1}, []string{"1"}, []string{"0.999999999", "1e-9"}), "1 "},
		{gangOf(2, []int{2, 1}, []string{"1"}, []string{"1e-30", "0.5"}), "0.25 "},
	} {
		_, err := Solve(t.Context(), bad.m, Settings{})
		var got *input.Error
		if !errors.As(err, &got) || got.Path != "classes" ||
			!strings.HasPrefix(got.Value, "arrival rates of "+bad.load) {
			t.Error(err)
		}
	}
	m.Classes[0].ArrivalRate = big.NewRat(19999, 10000)
	r, err := Solve(t.Context(), m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	const load = 0.99995
	want := load * load / (1 - load*load) // mean wait of M/M/2 with mean size 1
	if got := r.MeanWaiting.Float; !(math.Abs(got/want-1) <= r.RelativeErrorBound && r.RelativeErrorBound < 1e-3) {
		t.Errorf("mean waiting %v within %v, want %v", got, r.RelativeErrorBound, want)
	}
}
