package manager

import (
	"github.com/nats-io/nats.go"

	"productform/live/book"
	"productform/live/keys"
	"productform/live/wire"
)

// hearMessage takes in a message of PFQ_IN. One that cannot be read is told to the book, which refuses it.
func (l *leader) hearMessage(m message) {
	in, err := wire.DecodeIn(m.subject, m.data)
	if err != nil {
		l.malformed++
	}
	if in.Batch != nil && !l.settings.Logical {
		l.taken[in.Batch.Name] = m.taken
	}
	l.heard = append(l.heard, book.Input{Sequence: m.sequence, In: in, Subject: m.subject, Err: err})
	l.bytes += len(m.data)
}

// hearBeat takes in what a worker says of itself. The subject says which worker that is, which a server with keys enforces.
func (l *leader) hearBeat(m *nats.Msg) {
	b, err := wire.Decode[wire.Beat](m.Data)
	if err != nil || m.Subject != wire.BeatOf(b.Worker) {
		l.malformed++
		return
	}
	now := l.now()
	l.health.heard(b, now)
	l.heard = append(l.heard, book.Input{Beat: b})
	l.bytes += len(m.Data)
}

// hearEnd takes in that a connection was closed.
func (l *leader) hearEnd(m *nats.Msg) {
	if name, ok := keys.Left(m.Data); ok {
		l.health.cut(name, l.now())
	}
}
