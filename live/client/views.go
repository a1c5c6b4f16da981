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

// Job returns the state of a job. The error wraps [ErrUnknown] if no manager knows it.
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

// Jobs returns the states of all jobs that are not cleared, sorted by their last change.
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

// Worker returns the state of a worker. The error wraps [ErrUnknown] if no manager knows it.
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

// Workers returns the states of all workers, sorted by their last change.
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

// ServiceError returns the error in a service's response, or nil if there is none. It is a
// [*DamageError] if no manager leads because the store is damaged.
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

// answerTime is the time limit of a manager's response. A request that arrives just before the
// manager ends gets none.
const answerTime = 3 * time.Second

// Status requests the state of the cluster from the leading manager. Unlike [Client.Jobs] and
// [Client.Workers], it needs a manager that leads. The error is that of ctx, or after 3 s that of
// NATS.
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

// Profiles returns the learned speeds of workers by kind of task, sorted by their last change. It
// is empty unless the manager learns speeds.
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
