package stability

import (
	"context"
	"slices"
)

// A network carries a flow from classes to servers along their compatibilities, the edges, which
// have no limit. Class i still has to send need[i], and server s can still take slack[s]. In the
// residual graph a class leads to all its servers, and a server to the classes that send flow to
// it, since these could send it elsewhere.
type network struct {
	first []int32 // edges of class i are first[i]..first[i+1]-1
	tail  []int32 // class of an edge
	head  []int32 // server of an edge
	flow  []uint128
	need  []uint128
	slack []uint128

	// used[base[s]:][:count[s]] lists, in no order, the edges to server s with positive flow.
	base, count, used []int32
	place             []int32 // place[e] is the position of edge e in used
	into              []int32 // into[base[s]:base[s+1]] lists all edges to server s

	// A search numbers the classes and servers it reaches by their distance, from 1.
	classLevel, serverLevel []int32
	classNext, serverNext   []int32 // edges before these are exhausted in this phase
	classes, servers        []int32 // reached by the last search, nearest first
	deepest                 int32   // level at which the last search found slack
	path                    []int32
	sources                 []int32

	taken []part // used by hasRoom
}

// A part is an amount of slack at a server.
type part struct {
	server int32
	amount uint128
}

// newNetwork returns the network in which class i may use servers[i], without flow.
func newNetwork(servers [][]int32, numServers int) *network {
	n := len(servers)
	g := &network{
		first: make([]int32, n+1), need: make([]uint128, n), slack: make([]uint128, numServers),
		base: make([]int32, numServers+1), count: make([]int32, numServers),
		classLevel: make([]int32, n), serverLevel: make([]int32, numServers),
		classNext: make([]int32, n), serverNext: make([]int32, numServers),
		classes: make([]int32, 0, n), servers: make([]int32, 0, numServers),
		path: make([]int32, 0, 2*min(n, numServers)+1), sources: make([]int32, 0, n),
	}
	for i, list := range servers {
		for _, s := range list {
			g.tail = append(g.tail, int32(i))
			g.head = append(g.head, s)
			g.base[s+1]++
		}
		g.first[i+1] = int32(len(g.head))
	}
	for s := range numServers {
		g.base[s+1] += g.base[s]
	}
	g.flow = make([]uint128, len(g.head))
	g.used = make([]int32, len(g.head))
	g.place = make([]int32, len(g.head))
	g.into = make([]int32, len(g.head))
	next := slices.Clone(g.base)
	for e, s := range g.head {
		g.into[next[s]] = int32(e)
		next[s]++
	}
	return g
}

// fill does the same as maximize, but faster if paths are long, as in a chain of classes whose
// slack is at one end, or in small amounts: needs do not have to move all the way to slack. Limits
// must be those of the network; none may be truncated as in [network.solve].
func (g *network) fill(ctx context.Context) error {
	const long = 64 // few networks except chains and grids have shortest paths of this length
	together := false
	for g.search() {
		if g.deepest <= long {
			if err := g.augmentAll(ctx, together); err != nil {
				return err
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		g.measure()
		g.spread()
		together = true
	}
	return nil
}

// maximize pushes as much of the needs of the sources as possible, by Dinic's method: shortest
// augmenting paths, all of the same length in a phase. Afterwards g.classes and g.servers are those
// reached from sources with remaining needs; together with the sources they are the smallest
// minimum cut. Only the part of the graph that is reached is modified.
func (g *network) maximize(ctx context.Context) error {
	for g.search() {
		if err := g.augmentAll(ctx, false); err != nil {
			return err
		}
	}
	return nil
}

func (g *network) augmentAll(ctx context.Context, together bool) error {
	for _, i := range g.sources {
		if err := g.augment(ctx, i, together); err != nil {
			return err
		}
	}
	return nil
}

// spread moves the needs of all classes towards slack, as far as possible, after measure. It
// processes classes with needs from far to near: each takes the capacity used by classes nearer to
// slack, which then have the need instead. So needs on the same path move together, once over each
// edge, however long the path is. A class that still has a need after its turn is then farther from
// slack (push-relabel with exact distances; Goldberg and Tarjan, "A new approach to the
// maximum-flow problem", Journal of the ACM 35, 1988).
func (g *network) spread() {
	for k := len(g.classes) - 1; k >= 0; k-- {
		if i := g.classes[k]; !g.need[i].isZero() {
			g.yield(i)
		}
	}
}

// measure finds the distances of classes and servers to slack, up to the farthest class with a need
// that can reach slack.
func (g *network) measure() {
	g.clearLevels()
	inNeed := 0
	for _, x := range g.need {
		if !x.isZero() {
			inNeed++
		}
	}
	for s, x := range g.slack {
		if inNeed > 0 && !x.isZero() {
			g.reachServer(int32(s), 1, 0)
		}
	}
	for c, s := 0, 0; s < len(g.servers) && inNeed > 0; {
		level := g.serverLevel[g.servers[s]]
		for end := len(g.servers); s < end; s++ {
			t := g.servers[s]
			for _, e := range g.into[g.base[t]:g.base[t+1]] {
				if i := g.tail[e]; g.classLevel[i] == 0 {
					g.reachClass(i, level)
					if !g.need[i].isZero() {
						inNeed--
					}
				}
			}
		}
		for end := len(g.classes); c < end; c++ {
			i := g.classes[c]
			for e := g.first[i]; e < g.first[i+1]; e++ {
				if t := g.head[e]; g.serverLevel[t] == 0 && !g.flow[e].isZero() {
					g.reachServer(t, level+1, g.count[t])
				}
			}
		}
	}
}

// yield moves the need of class i to slack, or to classes that are one step nearer to it.
func (g *network) yield(i int32) {
	for e := g.first[i]; e < g.first[i+1]; e++ {
		s := g.head[e]
		if g.serverLevel[s] != g.classLevel[i] {
			continue
		}
		if amount := minUint128(g.need[i], g.slack[s]); !amount.isZero() {
			g.slack[s] = g.slack[s].minus(amount)
			g.need[i] = g.need[i].minus(amount)
			g.add(e, amount)
		}
		for !g.need[i].isZero() && g.serverNext[s] > 0 {
			f := g.used[g.base[s]+g.serverNext[s]-1]
			if j := g.tail[f]; g.classLevel[j] == g.classLevel[i]-1 {
				amount := minUint128(g.need[i], g.flow[f])
				g.need[i] = g.need[i].minus(amount)
				g.need[j] = g.need[j].plus(amount)
				g.take(f, amount)
				g.add(e, amount)
				if !g.flow[f].isZero() {
					return
				}
			}
			g.serverNext[s]-- // f is done; the edge that replaced it in used has been processed before
		}
		if g.need[i].isZero() {
			return
		}
	}
}

// search measures distances from the sources with needs up to the nearest servers with slack, and
// reports whether there are any.
func (g *network) search() bool {
	g.clearLevels()
	for _, i := range g.sources {
		if !g.need[i].isZero() {
			g.reachClass(i, 1)
		}
	}
	met := false
	for c, s := 0, 0; c < len(g.classes); {
		level := g.classLevel[g.classes[c]]
		for end := len(g.classes); c < end; c++ {
			i := g.classes[c]
			for _, t := range g.head[g.first[i]:g.first[i+1]] {
				if g.serverLevel[t] == 0 {
					g.reachServer(t, level, 0)
					met = met || !g.slack[t].isZero()
				}
			}
		}
		if met {
			g.deepest = level
			return true
		}
		for end := len(g.servers); s < end; s++ {
			t := g.servers[s]
			for _, e := range g.used[g.base[t]:][:g.count[t]] {
				if g.classLevel[g.tail[e]] == 0 {
					g.reachClass(g.tail[e], level+1)
				}
			}
		}
	}
	return false
}

// clearLevels clears the levels of the last search.
func (g *network) clearLevels() {
	for _, i := range g.classes {
		g.classLevel[i] = 0
	}
	for _, s := range g.servers {
		g.serverLevel[s] = 0
	}
	g.classes, g.servers = g.classes[:0], g.servers[:0]
}

func (g *network) reachClass(i, level int32) {
	g.classLevel[i] = level
	g.classNext[i] = g.first[i]
	g.classes = append(g.classes, i)
}

func (g *network) reachServer(s, level, next int32) {
	g.serverLevel[s] = level
	g.serverNext[s] = next
	g.servers = append(g.servers, s)
}

// augment pushes as much as possible of the need of class i along shortest paths, depth first. The
// path alternates between an edge of a class and an edge that returns flow at its server.
func (g *network) augment(ctx context.Context, source int32, together bool) error {
	if err := ctx.Err(); err != nil || g.need[source].isZero() {
		return err
	}
	g.path = g.path[:0]
	for i := source; ; {
		e, ok := g.nextServer(i)
		if !ok { // back to the previous server
			last := len(g.path) - 1
			if last < 0 {
				return nil
			}
			s := g.head[g.path[last]]
			g.serverNext[s]++
			g.path = g.path[:last]
			i = g.advance(s)
			continue
		}
		g.path = append(g.path, e)
		s := g.head[e]
		if !g.slack[s].isZero() {
			g.push(source, together)
			if err := ctx.Err(); err != nil || g.need[source].isZero() {
				return err
			}
			s = g.head[g.path[len(g.path)-1]]
		}
		i = g.advance(s)
	}
}

// nextServer returns the next edge of class i that may lie on a shortest path.
func (g *network) nextServer(i int32) (int32, bool) {
	level := g.classLevel[i]
	for e := g.classNext[i]; e < g.first[i+1]; e++ {
		s := g.head[e]
		if g.serverLevel[s] == level && (level < g.deepest || !g.slack[s].isZero()) {
			g.classNext[i] = e
			return e, true
		}
	}
	g.classNext[i] = g.first[i+1]
	return 0, false
}

// advance continues from server s, the end of the path, to the next class or, if there is none,
// goes back to the class before s. It returns the class reached.
func (g *network) advance(s int32) int32 {
	if level := g.serverLevel[s]; level < g.deepest {
		for k := g.serverNext[s]; k < g.count[s]; k++ {
			e := g.used[g.base[s]+k]
			if g.classLevel[g.tail[e]] == level+1 {
				g.serverNext[s] = k
				g.path = append(g.path, e)
				return g.tail[e]
			}
		}
		g.serverNext[s] = g.count[s]
	}
	last := len(g.path) - 1
	i := g.tail[g.path[last]]
	g.classNext[i]++
	g.path = g.path[:last]
	return i
}

// push sends as much as possible along the path, and truncates the path after the server before the
// first exhausted edge. If together is set, the last class on the path receives the part that fits
// the edges but exceeds the slack.
func (g *network) push(source int32, together bool) {
	last := len(g.path) - 1
	end := g.head[g.path[last]]
	amount := g.need[source]
	for k := 1; k < last; k += 2 {
		amount = minUint128(amount, g.flow[g.path[k]])
	}
	final := minUint128(amount, g.slack[end])
	if !together {
		amount = final
	}
	g.need[source] = g.need[source].minus(amount)
	g.slack[end] = g.slack[end].minus(final)
	keep := len(g.path)
	for k, e := range g.path[:last] {
		if k%2 == 0 {
			g.add(e, amount)
		} else if g.take(e, amount); keep == len(g.path) && g.flow[e].isZero() {
			keep = k
		}
	}
	g.add(g.path[last], final)
	if handed := amount.minus(final); !handed.isZero() {
		i := g.tail[g.path[last]]
		g.need[i] = g.need[i].plus(handed)
	}
	g.path = g.path[:keep]
}

// add adds flow, a positive amount, to edge e.
func (g *network) add(e int32, amount uint128) {
	if g.flow[e].isZero() {
		s := g.head[e]
		g.place[e] = g.base[s] + g.count[s]
		g.used[g.place[e]] = e
		g.count[s]++
	}
	g.flow[e] = g.flow[e].plus(amount)
}

// take removes flow from edge e. The last edge in use at its server replaces an exhausted edge.
// During a phase, the exhausted edge is the one serverNext points at, so no edge is skipped.
func (g *network) take(e int32, amount uint128) {
	g.flow[e] = g.flow[e].minus(amount)
	if g.flow[e].isZero() {
		s := g.head[e]
		g.count[s]--
		last := g.used[g.base[s]+g.count[s]]
		g.used[g.place[e]] = last
		g.place[last] = g.place[e]
	}
}

// release returns all flow of class i.
func (g *network) release(i int32) {
	for e := g.first[i]; e < g.first[i+1]; e++ {
		if f := g.flow[e]; !f.isZero() {
			g.take(e, f)
			g.slack[g.head[e]] = g.slack[g.head[e]].plus(f)
		}
	}
}
