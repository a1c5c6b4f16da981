package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/bf"
	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/input"
)

// program is pfq.
var program = commandtest.Program(newRoot)

// pfq runs one command line in this process.
var pfq = program.Run

// A runner runs one command line.
type runner = func(stdin string, args ...string) (stdout, stderr string, status int)

// onceEach returns a runner that runs each command line once, for answers that do not depend on
// files.
func onceEach(run runner) runner {
	type answer struct {
		stdout, stderr string
		status         int
	}
	known := map[string]answer{}
	return func(stdin string, args ...string) (stdout, stderr string, status int) {
		key := strings.Join(args, " ") + "\n" + stdin
		a, ok := known[key]
		if !ok {
			a.stdout, a.stderr, a.status = run(stdin, args...)
			known[key] = a
		}
		return a.stdout, a.stderr, a.status
	}
}

const oneServer = `{"servers": [{"name": "s<1>", "capacity": 1}], "classes": [
	{"name": "a", "arrival_rate": "1/2", "servers": ["s<1>"]}, {"name": "b", "arrival_rate": 0, "servers": ["s<1>"]}]}`

// One server at load 1/2 holds 1/2/(1-1/2) = 1 job, geometric: P(n) = 2^-(n+1). In a fresh model
// the numbers are powers of two, which every engine prints identically.
func TestSolveJSON(t *testing.T) {
	stdout, stderr, status := pfq(
		oneServer, "solve", "-", "--engine", "exact", "--distribution", "2", "--lattice", "class", "--format", "json",
	)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	got := commandtest.ParseJSON(t, stdout)
	part := got["parts"].([]any)[0].(map[string]any)
	if why, ok := part["why"].(string); !ok || why == "" {
		t.Errorf("parts give no reason: %v", part)
	}
	delete(part, "why")
	want := map[string]any{
		"stable": true, "service": "all", "engine": "exact", "lattice": "class", "states": 2.0,
		"normalization": 2.0, "normalization_exact": "2", "empty_probability": 0.5, "empty_probability_exact": "1/2",
		"mean_jobs": 1.0, "mean_jobs_exact": "1", "mean_delay": 2.0, "mean_delay_exact": "2",
		"relative_error_bound": 0.0,
		"classes": []any{
			map[string]any{
				"name": "a", "arrival_rate": 0.5, "arrival_rate_exact": "1/2", "load": 0.5, "load_exact": "1/2",
				"mean_jobs": 1.0, "mean_jobs_exact": "1", "mean_delay": 2.0, "mean_delay_exact": "2",
				"service_rate": 0.5, "service_rate_exact": "1/2",
			},
			map[string]any{
				"name": "b", "arrival_rate": 0.0, "arrival_rate_exact": "0", "load": 0.0, "load_exact": "0",
				"mean_jobs": 0.0, "mean_jobs_exact": "0", "mean_delay": nil, "mean_delay_exact": nil,
				"service_rate": nil, "service_rate_exact": nil,
			},
		},
		"servers":           []any{map[string]any{"name": "s<1>", "utilization": 0.5, "utilization_exact": "1/2"}},
		"jobs_distribution": []any{0.5, 0.25, 0.125}, "jobs_distribution_exact": []any{"1/2", "1/4", "1/8"},
		"parts": []any{map[string]any{"lattice": "class", "states": 2.0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(stdout, `"s<1>"`) {
		t.Error("the name s<1> is escaped")
	}
}

// The fields are in the documented order, on which scripts that read text rely.
func TestSolveJSONOrder(t *testing.T) {
	stdout, _, _ := pfq(oneServer, "solve", "-", "--format", "json")
	rest := stdout
	for _, key := range []string{"stable", "service", "engine", "lattice", "states", "normalization",
		"empty_probability", "mean_jobs", "mean_delay", "relative_error_bound",
		"classes", "name", "arrival_rate", "load", "mean_jobs", "mean_delay", "service_rate",
		"servers", "name", "utilization", "parts"} {
		_, after, ok := strings.Cut(rest, `"`+key+`": `)
		if !ok {
			t.Fatalf("%s is missing or too early in %s", key, stdout)
		}
		rest = after
	}
}

// Exact fractions lie within the bounds that enclose prints, which have as many digits as --tol
// requests.
func TestSolveEnclose(t *testing.T) {
	model, _, _ := pfq("", "example", "three-servers")
	stdout, stderr, status := pfq(model, "solve", "-", "--engine", "enclose", "--tol", "1e-30", "--format", "json")
	if status != 0 {
		t.Fatal(stderr)
	}
	enclosed := commandtest.ParseJSON(t, stdout)
	stdout, _, _ = pfq(model, "solve", "-", "--engine", "exact", "--format", "json")
	exact := commandtest.ParseJSON(t, stdout)
	for _, key := range []string{"normalization", "empty_probability", "mean_jobs", "mean_delay"} {
		low, high := commandtest.Rat(t, enclosed[key+"_low"]), commandtest.Rat(t, enclosed[key+"_high"])
		value := commandtest.Rat(t, exact[key+"_exact"])
		if low.Cmp(value) > 0 || high.Cmp(value) < 0 {
			t.Errorf("%s: %v is not in [%v, %v]", key, value, enclosed[key+"_low"], enclosed[key+"_high"])
		}
		// 1e-30 and two roundings to 31 digits
		if width := high.Sub(high, low).Quo(high, value); width.Cmp(commandtest.Rat(t, "1e-29")) > 0 {
			t.Errorf("%s: [%v, %v] is wider than 1e-29", key, enclosed[key+"_low"], enclosed[key+"_high"])
		}
	}
}

func TestSolveCSV(t *testing.T) {
	stdout, _, status := pfq(
		oneServer, "solve", "-", "--engine", "exact", "--distribution", "1", "--lattice", "class", "--format", "csv",
	)
	want := `kind,name,count,arrival_rate,arrival_rate_exact,load,load_exact,mean_jobs,mean_jobs_exact,` +
		`mean_delay,mean_delay_exact,service_rate,service_rate_exact,` +
		`utilization,utilization_exact,service,engine,lattice,states,normalization,normalization_exact,` +
		`empty_probability,empty_probability_exact,relative_error_bound,jobs,probability,probability_exact,stable,why
cluster,,,,,,,1,1,2,2,,,,,all,exact,class,2,2,2,0.5,1/2,0,,,,true,
class,a,,0.5,1/2,0.5,1/2,1,1,2,2,0.5,1/2,,,,,,,,,,,,,,,,
class,b,,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,
server,s<1>,,,,,,,,,,,,0.5,1/2,,,,,,,,,,,,,,
distribution,,,,,,,,,,,,,,,,,,,,,,,,0,0.5,1/2,,
distribution,,,,,,,,,,,,,,,,,,,,,,,,1,0.25,1/4,,
part,,,,,,,,,,,,,,,,,class,2,,,,,,,,,,requested; sets of 1 classes
`
	if status != 0 || stdout != want {
		t.Error(cmp.Diff(want, stdout))
	}
}

func TestGroupsHaveCounts(t *testing.T) {
	model, _, _ := pfq("", "example", "random-100-2")
	stdout, _, _ := pfq(model, "solve", "-", "--format", "json")
	got := commandtest.ParseJSON(t, stdout)["servers"].([]any)
	if len(got) != 1 || got[0].(map[string]any)["count"] != 100.0 {
		t.Errorf("servers are %v, want one row with count 100", got)
	}
	stdout, _, _ = pfq(model, "solve", "-")
	if !strings.Contains(stdout, "server  count  utilization\npool    100    0.8\n") {
		t.Errorf("no count in the table:\n%s", stdout)
	}
}

// A model without arrivals is stable at every scale, and no delay exists.
func TestNoArrivals(t *testing.T) {
	const model = `{"servers": [{"name": "s", "capacity": 1}], "classes": [{"name": "a", "arrival_rate": 0, ` +
		`"servers": ["s"]}]}`
	stdout, _, status := pfq(model, "stability", "-", "--format", "json")
	if got := commandtest.ParseJSON(t, stdout); status != 0 || got["stable"] != true || got["critical_scale"] != nil ||
		got["critical_scale_exact"] != nil {
		t.Errorf("status %d, %s", status, stdout)
	}
	stdout, stderr, status := pfq(model, "solve", "-", "--format", "json")
	if status != 0 {
		t.Fatal(stderr)
	}
	if got := commandtest.ParseJSON(t, stdout); got["mean_jobs"] != 0.0 || got["mean_delay"] != nil ||
		got["normalization"] != 1.0 {
		t.Error(stdout)
	}
	stdout, _, status = pfq(model, "stability", "-")
	if status != 0 || !strings.HasPrefix(stdout, "stable: no jobs arrive\n") {
		t.Error(stdout)
	}
}

const overloaded = `{"servers": [{"name": "s", "capacity": 1}, {"name": "t", "capacity": 9}], "classes": [
	{"name": "a", "arrival_rate": "3/4", "servers": ["s"]}, {"name": "b", "arrival_rate": "1/2", "servers": ["s"]},
	{"name": "c", "arrival_rate": 1, "servers": ["s", "t"]}]}`

// allServers is the line that explains the service of a cluster.
const allServers = "each job runs on all its servers at once (on one of them: service: one)\n"

// onOneServer is the same line for one server per job.
const onOneServer = "each job runs on one of its servers (on all of them at once: service: all)\n"

// inGangs is the same line for jobs that hold several servers.
const inGangs = "each job holds several servers at once, and one that does not fit blocks all jobs behind it\n"

// Every answer of solve names the service first, whether the model is stable or not.
func TestSolveNamesService(t *testing.T) {
	for _, model := range []string{twoQueues, overloaded} {
		for _, flags := range []string{"", "--engine exact", "--engine enclose", "--percentiles 50",
			"--distribution 2 --by-class", "--gradients", "--scale 0.1,1,2"} {
			args := append([]string{"solve", "-"}, strings.Fields(flags)...)
			if stdout, stderr, _ := pfq(model, args...); stderr != "" || !strings.HasPrefix(stdout, allServers) ||
				strings.Count(stdout, allServers) != 1 {
				t.Errorf("%q: %s%s", flags, stdout, stderr)
			}
			stdout, _, _ := pfq(model, append(args, "--format", "json")...)
			if want := strings.Count(stdout, `"stable": `); want == 0 ||
				strings.Count(stdout, `"service": "all"`) != want {
				t.Errorf("%q: %s", flags, stdout)
			}
			stdout, _, _ = pfq(model, append(args, "--format", "csv")...)
			if lines, err := csv.NewReader(strings.NewReader(stdout)).ReadAll(); err != nil ||
				!slices.Contains(lines[0], "service") {
				t.Errorf("%q: %v, %s", flags, err, stdout)
			}
		}
	}
}

// Classes a and b offer a load of 5/4 to a capacity of 1: scale 4/5, margin -1/4.
func TestUnstable(t *testing.T) {
	stdout, stderr, status := pfq(overloaded, "solve", "-", "--format", "json")
	set := []any{"a", "b"}
	want := map[string]any{"stable": false, "service": "all", "critical_scale": 0.8, "margin": -0.25,
		"margin_set": set, "bottleneck": set,
		"bottleneck_work": 1.25, "bottleneck_capacity": 1.0}
	if diff := cmp.Diff(want, commandtest.ParseJSON(t, stdout)); status != 1 || stderr != "" || diff != "" {
		t.Errorf("solve: status %d, %s\n%s", status, stderr, diff)
	}
	stdout, stderr, status = pfq(overloaded, "stability", "-", "--format", "json")
	want = map[string]any{"verdict": "unstable", "stable": false, "critical_scale": 0.8, "critical_scale_exact": "4/5",
		"margin": -0.25, "margin_exact": "-1/4", "margin_set": set, "bottleneck": set,
		"bottleneck_work": 1.25, "bottleneck_work_exact": "5/4", "bottleneck_capacity": 1.0,
		"bottleneck_capacity_exact": "1",
		"classes": []any{
			map[string]any{"name": "a", "heavy_traffic_jobs": 0.6, "heavy_traffic_jobs_exact": "3/5"},
			map[string]any{"name": "b", "heavy_traffic_jobs": 0.4, "heavy_traffic_jobs_exact": "2/5"},
			map[string]any{"name": "c", "heavy_traffic_jobs": 0.0, "heavy_traffic_jobs_exact": "0"},
		}}
	if diff := cmp.Diff(want, commandtest.ParseJSON(t, stdout)); status != 1 || stderr != "" || diff != "" {
		t.Errorf("stability: status %d, %s\n%s", status, stderr, diff)
	}
	stdout, _, status = pfq(overloaded, "solve", "-")
	text := allServers + "unstable: would be stable with the arrival rates multiplied by anything below 0.8\n" +
		"margin      -0.25, of the bottleneck\nbottleneck  a, b: work 1.25 on capacity 1\n"
	if status != 1 || stdout != text {
		t.Errorf("status %d, %s", status, stdout)
	}
	stdout, _, status = pfq(overloaded, "solve", "-", "--engine", "exact", "--format", "csv")
	text = "stable,service,margin,margin_exact,margin_set,critical_scale,critical_scale_exact,bottleneck," +
		"bottleneck_work,bottleneck_work_exact,bottleneck_capacity,bottleneck_capacity_exact\n" +
		"false,all,-0.25,-1/4,a;b,0.8,4/5,a;b,1.25,5/4,1,1\n"
	if status != 1 || stdout != text {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// A badFlag is a flag with invalid values, separated by spaces.
type badFlag struct{ flag, want, values string }

// checkFlags checks that a command rejects all these values and names a valid value.
func checkFlags(t *testing.T, command string, list []badFlag) {
	t.Helper()
	for _, c := range list {
		for value := range strings.SplitSeq(c.values, " ") {
			got := program.Refusal(t, "", append(strings.Fields(command), c.flag+"="+value)...)
			if want := (input.Error{Path: c.flag, Value: value, Want: c.want}); got != want {
				t.Errorf("pfq %s %s=%s: %s", command, c.flag, value, cmp.Diff(want, got))
			}
		}
	}
}

// Bad usage and bad input: status 2, one line on the standard error, nothing on the standard
// output, no file.
func TestBadUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"good.json":  oneServer,
		"rate.json":  strings.Replace(oneServer, `"1/2"`, `-1`, 1),
		"field.yaml": "servers: [{name: s, capacity: 1, speed: 2}]\nclasses: []\n",
		"cut.json":   oneServer[:60],
		"binary.bin": "\x7fELF\x00\x01",
		"empty.yaml": "",
	} {
		commandtest.WriteFile(t, name, text)
	}
	for _, c := range []struct{ args, want string }{
		{"slove good.json", `pfq: unknown command "slove" for "pfq"; did you mean solve?` + "\n"},
		{"estimat good.json", `pfq: unknown command "estimat" for "pfq"; did you mean estimate?` + "\n"},
		{"pulverize good.json", `pfq: unknown command "pulverize" for "pfq"; pfq --help lists them` + "\n"},
		{"man", "pfq: man takes one FOLDER for the pages, not 0 arguments\n"},
		{"solve", "pfq: solve takes one MODEL, a file or - for the standard input, not 0 arguments"},
		{
			"solve good.json good.json",
			"pfq: solve takes one MODEL, a file or - for the standard input, not 2 arguments",
		},
		{"stability", "pfq: stability takes one MODEL, a file or - for the standard input, not 0 arguments"},
		{"solve cut.json", "pfq: cut.json:2:1: "},
		{"stability binary.bin", "pfq: binary.bin:1:1: "},
		{"solve absent.json", "pfq: absent.json: no such file or directory"},
		{"stability .", "pfq: .: is a directory"},
		{"solve good.json --fromat json", "pfq: unknown flag: --fromat; did you mean --format?\n"},
		{"solve good.json --tol", "pfq: flag needs an argument: --tol\n"},
		{"stability good.json --exact", "pfq: unknown flag: --exact; fractions are always given\n"},
		{
			"solve good.json --jobs 2",
			"pfq: unknown flag: --jobs; it is now --parallel of allocate, network, plot, simulate and tags\n",
		},
		{
			"solve good.json --policy ps",
			"pfq: unknown flag: --policy; it is a flag of allocate, dispatch, plot and simulate\n",
		},
		{"completion foo", `pfq: unknown command "foo" for "pfq completion"; pfq completion --help lists them` + "\n"},
		{"completion bassh", `pfq: unknown command "bassh" for "pfq completion"; did you mean bash?` + "\n"},
		{"help foo", `pfq: unknown command "foo" for "pfq"; pfq --help lists them` + "\n"},
		{"help solve foo", `pfq: unknown command "foo" for "pfq solve"` + "\n"},
		{"example rack", "pfq: example = rack: want caches, gpu-pool, hotline, line, racks, random-100-2, " +
			"storage, three-servers, timeouts, training, warehouse, batch, call-centre, gpu-network, interactive, " +
			"reentrant, swaps, ten-servers, tokens, trunks, centre-plan, shop-plan, web-plan, two-jobs, " +
			"two-classes or five-jobs; " +
			"did you mean racks?\n"},
		{"solve good.json --fast", "pfq: unknown flag: --fast"},
		{"example line racks", "pfq: example takes at most one NAME, not 2 arguments\n"},
		{"version now", `pfq: unknown command "now" for "pfq version"`},
		{"solve good.json -o absent/answer.json", "pfq: absent/answer.json: the folder absent does not exist"},
		{"solve good.json -o .", "pfq: .: is a directory"},
	} {
		stdout, stderr, status := pfq("", strings.Fields(c.args)...)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, c.want) || strings.Count(stderr, "\n") != 1 ||
			!strings.HasSuffix(stderr, "\n") {
			t.Errorf("pfq %s: status %d, stdout %q, stderr %q, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	checkFlags(t, "solve good.json", []badFlag{
		{"--engine", "auto, float, enclose or exact", "fast"},
		{"--engine", "auto, float, enclose or exact; did you mean exact?", "exakt"},
		{"--lattice", "auto, class, server, symmetric, elimination or connected", "cubic"},
		{"--format", "text, json or csv", "xml"},
		{"--tol", "a number >= 1e-300 and < 1", "0 1 NaN tiny 1e-400"},
		{"--distribution", "an integer in 1..10000", "0 10001 -3 1.5 9999999999999999999"},
		{"--memory", "an integer in 1..1048576", "0 1e3"},
		{"--help", "true or false", "maybe"},
		{"--output", "the name of a file, or - for the standard output", ""},
	})
	for _, c := range []struct {
		args string
		want input.Error
	}{
		{"solve rate.json", input.Error{
			File:  "rate.json",
			Line:  2,
			Path:  "classes[0].arrival_rate",
			Value: "-1",
			Want:  "a number >= 0",
		}},
		{"stability rate.json --format json", input.Error{
			File:  "rate.json",
			Line:  2,
			Path:  "classes[0].arrival_rate",
			Value: "-1",
			Want:  "a number >= 0",
		}},
		{"solve rate.json -o answer.json", input.Error{
			File:  "rate.json",
			Line:  2,
			Path:  "classes[0].arrival_rate",
			Value: "-1",
			Want:  "a number >= 0",
		}},
		{"solve field.yaml", input.Error{
			File:  "field.yaml",
			Line:  1,
			Path:  "servers[0].speed",
			Value: "the number 2",
			Want:  "one of the fields name, capacity, count",
		}},
		{"stability empty.yaml", input.Error{File: "empty.yaml", Value: "an empty file"}},
		{"solve -", input.Error{File: "standard input", Value: "an empty file"}},
		{"example nothing", input.Error{Path: "example", Value: "nothing"}},
	} {
		got := program.Refusal(t, "", strings.Fields(c.args)...)
		if c.want.Want == "" {
			got.Want = ""
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("pfq %s: %s", c.args, diff)
		}
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 6 {
		t.Errorf("files %v were left, error %v", files, err)
	}
}

// Typical mistakes of new users are rejected with a hint about what to write instead.
func TestMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	yaml := func(server, class string) string {
		return "servers: [{name: s, " + server + "}]\nclasses: [{name: a, " + class + "}]\n"
	}
	good := yaml("capacity: 3", "arrival_rate: 1, servers: [s]")
	for _, c := range []struct{ name, text, args, want string }{
		{"a.yaml", yaml("rate: 3", "arrival_rate: 1, servers: [s]"), "solve a.yaml",
			"a.yaml:1: servers[0].rate = the number 3: want one of the fields name, capacity, count; " +
				"did you mean capacity?"},
		{"a.yaml", yaml("capacity: 3", "lambda: 1, servers: [s]"), "solve a.yaml",
			"a.yaml:2: classes[0].lambda = the number 1: want one of the fields name, arrival_rate, servers, " +
				"mean_size, priority, mean_patience, patience, mean_timeout; did you mean arrival_rate?"},
		{"a.yaml", yaml("capacity: 3", "arrival_rate: 1, mean_service_time: 3"), "solve a.yaml",
			"a.yaml:2: classes[0].mean_service_time = the number 3: want one of the fields name, arrival_rate, " +
				"servers, mean_size, priority, mean_patience, patience, mean_timeout; did you mean mean_size?"},
		{"a.yaml", yaml("capacity: 3", "arrival_rate: 1, servers: s"), "solve a.yaml",
			`a.yaml:2: classes[0].servers = a string "s": want an array of names of servers; write ["s"]`},
		{"a.yaml", yaml("capacity: 64Gi", "arrival_rate: 1, servers: [s]"), "solve a.yaml",
			`a.yaml:1: servers[0].capacity = "64Gi": want a number >= 0 (character 'G' at position 3; want a ` +
				`decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5"); write 64, ` +
				`in units of Gi throughout the file`},
		{"a.yaml", yaml("capacity: 3", "arrival_rate: 1, mean_size: 20s, servers: [s]"), "solve a.yaml",
			`a.yaml:2: classes[0].mean_size = "20s": want a number > 0 (character 's' at position 3; want a decimal ` +
				`or a fraction such as "2", "-0.5", "1e-3" or "4/5"); write 20, in units of s throughout the file`},
		{"a.yaml", yaml("capacity: 500m", "arrival_rate: 1, servers: [s]"), "solve a.yaml",
			`a.yaml:1: servers[0].capacity = "500m": want a number >= 0 (character 'm' at position 4; want a ` +
				`decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5"); write "1/2"`},
		{"a.yaml", "servers:\n\t- {name: s, capacity: 3}\n", "solve a.yaml", "a.yaml:2:1: a tab; want spaces"},
		{"a.yaml", "\xff\xfes\x00e\x00", "solve a.yaml", "a.yaml:1:1: this looks like UTF-16; save the file as UTF-8"},
		{"a.yaml", "s\x00e\x00", "solve a.yaml", "a.yaml:1:1: this looks like UTF-16; save the file as UTF-8"},
		{"a.swf", "1\x00 \x002\x00", "dispatch a.swf", "a.swf:1: this looks like UTF-16; save the file as UTF-8"},
		{"a.txt", "\x001\x00\n", "tags --hosts 2 --load 0.5 --sizes file:a.txt",
			"a.txt:1: this looks like UTF-16; save the file as UTF-8"},
		{"a.json", `{"servers": [{"name": "s", "capacity": 3,}]}`, "solve a.json",
			"a.json:1:42: a comma before }; want no comma after the last field"},
		{"a.json", `{"servers": [{"name": "s", "capacity": 3},]}`, "solve a.json",
			"a.json:1:43: a comma before ], or a value missing; want no comma after the last value"},
		{"a.json", "{'servers': 1}", "solve a.json", "a.json:1:2: want the name of a field in double quotes"},
		{"a.yaml", "servers:\n  - name: s\n    capacity: 1e400\n" +
			"classes: [{name: a, arrival_rate: 1, servers: [s]}]\n", "solve a.yaml",
			"a.yaml:3: servers[0].capacity = 1e400: want a number within the range of float64, 1e±308: count time, " +
				"or work, in other units"},
		{"my model.yaml", good, "solve my model.yaml", "solve takes one MODEL, a file or - for the standard input, " +
			"not 2 arguments; put a name with blanks in quotes"},
		{"a.yaml", good, "solve a.yaml -percentiles 99", "unknown flag: -percentiles; did you mean --percentiles?"},
		{"a.yaml", good, "solve a.yaml -percentile 99", "unknown flag: -percentile; did you mean --percentiles?"},
		{"a.yaml", good, "solve a.yaml -z", "unknown shorthand flag: 'z' in -z"},
		{"a.yaml", good, "solve a.yaml --percentiles p99",
			"--percentiles[0] = p99: want a number > 0 and < 100; write 99"},
		{"a.yaml", good, "solve a.yaml --scale a=2:1:0.5", "--scale[0] = a=2:1:0.5: want a number >= 0, such as " +
			"0.6 for 60 percent, or a range FROM:TO:STEP of at most 10000 numbers, the first after CLASS= for one " +
			"class; FROM is above TO: write 1:2:0.5"},
		{"a.yaml", good, "solve a.yaml -o absent/a.txt", "absent/a.txt: the folder absent does not exist"},
		{"a.yaml", good, "dispatch a.yaml", "a.yaml: service = \"all\": want gang or one"},
		{"a.txt", good, "dispatch a.txt", "a.txt:1: want a log in Standard Workload Format (18 numbers), from " +
			"sacct -P, in CSV or TSV with a heading, in JSON lines, or PBS accounting records; each may be " +
			"compressed " +
			"with gzip or zstd, not servers: [{name: s, capacity: 3}]; this looks like YAML"},
		{"a.yaml", "stations:\n  - {name: s, discipline: order, nodes: [{name: n, capacity: 1, count: 8}]}\n" +
			"classes: []\n", "network a.yaml",
			"a.yaml:2: stations[0].nodes[0].count = the number 8: want one of the fields name, capacity; " +
				"write one node for each server: capacity is its speed, not a number of servers"},
		{"a.csv", "job;submitted\n", "dispatch a.csv", "a.csv:1: columns = job,submitted: want a column of run " +
			"times, or of starts and ends; --columns run_time=NAME or start=NAME,end=NAME names them"},
		{"a.yaml", "stations: [{name: s, discipline: sharing}]\n" +
			"classes: [{name: a, arrival_rate: 0.5, visits: [{station: s, visits: 1}]}]\n",
			"network a.yaml --percentiles 95",
			"--percentiles needs --runs here: exact percentiles exist only at stations with order, or with fcfs and " +
				"equal servers"},
	} {
		commandtest.WriteFile(t, c.name, c.text)
		stdout, stderr, status := pfq("", strings.Fields(c.args)...)
		if status != 2 || stdout != "" || stderr != "pfq: "+c.want+"\n" {
			t.Errorf("pfq %s: status %d, %q, %q, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
}

// The end of the name of --output selects JSON or CSV, and does not contradict --format.
func TestOutputName(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, format := range []string{"json", "csv"} {
		want, _, _ := pfq(oneServer, "solve", "-", "--format", format)
		for _, args := range [][]string{
			{"-o", "a." + format},
			{"--format", format, "-o", "A." + strings.ToUpper(format)},
		} {
			_, stderr, status := pfq(oneServer, append([]string{"solve", "-"}, args...)...)
			if text, err := os.ReadFile(args[len(args)-1]); status != 0 || err != nil || string(text) != want {
				t.Errorf("%s: status %d, %s, %v, %s", args, status, stderr, err, text)
			}
		}
		bad := program.Refusal(t, oneServer, "solve", "-", "--format", "text", "-o", "b."+format)
		if want := (input.Error{Path: "--output", Value: "b." + format,
			Want: "a name that does not end in ." + format + ", for --format text"}); bad != want {
			t.Errorf("%+v, want %+v", bad, want)
		}
	}
}

// -o replaces a file as a whole, even through a symbolic link, and leaves no other file behind. A
// failure leaves the file unchanged.
func TestOutputFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "answer.json"), filepath.Join(dir, "link.json")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	commandtest.WriteFile(t, file, "old")
	if _, _, status := pfq("nonsense", "solve", "-", "-o", file); status != 2 {
		t.Errorf("status %d for a bad model, want 2", status)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "old" {
		t.Errorf("a failure left %q, %v", text, err)
	}
	want, _, _ := pfq(oneServer, "solve", "-", "--format", "json")
	for _, name := range []string{file, link} {
		if stdout, stderr, status := pfq(oneServer, "solve", "-", "--format", "json", "-o", name); status != 0 ||
			stdout != "" || stderr != "" {
			t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("-o %s wrote %q, want %q, error %v", name, text, want, err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if _, _, status := pfq(overloaded, "solve", "-", "-o", file); status != 1 {
		t.Errorf("status %d for an unstable model, want 1", status)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "{\n  \"stable\": false") {
		t.Errorf("the reason is not in the file: %q, %v", text, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("files %v were left, error %v", files, err)
	}
}

// No command replaces the model that it reads.
func TestOutputKeepsInput(t *testing.T) {
	t.Chdir(t.TempDir())
	pool, _, _ := pfq("", "example", "two-jobs")
	for name, text := range map[string]string{"model.json": oneServer, "pool.yaml": pool, "sizes": "1\n2\n"} {
		commandtest.WriteFile(t, name, text)
	}
	for _, args := range []string{
		"solve model.json", "stability model.json", "simulate model.json", "allocate pool.yaml",
		"tags --hosts 2 --load 0.5 --sizes file:sizes", "simulate model.json --sizes file:sizes",
	} {
		words := strings.Fields(args)
		file := strings.TrimPrefix(words[len(words)-1], "file:")
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, status := pfq("", append(words, "-o", "./"+file)...)
		if want := "pfq: --output = ./" + file + ": want a file other than the one that is read\n"; status != 2 ||
			stdout != "" || stderr != want {
			t.Errorf("%s: status %d, %q, %q, want %q", args, status, stdout, stderr, want)
		}
		if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
			t.Errorf("%s: %v, %s", args, err, after)
		}
	}
}

// -o - is the standard output.
func TestOutputDash(t *testing.T) {
	t.Chdir(t.TempDir())
	want, _, _ := pfq(oneServer, "solve", "-")
	if stdout, stderr, status := pfq(oneServer, "solve", "-", "-o", "-"); status != 0 || stderr != "" ||
		stdout != want {
		t.Errorf("status %d, %q, %q, want %q", status, stdout, stderr, want)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 0 {
		t.Errorf("files %v were left, error %v", files, err)
	}
}

// Every example of a cluster is stable and solved by the engine auto, and the examples of plans
// have solutions. TestAllocateExamples covers pools, TestDispatchByHand logs.
func TestSolveExamples(t *testing.T) {
	list, _, _ := pfq("", "example")
	for line := range strings.Lines(list) {
		name, what, _ := strings.Cut(line, " ")
		if len(strings.TrimSpace(what)) < 20 {
			t.Errorf("example %s is not explained", name)
		}
		model, stderr, status := pfq("", "example", name)
		if status != 0 {
			t.Fatal(stderr)
		}
		if strings.Contains(model, "\nresources:") || strings.HasPrefix(model, ";") {
			continue
		}
		if strings.Contains(model, "\nmodel:") {
			cost := map[string]string{"shop-plan": "2", "centre-plan": "180", "web-plan": "13"}[name]
			if stdout, stderr, status := pfq(model, "plan", "-"); status != 0 ||
				!strings.HasPrefix(stdout, "cost "+cost+": no plan that meets") {
				t.Errorf("example %s: status %d, %s%s", name, status, stdout, stderr)
			}
			continue
		}
		command, want := "solve", allServers+"stable"
		if strings.Contains(model, "\nservice: one") {
			want = onOneServer + "stable"
		}
		if strings.Contains(model, "\nmean_patience: ") {
			want = onOneServer + "jobs that have waited for their patience give up; "
		}
		if strings.Contains(model, "\nservice: gang") {
			want = inGangs + "stable"
		}
		if text, err := fs.Glob(examples, "examples/networks/"+name+".yaml"); err != nil || len(text) > 0 {
			command, want = "network", "stable"
		}
		if stdout, stderr, status := pfq(model, command, "-"); status != 0 || !strings.HasPrefix(stdout, want) {
			t.Errorf("example %s: status %d, %s%s", name, status, stdout, stderr)
		}
	}
}

func TestVersionAndCompletion(t *testing.T) {
	if stdout, _, status := pfq("", "version"); status != 0 || !strings.HasPrefix(stdout, "pfq ") ||
		!strings.Contains(stdout, " go1.") {
		t.Errorf("version: status %d, %s", status, stdout)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if stdout, _, status := pfq("", "completion", shell); status != 0 || !strings.Contains(stdout, "pfq") {
			t.Errorf("completion %s: status %d", shell, status)
		}
	}
	if stdout, _, _ := pfq("", "__complete", "solve", "m.json", "--engine", ""); !strings.Contains(
		stdout, "enclose\n",
	) {
		t.Errorf("completion of --engine: %s", stdout)
	}
	if stdout, _, _ := pfq("", "__complete", "simulate", "m.json", "--sizes", ""); !strings.HasPrefix(
		stdout, "exponential\ndeterministic\n",
	) || !strings.HasSuffix(stdout, "\n:2\n") { // no space after a word
		t.Errorf("completion of --sizes: %s", stdout)
	}
}

// Tables show short fractions, and with enclose as many digits as --tol requests.
func TestTextDigits(t *testing.T) {
	model, _, _ := pfq("", "example", "three-servers")
	for _, c := range []struct{ args, want string }{
		{
			"solve - --engine exact",
			"class-1  6/5 = 1.2     3/5 = 0.6  21/8 = 2.625  35/16 = 2.1875  16/35 = 0.457143\n",
		},
		{"solve - --engine enclose --tol 1e-20", "0.45714285714285714286\n"},
		{"solve - --engine enclose --tol 1e-3", "class-1  1.2           0.6   2.625      2.1875      0.457143\n"},
		{"solve - --engine float", "class-1  1.2           0.6   2.625      2.1875      0.457143\n"},
		{"stability -", "bottleneck  class-1, class-2: work 12/5 = 2.4 on capacity 3\n"},
	} {
		if stdout, stderr, status := pfq(model, strings.Fields(c.args)...); status != 0 ||
			!strings.Contains(stdout, c.want) {
			t.Errorf("pfq %s: status %d, no %q in\n%s%s", c.args, status, c.want, stdout, stderr)
		}
	}
}

// Twenty separate servers are twenty parts, and the table lists eight of them; the twenty classes
// of one overloaded server are named up to the twelfth.
func TestTextIsShort(t *testing.T) {
	apart, together := "servers:\n", "servers: [{name: s, capacity: 1}]\nclasses:\n"
	for i := range 20 {
		apart += fmt.Sprintf("  - {name: s%d, capacity: 1}\n", i)
	}
	apart += "classes:\n"
	for i := range 20 {
		apart += fmt.Sprintf("  - {name: c%d, arrival_rate: 0.5, servers: [s%d]}\n", i, i)
		together += fmt.Sprintf("  - {name: c%d, arrival_rate: 0.5, servers: [s]}\n", i)
	}
	stdout, stderr, _ := pfq(apart, "solve", "-")
	if strings.Count(stdout, "part ") != 8 || !strings.Contains(stdout, "and 12 more parts\n") {
		t.Error(stdout, stderr)
	}
	stdout, stderr, _ = pfq(together, "solve", "-")
	if !strings.Contains(stdout, "c10, c11, ... (20 classes): work 10 on capacity 1\n") {
		t.Error(stdout, stderr)
	}
}

// Numbers beyond the range of a float64 are also printed.
func TestHugeNumbers(t *testing.T) {
	model := strings.Replace(oneServer, `"capacity": 1`, `"capacity": "1e320"`, 1)
	stdout, stderr, status := pfq(model, "stability", "-", "--format", "csv")
	if got := oneLine(t, stdout); status != 0 || got["margin"] != "1e+320" || got["critical_scale"] != "2e+320" ||
		got["bottleneck_capacity"] != "1e+320" {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// oneLine returns the cells of the only line of CSV that is not about a class by their columns.
func oneLine(t *testing.T, text string) map[string]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	lines = slices.DeleteFunc(lines, func(line []string) bool { return line[0] == "class" })
	if err != nil || len(lines) != 2 {
		t.Fatalf("%v, %d lines in %s", err, len(lines), text)
	}
	cells := map[string]string{}
	for i, column := range lines[0] {
		cells[column] = lines[1][i]
	}
	return cells
}

// A tree of 63 servers, too large for tables, is solved by elimination; text, JSON and CSV name the
// lattice and its width.
func TestElimination(t *testing.T) {
	caches, _, _ := pfq("", "example", "caches")
	stdout, stderr, status := pfq(caches, "solve", "-", "--format", "json", "--distribution", "2", "--by-class")
	var answer struct {
		Lattice            string
		RelativeErrorBound float64 `json:"relative_error_bound"`
		MeanJobs           float64 `json:"mean_jobs"`
		Parts              []struct {
			Lattice string
			States  int
			Width   int
			Why     string
		}
		JobsDistribution []float64 `json:"jobs_distribution"`
		Note             string
		Classes          []struct {
			MeanDelay        float64   `json:"mean_delay"`
			JobsDistribution []float64 `json:"jobs_distribution"`
		}
	}
	said := commandtest.ProgressLines.ReplaceAllString(stderr, "")
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || status != 0 || said != "" {
		t.Fatalf("status %d, %s, %v", status, stderr, err)
	}
	if answer.Lattice != "elimination" || len(answer.Parts) != 1 || answer.Parts[0].Width != 1 ||
		answer.Parts[0].States != 63 || answer.RelativeErrorBound > 1e-9 {
		t.Errorf("%+v", answer)
	}
	if len(answer.Classes[0].JobsDistribution) != 3 || answer.JobsDistribution != nil || answer.Note == "" {
		t.Errorf("distributions %v, %v, note %q",
			answer.Classes[0].JobsDistribution, answer.JobsDistribution, answer.Note)
	}
	if first, last := answer.Classes[0].MeanDelay, answer.Classes[61].MeanDelay; first != answer.Classes[1].MeanDelay ||
		last <= first {
		t.Errorf("delays %v below the origin, %v at the edge", first, last)
	}
	text, stderr, status := pfq(caches, "solve", "-", "--lattice", "elimination", "--percentiles", "50,99")
	if status != 0 || !strings.Contains(text, "p99") || !strings.Contains(
		text, "elimination lattice, 63 states: requested; 63 servers, eliminated one at a time with width 1\n",
	) {
		t.Errorf("percentiles: status %d, %s%s", status, stderr, text)
	}
	for _, c := range []struct{ flags, want string }{
		{
			"--lattice elimination --engine exact",
			"pfq: --engine = exact: want auto or float: the elimination lattice has bounds in float64 only\n",
		},
		{"--lattice elimination --distribution 3", "pfq: --distribution = 3: want distributions by class: the " +
			"elimination lattice has none for all jobs together\n"},
	} {
		if stdout, stderr, status := pfq(
			caches, append([]string{"solve", "-"}, strings.Fields(c.flags)...)...,
		); status != 2 ||
			stdout != "" || stderr != c.want {
			t.Errorf("%s: status %d, %q, want %q", c.flags, status, stderr, c.want)
		}
	}
}

// A grid of three rows is too wide for elimination. The error names the command that accepts it.
func TestWideGridIsRefused(t *testing.T) {
	const columns = 3
	var servers, classes []string
	link := func(s, r int) {
		classes = append(classes, fmt.Sprintf(`{"name": "%d-%d", "arrival_rate": %d, "servers": ["s%d", "s%d"]}`,
			s, r, 1+len(classes), s, r))
	}
	for s := range 3 * columns {
		servers = append(servers, fmt.Sprintf(`{"name": "s%d", "capacity": 100}`, s))
		if s%columns > 0 {
			link(s-1, s)
		}
		if s >= columns {
			link(s-columns, s)
		}
	}
	grid := fmt.Sprintf(`{"servers": [%s], "classes": [%s]}`, strings.Join(servers, ","), strings.Join(classes, ","))
	stdout, stderr, status := pfq(grid, "solve", "-", "--lattice", "elimination")
	if status != 2 || stdout != "" || !strings.Contains(stderr, "model = a width of 3 or more: want ") ||
		!strings.Contains(stderr, "; or pfq estimate, ") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	if _, stderr, status := pfq(grid, "estimate", "-", "--sweeps", "100"); status != 0 {
		t.Errorf("estimate: status %d, %s", status, stderr)
	}
}

// Errors of the solver about a setting name the flag.
func TestLatticeThatDoesNotApply(t *testing.T) {
	model, _, _ := pfq("", "example", "random-100-2")
	stdout, stderr, status := pfq(model, "solve", "-", "--lattice", "class")
	if status != 2 || stdout != "" || !strings.HasPrefix(stderr, "pfq: --lattice = class: want ") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// Solver errors do not name Go functions.
func TestErrorsForTheCommandLine(t *testing.T) {
	model, _, _ := pfq("", "example", "random-100-2")
	for _, engine := range strings.Fields("auto float enclose exact") {
		for _, lattice := range strings.Fields("auto class server connected symmetric elimination") {
			if _, stderr, _ := pfq(model, "solve", "-", "--engine", engine, "--lattice", lattice); strings.Contains(
				stderr, "Model",
			) {
				t.Errorf("%s, %s: %s", engine, lattice, stderr)
			}
		}
	}
}

// If a machine could have the required memory, the error about memory names the flag, and the named
// value suffices.
func TestMemory(t *testing.T) {
	crown := func(n int) string { // n classes, each on up to three of n servers: about 2^n sets of either
		var servers, classes []string
		for i := range n {
			servers = append(servers, fmt.Sprintf(`{"name": "s%d", "capacity": %d}`, i, i+1))
			on := fmt.Sprintf(`"s%d"`, i)
			for _, j := range []int{(i*i + 1) % n, (5*i + 3) % n} {
				if name := fmt.Sprintf(`"s%d"`, j); !strings.Contains(on, name) {
					on += ", " + name
				}
			}
			classes = append(classes, fmt.Sprintf(`{"name": "c%d", "arrival_rate": "1/3", "servers": [%s]}`, i, on))
		}
		return fmt.Sprintf(`{"servers": [%s], "classes": [%s]}`, strings.Join(servers, ","), strings.Join(classes, ","))
	}
	_, stderr, status := pfq(crown(19), "solve", "-", "--memory", "1")
	_, need, ok := strings.Cut(stderr, "or --memory ")
	if status != 2 || !ok {
		t.Fatalf("status %d, %s", status, stderr)
	}
	need, _, _ = strings.Cut(need, ",")
	if _, stderr, status := pfq(crown(19), "solve", "-", "--memory", need); status != 0 {
		t.Errorf("--memory %s is not enough: %s", need, stderr)
	}
	for _, n := range []int{45, 80} { // 2^45 numbers, then more than a count can hold
		if _, stderr, status := pfq(crown(n), "solve", "-", "--memory", "1"); status != 2 ||
			strings.Contains(stderr, "--memory") || !strings.Contains(stderr, "; or pfq estimate, ") {
			t.Errorf("%d classes: status %d, %s", n, status, stderr)
		}
	}
	for flag, want := range map[string]string{
		"--gradients":      "; or pfq estimate --gradients, ",
		"--percentiles=95": "; or pfq simulate --percentiles, ",
	} {
		_, large, status := pfq(crown(45), "solve", "-", flag, "--memory", "1")
		if status != 2 || !strings.Contains(large, want) {
			t.Errorf("%s: %s", flag, large)
		}
	}
	if _, tree, status := pfq(caches(t), "solve", "-", "--gradients", "--engine", "exact"); status != 2 ||
		!strings.Contains(tree, "use the engine auto or float, which can eliminate the servers one by one") {
		t.Error(tree)
	}
}

// caches is the example of that name, a tree of 63 servers.
func caches(t *testing.T) string {
	t.Helper()
	stdout, _, status := pfq("", "example", "caches")
	if status != 0 {
		t.Fatal("no such example")
	}
	return stdout
}

// The engine float answers even if its bound exceeds the tolerance, but then warns on the standard
// error.
func TestFloatWarnsOfTolerance(t *testing.T) {
	stdout, stderr, status := pfq(oneServer, "solve", "-", "--engine", "float", "--tol", "1e-20")
	if status != 0 || !strings.HasPrefix(stdout, allServers+"stable") ||
		!strings.HasPrefix(stderr, "pfq: warning: the error bound ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	if _, stderr, _ := pfq(oneServer, "solve", "-", "--engine", "float"); stderr != "" {
		t.Errorf("a warning though the tolerance is met: %q", stderr)
	}
}

// Close to the boundary no number is printed as the boundary itself: the margin is about 1e-25, on
// either side.
func TestNextToTheBoundary(t *testing.T) {
	at := func(rate string) string { return strings.Replace(oneServer, `"1/2"`, `"`+rate+`"`, 1) }
	below, above := at("0."+strings.Repeat("9", 25)), at("1."+strings.Repeat("0", 24)+"1")
	for _, c := range []struct{ model, want string }{
		{below, "stable: remains so with the arrival rates multiplied by anything below 1 + 1e-25\n" +
			"margin      1e-25, of the bottleneck\nbottleneck  a: work 1 - 1e-25 on capacity 1\n" +
			"mean jobs   near the limit about 1/(1 - load) times 1 of a\n"},
		{above, "unstable: would be stable with the arrival rates multiplied by anything below 1 - 1e-25\n" +
			"margin      -1e-25, of the bottleneck\nbottleneck  a: work 1 + 1e-25 on capacity 1\n"},
	} {
		if stdout, stderr, _ := pfq(c.model, "stability", "-"); stdout != c.want {
			t.Errorf("%s%s", stderr, cmp.Diff(c.want, stdout))
		}
	}
	for _, c := range []struct{ model, command, stable, margin, scale string }{
		{below, "stability", "true", "1e-25", "1.0000000000000002"},
		{above, "stability", "false", "-1e-25", "0.9999999999999999"},
		{above, "solve", "false", "-1e-25", "0.9999999999999999"},
		{at("1"), "stability", "false", "0", "1"},
		{at("0." + strings.Repeat("9", 400)), "stability", "true", "5e-324", "1.0000000000000002"},
	} {
		stdout, stderr, _ := pfq(c.model, c.command, "-", "--format", "csv")
		if got := oneLine(t, stdout); got["stable"] != c.stable || got["margin"] != c.margin ||
			got["critical_scale"] != c.scale {
			t.Errorf("pfq %s: %s%s, want %v", c.command, stdout, stderr, c)
		}
	}
	for rate, want := range map[string]string{
		"0.99999999":                   "s<1>    0.99999999\n",
		"0." + strings.Repeat("9", 25): "s<1>    <1\n",
	} {
		for _, engine := range []string{"float", "exact", "enclose"} {
			args := []string{"solve", "-", "--engine", engine, "--lattice", "class"}
			if engine != "exact" {
				args = append(args, "--tol", "1e-5")
			}
			stdout, stderr, status := pfq(at(rate), args...)
			if engine == "exact" && rate == "0.99999999" {
				stdout = strings.ReplaceAll(stdout, "99999999/100000000 = ", "")
			}
			if status == 0 && !strings.Contains(stdout, want) || status == 2 && engine != "float" {
				t.Errorf("%s at %s: no %q in %s%s", engine, rate, want, stdout, stderr)
			}
		}
	}
}

// A sweep gives the same answer at every factor as the model with its rates multiplied by it.
func TestSweep(t *testing.T) {
	for _, engine := range strings.Fields("auto float enclose exact") {
		stdout, stderr, status := pfq(
			oneServer, "solve", "-", "--engine", engine, "--scale", "1,1/4,2,3", "--format", "json",
		)
		var got []map[string]any
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 1 || stderr != "" || len(got) != 4 {
			t.Fatalf("status %d, %v, %s%s", status, err, stdout, stderr)
		}
		for i, c := range []struct{ scale, rate string }{{"1", "1/2"}, {"0.25", "1/8"}, {"2", "1"}, {"3", "3/2"}} {
			single, _, _ := pfq(
				strings.Replace(oneServer, `"1/2"`, `"`+c.rate+`"`, 1), "solve", "-", "--engine", engine,
				"--format", "json",
			)
			want := commandtest.ParseJSON(t, single)
			if scale := fmt.Sprint(got[i]["scale"]); scale != c.scale {
				t.Errorf("scale %s, want %s", scale, c.scale)
			}
			delete(got[i], "scale")
			delete(got[i], "scale_exact")
			if diff := cmp.Diff(want, got[i]); diff != "" {
				t.Errorf("%s: %s", engine, diff)
			}
		}
	}
	stdout, _, status := pfq(oneServer, "solve", "-", "--scale", "1,2", "--format", "csv")
	lines := strings.Split(stdout, "\n")
	if status != 1 || len(lines) != 8 || !strings.HasPrefix(lines[0], "scale,kind,name,") ||
		!strings.HasPrefix(lines[1], "1,cluster,") || !strings.HasPrefix(lines[6], "2,unstable,,") ||
		!strings.HasSuffix(lines[6], ",0,a,1,a,1,1") {
		t.Errorf("status %d, %s", status, stdout)
	}
	if _, stderr, status := pfq(oneServer, "solve", "-", "--scale", "0,1.999"); status != 0 {
		t.Errorf("status %d, %s", status, stderr)
	}
	stdout, _, status = pfq(oneServer, "solve", "-", "--scale", "2", "--format", "csv")
	if got := oneLine(t, stdout); status != 1 || got["scale"] != "2" || got["kind"] != "unstable" ||
		got["critical_scale"] != "1" || got["margin"] != "0" || got["bottleneck"] != "a" {
		t.Errorf("status %d, %s", status, stdout)
	}
	model, _, _ := pfq("", "example", "random-100-2")
	if _, stderr, _ := pfq(model, "solve", "-", "--lattice", "class", "--scale", "1"); !strings.HasPrefix(
		stderr, "pfq: --lattice = class: want ",
	) {
		t.Error(stderr)
	}
}

// Every reader rejects an endless file with an error about the field, and uses no more memory than
// its limit allows.
func TestEndlessFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "good.json", oneServer)
	const text = "/dev/zero: want a text of at most 64 MiB, not a longer one"
	zeros := strings.Repeat(`\x00`, 14)
	for args, want := range map[string]string{
		"simulate good.json --sizes file:/dev/zero": "/dev/zero:1: want a line of at most 65535 bytes, not \"" +
			zeros + "...",
		"tags --hosts 2 --load 0.5 --sizes file:/dev/zero": "/dev/zero:1: want a line of at most 65535 bytes, not \"" +
			zeros + "...",
		"tags --hosts 2 --load 0.5 --sizes swf:/dev/zero --processor-seconds": "/dev/zero:1: want a line of at " +
			"most 65535 bytes, not \"" + zeros + "...",
		"tags --hosts 2 --load 0.5 --sizes swf:/dev/zero --processor-seconds --fit": "/dev/zero:1: want a line of at " +
			"most 65535 bytes, not \"" +
			zeros + "...",
		"dispatch /dev/zero --workers 2": "/dev/zero:1: want a line of at most 65535 bytes, not \"" + zeros + "...",
		"solve /dev/zero":                text,
		"allocate /dev/zero":             text,
	} {
		if stdout, stderr, status := pfq("", strings.Fields(args)...); status != 2 || stdout != "" ||
			stderr != "pfq: "+want+"\n" {
			t.Errorf("%s: status %d, %q, want %s", args, status, stderr, want)
		}
	}
}

// If jobs choose half of 8000 servers, the number of choices has 8000 bits and is not printed in
// full. The closed form of random assignment in float64 gives their mean number.
func TestSolveLongWays(t *testing.T) {
	const model = `{"servers": [{"name": "g", "capacity": 1, "count": 8000}],
		"classes": [{"name": "a", "arrival_rate": 4000, "servers": [{"group": "g", "choose": 4000}]}]}`
	jobs, bound, err := bf.RandomAssignmentFloat(8000, 4000, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"auto", "float", "enclose"} {
		stdout, stderr, status := pfq(model, "solve", "-", "--engine", engine, "--memory", "16", "--format", "json")
		var got struct {
			Jobs  float64 `json:"mean_jobs"`
			Bound float64 `json:"relative_error_bound"`
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 0 {
			t.Fatalf("%s: status %d, %v, stderr %s", engine, status, err, stderr)
		}
		if math.Abs(got.Jobs-jobs) > (got.Bound+bound)*jobs*1.01 {
			t.Errorf("%s: mean jobs %v ± %g, want %v ± %g", engine, got.Jobs, got.Bound, jobs, bound)
		}
	}
	stdout, _, status := pfq(model, "solve", "-", "--scale", "0.5,3")
	if status != 1 || !strings.Contains(stdout, "scale 3: unstable: ") {
		t.Errorf("status %d, %s", status, stdout)
	}
	if stdout, _, status = pfq(strings.Replace(model, "4000,", "8000,", 1), "solve", "-"); status != 1 ||
		!strings.Contains(stdout, "unstable") {
		t.Errorf("status %d, %s", status, stdout)
	}
	_, stderr, status := pfq(model, "solve", "-", "--engine", "exact")
	if status != 2 || !strings.Contains(stderr, "--engine = exact: want a smaller model") ||
		!strings.Contains(stderr, "MiB") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// Bounds narrower than double precision are reported with their true width.
func TestSolveReportsWidthOfBounds(t *testing.T) {
	stdout, _, status := pfq(oneServer, "solve", "-", "--engine", "enclose", "--tol", "1e-40")
	width := regexp.MustCompile(`between bounds (\S+) apart \(relative\), shown to 40 digits`).FindStringSubmatch(
		stdout,
	)
	if status != 0 || width == nil {
		t.Fatalf("status %d, %s", status, stdout)
	}
	if w, err := strconv.ParseFloat(width[1], 64); err != nil || !(w <= 1e-40) {
		t.Errorf("bounds %s apart", width[1])
	}
}

// A pool given to solve is recognized.
func TestSolvePool(t *testing.T) {
	if _, stderr, status := pfq(
		`{"resources": [{"name": "cpu", "capacity": 4}], "jobs": [{"name": "a", "demand": {"cpu": 1}}]}`, "solve", "-",
	); status != 2 ||
		stderr != "pfq: standard input:1: resources = an array: want one of the fields servers, classes, mean_size, "+
			"service, mean_patience, patience, mean_timeout; "+
			"this looks like a model for pfq allocate, with --dynamic if jobs arrive and depart\n" {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// For unknown fields the error names the valid ones.
func TestSolveNoSuchField(t *testing.T) {
	for _, c := range []struct{ field, want string }{
		{
			`"servers": ["s"], "priority": 2`,
			"classes[0].priority = 2: want none with service all; classes of a cluster with service: one have " +
				"priorities, for pfq simulate; pfq dispatch gives users with fewer jobs a higher one\n",
		},
		{`"servers": ["s"], "cost": 2`, "; purchases and their costs belong in a plan, for pfq plan\n"},
		{`"servers": ["s"], "speed": 2`, "want one of the fields name, arrival_rate, servers, mean_size, " +
			"priority, mean_patience, patience, mean_timeout\n"},
	} {
		text := `{"servers": [{"name": "s", "capacity": 1}], "classes": [{"name": "a", "arrival_rate": 0.5, ` +
			c.field + `}]}`
		if _, stderr, status := pfq(text, "solve", "-"); status != 2 || !strings.HasSuffix(stderr, c.want) {
			t.Errorf("status %d, %s, want %s", status, stderr, c.want)
		}
	}
}

// A failure to write to a full standard output is reported.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range []string{"help", "solve --help", "example", "version", "completion"} {
		var said strings.Builder
		if status := command.Run(program(), strings.Fields(args), nil, full, &said); status != 2 ||
			!strings.Contains(said.String(), "no space left on device") {
			t.Errorf("%s: status %d, %q, want an error that the standard output is full", args, status, &said)
		}
	}
}

// --scale CLASS=FACTORS changes the rate of that class only: the answers, including percentiles,
// gradients and instability, equal those for models with the changed rate.
func TestScaleOfClass(t *testing.T) {
	args := []string{"solve", "-", "--percentiles", "50", "--gradients", "--format", "json"}
	stdout, stderr, status := pfq(twoQueues, append(args, "--scale", "b=0.5:1.5:0.5,2")...)
	var got []map[string]any
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 1 || stderr != "" || len(got) != 4 {
		t.Fatalf("status %d, %v, %s%s", status, err, stdout, stderr)
	}
	for i, rate := range []string{"1/4", "1/2", "3/4", "1"} {
		single, _, _ := pfq(
			strings.Replace(twoQueues, `"b", "arrival_rate": "1/2"`, `"b", "arrival_rate": "`+rate+`"`, 1), args...,
		)
		if got[i]["scaled_class"] != "b" || got[i]["scale"] != float64(i+1)/2 {
			t.Errorf("%v", got[i])
		}
		delete(got[i], "scaled_class")
		delete(got[i], "scale")
		if diff := cmp.Diff(commandtest.ParseJSON(t, single), got[i]); diff != "" {
			t.Errorf("%s: %s", rate, diff)
		}
	}
	if bad := program.Refusal(t, twoQueues, "solve", "-", "--scale", "bb=1"); bad.Path != "--scale" ||
		bad.Want != `the name of a class: "a", "b", "c"` {
		t.Errorf("%+v", bad)
	}
	if bad := program.Refusal(t, twoQueues, "solve", "-", "--scale", "a=1,b=2"); bad.Path != "--scale[1]" {
		t.Errorf("%+v", bad)
	}
	stdout, _, _ = pfq(twoQueues, "solve", "-", "--scale", "b=1,2")
	if !strings.HasPrefix(stdout, allServers+"scale 1 of b: stable; ") ||
		!strings.Contains(stdout, "\nscale 2 of b: unstable: ") {
		t.Error(stdout)
	}
}

// One class can grow until the tightest set that contains it is full: web to 13/5, when both
// classes fill both servers, and reports to 1, when it fills the small one.
func TestStabilityByClass(t *testing.T) {
	const shop = `{"servers": [{"name": "big", "capacity": 2}, {"name": "small", "capacity": 1}], "classes": [
		{"name": "web", "arrival_rate": 1, "servers": ["big", "small"]},
		{"name": "reports", "arrival_rate": "1/5", "mean_size": 2, "servers": ["small"]},
		{"name": "none", "arrival_rate": 0, "servers": ["small"]}]}`
	stdout, stderr, status := pfq(shop, "stability", "-", "--by-class", "--format", "json")
	var answer struct{ Classes []map[string]any }
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || status != 0 || stderr != "" {
		t.Fatalf("status %d, %v, %q", status, err, stderr)
	}
	var got []string
	for _, c := range answer.Classes {
		got = append(got, fmt.Sprint(c["name"], " ", c["arrival_rate_limit_exact"], " ", c["critical_scale_exact"],
			" ", c["limit_set"]))
	}
	if diff := cmp.Diff(
		[]string{"web 13/5 13/5 [web reports]", "reports 1/2 5/2 [reports]", "none 3/5 <nil> [reports none]"}, got,
	); diff != "" {
		t.Error(diff)
	}
	// Without --by-class the limits in heavy traffic remain. Jobs that give up have none.
	for model, want := range map[string][]any{
		shop: {"5/7", "2/7", "0"},
		strings.Replace(shop, "{", `{"service": "one", `, 1):       {nil, nil, nil}, // two mean sizes
		strings.Replace(shop, "{", `{"mean_timeout": 1, `, 1):      {nil, nil, nil},
		strings.Replace(shop, `"1/5", "mean_size": 2`, `"1/2"`, 1): {nil, nil, nil}, // two tight sets
		strings.Replace(strings.Replace(shop, "{", `{"service": "one", `, 1), `"1/5", "mean_size": 2`, `"1/4"`, 1): {
			"4/5", "1/5", "0",
		},
	} {
		stdout, stderr, status := pfq(model, "stability", "-", "--format", "json")
		var answer struct{ Classes []map[string]any }
		if err := json.Unmarshal([]byte(stdout), &answer); err != nil || status != 0 {
			t.Fatalf("status %d, %v, %q", status, err, stderr)
		}
		var got []any
		for _, c := range answer.Classes {
			got = append(got, c["heavy_traffic_jobs_exact"])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", model, diff)
		}
	}
	stdout, _, status = pfq(strings.Replace(shop, `"1/5"`, "1", 1), "stability", "-", "--by-class", "--format", "json")
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || status != 1 || len(answer.Classes) != 3 {
		t.Fatalf("status %d, %v, %s", status, err, stdout)
	}
	for i, c := range answer.Classes { // reports overload the small server on their own
		if limit, known := c["arrival_rate_limit"]; !known || limit != nil || c["limit_set"] != nil ||
			c["heavy_traffic_jobs_exact"] != []string{"0", "1", "0"}[i] {
			t.Errorf("%v", c)
		}
	}
}

// Two separate M/M/1 queues: E[X] = λ/(C - λ) and delay 1/(C - λ). The derivatives are C/(C-λ)² and
// 1/(C-λ)² in the rate and -λ/(C-λ)² and -1/(C-λ)² in the capacity. On both servers Z = (C_s Z(t) +
// C_t Z(s))/(C_s + C_t - λ_a - λ_b - λ_c), so the class without arrivals would have 1/(C_s + C_t -
// λ_a - λ_b) = 1/2 jobs per unit of rate, and add 1/4 to the delays of the others. Zeros are
// omitted.
func TestSolveGradients(t *testing.T) {
	stdout, stderr, status := pfq(twoQueues, "solve", "-", "--gradients", "--engine", "exact", "--format", "json")
	var answer struct{ Gradients []map[string]any }
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || status != 0 || stderr != "" {
		t.Fatalf("status %d, %v, %q", status, err, stderr)
	}
	var got []string
	for _, g := range answer.Gradients {
		got = append(got, fmt.Sprint(g["class"], " ", g["by"], " ", g["of"], " ", g["mean_jobs_change_exact"],
			" ", g["mean_delay_change_exact"]))
	}
	want := []string{
		"a arrival_rate a 8/9 4/9", "a arrival_rate c 1/8 1/4", "a capacity s -2/9 -4/9",
		"b arrival_rate b 4 4", "b arrival_rate c 1/8 1/4", "b capacity t -2 -4",
		"c arrival_rate c 1/2 <nil>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	group := `{"servers": [{"name": "s", "capacity": 1}, {"name": "rack", "capacity": 1, "count": 4}],
		"classes": [{"name": "a", "arrival_rate": 2, "servers": ["s", "rack"]}]}`
	// M/M/1 of capacity 5: E[jobs] = λ/(5-λ); the derivative in each of the four capacities is -4
	// λ/(5-λ)²
	stdout, _, _ = pfq(group, "solve", "-", "--gradients")
	if want := "capacity of each of 4 servers  rack  -0.888889         -0.444444\n"; !strings.Contains(stdout, want) {
		t.Errorf("no line %q in\n%s", want, stdout)
	}
	stdout, _, _ = pfq(twoQueues, "solve", "-", "--gradients")
	if want := "a      capacity          s   -0.222222         -0.444444\n"; !strings.Contains(stdout, want) {
		t.Errorf("no line %q in\n%s", want, stdout)
	}
}
