package fluid

import (
	"cmp"
	"context"
	"errors"
	"math/big"
)

// errNoBottleneck says that the search of bottleneck gave up.
var errNoBottleneck = errors.New("fluid: no bottleneck max fair allocation was certified; the engine float returns one with its residual")

// bottleneck returns the dominant share of one job of each row under bottleneck max fairness, proved. It takes the
// bottleneck of each row from the kernel in float64, solves
//
//	Σ_i n_i w_i b_ij t_β(i)/b_iβ(i) = 1 for each j = β(i) of some row i
//
// for the levels t_j in fractions, and checks the definition: no load exceeds 1, and no job has a larger part, by
// weight, of resource β(i) than row i. If that fails, as ties can make it do, it tries the bottlenecks that the kernel
// finds with its numbers changed in other ways, then all if they are few. The error says that none passed, or that a
// number is out of the range of the kernel.
func (e *Profiles) bottleneck(ctx context.Context) ([]*big.Rat, error) {
	p, err := newProblem(e, "")
	if err != nil {
		return nil, err
	}
	class, first := e.classes() // what is equal or useless is so in fractions
	kernel := &bottleneck{problem: p, class: class}
	var need [][]*big.Rat
	for _, i := range first {
		need = append(need, e.Need[i])
		kernel.need = append(kernel.need, p.profile(i))
	}
	kernel.keep(usefulResources(need, (*big.Rat).Cmp))
	kernel.setMass(e.counts())
	at := make([]int, p.rows)
	try := func(ofClass []int) []*big.Rat {
		if ctx.Err() != nil {
			return nil
		}
		for i, k := range kernel.class {
			at[i] = kernel.kept[ofClass[k]]
		}
		return e.sharesAt(ctx, at)
	}
	if len(kernel.kept) == 1 {
		if shares := try(make([]int, len(kernel.need))); shares != nil {
			return shares, nil
		}
		return nil, cmp.Or(ctx.Err(), errNoBottleneck)
	}
	for seed, change := range bottleneckChanges() {
		if kernel.follow(ctx, change, uint64(seed)) {
			if shares := try(kernel.path.atClass); shares != nil {
				return shares, nil
			}
		}
	}
	const most = 20_000
	ofClass, all := make([]int, len(kernel.need)), 1
	for range ofClass {
		if all *= len(kernel.kept); all > most {
			return nil, cmp.Or(ctx.Err(), errNoBottleneck)
		}
	}
	for range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if shares := try(ofClass); shares != nil {
			return shares, nil
		}
		for k := range ofClass { // count up
			if ofClass[k]++; ofClass[k] < len(kernel.kept) {
				break
			}
			ofClass[k] = 0
		}
	}
	return nil, cmp.Or(ctx.Err(), errNoBottleneck)
}

// sharesAt returns the dominant shares if the rows have the bottlenecks at, or nil if that is no bottleneck max fair
// allocation or does not determine the levels.
func (e *Profiles) sharesAt(ctx context.Context, at []int) []*big.Rat {
	resources := len(e.Need[0])
	column := make([]int, resources) // of j in the linear system, -1 if no row has its bottleneck there
	var active []int
	for j := range column {
		column[j] = -1
	}
	for i, j := range at {
		if e.Need[i][j].Sign() == 0 {
			return nil
		}
		if column[j] < 0 {
			column[j] = len(active)
			active = append(active, j)
		}
	}
	system := make([][]*big.Rat, len(active))
	for r := range system {
		system[r] = make([]*big.Rat, len(active)+1)
		for c := range active {
			system[r][c] = new(big.Rat)
		}
		system[r][len(active)] = big.NewRat(1, 1)
	}
	var factor, part big.Rat
	for i, l := range at { // n_i w_i / b_il of level l
		factor.Mul(e.Count[i], e.Weight[i])
		factor.Quo(&factor, e.Need[i][l])
		for r, j := range active {
			if e.Need[i][j].Sign() > 0 {
				system[r][column[l]].Add(system[r][column[l]], part.Mul(&factor, e.Need[i][j]))
			}
		}
	}
	level := solveRats(ctx, system)
	if level == nil {
		return nil
	}
	shares := make([]*big.Rat, len(at))
	for i, j := range at {
		shares[i] = new(big.Rat).Quo(level[column[j]], e.Need[i][j])
		shares[i].Mul(shares[i], e.Weight[i])
	}
	for i, j := range at { // every part of resource l in use is at most its level
		if level[column[j]].Sign() <= 0 {
			return nil
		}
		factor.Quo(shares[i], e.Weight[i])
		for c, l := range active {
			if part.Mul(&factor, e.Need[i][l]).Cmp(level[c]) > 0 {
				return nil
			}
		}
	}
	one := big.NewRat(1, 1)
	for j, used := range e.used(shares) {
		if used.Cmp(one) > 0 || column[j] >= 0 && used.Cmp(one) != 0 {
			return nil
		}
	}
	return shares
}

// solveRats solves the square linear system whose rows end with the right side, by Gauss's method; it returns nil if it
// is singular. It overwrites the system.
func solveRats(ctx context.Context, system [][]*big.Rat) []*big.Rat {
	n := len(system)
	var part big.Rat
	for c := range n {
		if ctx.Err() != nil {
			return nil
		}
		row := c
		for row < n && system[row][c].Sign() == 0 {
			row++
		}
		if row == n {
			return nil
		}
		system[c], system[row] = system[row], system[c]
		for r := range n {
			if r == c || system[r][c].Sign() == 0 {
				continue
			}
			factor := new(big.Rat).Quo(system[r][c], system[c][c])
			for k := c; k <= n; k++ {
				system[r][k].Sub(system[r][k], part.Mul(factor, system[c][k]))
			}
		}
	}
	x := make([]*big.Rat, n)
	for c := range x {
		x[c] = new(big.Rat).Quo(system[c][n], system[c][c])
	}
	return x
}
