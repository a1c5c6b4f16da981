package book_test

import (
	"fmt"
	"runtime"
	"testing"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

// byDeadline is a scenario without jobs; only its policy matters.
var byDeadline = scenario{Scenario: dispatch.Scenario{Policy: dispatch.Policy{Rule: dispatch.Deadline}}}

// planLog returns the plans of one job of equal tasks, one message per plan. Reports arrive one at
// a time.
func planLog(b testing.TB, policy scenario, tasks, workers int) (s book.Settings, plans [][]byte) {
	s = settings(policy, 1, false)
	k, err := book.New(s)
	if err != nil {
		b.Fatal(err)
	}
	sequence, reports := uint64(1), []wire.In(nil)
	take := func(in ...book.Input) {
		for {
			p, err := k.Take(float64(sequence), in)
			if err != nil {
				b.Fatal(err)
			}
			if in = nil; p == nil {
				return
			}
			data, err := wire.Encode(p)
			if err != nil {
				b.Fatal(err)
			}
			plans = append(plans, data)
			for _, o := range k.OrdersOf(p) {
				if !o.Order.Idle {
					reports = append(reports, wire.In{Report: &wire.Report{
						Version: 1, Job: o.Order.Job, Task: o.Order.Task, Attempt: o.Order.Attempt,
						Worker: o.Worker, Token: o.Order.Token, Seconds: 1,
					}})
				}
			}
		}
	}
	for n := range workers {
		take(book.Input{Beat: &wire.Beat{Version: 1, Worker: name(n), Process: "p", Speed: 1}})
	}
	take(book.Input{Sequence: sequence, In: wire.In{Batch: &wire.Batch{Version: 1, Name: "b",
		Jobs: []wire.Job{{Name: "j", Tasks: tasks, Work: 1, Run: wire.Run{Kind: "sleep"}}}}}})
	for len(reports) > 0 {
		r := reports[0]
		reports = reports[1:]
		sequence++
		take(book.Input{Sequence: sequence, In: r})
	}
	return s, plans
}

// BenchmarkFold folds a log; ns/op is per plan, and each plan processes one report.
func BenchmarkFold(b *testing.B) {
	const tasks = 20_000
	s, plans := planLog(b, byDeadline, tasks, 8)
	b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
		var k *book.Book
		for n := 0; b.Loop(); n++ {
			if n%len(plans) == 0 {
				k, _ = book.New(s)
			}
			p, err := wire.Decode[wire.Plan](plans[n%len(plans)])
			if err == nil {
				err = k.Fold(p)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(len(plans[len(plans)/2])))
	})
}

// BenchmarkTake makes the plans of a log.
func BenchmarkTake(b *testing.B) {
	for b.Loop() {
		planLog(b, byDeadline, 20_000, 8)
	}
}

// A book and its snapshots need only a few bits per task, for any number of tasks.
func TestBytesPerTask(t *testing.T) {
	s := settings(scenario{Scenario: dispatch.Scenario{Policy: dispatch.Policy{Rule: dispatch.Deadline}}}, 1, false)
	k, err := book.New(s)
	if err != nil {
		t.Fatal(err)
	}
	const tasks = 1_000_000
	before := heap()
	in := []book.Input{{Sequence: 1, In: wire.In{Batch: &wire.Batch{Version: 1, Name: "b",
		Jobs: []wire.Job{{Name: "j", Tasks: tasks, Work: 1, Run: wire.Run{Kind: "sleep"}}}}}}}
	for n := range 100 {
		in = append(in, book.Input{Beat: &wire.Beat{Version: 1, Worker: name(n), Process: "p", Speed: 1}})
	}
	sequence := uint64(1)
	for range 100 {
		p, err := k.Take(float64(sequence), in)
		if err != nil {
			t.Fatal(err)
		}
		in = nil
		for _, o := range k.OrdersOf(p) {
			sequence++
			in = append(in, book.Input{
				Sequence: sequence,
				In: wire.In{Report: &wire.Report{Version: 1, Job: o.Order.Job, Task: o.Order.Task,
					Attempt: o.Order.Attempt, Worker: o.Worker, Token: o.Order.Token, Seconds: 1}},
			})
		}
	}
	snapshot, err := k.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	grown := heap() - before
	t.Logf("%d tasks: %d bytes of heap, a snapshot of %d bytes", tasks, grown, len(snapshot))
	if grown > tasks || len(snapshot) > tasks {
		t.Errorf("%d bytes of heap and a snapshot of %d for %d tasks", grown, len(snapshot), tasks)
	}
	if v, ok := k.Job("j"); !ok || v.Left != tasks-9900 {
		t.Errorf("%+v", v)
	}
}

// heap returns the number of bytes in use on the heap.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
