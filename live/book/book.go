package book

import (
	"cmp"
	"io"
	"math"
	"slices"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
	"productform/internal/ranges"
	"productform/live/wire"
)

// Settings are what a manager brings to the book. They count where the book decides; what was decided is in the plans.
type Settings struct {
	Leader string         // name of the manager, in its plans
	Rules  dispatch.Rules // what it follows
	Rigid  rigid.Policy   // or, if it is not zero, the policy under which the tasks of a job begin together; Rules are zero then
	Epoch  float64        // Unix time of 0 on the clock, if the first plan is still to be made; not used on a logical clock
	Random io.Reader      // that terms, and keys if there are none, are drawn from

	// Logical says that the clock is logical: a script is wanted, and wishes are refused.
	Logical bool

	Replan     float64 // seconds between plans while jobs are present, even if nothing happens; 0 for never
	Losses     int     // of workers, after which the task that they had in hand is given up; 0 means 10
	Keep       float64 // seconds after which a job that is done is cleared; 0 means 7 days
	MaxJobs    int     // that are not cleared; 0 means 100,000
	MaxTasks   int     // of those jobs; 0 means 10,000,000
	MaxWorkers int     // at most [wire.MaxWorkers]; 0 means that
}

const (
	defaultAttempts = 3
	defaultLosses   = 10
	defaultKeep     = 7 * 24 * 3600
	defaultJobs     = 100_000
	defaultTasks    = 10_000_000
)

// mostFormer is the number of processes of a worker that are remembered, so that a late beat of one does not count, and
// mostRefused that of batches. After mostStrays beats of a former process and none of the one after it, that one is gone.
const (
	mostFormer  = 4
	mostStrays  = 4
	mostRefused = 1000
)

func (s *Settings) check() error {
	switch {
	case s.Random == nil:
		return input.Errorf("Random", "", "a source of random bytes")
	case !ranges.IsTime(s.Epoch):
		return ranges.Moment.Check("Epoch", s.Epoch)
	case !ranges.IsTime(s.Replan):
		return ranges.Span.ZeroFor("never").Check("Replan", s.Replan)
	case s.Losses < 0:
		return input.Errorf("Losses", s.Losses, "an integer >= 1, or 0 for 10")
	case !ranges.IsTime(s.Keep):
		return ranges.Span.ZeroFor("7 days").Check("Keep", s.Keep)
	case s.MaxJobs < 0:
		return input.Errorf("MaxJobs", s.MaxJobs, "an integer >= 1, or 0 for 100000")
	case s.MaxTasks < 0:
		return input.Errorf("MaxTasks", s.MaxTasks, "an integer >= 1, or 0 for 10000000")
	case s.MaxWorkers < 0 || s.MaxWorkers > wire.MaxWorkers:
		return input.Errorf("MaxWorkers", s.MaxWorkers, "an integer in [1, %d], or 0 for that", wire.MaxWorkers)
	}
	return wire.CheckName("Leader", s.Leader)
}

func (s *Settings) rules() rules { return rules{s.Rules, s.Rigid} }

// A Book is the state of a cluster. It is for one goroutine at a time.
type Book struct {
	settings Settings
	maker    maker // nil before the first plan

	number, upto uint64
	at, epoch    float64
	decided      float64 // time of the last plan that the maker decided
	rules        rules
	script       *wire.Script    // nil on the wall clock
	outages      []dispatch.Edge // of the script: begins and ends, in the order in which they happen
	edges        int             // those that are behind
	leader       string          // of the last plan

	jobs     []*job         // by number, nil where there is none
	numbers  map[string]int // of jobs, by name
	batches  map[string]*batch
	refused  []string // batches, in the order in which they were refused
	cleared  map[string]bool
	done     []int // jobs that are done and not cleared, in the order in which they ended
	tasks    int   // of the jobs that are not cleared
	workers  []worker
	places   map[string]int // of workers, by name
	attempts map[int]*attempt
	removals []wire.Removal
	counts   wire.Counts

	key                   []byte // see wire.Token
	keyFrom               uint64
	terms                 []term // the last ones, in order
	repaired, repairedEnd uint64 // number of the last lost plan that Repair knows of, and the end of PFQ_IN then

	volatile
}

// volatile is what no plan holds, and a snapshot neither.
type volatile struct {
	term    string  // term of the plans that this book makes, empty before the first
	queue   []Input // heard and not yet taken
	beats   map[string]*wire.Beat
	strays  map[string]int // beats of former processes since the last beat of a worker
	heard   uint64         // sequence of the last message that was taken in
	waiting []scripted     // batches on a logical clock
	reports map[int]*Input // reports and failures on a logical clock, by attempt
	lowest  int            // below which no number of a job is free
	touched Changes
	shown   map[string]*shown // by kind of tasks: what the last view of its profile had
}

// A shown is what a view had of the speeds that were learnt.
type shown struct {
	speeds []float64
	more   int // tasks that have finished since
}

// A job and its tasks.
type job struct {
	wire.NumberedJob
	State    wire.JobState
	Left     int              // tasks that have not ended
	Failed   int              // tasks given up
	Lost     int              // attempts that were lost with their workers
	Hand     int              // workers that have a task in hand
	Ended    bits             // tasks
	GivenUp  map[int]bool     `json:",omitempty"` // tasks
	Failures map[int]*failure `json:",omitempty"` // by task, of those that have not ended
	Start    *float64
	Finish   *float64

	Repeats map[int]any `json:",omitempty"` // by task: of earlier versions, see [OutdatedError]

	Adopted map[int]wire.Adoption `json:",omitempty"` // by task, of those that have not ended
	Missing int                   `json:",omitempty"` // results that the server has lost

	taken map[int][]int // by task, of those that have not ended: attempts taken from their workers
}

// isDone reports whether nothing more happens to the job.
func (j *job) isDone() bool {
	return j.State != wire.JobPresent
}

// A failure is how often a task failed, and was lost with its worker.
type failure struct {
	Refused, Lost int
	Worker        int  // one that it failed on
	Several       bool // it failed on others, too
}

// A batch that was accepted, or refused.
type batch struct {
	Jobs    []string
	Left    int // jobs that are not cleared
	Refused string

	Sequence uint64 `json:",omitempty"` // of the message that was refused
}

// A worker, whose number is its place.
type worker struct {
	Name    string
	Process string
	Former  []string `json:",omitempty"` // processes before
	Speed   float64
	Up      bool   // tasks are planned for it
	Left    bool   // drained: if it still has a task in hand it is draining, else gone
	Drained string `json:",omitempty"` // the process that was drained last, which takes no more tasks
	Since   float64
	Tasks   int // finished
	Lost    int // attempts that were lost with the worker, without the preempted ones
}

// An attempt at a task that has not ended.
type attempt struct {
	Job, Task, Worker int
	Name              string // of the worker
	Token             string
	Since, Speed      float64
	Taken             bool // from the worker
}

// New returns an empty book. The error is a [num.InputError].
func New(s Settings) (*Book, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if _, err := newMaker(s.rules(), nil); err != nil {
		return nil, err
	}
	s.Losses, s.Keep = cmp.Or(s.Losses, defaultLosses), cmp.Or(s.Keep, defaultKeep)
	s.MaxJobs, s.MaxTasks, s.MaxWorkers = cmp.Or(s.MaxJobs, defaultJobs), cmp.Or(s.MaxTasks, defaultTasks), cmp.Or(s.MaxWorkers, wire.MaxWorkers)
	return &Book{
		settings: s, numbers: map[string]int{}, batches: map[string]*batch{}, cleared: map[string]bool{},
		places: map[string]int{}, attempts: map[int]*attempt{},
		volatile: volatile{
			beats: map[string]*wire.Beat{}, strays: map[string]int{}, reports: map[int]*Input{}, touched: newChanges(),
			shown: map[string]*shown{},
		},
	}, nil
}

// Number returns the number of the last plan, 0 if there is none.
func (b *Book) Number() uint64 { return b.number }

// Upto returns the sequence in PFQ_IN up to which the plans tell all: a manager that begins reads on from there.
func (b *Book) Upto() uint64 { return b.upto }

// At returns the time of the last plan.
func (b *Book) At() float64 { return b.at }

// Epoch returns the Unix time in seconds from which times count, as the first plan says; 0 before it, and on a logical clock.
func (b *Book) Epoch() float64 { return b.epoch }

// Next returns the time at which [Book.Take] has something to decide although nothing is heard, +Inf if there is none: jobs
// to clear, or a plan to make anew.
func (b *Book) Next() float64 {
	next := math.Inf(1)
	if b.isLogical() {
		return next
	}
	if len(b.done) > 0 {
		next = *b.jobs[b.done[0]].Finish + b.settings.Keep
	}
	if b.settings.Replan > 0 && b.present() {
		next = min(next, dispatch.NextReplan(b.decided, b.settings.Replan))
	}
	return next
}

func (b *Book) isLogical() bool { return b.script != nil || b.settings.Logical }

// Removals returns what is to be taken out of PFQ_IN. When that is done, [Book.Take] is told so.
func (b *Book) Removals() []wire.Removal { return slices.Clone(b.removals) }

// Rewind says that PFQ_IN ends at a sequence before [Book.Upto]: the server has lost what came after it, and the next messages
// have the sequences of those. What the lost ones said is in the plans; none of them is to be removed any more.
func (b *Book) Rewind(last uint64) {
	if last >= b.upto {
		return
	}
	b.upto, b.heard = last, last
	for _, r := range b.removals {
		if r.Sequence > last {
			b.queue = append(b.queue, Input{Removed: &r})
		}
	}
}

// Report returns what came of the jobs so far.
func (b *Book) Report() *dispatch.Result {
	if b.maker == nil {
		return &dispatch.Result{}
	}
	return b.maker.Result()
}

// Measures returns what came of the jobs so far by the measures of package rigid, nil under other policies.
func (b *Book) Measures() *rigid.Result {
	if m, ok := b.maker.(*rigid.Maker); ok {
		return m.Measures(0)
	}
	return nil
}
