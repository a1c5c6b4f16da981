package jobfile

import (
	"cmp"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"productform/internal/input"
	"productform/internal/tree"
	"productform/live/wire"
)

// A SyntaxError says where a file stops being JSON, YAML or text at all.
type SyntaxError = tree.SyntaxError

// A File is a list of jobs as a user wrote it.
type File struct {
	Batch wire.Batch // its name is empty if the file gives none

	// Uploads are the files that jobs need: the name of a job, the name under which its tasks see the file, and the path of
	// the file on this machine. What is uploaded gets its digest in Run.Inputs of the job.
	Uploads []Upload
}

// An Upload is a file that the tasks of a job need.
type Upload struct {
	Job  int    // place in Batch.Jobs
	Name string // of the file, in the folder of a task
	Path string // as written; if it is relative, to the folder of the job file
}

// Read reads jobs as JSON if the first character other than a space is { or [, else as YAML:
//
//	name: monday              # of the batch; made up by the client if missing
//	jobs:
//	- name: bills             # of its own among all jobs that are not cleared
//	  priority: 5             # 0 if missing
//	  deadline: 200s          # after submission; or a time such as 2026-11-23T08:00:00Z; none if missing
//	  max_workers: 8          # no limit if missing
//	  tasks: 1000             # the number of works if missing
//	  work: 0.5               # seconds of each task on a worker of speed 1; may be missing if there is an estimate
//	  works: [0.5, 0.7]       # instead of work, those of all tasks
//	  estimate: 0.6           # what policies take for the work of a task
//	  attempts: 3             # after which a task that fails is given up
//	  run:
//	    kind: command         # sleep, command, or a name that workers have a handler for
//	    program: bill         # command: a name in the allow-list of the workers
//	    args: [--year, "2026"]
//	    inputs: {rates.csv: data/rates.csv} # files that each task needs, or their digests
//	    limit: 60s            # after which a task is ended
//
// The error is a *[SyntaxError] where the text is neither, and otherwise an *[num.InputError] with the line, the path of
// the field, its value and what is accepted. At most 64 MiB of JSON and 32 MiB of YAML are read.
func Read(r io.Reader) (*File, error) { return read(r, tree.Auto) }

// ReadFile reads the file as JSON if its name ends in .json, as YAML if it ends in .yaml or .yml, else as [Read]. Errors
// start with the name of the file.
func ReadFile(name string) (*File, error) { return tree.ReadFile(name, read) }

func read(r io.Reader, format tree.Format) (*File, error) {
	root, err := tree.Read(r, format, "an object with jobs")
	if err != nil {
		return nil, err
	}
	f, err := decode(root)
	if err != nil {
		return nil, root.Locate(err)
	}
	return f, nil
}

func decode(root *tree.Node) (*File, error) {
	f, err := root.Fields("", "an object with jobs", "name", "jobs")
	if err != nil {
		return nil, err
	}
	file := &File{Batch: wire.Batch{Version: wire.Version}}
	if n := f["name"]; n != nil {
		if file.Batch.Name, err = n.Name("name"); err != nil {
			return nil, err
		}
	}
	list, err := f["jobs"].Elements("jobs", "an array of jobs")
	if err != nil {
		return nil, err
	}
	file.Batch.Jobs = make([]wire.Job, len(list))
	for i := range list {
		d := decoder{path: input.Index("jobs", i)}
		d.job(&list[i], &file.Batch.Jobs[i])
		if d.err != nil {
			return nil, d.err
		}
		for _, name := range slices.Sorted(maps.Keys(d.uploads)) {
			file.Uploads = append(file.Uploads, Upload{Job: i, Name: name, Path: d.uploads[name]})
		}
	}
	if err := check(&file.Batch); err != nil {
		return nil, root.AsWritten(err)
	}
	return file, nil
}

// A decoder reads the fields of one job; it keeps the first error.
type decoder struct {
	path    string // of the job
	err     error
	uploads map[string]string // paths of inputs by their names
}

func (d *decoder) job(n *tree.Node, j *wire.Job) {
	f := d.fields(n, d.path, "an object with name, tasks and run", "name", "priority", "deadline", "max_workers", "tasks",
		"work", "works", "estimate", "attempts", "run")
	if d.err != nil {
		return
	}
	j.Name = d.name(f["name"], d.path+".name")
	j.Priority = d.number(f["priority"], d.path+".priority", "a number")
	d.deadline(f["deadline"], j)
	j.MaxWorkers = d.count(f["max_workers"], d.path+".max_workers", 1_000_000_000, wantCount)
	j.Attempts = d.count(f["attempts"], d.path+".attempts", 100, wantAttempts)
	j.Work = d.number(f["work"], d.path+".work", wantWork)
	j.Estimate = d.number(f["estimate"], d.path+".estimate", wantWork)
	j.Works = d.works(f["works"])
	switch {
	case d.err != nil:
	case f["work"] == nil && f["works"] == nil && f["estimate"] == nil:
		d.err = input.Errorf(d.path+".work", "", "%s, or works, a list of them, or an estimate if it is not known", wantWork)
	case f["work"] != nil && f["works"] != nil:
		d.err = input.Errorf(d.path+".works", f["works"], "work or works, not both")
	case f["tasks"] == nil && f["works"] != nil:
		j.Tasks = len(j.Works)
	case f["tasks"] == nil:
		d.err = input.Errorf(d.path+".tasks", "", wantTasks)
	default:
		j.Tasks = d.count(f["tasks"], d.path+".tasks", wire.MaxTasks, wantTasks)
	}
	d.run(f["run"], &j.Run)
}

func (d *decoder) run(n *tree.Node, r *wire.Run) {
	path := d.path + ".run"
	if d.err == nil && n == nil {
		d.err = input.Errorf(path, "", "an object with kind")
	}
	f := d.fields(n, path, "an object with kind", "kind", "program", "args", "inputs", "limit")
	if d.err != nil {
		return
	}
	r.Kind = d.name(f["kind"], path+".kind")
	if f["program"] != nil {
		r.Program = d.name(f["program"], path+".program")
	}
	if d.err == nil && r.Kind == "command" && r.Program == "" { // no worker could run it
		d.err = input.Errorf(path+".program", "", "the name of a program in the allow-list of the workers")
	}
	if f["args"] != nil {
		r.Args = d.texts(f["args"], path+".args")
	}
	d.inputs(f["inputs"], r)
	if f["limit"] != nil {
		r.Limit = d.duration(f["limit"], path+".limit").Seconds()
	}
}

// inputs reads files by their names: digests stay with the job, paths are kept for the upload.
func (d *decoder) inputs(n *tree.Node, r *wire.Run) {
	if d.err != nil || n == nil {
		return
	}
	path := d.path + ".run.inputs"
	names, values, err := n.Entries(path, "an object with the paths or digests of files by their names")
	if err != nil {
		d.err = err
		return
	}
	for i, name := range names {
		at := input.Field(path, name)
		switch text := d.name(&values[i], at); {
		case d.err != nil:
			return
		case !isFileName(name):
			d.err = input.Errorf(at, &values[i], "as its name a file name of letters, digits, _, - and dots")
			return
		case text == "":
			d.err = input.Errorf(at, `""`, "the path or the digest of a file")
			return
		case isDigest(text):
			if r.Inputs == nil {
				r.Inputs = map[string]string{}
			}
			r.Inputs[name] = text
		default:
			if d.uploads == nil {
				d.uploads = map[string]string{}
			}
			d.uploads[name] = text
		}
	}
}

const (
	wantCount    = "an integer from 1 to 1,000,000,000"
	wantTasks    = "an integer from 1 to 10,000,000"
	wantAttempts = "an integer from 1 to 100"
	wantWork     = "a number of seconds >= 0"
	wantDuration = `a duration in quotes, such as "200s" or "1h30m"`
	wantDeadline = wantDuration + `, or a time such as "2026-11-23T08:00:00Z"`
)

func (d *decoder) fields(n *tree.Node, path, want string, known ...string) map[string]*tree.Node {
	if d.err != nil {
		return nil
	}
	var f map[string]*tree.Node
	f, d.err = n.Fields(path, want, known...)
	return f
}

func (d *decoder) name(n *tree.Node, path string) string {
	if d.err != nil {
		return ""
	}
	var s string
	s, d.err = n.Name(path)
	return s
}

// texts returns a list of strings; numbers are taken as written.
func (d *decoder) texts(n *tree.Node, path string) []string {
	if d.err != nil {
		return nil
	}
	list, err := n.Elements(path, "an array of texts")
	if err != nil {
		d.err = err
		return nil
	}
	texts := make([]string, len(list))
	for i := range list {
		if k := list[i].Kind; k != tree.Text && k != tree.Number {
			d.err = input.Errorf(input.Index(path, i), &list[i], "a text in quotes, or a number")
			return nil
		}
		texts[i] = strings.Clone(list[i].Text)
	}
	return texts
}

// number returns the float64 nearest to the number as written; 0 if it is missing.
func (d *decoder) number(n *tree.Node, path, want string) float64 {
	if d.err != nil || n == nil {
		return 0
	}
	var x *big.Rat
	if x, d.err = n.Rat(path, want); d.err != nil {
		return 0
	}
	v, _ := x.Float64()
	if math.IsInf(v, 0) || v == 0 && x.Sign() != 0 {
		d.err = input.Errorf(path, n, "%s", want)
	}
	return v
}

// count returns an integer from 1 to most; 0 if it is missing.
func (d *decoder) count(n *tree.Node, path string, most int, want string) int {
	if d.err != nil || n == nil {
		return 0
	}
	var v int
	v, d.err = n.Integer(path, most, want)
	return v
}

func (d *decoder) works(n *tree.Node) []float64 {
	if d.err != nil || n == nil {
		return nil
	}
	path := d.path + ".works"
	list, err := n.Elements(path, "an array of works, one a task")
	if err != nil {
		d.err = err
		return nil
	}
	works := make([]float64, len(list))
	for i := range list {
		if works[i] = d.number(&list[i], input.Index(path, i), wantWork); d.err != nil {
			return nil
		}
	}
	return works
}

// duration returns a positive duration.
func (d *decoder) duration(n *tree.Node, path string) time.Duration {
	if d.err != nil {
		return 0
	}
	text := d.name(n, path)
	if d.err != nil {
		d.err = input.Errorf(path, n, wantDuration)
		return 0
	}
	v, err := time.ParseDuration(text)
	if err != nil || v <= 0 {
		d.err = input.Errorf(path, strconv.Quote(text), wantDuration)
	}
	return v
}

// deadline reads a duration after submission, or a time.
func (d *decoder) deadline(n *tree.Node, j *wire.Job) {
	if d.err != nil || n == nil {
		return
	}
	path := d.path + ".deadline"
	if n.Kind == tree.Text {
		if at, err := time.Parse(time.RFC3339, n.Text); err == nil && at.Unix() > 0 {
			j.DeadlineAt = float64(at.Unix()) + float64(at.Nanosecond())/1e9
			return
		}
	}
	if v := d.duration(n, path); d.err == nil {
		j.DeadlineIn = v.Seconds()
		return
	}
	d.err = input.Errorf(path, n, wantDeadline)
}

// check refuses what no manager would take. A name that the file does not give is made up by the client, and is right.
func check(b *wire.Batch) error {
	named := *b
	named.Name = cmp.Or(named.Name, "batch")
	return named.Check()
}

// isDigest tells whether a text is a SHA-256, as blobs are named, and not a path.
func isDigest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// isFileName tells whether a task may find a file under a name, as [wire.Run] has it.
func isFileName(name string) bool {
	r := wire.Run{Kind: "any", Inputs: map[string]string{name: wire.Digest(nil)}}
	return r.Check() == nil
}
