package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"productform/live/wire"
)

// Job tells how a job stands. The error wraps [ErrUnknown] if no manager knows it.
func (c *Client) Job(ctx context.Context, name string) (*wire.JobView, error) {
	if err := wire.CheckName("job", name); err != nil {
		return nil, err
	}
	data, err := c.value(ctx, wire.JobsBucket, name)
	if err == nil && data == nil {
		err = ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", name, err)
	}
	return wire.Decode[wire.JobView](data)
}

// Jobs tells how all jobs stand that are not cleared, those that changed last at the end.
func (c *Client) Jobs(ctx context.Context) (jobs []wire.JobView, err error) {
	err = c.values(ctx, wire.JobsBucket, func(data []byte) error {
		v, err := wire.Decode[wire.JobView](data)
		if err == nil {
			jobs = append(jobs, *v)
		}
		return err
	})
	return jobs, err
}

// Worker tells how a worker is. The error wraps [ErrUnknown] if no manager knows it.
func (c *Client) Worker(ctx context.Context, name string) (*wire.WorkerView, error) {
	if err := wire.CheckName("worker", name); err != nil {
		return nil, err
	}
	data, err := c.value(ctx, wire.WorkersBucket, name)
	if err == nil && data == nil {
		err = ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("worker %s: %w", name, err)
	}
	return wire.Decode[wire.WorkerView](data)
}

// Workers tells how all workers are, those that changed last at the end.
func (c *Client) Workers(ctx context.Context) (workers []wire.WorkerView, err error) {
	err = c.values(ctx, wire.WorkersBucket, func(data []byte) error {
		v, err := wire.Decode[wire.WorkerView](data)
		if err == nil {
			workers = append(workers, *v)
		}
		return err
	})
	return workers, err
}

// A DamageError reports that no manager leads because the store is damaged.
type DamageError struct{ Why string }

func (e *DamageError) Error() string { return e.Why }

// ServiceError returns the error that a service answered with, nil if it answered with something
// else. It is a [*DamageError] if no manager leads because the store is damaged.
func ServiceError(m *nats.Msg) error {
	why := m.Header.Get("Nats-Service-Error")
	switch {
	case why == "":
		return nil
	case m.Header.Get("Nats-Service-Error-Code") == wire.DamageCode:
		return &DamageError{why}
	}
	return errors.New(why)
}

// answerTime is how long the manager may take to answer. A question that it hears just before it ends never gets one.
const answerTime = 3 * time.Second

// Status asks the manager that leads how the cluster stands. Unlike [Client.Jobs] and [Client.Workers] it has an answer only
// while there is one; the error is that of ctx, or after 3 s that of NATS.
func (c *Client) Status(ctx context.Context) (*wire.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	m, err := c.nc.RequestWithContext(ctx, wire.StatusService, nil)
	if err != nil {
		return nil, fmt.Errorf("no manager leads: %w", err)
	}
	if err := ServiceError(m); err != nil {
		return nil, err
	}
	s := new(wire.Status)
	if err := json.Unmarshal(m.Data, s); err != nil {
		return nil, fmt.Errorf("status: %w", err)
	}
	return s, nil
}

// Profiles tells what was learnt of the speeds of workers at kinds of tasks, if the manager learns them: those that changed last at the
// end.
func (c *Client) Profiles(ctx context.Context) (profiles []wire.ProfileView, err error) {
	err = c.values(ctx, wire.ProfilesBucket, func(data []byte) error {
		v, err := wire.Decode[wire.ProfileView](data)
		if err == nil {
			profiles = append(profiles, *v)
		}
		return err
	})
	return profiles, err
}
