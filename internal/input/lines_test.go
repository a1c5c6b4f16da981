package input_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"productform/internal/input"
)

func TestNext(t *testing.T) {
	r := input.NewReader(strings.NewReader("\ufeffa\r\n\n b\r\r\nc"), "f")
	for i, want := range []string{"a", "", " b", "c"} {
		line, err := r.Next()
		if err != nil || string(line) != want || r.Line() != i+1 {
			t.Errorf("line %d: %q, error %v, want %q", r.Line(), line, err, want)
		}
	}
	if line, err := r.Next(); err != io.EOF || line != nil {
		t.Errorf("after the end: %q, error %v", line, err)
	}
}

// A line has up to 65535 bytes, however it ends.
func TestLongLines(t *testing.T) {
	for _, end := range []string{"", "\n", "\nx"} {
		longest := strings.Repeat("7", input.Longest)
		if line, err := input.NewReader(strings.NewReader(longest+end), "f").Next(); err != nil ||
			string(line) != longest {
			t.Errorf("%q: %d bytes, error %v", end, len(line), err)
		}
		_, err := input.NewReader(strings.NewReader(longest+"7"+end), "f").Next()
		want := input.Error{
			File:  "f",
			Line:  1,
			Value: strings.Repeat("7", 57) + "...",
			Want:  "a line of at most 65535 bytes",
		}
		if bad := (*input.Error)(nil); !errors.As(err, &bad) || *bad != want {
			t.Errorf("%q: error %v, want %v", end, err, &want)
		}
	}
}

// An error of the file as a whole names no line.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := input.NewReader(f, "folder").Next(); err == nil || err.Error() != "folder: is a directory" {
		t.Errorf("error %v", err)
	}
}
