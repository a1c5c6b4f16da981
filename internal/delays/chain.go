package delays

import (
	"cmp"
	"math/big"

	"productform/internal/recursion"
)

// A Chain is the recursion in time of one component; see the package comment.
type Chain struct {
	*recursion.Graph
	problem  *recursion.Problem
	maxBytes int64    // memory limit for the numbers of all steps
	maxWork  float64  // limit on the products of all steps
	Work     float64  // products of the steps taken in float64
	marks    [][]mark // marks of each class
	top      int      // the states are 1..top: neither the empty set nor the sum over all sets takes part
}

// A mark is an element of the lattice that the job itself occupies: on the class lattice its class,
// on the lattices of servers a number of servers of a group. State k contains k/stride mod size of
// it.
type mark struct {
	stride, size int
	choose       int
	weight       *big.Int   // choose times the capacity of a server; 1 for a class
	share        []*big.Rat // C(k, d)/C(n, d) at k-d for d servers chosen of n; nil if d = n
}

// New returns the chain of a problem on the class lattice or a lattice of servers. The stored
// numbers of all steps need at most maxBytes, and the steps at most maxWork products; 0 means 2^40,
// about a quarter of an hour on one core.
func New(p *recursion.Problem, g *recursion.Graph, maxBytes int64, maxWork float64) *Chain {
	c := &Chain{Graph: g, problem: p, maxBytes: maxBytes, maxWork: cmp.Or(maxWork, 1<<40),
		top: g.States() - 1, marks: make([][]mark, len(p.Classes))}
	if g.ByClass {
		c.top--
		for i := range p.Classes {
			c.marks[i] = []mark{{stride: 1 << i, size: 2, choose: 1, weight: big.NewInt(1)}}
		}
		return c
	}
	strides, stride := make([]int, len(p.Groups)), 1
	for s, group := range p.Groups {
		strides[s] = stride
		stride *= group.N + 1
	}
	shares := make(map[recursion.Choice][]*big.Rat)
	for i, class := range p.Classes {
		for _, choice := range class.Choose {
			group := p.Groups[choice.Group]
			m := mark{stride: strides[choice.Group], size: group.N + 1, choose: choice.Choose,
				weight: new(big.Int).Mul(group.Capacity, big.NewInt(int64(choice.Choose)))}
			if choice.Choose < group.N && !p.Shared {
				if shares[choice] == nil {
					shares[choice] = sharesOf(group.N, choice.Choose)
				}
				m.share = shares[choice]
			}
			c.marks[i] = append(c.marks[i], m)
		}
	}
	return c
}

// sharesOf returns C(k, d)/C(n, d) for k = d..n.
func sharesOf(n, d int) []*big.Rat {
	all, list := new(big.Int).Binomial(int64(n), int64(d)), make([]*big.Rat, n-d+1)
	for k := range list {
		list[k] = new(big.Rat).SetFrac(new(big.Int).Binomial(int64(d+k), int64(d)), all)
	}
	return list
}

// holds reports whether a job of class i can be in state k.
func (c *Chain) holds(i, k int) bool {
	for _, m := range c.marks[i] {
		if k/m.stride%m.size < m.choose {
			return false
		}
	}
	return true
}

// source returns y(k): 1 for every set of classes; on the lattices of servers, 1 only for the set
// of all servers.
func (c *Chain) source(k int) int64 {
	if c.ByClass || k == c.top {
		return 1
	}
	return 0
}

// elements returns the number of elements of the lattice, an upper bound on the predecessors of a
// state.
func (c *Chain) elements() int {
	if c.ByClass {
		return len(c.problem.Classes)
	}
	return len(c.problem.Groups)
}
