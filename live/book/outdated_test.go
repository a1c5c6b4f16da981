package book_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"productform/live/book"
	"productform/live/wire"
)

// outdatedFields holds fields that earlier versions set in plans, with the expected words of the
// error.
var outdatedFields = []struct{ name, value, used string }{
	{"advice", `{"service":"mine","jobs":[0,-1]}`, "a policy service"},
	{"advice", `{"service":"mine","failed":"absent"}`, "a policy service"},
	{"repeats", `[{"job":0,"task":0,"attempt":1,"worker":"w0","digest":"` + wire.Digest(nil) + `","seconds":1}]`,
		"tasks that run twice"},
	{"checks", `[{"job":0,"task":0,"first":"w0","second":"w1"}]`, "tasks that run twice"},
}

// A plan with a removed feature of an earlier version is neither folded nor verified, and the book
// does not change.
func TestOutdatedPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t, 0.125, 0.5, 1, 2)
		set := settings(s, 1, false)
		b, err := book.New(set)
		if err != nil {
			t.Fatal(err)
		}
		w := &quietWorld{t: t, s: s, book: b, next: 1}
		w.run(len(s.Jobs))
		reader, err := book.New(set)
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(1, len(w.plans)-1).Draw(t, "plan")
		for _, p := range w.plans[:at] {
			if err := reader.Fold(p); err != nil {
				t.Fatal(err)
			}
		}
		before, err := reader.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		field := rapid.SampledFrom(outdatedFields).Draw(t, "field")
		p := withField(t, w.plans[at], field.name, field.value)
		for _, err := range []error{reader.Fold(p), reader.Verify(p)} {
			var outdated *book.OutdatedError
			if !errors.As(err, &outdated) || outdated.Used != field.used {
				t.Fatalf("%s: error %v", field.name, err)
			}
		}
		after, err := reader.Snapshot()
		if err != nil || !bytes.Equal(before, after) {
			t.Fatalf("%s\nwas\n%s\nerror %v", after, before, err)
		}
		if err := reader.Fold(w.plans[at]); err != nil {
			t.Fatal(err)
		}
	})
}

// withField returns the plan with an additional field.
func withField(t *rapid.T, p *wire.Plan, name, value string) *wire.Plan {
	data, err := wire.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	q, err := wire.Decode[wire.Plan]([]byte(`{"` + name + `":` + value + "," + string(data[1:])))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// A snapshot with a task that waits for its second run is rejected. Without such a task it is
// restored.
func TestOutdatedSnapshot(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a", "b")
	accepts(t, d.submits("j", 3))
	sealed, err := d.book.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	plan, upto, data, err := wire.Unseal(sealed)
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	counts, isCounts := state["counts"].(map[string]any)
	jobs, isList := state["jobs"].([]any)
	if !isCounts || !isList {
		t.Fatalf("%s", data)
	}
	restore := func() error {
		data, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		if sealed, err = wire.Seal(plan, upto, data); err != nil {
			t.Fatal(err)
		}
		_, err = book.Restore(d.settings, sealed)
		return err
	}
	counts["checked"], counts["advised"] = 3, 4 // counts of earlier versions are ignored
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	first := map[string]any{"job": 0, "task": 0, "attempt": 1, "worker": "a"}
	jobs[0].(map[string]any)["Repeats"] = map[string]any{"0": first}
	var outdated *book.OutdatedError
	if err := restore(); !errors.As(err, &outdated) {
		t.Errorf("error %v", err)
	}
}
