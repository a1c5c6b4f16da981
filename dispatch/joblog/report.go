package joblog

import (
	"fmt"
	"strings"
)

// A Reason is a reason why a record is not a job, or an oddity of a job.
type Reason int

// The reasons to drop a record, and after them the remarks about jobs that are kept.
const (
	StepOfJob Reason = iota + 1
	NeverStarted
	NoEnd
	EndBeforeStart
	SkippedTime
	RepeatedTime
	OtherRecord
	RepeatedHeading
	ClockChange
	OtherElapsed
	StartBeforeSubmit
	SubmitBackwards
	FarSubmit
	LocalTime
	RequestedCPUs
	NodesAsCPUs
	ArrayTask
	reasonCount
)

// String returns the reason as in a report.
func (r Reason) String() string {
	return [...]string{
		"",
		"steps of jobs are omitted",
		"jobs that never started are omitted",
		"jobs without an end are omitted",
		"jobs that end before they start are omitted",
		"jobs with a time that the clocks of the zone skip are omitted",
		"jobs with a time that the clocks of the zone show twice are omitted",
		"records other than the end of a job are omitted",
		"repeated headings are omitted",
		"jobs run an hour more or less than from start to end, as over a change of the clock; the elapsed time counts",
		"jobs have a run time that is not the time from start to end; the elapsed time counts",
		"jobs start before their submission; their waiting time is unknown",
		"jobs are submitted before the job above them; they count in the order of submission",
		"jobs are submitted after the year 9999; times count as seconds, not as milliseconds",
		"times without a zone are read as UTC",
		"processors are the requested ones, as no column has those used",
		"processors are the nodes, as no column has processors",
		"tasks of an array have its number; the column JobIDRaw has one for each",
	}[r]
}

// A Count is the number of records with a reason.
type Count struct {
	Reason    Reason // reason why they are dropped, or their oddity
	Records   int    // at least 1
	FirstLine int    // line of the first one
}

// A Column is a column of the log that is read.
type Column struct {
	Field string // name of the field, one of [Fields]
	Name  string // name of the column
}

// A Report describes the reading of a log: its format, its columns and the records left out.
type Report struct {
	Format string // such as "CSV"; empty before the first record
	// columns found by common names, unless the format has fixed names; of several for a field, the
	// first one whose value is known counts in each record
	Guesses []Column
	Counts  []Count // in the order of the reasons
}

// Lines returns the report as sentences, one per line. A log in Standard Workload Format has at
// most those about submissions that run backwards or are far in the future.
func (r Report) Lines() []string {
	var lines []string
	if len(r.Guesses) > 0 {
		var pairs []string
		for i, c := range r.Guesses {
			if i > 0 && c.Field == r.Guesses[i-1].Field {
				pairs[len(pairs)-1] += " or " + c.Name
				continue
			}
			pairs = append(pairs, c.Field+"="+c.Name)
		}
		lines = append(lines, fmt.Sprintf("%s; columns guessed: %s", r.Format, strings.Join(pairs, ",")))
	}
	for _, c := range r.Counts {
		noun := "records"
		if c.Records == 1 {
			noun = "record"
		}
		lines = append(lines, fmt.Sprintf("%s: %d %s, the first in line %d", c.Reason, c.Records, noun, c.FirstLine))
	}
	return lines
}
