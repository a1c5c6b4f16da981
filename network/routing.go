// This file solves traffic equations in fractions: how often do jobs visit each station?

package network

import (
	"container/heap"
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
)

const (
	maxProducts    = 2_000_000 // in the elimination of one chain
	maxTrafficBits = 1 << 20   // per number
)

// A trafficFlow is a graph with weights P_ab from which nodes are eliminated. Nodes are numbered
// from 0.
type trafficFlow struct {
	out, in []map[int]*big.Rat // out[a][b] = in[b][a] = P_ab > 0
}

// newTrafficFlow returns a graph without weights.
func newTrafficFlow(nodes int) *trafficFlow {
	f := &trafficFlow{make([]map[int]*big.Rat, nodes), make([]map[int]*big.Rat, nodes)}
	for a := range nodes {
		f.out[a], f.in[a] = map[int]*big.Rat{}, map[int]*big.Rat{}
	}
	return f
}

// Add adds p >= 0 to P_ab and stores the sum as a new number.
func (f *trafficFlow) Add(a, b int, p *big.Rat) {
	if p.Sign() == 0 {
		return
	}
	sum := p
	if old := f.out[a][b]; old != nil {
		sum = new(big.Rat).Add(old, p)
	}
	f.out[a][b], f.in[b][a] = sum, sum
}

// Solve returns v with v_b = Σ_a v_a P_ab for all nodes except the reference, whose v is 1. Every
// node must have a positive weight to another node.
//
// Nodes are eliminated one by one, those with the fewest paths through them first: with s
// eliminated, P_ab grows by P_as P_sb/(1 - P_ss). In the reverse order v_s = Σ_a v_a P_as/(1 -
// P_ss) over the remaining nodes.
func (f *trafficFlow) Solve(ctx context.Context, reference int) ([]*big.Rat, error) {
	order, err := f.order(reference)
	if err != nil {
		return nil, err
	}
	into := make([]map[int]*big.Rat, len(f.in))
	for _, s := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		stay := big.NewRat(1, 1)
		if loop := f.out[s][s]; loop != nil {
			stay.Sub(stay, loop)
			delete(f.out[s], s)
			delete(f.in[s], s)
		}
		stay.Inv(stay)
		for a, p := range f.in[s] {
			delete(f.out[a], s)
			p = new(big.Rat).Mul(p, stay)
			f.in[s][a] = p
			if p.Num().BitLen() > maxTrafficBits || p.Denom().BitLen() > maxTrafficBits {
				return nil, trafficError(
					fmt.Sprintf("numbers of over %d bits", maxTrafficBits), "shorter probabilities, or fewer",
				)
			}
			for b, q := range f.out[s] {
				f.Add(a, b, new(big.Rat).Mul(p, q))
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		for b := range f.out[s] {
			delete(f.in[b], s)
		}
		into[s] = f.in[s]
	}
	v := make([]*big.Rat, len(f.in))
	for s := range v {
		v[s] = new(big.Rat)
	}
	v[reference].SetInt64(1)
	for _, s := range slices.Backward(order) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var terms []*big.Rat
		for a, p := range into[s] {
			terms = append(terms, new(big.Rat).Mul(v[a], p))
		}
		v[s] = num.SumRats(terms)
	}
	return v, nil
}

// trafficError rejects traffic equations that exceed the limits.
func trafficError(value, want string) error {
	bad := input.Errorf("classes", value,
		"traffic equations of at most %d products in fractions of at most %d bits: %s",
		maxProducts, maxTrafficBits, want)
	return &num.TooLargeError{Input: bad, Limit: maxTrafficBits / 8}
}

// order returns all nodes except the reference in the order of elimination, and rejects a graph
// that takes too many products.
func (f *trafficFlow) order(reference int) ([]int, error) {
	n := len(f.out)
	out, in := make([]map[int]bool, n), make([]map[int]bool, n)
	q := make(eliminations, 0, n)
	current := make([]int, n) // products that eliminating each node takes now
	for a := range n {
		out[a], in[a] = map[int]bool{}, map[int]bool{}
	}
	for a := range n {
		for b := range f.out[a] {
			if a != b {
				out[a][b], in[b][a] = true, true
			}
		}
	}
	push := func(a int) {
		current[a] = len(in[a]) * len(out[a])
		heap.Push(&q, elimination{current[a], a})
	}
	for a := range n {
		if a != reference {
			push(a)
		}
	}
	order := make([]int, 0, n)
	done := make([]bool, n)
	done[reference] = true
	products := 0
	for q.Len() > 0 {
		e := heap.Pop(&q).(elimination)
		s := e.node
		if done[s] || e.products != current[s] {
			continue
		}
		done[s] = true
		order = append(order, s)
		if products += e.products; products > maxProducts {
			return nil, trafficError(fmt.Sprintf("%d visits of a chain", n-1), "fewer visits or branches")
		}
		for a := range in[s] {
			delete(out[a], s)
			for b := range out[s] {
				if a != b {
					out[a][b], in[b][a] = true, true
				}
			}
		}
		for b := range out[s] {
			delete(in[b], s)
		}
		for _, near := range []map[int]bool{in[s], out[s]} {
			for a := range near {
				if !done[a] {
					push(a)
				}
			}
		}
	}
	return order, nil
}

// An elimination is a node with the number of products that its elimination took when it was
// queued.
type elimination struct{ products, node int }

type eliminations []elimination

func (q eliminations) Len() int { return len(q) }
func (q eliminations) Less(i, j int) bool {
	if q[i].products != q[j].products {
		return q[i].products < q[j].products
	}
	return q[i].node < q[j].node
}
func (q eliminations) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eliminations) Push(x any)   { *q = append(*q, x.(elimination)) }
func (q *eliminations) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
