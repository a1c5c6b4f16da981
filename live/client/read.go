// This file reads the job files that users write in JSON or YAML.
//
//	{"jobs": [{"name": "bills", "priority": 5, "deadline": "200s", "max_workers": 8,
//	           "tasks": 1000, "work": 0.5, "run": {"kind": "command", "program": "bill"}}]}
//
// The jobs of a file are submitted together. Unknown fields are errors that name the file, the line
// and the field.

package client

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"productform/internal/file"
	"productform/internal/input"
	"productform/live/wire"
)

// A File is a list of jobs as written by a user.
type File struct {
	Batch wire.Batch // without a name if the file has none

	// Uploads are the input files of the jobs. After an upload, the digest belongs in Run.Inputs of
	// the job.
	Uploads []Upload
}

// An Upload is an input file of the tasks of a job.
type Upload struct {
	Job  int    // index in Batch.Jobs
	Name string // name of the file in the folder of a task
	Path string // as written; relative to the folder of the job file
}

// Read reads jobs as JSON if the first character other than a space is { or [, otherwise as YAML:
//
//	name: monday
//	jobs:
//	- name: bills
//	  priority: 5
//	  deadline: 200s
//	  max_workers: 8
//	  tasks: 1000
//	  work: 0.5
//	  run: {kind: command, program: bill, args: [--year, "2026"], inputs: {rates.csv: data/rates.csv}, limit: 60s}
//
// The table of [Help] explains the fields. The error is a *[num.SyntaxError] if the text is neither
// JSON nor YAML. Otherwise it is an *[num.InputError] with the line, the path of the field, its
// value and the accepted values. Inputs are limited to 64 MiB of JSON and 32 MiB of YAML.
func Read(r io.Reader) (*File, error) { return read(r, file.Auto) }

// ReadFile reads the file as JSON if its name ends in .json, as YAML if it ends in .yaml or .yml,
// and otherwise like [Read]. Errors start with the name of the file.
func ReadFile(name string) (*File, error) { return file.ReadFile(name, read) }

// Help returns a table of the fields of these files, with their meanings, units, ranges and
// defaults, and examples.
func Help() string { return batchFile.Help() }

func read(r io.Reader, format file.Format) (*File, error) {
	root, err := file.Read(r, format, batchFile.Want)
	if err != nil {
		return nil, err
	}
	f, err := decode(root)
	if err != nil {
		return nil, root.Locate(err)
	}
	return f, nil
}

const (
	wantWork     = "a number of seconds >= 0"
	wantDuration = `a duration in quotes, such as "200s" or "1h30m"`
	wantDeadline = wantDuration + `, or a time such as "2026-11-23T08:00:00Z"`
)

func wantCount(most int) string { return "an integer from 1 to " + file.Grouped(most) }

// count describes an integer in 1..most.
func count(name, doc string, at func(*wire.Job) *int, most int) file.Field[wire.Job] {
	return file.Int(name, doc, at, most, wantCount(most))
}

// batchFile describes a job file, whose ranges [wire.Batch.Check] checks. Neither it nor its parts
// are ever modified.
var batchFile = file.Description[wire.Batch]{
	Want:  "an object with jobs",
	Start: wire.Batch{Version: wire.Version},
	Fields: []file.Field[wire.Batch]{
		file.Text("name", "name of the batch, which is submitted only once, however often you try",
			func(b *wire.Batch) *string { return &b.Name }).
			Otherwise("a name that the client chooses").Example("monday"),
		file.Objects("jobs", "list of jobs, submitted together", "an array of jobs",
			func(b *wire.Batch) *[]wire.Job { return &b.Jobs }, &jobFile, file.Length{}, nil),
	},
}

var jobFile = file.Description[wire.Job]{
	Want: "an object with name, tasks and run",
	Fields: []file.Field[wire.Job]{
		file.Name("name of the job, which no other job has or had",
			func(j *wire.Job) *string { return &j.Name }).Example("bills"),
		file.Float("priority", "larger is more urgent", func(j *wire.Job) *float64 { return &j.Priority },
			"a number", input.Time).Default(0).Example("5"),
		file.Custom("deadline", "when the job is due: a duration after its submission, or a time",
			readDeadline, nil, nil, nil).Otherwise("none").Example("200s", `2026-11-23T08:00:00Z`),
		count("max_workers", "maximum number of workers of the job at a time",
			func(j *wire.Job) *int { return &j.MaxWorkers }, wire.MaxAtOnce).Otherwise("no limit").Example("8"),
		count("tasks", "number of tasks", func(j *wire.Job) *int { return &j.Tasks }, wire.MaxTasks).
			Otherwise("the number of works").Example("1000"),
		file.Float("work", "seconds that each task takes on a worker of speed 1",
			func(j *wire.Job) *float64 { return &j.Work }, wantWork, input.Work).
			Otherwise("works, or unknown if the estimate is given").Example("0.5"),
		file.List("works", "in place of work: the work of each task", "an array of works, one per task",
			func(j *wire.Job) *[]float64 { return &j.Works },
			file.Float("", "", file.Itself[float64], wantWork, input.Work), file.Length{}).
			Optional().Example("[0.5, 0.7]"),
		file.Float("estimate", "work of each task that policies assume",
			func(j *wire.Job) *float64 { return &j.Estimate }, wantWork, input.Work).
			Otherwise("its work").Example("0.6"),
		count("attempts", "failures on at least two workers after which a task is given up",
			func(j *wire.Job) *int { return &j.Attempts }, wire.MaxAttempts).Default(3).Example("5"),
		file.Object("run", "what a task does", func(j *wire.Job) **wire.Run { r := &j.Run; return &r }, &runFile),
	},
}

var runFile = file.Description[wire.Run]{Want: "an object with kind", Fields: []file.Field[wire.Run]{
	file.Text("kind", "sleep, command, or a name for which workers have a handler",
		func(r *wire.Run) *string { return &r.Kind }).Example("command"),
	file.Text("program", "for a command: its name in the allow-list of the workers",
		func(r *wire.Run) *string { return &r.Program }).Optional().Example("bill"),
	file.List("args", "arguments of the command", "an array of strings", func(r *wire.Run) *[]string { return &r.Args },
		file.Custom("", "", readArgument, nil, nil, nil), file.Length{}).Otherwise("none").Example(`[--year, "2026"]`),
	file.Custom("inputs", "files that each task needs, or their digests, by the names that the task finds",
		readInputs, nil, nil, nil).Otherwise("none").Example("{rates.csv: data/rates.csv}"),
	file.Custom("limit", "time after which a task is ended", readLimit, nil, nil, nil).
		Otherwise("none").Example("60s"),
}}

// readDeadline reads a duration after submission, or a time.
func readDeadline(_ *file.Scope, n *file.Node, path string, j *wire.Job) error {
	if n.Kind != file.TextKind {
		return input.Errorf(path, n, wantDeadline)
	}
	if at, err := time.Parse(time.RFC3339, n.Text); err == nil && at.Unix() > 0 {
		j.DeadlineAt = float64(at.Unix()) + float64(at.Nanosecond())/1e9
		return nil
	}
	v, err := time.ParseDuration(n.Text)
	if err != nil || v <= 0 {
		return input.Errorf(path, n, wantDeadline)
	}
	j.DeadlineIn = v.Seconds()
	return nil
}

func readLimit(_ *file.Scope, n *file.Node, path string, r *wire.Run) error {
	if n.Kind != file.TextKind {
		return input.Errorf(path, n, wantDuration)
	}
	v, err := time.ParseDuration(n.Text)
	if err != nil || v <= 0 {
		return input.Errorf(path, strconv.Quote(n.Text), wantDuration)
	}
	r.Limit = v.Seconds()
	return nil
}

// readArgument reads a text, or a number as written.
func readArgument(_ *file.Scope, n *file.Node, path string, arg *string) error {
	if n.Kind != file.TextKind && n.Kind != file.NumberKind {
		return input.Errorf(path, n, "a string in quotes, or a number")
	}
	*arg = strings.Clone(n.Text)
	return nil
}

// readInputs reads paths and digests of files, by name.
func readInputs(_ *file.Scope, n *file.Node, path string, r *wire.Run) error {
	names, values, err := n.Entries(path, "an object with the paths or digests of files by their names")
	if err != nil {
		return err
	}
	r.Inputs = make(map[string]string, len(names))
	for i, name := range names {
		at := input.Field(path, name)
		switch r.Inputs[name], err = values[i].Name(at); {
		case err != nil:
			return err
		case !isFileName(name):
			return input.Errorf(at, &values[i], "a file name of letters, digits, _, - and dots")
		case r.Inputs[name] == "":
			return input.Errorf(at, `""`, "the path or the digest of a file")
		}
	}
	return nil
}

func decode(root *file.Node) (*File, error) {
	b, err := batchFile.Read(root)
	if err != nil {
		return nil, err
	}
	f := &File{Batch: *b}
	for i := range b.Jobs {
		if err := complete(root.Get("jobs").Kids[i], input.Index("jobs", i), &b.Jobs[i]); err != nil {
			return nil, err
		}
		f.Uploads = append(f.Uploads, uploads(i, &b.Jobs[i].Run)...)
	}
	b.Name = cmp.Or(b.Name, "batch") // placeholder for the name that the client chooses
	if err := b.Check(); err != nil {
		return nil, root.AsWritten(err)
	}
	return f, nil
}

// complete rejects a job with contradictory fields, and derives the number of tasks from its works.
func complete(n file.Node, path string, j *wire.Job) error {
	work, works := n.Get("work"), n.Get("works")
	switch {
	case work == nil && works == nil && n.Get("estimate") == nil:
		return input.Errorf(path+".work", "",
			"%s, or works, a list of them, or an estimate if it is not known", wantWork)
	case work != nil && works != nil:
		return input.Errorf(path+".works", works, "work or works, not both")
	case n.Get("tasks") == nil && works == nil:
		return input.Errorf(path+".tasks", "", "%s", wantCount(wire.MaxTasks))
	case n.Get("tasks") == nil:
		j.Tasks = len(j.Works)
	}
	if j.Run.Kind == "command" && j.Run.Program == "" { // no worker could run it
		return input.Errorf(path+".run.program", "", "the name of a program in the allow-list of the workers")
	}
	return nil
}

// uploads removes the inputs that are paths, not digests, from a job and returns them.
func uploads(job int, r *wire.Run) (paths []Upload) {
	for _, name := range slices.Sorted(maps.Keys(r.Inputs)) {
		if path := r.Inputs[name]; !wire.IsDigest(path) {
			paths = append(paths, Upload{Job: job, Name: name, Path: path})
			delete(r.Inputs, name)
		}
	}
	if len(r.Inputs) == 0 {
		r.Inputs = nil
	}
	return paths
}

// isFileName reports whether a name is valid for an input file, as in [wire.Run].
func isFileName(name string) bool {
	r := wire.Run{Kind: "any", Inputs: map[string]string{name: wire.Digest(nil)}}
	return r.Check() == nil
}
