package loss_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
)

// linkModel returns a system with classes of several units on a link and limits on pairs of
// classes.
func linkModel(classes, room, pairs int) *loss.Model {
	m := &loss.Model{Room: room}
	for k := range classes {
		m.Classes = append(m.Classes, loss.Class{
			Name:        fmt.Sprint("c", k),
			ArrivalRate: rat(int64(room), int64(classes*(k+2))),
			Units:       k + 1,
		})
	}
	for k := range pairs {
		m.Limits = append(m.Limits, loss.Limit{Classes: []int{k, k + 1}, Most: room / 2})
	}
	return m
}

// Models that are too large are rejected immediately, with an error that gives numbers.
func TestTooLarge(t *testing.T) {
	wide := &loss.Model{}
	for k := range 21 {
		wide.Servers = append(wide.Servers, loss.Server{Name: fmt.Sprint("s", k), Capacity: rat(1, 1)})
		wide.Classes = append(wide.Classes, loss.Class{
			Name:        fmt.Sprint("c", k),
			ArrivalRate: rat(1, 2),
			Servers:     []int{k},
		})
	}
	tokens := &loss.Model{Classes: wide.Classes}
	for _, s := range wide.Servers {
		s.Tokens = 1
		tokens.Servers = append(tokens.Servers, s)
	}
	for what, c := range map[string]struct {
		m      *loss.Model
		s      loss.Settings
		states float64
	}{
		"sets of classes": {wide, loss.Settings{}, 1 << 21},
		"sets of servers": {tokens, loss.Settings{}, 1 << 21},
		"table":           {linkModel(6, 1000, 4), loss.Settings{}, 1001 * math.Pow(501, 4)},
		"tree":            {linkModel(6, 1000, 0), loss.Settings{MaxBytes: 1 << 10}, 1001},
		"fractions along a tree": {
			linkModel(6, 1_000_000, 0), loss.Settings{Engine: num.Exact, MaxBytes: 1 << 60}, 1_000_001,
		},
		"fractions of a table": {
			linkModel(6, 1000, 2), loss.Settings{Engine: num.Exact, MaxBytes: 1 << 60}, 1001 * 501 * 501,
		},
		"fractions of nested limits": {
			linkModel(6, 1000, 1), loss.Settings{Engine: num.Exact, MaxBytes: 1 << 60}, 4*1001 + 1001*13 + 501,
		},
		"servers and their queue": {
			&loss.Model{Count: 10_000_000, Classes: linkModel(2, 10, 0).Classes}, loss.Settings{MaxBytes: 1 << 20},
			10_000_001,
		},
	} {
		_, err := loss.Solve(ctx, c.m, c.s)
		var large *num.TooLargeError
		var bad *num.InputError
		if !errors.As(err, &large) || !errors.As(err, &bad) || large.States != c.states {
			t.Errorf("%s: %+v, error %v", what, large, err)
		}
	}
}

// Numbers beyond the range of float64 are an error with float64 and are enclosed on request; a
// number close to 0 is enclosed.
func TestRange(t *testing.T) {
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 1100))
	m := &loss.Model{Room: 2, Classes: []loss.Class{{Name: "a", ArrivalRate: huge}}}
	if _, err := loss.Solve(ctx, m, loss.Settings{Engine: num.Float}); !errors.Is(err, num.ErrDigits) {
		t.Errorf("error %v", err)
	}
	r, err := loss.Solve(
		ctx, &loss.Model{Room: 1000, Classes: []loss.Class{{Name: "a", ArrivalRate: rat(1, 1000)}}},
		loss.Settings{Engine: num.Enclose},
	)
	if err != nil {
		t.Fatal(err)
	}
	b := r.Classes[0].Blocking
	e, _ := b.Interval()
	if b.Float != 0 || e.Low.Sign() <= 0 || e.RelWidth() > 1e-9 || r.RelativeErrorBound > 1e-9 {
		t.Errorf("blocking %v in [%v, %v]", b.Float, b.Low, b.High)
	}
}

// A class without arrivals has the blocking of hypothetical arrivals and no delay; without any
// arrivals, the total blocking is unknown.
func TestNoArrivals(t *testing.T) {
	for _, count := range []int{0, 1} {
		m := &loss.Model{Count: count, Room: 1, Classes: []loss.Class{
			{Name: "a", ArrivalRate: rat(1, 1)}, {Name: "never", ArrivalRate: new(big.Rat)},
			{Name: "source", ArrivalRate: new(big.Rat), Sources: 2},
		}}
		r := solve(t, m, num.Exact)
		for k, c := range r.Classes {
			equal(t, "blocking", c.Blocking, rat(1, 2))
			if (c.MeanDelay == nil) != (k > 0) {
				t.Errorf("class %d: delay %v", k, c.MeanDelay)
			}
		}
		m.Classes = m.Classes[1:]
		r = solve(t, m, num.Float)
		if r.Blocking != nil || r.MeanDelay != nil || r.Throughput.Float != 0 || r.Classes[0].Blocking.Float != 0 {
			t.Errorf("%+v", r)
		}
	}
}

// Scaling rates and capacities by any positive number does not change the probabilities.
func TestTimeUnit(t *testing.T) {
	m, scaled := drawn(rat(1, 1)), drawn(rat(7, 3))
	a, b := solve(t, m, num.Exact), solve(t, scaled, num.Exact)
	for k := range m.Classes {
		equal(t, "blocking", b.Classes[k].Blocking, a.Classes[k].Blocking.Exact)
		equal(t, "jobs", *b.Classes[k].MeanJobs, a.Classes[k].MeanJobs.Exact)
		equal(t, "throughput", b.Classes[k].Throughput, mul(rat(7, 3), a.Classes[k].Throughput.Exact))
	}
}

func drawn(unit *big.Rat) *loss.Model {
	m := &loss.Model{Room: 7, Limits: []loss.Limit{{Classes: []int{0, 1}, Most: 5}}}
	for s := range 3 {
		m.Servers = append(m.Servers, loss.Server{Name: fmt.Sprint("s", s), Capacity: mul(unit, rat(int64(s+1), 2))})
		m.Classes = append(m.Classes, loss.Class{
			Name:        fmt.Sprint("c", s),
			ArrivalRate: mul(unit, rat(int64(5-s), 3)),
			Servers:     []int{s, (s + 1) % 3},
			Sources:     3 * (s % 2),
		})
	}
	return m
}

// Computations that take from seconds to days return promptly after cancellation.
func TestContextEnds(t *testing.T) {
	graph, tokens := &loss.Model{Room: 20}, &loss.Model{}
	for k := range 16 {
		graph.Servers = append(graph.Servers, loss.Server{Name: fmt.Sprint("s", k), Capacity: rat(1, 1)})
		graph.Classes = append(graph.Classes, loss.Class{
			Name:        fmt.Sprint("c", k),
			ArrivalRate: rat(1, 1),
			Servers:     []int{k, (k + 1) % 16},
		})
	}
	for k := range 6 {
		tokens.Servers = append(tokens.Servers, loss.Server{Name: fmt.Sprint("s", k), Capacity: rat(1, 1), Tokens: 9})
		tokens.Classes = append(tokens.Classes, loss.Class{
			Name:        fmt.Sprint("c", k),
			ArrivalRate: rat(1, 1),
			Servers:     []int{k, (k + 1) % 6},
		})
	}
	sources := linkModel(6, 100_000, 0)
	for k := range sources.Classes {
		sources.Classes[k].Sources = 30_000
	}
	sources.Limits = []loss.Limit{{Classes: []int{0, 1, 2}, Most: 50_000}, {Classes: []int{0, 1}, Most: 40_000}}
	solve := func(m *loss.Model, engine num.Engine) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := loss.Solve(ctx, m, loss.Settings{Engine: engine, MaxBytes: 1 << 50})
			return err
		}
	}
	for name, ask := range map[string]func(context.Context) error{
		"one link":           solve(linkModel(20, 1_000_000, 0), num.Float),
		"one link, enclosed": solve(linkModel(20, 1_000_000, 0), num.Enclose),
		"one link, exact":    solve(linkModel(20, 3000, 0), num.Exact),
		"sources":            solve(sources, num.Float),
		"pairs":              solve(linkModel(4, 300, 2), num.Float),
		"graph":              solve(graph, num.Float),
		"graph, enclosed":    solve(graph, num.Enclose),
		"tokens":             solve(tokens, num.Float),
		"Erlang": func(ctx context.Context) error {
			_, err := loss.ErlangB(ctx, 10_000_000, rat(1, 1), loss.FormulaSettings{})
			return err
		},
		"Erlang A": func(ctx context.Context) error {
			_, err := loss.ErlangA(ctx, &loss.Queue{
				Servers: 100_000, ArrivalRate: rat(99_000, 1), MeanDuration: rat(1, 1), MeanPatience: rat(20, 1),
			}, loss.QueueQuestion{Within: []*big.Rat{rat(1, 50)}, Levels: []*big.Rat{rat(9, 10)}},
				loss.FormulaSettings{})
			return err
		},
		"Erlang, exact": func(ctx context.Context) error {
			_, err := loss.ErlangC(ctx, 4000, rat(7, 3), loss.FormulaSettings{Engine: num.Exact})
			return err
		},
	} {
		if err := oracle.CheckEnds(ask, 100, 64); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
