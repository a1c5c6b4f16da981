package swap

import (
	"math/big"

	"productform/internal/input"
)

// Complete returns the state after the job in position p of the state c completes: the new state
// without the job that leaves, and the class of that job. It takes O(n) operations. It returns a
// *[num.InputError] for a position or class out of range, and the errors of [Model.Check].
func Complete(m *Model, c []int, p int) (rest []int, leaves int, err error) {
	if err := m.checkState(c); err != nil {
		return nil, 0, err
	}
	if p < 0 || p >= len(c) {
		return nil, 0, input.Errorf("p", p, "a position, 0 to %d", len(c)-1)
	}
	rest, leaves = complete(m.joined(), c, p)
	return rest, leaves, nil
}

// complete implements Complete, given the sets of joined classes.
func complete(joined []uint, c []int, p int) (rest []int, leaves int) {
	next := pass(joined, c, p)
	for at, from := range next {
		next[at] = c[from]
	}
	last := len(next) - 1
	return next[:last], next[last]
}

// pass returns the old positions of the jobs of the state c in their new order after the job in
// position p completes. The last job leaves.
func pass(joined []uint, c []int, p int) []int {
	next := make([]int, 0, len(c))
	for at := range p {
		next = append(next, at)
	}
	leaves := p
	for at := p + 1; at < len(c); at++ {
		stays := at
		if joined[c[leaves]]>>c[at]&1 == 1 {
			stays, leaves = leaves, at
		}
		next = append(next, stays)
	}
	return append(next, leaves)
}

// positionRates returns the rate at which the job in each position of the state c is served, in
// jobs per unit of time: the capacity of the servers that can serve it and no older job.
func (m *Model) positionRates(c []int) []*big.Rat {
	rates := make([]*big.Rat, len(c))
	taken := make([]bool, len(m.Servers))
	for p, i := range c {
		rates[p] = new(big.Rat)
		for _, s := range m.Classes[i].Servers {
			if !taken[s] {
				taken[s] = true
				rates[p].Add(rates[p], m.capacity(s))
			}
		}
	}
	return rates
}

// Departures returns the rate at which jobs of each class leave in the state c; under FCFS it
// equals [Completions]. It returns the errors of [Complete].
func Departures(m *Model, c []int) ([]*big.Rat, error) {
	if err := m.checkState(c); err != nil {
		return nil, err
	}
	joined := m.joined()
	return m.byClass(c, func(p int) int {
		_, leaves := complete(joined, c, p)
		return leaves
	}), nil
}

// Completions returns the rate at which jobs of each class complete in the state c. It returns the
// errors of [Complete].
func Completions(m *Model, c []int) ([]*big.Rat, error) {
	if err := m.checkState(c); err != nil {
		return nil, err
	}
	return m.byClass(c, func(p int) int { return c[p] }), nil
}

// byClass sums the rates of the positions by class.
func (m *Model) byClass(c []int, class func(p int) int) []*big.Rat {
	sums := make([]*big.Rat, len(m.Classes))
	for i := range sums {
		sums[i] = new(big.Rat)
	}
	for p, r := range m.positionRates(c) {
		i := class(p)
		sums[i].Add(sums[i], r)
	}
	return sums
}

func (m *Model) checkState(c []int) error {
	if err := m.Check(); err != nil {
		return err
	}
	for p, i := range c {
		if i < 0 || i >= len(m.Classes) {
			return input.Errorf(input.Index("c", p), i, "a row of classes, 0 to %d", len(m.Classes)-1)
		}
	}
	return nil
}
