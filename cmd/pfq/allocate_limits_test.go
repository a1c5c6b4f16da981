package main

import (
	"math"
	"strings"
	"testing"
)

// On one resource of 4 a limit of one task of job a leaves the rest to job b, and the audit agrees.
// Balanced fairness gives job a 4/5, since Φ(a) = 1, Φ(b) = 1/4 and Φ(a, b) = (Φ(a) + Φ(b))/4.
func TestAllocateMaxTasks(t *testing.T) {
	const pool = `{"resources": [{"name": "cpu", "capacity": 4}], "jobs": [{"name": "a", "demand": {"cpu": 1}, ` +
		`"max_tasks": 1}, {"name": "b", "demand": {"cpu": 1}}]}`
	for _, policy := range []string{"drf", "maxmin", "bmf"} {
		got := allocateJSON(t, pool, "--audit --policy "+policy)
		for i, want := range []string{"1", "3"} {
			if job := got["jobs"].([]any)[i].(map[string]any); job["tasks_exact"] != want {
				t.Errorf("%s: %v", policy, job)
			}
		}
		audit := got["audit"].(map[string]any)
		if over, known := audit["over_limit"]; audit["feasible"] != true || audit["pareto_efficient"] != true ||
			audit["envy_free"] != true || over != nil || !known {
			t.Errorf("%s: %v", policy, audit)
		}
	}
	if got := allocateJSON(t, pool, "--policy bf")["jobs"].([]any)[0].(map[string]any); got["tasks_exact"] != "4/5" {
		t.Error(got)
	}
	if stdout, stderr, status := runAllocate(pool, "allocate", "-"); status != 0 ||
		!strings.Contains(stdout, "\na    1 ") || !strings.Contains(stdout, "\nb    3 ") {
		t.Error(stdout, stderr)
	}
	if _, stderr, status := runAllocate(
		strings.Replace(pool, `"max_tasks": 1`, `"max_tasks": 0`, 1), "allocate", "-",
	); status != 2 ||
		!strings.Contains(stderr, "jobs[0].max_tasks = 0: want a number > 0") {
		t.Error(stderr)
	}
}

// Jobs of one task on a resource of 4 are M/M/4. With 2 jobs per unit of time, of mean size 1, C =
// 4/23 of them wait, and there are 2 + C jobs on average.
func TestAllocateMaxTasksDynamic(t *testing.T) {
	const servers = `{"resources": [{"name": "cpu", "capacity": 4}], "jobs": [{"name": "a", "demand": {"cpu": 1}, ` +
		`"max_tasks": 1, "arrival_rate": 2}]}`
	for _, policy := range []string{"pf", "drf", "bf"} {
		got := allocateJSON(t, servers, "--dynamic --runs 10 --jumps 2e4 --policy "+policy)
		class := got["classes"].([]any)[0].(map[string]any)
		if jobs := class["mean_jobs"].(float64); math.Abs(jobs-50./23) > 1e-9 {
			t.Errorf("%s: %v jobs, want 50/23", policy, jobs)
		}
		if z := class["simulated"].(map[string]any)["mean_jobs"].(map[string]any)["z"].(float64); math.Abs(z) > 6 {
			t.Errorf("%s: %v", policy, class)
		}
	}
}
