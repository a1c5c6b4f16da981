package whittle_test

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/whittle"
)

// good returns a stable network of two classes, to be spoiled in one entry.
func good() *whittle.Network {
	return &whittle.Network{
		ArrivalRates: []*big.Rat{num.Rat("1/2"), num.Rat("1")},
		Rank:         []*big.Rat{nil, num.Rat("2"), num.Rat("2"), num.Rat("3")},
	}
}

func TestBadNetworks(t *testing.T) {
	box := whittle.Box(2, 2)
	for _, c := range []struct {
		spoil   func(n *whittle.Network, l *whittle.Lattice)
		message string
	}{
		{
			func(n *whittle.Network, _ *whittle.Lattice) { n.ArrivalRates[1] = num.Rat("-1") },
			"ArrivalRates[1] = -1: want a number >= 0",
		},
		{
			func(n *whittle.Network, _ *whittle.Lattice) { n.ArrivalRates[0] = nil },
			"ArrivalRates[0] is missing: want a number >= 0",
		},
		{
			func(n *whittle.Network, _ *whittle.Lattice) { n.ArrivalRates = nil },
			"ArrivalRates = 0 rates: want as many rates as the lattice has classes, 2",
		},
		{func(n *whittle.Network, _ *whittle.Lattice) { n.Rank = n.Rank[:3] }, "Rank = 3 values: want 2^2 = 4 values"},
		{func(n *whittle.Network, _ *whittle.Lattice) { n.Rank[3] = nil }, "Rank[3] is missing: want a number > 0"},
		{func(n *whittle.Network, _ *whittle.Lattice) { n.Rank[2] = new(big.Rat) }, "Rank[2] = 0: want a number > 0"},
		{func(n *whittle.Network, _ *whittle.Lattice) { n.Rank[3] = num.Rat("7/4") }, "Rank[3] = 7/4: want at least " +
			"Rank[2] = 2: the rate with classes [1] present cannot fall when class 0 joins"},
		{
			func(n *whittle.Network, _ *whittle.Lattice) { n.Rank[0] = num.Rat("1") },
			"Rank[0] = 1: want 0 or nil, the rate with no class present",
		},
		{
			func(_ *whittle.Network, l *whittle.Lattice) { l.Limits[1] = -1 },
			"Lattice.Limits[1] = -1: want an integer in 0..",
		},
		{
			func(_ *whittle.Network, l *whittle.Lattice) { l.Limits = []int{} },
			"Lattice.Limits = 0: want 1 to 20 limits",
		},
		{
			func(_ *whittle.Network, l *whittle.Lattice) { l.Limits = []int{1 << 25, 1 << 25} },
			"Lattice.Limits[0] = 33554432: want an integer in 0..",
		},
		{
			func(_ *whittle.Network, l *whittle.Lattice) { l.Limits = []int{20000, 20000} },
			"Lattice.Limits = [20000 20000]: want at most",
		},
		{
			func(_ *whittle.Network, l *whittle.Lattice) { l.Total = 3 },
			"want either limits (a box) or classes and total (a simplex)",
		},
		{
			func(_ *whittle.Network, l *whittle.Lattice) { *l = whittle.Lattice{} },
			"Lattice.Classes = 0: want an integer in 1..20",
		},
		{
			func(_ *whittle.Network, l *whittle.Lattice) { *l = whittle.Simplex(2, -1) },
			"Lattice.Total = -1: want an integer in 0..",
		},
		{
			func(_ *whittle.Network, l *whittle.Lattice) { *l = whittle.Simplex(2, 20000) },
			"Lattice.Total = 20000: want at most",
		},
		{
			func(_ *whittle.Network, l *whittle.Lattice) { *l = whittle.Simplex(3, 2) },
			"ArrivalRates = 2 rates: want as many rates as the lattice has classes, 3",
		},
	} {
		n, l := good(), whittle.Lattice{Limits: slices.Clone(box.Limits)}
		c.spoil(n, &l)
		if _, err := whittle.Stationary(t.Context(), n, l, exactly); !isInput(err, c.message) {
			t.Errorf("Stationary, exact: %v, want %q", err, c.message)
		}
		// Stationary takes more states, and says so.
		if _, err := whittle.Stationary(t.Context(), n, l, whittle.Settings{}); !isInput(err, c.message) {
			if len(l.Limits) == 0 || l.Limits[0] != 1<<25 {
				t.Errorf("Stationary: %v, want %q", err, c.message)
			}
		}
	}
}

func isInput(err error, message string) bool {
	var e *num.InputError
	return errors.As(err, &e) && strings.Contains(err.Error(), message)
}

func TestBadCalls(t *testing.T) {
	one := []*big.Rat{num.Rat("1")}
	box := whittle.Box(1)
	balance := whittle.Balance{Lattice: box, Phi: []*big.Rat{num.Rat("1"), num.Rat("1")}}
	tiny := good()
	tiny.ArrivalRates[0] = power(num.Rat("1/2"), 200)
	near := &whittle.Network{
		ArrivalRates: []*big.Rat{sub(num.Rat("1"), power(num.Rat("1/2"), 300))},
		Rank:         []*big.Rat{nil, num.Rat("1")},
	}
	solve := func(lambda []*big.Rat, b whittle.Balance, floor []*big.Rat) error {
		_, err := whittle.StationaryOfBalance(t.Context(), lambda, b, floor)
		return err
	}
	rates := func(l whittle.Lattice, phi [][]*big.Rat, tol *big.Rat) error {
		_, _, err := whittle.BalanceFromRates(t.Context(), l, phi, tol)
		return err
	}
	second := func(_ any, err error) error { return err }
	for message, err := range map[string]error{
		"floor[0] = 1: want a number > ArrivalRates[0] = 1": solve(one, balance, one),
		"floor = 0: want 1 numbers":                         solve(one, balance, nil),
		"ArrivalRates[0] is missing":                        solve([]*big.Rat{nil}, balance, one),
		"want a cluster model, not nothing": second(whittle.FromCluster(
			t.Context(), nil,
		)),
		"servers = []: want at least one server": second(whittle.FromCluster(
			t.Context(), &cluster.Model{},
		)),
		"want a box": solve(
			one, whittle.Balance{Lattice: whittle.Simplex(1, 1), Phi: balance.Phi}, one,
		),
		"Balance.Phi = 1: want 2 numbers": solve(one, whittle.Balance{Lattice: box, Phi: one}, one),
		"Balance.Phi[0] = 2: want 1": solve(
			one, whittle.Balance{Lattice: box, Phi: []*big.Rat{num.Rat("2"), num.Rat("1")}}, one,
		),
		"Balance.Phi[1] = -1: want a number > 0": solve(
			one, whittle.Balance{Lattice: box, Phi: []*big.Rat{num.Rat("1"), num.Rat("-1")}}, one,
		),
		"Balance.Phi[1] is missing": solve(
			one, whittle.Balance{Lattice: box, Phi: []*big.Rat{num.Rat("1"), nil}}, one,
		),
		"rates = 1: want 2 rows":     rates(box, [][]*big.Rat{{nil}}, nil),
		"rates[1] = 0: want 1 rates": rates(box, [][]*big.Rat{{nil}, {}}, nil),
		"rates[1][0] is missing: want a number > 0, the rate in state [1]": rates(
			box, [][]*big.Rat{{nil}, {nil}}, nil,
		),
		"rates[1][0] = 0: want a number > 0, the rate in state [1]": rates(
			box, [][]*big.Rat{{nil}, {new(big.Rat)}}, nil,
		),
		"rates[0][0] = 1: want 0, since no job of the class is in state [0]": rates(box, [][]*big.Rat{one, one}, nil),
		"tol = -1: want a number in [0, 1)": rates(
			box, [][]*big.Rat{{nil}, one}, num.Rat("-1"),
		),
		"classes = 21: want an integer in 1..20": second(whittle.SingleServer(21, num.Rat("1"))),
		"rate = 0: want a number > 0":            second(whittle.SingleServer(1, new(big.Rat))),
		"rates = 0: want 1 to 20 rates":          second(whittle.SeparateServers(t.Context())),
		"rates[1] is missing: want a number > 0": second(whittle.SeparateServers(
			t.Context(), num.Rat("1"), nil,
		)),
		"rates = 1: want 2 numbers, one per class": second(whittle.InfiniteServers(
			t.Context(), whittle.Box(1, 1), num.Rat("1"),
		)),
		"prob = 1: want 2 numbers, one per state": second(whittle.LocalImbalances(
			t.Context(), box, one, [][]*big.Rat{{nil}, one}, one,
		)),
		"want 0, or a rate in 2^-150..2^150": second(whittle.Stationary(
			t.Context(), tiny, whittle.Box(1, 1), whittle.Settings{},
		)),
		"Engine = enclose: want auto, float or exact": second(whittle.Stationary(
			t.Context(), near, box, whittle.Settings{Engine: num.Enclose},
		)),
		"want rates farther from instability, or the exact engine": second(whittle.Stationary(
			t.Context(), near, box, whittle.Settings{},
		)),
	} {
		if !isInput(err, message) {
			t.Errorf("got %v, want %q", err, message)
		}
	}
}

// The boundary is unstable, and the first overloaded set is named, by every solver.
func TestUnstable(t *testing.T) {
	for _, c := range []struct {
		lambda  []string
		classes []int
		message string
	}{
		{[]string{"2", "1/2"}, []int{0}, "class 0 brings 2 jobs per unit of time to servers that can do 2"},
		{[]string{"3/2", "3/2"}, []int{0, 1}, "classes 0 and 1 bring 3 jobs per unit of time to servers that can do 3"},
		{[]string{"0", "5"}, []int{1}, "class 1 brings 5 jobs per unit of time to servers that can do 2"},
	} {
		n := good()
		n.ArrivalRates = []*big.Rat{num.Rat(c.lambda[0]), num.Rat(c.lambda[1])}
		_, exact := whittle.Stationary(t.Context(), n, whittle.Box(2, 2), exactly)
		_, float := whittle.Stationary(t.Context(), n, whittle.Simplex(2, 2), whittle.Settings{})
		for _, err := range []error{exact, float} {
			var e *cluster.UnstableError
			if !errors.Is(err, num.ErrUnstable) || !errors.As(err, &e) || !slices.Equal(e.Classes, c.classes) ||
				!strings.Contains(err.Error(), c.message) {
				t.Errorf("λ = %v: %v, want %q", c.lambda, err, c.message)
			}
		}
	}
}

// A class that never arrives has no jobs, and does not change the others.
func TestClassThatNeverArrives(t *testing.T) {
	n := good()
	n.ArrivalRates[0] = new(big.Rat)
	r, err := whittle.Stationary(t.Context(), n, whittle.Simplex(2, 3), exactly)
	if err != nil {
		t.Fatal(err)
	}
	if !isExactly(r.MeanJobs[0], new(big.Rat)) || !isExactly(r.MeanJobs[1], num.Rat("1")) { // M/M/1 at load 1/2
		t.Errorf("means %v", r.MeanJobs)
	}
	f, err := whittle.Stationary(t.Context(), n, whittle.Simplex(2, 3), whittle.Settings{})
	if err != nil || f.MeanJobs[0].Float != 0 ||
		relativeError(f.MeanJobs[1].Float, num.Rat("1")) > f.RelativeErrorBound {
		t.Errorf("means %v, %v", f, err)
	}
}

// Answers do not depend on the order of the classes or the unit of time.
func TestOrderAndUnitsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t, 4)
		classes := len(n.ArrivalRates)
		order := rapid.Permutation([]int{0, 1, 2, 3}[:classes]).Draw(t, "order")
		unit := num.Rat("3/7")
		other := &whittle.Network{ArrivalRates: make([]*big.Rat, classes), Rank: make([]*big.Rat, 1<<classes)}
		for i, to := range order {
			other.ArrivalRates[to] = mul(n.ArrivalRates[i], unit)
		}
		for a := range n.Rank {
			b := 0
			for i, to := range order {
				b |= a >> i & 1 << to
			}
			other.Rank[b] = mul(n.Rank[a], unit)
		}
		l := whittle.Simplex(classes, 3)
		r, s := mustSolve(t, n, l), mustSolve(t, other, l)
		if !equal(r.MassLeftOut.Exact, s.MassLeftOut.Exact) {
			t.Fatalf("mass left out %v and %v", r.MassLeftOut, s.MassLeftOut)
		}
		for i, to := range order {
			if !equal(r.MeanJobs[i].Exact, s.MeanJobs[to].Exact) {
				t.Fatalf("E[X_%d] = %v and %v", i, r.MeanJobs[i], s.MeanJobs[to])
			}
		}
	})
}

// Groups taken whole and a mean size: the network is that of the definition.
func TestFromCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Count: 3, ZeroRates: true, ZeroCapacities: true})
		for i := range m.Classes {
			for k, c := range m.Classes[i].Servers {
				m.Classes[i].Servers[k].Choose = m.Servers[c.Server].Size()
			}
		}
		n, err := whittle.FromCluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(n.Rank, oracle.RankTable(m), equal) ||
			!slices.EqualFunc(n.ArrivalRates, oracle.Rates(m), equal) {
			t.Errorf("network %+v, want rank %v and rates %v", n, oracle.RankTable(m), oracle.Rates(m))
		}
	})
}
