package main

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cmd/pfq/internal/commandtest"
)

// leaves returns all numbers, strings and booleans in a value of JSON, as CSV writes them.
func leaves(v any) (all []string) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for key, inner := range v {
			if key != "jumps_per_second" { // differs from run to run
				all = append(all, leaves(inner)...)
			}
		}
	case []any:
		for _, inner := range v {
			all = append(all, leaves(inner)...)
		}
	default:
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// twoQueueLog has enough jobs of one queue for all statistics of a class.
const twoQueueLog = "submit,start,run_time,cpus,queue\n0,0,5,1,a\n7,7,3,1,b\n9,9,1,1,b\n9,10,2,2,b\n20,20,9,1,b\n" +
	"31,31,4,1,b\n33,33,1,1,b\n45,45,2,1,b\n"

// askOnce answers the questions of several tests, each of them once.
var askOnce = onceEach(pfq)

// questions returns command lines about clusters and networks, and their models. The answers have
// nearly all fields.
func questions(folder string) []struct{ model, args string } {
	const model = `{"servers": [{"name": "r", "count": 3, "capacity": 1}, {"name": "s", "count": 3, "capacity": 1}],
		"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "r", "choose": 2}, "s"]},
		{"name": "b", "arrival_rate": 1, "servers": [{"group": "s", "choose": 1}]}]}`
	small, _, _ := pfq("", "example", "three-servers")
	sized, _, _ := pfq("", "example", "warehouse")
	closed, _, _ := pfq("", "example", "batch")
	reentrant, _, _ := pfq("", "example", "reentrant")
	trunks, _, _ := pfq("", "example", "trunks")
	swaps, _, _ := pfq("", "example", "swaps")
	calls, _, _ := pfq("", "example", "call-centre")
	thinking, _, _ := pfq("", "example", "interactive")
	machines := `{"stations": [{"name": "up", "discipline": "delay"}, {"name": "repair", "discipline": "fcfs"}],
		"classes": [{"name": "machine", "population": 4, "visits": [{"station": "up", "next": {"repair": 1}},
		{"station": "repair", "next": {"up": 1}}]}]}`
	return []struct{ model, args string }{
		{model, "stability -"},
		{model, "stability - --by-class"},
		{overloaded, "stability -"},
		{onePerJob, "stability -"},
		{model, "solve -"},
		{small, "solve - --engine exact --distribution 3 --scale 0.5:1.5:0.25"},
		{small, "solve - --engine enclose --distribution 3 --scale 1"},
		{small, "solve - --engine enclose --percentiles 50,99.9 --scale 0.5,1"},
		{small, "solve - --engine exact --distribution 3 --by-class --scale 0.5,1"},
		{gpus, "solve - --percentiles 50,95 --within 0.5 --distribution 2"},
		{gpus, "solve - --engine exact --gradients --scale 0.5,2"},
		{strings.ReplaceAll(manyAgents, "000", ""), "solve - --percentiles 50,95 --within 0.5"},
		{gpus + "mean_patience: 0.2\n", "solve - --percentiles 50,95 --within 0.5"},
		{gpus + "mean_patience: 0.2\n", "simulate - --runs 3 --jumps 2000 --percentiles 50,90"},
		{overloaded, "solve -"},
		{small, "solve - --gradients"},
		{small, "solve - --gradients --engine exact --scale 0.5,1"},
		{sized, "solve - --gradients --engine enclose"},
		{sized, "solve - --engine exact --scale 0.5,1"},
		{sized, "simulate - --runs 3 --jumps 2000"},
		{small, "simulate - --runs 3 --jumps 2000 --distribution 2 --scale 0.5,2"},
		{small, "simulate - --runs 3 --jumps 2000 --sizes zipf --interruptions 2"},
		{small, "simulate - --runs 3 --jumps 2000 --percentiles 50,90,99.9"},
		{overloaded, "simulate -"},
		{onePerJob, "simulate - --runs 3 --jumps 2000 --percentiles 50,90 --distribution 2"},
		{onePerJob, "simulate - --runs 3 --jumps 2000 --policy jsq,least-work --percentiles 50 --scale 0.5,2"},
		{oneOverloaded, "simulate - --runs 3 --jumps 2000 --policy power:1,jsq"},
		{threeGangs, "simulate - --runs 3 --jumps 2000 --percentiles 50,90 --distribution 2"},
		{threeGangs, "simulate - --runs 3 --jumps 2000 --policy fcfs,easy --requests 2 --scale 0.5,2,9"},
		{gangsOfTwo, "simulate - --scale 9"},
		{small, "estimate - --sweeps 8 --distribution 3 --by-class --gradients --scale 0.5,1,2"},
		{sized, "estimate - --precision 0.1 --bounds"},
		{model, "estimate - --sweeps 8"},
		{overloaded, "estimate -"},
		{closed, "network - --distribution 3"},
		{closed, "network - --states 3 --engine enclose"},
		{closed, "network - --population long=1,3 --engine exact"},
		{closed, "network - --bounds"},
		{thinking, "network - --percentiles 95 --within 0.5"},
		{machines, "network - --percentiles 95"},
		{machines, "network - --runs 3 --jumps 2000 --percentiles 95"},
		{thinking, "network - --engine exact --population 3,5"},
		{thinking, "network - --engine enclose"},
		{closed, "network - --runs 3 --jumps 2000 --percentiles 50"},
		{reentrant, "network - --engine exact --scale 1,3"},
		{trunks, "network - --engine enclose"},
		{trunks, "network - --runs 3 --jumps 2000 --percentiles 50"},
		{closed, "network - --percentiles 50,99"},
		{swaps, "network - --engine exact --scale 1/2,1"},
		{swaps, "network - --runs 3 --jumps 2000"},
		{calls, "network - --scale 0.5:1.5:0.5"},
		{`{"servers": 2, "room": 5, "classes": [{"name": "a", "arrival_rate": 1}]}`, "network - --engine enclose"},
		{sacctLog, "log - --zone Europe/Berlin"},
		{twoQueueLog, "log - --workers 2 --by queue --model " + filepath.Join(folder, "model.yaml")},
	}
}

// CSV has every fact that JSON has, and each of its columns has a value in some answer to
// [questions].
func TestCSVHasAllFacts(t *testing.T) {
	filled := map[string]bool{} // by command and column
	for _, c := range questions(t.TempDir()) {
		text, stderr, _ := askOnce(c.model, append(strings.Fields(c.args), "--format", "json")...)
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v, %s", c.args, err, stderr)
		}
		table, _, _ := pfq(c.model, append(strings.Fields(c.args), "--format", "csv")...)
		lines, err := csv.NewReader(strings.NewReader(table)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		cells := map[string]bool{}
		command := strings.Fields(c.args)[0]
		for i, line := range lines {
			for k, cell := range line {
				column := command + " " + lines[0][k]
				filled[column] = filled[column] || i > 0 && cell != ""
				for _, word := range append(strings.Split(cell, ";"), cell) {
					cells[word] = true
				}
			}
		}
		for _, leaf := range leaves(v) {
			if !cells[leaf] {
				t.Errorf("%s: no %s in CSV\n%s", c.args, leaf, table)
			}
		}
	}
	for column, is := range filled {
		if !is {
			t.Errorf("column %s of CSV is always empty: its name is misspelt, or no command line of questions fills it",
				column)
		}
	}
}

// A field of an answer always has the same JSON type or is null, for all engines and numbers. Only
// with --samples are the numbers of dispatch estimates.
func TestFieldsHaveOneType(t *testing.T) {
	pool, _, _ := pfq("", "example", "two-jobs")
	traffic, _, _ := pfq("", "example", "two-classes")
	shop, _, _ := pfq("", "example", "shop-plan")
	shop = "budget: 12\n" + shop
	log, _, _ := pfq("", "example", "five-jobs")
	questions := append(questions(t.TempDir()), []struct{ model, args string }{
		{nearLimit, "solve - --gradients --percentiles 50 --distribution 3"},
		{nearLimit, "solve - --gradients --percentiles 50 --distribution 3 --engine float"},
		{nearLimit, "solve - --gradients --distribution 3 --engine exact"},
		{pool, "allocate - --policy all --audit"},
		{pool, "allocate - --policy pf --engine float"},
		{pool, "allocate - --policy pf --engine enclose --audit"},
		{traffic, "allocate - --dynamic --policy pf,bf"},
		{traffic, "allocate - --dynamic --policy drf --scale 0.5,2"},
		{traffic, "allocate - --dynamic --policy pf --runs 3 --jumps 1000 --percentiles 50"},
		{"", "tags --hosts 2 --load 0.5 --alpha 1 --max 1e10 --mean 3000 --printed --scale 0.5,1,1.9 --runs 0"},
		{"", "tags --hosts 2 --load 0.5 --alpha 1 --max 1e10 --mean 3000 --engine enclose --runs 0"},
		{"", "tags --hosts 2 --load 0.5 --alpha 1 --max 1e10 --mean 3000 --runs 3 --jumps 1000 --percentiles 50"},
		{"", "tags --hosts 2 --load 0.5 --sizes lognormal:20 --mean 1 --objective fairness --expand 1 --runs 0"},
		{"", "tags --hosts 3 --load 0.2 --sizes exponential --mean 1 --speeds 3,2,1 --objective waiting --runs 3 " +
			"--jumps 1000"},
		{"", "tags --hosts 3 --load 0.2 --alpha 1.5 --min 1 --max 1e4 --resume every:0.3 --overhead 0.1 --runs 0"},
		{log, "dispatch - --workers 6 --priorities 1:5"},
		{log, "dispatch - --workers 6 --policy fcfs,edf --by user"},
		{log, "dispatch - --workers 8 --learn 3 --outages 1-2@5-15 --policy all"},
		{log, "dispatch - --workers 4 --sample 3 --samples 2 --drop-large"},
		{shop, "plan -"},
		{shop, "plan - --scale 1/3,1,20"},
		{shop, "plan - --find delay --gradients"},
		{shop, "plan - --find frontier"},
		{shop, "plan - --find load"},
		{shop, "plan - --find most-load"},
		{shop, "plan - --find growth --scale 1,100"},
		{shop, "plan - --choice none"},
		{shop, "plan - --limit 2"},
		{string(readExample("web-plan")), "plan -"},
		{waitingRoom, "plan -"},
	}...)
	types := map[string]string{}
	for _, q := range questions {
		args := append(strings.Fields(q.args), "--format", "json")
		text, stderr, _ := askOnce(q.model, args...)
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v, %s", q.args, err, stderr)
		}
		if _, ok := v.([]any); !ok {
			v = []any{v}
		}
		command := args[0]
		if slices.Contains(args, "--samples") { // means and spreads of numbers
			command += " --samples"
		}
		checkTypes(t, q.args, command, v, types)
	}
	checkPromise(t, types)
}

// update rewrites the list of fields.
var update = flag.Bool("update", false, "write testdata/fields.txt")

// checkPromise checks that no number, text or truth value of testdata/fields.txt is gone or has
// another type, given the type at each path. The flag -update adds new ones; docs/compatibility.md
// says when others may change.
func checkPromise(t *testing.T, types map[string]string) {
	t.Helper()
	const name = "testdata/fields.txt"
	words := map[string]string{"float64": "number", "string": "string", "bool": "boolean"}
	var lines []string
	for path, kind := range types {
		if word, leaf := words[kind]; leaf && !strings.Contains(path, " --samples") {
			lines = append(lines, path+" "+word)
		}
	}
	slices.Sort(lines)
	if *update {
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for promised := range strings.Lines(string(text)) {
		promised = strings.TrimSpace(promised)
		if _, found := slices.BinarySearch(lines, promised); !found {
			t.Errorf("no answer has the field %s, which docs/compatibility.md promises (-update accepts it)", promised)
		}
	}
}

// checkTypes checks that the fields of a JSON value have the same types as the fields at the same
// paths in earlier values. A path has no indices.
func checkTypes(t *testing.T, question, path string, v any, types map[string]string) {
	t.Helper()
	if v == nil {
		return
	}
	kind := fmt.Sprintf("%T", v)
	if before, ok := types[path]; ok && before != kind {
		t.Errorf("%s: %s is a %s, but was a %s", question, path, kind, before)
	}
	types[path] = kind
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			checkTypes(t, question, path+"[]", inner, types)
		}
	case map[string]any:
		for key, inner := range v {
			checkTypes(t, question, path+"."+key, inner, types)
		}
	}
}

// nearLimit has a server at load 0.999 and another at load 0.08, so the engine auto uses
// several engines for one answer.
const nearLimit = `{"servers": [{"name": "slow", "capacity": 0.1}, {"name": "fast", "capacity": 100}], "classes": [
	{"name": "a", "arrival_rate": 0.0999, "servers": ["slow"]},
	{"name": "b", "arrival_rate": 4, "servers": ["slow", "fast"]}]}`

// The margin and the critical scale are attained by different sets: one class has a margin of 1/2
// on a server of capacity 1, the other a load of 9 on a server of capacity 10.
func TestMarginSet(t *testing.T) {
	const model = `{"servers": [{"name": "s", "capacity": 1}, {"name": "t", "capacity": 10}], "classes": [
		{"name": "a", "arrival_rate": 0.5, "servers": ["s"]}, {"name": "b", "arrival_rate": 9, "servers": ["t"]}]}`
	stdout, _, status := pfq(model, "stability", "-", "--format", "json")
	want := map[string]any{
		"verdict": "stable", "stable": true, "margin": 0.5, "margin_exact": "1/2", "margin_set": []any{"a"},
		"critical_scale": 10. / 9, "critical_scale_exact": "10/9", "bottleneck": []any{"b"}, "bottleneck_work": 9.0,
		"bottleneck_work_exact": "9", "bottleneck_capacity": 10.0, "bottleneck_capacity_exact": "10",
		"classes": []any{
			map[string]any{"name": "a", "heavy_traffic_jobs": 0.0, "heavy_traffic_jobs_exact": "0"},
			map[string]any{"name": "b", "heavy_traffic_jobs": 1.0, "heavy_traffic_jobs_exact": "1"},
		},
	}
	if diff := cmp.Diff(want, commandtest.ParseJSON(t, stdout)); status != 0 || diff != "" {
		t.Errorf("status %d, %s", status, diff)
	}
	stdout, _, _ = pfq(model, "stability", "-")
	if !strings.Contains(stdout, "margin      1/2 = 0.5, of a, a different set from the bottleneck\n") {
		t.Error(stdout)
	}
}

// A class that draws two of three servers counts as one class per pair, with a margin of 2 - 1/3;
// the margin of all jobs is 3 - 1.
func TestMarginOfDraws(t *testing.T) {
	const model = `{"servers": [{"name": "s", "count": 3, "capacity": 1}], ` +
		`"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "s", "choose": 2}]}]}`
	stdout, _, _ := pfq(model, "stability", "-")
	if !strings.Contains(stdout, "margin      5/3 = 1.66667, of the jobs of a that draw the same 2 servers, "+
		"a different set from the bottleneck\n") {
		t.Error(stdout)
	}
}

// Sizes from a file with mean 2 are scaled to the model's mean of 1, and the answer reports it.
// With unscaled sizes the load is twice as large, as if the model had the mean 2.
func TestKeepSizes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sizes")
	commandtest.WriteFile(t, file, "1\n3\n")
	args := "--runs 3 --jumps 2000 --sizes file:" + file
	if scaled := simulateJSON(t, oneServer, args); scaled["scaled_from"] != 2.0 {
		t.Errorf("scaled from %v, want 2", scaled["scaled_from"])
	}
	kept := simulateJSON(t, strings.Replace(oneServer, "1/2", "1/4", 1), args+" --keep-sizes")
	same := simulateJSON(
		t, strings.Replace(oneServer, `"1/2"`, `"1/4"`, 1)[:len(oneServer)-1]+`, "mean_size": 2}`, args,
	)
	for _, answer := range []map[string]any{kept, same} {
		if _, ok := answer["scaled_from"]; ok {
			t.Error("unscaled sizes are reported as scaled")
		}
		delete(answer, "jumps_per_second")
	}
	if diff := cmp.Diff(same, kept); diff != "" {
		t.Error(diff)
	}
	if _, stderr, status := pfqSimulate(oneServer, args+" --keep-sizes --scale 4"); status != 1 || stderr != "" {
		t.Errorf("status %d, %s", status, stderr)
	}
	_, stderr, status := pfqSimulate(oneServer, "--sizes exponential --keep-sizes")
	if status != 2 || !strings.HasPrefix(stderr, "pfq: --sizes = exponential: want file:PATH, log:PATH, swf:PATH or "+
		"bounded-pareto:ALPHA:MIN:MAX, with --keep-sizes") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// Bounded Pareto sizes between given ends are scaled to the mean of the model unless requested
// otherwise, and the answer reports it.
func TestKeepSizesBetweenEnds(t *testing.T) {
	const args = "--runs 3 --jumps 2000 --sizes bounded-pareto:2:2:6" // their mean is 2 α/(α-1) (1 - 1/3)/(1 - 1/9) = 3
	scaled, ratio := simulateJSON(t, oneServer, args),
		simulateJSON(t, oneServer, "--runs 3 --jumps 2000 --sizes bounded-pareto:2:3")
	commandtest.Near(t, "mean before", scaled["scaled_from"], 3, 1e-14)
	commandtest.Near(
		t, "mean jobs", scaled["mean_jobs"].(map[string]any)["mean"],
		ratio["mean_jobs"].(map[string]any)["mean"].(float64), 1e-12,
	)
	third := strings.Replace(oneServer, `"1/2"`, `"1/6"`, 1)
	kept, same := simulateJSON(t, third, args+" --keep-sizes"),
		simulateJSON(t, third[:len(third)-1]+`, "mean_size": 3}`, args)
	commandtest.Near(
		t, "mean jobs", kept["mean_jobs"].(map[string]any)["mean"],
		same["mean_jobs"].(map[string]any)["mean"].(float64), 1e-12,
	)
	if kept["scaled_from"] != nil {
		t.Errorf("unscaled sizes are reported as scaled from %v", kept["scaled_from"])
	}
}

// Help begins with the usage, has at most two examples, and ends with the text.
func TestHelpIsShort(t *testing.T) {
	root := newRoot()
	for _, c := range root.Commands() {
		if n := strings.Count("\n\n"+c.Example, "\n\n  $ "); n > 2 {
			t.Errorf("%s has %d examples, want at most 2", c.Name(), n)
		}
		if c.Long == "" && c.Name() != "version" && c.Name() != "completion" && c.Name() != "help" {
			t.Errorf("%s has no text", c.Name())
		}
	}
	stdout, _, _ := pfq("", "help", "solve")
	usage, example, text := strings.Index(stdout, "Usage:"), strings.Index(stdout, "Examples:"),
		strings.Index(stdout, "solve computes")
	if !(usage >= 0 && usage < example && example < text) {
		t.Errorf("usage, examples and text at %d, %d, %d", usage, example, text)
	}
}

// The answer at a factor equals the answer for the load, or the arrival rates, multiplied by it.
func TestScaleMatchesModel(t *testing.T) {
	const farm = "tags --hosts 2 --sizes lognormal:4 --mean 1 --runs 0 --format json"
	for _, c := range []struct {
		stdin, command, scaled, once string
	}{
		{"", farm, "--load 0.4 --scale 0.5,3/2", "--load 0.6"},
		{"", farm, "--arrival-rate 0.8 --scale 0.5,3/2", "--load 0.6"},
		{"", "allocate examples/traffic/two-classes.yaml --dynamic --policy bf --format json", "--scale 3,1", ""},
	} {
		text, stderr, _ := pfq(c.stdin, strings.Fields(c.command+" "+c.scaled)...)
		var got []map[string]any
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != 2 || got[0]["scale"] == nil {
			t.Fatalf("%v, %s%s", err, text, stderr)
		}
		once, _, _ := pfq(c.stdin, strings.Fields(c.command+" "+c.once)...)
		want := commandtest.ParseJSON(t, once)
		delete(got[1], "scale")
		if diff := cmp.Diff(want, got[1]); diff != "" {
			t.Errorf("%s %s: %s", c.command, c.scaled, diff)
		}
	}
	if got := program.Refusal(
		t, "", strings.Fields("tags --hosts 2 --load 0.5 --sizes exponential --mean 1 --scale 2")...,
	); got.Path != "--scale" || got.Value != "2" {
		t.Errorf("%+v", got)
	}
	if _, stderr, status := pfq("", "allocate", "examples/pools/two-jobs.yaml", "--scale", "2"); status != 2 ||
		stderr != "pfq: --scale needs --dynamic\n" {
		t.Errorf("status %d, %s", status, stderr)
	}
}
