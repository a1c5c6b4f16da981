package main

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/traces"
)

// dispatchProgram is pfq with the command dispatch alone.
var dispatchProgram = commandtest.Program(func() *cobra.Command { return command.Root(newDispatchCommand()) })

// runDispatch runs one command line of pfq dispatch in this process.
var runDispatch = dispatchProgram.Run

// fiveJobs returns the example, and writes it to the file five.swf in a new folder, which becomes
// the working directory.
func fiveJobs(t *testing.T) string {
	t.Helper()
	log := commandtest.Example(t, "logs/five-jobs.swf")
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "five.swf", log)
	return log
}

// afterSums allows for the rounding of a few dozen sums.
var afterSums = cmpopts.EquateApprox(0, 1e-12)

func dispatchJSON(t *testing.T, log, args string) map[string]any {
	t.Helper()
	return dispatchProgram.JSON(t, log, "dispatch - "+args)
}

// onePolicy returns the answer for one policy.
func onePolicy(t *testing.T, log, args string) map[string]any {
	t.Helper()
	list := dispatchJSON(t, log, args)["policies"].([]any)
	if len(list) != 1 {
		t.Fatalf("%s: %d policies, want 1", args, len(list))
	}
	return list[0].(map[string]any)
}

// The five jobs, in seconds: A is submitted at 0, 4 tasks of 10, due 20; B at 0, 2 of 5, due 10; C
// at 5, 6 of 5, due 20; D at 10, 1 of 10, due 30; E at 10, 2 of 5, due 20. Deadlines are after 2
// run times, by tasks/4 if there are more than 4. Each has its own user, with --priorities 1:5 the
// priorities 1, 4, 3, 5, 2. There are 4 workers of speed 1; each alone takes 10, 5, 30/4, 10 and 5
// s. The work is 40 + 10 + 30 + 10 + 10 = 100.
//
// Under edf, B and A begin at 0. At 5, A precedes C, which has the same deadline but arrived later,
// and gets all workers: C is violated, 1/2 of the jobs. At 10, two tasks of A end, C gets their
// workers, D and E wait: 2/4. At 15, A ends, and C has all: D is violated, E is of lower priority:
// 1/3. At 20, C ends, D and E begin: 0; E ends at 25, D at 30. So the rate is (5/2 + 5/2 +
// 5/3)/30 = 2/9, and the same by decisions, the first six of which are 5 s apart. E misses its
// deadline by 5, times its priority 2.
//
// Under priority, B has as many workers as it can use at 0 and A the rest. At 5, C has all, but A
// has two running tasks until 10. Then D, C, E and A have a worker each. At 20, D and E end, C has
// two workers and A one. C ends at 25, A at 30, 5 and 10 late.
//
// Under edf without workers 3 and 4 from 2 to 12, two tasks of A are lost at 2, after 2 s each. A
// runs on workers 1 and 2 from 5 to 15, on 3 and 4 from 12 to 22; C on 1 and 2 from 15 to 25, on 3
// and 4 from 22 to 27; E on 1 and 2 from 25 to 30, D on 3 from 27 to 37. A, C, E and D are late by
// 2, 7, 10, 7. The violated fraction of the jobs present is, from 5, 1/2 (C); from 10, 3/4 (C, D
// and E); from 15, 2/4 (D and E); from 22, 1/3 (D); from 27, 0: (5/2 + 15/4 + 7/2 + 5/3)/37.
// Decisions are made at 0, 2 (0 each), 5 (1/2), 10, 12 (3/4 each), 15, 20 (1/2 each), 22, 25 (1/3
// each), 27 and 30 (0). Workers are up for 4 37 - 20 = 128 s.
func TestDispatchByHand(t *testing.T) {
	log := fiveJobs(t)
	spread := func(mean, p50, p95, p99, most float64) map[string]any {
		return map[string]any{"mean": mean, "p50": p50, "p95": p95, "p99": p99, "max": most}
	}
	for args, changes := range map[string]map[string]any{
		"edf": {
			"average_priority_violation_rate": 2.0 / 9, "decision_violation_rate": 2.0 / 9,
			"running_violation_rate": 2.0 / 9,
			// 15/10, 5/5, 15/7.5, 20/10, 15/5
			"deadline_miss_penalty": 10.0, "missed": 1.0, "missed_part": 1 / 5.0, "delay": spread(14, 15, 20, 20, 20),
			"waiting":  spread(5, 5, 10, 10, 10), // 0, 0, 5, 10, 10
			"slowdown": spread(1.9, 2, 3, 3, 3),
		},
		"priority": {
			"average_priority_violation_rate": 0.0, "decision_violation_rate": 0.0, "running_violation_rate": 0.0,
			"deadline_miss_penalty": 3*5 + 1*10.0, "missed": 2.0, "missed_part": 2 / 5.0,
			"delay": spread(15, 10, 30, 30, 30), "slowdown": spread((3+1+8.0/3+1+2)/5, 2, 3, 3, 3),
			"waiting": spread(0, 0, 0, 0, 0),
		},
		"edf --outages 3-4@2-12": {
			"average_priority_violation_rate": (5/2.0 + 15/4.0 + 7/2.0 + 5/3.0) / 37,
			"decision_violation_rate":         (1/2.0 + 3/2.0 + 1 + 2/3.0) / 11,
			"running_violation_rate":          (5/2.0 + 15/4.0 + 7/2.0 + 5/3.0) / 37,
			"deadline_miss_penalty":           1*2 + 3*7 + 2*10 + 5*7.0, "missed": 4.0, "missed_part": 4 / 5.0,
			"makespan": 37.0, "decisions": 11.0, "lost": 2.0, "utilization": 100 / 128.0, "wasted": 4 / 128.0,
			"delay": spread(96/5.0, 22, 27, 27, 27), "slowdown": spread((2.2+1+22/7.5+2.7+4)/5, 2.7, 4, 4, 4),
			"waiting": spread(42/5.0, 10, 17, 17, 17), // 0, 0, 10, 15, 17
		},
	} {
		policy, _, _ := strings.Cut(args, " ")
		want := map[string]any{
			"policy": policy, "tasks_together": false, "job_count": 5.0, "task_count": 15.0,
			"slowdown_formula": "delay / max(W/S, w/s)",
			"makespan":         30.0, "workers": 4.0, "offered_load": 100 / 40.0, "seed": nil, "skipped": 0.0,
			"dropped_large": 0.0,
			"first_job":     1.0, "utilization": 100 / 120.0, "wasted": 0.0, "lost": 0.0, "decisions": 6.0,
			"finished": true,
		}
		maps.Copy(want, changes)
		if diff := cmp.Diff(
			want, onePolicy(t, log, "--workers 4 --priorities 1:5 --policy "+args), afterSums,
		); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}

// The fields are in the documented order.
func TestDispatchJSONOrder(t *testing.T) {
	log := fiveJobs(t)
	stdout, _, _ := runDispatch(log, "dispatch", "-", "--workers", "4", "--policy", "deadline", "--format", "json")
	rest := stdout
	for _, key := range strings.Fields("policies policy tasks_together job_count task_count " +
		"average_priority_violation_rate decision_violation_rate running_violation_rate " +
		"deadline_miss_penalty missed missed_part makespan delay mean p50 p95 p99 max slowdown_formula slowdown mean " +
		"p50 p95 p99 max utilization wasted lost decisions waiting mean p50 p95 p99 max") {
		_, after, ok := strings.Cut(rest, `"`+key+`": `)
		if !ok {
			t.Fatalf("%s is missing or too early in %s", key, stdout)
		}
		rest = after
	}
}

// A list of policies gives the same answers as each policy alone, under its full name. The default
// list has all rules.
func TestDispatchPolicies(t *testing.T) {
	log := fiveJobs(t)
	for _, c := range []struct{ list, given string }{
		{"fcfs,sjf,easy/fcfs,easy/sjf,conservative,priority,proportion/priority,workload:1/priority," +
			"deadline/priority,deadline/deadline,edf", ""},
		{"priority,proportion/priority,workload:1/priority,deadline/priority,deadline/deadline,edf", "--policy all"},
		{"edf,workload:4/kept,priority:0.5/deadline", "--policy edf,workload:4/kept,priority:0.5/deadline"},
		{"workload:60/priority,deadline/kept", "--policy workload:6e1,deadline/kept"},
		{"fcfs,sjf,easy/fcfs,easy/sjf,conservative", "--policy sites"},
		{
			"fcfs,edf,priority,proportion/priority,workload:1/priority,deadline/priority,deadline/deadline",
			"--policy fcfs,edf,all",
		},
		{"easy/sjf,fcfs,sjf,easy/fcfs,conservative,deadline/kept", "--policy easy/sjf,sites,deadline/kept"},
	} {
		var want []any
		for policy := range strings.SplitSeq(c.list, ",") {
			one := onePolicy(t, log, "--workers 6 --policy "+policy)
			if one["policy"] != policy {
				t.Errorf("%s is named %v", policy, one["policy"])
			}
			want = append(want, one)
		}
		if diff := cmp.Diff(
			map[string]any{"policies": want}, dispatchJSON(t, log, "--workers 6 "+c.given),
		); diff != "" {
			t.Error(diff)
		}
	}
}

// The default leaves the policies of sites out if a flag rejects them, and says so.
func TestDispatchDefault(t *testing.T) {
	fiveJobs(t)
	const sites, all = "\nfcfs  ", "\nworkload:1/priority  "
	const without = "\nwithout fcfs, sjf, easy/fcfs, easy/sjf, conservative, which reject --"
	for args, has := range map[string][]string{
		"":                             {sites, all},
		"--policy all":                 {all},
		"--policy sites":               {sites},
		"--heterogeneous 6x2":          {without + "heterogeneous\n", all},
		"--timeline":                   {without + "timeline\n", all},
		"--timeline --policy all":      {all},
		"--learn 5 --requests 2":       {sites, all},
		"--emergency 3 --measures all": {sites, all},
	} {
		stdout, stderr, status := runDispatch(
			"", append([]string{"dispatch", "five.swf", "--workers", "6"}, strings.Fields(args)...)...,
		)
		for _, part := range []string{sites, all, without} {
			want := slices.ContainsFunc(has, func(s string) bool { return strings.HasPrefix(s, part) })
			if strings.Contains(stdout, part) != want {
				t.Errorf("%s: has %q: %v, want %v: %s", args, part, !want, want, stdout)
			}
		}
		for _, part := range has {
			if status != 0 || !strings.Contains(stdout, part) {
				t.Errorf("%s: status %d, no %q in %s%s", args, status, part, stdout, stderr)
			}
		}
	}
}

// --drop-large omits jobs of more processors than workers, and reports how many: job 3 has 6.
func TestDispatchDropLarge(t *testing.T) {
	fiveJobs(t)
	const warning = "pfq: warning: five.swf: 1 job of more than 4 processors is omitted\n"
	args := strings.Fields("dispatch five.swf --workers 4 --drop-large --policy")
	for policy, jobs := range map[string]float64{"sites": 4, "edf": 4} {
		stdout, stderr, status := runDispatch("", append(args, policy, "--format", "json")...)
		if status != 0 || stderr != warning {
			t.Fatalf("%s: status %d, %s", policy, status, stderr)
		}
		row := commandtest.ParseJSON(t, stdout)["policies"].([]any)[0].(map[string]any)
		if row["job_count"] != jobs || row["task_count"] != 9.0 || row["dropped_large"] != 1.0 {
			t.Errorf("%s: %v", policy, row)
		}
	}
	for args, want := range map[string]string{
		"--workers 4 --drop-large --policy fcfs":                         "\nwithout 1 job of more than 4 processors\n",
		"--workers 4 --drop-large --policy fcfs --sample 2 --samples 3":  "\nwithout 1 job of more than 4 processors\n",
		"--workers 6 --drop-large --policy fcfs":                         "5 jobs of five.swf; 15 tasks\n6 workers",
		"--workers 4 --drop-large --policy fcfs --sample 4 --seed 5":     "4 jobs of five.swf",
		"--workers 2 --drop-large --policy easy --priorities 1:4 --kill": "3 jobs of five.swf; 5 tasks",
	} {
		stdout, stderr, status := runDispatch("", append([]string{"dispatch", "five.swf"}, strings.Fields(args)...)...)
		if status != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: status %d, no %q in %s%s", args, status, want, stdout, stderr)
		}
	}
}

// The load refers to all workers between the first and last submission. It is undefined if all jobs
// are submitted at the same time.
func TestDispatchOfferedLoad(t *testing.T) {
	log := fiveJobs(t) // 100 s of work within 10 s
	for args, want := range map[string]any{
		"--workers 4":  2.5,
		"--workers 20": 0.5,
		"--workers 5 --heterogeneous 4,4x4 --time-scale 0.5 --gap-scale 2": 0.125,
		"--workers 4 --batch 100": nil,
	} {
		if got := onePolicy(t, log, "--policy edf "+args)["offered_load"]; got != want {
			t.Errorf("%s: load %v, want %v", args, got, want)
		}
	}
	for workers, told := range map[string]bool{"9": true, "10": false} {
		stdout, _, _ := runDispatch("", "dispatch", "five.swf", "--workers", workers)
		if strings.Contains(stdout, "\nabove load 1 jobs pile up: delays depend on how long the log is\n") != told {
			t.Errorf("%s workers: %s", workers, stdout)
		}
	}
}

// CSV has the measures of JSON, with the measures of a spread under its name.
func TestDispatchCSV(t *testing.T) {
	log := fiveJobs(t)
	stdout, stderr, status := runDispatch(log, "dispatch", "-", "--workers", "4", "--policy", "all", "--format", "csv")
	lines, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil || status != 0 || stderr != "" || len(lines) != 7 {
		t.Fatalf("status %d, %v, %s%s", status, err, stdout, stderr)
	}
	header := "policy,tasks_together,job_count,task_count,average_priority_violation_rate,decision_violation_rate," +
		"running_violation_rate,deadline_miss_penalty,missed,missed_part,makespan," +
		"delay_mean,delay_p50,delay_p95,delay_p99,delay_max,slowdown_formula,slowdown_mean,slowdown_p50,slowdown_p95," +
		"slowdown_p99,slowdown_max," +
		"utilization,wasted,lost,decisions,waiting_mean,waiting_p50,waiting_p95,waiting_p99,waiting_max,reason," +
		"time,unfinished,unfinished_job,workers,offered_load,seed,skipped," +
		"dropped_large,first_job,finished"
	if got := strings.Join(lines[0], ","); got != header {
		t.Error(cmp.Diff(header, got))
	}
	for i, row := range dispatchJSON(t, log, "--workers 4 --policy all")["policies"].([]any) {
		for k, key := range lines[0] {
			name, part, nested := strings.Cut(key, "_")
			want := row.(map[string]any)[key]
			if nested && key != "slowdown_formula" && (name == "delay" || name == "slowdown" || name == "waiting") {
				want = row.(map[string]any)[name].(map[string]any)[part]
			}
			if text := fmt.Sprint(want); want == nil && lines[i+1][k] != "" || want != nil && lines[i+1][k] != text {
				t.Errorf("%s: %q, want %v", key, lines[i+1][k], want)
			}
		}
	}
}

// The text of one policy has the same numbers, to six digits.
func TestDispatchText(t *testing.T) {
	fiveJobs(t)
	stdout, stderr, status := runDispatch(
		"", "dispatch", "five.swf", "--workers", "4", "--heterogeneous", "2x1,2,0.5", "--policy", "workload/kept",
		"--deadline-factor", "0", "--outages", "4@1-2", "--time-scale", "0.5",
	)
	head, table, _ := strings.Cut(stdout, "\n\n")
	want := "policy workload:1/kept\n5 jobs of five.swf; 15 tasks\nrun times x 0.5\n" +
		"4 workers of speeds 0.5 to 2, 4.5 in total; 1 outage\n" +
		"load 1.11111: work submitted, over what the workers can do from the first submission to the last\n" +
		"above load 1 jobs pile up: delays depend on how long the log is"
	if head != want || stderr != "" || status != 0 {
		t.Errorf("status %d, %s%s", status, cmp.Diff(want, head), stderr)
	}
	for _, line := range []string{
		"\nworkload:1/kept  no        0             0            1.84           0       0.918367\n",
	} {
		if !strings.Contains(table, line) {
			t.Errorf("no %q in %s", line, table)
		}
	}
}

// Three tasks of 6 s on workers of speeds 1 and 2: the slow one runs one and the fast one two,
// for any notation of the speeds. Alone, the job would take 18/3 s.
func TestDispatchSpeeds(t *testing.T) {
	const log = "1 0 -1 6 3 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1\n"
	for speeds, makespan := range map[string]float64{"1,2": 6, "1x1,1x2": 6, "2x3": 4, "uniform:2:2": 6, "1e0,2e0": 6} {
		got := onePolicy(t, log, "--workers 2 --policy edf --heterogeneous "+speeds)
		if got["makespan"] != makespan {
			t.Errorf("%s: makespan %v, want %v", speeds, got["makespan"], makespan)
		}
	}
	one := onePolicy(t, log, "--workers 2 --policy edf --heterogeneous uniform:0.5:1.5")
	for seed, same := range map[string]bool{"1": true, "2": false} { // 1 is the default
		got := onePolicy(t, log, "--workers 2 --policy edf --heterogeneous uniform:0.5:1.5 --seed "+seed)
		if fmt.Sprint(got["seed"]) != seed || (got["makespan"] == one["makespan"]) != same {
			t.Errorf("seed %s: %v, and %v by default", seed, got, one)
		}
	}
}

// A log is read from a file, compressed or not, from the standard input, or from the program's own
// logs if no file has that name.
func TestDispatchSources(t *testing.T) {
	log := fiveJobs(t)
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(log)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	commandtest.WriteFile(t, "five.swf.gz", packed.String())
	want := dispatchJSON(t, log, "--workers 6")
	for _, c := range []struct{ name, stdin string }{{"five.swf", ""}, {"five.swf.gz", ""}, {"-", packed.String()}} {
		stdout, stderr, status := runDispatch(c.stdin, "dispatch", c.name, "--workers", "6", "--format", "json")
		if status != 0 || stderr != "" {
			t.Errorf("%s: status %d, %s", c.name, status, stderr)
		} else if diff := cmp.Diff(want, commandtest.ParseJSON(t, stdout)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	for _, name := range traces.Names() {
		args := []string{"dispatch", name, "--workers", "400", "--policy", "edf", "--format", "json", "--sample", "500"}
		shipped, stderr, status := runDispatch("", args...)
		if status != 0 {
			t.Fatalf("%s: status %d, %s", name, status, stderr)
		}
		from, err := traces.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		args[1] = "-"
		if again, _, _ := runDispatch(string(text), args...); again != shipped {
			t.Errorf("%s: %s", name, cmp.Diff(shipped, again))
		}
		args[1] = name
		commandtest.WriteFile(t, name, log)
		if stdout, _, _ := runDispatch("", args[:len(args)-2]...); !strings.Contains(stdout, `"job_count": 5,`) {
			t.Errorf("the file %s does not take precedence: %s", name, stdout)
		}
	}
}

// --sample scales times as [L14] does, unless flags say otherwise: it takes the given number of
// consecutive jobs, from a start that depends on the seed. A sample of all jobs is the unchanged
// log.
func TestDispatchSample(t *testing.T) {
	log := fiveJobs(t)
	whole := dispatchJSON(t, log, "--workers 4 --policy all")
	got := dispatchJSON(t, log, "--workers 4 --policy all --sample 5 --time-scale 1 --gap-scale 1 --batch 0")
	for _, row := range got["policies"].([]any) {
		row.(map[string]any)["seed"] = nil
	}
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Error(diff)
	}
	lin := dispatchJSON(t, log, "--workers 4 --policy all --sample 5 --seed 3")
	if diff := cmp.Diff(lin, dispatchJSON(t, log, "--workers 4 --policy all --sample 5 --seed 3 --time-scale 0.001 "+
		"--gap-scale 0.1 --batch 1 --deadline-factor 2 --parallelism 4 --priorities 1:100")); diff != "" {
		t.Error(diff)
	}
	starts := map[any]bool{}
	// a start is missed with probability below 4 (3/4)^40 = 4e-5, and the seeds are fixed
	for seed := range 40 {
		got := onePolicy(t, log, "--workers 4 --policy edf --sample 2 --seed "+strconv.Itoa(seed))
		starts[got["first_job"]] = true
		if got["job_count"] != 2.0 || got["seed"] != float64(seed) {
			t.Errorf("seed %d: %v", seed, got)
		}
	}
	if len(starts) != 4 {
		t.Errorf("samples start at %v, want 4 starts", starts)
	}
}

// The other flags reach the run. Each is tested on a log with a known effect.
func TestDispatchOptions(t *testing.T) {
	// A holds both workers until 10; B, more urgent, arrives at 2. Without emergencies B waits for
	// 8 s and runs for 1 s; with them it takes a worker, and a task of A restarts at 3. Under
	// priority with all kept from the first job, A runs on one worker and the second is reserved.
	const two = "1 0 -1 10 2 -1 -1 -1 -1 -1 -1 2 -1 -1 -1 -1 -1 -1\n2 2 -1 1 1 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1\n"
	for args, want := range map[string]map[string]any{
		"--policy edf": {"makespan": 11.0, "lost": 0.0},
		// due 20 and 4
		"--policy edf --emergency 100": {
			"makespan":              13.0,
			"lost":                  1.0,
			"deadline_miss_penalty": 0.0,
		},
		"--policy edf --emergency 101": {
			"makespan":              11.0,
			"lost":                  0.0,
			"missed":                1.0,
			"deadline_miss_penalty": 700.0,
		},
		"--policy edf --priorities 2:3":                      {"deadline_miss_penalty": 21.0},
		"--policy edf --deadline-factor 1":                   {"deadline_miss_penalty": 800.0}, // due 10 and 3
		"--policy edf --parallelism 1 --deadline-factor 0.5": {"deadline_miss_penalty": 850.0}, // due 0.5 10 2 and 2.5
		"--policy edf --gap-scale 6":                         {"makespan": 13.0, "missed": 0.0},
		"--policy edf --time-scale 0.5":                      {"makespan": 5.5},
		// B from 0 to 1, then A on its worker
		"--policy edf --batch 3":     {"makespan": 11.0, "missed": 0.0},
		"--policy priority:1/kept":   {"makespan": 20.0}, // B on the second worker
		"--policy priority:0.5/kept": {"makespan": 20.0},
		"--policy priority:0.4/kept": {"makespan": 20.0}, // ceil(0.8) workers are kept
		"--policy priority/kept":     {"makespan": 11.0},
		"--policy workload/kept":     {"makespan": 11.0}, // A needs 20 workers to finish in 1 s
		"--policy workload:20/kept":  {"makespan": 20.0}, // and one worker to finish in 20 s
		// three workers, according to the learned estimate
		"--policy workload:20/kept --learn 30": {"makespan": 11.0},
		"--policy edf --outages 1-2@1-2":       {"makespan": 13.0, "lost": 2.0}, // B at 2, A at 2 and 3
	} {
		got := onePolicy(t, two, "--workers 2 "+args)
		for key, value := range want {
			if diff := cmp.Diff(value, got[key], afterSums); diff != "" {
				t.Errorf("%s: %s: %s", args, key, diff)
			}
		}
	}
}

// If a job takes no time, missing measures are null, and the text explains them.
func TestDispatchNothing(t *testing.T) {
	const log = "7 9 -1 0 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"
	got := onePolicy(t, log, "--workers 1 --policy priority")
	none := map[string]any{"mean": nil, "p50": nil, "p95": nil, "p99": nil, "max": nil}
	zero := map[string]any{"mean": 0.0, "p50": 0.0, "p95": 0.0, "p99": 0.0, "max": 0.0}
	for key, want := range map[string]any{
		"average_priority_violation_rate": nil, "running_violation_rate": nil, "decision_violation_rate": 0.0,
		"delay": zero, "slowdown": none, "utilization": nil, "wasted": nil, "makespan": 0.0,
		"task_count": 2.0, "first_job": 7.0,
	} {
		if diff := cmp.Diff(want, got[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	stdout, _, status := runDispatch(log, "dispatch", "-", "--workers", "1", "--policy", "priority", "--timeline")
	if status != 0 || !strings.HasSuffix(stdout, "\n\ntimeline: no time passes\n") ||
		!strings.Contains(stdout, "\npriority  no        0             0            0\n") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// Jobs that cannot run are counted and reported on the standard error.
func TestDispatchSkips(t *testing.T) {
	log := fiveJobs(t)
	for k, line := range []string{"6 -1 -1 1 1", "7 11 -1 -1 1", "8 12 -1 1 0"} {
		log += line + " -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1\n"
		stdout, stderr, status := runDispatch(
			log, "dispatch", "-", "--workers", "4", "--policy", "edf", "--format", "json",
		)
		jobs := []string{"1 job", "2 jobs", "3 jobs"}[k]
		verb := []string{"is", "are", "are"}[k]
		if want := "pfq: warning: standard input: " + jobs + " without submission, run time or processors " +
			verb + " omitted\n"; status != 0 || stderr != want {
			t.Errorf("status %d, %s", status, stderr)
		}
		if got := commandtest.ParseJSON(t, stdout)["policies"].([]any)[0].(map[string]any); got["skipped"] != float64(k+
			1) ||
			got["job_count"] != 5.0 {
			t.Error(stdout)
		}
	}
}

// --records writes the result of each job, as in TestDispatchByHand.
func TestDispatchRecords(t *testing.T) {
	fiveJobs(t)
	_, stderr, status := runDispatch(
		"", "dispatch", "five.swf", "--workers", "4", "--priorities", "1:5", "--policy", "edf", "--records", "jobs.csv",
	)
	text, err := os.ReadFile("jobs.csv")
	want := `id,submit,deadline,priority,tasks,work,start,finish,delay,slowdown,` +
		`missed,lost,user,group,account,partition,queue
1,0,20,1,4,40,0,15,15,1.5,0,0,5,,,,
2,0,10,4,2,10,0,5,5,1,0,0,2,,,,
3,5,20,3,6,30,10,20,15,2,0,0,3,,,,
4,10,30,5,1,10,20,30,20,2,0,0,1,,,,
5,10,20,2,2,10,20,25,15,3,5,0,4,,,,
`
	if status != 0 || stderr != "" || err != nil || string(text) != want {
		t.Errorf("status %d, %s, %v, %s", status, stderr, err, cmp.Diff(want, string(text)))
	}
}

// No output file overwrites another one or the log, under any of its names.
func TestDispatchKeepsFiles(t *testing.T) {
	log := fiveJobs(t)
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Symlink(".", "here"), os.Symlink("five.swf", "linked.swf"), os.Link("five.swf", "again.swf"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	whole := filepath.Join(folder, "a.csv")
	for _, c := range []struct{ args, want string }{
		{"five.swf --records a.csv -o " + whole, "--records = a.csv: want a file other than that of --output"},
		{"five.swf --records here/a.csv -o a.csv", "--records = here/a.csv: want a file other than that of --output"},
		{"five.swf -o d.png", "--output = d.png: want a name for text, JSON or CSV: pictures are drawn by pfq plot"},
		{"five.swf --records five.swf", "--records = five.swf: want a file other than the one that is read"},
		{"five.swf -o ./five.swf", "--output = ./five.swf: want a file other than the one that is read"},
		{"five.swf -o linked.swf", "--output = linked.swf: want a file other than the one that is read"},
		{"linked.swf --records five.swf -o a.csv", "--records = five.swf: want a file other than the one that is read"},
		{"five.swf -o again.swf", "--output = again.swf: want a file other than the one that is read"},
	} {
		stdout, stderr, status := runDispatch(
			"", append(strings.Fields("dispatch --workers 4 --policy edf"), strings.Fields(c.args)...)...,
		)
		if status != 2 || stdout != "" || stderr != "pfq: "+c.want+"\n" {
			t.Errorf("%s: status %d, %s, want %s", c.args, status, stderr, c.want)
		}
	}
	stdin, err := os.Open("five.swf")
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var said strings.Builder
	if status := command.Run(
		dispatchProgram(), strings.Fields("dispatch - --workers 4 -o five.swf"), stdin, io.Discard, &said,
	); status != 2 ||
		said.String() != "pfq: --output = five.swf: want a file other than the one that is read\n" {
		t.Errorf("status %d, %s", status, &said)
	}
	stdout, err := os.Create("out.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	said.Reset()
	if status := command.Run(
		dispatchProgram(), strings.Fields("dispatch five.swf --workers 4 --policy edf --records out.txt"),
		nil, stdout, &said,
	); status != 2 || said.String() != "pfq: --records = out.txt: want a file other than that of --output\n" {
		t.Errorf("status %d, %s", status, &said)
	}
	if text, err := os.ReadFile("five.swf"); err != nil || string(text) != log {
		t.Errorf("%v, the log is now %s", err, text)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 5 {
		t.Errorf("files %v, %v", files, err)
	}
	// run twice: existing files are replaced
	for _, args := range []string{"--records a.csv -o b.txt", "--records a.csv -o " + os.DevNull} {
		if stdout, stderr, status := runDispatch(
			"", append(strings.Fields("dispatch five.swf --workers 4 --policy edf"), strings.Fields(args)...)...,
		); status != 0 || stdout+stderr != "" {
			t.Errorf("%s: status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// If all workers fail for good, some jobs never finish. The answer says so in each format, and the
// status is 1. Under edf only B and two tasks of A have finished by 12.
func TestDispatchStranded(t *testing.T) {
	fiveJobs(t)
	args := []string{
		"dispatch", "five.swf", "--workers", "4", "--policy", "edf", "--outages", "1-2@12-,3-4@10-11,3-4@11-",
	}
	const reason = "4 jobs never finish, the first of them job 1: no worker is left after 12 s"
	stdout, stderr, status := runDispatch("", append(args, "--format", "json", "--records", "jobs.csv")...)
	want := map[string]any{
		"finished": false, "policy": "edf", "tasks_together": false, "job_count": 5.0, "task_count": 15.0,
		"reason": reason,
		"time":   12.0, "unfinished": 4.0, "unfinished_job": 1.0, "workers": 4.0, "offered_load": 2.5,
		"seed": nil, "skipped": 0.0, "dropped_large": 0.0, "first_job": 1.0,
	}
	if diff := cmp.Diff(map[string]any{"policies": []any{want}}, commandtest.ParseJSON(t, stdout)); status != 1 ||
		stderr != "" || diff != "" {
		t.Errorf("status %d, %s%s", status, stderr, diff)
	}
	stdout, stderr, status = runDispatch("", append(args, "--format", "csv")...)
	finished, _, _ := runDispatch("", "dispatch", "five.swf", "--workers", "4", "--policy", "edf", "--format", "csv")
	header, _, _ := strings.Cut(finished, "\n")
	if want := header + "\nedf,false,5,15" + strings.Repeat(",", 28) + "\"" + reason +
		"\",12,4,1,4,2.5,,0,0,1,false\n"; status != 1 || stderr != "" || stdout != want {
		t.Errorf("status %d, %s%s", status, stderr, cmp.Diff(want, stdout))
	}
	_, stderr, status = runDispatch("", append(args, "-o", "answer.txt")...)
	text, err := os.ReadFile("answer.txt")
	want2 := "policy edf\n5 jobs of five.swf; 15 tasks\n4 workers of speed 1; 6 outages\n" +
		"load 2.5: work submitted, over what the workers can do from the first submission to the last\n" +
		"above load 1 jobs pile up: delays depend on how long the log is\n" +
		"policy edf: " + reason + "\n"
	if status != 1 || stderr != "" || err != nil || string(text) != want2 {
		t.Errorf("status %d, %s, %v, %s", status, stderr, err, cmp.Diff(want2, string(text)))
	}
	stdout, _, status = runDispatch("", append(args, "--timeline")...)
	if !strings.Contains(stdout, "\nworker 4                AAAAAAAAAA") ||
		!strings.HasSuffix(stdout, "\nE       5    25.75     2      5             10         20\n") || status != 1 {
		t.Errorf("status %d, %s", status, stdout)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 2 {
		t.Errorf("files %v, %v", files, err)
	}
}

// If some policies finish and others do not, the latter have no measures, and the status is 1. A
// job of 9 s, more urgent and due at 18, and one of 1 s, due at 2, on workers of speeds 1 and 9,
// which leave at 8 and at 4.
func TestDispatchSomeStranded(t *testing.T) {
	const log = "1 0 -1 9 1 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1\n2 0 -1 1 1 -1 -1 -1 -1 -1 -1 2 -1 -1 -1 -1 -1 -1\n"
	stdout, stderr, status := runDispatch(
		log, "dispatch", "-", "--workers", "2", "--heterogeneous", "1,9", "--outages", "1@8-,2@4-", "--format", "json",
	)
	got := map[string]bool{}
	for _, row := range commandtest.ParseJSON(t, stdout)["policies"].([]any) {
		run := row.(map[string]any)
		got[run["policy"].(string)] = run["finished"].(bool)
		if _, has := run["makespan"]; has != run["finished"] {
			t.Error(run)
		}
	}
	// The rules that use speeds give the job of 9 s the worker of speed 9, and so does edf, which
	// gives the first worker to the job that is due first; otherwise the job gets the slow worker,
	// which needs 9 s.
	want := map[string]bool{
		"priority":            false,
		"proportion/priority": false,
		"workload:1/priority": true,
		"deadline/priority":   true,
		"deadline/deadline":   true,
		"edf":                 true,
	}
	if diff := cmp.Diff(want, got); diff != "" || status != 1 || stderr != "" {
		t.Errorf("status %d, %s%s", status, stderr, diff)
	}
	table, _, _ := runDispatch(
		log, "dispatch", "-", "--workers", "2", "--heterogeneous", "1,9", "--outages", "1@8-,2@4-", "--format", "csv",
	)
	whole, _, _ := runDispatch(log, "dispatch", "-", "--workers", "2", "--policy", "all", "--format", "csv")
	wholeHeader, _, _ := strings.Cut(whole, "\n")
	if header, rows, _ := strings.Cut(table, "\n"); header != wholeHeader || strings.Count(rows, ",false\n") != 2 ||
		strings.Count(rows, ",true\n") != 4 {
		t.Errorf("%s, want the header of %s", table, whole)
	}
	text, _, _ := runDispatch(
		log, "dispatch", "-", "--workers", "2", "--heterogeneous", "1,9", "--outages", "1@8-,2@4-",
	)
	for _, line := range []string{
		"\npolicy priority: 1 job never finishes, the first of them job 1: no worker is left after 8 s\n",
		"\npriority             no        -             -            -              -       -\n",
		"\nworkload:1/priority  no        0             0            5              0       1\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in %s", line, text)
		}
	}
}

// Bad usage and bad input give status 2 and one line on the standard error. Nothing is written to
// the standard output or to files.
func TestDispatchBadUsage(t *testing.T) {
	log := fiveJobs(t)
	lines := strings.SplitAfter(log, "\n")
	for name, text := range map[string]string{
		"words.swf":   strings.Replace(log, " 5 -1  5 6", " 5 -1 five 6", 1),
		"short.swf":   lines[3] + "2 0 -1\n",
		"long.swf":    lines[3] + strings.TrimSuffix(lines[4], "\n") + " 7\n",
		"minus.swf":   strings.Replace(log, " 5 -1  5 6", "-5 -1  5 6", 1),
		"unknown.swf": strings.Replace(lines[3], " 10 4 ", " -1 4 ", 1),
		"empty.swf":   "; nothing\n",
		"comma.csv":   "job_id,submitted,run\n1,0,10\n",
		"late.swf":    strings.Replace(log, "5 10 -1", "5 1e49 -1", 1),
		"huge.swf":    strings.Replace(log, "2  0 -1  5", "2  0 -1 1e101", 1),
		"large.swf":   lines[3],
		"nobody.swf":  "1 0 -1 9 1" + strings.Repeat(" -1", 13) + "\n",
		"bad.gz":      "\x1f\x8b junk",
	} {
		commandtest.WriteFile(t, name, text)
	}
	before, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{
			"--workers 4",
			"dispatch takes one TRACE, a file, - for the standard input or the name of a log, not 0 arguments",
		},
		{
			"five.swf five.swf --workers 4",
			"dispatch takes one TRACE, a file, - for the standard input or the name of a log, not 2 arguments",
		},
		{"five.swf", "--workers is missing: want an integer in 1..1000000"},
		{"five.swf --workers 0", "--workers = 0: want an integer in 1..1000000"},
		{"five.swf --workers -4", "--workers = -4: want an integer in 1..1000000"},
		{"five.swf --workers 1.5", "--workers = 1.5: want an integer in 1..1000000"},
		{"five.swf --worker 4", "unknown flag: --worker; did you mean --workers?"},
		{"absent.swf --workers 4", "absent.swf: no such file or directory; the built-in logs are: SDSC-Par-1996"},
		{
			"sdsc-par-1996 --workers 4",
			"sdsc-par-1996: no such file or directory; the built-in logs are: SDSC-Par-1996",
		},
		{". --workers 4", ".: is a directory"},
		{
			"words.swf --workers 4",
			"words.swf:6: field 4, run time = five: want a finite number of seconds >= 0, or -1 if unknown",
		},
		{
			"minus.swf --workers 4",
			"minus.swf:6: field 2, submit time = -5: want a finite number of seconds >= 0, or -1 if unknown",
		},
		{
			"short.swf --workers 4",
			"short.swf:2: field 4, run time is missing: want 18 fields in each line, -1 for what is unknown",
		},
		{"long.swf --workers 4", "long.swf:2: field 19 = 7: want the end of the line after 18 fields"},
		{"bad.gz --workers 4", "bad.gz:1: unpacking: "},
		{
			"empty.swf --workers 4",
			"empty.swf: want a job of known submission, run time and processors, not a log with none",
		},
		{
			"unknown.swf --workers 4",
			"unknown.swf: want a job of known submission, run time and processors, not a log with none",
		},
		{"huge.swf --workers 4", "huge.swf: job 2, run time = 1e+101: want seconds in [0, 1e50], or -1 for unknown"},
		{"late.swf --workers 4 --gap-scale 100", "--gap-scale = 100: want a factor that submits job 5 by 1e50"},
		{
			"five.swf --workers 4 --time-scale 1e50",
			"--time-scale = 1e50: want a factor that brings the run time of job 1 into [1e-50, 1e50]",
		},
		{"five.swf --workers 4 --gap-scale 1e50", "--gap-scale = 1e50: want a factor that submits job 3 by 1e50"},
		{
			"five.swf --workers 4 --deadline-factor 1e50",
			"--deadline-factor = 1e50: want a factor that leaves the deadline of job 1 within 1e50",
		},
		{"five.swf --workers 4 --policy deadlin", "--policy[0] = deadlin: want one of priority[:R][/SPARE], " +
			"proportion[/SPARE], workload[:H][/SPARE], deadline[/SPARE], edf, fcfs, sjf, easy[/ORDER], conservative; " +
			"did you mean deadline?"},
		{
			"five.swf --workers 4 --policy edf,deadline/keep",
			"--policy[1] = deadline/keep: want deadline[/SPARE], SPARE priority, deadline or kept",
		},
		{"five.swf --workers 4 --policy edf,", "--policy[1] = nothing: want one of "},
		{
			"five.swf --workers 4 --policy deadline,deadline/priority",
			"--policy[1] = deadline/priority: want each policy once",
		},
		{
			"five.swf --workers 4 --policy deadline --spare kept",
			"unknown flag: --spare; --policy names who gets spare workers, as in deadline/kept",
		},
		{"five.swf --workers 4 --policy edf --learn 5",
			"--learn needs a --policy that uses run times: edf uses only deadlines"},
		{"five.swf --workers 4 --policy priority:0.5 --learn 5",
			"--learn needs a --policy that uses run times: priority:0.5 uses only priorities"},
		{"five.swf --workers 4 --policy fcfs,edf --learn 5",
			"--learn needs a --policy that uses run times: fcfs,edf ignores run times"},
		{"five.swf --workers 4 --samples 3", "--samples needs --sample N, the jobs of each"},
		{"five.swf --workers 4 --sample 2 --samples 1", "--samples = 1: want an integer in 2..1000"},
		{"five.swf --workers 4 --sample 2 --samples 2 --timeline",
			"--timeline and --samples cannot be combined: --timeline is about one run"},
		{"five.swf --workers 4 --sample 2 --samples 2 --outages 1@1-2",
			"--outages and --samples cannot be combined: --outages is about one run"},
		{"five.swf --workers 4 --policies edf", "unknown flag: --policies; did you mean --policy?"},
		{"five.swf --workers 4 --policy all,edf", "--policy[1] = edf: want each policy once"},
		{"comma.csv --workers 4", "comma.csv:1: columns = job_id,submitted,run: want a column of run times, or " +
			"of starts and ends; --columns run_time=NAME or start=NAME,end=NAME names them"},
		{"five.swf --workers 4 --parallelism 4 --deadline-factor 0",
			"--parallelism needs deadlines: with --deadline-factor 0 no job has one"},
		{
			"five.swf --workers 4 --policy priority:1.5",
			"--policy[0] = priority:1.5: want priority[:R][/SPARE], R in [0, 1]",
		},
		{
			"five.swf --workers 4 --policy workload:0",
			"--policy[0] = workload:0: want workload[:H][/SPARE], H in [1e-50, 1e50] seconds",
		},
		{
			"five.swf --workers 4 --reserve 0.5",
			"unknown flag: --reserve; --policy names the fraction R that is kept, as in priority:R",
		},
		{"five.swf --workers 4 --horizon 1", "unknown flag: --horizon; --policy names the seconds H, as in workload:H"},
		{"five.swf --workers 4 --jobs a.csv", "unknown flag: --jobs; it is now --records"},
		{"five.swf --workers 4 --sample 6", "--sample = 6: want at most 5, the number of usable jobs"},
		{"five.swf --workers 4 --sample 0", "--sample = 0: want an integer in 1..1000000000"},
		{"five.swf --workers 4 --seed 1",
			"--seed needs --sample, --heterogeneous uniform:LOW:HIGH or --requests uniform:F"},
		{"five.swf --workers 4 --sample 2 --seed -1", "--seed = -1: want an integer in 0..18446744073709551615"},
		{"five.swf --workers 4 --time-scale -1", "--time-scale = -1: want a number in [1e-50, 1e50]"},
		{"five.swf --workers 4 --gap-scale 0", "--gap-scale = 0: want a number in [1e-50, 1e50]"},
		{"five.swf --workers 4 --batch -1", "--batch = -1: want a number of seconds in [0, 1e50]"},
		{
			"five.swf --workers 4 --deadline-factor -2",
			"--deadline-factor = -2: want a number in [1e-50, 1e50], or 0 for no deadlines",
		},
		{"five.swf --workers 4 --parallelism 0", "--parallelism = 0: want an integer in 1..1000000000"},
		{"five.swf --workers 4 --priorities 5:1", "--priorities = 5:1: want LOW:HIGH with 0 <= LOW <= HIGH <= 1e50"},
		{"five.swf --workers 4 --priorities 5", "--priorities = 5: want LOW:HIGH with 0 <= LOW <= HIGH <= 1e50"},
		{"five.swf --workers 4 --learn 0", "--learn = 0: want a number of seconds in [1e-50, 1e50]"},
		{"five.swf --workers 4 --learn 1:2", "--learn = 1:2: want a number of seconds in [1e-50, 1e50]"},
		{"five.swf --workers 4 --emergency 0", "--emergency = 0: want a priority in [1e-50, 1e50]"},
		{
			"five.swf --workers 2 --heterogeneous 1,x",
			"--heterogeneous[1] = x: want a speed in [1e-50, 1e50], or NxSPEED for N workers",
		},
		{
			"five.swf --workers 2 --heterogeneous 1,0",
			"--heterogeneous[1] = 0: want a speed in [1e-50, 1e50], or NxSPEED for N workers",
		},
		{
			"five.swf --workers 2 --heterogeneous 1,",
			"--heterogeneous[1] = nothing: want a speed in [1e-50, 1e50], or NxSPEED for N workers",
		},
		{
			"five.swf --workers 2 --heterogeneous 0x1,1",
			"--heterogeneous[0] = 0x1: want a speed in [1e-50, 1e50], or NxSPEED for N workers",
		},
		{
			"five.swf --workers 2 --heterogeneous 1,1,1",
			"--heterogeneous[2] = 1: want 2 speeds in total, one per worker",
		},
		{"five.swf --workers 3 --heterogeneous 1,1", "--heterogeneous = 2 speeds: want 3 speeds, one per worker"},
		{
			"five.swf --workers 2 --heterogeneous fast",
			"--heterogeneous = fast: want speeds such as 1,1,0.5 or 10x1,10x0.5, one per worker, or uniform:LOW:HIGH",
		},
		{
			"five.swf --workers 2 --heterogeneous uniform:0:1",
			"--heterogeneous = uniform:0:1: want uniform:LOW:HIGH with 1e-50 <= LOW <= HIGH <= 1e50",
		},
		{
			"five.swf --workers 2 --heterogeneous uniform:2:1",
			"--heterogeneous = uniform:2:1: want uniform:LOW:HIGH with 1e-50 <= LOW <= HIGH <= 1e50",
		},
		{"five.swf --workers 2 --outages 3@1-2", "--outages[0] = 3@1-2: want workers in 1..2"},
		{"five.swf --workers 2 --outages 0@1-2", "--outages[0] = 0@1-2: want workers in 1..2"},
		{
			"five.swf --workers 2 --outages 1@1-2,2-1@1-2",
			"--outages[1] = 2-1@1-2: want workers FIRST-LAST with FIRST <= LAST",
		},
		{
			"five.swf --workers 2 --outages 1@2-1",
			"--outages[0] = 1@2-1: want times FROM-TO with 0 <= FROM < TO, FROM at most 1e50",
		},
		{"five.swf --workers 2 --outages 1@2", "--outages[0] = 1@2: want WORKERS@FROM-TO such as 1-6@55-115, or " +
			"8@200- for good, in seconds from the first submission"},
		{"five.swf --workers 2 --outages 1@-1-2", "--outages[0] = 1@-1-2: want WORKERS@FROM-TO such as 1-6@55-115, " +
			"or 8@200- for good, in seconds from the first submission"},
		{"five.swf --workers 2 --outages 1@1-2,", "--outages[1] = nothing: want WORKERS@FROM-TO such as 1-6@55-115, " +
			"or 8@200- for good, in seconds from the first submission"},
		{"five.swf --workers 4 --outages 1-2@1-3,2-4@2-", "--outages[1] = 2-4@2-: want an outage that does not " +
			"overlap 1-2@1-3, --outages[0], which takes worker 2 as well"},
		{"five.swf --workers 4 --measures all --format csv", "--measures needs --format text: csv has all measures"},
		{"five.swf --workers 4 --measures some", "--measures = some: want main or all"},
		{"large.swf --workers 1 --drop-large", "large.swf: want a job of at most 1 processor, the number of workers, " +
			"not larger jobs only"},
		{"five.swf --workers 4 --policy edf --by users", "--by = users: want user, group, account, partition or queue"},
		{"five.swf --workers 4 --policy edf --by account", "--by = account: want a field that five.swf has: user"},
		{"nobody.swf --workers 4 --policy edf --by user",
			"--by = user: want a log with user, group, account, partition or queue, and nobody.swf has none"},
		{"five.swf --workers 4 --sample 2 --samples 2 --by user",
			"--by and --samples cannot be combined: --by is about one run"},
		{"five.swf --workers 4 --timeline --format json", "--timeline needs --format text, not json"},
		{"five.swf --workers 4 --records a.csv", "--records needs a single --policy: the fate of a job depends on it"},
		{"five.swf --workers 4 --policy edf --records -", "--records = -: want the name of a file"},
		{
			"five.swf --workers 4 --policy edf --records a.csv -o ./a.csv",
			"--records = a.csv: want a file other than that of --output",
		},
		{"five.swf --workers 4 --policy edf --records absent/a.csv", "absent/a.csv: the folder absent does not exist"},
		{"five.swf --workers 4 --policy edf --records a.csv -o absent/b", "absent/b: the folder absent does not exist"},
		{"five.swf --workers 4 --policy edf --records a.csv -o .", ".: is a directory"},
		{"words.swf --workers 4 --policy edf --records a.csv -o b.csv", "words.swf:6: "},
	} {
		stdout, stderr, status := runDispatch("", append([]string{"dispatch"}, strings.Fields(c.args)...)...)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, "pfq: "+c.want) ||
			strings.Count(stderr, "\n") != 1 ||
			!strings.HasSuffix(c.want, " ") && stderr != "pfq: "+c.want+"\n" {
			t.Errorf("pfq dispatch %s: status %d, stdout %q, stderr %q, want %q",
				c.args, status, stdout, stderr, c.want)
		}
	}
	after, err := os.ReadDir(".")
	names := func(list []os.DirEntry) (names []string) {
		for _, e := range list {
			names = append(names, filepath.Base(e.Name()))
		}
		return names
	}
	if err != nil || !slices.Equal(names(before), names(after)) {
		t.Errorf("files %v, %v, want %v", names(after), err, names(before))
	}
}

// If there are several outputs, the answer is written last: if any of them cannot be written, there
// is neither an answer nor a partial file.
func TestDispatchWritesTheAnswerLast(t *testing.T) {
	fiveJobs(t)
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	files := func() (names []string) {
		entries, err := os.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	before := files()
	bad := []string{"/dev/full", "folder", "absent/a"}
	for _, answer := range append([]string{"", "-", "b.txt", os.DevNull}, bad...) {
		for _, jobs := range append([]string{"a.csv", os.DevNull}, bad...) {
			if !slices.Contains(bad, answer) && !slices.Contains(bad, jobs) {
				continue
			}
			args := []string{"dispatch", "five.swf", "--workers", "4", "--policy", "edf", "--records", jobs}
			if answer != "" {
				args = append(args, "-o", answer)
			}
			stdout, stderr, status := runDispatch("", args...)
			left := files()
			if answer == "/dev/full" && jobs == "a.csv" { // known only once everything except the answer is written
				left = slices.DeleteFunc(left, func(name string) bool { return name == jobs })
				if err := os.Remove(jobs); err != nil {
					t.Error(err)
				}
			}
			if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !slices.Equal(left, before) {
				t.Errorf("-o %q --records %s: status %d, %q, %s, files %v", answer, jobs, status, stdout, stderr, left)
			}
		}
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range []string{
		"dispatch five.swf --workers 4 --policy edf --records a.csv", "dispatch five.swf --workers 6",
		"help", "help dispatch",
	} {
		var said strings.Builder
		if status := command.Run(dispatchProgram(), strings.Fields(args), nil, full, &said); status != 2 ||
			!strings.Contains(said.String(), "no space left on device") {
			t.Errorf("%s: status %d, %q, want an error that the standard output is full", args, status, &said)
		}
	}
	if text, err := os.ReadFile("a.csv"); err != nil || strings.Count(string(text), "\n") != 6 {
		t.Errorf("records with a full standard output: %v, %s", err, text)
	}
}
