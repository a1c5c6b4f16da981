package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

// pfqSimulate runs pfq simulate on a model and returns its output without progress lines.
func pfqSimulate(model, args string) (stdout, stderr string, status int) {
	stdout, stderr, status = pfq(model, append([]string{"simulate", "-"}, strings.Fields(args)...)...)
	return stdout, commandtest.ProgressLines.ReplaceAllString(stderr, ""), status
}

// simulateJSON runs command lines that give an answer, with or without warnings.
func simulateJSON(t *testing.T, model, args string) map[string]any {
	t.Helper()
	stdout, stderr, status := pfqSimulate(model, args+" --format json")
	if status != 0 {
		t.Fatalf("%s: status %d, %s", args, status, stderr)
	}
	return commandtest.ParseJSON(t, stdout)
}

// The fields are in a fixed order, and their numbers equal those of sim.Run, with the exact values
// of M/M/1 at load 1/2.
func TestSimulateJSON(t *testing.T) {
	const args = "--runs 20 --jumps 1e4 --warmup 2000 --seed 7 --distribution 1 --confidence 0.9 --interruptions 2 " +
		"--format json"
	stdout, stderr, status := pfqSimulate(oneServer, args)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	rest := stdout
	estimated := func(keys ...string) (all []string) {
		for _, k := range keys {
			all = append(all, k, "mean", "half_width", "confidence", "exact", "z")
		}
		return all
	}
	var order []string
	for _, keys := range [][]string{
		{"stable", "service", "policy", "sizes", "interruptions", "method", "classes", "name", "arrival_rate"},
		estimated("mean_jobs", "mean_delay", "measured_delay", "service_rate"), {"name", "arrival_rate"},
		estimated("mean_jobs"),
		{"mean_delay", "measured_delay", "service_rate", "servers", "name"},
		estimated("utilization", "mean_jobs", "mean_delay"),
		{
			"jobs_distribution", "mean", "mean", "runs", "jumps", "jumps_per_second", "time", "warm_up",
			"seed", "effective_samples", "warnings",
		}} {
		order = append(order, keys...)
	}
	for _, key := range order {
		_, after, ok := strings.Cut(rest, `"`+key+`": `)
		if !ok {
			t.Fatalf("%s is missing or too early in %s", key, stdout)
		}
		rest = after
	}

	m, err := cluster.Read(strings.NewReader(oneServer))
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(t.Context(), simcluster.Cluster{Model: m, Policy: simcluster.Interrupt, Interruptions: 2},
		sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2000, Seed: 7, Distribution: 1, Confidence: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	value := func(e *sim.Estimate, exact float64) any {
		if e.StdError == 0 { // z has no information
			return map[string]any{"mean": e.Mean, "half_width": 0.0, "confidence": 0.9, "exact": exact, "z": nil}
		}
		z := e.Z(exact)
		if math.Abs(z) > 5 { // a standard normal variable exceeds this with probability 6e-7
			t.Errorf("%v is %v standard errors from %v", e.Mean, z, exact)
		}
		return map[string]any{"mean": e.Mean, "half_width": e.HalfWidth, "confidence": 0.9, "exact": exact, "z": z}
	}
	want := map[string]any{
		"stable": true, "service": "all", "policy": "interrupt", "sizes": "exponential",
		"interruptions": 2.0, "method": r.Method,
		"classes": []any{
			map[string]any{
				"name":           "a",
				"arrival_rate":   0.5,
				"mean_jobs":      value(r.Class(0, sim.MeanJobs), 1),
				"mean_delay":     value(r.Class(0, sim.MeanDelay), 2),
				"measured_delay": value(r.Class(0, sim.MeasuredDelay), 2),
				"service_rate":   value(r.Class(0, sim.ServiceRate), 0.5),
			},
			map[string]any{
				"name":           "b",
				"arrival_rate":   0.0,
				"mean_jobs":      value(r.Class(1, sim.MeanJobs), 0),
				"mean_delay":     nil,
				"measured_delay": nil,
				"service_rate":   nil,
			},
		},
		"servers":   []any{map[string]any{"name": "s<1>", "utilization": value(r.Server(0, sim.Utilization), 0.5)}},
		"mean_jobs": value(r.All(sim.MeanJobs), 1), "mean_delay": value(r.All(sim.MeanDelay), 2),
		"jobs_distribution": []any{value(&r.Distribution[0], 0.5), value(&r.Distribution[1], 0.25)},
		"runs":              20.0, "jumps": r.Jumps, "time": r.Time, "warm_up": r.WarmUp, "seed": 7.0,
		"effective_samples": r.EffectiveSamples, "warnings": []any{},
	}
	got := commandtest.ParseJSON(t, stdout)
	if speed, ok := got["jumps_per_second"].(float64); !ok || !(speed > 0) {
		t.Errorf("jumps_per_second is %v", got["jumps_per_second"])
	}
	commandtest.Joint(t, got["joint"], got)
	delete(got, "jumps_per_second")
	delete(got, "joint")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// CSV has the numbers of JSON, one per line, without the speed.
func TestSimulateCSV(t *testing.T) {
	const args = "--runs 10 --jumps 2e3 --distribution 1 "
	stdout, _, status := pfqSimulate(oneServer, args+"--format csv")
	lines, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil || status != 0 {
		t.Fatalf("status %d, %v in %s", status, err, stdout)
	}
	answer := simulateJSON(t, oneServer, args)
	text := func(v any) string {
		cell, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(cell), "null", "")
	}
	want := [][]string{{"kind", "name", "quantity", "mean", "half_width", "confidence", "exact", "z", "word"}}
	add := func(kind, name, quantity string, v any) {
		line := []string{kind, name, quantity, text(v), "", "", "", "", ""}
		switch v := v.(type) {
		case map[string]any:
			line = []string{
				kind, name, quantity, text(v["mean"]), text(v["half_width"]), text(v["confidence"]),
				text(v["exact"]), text(v["z"]), "",
			}
		case string, bool:
			line = []string{kind, name, quantity, "", "", "", "", "", fmt.Sprint(v)}
		}
		want = append(want, line)
	}
	add("cluster", "", "mean_jobs", answer["mean_jobs"])
	add("cluster", "", "mean_delay", answer["mean_delay"])
	for _, v := range answer["classes"].([]any) {
		c := v.(map[string]any)
		for _, quantity := range []string{"arrival_rate", "mean_jobs", "mean_delay", "measured_delay", "service_rate"} {
			add("class", c["name"].(string), quantity, c[quantity])
		}
	}
	add("server", "s<1>", "utilization", answer["servers"].([]any)[0].(map[string]any)["utilization"])
	for n, v := range answer["jobs_distribution"].([]any) {
		add("distribution", fmt.Sprint(n), "probability", v)
	}
	for _, quantity := range []string{"comparisons", "left_out", "largest_z", "p_value"} {
		add("joint", "", quantity, answer["joint"].(map[string]any)[quantity])
	}
	for _, quantity := range []string{"stable", "service", "policy", "sizes", "interruptions", "method", "runs",
		"jumps", "time", "warm_up", "seed", "effective_samples"} {
		add("simulation", "", quantity, answer[quantity])
	}
	add("simulation", "", "warnings", "") // none
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// Balanced fairness is exact for exponential sizes under FCFS and for all sizes under processor
// sharing, but not over a horizon.
func TestSimulateTheory(t *testing.T) {
	model, _, _ := pfq("", "example", "three-servers")
	file := filepath.Join(t.TempDir(), "sizes")
	commandtest.WriteFile(t, file, "1\n2\n3\n")
	for _, c := range []struct {
		args  string
		exact bool
	}{
		{"", true},
		{"--policy fcfs --warmup 0", true},
		{"--interruptions 0.5", true},
		{"--policy interrupt --interruptions 3", true},
		{"--policy ps", true},
		{"--policy ps --sizes bimodal", true},
		{"--policy ps --sizes file:" + file, true},
		{"--sizes bimodal", false},
		{"--sizes erlang:1", true},
		{"--sizes erlang:2", false},
		{"--sizes zipf --interruptions 2", false},
		{"--sizes deterministic", false},
		{"--sizes file:" + file, false},
	} {
		answer := simulateJSON(t, model, "--runs 8 --jumps 1e4 "+c.args)
		for list, keys := range map[string][]string{
			"classes": {"mean_jobs", "mean_delay", "measured_delay", "service_rate"},
			"servers": {"utilization"},
		} {
			for _, row := range answer[list].([]any) {
				for _, key := range keys {
					e := row.(map[string]any)[key].(map[string]any)
					z, exact := e["z"].(float64)
					// a standard normal variable exceeds this with probability 4e-8
					if exact != c.exact || math.Abs(z) > 5.5 {
						t.Errorf("%s: %s is %v", c.args, key, e)
					}
				}
			}
		}
	}
	answer := simulateJSON(t, model, "--runs 2 --horizon 50")
	if e := answer["mean_jobs"].(map[string]any); e["exact"] != nil || answer["time"] != 50.0 ||
		answer["warm_up"] != 0.0 || answer["stable"] != true {
		t.Errorf("over a horizon: %v", answer)
	}
}

// Numbers of jobs that no run has observed have no interval: an interval of width 0 would exclude
// their probabilities.
func TestNeverSeen(t *testing.T) {
	const model = `{"servers": [{"name": "s", "capacity": 4}], "classes": [{"name": "a", "arrival_rate": 1, ` +
		`"servers": ["s"]}]}`
	law := simulateJSON(t, model, "--runs 3 --jumps 1e3 --distribution 60")["jobs_distribution"].([]any)
	last := law[60].(map[string]any)
	if half, given := last["half_width"]; last["mean"] != 0.0 || !given || half != nil ||
		!(last["exact"].(float64) > 0) || law[0].(map[string]any)["half_width"] == nil {
		t.Errorf("60 jobs: %v", last)
	}
	if stdout, _, _ := pfqSimulate(model, "--runs 3 --jumps 1e3 --distribution 60"); !strings.Contains(stdout,
		"\n60    none seen ") ||
		strings.Contains(stdout, "± 0 ") {
		t.Errorf("no note that none was seen:\n%s", stdout)
	}
}

// All runs report that a server without classes is always idle, although there are no formulas for
// these sizes under FCFS.
func TestServerOfNone(t *testing.T) {
	const model = `{"servers": [{"name": "s", "capacity": 4}, {"name": "t", "capacity": 1}], "classes": [{"name": ` +
		`"a", "arrival_rate": 1, "servers": ["s"]}]}`
	servers := simulateJSON(t, model, "--policy fcfs --sizes deterministic --runs 3 --jumps 1e3")["servers"].([]any)
	if u := servers[1].(map[string]any)["utilization"].(map[string]any); u["mean"] != 0.0 || u["half_width"] != 0.0 {
		t.Errorf("utilization %v", u)
	}
}

// A model too large for theory is still simulated, without exact values, and the answer gives the
// reason in all formats.
func TestSimulateWithoutTheory(t *testing.T) {
	const wide = `{"servers": [{"name": "g", "count": 999, "capacity": 1}, {"name": "h", "count": 999, "capacity": 1},
		{"name": "k", "count": 999, "capacity": 1}, {"name": "l", "count": 999, "capacity": 1}],
		"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "g", "choose": 2},
		{"group": "h", "choose": 2}, {"group": "k", "choose": 2}, {"group": "l", "choose": 2}]}]}`
	const small = `{"servers": [{"name": "s", "capacity": 4}], "classes": [{"name": "a", "arrival_rate": 1, ` +
		`"servers": ["s"]}]}`
	const large = "there are no exact values: model = 1 classes on 4 rows of servers: want tables of at most 16384 " +
		"MiB; those of the symmetric lattice are out of reach: " +
		`merge similar classes or servers, or describe equal servers as groups with "choose"`
	for _, c := range []struct{ model, args, note string }{
		{wide, "", large},
		{small, "--sizes zipf", "first come, first served has exact values for exponential sizes only"},
		{small, "--horizon 50", "there are no exact values over a horizon"},
	} {
		args := "--runs 2 " + c.args
		if !strings.Contains(args, "--horizon") {
			args += " --jumps 1e3"
		}
		answer := simulateJSON(t, c.model, args)
		if e := answer["mean_jobs"].(map[string]any); e["exact"] != nil || answer["note"] != c.note {
			t.Errorf("%s: exact %v, note %v", c.args, e["exact"], answer["note"])
		}
		for _, format := range []string{"text", "csv"} {
			stdout, stderr, status := pfqSimulate(c.model, args+" --format "+format)
			note := c.note
			if format == "csv" {
				note = strings.ReplaceAll(note, `"`, `""`)
			}
			if status != 0 || strings.Contains(stderr, "exact") || !strings.Contains(stdout, note) {
				t.Errorf("%s as %s: status %d, %s%s", c.args, format, status, stdout, stderr)
			}
		}
	}
	if answer := simulateJSON(t, small, "--runs 2 --jumps 1e3"); answer["note"] != nil {
		t.Errorf("note %v despite exact values", answer["note"])
	}
}

// Estimates come with the exact values of solve, even if these take seconds: copies on three of six
// racks of eight servers take 6e8 operations. The racks are equal, so the utilization is the load,
// 20 · 8/5 on 48 servers.
func TestSimulateHasValuesOfSolve(t *testing.T) {
	simulated := func(perRack int) (model string, answer map[string]any) {
		model = copiesOnRacks(perRack)
		if answer = simulateJSON(t, model, "--runs 2 --jumps 1e3"); answer["note"] != nil {
			t.Errorf("note %v despite exact values", answer["note"])
		}
		return model, answer
	}
	exact := func(estimate any) any { return estimate.(map[string]any)["exact"] }
	small, got := simulated(6)
	stdout, stderr, status := pfq(small, "solve", "-", "--format", "json")
	if status != 0 {
		t.Fatal(stderr)
	}
	want := commandtest.ParseJSON(t, stdout)["mean_jobs"].(float64)
	commandtest.Near(t, "exact mean jobs", exact(got["mean_jobs"]), want, 1e-12)
	_, got = simulated(8)
	for _, row := range got["servers"].([]any) {
		commandtest.Near(t, "exact utilization", exact(row.(map[string]any)["utilization"]), 20*1.6/48, 1e-12)
	}
}

// copiesOnRacks returns a model of six racks with a class for every three of them. Its jobs are
// copied to a server of each of the three. 20 · 8/5 jobs arrive per unit of time.
func copiesOnRacks(perRack int) string {
	var servers, classes []string
	for i := range 6 {
		servers = append(servers, fmt.Sprintf(`{"name": "r%d", "capacity": 1, "count": %d}`, i, perRack))
		for j := range i {
			for k := range j {
				classes = append(classes, fmt.Sprintf(`{"name": "f%d%d%d", "arrival_rate": "8/5", "servers": `+
					`[{"group": "r%d", "choose": 1}, {"group": "r%d", "choose": 1}, {"group": "r%d", "choose": 1}]}`,
					i, j, k, i, j, k))
			}
		}
	}
	return fmt.Sprintf(`{"servers": [%s], "classes": [%s]}`, strings.Join(servers, ", "), strings.Join(classes, ", "))
}

// For a thousand servers, of which each class uses ten at scattered places, theory is reported as
// infeasible before anything is built.
func BenchmarkSimulateWithoutTheory(b *testing.B) {
	const n = 1000
	var servers, classes []string
	for s := range n {
		var list []string
		for k := range 10 {
			list = append(list, fmt.Sprintf(`"s%d"`, (s*7+k*k*31)%n))
		}
		servers = append(servers, fmt.Sprintf(`{"name": "s%d", "capacity": 1}`, s))
		classes = append(classes, fmt.Sprintf(`{"name": "c%d", "arrival_rate": "4/5", "servers": [%s]}`,
			s, strings.Join(list, ", ")))
	}
	model := fmt.Sprintf(`{"servers": [%s], "classes": [%s]}`, strings.Join(servers, ", "), strings.Join(classes, ", "))
	b.ReportAllocs()
	for b.Loop() {
		if stdout, stderr, status := pfqSimulate(model, "--runs 2 --jumps 1e4"); status != 0 ||
			!strings.Contains(stdout, "no exact values") {
			b.Fatal(stdout, stderr)
		}
	}
}

// An unstable model has the answer that solve gives, unless it is observed over a horizon.
func TestSimulateUnstable(t *testing.T) {
	for _, format := range render.Formats {
		want, _, _ := pfq(overloaded, "solve", "-", "--format", format)
		stdout, stderr, status := pfqSimulate(overloaded, "--format "+format)
		if status != 1 || stderr != "" || stdout != want {
			t.Errorf("status %d, %s%s", status, stderr, cmp.Diff(want, stdout))
		}
	}
	stdout, stderr, status := pfqSimulate(overloaded, "--runs 5 --horizon 100 --format json")
	got := commandtest.ParseJSON(t, stdout)
	if status != 0 || got["stable"] != false || len(got["warnings"].([]any)) == 0 ||
		!strings.HasPrefix(stderr, "pfq: warning: the cluster is unstable: ") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	if stdout, _, status := pfqSimulate(overloaded, "--runs 5 --horizon 100"); status != 0 ||
		!strings.HasPrefix(stdout, allServers+"unstable; ") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// The digits do not depend on the number of runs at a time, in any form.
func TestSimulateJobs(t *testing.T) {
	model, _, _ := pfq("", "example", "three-servers")
	for _, args := range []string{
		"--sizes zipf --interruptions 1", "--sizes deterministic", "--policy ps", "--precision 0.1",
	} {
		for _, format := range render.Formats {
			var answers []string
			for _, jobs := range []string{"1", "2"} {
				stdout, _, status := pfqSimulate(
					model, args+" --runs 15 --jumps 1e3 --parallel "+jobs+" --format "+format,
				)
				if status != 0 {
					t.Fatalf("%s: status %d, want 0", args, status)
				}
				answers = append(answers, regexp.MustCompile(`"jumps_per_second": .*`).ReplaceAllString(stdout, ""))
			}
			if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
				t.Errorf("%s: %s", args, diff)
			}
		}
	}
}

// A simulation that repeats or extends an earlier one reuses the kept runs, and changes no digit.
func TestSimulateResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "runs")
	simulateJSON(t, oneServer, "--runs 4 --jumps 1e3 --results "+folder)
	first := commandtest.Kept(t, folder)
	if len(first) != 4 {
		t.Fatalf("%d files for 4 runs, want 4", len(first))
	}
	for path := range first {
		if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil { // no file written now has this time
			t.Fatal(err)
		}
	}
	first = commandtest.Kept(t, folder)
	fresh := simulateJSON(t, oneServer, "--runs 6 --jumps 1e3")
	more := simulateJSON(t, oneServer, "--runs 6 --jumps 1e3 --results "+folder)
	again := simulateJSON(t, oneServer, "--runs 6 --jumps 1e3 --results "+folder)
	files := commandtest.Kept(t, folder)
	for path, written := range first {
		if files[path] != written {
			t.Errorf("%s was written again", path)
		}
	}
	if len(files) != 6 || again["jumps_per_second"] != nil || !(more["jumps_per_second"].(float64) > 0) {
		t.Errorf("%d files, speeds %v and %v", len(files), more["jumps_per_second"], again["jumps_per_second"])
	}
	for _, answer := range []map[string]any{fresh, more, again} {
		delete(answer, "jumps_per_second")
	}
	if diff := cmp.Diff(fresh, more) + cmp.Diff(fresh, again); diff != "" {
		t.Error(diff)
	}
}

// A simulation with a precision ends once it is reached, or warns that it is not.
func TestSimulatePrecision(t *testing.T) {
	answer := simulateJSON(t, oneServer, "--runs 1000 --jumps 5e3 --precision 0.05")
	e := answer["mean_jobs"].(map[string]any)
	if runs := answer["runs"].(float64); !(runs < 1000) || !(e["half_width"].(float64) <= 0.05*e["mean"].(float64)) {
		t.Errorf("%v runs give %v", runs, e)
	}
	stdout, stderr, status := pfqSimulate(oneServer, "--runs 2 --jumps 1e3 --precision 1e-6 --format json")
	var want strings.Builder
	for _, w := range commandtest.ParseJSON(t, stdout)["warnings"].([]any) {
		fmt.Fprintln(&want, "pfq: warning:", w)
	}
	if status != 0 || stderr != want.String() ||
		!strings.Contains(stderr, "the relative precision 1e-06 is not reached after 2 runs") {
		t.Errorf("status %d, %q, want %q", status, stderr, want.String())
	}
}

// Sizes from a file match the distribution drawn from it, scaled; jobs of a log without a run time
// are reported.
func TestSimulateSizesOfFile(t *testing.T) {
	dir := t.TempDir()
	list, log := filepath.Join(dir, "list"), filepath.Join(dir, "log.swf")
	record := func(time string) string { return "1 0 0 " + time + strings.Repeat(" -1", 14) + "\n" }
	for name, text := range map[string]string{
		list: "; sizes\n2\n\n6\n",
		log:  "; a log\n" + record("2") + record("-1") + record("6"),
	} {
		commandtest.WriteFile(t, name, text)
	}
	model := strings.Replace(oneServer, "{", `{"mean_size": "3/2", `, 1)
	m, err := cluster.Read(strings.NewReader(model))
	if err != nil {
		t.Fatal(err)
	}
	jobSizes, err := sizes.NewEmpirical([]float64{0.75, 2.25})
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(
		t.Context(), simcluster.Cluster{Model: m, Sizes: jobSizes}, sim.Settings{Runs: 5, Jumps: 1e3, Seed: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file:" + list, "swf:" + log} {
		stdout, stderr, status := pfqSimulate(model, "--runs 5 --jumps 1e3 --format json --sizes "+name)
		if status != 0 {
			t.Fatal(stderr)
		}
		answer := commandtest.ParseJSON(t, stdout)
		if got := answer["mean_jobs"].(map[string]any)["mean"]; got != r.All(sim.MeanJobs).Mean ||
			answer["sizes"] != name {
			t.Errorf("mean jobs %v, want %v, of sizes %v", got, r.All(sim.MeanJobs).Mean, answer["sizes"])
		}
		if told := strings.Contains(stderr, log+
			": 1 job without a run time > 0 is omitted\n"); told != (name == "swf:"+log) {
			t.Error(stderr)
		}
	}
}

// Bad usage and bad input: status 2, one line on the standard error, nothing on the standard
// output, no file.
func TestSimulateBadUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"good.json":  oneServer,
		"none.json":  strings.Replace(oneServer, `"1/2"`, `0`, 1),
		"tiny.json":  strings.Replace(oneServer, "{", `{"mean_size": "1e-99", `, 1),
		"words.txt":  "1\ntwo\n",
		"empty.txt":  "; nothing\n",
		"random.txt": "1 2 3\n",
	} {
		commandtest.WriteFile(t, name, text)
	}
	for _, c := range []struct{ args, want string }{
		{"", "pfq: simulate takes one MODEL, a file or - for the standard input, not 0 arguments\n"},
		{
			"good.json --scale 1,0",
			"pfq: --scale = 0: want factors > 0: without arrivals there is nothing to simulate\n",
		},
		{"absent.json", "pfq: absent.json: no such file or directory\n"},
		{
			"none.json",
			"pfq: none.json: classes = arrival rates that are all 0: want a class with an arrival rate > 0\n",
		},
		{"tiny.json", "pfq: tiny.json:1: mean_size = \"1e-99\": want "},
		{"good.json --sizes file:absent.txt", "pfq: --sizes: absent.txt: no such file or directory\n"},
		{"good.json --sizes file:.", "pfq: .: is a directory\n"},
		{"good.json --sizes file:words.txt", "pfq: words.txt:2: size = two: want a number in "},
		{
			"good.json --sizes file:random.txt",
			"pfq: random.txt:1: size = 1 2 3: want a number in [1e-300, 1e300], one per line\n",
		},
		{"good.json --sizes file:empty.txt", "pfq: empty.txt: want one size per line, not a file without sizes\n"},
		{
			"good.json --policy interrupt",
			"pfq: --interruptions is missing: want a number in [1e-6, 1e6], with --policy interrupt\n",
		},
		{"good.json --policy ps --interruptions 1", "pfq: --policy = ps: want interrupt, with --interruptions\n"},
		{"good.json --policy fcfs --interruptions 1", "pfq: --policy = fcfs: want interrupt, with --interruptions\n"},
		{"good.json --horizon 10 --jumps 1e5", "pfq: --horizon and --jumps cannot be combined\n"},
		{"good.json --horizon 10 --warmup 0", "pfq: --horizon and --warmup cannot be combined\n"},
		{"good.json --results words.txt", "pfq: --results = words.txt: not a directory\n"},
		{"good.json --runs 2 --jumps 1000 -o absent/answer", "pfq: absent/answer: the folder absent does not exist\n"},
		{"good.json --run 3", "pfq: unknown flag: --run; did you mean --runs?\n"},
	} {
		stdout, stderr, status := pfq("", append([]string{"simulate"}, strings.Fields(c.args)...)...)
		if strings.Contains(c.args, "absent/answer") {
			stderr = strings.Join(regexp.MustCompile(`(?m)^pfq: warning: .*\n`).Split(stderr, -1), "")
		}
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, c.want) || strings.Count(stderr, "\n") != 1 ||
			!strings.HasSuffix(stderr, "\n") {
			t.Errorf("pfq simulate %s: status %d, stdout %q, stderr %q, want %q",
				c.args, status, stdout, stderr, c.want)
		}
	}
	checkFlags(t, "simulate good.json", []badFlag{
		{"--sizes", cli.OneOf(command.SizeNames()), "gamma"},
		{"--sizes", cli.OneOf(command.SizeNames()) + "; did you mean lognormal:SCV?", "normal"},
		{"--sizes", cli.OneOf(command.SizeNames()) + "; did you mean swf:PATH?", "swf:"},
		{"--sizes", cli.OneOf(command.SizeNames()) + "; did you mean weibull:SHAPE?", "weibul:2 weibull2"},
		{"--sizes", cli.OneOf(command.SizeNames()) + "; did you mean bimodal?", "bimodel"},
		{"--sizes", "erlang:K with K an integer in 1..1000000", "erlang erlang:0"},
		{"--sizes", "pareto:ALPHA with ALPHA in (1, 1e9]", "pareto:1"},
		{"--sizes", "the name of a distribution of job sizes", ""},
		{"--policy", "fcfs, interrupt or ps", "lifo"},
		{"--interruptions", "a number in [1e-6, 1e6]", "0 NaN"},
		{"--runs", "an integer in 2..1000000", "1 1e2"},
		{"--jumps", "a number in [1000, 1e15]", "999 1e16 many"},
		{"--warmup", "a number in [0, 1e15]", "-1 NaN none"},
		{"--seed", "an integer in 0..18446744073709551615", "-1"},
		{"--precision", "a number > 0 and < 1", "0 1"},
		{"--horizon", "a number in [1e-300, 1e300]", "0 Inf"},
		{"--horizon", "a number in [1e-300, 1e300]; write 1.5, without h", "1.5h"},
		{"--distribution", "an integer in 1..100000", "0 100001"},
		{"--confidence", "a number > 0 and <= 0.999999", "1 NaN"},
		{"--parallel", "an integer in 1..10000", "0"},
		{"--results", "a folder", ""},
		{"--format", "text, json or csv", "xml"},
	})
	if files, err := os.ReadDir("."); err != nil || len(files) != 6 {
		t.Errorf("files %v were left, error %v", files, err)
	}
}

// If classes differ in mean size, exact values are those of processor sharing, not FCFS, and the
// answers explain why; with a single mean size there is no such note. Unscaled sizes are rejected.
func TestOwnMeanSizes(t *testing.T) {
	model, _, _ := pfq("", "example", "warehouse")
	const same = `{"servers": [{"name": "s", "capacity": 4}],
		"classes": [{"name": "a", "arrival_rate": 1, "mean_size": 2, "servers": ["s"]},
		{"name": "b", "arrival_rate": "1/2", "mean_size": 2, "servers": ["s"]}]}`
	for _, c := range []struct {
		model, args string
		exact       bool
		note        any
	}{
		{
			model, "--policy ps --sizes zipf", true,
			"mean sizes differ by class: the sizes of each are scaled to its own",
		},
		{model, "", false, "mean sizes differ by class: the sizes of each are scaled to its own, and " +
			"first come, first served has no exact values"},
		{same, "", true, nil},
	} {
		text, stderr, status := pfq(
			c.model,
			append(strings.Fields("simulate - --runs 3 --jumps 5000 --format json "), strings.Fields(c.args)...)...,
		)
		var answer map[string]any
		if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 0 {
			t.Fatalf("%s: status %d, %v, %s", c.args, status, err, stderr)
		}
		class := answer["classes"].([]any)[0].(map[string]any)
		if _, exact := class["mean_jobs"].(map[string]any)["exact"].(float64); exact != c.exact ||
			answer["note"] != c.note || class["mean_size"] == nil {
			t.Errorf("%s: exact %v, note %v, class %v", c.args, exact, answer["note"], class)
		}
	}
	want := "pfq: standard input:12: classes[0].mean_size = 0.5: want no mean size of a class with " +
		"--keep-sizes, which scales no sizes\n"
	if stdout, stderr, status := pfq(
		model, "simulate", "-", "--sizes", "bounded-pareto:1.5:1:100", "--keep-sizes",
	); status != 2 ||
		stdout != "" || stderr != want {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}
