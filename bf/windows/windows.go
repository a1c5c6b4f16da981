package windows

import (
	"context"
	"math"
	"math/big"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
	"productform/stability"
)

// Bounds lie on either side of the mean delay of a class. Both are proved, errors of rounding
// included.
type Bounds struct {
	Name string   // of the class
	Low  float64  // >= 0
	High *float64 // nil if no cluster that gives an upper bound was found to be stable
}

// MostServers is the largest number of servers of a window.
const MostServers = 16

// Delays returns bounds of the mean delay of each class under balanced fairness, nil for a class
// without arrivals. The model is reduced first ([cluster.Model.Reduce]), so that servers used by
// the same classes count as one. Each class has a window of so many servers, from 1 to
// [MostServers]: its own, and those next to them, breadth-first over servers linked by classes, in
// the order of the model. Where the cluster of the upper bound is unstable, the last of these
// servers are left out one by one.
//
// A class with more servers than a window is bounded below by the delay that it would have alone,
// and above by the least life of the first of its servers. The bounds of a window hold for all
// classes inside, and the closest are given. Bounds are equal but for rounding where the windows
// hold all servers; they are wide near the limit of stability, and where classes link all servers
// with all others in few steps.
//
// It takes a call of [productform/bf.Solve] for each window and bound, and one for each part of it
// that is found to be unstable: some four milliseconds for each class of three servers out of
// hundreds, with windows of 12.
//
// The error is a *[num.InputError] for a model that does not pass [cluster.Model.Check] or a number
// of servers out of range, a [*num.TooLargeError], an [*cluster.UnstableError], which wraps
// [num.ErrUnstable], or that of ctx, soon after it is done. progress, if not nil, is told how many
// classes are done. m is not modified.
func Delays(ctx context.Context, m *cluster.Model, servers int, progress func(done, total int)) ([]*Bounds, error) {
	if servers < 1 || servers > MostServers {
		return nil, input.Errorf("servers", servers, "an integer in 1..%d", MostServers)
	}
	u, err := stability.Overload(ctx, m)
	switch {
	case err != nil:
		return nil, err
	case u != nil:
		return nil, u
	}
	equal := m.EqualSizes()
	components, err := equal.Reduce(ctx)
	if err != nil {
		return nil, err
	}
	done, total := 0, 0
	for k := range components {
		total += len(components[k].Classes)
	}
	all := make([]*Bounds, len(m.Classes))
	for k := range components {
		c := newComponent(&components[k].Model, servers)
		for i := range c.model.Classes {
			if err := c.bound(ctx, i); err != nil {
				return nil, err
			}
			if done++; progress != nil {
				progress(done, total)
			}
		}
		for i, rows := range components[k].Classes {
			for _, row := range rows {
				// a delay of work of mean size σ_i in place of σ
				size := new(big.Rat).Quo(m.MeanSizeOf(row), num.OrOne(equal.MeanSize))
				all[row] = c.bounds[i].times(size)
				all[row].Name = m.Classes[row].Name
			}
		}
	}
	return all, nil
}

// A bracket holds the closest bounds so far; High is nil for none.
type bracket struct{ low, high *big.Rat }

// raise and lower take note of one more bound.
func (b *bracket) raise(x *big.Rat) {
	if x.Cmp(b.low) > 0 {
		b.low = x
	}
}

func (b *bracket) lower(x *big.Rat) {
	if b.high == nil || x.Cmp(b.high) < 0 {
		b.high = x
	}
}

// times returns the bounds of size times the quantity, rounded outward.
func (b *bracket) times(size *big.Rat) *Bounds {
	out := &Bounds{Low: min(outward(new(big.Rat).Mul(b.low, size), -1), math.MaxFloat64)}
	if b.high != nil {
		if high := outward(new(big.Rat).Mul(b.high, size), 1); high <= math.MaxFloat64 {
			out.High = &high
		}
	}
	return out
}

// outward returns a double on the side of x > 0 that sign says, or x itself; beyond their range it
// may be infinite.
func outward(x *big.Rat, sign int) float64 {
	f, exact := x.Float64()
	if exact || math.IsInf(f, 0) || new(big.Rat).SetFloat64(f).Cmp(x) == sign {
		return f
	}
	return math.Nextafter(f, math.Inf(sign))
}
