package gibbs

import (
	"math"
	"slices"

	"productform/internal/eventqueue"
)

// maxGrowthSteps is the largest number of steps of [growth.from] for which chains start at orders
// by group, Σ n² over classes of n servers. One order then takes about 0.2 s. Larger models start
// at the two orders by load only, and sweeps propose no exchanges.
const maxGrowthSteps = 1e7

// setStarts sets the orders of deaths at which chains start: by increasing load, by decreasing
// load, and orders in which different groups of servers, each short of capacity, die last. The load
// of a server is the load of its classes, divided equally among their servers.
//
// Two groups that are nearly short of capacity and weakly linked exchange their places rarely. So
// sweeps propose exchanges if some set of servers has much less slack than the sets next to it in a
// start order. Chains start at either order of the groups, so R-hat shows if they never meet.
func (a *part) setStarts() {
	g := newGrowth(a)
	load := g.loads()
	keys := make([]death, len(load))
	for _, sign := range []float64{1, -1} {
		for s := range keys {
			keys[s] = death{load[s] * sign, int32(s)}
		}
		sortDeaths(keys)
		a.startOrders = append(a.startOrders, serversOf(keys))
	}
	if len(load) < 2 || g.steps() > maxGrowthSteps {
		return
	}
	o, w := newOrder(a), newBlockWeights(len(load))
	grouped := make([]bool, len(load))
	for _, seed := range a.startOrders[1] { // the most loaded first
		if len(a.startOrders) == chains {
			break
		}
		if grouped[seed] {
			continue
		}
		g.from(seed, o.deaths)
		o.set()
		a.startOrders = append(a.startOrders, serversOf(o.deaths))
		w.setMiddle(o.slack)
		if slices.Max(w.middle) >= standsOut {
			a.exchanges = exchanges
		}
		group := len(o.slack) - 1
		for k := group; k > 0; k-- {
			if o.slack[k] < o.slack[group] {
				group = k
			}
		}
		for _, d := range o.deaths[group:] {
			grouped[d.server] = true
		}
	}
}

func serversOf(deaths []death) []int32 {
	list := make([]int32, len(deaths))
	for k, d := range deaths {
		list[k] = d.server
	}
	return list
}

// A member is a server of a class, with the probability that a job of the class has it: 1, or less
// if jobs draw their servers.
type member struct {
	server int32
	share  float64
}

// A membership is a class of a server, with the probability that a job of the class has the server.
type membership struct {
	class int32
	share float64
}

// A growth grows sets of servers along the classes that they share.
type growth struct {
	*part
	members [][]member     // by class
	each    []float64      // by class: the number of servers of each job
	joins   [][]membership // by server
}

// newGrowth returns the growth of the sets of a part.
func newGrowth(a *part) *growth {
	g := &growth{part: a, joins: make([][]membership, len(a.capacity))}
	for i := range a.classes {
		c := &a.classes[i]
		var list []member
		each := float64(len(c.plain))
		for _, s := range c.plain {
			list = append(list, member{s, 1})
		}
		for _, d := range c.draws {
			row := a.rows[d.row]
			for s := row.first; s < row.first+row.count; s++ {
				list = append(list, member{int32(s), float64(d.choose) / float64(row.count)})
			}
			each += float64(d.choose)
		}
		g.members, g.each = append(g.members, list), append(g.each, each)
		for _, m := range list {
			g.joins[m.server] = append(g.joins[m.server], membership{int32(i), m.share})
		}
	}
	return g
}

// loads returns the load of each server.
func (g *growth) loads() []float64 {
	load := make([]float64, len(g.capacity))
	for i, list := range g.members {
		for _, m := range list {
			load[m.server] += g.part.classes[i].rate / g.each[i] * m.share / g.capacity[m.server]
		}
	}
	return load
}

// steps returns the number of steps that from takes.
func (g *growth) steps() (sum float64) {
	for _, list := range g.members {
		sum += float64(len(list)) * float64(len(list))
	}
	return sum
}

// from builds an order backwards from the seed, which dies last. Each step adds the server with the
// largest rate of classes inside the set so far minus its capacity; a class of n servers counts
// 1/(n-1) for each of its other servers inside.
func (g *growth) from(seed int32, deaths []death) {
	var waiting eventqueue.Schedule
	places := make([]int32, len(g.capacity))
	for s, c := range g.last {
		at := c
		if int32(s) == seed {
			at = math.Inf(-1)
		}
		waiting.Push(eventqueue.Entry{Time: at, Tie: float64(s), Item: uint32(s)}, places)
	}
	for k := len(deaths) - 1; k >= 0; k-- {
		next := int32(waiting[0].Item)
		waiting.Remove(0, places)
		places[next] = -1
		deaths[k].server = next
		for _, x := range g.joins[next] {
			if g.each[x.class] <= 1 {
				continue
			}
			weight := g.part.classes[x.class].rate / (g.each[x.class] - 1) * x.share
			for _, m := range g.members[x.class] {
				if place := places[m.server]; place >= 0 {
					waiting[place].Time -= weight * m.share
					waiting.Up(int(place), places)
				}
			}
		}
	}
}
