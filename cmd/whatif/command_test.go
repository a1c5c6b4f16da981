package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Invalid input is rejected before anything is built, with one line that names it.
func TestBadUsage(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("servers:\n  - {name: a, capacity: -1}\nclasses: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(plan, []byte("model: shop.yaml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{bad}, "bad.yaml:2: servers[0].capacity = -1: want a number >= 0"},
		{[]string{filepath.Join(dir, "none.yaml")}, "none.yaml: no such file"},
		{[]string{"a", "b"}, "at most 1 arg"},
		{[]string{"--port", "0"}, "--port = 0: want an integer in 1..65535"},
		{[]string{"--output", "a.html", "--folder", "b"}, "--folder = b: want no such flag with --output"},
		{[]string{"--folder", "b", "--port", "8000"}, "--port = 8000: want no such flag with --output or --folder"},
		{[]string{plan}, "plan.yaml:1: model = a string \"shop.yaml\": want one of the fields servers, classes, " +
			"mean_size, service, mean_patience, patience, mean_timeout; the page takes clusters, the models of pfq " +
			"solve"},
		{[]string{bad, "--output", bad}, "--output"},
	} {
		var out, errs bytes.Buffer
		if status := run(t.Context(), c.args, strings.NewReader(""), &out, &errs); status != 2 || out.Len() > 0 ||
			!strings.Contains(errs.String(), c.want) ||
			strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: status %d, %q, %q, want %q", c.args, status, out.String(), errs.String(), c.want)
		}
	}
}

// A model is read from a file or from the standard input. The default is the example of the README.
func TestReadStart(t *testing.T) {
	if first, err := readStart("-", strings.NewReader(example)); err != nil || first.Text != example ||
		first.Name != "standard input" {
		t.Errorf("%+v, %v", first, err)
	}
	if first, err := readStart("", nil); err != nil || first.Name != "shop.yaml" {
		t.Errorf("%+v, %v", first, err)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```yaml shop.yaml\n"+example+"```") {
		t.Error("the example differs from the README")
	}
}

// A site is written completely, and the names of its files are printed.
func TestWriteFolder(t *testing.T) {
	made, err := manyFiles(solver{wasm: []byte("x")}, start{})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "site")
	var out bytes.Buffer
	if err := writeFolder(made, dir, &out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		text, err := os.ReadFile(strings.TrimSpace(line))
		if err != nil || !bytes.Equal(text, made[filepath.Base(strings.TrimSpace(line))]) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if strings.Count(out.String(), "\n") != len(made) {
		t.Errorf("%d files: %s", len(made), out.String())
	}
}
