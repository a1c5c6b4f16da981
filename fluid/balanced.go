package fluid

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
)

// maxBalancedStates is the maximum number of points of the lattice {y <= x} that the kernel of
// balanced fairness visits. The worst case is one job each of 27 different rows: a slab of 2^26
// numbers takes 512 MB and, with two resources, about 20 s; 26 rows take half as much.
const maxBalancedStates = 1 << 27

// pointsBetween is the number of points of the lattice between two checks of the context.
const pointsBetween = 1 << 16

// negligible is the value of Ψ below which the kernel uses 0: smaller values do not matter, and
// numbers near the end of the range of float64 are slow.
const negligible = 1e-250

// WantSameWeight is the weight that balanced fairness requires, as worded in errors.
const WantSameWeight = "the same weight for all under the policy bf"

const (
	wantWholeCount = "an integer under the policy bf"
	wantFewerJobs  = "the product of (count+1) over the different rows: lower the counts"
)

// tableOf describes a number of states in an error message.
func tableOf(states float64) string { return fmt.Sprintf("a table of %.2g numbers", states) }

// A balanced is the kernel of balanced fairness,
//
//	Φ(0) = 1,  Φ(y) = max_j Σ_k b_kj Φ(y-e_k),
//
// in dominant shares, where max_j b_kj = 1; x_k jobs of class k together have the dominant share
// Φ(x-e_k)/Φ(x).
//
// Rows with equal b are one class. For if Φ' is the balance function with classes 1 and 2 merged,
// then Φ(y) = (y_1+y_2 over y_1) Φ'(y_1+y_2, …): both sides obey the recursion, as C(n-1, y_1-1) +
// C(n-1, y_1) = C(n, y_1) for n = y_1+y_2. Hence Φ(x-e_1)/Φ(x) is x_1/n times the share of the
// merged class: each of the n jobs gets the same.
//
// Only one slab of the lattice is stored, across the largest x_k. Each value results from sums,
// products and maxima of positive numbers, so the relative error is at most (K+2) |x| 2^-52; there
// are about Π_k (x_k+1) K J operations. The slab takes 8 Π_k (x_k+1) / (1 + max_k x_k) bytes, and
// is kept for the next call.
type balanced struct {
	problem  *problem
	unequal  int         // the first row whose weight differs from that of row 0, or -1
	class    []int       // class of each row
	need     [][]float64 // b_kj of class k
	count    []float64   // x_k
	scale    []float64   // c_k
	limit    []float64   // l_k, +Inf without a limit; nil if there are no limits
	total    []float64   // Φ(x-e_k)/Φ(x)
	load     []float64   // by resource, scratch
	price    []float64   // by resource, scratch
	order    []int       // the classes present, with the largest x_k first
	stride   []int       // stride of order[i] in slab; 0 for order[0], whose predecessor is the overwritten value
	position []int       // y of order[i]
	steps    []step      // predecessors of the current row of points
	slab     []float64   // Φ(y) Π_k c_k^y_k
}

// A step leads from a point to its predecessor y-e_k.
type step struct {
	back   int       // distance in the slab
	weight []float64 // c_k b_kj
	own    float64   // c_k/l_k, divided by y_k unless it leads along the row; 0 without a limit
}

// newBalanced returns the kernel of balanced fairness.
func newBalanced(p *problem) kernel {
	b := &balanced{problem: p, unequal: slices.IndexFunc(p.weight, func(w float64) bool { return w != p.weight[0] })}
	b.class, b.need = equalRows(p)
	if p.limit != nil {
		b.limit = make([]float64, len(b.need))
		for i, k := range b.class {
			b.limit[k] = p.limit[i]
		}
	}
	k := len(b.need)
	b.count, b.scale, b.total = make([]float64, k), make([]float64, k), make([]float64, k)
	b.load, b.price = make([]float64, p.resources), make([]float64, p.resources)
	b.order, b.stride, b.position = make([]int, 0, k), make([]int, k), make([]int, k)
	b.steps = make([]step, k)
	for i := range b.steps {
		b.steps[i].weight = make([]float64, p.resources)
	}
	return b
}

// equalRows numbers the different profiles, in the order of their first rows: the class of each row
// and the b_kj of each class.
func equalRows(p *problem) (class []int, need [][]float64) {
	seen := make(map[string]int)
	var key []byte
	for i := range p.rows {
		key = key[:0]
		for j := range p.resources {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(p.need[j][i]))
		}
		if p.limit != nil {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(p.limit[i]))
		}
		k, ok := seen[string(key)]
		if !ok {
			k = len(need)
			seen[string(key)] = k
			need = append(need, p.profile(i))
		}
		class = append(class, k)
	}
	return class, need
}

func (b *balanced) Forget() {}

// Shares requires equal weights and integer counts. The error is an *[num.InputError], also if the
// lattice has more than maxBalancedStates points. A single class needs no lattice, for any count.
func (b *balanced) Shares(ctx context.Context, count, share []float64) error {
	if b.unequal >= 0 {
		return input.Errorf(indexed("jobs", b.unequal)+".weight", b.problem.weight[b.unequal], WantSameWeight)
	}
	clear(b.count)
	for i, c := range count {
		if c != math.Trunc(c) {
			return input.Errorf(indexed("count", i), c, wantWholeCount)
		}
		b.count[b.class[i]] += c
	}
	b.order = b.order[:0]
	for k, c := range b.count {
		if c > 0 {
			b.order = append(b.order, k)
		}
	}
	if err := b.solve(ctx); err != nil {
		return err
	}
	for i, k := range b.class {
		share[i] = 0
		if count[i] > 0 {
			share[i] = b.total[k] / b.count[k]
		}
	}
	return nil
}

// solve computes b.total from b.count and b.order.
func (b *balanced) solve(ctx context.Context) error {
	if len(b.order) == 1 {
		b.total[b.order[0]] = 1
		if b.limit != nil {
			b.total[b.order[0]] = min(1, b.count[b.order[0]]*b.limit[b.order[0]])
		}
		return nil
	}
	slices.SortFunc(b.order, func(k, l int) int {
		return cmp.Or(cmp.Compare(b.count[l], b.count[k]), k-l)
	})
	states := 1.0
	for _, k := range b.order {
		states *= b.count[k] + 1
	}
	if states > maxBalancedStates {
		return input.Errorf("jobs", tableOf(states), "at most %d under balanced fairness, %s, or choose another policy",
			maxBalancedStates, wantFewerJobs)
	}
	size := 1
	b.stride[0] = 0
	for i, k := range b.order[1:] {
		b.stride[i+1] = size
		size *= int(b.count[k]) + 1
	}
	if cap(b.slab) < size {
		b.slab = make([]float64, size)
	}
	b.slab = b.slab[:size]
	clear(b.slab)
	b.chooseScale()
	if b.limit != nil {
		return b.limited(ctx)
	}
	return b.sweep(ctx)
}

// chooseScale sets feasible c_k near the proportionally fair shares of the classes. It iterates
// u_j <- u_j load_j(u) with load_j(u) = Σ_k b_kj x_k/Σ_l b_kl u_l, which increases to the maximum
// of Σ_k x_k log Σ_j b_kj u_j for Σ_j u_j = n = Σ_k x_k, until n log M <= 100 for M = max_j
// load_j(u); then c_k = x_k/(M Σ_j b_kj u_j).
//
// With these Ψ(y) = Φ(y) Π_k c_k^y_k neither overflows nor vanishes. Ψ(y) = max_j Σ_k c_k b_kj
// Ψ(y-e_k) <= max_k Ψ(y-e_k) <= 1, as c is feasible; so replacing values below 1e-250 by 0 changes
// Ψ(x) by at most n 1e-250. And a maximum is no less than the average with weights u_j/n, which
// gives Φ(y) >= (n(y) over y) Π_k (Σ_j u_j b_kj/n)^y_k, n(y) = Σ_k y_k; so Ψ(x) >= M^-n (n over x)
// Π_k (x_k/n)^x_k >= e^-100 (n+1)^(1-K), and likewise at x-e_k.
func (b *balanced) chooseScale() {
	n := 0.0
	for _, k := range b.order {
		n += b.count[k]
	}
	for j := range b.price {
		b.price[j] = n / float64(len(b.price))
	}
	for {
		clear(b.load)
		for _, k := range b.order {
			cost := 0.0
			for j, a := range b.need[k] {
				cost += a * b.price[j]
			}
			b.scale[k] = b.count[k] / cost
			for j, a := range b.need[k] {
				b.load[j] += a * b.scale[k]
			}
		}
		most := slices.Max(b.load)
		if n*math.Log(most) <= 100 {
			for _, k := range b.order {
				b.scale[k] /= most
			}
			return
		}
		for j, load := range b.load {
			b.price[j] = max(b.price[j]*load, 1e-30*n) // 0 could not rise again
		}
	}
}

// sweep fills the slab for y = 0, 1, … jobs of the class with the largest count, and overwrites the
// previous values each time.
func (b *balanced) sweep(ctx context.Context) error {
	outer := b.order[0]
	corner := len(b.slab) - 1
	before := 0.0 // Ψ(x-e_k) for k = outer
	for y := 0; y <= int(b.count[outer]); y++ {
		before = b.slab[corner]
		b.position[0] = y
		if err := b.sweepSlab(ctx); err != nil {
			return err
		}
	}
	last := b.slab[corner]
	for i, k := range b.order {
		if i > 0 {
			before = b.slab[corner-b.stride[i]]
		}
		b.total[k] = b.scale[k] * before / last
	}
	return nil
}

// sweepSlab processes a slab row by row, along order[1].
func (b *balanced) sweepSlab(ctx context.Context) error {
	rest := b.position[2:len(b.order)]
	clear(rest)
	row := int(b.count[b.order[1]]) + 1
	points := 0 // points since the last check of the context
	for from := 0; from < len(b.slab); from += row {
		if points += row; points >= pointsBetween {
			if err := ctx.Err(); err != nil {
				return err
			}
			points = 0
		}
		n := 1
		b.setStep(0, 1)
		for i := range b.order {
			if i != 1 && b.position[i] > 0 {
				b.setStep(n, i)
				n++
			}
		}
		if b.limit == nil {
			b.sweepRow(from, from+row, b.steps[:n])
		} else {
			b.sweepLimited(from, from+row, b.steps[:n])
		}
		for i := range rest { // next row: count up in mixed radix
			if rest[i]++; rest[i] <= int(b.count[b.order[i+2]]) {
				break
			}
			rest[i] = 0
		}
	}
	return nil
}

// setStep makes steps[n] lead to one fewer job of order[i].
func (b *balanced) setStep(n, i int) {
	k := b.order[i]
	b.steps[n].back = b.stride[i]
	for j, a := range b.need[k] {
		b.steps[n].weight[j] = a * b.scale[k]
	}
	if b.limit != nil {
		b.steps[n].own = b.scale[k] / b.limit[k]
		if n > 0 {
			b.steps[n].own /= float64(b.position[i])
		}
	}
}

// sweepRow fills the points from, …, to-1, along which steps[0] leads back; at the first of them it
// has no predecessor.
func (b *balanced) sweepRow(from, to int, steps []step) {
	for p := from; p < to; p++ {
		at := steps
		if p == from {
			at = steps[1:]
			if len(at) == 0 {
				b.slab[p] = 1 // the empty state
				continue
			}
		}
		most := 0.0
		for j := range b.load {
			sum := 0.0
			for i := range at {
				sum += at[i].weight[j] * b.slab[p-at[i].back]
			}
			most = max(most, sum)
		}
		if most < negligible {
			most = 0
		}
		b.slab[p] = most
	}
}

// limited performs the sweep if jobs of class k have a dominant share of at most l_k each: Φ(y) is
// then also at least Φ(y-e_k)/(y_k l_k), as if each job had a separate resource of capacity l_k. To
// see this, let Φ'(S) be the function of a set S of jobs with such resources. With Φ(y) = Φ'(S)/Π_k
// y_k!, max_j Σ_{i∈S} b_ij Φ'(S-i) is Π_k y_k! max_j Σ_k b_kj Φ(y-e_k), and Φ'(S-i)/l_k is Π_l y_l!
// Φ(y-e_k)/(y_k l_k).
//
// The c_k are at most x_k l_k, and Ψ is at most Π_k x_k^x_k/x_k! over the classes with limits,
// since a step multiplies it by at most x_k/y_k. The error is an *[num.InputError] if that leaves
// the range of float64, or if Ψ(x) is so close to the values replaced by 0 that digits could be
// lost, which takes about a hundred jobs with limits.
func (b *balanced) limited(ctx context.Context) error {
	grown := 0.0 // logarithm of the bound on Ψ
	for _, k := range b.order {
		b.scale[k] = min(b.scale[k], b.count[k]*b.limit[k])
		if !math.IsInf(b.limit[k], 1) {
			grown += b.count[k]
		}
	}
	if err := b.sweep(ctx); err != nil {
		return err
	}
	lost := math.Log(negligible) + grown + math.Log(float64(len(b.slab))) + 40 // 40 gives an error of 1e-17
	for _, k := range b.order {
		before, last := b.total[k]/b.scale[k]*b.slab[len(b.slab)-1], b.slab[len(b.slab)-1]
		if !(grown < 700 && math.Log(min(before, last)) > lost) {
			return input.Errorf("jobs", fmt.Sprintf("%.0f jobs with limits", grown),
				"fewer jobs with max_tasks under balanced fairness in float64, or the engine exact")
		}
	}
	return nil
}

// sweepLimited does the same as sweepRow, with limits.
func (b *balanced) sweepLimited(from, to int, steps []step) {
	for p := from; p < to; p++ {
		at, most := steps, 0.0
		if p == from {
			if at = steps[1:]; len(at) == 0 {
				b.slab[p] = 1 // the empty state
				continue
			}
		}
		for j := range b.load {
			sum := 0.0
			for i := range at {
				sum += at[i].weight[j] * b.slab[p-at[i].back]
			}
			most = max(most, sum)
		}
		for i := range at {
			own := at[i].own
			if p > from && i == 0 {
				own /= float64(p - from)
			}
			most = max(most, own*b.slab[p-at[i].back])
		}
		if most < negligible {
			most = 0
		}
		b.slab[p] = most
	}
}

// Limits of balanced fairness in integers: the number of points of the lattice, and that number
// times the 64-bit words of the largest Φ.
const (
	maxExactStates = 1 << 22
	maxExactWords  = 1 << 25
)

// balanced returns the dominant share of one job of each row under balanced fairness, by the
// recursion over the whole lattice of states below the counts; rows with equal profiles are one
// class, in which every job gets the same. The error is an *[num.InputError] if the weights differ
// or the states are too many.
func (e *Profiles) balanced(ctx context.Context) ([]*big.Rat, error) {
	for i, w := range e.Weight {
		if w.Cmp(e.Weight[0]) != 0 {
			return nil, input.Errorf(indexed("jobs", i)+".weight", w.RatString(), WantSameWeight)
		}
	}
	class, first := e.classes()
	counts := make([]int, len(first))
	for i, k := range class {
		counts[k] += int(e.Count[i].Num().Int64())
	}
	needs := make([][]*big.Rat, len(first))
	inverse := make([]*big.Rat, len(first)) // 1/l_k, nil without a limit
	for k, i := range first {
		needs[k] = e.Need[i]
		if l := e.limitOf(i); l != nil {
			inverse[k] = new(big.Rat).Inv(l)
		}
	}
	total, err := balancedTotals(ctx, needs, inverse, counts)
	if err != nil {
		return nil, err
	}
	shares := make([]*big.Rat, len(e.Need))
	for i, k := range class {
		shares[i] = new(big.Rat).Quo(total[k], new(big.Rat).SetInt64(int64(counts[k])))
	}
	return shares, nil
}

// balancedTotals returns Φ(x-e_k)/Φ(x) for counts x_k >= 1 of classes with profiles need[k] and, if
// there is a limit l_k, its inverse.
func balancedTotals(ctx context.Context, need [][]*big.Rat, inverse []*big.Rat, count []int) ([]*big.Rat, error) {
	if len(need) == 1 {
		total := big.NewRat(1, 1)
		if inverse[0] != nil {
			if most := new(big.Rat).Quo(big.NewRat(int64(count[0]), 1), inverse[0]); most.Cmp(total) < 0 {
				total = most
			}
		}
		return []*big.Rat{total}, nil
	}
	b := newIntegerBalance(need, inverse, count)
	if b.states > maxExactStates {
		return nil, input.Errorf("jobs", tableOf(b.states),
			"at most %d for exact balanced fairness, %s, or choose the engine float or another policy",
			maxExactStates, wantFewerJobs)
	}
	if words := b.states * (1 + b.bits/64); words > maxExactWords {
		return nil, input.Errorf("jobs", fmt.Sprintf("a table of %.2g words of 64 bits", words),
			"at most %d for exact balanced fairness: lower the counts, or choose the engine float or another policy",
			maxExactWords)
	}
	phi, err := b.table(ctx)
	if err != nil {
		return nil, err
	}
	last := len(phi) - 1
	total := make([]*big.Rat, len(need))
	var part, factor big.Int
	for k, q := range b.scale {
		part.Mul(q, phi[last-b.stride[k]])
		if b.limited {
			part.Mul(&part, factor.SetInt64(int64(count[k])))
		}
		total[k] = new(big.Rat).SetFrac(&part, phi[last])
	}
	return total, nil
}

// An integerBalance is balanced fairness in integers Φ(y) Π_k q_k^y_k, where q_k is the common
// denominator of need[k]. With limits l_k on the dominant share of a job, Φ(y) is also at least
// Φ(y-e_k)/(y_k l_k), and the integers are Φ(y) Π_k q_k^y_k y_k!, which avoids divisions; q_k is
// then also a denominator of 1/l_k.
type integerBalance struct {
	count, stride []int
	scale         []*big.Int   // q_k
	whole         [][]*big.Int // q_k b_kj
	own           []*big.Int   // q_k/l_k, nil without a limit
	limited       bool         // whether some class has a limit
	states, bits  float64      // size of the table and of the largest integer
}

func newIntegerBalance(need [][]*big.Rat, inverse []*big.Rat, count []int) *integerBalance {
	n := len(need)
	b := &integerBalance{
		count:   count,
		stride:  make([]int, n),
		scale:   make([]*big.Int, n),
		whole:   make([][]*big.Int, n),
		own:     make([]*big.Int, n),
		states:  1,
		limited: slices.ContainsFunc(inverse, func(x *big.Rat) bool { return x != nil }),
	}
	for k, profile := range need {
		scale := big.NewInt(1)
		for _, a := range profile {
			num.JoinDenominator(scale, a)
		}
		if inverse[k] != nil {
			num.JoinDenominator(scale, inverse[k])
			b.own[k] = new(big.Int).Mul(scale, inverse[k].Num())
			b.own[k].Quo(b.own[k], inverse[k].Denom())
		}
		for _, a := range profile {
			part := new(big.Int).Mul(scale, a.Num())
			b.whole[k] = append(b.whole[k], part.Quo(part, a.Denom()))
		}
		b.scale[k], b.stride[k] = scale, int(min(b.states, maxExactStates))
		b.states *= float64(count[k] + 1)
		if b.limited {
			b.bits += float64(count[k]) * math.Log2(float64(count[k]))
		}
		b.bits += float64(count[k]) * float64(scale.BitLen()+big.NewInt(int64(n)).BitLen())
	}
	return b
}

// table returns the integers of all states, in mixed radix.
func (b *integerBalance) table(ctx context.Context) ([]*big.Int, error) {
	phi := make([]*big.Int, int(b.states))
	phi[0] = big.NewInt(1)
	position := make([]int, len(b.count))
	var sum, part, factor big.Int
	for p := 1; p < len(phi); p++ {
		if p%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for k := range position { // count up
			if position[k]++; position[k] <= b.count[k] {
				break
			}
			position[k] = 0
		}
		phi[p] = new(big.Int)
		for j := range b.whole[0] {
			sum.SetInt64(0)
			for k, y := range position {
				if y > 0 {
					part.Mul(b.whole[k][j], phi[p-b.stride[k]])
					if b.limited {
						part.Mul(&part, factor.SetInt64(int64(y)))
					}
					sum.Add(&sum, &part)
				}
			}
			if sum.Cmp(phi[p]) > 0 {
				phi[p].Set(&sum)
			}
		}
		for k, y := range position {
			if y > 0 && b.own[k] != nil && part.Mul(b.own[k], phi[p-b.stride[k]]).Cmp(phi[p]) > 0 {
				phi[p].Set(&part)
			}
		}
	}
	return phi, nil
}
