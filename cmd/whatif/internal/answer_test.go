package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/stability"
)

// ask answers a question through JSON, like the page.
func ask[T any](t rapid.TB, q Question) T {
	t.Helper()
	question, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var answer T
	text := Answer(context.Background(), question, func(float64) {})
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return answer
}

// text returns a model in the form used in questions of the page.
func text(t rapid.TB, m *cluster.Model) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(describe(m).Model)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func model(t rapid.TB, text string) *cluster.Model {
	t.Helper()
	return oracle.Must(cluster.Read(bytesOf(text)))
}

const shop = `
servers: [{name: big, capacity: 2}, {name: small, capacity: 1}]
classes:
  - {name: web, arrival_rate: 1, servers: [big, small]}
  - {name: reports, arrival_rate: 0.4, servers: [small]}
`

type fields = map[string]any

// A known holds the fields of an answer to solve or simulate that the page reads.
type known struct {
	Stable        bool     `json:"stable"`
	MeanJobs      any      `json:"mean_jobs"`
	MeanDelay     any      `json:"mean_delay"`
	Classes       []fields `json:"classes"`
	Servers       []fields `json:"servers"`
	NoPercentiles string   `json:"no_percentiles"`
}

var percentiles = []string{"50", "95", "99"}

// drawn draws a model, stable or not, and a load.
func drawn(t *rapid.T) (*cluster.Model, *big.Rat) {
	o := oracle.Options{
		ZeroRates:      true,
		ZeroCapacities: true,
		OwnSizes:       rapid.Bool().Draw(t, "own sizes"),
		Count:          rapid.IntRange(0, 3).Draw(t, "count"),
	}
	m := oracle.ScaleTo(oracle.DrawModel(t, o), big.NewRat(1, 1))
	return m, big.NewRat(rapid.Int64Range(1, 12).Draw(t, "load"), 10)
}

// Each number of the page equals that of the solver, to the last digit, and both agree on
// stability.
func TestSolveMatchesSolver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, load := drawn(t)
		got := ask[known](t, Question{
			Ask:         "solve",
			Model:       text(t, m),
			Load:        load.RatString(),
			Percentiles: percentiles,
		})
		want, err := bf.Solve(t.Context(), m.Scale(load), bf.Settings{})
		if err != nil {
			if !errors.Is(err, num.ErrUnstable) || got.Stable {
				t.Fatalf("stable = %v, want %v as the solver", got.Stable, err)
			}
			return
		}
		same(t, "mean jobs", got.MeanJobs, &want.MeanJobs)
		same(t, "mean delay", got.MeanDelay, want.MeanDelay)
		delays, err := bf.Answer(
			t.Context(), m.Scale(load), bf.Question{Levels: oracle.Rats("1/2 19/20 99/100")}, bf.Settings{},
		)
		if (err != nil) != (got.NoPercentiles != "") {
			t.Fatalf("percentiles: %q, the solver returns %v", got.NoPercentiles, err)
		}
		for i, c := range want.Classes {
			g := got.Classes[i]
			same(t, "mean jobs of a class", g["mean_jobs"], &c.MeanJobs)
			same(t, "mean delay of a class", g["mean_delay"], c.MeanDelay)
			same(t, "service rate", g["service_rate"], c.ServiceRate)
			same(t, "load", g["load"], &c.Load)
			if err != nil {
				continue
			}
			for k, q := range delays.Classes[i].Quantiles {
				same(t, "percentile", g["delay"].(fields)["p"+percentiles[k]], &q)
			}
		}
		for k, s := range want.Servers {
			same(t, "utilization", got.Servers[k]["utilization"], &s.Utilization)
		}
	})
}

// same fails unless a number of an answer equals that of a result.
func same(t rapid.TB, what string, got any, want *num.Value) {
	t.Helper()
	if want == nil {
		if got != nil {
			t.Fatalf("%s = %v, want none", what, got)
		}
		return
	}
	if got != want.Float {
		t.Fatalf("%s = %v, want %v", what, got, want.Float)
	}
}

// Points of a curve match solutions, whether or not all of them are stable.
func TestCurveMatchesSolutions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, load := drawn(t)
		loads := []string{"1/10", load.RatString(), "1/2"}
		var asked []string
		if rapid.Bool().Draw(t, "percentiles") {
			asked = percentiles
		}
		got := ask[struct {
			Points []known
		}](t, Question{Ask: "curve", Model: text(t, m), Loads: loads, Percentiles: asked})
		for i, p := range got.Points {
			want := ask[known](t, Question{Ask: "solve", Model: text(t, m), Load: loads[i], Percentiles: asked})
			if diff := cmp.Diff(want, p); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// The verdict at a load matches that of the scaled model, with the same bottleneck.
func TestVerdictMatchesStability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, load := drawn(t)
		got := ask[struct {
			Stable             bool     `json:"stable"`
			CriticalLoad       *float64 `json:"critical_load"`
			BottleneckClasses  []int    `json:"bottleneck_classes"`
			BottleneckWork     float64  `json:"bottleneck_work"`
			BottleneckCapacity float64  `json:"bottleneck_capacity"`
		}](t, Question{Ask: "verdict", Model: text(t, m), Load: load.RatString()})
		want := oracle.Must(stability.Cluster(t.Context(), m.Scale(load)))
		if got.Stable != want.Stable {
			t.Fatalf("stable %v, want %v", got.Stable, want.Stable)
		}
		if want.CriticalScale == nil {
			if got.CriticalLoad != nil || len(got.BottleneckClasses) != 0 {
				t.Fatalf("a critical load %v without work", got.CriticalLoad)
			}
			return
		}
		critical, _ := new(big.Rat).Mul(want.CriticalScale, load).Float64()
		at, _ := load.Float64()
		if got := *got.CriticalLoad; got != critical && critical != at || want.Stable != (at < got) {
			t.Fatalf("critical load %v at %v, want %v", got, at, critical)
		}
		work, _ := want.Arrival.Float64()
		capacity, _ := want.Capacity.Float64()
		if diff := cmp.Diff(want.Bottleneck, got.BottleneckClasses); diff != "" || got.BottleneckWork != work ||
			got.BottleneckCapacity != capacity {
			t.Fatalf("work %v on %v, want %v on %v; classes %s",
				got.BottleneckWork, got.BottleneckCapacity, work, capacity, diff)
		}
	})
}

// A simulation matches one with the same settings, to the last digit.
func TestSimulationMatchesSim(t *testing.T) {
	m := text(t, model(t, shop))
	question := Question{
		Ask:         "simulate",
		Model:       m,
		Load:        "3/2",
		Runs:        3,
		Jumps:       2000,
		Seed:        7,
		Percentiles: percentiles,
	}
	got := ask[known](t, question)
	want, err := sim.Run(
		t.Context(), simcluster.Cluster{Model: model(t, shop).Scale(big.NewRat(3, 2))},
		sim.Settings{Runs: 3, Jumps: 2000, Seed: 7, Levels: []float64{0.5, 0.95, 0.99}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got.Classes {
		for _, name := range []string{sim.MeanJobs, sim.MeanDelay, sim.ServiceRate} {
			w := want.Class(i, name)
			if diff := cmp.Diff(fields{"mean": w.Mean, "half_width": w.HalfWidth}, c[name]); diff != "" {
				t.Errorf("%s of class %d: %s", name, i, diff)
			}
		}
		for k, level := range []float64{0.5, 0.95, 0.99} {
			var w any
			if q := want.Quantile(sim.OfClass, i, level); q != nil {
				w = fields{"estimate": q.Value, "low": q.Low, "high": q.High}
			}
			if diff := cmp.Diff(w, c["delay"].(fields)["p"+percentiles[k]]); diff != "" {
				t.Errorf("quantile %v of class %d: %s", level, i, diff)
			}
		}
	}
	for k, s := range got.Servers {
		if w, got := want.Server(k, sim.Utilization), s["utilization"].(fields)["mean"]; got != w.Mean {
			t.Errorf("utilization of server %d: %v, want %v", k, got, w)
		}
	}
	question.Load = "3"
	if overloaded := ask[known](t, question); overloaded.Stable {
		t.Error("an unstable model was simulated")
	}
}

// Each listed change improves the model by the difference of the two solutions, and the best comes
// first.
func TestChangesMatchSolutions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, load := drawn(t)
		got := ask[Changes](t, Question{Ask: "changes", Model: text(t, m), Load: load.RatString()})
		before := ask[known](t, Question{Ask: "solve", Model: text(t, m), Load: load.RatString()})
		for k, c := range got.Changes {
			after := ask[known](t, Question{
				Ask:   "solve",
				Model: oracle.Must(json.Marshal(c.Model)),
				Load:  load.RatString(),
			})
			if c.Total >= 0 || k > 0 && k < mostChanges && c.PerCost < got.Changes[k-1].PerCost ||
				c.Total != after.MeanDelay.(float64)/before.MeanDelay.(float64)-1 {
				t.Fatalf("%s: %+v, from %v to %v", c.Words, got.Changes, before.MeanDelay, after.MeanDelay)
			}
		}
	})
	// Many connections of a class with long waits help more per cost than any capacity; the best
	// capacity is listed nevertheless.
	long := model(t,
		`servers: [{name: a, capacity: 1}, {name: b, capacity: 9}, {name: c, capacity: 9}, `+
			`{name: d, capacity: 9}, {name: e, capacity: 9}, {name: f, capacity: 9}]
classes: [{name: slow, arrival_rate: 0.9, servers: [a]}, {name: fast, arrival_rate: 1, servers: [b, c, d, e, f]}]`)
	listed := ask[Changes](t, Question{
		Ask: "changes", Model: text(t, long), Load: "1", Prices: Prices{Connection: "1/100"},
	}).Changes
	if len(listed) != mostChanges+2 || listed[mostChanges].Words != "capacity of a 1 → 1.1" {
		t.Errorf("changes: %+v", listed)
	}
	shopChanges := ask[Changes](t, Question{
		Ask: "changes", Model: text(t, model(t, shop)), Load: "1", Prices: Prices{Connection: "1/10"},
	})
	if first := shopChanges.Changes[0]; first.Words != "reports on big as well" {
		t.Errorf("first: %s, want reports on big as well", first.Words)
	}
}

// If classes differ in mean size, the page explains in its own terms why there are no percentiles,
// even if the question requests none.
func TestNoPercentilesForDifferentSizes(t *testing.T) {
	m := model(t, strings.Replace(shop, "name: web,", "name: web, mean_size: 2,", 1))
	for _, requested := range [][]string{percentiles, nil} {
		got := ask[known](t, Question{Ask: "solve", Model: text(t, m), Load: "1", Percentiles: requested})
		if want := "classes differ in mean size, and first come, first served has formulas for exponential sizes " +
			"with a common mean only"; got.NoPercentiles != want || !got.Stable {
			t.Errorf("no percentiles: %q, want %q", got.NoPercentiles, want)
		}
	}
}

// A refusal gives the reason, and the line of the text if it concerns one.
func TestRefusals(t *testing.T) {
	m := text(t, model(t, shop))
	for name, c := range map[string]struct {
		q    Question
		want Refusal
	}{
		"no YAML": {Question{Ask: "read", Text: "servers: [\nclasses: x"}, Refusal{Line: 1}},
		"bad field": {
			Question{Ask: "read", Text: "servers:\n  - {name: a, capacity: -1}\nclasses: []"},
			Refusal{Error: "servers[0].capacity = -1: want a number >= 0", Line: 2},
		},
		"load": {Question{Ask: "solve", Model: m, Load: "x"}, Refusal{Error: "load = x: want a number >= 0"}},
		"percentile": {
			Question{Ask: "solve", Model: m, Load: "1", Percentiles: []string{"100"}},
			Refusal{Error: "percentiles[0] = 100: want a number > 0 and < 100"},
		},
		"ask": {
			Question{Ask: "why", Model: m, Load: "1"},
			Refusal{Error: "ask = why: want read, verdict, solve, curve, changes, simulate or line"},
		},
	} {
		got := ask[Refusal](t, c.q)
		if got.Line != c.want.Line || c.want.Error != "" && got.Error != c.want.Error || got.Error == "" {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Every question returns promptly after cancellation.
func TestAnswerReturnsAfterCancellation(t *testing.T) {
	m := text(t, model(t, shop))
	for _, q := range []Question{
		{Ask: "verdict", Load: "1"}, {Ask: "solve", Load: "1", Percentiles: percentiles},
		{Ask: "curve", Loads: []string{"1"}, Percentiles: percentiles}, {Ask: "changes", Load: "1"},
		{Ask: "simulate", Load: "1", Runs: 1000, Jumps: 1e9},
	} {
		q.Model = m
		question := oracle.Must(json.Marshal(q))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := answer(ctx, question, func(float64) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v after cancellation", q.Ask, err)
		}
	}
}
