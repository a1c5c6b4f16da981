package tags_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
	"productform/sizes"
	"productform/tags"
)

// The sizes in (a, b] of a Pareto distribution, bounded or not, again have a Pareto distribution,
// so each host is a separate farm with one host.
func TestSITAMatchesSeparateHosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log low"))
		alpha := rapid.Float64Range(2.1, 4).Draw(t, "alpha")
		high := low * math.Exp(rapid.Float64Range(1, 10).Draw(t, "span"))
		bounded := rapid.Bool().Draw(t, "bounded")
		jobSizes := must(sizes.NewPareto(low, alpha))
		if bounded {
			jobSizes = must(sizes.NewBoundedPareto(low, high, alpha))
		}
		hosts := rapid.IntRange(1, 6).Draw(t, "hosts")
		m := tags.Model{Sizes: jobSizes, Hosts: hosts, Load: rapid.Float64Range(0.01, 0.99).Draw(t, "load")}
		var all float64
		for range hosts {
			m.Speeds = append(m.Speeds, rapid.Float64Range(0.2, 5).Draw(t, "speed"))
			all += m.Speeds[len(m.Speeds)-1]
		}
		cutoffs := make([]float64, hosts-1)
		for i := range cutoffs {
			cutoffs[i] = low * math.Pow(high/low, rapid.Float64Range(0.01, 0.99).Draw(t, "cutoff"))
		}
		sort.Float64s(cutoffs)
		r, err := tags.Evaluate(context.Background(), m, tags.PolicySITA, cutoffs)
		var unstable *tags.UnstableError
		if err != nil && !errors.As(err, &unstable) {
			t.Fatal(err)
		}
		rate := m.Load * all / must(jobSizes.Moment(1))
		var waiting, slowdown, response float64
		for i, host := range r.Hosts {
			a, b := low, high
			if i > 0 {
				a = cutoffs[i-1]
			}
			if i < hosts-1 {
				b = cutoffs[i]
			}
			if a == b {
				continue
			}
			fraction := jobSizes.Survival(a) - jobSizes.Survival(b)
			part := must(sizes.NewBoundedPareto(a, b, alpha))
			if !bounded && i == hosts-1 {
				fraction, part = jobSizes.Survival(a), must(sizes.NewPareto(a, alpha))
			}
			size := must(part.Moment(1))
			load := rate * fraction * size / m.Speeds[i]
			const tol = 1e-9 // fraction cancels if b is close to a
			if math.Abs(host.Final.Float-fraction) > 1e-13 || math.Abs(host.Load.Float-load) > 1e-12*(1+load) ||
				math.Abs(host.Slack.Float-(1-load)) > 1e-12*(1+load) || !isNear(host.VisitMean.Float, size, 1e-9) {
				t.Fatalf("host %d: %+v, want fraction %v, load %v, size %v", i, host, fraction, load, size)
			}
			if load >= 1-1e-6 { // 1 - load cancels
				return
			}
			one := must(tags.Evaluate(
				context.Background(), tags.Model{Sizes: part, Hosts: 1, Load: load, Speeds: m.Speeds[i : i+1]},
				tags.PolicyTAGS, nil,
			))
			slackTol := tol / (1 - load)
			if err == nil && (math.Abs(host.Waiting.Float-
				one.MeanWaiting.Float) > slackTol*one.MeanWaiting.Float+1e-12*load/fraction ||
				!isNear(host.Slowdown.Float/host.Waiting.Float, one.MeanSlowdown.Float/one.MeanWaiting.Float, tol) ||
				!isNear(host.Delay.Float-host.Waiting.Float, size/m.Speeds[i], slackTol*(1+host.Waiting.Float/size))) {
				t.Fatalf("host %d: %+v, want %+v", i, host, one)
			}
			waiting += fraction * one.MeanWaiting.Float
			slowdown += fraction * one.MeanSlowdown.Float
			response += fraction * one.MeanDelay.Float
		}
		if err != nil {
			if host := r.Hosts[unstable.Host]; host.Slack.Float > 0 || host.Load.Float != unstable.Load ||
				r.MeanWaiting.Float != 0 {
				t.Fatalf("%v, but host %+v", err, host)
			}
			return
		}
		// for loads up to 1 - 1e-6
		if !isNear(r.MeanWaiting.Float, waiting, 1e-6) || !isNear(r.MeanSlowdown.Float, slowdown, 1e-6) ||
			!isNear(r.MeanDelay.Float, response, 1e-6) || !isNear(r.ArrivalRate.Float, rate, 1e-14) {
			t.Fatalf("%+v, want %v, %v, %v", r, waiting, slowdown, response)
		}
	})
}

// SITA with the cutoffs of TAGS does the same work without kills, so no mean is larger.
func TestSITAIsBelowTAGS(t *testing.T) {
	for _, alpha := range []float64{0.4, 1, 1.6} {
		m := tags.Model{Sizes: must(sizes.NewBoundedParetoOfMean(alpha, 1e7, 3000)), Hosts: 3, Load: 0.5}
		guess := must(tags.Optimize(context.Background(), m, tags.PolicyTAGS, tags.Objective{Slowdown: 1}))
		known := must(tags.Evaluate(context.Background(), m, tags.PolicySITA, guess.Cutoffs))
		if !(known.MeanSlowdown.Float < guess.MeanSlowdown.Float && known.MeanWaiting.Float < guess.MeanWaiting.Float &&
			known.MeanDelay.Float < guess.MeanDelay.Float) {
			t.Errorf("alpha = %v: %+v, not below %+v", alpha, known, guess)
		}
	}
}

// Equal cutoffs, and cutoffs outside the range of the sizes, leave hosts idle.
func TestSITAIdleHosts(t *testing.T) {
	m := tags.Model{Sizes: must(sizes.NewBoundedPareto(1, 100, 1)), Hosts: 4, Load: 0.2}
	r := must(tags.Evaluate(context.Background(), m, tags.PolicySITA, []float64{0.5, 10, 10}))
	if r.Hosts[0] != (tags.Host{Slack: num.Value{Float: 1}}) || r.Hosts[2] != (tags.Host{Slack: num.Value{Float: 1}}) {
		t.Errorf("idle hosts: %+v", r.Hosts)
	}
	two := must(tags.Evaluate(
		context.Background(), tags.Model{Sizes: m.Sizes, Hosts: 2, Load: 0.4}, tags.PolicySITA, []float64{10},
	))
	if !isNear(r.MeanSlowdown.Float, two.MeanSlowdown.Float, 1e-14) ||
		!isNear(r.MeanDelay.Float, two.MeanDelay.Float, 1e-14) {
		t.Errorf("%+v, want %+v", r, two)
	}
}

// All hosts have load ρ, whatever their speeds. For equal speeds, E[X; X <= x] is in closed form
// for the Pareto distribution and, with work uniform in ln x, for the bounded one of alpha = 1.
func TestSITAELoads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.IntRange(1, 8).Draw(t, "hosts")
		m := tags.Model{Sizes: drawSizes(t, false), Hosts: hosts, Load: rapid.Float64Range(0.01, 0.99).Draw(t, "load")}
		if rapid.Bool().Draw(t, "speeds") {
			m.Speeds = rapid.SliceOfN(rapid.Float64Range(0.2, 5), hosts, hosts).Draw(t, "speed")
		}
		for i, host := range must(tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil)).Hosts {
			if !isNear(host.Load.Float, m.Load, 1e-11) { // the error of a cutoff is 1e-16, and x² f(x) a few times E[X]
				t.Fatalf("host %d has load %v, not %v", i, host.Load.Float, m.Load)
			}
		}
	})
	for j, s := range must(tags.Evaluate(
		context.Background(), tags.Model{Sizes: paperSizes(low10, 1e10, 1), Hosts: 5, Load: 0.5}, tags.PolicySITAE, nil,
	)).Cutoffs {
		if want := low10 * math.Pow(1e10/low10, float64(j+1)/5); !isNear(s, want, 1e-13) { // about 20 roundings of ln x
			t.Errorf("cutoff %d is %v, want %v", j, s, want)
		}
	}
	for j, s := range must(tags.Evaluate(
		context.Background(), tags.Model{Sizes: must(sizes.NewPareto(2, 3)), Hosts: 5, Load: 0.5},
		tags.PolicySITAE, nil,
	)).Cutoffs {
		if want := 2 / math.Sqrt(1-float64(j+1)/5); !isNear(s, want, 1e-14) {
			t.Errorf("cutoff %d is %v, want %v", j, s, want)
		}
	}
}

// For sizes 1, 2, 3, 4 and two hosts, the work up to each size is 1, 3, 6, 10, and 6 is nearest to
// 5. For three hosts, 3, 3 and 4 are nearest to equal. A single size goes to one host, the last of
// equal ones: each host is idle or has all the load.
func TestSITAEOfAtoms(t *testing.T) {
	jobSizes := must(sizes.NewEmpirical([]float64{4, 3, 2, 1}))
	if c := must(tags.Evaluate(
		context.Background(), tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.5}, tags.PolicySITAE, nil,
	)).Cutoffs; !slices.Equal(c, []float64{3}) {
		t.Errorf("two hosts: %v", c)
	}
	if c := must(tags.Evaluate(
		context.Background(), tags.Model{Sizes: jobSizes, Hosts: 3, Load: 0.5}, tags.PolicySITAE, nil,
	)).Cutoffs; !slices.Equal(c, []float64{2, 3}) {
		t.Errorf("three hosts: %v", c)
	}
	one := must(sizes.NewDeterministic(7))
	r := must(tags.Evaluate(context.Background(), tags.Model{Sizes: one, Hosts: 3, Load: 0.25}, tags.PolicySITAE, nil))
	if !slices.Equal(r.Cutoffs, []float64{0, 0}) || r.Hosts[2].Load.Float != 0.75 {
		t.Errorf("three hosts, one size: %+v", r)
	}
	var unstable *tags.UnstableError
	r, err := tags.Evaluate(context.Background(), tags.Model{Sizes: one, Hosts: 3, Load: 0.5}, tags.PolicySITAE, nil)
	if !errors.As(err, &unstable) || unstable.Host != 2 || r.Hosts[2].Load.Float != 1.5 {
		t.Errorf("overloaded: %v, %+v", err, r)
	}
	m := tags.Model{Sizes: one, Hosts: 4, Load: 0.01, Speeds: []float64{1e-100, 1e100, 1, 1e-100}}
	r = must(tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil)) // squares of loads exceed float64
	if !slices.Equal(r.Cutoffs, []float64{0, 7, 7}) {
		t.Errorf("extreme speeds: %v", r.Cutoffs)
	}
}

// No other sizes as cutoffs give loads with a smaller sum of squared deviations, by trial of all.
// With two hosts, the work of the first is then nearest to its fraction of the capacity.
func TestSITAELoadsOfListMatchTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0.1, 10), rapid.Float64Range(1, 1e4),
			rapid.Map(rapid.IntRange(1, 6), func(n int) float64 { return float64(n) })), 1, 16).Draw(t, "sizes")
		m := tags.Model{Sizes: must(sizes.NewEmpirical(list)), Hosts: rapid.IntRange(1, 5).Draw(t, "hosts"), Load: 0.5}
		if rapid.Bool().Draw(t, "different") {
			m.Speeds = rapid.SliceOfN(rapid.Float64Range(0.2, 5), m.Hosts, m.Hosts).Draw(t, "speeds")
		}
		r, err := tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil)
		var unstable *tags.UnstableError
		if err != nil && !errors.As(err, &unstable) {
			t.Fatal(err)
		}
		if err := m.CheckCutoffs(r.Cutoffs); err != nil {
			t.Fatal(err)
		}
		var got float64
		for _, h := range r.Hosts {
			got += (h.Load.Float - m.Load) * (h.Load.Float - m.Load)
		}
		slices.Sort(list)
		speeds := m.Speeds
		if speeds == nil {
			speeds = slices.Repeat([]float64{1}, m.Hosts)
		}
		var capacity, work float64
		for _, v := range speeds {
			capacity += v
		}
		for _, x := range list {
			work += x
		}
		perWork := m.Load * capacity / work
		if want := leastDeviation(list, speeds, m.Load, perWork); !(math.Abs(got-want) <= 1e-12*(1+want)) {
			t.Fatalf("cutoffs %v: sum of squares %v, want %v", r.Cutoffs, got, want)
		}
	})
}

// leastDeviation returns the smallest Σ_i (ρ_i - ρ)² over all cutoffs between the values of a
// sorted list, for speeds and the load per unit of work.
func leastDeviation(list, speeds []float64, load, perWork float64) float64 {
	least, work := math.Inf(1), 0.0
	for k := 0; k <= len(list); k++ { // the first host gets k jobs
		if k > 0 {
			work += list[k-1]
		}
		if k > 0 && k < len(list) && list[k] == list[k-1] || len(speeds) == 1 && k < len(list) {
			continue
		}
		off := perWork*work/speeds[0] - load
		if len(speeds) == 1 {
			return off * off
		}
		least = min(least, off*off+leastDeviation(list[k:], speeds[1:], load, perWork))
	}
	return least
}

// For alpha = 1 the waiting time of a host with cutoffs a, b = a e^l is λ c² (2 cosh l - 2)/(2 (1 -
// λ c l)), a convex function of l. Since Σ l_i = ln(high/low), equal l_i, which give equal loads,
// are best.
func TestOptimizeSITAOfAlphaOne(t *testing.T) {
	for _, hosts := range []int{2, 3, 4, 8} {
		for _, load := range []float64{0.3, 0.9} {
			m := tags.Model{Sizes: paperSizes(low10, 1e10, 1), Hosts: hosts, Load: load}
			best, err := tags.Optimize(context.Background(), m, tags.PolicySITA, tags.Objective{Waiting: 1})
			if err != nil {
				t.Fatal(err)
			}
			mean := must(m.Sizes.Moment(1))
			l := math.Log(1e10/low10) / float64(hosts)
			c := low10 / -math.Expm1(-l*float64(hosts))
			rate := load * float64(hosts) / mean
			want := float64(hosts) * rate * c * c * (2*math.Cosh(l) - 2) / (2 * (1 - rate*c*l))
			if !isNear(best.MeanWaiting.Float, want, 1e-11) || best.Gap > 6e-11 {
				t.Errorf("h = %d, load %v: %v with gap %v, want %v",
					hosts, load, best.MeanWaiting.Float, best.Gap, want)
			}
			for j, s := range best.Cutoffs {
				if !isNear(s, low10*math.Exp(l*float64(j+1)), 1e-6) { // the square root of rounding, at least
					t.Errorf("h = %d, load %v: cutoff %d is %v", hosts, load, j, s)
				}
			}
		}
	}
}

// For two hosts, no cutoff of a grid has a lower value, and one of them has nearly the lowest.
func TestOptimizeSITAAgainstGrid(t *testing.T) {
	t.Parallel()
	const points = 2000
	phases := must(sizes.NewPhaseSum([]float64{0.6, 0, 0, 0, 0, 0.4}, 0.2))
	for _, c := range []struct {
		sizes    sizes.Distribution
		from, to float64
		o        tags.Objective
		gap      float64
	}{
		{must(sizes.NewBoundedPareto(1, 1e6, 1.1)), 1, 1e6, tags.Objective{Slowdown: 1}, 6e-11},
		{must(sizes.NewBoundedPareto(1, 1e6, 0.5)), 1, 1e6, tags.Objective{Slowdown: 1, Waiting: 1e-5}, 6e-11},
		{must(sizes.NewPareto(1, 2.5)), 1, 1e6, tags.Objective{Slowdown: 1}, 6e-11},
		{must(sizes.NewLognormal(1, 9)), 1e-2, 1e3, tags.Objective{Slowdown: 1}, 6e-11},
		{must(sizes.NewWeibull(0.5, 1)), 1e-3, 1e2, tags.Objective{Waiting: 1}, 6e-11},
		{must(sizes.NewExponential(1)), 1e-3, 40, tags.Objective{Waiting: 1}, 6e-11},
		{must(sizes.NewErlang(4, 1)), 1e-3, 10, tags.Objective{Slowdown: 2, Waiting: 1}, 6e-11},
		{phases, 1e-3, 10, tags.Objective{Waiting: 1}, 2e-3}, // no density
	} {
		for _, speeds := range [][]float64{nil, {1, 3}, {5, 1}} {
			m := tags.Model{Sizes: c.sizes, Hosts: 2, Load: 0.8, Speeds: speeds}
			best, err := tags.Optimize(context.Background(), m, tags.PolicySITA, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if best.Gap > c.gap {
				t.Errorf("%v, speeds %v: gap %v", c.sizes, speeds, best.Gap)
			}
			grid := math.Inf(1)
			for k := range points {
				r, err := tags.Evaluate(context.Background(), m, tags.PolicySITA, []float64{
					c.from * math.Pow(c.to/c.from, (float64(k)+0.5)/points),
				})
				if err == nil {
					grid = min(grid, c.o.Slowdown*r.MeanSlowdown.Float+c.o.Waiting*r.MeanWaiting.Float)
				}
			}
			// A step of the grid is at most 0.7 per cent. Near load 1 the loss is about as large,
			// elsewhere about its square.
			if !(best.Objective.Float <= grid*(1+1e-12) && grid < best.Objective.Float*1.05) {
				t.Errorf("%v, speeds %v: %v, best on the grid %v", c.sizes, speeds, best.Objective.Float, grid)
			}
		}
	}
}

// Random cutoffs are never better, whether drawn near the best ones or anywhere.
func TestOptimizeSITAAgainstRandomCutoffs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.IntRange(2, 4).Draw(t, "hosts")
		inverse := rapid.Bool().Draw(t, "slowdown")
		m := tags.Model{
			Sizes: drawSizes(t, inverse),
			Hosts: hosts,
			Load:  rapid.Float64Range(0.05, 0.95).Draw(t, "load"),
		}
		if rapid.Bool().Draw(t, "speeds") {
			m.Speeds = rapid.SliceOfN(rapid.Float64Range(0.3, 3), hosts, hosts).Draw(t, "speed")
		}
		o := tags.Objective{Waiting: 1}
		if inverse {
			o = tags.Objective{Slowdown: 1}
		}
		best, err := tags.Optimize(context.Background(), m, tags.PolicySITA, o)
		if err != nil {
			t.Fatal(err)
		}
		if best.Gap > 0.01 {
			t.Fatalf("gap %v", best.Gap)
		}
		again := must(tags.Evaluate(context.Background(), m, tags.PolicySITA, best.Cutoffs))
		if v := o.Slowdown*again.MeanSlowdown.Float + o.Waiting*again.MeanWaiting.Float; v != best.Objective.Float {
			t.Fatalf("the cutoffs give %v, not %v", v, best.Objective.Float)
		}
		equal := must(tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil))
		if v := o.Slowdown*equal.MeanSlowdown.Float +
			o.Waiting*equal.MeanWaiting.Float; v < best.Objective.Float*(1-1e-12) {
			t.Fatalf("SITA-E gives %v, below %v", v, best.Objective.Float)
		}
		r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		for k := range 40 {
			cutoffs := slices.Clone(best.Cutoffs)
			for j := range cutoffs {
				if k%2 == 0 {
					cutoffs[j] *= math.Exp(r.NormFloat64() * math.Pow(10, -float64(k)/8))
				} else {
					cutoffs[j] = m.Sizes.Sample(r)
				}
			}
			sort.Float64s(cutoffs)
			other, err := tags.Evaluate(context.Background(), m, tags.PolicySITA, cutoffs)
			if v := o.Slowdown*other.MeanSlowdown.Float + o.Waiting*other.MeanWaiting.Float; err == nil &&
				v < best.Objective.Float*(1-1e-11) {
				t.Fatalf("cutoffs %v give %v, below %v of %v", cutoffs, v, best.Objective.Float, best.Cutoffs)
			}
		}
	})
}

// For lists of sizes, the result matches a trial of all cutoffs.
func TestOptimizeSITAOfAtoms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom([]float64{0.1, 0.5, 1, 2, 2.5, 7, 20, 33, 100}), 1, 12).Draw(
			t, "sizes",
		)
		hosts := rapid.IntRange(2, 4).Draw(t, "hosts")
		m := tags.Model{
			Sizes: must(sizes.NewEmpirical(list)), Hosts: hosts, Load: rapid.Float64Range(0.05, 0.95).Draw(t, "load"),
			Speeds: rapid.SliceOfN(rapid.SampledFrom([]float64{0.5, 1, 3}), hosts, hosts).Draw(t, "speeds"),
		}
		o := tags.Objective{Slowdown: rapid.Float64Range(0, 1).Draw(t, "slowdown"), Waiting: 0.1}
		all := append([]float64{0}, list...)
		slices.Sort(all)
		all = slices.Compact(all)
		least, slack := math.Inf(1), math.Inf(-1)
		var try func(cutoffs []float64, from int)
		try = func(cutoffs []float64, from int) {
			if len(cutoffs) < hosts-1 {
				for k := from; k < len(all); k++ {
					try(append(cutoffs, all[k]), k)
				}
				return
			}
			r, err := tags.Evaluate(context.Background(), m, tags.PolicySITA, cutoffs)
			worst := math.Inf(1)
			for _, host := range r.Hosts {
				worst = min(worst, host.Slack.Float)
			}
			slack = max(slack, worst)
			if err == nil {
				least = min(least, o.Slowdown*r.MeanSlowdown.Float+o.Waiting*r.MeanWaiting.Float)
			}
		}
		try(nil, 0)
		best, err := tags.Optimize(context.Background(), m, tags.PolicySITA, o)
		var infeasible *tags.InfeasibleError
		switch {
		case math.Abs(slack) < 1e-12: // rounding decides
		case slack < 0:
			if !errors.As(err, &infeasible) || !isNear(infeasible.MaxLoad, m.Load/(1-slack), 1e-12) {
				t.Fatalf("error %v, want infeasible above load %v", err, m.Load/(1-slack))
			}
		case err != nil:
			t.Fatal(err)
		case !isNear(best.Objective.Float, least, 1e-12) || best.Gap > 1e-9:
			t.Fatalf("%v with gap %v, want %v", best.Objective.Float, best.Gap, least)
		}
	})
}

func TestOptimizeSITAScales(t *testing.T) {
	m := tags.Model{
		Sizes:  must(sizes.NewBoundedPareto(1, 1e5, 1.3)),
		Hosts:  4,
		Load:   0.6,
		Speeds: []float64{1, 1, 2, 2},
	}
	n := m
	n.Sizes, n.Speeds = must(m.Sizes.Scaled(1000)), []float64{500, 500, 1000, 1000} // a clock twice as slow
	o := tags.Objective{Slowdown: 1}
	a, b := must(tags.Optimize(context.Background(), m, tags.PolicySITA, o)), must(tags.Optimize(
		context.Background(), n, tags.PolicySITA, o,
	))
	if !isNear(b.MeanWaiting.Float, 2*a.MeanWaiting.Float, 1e-9) ||
		!isNear(b.MeanSlowdown.Float, a.MeanSlowdown.Float/500, 1e-12) {
		t.Errorf("%+v, want those of %+v scaled", b, a)
	}
	for j := range a.Cutoffs {
		if !isNear(b.Cutoffs[j], 1000*a.Cutoffs[j], 1e-8) {
			t.Errorf("cutoffs %v, want %v times 1000", b.Cutoffs, a.Cutoffs)
		}
	}
}

func TestSITARejectsBadInput(t *testing.T) {
	good := tags.Model{Sizes: must(sizes.NewBoundedPareto(1, 100, 1)), Hosts: 3, Load: 0.5}
	if _, err := tags.Evaluate(context.Background(), good, tags.PolicySITA, []float64{3, 20}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path    string
		cutoffs []float64
	}{
		{"Cutoffs", nil}, {"Cutoffs", []float64{1, 2, 3}}, {"Cutoffs[0]", []float64{-1, 5}},
		{"Cutoffs[1]", []float64{5, 4}},
		{"Cutoffs[0]", []float64{math.NaN(), 4}}, {"Cutoffs[1]", []float64{5, math.Inf(1)}},
	} {
		_, err := tags.Evaluate(context.Background(), good, tags.PolicySITA, c.cutoffs)
		wantPath(t, "SITA", err, c.path)
	}
	for path, spoil := range map[string]func(m *tags.Model){
		"Sizes":     func(m *tags.Model) { m.Sizes = nil },
		"Hosts":     func(m *tags.Model) { m.Hosts = tags.MaxHosts + 1 },
		"Load":      func(m *tags.Model) { m.Load = 1 },
		"Speeds":    func(m *tags.Model) { m.Speeds = []float64{1} },
		"Speeds[2]": func(m *tags.Model) { m.Speeds = []float64{1, 1, math.NaN()} },
	} {
		m := good
		spoil(&m)
		_, err := tags.Evaluate(context.Background(), m, tags.PolicySITA, []float64{3, 20})
		wantPath(t, "SITA", err, path)
		_, err = tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil)
		wantPath(t, "SITAE", err, path)
		_, err = tags.Optimize(context.Background(), m, tags.PolicySITA, tags.Objective{Waiting: 1})
		wantPath(t, "OptimizeSITA", err, path)
	}
	for path, o := range map[string]tags.Objective{
		"Objective": {}, "Objective.Slowdown": {Slowdown: -1}, "Objective.Waiting": {Waiting: math.Inf(1)},
	} {
		_, err := tags.Optimize(context.Background(), good, tags.PolicySITA, o)
		wantPath(t, "OptimizeSITA", err, path)
	}
	m := good
	m.Sizes = must(sizes.NewExponential(1))
	_, err := tags.Optimize(context.Background(), m, tags.PolicySITA, tags.Objective{Slowdown: 1})
	wantPath(t, "OptimizeSITA", err, "Objective.Slowdown")
	if r, err := tags.Evaluate(context.Background(), m, tags.PolicySITA, []float64{0.5, 2}); err != nil ||
		!r.NoSlowdown || r.MeanSlowdown.Float != 0 ||
		r.Hosts[0].Slowdown.Float != 0 || !(r.Hosts[1].Slowdown.Float > 0) {
		t.Errorf("infinite E[1/X]: %+v, %v", r, err)
	}
	m.Sizes = must(sizes.NewPareto(1, 2))
	if _, err := tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil); !errors.Is(err, sizes.ErrInfinite) {
		t.Errorf("E[X²] = ∞: %v", err)
	}
	m.Sizes = must(sizes.NewBoundedPareto(1e-200, 1e145, 0.01))
	m.Hosts, m.Load = 2, 0.25
	if _, err := tags.Evaluate(context.Background(), m, tags.PolicySITA, []float64{1e-200}); !errors.Is(
		err, sizes.ErrOverflow,
	) {
		t.Errorf("E[S] beyond float64: %v", err)
	}
	m.Load = 0.5
	m.Sizes = must(sizes.NewDeterministic(2))
	var infeasible *tags.InfeasibleError
	_, err = tags.Optimize(context.Background(), m, tags.PolicySITA, tags.Objective{Waiting: 1})
	if !errors.As(err, &infeasible) || !isNear(infeasible.MaxLoad, 0.5, 1e-15) {
		t.Errorf("one size at load 1/2: %v", err)
	}
}

func ExampleOptimize_sita() {
	jobSizes, err := sizes.NewBoundedParetoOfMean(1.1, 1e10, 3000)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.7}
	equal, err := tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	best, err := tags.Optimize(context.Background(), m, tags.PolicySITA, tags.Objective{Slowdown: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("equal loads: E[S] = %.4g, cutoff %.4g\n", equal.MeanSlowdown.Float, equal.Cutoffs[0])
	fmt.Printf("best: E[S] = %.4g, cutoff %.4g, loads %.3f and %.3f, proved: %v\n",
		best.MeanSlowdown.Float, best.Cutoffs[0], best.Hosts[0].Load.Float, best.Hosts[1].Load.Float, best.Gap < 1e-10)
	// Output:
	// equal loads: E[S] = 32.51, cutoff 6.569e+04
	// best: E[S] = 32.15, cutoff 7.143e+04, loads 0.708 and 0.692, proved: true
}

func BenchmarkOptimizeSITA(b *testing.B) {
	for _, hosts := range []int{2, 4, 8, 16} {
		for _, o := range []tags.Objective{{Slowdown: 1}, {Waiting: 1}} {
			b.Run(fmt.Sprintf("hosts=%d/slowdown=%v", hosts, o.Slowdown == 1), func(b *testing.B) {
				m := tags.Model{Sizes: paperSizes(low15, 1e10, 1.5), Hosts: hosts, Load: 0.5}
				for b.Loop() {
					if _, err := tags.Optimize(context.Background(), m, tags.PolicySITA, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
