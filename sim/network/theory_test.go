package network

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"productform/network"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// stableModel draws a network whose open chains load each station to at most one half.
func stableModel(t *testing.T, seed int) *network.Model {
	m := rapid.Custom(drawModel).Example(seed)
	s, err := network.CheckStability(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if most := big.NewRat(2, 1); s.CriticalScale != nil && s.CriticalScale.Cmp(most) < 0 {
		for c := range m.Classes {
			if rate := m.Classes[c].ArrivalRate; rate != nil {
				m.Classes[c].ArrivalRate = new(big.Rat).Quo(new(big.Rat).Mul(rate, s.CriticalScale), most)
			}
		}
	}
	return m
}

// insensitive returns sizes of a shape for the visits at which only means matter in theory, and
// exponential sizes for all others.
func insensitive(t *testing.T, m *network.Model, shape string) [][]sizes.Distribution {
	list := make([][]sizes.Distribution, len(m.Classes))
	for c := range m.Classes {
		for _, v := range m.Classes[c].Visits {
			var d sizes.Distribution
			switch s := &m.Stations[v.Station]; {
			case s.Discipline == network.FCFS || s.Discipline == network.Order ||
				s.Discipline == network.LCFS && s.Servers > 1:
			default:
				d = simtest.Sizes(t, shape, float(v.MeanSize))
			}
			list[c] = append(list[c], d)
		}
	}
	return list
}

// A pair holds an estimate and the exact value.
type pair struct {
	what     string
	estimate *sim.Estimate
	exact    float64
}

// pairs lists all measures of a network with exact values.
func pairs(r *sim.Result, exact *network.Result, m *network.Model) (list []pair) {
	add := func(what string, e *sim.Estimate, v float64) { list = append(list, pair{what, e, v}) }
	first := make([]int, len(m.Classes)) // first visit of each class
	for c := 1; c < len(first); c++ {
		first[c] = first[c-1] + len(m.Classes[c-1].Visits)
	}
	for k, chain := range exact.Chains {
		add(fmt.Sprint("throughput of chain ", k), r.Class(k, sim.Throughput), chain.Throughput.Float)
		add(fmt.Sprint("delay of chain ", k), r.Class(k, sim.MeanDelay), chain.MeanDelay.Float)
		add(fmt.Sprint("measured delay of chain ", k), r.Class(k, sim.MeasuredDelay), chain.MeanDelay.Float)
		if !chain.Closed {
			add(fmt.Sprint("jobs of chain ", k), r.Class(k, sim.MeanJobs), chain.MeanJobs.Float)
		}
	}
	node := 0
	for i, station := range exact.Stations {
		add(fmt.Sprint("jobs at ", i), r.Estimate(OfStation, i, sim.MeanJobs), station.MeanJobs.Float)
		add(fmt.Sprint("empty ", i), r.Estimate(OfStation, i, EmptyProbability), station.ProbEmpty.Float)
		if station.Utilization != nil {
			add(fmt.Sprint("utilization of ", i), r.Estimate(OfStation, i, sim.Utilization), station.Utilization.Float)
		}
		for _, v := range station.Visits {
			row := first[v.Class] + v.Visit
			add(
				fmt.Sprint("throughput of visit ", row), r.Estimate(sim.OfVisit, row, sim.Throughput),
				v.Throughput.Float,
			)
			add(fmt.Sprint("jobs of visit ", row), r.Estimate(sim.OfVisit, row, sim.MeanJobs), v.MeanJobs.Float)
			add(fmt.Sprint("delay of visit ", row), r.Estimate(sim.OfVisit, row, sim.MeasuredDelay), v.MeanDelay.Float)
		}
		for _, n := range station.Nodes {
			add(fmt.Sprint("node ", node), r.Estimate(OfNode, node, sim.Utilization), 1-n.ProbIdle.Float)
			node++
		}
	}
	return list
}

// jointP returns the joint p-value of the comparisons with exact values multiplied by a factor.
func jointP(all []pair, factor float64) float64 {
	var z []float64
	for _, p := range all {
		if exact := factor * p.exact; p.estimate != nil && p.estimate.StdError > 1e-9*exact && !p.estimate.Skewed {
			z = append(z, p.estimate.Z(exact))
		}
	}
	return sim.JointP(z)
}

// Random networks of all disciplines agree with theory, for several shapes of sizes. The z values
// of one measure of each run look normal. The p-values of all measures of a run are not too small,
// but tiny if the theory is off by 10 %.
func TestNetworksAsTheory(t *testing.T) {
	shapes := []string{"exponential", "hyperexponential:10", "erlang:2", "lognormal:4"}
	var seen, joint []float64
	for seed := range 60 {
		m := stableModel(t, seed)
		exact, err := network.Solve(t.Context(), m, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		system := Network{Model: m, Sizes: insensitive(t, m, shapes[seed%len(shapes)])}
		r := simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 3e3, WarmUp: 1e3, Seed: uint64(seed)})
		all := pairs(r, exact, m)
		for _, p := range all {
			if p.estimate != nil && p.estimate.StdError <= 1e-9*p.exact { // constant
				continue
			}
			simtest.Near(t, fmt.Sprintf("seed %d: %s", seed, p.what), p.estimate, p.exact)
		}
		if one := all[seed%len(all)]; one.estimate.StdError > 1e-9*one.exact {
			seen = append(seen, one.estimate.Z(one.exact))
		}
		joint = append(joint, jointP(all, 1))
		if p := jointP(all, 1.1); !(p < 1e-4) {
			t.Errorf("seed %d: p = %v for exact values that are 10 %% too large", seed, p)
		}
	}
	simtest.NotTooSmall(t, joint)
	slices.Sort(seen)
	var square, distance float64
	n := float64(len(seen))
	for k, z := range seen {
		square += z * z
		below := distuv.UnitNormal.CDF(z)
		distance = max(distance, below-float64(k)/n, float64(k+1)/n-below)
	}
	if p := (distuv.ChiSquared{K: n}).Survival(square); p < 1e-6 || p > 1-1e-6 {
		t.Errorf("Σ z² = %v of %v values", square, n)
	}
	if x := distance * math.Sqrt(n); 2*math.Exp(-2*x*x) < 1e-6 { // Kolmogorov's bound (Massart)
		t.Errorf("the distance of %v values from the normal distribution is %v", n, distance)
	}
	t.Logf("%v values, Σ z² = %.1f, distance %.3f", n, square, distance)
}

// Percentiles of visits match theory under FCFS, for two closed chains and an open one at three
// servers. The percentile of the cycle of a single job is that of a sum of two exponential times,
// P(T > t) = (b e^(-at) - a e^(-bt))/(b-a).
func TestPercentiles(t *testing.T) {
	m := machineRepair(4, 3, network.FCFS)
	m.Classes[0].Visits[1].MeanSize = rat("1")
	m.Classes = append(m.Classes,
		network.Class{Name: "other", Population: 2, Visits: []network.Visit{
			{Station: 0, MeanSize: rat("2"), Count: rat("1")}, {Station: 1, Count: rat("1")},
		}},
		network.Class{Name: "open", ArrivalRate: rat("1/2"), Visits: []network.Visit{{Station: 1, Count: rat("1")}}})
	levels := simtest.Rationals("1/2", "9/10", "99/100")
	exact, err := network.Delays(t.Context(), m, network.DelayQuestion{Station: 1, Levels: levels}, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	settings := sim.Settings{Runs: 20, Jumps: 8e3, WarmUp: 2e3, Seed: 8}
	for _, level := range levels {
		settings.Levels = append(settings.Levels, float(level))
	}
	r := simtest.Run(t, Network{Model: m}, settings)
	for _, v := range exact {
		row := 2*v.Class + v.Visit
		for k, want := range v.Quantiles {
			if q := r.Quantile(sim.OfVisit, row, settings.Levels[k]); q == nil || !(math.Abs(q.Z(want.Float)) < 5) {
				t.Errorf("visit %d, level %v: %+v, want %v", row, settings.Levels[k], q, want.Float)
			}
		}
	}
	few := simtest.Run(t, Network{Model: m}, sim.Settings{Runs: 2, Jumps: 1000, Levels: []float64{0.9999}})
	// the warnings cover three classes, five visits, and the response times of two classes
	if !slices.ContainsFunc(few.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "class open: percentile 99.99") && strings.HasSuffix(w, ", the worst of 10 such")
	}) {
		t.Errorf("no warning that classes and visits have too few jobs: %q", few.Warnings)
	}
	r = simtest.Run(t, Network{Model: machineRepair(1, 1, network.LCFS)}, settings)
	for _, level := range settings.Levels {
		const a, b = 1, 5
		low, high := 0.0, 50.0
		for range 100 {
			if x := (low + high) / 2; (b*math.Exp(-a*x)-a*math.Exp(-b*x))/(b-a) > 1-level {
				low = x
			} else {
				high = x
			}
		}
		if q := r.Quantile(sim.OfClass, 0, level); q == nil || !(math.Abs(q.Z(low)) < 5) {
			t.Errorf("cycle, level %v: %+v, want %v", level, q, low)
		}
	}
}

// Under FCFS sizes matter, and the tests above would detect it: machines wait longer for repairs of
// higher variability.
func TestOrderOfArrivalIsSensitive(t *testing.T) {
	exact, err := network.Solve(t.Context(), machineRepair(12, 2, network.FCFS), network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for shape, sign := range map[string]float64{"deterministic": -1, "hyperexponential:20": 1} {
		system := Network{Model: machineRepair(12, 2, network.FCFS), Shape: simtest.Sizes(t, shape, 1)}
		r := simtest.Run(t, system, sim.Settings{Runs: 40, Jumps: 1.5e4, WarmUp: 2e3})
		if z := r.Estimate(OfStation, 1, sim.MeanJobs).Z(exact.Stations[1].MeanJobs.Float); sign*z < 5 {
			t.Errorf("%s: z = %v", shape, z)
		}
	}
}
