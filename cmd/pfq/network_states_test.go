package main

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/input"
	"productform/internal/oracle"
)

// Queues solved by an independent program, written as one station with nodes, have the same jobs,
// idle nodes and probability of the empty state, in fractions.
func TestQueuesOfReferences(t *testing.T) {
	type fields = map[string]any
	for _, ref := range oracle.References() {
		var nodes, classes []fields
		for _, s := range ref.Model.Servers {
			nodes = append(nodes, fields{"name": s.Name, "capacity": s.Capacity.RatString()})
		}
		for _, c := range ref.Model.Classes {
			var names []string
			for _, u := range c.Servers {
				names = append(names, ref.Model.Servers[u.Server].Name)
			}
			classes = append(classes, fields{
				"name":         c.Name,
				"arrival_rate": c.ArrivalRate.RatString(),
				"visits": []fields{
					{"station": "pool", "nodes": names, "next": fields{"out": 1}}},
			})
		}
		station := fields{"name": "pool", "discipline": "order", "nodes": nodes}
		model, err := json.Marshal(fields{"stations": []fields{station}, "classes": classes})
		if err != nil {
			t.Fatal(err)
		}
		args := strings.Fields("network - --engine exact --states 1 --format json")
		stdout, stderr, status := networkProgram.Run(string(model), args...)
		if !ref.Expect.Stable {
			if status != 1 {
				t.Errorf("%s: status %d, %s", ref.Name, status, stderr)
			}
			continue
		}
		if status != 0 {
			t.Fatalf("%s: %s", ref.Name, stderr)
		}
		answer := commandtest.ParseJSON(t, stdout)
		same := func(what string, row any, field string, want *big.Rat) {
			if got, _ := row.(fields)[field+"_exact"].(string); got != want.RatString() {
				t.Errorf("%s: %s is %s, want %s", ref.Name, what, got, want.RatString())
			}
		}
		for i, want := range ref.Expect.MeanJobs {
			same("jobs", answer["visits"].([]any)[i], "mean_jobs", want)
		}
		for i, u := range ref.Expect.Utilization {
			same("idle node", answer["nodes"].([]any)[i], "idle_probability", new(big.Rat).Sub(big.NewRat(1, 1), u))
		}
		state := answer["likely_states"].([]any)[0]
		if name := state.(fields)["state"]; name != "empty" {
			t.Errorf("%s: %v is likelier than the empty state", ref.Name, name)
		}
		same("P(empty)", state, "probability", new(big.Rat).Inv(ref.Expect.Normalization))
	}
}

const pair = `
stations:
  - {name: think, discipline: delay}
  - name: pair
    discipline: balanced
    table: {classes: [a, b], most: [1, 1], rates: [[0, 0], [0, 2], [1, 0], [1/2, 1]]}
classes:
  - {name: a, population: 1, visits: [{station: think, next: {pair: 1}}, {station: pair, next: {think: 1}}]}
  - {name: b, population: 1, visits: [{station: think, next: {pair: 1}}, {station: pair, next: {think: 1}}]}
`

func TestStates(t *testing.T) {
	text, stderr, status := networkProgram.Run(pair, "network", "-", "--states", "9", "--engine", "exact")
	const want = `
state                  probability
think: 1 a, 1 b        2/7 = 0.285714
pair: 1 a, 1 b         2/7 = 0.285714
think: 1 b; pair: 1 a  2/7 = 0.285714
think: 1 a; pair: 1 b  1/7 = 0.142857
`
	if status != 0 || !strings.Contains(text, want) ||
		!strings.Contains(text, "\npair: 1 a, 1 b         pair     a      1     1/2 = 0.5       1/3 = 0.333333\n") {
		t.Errorf("status %d, %s%s", status, stderr, text)
	}
	csv, _, _ := networkProgram.Run(pair, "network", "-", "--states", "2", "--format", "csv")
	if strings.Count(csv, "\nstate,") != 2 || strings.Count(csv, "\nstate_visit,") != 4 {
		t.Error(csv)
	}
	text, _, _ = networkProgram.Run(pair, "network", "-", "--states", "1", "--population", "a=1")
	if !strings.Contains(text, "\njobs of a  state ") {
		t.Error(text)
	}
}

func TestStatesRefused(t *testing.T) {
	unbalanced := strings.Replace(pair, "1/2, 1", "1, 1", 1)
	for _, c := range []struct {
		model, args string
		want        input.Error
	}{
		{pair, "--states 0", input.Error{Path: "--states", Value: "0", Want: "an integer in 1..10000"}},
		{unbalanced, "--states 3", input.Error{File: "standard input", Path: "stations[1].table.rates",
			Value: "rates without a balance function",
			Want: "φ_c(x) φ_d(x-e_c) = φ_c(x-e_d) φ_d(x) for all classes c, d and numbers of jobs x; " +
				`for "b" and "a" at x = [1 1] the sides are 2 and 1, 0.5 apart, the worst of all`}},
	} {
		got := networkProgram.Refusal(t, c.model, append([]string{"network", "-"}, strings.Fields(c.args)...)...)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.args, got, c.want)
		}
	}
	for args, want := range map[string]string{
		"--states 1 --bounds": "--bounds and --states cannot be combined",
		"--states 1":          "--states needs a network with stations",
	} {
		model := pair
		if args == "--states 1" {
			model = `{"room": 3, "classes": [{"name": "a", "arrival_rate": 1}]}`
		}
		if _, stderr, status := networkProgram.Run(
			model, append([]string{"network", "-"}, strings.Fields(args)...)...,
		); status != 2 ||
			!strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s", args, status, stderr)
		}
	}
}
