package dispatch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
)

func mustMake(t interface{ Fatal(...any) }, r dispatch.Rules, speeds []float64) *dispatch.Maker {
	m, err := dispatch.NewMaker(r, speeds)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// reread returns a decision maker restored from the state of m as JSON.
func reread(t *rapid.T, m *dispatch.Maker) *dispatch.Maker {
	text, err := json.Marshal(m.State())
	if err != nil {
		t.Fatal(err)
	}
	var s dispatch.State
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	again, err := dispatch.MakerOf(s)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return again
}

// sameState fails unless a maker has the given state, deeply or as JSON, in which an empty list and
// nil are the same, and the given result.
func sameState(t *rapid.T, what string, got *dispatch.Maker, want dispatch.State, result *dispatch.Result) {
	state := got.State()
	if !reflect.DeepEqual(state, want) {
		a, errA := json.Marshal(state)
		b, errB := json.Marshal(want)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Fatalf("%s:\n%s\nwant\n%s\n%v %v", what, a, b, errA, errB)
		}
	}
	if !reflect.DeepEqual(got.Result(), result) {
		t.Fatalf("%s: %+v, want %+v", what, got.Result(), result)
	}
}

// For all happenings, including late, repeated, simultaneous and ineffective ones, the decision
// maker makes the same decisions and summaries as the naive one. A maker does the same that
// receives the happenings in another order. A maker that applies the events has the same state at
// every moment, and a maker restored from the state as JSON continues in the same way. Each task
// ends once.
func TestMakerMatchesNaive(t *testing.T) {
	for _, rule := range dispatch.AllRules() {
		t.Run(fmt.Sprintf("rule=%s", rule), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				pick := func(n int) int { return random.IntN(n) }
				compareWithNaive(t, randomRules(rule, pick), pick, random)
			})
		})
	}
}

func compareWithNaive(t *rapid.T, rules dispatch.Rules, pick func(int) int, random *rand.Rand) {
	naive := &naiveMaker{rules: rules, jobs: map[int]*naiveJob{}}
	var speeds []float64
	for range pick(4) {
		speeds = append(speeds, []float64{1, 2, 0.5}[pick(3)])
		naive.workers = append(naive.workers, naiveWorker{speed: speeds[len(speeds)-1], up: true})
	}
	m, folded, restored := mustMake(t, rules, speeds), mustMake(t, rules, speeds), mustMake(t, rules, speeds)
	ended := map[*naiveJob]map[int]bool{}
	at := 0.0
	for range 40 {
		at += []float64{0, 1, 1, 2, 0.3}[pick(5)]
		what := naive.randomHappenings(at, pick)
		if pick(4) == 0 {
			restored = reread(t, m)
		}
		events, err := m.Decide(at, what)
		if err != nil {
			t.Fatalf("%v of %+v", err, what)
		}
		want := naive.decide(at, what)
		if !slices.Equal(events, want) {
			t.Fatalf("%v\n%v, want\n%v, of %+v\n%+v", at, events, want, what, naive)
		}
		other, err := restored.Decide(at, shuffled(what, random))
		if err != nil || !slices.Equal(other, want) {
			t.Fatalf("restored and in another order: %v, want %v, error %v", other, want, err)
		}
		state, result := m.State(), m.Result()
		sameState(t, "restored", restored, state, result)
		if err := folded.Apply(at, what, events); err != nil {
			t.Fatalf("%v, following %v", err, events)
		}
		sameState(t, "folded", folded, state, result)
		for _, e := range events {
			if e.Kind == dispatch.Finished || e.Kind == dispatch.GivenUp {
				j := naive.jobs[e.Job]
				if ended[j] == nil {
					ended[j] = map[int]bool{}
				}
				if ended[j][e.Task] {
					t.Fatalf("task %d of job %d ends twice", e.Task, e.Job)
				}
				ended[j][e.Task] = true
			}
		}
		checkHands(t, m, naive)
		if err := errors.Join(naive.compare(result), naive.comparePlans(result)); err != nil {
			t.Fatal(err)
		}
		if number := naive.knownJob(pick); number >= 0 && pick(5) == 0 {
			for _, x := range []*dispatch.Maker{m, folded, restored} {
				if err := x.Forget(number); (err == nil) != (naive.jobs[number].stage != dispatch.JobPresent) {
					t.Fatalf("job %d, %s, forgotten: %v", number, naive.jobs[number].stage, err)
				}
			}
			if naive.jobs[number].stage != dispatch.JobPresent {
				delete(naive.jobs, number)
			}
		}
	}
}

// checkHands compares running tasks, the progress of jobs, and the learnt speeds. No job has more
// workers than it may.
func checkHands(t *rapid.T, m *dispatch.Maker, naive *naiveMaker) {
	for _, kind := range []string{"", "a", "b"} {
		told := m.Speeds(kind)
		for w, x := range naive.workers {
			want := x.speed
			if naive.rules.Learning.Speeds {
				want = naive.reportedSpeeds(kind, w)
			}
			if got := append(told, naive.speeds()[len(told):]...)[w]; got != want {
				t.Fatalf("speed of worker %d at kind %q: %v, want %v", w, kind, got, want)
			}
		}
	}
	for w := range naive.workers {
		job, task, attempt, since := m.Hand(w)
		want := naiveAttempt{job: -1, task: -1, from: -1}
		if a := naive.of(w); a != nil {
			want = *a
		}
		if job != want.job || task != want.task || attempt != want.number || since != want.from {
			t.Fatalf("worker %d: job %d, task %d, attempt %d since %v, want %+v", w, job, task, attempt, since, want)
		}
	}
	for number, j := range naive.jobs {
		p, err := m.Progress(number)
		atWork := naive.held(j, false) + naive.held(j, true)
		left := j.Tasks - len(j.ended)
		if j.stage == dispatch.JobCancelled {
			left = 0
		}
		if err != nil || p.Stage != j.stage || p.Left != left || p.AtWork != atWork || p.GivenUp != j.givenUp ||
			p.Finish != j.finish {
			t.Fatalf("job %d: %+v, want %+v, %d running, error %v", number, p, j, atWork, err)
		}
		if j.MaxWorkers > 0 && p.AtWork > j.MaxWorkers {
			t.Fatalf("job %d has %d workers of at most %d", number, p.AtWork, j.MaxWorkers)
		}
	}
}

// Decide names every invalid entry, and changes nothing.
func TestDecideErrors(t *testing.T) {
	m := mustMake(t, dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}}, []float64{1, 1, 1})
	job := func(spoil func(j *dispatch.Job)) *dispatch.Job {
		j := &dispatch.Job{Submit: 1, Tasks: 4, Work: 5, Priority: 1, Deadline: 9}
		spoil(j)
		return j
	}
	good := job(func(*dispatch.Job) {})
	if _, err := m.Decide(2, []dispatch.Happening{
		{Kind: dispatch.Submitted, Job: 0, What: good}, {Kind: dispatch.Failed, Worker: 2},
	}); err != nil {
		t.Fatal(err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	finished := dispatch.Happening{Kind: dispatch.Finished, Worker: 1, Task: 1, Attempt: 2}
	with := func(h dispatch.Happening, spoil func(h *dispatch.Happening)) dispatch.Happening {
		spoil(&h)
		return h
	}
	for _, c := range []struct {
		want badEntry
		at   float64
		what []dispatch.Happening
	}{
		{badEntry{"At", "1.5", "a time >= 2, the previous moment"}, 1.5, nil},
		{badEntry{"At", "NaN", wantTime}, nan, nil},
		{badEntry{"At", "+Inf", wantTime}, inf, nil},
		{
			badEntry{"What[1].Kind", "started", wantHappening}, 3,
			[]dispatch.Happening{finished, {Kind: dispatch.Started}},
		},
		{badEntry{"What[0].Kind", "", wantHappening}, 3, []dispatch.Happening{{}}},
		{
			badEntry{"What[0].Worker", "3", "a worker, 0 to 2"}, 3,
			[]dispatch.Happening{with(finished, func(h *dispatch.Happening) { h.Worker = 3 })},
		},
		{
			badEntry{"What[0].Worker", "-1", "a worker, 0 to 2"}, 3,
			[]dispatch.Happening{with(finished, func(h *dispatch.Happening) { h.Worker = -1 })},
		},
		{
			badEntry{"What[0].Attempt", "3", "an attempt that has started, 1 to 2"}, 3,
			[]dispatch.Happening{with(finished, func(h *dispatch.Happening) { h.Attempt = 3 })},
		},
		{
			badEntry{"What[0].Attempt", "0", "an attempt that has started, 1 to 2"}, 3,
			[]dispatch.Happening{with(finished, func(h *dispatch.Happening) { h.Attempt = 0 })},
		},
		{
			badEntry{"What[0].Attempt", "1", "another attempt: this is task 0 of job 0 on worker 0"}, 3,
			[]dispatch.Happening{with(finished, func(h *dispatch.Happening) { h.Attempt = 1 })},
		},
		{
			badEntry{"What[0].Attempt", "2", "another attempt: this is task 1 of job 0 on worker 1"}, 3,
			[]dispatch.Happening{with(finished, func(h *dispatch.Happening) { h.Task = 0 })},
		},
		{
			badEntry{"What[0].Job", "1", "a job that was submitted"}, 3,
			[]dispatch.Happening{with(finished, func(h *dispatch.Happening) { h.Job = 1 })},
		},
		{
			badEntry{"What[0].Work", "NaN", wantSeconds}, 3,
			[]dispatch.Happening{with(finished, func(h *dispatch.Happening) { h.Work = nan })},
		},
		{
			badEntry{"What[0].Work", "-1", wantSeconds}, 3,
			[]dispatch.Happening{with(finished, func(h *dispatch.Happening) { h.Work = -1 })},
		},
		{
			badEntry{"What[0].Worker", "3", "a worker, 0 to 2"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Failed, Worker: 3}},
		},
		{
			badEntry{"What[0].Worker", "-2", "a worker, 0 to 2"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Leaving, Worker: -2}},
		},
		{
			badEntry{"What[0].Worker", "4", "a worker, 0 to 3"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Returned, Worker: 4, Speed: 1}},
		},
		{
			badEntry{"What[0].Worker", "3", "a worker, 0 to 2"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Failed, Worker: 3}, {Kind: dispatch.Returned, Worker: 3, Speed: 1}},
		},
		{badEntry{"What[0].Speed", "0", wantPositive}, 3, []dispatch.Happening{{Kind: dispatch.Returned, Worker: 3}}},
		{
			badEntry{"What[0].Speed", "NaN", wantPositive}, 3,
			[]dispatch.Happening{{Kind: dispatch.Returned, Worker: 2, Speed: nan}},
		},
		{
			badEntry{"What[0].Job", "0", "an unused number"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Submitted, Job: 0, What: good}},
		},
		{badEntry{"What[1].Job", "1", "an unused number"}, 3, []dispatch.Happening{
			{Kind: dispatch.Submitted, Job: 1, What: good}, {Kind: dispatch.Submitted, Job: 1, What: good},
		}},
		{
			badEntry{"What[0].Job", "2", "a job number, 0 to 1"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Submitted, Job: 2, What: good}},
		},
		{
			badEntry{"What[0].Job", "-1", "a job number, 0 to 1"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Submitted, Job: -1, What: good}},
		},
		{badEntry{"What[0].What", "no job", "the job"}, 3, []dispatch.Happening{{Kind: dispatch.Submitted, Job: 1}}},
		{badEntry{"What[0].What.Submit", "4", "a time <= 3, the current moment"}, 3,
			[]dispatch.Happening{{
				Kind: dispatch.Submitted,
				Job:  1,
				What: job(func(j *dispatch.Job) { j.Submit = 4 }),
			}}},
		{badEntry{"What[0].What.Tasks", "0", wantTasks}, 3,
			[]dispatch.Happening{{Kind: dispatch.Submitted, Job: 1, What: job(func(j *dispatch.Job) { j.Tasks = 0 })}}},
		{badEntry{"What[0].What.Speeds", "2", "3 speeds, one per worker"}, 3,
			[]dispatch.Happening{{
				Kind: dispatch.Submitted,
				Job:  1,
				What: job(func(j *dispatch.Job) { j.Speeds = []float64{1, 2} }),
			}}},
		{badEntry{"What[0].What.Priority", "NaN", wantNonnegative}, 3,
			[]dispatch.Happening{{Kind: dispatch.Changed, What: job(func(j *dispatch.Job) { j.Priority = nan })}}},
		{badEntry{"What[0].What.Deadline", "1", "a time in (1, 1e50], after the submission, or 0 for none"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Changed, What: job(func(j *dispatch.Job) { j.Deadline = 1 })}}},
		{
			badEntry{"What[0].What", "no job", "a job with the new priority and deadline"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Changed}},
		},
		{
			badEntry{"What[0].Job", "7", "a job that was submitted"}, 3,
			[]dispatch.Happening{{Kind: dispatch.Cancelled, Job: 7}},
		},
		{badEntry{"What[0].Task", "4", "a task, 0 to 3"}, 3, []dispatch.Happening{{Kind: dispatch.GivenUp, Task: 4}}},
		{
			badEntry{"What[0].Task", "2", "a task that has started"}, 3,
			[]dispatch.Happening{{Kind: dispatch.GivenUp, Task: 2}},
		},
	} {
		before, err := json.Marshal(m.State())
		if err != nil {
			t.Fatal(err)
		}
		if events, err := m.Decide(c.at, c.what); events != nil || !c.want.is(err) {
			t.Errorf("%v, error %v, want %v", events, err, c.want)
		}
		if err := m.Apply(c.at, c.what, nil); !c.want.is(err) {
			t.Errorf("following: error %v, want %v", err, c.want)
		}
		if after, err := json.Marshal(m.State()); err != nil || string(after) != string(before) {
			t.Errorf("%v changed the state from %s to %s", c.want, before, after)
		}
	}
	// A lost task must have started.
	if _, err := m.Decide(3, []dispatch.Happening{{Kind: dispatch.Failed, Worker: 1}}); err != nil {
		t.Fatal(err)
	}
	want := badEntry{"What[0].Task", "3", "a task that has started, below 2"}
	if _, err := m.Decide(3, []dispatch.Happening{
		with(finished, func(h *dispatch.Happening) { h.Task = 3 }),
	}); !want.is(err) {
		t.Errorf("error %v, want %v", err, want)
	}
}

const wantHappening = "one of submitted, finished, refused, given up, changed, cancelled, failed, leaving, returned"

// Invalid input is harmless: a rejected call changes nothing, and after any other call, or after
// events that do not follow, the state can be restored.
func TestMakerSurvivesGarbage(t *testing.T) {
	kinds := []dispatch.Kind{
		"", "junk", dispatch.Submitted, dispatch.Finished, dispatch.Refused, dispatch.GivenUp, dispatch.Changed,
		dispatch.Cancelled, dispatch.Failed, dispatch.Leaving, dispatch.Returned, dispatch.Started,
		dispatch.Preempted, dispatch.Dropped,
	}
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		number := func() float64 {
			return []float64{
				0, 1, 2, 3, 0.5, -1, 1e50, 1e-50, 1e300, math.NaN(), math.Inf(1),
			}[min(random.IntN(40), random.IntN(11))]
		}
		small := func() int { return []int{0, 1, 2, 3, 4, -1, math.MaxInt}[min(random.IntN(7), random.IntN(7))] }
		speeds := slices.Repeat([]float64{1}, random.IntN(4))
		m := mustMake(t, randomRules(dispatch.AllRules()[random.IntN(len(dispatch.AllRules()))], random.IntN), speeds)
		at := 0.0
		for range 60 {
			if random.IntN(3) == 0 {
				at += number()
			}
			var what []dispatch.Happening
			for range random.IntN(4) {
				h := dispatch.Happening{
					Kind:    kinds[random.IntN(len(kinds))],
					Job:     small(),
					Worker:  small(),
					Speed:   number(),
					Task:    small(),
					Attempt: small() + random.IntN(20),
					Work:    number(),
				}
				if random.IntN(8) > 0 {
					h.What = &dispatch.Job{
						Submit:     number(),
						Deadline:   number() + at,
						Priority:   number(),
						MaxWorkers: small(),
						Tasks:      small(),
						Work:       number(),
						Estimate:   number(),
					}
					if random.IntN(2) == 0 {
						h.What = &dispatch.Job{Submit: at, Tasks: 1 + random.IntN(4), Work: 1}
					}
					if h.What.Tasks > 1<<20 {
						h.What.Tasks = 5
					}
				}
				what = append(what, h)
			}
			before, _ := json.Marshal(m.State())
			events, err := m.Decide(at, what)
			if err != nil {
				if after, _ := json.Marshal(m.State()); string(before) != string(after) {
					t.Fatalf("%v, but the state went from %s to %s", err, before, after)
				}
				at = m.State().Now
				continue
			}
			for _, v := range events {
				if v.Kind == "" {
					t.Fatalf("%+v", events)
				}
			}
			other := reread(t, m)
			sameState(t, "reread", other, m.State(), m.Result())
			var junk []dispatch.Event
			for range random.IntN(3) {
				junk = append(junk, dispatch.Event{
					Kind:    kinds[random.IntN(len(kinds))],
					Job:     small(),
					Task:    small(),
					Worker:  small(),
					Attempt: small() + random.IntN(20),
				})
			}
			_ = other.Apply(at, nil, junk)
			again := reread(t, other)
			if _, err := again.Decide(at, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A tampered state is either rejected, or restored to a decision maker that continues without a
// panic.
func TestMakerOfTampered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		naive := &naiveMaker{
			rules: randomRules(dispatch.AllRules()[random.IntN(len(dispatch.AllRules()))], random.IntN),
			jobs:  map[int]*naiveJob{},
		}
		m := mustMake(t, naive.rules, []float64{1, 2})
		naive.workers = []naiveWorker{{speed: 1, up: true}, {speed: 2, up: true}}
		for at := range 15 {
			what := naive.randomHappenings(float64(at), random.IntN)
			naive.decide(float64(at), what)
			if _, err := m.Decide(float64(at), what); err != nil {
				t.Fatal(err)
			}
		}
		text, err := json.Marshal(m.State())
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatal(err)
		}
		for range 1 + random.IntN(3) {
			tree = tampered(tree, random)
		}
		if text, err = json.Marshal(tree); err != nil {
			t.Fatal(err)
		}
		var s dispatch.State
		if err := json.Unmarshal(text, &s); err != nil {
			return
		}
		again, err := dispatch.MakerOf(s)
		if err != nil {
			return
		}
		for range 5 {
			now := again.State().Now
			var what []dispatch.Happening
			for w := range s.Workers {
				if job, task, attempt, _ := again.Hand(w); job >= 0 {
					what = append(what, dispatch.Happening{
						Kind:    dispatch.Finished,
						Worker:  w,
						Job:     job,
						Task:    task,
						Attempt: attempt,
					})
				}
			}
			if _, err := again.Decide(now, what); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			again = reread(t, again)
		}
	})
}

// tampered changes, removes or duplicates one value in a JSON tree.
func tampered(tree any, random *rand.Rand) any {
	switch v := tree.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 {
			return v
		}
		key := keys[random.IntN(len(keys))]
		if random.IntN(12) == 0 {
			delete(v, key)
			return v
		}
		v[key] = tampered(v[key], random)
	case []any:
		if len(v) == 0 {
			return v
		}
		k := random.IntN(len(v))
		switch random.IntN(8) {
		case 0:
			return slices.Delete(v, k, k+1)
		case 1:
			return append(v, v[k])
		}
		v[k] = tampered(v[k], random)
	case float64:
		return []float64{v + 1, v - 1, 0, 1, -1, 7, 1e60}[random.IntN(7)]
	case bool:
		return !v
	case string:
		return "junk"
	}
	return tree
}

// Apply names events that do not follow, or that are impossible.
func TestApplyErrors(t *testing.T) {
	job := &dispatch.Job{Tasks: 3, Work: 5}
	submitted := dispatch.Event{Kind: dispatch.Submitted, Job: 0, Task: -1, Worker: -1}
	started := dispatch.Event{Kind: dispatch.Started, Worker: 1, Attempt: 1}
	with := func(spoil func(e *dispatch.Event)) []dispatch.Event {
		e := started
		spoil(&e)
		return []dispatch.Event{submitted, {Kind: dispatch.Started, Worker: 0, Attempt: 1, Task: 0}, e}
	}
	for _, c := range []struct {
		events []dispatch.Event
		want   badEntry
	}{
		{nil, badEntry{"Events", "0", "at least 1, the number of events that follow from what happens"}},
		{
			[]dispatch.Event{started},
			badEntry{"Events[0]", "{started 0 0 1 1}", "{submitted 0 -1 -1 0}, which follows from what happens"},
		},
		{
			[]dispatch.Event{submitted, submitted},
			badEntry{"Events[1].Kind", "submitted", "started or preempted: all other events precede the decisions"},
		},
		{with(func(e *dispatch.Event) { e.Worker = 2 }), badEntry{"Events[2].Worker", "2", "a worker that is up"}},
		{with(func(e *dispatch.Event) { e.Worker = 0 }), badEntry{"Events[2].Worker", "0", "a worker that is idle"}},
		{with(func(e *dispatch.Event) { e.Job = 1 }), badEntry{"Events[2].Job", "1", "a job that is present"}},
		{with(func(e *dispatch.Event) {}), badEntry{"Events[2].Attempt", "1", "the number of a new attempt, above 1"}},
		{
			with(func(e *dispatch.Event) { e.Attempt = 5 }),
			badEntry{"Events[2].Task", "0", "a waiting task: 1, or one that has started before"},
		},
		{
			with(func(e *dispatch.Event) { e.Kind = dispatch.Preempted }),
			badEntry{"Events[2].Worker", "1", "a worker that runs this attempt"},
		},
	} {
		m := mustMake(t, dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}, []float64{1, 1})
		if err := m.Apply(1, []dispatch.Happening{{Kind: dispatch.Submitted, What: job}}, c.events); !c.want.is(err) {
			t.Errorf("error %v, want %v", err, c.want)
		}
	}
}

// The events of another decision maker may skip numbers of attempts; later numbers are larger than
// all of them.
func TestApplyKeepsNumbers(t *testing.T) {
	m := mustMake(t, dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}, []float64{1, 1})
	err := m.Apply(1, []dispatch.Happening{{Kind: dispatch.Submitted, What: &dispatch.Job{Tasks: 2, Work: 5}}},
		[]dispatch.Event{
			{Kind: dispatch.Submitted, Task: -1, Worker: -1}, {Kind: dispatch.Started, Worker: 1, Attempt: 7},
		})
	if err != nil {
		t.Fatal(err)
	}
	events, err := m.Decide(1, nil)
	if want := []dispatch.Event{{Kind: dispatch.Started, Task: 1, Attempt: 8}}; err != nil ||
		!slices.Equal(events, want) {
		t.Errorf("%v, want %v, error %v", events, want, err)
	}
	if _, _, attempt, _ := m.Hand(1); attempt != 7 {
		t.Errorf("attempt %d, want 7", attempt)
	}
}

// A decision maker can apply the decisions of a maker with another policy: it ends in the same
// state, except for its rules and violations by the plan, and continues under its own policy.
func TestApplyOtherPolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		rules := dispatch.AllRules()
		naive := &naiveMaker{rules: randomRules(rules[random.IntN(5)], random.IntN), jobs: map[int]*naiveJob{},
			workers: []naiveWorker{{speed: 1, up: true}, {speed: 2, up: true}, {speed: 2, up: true}}}
		others := randomRules(rules[random.IntN(5)], random.IntN)
		others.Learning = naive.rules.Learning
		other := mustMake(t, others, []float64{1, 2, 2})
		for at := range 30 {
			what := naive.randomHappenings(float64(at), random.IntN)
			if err := other.Apply(float64(at), what, naive.decide(float64(at), what)); err != nil {
				t.Fatal(err)
			}
			checkHands(t, other, naive)
		}
		if err := naive.compare(other.Result()); err != nil {
			t.Fatal(err)
		}
		other = reread(t, other)
		if _, err := other.Decide(100, nil); err != nil {
			t.Fatal(err)
		}
	})
}

// Forget rejects jobs that are present and unknown jobs.
func TestForgetErrors(t *testing.T) {
	m := mustMake(t, dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}, nil)
	if _, err := m.Decide(0, []dispatch.Happening{
		{Kind: dispatch.Submitted, What: &dispatch.Job{Tasks: 1}},
	}); err != nil {
		t.Fatal(err)
	}
	for job, want := range map[int]badEntry{
		0: {"Job", "0", "a job that is done or cancelled"}, 1: {"Job", "1", "a job that was submitted"},
		-1: {"Job", "-1", "a job that was submitted"},
	} {
		if err := m.Forget(job); !want.is(err) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
	if _, err := m.Progress(1); !(badEntry{"Job", "1", "a job that was submitted"}).is(err) {
		t.Errorf("error %v", err)
	}
	if _, err := dispatch.NewMaker(dispatch.Rules{Policy: dispatch.Policy{Rule: "fifo"}}, nil); !(badEntry{
		"Policy.Rule", "fifo", wantRule,
	}).is(err) {
		t.Errorf("error %v", err)
	}
	if _, err := dispatch.NewMaker(dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}, []float64{
		0,
	}); !(badEntry{"Speeds[0]", "0", wantPositive}).is(err) {
		t.Errorf("error %v", err)
	}
}
