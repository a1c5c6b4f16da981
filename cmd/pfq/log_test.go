package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"productform/cmd/pfq/internal/commandtest"
	"productform/dispatch/swf"
)

// sacctLog is a log of three days with accounts, a step, a job of unknown waiting time and one that
// never started.
const sacctLog = "JobID|User|Account|Partition|Submit|Start|End|Elapsed|AllocCPUS|State\n" +
	"71|ann|phys|long|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T20:00:00|12:00:00|8|COMPLETED\n" +
	"71.batch||phys||2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T20:00:00|12:00:00|8|COMPLETED\n" +
	"72|bob|a name of more than 16 characters|short|2026-03-02T08:30:00|2026-03-02T20:00:00|2026-03-02T20:00:05|" +
	"00:00:05|2|FAILED\n" +
	"73|ann|phys|long|2026-03-03T23:59:59|2026-03-04T00:00:00|2026-03-04T06:00:00|06:00:00|16|CANCELLED by 1\n" +
	"74|ann|phys|long|2026-03-04T09:00:00|Unknown|Unknown|00:00:00|0|PENDING\n" +
	"75||phys|long|2026-03-04T10:00:00|2026-03-04T09:00:00|2026-03-04T11:00:00|02:00:00|1|COMPLETED\n"

// Lines of text have at most 100 columns.
func TestLogText(t *testing.T) {
	const want = `4 jobs of standard input; 2 users
180000 s (2.08333 days) from the first submission to the last
16 processors (the peak in use; --workers W gives another number)
offered load 0.242503: work submitted, over what they can do from the first submission to the last
carried load 0.240003: work done in that time
index of dispersion of arrivals (Poisson: 1): 0.999 by minute, 1.639 by hour, 0.333 by day
squared coefficients of variation (exponential: 1): gaps 0.993, run times 0.84, work 0.959
waiting time unknown for 1 job

                                   waiting, s                   bounded slowdown
                     jobs work %    mean    p50    p95    p99     mean    p50    p95    p99
all                     4          13800      1  41400  41400     1381      1   4140   4140

partition            jobs work %    mean    p50    p95    p99     mean    p50    p95    p99
long                    3  100.0     0.5      0      1      1        1      1      1      1
short                   1    0.0   41400  41400  41400  41400     4140   4140   4140   4140

account              jobs work %    mean    p50    p95    p99     mean    p50    p95    p99
phys                    3  100.0     0.5      0      1      1        1      1      1      1
a name of more …        1    0.0   41400  41400  41400  41400     4140   4140   4140   4140

user                 jobs work %    mean    p50    p95    p99     mean    p50    p95    p99
ann                     2   99.0     0.5      0      1      1        1      1      1      1
unknown                 1    1.0       -      -      -      -        -      -      -      -
bob                     1    0.0   41400  41400  41400  41400     4140   4140   4140   4140

size                 jobs work %    mean    p50    p95    p99     mean    p50    p95    p99
1                       1    1.0       -      -      -      -        -      -      -      -
2                       1    0.0   41400  41400  41400  41400     4140   4140   4140   4140
5-8                     1   49.5       0      0      0      0        1      1      1      1
9-16                    1   49.5       1      1      1      1        1      1      1      1

submissions by hour and weekday (zone UTC)
`
	stdout, stderr, status := pfq(sacctLog, "log", "-")
	const days = "\n    Mon    Tue    Wed    Thu    Fri    Sat    Sun\n" +
		"      2      1      1      0      0      0      0\n"
	if status != 0 || !strings.HasPrefix(stdout, want) || !strings.HasSuffix(stdout, days) {
		t.Errorf("status %d, %s, %s", status, stderr, stdout)
	}
	for _, line := range []string{
		"steps of jobs are omitted: 1 record, the first in line 3",
		"jobs that never started are omitted: 1 record, the first in line 6",
		"jobs start before their submission; their waiting time is unknown: 1 record, the first in line 7",
	} {
		if !strings.Contains(stderr, "pfq: standard input: "+line+"\n") {
			t.Errorf("standard error %q lacks %q", stderr, line)
		}
	}
	sdsc, _, _ := pfq("", "log", "SDSC-Par-1996")
	for line := range strings.Lines(stdout + sdsc) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 100 {
			t.Errorf("long line %q", line)
		}
	}
}

// --to converts: SWF to CSV and back is the identity, and CSV keeps names and accounts.
func TestLogConverts(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(args string) string {
		t.Helper()
		stdout, stderr, status := pfq("", strings.Fields(args)...)
		if status != 0 {
			t.Fatalf("%s: status %d, %s", args, status, stderr)
		}
		return stdout
	}
	run("log SDSC-Par-1996 --to swf -o a.swf")
	run("log a.swf --to csv -o a.csv")
	first, err := os.ReadFile("a.swf")
	if err != nil {
		t.Fatal(err)
	}
	if again := run("log a.csv --to swf"); again != string(first) {
		t.Errorf("%d bytes became %d", len(first), len(again))
	}
	log, err := swf.ReadAll(strings.NewReader(string(first)), "a.swf")
	if err != nil || len(log.Jobs) != 32135 || len(log.Header) != 64 {
		t.Errorf("%d jobs, %d comments, error %v", len(log.Jobs), len(log.Header), err)
	}
	if a, b := run("log a.csv --format json"), run("log SDSC-Par-1996 --format json"); a != b {
		t.Error("the answers differ")
	}
	late := "; a\n1 0 -1 10 4 -1 -1 -1 -1 -1 1 5 -1 -1 -1 -1 -1 -1\n; b\n"
	commandtest.WriteFile(t, "late.swf", late)
	if got := run("log late.swf --to csv"); !strings.HasPrefix(got, "; a\n; b\nid,submit,") {
		t.Errorf("converted %q", got)
	}
	commandtest.WriteFile(t, "log.txt", sacctLog)
	csv := run("log log.txt --to csv")
	commandtest.WriteFile(t, "log.csv", csv)
	if a, b := run("log log.csv --format csv"), run("log log.txt --format csv"); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	// Times in seconds keep their zone.
	commandtest.WriteFile(t, "log.csv", run("log log.txt --to csv --zone Asia/Tokyo"))
	if a, b := run("log log.csv --format json"), run("log log.txt --zone Asia/Tokyo --format json"); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	const account = ",a name of more than 16 characters"
	if lines := strings.Split(csv, "\n"); len(lines) != 6 || !strings.HasSuffix(lines[2], account) {
		t.Errorf("converted %q", csv)
	}
}

// If a model is too large for pfq solve, a note gives the reason that pfq solve gives.
func TestLogModelTooLarge(t *testing.T) {
	t.Chdir(t.TempDir())
	_, note, status := pfq("", "log", "SDSC-Par-1996", "--model", "m.yaml")
	_, refusal, _ := pfq("", "solve", "m.yaml")
	reason, isNote := strings.CutPrefix(note, "pfq: note: pfq solve rejects m.yaml: ")
	reason, _, _ = strings.Cut(reason, "; fewer classes")
	if status != 0 || !isNote || refusal != "pfq: m.yaml: "+reason+"\n" {
		t.Errorf("status %d, %q, %q", status, note, refusal)
	}
}

// -o draws the processors in use, and bad usage is named.
func TestLogPictureAndUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "log.txt", sacctLog)
	for _, name := range []string{"a.svg", "a.pdf", "a.PNG"} {
		if stdout, stderr, status := pfq("", "log", "log.txt", "-o", name); status != 0 || stdout != "" {
			t.Fatalf("%s: status %d, %s", name, status, stderr)
		}
		picture, err := os.ReadFile(name)
		if err != nil || !slices.ContainsFunc([]string{"<?xml", "%PDF", "\x89PNG"}, func(start string) bool {
			return strings.HasPrefix(string(picture), start)
		}) {
			t.Errorf("%s: %.20q, error %v", name, picture, err)
		}
	}
	commandtest.WriteFile(t, "none.csv", "submit,run_time,cpus\n1,2,3\n")
	commandtest.WriteFile(t, "bad.csv", "submit,cpus\n1,3\n")
	commandtest.WriteFile(t, "one.csv", "submit,run_time,cpus\n1,2,3\n4,5,\n")
	commandtest.WriteFile(t, "two.csv", "submit,run_time,cpus\n1,2,3\n,5,6\n4,,6\n")
	commandtest.WriteFile(t, "narrow.csv", "id,submit,run_time\n1,0,5\n2,40,3\n")
	commandtest.WriteFile(t, "still.json", `{"job":1,"when":3,"elapsed":5,"nodes":2}`)
	commandtest.WriteFile(t, "ms.csv", "submit,run_time,cpus\n253402300799,2,3\n1772441910000,2,3\n")
	commandtest.WriteFile(t, "ms.swf", "1 1772441910000 0 2 3 -1 -1 3 -1 -1 1 3 1 -1 1 -1 -1 -1\n")
	const wantMilliseconds = ": jobs are submitted after the year 9999; times count as seconds, not as milliseconds: " +
		"1 record, the first in line "
	const wantCPUs = "pfq: narrow.csv: columns = id,submit,run_time: want a column of processors; " +
		"--columns cpus=NAME names it\n"
	const wantSubmit = "pfq: still.json: columns = job,when,elapsed,nodes: want a column of submissions; " +
		"--columns submit=NAME names it\n"
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"log narrow.csv --workers 3", wantCPUs, 2},
		{"dispatch narrow.csv --workers 3 --policy fcfs", wantCPUs, 2},
		{"log narrow.csv --to csv", strings.Replace(wantCPUs, "pfq", "pfq: warning", 1), 0},
		{"log ms.csv", "pfq: ms.csv" + wantMilliseconds + "3\n", 0},
		{"log ms.swf", "pfq: ms.swf" + wantMilliseconds + "1\n", 0},
		{"log still.json", wantSubmit, 2},
		{"log still.json --columns submit=when", "pfq: still.json: processors are the nodes", 0},
		{"log none.csv -o a.svg",
			"pfq: there is nothing to draw: no job has a known waiting time and a run time > 0\n", 1},
		{"log log.txt -o a.svg --format json",
			"pfq: --output = a.svg: want a name for text, JSON or CSV, or no --format, for a picture\n", 2},
		{"log log.txt -o a.svg --to csv", "pfq: --output = a.svg: want a name for a log\n", 2},
		{"log log.txt -o a.gif",
			"pfq: --output = a.gif: want a name for text, JSON or CSV, " +
				"or a picture with the end .png, .svg or .pdf\n", 2},
		{"log log.txt -o a.pngg",
			"pfq: --output = a.pngg: want a name for text, JSON or CSV, " +
				"or a picture with the end .png, .svg or .pdf\n", 2},
		{"log log.txt --to xml", "pfq: --to = xml: want swf or csv\n", 2},
		{"log log.txt --to csv --format json",
			"pfq: --format and --to cannot be combined: --to writes the log only\n", 2},
		{"log bad.csv", "pfq: bad.csv:1: columns = submit,cpus: want a column of run ", 2},
		{"log one.csv",
			"pfq: warning: one.csv: 1 job without submission, run time or processors is omitted\n", 0},
		{"log two.csv",
			"pfq: warning: two.csv: 2 jobs without submission, run time or processors are omitted\n", 0},
		{"log missing", "pfq: missing: no such file or directory; the built-in logs are: SDSC-Par-1996\n", 2},
	} {
		_, stderr, status := pfq("", strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %s", c.args, status, stderr)
		}
	}
}

// --model writes a model that other commands read, with how well it describes each class.
func TestLogModel(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "log.txt", sacctLog)
	stdout, stderr, status := pfq("", strings.Fields("log log.txt --workers 16 --model m.yaml --by account")...)
	const want = `4 jobs of log.txt in 4 classes; the model is in m.yaml
16 processors (that of --workers), load 0.242503; service: gang

class                        jobs  needs  size, s load %  SCV of   gaps  distance by chance  waiting
a name of more than 16 …        1      2        5    0.0       0      -     0.632         -    41400
phys/1                          1      1     7200    0.2       0      -     0.632         -        -
phys/8                          1      8    43200   12.0       0      -     0.632         -        0
phys/16                         1     16    21600   12.0       0      -     0.632         -        1
`
	if status != 0 || strings.Contains(stderr, "note") || !strings.HasPrefix(stdout, want) {
		t.Errorf("status %d, %s, %s", status, stderr, stdout)
	}
	text, err := os.ReadFile("m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const file = `# 4 jobs of log.txt in 2.08333 days, as classes by account, written by pfq log.
# The number of cpus is that of --workers.
# Arrivals are per second, sizes are in seconds. The squared coefficients of variation (SCV) of sizes
# and of the times between arrivals (gaps) are 1 if the model is right.
service: gang
servers:
  - {name: cpus, count: 16}
classes:
  # 1 job of 2 processors, SCV of sizes 0, distance from exponential 0.632, mean waiting 41400 s
  - {name: "a name of more than 16 characters", arrival_rate: 1/180000, needs: {cpus: 2}, mean_size: 5}
`
	if !strings.HasPrefix(string(text), file) {
		t.Errorf("model %s", text)
	}
	commandtest.WriteFile(t, "plan.yaml", "model: m.yaml\ntargets: [{mean_waiting: 1e6}]\n"+
		"upgrades: [{server: cpus, count: 1, cost: 1}]\n")
	for _, args := range []string{"stability m.yaml", "solve m.yaml", "simulate m.yaml --runs 2 --jumps 1000",
		"dispatch m.yaml --policy fcfs --sample 100", "plan plan.yaml"} {
		if stdout, stderr, status := pfq("", strings.Fields(args)...); status != 0 {
			t.Errorf("%s: status %d, %s, %s", args, status, stderr, stdout)
		}
	}
	commandtest.WriteFile(t, "one.csv", "submit,run_time,cpus,queue\n0,5,1,a\n7,3,1,b\n9,0,1,b\n9,1,2,b\n20,9,1,a\n")
	stdout, stderr, status = pfq("", strings.Fields("log one.csv --workers 1 --model one.yaml --by queue")...)
	if status != 0 || !strings.Contains(stdout, "3 jobs of one.csv in 2 classes; the model is in one.yaml\n"+
		"1 processor (that of --workers), load 0.85; service: one\n1 job of run time 0 left out\n"+
		"1 job of more processors left out\n") {
		t.Errorf("status %d, %s, %s", status, stderr, stdout)
	}
	if stdout, stderr, status := pfq("", "stability", "one.yaml"); status != 0 {
		t.Errorf("status %d, %s, %s", status, stderr, stdout)
	}
	for args, want := range map[string]string{
		"log log.txt --by user":                "--by needs --model FILE, whose classes it selects",
		"log log.txt --model -":                "--model = -: want the name of a file",
		"log log.txt --model mm.png":           "--model = mm.png: want a name with the end .yaml or .yml",
		"log log.txt --model log.txt":          "--model = log.txt: want a file other than the one that is read",
		"log log.txt --model a.yaml -o a.yaml": "--model = a.yaml: want a file other than that of --output",
		"log log.txt --model a.yaml --to csv":  "--model and --to cannot be combined: --to writes the log only",
		"log log.txt --model a.yaml -o a.svg": "want a name for text, JSON or CSV, or no --model, for a " +
			"picture",
		"log one.csv --model a.yaml": "--workers = 0: want an integer in 1..1000000: the log " +
			"has neither",
		"log one.csv --workers 1 --model a --by user": "pfq: --by = user: want one of queue, size, which the log has",
		"log log.txt --model a.yaml --by place": "--by = place: want size, partition, queue, account, " +
			"group or user",
	} {
		if _, stderr, status := pfq("", strings.Fields(args)...); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s", args, status, stderr)
		}
	}
}
