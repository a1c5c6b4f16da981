package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Buffers, files, pipes and devices such as /dev/null are not terminals.
func TestIsTerminalRejectsOthers(t *testing.T) {
	if IsTerminal(&bytes.Buffer{}) {
		t.Error("a buffer counts as a terminal")
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	defer to.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, f := range []*os.File{file, to, null} {
		if IsTerminal(f) {
			t.Errorf("%s is a terminal", f.Name())
		}
	}
}
