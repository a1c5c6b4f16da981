package network_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network"
	"productform/num"
)

// sameResults compares two exact results.
func sameResults(t interface {
	Helper()
	Fatalf(string, ...any)
}, got, want *network.Result) {
	t.Helper()
	values := func(r *network.Result) (list []num.Value) {
		for _, c := range r.Chains {
			list = append(list, c.Throughput, c.MeanJobs, *c.MeanDelay)
		}
		for _, s := range r.Stations {
			list = append(list, s.MeanJobs, s.ProbEmpty)
			list = append(list, s.JobsDistribution...)
			if s.Utilization != nil {
				list = append(list, *s.Utilization)
			}
			for _, v := range s.Visits {
				list = append(list, v.Throughput, v.MeanJobs, *v.MeanDelay)
			}
		}
		return list
	}
	g, w := values(got), values(want)
	if len(g) != len(w) {
		t.Fatalf("%d values, want %d", len(g), len(w))
	}
	for i := range g {
		off := math.Abs(g[i].Float - w[i].Float)
		if w[i].Exact != nil && g[i].Exact.Cmp(w[i].Exact) != 0 ||
			w[i].Exact == nil && off > (got.RelativeErrorBound+want.RelativeErrorBound)*w[i].Float {
			t.Fatalf("value %d: %v, want %v", i, g[i].Float, w[i].Float)
		}
	}
}

// A sweep gives the same results as each value alone: populations use the tables of the largest,
// sizes and rates are solved one by one.
func TestSweepMatchesSolve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTotals(t, rapid.Bool().Draw(t, "mixed"))
		c := network.Change{Class: rapid.IntRange(0, len(m.Classes)-1).Draw(t, "class")}
		k := &m.Classes[c.Class]
		switch {
		case k.ArrivalRate != nil && rapid.Bool().Draw(t, "rate"):
			c.Parameter = network.ArrivalRate
			c.Values = []*big.Rat{new(big.Rat).Quo(k.ArrivalRate, big.NewRat(3, 1)), k.ArrivalRate}
		case k.ArrivalRate == nil && rapid.Bool().Draw(t, "population"):
			c.Parameter = network.Population
			for range rapid.IntRange(1, 3).Draw(t, "values") {
				c.Values = append(c.Values, big.NewRat(rapid.Int64Range(1, 4).Draw(t, "value"), 1))
			}
		default:
			c.Parameter = network.MeanSize
			c.Visit = rapid.IntRange(0, len(k.Visits)-1).Draw(t, "visit")
			size := k.Visits[c.Visit].MeanSize
			c.Values = []*big.Rat{size, new(big.Rat).Quo(size, big.NewRat(5, 2))}
		}
		q, s := network.Question{MaxJobs: 2}, network.Settings{Engine: num.Exact}
		list, err := network.Sweep(t.Context(), m, c, q, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range c.Values {
			n := *m
			n.Classes = slices.Clone(m.Classes)
			switch of := &n.Classes[c.Class]; c.Parameter {
			case network.Population:
				of.Population = int(v.Num().Int64())
			case network.ArrivalRate:
				of.ArrivalRate = v
			case network.MeanSize:
				of.Visits = slices.Clone(of.Visits)
				of.Visits[c.Visit].MeanSize = v
			}
			want, err := network.Answer(t.Context(), &n, q, s)
			if err != nil {
				t.Fatal(err)
			}
			sameResults(t, list[i], want)
		}
	})
}

// With one chain and many servers, a single population is computed from lists and a sweep over many
// from tables: both agree in fractions, also with open jobs.
func TestListsMatchTables(t *testing.T) {
	m := serversOf(1, 9, 3)
	m.Stations[2].Servers = 0
	m.Stations[2].Discipline = network.Sharing
	for j := range int64(12) {
		m.Stations[2].Rates = append(m.Stations[2].Rates, big.NewRat(1+j*5%7, 1+j%3))
	}
	one := big.NewRat(1, 1)
	m.Classes = append(m.Classes, network.Class{Name: "open", ArrivalRate: big.NewRat(1, 5), Visits: []network.Visit{
		{Station: 1, MeanSize: big.NewRat(4, 1), Count: one}, {Station: 2, MeanSize: big.NewRat(1, 3), Count: one}}})
	c := network.Change{Parameter: network.Population}
	for n := range int64(14) {
		c.Values = append(c.Values, big.NewRat(1+n, 1))
	}
	for _, engine := range []num.Engine{num.Exact, num.Float} {
		q, s := network.Question{MaxJobs: 5}, network.Settings{Engine: engine}
		list, err := network.Sweep(t.Context(), m, c, q, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range c.Values {
			m.Classes[0].Population = int(v.Num().Int64())
			r, err := network.Answer(t.Context(), m, q, s)
			if err != nil {
				t.Fatal(err)
			}
			sameResults(t, list[i], r)
		}
	}
}

func TestSweepRefuses(t *testing.T) {
	m := oneChain(3, 3)
	one := []*big.Rat{big.NewRat(1, 1)}
	for path, c := range map[string]network.Change{
		"parameter": {Parameter: "size", Values: one},
		"class":     {Parameter: network.Population, Class: 1, Values: one},
		"visit":     {Parameter: network.MeanSize, Visit: 3, Values: one},
		"values[1]": {Parameter: network.Population, Values: []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 2)}},
		"values[0]": {Parameter: network.MeanSize, Values: []*big.Rat{new(big.Rat)}},
	} {
		_, err := network.Sweep(t.Context(), m, c, network.Question{}, network.Settings{})
		var bad *num.InputError
		if !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Throughputs and delays are within their bounds, for all rates, several closed chains and open
// chains; the bounds for a single job are exact.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTotals(t, rapid.Bool().Draw(t, "mixed"))
		bounds, err := network.Bounds(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		r, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, c := range r.Chains {
			if !c.Closed {
				continue
			}
			b := bounds[n]
			n++
			if x := c.Throughput.Exact; x.Cmp(b.Throughput.Low) < 0 || x.Cmp(b.Throughput.High) > 0 {
				t.Fatalf("throughput %v not in %v", x, b.Throughput)
			}
			if x := c.MeanDelay.Exact; x.Cmp(b.MeanDelay.Low) < 0 || x.Cmp(b.MeanDelay.High) > 0 {
				t.Fatalf("delay %v not in %v", x, b.MeanDelay)
			}
			if len(r.Chains) == 1 && c.Population == 1 && c.Throughput.Exact.Cmp(b.EmptyThroughput) != 0 {
				t.Fatalf("one job: %v, want %v", b.EmptyThroughput, c.Throughput.Exact)
			}
		}
		if n != len(bounds) {
			t.Fatalf("%d bounds of %d chains", len(bounds), n)
		}
	})
}

// The bounds of balanced networks match the textbook and are tighter than asymptotic bounds: S =
// [0.125 0.3 0.2], V = [16 10 5], Z = 4 of the package queueing of Octave (M. Marzolla, demo of
// qncsmva), by hand for N = 20.
func TestBoundsOfOneChain(t *testing.T) {
	m := centralServer(20)
	b, err := network.Bounds(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	// D = 2, 3, 1; Z = 4; D_max = 3. R' = 6: 6 + 2·19·6/10 = 28.8; slow: 20·6 = 120: 6 +
	// 3·19·120/124.
	low, high := big.NewRat(20, 1), big.NewRat(1, 3)
	low.Quo(low, new(big.Rat).Add(big.NewRat(10, 1), big.NewRat(3*19*120, 124)))
	if b[0].Throughput.Low.Cmp(low) != 0 || b[0].Throughput.High.Cmp(high) != 0 || b[0].Bottleneck != 2 {
		t.Errorf("%v, %v, bottleneck %d", b[0].Throughput, low, b[0].Bottleneck)
	}
	if b, err = network.Bounds(t.Context(), centralServer(3)); err != nil {
		t.Fatal(err)
	}
	if want := big.NewRat(3*10, 100+2*2*6); b[0].Throughput.High.Cmp(want) != 0 { // 3/(10 + 2·2·6/10)
		t.Errorf("%v, want %v", b[0].Throughput.High, want)
	}
}

// centralServer returns a network with think time 4 and demands 2, 3 and 1.
func centralServer(jobs int) *network.Model {
	visit := func(station int, size string, count int64) network.Visit {
		return network.Visit{Station: station, MeanSize: num.Rat(size), Count: big.NewRat(count, 1)}
	}
	return &network.Model{
		Stations: []network.Station{
			{Name: "think", Discipline: network.Delay}, {Name: "a", Discipline: network.FCFS},
			{Name: "b", Discipline: network.FCFS}, {Name: "c", Discipline: network.FCFS},
		},
		Classes: []network.Class{{Name: "user", Population: jobs, Visits: []network.Visit{
			visit(0, "4", 1), visit(1, "0.125", 16), visit(2, "0.3", 10), visit(3, "0.2", 5),
		}}},
	}
}

// A network of any size has bounds.
func TestBoundsOfLargeNetworks(t *testing.T) {
	m := manyChains(8, 1_000_000, 40, true)
	_, err := network.Solve(t.Context(), m, network.Settings{})
	var large *num.TooLargeError
	if !errors.As(err, &large) || large.States < 1e47 || large.Bytes < large.States {
		t.Errorf("%v", err)
	}
	slow := oneChain(10_000_000, 20)
	slow.Stations[1].Servers = 200_000
	if _, err := network.Solve(t.Context(), slow, network.Settings{}); !errors.As(err, &large) || large.Bytes > 1e10 {
		t.Errorf("%v", err)
	}
	b, err := network.Bounds(t.Context(), m)
	if err != nil || len(b) != 8 {
		t.Fatal(err)
	}
	for _, c := range b {
		if c.Throughput.Low.Sign() <= 0 || c.Throughput.Low.Cmp(c.Throughput.High) > 0 {
			t.Errorf("%v", c.Throughput)
		}
	}
}

func TestSolveEndsWithItsContext(t *testing.T) {
	m := manyChains(3, 20, 5, true)
	for _, engine := range []num.Engine{num.Float, num.Enclose, num.Exact} {
		if err := oracle.CheckEnds(func(ctx context.Context) error {
			_, err := network.Solve(ctx, m, network.Settings{Engine: engine})
			return err
		}, 600, 40); err != nil {
			t.Error(err)
		}
	}
}

// If float64 misses the tolerance and enclosures do not fit, the error names a tolerance that
// suffices.
func TestToleranceWithinReach(t *testing.T) {
	m := oneChain(1000, 2)
	s := network.Settings{RelTol: 1e-15, MaxBytes: 1 << 20}
	var large *num.TooLargeError
	if _, err := network.Solve(t.Context(), m, s); !errors.As(err, &large) || large.Input.Path != "RelTol" ||
		large.Bytes <= float64(s.MaxBytes) {
		t.Fatalf("%v", err)
	}
	s.RelTol = 1e-11
	if r, err := network.Solve(t.Context(), m, s); err != nil || r.Engine != num.Float {
		t.Errorf("%v", err)
	}
}

// The digits do not depend on the number of cores.
func TestDigitsDoNotDependOnCores(t *testing.T) {
	m := manyChains(3, 16, 6, true)
	solve := func() *network.Result {
		r, err := network.Answer(t.Context(), m, network.Question{MaxJobs: 3}, network.Settings{Engine: num.Float})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	many := solve()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if one := solve(); !reflect.DeepEqual(one, many) {
		t.Errorf("%+v on one core, %+v on %d", one, many, runtime.NumCPU())
	}
}
