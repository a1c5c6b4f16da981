package plot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/plots"
)

const (
	buy = `{"model": ` + shop +
		`, "scale": 1.5, "targets": [{"class": "reports", "mean_delay": 2}, {"server": "small", "utilization": 0.8}],
		"upgrades": [{"server": "small", "step": 0.5, "cost": 2, "most": 4}],
		"edges": [{"class": "reports", "server": "big", "cost": 1}]}`
	busy = `{"resources": [{"name": "cpu", "capacity": 9}, {"name": "ram", "capacity": 18}], "jobs": [
		{"name": "a", "demand": {"cpu": 1, "ram": 4}, "arrival_rate": 3.6},
		{"name": "b", "demand": {"cpu": 3, "ram": 1}, "arrival_rate": 1.35}]}`
	desk = `{"service": "one", "servers": [{"name": "desk", "capacity": 1}],
		"classes": [{"name": "a", "arrival_rate": 0.5, "servers": ["desk"]}]}`
	rest = `{"resources": [{"name": "cpu", "capacity": 9}, {"name": "ram", "capacity": 18}], "jobs": [
		{"name": "a", "demand": {"cpu": 1, "ram": 4}}, {"name": "b", "demand": {"cpu": 3, "ram": 1}, "weight": 2}]}`
)

// The fields of a file determine its kind, even if the file has other errors.
func TestKinds(t *testing.T) {
	for text, want := range map[string]kind{
		shop: clusterFile, buy: planFile, busy: trafficFile, rest: poolFile,
		`{"targets": []}`: planFile, `{"jobs": 5}`: poolFile, `{"resources": []}`: poolFile,
		`{"nothing": 1}`: clusterFile, `[1]`: clusterFile,
		`{"jobs": [{}, {"mean_size": 1}]}`: trafficFile, "servers: []": clusterFile,
		"jobs:\n- {arrival_rate: 1}": trafficFile,
		"stations: []":               networkFile, "room: 5": networkFile, "servers:\n- {tokens: 3}": networkFile,
		desk: oneFile, "service: gang": gangFile, "service: all": clusterFile, "mean_patience: 2": patienceFile,
		"classes:\n- {mean_timeout: 1}": timeoutFile,
	} {
		file := filepath.Join(t.TempDir(), "m.yaml")
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
			file = strings.TrimSuffix(file, "yaml") + "json"
		}
		commandtest.WriteFile(t, file, text)
		for name, again := range map[string]bool{file: true, "-": false} {
			f := question{given: func(string) bool { return false }}
			got, err := f.source(command.Query{File: name, Stdin: strings.NewReader(text)})
			if err != nil || got.kind != want || got.query.File != name {
				t.Errorf("%s of %s: %v, %v", text, name, got.kind, err)
			}
			if kept, err := io.ReadAll(got.query.Stdin); !again && (err != nil || string(kept) != text) {
				t.Errorf("%s: %q is left to read, %v", text, kept, err)
			}
		}
	}
}

// Paths in a file are relative to its folder. For input that can be read only once, they are
// relative to the working directory.
func TestModelWithPlan(t *testing.T) {
	dir := t.TempDir()
	commandtest.WriteFile(t, filepath.Join(dir, "shop.json"), shop)
	plan := strings.Replace(buy, shop, `"shop.json"`, 1)
	commandtest.WriteFile(t, filepath.Join(dir, "buy.json"), plan)
	want, _, _ := pfq(buy, "plot", "-", "--format", "csv")
	if got, stderr, _ := pfq("", "plot", filepath.Join(dir, "buy.json"), "--format", "csv"); got != want {
		t.Errorf("%s%s", got, stderr)
	}
	t.Chdir(dir)
	if got, stderr, _ := pfq(plan, "plot", "-", "--format", "csv"); got != want {
		t.Errorf("%s%s", got, stderr)
	}
}

// Flags that do not fit the file are rejected. If there is nothing to draw, the status is 1 and the
// standard error gives the reason; nothing is written.
func TestRefusedOfKinds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.png")
	never := strings.Replace(buy, `"mean_delay": 2`, `"mean_delay": 0.01`, 1)
	for _, c := range []struct {
		text, args, want string
		status           int
	}{
		{shop, "--find frontier", "--find needs a plan, and standard input holds a cluster", 2},
		{
			shop, "--policy drf",
			"--policy needs a pool of jobs that arrive and depart or a pool of permanent jobs, and " +
				"standard input holds a cluster",
			2,
		},
		{shop, "--show tasks", "--show = tasks: want delay, jobs, rate or utilization, of a cluster", 2},
		{shop, "--dynamic", "unknown flag: --dynamic; the file decides", 2},
		{shop, "--hosts 2", "unknown flag: --hosts; pfq plot tags draws", 2},
		{shop, "x.png", "plot takes one MODEL, not 2 arguments; the picture is named by --output x.png", 2},
		{buy, "--budget 5", "unknown flag: --budget; it is in the file of the plan", 2},
		{
			buy, "--percentiles 99",
			"--percentiles needs a cluster, a cluster with service: one or a cluster with mean_patience, and", 2,
		},
		{buy, "--runs 3", "--runs needs a cluster or a pool of jobs that arrive and depart, and", 2},
		{buy, "--find growth", "--scale is missing: want growing factors", 2},
		{buy, "--find cost", "--find = cost: want frontier, growth or load", 2},
		{buy, "--scale 1,2", "--find frontier and --scale cannot be combined", 2},
		{buy, "--limit 0", "--limit = 0: want an integer in 1..1000000000", 2},
		{strings.Replace(buy, `"cost": 2`, `"cost": -2`, 1), "", "upgrades[0].cost = -2: want", 2},
		{
			strings.Replace(buy, `"most": 4`, `"most": 4}, {"server": "nobody", "step": 1, "cost": 1`, 1), "",
			`upgrades[1].server = "nobody": want the name of a server`, 2,
		},
		{
			strings.Replace(buy, `"scale"`, `"no_worse": true, "scale"`, 1),
			"--find load", "no_worse = true: want false", 2,
		},
		{never, "", "there is nothing to draw: no plan meets the targets, not even everything together", 1},
		{never, "--limit 1", "there is nothing to draw: no plan", 1},
		{
			never, "--find growth --scale 1,2",
			"there is nothing to draw: no plan meets the targets with the arrival rates multiplied by 1", 1,
		},
		{strings.Replace(buy, `"scale"`, `"budget": 0, "scale"`, 1), "", "there is nothing to draw: no plan within " +
			"the budget meets the targets: one that does costs 1, the budget is 0", 1},
		{
			busy, "--show utilization",
			"--show = utilization: want delay, jobs or rate, of a pool of jobs that arrive and depart", 2,
		},
		{busy, "--percentiles 50", "--percentiles needs a cluster", 2},
		{busy, "--policy fair", "--policy = fair: want pf, drf, maxmin, bmf, bf or all", 2},
		{busy, "--policy all,pf", "--policy = all,pf: want all alone, or a list without it", 2},
		{busy, "--states 10 --scale 0.9", "--states = 10: want", 2},
		{busy, "--scale 2,3", "there is nothing to draw: jobs pile up under every policy with the arrival rates " +
			"multiplied by 8/7 or more", 1},
		{
			strings.NewReplacer("3.6", "0", "1.35", "0").Replace(busy), "",
			"jobs = no arrivals: want a class with an arrival_rate > 0", 2,
		},
		{strings.Replace(busy, `"arrival_rate": 3.6`, `"count": 2`, 1), "", "this one is for permanent jobs", 2},
		{rest, "--show delay", "--show = delay: want tasks or utilization, of a pool of permanent jobs", 2},
		{rest, "--policy bf", "jobs[1].weight = 2: want the same weight", 2},
		{rest, "--states 5", "--states needs a pool of jobs that arrive and depart, and", 2},
		{shop, "--count small=1:2", "--count needs a cluster with service: one, a cluster with mean_patience", 2},
		{shop, "--scale web=1:2:0.5", "--scale web= needs a cluster with service: one", 2},
		{desk, "--count x=1:2", `--count = x: want the name of a row of servers`, 2},
		{desk, "--count desk=3:1", "such as agents=20:40; FROM is above TO: write 1:3", 2},
		{desk, "--count desk=0:2", "--count = desk=0:2: want a row of servers and integers from 1 to 1000000", 2},
		{desk, "--count desk=1:3 --scale 0.5", "--count and --scale cannot be combined", 2},
		{desk, "--show rate", "--show = rate: want waiting, waits, delay, jobs, queue, utilization or served-by", 2},
		{"", "", "standard input: want a cluster, a plan or a pool, not an empty file", 2},
		{"{", "", "standard input:1:2: the text ends within a value", 2},
	} {
		stdout, stderr, status := pfq(c.text, append([]string{"plot", "-", "-o", file}, strings.Fields(c.args)...)...)
		if status != c.status || stdout != "" || !strings.Contains(stderr, c.want) ||
			status == 2 && strings.Count(stderr, "\n") != 1 {
			t.Errorf("%.60s %s: status %d, %q %q, want %d, %q",
				c.text, c.args, status, stdout, stderr, c.status, c.want)
		}
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("%s: a picture was written", c.args)
		}
	}
	if _, stderr, status := pfq("", "plot", "frontier", "buy.yaml"); status != 2 ||
		!strings.Contains(stderr, "of a plan frontier is drawn with --find frontier") {
		t.Errorf("a word before the file: status %d, %s", status, stderr)
	}
	log := filepath.Join(t.TempDir(), "jobs.swf")
	commandtest.WriteFile(t, log, "1 0 0 5")
	if _, stderr, status := pfq("", "plot", log); status != 2 ||
		!strings.Contains(stderr, "jobs.swf: a log of jobs, which pfq dispatch replays") {
		t.Errorf("a log: status %d, %s", status, stderr)
	}
}

// If a policy does not support the input, that is reported and the other policies are drawn.
func TestPolicyLeftOut(t *testing.T) {
	stdout, stderr, status := pfq(rest, "plot", "-", "--policy", "all", "--format", "csv", "--scale", "1")
	if status != 0 || !strings.Contains(stderr, "pfq: note: bf is not drawn: jobs[1].weight = 2") ||
		strings.Contains(stdout, ", bf (") || !strings.Contains(stdout, ", drf (") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// A caption reports which part of the error of omitted states is proved and which is measured and,
// if there are several policies, under which.
func TestTruncationCaption(t *testing.T) {
	of := func(bound float64, proved bool) *traffic.Result {
		return &traffic.Result{Accuracy: traffic.Accuracy{TruncationBound: bound, TruncationProved: proved}}
	}
	bf, pf := []*traffic.Result{of(1e-12, true), of(3e-11, true)}, []*traffic.Result{of(4e-12, false), of(0, true)}
	for _, c := range []struct {
		policies []fluid.Policy
		results  [][]*traffic.Result
		want     string
	}{
		{
			[]fluid.Policy{"bf"}, [][]*traffic.Result{bf},
			" Omitted states change means by a fraction of at most 3e-11, which is proved.",
		},
		{
			[]fluid.Policy{"pf", "drf"}, [][]*traffic.Result{pf, pf},
			" Omitted states change means by a fraction of 4e-12, as measured but not proved.",
		},
		{[]fluid.Policy{"pf", "drf", "bf"}, [][]*traffic.Result{pf, pf, bf},
			" Omitted states change means by a fraction of at most 3e-11 under bf, which is proved. Omitted states " +
				"change means by a fraction of 4e-12 under pf, drf, as measured but not proved."},
		{[]fluid.Policy{"pf"}, [][]*traffic.Result{{of(0, true)}}, ""},
	} {
		if got := (&poolCurves{policies: c.policies, results: c.results}).truncationCaption(); got != c.want {
			t.Errorf("%s: %s, want %s", c.policies, got, c.want)
		}
	}
}

// A pool that is too large at some loads is drawn at the loads below; the others are noted and
// shaded, or simulated.
func TestTooLarge(t *testing.T) {
	var jobs []string
	for k := range 5 {
		jobs = append(jobs, fmt.Sprintf(`{"name": "c%d", "demand": {"cpu": %d, "ram": %d}, "arrival_rate": 1}`,
			k, k+1, 6-k))
	}
	five := `{"resources": [{"name": "cpu", "capacity": 40}, {"name": "ram", "capacity": 40}], "jobs": [` +
		strings.Join(jobs, ",") + `]}`
	for _, c := range []struct {
		args, note    string
		curves, bars  bool
		shaded, solve bool
	}{
		{"--policy bf --states 100000", "bf is solved at ", true, false, true, true},
		{"--policy bf --states 100000 --runs 2 --jumps 2000", "bf is solved at ", true, true, true, true},
		{
			"--policy drf --runs 2 --jumps 2000",
			"drf is solved at 0 of 18 loads: jobs = 5 classes that share resources: want at most 3 for exact means",
			false, true, false, true,
		},
		{
			"--policy drf", "at most 3 for exact means, except under bf; add --runs 20 to simulate",
			false, false, false, false,
		},
		{"--policy bf --states 10", "--states = 10: want more than", false, false, false, false},
	} {
		args := append([]string{"plot", "-", "--format", "csv"}, strings.Fields(c.args)...)
		stdout, stderr, status := pfq(five, args...)
		if status == 0 != c.solve || !strings.Contains(stderr, c.note) {
			t.Errorf("%s: status %d, %s", c.args, status, stderr)
		}
		if curves, bars := strings.Contains(stdout, "mean delay, c0 ("),
			strings.Contains(stdout, "mean delay, simulated, c0 ("); curves != c.curves || bars != c.bars {
			t.Errorf("%s: curves %v, points %v: %.200s", c.args, curves, bars, stdout)
		}
		if !c.solve {
			continue
		}
		args[3] = "svg"
		if stdout, _, _ := pfq(five, args...); strings.Contains(stdout, "fill:#F0F0F0") != c.shaded {
			t.Errorf("%s: shaded is %v", c.args, !c.shaded)
		}
	}
}

// Long names are shortened in pictures and complete in tables; names in letters that the font lacks
// can only be shown in a table.
func TestLongNames(t *testing.T) {
	long := "a name of many words that goes on and on and on"
	for _, text := range []string{shop, buy, busy, rest} {
		text = strings.NewReplacer(
			`"web"`, `"`+long+`"`, `"a"`, `"`+long+`"`, `"small"`, `"another `+long+`"`, `"cpu"`, `"another `+long+`"`,
		).Replace(text)
		if strings.HasPrefix(text, `{"model"`) {
			text = strings.Replace(text, `"scale"`, `"minimize": "`+long+`", "scale"`, 1)
		}
		args := []string{"plot", "-", "--format", "svg"}
		if strings.Contains(text, "resources") {
			args = append(args, "--policy", "drf", "--scale", "0.5,0.6")
		}
		if stdout, stderr, status := pfq(text, args...); status != 0 || stdout == "" {
			t.Errorf("%.80s: status %d, %s", text, status, stderr)
		}
		args[3] = "csv"
		if stdout, stderr, status := pfq(text, args...); status != 0 || !strings.Contains(stdout, long) {
			t.Errorf("%.80s: status %d, %s%.300s", text, status, stderr, stdout)
		}
	}
	text := strings.ReplaceAll(shop, "web", "注")
	if _, stderr, status := pfq(text, "plot", "-"); status != 2 || !strings.Contains(stderr,
		"text of the picture = 注: want text without '注', which Liberation Sans lacks; --format csv takes all") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if stdout, _, status := pfq(text, "plot", "-", "--format", "csv"); status != 0 || !strings.Contains(stdout, "注") {
		t.Errorf("status %d, %.200s", status, stdout)
	}
}

// Regions that are unstable or exceed all purchases are shown and described in a note.
func TestRegions(t *testing.T) {
	for _, c := range []struct {
		text, args, note string
		shaded           bool
	}{
		{shop, "--scale 0.5:3:0.5", "pfq: note: 2 of 6 loads are not drawn: the cluster is unstable", true},
		{busy, "--policy bf --scale 0.5:2:0.5", "pfq: note: 2 of 4 loads are not drawn: jobs pile up", true},
		{buy, "", "", true},
		{buy, "--find growth --scale 1:4:1", "pfq: note: 3 of 4 loads are not drawn: no plan meets the targets with " +
			"the arrival rates multiplied by 2 or more", true},
		{shop, "--scale 0.5:2:0.5", "", false},
	} {
		stdout, stderr, status := pfq(
			c.text, append([]string{"plot", "-", "--format", "svg"}, strings.Fields(c.args)...)...,
		)
		if status != 0 || !strings.HasPrefix(stderr, c.note) || c.note == "" && stderr != "" {
			t.Errorf("%s: status %d, %q, want %q", c.args, status, stderr, c.note)
		}
		if shaded := strings.Contains(stdout, "fill:#F0F0F0"); shaded != c.shaded {
			t.Errorf("%s: shaded is %v", c.args, shaded)
		}
	}
}

// A region begins at the critical factor, and exists only if larger factors were requested.
func TestRegionBounds(t *testing.T) {
	half := big.NewRat(1, 2)
	c := chart{
		asked:    []*big.Rat{half, big.NewRat(1, 1), big.NewRat(3, 2)},
		factors:  []*big.Rat{half, big.NewRat(1, 1)},
		critical: big.NewRat(5, 4),
		beyond:   "unstable",
	}
	if got, want := c.regions(), []plots.Region{{Label: "unstable", From: 1.25, To: 1.5}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	c.asked = c.factors
	if got := c.regions(); got != nil {
		t.Errorf("%v, want none", got)
	}
}

// Cancelling the context at any time ends the work without a figure.
func TestEnds(t *testing.T) {
	for _, c := range []struct{ text, args string }{
		{shop, "--scale 0.001:2:0.001 --percentiles 50,99"}, {buy, "--find growth --scale 1:2:0.001"},
		{buy, ""}, {buy, "--find load"},
		{busy, "--policy all --scale 0.01:1.14:0.01"}, {rest, "--policy all --scale 0.001:2:0.001"},
		{busy, "--policy bf --runs 1000 --jumps 1e6 --scale 0.5"},
	} {
		for _, after := range []time.Duration{0, 10 * time.Millisecond, 60 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			cmd := New(nil, nil)
			err := cmd.ParseFlags(strings.Fields(c.args))
			if err == nil {
				err = cmd.PreRunE(cmd, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			cmd.SetContext(ctx)
			cmd.SetIn(strings.NewReader(c.text))
			var stderr strings.Builder
			cmd.SetErr(&stderr)
			cmd.SetOut(&stderr)
			err = cmd.RunE(cmd, []string{"-"})
			done := ctx.Err() != nil
			cancel()
			if done && err != nil && !errors.Is(err, command.ErrInterrupted) {
				t.Errorf("%s after %v: %v", c.args, after, err)
			}
			if err == nil && after == 0 {
				t.Errorf("%s: a picture was written", c.args)
			}
		}
	}
}

// A list of policies is drawn with simulated points of each, the same as for each policy alone; a
// curve of one point is marked.
func TestPolicyList(t *testing.T) {
	args := strings.Fields("--show jobs --scale 0.5,0.6 --runs 2 --jumps 1000 --policy")
	got := table(t, busy, append(args, "drf,bf")...)
	for _, policy := range []string{"drf", "bf"} {
		alone := table(t, busy, append(args, policy)...)
		for _, class := range []string{"a", "b"} {
			for _, of := range []string{", ", ", simulated, "} {
				one, list := alone["mean jobs"+of+class], got["mean jobs of "+class+of+policy]
				if len(one) != 2 || !slices.Equal(one, list) {
					t.Errorf("%s of class %s%s: %v, and of the list %v", policy, class, of, one, list)
				}
			}
		}
	}
	c := &chart{factors: []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1)}}
	for _, solved := range []int{1, 2} {
		one := quantity{rows: []string{"a"}, theory: func(load, _ int) *float64 {
			if load < solved {
				return new(float64)
			}
			return nil
		}}
		if s := c.curve(one, 0, 0); len(s.X) != solved || s.Marked != (solved == 1) {
			t.Errorf("%d points are marked: %v", solved, s.Marked)
		}
	}
}
