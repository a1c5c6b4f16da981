package plan_test

import (
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
	"productform/plan"
)

const someModel = `model:
  servers: [{name: big, capacity: 2}, {name: small, capacity: 1}, {name: idle, capacity: 1}, ` +
	`{name: off, capacity: 0}, {name: rack, count: 4, capacity: 1}]
  classes:
    - {name: web, arrival_rate: 1, servers: [big, small]}
    - {name: reports, arrival_rate: 0.4, servers: [small]}
    - {name: never, arrival_rate: 0, servers: [small]}
`

// Invalid problems are rejected with the line, the path and a valid value.
func TestBadPlans(t *testing.T) {
	const numbers = "a number > 0"
	for _, c := range []struct {
		text string
		want input.Error
	}{
		{"", input.Error{Value: "an empty file", Want: "a plan with a model, targets and options"}},
		{"targets: []", input.Error{
			Line: 1,
			Path: "model",
			Want: "the name of a file with a model, or a model: an object with servers or stations, and classes",
		}},
		{"model: 3", input.Error{
			Line:  1,
			Path:  "model",
			Value: "the number 3",
			Want:  "the name of a file with a model, or a model: an object with servers or stations, and classes",
		}},
		{
			"model: {servers: [{name: a, capacity: 1}]}",
			input.Error{Line: 1, Path: "model.classes", Want: "an array of classes"},
		},
		{
			"model:\n  servers:\n    - {name: a, capacity: -1}\n  classes: []",
			input.Error{Line: 3, Path: "model.servers[0].capacity", Value: "-1", Want: "a number >= 0"},
		},
		{
			"model:\n  servers: [{name: a, capacity: 1}]\n  classes: [{name: b, arrival_rate: 0, servers: [a]}]",
			input.Error{Line: 3, Path: "model.classes", Value: "1 without arrivals", Want: "a class with arrivals"},
		},
		{someModel + "target: []", input.Error{Line: 7, Path: "target", Value: "an array", Want: "one of the fields " +
			"model, scale, targets, no_worse, upgrades, new_servers, edges, budget, minimize; did you mean targets?"}},
		{someModel + "scale: 0", input.Error{Line: 7, Path: "scale", Value: "0", Want: numbers}},
		{someModel + "budget: -1", input.Error{Line: 7, Path: "budget", Value: "-1", Want: "a number >= 0"}},
		{someModel + "minimize: wep", input.Error{
			Line:  7,
			Path:  "minimize",
			Value: `"wep"`,
			Want:  `the name of a class of the model; did you mean "web"?`,
		}},
		{
			someModel + "minimize: never",
			input.Error{Line: 7, Path: "minimize", Value: `"never"`, Want: "a class with arrivals"},
		},
		{
			someModel + "no_worse: 1",
			input.Error{Line: 7, Path: "no_worse", Value: "the number 1", Want: "true or false"},
		},
		{
			someModel + "targets: {}",
			input.Error{Line: 7, Path: "targets", Value: "an object", Want: "an array of targets"},
		},
		{someModel + "targets:\n  - {class: web}", input.Error{
			Line:  8,
			Path:  "targets[0]",
			Value: "an object",
			Want: "an object such as {class: NAME, mean_delay: 2}, {class: NAME, percentile: 99, delay: 4}, " +
				"{server: NAME, utilization: 0.8}, {load_factor: 1.25} or {margin: 0.1}; with service one or " +
				"gang also " +
				"{class: NAME, mean_waiting: 2}, with service one {class: NAME, within: 20, waiting: 0.8}; in a " +
				"network " +
				"{class: NAME, throughput: 5}, with losses {blocking: 0.01}",
		}},
		{someModel + "targets:\n  - {class: webb, mean_delay: 2}", input.Error{
			Line:  8,
			Path:  "targets[0].class",
			Value: `"webb"`,
			Want:  `the name of a class of the model; did you mean "web"?`,
		}},
		{
			someModel + "targets:\n  - {class: never, mean_delay: 2}",
			input.Error{Line: 8, Path: "targets[0].class", Value: `"never"`, Want: "a class with arrivals"},
		},
		{
			someModel + "targets:\n  - {class: \"\", mean_delay: 2}",
			input.Error{Line: 8, Path: "targets[0].class", Value: `""`, Want: "a name, not empty"},
		},
		{
			someModel + "targets:\n  - {class: web, mean_delay: 0}",
			input.Error{Line: 8, Path: "targets[0].mean_delay", Value: "0", Want: numbers},
		},
		{someModel + "targets:\n  - {class: web, mean_delay: soon}", input.Error{
			Line:  8,
			Path:  "targets[0].mean_delay",
			Value: `"soon"`,
			Want: `a number > 0 (character 's' at position 1; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
		{
			someModel + "targets:\n  - {class: web, delay: 2}",
			input.Error{Line: 8, Path: "targets[0].percentile", Want: "a number > 0 and < 100"},
		},
		{
			someModel + "targets:\n  - {class: web, percentile: 99}",
			input.Error{Line: 8, Path: "targets[0].delay", Want: numbers},
		},
		{
			someModel + "targets:\n  - {percentile: 99, delay: 2}",
			input.Error{Line: 8, Path: "targets[0].class", Want: "a name, not empty"},
		},
		{
			someModel + "targets:\n  - {class: web, percentile: 100, delay: 2}",
			input.Error{Line: 8, Path: "targets[0].percentile", Value: "100", Want: "a number > 0 and < 100"},
		},
		{
			someModel + "targets:\n  - {class: web, percentile: 0, delay: 2}",
			input.Error{Line: 8, Path: "targets[0].percentile", Value: "0", Want: "a number > 0 and < 100"},
		},
		{someModel + "targets:\n  - {class: web, percentile: 99, mean_delay: 2}", input.Error{
			Line:  8,
			Path:  "targets[0].percentile",
			Value: "the number 99",
			Want:  "no such field with mean_delay",
		}},
		{someModel + "targets:\n  - {class: web, mean_delay: 2, margin: 1}", input.Error{
			Line:  8,
			Path:  "targets[0].margin",
			Value: "the number 1",
			Want:  "one limit in a target; another one needs a separate target",
		}},
		{
			someModel + "targets:\n  - {server: big, utilization: 1}",
			input.Error{Line: 8, Path: "targets[0].utilization", Value: "1", Want: "a number > 0 and < 1"},
		},
		{
			someModel + "targets:\n  - {utilization: 0.5}",
			input.Error{Line: 8, Path: "targets[0].server", Want: "a name, not empty"},
		},
		{someModel + "targets:\n  - {server: idle, utilization: 0.5}", input.Error{
			Line:  8,
			Path:  "targets[0].server",
			Value: `"idle"`,
			Want:  "a server that a class with arrivals can use",
		}},
		{
			someModel + "targets:\n  - {server: huge, utilization: 0.5}",
			input.Error{Line: 8, Path: "targets[0].server", Value: `"huge"`,
				Want: `the name of a server of the model: "big", "small", "idle", "off", "rack"`},
		},
		{
			someModel + "targets:\n  - {load_factor: -1}",
			input.Error{Line: 8, Path: "targets[0].load_factor", Value: "-1", Want: numbers},
		},
		{someModel + "targets:\n  - {class: web, mean_delay: 2}\n  - {class: web, mean_delay: 3}", input.Error{
			Line:  9,
			Path:  "targets[1]",
			Value: "3",
			Want:  "one limit for each measure; targets[0] has 2 for this one",
		}},
		{someModel + "targets:\n  - {class: web, percentile: 99, delay: 2}\n" +
			"  - {class: web, percentile: 99.0, delay: 3}", input.Error{
			Line:  9,
			Path:  "targets[1]",
			Value: "3",
			Want:  "one limit for each measure; targets[0] has 2 for this one",
		}},
		{someModel + "targets:\n  - {class: web, percentile: 99, delay: 2}\n" +
			"  - {class: web, percentile: 50, delay: 3}", input.Error{
			Line:  9,
			Path:  "targets[1].delay",
			Value: "3",
			Want:  "a number < 2, the limit of targets[0] on percentile 99 of the same delay, or it has no effect",
		}},
		{
			someModel + "upgrades:\n  - {server: big, step: 0, cost: 1}",
			input.Error{Line: 8, Path: "upgrades[0].step", Value: "0", Want: numbers},
		},
		{
			someModel + "upgrades:\n  - {server: big, step: 1, cost: -2}",
			input.Error{Line: 8, Path: "upgrades[0].cost", Value: "-2", Want: "a number >= 0"},
		},
		{
			someModel + "upgrades:\n  - {server: big, step: 1}",
			input.Error{Line: 8, Path: "upgrades[0].cost", Want: "a number >= 0"},
		},
		{
			someModel + "upgrades:\n  - {server: big, step: 1, cost: 1, most: 0}",
			input.Error{Line: 8, Path: "upgrades[0].most", Value: "0", Want: "an integer from 1 to 1000000"},
		},
		{someModel + "upgrades:\n  - {server: bigg, step: 1, cost: 1}", input.Error{
			Line:  8,
			Path:  "upgrades[0].server",
			Value: `"bigg"`,
			Want:  `the name of a server of the model; did you mean "big"?`,
		}},
		{someModel + "upgrades:\n  - {server: big, step: 1, cost: 1}\n  - {server: big, step: 2, cost: 1}", input.Error{
			Line:  9,
			Path:  "upgrades[1].server",
			Value: `"big"`,
			Want:  "one upgrade for each server; upgrades[0] is for this one",
		}},
		{someModel +
			"upgrades:\n  - {server: big, step: 1, cost: 1e-30}\n  - {server: small, step: 2, cost: 1}", input.Error{
			Line:  8,
			Path:  "upgrades[0].cost",
			Value: "1e-30",
			Want:  "costs that add up to at most 2^62 of their common unit: fewer digits, or multiples of one fraction",
		}},
		{someModel + "new_servers:\n  - {name: big, capacity: 1, classes: [web], cost: 1}", input.Error{
			Line:  8,
			Path:  "new_servers[0].name",
			Value: `"big"`,
			Want:  "a unique name: the model has a server of this name, to which an upgrade gives more capacity",
		}},
		{someModel + "new_servers:\n  - {name: rack, capacity: 1, classes: [web], cost: 1}", input.Error{
			Line:  8,
			Path:  "new_servers[0].name",
			Value: `"rack"`,
			Want:  "a unique name: the model has a group of this name, and new servers for its classes are separate",
		}},
		{strings.Replace(someModel, "servers: [big, small]", "servers: [big, {group: rack, choose: 2}]", 1) +
			"new_servers:\n  - {name: rack, capacity: 1, classes: [web], cost: 1}", input.Error{
			Line:  8,
			Path:  "new_servers[0].name",
			Value: `"rack"`,
			Want: "a unique name: a group from which jobs draw servers does not grow in a plan, upgrades give each " +
				"of its servers more capacity, and a larger count in the model shows the effect of more servers",
		}},
		{someModel + "new_servers:\n  - {name: x, capacity: 1, classes: [web], cost: 1}\n" +
			"  - {name: x, capacity: 1, classes: [web], cost: 1}", input.Error{
			Line:  9,
			Path:  "new_servers[1].name",
			Value: `"x"`,
			Want:  "a unique name; new_servers[0] has this one",
		}},
		{
			someModel + "new_servers:\n  - {name: x, capacity: 1, classes: [], cost: 1}",
			input.Error{Line: 8, Path: "new_servers[0].classes", Value: "[]", Want: "at least one class"},
		},
		{
			someModel + "new_servers:\n  - {name: x, capacity: 1, cost: 1}",
			input.Error{Line: 8, Path: "new_servers[0].classes", Want: "an array of names of classes"},
		},
		{someModel + "new_servers:\n  - {name: x, capacity: 1, classes: [web, web], cost: 1}", input.Error{
			Line:  8,
			Path:  "new_servers[0].classes[1]",
			Value: `"web"`,
			Want:  "each class once; it is already there",
		}},
		{someModel + "new_servers:\n  - {name: x, capacity: 1, classes: [never], cost: 1}", input.Error{
			Line:  8,
			Path:  "new_servers[0].classes",
			Value: `["never"]`,
			Want:  "a class with arrivals, or the server has no effect",
		}},
		{
			someModel + "edges:\n  - {class: web, server: big, cost: 1}",
			input.Error{Line: 8, Path: "edges[0].server", Value: `"big"`, Want: `a server that "web" cannot use yet`},
		},
		{
			someModel + "edges:\n  - {class: never, server: big, cost: 1}",
			input.Error{Line: 8, Path: "edges[0].class", Value: `"never"`, Want: "a class with arrivals"},
		},
		{someModel + "edges:\n  - {class: web, server: off, cost: 1}", input.Error{
			Line:  8,
			Path:  "edges[0].server",
			Value: `"off"`,
			Want:  "a server of positive capacity, or the edge has no effect",
		}},
		{someModel + "edges:\n  - {class: web, server: rack, choose: 5, cost: 1}", input.Error{
			Line:  8,
			Path:  "edges[0].choose",
			Value: "5",
			Want:  `an integer from 1 to 4, the servers in "rack"`,
		}},
		{
			someModel + "new_servers:\n  - {name: x, capacity: 1, classes: [web], cost: 1}\nedges:\n" +
				"  - {class: web, server: x, cost: 1}",
			input.Error{Line: 10, Path: "edges[0].server", Value: `"x"`, Want: `a server that "web" cannot use yet`},
		},
		{someModel + "new_servers:\n  - {name: x, capacity: 1, classes: [web], cost: 1}\nedges:\n" +
			"  - {class: reports, server: x, choose: 1, cost: 1}", input.Error{
			Line:  10,
			Path:  "edges[0].choose",
			Value: "1",
			Want:  "no such field for new servers: each job uses all of them",
		}},
		{someModel + "edges:" + strings.Repeat("\n  - {class: web, server: idle, cost: 1}", 17), input.Error{
			Line:  7,
			Path:  "edges",
			Value: "17 of them",
			Want:  "at most 16: all their sets are tried, here 65536",
		}},
		{
			someModel + "edges:\n  - {class: web, server: idle, cost: 1}\n  - {class: web, server: idle, cost: 2}",
			input.Error{Line: 9, Path: "edges[1]", Value: "web, idle", Want: "each edge once; edges[0] is the same"},
		},
	} {
		_, err := plan.Read(strings.NewReader(c.text), ".")
		var bad *num.InputError
		if !errors.As(err, &bad) {
			t.Errorf("%s: error %v", c.text, err)
		} else if diff := cmp.Diff(c.want, *bad); diff != "" {
			t.Errorf("%s\n%s", strings.TrimPrefix(c.text, someModel), diff)
		}
	}
}

// Percentiles require exponential sizes with one mean.
func TestPercentilesNeedOneMeanSize(t *testing.T) {
	text := strings.Replace(someModel, "servers: [small]}", "servers: [small], mean_size: 2}", 1) +
		"targets:\n  - {class: web, percentile: 99, delay: 4}"
	_, err := plan.Read(strings.NewReader(text), ".")
	var bad *num.InputError
	if !errors.As(err, &bad) || bad.Path != "targets[0].percentile" || bad.Line != 8 {
		t.Errorf("error %v", err)
	}
}

// An edge to a group without a choice leads to the whole group.
func TestEdgeToGroup(t *testing.T) {
	p, err := plan.Read(strings.NewReader(someModel+
		"edges:\n  - {class: web, server: rack, cost: 1}\n  - {class: web, server: idle, cost: 1}"), ".")
	if err != nil || p.Edges[0].Choose != 4 || p.Edges[1].Choose != 0 {
		t.Errorf("%+v, error %v", p, err)
	}
}

// A target names the subject of its measure, and nothing else.
func TestTargetOfOtherSubject(t *testing.T) {
	p, err := plan.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target plan.Target
		want   input.Error
	}{
		{
			plan.Target{Measure: plan.MeanDelay, Class: "reports", Server: "big"},
			input.Error{Path: "targets[0].server", Value: `"big"`, Want: "no server: only a utilization has one"},
		},
		{
			plan.Target{Measure: plan.Percentile, Class: "web", Server: "big", Level: big.NewRat(99, 1)},
			input.Error{Path: "targets[0].server", Value: `"big"`, Want: "no server: only a utilization has one"},
		},
		{
			plan.Target{Measure: plan.LoadFactor, Server: "big"},
			input.Error{Path: "targets[0].server", Value: `"big"`, Want: "no server: only a utilization has one"},
		},
		{plan.Target{Measure: plan.Utilization, Class: "web", Server: "big"}, input.Error{
			Path:  "targets[0].class",
			Value: `"web"`,
			Want:  "no class: only times, service levels and probabilities of giving up have one",
		}},
		{plan.Target{Measure: plan.Margin, Class: "web"}, input.Error{
			Path:  "targets[0].class",
			Value: `"web"`,
			Want:  "no class: only times, service levels and probabilities of giving up have one",
		}},
	} {
		c.target.Limit = big.NewRat(1, 2)
		p.Targets = []plan.Target{c.target}
		var bad *num.InputError
		if err := p.Check(); !errors.As(err, &bad) {
			t.Errorf("%+v: error %v", c.target, err)
		} else if diff := cmp.Diff(c.want, *bad); diff != "" {
			t.Errorf("%+v\n%s", c.target, diff)
		}
	}
}

// Only a file may omit the number of steps that can be bought.
func TestCheckNoSteps(t *testing.T) {
	p, err := plan.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for path, most := range map[string]*int{
		"upgrades[0].most": &p.Upgrades[0].Most, "new_servers[0].most": &p.NewServers[0].Most,
	} {
		*most = 0
		want := input.Error{Path: path, Value: "0", Want: "an integer from 1 to 1000000"}
		var bad *num.InputError
		if err := p.Check(); !errors.As(err, &bad) || *bad != want {
			t.Errorf("%s: error %v", path, err)
		}
		*most = 1
	}
}

// A plan in JSON means the same as in YAML, and the file name of a model is relative to the folder
// of the plan.
func TestReadFile(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"shop.json": `{"servers": [{"name": "s", "capacity": 1}],
			"classes": [{"name": "a", "arrival_rate": "1/2", "servers": ["s"]}]}`,
		"plan.json": `{"model": "shop.json", "scale": "3/2",
			"upgrades": [{"server": "s", "step": 0.5, "cost": "2/3"}]}`,
		"plan.yaml": "model:\n  servers: [{name: s, capacity: 1}]\n" +
			"  classes: [{name: a, arrival_rate: 1/2, servers: [s]}]\nscale: 1.5\n" +
			"upgrades: [{server: s, step: 1/2, cost: 2/3, most: 1}]\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := &plan.Problem{
		Model: &cluster.Model{
			Servers: []cluster.Server{{Name: "s", Count: 1, Capacity: big.NewRat(1, 1)}},
			Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)}},
		},
		Scale:    big.NewRat(3, 2),
		Upgrades: []plan.Upgrade{{Server: "s", Step: big.NewRat(1, 2), Cost: big.NewRat(2, 3), Most: 1}},
	}
	for _, name := range []string{"plan.json", "plan.yaml"} {
		p, err := plan.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p, cmp.Comparer(func(x, y big.Rat) bool { return x.Cmp(&y) == 0 })); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
	}
}
