package sim

import (
	"encoding/binary"
	"fmt"

	"productform/fluid"
)

// allocations is a memo of the allocations of a policy by the numbers of jobs, since states come back. Each is computed
// cold, so that its digits depend on the state only. It is for one replication.
type allocations struct {
	allocator *fluid.Allocator
	count     []float64      // of the state asked for
	key       []byte         // its name
	known     map[string]int // places of states in tasks
	tasks     []float64
}

// maxKnown bounds the numbers that a memo keeps before it starts again.
const maxKnown = 1 << 18

// newAllocations returns an empty memo for a pool and a policy for which [fluid.NewAllocator] has returned no error.
func newAllocations(p *fluid.Pool, policy fluid.Policy) *allocations {
	a, err := fluid.NewAllocator(p, policy)
	if err != nil {
		panic(err)
	}
	return &allocations{allocator: a, count: make([]float64, len(p.Jobs)), known: make(map[string]int)}
}

// costOf returns the time of the allocation that a step may need, in units of a fast step, so that a run can be stopped
// soon. That is about one for each row and resource, 40 µs with 1000 and 2. States of few rows come back, and the memo
// knows them; but balanced fairness takes all states below, 1000 if there are 30 jobs of each of two classes.
func costOf(policy fluid.Policy, rows, resources int) float64 {
	switch {
	case policy == fluid.BF:
		return 1000
	case rows < 8:
		return 0
	}
	return float64(rows * resources)
}

// of returns the number of tasks that one job of each class runs while x[k] jobs of class k are present, until the next
// call.
func (a *allocations) of(x []int) ([]float64, error) {
	a.key = a.key[:0]
	for _, n := range x {
		a.key = binary.AppendUvarint(a.key, uint64(n))
	}
	if at, ok := a.known[string(a.key)]; ok {
		return a.tasks[at : at+len(x)], nil
	}
	if len(a.tasks)+len(x) > maxKnown {
		clear(a.known)
		a.tasks = a.tasks[:0]
	}
	for k, n := range x {
		a.count[k] = float64(n)
	}
	at := len(a.tasks)
	a.tasks = append(a.tasks, a.count...)
	a.allocator.Forget()
	if err := a.allocator.Tasks(a.count, a.tasks[at:]); err != nil {
		a.tasks = a.tasks[:at]
		return nil, fmt.Errorf("sim: with %v jobs: %w", x, err)
	}
	a.known[string(a.key)] = at
	return a.tasks[at:], nil
}
