package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command has a page, with the tables of its help, and no other file is written.
func TestMan(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man1")
	if stdout, stderr, status := pfq("", "man", folder); stdout != "" || stderr != "" || status != 0 {
		t.Fatalf("%q, %q, %d", stdout, stderr, status)
	}
	for _, c := range newRoot().Commands() {
		if !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		page, err := os.ReadFile(filepath.Join(folder, "pfq-"+c.Name()+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(page), ".SH NAME") ||
			!strings.Contains(string(page), strings.ReplaceAll(c.Short, "-", `\-`)[:20]) {
			t.Errorf("the page of %s: %.200s", c.Name(), page)
		}
	}
	page, err := os.ReadFile(filepath.Join(folder, "pfq-stability.1"))
	if err != nil || !strings.Contains(string(page), `margin               smallest`) {
		t.Errorf("a table is missing: %v", err)
	}
	if _, stderr, status := pfq("", "man"); status != 2 || stderr == "" {
		t.Errorf("no folder: %q, %d", stderr, status)
	}
}
