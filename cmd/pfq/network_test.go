package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/network"
	"productform/num"
)

// networkProgram is pfq with the command network alone.
var networkProgram = commandtest.Program(func() *cobra.Command { return command.Root(newNetworkCommand()) })

// Ten servers with one queue are M/M/10: at load 8 jobs wait with probability C = B/(1 - 0.8 (1 -
// B)), B Erlang's loss, and E[jobs] = 8 + C 0.8/0.2.
func TestTenServers(t *testing.T) {
	got := networkProgram.JSON(t, commandtest.Example(t, "networks/ten-servers.yaml"), "network -")
	b := 1.0
	for n := 1; n <= 10; n++ {
		b = 8 * b / (float64(n) + 8*b)
	}
	want := 8 + b/(1-0.8*(1-b))*0.8/0.2
	chain := got["chains"].([]any)[0].(map[string]any)
	commandtest.Near(t, "mean jobs", chain["mean_jobs"], want, 1e-13)
	if chain["population"] != nil || got["critical_scale"] != 1.25 || got["method"] != string(network.ClosedForm) {
		t.Errorf("population %v, critical scale %v, method %v",
			chain["population"], got["critical_scale"], got["method"])
	}
}

// A LINE file gives the same answer as the network that it describes.
func TestFileOfLINE(t *testing.T) {
	const text = `{"format": "line-model", "version": "1.0", "model": {"type": "Network", "name": "m",
"nodes": [{"name": "Think", "type": "Delay", "service": {"Users": {"type": "Exp", "params": {"lambda": 0.2}}}},
 {"name": "Disk", "type": "Queue", "scheduling": "PS", "servers": 2,
  "service": {"Users": {"type": "Exp", "params": {"lambda": 4}}}}],
"classes": [{"name": "Users", "type": "Closed", "population": 40, "refNode": "Think"}],
"routing": {"type": "matrix", "matrix": {"Users,Users": {"Think": {"Disk": 1}, "Disk": {"Think": 0.5, "Disk": 0.5}}}}}}`
	const same = `{"stations": [{"name": "Think", "discipline": "delay"},
 {"name": "Disk", "discipline": "sharing", "servers": 2}],
"classes": [{"name": "Users", "population": 40, "visits": [{"station": "Think", "mean_size": 5, "visits": 1},
 {"station": "Disk", "mean_size": 0.25, "visits": 2}]}]}`
	got, want := networkProgram.JSON(t, text, "network - --engine exact"),
		networkProgram.JSON(t, same, "network - --engine exact")
	if !reflect.DeepEqual(got["stations"], want["stations"]) || !reflect.DeepEqual(got["chains"], want["chains"]) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// All numbers of the answer equal those of network.Solve.
func TestStations(t *testing.T) {
	text := commandtest.Example(t, "networks/batch.yaml")
	m, err := network.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := network.Answer(t.Context(), m, network.Question{MaxJobs: 2}, network.Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	got := networkProgram.JSON(t, text, "network - --engine exact --distribution 2")
	rows := func(key string, k int) map[string]any { return got[key].([]any)[k].(map[string]any) }
	same := func(what string, got any, want *num.Value) {
		t.Helper()
		if want == nil && got != nil || want != nil && got != want.Exact.RatString() {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	visits := 0
	for k := range r.Chains {
		c, row := &r.Chains[k], rows("chains", k)
		same("throughput", row["throughput_exact"], &c.Throughput)
		same("delay", row["mean_delay_exact"], c.MeanDelay)
	}
	for i := range r.Stations {
		at, row := &r.Stations[i], rows("stations", i)
		same("jobs", row["mean_jobs_exact"], &at.MeanJobs)
		same("empty", row["empty_probability_exact"], &at.ProbEmpty)
		same("utilization", row["utilization_exact"], at.Utilization)
		for n := range at.JobsDistribution {
			same("probability", row["jobs_distribution_exact"].([]any)[n], &at.JobsDistribution[n])
		}
		for k := range at.Visits {
			v, row := &at.Visits[k], rows("visits", visits)
			same("jobs of a visit", row["mean_jobs_exact"], &v.MeanJobs)
			same("delay of a visit", row["mean_delay_exact"], v.MeanDelay)
			same("throughput of a visit", row["throughput_exact"], &v.Throughput)
			visits++
		}
	}
	if visits != 6 || len(got["visits"].([]any)) != 6 {
		t.Errorf("%d visits of %v", visits, got["visits"])
	}
}

// The delay in M/M/1 is exponential: its 99th percentile at load 1/2 is 2 log 100. The percentile
// at a processor-sharing station is not known.
func TestPercentiles(t *testing.T) {
	const model = `{"stations": [{"name": "one", "discipline": "fcfs"}, {"name": "two", "discipline": "sharing"}],
		"classes": [{"name": "job", "arrival_rate": 0.5,
		"visits": [{"station": "one", "next": {"two": 1}}, {"station": "two", "next": {"out": 1}}]}]}`
	visits := networkProgram.JSON(t, model, "network - --percentiles 50,99")["visits"].([]any)
	commandtest.Near(t, "p99", visits[0].(map[string]any)["delay"].(map[string]any)["p99"], 2*math.Log(100), 1e-9)
	if p := visits[1].(map[string]any)["delay"].(map[string]any)["p99"]; p != nil {
		t.Errorf("p99 of processor sharing: %v", p)
	}
	stdout, _, _ := networkProgram.Run(model, "network", "-", "--percentiles", "99", "--runs", "3", "--jumps", "4e4")
	for _, want := range []string{"\nvisit       delay p99 ", " 9.21034  ", "\none      job    9.2103403"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	shared := strings.Replace(model, "fcfs", "lcfs", 1)
	if _, stderr, status := networkProgram.Run(shared, "network", "-", "--percentiles", "99"); status != 2 ||
		!strings.Contains(stderr, "needs --runs here: ") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// With one user, the response time is the sum of two exponential services with equal means. Chains
// whose jobs may repeat a visit have no response time.
func TestResponseTime(t *testing.T) {
	const model = `
stations: [{name: think, discipline: delay}, {name: one, discipline: fcfs}, {name: two, discipline: fcfs}]
classes:
- {name: user, population: 1, visits: [{station: think, next: {one: 1}}, {station: one, next: {two: 1}},
  {station: two, next: {think: 1}}]}
`
	chain := func(text string) map[string]any {
		got := networkProgram.JSON(t, text, "network - --percentiles 50,99")
		return got["chains"].([]any)[0].(map[string]any)["response_time"].(map[string]any)
	}
	for name, level := range map[string]float64{"p50": 0.5, "p99": 0.99} {
		x := chain(model)[name].(float64)
		if tail := math.Exp(-x) * (1 + x); math.Abs(tail-(1-level)) > 1e-10 {
			t.Errorf("%s = %v, with the tail %v", name, x, tail)
		}
	}
	if got := chain(strings.Replace(model, "next: {think: 1}", "next: {think: 0.5, one: 0.5}", 1)); got["p50"] != nil {
		t.Errorf("a response time %v of jobs that may return", got)
	}
	stdout, _, _ := networkProgram.Run(model, "network", "-", "--percentiles", "50")
	if !strings.Contains(stdout, "\nchain  response time p50\nuser   1.678346") {
		t.Errorf("no response time in\n%s", stdout)
	}
}

// A link of 100 units used by a single Poisson class is Erlang's loss system.
func TestErlang(t *testing.T) {
	got := networkProgram.JSON(t, `{"room": 100, "classes": [{"name": "voice", "arrival_rate": 90}]}`, "network -")
	b := 1.0
	for n := 1; n <= 100; n++ {
		b = 90 * b / (float64(n) + 90*b)
	}
	commandtest.Near(t, "blocking", got["blocking"], b, 1e-13)
}

// If all agents speak both languages, the call centre is Erlang's loss system with 6 servers at
// load 4. In the example, the agents take all admitted calls.
func TestCallCentre(t *testing.T) {
	text := commandtest.Example(t, "networks/call-centre.yaml")
	all := "servers: [ann, bob, cecile, denis, emma, felix]"
	same := strings.NewReplacer(
		"servers: [ann, bob, emma, felix]", all, "servers: [cecile, denis, emma, felix]", all,
	).Replace(text)
	b := 1.0
	for n := 1; n <= 6; n++ {
		b = 4 * b / (float64(n) + 4*b)
	}
	commandtest.Near(t, "blocking", networkProgram.JSON(t, same, "network -")["blocking"], b, 1e-13)

	got := networkProgram.JSON(t, text, "network - --engine exact")
	left := new(big.Rat)
	add := func(rows any, key string, sign int64) {
		for _, row := range rows.([]any) {
			x, ok := new(big.Rat).SetString(row.(map[string]any)[key].(string))
			if !ok {
				t.Fatalf("%s of %v", key, row)
			}
			left.Add(left, x.Mul(x, big.NewRat(sign, 1)))
		}
	}
	add(got["classes"], "throughput_exact", 1)
	add(got["servers"], "throughput_exact", -1)
	if left.Sign() != 0 {
		t.Errorf("the throughputs of classes and servers differ by %v", left)
	}
}

// The normalization equals that of FCFS, in fractions, and estimates are close to theory.
func TestSwaps(t *testing.T) {
	text := commandtest.Example(t, "networks/swaps.yaml")
	got := networkProgram.JSON(t, text, "network - --engine exact")
	cut := strings.Replace(strings.Replace(text, "swaps: [[a, b], [b, c]]", "", 1), "# A", "# B", 1)
	order := networkProgram.JSON(t, cut, "network - --engine exact") // without limits it is an order-independent queue
	if got["mean_jobs_exact"] != order["mean_jobs_exact"] ||
		got["empty_probability_exact"] != order["empty_probability_exact"] {
		t.Errorf("%v jobs with swaps, %v without", got["mean_jobs_exact"], order["mean_jobs_exact"])
	}
	classes := networkProgram.JSON(
		t, text, "network - --runs 20 --jumps 1e4",
	)["simulated"].(map[string]any)["classes"].([]any)
	for _, row := range classes {
		e := row.(map[string]any)["mean_jobs"].(map[string]any)
		// Student's t with 19 degrees of freedom exceeds this with probability 1.2e-6
		if z := e["z"].(float64); math.Abs(z) > 7 {
			t.Errorf("%v", row)
		}
	}
	// The load counts work, not jobs: jobs of mean size 3 arrive at rate 1.5 at servers of
	// capacity 2.
	stdout, stderr, status := networkProgram.Run(text+"mean_size: 3\n", "network", "-")
	if want := "unstable: nothing limits the jobs of a, b, c\nwork 4.5 per unit of time on capacity 2\n"; status != 1 ||
		stderr != "" || stdout != want {
		t.Errorf("status %d, %s%s", status, stderr, stdout)
	}
}

// The delay in a closed queue is that of the jobs that leave. With one server and a class joined to
// itself, the last of three jobs leaves at rate 1 and returns immediately. If the first of two
// classes is placed before the second, no job of the first leaves.
func TestSwapDelayIsOfJobsThatLeave(t *testing.T) {
	const one = `{"servers": [{"name": "s", "capacity": 1}], "swaps": [["a", "a"]],
		"classes": [{"name": "a", "population": 3, "servers": ["s"]}]}`
	const two = `{"servers": [{"name": "s", "capacity": 1}, {"name": "t", "capacity": 1}], "swaps": [["a", "b"]],
		"classes": [{"name": "a", "population": 1, "servers": ["s"]},
			{"name": "b", "population": 2, "servers": ["t"]}]}`
	for _, c := range []struct {
		model, note string
		leaving     []any
		delays      []any
	}{
		{one, "only 1 of the 3 jobs of class a ever leaves, and mean_delay counts only these: ", []any{1.0},
			[]any{"1"}},
		{two, "no job of class a ever leaves, and there is no mean_delay: ", []any{0.0, 2.0}, []any{nil, "1"}},
		{strings.Replace(one, `"swaps": [["a", "a"]]`, `"swaps": [], "mean_size": 2`, 1), "", []any{3.0}, []any{"6"}},
	} {
		got := networkProgram.JSON(t, c.model, "network - --engine exact")
		note, _ := got["note"].(string)
		if !strings.HasPrefix(note, c.note) || (note == "") != (c.note == "") {
			t.Errorf("note %q, want %q", note, c.note)
		}
		for i, row := range got["classes"].([]any) {
			of := row.(map[string]any)
			if of["leaving_jobs"] != c.leaving[i] || of["mean_delay_exact"] != c.delays[i] {
				t.Errorf("class %d: %v jobs leave, delay %v, want %v and %v",
					i, of["leaving_jobs"], of["mean_delay_exact"], c.leaving[i], c.delays[i])
			}
		}
		text, _, _ := networkProgram.Run(c.model, "network", "-")
		if !strings.Contains(text, "\n"+note+"\n") || !strings.Contains(text, "\nnormalization  mean jobs\n") {
			t.Errorf("text without the note, or with more than the first measures of a closed queue: %s", text)
		}
	}
}

// Two servers with lcfs alone serve two of three jobs forever, and the answer reports it.
func TestDelayIsOfJobsThatMove(t *testing.T) {
	const model = `{"stations": [{"name": "a", "discipline": "lcfs", "servers": 2}],
		"classes": [{"name": "c", "population": 3, "visits": [{"station": "a", "mean_size": 2, "next": {"a": 1}}]}]}`
	got := networkProgram.JSON(t, model, "network - --engine exact")
	note := got["note"].(string)
	if !strings.HasPrefix(note, "only 2 of the 3 jobs of class c are ever served: at station a (lcfs) ") {
		t.Errorf("note %q", note)
	}
	for _, key := range []string{"chains", "visits"} {
		if d := got[key].([]any)[0].(map[string]any)["mean_delay_exact"]; d != "2" {
			t.Errorf("%s: delay %v, want 2", key, d)
		}
	}
	if text, _, _ := networkProgram.Run(model, "network", "-"); !strings.Contains(text, "\n"+note+"\n") {
		t.Errorf("text without the note: %s", text)
	}
}

// Stations with separate rates for open classes, and stations without visits, have distributions
// like all others.
func TestDistributionOfAllStations(t *testing.T) {
	const model = `{"stations": [{"name": "q", "discipline": "order", "nodes": [{"name": "n", "capacity": 1}]},
			{"name": "u", "discipline": "balanced", "nodes": [{"name": "n", "capacity": 1}]}],
		"classes": [{"name": "c", "arrival_rate": 0.5,
			"visits": [{"station": "q", "nodes": ["n"], "next": {"out": 1}}]}]}`
	got := networkProgram.JSON(t, model, "network - --distribution 3 --engine exact")
	for i, want := range []string{"[1/2 1/4 1/8 1/16]", "[1 0 0 0]"} {
		row := got["stations"].([]any)[i].(map[string]any)
		if law := fmt.Sprint(row["jobs_distribution_exact"]); law != want {
			t.Errorf("station %v: %s, want %s", row["name"], law, want)
		}
	}
	gpus := commandtest.Example(t, "networks/gpu-network.yaml")
	stdout, _, status := networkProgram.Run(gpus, "network", "-", "--distribution", "3")
	if status != 0 || !strings.Contains(stdout, "\ngpus     3     0.01") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// An overloaded network has a witness, and status 1.
func TestNetworkUnstable(t *testing.T) {
	text := commandtest.Example(t, "networks/reentrant.yaml")
	stdout, stderr, status := networkProgram.Run(text, "network", "-", "--scale", "1,2", "--engine", "exact")
	if status != 1 || stderr != "" ||
		!strings.HasSuffix(stdout,
			"unstable: would be stable with the arrival rates multiplied by anything below 0.75\n"+
				"bottleneck: station cluster, classes a, b: work 4 per unit of time on capacity 3\n") {
		t.Errorf("status %d, %s%s", status, stderr, stdout)
	}
	stdout, stderr, status = networkProgram.Run(
		`{"servers": 2, "classes": [{"name": "a", "arrival_rate": 3}]}`, "network", "-", "--format", "json",
	)
	if got := commandtest.ParseJSON(t, stdout); status != 1 || stderr != "" || got["stable"] != false ||
		got["bottleneck_work"] != 3.0 || got["bottleneck_capacity"] != 2.0 {
		t.Errorf("status %d, %s%s", status, stderr, stdout)
	}
}

// Two users think for 5 seconds and need the server for 1: 0, 1 and 2 jobs at the server have the
// weights 25/2, 5 and 1. The server is thus busy, and finishes jobs at rate 1, for 6/(37/2) = 12/37
// of the time.
func TestPopulations(t *testing.T) {
	const model = `{"stations": [{"name": "think", "discipline": "delay"}, {"name": "cpu", "discipline": "fcfs"}],
		"classes": [{"name": "user", "population": 9, "visits": [
			{"station": "think", "mean_size": 5, "next": {"cpu": 1}}, {"station": "cpu", "next": {"think": 1}}]}]}`
	stdout, stderr, status := networkProgram.Run(
		model, "network", "-", "--population", "1,2:4:2", "--engine", "exact", "--format", "csv",
	)
	for _, want := range []string{
		"user,1,chain,,,,user,1,,0.16666666666666666,1/6,", "user,2,chain,,,,user,2,,0.32432432432432434,12/37,",
		"user,4,chain,",
	} {
		if status != 0 || stderr != "" || !strings.Contains(stdout, "\n"+want) {
			t.Errorf("status %d, %s; no %s in\n%s", status, stderr, want, stdout)
		}
	}
	stdout, _, status = networkProgram.Run(model, "network", "-", "--population", "user=1,2")
	if want := "1             user   1           0.166667"; status != 0 || !strings.Contains(stdout, want) {
		t.Errorf("status %d; no %q in\n%s", status, want, stdout)
	}
}

// Percentiles and probabilities of times at each population are those of a file with it.
func TestTimesOfPopulations(t *testing.T) {
	text := commandtest.Example(t, "networks/interactive.yaml")
	const asked = "network - --percentiles 50,95 --within 1 --format json"
	stdout, stderr, status := networkProgram.Run(text, strings.Fields(asked+" --population 3,50")...)
	var list []map[string]any
	if err := json.Unmarshal([]byte(stdout), &list); status != 0 || err != nil || len(list) != 2 {
		t.Fatalf("status %d, %s, %v, %s", status, stderr, err, stdout)
	}
	times := func(answer map[string]any) (rows []any) {
		for _, v := range answer["visits"].([]any) {
			visit := v.(map[string]any)
			rows = append(rows, visit["waiting"], visit["delay"], visit["within"], visit["wait_probability"])
		}
		return append(rows, answer["chains"].([]any)[0].(map[string]any)["response_time"])
	}
	for k, population := range []string{"3", "50"} {
		one := networkProgram.JSON(t, strings.Replace(text, "population: 50", "population: "+population, 1), asked)
		if diff := cmp.Diff(times(one), times(list[k])); diff != "" || len(times(one)) < 13 {
			t.Errorf("population %s: %s", population, diff)
		}
	}
}

// Bounds enclose the throughput of the network.
func TestNetworkBounds(t *testing.T) {
	text := commandtest.Example(t, "networks/interactive.yaml")
	got := networkProgram.JSON(
		t, text, "network - --bounds",
	)["bounds"].([]any)[0].(map[string]any)["throughput"].(map[string]any)
	x := networkProgram.JSON(t, text, "network -")["chains"].([]any)[0].(map[string]any)["throughput"].(float64)
	if low, high := got["low"].(float64), got["high"].(float64); !(0 < low && low < x && x < high) {
		t.Errorf("throughput %v outside [%v, %v]", x, low, high)
	}
	huge := strings.Replace(
		commandtest.Example(t, "networks/batch.yaml"), "population: 20", "population: 1000000000", 1,
	)
	if bad := networkProgram.Refusal(t, huge, "network", "-"); !strings.Contains(
		bad.Want, "; --bounds and --runs have no such limit",
	) {
		t.Errorf("%+v", bad)
	}
	if _, stderr, status := networkProgram.Run(huge, "network", "-", "--bounds"); status != 0 {
		t.Error(stderr)
	}
}

// The bounds and the solution have the same limit of the throughput: the minimum over the stations
// of the last rate, less the work of open jobs, divided by the work of a cycle there. The last rate
// need not be the largest.
func TestBoundsHaveLimitOfSolution(t *testing.T) {
	falling := 0
	rapid.Check(t, func(rt *rapid.T) {
		m, limits := drawRates(rt)
		text := string(oracle.Must(json.Marshal(m)))
		for key, args := range map[string]string{"bounds": "network - --bounds", "chains": "network - --engine exact"} {
			rows := networkProgram.JSON(t, text, args)[key].([]any)
			for k, want := range limits {
				row := rows[k].(map[string]any)
				limit, station := row["throughput_limit_exact"], row["limit_station"]
				if want == nil && (limit != nil || station != nil) || want != nil && limit != want.RatString() {
					rt.Fatalf("%s\n%s: limit of chain %d is %v at %v, want %v", text, args, k, limit, station, want)
				}
			}
		}
		for _, s := range m["stations"].([]map[string]any) {
			if rates, ok := s["rates"].([]int); ok && rates[len(rates)-1] < slices.Max(rates) {
				falling++
			}
		}
	})
	if falling == 0 {
		t.Error("no station has a last rate below its largest")
	}
}

// drawRates draws a network of stations with rates, a delay, one or two closed classes and
// sometimes an open one, and returns it with the limits of the closed classes, nil for a class at
// the delay only.
func drawRates(t *rapid.T) (m map[string]any, limits []*big.Rat) {
	stations := []map[string]any{{"name": "z", "discipline": "delay"}}
	var last []int
	for i := range rapid.IntRange(1, 3).Draw(t, "stations") {
		rates := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(t, "rates")
		last = append(last, rates[len(rates)-1])
		stations = append(stations, map[string]any{"name": fmt.Sprint("s", i), "discipline": "sharing", "rates": rates})
	}
	var classes []map[string]any
	opened := rapid.Bool().Draw(t, "open")
	for k := range rapid.IntRange(1, 2).Draw(t, "chains") {
		visits := []map[string]any{{"station": "z", "visits": 1}}
		var limit *big.Rat
		for i, rate := range last {
			if !rapid.Bool().Draw(t, "visits") {
				continue
			}
			count, size := rapid.IntRange(1, 3).Draw(t, "count"), rapid.IntRange(1, 3).Draw(t, "size")
			visits = append(visits, map[string]any{"station": fmt.Sprint("s", i), "visits": count, "mean_size": size})
			x := big.NewRat(int64(rate), 1)
			if opened && i == 0 {
				x.Sub(x, big.NewRat(1, 2))
			}
			if x.Quo(x, big.NewRat(int64(count*size), 1)); limit == nil || x.Cmp(limit) < 0 {
				limit = x
			}
		}
		limits = append(limits, limit)
		classes = append(classes, map[string]any{"name": fmt.Sprint("c", k),
			"population": rapid.IntRange(1, 3).Draw(t, "jobs"), "visits": visits})
	}
	if opened {
		classes = append(classes, map[string]any{"name": "open", "arrival_rate": "1/2",
			"visits": []map[string]any{{"station": "s0", "visits": 1}}})
	}
	return map[string]any{"stations": stations, "classes": classes}, limits
}

// Estimates are shown with the exact values, to which they are close. They are shown alone if there
// is no theory for the sizes or the network is too large.
func TestSimulated(t *testing.T) {
	text := commandtest.Example(t, "networks/interactive.yaml")
	got := networkProgram.JSON(
		t, text, "network - --runs 20 --jumps 3e3 --percentiles 50",
	)["simulated"].(map[string]any)
	commandtest.Joint(t, got["joint"], got)
	count := 0
	for _, key := range []string{"chains", "stations", "visits"} {
		for _, row := range got[key].([]any) {
			for name, e := range row.(map[string]any) {
				if estimate, ok := e.(map[string]any); ok && estimate["z"] != nil {
					count++
					// Student's t with 19 degrees of freedom exceeds this with probability 1.2e-6
					if z := estimate["z"].(float64); math.Abs(z) > 7 {
						t.Errorf("%v: %s is %v", row, name, estimate)
					}
				}
			}
		}
	}
	if p50 := got["visits"].([]any)[0].(map[string]any)["delay"].(map[string]any)["p50"].(map[string]any); count < 15 ||
		p50["jobs"].(float64) < 1000 {
		t.Errorf("%d estimates with exact values; %v", count, p50)
	}
	stdout, stderr, status := networkProgram.Run(
		text, "network", "-", "--runs", "2", "--jumps", "2000", "--sizes", "lognormal:4", "--format", "json",
	)
	if e := commandtest.ParseJSON(
		t, stdout,
	)["simulated"].(map[string]any)["chains"].([]any)[0].(map[string]any)["throughput"].(map[string]any); status != 0 ||
		e["exact"] != nil {
		t.Errorf("status %d, %s; first come, first served has no theory for lognormal sizes: %v", status, stderr, e)
	}
	large := strings.Replace(commandtest.Example(t, "networks/batch.yaml"), "population: 20", "population: 10000", 1)
	stdout, stderr, status = networkProgram.Run(
		large, "network", "-", "--runs", "2", "--jumps", "2000", "--memory", "1",
	)
	if status != 0 || !strings.Contains(stderr, "pfq: note: no exact means: ") ||
		!strings.HasPrefix(stdout, "stable; too large to be solved\n") {
		t.Errorf("status %d, %s%s", status, stderr, stdout)
	}
}

func TestRefused(t *testing.T) {
	const erlang = `{"room": 100, "classes": [{"name": "voice", "arrival_rate": 90}]}`
	batch := commandtest.Example(t, "networks/batch.yaml")
	for _, c := range []struct {
		model, args string
		want        input.Error
	}{
		{
			batch,
			"--engine doubles", input.Error{Path: "--engine", Value: "doubles", Want: "auto, float, enclose or exact"},
		},
		{batch, "--population 1.5", input.Error{Path: "--population", Value: "1.5", Want: "numbers of jobs or ranges " +
			"FROM:TO:STEP, after CLASS= if several classes are closed, at most 10000 in total"}},
		{
			batch,
			"--population 1", input.Error{Path: "--population", Want: "CLASS= before the list, one of short, long"},
		},
		{
			batch, "--population log=1",
			input.Error{Path: "--population", Value: "log",
				Want: `the name of a class with a population; did you mean "long"?`},
		},
		{
			batch, "--population web=1",
			input.Error{Path: "--population", Value: "web",
				Want: `the name of a class with a population: "short", "long"`},
		},
		{batch, "--population short=3,0", input.Error{Path: "--population", Value: "0",
			Want: `at least one job in the chain of "short", or an arrival_rate`}},
		{batch, "--distribution 0", input.Error{Path: "--distribution", Value: "0", Want: "an integer in 1..10000"}},
		{strings.Replace(batch, "population: 20", "population: 2.5", 1), "", input.Error{
			File:  "standard input",
			Line:  8,
			Path:  "classes[0].population",
			Value: "2.5",
			Want:  "an integer from 0 to 1000000000",
		}},
		{erlang[:len(erlang)-1] + `, "rom": 3}`, "", input.Error{
			File:  "standard input",
			Line:  1,
			Path:  "rom",
			Value: "the number 3",
			Want:  "one of the fields servers, rank, room, classes, limits; did you mean room?",
		}},
	} {
		got := networkProgram.Refusal(t, c.model, append([]string{"network", "-"}, strings.Fields(c.args)...)...)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.args, got, c.want)
		}
	}
	// If the capacity and tokens of one server look like a number of agents, the answer has a note;
	// other values have none.
	for capacity, wantNote := range map[string]bool{"12": true, "1": false, "11": false} {
		text := "servers: [{name: en, capacity: " + capacity + ", tokens: 12}]\n" +
			"classes: [{name: a, arrival_rate: 10, servers: [en]}]\n"
		stdout, _, status := networkProgram.Run(text, "network", "-")
		json, _, _ := networkProgram.Run(text, "network", "-", "--format", "json")
		const note = "server en is one server that works 12 times as fast as capacity 1 and holds 12 jobs; for 12 " +
			"servers that take one job each, "
		if status != 0 || strings.Contains(stdout, "\n"+note) != wantNote ||
			strings.Contains(json, `"note": "`+note) != wantNote {
			t.Errorf("capacity %s: %s%s", capacity, stdout, json)
		}
	}
	// A group of agents is one row, and CSV has no lists within cells.
	agents := "servers: [{name: en, count: 12, capacity: 1, tokens: 1}]\n" +
		"classes: [{name: a, arrival_rate: 10, servers: [en]}]\n"
	if stdout, _, status := networkProgram.Run(agents, "network", "-"); status != 0 ||
		!strings.Contains(stdout, "\nserver  count  utilization  mean jobs  throughput\nen      12 ") {
		t.Errorf("status %d, %s", status, stdout)
	}
	if stdout, _, _ := networkProgram.Run(agents, "network", "-", "--format", "csv"); strings.Contains(stdout, "Key") ||
		!strings.Contains(stdout, "\nserver,en,") {
		t.Error(stdout)
	}
	if _, stderr, status := networkProgram.Run(erlang, "network", "-", "--distribution", "3"); status != 2 ||
		!strings.HasSuffix(stderr, "--distribution needs a network with stations\n") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if _, stderr, status := networkProgram.Run(batch, "network", "-", "--scale", "1,2"); status != 2 ||
		!strings.HasPrefix(stderr, "pfq: --scale needs arrivals") {
		t.Errorf("status %d, %s", status, stderr)
	}
	const tokens = "mean_size: 2\nservers: [{name: s, capacity: 1, tokens: 2}]\n" +
		"classes: [{name: a, arrival_rate: 1, servers: [s]}]\n"
	if _, stderr, status := networkProgram.Run(tokens, "network", "-"); status != 2 ||
		!strings.HasSuffix(stderr, "; here each class has its own mean_size\n") {
		t.Errorf("status %d, %s", status, stderr)
	}
	for file, command := range map[string]string{
		"storage.yaml":         "solve",
		"racks.yaml":           "solve",
		"pools/two-jobs.yaml":  "allocate, with --dynamic if jobs arrive and depart",
		"plans/shop-plan.yaml": "plan",
	} {
		if _, stderr, status := networkProgram.Run(commandtest.Example(t, file), "network", "-"); status != 2 ||
			!strings.HasSuffix(stderr, "; this looks like a model for pfq "+command+"\n") {
			t.Errorf("%s: status %d, %s", file, status, stderr)
		}
	}
}

// networkGPUs has twelve servers, of which training uses at most four.
const networkGPUs = `stations:
  - {name: gpus, discipline: balanced, servers: 12, limits: [{classes: [training], most: 4}]}
classes:
  - {name: training, arrival_rate: 0.4, visits: [{station: gpus, mean_size: 8, next: {out: 1}}]}
  - {name: batch, arrival_rate: 1, visits: [{station: gpus, mean_size: 2, next: {out: 1}}]}
`

// On average 0.4·8 + 1·2 = 5.2 of twelve servers are busy. Under FCFS there are no formulas for two
// mean sizes: the network is simulated.
func TestOneServerAJob(t *testing.T) {
	got := networkProgram.JSON(t, networkGPUs, "network - --engine exact")["stations"].([]any)[0].(map[string]any)
	if got["utilization_exact"] != "13/30" {
		t.Errorf("utilization %v", got)
	}
	order := strings.Replace(networkGPUs, "balanced", "order", 1)
	want := input.Error{File: "standard input", Line: 5, Path: "classes[1].visits[0].mean_size", Value: "2",
		Want: `8, that of "training": station "gpus" has a product form for exponential sizes of one mean only; ` +
			`--runs simulates it as it is, and with discipline balanced (sharing in place of fcfs) any sizes have one`}
	for _, args := range []string{"network -", "network - --scale 1,2"} {
		if bad := networkProgram.Refusal(t, order, strings.Fields(args)...); bad != want {
			t.Errorf("%s: %+v, want %+v", args, bad, want)
		}
	}
	stdout, stderr, status := networkProgram.Run(order, strings.Fields("network - --runs 2 --jumps 1e3")...)
	if status != 0 || !strings.HasPrefix(stdout, "stable; by the arriving work: mean sizes differ by class, ") {
		t.Errorf("status %d, %s%s", status, stderr, stdout)
	}
	one := networkProgram.JSON(t, order, "network - --runs 10 "+
		"--jumps 2e4")["simulated"].(map[string]any)["stations"].([]any)[0].(map[string]any)
	commandtest.Near(t, "simulated utilization", one["utilization"].(map[string]any)["mean"], 5.2/12, 0.05)
	missing := networkProgram.Refusal(t, strings.Replace(networkGPUs, "servers: 12, ", "", 1), "network", "-")
	if missing.Path != "stations[0].servers" || missing.Line != 2 {
		t.Errorf("%+v", missing)
	}
}

// Measured sizes of a list or a log, and sizes between given ends, are scaled to the mean of each
// class: the wait in an M/G/1 FCFS queue is λE[S²]/(2(1-ρ)) (Pollaczek and Khinchine). Rare sizes
// that matter cause one warning for all visits.
func TestMeasuredSizes(t *testing.T) {
	dir := t.TempDir()
	list, log := filepath.Join(dir, "times.txt"), filepath.Join(dir, "log.swf")
	commandtest.WriteFile(t, list, "; sizes\n1\n1\n7\n")
	var records strings.Builder
	for k, time := range []int{2, 2, 14} {
		fmt.Fprintf(&records, "%d 0 0 %d 1%s\n", k+1, time, strings.Repeat(" -1", 13))
	}
	commandtest.WriteFile(t, log, records.String())
	const text = `{"stations": [{"name": "s", "discipline": "fcfs"}],
"classes": [{"name": "a", "arrival_rate": 0.1, "visits": [{"station": "s", "mean_size": 2, "visits": 1}]},
 {"name": "b", "arrival_rate": 0.2, "visits": [{"station": "s", "mean_size": 2, "visits": 1}]}]}`
	pareto := 64. / 9 / (math.Log(9) * math.Log(9))
	squares := map[string]float64{"file:" + list: 51. / 27, "swf:" + log: 51. / 27, "bounded-pareto:1:1:9": pareto}
	for name, square := range squares { // E[S²]/E[S]²
		answer := networkProgram.JSON(t, text, "network - --runs 20 --jumps 5e3 --sizes "+name)
		simulated := answer["simulated"].(map[string]any)
		if simulated["sizes"] != name {
			t.Errorf("sizes %v, want %s", simulated["sizes"], name)
		}
		want := 2 + 0.3*4*square/(2*(1-0.6))
		for _, row := range simulated["chains"].([]any) {
			delay := row.(map[string]any)["measured_delay"].(map[string]any)
			// 7.3 standard errors: Student's t with 19 degrees of freedom exceeds them with
			// probability 6e-7.
			if mean, half := delay["mean"].(float64), delay["half_width"].(float64); math.Abs(mean-want) > 3.5*half {
				t.Errorf("--sizes %s: %v ± %v, want %v", name, mean, half, want)
			}
		}
	}
	for _, system := range []string{
		`{"servers": 2, "room": 3, "classes": [{"name": "a", "arrival_rate": 1}]}`,
		`{"servers": [{"name": "s", "capacity": 1}], "swaps": [["a", "b"]], "classes": [
			{"name": "a", "arrival_rate": 0.2, "servers": ["s"]},
			{"name": "b", "arrival_rate": 0.2, "servers": ["s"]}]}`,
	} {
		args := []string{"network", "-", "--runs", "2", "--jumps", "2000", "--sizes", "swf:" + log}
		_, stderr, status := networkProgram.Run(system, args...)
		if status != 0 {
			t.Errorf("%s: %s", system, stderr)
		}
	}
	_, stderr, _ := networkProgram.Run(
		text, "network", "-", "--runs", "2", "--jumps", "2000", "--sizes", "lognormal:100",
	)
	for _, moment := range []string{" of the mean size, ", " of the mean square of the sizes, "} {
		if strings.Count(stderr, moment) != 1 {
			t.Errorf("warnings %s, want one of the visits at which sizes matter", stderr)
		}
	}
	one := regexp.MustCompile("pfq: warning: (a at s, b at s|b at s, a at s): more or longer runs are needed: ")
	if len(one.FindAllString(stderr, -1)) != 2 {
		t.Errorf("warnings %s, want both visits named", stderr)
	}
	bad := networkProgram.Refusal(t, text, "network", "-", "--runs", "2", "--sizes", "file:"+list, "--output", list)
	if bad.Path != "--output" || bad.Value != list {
		t.Errorf("%+v, want an error of --output", bad)
	}
}

// If no percentile is known, the text shows only the estimated ones; JSON has null for each.
func TestUnknownPercentiles(t *testing.T) {
	text := commandtest.Example(t, "networks/gpu-network.yaml")
	text = strings.NewReplacer("mean_size: 8", "mean_size: 2", "mean_size: 0.5", "mean_size: 2",
		"arrival_rate: 6", "arrival_rate: 1").Replace(text)
	args := []string{"network", "-", "--runs", "4", "--jumps", "1e4", "--percentiles", "95"}
	stdout, stderr, status := networkProgram.Run(text, args...)
	if status != 0 || strings.Contains(stdout, "proved bounds") ||
		strings.Count(stdout, "delay p95") != 2 { // of chains and of visits
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	stdout, _, _ = networkProgram.Run(text, append(args, "--format", "json")...)
	for _, v := range commandtest.ParseJSON(t, stdout)["visits"].([]any) {
		if p95, ok := v.(map[string]any)["delay"].(map[string]any)["p95"]; !ok || p95 != nil {
			t.Errorf("%v, want a null p95", v)
		}
	}
	ordered := networkProgram.JSON(t, strings.Replace(text, "balanced", "order", 1), "network - --percentiles 95")
	for _, v := range ordered["visits"].([]any) { // a job that does not wait has p95 = 2 ln 20
		delay := v.(map[string]any)["delay"].(map[string]any)
		if p95, ok := delay["p95"].(float64); !ok || p95 < 2*math.Log(20) || p95 > 2.01*math.Log(20) {
			t.Errorf("%v, want a p95 just above %v", v, 2*math.Log(20))
		}
	}
}

// The single verdict also covers all values of z of systems with losses and queues with swaps.
func TestVerdictWithoutStations(t *testing.T) {
	for name, jumps := range map[string]string{ // few jobs of trunks are lost
		"trunks": "4e4", "call-centre": "1e4", "tokens": "2e4", "swaps": "1e4",
	} {
		got := networkProgram.JSON(t, commandtest.Example(t, "networks/"+name+".yaml"),
			"network - --runs 10 --jumps "+jumps)["simulated"].(map[string]any)
		commandtest.Joint(t, got["joint"], got)
		if p := got["joint"].(map[string]any)["p_value"].(float64); p < 1e-6 {
			t.Errorf("%s: %v", name, got["joint"])
		}
	}
}

// Before a long enclosure, a note names the tolerance that float64 meets; solving with it is quick.
func TestNoteBeforeALongEnclosure(t *testing.T) {
	const text = `{"stations": [{"name": "a", "discipline": "sharing"}, {"name": "b", "discipline": "sharing"}],
 "classes": [{"name": "k", "population": %d,
  "visits": [{"station": "a", "visits": 1}, {"station": "b", "visits": "1/3"}]}]}`
	many := fmt.Sprintf(text, 60_000)
	_, stderr, status := networkProgram.Run(many, "network", "-", "--tol", "1e-13")
	note := regexp.MustCompile(`pfq: note: float64 proves .*give --tol (\S+) or --engine float`)
	named := note.FindStringSubmatch(stderr)
	if status != 0 || named == nil {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if stdout, stderr, status := networkProgram.Run(many, "network", "-", "--tol", named[1]); status != 0 ||
		strings.Contains(stderr, "note") ||
		!strings.Contains(stdout, "float engine") {
		t.Errorf("--tol %s: status %d: %s%s", named[1], status, stderr, stdout)
	}
	few := fmt.Sprintf(text, 600)
	if _, stderr, _ := networkProgram.Run(few, "network", "-", "--tol", "1e-15"); strings.Contains(stderr, "note") {
		t.Errorf("a short solution has a note: %s", stderr)
	}
}

// The error about a file that is not an object mentions stations and losses.
func TestFileWithoutObject(t *testing.T) {
	for _, text := range []string{"null", "[]", "3"} {
		const want = "a network with stations, or a system with losses"
		if bad := networkProgram.Refusal(t, text, "network", "-"); bad.Want != want || bad.Line != 1 {
			t.Errorf("%s: %+v", text, bad)
		}
	}
}

// For a network without closed chains, the bounds are a sentence instead of an empty table.
func TestBoundsWithoutClosedChains(t *testing.T) {
	const open = `{"stations": [{"name": "a", "discipline": "sharing"}],
		"classes": [{"name": "k", "arrival_rate": "1/2", "visits": [{"station": "a", "visits": 1}]}]}`
	stdout, stderr, status := networkProgram.Run(open, "network", "-", "--bounds")
	if status != 0 || !strings.HasPrefix(stdout, "stable; no chain is closed, ") || strings.Count(stdout, "\n") != 1 {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// Simulated visits are in the order of exact visits: by station and then by class.
func TestSimulatedVisitsInOrderOfExactOnes(t *testing.T) {
	const text = `{"stations": [{"name": "a", "discipline": "delay"}, {"name": "b", "discipline": "sharing"}],
		"classes": [
		{"name": "x", "population": 2,
			"visits": [{"station": "a", "next": {"b": 1}}, {"station": "b", "next": {"a": 1}}]},
		{"name": "y", "population": 1,
			"visits": [{"station": "b", "next": {"a": 1}}, {"station": "a", "next": {"b": 1}}]}]}`
	answer := networkProgram.JSON(t, text, "network - --runs 2 --jumps 1000")
	var exact, simulated []string
	for _, v := range answer["visits"].([]any) {
		visit := v.(map[string]any)
		exact = append(exact, fmt.Sprintf("%s at %s", visit["class"], visit["station"]))
	}
	for _, v := range answer["simulated"].(map[string]any)["visits"].([]any) {
		simulated = append(simulated, v.(map[string]any)["name"].(string))
	}
	if !slices.Equal(exact, simulated) {
		t.Errorf("exact %q, simulated %q", exact, simulated)
	}
}

// If sizes matter, a note warns that the exact numbers do not hold for the simulated sizes. Another
// one warns that all distributions of a LINE file are simulated as exponential.
func TestNoteOnSimulatedSizes(t *testing.T) {
	station := func(discipline string) string {
		return fmt.Sprintf(`{"stations": [{"name": "s", "discipline": %q}],
			"classes": [{"name": "c", "arrival_rate": 0.5, "visits": [{"station": "s", "visits": 1}]}]}`, discipline)
	}
	const losses = `{"room": 4, "classes": [{"name": "c", "arrival_rate": 0.5}]%s}`
	const swaps = `{"servers": [{"name": "s", "capacity": 1}], "swaps": [],
		"classes": [{"name": "a", "arrival_rate": 0.5, "servers": ["s"]}]}`
	const file = `{"format": "line-model", "version": "1.0", "model": {"type": "Network", "nodes": [
		{"name": "a", "type": "Delay", "service": {"c": {"type": "Exp", "params": {"lambda": 1}}}},
		{"name": "b", "type": "Queue", "scheduling": %q, "service": {"c": %s}}],
		"classes": [{"name": "c", "type": "Closed", "population": 2, "refNode": "a"}],
		"routing": {"type": "matrix", "matrix": {"c,c": {"a": {"b": 1}, "b": {"a": 1}}}}}}`
	erlang := fmt.Sprintf(file, "PS", `{"type": "Erlang", "params": {"lambda": 2, "k": 2}}`)
	exponential := fmt.Sprintf(file, "FCFS", `{"type": "Exp", "params": {"lambda": 2}}`)
	const inexact = "the exact numbers hold for exponential sizes only; the simulated sizes are erlang:2"
	const fromLINE = "the simulated sizes are exponential, not those of the LINE file; " +
		"--sizes draws others"
	for _, c := range []struct{ model, args, want string }{
		{station("fcfs"), "--runs 2 --sizes erlang:2", inexact},
		{station("fcfs"), "--runs 2 --sizes exponential", ""},
		{station("fcfs"), "--runs 2", ""},
		{station("lcfs"), "--runs 2 --sizes erlang:2", ""},
		{fmt.Sprintf(losses, `, "servers": 2`), "--runs 2 --sizes erlang:2", inexact},
		{fmt.Sprintf(losses, `, "servers": 2`), "--runs 2", ""},
		{fmt.Sprintf(losses, ""), "--runs 2 --sizes erlang:2", ""},
		{swaps, "--runs 2 --sizes erlang:2", inexact},
		{swaps, "--runs 2", ""},
		{erlang, "--runs 2", fromLINE},
		{erlang, "", ""},
		{erlang, "--runs 2 --sizes erlang:2", ""},
		{exponential, "--runs 2 --sizes erlang:2", inexact},
	} {
		if c.args != "" {
			c.args += " --jumps 2000"
		}
		args := append([]string{"network", "-"}, strings.Fields(c.args)...)
		answer, stderr, status := networkProgram.Run(c.model, append(args, "--format", "json")...)
		if status != 0 {
			t.Fatal(stderr)
		}
		if note, _ := commandtest.ParseJSON(t, answer)["note"].(string); note != c.want {
			t.Errorf("%s\n%s: note %q, want %q", c.model, c.args, note, c.want)
		}
		text, _, _ := networkProgram.Run(c.model, args...)
		if c.want != "" && !strings.Contains(text, "\n"+c.want+"\n") {
			t.Errorf("%s\n%s: no note in %s", c.model, c.args, text)
		}
	}
}

// With rates 3, 1, 1, ... the throughput of one job is 3 and that of more jobs is 1: the text
// reports that the limit is not a bound.
func TestBoundsAboveLimit(t *testing.T) {
	const model = `{"stations": [{"name": "s", "discipline": "sharing", "rates": [%s]}],
		"classes": [{"name": "c", "population": 1, "visits": [{"station": "s", "visits": 1}]}]}`
	for rates, want := range map[string]bool{"3, 1": true, "1, 3": false} {
		text, stderr, status := networkProgram.Run(fmt.Sprintf(model, rates), "network", "-", "--bounds")
		got := strings.Contains(text, "\na throughput limit is for a growing population; ")
		if status != 0 || got != want {
			t.Errorf("rates %s: %s%s", rates, text, stderr)
		}
	}
}

// A queue with 30,000 servers exceeds a limit that --memory does not raise, but can be simulated.
func TestManyServersAreSimulated(t *testing.T) {
	const text = `{"stations": [{"name": "s", "discipline": "fcfs", "servers": 30000}],
		"classes": [{"name": "c", "arrival_rate": 1, "visits": [{"station": "s", "visits": 1}]}]}`
	bad := networkProgram.Refusal(t, text, "network", "-", "--memory", "1")
	if !strings.HasSuffix(bad.Want, "; --runs has no such limit") || strings.Contains(bad.Want, "--memory") {
		t.Errorf("%+v", bad)
	}
	if stdout, stderr, status := networkProgram.Run(
		text, "network", "-", "--runs", "2", "--jumps", "2000",
	); status != 0 {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// Fractions have no error that --tol could limit.
func TestTolWithExact(t *testing.T) {
	for _, line := range []string{"solve examples/three-servers.yaml", "network examples/networks/batch.yaml"} {
		_, stderr, status := pfq("", append(strings.Fields(line), "--engine", "exact", "--tol", "1e-9")...)
		if status != 2 || !strings.Contains(stderr, "--tol and --engine exact cannot be combined") {
			t.Errorf("%s: status %d, %s", line, status, stderr)
		}
	}
}
