package hb02

import (
	"context"
	"fmt"
	"strings"

	"productform/internal/oracle/paper"
	"productform/plots"
	"productform/sim"
	simfarm "productform/sim/farm"
	"productform/tags"
)

// A site is a panel of tags-17: one number of hosts, one measure.
type site struct {
	hosts     int
	objective tags.Objective
	measure   string
	axis      plots.Axis
	pick      func(means) float64
	seen      func(*sim.Result) *sim.Estimate
	killLoads []float64 // at which TAGS is simulated

	killed, central, shortest, turns []trial
}

// A trial is a simulation of a farm at one load.
type trial struct {
	load   float64
	theory float64 // 0 if there is none
	run    *plots.Simulation
}

// queueLoads are those at which policies that do not know sizes are simulated.
func queueLoads() []float64 { return []float64{0.3, 0.5, 0.7, 0.9} }

func seenSlowdown(r *sim.Result) *sim.Estimate { return r.All(simfarm.MeanSlowdown) }
func seenWaiting(r *sim.Result) *sim.Estimate  { return r.All(simfarm.MeanWaiting) }

func sites() []*site {
	two, four := []float64{0.1, 0.3, 0.5, 0.65}, []float64{0.1, 0.2, 0.3, 0.4}
	return []*site{
		{hosts: 2, objective: bySlowdown(), measure: "mean slowdown", axis: slowdownAxis(), pick: slowdownOf, seen: seenSlowdown, killLoads: two},
		{hosts: 4, objective: bySlowdown(), measure: "mean slowdown", axis: slowdownAxis(), pick: slowdownOf, seen: seenSlowdown, killLoads: four},
		{hosts: 2, objective: byWaiting(), measure: "mean waiting time", axis: waitingAxis(), pick: waitingOf, seen: seenWaiting, killLoads: two},
		{hosts: 4, objective: byWaiting(), measure: "mean waiting time", axis: waitingAxis(), pick: waitingOf, seen: seenWaiting, killLoads: four},
	}
}

// A match is a simulation whose exact answer is known.
type match struct {
	name   string
	panel  string
	exact  means
	trial  *plots.Simulation
	killed *tags.Host // then only what host 1 sees is exact
}

// measured draws TAGS and its rivals on measured run times, against the load.
func measured(id, title string) plots.Spec {
	return plots.Spec{ID: id, Title: title, Prepare: func(e plots.Effort) (*plots.Plan, error) {
		sizes, skipped, err := runTimes().sizes()
		if err != nil {
			return nil, err
		}
		p, err := describe(sizes)
		if err != nil {
			return nil, err
		}
		t := &traceFarm{portrait: p, jobs: len(sizes), skipped: skipped, project: &plots.Plan{}, e: e, sites: sites()}
		if err := t.plan(); err != nil {
			return nil, err
		}
		t.project.Build = func(ctx context.Context) (*plots.Figure, error) {
			f := &plots.Figure{ID: id, Title: title}
			return f, t.build(ctx, f)
		}
		return t.project, nil
	}}
}

// A traceFarm is the figure under way.
type traceFarm struct {
	portrait
	jobs, skipped int
	project       *plots.Plan
	e             plots.Effort
	sites         []*site
	matches       []match
	unseen        int // points that no run saw
}

func (t *traceFarm) model(hosts int, load float64) tags.Model {
	return tags.Model{Sizes: t.law, Hosts: hosts, Load: load}
}

// simulate adds one simulation, of TAGS with longer runs than the others.
func (t *traceFarm) simulate(m tags.Model, policy simfarm.Policy, cutoffs []float64, what string, runs int) (*plots.Simulation, error) {
	name := fmt.Sprintf("%s, %s, %d hosts, load %g", plots.LogName, what, m.Hosts, m.Load)
	e := t.e
	if policy == simfarm.TAGS {
		e.Jumps, e.WarmUp = longerKilling*e.Jumps, longerKilling*e.WarmUp
	}
	return simulateFarm(t.project, name, simfarm.Farm{Model: m, Policy: policy, Cutoffs: cutoffs}, e, runs)
}

// longerKilling is how many times as many jumps the runs of TAGS have, so that they tell it from its upper bound.
const longerKilling = 4

// plan adds the simulations to show, then those only for checks.
func (t *traceFarm) plan() error {
	for k, s := range t.sites {
		panel := string(rune('a' + k))
		for n, load := range s.killLoads {
			m := t.model(s.hosts, load)
			r, err := tags.Optimize(context.Background(), m, tags.PolicyTAGS, s.objective)
			if err != nil {
				return err
			}
			run, err := t.simulate(m, simfarm.TAGS, r.Cutoffs, "TAGS for the least "+s.measure, t.e.Runs)
			if err != nil {
				return err
			}
			s.killed = append(s.killed, trial{load, s.pick(means{r.MeanSlowdown.Float, r.MeanWaiting.Float}), run})
			if n == 1 {
				t.matches = append(t.matches, match{"TAGS", panel, means{}, run, &r.Hosts[0]})
			}
		}
		for _, load := range queueLoads() {
			m := t.model(s.hosts, load)
			for _, q := range []struct {
				policy simfarm.Policy
				to     *[]trial
			}{{simfarm.CentralQueue, &s.central}, {simfarm.ShortestQueue, &s.shortest}, {simfarm.RoundRobin, &s.turns}} {
				run, err := t.simulate(m, q.policy, nil, string(q.policy), t.e.Runs)
				if err != nil {
					return err
				}
				*q.to = append(*q.to, trial{load: load, run: run})
			}
		}
	}
	return t.planChecks()
}

// checkLoad is that at which policies are simulated for the checks only.
const checkLoad = 0.3

// planChecks adds policies for which theory is exact.
func (t *traceFarm) planChecks() error {
	for k, s := range t.sites[:2] {
		panel := string(rune('a' + k))
		m := t.model(s.hosts, checkLoad)
		random, err := tags.Evaluate(context.Background(), m, tags.PolicyRandom, nil)
		if err != nil {
			return err
		}
		equal, err := tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil)
		if err != nil {
			return err
		}
		bySize, err := tags.Optimize(context.Background(), m, tags.PolicySITA, bySlowdown())
		if err != nil {
			return err
		}
		for _, c := range []struct {
			name    string
			policy  simfarm.Policy
			cutoffs []float64
			exact   means
		}{
			{"Random", simfarm.Random, nil, means{random.MeanSlowdown.Float, random.MeanWaiting.Float}},
			{"SITA-E", simfarm.SITA, equal.Cutoffs, means{equal.MeanSlowdown.Float, equal.MeanWaiting.Float}},
			{"SITA, best cutoffs", simfarm.SITA, bySize.Cutoffs, means{bySize.MeanSlowdown.Float, bySize.MeanWaiting.Float}},
		} {
			run, err := t.simulate(m, c.policy, c.cutoffs, c.name, t.e.CheckRuns)
			if err != nil {
				return err
			}
			t.matches = append(t.matches, match{c.name, panel, c.exact, run, nil})
		}
	}
	return nil
}

// byTheory are the policies with a formula, TAGS first.
func (s *site) byTheory() []method {
	kill := killing("TAGS", s.objective)
	bySize := method{"SITA", sumLook, true, func(ctx context.Context, m tags.Model) (means, error) {
		r, err := tags.Optimize(ctx, m, tags.PolicySITA, s.objective)
		return means{r.MeanSlowdown.Float, r.MeanWaiting.Float}, err
	}}
	least := queueing("LWR (Lee, Longton)", leastLook, false, tags.PolicyCentral)
	return []method{kill, least, atRandom(), equalLoads(), bySize}
}

// turnLook is that of Round-Robin, shortLook that of Shortest-Queue.
const (
	turnLook  = 3
	shortLook = 5
)

// inTurn draws the bounds of Round-Robin where the lower one is above 0.
func (t *traceFarm) inTurn(ctx context.Context, s *site, loads []float64) (plots.Series, error) {
	band := plots.Series{Label: "Round-Robin", Kind: plots.Band, Look: turnLook}
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

// points draws simulations that were seen to wait.
func (t *traceFarm) points(s *site, label string, look int, trials []trial) plots.Series {
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

func (t *traceFarm) build(ctx context.Context, f *plots.Figure) error {
	steps := 40
	if t.e.Precision == plots.Draft {
		steps = 20
	}
	loads := plots.Grid(1, steps-1, steps)
	var ends []string
	for k, s := range t.sites {
		panel := plots.Panel{Title: fmt.Sprintf("%d hosts: %s", s.hosts, strings.TrimPrefix(s.measure, "mean ")), X: plots.Axis{Quantity: "system load", Symbol: "ρ", Max: 1}, Y: s.axis}
		for _, c := range s.byTheory() {
			line, err := c.series(ctx, loads, func(load float64) (tags.Model, error) { return t.model(s.hosts, load), nil }, s.pick)
			if err != nil {
				return err
			}
			panel.Series = append(panel.Series, line)
		}
		band, err := t.inTurn(ctx, s, loads)
		if err != nil {
			return err
		}
		panel.Series = append(panel.Series, band)
		for _, p := range []plots.Series{
			t.points(s, "TAGS, simulated", tagsLook, s.killed),
			t.points(s, "LWR, simulated", leastLook, s.central),
			t.points(s, "Shortest-Queue, simulated", shortLook, s.shortest),
			t.points(s, "Round-Robin, simulated", turnLook, s.turns),
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
	if err := t.check(ctx, f); err != nil {
		return err
	}
	if err := t.claim(ctx, f); err != nil {
		return err
	}
	runs := farmRuns(t.project, t.e)
	runs.Reason += ", or which cannot have seen the largest sizes often enough"
	return texts.Describe(f, map[string]any{
		"Name": plots.LogName, "LogWords": plots.LogWords, "Jobs": t.jobs, "Skipped": t.skipped, "Mean": t.mean, "SCV": t.scv,
		"Ends": ends, "CurveLoads": loads, "LastLoad": loads[len(loads)-1], "Unseen": t.unseen, "Longer": longerKilling,
		"TwoHosts": t.sites[0].killLoads, "FourHosts": t.sites[1].killLoads, "QueueLoads": queueLoads(), "CheckLoad": checkLoad,
		"Farm": runs,
	}, nil)
}

// check compares simulations with theory where that is exact, and a formula with a sum over states.
func (t *traceFarm) check(ctx context.Context, f *plots.Figure) error {
	for _, c := range t.matches {
		figure, r := f.ID+c.panel, c.trial.Result
		if c.killed != nil {
			f.Checks = append(f.Checks, plots.SimulatedCheck(figure, "load of host 1, "+c.trial.Name, c.killed.Load.Float, r.Estimate(simfarm.OfHost, 0, sim.Utilization), c.trial.Name))
			if v := r.Estimate(simfarm.OfHost, 0, simfarm.VisitWaiting); v != nil {
				f.Checks = append(f.Checks, plots.SimulatedCheck(figure, "mean waiting time at host 1, "+c.trial.Name, c.killed.VisitWait.Float, v, c.trial.Name))
			}
			continue
		}
		if v := r.All(simfarm.MeanSlowdown); v != nil {
			f.Checks = append(f.Checks, plots.SimulatedCheck(figure, "mean slowdown, "+c.trial.Name, c.exact.slowdown, v, c.trial.Name))
		}
		if v := r.All(simfarm.MeanWaiting); v != nil {
			f.Checks = append(f.Checks, plots.SimulatedCheck(figure, "mean waiting time, "+c.trial.Name, c.exact.waiting, v, c.trial.Name))
		}
	}
	for k, s := range t.sites[:2] {
		m := t.model(s.hosts, 0.5)
		r, err := tags.Evaluate(ctx, m, tags.PolicyCentral, nil)
		if err != nil {
			return err
		}
		inverse, err := t.law.Moment(-1)
		if err != nil {
			return err
		}
		queue := paper.WaitProbability(s.hosts, 0.5) * (1 + t.scv) / 2 // load 1/2: ρ/(1-ρ) = 1
		f.Checks = append(f.Checks, plots.SolverCheck(f.ID+string(rune('a'+k)), fmt.Sprintf("mean slowdown, Least-Work-Remaining, %d hosts, load 0.5, with the sum over states of M/M/h", s.hosts),
			r.MeanSlowdown.Float, queue*t.mean/(float64(s.hosts)*0.5)*inverse, 1e-10))
	}
	return nil
}

// similar is most by which one policy may exceed another of "almost identical performance".
const similar = 0.25

// claim compares what [HB02] says with simulations.
func (t *traceFarm) claim(ctx context.Context, f *plots.Figure) error {
	for k, s := range t.sites {
		var all []plots.Number
		var words []string
		for _, one := range s.killed {
			v := s.seen(one.run.Result)
			if v == nil {
				continue
			}
			r := plots.Number{Mean: v.Mean / one.theory, Low: (v.Mean - v.HalfWidth) / one.theory, High: (v.Mean + v.HalfWidth) / one.theory, At: fmt.Sprint(one.load)}
			all, words = append(all, r), append(words, r.String())
		}
		f.Claims = append(f.Claims, plots.Claim{
			Place:     f.ID + string(rune('a'+k)),
			Sentence:  fmt.Sprintf("The analysis if anything produces an upper bound on TAGS (section 5.1). The %s with %d hosts.", s.measure, s.hosts),
			Criterion: "The simulated mean is at most that of the formula.",
			Numbers:   "Simulated over formula: " + strings.Join(words, ", ") + ".",
			Verdict:   plots.AtMost(1).Verdict(all...),
		})
	}
	for k, s := range t.sites {
		if s.objective.Waiting == 0 {
			continue
		}
		var all []plots.Number // of Random to Round-Robin
		var words []string
		for _, one := range s.turns {
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
			Place:     f.ID + string(rune('a'+k)),
			Sentence:  fmt.Sprintf("On this log, too, Random and Round-Robin have similar identical performance (section 5 says so of its own laws of sizes). The mean waiting time with %d hosts.", s.hosts),
			Criterion: fmt.Sprintf("Random is at most %g times Round-Robin, simulated.", 1+similar),
			Numbers:   "Random over Round-Robin: " + strings.Join(words, ", ") + ".",
			Verdict:   plots.AtMost(1 + similar).Verdict(all...),
			Finding:   true,
		})
	}
	return nil
}
