package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/input"
)

// twoQueues has two separate M/M/1 queues, with exponential delays of rates 2 - 1/2 and 1 - 1/2,
// and a class without arrivals.
const twoQueues = `{"servers": [{"name": "s", "capacity": 2}, {"name": "t", "capacity": 1}],
"classes": [{"name": "a", "arrival_rate": "1/2", "servers": ["s"]}, ` +
	`{"name": "b", "arrival_rate": "1/2", "servers": ["t"]},
{"name": "c", "arrival_rate": 0, "servers": ["s", "t"]}]}`

func TestSolvePercentiles(t *testing.T) {
	for _, engine := range []string{"auto", "float", "enclose"} {
		stdout, stderr, status := pfq(
			twoQueues, "solve", "-", "--percentiles", "50,99.9", "--engine", engine, "--format", "json",
		)
		var answer struct {
			Classes []struct{ Delay map[string]any }
			Delays  struct{ Hold, Engine string }
		}
		if err := json.Unmarshal([]byte(stdout), &answer); err != nil || status != 0 || stderr != "" {
			t.Fatalf("status %d, %v, %q", status, err, stderr)
		}
		if want := "under first come, first served with exponential sizes"; answer.Delays.Hold != want ||
			engine != "auto" && answer.Delays.Engine != engine {
			t.Errorf("%s: %+v", engine, answer.Delays)
		}
		for i, rate := range []float64{1.5, 0.5} {
			for name, part := range map[string]float64{"p50": 0.5, "p99.9": 0.001} {
				if got, want := answer.Classes[i].Delay[name].(float64),
					-math.Log(part)/rate; math.Abs(got-want) > 1e-9*want {
					t.Errorf("%s: %s of class %d is %v, want %v", engine, name, i, got, want)
				}
			}
		}
		if got, ok := answer.Classes[2].Delay["p50"]; !ok || got != nil {
			t.Errorf("%s: a class without arrivals has the median %v", engine, got)
		}
	}
	for args, want := range map[string]string{
		"": "class  delay p50  delay p99.9\na      0.462098   4.60517\nb      1.38629    13.8155\n" +
			"c      -          -\n",
		"--scale 1,2.5": "scale  class  delay p50  delay p99.9\n1      a      0.462098   4.60517\n" +
			"1      b      1.38629    13.8155\n1      c      -          -\n",
	} {
		stdout, _, _ := pfq(
			twoQueues, append([]string{"solve", "-", "--percentiles", "50,99.9"}, strings.Fields(args)...)...,
		)
		if !strings.Contains(stdout, want) ||
			!strings.Contains(stdout, "means hold for any sizes, percentiles under first come, first served") {
			t.Errorf("%s: %s", args, stdout)
		}
	}
}

func TestPercentilesRefused(t *testing.T) {
	sizes := strings.Replace(twoQueues, `"b", `, `"b", "mean_size": "1/4", `, 1)
	for _, c := range []struct {
		model, args string
		want        input.Error
	}{
		{
			twoQueues,
			"--percentiles 50,100", input.Error{Path: "--percentiles[1]", Value: "100", Want: "a number > 0 and < 100"},
		},
		{twoQueues, "--percentiles 50,5e1", input.Error{
			Path:  "--percentiles[1]",
			Value: "50",
			Want:  "each percentile once; --percentiles[0] is the same",
		}},
		{twoQueues, "--percentiles 99." + strings.Repeat("9", 300), input.Error{
			Path:  "--percentiles[0]",
			Value: "99." + strings.Repeat("9", 54) + "...",
			Want:  "at most 1 - 2^-900",
		}},
		{twoQueues, "--percentiles 50 --engine exact", input.Error{Path: "--engine", Value: "exact",
			Want: "auto, float or enclose for percentiles and tails of delays: these are transcendental numbers"}},
		{twoQueues, "--percentiles 50 --lattice connected", input.Error{Path: "--lattice", Value: "connected",
			Want: "class, server or symmetric for delays: on the connected lattice the recursion is not linear"}},
		{sizes, "--percentiles 50", input.Error{File: "standard input", Line: 2, Path: "classes[1].mean_size",
			Value: `"1/4"`,
			Want: `1, that of "a": first come, first served has formulas only for exponential sizes with one mean; ` +
				`pfq simulate --percentiles estimates them`}},
	} {
		if diff := cmp.Diff(
			c.want, program.Refusal(t, c.model, append([]string{"solve", "-"}, strings.Fields(c.args)...)...),
		); diff != "" {
			t.Errorf("%s: %s", c.args, diff)
		}
	}
}

// A percentile below 1 may be a mistake: it is computed, with a note. An error
// about a file names the line.
func TestSmallPercentile(t *testing.T) {
	stdout, stderr, status := pfq(twoQueues, "solve", "-", "--percentiles", "0.95,50")
	if want := "pfq: note: --percentiles 0.95 is less than one per cent; did you mean 95?\n"; status != 0 ||
		stderr != want || !strings.Contains(stdout, "delay p0.95") {
		t.Errorf("status %d, %q, %s", status, stderr, stdout)
	}
	_, stderr, _ = pfq(strings.Replace(string(readExample("centre-plan")), "\ntargets:\n",
		"\ntargets:\n  - {class: english, percentile: 0.95, waiting: 1}\n", 1), "plan", "-", "--limit", "1")
	if want := "pfq: note: targets[0].percentile 0.95 is less than one per cent; did you mean 95?\n"; stderr != want {
		t.Error(stderr)
	}
	file := filepath.Join(t.TempDir(), "sizes.json")
	commandtest.WriteFile(t, file, "{\"servers\": [{\"name\": \"s\", \"capacity\": 2}], \"classes\": [{\"name\": "+
		"\"a\", \"arrival_rate\": 1, \"servers\": [\"s\"]},\n"+
		"{\"name\": \"b\", \"arrival_rate\": 1, \"servers\": [\"s\"], \"mean_size\": 0.25}]}")
	if bad := program.Refusal(t, "", "solve", file, "--percentiles", "50"); bad.Line != 2 || bad.Value != "0.25" {
		t.Errorf("%+v", bad)
	}
}

// Invalid requests for percentiles are rejected before the means are solved. For a model too large
// for both, the error is about the percentiles, also at several loads. An unstable model gets its
// usual answer.
func TestPercentilesRefusedFirst(t *testing.T) {
	var servers, classes []string
	for i := range 26 {
		servers = append(servers, fmt.Sprintf(`{"name": "s%d", "capacity": %d}`, i, i+5))
		classes = append(classes, fmt.Sprintf(`{"name": "c%d", "arrival_rate": 1, "servers": ["s%d", "s%d", "s%d"]}`,
			i, i, (i+3)%26, (i+10)%26))
	}
	model := `{"servers": [` + strings.Join(servers, ",") + `], "classes": [` + strings.Join(classes, ",") + `]}`
	const small = "solve - --engine exact --memory 1"
	if bad := program.Refusal(t, model, strings.Fields(small)...); bad.Path != "model" {
		t.Errorf("means: %+v", bad)
	}
	for _, more := range []string{"", " --scale 0.5,1", " --scale c1=0.5,100"} {
		if bad := program.Refusal(
			t, model, strings.Fields(small+" --percentiles 99"+more)...,
		); bad.Path != "--engine" ||
			bad.Line != 0 {
			t.Errorf("percentiles%s: %+v", more, bad)
		}
	}
	if stdout, stderr, status := pfq(strings.ReplaceAll(model, `"arrival_rate": 1`, `"arrival_rate": 50`),
		strings.Fields(small+" --percentiles 99")...); status != 1 ||
		!strings.HasPrefix(stdout, allServers+"unstable") {
		t.Errorf("unstable: status %d, %s%s", status, stdout, stderr)
	}
}

// In M/M/1 at load ρ there are n jobs with the probability (1-ρ) ρ^n.
func TestJobsByClass(t *testing.T) {
	stdout, stderr, status := pfq(
		twoQueues, "solve", "-", "--distribution", "2", "--by-class", "--engine", "exact", "--format", "csv",
	)
	for _, want := range []string{"distribution,a,", "distribution,c,"} {
		if status != 0 || stderr != "" || strings.Count(stdout, "\n"+want) != 3 {
			t.Errorf("status %d, stdout %q, stderr %q, want three lines %q", status, stdout, stderr, want)
		}
	}
	stdout, _, _ = pfq(twoQueues, "solve", "-", "--distribution", "2", "--by-class", "--engine", "exact")
	for _, want := range []string{
		"a      0     3/4 = 0.75\na      1     3/16 = 0.1875\n",
		"b      2     1/8 = 0.125\nc      0     1\nc      1     0\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%s: want %q", stdout, want)
		}
	}
	if got := program.Refusal(t, twoQueues, "solve", "-", "--by-class"); got.Path != "--by-class" {
		t.Errorf("--by-class alone: %v", got)
	}
}
