package l14

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/dispatch/swf"
	"productform/plots"
)

// A rigidPolicy is a baseline with its name in the figure.
type rigidPolicy struct {
	label  string
	look   int
	policy rigid.Policy
}

// The positions of baselines.
const (
	byArrival = iota
	byConservative
	byEASY
	bySize
	byEASYSize
)

// comparedBaselines are the baselines from package rigid.
func comparedBaselines() []rigidPolicy {
	return []rigidPolicy{
		byArrival:      {"FCFS", 6, rigid.Policy{Order: rigid.FCFS, Backfill: rigid.None}},
		byConservative: {"conservative", 2, rigid.Policy{Order: rigid.FCFS, Backfill: rigid.Conservative}},
		byEASY:         {"EASY", 0, rigid.Policy{Order: rigid.FCFS, Backfill: rigid.EASY}},
		bySize:         {"SJF", 3, rigid.Policy{Order: rigid.SJF, Backfill: rigid.None}},
		byEASYSize:     {"EASY, SJF", 1, rigid.Policy{Order: rigid.SJF, Backfill: rigid.EASY}},
	}
}

// A site holds a cluster of equal workers, as many as the log has processors, and jobs of the log.
type site struct {
	log      []swf.Job
	workers  int
	sampling dispatch.Sampling
	seed     uint64
	parallel int
	load     float64 // load of the log: requested time as a fraction of the workers' time
	jobs     int
}

// draftJobs is the number of jobs of the log that a draft uses.
const draftJobs = 3000

// newSite reads the log.
func newSite(e plots.Effort) (*site, error) {
	log, err := readLog()
	if err != nil {
		return nil, err
	}
	processors, ok := swf.MaxProcs(log.Header)
	if !ok {
		return nil, fmt.Errorf("the log %s does not state its processors", plots.LogName)
	}
	s := &site{
		log:      log.Jobs,
		workers:  int(processors),
		sampling: dispatch.WholeLog(),
		seed:     e.Seed,
		parallel: cmp.Or(e.Workers, runtime.GOMAXPROCS(0)),
	}
	if e.Precision == plots.Draft {
		s.sampling.Count = draftJobs
	}
	jobs, err := s.at(0)
	if err != nil {
		return nil, err
	}
	work := 0.0
	for _, j := range jobs {
		work += float64(j.Tasks) * j.Work
	}
	s.jobs, s.load = len(jobs), work/(float64(s.workers)*jobs[len(jobs)-1].Submit)
	return s, nil
}

// at returns the jobs with the times between submissions scaled to a load; a load of 0 leaves them
// unchanged.
func (s *site) at(load float64) ([]dispatch.Job, error) {
	sampling := s.sampling
	if load > 0 {
		sampling.GapScale = s.load / load
	}
	jobs, _, err := sampling.Jobs(s.log, s.seed)
	return jobs, err
}

// A siteOutcome holds the means of jobs under a policy: bounded slowdown, delay and waiting time,
// in seconds. Waiting is undefined if tasks need not run together.
type siteOutcome struct{ slowdown, delay, waiting float64 }

func slowdownOf(f siteOutcome) float64 { return f.slowdown }
func delayOf(f siteOutcome) float64    { return f.delay / 3600 }
func waitingOf(f siteOutcome) float64  { return f.waiting / 3600 }

// leastRun is the run time, in seconds, above which the bounded slowdown equals the slowdown.
const leastRun = 10

// runDivisible runs jobs under a policy of [L14], which may run their tasks separately.
func (s *site) runDivisible(ctx context.Context, jobs []dispatch.Job, p dispatch.Policy) (siteOutcome, []span, error) {
	r, err := dispatch.Run(ctx, dispatch.Scenario{
		Jobs:   jobs,
		Speeds: slices.Repeat([]float64{1}, s.workers),
		Policy: p,
	})
	if err != nil {
		return siteOutcome{}, nil, err
	}
	f := siteOutcome{delay: r.Delay.Mean}
	var spans []span
	for i, rec := range r.Jobs {
		f.slowdown += max(1, rec.Delay/max(jobs[i].Work, leastRun)) / float64(len(jobs))
		spans = append(spans, span{jobs[i].Submit, rec.Finish})
	}
	return f, spans, nil
}

// runRigid runs jobs under a baseline, which runs their tasks together.
func (s *site) runRigid(ctx context.Context, jobs []dispatch.Job, p rigid.Policy) (siteOutcome, []span, error) {
	r, err := rigid.Run(ctx, rigid.Scenario{Jobs: jobs, Workers: s.workers, Policy: p, Threshold: leastRun})
	if err != nil {
		return siteOutcome{}, nil, err
	}
	var spans []span
	for i, rec := range r.Jobs {
		spans = append(spans, span{jobs[i].Submit, rec.Finish})
	}
	return siteOutcome{r.BoundedSlowdown.Mean, r.Delay.Mean, r.Waiting.Mean}, spans, nil
}

// A span is the time of a job from its submission to its end.
type span struct{ from, to float64 }

// littleDelay returns the mean delay of jobs by Little's law: the integral of the number of jobs
// present, divided by the number of jobs.
func littleDelay(spans []span) float64 {
	type step struct {
		at float64
		by int
	}
	var steps []step
	for _, s := range spans {
		steps = append(steps, step{s.from, 1}, step{s.to, -1})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	area, present := 0.0, 0
	for k, s := range steps {
		if k > 0 {
			area += float64(present) * (s.at - steps[k-1].at)
		}
		present += s.by
	}
	return area / float64(len(spans))
}

// recursionDelay returns the mean delay under FCFS by a recursion over the times at which workers
// become free, without events: a job starts once it is submitted, its predecessor has started, and
// n workers are free.
func (s *site) recursionDelay(jobs []dispatch.Job) float64 {
	free := make([]float64, s.workers) // in increasing order
	begin, sum := 0.0, 0.0
	for _, j := range jobs {
		begin = max(begin, j.Submit, free[j.Tasks-1])
		end := begin + j.Work
		rest := free[j.Tasks:]
		at, _ := slices.BinarySearch(rest, end)
		free = slices.Concat(rest[:at], slices.Repeat([]float64{end}, j.Tasks), rest[at:])
		sum += end - j.Submit
	}
	return sum / float64(len(jobs))
}

// loads returns the loads of dispatch-8, and factors returns the factors of requested times.
func loads(p plots.Precision) []float64 {
	if p == plots.Draft {
		return []float64{0.5, 0.7, 0.9}
	}
	return []float64{0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95}
}

func factors(p plots.Precision) []float64 {
	if p == plots.Draft {
		return []float64{1, 2, 10, 100}
	}
	return []float64{1, 1.5, 2, 3, 5, 10, 20, 50, 100}
}

// askingBaselines returns the baselines that use requested times in dispatch-8.
func askingBaselines() []int { return []int{byConservative, byEASY} }

// A comparison holds the outcomes of the jobs of a site: by load and policy, first those of [L14]
// and then the baselines; and, for baselines with requested times, by factor and baseline. The
// factor is that of all jobs, or the largest one, if the factor of each job is drawn from 1 to it.
type comparison struct {
	loads, factors []float64
	byLoad         [][]siteOutcome
	byFactor       [2][][]siteOutcome
	checks         []plots.Check
}

// compare runs everything.
func (s *site) compare(ctx context.Context, p plots.Precision, place string) (*comparison, error) {
	c := &comparison{loads: loads(p), factors: factors(p)}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(s.parallel)
	c.byLoad = make([][]siteOutcome, len(c.loads))
	checks := make([][]plots.Check, len(c.loads))
	for i, load := range c.loads {
		g.Go(func() (err error) {
			c.byLoad[i], checks[i], err = s.runAt(running, load, place)
			return err
		})
	}
	for k := range c.byFactor {
		c.byFactor[k] = make([][]siteOutcome, len(c.factors))
		for i, factor := range c.factors {
			g.Go(func() (err error) {
				c.byFactor[k][i], err = s.ask(running, rigid.Requests{Factor: factor, Uniform: k == 1, Seed: s.seed})
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	c.checks = slices.Concat(checks...)
	return c, nil
}

// runAt runs the jobs at the given load under all policies, and checks their mean delays by a
// second method.
func (s *site) runAt(ctx context.Context, load float64, place string) (
	fates []siteOutcome, checks []plots.Check, err error,
) {
	jobs, err := s.at(load)
	if err != nil {
		return nil, nil, err
	}
	check := func(label, how string, delay, second float64) {
		checks = append(checks, plots.SolverCheck(
			place, fmt.Sprintf("mean delay, %s, ρ = %g, %s", label, load, how), delay, second, 1e-9,
		))
	}
	for _, c := range comparedPolicies() {
		f, spans, err := s.runDivisible(ctx, jobs, c.policy)
		if err != nil {
			return nil, nil, fmt.Errorf("%s, load %v: %w", c.label, load, err)
		}
		fates = append(fates, f)
		check(c.label, "by Little's law", f.delay, littleDelay(spans))
	}
	for k, c := range comparedBaselines() {
		f, spans, err := s.runRigid(ctx, jobs, c.policy)
		if err != nil {
			return nil, nil, fmt.Errorf("%s, load %v: %w", c.label, load, err)
		}
		fates = append(fates, f)
		check(c.label, "by Little's law", f.delay, littleDelay(spans))
		if k == byArrival {
			check(c.label, "by the recursion over the times at which workers are free", f.delay, s.recursionDelay(jobs))
		}
	}
	return fates, checks, nil
}

// ask runs the unscaled jobs under the baselines that use requested times.
func (s *site) ask(ctx context.Context, q rigid.Requests) (fates []siteOutcome, err error) {
	jobs, err := s.at(0)
	if err != nil {
		return nil, err
	}
	if jobs, err = q.Apply(jobs, nil); err != nil {
		return nil, err
	}
	for _, k := range askingBaselines() {
		c := comparedBaselines()[k]
		f, _, err := s.runRigid(ctx, jobs, c.policy)
		if err != nil {
			return nil, fmt.Errorf("%s, factor %v: %w", c.label, q.Factor, err)
		}
		fates = append(fates, f)
	}
	return fates, nil
}

// of returns a number against the load, under the policy at position k.
func (c *comparison) of(k int, of func(siteOutcome) float64) []float64 {
	var v []float64
	for _, fates := range c.byLoad {
		v = append(v, of(fates[k]))
	}
	return v
}

// baseline returns the position of a baseline among all policies.
func baseline(k int) int { return len(comparedPolicies()) + k }

// baselines compares the policies that sites use today with the policies of [L14].
func baselines(ctx context.Context, e plots.Effort, f *plots.Figure) error {
	s, err := newSite(e)
	if err != nil {
		return err
	}
	c, err := s.compare(ctx, e.Precision, f.ID)
	if err != nil {
		return err
	}
	f.Panels = c.panels()
	f.Checks = c.checks
	words := map[string]any{
		"Site": s, "Jobs": s.jobs, "Load": s.load, "Workers": s.workers, "Sampling": s.sampling,
		"Seed": s.seed, "Draft": s.sampling.Count > 0,
		"Log": plots.LogName, "LogWords": plots.LogWords, "Loads": c.loads, "Factors": c.factors,
		"Most": c.loads[len(c.loads)-1],
	}
	verdicts := c.judge(words)
	return texts.Describe(f, words, verdicts)
}

// panels draws the slowdowns and delays against the load, and then, for the baselines with
// requested times, against the factor.
func (c *comparison) panels() (panels []plots.Panel) {
	load := plots.Axis{Quantity: "load", Symbol: "ρ", Min: 0.48, Max: 0.97, Ticks: []float64{0.5, 0.6, 0.7, 0.8, 0.9}}
	for _, m := range []struct {
		name string
		y    plots.Axis
		of   func(siteOutcome) float64
	}{
		{"slowdown", plots.Axis{Quantity: "mean bounded slowdown", Scale: plots.Log}, slowdownOf},
		{"delay", plots.Axis{Quantity: "mean delay", Unit: "h", Scale: plots.Log}, delayOf},
	} {
		together := plots.Panel{Title: "Tasks together, " + m.name, X: load, Y: m.y}
		apart := plots.Panel{Title: "Tasks separately, " + m.name, X: load, Y: m.y}
		// conservative may coincide with EASY
		for _, k := range []int{byArrival, byEASY, byConservative, bySize, byEASYSize} {
			p := comparedBaselines()[k]
			together.Series = append(together.Series, c.curve(p.label, p.look, baseline(k), m.of))
		}
		for _, k := range []int{byPriority, byProportion, byWorkload, sparePriority, spareDeadline, earliestFirst} {
			p := comparedPolicies()[k]
			label := strings.TrimPrefix(p.label, "deadline, ") // a long name would make the legend taller
			apart.Series = append(apart.Series, c.curve(label, p.look, k, m.of))
		}
		easy := c.curve(comparedBaselines()[byEASY].label, 7, baseline(byEASY), m.of)
		easy.Thin, easy.Marked = true, false
		apart.Series = append(apart.Series, easy)
		shareAxis(&together, &apart)
		panels = append(panels, together, apart)
	}
	factor := plots.Axis{
		Quantity: "factor of overestimation",
		Symbol:   "F",
		Scale:    plots.Log,
		Min:      0.9,
		Max:      120,
		Ticks:    []float64{1, 2, 5, 10, 20, 50, 100},
	}
	for _, m := range []struct {
		name string
		y    plots.Axis
		of   func(siteOutcome) float64
	}{
		{"slowdown", plots.Axis{Quantity: "mean bounded slowdown"}, slowdownOf},
		{"waiting time", plots.Axis{Quantity: "mean waiting time", Unit: "h"}, waitingOf},
	} {
		p := plots.Panel{Title: "Overestimates, " + m.name, X: factor, Y: m.y}
		var values []float64
		for kind, group := range []string{"all F", "1 to F"} {
			for k, place := range askingBaselines() {
				b := comparedBaselines()[place]
				s := plots.Series{
					Label:  b.label,
					Group:  group,
					Kind:   plots.Curve,
					Marked: true,
					Look:   b.look,
					X:      c.factors,
				}
				for _, fates := range c.byFactor[kind] {
					s.Y = append(s.Y, m.of(fates[k]))
				}
				p.Series, values = append(p.Series, s), append(values, s.Y...)
			}
		}
		p.Y = p.Y.Hold(values, false)
		panels = append(panels, p)
	}
	return panels
}

func (c *comparison) curve(label string, look, k int, of func(siteOutcome) float64) plots.Series {
	return plots.Series{Label: label, Kind: plots.Curve, Marked: true, Look: look, X: c.loads, Y: c.of(k, of)}
}

// judge decides the claims of Mu'alem and Feitelson, and adds the numbers to the words.
func (c *comparison) judge(words map[string]any) plots.Verdicts {
	v := plots.Verdicts{}
	ratios := func(a, b int, of func(siteOutcome) float64) (least, most float64) {
		above, below := c.of(baseline(a), of), c.of(baseline(b), of)
		least, most = math.Inf(1), 0
		for i := range above {
			least, most = min(least, above[i]/below[i]), max(most, above[i]/below[i])
		}
		return least, most
	}
	slowest, _ := ratios(byArrival, byEASY, delayOf)
	_, worst := ratios(byArrival, byEASY, delayOf)
	words["OrderLeast"], words["OrderMost"] = slowest, worst
	v.Decide("order", slowest > 1)

	least, most := ratios(byConservative, byEASY, delayOf)
	words["SimilarLeast"], words["SimilarMost"] = least, most
	words["SlowLeast"], words["SlowMost"] = ratios(byConservative, byEASY, slowdownOf)
	v.Decide("similar", least >= 1/1.25 && most <= 1.25)

	better := true
	for kind, name := range []string{"All", "Drawn"} {
		first, last := c.byFactor[kind][0], c.byFactor[kind][len(c.factors)-1]
		for k, place := range askingBaselines() {
			ratio := last[k].waiting / first[k].waiting
			words[name+[]string{byConservative: "Conservative", byEASY: "EASY"}[place]] = ratio
			better = better && ratio < 1
		}
	}
	v.Decide("overestimates", better)

	end := c.byLoad[len(c.loads)-1]
	words["EASYDelay"], words["EDFDelay"] = delayOf(end[baseline(byEASY)]), delayOf(end[earliestFirst])
	words["SJFDelay"], words["FCFSDelay"] = delayOf(end[baseline(byEASYSize)]), delayOf(end[baseline(byArrival)])
	return v
}
