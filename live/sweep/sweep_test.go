package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/live/wire"
	"productform/live/worker"
)

// pfq is the path of the program, which TestMain builds.
var pfq string

func TestMain(m *testing.M) {
	if name := os.Getenv("SWEEP_WORKER"); name != "" {
		work(name)
		return
	}
	folder, err := os.MkdirTemp("", "sweep-test-")
	if err != nil {
		log.Fatal(err)
	}
	if pfq, err = build(folder, "pfq"); err != nil {
		log.Fatal(err)
	}
	status := m.Run()
	os.RemoveAll(folder)
	os.Exit(status)
}

// build builds a program into a folder.
func build(folder, name string) (file string, err error) {
	file = filepath.Join(folder, name)
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", file, "./cmd/"+name)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return file, nil
}

// work runs a process of workers.
func work(name string) {
	slots, err := strconv.Atoi(os.Getenv("SWEEP_SLOTS"))
	if err != nil {
		log.Fatal(err)
	}
	programs := map[string]string{"pfq": os.Getenv("SWEEP_PFQ")}
	if file := os.Getenv("SWEEP_FIGURES"); file != "" {
		programs["figures"] = file
	}
	r := NewRunner(programs)
	defer r.Close()
	err = worker.Run(context.Background(), worker.Settings{
		Server:   os.Getenv("SWEEP_SERVER"),
		Name:     name,
		Slots:    slots,
		Beat:     50 * time.Millisecond,
		Folder:   os.Getenv("SWEEP_FOLDER"),
		Handlers: map[string]worker.Handler{Kind: r.Handle},
	})
	if err != nil {
		log.Fatal(err)
	}
}

const model = `servers: [{name: one, capacity: 1}, {name: two, capacity: 2}]
classes: [{name: jobs, arrival_rate: 1.5, servers: [one, two]}]
`

// write writes a file in a new folder and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A farm executes jobs with runners in this process, each with one slot.
type farm struct {
	*testing.T
	runners []*Runner
	begun   func(worker int, task int) // called when a task starts; may be nil
	jobs    []wire.Job

	mu   sync.Mutex
	done int
}

func newFarm(t *testing.T, workers int) *farm {
	f := &farm{T: t}
	for range workers {
		r := NewRunner(map[string]string{"pfq": pfq})
		t.Cleanup(r.Close)
		f.runners = append(f.runners, r)
	}
	return f
}

// folder makes the folder of a task.
func (f *farm) folder(files map[string][]byte) string {
	folder, err := os.MkdirTemp(f.TempDir(), "")
	if err != nil {
		f.Error(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			f.Error(err)
		}
	}
	return folder
}

// submit is a [Submit]. A failed task moves to the end of the queue.
func (f *farm) submit(ctx context.Context, job wire.Job, files map[string][]byte, take func(int, []byte) error) (
	failed int, why string, err error,
) {
	job.Name = fmt.Sprintf("job-%d", len(f.jobs))
	f.jobs = append(f.jobs, job)
	if err := job.Check(); err != nil {
		return 0, "", err
	}
	for name, digest := range job.Run.Inputs {
		if wire.Digest(files[name]) != digest {
			f.Errorf("%s has a different digest", name)
		}
	}
	queue := make(chan wire.Task, job.Tasks)
	for k := range job.Tasks {
		queue <- wire.Task{Job: job.Name, Number: k, Attempt: 1, Run: job.Run}
	}
	left := job.Tasks
	end := func() {
		if left--; left == 0 {
			close(queue)
		}
	}
	var workers sync.WaitGroup
	for w, r := range f.runners {
		workers.Go(func() {
			for task := range queue {
				if f.begun != nil {
					f.begun(w, task.Number)
				}
				task.Worker, task.Folder = fmt.Sprint(w), f.folder(files)
				output, problem := r.Handle(ctx, task)
				if e := os.RemoveAll(task.Folder); e != nil {
					f.Error(e)
				}
				if r.ctx.Err() != nil { // this worker is gone
					queue <- task
					return
				}
				f.mu.Lock()
				switch {
				case problem == nil:
					f.done++
					err = errors.Join(err, take(task.Number, output))
					end()
				case task.Attempt == 5:
					failed, why = failed+1, problem.Error()
					end()
				default:
					task.Attempt++
					queue <- task
				}
				f.mu.Unlock()
			}
		})
	}
	workers.Wait()
	return failed, why, err
}

var speed = regexp.MustCompile(`"jumps_per_second": [0-9.e+]+`)

// outputOf returns the output of a command that runs by itself, with the speed for stored runs.
func outputOf(t *testing.T, words []string) string {
	t.Helper()
	out, err := exec.Command(words[0], words[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return speed.ReplaceAllString(string(out), `"jumps_per_second": null`)
}

// Many workers give the digits of a single process, even if children of workers are killed during
// runs and one worker disappears.
func TestSweep(t *testing.T) {
	file, sizes := write(t, "model.yaml", model), write(t, "sizes of jobs.txt", "1\n2\n4\n")
	for name, c := range map[string]struct {
		line string
		runs int
	}{
		"simulate":  {"simulate " + file + " --runs 30 --jumps 20000 --sizes=file:SIZES", 30},
		"precision": {"simulate " + file + " --runs 45 --jumps 5000 --precision 1e-9 --scale 0.5,1", 90},
		"tags":      {"tags --hosts 2 --load 0.5 --sizes file:SIZES --runs 4 --jumps 5000", 24},
	} {
		t.Run(name, func(t *testing.T) {
			words := append([]string{pfq}, strings.Fields(c.line+" --format json")...)
			for i := range words {
				words[i] = strings.Replace(words[i], "SIZES", sizes, 1)
			}
			want := outputOf(t, words)
			folder := filepath.Join(t.TempDir(), "results")
			command, err := NewCommand(words, folder)
			if err != nil {
				t.Fatal(err)
			}
			f := newFarm(t, 3)
			f.begun = func(w, task int) {
				switch r := f.runners[w]; {
				case w == 0 && task%3 == 1: // during a run, or between two
					r.mu.Lock()
					if s := r.slots["0"]; s != nil && s.child != nil {
						time.AfterFunc(time.Millisecond, s.child.kill)
					}
					r.mu.Unlock()
				case w == 1 && task > 4:
					r.stop()
				}
			}
			var out, errs bytes.Buffer
			if err := Run(
				t.Context(), command, Settings{Least: time.Microsecond, Stdout: &out, Stderr: &errs}, f.submit,
			); err != nil {
				t.Fatalf("%v, %s", err, &errs)
			}
			if out.String() != want {
				t.Errorf("%s\nwant\n%s", &out, want)
			}
			kept, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
			if err != nil || len(kept) != c.runs {
				t.Errorf("%d runs are kept, want %d; %v", len(kept), c.runs, err)
			}
			if done := f.done; done == 0 || strings.Contains(errs.String(), "given up") {
				t.Errorf("the workers did %d tasks; %s", done, &errs)
			}
			before := len(f.jobs)
			out.Reset()
			if err := Run(t.Context(), command, Settings{Stdout: &out, Stderr: &errs}, f.submit); err != nil ||
				out.String() != want || len(f.jobs) != before {
				t.Errorf("again: %d jobs, %v\n%s", len(f.jobs)-before, err, &out)
			}
		})
	}
}

// If all workers refuse, the command computes its runs itself.
func TestAllWorkersRefuse(t *testing.T) {
	words := strings.Fields(pfq + " simulate " + write(t, "model.yaml", model) + " --runs 5 --jumps 2000 --format json")
	command, err := NewCommand(words, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := newFarm(t, 1)
	f.runners[0].programs = nil
	var out, errs bytes.Buffer
	err = Run(t.Context(), command, Settings{Least: time.Hour, Stdout: &out, Stderr: &errs, Name: "me"}, f.submit)
	got := speed.ReplaceAllString(out.String(), `"jumps_per_second": null`)
	if err != nil || got != outputOf(t, words) {
		t.Errorf("%v\n%s", err, got)
	}
	const want = "me: note: 1 of 1 tasks were given up (refused: this worker has no program pfq); " +
		"their runs are done here\n"
	if !strings.HasPrefix(errs.String(), want) {
		t.Errorf("%q", &errs)
	}
}

// prepared returns a command with the manifest of its runs.
func prepared(t *testing.T, line string) (*Command, *manifest) {
	t.Helper()
	command, err := NewCommand(strings.Fields(pfq+" "+line), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f, missing, err := command.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known, rate, err := command.runPilot(t.Context(), missing)
	if err != nil || !(rate > 0) {
		t.Fatal(rate, err)
	}
	m := &manifest{Program: "pfq", SHA256: command.sha256, Args: command.there, Fingerprint: f, Canary: known}
	m.Tasks, _ = group(missing, rate, 0)
	return command, m
}

// handle executes a task of a manifest.
func handle(t *testing.T, r *Runner, command *Command, m *manifest, number int) ([]byte, error) {
	t.Helper()
	files, err := command.contents(m)
	if err != nil {
		t.Fatal(err)
	}
	f := farm{T: t}
	return r.Handle(t.Context(), wire.Task{Worker: "w", Number: number, Folder: f.folder(files),
		Run: wire.Run{Inputs: map[string]string{manifestName: wire.Digest(files[manifestName])}}})
}

// A worker refuses jobs for which it is unfit, and then executes others.
func TestRefusals(t *testing.T) {
	command, good := prepared(t, "simulate "+write(t, "model.yaml", model)+" --runs 2 --jumps 2000")
	f := newFarm(t, 1)
	r := f.runners[0]
	other := strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		change func(m *manifest)
		want   string
	}{
		"digest": {
			func(m *manifest) { m.SHA256 = other },
			"refused: " + pfq + " has SHA-256 " + command.sha256 + ", but the job needs " + other,
		},
		"version": {
			func(m *manifest) { m.Fingerprint.Version = "v9" }, "refused: the fingerprint of this worker is ",
		},
		"processor": {
			func(m *manifest) { m.Fingerprint.Arithmetic = other[:16] }, "refused: the fingerprint of this worker is ",
		},
		"canary": {
			func(m *manifest) { m.Canary.SHA256 = other },
			"refused: the result of run " + good.Canary.Key[:8] + " here has SHA-256 " + good.Canary.SHA256,
		},
		"unknown run": {
			func(m *manifest) { m.Canary.Key = other }, "run 00000000: no run of this command has this key",
		},
		"program": {func(m *manifest) { m.Program = "figures" }, "refused: this worker has no program figures"},
		"shell":   {func(m *manifest) { m.Program = "sh" }, "sweep.json: want a program, a canary and tasks"},
		"absolute": {
			func(m *manifest) { m.Args[1] = "/etc/passwd" },
			`refused: the argument "/etc/passwd" may name a file of this machine`,
		},
		"file": {
			func(m *manifest) { m.Args = append(m.Args, "--sizes=file:/etc/passwd") },
			`refused: the argument "--sizes=file:/etc/passwd" may name`,
		},
		"parent": {func(m *manifest) { m.Args[1] = "x/../../y" }, `refused: the argument "x/../../y" may name`},
		"bad usage": {
			func(m *manifest) { m.Args = append(m.Args, "--jumps", "1") },
			"exit status 2: pfq: --jumps = 1: want a number in [1000, 1e15]",
		},
		"no answer": {
			func(m *manifest) { m.Args = []string{"version"} }, "exit status 2: pfq: unknown flag: --parallel",
		},
		"task": {func(m *manifest) { m.Tasks = m.Tasks[:1] }, "sweep.json: task 1 of 1"},
	} {
		m := *good
		m.Args, m.Tasks = slices.Clone(m.Args), slices.Clone(m.Tasks)
		c.change(&m)
		if out, err := handle(t, r, command, &m, 1); err == nil || !strings.HasPrefix(err.Error(), c.want) ||
			out != nil {
			t.Errorf("%s: %s, %v, want %s", name, out, err, c.want)
		}
	}
	if out, err := handle(t, r, command, good, 1); err != nil || len(out) == 0 {
		t.Errorf("%s, %v", out, err)
	}
}

// A worker whose processor rounds differently detects that.
func TestOtherProcessor(t *testing.T) {
	command, m := prepared(t, "simulate "+write(t, "model.yaml", model)+" --runs 2 --jumps 2000")
	f := newFarm(t, 1)
	t.Setenv("GODEBUG", "cpu.all=off")
	if m.Fingerprint.Arch != "amd64" {
		return // the processor has no such features to turn off
	}
	if out, err := handle(t, f.runners[0], command, m, 0); err == nil ||
		!strings.HasPrefix(err.Error(), "refused: the fingerprint of this worker is ") {
		t.Errorf("%s, %v", out, err)
	}
}

// A dropped task stops its child promptly, and the next task starts a new one.
func TestDropped(t *testing.T) {
	command, m := prepared(t, "simulate "+write(t, "model.yaml", model)+" --runs 2 --jumps 2000")
	long, err := NewCommand(
		append([]string{pfq, "simulate"}, append(command.args[1:2:2], "--runs", "2", "--jumps", "1e12")...),
		t.TempDir(),
	)
	if err != nil {
		t.Fatal(err)
	}
	_, endless, err := long.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := newFarm(t, 1)
	folder := f.folder(nil)
	if err := long.copyTo(folder); err != nil {
		t.Fatal(err)
	}
	c, err := serve(t.Context(), t.Context(), pfq, long.there, folder, folder)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if a, err := c.do(ctx, endless[0].Key); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", a, err)
	}
	if err := c.close(); !errors.Is(err, context.Canceled) {
		t.Errorf("the child ended by %v", err)
	}
	if out, err := handle(t, f.runners[0], command, m, 0); err != nil {
		t.Errorf("%s, %v", out, err)
	}
}

// Invalid output of a task is rejected and leaves nothing behind.
func TestTake(t *testing.T) {
	command, m := prepared(t, "simulate "+write(t, "model.yaml", model)+" --runs 3 --jumps 2000")
	f := newFarm(t, 1)
	output, err := handle(t, f.runners[0], command, m, 2)
	if err != nil {
		t.Fatal(err)
	}
	other, err := handle(t, f.runners[0], command, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	command.results = filepath.Join(t.TempDir(), "none")
	failure, err := json.Marshal(cli.Answer{Key: m.Tasks[2][0], Error: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "\n", "{}\n", string(output[:len(output)-1]), string(output) + string(output),
		string(other), string(failure) + "\n", strings.Replace(string(output), ":", ": ", 1) + "x",
		strings.Replace(string(output), "1", "2", 1),
	} {
		var refused *input.Error
		if err := command.take(m.Tasks[2], []byte(bad)); !errors.As(err, &refused) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := os.Stat(command.results); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is kept: %v", err)
	}
	if err := command.take(m.Tasks[2], output); err != nil {
		t.Error(err)
	}
}

// Tasks are consecutive runs, are long enough except for the last one, and are limited in number.
func TestGroup(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(rt, "runs")
		if rapid.IntRange(0, 20).Draw(rt, "many") == 0 {
			n = 3*maxTasks + 7
		}
		list := make([]cli.Task, n)
		least := rapid.SampledFrom([]time.Duration{
			0, time.Millisecond, 20 * time.Millisecond, time.Hour,
		}).Draw(rt, "least")
		cost := rapid.SampledFrom([]float64{0, 1, 1e6}).Draw(rt, "cost")
		for i := range list {
			list[i] = cli.Task{Key: fmt.Sprint(i), Cost: cost * float64(i%3+1)}
		}
		const rate = 1e-3
		keys, works := group(list, rate, least)
		next, total := 0, 0.0
		for k, own := range keys {
			work := 0.0
			for _, key := range own {
				if key != fmt.Sprint(next) {
					rt.Fatalf("run %s, want %d", key, next)
				}
				work += list[next].Cost * rate
				next++
			}
			if len(own) == 0 || works[k] != work || k < len(keys)-1 && work < least.Seconds() {
				rt.Fatalf("task %d: %d runs of %v s, reported as %v s", k, len(own), work, works[k])
			}
			total += work
		}
		if next != n || len(works) != len(keys) || len(keys) > 2*maxTasks {
			rt.Fatalf("%d runs of %d in %d tasks", next, n, len(keys))
		}
		if n > 0 {
			j := newJob(&manifest{Program: "pfq"}, Queue{}, works, nil)
			if err := j.Check(); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// Command lines that cannot be shared are rejected.
func TestNewCommand(t *testing.T) {
	for _, c := range []struct {
		words, results, want string
	}{
		{pfq + " simulate x", "", "results is missing: want a folder for the results of runs"},
		{"", "r", "COMMAND is missing: want pfq or figures with arguments"},
		{"/bin/sh -c x", "r", "COMMAND = /bin/sh: want pfq or figures"},
		{pfq + " simulate -", "r", "COMMAND = -: want the name of a file, because the command runs several times"},
		{pfq + " simulate x --results y", "r", "COMMAND = --results: want --results before COMMAND"},
		{pfq + " simulate x --part=0/2", "r", "COMMAND = --part=0/2: want a command that prints an answer"},
		{pfq + " simulate x --tasks list", "r", "COMMAND = --tasks: want a command that prints an answer"},
		{pfq + " simulate x --sizes=file:/nowhere/sizes", "r",
			"COMMAND = --sizes=file:/nowhere/sizes: want existing files, and no other paths of this machine"},
		{"./nowhere/pfq simulate x", "r", "exec: \"./nowhere/pfq\": stat ./nowhere/pfq: no such file or directory"},
	} {
		if _, err := NewCommand(strings.Fields(c.words), c.results); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.words, err, c.want)
		}
	}
	for _, output := range []string{"--output /there/is", "--output=/there/is", "-o ../is"} { // not sent to workers
		c, err := NewCommand(strings.Fields(pfq+" simulate x "+output+" --runs 5"), "r")
		if err != nil {
			t.Fatal(err)
		}
		if there := strings.Join(c.there, " "); strings.Contains(there, "is") ||
			!strings.HasSuffix(there, "output --runs 5") {
			t.Errorf("%s: workers get %s", output, there)
		}
	}
	command, err := NewCommand([]string{pfq, "solve", "x"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	unstable, err := NewCommand(
		[]string{pfq, "simulate", write(t, "model.yaml", strings.Replace(model, "1.5", "4", 1))}, t.TempDir(),
	)
	if err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	var ended *StatusError
	if err := Run(t.Context(), unstable, Settings{Stdout: &out, Stderr: &said}, nil); !errors.As(err, &ended) ||
		ended.Status != 1 || !strings.Contains(out.String(), "\nunstable: ") {
		t.Errorf("an unstable model: %v, %s%s", err, &out, &said)
	}
	if err := Run(t.Context(), command, Settings{}, nil); err == nil ||
		!strings.HasPrefix(err.Error(), "exit status 2: pfq: unknown flag: --results; it is a flag of allocate, ") {
		t.Errorf("a command without runs: %v", err)
	}
}

// Files get unique names that messages accept.
func TestFiles(t *testing.T) {
	a, b := write(t, "the model.yaml", model), write(t, strings.Repeat("x", 60)+".yaml", model)
	command, err := NewCommand(
		[]string{pfq, "simulate", a, "--sizes=swf:" + b, "--x", "file:" + a, "--y=" + b, "file:none", "1/2"}, "r",
	)
	if err != nil {
		t.Fatal(err)
	}
	long := "1-" + strings.Repeat("x", 43) + ".yaml"
	want := []string{
		"simulate", "0-the_model.yaml", "--sizes=swf:" + long, "--x", "file:0-the_model.yaml",
		"--y=" + long, "file:none", "1/2",
	}
	if !slices.Equal(command.there, want) || len(command.files) != 2 {
		t.Errorf("%q, want %q; %v", command.there, want, command.files)
	}
}
