package audit

import (
	"context"
	"math"
	"math/big"
	"slices"
	"sort"
)

// An Envy is a job that would run more tasks with what another holds. If there are several, it is
// the one with the largest WithOther/Tasks, compared in float64; ties go to the first row.
type Envy struct {
	Job   int      `json:"job"`              // row of Pool.Jobs
	Other int      `json:"other"`            // row of Pool.Jobs
	Tasks *big.Rat `json:"tasks" beside:"1"` // φ_i of Job

	// WithOther is φ_k w_i/w_k min_j a_kj/a_ij over the resources j that Job needs, k being Other;
	// at most its limit.
	WithOther *big.Rat `json:"with_other" beside:"1"`
}

// A partOrder sorts the rows by their holdings of one resource per unit of weight, φ_i a_ij/w_i.
type partOrder struct {
	rows  []int // by increasing part
	place []int // position of each row: number of rows with smaller holdings
	// by row: position of the first row that holds more, as Audit compares; the number of rows if
	// there is none
	above []int
}

// newPartOrders returns the order of each resource, in O(J n log n) comparisons of fractions. "Row
// k holds more of it than row i" is then place[k] >= above[i], a comparison of integers.
func newPartOrders(ctx context.Context, h *holdings, more *big.Rat) ([]partOrder, error) {
	n := len(h.part)
	orders := make([]partOrder, len(h.Need[0]))
	c := newPartComparer(h, more)
	for j := range orders {
		o := partOrder{make([]int, n), make([]int, n), make([]int, n)}
		for i := range o.rows {
			o.rows[i] = i
		}
		slices.SortStableFunc(o.rows, func(i, k int) int { return c.compare(ctx, i, k, j) })
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for m, i := range o.rows {
			if m > 0 {
				if last := o.rows[m-1]; c.compare(ctx, last, i, j) == 0 {
					o.place[i], o.above[i] = o.place[last], o.above[last]
					continue
				}
			}
			o.place[i] = m
			o.above[i] = m + sort.Search(n-m, func(s int) bool { return c.exceeds(o.rows[m+s], i, j) })
		}
		orders[j] = o
	}
	return orders, nil
}

// A partComparer compares holdings per unit of weight, x_i p_ij with integers x_i, without common
// divisors: it first multiplies the short fractions p_ij crosswise, then each side once by the
// integer, which may be long.
type partComparer struct {
	*holdings
	more                  *big.Rat
	left, right, one, two big.Int
}

func newPartComparer(h *holdings, more *big.Rat) *partComparer {
	return &partComparer{holdings: h, more: more}
}

// sides sets left and right to numbers in the ratio of what rows i and k hold.
func (c *partComparer) sides(i, k, j int) {
	p, q := c.part[i][j], c.part[k][j]
	c.left.Mul(c.number[i].Num(), c.one.Mul(p.Num(), q.Denom()))
	c.right.Mul(c.number[k].Num(), c.two.Mul(q.Num(), p.Denom()))
}

// compare compares the holdings of rows i and k. Once the context is done, everything compares
// equal, so a sort ends quickly.
func (c *partComparer) compare(ctx context.Context, i, k, j int) int {
	if ctx.Err() != nil {
		return 0
	}
	c.sides(i, k, j)
	return c.left.Cmp(&c.right)
}

// exceeds reports whether row i holds more than row k.
func (c *partComparer) exceeds(i, k, j int) bool {
	c.sides(i, k, j)
	if c.left.Cmp(&c.right) <= 0 {
		return false
	}
	if c.more.IsInt() {
		return true
	}
	return c.one.Mul(&c.left, c.more.Denom()).Cmp(c.two.Mul(&c.right, c.more.Num())) > 0
}

// envy returns the pair with the largest envy, nil if there is none. Job i runs more with w_i/w_k
// of the holdings of job k if and only if φ_k a_kj/w_k > φ_i a_ij/w_i for every resource j that it
// needs, and the ratio of the tasks is the smallest of these ratios. It takes the resource of which
// the fewest rows hold more than job i, and examines only these rows.
func (h *holdings) envy(ctx context.Context, orders []partOrder, atLimit []bool) (*Envy, error) {
	n := len(h.part)
	logs := make([][]float64, n)
	for i, part := range h.part {
		logs[i] = make([]float64, len(part))
		base := ratLog2(h.tasks[i])
		for j, x := range part {
			logs[i][j] = base + ratLog2(x)
		}
	}
	job, other, largest := -1, -1, 0.
	for i, need := range h.Need {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if atLimit[i] {
			continue
		}
		rarest := h.Top[i]
		for j, a := range need {
			if a.Sign() > 0 && orders[j].above[i] > orders[rarest].above[i] {
				rarest = j
			}
		}
	others:
		for _, k := range orders[rarest].rows[orders[rarest].above[i]:] {
			ratio := math.Inf(1)
			for j, a := range need {
				if a.Sign() == 0 {
					continue
				}
				if orders[j].place[k] < orders[j].above[i] {
					continue others
				}
				ratio = min(ratio, logs[k][j]-logs[i][j]) // log 0 is -Inf, but k holds more than 0
			}
			if l := h.limitOf(i); l != nil {
				ratio = min(ratio, ratLog2(l)-ratLog2(h.tasks[i])-ratLog2(h.Dominant[i]))
			}
			if job < 0 || ratio > largest || ratio == largest && i == job && k < other {
				job, other, largest = i, k, ratio
			}
		}
	}
	if job < 0 {
		return nil, nil
	}
	return &Envy{job, other, h.tasks[job], h.tasksWith(job, other)}, nil
}

// tasksWith returns φ_k w_i/w_k min_j a_kj/a_ij over the resources j that job i needs.
func (h *holdings) tasksWith(i, k int) *big.Rat {
	var least *big.Rat
	for j, a := range h.Need[i] {
		if a.Sign() == 0 {
			continue
		}
		if x := new(big.Rat).Quo(h.part[k][j], a); least == nil || x.Cmp(least) < 0 {
			least = x
		}
	}
	least.Mul(least, h.Weight[i])
	least.Quo(least, h.Dominant[i])
	least.Mul(least, h.tasks[k])
	if l := h.limitOf(i); l != nil {
		if most := new(big.Rat).Quo(l, h.Dominant[i]); most.Cmp(least) < 0 {
			return most
		}
	}
	return least
}

// ratLog2 returns log2 x for x >= 0 of any size, -Inf for 0.
func ratLog2(x *big.Rat) float64 {
	if x.Sign() == 0 {
		return math.Inf(-1)
	}
	mantissa := new(big.Float)
	exponent := new(big.Float).SetPrec(64).SetRat(x).MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log2(m) + float64(exponent)
}
