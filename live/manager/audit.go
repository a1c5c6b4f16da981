package manager

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

// An Audited log is what [Audit] found.
type Audited struct {
	From, To uint64           // numbers of the plans that were decided again
	Cluster  wire.ClusterView // after the last
	Report   *dispatch.Result
}

// Audit decides all plans of the log again, from the first one or else from the earliest snapshot that there is. A plan that
// comes out otherwise is a [*book.Difference], and one that does not fit an error of the book.
func Audit(ctx context.Context, js jetstream.JetStream) (*Audited, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	to, err := last(ctx, js, wire.PlanStream)
	if err != nil {
		return nil, err
	}
	b, from, err := earliest(ctx, js)
	if err != nil {
		return nil, err
	}
	r, err := read(ctx, js, wire.PlanStream, from+1)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	a := &Audited{From: b.Number() + 1}
	for sequence := from; sequence < to; {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case m := <-r.messages:
			p, err := wire.Decode[wire.Plan](m.data)
			if err == nil {
				err = b.Verify(p)
			}
			if err != nil {
				return nil, fmt.Errorf("plan at %d: %w", m.sequence, err)
			}
			sequence = m.sequence
		}
	}
	a.To, a.Cluster, a.Report = b.Number(), b.Cluster(), b.Report()
	return a, nil
}

// earliest returns the book from which the plans that are there can be folded, and its sequence in PFQ_PLAN.
func earliest(ctx context.Context, js jetstream.JetStream) (*book.Book, uint64, error) {
	settings := book.Settings{
		Leader: "audit", Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}, Random: nothingDrawn{},
	}
	plans, err := js.Stream(ctx, wire.PlanStream)
	if err != nil {
		return nil, 0, err
	}
	if first := plans.CachedInfo().State.FirstSeq; first > 1 {
		store, err := js.ObjectStore(ctx, wire.SnapshotStore)
		if err != nil {
			return nil, 0, err
		}
		list, err := listSnapshots(ctx, store)
		if err != nil {
			return nil, 0, err
		}
		if len(list) == 0 {
			return nil, 0, fmt.Errorf("the plans before %d are gone, and there is no snapshot", first)
		}
		s, err := readSnapshot(ctx, store, list[len(list)-1])
		if err != nil {
			return nil, 0, err
		}
		b, err := book.Restore(settings, s.data)
		return b, s.sequence, err
	}
	b, err := book.New(settings)
	return b, 0, err
}

// nothingDrawn is the source of random bytes of a book that decides nothing new.
type nothingDrawn struct{}

func (nothingDrawn) Read([]byte) (int, error) {
	return 0, fmt.Errorf("a book that only reads draws nothing")
}
