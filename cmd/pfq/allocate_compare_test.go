package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/fluid"
)

// One answer for all policies equals the separate answers, in JSON and in CSV; text names every
// policy.
func TestAllocateAllPolicies(t *testing.T) {
	const pool = `{"resources": [{"name": "cpu", "capacity": 9}, {"name": "ram", "capacity": 18}], "jobs": [
		{"name": "a", "demand": {"cpu": 1, "ram": 4}, "max_tasks": 3},
		{"name": "b", "demand": {"cpu": 3, "ram": 1}, "count": 2}]}`
	for _, c := range []struct{ model, args string }{
		{pool, "--audit"}, {pool, "--engine float"}, {oneTraffic, "--dynamic"},
	} {
		all := allocateJSON(t, c.model, c.args+" --policy all")["policies"].([]any)
		text, stderr, status := runAllocate(
			c.model, append([]string{"allocate", "-", "--policy", "all"}, strings.Fields(c.args)...)...,
		)
		if status != 0 || stderr != "" {
			t.Fatal(status, stderr)
		}
		table, _, _ := runAllocate(c.model,
			append([]string{"allocate", "-", "--policy", "all", "--format", "csv"}, strings.Fields(c.args)...)...)
		lines, err := csv.NewReader(strings.NewReader(table)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range fluid.Policies() {
			if diff := cmp.Diff(allocateJSON(t, c.model, c.args+" --policy "+string(p)), all[i]); diff != "" {
				t.Errorf("%s: -one +of all: %s", p, diff)
			}
			if !strings.Contains(text, string(p)+" ") || !strings.Contains(text, p.Words()) {
				t.Errorf("%s is missing in\n%s", p, text)
			}
			if !slices.ContainsFunc(lines, func(l []string) bool { return l[0] == string(p) }) {
				t.Errorf("%s is missing in\n%s", p, table)
			}
		}
	}
}

// Balanced fairness rejects unequal weights, but the other policies answer. An overload affects all
// policies. Simulations and engines that only some policies support are rejected.
func TestAllocateAllPoliciesRefused(t *testing.T) {
	weights :=
		`{"resources": [{"name": "cpu", "capacity": 9}], "jobs": [{"name": "a", "demand": {"cpu": 1}, "weight": 2}, ` +
			`{"name": "b", "demand": {"cpu": 3}}]}`
	all := allocateJSON(t, weights, "--policy all")["policies"].([]any)
	if last := all[4].(map[string]any); last["policy"] != "bf" ||
		!strings.Contains(last["refused"].(string), "jobs[1].weight = 1: want the same weight") {
		t.Error(last)
	}
	if stdout, _, status := runAllocate(weights, "allocate", "-", "--policy", "all"); status != 0 ||
		!strings.Contains(stdout, "bf      balanced fairness; no answer: jobs[1].weight") {
		t.Error(stdout)
	}
	const far = `{"resources": [{"name": "cpu", "capacity": 1e300}], "jobs": [{"name": "a", "demand": {"cpu": 1}}]}`
	if stdout, stderr, _ := runAllocate(far, "allocate", "-", "--policy", "pf,drf"); !strings.Contains(
		stdout, "no answer: jobs[0].demand.cpu = 1: want fractions") {
		t.Error(stdout, stderr)
	}
	_, stderr, status := runAllocate(weights, "allocate", "-", "--policy", "pf,drf,pf")
	if status != 2 || stderr != "pfq: --policy[2] = pf: want each policy once\n" {
		t.Errorf("status %d, %s", status, stderr)
	}
	overload := strings.Replace(oneTraffic, `"arrival_rate": 0.5`, `"arrival_rate": 50`, 1)
	if stdout, _, status := runAllocate(
		overload, "allocate", "-", "--dynamic", "--policy", "all", "--format", "json",
	); status != 1 ||
		!strings.Contains(stdout, `"stable": false`) {
		t.Error(status, stdout)
	}
	for args, want := range map[string]string{
		"--policy all --engine exact": "--engine = exact: want auto or float with --policy all",
		"--policy all,pf":             "--policy = all,pf: want all alone, or a list without it",
		"--policy drf,fair":           "--policy = fair: want pf, drf, maxmin, bmf, bf or all",
	} {
		if _, stderr, status := runAllocate(
			oneTraffic, append([]string{"allocate", "-"}, strings.Fields(args)...)...,
		); status != 2 ||
			!strings.Contains(stderr, want) {
			t.Error(status, stderr)
		}
	}
}

// A list gives the answers of the listed policies in that order. Runs and text are the same as for
// each policy alone.
func TestAllocatePolicyList(t *testing.T) {
	const args = "--dynamic --runs 10 --jumps 1e3 --percentiles 50"
	list := allocateJSON(t, oneTraffic, args+" --policy drf,pf")["policies"].([]any)
	text, _, _ := runAllocate(
		oneTraffic, append(strings.Fields("allocate - --policy drf,pf"), strings.Fields(args)...)...,
	)
	var texts []string
	for i, policy := range []string{"drf", "pf"} {
		alone := allocateJSON(t, oneTraffic, args+" --policy "+policy)
		for _, a := range []any{alone, list[i]} {
			delete(a.(map[string]any), "jumps_per_second")
		}
		if diff := cmp.Diff(alone, list[i]); diff != "" {
			t.Errorf("%s: -alone +of the list: %s", policy, diff)
		}
		one, _, _ := runAllocate(
			oneTraffic, append(strings.Fields("allocate - --policy "+policy), strings.Fields(args)...)...,
		)
		texts = append(texts, one)
	}
	if want := strings.Join(texts, "\n"); len(list) != 2 || text != want {
		t.Errorf("%d answers, %s", len(list), cmp.Diff(want, text))
	}
	got := allocateJSON(
		t, `{"resources": [{"name": "cpu", "capacity": 9}], "jobs": [{"name": "a", "demand": {"cpu": 1}}]}`,
		"--policy maxmin,drf --engine exact",
	)
	if n := len(got["policies"].([]any)); n != 2 {
		t.Errorf("%d answers, want 2", n)
	}
}

// The reported lie gains what the audit states. An allocation with the declared profile confirms
// it: with each declared task, of 3 processors and 1 GB, render does the work of one real task.
func TestAllocateLieWitness(t *testing.T) {
	const pool = `{"resources": [{"name": "cpu", "capacity": 9}, {"name": "ram", "capacity": 18}], "jobs": [
		{"name": "search", "demand": {"cpu": 1, "ram": 4}}, {"name": "render", "demand": {"cpu": 3, "ram": 1}}]}`
	for policy, proof := range map[string]any{"pf": false, "bmf": false, "drf": true, "bf": true} {
		check := allocateJSON(t, pool, "--audit --policy "+policy)["audit"].(map[string]any)
		if check["lie_proof"] != proof {
			t.Fatalf("%s: lie_proof is %v, want %v", policy, check["lie_proof"], proof)
		}
		if proof == true {
			continue
		}
		lie := check["lie"].(map[string]any)
		declared := lie["declared"].(map[string]any)
		if len(declared) != 1 || lie["job"] != "render" {
			t.Fatal(lie)
		}
		told := strings.Replace(pool, `"cpu": 3, "ram": 1`, fmt.Sprintf(`"cpu": 3, "ram": %v`, declared["ram"]), 1)
		tasks := allocateJSON(t, told, "--policy "+policy)["jobs"].([]any)[1].(map[string]any)["tasks"].(float64)
		if with := lie["with_lie"].(float64); math.Abs(with-tasks) > 1e-9 || !(with > lie["tasks"].(float64)) {
			t.Errorf("%s: %v, but an allocation has %v tasks", policy, lie, tasks)
		}
	}
	limited := strings.Replace(pool, `"ram": 1}`, `"ram": 1}, "max_tasks": 2`, 1)
	if stdout, _, _ := runAllocate(limited, "allocate", "-", "--audit"); !strings.Contains(
		stdout, "lie-proof          not checked: some job has max_tasks\n",
	) {
		t.Error(stdout)
	}
}
