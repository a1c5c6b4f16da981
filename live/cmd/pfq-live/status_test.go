package main

import (
	"strings"
	"testing"

	"productform/live/wire"
)

// The status has what workers say of their machines in all its forms, and a column for it if any says something.
func TestStatusHasFacts(t *testing.T) {
	s := &wire.Status{Workers: []wire.WorkerView{
		{Name: "w1", State: wire.WorkerAvailable, Facts: map[string]any{"rack": "r1", "gpus": 2.0}}, {Name: "w2", State: wire.WorkerDown},
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
