package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/commandtest"
)

// The examples of every help text are run: a line "$ pfq ..." may have pipes and end in "> FILE",
// and its output is the lines up to an empty line or the next $.
func TestHelpExamples(t *testing.T) {
	t.Chdir(t.TempDir())
	var commands []*cobra.Command
	root := newRoot()
	for _, c := range append(root.Commands(), root) {
		if c.Runnable() || c == root {
			commands = append(commands, c)
		}
		if c.Name() == "plot" {
			commands = append(commands, c.Commands()...)
		}
	}
	for _, c := range commands {
		if c.Name() != "version" && c.Name() != "live" && c.Example == "" {
			t.Errorf("help of %s has no example", c.Name())
		}
		var command string
		var want []string
		check := func() {
			if command == "" {
				return
			}
			expected := strings.TrimRight(strings.Join(want, "\n"), "\n")
			if expected != "" {
				expected += "\n"
			}
			if got := shell(t, command); got != expected {
				t.Errorf("help of %s: $ %s\n%s", c.Name(), command, cmp.Diff(expected, got))
			}
			command, want = "", nil
		}
		for line := range strings.SplitSeq(c.Example, "\n") {
			line = strings.TrimPrefix(line, "  ")
			if next, ok := strings.CutPrefix(line, "$ "); ok {
				check()
				command = next
			} else {
				want = append(want, line)
			}
		}
		check()
	}
}

// shell runs "pfq a | pfq b > file".
func shell(t *testing.T, line string) string {
	t.Helper()
	line, file, redirected := strings.Cut(line, " > ")
	var data string
	for command := range strings.SplitSeq(line, " | ") {
		words := strings.Fields(command)
		if words[0] != "pfq" {
			t.Fatalf("no pfq in %q", line)
		}
		stdout, stderr, status := pfq(data, words[1:]...)
		if status == 2 {
			t.Fatalf("%s: %s", command, stderr)
		}
		data = stdout
	}
	if redirected {
		commandtest.WriteFile(t, file, data)
		return ""
	}
	return data
}
