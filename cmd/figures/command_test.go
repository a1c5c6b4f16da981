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

// figures runs the command on the small catalogue, with little simulation, and returns its exit
// status and its output without progress lines.
func figures(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	return figuresOf(ctx, small(), args...)
}

func figuresOf(ctx context.Context, all []plots.Spec, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(ctx, args, strings.NewReader(""), &out, &err, all, plots.Settings{Runs: 10, Jumps: 20000})
	return status, out.String(), progressLines.ReplaceAllString(err.String(), "")
}

// files returns the names of the files in a folder, sorted, or none if the folder does not exist.
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
	for _, id := range []string{"bf-1", "bf-6", "tags-6", "tags-7"} {
		for _, ext := range []string{"png", "svg", "pdf", "csv"} {
			want = append(want, filepath.Join("figures-out", id+"."+ext))
		}
	}
	for _, name := range []string{"claims.html", "checks.html", "index.html", "checks.json"} {
		want = append(want, filepath.Join("figures-out", name))
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")); diff != "" {
		t.Errorf("standard output (-want +got):\n%s", diff)
	}
	if !docs.Matches(shown, stdout) {
		t.Errorf("README.md shows different output: %s", shown)
	}
	if got := files(t, "figures-out"); len(got) != len(want)+1 || !slices.Contains(got, "results") {
		t.Errorf("%d files, want %d and the results: %v", len(got), len(want), got)
	}
	for _, path := range want {
		if info, err := os.Stat(path); err != nil || info.Size() < 50 || info.Mode().Perm() != 0o644 {
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
		if !c.OK() {
			t.Errorf("check fails: %+v", c)
		}
	}
}

// The files do not depend on the number of parallel tasks, nor on earlier contents.
func TestChosenFiguresAndFormats(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "new", "folder"), t.TempDir()
	if err := os.WriteFile(filepath.Join(b, "bf-6.csv"), []byte(strings.Repeat("old", 1e5)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--only", "bf", "--format", "csv,html", "--precision=draft", "--results", t.TempDir(), "--output",
	}
	for folder, parallel := range map[string]string{a: "1", b: "7"} {
		if status, _, stderr := figures(t.Context(), append(args, folder, "--parallel", parallel)...); status != 0 {
			t.Fatalf("status %d: %s", status, stderr)
		}
		want := []string{"bf-1.csv", "bf-6.csv", "checks.html", "checks.json", "claims.html", "index.html"}
		if got := files(t, folder); !slices.Equal(got, want) {
			t.Errorf("files %v", got)
		}
	}
	for _, name := range files(t, a) {
		x, errA := os.ReadFile(filepath.Join(a, name))
		y, errB := os.ReadFile(filepath.Join(b, name))
		if errA != nil || errB != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs with --parallel: %v, %v", name, errA, errB)
		}
	}
}

func TestListAndCheckWriteNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	status, stdout, stderr := figuresOf(t.Context(), catalogue(), "--list")
	if want := "bf-1\tTwo classes sharing three equal servers\n"; status != 0 || stderr != "" ||
		!strings.HasPrefix(stdout, want) || strings.Count(stdout, "\n") != 45 {
		t.Errorf("--list: %d %q %q", status, stdout, stderr)
	}
	status, stdout, stderr = figures(t.Context(), "--check", "--only", "bf-6", "--precision", "draft")
	table, summary, _ := strings.Cut(stdout, "\n\n")
	lines := strings.Split(table, "\n")
	if status != 0 ||
		stderr != "figures: all runs were simulated again; --results figures-out/results reuses the runs "+
			"kept there\n" ||
		len(lines) != 1+3 {
		t.Errorf("--check: %d %q %q", status, stdout, stderr)
	}
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "bf-6") || !strings.HasSuffix(line, "yes") {
			t.Errorf("--check: %q", line)
		}
	}
	if !strings.HasPrefix(summary, "simulated numbers: 3 from 3 simulations\n") ||
		!strings.HasSuffix(summary, "  agrees (no |z| > 5): yes\n") {
		t.Errorf("--check: %q", summary)
	}
	if got := files(t, "."); got != nil {
		t.Errorf("files %v", got)
	}
}

// A full name selects that figure. A prefix selects all figures whose names begin with it, each
// once, in the order of the catalogue.
func TestOnly(t *testing.T) {
	for only, want := range map[string]string{
		"tags-6": "tags-6",
		"tags": "tags-3 tags-4 tags-6 tags-7 tags-8 tags-9 tags-10 tags-12 tags-13 tags-14 tags-15 " +
			"tags-16 tags-17",
		"tags-1,bf-2,tags-12": "bf-2 tags-10 tags-12 tags-13 tags-14 tags-15 tags-16 tags-17", "fluid-1": "fluid-1",
	} {
		status, stdout, stderr := figuresOf(t.Context(), catalogue(), "--list", "--only", only)
		var ids []string
		for line := range strings.Lines(stdout) {
			id, _, _ := strings.Cut(line, "\t")
			ids = append(ids, id)
		}
		if got := strings.Join(ids, " "); status != 0 || got != want {
			t.Errorf("--only %s: status %d, %s, %q, want %s", only, status, stderr, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	if status, stdout, stderr := figures(t.Context(), "--version"); status != 0 || stderr != "" ||
		!strings.HasPrefix(stdout, "figures ") || !strings.Contains(stdout, " go1.") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

// A failure to print is an error, not silence.
func TestFullOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range []string{
		"--list", "--help", "--version", "--only tags-6 --format csv", "--only tags-6 --check",
	} {
		var said bytes.Buffer
		if status := run(
			t.Context(), strings.Fields(args), strings.NewReader(""), full, &said, small(), plots.Settings{},
		); status != 2 ||
			!strings.HasSuffix(said.String(), "no space left on device\n") {
			t.Errorf("%s: status %d, %q", args, status, &said)
		}
	}
}

// A second run with the same results simulates nothing and writes the same files; another seed
// gives different figures.
func TestResults(t *testing.T) {
	t.Chdir(t.TempDir())
	read := func(folder string) string {
		b, err := os.ReadFile(filepath.Join(folder, "bf-6.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, args := range [][]string{
		{"--output", "a"}, {"-o", "b", "--results", "a/results"}, {"-o", "c", "--seed", "2"},
	} {
		args = append(args, "--only", "bf-6", "--precision", "draft", "--format", "csv")
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

// The status is 1 if a single number, all numbers together or a claim fails.
func TestFailuresSetStatus(t *testing.T) {
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
		{
			plots.Figure{Checks: shifted(50)}, "figures: a check failed: the simulated numbers together\n",
			"agrees (no |z| > 5 and p >= 1e-06): no\n",
		},
		{
			plots.Figure{Claims: []plots.Claim{{Verdict: plots.Refuted}, {Verdict: plots.Open}}},
			"figures: a check failed: 1 of 2 claims\n", "",
		},
		{plots.Figure{Claims: []plots.Claim{{Verdict: plots.Refuted, Finding: true}}}, "", ""},
		{
			plots.Figure{Checks: shifted(3), Claims: []plots.Claim{{Verdict: plots.Open}}}, "",
			"agrees (no |z| > 5): yes\n",
		},
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
	err := printChecks(&out, []*plots.Figure{{Checks: []plots.Check{
		{Figure: "x", Quantity: "q", Exact: 2},
		{Figure: "x", Quantity: "r", Exact: 2, Solver: &solver, Tolerance: &tolerance},
	}}})
	if status := report(err, &errs); status != 1 || errs.String() != "figures: a check failed: 1 of 2\n" ||
		!strings.Contains(out.String(), "no\n") {
		t.Errorf("status %d, %q, %q", status, out.String(), errs.String())
	}
}

// Bad usage gives status 2 and one line that names the value and what is accepted; nothing is
// written.
func TestBadUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("taken", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--only", "bf-9"}, "--only = bf-9: want bf-1, bf-6, tags-6 or tags-7"},
		{[]string{"--only", "bf-1,,"}, "--only is missing: want bf-1, bf-6, tags-6 or tags-7"},
		{[]string{"--list", "--only", "BF1"}, "--only = BF1: want bf-1, bf-6, tags-6 or tags-7; did you mean bf-1?"},
		{[]string{"--format", "csv,html,csv"}, "--format[2] = csv: want each format once"},
		{[]string{"--format", "png,gif"}, "--format = gif: want png, svg, pdf, csv or html"},
		{[]string{"--format", ""}, "--format is missing: want png, svg, pdf, csv or html"},
		{[]string{"--precision", "best"}, "--precision = best: want draft, normal or paper"},
		{[]string{"--parallel", "0"}, "--parallel = 0: want an integer in 1..10000"},
		{[]string{"--parallel", "two"}, "--parallel = two: want an integer in 1..10000"},
		{[]string{"--seed", "-1"}, "--seed = -1: want an integer in 0..18446744073709551615"},
		{[]string{"--results", ""}, "--results is missing: want a folder"},
		{[]string{"--list", "--results", "x"}, "--list and --results cannot be combined"},
		{[]string{"--list", "--part", "0/2"}, "--list and --part cannot be combined"},
		{[]string{"--list", "--tasks", "list"}, "--list and --tasks cannot be combined"},
		{[]string{"--part", "0/2", "--tasks", "list"}, "--part and --tasks cannot be combined"},
		{[]string{"--part", "2/2"}, "--part = 2/2: want K/N with N in 1..1000000 and K in 0..N-1, such as 0/4 to 3/4"},
		{[]string{"--check", "--part", "0/2"}, "--results is missing: want a folder with --part, in which this part " +
			"and the others leave their runs for the command that answers"},
		{
			[]string{"--tasks", "serve", "--results", "x"},
			"--tasks serve and --results cannot be combined: results go to the standard output",
		},
		{[]string{"--tasks", "all"}, "--tasks = all: want list or serve"},
		{
			[]string{"--precision", "draft", "--only", "bf-6", "--results", "taken", "--check"},
			"folder of results: mkdir taken: not a directory",
		},
		{[]string{"--list=perhaps"}, "--list = perhaps: want true or false"},
		{[]string{"--list", "--check"}, "--list and --check cannot be combined"},
		{[]string{"--check", "--output", "x"}, "--check and --output cannot be combined"},
		{[]string{"--list", "--format", "png"}, "--list and --format cannot be combined"},
		{[]string{"--cheque"}, "unknown flag: --cheque"},
		{[]string{"--precison", "draft"}, "unknown flag: --precison; did you mean --precision?"},
		{
			[]string{"completion", "foo"},
			`unknown command "foo" for "figures completion"; figures completion --help lists them`,
		},
		{[]string{"help", "foo"}, `unknown command "help" for "figures"`},
		{[]string{"--output", ""}, "--output is missing: want a folder"},
		{[]string{"--out", "x"}, "unknown flag: --out; it is now --output"},
		{[]string{"--formats=png"}, "unknown flag: --formats; it is now --format"},
		{[]string{"--list", "--jobs", "2"}, "unknown flag: --jobs; it is now --parallel"},
		{[]string{"--colour"}, "unknown flag: --colour"},
		{[]string{"bf-1"}, `unknown command "bf-1" for "figures"`},
		{[]string{"--precision", "draft", "--output", "taken"},
			"--output = taken: want the name of a folder, new or not (not a directory)"},
	} {
		status, stdout, stderr := figures(t.Context(), c.args...)
		if status != 2 || stdout != "" || stderr != "figures: "+c.want+"\n" {
			t.Errorf("%q: status %d, standard output %q, standard error %q, want %q",
				c.args, status, stdout, stderr, c.want)
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
	if status, stdout, stderr := figures(ctx, "--check"); status != 130 || stdout != "" ||
		stderr != "figures: interrupted\n" {
		t.Errorf("status %d, standard output %q, standard error %q", status, stdout, stderr)
	}
	if got := files(t, "."); got != nil {
		t.Errorf("files %v", got)
	}
}

// If the command is interrupted midway, it writes no file, and a later run reuses the finished
// simulations.
func TestInterruptedMidway(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	status, stdout, stderr := figuresOf(ctx, []plots.Spec{queue("bf-1"), waiting(cancel)}, "--precision", "draft")
	if status != 130 || stdout != "" || stderr != "figures: interrupted\n" {
		t.Errorf("status %d, standard output %q, standard error %q", status, stdout, stderr)
	}
	if got := files(t, "figures-out"); !slices.Equal(got, []string{"results"}) {
		t.Errorf("files %v", got)
	}
	if got := files(t, filepath.Join("figures-out", "results")); got == nil {
		t.Error("no results were kept")
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
	for _, flag := range []string{
		"--output", "--only", "--precision", "--seed", "--results", "--format", "--parallel", "--part",
		"--tasks", "--list", "--check", "--version",
	} {
		if !strings.Contains(stdout, flag) {
			t.Errorf("the help lacks %s", flag)
		}
	}
	t.Chdir(t.TempDir())
	for line := range strings.Lines(command(small(), plots.Settings{}).Example) {
		if status, _, stderr := figures(t.Context(), strings.Fields(line)[1:]...); status != 0 {
			t.Errorf("%q: status %d, %s", strings.TrimSpace(line), status, stderr)
		}
	}
}
