package hb02

import "math"

// A ParetoFarm is a farm of hosts of speed 1 under TAGS with sizes B(k, p, α), for the literal
// formulas of [HB02], Appendix. They lose digits as cutoffs approach each other or a load
// approaches 1; package tags computes the same values by another method.
type ParetoFarm struct {
	Low, High, Alpha float64 // k, p and α
	Hosts            int     // h
	Load             float64 // λ E[X]/h
}

// ParetoMoment returns E[X^j] of B(a, b, α).
func ParetoMoment(j, a, b, alpha float64) float64 {
	part := 1 - math.Pow(a/b, alpha)
	if j == alpha {
		return alpha * math.Pow(a, alpha) * (math.Log(b) - math.Log(a)) / part
	}
	return alpha * math.Pow(a, alpha) * (math.Pow(a, j-alpha) - math.Pow(b, j-alpha)) / ((alpha - j) * part)
}

// Means holds the means over all jobs: E[W], E[S].
type Means struct{ Waiting, Slowdown float64 }

// A Host holds the measures of a host in the Appendix: ρ_i^visit, E[W_i], E[S_i].
type Host struct{ Load, Waiting, Slowdown float64 }

// Evaluate returns E[W], E[S] and the hosts for cutoffs s_1, ..., s_{h-1}; +Inf if a host is
// overloaded.
func (f ParetoFarm) Evaluate(cutoffs ...float64) (m Means, hosts []Host) {
	s := append(append([]float64{f.Low}, cutoffs...), f.High)
	lambda := float64(f.Hosts) * f.Load / ParetoMoment(1, f.Low, f.High, f.Alpha)
	part := func(i int) float64 {
		return math.Pow(f.Low, f.Alpha) / (1 - math.Pow(f.Low/f.High, f.Alpha)) * (math.Pow(s[i-1],
			-f.Alpha) - math.Pow(s[i], -f.Alpha))
	}
	var waited float64
	for i := 1; i <= f.Hosts; i++ {
		var visit float64
		for j := f.Hosts; j >= i; j-- {
			visit += part(j)
		}
		here := part(i) / visit
		first := here*ParetoMoment(1, s[i-1], s[i], f.Alpha) + (1-here)*s[i]
		second := here*ParetoMoment(2, s[i-1], s[i], f.Alpha) + (1-here)*s[i]*s[i]
		rho := lambda * visit * first
		wait := lambda * visit * second / (2 * (1 - rho))
		if rho >= 1 {
			wait = math.Inf(1)
		}
		waited += wait
		v := Host{rho, waited, waited * ParetoMoment(-1, s[i-1], s[i], f.Alpha)}
		m.Waiting += part(i) * v.Waiting
		m.Slowdown += part(i) * v.Slowdown
		hosts = append(hosts, v)
	}
	return m, hosts
}

// Least returns the minimum of a measure of a farm of two hosts over its cutoff: the best point of
// a grid, refined by golden-section search in the two adjacent intervals.
func (f ParetoFarm) Least(pick func(Means) float64) float64 {
	const grid = 400
	cost := func(x float64) float64 { m, _ := f.Evaluate(math.Exp(x)); return pick(m) }
	low, step := math.Log(f.Low), math.Log(f.High/f.Low)/grid
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

// Fair returns the mean slowdown of all jobs at the cutoff of two hosts with E[S_1] = E[S_2], by
// bisection between the cutoffs that overload host 2 and host 1.
func (f ParetoFarm) Fair() float64 {
	low, high := math.Log(f.Low), math.Log(f.High)
	var m Means
	for range 200 {
		mid := (low + high) / 2
		var hosts []Host
		m, hosts = f.Evaluate(math.Exp(mid))
		if hosts[0].Load < 1 && (hosts[1].Load >= 1 || hosts[0].Slowdown < hosts[1].Slowdown) {
			low = mid
		} else {
			high = mid
		}
	}
	return m.Slowdown
}

// WaitProbability returns the probability that a job waits in M/M/h, from Erlang's formula as a sum
// over states, with terms relative to the last one.
func WaitProbability(hosts int, load float64) float64 {
	term, sum := 1.0, 0.0
	for n := hosts; n > 0; n-- { // a^(n-1)/(n-1)! = a^n/n! n/a
		term *= float64(n) / (float64(hosts) * load)
		sum += term
	}
	last := 1 / (1 - load)
	return last / (sum + last)
}

// LeastWorkSlowdown returns E[S] of Least-Work-Remaining in the approximation of Lee and Longton,
// from the sum above.
func (f ParetoFarm) LeastWorkSlowdown() float64 {
	moment := func(j float64) float64 { return ParetoMoment(j, f.Low, f.High, f.Alpha) }
	queue := WaitProbability(f.Hosts, f.Load) * f.Load / (1 - f.Load) * moment(2) / (2 * moment(1) * moment(1))
	return queue * moment(1) / (float64(f.Hosts) * f.Load) * moment(-1)
}
