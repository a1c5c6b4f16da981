package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrNotFound reports that a subject has no message, or that a digest has no content.
var ErrNotFound = errors.New("not found on the server")

// A Stored is a message stored on the server.
type Stored struct {
	Subject  string    // subject that it was written to
	Sequence uint64    // in its stream, from 1
	Time     time.Time // when the server stored it
	Header   nats.Header
	Data     []byte // as written
}

// LastMessage returns the last message on a subject of a stream. The error wraps [ErrNotFound] if
// there is none.
func LastMessage(ctx context.Context, js jetstream.JetStream, stream, subject string) (*Stored, error) {
	var m *Stored
	err := retry(ctx, func(ctx context.Context) error {
		reply, err := js.Conn().RequestWithContext(ctx, direct(stream)+"."+subject, nil)
		if err == nil {
			m, err = message(reply)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", subject, err)
	}
	return m, nil
}

// NextMessages returns the messages of a stream with matching subjects, in order, starting at
// sequence from >= 1. It returns at most most messages and a few MB, and does not wait for new
// messages. next is the sequence to continue from, one above the last message.
func NextMessages(ctx context.Context, js jetstream.JetStream, stream, subject string, from uint64, most int) (
	list []*Stored, next uint64, err error,
) {
	request, err := json.Marshal(map[string]any{
		"seq":          from,
		"next_by_subj": subject,
		"batch":        most,
		"max_bytes":    4 << 20,
	})
	if err != nil {
		return nil, from, err
	}
	err = retry(ctx, func(ctx context.Context) (err error) {
		list, err = batch(ctx, js.Conn(), direct(stream), request)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return nil, from, nil
	}
	if err != nil {
		return nil, from, fmt.Errorf("%s: %w", subject, err)
	}
	if len(list) > 0 {
		from = list[len(list)-1].Sequence + 1
	}
	return list, from, nil
}

// batch sends a request with many responses and returns them without the last one, which marks the
// end.
func batch(ctx context.Context, nc *nats.Conn, subject string, request []byte) ([]*Stored, error) {
	inbox := nc.NewInbox()
	answers, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer answers.Unsubscribe()
	if err := nc.PublishRequest(subject, inbox, request); err != nil {
		return nil, err
	}
	var list []*Stored
	for {
		reply, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return nil, err
		}
		if reply.Header.Get("Status") == "204" {
			return list, nil
		}
		m, err := message(reply)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
}

func direct(stream string) string { return "$JS.API.DIRECT.GET." + stream }

// message decodes the response to a direct request.
func message(reply *nats.Msg) (*Stored, error) {
	switch status := reply.Header.Get("Status"); status {
	case "":
	case "404":
		return nil, ErrNotFound
	case "503":
		return nil, nats.ErrNoResponders
	default:
		return nil, fmt.Errorf("the server answers %s %s", status, reply.Header.Get("Description"))
	}
	sequence, err := strconv.ParseUint(reply.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the server answers without a sequence: %w", err)
	}
	at, err := time.Parse(time.RFC3339Nano, reply.Header.Get(jetstream.TimeStampHeaer))
	if err != nil {
		return nil, fmt.Errorf("the server answers without a time: %w", err)
	}
	return &Stored{
		Subject:  reply.Header.Get(jetstream.SubjectHeader),
		Sequence: sequence,
		Time:     at,
		Header:   reply.Header,
		Data:     reply.Data,
	}, nil
}
