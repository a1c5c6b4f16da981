package manager

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"productform/dispatch"
	"productform/live/wire"
)

// note records a stored plan for observers.
func (l *leader) note(p *wire.Plan) {
	l.history.add(p, l.book)
	for i := range p.Events {
		e := &p.Events[i]
		if e.Job < 0 {
			continue
		}
		job, known := l.book.Job(l.book.JobName(e.Job))
		if !known {
			continue
		}
		l.history.point(job.Name, wire.Point{At: p.At, Planned: job.Planned, Hand: job.Hand})
	}
}

// timeStarts measures the waits of the jobs whose first order was just sent.
func (l *leader) timeStarts(p *wire.Plan) {
	for i := range p.NewJobs {
		if at, known := l.taken[p.NewJobs[i].Batch]; known {
			l.waiting[p.NewJobs[i].Job.Name] = at
		}
	}
	for i := range p.NewJobs {
		delete(l.taken, p.NewJobs[i].Batch)
	}
	for i := range p.Refused {
		delete(l.taken, p.Refused[i].Batch)
	}
	for i := range p.Events {
		e := &p.Events[i]
		if e.Kind != dispatch.Started && e.Kind != dispatch.Completed && e.Kind != dispatch.Cancelled {
			continue
		}
		name := l.book.JobName(e.Job)
		if since, waits := l.waiting[name]; waits && e.Kind == dispatch.Started {
			l.times.start.Observe(max(0, l.now().Sub(since).Seconds())) // the clocks of two machines may differ
		}
		delete(l.waiting, name)
	}
}

// show queues views to be written.
func (l *leader) show(
	jobs []wire.JobView, workers []wire.WorkerView, batches []wire.BatchView, profiles []wire.ProfileView,
) {
	values := map[key][]byte{}
	add := func(bucket, name string, view wire.Message) {
		data, err := wire.Encode(view)
		if err != nil {
			l.settings.Log.Error("view", "bucket", bucket, "key", name, "error", err)
			return
		}
		values[key{bucket, name}] = data
	}
	for i := range jobs {
		add(wire.JobsBucket, jobs[i].Name, &jobs[i])
	}
	for i := range workers {
		l.complete(&workers[i])
		add(wire.WorkersBucket, workers[i].Name, &workers[i])
	}
	for i := range batches {
		add(wire.BatchesBucket, batches[i].Name, &batches[i])
	}
	for i := range profiles {
		add(wire.ProfilesBucket, profiles[i].Kind, &profiles[i])
	}
	l.views.set(l.book.Number(), values)
}

// complete adds the data of the status checker to a worker.
func (l *leader) complete(w *wire.WorkerView) {
	s := l.health.workers[w.Name]
	if s == nil {
		return
	}
	at := max(0, unix(s.seen)-l.book.Epoch())
	w.Heard = &at
	if !s.cut.IsZero() && w.State != wire.WorkerDown && w.State != wire.WorkerGone {
		w.State = wire.WorkerSuspect
	}
}

// showChanges queues the changed views.
func (l *leader) showChanges() {
	c := l.book.Changes()
	if len(c.Jobs)+len(c.Workers)+len(c.Batches)+len(c.Profiles) == 0 {
		return
	}
	var jobs []wire.JobView
	var workers []wire.WorkerView
	var batches []wire.BatchView
	gone := map[key][]byte{}
	for name := range c.Jobs {
		if v, ok := l.book.Job(name); ok && v.State != wire.JobCleared {
			jobs = append(jobs, v)
		} else {
			gone[key{wire.JobsBucket, name}] = nil
		}
	}
	for name := range c.Workers {
		if v, ok := l.book.Worker(name); ok {
			workers = append(workers, v)
		} else {
			gone[key{wire.WorkersBucket, name}] = nil
		}
	}
	for name := range c.Batches {
		if v, ok := l.book.Batch(name); ok {
			batches = append(batches, v)
		} else {
			gone[key{wire.BatchesBucket, name}] = nil
		}
	}
	l.views.set(l.book.Number(), gone)
	var profiles []wire.ProfileView
	if len(c.Profiles) > 0 {
		profiles = slices.DeleteFunc(l.book.Profiles(), func(v wire.ProfileView) bool { return !c.Profiles[v.Kind] })
	}
	l.show(jobs, workers, batches, profiles)
}

// status returns the state of the cluster.
func (l *leader) status() *wire.Status {
	s := &wire.Status{
		Version: wire.Version, Cluster: l.book.Cluster(), Leading: l.began, Resent: l.orders.resent,
		Malformed: l.malformed,
		Jobs:      l.book.Latest(wire.MostListed), Workers: l.book.Workers(),
	}
	s.Cluster.Leader = l.settings.Name
	if !l.settings.Logical {
		s.Cluster.At = max(s.Cluster.At, l.at())
	}
	slices.SortFunc(s.Jobs, func(a, b wire.JobView) int {
		switch {
		case (a.Finish == nil) != (b.Finish == nil):
			return map[bool]int{true: -1, false: 1}[a.Finish == nil]
		case a.Finish == nil:
			return cmp.Or(
				cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Name, b.Name),
			)
		}
		return cmp.Or(cmp.Compare(*b.Finish, *a.Finish), cmp.Compare(a.Name, b.Name))
	})
	s.Jobs = s.Jobs[:min(len(s.Jobs), wire.MostListed)]
	slices.SortFunc(s.Workers, func(a, b wire.WorkerView) int { return compareNames(a.Name, b.Name) })
	for i := range s.Workers {
		l.complete(&s.Workers[i])
	}
	return s
}

// compareNames compares names with numbers in numeric order: w-2 comes before w-10.
func compareNames(a, b string) int {
	split := func(name string) (head string, number int) {
		head = strings.TrimRight(name, "0123456789")
		number, _ = strconv.Atoi(name[len(head):]) // 0 without digits, the largest int if there are too many
		return head, number
	}
	headA, numberA := split(a)
	headB, numberB := split(b)
	return cmp.Or(cmp.Compare(headA, headB), cmp.Compare(numberA, numberB), cmp.Compare(a, b))
}

// snapshotEvery is the number of plans and messages after which a snapshot is written.
const snapshotEvery = 20_000

// snapshotIfDue starts writing a snapshot in the background if it is time for one and none is being
// written.
func (l *leader) snapshotIfDue(ctx context.Context) error {
	select {
	case err := <-l.writing: // blocks while it is nil
		l.writing = nil
		if err != nil {
			l.settings.Log.Warn("snapshot not written", "error", err)
		}
	default:
	}
	if l.fold.since < snapshotEvery || l.writing != nil {
		return nil
	}
	data, err := l.book.Snapshot()
	if err != nil {
		return err
	}
	l.fold.since = 0
	writing, s := make(chan error, 1), snapshot{l.sequence, data}
	l.writing = writing
	go func() { writing <- writeSnapshot(ctx, l.js, l.store, s) }()
	return nil
}

// endSnapshot waits for a snapshot that is being written. After a clean end, with all plans in the
// log, it writes another one.
func (l *leader) endSnapshot(ctx context.Context, why error) error {
	if l.writing != nil {
		<-l.writing
	}
	if !errors.Is(why, context.Canceled) || context.Cause(ctx) != context.Canceled || l.isAhead ||
		l.fold.since == 0 || l.book.Number() == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	data, err := l.book.Snapshot()
	if err != nil {
		return err
	}
	return writeSnapshot(ctx, l.js, l.store, snapshot{l.sequence, data})
}
