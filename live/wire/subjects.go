package wire

import (
	"strconv"
	"strings"
)

// The streams, object stores and key-value buckets.
const (
	InStream   = "PFQ_IN"
	PlanStream = "PFQ_PLAN"

	BlobStream = "PFQ_BLOB" // inputs and large results in pieces, named by digest

	SnapshotStore = "PFQ_SNAP" // object store: the state of the book after a plan, written by [Seal]

	LeaderBucket   = "pfq_leader"   // which manager leads; only speeds up a takeover, since PFQ_PLAN keeps it safe
	JobsBucket     = "pfq_jobs"     // [JobView] by job name; views are rebuilt from the plans
	WorkersBucket  = "pfq_workers"  // [WorkerView] by worker name
	BatchesBucket  = "pfq_batches"  // [BatchView] by batch name: accepted or refused
	ProfilesBucket = "pfq_profiles" // measured speeds by kind of task and worker
)

// The subjects of the streams, and the subjects of messages that are not stored.
const (
	InSubjects    = "pfq.in.>"
	ScriptSubject = "pfq.in.script"
	PlanSubject   = "pfq.plan"
	BeatSubject   = "pfq.beat.*"
	BlobSubjects  = "pfq.blob.*.*"
)

// Submit returns the subject of a batch. Names of batches, jobs and workers are one token of a
// subject, see [CheckName].
func Submit(batch string) string { return "pfq.in.submit." + batch }

// Done returns the subject of the result of a task.
func Done(job string, task int) string { return "pfq.in.done." + job + "." + strconv.Itoa(task) }

// DoneTask returns the job and the task of a subject made by [Done].
func DoneTask(subject string) (job string, task int, ok bool) {
	parts := strings.Split(subject, ".")
	if len(parts) != 5 || parts[2] != "done" {
		return "", 0, false
	}
	task, err := strconv.Atoi(parts[4])
	return parts[3], task, err == nil && task >= 0
}

// DoneAttempt returns the subject of the report of an attempt on a logical clock. There the script,
// not a race between reports, decides which attempts are lost.
func DoneAttempt(job string, task, attempt int) string {
	return Done(job, task) + "." + strconv.Itoa(attempt)
}

// Failed returns the subject of the report of a failed attempt.
func Failed(job string, task, attempt int) string {
	return "pfq.in.fail." + job + "." + strconv.Itoa(task) + "." + strconv.Itoa(attempt)
}

// Cancel returns the subject of the request to cancel a job. There is one per job: it cannot be
// undone.
func Cancel(job string) string { return "pfq.in.cancel." + job }

// Change returns the subject of a request to change the priority or deadline of a job. The requests
// for a job are numbered from 1.
func Change(job string, wish int) string { return "pfq.in.change." + job + "." + strconv.Itoa(wish) }

// Clear returns the subject of the request to forget a finished job. Its message is never deleted,
// so the name cannot be used again.
func Clear(job string) string { return "pfq.in.clear." + job }

// Drain returns the subject of the request that a worker finishes its task and takes no more. The
// requests for a worker are numbered from 1.
func Drain(worker string, wish int) string {
	return "pfq.in.drain." + worker + "." + strconv.Itoa(wish)
}

// Blob returns the subject of a piece of the content with the given digest. Pieces are numbered
// from 0.
func Blob(digest string, piece int) string { return "pfq.blob." + digest + "." + strconv.Itoa(piece) }

// BlobSize returns the subject of the size of some content in bytes. It is written last: where it
// exists, the content is complete.
func BlobSize(digest string) string { return "pfq.blob." + digest + ".size" }

// OrderTo returns the subject of orders to a worker. Orders are not stored: a worker that is not
// connected misses them.
func OrderTo(worker string) string { return "pfq.order." + worker }

// BeatOf returns the subject of the heartbeats of a worker, which are not stored.
func BeatOf(worker string) string { return "pfq.beat." + worker }

// News returns the subject on which each [JobView] of a job is published when it is written. These
// messages are not stored.
func News(job string) string { return "pfq.news." + job }

// ReportTo returns the subject of the report on an order: [Done], or [DoneAttempt] on a logical
// clock.
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
