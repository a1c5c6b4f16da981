package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cmd/pfq/internal/commandtest"
)

// rigidLog is the log of rigid.TestRunByHand. On 4 processors, A runs on 3 for 4 s, is submitted at
// 0 and requests 9 s. B (4 for 3 s), C (one for 3 s, requesting 9 s), D (one for 6 s) and E (two
// for 2 s) are submitted at 1. The log contains the requests of A and C.
const rigidLog = `; MaxProcs: 4
1 0 -1 4 3 -1 -1 -1 9 -1 1 1 -1 -1 -1 -1 -1 -1
2 1 -1 3 4 -1 -1 -1 -1 -1 1 2 -1 -1 -1 -1 -1 -1
3 1 -1 3 1 -1 -1 -1 9 -1 1 3 -1 -1 -1 -1 -1 -1
4 1 -1 6 1 -1 -1 -1 -1 -1 1 4 -1 -1 -1 -1 -1 -1
5 1 -1 2 2 -1 -1 -1 -1 -1 1 5 -1 -1 -1 -1 -1 -1
`

// Under easy with the requests of the log, jobs begin at 0, 7, 10, 1 and 4, as rigid.TestRunByHand
// explains, and last 4, 3, 3, 6 and 2 s: they wait for 0, 6, 9, 0 and 3 s. Delays are 4, 9, 12, 6
// and 5 s. Everything is done at 13, 37 worker-seconds of work on 4 workers, submitted within one
// second. With equal users, all priorities are within 1 to 5; jobs are due after twice their run
// time: 8, 7, 7, 13, 5. B is late by 3 with priority 4, C by 6 with 3, E by 1 with 1. No delay is
// above 10 s except C's, 12.
func TestBaselineByHand(t *testing.T) {
	spread := func(mean, p50, most float64) map[string]any {
		return map[string]any{"mean": mean, "p50": p50, "p95": most, "p99": most, "max": most}
	}
	want := map[string]any{
		"policy": "easy/fcfs", "tasks_together": true, "job_count": 5.0, "task_count": 11.0,
		"average_priority_violation_rate": nil,
		"decision_violation_rate":         nil, "running_violation_rate": nil,
		"deadline_miss_penalty": 4*3 + 3*6 + 1*1.0,
		"missed":                3.0, "missed_part": 3 / 5.0, "makespan": 13.0, "delay": spread(36/5.0, 6, 12),
		"slowdown_formula": "delay / max(W/S, w/s)", "slowdown": spread((1+3+4+1+2.5)/5, 2.5, 4),
		"utilization": 37 / 52.0, "wasted": 0.0, "lost": 0.0, "decisions": nil, "waiting": spread(18/5.0, 3, 9),
		"bounded_slowdown": spread((4+1.2)/5, 1, 1.2), "backfilled": 2.0, "outlived": 0.0, "requests": "log:1",
		"requests_of_log": 2.0, "kill": false, "workers": 4.0, "offered_load": 37 / 4.0, "seed": nil,
		"skipped": 0.0, "dropped_large": 0.0, "first_job": 1.0, "finished": true,
	}
	if diff := cmp.Diff(want, onePolicy(t, rigidLog, "--priorities 1:5 --policy easy"), afterSums); diff != "" {
		t.Error(diff)
	}
	for args, waiting := range map[string]float64{
		"--policy fcfs --requests 1":         (0 + 3 + 6 + 6 + 6) / 5.0,
		"--policy sjf --requests 1":          (0 + 5 + 8 + 8 + 3) / 5.0,
		"--policy easy --requests 1":         (0 + 3 + 0 + 6 + 6) / 5.0,
		"--policy easy/sjf --requests 1":     (0 + 5 + 0 + 8 + 3) / 5.0,
		"--policy conservative --requests 1": (0 + 3 + 0 + 6 + 6) / 5.0,
		"--policy conservative":              (0 + 6 + 9 + 0 + 3) / 5.0,
		"--policy easy --workers 11":         0,
		"--policy easy --requests log:1":     18 / 5.0,
	} {
		got := onePolicy(t, rigidLog, args)["waiting"].(map[string]any)["mean"]
		if diff := cmp.Diff(waiting, got, afterSums); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}

// A job that runs longer than requested is counted, and killed on request: D requests 5 of its 6 s.
func TestBaselineKill(t *testing.T) {
	log := strings.Replace(rigidLog, "4 1 -1 6 1 -1 -1 -1 -1", "4 1 -1 6 1 -1 -1 -1 5", 1)
	for args, want := range map[string]map[string]any{
		// 7 + 6
		"--policy fcfs": {
			"outlived":        1.0,
			"kill":            false,
			"makespan":        13.0,
			"requests_of_log": 3.0,
		},
		"--policy fcfs --kill": {"outlived": 1.0, "kill": true, "makespan": 12.0},
		"--policy fcfs --kill --requests 1": {
			"outlived":        0.0,
			"kill":            true,
			"makespan":        13.0,
			"requests":        "1",
			"requests_of_log": 0.0,
		},
		// requests are also scaled: 8 + 6 + 2·5
		"--policy fcfs --kill --time-scale 2": {"outlived": 1.0, "makespan": 24.0},
	} {
		got := onePolicy(t, log, args)
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: %s is %v, want %v", args, key, got[key], value)
			}
		}
	}
}

// Worker 1 fails at 2, and with it A, which has run for 2 s on three workers. Under fcfs A
// immediately restarts on the other three and ends at 6; the worker returns at 3. B begins at 6, C,
// D and E at 9, and D ends at 15. If the worker never returns, C and D start at 2, before B, E
// waits for A, and B never begins.
func TestBaselineOutages(t *testing.T) {
	got := onePolicy(t, rigidLog, "--policy fcfs --requests 1 --outages 1@2-3")
	for key, want := range map[string]any{"makespan": 15.0, "lost": 3.0, "utilization": 37 / 59.0, "wasted": 6 / 59.0} {
		if diff := cmp.Diff(want, got[key], afterSums); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	if waiting := got["waiting"].(map[string]any)["mean"]; waiting != (2+5+8+8+8)/5.0 {
		t.Errorf("mean waiting %v, want 6.2", waiting)
	}
	stdout, stderr, status := runDispatch(
		rigidLog, "dispatch", "-", "--policy", "easy", "--outages", "1@2-", "--format", "json",
	)
	for _, want := range []string{
		`"finished": false`, `"unfinished_job": 2`,
		"1 job never finishes, the first of them job 2: it has 4 tasks, and 3 workers are left after 2 s",
	} {
		if status != 1 || !strings.Contains(stdout, want) {
			t.Errorf("status %d, no %s in %s%s", status, want, stdout, stderr)
		}
	}
}

// Baselines and other policies give the same numbers together as alone, and all have the same
// columns in CSV.
func TestBaselineWithOthers(t *testing.T) {
	const list = "edf,easy,deadline/kept,conservative"
	var want []any
	for policy := range strings.SplitSeq(list, ",") {
		want = append(want, onePolicy(t, rigidLog, "--policy "+policy))
	}
	both := dispatchJSON(t, rigidLog, "--policy "+list)
	if diff := cmp.Diff(map[string]any{"policies": want}, both); diff != "" {
		t.Error(diff)
	}
	stdout, _, _ := runDispatch(rigidLog, "dispatch", "-", "--policy", list, "--format", "csv")
	lines, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil || len(lines) != 5 {
		t.Fatalf("%v, %s", err, stdout)
	}
	for i, row := range want {
		for k, key := range lines[0] {
			fact := row.(map[string]any)[key]
			for _, name := range []string{"delay", "slowdown", "waiting", "bounded_slowdown"} {
				if part, ok := strings.CutPrefix(key, name+"_"); ok && part != "formula" {
					of, _ := row.(map[string]any)[name].(map[string]any)
					fact = of[part]
				}
			}
			if text := lines[i+1][k]; fact == nil && text != "" || fact != nil && text != fmt.Sprint(fact) {
				t.Errorf("%s of %s: %q, want %v", key, lines[i+1][0], text, fact)
			}
		}
	}
	text, _, _ := runDispatch(rigidLog, "dispatch", "-", "--policy", list)
	for _, line := range []string{
		"\nedf            no        2.8           6            2.16667        3       0.711538\n",
		"\neasy/fcfs      yes       3.6           9            2.3            3       0.711538\n",
		"\nrequested times: those of the log for 2 jobs, run times x 1 for 3\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in %s", line, text)
		}
	}
	alone, _, _ := runDispatch(rigidLog, "dispatch", "-", "--policy", "fcfs", "--requests", "uniform:3", "--kill")
	for _, line := range []string{
		"\nrequested times: run times x uniform on [1, 3] (seed 1)\njobs are killed at their requested times\n",
	} {
		if !strings.Contains(alone, line) {
			t.Errorf("no %q in %s", line, alone)
		}
	}
}

func TestBaselineSeeds(t *testing.T) {
	one := onePolicy(t, rigidLog, "--policy easy --requests uniform:9")
	if one["seed"] != 1.0 || one["requests"] != "uniform:9" {
		t.Errorf("%v", one)
	}
	differs := false
	for seed := range 20 { // samples of 5 jobs under easy; the seeds are fixed
		got := onePolicy(t, rigidLog, fmt.Sprint("--policy easy --requests uniform:9 --seed ", seed))
		differs = differs || cmp.Diff(one["waiting"], got["waiting"]) != ""
	}
	if !differs {
		t.Error("all seeds give the same answer")
	}
}

func TestBaselineRecords(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "rigid.swf", rigidLog)
	_, stderr, status := runDispatch(
		"", "dispatch", "rigid.swf", "--policy", "easy", "--priorities", "1:5", "--records", "jobs.csv",
	)
	text, err := os.ReadFile("jobs.csv")
	want :=
		`id,submit,deadline,priority,workers,run_time,requested,start,finish,waiting,delay,slowdown,` +
			`bounded_slowdown,missed,backfilled,outlived,lost,user,group,account,partition,queue
1,0,8,5,3,4,9,0,4,0,4,1,1,0,false,false,0,1,,,,
2,1,7,4,4,3,3,7,10,6,9,3,1,3,false,false,0,2,,,,
3,1,7,3,1,3,9,10,13,9,12,4,1.2,6,false,false,0,3,,,,
4,1,13,2,1,6,6,1,7,0,6,1,1,0,true,false,0,4,,,,
5,1,5,1,2,2,2,4,6,3,5,2.5,1,1,true,false,0,5,,,,
`
	if status != 0 || stderr != "" || err != nil || string(text) != want {
		t.Errorf("status %d, %s, %v, %s", status, stderr, err, cmp.Diff(want, string(text)))
	}
}

func TestBaselineBadUsage(t *testing.T) {
	five := fiveJobs(t)
	commandtest.WriteFile(t, "rigid.swf", rigidLog)
	commandtest.WriteFile(t, "huge.swf", "; MaxProcs: 1000001\n"+five)
	for _, c := range []struct{ args, want string }{
		{"five.swf --policy easy", "--workers is missing: want an integer in 1..1000000"},
		{"five.swf --workers 4 --policy edf,easy", "five.swf: job 3, processors = 6: want at most 4, the number of " +
			"workers, as they run together under easy/fcfs; --drop-large omits larger jobs, and under --policy all " +
			"their tasks need not run together"},
		{"huge.swf --policy edf", "huge.swf: MaxProcs = 1000001: want an integer in 1..1000000"},
		{"rigid.swf --policy edf,fcfs --heterogeneous 4x1",
			"--heterogeneous and --policy fcfs cannot be combined: the workers of this policy are equal"},
		{"rigid.swf --policy sjf --timeline", "--timeline and --policy sjf cannot be combined: this policy does " +
			"not assign jobs to single workers, which the timeline shows"},
		{"rigid.swf --policy sjf,easy --emergency 3",
			"--emergency needs a --policy that takes workers away: sjf,easy does not"},
		{"rigid.swf --policy sjf,edf --learn 3",
			"--learn needs a --policy that uses run times: sjf,edf ignores run times"},
		{"rigid.swf --policy edf --kill", "--kill needs fcfs, sjf, easy or conservative in --policy"},
		{"rigid.swf --policy all --requests 2", "--requests needs fcfs, sjf, easy or conservative in --policy"},
		{
			"rigid.swf --policy easy --requests 0.5",
			"--requests = 0.5: want log, log:F, F or uniform:F with 1 <= F <= 1e50",
		},
		{
			"rigid.swf --policy easy --requests log2",
			"--requests = log2: want log, log:F, F or uniform:F with 1 <= F <= 1e50",
		},
		{
			"rigid.swf --policy easy --requests log:",
			"--requests = log:: want log, log:F, F or uniform:F with 1 <= F <= 1e50",
		},
		{
			"rigid.swf --policy easy --requests uniform:NaN",
			"--requests = uniform:NaN: want log, log:F, F or uniform:F with 1 <= F <= 1e50",
		},
		{
			"rigid.swf --policy easy --requests 1e50",
			"rigid.swf: job 1, requested time = 4e+50: want seconds in [1e-50, 1e50]",
		},
		{"rigid.swf --policy easy,easy/fcfs", "--policy[1] = easy/fcfs: want each policy once"},
		{"rigid.swf --policy easy/edf", "--policy[0] = easy/edf: want easy[/ORDER], ORDER fcfs or sjf"},
		{"rigid.swf --policy esay", "--policy[0] = esay: want one of priority[:R][/SPARE], proportion[/SPARE], " +
			"workload[:H][/SPARE], deadline[/SPARE], edf, fcfs, sjf, easy[/ORDER], conservative; did you mean easy?"},
		{"rigid.swf --policy fcf", "--policy[0] = fcf: want one of priority[:R][/SPARE], proportion[/SPARE], " +
			"workload[:H][/SPARE], deadline[/SPARE], edf, fcfs, sjf, easy[/ORDER], conservative; did you mean fcfs?"},
		{"rigid.swf --policy fcfs --seed 3",
			"--seed needs --sample, --heterogeneous uniform:LOW:HIGH or --requests uniform:F"},
	} {
		stdout, stderr, status := runDispatch("", append([]string{"dispatch"}, strings.Fields(c.args)...)...)
		if status != 2 || stdout != "" || stderr != "pfq: "+c.want+"\n" {
			t.Errorf("pfq dispatch %s: status %d, stdout %q, stderr %q, want %q",
				c.args, status, stdout, stderr, c.want)
		}
	}
}

// Percentiles replace the default ones, for rules and baselines, and are order statistics of the
// results of jobs: for the log above, delays under easy are 4, 5, 6, 9 and 12 s, and slowdowns 1,
// 1, 2.5, 3 and 4.
func TestDispatchPercentiles(t *testing.T) {
	const args = "--priorities 1:5 --policy easy,edf"
	same := dispatchJSON(t, rigidLog, args+" --percentiles 50,95,99")
	if diff := cmp.Diff(dispatchJSON(t, rigidLog, args), same); diff != "" {
		t.Errorf("the default percentiles, requested explicitly: %s", diff)
	}
	row := onePolicy(t, rigidLog, "--priorities 1:5 --policy easy --percentiles 20,20.1,60,99.9")
	for measure, want := range map[string]map[string]any{
		"delay":            {"mean": 36 / 5.0, "p20": 4.0, "p20.1": 5.0, "p60": 6.0, "p99.9": 12.0, "max": 12.0},
		"slowdown":         {"mean": 11.5 / 5, "p20": 1.0, "p20.1": 1.0, "p60": 2.5, "p99.9": 4.0, "max": 4.0},
		"waiting":          {"mean": 18 / 5.0, "p20": 0.0, "p20.1": 0.0, "p60": 3.0, "p99.9": 9.0, "max": 9.0},
		"bounded_slowdown": {"mean": 5.2 / 5, "p20": 1.0, "p20.1": 1.0, "p60": 1.0, "p99.9": 1.2, "max": 1.2},
	} {
		if diff := cmp.Diff(want, row[measure], afterSums); diff != "" {
			t.Errorf("%s: %s", measure, diff)
		}
	}
	// A job without work has a delay and no slowdown.
	const idle = "1 0 -1 0 1 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1\n2 0 -1 8 1 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1\n"
	row = onePolicy(t, idle, "--workers 2 --policy edf --percentiles 10,90")
	if diff := cmp.Diff(map[string]any{"mean": 4.0, "p10": 0.0, "p90": 8.0, "max": 8.0}, row["delay"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"mean": 1.0, "p10": 1.0, "p90": 1.0, "max": 1.0}, row["slowdown"]); diff != "" {
		t.Error(diff)
	}
	stdout, _, _ := runDispatch(rigidLog, "dispatch", "-", "--policy", "easy", "--percentiles", "60,99.9",
		"--measures", "all")
	if !strings.Contains(stdout, "  waiting p60  waiting p99.9  ") || strings.Contains(stdout, "p95") ||
		!strings.Contains(stdout, "  slowdown p60  slowdown p99.9  slowdown max\n") {
		t.Error(stdout)
	}
	table, _, _ := runDispatch(rigidLog, "dispatch", "-", "--policy", "easy", "--percentiles", "60", "--format", "csv")
	if header, _, _ := strings.Cut(table, "\n"); !strings.Contains(header, ",delay_mean,delay_p60,delay_max,") ||
		!strings.Contains(header, ",waiting_p60,") {
		t.Error(header)
	}
	if _, stderr, status := runDispatch(rigidLog, "dispatch", "-", "--percentiles", "0"); status != 2 ||
		stderr != "pfq: --percentiles[0] = 0: want a number > 0 and < 100\n" {
		t.Errorf("status %d, %s", status, stderr)
	}
}
