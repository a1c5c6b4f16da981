package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"productform/dispatch"
	"productform/num"
)

var (
	aTime  = 2.5
	aToken = "x5Rk_9-q"
	aRun   = Run{
		Kind:    "command",
		Program: "bill",
		Args:    []string{"--user", "ä\n"},
		Inputs:  map[string]string{"a.b.csv": Digest(nil)},
		Limit:   3,
	}
	aJob = Job{
		Name: "bills", Priority: 5, DeadlineIn: 200, MaxWorkers: 8, Tasks: 2, Works: []float64{0.5, 0},
		Attempts: 2, Run: aRun,
	}
)

// goodMessages returns a message of each type, and the function that reads it.
func goodMessages() []struct {
	message Message
	read    func([]byte) (any, error)
} {
	in := func(subject string, pick func(In) any) func([]byte) (any, error) {
		return func(data []byte) (any, error) {
			m, err := DecodeIn(subject, data)
			return pick(m), err
		}
	}
	as := func(read any) func([]byte) (any, error) {
		return func(data []byte) (any, error) {
			out := reflect.ValueOf(read).Call([]reflect.Value{reflect.ValueOf(data)})
			err, _ := out[1].Interface().(error)
			return out[0].Interface(), err
		}
	}
	return []struct {
		message Message
		read    func([]byte) (any, error)
	}{
		{
			&Batch{Version: 1, Name: "b", Jobs: []Job{aJob}, At: &aTime},
			in("pfq.in.submit.b", func(m In) any { return m.Batch }),
		},
		{&Report{
			Version: 1, Job: "j", Task: 3, Attempt: 7, Worker: "w", Token: aToken, Seconds: 1.5, Output: []byte{0, 255},
		},
			in("pfq.in.done.j.3", func(m In) any { return m.Report })},
		{&Report{
			Version: 1, Job: "j", Task: 3, Attempt: 7, Worker: "w", Token: aToken, At: 9, Digest: Digest(nil), Size: 3,
		},
			in("pfq.in.done.j.3.7", func(m In) any { return m.Report })},
		{&Failure{Version: 1, Job: "j", Task: 3, Attempt: 7, Worker: "w", Token: aToken, Exit: -1, Reason: "no\tfile"},
			in("pfq.in.fail.j.3.7", func(m In) any { return m.Failure })},
		{&Wish{Verb: ToChange, Name: "j", Version: 1, Priority: &aTime, DeadlineAt: &aTime},
			in("pfq.in.change.j.1", func(m In) any { return m.Wish })},
		{&Wish{Verb: ToCancel, Name: "j", Version: 1}, in("pfq.in.cancel.j", func(m In) any { return m.Wish })},
		{&Wish{Verb: ToDrain, Name: "w", Version: 1}, in("pfq.in.drain.w.2", func(m In) any { return m.Wish })},
		{&Script{
			Version: 1,
			Batches: 1,
			Workers: []Scripted{{"w", 2}},
			Outages: []ScriptedOutage{{0, 1, 2}, {0, 3, 0}},
		},
			in("pfq.in.script", func(m In) any { return m.Script })},
		{&Order{Version: 1, Plan: 5, Process: "p", Job: "j", Task: 3, Attempt: 7, Token: aToken, At: 1, Work: 2,
			Run: aRun, Heard: 3.5, Within: 2},
			as(Decode[Order])},
		{&Order{Version: 1, Plan: 5, Process: "p", Idle: true}, as(Decode[Order])},
		{&Beat{Version: 1, Worker: "w", Process: "p", Speed: 1, Program: "1.2 linux/amd64", Job: "j", Task: 3,
			Attempt: 7, Token: aToken, Clock: 3.5,
			Facts: map[string]any{"io": 1.5, "rack": "r1", "ssd": true}}, as(Decode[Beat])},
		{&Plan{
			Version: 1, Number: 1, Leader: "m", At: 1, Epoch: 1e9, Upto: 3,
			Rules:      &dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}},
			NewJobs:    []NumberedJob{{Number: 0, Batch: "b", Submit: 1, Deadline: 201, Job: aJob}},
			NewWorkers: []NumberedWorker{{Number: 0, Name: "w", Process: "p", Speed: 1}},
			What:       []dispatch.Happening{{Kind: dispatch.Submitted}, {Kind: dispatch.Returned, Speed: 1}},
			Events: []dispatch.Event{
				{Kind: dispatch.Submitted, Task: -1, Worker: -1}, {Kind: dispatch.Started, Attempt: 1},
			},
			Tokens: []string{aToken}, Cleared: []int{3}, Refused: []Refusal{{Sequence: 3, Batch: "b", Why: "no"}},
			Removed: []Removal{{Job: "j"}},
		}, as(Decode[Plan])},
		{&JobView{Version: 1, Name: "j", Batch: "b", State: JobPresent, Start: &aTime}, as(Decode[JobView])},
		{&WorkerView{Version: 1, Name: "w", State: WorkerBusy}, as(Decode[WorkerView])},
		{&BatchView{Version: 1, Name: "b", Jobs: []string{"j"}}, as(Decode[BatchView])},
		{
			&ProfileView{Version: 1, Kind: "command.bill", At: 3, Workers: []ProfileWorker{{"w", 0.5, 1, 7, 2.5}}},
			as(Decode[ProfileView]),
		},
		{&snapshotHeader{Version: 1, Plan: 3, Digest: Digest(nil)}, as(Decode[snapshotHeader])},
	}
}

// Messages survive a round trip. Unknown fields of later versions are ignored, and later versions
// are rejected.
func TestRoundTrip(t *testing.T) {
	for _, c := range goodMessages() {
		data, err := Encode(c.message)
		if err != nil {
			t.Errorf("%T: %v", c.message, err)
			continue
		}
		got, err := c.read(data)
		if err != nil || !reflect.DeepEqual(got, any(c.message)) {
			t.Errorf("%s: read as %+v, %v", data, got, err)
		}
		newer := []byte(`{"added later": {"x": [1]},` + string(data[1:]))
		if got, err = c.read(newer); err != nil || !reflect.DeepEqual(got, any(c.message)) {
			t.Errorf("%s: read as %+v, %v", newer, got, err)
		}
		other := strings.Replace(string(data), `"v":1`, `"v":2`, 1)
		var bad *num.InputError
		if _, err = c.read([]byte(other)); !errors.As(err, &bad) || bad.Path != "v" {
			t.Errorf("%s: error %v, want one about v", other, err)
		}
	}
}

// Messages with a single fault are rejected with an error about it.
func TestBadMessages(t *testing.T) {
	const report = `{"v":1,"job":"j","task":3,"attempt":7,"worker":"w","token":"t","seconds":1`
	const batch = `{"v":1,"name":"b","jobs":[{"name":"j","tasks":2,"run":{"kind":"sleep"}`
	for _, c := range []struct{ subject, data, want string }{
		{"pfq.in.done.j.3", report + `,"seconds":-1}`, "seconds = -1: want a number in [0, 1e50]"},
		{"pfq.in.done.j.3", report + `,"seconds":1e999}`, "seconds = number 1e999: want a float64"},
		{"pfq.in.done.j.3", report + `,"task":"3"}`, "task = string: want a int"},
		{
			"pfq.in.done.j.3", report + `,"worker":"w.x"}`,
			`worker = "w.x": want a name of 1 to 64 letters A-Z a-z, digits, _ and -`,
		},
		{"pfq.in.done.j.3", report, "want JSON, not "},
		{"pfq.in.done.j.3", report + "}}", "want JSON, not "},
		{"pfq.in.done.j.3", report + ",\"x\":\"\xff\"}", "want a message in UTF-8"},
		{"pfq.in.done.j.4", report + "}", "subject = pfq.in.done.j.4: want pfq.in.done.j.3"},
		{"pfq.in.done.j.03", report + "}", "subject = pfq.in.done.j.03: want pfq.in.done.j.3"},
		{"pfq.in.done.j.3.8", report + "}", "subject = pfq.in.done.j.3.8: want pfq.in.done.j.3.7"},
		{"pfq.in.again.j.3.7", report + "}", "subject = pfq.in.again.j.3.7: want a subject of PFQ_IN"},
		{"pfq.in.done.j", report + "}", "subject = pfq.in.done.j: want a subject of PFQ_IN"},
		{"pfq.out", report + "}", "subject = pfq.out: want pfq.in.>"},
		{"pfq.in.submit.b", batch + `}]}`, ""},
		{"pfq.in.submit.c", batch + `}]}`, "subject = pfq.in.submit.c: want pfq.in.submit.b"},
		{"pfq.in.submit.b", batch + `,"works":[1]}]}`, "jobs[0].works = 1: want as many numbers as tasks"},
		{
			"pfq.in.submit.b", batch + `,"works":[1,1e-51]}]}`,
			"jobs[0].works[1] = 1e-51: want a number of seconds in [1e-50, 1e50], or 0",
		},
		{
			"pfq.in.submit.b", batch + `,"deadline_at":1,"deadline_in":1}]}`,
			"jobs[0].deadline_at = 1: want 0, because deadline_in is given",
		},
		{
			"pfq.in.submit.b", batch + `,"tasks":10000001}]}`,
			"jobs[0].tasks = 10000001: want an integer in [1, 10000000]",
		},
		{"pfq.in.submit.b", batch + `},{"name":"j","tasks":1,"run":{"kind":"sleep"}}]}`,
			`jobs[1].name = "j": want a unique name; jobs[0] has this one`},
		{
			"pfq.in.submit.b", batch + `,"run":{"kind":"x","inputs":{"../x":""}}}]}`,
			`jobs[0].run.inputs["../x"] = "../x": want a file name`,
		},
		{
			"pfq.in.submit.b", batch + `,"run":{"kind":"x","inputs":{"..":""}}}]}`,
			`jobs[0].run.inputs[".."] = "..": want a file name`,
		},
		{"pfq.in.submit.b", `{"v":1,"name":"b","jobs":[]}`, "jobs = 0: want 1 to 1000 jobs"},
		{"pfq.in.submit.b", `{"v":1,"name":"b","jobs":[{"name":"i","tasks":1,"run":{"kind":"sleep"}},` +
			`{"name":"j","tasks":10000000,"run":{"kind":"sleep"}}]}`,
			"jobs[1].tasks = 10000000: want at most 10000000 tasks in total in a batch, not 10000001"},
		{
			"pfq.in.submit.b", strings.Repeat(" ", MaxBatch) + batch + "}]}",
			"want at most 524288 bytes, not 524361 bytes",
		},
		{"pfq.in.cancel.j", `{"v":1,"priority":1}`, "no fields in a request to cancel"},
		{"pfq.in.change.j.1", `{"v":1}`, "a priority or a deadline to change to"},
		{"pfq.in.drain.a b.1", `{"v":1}`, `name = "a b": want a name`},
		{"pfq.in.script", `{"v":1,"batches":1,"workers":[{"name":"w","speed":1}],` +
			`"outages":[{"worker":1,"from":0}]}`,
			"outages[0].worker = 1: want the index of a worker"},
		{
			"pfq.in.script",
			`{"v":1,"batches":1,"workers":[{"name":"w","speed":1}],` +
				`"outages":[{"worker":0,"from":3,"to":4},{"worker":0,"from":1,"to":3.5}]}`,
			"outages[0].from = 3: want a time after the end of outages[1] of the same worker",
		},
		{
			"pfq.in.script",
			`{"v":1,"batches":1,"workers":[{"name":"w","speed":1}],` +
				`"outages":[{"worker":0,"from":3},{"worker":0,"from":9,"to":10}]}`,
			"outages[1].from = 9: want a time after the end of outages[0] of the same worker",
		},
	} {
		_, err := DecodeIn(c.subject, []byte(c.data))
		switch {
		case c.want == "" && err == nil:
		case err == nil, c.want == "":
			t.Errorf("%s: error %v, want %q", c.subject, err, c.want)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("%s %.80s: error %q, want %q", c.subject, c.data, err, c.want)
		}
		var bad *num.InputError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: %T", c.subject, err)
		}
	}
}

// A worker rejects an order of an earlier version to run a task for the second time.
func TestOrderToRunTwice(t *testing.T) {
	for again, want := range map[string]string{"false": "", "true": "again = true: want false"} {
		_, err := Decode[Order]([]byte(`{"v":1,"plan":5,"process":"p","job":"j","task":3,"attempt":7,"token":"t","at":1,
			"run":{"kind":"sleep"},"again":` + again + `}`))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("again %s: error %v", again, err)
		}
	}
}

func TestSnapshots(t *testing.T) {
	state := []byte(`{"jobs": []}` + "\n")
	sealed, err := Seal(12, 34, state)
	if err != nil {
		t.Fatal(err)
	}
	plan, upto, got, err := Unseal(sealed)
	if err != nil || string(got) != string(state) || plan != 12 || upto != 34 {
		t.Errorf("%d, %d, %s, %v", plan, upto, got, err)
	}
	for cut := range sealed {
		if _, _, _, err := Unseal(sealed[:cut]); err == nil {
			t.Errorf("a snapshot cut at byte %d is accepted", cut)
		}
	}
	for at := range state {
		broken := append([]byte{}, sealed...)
		broken[len(sealed)-1-at] ^= 1
		if _, _, _, err := Unseal(broken); err == nil {
			t.Errorf("a snapshot with a flipped bit in byte %d from its end is accepted", at)
		}
	}
}

// fuzz checks a decoder against Encode: every accepted message can be written, and reads back the
// same.
func fuzz(f *testing.F, forms ...int) {
	good := goodMessages()
	for _, form := range forms {
		data, err := json.Marshal(good[form].message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"v":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, form := range forms {
			got, err := good[form].read(data)
			if err != nil {
				var bad *num.InputError
				if !errors.As(err, &bad) {
					t.Fatalf("an error of type %T: %v", err, err)
				}
				continue
			}
			again, err := Encode(got.(Message))
			if err != nil {
				t.Fatalf("%+v is read but not written: %v", got, err)
			}
			same, err := good[form].read(again)
			if err != nil {
				t.Fatalf("%s is written but not read: %v", again, err)
			}
			if twice, err := Encode(same.(Message)); err != nil || string(twice) != string(again) {
				t.Fatalf("%s is written as %s, and then as %s, %v", data, again, twice, err)
			}
		}
	})
}

func FuzzDecodeBatch(f *testing.F)       { fuzz(f, 0) }
func FuzzDecodeReport(f *testing.F)      { fuzz(f, 1, 2) }
func FuzzDecodeFailure(f *testing.F)     { fuzz(f, 3) }
func FuzzDecodeWish(f *testing.F)        { fuzz(f, 4, 5, 6) }
func FuzzDecodeScript(f *testing.F)      { fuzz(f, 7) }
func FuzzDecodeOrder(f *testing.F)       { fuzz(f, 8, 9) }
func FuzzDecodeBeat(f *testing.F)        { fuzz(f, 10) }
func FuzzDecodePlan(f *testing.F)        { fuzz(f, 11) }
func FuzzDecodeJobView(f *testing.F)     { fuzz(f, 12) }
func FuzzDecodeWorkerView(f *testing.F)  { fuzz(f, 13) }
func FuzzDecodeBatchView(f *testing.F)   { fuzz(f, 14) }
func FuzzDecodeProfileView(f *testing.F) { fuzz(f, 15) }
func FuzzUnseal(f *testing.F) {
	sealed, err := Seal(1, 2, []byte("{}"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Fuzz(func(t *testing.T, data []byte) {
		if plan, upto, state, err := Unseal(data); err == nil {
			line, _, _ := bytes.Cut(data, []byte("\n"))
			h, err := Decode[snapshotHeader](line)
			if err != nil || h.Plan != plan || h.Upto != upto || h.Digest != Digest(state) || !json.Valid(state) {
				t.Errorf("%q is accepted", data)
			}
		}
	})
}

func FuzzDecodeIn(f *testing.F) {
	subjects := []string{
		"pfq.in.submit.b", "pfq.in.done.j.3", "pfq.in.done.j.3.7", "pfq.in.fail.j.3.7", "pfq.in.change.j.1",
		"pfq.in.cancel.j", "pfq.in.drain.w.2", "pfq.in.script",
	} // in the order of goodMessages
	for i, c := range goodMessages()[:len(subjects)] {
		data, err := json.Marshal(c.message)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := DecodeIn(subjects[i], data); err != nil {
			f.Fatal(err)
		}
		f.Add(subjects[i], data)
	}
	f.Fuzz(func(t *testing.T, subject string, data []byte) {
		in, err := DecodeIn(subject, data)
		if held := in != (In{}); held == (err != nil) {
			t.Errorf("%q %q: %+v, %v", subject, data, in, err)
		}
	})
}
