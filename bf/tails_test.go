package bf

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// Tails at a separate time per class match those of all classes at all times. Rough bounds contain
// those of an enclosure, and are as tight as documented.
func TestTails(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		m := oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: 4, Count: 2, Stable: true})
		var questions []TailQuestion
		var all Question
		for range rapid.IntRange(0, 5).Draw(t, "questions") {
			q := TailQuestion{rapid.IntRange(0, len(m.Classes)-1).Draw(t, "class"),
				big.NewRat(rapid.Int64Range(0, 30).Draw(t, "time"), 4)}
			if m.Classes[q.Class].ArrivalRate.Sign() == 0 {
				continue
			}
			questions, all.Times = append(questions, q), append(all.Times, q.Time)
		}
		want, err := delaysOf(ctx, m, all, Settings{Engine: num.Enclose, RelTol: 1e-20})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []Settings{{Engine: num.Float}, {Engine: num.Enclose, RelTol: 1e-20},
			{Engine: num.Float, RelTol: 1e-3}} {
			got, err := Tails(ctx, m, questions, s)
			if err != nil {
				t.Fatal(err)
			}
			for k, q := range questions {
				w := want.Classes[q.Class].Tails[k]
				low, high := got[k].Bounds()
				width := max(s.RelTol, 1e-9)
				if got[k].Low.Cmp(w.High) > 0 || got[k].High.Cmp(w.Low) < 0 || high-low > width*high+0x1p-900 {
					t.Fatalf("%+v, class %d at %v: in [%v, %v], want %v", s, q.Class, q.Time, low, high, w.Float)
				}
			}
		}
	})
}

// Tails does not solve components without a question, even if they have no distribution. It rejects
// invalid questions.
func TestTailsOfAComponent(t *testing.T) {
	m := sparseModel(3)
	m.Servers = append(m.Servers, cluster.Server{Name: "slow", Capacity: big.NewRat(1, 100)})
	m.Classes = append(m.Classes, cluster.Class{Name: "late", ArrivalRate: big.NewRat(1, 1),
		Servers: cluster.On(len(m.Servers) - 1)},
		cluster.Class{Name: "none", ArrivalRate: new(big.Rat), Servers: cluster.On(0)})
	if _, err := Tails(t.Context(), m, []TailQuestion{{0, big.NewRat(1, 1)}}, Settings{}); err != nil {
		t.Error(err)
	}
	late := []TailQuestion{{3, big.NewRat(1, 1)}}
	if _, err := Tails(t.Context(), m, late, Settings{}); !errors.Is(err, num.ErrUnstable) {
		t.Errorf("error %v", err)
	}
	for path, c := range map[string]struct {
		q TailQuestion
		s Settings
	}{
		"questions[0].Class": {TailQuestion{4, big.NewRat(1, 1)}, Settings{}},
		"questions[0].Time":  {TailQuestion{0, big.NewRat(-1, 1)}, Settings{}},
		"Engine":             {TailQuestion{0, big.NewRat(1, 1)}, Settings{Engine: num.Exact}},
	} {
		var bad *num.InputError
		if _, err := Tails(t.Context(), m, []TailQuestion{c.q}, c.s); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: error %v", path, err)
		}
	}
}
