package tags

import "math"

// nearlyEqualLoads returns the atoms with the smallest Σ_i (ρ_i - ρ)² as cutoffs, by dynamic
// programming over the hosts: with the first i hosts on the jobs up to atom k,
//
//	F_i(k) = min_{j<=k} F_{i-1}(j) + (ρ_i - ρ)²,  ρ_i for the sizes above atom j up to atom k.
//
// The last term is a convex function of a difference of W(k) and W(j), the work up to each atom, so
// the best j is nondecreasing in k.
func (m Model) nearlyEqualLoads(l *moments, atoms []float64) []float64 {
	n := len(atoms)
	d := deviations{
		below: make([]float64, n), above: make([]float64, n), before: make([]float64, n), after: make([]float64, n),
	}
	for k, x := range atoms {
		d.below[k], d.above[k] = l.partial(1, 0, x)/l.mean, l.partial(1, x, math.Inf(1))/l.mean
		if k > 0 {
			d.before[k] = math.Inf(1) // without hosts there are no jobs
		}
	}
	best := make([][]int32, m.Hosts) // the best j by host and k
	for i := range best {
		d.relative, d.best = m.capacity()/m.speed(i), make([]int32, n)
		best[i] = d.best
		if l.stopped() {
			return make([]float64, m.Hosts-1)
		}
		if i == m.Hosts-1 {
			d.solve(n-1, n-1, 0, n-1)
		} else {
			d.solve(0, n-1, 0, n-1)
		}
		d.before, d.after = d.after, d.before
	}
	cutoffs := make([]float64, m.Hosts-1)
	k := n - 1
	for j := len(cutoffs) - 1; j >= 0; j-- {
		k = int(best[j+1][k])
		cutoffs[j] = atoms[k]
	}
	return cutoffs
}

// deviations holds one step of [Model.nearlyEqualLoads], for one host.
type deviations struct {
	below, above  []float64 // fraction of the work up to each atom, and above it
	relative      float64   // Σ_i v_i over the speed of the host
	before, after []float64 // F_{i-1} and F_i, in units of ρ²
	best          []int32   // the smallest best j for each k
}

// solve sets F_i and the best j for the atoms low to high, where the best j is between first and
// last.
func (d *deviations) solve(low, high, first, last int) {
	if low > high {
		return
	}
	k := low + (high-low)/2
	least, best := math.Inf(1), first
	for j := first; j <= min(k, last); j++ {
		work, _ := difference(d.below[j], d.below[k], d.above[j], d.above[k])
		off := work*d.relative - 1
		if f := d.before[j] + off*off; f < least {
			least, best = f, j
		}
	}
	d.after[k], d.best[k] = least, int32(best)
	if math.IsInf(least, 1) { // overflow, at extreme speeds, hides the best j
		d.solve(low, k-1, first, last)
		d.solve(k+1, high, first, last)
		return
	}
	d.solve(low, k-1, first, best)
	d.solve(k+1, high, best, last)
}
