package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"productform/num"
)

// MaxData is the size in bytes of the largest message: the server refuses what has more than 1 MiB with its headers.
const MaxData = 1<<20 - 1024

// ErrFull says that the server has no room. Nothing was written; it may be tried again.
var ErrFull = errors.New("the server has no room for more: clear jobs that are done")

// Pauses between requests that had no answer, and how long an answer may take. A request that was under way while the
// server ended never gets one.
const (
	pause    = 50 * time.Millisecond
	patience = time.Second
)

// Once writes a message to a subject of [wire.InStream] or [wire.BlobStream], which takes one. It tells whether this call
// wrote it; if not, a message is there, which an earlier try of the same may have written. The error wraps [ErrFull], or is
// a *num.InputError if data has more than [MaxData] bytes, the cause of the context, or what the server says.
func Once(ctx context.Context, js jetstream.JetStream, subject string, data []byte) (wrote bool, err error) {
	sequence, err := OnceAt(ctx, js, subject, data)
	return sequence > 0, err
}

// OnceAt does what [Once] does, and tells the sequence of the message in its stream: 0 if a message is there.
func OnceAt(ctx context.Context, js jetstream.JetStream, subject string, data []byte) (sequence uint64, err error) {
	if len(data) > MaxData {
		return 0, &num.InputError{Path: subject, Value: strconv.Itoa(len(data)) + " bytes", Want: "at most " + strconv.Itoa(MaxData)}
	}
	err = insist(ctx, func(ctx context.Context) error {
		// "Expected 0" makes the answer plain: 10071 is a message that is there, 10077 a stream without room.
		ack, err := js.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(0), jetstream.WithRetryAttempts(0))
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

// Codes of the JetStream API that nats.go has no names for.
const (
	codeAccountFull jetstream.ErrorCode = 10002
	codeNoResources jetstream.ErrorCode = 10023
	codeMemoryFull  jetstream.ErrorCode = 10028
	codeStorageFull jetstream.ErrorCode = 10047
	codeStoreFailed jetstream.ErrorCode = 10077
	codeTooLarge    jetstream.ErrorCode = 10054 // a full store accepts wishes only, which are small
)

// code is that of an error of the JetStream API, 0 for others.
func code(err error) jetstream.ErrorCode {
	var e *jetstream.APIError
	if errors.As(err, &e) {
		return e.ErrorCode
	}
	return 0
}

// insist calls try until it does not fail for a server that is away, and gives each call a second.
func insist(ctx context.Context, try func(ctx context.Context) error) error {
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
		if Full(err) {
			return ErrFull
		}
		if !Away(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// Full tells whether an answer of the server to a message says that it has no room, so that the message was not written.
func Full(err error) bool {
	switch code(err) {
	case codeAccountFull, codeNoResources, codeMemoryFull, codeStorageFull, codeStoreFailed, codeTooLarge:
		return true
	}
	return errors.Is(err, ErrFull)
}

// Away tells whether an error is that of a server that is away for a moment: no answer, no connection, no leader (error 503,
// of code 10008 and others). Whether
// what was asked for was done is not known then.
func Away(err error) bool {
	var e *jetstream.APIError
	if errors.As(err, &e) {
		return (e.Code == 503 || e.Code == 429) && !Full(err)
	}
	for _, away := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, jetstream.ErrNoStreamResponse, nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrStaleConnection, nats.ErrNoServers,
	} {
		if errors.Is(err, away) {
			return true
		}
	}
	return false
}
