package keys_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"productform/live/keys"
)

// The security page lists exactly the rights of workers, clients and monitors, and the tests that
// it names exist.
func TestRightsMatchPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, r := range keys.Rights() {
		if r.Role != keys.Manager {
			want[fmt.Sprintf("| %s | %s | `%s` | %s |", r.Role, r.Verb, r.Subject, r.For)] = true
		}
	}
	for line := range strings.Lines(string(page)) {
		for _, r := range keys.Roles() {
			if strings.HasPrefix(line, "| "+string(r)+" | ") && strings.Count(line, "|") == 5 {
				if !want[strings.TrimSpace(line)] {
					t.Errorf("not a right: %s", line)
				}
				delete(want, strings.TrimSpace(line))
			}
		}
	}
	tests := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(page), -1)
	if len(tests) < 10 {
		t.Errorf("only %d tests are named", len(tests))
	}
	var code strings.Builder
	for _, dir := range []string{"../server", "../wire", "../manager", "../book"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
	}
	for _, name := range tests {
		if !strings.Contains(code.String(), "func "+name[1]+"(") {
			t.Errorf("no test %s", name[1])
		}
	}
	for line := range want {
		t.Errorf("missing: %s", line)
	}
}
