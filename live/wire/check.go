package wire

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"productform/internal/input"
)

const (
	maxName  = 64      // bytes of a name
	maxText  = 4096    // bytes of an argument or a reason
	maxLists = 1000    // arguments, inputs, facts
	largeInt = 1 << 53 // integers up to this are exact in JSON everywhere
)

// The valid values, as error messages name them.
const (
	wantName    = "a name of 1 to 64 letters A-Z a-z, digits, _ and -"
	wantToken   = "a token of 1 to 64 letters A-Z a-z, digits, _ and -"
	wantDigest  = "64 digits 0-9 a-f of a SHA-256"
	wantText    = "text of at most 4096 bytes without control characters except line ends and tabs"
	wantNumber  = "a number, 0 to 1073741823"
	wantAttempt = "an integer >= 1"
)

var (
	wantTask     = fmt.Sprintf("a task, 0 to %d", MaxTasks-1)
	wantTasks    = fmt.Sprintf("an integer in [1, %d]", MaxTasks)
	wantAttempts = fmt.Sprintf("an integer in [1, %d], or 0 for 3", MaxAttempts)
)

// CheckName rejects a text that cannot name a batch, a job, a worker, a program or a process. A
// valid name is 1 to 64 letters A-Z a-z, digits, _ and -. It is one token of a NATS subject and
// safe in file names and command lines.
func CheckName(path, name string) error {
	if !isToken(name) {
		return input.Errorf(path, input.Quote(name), wantName)
	}
	return nil
}

func isToken(s string) bool {
	if len(s) == 0 || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

func isNumber(n int) bool      { return n >= 0 && n < 1<<30 }
func isTask(n int) bool        { return n >= 0 && n < MaxTasks }
func isSequence(n uint64) bool { return n <= largeInt }

// IsDigest reports whether a text is a SHA-256 in hexadecimal, which names a blob.
func IsDigest(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func isText(s string) bool {
	odd := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || r == utf8.RuneError }
	return len(s) <= maxText && !strings.ContainsFunc(s, odd)
}

// must returns nil if ok, and otherwise an error that names the path, the value and the valid
// values.
func must(ok bool, path string, value any, want string) error {
	if ok {
		return nil
	}
	if s, isString := value.(string); isString {
		value = input.Quote(s)
	}
	return input.Errorf(path, value, "%s", want)
}

func checkVersion(v int) error {
	if v < 1 || v > Version {
		return input.Errorf("v", v, "a version from 1 to %d, which this program reads", Version)
	}
	return nil
}

// Check checks a batch: jobs with distinct names, and at most [MaxNumbers] works and [MaxTasks]
// tasks in total.
func (b *Batch) Check() error {
	err := cmp.Or(checkVersion(b.Version), CheckName("name", b.Name),
		must(len(b.Jobs) >= 1 && len(b.Jobs) <= MaxJobs, "jobs", len(b.Jobs), "1 to 1000 jobs"))
	if err == nil && b.At != nil {
		err = input.Time.Check("at", *b.At)
	}
	names, works, tasks := make(map[string]int, len(b.Jobs)), 0, 0
	for i := 0; i < len(b.Jobs) && err == nil; i++ {
		j, path := &b.Jobs[i], input.Index("jobs", i)
		if err = j.Check(); err != nil {
			return input.Inside(path, err)
		}
		if err = input.CheckName(names, "jobs", i, j.Name); err != nil {
			return err
		}
		works += len(j.Works)
		if tasks += j.Tasks; tasks > MaxTasks {
			return input.Errorf(path+".tasks", j.Tasks, "at most %d tasks in total in a batch, not %d", MaxTasks, tasks)
		}
		err = must(works <= MaxNumbers, path+".works", works, "at most 100000 works in a batch")
	}
	return err
}

// Check checks a job.
func (j *Job) Check() error {
	err := cmp.Or(
		CheckName("name", j.Name),
		input.Time.Check("priority", j.Priority),
		input.Limit.Check("deadline_in", j.DeadlineIn),
		input.Due.Check("deadline_at", j.DeadlineAt),
		must(j.DeadlineIn == 0 || j.DeadlineAt == 0, "deadline_at", j.DeadlineAt, "0, because deadline_in is given"),
		must(j.MaxWorkers >= 0 && j.MaxWorkers <= MaxAtOnce, "max_workers", j.MaxWorkers,
			"an integer >= 1, or 0 for no limit"),
		must(j.Tasks >= 1 && j.Tasks <= MaxTasks, "tasks", j.Tasks, wantTasks),
		input.Work.Check("work", j.Work),
		must(j.Works == nil || j.Work == 0, "work", j.Work, "0, because works is given"),
		must(j.Works == nil || len(j.Works) == j.Tasks, "works", len(j.Works), "as many numbers as tasks"),
		input.Work.Check("estimate", j.Estimate),
		must(j.Attempts >= 0 && j.Attempts <= MaxAttempts, "attempts", j.Attempts, wantAttempts),
	)
	for i := 0; i < len(j.Works) && err == nil; i++ {
		if !input.IsWork(j.Works[i]) {
			return input.Work.Check(input.Index("works", i), j.Works[i])
		}
	}
	if err != nil {
		return err
	}
	return input.Inside("run", j.Run.Check())
}

// Check checks the description of a task.
func (r *Run) Check() error {
	err := cmp.Or(
		CheckName("kind", r.Kind),
		checkMaybe("program", r.Program),
		must(len(r.Args) <= maxLists, "args", len(r.Args), "at most 1000 arguments"),
		must(len(r.Inputs) <= maxLists, "inputs", len(r.Inputs), "at most 1000 inputs"),
		input.Limit.Check("limit", r.Limit),
	)
	for i := 0; i < len(r.Args) && err == nil; i++ {
		err = must(isText(r.Args[i]), input.Index("args", i), r.Args[i], wantText)
	}
	for name, digest := range r.Inputs {
		file := strings.TrimLeft(strings.ReplaceAll(name, ".", ""), ".")
		err = cmp.Or(err,
			must(len(name) <= maxName &&
				isToken(file), input.Field("inputs", name), name, "a file name of letters, digits, _, - and dots"),
			must(IsDigest(digest), input.Field("inputs", name), digest, wantDigest))
	}
	return err
}

// Check checks a report.
func (r *Report) Check() error {
	return cmp.Or(
		checkVersion(r.Version), checkEnd(r.Job, r.Task, r.Attempt, r.Worker, r.Token, r.At, r.Seconds),
		must(len(r.Output) <= MaxOutput, "output", len(r.Output), "at most 65536 bytes; larger ones are blobs"),
		must(r.Digest == "" || IsDigest(r.Digest), "digest", r.Digest, wantDigest),
		must(r.Digest == "" || len(r.Output) == 0, "output", len(r.Output), "no output, because a digest is given"),
		checkBytes("size", r.Size),
	)
}

// Check checks a failure.
func (f *Failure) Check() error {
	return cmp.Or(
		checkVersion(f.Version), checkEnd(f.Job, f.Task, f.Attempt, f.Worker, f.Token, f.At, f.Seconds),
		must(f.Exit >= math.MinInt32 && int64(f.Exit) <= math.MaxUint32, "exit", f.Exit, "an exit status"),
		must(isText(f.Reason), "reason", f.Reason, wantText),
	)
}

// checkEnd checks the fields that reports and failures have in common.
func checkEnd(job string, task, attempt int, worker, token string, at, seconds float64) error {
	return cmp.Or(CheckName("job", job), CheckName("worker", worker), checkAttempt(task, attempt, token),
		input.Time.Check("at", at), input.Time.Check("seconds", seconds))
}

// checkAttempt checks the fields that identify an attempt at a task of a job.
func checkAttempt(task, attempt int, token string) error {
	return cmp.Or(checkTask(task), must(attempt >= 1 && int64(attempt) <= largeInt, "attempt", attempt, wantAttempt),
		must(isToken(token), "token", token, wantToken))
}

func checkTask(n int) error                     { return must(isTask(n), "task", n, wantTask) }
func checkNumber(path string, n int) error      { return must(isNumber(n), path, n, wantNumber) }
func checkSequence(path string, n uint64) error { return must(isSequence(n), path, n, "a sequence") }
func checkBytes(path string, n int64) error {
	return must(n >= 0 && n <= largeInt, path, n, "a number of bytes >= 0")
}

// checkMaybe rejects a text that is neither empty nor a name.
func checkMaybe(path, name string) error {
	if name == "" {
		return nil
	}
	return CheckName(path, name)
}

// Check checks the fields of a wish.
func (w *Wish) Check() error {
	err := checkVersion(w.Version)
	for _, f := range []struct {
		path  string
		value *float64
	}{{"priority", w.Priority}, {"deadline_in", w.DeadlineIn}, {"deadline_at", w.DeadlineAt}} {
		if err == nil && f.value != nil {
			err = input.Time.Check(f.path, *f.value)
		}
	}
	if err == nil && w.DeadlineIn != nil && w.DeadlineAt != nil {
		err = input.Errorf("deadline_at", *w.DeadlineAt, "no deadline_at, because deadline_in is given")
	}
	return err
}

// checkVerb checks that the fields of a wish suit its verb.
func (w *Wish) checkVerb() error {
	fields := w.Priority != nil || w.DeadlineIn != nil || w.DeadlineAt != nil
	switch {
	case w.Verb == ToChange && !fields:
		return input.Errorf("", "nothing", "a priority or a deadline to change to")
	case w.Verb != ToChange && fields:
		return input.Errorf("", "fields", "no fields in a request to %s", w.Verb)
	}
	return CheckName("name", w.Name)
}

// Check checks a script. Outages of the same worker must not overlap.
func (s *Script) Check() error {
	err := cmp.Or(checkVersion(s.Version),
		must(s.Batches >= 1 && s.Batches <= MaxNumbers, "batches", s.Batches, "an integer in [1, 100000]"),
		must(len(s.Workers) >= 1 && len(s.Workers) <= MaxWorkers, "workers", len(s.Workers), "1 to 1000 workers"),
		input.Work.Check("replan", s.Replan),
		must(len(s.Outages) <= MaxNumbers, "outages", len(s.Outages), "at most 100000 outages"))
	names := make(map[string]int, len(s.Workers))
	for i := 0; i < len(s.Workers) && err == nil; i++ {
		w, path := &s.Workers[i], input.Index("workers", i)
		err = cmp.Or(CheckName(path+".name", w.Name), input.Speed.Check(path+".speed", w.Speed))
		if err == nil {
			err = input.CheckName(names, "workers", i, w.Name)
		}
	}
	for i := 0; i < len(s.Outages) && err == nil; i++ {
		o, path := &s.Outages[i], input.Index("outages", i)
		err = cmp.Or(
			must(o.Worker >= 0 && o.Worker < len(s.Workers), path+".worker", o.Worker, "the index of a worker"),
			input.Time.Check(path+".from", o.From),
			must(o.To == 0 || o.To > o.From && input.IsTime(o.To), path+".to", o.To,
				"a time after from, or 0 for good"))
	}
	if err != nil {
		return err
	}
	return checkOverlaps(s.Outages)
}

func checkOverlaps(outages []ScriptedOutage) error {
	order := make([]int, len(outages))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &outages[i], &outages[j]
		return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.From, b.From))
	})
	for k := 1; k < len(order); k++ {
		before, after := &outages[order[k-1]], &outages[order[k]]
		if before.Worker == after.Worker && (before.To == 0 || after.From < before.To) {
			return input.Errorf(input.Index("outages", order[k])+".from", after.From,
				"a time after the end of outages[%d] of the same worker", order[k-1])
		}
	}
	return nil
}

// Check checks an order.
func (o *Order) Check() error {
	err := cmp.Or(checkVersion(o.Version), CheckName("process", o.Process), input.Time.Check("at", o.At),
		must(isSequence(o.Plan), "plan", o.Plan, "the number of a plan"),
		input.Time.Check("heard", o.Heard), input.Time.Check("within", o.Within))
	if err != nil || o.Idle {
		return err
	}
	err = cmp.Or(
		CheckName("job", o.Job), checkAttempt(o.Task, o.Attempt, o.Token),
		must(!o.Again, "again", o.Again, "false: this version never runs a task twice"),
		input.Work.Check("work", o.Work),
	)
	if err != nil {
		return err
	}
	return input.Inside("run", o.Run.Check())
}

// Check checks a beat.
func (b *Beat) Check() error {
	err := cmp.Or(
		checkVersion(b.Version), CheckName("worker", b.Worker), CheckName("process", b.Process),
		input.Speed.Check("speed", b.Speed),
		must(len(b.Program) <= 200 &&
			isText(b.Program), "program", b.Program, "a version and a processor in at most 200 bytes"),
		must(isSequence(b.Plan), "plan", b.Plan, "the number of a plan"),
		input.Time.Check("clock", b.Clock),
		input.Time.Check("load", b.Load),
		checkBytes("memory", b.Memory),
		checkBytes("disk", b.Disk),
		checkFacts(b.Facts),
	)
	if err != nil || b.Token == "" {
		return err
	}
	return cmp.Or(CheckName("job", b.Job), checkAttempt(b.Task, b.Attempt, b.Token))
}

// checkFacts accepts strings, numbers and booleans.
func checkFacts(facts map[string]any) error {
	if len(facts) > maxLists {
		return input.Errorf("facts", len(facts), "at most 1000 facts")
	}
	for name, fact := range facts {
		path := input.Field("facts", name)
		if !isText(name) || len(name) > maxName {
			return input.Errorf(path, input.Quote(name), "a name of at most 64 bytes")
		}
		switch v := fact.(type) {
		case bool, float64, int:
		case string:
			if !isText(v) {
				return input.Errorf(path, input.Quote(v), wantText)
			}
		default:
			return input.Errorf(path, fmt.Sprintf("a %T", fact), "a string, a number, true or false")
		}
	}
	return nil
}

// Check checks the header of a snapshot.
func (h *snapshotHeader) Check() error {
	return cmp.Or(checkVersion(h.Version),
		must(isSequence(h.Plan), "plan", h.Plan, "the number of a plan"),
		checkSequence("upto", h.Upto),
		checkBytes("bytes", int64(h.Bytes)),
		must(IsDigest(h.Digest), "digest", h.Digest, wantDigest))
}
