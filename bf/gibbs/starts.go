package gibbs

import (
	"math"
	"slices"

	"productform/internal/eventqueue"
)

// A member is a server of a class, with the probability that a job of the class has it: 1, or less if jobs
// draw their servers.
type member struct {
	server int32
	share  float64
}

// members returns the servers that jobs of a class may have, and how many of them each job has.
func (a *part) members(c *class) (list []member, each float64) {
	for _, s := range c.plain {
		list = append(list, member{s, 1})
	}
	each = float64(len(c.plain))
	for _, d := range c.draws {
		row := a.rows[d.row]
		for s := row.first; s < row.first+row.count; s++ {
			list = append(list, member{int32(s), float64(d.choose) / float64(row.count)})
		}
		each += float64(d.choose)
	}
	return list, each
}

// setStarts sets the orders of deaths at which chains start: by increasing load, by decreasing load, and orders
// in which different groups of servers, each short of capacity, die last. The load of a server is the load of
// its classes, divided equally among their servers.
//
// Two groups that are nearly short of capacity and weakly linked exchange their places rarely. So sweeps propose
// exchanges if some set of servers has much less slack than the sets next to it in a start order. Chains start
// at either order of the groups, so R-hat shows if they never meet.
func (a *part) setStarts() {
	load := make([]float64, len(a.capacity))
	for i := range a.classes {
		c := &a.classes[i]
		list, each := a.members(c)
		for _, m := range list {
			load[m.server] += c.rate / each * m.share / a.capacity[m.server]
		}
	}
	keys := make([]death, len(load))
	for _, sign := range []float64{1, -1} {
		for s := range keys {
			keys[s] = death{load[s] * sign, int32(s)}
		}
		sortDeaths(keys)
		a.startOrders = append(a.startOrders, serversOf(keys))
	}
	if len(load) < 2 {
		return
	}
	o, b := newOrder(a), newBlocks(len(load))
	grouped := make([]bool, len(load))
	for _, seed := range a.startOrders[1] { // the most loaded first
		if len(a.startOrders) == chains {
			break
		}
		if grouped[seed] {
			continue
		}
		a.growFrom(seed, o.deaths)
		o.set()
		a.startOrders = append(a.startOrders, serversOf(o.deaths))
		b.weighMiddle(o.slack)
		if slices.Max(b.middle) >= standsOut {
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

// growFrom sets an order from its end. The seed dies last. Each step adds the server whose classes are most
// inside the set so far, less its capacity; a class of n servers counts by 1/(n-1) for each of its others inside.
func (a *part) growFrom(seed int32, deaths []death) {
	type share struct {
		class  int32
		amount float64
	}
	classesOf := make([][]share, len(a.capacity))
	lists, weights := make([][]member, len(a.classes)), make([]float64, len(a.classes))
	for i := range a.classes {
		list, each := a.members(&a.classes[i])
		if each > 1 {
			lists[i], weights[i] = list, a.classes[i].rate/(each-1)
		}
		for _, m := range lists[i] {
			classesOf[m.server] = append(classesOf[m.server], share{int32(i), m.share})
		}
	}
	var waiting eventqueue.Schedule
	places := make([]int32, len(a.capacity))
	for s, c := range a.last {
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
		for _, x := range classesOf[next] {
			for _, m := range lists[x.class] {
				if place := places[m.server]; place >= 0 {
					waiting[place].Time -= weights[x.class] * x.amount * m.share
					waiting.Up(int(place), places)
				}
			}
		}
	}
}
