package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	"productform/sim/farm"
	"productform/sizes"
	"productform/tags"
)

// saysTags runs pfq tags and looks for words in its text.
func saysTags(t *testing.T, args string, status int, words ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, got := tagsCommand(args)
	for _, w := range words {
		if !strings.Contains(stdout, w) {
			t.Errorf("pfq tags %s: no %q in\n%s", args, w, stdout)
		}
	}
	if got != status {
		t.Errorf("pfq tags %s: status %d, %s", args, got, stderr)
	}
	return stdout, stderr
}

// The text describes sizes: a file by its name, a distribution with its mean only once, numbers
// never as fractions.
func TestTagsSizesInWords(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "list", "1\n2\n3\n10\n")
	commandtest.WriteFile(t, "one", "7\n")
	const farm = "--hosts 2 --load 0.4 "
	saysTags(t, farm+"--objective waiting --sizes file:list", 0, // E[X] = 4, E[X²] = 28.5
		"\nlist: 4 sizes, mean 4, squared coefficient of variation 0.78125, from 1 to 10\n")
	one, _ := saysTags(t, "--hosts 1 --load 0.4 --sizes file:one", 0, "\n1 host at system load 0.4, ",
		"\none: 1 size, mean 7, squared coefficient of variation 0, from 7 to 7\n")
	for line := range strings.Lines(one) {
		if strings.HasPrefix(line, "tags ") && !strings.HasSuffix(line, "  -\n") {
			t.Errorf("the cutoffs of one host are not -: %q", line)
		}
	}
	said, _ := saysTags(
		t, farm+"--sizes lognormal:3 --mean 2", 0,
		"\nsizes are lognormal:3: mean 2, squared coefficient of variation 3\n",
	)
	if strings.Count(said, "coefficient") != 1 {
		t.Error(said)
	}
	saysTags(
		t, farm+"--alpha 3/2 --max 1e5/1 --min 1", 0, "\nsizes are bounded Pareto of alpha 1.5 from 1 to 100000: mean ",
	)
	saysTags(
		t, farm+"--alpha 1.50 --max 1e5 --min 1", 0, "\nsizes are bounded Pareto of alpha 1.50 from 1 to 1e5: mean ",
	)
}

// A fitted distribution is shown with the sizes it is fitted to, and its mean is compared with
// theirs.
func TestTagsFitInWords(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("1\n", 50) + strings.Repeat("1000\n", 9) // far from bounded Pareto: a mean of 153.4
	commandtest.WriteFile(t, "ends", text)
	distribution, err := sizes.NewBoundedPareto(1, 100, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	var quantiles strings.Builder
	total := 0.0
	for i := range n + 1 {
		x, err := distribution.Quantile(float64(i) / n)
		if err != nil {
			t.Fatal(err)
		}
		total += x
		fmt.Fprintln(&quantiles, x)
	}
	commandtest.WriteFile(t, "smooth", quantiles.String())
	const farm = "--hosts 2 --load 0.3 --objective waiting --fit --sizes file:"
	for _, c := range []struct {
		file    string
		mean    float64
		warning bool
	}{{"ends", (50 + 9000) / 59., true}, {"smooth", total / (n + 1), false}} {
		stdout, stderr := saysTags(
			t, farm+c.file, 0, fmt.Sprintf("sizes, mean %.6g, squared coefficient", c.mean),
			"\nthe distribution that fits them is bounded Pareto of alpha 0.",
		)
		answer := tagsJSON(t, farm+c.file, 0)
		fitted := answer["distribution"].(map[string]any)["mean"].(float64)
		if !strings.Contains(stdout, fmt.Sprintf("mean %.6g, squared coefficient of variation %.6g\n",
			fitted, answer["distribution"].(map[string]any)["scv"])) {
			t.Errorf("no mean %v of the fitted distribution in %s", fitted, stdout)
		}
		want := fmt.Sprintf("the fitted distribution has mean %.4g, the sizes in the file %.4g: ", fitted, c.mean)
		warnings := answer["warnings"].([]any)
		if (len(warnings) == 1) != c.warning || c.warning && !strings.HasPrefix(warnings[0].(string), want) {
			t.Errorf("%s: warnings %v, want %q", c.file, warnings, want)
		}
		if strings.Contains(stderr, "pfq: warning: "+want) != c.warning {
			t.Errorf("%s: %q", c.file, stderr)
		}
	}
}

// The error of the formula of least work remaining as the load goes to 0 is reported in all
// formats. If all sizes are equal, on three hosts, a waiting job waits for the minimum of three
// uniform remaining sizes, 1/4, where the formula gives 1/6 of a size.
func TestTagsFormulaInWords(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(
		t, "list", strings.Repeat("1\n", 1000)+strings.Repeat("10\n", 100)+strings.Repeat("100\n", 10)+"1000\n",
	)
	const form = "approximation, too %s where a host is often free: %s times the truth at loads near 0, right " +
		"near 1; %s"
	saysTags(
		t, "--hosts 3 --load 0.3 --sizes deterministic --mean 2", 0,
		"\nleast-work-remaining: "+fmt.Sprintf(form, "low", "0.67", "--runs 10 simulates it\n"),
	)
	// The formula gives E[X²]/(2 E[X])/3 = 46.3, but E[min] = 9.52: the job that ends first rarely
	// has size 1000.
	const wide = "--hosts 3 --load 0.3 --sizes file:list --expand 0.2 "
	note := fmt.Sprintf(form, "high", "4.9", "--runs 10 simulates it")
	said, _ := saysTags(t, wide, 0, "\nleast-work-remaining: "+note+"\n",
		"\nleast-work-remaining: by the approximation, which is too high: fewer may do\n",
		"\nslowdown: waiting / size; stretch: delay / size (")
	if strings.Count(said, "least-work-remaining:") != 2 {
		t.Error(said)
	}
	saysTags(t, wide+"--format csv", 0, note)
	answer := tagsJSON(t, wide+"--runs 2 --jumps 1e3", 0)
	if p := policyOf(t, answer, "policies", "least-work-remaining"); p["note"] != fmt.Sprintf(form,
		"high", "4.9", "see its simulated means") {
		t.Errorf("%v", p["note"])
	}
	if e := policyOf(t, answer, "expansion", "least-work-remaining"); e["note"] != "by the approximation, which is "+
		"too high: fewer may do" {
		t.Errorf("%v", e)
	}
	exact := tagsJSON(t, "--hosts 3 --load 0.3 --sizes exponential --mean 1 --objective waiting", 0)
	if p := policyOf(t, exact, "policies", "least-work-remaining"); p["note"] != nil {
		t.Errorf("%v", p)
	}
}

// Lists of sizes cannot be split at arbitrary points: fairness minimizes the largest slowdown, and
// the loads of sita-e differ.
func TestTagsListsInWords(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "list", "1\n1\n2\n3\n10\n")
	const farm = "--hosts 2 --load 0.3 --sizes file:list "
	answer := tagsJSON(t, farm+"--objective fairness", 0)
	unfairness, _ := answer["unfairness"].(float64)
	slowdowns := ofHosts(answer, "slowdown")
	least, largest := slowdowns[0].(float64), slowdowns[1].(float64)
	commandtest.Near(t, "unfairness", unfairness, 1-min(least, largest)/max(least, largest), 1e-12)
	commandtest.Near(t, "objective", answer["objective_value"], max(least, largest), 1e-12)
	for _, cutoff := range []string{"1", "2", "3"} { // no other cutoff has a smaller largest slowdown
		text, _, _ := tagsCommand(farm + "--format json --cutoffs " + cutoff)
		given := commandtest.ParseJSON(t, text)
		if s := ofHosts(given, "slowdown"); given["feasible"] == true &&
			max(s[0].(float64), s[1].(float64)) < max(least, largest)*(1-1e-12) {
			t.Errorf("cutoff %s gives %v, less than %v", cutoff, s, slowdowns)
		}
	}
	saysTags(t, farm+"--objective fairness", 0,
		fmt.Sprintf("\ncutoffs with the smallest maximum mean slowdown of a host (sizes are a list: equality is out "+
			"of reach); unfairness %.6g\n", unfairness))
	const note = "loads are only as equal as the sizes in the list allow"
	if p := policyOf(t, answer, "policies", "sita-e"); p["note"] != note {
		t.Errorf("%v", p)
	}
	saysTags(t, farm, 0, "\nsita-e: "+note+"\n")
	smooth, _ := saysTags(
		t, "--hosts 2 --load 0.3 --sizes lognormal:3 --mean 1 --objective fairness", 0,
		"\ncutoffs of equal mean slowdowns at all hosts\n",
	)
	if strings.Contains(smooth, note) {
		t.Error(smooth)
	}
}

// For an infeasible farm of more than two hosts, the answer reports the load that pairs of them
// sustain.
func TestTagsHint(t *testing.T) {
	pairs := tagsJSON(t, "--hosts 2 --load 0.1 --alpha 0.2 "+tagsPaper, 0)["max_load"].(float64)
	if answer := tagsJSON(t, "--hosts 4 --load 0.9 --alpha 0.2 "+tagsPaper, 1); answer["max_load_of_two"] != pairs {
		t.Errorf("pairs sustain %v, want %v", answer["max_load_of_two"], pairs)
	}
	const hint = "hint: fewer hosts in a chain carry more load; split the farm into pairs: with 2 hosts cutoffs " +
		"exist below load "
	saysTags(t, "--hosts 4 --load 0.7 --alpha 0.2 "+tagsPaper, 1, fmt.Sprintf("\n%s%.6g\n", hint, pairs))
	saysTags(
		t, "--hosts 4 --load 0.9 --alpha 0.2 "+tagsPaper, 1,
		"\nhint: pairs of hosts do not carry this load either: with 2 hosts cutoffs exist below load ",
	)
	for args, status := range map[string]int{
		"--hosts 2 --load 0.9 --alpha 0.2 ": 1, "--hosts 4 --load 0.3 --alpha 1 ": 0,
		"--hosts 4 --load 0.5 --alpha 1 --cutoffs 1e8,1e9,5e9 ": 1,
	} {
		if stdout, _ := saysTags(t, args+tagsPaper, status); strings.Contains(stdout, "hint:") {
			t.Errorf("%s: %s", args, stdout)
		}
	}
}

// If no number of hosts is enough, the answer names the largest one tried; a range of numbers of
// hosts shows both ends.
func TestTagsExpansionInWords(t *testing.T) {
	const farm = "--hosts 2 --load 0.7 --sizes deterministic --mean 1 --objective waiting --expand 1e-3"
	stdout, _ := saysTags(t, farm, 1)
	answer := tagsJSON(t, farm, 1)
	for _, name := range []string{"sita", "sita-e"} { // all jobs of the single size go to one host
		e := policyOf(t, answer, "expansion", name)
		if e["note"] != "none up to 64 hosts" || e["extra_hosts"] != nil {
			t.Errorf("%v", e)
		}
	}
	for line := range strings.Lines(stdout) {
		words := strings.Fields(line)
		if len(words) > 2 && words[0] == "sita" && strings.Contains(line, "none") &&
			strings.Join(words[2:], " ") != "none up to 64 hosts -" {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(stdout, " none up to 64 hosts  -\n") {
		t.Error(stdout)
	}
	// For one host the mean slowdown is 0.7/0.6/2: the target is met as it is, or missed by all
	// numbers of hosts.
	saysTags(t, "--hosts 1 --load 0.7 --sizes deterministic --mean 1 --expand 2", 0)
	missed := "--hosts 1 --load 0.3 --sizes deterministic --mean 1 --expand 1e-9"
	saysTags(t, missed, 1, "hosts to add for a mean slowdown of at most 1e-09:")
	if answer := tagsJSON(t, missed, 1); answer["feasible"] != true {
		t.Errorf("%v", answer)
	}
	between := func(low, high float64) num.Value {
		return num.Value{Float: low, Low: big.NewFloat(low), High: big.NewFloat(high)}
	}
	a := tagsAnswer{expansions: []tags.Expansion{
		{Policy: tags.PolicyRoundRobin, Kind: tags.Bounds, Within: true, Extra: between(27, 1234567)},
		{Policy: tags.PolicyRoundRobin, Kind: tags.Bounds, Within: true, Extra: between(3, 3)},
		{Policy: tags.PolicyRandom, Kind: tags.Exact, Within: true, Extra: num.Value{Float: 2e20}},
		{Policy: tags.PolicyCentral, Kind: tags.Approximation},
	}}
	var got []string
	for _, line := range a.expansionLines() {
		got = append(got, fmt.Sprint(line.Get("extra_hosts")))
	}
	if diff := cmp.Diff([]string{"27 to 1234567", "3", "2e+20", "none up to 1000000 hosts"}, got); diff != "" {
		t.Error(diff)
	}
}

// Every number with bounds is within them, up to the rounding of all three to float64.
func TestTagsWithinBounds(t *testing.T) {
	for _, args := range []string{
		"--hosts 3 --load 0.5 --alpha 1.3 --max 1e6 --mean 11", "--hosts 2 --load 0.7 --alpha 0.9 --max 1e7 --min 0.3",
		"--hosts 4 --load 0.3 --alpha 1.7 --max 1e5 --min 0.1 --speeds 1,0.7,1.3,1",
		"--hosts 2 --load 1/3 --alpha 1.1 --max 1e9 --min 7 --cutoffs 1e4",
	} {
		answer := tagsJSON(t, args+" --engine enclose", 0)
		rows := []map[string]any{answer}
		for _, h := range answer["hosts"].([]any) {
			rows = append(rows, h.(map[string]any))
		}
		looked := 0
		for _, row := range rows {
			for key := range row {
				name, ok := strings.CutSuffix(key, "_low")
				if !ok {
					continue
				}
				low, err := strconv.ParseFloat(row[key].(string), 64)
				high, errHigh := strconv.ParseFloat(row[name+"_high"].(string), 64)
				v, number := row[name].(float64)
				looked++
				if err != nil || errHigh != nil || !number || !(low <= v && v <= high) {
					t.Errorf("%s: %s = %v is not in [%v, %v]", args, name, row[name], row[key], row[name+"_high"])
				}
			}
		}
		if want := 7 + 8*(len(rows)-1); looked < want {
			t.Errorf("%s: %d numbers have bounds, want %d", args, looked, want)
		}
	}
}

// The reported jumps are those simulated, even if none are requested.
func TestTagsJumps(t *testing.T) {
	distribution, err := sizes.Parse("lognormal:3", 1)
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[float64]float64{0: 1e6, 5e4: 5e4} {
		f := &tagsFlags{
			hosts:         2,
			objective:     objective{weights: tags.Objective{Slowdown: 1}},
			objectiveText: "slowdown",
			engine:        floatEngine,
			settings: command.Simulation{
				Settings: sim.Settings{Runs: 3, Jumps: asked, Seed: 1, Confidence: 0.95},
			},
		}
		f.sizes.name = "lognormal:3"
		a, err := f.analyze(context.Background(), tags.Model{Sizes: distribution, Hosts: 2, Load: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		a.isSimulated = true
		if got := a.farm(&command.Comparisons{}).Get("simulation").(render.Record).Get("jumps"); got != want {
			t.Errorf("%v jumps, want %v", got, want)
		}
		written, err := a.answer().Format("text")
		if text := fmt.Sprintf("simulated: 3 runs of %g jumps; ", want); err != nil ||
			!strings.Contains(string(written), text) {
			t.Errorf("no %q in %s, %v", text, written, err)
		}
	}
	plan, err := sim.NewPlan(
		t.Context(), farm.Farm{Model: tags.Model{Sizes: distribution, Hosts: 1, Load: 0.5}}, sim.Settings{Runs: 2},
	)
	if err != nil {
		t.Fatal(err)
	}
	same, err := sim.NewPlan(
		t.Context(), farm.Farm{Model: tags.Model{Sizes: distribution, Hosts: 1, Load: 0.5}},
		sim.Settings{Runs: 2, Jumps: defaultJumps},
	)
	if err != nil {
		t.Fatal(err)
	}
	key, err := plan.Key(0)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := same.Key(0); err != nil || key != again {
		t.Errorf("the default number of jumps differs; error %v", err)
	}
}

// A job's response includes its waiting: simulated means cover the same jobs, and differ by the
// service.
func TestTagsSimulatedResponse(t *testing.T) {
	answer := tagsJSON(t, "--hosts 2 --load 0.6 --alpha 1 --max 1e8 --mean 10 --runs 2 --jumps 1e3", 0)
	check := func(what, waiting string, e map[string]any) {
		w, okW := e[waiting].(map[string]any)
		r, okR := e[strings.Replace(waiting, "waiting", "delay", 1)].(map[string]any)
		if okW != okR || okW && !(w["mean"].(float64) < r["mean"].(float64)) {
			t.Errorf("%s: waiting %v, response %v", what, w, r)
		}
	}
	for _, p := range answer["policies"].([]any) {
		p := p.(map[string]any)
		check(p["name"].(string), "mean_waiting", p["simulated"].(map[string]any))
	}
	for _, h := range answer["hosts"].([]any) {
		h := h.(map[string]any)
		check(fmt.Sprint("host ", h["host"]), "waiting", h["simulated"].(map[string]any))
	}
}

// A warning for several policies appears once, and fractions have no exponent.
func TestTagsWarnings(t *testing.T) {
	policies := []*policyAnswer{
		{name: "a", simulated: &sim.Result{Warnings: []string{"x", "y"}}},
		{name: "b", simulated: &sim.Result{Warnings: []string{"y"}}},
		{name: "c", simulated: &sim.Result{}},
		{name: "d", simulated: &sim.Result{Warnings: []string{"y", "x"}}},
	}
	if diff := cmp.Diff([]string{"a, d: x", "a, b, d: y"}, simulationWarnings(policies)); diff != "" {
		t.Error(diff)
	}
	answer := tagsJSON(t, "--hosts 2 --load 0.5 --alpha 1 "+tagsPaper+"--runs 2 --jumps 1e3", 0)
	seen := map[string]bool{}
	parts := 0
	for _, w := range answer["warnings"].([]any) {
		_, text, _ := strings.Cut(w.(string), ": ")
		if seen[text] {
			t.Errorf("%q appears twice", text)
		}
		seen[text] = true
		if _, part, ok := strings.Cut(text, "make up "); ok {
			parts++
			number, _, _ := strings.Cut(part, " %")
			if v, err := strconv.ParseFloat(number, 64); err != nil || v > 100 || strings.Contains(number, "e+") {
				t.Errorf("%q", text)
			}
		}
	}
	if parts == 0 {
		t.Errorf("no warning of rare sizes: %v", answer["warnings"])
	}
}

// A damaged file is reported as such, and no control character reaches the terminal.
func TestTagsDamagedFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range 4000 {
		fmt.Fprintf(z, "1 0 0 %d 6%s\n", 1+i*i%9973, strings.Repeat(" -1", 13))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	commandtest.WriteFile(t, "cut.gz", b.String()[:b.Len()/2])
	commandtest.WriteFile(t, "binary", "\x00\x1b[31mred\x07\xff\n")
	for file, want := range map[string]string{
		"swf:cut.gz":  "unpacking: the file ends early: unexpected EOF\n",
		"file:binary": `pfq: binary:1: size = "\x00\x1b[31mred\a\xff": want a number in [1e-300, 1e300]` + "\n",
	} {
		stdout, stderr, status := tagsCommand("--hosts 2 --load 0.5 --sizes " + file)
		if status != 2 || stdout != "" || !strings.HasSuffix(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", file, status, stderr, want)
		}
	}
}
