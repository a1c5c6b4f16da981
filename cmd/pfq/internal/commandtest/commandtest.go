// Package commandtest runs commands of pfq in tests.
package commandtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/input"
)

// A Program returns a new root command of pfq with the commands under test.
type Program func() *cobra.Command

// Run runs one command line in this process.
func (p Program) Run(stdin string, args ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	status = command.Run(p(), args, strings.NewReader(stdin), &out, &err)
	return out.String(), err.String(), status
}

// Example returns the text of an example of pfq, for tests in cmd/pfq and next to this folder.
func Example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("examples/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile("../../examples/" + name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// WriteFile writes a file.
func WriteFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ParseJSON reads an answer in JSON.
func ParseJSON(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

// JSON runs a command line that gives an answer without warnings, and reads the answer, in JSON.
func (p Program) JSON(t *testing.T, stdin, line string) map[string]any {
	t.Helper()
	stdout, stderr, status := p.Run(stdin, strings.Fields(line+" --format json")...)
	if status != 0 || ProgressLines.ReplaceAllString(stderr, "") != "" {
		t.Fatalf("pfq %s: status %d, %s", line, status, stderr)
	}
	return ParseJSON(t, stdout)
}

// Refusal runs a command line that is rejected for bad input: status 2, one line on the standard
// error, nothing on the standard output. It returns the differences.
func (p Program) Refusal(t *testing.T, stdin string, args ...string) input.Error {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := command.Execute(p(), args, strings.NewReader(stdin), &stdout, &stderr)
	stderr.Reset() // warnings
	code := command.Status(err, &stderr)
	var bad *input.Error
	if code != 2 || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 || !errors.As(err, &bad) {
		t.Errorf("pfq %s: status %d, stdout %q, stderr %q, %#v",
			strings.Join(args, " "), code, stdout.String(), stderr.String(), err)
		return input.Error{}
	}
	return *bad
}

// ProgressLines may appear on a slow machine.
var ProgressLines = regexp.MustCompile(`(?m)^pfq: ([0-9]+ of [0-9]+ (?:runs|jobs|sweeps).*|solving, [0-9]+ s.*)\n`)

// Kept returns the modification times of the files in a results folder.
func Kept(t *testing.T, folder string) map[string]time.Time {
	t.Helper()
	files := map[string]time.Time{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, err := d.Info()
			files[path] = info.ModTime()
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Rat parses a fraction in an answer.
func Rat(t *testing.T, v any) *big.Rat {
	t.Helper()
	text, ok := v.(string)
	r, good := new(big.Rat).SetString(text)
	if !ok || !good {
		t.Fatalf("%v is not an exact number", v)
	}
	return r
}

// Near checks that a number in an answer is within a relative tolerance of another.
func Near(t *testing.T, what string, got any, want, tolerance float64) {
	t.Helper()
	if v, ok := got.(float64); !ok || !(math.Abs(v-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %v, want %v to %v", what, got, want, tolerance)
	}
}

// Joint fails unless a verdict covers all values of z in the answer, except possibly those of
// skewed estimates.
func Joint(t *testing.T, verdict, answer any) {
	t.Helper()
	var z []float64
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if one, ok := v["z"].(float64); ok {
				z = append(z, one)
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(answer)
	j, ok := verdict.(map[string]any)
	if !ok {
		t.Errorf("verdict %v on %d values of z", verdict, len(z))
		return
	}
	n, leftOut, largest := j["comparisons"].(float64), j["left_out"].(float64), j["largest_z"].(float64)
	if all := float64(len(z)); !(n <= all && all <= n+leftOut) || !slices.Contains(z, largest) {
		t.Errorf("%v, values of z %v", j, z)
	}
	Near(t, "p value", j["p_value"], min(1, n*math.Erfc(math.Abs(largest)/math.Sqrt2)), 1e-9)
}
