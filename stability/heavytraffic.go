package stability

import (
	"math/big"
	"slices"

	"productform/cluster"
)

// heavyTraffic returns [Result.HeavyTraffic], given the bottleneck after a maximum flow at the
// critical scale.
func (g *graph) heavyTraffic(tight cut) []*big.Rat {
	m := g.model
	if !g.isOnlyTight(tight) || m.Service == cluster.OneServer && !g.hasFormulas() {
		return nil
	}
	sum, _ := g.sums(tight.classes, nil)
	work := new(big.Rat).SetFrac(sum, g.unit)
	limits := make([]*big.Rat, len(m.Classes))
	for i := range limits {
		limits[i] = new(big.Rat)
	}
	for _, i := range tight.classes {
		for _, row := range g.rows[i] {
			limits[row].Quo(g.work[row], work)
		}
	}
	return limits
}

// hasFormulas reports whether the mean jobs of a cluster with one server per job have formulas:
// sizes have one mean, and all servers have capacity.
func (g *graph) hasFormulas() bool {
	_, err := g.model.OneMeanSize()
	return err == nil && !slices.ContainsFunc(g.total, func(c *big.Rat) bool { return c.Sign() == 0 })
}

// isOnlyTight reports whether no other set of classes with arrivals is tight, even if each
// combination of servers that jobs draw is a separate class.
//
// The union of tight sets is tight. It consists of the classes with arrivals that reach no slack in
// the residual graph, so it must be the given set, which contains no smaller one. Tight sets of
// combinations that are not unions of rows come in sets of disjoint ones, which permutations of the
// servers of a group exchange. Their servers are also disjoint. So each has one server of the
// group, from which all its classes draw one, and no other server: a server of another group would
// have to belong to all of them.
func (g *graph) isOnlyTight(tight cut) bool {
	if g.drawsSingles(tight) {
		return false
	}
	component := g.components()
	nodes := make([]int32, len(component))
	for v := range nodes {
		nodes[v] = int32(v)
	}
	// every arc leads to a component that is not later
	slices.SortFunc(nodes, func(v, w int32) int { return int(component[v] - component[w]) })
	n := len(g.load)
	hasSlack := make([]bool, len(component)) // whether a component reaches slack
	for _, v := range nodes {
		c := component[v]
		if int(v) >= n && !g.slack[int(v)-n].isZero() {
			hasSlack[c] = true
		}
		for k := int32(0); !hasSlack[c]; k++ {
			w := g.arc(v, k)
			if w < 0 {
				break
			}
			hasSlack[c] = hasSlack[component[w]]
		}
	}
	count := 0
	for i, load := range g.load {
		if load.Sign() > 0 && !hasSlack[component[i]] {
			count++
		}
	}
	return count == len(tight.classes)
}

// drawsSingles reports whether every class of a set draws one of the servers of one group.
func (g *graph) drawsSingles(set cut) bool {
	if len(set.servers) != 1 {
		return false
	}
	row := g.server[set.servers[0]]
	return g.model.Servers[row].Size() > 1 && !slices.ContainsFunc(set.classes, func(i int32) bool {
		return slices.ContainsFunc(g.model.Classes[g.rows[i][0]].Servers, func(c cluster.Choice) bool {
			return c.Server == row && c.Choose > 1
		})
	})
}
