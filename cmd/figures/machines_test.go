package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"productform/internal/cli"
	"productform/plots"
	"productform/sim"
	"productform/sweep"
)

// sameFiles compares the files of two folders byte for byte.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	names := files(t, a)
	if !slices.Equal(names, files(t, b)) || len(names) < 3 {
		t.Errorf("files %v and %v", names, files(t, b))
	}
	for _, name := range names {
		x, errA := os.ReadFile(filepath.Join(a, name))
		y, errB := os.ReadFile(filepath.Join(b, name))
		if errA != nil || errB != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs: %v, %v", name, errA, errB)
		}
	}
}

// kept returns the names of all files below a folder, with their modification times.
func kept(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	names, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = info.ModTime().String()
	}
	return all
}

// Figures match those of a single process if their runs were simulated in parts, or if they were
// listed, served and put into the folder.
func TestSharedRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"--only", "bf", "--precision", "draft", "--format", "csv,html"}
	run := func(more ...string) (stdout string) {
		t.Helper()
		status, stdout, stderr := figures(t.Context(), append(args, more...)...)
		if part := slices.Index(more, "--part"); part >= 0 {
			var total, found int
			if _, err := fmt.Sscanf(stderr, "figures: part "+more[part+1]+
				": %d runs, %d of them found\n", &total, &found); err != nil || total == 0 || stdout != "" {
				t.Errorf("%q, %q, %v", stdout, stderr, err)
			}
			stderr = ""
		}
		if status != 0 || stderr != "" {
			t.Fatalf("%q: status %d, %s", more, status, stderr)
		}
		return stdout
	}
	run("-o", "one", "--results", "of-one")

	for _, k := range []string{"2/3", "0/3", "2/3", "1/3"} {
		run("-o", "many", "--results", "of-many", "--part", k)
	}
	if got := files(t, "."); !slices.Equal(got, []string{"of-many", "of-one", "one"}) {
		t.Errorf("parts left %v", got)
	}
	before := kept(t, "of-many")
	run("-o", "many", "--results", "of-many")
	if after := kept(t, "of-many"); len(before) != len(kept(t, "of-one")) || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%d runs by parts, %d in the end, %d of one process", len(before), len(after), len(kept(t, "of-one")))
	}
	sameFiles(t, "one", "many")

	var keys strings.Builder
	for _, text := range skipFingerprint(t, run("--tasks", "list", "--results", "of-put")) {
		var task cli.Task
		if err := json.Unmarshal(text, &task); err != nil || !(task.Cost > 0) {
			t.Fatalf("%s: %v", text, err)
		}
		keys.WriteString(task.Key + "\n")
	}
	var out, errs bytes.Buffer
	if status := runWith(t, keys.String(), append(args, "--tasks", "serve"), &out, &errs); status != 0 ||
		errs.Len() > 0 {
		t.Fatalf("status %d, %s", status, &errs)
	}
	for _, text := range skipFingerprint(t, out.String()) {
		a, err := cli.ParseAnswer(text)
		if err == nil {
			err = sweep.Put[sim.Sample]("of-put", a.Key, a.Result)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if missing := skipFingerprint(t, run("--tasks", "list", "--results", "of-put")); len(missing) != 0 {
		t.Errorf("%d runs are missing", len(missing))
	}
	run("-o", "put", "--results", "of-put")
	sameFiles(t, "one", "put")

	// Without --results the output folder holds the results.
	run("-o", "plain", "--part", "0/1")
	if len(kept(t, "plain/results")) != len(before) {
		t.Errorf("%d runs are kept with the figures", len(kept(t, "plain/results")))
	}
}

func runWith(t *testing.T, stdin string, args []string, stdout, stderr *bytes.Buffer) int {
	return run(t.Context(), args, strings.NewReader(stdin), stdout, stderr, small(), plots.Settings{
		Runs:  10,
		Jumps: 20000,
	})
}

// skipFingerprint returns the lines after the fingerprint.
func skipFingerprint(t *testing.T, text string) (lines [][]byte) {
	t.Helper()
	all := bufio.NewScanner(strings.NewReader(text))
	var f cli.Fingerprint
	if !all.Scan() || json.Unmarshal(all.Bytes(), &f) != nil || f != cli.FingerprintOf() {
		t.Fatalf("fingerprint %q", all.Text())
	}
	for all.Scan() {
		lines = append(lines, bytes.Clone(all.Bytes()))
	}
	return lines
}
