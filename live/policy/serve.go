package policy

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"productform/live/keys"
	"productform/live/wire"
)

// A Policy plans: for each worker of the question, in its order, the name of a job, "" for none. A job may have as many workers as
// it has tasks, and at most MaxWorkers. It is called by one goroutine, and has 0.2 s in all. After an error the manager decides.
type Policy func(*wire.Question) ([]string, error)

// Serve answers the questions to the policy service of a name until the context is done, or the connection is closed for good. The
// target is the file of a key of the role policy, whose name is that of the service, or the URL of a server without keys.
func Serve(ctx context.Context, target, name string, p Policy, more ...nats.Option) error {
	if err := wire.CheckName("name", name); err != nil {
		return err
	}
	closed := make(chan struct{})
	more = append(more, nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	nc, err := keys.Connect(ctx, target, name, more...)
	if err != nil {
		return err
	}
	defer nc.Close()
	_, err = nc.Subscribe(wire.PolicyService(name), func(m *nats.Msg) {
		data, err := p.answer(m.Data)
		answer := &nats.Msg{Data: data}
		if err != nil {
			answer.Header = nats.Header{"Nats-Service-Error": {err.Error()}, "Nats-Service-Error-Code": {"400"}}
		}
		_ = m.RespondMsg(answer) // one that is lost is late
	})
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-closed:
		return fmt.Errorf("policy service %s: the connection is closed: %w", name, nc.LastError())
	}
}

// answer answers a question.
func (p Policy) answer(question []byte) ([]byte, error) {
	q, err := wire.Decode[wire.Question](question)
	if err != nil {
		return nil, err
	}
	jobs, err := p(q)
	if err != nil {
		return nil, err
	}
	a := &wire.Answer{Version: wire.Version, Workers: make([]*string, len(jobs))}
	for k := range jobs {
		if jobs[k] != "" {
			a.Workers[k] = &jobs[k]
		}
	}
	return wire.Encode(a)
}
