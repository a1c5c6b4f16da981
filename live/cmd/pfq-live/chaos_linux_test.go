package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/manager"
	"productform/live/wire"
)

// chaosTasks is the number of tasks of a job.
const chaosTasks = 30

// A chaosCase holds the parameters of a chaos test.
type chaosCase struct {
	seed    uint64
	servers int // one, or three in a cluster with three copies
	// minimum number, submitted one after another; more until a process was killed and one was
	// suspended
	jobs   int
	pause  time.Duration // maximum time between two disturbances
	most   int           // maximum number of disturbances
	damage int           // after this many disturbances, the server is killed and its store damaged; 0 for never
}

// Server, managers and workers are killed and suspended at random on the wall clock, while jobs
// that run programs are submitted. In the end each task has one correct result and finished once,
// the plans have no gap, and an audit decides the same plans. PFQ_LIVE_LONG=N runs N cases of 2,010
// tasks.
func TestChaos(t *testing.T) {
	testChaos(t, chaosCase{servers: 1, jobs: 4, pause: 250 * time.Millisecond, most: 20})
}

// A single server's store is damaged between its death and its next start, and repaired if managers
// refuse to lead. Status and the errors in the managers' logs report every loss.
func TestChaosOfDamagedStores(t *testing.T) {
	t.Parallel() // mostly waits
	testChaos(t, chaosCase{servers: 1, jobs: 6, pause: 250 * time.Millisecond, most: 24, damage: 6})
}

// An external cluster of three servers has one server at a time killed or suspended.
func TestChaosOfThreeServers(t *testing.T) {
	t.Parallel() // mostly waits
	testChaos(t, chaosCase{servers: 3, jobs: 1, pause: 500 * time.Millisecond, most: 8})
}

func testChaos(t *testing.T, c chaosCase) {
	var tasks, kills, pauses, repeated, damaged, repairs, missing, gone int
	for c.seed = range uint64(hours(t)) {
		if hours(t) > 1 {
			c.jobs, c.pause, c.most = 67, 700*time.Millisecond, math.MaxInt
			if c.damage > 0 {
				c.damage = 25
			}
		}
		t.Run(strconv.FormatUint(c.seed, 10), func(t *testing.T) {
			x := runChaos(t, c)
			tasks, repeated = tasks+x.counts.Finished, repeated+x.counts.Begun-x.counts.Finished
			kills, pauses = kills+int(x.kills.Load()), pauses+int(x.pauses.Load())
			damaged, repairs, missing, gone = damaged+int(x.damaged.Load()), repairs+int(x.repairs.Load()),
				missing+x.missing, gone+x.gone
		})
	}
	t.Logf("in total %d tasks, %d kills, %d pauses, %d executions repeated", tasks, kills, pauses, repeated)
	if c.damage > 0 {
		t.Logf("%d stores damaged, %d repairs; reported losses: %d results, %d jobs", damaged, repairs, missing, gone)
	}
}

func runChaos(t *testing.T, of chaosCase) *chaos {
	begun := time.Now()
	ctx := limited(t, 3*time.Minute+10*time.Second*time.Duration(of.jobs))
	c := chaos{chaosCase: of, t: t, random: rand.New(rand.NewPCG(of.seed, uint64(of.servers)))}
	url := c.begin(t.TempDir())
	nc, err := connect(ctx, url, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	awaitStreams(ctx, t, js)
	users, err := client.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer users.Close()
	over, calm := context.WithCancel(ctx)
	defer calm()
	var views []wire.JobView
	var using sync.WaitGroup
	using.Go(func() {
		defer calm() // all jobs are done
		views = c.use(ctx, users)
	})
	if of.damage > 0 {
		var repairing sync.WaitGroup
		defer repairing.Wait()
		repairing.Go(func() { c.repair(over, url, users) })
	}
	c.disturb(over)
	using.Wait()
	if of.damage > 0 {
		c.checkNamed(ctx, users, js, views)
		return &c
	}
	for _, v := range views {
		if v.State != wire.JobCompleted || v.Failed != 0 || v.Left != 0 {
			t.Errorf("%+v", v)
		}
		checkResults(ctx, t, users, v.Name)
	}
	c.counts = checkPlans(ctx, t, users, js, views)
	n := &c.counts
	t.Logf(
		"%d tasks in %.0f s, %d kills, %d pauses, %d executions repeated (%.1f %%); a manager began to lead %d "+
			"times, %d lost the lead, %d of them by a rejected plan; messages stopped arriving %d times",
		n.Tasks, time.Since(begun).Seconds(), c.kills.Load(), c.pauses.Load(), n.Begun-n.Finished,
		100*float64(n.Begun-n.Finished)/float64(max(1, n.Finished)), c.said("msg=leading"),
		c.said("the lease is lost")+c.said("another manager has decided since"),
		c.said("another manager has decided since"), c.said("are not delivered"),
	)
	if len(views) < of.jobs || n.Tasks != n.Finished || n.Tasks != chaosTasks*len(views) {
		t.Errorf("%d jobs, %+v", len(views), n)
	}
	return &c
}

// chaos holds processes that are killed and suspended.
type chaos struct {
	chaosCase
	t         *testing.T
	random    *rand.Rand
	commands  [][]string // servers first
	processes []*process
	former    []*process

	kills, pauses    atomic.Int64
	damaged, repairs atomic.Int64
	missing, gone    int // reported losses: results and jobs
	store            string
	counts           wire.Counts // final counts
}

// begin starts servers, managers and workers, and returns the URL.
func (c *chaos) begin(folder string) (url string) {
	c.t.Helper()
	replicas := "1"
	if c.servers == 1 {
		address := freeAddress(c.t)
		url = "nats://" + address
		c.store = filepath.Join(folder, "store")
		c.commands = append(c.commands, []string{"server", "--store", c.store, "--listen", address, "--sync", "2m"})
	} else {
		replicas = "3"
		var files []string
		files, url = natsCluster(c.t, folder, c.servers)
		for _, f := range files {
			c.commands = append(c.commands, []string{"nats", f})
		}
	}
	for m := range 2 {
		c.commands = append(c.commands, []string{
			"manager", "--url", url, "--name", "m" + strconv.Itoa(m), "--lost-after", "500ms",
			"--replicas", replicas, "--learn-speeds",
		})
	}
	allow := filepath.Join(folder, "allow.yaml")
	if err := os.WriteFile(
		allow, []byte(`allow: {say: {path: /bin/sh, args: [-c, 'sleep 0.02; echo "$1 $2"', sh, "{job}", "{task}"]}}`),
		0o600,
	); err != nil {
		c.t.Fatal(err)
	}
	for w := range 6 {
		name := "w" + strconv.Itoa(w)
		c.commands = append(c.commands, []string{
			"worker", "--url", url, "--name", name, "--beat", "100ms", "--allow", allow, "--as-root",
			"--folder", filepath.Join(folder, name),
		})
	}
	for _, command := range c.commands {
		c.processes = append(c.processes, c.start(command))
	}
	return url
}

// start starts a process that ends when the test is killed, even if the process is suspended.
func (c *chaos) start(command []string) *process {
	c.t.Helper()
	return startWith(c.t, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}, command...)
}

// disturb kills and restarts processes, and suspends others for up to 4 s, until the context is
// done. At most one of several servers is suspended at a time, for up to 15 s.
func (c *chaos) disturb(ctx context.Context) {
	wake := make([]time.Time, len(c.processes)) // end of each suspension
	for done := 0; ; {
		over := ctx.Err() != nil || done >= c.most
		asleep := false // whether a server is suspended
		for k, at := range wake {
			if !at.IsZero() && (over || time.Now().After(at)) {
				c.signal(k, syscall.SIGCONT)
				wake[k] = time.Time{}
			}
			asleep = asleep || k < c.servers && !wake[k].IsZero()
		}
		if over {
			return
		}
		k := c.random.IntN(len(c.commands))
		switch {
		case c.damage > 0 && done%c.damage == c.damage-1:
			done++
			c.damageStore(wake)
		case !wake[k].IsZero() || asleep && k < c.servers:
		case done%4 == 2:
			done++
			c.signal(k, syscall.SIGSTOP)
			longest := 4000
			if c.servers > 1 && k < c.servers {
				longest = 15_000
			}
			wake[k] = time.Now().Add(time.Duration(c.random.IntN(longest)) * time.Millisecond)
			c.pauses.Add(1)
		default:
			done++
			c.processes[k].kill()
			c.former = append(c.former, c.processes[k])
			c.processes[k] = c.start(c.commands[k])
			c.kills.Add(1)
		}
		sleep(ctx, time.Duration(50+c.random.IntN(int(c.pause.Milliseconds())-50))*time.Millisecond)
	}
}

// damageStore kills the server, damages a stream of its store, and restarts it.
func (c *chaos) damageStore(wake []time.Time) {
	c.processes[0].kill()
	c.kills.Add(1)
	wake[0] = time.Time{}
	stream := servertest.CorruptibleStreams[c.random.IntN(len(servertest.CorruptibleStreams))]
	if c.random.IntN(2) == 0 { // choose the stream in which damage loses the most
		stream = []string{wire.InStream, wire.PlanStream}[c.random.IntN(2)]
	}
	what, err := servertest.CorruptStream(c.random, c.store, stream)
	if err != nil {
		c.t.Error(err)
	}
	// Otherwise the index may list unreadable reports, whose tasks cannot end; see live.md.
	if stream == wire.InStream {
		index, err := filepath.Glob(filepath.Join(c.store, "jetstream", "*", "streams", stream, "msgs", "index.db"))
		if err != nil {
			c.t.Error(err)
		}
		for _, file := range index {
			if err := os.Remove(file); err != nil {
				c.t.Error(err)
			}
		}
	}
	if what != "" {
		c.damaged.Add(1)
		c.t.Log(what)
	}
	c.former = append(c.former, c.processes[0])
	c.processes[0] = c.start(c.commands[0])
}

// repair repairs the store if managers refuse to lead.
func (c *chaos) repair(ctx context.Context, url string, users *client.Client) {
	for ctx.Err() == nil {
		var damage *client.DamageError
		if _, err := users.Status(ctx); errors.As(err, &damage) {
			p := c.start([]string{"repair", "--apply", "--url", url})
			_ = p.cmd.Wait() // the server may be killed in the meantime
			if strings.Contains(p.said.String(), "done:") {
				c.repairs.Add(1)
			}
			c.t.Logf("%v\n%s", damage, p.said)
			sleep(ctx, 3*time.Second) // managers check again
		}
		sleep(ctx, 200*time.Millisecond)
	}
}

// checkNamed checks that all results exist and are correct, or are known to be lost.
func (c *chaos) checkNamed(ctx context.Context, users *client.Client, js jetstream.JetStream, views []wire.JobView) {
	c.t.Helper()
	status, err := users.Status(ctx)
	for ; err != nil; status, err = users.Status(ctx) { // wait until a manager leads
		if ctx.Err() != nil {
			c.t.Fatal(err)
		}
	}
	c.counts = status.Cluster.Counts
	audited, err := audit(ctx, js)
	if err != nil {
		c.t.Error(err)
		return
	}
	named := c.said("level=ERROR msg=\"the server has lost messages") + c.said("level=ERROR msg=\"the store is damaged")
	results := 0
	for i := range views {
		v, err := users.Job(ctx, views[i].Name) // the loss may have been found by now
		if errors.Is(err, client.ErrUnknown) {
			if c.gone++; named == 0 {
				c.t.Errorf("job %s is gone, but no loss is reported", views[i].Name)
			}
			continue
		}
		if err != nil {
			c.t.Error(err)
			continue
		}
		if v.State != wire.JobCompleted || v.Left != 0 || v.Tasks != chaosTasks {
			c.t.Errorf("%+v", v)
		}
		seen := map[int]bool{}
		for r, err := range users.Results(ctx, v.Name, 0) {
			var missing *client.MissingError
			if errors.As(err, &missing) {
				break
			}
			if err != nil {
				c.t.Fatal(err)
			}
			if want := fmt.Sprintf("%s %d\n", v.Name, r.Report.Task); string(r.Report.Output) != want ||
				seen[r.Report.Task] {
				c.t.Errorf("job %s, task %d: %q, want %q once", v.Name, r.Report.Task, r.Report.Output, want)
			}
			seen[r.Report.Task] = true
		}
		lost := chaosTasks - len(seen)
		// No leader writes the view of a job that is not in the log, so only audit counts its
		// results.
		isKnown := !slices.ContainsFunc(audited.Contents, func(line string) bool {
			return strings.HasPrefix(line, "job "+v.Name+": ")
		})
		// Leaders check reports in the background.
		for begun := time.Now(); isKnown && v.Missing != lost && time.Since(begun) < 30*time.Second; sleep(ctx,
			100*time.Millisecond) {
			if now, err := users.Job(ctx, v.Name); err == nil {
				v = now
			}
		}
		if lost != audited.Missing[v.Name] || isKnown && v.Missing != lost || lost > 0 && named == 0 {
			c.t.Errorf("job %s: %d results are gone; its view reports %d, the audit %d", v.Name, lost, v.Missing,
				audited.Missing[v.Name])
		}
		c.missing += lost
		results += len(seen)
	}
	n := &c.counts
	c.t.Logf("%d jobs, %d results checked, %d kills, %d pauses, %d stores damaged, %d repairs; reported losses: %d "+
		"results, %d jobs; adopted %d, put aside %d, vanished %d",
		len(views), results, c.kills.Load(), c.pauses.Load(), c.damaged.Load(), c.repairs.Load(), c.missing, c.gone,
		n.Adopted, n.Aside, n.Gone)
}

func (c *chaos) signal(k int, s syscall.Signal) {
	if err := c.processes[k].cmd.Process.Signal(s); err != nil {
		c.t.Errorf("%v: %v\n%s", c.commands[k], err, c.processes[k].said)
	}
}

// said returns the number of times that a text occurs in the output of all processes.
func (c *chaos) said(what string) (n int) {
	for _, p := range slices.Concat(c.former, c.processes) {
		n += strings.Count(p.said.String(), what)
	}
	return n
}

// use submits jobs one after another, and waits for all of them.
func (c *chaos) use(ctx context.Context, users *client.Client) []wire.JobView {
	var names []string
	for k := 0; k < c.jobs || c.kills.Load() < 3 || c.pauses.Load() == 0; k++ {
		name := "j" + strconv.Itoa(k)
		job := wire.Job{
			Name:     name,
			Tasks:    chaosTasks,
			Work:     0.03,
			Priority: float64(k % 3),
			Run:      wire.Run{Kind: "command", Program: "say"},
		}
		try, cancel := context.WithTimeout(ctx, time.Minute)
		_, err := users.Submit(try, wire.Batch{Name: name, Jobs: []wire.Job{job}})
		cancel()
		if err != nil && c.damage > 0 && ctx.Err() == nil { // the job was not acknowledged
			c.t.Logf("job %s: %v", name, err)
			continue
		}
		if err != nil {
			c.t.Errorf("job %s: %v", name, err)
			return nil
		}
		names = append(names, name)
		sleep(ctx, 100*time.Millisecond)
	}
	if c.damage == 0 {
		views, err := users.Wait(ctx, names...)
		if err != nil {
			c.t.Error(err)
		}
		return views
	}
	var views []wire.JobView
	for _, name := range names { // some jobs may be lost
		one, err := users.Wait(ctx, name)
		switch {
		case err == nil:
			views = append(views, one...)
		case errors.Is(err, client.ErrUnknown):
			views = append(views, wire.JobView{Name: name})
		default:
			c.t.Error(err)
			return views
		}
	}
	return views
}

// checkResults compares the results of a job with the expected output of its tasks.
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
			t.Errorf("job %s: task %d has %d results, want 1", job, k, seen[k])
		}
	}
	if len(seen) != chaosTasks {
		t.Errorf("job %s: results of tasks %v", job, seen)
	}
}

// checkPlans reads the log. It checks that plans are numbered without a gap, that each task
// finishes once, and that deciding the plans again gives the same plans.
func checkPlans(
	ctx context.Context, t *testing.T, users *client.Client, js jetstream.JetStream, views []wire.JobView,
) wire.Counts {
	t.Helper()
	status, err := users.Status(ctx)
	for ; err != nil; status, err = users.Status(ctx) { // wait until a manager leads
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	finished, err := readFinished(ctx, t, js, status.Cluster.Plan)
	// servers find each other again
	for ; wire.IsAway(err) && ctx.Err() == nil; finished, err = readFinished(ctx, t, js, status.Cluster.Plan) {
		sleep(ctx, 100*time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	for task, n := range finished {
		if n != 1 {
			t.Errorf("job and task %v finish %d times, want 1", task, n)
		}
	}
	if len(finished) != chaosTasks*len(views) {
		t.Errorf("%d tasks finish in the plans of %d jobs", len(finished), len(views))
	}
	if _, err := audit(ctx, js); err != nil {
		t.Error(err)
	}
	return status.Cluster.Counts
}

// audit audits the plans. It retries while servers find each other, since a request whose response
// is lost ends only at its deadline.
func audit(ctx context.Context, js jetstream.JetStream) (*manager.Audited, error) {
	for {
		try, cancel := context.WithTimeout(ctx, 20*time.Second)
		a, err := manager.Audit(try, js)
		cancel()
		if !wire.IsAway(err) || ctx.Err() != nil {
			return a, err
		}
		sleep(ctx, 100*time.Millisecond)
	}
}

// readFinished counts how often each task finishes in the plans up to a number, by job and task.
// The error is an error of the server.
func readFinished(ctx context.Context, t *testing.T, js jetstream.JetStream, to uint64) (map[[2]int]int, error) {
	t.Helper()
	next, finished := uint64(1), map[[2]int]int{}
	for p, err := range manager.Plans(ctx, js) {
		if err != nil {
			return nil, err
		}
		if p.Number != next {
			t.Fatalf("plan %d after %d", p.Number, next-1)
		}
		for _, e := range p.Events {
			if e.Kind == dispatch.Finished {
				finished[[2]int{e.Job, e.Task}]++
			}
		}
		if next++; next > to {
			break
		}
	}
	return finished, nil
}
