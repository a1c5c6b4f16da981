package line_test

import (
	"context"
	_ "embed"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"productform/network"
	"productform/network/line"
	"productform/num"
)

// shop is a mixed network with all supported features: a router, a ClassSwitch, class switching in
// the matrix, visits that are never made, and thirds rounded to float64.
//
//go:embed testdata/shop.json
var shop string

// same is the network of shop in the format of package network.
const same = `
stations:
  - {name: Think, discipline: delay}
  - {name: Cpu, discipline: sharing, servers: 2}
  - {name: Disk, discipline: fcfs}
  - {name: Stack, discipline: lcfs}
classes:
  - name: Users
    population: 3
    visits:
      - {station: Think, mean_size: 4, next: {Cpu: 0.75, Cpu/Batch: 0.25}}
      - {station: Cpu, mean_size: 1/8, next: {Disk: 1/3, Stack: 1/3, Think: 1/3}}
      - {station: Disk, mean_size: 1/5, next: {Think: 1}}
      - {station: Stack, mean_size: 1/3, next: {Think: 1}}
  - {name: Batch, visits: [{station: Cpu, mean_size: 1/2, next: {Think/Users: 1}}]}
  - {name: Web, arrival_rate: 1/2, visits: [{station: Cpu, mean_size: 0.1, next: {Disk: 0.5, out: 0.5}},
      {station: Disk, mean_size: 0.2, next: {Cpu: 1}}]}
`

// Both forms of one network have the same answers, in fractions.
func TestShopMatchesNetworkModel(t *testing.T) {
	for strategy, discipline := range map[string]string{"LCFSPR": "lcfs", "SIRO": "random"} {
		t.Run(strategy, func(t *testing.T) {
			checkSame(t, strings.Replace(shop, "LCFSPR", strategy, 1), strings.Replace(same, "lcfs", discipline, 1))
		})
	}
}

func checkSame(t *testing.T, shop, same string) {
	m, err := line.Read(strings.NewReader(shop))
	if err != nil {
		t.Fatal(err)
	}
	other, err := line.Read(strings.NewReader(same)) // without the field format: the format of package network
	if err != nil {
		t.Fatal(err)
	}
	var results [2]*network.Result
	for i, m := range []*network.Model{m, other} {
		if results[i], err = network.Solve(context.Background(), m, network.Settings{Engine: num.Exact}); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(results[0].Stations, results[1].Stations) ||
		!reflect.DeepEqual(results[0].Chains, results[1].Chains) {
		t.Errorf("%+v\n%+v", results[0], results[1])
	}
	if len(m.Classes) != 3 || len(m.Stations) != 4 || m.Classes[0].Name != "Users" {
		t.Errorf("%+v", m)
	}
}

// Rates may depend on the number of jobs. A class that changes before the first station arrives
// there as the new class, at the corresponding fraction of its rate.
func TestRatesAndArrivals(t *testing.T) {
	m, err := line.Read(
		strings.NewReader(`{"format": "line-model", "version": "1.0", "model": {"type": "Network", "name": "m",
 "nodes": [
  {"name": "In", "type": "Source", "service": {"A": {"type": "Exp", "params": {"lambda": 3}},
    "B": {"type": "Exp", "params": {"lambda": 1}}}},
  {"name": "S", "type": "ClassSwitch", "classSwitchMatrix": {"A": {"A": 0.5, "B": 0.5}, "B": {"B": 1}}},
  {"name": "Q", "type": "Queue", "scheduling": "PS", "servers": 9,
    "service": {"A": {"type": "Exp", "params": {"lambda": 2}}, "B": {"type": "Exp", "params": {"lambda": 4}}}},
  {"name": "R", "type": "Queue", "scheduling": "FCFS",
    "loadDependence": {"type": "loadDependent", "scaling": [1, 1.5, 2]},
    "service": {"C": {"type": "Exp", "params": {"lambda": 4}}}},
  {"name": "D", "type": "Queue", "scheduling": "INF", "service": {"C": {"type": "Exp", "params": {"lambda": 1}}}},
  {"name": "Out", "type": "Sink"}],
 "classes": [{"name": "A", "type": "Open", "refNode": "In"},
  {"name": "B", "type": "Open"},
  {"name": "C", "type": "Closed", "population": 3, "refNode": "D"}],
 "routing": {"type": "matrix", "matrix": {
  "A,A": {"In": {"S": 1}, "S": {"Q": 1}, "Q": {"Out": 1}},
  "B,B": {"In": {"S": 1}, "S": {"Q": 1}, "Q": {"Out": 1}},
  "C,C": {"R": {"D": 1}, "D": {"R": 1}}}}}}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := m.Classes[0].ArrivalRate, m.Classes[1].ArrivalRate; a.Cmp(big.NewRat(3, 2)) != 0 ||
		b.Cmp(big.NewRat(5, 2)) != 0 {
		t.Errorf("arrival rates %v and %v", a, b)
	}
	if s := m.Stations[1]; len(s.Rates) != 3 || s.Rates[1].Cmp(big.NewRat(3, 2)) != 0 || s.Servers != 0 ||
		m.Stations[2].Discipline != network.Delay {
		t.Errorf("%+v", m.Stations)
	}
	if c := m.Classes[2]; c.Population != 3 || m.Stations[c.Visits[c.Reference].Station].Name != "D" {
		t.Errorf("%+v", c)
	}
}

// Each edit of shop is rejected with an error that names the line, the field, its value and a valid
// value.
func TestMalformed(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"line-model"`, `"lqn"`, `line 1: format = a string "lqn": want "line-model"`},
		{`"version": "1.0"`, `"version": "2.0"`, `line 1: version = a string "2.0": want "1.0"`},
		{
			`"type": "Network"`, `"type": "LayeredNetwork"`,
			`line 1: model.type = a string "LayeredNetwork": want "Network"`,
		},
		{
			`"name": "shop",`, `"name": "shop", "finiteCapacityRegions": [],`,
			`line 1: model.finiteCapacityRegions = an array: want one of the fields type, name, nodes, classes, ` +
				`routing, routingStrategies, initialState`,
		},
		{
			`"type": "Router"`, `"type": "Fork"`,
			`line 8: model.nodes[5].type = "Fork": want one of Source, Sink, Queue, Delay, Router, ClassSwitch; ` +
				`other types have no product form, or none that is supported`,
		},
		{
			`"type": "Router"`, `"type": "Router", "servers": 2`,
			`line 8: model.nodes[5].servers = the number 2: want no such field at a Router`,
		},
		{
			`"buffer": -1`, `"buffer": 5`,
			`line 7: model.nodes[4].buffer = the number 5: want -1, no limit: jobs are neither lost nor blocked`,
		},
		{`"scheduling": "PS", `, ``,
			`line 5: model.nodes[2].scheduling is missing: want one of INF, FCFS, PS, LCFSPR, SIRO`},
		{`"scheduling": "PS"`, `"scheduling": "DPS"`, `line 5: model.nodes[2].scheduling = a string "DPS": want ` +
			`one of INF (the only one of a Delay), FCFS, PS, LCFSPR, SIRO: no other strategy is supported`},
		{`"servers": 2`, `"servers": 0`, `line 5: model.nodes[2].servers = 0: want an integer from 1 to 1000000`},
		{
			`"fit": {"method": "fitMean", "mean": 4.0}`, `"fit": {"method": "fitMeanAndSCV", "mean": 4.0}`,
			`line 4: model.nodes[1].service.Users.fit.method = a string "fitMeanAndSCV": want "fitMean"`,
		},
		{
			`"params": {"lambda": 3}`, `"params": {"lambda": 0}`,
			`line 7: model.nodes[4].service.Users.params.lambda = the number 0: want a number > 0`,
		},
		{`{"type": "Exp", "params": {"lambda": 3}}`, `{"type": "Erlang", "params": {"lambda": 3, "k": 0}}`,
			`line 7: model.nodes[4].service.Users.params.k = 0: want an integer from 1 to 1000000`},
		{`{"type": "Exp", "params": {"lambda": 3}}`, `{"type": "Erlang", "params": {"lambda": 3}}`,
			`line 7: model.nodes[4].service.Users.params.k is missing: want an integer from 1 to 1000000`},
		{`{"type": "Exp", "params": {"lambda": 3}}`, `{"type": "HyperExp", "params": {"p": [0.5], "lambda": [1, 2]}}`,
			`line 7: model.nodes[4].service.Users.params.p = 1: want 2 numbers, one for each phase`},
		{`{"type": "Exp", "params": {"lambda": 3}}`,
			`{"type": "HyperExp", "params": {"p": [0.5, 0.4], "lambda": [1, 2]}}`,
			`line 7: model.nodes[4].service.Users.params.p = a sum of 0.9: want probabilities that sum to 1`},
		{`{"type": "Exp", "params": {"lambda": 3}}`,
			`{"type": "Coxian", "params": {"mu": [1, 2], "phi": [0.5, 0.5]}}`,
			`line 7: model.nodes[4].service.Users.params.phi[1] = 1/2: want 1: the job ends after its last phase`},
		{`{"type": "Exp", "params": {"lambda": 3}}`,
			`{"type": "PH", "ph": {"alpha": [1, 0], "T": [[-1, 1], [1, -1]]}}`,
			`line 7: model.nodes[4].service.Users.ph.T = a matrix of rates: want one in which every phase ends`},
		{`{"type": "Exp", "params": {"lambda": 3}}`,
			`{"type": "PH", "ph": {"alpha": [1, 0], "T": [[-1, 2], [0, -1]]}}`,
			`line 7: model.nodes[4].service.Users.ph.T[0] = 1: want rates with a sum of at most 0`},
		{`{"type": "Exp", "params": {"lambda": 3}}`, `{"type": "Pareto", "params": {"alpha": 1, "scale": 2}}`,
			`line 7: model.nodes[4].service.Users.params.alpha = 1: want a number > 1, which gives a finite mean`},
		{`{"type": "Exp", "params": {"lambda": 3}}`, `{"type": "Uniform", "params": {"a": 2, "b": 1}}`,
			`line 7: model.nodes[4].service.Users.params.b = 1: want at least a = 2`},
		{`{"type": "Exp", "params": {"lambda": 3}}`, `{"type": "Gamma", "params": {"alpha": 2, "beta": 1}}`,
			`line 7: model.nodes[4].service.Users = an object: want a fit with a mean: parameters of ` +
				`Gamma are not supported`},
		{`"Users": {"type": "Exp", "params": {"lambda": 5}}`, `"Users": {"type": "Det", "params": {"value": 0.2}}`,
			`line 6: model.nodes[3].service.Users = an object: want Exp: with FCFS, SIRO, and LCFSPR with several ` +
				`servers, only exponential sizes have a product form`},
		{
			`"Users": {"type": "Exp", "params": {"lambda": 5}}`, `"Users": {"type": "Exp", "params": {"lambda": 6}}`,
			`line 1: model = a network whose classes[2].visits[1].mean_size is 1/5: want 1/6, that of "Users": ` +
				`station "Disk" has a product form for exponential sizes of one mean only`,
		},
		{
			`"Users": {"type": "Exp", "params": {"lambda": 5}}, `, ``,
			`line 6: model.nodes[3].service.Users is missing: want a distribution, because jobs of the class get to ` +
				`"Disk"`,
		},
		{
			`"Users": {"type": "Exp", "params": {"lambda": 5}}`, `"User": {"type": "Exp", "params": {"lambda": 5}}`,
			`line 6: model.nodes[3].service.User = "User": want the name of a class; did you mean "Users"?`,
		},
		{`"Web": {"type": "Exp", "params": {"lambda": 0.5}}`, `"Web": {"type": "Det", "params": {"value": 2}}`,
			`line 3: model.nodes[0].service.Web = an object: want Exp, since arrivals must be Poisson processes`},
		{
			`"Users": {"type": "Disabled"}`, `"Users": {"type": "Exp", "params": {"lambda": 1}}`,
			`line 3: model.nodes[0].service.Users = arrivals: want none of a Closed class`,
		},
		{
			`"population": 3`, `"population": 2.5`,
			`line 12: model.classes[0].population = the number 2.5: want an integer from 0 to 1000000000`,
		},
		{
			`"population": 3, "refNode": "Think"`, `"population": 3`,
			`line 12: model.classes[0].refNode is missing: want the name of a Queue or Delay`,
		},
		{
			`"refNode": "Think"`, `"refNode": "Out"`,
			`line 12: model.classes[0].refNode = a string "Out": want the name of a Queue or Delay`,
		},
		{
			`"type": "Open"`, `"type": "Signal"`,
			`line 14: model.classes[2].type = a string "Signal": want Open or Closed`,
		},
		{`{"type": "matrix", `, `{"type": "link", `, `line 16: model.routing.type = a string "link": want "matrix"`},
		{
			`"Web,Web"`, `"Web"`,
			`line 21: model.routing.matrix.Web = "Web": want the names of two classes with a comma between them`,
		},
		{
			`"Disk": 0.3333333333333333,`, `"Disk": 0.3333333333,`,
			`line 18: model.routing.matrix["Users,Users"].Fork = a sum of 0.9999999999666666: want probabilities ` +
				`that sum to 1`,
		},
		{
			`"Disk": 0.3333333333333333,`, `"Dsk": 0.3333333333333333,`,
			`line 18: model.routing.matrix["Users,Users"].Fork.Dsk = "Dsk": want the name of a node; did you mean ` +
				`"Disk"?`,
		},
		{
			`"Users": 0.75, "Batch": 0.25`, `"Users": 0.75`,
			`line 9: model.nodes[6].classSwitchMatrix.Users = a sum of 0.75: want probabilities that sum to 1`,
		},
		{
			`"Disk": {"Think": 1}, `, ``,
			`line 16: model.routing.matrix is missing: want where jobs of "Users" go after "Disk"`,
		},
		{
			`"Stack": {"Think": 1}`, `"Stack": {"In": 1}`,
			`line 16: model.routing.matrix = a way to "In": want none to a Source`,
		},
		{
			`"Stack": 0.3333333333333333, `, `"Fork": 0.3333333333333333, `,
			`line 8: model.nodes[5] = "Fork": want no cycle of nodes that are not stations`,
		},
		{
			`"Stack": {"Think": 1}`, `"Stack": {"Out": 1}`,
			`line 1: model = a network whose classes[0].visits[3].next.out is a way out: want none, because the ` +
				`chain is closed`,
		},
		{
			`"In": {"Web": "RAND"}`, `"In": {"Web": "JSQ"}`,
			`line 22: model.routingStrategies.In.Web = a string "JSQ": want RAND, PROB or DISABLED, which the ` +
				`matrix describes`,
		},
	} {
		text := strings.Replace(shop, c.old, c.new, 1)
		if text == shop {
			t.Errorf("%q is not in the model", c.old)
			continue
		}
		m, err := line.Read(strings.NewReader(text))
		if err == nil || m != nil {
			t.Errorf("%q is accepted", c.new)
			continue
		}
		var bad *num.InputError
		if !errors.As(err, &bad) || bad.Line == 0 {
			t.Errorf("%q: no input error with a line: %v", c.new, err)
		}
		if got := err.Error(); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.new, got, c.want)
		}
	}
}

// Every text gives either an error or a valid model.
