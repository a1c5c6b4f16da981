package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"productform/live/wire"
)

// The built-in kinds of tasks.
const (
	KindSleep   = "sleep"   // waits work/speed seconds
	KindCommand = "command" // runs a program of [Settings].Allow
)

// A Handler runs a task and returns its result. It must return promptly after ctx is done, because
// the task has reached its time limit or was given to another worker; its result is then ignored.
// Any other error means that the attempt has failed, and the task is tried again. A panic counts as
// an error. Handlers of several slots run concurrently.
type Handler func(ctx context.Context, t wire.Task) ([]byte, error)

// An ExitError reports how a program failed.
type ExitError struct {
	Code int    // exit code, -1 if a signal ended it
	Tail string // the end of its standard error
	Err  error  // of package os/exec
}

func (e *ExitError) Unwrap() error { return e.Err }
func (e *ExitError) Error() string {
	if e.Tail == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Tail
}

var (
	errDropped = errors.New("the manager has dropped the task")
	errLimit   = errors.New("time limit of the task")
)

// An outcome is the result of an attempt.
type outcome struct {
	seconds float64 // duration, on the logical clock if there is one
	at      float64 // end on the logical clock; 0 on the wall clock
	output  []byte
	err     error
}

// execute fetches the inputs of a task and runs it. It calls running in between.
func (s *slot) execute(ctx context.Context, o *wire.Order, running func()) outcome {
	run, err := s.handler(o.Run.Kind)
	if err != nil {
		return s.outcome(o, 0, nil, err)
	}
	t := wire.Task{
		Worker:  s.name,
		Job:     o.Job,
		Number:  o.Task,
		Attempt: o.Attempt,
		Work:    o.Work,
		Speed:   s.settings.Speed,
		Run:     o.Run,
	}
	if o.Run.Kind != KindSleep {
		if t.Folder, err = os.MkdirTemp(s.folder, "task-"); err != nil {
			return s.outcome(o, 0, nil, err)
		}
		defer os.RemoveAll(t.Folder)
		if err := s.fetch(ctx, t.Folder, o.Run.Inputs); err != nil {
			return s.outcome(o, 0, nil, err)
		}
	}
	running()
	pace := s.pace(o)
	if limit := o.Run.Limit / pace; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, seconds(limit), fmt.Errorf("%w: %v s", errLimit, o.Run.Limit))
		defer cancel()
	}
	if o.Run.Kind == KindSleep {
		run = func(ctx context.Context, t wire.Task) ([]byte, error) { return nil, sleep(ctx, t.Work/t.Speed/pace) }
	}
	begun := time.Now()
	output, err := guard(ctx, run, t)
	took := time.Since(begun).Seconds() * pace
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause
	}
	return s.outcome(o, took, output, err)
}

// outcome returns the outcome of an attempt that took some seconds. On a logical clock, a sleep
// takes its nominal duration.
func (s *slot) outcome(o *wire.Order, took float64, output []byte, err error) outcome {
	r := outcome{seconds: took, output: output, err: err}
	if o.Logical && o.Run.Kind == KindSleep && err == nil {
		r.seconds = o.Work / s.settings.Speed
	}
	if o.Logical {
		r.at = o.At + r.seconds
	}
	return r
}

// pace returns the seconds on the clock of an order per second of real time.
func (s *slot) pace(o *wire.Order) float64 {
	if o.Logical {
		return s.settings.Pace
	}
	return 1
}

// seconds converts seconds to a duration, limited to the maximum.
func seconds(x float64) time.Duration {
	const longest = 1<<63 - 1
	if x *= float64(time.Second); x < longest {
		return time.Duration(x)
	}
	return longest
}

func (s *slot) handler(kind string) (Handler, error) {
	switch kind {
	case KindSleep:
		return nil, nil
	case KindCommand:
		return s.command, nil
	}
	if h := s.settings.Handlers[kind]; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("worker %s has no handler for tasks of kind %q", s.name, kind)
}

// sleep waits ([L14], section 6.3).
func sleep(ctx context.Context, span float64) error {
	timer := time.NewTimer(seconds(span))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// guard runs a handler and converts a panic to an error.
func guard(ctx context.Context, run Handler, t wire.Task) (output []byte, err error) {
	defer func() {
		if what := recover(); what != nil {
			output, err = nil, fmt.Errorf("panic: %v\n%s", what, debug.Stack())
		}
	}()
	return run(ctx, t)
}

// clean returns valid UTF-8 text without control characters, as messages require. The result is not
// longer.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text)
}

var _ io.Writer = (*tail)(nil)

// A tail keeps the last bytes written to it.
type tail struct {
	most int
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.most {
		t.data = append(t.data[:0], t.data[len(t.data)-t.most:]...)
	}
	return len(p), nil
}
