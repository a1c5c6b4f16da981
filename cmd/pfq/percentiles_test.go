package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cluster"
	"productform/sim"
	simcluster "productform/sim/cluster"
)

// The numbers match sim.Run, and are shown with -2 log(1-p), the exact percentile of M/M/1 at load
// 1/2. A class without arrivals has none.
func TestSimulatePercentiles(t *testing.T) {
	answer := simulateJSON(t, oneServer, "--runs 20 --jumps 1e4 --seed 7 --confidence 0.9 --percentiles 50,99.0,99.99")
	m, err := cluster.Read(strings.NewReader(oneServer))
	if err != nil {
		t.Fatal(err)
	}
	levels := []float64{0.5, 0.99, 0.9999}
	r, err := sim.Run(
		t.Context(), simcluster.Cluster{Model: m},
		sim.Settings{Runs: 20, Jumps: 1e4, Seed: 7, Confidence: 0.9, Levels: levels},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := func(kind sim.Kind, index int, known bool) any {
		delay := map[string]any{"p50": nil, "p99": nil, "p99.99": nil}
		for k, name := range []string{"p50", "p99"} {
			q := r.Quantile(kind, index, levels[k])
			if q == nil {
				continue
			}
			one := map[string]any{"estimate": q.Value, "low": q.Low, "high": q.High, "confidence": 0.9, "jobs": q.Jobs}
			if known {
				exact := -2 * math.Log1p(-levels[k])
				one["exact"], one["z"] = exact, q.Z(exact)
				if z := q.Z(exact); !(math.Abs(z) < 5) {
					t.Errorf("%s: z = %v", name, z)
				}
			}
			delay[name] = one
		}
		return delay
	}
	// proved exact values
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-8*math.Max(math.Abs(a), math.Abs(b)) })
	classes := answer["classes"].([]any)
	for what, c := range map[string]struct{ got, want any }{
		"all":     {answer["delay"], want(sim.OfAll, 0, true)},
		"class a": {classes[0].(map[string]any)["delay"], want(sim.OfClass, 0, true)},
		"class b": {classes[1].(map[string]any)["delay"], want(sim.OfClass, 1, false)},
	} {
		if diff := cmp.Diff(c.want, c.got, near); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	if w := fmt.Sprint(answer["warnings"]); !strings.Contains(w, "class a: percentile 99.99 of delays: only ") {
		t.Error(w)
	}
	without := simulateJSON(t, oneServer, "--runs 3 --jumps 2000")
	if _, ok := without["delay"]; ok || without["method"] != "jump chain with a queue for each class" {
		t.Errorf("without percentiles: %v", without)
	}
}

// Text shows an estimate with its interval, and the exact value only if it is known: for FCFS in
// the stationary regime, with exponential sizes.
func TestSimulatePercentilesText(t *testing.T) {
	for args, exact := range map[string]bool{
		"":                  true,
		"--policy ps":       false,
		"--interruptions 2": false,
		"--sizes zipf":      false,
		"--horizon 1e4":     false,
	} {
		jumps := " --jumps 1e4"
		if strings.Contains(args, "horizon") {
			jumps = ""
		}
		stdout, stderr, status := pfqSimulate(oneServer, "--runs 10 --percentiles 50,90,95,99 "+args+jumps)
		heading := "class        delay p50"
		_, table, ok := strings.Cut(stdout, heading)
		if status != 0 || !ok || !strings.Contains(stdout, "class        delay p99") || !strings.Contains(table, " [") {
			t.Errorf("%s: status %d, %s%s", args, status, stdout, stderr)
		}
		columns, _, _ := strings.Cut(table, "\n")
		if strings.Contains(columns, "exact") != exact {
			t.Errorf("%s: columns%s", args, columns)
		}
	}
}

// Exact percentiles that would take long are omitted immediately, with a note.
func TestSimulateLargePercentiles(t *testing.T) {
	var servers, classes []string
	for i := range 18 {
		servers = append(servers, fmt.Sprintf(`{"name": "s%d", "capacity": 1}`, i))
		classes = append(classes, fmt.Sprintf(`{"name": "c%d", "arrival_rate": "0.9999", "servers": ["s%d", "s%d"]}`,
			i, i, (i+1)%18))
	}
	model := fmt.Sprintf(`{"servers": [%s], "classes": [%s]}`, strings.Join(servers, ","), strings.Join(classes, ","))
	stdout, stderr, status := pfqSimulate(model, "--runs 2 --jumps 1000 --percentiles 50,99.9")
	if status != 0 ||
		!strings.Contains(stderr, "pfq: note: no exact percentiles with the estimates: they take about ") ||
		!strings.Contains(stdout, "exact") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// For trees of any size, estimates come with exact percentiles, which elimination computes.
func TestSimulatePercentilesOfTrees(t *testing.T) {
	var servers, classes []string
	for i := range 60 {
		servers = append(servers, fmt.Sprintf(`{"name": "s%d", "capacity": 1}`, i))
		if i > 0 {
			classes = append(classes, fmt.Sprintf(`{"name": "c%d", "arrival_rate": "0.4", "servers": ["s%d", "s%d"]}`,
				i, i, (i-1)/2))
		}
	}
	model := fmt.Sprintf(`{"servers": [%s], "classes": [%s]}`, strings.Join(servers, ","), strings.Join(classes, ","))
	stdout, stderr, status := pfqSimulate(model, "--runs 2 --jumps 1000 --percentiles 50")
	_, table, found := strings.Cut(stdout, "class        delay p50")
	if columns, _, _ := strings.Cut(table, "\n"); status != 0 || strings.Contains(stderr, "no exact percentiles") ||
		!found || !strings.Contains(columns, "exact") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// Invalid percentiles are rejected.
func TestBadPercentiles(t *testing.T) {
	for text, want := range map[string]string{
		"100":   "--percentiles[0] = 100: want a number > 0 and < 100",
		"50,50": "--percentiles[1] = 50: want each percentile once; --percentiles[0] is the same",
		"99.99999999999999999999": "--percentiles[0] = 99.99999999999999999999: want a number whose hundredth is > 0 " +
			"and < 1 in double precision",
	} {
		if stdout, stderr, status := pfqSimulate(oneServer, "--percentiles "+text); status != 2 ||
			stdout != "" || stderr != "pfq: "+want+"\n" {
			t.Errorf("%s: status %d, %s%s", text, status, stdout, stderr)
		}
	}
}
