package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/manager"
	"productform/live/wire"
)

// chaosTasks are the tasks of a job.
const chaosTasks = 30

// Server, managers and workers are killed and put to sleep at random on the wall clock, while jobs of programs are submitted. In the end
// each task has one result, which is right, and was finished once; the plans have no gap, and decided again they are the same.
// PFQ_LIVE_LONG=N goes on N times as long.
func TestChaos(t *testing.T) {
	long := time.Duration(hours(t))
	ctx := limited(t, 60*time.Second+10*time.Second*long)
	address, folder := freeAddress(t), t.TempDir()
	url := "nats://" + address
	c := chaos{t: t, random: rand.New(rand.NewPCG(1, uint64(long)))}
	c.commands = append(c.commands, []string{"server", "--store", filepath.Join(folder, "store"), "--listen", address, "--sync", "2m"})
	for m := range 2 {
		c.commands = append(c.commands, []string{"manager", "--url", url, "--name", "m" + strconv.Itoa(m), "--lost-after", "500ms"})
	}
	allow := filepath.Join(folder, "allow.yaml")
	if err := os.WriteFile(allow, []byte(`allow: {say: {path: /bin/sh, args: [-c, 'sleep 0.02; echo "$1 $2"', sh, "{job}", "{task}"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for w := range 6 {
		name := "w" + strconv.Itoa(w)
		c.commands = append(c.commands, []string{"worker", "--url", url, "--name", name, "--beat", "100ms", "--allow", allow, "--as-root",
			"--folder", filepath.Join(folder, name)})
	}
	for _, command := range c.commands {
		c.processes = append(c.processes, c.start(command))
	}
	nc, err := connect(ctx, url, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, err = js.Stream(ctx, "PFQ_BLOB"); err != nil; _, err = js.Stream(ctx, "PFQ_BLOB") { // until the server has made all
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		rest(ctx, 20*time.Millisecond)
	}
	users, err := client.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer users.Close()
	over, calm := context.WithTimeout(ctx, 5*time.Second*long)
	defer calm()
	var jobs []string
	var submitting sync.WaitGroup
	submitting.Go(func() { jobs = submitUntil(ctx, t, users, over) })
	c.disturb(over)
	submitting.Wait()
	views, err := users.Wait(ctx, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		if v.State != wire.JobCompleted || v.Failed != 0 || v.Left != 0 {
			t.Errorf("%+v", v)
		}
		checkResults(ctx, t, users, v.Name)
	}
	counts := checkPlans(ctx, t, users, js, views)
	t.Logf("%d tasks, %d kills, %d pauses, %d executions repeated (%.1f %%)", counts.Tasks, c.kills, c.pauses, counts.Begun-counts.Finished,
		100*float64(counts.Begun-counts.Finished)/float64(counts.Finished))
	if c.kills == 0 || c.pauses == 0 || counts.Tasks < chaosTasks || counts.Tasks != counts.Finished || counts.Tasks != chaosTasks*len(jobs) {
		t.Errorf("%d jobs, %+v", len(jobs), counts)
	}
}

// chaos are processes that are ended and put to sleep.
type chaos struct {
	t         *testing.T
	random    *rand.Rand
	commands  [][]string
	processes []*process

	kills, pauses int
}

// start starts a process that ends where the test is killed, even if it is asleep by then.
func (c *chaos) start(command []string) *process {
	c.t.Helper()
	return startWith(c.t, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}, command...)
}

// disturb kills processes, which start again at once, and puts others to sleep for up to 3 s, until the context is done.
func (c *chaos) disturb(ctx context.Context) {
	wake := make([]time.Time, len(c.processes)) // of those that sleep
	for {
		over := ctx.Err() != nil
		for k, at := range wake {
			if !at.IsZero() && (over || time.Now().After(at)) {
				c.signal(k, syscall.SIGCONT)
				wake[k] = time.Time{}
			}
		}
		if over {
			return
		}
		k := c.random.IntN(len(c.commands))
		switch {
		case !wake[k].IsZero():
		case c.random.IntN(4) == 0:
			c.signal(k, syscall.SIGSTOP)
			wake[k] = time.Now().Add(time.Duration(c.random.IntN(3000)) * time.Millisecond)
			c.pauses++
		default:
			c.processes[k].kill()
			c.processes[k] = c.start(c.commands[k])
			c.kills++
		}
		rest(ctx, time.Duration(50+c.random.IntN(200))*time.Millisecond)
	}
}

func (c *chaos) signal(k int, s syscall.Signal) {
	if err := c.processes[k].cmd.Process.Signal(s); err != nil {
		c.t.Error(err)
	}
}

// submitUntil submits jobs until a context is done, and returns their names.
func submitUntil(ctx context.Context, t *testing.T, users *client.Client, over context.Context) (jobs []string) {
	t.Helper()
	for over.Err() == nil {
		name := "j" + strconv.Itoa(len(jobs))
		job := wire.Job{Name: name, Tasks: chaosTasks, Work: 0.03, Priority: float64(len(jobs) % 3), Run: wire.Run{Kind: "command", Program: "say"}}
		if _, err := users.Submit(ctx, wire.Batch{Name: name, Jobs: []wire.Job{job}}); err != nil {
			t.Errorf("job %s: %v", name, err)
			return jobs
		}
		jobs = append(jobs, name)
		rest(over, 100*time.Millisecond)
	}
	return jobs
}

// checkResults holds the results of a job to what its tasks say.
func checkResults(ctx context.Context, t *testing.T, users *client.Client, job string) {
	t.Helper()
	seen := map[int]int{}
	for r, err := range users.Results(ctx, job, 0) {
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := users.Output(ctx, &r.Report, &out); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%s %d\n", job, r.Report.Task); out.String() != want {
			t.Errorf("job %s, task %d: %q, want %q", job, r.Report.Task, &out, want)
		}
		seen[r.Report.Task]++
	}
	for k := range chaosTasks {
		if seen[k] != 1 {
			t.Errorf("job %s: task %d has %d results", job, k, seen[k])
		}
	}
	if len(seen) != chaosTasks {
		t.Errorf("job %s: results of tasks %v", job, seen)
	}
}

// checkPlans reads the log: its plans are numbered without a gap, each task finishes once in them, and decided again they are the
// same.
func checkPlans(ctx context.Context, t *testing.T, users *client.Client, js jetstream.JetStream, views []wire.JobView) wire.Counts {
	t.Helper()
	status, err := users.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	next, finished := uint64(1), map[[2]int]int{}
	for p, err := range manager.Plans(ctx, js) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Number != next {
			t.Fatalf("plan %d after %d", p.Number, next-1)
		}
		for _, e := range p.Events {
			if e.Kind == dispatch.Finished {
				finished[[2]int{e.Job, e.Task}]++
			}
		}
		if next++; next > status.Cluster.Plan {
			break
		}
	}
	for task, n := range finished {
		if n != 1 {
			t.Errorf("job and task %v finish %d times", task, n)
		}
	}
	if len(finished) != chaosTasks*len(views) {
		t.Errorf("%d tasks finish in the plans of %d jobs", len(finished), len(views))
	}
	if _, err := manager.Audit(ctx, js); err != nil {
		t.Error(err)
	}
	return status.Cluster.Counts
}
