package gang

import (
	"context"
	"encoding/binary"
	"fmt"

	"productform/internal/input"
	"productform/num"
)

// maxStates limits the states of the saturated chain: 222,241 states of five classes take 9 s and
// 0.2 GB.
const maxStates = 300_000

// states are the states of the saturated chain: the numbers x of jobs in service of each class next
// to which some class does not fit. They are in increasing order of the number of jobs.
type states struct {
	*problem
	x      [][]int32 // by state, by class
	levels []int     // first states of the numbers of jobs that occur, and the number of states
	index  map[string]int32
}

// newStates lists the states. The error is a *[num.TooLargeError] if there are more than most.
func newStates(ctx context.Context, p *problem, most int) (*states, error) {
	s := &states{problem: p, index: map[string]int32{}}
	var byJobs [][][]int32
	total := 0
	err := p.eachPacking(ctx, true, func(x []int32, _ []int) bool {
		jobs := 0
		for _, n := range x {
			jobs += int(n)
		}
		for len(byJobs) <= jobs {
			byJobs = append(byJobs, nil)
		}
		byJobs[jobs] = append(byJobs[jobs], append([]int32(nil), x...))
		total++
		return total <= most
	})
	if err != nil {
		return nil, err
	}
	if total > most {
		return nil, stateError(most)
	}
	for _, list := range byJobs {
		if len(list) > 0 {
			s.levels = append(s.levels, len(s.x))
		}
		for _, x := range list {
			s.index[key(x)] = int32(len(s.x))
			s.x = append(s.x, x)
		}
	}
	s.levels = append(s.levels, len(s.x))
	return s, nil
}

func stateError(most int) error {
	return &num.TooLargeError{
		Input: input.Errorf("classes", "needs and mean sizes with too many states",
			"at most %d sets of jobs in service that block some class (equal mean sizes have no such limit)", most),
		States:  float64(most),
		Instead: []num.Remedy{num.Simulation},
	}
}

// eachPacking calls visit with the numbers of jobs of each set of jobs that fits, and its free
// amounts. If blocking is true, it omits the sets next to which every class fits. It stops once
// visit returns false. Both slices are reused.
func (p *problem) eachPacking(ctx context.Context, blocking bool, visit func(x []int32, free []int) bool) error {
	x, free := make([]int32, len(p.classes)), append([]int(nil), p.amounts...)
	var fill func(k int) (bool, error)
	take := func(k, jobs int) {
		for r, w := range p.classes[k].needs {
			free[r] -= jobs * w
		}
		x[k] += int32(jobs)
	}
	fill = func(k int) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		// Larger numbers first: once no class is blocked next to the last one, none is next to
		// fewer.
		most := p.mostJobs(k, free)
		for jobs := most; jobs >= 0; jobs-- {
			take(k, jobs)
			more, err := true, error(nil)
			if k < len(x)-1 {
				more, err = fill(k + 1)
			} else if blocking && !p.blocks(free) {
				take(k, -jobs)
				break
			} else {
				more = visit(x, free)
			}
			take(k, -jobs)
			if err != nil || !more {
				return false, err
			}
		}
		return true, nil
	}
	_, err := fill(0)
	return err
}

// blocks reports whether some class does not fit into free amounts.
func (p *problem) blocks(free []int) bool {
	for k := range p.classes {
		if !p.fits(k, free) {
			return true
		}
	}
	return false
}

// key encodes the numbers of jobs.
func key(x []int32) string {
	b := make([]byte, 0, 32)
	for _, n := range x {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return string(b)
}

// free returns the free amounts next to x.
func (p *problem) free(x []int32) []int {
	free := append([]int(nil), p.amounts...)
	for k, n := range x {
		for r, w := range p.classes[k].needs {
			free[r] -= int(n) * w
		}
	}
	return free
}

// A departure is a completion in a state: a job of class j leaves, at rate x_j μ_j. The head of the
// line, which is known to be of one of the classes that did not fit, then has class k with the
// probability p_k over the share of those. It starts if it fits now, and the line refills from
// there; otherwise the chain is in the state without the job that left.
type departure struct {
	class int   // j
	stay  int32 // state without the job, -1 if all classes that did not fit now fit
	heads []int // classes k that did not fit and now fit
	after []int32
}

// at returns the state of x, which must exist.
func (s *states) at(x []int32) int32 {
	i, ok := s.index[key(x)]
	if !ok {
		panic(fmt.Sprintf("gang: %v is not a state", x))
	}
	return i
}

// departures calls visit with each departure from a state. Its slices are reused.
func (s *states) departures(i int, visit func(d *departure)) {
	x := append([]int32(nil), s.x[i]...)
	free := s.free(x)
	blocked := make([]bool, len(x))
	for k := range x {
		blocked[k] = !s.fits(k, free)
	}
	var d departure
	for j := range x {
		if x[j] == 0 {
			continue
		}
		x[j]--
		for r, w := range s.classes[j].needs {
			free[r] += w
		}
		d = departure{class: j, stay: -1, heads: d.heads[:0], after: d.after[:0]}
		for k := range x {
			switch {
			case !blocked[k]:
			case s.fits(k, free):
				x[k]++
				d.heads, d.after = append(d.heads, k), append(d.after, s.at(x))
				x[k]--
			case d.stay < 0:
				d.stay = s.at(x)
			}
		}
		visit(&d)
		x[j]++
		for r, w := range s.classes[j].needs {
			free[r] -= w
		}
	}
}

// starts calls visit with each class that fits next to a state, and the state after it starts.
func (s *states) starts(i int, visit func(k int, to int32)) {
	x, free := append([]int32(nil), s.x[i]...), s.free(s.x[i])
	for k := range x {
		if s.fits(k, free) {
			x[k]++
			visit(k, s.at(x))
			x[k]--
		}
	}
}
