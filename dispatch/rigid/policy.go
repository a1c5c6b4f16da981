package rigid

import (
	"slices"
	"strings"

	"productform/internal/file"
	"productform/internal/input"
)

// A Policy determines the order of the queue and which jobs may overtake others.
type Policy struct {
	Order    Order
	Backfill Backfill
}

// An Order is the order of the queue. Ties are broken by submission, and jobs submitted together
// keep the order of Scenario.Jobs.
type Order string

// The orders.
const (
	FCFS Order = "fcfs" // in order of submission
	SJF  Order = "sjf"  // shortest requested time first
)

// Backfill determines which jobs may start before a waiting job that is ahead of them in the queue.
type Backfill string

// The ways to backfill. Running jobs are predicted to end at their start plus their requested time.
const (
	// None lets no job start before a job ahead of it.
	None Backfill = "none"

	// EASY reserves workers for the first job of the queue at the shadow time, the earliest time at
	// which enough workers are free for it. The extra workers are those free at that time, after
	// all jobs that end then, minus those that the first job needs.
	//
	// Every other job, in the order of the queue, starts now if enough workers are idle and either
	// it ends by the shadow time or enough extra workers are left; it then uses these up. The
	// reservation is recomputed at each decision. Under FCFS it never moves to a later time; under
	// SJF a shorter job may become the first.
	EASY Backfill = "easy"

	// Conservative gives each job a reservation when it is submitted: the earliest time from which
	// enough workers are free for its whole requested time, given all earlier reservations. When a
	// job ends before its requested time, the schedule is compressed: the reservations of all
	// waiting jobs are renewed in their order, with ties broken by submission. None moves to a
	// later time, since its own slot is free for it. The order is FCFS.
	Conservative Backfill = "conservative"
)

// Names returns the forms of the names that [ParsePolicy] reads, with optional parts in brackets.
func Names() []string { return []string{"fcfs", "sjf", "easy[/ORDER]", "conservative"} }

// Policies returns fcfs, sjf, easy/fcfs and conservative.
func Policies() []Policy {
	return []Policy{{FCFS, None}, {SJF, None}, {FCFS, EASY}, {FCFS, Conservative}}
}

// Known reports whether a name, up to a slash or a colon, is that of a policy of this package.
func Known(name string) bool {
	word := name
	if i := strings.IndexAny(name, "/:"); i >= 0 {
		word = name[:i]
	}
	return slices.Contains(words(), word)
}

func words() []string { return []string{"fcfs", "sjf", "easy", "conservative"} }

// ParsePolicy returns the policy with the given name: fcfs, sjf, conservative, or easy/ORDER where
// ORDER is fcfs (the default) or sjf. The error is a [num.InputError] whose path is "policy".
func ParsePolicy(text string) (Policy, error) {
	word, order, hasOrder := strings.Cut(text, "/")
	refuse := func(format string, args ...any) (Policy, error) {
		return Policy{}, input.Errorf("policy", text, format, args...)
	}
	i := slices.Index(words(), word)
	switch {
	case i < 0:
		all := slices.Values(words())
		return refuse("one of %s%s", strings.Join(Names(), ", "), file.DidYouMean(word, all, strings.Clone))
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
		return input.Errorf("Policy.Order", p.Order, "fcfs: reservations are made when jobs are submitted")
	}
	return nil
}
