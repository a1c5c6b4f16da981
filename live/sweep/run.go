package sweep

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/runs"
	"productform/live/wire"
	"productform/sim"
	results "productform/sweep"
)

// Settings tunes [Run].
type Settings struct {
	Queue
	Least  time.Duration // that a task is expected to take at least; 0 for 20 ms
	Stdout io.Writer     // for the answer
	Stderr io.Writer     // for the messages of the command, and for notes
	Name   string        // of the program, with which notes begin; "" for sweep
}

// A Queue says how urgent the jobs of a sweep are, and how many workers they may have.
type Queue struct {
	Priority   float64 // >= 0; larger is more urgent
	DeadlineIn float64 // seconds after the submission of each job, 0 for none
	MaxWorkers int     // 0 for no limit
}

// A Submit runs a job, as client.RunJob does: it gives each file to the workers under its name and
// calls take with the output of each task that is done, one call at a time, until every task is done
// or given up. The first error of take ends it. failed is the number of tasks given up, and why is the
// reason of one of them.
type Submit func(
	ctx context.Context, job wire.Job, files map[string][]byte, take func(task int, output []byte) error,
) (failed int, why string, err error)

// Run does the runs of a command that are missing in its folder of results by jobs, as the comment of the package
// says, and then runs the command itself. What the workers give up is done there. The error is a [*StatusError] if that ends with another
// status than 0.
//
// When ctx is done, Run returns its error; what was done by then is in the folder.
func Run(ctx context.Context, c *Command, s Settings, submit Submit) error {
	for {
		more, err := c.round(ctx, s, submit)
		if err != nil {
			return err
		}
		if !more {
			return c.answer(ctx, s.Stdout, s.Stderr)
		}
	}
}

// round does the runs that are missing now. more says that others may be missing afterwards.
func (c *Command) round(ctx context.Context, s Settings, submit Submit) (more bool, err error) {
	f, missing, err := c.list(ctx)
	if err != nil || len(missing) == 0 {
		return false, err
	}
	known, rate, err := c.sing(ctx, missing)
	if err != nil {
		return false, err
	}
	missing = slices.DeleteFunc(missing, func(t runs.Task) bool { return t.Key == known.Key })
	if len(missing) == 0 {
		return true, nil
	}
	m := &manifest{Program: c.name, SHA256: c.sha256, Args: c.there, Fingerprint: f, Canary: known}
	least := s.Least
	if least == 0 {
		least = 20 * time.Millisecond
	}
	var works []float64
	m.Tasks, works = group(missing, rate, least)
	files, err := c.contents(m)
	if err != nil {
		return false, err
	}
	digests := make(map[string]string, len(files))
	for name, text := range files {
		digests[name] = wire.Digest(text)
	}
	name := cmp.Or(s.Name, "sweep")
	progress, done := cli.NewProgress(s.Stderr, name), 0
	failed, why, err := submit(ctx, newJob(m, s.Queue, works, digests), files, func(task int, output []byte) error {
		if task >= len(m.Tasks) {
			return fmt.Errorf("task %d: there are %d", task, len(m.Tasks))
		}
		if err := c.take(m.Tasks[task], output); err != nil {
			return fmt.Errorf("task %d: %w", task, err)
		}
		done++
		progress.Show(done, len(m.Tasks), "tasks")
		return nil
	})
	progress.Clear()
	if err == nil && failed > 0 {
		fmt.Fprintf(s.Stderr, "%s: note: %d of %d tasks were given up (%s); their runs are done here\n", name, failed,
			len(m.Tasks), why)
	}
	return failed == 0, err
}

// sing does the cheapest run here, keeps its result, and returns its digest and the seconds that a unit of cost takes.
func (c *Command) sing(ctx context.Context, missing []runs.Task) (known canary, rate float64, err error) {
	cheapest := slices.MinFunc(missing, func(a, b runs.Task) int { return cmp.Compare(a.Cost, b.Cost) })
	folder, err := os.MkdirTemp("", "pfq-sweep-")
	if err != nil {
		return known, 0, err
	}
	defer os.RemoveAll(folder)
	if err := c.copyTo(folder); err != nil {
		return known, 0, err
	}
	process, err := serve(ctx, ctx, c.path, c.there, folder, folder)
	if err != nil {
		return known, 0, err
	}
	begun := time.Now()
	a, err := process.do(ctx, cheapest.Key)
	took := time.Since(begun).Seconds()
	_ = process.close() // it was killed
	if err == nil {
		err = results.Put[sim.Sample](c.results, a.Key, a.Result)
	}
	if cheapest.Cost > 0 {
		rate = took / cheapest.Cost
	}
	return canary{a.Key, a.SHA256}, rate, err
}

// take puts the results of the runs of a task into the folder. It is an error if one is missing, or none of them.
func (c *Command) take(keys []string, output []byte) error {
	lines := strings.SplitAfter(string(output), "\n")
	if len(lines) != len(keys)+1 || lines[len(keys)] != "" {
		return input.Errorf("output", fmt.Sprintf("%d lines", len(lines)-1), "%d lines, one for each run", len(keys))
	}
	for i, key := range keys {
		a, err := runs.ParseAnswer([]byte(lines[i]))
		if err != nil {
			return err
		}
		if a.Key != key || a.Error != "" {
			return input.Errorf("key", a.Key, "%s, with a result", key)
		}
		if err := results.Put[sim.Sample](c.results, key, a.Result); err != nil {
			return err
		}
	}
	return nil
}

// contents returns the files that workers get, by their names there.
func (c *Command) contents(m *manifest) (files map[string][]byte, err error) {
	files = make(map[string][]byte, len(c.files)+1)
	for name, path := range c.files {
		if files[name], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	files[manifestName], err = json.Marshal(m)
	return files, err
}
