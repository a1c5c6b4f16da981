package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/input"
	"productform/plan"
)

// planProgram is pfq with the command plan alone.
var planProgram = commandtest.Program(func() *cobra.Command { return command.Root(newPlanCommand()) })

// runPlan runs one command line of pfq plan in this process.
var runPlan = planProgram.Run

// planOnce answers the questions of several tests, each of them once.
var planOnce = onceEach(runPlan)

// Two servers of capacity 1, with class a at 0.9 on the first and b at 0.4 on the second: if b may
// also use the first, b gains, but a and the average over all jobs lose.
const braess = `{"model": {"servers": [{"name": "s", "capacity": 1}, {"name": "t", "capacity": 1}], "classes": [
	{"name": "a", "arrival_rate": 0.9, "servers": ["s"]}, {"name": "b", "arrival_rate": 0.4, "servers": ["t"]}]},
	"edges": [{"class": "b", "server": "s", "cost": 1}],
	"upgrades": [{"server": "t", "step": "1/10", "cost": 2, "most": 3}],
	"targets": [{"class": "b", "mean_delay": 1.5}]%s}`

// The edge is the cheapest plan, and the answer gives its effects: 290/39 -> 7730/1001 for all
// jobs, 10 -> 10.52 for a. If no class may be worse off, more capacity for b is cheapest: 1/(1.1 -
// 0.4) = 1.428... <= 1.5.
func TestEdgeThatHurts(t *testing.T) {
	got := planProgram.JSON(t, fmt.Sprintf(braess, ""), "plan -")
	if got["cost_exact"] != "1" || got["complete"] != true {
		t.Errorf("cost %v", got["cost_exact"])
	}
	edge := got["edges"].([]any)[0].(map[string]any)
	commandtest.Near(t, "without", edge["mean_delay_without"], 290./39, 1e-12)
	commandtest.Near(t, "with", edge["mean_delay_with"], 7730./1001, 1e-12)
	pays := edge["pays"].([]any)
	if len(pays) != 1 || pays[0].(map[string]any)["name"] != "a" {
		t.Errorf("payers: %v", pays)
	}
	commandtest.Near(t, "a before", pays[0].(map[string]any)["mean_delay_without"], 10, 1e-12)
	commandtest.Near(t, "a after", pays[0].(map[string]any)["mean_delay_with"], 10.52, 1e-3)
	stdout, _, _ := runPlan(fmt.Sprintf(braess, ""), "plan", "-", "--choice", "b:s")
	if want := "edge b:s changes the mean delay of all jobs from 7.4359 to 7.72228; who pays: a from 10 to " +
		"10.5195\n"; !strings.Contains(stdout, want) {
		t.Errorf("no %q in\n%s", want, stdout)
	}
	got = planProgram.JSON(t, fmt.Sprintf(braess, `, "no_worse": true`), "plan -")
	buy := got["buy"].([]any)
	if len(buy) != 1 || buy[0].(map[string]any)["kind"] != "upgrade" || got["cost_exact"] != "2" {
		t.Errorf("buys %v", buy)
	}
}

// planQuestions are command lines about the plan of the shop, each with the exit status of its
// answer.
var planQuestions = []struct {
	args   string
	status int
}{
	{"", 0},
	{"--limit 9", 1},
	{"--limit 24", 0},
	{"--find delay", 0},
	{"--find frontier", 0},
	{"--find load", 0},
	{"--find load --choice small=2,reports:big", 0},
	{"--find most-load", 0},
	{"--find most-load --limit 30", 0},
	{"--find most-load --tol 1e-12 --scale 1/2,2", 0},
	{"--find growth --scale 1,1.25,3/2", 0},
	{"--find growth --scale 1,100", 1},
	{"--scale 1/3,1,2", 0},
	{"--scale 20", 1},
	{"--find delay --tol 1e-12", 0},
	{"--find frontier --tol 1e-12", 0},
	{"--find load --tol 1e-12", 0},
	{"--find load --tol 0.3", 0},
	{"--find most-load --tol 0.3", 0},
}

func shop(t *testing.T) string {
	return commandtest.Example(t, "plans/shop-plan.yaml") + "budget: 12\n"
}

// Verification accepts each answer. If any number of its proof, the model or the costs are changed,
// it rejects the answer with status 1.
func TestVerify(t *testing.T) {
	text := shop(t)
	file := filepath.Join(t.TempDir(), "answer.json")
	for _, q := range planQuestions {
		args := strings.Fields("plan - " + q.args)
		answer, stderr, status := planOnce(text, append(args, "--format", "json")...)
		if status != q.status {
			t.Fatalf("%s: status %d, %s", q.args, status, stderr)
		}
		commandtest.WriteFile(t, file, answer)
		verify := func(text string) (string, int) {
			stdout, stderr, status := runPlan(text, append(args, "--verify", file)...)
			return stdout + stderr, status
		}
		if out, status := verify(text); status != 0 || !strings.HasPrefix(out, "proved: ") {
			t.Errorf("%s: status %d, %s", q.args, status, out)
		}
		// --scale 20 overloads both models, and within --tol 0.3 the answer holds for both.
		holdsForBoth := q.args == "--scale 20" || strings.HasSuffix(q.args, "--tol 0.3")
		out, status := verify(strings.Replace(text, "capacity: 1}", "capacity: 1.01}", 1))
		if status != 1 && !holdsForBoth {
			t.Errorf("%s, another model: status %d, %s", q.args, status, out)
		}
		if strings.Contains(answer, `"cost_exact": "2"`) {
			if out, status := verify(strings.Replace(text, "cost: 2", "cost: 2.5", 1)); status != 1 {
				t.Errorf("%s, other costs: status %d, %s", q.args, status, out)
			}
		}
		for _, change := range [][2]string{
			{`"cost_exact": "`, `"cost_exact": "1`}, {`"below_exact": "`, `"below_exact": "1`},
			{`"at_most_exact": "`, `"at_most_exact": "1`}, {`"mean_delay": 0.`, `"mean_delay": 0.9`},
			{`"holds_at_exact": "`, `"holds_at_exact": "1`}, {`"fails_at_exact": "`, `"fails_at_exact": "1`},
			{`"plan": 0.`, `"plan": 0.9`}, {`"bought": false`, `"bought": true`}, {`"gap": 0`, `"gap": 1`},
			{`"fails": "targets[0]"`, `"fails": "targets[3]"`}, {`"fails": "targets[0]"`, `"fails": "targets[7]"`},
			{`"fails": "mean_delay"`, `"fails": "no_worse"`},
		} {
			broken := strings.Replace(answer, change[0], change[1], 1)
			if broken == answer {
				continue
			}
			commandtest.WriteFile(t, file, broken)
			if out, status := verify(text); status != 1 || !strings.HasPrefix(out, "not proved: ") {
				t.Errorf("%s, %s: status %d, %s", q.args, change[1], status, out)
			}
		}
	}
}

// Verification finds a change of any field of an answer, except solves, which only a search can
// count.
func TestVerifyRejectsAnyChange(t *testing.T) {
	var asked []string
	for _, q := range planQuestions {
		asked = append(asked, q.args)
	}
	rejectsAnyChange(t, map[string][]string{shop(t): asked})
}

// The same holds with one server per job, with gangs, in networks and with losses.
func TestVerifyServicesRejectsAnyChange(t *testing.T) {
	rejectsAnyChange(t, map[string][]string{
		oneServerPlan:                   {"", "--find load", "--find most-load", "--find growth --scale 1,1.1"},
		impatientPlan:                   {"", "--find growth --scale 1,2"},
		gangWaste:                       {""},
		string(readExample("web-plan")): {"", "--find delay", "--find frontier"},
		waitingRoom:                     {"", "--find growth --scale 1,1.1"},
		"budget: 1\n" + oneServerPlan:   {""},
	})
}

const (
	oneServerPlan = `
model:
  service: one
  servers: [{name: en, count: 2, capacity: 1}, {name: both, capacity: 2}]
  classes: [{name: a, arrival_rate: 1, servers: [en, both]}, {name: b, arrival_rate: 1, servers: [both]}]
targets: [{class: a, within: 0.5, waiting: 0.9}, {class: b, mean_waiting: 0.3}]
upgrades: [{server: en, count: 1, cost: 2, most: 3}, {server: both, count: 1, cost: 3, most: 3}]
edges: [{class: b, server: en, cost: 1}]
`
	impatientPlan = `
model:
  service: one
  mean_patience: 1
  servers: [{name: en, count: 2, capacity: 1}]
  classes: [{name: a, arrival_rate: 3, servers: [en]}]
targets: [{class: a, within: 0.5, served: 0.9}, {abandon_probability: 0.05}]
upgrades: [{server: en, count: 1, cost: 2, most: 6}]
`
	waitingRoom = `
model: {servers: 4, room: 4, classes: [{name: call, arrival_rate: 2}]}
targets: [{blocking: 0.05}, {class: call, mean_waiting: 0.2}]
upgrades: [{server: room, count: 1, cost: 1, most: 4}, {server: servers, count: 1, cost: 3, most: 2}]
`
	gangWaste = `
model:
  service: gang
  servers: [{name: gpu, count: 4}]
  classes: [{name: a, arrival_rate: 1, needs: {gpu: 1}}, {name: b, arrival_rate: 0.25, needs: {gpu: 3}}]
targets: [{fifo_waste: 0.1}, {load_factor: 2}]
upgrades: [{server: gpu, count: 1, cost: 2, most: 6}]
`
)

// rejectsAnyChange changes answers to the questions about problems.
func rejectsAnyChange(t *testing.T, questions map[string][]string) {
	file := filepath.Join(t.TempDir(), "answer.json")
	answers := make(map[string]string) // by problem and question
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SampledFrom(slices.Sorted(maps.Keys(questions))).Draw(r, "problem")
		asked := rapid.SampledFrom(questions[text]).Draw(r, "question")
		args := strings.Fields("plan - " + asked)
		if answers[text+asked] == "" {
			answers[text+asked], _, _ = planOnce(text, append(args, "--format", "json")...)
			commandtest.WriteFile(t, file, answers[text+asked])
			if stdout, stderr, status := runPlan(text, append(args, "--verify", file)...); status != 0 {
				r.Fatalf("%s: %s%s", asked, stdout, stderr)
			}
		}
		var answer any
		if err := json.Unmarshal([]byte(answers[text+asked]), &answer); err != nil {
			r.Fatal(err)
		}
		path := changeLeaf(r, &answer)
		isCorner := strings.Contains(path, ".corners[") // another corner may prove just as much
		if strings.HasSuffix(path, ".solves") ||
			isCorner && regexp.MustCompile(`\.(fewer|alone|steps\[\d+\])$`).MatchString(path) {
			return
		}
		broken, err := json.Marshal(answer)
		if err != nil {
			r.Fatal(err)
		}
		commandtest.WriteFile(t, file, string(broken))
		if stdout, stderr, status := runPlan(text, append(args, "--verify", file)...); status == 0 {
			r.Errorf("%s, %s changed: %s%s", asked, path, stdout, stderr)
		}
	})
}

// changeLeaf changes one value of a tree of JSON and returns its path.
func changeLeaf(r *rapid.T, v *any) string {
	switch x := (*v).(type) {
	case map[string]any:
		if len(x) > 0 {
			key := rapid.SampledFrom(slices.Sorted(maps.Keys(x))).Draw(r, "key")
			child := x[key]
			path := changeLeaf(r, &child)
			x[key] = child
			return "." + key + path
		}
		*v = map[string]any{"added": 1}
	case []any:
		if len(x) > 0 {
			i := rapid.IntRange(0, len(x)-1).Draw(r, "index")
			return fmt.Sprintf("[%d]%s", i, changeLeaf(r, &x[i]))
		}
		*v = []any{1}
	case bool:
		*v = !x
	case float64:
		*v = 3*x + 1
	case string:
		*v = x + "1"
	case nil:
		*v = 1
	}
	return ""
}

// Verification notices an omitted corner.
func TestVerifyMissingCorner(t *testing.T) {
	text := shop(t)
	answer := planProgram.JSON(t, text, "plan -")
	proof := answer["proof"].(map[string]any)
	corners := proof["corners"].([]any)
	file := filepath.Join(t.TempDir(), "answer.json")
	for i := range corners {
		proof["corners"] = append(append([]any{}, corners[:i]...), corners[i+1:]...)
		broken, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		commandtest.WriteFile(t, file, string(broken))
		stdout, _, status := runPlan(text, "plan", "-", "--verify", file)
		if want := "not proved: no corner covers the plan with steps "; status != 1 ||
			!strings.HasPrefix(stdout, want) {
			t.Errorf("without corner %d: status %d, %s", i, status, stdout)
		}
	}
}

// CSV contains every fact that JSON does, and text is identical each time.
func TestFormats(t *testing.T) {
	text := shop(t)
	for _, q := range planQuestions {
		args := strings.Fields("plan - " + q.args)
		if q.status == 0 && !strings.Contains(q.args, "load") {
			args = append(args, "--gradients")
		}
		answer, _, _ := planOnce(text, append(args, "--format", "json")...)
		table, stderr, _ := runPlan(text, append(args, "--format", "csv")...)
		lines, err := csv.NewReader(strings.NewReader(table)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v, %s", q.args, err, stderr)
		}
		cells := map[string]bool{}
		for _, line := range lines {
			for _, cell := range line {
				for word := range strings.SplitSeq(cell, ";") {
					cells[word] = true
				}
			}
		}
		d := json.NewDecoder(strings.NewReader(answer))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		for _, leaf := range planLeaves(v) {
			if !cells[leaf] {
				t.Errorf("%s: no %s in CSV\n%s", q.args, leaf, table)
			}
		}
		once, _, _ := runPlan(text, args...)
		twice, _, _ := runPlan(text, args...)
		if once != twice || once == "" {
			t.Errorf("%s: %s", q.args, cmp.Diff(once, twice))
		}
	}
}

// planLeaves returns all numbers, strings and booleans in a value of JSON.
func planLeaves(v any) (all []string) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for _, inner := range v {
			all = append(all, planLeaves(inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, planLeaves(inner)...)
		}
	default:
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// Errors about bad flags give a valid value.
func TestPlanRefusals(t *testing.T) {
	text := shop(t)
	for _, c := range []struct {
		args string
		want input.Error
	}{
		{"--choice smal=1", input.Error{
			Path:  "--choice[0]",
			Value: "smal=1",
			Want: "NAME=STEPS of an upgrade or new server, or CLASS:SERVER of an edge: small, big, spare, " +
				"reports:big; did you mean small?",
		}},
		{
			"--choice small=5",
			input.Error{Path: "--choice[0]", Value: "small=5", Want: "small=STEPS with steps from 0 to 4"},
		},
		{"--choice small,small=2", input.Error{Path: "--choice[1]", Value: "small=2", Want: "each option once"}},
		{
			"--choice reports:big,reports:big",
			input.Error{Path: "--choice[1]", Value: "reports:big", Want: "each option once"},
		},
		{"--limit 0", input.Error{Path: "--limit", Value: "0", Want: "an integer in 1..1000000000"}},
		{"--tol 1", input.Error{Path: "--tol", Value: "1", Want: "a number >= 1e-12 and < 1"}},
		{"--tol 9e-13", input.Error{Path: "--tol", Value: "9e-13", Want: "a number >= 1e-12 and < 1"}},
		{"--find growth", input.Error{
			Path: "--scale",
			Want: "growing factors of the arrival rates, such as 1,1.25,1.5,2, with --find growth",
		}},
		{
			"--find growth --scale 2,1",
			input.Error{Path: "--scale[1]", Value: "1", Want: "a number above the previous one"},
		},
	} {
		if got := planProgram.Refusal(t, text, strings.Fields("plan - "+c.args)...); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.args, got, c.want)
		}
	}
	answer := filepath.Join(t.TempDir(), "answer.json")
	const want = "want an answer of `pfq plan` in JSON"
	for _, c := range []struct{ text, message string }{
		{`{"find": 1}`, ":1: find = the number 1: want the question, such as \"cost\", in an answer " +
			"of `pfq plan` in JSON"},
		{`{"find": "cost", "found": 2}`, ":1: found = the number 2: want true or false"},
		{`[{"find": "cost", "found": false, "complete": true}]`,
			":1: [0].undecided is missing: want an array of plans"},
		{`{"find": "cost", "found": true, "complete": true, "undecided": [], "solves": 1, "proof": null}`,
			":1: proof is missing: want a proof; plans that were given have none"},
		{`{"find": "load", "found": false, "complete": true, "choice": {"steps": [0, "1"]}}`,
			":1: choice.steps[1] = a string \"1\": want an integer"},
		{`[null]`, ":1: [0].find is missing: want the question, such as \"cost\", in an answer of `pfq plan` in JSON"},
		{"", ": " + want + ", not an empty file"},
		{"3", ": " + want + ", an object or an array of them, not the number 3"},
		{"foo", ":1:2: " + want +
			", as --format json writes it (want true, false, null, or a string in double quotes)"},
		{"{", ":1:2: " + want + ", as --format json writes it (the text ends within a value)"},
		{"{}\n x", ":2:2: " + want + ", as --format json writes it (text after the end of the JSON value)"},
	} {
		commandtest.WriteFile(t, answer, c.text)
		_, stderr, status := runPlan(text, "plan", "-", "--verify", answer)
		if message := "pfq: --verify: " + answer + c.message + "\n"; status != 2 || stderr != message {
			t.Errorf("%q: status %d, %s want %s", c.text, status, stderr, message)
		}
	}
}

// A file of another kind is recognized, both as the plan and as the model that a plan names.
func TestNoPlan(t *testing.T) {
	folder := t.TempDir()
	const network = "this looks like a model for pfq network, and a plan names one with stations, room, limits or a " +
		"number of servers as its model\n"
	for _, c := range []struct{ text, want string }{
		{
			commandtest.Example(t, "storage.yaml"),
			"; this looks like a model for pfq solve, and a plan names it as its model\n",
		},
		{commandtest.Example(t, "networks/interactive.yaml"), network},
		{
			commandtest.Example(t, "traffic/two-classes.yaml"),
			"; this looks like a model for pfq allocate, with --dynamic if jobs arrive and depart\n",
		},
		{
			"model: {swaps: []}",
			":1: model.swaps = an array: want one of the fields servers, classes, mean_size, service, " +
				"mean_patience, patience, mean_timeout; " + network,
		},
		{
			"model: {servers: [{name: s, capacity: 1, cost: 2}]}",
			"fields name, capacity, count; purchases and their costs belong in a plan, for pfq plan\n",
		},
		{"model: {classes: []}", ": model.servers is missing: want an array of servers\n"},
		{
			"model: network.yaml",
			"network.yaml:1: swaps = an array: want one of the fields servers, classes, mean_size, service, " +
				"mean_patience, patience, mean_timeout; " + network,
		},
		{"model: without.yaml", "without.yaml:1: servers is missing: want an array of servers\n"},
	} {
		name := filepath.Join(folder, "plan.yaml")
		commandtest.WriteFile(t, name, c.text)
		commandtest.WriteFile(t, filepath.Join(folder, "network.yaml"), "swaps: []")
		commandtest.WriteFile(t, filepath.Join(folder, "without.yaml"), "classes: []")
		if _, stderr, status := runPlan("", "plan", name); status != 2 || !strings.HasSuffix(stderr, c.want) ||
			strings.Count(stderr, "\n") != 1 {
			t.Errorf("%.40s: status %d, %s, want %s", c.text, status, stderr, c.want)
		}
	}
}

// Without targets a plan only has to be stable, which the text states. Requested values come first,
// and values that the plan does not change appear once.
func TestWithoutTargets(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--gradients", `cost 0: there are no targets, and the cluster is stable as it is
proof: 0 corners; 2 solves

option   name  mean delay per step  mean delay per cost
upgrade  s     -4                   -2

class  mean delay now
a      2

server  utilization now
s       0.5
`},
		{"--choice none", "cost 0; the cluster is stable, and there are no targets\n"},
		{"--choice none --scale 2", "scale 2\ncost 0; the cluster is unstable, and there are no other targets\n"},
		{"--scale 2", "scale 2\ncost 2: no plan that is stable costs less\n"},
		{"--scale 8", "scale 8\nno plan is stable\n"},
		{
			"--find delay",
			"cost 4, mean delay of all jobs 0.4: no plan that is stable and costs at most 4 has a smaller one\n",
		},
		{"--find frontier", "stable plans, each with the smallest mean delay"},
	} {
		text :=
			`{"model": {"servers": [{"name": "s", "capacity": 1}],
			"classes": [{"name": "a", "arrival_rate": 0.5, "servers": ["s"]}]},
			"upgrades": [{"server": "s", "step": 1, "cost": 2, "most": 2}], "budget": 4}`
		if stdout, stderr, _ := runPlan(text, strings.Fields("plan - "+c.args)...); !strings.HasPrefix(stdout, c.want) {
			t.Errorf("%s: %s%s", c.args, stdout, stderr)
		}
	}
}

// A model in another file is found relative to the folder of the plan, and its errors name it.
func TestModelFile(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "plan.yaml")
	commandtest.WriteFile(t, name, "model: shop.yaml\nupgrades:\n  - {server: s, step: 1, cost: 1}\n")
	commandtest.WriteFile(
		t, filepath.Join(folder, "shop.yaml"),
		"servers:\n  - {name: s, capacity: 1}\nclasses:\n  - {name: a, arrival_rate: 1.5, servers: [s]}\n",
	)
	if stdout, stderr, status := runPlan("", "plan", name); status != 0 ||
		!strings.HasPrefix(stdout, "cost 1: no plan that is stable costs less\n") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	commandtest.WriteFile(t, filepath.Join(folder, "shop.yaml"), "servers:\n  - {name: s, capacity: -1}\nclasses: []\n")
	_, stderr, status := runPlan("", "plan", name)
	if want := "pfq: " + name + ": model: " + filepath.Join(folder, "shop.yaml") +
		":2: servers[0].capacity = -1: want a number >= 0\n"; status != 2 || stderr != want {
		t.Errorf("status %d, %s, want %s", status, stderr, want)
	}
	if err := os.Remove(filepath.Join(folder, "shop.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := runPlan("", "plan", name); status != 2 ||
		!strings.Contains(stderr, "model: "+filepath.Join(folder, "shop.yaml")) {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// The progress of a search for the smallest cost has bounds on it.
func TestPlanProgress(t *testing.T) {
	for _, c := range []struct {
		find string
		cost *big.Rat
		want string
	}{
		{findCost, nil, ", 7 solves; the smallest cost is at least 2"},
		{findGrowth, big.NewRat(5, 1), ", 7 solves; the smallest cost is from 2 to 5"},
		{findFrontier, nil, ", 7 solves"},
		{findFrontier, big.NewRat(5, 1), ", 7 solves; known up to a cost of 5"},
		{findDelay, big.NewRat(5, 1), ", 7 solves; a plan for 5 was found"},
	} {
		f := planQuestion{find: c.find}
		if text := f.progress(&plan.Progress{Solves: 7, AtLeast: big.NewRat(2, 1), Cost: c.cost}); text != c.want {
			t.Errorf("%s: %q, want %q", c.find, text, c.want)
		}
	}
}

// An interrupt ends the search.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root := command.Root(newPlanCommand())
	root.SetArgs([]string{"plan", "-"})
	root.SetIn(strings.NewReader(shop(t)))
	root.SetOut(new(strings.Builder))
	root.SetErr(new(strings.Builder))
	if err := root.ExecuteContext(ctx); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
	}
}

// A proved answer to another question is rejected.
func TestVerifyOtherQuestion(t *testing.T) {
	text := shop(t)
	file := filepath.Join(t.TempDir(), "answer.json")
	object := func(v any) map[string]any { return v.(map[string]any) }
	for _, c := range []struct {
		what, asked, verified string
		change                func(answer any) any // nil for none
	}{
		{
			"no plan, as if the search had ended", "--find delay --limit 1", "",
			func(a any) any { object(a)["complete"] = true; return a },
		},
		{"nothing cheaper with everything bought", "--find frontier", "", func(a any) any {
			cheaper := object(object(a.([]any)[0])["cheaper_proof"])
			cheaper["from"], cheaper["corners"] = map[string]any{"steps": []int{4, 1, 1}, "edges": []int{0}}, []any{}
			return a
		}},
		{
			"the cheapest plan as a frontier", "",
			"--find frontier", func(a any) any { object(a)["find"] = "frontier"; return []any{a} },
		},
		{"the start of a frontier", "--find frontier", "", func(a any) any { return a.([]any)[:1] }},
		{"no answer", "--find frontier", "", func(any) any { return []any{} }},
		{"no answer to growth", "--find growth --scale 1,1.25", "", func(any) any { return []any{} }},
		{"fewer loads", "--scale 1/3,1", "", func(a any) any { return a.([]any)[:1] }},
		{
			"growth that ends before it has to", "--find growth --scale 1,1.25", "",
			func(a any) any { return a.([]any)[:1] },
		},
		{"no load", "--find load --scale 1,2", "", func(any) any { return []any{} }},
		{"the load of another plan", "--find load", "--find load --choice small=2", nil},
		{"the load of the best plan, for that of none", "--find most-load", "--find load", nil},
		{"the load of a plan, for that of none", "--find load --choice reports:big", "--find load", nil},
	} {
		stdout, stderr, _ := planOnce(text, append(strings.Fields("plan - "+c.asked), "--format", "json")...)
		var answer any
		if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
			t.Fatalf("%s: %v, %s", c.what, err, stderr)
		}
		if c.change != nil {
			answer = c.change(answer)
		}
		changed, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		commandtest.WriteFile(t, file, string(changed))
		if c.verified == "" {
			c.verified = c.asked
		}
		out, stderr, status := runPlan(text, append(strings.Fields("plan - "+c.verified), "--verify", file)...)
		if status != 1 || !strings.HasPrefix(out, "not proved: ") {
			t.Errorf("%s: status %d, %s%s", c.what, status, out, stderr)
		}
	}
}

// At load 1 the cheap upgrade is enough; at load 3 the expensive one alone is cheapest, but in a
// growing plan the cheap one is already bought.
func TestVerifyGrowthHolds(t *testing.T) {
	const text = `{"model": {"servers": [{"name": "s", "capacity": 1}, {"name": "t", "capacity": 1}], "classes": [
		{"name": "a", "arrival_rate": "1/2", "servers": ["s", "t"]}]}, "targets": [{"margin": "5/2"}],
		"upgrades": [{"server": "s", "step": 1, "cost": 1}, {"server": "t", "step": 2, "cost": 3}]}`
	answers := func(args string) (list []map[string]any) {
		stdout, stderr, _ := runPlan(text, append(strings.Fields("plan - --format json "+args), "--scale", "1,3")...)
		if err := json.Unmarshal([]byte(stdout), &list); err != nil {
			t.Fatalf("%s: %v, %s", args, err, stderr)
		}
		return list
	}
	growth, alone := answers("--find growth"), answers("")
	if growth[1]["cost_exact"] != "4" || alone[1]["cost_exact"] != "3" {
		t.Fatalf("costs %v and %v", growth[1]["cost_exact"], alone[1]["cost_exact"])
	}
	alone[1]["find"] = "growth"
	alone[1]["proof"].(map[string]any)["from"] = growth[1]["proof"].(map[string]any)["from"]
	growth[1] = alone[1]
	broken, err := json.Marshal(growth)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "answer.json")
	commandtest.WriteFile(t, file, string(broken))
	stdout, _, status := runPlan(text, strings.Fields("plan - --find growth --scale 1,3 --verify "+file)...)
	if status != 1 || !strings.Contains(stdout, "the plan lacks earlier purchases") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// No engine can decide at load 1 whether the percentile 100 (1 - 1/e), to 45 digits, of an M/M/1
// meets its target. Nearby loads meet or miss the target, which proves the answer.
func TestUndecidedLoad(t *testing.T) {
	const text = `{"model": {"servers": [{"name": "s", "capacity": 2}],
		"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"]}]},
		"targets": [{"class": "a", "percentile": "63.2120558828557678404476229838539132554188868968", "delay": 1}]}`
	stdout, stderr, status := runPlan(text, "plan", "-", "--find", "load")
	if want := "the targets hold with the arrival rates multiplied by 0.999999, and fail at 1.00001\n"; status != 0 ||
		!strings.HasPrefix(stdout, want) {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	file := filepath.Join(t.TempDir(), "answer.json")
	answer, _, _ := runPlan(text, "plan", "-", "--find", "load", "--format", "json")
	commandtest.WriteFile(t, file, answer)
	if stdout, stderr, status := runPlan(text, "plan", "-", "--find", "load", "--verify", file); status != 0 {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// An answer for a scale other than --scale is rejected, no matter what else it contains.
func TestVerifyOtherScale(t *testing.T) {
	text := shop(t)
	file := filepath.Join(t.TempDir(), "answer.json")
	for _, args := range []string{
		"--scale 1", "--find load --scale 1", "--find growth --scale 1", "--find delay --scale 1",
	} {
		answer, _, _ := runPlan(text, strings.Fields("plan - --format json "+args)...)
		for _, c := range [][2]string{
			{`"scale": 1,`, `"scale": 2,`}, {`"scale_exact": "1"`, `"scale_exact": "2"`}, {`"scale": 1,`, ``},
		} {
			changed := strings.Replace(answer, c[0], c[1], 1)
			if changed == answer {
				continue // only growth has loads as fractions
			}
			commandtest.WriteFile(t, file, changed)
			if stdout, stderr, status := runPlan(
				text, append(strings.Fields("plan - "+args), "--verify", file)...,
			); status != 1 ||
				!strings.Contains(stdout, "scale") {
				t.Errorf("%s, %s: status %d, %s%s", args, c[1], status, stdout, stderr)
			}
		}
		commandtest.WriteFile(t, file, answer)
		if stdout, stderr, status := runPlan(
			text, append(strings.Fields("plan - "+args), "--verify", file)...,
		); status != 0 {
			t.Errorf("%s: status %d, %s%s", args, status, stdout, stderr)
		}
		asked := strings.TrimSuffix(args, "--scale 1")
		if strings.Contains(args, "growth") {
			continue
		}
		if stdout, stderr, status := runPlan(
			text, append(strings.Fields("plan - "+asked), "--verify", file)...,
		); status != 1 ||
			!strings.Contains(stdout, "scale") {
			t.Errorf("%s without --scale: status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// A frontier applies to one load.
func TestFrontierAtLoads(t *testing.T) {
	for _, args := range []string{
		"plan - --find frontier --scale 1", "plan - --find frontier --scale 1,2 --verify answer.json",
	} {
		if _, stderr, status := runPlan(shop(t), strings.Fields(args)...); status != 2 ||
			!strings.Contains(stderr, "--find frontier and --scale cannot be combined") {
			t.Errorf("%s: status %d, %s", args, status, stderr)
		}
	}
}

// --choice evaluates a given plan, so it excludes a search.
func TestChoiceWithoutSearch(t *testing.T) {
	for _, find := range []string{"cost", "delay"} {
		_, stderr, status := runPlan(shop(t), "plan", "-", "--choice", "web1=2", "--find", find)
		want := "--choice and --find " + find + " cannot be combined"
		if status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("--find %s: status %d, %s", find, status, stderr)
		}
	}
}

// planGPUs is unstable as it is; its purchases are for a group of four, and the budget is too
// small.
const planGPUs = `model:
  servers: [{name: old, capacity: 1, count: 8}, {name: new, capacity: 2, count: 4}]
  classes:
    - {name: training, arrival_rate: 1.25, mean_size: 8, servers: [new]}
    - {name: batch, arrival_rate: 2, mean_size: 2, servers: [old]}
targets: [{class: training, mean_delay: 6}]
upgrades: [{server: new, step: 0.5, cost: 8, most: 6}, {server: old, step: 0.5, cost: 8, most: 6}]
new_servers: [{name: l4, capacity: 1, cost: 5, most: 4, classes: [batch]}]
budget: 10
`

// Purchases for a group are shown per server and in total; an unstable original cluster and a
// budget that is too small are reported.
func TestGroupsUnstableBudget(t *testing.T) {
	stdout, stderr, status := runPlan(planGPUs, "plan", "-")
	for _, want := range []string{"\nabove the budget of 10; --find most-load says", "\nnow unstable: ",
		"kind     name  steps  servers  capacity each  total  cost\n" +
			"upgrade  new   2      4        1              4      16\n"} {
		if status != 1 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("status %d, %s%s, want %s", status, stderr, stdout, want)
		}
	}
	stdout, _, _ = runPlan(planGPUs, "plan", "-", "--format", "json")
	got := commandtest.ParseJSON(t, stdout)
	if bought := got["buy"].([]any)[0].(map[string]any); bought["count"] != 4.0 || bought["capacity_each"] != 1.0 ||
		bought["capacity"] != 4.0 || got["stable_now"] != false {
		t.Errorf("%v", got)
	}
	stdout, _, _ = runPlan(strings.Replace(planGPUs, "budget: 10", "budget: 30", 1), "plan", "-", "--find", "frontier")
	if !strings.HasSuffix(stdout, "\nno plan buys old\n") {
		t.Errorf("%s", stdout)
	}
}

// The printed load at which the targets hold is below the one at which they fail. Both statements
// are true because the first is rounded down and the second up.
func TestLoadsOnTheirSides(t *testing.T) {
	for _, find := range []string{"load", "most-load"} {
		text := strings.Replace(shop(t), "percentile: 99", "percentile: 98", 1)
		stdout, stderr, _ := runPlan(text, "plan", "-", "--find", find)
		var holds, fails string
		for _, words := range [][2]string{{"multiplied by ", ", and fail at "}, {"multiplied by ", "; at "}} {
			if _, after, ok := strings.Cut(stdout, words[0]); ok {
				if before, after, ok := strings.Cut(after, words[1]); ok {
					holds, fails = before, strings.FieldsFunc(after, func(r rune) bool {
						return r == ' ' || r == '\n'
					})[0]
				}
			}
		}
		low, _ := new(big.Rat).SetString(holds)
		high, _ := new(big.Rat).SetString(fails)
		answer, _, _ := runPlan(text, "plan", "-", "--find", find, "--format", "json")
		exact := commandtest.ParseJSON(t, answer)
		from, to := commandtest.Rat(t, exact["holds_at_exact"]), commandtest.Rat(t, exact["fails_at_exact"])
		if low == nil || high == nil || low.Cmp(from) > 0 || from.Cmp(to) >= 0 || to.Cmp(high) > 0 ||
			new(big.Rat).Sub(high, low).Cmp(big.NewRat(3, 100_000)) > 0 {
			t.Errorf("%s: %s and %s of %s%s", find, holds, fails, stdout, stderr)
		}
	}
}
