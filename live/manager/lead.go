package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"productform/live/book"
	"productform/live/keys"
	"productform/live/wire"
)

// maxWaiting bounds the queues of a leader's loop. Additional heartbeats are dropped, which is
// harmless.
const maxWaiting = 1 << 14

// Limits on the messages of one plan and their bytes.
const (
	maxTogether = 1000
	maxBytes    = 1 << 18
)

// errBroken reports a lost connection to the server. Messages may be lost with it.
var errBroken = errors.New("the connection is broken")

// A leader is a manager while it leads. A single goroutine runs it.
type leader struct {
	*manager
	*fold
	heard  []book.Input // not yet passed to the book
	bytes  int          // size of the messages among them
	settle time.Time    // when to decide, if Settings.Settle is not 0; zero without inputs

	inbox    *reader
	beats    chan *nats.Msg
	ended    chan *nats.Msg // closed connections
	requests chan *nats.Msg
	broken   chan nats.Status
	restored chan []book.Input   // reports that the server has again
	missing  chan map[string]int // number of results that PFQ_IN lacks, by job

	health    *health
	orders    *dispatcher
	history   *history
	views     *viewer
	isAhead   bool    // the book has a plan that may not be in the log
	began     float64 // start of leading, in seconds since the epoch
	malformed int
	writing   chan error           // error of writing a snapshot; nil while none is written
	taken     map[string]time.Time // when the server received batches that no plan has named, on its clock
	waiting   map[string]time.Time // since when jobs without a started task have been waiting
}

// lead leads until the context is done or the leader must stop. It returns the reason.
func (m *manager) lead(ctx context.Context, f *fold) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun := time.Now()
	if err := m.catchUpAndCheck(ctx, f); err != nil {
		return fmt.Errorf("reading the last plans: %w", err)
	}
	f.plans.stop()
	if err := m.keepKey(ctx, f.book); err != nil {
		return err
	}
	var err error
	if f.sequence, err = lastPlan(ctx, m.js); err != nil {
		return err
	}
	if err := m.checkLoss(ctx, f.book); err != nil {
		return err
	}
	l := &leader{
		manager: m, fold: f, health: newHealth(m.settings.LostAfter), history: newHistory(),
		missing: make(chan map[string]int, 1), restored: make(chan []book.Input, 1), taken: map[string]time.Time{},
		waiting: map[string]time.Time{}, beats: make(chan *nats.Msg, maxWaiting),
		ended: make(chan *nats.Msg, maxWaiting), requests: make(chan *nats.Msg, maxWaiting),
	}
	l.orders = newDispatcher(l.send)
	if l.inbox, err = read(ctx, m.js, wire.InStream, f.book.Upto()+1); err != nil {
		return err
	}
	defer l.inbox.stop()
	stop, err := l.subscribe()
	defer stop()
	if err != nil {
		return err
	}
	l.views = newViewer(ctx, m)
	defer l.views.stop()
	if err := l.sendAll(); err != nil {
		return err
	}
	m.times.fold.Observe(time.Since(begun).Seconds())
	m.settings.Log.Info("leading", "manager", m.settings.Name, "plan", f.book.Number(), "took", time.Since(begun))
	var watching sync.WaitGroup
	if wanted, open, upto := f.book.Results(), f.book.Open(), f.book.Upto(); !m.settings.Logical {
		watching.Go(func() { l.checkReports(ctx, wanted, open, upto) })
	}
	watching.Go(func() {
		if err := l.inbox.watch(ctx); errors.Is(err, errStalled) {
			cancel(fmt.Errorf("%s: %w", wire.InStream, err))
		}
	})
	err = l.loop(ctx)
	err = errors.Join(err, l.endSnapshot(ctx, err))
	cancel(nil)
	watching.Wait()
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		return cause
	}
	return err
}

// checkLoss checks that the server still has the messages that the plans mention. After a power
// failure, or in a copy of the store of a running server, PFQ_PLAN may be ahead of PFQ_IN. Without
// this check, as many of the next messages would be mistaken for the lost ones. A server that has
// just become the leader of its cluster may not know all its messages for a moment.
func (m *manager) checkLoss(ctx context.Context, b *book.Book) error {
	wait, err := patience(ctx, m.js)
	if err != nil {
		return err
	}
	for begun := time.Now(); ; rest(ctx, tryEvery) {
		end, err := last(ctx, m.js, wire.InStream)
		if err != nil || end >= b.Upto() {
			return err
		}
		if time.Since(begun) >= wait {
			m.settings.Log.Error("the server has lost messages that it had acknowledged", "stream",
				wire.InStream, "last", end, "before", b.Upto())
			b.Rewind(end)
			return nil
		}
	}
}

// sendAll sends all workers their orders and writes all views.
func (l *leader) sendAll() error {
	l.began = l.at()
	for _, w := range l.book.Workers() {
		if w.State != wire.WorkerDown && w.State != wire.WorkerGone {
			l.health.expect(w.Name, l.now())
		}
	}
	for _, j := range l.book.Jobs() {
		if j.Start == nil && j.State == wire.JobPresent && !l.settings.Logical {
			l.waiting[j.Name] = clock(l.book.Epoch() + j.Submit)
		}
	}
	l.show(l.book.Jobs(), l.book.Workers(), l.book.Batches(), l.book.Profiles())
	for _, o := range l.book.Orders() {
		if err := l.orders.order(o.Worker, &o.Order); err != nil {
			return err
		}
	}
	return nil
}

// subscribe starts receiving beats, closed connections and requests.
func (l *leader) subscribe() (stop func(), err error) {
	var subs []*nats.Subscription
	l.broken = l.nc.StatusChanged(nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	stop = func() {
		l.nc.RemoveStatusListener(l.broken)
		for _, s := range subs {
			_ = s.Unsubscribe() // the connection may be closed
		}
	}
	for _, s := range []struct {
		subject string
		to      chan *nats.Msg
	}{
		{wire.BeatSubject, l.beats}, {keys.Gone, l.ended}, {wire.StatusService, l.requests},
		{wire.HistoryService, l.requests},
		{wire.ReportService, l.requests}, {wire.AssignService, l.requests},
	} {
		sub, err := l.nc.ChanSubscribe(s.subject, s.to)
		if err != nil {
			return stop, err
		}
		subs = append(subs, sub)
	}
	return stop, nil
}

// loop receives inputs, decides and sends orders.
func (l *leader) loop(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.broken:
			return errBroken
		case m := <-l.inbox.messages:
			l.addMessage(m)
		case m := <-l.beats:
			l.processBeat(m)
		case m := <-l.ended:
			l.processEnd(m)
		case m := <-l.requests:
			l.answer(m)
		case list := <-l.restored:
			l.settings.Log.Error("the server has restored reports that were removed", "count", len(list))
			l.heard = append(l.heard, list...)
		case list := <-l.missing:
			l.addMissing(list)
		case <-timer.C:
		}
		l.addWaiting()
		if err := l.act(ctx); err != nil {
			return err
		}
		timer.Reset(l.wait())
	}
}

// addWaiting adds waiting inputs that fit in the same plan.
func (l *leader) addWaiting() {
	for len(l.heard) < maxTogether && l.bytes < maxBytes {
		select {
		case m := <-l.inbox.messages:
			l.addMessage(m)
		case m := <-l.beats:
			l.processBeat(m)
		case m := <-l.ended:
			l.processEnd(m)
		default:
			return
		}
	}
}

// act does what is due: it decides, sends orders, removes messages and writes snapshots.
func (l *leader) act(ctx context.Context) error {
	now := l.now()
	for _, name := range l.health.dropSilent(now) {
		l.settings.Log.Warn("worker is silent", "worker", name)
		// its current process is down, even if a late beat of another was the last
		if w, ok := l.book.Worker(name); ok {
			l.heard = append(l.heard, book.Input{Down: &book.Down{Worker: name, Process: w.Process}})
		}
	}
	if l.isSettling(now) {
		return nil
	}
	for more := true; more; {
		var err error
		if more, err = l.decide(ctx); err == nil && !more {
			more, err = l.remove(ctx)
		}
		if err != nil {
			return err
		}
	}
	if err := l.orders.repeat(now); err != nil {
		return err
	}
	l.showChanges()
	return l.snapshotIfDue(ctx)
}

// isSettling reports whether to wait for more inputs of the same moment.
func (l *leader) isSettling(now time.Time) bool {
	if l.settings.Settle == 0 || len(l.heard) == 0 {
		return false
	}
	if l.settle.IsZero() {
		l.settle = now.Add(l.settings.Settle)
	}
	if now.Before(l.settle) {
		return true
	}
	l.settle = time.Time{}
	return false
}

// decide makes a plan of the inputs, appends it, and then sends the resulting orders. more reports
// whether there was a plan; then another may follow.
func (l *leader) decide(ctx context.Context) (more bool, err error) {
	begun := time.Now()
	heard := l.heard
	l.heard, l.bytes, l.isAhead = nil, 0, true
	p, err := l.book.Take(l.at(), heard)
	if err != nil {
		return false, fmt.Errorf("deciding: %w", l.checkLost(ctx, err))
	}
	if p != nil {
		l.times.decide.Observe(time.Since(begun).Seconds())
		begun = time.Now()
		if l.sequence, err = appendPlan(ctx, l.js, p, l.sequence); err != nil {
			return false, fmt.Errorf("plan %d: %w", p.Number, err)
		}
		l.times.append.Observe(time.Since(begun).Seconds())
		l.fold.since += 1 + len(p.What)
		l.note(p)
		for _, o := range l.book.OrdersOf(p) {
			if err := l.orders.order(o.Worker, &o.Order); err != nil {
				return false, err
			}
		}
		l.timeStarts(p)
	}
	l.isAhead = false
	for i := range heard {
		if b := heard[i].Beat; b != nil {
			o, differs := l.book.Differs(b)
			if err := l.orders.compare(b.Worker, &o, differs, l.now()); err != nil {
				return false, err
			}
		}
	}
	return p != nil, nil
}

// checkLost returns a [DamageError] if err proves that the log has lost plans, unless these are new
// plans of another manager.
func (l *leader) checkLost(ctx context.Context, err error) error {
	if damage := lostPlans(err); damage != err {
		now, failed := lastPlan(ctx, l.js)
		if failed != nil || now != l.sequence {
			return cmp.Or(failed, errRefused)
		}
		return damage
	}
	return err
}

// send sends an order.
func (l *leader) send(worker string, o *wire.Order) error {
	limited := *o
	if !l.settings.Logical {
		l.health.limit(worker, &limited)
	}
	data, err := wire.Encode(&limited)
	if err != nil {
		return err
	}
	return l.nc.Publish(wire.OrderTo(worker), data)
}

// now returns the current time.
func (l *leader) now() time.Time { return l.settings.Now() }

// at returns the current time in seconds since the epoch of the plans.
func (l *leader) at() float64 {
	epoch := l.book.Epoch()
	if l.book.Number() == 0 {
		epoch = l.fold.epoch
	}
	return max(0, unix(l.now())-epoch)
}

// unix returns a time in seconds since 1970; clock is its inverse.
func unix(t time.Time) float64     { return float64(t.UnixNano()) / 1e9 }
func clock(unix float64) time.Time { return time.Unix(0, int64(unix*1e9)) }

// wait returns the time until something is due, if there are no inputs.
func (l *leader) wait() time.Duration {
	now := l.now()
	d := time.Second
	for _, at := range []time.Time{l.health.next(), l.orders.next(), l.settle} {
		if !at.IsZero() {
			d = min(d, at.Sub(now))
		}
	}
	if next := l.book.Next() - l.at(); next < d.Seconds() {
		d = time.Duration(next * 1e9)
	}
	return max(d, time.Millisecond)
}
