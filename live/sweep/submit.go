package sweep

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"productform/live/client"
	"productform/live/wire"
)

// A Queue says how jobs are to be done.
type Queue struct {
	Priority   float64 // >= 0; larger is more urgent
	DeadlineIn float64 // seconds after the submission of each job, 0 for none
	MaxWorkers int     // 0 for no limit
}

// By returns a [Submit] by a client. A job that is done is cleared; one that its context or an error ends is cancelled.
func By(c *client.Client, q Queue) Submit {
	return func(ctx context.Context, job wire.Job, files map[string][]byte, take func(int, []byte) error) (failed int, why string, err error) {
		job.Name = "sweep-" + rand.Text()
		job.Priority, job.DeadlineIn, job.MaxWorkers = q.Priority, q.DeadlineIn, q.MaxWorkers
		for _, text := range files {
			if _, err := c.Upload(ctx, bytes.NewReader(text)); err != nil {
				return 0, "", err
			}
		}
		if _, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{job}}); err != nil {
			return 0, "", err
		}
		if failed, why, err = collect(ctx, c, job.Name, take); err != nil {
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			_ = c.Cancel(end, job.Name) // it may be done, or the server gone
			return 0, "", err
		}
		return failed, why, c.Clear(ctx, job.Name)
	}
}

// collect takes the results of a job until it is done.
func collect(ctx context.Context, c *client.Client, job string, take func(int, []byte) error) (failed int, why string, err error) {
	for r, err := range c.Results(ctx, job, 0) {
		if err != nil {
			return 0, "", err
		}
		var output bytes.Buffer
		if err := c.Output(ctx, &r.Report, &output); err != nil {
			return 0, "", err
		}
		if err := take(r.Report.Task, output.Bytes()); err != nil {
			return 0, "", fmt.Errorf("worker %s: %w", r.Report.Worker, err)
		}
	}
	views, err := c.Wait(ctx, job)
	if err != nil {
		return 0, "", err
	}
	switch v := views[0]; {
	case v.State == wire.JobCancelled:
		return 0, "", fmt.Errorf("job %s was cancelled", job)
	case v.Failed == 0:
		return 0, "", nil
	}
	failures, err := c.Failures(ctx, job)
	if err != nil || len(failures) == 0 {
		return views[0].Failed, "workers were lost", err
	}
	return views[0].Failed, failures[len(failures)-1].Reason, nil
}
