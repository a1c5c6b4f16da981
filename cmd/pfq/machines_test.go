package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/cli"
	"productform/sim"
	"productform/sweep"
)

// A shared is a command line whose runs machines share, with the number of its runs.
type shared struct {
	line, stdin string
	runs        int
}

const twoFlows = `{"resources": [{"name": "cpu", "capacity": 2}], "jobs": [{"name": "a", "demand": {"cpu": 1}, ` +
	`"arrival_rate": 1}]}`

var sharedLines = []shared{
	{"simulate - --runs 9 --jumps 2000", oneServer, 9},
	{"simulate - --runs 5 --jumps 2000 --scale 0.5,1,1.1", oneServer, 15},
	{"simulate - --runs 9 --jumps 2000 --percentiles 5,50,90 --sizes lognormal:2", oneServer, 9},
	{"simulate - --runs 5 --jumps 2000 --scale 0.5,100", oneServer, 5},
	{"simulate - --runs 40 --jumps 2000 --precision 1e-9 --seed 7", oneServer, 40},
	{"tags --hosts 2 --load 0.5 --sizes exponential --mean 1 --objective waiting --runs 3 --jumps 2000 " +
		"--percentiles 10,50", "", 3 * 7},
	{"allocate - --dynamic --runs 4 --jumps 2000 --percentiles 10,50", twoFlows, 4},
	{"tags --hosts 2 --load 0.5 --sizes exponential --mean 1 --objective waiting --runs 3 --jumps 2000 " +
		"--scale 0.9,1", "", 3 * 7 * 2},
	{"allocate - --dynamic --runs 4 --jumps 2000 --scale 0.5,1", twoFlows, 8},
}

var speed = regexp.MustCompile(`"jumps_per_second": [0-9.e+]+`)

// answer returns the answer of one process without a folder. Its speed is set to null, as if all
// runs had been found.
func (s shared) answer(t *testing.T) string {
	t.Helper()
	stdout, stderr, status := pfq(s.stdin, strings.Fields(s.line+" --format json")...)
	if status == 2 {
		t.Fatalf("%s: %s", s.line, stderr)
	}
	return speed.ReplaceAllString(stdout, `"jumps_per_second": null`)
}

// check compares the answer of a folder, which must contain all runs, with that of one process.
func (s shared) check(t *testing.T, folder, want string) {
	t.Helper()
	before := commandtest.Kept(t, folder)
	if len(before) != s.runs {
		t.Errorf("%s: %d runs are kept, want %d", s.line, len(before), s.runs)
	}
	got, _, _ := pfq(s.stdin, strings.Fields(s.line+" --format json --results "+folder)...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: (-one process, +many)\n%s", s.line, diff)
	}
	if diff := cmp.Diff(before, commandtest.Kept(t, folder)); diff != "" {
		t.Errorf("%s: runs were repeated: %s", s.line, diff)
	}
}

// Parts, run in any order and some of them twice, print nothing. The answer then equals that of one
// process.
func TestParts(t *testing.T) {
	for _, s := range sharedLines {
		want := s.answer(t)
		folder := filepath.Join(t.TempDir(), "new")
		const n = 4
		found := 0
		for _, k := range append(rand.Perm(n), 0, n-1) {
			stdout, stderr, status := pfq(s.stdin, append(
				strings.Fields(s.line), "--results", folder, "--part", fmt.Sprintf("%d/%d", k, n), "--format", "csv",
			)...)
			said := commandtest.ProgressLines.ReplaceAllString(stderr, "")
			_, said, _ = strings.Cut("\n"+said, "\npfq: part ")
			var part, of, total, again int
			if _, err := fmt.Sscanf(said, "%d/%d: %d runs, %d of them found", &part, &of, &total, &again); err != nil ||
				part != k || of != n || status != 0 || stdout != "" {
				t.Fatalf("%s: part %d: status %d, %q, %q, %v", s.line, k, status, stdout, stderr, err)
			}
			if want := (s.runs - k + n - 1) / n; total != want {
				t.Errorf("%s: part %d has %d runs, want %d", s.line, k, total, want)
			}
			found += again
		}
		if want := (s.runs+n-1)/n + s.runs/n; found != want {
			t.Errorf("%s: %d runs were found by parts that ran twice, want %d", s.line, found, want)
		}
		s.check(t, folder, want)
	}
}

// A killed part leaves only complete runs; when restarted it does the others.
func TestKilledPart(t *testing.T) {
	if args := os.Getenv("PFQ_TEST_PART"); args != "" {
		os.Exit(command.Run(program(), strings.Fields(args), strings.NewReader(oneServer), os.Stdout, os.Stderr))
	}
	s := shared{"simulate - --runs 60 --jumps 30000", oneServer, 60}
	folder := t.TempDir()
	part := func(k int) *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledPart$")
		c.Env = append(os.Environ(), "PFQ_TEST_PART="+s.line+" --parallel 1 --results "+folder+
			fmt.Sprintf(" --part %d/2", k))
		return c
	}
	killed := part(0)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for kept := 0; kept < 2; time.Sleep(time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(folder, "*", "*.json"))
		kept = len(files)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	for _, k := range []int{1, 0} {
		if out, err := part(k).CombinedOutput(); err != nil {
			t.Fatalf("part %d: %v, %s", k, err, out)
		}
	}
	for path := range commandtest.Kept(t, folder) {
		if strings.HasSuffix(path, ".tmp") { // the killed process may have left one
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.check(t, folder, s.answer(t))
}

// Runs of a processor that rounds differently, for example without fused multiply-add, are not
// mixed with runs of this one: the answer has the digits of one process.
func TestOtherProcessor(t *testing.T) {
	if args := os.Getenv("PFQ_TEST_OTHER"); args != "" {
		os.Exit(command.Run(program(), strings.Fields(args), strings.NewReader(oneServer), os.Stdout, os.Stderr))
	}
	if runtime.GOARCH != "amd64" {
		return // this processor has no such features to turn off
	}
	s := shared{"simulate - --runs 4 --jumps 2000 --sizes lognormal:4", oneServer, 8}
	folder := t.TempDir()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOtherProcessor$")
	c.Env = append(os.Environ(), "GODEBUG=cpu.all=off", "PFQ_TEST_OTHER="+s.line+" --part 0/1 --results "+folder)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	if _, stderr, status := pfq(s.stdin, strings.Fields(s.line+" --part 0/1 --results "+folder)...); status != 0 ||
		!strings.HasSuffix(stderr, ": 4 runs, 0 of them found\n") {
		t.Errorf("status %d, %s", status, stderr)
	}
	s.check(t, folder, s.answer(t))
}

// tasksLines runs the command with --tasks and returns the lines after the fingerprint.
func (s shared) tasksLines(t *testing.T, stdin string, args ...string) (lines [][]byte) {
	t.Helper()
	stdout, stderr, status := pfq(stdin, append(strings.Fields(s.line), args...)...)
	if status != 0 {
		t.Fatalf("%s %q: status %d, %s", s.line, args, status, stderr)
	}
	all := bufio.NewScanner(strings.NewReader(stdout))
	all.Buffer(nil, 1<<24)
	var f cli.Fingerprint
	if !all.Scan() || json.Unmarshal(all.Bytes(), &f) != nil || f != cli.FingerprintOf() {
		t.Fatalf("%s: fingerprint %q", s.line, all.Text())
	}
	for all.Scan() {
		lines = append(lines, bytes.Clone(all.Bytes()))
	}
	return lines
}

// Two serving processes do the listed runs in reverse order, and their results are put into the
// folder until no run is missing. The answer then equals that of one process. With a precision
// there are several lists.
func TestTasks(t *testing.T) {
	for _, s := range sharedLines {
		want := s.answer(t)
		folder := t.TempDir()
		file := filepath.Join(t.TempDir(), "model")
		commandtest.WriteFile(t, file, s.stdin)
		s.line = strings.Replace(s.line, " - ", " "+file+" ", 1)
		for lists := 0; ; lists++ {
			listed := s.tasksLines(t, "", "--results", folder, "--tasks", "list")
			if len(listed) == 0 {
				break
			}
			if lists > 0 && !strings.Contains(s.line, "precision") {
				t.Fatalf("%s: %d runs are missing", s.line, len(listed))
			}
			var keys [2]string
			for i, text := range listed {
				var task cli.Task
				if err := json.Unmarshal(text, &task); err != nil || !(task.Cost > 0) {
					t.Fatalf("%s: %s, %v", s.line, text, err)
				}
				keys[i%2] = task.Key + "\n" + keys[i%2]
			}
			for _, asked := range keys {
				served := s.tasksLines(t, asked, "--tasks", "serve", "--parallel", "3")
				if len(served) != strings.Count(asked, "\n") {
					t.Errorf("%s: %d answers to %d keys", s.line, len(served), strings.Count(asked, "\n"))
				}
				for _, text := range served {
					a, err := cli.ParseAnswer(text)
					if err == nil {
						err = sweep.Put[sim.Sample](folder, a.Key, a.Result)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		s.check(t, folder, want)
	}
}

// An invalid key of a run is answered with an error, and the others still run.
func TestServeUnknown(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model")
	commandtest.WriteFile(t, model, oneServer)
	s := shared{line: "simulate " + model + " --runs 2 --jumps 2000"}
	var task cli.Task
	if err := json.Unmarshal(s.tasksLines(t, "", "--tasks", "list")[1], &task); err != nil {
		t.Fatal(err)
	}
	served := s.tasksLines(t, strings.Repeat("0", 64)+"\n\nkey\n"+task.Key, "--tasks", "serve", "--parallel", "1")
	for i, want := range []string{
		"no run of this command has this key", "no run of this command has this key",
		"no run of this command has this key", "",
	} {
		if a, err := cli.ParseAnswer(served[i]); err != nil || a.Error != want {
			t.Errorf("%s: %v", served[i], err)
		}
	}
	if _, stderr, status := pfq(strings.Repeat("x", 1e5), strings.Fields(s.line+" --tasks serve")...); status != 2 ||
		stderr != "pfq: keys on the standard input: bufio.Scanner: token too long\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// The flags that share runs accept these values.
func TestSharingRefused(t *testing.T) {
	const wanted = "want K/N with N in 1..1000000 and K in 0..N-1, such as 0/4 to 3/4"
	for _, c := range []struct{ flags, want string }{
		{"--part 4/4", "--part = 4/4: " + wanted},
		{"--part -1/4", "--part = -1/4: " + wanted},
		{"--part +1/4", "--part = +1/4: " + wanted},
		{"--part 1", "--part = 1: " + wanted},
		{"--part 1/", "--part = 1/: " + wanted},
		{"--part /4", "--part = /4: " + wanted},
		{"--part 0/0", "--part = 0/0: " + wanted},
		{"--part 0/1000001", "--part = 0/1000001: " + wanted},
		{"--part 0/4/4", "--part = 0/4/4: " + wanted},
		{"--part 0/99999999999999999999", "--part = 0/99999999999999999999: " + wanted},
		{"--part 0/4", "--results is missing: want a folder with --part, in which this part and the others leave " +
			"their runs for the command that answers"},
		{"--part 0/4 --results x --tasks list", "--part and --tasks cannot be combined"},
		{"--tasks run", "--tasks = run: want list or serve"},
		{
			"--tasks serve --results x",
			"--tasks serve and --results cannot be combined: results go to the standard output",
		},
		{"--tasks serve", "standard input: --tasks serve reads keys from the standard input: want the name of a file " +
			"for what else is read, not -"},
	} {
		stdout, stderr, status := pfq(oneServer, strings.Fields("simulate - "+c.flags)...)
		if status != 2 || stdout != "" || stderr != "pfq: "+c.want+"\n" {
			t.Errorf("%s: status %d, %q, %q", c.flags, status, stdout, stderr)
		}
	}
	for _, line := range []string{"tags --hosts 2 --load 0.5 --sizes exponential --mean 1", "allocate - --dynamic"} {
		for _, flag := range []string{"part 0/2", "tasks list"} {
			name, _, _ := strings.Cut(flag, " ")
			if _, stderr, status := pfq(twoFlows, strings.Fields(line+" --"+flag)...); status != 2 ||
				stderr != "pfq: --"+name+" needs --runs\n" {
				t.Errorf("%s --%s: status %d, %q", line, flag, status, stderr)
			}
		}
	}
}
