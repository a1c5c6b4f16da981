package manager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

// A Repaired is the result of [Repair].
type Repaired struct {
	Damage    string // proof that plans are lost; empty if there is none
	Kept      uint64 // number of the last usable plan
	Lost      uint64 // number of the last plan declared lost; the next plan has the next number
	Adoptable int    // results in PFQ_IN with valid tokens whose tasks have none in the kept plans
	Aside     int    // reports that match no task or whose tokens cannot be verified; they are put aside
	Applied   bool   // whether the store was changed
}

// lostMargin is the number of plans that may be lost without a trace after the last plan with a
// trace.
const lostMargin = 1000

// ErrLeads reports that a manager leads, so there is nothing to repair.
var ErrLeads = errors.New("a manager leads: there is nothing to repair")

// Repair checks whether the log has lost plans. If apply is set, it makes the remaining plans
// usable by writing a snapshot of the state after the last plan that can be folded. Managers
// continue from there: they read PFQ_IN since that plan again, and adopt results of attempts that
// the lost plans started. Repair removes only snapshots that the new one replaces.
func Repair(ctx context.Context, nc *nats.Conn, apply bool) (*Repaired, error) {
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(requestTime))
	if err != nil {
		return nil, err
	}
	bucket, err := js.KeyValue(ctx, wire.LeaderBucket)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	held := &lease{bucket: bucket, name: "repair", every: renewEvery}
	for begun := time.Now(); ; rest(ctx, tryEvery) { // managers that refuse to lead hold the lease briefly
		taken, err := held.acquire(ctx)
		if err != nil {
			return nil, err
		}
		if taken {
			break
		}
		if time.Since(begun) > 4*stallTime {
			return nil, ErrLeads
		}
	}
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		cancel(fmt.Errorf("the lease is lost: %w", held.keep(ctx)))
	}()
	r, err := repair(ctx, js, apply)
	cancel(nil)
	<-kept
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	held.release(end)
	return r, err
}

func repair(ctx context.Context, js jetstream.JetStream, apply bool) (*Repaired, error) {
	objects, err := js.ObjectStore(ctx, wire.SnapshotStore)
	if err != nil {
		return nil, err
	}
	l, err := salvage(ctx, js, objects)
	if err != nil {
		return nil, err
	}
	key, err := readKey(ctx, objects)
	if err != nil {
		return nil, err
	}
	b := l.book
	if len(key.Key) > 0 {
		b.SetKey(key.Key, key.From)
	}
	view, err := newestView(ctx, js)
	if err != nil {
		return nil, err
	}
	reports, err := unprocessed(ctx, js, b.Upto())
	if err != nil {
		return nil, err
	}
	end, err := last(ctx, js, wire.InStream)
	if err != nil {
		return nil, err
	}
	r := &Repaired{Damage: l.damage, Kept: b.Number(), Lost: max(l.newest, view)}
	if r.Damage == "" && view > b.Number() {
		r.Damage = fmt.Sprintf("%s ends with plan %d, but a view shows plan %d", wire.PlanStream, b.Number(), view)
	}
	for i := range reports {
		var lost *book.LostPlansError
		if errors.As(b.Trace(&reports[i]), &lost) {
			r.Lost = max(r.Lost, lost.Plan)
			if r.Damage == "" {
				r.Damage = lost.Error()
			}
		}
	}
	if r.Damage == "" {
		r.Lost = 0
		return r, nil
	}
	r.Lost = max(r.Lost, b.Number()) + lostMargin
	epoch := unix(time.Now())
	if err := b.Repair(r.Lost, end, epoch); err != nil {
		return nil, err
	}
	data, err := b.Snapshot()
	if err != nil {
		return nil, err
	}
	if r.Adoptable, r.Aside, err = rehearse(ctx, js, data, b.Upto()); err != nil || !apply {
		return r, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	about := snapshotMeta(l.end)
	about.Metadata[repairedField] = fmt.Sprint(r.Lost)
	if err := put(ctx, objects, about, data); err != nil {
		return nil, err
	}
	for _, o := range l.snapshots {
		if sequenceOf(o) > l.end { // it would be mistaken for a later one
			if err := objects.Delete(ctx, o.Name); err != nil {
				return nil, err
			}
		}
	}
	r.Applied = true
	return r, nil
}

// A salvaged holds the remaining plans of a log.
type salvaged struct {
	book      *book.Book // state after the last plan that can be folded
	newest    uint64     // number of the latest readable plan or snapshot
	end       uint64     // last sequence of PFQ_PLAN
	damage    string     // why some plans cannot be folded, empty if all can
	snapshots []*jetstream.ObjectInfo
}

// readerSettings returns the settings of a book that makes no new decisions.
func readerSettings() book.Settings {
	return book.Settings{Leader: "reader", Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}},
		Random: nothingDrawn{}}
}

// salvage folds the log from each readable snapshot and from the first plan, as far as possible,
// and keeps the result that gets furthest.
func salvage(ctx context.Context, js jetstream.JetStream, objects jetstream.ObjectStore) (*salvaged, error) {
	l := new(salvaged)
	var err error
	if l.snapshots, err = listSnapshots(ctx, objects); err != nil {
		return nil, err
	}
	if l.end, err = last(ctx, js, wire.PlanStream); err != nil {
		return nil, err
	}
	type candidate struct {
		book     *book.Book
		sequence uint64
		why      error
	}
	first, err := book.New(readerSettings())
	if err != nil {
		return nil, err
	}
	candidates := []*candidate{{book: first}}
	for _, o := range l.snapshots {
		s, err := readSnapshot(ctx, objects, o)
		var b *book.Book
		if err == nil {
			b, err = book.Restore(readerSettings(), s.data)
		}
		if wire.IsAway(err) || ctx.Err() != nil || isOutdated(err) {
			return nil, err
		}
		if err != nil {
			l.damage = fmt.Sprintf("snapshot %s: %v", o.Name, err)
			continue
		}
		l.newest = max(l.newest, b.Number())
		candidates = append(candidates, &candidate{book: b, sequence: s.sequence})
	}
	there := map[uint64]bool{} // there are few plans between snapshots, so their sequences fit in memory
	for from := uint64(1); ; {
		page, next, err := wire.NextMessages(ctx, js, wire.PlanStream, wire.PlanSubject, from, 500)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			there[m.Sequence] = true
			p, err := wire.Decode[wire.Plan](m.Data)
			if err == nil {
				l.newest = max(l.newest, p.Number)
			}
			for _, c := range candidates {
				if m.Sequence <= c.sequence || c.why != nil {
					continue
				}
				if err != nil {
					c.why = err
				} else if c.why = c.book.Fold(p); c.why == nil {
					c.sequence = m.Sequence
				}
			}
		}
		from = next
	}
	// Among the books that get furthest, the last one folds the fewest plans.
	best := slices.MaxFunc(candidates, func(x, y *candidate) int {
		switch {
		case x.book.Number() != y.book.Number():
			return map[bool]int{true: 1, false: -1}[x.book.Number() > y.book.Number()]
		case (x.why == nil) != (y.why == nil):
			return map[bool]int{true: 1, false: -1}[x.why == nil]
		}
		return 0
	})
	if isOutdated(best.why) {
		return nil, fmt.Errorf("plan %d: %w", best.book.Number()+1, best.why)
	}
	if best.why != nil { // the book has folded part of the plan that does not fit
		if best.book, err = l.foldTo(ctx, js, objects, best.sequence); err != nil {
			return nil, err
		}
		l.damage = fmt.Sprintf("%s after sequence %d: %v", wire.PlanStream, best.sequence, best.why)
	} else if l.damage == "" && best.sequence > l.end {
		l.damage = fmt.Sprintf("%s ends at sequence %d, but the last snapshot at %d", wire.PlanStream, l.end,
			best.sequence)
	} else if l.damage == "" && best.sequence < l.end {
		l.damage = fmt.Sprintf("%s has lost its messages from sequence %d to %d", wire.PlanStream, best.sequence+1,
			l.end)
	} else if best.sequence == l.end {
		l.damage = "" // the unreadable snapshot is not needed
	}
	l.book = best.book
	return l, nil
}

// foldTo folds the log again up to a sequence.
func (l *salvaged) foldTo(ctx context.Context, js jetstream.JetStream, objects jetstream.ObjectStore,
	to uint64) (*book.Book, error) {
	var best *book.Book
	starts := append([]*jetstream.ObjectInfo{nil}, l.snapshots...)
	for _, o := range starts {
		b, err := book.New(readerSettings())
		sequence := uint64(0)
		if o != nil {
			s, failed := readSnapshot(ctx, objects, o)
			if failed != nil {
				continue
			}
			b, err = book.Restore(readerSettings(), s.data)
			sequence = s.sequence
		}
		for from := sequence + 1; err == nil && from <= to; {
			page, next, failed := wire.NextMessages(ctx, js, wire.PlanStream, wire.PlanSubject, from, 500)
			if failed != nil {
				return nil, failed
			}
			if len(page) == 0 {
				break
			}
			for _, m := range page {
				if m.Sequence > to {
					break
				}
				var p *wire.Plan
				if p, err = wire.Decode[wire.Plan](m.Data); err == nil {
					err = b.Fold(p)
				}
				if err != nil {
					break
				}
			}
			from = next
		}
		if err == nil && (best == nil || b.Number() > best.Number()) {
			best = b
		}
	}
	if best == nil {
		return nil, errors.New("folding the same plans again gave a different result")
	}
	return best, nil
}

// rehearse processes PFQ_IN with a copy of the repaired book, and counts the reports that it would
// adopt and put aside.
func rehearse(ctx context.Context, js jetstream.JetStream, snapshot []byte, upto uint64) (adoptable, aside int,
	err error) {
	settings := readerSettings()
	settings.Random = zeros{}
	b, err := book.Restore(settings, snapshot)
	if err != nil {
		return 0, 0, err
	}
	adopted := map[string]bool{}
	for from := upto + 1; ; {
		page, next, err := wire.NextMessages(ctx, js, wire.InStream, wire.InSubjects, from, 500)
		if err != nil {
			return 0, 0, err
		}
		var list []book.Input
		for _, m := range page {
			in, err := wire.DecodeIn(m.Subject, m.Data)
			list = append(list, book.Input{Sequence: m.Sequence, In: in, Subject: m.Subject, Err: err})
		}
		for p, err := b.Take(b.At(), list); p != nil || err != nil; p, err = b.Take(b.At(), nil) {
			if err != nil {
				return 0, 0, err
			}
			for _, a := range p.Adopted {
				adopted[fmt.Sprint(a.Job, ".", a.Task)] = true
			}
			for _, r := range p.Refused {
				if r.Aside {
					aside++
				}
			}
		}
		if len(page) == 0 {
			return len(adopted), aside, nil
		}
		from = next
	}
}

// zeros is the source of random bytes of a book whose plans are not used.
type zeros struct{}

func (zeros) Read(to []byte) (int, error) { clear(to); return len(to), nil }

// An AsideReport is a message of PFQ_IN that was put aside.
type AsideReport struct {
	Name    string // name of the file to write it to
	Subject string // original subject
	Data    []byte // content
}

// Aside returns the messages that were put aside.
func Aside(ctx context.Context, js jetstream.JetStream) (list []AsideReport, err error) {
	objects, err := js.ObjectStore(ctx, wire.SnapshotStore)
	if err != nil {
		return nil, err
	}
	all, err := objects.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	for _, o := range all {
		if !strings.HasPrefix(o.Name, asidePrefix) {
			continue
		}
		data, err := objects.GetBytes(ctx, o.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		list = append(list, AsideReport{Name: o.Name, Subject: o.Metadata[subjectField], Data: data})
	}
	return list, err
}
