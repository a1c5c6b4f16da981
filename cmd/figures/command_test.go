package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"productform/internal/docs"
	"productform/plots"
	"productform/sweep"
)

// progressLines may appear on a slow machine.
var progressLines = regexp.MustCompile(`(?m)^figures: [0-9]+ of [0-9]+ (runs simulated|files drawn).*\n`)

// figures runs the command with little simulation and returns its exit status and what it wrote, progress apart.
func figures(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	return figuresAt(ctx, plots.Settings{Runs: 4, Jumps: 2000}, args...)
}

func figuresAt(ctx context.Context, s plots.Settings, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(ctx, args, &out, &err, s)
	return status, out.String(), progressLines.ReplaceAllString(err.String(), "")
}

// files returns the names of the files in a folder, sorted; none if there is no folder.
func files(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// The default run writes every figure in every format, the page and the checks, and lists them.
func TestDefaultRun(t *testing.T) {
	shown, err := docs.Output("../../README.md", "go run ./cmd/figures --precision draft")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	status, stdout, stderr := figures(t.Context(), "--precision", "draft")
	if status != 0 || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var want []string
	for _, id := range catalogueIDs() {
		for _, ext := range []string{"png", "svg", "pdf", "csv"} {
			want = append(want, filepath.Join("figures-out", id+"."+ext))
		}
	}
	want = append(want, filepath.Join("figures-out", "index.html"), filepath.Join("figures-out", "checks.json"))
	if diff := cmp.Diff(want, strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")); diff != "" {
		t.Errorf("standard output (-want +got):\n%s", diff)
	}
	if !docs.Matches(shown, stdout) {
		t.Errorf("README.md shows other output: %s", shown)
	}
	if got := files(t, "figures-out"); len(got) != len(want)+1 || !slices.Contains(got, "results") {
		t.Errorf("%d files, want %d and the results: %v", len(got), len(want), got)
	}
	for _, path := range want {
		if info, err := os.Stat(path); err != nil || info.Size() < 1000 || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	b, err := os.ReadFile(filepath.Join("figures-out", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var checks []plots.Check
	if err := json.Unmarshal(b, &checks); err != nil || len(checks) == 0 {
		t.Fatalf("%d checks, %v", len(checks), err)
	}
	for _, c := range checks {
		if c.Solver != nil && !c.OK() {
			t.Errorf("check fails: %+v", c)
		}
	}
}

// The files do not depend on the number of jobs, nor on what stood there before.
func TestChosenFiguresAndFormats(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "new", "folder"), t.TempDir()
	if err := os.WriteFile(filepath.Join(b, "bf-6.csv"), []byte(strings.Repeat("old", 1e5)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--only", "bf-6,bf-5", "--formats", "csv,html,csv", "--precision=draft", "--results", t.TempDir(), "--out"}
	for folder, jobs := range map[string]string{a: "1", b: "7"} {
		if status, _, stderr := figures(t.Context(), append(args, folder, "--jobs", jobs)...); status != 0 {
			t.Fatalf("status %d: %s", status, stderr)
		}
		if got := files(t, folder); !slices.Equal(got, []string{"bf-5.csv", "bf-6.csv", "checks.json", "index.html"}) {
			t.Errorf("files %v", got)
		}
	}
	for _, name := range files(t, a) {
		x, errA := os.ReadFile(filepath.Join(a, name))
		y, errB := os.ReadFile(filepath.Join(b, name))
		if errA != nil || errB != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs with the number of jobs: %v, %v", name, errA, errB)
		}
	}
}

func TestListAndCheckWriteNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	status, stdout, stderr := figures(t.Context(), "--list")
	if want := "bf-1\tTwo classes sharing three equal servers\n"; status != 0 || stderr != "" || !strings.HasPrefix(stdout, want) || strings.Count(stdout, "\n") != len(catalogue()) {
		t.Errorf("--list: %d %q %q", status, stdout, stderr)
	}
	// A draft of the figure that takes least.
	status, stdout, stderr = figuresAt(t.Context(), plots.Settings{}, "--check", "--only", "bf-6", "--precision", "draft")
	table, summary, _ := strings.Cut(stdout, "\n\n")
	lines := strings.Split(table, "\n")
	if status != 0 || stderr != "" || len(lines) != 1+3*3 { // three simulations whose exact answer is known
		t.Errorf("--check: %d %q %q", status, stdout, stderr)
	}
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "bf-6") || !strings.HasSuffix(line, "yes") {
			t.Errorf("--check: %q", line)
		}
	}
	if !strings.HasPrefix(summary, "simulated numbers: 9 from 3 simulations\n") || !strings.HasSuffix(summary, "  agrees, which asks for no |z| > 5: yes\n") {
		t.Errorf("--check: %q", summary)
	}
	if got := files(t, "."); got != nil {
		t.Errorf("files %v", got)
	}
}

// What cannot be printed is an error, not silence.
func TestFullOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range []string{"--list", "--help", "--only tags-3 --formats csv", "--only tags-3 --check"} {
		var said bytes.Buffer
		if status := run(t.Context(), strings.Fields(args), full, &said, plots.Settings{}); status != 2 || !strings.HasSuffix(said.String(), "no space left on device\n") {
			t.Errorf("%s: status %d, %q", args, status, &said)
		}
	}
}

// A second run with the same results simulates nothing and writes the same; another seed gives other figures.
func TestResults(t *testing.T) {
	t.Chdir(t.TempDir())
	read := func(folder string) string {
		b, err := os.ReadFile(filepath.Join(folder, "bf-6.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, args := range [][]string{{"--out", "a"}, {"--out", "b", "--results", "a/results"}, {"--out", "c", "--seed", "2"}} {
		args = append(args, "--only", "bf-6", "--precision", "draft", "--formats", "csv")
		if status, _, stderr := figures(t.Context(), args...); status != 0 {
			t.Fatalf("%q: status %d, %s", args, status, stderr)
		}
	}
	if got := files(t, "b"); !slices.Equal(got, []string{"bf-6.csv", "checks.json"}) {
		t.Errorf("files %v", got)
	}
	if read("a") != read("b") || read("a") == read("c") {
		t.Error("figures do not depend on the seed alone")
	}
}

// What fails decides the status: a number, all numbers together, a claim.
func TestWhatFails(t *testing.T) {
	shifted := func(n int) []plots.Check {
		var rows []plots.Check
		for k := range n {
			z, name := 2.0, fmt.Sprint(k)
			rows = append(rows, plots.Check{Exact: 1, Simulated: &z, HalfWidth: &z, Z: &z, Simulation: &name})
		}
		return rows
	}
	for _, c := range []struct {
		figure  plots.Figure
		want    string
		printed string
	}{
		{plots.Figure{Checks: shifted(50)}, "figures: a check failed: the simulated numbers together\n", "agrees, which asks for no |z| > 5 and p >= 1e-06: no\n"},
		{plots.Figure{Claims: []plots.Claim{{Verdict: plots.Refuted}, {Verdict: plots.Open}}}, "figures: a check failed: 1 of 2 claims\n", ""},
		{plots.Figure{Claims: []plots.Claim{{Verdict: plots.Refuted, Finding: true}}}, "", ""},
		{plots.Figure{Checks: shifted(3), Claims: []plots.Claim{{Verdict: plots.Open}}}, "", "agrees, which asks for no |z| > 5: yes\n"},
	} {
		var out, errs bytes.Buffer
		status := report(printChecks(&out, []*plots.Figure{&c.figure}), &errs)
		if errs.String() != c.want || (status == 1) != (c.want != "") || !strings.Contains(out.String(), c.printed) {
			t.Errorf("status %d, %q, want %q; printed %q", status, errs.String(), c.want, out.String())
		}
	}
}

func TestFailedCheckIsStatus1(t *testing.T) {
	solver, tolerance := 2.1, 1e-9
	var out, errs bytes.Buffer
	err := printChecks(&out, []*plots.Figure{{Checks: []plots.Check{{Figure: "x", Quantity: "q", Exact: 2}, {Figure: "x", Quantity: "r", Exact: 2, Solver: &solver, Tolerance: &tolerance}}}})
	if status := report(err, &errs); status != 1 || errs.String() != "figures: a check failed: 1 of 2\n" || !strings.Contains(out.String(), "no\n") {
		t.Errorf("status %d, %q, %q", status, out.String(), errs.String())
	}
}

// Bad usage: one line that names the value and what is accepted, status 2, and nothing written.
func TestBadUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("taken", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--only", "bf-9"}, "--only = bf-9: want bf-1, bf-2, bf-3, bf-4, bf-5, bf-6, tags-3, tags-4, tags-6, tags-7, tags-8, tags-9, tags-10, tags-12, tags-13, tags-14, tags-15, tags-16, tags-17, fluid-1, fluid-2, fluid-3, fluid-4, fluid-5, fluid-6, dispatch-1, dispatch-2, dispatch-3, dispatch-4, dispatch-5, dispatch-6 or dispatch-7"},
		{[]string{"--only", "bf-1,,"}, "--only is missing: want bf-1, bf-2, bf-3, bf-4, bf-5, bf-6, tags-3, tags-4, tags-6, tags-7, tags-8, tags-9, tags-10, tags-12, tags-13, tags-14, tags-15, tags-16, tags-17, fluid-1, fluid-2, fluid-3, fluid-4, fluid-5, fluid-6, dispatch-1, dispatch-2, dispatch-3, dispatch-4, dispatch-5, dispatch-6 or dispatch-7"},
		{[]string{"--list", "--only", "BF1"}, "--only = BF1: want bf-1, bf-2, bf-3, bf-4, bf-5, bf-6, tags-3, tags-4, tags-6, tags-7, tags-8, tags-9, tags-10, tags-12, tags-13, tags-14, tags-15, tags-16, tags-17, fluid-1, fluid-2, fluid-3, fluid-4, fluid-5, fluid-6, dispatch-1, dispatch-2, dispatch-3, dispatch-4, dispatch-5, dispatch-6 or dispatch-7; did you mean bf-1?"},
		{[]string{"--formats", "png,gif"}, "--formats = gif: want png, svg, pdf, csv or html"},
		{[]string{"--formats", ""}, "--formats is missing: want png, svg, pdf, csv or html"},
		{[]string{"--precision", "best"}, "--precision = best: want draft, normal or paper"},
		{[]string{"--jobs", "0"}, "--jobs = 0: want an integer in 1..10000"},
		{[]string{"--jobs", "two"}, "--jobs = two: want an integer in 1..10000"},
		{[]string{"--seed", "-1"}, "--seed = -1: want an integer in 0..18446744073709551615"},
		{[]string{"--results", ""}, "--results is missing: want a folder"},
		{[]string{"--list", "--results", "x"}, "--list and --results exclude each other"},
		{[]string{"--precision", "draft", "--only", "bf-6", "--results", "taken", "--check"}, "folder of results: mkdir taken: not a directory"},
		{[]string{"--list=perhaps"}, "--list = perhaps: want true or false"},
		{[]string{"--list", "--check"}, "--list and --check exclude each other"},
		{[]string{"--check", "--out", "x"}, "--check and --out exclude each other"},
		{[]string{"--list", "--formats", "png"}, "--list and --formats exclude each other"},
		{[]string{"--cheque"}, "unknown flag: --cheque"},
		{[]string{"--precison", "draft"}, "unknown flag: --precison; did you mean --precision?"},
		{[]string{"completion", "foo"}, `unknown command "foo" for "figures completion"`},
		{[]string{"help", "foo"}, `unknown command "help" for "figures"`},
		{[]string{"--out", ""}, "--out is missing: want a folder"},
		{[]string{"--colour"}, "unknown flag: --colour"},
		{[]string{"bf-1"}, `unknown command "bf-1" for "figures"`},
		{[]string{"--precision", "draft", "--out", "taken"}, "mkdir taken: not a directory"},
	} {
		status, stdout, stderr := figures(t.Context(), c.args...)
		if status != 2 || stdout != "" || stderr != "figures: "+c.want+"\n" {
			t.Errorf("%q: status %d, standard output %q, standard error %q, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	if got := files(t, "."); !slices.Equal(got, []string{"taken"}) {
		t.Errorf("files %v", got)
	}
}

func TestInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if status, stdout, stderr := figures(ctx, "--check"); status != 130 || stdout != "" || stderr != "figures: interrupted\n" {
		t.Errorf("status %d, standard output %q, standard error %q", status, stdout, stderr)
	}
	if got := files(t, "."); got != nil {
		t.Errorf("files %v", got)
	}
}

// Interrupted in the middle, the command ends soon, and what was simulated by then is found again.
func TestInterruptedMidway(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var out, errs bytes.Buffer
	start := time.Now()
	status := run(ctx, []string{"--precision", "paper"}, &out, &errs, plots.Settings{})
	if status == 0 || out.Len() > 0 {
		t.Errorf("status %d, standard output %q", status, out.String())
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v to stop", took)
	}
	if got := files(t, "figures-out"); len(got) > 1 || len(got) == 1 && got[0] != "results" {
		t.Errorf("files %v", got)
	}
}

func TestTimeLeft(t *testing.T) {
	for want, p := range map[string]sweep.Progress{
		"runs simulated":            {},
		"runs simulated, 1m2s left": {LeftKnown: true, Left: 62*time.Second + time.Millisecond},
	} {
		if got := timeLeft(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestHelp(t *testing.T) {
	status, stdout, stderr := figures(t.Context(), "--help")
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %q", status, stderr)
	}
	for _, flag := range []string{"--out", "--only", "--precision", "--seed", "--results", "--formats", "--jobs", "--list", "--check"} {
		if !strings.Contains(stdout, flag) {
			t.Errorf("the help lacks %s", flag)
		}
	}
	// The examples in the help run, but for the one that draws all figures, which TestDefaultRun does.
	t.Chdir(t.TempDir())
	for line := range strings.Lines(command(plots.Settings{}).Example) {
		if strings.TrimSpace(line) == "figures --precision draft" {
			continue
		}
		if status, _, stderr := figures(t.Context(), strings.Fields(line)[1:]...); status > 1 { // 1: so little simulation may fail a check
			t.Errorf("%q: status %d, %s", strings.TrimSpace(line), status, stderr)
		}
	}
}
