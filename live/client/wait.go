package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"productform/live/wire"
)

// ErrUnknown reports that no job or worker has the requested name, or that none has it any more.
var ErrUnknown = errors.New("unknown")

// unknownAfter is the maximum time that an accepted job may be unknown: views are behind the plans,
// and in a cluster the copies of a view differ slightly. missingAfter is the maximum time that
// results of a finished job may be missing.
const (
	unknownAfter = 3 * time.Second
	missingAfter = 30 * time.Second
)

// A MissingError reports results of a finished job that the server has lost.
type MissingError struct {
	Job     string // name of the job
	Missing int    // number of lost results
	GivenUp int    // number of tasks without a result because they failed too often
	Tasks   []int  // all tasks without a result, including those given up
}

func newMissingError(v *wire.JobView, missing int, seen map[int]bool) *MissingError {
	e := &MissingError{Job: v.Name, Missing: missing, GivenUp: v.Failed}
	for task := range v.Tasks {
		if !seen[task] {
			e.Tasks = append(e.Tasks, task)
		}
	}
	return e
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("job %s: the server has lost %d results; no result of task %s", e.Job, e.Missing,
		ranges(e.Tasks))
	if e.GivenUp > 0 {
		text += fmt.Sprintf(", %d of them given up", e.GivenUp)
	}
	return text
}

// ranges formats increasing numbers, such as 1-3, 7; long lists are shortened.
func ranges(list []int) string {
	const most = 50
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		part := strconv.Itoa(list[i])
		if k > i {
			part += "-" + strconv.Itoa(list[k])
		}
		if parts = append(parts, part); len(parts) == most && k+1 < len(list) {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-k-1))
			break
		}
		i = k + 1
	}
	return strings.Join(parts, ", ")
}

// isDone reports whether a job has ended: completed, completed with failures, cancelled or cleared.
func isDone(s wire.JobState) bool { return s != wire.JobSubmitted && s != wire.JobPresent }

// Wait waits until all given jobs are done. It returns their states in the order of the names. The
// error wraps [ErrUnknown] if one stays unknown for 3 s, or is cleared in the meantime.
func (c *Client) Wait(ctx context.Context, jobs ...string) ([]wire.JobView, error) {
	for _, name := range jobs {
		if err := wire.CheckName("job", name); err != nil {
			return nil, err
		}
	}
	n, err := c.follow(jobs)
	if err != nil {
		return nil, err
	}
	defer n.stop()
	views := make([]wire.JobView, len(jobs))
	begun := time.Now()
	for i, name := range jobs { // one after another, since all must end
		for {
			v, err := c.Job(ctx, name)
			switch {
			case err == nil:
				views[i], begun = *v, time.Now()
			case !errors.Is(err, ErrUnknown) || time.Since(begun) > unknownAfter:
				return nil, err
			}
			if err == nil && isDone(v.State) {
				break
			}
			if err := n.wait(ctx); err != nil {
				return nil, fmt.Errorf("job %s: %w", name, err)
			}
		}
	}
	return views, nil
}

// A Result is the report of a task.
type Result struct {
	Sequence uint64 // sequence of the report
	Time     time.Time
	Report   wire.Report
}

// Results yields the results of a job in order of arrival, and ends once the job is done and all
// results are read. It starts after the report with sequence after; 0 yields all of them. Passing
// the sequence of the last result continues an earlier call, but reads all reports to check that
// none is missing. An error is the last element.
//
// A task that was given up has no result, see [Client.Failures]. [Client.Output] fetches outputs of
// more than 64 KiB. On a logical clock, each reported attempt has its own result.
func (c *Client) Results(ctx context.Context, job string, after uint64) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		seen := map[int]bool{} // tasks
		err := c.read(ctx, job, seen, func(m *wire.Stored) (bool, error) {
			report, err := wire.Decode[wire.Report](m.Data)
			if err != nil {
				return true, nil // the manager refuses and removes it
			}
			seen[report.Task] = true
			return m.Sequence <= after || yield(Result{m.Sequence, m.Time, *report}, nil), nil
		})
		if err != nil {
			yield(Result{}, err)
		}
	}
}

// read passes the reports of a job to take, until the job is done and all are read. take records
// the tasks that it has seen and returns whether to continue. In a cluster, copies of the stream
// may be behind, so read counts the tasks with a result.
func (c *Client) read(ctx context.Context, job string, seen map[int]bool, take func(*wire.Stored) (bool, error)) error {
	if err := wire.CheckName("job", job); err != nil {
		return err
	}
	n, err := c.follow([]string{job})
	if err != nil {
		return err
	}
	defer n.stop()
	begun, whole := time.Now(), time.Time{} // whole is the time by which all results should have arrived
	for from := uint64(1); ; {
		v, err := c.Job(ctx, job)
		switch {
		case err == nil:
			begun = time.Now()
		case !errors.Is(err, ErrUnknown) || time.Since(begun) > unknownAfter:
			return err
		}
		for {
			list, next, err := wire.NextMessages(ctx, c.js, wire.InStream, wire.DoneOf(job), from, page)
			if err != nil {
				return err
			}
			for _, m := range list {
				if more, err := take(m); err != nil || !more {
					return err
				}
			}
			if from = next; len(list) == 0 {
				break
			}
			n.pause, whole = shortest, time.Time{}
		}
		if err == nil && isDone(v.State) {
			missing := v.Tasks - v.Left - v.Failed - len(seen)
			if missing <= 0 {
				return nil
			}
			if whole.IsZero() {
				whole = time.Now()
			}
			if missing <= v.Missing || time.Since(whole) > missingAfter {
				return newMissingError(v, missing, seen)
			}
		}
		if err := n.wait(ctx); err != nil {
			return fmt.Errorf("job %s: %w", job, err)
		}
	}
}

// Output writes the output of a task to w. Outputs up to 64 KiB are in the report itself. After an
// error, discard what was written.
func (c *Client) Output(ctx context.Context, r *wire.Report, w io.Writer) error {
	if r.Digest != "" {
		return c.Download(ctx, r.Digest, w)
	}
	_, err := w.Write(r.Output)
	return err
}

// Failures returns the failed attempts at tasks of a job so far, in order of arrival. Attempts lost
// with their workers are not included.
func (c *Client) Failures(ctx context.Context, job string) (failures []wire.Failure, err error) {
	if err := wire.CheckName("job", job); err != nil {
		return nil, err
	}
	for from := uint64(1); ; {
		list, next, err := wire.NextMessages(ctx, c.js, wire.InStream, wire.FailedOf(job), from, page)
		if err != nil || len(list) == 0 {
			return failures, err
		}
		for _, m := range list {
			// the manager refuses and removes other messages
			if f, err := wire.Decode[wire.Failure](m.Data); err == nil {
				failures = append(failures, *f)
			}
		}
		from = next
	}
}
