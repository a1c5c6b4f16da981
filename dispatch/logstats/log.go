package logstats

import (
	"context"
	"io"
	"slices"
	"strconv"
	"time"

	"productform/dispatch/joblog"
	"productform/dispatch/swf"
	"productform/internal/input"
)

// MostJobs is the maximum number of jobs in a [Log].
const MostJobs = 10_000_000

// leastDate is the smallest first submission, in seconds, that counts as a Unix time: 3 March 1973.
// Times from another origin stay below it for three years.
const leastDate = 1e8

// Kinds lists what jobs are grouped by: fields of a log, and the size, which is the number of
// processors.
func Kinds() []string { return append(slices.Clone(fields[:]), Size) }

// Size is the kind of the groups of jobs with similar numbers of processors.
const Size = "size"

var fields = [...]string{"partition", "queue", "account", "group", "user"}

// A Job holds the fields of a job of a log that are analysed.
type Job struct {
	Submit, Wait, RunTime float64 // seconds; Wait may be [swf.Unknown]
	Processors            int64   // at least 1

	// numbers of its partition, queue, account, group and user; each may be [swf.Unknown]
	Numbers [len(fields)]int64
}

// work returns the processor-seconds of a job.
func (j *Job) work() float64 { return float64(j.Processors) * j.RunTime }

// A Log holds the jobs of a log whose submission, run time and processors are known, in the order
// of the log.
type Log struct {
	Jobs     []Job
	Skipped  int   // number of other jobs
	MaxProcs int64 // value in the comments, as [swf.MaxProcs] reads them; 0 if unknown

	// Start is the Unix time of time 0: UnixStartTime of the comments, or 0 if the first submission
	// is at least 10^8 and so a Unix time itself; nil if unknown. Zone is TimeZoneString of the
	// comments; nil if it is unknown.
	Start *float64
	Zone  *time.Location

	reader *joblog.Reader // has the names; nil for a log without
}

// Read reads the jobs of a log, which has this name in errors. The error is one of the reader, an
// [*input.Error] for missing columns, more than [MostJobs] jobs, times above 1e50 or more than 10^9
// processors, or the cause of the context. Jobs take 72 bytes each, and more than twice that while
// reading.
func Read(ctx context.Context, r *joblog.Reader, name string) (*Log, error) {
	log := &Log{reader: r}
	for k := 0; ; k++ {
		if k%1000 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		j, err := r.Read()
		switch {
		case err == io.EOF:
			log.readComments(r.Header())
			return log, r.CheckColumns()
		case err != nil:
			return nil, err
		case k == MostJobs:
			return nil, input.InFile(name, input.Errorf("", "a longer one", "a log of at most %d jobs", MostJobs))
		case j.Submit == swf.Unknown || j.RunTime == swf.Unknown || j.Processors <= 0:
			log.Skipped++
			continue
		}
		if err := check(&j.Job); err != nil {
			return nil, input.AtLine(name, r.Line(), err)
		}
		log.Jobs = append(log.Jobs, Job{Submit: j.Submit, Wait: j.Wait, RunTime: j.RunTime, Processors: j.Processors,
			Numbers: [...]int64{j.Partition, j.Queue, j.Account, j.Group, j.User}})
	}
}

// check rejects numbers beyond those of other commands that read logs.
func check(j *swf.Job) error {
	for _, t := range [...]struct {
		name  string
		value float64
	}{{"submit time", j.Submit}, {"wait time", j.Wait}, {"run time", j.RunTime}} {
		if t.value != swf.Unknown && !input.IsTime(t.value) {
			return input.Span.Check(t.name, t.value)
		}
	}
	if j.Processors > input.MostTasks {
		return input.Errorf("processors", j.Processors, "an integer in [0, %d], or -1 if unknown", input.MostTasks)
	}
	return nil
}

// readComments sets what the comments of a log say.
func (l *Log) readComments(header []string) {
	l.MaxProcs, _ = swf.MaxProcs(header)
	if text, ok := swf.Label(header, "UnixStartTime"); ok {
		if start, err := strconv.ParseInt(text, 10, 64); err == nil && start >= 0 && start <= input.MaxInteger {
			seconds := float64(start)
			l.Start = &seconds
		}
	} else if len(l.Jobs) > 0 && l.Jobs[0].Submit >= leastDate {
		l.Start = new(float64)
	}
	if text, ok := swf.Label(header, "TimeZoneString"); ok && text != "" {
		l.Zone, _ = time.LoadLocation(text)
	}
}

// NameOf returns the name of a job's group of a kind, "" if it is unknown.
func (l *Log) NameOf(kind string, j *Job) string {
	f := slices.Index(fields[:], kind)
	switch {
	case f < 0:
		return band(j.Processors)
	case l.reader == nil && j.Numbers[f] != swf.Unknown:
		return strconv.FormatInt(j.Numbers[f], 10)
	case l.reader == nil:
		return ""
	}
	return l.reader.Name(kind, j.Numbers[f])
}
