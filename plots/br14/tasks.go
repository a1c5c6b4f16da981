package br14

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/num"
	"productform/plots"
	"productform/sim"
	"productform/sim/pool"
)

// taskPolicies returns the policies of fluid-5.
func taskPolicies() []fluid.Policy { return []fluid.Policy{fluid.PF, fluid.DRF} }

// A taskPanel is a panel of fluid-5: the two static jobs of fluid-1, or classes of such jobs in
// traffic, on a number of machines.
type taskPanel struct {
	machines int64
	traffic  bool
	wait     bool // whether jobs may not overtake the most deprived one
}

// title describes the panel.
func (p taskPanel) title() string {
	machines := "one machine"
	if p.machines > 1 {
		machines = fmt.Sprintf("%d machines", p.machines)
	}
	switch {
	case !p.traffic:
		return "Permanent jobs, " + machines
	case p.wait:
		return "Traffic, " + machines + ", without overtaking"
	}
	return "Traffic, " + machines + ", with overtaking"
}

func taskPanels() []taskPanel {
	return []taskPanel{
		{machines: 1}, {machines: 3},
		{machines: 1, traffic: true}, {machines: 3, traffic: true},
		{machines: 1, traffic: true, wait: true}, {machines: 3, traffic: true, wait: true},
	}
}

// Constants of fluid-5 in traffic.
const taskLoad = "6/10"

func jobTasks() *big.Rat { return big.NewRat(6, 1) } // mean number of jobs in the example

// finenesses returns the factors g by which tasks are smaller than in the example. With three
// machines and g = 1, a task of job 2 fills the processors of one machine, and the pool is
// unstable.
func (p taskPanel) finenesses(e plots.Effort) []int {
	most := 64
	if p.traffic {
		most = map[plots.Precision]int{plots.Draft: 4, plots.Normal: 8, plots.Paper: 16}[e.Precision]
	}
	var all []int
	for g := 1; g <= most; g *= 2 {
		if g > 1 || !p.traffic || p.machines == 1 {
			all = append(all, g)
		}
	}
	return all
}

// at returns the pool with tasks g times as small; in traffic they are also g times as short and g²
// times as many. The arrival rates have the ratio 5 to 2, so both resources have the same load.
func (p taskPanel) at(ctx context.Context, g int, policy fluid.Policy) (pool.Tasks, error) {
	example := twoJobsPool()
	t := pool.Tasks{Policy: policy, Wait: p.wait}
	machine := pool.Machine{Count: int(p.machines)}
	for _, r := range example.Resources {
		t.Resources = append(t.Resources, r.Name)
		machine.Capacity = append(machine.Capacity, new(big.Rat).Quo(r.Capacity, big.NewRat(p.machines, 1)))
	}
	t.Machines = []pool.Machine{machine}
	for _, j := range example.Jobs {
		t.Jobs = append(t.Jobs, pool.TaskClass{Name: j.Name, Demand: j.Demand})
	}
	if !p.traffic {
		return pool.Finer(t, g, 1)
	}
	load := rats(taskLoad)[0]
	// fills both resources
	full, err := fluid.Allocate(ctx, example, fluid.BMF, fluid.Settings{Engine: num.Exact})
	if err != nil {
		return t, err
	}
	for k, job := range full.Jobs {
		rate := new(big.Rat).Mul(job.Tasks.Exact, load)
		t.Jobs[k].ArrivalRate = rate.Quo(rate, jobTasks())
		t.Jobs[k].MeanTasks, t.Jobs[k].Geometric = jobTasks(), true
	}
	return pool.Finer(t, g, g)
}

// ideal returns the number, or mean number, of tasks that a job of each class runs if resources are
// divisible, counted in tasks of the example.
func (p taskPanel) ideal(ctx context.Context, policy fluid.Policy) ([]float64, error) {
	t, err := p.at(ctx, 1, policy)
	if err != nil {
		return nil, err
	}
	var tasks []float64
	if !p.traffic {
		r, err := fluid.Allocate(ctx, t.Pool(), policy, fluid.Settings{})
		if err != nil {
			return nil, err
		}
		for _, j := range r.Jobs {
			tasks = append(tasks, j.Tasks.Float)
		}
		return tasks, nil
	}
	r, err := traffic.Solve(ctx, t.Traffic(), policy, traffic.Settings{TruncationTol: 1e-6})
	if err != nil {
		return nil, err
	}
	for _, c := range r.Classes {
		tasks = append(tasks, *c.ServiceRate)
	}
	return tasks, nil
}

// A taskRun is a simulation of fluid-5.
type taskRun struct {
	panel  int
	policy fluid.Policy
	g      int
	run    *plots.Simulation
}

// standingJumps returns the expected numbers of observed and warm-up jumps of a run with static
// jobs.
func standingJumps(e plots.Effort) float64 { return max(1000, e.RareJumps()/4) }

// trafficJobs returns the expected numbers of observed and warm-up jobs of a run in traffic.
func trafficJobs(e plots.Effort) (observed, before float64) {
	return e.RareJumps() / 20, e.RareJumps() / 80
}

// jumpsPerJob returns the number of jumps per job: one for its arrival and one for the end of each
// task.
func (p taskPanel) jumpsPerJob(g int) float64 {
	tasks, _ := jobTasks().Float64()
	return 1 + tasks*float64(g*g)
}

// taskByTask draws tasks and service rates against the size of tasks.
func taskByTask(id, title string) plots.Spec {
	prepare := func(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
		var seen []taskRun
		for k, panel := range taskPanels() {
			for _, policy := range taskPolicies() {
				for _, g := range panel.finenesses(e) {
					t, err := panel.at(ctx, g, policy)
					if err != nil {
						return nil, err
					}
					s := sim.Settings{Jumps: standingJumps(e), WarmUp: standingJumps(e)}
					if panel.traffic {
						observed, before := trafficJobs(e)
						s.Jumps, s.WarmUp = max(1000, observed*panel.jumpsPerJob(g)), before*panel.jumpsPerJob(g)
					}
					run, err := p.Simulate(
						ctx, fmt.Sprintf("%s, %s, g = %d", panel.title(), policyShort(policy), g), t, e, s,
					)
					if err != nil {
						return nil, err
					}
					seen = append(seen, taskRun{k, policy, g, run})
				}
			}
		}
		return func(ctx context.Context, f *plots.Figure) error { return drawTasks(ctx, p, e, f, seen) }, nil
	}
	return plots.Spec{ID: id, Title: title, Prepare: prepare}
}

// tasksSeen estimates the number of tasks that a job of a class runs, counted in tasks of the
// example.
func (r taskRun) tasksSeen(class int) *sim.Estimate {
	v := r.run.Result.Class(class, sim.ServiceRate)
	if v == nil {
		return nil
	}
	one := *v
	for _, x := range []*float64{&one.Mean, &one.HalfWidth, &one.StdError} {
		*x /= float64(r.g)
	}
	return &one
}

func drawTasks(ctx context.Context, p *plots.Plan, e plots.Effort, f *plots.Figure, seen []taskRun) error {
	var idealWords, fineWords []string
	// the coarsest and the finest, by panel and policy
	first, last := make(map[string]taskRun), make(map[string]taskRun)
	ideals := make(map[string][]float64)
	key := func(panel int, policy fluid.Policy) string { return fmt.Sprint(panel, policy) }
	for k, panel := range taskPanels() {
		fine := panel.finenesses(e)
		from, to := 1.0, float64(fine[len(fine)-1])
		x := plots.Axis{Quantity: "tasks smaller by the factor", Symbol: "g", Scale: plots.Log, Min: from / 1.1,
			Max: to * 1.1}
		for g := from; g <= to; g *= 2 {
			x.Ticks = append(x.Ticks, g)
		}
		y := plots.Axis{Quantity: "tasks, in units of the example", Max: 5}
		if panel.traffic {
			y = plots.Axis{Quantity: "mean service rate", Symbol: "γ/g", Unit: "tasks of the example", Max: 2}
		}
		draw := plots.Panel{Title: panel.title(), X: x, Y: y}
		if fine[0] > 1 {
			draw.Regions = []plots.Region{{Label: "unstable at g = 1", From: x.Min, To: 1.2}}
		}
		var words []string
		for class := range 2 {
			group := fmt.Sprintf("job %d", class+1)
			for _, policy := range taskPolicies() {
				ideal, err := panel.ideal(ctx, policy)
				if err != nil {
					return err
				}
				ideals[key(k, policy)] = ideal
				draw.Series = append(draw.Series,
					plots.Series{Label: policyShort(policy) + ", ideal", Group: group, Look: policyLook(policy),
						Thin: true,
						X:    []float64{x.Min, x.Max}, Y: []float64{ideal[class], ideal[class]}})
				line := plots.Series{Label: policyShort(policy), Group: group, Kind: plots.Points,
					Look: policyLook(policy), Bars: true}
				for _, one := range seen {
					if one.panel != k || one.policy != policy {
						continue
					}
					mean, low, high, err := plots.LogInterval(one.tasksSeen(class))
					if err != nil {
						return fmt.Errorf("%s: %w", one.run.Name, err)
					}
					line.X, line.Y, line.Low, line.High = append(line.X, float64(one.g)), append(line.Y,
						mean), append(line.Low, low), append(line.High, high)
					last[key(k, policy)] = one
					if one.g == fine[0] {
						first[key(k, policy)] = one
					}
				}
				draw.Series = append(draw.Series, line)
				if class == 1 && panel.machines == 1 && !panel.wait {
					words = append(words, fmt.Sprintf("(%s, %s) under %s", plots.Short(ideal[0]), plots.Short(ideal[1]),
						policyShort(policy)))
				}
			}
		}
		if len(words) > 0 {
			where := "for permanent jobs "
			if panel.traffic {
				where = "in traffic "
			}
			idealWords = append(idealWords, where+strings.Join(words, " and "))
		}
		fineWords = append(fineWords, plots.Letter(k)+" g = "+ints(fine))
		f.Panels = append(f.Panels, draw)
	}
	observed, before := trafficJobs(e)
	f.OneLegend = true
	e.CheckRuns = e.Runs
	err := texts.Describe(f, map[string]any{
		"Farthest": farthest(last, ideals, key), "Load": rats(taskLoad)[0], "MeanTasks": jobTasks(),
		"Ideals": idealWords, "Fine": fineWords,
		"StandingJumps": standingJumps(e), "Jobs": observed, "JobsBefore": before,
		"Runs": p.RunWords(e, "arrivals and ends of tasks"),
	}, nil)
	if err != nil {
		return err
	}
	if err := taskChecks(ctx, f, seen); err != nil {
		return err
	}
	taskClaims(f, first, last, ideals, key)
	return nil
}

// farthest states how far the smallest tasks are from the ideal, panel by panel.
func farthest(last map[string]taskRun, ideals map[string][]float64,
	key func(int, fluid.Policy) string) (words []string) {
	for k := range taskPanels() {
		off := 0.0
		for _, policy := range taskPolicies() {
			for class, v := range ideals[key(k, policy)] {
				off = max(off, math.Abs(last[key(k, policy)].tasksSeen(class).Mean/v-1))
			}
		}
		words = append(words, fmt.Sprintf("%s %s %% (g = %d)", plots.Letter(k),
			strconv.FormatFloat(100*off, 'g', 2, 64), last[key(k, fluid.PF)].g))
	}
	return words
}

func ints(v []int) string {
	var words []string
	for _, n := range v {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ", ")
}

// taskChecks compares static numbers with the ideal, up to a few tasks, and the running tasks in
// traffic with the arriving work.
func taskChecks(ctx context.Context, f *plots.Figure, seen []taskRun) error {
	for _, one := range seen {
		panel := taskPanels()[one.panel]
		figure := plots.PanelID(f, one.panel)
		if panel.traffic {
			t, err := panel.at(ctx, one.g, one.policy)
			if err != nil {
				return err
			}
			traffic := t.Traffic()
			for class, volume := range traffic.Volume() {
				exact, _ := volume.Float64()
				f.Checks = append(f.Checks, plots.SimulatedCheck(figure,
					fmt.Sprintf("tasks of class %d that run, as λσ over their duration", class+1), exact,
					one.run.Result.Class(class, pool.RunningTasks), one.run.Name))
			}
			continue
		}
		if panel.machines > 1 {
			continue
		}
		ideal, err := panel.ideal(ctx, one.policy)
		if err != nil {
			return err
		}
		for class, v := range ideal {
			tolerance := 1e-9 // for every g, dominant shares of 2/3 are whole numbers of tasks
			if one.policy == fluid.PF {
				tolerance = 3 / (float64(one.g) * v)
			}
			f.Checks = append(f.Checks, plots.SolverCheck(figure,
				fmt.Sprintf("tasks of job %d over g, %s, simulated task by task, g = %d", class+1,
					policyShort(one.policy), one.g), v, one.tasksSeen(class).Mean, tolerance))
		}
	}
	return nil
}

// taskClaims tests the claims of the paper about launching tasks with the finest simulations.
func taskClaims(f *plots.Figure, first, last map[string]taskRun, ideals map[string][]float64,
	key func(int, fluid.Policy) string) {
	for k, panel := range taskPanels() {
		var words []string
		near, closer := true, true
		for _, policy := range taskPolicies() {
			one := last[key(k, policy)]
			for class, v := range ideals[key(k, policy)] {
				e := one.tasksSeen(class)
				words = append(words, fmt.Sprintf("%s, job %d: %s (%s to %s) against %s", policyShort(policy), class+1,
					plots.Short(e.Mean), plots.Short(e.Mean-e.HalfWidth), plots.Short(e.Mean+e.HalfWidth),
					plots.Short(v)))
				off, before := math.Abs(e.Mean/v-1), math.Abs(first[key(k, policy)].tasksSeen(class).Mean/v-1)
				near, closer = near && off <= taskNear, closer && off <= before
			}
		}
		criterion, holds := fmt.Sprintf("With the smallest tasks the numbers are within %g %% of the ideal.",
			100*taskNear), near
		if panel.traffic {
			holds = closer
			criterion = "With the smallest tasks the mean service rates are nearer to the ideal than with the " +
				"largest; " +
				"how near depends on how small they are."
		}
		c := plots.Finding(plots.PanelID(f, k),
			fmt.Sprintf("DRF and PF are realized approximately by launching tasks of the most deprived job (section "+
				"1). %s.", f.Panels[k].Title), criterion,
			fmt.Sprintf("g = %d. ", last[key(k, fluid.PF)].g)+strings.Join(words, "; ")+".", holds)
		f.Claims = append(f.Claims, c)
		if !panel.traffic {
			continue
		}
		pf, drf := last[key(k, fluid.PF)].run.Result.All(sim.MeanDelay), last[key(k,
			fluid.DRF)].run.Result.All(sim.MeanDelay)
		r := overMean(pf, drf, rats(taskLoad)[0])
		f.Claims = append(f.Claims, plots.Claim{
			Place: c.Place,
			Sentence: fmt.Sprintf("PF performs significantly better than DRF, also task by task. %s.",
				f.Panels[k].Title),
			Criterion: "With the smallest tasks the mean delay of all jobs is shorter under PF.",
			Numbers: fmt.Sprintf("g = %d. Mean delay under PF %s ± %s s, under DRF %s ± %s s; ratio %.3g (%.3g to "+
				"%.3g).", last[key(k, fluid.PF)].g, plots.Short(pf.Mean), plots.Short(pf.HalfWidth),
				plots.Short(drf.Mean), plots.Short(drf.HalfWidth), r.Mean, r.Low, r.High),
			Verdict: plots.AtMost(1).Verdict(r), Finding: true,
		})
	}
}

// taskNear is the tolerance for "approximately".
const taskNear = 0.1
