package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"productform/internal/input"
)

// A walk is the result of the tasks below.
type walk struct {
	Seed  uint64
	Steps []float64
	Mean  float64
}

// newWalk is a pure function of its parameters.
func newWalk(seed uint64, steps int) walk {
	w := walk{Seed: seed}
	r := rand.New(rand.NewPCG(seed, 1))
	for range steps {
		w.Steps = append(w.Steps, r.NormFloat64())
		w.Mean += w.Steps[len(w.Steps)-1] / float64(steps)
	}
	return w
}

func key(t testing.TB, parts ...any) string {
	t.Helper()
	k, err := Key(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// walks returns tasks with their results, computed without Run, and the number of times that each
// task has run.
func walks(t testing.TB, n, steps int) (tasks []Task[walk], want []walk, runs []atomic.Int64) {
	runs = make([]atomic.Int64, n)
	for i := range n {
		seed := uint64(i)
		want = append(want, newWalk(seed, steps))
		tasks = append(tasks, Task[walk]{
			Key: key(t, "walk", seed, steps),
			Run: func(context.Context) (walk, error) {
				runs[i].Add(1)
				return newWalk(seed, steps), nil
			},
		})
	}
	return tasks, want, runs
}

// sum returns the number of runs of all tasks.
func sum(runs []atomic.Int64) (n int64) {
	for i := range runs {
		n += runs[i].Load()
	}
	return n
}

// mustRun fails unless Run returns want.
func mustRun(t testing.TB, tasks []Task[walk], s Settings, want []walk) {
	t.Helper()
	got, err := Run(t.Context(), tasks, s)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) { // no walk has a zero or NaN, so this compares bits
		t.Fatalf("results differ: %v, want %v", got, want)
	}
}

func TestOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7, 100} {
		tasks, want, runs := walks(t, 50, 5)
		mustRun(t, tasks, Settings{Workers: workers}, want)
		s := Settings{Workers: workers, Folder: filepath.Join(t.TempDir(), "made", "here")}
		mustRun(t, tasks, s, want)
		if n := sum(runs); n != 100 {
			t.Errorf("%d workers: %d runs, want 100", workers, n)
		}
		mustRun(t, tasks, s, want)
		if n := sum(runs); n != 100 {
			t.Errorf("%d workers: a task whose result was kept ran again", workers)
		}
	}
}

func TestNoTasks(t *testing.T) {
	got, err := Run[walk](t.Context(), nil, Settings{})
	if len(got) != 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// Tasks start in order, as many at a time as there are workers.
func TestWorkers(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		synctest.Test(t, func(t *testing.T) {
			var now, most, started atomic.Int64
			var tasks []Task[int]
			for i := range 20 {
				tasks = append(tasks, Task[int]{Run: func(context.Context) (int, error) {
					if at := started.Add(1) - 1; at < int64(i-workers) || at > int64(i+workers) {
						t.Errorf("task %d started as number %d", i, at)
					}
					n := now.Add(1)
					defer now.Add(-1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					time.Sleep(time.Second)
					return i, nil
				}})
			}
			if _, err := Run(t.Context(), tasks, Settings{Workers: workers}); err != nil {
				t.Fatal(err)
			}
			if most.Load() != int64(workers) {
				t.Errorf("%d tasks at a time, want %d", most.Load(), workers)
			}
		})
	}
}

// A task without a key runs each time, and leaves no file.
func TestNoKey(t *testing.T) {
	tasks, want, runs := walks(t, 4, 3)
	for i := range tasks {
		tasks[i].Key = ""
	}
	folder := t.TempDir()
	for range 2 {
		mustRun(t, tasks, Settings{Folder: folder}, want)
	}
	if n := sum(runs); n != 8 {
		t.Errorf("%d runs, want 8", n)
	}
	if files, err := os.ReadDir(folder); len(files) != 0 || err != nil {
		t.Errorf("%v, %v", files, err)
	}
}

// Every finite float64 is returned with the same bits: computed, reused, and without a folder.
func TestFloatsKeepTheirBits(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SliceOf(rapid.Uint64Range(0, math.MaxUint64)).Draw(t, "bits")
		values := []float64{math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.MaxFloat64, 0.1}
		for _, b := range bits {
			if v := math.Float64frombits(b); !math.IsNaN(v) && !math.IsInf(v, 0) {
				values = append(values, v)
			}
		}
		k, err := Key(values)
		if err != nil {
			t.Fatal(err)
		}
		tasks := []Task[[]float64]{{Key: k, Run: func(context.Context) ([]float64, error) { return values, nil }}}
		for _, where := range []string{"", folder, folder} {
			got, err := Run(context.Background(), tasks, Settings{Folder: where})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(
				got[0], values, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) },
			) {
				t.Fatalf("%v, want %v", got[0], values)
			}
		}
	})
}

// A result that JSON cannot represent is rejected with the task's index, with a folder or without.
func TestResultBeyondJSON(t *testing.T) {
	for _, c := range []struct {
		result any
		want   string
	}{
		{math.NaN(), "NaN"},
		{[]float64{1, math.Inf(-1)}, "-Inf"},
		{func() {}, "func()"},
		{"\xff", `"\ufffd"`},
		{uint64(1)<<60 + 1, "1152921504606846977"}, // an any is read back as a float64
		{struct{ B, A int }{}, "read back as"},     // and here as a map, whose keys are sorted
	} {
		for _, folder := range []string{"", t.TempDir()} {
			tasks := []Task[any]{
				{Key: key(t, 0), Run: func(context.Context) (any, error) { return "good", nil }},
				{Key: key(t, 1), Run: func(context.Context) (any, error) { return c.result, nil }},
			}
			got, err := Run(t.Context(), tasks, Settings{Workers: 1, Folder: folder})
			if err == nil || got != nil || !strings.HasPrefix(err.Error(), "tasks[1]: result: ") ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, %v", c.want, got, err)
			}
		}
	}
}

// A result that is said to survive JSON is read back only if it is stored, and still rejected if
// JSON cannot represent it.
func TestReadsBack(t *testing.T) {
	result := &walk{Steps: []float64{1}}
	tasks := []Task[*walk]{
		{Key: key(t), Run: func(context.Context) (*walk, error) { return result, nil }, ReadsBack: true},
	}
	for _, folder := range []string{"", t.TempDir()} {
		got, err := Run(t.Context(), tasks, Settings{Folder: folder})
		if err != nil || (got[0] == result) != (folder == "") || !reflect.DeepEqual(got[0], result) {
			t.Errorf("folder %q: %v, %v", folder, got, err)
		}
	}
	result.Mean = math.NaN()
	if got, err := Run(t.Context(), tasks, Settings{}); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("%v, %v", got, err)
	}
}

// Parts of a result that JSON omits are omitted whether or not it was reused.
func TestFieldsLeftOut(t *testing.T) {
	type result struct {
		Shown  int
		hidden int
		Tagged int `json:"-"`
	}
	folder := t.TempDir()
	tasks := []Task[result]{{Key: key(t), Run: func(context.Context) (result, error) { return result{1, 2, 3}, nil }}}
	for _, where := range []string{"", folder, folder} {
		got, err := Run(t.Context(), tasks, Settings{Folder: where})
		if err != nil || got[0] != (result{Shown: 1}) {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// The first error stops the rest, names its task, and leaves the stored results.
func TestTaskError(t *testing.T) {
	failure := errors.New("no convergence")
	for _, workers := range []int{1, 2, 7} {
		tasks, want, runs := walks(t, 40, 3)
		bad := tasks[20].Run
		tasks[20].Run = func(ctx context.Context) (walk, error) {
			w, err := bad(ctx)
			return w, errors.Join(err, failure)
		}
		for i := 21; i < len(tasks); i++ { // none of them ends before the error, and later ones wait for it
			run := tasks[i].Run
			tasks[i].Run = func(ctx context.Context) (walk, error) {
				<-ctx.Done()
				if _, err := run(ctx); err != nil {
					return walk{}, err
				}
				return walk{}, ctx.Err()
			}
		}
		s := Settings{Workers: workers, Folder: t.TempDir()}
		got, err := Run(t.Context(), tasks, s)
		if got != nil || !errors.Is(err, failure) || !strings.HasPrefix(err.Error(), "tasks[20]: ") {
			t.Errorf("%d workers: %v, %v", workers, got, err)
		}
		if n := sum(runs); n < 21 || n > int64(20+workers) {
			t.Errorf("%d workers: %d runs", workers, n)
		}
		before := sum(runs[:20])
		again, _, _ := walks(t, 40, 3)
		copy(again, tasks[:20])
		mustRun(t, again, s, want)
		if n := sum(runs[:20]); n != before {
			t.Errorf("%d workers: %d runs of the tasks before the error, want %d", workers, n, before)
		}
	}
}

// Run returns when its context is done: immediately if the tasks observe it, otherwise when the
// running tasks have ended. Then none is left.
func TestCancel(t *testing.T) {
	cause := errors.New("a separate cause")
	for _, heed := range []bool{true, false} {
		for _, workers := range []int{1, 2, 7} {
			folder := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				var atWork, ended atomic.Int64
				var tasks []Task[int]
				for i := range 50 {
					tasks = append(tasks, Task[int]{Key: key(t, i), Run: func(ctx context.Context) (int, error) {
						atWork.Add(1)
						defer atWork.Add(-1)
						if heed {
							select {
							case <-time.After(time.Second):
							case <-ctx.Done():
								return 0, fmt.Errorf("stopped: %w", ctx.Err())
							}
						} else {
							time.Sleep(time.Second)
						}
						ended.Add(1)
						return i, nil
					}})
				}
				start := time.Now()
				time.AfterFunc(5500*time.Millisecond, func() { cancel(cause) })
				got, err := Run(ctx, tasks, Settings{Workers: workers, Folder: folder})
				want := 5500 * time.Millisecond
				if !heed {
					want = 6 * time.Second
				}
				if got != nil || err != context.Canceled {
					t.Errorf("%v, %v", got, err)
				}
				if took := time.Since(start); took != want {
					t.Errorf("heed %v, %d workers: Run took %v, want %v", heed, workers, took, want)
				}
				if n := atWork.Load(); n != 0 {
					t.Errorf("%d tasks running after Run", n)
				}
				reused := 0
				progress := func(p Progress) { reused = p.Reused }
				if _, err := Run(t.Context(), tasks, Settings{
					Workers:  50,
					Folder:   folder,
					Progress: progress,
				}); err != nil {
					t.Fatal(err)
				}
				if ended.Load() != 50 || reused != int(want/time.Second)*workers {
					t.Errorf("%d tasks ended, %d reused", ended.Load(), reused)
				}
			})
		}
	}
}

func TestContextDoneBefore(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	tasks, _, runs := walks(t, 3, 3)
	folder := filepath.Join(t.TempDir(), "none")
	if got, err := Run(ctx, tasks, Settings{Folder: folder}); got != nil || err != context.DeadlineExceeded {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := os.Stat(folder); sum(runs) != 0 || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%d runs, %v", sum(runs), err)
	}
}

// A valid input with one invalid entry is rejected before any work.
func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		path  string
		spoil func(tasks []Task[walk], s *Settings)
	}{
		{"Workers", func(_ []Task[walk], s *Settings) { s.Workers = -1 }},
		{"tasks[2].Run", func(tasks []Task[walk], _ *Settings) { tasks[2].Run = nil }},
		{"tasks[2].Cost", func(tasks []Task[walk], _ *Settings) { tasks[2].Cost = -1 }},
		{"tasks[2].Cost", func(tasks []Task[walk], _ *Settings) { tasks[2].Cost = math.NaN() }},
		{"tasks[2].Cost", func(tasks []Task[walk], _ *Settings) { tasks[2].Cost = math.Inf(1) }},
		{"tasks[2].Key", func(tasks []Task[walk], _ *Settings) { tasks[2].Key = tasks[1].Key }},
		{"tasks[2].Key", func(tasks []Task[walk], _ *Settings) { tasks[2].Key = "ab" }},
		{"tasks[2].Key", func(tasks []Task[walk], _ *Settings) { tasks[2].Key = strings.ToUpper(tasks[2].Key) }},
		{"tasks[2].Key", func(tasks []Task[walk], _ *Settings) { tasks[2].Key = "../" + tasks[2].Key[3:] }},
		{"tasks[2].Key", func(tasks []Task[walk], _ *Settings) { tasks[2].Key += "0" }},
	} {
		tasks, _, runs := walks(t, 4, 3)
		s := Settings{Folder: t.TempDir()}
		c.spoil(tasks, &s)
		got, err := Run(t.Context(), tasks, s)
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Path != c.path || bad.Want == "" || got != nil || sum(runs) != 0 {
			t.Errorf("%s: %v, %v, %d runs", c.path, got, err, sum(runs))
		}
	}
}

// Two simultaneous runs in one folder give the correct results, and leave files that a third one
// reuses.
func TestTwoRunsInOneFolder(t *testing.T) {
	folder := t.TempDir()
	tasks, want, runs := walks(t, 200, 50)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			got, err := Run(t.Context(), tasks, Settings{Workers: 3, Folder: folder})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	wg.Wait()
	n := sum(runs)
	if n < 200 || n > 400 {
		t.Errorf("%d runs", n)
	}
	mustRun(t, tasks, Settings{Folder: folder}, want)
	if sum(runs) != n {
		t.Error("a task whose result was kept ran again")
	}
	if left := temporaries(t, folder); len(left) != 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

// A result that another process stores during the run is reused.
func TestOtherProcessFaster(t *testing.T) {
	folder := t.TempDir()
	tasks, want, runs := walks(t, 10, 3)
	others := slices.Clone(tasks)
	first := others[0].Run
	others[0].Run = func(ctx context.Context) (walk, error) {
		mustRun(t, tasks, Settings{Folder: folder}, want)
		return first(ctx)
	}
	var last Progress
	mustRun(t, others, Settings{Workers: 1, Folder: folder, Progress: func(p Progress) { last = p }}, want)
	if sum(runs) != 11 || last.Reused != 9 || last.Done != 10 {
		t.Errorf("%d runs, %+v", sum(runs), last)
	}
}
