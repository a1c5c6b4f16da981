package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"productform/sim"
	"productform/sweep"
)

// Do processes the runs of the plans as chosen, instead of answering: it computes a part of them
// into s.Folder, lists those missing there on out, or computes those requested on in and writes
// their results to out. It returns the last progress of a part.
//
// Plans with a precision stop once it is reached. A part cannot know the results of the others, so
// parts do all possible runs; a list has the runs up to the next check of the precision.
func (c RunChoice) Do(ctx context.Context, plans []*sim.Plan, s sweep.Settings, in io.Reader, out io.Writer) (
	last sweep.Progress, err error,
) {
	if c.Tasks == List {
		missing, err := sim.Missing(ctx, plans, s.Folder)
		if err != nil {
			return last, err
		}
		return last, listTasks(missing, out)
	}
	tasks, err := sim.Tasks(ctx, plans)
	if err != nil {
		return last, err
	}
	if c.Tasks == Serve {
		return last, serve(ctx, tasks, s.Workers, in, out)
	}
	part, err := sweep.Part(tasks, c.Part.K, c.Part.N)
	if err != nil {
		return last, err
	}
	show := s.Progress
	s.Progress = func(now sweep.Progress) {
		last = now
		if show != nil {
			show(now)
		}
	}
	_, err = sweep.Run(ctx, part, s)
	return last, err
}

// listTasks writes the fingerprint and then the tasks, one per line.
func listTasks[R any](tasks []sweep.Task[R], out io.Writer) error {
	w := bufio.NewWriter(out)
	lines := []any{FingerprintOf()}
	for _, t := range tasks {
		lines = append(lines, Task{t.Key, t.Cost})
	}
	for _, v := range lines {
		text, err := line(v)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return w.Flush()
}

// serve writes the fingerprint, then an [Answer] for each key, one per line of in, as soon as it is
// known, until in ends. Each worker does one task at a time. Reading cannot be interrupted: if ctx
// is cancelled before in ends, a goroutine remains that waits for the next line.
func serve[R any](ctx context.Context, tasks []sweep.Task[R], workers int, in io.Reader, out io.Writer) error {
	known := make(map[string]sweep.Task[R], len(tasks))
	for _, t := range tasks {
		known[t.Key] = t
	}
	text, err := line(FingerprintOf())
	if err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	keys, unread := make(chan string), make(chan error, 1)
	go func() {
		defer close(keys)
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			select {
			case keys <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
		unread <- lines.Err()
	}()
	var writing sync.Mutex
	for range max(workers, 1) {
		g.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case key, more := <-keys:
					if !more {
						return ctx.Err()
					}
					text, err := line(answer(ctx, known, key))
					if err = cmp.Or(ctx.Err(), err); err != nil {
						return err
					}
					writing.Lock()
					_, err = out.Write(text)
					writing.Unlock()
					if err != nil {
						return err
					}
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := <-unread; err != nil {
		return fmt.Errorf("keys on the standard input: %w", err)
	}
	return nil
}

// answer runs the task of a key.
func answer[R any](ctx context.Context, known map[string]sweep.Task[R], key string) Answer {
	task, ok := known[key]
	if !ok {
		return Answer{Key: key, Error: "no run of this command has this key"}
	}
	body, err := task.Body(ctx)
	if err != nil {
		return Answer{Key: key, Error: err.Error()}
	}
	return Answer{Key: key, SHA256: digest(body), Result: body}
}
