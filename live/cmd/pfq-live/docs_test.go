package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"productform/internal/docs"
	"productform/internal/file"
)

// pages are the paths of the texts about the live system, relative to this folder.
var pages = []string{"../../../docs/guide/live.md", "../../../docs/live.md", "../../README.md"}

// The console examples in the texts run as shown on a test server, and print the same output up to
// times.
func TestDocumentedCommands(t *testing.T) {
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(page), func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			server, web := freeAddress(t), freeAddress(t)
			r := reader{
				t: t, ctx: limited(t, time.Minute), page: page, server: server, web: web,
				addresses: strings.NewReplacer(
					"cluster.example:4222", server, "0.0.0.0:4222", server, "127.0.0.1:4222", server,
					"127.0.0.1:9180", web,
				),
			}
			shown := false
			for _, b := range docs.Blocks(string(text)) {
				_, name, named := strings.Cut(b.Info, " ")
				switch {
				case b.Info == "console live":
					for _, c := range b.Commands() {
						r.run(c)
					}
					shown = true
				case named && strings.HasSuffix(name, ".yaml"):
					if err := os.WriteFile(name, []byte(b.Text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !shown {
				t.Error("no command is shown")
			}
		})
	}
}

// A reader runs the commands of a page, with its own addresses.
type reader struct {
	t           *testing.T
	ctx         context.Context
	page        string
	server, web string
	addresses   *strings.Replacer
	serve       *process
}

func (r *reader) run(c docs.Command) {
	r.t.Helper()
	words := strings.Fields(r.addresses.Replace(c.Text))
	want := r.addresses.Replace(c.Output)
	var got string
	switch {
	case words[0] == "curl" && len(words) == 2:
		got = r.fetch(words[1])
	case words[0] != "pfq-live" || len(words) < 2:
		r.t.Fatalf("%s:%d: cannot run %q", r.page, c.Line, c.Text)
	case words[1] == "serve" || words[1] == "worker":
		r.background(words[1:], want)
		return
	default:
		command, _, err := newRoot().Find(words[1:])
		if err != nil {
			r.t.Fatal(err)
		}
		args := words[1:]
		if command.Flags().Lookup("url") != nil && !strings.Contains(c.Text, "--url") {
			args = append(args, "--url", "nats://"+r.server)
		}
		status, out, errs := pfqLive("", args...)
		if status != 0 {
			r.t.Fatalf("%s:%d: %s: status %d: %s%s", r.page, c.Line, c.Text, status, out, errs)
		}
		got = out
	}
	if !docs.Matches(withoutTimes(want), withoutTimes(got)) {
		r.t.Errorf("%s:%d: %s prints\n%s\nnot\n%s", r.page, c.Line, c.Text, got, want)
	}
}

// background starts a long-running program, replacing any earlier server, and waits for the
// expected output.
func (r *reader) background(args []string, want string) {
	r.t.Helper()
	if args[0] == "serve" {
		if r.serve != nil {
			r.serve.kill()
		}
		// allow for slow machines
		for flag, value := range map[string]string{"--listen": r.server, "--http": r.web, "--lost-after": "1m"} {
			if !strings.Contains(strings.Join(args, " "), flag) {
				args = append(args, flag, value)
			}
		}
	}
	p := start(r.t, args...)
	if args[0] == "serve" {
		r.serve = p
	}
	for line := range strings.Lines(want) {
		for line = strings.TrimSpace(line); line != "..." &&
			!strings.Contains(p.said.String(), line+"\n"); sleep(r.ctx, 5*time.Millisecond) {
			if r.ctx.Err() != nil {
				r.t.Fatalf("%s: %v does not print %q", r.page, args, line)
			}
		}
	}
}

// fetch reads a page once a manager leads.
func (r *reader) fetch(url string) string {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.ctx, http.MethodGet, url, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %s, %v", url, answer.Status, err)
	}
	return string(text)
}

var (
	times  = regexp.MustCompile(`\b\d+(\.\d+)?(e[-+]\d+)?\b`)
	spaces = regexp.MustCompile(` +`)
)

// withoutTimes replaces numbers with fractions, and spaces, whose number depends on them.
func withoutTimes(text string) string {
	text = times.ReplaceAllStringFunc(text, func(number string) string {
		if strings.ContainsAny(number, ".e") {
			return "#"
		}
		return number
	})
	return spaces.ReplaceAllString(text, " ")
}

// The command lines in the files of docs/live.md use existing flags, and the file for Kubernetes
// can be parsed.
func TestDocumentedFiles(t *testing.T) {
	text, err := os.ReadFile("../../../docs/live.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)(?:/bin/|exec )pfq-live (.*)|args: \[(.*)\]`)
	variable := regexp.MustCompile(`\$\w+|\$\(\w+\)`)
	files := 0
	for _, b := range docs.Blocks(string(text)) {
		_, name, named := strings.Cut(b.Info, " ")
		if b.Info == "console live" || !named || name == "first.yaml" || name == "more.yaml" {
			continue
		}
		if strings.HasSuffix(name, ".yaml") {
			if _, err := file.Read(strings.NewReader(b.Text), file.YAML, "an object"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		found := line.FindStringSubmatch(b.Text)
		if found == nil {
			t.Errorf("%s: no command line", name)
			continue
		}
		words := strings.Fields(
			strings.NewReplacer(`"`, "", ",", "").Replace(variable.ReplaceAllString(found[1]+found[2], "1")),
		)
		command, sleep, err := newRoot().Find(words)
		if err == nil {
			err = command.ParseFlags(sleep)
		}
		if err != nil || command.Flags().NArg() > 0 {
			t.Errorf("%s: %v: %v, %v", name, words, err, command.Flags().Args())
		}
		files++
	}
	if files != 3 {
		t.Errorf("%d files, want 3", files)
	}
}

// The tests named in docs/live.md exist in the given packages.
func TestDocumentedTestsExist(t *testing.T) {
	text, err := os.ReadFile("../../../docs/live.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for row := range strings.Lines(string(text)) {
		if !strings.HasPrefix(row, "|") {
			continue
		}
		folders := regexp.MustCompile(`live/[a-z-]+(?:/[a-z-]+)?`).FindAllString(row, -1)
		for _, test := range regexp.MustCompile("`((?:Test|Benchmark)\\w+)`").FindAllStringSubmatch(row, -1) {
			found := false
			for _, folder := range folders {
				files, err := filepath.Glob("../../../" + folder + "/*_test.go")
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range files {
					code, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					found = found || strings.Contains(string(code), "func "+test[1]+"(")
				}
			}
			if !found {
				t.Errorf("no %s in %v", test[1], folders)
			}
			named++
		}
	}
	if named < 30 {
		t.Errorf("only %d tests are named", named)
	}
}
