package plan_test

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/plan"
	"productform/stability"
)

// solved returns the measures of a model in fractions.
func solved(t rapid.TB, m *cluster.Model) *bf.Result {
	t.Helper()
	r, err := bf.Solve(context.Background(), m, bf.Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The theorem of the package holds in fractions. Take more capacity at a server or fewer arrivals
// of a class: no class has more jobs, no server is busier, and no tail of a delay is heavier.
// Neither the margin nor the critical scale is smaller.
func TestMonotone(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: 4, Count: 2, Stable: true})
		more := *m
		if rapid.Bool().Draw(t, "capacity") {
			more.Servers = slices.Clone(m.Servers)
			s := rapid.IntRange(0, len(m.Servers)-1).Draw(t, "server")
			step := big.NewRat(rapid.Int64Range(1, 20).Draw(t, "step"), 4)
			more.Servers[s].Capacity = step.Add(step, m.Servers[s].Capacity)
		} else {
			more.Classes = slices.Clone(m.Classes)
			i := rapid.IntRange(0, len(m.Classes)-1).Draw(t, "class")
			more.Classes[i].ArrivalRate = new(big.Rat).Mul(
				m.Classes[i].ArrivalRate, big.NewRat(rapid.Int64Range(1, 9).Draw(t, "part"), 10),
			)
		}
		before, after := solved(t, m), solved(t, &more)
		for i := range m.Classes {
			if after.Classes[i].MeanJobs.Exact.Cmp(before.Classes[i].MeanJobs.Exact) > 0 {
				t.Fatalf("class %d has more jobs: %v, not %v",
					i, after.Classes[i].MeanJobs.Exact, before.Classes[i].MeanJobs.Exact)
			}
		}
		for s := range m.Servers {
			if after.Servers[s].Utilization.Exact.Cmp(before.Servers[s].Utilization.Exact) > 0 {
				t.Fatalf("server %d is busier", s)
			}
		}
		x, err := stability.Cluster(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		y, err := stability.Cluster(ctx, &more)
		if err != nil {
			t.Fatal(err)
		}
		if y.Margin.Cmp(x.Margin) < 0 || y.CriticalScale.Cmp(x.CriticalScale) < 0 {
			t.Fatal("margin or critical scale is smaller")
		}
		q := bf.Question{Times: []*big.Rat{big.NewRat(1, 4), big.NewRat(2, 1)}}
		old, err := bf.Answer(ctx, m, q, bf.Settings{Engine: num.Float})
		if err != nil {
			t.Fatal(err)
		}
		now, err := bf.Answer(ctx, &more, q, bf.Settings{Engine: num.Float})
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Classes {
			for k := range q.Times {
				if now.Classes[i].Tails[k].Low.Cmp(old.Classes[i].Tails[k].High) > 0 {
					t.Fatalf("class %d is late more often", i)
				}
			}
		}
	})
}

// No edge lowers the margin or the critical scale, or raises the bound on mean delays that depends
// only on capacities. That bound holds.
func TestEdgesAndCapacity(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: 3, Count: 2, Stable: true})
		i := rapid.IntRange(0, len(m.Classes)-1).Draw(t, "class")
		s := rapid.IntRange(0, len(m.Servers)-1).Draw(t, "server")
		with := *m
		with.Classes = slices.Clone(m.Classes)
		if !slices.ContainsFunc(m.Classes[i].Servers, func(c cluster.Choice) bool { return c.Server == s }) {
			with.Classes[i].Servers = append(slices.Clone(m.Classes[i].Servers), cluster.Choice{
				Server: s,
				Choose: rapid.IntRange(1, m.Servers[s].Size()).Draw(t, "choose"),
			})
		}
		x, err := stability.Cluster(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		y, err := stability.Cluster(ctx, &with)
		if err != nil {
			t.Fatal(err)
		}
		if y.Margin.Cmp(x.Margin) < 0 || y.CriticalScale.Cmp(x.CriticalScale) < 0 {
			t.Fatal("margin or critical scale is smaller")
		}
		before, after := solved(t, m), solved(t, &with)
		for class := -1; class < len(m.Classes); class++ {
			mean := func(r *bf.Result) *big.Rat {
				if class < 0 {
					return r.MeanDelay.Exact
				}
				return r.Classes[class].MeanDelay.Exact
			}
			least, now := plan.LeastPossibleDelay(m, class), plan.LeastPossibleDelay(&with, class)
			if least.Cmp(mean(before)) > 0 || now.Cmp(mean(after)) > 0 || now.Cmp(least) > 0 {
				t.Fatalf("class %d: at least %v then %v, mean delays %v, %v",
					class, least, now, mean(before), mean(after))
			}
		}
	})
}

// An edge can hurt. Two servers have capacity 1; a uses the first at load 0.9, b the second at 0.4.
// If b may also use the first, the mean delay of all jobs is 7730/1001 instead of 290/39, and that
// of a is 810/77 instead of 10.
func TestEdgeCanHurt(t *testing.T) {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}, {Name: "t", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(9, 10), Servers: cluster.On(0)},
			{Name: "b", ArrivalRate: big.NewRat(2, 5), Servers: cluster.On(1)},
		},
	}
	p := &plan.Problem{Model: m, Edges: []plan.Edge{{Class: "b", Server: "s", Cost: big.NewRat(1, 1)}}}
	for _, c := range []struct {
		edges   []int
		a, b, o string
	}{{nil, "10", "5/3", "290/39"}, {[]int{0}, "810/77", "10/7", "7730/1001"}} {
		with, err := plan.Apply(p, plan.Choice{Edges: c.edges})
		if err != nil {
			t.Fatal(err)
		}
		r := solved(t, with)
		if a, b, all := r.Classes[0].MeanDelay.Exact.RatString(), r.Classes[1].MeanDelay.Exact.RatString(),
			r.MeanDelay.Exact.RatString(); a != c.a || b != c.b || all != c.o {
			t.Errorf("edges %v: %s, %s, all %s; want %s, %s, %s", c.edges, a, b, all, c.a, c.b, c.o)
		}
	}
	effects, err := plan.EdgeEffects(context.Background(), p, plan.Choice{}, plan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if e, edge := effects[0], p.Edges[0]; e.Class != edge.Class || e.Server != edge.Server {
		t.Errorf("edge from %q to %q, want %q to %q", e.Class, e.Server, edge.Class, edge.Server)
	}
	if pays := effects[0].Pays(); !slices.Equal(pays, []int{0}) {
		t.Errorf("classes %v pay", pays)
	}
}

// The mean number of jobs is not convex in the capacities: halfway between (11, 2, 15) and (5, 8,
// 15) it exceeds the average of the two values.
func TestNotConvex(t *testing.T) {
	jobs := func(c1, c2 int64) *big.Rat {
		return solved(t, &cluster.Model{
			Servers: []cluster.Server{
				{Name: "s1", Capacity: big.NewRat(c1, 1)}, {Name: "s2", Capacity: big.NewRat(c2, 1)},
				{Name: "s3", Capacity: big.NewRat(15, 1)},
			},
			Classes: []cluster.Class{
				{Name: "a", ArrivalRate: big.NewRat(11, 1), Servers: cluster.On(0, 1)},
				{Name: "b", ArrivalRate: big.NewRat(11, 1), Servers: cluster.On(0, 2)},
			},
		}).MeanJobs.Exact
	}
	from, middle, to := jobs(11, 2), jobs(8, 5), jobs(5, 8)
	if from.FloatString(6) != "8.478744" || middle.FloatString(6) != "8.402667" || to.FloatString(6) != "8.305748" {
		t.Errorf("mean jobs %s, %s, %s", from.FloatString(6), middle.FloatString(6), to.FloatString(6))
	}
	if mean := new(big.Rat).Add(from, to); new(big.Rat).Add(middle, middle).Cmp(mean) <= 0 {
		t.Error("convex")
	}
}

// An edge to new servers lets its class use all that are bought. If none are, it has no effect.
func TestEdgeToNewServers(t *testing.T) {
	p := &plan.Problem{
		Model: &cluster.Model{
			Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(2, 1)}},
			Classes: []cluster.Class{
				{Name: "a", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0)},
				{Name: "b", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)},
			},
		},
		NewServers: []plan.NewServer{{
			Name:     "n",
			Capacity: big.NewRat(1, 1),
			Classes:  []string{"a"},
			Cost:     big.NewRat(3, 1),
			Most:     2,
		}},
		Edges: []plan.Edge{{Class: "b", Server: "n", Cost: big.NewRat(1, 1)}},
	}
	both := []cluster.Choice{{Server: 0, Choose: 1}, {Server: 1, Choose: 2}}
	for _, c := range []struct {
		choice plan.Choice
		a, b   []cluster.Choice
	}{
		{plan.Choice{Steps: []int{2}, Edges: []int{0}}, both, both},
		{plan.Choice{Steps: []int{2}}, both, both[:1]},
		{plan.Choice{Steps: []int{0}, Edges: []int{0}}, both[:1], both[:1]},
	} {
		m, err := plan.Apply(p, c.choice)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Check(); err != nil || !slices.Equal(m.Classes[0].Servers, c.a) ||
			!slices.Equal(m.Classes[1].Servers, c.b) {
			t.Errorf("%+v: %+v, %v", c.choice, m.Classes, err)
		}
	}
	// Both classes on all servers have a mean delay of 1/(4 - 3/2) = 2/5; no cheaper plan works.
	p.Targets = []plan.Target{{Measure: plan.MeanDelay, Limit: big.NewRat(2, 5)}}
	a, err := plan.LeastCost(t.Context(), p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Plan == nil || a.Plan.Cost.Cmp(big.NewRat(7, 1)) != 0 {
		t.Fatalf("plan %+v, want cost 7", a.Plan)
	}
	if err := plan.Verify(t.Context(), p, a, plan.Settings{}); err != nil {
		t.Error(err)
	}
}
