package main

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cmd/pfq/internal/commandtest"
)

// gpus is a model with one server per job, and with a server that no class uses.
const gpus = `service: one
servers: [{name: new, count: 8, capacity: 3}, {name: old, count: 16, capacity: 1}, {name: spare, capacity: 1}]
classes:
- {name: a, arrival_rate: 14, servers: [new]}
- {name: b, arrival_rate: 20, servers: [new, old]}
`

// TestSolveOneServer checks the fields of an answer.
func TestSolveOneServer(t *testing.T) {
	stdout, stderr, status := pfq(gpus, strings.Fields(
		"solve - --format json --percentiles 5,95 --within 0,0.1 --distribution 2")...)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var got struct {
		Stable  bool
		Service string
		Times   struct {
			Engine string
			Bound  float64 `json:"relative_error_bound"`
		}
		Classes []struct {
			Name            string
			WaitProbability float64 `json:"wait_probability"`
			MeanWaiting     float64 `json:"mean_waiting"`
			MeanDelay       float64 `json:"mean_delay"`
			MeanQueue       float64 `json:"mean_queue"`
			ServedBy        []struct {
				Server      string
				Rate, Share float64
			} `json:"served_by"`
			Waiting, Delay struct{ P5, P95 float64 }
			Within         []struct{ Time, Waiting, Delay float64 }
		}
		Servers []struct {
			Name        string
			Utilization float64
		}
		Queue []float64 `json:"queue_distribution"`
		Jobs  []float64 `json:"jobs_distribution"`
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Stable || got.Service != "one" || got.Times.Engine != "float" || !(got.Times.Bound < 1e-9) {
		t.Errorf("%+v", got)
	}
	a := got.Classes[0]
	if a.Waiting.P5 != 0 || !(a.Waiting.P95 > 0 && a.Delay.P95 > a.Waiting.P95) {
		t.Errorf("percentiles of waiting %v and of delay %v", a.Waiting, a.Delay)
	}
	if len(a.ServedBy) != 1 || a.ServedBy[0].Server != "new" || len(got.Classes[1].ServedBy) != 2 {
		t.Errorf("served by %v and %v", a.ServedBy, got.Classes[1].ServedBy)
	}
	if p := 1 - a.Within[0].Waiting; !(p-a.WaitProbability < 1e-12 && a.WaitProbability-p < 1e-12) {
		t.Errorf("P(W <= 0) = %v, P(W > 0) = %v", a.Within[0].Waiting, a.WaitProbability)
	}
	if got.Servers[2].Name != "spare" || got.Servers[2].Utilization != 0 {
		t.Errorf("unused server: %+v", got.Servers[2])
	}
	if len(got.Queue) != 3 || len(got.Jobs) != 3 || !(got.Queue[0] > got.Jobs[2]) {
		t.Errorf("distributions %v and %v", got.Queue, got.Jobs)
	}
}

// TestEnclosedTimes checks that an answer with enclosed means names the engine and the error bound
// on the percentiles, which come from float64.
func TestEnclosedTimes(t *testing.T) {
	args := strings.Fields("solve - --percentiles 95 --within 1 --engine enclose --format")
	text, _, _ := pfq(gpus, append(args, "text")...)
	for _, want := range []string{
		"stable; enclose engine, computed within 2e-16 of exact",
		"\ntimes by the float engine: percentiles within ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	stdout, _, _ := pfq(gpus, append(args, "json")...)
	var got struct {
		Engine string
		Times  struct {
			Engine   string
			Relative float64 `json:"relative_error_bound"`
			Absolute float64 `json:"absolute_error_bound"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	x := got.Times
	if got.Engine != "enclose" || x.Engine != "float" || !(x.Relative > 0 && x.Relative < 2e-9 && x.Absolute > 0) {
		t.Errorf("%+v", got)
	}
}

// TestSolveOneServerScale solves at several loads, beyond the stable ones.
func TestSolveOneServerScale(t *testing.T) {
	stdout, stderr, status := pfq(gpus, "solve", "-", "--format", "csv", "--scale", "a=0.5,2", "--engine", "float")
	if status != 1 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var kinds []string
	for line := range strings.Lines(stdout) {
		fields := strings.Split(line, ",")
		kinds = append(kinds, fields[0]+" "+fields[1])
	}
	want := []string{"scale kind", "0.5 cluster", "0.5 class", "0.5 class", "0.5 served_by", "0.5 served_by",
		"0.5 served_by", "0.5 server", "0.5 server", "0.5 server", "2 unstable"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff, stdout)
	}
}

// TestServiceIsChecked checks that flags and commands that do not fit the service are rejected.
func TestServiceIsChecked(t *testing.T) {
	all := strings.Replace(gpus, "service: one\n", "", 1)
	for _, c := range []struct{ model, args, want string }{
		{gpus, "solve - --lattice server", "pfq: --lattice = server: want a model with service: all; service: one " +
			"has times, --distribution of all jobs and --gradients\n"},
		{gpus, "solve - --distribution 2 --by-class", "pfq: --by-class = true: want a model with service: " +
			"all; service: one has times, --distribution of all jobs and --gradients\n"},
		{all, "solve - --within 2",
			"pfq: --within = 2: want a model with service: one; --percentiles gives times for both\n"},
		{gpus, "solve - --within soon", "pfq: --within[0] = soon: want a number >= 0, such as 0.25\n"},
		{gpus, "solve - --within 1,-1", "pfq: --within[1] = -1: want a number >= 0, such as 0.25\n"},
		{gpus, "solve - --percentiles 50 --engine exact", "pfq: --engine = exact: want auto, float or enclose, " +
			"as quantiles and probabilities of times are not fractions\n"},
		{gpus, "estimate -", `pfq: standard input: service = "one": want all; `},
		{strings.Replace(gpus, "servers: [new]", "servers: [new], mean_size: 1/2", 1), "solve -",
			"pfq: standard input: classes[1].mean_size = 1: want the mean size of the other classes"},
		{strings.Replace(gpus, "servers: [new]", "servers: []", 1), "solve -",
			"pfq: standard input:4: classes[0].servers = []: want at least one server"},
		{strings.Replace(gpus, "servers: [new]", "servers: [{group: new, choose: 9}]", 1), "solve -",
			`pfq: standard input:4: classes[0].servers[0].choose = 9: want an integer from 1 to 8, the servers in`},
	} {
		stdout, stderr, status := pfq(c.model, strings.Fields(c.args)...)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, c.want) {
			t.Errorf("%s: status %d, %q, %q, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
}

// Every command that ignores the priorities of classes says so once, and otherwise answers as
// without them.
func TestPrioritiesIgnored(t *testing.T) {
	t.Chdir(t.TempDir())
	const plain = "service: one\nservers: [{name: s, count: 3, capacity: 1}]\n" +
		"classes: [{name: a, arrival_rate: 1, servers: [s]}, {name: b, arrival_rate: 1, servers: [s]}]\n"
	const plan = "targets: [{class: a, mean_waiting: 0.1}]\nupgrades: [{server: s, count: 1, cost: 1, most: 3}]\n"
	urgent := strings.Replace(plain, "[s]}", "[s], priority: 9}", 1)
	for name, text := range map[string]string{"plain.yaml": plain, "urgent.yaml": urgent,
		"plan-plain.yaml": "model: plain.yaml\n" + plan, "plan-urgent.yaml": "model: urgent.yaml\n" + plan} {
		commandtest.WriteFile(t, name, text)
	}
	const firstCome = ": the answer is that of first come, first served; pfq simulate --policy priority uses them"
	const limits = ": the verdict is that of first come, first served; under policies with priorities the limits can " +
		"be lower"
	for _, c := range []struct{ args, reason string }{
		{"solve urgent.yaml --percentiles 95", firstCome},
		{"solve urgent.yaml --scale 0.5,2", firstCome},
		{"stability urgent.yaml --by-class", limits},
		{"plan plan-urgent.yaml", firstCome},
		{"plan plan-urgent.yaml --find load", firstCome},
		{"plot urgent.yaml --format csv --scale 0.5,1", firstCome},
		{"plot plan-urgent.yaml --find growth --scale 1,1.2 --format csv", firstCome},
		{"dispatch urgent.yaml --policy priority --sample 100",
			": policies with priorities rank classes by their numbers of jobs, fewest first"},
	} {
		answer := func(args string) string {
			stdout, stderr, status := pfq("", strings.Fields(args)...)
			if status > 1 {
				t.Errorf("%s: status %d, %s", args, status, stderr)
			}
			return strings.ReplaceAll(stderr+stdout, "urgent.yaml", "plain.yaml")
		}
		before, after, found := strings.Cut(answer(c.args), "priorities have no effect"+c.reason+"\n")
		without := answer(strings.ReplaceAll(c.args, "urgent", "plain"))
		if got := strings.TrimPrefix(before, "pfq: note: ") + after; !found || got != without {
			t.Errorf("%s: note %t, and\n%s\nwant\n%s", c.args, found, got, without)
		}
	}
	for _, args := range []string{"solve - --format json", "stability - --format json"} {
		stdout, _, _ := pfq(urgent, strings.Fields(args)...)
		if note, _ := commandtest.ParseJSON(t, stdout)["note"].(string); !strings.HasPrefix(note, "priorities have") {
			t.Errorf("%s: note %q", args, note)
		}
	}
}

// TestLargeOneServer checks that a ring of 40 servers is rejected with its size and an alternative,
// before any table is made, and that the alternative accepts it.
func TestLargeOneServer(t *testing.T) {
	var servers, classes strings.Builder
	for s := range 40 {
		fmt.Fprintf(&servers, "- {name: s%d, capacity: %d}\n", s, 2+s)
		fmt.Fprintf(&classes, "- {name: c%d, arrival_rate: 1, servers: [s%d, s%d]}\n", s, s, (s+1)%40)
	}
	ring := "service: one\nservers:\n" + servers.String() + "classes:\n" + classes.String()
	want := "pfq: standard input: model = 40 servers in 40 groups of equal ones, 1.1e+12 states: want at most " +
		"16777216 states, in 16384 MiB: fewer groups, or equal servers as one group; or pfq simulate, which " +
		"estimates the means\n"
	for _, model := range []string{ring, ring + "mean_patience: 2\n"} {
		for _, args := range []string{"", "--engine float", "--percentiles 50", "--gradients", "--memory 1000000"} {
			if model != ring && args != "" {
				continue
			}
			want := want
			if strings.HasPrefix(args, "--memory") {
				want = strings.Replace(want, "16384", "1000000", 1)
			}
			stdout, stderr, status := pfq(model, strings.Fields("solve - "+args)...)
			if status != 2 || stdout != "" || stderr != want {
				t.Errorf("%s: status %d, %q, %q, want %q", args, status, stdout, stderr, want)
			}
		}
		_, stderr, status := pfq(model, "estimate", "-")
		const others = "want all; pfq solve, pfq stability and pfq simulate accept one and gang"
		if status != 2 || !strings.Contains(stderr, others) {
			t.Errorf("estimate: status %d, %q", status, stderr)
		}
		stdout, _, status := pfq(model, "simulate", "-", "--runs", "2", "--jumps", "1000")
		if status != 0 || !strings.Contains(stdout, "c39") {
			t.Errorf("simulate: status %d, %q", status, stdout)
		}
	}
}

// TestSolvePatience checks the fields of an answer about jobs that give up, and the flags that do
// not fit.
func TestSolvePatience(t *testing.T) {
	patient := strings.Replace(gpus, "service: one", "service: one\nmean_patience: 0.2", 1)
	stdout, stderr, status := pfq(patient, "solve", "-", "--format", "json", "--within", "0.1", "--percentiles", "5,95")
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var got struct {
		Service string
		Error   float64  `json:"error_estimate"`
		Bound   *float64 `json:"relative_error_bound"`
		Classes []struct {
			Rate      float64 `json:"arrival_rate"`
			Abandon   float64 `json:"abandon_probability"`
			MeanDelay float64 `json:"mean_delay"`
			ServedBy  []struct {
				Server      string
				Rate, Share float64
			} `json:"served_by"`
			Percentiles       struct{ P5, P95 float64 } `json:"waiting"`
			ServedPercentiles struct{ P5, P95 float64 } `json:"waiting_served"`
			Delay             struct{ P5, P95 *float64 }
			Waiting           float64 `json:"mean_waiting"`
			Served            float64 `json:"mean_waiting_served"`
			Abandoned         float64 `json:"mean_waiting_abandoned"`
			Within            []struct {
				Waiting, Served float64
				Delay           *float64
				Share           float64 `json:"served_share"`
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.Service != "one" || !(got.Error < 1e-8) || got.Bound != nil {
		t.Errorf("%+v", got)
	}
	for i, c := range got.Classes {
		mean := (1-c.Abandon)*c.Served + c.Abandon*c.Abandoned
		if off := mean - c.Waiting; !(off < 1e-9 && off > -1e-9) {
			t.Errorf("class %d waits %v, and %v by those who are served or give up", i, c.Waiting, mean)
		}
		// exponential patience ends at a constant rate
		if off := c.Waiting/0.2 - c.Abandon; !(off < 1e-9 && off > -1e-9) {
			t.Errorf("class %d gives up with probability %v, and %v by its wait", i, c.Abandon, c.Waiting/0.2)
		}
		if w := c.Within[0]; !(w.Served < w.Waiting && w.Share > w.Served) || w.Delay != nil {
			t.Errorf("class %d within 0.1: %+v", i, w)
		}
		delay, share := c.Waiting, 0.0
		for _, s := range c.ServedBy {
			share += s.Share
			delay += s.Share / map[string]float64{"new": 3, "old": 1}[s.Server]
			if off := s.Rate - c.Rate*s.Share; !(off < 1e-9 && off > -1e-9) {
				t.Errorf("class %d: %+v", i, s)
			}
		}
		if off := share + c.Abandon - 1; !(off < 1e-8 && off > -1e-8) {
			t.Errorf("class %d: served by %v, gives up with probability %v", i, c.ServedBy, c.Abandon)
		}
		if off := delay - c.MeanDelay; !(off < 1e-8 && off > -1e-8) {
			t.Errorf("class %d: mean delay %v, want %v", i, c.MeanDelay, delay)
		}
		if p, q := c.Percentiles, c.ServedPercentiles; p.P5 != 0 || q.P5 != 0 || !(p.P95 > 0 && q.P95 > 0) ||
			c.Delay.P95 != nil {
			t.Errorf("class %d: percentiles %v, %v, %v", i, p, q, c.Delay)
		}
	}
	for _, flag := range []string{"--engine exact", "--distribution 2", "--gradients"} {
		_, stderr, status := pfq(patient, strings.Fields("solve - "+flag)...)
		if status != 2 || !strings.Contains(stderr, "want a model without mean_patience") {
			t.Errorf("%s: status %d, %s", flag, status, stderr)
		}
	}
}

// manyAgents is one pool of 100,000 agents with two classes, which bring 2 % too much work.
const manyAgents = `service: one
mean_patience: 2
servers: [{name: agents, count: 100000, capacity: 1}]
classes:
- {name: a, arrival_rate: 50000, servers: [agents]}
- {name: b, arrival_rate: 52000, servers: [agents]}
`

// TestSolvePatiencePool solves one pool with proved bounds, even if jobs do not wait at all, as in
// Erlang's formula. A large pool with another patience is rejected.
func TestSolvePatiencePool(t *testing.T) {
	type answer struct {
		Bound   *float64 `json:"relative_error_bound"`
		Error   *float64 `json:"error_estimate"`
		Abandon float64  `json:"abandon_probability"`
		Classes []struct {
			Wait    float64 `json:"wait_probability"`
			Waiting struct{ P95 float64 }
		}
	}
	solve := func(model string) (a answer) {
		stdout, stderr, status := pfq(model, "solve", "-", "--format", "json", "--percentiles", "95")
		if err := json.Unmarshal([]byte(stdout), &a); err != nil || status != 0 || stderr != "" {
			t.Fatalf("status %d, %s, %v", status, stderr, err)
		}
		if a.Bound == nil || !(*a.Bound < 1e-9) || a.Error != nil {
			t.Errorf("bound %v, error estimate %v", a.Bound, a.Error)
		}
		return a
	}
	// nearly all agents are always busy, so 2 of 102 jobs give up
	if a := solve(manyAgents); !(math.Abs(a.Abandon-2./102) < 1e-9) {
		t.Errorf("%+v", a)
	}
	small := strings.NewReplacer("100000", "2", "50000", "1", "52000", "1", "patience: 2",
		"patience: 0").Replace(manyAgents)
	if a := solve(small); !(math.Abs(a.Abandon-0.4) < 1e-12) || a.Classes[1].Wait != 0 ||
		a.Classes[1].Waiting.P95 != 0 {
		t.Errorf("%+v", a)
	}
	stdout, stderr, status := pfq(manyAgents+"patience: deterministic\n", "solve", "-")
	if status != 2 || stdout != "" || stderr != "pfq: standard input: model = 100000 servers in 1 group of equal "+
		"ones, 1e+05 states: want at most 500 steps in time, and more are necessary: fewer servers, or one pool that "+
		"all classes use with the same exponential patience; or pfq simulate, which estimates the means\n" {
		t.Errorf("status %d, %s", status, stderr)
	}
	for _, c := range []struct{ args, want string }{
		{"--percentiles 0", "pfq: --percentiles[0] = 0: want a number > 0 and < 100"},
		{"--percentiles 50,x", "pfq: --percentiles[1] = x: want a number > 0 and < 100"},
	} {
		_, stderr, status := pfq(manyAgents, strings.Fields("solve - "+c.args)...)
		if status != 2 || !strings.HasPrefix(stderr, c.want) {
			t.Errorf("%s: status %d, %s", c.args, status, stderr)
		}
	}
	const far = "--percentiles 99.99999999999"
	_, stderr, status = pfq(strings.Replace(gpus, "service: one", "service: one\nmean_patience: 0.2", 1),
		strings.Fields("solve - "+far)...)
	if status != 2 || !strings.Contains(stderr, "at most 1 - 1e-12 if jobs give up") {
		t.Errorf("%s: status %d, %s", far, status, stderr)
	}
}

// TestSolvePatienceScale solves a model with patience at two factors. The answers are those of the
// models with the arrival rates of both.
func TestSolvePatienceScale(t *testing.T) {
	const model = `service: one
servers: [{name: s, capacity: 1, count: 2}]
classes:
- {name: x, arrival_rate: 1, servers: [s]}
- {name: y, arrival_rate: 2, servers: [s], mean_patience: 1}
`
	solve := func(model, args string) (stdout string, status int) {
		args = "solve - --within 1 --percentiles 95 --format json" + args
		stdout, stderr, status := pfq(model, strings.Fields(args)...)
		if stderr != "" {
			t.Errorf("%s: %s", args, stderr)
		}
		return stdout, status
	}
	type answer = map[string]any
	var list []answer
	stdout, status := solve(model, " --scale 1,1.5")
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || status != 0 || len(list) != 2 {
		t.Fatalf("status %d, %v, %s", status, err, stdout)
	}
	faster := strings.NewReplacer("arrival_rate: 1", "arrival_rate: 1.5", "arrival_rate: 2", "arrival_rate: 3")
	for i, scaled := range []string{model, faster.Replace(model)} {
		var want answer
		stdout, _ := solve(scaled, "")
		if err := json.Unmarshal([]byte(stdout), &want); err != nil {
			t.Fatal(err)
		}
		if delete(list[i], "scale"); !reflect.DeepEqual(list[i], want) {
			t.Errorf("factor %d: %v, want %v", i, list[i], want)
		}
	}
	for args, want := range map[string]string{
		"--scale 1,2":               "\nscale 2: unstable: would be stable with the arrival rates multiplied by",
		"--scale y=1,2":             "\nscale 2 of y: jobs that have waited for their patience give up",
		"--scale 1,2 --format csv":  "\n2,unstable,",
		"--scale 1,2 --format json": `"stable": false`,
	} {
		wantStatus := 1
		if strings.Contains(args, "y=") {
			wantStatus = 0
		}
		stdout, stderr, status := pfq(model, strings.Fields("solve - "+args)...)
		if status != wantStatus || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("%s: status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// TestSolvePatienceUnstable overloads a cluster with jobs that never give up. The answer names
// them, as it does without patience.
func TestSolvePatienceUnstable(t *testing.T) {
	const model = `service: one
servers: [{name: s, capacity: 1, count: 2}]
classes:
- {name: x, arrival_rate: 3, servers: [s]}
- {name: y, arrival_rate: 1, servers: [s], mean_patience: 1}
`
	stdout, stderr, status := pfq(model, "solve", "-")
	if status != 1 || stderr != "" || !strings.Contains(stdout, "bottleneck  x: work 3 on capacity 2\n") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	sized := strings.Replace(model, "arrival_rate: 3", "arrival_rate: 1, mean_size: 2", 1)
	if _, stderr, status := pfq(sized, "solve", "-"); status != 2 || !strings.HasPrefix(stderr,
		"pfq: standard input: classes[1].mean_size = 1: want the mean size of the other classes") ||
		!strings.HasSuffix(stderr, "; pfq simulate takes any sizes\n") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// TestClustersElsewhere reads a cluster with another command, whose error names pfq solve, and
// needs with the wrong service.
func TestClustersElsewhere(t *testing.T) {
	const solve = "; this looks like a model for pfq solve"
	needy := strings.Replace(gpus, ", servers: [new]", ", servers: [new], needs: 2", 1)
	if needy == gpus {
		t.Fatal("no classes")
	}
	for _, c := range []struct{ model, command, want string }{
		{gpus, "network", solve + "\n"},
		{gpus, "allocate", solve + "\n"},
		{gpus, "plan", solve + ", and a plan names it as its model\n"},
		{"mean_patience: 2\n" + gpus, "network", solve + "\n"},
		{needy, "solve", "; jobs that hold several servers have service: gang\n"},
		{strings.Replace(gangs, "needs: 4", "needs: 5", 1), "solve", `the count of "gpu"` + "\n"},
	} {
		_, stderr, status := pfq(c.model, c.command, "-")
		if status != 2 || !strings.HasSuffix(stderr, c.want) {
			t.Errorf("%s: status %d, %s", c.command, status, stderr)
		}
	}
}
