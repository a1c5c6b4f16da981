package l14

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"productform/dispatch"
	"productform/plots"
)

// Parameters of dispatch-1. [L14], section 6.2, states workers, deadline, outage and the 4 initial
// workers; we chose the numbers of tasks, their work, the default and the window.
const (
	failingWorkers = 8
	stayingWorkers = 2
	outageFrom     = 55.0
	outageTo       = 115.0
	jobDeadline    = 240.0

	lightTasks, heavyTasks = 8, 90
	defaultWork            = 9.0
	learntFrom             = 10 // number of tasks
)

// lightWorks and heavyWorks are the amounts of work of tasks, assigned cyclically.
func lightWorks() []float64 { return []float64{1, 3} }
func heavyWorks() []float64 { return []float64{10, 8} }

// allWorks returns the work of every task, and the total.
func allWorks() (works []float64, sum float64) {
	for k := range lightTasks + heavyTasks {
		of, i := lightWorks(), k
		if k >= lightTasks {
			of, i = heavyWorks(), k-lightTasks
		}
		works = append(works, of[i%len(of)])
		sum += of[i%len(of)]
	}
	return works, sum
}

// failingJob returns the scenario with the single job.
func failingJob(outage bool) dispatch.Scenario {
	works, _ := allWorks()
	s := dispatch.Scenario{
		Jobs:     []dispatch.Job{{Deadline: jobDeadline, Priority: 1, Tasks: len(works), Works: works}},
		Speeds:   slices.Repeat([]float64{1}, failingWorkers),
		Policy:   dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept},
		Learning: dispatch.Learning{Default: defaultWork, Window: learntFrom},
	}
	for w := stayingWorkers; outage && w < failingWorkers; w++ {
		s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: outageFrom, To: outageTo})
	}
	return s
}

// A course is the history of one run of a job.
type course struct {
	times            []float64 // times of decisions
	planned, working []float64 // numbers of workers from that time
	finish           float64
	lost             int     // number of tasks
	lostWork         float64 // seconds that workers had spent on them
}

func follow(ctx context.Context, s dispatch.Scenario) (c course, err error) {
	since := make([]float64, len(s.Speeds)) // time at which the worker began its task
	s.Watch = func(d *dispatch.Decision) {
		for _, e := range d.Events {
			switch e.Kind {
			case dispatch.Lost:
				c.lostWork += d.Time - since[e.Worker]
			case dispatch.Started:
				since[e.Worker] = d.Time
			}
		}
		working := 0.0
		for _, j := range d.Hand() {
			if j >= 0 {
				working++
			}
		}
		c.times, c.planned, c.working = append(c.times, d.Time), append(c.planned,
			float64(d.Planned[0])), append(c.working, working)
	}
	r, err := dispatch.Run(ctx, s)
	if err != nil {
		return c, err
	}
	c.finish, c.lost = r.Jobs[0].Finish, r.Lost
	return c, nil
}

// at returns the number of planned workers at the given time.
func (c course) at(t float64) float64 {
	k, found := slices.BinarySearch(c.times, t)
	if !found {
		k--
	}
	return c.planned[k]
}

// spent returns the total time, in seconds, that workers spent on tasks.
func (c course) spent() (sum float64) {
	for k := 1; k < len(c.times); k++ {
		sum += c.working[k-1] * (c.times[k] - c.times[k-1])
	}
	return sum
}

// steepest returns the largest increase of planned workers within the given seconds.
func (c course) steepest(within float64) (most float64) {
	for k, t := range c.times {
		least := c.at(max(0, t-within))
		for i := k; c.times[i] > t-within && i > 0; i-- {
			least = min(least, c.planned[i])
		}
		most = max(most, c.planned[k]-least)
	}
	return most
}

// planRange returns the smallest number of workers planned before the start of the outage, and the
// largest planned later.
func (c course) planRange() (least, most float64) {
	least = math.Inf(1)
	for k, t := range c.times {
		if t < outageFrom {
			least = min(least, c.planned[k])
		} else {
			most = max(most, c.planned[k])
		}
	}
	return least, most
}

// workersOverTime draws the workers of a job over time.
func workersOverTime(ctx context.Context, _ plots.Effort, f *plots.Figure) error {
	normal, err := follow(ctx, failingJob(false))
	if err != nil {
		return err
	}
	failing, err := follow(ctx, failingJob(true))
	if err != nil {
		return err
	}
	x := plots.Axis{Quantity: "time", Unit: "s", Max: 260, Ticks: []float64{0, 60, 120, 180, 240}}
	y := plots.Axis{Quantity: "workers", Max: failingWorkers + 0.5, Ticks: plots.Grid(0, failingWorkers, 1)}
	at := func(c course) []plots.Series {
		return []plots.Series{
			{Label: "active", Kind: plots.Area, Look: 0, X: c.times, Y: c.working},
			{Label: "planned", Kind: plots.Steps, Look: 1, X: c.times, Y: c.planned},
			deadlineLine(),
		}
	}
	before := plots.Series{
		Label: "planned without failures",
		Kind:  plots.Steps,
		Thin:  true,
		Look:  7,
		X:     []float64{outageFrom},
		Y:     []float64{normal.at(outageFrom)},
	} // the runs are identical until then
	for k, t := range normal.times {
		if t > outageFrom {
			before.X, before.Y = append(before.X, t), append(before.Y, normal.planned[k])
		}
	}
	f.OneLegend = true
	f.Panels = []plots.Panel{
		{Title: "Without failures", X: x, Y: y, Series: at(normal)},
		{Title: "With failures", X: x, Y: y, Series: append(at(failing), before), Regions: outageRegion()},
	}
	words := func(c course) courseWords {
		least, most := c.planRange()
		return courseWords{First: c.planned[0], Least: least, Most: most, Finish: c.finish, Lost: c.lost}
	}
	err = texts.Describe(f, map[string]any{
		"Normal": words(normal), "Failing": words(failing), "Workers": failingWorkers, "Staying": stayingWorkers,
		"Down": failingWorkers - stayingWorkers, "From": outageFrom, "To": outageTo, "Deadline": jobDeadline,
		"Tasks": lightTasks + heavyTasks, "LightTasks": lightTasks, "HeavyTasks": heavyTasks,
		"Light": workList(lightWorks()),
		"Heavy": workList(heavyWorks()), "Default": defaultWork, "Learnt": learntFrom,
	}, nil)
	if err != nil {
		return err
	}
	_, sum := allWorks()
	f.Checks = append(f.Checks,
		plots.SolverCheck(f.ID+"a", "seconds of work, without failures, as the area below the active workers", sum,
			normal.spent(), 1e-12),
		plots.SolverCheck(f.ID+"b", "seconds of work, with failures, as the area below the active workers less what "+
			"was lost", sum, failing.spent()-failing.lostWork, 1e-12))
	failureClaims(f, normal, failing)
	return nil
}

// deadlineLine marks the deadline of the job.
func deadlineLine() plots.Series {
	return plots.Series{
		Label: "deadline",
		Kind:  plots.Curve,
		Thin:  true,
		Look:  6,
		X:     []float64{jobDeadline, jobDeadline},
		Y:     []float64{0, failingWorkers},
	}
}

// outageRegion is the time during which workers are down.
func outageRegion() []plots.Region {
	return []plots.Region{
		{Label: fmt.Sprintf("%d down", failingWorkers-stayingWorkers), From: outageFrom, To: outageTo},
	}
}

// courseWords holds the data for texts about a run: planned workers and lost tasks.
type courseWords struct {
	First, Least, Most, Finish float64
	Lost                       int
}

// workList writes the amounts of work of successive tasks.
func workList(works []float64) string {
	var words []string
	for _, w := range works {
		words = append(words, fmt.Sprint(w))
	}
	return strings.Join(words, " and ")
}

func failureClaims(f *plots.Figure, normal, failing course) {
	least, most := normal.planRange()
	f.Claims = append(f.Claims, plots.Finding(f.ID+"a",
		"Without run time information the scheduler uses the default (4 workers); when tasks prove fast it decreases "+
			"the number of workers, later it schedules more (section 6.2, of a workload that is not available).",
		"The plan begins with 4 workers, falls before 55 s, and rises later.",
		fmt.Sprintf("%g workers at the beginning, then %g, later up to %g.", normal.planned[0], least, most),
		normal.planned[0] == 4 && least < 4 && most > least))
	const within = 10
	a, b := normal.steepest(within), failing.steepest(within)
	f.Claims = append(f.Claims, plots.Finding(f.ID+"b",
		"With failures the slope of the worker number change is greater: the system tries harder to catch up the "+
			"deadline (section 6.2).",
		fmt.Sprintf("The plan rises more within %d s with failures than without, and the deadline is met in both runs.",
			within),
		fmt.Sprintf("The largest rise is %g without failures, %g with; the job is done at %g s and %g s.", a, b,
			normal.finish, failing.finish),
		b > a && normal.finish <= jobDeadline && failing.finish <= jobDeadline))
}
