package gibbs

import "slices"

// A death is the time at which a server dies.
type death struct {
	at     float64
	server int32
}

func sortDeaths(list []death) {
	slices.SortFunc(list, func(a, b death) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return int(a.server - b.server)
	})
}

// A loss is the fraction of its ways to be served that a class loses when a server dies.
type loss struct {
	class int32
	place int32
	part  float64
}

// An order holds the servers of a part in the order in which they die, and values derived from it.
// With K_k the servers alive up to death k = 0, 1, ..., the time between deaths k-1 and k is
// exponential with mean 1/slack[k], given the order.
type order struct {
	*part
	deaths  []death
	place   []int32   // position of each server among the deaths
	working []float64 // M(K_k), the capacity alive
	// λ(K_k), the rate of the classes inside; a class that draws servers counts by the fraction of
	// its draws inside
	load   []float64
	slack  []float64 // M(K_k) - λ(K_k)
	ahead  []float64 // Σ_{j<=k} 1/slack[j], the mean time of death k
	ends   []int32   // by class without draws: the first death among its servers
	losses []loss    // losses of the classes with draws, by increasing place
	alive  [][]int32 // scratch for losses: the servers alive, by class and draw
	within []float64 // and the fraction of its draws alive, by class
}

func newOrder(p *part) *order {
	n := len(p.capacity)
	o := &order{
		part: p, deaths: make([]death, n), place: make([]int32, n), working: make([]float64, n),
		load: make([]float64, n), slack: make([]float64, n), ahead: make([]float64, n),
		ends: make([]int32, len(p.classes)), within: make([]float64, len(p.classes)),
	}
	for _, c := range p.classes {
		o.alive = append(o.alive, make([]int32, len(c.draws)))
	}
	return o
}

// set sets the order to that of deaths. The sums add positive numbers from the last death
// backwards, so only the differences lose digits.
func (o *order) set() {
	for k, d := range o.deaths {
		o.place[d.server] = int32(k)
	}
	clear(o.load)
	for i := range o.classes {
		c := &o.classes[i]
		if len(c.draws) > 0 {
			continue
		}
		end := o.place[c.plain[0]]
		for _, s := range c.plain[1:] {
			end = min(end, o.place[s])
		}
		o.ends[i] = end
		o.load[end] += c.rate
	}
	o.findLosses()
	for _, l := range o.losses {
		o.load[l.place] += o.classes[l.class].rate * l.part
	}
	capacity, load := 0.0, 0.0
	for k := len(o.deaths) - 1; k >= 0; k-- {
		capacity += o.capacity[o.deaths[k].server]
		load += o.load[k]
		o.working[k], o.load[k], o.slack[k] = capacity, load, capacity-load
	}
	ahead := 0.0
	for k, d := range o.slack {
		ahead += 1 / d
		o.ahead[k] = ahead
	}
}

// findLosses follows the classes with draws through the deaths.
func (o *order) findLosses() {
	o.losses = o.losses[:0]
	for i := range o.classes {
		for d, draw := range o.classes[i].draws {
			o.alive[i][d] = int32(len(draw.among) - 1)
		}
		o.within[i] = 1
	}
	for k, dead := range o.deaths {
		for _, u := range o.uses[dead.server] {
			c, before := &o.classes[u.class], o.within[u.class]
			if before == 0 {
				continue
			}
			after := 0.0
			if u.draw >= 0 {
				o.alive[u.class][u.draw]--
				after = 1
				for d := range c.draws {
					after *= c.draws[d].among[o.alive[u.class][d]]
				}
			}
			o.within[u.class] = after
			o.losses = append(o.losses, loss{u.class, int32(k), before - after})
		}
	}
}

// times sets, for each class, the value of byPlace at the death that ends its service. If a class
// loses its ways to be served one by one, it sets the mean of the values at these deaths.
func (o *order) times(byPlace, to []float64) {
	for i := range o.classes {
		if len(o.classes[i].draws) == 0 {
			to[i] = byPlace[o.ends[i]]
		} else {
			to[i] = 0
		}
	}
	for _, l := range o.losses {
		to[l.class] += l.part * byPlace[l.place]
	}
}
