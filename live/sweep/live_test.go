package sweep_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/manager"
	"productform/live/sweep"
	"productform/live/wire"
)

// A cluster is a live system with server and manager in this process, and workers in others.
type cluster struct {
	t    *testing.T
	url  string
	user *client.Client
}

func newCluster(ctx context.Context, t *testing.T) *cluster {
	rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}}
	url, _, stop := servertest.ExampleWith(manager.Run, manager.Settings{
		Name:      "manager",
		Rules:     rules,
		LostAfter: 300 * time.Millisecond,
	})
	t.Cleanup(stop)
	user, err := client.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(user.Close)
	return &cluster{t, url, user}
}

// work starts a process of workers with TestMain, and kills it at the end of the test.
func (c *cluster) work(name string, slots int, environment ...string) *exec.Cmd {
	w := exec.Command(os.Args[0])
	w.Env = append(append(os.Environ(), "SWEEP_SERVER="+c.url, "SWEEP_WORKER="+name, "SWEEP_SLOTS="+strconv.Itoa(slots),
		"SWEEP_PFQ="+sweep.PFQ(), "SWEEP_FOLDER="+c.t.TempDir()), environment...)
	w.Stderr = os.Stderr
	if err := w.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = w.Process.Kill() // it may have ended
		_ = w.Wait()         // reports that it was killed
	})
	return w
}

// startOthers starts two more workers, after the first one has refused a task if it is unfit. It kills
// one of them after ten runs.
func (c *cluster) startOthers(ctx context.Context, kept func() int) error {
	for refused := runtime.GOARCH != "amd64"; !refused; time.Sleep(time.Millisecond) {
		jobs, err := c.user.Jobs(ctx)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			failures, err := c.user.Failures(ctx, j.Name)
			if err != nil {
				return err
			}
			for _, f := range failures {
				if !strings.HasPrefix(f.Reason, "refused: the fingerprint of this worker is ") {
					return errors.New(f.Reason)
				}
				refused = true
			}
		}
	}
	short := c.work("short", 1)
	c.work("long", 2)
	for kept() < 10 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return short.Process.Kill()
}

// A sweep by live workers gives the digits of a single process and leaves no job behind. One worker
// is killed during a run, and another one has a processor that rounds differently, simulated by a
// setting of Go.
func TestLive(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := newCluster(ctx, t)

	words := append(
		[]string{sweep.PFQ()}, strings.Fields("simulate "+sweep.Model(t)+" --runs 60 --jumps 100000 --format json")...,
	)
	out, err := exec.Command(words[0], words[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`"jumps_per_second": [0-9.e+]+`).ReplaceAllString(
		string(out), `"jumps_per_second": null`,
	)

	results := t.TempDir()
	kept := func() int {
		names, err := filepath.Glob(filepath.Join(results, "*", "*.json"))
		if err != nil {
			t.Error(err)
		}
		return len(names)
	}
	c.work("unfit", 1, "GODEBUG=cpu.all=off")
	killed := make(chan error, 1)
	go func() { killed <- c.startOthers(ctx, kept) }()
	command, err := sweep.NewCommand(words, results)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if err := sweep.Run(
		ctx, command,
		sweep.Settings{Queue: sweep.Queue{Priority: 3}, Least: time.Microsecond, Stdout: &stdout, Stderr: &stderr},
		c.user.RunJob,
	); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if err := <-killed; err != nil {
		t.Error(err)
	}
	if stdout.String() != want {
		t.Errorf("%s\nwant\n%s", &stdout, want)
	}
	if kept() != 60 || strings.Contains(stderr.String(), "given up") {
		t.Errorf("%d runs are kept; %s", kept(), &stderr)
	}
	for { // the clearing takes effect later
		jobs, err := c.user.Jobs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, j := range jobs {
			if j.State != wire.JobCleared {
				left++
			}
		}
		if left == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A figure computed by workers, one of which is killed during a run, has the same CSV and JSON
// bytes as from a single process.
func TestFigure(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := newCluster(ctx, t)
	figures, one, many, results := sweep.Build(t, "figures"), t.TempDir(), t.TempDir(), t.TempDir()
	words := append([]string{figures}, strings.Fields("--only bf-6 --precision draft --format csv --output")...)
	if out, err := exec.CommandContext(ctx, words[0], append(words[1:], one)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	short := c.work("short", 1, "SWEEP_FIGURES="+figures)
	c.work("long", 2, "SWEEP_FIGURES="+figures)
	command, err := sweep.NewCommand(append(words, many), results)
	if err != nil {
		t.Fatal(err)
	}
	submit, tasks, taken := c.user.RunJob, 0, 0
	killing := func(
		ctx context.Context, job wire.Job, files map[string][]byte, take func(int, []byte) error,
	) (int, string, error) {
		tasks = job.Tasks
		return submit(ctx, job, files, func(task int, output []byte) error {
			if taken++; taken == 10 {
				if err := short.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
			return take(task, output)
		})
	}
	var said bytes.Buffer
	if err := sweep.Run(
		ctx, command, sweep.Settings{Least: time.Microsecond, Stdout: &bytes.Buffer{}, Stderr: &said}, killing,
	); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	if tasks != 49 || taken != tasks { // the sweep itself computes one run
		t.Errorf("workers did %d of %d tasks, want 49", taken, tasks)
	}
	for _, name := range []string{"bf-6.csv", "checks.json"} {
		got, err := os.ReadFile(filepath.Join(many, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) || len(got) < 1000 {
			t.Errorf("%s differs from the result of one process, or is truncated:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// An interrupted sweep cancels its job. Finished runs are in the folder, and the next sweep
// computes only the others.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := newCluster(ctx, t)
	c.work("w", 2)
	results := t.TempDir()
	command, err := sweep.NewCommand(
		append([]string{sweep.PFQ()}, strings.Fields("simulate "+sweep.Model(t)+" --runs 40 --jumps 100000")...),
		results,
	)
	if err != nil {
		t.Fatal(err)
	}
	first, interrupt := context.WithCancel(ctx)
	submit := c.user.RunJob
	taken, tasks := 0, 0
	counting := func(
		ctx context.Context, job wire.Job, files map[string][]byte, take func(int, []byte) error,
	) (int, string, error) {
		tasks = job.Tasks
		return submit(ctx, job, files, func(task int, output []byte) error {
			if taken++; taken == 5 {
				interrupt()
			}
			return take(task, output)
		})
	}
	s := sweep.Settings{Least: time.Microsecond, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	if err := sweep.Run(first, command, s, counting); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	for {
		jobs, err := c.user.Jobs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) == 1 && (jobs[0].State == wire.JobCancelled || jobs[0].State == wire.JobCompleted) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	before := taken
	if err := sweep.Run(ctx, command, s, counting); err != nil {
		t.Fatal(err)
	}
	if before < 5 || tasks != 40-1-before-1 { // each sweep computes one run itself
		t.Errorf("%d tasks after %d results", tasks, before)
	}
}
