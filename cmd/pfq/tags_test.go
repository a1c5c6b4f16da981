package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	"productform/sim/farm"
	"productform/sizes"
	"productform/tags"
)

// tagsProgram is pfq with the command tags alone.
var tagsProgram = commandtest.Program(func() *cobra.Command { return command.Root(newTagsCommand()) })

// runTags runs one command line of pfq tags in this process.
var runTags = tagsProgram.Run

// tagsPaper gives the sizes of [HB02], figure 5: a mean of 3000 and a largest size of 1e10.
const tagsPaper = "--max 1e10 --mean 3000 "

// tagsCommand runs pfq tags, which simulates only if the arguments have --runs.
func tagsCommand(args string) (stdout, stderr string, status int) {
	words := append([]string{"tags"}, strings.Fields(args)...)
	if !slices.Contains(words, "--runs") {
		words = append(words, "--runs", "0")
	}
	return runTags("", words...)
}

// tagsAnswers returns a function that returns the answer and the exit status of pfq tags. It runs
// pfq tags once for each farm, even if the reference has several rows of the farm.
func tagsAnswers(t *testing.T) func(args string) (map[string]any, int) {
	type answer struct {
		answer map[string]any
		status int
	}
	known := map[string]answer{}
	return func(args string) (map[string]any, int) {
		t.Helper()
		if _, ok := known[args]; !ok {
			stdout, stderr, status := tagsCommand(args + " --format json")
			if status == 2 {
				t.Fatalf("pfq tags %s: %s", args, stderr)
			}
			known[args] = answer{commandtest.ParseJSON(t, stdout), status}
		}
		return known[args].answer, known[args].status
	}
}

// tagsJSON runs command lines with the given status. Reading the JSON proves that the answer has no
// NaN or infinity.
func tagsJSON(t *testing.T, args string, wanted int) map[string]any {
	t.Helper()
	stdout, stderr, status := tagsCommand(args + " --format json")
	if status != wanted {
		t.Fatalf("pfq tags %s: status %d, %s", args, status, stderr)
	}
	return commandtest.ParseJSON(t, stdout)
}

// policyOf returns the entry of a policy.
func policyOf(t *testing.T, answer map[string]any, list, name string) map[string]any {
	t.Helper()
	for _, p := range answer[list].([]any) {
		if p := p.(map[string]any); p["name"] == name {
			return p
		}
	}
	t.Fatalf("no %s among %s", name, list)
	return nil
}

// tagsReference returns the rows of the reference with high-precision values (see
// tags/testdata/README.md) for the kinds and the mean size 3000, by column.
func tagsReference(t *testing.T, kinds ...string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open("../../tags/testdata/tags_reference.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, key := range lines[0] {
			row[key] = line[i]
		}
		for _, kind := range kinds {
			if row["kind"] == kind {
				rows = append(rows, row)
			}
		}
	}
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	return rows
}

// farmArgs returns the flags of a row, whose smallest size is that of the row.
func farmArgs(row map[string]string) string {
	return fmt.Sprintf("--hosts %s --load %s --alpha %s --max %s --min %s ",
		row["h"], row["load"], row["alpha"], row["p"], row["k"])
}

// Values are compared at 1e-10, as the reference advises, and cutoffs at 1e-8 since they are
// polished.
func TestTagsOptimaAgainstReference(t *testing.T) {
	objectives := map[string]string{
		"ES@opt_slowdown":    "slowdown",
		"EW@opt_waitingtime": "waiting",
		"ES@opt_fairness":    "fairness",
	}
	ask := tagsAnswers(t)
	for _, row := range tagsReference(t, "tags_opt") {
		objective, known := objectives[row["metric"]]
		if !known {
			t.Fatalf("metric %s", row["metric"])
		}
		args := farmArgs(row) + "--objective " + objective
		answer, status := ask(args)
		if status != 0 {
			t.Fatalf("pfq tags %s: status %d", args, status)
		}
		want, _ := strconv.ParseFloat(row["value"], 64)
		commandtest.Near(t, args+": objective", answer["objective_value"], want, 1e-10)
		mean := map[string]string{"slowdown": "mean_slowdown", "waiting": "mean_waiting"}[objective]
		if mean != "" {
			commandtest.Near(t, args+": "+mean, answer[mean], want, 1e-10)
		}
		for i, text := range strings.Fields(strings.ReplaceAll(row["cutoffs"], ";", " ")) {
			s, _ := strconv.ParseFloat(text, 64)
			commandtest.Near(t, fmt.Sprintf("%s: cutoff %d", args, i+1), answer["cutoffs"].([]any)[i], s, 1e-8)
		}
	}
}

// Means of float and enclose at given cutoffs match the reference, in which the cutoffs are exact
// decimals.
func TestTagsMeansAgainstReference(t *testing.T) {
	paths := map[string]func(answer map[string]any) any{
		"ES": func(a map[string]any) any { return a["mean_slowdown"] },
		"EW": func(a map[string]any) any { return a["mean_waiting"] },
		"ES_wasted": func(a map[string]any) any { // without the last run
			stretch, ok := a["mean_stretch"].(float64)
			if !ok {
				return nil
			}
			return stretch - 1
		},
		"excess": func(a map[string]any) any { return a["excess"] },
		"lam":    func(a map[string]any) any { return a["arrival_rate"] },
	}
	for i := range 4 {
		for metric, key := range map[string]string{
			"load":   "load",
			"p":      "final_fraction",
			"pvisit": "visit_fraction",
			"S":      "slowdown",
			"Wvisit": "visit_waiting",
		} {
			paths[fmt.Sprintf("%s_%d", metric, i+1)] = func(a map[string]any) any {
				return a["hosts"].([]any)[i].(map[string]any)[key]
			}
		}
	}
	looked, ask := 0, tagsAnswers(t)
	for _, row := range tagsReference(t, "tags_eval") {
		get := paths[row["metric"]]
		if get == nil {
			continue
		}
		args := farmArgs(row)
		if row["cutoffs"] != "" {
			args += "--cutoffs " +
				strings.Join(strings.FieldsFunc(row["cutoffs"], func(c rune) bool { return c == ';' || c == ' ' }), ",")
		}
		want, _ := strconv.ParseFloat(row["value"], 64)
		for _, engine := range []string{"float", "enclose"} {
			answer, status := ask(args + " --engine " + engine)
			v := get(answer)
			if status == 1 && v == nil { // the reference evaluates formulas for overloaded hosts, too
				continue
			}
			looked++
			commandtest.Near(t, args+": "+row["metric"], v, want, 1e-10) // float has 1e-13 in all of them
		}
	}
	if looked < 25 {
		t.Errorf("only %d numbers were checked", looked)
	}
}

// The policies random and least-work-remaining (both forms), the largest loads and the server
// expansions match the reference.
func TestTagsRivalsAgainstReference(t *testing.T) {
	policies := map[string]string{
		"random":      "random",
		"lwr":         "least-work-remaining",
		"lwr_printed": "least-work-remaining-printed",
	}
	means := map[string]string{"ES": "mean_slowdown", "EW": "mean_waiting"}
	ask := tagsAnswers(t)
	for _, row := range tagsReference(t, "random", "lwr", "lwr_printed") {
		if means[row["metric"]] == "" {
			continue
		}
		args := farmArgs(row) + "--printed --objective waiting"
		answer, _ := ask(args)
		want, _ := strconv.ParseFloat(row["value"], 64)
		commandtest.Near(
			t, args, policyOf(t, answer, "policies", policies[row["kind"]])[means[row["metric"]]], want, 1e-11,
		)
	}
	for _, row := range tagsReference(t, "max_load") {
		row["load"] = "0.01"
		want, _ := strconv.ParseFloat(row["value"], 64)
		answer, _ := ask(farmArgs(row) + "--objective waiting")
		commandtest.Near(t, farmArgs(row)+"max_load", answer["max_load"], want, 1e-12)
	}
	names := map[string]string{
		"TAGS":        "tags",
		"LWR":         "least-work-remaining",
		"LWR_printed": "least-work-remaining-printed",
		"Random":      "random",
	}
	for _, row := range tagsReference(t, "expansion") {
		name, _, _ := strings.Cut(row["metric"], ":")
		answer, _ := ask(farmArgs(row) + "--printed --expand 3")
		want, _ := strconv.ParseFloat(row["value"], 64)
		commandtest.Near(
			t, row["alpha"]+" "+name, policyOf(t, answer, "expansion", names[name])["extra_hosts"], want, 1e-12,
		)
	}
}

// Bounded Pareto sizes between given ends have the digits of --alpha, --min and --max; --mean
// scales them as it does a ratio.
func TestTagsBetweenEnds(t *testing.T) {
	answer := func(args string) string {
		stdout, stderr, status := tagsCommand("--hosts 2 --load 0.5 --format json " + args)
		if status != 0 || stderr != "" {
			t.Fatalf("%s: status %d, %s", args, status, stderr)
		}
		return stdout
	}
	for _, engine := range []string{"", " --engine enclose"} {
		got, want := answer("--sizes bounded-pareto:1.1:2:1e4"+engine), answer("--alpha 1.1 --min 2 --max 1e4"+engine)
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	got, want := commandtest.ParseJSON(t, answer("--sizes bounded-pareto:1.1:2:1e4 --mean 3")),
		commandtest.ParseJSON(t, answer("--sizes bounded-pareto:1.1:5e3 --mean 3"))
	commandtest.Near(t, "mean slowdown", got["mean_slowdown"], want["mean_slowdown"].(float64), 1e-12)
}

// The fields have a fixed order, and their numbers are those of the package.
func TestTagsJSON(t *testing.T) {
	stdout, stderr, status := tagsCommand("--hosts 2 --load 0.5 --alpha 1 " + tagsPaper + "--format json")
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	rest := stdout
	host := []string{
		"host", "speed", "cutoff", "load", "slack", "visit_fraction", "final_fraction", "visit_waiting",
		"waiting", "slowdown", "delay",
	}
	order := []string{
		"feasible", "engine", "objective", "objective_value", "cutoffs", "mean_slowdown", "mean_waiting", "mean_delay",
		"mean_stretch", "excess", "lost_work", "optimality_gap", "unfairness", "max_load", "load", "arrival_rate",
		"distribution", "name", "mean", "scv", "mean_inverse", "min", "max", "hosts",
	}
	order = append(append(append(order, host...), host...), "policies")
	for range 6 {
		order = append(
			order, "name", "accuracy", "mean_slowdown", "mean_waiting", "mean_delay", "cutoffs",
			"host_loads", "optimality_gap",
		)
	}
	for _, key := range append(order, "warnings") {
		_, after, ok := strings.Cut(rest, `"`+key+`": `)
		if !ok {
			t.Fatalf("%s is missing or too early in %s", key, stdout)
		}
		rest = after
	}

	distribution, err := sizes.NewBoundedParetoOfMean(1, 1e10, 3000)
	if err != nil {
		t.Fatal(err)
	}
	m := tags.Model{Sizes: distribution, Hosts: 2, Load: 0.5}
	r, err := tags.Optimize(context.Background(), m, tags.PolicyTAGS, tags.Objective{Slowdown: 1})
	if err != nil {
		t.Fatal(err)
	}
	random, err := tags.Evaluate(context.Background(), m, tags.PolicyRandom, nil)
	if err != nil {
		t.Fatal(err)
	}
	turns, err := tags.Evaluate(context.Background(), m, tags.PolicyRoundRobin, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := commandtest.ParseJSON(t, stdout)
	want := map[string]any{
		"feasible": true, "engine": "float", "objective": "slowdown", "objective_value": r.Objective.Float,
		"cutoffs":       []any{r.Cutoffs[0]},
		"mean_slowdown": r.MeanSlowdown.Float, "mean_waiting": r.MeanWaiting.Float, "mean_delay": r.MeanDelay.Float,
		"mean_stretch": r.MeanStretch.Float,
		"excess":       r.Excess.Float, "lost_work": r.Lost.Float, "optimality_gap": r.Gap, "unfairness": nil,
		"load": 0.5, "warnings": []any{},
	}
	for key, value := range want {
		if diff := cmp.Diff(value, got[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	second := r.Hosts[1]
	if diff := cmp.Diff(map[string]any{
		"host": 2.0, "speed": 1.0, "cutoff": nil, "load": second.Load.Float, "slack": second.Slack.Float,
		"visit_fraction": second.Visit.Float, "final_fraction": second.Final.Float,
		"visit_waiting": second.VisitWait.Float, "waiting": second.Waiting.Float, "slowdown": second.Slowdown.Float,
		"delay": second.Delay.Float,
	}, got["hosts"].([]any)[1]); diff != "" {
		t.Error(diff)
	}
	low := func(v num.Value) float64 { low, _ := v.Bounds(); return low }
	high := func(v num.Value) float64 { _, high := v.Bounds(); return high }
	if diff := cmp.Diff(map[string]any{
		"name": "random", "accuracy": "exact", "mean_slowdown": random.MeanSlowdown.Float,
		"mean_waiting": random.MeanWaiting.Float, "mean_delay": random.MeanDelay.Float, "cutoffs": nil,
		"host_loads": []any{0.5, 0.5}, "optimality_gap": nil,
	}, policyOf(t, got, "policies", "random")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{
		"name": "round-robin", "accuracy": "bounds", "mean_slowdown": nil, "mean_waiting": nil, "mean_delay": nil,
		"mean_slowdown_low": low(turns.MeanSlowdown), "mean_slowdown_high": high(turns.MeanSlowdown),
		"mean_waiting_low": low(turns.MeanWaiting), "mean_waiting_high": high(turns.MeanWaiting),
		"mean_delay_low": low(turns.MeanDelay), "mean_delay_high": high(turns.MeanDelay), "cutoffs": nil,
		"host_loads": []any{0.5, 0.5}, "optimality_gap": nil,
	}, policyOf(t, got, "policies", "round-robin")); diff != "" {
		t.Error(diff)
	}
	if sita := policyOf(t, got, "policies", "sita"); sita["optimality_gap"] == nil ||
		len(sita["cutoffs"].([]any)) != 1 {
		t.Errorf("sita is %v", sita)
	}
}

// An infeasible farm has the same fields, null if a value does not exist, and the policies that
// need no cutoffs of TAGS. For α = 1/2 the density is c x^-1.5, c = 0.015/(1 - 3e-7), and host 2
// has load λ (2c (√1e9 - √1e8) + 1e9 tail(1e9)), tail(x) = 2c (1/√x - 1/√1e10), λ = 2.8/3000:
// 1.21088.
func TestTagsInfeasible(t *testing.T) {
	feasible := tagsJSON(t, "--hosts 2 --load 0.5 --alpha 1 "+tagsPaper, 0)
	most := tagsJSON(t, "--hosts 4 --load 0.5 --alpha 0.5 "+tagsPaper, 0)["max_load"].(float64)
	for _, c := range []struct {
		args, reason string
		overloaded   any
	}{
		{"--hosts 4 --load 0.7 --alpha 0.5 " + tagsPaper, "no cutoffs keep every host below load 1", nil},
		{
			"--hosts 4 --load 0.7 --alpha 0.5 --objective fairness " + tagsPaper,
			"no cutoffs keep every host below load 1", nil,
		},
		{
			"--hosts 4 --load 0.7 --alpha 0.5 --engine enclose " + tagsPaper, "no cutoffs keep every host below load 1",
			nil,
		},
		{
			"--hosts 4 --load 0.7 --alpha 0.5 --cutoffs 1e8,1e9,5e9 " + tagsPaper,
			"the cutoffs do not keep every host below load 1: host 2 has load 1.21088", 2.0,
		},
		{
			"--hosts 4 --load 0.7 --alpha 0.5 --engine enclose --cutoffs 1e8,1e9,5e9 " + tagsPaper,
			"the cutoffs do not keep every host below load 1: host 2 has load 1.21088", 2.0,
		},
	} {
		answer := tagsJSON(t, c.args, 1)
		if reason, _ := answer["reason"].(string); answer["feasible"] != false ||
			!strings.HasPrefix(reason, c.reason) || answer["overloaded_host"] != c.overloaded {
			t.Errorf("%s: %v, %v, %v", c.args, answer["feasible"], reason, answer["overloaded_host"])
		}
		commandtest.Near(t, "max_load", answer["max_load"], most, 1e-14)
		for key := range feasible {
			if _, ok := answer[key]; !ok {
				t.Errorf("%s: no %s", c.args, key)
			}
		}
		for _, key := range []string{
			"objective_value", "mean_slowdown", "mean_waiting", "mean_delay", "mean_stretch", "optimality_gap",
		} {
			if answer[key] != nil {
				t.Errorf("%s: %s is %v", c.args, key, answer[key])
			}
		}
		for _, key := range []string{"cutoffs", "excess", "lost_work"} {
			if (answer[key] == nil) != (c.overloaded == nil) {
				t.Errorf("%s: %s is %v", c.args, key, answer[key])
			}
		}
		for _, h := range answer["hosts"].([]any) {
			if h := h.(map[string]any); h["load"] == nil || h["waiting"] != nil || h["visit_waiting"] != nil ||
				h["slowdown"] != nil || h["delay"] != nil {
				t.Errorf("%s: host %v", c.args, h)
			}
		}
		if names := len(answer["policies"].([]any)); names != 5 ||
			policyOf(t, answer, "policies", "sita")["mean_slowdown"] == nil {
			t.Errorf("%s: policies %v", c.args, answer["policies"])
		}
	}
	for _, format := range render.Formats {
		stdout, stderr, status := tagsCommand("--hosts 4 --load 0.7 --alpha 0.5 " + tagsPaper + "--format " + format)
		if status != 1 || stderr != "" || !strings.Contains(stdout, "no cutoffs keep every host below load 1") {
			t.Errorf("status %d, %s%s", status, stdout, stderr)
		}
	}
}

// A quantity that does not exist is null: the slowdown if E[1/X] is infinite, the largest size, the
// gap for given cutoffs.
func TestTagsNull(t *testing.T) {
	for _, args := range []string{"--cutoffs 3", "--objective waiting"} {
		answer := tagsJSON(t, "--hosts 2 --load 0.5 --sizes exponential --mean 1 "+args, 0)
		slowdowns := ofHosts(answer, "slowdown")
		distribution := answer["distribution"].(map[string]any)
		if answer["mean_slowdown"] != nil || slowdowns[0] != nil || slowdowns[1] == nil || distribution["max"] != nil ||
			distribution["mean_inverse"] != nil {
			t.Errorf("%s: %v, %v, %v", args, answer["mean_slowdown"], slowdowns, distribution)
		}
		for _, p := range answer["policies"].([]any) {
			if p := p.(map[string]any); p["mean_slowdown"] != nil || p["mean_slowdown_low"] != nil ||
				p["mean_waiting"] == nil && p["mean_waiting_low"] == nil {
				t.Errorf("%s: %v", args, p)
			}
		}
		if given := strings.HasPrefix(args, "--cutoffs"); (answer["optimality_gap"] == nil) != given ||
			(answer["objective_value"] == nil) != given {
			t.Errorf("%s: gap %v, value %v", args, answer["optimality_gap"], answer["objective_value"])
		}
		if policyOf(t, answer, "policies", "sita")["mean_waiting"] == nil {
			t.Errorf("%s: no sita", args)
		}
	}
	// M/M/1 at load 1/2: E[W] = ρ/(1-ρ), and there are no cutoffs.
	answer := tagsJSON(t, "--hosts 1 --load 1/2 --sizes exponential --mean 2 --objective waiting", 0)
	commandtest.Near(t, "mean_waiting", answer["mean_waiting"], 2, 1e-14)
	if cutoffs, ok := answer["cutoffs"].([]any); !ok || len(cutoffs) != 0 {
		t.Errorf("cutoffs %v", answer["cutoffs"])
	}
	// A single size cannot be split between hosts.
	answer = tagsJSON(t, "--hosts 2 --load 0.5 --sizes deterministic --mean 1", 1)
	for _, name := range []string{"sita", "sita-e"} {
		if p := policyOf(t, answer, "policies", name); p["mean_waiting"] != nil || p["accuracy"] != nil ||
			p["note"] == "" {
			t.Errorf("%v", p)
		}
	}
	// The slower host is overloaded with Round-Robin; the central queue has no formula.
	answer = tagsJSON(t, "--hosts 2 --load 0.6 --speeds 1,4 --alpha 1 "+tagsPaper, 0)
	for _, name := range []string{"round-robin", "least-work-remaining"} {
		if p := policyOf(t, answer, "policies", name); p["mean_waiting"] != nil ||
			p["note"] != "not known for hosts of different speeds" {
			t.Errorf("%v", p)
		}
	}
}

// Equivalent weights, units and speeds give the same results.
func TestTagsInvariants(t *testing.T) {
	const farm = "--hosts 3 --load 0.5 --alpha 1.2 "
	waiting := tagsJSON(t, farm+tagsPaper+"--objective waiting", 0)
	mixed := tagsJSON(t, farm+tagsPaper+"--objective slowdown=0,waiting=2", 0)
	commandtest.Near(t, "E[W]", mixed["mean_waiting"], waiting["mean_waiting"].(float64), 1e-12)
	commandtest.Near(t, "twice E[W]", mixed["objective_value"], 2*waiting["mean_waiting"].(float64), 1e-12)
	both := tagsJSON(t, farm+tagsPaper+"--objective waiting=0.01,slowdown=1", 0)
	commandtest.Near(
		t, "sum", both["objective_value"], both["mean_slowdown"].(float64)+0.01*both["mean_waiting"].(float64), 1e-13,
	)

	fast := tagsJSON(t, farm+tagsPaper+"--objective waiting --speeds 2,2,2", 0) // halves all times
	commandtest.Near(t, "E[W] at twice the speed", fast["mean_waiting"], waiting["mean_waiting"].(float64)/2, 1e-11)
	large := tagsJSON(t, farm+"--max 1e13 --mean 3e6 --objective waiting", 0) // multiplies all times by 1000
	commandtest.Near(
		t, "E[W] of sizes times 1000", large["mean_waiting"], 1000*waiting["mean_waiting"].(float64), 1e-10,
	)
	given := []string{}
	for _, c := range waiting["cutoffs"].([]any) {
		given = append(given, strconv.FormatFloat(c.(float64), 'g', -1, 64))
	}
	again := tagsJSON(t, farm+tagsPaper+"--cutoffs "+strings.Join(given, ","), 0)
	commandtest.Near(t, "E[W] at these cutoffs", again["mean_waiting"], waiting["mean_waiting"].(float64), 1e-13)
	fair := tagsJSON(t, farm+tagsPaper+"--objective fairness", 0)
	for _, s := range ofHosts(fair, "slowdown") {
		commandtest.Near(t, "slowdown of a host", s, fair["objective_value"].(float64), 1e-11)
	}
	if u, ok := fair["unfairness"].(float64); !ok || u > 1e-11 || fair["optimality_gap"] != nil {
		t.Errorf("unfairness %v, gap %v", fair["unfairness"], fair["optimality_gap"])
	}
}

// The output of enclose is proved: it contains the reference and is as narrow as --tol requires;
// its cutoffs give the same result again.
func TestTagsEnclose(t *testing.T) {
	const farm = "--hosts 2 --load 0.5 --alpha 1 " + tagsPaper
	objectives := map[string]string{
		"ES@opt_slowdown":    "slowdown",
		"EW@opt_waitingtime": "waiting",
		"ES@opt_fairness":    "fairness",
	}
	looked := 0
	for _, row := range tagsReference(t, "tags_opt") {
		// others compute k from the mean
		if row["h"] != "2" || row["load"] != "0.5" || row["alpha"] != "1" || row["p"] != "1e10" {
			continue
		}
		looked++
		answer := tagsJSON(t, farm+"--engine enclose --tol 1e-28 --objective "+objectives[row["metric"]], 0)
		low, high, want := commandtest.Rat(t, answer["objective_value_low"]),
			commandtest.Rat(t, answer["objective_value_high"]), commandtest.Rat(t, row["value"])
		unit := new(big.Rat).Mul(want, commandtest.Rat(t, "1e-28")) // unit of the last digits of the reference
		if new(big.Rat).Sub(low, unit).Cmp(want) > 0 || new(big.Rat).Add(high, unit).Cmp(want) < 0 {
			t.Errorf("%s is not in [%v, %v]",
				row["value"], answer["objective_value_low"], answer["objective_value_high"])
		}
		cutoff, best := commandtest.Rat(t, answer["cutoffs_exact"].([]any)[0]), commandtest.Rat(t, row["cutoffs"])
		// the reference gives k with 40 digits
		if d := new(big.Rat).Sub(cutoff, best); d.Abs(d).Cmp(new(big.Rat).Mul(best, commandtest.Rat(t, "1e-39"))) > 0 {
			t.Errorf("cutoff %v, want %v", answer["cutoffs_exact"], row["cutoffs"])
		}
		if radius := answer["cutoff_radius"].(float64); !(radius < 1e-48) {
			t.Errorf("radius %v", radius)
		}
		again := tagsJSON(
			t, farm+"--engine enclose --tol 1e-28 --cutoffs "+answer["cutoffs_exact"].([]any)[0].(string), 0,
		)
		for _, key := range []string{
			"mean_slowdown", "mean_waiting", "mean_delay", "mean_stretch", "excess", "lost_work", "arrival_rate",
		} {
			for _, end := range []string{"", "_low", "_high"} {
				if again[key+end] != answer[key+end] || again[key+end] == nil {
					t.Errorf("%s is %v, then %v", key+end, answer[key+end], again[key+end])
				}
			}
			v := new(big.Rat).SetFloat64(answer[key].(float64))
			low, high := commandtest.Rat(t, answer[key+"_low"]), commandtest.Rat(t, answer[key+"_high"])
			// plus two roundings to 29 digits
			if width := new(big.Rat).Sub(high, low); width.Cmp(new(big.Rat).Mul(v, commandtest.Rat(t, "1e-27"))) > 0 {
				t.Errorf("%s is wide: [%v, %v]", key, answer[key+"_low"], answer[key+"_high"])
			}
		}
		for i, h := range answer["hosts"].([]any) {
			h := h.(map[string]any)
			for _, key := range []string{
				"load", "slack", "visit_fraction", "final_fraction", "visit_waiting", "waiting", "slowdown", "delay",
			} {
				middle, _ := commandtest.Rat(t, h[key+"_low"]).Float64()
				commandtest.Near(t, fmt.Sprintf("host %d: %s", i+1, key), h[key], middle, 1e-15)
			}
		}
		if answer["cutoff_radius"] == nil || again["cutoff_radius"] != nil {
			t.Errorf("radius %v, then %v", answer["cutoff_radius"], again["cutoff_radius"])
		}
	}
	if looked != 3 {
		t.Errorf("%d rows, want 3", looked)
	}
	// A slack of 1e-18 is too small for cutoffs in float64, so auto encloses. The engine float
	// warns and gives no other result.
	const delicate = "--hosts 2 --load 0.7 --alpha 0.2 " + tagsPaper
	if answer := tagsJSON(t, delicate, 0); answer["engine"] != "enclose" || ofHosts(answer, "load")[1].(float64) >= 1 {
		t.Errorf("engine %v, loads %v", answer["engine"], ofHosts(answer, "load"))
	}
	if answer := tagsJSON(t, delicate+"--engine float", 0); answer["engine"] != "float" ||
		answer["mean_slowdown_low"] != nil {
		t.Errorf("engine %v", answer["engine"])
	}
	if answer := tagsJSON(t, farm, 0); answer["engine"] != "float" {
		t.Errorf("engine %v", answer["engine"])
	}
	stdout, _, status := tagsCommand(farm + "--engine enclose --tol 1e-20")
	if status != 0 || !strings.Contains(stdout, "mean slowdown  32.811086889901052367\n") ||
		!strings.Contains(stdout, "78602.321519404516349935011432983155819776536087393\n") {
		t.Errorf("status %d, %s", status, stdout)
	}
	if stdout, _, _ := tagsCommand(delicate); !strings.Contains(stdout, "\n2     -            <1        4.41339e-07 ") {
		t.Error(stdout)
	}
}

// The answers with the added hosts and with one of them removed confirm that the added hosts
// suffice and that fewer do not.
func TestTagsExpansion(t *testing.T) {
	const hosts, load, target = 2, 0.6, 1.5
	answer := tagsJSON(t, fmt.Sprintf("--hosts %d --load %g --alpha 1.4 %s --expand %g --printed",
		hosts, load, tagsPaper, target), 0)
	for _, name := range []string{"tags", "least-work-remaining", "least-work-remaining-printed", "sita-e", "sita"} {
		e := policyOf(t, answer, "expansion", name)
		extra, ok := e["extra_hosts"].(float64)
		if !ok || extra < 1 || e["target"] != target {
			t.Fatalf("%v", e)
		}
		for _, more := range []int{int(extra) - 1, int(extra)} {
			h := hosts + more
			stdout, stderr, status := tagsCommand(fmt.Sprintf(
				"--hosts %d --load %g/%d --alpha 1.4 %s --printed --format json", h, load*hosts, h, tagsPaper,
			))
			if status == 2 {
				t.Fatal(stderr)
			}
			within := false
			if answer := commandtest.ParseJSON(t, stdout); answer["feasible"] == true || name != "tags" {
				slowdown, ok := policyOf(t, answer, "policies", name)["mean_slowdown"].(float64)
				within = ok && slowdown <= target
				if more == int(extra) {
					commandtest.Near(t, name, e["mean_slowdown"], slowdown, 1e-10)
				}
			}
			if within != (more == int(extra)) {
				t.Errorf("%s: %d more hosts: within the target: %v", name, more, within)
			}
		}
	}
	if e := policyOf(t, answer, "expansion", "round-robin"); e["extra_hosts"] != nil ||
		!(e["extra_hosts_low"].(float64) <= e["extra_hosts_high"].(float64)) {
		t.Errorf("%v", e)
	}
}

// Sizes from a file match the distribution drawn from it; a log, compressed or not, gives run times
// or work.
func TestTagsSizesOfFile(t *testing.T) {
	t.Chdir(t.TempDir())
	record := func(time, processors string) string {
		return "1 0 0 " + time + " " + processors + strings.Repeat(" -1", 13) + "\n"
	}
	log := "; a log\n" + record("1", "6") + record("-1", "2") + record("3", "2") + record("2", "1")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(log)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": "; sizes\n1\n\n2\n3\n", "log": log, "log.gz": packed.String()} {
		commandtest.WriteFile(t, name, text)
	}
	model := func(jobSizes ...float64) tags.Model {
		d, err := sizes.NewEmpirical(jobSizes)
		if err != nil {
			t.Fatal(err)
		}
		return tags.Model{Sizes: d, Hosts: 2, Load: 0.4}
	}
	const farm = "--hosts 2 --load 0.4 --objective waiting --sizes "
	for _, c := range []struct {
		args, told string
		model      tags.Model
	}{
		{"file:list", "", model(1, 2, 3)},
		{"swf:log", "log: 1 job without a run time > 0 is omitted", model(1, 3, 2)},
		{"swf:log.gz", "log.gz: 1 job without a run time > 0 is omitted", model(1, 3, 2)},
		{
			"swf:log.gz --processor-seconds", "log.gz: 1 job without a run time > 0 and processors is omitted",
			model(6, 6, 2),
		},
	} {
		stdout, stderr, status := tagsCommand(farm + c.args + " --format json")
		if told := "pfq: warning: " + c.told + "\n"; status != 0 || stderr != told && (c.told != "" || stderr != "") {
			t.Fatalf("%s: status %d, %q", c.args, status, stderr)
		}
		want, err := tags.Optimize(context.Background(), c.model, tags.PolicyTAGS, tags.Objective{Waiting: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := commandtest.ParseJSON(t, stdout)
		if diff := cmp.Diff([]any{want.Cutoffs[0]}, got["cutoffs"]); diff != "" {
			t.Errorf("%s: %s", c.args, diff)
		}
		commandtest.Near(t, c.args, got["mean_waiting"], want.MeanWaiting.Float, 1e-14)
	}
	want, _, _ := tagsCommand(farm + "file:list")
	want = strings.Replace(want, "list: ", "standard input: ", 1)
	if stdout, stderr, status := runTags("1\n2\n3\n", strings.Fields("tags --runs 0 "+farm+"file:-")...); status != 0 ||
		stdout != want {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}

	// Sizes at the quantiles of a bounded Pareto distribution: the fitted distribution has the same
	// ends and nearly the same alpha.
	d, err := sizes.NewBoundedPareto(1, 1000, 1.3)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	const n = 2000
	for i := range n + 1 {
		x, err := d.Quantile(float64(i) / n)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&text, x)
	}
	commandtest.WriteFile(t, "quantiles", text.String())
	got := tagsJSON(t, farm+"file:quantiles --fit", 0)
	fitted := got["distribution"].(map[string]any)["name"].(string)
	match := regexp.MustCompile(`^bounded Pareto of min 1, max 1000 and alpha (1\.\d+)$`).FindStringSubmatch(fitted)
	if match == nil {
		t.Fatal(fitted)
	}
	alpha, _ := strconv.ParseFloat(match[1], 64)
	commandtest.Near(t, "alpha", alpha, 1.3, 0.005) // the mean of n quantiles is off by about ln(n)/n
	best := tagsJSON(t, "--hosts 2 --load 0.4 --objective waiting --min 1 --max 1000 --alpha "+match[1], 0)
	commandtest.Near(t, "E[W] of the fitted distribution", got["mean_waiting"], best["mean_waiting"].(float64), 1e-12)
}

// CSV has the numbers of JSON: a line for the farm, each host, each policy and each expansion.
func TestTagsCSV(t *testing.T) {
	for _, more := range []string{"", "--engine enclose", "--runs 3 --jumps 1e3", "--speeds 3,2"} {
		args := "--hosts 2 --load 0.5 --alpha 1.5 --max 1e5 --min 1 " + more
		if more == "" {
			args += "--expand 2"
		}
		stdout, stderr, status := tagsCommand(args + " --format csv")
		if status != 0 {
			t.Fatal(stderr)
		}
		lines, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, column := range lines[0] {
			if seen[column] {
				t.Errorf("column %s appears twice", column)
			}
			seen[column] = true
		}
		answer := tagsJSON(t, args, 0)
		rows := []any{answer}
		for _, list := range []string{"hosts", "policies", "expansion"} {
			if answer[list] != nil {
				rows = append(rows, answer[list].([]any)...)
			}
		}
		if len(lines) != 1+len(rows) {
			t.Fatalf("%d lines for %d rows", len(lines), len(rows))
		}
		for i, row := range rows {
			values := map[string]any{}
			for key, v := range row.(map[string]any) {
				switch v := v.(type) {
				case []any:
					continue
				case map[string]any: // nested records get longer names
					for inner, v := range v {
						if e, ok := v.(map[string]any); ok {
							values[key+"_"+inner] = e["mean"]
							continue
						}
						values[key+"_"+inner] = v
					}
				default:
					if key == "host" {
						key = "name"
					}
					values[key] = v
				}
			}
			for k, column := range lines[0] {
				v, ok := values[column]
				if !ok || v == nil {
					continue
				}
				if number, ok := v.(float64); ok {
					cell, err := strconv.ParseFloat(lines[i+1][k], 64)
					if err != nil || cell != number {
						t.Errorf("line %d, %s: %s, want %v", i+1, column, lines[i+1][k], v)
					}
				} else if cell := lines[i+1][k]; cell != fmt.Sprint(v) {
					t.Errorf("line %d, %s: %s, want %v", i+1, column, cell, v)
				}
				delete(values, column)
			}
			for column, v := range values {
				if v != nil {
					t.Errorf("line %d: no %s = %v", i+1, column, v)
				}
			}
		}
	}
}

// Simulation agrees with theory if that is exact; simulated TAGS is below its approximation.
func TestTagsSimulate(t *testing.T) {
	const args = "--hosts 2 --load 0.5 --sizes lognormal:3 --mean 1 --runs 30 --jumps 3e3 --seed 5 "
	answer := tagsJSON(t, args, 0)
	looked := 0
	checkZ := func(what string, e any) {
		if e, ok := e.(map[string]any); ok && e["exact"] != nil {
			looked++
			// a standard normal variable exceeds this with probability 4e-8
			if z, ok := e["z"].(float64); !ok || math.Abs(z) > 5.5 {
				t.Errorf("%s: %v", what, e)
			}
		}
	}
	names := []string{}
	for _, p := range answer["policies"].([]any) {
		p := p.(map[string]any)
		names = append(names, p["name"].(string))
		for _, key := range []string{"mean_slowdown", "mean_waiting", "mean_delay"} {
			e, ok := p["simulated"].(map[string]any)[key].(map[string]any)
			if !ok || !(e["half_width"].(float64) > 0) {
				t.Errorf("%s: %s is %v", p["name"], key, p["simulated"])
			}
			checkZ(p["name"].(string)+" "+key, e)
			if low, ok := p[key+"_low"].(float64); ok { // with bounds, 3 half-widths are 6 standard errors
				high, mean, off := p[key+"_high"].(float64), e["mean"].(float64), 3*e["half_width"].(float64)
				if !(mean+off >= low && mean-off <= high) {
					t.Errorf("%s: %v is out of bounds", p["name"], e)
				}
			}
		}
	}
	if diff := cmp.Diff(
		[]string{"tags", "random", "round-robin", "least-work-remaining", "sita-e", "sita", "shortest-queue"}, names,
	); diff != "" {
		t.Error(diff)
	}
	for i, h := range answer["hosts"].([]any) {
		simulated := h.(map[string]any)["simulated"].(map[string]any)
		for _, key := range []string{"load", "visit_waiting", "waiting", "slowdown", "delay", "interarrival_scv"} {
			e := simulated[key].(map[string]any)
			checkZ(fmt.Sprintf("host %d %s", i+1, key), e)
			if exact := e["exact"] != nil; exact != (key == "load" || i == 0 && key != "interarrival_scv") {
				t.Errorf("host %d: %s is %v", i+1, key, e)
			}
		}
	}
	if looked != 9+6 { // random, sita-e, sita; five at host 1; the load of host 2
		t.Errorf("%d exact values, want 15", looked)
	}
	settings := answer["simulation"].(map[string]any)
	commandtest.Joint(t, settings["joint"], answer)
	delete(settings, "joint")
	if got := answer["simulation"]; !cmp.Equal(got, map[string]any{
		"runs":       30.0,
		"jumps":      3e3,
		"seed":       5.0,
		"confidence": 0.95,
	}) {
		t.Errorf("simulation %v", got)
	}

	// The numbers are those of sim.Run with the same settings, and do not depend on the number of
	// parallel runs.
	distribution, err := sizes.Parse("lognormal:3", 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(
		t.Context(), farm.Farm{Model: tags.Model{Sizes: distribution, Hosts: 2, Load: 0.5}, Policy: farm.ShortestQueue},
		sim.Settings{Runs: 30, Jumps: 3e3, Seed: 5},
	)
	if err != nil {
		t.Fatal(err)
	}
	e := policyOf(
		t, answer, "policies", "shortest-queue",
	)["simulated"].(map[string]any)["mean_waiting"].(map[string]any)
	if want := r.All(farm.MeanWaiting); e["mean"] != want.Mean || e["half_width"] != want.HalfWidth {
		t.Errorf("%v, want %v", e, want)
	}
	for _, format := range render.Formats {
		const args = "--hosts 2 --load 0.5 --sizes lognormal:3 --mean 1 --runs 5 --jumps 2e3 "
		one, _, _ := tagsCommand(args + "--parallel 1 --format " + format)
		two, _, _ := tagsCommand(args + "--parallel 2 --format " + format)
		if diff := cmp.Diff(one, two); diff != "" || one == "" {
			t.Error(diff)
		}
	}
}

// Without --runs, least-work-remaining alone is simulated, if its means are approximations or
// unknown: 10 runs of 10^5 jumps with seed 1. --runs 0 leaves this out.
func TestTagsSimulatesRival(t *testing.T) {
	answerOf := func(args string, wanted int) map[string]any {
		stdout, stderr, status := runTags("", strings.Fields("tags --format json "+args)...)
		if status != wanted {
			t.Fatalf("pfq tags %s: status %d, %s", args, status, stderr)
		}
		return commandtest.ParseJSON(t, stdout)
	}
	const lognormal = "--hosts 2 --sizes lognormal:3 --mean 1 --load "
	for _, c := range []struct {
		args      string
		status    int
		simulated bool
		note      string
	}{
		{lognormal + "0.8", 1, true, ""},
		{lognormal + "0.6 --speeds 1,2", 0, true, "not known for hosts of different speeds"},
		{lognormal + "0.6 --runs 0", 0, false, ""},
		{"--hosts 2 --load 0.6 --sizes exponential --mean 1 --objective waiting", 0, false, ""},
		{"--hosts 1 --load 0.6 --sizes lognormal:3 --mean 1", 0, false, ""},
		{lognormal + "1e-300", 0, false, "not simulated: times are beyond the range of the simulator"},
	} {
		answer := answerOf(c.args, c.status)
		settings, isSimulated := answer["simulation"].(map[string]any)
		for _, p := range answer["policies"].([]any) {
			p := p.(map[string]any)
			estimates, _ := p["simulated"].(map[string]any)
			if wanted := c.simulated && p["name"] == "least-work-remaining"; (estimates != nil) != wanted {
				t.Errorf("pfq tags %s: %v", c.args, p)
			}
			if note, _ := p["note"].(string); p["name"] == "least-work-remaining" && !strings.HasSuffix(note, c.note) {
				t.Errorf("pfq tags %s: note %q, want %q", c.args, note, c.note)
			}
		}
		if isSimulated != c.simulated || isSimulated && !cmp.Equal(settings, map[string]any{
			"runs": 10.0, "jumps": 1e5, "seed": 1.0, "confidence": 0.95, "joint": nil,
		}) {
			t.Errorf("pfq tags %s: simulation %v", c.args, settings)
		}
	}
	// The estimates are those of sim.Run with these settings, at every factor of the load.
	estimate := func(answer map[string]any) map[string]any {
		return policyOf(t, answer, "policies", "least-work-remaining")["simulated"].(map[string]any)
	}
	stdout, _, _ := runTags("", strings.Fields("tags --format json --scale 0.5,1 "+lognormal+"0.5")...)
	var points []map[string]any
	if err := json.Unmarshal([]byte(stdout), &points); err != nil {
		t.Fatal(err)
	}
	distribution, err := sizes.Parse("lognormal:3", 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(
		t.Context(),
		farm.Farm{Model: tags.Model{Sizes: distribution, Hosts: 2, Load: 0.5}, Policy: tags.PolicyCentral},
		sim.Settings{Runs: 10, Jumps: 1e5, Seed: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	for key, of := range map[string]string{
		"mean_slowdown": farm.MeanSlowdown, "mean_waiting": farm.MeanWaiting, "mean_delay": sim.MeasuredDelay,
	} {
		e, want := estimate(points[1])[key].(map[string]any), r.All(of)
		if e["mean"] != want.Mean || e["half_width"] != want.HalfWidth {
			t.Errorf("%s: %v, want %v", key, e, want)
		}
	}
	text, _, _ := runTags("", strings.Fields("tags "+lognormal+"0.5")...)
	for _, want := range []string{"see its simulated means\n", "\nsimulated: 10 runs of 100000 jumps; seed 1;"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// Input that cannot be simulated is reported, doubtful estimates cause warnings, and kept runs are
// reused.
func TestTagsSimulateNotes(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "runs")
	const args = "--hosts 2 --load 0.6 --speeds 1,4 --alpha 1 --max 1e6 --mean 10 --runs 3 --jumps 1e3 --format json"
	stdout, stderr, status := tagsCommand(args + " --results " + folder)
	if status != 0 {
		t.Fatal(stderr)
	}
	answer := commandtest.ParseJSON(t, stdout)
	if p := policyOf(t, answer, "policies", "round-robin"); p["simulated"] != nil ||
		p["note"] != "not known for hosts of different speeds; not simulated: a host is overloaded" {
		t.Errorf("%v", p)
	}
	if p := policyOf(t, answer, "policies", "least-work-remaining"); p["simulated"] == nil || p["mean_waiting"] != nil {
		t.Errorf("%v", p)
	}
	var want strings.Builder
	for _, w := range answer["warnings"].([]any) {
		fmt.Fprintln(&want, "pfq: warning:", w)
	}
	if told := commandtest.ProgressLines.ReplaceAllString(stderr, ""); told != want.String() ||
		!strings.Contains(told, "warning: tags: ") {
		t.Errorf("%q, want %q", told, want.String())
	}
	files := commandtest.Kept(t, folder)
	again, _, _ := tagsCommand(args + " --results " + folder)
	if again != stdout || len(files) != 3*6 { // all policies except round-robin
		t.Errorf("%d files; %s", len(files), cmp.Diff(stdout, again))
	}
	for path, written := range commandtest.Kept(t, folder) {
		if files[path] != written {
			t.Errorf("%s was written again", path)
		}
	}
	// An infeasible farm still has its rivals simulated.
	infeasible := tagsJSON(t, "--hosts 4 --load 0.9 --sizes erlang:2 --mean 1 --runs 2 --jumps 1e3", 1)
	if policyOf(t, infeasible, "policies", "shortest-queue")["simulated"] == nil {
		t.Error("nothing was simulated")
	}
}

// Bad usage and bad input: status 2, one line that names the flag, nothing on the standard output,
// no file.
func TestTagsBadUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"empty":    "; nothing\n",
		"negative": "1\n\n-2\n",
		"word":     "1\ntwo\n",
		"list":     "1\n2\n4\n",
		"equal":    "2\n2\n",
	} {
		commandtest.WriteFile(t, name, text)
	}
	const farm, sizes = "--hosts 2 --load 0.5 ", "--alpha 1 --max 1e10 --mean 3000 "
	for _, c := range []struct{ args, want string }{
		{"model.json", `pfq: unexpected argument "model.json": tags takes flags only` + "\n"},
		{
			"month.swf --hosts 2",
			`pfq: unexpected argument "month.swf": tags takes flags only; sizes in a file are --sizes swf:month.swf` +
				"\n",
		},
		{
			"times.txt --hosts 2",
			`pfq: unexpected argument "times.txt": tags takes flags only; sizes in a file are --sizes file:times.txt` +
				" for a list of sizes, or log:times.txt for a log" +
				"\n",
		},
		{farm + "--sizes month.swf", "pfq: --sizes = month.swf: want swf:month.swf\n"},
		{farm + "--sizes month.SWF.gz", "pfq: --sizes = month.SWF.gz: want swf:month.SWF.gz\n"},
		{farm + "--sizes SDSC-Par-1996", "pfq: --sizes = SDSC-Par-1996: want swf:SDSC-Par-1996\n"},
		{farm + "--sizes list", "pfq: --sizes = list: want file:list for a list of sizes, or log:list for a log\n"},
		{"--load 0.5 " + sizes, "pfq: --hosts is missing: want an integer in 1..64\n"},
		{"--hosts 2 " + sizes, "pfq: --load is missing: want a number > 0 and < 1, or --arrival-rate\n"},
		{farm, "pfq: --sizes is missing: want DISTRIBUTION --mean M, file:PATH, log:PATH, swf:PATH, or --alpha A " +
			"--max P with --min K or --mean M\n"},
		{"--hosts 0 --load 0.5 " + sizes, "pfq: --hosts = 0: want an integer in 1..64\n"},
		{"--hosts 65 --load 0.5 " + sizes, "pfq: --hosts = 65: want an integer in 1..64\n"},
		{"--hosts two --load 0.5 " + sizes, "pfq: --hosts = two: want an integer in 1..64\n"},
		{
			"--hosts 2 --load 1 " + sizes,
			"pfq: --load = 1: want a number > 0 and < 1, in double precision too, such as 0.3 for 30 percent\n",
		},
		{
			"--hosts 2 --load 0 " + sizes,
			"pfq: --load = 0: want a number > 0 and < 1, in double precision too, such as 0.3 for 30 percent\n",
		},
		{
			"--hosts 2 --load NaN " + sizes,
			"pfq: --load = NaN: want a number > 0 and < 1, in double precision too, such as 0.3 for 30 percent\n",
		},
		{"--hosts 2 --load 0.99999999999999999999 " + sizes, "pfq: --load = 0.99999999999999999999: want a number > " +
			"0 and < 1, in double precision too, such as 0.3 for 30 percent\n"},
		{farm + "--alpha 0 --max 1e10 --mean 3000", "pfq: --alpha = 0: want a number in [1e-100, 1e+09]\n"},
		{farm + "--alpha -1 --max 1e10 --mean 3000", "pfq: --alpha = -1: want a number in [1e-100, 1e+09]\n"},
		{farm + "--alpha 1 --max Inf --mean 3000", "pfq: --max = Inf: want a number in [1e-300, 1e+300]\n"},
		{farm + "--alpha 1 --max 1e10 --mean 0", "pfq: --mean = 0: want a number in [1e-300, 1e+300]\n"},
		{farm + "--alpha 1 --max 1e10 --mean 1e10", "pfq: --mean = 1e10: want a number below --max, 1e10\n"},
		{farm + "--alpha 1 --max 1e10 --min 2e10", "pfq: --min = 2e10: want a number below --max, 1e10\n"},
		{farm + "--alpha 1 --max 10 --min 10", "pfq: --min = 10: want a number below --max, 10\n"},
		{
			farm + "--alpha 0.001 --max 1e10 --mean 3000",
			"pfq: --mean = 3000: want a mean for which the low end is at least 1e-300, with alpha = 0.001\n",
		},
		{
			farm + "--alpha 1 --max 10",
			"pfq: --min is missing: want the smallest size of the bounded Pareto distribution, or its mean as --mean\n",
		},
		{
			farm + "--alpha 1 --mean 10",
			"pfq: --max is missing: want the largest size of the bounded Pareto distribution\n",
		},
		{farm + "--max 10 --mean 1", "pfq: --alpha is missing: want the exponent of the bounded Pareto distribution\n"},
		{farm + "--alpha 1 --max 10 --min 1 --mean 2", "pfq: --min and --mean cannot be combined\n"},
		{farm + "--sizes file:list --alpha 1", "pfq: --sizes file:list and --alpha cannot be combined\n"},
		{farm + "--sizes file:list --mean 1", "pfq: --sizes file:list and --mean cannot be combined\n"},
		{farm + "--law exponential", "pfq: unknown flag: --law; it is now --sizes\n"},
		{farm + sizes + "--arrival-rate 1", "pfq: --load and --arrival-rate cannot be combined\n"},
		{"--hosts 2 --arrival-rate 0.1 --sizes exponential --mean 40 --objective waiting", "pfq: --arrival-rate = " +
			"0.1: want a rate below 0.05, at which the system load is 1, and a load within double precision\n"},
		{farm + "--sizes exponential --mean 1 --max 3", "pfq: --sizes exponential and --max cannot be combined\n"},
		{farm + "--sizes exponential", "pfq: --mean is missing: want the mean size, with --sizes\n"},
		{farm + "--sizes exponentil --mean 1", "pfq: --sizes = exponentil: want exponential, "},
		{
			farm + "--sizes lognormal:-1 --mean 1",
			"pfq: --sizes = lognormal:-1: want lognormal:SCV with SCV in [1e-12, 1e6]\n",
		},
		{farm + "--sizes lognormal:2 --mean 1e100", "pfq: --mean = 1e+100: want a number in [1e-90, 1e90]\n"},
		{
			farm + "--sizes pareto:1.5 --mean 1 --objective waiting",
			"pfq: --sizes = pareto:1.5: want sizes with a finite mean square",
		},
		{farm + "--fit " + sizes, "pfq: --fit needs a file, --sizes file:PATH, log:PATH or swf:PATH\n"},
		{farm + "--processor-seconds " + sizes,
			"pfq: --processor-seconds needs a file, --sizes file:PATH, log:PATH or swf:PATH\n"},
		{farm + "--sizes file:absent", "pfq: --sizes: absent: no such file or directory\n"},
		{farm + "--sizes file:.", "pfq: .: is a directory\n"},
		{farm + "--sizes file:empty", "pfq: empty: want one size per line, not a file without sizes\n"},
		{farm + "--sizes file:negative", "pfq: negative:3: size = -2: want a number in [1e-300, 1e300]\n"},
		{farm + "--sizes file:word", "pfq: word:2: size = two: want a number in [1e-300, 1e300]\n"},
		{
			farm + "--sizes file:list --processor-seconds",
			"pfq: list: --processor-seconds = a list of sizes: want a log, log:PATH\n",
		},
		{farm + "--sizes file:equal --fit", "pfq: equal: sizes = 2 of 2: want at least two different sizes\n"},
		{farm + "--sizes lognormal:2 --mean 1 --engine enclose", "pfq: --engine = enclose: want auto or float for " +
			"the sizes lognormal:2: want sizes whose partial moments can be enclosed: exponential, "},
		{
			farm + "--sizes file:list --fit --engine enclose",
			"pfq: --engine = enclose: want auto or float with --fit, whose distribution is that of doubles\n",
		},
		// hosts are idle
		{
			"--hosts 8 --load 0.102 --alpha 1 --max 5326.63 --mean 1000.85 --engine enclose",
			"pfq: --engine = enclose: want auto or float here: ",
		},
		{
			farm + sizes + "--objective speed",
			"pfq: --objective = speed: want slowdown=A,waiting=B, slowdown, waiting or fairness\n",
		},
		{farm + sizes + "--objective slowdow", "pfq: --objective = slowdow: want slowdown=A,waiting=B, slowdown, " +
			"waiting or fairness; did you mean slowdown?\n"},
		{farm + sizes + "--objective fairnes", "pfq: --objective = fairnes: want slowdown=A,waiting=B, slowdown, " +
			"waiting or fairness; did you mean fairness?\n"},
		{farm + sizes + "--objective slowdown=0", "pfq: --objective = slowdown=0: want slowdown=A,waiting=B, in " +
			"which A and B are numbers in [0, 1e100] and not both 0\n"},
		{
			farm + sizes + "--objective slowdown=1,slowdown=2",
			"pfq: --objective = slowdown=1,slowdown=2: want slowdown=A,waiting=B, ",
		},
		{
			farm + sizes + "--objective slowdown=1,wait=2",
			"pfq: --objective = slowdown=1,wait=2: want slowdown=A,waiting=B, ",
		},
		{farm + sizes + "--objective waiting=-1", "pfq: --objective = waiting=-1: want slowdown=A,waiting=B, "},
		{farm + "--sizes exponential --mean 1", "pfq: --objective = slowdown, the default: want waiting, since the " +
			"mean of 1/size is infinite for these sizes\n"},
		{
			farm + "--sizes exponential --mean 1 --objective fairness",
			"pfq: --objective = fairness: want waiting, since the mean of 1/size is infinite for these sizes\n",
		},
		{
			farm + "--sizes exponential --mean 1 --objective waiting --expand 3",
			"pfq: --expand = 3: want sizes whose mean of 1/size is finite\n",
		},
		{farm + sizes + "--cutoffs 10,20", "pfq: --cutoffs = 2 cutoffs: want 1, one fewer than hosts\n"},
		{"--hosts 1 --load 0.5 --cutoffs 1e4 " + sizes, "pfq: --cutoffs = 1 cutoffs: want 0, one fewer than hosts\n"},
		{
			"--hosts 3 --load 0.5 --cutoffs 1e5,1e4 " + sizes,
			"pfq: --cutoffs[1] = 1e4: want a finite number >= 100000\n",
		},
		{farm + sizes + "--cutoffs 1e4,", "pfq: --cutoffs[1] is missing: want 0, or a number in [1e-300, 1e300]\n"},
		{farm + sizes + "--cutoffs -1", "pfq: --cutoffs[0] = -1: want 0, or a number in [1e-300, 1e300]\n"},
		{farm + sizes + "--speeds 1", "pfq: --speeds = 1 speeds: want one speed per host, 2\n"},
		{farm + sizes + "--speeds 1,0", "pfq: --speeds[1] = 0: want a number in [1e-100, 1e100]\n"},
		{
			farm + sizes + "--speeds 1,2 --expand 3",
			"pfq: --speeds[1] = 2: want one speed for all hosts, 1, with --expand\n",
		},
		{farm + sizes + "--expand 0", "pfq: --expand = 0: want a number in [1e-100, 1e100]\n"},
		{farm + sizes + "--engine exact", "pfq: --engine = exact: want auto, float or enclose\n"},
		{farm + sizes + "--tol 0", "pfq: --tol = 0: want a number >= 1e-290 and < 1\n"},
		{farm + sizes + "--runs 1", "pfq: --runs = 1: want 0 or an integer in 2..1000000\n"},
		{farm + sizes + "--runs 0 --jumps 1e4", "pfq: --jumps needs --runs\n"},
		{farm + sizes + "--runs 2 --jumps 10", "pfq: --jumps = 10: want a number in [1000, 1e15]\n"},
		{farm + sizes + "--jumps 1e4", "pfq: --jumps needs --runs\n"},
		{farm + sizes + "--seed 3", "pfq: --seed needs --runs\n"},
		{farm + sizes + "--runs 2 --jumps 1e3 --results list", "pfq: --results = list: "},
		{farm + sizes + "--run 3", "pfq: unknown flag: --run; did you mean --runs?\n"},
		{farm + sizes + "--format xml", "pfq: --format = xml: want text, json or csv\n"},
		{farm + sizes + "-o absent/answer", "pfq: absent/answer: the folder absent does not exist\n"},
	} {
		stdout, stderr, status := tagsCommand(c.args)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, c.want) || strings.Count(stderr, "\n") != 1 ||
			!strings.HasSuffix(stderr, "\n") {
			t.Errorf("pfq tags %s: status %d, stdout %q, stderr %q, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 5 {
		t.Errorf("files %v were left, error %v", files, err)
	}
}

// -o writes what the standard output would receive, including the reason why a farm is infeasible.
func TestTagsOutputFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answer.json")
	for _, c := range []struct {
		args   string
		status int
	}{{"--hosts 2 --load 0.5 --alpha 1 ", 0}, {"--hosts 4 --load 0.7 --alpha 0.5 ", 1}} {
		want, _, _ := tagsCommand(c.args + tagsPaper + "--format json")
		stdout, stderr, status := tagsCommand(c.args + tagsPaper + "--format json -o " + file)
		if text, err := os.ReadFile(file); err != nil || status != c.status || stdout != "" || stderr != "" ||
			string(text) != want || !json.Valid(text) {
			t.Errorf("status %d, %q, %q, %q, error %v", status, stdout, stderr, text, err)
		}
	}
}

// The cutoffs of a list of sizes are shown in full: six digits would kill jobs whose size is the
// cutoff.
func TestTagsShowsCutoffsOfListsInFull(t *testing.T) {
	for size, want := range map[string]string{"1234564": "1.234564e+06", "0.12345678": "0.12345678"} {
		stdout, stderr, status := runTags(
			size+"\n"+size+"\n1e7\n",
			strings.Fields("tags --sizes file:- --hosts 2 --load 0.2 --runs 0 --cutoffs "+size)...,
		)
		if status != 0 || !strings.Contains(stdout, "\n1     "+want+" ") {
			t.Errorf("status %d, %s%s", status, stdout, stderr)
		}
	}
}

// ofHosts returns one number per host.
func ofHosts(answer map[string]any, key string) (list []any) {
	for _, host := range answer["hosts"].([]any) {
		list = append(list, host.(map[string]any)[key])
	}
	return list
}

// An arrival rate and its load give the same answer, exactly if the mean is exact.
func TestTagsArrivalRate(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "list", "0.1\n0.2\n0.6\n") // the mean is 0.3
	for rate, load := range map[string]string{
		"--arrival-rate 0.5 --speeds 1,2 --sizes lognormal:3 --mean 3.6": "--load 0.6 --speeds 1,2 --sizes " +
			"lognormal:3 --mean 3.6",
		"--arrival-rate 1e-3 --alpha 1 --max 1e7 --mean 1e3": "--load 0.5 --alpha 1 --max 1e7 --mean 1e3",
		"--arrival-rate 2/3 --sizes file:list":               "--load 0.1 --sizes file:list",
	} {
		want, got := tagsJSON(t, "--hosts 2 "+load, 0), tagsJSON(t, "--hosts 2 "+rate, 0)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", rate, diff)
		}
	}
}

// The enclosures of the engine enclose contain the float64 results, up to an error of about 1e-12,
// for all supported sizes.
func TestTagsEnclosesAllSizes(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "list", "0.1\n0.2\n0.6\n3.1\n7\n")
	for _, args := range []string{
		"--hosts 3 --load 0.2 --sizes exponential --mean 2 --objective waiting",
		"--hosts 2 --load 0.3 --sizes erlang:3 --mean 2",
		"--hosts 2 --load 0.3 --sizes hyperexponential:5 --mean 2 --objective waiting",
		"--hosts 2 --load 0.3 --sizes pareto:2.5 --mean 2 --objective fairness",
		"--hosts 2 --load 0.3 --sizes weibull:0.5 --mean 2 --objective waiting --cutoffs 3",
		"--hosts 3 --load 0.3 --sizes file:list",
		"--hosts 2 --load 0.2 --sizes deterministic --mean 1 --cutoffs 1",
	} {
		want, got := tagsJSON(t, args+" --engine float", 0), tagsJSON(t, args+" --engine enclose", 0)
		if got["engine"] != "enclose" {
			t.Errorf("%s: engine %v", args, got["engine"])
		}
		for _, key := range []string{
			"mean_slowdown", "mean_waiting", "mean_delay", "mean_stretch", "excess", "lost_work",
		} {
			w, known := want[key].(float64)
			low, bounded := got[key+"_low"].(string)
			if known != bounded {
				t.Errorf("%s: %s is %v in doubles, at least %v", args, key, want[key], got[key+"_low"])
			}
			if !known {
				continue
			}
			l, errLow := strconv.ParseFloat(low, 64)
			h, errHigh := strconv.ParseFloat(got[key+"_high"].(string), 64)
			// cutoffs in float64 may be off by 1e-7
			if off := 1e-6 * w; errLow != nil || errHigh != nil || l > w+off || h < w-off || h-l > 1e-14*h {
				t.Errorf("%s: %s is %v, bounds %v and %v", args, key, w, l, h)
			}
		}
	}
}

// Percentiles match sim.Run, of all jobs under each policy and of those that complete at each host
// of TAGS. With exponential sizes and jobs assigned at random, each host is M/M/1: at load 1/2 the
// percentile p is -2 log(1-p).
func TestTagsPercentiles(t *testing.T) {
	const args = "--hosts 2 --load 0.5 --sizes exponential --mean 1 --cutoffs 1 --objective waiting --runs 20 " +
		"--jumps 5e3 --seed 5 --percentiles 50,99.9"
	answer := tagsJSON(t, args, 0)
	levels := []float64{0.5, 0.999}
	distribution, err := sizes.Parse("exponential", 1)
	if err != nil {
		t.Fatal(err)
	}
	quantiles := func(policy tags.Policy, cutoffs []float64, kind sim.Kind, index int) map[string]any {
		r, err := sim.Run(
			t.Context(),
			farm.Farm{Model: tags.Model{Sizes: distribution, Hosts: 2, Load: 0.5}, Policy: policy, Cutoffs: cutoffs},
			sim.Settings{Runs: 20, Jumps: 5e3, Seed: 5, Levels: levels},
		)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]any{"p50": nil, "p99.9": nil}
		for k, name := range []string{"p50", "p99.9"} {
			if q := r.Quantile(kind, index, levels[k]); q != nil {
				all[name] = map[string]any{
					"estimate":   q.Value,
					"low":        q.Low,
					"high":       q.High,
					"confidence": 0.95,
					"jobs":       q.Jobs,
				}
				if z := q.Z(-2 * math.Log1p(-levels[k])); policy == tags.PolicyRandom && math.Abs(z) > 5 {
					t.Errorf("%+v: z = %v", q, z)
				}
			}
		}
		return all
	}
	simulated := func(row any) any { return row.(map[string]any)["simulated"].(map[string]any)["delay_percentiles"] }
	for _, c := range []struct{ want, got any }{
		{quantiles(tags.PolicyRandom, nil, sim.OfAll, 0), simulated(policyOf(t, answer, "policies", "random"))},
		{quantiles(tags.PolicyTAGS, []float64{1}, sim.OfAll, 0), simulated(policyOf(t, answer, "policies", "tags"))},
		{quantiles(tags.PolicyTAGS, []float64{1}, sim.OfClass, 1), simulated(answer["hosts"].([]any)[1])},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
	stdout, _, _ := tagsCommand("--hosts 2 --load 0.5 --sizes exponential --mean 1 --cutoffs 1 --objective waiting " +
		"--runs 2 --jumps 1e3 --percentiles 50,99.9")
	for _, want := range []string{"policy                delay p50 ", "host  delay p50 "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in %s", want, stdout)
		}
	}
	if _, stderr, status := runTags("", "tags", "--hosts", "2", "--load", "0.5", "--percentiles", "50"); status != 2 ||
		stderr != "pfq: --percentiles needs --runs\n" {
		t.Errorf("status %d, %s", status, stderr)
	}
}
