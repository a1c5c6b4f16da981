package elimination

import (
	"container/heap"
	"math"

	"productform/internal/input"
	"productform/num"
)

// MaxWidth is the most servers that a message may depend on.
const MaxWidth = 3

// An Order is an order in which servers are integrated out.
type Order struct {
	Servers []int   // the first to go first
	Width   int     // the most servers that a message depends on
	Work    float64 // estimate of the products and sums of float64 that [Solve] takes
}

// NewOrder returns an order of elimination by least fill: in the graph in which the servers of each class are linked, the server goes first
// whose neighbours lack the fewest links among themselves, of these the one with the fewest neighbours, the first row of those. It finds widths 0, 1 and 2
// wherever they are possible. Classes without arrivals link nothing.
//
// The error is an [*input.Error], or a [*num.TooLargeError] that names a width which no order goes below, if it is above [MaxWidth]: some part of
// what the eliminations before leave has that many neighbours everywhere. It takes O(S log S) steps for S servers with few neighbours.
func NewOrder(p *Problem) (*Order, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	g, err := newGraph(p)
	if err != nil {
		return nil, err
	}
	o := &Order{Servers: make([]int, 0, len(g.next))}
	most := 0
	for s, next := range g.next {
		g.push(s)
		most = max(most, len(next))
	}
	for len(o.Servers) < len(g.next) {
		if g.queue.Len() == 0 {
			return nil, tooWide(g.leastDegree())
		}
		c := heap.Pop(&g.queue).(candidate)
		if !g.isCurrent(c) {
			continue
		}
		o.Servers = append(o.Servers, c.server)
		o.Width = max(o.Width, c.degree)
		o.Work += workOf(c.degree)
		g.eliminate(c.server)
	}
	o.Work *= 1 + float64(most)/25 // products of many messages want finer panels
	return o, nil
}

// workOf estimates the operations of what comes of one server, in both passes and the measures: a message of so many servers has some points along each.
func workOf(width int) float64 {
	const points = 130
	return 20 * math.Pow(points, float64(width)+1)
}

func tooWide(width int) error {
	return &num.TooLargeError{Input: input.Errorf("model", width, "servers whose graph has a width of at most %d, where one message depends on %d servers or more", MaxWidth, width)}
}

// A graph has the servers not yet eliminated.
type graph struct {
	next  []map[int]bool // neighbours; nil once eliminated
	queue candidates     // all servers with at most MaxWidth neighbours, some in states that they had
}

// newGraph links the servers of every class with arrivals.
func newGraph(p *Problem) (*graph, error) {
	g := &graph{next: make([]map[int]bool, len(p.Capacities))}
	for s := range g.next {
		g.next[s] = make(map[int]bool)
	}
	for _, k := range p.Classes {
		if k.Rate == 0 {
			continue
		}
		if len(k.Servers) > MaxWidth+1 {
			return nil, tooWide(len(k.Servers) - 1)
		}
		for a, s := range k.Servers {
			for _, t := range k.Servers[:a] {
				g.next[s][t], g.next[t][s] = true, true
			}
		}
	}
	return g, nil
}

// eliminate links the neighbours of s and takes it out.
func (g *graph) eliminate(s int) {
	var around []int
	for t := range g.next[s] {
		delete(g.next[t], s)
		around = append(around, t)
	}
	g.next[s] = nil
	for a, t := range around {
		for _, u := range around[:a] {
			if g.next[t][u] {
				continue
			}
			g.next[t][u], g.next[u][t] = true, true
			few, many := t, u
			if len(g.next[few]) > len(g.next[many]) {
				few, many = many, few
			}
			for v := range g.next[few] {
				if g.next[many][v] {
					g.push(v) // lacks one link less
				}
			}
		}
	}
	for _, t := range around {
		g.push(t)
	}
}

// push puts a server into the queue as it is now, unless it has too many neighbours.
func (g *graph) push(s int) {
	if len(g.next[s]) <= MaxWidth {
		heap.Push(&g.queue, candidate{g.fill(s), len(g.next[s]), s})
	}
}

// isCurrent reports whether a candidate is in the state of the queue.
func (g *graph) isCurrent(c candidate) bool {
	return g.next[c.server] != nil && len(g.next[c.server]) == c.degree && g.fill(c.server) == c.fill
}

// fill counts the links that the neighbours of s lack.
func (g *graph) fill(s int) int {
	links := 0
	for t := range g.next[s] {
		for u := range g.next[s] {
			if t < u && !g.next[t][u] {
				links++
			}
		}
	}
	return links
}

// leastDegree returns the least number of neighbours of a server that is left: the graph is a minor of the first, so that no order has
// a smaller width.
func (g *graph) leastDegree() int {
	least := math.MaxInt
	for _, next := range g.next {
		if next != nil {
			least = min(least, len(next))
		}
	}
	return least
}

// A candidate is a server that may go next.
type candidate struct{ fill, degree, server int }

type candidates []candidate

func (c candidates) Len() int { return len(c) }

func (c candidates) Less(i, j int) bool {
	a, b := c[i], c[j]
	switch {
	case a.fill != b.fill:
		return a.fill < b.fill
	case a.degree != b.degree:
		return a.degree < b.degree
	}
	return a.server < b.server
}

func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }

func (c *candidates) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}
