package stations

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"productform/sim"
)

// A Balance tabulates the balance function of a rank function μ, [BC17] (4),
//
//	Φ(0) = 1,  Φ(x) = Σ_{i: x_i>0} Φ(x-e_i) / μ({i: x_i>0}),
//
// to the extent that simulations need it for the rates of balanced fairness φ_i(x) = Φ(x-e_i)/Φ(x).
// Φ(x) requires all states below x. The table is the union of the boxes below the requested states,
// each rounded up, so neither its extent nor its values depend on the order of the requests. A
// table is never modified: concurrent simulations read it while a larger table that shares most of
// its rows is made.
//
// Only positive numbers are added and divided, so rates with n jobs of N classes have a relative
// error of at most 2(N+2)n 2^-53.
type Balance struct {
	classes int
	rank    func(set uint64) float64 // μ(A) > 0, indexed by the bit mask of A; or
	total   func(x []int) float64    // μ(x) > 0
	limit   int                      // maximum of units
	root    atomic.Pointer[node]

	growing sync.Mutex
	units   int // number of states, plus rowUnits for each row
	states  int
	here    []int     // numbers of jobs in the current row, for total
	near    [][]*node // by depth: nodes of the states with one fewer job of an earlier class
}

// A node holds Φ at the states that begin with given numbers of jobs. below[k] is the node if the
// next number is k; if the next number is the last one, row[k] is the value. The lists of smaller
// states are longer.
type node struct {
	below []*node
	row   []scaled
}

// A scaled number is fraction 2^exponent, since Φ exceeds the range of float64.
type scaled struct {
	fraction float64 // in [1/2, 1)
	exponent int32
}

// Limits of a Balance: a state takes 16 bytes, a row about 100 more.
const (
	unitBytes    = 16
	rowUnits     = 6
	balanceUnits = 1 << 24
	MaxClasses   = 64
)

// NewBalance returns the balance function of a rank function on a number of classes.
func NewBalance(classes int, rank func(set uint64) float64) *Balance {
	return newBalance(&Balance{classes: classes, rank: rank})
}

// NewCountBalance returns the balance function of a total rate μ(x) > 0 that depends on the numbers
// of jobs. The function must not retain x.
func NewCountBalance(classes int, total func(x []int) float64) *Balance {
	return newBalance(&Balance{classes: classes, total: total})
}

func newBalance(b *Balance) *Balance {
	b.limit, b.near, b.here = balanceUnits, make([][]*node, b.classes), make([]int, b.classes)
	b.root.Store(b.grow(nil, make([]int, b.classes), 0, 0))
	return b
}

// Rates writes φ_i(x) for each class into phi. If the table would grow too large, the error wraps
// [sim.ErrTooManyStates] and the table is unchanged.
func (b *Balance) Rates(x []int, phi []float64) error {
	n := b.root.Load()
	if !n.holds(x) {
		var err error
		if n, err = b.reach(x); err != nil {
			return err
		}
	}
	here := n.at(x)
	for i, v := range x {
		phi[i] = 0
		if v > 0 && n.below == nil {
			phi[i] = n.row[v-1].quotient(here)
		} else if v > 0 {
			phi[i] = n.below[v-1].at(x[i+1:]).quotient(here)
		}
		if n.below != nil {
			n = n.below[v]
		}
	}
	return nil
}

func (n *node) holds(x []int) bool {
	for _, v := range x[:len(x)-1] {
		if v >= len(n.below) {
			return false
		}
		n = n.below[v]
	}
	return x[len(x)-1] < len(n.row)
}

func (n *node) at(x []int) scaled {
	for _, v := range x[:len(x)-1] {
		n = n.below[v]
	}
	return n.row[x[len(x)-1]]
}

// quotient returns s/t.
func (s scaled) quotient(t scaled) float64 {
	return s.fraction / t.fraction * power(s.exponent-t.exponent)
}

// power returns 2^k.
func power(k int32) float64 {
	if k > -1000 && k < 1000 {
		return math.Float64frombits(uint64(1023+k) << 52)
	}
	return math.Ldexp(1, int(k))
}

// reach returns a table that contains x, or the error of [Balance.Rates].
func (b *Balance) reach(x []int) (*node, error) {
	b.growing.Lock()
	defer b.growing.Unlock()
	root := b.root.Load()
	if root.holds(x) {
		return root, nil
	}
	corner := make([]int, len(x))
	room := b.limit
	for i, v := range x {
		corner[i] = roundUp(v)
		room /= corner[i] + 1
	}
	units, states := b.units, b.states
	if room > 0 {
		root = b.grow(root, corner, 0, 0)
	}
	if room == 0 || b.units > b.limit {
		b.units, b.states = units, states // the larger table is discarded
		return nil, fmt.Errorf(
			"%w: the balance function of %d classes that share servers is needed at more states than "+
				"fit into %d MiB",
			sim.ErrTooManyStates, b.classes, balanceUnits*unitBytes>>20,
		) // the error does not mention the state, which depends on the order of requests
	}
	b.root.Store(root)
	return root, nil
}

// roundUp rounds a number up to four significant bits.
func roundUp(n int) int {
	drop := max(bits.Len(uint(n))-4, 0)
	return (n + 1<<drop - 1) >> drop << drop
}

// grow returns a node with everything that n (nil if empty) contains and all states up to corner.
// set is the set of classes before depth that have jobs, and near[depth] must already extend to
// corner.
func (b *Balance) grow(n *node, corner []int, depth int, set uint64) *node {
	if n == nil {
		n = &node{}
	} else if n.holds(corner[depth:]) {
		return n
	}
	if depth == b.classes-1 {
		return &node{row: b.lengthen(n.row, corner[depth]+1, set)}
	}
	below := make([]*node, max(len(n.below), corner[depth]+1))
	copy(below, n.below)
	for k := range corner[depth] + 1 {
		b.here[depth] = k
		near := b.near[depth+1][:0]
		for _, m := range b.near[depth] {
			near = append(near, m.below[k])
		}
		with := set
		if k > 0 {
			near = append(near, below[k-1])
			with |= 1 << depth
		}
		b.near[depth+1] = near
		below[k] = b.grow(below[k], corner, depth+1, with)
	}
	return &node{below: below}
}

// lengthen returns the row extended to a length.
func (b *Balance) lengthen(old []scaled, length int, set uint64) []scaled {
	row := make([]scaled, length)
	copy(row, old)
	b.states += length - len(old)
	b.units += length - len(old)
	if len(old) == 0 {
		b.units += rowUnits
	}
	near := b.near[b.classes-1]
	for k := len(old); k < length; k++ {
		with := set
		if k > 0 {
			with |= 1 << (b.classes - 1)
		}
		if with == 0 {
			row[0] = scaled{0.5, 1}
			continue
		}
		highest := int32(math.MinInt32)
		for _, m := range near {
			highest = max(highest, m.row[k].exponent)
		}
		if k > 0 {
			highest = max(highest, row[k-1].exponent)
		}
		sum := 0.0
		for _, m := range near {
			sum += m.row[k].fraction * power(m.row[k].exponent-highest)
		}
		if k > 0 {
			sum += row[k-1].fraction * power(row[k-1].exponent-highest)
		}
		fraction, exponent := math.Frexp(sum / b.rate(k, with))
		row[k] = scaled{fraction, highest + int32(exponent)}
	}
	return row
}

// rate returns the total rate in a state of the row, given the number of jobs of the last class and
// the set of classes present.
func (b *Balance) rate(last int, set uint64) float64 {
	if b.total == nil {
		return b.rank(set)
	}
	b.here[b.classes-1] = last
	return b.total(b.here)
}
