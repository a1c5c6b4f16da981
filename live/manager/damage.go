package manager

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/internal/input"
	"productform/live/book"
	"productform/live/wire"
)

// A DamageError reports what the store has lost. No manager leads until the store is repaired, see
// [Repair]: leading would remove messages that only the lost part explains.
type DamageError struct{ What string }

func (e *DamageError) Error() string {
	return "the store is damaged: " + e.What + "; nothing is removed, and no manager leads"
}

func damaged(format string, a ...any) error { return &DamageError{fmt.Sprintf(format, a...)} }

// refuseTime is the time after which a manager that found damage checks again.
const refuseTime = 2 * time.Second

// refuse answers requests with the damage for a while, unless another manager leads.
func (m *manager) refuse(ctx context.Context, why *DamageError) {
	if why.What != m.damage {
		m.damage = why.What
		m.settings.Log.Error("the store is damaged, and this manager does not lead until it is repaired",
			"manager", m.settings.Name, "damage", why.What)
	}
	ctx, cancel := context.WithTimeout(ctx, refuseTime)
	defer cancel()
	if _, err := m.leader.Get(ctx, leaseKey); !errors.Is(err, jetstream.ErrKeyNotFound) {
		<-ctx.Done()
		return
	}
	for _, subject := range []string{wire.StatusService, wire.HistoryService, wire.ReportService} {
		sub, err := m.nc.Subscribe(subject, func(q *nats.Msg) {
			_ = q.RespondMsg(&nats.Msg{Header: nats.Header{"Nats-Service-Error": {why.Error()},
				"Nats-Service-Error-Code": {wire.DamageCode}}})
		})
		if err == nil {
			defer sub.Unsubscribe()
		}
	}
	<-ctx.Done()
}

// isOutdated reports whether an error is a [book.OutdatedError].
func isOutdated(err error) bool {
	var outdated *book.OutdatedError
	return errors.As(err, &outdated)
}

// toDamageError converts an error of a plan that does not fold to a [DamageError], unless another
// program wrote the plan.
func toDamageError(err error) error {
	var bad *input.Error
	if isOutdated(err) || errors.As(err, &bad) && bad.Path == "v" {
		return err
	}
	return damaged("%s: %v", wire.PlanStream, err)
}

// newestView returns the number of the latest plan in any view. Managers write a view only after
// the server has its plan.
func newestView(ctx context.Context, js jetstream.JetStream) (plan uint64, err error) {
	for _, bucket := range []string{wire.JobsBucket, wire.WorkersBucket, wire.BatchesBucket, wire.ProfilesBucket} {
		s, err := js.Stream(ctx, "KV_"+bucket)
		if err != nil {
			return 0, err
		}
		last := s.CachedInfo().State.LastSeq
		if last == 0 {
			continue
		}
		m, err := s.GetMsg(ctx, last)
		if err == nil {
			plan = max(plan, planOf(&wire.Stored{Header: m.Header}))
		} else if !errors.Is(err, jetstream.ErrMsgNotFound) {
			return 0, err
		}
	}
	return plan, nil
}

// unprocessed returns the messages of PFQ_IN after a sequence.
func unprocessed(ctx context.Context, js jetstream.JetStream, after uint64) (list []book.Input, err error) {
	for from := after + 1; ; {
		page, next, err := wire.NextMessages(ctx, js, wire.InStream, wire.InSubjects, from, 500)
		if err != nil || len(page) == 0 {
			return list, err
		}
		for _, m := range page {
			if in, err := wire.DecodeIn(m.Subject, m.Data); err == nil && (in.Report != nil || in.Failure != nil) {
				list = append(list, book.Input{Sequence: m.Sequence, In: in})
			}
		}
		from = next
	}
}

// catchUpAndCheck folds the rest of the log, and returns a [DamageError] if views or reports prove
// that the log has lost plans. Views and reports are read before the log, which must contain their
// plans. The servers of a cluster get some time to agree on their data.
func (m *manager) catchUpAndCheck(ctx context.Context, f *fold) error {
	wait, err := patience(ctx, m.js)
	if err != nil {
		return err
	}
	for begun := time.Now(); ; rest(ctx, tryEvery) {
		view, err := newestView(ctx, m.js)
		if err != nil {
			return err
		}
		reports, err := unprocessed(ctx, m.js, f.book.Upto())
		if err != nil {
			return err
		}
		if err := m.catchUp(ctx, f); err != nil {
			return err
		}
		if f.book.Key() == nil {
			key, err := readKey(ctx, m.store)
			if err != nil {
				return err
			}
			f.book.SetKey(key.Key, key.From)
		}
		if view > f.book.Number() {
			err = damaged("%s ends with plan %d, but a view shows plan %d", wire.PlanStream, f.book.Number(), view)
		}
		for i := 0; i < len(reports) && err == nil; i++ {
			if reports[i].Sequence > f.book.Upto() {
				err = lostPlans(f.book.Trace(&reports[i]))
			}
		}
		if err == nil || time.Since(begun) >= wait || ctx.Err() != nil {
			return err
		}
	}
}

// lostPlans converts a [book.LostPlansError] to a [DamageError].
func lostPlans(err error) error {
	var lost *book.LostPlansError
	if errors.As(err, &lost) {
		return damaged("%s has lost plans: %v", wire.PlanStream, lost)
	}
	return err
}

// keyObject is the object with the token key in the snapshot store. The plans contain the key too,
// so either copy may be lost.
const keyObject = "key"

type clusterKey struct {
	Key  []byte `json:"key"`
	From uint64 `json:"from"` // see [book.Book.SetKey]
}

// readKey returns the key in the store, or the zero value if there is none.
func readKey(ctx context.Context, s jetstream.ObjectStore) (k clusterKey, err error) {
	data, err := s.GetBytes(ctx, keyObject)
	switch {
	case err == nil:
		if err := json.Unmarshal(data, &k); err != nil || len(k.Key) != book.KeyBytes {
			return clusterKey{}, nil
		}
		return k, nil
	case wire.IsAway(err) && ctx.Err() == nil && !errors.Is(err, nats.ErrTimeout), ctx.Err() != nil:
		return k, err
	}
	return k, nil // the key is missing or damaged
}

// keepKey makes sure that the store has the token key, and draws one if there is none.
func (m *manager) keepKey(ctx context.Context, b *book.Book) error {
	kept, err := readKey(ctx, m.store)
	if err != nil {
		return err
	}
	if b.Key() == nil {
		kept = clusterKey{Key: make([]byte, book.KeyBytes)}
		rand.Read(kept.Key)
		if kept.From, err = last(ctx, m.js, wire.InStream); err != nil {
			return err
		}
		b.SetKey(kept.Key, kept.From)
	} else if slices.Equal(kept.Key, b.Key()) {
		return nil
	} else {
		kept = clusterKey{Key: b.Key()}
	}
	data, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return put(ctx, m.store, jetstream.ObjectMeta{Name: keyObject}, data)
}

// findMissing reads all results in PFQ_IN. By job, it returns the number of wanted results that are
// absent or unreadable, 0 for a job that has all. wanted is as returned by [book.Book.Results] and
// is modified. A copy of the stream may be behind, so absent results are requested again from the
// leader of the stream. The index of a stream is not proof: it may list unreadable messages.
func findMissing(ctx context.Context, js jetstream.JetStream, wanted map[string][]bool) (map[string]int, error) {
	err := readIn(ctx, js, func(m *wire.Stored) {
		if job, task, ok := wire.DoneTask(m.Subject); ok && task < len(wanted[job]) {
			wanted[job][task] = false
		}
	})
	if err != nil {
		return nil, err
	}
	list := map[string]int{}
	for job, tasks := range wanted {
		list[job] = 0
		for task, isWanted := range tasks {
			if !isWanted {
				continue
			}
			there, err := hasMessage(ctx, js, wire.InStream, wire.Done(job, task))
			if err != nil {
				return nil, err
			}
			if !there {
				list[job]++
			}
		}
	}
	return list, nil
}

// findUnreadable returns the subjects of PFQ_IN whose message the index lists but the server cannot
// read. These subjects accept no other message, such as the report of a repeated task, and a purge
// does not free them.
func findUnreadable(ctx context.Context, js jetstream.JetStream) (subjects []string, err error) {
	in, err := js.Stream(ctx, wire.InStream)
	if err != nil {
		return nil, err
	}
	state, readable := in.CachedInfo().State, uint64(0)
	err = readIn(ctx, js, func(m *wire.Stored) {
		if m.Sequence <= state.LastSeq {
			readable++
		}
	})
	if err != nil || readable >= state.Msgs {
		return nil, err
	}
	info, err := in.Info(ctx, jetstream.WithSubjectFilter(wire.InSubjects))
	if err != nil {
		return nil, err
	}
	listed := info.State.Subjects
	if err := readIn(ctx, js, func(m *wire.Stored) { delete(listed, m.Subject) }); err != nil {
		return nil, err
	}
	for _, subject := range slices.Sorted(maps.Keys(listed)) {
		there, err := hasMessage(ctx, js, wire.InStream, subject)
		if err != nil {
			return nil, err
		}
		if !there {
			subjects = append(subjects, subject)
		}
	}
	return subjects, nil
}

// readIn reads all readable messages of PFQ_IN.
func readIn(ctx context.Context, js jetstream.JetStream, each func(*wire.Stored)) error {
	for from := uint64(1); ; {
		page, next, err := wire.NextMessages(ctx, js, wire.InStream, wire.InSubjects, from, 500)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, m := range page {
			each(m)
		}
		from = next
		rest(ctx, time.Millisecond) // gives way to more urgent requests
	}
}

// findRestored returns reports of open tasks that plans up to a sequence of PFQ_IN have removed, or
// that were lost with other plans, but that the server has again. They block their tasks.
func findRestored(
	ctx context.Context, js jetstream.JetStream, open map[string][]bool, upto uint64,
) (list []book.Input, err error) {
	err = readIn(ctx, js, func(m *wire.Stored) {
		job, task, ok := wire.DoneTask(m.Subject)
		if !ok || m.Sequence > upto || task >= len(open[job]) || !open[job][task] {
			return
		}
		in, err := wire.DecodeIn(m.Subject, m.Data)
		list = append(list, book.Input{Sequence: m.Sequence, Restored: true, In: in, Subject: m.Subject, Err: err})
	})
	return list, err
}

// hasMessage asks the leader of a stream whether it has a readable message on a subject.
func hasMessage(ctx context.Context, js jetstream.JetStream, stream, subject string) (bool, error) {
	question, err := json.Marshal(map[string]string{"last_by_subj": subject})
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	reply, err := js.Conn().RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, question)
	if err != nil {
		return false, err
	}
	var answer struct {
		Message *struct{}           `json:"message"`
		Error   *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return false, err
	}
	if answer.Error != nil && wire.IsAway(answer.Error) {
		return false, answer.Error
	}
	return answer.Message != nil, nil
}

// checkPause is the time between two attempts to check the reports in PFQ_IN.
const checkPause = time.Second

// checkReports checks the reports in PFQ_IN while the leader makes decisions. It sends the loop the
// restored reports and the number of missing results. It repeats a failed check, because otherwise
// a view would keep showing an earlier loss. wanted is as returned by [book.Book.Results], and open
// as returned by [book.Book.Open].
func (l *leader) checkReports(ctx context.Context, wanted, open map[string][]bool, upto uint64) {
	for _, check := range []func() error{
		func() error {
			list, err := findRestored(ctx, l.js, open, upto)
			if err == nil && len(list) > 0 {
				l.restored <- list
			}
			return err
		},
		func() error {
			subjects, err := findUnreadable(ctx, l.js)
			if len(subjects) > 0 {
				l.settings.Log.Error("the server cannot read messages that it had acknowledged",
					"stream", wire.InStream, "subjects", subjects[:min(len(subjects), 20)], "count", len(subjects),
					"advice", "jobs whose tasks are among them cannot end: "+
						"cancel these jobs, and submit the tasks again")
			}
			return err
		},
		func() error {
			list, err := findMissing(ctx, l.js, wanted)
			if err == nil {
				l.missing <- list
			}
			return err
		},
	} {
		for err := check(); err != nil; err = check() {
			if ctx.Err() != nil {
				return
			}
			l.settings.Log.Warn("reports not checked", "error", err)
			if rest(ctx, checkPause); ctx.Err() != nil {
				return
			}
		}
	}
}

// addMissing adds missing results to the inputs.
func (l *leader) addMissing(list map[string]int) {
	var missing []wire.Missing
	lost := map[string]int{}
	for _, job := range slices.Sorted(maps.Keys(list)) {
		n := list[job]
		if v, ok := l.book.Job(job); ok && v.State != wire.JobCleared && v.Missing != n {
			missing = append(missing, wire.Missing{Job: l.book.JobNumber(job), Results: n})
			if n > 0 {
				lost[job] = n
			}
		}
	}
	if len(lost) > 0 {
		l.settings.Log.Error("the server has lost messages that it had acknowledged", "stream", wire.InStream,
			"results", describeMissing(lost))
	}
	if len(missing) > 0 {
		l.heard = append(l.heard, book.Input{Missing: missing})
	}
}

// describeMissing lists jobs with their numbers of results.
func describeMissing(list map[string]int) string {
	var parts []string
	for job, n := range list {
		parts = append(parts, fmt.Sprintf("%d of job %s", n, job))
	}
	slices.Sort(parts)
	if over := len(parts) - 20; over > 0 {
		parts = append(parts[:20], fmt.Sprintf("those of %d more jobs", over))
	}
	return strings.Join(parts, ", ")
}
