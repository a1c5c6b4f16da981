package l14

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"productform/dispatch"
	"productform/plots"
)

// FailingJob returns the scenario of dispatch-1 with failures, which the live system runs for
// dispatch-9.
func FailingJob() dispatch.Scenario { return failingJob(true) }

// A Kill terminates a process of the live system with the signal KILL. The process restarts
// immediately.
type Kill struct {
	At     float64 // in seconds: after the decisions at this time of [FailingJob]
	What   Killed
	Worker int // number of the worker, if it is a worker
}

// Killed is a kind of process that is killed.
type Killed string

// The kinds of processes that are killed.
const (
	KilledWorker  Killed = "worker"
	KilledManager Killed = "manager"
	KilledServer  Killed = "server"
)

// Kills returns the processes that a test of the live system kills while it runs [FailingJob],
// earliest first: before the outage, during it and after it. A killed worker is running a task.
func Kills() []Kill {
	return []Kill{
		{11, KilledWorker, 0},
		{29, KilledServer, 0},
		{65, KilledWorker, 1},
		{81, KilledManager, 0},
		{115, KilledWorker, 4}, // just as it returns
		{145, KilledServer, 0}, // together with its manager
		{145, KilledManager, 0},
		{169, KilledWorker, 2},
	}
}

// liveRecord holds the events of FailingJob, run by the live system on its logical clock. The
// first line states its origin.
//
//go:embed records/failing-job.csv
var liveRecord []byte

// A moment holds the events at one time.
type moment struct {
	at     float64
	events []dispatch.Event
}

// recordColumns returns the columns of a record.
func recordColumns() []string { return []string{"time", "kind", "job", "task", "worker", "attempt"} }

// readRecord reads the events of a run, one per line, in order.
func readRecord(text []byte) (moments []moment, err error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], recordColumns()) {
		return nil, fmt.Errorf("the columns of the record are not %v", recordColumns())
	}
	for _, row := range rows[1:] {
		at, err := strconv.ParseFloat(row[0], 64)
		if err != nil {
			return nil, err
		}
		e := dispatch.Event{Kind: dispatch.Kind(row[1])}
		for k, to := range []*int{&e.Job, &e.Task, &e.Worker, &e.Attempt} {
			if *to, err = strconv.Atoi(row[2+k]); err != nil {
				return nil, err
			}
		}
		if last := len(moments) - 1; last < 0 || moments[last].at != at {
			moments = append(moments, moment{at: at})
		}
		m := &moments[len(moments)-1]
		m.events = append(m.events, e)
	}
	return moments, nil
}

// simulated returns the moments with events of a simulated run, and its result.
func simulated(ctx context.Context, s dispatch.Scenario) (moments []moment, r *dispatch.Result, err error) {
	s.Watch = func(d *dispatch.Decision) {
		if len(d.Events) > 0 {
			moments = append(moments, moment{d.Time, slices.Clone(d.Events)})
		}
	}
	r, err = dispatch.Run(ctx, s)
	return moments, r, err
}

// runningTasks counts the running tasks after each moment, and the lost work.
func runningTasks(moments []moment) (times, working []float64, lost float64) {
	held, since := 0.0, map[int]float64{}
	for _, m := range moments {
		for _, e := range m.events {
			switch e.Kind {
			case dispatch.Started:
				held++
				since[e.Attempt] = m.at
			case dispatch.Lost:
				held--
				lost += m.at - since[e.Attempt]
			case dispatch.Finished:
				held--
			}
		}
		times, working = append(times, m.at), append(working, held)
	}
	return times, working, lost
}

// countAgreeing counts the events, and those that agree in both runs in position, kind, numbers and
// time.
func countAgreeing(a, b []moment) (events, alike int) {
	for k, m := range a {
		events += len(m.events)
		if k >= len(b) || b[k].at != m.at {
			continue
		}
		for i, e := range m.events {
			if i < len(b[k].events) && b[k].events[i] == e {
				alike++
			}
		}
	}
	return events, alike
}

// stepAt returns the height of a step function at the given time.
func stepAt(times, heights []float64, at float64) float64 {
	k, found := slices.BinarySearch(times, at)
	if !found {
		k--
	}
	return heights[k]
}

// liveJob draws the workers of a job in the live system and in the simulation.
func liveJob(ctx context.Context, _ plots.Effort, f *plots.Figure) error {
	want, result, err := simulated(ctx, FailingJob())
	if err != nil {
		return err
	}
	got, err := readRecord(liveRecord)
	if err != nil {
		return fmt.Errorf("%s: the record: %w", f.ID, err)
	}
	times, working, _ := runningTasks(want)
	liveTimes, liveWorking, lost := runningTasks(got)
	x := plots.Axis{Quantity: "time", Unit: "s", Max: 260, Ticks: []float64{0, 60, 120, 180, 240}}
	y := plots.Axis{Quantity: "active workers", Max: failingWorkers + 0.5, Ticks: plots.Grid(0, failingWorkers, 1)}
	f.OneLegend = true
	f.Panels = []plots.Panel{
		{Title: "Live and simulated", X: x, Y: y, Regions: outageRegion(), Series: []plots.Series{
			{Label: "simulated", Kind: plots.Area, Look: 0, X: times, Y: working},
			{Label: "live", Kind: plots.Steps, Look: 1, X: liveTimes, Y: liveWorking},
			deadlineLine(),
		}},
		{
			Title:   "Processes killed in a second run",
			X:       x,
			Y:       killAxis(),
			Regions: outageRegion(),
			Series:  killMarks(),
		},
	}
	events, alike := countAgreeing(want, got)
	recorded, _ := countAgreeing(got, want)
	finish, area := got[len(got)-1].at, 0.0
	for k := 1; k < len(liveTimes); k++ {
		area += liveWorking[k-1] * (liveTimes[k] - liveTimes[k-1])
	}
	_, sum := allWorks()
	f.Checks = append(f.Checks,
		plots.SolverCheck(
			f.ID, "events simulated, as those of the live run that are the same, with their times, to the last digit",
			float64(events), float64(alike), 0,
		),
		plots.SolverCheck(f.ID, "events simulated, as those of the live run", float64(events), float64(recorded), 0),
		plots.SolverCheck(f.ID, "end of the job, simulated and live", result.Jobs[0].Finish, finish, 0),
		plots.SolverCheck(
			f.ID, "seconds of work, as the area below the live curve less what was lost", sum, area-lost, 1e-12,
		))
	back := stepAt(liveTimes, liveWorking, outageTo)
	verdicts := plots.Verdicts{}
	verdicts.Decide("catches", back > liveWorking[0] && finish <= jobDeadline)
	return texts.Describe(f, map[string]any{
		"Events": events, "Moments": len(got), "Same": alike == events && recorded == events,
		"Finish": finish, "Begin": liveWorking[0],
		"Left": stepAt(liveTimes, liveWorking, outageFrom), "Back": back, "Most": slices.Max(liveWorking),
		"Kills": len(Kills()), "Killed": countKills(), "Workers": failingWorkers,
		"Down": failingWorkers - stayingWorkers,
		"From": outageFrom, "To": outageTo, "Deadline": jobDeadline, "Tasks": lightTasks + heavyTasks,
		"LightTasks": lightTasks,
		"HeavyTasks": heavyTasks, "Light": workList(lightWorks()), "Heavy": workList(heavyWorks()),
		"Default": defaultWork,
		"Learnt":  learntFrom,
	}, verdicts)
}

// killAxis has a lane for each kind of process.
func killAxis() plots.Axis {
	return plots.Axis{
		Quantity:   "process",
		Categories: []string{string(KilledWorker), string(KilledManager), string(KilledServer)},
	}
}

// killMarks returns marks, in their lanes, at the times when processes are killed.
func killMarks() (marks []plots.Series) {
	for k, what := range killAxis().Categories {
		s := plots.Series{Label: what, Group: "killed", Kind: plots.Points, Look: 7}
		for _, kill := range Kills() {
			if string(kill.What) == what {
				s.X, s.Y = append(s.X, kill.At), append(s.Y, float64(k+1))
			}
		}
		marks = append(marks, s)
	}
	return marks
}

// countKills returns the number of kills of each kind of process.
func countKills() map[string]int {
	n := map[string]int{}
	for _, kill := range Kills() {
		n[string(kill.What)]++
	}
	return n
}
