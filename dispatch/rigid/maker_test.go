package rigid_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/rigid"
)

// A logged holds the happenings of one moment.
type logged struct {
	at     float64
	events []dispatch.Event
}

// runLog runs a scenario and returns the moments at which something happened.
func runLog(t *rapid.T, s rigid.Scenario) (log []logged, r *rigid.Result) {
	s.Events = func(at float64, events []dispatch.Event) {
		if len(events) > 0 {
			log = append(log, logged{at, slices.Clone(events)})
		}
	}
	return log, mustRun(t, s)
}

// On a clock that knows when tasks end, a maker does the same as Run: the same events at the same
// times, and the same measures. In the middle it is stored and restored, and a second maker that
// applies its events ends in the same state.
func TestMakerMatchesRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		unit := rapid.SampledFrom([]float64{1, 0.1}).Draw(t, "unit")
		drawOutages(t, &s)
		for i := range s.Outages { // all workers return
			o := &s.Outages[i]
			if o.From *= unit; math.IsInf(o.To, 1) {
				o.To = 100
			}
			o.To *= unit
		}
		for i := range s.Jobs {
			j := &s.Jobs[i]
			j.Submit, j.Work, j.Estimate, j.Priority = unit*j.Submit, unit*j.Work, unit*j.Estimate, float64(i%3)
			j.Deadline = j.Submit + 10*unit
		}
		slices.SortStableFunc(s.Jobs, func(a, b dispatch.Job) int { return cmp.Compare(a.Submit, b.Submit) })
		var outlived int
		s.Jobs, outlived = rigid.Settled(s.Jobs, s.Kill)
		if r := mustRun(t, s); r.Outlived != 0 || outlived > len(s.Jobs) {
			t.Fatalf("%d jobs outlive their requests, %d before", r.Outlived, outlived)
		}
		want, result := runLog(t, s)
		m, other := mustMaker(t, s.Policy, s.Workers), mustMaker(t, s.Policy, s.Workers)
		for k, w := range want {
			at, what := nextMoment(s, m, want[:k])
			events, err := m.Decide(at, what)
			if err != nil || at != w.at || !slices.Equal(events, w.events) {
				t.Fatalf("moment %d, input %+v: at %v %v, error %v, want %v", k, what, at, events, err, w)
			}
			if err := other.Apply(at, what, events); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(other.State(), m.State()) {
				t.Fatalf("moment %d: applied\n%+v\ndecided\n%+v", k, other.State(), m.State())
			}
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				m = restored(t, m)
			}
		}
		if got := m.Measures(s.Threshold); !reflect.DeepEqual(got, result) {
			t.Fatalf("measures\n%+v\nwant\n%+v", got, result)
		}
		// in Run, ends count at their moments, which may be later by 1e-12 of at most 300 s
		isNear := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9 }
		if got := m.Result(); !isNear(got.Delay.Mean, result.Delay.Mean) || !isNear(got.Delay.Max, result.Delay.Max) ||
			got.Missed != result.Missed ||
			!isNear(got.DeadlineMissPenalty, result.DeadlineMissPenalty) || got.Lost != result.Lost {
			t.Fatalf("result\n%+v\nwant\n%+v", got, result)
		}
	})
}

func mustMaker(t *rapid.T, p rigid.Policy, workers int) *rigid.Maker {
	m, err := rigid.NewMaker(p, slices.Repeat([]float64{1}, workers))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// restored returns a maker restored from the state of m as JSON.
func restored(t *rapid.T, m *rigid.Maker) *rigid.Maker {
	text, err := json.Marshal(m.State())
	if err != nil {
		t.Fatal(err)
	}
	var s rigid.State
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	again, err := rigid.MakerOf(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%+v", again.State()), fmt.Sprintf("%+v", m.State()); got != want {
		t.Fatalf("restored\n%s\nwant\n%s", got, want)
	}
	return again
}

// nextMoment returns the next moment of a scenario, found by a search from scratch that uses the
// earlier events.
func nextMoment(s rigid.Scenario, m *rigid.Maker, before []logged) (at float64, what []dispatch.Happening) {
	type due struct {
		at float64
		h  dispatch.Happening
	}
	var all []due
	last, done := -1.0, map[string]bool{}
	for _, l := range before {
		last = l.at
		for _, e := range l.events {
			done[fmt.Sprint(e.Kind, e.Job)] = true
		}
	}
	for w := range s.Workers {
		if i, task, attempt, since := m.Hand(w); i >= 0 {
			all = append(all, due{since + s.Jobs[i].Work, dispatch.Happening{
				Kind: dispatch.Finished, Worker: w, Job: i, Task: task, Attempt: attempt, Work: s.Jobs[i].Work}})
		}
	}
	for i := range s.Jobs {
		if !done[fmt.Sprint(dispatch.Submitted, i)] {
			all = append(all, due{
				s.Jobs[i].Submit, dispatch.Happening{Kind: dispatch.Submitted, Job: i, What: &s.Jobs[i]},
			})
		}
	}
	for _, e := range dispatch.Edges(s.Outages) {
		kind := dispatch.Failed
		if e.Up {
			kind = dispatch.Returned
		}
		if e.Time > last*(1+1e-12) || last < 0 {
			all = append(all, due{e.Time, dispatch.Happening{Kind: kind, Worker: e.Worker}})
		}
	}
	first := slices.MinFunc(all, func(a, b due) int { return cmp.Compare(a.at, b.at) }).at
	for _, d := range all {
		if d.at <= first*(1+1e-12) {
			at = max(at, d.at)
			what = append(what, d.h)
		}
	}
	return at, what
}
