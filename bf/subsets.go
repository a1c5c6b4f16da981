package bf

import (
	"context"

	"productform/internal/arithmetic"
	"productform/internal/cube"
	"productform/internal/ranktable"
	"productform/internal/recursion"
	"productform/num"
)

// measures holds the stationary measures of one component, computed by one engine.
type measures struct {
	normalization arithmetic.Number
	jobs          []arithmetic.Number // E[X_i] of each class
	busy          []arithmetic.Number // utilization of the servers of each group

	// classesByElimination is P(X_i = n) of each row of the model, in the order of
	// Component.Classes. Only elimination sets it, on request.
	classesByElimination [][]arithmetic.Number

	failed error // error of elimination if its answer is not good enough; other lattices may have one
}

// maxDenominatorError is the maximum relative error of a denominator in the float engine. It
// matters only for rates whose common denominator takes more than 62 bits.
const maxDenominatorError = 1e-14

// sumOf returns Σ x, which is the largest denominator if x are the capacities.
func sumOf(x []int64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

// floatClasses sweeps the class lattice in float64. It takes a total of N 2^N additions and 8·2^N
// bytes. With G up the lattice and W its adjoint down,
//
//	E[X_i] = (Σ_{A∋i} G(A) + λ_i Σ_{A∋i} W(A) G(A)) / Z.
//
// The first sum depends on λ_i through the weights (G(A) is Π_{i∈A} λ_i times a function of the
// denominators), the second through the denominators. Every term is positive.
func floatClasses(ctx context.Context, p *recursion.Problem, sweepMemory *cube.Memory, workers int) (measures, error) {
	c, sums, e, err := sweepClasses(ctx, p, sweepMemory, workers)
	if err != nil {
		return measures{}, err
	}
	defer c.Release()
	m := measures{normalization: arithmetic.FromFloat(sums.All(), e.Up)}
	for s := range p.Groups {
		m.busy = append(m.busy, arithmetic.FromFloat(sums.Meet(s), e.Up).Quo(m.normalization))
	}
	down, err := c.Down(ctx, workers)
	if err != nil {
		return measures{}, err
	}
	for i := range p.Classes {
		direct := arithmetic.FromFloat(sums.With(i), e.Up)
		load := arithmetic.FromFloat(c.Weight[i], arithmetic.Roundoff).
			Mul(arithmetic.FromFloat(down.With(i), e.ProductSum))
		m.jobs = append(m.jobs, direct.Add(load).Quo(m.normalization))
	}
	return m, nil
}

// sweepClasses sweeps up the class lattice. Afterwards cube.value is G(A).
func sweepClasses(ctx context.Context, p *recursion.Problem, sweepMemory *cube.Memory,
	workers int) (*cube.Cube, cube.Sums, cube.ErrorBounds, error) {
	n := len(p.Classes)
	capacity, rate, shift, slop := p.Words()
	weights := make([]float64, n)
	for i, k := range p.Classes {
		weights[i] = arithmetic.Scaled(k.Rate, shift)
	}
	c := cube.New(weights, sweepMemory)
	c.AllSets, c.Meet = true, p.ClassMasks()
	capacities, masks, rates := pad(n, len(c.Weight), capacity, c.Meet, rate)
	c.Denominators = cube.NewDenominators(capacities, masks, rates, c.Unit)
	if !c.InRange(sumOf(capacity)) {
		return nil, cube.Sums{}, cube.ErrorBounds{}, num.ErrFloatRange
	}
	sums, err := c.Up(ctx, workers)
	if err != nil {
		return nil, sums, cube.ErrorBounds{}, err
	}
	switch least := sums.Min; {
	case least <= slop && slop == 0:
		return nil, sums, cube.ErrorBounds{}, p.Overloaded(ranktable.Members(c.Denominators.Smallest(sums.MinBlock)))
	case slop > maxDenominatorError*(least-slop):
		return nil, sums, cube.ErrorBounds{}, num.ErrDigits
	}
	return c, sums, cube.NewErrorBounds(n, arithmetic.Roundoff+slop/(sums.Min-slop)), nil
}

// pad extends n classes to size with classes of rate 0 on one additional server, which keeps their
// denominators positive. Their weight is 0, and so is the value of every set that contains one.
func pad(n, size int, capacity []int64, masks []int, rate []int64) ([]int64, []int, []int64) {
	if n == size {
		return capacity, masks, rate
	}
	var total int64
	for _, c := range capacity {
		total += c
	}
	capacity = append(append([]int64(nil), capacity...), total)
	masks = append(append([]int(nil), masks...), 1<<size-1<<n)
	return capacity, masks, append(append([]int64(nil), rate...), make([]int64, size-n)...)
}

// floatServers sweeps the lattice of all sets of servers in float64. It keeps a table of values,
// one of denominators and one of the integers they are computed from: 24·2^S bytes. With Z up the
// lattice and W its adjoint down, E[X_i] = λ_i Σ_{K ⊇ S_i} W(K) Z(K) / Z, and server s is idle with
// probability Z(all but s)/Z.
func floatServers(ctx context.Context, p *recursion.Problem, sweepMemory *cube.Memory, workers int) (measures, error) {
	n := len(p.Groups)
	size := max(n, cube.LowBits)
	capacity, rate, shift, slop := p.Words()
	sets := serverSets(p)
	weights := make([]float64, n)
	for s, g := range p.Groups {
		weights[s] = arithmetic.Scaled(g.Capacity, shift)
	}
	c := cube.New(weights, sweepMemory)
	defer c.Release()
	den, table, smallest, err := serverDenominators(ctx, capacity, rate, sets, c.Unit, workers)
	if err != nil {
		return measures{}, err
	}
	switch least := float64(den[smallest]); {
	case least <= slop && slop == 0:
		return measures{}, p.Overloaded(classesWithin(sets, smallest))
	case slop > maxDenominatorError*(least-slop):
		return measures{}, num.ErrDigits
	}
	delta := arithmetic.Roundoff + slop/(float64(den[smallest])-slop)
	c.Denominators, c.Products = &cube.Denominators{Table: table}, table
	if !c.InRange(sumOf(capacity)) {
		return measures{}, num.ErrFloatRange
	}
	if _, err := c.Up(ctx, workers); err != nil {
		return measures{}, err
	}
	e := cube.NewErrorBounds(n, delta)
	z := arithmetic.FromFloat(c.Value(c.Root), e.Value)
	m := measures{normalization: z}
	for s := range p.Groups {
		busy := arithmetic.FromFloat(c.Value(c.Root&^(1<<s)), e.Value).Quo(z).OneMinus()
		if !(busy.Double() > recursion.LowUtilization) {
			c.MostlyIdle, c.Integers, c.Capacity = append(c.MostlyIdle, s), den, capacity
		}
		m.busy = append(m.busy, busy)
	}
	if c.MostlyIdle == nil {
		den = nil
	}
	sums, err := c.Down(ctx, workers)
	if err != nil {
		return measures{}, err
	}
	for i, s := range c.MostlyIdle {
		// The rate that s adds is a sum of integers, each off by at most half.
		worst := 0.0
		for k := range p.Classes {
			if slop > 0 && sets[k]>>s&1 == 1 {
				worst = max(worst, 0.5/max(0, float64(rate[k])-0.5))
			}
		}
		m.busy[s] = arithmetic.FromFloat(sums.MostlyIdle[i].Value(),
			arithmetic.Compound(e.Product, arithmetic.Roundings(cube.BlockSize+8), worst)).Quo(z)
	}
	cube.AddSupersets(ctx, c.Products, workers)
	if err := ctx.Err(); err != nil {
		return measures{}, err
	}
	for i, k := range p.Classes {
		sum := arithmetic.FromFloat(c.Products[sets[i]],
			arithmetic.Compound(e.Product, arithmetic.Roundings(float64(size)), 0))
		rate := arithmetic.FromFloat(arithmetic.Scaled(k.Rate, shift)*c.Unit, arithmetic.Roundoff)
		m.jobs = append(m.jobs, rate.Mul(sum).Quo(z))
	}
	return m, nil
}

// serverSets returns the servers of each class as a mask, for single servers.
func serverSets(p *recursion.Problem) []int {
	sets := make([]int, len(p.Classes))
	for i, k := range p.Classes {
		for _, c := range k.Choose {
			sets[i] |= 1 << c.Group
		}
	}
	return sets
}

// serverDenominators returns M(K) - λ(K) at the mask of each set K of servers, as integers and as
// float64 times the unit, and the set with the smallest. Servers that pad the table have none.
func serverDenominators(ctx context.Context, capacity, rate []int64, sets []int, unit float64,
	workers int) (den []int64, table []float64, smallest int, err error) {
	n := len(capacity)
	size := max(n, cube.LowBits)
	den = make([]int64, 1<<size)
	for s, c := range capacity {
		den[1<<s] += c
	}
	for i, set := range sets {
		den[set] -= rate[i]
	}
	cube.AddSubsets(ctx, den, workers)
	table, smallest = cube.NewTable(1<<size), 1
	cube.InSlices(ctx, len(den), func(first, last int) {
		at := smallest
		for a, d := range den[first:last] {
			if d < den[at] && (first+a)&(1<<n-1) != 0 {
				at = first + a
			}
			table[first+a] = float64(max(d, 1)) * unit // 0 for sets of padding only, whose values are 0 anyway
		}
		smallest = at
	})
	return den, table, smallest, ctx.Err()
}

func classesWithin(sets []int, servers int) []int {
	var l []int
	for i, s := range sets {
		if s&^servers == 0 {
			l = append(l, i)
		}
	}
	return l
}
