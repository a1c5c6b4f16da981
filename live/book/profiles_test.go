package book_test

import (
	"testing"

	"productform/live/book"
	"productform/live/wire"
)

// Speeds are learned from reports, by kind of task. A worker that reuses a number starts with no
// measurements, and a manager that does not learn forgets all speeds.
func TestProfiles(t *testing.T) {
	d := newDesk(t, func(s *book.Settings) { s.Rules.Learning.Speeds, s.MaxWorkers = true, 1 })
	d.joins("w0")
	accepts(t, d.send(wire.In{Batch: &wire.Batch{Version: 1, Name: "b", Jobs: []wire.Job{
		{Name: "j", Tasks: 90, Work: 0.5, Run: wire.Run{Kind: "command", Program: "bill"}}}}}))
	d.book.Changes()
	shown := 0
	for range 40 { // each takes a second
		accepts(t, d.reports("w0", d.order("w0")))
		if d.book.Changes().Profiles["command.bill"] {
			shown++
		}
	}
	if shown != 3 { // at first, after 3 tasks when the speed is first used, and after 25 more tasks
		t.Errorf("the view changed %d times, want 3", shown)
	}
	views := d.book.Profiles()
	if len(views) != 1 || views[0].Kind != "command.bill" || len(views[0].Workers) != 1 {
		t.Fatalf("%+v", views)
	}
	if w := views[0].Workers[0]; w != (wire.ProfileWorker{Name: "w0", Speed: 0.5, Declared: 1, Tasks: 40, Seconds: 1}) {
		t.Errorf("%+v", w)
	}
	again, err := audit(d.settings, d.plans)
	if err != nil {
		t.Fatal(err)
	}

	s := d.settings
	s.Rules.Learning.Speeds = false
	other, err := book.New(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.plans {
		if err := other.Fold(p); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := other.Take(d.at, nil); err != nil || p == nil || p.Rules.Learning.Speeds || len(other.Profiles()) > 0 {
		t.Errorf("%+v, %+v, error %v", p, other.Profiles(), err)
	}

	accepts(t, d.hear(book.Input{Down: &book.Down{Worker: "w0", Process: "w0-1"}}))
	d.joins("w1") // there is only one number
	if views := d.book.Profiles(); len(views) > 0 {
		t.Errorf("%+v", views)
	}
	if views := again.Profiles(); len(views) != 1 {
		t.Errorf("decided again: %+v", views)
	}
}
