package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
	"productform/oneserver"
	"productform/plan"
)

// hotline returns a pool of 26 servers with a target; its times are in minutes.
func hotline() Pool {
	return Pool{
		Servers: "26", ArrivalRate: Amount{"330", "h"}, MeanSize: Amount{"4", "min"}, MeanPatience: Amount{"3", "min"},
		Within: Amount{"20", "s"}, Measure: "served", Limit: "0.8",
	}
}

// A checker is a test, or one random case of a test.
type checker interface {
	Helper()
	Fatal(...any)
	Context() context.Context
}

// poolNumbers holds the numbers of a [PoolAnswer].
type poolNumbers struct {
	Stable   bool
	Accuracy string
	Measures []PoolNumber
}

// askPool returns the answer of the page to a question about a pool.
func askPool[T any](t checker, what string, p Pool) (a T) {
	t.Helper()
	q := oracle.Must(json.Marshal(Question{Ask: what, Pool: &p}))
	if err := json.Unmarshal(Answer(t.Context(), q, nil), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// commands returns the texts of the model and of the plan in the copied lines.
func commands(t checker, p Pool) (model, problem string) {
	t.Helper()
	parts := strings.Split(askPool[Line](t, "pool line", p).Line, "<<'END'\n")
	model, _, _ = strings.Cut(parts[1], "END\n")
	problem, _, _ = strings.Cut(parts[2], "END\n")
	return model, problem
}

// drawPool draws a pool whose load is close to its number of servers.
func drawPool(t *rapid.T) Pool {
	servers := rapid.IntRange(1, 40).Draw(t, "servers")
	fraction := func(label string) string {
		return big.NewRat(
			rapid.Int64Range(1, 60).Draw(t, label), rapid.Int64Range(1, 12).Draw(t, label+" over"),
		).RatString()
	}
	unit := func(label string) string { return rapid.SampledFrom([]string{"s", "min", "h"}).Draw(t, label) }
	size := num.Rat(fraction("size"))
	load := big.NewRat(int64(servers)*rapid.Int64Range(2, 13).Draw(t, "load"), 10)
	p := Pool{
		Servers: big.NewInt(int64(servers)).String(), ArrivalRate: Amount{load.Quo(load, size).RatString(), "min"},
		MeanSize: Amount{size.RatString(), "min"}, Within: Amount{fraction("within"), unit("unit of within")},
		Measure: rapid.SampledFrom([]string{
			"served", "waiting", "served_share", "mean_waiting", "abandon_probability",
		}).
			Draw(t, "measure"),
		Limit: big.NewRat(rapid.Int64Range(1, 19).Draw(t, "limit"), 20).RatString(),
	}
	switch rapid.IntRange(0, 3).Draw(t, "patience") {
	case 0:
		p.MeanPatience = Amount{"0", "s"}
	case 1, 2:
		p.MeanPatience = Amount{fraction("patience"), unit("unit of patience")}
	}
	return p
}

// The numbers are those of pfq solve for the model in the copied line: to the last bit if jobs may
// give up, and within the bounds of both otherwise.
func TestPoolMatchesSolve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t)
		model, _ := commands(t, p)
		m, err := cluster.Read(strings.NewReader(model))
		if err != nil {
			t.Fatalf("%v:\n%s", err, model)
		}
		task := oracle.Must(p.task())
		a := askPool[poolNumbers](t, "pool", p)
		var want map[string]float64
		relative, absolute := 0., 0. // bounds on the difference
		if task.MeanPatience == nil {
			r, err := oneserver.Answer(
				t.Context(), m, oneserver.Question{Times: []*big.Rat{task.within}}, oneserver.Settings{},
			)
			if unstable := errors.Is(err, num.ErrUnstable); unstable == a.Stable {
				t.Fatalf("stable: %v, want %v", a.Stable, err)
			} else if unstable {
				return
			}
			c := r.Classes[0]
			want = map[string]float64{"wait_probability": c.WaitProbability.Float, "mean_waiting": c.MeanWaiting.Float,
				"utilization": r.Servers[0].Utilization.Float, "mean_queue": r.MeanQueue.Float,
				"served": c.Within[0].Waiting.Float}
			relative = r.RelativeErrorBound + oracle.Must(strconv.ParseFloat(a.Accuracy, 64))
			absolute = r.Times.AbsoluteErrorBound
		} else {
			r, err := oneserver.SolvePatience(
				t.Context(), m, oneserver.PatienceSettings{Times: []*big.Rat{task.within}},
			)
			if err != nil {
				t.Fatal(err)
			}
			c := r.Classes[0]
			want = map[string]float64{"wait_probability": *c.WaitProbability, "mean_waiting": *c.MeanWaiting,
				"abandon_probability": *c.AbandonProbability, "mean_waiting_served": *c.MeanWaitingServed,
				"utilization": r.Servers[0].Utilization, "mean_queue": r.MeanQueue, "waiting": c.Within[0].WaitWithin,
				"served": c.Within[0].ServedWithin, "served_share": c.Within[0].WithinIfServed}
		}
		seen := 0
		for _, x := range a.Measures {
			w, ok := want[x.Name]
			if !ok {
				continue
			}
			seen++
			tol := relative * w * (1 + 1e-9)
			if x.Name == "served" {
				tol += absolute
			}
			if x.Value-w > tol || w-x.Value > tol {
				t.Errorf("%s: %v, want %v:\n%s", x.Name, x.Value, w, model)
			}
		}
		if seen != len(want) {
			t.Errorf("%d measures, want %d", seen, len(want))
		}
	})
}

// Every digit is one of the 30 that an independent program computed, rounded, and so are the
// fewest servers. The reference is that of package loss.
func TestPoolDigitsAreProved(t *testing.T) {
	var cases []struct {
		Name  string
		Model struct {
			Servers      int
			MeanDuration string  `json:"mean_duration"`
			MeanPatience *string `json:"mean_patience"`
			Classes      []struct {
				ArrivalRate string `json:"arrival_rate"`
			}
		}
		Within string
		Target *struct{ Measure, Within, Value string }
		Answer map[string]any
	}
	text := oracle.Must(os.ReadFile("../../../network/loss/testdata/patience.json"))
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{
		"mean_waiting": "mean_wait", "mean_waiting_served": "mean_wait_served", "served": "served_within",
	}
	for _, c := range cases {
		rate := new(big.Rat)
		for _, class := range c.Model.Classes {
			rate.Add(rate, num.Rat(class.ArrivalRate))
		}
		p := Pool{Servers: big.NewInt(int64(c.Model.Servers)).String(), ArrivalRate: Amount{rate.RatString(), "s"},
			MeanSize: Amount{c.Model.MeanDuration, "s"}, Within: Amount{c.Within, "s"}, Measure: "served", Limit: "1/2"}
		if c.Model.MeanPatience != nil {
			p.MeanPatience = Amount{*c.Model.MeanPatience, "s"}
		}
		a := askPool[poolNumbers](t, "pool", p)
		if a.Stable != c.Answer["stable"] {
			t.Fatalf("%s: stable: %v", c.Name, a.Stable)
		}
		for _, x := range a.Measures {
			name := x.Name
			if other, ok := names[name]; ok {
				name = other
			}
			want, ok := c.Answer[name].(string)
			if !ok {
				continue
			}
			number, _, _ := strings.Cut(x.Digits, "e")
			digits := len(strings.TrimLeft(strings.ReplaceAll(number, ".", ""), "0"))
			wanted, _ := new(big.Float).SetPrec(200).SetString(want)
			found, _ := new(big.Float).SetPrec(200).SetString(x.Digits)
			if wanted.Sign() == 0 {
				digits = 20
			}
			if digits < 10 || found.Text('e', digits-1) != wanted.Text('e', digits-1) {
				t.Errorf("%s: %s = %s, want %s", c.Name, x.Name, x.Digits, want)
			}
		}
		if c.Target == nil {
			continue
		}
		p.Limit, p.Measure = c.Target.Value, c.Target.Measure
		switch p.Measure {
		case "mean_wait":
			p.Measure, p.Within.Number = "mean_waiting", c.Target.Value
		case "served_within":
			p.Measure, p.Within.Number = "served", c.Target.Within
		}
		if f := askPool[PoolFewest](t, "fewest", p); f.Servers == nil ||
			float64(*f.Servers) != c.Answer["fewest_servers"] {
			t.Errorf("%s: fewest %v, want %v", c.Name, f.Servers, c.Answer["fewest_servers"])
		}
	}
}

// The fewest servers are those of pfq plan for the problem in the copied line, which shows one
// server more than it buys, or a choice that pfq plan leaves undecided.
func TestFewestServersMatchPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t)
		if p.Measure == abandonment && p.MeanPatience.Number == "" {
			return
		}
		_, problem := commands(t, p)
		problem = strings.Replace(problem, "most: 999999", "most: 200", 1)
		r, err := plan.Read(strings.NewReader(problem), "")
		if err != nil {
			t.Fatalf("%v:\n%s", err, problem)
		}
		want, err := plan.LeastCost(t.Context(), r, plan.SearchSettings{})
		if err != nil {
			t.Fatalf("%v:\n%s", err, problem)
		}
		got := askPool[PoolFewest](t, "fewest", p)
		if got.Servers == nil && len(want.Undecided) > 0 {
			return // nor do 30 digits decide
		}
		if want.Plan == nil || got.Servers == nil {
			t.Fatalf("%v servers, want those of %v:\n%s", got.Servers, want.Plan, problem)
		}
		met := []int{1 + want.Plan.Choice.Steps[0]}
		for _, choice := range want.Undecided { // a tie of a service level, which the page decides by fractions
			met = append(met, 1+choice.Steps[0])
		}
		if !slices.Contains(met, *got.Servers) {
			t.Fatalf("%d servers, want one of %v:\n%s", *got.Servers, met, problem)
		}
	})
}

// Ties are decided by fractions: with one server that is busy half of the time, exactly half of
// the jobs wait, and with the load 1, exactly half of the jobs are lost.
func TestPoolTies(t *testing.T) {
	p := hotline()
	p.ArrivalRate, p.MeanSize, p.MeanPatience = Amount{"1/2", "min"}, Amount{"1", "min"}, Amount{}
	p.Within.Number, p.Limit = "0", "1/2"
	if f := askPool[PoolFewest](t, "fewest", p); *f.Servers != 1 || f.Fewer != nil {
		t.Errorf("Erlang C: %d servers", *f.Servers)
	}
	p.ArrivalRate.Number, p.MeanPatience, p.Measure = "1", Amount{"0", "s"}, "abandon_probability"
	if f := askPool[PoolFewest](t, "fewest", p); *f.Servers != 1 {
		t.Errorf("Erlang B: %d servers", *f.Servers)
	}
	p.Limit = "1/2"
	for _, within := range []string{"0", "20"} { // no job waits, so the time does not matter
		p.Measure, p.Within = "served", Amount{within, "s"}
		if f := askPool[PoolFewest](t, "fewest", p); f.Servers == nil || *f.Servers != 1 {
			t.Errorf("Erlang B: %v servers", f.Servers)
		}
	}
	p.Limit = "0.8" // of two servers at the load 1, exactly 4/5
	if f := askPool[PoolFewest](t, "fewest", p); f.Servers == nil || *f.Servers != 2 || f.Fewer.Value != 0.5 {
		t.Errorf("Erlang B: %v servers", f.Servers)
	}
	p.Measure, p.Limit = "abandon_probability", "0.4999999999999999999"
	if f := askPool[PoolFewest](t, "fewest", p); *f.Servers != 2 || f.Fewer.Value != 0.5 {
		t.Errorf("Erlang B: %d servers", *f.Servers)
	}
}

// A target that no pool of a million servers meets has no answer, and a small one may be met by
// one server.
func TestPoolExtremes(t *testing.T) {
	p := hotline()
	p.ArrivalRate = Amount{"1e9", "s"}
	if f := askPool[PoolFewest](t, "fewest", p); f.Servers != nil || f.Solves > 0 {
		t.Errorf("%v servers after %d solves", f.Servers, f.Solves)
	}
	p.MeanPatience.Number = ""
	if a := askPool[poolNumbers](t, "pool", p); a.Stable || len(a.Measures) > 0 {
		t.Errorf("%v is stable", a)
	}
	p = hotline()
	p.Measure, p.Limit, p.Within.Number = "waiting", "0.01", "600"
	if f := askPool[PoolFewest](t, "fewest", p); *f.Servers != 1 {
		t.Errorf("%d servers, want 1", *f.Servers)
	}
}

// An invalid text is an error with its field, value and range.
func TestBadPools(t *testing.T) {
	for want, change := range map[string]func(*Pool){
		`servers = 0: want an integer from 1 to 1000000`:       func(p *Pool) { p.Servers = "0" },
		`servers = 2.5: want an integer from 1 to 1000000`:     func(p *Pool) { p.Servers = "2.5" },
		`servers = 1000001: want an integer from 1 to 1000000`: func(p *Pool) { p.Servers = "1000001" },
		`arrival_rate = 0: want a number > 0`:                  func(p *Pool) { p.ArrivalRate.Number = "0" },
		`arrival_rate = x: want a number > 0`:                  func(p *Pool) { p.ArrivalRate.Number = "x" },
		`arrival_rate = day: want s, min or h`:                 func(p *Pool) { p.ArrivalRate.Unit = "day" },
		`mean_size = -1: want a number > 0`:                    func(p *Pool) { p.MeanSize.Number = "-1" },
		`mean_patience = -1: want a number >= 0`:               func(p *Pool) { p.MeanPatience.Number = "-1" },
		`within = -2: want a number >= 0`:                      func(p *Pool) { p.Within.Number = "-2" },
		`served = 1: want a number > 0 and < 1`:                func(p *Pool) { p.Limit = "1" },
		`served = 80 %: want a number > 0 and < 1`:             func(p *Pool) { p.Limit = "80 %" },
		`mean_waiting = 0: want a number > 0`: func(p *Pool) {
			p.Measure, p.Within.Number = "mean_waiting", "0"
		},
		`measure = p95: want served, waiting, served_share, mean_waiting or abandon_probability`: func(p *Pool) {
			p.Measure = "p95"
		},
		`mean_patience = 100000000000000: want a mean patience with at most 16777216 terms of the series`: func(
			p *Pool,
		) {
			p.Servers, p.MeanPatience = "20", Amount{"1e14", "min"}
		},
	} {
		p := hotline()
		change(&p)
		if got := askPool[Refusal](t, "pool", p).Error; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	const want = "ask = pol: want pool, fewest, pools or pool line"
	if got := askPool[Refusal](t, "pol", hotline()).Error; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	_, err := poolCurve(t.Context(), oracle.Must(new(hotline()).task()), []int{3, 0})
	if bad := new(input.Error); !errors.As(err, &bad) || bad.Path != "counts[1]" {
		t.Errorf("error %v", err)
	}
}
