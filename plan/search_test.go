package plan

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"productform/cluster"
	"productform/num"
)

// queue returns a problem with one class that uses all servers. Each has capacity 1 and can be
// upgraded.
func queue(servers, most int, target Target) *Problem {
	p := &Problem{
		Model:   &cluster.Model{Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(int64(servers), 2)}}},
		Targets: []Target{target},
	}
	for s := range servers {
		name := string(rune('A' + s))
		p.Model.Servers = append(p.Model.Servers, cluster.Server{Name: name, Capacity: big.NewRat(1, 1)})
		p.Model.Classes[0].Servers = append(p.Model.Classes[0].Servers, cluster.Choice{Server: s, Choose: 1})
		p.Upgrades = append(p.Upgrades, Upgrade{
			Server: name,
			Step:   big.NewRat(1, 1),
			Cost:   big.NewRat(int64(s+1), 1),
			Most:   most,
		})
	}
	return p
}

// A model that is too large is rejected before any plan is judged, even if it is unstable without
// purchases.
func TestTooLargeRejected(t *testing.T) {
	const n = 26
	p := queue(n, 1, Target{Measure: MeanDelay, Limit: big.NewRat(2, 1)})
	p.Model.Classes = nil
	for s := range n {
		p.Model.Classes = append(p.Model.Classes, cluster.Class{
			Name:    string(rune('A' + s)),
			Servers: cluster.On(s, (s+1)%n, (s+9)%n),
		})
	}
	for _, rate := range []int64{1, 3} {
		for i := range p.Model.Classes {
			p.Model.Classes[i].ArrivalRate = big.NewRat(rate, 2)
		}
		s := SearchSettings{
			Settings: Settings{MaxBytes: 1 << 20},
			Progress: func(Progress) { t.Error("a plan was judged") },
		}
		_, cost := LeastCost(t.Context(), p, s)
		_, delay := LeastDelay(t.Context(), p, s)
		_, frontier := Frontier(t.Context(), p, s)
		_, load := GreatestLoad(t.Context(), p, Choice{Steps: make([]int, n)}, s.Settings)
		_, most := GreatestLoadOfAll(t.Context(), p, s)
		_, growth := Growth(t.Context(), p, []*big.Rat{big.NewRat(1, 1), big.NewRat(2, 1)}, s)
		for k, err := range []error{cost, delay, frontier, load, most, growth} {
			var large *num.TooLargeError
			if !errors.As(err, &large) {
				t.Errorf("rate %d/2, question %d: %v", rate, k, err)
			}
		}
	}
}

// Packed plans compare like their steps, and unpack to the same steps.
func TestEncoding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var options []option
		for range 1 + r.IntN(70) {
			options = append(options, option{most: 1 + r.IntN(1<<r.IntN(20))})
		}
		p := newEncoding(options)
		x, y := make([]int, len(options)), make([]int, len(options))
		for k, o := range options {
			x[k] = r.IntN(o.most + 1)
			y[k] = min(o.most, x[k]+r.IntN(2))
		}
		if k := r.IntN(len(options)); r.IntN(2) == 0 {
			y[k] = r.IntN(options[k].most + 1)
		}
		if got := p.isAtMost(p.pack(x), p.pack(y)); got != isAtMost(x, y) {
			t.Fatalf("%v <= %v: %v", x, y, got)
		}
		if got := p.unpack(key(p.pack(x))); !slices.Equal(got, x) {
			t.Fatalf("%v becomes %v", x, got)
		}
	}
}

// A search checks its context even if everything is known and nothing is solved.
func TestSearchChecksContext(t *testing.T) {
	in, s, err := begin(queue(3, 2, Target{Measure: Margin, Limit: big.NewRat(100, 1)}), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := in.newJudge(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	search := newSearch(in, j, SearchSettings{Settings: s, Limit: defaultLimit}, Choice{}, 1000, true)
	search.of(0).fail(corner{0, in.maxSteps(), judgement{verdict: Failed}})
	search.of(0).seen[key(search.encoding.pack(in.maxSteps()))] = judgement{}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	b := &box{lower: make([]int, 3), upper: in.maxSteps()}
	for name, do := range map[string]func() error{
		"run":     func() error { return search.run(ended) },
		"raise":   func() error { return search.raise(ended, b, b.upper) },
		"descend": func() error { return search.descend(ended, b, b.upper) },
		"gather":  func() error { return search.gather(ended, b) },
		"proof":   func() error { _, err := search.proof(ended, 0); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A corner covers all plans cheaper than 1 among those of 60 options of a million steps each,
// although its share of all plans is far below the range of float64.
func TestCoverOfManyOptions(t *testing.T) {
	in, _, err := begin(queue(60, MaxSteps, Target{Measure: Margin, Limit: big.NewRat(61, 2)}), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	nothing := make([]int, 60)
	for below, want := range map[*big.Rat]bool{big.NewRat(1, 1): true, big.NewRat(2, 1): false} {
		c := &cover{in: in, proof: Proof{Below: below}}
		if open, err := c.open(t.Context(), nothing, in.maxSteps(), [][]int{nothing}); err != nil ||
			(open == nil) != want {
			t.Errorf("below %v: open %v, %v", below, open, err)
		}
	}
}

// No plan is solved twice, whatever is minimized, and a plan that was good enough fails once a
// better one is known.
func TestSearchSolvesPlansOnce(t *testing.T) {
	for _, byDelay := range []bool{false, true} {
		in, s, err := begin(queue(3, 4, Target{Measure: MeanDelay, Class: "a", Limit: big.NewRat(1, 3)}), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		j, err := in.newJudge(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		search := newSearch(in, j, SearchSettings{Settings: s, Limit: defaultLimit}, Choice{}, 1000, byDelay)
		search.bound = &box{}
		test := func(steps ...int) judgement {
			r, err := search.test(t.Context(), 0, steps)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		first, solves := test(2, 1, 1), j.solves
		if second := test(2, 1, 1); second != first && byDelay || second.verdict != Met || j.solves != solves {
			t.Errorf("by delay %v: %+v after %d solves, then %+v after %d", byDelay, first, solves, second, j.solves)
		}
		if byDelay {
			search.recordBetter(0, []int{2, 2, 2}, first.delay/2)
			if third := test(2, 1, 1); third.verdict != Failed || third.fails != failsDelay || j.solves != solves {
				t.Errorf("dominated by a better plan: %+v", third)
			}
		}
	}
}

// A bracket continues on both sides of an undecided interval, and is narrow only if the interval
// is.
func TestBracket(t *testing.T) {
	for _, c := range []struct {
		holds, fails float64 // targets are known to hold at holds, and to fail at fails
		narrow       bool
	}{
		{0.3, 0.3, true}, {0.5, 0.5, true}, {0.4999999999, 0.5000000001, true}, {0.4, 0.6, false},
		{0, 0, true}, {0, 0.25, false}, {0.25, 1, false},
	} {
		b := &bracket{high: 1}
		for {
			x, ok := b.next(1e-6)
			if !ok {
				break
			}
			v := Undecided
			switch {
			case x < c.holds:
				v = Met
			case x > c.fails:
				v = Failed
			}
			b.take(x, v)
		}
		isNear := func(x, y float64) bool { return x-y <= 1e-6 && y-x <= 1e-6 }
		if b.isNarrow(1e-6) != c.narrow || !isNear(b.low, c.holds) || !isNear(b.high, c.fails) {
			t.Errorf("holds to %v, fails from %v: bracket %+v", c.holds, c.fails, b)
		}
	}
}
