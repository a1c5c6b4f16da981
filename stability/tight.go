package stability

// smallestTight returns the tight set with the fewest classes, after a maximum flow at the critical
// scale. If there are several, it returns the one with the first row.
//
// A set of classes is tight if its servers are full and serve no other classes: no arc leads out of
// it in the residual graph, and there is no slack inside. So the smallest tight sets are the
// strongly connected components without outgoing arcs and without slack; they are disjoint.
func (g *graph) smallestTight() cut {
	component := g.components()
	n := len(g.load)
	leaves := make([]bool, len(component)) // whether an arc leaves a component, or it has slack
	rows := make([]int, len(component))
	firstRow := make([]int, len(component))
	for e, s := range g.head {
		i := g.tail[e]
		from, to := component[i], component[n+int(s)]
		if from != to {
			leaves[from] = true
			if !g.flow[e].isZero() {
				leaves[to] = true
			}
		}
	}
	for s, slack := range g.slack {
		if !slack.isZero() {
			leaves[component[n+s]] = true
		}
	}
	for i := range g.load {
		c := component[i]
		if rows[c] == 0 || g.rows[i][0] < firstRow[c] {
			firstRow[c] = g.rows[i][0]
		}
		rows[c] += len(g.rows[i])
	}
	best := int32(-1)
	for c := range int32(len(component)) {
		if rows[c] > 0 && !leaves[c] &&
			(best < 0 || rows[c] < rows[best] || rows[c] == rows[best] && firstRow[c] < firstRow[best]) {
			best = c
		}
	}
	var tight cut
	for v, c := range component {
		switch {
		case c != best:
		case v < n:
			tight.classes = append(tight.classes, int32(v))
		default:
			tight.servers = append(tight.servers, int32(v-n))
		}
	}
	return tight
}

// components returns the number of the strongly connected component of each class, then of each
// server, in the residual graph (Tarjan, "Depth-first search and linear graph algorithms", SIAM
// Journal on Computing 1, 1972, with an explicit stack instead of recursion).
func (g *network) components() []int32 {
	n := int32(len(g.first) - 1)
	nodes := int(n) + len(g.slack)
	component := make([]int32, nodes)
	order := make([]int32, nodes) // 1, 2, ... in the order of the search
	low := make([]int32, nodes)   // first node on the stack known to be reachable
	next := make([]int32, nodes)  // number of arcs followed
	var stack, path []int32
	met, found := int32(0), int32(0)
	enter := func(v int32) {
		met++
		order[v], low[v] = met, met
		stack, path = append(stack, v), append(path, v)
	}
	for root := range int32(nodes) {
		if order[root] == 0 {
			enter(root)
		}
		for len(path) > 0 {
			v := path[len(path)-1]
			w := g.arc(v, next[v])
			next[v]++
			switch {
			case w < 0:
				path = path[:len(path)-1]
				if len(path) > 0 {
					u := path[len(path)-1]
					low[u] = min(low[u], low[v])
				}
				for low[v] == order[v] {
					u := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					component[u] = found
					low[u] = int32(nodes) + 1 // off the stack
					if u == v {
						found++
						break
					}
				}
			case order[w] == 0:
				enter(w)
			default:
				low[v] = min(low[v], low[w])
			}
		}
	}
	return component
}

// arc returns the end of arc k of node v in the residual graph, or -1.
func (g *network) arc(v, k int32) int32 {
	n := int32(len(g.first) - 1)
	if v < n {
		if e := g.first[v] + k; e < g.first[v+1] {
			return n + g.head[e]
		}
		return -1
	}
	if s := v - n; k < g.count[s] {
		return g.tail[g.used[g.base[s]+k]]
	}
	return -1
}
