package br14

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/plots"
	"productform/sim"
	"productform/sim/pool"
	"productform/sizes"
)

// A profilePair is a pair of profiles; in traffic both classes bring equal work.
type profilePair struct {
	profiles [2][]*big.Rat
	alike    bool // whether the classes are mirror images, so one represents both
}

func profilePairs() []profilePair {
	return []profilePair{
		{[2][]*big.Rat{rats("1", "1/2"), rats("1/2", "1")}, true},
		{[2][]*big.Rat{rats("1", "1/10"), rats("1/10", "1")}, true},
		{[2][]*big.Rat{rats("1", "1/10"), rats("1/5", "1")}, false},
		{[2][]*big.Rat{rats("1", "0"), rats("1/2", "1")}, false},
	}
}

// words writes the profiles.
func (c profilePair) words() string {
	return profileWords(c.profiles[0]) + " and " + profileWords(c.profiles[1])
}

// at returns the traffic of equal arrival rates whose largest load is rho.
func (c profilePair) at(rho *big.Rat) *traffic.Model {
	return trafficOf(rho, rats("1", "1"), c.profiles[0], c.profiles[1])
}

// shownClasses returns the classes that have curves.
func (c profilePair) shownClasses() []int {
	if c.alike {
		return []int{0}
	}
	return []int{0, 1}
}

// group returns the name of the curves of a class, or "" if the classes are mirror images.
func (c profilePair) group(class int) string {
	if c.alike {
		return ""
	}
	return fmt.Sprintf("class %d", class+1)
}

// chainSettings returns settings with errors invisible in a picture; sums for balanced fairness are
// cheap.
func chainSettings(p fluid.Policy) traffic.Settings {
	if p == fluid.BF {
		return traffic.Settings{}
	}
	return traffic.Settings{TruncationTol: 1e-5}
}

// solved returns the exact mean numbers of jobs.
func (c profilePair) solved(ctx context.Context, rho *big.Rat, p fluid.Policy) (*traffic.Result, error) {
	r, err := traffic.Solve(ctx, c.at(rho), p, chainSettings(p))
	if err != nil {
		return nil, fmt.Errorf("profiles %s, %s, load %s: %w", c.words(), policyShort(p), plots.Decimal(rho), err)
	}
	return r, nil
}

// pairResults holds the exact results by pair, policy and load.
type pairResults map[string]*traffic.Result

// at returns the result of a pair, computed on first use.
func (s pairResults) at(ctx context.Context, k int, p fluid.Policy, rho *big.Rat) (*traffic.Result, error) {
	key := fmt.Sprint(k, p, rho)
	if r, known := s[key]; known {
		return r, nil
	}
	r, err := profilePairs()[k].solved(ctx, rho, p)
	if err == nil {
		s[key] = r
	}
	return r, err
}

// solveBoth returns the results under PF and DRF.
func (s pairResults) solveBoth(ctx context.Context, k int, rho *big.Rat) (pf, drf *traffic.Result, err error) {
	if pf, err = s.at(ctx, k, fluid.PF, rho); err != nil {
		return nil, nil, err
	}
	drf, err = s.at(ctx, k, fluid.DRF, rho)
	return pf, drf, err
}

// finding states the difference between PF and DRF at the given load, and the classes that PF
// serves more slowly.
func (s pairResults) finding(ctx context.Context, rho *big.Rat) (string, error) {
	var fewer, slower []string
	for k, c := range profilePairs() {
		pf, drf, err := s.solveBoth(ctx, k, rho)
		if err != nil {
			return "", err
		}
		fewer = append(fewer, plots.Letter(k)+" "+moreOrLess(inSystem(pf)/inSystem(drf)))
		for _, class := range c.shownClasses() {
			if v := *pf.Classes[class].ServiceRate / *drf.Classes[class].ServiceRate; v < 1-1e-4 {
				slower = append(slower, fmt.Sprintf("class %d in %s, whose mean service rate is %s", class+1,
					plots.Letter(k), moreOrLess(v)))
			}
		}
	}
	text := "At load " + plots.Decimal(rho) + " the mean number of jobs under PF, compared with DRF, is " +
		strings.Join(fewer, ", ") + "; "
	if slower == nil {
		return text + "PF is slower for no class. ", nil
	}
	return text + "PF is slower for " + strings.Join(slower, " and ") + ". ", nil
}

// dynamicPolicies returns the policies with curves in random traffic.
func dynamicPolicies() []fluid.Policy { return []fluid.Policy{fluid.PF, fluid.DRF, fluid.BF} }

// fluidLoads returns the loads at which sharing is simulated.
func fluidLoads() []*big.Rat { return rats("3/10", "6/10", "8/10") }

// A pairRun is a simulation of a pair.
type pairRun struct {
	pair   int
	policy fluid.Policy
	rho    *big.Rat
	run    *plots.Simulation
}

// serviceRates draws the mean service rates of some pairs of profiles against the load.
func serviceRates(id, title string) plots.Spec {
	prepare := func(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
		var seen []pairRun
		for k, c := range profilePairs() {
			for _, policy := range dynamicPolicies() {
				for _, rho := range fluidLoads() {
					name := fmt.Sprintf("sharing, profiles %s, %s, load %s", c.words(), policyShort(policy),
						plots.Decimal(rho))
					run, err := simulateShared(ctx, p, name, pool.Divisible{Traffic: *c.at(rho), Policy: policy}, e)
					if err != nil {
						return nil, err
					}
					seen = append(seen, pairRun{k, policy, rho, run})
				}
			}
		}
		var varied []pairRun
		for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
			c, rho := profilePairs()[variedPair], big.NewRat(8, 10)
			jobSizes := sizes.BonaldComteHyperexponential()
			name := fmt.Sprintf("sharing, profiles %s, %s, load %s, hyperexponential sizes", c.words(),
				policyShort(policy), plots.Decimal(rho))
			run, err := simulateShared(ctx, p, name,
				pool.Divisible{Traffic: *c.at(rho), Policy: policy, Sizes: []sizes.Distribution{jobSizes, jobSizes}}, e)
			if err != nil {
				return nil, err
			}
			varied = append(varied, pairRun{variedPair, policy, rho, run})
		}
		return func(ctx context.Context, f *plots.Figure) error {
			exact := make(pairResults)
			if err := drawRates(ctx, p, e, f, seen, exact); err != nil {
				return err
			}
			return variedClaim(ctx, f, varied, exact)
		}, nil
	}
	return plots.Spec{ID: id, Title: title, Prepare: prepare}
}

// variedPair is the pair of profiles that is also simulated with sizes that vary more than
// exponential ones.
const variedPair = 2

// variedClaim tests the claim of the paper about other traffic.
func variedClaim(ctx context.Context, f *plots.Figure, varied []pairRun, exact pairResults) error {
	pf, drf := varied[0].run.Result.All(sim.MeanJobs), varied[1].run.Result.All(sim.MeanJobs)
	c := profilePairs()[variedPair]
	var exponential [2]float64
	for k, one := range varied {
		r, err := exact.at(ctx, one.pair, one.policy, one.rho)
		if err != nil {
			return err
		}
		exponential[k] = inSystem(r)
	}
	load := plots.Decimal(varied[0].rho)
	r := overMean(pf, drf, varied[0].rho)
	f.Claims = append(f.Claims, plots.Claim{
		Place: plots.PanelID(f, variedPair),
		Sentence: "Given known insensitivity properties of fair resource sharing, PF would be equally preferable " +
			"under a more realistic traffic model (section 1). Profiles " + c.words() + ".",
		Criterion: "With hyperexponential sizes, of mean 5 with probability 1/6, else 1/5, the mean number of jobs " +
			"is smaller under PF than under DRF.",
		Numbers: fmt.Sprintf("At load %s %s ± %s jobs under PF and %s ± %s under DRF, against %s and %s with "+
			"exponential sizes; ratio %.3g (%.3g to %.3g).",
			load, plots.Short(pf.Mean), plots.Short(pf.HalfWidth), plots.Short(drf.Mean), plots.Short(drf.HalfWidth),
			plots.Short(exponential[0]), plots.Short(exponential[1]), r.Mean, r.Low, r.High),
		Verdict: plots.AtMost(1).Verdict(r), Finding: true,
	})
	return nil
}

// simulateShared adds the simulation of resources in random traffic, a tenth as long as simulations
// of clusters.
func simulateShared(
	ctx context.Context, p *plots.Plan, name string, s sim.System, e plots.Effort,
) (*plots.Simulation, error) {
	return p.Simulate(ctx, name, s, e, sim.Settings{Jumps: plots.Shorter(e.Jumps), WarmUp: plots.Shorter(e.WarmUp)})
}

// sharedRuns describes the simulations of resources in random traffic.
func sharedRuns(p *plots.Plan, e plots.Effort) plots.RunWords {
	e.Jumps, e.WarmUp, e.CheckRuns = plots.Shorter(e.Jumps), plots.Shorter(e.WarmUp), e.Runs
	return p.RunWords(e, "arrivals, ends of jobs")
}

func drawRates(
	ctx context.Context, p *plots.Plan, e plots.Effort, f *plots.Figure, seen []pairRun, exact pairResults,
) error {
	loads := plots.Multiples(40, 36) // with fewer, the curves have visible corners at high loads
	axis := plots.Axis{Quantity: "load of the busiest resource", Symbol: "ρ", Max: 1}
	var words []string
	for k, c := range profilePairs() {
		panel := plots.Panel{Title: "Profiles " + c.words(), X: axis,
			Y: plots.Axis{Quantity: "mean service rate", Symbol: "γ/(1 − ρ)", Scale: plots.Log, Min: 0.3, Max: 2,
				Ticks: []float64{0.3, 0.5, 0.7, 1, 1.5, 2}}, // the same range in all panels
			References: []plots.Reference{{Label: "one shared processor", Y: 1}}}
		if c.alike {
			panel.Title += ", both classes"
		} else {
			panel.References[0].Label = "" // room for the names of the classes
		}
		for _, class := range c.shownClasses() {
			for _, policy := range dynamicPolicies() {
				line := plots.Series{Label: policyShort(policy), Group: c.group(class), Look: policyLook(policy)}
				for _, rho := range loads {
					if err := ctx.Err(); err != nil {
						return err
					}
					r, err := exact.at(ctx, k, policy, rho)
					if err != nil {
						return err
					}
					x, _ := rho.Float64()
					line.X, line.Y = append(line.X, x), append(line.Y, *r.Classes[class].ServiceRate/(1-x))
				}
				panel.Series = append(panel.Series, line)
			}
			for _, policy := range dynamicPolicies() {
				dots, err := simulatedRates(k, class, policy, seen)
				if err != nil {
					return err
				}
				dots.Group = c.group(class)
				panel.Series = append(panel.Series, dots)
			}
		}
		f.Panels = append(f.Panels, panel)
		words = append(words, plots.Letter(k)+" "+c.words())
	}
	for _, one := range seen {
		r, err := exact.at(ctx, one.pair, one.policy, one.rho)
		if err != nil {
			return err
		}
		for class := range one.run.Result.Classes {
			f.Checks = append(f.Checks, plots.SimulatedCheck(plots.PanelID(f, one.pair),
				fmt.Sprintf("mean number of jobs of class %d", class+1), r.Classes[class].MeanJobs,
				one.run.Result.Class(class, sim.MeanJobs), one.run.Name))
		}
	}
	left := 0.0
	for _, r := range exact {
		left = max(left, r.TruncationBound)
	}
	f.OneLegend = true
	finding, err := exact.finding(ctx, loads[len(loads)-1])
	if err != nil {
		return err
	}
	err = texts.Describe(f, map[string]any{
		"Finding": finding, "Profiles": words, "Loads": loads, "LeftOut": powerAbove(left), "Runs": sharedRuns(p, e),
		"SimulatedLoads": fluidLoads(), "VariedProfiles": profilePairs()[variedPair].words(),
	}, nil)
	if err != nil {
		return err
	}
	if err := closedRates(ctx, f, exact); err != nil {
		return err
	}
	return rateClaims(ctx, f, loads, exact)
}

// powerAbove writes the power of ten at or above a small number.
func powerAbove(v float64) string {
	return plots.Short(math.Pow(10, math.Ceil(math.Log10(max(v, 1e-16)))))
}

// simulatedRates returns the simulated points of one class.
func simulatedRates(pair, class int, policy fluid.Policy, seen []pairRun) (plots.Series, error) {
	s := plots.Series{Label: policyShort(policy) + ", simulated", Kind: plots.Points, Look: policyLook(policy)}
	for _, one := range seen {
		if one.pair != pair || one.policy != policy {
			continue
		}
		x, _ := one.rho.Float64()
		mean, low, high, err := plots.LogInterval(one.run.Result.Class(class, sim.ServiceRate))
		if err != nil {
			return s, fmt.Errorf("%s: %w", one.run.Name, err)
		}
		s.X, s.Y, s.Low, s.High = append(s.X, x), append(s.Y, mean/(1-x)), append(s.Low, low/(1-x)), append(s.High,
			high/(1-x))
	}
	return s, nil
}

// closedRates compares balanced fairness with an independent sum over states.
func closedRates(ctx context.Context, f *plots.Figure, exact pairResults) error {
	rho := big.NewRat(6, 10)
	for k, c := range profilePairs() {
		r, err := exact.at(ctx, k, fluid.BF, rho)
		if err != nil {
			return err
		}
		want := BalancedMeans(c.numbers(rho))
		for _, class := range c.shownClasses() {
			f.Checks = append(f.Checks, plots.SolverCheck(plots.PanelID(f, k),
				fmt.Sprintf("mean number of jobs of class %d, BF, load %s, by the recursion for Φ", class+1,
					plots.Decimal(rho)),
				r.Classes[class].MeanJobs, want[class], 1e-9))
		}
	}
	return nil
}

// numbers returns the profiles and the arrival rates in float64.
func (c profilePair) numbers(rho *big.Rat) (a [2][2]float64, rate [2]float64) {
	for k, class := range c.at(rho).Classes {
		rate[k], _ = class.ArrivalRate.Float64()
		for j := range a[k] {
			a[k][j], _ = class.Demand[j].Float64()
		}
	}
	return a, rate
}

// rateClaims tests the claim in the abstract of the paper.
func rateClaims(ctx context.Context, f *plots.Figure, loads []*big.Rat, exact pairResults) error {
	for k, c := range profilePairs() {
		slower, fewer := 0, true
		var words []string
		for _, rho := range loads {
			pf, drf, err := exact.solveBoth(ctx, k, rho)
			if err != nil {
				return err
			}
			fewer = fewer && inSystem(pf) <= inSystem(drf)*(1+1e-4)
			var ratios []string
			for _, class := range c.shownClasses() {
				ratio := *pf.Classes[class].ServiceRate / *drf.Classes[class].ServiceRate
				if ratio < 1-1e-4 {
					slower++
				}
				name := ""
				if !c.alike {
					name = fmt.Sprintf(" (class %d)", class+1)
				}
				ratios = append(ratios, plots.Short(ratio)+name)
			}
			if x, _ := rho.Float64(); x == 0.5 || x == 0.8 || x == 0.9 {
				words = append(words, fmt.Sprintf("%s at load %s, with %s against %s jobs",
					strings.Join(ratios, " and "), plots.Decimal(rho), plots.Short(inSystem(pf)),
					plots.Short(inSystem(drf))))
			}
		}
		f.Claims = append(f.Claims, plots.Finding(plots.PanelID(f, k),
			"PF performs significantly better than DRF in dynamic traffic (abstract and section 1). Profiles "+
				""+c.words()+".",
			"The mean number of jobs is not larger under PF, at any load shown.",
			"Mean service rate under PF over that under DRF: "+strings.Join(words, "; ")+"."+slowerWords(slower),
			fewer))
	}
	return nil
}

// inSystem returns the total mean number of jobs.
func inSystem(r *traffic.Result) (sum float64) {
	for _, c := range r.Classes {
		sum += c.MeanJobs
	}
	return sum
}

func slowerWords(n int) string {
	if n == 0 {
		return " No class is slower under PF at any load."
	}
	return fmt.Sprintf(" A class is slower under PF at %d of the loads.", n)
}
