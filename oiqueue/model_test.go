package oiqueue

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
)

// The rank table against the definition, the capacity of the union of servers, and what the
// servers give to one job of each class.
func TestGraphRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawGraph(t, rapid.IntRange(1, 5).Draw(t, "classes"))
		if want := oracle.RankTable(s.m); !oracle.Equal(s.q.Rank, want) {
			t.Errorf("Rank = %v, want %v", s.q.Rank, want)
		}
		for _, set := range oracle.Subsets(len(s.q.ArrivalRates)) {
			if got, want := s.q.Rank[oracle.Mask(set)], oracle.Sum(s.served(set)); got.Cmp(want) != 0 {
				t.Errorf("μ(%v) = %v, the servers work at %v", set, got, want)
			}
		}
	})
}

// A group taken whole is one server, and the mean size divides the capacities.
func TestFromCluster(t *testing.T) {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: rat(1, 2)}, {Name: "rack", Count: 3, Capacity: rat(2, 1)}},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: rat(1, 10), Servers: cluster.On(0)},
			{
				Name:        "b",
				ArrivalRate: rat(0, 1),
				Servers:     []cluster.Choice{{Server: 0, Choose: 1}, {Server: 1, Choose: 3}},
			},
		},
		MeanSize: rat(5, 1),
	}
	q := must(FromCluster(t.Context(), m))(t)
	if want := rats(t, "0", "1/10", "13/10", "13/10"); !oracle.Equal(q.Rank, want) ||
		!oracle.Equal(q.ArrivalRates, rats(t, "1/10", "0")) {
		t.Errorf("queue %+v, want rank %v", q, want)
	}
}

func TestBadInput(t *testing.T) {
	one, two := rats(t, "1"), rats(t, "1", "1")
	err1 := func(_ *Queue, err error) error { return err }
	constant := func([]int) *big.Rat { return rat(3, 1) }
	check := func(q *Queue) error { return CheckOrder(t.Context(), q, 1) }
	long := make([]*big.Rat, 21)
	for i := range long {
		long[i] = rat(1, 100)
	}
	cases := []struct {
		err  error
		want string
	}{
		{func() error { _, err := FromCluster(t.Context(), nil); return err }(), "want a cluster model, not nothing"},
		{
			func() error { _, err := FromCluster(t.Context(), &cluster.Model{}); return err }(),
			"servers = []: want at least one server",
		},
		{func() error {
			_, err := FromCluster(t.Context(), &cluster.Model{
				Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(9, 1)}},
				Classes: []cluster.Class{
					{Name: "a", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0)},
					{Name: "b", ArrivalRate: big.NewRat(1, 1), MeanSize: big.NewRat(2, 1), Servers: cluster.On(0)}},
			})
			return err
		}(),
			`classes[1].mean_size = 2: want 1, that of "a": first come, first served has formulas only for ` +
				`exponential sizes with one mean`},

		{err1(FromGraph(t.Context(), nil, one, nil)), "ArrivalRates = an empty list: want at least one class"},
		{err1(FromGraph(t.Context(), rats(t, "-1"), one, [][]int{{0}})), "ArrivalRates[0] = -1: want a number >= 0"},
		{err1(FromGraph(t.Context(), one, rats(t, "-1"), [][]int{{0}})), "capacities[0] = -1: want a number >= 0"},
		{
			err1(FromGraph(t.Context(), one, one, nil)),
			"compatible = 0 lists: want one list of servers for each of the 1 classes",
		},
		{
			err1(FromGraph(t.Context(), one, one, [][]int{{1}})),
			"compatible[0][0] = 1: want a server from 0 to 0, named once",
		},
		{
			err1(FromGraph(t.Context(), one, rats(t, "0"), [][]int{{0}})),
			"compatible[0] = [0]: want servers of positive total capacity",
		},
		{err1(FromTable(t.Context(), two, one)), "Rank = 1 values: want 2^2 = 4 values, one for each set of classes"},
		{err1(FromTable(t.Context(), one, two)), "Rank[0] = 1: want 0 or nil, the rate with no class present"},
		{err1(FromTable(t.Context(), long, one)), "ArrivalRates = 21 classes: want at most 20 classes, whose sets " +
			"are tabulated; merge classes with equal servers, or let package bf work on sets of servers"},

		{check(nil), "want a queue, not nothing"},
		{check(&Queue{ArrivalRates: one}), "Rank, TotalRate, OrderedRate = 0 of the three: want exactly one of them"},
		{
			check(&Queue{ArrivalRates: one, TotalRate: constant, OrderedRate: constant}),
			"Rank, TotalRate, OrderedRate = 2 of the three: want exactly one of them",
		},
		{
			check(&Queue{ArrivalRates: one, TotalRate: constant, Saturation: []int{1, 1}}),
			"Saturation = 2 entries: want one for each of the 1 classes, or nil",
		},
		{
			check(&Queue{ArrivalRates: one, TotalRate: constant, Saturation: []int{0}}),
			"Saturation[0] = 0: want a whole number >= 1",
		},
		{
			check(&Queue{ArrivalRates: one, Rank: []*big.Rat{nil, rat(1, 1)}, Saturation: []int{1}}),
			"Saturation = [1]: want nil, since Rank saturates at one job per class",
		},
		{
			CheckOrder(t.Context(), &Queue{ArrivalRates: one, TotalRate: constant}, -1),
			"length = -1: want a whole number >= 0",
		},
		{
			CheckOrder(t.Context(), &Queue{ArrivalRates: one, TotalRate: constant}, 1001),
			"length = 1001: want at most 1000",
		},
		{
			CheckOrder(t.Context(), &Queue{ArrivalRates: two, OrderedRate: constant}, 23),
			"length = 23: want a smaller one, for at most 4194304 states; 2 classes have 8388608 of that length",
		},

		{CheckOrder(t.Context(), &Queue{ArrivalRates: long, OrderedRate: constant}, 1000), "length = 1000: want a " +
			"smaller one, for at most 4194304 states; 21 classes have 1.65689e+1322 of that length"},

		{err1(MMc(one, 0, one[0])), "servers = 0: want a whole number >= 1"},
		{err1(MMc(one, 1, nil)), "serviceRate is missing: want a number > 0"},
		{err1(MSCCC(one, 1, one[0], []int{1, 1})), "limits = 2 entries: want one for each of the 1 classes, or nil"},
		{err1(MSCCC(one, 1, one[0], []int{0})), "limits[0] = 0: want a whole number >= 1"},
		{err1(MSHCC(one, Constraint{}, one[0])), "root.Limit = 0: want a whole number >= 1"},
		{
			err1(MSHCC(one, Constraint{Limit: 1}, one[0])),
			"root = a tree without class 0: want each class from 0 to 0 in exactly one node",
		},
		{
			err1(MSHCC(
				two, Constraint{Limit: 2, Classes: []int{0}, Children: []Constraint{{Limit: 1, Classes: []int{1, 0}}}},
				one[0],
			)),
			"root.Children[0].Classes[1] = 0: want a class from 0 to 1 that no other node has",
		},
		{
			err1(MSHCC(two, Constraint{Limit: 2, Children: []Constraint{{Classes: []int{1, 0}}}}, one[0])),
			"root.Children[0].Limit = 0: want a whole number >= 1",
		},
	}
	q := must(MMc(two, 2, rat(2, 1)))(t)
	_, err := StateMeasure(t.Context(), q, []int{0, 2})
	cases = append(cases, struct {
		err  error
		want string
	}{err, "c[1] = 2: want a class from 0 to 1"})
	_, err = Balance(t.Context(), q, []int{0})
	cases = append(cases, struct {
		err  error
		want string
	}{err, "x = 1 entries: want one for each of the 2 classes"})
	_, err = Allocation(t.Context(), q, []int{0, -1})
	cases = append(cases, struct {
		err  error
		want string
	}{err, "x[1] = -1: want a whole number >= 0"})
	_, err = Truncated(t.Context(), q, -1)
	cases = append(cases, struct {
		err  error
		want string
	}{err, "jobs = -1: want a whole number >= 0"})
	for _, c := range cases {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("error %v, want %s", c.err, c.want)
		}
	}
}

// Nothing a caller passes is changed, and its functions may keep or change what they get.
func TestArgumentsUnmodified(t *testing.T) {
	q := &Queue{ArrivalRates: rats(t, "1/3", "1/4"), Saturation: []int{2, 2}, OrderedRate: func(c []int) *big.Rat {
		k := min(len(c), 2)
		for i := range c {
			c[i] = -1
		}
		return rat(int64(k), 1)
	}}
	c, x := []int{1, 0, 1}, []int{2, 1}
	if err := CheckOrder(t.Context(), q, 4); err != nil {
		t.Error(err)
	}
	must(PartialBalance(t.Context(), q, c))(t)
	must(MeanAllocation(t.Context(), q, x))(t)
	must(Stationary(t.Context(), q, exactly))(t)
	must(Stationary(t.Context(), q, Settings{}))(t)
	if !slices.Equal(c, []int{1, 0, 1}) || !slices.Equal(x, []int{2, 1}) ||
		!oracle.Equal(q.ArrivalRates, rats(t, "1/3", "1/4")) {
		t.Errorf("c = %v, x = %v, rates %v", c, x, q.ArrivalRates)
	}
}
