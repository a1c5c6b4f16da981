package fluid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/internal/input"
)

// A bottleneck is the kernel of bottleneck max fairness (T. Bonald and J. Roberts, SIGMETRICS
// 2015): every job i has a saturated resource j of which its fraction by weight, b_ij s_i/w_i, is
// the largest level t_j of all jobs there. With t_j infinite unless j is saturated,
//
//	s_i = w_i min_j t_j/b_ij,  Σ_i n_i b_ij s_i = 1 if t_j is finite, <= 1 if not.     (*)
//
// With two resources there is exactly one such allocation. For if both are saturated, v = t_1/t_2
// is a zero of
//
//	g(v) = Σ_i n_i w_i (1 - b_i2/b_i1) min(v, b_i1/b_i2),  the term being -n_i w_i where b_i1 = 0,
//
// and g >= 0 near 0 (g <= 0 near infinity) says that the second (first) need not be. Now g(v)/v
// increases up to v = 1, where min(v, b_i1/b_i2) = v for the jobs with b_i2 <= b_i1, and from there
// on g increases, since the term is constant for the other jobs. If g is 0 on an interval, all jobs
// have one bottleneck and the same share.
//
// With three resources there can be several. With demands (10, 9, 9), (9, 10, 0), (9, 0, 10) and
// capacities 28, 19, 19, the tasks (1, 1, 1), (14/15, 28/27, 28/27) and (19/18, 19/20, 19/20) are
// all bottleneck max fair. The kernel then returns the end of a path. Give all jobs one more
// resource, of which each takes its dominant share. While its capacity is small, only that resource
// is saturated and the dominant shares are equal by weight. As the capacity grows, the solutions of
// (*) form a path, which may temporarily turn back; it ends when no job has the extra resource as
// its bottleneck. The path depends neither on the order of rows and resources nor on units, but
// ties can make it branch. The kernel therefore follows it with the numbers changed by about 1e-9,
// always in the same way. At its end the levels, and if necessary the bottlenecks, are corrected
// for the original numbers.
//
// Rows with equal b are one class, and a resource of which no job takes more than of another is
// omitted, which does not change (*).
type bottleneck struct {
	problem *problem
	class   []int       // class of each row
	kept    []int       // the resources that matter
	need    [][]float64 // b_kj of class k, for the resources that matter
	hasOnes bool        // whether each class has 1 as its largest entry, which is always true without limits
	mass    []float64   // Σ n_i w_i of class k, divided by the largest
	level   []float64   // s_i/w_i of class k, multiplied by that largest sum
	trial   []float64   // levels to try
	load    []float64   // by resource, scratch
	top     []float64   // by resource, scratch
	path    bottleneckPath
}

// maxBottleneckResidual is the residual, relative to the capacities and the largest levels, above
// which no allocation is returned.
const maxBottleneckResidual = 1e-9

// leastBottleneckMass is the fraction of the largest Σ n_i w_i below which that of another class
// could be lost to underflow.
const leastBottleneckMass = 1e-280

// newBottleneck returns the kernel of bottleneck max fairness.
func newBottleneck(p *problem) kernel {
	b := &bottleneck{problem: p}
	b.class, b.need = equalRows(p)
	b.keep(usefulResources(b.need, cmp.Compare[float64]))
	return b
}

// keep removes the resources that are not in kept from b.need, and allocates scratch.
func (b *bottleneck) keep(kept []int) {
	b.kept = kept
	for k, all := range b.need {
		b.need[k] = make([]float64, len(kept))
		for i, j := range kept {
			b.need[k][i] = all[j]
		}
	}
	b.hasOnes = !slices.ContainsFunc(b.need, func(need []float64) bool { return slices.Max(need) != 1 })
	b.mass, b.level, b.trial = make([]float64, len(b.need)), make([]float64, len(b.need)), make([]float64, len(b.need))
	b.load, b.top = make([]float64, len(kept)), make([]float64, len(kept))
	b.path = newBottleneckPath(len(b.need), len(kept))
}

// usefulResources returns the resources j for which no other resource l has need[k][j] <=
// need[k][l] for all k; it keeps the first of several equal ones.
func usefulResources[T any](need [][]T, compare func(a, b T) int) []int {
	var kept []int
	for j := range need[0] {
		useless := slices.ContainsFunc(kept, func(l int) bool { return covers(need, l, j, compare) })
		for l := j + 1; l < len(need[0]) && !useless; l++ {
			useless = covers(need, l, j, compare) && !covers(need, j, l, compare)
		}
		if !useless {
			kept = append(kept, j)
		}
	}
	return kept
}

// covers reports whether need[k][j] <= need[k][l] for all k.
func covers[T any](need [][]T, l, j int, compare func(a, b T) int) bool {
	for _, a := range need {
		if compare(a[j], a[l]) > 0 {
			return false
		}
	}
	return true
}

func (b *bottleneck) Forget() {}

// Shares takes O(K) operations for K classes on one resource, and usually also on two. On more, the
// path has about K pieces in practice, of O(K J + J³) operations each. The error is an
// *[num.InputError] if, with two or more resources, Σ count_i weight_i over the rows of one profile
// is below 1e-280 times that of another; otherwise it reports that no allocation with a small
// residual was found.
func (b *bottleneck) Shares(ctx context.Context, count, share []float64) error {
	least, most := b.setMass(count)
	if least < leastBottleneckMass*most && len(b.kept) > 1 {
		return input.Errorf("count", fmt.Sprintf("Σ count_i weight_i = %.3g and %.3g", least, most),
			"counts with which Σ count_i weight_i over the rows of each profile is at least %g of the largest, under "+
				"the policy bmf",
			leastBottleneckMass)
	}
	switch {
	case len(b.kept) == 1:
		sum := 0.0
		for _, m := range b.mass {
			sum += m
		}
		for k := range b.level {
			b.level[k] = 1 / (sum * b.need[k][0])
		}
	case len(b.kept) == 2 && b.hasOnes:
		b.solveTwo()
	default:
		if residual := b.solveMany(ctx); ctx.Err() != nil {
			return ctx.Err()
		} else if !(residual <= maxBottleneckResidual) {
			return fmt.Errorf("fluid: no bottleneck max fair allocation was found; the best has residual %.3g",
				residual)
		}
	}
	for i, k := range b.class {
		share[i] = 0
		if count[i] > 0 {
			share[i] = b.problem.weight[i] * (b.level[k] / most)
		}
	}
	return nil
}

// setMass computes b.mass and returns the smallest and the largest Σ n_i w_i of the classes
// present.
func (b *bottleneck) setMass(count []float64) (least, most float64) {
	clear(b.mass)
	for i, c := range count {
		b.mass[b.class[i]] += c * b.problem.weight[i]
	}
	least, most = math.Inf(1), slices.Max(b.mass)
	for k, m := range b.mass {
		if m > 0 {
			least = min(least, m)
		}
		b.mass[k] /= most
	}
	return least, most
}

// solveTwo solves (*) for two resources. Call major the resource with the larger Σ m_k (1 - q_k)
// over the classes that it dominates, where q_k = min_j b_kj. It is the bottleneck of these
// classes, and its level is 1/u. The other classes are also limited by it if q_k z >= 1, with z >=
// 1 the ratio of the level of the minor resource to that of the major one; otherwise they are
// limited by the minor one. Both are saturated if
//
//	Σ_{k not of major} m_k (1 - q_k) min(1/q_k, z) = Σ_{k of major} m_k (1 - q_k);     (**)
//
// if the left side stays below, the minor resource is not saturated. The left side is concave in z,
// so Newton's method approaches the root from z = 1 without passing it, and ends after at most one
// step for each of its linear pieces.
func (b *bottleneck) solveTwo() {
	var excess, mass [2]float64
	for k, a := range b.need {
		of, q := dominantOfTwo(a)
		excess[of] += b.mass[k] * (1 - q)
		mass[of] += b.mass[k]
	}
	major := 0
	if excess[1] > excess[0] {
		major = 1
	}
	z := 1.0
	for {
		fixed, factor := 0.0, 0.0 // the left side of (**) just above z is fixed + factor z
		for k, a := range b.need {
			of, q := dominantOfTwo(a)
			switch {
			case of == major || b.mass[k] == 0:
			case q*z >= 1:
				fixed += b.mass[k] * (1 - q) / q
			default:
				factor += b.mass[k] * (1 - q)
			}
		}
		if factor == 0 {
			z = math.Inf(1)
			break
		}
		next := (excess[major] - fixed) / factor
		if !(next > z) {
			break
		}
		z = next
	}
	u := mass[major]
	for k, a := range b.need {
		if of, q := dominantOfTwo(a); of != major && b.mass[k] > 0 {
			u += b.mass[k] * min(1, q*z)
		}
	}
	for k, a := range b.need {
		b.level[k] = 1 / u
		if of, q := dominantOfTwo(a); of != major && b.mass[k] > 0 {
			b.level[k] = min(1/q, z) / u
		}
	}
}

// dominantOfTwo returns the resource of which a profile takes 1, and the amount that it takes of
// the other.
func dominantOfTwo(a []float64) (of int, q float64) {
	if a[0] == 1 {
		return 0, a[1]
	}
	return 1, a[0]
}

// errNoBottleneck reports that the search in bottleneck gave up.
var errNoBottleneck = errors.New(
	"fluid: no bottleneck max fair allocation was certified; the engine float returns one with its residual",
)

// bottleneck returns the dominant share of one job of each row under bottleneck max fairness,
// proved. It takes the bottleneck of each row from the kernel in float64, solves
//
//	Σ_i n_i w_i b_ij t_β(i)/b_iβ(i) = 1 for each j = β(i) of some row i
//
// for the levels t_j in fractions, and checks the definition: no load exceeds 1, and no job has a
// larger fraction by weight of resource β(i) than row i. If that fails, which ties can cause, it
// tries the bottlenecks that the kernel finds with numbers changed in other ways and from the low
// start. It uses the same order as the kernel, so both choose the same one of several allocations.
// If there are few possible bottlenecks, it then tries all. The error reports that none passed, or
// that a number is out of the range of the kernel.
func (e *Profiles) bottleneck(ctx context.Context) ([]*big.Rat, error) {
	p, err := newProblem(e, "")
	if err != nil {
		return nil, err
	}
	class, first := e.classes() // equal classes and useless resources are the same in fractions
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
	followed := func(low bool) []*big.Rat {
		for seed, change := range bottleneckChanges() {
			if kernel.follow(ctx, change, uint64(seed), low) {
				if shares := try(kernel.path.atClass); shares != nil {
					return shares
				}
			}
		}
		return nil
	}
	// in the order of the kernel, so both choose the same one of several allocations
	for _, low := range kernel.starts() {
		if shares := followed(low); shares != nil {
			return shares, nil
		}
	}
	const most = 20_000
	ofClass, all := make([]int, len(kernel.need)), 1
	for range ofClass {
		if all *= len(kernel.kept); all > most {
			all = 0
			break
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

// sharesAt returns the dominant shares if the rows have the bottlenecks at, or nil if that is not a
// bottleneck max fair allocation or does not determine the levels.
func (e *Profiles) sharesAt(ctx context.Context, at []int) []*big.Rat {
	resources := len(e.Need[0])
	column := make([]int, resources) // column of j in the linear system, -1 if no row has its bottleneck there
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
	for i, l := range at { // n_i w_i / b_il for level l
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
	for i, j := range at { // no fraction of a resource l in use exceeds its level
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

// solveRats solves the square linear system whose rows end with the right side, by Gaussian
// elimination; it returns nil if the system is singular. It overwrites the system.
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
