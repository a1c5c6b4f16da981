package hb02

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"productform/plots"
	"productform/sim"
	simfarm "productform/sim/farm"
	"productform/tags"
)

// A logPanel is a panel of tags-17: one number of hosts, one measure.
type logPanel struct {
	hosts     int
	objective tags.Objective
	measure   string
	axis      plots.Axis
	pick      func(means) float64
	seen      func(*sim.Result) *sim.Estimate
	tagsLoads []float64 // loads at which TAGS is simulated

	tags, leastWork, shortestQueue, roundRobin []loadRun
}

// A loadRun is a simulation of a farm at one load.
type loadRun struct {
	load   float64
	theory float64 // 0 without theory
	run    *plots.Simulation
}

// queueLoads returns the loads at which policies that do not know sizes are simulated.
func queueLoads() []float64 { return []float64{0.3, 0.5, 0.7, 0.9} }

func seenSlowdown(r *sim.Result) *sim.Estimate { return r.All(simfarm.MeanSlowdown) }
func seenWaiting(r *sim.Result) *sim.Estimate  { return r.All(simfarm.MeanWaiting) }

func logPanels() []*logPanel {
	two, four := []float64{0.1, 0.3, 0.5, 0.65}, []float64{0.1, 0.2, 0.3, 0.4}
	return []*logPanel{
		{hosts: 2, objective: bySlowdown(), measure: "mean slowdown", axis: slowdownAxis(), pick: slowdownOf,
			seen: seenSlowdown, tagsLoads: two},
		{hosts: 4, objective: bySlowdown(), measure: "mean slowdown", axis: slowdownAxis(), pick: slowdownOf,
			seen: seenSlowdown, tagsLoads: four},
		{hosts: 2, objective: byWaiting(), measure: "mean waiting time", axis: waitingAxis(), pick: waitingOf,
			seen: seenWaiting, tagsLoads: two},
		{hosts: 4, objective: byWaiting(), measure: "mean waiting time", axis: waitingAxis(), pick: waitingOf,
			seen: seenWaiting, tagsLoads: four},
	}
}

// A checkedRun is a simulation with a known exact answer.
type checkedRun struct {
	panel     string
	exact     means
	run       *plots.Simulation
	firstHost *tags.Host // if not nil, only the measures of host 1 are exact
}

// measured draws TAGS and other policies on measured run times, against the load.
func measured(id, title string) plots.Spec {
	prepare := func(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
		sizes, skipped, err := runTimes().sizes()
		if err != nil {
			return nil, err
		}
		summary, err := describe(sizes)
		if err != nil {
			return nil, err
		}
		t := &logFigure{sizeSummary: summary, jobs: len(sizes), skipped: skipped, plan: p, e: e,
			panels: logPanels()}
		if err := t.prepare(ctx); err != nil {
			return nil, err
		}
		return t.build, nil
	}
	return plots.Spec{ID: id, Title: title, Prepare: prepare}
}

// A logFigure is the figure under construction.
type logFigure struct {
	sizeSummary
	jobs, skipped int
	plan          *plots.Plan
	e             plots.Effort
	panels        []*logPanel
	checked       []checkedRun
	unseen        int // points without observations
}

func (t *logFigure) model(hosts int, load float64) tags.Model {
	return tags.Model{Sizes: t.distribution, Hosts: hosts, Load: load}
}

// simulate adds one simulation; runs of TAGS are longer than the others.
func (t *logFigure) simulate(ctx context.Context, m tags.Model, policy tags.Policy, cutoffs []float64, what string,
	runs int) (*plots.Simulation, error) {
	name := fmt.Sprintf("%s, %s, %d hosts, load %g", plots.LogName, what, m.Hosts, m.Load)
	e := t.e
	if policy == tags.PolicyTAGS {
		e.Jumps, e.WarmUp = longerTAGS*e.Jumps, longerTAGS*e.WarmUp
	}
	return simulateFarm(ctx, t.plan, name, simfarm.Farm{Model: m, Policy: policy, Cutoffs: cutoffs}, e, runs)
}

// longerTAGS is the factor on the jumps of TAGS runs, which separates TAGS from its upper bound.
const longerTAGS = 4

// prepare adds the simulations to show, then those only for checks.
func (t *logFigure) prepare(ctx context.Context) error {
	for k, s := range t.panels {
		panel := string(rune('a' + k))
		for n, load := range s.tagsLoads {
			m := t.model(s.hosts, load)
			r, err := tags.Optimize(ctx, m, tags.PolicyTAGS, s.objective)
			if err != nil {
				return err
			}
			run, err := t.simulate(ctx, m, tags.PolicyTAGS, r.Cutoffs, "TAGS for the least "+s.measure, t.e.Runs)
			if err != nil {
				return err
			}
			s.tags = append(s.tags, loadRun{load, s.pick(means{r.MeanSlowdown.Float, r.MeanWaiting.Float}), run})
			if n == 1 {
				t.checked = append(t.checked, checkedRun{panel, means{}, run, &r.Hosts[0]})
			}
		}
		for _, load := range queueLoads() {
			m := t.model(s.hosts, load)
			for _, q := range []struct {
				policy tags.Policy
				to     *[]loadRun
			}{{tags.PolicyCentral, &s.leastWork}, {simfarm.ShortestQueue, &s.shortestQueue}, {tags.PolicyRoundRobin,
				&s.roundRobin}} {
				run, err := t.simulate(ctx, m, q.policy, nil, string(q.policy), t.e.Runs)
				if err != nil {
					return err
				}
				*q.to = append(*q.to, loadRun{load: load, run: run})
			}
		}
	}
	return t.prepareChecks(ctx)
}

// checkLoad is the load at which policies are simulated only for checks.
const checkLoad = 0.3

// prepareChecks adds policies with exact theory.
func (t *logFigure) prepareChecks(ctx context.Context) error {
	for k, s := range t.panels[:2] {
		panel := string(rune('a' + k))
		m := t.model(s.hosts, checkLoad)
		random, err := tags.Evaluate(ctx, m, tags.PolicyRandom, nil)
		if err != nil {
			return err
		}
		equal, err := tags.Evaluate(ctx, m, tags.PolicySITAE, nil)
		if err != nil {
			return err
		}
		bySize, err := tags.Optimize(ctx, m, tags.PolicySITA, bySlowdown())
		if err != nil {
			return err
		}
		for _, c := range []struct {
			name    string
			policy  tags.Policy
			cutoffs []float64
			exact   means
		}{
			{"Random", tags.PolicyRandom, nil, means{random.MeanSlowdown.Float, random.MeanWaiting.Float}},
			{"SITA-E", tags.PolicySITA, equal.Cutoffs, means{equal.MeanSlowdown.Float, equal.MeanWaiting.Float}},
			{"SITA, best cutoffs", tags.PolicySITA, bySize.Cutoffs,
				means{bySize.MeanSlowdown.Float, bySize.MeanWaiting.Float}},
		} {
			run, err := t.simulate(ctx, m, c.policy, c.cutoffs, c.name, t.e.CheckRuns)
			if err != nil {
				return err
			}
			t.checked = append(t.checked, checkedRun{panel, c.exact, run, nil})
		}
	}
	return nil
}

// byTheory returns the policies with a formula, TAGS first.
func (s *logPanel) byTheory() []method {
	forTAGS := tagsFor("TAGS", s.objective)
	bySize := method{"SITA", sumLook, true, func(ctx context.Context, m tags.Model) (means, error) {
		r, err := tags.Optimize(ctx, m, tags.PolicySITA, s.objective)
		return means{r.MeanSlowdown.Float, r.MeanWaiting.Float}, err
	}}
	least := queueing("LWR (Lee, Longton)", leastLook, false, tags.PolicyCentral)
	return []method{forTAGS, least, randomPolicy(), equalLoads(), bySize}
}

// roundRobinLook is the look of Round-Robin, shortestQueueLook the look of Shortest-Queue.
const (
	roundRobinLook    = 3
	shortestQueueLook = 5
)

// roundRobinBand draws the bounds of Round-Robin at loads with a positive lower bound.
func (t *logFigure) roundRobinBand(ctx context.Context, s *logPanel, loads []float64) (plots.Series, error) {
	band := plots.Series{Label: "Round-Robin", Kind: plots.Band, Look: roundRobinLook}
	for _, load := range loads {
		r, err := tags.Evaluate(ctx, t.model(s.hosts, load), tags.PolicyRoundRobin, nil)
		if err != nil {
			return band, err
		}
		lowS, highS := r.MeanSlowdown.Bounds()
		lowW, highW := r.MeanWaiting.Bounds()
		low, high := s.pick(means{lowS, lowW}), s.pick(means{highS, highW})
		if low > 0 {
			band.X, band.Low, band.High = append(band.X, load), append(band.Low, low), append(band.High, high)
		}
	}
	return band, nil
}

// points draws the simulations in which jobs waited.
func (t *logFigure) points(s *logPanel, label string, look int, trials []loadRun) plots.Series {
	p := plots.Series{Label: label, Kind: plots.Points, Look: look}
	for _, one := range trials {
		mean, low, high, err := plots.LogInterval(s.seen(one.run.Result))
		if err != nil {
			t.unseen++
			continue
		}
		p.X, p.Y, p.Low, p.High = append(p.X, one.load), append(p.Y, mean), append(p.Low, low), append(p.High, high)
	}
	return p
}

func (t *logFigure) build(ctx context.Context, f *plots.Figure) error {
	steps := 40
	if t.e.Precision == plots.Draft {
		steps = 20
	}
	loads := plots.Grid(1, steps-1, steps)
	var ends []string
	for k, s := range t.panels {
		panel := plots.Panel{Title: fmt.Sprintf("%d hosts: %s", s.hosts, strings.TrimPrefix(s.measure, "mean ")),
			X: plots.Axis{Quantity: "system load", Symbol: "ρ", Max: 1}, Y: s.axis}
		for i, c := range s.byTheory() {
			c = c.upToCapacity()
			at := func(load float64) (tags.Model, error) { return t.model(s.hosts, load), nil }
			line, err := c.series(ctx, loads, at, s.pick)
			if err != nil {
				return err
			}
			for range refinements {
				if i > 0 { // TAGS only
					break
				}
				between, err := c.series(ctx, steepMiddles(line), at, s.pick)
				if err != nil {
					return err
				}
				line = merged(line, between)
			}
			panel.Series = append(panel.Series, line)
		}
		band, err := t.roundRobinBand(ctx, s, loads)
		if err != nil {
			return err
		}
		panel.Series = append(panel.Series, band)
		for _, p := range []plots.Series{
			lastPoint(panel.Series[0], lastCutoffs, endLook),
			t.points(s, "TAGS", tagsLook, s.tags),
			t.points(s, "LWR, simulated", leastLook, s.leastWork),
			t.points(s, "Shortest-Queue, simulated", shortestQueueLook, s.shortestQueue),
			t.points(s, "Round-Robin", roundRobinLook, s.roundRobin),
		} {
			if len(p.X) > 0 {
				panel.Series = append(panel.Series, p)
			}
		}
		f.Panels = append(f.Panels, panel)
		if k < 2 {
			most, err := tags.MaxLoad(ctx, t.model(s.hosts, 0.5))
			if err != nil {
				return err
			}
			ends = append(ends, fmt.Sprintf("%.3f with %d hosts", most, s.hosts))
		}
	}
	plots.ShareY(f.Panels[:2])
	plots.ShareY(f.Panels[2:])
	if err := t.check(ctx, f); err != nil {
		return err
	}
	if err := t.claim(ctx, f); err != nil {
		return err
	}
	runs := farmRuns(t.plan, t.e)
	runs.Reason += ", or which cannot have seen the largest sizes often enough"
	return texts.Describe(f, map[string]any{
		"Name": plots.LogName, "LogWords": plots.LogWords, "Jobs": t.jobs, "Skipped": t.skipped, "Mean": t.mean,
		"SCV":  t.scv,
		"Ends": ends, "CurveLoads": loads, "LastLoad": loads[len(loads)-1], "Unseen": t.unseen, "Longer": longerTAGS,
		"TwoHosts": t.panels[0].tagsLoads, "FourHosts": t.panels[1].tagsLoads, "QueueLoads": queueLoads(),
		"CheckLoad": checkLoad,
		"Farm":      runs,
	}, nil)
}

// refinements is the number of times that points are added to the curve of TAGS, and steep the ratio
// of neighbours between which there is one more.
const (
	refinements = 2
	steep       = 3
)

// steepMiddles returns the midpoints between neighbours on a curve, one of which is more than steep
// times as high as the other.
func steepMiddles(s plots.Series) (x []float64) {
	for k := 1; k < len(s.X); k++ {
		if math.Abs(math.Log(s.Y[k]/s.Y[k-1])) > math.Log(steep) {
			x = append(x, (s.X[k-1]+s.X[k])/2)
		}
	}
	return x
}

// merged returns s with the points of other added.
func merged(s, other plots.Series) plots.Series {
	for k, x := range other.X {
		at, _ := slices.BinarySearch(s.X, x)
		s.X, s.Y = slices.Insert(s.X, at, x), slices.Insert(s.Y, at, other.Y[k])
	}
	return s
}

// check compares simulations with exact theory, if there is one, and a formula with a sum over
// states.
func (t *logFigure) check(ctx context.Context, f *plots.Figure) error {
	for _, c := range t.checked {
		figure, r := f.ID+c.panel, c.run.Result
		if c.firstHost != nil {
			f.Checks = append(f.Checks, plots.SimulatedCheck(figure, "load of host 1, "+c.run.Name,
				c.firstHost.Load.Float, r.Estimate(simfarm.OfHost, 0, sim.Utilization), c.run.Name))
			if v := r.Estimate(simfarm.OfHost, 0, simfarm.VisitWaiting); v != nil {
				f.Checks = append(f.Checks, plots.SimulatedCheck(figure, "mean waiting time at host 1, "+c.run.Name,
					c.firstHost.VisitWait.Float, v, c.run.Name))
			}
			continue
		}
		if v := r.All(simfarm.MeanSlowdown); v != nil {
			f.Checks = append(f.Checks, plots.SimulatedCheck(figure, "mean slowdown, "+c.run.Name, c.exact.slowdown, v,
				c.run.Name))
		}
		if v := r.All(simfarm.MeanWaiting); v != nil {
			f.Checks = append(f.Checks, plots.SimulatedCheck(figure, "mean waiting time, "+c.run.Name, c.exact.waiting,
				v, c.run.Name))
		}
	}
	for k, s := range t.panels[:2] {
		m := t.model(s.hosts, 0.5)
		r, err := tags.Evaluate(ctx, m, tags.PolicyCentral, nil)
		if err != nil {
			return err
		}
		inverse, err := t.distribution.Moment(-1)
		if err != nil {
			return err
		}
		queue := WaitProbability(s.hosts, 0.5) * (1 + t.scv) / 2 // load 1/2: ρ/(1-ρ) = 1
		f.Checks = append(f.Checks, plots.SolverCheck(f.ID+string(rune('a'+k)),
			fmt.Sprintf("mean slowdown, Least-Work-Remaining, %d hosts, load 0.5, with the sum over states of M/M/h",
				s.hosts),
			r.MeanSlowdown.Float, queue*t.mean/(float64(s.hosts)*0.5)*inverse, 1e-10))
	}
	return nil
}

// similar is the largest relative difference that counts as "almost identical performance".
const similar = 0.25

// claim compares the claims of [HB02] with simulations.
func (t *logFigure) claim(ctx context.Context, f *plots.Figure) error {
	for k, s := range t.panels {
		var all []plots.Number
		var words []string
		for _, one := range s.tags {
			v := s.seen(one.run.Result)
			if v == nil {
				continue
			}
			r := plots.Number{Mean: v.Mean / one.theory, Low: (v.Mean - v.HalfWidth) / one.theory,
				High: (v.Mean + v.HalfWidth) / one.theory, At: fmt.Sprint(one.load)}
			all, words = append(all, r), append(words, r.String())
		}
		f.Claims = append(f.Claims, plots.Claim{
			Place: f.ID + string(rune('a'+k)),
			Sentence: fmt.Sprintf("The analysis if anything produces an upper bound on TAGS (section 5.1). The %s "+
				"with %d hosts.", s.measure, s.hosts),
			Criterion: "The simulated mean is at most that of the formula.",
			Numbers:   "Simulated over formula: " + strings.Join(words, ", ") + ".",
			Verdict:   plots.AtMost(1).Verdict(all...),
		})
	}
	for k, s := range t.panels {
		if s.objective.Waiting == 0 {
			continue
		}
		var all []plots.Number // ratios of Random to Round-Robin
		var words []string
		for _, one := range s.roundRobin {
			v := seenWaiting(one.run.Result)
			random, err := tags.Evaluate(ctx, t.model(s.hosts, one.load), tags.PolicyRandom, nil)
			if err != nil {
				return err
			}
			mean, low, high, err := plots.LogInterval(v)
			if err != nil {
				continue
			}
			exact := random.MeanWaiting.Float
			r := plots.Number{Mean: exact / mean, Low: exact / high, High: exact / low, At: fmt.Sprint(one.load)}
			all, words = append(all, r), append(words, r.String())
		}
		f.Claims = append(f.Claims, plots.Claim{
			Place: f.ID + string(rune('a'+k)),
			Sentence: fmt.Sprintf("Random and Round-Robin also have almost identical performance on this log "+
				"(section 5 says so for the paper's distributions of sizes). The mean waiting time with "+
				"%d hosts.", s.hosts),
			Criterion: fmt.Sprintf("Random is at most %g times Round-Robin, simulated.", 1+similar),
			Numbers:   "Random over Round-Robin: " + strings.Join(words, ", ") + ".",
			Verdict:   plots.AtMost(1 + similar).Verdict(all...),
			Finding:   true,
		})
	}
	return nil
}
