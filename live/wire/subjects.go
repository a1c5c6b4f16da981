package wire

import (
	"strconv"
	"strings"
)

// The streams, object stores and key-value buckets.
const (
	InStream   = "PFQ_IN"
	PlanStream = "PFQ_PLAN"

	BlobStream = "PFQ_BLOB" // inputs and large results in pieces, named by their digests; see package store

	SnapshotStore = "PFQ_SNAP" // object store: the state of the book at a plan, as [Seal] writes it

	LeaderBucket   = "pfq_leader"   // which manager leads: it speeds up a take-over; what keeps it safe is PFQ_PLAN
	JobsBucket     = "pfq_jobs"     // [JobView] by name of the job; views are rebuilt from the plans
	WorkersBucket  = "pfq_workers"  // [WorkerView] by name of the worker
	BatchesBucket  = "pfq_batches"  // [BatchView] by name of the batch: accepted or refused
	ProfilesBucket = "pfq_profiles" // measured speeds by kind of task and worker
)

// The subjects of the streams, and those of messages that are not kept.
const (
	InSubjects    = "pfq.in.>"
	ScriptSubject = "pfq.in.script"
	PlanSubject   = "pfq.plan"
	BeatSubject   = "pfq.beat.*"
	BlobSubjects  = "pfq.blob.*.*"
)

// Submit is the subject of a batch. Batches, jobs and workers have names of one token, see [CheckName].
func Submit(batch string) string { return "pfq.in.submit." + batch }

// Done is the subject of the result of a task.
func Done(job string, task int) string { return "pfq.in.done." + job + "." + strconv.Itoa(task) }

// DoneTask returns the job and the task of a subject [Done].
func DoneTask(subject string) (job string, task int, ok bool) {
	parts := strings.Split(subject, ".")
	if len(parts) != 5 || parts[2] != "done" {
		return "", 0, false
	}
	task, err := strconv.Atoi(parts[4])
	return parts[3], task, err == nil && task >= 0
}

// DoneAttempt is the subject of the report of an attempt on a logical clock, where the script says which attempt is lost,
// not the race.
func DoneAttempt(job string, task, attempt int) string {
	return Done(job, task) + "." + strconv.Itoa(attempt)
}

// Failed is the subject of an attempt at a task that the worker gave up.
func Failed(job string, task, attempt int) string {
	return "pfq.in.fail." + job + "." + strconv.Itoa(task) + "." + strconv.Itoa(attempt)
}

// Cancel is the subject of the wish that a job ends. There is one for each job: it cannot be taken back.
func Cancel(job string) string { return "pfq.in.cancel." + job }

// Change is the subject of a wish for another priority or deadline; those about a job are numbered from 1.
func Change(job string, wish int) string { return "pfq.in.change." + job + "." + strconv.Itoa(wish) }

// Clear is the subject of the wish that a job which is done be forgotten. Its message stays for good: it keeps the name from being used again.
func Clear(job string) string { return "pfq.in.clear." + job }

// Drain is the subject of the wish that a worker ends its task and takes no more; such wishes are numbered from 1.
func Drain(worker string, wish int) string {
	return "pfq.in.drain." + worker + "." + strconv.Itoa(wish)
}

// Blob is the subject of a piece of the content with a digest. Pieces are numbered from 0.
func Blob(digest string, piece int) string { return "pfq.blob." + digest + "." + strconv.Itoa(piece) }

// BlobSize is the subject of the number of bytes of a content. It is written last, so that where it is the content is whole.
func BlobSize(digest string) string { return "pfq.blob." + digest + ".size" }

// OrderTo is the subject of orders to a worker. They are not kept: who is not there does not hear them.
func OrderTo(worker string) string { return "pfq.order." + worker }

// BeatOf is the subject of the heartbeats of a worker, which are not kept either.
func BeatOf(worker string) string { return "pfq.beat." + worker }

// News is the subject on which each [JobView] of a job is told as it is written; it is not kept.
func News(job string) string { return "pfq.news." + job }

// ReportTo is the subject of the report of what the order asks for: [Done], or [DoneAttempt] on a logical clock.
func (o *Order) ReportTo() string {
	if o.Logical {
		return DoneAttempt(o.Job, o.Task, o.Attempt)
	}
	return Done(o.Job, o.Task)
}

// DoneOf matches the subjects [Done] and [DoneAttempt] of all tasks of a job.
func DoneOf(job string) string { return "pfq.in.done." + job + ".>" }

// FailedOf matches the subjects [Failed] of all attempts at tasks of a job.
func FailedOf(job string) string { return "pfq.in.fail." + job + ".>" }

// ChangesOf matches the subjects [Change] of a job.
func ChangesOf(job string) string { return "pfq.in.change." + job + ".*" }

// DrainsOf matches the subjects [Drain] of a worker.
func DrainsOf(worker string) string { return "pfq.in.drain." + worker + ".*" }
