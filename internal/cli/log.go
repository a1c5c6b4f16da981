package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for machines without time zones

	"github.com/spf13/cobra"

	"productform/dispatch"
	"productform/dispatch/joblog"
	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/traces"
)

const mostJobs = 10_000_000 // jobs in a log, of 152 bytes each

// Open opens the file, or the log embedded in pfq; "-" is the standard input.
func Open(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	file, err := os.Open(name)
	switch {
	case err == nil:
		return file, nil
	case errors.Is(err, fs.ErrNotExist) && slices.Contains(traces.Names(), name):
		return traces.Open(name)
	}
	err = input.InFile(name, err)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; the built-in logs are: %s", err, strings.Join(traces.Names(), ", "))
	}
	return nil, err
}

// AddColumns adds --columns, which names the columns of a log, and --zone, the zone of its dates.
func AddColumns(cmd *cobra.Command, target *joblog.Dialect) {
	Flag[map[string]string]{Name: "columns", Kind: "FIELD=NAME,...", Want: columnsWanted, Parse: parseColumns,
		Hint:  hintColumns,
		Usage: "columns of a log by field, such as submit=Submitted,cpus=Cores; others are guessed",
	}.Add(cmd, &target.Columns)
	Flag[*time.Location]{Name: "zone", Kind: "ZONE", Want: zoneWanted, Parse: parseZone,
		Usage: "zone of dates of a log that have none, such as Europe/Berlin (default UTC)"}.Add(cmd, &target.Zone)
}

const columnsWanted = "pairs FIELD=NAME such as submit=Submitted,run_time=Seconds,cpus=Cores, each field once"

// parseColumns reads FIELD=NAME,...
func parseColumns(text string) (map[string]string, bool) {
	columns := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		field, name, _ := strings.Cut(pair, "=")
		if _, isTwice := columns[field]; isTwice || name == "" || !slices.Contains(joblog.Fields(), field) {
			return nil, false
		}
		columns[field] = name
	}
	return columns, true
}

// hintColumns lists the fields of a log if one of the pairs names none of them.
func hintColumns(text string) string {
	for _, pair := range strings.Split(text, ",") {
		field, _, _ := strings.Cut(pair, "=")
		if !slices.Contains(joblog.Fields(), field) {
			return "FIELD is one of " + strings.Join(joblog.Fields(), ", ")
		}
	}
	return ""
}

const zoneWanted = "a name of the IANA time zone database such as Europe/Berlin, America/New_York or UTC"

// parseZone reads the name of a time zone.
func parseZone(text string) (*time.Location, bool) {
	zone, err := time.LoadLocation(text)
	return zone, err == nil && text != "" && text != "Local" // package time reads these as UTC and of this machine
}

// WriteReport writes how a program read a log.
func WriteReport(stderr io.Writer, program, log string, report joblog.Report) {
	for _, line := range report.Lines() {
		fmt.Fprintf(stderr, "%s: %s: %s\n", program, Source(log), line)
	}
}

// A siteLog is a log with what the Standard Workload Format lacks.
type siteLog struct {
	swf.Log
	accounts []int64 // by job
	name     func(field string, number int64) string
}

// A Drawn is a source of random jobs.
type Drawn struct {
	Workers int
	Users   []string // names of the users by their numbers
	Draw    func(count int, seed uint64) ([]swf.Job, error)
}

// log returns a log of drawn jobs.
func (d *Drawn) log(count int, seed uint64) (*siteLog, error) {
	if count > mostJobs {
		return nil, input.Errorf("--sample", count, "at most %d jobs drawn from classes", mostJobs)
	}
	jobs, err := d.Draw(count, seed)
	log := &siteLog{
		Log:      swf.Log{Header: []string{fmt.Sprintf("; MaxProcs: %d", d.Workers)}, Jobs: jobs},
		accounts: make([]int64, len(jobs)),
		name: func(field string, number int64) string {
			if field != "user" || number == swf.Unknown {
				return ""
			}
			return d.Users[number]
		},
	}
	for i := range log.accounts {
		log.accounts[i] = swf.Unknown
	}
	return log, err
}

// NameFields returns the fields of a log that name where a job belongs.
func NameFields() []string { return []string{"user", "group", "account", "partition", "queue"} }

// number returns the number of a job in one of the fields of [NameFields].
func (l *siteLog) number(field string, job int) int64 {
	switch j := &l.Jobs[job]; field {
	case "user":
		return j.User
	case "group":
		return j.Group
	case "queue":
		return j.Queue
	case "partition":
		return j.Partition
	}
	return l.accounts[job]
}

// columns returns the names of jobs in all [NameFields], "" for unknown ones. places holds the
// positions of the jobs in the log.
func (l *siteLog) columns(places []int) (all []dispatch.Column) {
	for _, field := range NameFields() {
		c := dispatch.Column{Name: field, Texts: make([]string, len(places))}
		known := map[int64]string{}
		for k, i := range places {
			number := l.number(field, i)
			text, ok := known[number]
			if !ok {
				text = l.name(field, number)
				known[number] = text
			}
			c.Texts[k] = text
		}
		all = append(all, c)
	}
	return all
}

// checkField returns an error unless some job has a value in the field.
func (l *siteLog) checkField(field, name string) error {
	var has []string
	for _, f := range NameFields() {
		i := 0
		for i < len(l.Jobs) && l.number(f, i) == swf.Unknown {
			i++
		}
		if i < len(l.Jobs) {
			has = append(has, f)
		}
	}
	switch {
	case slices.Contains(has, field):
		return nil
	case has == nil:
		return input.Errorf("--by", field, "a log with %s, and %s has none", OneOf(NameFields()), name)
	}
	return input.Errorf("--by", field, "a field that %s has: %s", name, strings.Join(has, ", "))
}

// read reads the log, unless the context is cancelled.
func read(ctx context.Context, name string, stdin io.Reader, dialect joblog.Dialect) (
	log *siteLog, report joblog.Report, err error,
) {
	from, err := Open(name, stdin)
	if err != nil {
		return nil, report, err
	}
	defer from.Close()
	reader := joblog.NewReader(from, Source(name), dialect)
	log = &siteLog{name: reader.Name}
	for {
		job, err := reader.Read()
		switch {
		case err == io.EOF:
			log.Header = reader.Header()
			return log, reader.Report(), reader.CheckColumns()
		case err != nil:
			return nil, report, err
		}
		if len(log.Jobs) == mostJobs {
			return nil, report, input.InFile(Source(name), input.Errorf("", "a longer one",
				"a log of at most %d jobs", mostJobs))
		}
		log.Jobs, log.accounts = append(log.Jobs, job.Job), append(log.accounts, job.Account)
		if len(log.Jobs)%1000 == 0 && ctx.Err() != nil {
			return nil, report, context.Cause(ctx)
		}
	}
}
