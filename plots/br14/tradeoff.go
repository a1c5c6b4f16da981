package br14

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/plots"
)

// A mixture is traffic of two classes with profiles (1, a) and d(b, 1), in which the fraction u of
// the work is of class 1.
type mixture struct {
	a, b, d, u *big.Rat
}

// mixtures returns n mixtures, with a, b and u uniform over the hundredths from 0.01 to 0.99, 0.01
// to 0.99 and 0.2 to 0.8, and d over the tenths from 0.4 to 1.
func mixtures(n int, seed uint64) []mixture {
	r := rand.New(rand.NewPCG(seed, 0x62723134)) // an independent stream
	hundredths := func(from, to int64) *big.Rat { return big.NewRat(from+r.Int64N(to-from+1), 100) }
	var all []mixture
	for range n {
		all = append(all, mixture{hundredths(1, 99), hundredths(1, 99), big.NewRat(4+r.Int64N(7), 10),
			hundredths(20, 80)})
	}
	return all
}

func (m mixture) String() string {
	return fmt.Sprintf("a = %s, b = %s, d = %s, u = %s", plots.Decimal(m.a), plots.Decimal(m.b), plots.Decimal(m.d),
		plots.Decimal(m.u))
}

// traffic returns the traffic at the given load. Jobs of both classes have the same work, 1 in
// units of their dominant resource, so jobs of class 2 have the mean size 1/d.
func (m mixture) traffic(rho *big.Rat) *traffic.Model {
	one := big.NewRat(1, 1)
	t := trafficOf(rho, []*big.Rat{m.u, new(big.Rat).Sub(one, m.u)}, []*big.Rat{one, m.a}, []*big.Rat{m.b, one})
	t.Classes[1].Demand = []*big.Rat{new(big.Rat).Mul(m.d, m.b), m.d}
	t.Classes[1].MeanSize = new(big.Rat).Inv(m.d)
	return t
}

// A tradeoff holds the outcome of a policy on a mixture. A class has the rate g_k = γ_k d_k =
// λ_k/E[x_k], the mean fraction of its dominant resource per job, which is 1 for a single job.
type tradeoff struct {
	all    float64    // mean over all jobs, Σ_k λ_k / Σ_k E[x_k]
	rates  [2]float64 // g_k
	slower float64    // the smaller of the rates
	ratio  float64    // ratio of the smaller rate to the larger
}

// tradeoffUnder solves the mixture under a policy.
func (m mixture) tradeoffUnder(ctx context.Context, p fluid.Policy, rho *big.Rat) (tradeoff, error) {
	t := m.traffic(rho)
	r, err := traffic.Solve(ctx, t, p, traffic.Settings{TruncationTol: 1e-6})
	if err != nil {
		return tradeoff{}, fmt.Errorf("%v, %s: %w", m, policyShort(p), err)
	}
	var v tradeoff
	rates, jobs := 0.0, 0.0
	for k, c := range r.Classes {
		rate, _ := t.Classes[k].ArrivalRate.Float64()
		rates += rate
		jobs += c.MeanJobs
		v.rates[k] = rate / c.MeanJobs
	}
	v.all = rates / jobs
	v.slower = min(v.rates[0], v.rates[1])
	v.ratio = v.slower / max(v.rates[0], v.rates[1])
	return v, nil
}

// tradeLoad is the load of fluid-3.
func tradeLoad() *big.Rat { return big.NewRat(8, 10) }

// tradeOff draws efficiency and fairness of policies relative to DRF for many profiles.
func tradeOff(ctx context.Context, e plots.Effort, f *plots.Figure) error {
	n := map[plots.Precision]int{plots.Draft: 20, plots.Normal: 100, plots.Paper: 200}[e.Precision]
	all := mixtures(n, e.Seed)
	byPolicy := make(map[fluid.Policy][]tradeoff)
	for _, p := range fluid.Policies() {
		for _, m := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			v, err := m.tradeoffUnder(ctx, p, tradeLoad())
			if err != nil {
				return err
			}
			byPolicy[p] = append(byPolicy[p], v)
		}
	}
	drf := byPolicy[fluid.DRF]
	axis := plots.Axis{Quantity: "mean service rate of all jobs relative to DRF"}
	slow := plots.Panel{Title: "The slower class", X: axis,
		Y:          plots.Axis{Quantity: "rate of the slower class relative to DRF"},
		References: []plots.Reference{{Label: "as under DRF", Y: 1}}}
	fair := plots.Panel{Title: "Fairness", X: axis,
		Y: plots.Axis{Quantity: "rate of the slower class relative to the faster", Min: 0.2, Max: 1.05}}
	shown, same := []fluid.Policy{fluid.PF, fluid.BMF, fluid.BF, fluid.MaxMin}, alikeTradeoffs(byPolicy[fluid.PF],
		byPolicy[fluid.BMF])
	if same {
		shown = []fluid.Policy{fluid.PF, fluid.BF, fluid.MaxMin}
	}
	for _, p := range shown {
		a := scatter(p, byPolicy[p], drf, func(v, d tradeoff) float64 { return v.slower / d.slower })
		b := scatter(p, byPolicy[p], drf, func(v, _ tradeoff) float64 { return v.ratio })
		if same && p == fluid.PF {
			a.Label, b.Label = "PF and BMF", "PF and BMF"
		}
		slow.Series, fair.Series = append(slow.Series, a), append(fair.Series, b)
	}
	tight(&slow.X, slow.Series, func(s plots.Series) []float64 { return s.X })
	fair.X = slow.X
	tight(&slow.Y, slow.Series, func(s plots.Series) []float64 { return s.Y })
	least := 1.0
	sum := 0.0
	for _, d := range drf {
		least = min(least, d.ratio)
		sum += d.ratio / float64(len(drf))
	}
	fair.References = []plots.Reference{{Label: "DRF, mean", Y: sum}}
	f.OneLegend = true
	f.Panels = []plots.Panel{slow, fair}
	data := tradeWords(byPolicy[fluid.PF], drf)
	data["Pairs"], data["Load"], data["Seed"], data["Least"], data["Same"] = n, tradeLoad(), e.Seed, least, same
	if err := texts.Describe(f, data, nil); err != nil {
		return err
	}
	if err := tradeChecks(ctx, f, all[0], byPolicy); err != nil {
		return err
	}
	tradeClaims(f, byPolicy)
	return nil
}

// tradeWords returns the data for texts that compare PF with DRF on average over the mixtures.
func tradeWords(pf, drf []tradeoff) map[string]any {
	var all, slower, equal, drfEqual float64
	n := float64(len(pf))
	for k, v := range pf {
		all, slower = all+v.all/drf[k].all/n, slower+v.slower/drf[k].slower/n
		equal, drfEqual = equal+v.ratio/n, drfEqual+drf[k].ratio/n
	}
	return map[string]any{"All": all, "Slower": slower, "Equal": equal, "EqualDRF": drfEqual}
}

// alikeTradeoffs reports whether two policies serve all classes of all mixtures equally, up to the
// truncation of chains.
func alikeTradeoffs(a, b []tradeoff) bool {
	for k := range a {
		for i, v := range a[k].rates {
			if math.Abs(b[k].rates[i]-v) > 1e-5*v {
				return false
			}
		}
	}
	return true
}

// tight lets an axis end at the nearest tenths around the values.
func tight(a *plots.Axis, all []plots.Series, pick func(plots.Series) []float64) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, s := range all {
		least, most = min(least, slices.Min(pick(s))), max(most, slices.Max(pick(s)))
	}
	a.Min, a.Max = math.Floor(10*least-0.2)/10, math.Ceil(10*most+0.2)/10
}

// scatter returns the points of a policy in order of efficiency, one point per value.
func scatter(p fluid.Policy, values, drf []tradeoff, pick func(v, drf tradeoff) float64) plots.Series {
	s := plots.Series{Label: policyShort(p), Kind: plots.Points, Look: policyLook(p)}
	var all [][2]float64
	for k, v := range values {
		all = append(all, [2]float64{v.all / drf[k].all, pick(v, drf[k])})
	}
	slices.SortFunc(all, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	for _, v := range all {
		if len(s.X) == 0 || v[0] > s.X[len(s.X)-1] {
			s.X, s.Y = append(s.X, v[0]), append(s.Y, v[1])
		}
	}
	return s
}

// tradeChecks compares results that do not depend on d with computations without d.
func tradeChecks(ctx context.Context, f *plots.Figure, m mixture, byPolicy map[fluid.Policy][]tradeoff) error {
	same := m
	same.d = big.NewRat(1, 1)
	for _, p := range []fluid.Policy{fluid.PF, fluid.DRF, fluid.BMF, fluid.BF} {
		v, err := same.tradeoffUnder(ctx, p, tradeLoad())
		if err != nil {
			return err
		}
		f.Checks = append(f.Checks, plots.SolverCheck(f.ID,
			fmt.Sprintf("service rate of all jobs, %s, %v, against d = 1", policyShort(p), m), byPolicy[p][0].all,
			v.all, 1e-6))
	}
	v, err := same.tradeoffUnder(ctx, fluid.MaxMin, tradeLoad())
	if err != nil {
		return err
	}
	f.Checks = append(f.Checks, plots.SolverCheck(f.ID,
		fmt.Sprintf("service rate of all jobs, DRF, %v, as max-min fairness with d = 1", m), byPolicy[fluid.DRF][0].all,
		v.all, 1e-6))
	return nil
}

func tradeClaims(f *plots.Figure, byPolicy map[fluid.Policy][]tradeoff) {
	drf := byPolicy[fluid.DRF]
	of := func(p fluid.Policy, pick func(v, d tradeoff) float64) (least, mean, most float64) {
		least, most = math.Inf(1), math.Inf(-1)
		for k, v := range byPolicy[p] {
			x := pick(v, drf[k])
			least, most, mean = min(least, x), max(most, x), mean+x/float64(len(drf))
		}
		return least, mean, most
	}
	efficient := func(v, d tradeoff) float64 { return v.all / d.all }
	slower := func(v, d tradeoff) float64 { return v.slower / d.slower }
	equal := func(v, _ tradeoff) float64 { return v.ratio }
	span := func(p fluid.Policy, pick func(v, d tradeoff) float64) string {
		least, mean, most := of(p, pick)
		return fmt.Sprintf("%s (%s to %s)", plots.Short(mean), plots.Short(least), plots.Short(most))
	}
	leastAll, meanAll, _ := of(fluid.PF, efficient)
	_, meanSlow, _ := of(fluid.PF, slower)
	count := func(pick func(v, d tradeoff) float64, ok func(float64) bool) (n int) {
		for k, v := range byPolicy[fluid.PF] {
			if ok(pick(v, drf[k])) {
				n++
			}
		}
		return n
	}
	f.Claims = append(f.Claims, plots.Finding(f.ID,
		"PF is shown by analysis and simulation to offer a significantly better efficiency–fairness tradeoff "+
			"(abstract).",
		"For every pair PF serves all jobs at least as fast as DRF; on average over the pairs, also the class that "+
			"is served more slowly.",
		fmt.Sprintf("Service rate of all jobs over that under DRF, mean (least to largest): %s, above 1.1 for %d of "+
			"%d pairs; of the slower class: %s, below 1 for %d. Slower class over faster: PF %s, DRF %s: PF is less "+
			"equal.",
			span(fluid.PF, efficient), count(efficient, func(v float64) bool { return v > 1.1 }), len(drf),
			span(fluid.PF, slower), count(slower, func(v float64) bool { return v < 1 }), span(fluid.PF, equal),
			span(fluid.DRF, equal)),
		leastAll >= 1-1e-6 && meanSlow >= 1))
	var words []string
	best := true
	for _, p := range []fluid.Policy{fluid.BMF, fluid.BF, fluid.MaxMin} {
		_, mean, _ := of(p, efficient)
		best = best && mean <= meanAll*(1+1e-5)
		words = append(words, fmt.Sprintf("%s %s, slower class %s", policyShort(p), span(p, efficient),
			span(p, slower)))
	}
	f.Claims = append(f.Claims, plots.Finding(f.ID, "PF is the most efficient of the policies here.",
		"None has a larger mean, over the pairs, of the service rate of all jobs over that under DRF.",
		fmt.Sprintf("PF %s; %s.", span(fluid.PF, efficient), strings.Join(words, "; ")), best))
}
