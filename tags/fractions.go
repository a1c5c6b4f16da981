package tags

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"

	"productform/internal/input"
	"productform/num"
	"productform/sizes"
)

// Fractions holds numbers of a [Model] that float64 rounds, such as a load of 7/10. If the sizes
// are a list, a slack close to 0 is computed from these numbers without rounding. This
// distinguishes a load of exactly 1 from one just below it. A nil field means that the float64
// values of the model are exact.
type Fractions struct {
	Load   *big.Rat   // ρ
	Speeds []*big.Rat // v_i
	// sizes of the list, each as often as it occurs, in any order; only for a distribution that is
	// [sizes.Atomic]
	Sizes []*big.Rat

	// Cutoffs are the s_i for [Evaluate], whose arguments are their rounded values. A cutoff that
	// rounds to a size of the list stands for that size: jobs of that size end there.
	Cutoffs []*big.Rat

	Overhead, Every *big.Rat // c and τ of [Resume]; ignored if jobs restart from scratch
}

// validateFractions checks that the doubles of m are the rounded fractions.
func (m Model) validateFractions() error {
	f := m.Fractions
	if f == nil {
		return nil
	}
	if f.Load != nil {
		if err := roundsTo("Fractions.Load", f.Load, m.Load); err != nil {
			return err
		}
	}
	if f.Speeds != nil && len(f.Speeds) != len(m.Speeds) {
		return input.Errorf("Fractions.Speeds", fmt.Sprintf("%d speeds", len(f.Speeds)), "%d, one per speed",
			len(m.Speeds))
	}
	for i, v := range f.Speeds {
		if err := roundsTo(fmt.Sprintf("Fractions.Speeds[%d]", i), v, m.Speeds[i]); err != nil {
			return err
		}
	}
	if f.Overhead != nil && !m.Resume.restarts() {
		if err := roundsTo("Fractions.Overhead", f.Overhead, m.Resume.Overhead); err != nil {
			return err
		}
	}
	if f.Every != nil && !m.Resume.restarts() {
		if err := roundsTo("Fractions.Every", f.Every, m.Resume.Every); err != nil {
			return err
		}
	}
	d, atomic := m.Sizes.(sizes.Atomic)
	switch {
	case f.Sizes == nil:
		return nil
	case !atomic:
		return input.Errorf("Fractions.Sizes", fmt.Sprintf("%d sizes", len(f.Sizes)), "nil, since Sizes is not a list")
	}
	left := map[float64]int{}
	counts := d.Counts()
	for i, x := range d.Atoms() {
		left[x] = counts[i]
	}
	for i, x := range f.Sizes {
		path := fmt.Sprintf("Fractions.Sizes[%d]", i)
		if x == nil {
			return input.Errorf(path, "nil", "a fraction")
		}
		v, _ := num.Float64(x)
		if left[v]--; left[v] < 0 {
			return input.Errorf(
				path, x.RatString(), "a fraction that rounds to one of the sizes, once for each time it occurs",
			)
		}
	}
	for x, n := range left {
		if n > 0 {
			return input.Errorf("Fractions.Sizes", fmt.Sprintf("%d sizes", len(f.Sizes)), "all sizes: %v is missing", x)
		}
	}
	return nil
}

// withLoad returns m at another load.
func (m Model) withLoad(load float64) Model {
	m.Load = load
	if m.Fractions != nil {
		f := m.Fractions
		m.Fractions = &Fractions{Speeds: f.Speeds, Sizes: f.Sizes, Overhead: f.Overhead, Every: f.Every}
	}
	return m
}

// A list holds the sizes of a distribution with finitely many sizes, as integers over a common
// denominator, and computes loads from them without rounding. It is created on first use, since few
// hosts have a slack near 0.
type list struct {
	moments sizes.Atomic
	atoms   []float64
	exact   []*big.Rat // all sizes; nil if they are the atoms
	counts  []int      // counts of the atoms
	unit    *big.Int   // the common denominator
	sizes   []*big.Int // largest size that rounds to each atom, times unit
	above   []int64    // number of sizes above each atom
	work    []*big.Int // Σ of the sizes up to each atom, times unit
	count   int64      // number of all sizes

	cutoffs map[float64]*big.Rat // exact values of cutoffs given as fractions
}

// newList returns the list of the sizes of m, or nil if the distribution has no such list.
func newList(m Model) *list {
	d, ok := m.Sizes.(sizes.Atomic)
	if !ok {
		return nil
	}
	l := &list{moments: d, cutoffs: map[float64]*big.Rat{}}
	if m.Fractions != nil {
		l.exact = m.Fractions.Sizes
	}
	return l
}

// setCutoffs checks the fractions of the cutoffs of m and records each under its rounded value.
func (l *moments) setCutoffs(m Model, cutoffs []float64) error {
	if m.Fractions == nil || m.Fractions.Cutoffs == nil {
		return nil
	}
	exact := m.Fractions.Cutoffs
	if len(exact) != len(cutoffs) {
		return input.Errorf("Fractions.Cutoffs", fmt.Sprintf("%d cutoffs", len(exact)), "%d, one per cutoff",
			len(cutoffs))
	}
	for i, x := range exact {
		if err := roundsTo(fmt.Sprintf("Fractions.Cutoffs[%d]", i), x, cutoffs[i]); err != nil {
			return err
		}
		if l.list == nil {
			continue
		}
		if y := l.list.cutoffs[cutoffs[i]]; y != nil && y.Cmp(x) != 0 {
			return input.Errorf(fmt.Sprintf("Fractions.Cutoffs[%d]", i), x.RatString(),
				"the previous cutoff, %s, or one that rounds to another double",
				y.RatString())
		}
		l.list.cutoffs[cutoffs[i]] = x
	}
	return nil
}

// roundsTo rejects a fraction that does not round to v.
func roundsTo(path string, x *big.Rat, v float64) error {
	if x == nil {
		return input.Errorf(path, "nil", "a fraction")
	}
	if r, ok := num.Float64(x); !ok || r != v {
		return input.Errorf(path, x.RatString(), "a fraction that rounds to %v", v)
	}
	return nil
}

func ratOf(exact *big.Rat, v float64) *big.Rat {
	if exact != nil {
		return exact
	}
	return new(big.Rat).SetFloat64(v)
}

// fill computes the sums.
func (l *list) fill() {
	if l.unit != nil {
		return
	}
	l.atoms, l.counts, l.unit = l.moments.Atoms(), l.moments.Counts(), big.NewInt(1)
	n := len(l.atoms)
	largest := make([]*big.Rat, n)
	var sums []*big.Rat // nil if all sizes that round to an atom are equal to it
	if l.exact == nil {
		for i, x := range l.atoms {
			largest[i] = new(big.Rat).SetFloat64(x)
		}
	} else {
		sums = make([]*big.Rat, n)
		for _, x := range l.exact {
			v, _ := num.Float64(x)
			i := sort.SearchFloat64s(l.atoms, v)
			if sums[i] == nil {
				largest[i], sums[i] = x, new(big.Rat)
			}
			sums[i].Add(sums[i], x)
			if x.Cmp(largest[i]) > 0 {
				largest[i] = x
			}
		}
	}
	for i, x := range largest {
		num.JoinDenominator(l.unit, x)
		if sums != nil {
			num.JoinDenominator(l.unit, sums[i])
		}
		l.count += int64(l.counts[i])
	}
	scaled := func(x *big.Rat) *big.Int {
		n := new(big.Int).Quo(l.unit, x.Denom())
		return n.Mul(n, x.Num())
	}
	l.sizes, l.work, l.above = make([]*big.Int, n), make([]*big.Int, n), make([]int64, n)
	sum, above := new(big.Int), l.count
	for i, x := range largest {
		l.sizes[i] = scaled(x)
		own := new(big.Int).Mul(l.sizes[i], big.NewInt(int64(l.counts[i])))
		if sums != nil {
			own = scaled(sums[i])
		}
		sum = new(big.Int).Add(sum, own)
		above -= int64(l.counts[i])
		l.work[i], l.above[i] = sum, above
	}
}

// pace returns v_i/(ρ Σ_j v_j).
func (m Model) pace(i int) *big.Rat {
	exact := Fractions{}
	if m.Fractions != nil {
		exact = *m.Fractions
	}
	speed := func(i int) *big.Rat {
		if exact.Speeds != nil {
			return exact.Speeds[i]
		}
		return new(big.Rat).SetFloat64(m.speed(i))
	}
	total := new(big.Rat)
	for j := range m.Hosts {
		total.Add(total, speed(j))
	}
	return new(big.Rat).Quo(speed(i), total.Mul(total, ratOf(exact.Load, m.Load)))
}

// countUpTo returns the number of atoms <= x.
func (l *list) countUpTo(x float64) int {
	i, found := slices.BinarySearch(l.atoms, x)
	if found {
		i++
	}
	return i
}

// workUpTo returns Σ of the sizes <= x, times unit; the caller must not modify it.
func (l *list) workUpTo(x float64) *big.Int {
	if i := l.countUpTo(x); i > 0 {
		return l.work[i-1]
	}
	return new(big.Int)
}

// at returns cutoff x, times unit, and the number of sizes above it: the largest of the sizes that
// round to x if there are any.
func (l *list) at(x float64) (size *big.Rat, above int64) {
	size, above = new(big.Rat), l.count
	n := l.countUpTo(x)
	if n > 0 {
		above = l.above[n-1]
	}
	if n > 0 && l.atoms[n-1] == x {
		return size.SetInt(l.sizes[n-1]), above
	}
	return size.Mul(ratOf(l.cutoffs[x], x), new(big.Rat).SetInt(l.unit)), above
}

// slack returns 1 - ρ_i for a host of the given pace, rounded to the nearest double but to 0 only
// if it is 0. The host serves the sizes above a for at most b of work each, less what resumed jobs
// are spared, or, if kills is false, the sizes in (a, b] completely.
func (l *list) slack(pace *big.Rat, a, b float64, kills bool, resume ExactResume) float64 {
	l.fill()
	work := new(big.Rat).SetInt(new(big.Int).Sub(l.workUpTo(b), l.workUpTo(a)))
	if kills && l.countUpTo(b) < len(l.atoms) {
		size, left := l.at(b)
		work.Add(work, size.Mul(size, new(big.Rat).SetInt64(left)))
	}
	if kills && a > 0 && !resume.restarts() {
		size, left := l.at(a)
		unit := new(big.Rat).SetInt(l.unit)
		spared := unit.Mul(resume.offset(size.Quo(size, unit)), unit)
		work.Sub(work, spared.Mul(spared, new(big.Rat).SetInt64(left)))
	}
	all := new(big.Rat).SetInt(l.work[len(l.work)-1])
	all.Mul(all, pace) // work/all is the load
	slack, _ := work.Quo(work.Sub(all, work), all).Float64()
	if slack == 0 {
		slack = float64(work.Sign()) * math.SmallestNonzeroFloat64
	}
	return slack
}
