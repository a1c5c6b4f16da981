package hb02

import (
	"math"

	"productform/tags"
)

// A paretoFarm is a farm of hosts of speed 1 with sizes B(k, p, α), for the formulas of [HB02], Appendix, as they stand
// there. They lose digits as cutoffs come close to each other or a load to 1; package tags computes the same otherwise.
type paretoFarm struct {
	k, p, alpha float64
	hosts       int
	load        float64
}

// literal returns the farm of a model whose sizes are bounded Pareto with this exponent.
func literal(m tags.Model, alpha float64) paretoFarm {
	low, high, _ := m.Sizes.Support()
	return paretoFarm{low, high, alpha, m.Hosts, m.Load}
}

// paretoMoment returns E[X^j] of B(a, b, α).
func paretoMoment(j, a, b, alpha float64) float64 {
	part := 1 - math.Pow(a/b, alpha)
	if j == alpha {
		return alpha * math.Pow(a, alpha) * (math.Log(b) - math.Log(a)) / part
	}
	return alpha * math.Pow(a, alpha) * (math.Pow(a, j-alpha) - math.Pow(b, j-alpha)) / ((alpha - j) * part)
}

// A visited is what the Appendix tells of a host.
type visited struct{ load, waiting, slowdown float64 } // ρ_i^visit, E[W_i], E[S_i]

// evaluate returns E[W], E[S] and the hosts for cutoffs s_1, ..., s_{h-1}; +Inf where a host is overloaded.
func (f paretoFarm) evaluate(cutoffs ...float64) (m means, hosts []visited) {
	s := append(append([]float64{f.k}, cutoffs...), f.p)
	lambda := float64(f.hosts) * f.load / paretoMoment(1, f.k, f.p, f.alpha)
	part := func(i int) float64 {
		return math.Pow(f.k, f.alpha) / (1 - math.Pow(f.k/f.p, f.alpha)) * (math.Pow(s[i-1], -f.alpha) - math.Pow(s[i], -f.alpha))
	}
	var waited float64
	for i := 1; i <= f.hosts; i++ {
		var visit float64
		for j := f.hosts; j >= i; j-- {
			visit += part(j)
		}
		here := part(i) / visit
		first := here*paretoMoment(1, s[i-1], s[i], f.alpha) + (1-here)*s[i]
		second := here*paretoMoment(2, s[i-1], s[i], f.alpha) + (1-here)*s[i]*s[i]
		rho := lambda * visit * first
		wait := lambda * visit * second / (2 * (1 - rho))
		if rho >= 1 {
			wait = math.Inf(1)
		}
		waited += wait
		v := visited{rho, waited, waited * paretoMoment(-1, s[i-1], s[i], f.alpha)}
		m.waiting += part(i) * v.waiting
		m.slowdown += part(i) * v.slowdown
		hosts = append(hosts, v)
	}
	return m, hosts
}

// least returns the least value of a number of the farm of two hosts over its cutoff: the best of a grid, then golden
// sections of the two intervals beside it.
func (f paretoFarm) least(pick func(means) float64) float64 {
	const grid = 400
	cost := func(x float64) float64 { m, _ := f.evaluate(math.Exp(x)); return pick(m) }
	low, step := math.Log(f.k), math.Log(f.p/f.k)/grid
	best, at := math.Inf(1), low
	for n := 1; n < grid; n++ {
		if v := cost(low + float64(n)*step); v < best {
			best, at = v, low+float64(n)*step
		}
	}
	const golden = 0.6180339887498949
	a, b := at-step, at+step
	for range 60 {
		c, d := b-golden*(b-a), a+golden*(b-a)
		if cost(c) < cost(d) {
			b = d
		} else {
			a = c
		}
	}
	return min(best, cost((a+b)/2))
}

// fair returns the mean slowdown of all jobs at the cutoff of two hosts where E[S_1] = E[S_2], by bisection between the
// cutoffs that overload host 2 and host 1.
func (f paretoFarm) fair() float64 {
	low, high := math.Log(f.k), math.Log(f.p)
	var m means
	for range 200 {
		mid := (low + high) / 2
		var hosts []visited
		m, hosts = f.evaluate(math.Exp(mid))
		if hosts[0].load < 1 && (hosts[1].load >= 1 || hosts[0].slowdown < hosts[1].slowdown) {
			low = mid
		} else {
			high = mid
		}
	}
	return m.slowdown
}

// waitProbability returns the probability that a job waits in M/M/h by Erlang's formula as a sum over states, each term
// as a part of the last one.
func waitProbability(hosts int, load float64) float64 {
	term, sum := 1.0, 0.0
	for n := hosts; n > 0; n-- { // a^(n-1)/(n-1)! = a^n/n! n/a
		term *= float64(n) / (float64(hosts) * load)
		sum += term
	}
	last := 1 / (1 - load)
	return last / (sum + last)
}

// leastWorkSlowdown returns E[S] of Least-Work-Remaining in the approximation of Lee and Longton, from the sum above.
func (f paretoFarm) leastWorkSlowdown() float64 {
	moment := func(j float64) float64 { return paretoMoment(j, f.k, f.p, f.alpha) }
	queue := waitProbability(f.hosts, f.load) * f.load / (1 - f.load) * moment(2) / (2 * moment(1) * moment(1))
	return queue * moment(1) / (float64(f.hosts) * f.load) * moment(-1)
}
