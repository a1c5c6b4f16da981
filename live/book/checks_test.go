package book_test

import (
	"testing"

	"productform/live/book"
	"productform/live/wire"
)

// comes is a report of an output, where the order says.
func (d *desk) comes(worker string, o wire.Order, output string) []string {
	return d.says(wire.In{Again: o.Again, Report: &wire.Report{
		Version: 1, Job: o.Job, Task: o.Task, Attempt: o.Attempt, Worker: worker, Token: o.Token, Seconds: 1, Output: []byte(output),
	}})
}

// checking is a desk that has every result checked.
func checking(t *testing.T, workers ...string) *desk {
	d := newDesk(t, func(s *book.Settings) { s.Verify, s.Losses = 1, 3 })
	d.joins(workers...)
	return d
}

// counted holds the counts of results checked, differing and left unchecked, and what is decided again to what was.
func (d *desk) counted(checked, differing, unchecked int) {
	d.t.Helper()
	c := d.book.Cluster().Counts
	if c.Checked != checked || c.Differing != differing || c.Unchecked != unchecked {
		d.t.Errorf("%d checked, %d differing, %d unchecked, want %d, %d, %d", c.Checked, c.Differing, c.Unchecked, checked, differing, unchecked)
	}
	s := d.settings
	s.Verify = 0
	b, err := book.Audit(s, d.plans)
	if err != nil || b.Cluster().Counts != c {
		d.t.Errorf("decided again: %v, %+v, want %+v", err, b, c)
	}
}

// A result is checked by another worker than its own, whose report has a place of its own. Equal or not, the first holds.
func TestChecks(t *testing.T) {
	for _, second := range []string{"42", "43"} {
		d := checking(t, "a", "b")
		accepts(t, d.submits("j", 1))
		first := d.holder()
		other := map[string]string{"a": "b", "b": "a"}[first]
		o := d.order(first)
		accepts(t, d.comes(first, o, "42"))
		d.job("j", wire.JobPresent)
		again := d.order(other)
		if again.Job != "j" || !again.Again || o.Again || again.ReportTo() != wire.Again("j", 0, again.Attempt) || !d.order(first).Idle {
			t.Fatalf("orders %+v, %+v", again, d.order(first))
		}
		refuses(t, d.comes(first, o, "42"), "has its result")
		again.Again = false
		refuses(t, d.comes(other, again, second), "not where the order says")
		again.Again = true
		accepts(t, d.comes(other, again, second))
		v := d.job("j", wire.JobCompleted)
		differs := 0
		if second != "42" {
			differs = 1
		}
		if v.Checked != 1 || v.Differing != differs || v.Left != 0 {
			t.Errorf("%+v", v)
		}
		d.counted(1, differs, 0)
		accepts(t, d.wishes(wire.ToClear, "j"))
		d.job("j", wire.JobCleared)
	}
}

// Where nobody is left to check a result, or it fails too often, the first holds unchecked and the job ends; so it does where a check
// is under way in a snapshot. With one worker nothing is checked.
func TestUnchecked(t *testing.T) {
	d := checking(t, "a")
	accepts(t, d.submits("alone", 1))
	accepts(t, d.comes("a", d.order("a"), "42"))
	d.job("alone", wire.JobCompleted)
	d.counted(0, 0, 0)

	d.joins("b")
	accepts(t, d.submits("left", 1))
	first := d.holder()
	accepts(t, d.comes(first, d.order(first), "42"))
	snapshot, err := d.book.Snapshot()
	if err == nil {
		d.book, err = book.Restore(d.settings, snapshot)
	}
	if err != nil {
		t.Fatal(err)
	}
	second := d.holder()
	if second == first {
		t.Fatalf("%s is to check its own result", first)
	}
	d.hear(book.Input{Down: &book.Down{Worker: second, Process: second + "-1"}})
	if v := d.job("left", wire.JobCompleted); v.Checked != 0 {
		t.Errorf("%+v", v)
	}
	d.counted(0, 0, 1)

	d.hear(book.Input{Beat: d.beat(second, second+"-1")})
	d.joins("c")
	accepts(t, d.submits("failing", 1))
	first = d.holder()
	accepts(t, d.comes(first, d.order(first), "42"))
	for range 3 {
		w := d.holder()
		if w == first {
			t.Fatalf("%s is to check its own result", first)
		}
		accepts(t, d.fails(w, d.order(w)))
	}
	if v := d.job("failing", wire.JobCompleted); v.Failed != 0 || v.Checked != 0 {
		t.Errorf("%+v", v)
	}
	d.counted(0, 0, 2)

	accepts(t, d.submits("cancelled", 1))
	first = d.holder()
	accepts(t, d.comes(first, d.order(first), "42"))
	accepts(t, d.wishes(wire.ToCancel, "cancelled"))
	d.job("cancelled", wire.JobCancelled)
	d.counted(0, 0, 2)
}

// About the part of the results that is asked for is checked.
func TestPartIsChecked(t *testing.T) {
	d := newDesk(t, func(s *book.Settings) { s.Verify = 0.25 })
	d.joins("a", "b")
	accepts(t, d.submits("j", 400))
	for steps := 0; d.book.Cluster().Counts.Completed == 0; steps++ {
		if steps > 2000 {
			t.Fatal("the job does not end")
		}
		w := d.holder()
		accepts(t, d.comes(w, d.order(w), "42"))
	}
	// 400 draws of 0.25 have mean 100 and standard deviation 8.7; the seed is fixed.
	if c := d.book.Cluster().Counts; c.Checked < 65 || c.Checked > 135 || c.Finished != 400 || c.Begun != 400+c.Checked {
		t.Errorf("%+v", c)
	}
	for _, bad := range []func(s *book.Settings){
		func(s *book.Settings) { s.Verify = 1.5 }, func(s *book.Settings) { s.Verify, s.Logical = 0.5, true },
	} {
		s := d.settings
		bad(&s)
		if _, err := book.New(s); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
}

// A worker that leaves keeps its number as long as its result is to be checked: it does not check itself under another number, if it
// says again that it is up, and a worker that comes is not taken for it.
func TestCheckedWorkerLeaves(t *testing.T) {
	d := checking(t, "a", "b")
	accepts(t, d.submits("j", 2))
	first, other := d.holder(), "b"
	if first == "b" {
		other = "a"
	}
	busy := d.order(other)
	accepts(t, d.comes(first, d.order(first), "42"))
	accepts(t, d.wishes(wire.ToDrain, first))
	d.joins("c")
	d.joins(first)
	d.worker(first, wire.WorkerGone)
	if o := d.order("c"); o.Idle || !o.Again {
		t.Fatalf("c has %+v, want what %s has run", o, first)
	}
	accepts(t, d.comes("c", d.order("c"), "42"))
	accepts(t, d.comes(other, busy, "42"))
	accepts(t, d.comes("c", d.order("c"), "42"))
	d.job("j", wire.JobCompleted)
	d.counted(2, 0, 0)
	d.hear(book.Input{Down: &book.Down{Worker: first, Process: first + "-1"}})
	d.joins("d")
	if _, ok := d.book.Worker(first); ok {
		t.Errorf("%s keeps its number", first)
	}
}

// If there is no other number than that of a worker whose result is to be checked, the result holds unchecked.
func TestCheckedWorkerIsReplaced(t *testing.T) {
	for _, together := range []bool{false, true} {
		for _, drains := range []bool{false, true} {
			d := newDesk(t, func(s *book.Settings) { s.Verify, s.Losses, s.MaxWorkers = 1, 3, 2 })
			d.joins("a", "b")
			accepts(t, d.submits("j", 2))
			orders := map[string]wire.Order{"a": d.order("a"), "b": d.order("b")}
			report := func(w string) book.Input {
				d.next++
				o := orders[w]
				return book.Input{Sequence: d.next, In: wire.In{Report: &wire.Report{
					Version: 1, Job: o.Job, Task: o.Task, Attempt: o.Attempt, Worker: w, Token: o.Token, Seconds: 1, Output: []byte("42"),
				}}}
			}
			in := []book.Input{report("a"), {Down: &book.Down{Worker: "a", Process: "a-1"}}, {Beat: d.beat("c", "c-1")}}
			if drains {
				d.next++
				in[1] = book.Input{Sequence: d.next, In: wire.In{Wish: &wire.Wish{Verb: wire.ToDrain, Name: "a", Version: 1}}}
			}
			if together {
				accepts(t, d.hear(in...))
			} else {
				for k := range in {
					accepts(t, d.hear(in[k]))
				}
			}
			d.hear(book.Input{Beat: d.beat("c", "c-1")})
			d.worker("c", wire.WorkerAvailable)
			d.counted(0, 0, 1)
			accepts(t, d.hear(report("b")))
			if o := d.order("c"); o.Idle || !o.Again || o.Task != orders["b"].Task {
				t.Fatalf("c has %+v, want what b has run", o)
			}
			accepts(t, d.comes("c", d.order("c"), "42"))
			d.job("j", wire.JobCompleted)
			d.counted(1, 0, 1)
		}
	}
}
