package main

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/oracle"
)

// checkpointArgs returns the flags for a case of ../../tags/testdata/checkpoints.json.
func checkpointArgs(c map[string]any) string {
	text := func(key string) string { v, _ := c[key].(string); return v }
	jobs := c["sizes"].(map[string]any)
	words := []string{"--hosts", string(c["hosts"].(json.Number)), "--load", text("load")}
	if jobs["kind"] == "exponential" {
		words = append(words, "--sizes exponential --mean", jobs["mean"].(string))
	} else {
		for _, name := range []string{"alpha", "min", "max"} {
			words = append(words, "--"+name, jobs[name].(string))
		}
	}
	resume := text("resume")
	if resume == "every" {
		resume += ":" + text("checkpoint_every")
	}
	words = append(words, "--resume", resume)
	if resume != "restart" && text("overhead") != "" {
		words = append(words, "--overhead", text("overhead"))
	}
	if objective := text("objective"); objective != "" {
		words = append(words, "--objective", objective)
	}
	var cutoffs []string
	if list, ok := c["cutoffs"].([]any); ok {
		for _, s := range list {
			cutoffs = append(cutoffs, s.(string))
		}
		words = append(words, "--cutoffs", strings.Join(cutoffs, ","))
	}
	return strings.Join(words, " ")
}

// The answers match those of an independent program; at the best cutoffs, means move by the square
// root of the gap.
func TestCheckpointCases(t *testing.T) {
	data, err := os.ReadFile("../../tags/testdata/checkpoints.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []map[string]any
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, c := range cases {
		args := checkpointArgs(c)
		got, want := tagsJSON(t, args, 0), c["answer"].(map[string]any)
		tol := 1e-11
		if c["kind"] != "evaluate" {
			tol = 1e-6
		}
		for _, name := range []string{"mean_waiting", "mean_delay", "mean_slowdown", "mean_stretch"} {
			text, ok := want[name].(string)
			if !ok {
				continue
			}
			looked++
			if v, _ := got[name].(float64); !oracle.Near(v, numberOf(t, text), tol) {
				t.Errorf("pfq tags %s: %s = %v, want %s", args, name, got[name], text)
			}
		}
		if v, _ := got["lost_work"].(float64); math.Abs(v-numberOf(t, want["overhead"].(string))) > tol*math.Abs(v) {
			t.Errorf("pfq tags %s: lost_work = %v, want %s", args, got["lost_work"], want["overhead"])
		}
	}
	if looked < 60 {
		t.Errorf("%d means compared", looked)
	}
}

func numberOf(t *testing.T, text string) float64 {
	t.Helper()
	v, ok := parseDecimal(func(float64) bool { return true })(text)
	if !ok {
		t.Fatalf("%q is not a number", text)
	}
	return v.float
}

// Restarts are the default, to the last digit.
func TestResumeRestart(t *testing.T) {
	const farm = "--hosts 3 --load 0.4 --sizes lognormal:9 --mean 1 --speeds 1,2,1.5 --runs 2 --jumps 1e3 --format "
	for _, format := range []string{"text", "json", "csv"} {
		want, _, _ := tagsCommand(farm + format)
		if got, _, _ := tagsCommand(farm + format + " --resume restart"); got != want {
			t.Errorf("--resume restart differs: %s", got)
		}
	}
}

// The answer names the rule, compares it with restarts and with preemption, and labels the means of
// each host.
func TestResumeAnswer(t *testing.T) {
	const farm = "--hosts 3 --load 0.5 --alpha 1.5 --min 1 --max 1e4 "
	cut := tagsJSON(t, farm+"--resume cut", 0)
	restart := tagsJSON(t, farm, 0)
	if cut["resume"] != "cut" || cut["resume_overhead"] != 0.0 || cut["checkpoint_every"] != nil ||
		cut["lost_work"] != 0.0 {
		t.Errorf("%v", cut)
	}
	if gap, ok := cut["optimality_gap"].(float64); !ok || gap > 1e-10 {
		t.Errorf("gap %v", cut["optimality_gap"])
	}
	rows := map[string]float64{}
	for _, p := range cut["policies"].([]any) {
		p := p.(map[string]any)
		rows[p["name"].(string)], _ = p["mean_slowdown"].(float64)
	}
	if got := policyOf(t, cut, "policies", "restart")["mean_slowdown"]; got != restart["mean_slowdown"] {
		t.Errorf("restart: %v, want %v", got, restart["mean_slowdown"])
	}
	order := []float64{rows["srpt"], rows["fb"], rows["tags"], rows["restart"]}
	if !slices.IsSorted(order) || order[0] <= 0 {
		t.Errorf("slowdowns %v do not increase", order)
	}
	for i, h := range cut["hosts"].([]any) {
		h := h.(map[string]any)
		accuracy := "approximation"
		if i == 0 {
			accuracy = "exact"
		}
		if h["accuracy"] != accuracy || h["waits"] == nil {
			t.Errorf("host %d: %v, %v", i+1, h["accuracy"], h["waits"])
		}
	}
	proved := tagsJSON(t, farm+"--resume cut --engine enclose", 0)
	if radius, ok := proved["cutoff_radius"].(float64); !ok || radius > 1e-48 ||
		!oracle.Near(proved["mean_slowdown"].(float64), cut["mean_slowdown"].(float64), 1e-12) {
		t.Errorf("radius %v, mean slowdown %v", proved["cutoff_radius"], proved["mean_slowdown"])
	}
	even := tagsJSON(t, farm+"--resume cut --cutoffs 2,4", 0)
	var waits []any
	for _, h := range even["hosts"].([]any) {
		waits = append(waits, h.(map[string]any)["waits"])
	}
	if !slices.Equal(waits, []any{true, false, true}) {
		t.Errorf("waits %v", waits)
	}
	saysTags(t, farm+"--resume cut --cutoffs 2,4", 0, "\nno job ever waits at host 2, although",
		"\njobs that are stopped resume from a checkpoint written then, without overhead\n")
	saysTags(t, farm+"--resume every:0.3 --overhead 1/10", 0,
		"\njobs that are stopped resume from the last of the checkpoints every 0.3 units of work, with overhead 0.1\n")
	_, stderr := saysTags(t, farm+"--resume cut --overhead 3 --cutoffs 2,4", 0)
	if !strings.Contains(stderr, "jobs stopped at cutoff 2 need 3 units of work in addition, more than if they re") {
		t.Error(stderr)
	}
}

// All policies are simulated except those that interrupt jobs, whose means are exact.
func TestResumeSimulated(t *testing.T) {
	const farm = "--hosts 2 --load 0.5 --sizes erlang:2 --mean 1 --resume every:0.5 --overhead 0.1"
	answer := tagsJSON(t, farm+" --runs 5 --jumps 2e4", 0)
	for _, p := range answer["policies"].([]any) {
		p := p.(map[string]any)
		name := p["name"].(string)
		s, simulated := p["simulated"].(map[string]any)
		if simulated == (name == "fb" || name == "srpt") {
			t.Errorf("%s: simulated %v", name, simulated)
		}
		if name != "tags" && name != "restart" {
			continue
		}
		got, want := s["mean_waiting"].(map[string]any)["mean"].(float64), p["mean_waiting"].(float64)
		if !(got > 0.7*want && got < 1.1*want) {
			t.Errorf("%s: mean waiting %v, simulated %v", name, want, got)
		}
	}
}

// Text shows a cutoff that stops no job as none; JSON has the number, which --cutoffs accepts.
func TestResumeWithoutCutoffs(t *testing.T) {
	const farm = "--hosts 2 --load 0.3 --sizes lognormal:3 --mean 1 --runs 0 --resume cut --overhead 1e300"
	stdout, _ := saysTags(t, farm, 0, "\n1     none    0.6 ")
	if strings.Contains(stdout, "1.79769e+308") {
		t.Error(stdout)
	}
	answer := tagsJSON(t, farm, 0)
	if c := answer["cutoffs"].([]any); len(c) != 1 || c[0] != math.MaxFloat64 {
		t.Errorf("%v", c)
	}
}

func TestResumeErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "sizes", "1\n2\n9\n")
	const rules = "want restart, cut or every:TAU, in which TAU is a number in [1e-300, 1e300]\n"
	for args, want := range map[string]string{
		"--resume again":             "pfq: --resume = again: " + rules,
		"--resume every":             "pfq: --resume = every: " + rules,
		"--resume every:0":           "pfq: --resume = every:0: " + rules,
		"--resume cut:1":             "pfq: --resume = cut:1: " + rules,
		"--overhead 1":               "pfq: --overhead needs --resume cut or --resume every:TAU\n",
		"--resume cut --overhead -1": "pfq: --overhead = -1: want a number in [0, 1e300]\n",
		"--resume every:1/2 --engine enclose --sizes exponential --mean 1 --objective waiting": "pfq: --engine = " +
			"enclose: want auto or float with --resume every:1/2, unless --cutoffs are given\n",
		"--resume cut --objective fairness --sizes file:sizes": "pfq: --objective = fairness: want slowdown, " +
			"waiting or " +
			"slowdown=A,waiting=B for a list of sizes with --resume cut\n",
	} {
		if !strings.Contains(args, "--sizes") {
			args += " --sizes lognormal:4 --mean 1"
		}
		if _, stderr, status := tagsCommand("--hosts 2 --load 0.5 " + args); status != 2 || stderr != want {
			t.Errorf("%s: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}
