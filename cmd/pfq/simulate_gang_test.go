package main

import (
	"math"
	"strings"
	"testing"

	"productform/cluster"
	"productform/cmd/pfq/internal/commandtest"
	"productform/dispatch/rigid"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

const threeGangs = `
service: gang
servers: [{name: gpu, count: 16}]
classes:
- {name: small, arrival_rate: 2, servers: [gpu], needs: 1}
- {name: medium, arrival_rate: 0.6, servers: [gpu], needs: 4}
- {name: large, arrival_rate: 0.1, servers: [gpu], needs: 16, mean_size: 2}
`

// Two resources, of which memory is the scarcer one.
const gangsOfTwo = `
service: gang
servers: [{name: gpu, count: 16}, {name: memory, count: 100}]
classes:
- {name: small, arrival_rate: 2, needs: {gpu: 1, memory: 10}}
- {name: large, arrival_rate: 0.3, needs: {gpu: 8, memory: 80}}
`

// The numbers are those of sim.Run, next to the exact values of first come, first served.
func TestSimulateGang(t *testing.T) {
	m, err := cluster.Read(strings.NewReader(threeGangs))
	if err != nil {
		t.Fatal(err)
	}
	const note = "the largest stable load depends on the policy and on the distribution of sizes"
	const sizesNote = "mean sizes differ by class: the sizes of each are scaled to its own, and "
	for _, c := range []struct {
		args     string
		policy   simcluster.Policy
		shape    string
		requests rigid.Requests
		stable   any
		why      string
	}{
		{"", simcluster.FCFS, "exponential", rigid.Requests{}, true, ""},
		{"--sizes deterministic", simcluster.FCFS, "deterministic", rigid.Requests{}, nil,
			"first come, first served has exact values for exponential sizes only, and "},
		{"--policy server-filling", simcluster.ServerFilling, "exponential", rigid.Requests{}, true,
			"the policy server-filling has no exact values, and "},
		{"--policy easy --requests uniform:5", simcluster.EASY, "exponential",
			rigid.Requests{Factor: 5, Uniform: true}, nil, "the policy easy has no exact values, and "},
	} {
		answer := simulateJSON(t, threeGangs, "--runs 10 --jumps 5e3 --percentiles 95 "+c.args)
		d, err := sizes.Parse(c.shape, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(t.Context(), simcluster.Cluster{Model: m, Policy: c.policy, Sizes: d, Requests: c.requests},
			sim.Settings{Runs: 10, Jumps: 5e3, Seed: 1, Levels: []float64{0.95}})
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, value any, e *sim.Estimate) {
			t.Helper()
			v := value.(map[string]any)
			z, exact := v["z"].(float64)
			if v["mean"] != e.Mean || exact != (c.args == "") {
				t.Errorf("%s: %s is %v, want %v", c.args, what, v, e)
			}
			if math.Abs(z) > 5.5 { // a standard normal variable exceeds this with probability 4e-8
				t.Errorf("%s: %s is %v", c.args, what, v)
			}
		}
		keys := []string{"mean_jobs", "mean_queue", "wait_probability", "mean_waiting", "measured_waiting",
			"mean_delay", "measured_delay"}
		for _, key := range keys {
			near(key, answer[key], r.All(key))
			for i, row := range answer["classes"].([]any) {
				near(key, row.(map[string]any)[key], r.Class(i, key))
			}
		}
		gpu := answer["servers"].([]any)[0].(map[string]any)
		near("utilization", gpu["utilization"], r.Server(0, sim.Utilization))
		near("mean busy", gpu["mean_busy"], r.Server(0, simcluster.MeanBusy))
		p := answer["waiting"].(map[string]any)["p95"].(map[string]any)
		if p["estimate"] != r.Quantile(sim.OfVisit, 3, 0.95).Value {
			t.Errorf("%s: waiting of all jobs %v", c.args, p)
		}
		if answer["note"] != sizesNote+c.why+note || answer["stable"] != c.stable || answer["service"] != "gang" {
			t.Errorf("%s: note %v, stable %v", c.args, answer["note"], answer["stable"])
		}
		if requests, has := answer["requests"]; has != c.policy.HasRequests() || has && requests != "uniform:5" {
			t.Errorf("%s: requests %v", c.args, requests)
		}
	}
}

// Several policies give a list of the answers that each gives alone, and one table of text.
func TestSimulateGangPolicies(t *testing.T) {
	const args = "--runs 3 --jumps 2e3 "
	policies := simcluster.PolicyNames(cluster.Gang)
	all := "--policy " + strings.Join(policies, ",")
	list := simulateJSON(t, threeGangs, args+all)["policies"].([]any)
	for k, policy := range policies {
		alone := simulateJSON(t, threeGangs, args+"--policy "+policy)
		got := list[k].(map[string]any)
		if got["policy"] != policy || got["classes"] == nil || got["servers"] == nil ||
			got["mean_jobs"].(map[string]any)["mean"] != alone["mean_jobs"].(map[string]any)["mean"] {
			t.Errorf("%s: %v, alone %v", policy, got, alone)
		}
	}
	text, _, status := pfqSimulate(threeGangs, args+all+" --requests 2")
	for _, want := range []string{
		"each job holds all the servers that it needs from its start to its end\nstability not known under " +
			"first-fit, easy, conservative, most-servers-first; stable under fcfs, server-filling; sizes " +
			"exponential, requested times 2; calendar of events\n",
		"\nthe largest stable load depends on the policy and on the distribution of sizes\n",
		"\npolicy              class        wait probability  mean waiting ",
		"\npolicy              server  count  utilization ",
	} {
		if status != 0 || !strings.Contains(text, want) {
			t.Errorf("status %d, want %q in %s", status, want, text)
		}
	}
	text, _, status = pfqSimulate(gangsOfTwo, args+"--policy fcfs,first-fit")
	if status != 0 || strings.Count(text, "\nfirst-fit  memory ") != 1 {
		t.Errorf("status %d, %s", status, text)
	}
}

// No policy is simulated beyond the limit of work, and FCFS not beyond its own limit if that is known,
// except over a horizon.
func TestSimulateGangUnstable(t *testing.T) {
	over := strings.ReplaceAll(threeGangs, "arrival_rate: 2,", "arrival_rate: 20,")
	text, _, status := pfqSimulate(over, "--policy easy")
	if want := "unstable: jobs arrive at rate 20.7, and no policy carries more than 12.9375, at which all of \"gpu\" " +
		"is busy\n"; status != 1 || !strings.HasSuffix(text, want) {
		t.Errorf("status %d, %s, want %s", status, text, want)
	}
	blocked := strings.ReplaceAll(threeGangs, "arrival_rate: 0.1,", "arrival_rate: 0.3,")
	text, _, status = pfqSimulate(blocked, "")
	if status != 1 || !strings.Contains(text, "unstable: jobs arrive at rate 2.9, and the limit is 2.") ||
		!strings.Contains(text, "under first come, first served") {
		t.Errorf("status %d, %s", status, text)
	}
	answer, _, status := pfqSimulate(blocked, "--policy fcfs,server-filling --runs 3 --jumps 2000 --format json")
	list := commandtest.ParseJSON(t, answer)["policies"].([]any)
	first, second := list[0].(map[string]any), list[1].(map[string]any)
	if status != 1 || first["stable"] != false || first["throughput_limit"] == nil ||
		len(first["bottleneck"].([]any)) != 3 || second["stable"] != true || second["classes"] == nil {
		t.Errorf("status %d, %s", status, answer)
	}
	text, _, status = pfqSimulate(blocked, "--policy fcfs,easy --runs 3 --horizon 100")
	if status != 0 || !strings.Contains(text, "\nunstable under fcfs; stability not known under easy; sizes ") {
		t.Errorf("status %d, %s", status, text)
	}
	// under other distributions of sizes the runs show it
	_, stderr, status := pfqSimulate(blocked, "--sizes erlang:2 --runs 10 --jumps 2e4")
	if status != 0 || !strings.Contains(stderr, "pfq: warning: the cluster looks unstable under the policy fcfs: ") {
		t.Errorf("status %d, %s", status, stderr)
	}
	_, stderr, _ = pfqSimulate(threeGangs, "--runs 10 --jumps 2e4")
	if strings.Contains(stderr, "looks unstable") {
		t.Error(stderr)
	}
}

func TestSimulateGangBadUsage(t *testing.T) {
	names := "one of " + strings.Join(simcluster.PolicyNames(cluster.Gang), ", ") + " with service gang"
	const noRequests = ": want the --policy easy or conservative, and a model with service: gang"
	for _, c := range []struct{ model, args, want string }{
		{threeGangs, "--policy jsq", "--policy = jsq: want " + names},
		{threeGangs, "--policy fcfs,conservativ",
			"--policy[1] = conservativ: want " + names + "; did you mean conservative?"},
		{threeGangs, "--interruptions 2", "--interruptions = 2: want a model with service: all"},
		{threeGangs, "--requests 2", "--requests = 2" + noRequests},
		{onePerJob, "--requests 1", "--requests = 1" + noRequests},
		{threeGangs, "--policy easy --requests log", "--requests = log: want F or uniform:F with 1 <= F <= 1e50"},
		{threeGangs, "--policy easy --requests 0.5", "--requests = 0.5: want F or uniform:F with 1 <= F <= 1e50"},
		{gangsOfTwo, "--policy most-servers-first", "--policy = most-servers-first: want fcfs or first-fit for " +
			`several resources, here "gpu" and "memory"; the other policies need one row of servers`},
		{strings.ReplaceAll(threeGangs, "needs: 4", "needs: 3"), "--policy server-filling",
			"--policy = server-filling: want a policy other than server-filling, which requires needs that are " +
				`powers of two and divide the number of servers, 16: class "medium" needs 3`},
	} {
		stdout, stderr, status := pfqSimulate(c.model, c.args)
		if status != 2 || stdout != "" || stderr != "pfq: "+c.want+"\n" {
			t.Errorf("%s: status %d, %s, want %s", c.args, status, stderr, c.want)
		}
	}
}
