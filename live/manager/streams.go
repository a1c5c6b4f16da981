package manager

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/wire"
)

// appendTimeout is the maximum time for an append. A slower append may or may not have succeeded.
const appendTimeout = 2 * time.Second

// errRefused reports that another manager has appended a plan.
var errRefused = errors.New("another manager has decided since")

// appendPlan appends a plan to the log if the last message in the log has the sequence last. It
// returns the sequence of the new message. After any error except errRefused, the plan may or may
// not be in the log.
func appendPlan(ctx context.Context, js jetstream.JetStream, p *wire.Plan, last uint64) (uint64, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, appendTimeout)
	defer cancel()
	ack, err := js.PublishMsg(
		ctx, &nats.Msg{Subject: wire.PlanSubject, Data: data}, jetstream.WithExpectLastSequencePerSubject(last),
		jetstream.WithExpectStream(wire.PlanStream), jetstream.WithRetryAttempts(0),
	)
	var refused *jetstream.APIError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return 0, errRefused
	case err != nil:
		return 0, err
	}
	return ack.Sequence, nil
}

// A message is a message of a stream.
type message struct {
	sequence uint64
	taken    time.Time // when the server stored it, on its clock
	subject  string
	data     []byte
}

// A reader delivers the messages of a stream in order.
type reader struct {
	js        jetstream.JetStream
	stream    string
	messages  chan message
	delivered atomic.Uint64 // sequence of the last message, or the one before the first
	consume   jetstream.ConsumeContext
}

// heartbeat is the time after which the server reports that there is no message. A reader that
// receives nothing for twice as long sends a new request.
const heartbeat = time.Second

// stallTime is the maximum time that a message may be in the stream without being delivered. The
// library repeats its requests in many cases, but it waits 10 s if that request is lost, and it
// detects nothing while heartbeats arrive.
const stallTime = 3 * time.Second

var errStalled = errors.New("messages of the stream are not delivered")

// read delivers the messages of a stream, starting at a sequence, until stop is called or the
// context is done.
func read(ctx context.Context, js jetstream.JetStream, stream string, from uint64) (*reader, error) {
	consumer, err := js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(from, 1),
		InactiveThreshold: time.Minute,
	})
	if err != nil {
		return nil, err
	}
	r := &reader{js: js, stream: stream, messages: make(chan message, 4096)}
	r.delivered.Store(max(from, 1) - 1)
	r.consume, err = consumer.Consume(func(m jetstream.Msg) {
		about, err := m.Metadata()
		if err != nil {
			return // not a message of a stream
		}
		r.delivered.Store(about.Sequence.Stream)
		select {
		case r.messages <- message{about.Sequence.Stream, about.Timestamp, m.Subject(), m.Data()}:
		case <-ctx.Done():
		}
	}, jetstream.PullHeartbeat(heartbeat))
	return r, err
}

func (r *reader) stop() { r.consume.Stop() }

// watch returns errStalled once a message was not delivered for stallTime, or the error of the
// context.
func (r *reader) watch(ctx context.Context) error {
	tick := time.NewTicker(stallTime / 3)
	defer tick.Stop()
	var missed uint64 // sequence of an undelivered message, 0 for none
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if missed > 0 && r.delivered.Load() < missed && len(r.messages) == 0 {
			if time.Since(since) >= stallTime {
				return errStalled
			}
			continue
		}
		missed = 0
		ask, cancel := context.WithTimeout(ctx, time.Second)
		list, _, err := wire.NextMessages(ask, r.js, r.stream, ">", r.delivered.Load()+1, 1)
		cancel()
		if err == nil && len(list) > 0 { // an unknown result is requested again
			missed, since = list[0].Sequence, time.Now()
		}
	}
}

// last returns the sequence of the last message of a stream.
func last(ctx context.Context, js jetstream.JetStream, stream string) (uint64, error) {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, err
	}
	return s.CachedInfo().State.LastSeq, nil
}

// patience returns how long the answers of a server may be wrong: a server that has just become the
// leader of a cluster may not know all its messages. A single server is always right.
func patience(ctx context.Context, js jetstream.JetStream) (time.Duration, error) {
	s, err := js.Stream(ctx, wire.PlanStream)
	if err != nil || s.CachedInfo().Config.Replicas == 1 {
		return 0, err
	}
	return stallTime, nil
}

// lastPlan returns the sequence of the last plan in the log, or 0 if there is none. The last
// sequence of the stream may be larger if the server has lost plans.
func lastPlan(ctx context.Context, js jetstream.JetStream) (uint64, error) {
	s, err := js.Stream(ctx, wire.PlanStream)
	if err != nil {
		return 0, err
	}
	m, err := s.GetLastMsgForSubject(ctx, wire.PlanSubject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return m.Sequence, nil
}

// Plans yields the plans of the log, starting with the first, as they arrive, until the context is
// done or the loop is left. An error is the last element. Plans before a snapshot may be gone; then
// the first number is above 1.
func Plans(ctx context.Context, js jetstream.JetStream) iter.Seq2[*wire.Plan, error] {
	return func(yield func(*wire.Plan, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r, err := read(ctx, js, wire.PlanStream, 1)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.stop()
		for {
			select {
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			case m := <-r.messages:
				p, err := wire.Decode[wire.Plan](m.data)
				if !yield(p, err) || err != nil {
					return
				}
			}
		}
	}
}
