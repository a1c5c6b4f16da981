package plan

import (
	"math/big"
	"slices"

	"productform/cluster"
	"productform/num"
)

// The reasons why the failure of a plan extends to others, named in [Proof.RestsOn].
// docs/theory.md proves them.
const (
	// capacity, with the service all
	ReasonJobs = "more capacity leaves fewer jobs of every class"
	// capacity and servers, with the service one
	ReasonWaits = "more capacity and more servers shorten the waits of every class"
	// delays of jobs whose servers have one speed
	ReasonOneSpeed = "delays add to the wait a time of the same distribution on each server"
	// mean delay of all jobs if no servers are added
	ReasonPresent = "more capacity leaves fewer jobs present"
	// other delays
	ReasonDelayBound = "a delay is at least the wait with more servers and a time on the fastest server"
	// service levels of served jobs in one pool with patience
	ReasonServed = "in one pool, more servers shorten the waits of the served jobs"
	// edges, with the service one
	ReasonEdges = "a class waits least with its own new edges, and without the classes that get others"
	// gangs
	ReasonGang = "one more server delays no start"
	// networks
	ReasonClosed = "a faster station raises the throughput of a closed chain"
	ReasonOpen   = "a faster station leaves fewer jobs in an open network"
	// systems with losses
	ReasonLink = "more room and more servers lose fewer jobs of one kind"
	// nothing: plans are solved one by one
	ReasonSolved = "each plan is solved, since the measure need not improve with more servers"
	// numbers with error estimates
	ReasonEstimates = "error estimates of numbers in float64, tested and not proved"
)

// reasons returns the reasons of the problem, in the order of the targets. If a mean delay is
// minimized, its reason comes after those of the targets.
func (in *instance) reasons(minimizes bool) (list []string) {
	list = []string{}
	add := func(why string) {
		if !slices.Contains(list, why) {
			list = append(list, why)
		}
	}
	switch in.Service() {
	case serviceAll:
		add(ReasonJobs)
	case serviceOne:
		add(ReasonWaits)
	case serviceGang:
		add(ReasonGang)
	}
	targets := in.targets
	if minimizes {
		targets = append(slices.Clone(targets), in.aimedTarget())
	}
	for _, t := range targets {
		if why := in.reason(t); why != "" {
			add(why)
		}
	}
	if in.Service() == serviceOne && len(in.edges) > 0 && slices.ContainsFunc(in.targets, in.hasEdgeBound) {
		add(ReasonEdges)
	}
	if in.isEstimated() {
		add(ReasonEstimates)
	}
	return list
}

// reason returns the reason why failures of a target extend to all plans with fewer steps, or why
// they do not. It does not repeat the reason of the service.
func (in *instance) reason(t target) string {
	switch {
	case t.measure == FIFOWaste:
		return ReasonSolved
	case in.Network != nil:
		return in.stationReason(t)
	case in.Loss != nil:
		return in.lossReason(t)
	case in.Service() != serviceOne:
		return ""
	case t.measure == ServedShareWithin && isImpatient(in.base.cluster):
		return ReasonServed
	case !t.measure.isDelay():
		return ""
	case in.hasOneSpeed(t.row):
		return ReasonOneSpeed
	case t.row < 0 && !in.addsServers():
		return ReasonPresent
	}
	return ReasonDelayBound
}

// extends reports whether the failure of a target extends to all plans with fewer steps.
func (in *instance) extends(t target) bool {
	why := in.reason(t)
	return why != ReasonSolved && why != ReasonDelayBound
}

// isMonotone reports whether the failures of all targets extend.
func (in *instance) isMonotone() bool {
	return !slices.ContainsFunc(in.targets, func(t target) bool { return !in.extends(t) })
}

// hasOneSpeed reports whether, in every plan, all servers that a class may get have the same speed:
// upgrades raise the speed of none of them, or there is only one row of them. For -1 it reports
// whether this holds for every arriving class.
func (in *instance) hasOneSpeed(class int) bool {
	if class < 0 {
		for i, c := range in.base.cluster.Classes {
			if c.ArrivalRate.Sign() > 0 && !in.hasOneSpeed(i) {
				return false
			}
		}
		return true
	}
	var speed *big.Rat
	isOne, rows, isRaised := true, 0, false
	add := func(capacity *big.Rat) {
		rows++
		isOne = isOne && (speed == nil || capacity.Cmp(speed) == 0)
		speed = capacity
	}
	row := func(k int) {
		add(in.base.cluster.Servers[k].Capacity)
		isRaised = isRaised ||
			slices.ContainsFunc(in.options, func(o option) bool { return o.server == k && o.count == 0 })
	}
	for _, k := range in.base.cluster.Classes[class].Servers {
		row(k.Server)
	}
	for _, e := range in.edges {
		if e.class == class && e.option < 0 {
			row(e.choice.Server)
		}
	}
	for k, o := range in.options {
		if o.server < 0 && slices.Contains(in.usersOf(k, ^bits(0)), class) {
			add(o.capacity)
		}
	}
	return isOne && (rows == 1 || !isRaised)
}

// addsServers reports whether some option adds servers.
func (in *instance) addsServers() bool {
	return slices.ContainsFunc(in.options, func(o option) bool { return o.server < 0 || o.count > 0 })
}

// isEstimated reports whether a plan may be judged by numbers whose errors are estimated.
func (in *instance) isEstimated() bool {
	if in.Service() == serviceGang {
		return in.needsWaits()
	}
	return in.Service() == serviceOne && isImpatient(in.base.cluster) && !in.isAlwaysPool()
}

// isAlwaysPool reports whether each plan leaves one pool of equal servers.
func (in *instance) isAlwaysPool() bool {
	pool := poolOf(in.base.cluster)
	if pool == nil || len(in.edges) > 0 {
		return false
	}
	row := in.base.cluster.Servers
	for i, c := range in.base.cluster.Classes {
		if c.ArrivalRate.Sign() == 0 {
			continue
		}
		for k, o := range in.options {
			used := slices.ContainsFunc(c.Servers, func(x cluster.Choice) bool { return x.Server == o.server })
			switch {
			case o.server < 0 && (!slices.Contains(in.usersOf(k, 0), i) ||
				o.capacity.Cmp(row[c.Servers[0].Server].Capacity) != 0):
				return false
			case used && o.count == 0 && (len(c.Servers) > 1 || in.addsNewServers()):
				return false
			}
		}
	}
	return true
}

func (in *instance) addsNewServers() bool {
	return slices.ContainsFunc(in.options, func(o option) bool { return o.server < 0 })
}

// needsWaits reports whether some target is about waits or delays.
func (in *instance) needsWaits() bool {
	return slices.ContainsFunc(in.targets, func(t target) bool {
		return t.measure == MeanWaiting || t.measure == MeanDelay
	})
}

// delayBound returns a lower bound on the mean delay of a class, or of all jobs for -1, in all
// plans with at most the steps of a plan: the wait in this plan, and the time on the fastest
// server.
func delayBound(m *cluster.Model, class int, waiting num.Value) *big.Rat {
	service, total := new(big.Rat), new(big.Rat)
	for i, c := range m.Classes {
		if class >= 0 && i != class || c.ArrivalRate.Sign() == 0 {
			continue
		}
		fastest := new(big.Rat)
		for _, k := range c.Servers {
			if x := m.Servers[k.Server].Capacity; x.Cmp(fastest) > 0 {
				fastest = x
			}
		}
		service.Add(service, new(big.Rat).Quo(m.Work(i), fastest))
		total.Add(total, c.ArrivalRate)
	}
	return service.Add(service.Quo(service, total), lowOf(waiting))
}

// hasEdgeBound reports whether relaxed bounds the measure of a target over sets of edges.
func (in *instance) hasEdgeBound(t target) bool {
	switch {
	case t.row < 0:
		return false
	case t.measure == ServedShareWithin && isImpatient(in.base.cluster):
		return false
	case t.measure == MeanWaiting, t.measure == Abandon, t.measure.isTime() && !t.measure.isDelay():
		return in.usesWhole(t.row)
	}
	return false
}

// usesWhole reports whether a class draws no servers from groups.
func (in *instance) usesWhole(class int) bool {
	draws := func(c cluster.Choice) bool { return c.Choose < in.base.cluster.Servers[c.Server].Size() }
	return !slices.ContainsFunc(in.base.cluster.Classes[class].Servers, draws) &&
		!slices.ContainsFunc(in.edges, func(e edge) bool { return e.class == class && e.option < 0 && draws(e.choice) })
}

// relaxed returns the model of a plan without the arrivals of the other classes that get edges. In
// it, the class waits at most as long as in each plan with at most these edges and steps: without
// arrivals all wait less, and a class that gets an edge does not wait longer.
func (in *instance) relaxed(edges bits, steps []int, class int) *cluster.Model {
	m := in.cluster(edges, steps)
	for _, k := range edges.list() {
		if i := in.edges[k].class; i != class {
			m.Classes[i].ArrivalRate = new(big.Rat)
		}
	}
	return m
}
