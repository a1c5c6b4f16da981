package elimination

import (
	"slices"

	"productform/internal/input"
	"productform/num"
)

// MaxWidth is the largest number of servers that a message may depend on.
const MaxWidth = 2

// An Order is an order in which servers are integrated out.
type Order struct {
	Servers []int // in order of elimination
	Width   int   // the largest number of servers that a message depends on
}

// NewOrder returns an order of elimination by minimum fill. In the graph that links the servers of
// each class, it repeatedly eliminates the server whose neighbours lack the fewest links among
// themselves; ties go to the fewest neighbours, then to the first row. No order has a smaller
// width. Classes without arrivals link nothing.
//
// The error is an [*input.Error], or a [*num.TooLargeError] if the width of every order exceeds
// [MaxWidth]. It then names the smallest number of neighbours at the step where elimination got
// stuck, a lower bound on the width. NewOrder takes O(S log S) steps for S servers with few
// neighbours.
func NewOrder(p *Problem) (*Order, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	g := New(len(p.Capacities))
	for _, k := range p.Classes {
		if k.Rate == 0 {
			continue
		}
		if len(k.Servers) > MaxWidth+1 {
			return nil, widthError(len(k.Servers) - 1)
		}
		for a, s := range k.Servers {
			for _, t := range k.Servers[:a] {
				g.Link(s, t)
			}
		}
	}
	o := &Order{Servers: make([]int, 0, len(p.Capacities))}
	least := g.Eliminate(MaxWidth, func(s, degree int) {
		o.Servers = append(o.Servers, s)
		o.Width = max(o.Width, degree)
	})
	if least > 0 {
		return nil, widthError(least)
	}
	return o, nil
}

// places returns the position of each server in the order.
func (o *Order) places() []int {
	place := make([]int, len(o.Servers))
	for k, s := range o.Servers {
		place[s] = k
	}
	return place
}

// first returns the server that is eliminated first.
func first(place, servers []int) int {
	return slices.MinFunc(servers, func(a, b int) int { return place[a] - place[b] })
}

func widthError(width int) error {
	return &num.TooLargeError{Input: input.Errorf("model", width,
		"servers whose graph has a width of at most %d, where one message depends on %d servers or more",
		MaxWidth, width)}
}
