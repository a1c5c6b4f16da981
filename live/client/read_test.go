package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/live/client"
	"productform/live/wire"
	"productform/live/worker"
	"productform/num"
)

const jsonText = `{"name": "monday", "jobs": [
  {"name": "bills", "priority": 5, "deadline": "200s", "max_workers": 8, "tasks": 1000, "work": 0.5, "attempts": 4,
   "run": {"kind": "command", "program": "bill", "args": ["--year", 2026], "limit": "1m30s",
           "inputs": {"rates.csv": "data/rates.csv", "a.bin": "DIGEST"}}},
  {"name": "letters", "works": ["1/2", 0.25], "estimate": 1e-2, "deadline": "2026-11-23T08:00:00+01:00",
   "run": {"kind": "sleep"}}]}`

const yamlText = `
name: monday
jobs:
- name: bills
  priority: 5
  deadline: 200s
  max_workers: 8
  tasks: 1000
  work: 0.5
  attempts: 4
  run:
    kind: command
    program: bill
    args: [--year, 2026]
    limit: 1m30s
    inputs:
      a.bin: DIGEST
      rates.csv: data/rates.csv
- name: letters
  works: [1/2, 0.25]
  estimate: 1e-2
  deadline: 2026-11-23T08:00:00+01:00
  run: {kind: sleep}
`

var digest = wire.Digest([]byte("a"))

// A file has the same meaning in JSON and in YAML.
func TestRead(t *testing.T) {
	want := &client.File{
		Batch: wire.Batch{Version: wire.Version, Name: "monday", Jobs: []wire.Job{
			{
				Name:       "bills",
				Priority:   5,
				DeadlineIn: 200,
				MaxWorkers: 8,
				Tasks:      1000,
				Work:       0.5,
				Attempts:   4,
				Run: wire.Run{
					Kind: "command", Program: "bill", Args: []string{"--year", "2026"}, Limit: 90,
					Inputs: map[string]string{"a.bin": digest}},
			},
			{
				Name:       "letters",
				Tasks:      2,
				Works:      []float64{0.5, 0.25},
				Estimate:   0.01,
				DeadlineAt: 1795417200,
				Run:        wire.Run{Kind: "sleep"},
			},
		}},
		Uploads: []client.Upload{{Job: 0, Name: "rates.csv", Path: "data/rates.csv"}},
	}
	if at := time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC).Unix(); float64(at) != want.Batch.Jobs[1].DeadlineAt {
		t.Fatalf("the test is wrong: %d", at)
	}
	for _, text := range []string{jsonText, yamlText} {
		got, err := client.Read(strings.NewReader(strings.ReplaceAll(text, "DIGEST", digest)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}

// Errors name the file, the line, the field and the value.
func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{
			"  priority: 5", "  priorty: 5",
			`f.yaml:5: jobs[0].priorty = the number 5: want one of the fields name, priority, deadline, ` +
				`max_workers, tasks, work, works, estimate, attempts, run; did you mean priority?`,
		},
		{"  priority: 5", "  priority: high", `f.yaml:5: jobs[0].priority = "high": want a number`},
		{"  priority: 5", "  priority: -5", `f.yaml:5: jobs[0].priority = -5: want a number in [0, 1e50]`},
		{"  priority: 5", "  priority: 1e400", `f.yaml:5: jobs[0].priority`},
		{
			"deadline: 200s", "deadline: 200",
			`f.yaml:6: jobs[0].deadline = the number 200: want a duration in quotes, such as "200s" or "1h30m", or ` +
				`a time such as "2026-11-23T08:00:00Z"`,
		},
		{"deadline: 200s", "deadline: -1s", `f.yaml:6: jobs[0].deadline = a string "-1s": want a duration`},
		{"deadline: 200s", "deadline: tomorrow", `f.yaml:6: jobs[0].deadline = a string "tomorrow": want a duration`},
		{"max_workers: 8", "max_workers: 0",
			`f.yaml:7: jobs[0].max_workers = 0: want an integer from 1 to 1,073,741,823`},
		{"  tasks: 1000\n", "", `f.yaml:4: jobs[0].tasks is missing: want an integer from 1 to 10,000,000`},
		{"tasks: 1000", "tasks: 1.5", `f.yaml:8: jobs[0].tasks = 1.5: want an integer from 1 to 10,000,000`},
		{"tasks: 1000", "tasks: 20000000", `f.yaml:8: jobs[0].tasks = 20000000: want an integer from 1 to 10,000,000`},
		{
			"  work: 0.5\n", "",
			`f.yaml:4: jobs[0].work is missing: want a number of seconds >= 0, or works, a list of them, or an ` +
				`estimate if it is not known`,
		},
		{"work: 0.5", "works: [1, 2]", `f.yaml:9: jobs[0].works = 2: want as many numbers as tasks`},
		{"work: 0.5", "work: -0.5", `f.yaml:9: jobs[0].work = -0.5: want a number of seconds in [1e-50, 1e50], or 0`},
		{"work: 0.5", "work: 1e-400", `f.yaml:9: jobs[0].work = the number 1e-400: want a number of seconds >= 0`},
		{"attempts: 4", "attempts: 101", `f.yaml:10: jobs[0].attempts = 101: want an integer from 1 to 100`},
		{"  run: {kind: sleep}", "", `jobs[1].run is missing: want an object with kind`},
		{"kind: command", "kind: a.b", `f.yaml:12: jobs[0].run.kind = "a.b": want a name of 1 to 64 letters`},
		{
			"    program: bill\n", "",
			`f.yaml:11: jobs[0].run.program is missing: want the name of a program in the allow-list of the workers`,
		},
		{"limit: 1m30s", "limit: 90", `f.yaml:15: jobs[0].run.limit = the number 90: want a duration in quotes`},
		{
			"args: [--year, 2026]", "args: [--year, [2026]]",
			`f.yaml:14: jobs[0].run.args[1] = an array: want a string in quotes, or a number`,
		},
		{"a.bin: DIGEST", "../a.bin: DIGEST", `f.yaml:17: jobs[0].run.inputs["../a.bin"]`},
		{"rates.csv: data/rates.csv", "../rates.csv: data/rates.csv", `f.yaml:18: jobs[0].run.inputs["../rates.csv"]`},
		{"rates.csv: data/rates.csv", "a.bin: data/rates.csv", `f.yaml:18:`},
		{"name: letters", "name: bills", `jobs[1].name = "bills": want a unique name; jobs[0] has this one`},
		{"name: letters", "name: a b", `jobs[1].name = "a b": want a name of 1 to 64 letters A-Z a-z, digits, _ and -`},
		{"name: monday", "name: a/b", `f.yaml:2: name = "a/b": want a name of 1 to 64 letters`},
		{"jobs:", "job:", `f.yaml:3: job = an array: want one of the fields name, jobs; did you mean jobs?`},
	} {
		text := strings.Replace(yamlText, c.from, c.to, 1)
		if text == yamlText {
			t.Fatalf("nothing to replace: %s", c.from)
		}
		_, err := readAs(t, "f.yaml", strings.ReplaceAll(text, "DIGEST", digest))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) && !strings.Contains(err.Error(), ": "+c.want) {
			t.Errorf("%s: error\n%v, want\n%s", c.to, err, c.want)
			continue
		}
		var bad *num.InputError
		var syntax *num.SyntaxError
		if !errors.As(err, &bad) && !errors.As(err, &syntax) {
			t.Errorf("%s: error %T", c.to, err)
		}
	}
	for _, text := range []string{"", "jobs", "[]", "{", `{"jobs": []}`, `{"jobs": {}}`, "\x00"} {
		if f, err := client.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

// readAs reads a file under the given name, and removes the folder from the error.
func readAs(t testing.TB, name, text string) (*client.File, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return client.ReadFile(name)
}

// Jobs written as JSON with their tags in messages, except deadline and limit, are read back
// unchanged, also as YAML.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9_-]{1,64}`)
		work := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-50, 1e50))
		n := rapid.IntRange(1, 5).Draw(t, "jobs")
		names := rapid.SliceOfNDistinct(name, n, n, rapid.ID).Draw(t, "names")
		want := wire.Batch{Version: wire.Version, Name: name.Draw(t, "batch"), Jobs: make([]wire.Job, n)}
		rows := make([]map[string]any, n)
		for i := range want.Jobs {
			j := wire.Job{
				Name: names[i], Priority: work.Draw(t, "priority"),
				MaxWorkers: rapid.IntRange(0, wire.MaxAtOnce).Draw(t, "max_workers"),
				Tasks:      rapid.IntRange(1, wire.MaxTasks/5).Draw(t, "tasks"),
				Estimate:   rapid.Float64Range(1e-50, 1e50).Draw(t, "estimate"),
				Attempts:   rapid.IntRange(0, 100).Draw(t, "attempts"),
				Run: wire.Run{Kind: name.Draw(t, "kind"), Program: name.Draw(t, "program"),
					Args: rapid.SliceOfN(rapid.StringMatching(`[ -~é]*`), 1, 4).Draw(t, "args")},
			}
			if rapid.Bool().Draw(t, "works") {
				j.Works = rapid.SliceOfN(work, 1, 5).Draw(t, "list")
				j.Tasks = len(j.Works)
			} else {
				j.Work = work.Draw(t, "work")
			}
			rows[i] = row(t, j)
			in, limit := rapid.Int64Range(1, 1e15).Draw(t, "deadline"), rapid.Int64Range(1, 1e15).Draw(t, "limit")
			rows[i]["deadline"] = time.Duration(in).String()
			rows[i]["run"].(map[string]any)["limit"] = time.Duration(limit).String()
			j.DeadlineIn, j.Run.Limit = time.Duration(in).Seconds(), time.Duration(limit).Seconds()
			want.Jobs[i] = j
		}
		text, err := json.Marshal(map[string]any{"name": want.Name, "jobs": rows})
		if err != nil {
			t.Fatal(err)
		}
		for _, prefix := range []string{"", "---\n"} { // JSON, and YAML
			f, err := client.Read(strings.NewReader(prefix + string(text)))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if diff := cmp.Diff(want, f.Batch); diff != "" {
				t.Fatalf("%s\n%s", text, diff)
			}
		}
	})
}

// row returns a job as a JSON tree.
func row(t *rapid.T, j wire.Job) (row map[string]any) {
	text, err := json.Marshal(j)
	if err == nil {
		err = json.Unmarshal(text, &row)
	}
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// At the limits of all ranges, files and messages accept the same numbers. In a message, 0 is a
// missing count.
func TestFilesAndMessagesAcceptSameRanges(t *testing.T) {
	ends := []float64{0, 1e-50, 1, 100, wire.MaxTasks, 1e9, wire.MaxAtOnce, 1e50}
	for _, name := range []string{"priority", "work", "works", "estimate", "max_workers", "tasks", "attempts"} {
		isCount := name == "max_workers" || name == "tasks" || name == "attempts"
		for _, end := range ends {
			near := []float64{math.Nextafter(end, -1), end, math.Nextafter(end, 1e99)}
			if isCount {
				end = min(math.Trunc(end), 1<<52)
				near = []float64{end - 1, end, end + 1}
			}
			for _, v := range near {
				if isCount && v == 0 && name != "tasks" {
					continue
				}
				job := map[string]any{"name": "a", "tasks": 1, "estimate": 1, "run": map[string]any{"kind": "sleep"}}
				if job[name] = v; name == "works" {
					job[name] = []float64{v}
				}
				text, err := json.Marshal(map[string]any{"name": "b", "jobs": []any{job}})
				if err != nil {
					t.Fatal(err)
				}
				_, inFile := client.Read(strings.NewReader(string(text)))
				_, inMessage := wire.Decode[wire.Batch]([]byte(`{"v": 1, ` + string(text[1:])))
				if (inFile == nil) != (inMessage == nil) {
					t.Errorf("%s %v: file %v, message %v", name, v, inFile, inMessage)
				}
			}
		}
	}
}

// The examples can be read, and the files that they need exist.
func TestExamples(t *testing.T) {
	folder := filepath.Join("..", "examples")
	allow, err := worker.ReadAllowFile(filepath.Join(folder, "allow.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"sleep.yaml":   "[nightly 200 sleep  urgent 40 sleep ]",
		"command.yaml": "[hello 10 command hello count-lines 1 command wc]",
		"mixed.json":   "[bills 100 command hello letters 4 sleep ]",
	} {
		f, err := client.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		var got []string
		for _, j := range f.Batch.Jobs {
			got = append(got, fmt.Sprintf("%s %d %s %s", j.Name, j.Tasks, j.Run.Kind, j.Run.Program))
			if _, ok := allow[j.Run.Program]; j.Run.Kind == worker.KindCommand && !ok {
				t.Errorf("%s: program %s is not in allow.yaml", name, j.Run.Program)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
		for _, u := range f.Uploads {
			if _, err := os.Stat(filepath.Join(folder, u.Path)); err != nil {
				t.Error(err)
			}
		}
	}
}

// Any input is either rejected, or its jobs can be submitted.
func FuzzRead(f *testing.F) {
	f.Add(strings.ReplaceAll(jsonText, "DIGEST", digest))
	f.Add(strings.ReplaceAll(yamlText, "DIGEST", digest))
	f.Add(`{"jobs": [{"name": "a", "tasks": 1, "work": 1e-60, "run": {"kind": "sleep"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := client.Read(strings.NewReader(text))
		if err != nil {
			var bad *num.InputError
			var syntax *num.SyntaxError
			if !errors.As(err, &bad) && !errors.As(err, &syntax) {
				t.Errorf("error %T: %v", err, err)
			}
			return
		}
		if file.Batch.Name == "" {
			file.Batch.Name = "batch"
		}
		if err := file.Batch.Check(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
