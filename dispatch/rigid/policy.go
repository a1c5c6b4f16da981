package rigid

import (
	"slices"
	"strings"

	"productform/internal/input"
	"productform/internal/tree"
)

// A Policy says in which order jobs wait, and which of them may go ahead.
type Policy struct {
	Order    Order
	Backfill Backfill
}

// An Order is that of the queue. Jobs that are equal in it stand in the order in which they are submitted, those submitted
// together in the order of Scenario.Jobs.
type Order string

// The orders.
const (
	FCFS Order = "fcfs" // in the order of submission
	SJF  Order = "sjf"  // the shortest requested time first
)

// Backfill says which jobs may begin although a job before them in the queue waits.
type Backfill string

// The ways to backfill. Times are predictions: jobs in hand are taken to end at their begin plus their requested time.
const (
	// None lets no job begin before one that stands before it.
	None Backfill = "none"

	// EASY gives the first job of the queue a reservation for the shadow time, the earliest at which enough workers are
	// free for it. Extra are the workers that are free then, all that end at that time counted, less those that it needs.
	// Each other job in the order of the queue begins now if there are enough idle workers for it and either it ends by
	// the shadow time or there are enough extra workers for it, of which there are then fewer. The reservation is made
	// anew at each decision: under FCFS it never moves to a later time; under SJF a shorter job may come to stand first.
	EASY Backfill = "easy"

	// Conservative gives each job, when it is submitted, a reservation for the earliest time from which enough workers are
	// free for its whole requested time, given all reservations before. When a job ends before its requested time, the
	// schedule is compressed: all jobs that wait, in the order of their reservations, equal ones in that of submission,
	// have theirs made anew. None is moved to a later time, as its own place is free for it. The order is FCFS.
	Conservative Backfill = "conservative"
)

// Names returns the forms of the names that [ParsePolicy] reads, with what is optional in brackets.
func Names() []string { return []string{"fcfs", "sjf", "easy[/ORDER]", "conservative"} }

// Policies returns fcfs, sjf, easy/fcfs and conservative.
func Policies() []Policy {
	return []Policy{{FCFS, None}, {SJF, None}, {FCFS, EASY}, {FCFS, Conservative}}
}

// Known reports whether a name begins like that of a policy of this package, whatever follows a / or a colon.
func Known(name string) bool {
	word := name
	if i := strings.IndexAny(name, "/:"); i >= 0 {
		word = name[:i]
	}
	return slices.Contains(words(), word)
}

func words() []string { return []string{"fcfs", "sjf", "easy", "conservative"} }

// ParsePolicy returns the policy that a text names: fcfs, sjf, conservative, or easy/ORDER with the order of the queue fcfs
// or sjf, fcfs if it is left out. The error is a [num.InputError] whose path is "policy".
func ParsePolicy(text string) (Policy, error) {
	word, order, hasOrder := strings.Cut(text, "/")
	refuse := func(format string, args ...any) (Policy, error) {
		return Policy{}, input.Errorf("policy", text, format, args...)
	}
	i := slices.Index(words(), word)
	switch {
	case i < 0:
		all := slices.Values(words())
		return refuse("one of %s%s", strings.Join(Names(), ", "), tree.DidYouMean(word, all, strings.Clone))
	case word == "easy" && hasOrder && order != string(FCFS) && order != string(SJF):
		return refuse("%s, ORDER fcfs or sjf", Names()[i])
	case word == "easy" && hasOrder:
		return Policy{Order(order), EASY}, nil
	case hasOrder:
		return refuse("%s", Names()[i])
	}
	return Policies()[i], nil
}

// String returns the name of the policy, which [ParsePolicy] reads.
func (p Policy) String() string {
	switch {
	case p.Backfill == None:
		return string(p.Order)
	case p.Backfill == EASY:
		return "easy/" + string(p.Order)
	}
	return string(p.Backfill)
}

func (p Policy) check() error {
	switch {
	case p.Order != FCFS && p.Order != SJF:
		return input.Errorf("Policy.Order", p.Order, "fcfs or sjf")
	case p.Backfill != None && p.Backfill != EASY && p.Backfill != Conservative:
		return input.Errorf("Policy.Backfill", p.Backfill, "none, easy or conservative")
	case p.Backfill == Conservative && p.Order != FCFS:
		return input.Errorf("Policy.Order", p.Order, "fcfs, as reservations are made when jobs are submitted")
	}
	return nil
}
