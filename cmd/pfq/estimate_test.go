package main

import (
	"encoding/csv"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"productform/bf/gibbs"
	"productform/bf/windows"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
)

// estimateProgram is pfq with the command estimate alone.
var estimateProgram = commandtest.Program(func() *cobra.Command { return command.Root(newEstimateCommand()) })

// estimateModel has classes with their own mean sizes, a class without arrivals, and a group of
// servers.
const estimateModel = `{"servers": [{"name": "rack", "count": 4, "capacity": 1}, {"name": "big", "capacity": 2},
{"name": "off", "capacity": 0}],
"classes": [{"name": "pairs", "arrival_rate": 1, "mean_size": 2, "servers": [{"group": "rack", "choose": 2}]},
{"name": "wide", "arrival_rate": "3/2", "servers": [{"group": "rack", "choose": 1}, "big", "off"]},
{"name": "never", "arrival_rate": 0, "servers": ["big"]}]}`

// All numbers of the answer equal those of gibbs.Run, in JSON and in CSV.
func TestAnswer(t *testing.T) {
	m, err := cluster.Read(strings.NewReader(estimateModel))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gibbs.Run(
		t.Context(), m,
		gibbs.Settings{Sweeps: 300, Seed: 7, Confidence: 0.9, MaxJobs: 3, ByClass: true, Gradient: true}, nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	const line = "estimate - --sweeps 300 --seed 7 --confidence 0.9 --distribution 3 --by-class --gradients " +
		"--parallel 3"
	got := estimateProgram.JSON(t, estimateModel, line)
	same := func(what string, got any, want *gibbs.Estimate) {
		t.Helper()
		if want == nil || got == nil {
			if got != nil || want != nil {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
			return
		}
		v := got.(map[string]any)
		if v["mean"] != want.Mean || v["half_width"] != want.HalfWidth || v["confidence"] != 0.9 {
			t.Errorf("%s: %v, want %v", what, v, want)
		}
	}
	same("mean jobs", got["mean_jobs"], &r.MeanJobs)
	same("mean delay", got["mean_delay"], r.MeanDelay)
	same("empty probability", got["empty_probability"], r.EmptyProbability)
	for i, row := range got["classes"].([]any) {
		c := row.(map[string]any)
		same("mean jobs", c["mean_jobs"], &r.Classes[i].MeanJobs)
		same("mean delay", c["mean_delay"], r.Classes[i].MeanDelay)
		same("service rate", c["service_rate"], r.Classes[i].ServiceRate)
		for n, p := range c["jobs_distribution"].([]any) {
			same("probability", p, &r.Classes[i].JobsDistribution[n])
		}
	}
	for i, row := range got["servers"].([]any) {
		same("utilization", row.(map[string]any)["utilization"], &r.Servers[i].Utilization)
	}
	for n, p := range got["jobs_distribution"].([]any) {
		same("probability", p, &r.JobsDistribution[n])
	}
	changes := slices.Concat(r.Gradient.ArrivalRates, r.Gradient.Capacities)
	for k, row := range got["gradients"].([]any) {
		same("gradient", row.(map[string]any)["mean_jobs_change"], changes[k])
	}
	if got["chains"] != 8. || got["sweeps"] != float64(r.Sweeps) || got["burn_in"] != float64(r.BurnIn) ||
		got["r_hat"] != r.RHat || got["precision_met"] != nil ||
		got["effective_samples"] != r.EffectiveSamples || got["seed"] != 7. ||
		!strings.Contains(fmt.Sprint(got["note"]), "mean sizes differ") {
		t.Errorf("%v", got)
	}
	text, _, _ := estimateProgram.Run(estimateModel, strings.Fields(line+" --format csv")...)
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if at := slices.Index(lines[0], "mean_jobs_half_width"); lines[2][1] != "pairs" ||
		lines[2][at] != fmt.Sprint(r.Classes[0].MeanJobs.HalfWidth) {
		t.Errorf("%s", text)
	}
}

// The answer has the requested precision, and text shows it.
func TestPrecision(t *testing.T) {
	got := estimateProgram.JSON(t, estimateModel, "estimate - --precision 0.02")
	jobs := got["mean_jobs"].(map[string]any)
	if got["precision_met"] != true || !(jobs["half_width"].(float64) <= 0.02*jobs["mean"].(float64)) {
		t.Errorf("%v", got)
	}
	text, _, status := estimateProgram.Run(estimateModel, "estimate", "-", "--precision", "0.02")
	const head = "each job runs on all its servers at once (on one of them: service: one)\n" +
		"stable; estimates, not bounds: ± at confidence 0.95\n8 chains of "
	if status != 0 || !strings.HasPrefix(text, head) {
		t.Errorf("status %d\n%s", status, text)
	}
}

// Text lists the derivatives by size, rates before capacities, and lists the capacities that are
// indistinguishable from the first.
func TestGradientsBySize(t *testing.T) {
	one := big.NewRat(1, 1)
	m := &cluster.Model{Classes: []cluster.Class{{Name: "a", ArrivalRate: one}, {Name: "b", ArrivalRate: one}},
		Servers: []cluster.Server{{Name: "none"}, {Name: "s"}, {Name: "t"}, {Name: "u"}}}
	value := func(mean, half float64) *gibbs.Estimate {
		return &gibbs.Estimate{Mean: mean, HalfWidth: half, Confidence: 0.95}
	}
	g := &gibbs.Gradient{ArrivalRates: []*gibbs.Estimate{value(1, 0.1), value(3, 0.1)},
		Capacities: []*gibbs.Estimate{nil, value(-2, 0.3), value(-2.4, 0.4), value(-1.8, 0.1)}}
	shown := func(format, after string) string {
		text, err := answer(m, &gibbs.Result{Gradient: g}, gibbs.Settings{}, nil).Format(format)
		if err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(string(text), after)
		return regexp.MustCompile(` +`).ReplaceAllString(table, " ")
	}
	const want = "arrival_rate b 3.00 ± 0.10\narrival_rate a 1.00 ± 0.10\n" +
		"capacity t -2.40 ± 0.40\ncapacity s -2.00 ± 0.30\ncapacity u -1.80 ± 0.10\ncapacity none -\n"
	const apart = "\nthe 2 most valuable capacities cannot be distinguished\n"
	if got := shown("text", "mean jobs change\n"); got != want+apart {
		t.Error(got)
	}
	g.Capacities[1] = value(-1.7, 0.1)
	got := shown("text", "mean jobs change\n")
	if !strings.Contains(got, "capacity none -") || strings.Contains(got, "apart") {
		t.Error(got)
	}
	const inOrder = `(?s)"of": "a".*"of": "b".*"of": "none".*"of": "s".*"of": "t".*"of": "u"`
	if got = shown("json", "gradients"); !regexp.MustCompile(inOrder).MatchString(got) {
		t.Error("JSON is not in the order of the model:", got)
	}
}

// Bounds are shown with the estimates, in all formats, and match windows.Delays; without the flag
// there are none.
func TestEstimateBounds(t *testing.T) {
	m, err := cluster.Read(strings.NewReader(estimateModel))
	if err != nil {
		t.Fatal(err)
	}
	want, err := windows.Delays(t.Context(), m, windowServers, nil)
	if err != nil {
		t.Fatal(err)
	}
	const line = "estimate - --precision 0.1"
	plain, got := estimateProgram.JSON(t, estimateModel, line)["classes"].([]any),
		estimateProgram.JSON(t, estimateModel, line+" --bounds")["classes"].([]any)
	for i, b := range want {
		row := got[i].(map[string]any)
		low, given := row["mean_delay_low"]
		switch high := row["mean_delay_high"]; {
		case b == nil:
			if low != nil || high != nil || !given {
				t.Errorf("%v, want no bounds", row)
			}
		case low != b.Low || high != *b.High:
			t.Errorf("%v, want %v and %v", row, b.Low, *b.High)
		}
		delete(row, "mean_delay_low")
		delete(row, "mean_delay_high")
		if !reflect.DeepEqual(row, plain[i]) {
			t.Errorf("%v, without bounds %v", row, plain[i])
		}
	}
	text, _, _ := estimateProgram.Run(estimateModel, strings.Fields(line+" --bounds")...)
	const table = "\nproved bounds on the mean delays, not estimates; a delay is exact if its bounds coincide:\n" +
		"class  mean delay low  mean delay high\npairs  "
	if !strings.Contains(text, table) {
		t.Errorf("%s", text)
	}
	// The servers of an arc of a ring cannot run all jobs of its classes.
	var ring strings.Builder
	for s := range 40 {
		fmt.Fprintf(&ring, "%s{name: s%d, capacity: 1}", []string{"servers: [", ", "}[min(s, 1)], s)
	}
	for s := range 40 {
		fmt.Fprintf(&ring, "%s{name: c%d, arrival_rate: 0.95, servers: [s%d, s%d]}",
			[]string{"]\nclasses: [", ", "}[min(s, 1)], s, s, (s+1)%40)
	}
	row := estimateProgram.JSON(t, ring.String()+"]\n", line+" --bounds")["classes"].([]any)[0].(map[string]any)
	if high, given := row["mean_delay_high"]; high != nil || !given || !(row["mean_delay_low"].(float64) > 1/1.05) {
		t.Errorf("%v", row)
	}
}

// An unstable cluster is answered with its bottleneck, and the other factors still get their
// answers.
func TestEstimateUnstable(t *testing.T) {
	text, _, status := estimateProgram.Run(
		estimateModel, "estimate", "-", "--scale", "0.5,9", "--precision", "0.1", "--format", "csv",
	)
	if status != 1 || !strings.Contains(text, "\n0.5,class,pairs,") || !strings.Contains(text, "\n9,unstable,") {
		t.Errorf("status %d\n%s", status, text)
	}
	stdout, stderr, status := estimateProgram.Run(estimateModel, "estimate", "-", "--scale", "9", "--format", "json")
	if status != 1 || stderr != "" || !strings.Contains(stdout, `"bottleneck": [`) {
		t.Errorf("status %d, %s\n%s", status, stderr, stdout)
	}
}

// Invalid input is rejected with an error that names the flag or field, its value and a valid
// value.
func TestEstimateRefusals(t *testing.T) {
	huge := strings.NewReplacer(
		`"count": 4`, `"count": 1000000`, `"choose": 2`, `"choose": 500000`,
	).Replace(estimateModel)
	for _, c := range []struct {
		model, flags, path, value string
	}{
		{estimateModel, "--precision 0", "--precision", "0"},
		{estimateModel, "--precision 1", "--precision", "1"},
		{estimateModel, "--precision x", "--precision", "x"},
		{estimateModel, "--sweeps 0", "--sweeps", "0"},
		{estimateModel, "--by-class", "--distribution", ""},
		{estimateModel, "--distribution 10001", "--distribution", "10001"},
		{estimateModel, "--confidence 1", "--confidence", "1"},
		{estimateModel, "--seed -1", "--seed", "-1"},
		{estimateModel, "--parallel 0", "--parallel", "0"},
		{estimateModel, "--scale x", "--scale[0]", "x"},
		{huge, "", "classes[0].servers", "1000000 servers"},
		{strings.Replace(estimateModel, `"capacity": 2`, `"capacity": -2`, 1), "", "servers[1].capacity", "-2"},
		{strings.Replace(estimateModel, `"capacity": 1}`, `"capacity": 1, "speed": 3}`, 1), "", "servers[0].speed", ""},
	} {
		args := append([]string{"estimate", "-"}, strings.Fields(c.flags)...)
		if bad := estimateProgram.Refusal(t, c.model, args...); bad.Path != c.path ||
			c.value != "" && bad.Value != c.value || bad.Want == "" {
			t.Errorf("%s: %v", c.flags, &bad)
		}
	}
	_, stderr, status := estimateProgram.Run(estimateModel, "estimate", "-", "--sweeps", "10", "--precision", "0.1")
	if status != 2 || stderr != "pfq: --sweeps and --precision cannot be combined\n" {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// Chains that are too short give a warning.
func TestWarning(t *testing.T) {
	_, stderr, status := estimateProgram.Run(estimateModel, "estimate", "-", "--sweeps", "8")
	if status != 0 || !strings.HasPrefix(stderr, "pfq: warning: the chains are too short: ") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
