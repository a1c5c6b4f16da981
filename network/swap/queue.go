package swap

import (
	"context"
	"fmt"
	"math/big"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/num"
)

// Complete returns what becomes of the state c when the job in position p ends: the state without the job that leaves, and the class of
// that job. It takes O(n) operations. The error is a *[num.InputError] for a position or class out of range, or that of [Model.Check].
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

// complete is Complete for the sets of joined classes.
func complete(joined []uint, c []int, p int) (rest []int, leaves int) {
	next := pass(joined, c, p)
	for at, from := range next {
		next[at] = c[from]
	}
	last := len(next) - 1
	return next[:last], next[last]
}

// pass returns the old positions of the jobs of the state c in their new order after the job in
// position p ends. The last one leaves.
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

// PositionRates returns the rate at which the job in each position of the state c is served, in jobs per unit of time: the capacity of the servers that can serve
// it and no older job. Errors are those of [Complete].
func PositionRates(m *Model, c []int) ([]*big.Rat, error) {
	if err := m.checkState(c); err != nil {
		return nil, err
	}
	return m.positionRates(c), nil
}

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

// Departures returns the rate at which jobs of each class leave in the state c. In order of arrival it is that of [Completions]. Errors are those of [Complete].
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

// Completions returns the rate at which jobs of each class end in the state c. Errors are those of [Complete].
func Completions(m *Model, c []int) ([]*big.Rat, error) {
	if err := m.checkState(c); err != nil {
		return nil, err
	}
	return m.byClass(c, func(p int) int { return c[p] }), nil
}

// byClass adds up the rates of the positions by a class of each.
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

// StateMeasure returns Π_p λ_{c_p} / μ(c_1..c_p), or in a closed queue Π_p 1/μ(c_1..c_p): of the open queue π(c)/π(∅). Errors are those of [Complete].
func StateMeasure(m *Model, c []int) (*big.Rat, error) {
	rates, err := PositionRates(m, c)
	if err != nil {
		return nil, err
	}
	weight, rate := big.NewRat(1, 1), new(big.Rat)
	for p, r := range rates {
		weight.Quo(weight, rate.Add(rate, r))
		if a := m.Classes[c[p]].ArrivalRate; a != nil {
			weight.Mul(weight, a)
		}
	}
	return weight, nil
}

// MeanDepartures returns the rate φ_i(x) = Φ(x-e_i)/Φ(x) at which jobs of each class leave an open queue while x_i jobs of each class are present, in whatever order:
// the mean of [Departures] over the orders, by their stationary probabilities. It does not depend on the swaps. With
//
//	μ(A(x)) Φ(x) = Σ_{i: x_i>0} Φ(x-e_i),  Φ(0) = 1,
//
// it takes O(N Π_i (x_i+1)) operations on fractions, at most 2^20 states. The error is a *[num.InputError], a *[num.TooLargeError], or that of the context.
func MeanDepartures(ctx context.Context, m *Model, x []int) ([]*big.Rat, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if m.IsClosed() {
		return nil, input.Errorf("classes", "populations", "arrival rates: in a closed queue the order of the start counts")
	}
	if len(x) != len(m.Classes) {
		return nil, input.Errorf("x", fmt.Sprintf("%d numbers", len(x)), "%d, one for each class", len(m.Classes))
	}
	states := 1.0
	for i, n := range x {
		if n < 0 {
			return nil, input.Errorf(input.Index("x", i), n, "a number of jobs >= 0")
		}
		states *= float64(n) + 1
	}
	if states > 1<<20 {
		return nil, &num.TooLargeError{States: states, Input: input.Errorf("x", x, "at most 2^20 states up to x")}
	}
	rank, err := m.rank(ctx)
	if err != nil {
		return nil, err
	}
	box := lattice.NewBox(x)
	phi := make([]*big.Rat, box.States)
	phi[0] = big.NewRat(1, 1)
	for w := lattice.Walk(box); w.Next(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum := new(big.Rat)
		for i, n := range w.X {
			if n > 0 {
				sum.Add(sum, phi[w.At-box.Stride[i]])
			}
		}
		phi[w.At] = sum.Quo(sum, rank[w.Active])
	}
	last := box.States - 1
	rates := make([]*big.Rat, len(x))
	for i, n := range x {
		rates[i] = new(big.Rat)
		if n > 0 {
			rates[i].Quo(phi[last-box.Stride[i]], phi[last])
		}
	}
	return rates, nil
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
