package cluster

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"productform/internal/input"
	"productform/num"
)

// An UnstableError names a set of classes whose jobs bring at least as much work as all the servers
// that they can use can do. It wraps [num.ErrUnstable].
type UnstableError struct {
	Classes []int    // rows of the model's classes; for classes with "choose", only some of their server sets
	Names   []string // names of these classes; nil if the model has no names
	// total arrival rate of these classes (for these server sets), jobs per unit of time, in
	// [Model.EqualSizes]
	ArrivalRate *big.Rat
	Capacity    *big.Rat // capacity of all servers that they can use, jobs per unit of time; at most ArrivalRate
}

func (e *UnstableError) Unwrap() error { return num.ErrUnstable }

// Error names the classes, at most the first eight, or their numbers if they have no names.
func (e *UnstableError) Error() string {
	return fmt.Sprintf("unstable: jobs arrive at least as fast as their servers can work: %s %s jobs per unit of "+
		"time to servers that can do %s",
		e.subject(), e.ArrivalRate.RatString(), e.Capacity.RatString())
}

// subject returns the subject of the message with its verb.
func (e *UnstableError) subject() string {
	const most = 8
	list := make([]string, 0, most+1)
	for k, i := range e.Classes {
		switch {
		case k == most:
			list = append(list, fmt.Sprintf("%d more", len(e.Classes)-most))
		case k > most:
		case e.Names == nil:
			list = append(list, strconv.Itoa(i))
		default:
			list = append(list, input.Quote(e.Names[k]))
		}
	}
	if len(list) == 1 {
		return "class " + list[0] + " brings"
	}
	last := len(list) - 1
	return "classes " + strings.Join(list[:last], ", ") + " and " + list[last] + " bring"
}

// NamesOf returns the names of the classes in these rows.
func (m *Model) NamesOf(rows []int) []string {
	names := make([]string, len(rows))
	for k, i := range rows {
		names[k] = m.Classes[i].Name
	}
	return names
}
