package book_test

import (
	"fmt"
	"slices"
	"testing"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/live/book"
	"productform/live/wire"
)

// samePolicy is a policy service that has the policy itself.
func samePolicy(q *wire.Question) (*wire.Answer, string) {
	data, err := wire.Encode(q)
	if err == nil {
		q, err = wire.Decode[wire.Question](data)
	}
	if err != nil {
		panic(err)
	}
	p, err := dispatch.ParsePolicy(q.Policy)
	if err != nil {
		panic(err)
	}
	var requests []dispatch.Request
	for _, j := range q.Jobs {
		requests = append(requests, dispatch.Request{
			Priority: j.Priority, Deadline: j.Deadline, Tasks: j.Tasks, Work: j.Work, MaxWorkers: j.MaxWorkers, Speeds: q.Profiles[j.Kind],
		})
	}
	jobs, err := p.Assign(requests, q.Speeds, q.Now)
	if err != nil {
		panic(err)
	}
	a := &wire.Answer{Version: 1, Workers: make([]*string, len(jobs))}
	for w, j := range jobs {
		if j >= 0 {
			a.Workers[w] = &q.Jobs[j].Name
		}
	}
	return a, ""
}

// What a policy service says is followed; where it says nothing that can be followed, the policy of the rules decides. Plans tell
// which it was, so that a book that asks nobody folds and audits them.
func TestAdvice(t *testing.T) {
	var asked []*wire.Question
	var answer *wire.Answer
	var why string
	d := newDesk(t, func(s *book.Settings) {
		s.Service = "mine"
		s.Ask = func(q *wire.Question) (*wire.Answer, string) {
			asked = append(asked, q)
			return answer, why
		}
	})
	name := func(s string) *string { return &s }
	d.joins("w0", "w1")
	if len(asked) > 0 {
		t.Fatalf("asked without jobs: %+v", asked[0])
	}

	// It plans the job of low priority, and leaves a worker idle, which the policy of the rules would not.
	answer = &wire.Answer{Version: 1, Workers: []*string{nil, name("low")}}
	d.hear(book.Input{Beat: &wire.Beat{Version: 1, Worker: "w1", Process: "w1-1", Speed: 1, Facts: map[string]any{"gpus": 2.0}}})
	d.next++
	accepts(t, d.hear(book.Input{Sequence: d.next, In: wire.In{Batch: &wire.Batch{Version: 1, Name: "b", Jobs: []wire.Job{
		{Name: "low", Tasks: 9, Work: 1, Run: wire.Run{Kind: "sleep"}}, {Name: "high", Priority: 5, Tasks: 9, Work: 1, Run: wire.Run{Kind: "sleep"}},
	}}}}))
	q := asked[len(asked)-1]
	if q.About[1].Facts["gpus"] != 2.0 || q.Jobs[1].Name != "high" || q.Jobs[1].Kind != "sleep" || q.Policy != "deadline/priority" || q.Epoch != 1e9 {
		t.Errorf("question %+v", q)
	}
	if w0, w1 := d.order("w0"), d.order("w1"); !w0.Idle || w1.Job != "low" {
		t.Fatalf("orders %+v, %+v", w0, w1)
	}

	// The rest cannot be followed: the policy of the rules has both workers busy.
	for _, c := range []struct {
		answer *wire.Answer
		why    string
	}{
		{nil, wire.AdviceLate}, {nil, wire.AdviceAbsent}, {nil, wire.AdviceMalformed}, {nil, wire.AdviceTooLarge}, {nil, ""},
		{&wire.Answer{Version: 1, Workers: []*string{name("high")}}, wire.AdviceImpossible},
		{&wire.Answer{Version: 1, Workers: []*string{name("high"), name("none")}}, wire.AdviceImpossible},
	} {
		answer, why = c.answer, c.why
		d.reports("w1", d.order("w1"))
		if p := d.plans[len(d.plans)-1]; (p.Advice == nil) != (c.why == "") || p.Advice != nil && p.Advice.Failed != c.why {
			t.Errorf("%q: %+v", c.why, p.Advice)
		}
		for _, w := range []string{"w0", "w1"} {
			if o := d.order(w); o.Idle {
				t.Errorf("%q: %s has %+v", c.why, w, o)
			}
		}
		d.reports("w0", d.order("w0"))
	}
	got := d.book.Cluster().Counts
	if n := []int{got.Advised, got.AdviceAbsent, got.AdviceLate, got.AdviceMalformed, got.AdviceImpossible, got.AdviceTooLarge}; !slices.Equal(n, []int{1, 2, 2, 2, 4, 2}) {
		t.Errorf("counts %v", n)
	}
	s := d.settings
	s.Service, s.Ask = "", nil
	b, err := book.Audit(s, d.plans)
	if err != nil || b.Cluster().Counts != got {
		t.Errorf("decided again: %v, %+v", err, b)
	}
	if p := slices.IndexFunc(d.plans, func(p *wire.Plan) bool { return p.Advice != nil && len(p.Advice.Jobs) > 0 }); p >= 0 {
		d.plans[p].Advice.Jobs[0] = 77
		if _, err := book.Audit(s, d.plans); err == nil {
			t.Error("a plan of a job that there is not was folded")
		}
	}
}

// More jobs than a question lists are left to the policy of the rules.
func TestAdviceOfManyJobs(t *testing.T) {
	asked := 0
	d := newDesk(t, func(s *book.Settings) {
		s.Service = "mine"
		s.Ask = func(*wire.Question) (*wire.Answer, string) { asked++; return nil, wire.AdviceAbsent }
	})
	for k := range 2 {
		b := wire.Batch{Version: 1, Name: fmt.Sprint("b", k)}
		for i := range wire.MaxJobs {
			b.Jobs = append(b.Jobs, wire.Job{Name: fmt.Sprintf("j%d-%d", k, i), Tasks: 2, Work: 1, Run: wire.Run{Kind: "sleep"}})
		}
		accepts(t, d.says(wire.In{Batch: &b}))
	}
	d.joins("w0")
	if c := d.book.Cluster().Counts; asked != 0 || c.AdviceTooLarge != 1 || d.order("w0").Idle {
		t.Errorf("asked %d times, %+v", asked, c)
	}
	s := d.settings
	s.Rules, s.Rigid = dispatch.Rules{}, rigid.Policies()[0]
	if _, err := book.New(s); err == nil {
		t.Error("a policy service beside a policy of package rigid")
	}
}
