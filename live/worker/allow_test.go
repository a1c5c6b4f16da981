package worker

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"productform/internal/file"
	"productform/live/wire"
	"productform/num"
)

const allowText = `
allow:
  bill:
    path: /opt/bill
    sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    args: [--user, "{task}", "{args}", 7]
    seconds: 1/2
  mail: {path: /opt/mail}
`

func readText(text string) (Allow, error) {
	a, err := readAllow(strings.NewReader(text), file.Auto)
	if err != nil {
		return nil, err
	}
	return *a, nil
}

func TestReadAllow(t *testing.T) {
	got, err := readText(allowText)
	want := Allow{
		"bill": {Path: "/opt/bill", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			Args: []string{"--user", "{task}", "{args}", "7"}, Seconds: 0.5},
		"mail": {Path: "/opt/mail"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestBadAllow(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"path: /opt/bill", "path: bill", `line 4: allow.bill.path = "bill": want an absolute path`},
		{"    path: /opt/bill\n", "", `line 3: allow.bill.path is missing: want a name, not empty`},
		{
			"path: /opt/bill", "paht: /opt/bill",
			`line 4: allow.bill.paht = "/opt/bill": want one of the fields path, sha256, args, seconds`,
		},
		{"sha256: 9f", "sha256: 9F", `line 5: allow.bill.sha256`},
		{"sha256: 9f", "sha256: 9", `line 5: allow.bill.sha256`},
		{
			`"{task}"`, `"{taks}"`,
			`line 6: allow.bill.args[1] = "{taks}": want an argument in which words in braces are {job}, {task}, ` +
				`{attempt} or {folder}, or the argument {args}`,
		},
		{`"{args}"`, `"x{args}"`, `line 6: allow.bill.args[2]`},
		{", 7]", ", [7]]", `line 6: allow.bill.args[3] = an array: want a string in quotes, or a number`},
		{"seconds: 1/2", "seconds: 0", `line 7: allow.bill.seconds = 0: want a number > 0`},
		{"seconds: 1/2", "seconds: -1", `line 7: allow.bill.seconds`},
		{"seconds: 1/2", "seconds: 1e99", `line 7: allow.bill.seconds = 1e99: want a number in (0, 1e50]`},
		{"  bill:", "  a.b:", `line 3: allow["a.b"] = "a.b": want a name of 1 to 64 letters`},
		{"  mail:", "  bill:", `line 8: allow.bill = an object: want the field once; it is already there`},
	} {
		text := strings.Replace(allowText, c.from, c.to, 1)
		if text == allowText {
			t.Fatalf("nothing to replace: %s", c.from)
		}
		if _, err := readText(text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error\n%v, want\n%s", c.to, err, c.want)
		}
	}
}

// Arguments of a job replace {args} and are not expanded.
func TestArguments(t *testing.T) {
	task := &wire.Task{
		Job:     "j",
		Number:  3,
		Attempt: 2,
		Folder:  "/f",
		Run:     wire.Run{Args: []string{"{task}", "", "a b"}},
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"{args}"}, "{task}||a b"},
		{[]string{"--task={task}/{attempt}", "{args}", "{job}{folder}", "{}"}, "--task=3/2|{task}||a b|j/f|{}"},
		{[]string{"--"}, "error"},
		{nil, "error"},
	} {
		p := Program{Args: c.args}
		got, err := p.arguments(task)
		if text := strings.Join(got, "|"); err != nil && c.want != "error" || err == nil && text != c.want {
			t.Errorf("%q: %q, %v; want %q", c.args, text, err, c.want)
		}
	}
}

// Any input is either rejected, or all its programs can be run.
func FuzzReadAllow(f *testing.F) {
	f.Add(allowText)
	f.Add(`{"allow": {"a": {"path": "/a", "args": ["{args}"]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := readText(text)
		var bad *num.InputError
		var syntax *file.SyntaxError
		if err != nil && !errors.As(err, &bad) && !errors.As(err, &syntax) {
			t.Errorf("error %T: %v", err, err)
		}
		for name, p := range a {
			if err := errors.Join(wire.CheckName("name", name), p.check("program")); err != nil {
				t.Error(err)
			}
		}
	})
}
