package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"productform/live/internal/processes"
	"productform/live/wire"
)

const (
	maxStdout = 64 << 20 // maximum size of a result
	maxTail   = 2 << 10  // bytes of standard error in a failure
)

var errTooLong = fmt.Errorf("standard output is longer than %d bytes", maxStdout)

// command runs a program of the allow-list, never a shell. Its standard output is the result. It
// runs in the folder of the task. Its environment is only PATH, HOME, TMPDIR, PFQ_JOB, PFQ_TASK and
// PFQ_ATTEMPT, and its child processes end with it.
func (s *slot) command(ctx context.Context, t wire.Task) ([]byte, error) {
	p, ok := s.settings.Allow[t.Run.Program]
	if !ok {
		return nil, fmt.Errorf("program %q is not in the allow-list of worker %s", t.Run.Program, s.name)
	}
	args, err := p.arguments(&t)
	if err != nil {
		return nil, err
	}
	if err := p.verify(); err != nil {
		return nil, err
	}
	if p.Seconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, seconds(p.Seconds), fmt.Errorf("%w: %v s", errLimit, p.Seconds))
		defer cancel()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdout, err := collect(maxStdout, func() { cancel(errTooLong) })
	if err != nil {
		return nil, err
	}
	stderr, err := collect(maxTail, nil)
	if err != nil {
		stdout.end()
		return nil, err
	}
	cmd := exec.Command(p.Path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.Folder, stdout.w, stderr.w
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + t.Folder, "TMPDIR=" + t.Folder,
		"PFQ_JOB=" + t.Job, "PFQ_TASK=" + strconv.Itoa(t.Number), "PFQ_ATTEMPT=" + strconv.Itoa(t.Attempt),
	}
	err = processes.Run(ctx, s.folder, cmd)
	output, last := stdout.end(), stderr.end()
	if err == nil && errors.Is(context.Cause(ctx), errTooLong) {
		err = errTooLong // found after the end of the program
	}
	if err == nil {
		return output, nil
	}
	failure := &ExitError{Tail: clean(string(last)), Err: err}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		failure.Code = exit.ExitCode()
	}
	return nil, failure
}

// A pipe collects everything written to w.
type pipe struct {
	r, w *os.File
	done chan struct{}
	tail tail
}

// collect makes a pipe that keeps the last most bytes. It calls full, if not nil, once there are
// more.
func collect(most int, full func()) (*pipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &pipe{r: r, w: w, done: make(chan struct{}), tail: tail{most: most}}
	go func() {
		defer close(p.done)
		for left := int64(most); ; left = 1 << 62 {
			n, err := io.Copy(&p.tail, io.LimitReader(r, left+1))
			if err != nil || n <= left {
				return
			}
			if full != nil {
				full()
			}
		}
	}()
	return p, nil
}

// end returns the collected bytes once all writers of the pipe have ended. A process that left its
// process group may keep the pipe open; it is closed a second later.
func (p *pipe) end() []byte {
	p.w.Close()
	_ = p.r.SetReadDeadline(time.Now().Add(time.Second)) // pipes support deadlines
	<-p.done
	p.r.Close()
	if data := p.tail.data; len(data) > p.tail.most {
		return data[len(data)-p.tail.most:]
	} else {
		return data
	}
}
