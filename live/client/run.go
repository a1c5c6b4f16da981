package client

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"productform/live/wire"
)

// RunJob uploads the files and submits the job. It calls take with the output of each finished
// task, one call at a time, until all tasks are done or given up, and then clears the job. It stops
// at the first error, such as an error of take, and cancels the job. failed is the number of tasks
// given up, and why is the reason for one of them.
func (c *Client) RunJob(
	ctx context.Context, job wire.Job, files map[string][]byte, take func(task int, output []byte) error,
) (failed int, why string, err error) {
	for _, text := range files {
		if _, err := c.Upload(ctx, bytes.NewReader(text)); err != nil {
			return 0, "", err
		}
	}
	if _, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{job}}); err != nil {
		return 0, "", err
	}
	if failed, why, err = c.collect(ctx, job.Name, take); err != nil {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = c.Cancel(end, job.Name) // fails if the job is done or the server is gone
		return 0, "", err
	}
	return failed, why, c.Clear(ctx, job.Name)
}

// collect passes the results of a job to take until the job is done.
func (c *Client) collect(
	ctx context.Context, job string, take func(int, []byte) error,
) (failed int, why string, err error) {
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
