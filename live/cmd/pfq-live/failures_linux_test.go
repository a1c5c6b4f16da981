package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/manager"
	"productform/live/wire"
	"productform/live/worker"
)

// A cluster is a set of processes: a server, managers, and workers.
type cluster struct {
	b                 *testing.B
	server            *process
	serverArgs        []string
	managers, workers []*process
	managerArgs       [][]string
	client            *client.Client
	js                jetstream.JetStream
}

// startCluster starts processes that end with the benchmark. Workers are w0, w1, ..., and managers
// m0, m1, ...
func startCluster(b *testing.B, managers, workers, slots int) *cluster {
	b.Helper()
	address := freeAddress(b)
	url := "nats://" + address
	c := &cluster{b: b, serverArgs: []string{
		"server", "--store", filepath.Join(b.TempDir(), "store"), "--listen", address, "--sync", "2m",
	}}
	c.server = c.start(c.serverArgs)
	for m := range managers {
		c.managerArgs = append(c.managerArgs, []string{"manager", "--url", url, "--name", "m" + strconv.Itoa(m)})
		c.managers = append(c.managers, c.start(c.managerArgs[m]))
	}
	for w := range workers {
		c.workers = append(c.workers, c.start([]string{
			"worker", "--url", url, "--name", "w" + strconv.Itoa(w), "--slots", strconv.Itoa(slots),
		}))
	}
	nc, err := connect(b.Context(), url, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nc.Close)
	if c.js, err = jetstream.New(nc); err != nil {
		b.Fatal(err)
	}
	awaitStreams(b.Context(), b, c.js)
	if c.client, err = client.Connect(b.Context(), url); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.client.Close)
	awaitWorkers(b, c.client, wire.WorkerAvailable, workers*slots)
	return c
}

func (c *cluster) start(args []string) *process {
	c.b.Helper()
	return startWith(c.b, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}, args...)
}

// submit submits a job of sleeping tasks.
func (c *cluster) submit(name string, tasks int, work float64) {
	c.b.Helper()
	job := wire.Job{Name: name, Tasks: tasks, Work: work, Run: wire.Run{Kind: worker.KindSleep}}
	if _, err := c.client.Submit(c.b.Context(), wire.Batch{Jobs: []wire.Job{job}}); err != nil {
		c.b.Fatal(err)
	}
}

// finished returns the number of finished tasks.
func (c *cluster) finished() int {
	c.b.Helper()
	s, err := c.client.Status(c.b.Context())
	for ; err != nil; s, err = c.client.Status(c.b.Context()) { // repeat while no manager leads
		sleep(c.b.Context(), 10*time.Millisecond)
		if c.b.Context().Err() != nil {
			c.b.Fatal(err)
		}
	}
	return s.Cluster.Counts.Finished
}

// plans sends new plans after a sequence of PFQ_PLAN, with their times of arrival.
func (c *cluster) plans(after uint64) (plans <-chan timedPlan, stop func()) {
	c.b.Helper()
	ctx, cancel := context.WithCancel(c.b.Context())
	consumer, err := c.js.OrderedConsumer(ctx, wire.PlanStream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1,
	})
	if err != nil {
		c.b.Fatal(err)
	}
	out := make(chan timedPlan, 1<<16)
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		at := time.Now()
		if p, err := wire.Decode[wire.Plan](m.Data()); err == nil {
			select {
			case out <- timedPlan{p, at}:
			case <-ctx.Done():
			}
		}
	})
	if err != nil {
		c.b.Fatal(err)
	}
	return out, func() { consuming.Stop(); cancel() }
}

type timedPlan struct {
	*wire.Plan
	at time.Time
}

// await returns the arrival of a plan with an event of the given worker.
func await(b *testing.B, plans <-chan timedPlan, kind dispatch.Kind, number int) time.Time {
	b.Helper()
	for {
		select {
		case p := <-plans:
			for _, e := range p.Events {
				if e.Kind == kind && e.Worker == number {
					return p.at
				}
			}
		case <-time.After(30 * time.Second):
			b.Fatalf("worker %d: no event %v for 30 s", number, kind)
		}
	}
}

// numbers returns the numbers of the workers that are processes with one slot.
func (c *cluster) numbers() (list []int) {
	c.b.Helper()
	for w := range c.workers {
		v, err := c.client.Worker(c.b.Context(), "w"+strconv.Itoa(w))
		if err != nil {
			c.b.Fatal(err)
		}
		list = append(list, v.Number)
	}
	return list
}

// lost measures the time from a signal to a worker with a running task until the plan that marks
// the worker as down and gives its task to another one.
func lost(b *testing.B, what string, s syscall.Signal, times int) {
	for b.Loop() {
		c := startCluster(b, 1, 4, 1)
		numbers := c.numbers()
		plans, stop := c.plans(0)
		defer stop()
		c.submit("long", 1000, 1000)
		awaitWorkers(b, c.client, wire.WorkerBusy, len(numbers))
		var found []time.Duration
		random := rand.New(rand.NewPCG(1, 1))
		for k := range times {
			w := k % len(c.workers)
			sleep(b.Context(), time.Duration(random.IntN(500))*time.Millisecond) // heartbeats are 500 ms apart
			at := time.Now()
			if err := c.workers[w].cmd.Process.Signal(s); err != nil {
				b.Fatal(err)
			}
			found = append(found, await(b, plans, dispatch.Failed, numbers[w]).Sub(at))
			if s == syscall.SIGSTOP {
				if err := c.workers[w].cmd.Process.Signal(syscall.SIGCONT); err != nil {
					b.Fatal(err)
				}
			} else {
				_ = c.workers[w].cmd.Wait() // it was killed
				c.workers[w] = c.start(c.workers[w].cmd.Args[1:])
			}
			await(b, plans, dispatch.Started, numbers[w])
		}
		reportQuantiles(b, what, found)
	}
}

// BenchmarkKilledWorker measures the time from kill -9 of a worker to the plan that reports it.
func BenchmarkKilledWorker(b *testing.B) { lost(b, "found", syscall.SIGKILL, 20) }

// BenchmarkSilentWorker measures the time from the suspension of a worker to the plan that reports
// it. --lost-after is 2 s, and heartbeats are 500 ms apart.
func BenchmarkSilentWorker(b *testing.B) { lost(b, "found", syscall.SIGSTOP, 8) }

// BenchmarkMillionTasks runs a million empty tasks in one job. It measures the rate of tasks and
// the peak memory of server and managers. It kills the leader after 100,000 tasks, and measures the
// time until another manager decides. After all tasks it kills and restarts server and managers,
// and measures the time until everything is available again. PFQ_LIVE_TASKS=N runs N tasks instead.
func BenchmarkMillionTasks(b *testing.B) {
	tasks := 1_000_000
	if text := os.Getenv("PFQ_LIVE_TASKS"); text != "" {
		var err error
		if tasks, err = strconv.Atoi(text); err != nil || tasks < 10 {
			b.Fatalf("PFQ_LIVE_TASKS=%s: want an integer >= 10", text)
		}
	}
	for b.Loop() {
		c := startCluster(b, 2, 1, 8)
		begun := time.Now()
		c.submit("million", tasks, 0)
		for c.finished() < tasks/10 {
			sleep(b.Context(), 100*time.Millisecond)
		}
		b.ReportMetric(c.takeOver().Seconds(), "take-over-s")
		var most int64 // peak memory of all managers
		for n := 0; n < tasks; n = c.finished() {
			for _, p := range c.managers {
				most = max(most, peakMemory(b, p))
			}
			sleep(b.Context(), 500*time.Millisecond)
		}
		b.ReportMetric(float64(tasks)/time.Since(begun).Seconds(), "tasks/s")
		b.ReportMetric(float64(most)/1e6, "manager-MB")
		b.ReportMetric(float64(peakMemory(b, c.server))/1e6, "server-MB")
		c.restart(tasks)
		b.ReportMetric(0, "ns/op") // meaningless
	}
}

// takeOver kills the leading manager, and returns the time until another manager has appended a
// plan. It then restarts the killed one.
func (c *cluster) takeOver() time.Duration {
	c.b.Helper()
	s, err := c.client.Status(c.b.Context())
	if err != nil {
		c.b.Fatal(err)
	}
	log, err := c.js.Stream(c.b.Context(), wire.PlanStream)
	if err != nil {
		c.b.Fatal(err)
	}
	plans, stop := c.plans(log.CachedInfo().State.LastSeq)
	defer stop()
	k, err := strconv.Atoi(strings.TrimPrefix(s.Cluster.Leader, "m"))
	if err != nil {
		c.b.Fatal(err)
	}
	c.managers[k].kill()
	at := time.Now()
	for p := range plans {
		if p.Leader != s.Cluster.Leader {
			c.managers[k] = c.start(c.managerArgs[k])
			return p.at.Sub(at)
		}
		if time.Since(at) > time.Minute {
			c.b.Fatal("no manager takes over")
		}
	}
	panic("not reached: plans are never closed")
}

// restart kills all managers and starts one, then does the same with the server included. It
// reports the times without the remaining lease of the killed manager.
func (c *cluster) restart(tasks int) {
	c.b.Helper()
	again := func(what string, start func()) {
		for _, m := range c.managers {
			m.kill()
		}
		sleep(c.b.Context(), 3*time.Second) // the lease expires
		at := time.Now()
		start()
		if n := c.finished(); n != tasks {
			c.b.Errorf("after the restart %d of %d tasks are done", n, tasks)
		}
		c.b.ReportMetric(time.Since(at).Seconds(), what)
	}
	again("manager-restart-s", func() { c.managers = []*process{c.start(c.managerArgs[0])} })
	again("server-restart-s", func() {
		c.server.kill()
		c.server = c.start(c.serverArgs)
		c.managers = []*process{c.start(c.managerArgs[0])}
	})
	if _, err := manager.Audit(c.b.Context(), c.js); err != nil {
		c.b.Error(err)
	}
}

// peakMemory returns the peak memory of a process in bytes.
func peakMemory(b *testing.B, p *process) int64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0 // it was killed
	}
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kb, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return kb << 10
}
