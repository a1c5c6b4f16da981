package stability

import (
	"context"
	"errors"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/ranktable"
	"productform/num"
)

// threeServers returns the first example of [BC17] with an additional class that brings no work:
// servers 1 and 2 are dedicated, server 3 is shared.
func threeServers(a, b *big.Rat) *cluster.Model {
	one := big.NewRat(1, 1)
	return &cluster.Model{
		Servers: []cluster.Server{
			{Name: "s1", Capacity: one}, {Name: "s2", Capacity: one}, {Name: "s3", Capacity: one},
		},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: a, Servers: cluster.On(0, 2)},
			{Name: "b", ArrivalRate: b, Servers: cluster.On(1, 2)},
			{Name: "idle", ArrivalRate: new(big.Rat), Servers: cluster.On(0)},
		},
	}
}

// Each altered proof is rejected, for a stable model and for an overloaded one.
func TestVerifyRejects(t *testing.T) {
	one := big.NewRat(1, 1)
	for name, tamper := range map[string]func(*Result){
		"verdict":                 func(r *Result) { r.Stable = !r.Stable },
		"no scale":                func(r *Result) { r.CriticalScale = nil },
		"scale":                   func(r *Result) { r.CriticalScale.Add(r.CriticalScale, one) },
		"no bottleneck":           func(r *Result) { r.Bottleneck = nil },
		"bottleneck out of range": func(r *Result) { r.Bottleneck = []int{7} },
		"bottleneck twice":        func(r *Result) { r.Bottleneck = append(r.Bottleneck, r.Bottleneck...) },
		"other bottleneck":        func(r *Result) { r.Bottleneck = []int{2} },
		"arrival":                 func(r *Result) { r.Arrival.Add(r.Arrival, one) },
		"capacity":                func(r *Result) { r.Capacity.Add(r.Capacity, one) },
		"capacity and scale": func(r *Result) {
			r.Capacity.Mul(r.Capacity, big.NewRat(9, 8))
			r.CriticalScale.Mul(r.CriticalScale, big.NewRat(9, 8))
		},
		"all doubled": func(r *Result) {
			for _, x := range []*big.Rat{r.Arrival, r.Capacity} {
				x.Add(x, x)
			}
		},
		"no splitting":     func(r *Result) { r.Splitting = nil },
		"share too large":  func(r *Result) { x := r.Splitting[0][0].Rate; x.Add(x, one) },
		"share too small":  func(r *Result) { x := r.Splitting[0][0].Rate; x.Quo(x, big.NewRat(2, 1)) },
		"share missing":    func(r *Result) { r.Splitting[0][0].Rate = nil },
		"share elsewhere":  func(r *Result) { r.Splitting[0][0].Server = 1 },
		"share nowhere":    func(r *Result) { r.Splitting[0][0].Server = -1 },
		"negative share":   func(r *Result) { negate(r) },
		"server overfull":  func(r *Result) { overfill(r) },
		"margin":           func(r *Result) { r.Margin.Add(r.Margin, one) },
		"no margin":        func(r *Result) { r.Margin = nil },
		"no margin set":    func(r *Result) { r.MarginSet = nil },
		"margin set":       func(r *Result) { r.MarginSet = []int{0, 1, 2, 3} },
		"margin servers":   func(r *Result) { r.MarginServers = make([]int, 3) },
		"too many servers": func(r *Result) { r.MarginServers[0] = 2 },
		"few servers":      func(r *Result) { r.MarginServers = r.MarginServers[:1] },
	} {
		for _, rates := range [][2]*big.Rat{
			{big.NewRat(1, 2), big.NewRat(2, 3)}, {big.NewRat(5, 2), big.NewRat(2, 3)},
		} {
			m := threeServers(rates[0], rates[1])
			r, err := Cluster(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(t.Context(), m, r); err != nil {
				t.Fatal(err)
			}
			tamper(r)
			if err := Verify(t.Context(), m, r); !errors.Is(err, ErrProof) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}

// negate moves more than all work of class a to one of its servers, and a negative amount to the
// other.
func negate(r *Result) {
	sum := new(big.Rat)
	for _, share := range r.Splitting[0] {
		sum.Add(sum, share.Rate)
	}
	r.Splitting[0] = []Share{
		{Server: 2, Rate: new(big.Rat).Add(sum, big.NewRat(1, 1))}, {Server: 0, Rate: big.NewRat(-1, 1)},
	}
}

// overfill moves all work that can go there to server 3.
func overfill(r *Result) {
	for i := range 2 {
		for k := range r.Splitting[i] {
			r.Splitting[i][k].Server = 2
		}
	}
}

// A proof holds only for its own model: with smaller capacities it is rejected.
func TestVerifyOtherModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rapid.Bool().Draw(t, "groups"))
		r, err := Cluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		less := *m
		less.Servers = slices.Clone(m.Servers)
		for s := range less.Servers {
			less.Servers[s].Capacity = new(big.Rat).Mul(m.Servers[s].Capacity, big.NewRat(99, 100))
		}
		if err := Verify(t.Context(), &less, r); !errors.Is(err, ErrProof) {
			t.Fatalf("error %v", err)
		}
	})
}

// verifyRank checks the proof that r holds. Bottleneck must have the stated load and capacity and
// attain CriticalScale, and MarginSet must have the stated margin. The queue must be reported as
// stable if and only if CriticalScale exceeds 1; then λ_i < η_i for all i, and Σ_{i∈A} η_i < μ(A)
// for all 2^n - 1 sets A. Another set may have a smaller margin or scale: no proof rules that out.
// The error wraps [ErrProof], or is that of [Rank] for unusable input.
func verifyRank(ctx context.Context, arrivalRates, rank []*big.Rat, r *Result) error {
	if _, err := newTable(ctx, arrivalRates, rank); err != nil {
		return err
	}
	n := len(arrivalRates)
	if err := verifySet("margin set", r.MarginSet, n); err != nil {
		return err
	}
	a := maskOf(r.MarginSet)
	if want := new(big.Rat).Sub(rank[a], load(arrivalRates, a)); r.Margin == nil || want.Cmp(r.Margin) != 0 {
		return unproved("the margin of its set is %v, not %v", want, r.Margin)
	}
	if r.CriticalScale != nil {
		if err := verifyScale(r, arrivalRates, n); err != nil {
			return err
		}
		if rank[maskOf(r.Bottleneck)].Cmp(r.Capacity) != 0 {
			return unproved("the capacity of the bottleneck is not %v", r.Capacity)
		}
	} else if !r.Stable {
		return unproved("no bottleneck")
	}
	if !r.Stable {
		return nil
	}
	if len(r.Eta) != n {
		return unproved("%d rates eta, not %d", len(r.Eta), n)
	}
	for i, eta := range r.Eta {
		if eta == nil || eta.Cmp(arrivalRates[i]) <= 0 {
			return unproved("eta[%d] = %v is not above %v", i, eta, arrivalRates[i])
		}
	}
	sums := make([]*big.Rat, 1<<n)
	sums[0] = new(big.Rat)
	for a := 1; a < len(sums); a++ {
		sums[a] = new(big.Rat).Add(sums[a&(a-1)], r.Eta[bits.TrailingZeros(uint(a))])
		if sums[a].Cmp(rank[a]) >= 0 {
			return unproved("the eta of %v add up to %v, not less than %v", ranktable.Members(a), sums[a], rank[a])
		}
	}
	return nil
}

func maskOf(set []int) int {
	a := 0
	for _, i := range set {
		a |= 1 << i
	}
	return a
}

func TestVerifyRankRejects(t *testing.T) {
	rates := []*big.Rat{big.NewRat(1, 2), big.NewRat(2, 3)}
	rank := []*big.Rat{new(big.Rat), big.NewRat(2, 1), big.NewRat(2, 1), big.NewRat(3, 1)}
	for name, tamper := range map[string]func(*Result){
		"verdict":       func(r *Result) { r.Stable = false },
		"margin":        func(r *Result) { r.Margin = big.NewRat(1, 7) },
		"margin set":    func(r *Result) { r.MarginSet = []int{2} },
		"scale":         func(r *Result) { r.CriticalScale = big.NewRat(9, 1) },
		"bottleneck":    func(r *Result) { r.Bottleneck = []int{0} },
		"capacity":      func(r *Result) { r.Capacity.SetInt64(4); r.CriticalScale.Quo(r.Capacity, r.Arrival) },
		"no eta":        func(r *Result) { r.Eta = nil },
		"eta nil":       func(r *Result) { r.Eta[1] = nil },
		"eta too small": func(r *Result) { r.Eta[0] = rates[0] },
		"eta too large": func(r *Result) { r.Eta[0] = big.NewRat(2, 1) },
		"no scale":      func(r *Result) { r.CriticalScale, r.Stable = nil, false },
	} {
		r, err := Rank(t.Context(), rates, rank)
		if err != nil {
			t.Fatal(err)
		}
		tamper(r)
		if err := verifyRank(t.Context(), rates, rank, r); !errors.Is(err, ErrProof) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// If rates and capacities are multiplied by x, scales and sets stay, and margins and shares are
// multiplied by x.
func TestScalingInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawLoad(t, drawModel(t, rapid.Bool().Draw(t, "groups")))
		x := big.NewRat(rapid.Int64Range(1, 1<<40).Draw(t, "x"), rapid.Int64Range(1, 1<<40).Draw(t, "over"))
		scaled := m.Scale(x)
		scaled.Servers = slices.Clone(m.Servers)
		for s := range scaled.Servers {
			scaled.Servers[s].Capacity = new(big.Rat).Mul(m.Servers[s].Capacity, x)
		}
		a, err := Cluster(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Cluster(t.Context(), scaled)
		if err != nil {
			t.Fatal(err)
		}
		if a.Stable != b.Stable || !equal(a.CriticalScale, b.CriticalScale) ||
			!equal(a.Margin.Mul(a.Margin, x), b.Margin) ||
			!slices.Equal(a.Bottleneck, b.Bottleneck) || !slices.Equal(a.MarginSet, b.MarginSet) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

func TestBadInput(t *testing.T) {
	r := func(s ...int64) []*big.Rat {
		list := make([]*big.Rat, len(s))
		for i, x := range s {
			list[i] = big.NewRat(x, 1)
		}
		return list
	}
	for _, c := range []struct {
		rates, rank []*big.Rat
		want        string
	}{
		{nil, r(0), "ArrivalRates = 0 classes: want 1 to 24 classes, since all 2^n sets are examined; a cluster " +
			"takes any number"},
		{make([]*big.Rat, 25), nil, "ArrivalRates = 25 classes: want 1 to 24 classes, since all 2^n sets are " +
			"examined; a cluster takes any number"},
		{r(1, 1), r(0, 1, 1), "Rank = 3 values: want 2^2 = 4 values, one for each set of classes"},
		{r(1, -1), r(0, 1, 1, 2), "ArrivalRates[1] = -1: want a number >= 0"},
		{[]*big.Rat{nil}, r(0, 1), "ArrivalRates[0] is missing: want a number >= 0"},
		{
			r(1), []*big.Rat{new(big.Rat), nil},
			"Rank[1] is missing: want a number > 0, the rate with classes [0] present",
		},
		{r(1), r(1, 1), "Rank[0] = 1: want 0 or nil, the rate with no class present"},
		{r(1, 1), r(0, 1, 0, 2), "Rank[2] = 0: want a number > 0, the rate with classes [1] present"},
		{
			r(1, 1, 1), r(0, 1, 3, 3, 1, 2, 2, 3),
			"Rank[6] = 2: want at least Rank[2] = 3: the rate with classes [1] present cannot fall when class 2 joins",
		},
	} {
		_, err := Rank(t.Context(), c.rates, c.rank)
		if e := new(num.InputError); !errors.As(err, &e) || err.Error() != c.want {
			t.Errorf("error %v, want %v", err, c.want)
		}
		if err := verifyRank(t.Context(), c.rates, c.rank, new(Result)); err == nil {
			t.Errorf("%s: accepted", c.want)
		}
		for i := range c.rank { // the same with numbers too long for 64 bits
			if c.rank[i] != nil {
				c.rank[i] = new(big.Rat).Mul(c.rank[i], new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 70)))
			}
		}
		if _, err := Rank(t.Context(), c.rates, c.rank); err == nil {
			t.Errorf("%s: accepted in long numbers", c.want)
		}
	}
	const n = 16
	long := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(maxDenominatorBits>>n+1)))
	if _, err := Rank(
		t.Context(), slices.Repeat([]*big.Rat{long}, n), slices.Repeat([]*big.Rat{long}, 1<<n),
	); err == nil {
		t.Error("2^16 numbers with a common denominator of 2^17 bits are accepted")
	}

	m := threeServers(big.NewRat(1, 2), big.NewRat(-1, 2))
	if _, err := Cluster(t.Context(), m); err == nil ||
		err.Error() != "classes[1].arrival_rate = -1/2: want a number >= 0" {
		t.Errorf("error %v", err)
	}
	if err := Verify(t.Context(), m, new(Result)); err == nil || errors.Is(err, ErrProof) {
		t.Errorf("error %v", err)
	}
}

// A class that chooses from 25 groups, each shared with another such class, would take 2^25 terms.
func TestTooManyGroups(t *testing.T) {
	m := &cluster.Model{}
	c := cluster.Class{Name: "wide", ArrivalRate: big.NewRat(1, 1)}
	for g := range 25 {
		m.Servers = append(m.Servers, cluster.Server{Name: string(rune('a' + g)), Count: 3, Capacity: big.NewRat(1, 1)})
		c.Servers = append(c.Servers, cluster.Choice{Server: g, Choose: 2})
	}
	m.Classes = []cluster.Class{c}
	_, err := Cluster(t.Context(), m)
	want :=
		`classes[0].servers = "wide": want classes that have fewer groups in common: the margin of this one's ` +
			`combinations takes a sum of more than 1048576 terms`
	if e := new(num.InputError); !errors.As(err, &e) || err.Error() != want {
		t.Errorf("error %v, want %v", err, want)
	}
}

// The count of terms matches the list.
func TestCountTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, err := newGraph(t.Context(), drawModel(t, true))
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, len(g.total))
		for s := range counts {
			counts[s] = rapid.IntRange(0, g.model.Servers[s].Size()).Draw(t, "k")
		}
		if servers, _, err := g.terms(t.Context(), counts); err != nil || g.countTerms(counts) != len(servers) {
			t.Errorf("%d terms counted, %d listed, error %v", g.countTerms(counts), len(servers), err)
		}
	})
}

// Many rates with different long denominators have a common denominator that is too long to handle.
func TestLongCommonDenominator(t *testing.T) {
	m := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}}}
	for i := range int64(60_000) {
		rate := big.NewRat(1, 2)
		if i < 20 {
			d := new(big.Int).Lsh(big.NewInt(1), 16_000)
			rate = new(big.Rat).SetFrac(big.NewInt(1), d.Add(d, big.NewInt(2*i+1)))
		}
		m.Classes = append(m.Classes, cluster.Class{
			Name:        strconv.FormatInt(i, 10),
			ArrivalRate: rate,
			Servers:     cluster.On(0),
		})
	}
	_, err := Cluster(t.Context(), m)
	if e := new(num.InputError); !errors.As(err, &e) ||
		!strings.Contains(err.Error(), "a common denominator of at most 143163 bits") {
		t.Errorf("error %v", err)
	}
}
