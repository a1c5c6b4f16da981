package network_test

import (
	_ "embed"
	"errors"
	"math/big"
	"strings"
	"testing"

	"productform/network"
	"productform/num"
)

// good is the model from which each malformed one differs in one place.
//
//go:embed testdata/good.yaml
var good string

func TestGoodModel(t *testing.T) {
	m, err := network.Read(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Stations) != 7 || len(m.Classes) != 4 || m.Classes[0].Visits[5].Next[0] != (network.Branch{Class: 1,
		Visit: 0, Probability: m.Classes[0].Visits[5].Next[0].Probability}) ||
		m.Classes[0].Reference != 0 || m.Classes[3].Visits[0].Next[1].Class != network.Leaves {
		t.Fatalf("%+v", m)
	}
}

// Each edit of the good model is rejected with an error that names the line, the field, its value
// and a valid value.
func TestMalformed(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"stations:", "stations: []\nold:", `line 2: old = an array: want one of the fields stations, classes`},
		{
			"  - {name: think, discipline: delay}\n", "  - {name: think, discipline: delay, rank: 3}\n",
			`line 2: stations[0].rank = the number 3: want an array of sets of classes with their rates`,
		},
		{"discipline: delay", "discipline: dely", `line 2: stations[0].discipline = "dely": want one of delay, ` +
			`sharing, fcfs, lcfs, random, order, balanced; did you mean "delay"?`},
		{"discipline: delay", "discipline: PS", `line 2: stations[0].discipline = "PS": want one of delay, ` +
			`sharing, fcfs, lcfs, random, order, balanced; that is sharing here`},
		{"discipline: delay", "discipline: 3", `line 2: stations[0].discipline = the number 3: want one of delay, ` +
			`sharing, fcfs, lcfs, random, order, balanced`},
		{"{name: think, discipline: delay}", "{name: think}", `line 2: stations[0].discipline is missing: want one ` +
			`of delay, sharing, fcfs, lcfs, random, order, balanced`},
		{"  - {name: think, discipline: delay}",
			"  - {name: think, discipline: delay}\n  - {name: out, discipline: delay}",
			`line 3: stations[1].name = "out": want another name; this is the way out of the network`},
		{
			"{name: think, discipline: delay}", "{name: cpu, discipline: delay}",
			`line 3: stations[1].name = "cpu": want a unique name; stations[0] has this one`,
		},
		{
			"{name: think, discipline: delay}", "{name: think, discipline: delay, servers: 2}",
			`line 2: stations[0].servers = 2: want no such field with discipline delay, where each job has its own ` +
				`server`,
		},
		{
			"{name: think, discipline: delay}", "{name: think, discipline: delay, rate: 0}",
			`line 2: stations[0].rate = 0: want a number > 0`,
		},
		{
			"{name: think, discipline: delay}", "{name: think, dicsipline: delay}",
			`line 2: stations[0].dicsipline = a string "delay": want one of the fields name, discipline, servers, ` +
				`rate, rates, nodes, limits, rank, table; did you mean discipline?`,
		},
		{
			"{name: think, discipline: delay}", "[think]",
			`line 2: stations[0] = an array: want an object with a name and other fields`,
		},
		{"servers: 4", "servers: -4", `line 3: stations[1].servers = -4: want an integer from 1 to 1000000`},
		{"servers: 4", "servers: 2.5", `line 3: stations[1].servers = 2.5: want an integer from 1 to 1000000`},
		{
			"servers: 4", "servers: 4, rates: [1]",
			`line 3: stations[1].servers = 4: want either rates, or servers and rate`,
		},
		{
			"servers: 4", "nodes: [{name: a, capacity: 1}]",
			`line 3: stations[1].nodes = a list: want no such field with discipline sharing, which has servers and ` +
				`rate, or rates`,
		},
		{
			"servers: 4", "servers: 4, servers: 5",
			`line 3: stations[1].servers = the number 5: want the field once; it is already there`,
		},
		{
			"rates: [1, 1.5]", "rates: []",
			`line 4: stations[2].rates = 0 numbers: want 1 to 100000 numbers, the total rate with 1, 2, ... jobs`,
		},
		{"rates: [1, 1.5]", "rates: [1, 0]", `line 4: stations[2].rates[1] = 0: want a number > 0`},
		{
			"rates: [1, 1.5]", "rates: [1, fast]",
			`line 4: stations[2].rates[1] = "fast": want a number > 0 (character 'f' at position 1; want a decimal ` +
				`or a fraction such as "2", "-0.5", "1e-3" or "4/5")`,
		},
		{
			"{name: s2, capacity: 1/2}", "{name: s1, capacity: 1/2}",
			`line 5: stations[3].nodes[1].name = "s1": want a unique name; stations[3].nodes[0] has this one`,
		},
		{
			"{name: s2, capacity: 1/2}", "{name: s2, capacity: -1/2}",
			`line 5: stations[3].nodes[1].capacity = "-1/2": want a number >= 0`,
		},
		{
			"discipline: order, nodes: [", "discipline: order, rate: 2, nodes: [",
			`line 5: stations[3].rate = 2: want no such field with nodes`,
		},
		{
			"discipline: order, nodes: [", "discipline: order, old: [",
			`line 5: stations[3].old = an array: want one of the fields name, discipline, servers, rate, rates, ` +
				`nodes, limits, rank, table`,
		},
		{
			"discipline: order, servers: 3, limits: [{classes: [user], most: 2}]", "discipline: order, servers: 3",
			`line 6: stations[4] = "licences": want exactly one of nodes, limits or rank with discipline order; ` +
				`this station has 0`,
		},
		{
			"discipline: balanced, table:", "discipline: order, table:",
			`line 8: stations[6] = "tabled": want exactly one of nodes, limits or rank with discipline order; this ` +
				`station has 0`,
		},
		{
			"{classes: [user], most: 2}", "{classes: [user], most: 0}",
			`line 6: stations[4].limits[0].most = 0: want an integer from 1 to 1000000`,
		},
		{
			"{classes: [user], most: 2}", "{classes: [users], most: 2}",
			`line 6: stations[4].limits[0].classes[0] = "users": want the name of a class; did you mean "user"?`,
		},
		{
			"{classes: [user], most: 2}", "{classes: [batch], most: 2}",
			`line 6: stations[4].limits[0].classes[0] = "batch": want a class that visits the station`,
		},
		{
			"{classes: [user], most: 2}", "{classes: [], most: 2}",
			`line 6: stations[4].limits[0].classes = []: want at least one class`,
		},
		{
			"{classes: [user], most: 2}", "{classes: [user], most: 2}, {classes: [user], most: 1}",
			`line 6: stations[4].limits[1].classes = ["user"]: want a set without a limit; limits[0] has this one`,
		},
		{
			"{classes: [user, reports], rate: 2}", "{classes: [user, reports], rate: 3/2}",
			`line 7: stations[5].rank[2].rate = "3/2": want at least 2, the rate without "user": more classes ` +
				`cannot slow a station down`,
		},
		{
			", {classes: [user, reports], rate: 2}", "",
			`line 7: stations[5].rank = 2 sets: want every set of the 2 classes that visit the station, 3 in total; ` +
				`missing: "user", "reports"`,
		},
		{
			"{classes: [user, reports], rate: 2}", "{classes: [reports], rate: 2}",
			`line 7: stations[5].rank[2].classes = ["reports"]: want each set once; rank[1] has this one`,
		},
		{
			"{classes: [user, reports], rate: 2}", "{classes: [reports, reports], rate: 2}",
			`line 7: stations[5].rank[2].classes[1] = "reports": want each class once`,
		},
		{
			"most: [3], balance", "most: [2], balance",
			`line 8: stations[6].table.most[0] = 2: want an integer from 3, the jobs in the chain of "reports", to ` +
				`1048575`,
		},
		{
			"balance: [1, 1, 1/2, 1/6]", "balance: [1, 1, 1/2]",
			`line 8: stations[6].table.balance = 3 numbers: want 4, one for each state`,
		},
		{"balance: [1, 1, 1/2, 1/6]", "balance: [2, 1, 1/2, 1/6]", `line 8: stations[6].table.balance[0] = 2: want 1`},
		{
			"balance: [1, 1, 1/2, 1/6]", "balance: [1, 1, 1/2, 0]",
			`line 8: stations[6].table.balance[3] = 0: want a number > 0`,
		},
		{
			"balance: [1, 1, 1/2, 1/6]", "rates: [[0], [1], [2], [0]]",
			`line 8: stations[6].table.rates[3][0] = 0: want a number > 0`,
		},
		{
			"balance: [1, 1, 1/2, 1/6]", "rates: [[1], [1], [2], [3]]",
			`line 8: stations[6].table.rates[0][0] = 1: want 0: there is no job of the class in state [0]`,
		},
		{
			"balance: [1, 1, 1/2, 1/6]", "rates: [[0], [1, 2], [2], [3]]",
			`line 8: stations[6].table.rates[1] = 2 numbers: want 1, one for each class`,
		},
		{
			", balance: [1, 1, 1/2, 1/6]", "",
			`line 8: stations[6].table = one with both or neither: want either balance or rates`,
		},
		{"  - name: user\n", "  - {}\n  - name: user\n", `line 10: classes[0].name is missing: want a name, not empty`},
		{
			"population: 2\n", "population: -2\n",
			`line 11: classes[0].population = -2: want an integer from 0 to 1000000000`,
		},
		{"population: 2\n", "population: 2.5\n",
			`line 11: classes[0].population = 2.5: want an integer from 0 to 1000000000`},
		{"    population: 2\n", "", `line 10: classes[0].population is missing: want at least one job in the chain ` +
			`of "user", "batch", or an arrival_rate`},
		{"population: 2\n", "population: 0\n", `line 11: classes[0].population = 0: want at least one job in the ` +
			`chain of "user", "batch", or an arrival_rate`},
		{
			"population: 2\n", "population: 2\n    arrival_rate: 1\n",
			`line 11: classes[0].population = 2: want either a population (closed) or an arrival_rate (open)`,
		},
		{
			"  - name: batch\n", "  - name: batch\n    arrival_rate: 0.5\n",
			`line 21: classes[1].arrival_rate = 0.5: want none, because jobs of "batch" and "user" turn into one ` +
				`another, and "user" has a population: a chain is open or closed`,
		},
		{"arrival_rate: 0.7", "arrival_rate: -0.7", `line 29: classes[3].arrival_rate = -0.7: want a number >= 0`},
		{
			"arrival_rate: 0.7", "population: 4",
			`line 30: classes[3].arrives = 2 branches: want no such field without arrival_rate`,
		},
		{
			"    arrival_rate: 0.7\n    arrives: {cpu: 0.9, disk: 0.1}\n", "    population: 4\n",
			`line 31: classes[3].visits[0].next.out = "1/2": want none, because the chain is closed`,
		},
		{
			"arrives: {cpu: 0.9, disk: 0.1}", "arrives: {cpu: 0.9}",
			`line 30: classes[3].arrives = a sum of 9/10: want probabilities that sum to 1`,
		},
		{
			"arrives: {cpu: 0.9, disk: 0.1}", "arrives: {cpu: 0.9, cpu/user: 0.1}",
			`line 30: classes[3].arrives["cpu/user"] = 0.1: want a visit of the class itself`,
		},
		{
			"arrives: {cpu: 0.9, disk: 0.1}", "arrives: {cpu: 0.9, out: 0.1}",
			`line 30: classes[3].arrives.out = 0.1: want a visit of the class itself`,
		},
		{
			"arrives: {cpu: 0.9, disk: 0.1}", "arrives: [cpu]",
			`line 30: classes[3].arrives = an array: want an object from stations to probabilities`,
		},
		{
			"population: 3\n", "population: 3\n    reference: tabled\n",
			`line 25: classes[2].reference = "tabled": want none, because visits are given per cycle`,
		},
		{
			"reference: think", "reference: tabled",
			`line 12: classes[0].reference = "tabled": want the name of a station that the class visits: ` +
				`"cpu", "disk", "licences", "pool", "ranked", "think"`,
		},
		{
			"  - name: batch\n    visits:\n", "  - name: batch\n    visits: []\n    old:\n",
			`line 22: classes[1].old = an array: want one of the fields name, population, arrival_rate, arrives, ` +
				`reference, visits`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}", "{station: thinks, mean_size: 5, next: {cpu: 1}}",
			`line 14: classes[0].visits[0].station = "thinks": want the name of a station; did you mean "think"?`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}", "{station: think, mean_size: 0, next: {cpu: 1}}",
			`line 14: classes[0].visits[0].mean_size = 0: want a number > 0`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}", "{station: think, mean_size: 5}",
			`line 14: classes[0].visits[0].next is missing: want the next visits with their probabilities, or ` +
				`visits, their number`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}", "{station: think, mean_size: 5, visits: 2}",
			`line 15: classes[0].visits[1] = "cpu": want next at all visits of the class, or visits at all`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}",
			"{station: think, mean_size: 5, visits: 2, next: {cpu: 1}}",
			`line 14: classes[0].visits[0].visits = 2: want either visits (a number) or next`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}", "{station: think, mean_size: 5, next: cpu}",
			`line 14: classes[0].visits[0].next = a string "cpu": want an object from stations to probabilities`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}", "{station: think, mean_size: 5, next: {cpus: 1}}",
			`line 14: classes[0].visits[0].next.cpus = "cpus": want a station that the class visits, station/class, ` +
				`or out; did you mean "cpu"?`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}", "{station: think, mean_size: 5, next: {tabled: 1}}",
			`line 14: classes[0].visits[0].next.tabled = "tabled": want a station that the class visits; "tabled" ` +
				`is not among its visits`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}",
			"{station: think, mean_size: 5, next: {cpu: 0.5, out: 0.5}}",
			`line 14: classes[0].visits[0].next.out = 0.5: want none, because the chain is closed`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}",
			"{station: think, mean_size: 5, next: {cpu: 2, disk: -1}}",
			`line 14: classes[0].visits[0].next.disk = -1: want a probability, a number >= 0`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}",
			"{station: think, mean_size: 5, next: {cpu: 0.5, cpu: 0.5}}",
			`line 14: classes[0].visits[0].next.cpu = the number 0.5: want the field once; it is already there`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}",
			"{station: think, mean_size: 5, next: {cpu: 0.5, cpu/user: 0.5}}",
			`line 14: classes[0].visits[0].next.cpu = 0.5: want each way once`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}",
			"{station: think, mean_size: 5, next: {tabled/reports: 1}}",
			`line 14: classes[0].visits[0].next["tabled/reports"] = 1: want a class whose visits say where jobs go ` +
				`next`,
		},
		{
			"{station: think, mean_size: 5, next: {cpu: 1}}",
			"{station: think, mean_size: 5, nodes: [s1], next: {cpu: 1}}",
			`line 14: classes[0].visits[0].nodes[0] = "s1": want the name of a node of station "think"`,
		},
		{
			"next: {disk: 0.6, think: 0.3, pool: 0.1}", "next: {disk: 0.6, think: 0.3, pool: 0.2}",
			`line 15: classes[0].visits[1].next = a sum of 11/10: want probabilities that sum to 1`,
		},
		{
			"next: {think/user: 1}", "next: {cpu: 1}",
			`line 14: classes[0].visits[0] = "think/user": want routing by which jobs of a closed chain get from ` +
				`each visit to every other; jobs that reach "cpu/batch" never return here`,
		},
		{
			"{station: cpu, mean_size: 0.02", "{station: think, mean_size: 0.02",
			`line 15: classes[0].visits[1].station = "think": want each station once; a class that comes twice in a ` +
				`row is two classes`,
		},
		{
			"next: {cpu/batch: 1}", "next: {think: 1}",
			`line 22: classes[1].visits[0] = "cpu/batch": want routing by which jobs of a closed chain get from ` +
				`each visit to every other; jobs that reach "think/user" never return here`,
		},
		{
			"nodes: [s1, s2]", "nodes: [s1, s3]",
			`line 17: classes[0].visits[3].nodes[1] = "s3": want the name of a node of station "pool": "off", "s1", ` +
				`"s2"`,
		},
		{"nodes: [s1, s2]", "nodes: [s1, s1]", `line 17: classes[0].visits[3].nodes[1] = "s1": want each node once`},
		{
			"nodes: [s1, s2]", "nodes: ['off']",
			`line 17: classes[0].visits[3].nodes = 1 of them: want a node of positive capacity`,
		},
		{
			"nodes: [s1, s2], ", "",
			`line 17: classes[0].visits[3].nodes is missing: want nodes of station "pool" that serve the class`,
		},
		{"visits: 2.5", "visits: 0", `line 27: classes[2].visits[1].visits = 0: want a number > 0`},
		{
			"visits: 2.5", "visits: 2, next: {ranked: 1}",
			`line 27: classes[2].visits[1].visits = 2: want either visits (a number) or next`,
		},
		{
			"population: 3", "arrival_rate: 1",
			`line 8: stations[6].table.classes[0] = "reports": want classes of closed chains; a table ends`,
		},
		{"    population: 3\n    visits:\n      - {station: ranked, visits: 1}\n      - {station: tabled, visits: 2.5}",
			"    arrival_rate: 2\n    visits:\n      - {station: ranked, visits: 0.5}",
			`line 25: classes[2].visits = 1/2 in total: want at least one visit per arrival`},
		{
			"    arrives: {cpu: 0.9, disk: 0.1}\n    visits:\n      - {station: cpu, next: {disk: 1/2, out: 1/2}}",
			"    visits:\n      - {station: cpu, next: {out: 1}}",
			`line 32: classes[3].visits[1] = "disk": want a visit that arriving jobs can get to`,
		},
		{
			"    arrives: {cpu: 0.9, disk: 0.1}\n", "    reference: disk\n",
			`line 30: classes[3].reference = "disk": want none, because the chain is open`,
		},
		{
			"arrives: {cpu: 0.9, disk: 0.1}", "arrives: {disk: 1}\n    reference: 1",
			`line 31: classes[3].reference = the number 1: want a name in quotes, not empty`,
		},
		{
			"    visits:\n      - {station: cpu, mean_size: 1/3, next: {think/user: 1}}",
			"    reference: think\n    visits:\n      - {station: cpu, mean_size: 1/3, next: {think: 1}}\n" +
				"      - {station: think, next: {think/user: 1}}",
			`line 21: classes[1].reference = "think": want none, because the reference of "user", the first class ` +
				`of the chain, is used`,
		},
		{
			"next: {cpu: 1}}\n      - {station: pool", "next: {disk: 1}}\n      - {station: pool",
			`line 14: classes[0].visits[0] = "think/user": want routing by which jobs of a closed chain get from ` +
				`each visit to every other; jobs that reach "disk/user" never return here`,
		},
		{
			"{station: disk, mean_size: 0.03, next: {cpu: 1}}\n      - {station: pool",
			"{station: disk, mean_size: 0.03, next: {disk: 1}}\n      - {station: pool",
			`line 14: classes[0].visits[0] = "think/user": want routing by which jobs of a closed chain get from ` +
				`each visit to every other; jobs that reach "disk/user" never return here`,
		},
		{
			"{station: cpu, next: {disk: 1/2, out: 1/2}}", "{station: cpu, next: {disk: 1}}",
			`line 32: classes[3].visits[0].next = no way out: want a way out of the network from every visit, ` +
				`because the chain of "web" is open`,
		},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Errorf("%q is not in the model", c.old)
			continue
		}
		m, err := network.Read(strings.NewReader(text))
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

// Models that no file can describe are rejected, and so are models that need more than one edit.
func TestMalformedModels(t *testing.T) {
	one := big.NewRat(1, 1)
	station := network.Station{Name: "s", Discipline: network.FCFS}
	loop := []network.Branch{{Probability: one}}
	class := func(name string, visits ...network.Visit) network.Class {
		return network.Class{Name: name, Population: 1, Visits: visits}
	}
	limits := func(sets ...[]int) *network.Model {
		m := &network.Model{Stations: []network.Station{{Name: "s", Discipline: network.Order, Servers: 3}}}
		for _, set := range sets {
			m.Stations[0].Limits = append(m.Stations[0].Limits, network.Limit{Classes: set, Most: 2})
		}
		for _, name := range []string{"a", "b", "c"} {
			m.Classes = append(m.Classes, class(name, network.Visit{Count: one}))
		}
		return m
	}
	for _, c := range []struct {
		m    *network.Model
		want string
	}{
		{&network.Model{}, `stations = []: want at least one station`},
		{&network.Model{Stations: []network.Station{station}}, `classes = []: want at least one class`},
		{
			&network.Model{Stations: []network.Station{{Name: "s", Discipline: network.LCFS, Servers: -1}}},
			`stations[0].servers = -1: want an integer from 1 to 1000000`,
		},
		{
			&network.Model{Stations: []network.Station{station}, Classes: []network.Class{class("a")}},
			`classes[0].visits = []: want at least one visit`,
		},
		{&network.Model{
			Stations: []network.Station{station},
			Classes:  []network.Class{class("a", network.Visit{Station: 1, Next: loop})},
		}, `classes[0].visits[0].station = 1: want a row of stations, 0 to 0`},
		{&network.Model{
			Stations: []network.Station{station},
			Classes:  []network.Class{class("a", network.Visit{Next: []network.Branch{{Class: 3, Probability: one}}})},
		}, `classes[0].visits[0].next = visit 0 of class 3: want visits of the model`},
		{&network.Model{
			Stations: []network.Station{station},
			Classes:  []network.Class{class("a", network.Visit{Next: []network.Branch{{}}})},
		}, `classes[0].visits[0].next.s is missing: want a probability, a number >= 0`},
		{&network.Model{
			Stations: []network.Station{station},
			Classes:  []network.Class{class("a", network.Visit{Next: []network.Branch{}})},
		}, `classes[0].visits[0].next = a sum of 0: want probabilities that sum to 1`},
		{
			limits([]int{0, 1}, []int{1, 2}),
			`stations[0].limits[1].classes = ["b", "c"]: want a set that holds that of limits[0], lies in it, or ` +
				`has no class in common with it`,
		},
		{limits([]int{0, 3}), `stations[0].limits[0].classes[1] = 3: want a row of classes, 0 to 2`},
		{limits([]int{0, 1}, []int{1}, []int{2}, []int{2, 1, 0}), ``},
		{&network.Model{
			Stations: []network.Station{{Name: "s", Discipline: network.LCFS, Servers: 2}},
			Classes: []network.Class{
				{Name: "a", ArrivalRate: one, Visits: []network.Visit{{Count: one}}},
				{Name: "b", ArrivalRate: one, Visits: []network.Visit{{Count: one, MeanSize: big.NewRat(1, 2)}}},
			},
		},
			`classes[1].visits[0].mean_size = 1/2: want 1, that of "a": station "s" has a product form for ` +
				`exponential sizes of one mean only`},
		{&network.Model{Stations: []network.Station{{Name: "s", Discipline: network.LCFS}}, Classes: []network.Class{
			class("a", network.Visit{Count: one}), class("b", network.Visit{Count: one, MeanSize: big.NewRat(1, 2)}),
		}},
			`classes[0].visits[0].station = "s": want another station as well in the closed chain of "a": with lcfs ` +
				`alone the last job is served forever, and numbers depend on the start`},
	} {
		err := c.m.Check()
		if err == nil {
			err = c.m.CheckSizes()
		}
		if err == nil {
			err = errors.New("")
		}
		if err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// Models with several mean sizes where the theory allows only one are read, and checks and solvers
// report the same error.
func TestUnevenSizes(t *testing.T) {
	text := strings.Replace(good, "{station: disk, mean_size: 0.03", "{station: disk, mean_size: 0.04", 1)
	m, err := network.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := network.CheckStability(t.Context(), m); err != nil {
		t.Error(err)
	}
	_, solved := network.Solve(t.Context(), m, network.Settings{})
	_, bounded := network.Bounds(t.Context(), m)
	for _, err := range []error{m.CheckSizes(), solved, bounded} {
		var bad *num.InputError
		if !errors.As(err, &bad) || !strings.HasSuffix(bad.Path, "mean_size") ||
			!strings.Contains(bad.Want, "one mean only") {
			t.Errorf("error %v", err)
		}
	}
}
