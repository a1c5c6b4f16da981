package sizes

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/num"
)

// A List holds the sizes in a file, as input for [NewEmpirical].
type List struct {
	Sizes []float64 // in the order of the file: at least one, each in [1e-300, 1e300]
	// the same numbers as fractions; nil if all of Sizes are exact or there are more than 10^6
	Exact   []*big.Rat
	Skipped int // jobs of the log whose size is 0 or unknown
}

const (
	mostSizes = 10_000_000 // sizes in a file, including skipped ones
	mostExact = 1_000_000  // sizes kept as fractions, of about 100 bytes each
)

// ReadList reads sizes, one per line. It ignores blank lines and lines that start with ";", and
// unpacks gzip files. The name is used in errors. ReadList needs memory for one line and for the
// sizes, 8 bytes each, of which there are at most 10^7.
//
// The error is a [num.InputError] with the line that has no size, has more than 65535 bytes, or
// exceeds the maximum number of sizes; without a line if there are no sizes. It can also be an
// error from r or from unpacking. If a compressed file ends early, the error wraps
// [io.ErrUnexpectedEOF].
func ReadList(r io.Reader, name string) (*List, error) {
	text := input.NewReader(r, name)
	var list growingList
	for {
		line, err := text.Next()
		if err == io.EOF {
			return list.finish(input.InFile(name, input.Errorf("", "a file without sizes", "one size per line")))
		}
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == ';' {
			continue
		}
		v, err := parseSize(line, len(list.Sizes) == 0)
		if err == nil {
			err = list.add(v, string(line), "")
		}
		if err != nil {
			return nil, text.At(err)
		}
	}
}

// parseSize returns the number in a line; first is set for the first number of the file.
func parseSize(line []byte, first bool) (float64, error) {
	const want = "a number in [1e-300, 1e300]"
	v, err := strconv.ParseFloat(string(line), 64)
	if err == nil && checkPositive("", v) == nil && !bytes.ContainsRune(line, '_') {
		return v, nil
	}
	fields, isNames := len(bytes.Fields(line)), first && isLetter(line[0])
	if at := bytes.IndexAny(line, ",;"); at > 0 { // the line is a table row
		more := "decimals are written with a point"
		if isNames {
			more = "tail -n +2 leaves out the line of names"
		}
		return 0, input.Errorf("size", input.Shown(line),
			"%s, one per line; cut -d'%c' -f2 takes the second column of a table, and %s",
			want, line[at], more)
	}
	switch {
	case fields == swf.Columns:
		return 0, input.Errorf("size", input.Shown(line), "%s; a log in Standard Workload Format is read as swf:PATH",
			want)
	case fields > 1:
		return 0, input.Errorf("size", input.Shown(line), "%s, one per line", want)
	case isNames:
		return 0, input.Errorf("size", input.Shown(line), "%s; delete the line of names, or begin it with ;", want)
	}
	return 0, input.Errorf("size", input.Shown(line), "%s", want)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// ReadRunTimes reads a log in Standard Workload Format as [swf.Reader] does, with its errors. The
// size of a job is its run time in seconds. Jobs whose run time is 0 or unknown are skipped. In all
// other respects it works like [ReadList].
func ReadRunTimes(r io.Reader, name string) (*List, error) {
	return readLog(swfLog{swf.NewReader(r, name)}, name, "a log in Standard Workload Format", false)
}

// ReadWork reads a log as [ReadRunTimes] does, but the size of a job is its work in
// processor-seconds, the run time times the number of processors. Jobs with either of the two 0 or
// unknown are skipped.
func ReadWork(r io.Reader, name string) (*List, error) {
	return readLog(swfLog{swf.NewReader(r, name)}, name, "a log in Standard Workload Format", true)
}

// A LogReader reads a log job by job, as joblog.Plain does.
type LogReader interface {
	Read() (swf.Job, error) // the next job, or io.EOF after the last one
	Line() int              // number of the last line read
	RunTime() string        // run time of the last job, with all digits of the log
}

// A swfLog reads a log in Standard Workload Format.
type swfLog struct{ *swf.Reader }

func (l swfLog) RunTime() string { return l.Field(4) }

// ReadLog reads a log in any format, as [ReadRunTimes] or, if work is set, [ReadWork] reads a log in
// Standard Workload Format. The name is used in errors.
func ReadLog(log LogReader, name string, work bool) (*List, error) {
	return readLog(log, name, "a log", work)
}

// readLog reads the run times of a log, multiplied by the processors if work is set. The kind of log
// is used in errors.
func readLog(log LogReader, name, kind string, work bool) (*List, error) {
	without := "run time"
	if work {
		without = "run time and processors"
	}
	var list growingList
	for {
		job, err := log.Read()
		if err == io.EOF {
			none := input.Errorf("", "a log with none", "%s with jobs of known %s",
				kind, without)
			return list.finish(input.InFile(name, none))
		}
		if err != nil {
			return nil, err
		}
		times := int64(1)
		if work {
			times = job.Processors
		}
		if job.RunTime > 0 && times > 0 {
			err = list.add(job.RunTime*float64(times), log.RunTime(), strconv.FormatInt(times, 10))
		} else {
			err = list.skip()
		}
		var bad *input.Error
		if errors.As(err, &bad) {
			bad.File, bad.Line = name, log.Line()
			return nil, bad
		}
	}
}

// A growingList is a list to which sizes are added.
type growingList struct{ List }

func (l *growingList) skip() error {
	if len(l.Sizes)+l.Skipped == mostSizes {
		return input.Errorf("", "one more", "the end of the file after %d sizes", mostSizes)
	}
	l.Skipped++
	return nil
}

// add adds the size v, rounded from a number in a text, times a factor unless the text of the
// factor is empty.
func (l *growingList) add(v float64, text, factor string) error {
	if err := l.skip(); err != nil {
		return err
	}
	l.Skipped--
	if len(l.Sizes) == mostExact {
		l.Exact = nil
	}
	exact := l.exact(v, text, factor)
	if exact != nil {
		v, _ = exact.Float64()
	}
	if err := checkPositive("size", v); err != nil {
		return err
	}
	if exact != nil {
		double := new(big.Rat).SetFloat64(v)
		if l.Exact == nil && exact.Cmp(double) != 0 {
			for _, w := range l.Sizes {
				l.Exact = append(l.Exact, new(big.Rat).SetFloat64(w))
			}
		}
		if l.Exact != nil || exact.Cmp(double) != 0 {
			l.Exact = append(l.Exact, exact)
		}
	}
	l.Sizes = append(l.Sizes, v)
	return nil
}

// exact returns the product as a fraction, or nil if it is not needed: because no fractions are
// kept, or because none are needed so far and v is exact.
func (l *growingList) exact(v float64, text, factor string) *big.Rat {
	if len(l.Sizes) >= mostExact {
		return nil
	}
	if l.Exact == nil && v == math.Trunc(v) && v < 1<<53 && !strings.ContainsAny(text, ".eExXpP") {
		return nil
	}
	x, err := num.ParseRat(text)
	if err != nil { // another notation for a double, such as 0x1p-3
		return new(big.Rat).SetFloat64(v)
	}
	if factor != "" {
		x.Mul(x, num.Rat(factor))
	}
	return x
}

// finish returns the list, or an error if no size was added.
func (l *growingList) finish(none error) (*List, error) {
	if len(l.Sizes) == 0 {
		return nil, none
	}
	return &l.List, nil
}
