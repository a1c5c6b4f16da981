package network

import (
	"slices"

	"productform/internal/input"
	"productform/internal/ranktable"
)

// components are the chains of a model according to its graph: sets of classes that branches of
// positive probability link.
type components struct {
	of         []int   // component of each class, in the order of first classes
	classes    [][]int // classes of each component, in increasing order
	population []int
	open       []int // the first class with an arrival rate; -1 if there is none
}

// components finds the chains. Branches lead to classes of the model.
func (m *Model) components() components {
	sets := ranktable.Singles(len(m.Classes))
	for c := range m.Classes {
		for _, v := range m.Classes[c].Visits {
			for _, b := range v.Next {
				if b.Class != Leaves && b.Probability.Sign() > 0 {
					sets.Join(c, b.Class)
				}
			}
		}
	}
	k := components{of: make([]int, len(m.Classes))}
	for c := range m.Classes {
		root := sets.Root(c)
		if root == c {
			k.of[c] = len(k.classes)
			k.classes, k.population, k.open = append(k.classes, nil), append(k.population, 0), append(k.open, -1)
		}
		i := k.of[root]
		k.of[c] = i
		k.classes[i] = append(k.classes[i], c)
		k.population[i] += m.Classes[c].Population
		if m.Classes[c].ArrivalRate != nil && k.open[i] < 0 {
			k.open[i] = c
		}
	}
	return k
}

// closed reports whether class c belongs to a closed chain.
func (k components) closed(c int) bool { return k.open[k.of[c]] < 0 }

// A stackPair holds the two stations of a chain that visits no others and at which both have LCFS.
// They are equal if the chain visits one station.
type stackPair struct{ low, high int }

// stacks returns the stack pair of a chain, if it has one.
func (m *Model) stacks(classes []int) (p stackPair, ok bool) {
	var stations []int
	for _, c := range classes {
		for _, v := range m.Classes[c].Visits {
			if m.Stations[v.Station].Discipline != LCFS {
				return p, false
			}
			stations = append(stations, v.Station)
		}
	}
	slices.Sort(stations)
	stations = slices.Compact(stations)
	return stackPair{stations[0], stations[len(stations)-1]}, len(stations) <= 2
}

// checkStacks checks that the numbers of closed chains at stations with LCFS do not depend on the
// start.
//
// A job that visits only one such station returns there immediately. If there are at least as many
// of these jobs as servers, they can hold all servers forever, and the jobs below never move. If
// all jobs of the station belong to one class, no number depends on which of them move, and delays
// count only these ([Model.moving]).
//
// The jobs of chains that visit the same two such stations, with one server each, keep their order
// forever. Write down the jobs at one station from the first to the last to arrive, and then those
// at the other from the last to the first. This is a tape, and each move of such a job moves the
// head of the tape by one job. Other jobs join and leave at the head and do not change the order.
// The jobs of one chain can be in any order, since each can make all its visits while it is next to
// the head. A job that also visits a third station can get to any position, and two servers at one
// of the stations let neighbours swap.
func (m *Model) checkStacks(k components) error {
	chains := map[stackPair][]int{}
	for i, classes := range k.classes {
		if p, ok := m.stacks(classes); ok && k.open[i] < 0 {
			chains[p] = append(chains[p], i)
		}
	}
	for i, classes := range k.classes {
		p, ok := m.stacks(classes)
		if !ok || k.open[i] >= 0 {
			continue
		}
		same := chains[p]
		var all []int
		jobs := 0
		for _, other := range same {
			all = append(all, k.classes[other]...)
			jobs += k.population[other]
		}
		visit := m.Classes[classes[0]].Visits[0]
		path, name := visitPath(classes[0], 0)+".station", input.Quote(m.Stations[visit.Station].Name)
		servers := max(m.Stations[p.low].Servers, m.Stations[p.high].Servers, 1)
		switch {
		case p.low == p.high && (jobs > servers && len(all) > 1 || jobs >= servers && m.isShared(p.low, all)):
			return input.Errorf(path, name, "another station as well in the closed chain of %s: with lcfs alone the "+
				"last job is served forever, and numbers depend on the start", m.classNames(classes))
		case p.low != p.high && len(same) > 1 && servers == 1:
			low, high := input.Quote(m.Stations[p.low].Name), input.Quote(m.Stations[p.high].Name)
			return input.Errorf(path, name, "a third station in the closed chain of %s or in that of %s: with lcfs at "+
				"%s and %s alone their jobs keep their order, and numbers depend on the start", m.classNames(classes),
				m.classNames(k.classes[same[1]]), low, high)
		}
	}
	return nil
}

// moving returns how many of the jobs of a closed chain ever move: all of them, unless the chain
// visits only one station and that has LCFS. Each job that finishes there is again the last to
// arrive, so the jobs in service stay in service.
func (m *Model) moving(classes []int, population int) int {
	p, ok := m.stacks(classes)
	if !ok || p.low != p.high {
		return population
	}
	return min(population, max(m.Stations[p.low].Servers, 1))
}

// isShared reports whether classes other than these visit a station.
func (m *Model) isShared(station int, classes []int) bool {
	for c, class := range m.Classes {
		visits := func(v Visit) bool { return v.Station == station }
		if !slices.Contains(classes, c) && slices.ContainsFunc(class.Visits, visits) {
			return true
		}
	}
	return false
}

// checkChains checks that each chain is open or closed, and that its jobs can reach all visits.
func (m *Model) checkChains() error {
	k := m.components()
	for i, classes := range k.classes {
		first := classes[0]
		switch open := k.open[i]; {
		case open >= 0 && k.population[i] > 0:
			for _, c := range classes {
				if m.Classes[c].Population > 0 {
					return input.Errorf(input.Index("classes", open)+".arrival_rate",
						m.Classes[open].ArrivalRate.RatString(),
						"none, because jobs of %s and %s turn into one another, and %s has a population: "+
							"a chain is open or closed",
						input.Quote(m.Classes[open].Name), input.Quote(m.Classes[c].Name),
						input.Quote(m.Classes[c].Name))
				}
			}
		case open < 0 && k.population[i] == 0:
			return input.Errorf(input.Index("classes", first)+".population", "",
				"at least one job in the chain of %s, or an arrival_rate", m.classNames(classes))
		case k.population[i] > maxPopulation:
			return input.Errorf(input.Index("classes", first)+".population",
				m.Classes[first].Population, "at most %d jobs in the chain of %s",
				maxPopulation, m.classNames(classes))
		}
		for _, c := range classes {
			if m.Classes[c].Reference != 0 && k.open[i] >= 0 {
				return input.Errorf(
					input.Index("classes", c)+".reference", m.Classes[c].Reference, "none, because the chain is open",
				)
			}
			if m.Classes[c].Reference != 0 && m.Classes[c].Visits[0].Count != nil {
				return input.Errorf(
					input.Index("classes", c)+".reference", m.Classes[c].Reference,
					"none, because visits are given per cycle",
				)
			}
			if c != first && m.Classes[c].Reference != 0 {
				return input.Errorf(input.Index("classes", c)+".reference", m.Classes[c].Reference,
					"none, because the reference of %s, the first class of the chain, is used",
					input.Quote(m.Classes[first].Name))
			}
		}
		if m.Classes[first].Visits[0].Count != nil {
			continue
		}
		if err := m.checkReach(classes, k.open[i] >= 0); err != nil {
			return err
		}
	}
	return m.checkStacks(k)
}

// A visitGraph is the graph of the visits of a chain: with an edge for each possible step.
type visitGraph struct {
	visits []Branch    // the nodes; Probability is nil
	first  map[int]int // first node of each class
	next   [][]int
	leaves []bool // whether jobs can leave the network after the visit
}

func (m *Model) newVisitGraph(classes []int) visitGraph {
	g := visitGraph{first: make(map[int]int, len(classes))}
	for _, c := range classes {
		g.first[c] = len(g.visits)
		for v := range m.Classes[c].Visits {
			g.visits = append(g.visits, Branch{Class: c, Visit: v})
		}
	}
	g.next, g.leaves = make([][]int, len(g.visits)), make([]bool, len(g.visits))
	for a, at := range g.visits {
		for _, b := range m.Classes[at.Class].Visits[at.Visit].Next {
			switch {
			case b.Probability.Sign() == 0:
			case b.Class == Leaves:
				g.leaves[a] = true
			default:
				g.next[a] = append(g.next[a], g.first[b.Class]+b.Visit)
			}
		}
	}
	return g
}

// reach marks in seen the starts and all nodes that edges lead to from them.
func reach(seen []bool, next [][]int, starts ...int) []bool {
	stack := append([]int(nil), starts...)
	for _, a := range starts {
		seen[a] = true
	}
	for len(stack) > 0 {
		a := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, b := range next[a] {
			if !seen[b] {
				seen[b] = true
				stack = append(stack, b)
			}
		}
	}
	return seen
}

// reversed returns the graph with every edge reversed.
func reversed(next [][]int) [][]int {
	back := make([][]int, len(next))
	for a, list := range next {
		for _, b := range list {
			back[b] = append(back[b], a)
		}
	}
	return back
}

// checkReach checks that jobs of a chain can reach all visits: in a closed chain every visit from
// every other, in an open one every visit and the exit.
func (m *Model) checkReach(classes []int, open bool) error {
	g := m.newVisitGraph(classes)
	if !open {
		return m.checkRecurrent(g)
	}
	var starts, exits []int
	for _, c := range classes {
		class := &m.Classes[c]
		if class.ArrivalRate != nil && class.Arrives == nil {
			starts = append(starts, g.first[c])
		}
		for _, b := range class.Arrives {
			if b.Probability.Sign() > 0 {
				starts = append(starts, g.first[c]+b.Visit)
			}
		}
	}
	for a, leaves := range g.leaves {
		if leaves {
			exits = append(exits, a)
		}
	}
	n := len(g.visits)
	reached, left := reach(make([]bool, n), g.next, starts...), reach(make([]bool, n), reversed(g.next), exits...)
	for a, at := range g.visits {
		path, name := visitPath(at.Class, at.Visit), m.Stations[m.Classes[at.Class].Visits[at.Visit].Station].Name
		if !reached[a] {
			return input.Errorf(path, input.Quote(name), "a visit that arriving jobs can get to")
		}
		if !left[a] {
			return input.Errorf(path+".next", "no way out",
				"a way out of the network from every visit, because the chain of %s is open",
				m.classNames(classes))
		}
	}
	return nil
}

// checkRecurrent checks that jobs of a closed chain can get from each visit to every other. If not,
// the error names a visit that jobs leave forever, or two visits neither of which leads to the
// other.
func (m *Model) checkRecurrent(g visitGraph) error {
	for a, leaves := range g.leaves {
		if leaves {
			at := g.visits[a]
			return input.Errorf(visitPath(at.Class, at.Visit)+".next.out", "a way out",
				"none, because the chain is closed")
		}
	}
	back := reversed(g.next)
	seen, last := make([]bool, len(g.visits)), 0
	for a := range g.visits {
		if !seen[a] {
			last = a
			reach(seen, back, a)
		}
	}
	// Every node that leads to the last such start is also reached from it, since otherwise it
	// would have been seen before: jobs never leave its component.
	from, to := reach(make([]bool, len(seen)), g.next, last), reach(make([]bool, len(seen)), back, last)
	const want = "routing by which jobs of a closed chain get from each visit to every other"
	for a, at := range g.visits {
		name, end := input.Quote(m.branchName(Leaves, at)), input.Quote(m.branchName(Leaves, g.visits[last]))
		switch {
		case !to[a]:
			return input.Errorf(visitPath(at.Class, at.Visit), name,
				"%s; there is no way from here to %s, nor back",
				want, end)
		case !from[a]:
			return input.Errorf(visitPath(at.Class, at.Visit), name,
				"%s; jobs that reach %s never return here",
				want, end)
		}
	}
	return nil
}

// A Chain is a set of classes among which jobs change.
type Chain struct {
	Classes    []int // rows of the model's classes, in increasing order
	Closed     bool  // its jobs never leave
	Population int   // jobs of a closed chain
}

// Chains returns the chains of a model that passes [Model.Check], in the order of their first
// classes.
func (m *Model) Chains() (chains []Chain) {
	k := m.components()
	for i, classes := range k.classes {
		chains = append(chains, Chain{Classes: classes, Closed: k.open[i] < 0, Population: k.population[i]})
	}
	return chains
}
