package dispatch_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/internal/input"
)

// A ledger that receives the starts and preemptions of a maker agrees with it on all jobs and
// workers, and so does a ledger restored from the maker's state in the middle.
func TestLedgerFollowsMaker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		speeds := slices.Repeat([]float64{1}, rapid.IntRange(1, 4).Draw(t, "workers"))
		m, err := dispatch.NewMaker(
			dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}, Emergency: 2}, speeds,
		)
		if err != nil {
			t.Fatal(err)
		}
		l, err := dispatch.NewLedger(speeds)
		if err != nil {
			t.Fatal(err)
		}
		jobs := 0
		for at := range rapid.IntRange(1, 30).Draw(t, "moments") {
			var what []dispatch.Happening
			if rapid.Bool().Draw(t, "submits") {
				what = append(what, dispatch.Happening{Kind: dispatch.Submitted, Job: jobs, What: &dispatch.Job{
					Submit: float64(at), Tasks: rapid.IntRange(1, 5).Draw(t, "tasks"), Priority: float64(jobs % 3)}})
				jobs++
			}
			for w := range speeds {
				h := dispatch.Happening{Worker: w, Kind: rapid.SampledFrom([]dispatch.Kind{
					dispatch.Finished, dispatch.Refused, dispatch.Failed, dispatch.Returned, dispatch.Leaving,
				}).Draw(t, "kind")}
				if h.Kind == dispatch.Finished || h.Kind == dispatch.Refused {
					if h.Job, h.Task, h.Attempt, _ = m.Hand(w); h.Job < 0 {
						continue
					}
				}
				what = append(what, h)
			}
			want, err := m.Decide(float64(at), what)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.Note(float64(at), what)
			if err != nil || !slices.Equal(got, want[:len(got)]) {
				t.Fatalf("noted %v, error %v, want the first of %v", got, err, want)
			}
			for _, e := range want[len(got):] {
				switch {
				case e.Kind == dispatch.Preempted:
					err = l.Preempt(e.Worker)
				case rapid.Bool().Draw(t, "follows"):
					err = l.Follow(e)
				default:
					err = l.Begin(e.Worker, e.Job)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if got := l.Events(); !slices.Equal(got, want) {
				t.Fatalf("events %v, want %v", got, want)
			}
			if rapid.IntRange(0, 4).Draw(t, "anew") == 0 {
				if l, err = dispatch.LedgerOf(m.State()); err != nil {
					t.Fatal(err)
				}
			}
			for i := range jobs {
				got, _ := l.Progress(i)
				want, err := m.Progress(i)
				got.Planned = want.Planned
				if j, ok := l.Job(i); err != nil || got != want || !ok || j.Priority != float64(i%3) {
					t.Fatalf("job %d: %+v, want %+v", i, got, want)
				}
			}
			if got, want := l.Result(), m.Result(); got.Utilization != want.Utilization || got.Lost != want.Lost ||
				!slices.Equal(got.Jobs, want.Jobs) {
				t.Fatalf("%+v, want %+v", got, want)
			}
		}
	})
}

// Impossible starts and preemptions are rejected, and nothing changes.
func TestLedgerRefuses(t *testing.T) {
	l, err := dispatch.NewLedger([]float64{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	what := []dispatch.Happening{
		{Kind: dispatch.Submitted, What: &dispatch.Job{Tasks: 1}}, {Kind: dispatch.Failed, Worker: 2},
	}
	if _, err := l.Note(0, what); err != nil {
		t.Fatal(err)
	}
	if err := l.Begin(0, 0); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"no such job": l.Begin(1, 1), "no task waits": l.Begin(1, 0), "not idle": l.Begin(0, 0),
		"down": l.Begin(2, 0), "no such worker": l.Begin(3, 0),
		"nothing running": l.Preempt(1), "nobody": l.Preempt(7),
		"an end": l.Follow(dispatch.Event{Kind: dispatch.Finished, Attempt: 1}),
	} {
		if bad := (*input.Error)(nil); !errors.As(err, &bad) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if job, task, attempt, _ := l.Hand(0); job != 0 || task != 0 || attempt != 1 || len(l.Events()) != 3 {
		t.Errorf("job %d, task %d, attempt %d running", job, task, attempt)
	}
}
