package main

import (
	"strings"
	"testing"

	"productform/live/wire"
)

// The slack of a job counts from now, or from its end if it has ended.
func TestStatusHasSlack(t *testing.T) {
	at := func(v float64) *float64 { return &v }
	a := newStatusAnswer(&wire.Status{Cluster: wire.ClusterView{At: 30}, Jobs: []wire.JobView{
		{Name: "present", Deadline: at(25)}, {Name: "done", Deadline: at(25), Finish: at(20)}, {Name: "free"},
	}})
	if s := a.Jobs[0].Slack; s == nil || *s != -5 {
		t.Errorf("present: %v", s)
	}
	if r := a.Jobs[1]; r.Slack == nil || *r.Slack != 5 {
		t.Errorf("done: %+v", r)
	}
	if s := a.Jobs[2].Slack; s != nil {
		t.Errorf("without deadline: %v", *s)
	}
}

// The status shows the facts of workers in all formats, with a column if any worker has facts.
func TestStatusHasFacts(t *testing.T) {
	s := &wire.Status{Workers: []wire.WorkerView{
		{Name: "w1", State: wire.WorkerAvailable, Facts: map[string]any{"rack": "r1", "gpus": 2.0}},
		{Name: "w2", State: wire.WorkerDown},
	}}
	for _, format := range []string{"text", "json", "csv"} {
		text, err := newStatusAnswer(s).render().Format(format)
		if err != nil || !strings.Contains(string(text), "gpus=2 rack=r1") {
			t.Errorf("%s: %s, %v", format, text, err)
		}
	}
	s.Workers[0].Facts = nil
	text, err := newStatusAnswer(s).render().Format("text")
	if err != nil || strings.Contains(string(text), "facts") {
		t.Errorf("%s, %v", text, err)
	}
}
