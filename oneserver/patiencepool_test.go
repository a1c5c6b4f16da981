package oneserver

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
)

// drawPool draws a pool of equal servers for some classes, with one exponential patience, patience
// 0 or, if stable, none.
func drawPool(t *rapid.T) *cluster.Model {
	n := rapid.IntRange(1, 8).Draw(t, "servers")
	m := &cluster.Model{Service: cluster.OneServer, MeanSize: big.NewRat(rapid.Int64Range(1, 5).Draw(t, "size"), 3),
		Servers: []cluster.Server{{Name: "s", Count: n, Capacity: big.NewRat(1, 2)}}}
	for i := range rapid.IntRange(1, 3).Draw(t, "classes") {
		m.Classes = append(m.Classes, cluster.Class{Name: string(rune('a' + i)),
			ArrivalRate: big.NewRat(rapid.Int64Range(1, 9).Draw(t, "rate"), 3),
			Servers:     []cluster.Choice{{Server: 0, Choose: n}}})
	}
	kind := rapid.IntRange(0, 9).Draw(t, "patience")
	if kind > 0 {
		m = oracle.ScaleTo(m, big.NewRat(rapid.Int64Range(1, 6).Draw(t, "load"), 3))
		m.MeanPatience = big.NewRat(int64(kind-1), 4)
	} else {
		m = oracle.ScaleTo(m, big.NewRat(rapid.Int64Range(1, 9).Draw(t, "load"), 10))
	}
	return m
}

// TestPoolMatchesEquations compares the series for one pool with the differential equations.
func TestPoolMatchesEquations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPool(t)
		s := PatienceSettings{RelTol: 1e-10, MaxBytes: 1 << 30, MaxWork: maxWork, Times: oracle.Rats("0 1/3 2"),
			Levels: oracle.Rats("1/10 1/2 19/20 999/1000")}
		want, err := SolvePatience(t.Context(), m, s)
		if err != nil {
			t.Fatal(err)
		}
		if want.ErrorEstimate != nil || !(*want.RelativeErrorBound <= 1e-10) {
			t.Errorf("error estimate %v, bound %v", want.ErrorEstimate, want.RelativeErrorBound)
		}
		byClass, err := patienceByClass(m)
		if err != nil {
			t.Fatal(err)
		}
		size, err := oneMeanSize(m)
		if err != nil {
			t.Fatal(err)
		}
		b := newPatienceBuilder(m, s)
		for _, p := range split(m, size) {
			if err := b.addEquations(t.Context(), p, byClass); err != nil {
				t.Fatal(err)
			}
		}
		got, err := b.finish()
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-9*want+1e-16) {
				t.Errorf("%s: %v by the equations, %v by series", what, got, want)
			}
		}
		near("utilization", got.Servers[0].Utilization, want.Servers[0].Utilization)
		near("jobs", got.MeanJobs, want.MeanJobs)
		near("queue", got.MeanQueue, want.MeanQueue)
		near("delay of all jobs", *got.MeanDelay, *want.MeanDelay)
		for i, x := range got.Classes {
			y := want.Classes[i]
			near("wait probability", *x.WaitProbability, *y.WaitProbability)
			near("abandon probability", *x.AbandonProbability, *y.AbandonProbability)
			near("waiting", *x.MeanWaiting, *y.MeanWaiting)
			near("waiting of served jobs", *x.MeanWaitingServed, *y.MeanWaitingServed)
			if (x.MeanWaitingAbandoned == nil) != (y.MeanWaitingAbandoned == nil) {
				t.Errorf("waiting of others: %v, want %v", x.MeanWaitingAbandoned, y.MeanWaitingAbandoned)
			} else if x.MeanWaitingAbandoned != nil {
				near("waiting of others", *x.MeanWaitingAbandoned, *y.MeanWaitingAbandoned)
			}
			near("delay", *x.MeanDelay, *y.MeanDelay)
			near("rate", x.ServedBy[0].Rate.Float, y.ServedBy[0].Rate.Float)
			near("share", x.ServedBy[0].Share.Float, y.ServedBy[0].Share.Float)
			for k := range s.Times {
				near("within", x.Within[k].WaitWithin, y.Within[k].WaitWithin)
				near("served within", x.Within[k].ServedWithin, y.Within[k].ServedWithin)
				near("within if served", x.Within[k].WithinIfServed, y.Within[k].WithinIfServed)
			}
			for k := range s.Levels {
				// short percentiles are differences of probabilities
				least := 2e-2 * *y.MeanWaiting * 1e-9
				if got, want := x.Waiting[k].Float, y.Waiting[k].Float; !(math.Abs(got-want) <= 1e-9*want+least) {
					t.Errorf("percentile %v: %v by the equations, %v by series", s.Levels[k], got, want)
				}
				if got, want := x.WaitingServed[k].Float,
					y.WaitingServed[k].Float; !(math.Abs(got-want) <= 1e-9*want+least) {
					t.Errorf("served percentile %v: %v by the equations, %v by series", s.Levels[k], got, want)
				}
			}
		}
	})
}

// TestPatienceQuantiles solves for the probabilities of waiting until just before and just after
// each percentile: the level is between them.
func TestPatienceQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPatience(t, oracle.Options{Servers: 3, Classes: 2, Count: 2}, "exponential", "deterministic",
			"erlang:3", "lognormal:2", "weibull:2")
		levels := []*big.Rat{big.NewRat(rapid.Int64Range(1, 999).Draw(t, "level"), 1000), big.NewRat(99, 100)}
		s := PatienceSettings{RelTol: 1e-10, Levels: levels}
		r, err := SolvePatience(t.Context(), m, s)
		if err != nil {
			t.Fatal(err)
		}
		type query struct {
			class, level, time int
			served, after      bool
		}
		var queries []query
		var times []*big.Rat
		for i, c := range r.Classes {
			for k := range levels {
				for _, served := range []bool{false, true} {
					x := c.Waiting[k].Float
					if served {
						x = c.WaitingServed[k].Float
					}
					// 1e-10 of the mean time, to which a short percentile is relative
					gap := 1e-8*x + 1e-10**c.MeanWaiting
					queries = append(queries, query{i, k, len(times), served, true})
					times = append(times, new(big.Rat).SetFloat64(x+gap))
					if x > gap {
						queries = append(queries, query{i, k, len(times), served, false})
						times = append(times, new(big.Rat).SetFloat64(x-gap))
					}
				}
			}
		}
		at := solvePatience(t, m, times...)
		for _, q := range queries {
			w := at.Classes[q.class].Within[q.time]
			p := w.WaitWithin
			if q.served {
				p = w.WithinIfServed
			}
			level := num.Nearest(levels[q.level])
			if q.after && p < level-1e-10 || !q.after && p > level+1e-10 {
				t.Errorf("%+v: P(W <= %v) = %v, level %v", q, num.Nearest(w.Time), p, level)
			}
		}
	})
}

// TestPatienceNearZero compares patience 0 with very short patience.
func TestPatienceNearZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPatience(t, oracle.Options{Servers: 3, Classes: 3}, "exponential", "deterministic")
		for i := range m.Classes {
			if rapid.Bool().Draw(t, "zero") {
				m.Classes[i].MeanPatience = new(big.Rat)
			}
		}
		none := solvePatience(t, m, oracle.Rats("1/2")...)
		short := *m
		short.Classes = slices.Clone(m.Classes)
		for i := range m.Classes {
			if m.Classes[i].MeanPatience.Sign() == 0 {
				short.Classes[i].MeanPatience = big.NewRat(1, 1e9)
			}
		}
		some := solvePatience(t, &short, oracle.Rats("1/2")...)
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-7*want+1e-8) { // 1e-9 times rates of at most 10, or of 100 for large ones
				t.Errorf("%s: %v, with patience 1e-9 %v", what, got, want)
			}
		}
		for i, x := range none.Classes {
			y := some.Classes[i]
			if m.Classes[i].MeanPatience.Sign() == 0 {
				if *x.WaitProbability != 0 || *x.MeanWaiting != 0 || *x.MeanWaitingServed != 0 || x.MeanQueue != 0 {
					t.Errorf("class without patience: %+v", x)
				}
			} else {
				near("wait probability", *x.WaitProbability, *y.WaitProbability)
			}
			near("abandon probability", *x.AbandonProbability, *y.AbandonProbability)
			near("mean waiting", *x.MeanWaiting, *y.MeanWaiting)
			near("mean delay", *x.MeanDelay, *y.MeanDelay)
			near("within", x.Within[0].WaitWithin, y.Within[0].WaitWithin)
			near("served within", x.Within[0].ServedWithin, y.Within[0].ServedWithin)
			for k := range x.ServedBy {
				near("share", x.ServedBy[k].Share.Float, y.ServedBy[k].Share.Float)
			}
		}
	})
}

// TestGapIsSmallest compares the smallest d(k) with that of all states.
func TestGapIsSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPatience(t, oracle.Options{Servers: 3, Classes: 3, Count: 4}, "exponential", "deterministic")
		byClass, err := patienceByClass(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range split(m, big.NewRat(1, 1)) {
			own := make([]patience, len(p.classes))
			for i, c := range p.classes {
				own[i] = byClass[c.row]
			}
			plan, err := newPace(t.Context(), p, own)
			if err != nil {
				t.Fatal(err)
			}
			r, err := newRace(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			at := float64(rapid.Int64Range(0, 9).Draw(t, "time")) / 4
			want := math.Inf(1)
			for k := 1; k < r.States; k++ {
				d := r.work[k]
				for first, end := span(r.insideEnd, k); first < end; first++ {
					i := r.inside[first]
					d -= r.lambda[i] * own[i].tail(at) * r.fractions[first]
				}
				want = min(want, d)
			}
			if got := plan.gap(at); !(math.Abs(got-want) <= 1e-13*r.work[r.States-1]) {
				t.Errorf("smallest d at %v: %v, want %v", at, got, want)
			}
		}
	})
}

// largePool returns a pool of n agents, 2 % more work than they can do and patience 2.
func largePool(n int) *cluster.Model {
	return &cluster.Model{Service: cluster.OneServer, MeanPatience: big.NewRat(2, 1),
		Servers: []cluster.Server{{Name: "agents", Count: n, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(int64(n), 2), Servers: []cluster.Choice{{Server: 0, Choose: n}}},
			{Name: "b", ArrivalRate: big.NewRat(int64(13*n), 25), Servers: []cluster.Choice{{Server: 0, Choose: n}}},
		}}
}

// TestLargePool solves 20,000 agents. In the limit of many agents, all jobs have the same offered
// wait, 2 ln 1.02, during which the fraction 1 - 1/1.02 of them gives up; the others use exactly
// the capacity.
func TestLargePool(t *testing.T) {
	r, err := SolvePatience(t.Context(), largePool(20_000), PatienceSettings{Times: oracle.Rats("0 1/30 1"),
		Levels: oracle.Rats("1/2 19/20")})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Classes[0]
	if lost := 1 - 1/1.02; !(math.Abs(*c.AbandonProbability-lost) < 1e-4) {
		t.Errorf("abandon probability %v, limit %v", *c.AbandonProbability, lost)
	}
	if got, want := c.WaitingServed[0].Float, 2*math.Log(1.02); !(math.Abs(got-want) < 1e-3) {
		t.Errorf("median wait of served jobs %v, limit %v", got, want)
	}
	if r.ErrorEstimate != nil || !(*r.RelativeErrorBound < 1e-9) || r.States != 20_001 {
		t.Errorf("error estimate %v, bound %v, %d states", r.ErrorEstimate, *r.RelativeErrorBound, r.States)
	}
}

// TestPoolOfEndlessQueue checks that patience is rejected if too many jobs wait to sum over their
// number.
func TestPoolOfEndlessQueue(t *testing.T) {
	m := largePool(1000)
	m.MeanPatience = big.NewRat(1e9, 1)
	const want = "mean_patience = 1000000000: want a mean patience with at most"
	for _, path := range []string{"", "classes[0]."} {
		if r, err := SolvePatience(t.Context(), m, PatienceSettings{}); r != nil || err == nil ||
			!strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%v, error %v", r, err)
		}
		m.Classes[0].MeanPatience, m.Classes[1].MeanPatience, m.MeanPatience = m.MeanPatience, m.MeanPatience, nil
	}
}

// Rates beyond the range of the equations are rejected, for servers and for arrivals.
func TestPatienceFarRates(t *testing.T) {
	for _, far := range []string{"1e-320", "1e320", "1e-200", "1e999"} {
		m := skillGroups()
		m.MeanPatience, m.MeanSize = big.NewRat(1, 1), num.Rat(far)
		rare := skillGroups()
		rare.MeanPatience, rare.Classes[0].ArrivalRate = big.NewRat(1, 1), num.Rat(far)
		for _, m := range []*cluster.Model{m, rare} {
			r, err := SolvePatience(t.Context(), m, PatienceSettings{})
			var bad *input.Error
			if !errors.As(err, &bad) || r != nil || bad.Path != "model" || !strings.HasPrefix(bad.Want, "rates in") {
				t.Errorf("%s: %v, error %v", far, r, err)
			}
		}
	}
}

// Pools with means beyond the range of float64 are refused, by the rate if it is out of range.
func TestPoolsBeyondFloat(t *testing.T) {
	for _, x := range []struct{ capacity, rate, want string }{
		{"1e-320", "1e-320", "model = a rate of 1e-320 jobs per unit of time: " +
			"want rates in [1e-300, 1e+300]: count time in other units"},
		{"1", "1e999", arithmetic.BeyondFloat().Error()},
	} {
		m := &cluster.Model{
			Service:      cluster.OneServer,
			MeanPatience: new(big.Rat),
			Servers:      []cluster.Server{{Name: "s", Capacity: num.Rat(x.capacity)}},
			Classes:      []cluster.Class{{Name: "a", ArrivalRate: num.Rat(x.rate), Servers: cluster.On(0)}},
		}
		if _, err := SolvePatience(t.Context(), m, PatienceSettings{}); err == nil || err.Error() != x.want {
			t.Errorf("capacity %s, rate %s: error %v", x.capacity, x.rate, err)
		}
	}
}

// TestPatienceTooLarge checks that models that are too large are rejected before any work is done.
func TestPatienceTooLarge(t *testing.T) {
	deterministic, differ, groups := largePool(100_000), largePool(100_000), skillGroups()
	deterministic.Patience = "deterministic"
	differ.Classes[1].MeanPatience = big.NewRat(3, 1)
	groups.MeanPatience = big.NewRat(1, 1)
	for s, n := range []int{150, 160, 170} {
		groups.Servers[s].Count = n
		for i, c := range groups.Classes {
			for k := range c.Servers {
				if c.Servers[k].Server == s {
					groups.Classes[i].Servers[k].Choose = n
				}
			}
		}
	}
	for _, m := range []*cluster.Model{deterministic, differ, groups} {
		r, err := SolvePatience(t.Context(), m, PatienceSettings{})
		var large *num.TooLargeError
		if !errors.As(err, &large) || r != nil || large.Input.Path != "model" {
			t.Errorf("%v, error %v", r, err)
			continue
		}
		states := 1.
		for _, s := range m.Servers {
			states *= float64(s.Count + 1)
		}
		if large.States != states {
			t.Errorf("%v states, want %v", large.States, states)
		}
		if !strings.Contains(err.Error(), "fewer servers") {
			t.Error(err)
		}
	}
}
