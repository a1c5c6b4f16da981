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

// MaxMessage bounds the bytes of a message. MaxBatch bounds the bytes of a batch, MaxJobs its jobs,
// and MaxWorkers the workers of a cluster; together they keep every plan within MaxMessage.
// MaxNumbers bounds the other lists in a message, and MaxOutput the bytes of an output inside a
// report. In messages and job files, MaxTasks bounds the tasks of a job and of a batch, MaxAtOnce
// the max_workers of a job, and MaxAttempts its attempts.
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

// A Message can check that its fields hold what their comments say. All messages implement it.
type Message interface{ Check() error }

// Encode checks the message that m points to and returns its JSON.
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

// Decode reads a message of a given type, as in Decode[Beat], and checks all its fields. The error
// is an *[num.InputError]. Unknown fields are ignored.
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

// jsonError converts an error of package json to an [num.InputError].
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

// DecodeWish reads a wish. The verb and the name are those in its subject.
func DecodeWish(verb Verb, name string, data []byte) (*Wish, error) {
	w, err := Decode[Wish](data)
	if err != nil {
		return nil, err
	}
	w.Verb, w.Name = verb, name
	return w, w.checkVerb()
}

// An In is a message of PFQ_IN. Exactly one of its fields is not nil.
type In struct {
	Batch   *Batch
	Report  *Report
	Failure *Failure
	Wish    *Wish
	Script  *Script
}

// DecodeIn reads a message of PFQ_IN and checks that it matches its subject.
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
	case (kind == "cancel" || kind == "clear") &&
		len(part) == 4, (kind == "change" || kind == "drain") && len(part) == 5:
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

// BatchOf returns the name of the batch that has this subject.
func BatchOf(subject string) (name string, ok bool) {
	name, ok = strings.CutPrefix(subject, Submit(""))
	return name, ok && isToken(name)
}

func subjectError(subject, want string) error {
	return input.Errorf("subject", subject, "%s", want)
}
