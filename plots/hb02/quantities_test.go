package hb02_test

import (
	"context"
	"fmt"
	"math"
	"slices"

	"productform/internal/oracle"
	"productform/sizes"
	"productform/tags"
)

// paperSizes returns the sizes of the paper, of mean 3000 and at most 10^10.
func paperSizes(alpha float64) sizes.Distribution {
	return oracle.Must(sizes.NewBoundedParetoOfMean(alpha, 1e10, 3000))
}

func farm(alpha, load float64, hosts int) tags.Model {
	return tags.Model{Sizes: paperSizes(alpha), Hosts: hosts, Load: load}
}

// shortFarm has the sizes of section 7 (at most 10^7), 2 hosts and system load 0.5.
func shortFarm(alpha float64) tags.Model {
	return tags.Model{Sizes: oracle.Must(sizes.NewBoundedParetoOfMean(alpha, 1e7, 3000)), Hosts: 2, Load: 0.5}
}

func moment(d sizes.Distribution, order float64) float64 { return oracle.Must(d.Moment(order)) }

// lowEnd returns k.
func lowEnd(d sizes.Distribution) float64 { low, _, _ := d.Support(); return low }

// carried returns the fraction of the load carried by the given fraction of longest jobs.
func carried(d sizes.Distribution, part float64) float64 {
	return oracle.Must(d.PartialMoment(1, oracle.Must(d.Quantile(1-part)), math.Inf(1))) / moment(d, 1)
}

// longest returns the fraction of longest jobs that carry the given fraction of the load.
func longest(d sizes.Distribution, share float64) float64 {
	return d.Survival(math.Exp(root(math.Log(lowEnd(d)), math.Log(1e10), func(u float64) float64 {
		return oracle.Must(d.PartialMoment(1, math.Exp(u), math.Inf(1)))/moment(d, 1) - share
	})))
}

// evaluate returns the result of a policy without cutoffs.
func evaluate(m tags.Model, p tags.Policy) tags.Result {
	return oracle.Must(tags.Evaluate(context.Background(), m, p, nil))
}

// TAGS-opt-slowdown, TAGS-opt-waitingtime and TAGS-opt-fairness.
func forSlowdown(m tags.Model) tags.Result { return optimal(m, tags.Objective{Slowdown: 1}) }
func forWaiting(m tags.Model) tags.Result  { return optimal(m, tags.Objective{Waiting: 1}) }
func forFairness(m tags.Model) tags.Result { return optimal(m, tags.Objective{Fair: true}) }

// optima holds the results of optimal, most of which two claims, or both variants of LWR, share.
var optima = make(map[optimum]tags.Result)

type optimum struct {
	sizes     sizes.Distribution
	hosts     int
	load      float64
	objective tags.Objective
}

func optimal(m tags.Model, o tags.Objective) tags.Result {
	key := optimum{m.Sizes, m.Hosts, m.Load, o}
	r, ok := optima[key]
	if !ok {
		r = oracle.Must(tags.Optimize(context.Background(), m, tags.PolicyTAGS, o))
		optima[key] = r
	}
	return r
}

// flavors returns the results of the three variants of TAGS for 2 hosts.
func flavors(alpha, load float64) []tags.Result {
	m := farm(alpha, load, 2)
	return []tags.Result{forSlowdown(m), forWaiting(m), forFairness(m)}
}

// loadGame returns TAGS with the cutoff of section 5.2: 10^-4 of the jobs end at host 2.
func loadGame() tags.Result {
	m := farm(0.2, 0.5, 2)
	return oracle.Must(tags.Evaluate(
		context.Background(), m, tags.PolicyTAGS, []float64{oracle.Must(m.Sizes.Quantile(1 - 1e-4))},
	))
}

func slowdown(r tags.Result) float64 { return r.MeanSlowdown.Float }
func waiting(r tags.Result) float64  { return r.MeanWaiting.Float }

// unfairness returns the mean slowdown of the jobs that end at host 2 divided by that of the jobs
// that end at host 1.
func unfairness(r tags.Result) float64 { return r.Hosts[1].Slowdown.Float / r.Hosts[0].Slowdown.Float }

// loads returns the loads of hosts 1 and 2 of each result, in order.
func loads(results ...tags.Result) (x []float64) {
	for _, r := range results {
		x = append(x, r.Hosts[0].Load.Float, r.Hosts[1].Load.Float)
	}
	return x
}

// balanced returns the alpha at which hosts 1 and 2 have the same load.
func balanced(low, high float64, of func(alpha float64) tags.Result) float64 {
	return root(low, high, func(alpha float64) float64 {
		x := loads(of(alpha))
		return x[0] - x[1]
	})
}

// excess returns the excess of TAGS-opt-slowdown with 2 hosts.
func excess(alpha, load float64) float64 { return forSlowdown(farm(alpha, load, 2)).Excess.Float }

// rivals returns the mean slowdowns of TAGS-opt-slowdown, LWR and Random.
func rivals(lwr tags.Policy, m tags.Model) []float64 {
	return []float64{slowdown(forSlowdown(m)), slowdown(evaluate(m, lwr)), slowdown(evaluate(m, tags.PolicyRandom))}
}

// fourHosts returns the mean slowdowns of TAGS-opt-slowdown of Figure 12, for all alpha.
func fourHosts() []float64 {
	return mapped(grid(), func(alpha float64) float64 { return slowdown(forSlowdown(farm(alpha, 0.3, 4))) })
}

func orders(a, b float64) float64 { return math.Log10(a / b) }

// gainOf returns log10 of the ratio of E[S] of a rival to E[S] of TAGS-opt-slowdown.
func gainOf(rival tags.Policy, m tags.Model) float64 {
	return orders(slowdown(evaluate(m, rival)), slowdown(forSlowdown(m)))
}

func gain(rival tags.Policy, alpha, load float64, hosts int) float64 {
	return gainOf(rival, farm(alpha, load, hosts))
}

// leastGain returns the smallest gain over all alpha, with 2 hosts.
func leastGain(rival tags.Policy, load float64) float64 {
	return minOverAlpha(func(alpha float64) float64 { return gain(rival, alpha, load, 2) })
}

// added returns the number of hosts that a policy needs beyond 2 for a mean slowdown of 3.
func added(p tags.Policy, alpha, load float64) float64 {
	e := oracle.Must(tags.Expand(context.Background(), farm(alpha, load, 2), p, tags.ExpansionSettings{}))
	if !e.Within {
		panic(fmt.Sprintf("%s never has a mean slowdown of 3: alpha = %v, load %v", p, alpha, load))
	}
	return e.Extra.Float
}

// singleValue returns a single value.
func singleValue(f func(lwr tags.Policy) float64) values {
	return func(lwr tags.Policy) []float64 { return []float64{f(lwr)} }
}

// valuesAt returns f at some x.
func valuesAt(f func(lwr tags.Policy, x float64) float64, at ...float64) values {
	return func(lwr tags.Policy) []float64 {
		return mapped(at, func(x float64) float64 { return f(lwr, x) })
	}
}

// gains returns the gains over LWR at some alpha.
func gains(load float64, hosts int, alphas ...float64) values {
	return valuesAt(func(lwr tags.Policy, alpha float64) float64 { return gain(lwr, alpha, load, hosts) }, alphas...)
}

// bestLoads returns the loads of hosts 1 and 2 under TAGS-opt-slowdown at some alpha.
func bestLoads(load float64, alphas ...float64) values {
	return func(tags.Policy) (x []float64) {
		for _, alpha := range alphas {
			x = append(x, loads(forSlowdown(farm(alpha, load, 2)))...)
		}
		return x
	}
}

// tenths returns from/10, ..., to/10 in increasing order.
func tenths(from, to int) []float64 {
	var x []float64
	for i := from; i <= to; i++ {
		x = append(x, float64(i)/10)
	}
	return x
}

// grid returns the points at which a claim for all alpha is tested.
func grid() []float64 { return tenths(2, 20) }

// mapped returns f of all x.
func mapped(x []float64, f func(x float64) float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = f(x[i])
	}
	return y
}

// minOverAlpha returns the minimum of f over all alpha.
func minOverAlpha(f func(alpha float64) float64) float64 { return slices.Min(mapped(grid(), f)) }

// leastRise returns the smallest increase of f as alpha decreases by 0.1.
func leastRise(f func(alpha float64) float64) float64 {
	y := mapped(grid(), f)
	least := math.Inf(1)
	for i := 1; i < len(y); i++ {
		least = min(least, y[i-1]-y[i])
	}
	return least
}

// root returns the sign change of f between low and high, to a relative accuracy of 1e-13.
func root(low, high float64, f func(x float64) float64) float64 {
	rising := f(high) > 0
	for range 45 {
		if mid := (low + high) / 2; (f(mid) > 0) == rising {
			high = mid
		} else {
			low = mid
		}
	}
	return (low + high) / 2
}

// lowest returns the position of the only minimum between low and high, by golden-section search to
// 1e-6.
func lowest(low, high float64, f func(x float64) float64) float64 {
	const golden = 0.6180339887498949
	for high-low > 1e-6 {
		if a, b := high-golden*(high-low), low+golden*(high-low); f(a) < f(b) {
			high = b
		} else {
			low = a
		}
	}
	return (low + high) / 2
}
