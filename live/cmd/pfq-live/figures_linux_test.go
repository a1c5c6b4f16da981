package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/keys"
	"productform/live/manager"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// These benchmarks measure the figures of docs/live.md. Each runs its measurement once, for a few
// seconds:
//
//	go test -run '^$' -bench . -benchtime 1x -timeout 20m ./cmd/pfq-live

// syncs are the two ways to write to disk, by values of --sync.
var syncs = []struct {
	name string
	sync time.Duration
}{{"2m", 2 * time.Minute}, {"always", 0}}

// serveHere runs a server on a folder, a manager and workers in this process, as pfq-live serve
// does. It returns a client once all workers have joined.
func serveHere(b *testing.B, sync time.Duration, workers int, handlers map[string]worker.Handler) *client.Client {
	b.Helper()
	s, err := server.Start(b.Context(), server.Settings{Store: filepath.Join(b.TempDir(), "store"), Sync: sync})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	nc, err := keys.Connect(b.Context(), s.URL(), "serve", s.InProcess())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nc.Close)
	if err := prepare(b.Context(), nc, server.Layout{}, slog.New(slog.DiscardHandler)); err != nil {
		b.Fatal(err)
	}
	settings := manager.Settings{
		Name:  "m",
		Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByPriority}},
	}
	whileMeasuring(b, func(ctx context.Context) error { return manager.Run(ctx, nc, settings) })
	whileMeasuring(b, func(ctx context.Context) error {
		return untilDone(ctx, worker.Run(ctx, worker.Settings{
			Server: s.URL(), Options: []nats.Option{s.InProcess()}, Name: "w", Slots: workers, Handlers: handlers,
		}))
	})
	c, err := client.Connect(b.Context(), s.URL())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	awaitWorkers(b, c, wire.WorkerAvailable, workers)
	return c
}

// whileMeasuring runs a function until the benchmark ends.
func whileMeasuring(b *testing.B, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
}

// awaitWorkers waits until the given number of workers is in the given state.
func awaitWorkers(b *testing.B, c *client.Client, state wire.WorkerState, workers int) {
	b.Helper()
	for n := 0; n < workers; sleep(b.Context(), 10*time.Millisecond) {
		views, err := c.Workers(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		n = 0
		for _, w := range views {
			if w.State == state {
				n++
			}
		}
	}
}

// runJob submits a job, waits until it is done, and returns the duration.
func runJob(b *testing.B, c *client.Client, j wire.Job) time.Duration {
	b.Helper()
	begun := time.Now()
	batch, err := c.Submit(b.Context(), wire.Batch{Jobs: []wire.Job{j}})
	if err != nil {
		b.Fatal(err)
	}
	views, err := batch.Wait(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if v := views[0]; v.State != wire.JobCompleted || v.Failed != 0 || v.Lost != 0 {
		b.Fatalf("%+v", v)
	}
	return time.Since(begun)
}

// reportQuantiles reports the median, the 99th percentile and the maximum of some durations.
func reportQuantiles(b *testing.B, what string, list []time.Duration) {
	slices.Sort(list)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	at := func(part float64) time.Duration { return list[min(len(list)-1, int(part*float64(len(list))))] }
	b.ReportMetric(ms(at(0.5)), what+"-p50-ms")
	b.ReportMetric(ms(at(0.99)), what+"-p99-ms")
	b.ReportMetric(ms(list[len(list)-1]), what+"-max-ms")
	b.ReportMetric(0, "ns/op") // meaningless
}

// BenchmarkSubmitToStart measures the time from the call that submits a job to the start of the
// handler on an idle worker, by one clock.
func BenchmarkSubmitToStart(b *testing.B) {
	const jobs = 500
	for _, s := range syncs {
		b.Run("sync="+s.name, func(b *testing.B) {
			begun := make(chan time.Time, 1)
			c := serveHere(b, s.sync, 2, map[string]worker.Handler{
				"stamp": func(context.Context, wire.Task) ([]byte, error) {
					begun <- time.Now()
					return nil, nil
				},
			})
			for b.Loop() {
				var starts []time.Duration
				for range jobs {
					at := time.Now()
					runJob(b, c, wire.Job{
						Name:  "j" + strconv.FormatInt(at.UnixNano(), 36),
						Tasks: 1,
						Run:   wire.Run{Kind: "stamp"},
					})
					starts = append(starts, (<-begun).Sub(at))
					sleep(b.Context(), 2*time.Millisecond) // the worker reports that it is idle again
				}
				reportQuantiles(b, "start", starts)
			}
		})
	}
}

// BenchmarkEmptyTasks measures the number of empty tasks per second on eight workers; they sleep
// for 0 s.
func BenchmarkEmptyTasks(b *testing.B) {
	for _, s := range syncs {
		b.Run("sync="+s.name, func(b *testing.B) {
			tasks := map[string]int{"2m": 40_000, "always": 5_000}[s.name]
			c := serveHere(b, s.sync, 8, nil)
			for n := 0; b.Loop(); n++ {
				before := processorTime(b)
				took := runJob(b, c, wire.Job{
					Name:  fmt.Sprintf("j%d", n),
					Tasks: tasks,
					Run:   wire.Run{Kind: worker.KindSleep},
				})
				b.ReportMetric(float64(tasks)/took.Seconds(), "tasks/s")
				b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(tasks), "CPU-µs/task")
			}
		})
	}
}

// processorTime returns the processor time of this process.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWorkShare measures the fraction of the time of two cores spent on tasks that compute for
// 20 ms each.
func BenchmarkWorkShare(b *testing.B) {
	const tasks, cores, length = 500, 2, 20 * time.Millisecond
	for b.Loop() {
		rounds := calibrate(b, cores, length)
		c := serveHere(b, 2*time.Minute, cores, map[string]worker.Handler{
			"compute": func(context.Context, wire.Task) ([]byte, error) {
				return strconv.AppendUint(nil, compute(rounds), 10), nil
			},
		})
		took := runJob(b, c, wire.Job{Name: "j", Tasks: tasks, Work: length.Seconds(), Run: wire.Run{Kind: "compute"}})
		b.ReportMetric(100*tasks*length.Seconds()/(cores*took.Seconds()), "%work")
	}
}

// compute keeps a core busy.
func compute(rounds int) uint64 {
	x := uint64(88172645463325252)
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// calibrate returns the number of rounds that take a given processor time while several cores
// compute.
func calibrate(b *testing.B, cores int, length time.Duration) int {
	b.Helper()
	const rounds = 300_000_000
	before := processorTime(b)
	var all sync.WaitGroup
	var sink atomic.Uint64
	for range cores {
		all.Go(func() { sink.Add(compute(rounds)) })
	}
	all.Wait()
	return int(rounds * float64(cores) * length.Seconds() / (processorTime(b) - before).Seconds())
}

// BenchmarkScaling measures the speedup of n workers over one, divided by n, for tasks that sleep
// for 100 ms.
func BenchmarkScaling(b *testing.B) {
	for _, workers := range []int{8, 32, 100} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			c := serveHere(b, 2*time.Minute, workers, nil)
			const each = 30
			for n := 0; b.Loop(); n++ {
				took := runJob(b, c, wire.Job{
					Name:  fmt.Sprintf("j%d", n),
					Tasks: each * workers,
					Work:  0.1,
					Run:   wire.Run{Kind: worker.KindSleep},
				})
				b.ReportMetric(each*0.1/took.Seconds(), "speedup/n")
			}
		})
	}
}
