package sweep

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// sleeper returns a task whose time in seconds equals its cost.
func sleeper(t testing.TB, seconds float64) Task[float64] {
	return Task[float64]{Key: key(t, seconds), Cost: seconds, Run: func(context.Context) (float64, error) {
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		return seconds, nil
	}}
}

// If each task takes as long as its cost, the time left is exact with one worker, whatever was
// reused.
func TestTimeLeft(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var tasks, kept []Task[float64]
		total := 0.0
		for i := range 30 {
			task := sleeper(t, float64(1+i*i%17)+float64(i)/64)
			if i%3 == 1 {
				kept = append(kept, task)
			} else {
				total += task.Cost
			}
			tasks = append(tasks, task)
		}
		if _, err := Run(t.Context(), kept, Settings{Folder: folder}); err != nil {
			t.Fatal(err)
		}
		var seen []Progress
		s := Settings{Workers: 1, Folder: folder, Progress: func(p Progress) { seen = append(seen, p) }}
		if _, err := Run(t.Context(), tasks, s); err != nil {
			t.Fatal(err)
		}
		if len(seen) != len(tasks) {
			t.Fatalf("%d reports, want %d", len(seen), len(tasks))
		}
		for i, p := range seen {
			if p.Done != i+1 || p.Total != len(tasks) || p.Reused != min(i+1, len(kept)) {
				t.Errorf("report %d: %+v", i, p)
			}
			if p.LeftKnown != (i >= len(kept)) {
				t.Errorf("report %d: %+v: LeftKnown should be %v", i, p, !p.LeftKnown)
			}
			// 30 sums of relative error 2^-53
			if want := time.Duration(total*1e9) - p.Elapsed; p.LeftKnown && (p.Left-want).Abs() > time.Microsecond {
				t.Errorf("report %d: %v left, want %v", i, p.Left, want)
			}
		}
	})
}

// With several workers the time left is exact whenever none of them is busy.
func TestTimeLeftOfWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tasks []Task[float64]
		for range 40 {
			task := sleeper(t, 3)
			task.Key, task.Cost = "", 0
			tasks = append(tasks, task)
		}
		progress := func(p Progress) {
			if want := 30*time.Second - p.Elapsed; p.Done%4 == 0 &&
				(!p.LeftKnown || (p.Left-want).Abs() > time.Microsecond) {
				t.Errorf("%+v: want %v left", p, want)
			}
		}
		if _, err := Run(t.Context(), tasks, Settings{Workers: 4, Progress: progress}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTimeLeftFormula(t *testing.T) {
	for _, c := range []struct {
		busy               time.Duration
		costDone, costLeft float64
		tasks, workers     int
		want               time.Duration
		known              bool
	}{
		{0, 0, 5, 5, 2, 0, false},
		{8 * time.Second, 4, 6, 3, 2, 6 * time.Second, true},
		{8 * time.Second, 4, 6, 1, 2, 12 * time.Second, true}, // one task runs on one worker
		{8 * time.Second, 4, 1e-17, 0, 2, 0, true},
		{8 * time.Second, 4, -1e-17, 1, 2, 0, true}, // rounding
		{0, 4, 6, 3, 2, 0, true},
		{time.Second, 1e-300, 1e300, 1, 1, 0, false},
		{time.Second, math.Inf(1), math.Inf(1), 1, 1, 0, false},
		{time.Second, 1, 1e10, 1, 1, 0, false}, // 317 years
	} {
		if got, known := timeLeft(c.busy, c.costDone, c.costLeft, c.tasks, c.workers); got != c.want ||
			known != c.known {
			t.Errorf("%+v: %v, %v", c, got, known)
		}
	}
}

// Progress is called once per task and never concurrently, with increasing counts.
func TestProgressOneAtATime(t *testing.T) {
	tasks, want, _ := walks(t, 300, 3)
	folder := t.TempDir()
	mustRun(t, tasks[100:150], Settings{Folder: folder}, want[100:150])
	var inside atomic.Int64
	last := Progress{}
	mustRun(t, tasks, Settings{Workers: 7, Folder: folder, Progress: func(p Progress) {
		if inside.Add(1) != 1 {
			t.Error("two calls at once")
		}
		if p.Done != last.Done+1 || p.Reused < last.Reused || p.Elapsed < last.Elapsed || p.Left < 0 || p.Total != 300 {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
		inside.Add(-1)
	}}, want)
	if last.Done != 300 || last.Reused != 50 || last.Left != 0 || !last.LeftKnown {
		t.Errorf("%+v at the end", last)
	}
	mustRun(t, tasks, Settings{Folder: folder, Progress: func(p Progress) { last = p }}, want)
	if last.Done != 300 || last.Reused != 300 || last.Left != 0 || !last.LeftKnown {
		t.Errorf("%+v at the end, with all results kept", last)
	}
}
