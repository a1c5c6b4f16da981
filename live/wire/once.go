// This file writes messages to the server exactly once. It and its neighbours use direct requests
// only, which are all that the keys of workers and clients allow.
//
// [WriteOnce] writes to a subject that accepts a single message. [LastMessage] and [NextMessages] read
// messages. [PutContent] and [GetContent] store and read contents of any size by their SHA-256. While
// a server is unavailable, or elects a leader, requests are repeated until the context ends. This is
// safe because all writes can be repeated without harm.

package wire

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"productform/num"
)

// MaxData is the maximum size of a message in bytes: the server rejects more than 1 MiB including
// headers.
const MaxData = 1<<20 - 1024

// ErrFull reports that the server has no room. Nothing was written, and the call may be repeated.
var ErrFull = errors.New("the server has no room for more: clear jobs that are done")

// The pause between requests without a response, and the time limit of a response. A request that
// is pending when the server stops never gets a response.
const (
	pause    = 50 * time.Millisecond
	patience = time.Second
)

// WriteOnce writes a message to a subject of [wire.InStream] or [wire.BlobStream], which accepts a
// single message. It reports whether this call wrote the message. If not, there is a message
// already, possibly from an earlier try of the same call. The error wraps [ErrFull], or is a
// *num.InputError if data has more than [MaxData] bytes, the cause of the context, or the server's
// error.
func WriteOnce(ctx context.Context, js jetstream.JetStream, subject string, data []byte) (wrote bool, err error) {
	sequence, err := WriteOnceAt(ctx, js, subject, data)
	return sequence > 0, err
}

// WriteOnceAt is like [WriteOnce], but returns the sequence of the new message in its stream, or 0 if
// there was a message already.
func WriteOnceAt(
	ctx context.Context, js jetstream.JetStream, subject string, data []byte,
) (sequence uint64, err error) {
	if len(data) > MaxData {
		return 0, &num.InputError{
			Path:  subject,
			Value: strconv.Itoa(len(data)) + " bytes",
			Want:  "at most " + strconv.Itoa(MaxData),
		}
	}
	err = retry(ctx, func(ctx context.Context) error {
		// With an expected sequence of 0, the error code is clear: 10071 if there is a message,
		// 10077 if the stream has no room.
		ack, err := js.Publish(
			ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(0), jetstream.WithRetryAttempts(0),
		)
		if err == nil {
			sequence = ack.Sequence
		}
		return err
	})
	switch code(err) {
	case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return 0, nil
	}
	return sequence, err
}

// Codes of the JetStream API without a name in nats.go.
const (
	codeAccountFull jetstream.ErrorCode = 10002
	codeNoResources jetstream.ErrorCode = 10023
	codeMemoryFull  jetstream.ErrorCode = 10028
	codeStorageFull jetstream.ErrorCode = 10047
	codeStoreFailed jetstream.ErrorCode = 10077
	codeTooLarge    jetstream.ErrorCode = 10054 // a full store accepts only user requests, which are small
)

// code returns the code of a JetStream API error, or 0 for other errors.
func code(err error) jetstream.ErrorCode {
	var e *jetstream.APIError
	if errors.As(err, &e) {
		return e.ErrorCode
	}
	return 0
}

// retry repeats try while the server is unavailable, and limits each call to a second.
func retry(ctx context.Context, try func(ctx context.Context) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, patience)
		err := try(one)
		cancel()
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if IsFull(err) {
			return ErrFull
		}
		if !IsAway(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// IsFull reports whether the server's response means that it has no room, so the message was not
// written.
func IsFull(err error) bool {
	switch code(err) {
	case codeAccountFull, codeNoResources, codeMemoryFull, codeStorageFull, codeStoreFailed, codeTooLarge:
		return true
	}
	return errors.Is(err, ErrFull)
}

// IsAway reports whether an error means that the server is temporarily unavailable: no response, no
// connection or no leader (error 503, with code 10008 and others). The requested operation may or
// may not have been done.
func IsAway(err error) bool {
	var e *jetstream.APIError
	if errors.As(err, &e) {
		return (e.Code == 503 || e.Code == 429) && !IsFull(err)
	}
	for _, away := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, jetstream.ErrNoStreamResponse,
		nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrStaleConnection, nats.ErrNoServers,
	} {
		if errors.Is(err, away) {
			return true
		}
	}
	return false
}
