package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"productform/internal/oracle"
)

// timed has a class whose jobs never time out.
const timed = `
servers: [{name: a, capacity: 1}, {name: b, capacity: 2}]
classes: [{name: x, arrival_rate: 3/2, servers: [a, b]}, {name: y, arrival_rate: 3, servers: [b], mean_timeout: 2},
  {name: z, arrival_rate: 0, servers: [b], mean_timeout: 2}]
`

// TestSolveTimeouts checks the fields of an answer with timeouts, and the flags that do not apply.
func TestSolveTimeouts(t *testing.T) {
	for _, engine := range []string{"float", "enclose", "auto"} {
		stdout, stderr, status := pfq(timed, strings.Fields("solve - --format json --engine "+engine)...)
		if status != 0 || stderr != "" {
			t.Fatal(status, stderr)
		}
		type measures struct {
			Timeout float64 `json:"timeout_probability"`
			Jobs    float64 `json:"mean_jobs"`
			Delay   float64 `json:"mean_delay"`
		}
		var a struct {
			measures
			Service string
			Bound   float64 `json:"relative_error_bound"`
			Classes []struct {
				measures
				Name    string
				MeanOut *float64 `json:"mean_timeout"`
			}
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(stdout, "null", "-1")), &a); err != nil {
			t.Fatal(err)
		}
		x, y, z := a.Classes[0], a.Classes[1], a.Classes[2]
		if a.Service != "all" || !(a.Bound > 0 && a.Bound < 1e-12) || x.Timeout != 0 || z.Timeout != -1 || z.Jobs != 0 {
			t.Errorf("%s: %+v", engine, a)
		}
		for _, c := range [][2]float64{{x.Delay * 1.5, x.Jobs}, {y.Delay * 3, y.Jobs}, {y.Delay / 2, y.Timeout},
			{x.Jobs + y.Jobs, a.Jobs}, {a.Delay * 4.5, a.Jobs}, {a.Timeout * 4.5, y.Timeout * 3}} {
			if !oracle.Near(c[0], c[1], 1e-11) {
				t.Errorf("%s: %v, want %v", engine, c[0], c[1])
			}
		}
	}
	for _, flag := range []string{"--engine exact", "--lattice class", "--percentiles 50", "--within 1",
		"--distribution 3", "--gradients", "--distribution 3 --by-class"} {
		_, stderr, status := pfq(timed, strings.Fields("solve - "+flag)...)
		if name, _, _ := strings.Cut(flag, " "); status != 2 || !strings.Contains(stderr, name+" = ") ||
			!strings.Contains(stderr, "want a model without mean_timeout") {
			t.Errorf("%s: %d, %s", flag, status, stderr)
		}
	}
	for flags, want := range map[string]string{
		"--scale 1,2":               "scale 2: unstable: ",
		"--scale x=1,2":             "scale 2 of x: unstable: ",
		"--scale y=1,2":             "scale 2 of y: stable; float engine",
		"--scale 1,2 --format csv":  "\n2,unstable,",
		"--scale 1,2 --format json": `"stable": false`,
	} {
		stdout, stderr, status := pfq(timed, strings.Fields("solve - "+flags)...)
		stable := strings.Contains(flags, "y=")
		if (status == 0) != stable || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("%s: %d, %s, %s", flags, status, stdout, stderr)
		}
	}
	stdout, _, status := pfq(strings.Replace(timed, "3/2", "3", 1), strings.Fields("solve -")...)
	if status != 1 || !strings.Contains(stdout, "unstable") || !strings.Contains(stdout, "x: work 3 on capacity 3") {
		t.Error(status, stdout)
	}
}

// pfq simulate estimates the same numbers, and others that pfq solve cannot compute.
func TestSimulateTimeouts(t *testing.T) {
	answer := simulateJSON(t, timed, "--runs 10 --jumps 2e4")
	var exact int
	for _, row := range answer["classes"].([]any) {
		for _, name := range []string{"mean_jobs", "mean_delay", "measured_delay", "timeout_probability"} {
			estimate, _ := row.(map[string]any)[name].(map[string]any) // nil without arrivals
			if z, ok := estimate["z"].(float64); ok {
				exact++
				if math.Abs(z) > 5 {
					t.Errorf("%s: z = %v", name, z)
				}
			}
		}
	}
	if exact < 7 {
		t.Errorf("%d comparisons with exact values", exact)
	}
	const other = "service: one\n"
	stdout, _, status := pfqSimulate(timed+other, "--runs 3 --jumps 5e3 --policy jsq,longest-idle")
	if status != 0 || !strings.Contains(stdout, "timeout probability") {
		t.Error(status, stdout)
	}
	_, stderr, status := pfqSimulate(timed, "--runs 3 --jumps 5e3 --policy ps")
	if status != 2 || !strings.Contains(stderr, "--policy = ps: want fcfs or interrupt with mean_timeout") {
		t.Error(status, stderr)
	}
}

// Commands that read a cluster but do not support timeouts reject it.
func TestTimeoutsRejected(t *testing.T) {
	_, stderr, status := pfq(timed, "estimate", "-")
	want := "classes[1].mean_timeout = 2: want none: only pfq solve, plot, simulate and stability accept timeouts"
	if status != 2 || !strings.Contains(stderr, want) {
		t.Error(status, stderr)
	}
	_, stderr, status = pfq(timed+"service: one\n", "solve", "-")
	if status != 2 || !strings.Contains(stderr, "want none with service one unless all classes may use all servers") {
		t.Error(status, stderr)
	}
}

// TestStabilityOfJobsThatLeave checks that only classes whose jobs stay can overload a cluster.
func TestStabilityOfJobsThatLeave(t *testing.T) {
	const model = `service: one
servers: [{name: s, capacity: 1}]
classes:
- {name: stays, arrival_rate: 0.5, servers: [s]}
- {name: leaves, arrival_rate: 7, servers: [s], mean_patience: 2}
`
	for _, c := range []struct {
		old, new, want string
		status         int
	}{
		{"", "", "limits are for the others\n", 0},
		{"", "", "multiplied by anything below 2\n", 0},
		{"mean_patience", "mean_timeout", "limits are for the others\n", 0},
		{"0.5", "1", "unstable: would be stable", 1},
		{"servers: [s]}\n", "servers: [s], mean_patience: 3}\n",
			"stable: all jobs leave when they give up or time out\n", 0},
	} {
		stdout, stderr, status := pfq(strings.Replace(model, c.old, c.new, 1), "stability", "-")
		if status != c.status || !strings.Contains(stdout, c.want) {
			t.Errorf("%q for %q: status %d, %s%s", c.new, c.old, status, stdout, stderr)
		}
	}
	if _, stderr, status := pfq(model, "stability", "-", "--by-class"); status != 2 ||
		!strings.HasPrefix(stderr, "pfq: --by-class = true: want a model without mean_patience and mean_timeout") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
