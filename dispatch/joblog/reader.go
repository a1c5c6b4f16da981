package joblog

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"productform/dispatch/swf"
	"productform/internal/input"
)

// A Job is a job of a log: the fields of the Standard Workload Format, and others that logs have.
// Users, groups, accounts, queues, partitions and executables are numbers; [Reader.Name] returns
// their names.
type Job struct {
	swf.Job
	Account int64 // swf.Unknown or >= 0
}

// A Plain reads a log like its Reader, but only the fields of the Standard Workload Format.
type Plain struct{ *Reader }

// Read returns the next job, as [Reader.Read] does.
func (p Plain) Read() (swf.Job, error) {
	job, err := p.Reader.Read()
	return job.Job, err
}

// mostComments is the maximum total size of the comments of a log in Standard Workload Format, in
// bytes.
const mostComments = 1 << 20

// lastSecond is the Unix time of the last second of the year 9999.
const lastSecond = 253402300799

// A Reader reads a log job by job. It keeps one line, the comments and the names of users, groups
// and so on in memory.
type Reader struct {
	name    string
	source  io.Reader
	dialect Dialect

	swf      *swf.Reader // nil if the log is in another format
	text     *input.Reader
	split    *splitter // nil before the first line
	record   record
	comments []string
	names    [fieldCount]numbering
	jobs     int64
	last     Job
	latest   float64 // last known submission, 0 before
	counts   [reasonCount]Count
	err      error // error that ended the log
}

// NewReader returns a reader of the log in r. Errors begin with "name:LINE: ", where lines are
// counted in the decompressed text.
func NewReader(r io.Reader, name string, dialect Dialect) *Reader {
	return &Reader{name: name, source: r, dialect: dialect, record: record{clock: newWallClock(dialect.Zone)}}
}

// Read returns the next job, or [io.EOF] after the last one. Any other error concerns a line that
// is not a record, a log in none of the formats, columns that are missing, or a failure to read or
// decompress; the errors of a log in Standard Workload Format are those of [swf.Reader.Read]. An
// error about a cell names the line, the column, the value and the valid form. After an error, Read
// keeps returning it.
func (r *Reader) Read() (Job, error) {
	j, err := r.read()
	if err == nil && j.Submit != swf.Unknown {
		if j.Submit > lastSecond && j.Submit <= 1000*lastSecond { // a date in milliseconds
			r.note(FarSubmit)
		}
		if j.Submit < r.latest {
			r.note(SubmitBackwards)
		}
		r.latest = j.Submit
	}
	return j, err
}

func (r *Reader) read() (Job, error) {
	if r.err == nil && r.swf == nil && r.text == nil {
		r.err = r.open()
	}
	if r.swf != nil && r.err == nil {
		r.last.Account = swf.Unknown
		r.last.Job, r.err = r.swf.Read()
		if r.err != nil {
			return Job{}, r.err
		}
		return r.last, nil
	}
	for r.err == nil {
		line, err := r.text.Next()
		if err == io.EOF && r.split != nil && r.split.heading == nil && r.jobs > 0 {
			if bad := r.split.checkColumns(); bad != nil {
				err = input.InFile(r.name, bad)
			}
		}
		if err != nil {
			r.err = err
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		isJob, err := r.take(line)
		if err != nil {
			r.err = r.text.At(err)
		} else if isJob {
			return r.last, nil
		}
	}
	return Job{}, r.err
}

// CheckColumns returns an error if the log has jobs, as far as it is read, but no column of
// submissions or none of processors, so that no job can have them.
func (r *Reader) CheckColumns() error {
	if r.split == nil || r.jobs == 0 {
		return nil
	}
	if err := r.split.checkUsable(); err != nil {
		return input.InFile(r.name, err)
	}
	return nil
}

// All iterates over the remaining jobs. An error other than the end of the log is yielded last,
// with a zero job.
func (r *Reader) All() iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		for {
			job, err := r.Read()
			if err == io.EOF || !yield(job, err) || err != nil {
				return
			}
		}
	}
}

// open checks the names of columns, and finds out whether the log is in Standard Workload Format:
// whether its first line that is not a comment has numbers only, or there are comments only, at
// least mostComments bytes if there is more.
func (r *Reader) open() error {
	for name := range r.dialect.Columns {
		if !slices.Contains(Fields(), name) {
			return input.Errorf("columns", name, "fields among %s", strings.Join(Fields(), ", "))
		}
	}
	text, err := input.Unpack(r.source)
	if err != nil {
		return input.AtLine(r.name, 1, err)
	}
	var first []byte
	for _, size := range []int{input.Longest + 1, mostComments + input.Longest + 1} {
		text = bufio.NewReaderSize(text, size) // the same one for the first size
		start, err := text.Peek(size)
		if err != nil && err != io.EOF && len(start) == 0 {
			return input.AtLine(r.name, 1, err)
		}
		if first = firstRecord(start); len(first) > 0 || len(start) < size {
			break
		}
	}
	isOther := len(first) > 0 && !isSWF(first)
	if !isOther && len(r.dialect.Columns) > 0 {
		return input.InFile(r.name, input.Errorf("--columns", "names of columns",
			"none for a log in Standard Workload Format, whose fields have fixed places"))
	}
	if !isOther && r.dialect.Zone != nil {
		return input.InFile(r.name, input.Errorf("--zone", r.dialect.Zone,
			"none for a log in Standard Workload Format, whose times are seconds"))
	}
	if !isOther {
		r.swf = swf.NewReader(text, r.name)
		return nil
	}
	r.text = input.NewReader(text, r.name)
	return nil
}

// firstRecord returns the first line of a text that is neither a comment nor blank.
func firstRecord(text []byte) []byte {
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != ';' {
			return line
		}
	}
	return nil
}

// take reads a line that is not empty. It reports whether the line is a job, which is then the
// last.
func (r *Reader) take(line []byte) (isJob bool, err error) {
	if r.split == nil {
		if bytes.TrimLeft(line, " \t")[0] == ';' {
			r.comments = append(r.comments, string(line))
			return false, nil
		}
	}
	line = bytes.TrimRight(line, " ")
	if r.split == nil {
		if err := r.begin(line); err != nil || r.split.heading != nil {
			return false, err
		}
	}
	r.record.clear()
	drop, err := r.split.split(r.split, line, &r.record)
	if err != nil {
		return false, err
	}
	if drop == 0 {
		j, err := r.record.job(&r.names, r.jobs+1)
		if err != nil {
			return false, err
		}
		if j.local && r.dialect.Zone == nil {
			r.note(LocalTime)
		}
		for _, n := range j.notes {
			r.note(n)
		}
		if drop = j.drop; drop == 0 {
			r.last = j.Job
			r.jobs++
			return true, nil
		}
	}
	r.note(drop)
	return false, nil
}

// begin recognizes the format by the first line that is not a comment.
func (r *Reader) begin(line []byte) error {
	for _, f := range formats() {
		if !f.starts(line) {
			continue
		}
		s := &splitter{format: f, bindings: newBindings(r.dialect.Columns)}
		if f.heading != nil {
			if err := f.heading(s, line); err != nil {
				return err
			}
		}
		r.split = s
		return nil
	}
	return unknownFormat(line)
}

func (r *Reader) note(reason Reason) {
	if reason == 0 {
		return
	}
	c := &r.counts[reason]
	if c.Records++; c.Records == 1 {
		c.Reason, c.FirstLine = reason, r.Line()
	}
}

// seenNames returns the names of the columns that are read.
func (s *splitter) seenNames() (names []string) {
	for _, columns := range s.seen {
		for _, c := range columns {
			names = append(names, c.name)
		}
	}
	return names
}

// Report returns how the log was read so far.
func (r *Reader) Report() Report {
	var report Report
	switch {
	case r.swf != nil:
		report.Format = "SWF"
	case r.split != nil:
		report.Format, report.Guesses = r.split.format.name, r.guesses()
	}
	for _, c := range r.counts {
		if c.Records > 0 {
			report.Counts = append(report.Counts, c)
		}
	}
	return report
}

// guesses returns the columns found by common names.
func (r *Reader) guesses() (guesses []Column) {
	for f, seen := range r.split.seen {
		name := fields[f].name
		if _, isGiven := r.dialect.Columns[name]; isGiven || r.split.isFixed {
			continue
		}
		for _, c := range seen {
			guesses = append(guesses, Column{name, c.name})
		}
	}
	return guesses
}

// Line returns the number of the last line read, from 1.
func (r *Reader) Line() int {
	switch {
	case r.swf != nil:
		return r.swf.Line()
	case r.text != nil:
		return r.text.Line()
	}
	return 0
}

// RunTime returns the run time of the last job in decimals, with all digits that the log has.
func (r *Reader) RunTime() string {
	if r.swf != nil {
		return r.swf.Field(4)
	}
	return strconv.FormatFloat(r.last.RunTime, 'f', -1, 64)
}

// Header returns the comments read so far, without line ends: lines that start with ";", in formats
// other than the Standard Workload Format only those before the first record.
func (r *Reader) Header() []string {
	if r.swf != nil {
		return r.swf.Header()
	}
	return slices.Clone(r.comments)
}

// Name returns the name of a number that a job has in a field: user, group, account, executable,
// queue or partition. Numbers without a name, as in the Standard Workload Format, have their
// digits; [swf.Unknown] has no name, "".
func (r *Reader) Name(fieldName string, number int64) string {
	for f, row := range fields {
		if row.name != fieldName {
			continue
		}
		if name, ok := r.names[f].names[number]; ok {
			return name
		}
	}
	if number == swf.Unknown {
		return ""
	}
	return strconv.FormatInt(number, 10)
}
