package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cluster"
	"productform/cmd/pfq/internal/commandtest"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

const onePerJob = `
servers: [{name: fast, capacity: 2}, {name: slow, capacity: 1, count: 3}]
classes:
- {name: web, arrival_rate: 2, servers: [fast, slow], priority: 1}
- {name: batch, arrival_rate: 1, servers: [slow]}
- {name: two, arrival_rate: 0.3, servers: [{group: slow, choose: 2}]}
service: one
`

// At capacity 4 two policies are stable, but jobs that see one server overload the slow ones.
const oneOverloaded = `
servers: [{name: fast, capacity: 3}, {name: slow, capacity: 1, count: 2}]
classes: [{name: web, arrival_rate: 3.5, servers: [fast, slow]}, {name: other, arrival_rate: 0.1, servers: [fast]}]
service: one
`

// The numbers are those of sim.Run, next to the exact values of one server per job where there are
// some.
func TestSimulateOneServer(t *testing.T) {
	m, err := cluster.Read(strings.NewReader(onePerJob))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		policy simcluster.Policy
		shape  string
		exact  bool
		note   any
	}{
		{"", simcluster.LongestIdle, "exponential", true,
			"priorities have no effect under the policy longest-idle"},
		{"--policy least-work", simcluster.LeastWork, "exponential", true,
			"priorities have no effect under the policy least-work"},
		{"--policy priority", simcluster.Priority, "exponential", false, "the policy priority has no exact values"},
		{"--policy power:2", simcluster.Power(2), "exponential", false,
			"the policy power:2 has no exact values, and priorities have no effect under the policy power:2"},
		{"--sizes deterministic --policy longest-idle", simcluster.LongestIdle, "deterministic", false,
			"one server per job has exact values only for exponential sizes with one mean, and " +
				"priorities have no effect under the policy longest-idle"},
	} {
		answer := simulateJSON(t, onePerJob, "--runs 10 --jumps 5e3 --percentiles 95 --distribution 2 "+c.args)
		d, err := sizes.Parse(c.shape, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(t.Context(), simcluster.Cluster{Model: m, Policy: c.policy, Sizes: d},
			sim.Settings{Runs: 10, Jumps: 5e3, Seed: 1, Distribution: 2, Levels: []float64{0.95}})
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		near := func(what string, value any, e *sim.Estimate, exact bool) {
			t.Helper()
			v := value.(map[string]any)
			if v["mean"] != e.Mean {
				t.Errorf("%s: %s is %v, want %v", c.args, what, v, e)
			}
			if v["exact"] != nil != exact {
				t.Errorf("%s: %s is %v", c.args, what, v)
			}
			if z, ok := v["z"].(float64); ok {
				compared++
				if math.Abs(z) > 5.5 { // a standard normal variable exceeds this with probability 4e-8
					t.Errorf("%s: %s is %v", c.args, what, v)
				}
			}
		}
		exact := c.exact
		for _, key := range []string{"mean_jobs", "mean_queue", "wait_probability", "mean_waiting", "mean_delay"} {
			near(key, answer[key], r.All(key), exact)
		}
		for i, row := range answer["classes"].([]any) {
			class := row.(map[string]any)
			for _, key := range []string{"mean_jobs", "mean_queue", "wait_probability", "mean_waiting",
				"measured_waiting", "mean_delay", "measured_delay"} {
				near(key, class[key], r.Class(i, key), exact)
			}
			for k, row := range class["served_by"].([]any) {
				served := row.(map[string]any)
				choice := m.Classes[i].Servers[k].Server
				if served["server"] != m.Servers[choice].Name {
					t.Errorf("%s: served by %v", c.args, served)
				}
				near("share", served["share"], r.Estimate(simcluster.OfServing, 2*i+choice, simcluster.ServedBy), exact)
			}
			for key, kind := range map[string]sim.Kind{"waiting": sim.OfVisit, "delay": sim.OfClass} {
				p := class[key].(map[string]any)["p95"].(map[string]any)
				if p["estimate"] != r.Quantile(kind, i, 0.95).Value || (p["exact"] != nil) != exact {
					t.Errorf("%s: %s is %v", c.args, key, p)
				}
			}
		}
		for k, row := range answer["servers"].([]any) {
			near("utilization", row.(map[string]any)["utilization"], r.Server(k, sim.Utilization), exact)
		}
		for n, p := range answer["jobs_distribution"].([]any) {
			near("distribution", p, &r.Distribution[n], exact)
		}
		p := answer["waiting"].(map[string]any)["p95"].(map[string]any)
		if p["estimate"] != r.Quantile(sim.OfVisit, 3, 0.95).Value {
			t.Errorf("%s: waiting of all jobs %v", c.args, p)
		}
		if answer["note"] != c.note || answer["service"] != "one" || answer["policy"] != string(c.policy) {
			t.Errorf("%s: %v", c.args, answer)
		}
		if exact && compared < 20 {
			t.Errorf("%s: %d comparisons", c.args, compared)
		}
	}
}

// Several policies give a list of the answers that each gives alone, and one table of text.
func TestSimulatePolicies(t *testing.T) {
	const args = "--runs 3 --jumps 2e3 --percentiles 90 --policy "
	policies := []string{"longest-idle", "fastest-idle", "jsq", "preemptive-priority"}
	var want []any
	for _, policy := range policies {
		one := simulateJSON(t, onePerJob, args+policy)
		delete(one, "jumps_per_second")
		want = append(want, one)
	}
	joined := strings.Join(policies, ",")
	answer := simulateJSON(t, onePerJob, args+joined+",jsq")
	got := answer["policies"].([]any)
	for _, one := range got {
		delete(one.(map[string]any), "jumps_per_second")
	}
	if diff := cmp.Diff(want, got); diff != "" || len(answer) != 1 {
		t.Error(diff)
	}
	text, stderr, status := pfqSimulate(onePerJob, args+joined)
	lines := strings.Split(text, "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "policy ") })
	if at < 0 || status != 0 || !strings.HasPrefix(lines[0], "each job runs on one of its servers") {
		t.Fatalf("status %d, %s", status, text)
	}
	if columns := strings.Fields(lines[at]); strings.Join(columns, " ") !=
		"policy class wait probability mean waiting mean delay" {
		t.Error(lines[at])
	}
	for k, policy := range policies {
		for i, class := range []string{"all classes ", "web ", "batch ", "two "} {
			row := lines[at+1+4*k+i]
			if !strings.HasPrefix(row, policy) || !strings.Contains(row, class) {
				t.Errorf("row %q, want %s of %s", row, class, policy)
			}
		}
	}
	for line := range strings.Lines(stderr) {
		if !slices.ContainsFunc(policies, func(p string) bool {
			return strings.HasPrefix(line, "pfq: warning: "+p+": ")
		}) {
			t.Errorf("stderr %q", line)
		}
	}
}

// A policy under which the model is unstable is explained, with the classes that see too few
// servers, alone or next to others; over a horizon it is simulated.
func TestSimulateUnstablePolicy(t *testing.T) {
	text, _, status := pfqSimulate(oneOverloaded, "--policy power:1")
	if status != 1 || !strings.HasSuffix(text, "bottleneck  web/1: work 2.33333 on capacity 2\n") {
		t.Errorf("status %d, %s", status, text)
	}
	answer, _, status := pfqSimulate(oneOverloaded, "--policy power:1,jsq --runs 3 --jumps 2000 --format json")
	list := commandtest.ParseJSON(t, answer)["policies"].([]any)
	first, second := list[0].(map[string]any), list[1].(map[string]any)
	if status != 1 || first["policy"] != "power:1" || first["stable"] != false || first["bottleneck"] == nil ||
		second["stable"] != true || second["classes"] == nil {
		t.Errorf("status %d, %s", status, answer)
	}
	text, _, status = pfqSimulate(oneOverloaded, "--policy power:1,jsq --runs 3 --horizon 100")
	if status != 0 || !strings.Contains(text, "\nunstable under power:1; sizes exponential; ") ||
		!strings.Contains(text, "measured waiting  measured delay") {
		t.Errorf("status %d, %s", status, text)
	}
}

// Policies of the other service, and flags without a meaning for one server per job, are rejected.
func TestSimulateOneServerBadUsage(t *testing.T) {
	const names = "one of longest-idle, fastest-idle, random-idle, jsq, least-work, priority, preemptive-priority, " +
		"power:D with service one"
	for _, c := range []struct{ model, args, want string }{
		{onePerJob, "--policy fcfs", "--policy = fcfs: want " + names},
		{onePerJob, "--policy jsq,fastest-idel",
			"--policy[1] = fastest-idel: want " + names + "; did you mean fastest-idle?"},
		{onePerJob, "--policy power:0", "--policy = power:0: want power:D, D an integer from 1 to 1048576"},
		{onePerJob, "--policy jsq,", "--policy[1] is missing: want " + names},
		{onePerJob, "--interruptions 2", "--interruptions = 2: want a model with service: all"},
		{oneServer, "--policy jsq", "--policy = jsq: want fcfs, interrupt or ps"},
		{oneServer, "--policy fcfs,ps", "--policy = fcfs,ps: want fcfs, interrupt or ps"},
	} {
		stdout, stderr, status := pfqSimulate(c.model, c.args)
		if status != 2 || stdout != "" || stderr != "pfq: "+c.want+"\n" {
			t.Errorf("%s: status %d, %s, want %s", c.args, status, stderr, c.want)
		}
	}
}

// If the model has patience, jobs give up, and an overload by such jobs is no reason to reject it.
func TestSimulatePatience(t *testing.T) {
	heavy := strings.ReplaceAll(onePerJob, "arrival_rate: 1,", "arrival_rate: 9,")
	answer := simulateJSON(t, heavy+"mean_patience: 2\n", "--runs 3 --jumps 5e3 --policy power:1")
	if answer["abandon_probability"].(map[string]any)["mean"].(float64) < 0.3 {
		t.Errorf("%v", answer["abandon_probability"])
	}
	for _, row := range answer["classes"].([]any) {
		if row.(map[string]any)["abandon_probability"] == nil {
			t.Errorf("%v", row)
		}
	}
	answer = simulateJSON(t, onePerJob, "--runs 3 --jumps 5e3")
	if _, has := answer["abandon_probability"]; has {
		t.Errorf("%v", answer)
	}
}

// Estimates of jobs that give up are next to the exact values under longest-idle, which is the only
// policy that has some.
func TestSimulatePatienceExact(t *testing.T) {
	model := onePerJob + "mean_patience: 2\n"
	answer := simulateJSON(t, model, "--runs 5 --jumps 1e4 --percentiles 90 --seed 1")
	compared := 0
	var count func(v any)
	count = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if z, ok := v["z"].(float64); ok {
				compared++
				if z > 6 || z < -6 { // Student's t with 4 degrees of freedom, and a fixed seed
					t.Errorf("%v", v)
				}
			}
			for _, x := range v {
				count(x)
			}
		case []any:
			for _, x := range v {
				count(x)
			}
		}
	}
	count(answer)
	if compared < 20 {
		t.Errorf("%d comparisons: %v", compared, answer)
	}
	row := answer["classes"].([]any)[0].(map[string]any)
	for _, name := range []string{"mean_jobs", "mean_queue", "wait_probability", "abandon_probability", "mean_waiting",
		"mean_delay"} {
		if row[name].(map[string]any)["exact"] == nil {
			t.Errorf("%s has no exact value: %v", name, row)
		}
	}
	for _, policy := range []string{"least-work", "jsq"} {
		answer := simulateJSON(t, model, "--runs 3 --jumps 2000 --policy "+policy)
		compared = 0
		count(answer)
		if want := "the policy " + policy + " has no exact values"; compared > 0 ||
			!strings.Contains(answer["note"].(string), want) {
			t.Errorf("%s: %d comparisons, %v", policy, compared, answer["note"])
		}
	}
}

// TestPatienceFlag checks that --patience is the field patience of every class, and its errors.
func TestPatienceFlag(t *testing.T) {
	const runs = "--runs 3 --jumps 2e4 --format json"
	patient := strings.Replace(gpus, "service: one", "service: one\nmean_patience: 0.2", 1)
	inFile := strings.Replace(patient, "mean_patience: 0.2", "mean_patience: 0.2\npatience: deterministic", 1)
	want, _, status := pfqSimulate(inFile, runs)
	got, _, _ := pfqSimulate(patient, runs+" --patience deterministic")
	cut := func(text string) string {
		return text[strings.Index(text, `"classes"`):strings.Index(text, `"jumps_per_second"`)]
	}
	if status != 0 || cut(got) != cut(want) || !strings.Contains(got, `"patience": "deterministic"`) {
		t.Errorf("status %d, %s, want %s", status, got, want)
	}
	for _, c := range []struct{ model, value, want string }{
		{patient, "soon", "pfq: --patience = soon: want exponential, deterministic, "},
		{patient, "file:patience.txt", "pfq: --patience = file:patience.txt: want exponential, deterministic, "},
		{gpus, "deterministic", "pfq: --patience = deterministic: want a model with mean_patience\n"},
	} {
		if _, stderr, status := pfqSimulate(c.model, "--patience "+c.value); status != 2 ||
			!strings.HasPrefix(stderr, c.want) {
			t.Errorf("--patience %s: status %d, %s", c.value, status, stderr)
		}
	}
}
