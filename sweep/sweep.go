// Package sweep runs many independent tasks on a few workers: how far is it, and what remains to be
// done after an interruption? It keeps results on disk, and an interrupted run resumes where it
// stopped.
//
// For example:
//
//	var tasks []sweep.Task[int]
//	for n := range 10 {
//		key, err := sweep.Key("squares, version 1", n)
//		if err != nil {
//			log.Fatal(err)
//		}
//		square := func(context.Context) (int, error) { return n * n, nil }
//		tasks = append(tasks, sweep.Task[int]{Key: key, Run: square})
//	}
//	// with a Folder, none is computed twice
//	squares, err := sweep.Run(context.Background(), tasks, sweep.Settings{Workers: 4})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(squares)
//	// Output: [0 1 4 9 16 25 36 49 64 81]
//
// A task is identified by the hash of everything that its result depends on ([Key]). Its result is
// stored in a file of that name, which is written under another name first and then renamed. So a
// file is complete or missing, even if the process is killed. A file is trusted only if it is, byte
// for byte, what [Run] would write; otherwise the result is computed again and the file replaced.
package sweep

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"productform/internal/input"
)

// A Task is one piece of work. Run is a pure function of the data that Key represents. It must
// return an error if it stops early because ctx is done, since a result without an error is stored.
type Task[R any] struct {
	// as returned by [Key], different from those of the other tasks; "" means that the result is
	// never stored
	Key  string
	Cost float64                              // expected work >= 0 in any unit, only for the time left; 0 means 1
	Run  func(ctx context.Context) (R, error) // does the work
	// results equal what is read back from their JSON, so Run need not read back those that it does
	// not store
	ReadsBack bool
}

// Settings tunes [Run]. The zero value uses all processors and stores nothing.
type Settings struct {
	Workers  int            // number of tasks at a time; 0 means GOMAXPROCS
	Folder   string         // where results are stored, created if missing; "" stores none
	Progress func(Progress) // called after each task, never concurrently, while the other workers continue; may be nil
}

// Run returns the results of the tasks in their order. Tasks start in that order, s.Workers at a
// time, and the digits of the results do not depend on the number of workers.
//
// A result in s.Folder is reused, and its task does not run. Every result is written as JSON, and
// the returned one is read back from it, so it makes no difference whether a result was reused, or
// whether there is a folder. float64 numbers survive this exactly. Only with Task.ReadsBack a result
// that is not stored is returned as it is. It is an error if JSON cannot represent a result (NaN, an
// infinity), or if the result is written differently after it was read back (text that is not UTF-8,
// an integer beyond 2^53 in an interface). Fields that JSON omits are returned as zero. A file is
// not reused if R has since gained fields (that are not omitted when empty), lost fields or renamed
// them.
//
// Several processes may use one folder at once, and a task may then run in each. Files are
// s.Folder/ab/cdef….json for the key abcdef…. A killed process leaves at most one temporary file
// per worker; those older than a day are removed when a run starts. Files are not forced to the
// disk: results lost in a power failure are computed again.
//
// The first error of a task stops the rest and is returned wrapped, with the task's index; the same
// holds for an error of the disk. When ctx is done, Run returns ctx.Err(). In each case it first
// waits for the running tasks, whose ctx is then done, and leaves no goroutine behind; results on
// disk remain. Invalid settings or tasks, and a folder that cannot be written, are reported before
// any work.
//
// In addition to the tasks, Run takes about 25 ns per byte of the results as JSON, less than 10 ns
// if it need not read them back, and about 0.3 ms to write a file. It holds all results in memory.
func Run[R any](ctx context.Context, tasks []Task[R], s Settings) ([]R, error) {
	if err := check(tasks, s); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.Folder != "" {
		if err := prepare(s.Folder, time.Now()); err != nil {
			return nil, fmt.Errorf("folder of results: %w", err)
		}
	}
	workers := cmp.Or(s.Workers, runtime.GOMAXPROCS(0))
	m := newMeter(s.Progress, workers)
	for _, t := range tasks {
		m.add(t.cost())
	}
	results := make([]R, len(tasks))
	done := make([]bool, len(tasks))

	// All files are read before any task runs, so the time left counts only the tasks to run.
	err := inOrder(ctx, len(tasks), workers, func(_ context.Context, i int) error {
		done[i] = tasks[i].reuse(s.Folder, &results[i])
		if done[i] {
			m.reused(tasks[i].cost())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var todo []int
	for i := range tasks {
		if !done[i] {
			todo = append(todo, i)
		}
	}
	err = inOrder(ctx, len(todo), workers, func(ctx context.Context, j int) error {
		i := todo[j]
		if tasks[i].reuse(s.Folder, &results[i]) { // another process was faster
			m.reused(tasks[i].cost())
			return nil
		}
		start := time.Now()
		if err := tasks[i].compute(ctx, s.Folder, &results[i]); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("tasks[%d]: %w", i, err)
		}
		m.computed(tasks[i].cost(), time.Since(start))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (t Task[R]) cost() float64 { return cmp.Or(t.Cost, 1) }

// reuse reads result from the folder and reports whether it could.
func (t Task[R]) reuse(folder string, result *R) bool {
	if folder == "" || t.Key == "" {
		return false
	}
	body, ok := readFile(folder, t.Key)
	if !ok {
		return false
	}
	r, err := decode[R](body)
	if err != nil {
		return false
	}
	*result = r
	return true
}

// compute sets result by running t, and stores it in the folder if t has a key and there is a
// folder.
func (t Task[R]) compute(ctx context.Context, folder string, result *R) error {
	stored := folder != "" && t.Key != ""
	body, err := t.body(ctx, result, stored || !t.ReadsBack)
	if err != nil || !stored {
		return err
	}
	return writeFile(folder, t.Key, body)
}

// body runs t, returns its result as JSON, and sets result to it or, on request, to the value read
// back from the JSON.
func (t Task[R]) body(ctx context.Context, result *R, readBack bool) ([]byte, error) {
	r, err := t.Run(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	if !readBack {
		*result = r
		return body, nil
	}
	if *result, err = decode[R](body); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return body, nil
}

// inOrder calls do for i = 0, ..., n-1 in this order, at most workers at a time. The first
// error cancels the context of the others and is returned once all have ended.
func inOrder(ctx context.Context, n, workers int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(n, workers) {
		g.Go(func() error {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := do(ctx, i); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// check returns an error for invalid settings and tasks. Two tasks with the same key are rejected:
// a key that lacks what distinguishes tasks, such as the number of a replication, would give one of
// them the result of the other.
func check[R any](tasks []Task[R], s Settings) error {
	if s.Workers < 0 {
		return input.Errorf("Workers", s.Workers, "an integer >= 0")
	}
	first := make(map[string]int, len(tasks))
	for i, t := range tasks {
		if t.Run == nil {
			return input.Errorf(fmt.Sprintf("tasks[%d].Run", i), "", "a function")
		}
		if !(t.Cost >= 0 && t.Cost <= math.MaxFloat64) {
			return input.Errorf(fmt.Sprintf("tasks[%d].Cost", i), t.Cost, "a number >= 0")
		}
		if t.Key == "" {
			continue
		}
		if !isHex(t.Key, keyDigits) {
			return input.Errorf(fmt.Sprintf("tasks[%d].Key", i), t.Key, "%d lower-case hex digits, or none",
				keyDigits)
		}
		if j, ok := first[t.Key]; ok {
			return input.Errorf(fmt.Sprintf("tasks[%d].Key", i), t.Key, "a key other than that of tasks[%d]", j)
		}
		first[t.Key] = i
	}
	return nil
}
