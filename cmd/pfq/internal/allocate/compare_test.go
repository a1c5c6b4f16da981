package allocate

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/fluid"
)

// All policies in one answer are the answers of each, in JSON and in CSV; text names them all.
func TestAllocateAllPolicies(t *testing.T) {
	const pool = `{"resources": [{"name": "cpu", "capacity": 9}, {"name": "ram", "capacity": 18}], "jobs": [
		{"name": "a", "demand": {"cpu": 1, "ram": 4}, "max_tasks": 3}, {"name": "b", "demand": {"cpu": 3, "ram": 1}, "count": 2}]}`
	for _, c := range []struct{ model, args string }{{pool, "--audit"}, {pool, "--engine float"}, {oneTraffic, "--dynamic"}} {
		all := allocateJSON(t, c.model, c.args+" --policy all")["policies"].([]any)
		text, stderr, status := pfq(c.model, append([]string{"allocate", "-", "--policy", "all"}, strings.Fields(c.args)...)...)
		if status != 0 || stderr != "" {
			t.Fatal(status, stderr)
		}
		table, _, _ := pfq(c.model, append([]string{"allocate", "-", "--policy", "all", "--format", "csv"}, strings.Fields(c.args)...)...)
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

// Balanced fairness refuses weights that differ, and the others answer; an overload is that of all; simulations and engines
// of some policies only are refused.
func TestAllocateAllPoliciesRefused(t *testing.T) {
	weights := `{"resources": [{"name": "cpu", "capacity": 9}], "jobs": [{"name": "a", "demand": {"cpu": 1}, "weight": 2}, {"name": "b", "demand": {"cpu": 3}}]}`
	all := allocateJSON(t, weights, "--policy all")["policies"].([]any)
	if last := all[4].(map[string]any); last["policy"] != "bf" || !strings.Contains(last["refused"].(string), "jobs[1].weight = 1: want the same weight") {
		t.Error(last)
	}
	if stdout, _, status := pfq(weights, "allocate", "-", "--policy", "all"); status != 0 || !strings.Contains(stdout, "bf      balanced fairness; no answer: jobs[1].weight") {
		t.Error(stdout)
	}
	overload := strings.Replace(oneTraffic, `"arrival_rate": 0.5`, `"arrival_rate": 50`, 1)
	if stdout, _, status := pfq(overload, "allocate", "-", "--dynamic", "--policy", "all", "--format", "json"); status != 1 || !strings.Contains(stdout, `"stable": false`) {
		t.Error(status, stdout)
	}
	for args, want := range map[string]string{
		"--policy all --engine exact":     "--engine = exact: want auto or float with --policy all",
		"--policy all --dynamic --runs 5": "--policy all and --runs exclude each other",
	} {
		if _, stderr, status := pfq(oneTraffic, append([]string{"allocate", "-"}, strings.Fields(args)...)...); status != 2 || !strings.Contains(stderr, want) {
			t.Error(status, stderr)
		}
	}
}
