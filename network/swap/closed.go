package swap

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
	"productform/num"
)

// isPlaced reports whether the start places the classes and each has its own server of positive
// capacity. All orders with the same placement can then be reached.
func (m *Model) isPlaced() bool {
	for i := range m.Classes {
		own := false
		for s := range m.Servers {
			own = own || m.users(s) == 1<<i && m.Servers[s].Capacity.Sign() > 0
		}
		if !own {
			return false
		}
	}
	first, last := m.ends()
	for _, pair := range m.Swaps {
		i, k := pair[0], pair[1]
		if i == k && m.Classes[i].Population > 1 || i != k && last[i] > first[k] && last[k] > first[i] {
			return false
		}
	}
	return true
}

// ends returns the positions of the oldest and the newest job of each class at the start.
func (m *Model) ends() (first, last []int) {
	if m.Start == nil {
		n := 0
		for _, c := range m.Classes {
			first, last = append(first, n), append(last, n+c.Population-1)
			n += c.Population
		}
		return first, last
	}
	first, last = make([]int, len(m.Classes)), make([]int, len(m.Classes))
	for i := range first {
		first[i] = slices.Index(m.Start, i)
	}
	for p, i := range m.Start {
		last[i] = p
	}
	return first, last
}

// predecessors returns, for each class, the set of joined classes that are placed before it, as a
// bit mask.
func (m *Model) predecessors() []uint {
	first, _ := m.ends()
	sets := make([]uint, len(m.Classes))
	for _, pair := range m.Swaps {
		i, k := pair[0], pair[1]
		switch {
		case first[i] < first[k]:
			sets[k] |= 1 << i
		case first[k] < first[i]:
			sets[i] |= 1 << k
		}
	}
	return sets
}

// counts solves a closed queue by the recursion over numbers of jobs. Let Ψ(x) be the total weight
// of the completions of x, with Ψ(ℓ) = 1. A job of class i that is last in x is served at rate
// μ(A(x)) - μ(A(x-e_i)), so jobs of class i complete at rate
//
//	1/G Σ_x Φ(x-e_i) (μ(A(x)) - μ(A(x-e_i)))/μ(A(x)) Ψ(x).
func (q *queue) counts(s Settings) error {
	q.r.Method = Counts
	limits := make([]int, len(q.Classes))
	for i, c := range q.Classes {
		limits[i] = c.Population
	}
	if err := q.checkSize(lattice.Size(limits), 2, s); err != nil {
		return err
	}
	box, before := lattice.NewBox(limits), q.predecessors()
	rate, gain := q.rates()
	zero := q.one.Zero()
	last := func(x []int) (set uint) { // classes whose jobs in front of the last one are complete
		full := uint(0)
		for i, n := range x {
			if n == limits[i] {
				full |= 1 << i
			}
		}
		for i := range x {
			if before[i]&^full == 0 {
				set |= 1 << i
			}
		}
		return set
	}
	phi, err := lattice.Balance(q.ctx, box, q.one, func(w *lattice.Walker) uint { return last(w.X) },
		func(w *lattice.Walker) (arithmetic.Number, error) { return rate[w.Active], nil })
	if err != nil {
		return err
	}
	leave, end := make([]arithmetic.Number, len(limits)), make([]arithmetic.Number, len(limits))
	psi := make([]arithmetic.Number, box.States)
	for at := range psi {
		psi[at] = zero
	}
	root := box.States - 1
	psi[root] = q.one
	q.leaving = make([]int, len(limits))
	for i := range limits {
		// 0 if class i may not be last: then no order lacks only its last job
		leave[i], end[i] = phi[root-box.Stride[i]], zero
		if !slices.ContainsFunc(before, func(set uint) bool { return set>>i&1 == 1 }) {
			// the oldest job completes on its own server, and no job behind it belongs to a joined
			// class
			q.leaving[i] = limits[i]
		}
	}
	for at := root; at > 0; at-- {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		x := box.State(at)
		active := uint(ranktable.Present(x))
		share, may := psi[at].Quo(rate[active]), last(x)
		for i, n := range x {
			if n == 0 || may>>i&1 == 0 {
				continue
			}
			to := at - box.Stride[i]
			psi[to] = psi[to].Add(share)
			if n == 1 {
				end[i] = end[i].Add(phi[to].Mul(share).Mul(gain(active, i)))
			}
		}
	}
	q.finish(phi[root], leave, end)
	return nil
}

// rates returns μ(A), and μ(A) - μ(A∖{i}) of a class in A, in the arithmetic of the engine.
func (q *queue) rates() (rate []arithmetic.Number, gain func(a uint, i int) arithmetic.Number) {
	for _, mu := range q.rank {
		rate = append(rate, q.one.Rational(mu))
	}
	return rate, func(a uint, i int) arithmetic.Number {
		return q.one.Rational(new(big.Rat).Sub(q.rank[a], q.rank[a&^(1<<i)]))
	}
}

// reach returns all orders that the start can reach, each as the bytes of its classes, and how many
// jobs of each class ever leave.
//
// Each order is first found on some path from the start, which determines the position of every job
// there. If another transition leads to that order with job a in the position of job b, then a can
// do everything that b can. The reverse also holds, since no state is transient even if every job
// is a separate class. Such pairs split the jobs into sets. A job leaves, and does so repeatedly,
// if and only if some transition lets a job of its set leave.
func (m *Model) reach(ctx context.Context, s Settings) (list []string, leaving []int, err error) {
	const bytesEach = 256 // for an order in the list and the map, not counting its jobs
	limit := s.MaxBytes
	joined := m.joined()
	start := m.start()
	jobs := ranktable.Singles(len(start))
	leaves := make([]bool, len(start))
	known := map[string]int{text(start): 0}
	list = []string{text(start)}
	// the jobs of each order by position, identified by their positions at the start
	places := [][]int32{make([]int32, len(start))}
	for p := range start {
		places[0][p] = int32(p)
	}
	for at := 0; at < len(list); at++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		c := classes(list[at])
		for p, rate := range m.positionRates(c) {
			if rate.Sign() == 0 {
				continue
			}
			next := pass(joined, c, p)
			order, place := make([]byte, len(c)), make([]int32, len(c))
			for to, from := range next {
				order[to], place[to] = list[at][from], places[at][from]
			}
			leaves[place[len(c)-1]] = true
			if old, ok := known[string(order)]; ok {
				for to, job := range place {
					jobs.Join(int(job), int(places[old][to]))
				}
				continue
			}
			need := int64(len(list)) * (bytesEach + 6*int64(len(c)))
			if need > limit || s.Engine == num.Exact && len(list) >= maxExactStates {
				bad := input.Errorf("classes", fmt.Sprintf("more than %d orders of %d jobs", len(list), len(c)),
					"fewer, or a start that places the classes, each with its own server")
				return nil, nil, &num.TooLargeError{Bytes: float64(need), Limit: limit, Input: bad}
			}
			known[string(order)] = len(list)
			list, places = append(list, string(order)), append(places, place)
		}
	}
	return list, countLeaving(jobs, start, leaves, len(m.Classes)), nil
}

// countLeaving returns the number of jobs of each class whose set contains a job that leaves.
func countLeaving(jobs ranktable.Sets, start []int, leaves []bool, classes int) []int {
	some := make([]bool, len(start)) // by root: whether some job of the set leaves
	for job, does := range leaves {
		if does {
			some[jobs.Root(job)] = true
		}
	}
	count := make([]int, classes)
	for job, i := range start {
		if some[jobs.Root(job)] {
			count[i]++
		}
	}
	return count
}

func text(c []int) string {
	b := make([]byte, len(c))
	for p, i := range c {
		b[p] = byte(i)
	}
	return string(b)
}

func classes(order string) []int {
	c := make([]int, len(order))
	for p := range c {
		c[p] = int(order[p])
	}
	return c
}

// orders solves a closed queue by a sum over its orders.
func (q *queue) orders(list []string, s Settings) error {
	q.r.Method = Orders
	if err := q.checkSize(float64(len(list)), 1, s); err != nil {
		return err
	}
	n := len(q.Classes)
	leave, end, z := make([]arithmetic.Number, n), make([]arithmetic.Number, n), q.one.Zero()
	for i := range n {
		leave[i], end[i] = q.one.Zero(), q.one.Zero()
	}
	joined := q.joined()
	rate, gain := q.rates()
	for _, order := range list {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		c, weight, set := classes(order), q.one, uint(0)
		for _, i := range c {
			set |= 1 << i
			weight = weight.Quo(rate[set])
		}
		z = z.Add(weight)
		set = 0
		for p, i := range c {
			if set>>i&1 == 1 {
				continue // all servers of the class serve older jobs
			}
			set |= 1 << i
			part := weight.Mul(gain(set, i))
			_, leaves := complete(joined, c, p)
			end[i], leave[leaves] = end[i].Add(part), leave[leaves].Add(part)
		}
	}
	q.finish(z, leave, end)
	return nil
}
