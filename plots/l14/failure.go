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

// What dispatch-1 runs. [L14], section 6.2, states workers, deadline, outage and the 4 workers at the beginning;
// numbers of tasks, their works, the default and the window are ours.
const (
	failingWorkers = 8
	stayingWorkers = 2
	outageFrom     = 55.0
	outageTo       = 115.0
	jobDeadline    = 240.0

	lightTasks, heavyTasks = 8, 90
	defaultWork            = 9.0
	learntFrom             = 10 // tasks
)

// lightWorks and heavyWorks are the works of tasks, which take them in turn.
func lightWorks() []float64 { return []float64{1, 3} }
func heavyWorks() []float64 { return []float64{10, 8} }

// allWorks returns the works of all tasks, and their sum.
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

// failingJob returns the run of the one job.
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

// A course is what one run of a job does over time.
type course struct {
	times            []float64 // of decisions
	planned, working []float64 // workers from then on
	finish           float64
	lost             int     // tasks
	lostWork         float64 // seconds that workers had spent on them
}

func follow(ctx context.Context, s dispatch.Scenario) (c course, err error) {
	since := make([]float64, len(s.Speeds)) // the worker began its task
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
		for _, j := range d.Hand {
			if j >= 0 {
				working++
			}
		}
		c.times, c.planned, c.working = append(c.times, d.Time), append(c.planned, float64(d.Planned[0])), append(c.working, working)
	}
	r, err := dispatch.Run(ctx, s)
	if err != nil {
		return c, err
	}
	c.finish, c.lost = r.Jobs[0].Finish, r.Lost
	return c, nil
}

// at returns the workers planned at a time.
func (c course) at(t float64) float64 {
	k, found := slices.BinarySearch(c.times, t)
	if !found {
		k--
	}
	return c.planned[k]
}

// spent returns the seconds that workers had a task in hand.
func (c course) spent() (sum float64) {
	for k := 1; k < len(c.times); k++ {
		sum += c.working[k-1] * (c.times[k] - c.times[k-1])
	}
	return sum
}

// steepest returns the most by which the workers planned rise within so many seconds.
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

// turns returns the least number of workers planned before the outage would begin, and the most planned later on.
func (c course) turns() (least, most float64) {
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
	due := plots.Series{Label: "deadline", Kind: plots.Curve, Thin: true, Look: 6, X: []float64{jobDeadline, jobDeadline}, Y: []float64{0, failingWorkers}}
	down := plots.Series{Label: fmt.Sprintf("%d workers down", failingWorkers-stayingWorkers), Kind: plots.Band, Look: 5, X: []float64{outageFrom, outageTo},
		Low: []float64{0, 0}, High: []float64{failingWorkers, failingWorkers}}
	at := func(c course) []plots.Series {
		return []plots.Series{
			{Label: "at work", Kind: plots.Steps, Look: 0, X: c.times, Y: c.working},
			{Label: "planned", Kind: plots.Steps, Thin: true, Look: 4, X: c.times, Y: c.planned},
		}
	}
	before := plots.Series{Label: "planned without failures", Kind: plots.Steps, Thin: true, Look: 7, X: normal.times, Y: normal.planned}
	f.OneLegend = true
	f.Panels = []plots.Panel{
		{Title: "Without failures", X: x, Y: y, Series: append(at(normal), due)},
		{Title: "With failures", X: x, Y: y, Series: append(append([]plots.Series{down, before}, at(failing)...), due)},
	}
	least, most := normal.turns()
	_, mostFailing := failing.turns()
	f.Caption = fmt.Sprintf("Workers of one job over time under the deadline policy, (a) without and (b) with failures. The plan begins with %g workers, goes down to %g as tasks prove light, and up to %g as they prove heavier; the job is done at %g s, %s. ",
		normal.planned[0], least, most, normal.finish, inTime(normal.finish)) +
		fmt.Sprintf("With failures, %d are left from %g s to %g s and what is in hand on the others is lost (tasks: %d); then the plan rises to %g, more steeply, and the job is done at %g s, %s. ", stayingWorkers, outageFrom, outageTo, failing.lost, mostFailing, failing.finish, inTime(failing.finish)) +
		fmt.Sprintf("%d workers of speed 1, of which %d are down from %g s to %g s (shaded) in (b); a job of %d tasks, submitted at 0 with its deadline at %g s, its first %d tasks of %s s in turn, then %d of %s s in turn. ",
			failingWorkers, failingWorkers-stayingWorkers, outageFrom, outageTo, lightTasks+heavyTasks, jobDeadline, lightTasks, inTurn(lightWorks()), heavyTasks, inTurn(heavyWorks())) +
		fmt.Sprintf("The policy does not know these: it takes a task for %g s until the first has finished, then for the mean of the last %d. It plans as many workers as would finish what is left by the deadline, were it divisible; spare workers are kept for other jobs. A task that is lost is run again from its beginning; one in hand is finished where it is, so that more workers may be at work than planned. The lines meet where both are equal. ", defaultWork, learntFrom) +
		afterLin + "Figure 6.1; numbers and works of tasks, the default and the number of tasks in the mean are ours."
	f.Parameters = []plots.Parameter{
		{Name: "workers", Value: fmt.Sprintf("%d of speed 1", failingWorkers)},
		{Name: "outage", Value: fmt.Sprintf("%d workers, from %g s to %g s", failingWorkers-stayingWorkers, outageFrom, outageTo)},
		{Name: "job", Value: fmt.Sprintf("%d tasks of %s s in turn, then %d of %s s; submitted at 0, deadline %g s", lightTasks, inTurn(lightWorks()), heavyTasks, inTurn(heavyWorks()), jobDeadline)},
		{Name: "policy", Value: "deadline, spare workers kept"},
		{Name: "estimate", Value: fmt.Sprintf("%g s a task by default, then the mean of the last %d tasks to finish", defaultWork, learntFrom)},
	}
	_, sum := allWorks()
	f.Checks = append(f.Checks,
		plots.SolverCheck(f.ID+"a", "seconds of work, without failures, as the area below the workers at work", sum, normal.spent(), 1e-12),
		plots.SolverCheck(f.ID+"b", "seconds of work, with failures, as the area below the workers at work less what was lost", sum, failing.spent()-failing.lostWork, 1e-12))
	failureClaims(f, normal, failing)
	return nil
}

// inTurn writes works that tasks have one after the other.
func inTurn(works []float64) string {
	var words []string
	for _, w := range works {
		words = append(words, fmt.Sprint(w))
	}
	return strings.Join(words, " and ")
}

func inTime(finish float64) string {
	if finish <= jobDeadline {
		return "in time"
	}
	return "too late"
}

func failureClaims(f *plots.Figure, normal, failing course) {
	least, most := normal.turns()
	f.Claims = append(f.Claims, plots.Finding(f.ID+"a", "Without run time information the scheduler uses the default (4 workers); when tasks prove fast it decreases the number of workers, later it schedules more (section 6.2, of a workload that is not at hand).",
		"The plan begins with 4 workers, falls before 55 s, and rises later.", fmt.Sprintf("%g workers at the beginning, then %g, later up to %g.", normal.planned[0], least, most),
		normal.planned[0] == 4 && least < 4 && most > least))
	const within = 10
	a, b := normal.steepest(within), failing.steepest(within)
	f.Claims = append(f.Claims, plots.Finding(f.ID+"b", "With failures the slope of the worker number change is greater: the system tries harder to catch up the deadline (section 6.2).",
		fmt.Sprintf("The plan rises more within %d s with failures than without, and the deadline is met in both runs.", within),
		fmt.Sprintf("The largest rise is %g without failures, %g with; the job is done at %g s and %g s.", a, b, normal.finish, failing.finish),
		b > a && normal.finish <= jobDeadline && failing.finish <= jobDeadline))
}
