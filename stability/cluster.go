package stability

import (
	"context"
	"math/big"
	"slices"

	"productform/cluster"
)

// Cluster decides whether a cluster is stable under first-come, first-served order (or
// balanced fairness). Service is at rate
//
//	μ(A) = Σ C_s over the servers s that some class of A can use,
//
// and the condition is Σ_{i∈A} λ_i < μ(A) for all non-empty A, with λ_i the arrival rate times σ_i;
// a class that chooses servers of a group stands for one class for each combination (as in
// [cluster.Model.Expand], which is not needed). All results are exact.
//
// The critical scale takes a few maximum flows (rarely more than three), each fast in practice,
// even in long chains of classes, and polynomial in the worst case. The margin of a stable cluster
// takes one more. For each class it also takes a search for a flow that proves that no set with a
// smaller margin contains the class; most of these searches end among the neighbours. A class that
// chooses from a group needs a separate maximum flow. If the common denominator leads to numbers of
// more than 126 bits, so does a class whose smallest margin agrees with the best so far to about 30
// digits.
//
// The error is that of [cluster.Model.Check], or names a number or a choice too large to handle.
// Once ctx is done, Cluster promptly returns ctx.Err(). m is not modified; the result shares no
// memory with it.
func Cluster(ctx context.Context, m *cluster.Model) (*Result, error) {
	g, err := newGraph(ctx, m)
	if err != nil {
		return nil, err
	}
	r := &Result{Stable: true}
	tight, err := g.criticalScale(ctx, r)
	if err != nil {
		return nil, err
	}
	least, err := g.margin(ctx, r, tight)
	if err != nil {
		return nil, err
	}
	r.Margin, r.MarginSet, r.MarginServers = least.margin, least.classes, least.servers
	for _, shares := range r.Splitting {
		for k := range shares {
			shares[k].Name = m.Servers[shares[k].Server].Name
		}
	}
	return r, nil
}

// A ratio is a scale: capacity divided by load.
type ratio struct{ capacity, load *big.Int }

func newRatio(load, capacity *big.Int) ratio {
	d := new(big.Int).GCD(nil, nil, load, capacity)
	return ratio{new(big.Int).Quo(capacity, d), new(big.Int).Quo(load, d)}
}

// A cut is a set of classes of the network with the servers that they can use.
type cut struct{ classes, servers []int32 }

// criticalScale sets everything in r except the margin, and returns the bottleneck, which is empty
// if no work arrives.
//
// Newton's method on the concave function t -> min_A μ(A) - t λ(A) (Dinkelbach, "On nonlinear
// fractional programming", Management Science 13, 1967) starts at some t >= its root. The
// minimising A gives the next t = μ(A)/λ(A), until the minimum is 0. Minimising sets shrink as t
// decreases, so each step searches inside the previous set.
func (g *graph) criticalScale(ctx context.Context, r *Result) (cut, error) {
	var all []int32
	for i, x := range g.load {
		if x.Sign() > 0 {
			all = append(all, int32(i))
		}
	}
	if len(all) == 0 {
		return cut{}, nil
	}
	t := g.firstScale(all)
	inside := all
	flow, err := g.flowAtScale(ctx, t, inside)
	if err != nil {
		return cut{}, err
	}
	for len(g.classes) > 0 {
		inside = slices.Clone(g.classes)
		t = newRatio(g.sums(g.classes, g.servers))
		if flow, err = g.flowAtScale(ctx, t, inside); err != nil {
			return cut{}, err
		}
	}
	if len(inside) < len(all) {
		if flow, err = g.flowAtScale(ctx, t, all); err != nil {
			return cut{}, err
		}
	}
	if r.Splitting, err = g.split(ctx, t, flow); err != nil {
		return cut{}, err
	}
	tight := g.smallestTight()
	load, capacity := g.sums(tight.classes, tight.servers)
	r.Arrival = new(big.Rat).SetFrac(load, g.unit)
	r.Capacity = new(big.Rat).SetFrac(capacity, g.unit)
	r.CriticalScale = new(big.Rat).SetFrac(capacity, load)
	r.Stable = load.Cmp(capacity) < 0
	r.Bottleneck = g.rowsOf(tight.classes)
	r.HeavyTraffic = g.heavyTraffic(tight)
	r.BottleneckServers = g.serversOf(tight.servers, r.Bottleneck)
	return tight, nil
}

// firstScale returns the minimum of μ(A)/λ(A) over the single classes and the set of all classes,
// all with λ_i > 0.
func (g *graph) firstScale(all []int32) ratio {
	used := make([]bool, len(g.capacity))
	mu, least := new(big.Int), ratio{}
	x, y := new(big.Int), new(big.Int)
	for _, i := range all {
		mu.SetInt64(0)
		for _, s := range g.head[g.first[i]:g.first[i+1]] {
			mu.Add(mu, g.capacity[s])
			used[s] = true
		}
		if least.load == nil || x.Mul(mu, least.load).Cmp(y.Mul(least.capacity, g.load[i])) < 0 {
			least = newRatio(g.load[i], mu)
		}
	}
	var servers []int32
	for s, ok := range used {
		if ok {
			servers = append(servers, int32(s))
		}
	}
	load, capacity := g.sums(all, servers)
	if x.Mul(capacity, least.load).Cmp(y.Mul(least.capacity, load)) < 0 {
		least = newRatio(load, capacity)
	}
	return least
}

// flowAtScale finds the maximum flow if these classes bring t λ_i and the others nothing. Numbers
// are multiples of 1/(unit·t.load), so t λ_i and C_s are integers.
func (g *graph) flowAtScale(ctx context.Context, t ratio, classes []int32) ([]*big.Int, error) {
	need, capacity := make([]*big.Int, len(g.load)), make([]*big.Int, len(g.capacity))
	zero := new(big.Int)
	for i := range need {
		need[i] = zero
	}
	for _, i := range classes {
		need[i] = new(big.Int).Mul(g.load[i], t.capacity)
	}
	for s, c := range g.capacity {
		capacity[s] = new(big.Int).Mul(c, t.load)
	}
	return g.solve(ctx, need, capacity)
}

// split converts a flow at scale t, as left by [network.solve], into shares: the rows of a class of
// the network take what they need from its servers one by one.
func (g *graph) split(ctx context.Context, t ratio, flow []*big.Int) ([][]Share, error) {
	shares := make([][]Share, len(g.work))
	unit := new(big.Int).Mul(g.unit, t.load)
	for i, rows := range g.rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if g.load[i].Sign() == 0 {
			continue
		}
		e := g.first[i]
		left := g.edgeFlow(flow, e)
		for _, row := range rows {
			need := g.whole(g.work[row])
			need.Mul(need, t.capacity)
			for need.Sign() > 0 {
				for left.Sign() == 0 {
					e++
					left = g.edgeFlow(flow, e)
				}
				part := new(big.Int).Set(left)
				if need.Cmp(left) < 0 {
					part.Set(need)
				}
				need.Sub(need, part)
				left.Sub(left, part)
				shares[row] = append(shares[row], Share{
					Server: g.server[g.head[e]],
					Rate:   new(big.Rat).SetFrac(part, unit),
				})
			}
		}
	}
	return shares, nil
}

func (g *graph) edgeFlow(flow []*big.Int, e int32) *big.Int {
	if flow == nil {
		return g.flow[e].int()
	}
	return new(big.Int).Set(flow[e])
}
