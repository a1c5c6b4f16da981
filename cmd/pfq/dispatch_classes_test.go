package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cmd/pfq/internal/commandtest"
)

// Jobs drawn from classes arrive at the rates of the classes, need their workers, and have their mean
// sizes; the users are the classes.
func TestDispatchClasses(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "gangs.yaml", threeGangs)
	run := func(args string) string {
		t.Helper()
		stdout, stderr, status := runDispatch("", strings.Fields("dispatch gangs.yaml "+args)...)
		if status != 0 || stderr != "" {
			t.Fatalf("%s: status %d, %s", args, status, stderr)
		}
		return stdout
	}
	for _, shape := range []string{"exponential", "deterministic"} {
		run("--policy fcfs --sample 10000 --seed 3 --records jobs.csv -o answer.txt --sizes " + shape)
		type sums struct{ jobs, work float64 }
		got, last := map[string]sums{}, 0.0
		for k, row := range readTable(t, "jobs.csv") {
			var v [3]float64
			for i, name := range []string{"submit", "run_time", "workers"} {
				var err error
				if v[i], err = strconv.ParseFloat(row[name], 64); err != nil {
					t.Fatal(err)
				}
			}
			last = v[0]
			s := got[row["user"]]
			got[row["user"]] = sums{s.jobs + 1, s.work + v[1]}
			needs := map[string]float64{"small": 1, "medium": 4, "large": 16}[row["user"]]
			if row["id"] != strconv.Itoa(k+1) || v[2] != needs || row["requested"] != row["run_time"] {
				t.Fatalf("job %d: %v", k+1, row)
			}
		}
		for user, c := range map[string]struct{ rate, mean float64 }{
			"small": {2, 1}, "medium": {0.6, 1}, "large": {0.1, 2},
		} {
			s, jobs := got[user], c.rate*last
			// The number of jobs is almost Poisson, and sums of exponential sizes are normal: beyond 5
			// standard deviations with probability 6e-7; the seed is fixed.
			if math.Abs(s.jobs-jobs) > 5*math.Sqrt(jobs) {
				t.Errorf("%s: %v jobs of %s, want %v", shape, s.jobs, user, jobs)
			}
			mean := s.work / s.jobs
			off := math.Abs(mean - c.mean)
			if shape == "deterministic" && off > 1e-12 || off > 5*c.mean/math.Sqrt(s.jobs) {
				t.Errorf("%s: mean size %v of %s, want %v", shape, mean, user, c.mean)
			}
		}
	}
	text := run("--sample 500 --policy fcfs --by user")
	for _, want := range []string{
		"500 jobs of gangs.yaml, drawn at random (seed 1); ", "\n16 workers of speed 1\n", "\nuser    jobs  ",
		"\nsmall   ",
		"\nrequested times: run times x 1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// With service: one, a job needs one worker, so tasks run together under all policies: fcfs, easy
// and edf without deadlines start the same jobs at the same times.
func TestDispatchClassesOfOneServer(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "one.yaml", "service: one\nservers: [{name: s, count: 3, capacity: 1}]\n"+
		"classes: [{name: a, arrival_rate: 2, servers: [s]}, {name: b, arrival_rate: 0.5, servers: [s], "+
		"mean_size: 1.5}]\n")
	stdout, stderr, status := runDispatch("", strings.Fields("dispatch one.yaml --policy fcfs,easy,edf "+
		"--deadline-factor 0 --sample 2000 --format json")...)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	list := commandtest.ParseJSON(t, stdout)["policies"].([]any)
	first := list[0].(map[string]any)
	if first["workers"] != 3.0 || first["task_count"] != 2000.0 {
		t.Errorf("%v", first)
	}
	for _, other := range list[1:] {
		got := other.(map[string]any)
		if diff := cmp.Diff(first["waiting"], got["waiting"], afterSums); diff != "" {
			t.Errorf("%v: %s", got["policy"], diff)
		}
	}
}

// Each of several samples is drawn with its own seed, and 10,000 jobs are drawn by default.
func TestDispatchClassesSamples(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "gangs.yaml", threeGangs)
	policy := func(args string) map[string]any {
		t.Helper()
		args = "dispatch gangs.yaml --policy easy --format json " + args
		stdout, stderr, status := runDispatch("", strings.Fields(args)...)
		if status != 0 || stderr != "" {
			t.Fatalf("%s: status %d, %s", args, status, stderr)
		}
		return commandtest.ParseJSON(t, stdout)["policies"].([]any)[0].(map[string]any)
	}
	got := policy("")
	if got["job_count"] != 1e4 || got["seed"] != 1.0 || got["requests"] != "1" || got["workers"] != 16.0 {
		t.Errorf("%v", got)
	}
	sum := 0.0
	for seed := range 3 {
		sum += policy(fmt.Sprint("--sample 300 --seed ", 7+seed))["waiting"].(map[string]any)["mean"].(float64)
	}
	mean := policy("--sample 300 --seed 7 --samples 3")["waiting"].(map[string]any)["mean"].(map[string]any)["mean"]
	if diff := cmp.Diff(sum/3, mean, afterSums); diff != "" {
		t.Error(diff)
	}
}

func TestDispatchClassesBadUsage(t *testing.T) {
	fiveJobs(t)
	commandtest.WriteFile(t, "gangs.yaml", threeGangs)
	commandtest.WriteFile(t, "two.yaml", gangsOfTwo)
	commandtest.WriteFile(t, "all.yml", "servers: [{name: s, capacity: 3}]\n"+
		"classes: [{name: a, arrival_rate: 1, servers: [s]}]\n")
	one := func(name, server, class string) {
		commandtest.WriteFile(t, name, "service: one\nservers: [{name: s, count: 2, capacity: "+server+"}]\n"+
			"classes: [{name: a, arrival_rate: 1, servers: "+class+"}]\n")
	}
	one("fast.yaml", "2", "[s]")
	one("part.yaml", "1", "[{group: s, choose: 1}]")
	one("give.yaml", "1", "[s], mean_patience: 3")
	commandtest.WriteFile(t, "idle.yaml", "service: one\nservers: [{name: s, capacity: 1}]\n"+
		"classes: [{name: a, arrival_rate: 0, servers: [s]}]\n")
	for args, want := range map[string]string{
		"two.yaml":  "two.yaml: servers = 2: want one row of servers, which are the workers",
		"all.yml":   "all.yml: service = \"all\": want gang or one",
		"fast.yaml": "fast.yaml: servers[0].capacity = 2: want 1, the speed of the workers",
		"part.yaml": "part.yaml: classes[0].servers = 1: want all 2 servers, " +
			"since any worker runs any job",
		"give.yaml":                        "give.yaml: classes[0].mean_patience = 3: want none: jobs never give up",
		"idle.yaml":                        "idle.yaml: classes = arrival rates that are all 0: want a class with an ",
		"gone.yaml":                        "gone.yaml: no such file or directory",
		"gangs.yaml --zone UTC":            "--zone needs a log, not a file of job classes",
		"gangs.yaml --columns id=a":        "--columns needs a log, not a file of job classes",
		"gangs.yaml --by account":          "--by = account: want a field that gangs.yaml has: user",
		"gangs.yaml --sizes cubic":         "--sizes = cubic: want ",
		"gangs.yaml --sample 10000001":     "--sample = 10000001: want at most 10000000 jobs drawn from classes",
		"gangs.yaml --samples 2 --by user": "--by and --samples cannot be combined: --by is about one run",
		"gangs.yaml --samples 2 --drop-large": "--drop-large and --samples cannot be combined for jobs drawn from " +
			"classes: their numbers differ",
		"five.swf --workers 6 --sizes exponential": "--sizes needs job classes in a file in YAML: a log has run times",
	} {
		stdout, stderr, status := runDispatch("", append([]string{"dispatch"}, strings.Fields(args)...)...)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, "pfq: "+want) {
			t.Errorf("%s: status %d, %q, %q, want %q", args, status, stdout, stderr, want)
		}
	}
}
