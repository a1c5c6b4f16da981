package book

import (
	"cmp"
	"io"
	"math"
	"slices"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
	"productform/live/wire"
)

// Settings configure a book. They apply to new decisions; past decisions are in the plans.
type Settings struct {
	Leader string         // name of the manager in its plans
	Rules  dispatch.Rules // rules of new plans
	Rigid  rigid.Policy   // if nonzero, the policy that starts all tasks of a job together; Rules are then zero
	Epoch  float64        // Unix time of 0 on the clock, for the first plan; unused on a logical clock
	Random io.Reader      // source of terms, and of a key if there is none

	// Logical selects a logical clock: the book needs a script and refuses user requests.
	Logical bool

	// Replan is the number of seconds between plans while jobs are present, even if nothing
	// happens; 0 for never. On a logical clock the script determines it.
	Replan float64

	// Losses is the number of losses with its workers after which a task is given up; 0 means 10.
	// On a logical clock none is.
	Losses int

	Keep       float64 // seconds after which a finished job is cleared, except on a logical clock; 0 means 7 days
	MaxJobs    int     // limit on jobs that are not cleared; 0 means 100,000
	MaxTasks   int     // limit on the tasks of those jobs; 0 means 10,000,000
	MaxWorkers int     // at most [wire.MaxWorkers]; 0 means that limit
}

const (
	defaultAttempts = 3
	defaultLosses   = 10
	defaultKeep     = 7 * 24 * 3600
	defaultJobs     = 100_000
	defaultTasks    = 10_000_000
)

// maxFormer is the number of former processes that the book remembers per worker, so it ignores
// their late beats. maxRefused is the number of refused batches that it remembers. After
// maxStaleBeats beats of a former process and none of the current one, the current one counts as
// gone.
const (
	maxFormer     = 4
	maxStaleBeats = 4
	maxRefused    = 1000
)

func (s *Settings) check() error {
	switch {
	case s.Random == nil:
		return input.Errorf("Random", "", "a source of random bytes")
	case !input.IsTime(s.Epoch):
		return input.Moment.Check("Epoch", s.Epoch)
	case !input.IsTime(s.Replan):
		return input.Span.ZeroFor("never").Check("Replan", s.Replan)
	case s.Losses < 0:
		return input.Errorf("Losses", s.Losses, "an integer >= 1, or 0 for 10")
	case !input.IsTime(s.Keep):
		return input.Span.ZeroFor("7 days").Check("Keep", s.Keep)
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

// A Book is the state of a cluster. It must not be used by several goroutines at once.
type Book struct {
	settings Settings
	maker    maker // nil before the first plan

	number, upto uint64
	at, epoch    float64
	decided      float64 // time of the last plan with a decision of the maker
	rules        rules
	script       *wire.Script    // nil on the wall clock
	outages      []dispatch.Edge // starts and ends of the script's outages, in order
	edges        int             // number of outages already processed
	leader       string          // leader of the last plan

	jobs     []*job         // by number, nil for free numbers
	numbers  map[string]int // job numbers by name
	batches  map[string]*batch
	refused  []string // names of refused batches, oldest first
	cleared  map[string]bool
	done     []int // finished jobs that are not cleared, in order of their ends
	tasks    int   // total tasks of the jobs that are not cleared
	workers  []worker
	places   map[string]int // worker numbers by name
	attempts map[int]*attempt
	removals []wire.Removal
	counts   wire.Counts

	key                   []byte // see wire.Token
	keyFrom               uint64
	terms                 []term // the latest terms, in order
	repaired, repairedEnd uint64 // number of the last lost plan known to Repair, and the end of PFQ_IN then

	volatile
}

// volatile is the state that neither plans nor snapshots hold.
type volatile struct {
	term       string  // term of the plans that this book makes, empty before the first
	queue      []Input // inputs not processed yet
	beats      map[string]*wire.Beat
	staleBeats map[string]int // beats of former processes since the last beat of the current one
	heard      uint64         // sequence of the last message processed
	waiting    []scripted     // batches waiting on a logical clock
	reports    map[int]*Input // reports and failures waiting on a logical clock, by attempt
	lowest     int            // all job numbers below this are in use
	touched    Changes
	shown      map[string]*shown // by kind of task: the speeds in the last view of the profile
}

// A shown records the learned speeds that a view contains.
type shown struct {
	speeds []float64
	more   int // tasks finished since that view
}

// A job is a submitted job with the progress of its tasks.
type job struct {
	wire.NumberedJob
	State    wire.JobState
	Left     int              // unfinished tasks
	Failed   int              // tasks given up
	Lost     int              // attempts lost with their workers
	Hand     int              // workers with a task of the job
	Ended    bits             // tasks that have ended
	GivenUp  map[int]bool     `json:",omitempty"` // tasks given up
	Failures map[int]*failure `json:",omitempty"` // by task; unfinished tasks only
	Start    *float64
	Finish   *float64

	Repeats map[int]any `json:",omitempty"` // by task: entries of earlier versions, see [OutdatedError]

	Adopted map[int]wire.Adoption `json:",omitempty"` // by task; unfinished tasks only
	Missing int                   `json:",omitempty"` // results that the server has lost

	taken map[int][]int // by unfinished task: attempts taken from their workers
}

// isDone reports whether the job has finished or was cancelled.
func (j *job) isDone() bool {
	return j.State != wire.JobPresent
}

// A failure counts how often a task failed, and how often it was lost with its worker.
type failure struct {
	Refused, Lost int
	Worker        int  // a worker that it failed on
	Several       bool // whether it failed on more than one worker
}

// A batch is an accepted or refused batch of jobs.
type batch struct {
	Jobs    []string
	Left    int // jobs that are not cleared
	Refused string

	Sequence uint64 `json:",omitempty"` // sequence of the refused message
}

// A worker is the state of a worker. Its number is its index.
type worker struct {
	Name    string
	Process string
	Former  []string `json:",omitempty"` // former processes
	Speed   float64
	Up      bool   // whether tasks are planned for it
	Left    bool   // whether it was drained: draining while a task is assigned, then gone
	Drained string `json:",omitempty"` // the last drained process; it takes no more tasks
	Since   float64
	Tasks   int // finished tasks
	Lost    int // attempts lost with the worker, without preempted ones
}

// An attempt is an attempt at an unfinished task.
type attempt struct {
	Job, Task, Worker int
	Name              string // name of the worker
	Token             string
	Since, Speed      float64
	Taken             bool // whether it was taken from the worker
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
	s.MaxJobs, s.MaxTasks, s.MaxWorkers = cmp.Or(s.MaxJobs, defaultJobs), cmp.Or(s.MaxTasks, defaultTasks),
		cmp.Or(s.MaxWorkers, wire.MaxWorkers)
	return &Book{
		settings: s, numbers: map[string]int{}, batches: map[string]*batch{}, cleared: map[string]bool{},
		places: map[string]int{}, attempts: map[int]*attempt{},
		volatile: volatile{
			beats: map[string]*wire.Beat{}, staleBeats: map[string]int{}, reports: map[int]*Input{},
			touched: newChanges(),
			shown:   map[string]*shown{},
		},
	}, nil
}

// Number returns the number of the last plan, 0 if there is none.
func (b *Book) Number() uint64 { return b.number }

// Upto returns the sequence in PFQ_IN up to which the plans cover all messages. A new manager
// continues reading from there.
func (b *Book) Upto() uint64 { return b.upto }

// At returns the time of the last plan.
func (b *Book) At() float64 { return b.at }

// Epoch returns the Unix time in seconds at which times are 0, as set by the first plan. It returns
// 0 before that, and on a logical clock.
func (b *Book) Epoch() float64 { return b.epoch }

// Next returns the time at which [Book.Take] must decide something even without inputs: jobs to
// clear, or a new plan. It returns +Inf if there is no such time.
func (b *Book) Next() float64 {
	next := math.Inf(1)
	if b.isLogical() {
		return next
	}
	if len(b.done) > 0 {
		next = *b.jobs[b.done[0]].Finish + b.settings.Keep
	}
	if b.settings.Replan > 0 && b.hasOpenJobs() {
		next = min(next, dispatch.NextReplan(b.decided, b.settings.Replan))
	}
	return next
}

func (b *Book) isLogical() bool { return b.script != nil || b.settings.Logical }

// Removals returns what the caller must delete from PFQ_IN. After each deletion, the caller passes
// an [Input] with Removed to [Book.Take].
func (b *Book) Removals() []wire.Removal { return slices.Clone(b.removals) }

// Rewind sets the end of PFQ_IN to a sequence before [Book.Upto]: the server has lost the messages
// after it and will reuse their sequences. The plans contain the effects of the lost messages, so
// none of them is removed any more.
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

// Report returns the results of the jobs so far.
func (b *Book) Report() *dispatch.Result {
	if b.maker == nil {
		return &dispatch.Result{}
	}
	return b.maker.Result()
}

// Measures returns the results of the jobs so far as measures of package rigid, or nil under other
// policies.
func (b *Book) Measures() *rigid.Result {
	if m, ok := b.maker.(*rigid.Maker); ok {
		return m.Measures(0)
	}
	return nil
}
