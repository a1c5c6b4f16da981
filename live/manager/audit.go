package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

// An Audited log is the result of [Audit].
type Audited struct {
	From, To uint64           // numbers of the plans that were decided again
	Cluster  wire.ClusterView // state after the last plan
	Report   *dispatch.Result

	Missing  map[string]int // number of results that the server has lost, by job
	Contents []string       // one line per lost output, input, message, view or job
}

// Audit decides all plans of the log again, from the first one or, if that is gone, from the
// earliest snapshot. It compares the log with the rest of the server's data. If a plan comes out
// differently, the error is a [*book.Difference]. If the log has lost plans, the error is a
// [*DamageError], see [Repair]. Lost results and contents are listed in [Audited.Missing] and
// [Audited.Contents].
func Audit(ctx context.Context, js jetstream.JetStream) (*Audited, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	view, err := newestView(ctx, js) // read before the log, which must contain its plan
	if err != nil {
		return nil, err
	}
	b, from, err := earliest(ctx, js)
	if err != nil {
		return nil, err
	}
	a := &Audited{From: b.Number() + 1, Missing: map[string]int{}}
	sequence, err := verifyPlans(ctx, js, b, from)
	if err != nil {
		return nil, err
	}
	if view > b.Number() {
		return nil, damaged("%s ends with plan %d, but a view shows plan %d", wire.PlanStream, b.Number(), view)
	}
	if b.Key() == nil {
		objects, err := js.ObjectStore(ctx, wire.SnapshotStore)
		if err != nil {
			return nil, err
		}
		key, err := readKey(ctx, objects)
		if err != nil {
			return nil, err
		}
		b.SetKey(key.Key, key.From)
	}
	reports, err := unprocessed(ctx, js, b.Upto())
	if err != nil {
		return nil, err
	}
	var lost []wire.JobView
	if b.Script() == nil {
		var unreadable []string
		if lost, unreadable, err = jobsOfLostPlans(ctx, js, b); err != nil {
			return nil, err
		}
		if a.Missing, err = findMissing(ctx, js, b.Results()); err != nil {
			return nil, err
		}
		for _, v := range lost {
			there, err := countResults(ctx, js, v.Name)
			if err != nil {
				return nil, err
			}
			a.Missing[v.Name] = max(0, v.Tasks-v.Left-v.Failed-there)
		}
		if a.Contents, err = findContents(ctx, js); err != nil {
			return nil, err
		}
		subjects, err := findUnreadable(ctx, js)
		if err != nil {
			return nil, err
		}
		for _, subject := range subjects {
			a.Contents = append(a.Contents, subject+": the message cannot be read, and no other can take its place")
		}
		a.Contents = append(a.Contents, unreadable...)
	}
	// Reports may be about plans made in the meantime.
	if _, err = verifyPlans(ctx, js, b, sequence); err != nil {
		return nil, err
	}
	for i := range reports {
		if reports[i].Sequence > b.Upto() {
			if err := lostPlans(b.Trace(&reports[i])); err != nil {
				return nil, err
			}
		}
	}
	for _, v := range lost {
		if _, ok := b.Job(v.Name); ok { // a new job
			delete(a.Missing, v.Name)
			continue
		}
		a.Contents = append(a.Contents,
			"job "+v.Name+": its submission and all plans about it are lost, and only its view is left")
	}
	for job, n := range a.Missing {
		if v, ok := b.Job(job); n == 0 || ok && v.State == wire.JobCleared { // cleared in the meantime
			delete(a.Missing, job)
		}
	}
	a.To, a.Cluster, a.Report = b.Number(), b.Cluster(), b.Report()
	return a, nil
}

// jobsOfLostPlans returns the views of jobs whose submission and plans are all lost, and one line
// for each unreadable view.
func jobsOfLostPlans(ctx context.Context, js jetstream.JetStream, b *book.Book) (lost []wire.JobView,
	unreadable []string, err error) {
	prefix := "$KV." + wire.JobsBucket + "."
	for from := uint64(1); ; {
		page, next, err := wire.NextMessages(ctx, js, "KV_"+wire.JobsBucket, prefix+">", from, 500)
		if err != nil || len(page) == 0 {
			return lost, unreadable, err
		}
		for _, m := range page {
			if len(m.Data) == 0 { // marks a removed view
				continue
			}
			v, err := wire.Decode[wire.JobView](m.Data)
			if err != nil {
				unreadable = append(unreadable, fmt.Sprintf("view of job %s: %v",
					strings.TrimPrefix(m.Subject, prefix), err))
				continue
			}
			if _, ok := b.Job(v.Name); ok || v.State == wire.JobCleared {
				continue
			}
			// After a repair, the next leader reads the submission again.
			submitted, err := wire.LastMessage(ctx, js, wire.InStream, wire.Submit(v.Batch))
			if err != nil && !errors.Is(err, wire.ErrNotFound) {
				return nil, nil, err
			}
			if err != nil || submitted.Sequence <= b.Upto() {
				lost = append(lost, *v)
			}
		}
		from = next
	}
}

// countResults returns the number of tasks of a job with a readable result.
func countResults(ctx context.Context, js jetstream.JetStream, job string) (n int, err error) {
	for from := uint64(1); ; {
		page, next, err := wire.NextMessages(ctx, js, wire.InStream, wire.DoneOf(job), from, 500)
		if err != nil || len(page) == 0 {
			return n, err
		}
		n += len(page)
		from = next
	}
}

// verifyPlans decides the plans after a sequence of the log again, and returns the sequence of the
// last one.
func verifyPlans(ctx context.Context, js jetstream.JetStream, b *book.Book, sequence uint64) (uint64, error) {
	to, err := last(ctx, js, wire.PlanStream)
	if err != nil || sequence == to {
		return sequence, err
	}
	if sequence > to {
		return 0, damaged("%s ends at sequence %d, but the last snapshot at %d", wire.PlanStream, to, sequence)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wait, err := patience(ctx, js)
	if err != nil {
		return 0, err
	}
	there, err := lastPlan(ctx, js)
	if err != nil {
		return 0, err
	}
	if wait == 0 && there < to {
		return 0, damaged("%s has lost its messages from sequence %d to %d", wire.PlanStream, there+1, to)
	}
	r, err := read(ctx, js, wire.PlanStream, sequence+1)
	if err != nil {
		return 0, err
	}
	defer r.stop()
	for sequence < to {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(stallTime):
			list, _, err := wire.NextMessages(ctx, js, wire.PlanStream, wire.PlanSubject, sequence+1, 1)
			if err != nil {
				return 0, err
			}
			if len(list) == 0 {
				return 0, damaged("%s has lost its messages from sequence %d to %d", wire.PlanStream, sequence+1, to)
			}
		case m := <-r.messages:
			p, err := wire.Decode[wire.Plan](m.data)
			if err == nil {
				err = b.Verify(p)
			}
			var differs *book.Difference
			if err = describeAt(m.sequence, err); errors.As(err, &differs) {
				return 0, err
			} else if err != nil {
				return 0, toDamageError(err)
			}
			sequence = m.sequence
		}
	}
	return sequence, nil
}

func describeAt(sequence uint64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("plan at %d: %w", sequence, err)
}

// findContents reads all contents that results and jobs in PFQ_IN refer to, and returns one line
// for each incomplete content.
func findContents(ctx context.Context, js jetstream.JetStream) (lines []string, err error) {
	users := map[string][]string{} // by digest: what refers to it
	for from := uint64(1); ; {
		page, next, err := wire.NextMessages(ctx, js, wire.InStream, wire.InSubjects, from, 500)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			if in, err := wire.DecodeIn(m.Subject, m.Data); err == nil { // the manager refuses other messages
				for what, digest := range contents(&in) {
					users[digest] = append(users[digest], what)
				}
			}
		}
		from = next
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(32) // reading a missing content waits
	for digest, by := range users {
		group.Go(func() error {
			err := wire.GetContent(ctx, js, digest, io.Discard)
			if err == nil || !errors.Is(err, wire.ErrNotFound) && !errors.Is(err, wire.ErrCorrupt) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for _, what := range by {
				lines = append(lines, fmt.Sprintf("%s: %v", what, err))
			}
			return nil
		})
	}
	err = group.Wait()
	slices.Sort(lines)
	return lines, err
}

// contents returns the digests in a message, by a description of their use.
func contents(in *wire.In) map[string]string {
	all := map[string]string{}
	if r := in.Report; r != nil && r.Digest != "" {
		all[fmt.Sprintf("output of task %d of job %s", r.Task, r.Job)] = r.Digest
	}
	if in.Batch != nil {
		for i := range in.Batch.Jobs {
			j := &in.Batch.Jobs[i]
			for name, digest := range j.Run.Inputs {
				all[fmt.Sprintf("input %s of job %s", name, j.Name)] = digest
			}
		}
	}
	return all
}

// earliest returns the book from which the existing plans can be folded, and its sequence in
// PFQ_PLAN.
func earliest(ctx context.Context, js jetstream.JetStream) (*book.Book, uint64, error) {
	plans, err := js.Stream(ctx, wire.PlanStream)
	if err != nil {
		return nil, 0, err
	}
	objects, err := js.ObjectStore(ctx, wire.SnapshotStore)
	if err != nil {
		return nil, 0, err
	}
	list, err := listSnapshots(ctx, objects)
	if err != nil {
		return nil, 0, err
	}
	repaired := slices.IndexFunc(list, func(o *jetstream.ObjectInfo) bool { return o.Metadata[repairedField] != "" })
	first := plans.CachedInfo().State.FirstSeq
	if repaired < 0 && first <= 1 {
		b, err := book.New(readerSettings())
		return b, 0, err
	}
	if len(list) == 0 {
		return nil, 0, damaged("the plans before %d are gone, and there is no snapshot", first)
	}
	o := list[len(list)-1]
	if repaired >= 0 {
		o = list[repaired]
	}
	s, err := readSnapshot(ctx, objects, o)
	if err == nil {
		var b *book.Book
		b, err = book.Restore(readerSettings(), s.data)
		return b, s.sequence, err
	}
	if wire.IsAway(err) || ctx.Err() != nil || isOutdated(err) {
		return nil, 0, err
	}
	return nil, 0, damaged("snapshot %s: %v", o.Name, err)
}

// nothingDrawn is the source of random bytes of a book that makes no new decisions.
type nothingDrawn struct{}

func (nothingDrawn) Read([]byte) (int, error) {
	return 0, fmt.Errorf("a read-only book needs no random bytes")
}
