package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"productform/internal/input"
)

// MaxMessage bounds the bytes of a message. MaxBatch bounds those of a batch, MaxJobs its jobs and MaxWorkers the
// workers of a cluster: a plan stays within MaxMessage whatever happens at its moment. MaxNumbers bounds
// other lists in a message, MaxOutput the bytes of an output inside a report. MaxTasks bounds the tasks of a job
// and of a batch, MaxAtOnce the max_workers of a job, MaxAttempts its attempts, in messages and in files of jobs.
const (
	MaxMessage = 1 << 20
	MaxBatch   = MaxMessage / 2
	MaxJobs    = 1000
	MaxWorkers = 1000
	MaxNumbers = 100_000
	MaxOutput  = 64 << 10

	MaxTasks    = 10_000_000
	MaxAtOnce   = 1<<30 - 1
	MaxAttempts = 100
)

// A Message can be checked: what it holds is as the comments of its fields say. All messages are.
type Message interface{ Check() error }

// Encode checks a message, a pointer to one, and writes it.
func Encode(m Message) ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return data, checkSize(m, len(data))
}

func checkSize(m any, bytes int) error {
	limit := MaxMessage
	if _, ok := m.(*Batch); ok {
		limit = MaxBatch
	}
	if bytes > limit {
		return input.Errorf("", strconv.Itoa(bytes)+" bytes", "at most %d bytes", limit)
	}
	return nil
}

// Decode reads a message of a form, as in Decode[Beat], and checks all that it holds. The error is an *[num.InputError]. Fields that this
// program does not know are passed over.
func Decode[M any, P interface {
	*M
	Message
}](data []byte) (*M, error) {
	m := new(M)
	if err := checkSize(m, len(data)); err != nil {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, input.Errorf("", "other bytes", "a message in UTF-8")
	}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, jsonError(err)
	}
	return m, P(m).Check()
}

// jsonError says what is wrong with JSON as an [num.InputError].
func jsonError(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return input.Errorf(kind.Field, kind.Value, "a %s", kind.Type)
	case errors.As(err, &syntax):
		return input.Errorf("", fmt.Sprintf("%v at byte %d", syntax, syntax.Offset), "JSON")
	}
	return input.Errorf("", err, "JSON")
}

// DecodeWish reads a wish, whose subject says what is asked of whom.
func DecodeWish(verb Verb, name string, data []byte) (*Wish, error) {
	w, err := Decode[Wish](data)
	if err != nil {
		return nil, err
	}
	w.Verb, w.Name = verb, name
	return w, w.checkVerb()
}

// An In is a message of PFQ_IN. One of its fields is not nil.
type In struct {
	Batch   *Batch
	Report  *Report
	Failure *Failure
	Wish    *Wish
	Script  *Script
}

// DecodeIn reads a message of PFQ_IN, which must be what its subject says.
func DecodeIn(subject string, data []byte) (in In, err error) {
	part := strings.Split(subject, ".")
	if len(part) < 3 || part[0] != "pfq" || part[1] != "in" {
		return in, subjectError(subject, InSubjects)
	}
	want := subject
	switch kind := part[2]; {
	case subject == ScriptSubject:
		in.Script, err = Decode[Script](data)
	case kind == "submit" && len(part) == 4:
		if in.Batch, err = Decode[Batch](data); err == nil {
			want = Submit(in.Batch.Name)
		}
	case kind == "done" && (len(part) == 5 || len(part) == 6):
		if in.Report, err = Decode[Report](data); err == nil {
			r := in.Report
			want = (&Order{Job: r.Job, Task: r.Task, Attempt: r.Attempt, Logical: len(part) == 6}).ReportTo()
		}
	case kind == "fail" && len(part) == 6:
		if in.Failure, err = Decode[Failure](data); err == nil {
			want = Failed(in.Failure.Job, in.Failure.Task, in.Failure.Attempt)
		}
	case (kind == "cancel" || kind == "clear") && len(part) == 4, (kind == "change" || kind == "drain") && len(part) == 5:
		in.Wish, err = DecodeWish(Verb(kind), part[3], data)
	default:
		return in, subjectError(subject, "a subject of "+InStream)
	}
	if err == nil && want != subject {
		err = subjectError(subject, want)
	}
	if err != nil {
		return In{}, err
	}
	return in, nil
}

// BatchOf returns the name of the batch whose subject this is.
func BatchOf(subject string) (name string, ok bool) {
	name, ok = strings.CutPrefix(subject, Submit(""))
	return name, ok && isToken(name)
}

func subjectError(subject, want string) error {
	return input.Errorf("subject", subject, "%s", want)
}
