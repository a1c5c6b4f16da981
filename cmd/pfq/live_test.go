package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"productform/cmd/pfq/internal/commandtest"
)

// Arguments, standard streams and exit status are passed to and from pfq-live.
func TestLive(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	if stdout, stderr, status := pfq("", "live", "serve"); status != 2 || stdout != "" ||
		!strings.Contains(stderr, "go install ./cmd/pfq-live") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("without pfq-live: status %d, %q, %q", status, stdout, stderr)
	}
	path := filepath.Join(folder, "pfq-live")
	commandtest.WriteFile(t, path, "#!/bin/sh\nread line\necho \"$line:$*\"\necho why >&2\nexit 3\n")
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := pfq("input\n", "live", "submit", "-", "--wait", "--help")
	if status != 3 || stdout != "input:submit - --wait --help\n" || stderr != "why\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}
