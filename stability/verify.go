package stability

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"productform/cluster"
)

// ErrProof is wrapped by the errors of [Verify].
var ErrProof = errors.New("stability: the result does not prove its verdict")

func unproved(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProof, fmt.Sprintf(format, args...))
}

// Verify checks the proof that r holds for m, whatever its source, in time linear in both:
//
//   - Bottleneck A, of load Arrival > 0, uses servers of total Capacity, and Capacity/Arrival =
//     CriticalScale;
//   - Splitting brings t λ_i for each class, with t = CriticalScale, to its servers, and to none
//     more than its capacity, so that t λ(A) <= μ(A) for all A;
//   - the queue is reported as stable if and only if t > 1 (or no work arrives);
//   - HeavyTraffic is not checked;
//   - MarginSet and MarginServers have the stated margin. It is not proved that no set has a
//     smaller one.
//
// The error wraps [ErrProof], is that of [cluster.Model.Check], or ctx.Err() promptly after ctx is
// done.
func Verify(ctx context.Context, m *cluster.Model, r *Result) error {
	if err := m.Check(); err != nil {
		return err
	}
	lambda := make([]*big.Rat, len(m.Classes))
	sum := new(big.Rat)
	for i, c := range m.Classes {
		lambda[i] = new(big.Rat).Set(c.ArrivalRate)
		switch {
		case c.MeanSize != nil:
			lambda[i].Mul(lambda[i], c.MeanSize)
		case m.MeanSize != nil:
			lambda[i].Mul(lambda[i], m.MeanSize)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		sum.Add(sum, lambda[i])
	}
	if err := verifyMargin(ctx, m, r, lambda); err != nil {
		return err
	}
	if sum.Sign() == 0 {
		if !r.Stable || r.CriticalScale != nil {
			return unproved("no work arrives")
		}
		return nil
	}
	if err := verifyScale(r, lambda, len(m.Classes)); err != nil {
		return err
	}
	mu := new(big.Rat)
	used := make([]bool, len(m.Servers))
	for _, i := range r.Bottleneck {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, c := range m.Classes[i].Servers {
			if !used[c.Server] {
				used[c.Server] = true
				mu.Add(mu, capacityOf(m, c.Server, m.Servers[c.Server].Size()))
			}
		}
	}
	if mu.Cmp(r.Capacity) != 0 {
		return unproved("the capacity of the bottleneck is %v, not %v", mu, r.Capacity)
	}
	return verifySplitting(ctx, m, r, lambda)
}

// verifyScale checks the bottleneck (except its capacity), the critical scale and the verdict.
func verifyScale(r *Result, lambda []*big.Rat, n int) error {
	if r.CriticalScale == nil || r.Arrival == nil || r.Capacity == nil {
		return unproved("a critical scale, arrival or capacity is missing")
	}
	load := new(big.Rat)
	if err := verifySet("bottleneck", r.Bottleneck, n); err != nil {
		return err
	}
	for _, i := range r.Bottleneck {
		load.Add(load, lambda[i])
	}
	if load.Cmp(r.Arrival) != 0 || load.Sign() <= 0 {
		return unproved("the load of the bottleneck is %v, not %v", load, r.Arrival)
	}
	if new(big.Rat).Quo(r.Capacity, r.Arrival).Cmp(r.CriticalScale) != 0 {
		return unproved("the scale of the bottleneck is not %v", r.CriticalScale)
	}
	if r.Stable != (r.CriticalScale.Cmp(big.NewRat(1, 1)) > 0) {
		return unproved("stable is %v at critical scale %v", r.Stable, r.CriticalScale)
	}
	return nil
}

// verifySet checks that rows are nonempty, increasing and in 0..n-1.
func verifySet(what string, rows []int, n int) error {
	last := -1
	for _, i := range rows {
		if i <= last || i >= n {
			return unproved("the %s %v is not a list of classes in increasing order", what, rows)
		}
		last = i
	}
	if last < 0 {
		return unproved("the %s is empty", what)
	}
	return nil
}

// capacityOf returns the capacity of k servers of a row.
func capacityOf(m *cluster.Model, row, k int) *big.Rat {
	c := new(big.Rat).SetInt64(int64(k))
	return c.Mul(c, m.Servers[row].Capacity)
}

// verifySplitting checks that the shares are a flow at the critical scale.
func verifySplitting(ctx context.Context, m *cluster.Model, r *Result, lambda []*big.Rat) error {
	if len(r.Splitting) != len(m.Classes) {
		return unproved("the splitting has %d classes, not %d", len(r.Splitting), len(m.Classes))
	}
	given := make([]*big.Rat, len(m.Servers))
	allowed := make([]int, len(m.Servers)) // 1 + the last class that may use the row
	for i, shares := range r.Splitting {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, c := range m.Classes[i].Servers {
			allowed[c.Server] = i + 1
		}
		sum := new(big.Rat)
		for _, share := range shares {
			s := share.Server
			if s < 0 || s >= len(m.Servers) || allowed[s] != i+1 {
				return unproved("class %d cannot use server %d", i, s)
			}
			if share.Rate == nil || share.Rate.Sign() < 0 {
				return unproved("class %d has a share %v at server %d", i, share.Rate, s)
			}
			sum.Add(sum, share.Rate)
			if given[s] == nil {
				given[s] = new(big.Rat)
			}
			given[s].Add(given[s], share.Rate)
		}
		if want := new(big.Rat).Mul(lambda[i], r.CriticalScale); sum.Cmp(want) != 0 {
			return unproved("the shares of class %d add up to %v, not %v", i, sum, want)
		}
	}
	for s, x := range given {
		if x != nil && x.Cmp(capacityOf(m, s, m.Servers[s].Size())) > 0 {
			return unproved("server %d is given %v", s, x)
		}
	}
	return nil
}

// verifyMargin checks that the set has the margin.
func verifyMargin(ctx context.Context, m *cluster.Model, r *Result, lambda []*big.Rat) error {
	if r.Margin == nil || len(r.MarginServers) != len(m.Servers) {
		return unproved("the margin or its servers are missing")
	}
	if err := verifySet("margin set", r.MarginSet, len(m.Classes)); err != nil {
		return err
	}
	margin := new(big.Rat)
	for s, k := range r.MarginServers {
		if k < 0 || k > m.Servers[s].Size() {
			return unproved("%d servers of row %d", k, s)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		margin.Add(margin, capacityOf(m, s, k))
	}
	for _, i := range r.MarginSet {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := new(big.Rat).Set(lambda[i])
		for _, c := range m.Classes[i].Servers {
			n, k := m.Servers[c.Server].Size(), r.MarginServers[c.Server]
			if k < c.Choose {
				return unproved("class %d of the margin set does not fit into its servers", i)
			}
			if k < n { // C(k,d)/C(n,d)
				part.Mul(part, quotients(k, n, 0, c.Choose))
			}
		}
		margin.Sub(margin, part)
	}
	if margin.Cmp(r.Margin) != 0 {
		return unproved("the margin of its set is %v, not %v", margin, r.Margin)
	}
	return nil
}

// quotients returns Π_{from<=j<to} (k-j)/(n-j) for to > from. It multiplies by halves, which keeps
// most factors small.
func quotients(k, n, from, to int) *big.Rat {
	if to-from == 1 {
		return big.NewRat(int64(k-from), int64(n-from))
	}
	middle := (from + to) / 2
	x := quotients(k, n, from, middle)
	return x.Mul(x, quotients(k, n, middle, to))
}
