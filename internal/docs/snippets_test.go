package docs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"productform/bf"
	"productform/cluster"
	"productform/internal/docs"
)

// root is the directory of the module.
const root = "../.."

// texts returns the files whose blocks are run.
func texts(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/guide/*.md", "examples/*/README.md"} {
		more, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: %v, %v", pattern, more, err)
		}
		files = append(files, more...)
	}
	return files
}

// Each block that shows a file is written to an empty directory, and each command of a console
// block runs there, followed by the commands that start with ./pfq in the text and its tables. The
// files that an example has for clusters work.
func TestSnippets(t *testing.T) {
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -ldflags=-w") // linking takes a third less without debug tables
	programs := t.TempDir()
	for _, file := range texts(t) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newShell(t, programs)
			for _, b := range docs.Blocks(string(text)) {
				language, name, named := strings.Cut(b.Info, " ")
				switch {
				case b.Info == "console live": // the tests of live/cmd/pfq-live run it
				case language == "console":
					for _, c := range b.Commands() {
						s.check(file, c, name)
					}
				case named:
					s.write(name, b.Text)
				default:
					t.Errorf("%s:%d: a block of %q is neither a file nor run", file, b.Line, b.Info)
				}
			}
			for _, at := range inlineCommand.FindAllSubmatchIndex(text, -1) {
				line := 1 + strings.Count(string(text[:at[0]]), "\n")
				s.check(file, docs.Command{Line: line, Text: string(text[at[2]:at[3]]), Output: "..."}, "")
			}
		})
	}
	t.Run("examples/cluster", func(t *testing.T) { testClusterFiles(t, newShell(t, programs).build("./cmd/pfq")) })
}

// inlineCommand matches a command within a text, which works after the blocks.
var inlineCommand = regexp.MustCompile("`(\\./pfq [^`\n]+)`")

// A shell runs commands in its own directory, as if that were a clone of the module: "go run ./x"
// runs the program of the module or, if there is none, of the directory, and pfq is the program of
// the module.
type shell struct {
	t        *testing.T
	clone    string
	folder   string
	programs string // directory of the programs of the module, shared by the texts
}

func newShell(t *testing.T, programs string) *shell {
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return &shell{t, clone, t.TempDir(), programs}
}

func (s *shell) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// check compares the standard output of a command with the text. In a block of kind "no" the exit
// status must be 1; a block of kind "module" runs in a separate module of the reader.
func (s *shell) check(file string, c docs.Command, kind string) {
	s.t.Helper()
	if c.Text == "go test ./..." || s.runByExample(file, c.Text) || s.runByFigures(file, c.Text) {
		return // the first runs this test
	}
	words, flags := strings.Fields(c.Text), ""
	var cmd *exec.Cmd
	switch {
	case c.Text == "go build -o pfq ./cmd/pfq":
		s.build("./cmd/pfq")
		return
	case words[0] == "pfq" || words[0] == "./pfq":
		cmd = exec.Command(s.build("./cmd/pfq"), words[1:]...)
		cmd.Dir = s.folder
	case words[0] == "python3":
		if _, err := exec.LookPath("python3"); err != nil {
			s.t.Logf("%s:%d: not run, as python3 is not installed", file, c.Line)
			return
		}
		s.copyBeside(file)
		cmd = exec.Command("python3", words[1:]...)
		cmd.Dir = s.folder
	case words[0] == "awk": // its command line may redirect its output
		cmd = exec.Command("sh", "-c", c.Text)
		cmd.Dir = s.folder
	case kind == "module":
		// The clone keeps its own path, and the flags are those of these tests, so the packages
		// that they compiled can be reused.
		for i, w := range words {
			words[i] = strings.Replace(w, "../productform", s.clone, 1)
		}
		cmd = exec.Command(words[0], words[1:]...)
		cmd.Dir = filepath.Join(s.folder, "mine")
		flags = os.Getenv("GOFLAGS")
	case len(words) > 2 && words[0] == "go" && words[1] == "run":
		cmd = exec.Command(s.build(words[2]), words[3:]...)
		cmd.Dir = s.folder
	default:
		s.t.Errorf("%s:%d: no way to run %q", file, c.Line, c.Text)
		return
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "GOFLAGS="+flags, "GOWORK=", "PFQ="+s.build("./cmd/pfq"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if kind == "no" && errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		s.t.Errorf("%s:%d: %s: %v\n%s", file, c.Line, c.Text, err, stderr.String())
	}
	if got := string(out); !docs.Matches(c.Output, got) {
		s.t.Errorf("%s:%d: %s\n%s", file, c.Line, c.Text, cmp.Diff(strings.TrimSpace(c.Output), strings.TrimSpace(got)))
	}
}

// copyBeside copies the scripts and models from the directory of a text.
func (s *shell) copyBeside(file string) {
	s.t.Helper()
	for _, pattern := range []string{"*.py", "*.yaml"} {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(file), pattern))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				s.t.Fatal(err)
			}
			s.write(filepath.Base(name), string(text))
		}
	}
}

// runByExample reports whether a command is the program next to the text, whose own test runs it
// and compares its output.
func (s *shell) runByExample(file, command string) bool {
	s.t.Helper()
	folder := filepath.Dir(file)
	if command != "go run ./examples/"+filepath.Base(folder) || filepath.Base(filepath.Dir(folder)) != "examples" {
		return false
	}
	test, err := os.ReadFile(filepath.Join(folder, "main_test.go"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Contains(string(test), fmt.Sprintf("docs.CheckOutput(\"README.md\", %q, run)", command))
}

// runByFigures reports whether a command draws all figures, as the test of cmd/figures does.
func (s *shell) runByFigures(file, command string) bool {
	s.t.Helper()
	test, err := os.ReadFile(filepath.Join(root, "cmd/figures/command_test.go"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Contains(string(test), fmt.Sprintf("docs.Output(\"../../%s\", %q)", filepath.Base(file), command))
}

// build returns the program of a directory, built once.
func (s *shell) build(folder string) string {
	s.t.Helper()
	program, source := filepath.Join(s.programs, filepath.Base(folder)+".exe"), folder
	if _, err := os.Stat(filepath.Join(s.clone, folder)); err != nil {
		program, source = filepath.Join(s.folder, folder, "program.exe"), filepath.Join(s.folder, folder, "main.go")
	}
	if _, err := os.Stat(program); err == nil {
		return program
	}
	cmd := exec.Command("go", "build", "-o", program, source)
	cmd.Dir = s.clone
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return program
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a\nb\n", "a\nb", true},
		{"a\n...\nd", "a\nb\nc\nd\n", true},
		{"a\n...\nd", "a\nb\nc\n", false},
		{"...\nb\n...\n", "a\nb\nc\n", true},
		{"a.c", "abc", false},
		{"", "a", false},
	} {
		if docs.Matches(c.want, c.got) != c.ok {
			t.Errorf("%q, %q: not %v", c.want, c.got, c.ok)
		}
	}
}

// Links between the texts lead to existing files and headings.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	headings := map[string][]string{}
	for _, file := range texts(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		headings[filepath.Clean(file)] = anchors(string(text))
	}
	for _, file := range texts(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target := file
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", file, err)
			} else if m[2] != "" && !slices.Contains(headings[filepath.Clean(target)], m[2]) {
				t.Errorf("%s: %s has no heading %s", file, target, m[2])
			}
		}
	}
}

// anchors returns the anchors of the headings of a text: in lower case, without punctuation, with
// hyphens for spaces.
func anchors(text string) []string {
	var all []string
	code := false
	for line := range strings.Lines(text) {
		code = code != strings.HasPrefix(line, "```")
		if !code && strings.HasPrefix(line, "#") {
			heading := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
			all = append(all, "#"+strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
					return r
				}
				return -1
			}, heading))
		}
	}
	return all
}

// The index of the guide links to all its pages, which have at most 800 words, and the README has
// at most 150 lines.
func TestIndex(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(root, "docs", "guide", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "guide", "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/guide/README.md does not link to %s", name)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if words := len(strings.Fields(string(text))); words > 800 && filepath.Base(page) != "formats.md" {
			t.Errorf("%s has %d words, want at most 800", page, words)
		}
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(readme), "\n"); lines > 150 {
		t.Errorf("README.md has %d lines, want at most 150", lines)
	}
}

// pfq solve works for every model of the examples; its own tests solve the models of pfq.
func TestSolveModels(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "examples/*/model.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		m, err := cluster.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bf.Solve(t.Context(), m, bf.Settings{}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
