package elimination

import (
	"math"
	"slices"
)

// A minimum holds the smallest C(A) - λ(A) over the eliminated servers, indexed by the mask of
// remaining servers in A: without and with an eliminated server in A.
type minimum struct {
	servers []int
	least   [][2]float64
}

// plus returns the minima of the sum of two functions, from the minima of each.
func plus(a, b [2]float64) [2]float64 {
	return [2]float64{a[0] + b[0], min(a[1]+min(b[0], b[1]), a[0]+b[1])}
}

// slack returns the smallest C(A) - λ(A) over the nonempty sets A of servers, with C their
// capacities and λ the rates of the classes whose servers all lie in A. It uses the same
// elimination as the measures, with minima in place of integrals, in about 2^width steps per
// server.
func (p *Problem) slack(o *Order) float64 {
	place, classes, minima := o.places(), make([][]int, len(o.Servers)), make([][]minimum, len(o.Servers))
	for i, c := range p.Classes {
		s := first(place, c.Servers)
		classes[s] = append(classes[s], i)
	}
	all := [2]float64{0, math.Inf(1)}
	for _, s := range o.Servers {
		scope := []int{s}
		for _, i := range classes[s] {
			scope = append(scope, p.Classes[i].Servers...)
		}
		for _, m := range minima[s] {
			scope = append(scope, m.servers...)
		}
		slices.SortFunc(scope, func(a, b int) int { return place[a] - place[b] }) // s is the first
		scope = slices.Compact(scope)
		within := func(mask int, servers []int) (own int) {
			for k, v := range servers {
				own |= mask >> slices.Index(scope, v) & 1 << k
			}
			return own
		}
		sum := minimum{scope[1:], make([][2]float64, 1<<(len(scope)-1))}
		for stay := range sum.least {
			for in := range 2 {
				mask, x := stay<<1|in, [2]float64{0, math.Inf(1)}
				if in == 1 {
					x = [2]float64{math.Inf(1), p.Capacities[s]}
				}
				for _, i := range classes[s] {
					if servers := p.Classes[i].Servers; within(mask, servers) == 1<<len(servers)-1 {
						x[0] -= p.Classes[i].Rate
						x[1] -= p.Classes[i].Rate
					}
				}
				for _, m := range minima[s] {
					x = plus(x, m.least[within(mask, m.servers)])
				}
				if in == 0 {
					sum.least[stay] = x
				} else {
					sum.least[stay][0] = min(sum.least[stay][0], x[0])
					sum.least[stay][1] = min(sum.least[stay][1], x[1])
				}
			}
		}
		if len(sum.servers) == 0 {
			all = plus(all, sum.least[0])
		} else {
			to := first(place, sum.servers)
			minima[to] = append(minima[to], sum)
		}
	}
	return all[1]
}
