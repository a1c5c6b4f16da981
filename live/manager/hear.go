package manager

import (
	"github.com/nats-io/nats.go"

	"productform/live/book"
	"productform/live/keys"
	"productform/live/wire"
)

// addMessage adds a message of PFQ_IN to the inputs. The book refuses unreadable messages.
func (l *leader) addMessage(m message) {
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

// processBeat processes a heartbeat. The subject identifies the worker; a server with keys enforces
// that.
func (l *leader) processBeat(m *nats.Msg) {
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

// processEnd processes the end of a connection.
func (l *leader) processEnd(m *nats.Msg) {
	if name, ok := keys.Left(m.Data); ok {
		l.health.cut(name, l.now())
	}
}
