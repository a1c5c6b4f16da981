package stability

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
)

// An answer is the result of listing all sets of classes of a model, by the definitions.
type answer struct {
	margin    *big.Rat
	marginSet []int
	scale     *big.Rat
	tightest  []int
}

// bruteForce lists all sets; rank(A) gives μ(A) for a list of classes. It visits sets by size, then
// in lexicographic order, so the first minimum found is the one to report.
func bruteForce(lambda []*big.Rat, rank func([]int) *big.Rat) answer {
	var a answer
	for _, set := range oracle.Subsets(len(lambda))[1:] {
		mu, sum := rank(set), new(big.Rat)
		for _, i := range set {
			sum.Add(sum, lambda[i])
		}
		if h := new(big.Rat).Sub(mu, sum); a.margin == nil || h.Cmp(a.margin) < 0 {
			a.margin, a.marginSet = h, set
		}
		if sum.Sign() > 0 {
			if q := new(big.Rat).Quo(mu, sum); a.scale == nil || q.Cmp(a.scale) < 0 {
				a.scale, a.tightest = q, set
			}
		}
	}
	return a
}

// loads returns λ_i σ_i and the rank function of a model of single servers, in work per unit of
// time.
func loads(m *cluster.Model) ([]*big.Rat, func([]int) *big.Rat) {
	size := big.NewRat(1, 1)
	if m.MeanSize != nil {
		size = m.MeanSize
	}
	return oracle.Rates(m.Scale(size)), func(set []int) *big.Rat {
		mu := oracle.Rank(m, set)
		return mu.Mul(mu, size)
	}
}

// drawModel draws a model of up to 6 servers and 7 classes; with groups, of up to 3 rows of up to 4
// servers and 3 classes.
func drawModel(t *rapid.T, groups bool) *cluster.Model {
	o := oracle.Options{Servers: 6, Classes: 7, ZeroRates: true, ZeroCapacities: true, OwnSizes: true, Long: true}
	if groups {
		o.Servers, o.Classes, o.Count = 3, 3, 4
	}
	return oracle.DrawModel(t, o)
}

// drawLoad returns the model with its rates scaled, half of the time to a load of 1 or close to it.
func drawLoad(t *rapid.T, m *cluster.Model) *cluster.Model {
	factor := rapid.SampledFrom([]*big.Rat{
		nil, nil, nil, big.NewRat(1, 1), big.NewRat(999_999, 1_000_000), big.NewRat(1_000_001, 1_000_000),
		big.NewRat(1, 3), big.NewRat(9, 10),
	}).Draw(t, "load")
	if factor == nil {
		return m
	}
	return oracle.ScaleTo(m, factor)
}

func equal(a, b *big.Rat) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Cmp(b) == 0
}

// The results by flows match a list of all sets on single servers, and so do those of Rank.
func TestClusterAgainstSubsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawLoad(t, drawModel(t, false))
		lambda, rank := loads(m)
		want := bruteForce(lambda, rank)
		got, err := Cluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, got, want)
		if err := Verify(t.Context(), m, got); err != nil {
			t.Fatal(err)
		}
		table := make([]*big.Rat, 1<<len(lambda))
		for _, set := range oracle.Subsets(len(lambda)) {
			table[oracle.Mask(set)] = rank(set)
		}
		got, err = Rank(t.Context(), lambda, table)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, got, want)
		if err := verifyRank(t.Context(), lambda, table, got); err != nil {
			t.Fatal(err)
		}
		table[0] = nil // nil represents 0
		if got, err = Rank(t.Context(), lambda, table); err != nil {
			t.Fatal(err)
		}
		compare(t, got, want)
	})
}

func compare(t *rapid.T, got *Result, want answer) {
	if stable := want.margin.Sign() > 0; got.Stable != stable {
		t.Fatalf("Stable = %v, margin %v", got.Stable, want.margin)
	}
	if !equal(got.Margin, want.margin) || !slices.Equal(got.MarginSet, want.marginSet) {
		t.Fatalf("Margin = %v of %v, want %v of %v", got.Margin, got.MarginSet, want.margin, want.marginSet)
	}
	if !equal(got.CriticalScale, want.scale) || !slices.Equal(got.Bottleneck, want.tightest) {
		t.Fatalf("CriticalScale = %v of %v, want %v of %v",
			got.CriticalScale, got.Bottleneck, want.scale, want.tightest)
	}
}

// A model with groups has the same verdict, margin and scale as the model of all combinations.
func TestGroupsAgainstExpansion(t *testing.T) {
	small := rapid.Custom(func(t *rapid.T) *cluster.Model {
		return drawModel(t, true)
	}).Filter(func(m *cluster.Model) bool {
		_, _, _, err := m.Expand(12)
		return err == nil
	})
	rapid.Check(t, func(t *rapid.T) {
		m := drawLoad(t, small.Draw(t, "model"))
		expanded, _, classRow, err := m.Expand(12)
		if err != nil {
			t.Fatal(err)
		}
		want := bruteForce(loads(expanded))
		got, err := Cluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if got.Stable != (want.margin.Sign() > 0) || !equal(got.Margin, want.margin) ||
			!equal(got.CriticalScale, want.scale) {
			t.Fatalf("margin %v, scale %v, want %v, %v", got.Margin, got.CriticalScale, want.margin, want.scale)
		}
		if len(got.MarginSet) > countRows(want.marginSet, classRow) ||
			len(got.Bottleneck) > countRows(want.tightest, classRow) {
			t.Fatalf("sets %v and %v have more rows than %v and %v",
				got.MarginSet, got.Bottleneck, want.marginSet, want.tightest)
		}
		if err := Verify(t.Context(), m, got); err != nil {
			t.Fatal(err)
		}
	})
}

func countRows(set, row []int) int {
	rows := map[int]bool{}
	for _, i := range set {
		rows[row[i]] = true
	}
	return len(rows)
}

// In larger groups, the minima match those over all numbers k of servers of each row.
func TestGroupsAgainstCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{
			Servers:        3,
			Count:          9,
			ZeroRates:      true,
			ZeroCapacities: true,
			OwnSizes:       true,
			Long:           true,
		})
		m = drawLoad(t, m)
		margin, scale := oracle.Extremes(m)
		got, err := Cluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if !equal(got.Margin, margin) || !equal(got.CriticalScale, scale) || got.Stable != (margin.Sign() > 0) {
			t.Fatalf("margin %v, scale %v, want %v, %v", got.Margin, got.CriticalScale, margin, scale)
		}
		if err := Verify(t.Context(), m, got); err != nil {
			t.Fatal(err)
		}
	})
}

// With numbers of hundreds of digits, the flow is computed in several digits, and the margin in
// large steps.
func TestLongNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, false)
		digits := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(rapid.IntRange(30, 90).Draw(t, "digits"))), nil)
		stretch := func(x *big.Rat, k int64) *big.Rat { // a fraction near x with a separate long denominator
			if x.Sign() == 0 {
				return x
			}
			d := new(big.Int).Add(digits, big.NewInt(k))
			return new(big.Rat).Add(x, new(big.Rat).SetFrac(big.NewInt(k), d))
		}
		for s := range m.Servers {
			m.Servers[s].Capacity = stretch(m.Servers[s].Capacity, int64(2*s+1))
		}
		for i := range m.Classes {
			m.Classes[i].ArrivalRate = stretch(m.Classes[i].ArrivalRate, int64(2*i))
		}
		m = drawLoad(t, m)
		got, err := Cluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, got, bruteForce(loads(m)))
		if err := Verify(t.Context(), m, got); err != nil {
			t.Fatal(err)
		}
	})
}

// In larger clusters the critical scale is proved, and the margin matches that from one maximum
// flow per class.
func TestLargerClusters(t *testing.T) {
	for _, spread := range []int{3, 40} {
		for _, load := range []int64{200_000, 900_000, 999_999, 1_000_000, 1_300_000} {
			m := randomCluster(t, 120, 40, 3, spread, load)
			got, err := Cluster(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(t.Context(), m, got); err != nil {
				t.Fatal(err)
			}
			if want := big.NewRat(1_000_000, load); !equal(got.CriticalScale, want) {
				t.Errorf("critical scale %v, want %v", got.CriticalScale, want)
			}
			if !got.Stable {
				continue
			}
			g, err := newGraph(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			all := new(big.Int)
			for _, c := range g.capacity {
				all.Add(all, c)
			}
			want := leastByFlows(g, all.Mul(all, big.NewInt(2)))
			if !equal(got.Margin, want.margin) || !slices.Equal(got.MarginSet, want.classes) {
				t.Errorf("margin %v of %v, want %v of %v", got.Margin, got.MarginSet, want.margin, want.classes)
			}
		}
	}
}

// leastByFlows lets each class in turn send without limit: the minimum cut of this flow is the set
// with the smallest margin that contains the class and no earlier one. all exceeds every cut.
func leastByFlows(g *graph, all *big.Int) *subset {
	need := slices.Clone(g.load)
	var best *subset
	for i := range g.load {
		need[i] = all
		if _, err := g.solve(context.Background(), need, g.capacity); err != nil {
			panic(err) // the context is never cancelled
		}
		if candidate := g.subsetOf(cut{g.classes, g.servers}); candidate.isPreferred(best) {
			best = candidate
		}
		need[i] = new(big.Int)
	}
	return best
}

// The limits in heavy traffic exist if and only if exactly one set of classes with arrivals, among
// all sets of combinations of servers, attains the critical scale. They are the fractions of its
// work.
func TestHeavyTrafficAgainstSubsets(t *testing.T) {
	unique, several := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rapid.Bool().Draw(t, "groups"))
		if rapid.IntRange(0, 3).Draw(t, "once or twice") == 0 {
			m = twice(m)
		}
		expanded, _, classRow, err := m.Expand(12)
		if err != nil || len(expanded.Classes) > 9 {
			t.Skip("too many combinations")
		}
		lambda, rank := loads(expanded)
		scale := bruteForce(lambda, rank).scale
		var tight [][]int
		for _, set := range oracle.Subsets(len(lambda))[1:] {
			sum, arrives := new(big.Rat), true
			for _, i := range set {
				sum.Add(sum, lambda[i])
				arrives = arrives && lambda[i].Sign() > 0
			}
			if arrives && equal(scale, new(big.Rat).Quo(rank(set), sum)) {
				tight = append(tight, set)
			}
		}
		got, err := Cluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if (got.HeavyTraffic != nil) != (len(tight) == 1) {
			t.Fatalf("limits %v, tight sets %v", got.HeavyTraffic, tight)
		}
		if got.HeavyTraffic == nil {
			several++
			return
		}
		unique++
		want := make([]*big.Rat, len(m.Classes))
		for i := range want {
			want[i] = new(big.Rat)
		}
		total := new(big.Rat)
		for _, i := range tight[0] {
			want[classRow[i]].Add(want[classRow[i]], lambda[i])
			total.Add(total, lambda[i])
		}
		for i, x := range want {
			if !equal(got.HeavyTraffic[i], x.Quo(x, total)) {
				t.Fatalf("limit %v of class %d, want %v", got.HeavyTraffic[i], i, x)
			}
		}
	})
	if unique == 0 || several == 0 {
		t.Errorf("%d models with one tight set, %d with several", unique, several)
	}
}

// twice returns a model together with a copy of itself: each set that attains the critical scale
// occurs twice.
func twice(m *cluster.Model) *cluster.Model {
	both := *m
	both.Servers, both.Classes = slices.Clone(m.Servers), slices.Clone(m.Classes)
	for _, s := range m.Servers {
		s.Name += "'"
		both.Servers = append(both.Servers, s)
	}
	for _, c := range m.Classes {
		c.Name += "'"
		c.Servers = slices.Clone(c.Servers)
		for i := range c.Servers {
			c.Servers[i].Server += len(m.Servers)
		}
		both.Classes = append(both.Classes, c)
	}
	return &both
}
