package stability

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
)

// An answer is what listing all sets of classes of a model gives, straight from the definitions.
type answer struct {
	margin    *big.Rat
	marginSet []int
	scale     *big.Rat
	tightest  []int
}

// bruteForce lists all sets; rank(A) gives μ(A) for a list of classes. Sets are visited by
// size, then in lexicographic order, so that the first minimum found is the one to report.
func bruteForce(lambda []*big.Rat, rank func([]int) *big.Rat) answer {
	var a answer
	for size := 1; size <= len(lambda); size++ {
		for _, set := range subsets(len(lambda), size) {
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
	}
	return a
}

// subsets lists the subsets of 0..n-1 of a size, in lexicographic order.
func subsets(n, size int) [][]int {
	if size == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for _, rest := range subsets(n, size-1) {
		from := 0
		if len(rest) > 0 {
			from = rest[len(rest)-1] + 1
		}
		for i := from; i < n; i++ {
			all = append(all, append(slices.Clone(rest), i))
		}
	}
	return all
}

// loads returns λ_i σ and the rank function of a model of single servers.
func loads(m *cluster.Model) ([]*big.Rat, func([]int) *big.Rat) {
	lambda := make([]*big.Rat, len(m.Classes))
	for i, c := range m.Classes {
		lambda[i] = new(big.Rat).Set(c.ArrivalRate)
		if m.MeanSize != nil {
			lambda[i].Mul(lambda[i], m.MeanSize)
		}
	}
	return lambda, func(set []int) *big.Rat {
		mu := new(big.Rat)
		for s, server := range m.Servers {
			if slices.ContainsFunc(set, func(i int) bool {
				return slices.ContainsFunc(m.Classes[i].Servers, func(c cluster.Choice) bool { return c.Server == s })
			}) {
				mu.Add(mu, server.Capacity)
			}
		}
		return mu
	}
}

// drawRat draws a number in 0..8 of few values, so that ties happen, or a long fraction.
func drawRat(t *rapid.T, name string, low int64) *big.Rat {
	if rapid.IntRange(0, 9).Draw(t, name+" kind") == 0 {
		return big.NewRat(rapid.Int64Range(1, 1<<62).Draw(t, name), rapid.Int64Range(1<<60, 1<<62).Draw(t, name+" over"))
	}
	return big.NewRat(rapid.Int64Range(low, 8).Draw(t, name), rapid.SampledFrom([]int64{1, 1, 2, 3}).Draw(t, name+" over"))
}

// drawModel draws a model of up to 6 servers and 7 classes; with groups, of up to 3 rows of up to 4 servers and 3 classes.
func drawModel(t *rapid.T, groups bool) *cluster.Model {
	rows, classes := 6, 7
	if groups {
		rows, classes = 3, 3
	}
	m := &cluster.Model{}
	if rapid.Bool().Draw(t, "sized") {
		m.MeanSize = drawRat(t, "size", 1)
	}
	for s := range rapid.IntRange(1, rows).Draw(t, "rows") {
		row := cluster.Server{Name: fmt.Sprint("s", s), Count: 1, Capacity: drawRat(t, "capacity", 0)}
		if groups {
			row.Count = rapid.IntRange(0, 4).Draw(t, "count")
		}
		if s == 0 && row.Capacity.Sign() == 0 {
			row.Capacity = big.NewRat(1, 1)
		}
		m.Servers = append(m.Servers, row)
	}
	for i := range rapid.IntRange(1, classes).Draw(t, "classes") {
		c := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: drawRat(t, "rate", 0)}
		served := false
		for s, row := range m.Servers {
			if rapid.Bool().Draw(t, "compatible") {
				c.Servers = append(c.Servers, cluster.Choice{Server: s, Choose: rapid.IntRange(1, row.Size()).Draw(t, "choose")})
				served = served || row.Capacity.Sign() > 0
			}
		}
		if !served {
			c.Servers = []cluster.Choice{{Server: 0, Choose: 1}}
		}
		m.Classes = append(m.Classes, c)
	}
	return m
}

// scaleTo multiplies all rates by x.
func scaleTo(m *cluster.Model, x *big.Rat) *cluster.Model {
	scaled := *m
	scaled.Classes = slices.Clone(m.Classes)
	for i := range scaled.Classes {
		scaled.Classes[i].ArrivalRate = new(big.Rat).Mul(m.Classes[i].ArrivalRate, x)
	}
	return &scaled
}

// drawLoad returns the model with its rates scaled to a critical scale of 1 or close by, half of the time.
func drawLoad(t *rapid.T, m *cluster.Model) *cluster.Model {
	factor := rapid.SampledFrom([]*big.Rat{nil, nil, nil, big.NewRat(1, 1), big.NewRat(999_999, 1_000_000), big.NewRat(1_000_001, 1_000_000), big.NewRat(1, 3), big.NewRat(9, 10)}).Draw(t, "load")
	r, err := Cluster(m)
	if err != nil {
		t.Fatal(err)
	}
	if factor == nil || r.CriticalScale == nil {
		return m
	}
	return scaleTo(m, factor.Mul(new(big.Rat).Set(factor), r.CriticalScale))
}

func equal(a, b *big.Rat) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Cmp(b) == 0
}

// The answer by flows is that of listing all sets, on single servers; so is that of Rank.
func TestClusterAgainstSubsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawLoad(t, drawModel(t, false))
		lambda, rank := loads(m)
		want := bruteForce(lambda, rank)
		got, err := Cluster(m)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, got, want)
		if err := Verify(m, got); err != nil {
			t.Fatal(err)
		}
		table := make([]*big.Rat, 1<<len(lambda))
		for a := range table {
			table[a] = rank(members(a))
		}
		got, err = Rank(lambda, table)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, got, want)
		if err := VerifyRank(lambda, table, got); err != nil {
			t.Fatal(err)
		}
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
		t.Fatalf("CriticalScale = %v of %v, want %v of %v", got.CriticalScale, got.Bottleneck, want.scale, want.tightest)
	}
}

// A model with groups has the verdict, margin and scale of the model of all combinations.
func TestGroupsAgainstExpansion(t *testing.T) {
	small := rapid.Custom(func(t *rapid.T) *cluster.Model { return drawModel(t, true) }).Filter(func(m *cluster.Model) bool {
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
		got, err := Cluster(m)
		if err != nil {
			t.Fatal(err)
		}
		if got.Stable != (want.margin.Sign() > 0) || !equal(got.Margin, want.margin) || !equal(got.CriticalScale, want.scale) {
			t.Fatalf("margin %v, scale %v, want %v, %v", got.Margin, got.CriticalScale, want.margin, want.scale)
		}
		if len(got.MarginSet) > countRows(want.marginSet, classRow) || len(got.Bottleneck) > countRows(want.tightest, classRow) {
			t.Fatalf("sets %v and %v have more rows than %v and %v", got.MarginSet, got.Bottleneck, want.marginSet, want.tightest)
		}
		if err := Verify(m, got); err != nil {
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

// In larger groups the minima are those over all numbers k of servers of each row.
func TestGroupsAgainstCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &cluster.Model{}
		for s := range rapid.IntRange(1, 3).Draw(t, "rows") {
			m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("g", s), Count: rapid.IntRange(1, 9).Draw(t, "count"), Capacity: drawRat(t, "capacity", 1)})
		}
		for i := range rapid.IntRange(1, 5).Draw(t, "classes") {
			c := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: drawRat(t, "rate", 0)}
			from := rapid.IntRange(0, len(m.Servers)-1).Draw(t, "from")
			for s := from; s < len(m.Servers); s++ {
				c.Servers = append(c.Servers, cluster.Choice{Server: s, Choose: rapid.IntRange(1, m.Servers[s].Size()).Draw(t, "choose")})
			}
			m.Classes = append(m.Classes, c)
		}
		m = drawLoad(t, m)
		margin, scale := overCounts(m)
		got, err := Cluster(m)
		if err != nil {
			t.Fatal(err)
		}
		if !equal(got.Margin, margin) || !equal(got.CriticalScale, scale) || got.Stable != (margin.Sign() > 0) {
			t.Fatalf("margin %v, scale %v, want %v, %v", got.Margin, got.CriticalScale, margin, scale)
		}
		if err := Verify(m, got); err != nil {
			t.Fatal(err)
		}
	})
}

// overCounts returns the margin and the critical scale by visiting all k.
func overCounts(m *cluster.Model) (margin, scale *big.Rat) {
	k := make([]int, len(m.Servers))
	for {
		mu, lambda, any := new(big.Rat), new(big.Rat), false
		for s, n := range k {
			mu.Add(mu, new(big.Rat).Mul(big.NewRat(int64(n), 1), m.Servers[s].Capacity))
		}
		for _, c := range m.Classes {
			part, fits := new(big.Rat).Set(c.ArrivalRate), true
			for _, choice := range c.Servers {
				n, d := int64(k[choice.Server]), int64(choice.Choose)
				ways, all := new(big.Int).Binomial(n, d), new(big.Int).Binomial(int64(m.Servers[choice.Server].Size()), d)
				part.Mul(part, new(big.Rat).SetFrac(ways, all))
				fits = fits && n >= d
			}
			any = any || fits
			lambda.Add(lambda, part)
		}
		if h := new(big.Rat).Sub(mu, lambda); any && (margin == nil || h.Cmp(margin) < 0) {
			margin = h
		}
		if lambda.Sign() > 0 {
			if q := mu.Quo(mu, lambda); scale == nil || q.Cmp(scale) < 0 {
				scale = q
			}
		}
		s := 0
		for ; s < len(k) && k[s] == m.Servers[s].Size(); s++ {
			k[s] = 0
		}
		if s == len(k) {
			return margin, scale
		}
		k[s]++
	}
}

// Numbers of hundreds of digits take the flow in several digits, and the margin in big steps.
func TestLongNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, false)
		digits := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(rapid.IntRange(30, 90).Draw(t, "digits"))), nil)
		stretch := func(x *big.Rat, k int64) *big.Rat { // a fraction close to x with its own long denominator
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
		got, err := Cluster(m)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, got, bruteForce(loads(m)))
		if err := Verify(m, got); err != nil {
			t.Fatal(err)
		}
	})
}

// In larger clusters the critical scale is proved, and the margin is that of one maximum flow a class.
func TestLargerClusters(t *testing.T) {
	for _, spread := range []int{3, 40} {
		for _, load := range []int64{200_000, 900_000, 999_999, 1_000_000, 1_300_000} {
			m := randomCluster(t, 120, 40, 3, spread, load)
			got, err := Cluster(m)
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(m, got); err != nil {
				t.Fatal(err)
			}
			if want := big.NewRat(1_000_000, load); !equal(got.CriticalScale, want) {
				t.Errorf("critical scale %v, want %v", got.CriticalScale, want)
			}
			if !got.Stable {
				continue
			}
			g, err := newGraph(m)
			if err != nil {
				t.Fatal(err)
			}
			all := new(big.Int)
			for _, c := range g.capacity {
				all.Add(all, c)
			}
			want := g.leastOfSinglesBig(all.Mul(all, big.NewInt(2)))
			if !equal(got.Margin, want.margin) || !slices.Equal(got.MarginSet, want.classes) {
				t.Errorf("margin %v of %v, want %v of %v", got.Margin, got.MarginSet, want.margin, want.classes)
			}
		}
	}
}
