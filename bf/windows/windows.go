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

// Bounds enclose the mean delay of a class. Both are proved, including rounding errors.
type Bounds struct {
	Name string   // name of the class
	Low  float64  // >= 0
	High *float64 // nil if no cluster that would give an upper bound is stable
}

// MostServers is the maximum number of servers of a window.
const MostServers = 16

// Delays returns bounds on the mean delay of each class under balanced fairness, nil for a class
// without arrivals. The model is reduced first ([cluster.Model.Reduce]), so servers used by the
// same classes count as one. Each class has a window of the given number of servers, from 1 to
// [MostServers]: its own servers and their neighbours, breadth-first over servers linked by
// classes, in the order of the model. If the cluster of the upper bound is unstable, the last of
// these servers are dropped one by one.
//
// For a class with more servers than a window, the lower bound is its delay without other classes,
// and the upper bound the mean of the smallest lifetime of the first of its servers. The bounds
// from a window hold for all classes inside it, and the closest are returned. If windows contain
// all servers, the two bounds differ only by rounding. Bounds are wide near the stability limit,
// and if classes link any two servers in a few steps.
//
// Delays calls [productform/bf.Solve] once for each window and bound, and once more for each server
// dropped from an unstable window. With windows of 12, this takes about four milliseconds for each
// class of three servers out of hundreds.
//
// The error is a *[num.InputError] for a model that fails [cluster.Model.Check] or a number of
// servers out of range. It can also be a [*num.TooLargeError], an [*cluster.UnstableError], which
// wraps [num.ErrUnstable], or ctx.Err(), promptly after cancellation. progress, if not nil,
// receives the number of finished classes. m is not modified.
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
				// the delay for mean size σ_i instead of σ
				size := new(big.Rat).Quo(m.MeanSizeOf(row), num.OrOne(equal.MeanSize))
				all[row] = c.bounds[i].times(size)
				all[row].Name = m.Classes[row].Name
			}
		}
	}
	return all, nil
}

// A bracket holds the closest bounds so far; high is nil for none.
type bracket struct{ low, high *big.Rat }

// raise applies another lower bound; lower, an upper bound.
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
	out := &Bounds{Low: min(roundOutward(new(big.Rat).Mul(b.low, size), -1), math.MaxFloat64)}
	if b.high != nil {
		if high := roundOutward(new(big.Rat).Mul(b.high, size), 1); high <= math.MaxFloat64 {
			out.High = &high
		}
	}
	return out
}

// roundOutward returns x > 0 rounded to a float64 in the direction of sign; out of range, it may be
// infinite.
func roundOutward(x *big.Rat, sign int) float64 {
	f, exact := x.Float64()
	if exact || math.IsInf(f, 0) || new(big.Rat).SetFloat64(f).Cmp(x) == sign {
		return f
	}
	return math.Nextafter(f, math.Inf(sign))
}
