package tags

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/optimize"
	"pgregory.net/rapid"

	"productform/sizes"
	"productform/tags/internal/path"
)

// drawSizes returns sizes of many kinds, with finite E[1/X] and a mean of about 1.
func drawSizes(t *rapid.T) sizes.Distribution {
	switch rapid.SampledFrom([]string{
		"pareto", "bounded", "bounded", "bounded", "lognormal", "erlang", "sizes",
	}).Draw(t, "distribution") {
	case "pareto":
		return ok(sizes.NewPareto(1, rapid.Float64Range(2.1, 4).Draw(t, "alpha")))
	case "lognormal":
		return ok(sizes.NewLognormal(1, math.Exp(rapid.Float64Range(-1, 4).Draw(t, "ln scv"))))
	case "erlang":
		return ok(sizes.NewErlang(rapid.IntRange(2, 5).Draw(t, "phases"), 1))
	case "sizes":
		n := rapid.IntRange(2, 30).Draw(t, "sizes")
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = math.Round(1+10*math.Exp(rapid.Float64Range(0, 7).Draw(t, "ln size"))) / 10
		}
		return ok(sizes.NewEmpirical(xs))
	}
	alpha := rapid.OneOf(rapid.Float64Range(0.3, 2.5), rapid.SampledFrom([]float64{1, 2, 1 + 1e-9})).Draw(t, "alpha")
	return ok(sizes.NewBoundedPareto(1, math.Exp(rapid.Float64Range(3, 18).Draw(t, "ln max/min")), alpha))
}

// possibleLoad returns a load that m can sustain, within 1/4096 of the largest.
func possibleLoad(m Model) float64 {
	l := ok(newMoments(context.Background(), m))
	low, high := 0.0, 1.0
	for range 12 {
		if mid := (low + high) / 2; newTAGSCost(m.withLoad(mid), l, Objective{Waiting: 1}).margin() > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// drawModel returns a model at a fraction of its largest sustainable load.
func drawModel(t *rapid.T, hosts int) Model {
	m := Model{Sizes: drawSizes(t), Hosts: rapid.IntRange(1, hosts).Draw(t, "hosts"), Load: 0.5}
	if rapid.Bool().Draw(t, "speeds") {
		for range m.Hosts {
			m.Speeds = append(m.Speeds, rapid.Float64Range(0.5, 2).Draw(t, "speed"))
		}
	}
	m.Load = min(0.999, possibleLoad(m)) * rapid.Float64Range(0.05, 0.99).Draw(t,
		"part of the largest load")
	return m
}

// drawResume returns a rule for stopped jobs of the given mean size.
func drawResume(t *rapid.T, mean float64) Resume {
	overhead := rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "overhead") * mean
	switch rule := rapid.SampledFrom([]ResumeRule{"", ResumeCut, ResumeEvery}).Draw(t, "resume"); rule {
	case ResumeEvery:
		return Resume{rule, overhead, rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "every") * mean}
	case ResumeCut:
		return Resume{Rule: rule, Overhead: overhead}
	}
	return Resume{}
}

// drawResumed returns a model, often with checkpoints.
func drawResumed(t *rapid.T, hosts int) Model {
	m := drawModel(t, hosts)
	m.Resume = drawResume(t, ok(m.Sizes.Moment(1)))
	m.Load = min(m.Load, possibleLoad(m)*0.99)
	return m
}

func drawObjective(t *rapid.T) Objective {
	return rapid.SampledFrom([]Objective{
		{Slowdown: 1}, {Waiting: 1}, {Slowdown: 1, Waiting: 0.01}, {Slowdown: 0.3, Waiting: 2},
	}).Draw(t, "objective")
}

func ok[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// searchOf returns the search that Optimize runs if it runs one.
func searchOf(m Model, o Objective) (*path.Search, *tagsCost) {
	f := newTAGSCost(m, ok(newMoments(context.Background(), m)), o)
	low, high, feasible := f.ranges()
	if !feasible {
		panic("infeasible")
	}
	return newSearch(f, low, high), f
}

// searchesOf returns the searches that Optimize runs: several if the host at which jobs start is a
// separate choice. Then some hosts may have to be idle, since jobs that they stop cost overhead.
func searchesOf(m Model, o Objective) (all []*path.Search) {
	f, starts := newTAGSCost(m, ok(newMoments(context.Background(), m)), o), 1
	if f.startsLate() {
		starts = m.Hosts
	}
	for idle := range starts {
		if g, possible := f.dropHosts(idle); possible {
			if low, high, feasible := g.ranges(); feasible {
				all = append(all, newSearch(g, low, high))
			}
		}
	}
	return all
}

// cost returns the cost of a path in the unit of the objective; in a search the larger weight is 1.
func (o Objective) cost(s *path.Search, cutoffs []float64) float64 {
	return s.Total(cutoffs) * max(o.Slowdown, o.Waiting)
}

// drawCutoff returns a cutoff in a range that may end at 0 or ∞.
func drawCutoff(r *rand.Rand, low, high float64) float64 {
	u := r.Float64()
	switch {
	case r.IntN(10) == 0:
		u = u * u * u * u
	case r.IntN(10) == 0:
		u = 1 - u*u*u*u
	}
	low, high = max(low, 1e-9), min(high, 1e9)
	return min(high, low*math.Exp(u*math.Log(high/low)))
}

// The bound for a pair of cells holds for all cutoffs in them: the proof of an optimum rests on
// this claim.
func TestSlopesBoundCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawResumed(t, 4)
		if m.Speeds != nil && rapid.Bool().Draw(t, "slow hosts") {
			for i := range m.Speeds {
				m.Speeds[i] *= rapid.SampledFrom([]float64{1, 1e-4, 1e3}).Draw(t, "factor")
			}
		}
		o := drawObjective(t)
		l := ok(newMoments(context.Background(), m))
		f := newTAGSCost(m, l, o)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		i := r.IntN(m.Hosts)
		low, high, _ := m.Sizes.Support()
		if high == 0 {
			high = 1e6
		}
		var x [4]float64
		for k := range x {
			x[k] = drawCutoff(r, max(low, 1e-3), high)
			if k%2 == 1 && r.IntN(2) == 0 {
				x[k] = min(high, x[k-1]*(1+math.Pow(10, -8*r.Float64())))
			}
		}
		slices.Sort(x[:])
		if r.IntN(4) == 0 {
			x[1], x[2] = x[2], x[1] // cells that overlap
		}
		a, b := path.Cell{Low: f.at(x[0]), High: f.at(x[1])}, path.Cell{Low: f.at(x[2]), High: f.at(x[3])}
		if x[2] < x[0] {
			return
		}
		s, possible := f.Slope(i, &a, &b)
		for range 20 {
			p, q := f.at(x[0]+(x[1]-x[0])*r.Float64()), f.at(x[2]+(x[3]-x[2])*r.Float64())
			c := f.Cost(i, &p, &q)
			if math.IsInf(c, 1) {
				continue
			}
			if !possible {
				t.Fatalf("host %d between %v and %v costs %v, excluded by %v", i, p.X, q.X, c, x)
			}
			least := s.Cost + s.Before*(q.X-b.Low.X)
			if f.density != nil {
				least += s.After * (a.High.X - p.X)
			}
			if least > c*(1+1e-12) {
				t.Fatalf("host %d between %v and %v costs %v, bound %v in %v", i, p.X, q.X, c, least, x)
			}
		}
	})
}

// A cell of one point gives the cost and its derivatives.
func TestSlopesMatchDerivatives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawResumed(t, 4)
		if _, atoms := m.Sizes.(sizes.Atomic); atoms {
			return
		}
		f := newTAGSCost(m, ok(newMoments(context.Background(), m)), drawObjective(t))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		low, high, _ := m.Sizes.Support()
		if high == 0 {
			high = 10
		}
		x := []float64{drawCutoff(r, max(low*1.01, 0.1), high*0.9), drawCutoff(r, max(low*1.01, 0.1), high*0.9)}
		slices.Sort(x)
		if x[1] < 1.01*x[0] {
			return
		}
		if r := m.Resume; r.Rule == ResumeEvery && r.checkpoint(x[0]*0.9999) != r.checkpoint(x[0]*1.0001) {
			return // the cost drops at a checkpoint
		}
		at := func(x float64) path.Cell { return path.Cell{Low: f.at(x), High: f.at(x)} }
		a, b := at(x[0]), at(x[1])
		s, possible := f.Slope(0, &a, &b)
		if slack, _ := f.slack(0, &a.Low, &b.Low); !possible || slack < 1e-3 {
			return
		}
		cost := func(x, y float64) float64 {
			p, q := f.at(x), f.at(y)
			return f.Cost(0, &p, &q)
		}
		// The error of central differences grows like the square of the step, which two steps
		// reveal, plus rounding divided by the step.
		check := func(side string, slope, at float64, difference func(h float64) float64) {
			const h = 1e-5
			fine, coarse := difference(h), difference(2*h)
			room := 1e-6*slope + 1e-8*s.Cost/at + math.Abs(coarse-fine)
			if math.Abs(fine-slope) > room {
				t.Errorf("%v: %s %v, by differences %v ± %v", x, side, slope, fine, room)
			}
		}
		check("after", s.After, x[0], func(h float64) float64 {
			return -(cost(x[0]*(1+h), x[1]) - cost(x[0]*(1-h), x[1])) / (2 * h * x[0])
		})
		check("before", s.Before, x[1], func(h float64) float64 {
			return (cost(x[0], x[1]*(1+h)) - cost(x[0], x[1]*(1-h))) / (2 * h * x[1])
		})
	})
}

// No choice of few sizes as cutoffs is better than the one found, up to the tolerance of the proof.
func TestOptimumAmongAtoms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "sizes")
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = float64(rapid.IntRange(1, 60).Draw(t, "size"))
		}
		m := Model{Sizes: ok(sizes.NewEmpirical(xs)), Hosts: rapid.IntRange(1, 4).Draw(t, "hosts"), Load: 0.5}
		m.Load = min(0.99, possibleLoad(m)) * rapid.Float64Range(0.1, 0.99).Draw(t, "part")
		o := drawObjective(t)
		got, err := Optimize(context.Background(), m, PolicyTAGS, o)
		if err != nil {
			t.Fatal(err)
		}
		if got.Gap > 1.1*path.GapTol {
			t.Errorf("gap %v", got.Gap)
		}
		s, _ := searchOf(m, o)
		best := math.Inf(1)
		cutoffs := make([]float64, m.Hosts-1)
		var try func(j, from int)
		try = func(j, from int) {
			if j == len(cutoffs) {
				best = min(best, o.cost(s, cutoffs))
				return
			}
			for k := from; k < len(s.Atoms); k++ {
				cutoffs[j] = s.Atoms[k]
				try(j+1, k)
			}
		}
		try(0, 0)
		if math.Abs(got.Objective.Float-best) > 1e-11*best {
			t.Errorf("%v: objective %v with cutoffs %v, best of all %v",
				m.Sizes, got.Objective.Float, got.Cutoffs, best)
		}
	})
}

// In 200 settings, the dynamic programme is at least as good as the simplex method of Nelder and
// Mead from two starts, and its gap holds.
func TestOptimizeAgainstNelderMead(t *testing.T) {
	t.Parallel()
	better, settings := 0, 0
	for seed := range 200 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		m := Model{Hosts: 2 + r.IntN(3), Load: 0.5}
		switch r.IntN(4) {
		case 0:
			m.Sizes = ok(sizes.NewLognormal(1, math.Exp(4*r.Float64())))
		default:
			m.Sizes = ok(sizes.NewBoundedParetoOfMean(0.2+1.8*r.Float64(), 1e4*math.Exp(14*r.Float64()), 3000))
		}
		m.Load = min(0.95, possibleLoad(m)) * (0.1 + 0.85*r.Float64())
		o := []Objective{{Slowdown: 1}, {Waiting: 1}, {Slowdown: 1, Waiting: 0.01}}[r.IntN(3)]
		got, err := Optimize(context.Background(), m, PolicyTAGS, o)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := searchOf(m, o)
		best := math.Inf(1)
		problem := optimize.Problem{Func: func(x []float64) float64 {
			cutoffs := make([]float64, len(x))
			for j := range x {
				cutoffs[j] = math.Exp(x[j])
			}
			return o.cost(s, cutoffs)
		}}
		for range 2 {
			start := randomPath(r, s)
			if start == nil {
				continue
			}
			for j := range start {
				start[j] = math.Log(start[j])
			}
			found, err := optimize.Minimize(
				problem, start, &optimize.Settings{FuncEvaluations: 300}, &optimize.NelderMead{},
			)
			if found == nil {
				t.Fatal(err)
			}
			best = min(best, found.F)
		}
		if best < got.Objective.Float*(1-1e-12) {
			t.Errorf("%v, %d hosts, load %v, %+v: objective %v, gap %v; Nelder-Mead found %v",
				m.Sizes, m.Hosts, m.Load, o, got.Objective.Float, got.Gap, best)
		}
		settings++
		if best > got.Objective.Float*(1+1e-6) {
			better++
		}
	}
	t.Logf("%d settings; better than Nelder-Mead by over 1e-6 in %d", settings, better)
}

// The same holds for unequal speeds, where hosts that are in the way lead to equal cutoffs.
func TestOptimizeWithSpeedsAgainstNelderMead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, o := drawResumed(t, 3), drawObjective(t)
		if m.Hosts == 1 {
			return
		}
		got, err := Optimize(context.Background(), m, PolicyTAGS, o)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		best := math.Inf(1)
		for _, s := range searchesOf(m, o) {
			if len(s.Low) == 0 {
				best = min(best, o.cost(s, nil))
				continue
			}
			problem := optimize.Problem{Func: func(x []float64) float64 { return o.cost(s, x) }}
			for range 2 {
				start := randomPath(r, s)
				if start == nil {
					continue
				}
				found, err := optimize.Minimize(
					problem, start, &optimize.Settings{FuncEvaluations: 300}, &optimize.NelderMead{},
				)
				if found == nil {
					t.Fatal(err)
				}
				best = min(best, found.F)
			}
		}
		if best < got.Objective.Float*(1-path.GapTol) {
			t.Fatalf("%v, %d hosts, speeds %v, load %v, %+v: objective %v, gap %v; Nelder-Mead found %v",
				m.Sizes, m.Hosts, m.Speeds, m.Load, o, got.Objective.Float, got.Gap, best)
		}
	})
}

// randomPath returns random cutoffs that overload no host, or nil if many tries find none.
func randomPath(r *rand.Rand, s *path.Search) []float64 {
	return pathOf(s, func(j int) float64 { return drawCutoff(r, s.Low[j], s.High[j]) })
}

// pathOf is the version of randomPath for cutoffs drawn by the given function.
func pathOf(s *path.Search, draw func(j int) float64) []float64 {
	for range 200 {
		cutoffs := make([]float64, len(s.Low))
		for j := range cutoffs {
			cutoffs[j] = draw(j)
		}
		slices.Sort(cutoffs)
		if !math.IsInf(s.Total(cutoffs), 1) {
			return cutoffs
		}
	}
	return nil
}

// None of 10^5 paths that overload no host, of 4000 random cutoffs per host, is better than the
// optimum or below its proved bound.
func TestOptimizeAgainstRandomCutoffs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		m Model
		o Objective
	}{
		{Model{Sizes: ok(sizes.NewBoundedParetoOfMean(1.1, 1e10, 3000)), Hosts: 2, Load: 0.5}, Objective{Slowdown: 1}},
		{Model{Sizes: ok(sizes.NewBoundedParetoOfMean(0.8, 1e10, 3000)), Hosts: 3, Load: 0.5}, Objective{Waiting: 1}},
		{Model{Sizes: ok(sizes.NewBoundedParetoOfMean(1, 1e10, 3000)), Hosts: 4, Load: 0.7}, Objective{Slowdown: 1}},
		{Model{Sizes: ok(sizes.NewLognormal(1, 50)), Hosts: 3, Load: 0.4}, Objective{Slowdown: 1, Waiting: 1}},
		{
			Model{Sizes: ok(sizes.NewExponential(1)), Hosts: 2, Load: 0.6, Speeds: []float64{1, 3}},
			Objective{Waiting: 1},
		},
	} {
		best := ok(Optimize(context.Background(), c.m, PolicyTAGS, c.o))
		s, _ := searchOf(c.m, c.o)
		found := math.Inf(1)
		drawn := make([][]float64, len(s.Low)) // few enough for the search to keep their quantities
		for j := range drawn {
			for range 4000 {
				drawn[j] = append(drawn[j], drawCutoff(r, s.Low[j], s.High[j]))
			}
		}
		for range 20000 {
			cutoffs := pathOf(s, func(j int) float64 { return drawn[j][r.IntN(len(drawn[j]))] })
			if cutoffs != nil {
				found = min(found, c.o.cost(s, cutoffs))
			}
		}
		if found < best.Objective.Float*(1-1e-13) {
			t.Errorf("%v, %d hosts: optimum %v, random cutoffs reach %v",
				c.m.Sizes, c.m.Hosts, best.Objective.Float, found)
		}
		if best.Gap > 6e-11 {
			t.Errorf("%v, %d hosts: gap %v", c.m.Sizes, c.m.Hosts, best.Gap)
		}
	}
}

// The units of work and time do not matter.
func TestOptimizeInOtherUnits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, o := drawModel(t, 3), Objective{Slowdown: 1}
		got := ok(Optimize(context.Background(), m, PolicyTAGS, o))
		factor := rapid.Float64Range(1e-3, 1e3).Draw(t, "factor")
		m.Sizes = ok(m.Sizes.Scaled(factor))
		scaled, err := Optimize(context.Background(), m, PolicyTAGS, o)
		if err != nil {
			t.Fatal(err)
		}
		// if the gap exceeds rounding, rounding may select one of several near-optimal cutoffs
		if d := math.Abs(scaled.MeanSlowdown.Float/got.MeanSlowdown.Float - 1); d > 1e-10+got.Gap+scaled.Gap {
			t.Errorf("E[S] %v, in other units %v", got.MeanSlowdown.Float, scaled.MeanSlowdown.Float)
		}
	})
}

// More hosts are never worse at the same arrival rate, since hosts can be left idle.
func TestMoreHostsAtOneRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, o := drawModel(t, 3), drawObjective(t)
		m.Speeds = nil
		m.Load = min(m.Load, 0.9*possibleLoad(m))
		few, err := Optimize(context.Background(), m, PolicyTAGS, o)
		if err != nil {
			t.Fatal(err)
		}
		m.Load *= float64(m.Hosts) / float64(m.Hosts+1)
		m.Hosts++
		more, err := Optimize(context.Background(), m, PolicyTAGS, o)
		if err != nil {
			t.Fatal(err)
		}
		if more.Objective.Float > few.Objective.Float*(1+1e-10) {
			t.Errorf("objective %v with %d hosts, %v with one more",
				few.Objective.Float, m.Hosts-1, more.Objective.Float)
		}
	})
}

// A slow host may have to stop jobs below the largest cutoff of the previous host, at an equal
// cutoff: the host is in the way, and jobs can only pass it quickly. The test compares with Analyze
// for nearly equal cutoffs, and with the load at which λ s P(X > s) = v has its last root: speeds
// 1, 1/2 and 2 and exponential sizes.
func TestSlowHostInTheWay(t *testing.T) {
	t.Parallel()
	m := Model{Sizes: ok(sizes.NewExponential(1)), Hosts: 3, Speeds: []float64{1, 0.5, 2}}
	// λ s e^(-s) = 1/2 at host 2 and λ e^(-s)(s+1) = 2 at host 3 give 3 s = 1 and ρ = λ/3.5 = 3/7
	// e^(1/3)
	most, want := ok(MaxLoad(context.Background(), m)), 3.0/7*math.Exp(1.0/3)
	if !isWithinTol(most, want, 1e-12) {
		t.Errorf("largest load %v, want %v", most, want)
	}
	for _, part := range []float64{0.5, 0.99, 0.99995} {
		m.Load = part * most
		got, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1})
		if err != nil {
			t.Errorf("load %v: %v", m.Load, err)
			continue
		}
		least := math.Inf(1)
		first := got.Cutoffs[0]
		for k := -50.0; k <= 50; k++ { // up to factors of 20, and finest near the cutoff found
			s := first * math.Exp(3*math.Pow(k/50, 3))
			for _, d := range []float64{1e-12, 1e-6, 1e-3, 0.03, 0.3, got.Cutoffs[1]/first - 1} {
				if r, err := Evaluate(context.Background(), m, PolicyTAGS, []float64{s, s * (1 + d)}); err == nil {
					least = min(least, r.MeanWaiting.Float)
				}
			}
		}
		if least < got.Objective.Float*(1-got.Gap-1e-10) || least < got.Objective.Float*(1-1e-9) ||
			!(least < got.Objective.Float*(1+1e-9)) {
			t.Errorf("load %v: objective %v with gap %v, on a grid %v", m.Load, got.Objective.Float, got.Gap, least)
		}
	}
}

// A host that is slow enough stays idle, and a load near 0 leaves it a slack of 1.
func TestVerySlowHosts(t *testing.T) {
	for _, speed := range []float64{1e-3, 1e-9, 1e-16, 1e-60} {
		m := Model{Sizes: ok(sizes.NewExponential(1)), Hosts: 2, Load: 0.3, Speeds: []float64{1, speed}}
		got := ok(Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1}))
		one := ok(Evaluate(
			context.Background(), Model{Sizes: m.Sizes, Hosts: 1, Load: 0.3 * (1 + speed)}, PolicyTAGS, nil,
		))
		if got.MeanWaiting.Float > one.MeanWaiting.Float*(1+1e-12) || got.Hosts[1].Slack.Float > 1 {
			t.Errorf("speed %v: %+v, alone %v", speed, got, one.MeanWaiting.Float)
		}
	}
	// host 2 gets the sizes above 24.48, of mean 25.48, at speed 1e-9
	r := ok(Evaluate(
		context.Background(),
		Model{Sizes: ok(sizes.NewExponential(1)), Hosts: 2, Load: 0.5, Speeds: []float64{1, 1e-9}},
		PolicyTAGS, []float64{24.48},
	))
	if want := 1 - 0.5*(1+1e-9)*math.Exp(-24.48)*25.48/1e-9; !isWithinTol(r.Hosts[1].Slack.Float, want, 1e-14) {
		t.Errorf("slack %v, want %v", r.Hosts[1].Slack.Float, want)
	}
}

// With many hosts, the search gives up in time, and its result is no worse than with few hosts.
func TestManyHosts(t *testing.T) {
	t.Parallel()
	few := ok(Optimize(
		context.Background(), Model{Sizes: ok(sizes.NewWeibull(0.5, 1)), Hosts: 4, Load: 0.08},
		PolicyTAGS, Objective{Waiting: 1},
	))
	many := ok(Optimize(
		context.Background(), Model{Sizes: ok(sizes.NewWeibull(0.5, 1)), Hosts: 32, Load: 0.01},
		PolicyTAGS, Objective{Waiting: 1},
	))
	if many.Objective.Float > few.Objective.Float || !(many.Gap < 1) {
		t.Errorf("32 hosts: %v with gap %v, 4 hosts %v", many.Objective.Float, many.Gap, few.Objective.Float)
	}
}

// With one size, all jobs end at the first host, and the others stay idle.
func TestIdleHosts(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewDeterministic(2)), Hosts: 3, Load: 0.2}
	got := ok(Optimize(context.Background(), m, PolicyTAGS, Objective{Slowdown: 1}))
	want := 0.6 / (2 * (1 - 0.6)) // M/D/1 at load 0.6: E[W]/2 = ρ/(2(1-ρ)) for size 2
	if !slices.Equal(got.Cutoffs, []float64{2, 2}) || math.Abs(got.MeanSlowdown.Float-want) > 1e-15 {
		t.Errorf("cutoffs %v, E[S] = %v, want %v", got.Cutoffs, got.MeanSlowdown.Float, want)
	}
}

func TestOptimizeErrors(t *testing.T) {
	good := Model{Sizes: ok(sizes.NewBoundedPareto(1, 1e6, 1)), Hosts: 2, Load: 0.5}
	for _, c := range []struct {
		name  string
		spoil func(m *Model, o *Objective)
		want  string
	}{
		{"no sizes", func(m *Model, o *Objective) { m.Sizes = nil }, "Sizes = nil: want a distribution"},
		{"hosts", func(m *Model, o *Objective) { m.Hosts = 0 }, "Hosts = 0: want a number of hosts from 1 to 64"},
		{"many hosts", func(m *Model, o *Objective) { m.Hosts = 65 }, "Hosts = 65: want"},
		{"load", func(m *Model, o *Objective) { m.Load = 1 }, "Load = 1: want a number in (0, 1)"},
		{"load NaN", func(m *Model, o *Objective) { m.Load = math.NaN() }, "Load = NaN: want a number in (0, 1)"},
		{
			"speeds", func(m *Model, o *Objective) { m.Speeds = []float64{1} },
			"Speeds = 1 speeds: want one speed per host, 2",
		},
		{
			"speed", func(m *Model, o *Objective) { m.Speeds = []float64{1, 0} },
			"Speeds[1] = 0: want a number in [1e-100, 1e100]",
		},
		{
			"weight", func(m *Model, o *Objective) { o.Waiting = -1 },
			"Objective.Waiting = -1: want a weight in [0, 1e150]",
		},
		{
			"weights", func(m *Model, o *Objective) { *o = Objective{} },
			"Objective = {0 0}: want a weight of at least 1e-150",
		},
		{
			"infinite 1/X", func(m *Model, o *Objective) { m.Sizes = ok(sizes.NewExponential(1)) },
			"Objective.Slowdown = 1: want 0, since",
		},
	} {
		m, o := good, Objective{Slowdown: 1}
		c.spoil(&m, &o)
		_, err := Optimize(context.Background(), m, PolicyTAGS, o)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
	m := good
	m.Sizes = ok(sizes.NewPareto(1, 1.5))
	if _, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Slowdown: 1}); !errors.Is(
		err, sizes.ErrInfinite,
	) {
		t.Errorf("infinite E[X²]: %v", err)
	}
	m.Sizes, m.Load, m.Hosts = ok(sizes.NewBoundedParetoOfMean(0.2, 1e10, 3000)), 0.7, 4
	_, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Slowdown: 1})
	var e *InfeasibleError
	if !errors.As(err, &e) || math.Abs(e.MaxLoad-0.524386679912902284820585388940) > 1e-12 { // 60 digits elsewhere
		t.Errorf("infeasible: %v", err)
	}
}

// The largest load is (2^h-1)/(h 2^(h-1)) for α = 2 and max → ∞, and (1+√5)/4 for α = 1/2 and two
// hosts. Both follow from making the loads of all hosts equal.
func TestMaxLoadClosedForms(t *testing.T) {
	for h := 1; h <= 6; h++ {
		want := (math.Pow(2, float64(h)) - 1) / (float64(h) * math.Pow(2, float64(h-1)))
		got := ok(MaxLoad(context.Background(), Model{Sizes: ok(sizes.NewBoundedPareto(1, 1e13, 2)), Hosts: h}))
		if math.Abs(got-min(want, 1)) > 1e-11 { // max is 1e13, which affects each of the h hosts
			t.Errorf("%d hosts: %v, want %v", h, got, want)
		}
	}
	got := ok(MaxLoad(context.Background(), Model{Sizes: ok(sizes.NewBoundedPareto(1, 1e26, 0.5)), Hosts: 2}))
	if want := (1 + math.Sqrt(5)) / 4; math.Abs(got-want) > 1e-12 {
		t.Errorf("α = 1/2: %v, want %v", got, want)
	}
}

// At loads just below the largest, cutoffs exist; just above it, there are none.
func TestMaxLoadIsSharp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawResumed(t, 4)
		slices.Sort(m.Speeds)
		most := ok(MaxLoad(context.Background(), m))
		l := ok(newMoments(context.Background(), m))
		overloaded := func(m Model, cutoffs []float64) bool {
			for _, h := range newTAGSCost(m, l, Objective{Waiting: 1}).visits(cutoffs) {
				if !(h.slack > 0) {
					return true
				}
			}
			return false
		}
		m.Load = most * (1 - 1e-9)
		searches := searchesOf(m, Objective{Waiting: 1})
		if len(searches) == 0 {
			t.Fatalf("load %v, largest %v: no cutoffs", m.Load, most)
		}
		high := searches[0].High
		high = append(make([]float64, m.Hosts-1-len(high)), high...) // idle hosts have cutoff 0
		if overloaded(searches[0].HostCost.(*tagsCost).m, searches[0].High) {
			// The largest cutoffs are only bounds if a host is overloaded at every cutoff above the one
			// before it.
			r, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1})
			if err != nil || overloaded(m, r.Cutoffs) {
				t.Fatalf("load %v, largest %v: not possible with %v, nor with %v, %v",
					m.Load, most, high, r.Cutoffs, err)
			}
			high = r.Cutoffs
		}
		if m.Load = most * (1 + 1e-9); m.Load >= 1 {
			return
		}
		if _, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1}); !errors.Is(
			err, ErrInfeasible,
		) {
			t.Errorf("load %v, largest %v: %v", m.Load, most, err)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range 60 {
			for j := range high {
				high[j] = max(l.low, min(high[j]*(1+1e-6*r.NormFloat64()), l.high))
			}
			slices.Sort(high)
			if !overloaded(m, high) {
				t.Errorf("load %v, largest %v: possible with %v", m.Load, most, high)
			}
		}
	})
}

func BenchmarkOptimize(b *testing.B) {
	for _, c := range []struct {
		hosts       int
		load, alpha float64
	}{{2, 0.5, 1}, {2, 0.7, 0.6}, {4, 0.3, 0.2}, {4, 0.5, 1}, {8, 0.3, 0.5}, {8, 0.5, 1}, {16, 0.3, 1}} {
		m := Model{Sizes: ok(sizes.NewBoundedParetoOfMean(c.alpha, 1e10, 3000)), Hosts: c.hosts, Load: c.load}
		for _, o := range []Objective{{Slowdown: 1}, {Waiting: 1}} {
			name := "slowdown"
			if o.Waiting > 0 {
				name = "waiting"
			}
			b.Run(fmt.Sprintf("hosts=%d/load=%v/alpha=%v/objective=%s",
				c.hosts, c.load, c.alpha, name), func(b *testing.B) {
				for b.Loop() {
					if _, err := Optimize(context.Background(), m, PolicyTAGS, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkMaxLoad(b *testing.B) {
	for _, hosts := range []int{2, 8} {
		m := Model{Sizes: ok(sizes.NewBoundedParetoOfMean(1, 1e10, 3000)), Hosts: hosts}
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			for b.Loop() {
				if _, err := MaxLoad(context.Background(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
