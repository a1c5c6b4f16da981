package whatif

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/gang"
	"productform/internal/oracle"
	"productform/num"
	"productform/oneserver"
	"productform/stability"
)

// serve gives a model another service: one with or without patience, or gang.
func serve(t *rapid.T, m *cluster.Model) *cluster.Model {
	service := rapid.SampledFrom([]cluster.Service{
		cluster.AllServers, cluster.OneServer, cluster.Gang,
	}).Draw(t, "service")
	switch m.Service = service; service {
	case cluster.OneServer:
		for i := range m.Servers {
			if m.Servers[i].Capacity.Sign() == 0 {
				m.Servers[i].Capacity = big.NewRat(1, 2)
			}
		}
		for i := range m.Classes {
			m.Classes[i].MeanSize = nil // solved for one mean size only
		}
		if rapid.Bool().Draw(t, "patient") {
			break
		}
		m.MeanPatience = big.NewRat(rapid.Int64Range(0, 3).Draw(t, "patience"), 1)
		m.Patience = rapid.SampledFrom([]string{"", "deterministic", "erlang:2"}).Draw(t, "distribution")
		if rapid.Bool().Draw(t, "own") {
			m.Classes[0].MeanPatience = big.NewRat(1, 3)
		}
	case cluster.Gang:
		for i := range m.Servers {
			m.Servers[i].Capacity = nil
		}
		for i := range m.Classes {
			c := &m.Classes[i]
			c.Needs, c.Servers = c.Servers[:1], nil
		}
	}
	return m
}

// Each number of the page equals that of the solver for every service, and both agree on stability.
func TestServicesMatchSolvers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := serve(t, oracle.DrawModel(t, oracle.Options{Servers: 3, Classes: 3, Count: 3, ZeroRates: true}))
		got := ask[known](t, Question{
			Ask: "solve", Model: text(t, m), Load: "1", Percentiles: percentiles, Within: []string{"1/2"},
		})
		times := []*big.Rat{big.NewRat(1, 2)}
		levels := oracle.Rats("1/2 19/20 99/100")
		unstable := func(err error) bool {
			if errors.Is(err, num.ErrUnstable) != !got.Stable || err != nil && got.Stable {
				t.Fatalf("stable = %v, want %v as the solver", got.Stable, err)
			}
			return err != nil
		}
		switch m.Theory() {
		case cluster.SingleServers:
			q := oneserver.Question{Levels: levels, Times: times}
			want, err := oneserver.Answer(t.Context(), m, q, oneserver.Settings{})
			if unstable(err) {
				return
			}
			same(t, "mean delay", got.MeanDelay, want.MeanDelay)
			for i, c := range want.Classes {
				same(t, "mean waiting", got.Classes[i]["mean_waiting"], c.MeanWaiting)
				same(t, "wait probability", got.Classes[i]["wait_probability"], c.WaitProbability)
				if c.MeanWaiting == nil {
					continue
				}
				same(t, "p95", got.Classes[i]["waiting"].(fields)["p95"], &c.Waiting[1])
				same(t, "within", got.Classes[i]["within"].([]any)[0].(fields)["waiting"], &c.Within[0].Waiting)
			}
		case cluster.Impatience:
			s := oneserver.PatienceSettings{Times: times, Levels: levels}
			want, err := oneserver.SolvePatience(t.Context(), m, s)
			if unstable(err) {
				return
			}
			for i, c := range want.Classes {
				if c.MeanWaiting == nil {
					continue
				}
				same(t, "mean waiting", got.Classes[i]["mean_waiting"], &num.Value{Float: *c.MeanWaiting})
				same(t, "abandon probability", got.Classes[i]["abandon_probability"], &num.Value{
					Float: *c.AbandonProbability,
				})
				same(t, "p95", got.Classes[i]["waiting"].(fields)["p95"], &c.Waiting[1])
				same(t, "served", got.Classes[i]["within"].([]any)[0].(fields)["served"], &num.Value{
					Float: c.Within[0].ServedWithin,
				})
			}
		case cluster.SeveralServers:
			want, err := gang.Solve(t.Context(), m, gang.Settings{})
			if unstable(err) {
				return
			}
			for i, c := range want.Classes {
				same(t, "mean waiting", got.Classes[i]["mean_waiting"], c.MeanWaiting)
			}
			for k, s := range want.Servers {
				same(t, "utilization", got.Servers[k]["utilization"], &s.Utilization)
			}
		}
	})
}

// A model whose jobs give up is refused if it takes more work than the page allows, though not more
// memory.
func TestPatienceWork(t *testing.T) {
	const servers = `{"service": "one", "patience": "deterministic", "mean_patience": 1,
		"servers": [{"name": "a", "count": 60, "capacity": 1}, {"name": "b", "count": 40, "capacity": 1},
			{"name": "c", "count": 100, "capacity": 1}],
		"classes": [{"name": "left", "arrival_rate": 100, "servers": ["a", "c"]},
			{"name": "right", "arrival_rate": 100, "servers": ["b", "c"]}]}`
	for _, kind := range []string{"solve", "changes"} {
		got := ask[struct{ Error string }](t, Question{Ask: kind, Model: text(t, model(t, servers)), Load: "1"})
		if want := "this model takes more memory or time than this page has; pfq solve allows more"; got.Error != want {
			t.Errorf("%s: %q, want %q", kind, got.Error, want)
		}
	}
}

// The verdict of every service matches that of its package.
func TestVerdictOfServices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := serve(t, oracle.DrawModel(t, oracle.Options{Servers: 3, Classes: 3, Count: 3, ZeroRates: true}))
		load := big.NewRat(rapid.Int64Range(1, 12).Draw(t, "load"), 3)
		got := ask[struct {
			Stable    bool
			Undecided bool
			Critical  *float64 `json:"critical_load"`
			Crowded   *float64 `json:"crowded_load"`
			Gangs     *struct {
				Waste     float64 `json:"fifo_waste"`
				Costliest string
			}
		}](t, Question{Ask: "verdict", Model: text(t, m), Load: load.RatString()})
		if m.Service == cluster.Gang {
			want := oracle.Must(gang.CheckStability(t.Context(), m, gang.Settings{}))
			if want.CriticalScale == nil {
				return
			}
			if *got.Critical != want.CriticalScale.Float || got.Gangs.Waste != want.FIFOWaste.Float ||
				got.Gangs.Costliest != want.Costliest() {
				t.Fatalf("%+v, want %+v", got, want)
			}
			at := oracle.Must(gang.CheckStability(t.Context(), m.Scale(load), gang.Settings{}))
			if got.Stable != (at.Verdict == gang.Stable) && !got.Undecided && at.Verdict != gang.Undecided {
				t.Fatalf("stable %v, want %v", got.Stable, at.Verdict)
			}
			return
		}
		want := oracle.Must(stability.Cluster(t.Context(), m.Scale(load).WithoutImpatient()))
		if got.Stable != want.Stable || (got.Critical == nil) != (want.CriticalScale == nil) ||
			(got.Crowded != nil) != (m.Theory() == cluster.Impatience && !isIdle(m)) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

func isIdle(m *cluster.Model) bool {
	for _, c := range m.Classes {
		if c.ArrivalRate.Sign() > 0 {
			return false
		}
	}
	return true
}

// The listed changes of every service improve the measure by the difference of two solutions, are
// in the order of their effect per cost, and contain one more server.
func TestChangesOfServices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := serve(t, oracle.DrawModel(t, oracle.Options{Servers: 2, Classes: 2, Count: 2, Stable: true}))
		prices := Prices{Connection: rapid.SampledFrom([]string{"", "1/10", "5"}).Draw(t, "price")}
		for range m.Servers {
			prices.Servers = append(prices.Servers, rapid.SampledFrom([]string{"1", "3"}).Draw(t, "price of a row"))
		}
		got := ask[Changes](t, Question{Ask: "changes", Model: text(t, m), Load: "1", Prices: prices})
		total := func(model json.RawMessage) float64 {
			s := ask[map[string]any](t, Question{Ask: "solve", Model: model, Load: "1"})
			return s[got.Measure].(float64)
		}
		for k, c := range got.Changes {
			want := total(oracle.Must(json.Marshal(c.Model)))/total(text(t, m)) - 1
			if c.Total >= 0 || c.Total != want || c.PerCost != c.Total/c.Cost ||
				k > 0 && k < mostChanges && c.PerCost < got.Changes[k-1].PerCost {
				t.Fatalf("change %d: %+v, want %v", k, c, want)
			}
		}
	})
	centre := text(t, model(t, `
service: one
servers: [{name: en, count: 3, capacity: 1}, {name: fr, count: 2, capacity: 1}]
classes: [{name: en, arrival_rate: 2, servers: [en]}, {name: fr, arrival_rate: 1, servers: [fr]}]`))
	for _, c := range []struct {
		prices Prices
		place  int
		want   string
	}{
		{Prices{Connection: "1/100"}, 0, "en on fr as well"},
		{Prices{Servers: []string{"1/100", "1"}}, 0, "capacity of en 1 → 1.1"}, // by a tenth of the servers
		{Prices{Servers: []string{"1/100", "1"}}, 1, "one more server en (3 → 4)"},
	} {
		got := ask[Changes](t, Question{Ask: "changes", Model: centre, Load: "1", Prices: c.prices}).Changes
		if got[c.place].Words != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	for name, p := range map[string]Prices{
		"prices.connection = 0: want a number from 1e-100 to 1e100":        {Connection: "0"},
		"prices.servers[1] = x: want a number from 1e-100 to 1e100":        {Servers: []string{"1", "x"}},
		"prices.connection = 1e101: want a number from 1e-100 to 1e100":    {Connection: "1e101"},
		"prices.servers = 1 of them: want none, or one for each of 2 rows": {Servers: []string{"1"}},
	} {
		if got := ask[Refusal](t, Question{Ask: "changes", Model: centre, Load: "1", Prices: p}); got.Error != name {
			t.Errorf("%s, want %s", got.Error, name)
		}
	}
}

// A critical load of gangs beyond float64 is an error, with bounds as with a fraction.
func TestVerdictBeyondRange(t *testing.T) {
	for _, rate := range []string{"1e-999", "1e-310", "1e999"} {
		for _, size := range []string{"1", "7/5"} { // the second gives bounds
			m := text(t, model(t, `
service: gang
servers: [{name: a, count: 20}]
classes:
  - {name: one, arrival_rate: `+rate+`, needs: {a: 1}, mean_size: `+size+`}
  - {name: two, arrival_rate: `+rate+`, needs: {a: 2}, mean_size: 1}
  - {name: five, arrival_rate: `+rate+`, needs: {a: 5}, mean_size: 1}`))
			got := ask[Refusal](t, Question{Ask: "verdict", Model: m, Load: "1"})
			if got.Error != errRange.Error() {
				t.Errorf("rate %s, size %s: %q", rate, size, got.Error)
			}
		}
	}
}

// A model whose gradient takes more memory than the page has still gets a list of changes.
func TestChangesWithoutGradient(t *testing.T) {
	racks := model(t, `
servers: [{name: a, count: 68, capacity: 1}, {name: b, count: 68, capacity: 1}, {name: c, count: 68, capacity: 1}]
classes:
  - {name: local-a, arrival_rate: 8, servers: [{group: a, choose: 2}]}
  - {name: local-b, arrival_rate: 8, servers: [{group: b, choose: 2}]}
  - {name: wide, arrival_rate: 8, servers: [{group: a, choose: 1}, {group: b, choose: 1}, {group: c, choose: 1}]}`)
	var large *num.TooLargeError
	if _, err := bf.Answer(t.Context(), racks, bf.Question{Gradient: true}, settings()); !errors.As(err, &large) {
		t.Errorf("gradient: %v", err)
	}
	got := ask[Changes](t, Question{Ask: "changes", Model: text(t, racks), Load: "1"})
	if len(got.Changes) <= mostChanges || got.Changes[0].Words != "local-a on c as well" {
		t.Errorf("changes: %+v", got)
	}
}

// A relative change beyond float64 is none.
func TestRelativeChangesAreFinite(t *testing.T) {
	small, large := math.SmallestNonzeroFloat64, 1.
	if part := relative(&large, &small); part != nil {
		t.Errorf("%v", *part)
	}
	if part := relative(&small, &large); part == nil || *part != -1 {
		t.Errorf("%v, want -1", part)
	}
}
