package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"productform/cmd/pfq/internal/commandtest"
)

// Over samples the answer has the mean, the minimum and the maximum of the values of the separate
// samples, and the number of samples in which a policy has the smallest value.
func TestDispatchSamples(t *testing.T) {
	const args, policies, samples = "dispatch SDSC-Par-1996 --sample 300 --policy edf,priority,easy --requests " +
		"uniform:2 --format ", 3, 4
	run := func(args string) map[string]any {
		stdout, stderr, status := runDispatch("", strings.Fields(args)...)
		if status != 0 || stderr != "" {
			t.Fatalf("%s: status %d, %s", args, status, stderr)
		}
		return commandtest.ParseJSON(t, stdout)
	}
	var one [policies][]map[string]any
	for seed := range samples {
		for p, row := range run(args + "json --seed " + strconv.Itoa(5+seed))["policies"].([]any) {
			one[p] = append(one[p], row.(map[string]any))
		}
	}
	value := func(row map[string]any, of, key string) (float64, bool) {
		if of != "" {
			row, _ = row[of].(map[string]any)
		}
		v, ok := row[key].(float64)
		return v, ok
	}
	all := run(args + "json --seed 5 --samples " + strconv.Itoa(samples))["policies"].([]any)
	for _, m := range []struct {
		of, key string
		having  int // policies that have the measure
	}{
		{"", "missed", 3}, {"", "missed_part", 3}, {"", "deadline_miss_penalty", 3}, {"", "offered_load", 3},
		{"", "decisions", 2}, {"", "running_violation_rate", 2}, {"", "backfilled", 1}, {"delay", "mean", 3},
		{"delay", "p95", 3}, {"slowdown", "max", 3}, {"waiting", "mean", 3}, {"bounded_slowdown", "p50", 1},
	} {
		having := 0
		for p := range policies {
			got := all[p].(map[string]any)
			if m.of != "" {
				got = got[m.of].(map[string]any)
			}
			summary := got[m.key].(map[string]any)
			if _, exists := value(one[p][0], m.of, m.key); !exists {
				if summary["mean"] != nil || summary["smallest_in"] != nil {
					t.Errorf("%v of policy %d: %v", m, p, summary)
				}
				continue
			}
			having++
			sum, least, most, smallest := 0.0, math.Inf(1), math.Inf(-1), 0.0
			for k := range samples {
				v, _ := value(one[p][k], m.of, m.key)
				sum, least, most = sum+v, min(least, v), max(most, v)
				beaten := false
				for q := range policies {
					other, exists := value(one[q][k], m.of, m.key)
					beaten = beaten || exists && other < v*(1-1e-9)
				}
				if !beaten {
					smallest++
				}
			}
			commandtest.Near(t, m.key, summary["mean"], sum/samples, 1e-12)
			if summary["least"] != least || summary["most"] != most ||
				m.having > 1 && summary["smallest_in"] != smallest || m.having == 1 && summary["smallest_in"] != nil {
				t.Errorf("%v of policy %d: %v, want from %v to %v, smallest in %v",
					m, p, summary, least, most, smallest)
			}
		}
		if having != m.having {
			t.Errorf("%v: %d policies have it, want %d", m, having, m.having)
		}
	}
	table, _, _ := runDispatch("", strings.Fields(args+"csv --seed 5 --samples 4")...)
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	missed := all[1].(map[string]any)["missed"].(map[string]any)
	if err != nil || len(rows) != 1+policies || rows[2][0] != "priority" ||
		rows[2][slices.Index(rows[0], "missed_mean")] != fmt.Sprint(missed["mean"]) ||
		slices.Index(rows[0], "delay_p95_smallest_in") < 0 {
		t.Errorf("%v, %s", err, table)
	}
	text, _, _ := runDispatch("", strings.Fields(args+"text --seed 5 --samples 4")...)
	mean := func(p int) string { // the start of the line of a policy in the first table
		of := all[p].(map[string]any)
		together := map[bool]string{false: "no", true: "yes"}[of["tasks_together"].(bool)]
		return fmt.Sprintf(" %s %s %.6g ", of["policy"], together,
			of["waiting"].(map[string]any)["mean"].(map[string]any)["mean"])
	}
	words := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"4 samples of 300 jobs of SDSC-Par-1996 (seeds 5 to 8) run times x 0.001",
		mean(0), mean(1), mean(2), " minimum over the samples policy ", " maximum over the samples policy ",
		" in how many of the 4 samples no other policy has a smaller value ",
		" requested times: run times x uniform on [1, 2]",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}
