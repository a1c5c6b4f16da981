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
	"productform/live/wire"
	"productform/sim"
	results "productform/sweep"
)

// Settings configure [Run].
type Settings struct {
	Queue
	Least  time.Duration // minimum expected time of a task; 0 for 20 ms
	Stdout io.Writer     // for the answer
	Stderr io.Writer     // for notes and the messages of the command
	Name   string        // name of the program at the start of notes; "" for sweep
}

// A Queue holds the scheduling options of the jobs of a sweep.
type Queue struct {
	Priority   float64 // >= 0; larger is more urgent
	DeadlineIn float64 // seconds after the submission of each job, 0 for none
	MaxWorkers int     // 0 for no limit
}

// A Submit runs a job, as client.RunJob does. It gives each file to the workers under its name. It
// calls take with the output of each finished task, one call at a time, until all tasks are done or
// given up. The first error of take stops it. failed is the number of tasks given up, and why is
// the reason for one of them.
type Submit func(
	ctx context.Context, job wire.Job, files map[string][]byte, take func(task int, output []byte) error,
) (failed int, why string, err error)

// Run computes the missing runs of a command by jobs, as described in the package comment, and then
// runs the command itself. That computes the runs that workers gave up. The error is a
// [*StatusError] if the command fails.
//
// When ctx is done, Run returns its error. The runs finished by then are in the folder.
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

// round computes the runs that are currently missing. more reports whether other runs may be
// missing afterwards.
func (c *Command) round(ctx context.Context, s Settings, submit Submit) (more bool, err error) {
	f, missing, err := c.list(ctx)
	if err != nil || len(missing) == 0 {
		return false, err
	}
	known, rate, err := c.runPilot(ctx, missing)
	if err != nil {
		return false, err
	}
	missing = slices.DeleteFunc(missing, func(t cli.Task) bool { return t.Key == known.Key })
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
			return fmt.Errorf("task %d of %d", task, len(m.Tasks))
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

// runPilot computes the cheapest run in this process. It stores the result, and returns the
// result's digest and the number of seconds per unit of cost.
func (c *Command) runPilot(ctx context.Context, missing []cli.Task) (known canary, rate float64, err error) {
	cheapest := slices.MinFunc(missing, func(a, b cli.Task) int { return cmp.Compare(a.Cost, b.Cost) })
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

// take stores the results of the runs of a task in the folder. It returns an error if one is
// missing or invalid.
func (c *Command) take(keys []string, output []byte) error {
	lines := strings.SplitAfter(string(output), "\n")
	if len(lines) != len(keys)+1 || lines[len(keys)] != "" {
		return input.Errorf("output", fmt.Sprintf("%d lines", len(lines)-1), "%d lines, one per run", len(keys))
	}
	for i, key := range keys {
		a, err := cli.ParseAnswer([]byte(lines[i]))
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

// contents returns the files for the workers, by the names that workers use.
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
