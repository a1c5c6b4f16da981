package dispatch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
)

// A worker that becomes slower than stated at one kind of task is detected: after a few tasks its
// published speed is accurate to 5 %, the threshold for publishing. A new worker with the same
// number starts without a history.
func TestSpeedsLearnt(t *testing.T) {
	for _, learning := range []dispatch.Learning{{Speeds: true}, {Speeds: true, Default: 3, Window: 10}} {
		rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Deadline}, Learning: learning}
		m := mustMake(t, rules, []float64{1, 2})
		random := rand.New(rand.NewPCG(1, 1))
		what := []dispatch.Happening{
			{Kind: dispatch.Submitted, Job: 0, What: &dispatch.Job{Tasks: 1000, Work: 8, Kind: "bill"}},
		}
		for at := 1; at <= 400; at++ {
			if _, err := m.Decide(float64(at), what); err != nil {
				t.Fatal(err)
			}
			what = what[:0]
			for w := range 2 {
				job, task, attempt, _ := m.Hand(w)
				speed := []float64{1, 2}[w]
				if w == 1 && at > 100 {
					speed = 0.5
				}
				speed *= 0.97 + 0.06*random.Float64()
				what = append(what, dispatch.Happening{
					Kind:    dispatch.Finished,
					Worker:  w,
					Job:     job,
					Task:    task,
					Attempt: attempt,
					Seconds: 8 / speed,
					Work:    8 / speed * []float64{1, 2}[w],
				})
			}
		}
		told := m.Speeds("bill")
		if told == nil {
			t.Fatalf("%+v: no profile is published: %+v", learning, m.Profiles())
		}
		if ratio := told[1] / told[0]; ratio < 0.5*0.9 || ratio > 0.5*1.1 {
			t.Errorf("%+v: the second worker at bills has %v of the published speed of the first, want 0.5; %+v",
				learning, ratio, m.Profiles())
		}
		if _, err := m.Decide(500, []dispatch.Happening{
			{Kind: dispatch.Failed, Worker: 1}, {Kind: dispatch.Returned, Worker: 1, New: true},
		}); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Profiles() {
			if p.Worker == 1 {
				t.Errorf("a worker that just joined has a profile: %+v", p)
			}
		}
	}
}

// If speeds and works are as stated, learning speeds does not change anything. If a job misstates
// the work of its tasks, learning compensates: after learning, a run decides as if the policy knew
// the truth.
func TestRunLearnsSpeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
		rule := dispatch.AllRules()[random.IntN(len(dispatch.AllRules()))]
		s := randomScenario(rule, dispatch.AllSpares()[random.IntN(3)], random.IntN)
		s.Learning = dispatch.Learning{}
		for i := range s.Jobs {
			s.Jobs[i].Estimate = 0
		}
		want, err := dispatch.Run(context.Background(), s)
		s.Learning.Speeds = true
		got, again := dispatch.Run(context.Background(), s)
		if fmt.Sprint(again) != fmt.Sprint(err) || !reflect.DeepEqual(got, want) { // jobs may be stranded in both runs
			t.Fatalf("%+v, error %v\nwant %+v, error %v", got, again, want, err)
		}
	})
	jobs := []dispatch.Job{
		{Tasks: 40, Work: 10, Estimate: 2, Kind: "bill"}, // five times as long as stated
		{Submit: 500, Tasks: 40, Work: 10, Estimate: 2, Kind: "bill", Deadline: 650},
	}
	missed := func(learning dispatch.Learning) int {
		r, err := dispatch.Run(context.Background(), dispatch.Scenario{
			Jobs: jobs, Speeds: []float64{1, 1, 1, 1, 1, 1, 1, 1}, Learning: learning,
			Policy: dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Missed
	}
	if told, learnt := missed(dispatch.Learning{}), missed(dispatch.Learning{Speeds: true}); told != 1 || learnt != 0 {
		t.Errorf("%d deadlines are missed with the estimates of jobs, %d with learnt ones; want 1 and 0", told, learnt)
	}
}
