package stability

import (
	"context"
	"math/big"
	"math/bits"
)

// solve finds a maximum flow on the network for these needs and capacities, integers of any size.
// g.classes and g.servers are then the smallest minimum cut, which is empty if all needs are met.
//
// Numbers of more than wideBits bits are read from the front, in digits of k bits. Let m be the
// number of limited arcs. The best flow for the digits read so far, times 2^k, falls short of the
// best flow for one more digit by less than m·2^k, because the minimum cut grows by less than that.
// So it is completed in a residual graph whose limits are truncated at m·2^k + m + 1, which
// restricts no step. A truncated limit stays above m, hence above the next bound times 2^-k, and is
// truncated again.
//
// In that case solve returns the flow on each edge; if it returns nil, g.flow has the flow. The
// error is the context's.
func (g *network) solve(ctx context.Context, need, capacity []*big.Int) ([]*big.Int, error) {
	for i := range g.need {
		g.release(int32(i))
	}
	size, m := new(big.Int), uint64(len(need)+len(capacity)+1)
	for _, x := range need {
		size.Add(size, x)
	}
	for _, x := range capacity {
		size.Add(size, x)
	}
	digit := wideBits - 3 - uint(bits.Len64(m)) // far above 64
	var rest uint                               // bits not yet read
	if excess := size.BitLen() - wideBits; excess > 0 {
		rest = (uint(excess) + digit - 1) / digit * digit
	}
	top := new(big.Int)
	for i, x := range need {
		g.need[i] = wideOf(top.Rsh(x, rest))
	}
	for s, x := range capacity {
		g.slack[s] = wideOf(top.Rsh(x, rest))
	}
	g.sources = g.sources[:0]
	for i, x := range need {
		if x.Sign() > 0 {
			g.sources = append(g.sources, int32(i))
		}
	}
	if err := g.fill(ctx); err != nil || rest == 0 {
		return nil, err
	}

	total := make([]*big.Int, len(g.flow))
	for e, f := range g.flow {
		total[e] = f.int()
	}
	start := make([]uint128, len(g.flow))
	mask := new(big.Int).Lsh(big.NewInt(1), digit)
	mask.Sub(mask, big.NewInt(1))
	most := uint128{0, m}
	limit := most.shift(digit).plus(most)
	widen := func(x uint128, low uint128) uint128 { // x·2^digit + low, or the limit if that is smaller
		if most.isLess(x) {
			return limit
		}
		return x.shift(digit).plus(low)
	}
	for rest > 0 {
		rest -= digit
		for i, x := range need {
			g.need[i] = widen(g.need[i], wideOf(top.And(top.Rsh(x, rest), mask)))
		}
		for s, x := range capacity {
			g.slack[s] = widen(g.slack[s], wideOf(top.And(top.Rsh(x, rest), mask)))
		}
		for e, f := range g.flow {
			g.flow[e] = widen(f, uint128{})
			start[e] = g.flow[e]
		}
		if err := g.maximize(ctx); err != nil {
			return nil, err
		}
		for e, f := range g.flow {
			total[e].Lsh(total[e], digit)
			total[e].Add(total[e], f.int())
			total[e].Sub(total[e], start[e].int())
		}
	}
	return total, nil
}
