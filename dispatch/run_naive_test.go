package dispatch_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
)

// anAttempt is a task on a worker, in a simulation that stores everything.
type anAttempt struct {
	job, task, worker int
	from, end         float64       // end is the end of the task if it is not interrupted
	fate              dispatch.Kind // "" while running
	until             float64       // time of its fate
}

// aPhase is the time from one decision to the next, with the state during that time.
type aPhase struct {
	from             float64
	present          []int
	planned, running []int // number of workers, by job
}

// slow simulates a scenario from the specification of Run: it keeps only the list of all attempts
// and derives everything else from it at each event.
type slow struct {
	dispatch.Scenario
	attempts []anAttempt
	phases   []aPhase
	finished []int // attempts that finished, in order
}

// atOnce is the largest ratio of times at which events happen together, as Run specifies.
const atOnce = 1 + 1e-12

// simulate returns the time of the last completion, or the error for stranded jobs.
func (s *slow) simulate() (float64, *dispatch.StrandedError) {
	for before := -1.0; ; {
		var times []float64
		for _, j := range s.Jobs {
			times = append(times, j.Submit)
		}
		for _, o := range s.Outages {
			times = append(times, o.From, o.To)
		}
		times = slices.DeleteFunc(times, func(t float64) bool { return t <= before || math.IsInf(t, 1) })
		for _, a := range s.attempts {
			if a.fate == "" {
				times = append(times, a.end)
			}
		}
		if slices.ContainsFunc(
			s.Jobs, func(j dispatch.Job) bool { return j.Submit <= before && s.unfinished(s.place(&j)) > 0 },
		) {
			for k := 1; s.Replan > 0 && len(times) > 0; k++ {
				if at := float64(k) * s.Replan; at > before*atOnce {
					times = append(times, at)
					break
				}
			}
		}
		if len(times) == 0 {
			return 0, s.strands()
		}
		limit := slices.Min(times) * atOnce
		now := slices.Max(slices.DeleteFunc(times, func(t float64) bool { return t > limit }))
		for k := range s.attempts {
			a := &s.attempts[k]
			switch {
			case a.fate != "":
			case a.end <= now:
				a.fate, a.until = dispatch.Finished, now
				s.finished = append(s.finished, k)
			case s.fails(a.worker, before, now):
				a.fate, a.until = dispatch.Lost, now
			}
		}
		s.decide(now)
		before = now
		if !slices.ContainsFunc(s.Jobs, func(j dispatch.Job) bool { return s.unfinished(s.place(&j)) > 0 }) {
			return now, nil
		}
	}
}

// place returns the index of a job, which equals its ID.
func (s *slow) place(j *dispatch.Job) int { return int(j.ID) }

func (s *slow) up(worker int, now float64) bool {
	return !slices.ContainsFunc(s.Outages, func(o dispatch.Outage) bool {
		return o.Worker == worker && o.From <= now && now < o.To
	})
}

// fails reports whether the worker fails after one time and no later than another.
func (s *slow) fails(worker int, after, until float64) bool {
	return slices.ContainsFunc(s.Outages, func(o dispatch.Outage) bool {
		return o.Worker == worker && after < o.From && o.From <= until
	})
}

// count returns the number of attempts at a job with a given fate; task -1 means all tasks.
func (s *slow) count(fate dispatch.Kind, job, task int) int {
	n := 0
	for _, a := range s.attempts {
		if a.fate == fate && a.job == job && (task < 0 || a.task == task) {
			n++
		}
	}
	return n
}

func (s *slow) unfinished(job int) int {
	return s.Jobs[job].Tasks - s.count(dispatch.Finished, job, -1)
}

func taskWork(j *dispatch.Job, task int) float64 {
	if j.Works != nil {
		return j.Works[task]
	}
	return j.Work
}

func speedAt(s *dispatch.Scenario, job, worker int) float64 {
	if own := s.Jobs[job].Speeds; own != nil {
		return own[worker]
	}
	return s.Speeds[worker]
}

// workLeft returns the remaining work of a job as the policy estimates it.
func (s *slow) workLeft(job int) float64 {
	j := &s.Jobs[job]
	if s.Learning.Default > 0 {
		var last []float64
		for _, k := range s.finished {
			if a := s.attempts[k]; a.job == job {
				last = append(last, taskWork(j, a.task))
			}
		}
		if w := s.Learning.Window; w > 0 && len(last) > w {
			last = last[len(last)-w:]
		}
		if len(last) == 0 {
			return s.Learning.Default * float64(s.unfinished(job))
		}
		sum := 0.0
		for _, w := range last {
			sum += w
		}
		return float64(s.unfinished(job)) * (sum / float64(len(last)))
	}
	left := 0.0
	for task := range j.Tasks {
		if s.count(dispatch.Finished, job, task) == 0 {
			left += cmp.Or(j.Estimate, taskWork(j, task))
		}
	}
	return left
}

// decide obtains a plan from the policy, executes it and records the resulting state.
func (s *slow) decide(now float64) {
	var present []int
	for j := range s.Jobs {
		if s.Jobs[j].Submit <= now && s.unfinished(j) > 0 {
			present = append(present, j)
		}
	}
	if len(present) == 0 {
		s.phases = append(s.phases, aPhase{from: now})
		return
	}
	slices.SortStableFunc(present, func(a, b int) int { return cmp.Compare(s.Jobs[a].Submit, s.Jobs[b].Submit) })
	var workers []int
	var speeds []float64
	for w, v := range s.Speeds {
		if s.up(w, now) {
			workers, speeds = append(workers, w), append(speeds, v)
		}
	}
	planned, plan := make([]int, len(s.Jobs)), map[int]int{}
	if len(workers) > 0 {
		var requests []dispatch.Request
		for _, j := range present {
			q := dispatch.Request{
				Priority: s.Jobs[j].Priority, Deadline: s.Jobs[j].Deadline, Tasks: s.unfinished(j), Work: s.workLeft(j),
				MaxWorkers: s.Jobs[j].MaxWorkers,
			}
			if s.Jobs[j].Speeds != nil {
				for _, w := range workers {
					q.Speeds = append(q.Speeds, s.Jobs[j].Speeds[w])
				}
			}
			requests = append(requests, q)
		}
		assigned, err := s.Policy.Assign(requests, speeds, now)
		if err != nil {
			panic(err)
		}
		for k, q := range assigned {
			if q >= 0 {
				plan[workers[k]] = present[q]
				planned[present[q]]++
			}
		}
	}

	// All rules except EDF give each job its first worker in order of priority, and spare workers
	// only afterwards.
	turns := slices.Clone(present)
	slices.SortStableFunc(turns, func(a, b int) int {
		if s.Policy.Rule == dispatch.EDF {
			return cmp.Compare(dueTime(&s.Jobs[a]), dueTime(&s.Jobs[b]))
		}
		return cmp.Compare(s.Jobs[b].Priority, s.Jobs[a].Priority)
	})
	if s.Policy.Rule == dispatch.Deadline || s.Policy.Rule == dispatch.Workload {
		slices.SortStableFunc(workers, func(a, b int) int { return cmp.Compare(s.Speeds[b], s.Speeds[a]) })
	}
	for _, w := range workers {
		if j, ok := plan[w]; ok && s.idle(w) && s.held(j) < planned[j] {
			s.begin(w, j, now)
		}
	}
	for _, j := range turns {
		for _, w := range workers {
			if s.idle(w) && s.held(j) < planned[j] {
				s.begin(w, j, now)
			}
		}
	}
	for s.Emergency != 0 && s.kill(turns, planned, now) {
	}
	p := aPhase{now, present, planned, make([]int, len(s.Jobs))}
	for j := range s.Jobs {
		p.running[j] = s.held(j)
	}
	s.phases = append(s.phases, p)
}

// kill replaces one task of another job by a task of an emergency.
func (s *slow) kill(turns, planned []int, now float64) bool {
	for _, j := range turns {
		if s.Jobs[j].Priority < s.Emergency || s.held(j) >= planned[j] {
			continue
		}
		var victims []int
		for k, a := range s.attempts {
			if a.fate == "" && s.Jobs[a.job].Priority < s.Emergency && s.held(a.job) > planned[a.job] {
				victims = append(victims, k)
			}
		}
		if len(victims) == 0 {
			continue
		}
		k := slices.MinFunc(victims, func(k, l int) int {
			a, b := s.attempts[k], s.attempts[l]
			return cmp.Or(cmp.Compare(s.Jobs[a.job].Priority, s.Jobs[b.job].Priority), cmp.Compare(b.from, a.from),
				cmp.Compare(b.worker, a.worker))
		})
		s.attempts[k].fate, s.attempts[k].until = dispatch.Preempted, now
		s.begin(s.attempts[k].worker, j, now)
		return true
	}
	return false
}

func dueTime(j *dispatch.Job) float64 {
	if j.Deadline == 0 {
		return math.Inf(1)
	}
	return j.Deadline
}

func (s *slow) held(job int) int { return s.count("", job, -1) }

func (s *slow) idle(worker int) bool {
	return !slices.ContainsFunc(s.attempts, func(a anAttempt) bool { return a.worker == worker && a.fate == "" })
}

// begin starts the first task of the job that is neither finished nor running.
func (s *slow) begin(worker, job int, now float64) {
	task := 0
	for s.count(dispatch.Finished, job, task)+s.count("", job, task) > 0 {
		task++
	}
	s.attempts = append(s.attempts, anAttempt{
		job: job, task: task, worker: worker, from: now,
		end: now + taskWork(&s.Jobs[job], task)/speedAt(&s.Scenario, job, worker),
	})
}

// strands describes the jobs that never finish.
func (s *slow) strands() *dispatch.StrandedError {
	e := &dispatch.StrandedError{Job: -1}
	for j := range s.Jobs {
		if s.unfinished(j) > 0 {
			if e.Job < 0 {
				e.Job = j
			}
			e.Jobs++
		}
	}
	for w := range s.Speeds { // the last time at which a worker leaves permanently
		for _, o := range s.Outages {
			if o.Worker == w && math.IsInf(o.To, 1) {
				e.Time = max(e.Time, o.From)
			}
		}
	}
	return e
}

// result measures the attempts and phases of a simulation that ended at time end.
func (s *slow) result(end float64) *dispatch.Result {
	r := &dispatch.Result{}
	first := s.Jobs[0].Submit
	var waits, responses, slowdowns []float64
	for i, j := range s.Jobs {
		first = min(first, j.Submit)
		rec := dispatch.Record{
			Job:   i,
			Start: math.Inf(1),
			Lost:  s.count(dispatch.Lost, i, -1) + s.count(dispatch.Preempted, i, -1),
		}
		for _, a := range s.attempts {
			if a.job == i {
				rec.Start, rec.Finish = min(rec.Start, a.from), max(rec.Finish, a.until)
			}
		}
		rec.Delay = rec.Finish - j.Submit
		if j.Deadline > 0 && rec.Finish-j.Deadline > 1e-9*rec.Finish {
			rec.Missed = rec.Finish - j.Deadline
			r.Missed++
		}
		r.DeadlineMissPenalty += j.Priority * rec.Missed
		work, longest, speeds := 0.0, 0.0, 0.0
		for w := range s.Speeds {
			speeds += speedAt(&s.Scenario, i, w)
		}
		for task := range j.Tasks {
			shortest := math.Inf(1)
			for w := range s.Speeds {
				shortest = min(shortest, taskWork(&j, task)/speedAt(&s.Scenario, i, w))
			}
			work, longest = work+taskWork(&j, task), max(longest, shortest)
		}
		if work > 0 {
			rec.Slowdown = rec.Delay / max(longest, work/speeds)
			slowdowns = append(slowdowns, rec.Slowdown)
		}
		waits, responses = append(waits, rec.Start-j.Submit), append(responses, rec.Delay)
		r.Tasks += j.Tasks
		r.Lost += rec.Lost
		r.Jobs = append(r.Jobs, rec)
	}
	r.Makespan = end - first
	r.Waiting, r.Delay, r.Slowdown = spreadOf(waits), spreadOf(responses), spreadOf(slowdowns)

	var seconds float64
	for k, p := range s.phases {
		if len(p.present) == 0 {
			continue
		}
		then := end
		if k+1 < len(s.phases) {
			then = s.phases[k+1].from
		}
		byPlan, byTasks := s.violatedPart(p.present, p.planned), s.violatedPart(p.present, p.running)
		seconds += then - p.from
		r.PriorityViolationRate += byPlan * (then - p.from)
		r.RunningViolationRate += byTasks * (then - p.from)
		r.DecisionViolationRate += byPlan
		r.Decisions++
	}
	if seconds > 0 {
		r.PriorityViolationRate /= seconds
		r.RunningViolationRate /= seconds
	}
	r.DecisionViolationRate /= float64(r.Decisions)

	capacity := float64(len(s.Speeds)) * (end - first)
	for _, o := range s.Outages {
		capacity -= max(0, min(o.To, end)-max(o.From, first))
	}
	if capacity > 0 {
		for _, a := range s.attempts {
			if a.fate == dispatch.Finished {
				r.Utilization += (a.until - a.from) / capacity
			} else {
				r.Wasted += (a.until - a.from) / capacity
			}
		}
	}
	return r
}

// violatedPart compares all pairs of jobs.
func (s *slow) violatedPart(present, workers []int) float64 {
	n := 0
	for _, j := range present {
		if workers[j] == 0 && slices.ContainsFunc(present, func(i int) bool {
			return workers[i] > 0 && s.Jobs[i].Priority < s.Jobs[j].Priority
		}) {
			n++
		}
	}
	return float64(n) / float64(len(present))
}

func spreadOf(values []float64) dispatch.Spread {
	if len(values) == 0 {
		return dispatch.Spread{}
	}
	s := dispatch.Spread{Count: len(values), Max: slices.Max(values)}
	for _, v := range values {
		s.Mean += v / float64(len(values))
	}
	quantile := func(percent int) float64 {
		best := math.Inf(1)
		for _, v := range values {
			n := 0
			for _, u := range values {
				if u <= v {
					n++
				}
			}
			if 100*n >= percent*len(values) {
				best = min(best, v)
			}
		}
		return best
	}
	s.P50, s.P95, s.P99 = quantile(50), quantile(95), quantile(99)
	return s
}

// randomScenario draws a scenario with many simultaneous events; pick(n) draws an integer in [0,
// n).
func randomScenario(rule dispatch.Rule, spare dispatch.Spare, pick func(n int) int) dispatch.Scenario {
	list := func(values ...float64) float64 { return values[pick(len(values))] }
	draw := func(n int, values ...float64) []float64 {
		vs := make([]float64, n)
		for i := range vs {
			vs[i] = list(values...)
		}
		return vs
	}
	s := dispatch.Scenario{
		Speeds: draw(1+pick(5), 1, 1, 2, 0.5, 3),
		Policy: dispatch.Policy{Rule: rule, Spare: spare, Reserve: list(0, 0.25, 0.5, 1), Horizon: list(0, 2, 5)},
	}
	if pick(3) == 0 {
		s.Learning = dispatch.Learning{Default: list(0.5, 2, 5), Window: pick(4)}
	}
	if pick(3) == 0 {
		s.Emergency = list(2, 3)
	}
	if pick(4) == 0 {
		s.Replan = list(0.75, 1, 2.5)
	}
	for i := range 1 + pick(6) {
		j := dispatch.Job{ID: int64(i), Submit: float64(pick(12)), Priority: float64(pick(4)), Tasks: 1 + pick(5)}
		if pick(4) > 0 {
			j.Deadline = j.Submit + float64(1+pick(12))
		}
		j.MaxWorkers = max(0, pick(6)-2)
		switch pick(3) {
		case 0:
			j.Works = draw(j.Tasks, 0, 1, 2, 3, 6)
		default:
			j.Work = list(0, 1, 1, 2, 4)
		}
		if pick(4) == 0 {
			j.Estimate = list(1, 3, 8)
		}
		if pick(4) == 0 {
			j.Speeds = draw(len(s.Speeds), 0.5, 1, 2, 4)
		}
		s.Jobs = append(s.Jobs, j)
	}
	if pick(2) == 0 {
		everyone := pick(4) == 0 // whether all workers fail at the same times
		for w := range s.Speeds {
			for at := pick(8); pick(3) > 0 || everyone && at < 8; {
				to := at + 1 + pick(6)
				o := dispatch.Outage{Worker: w, From: float64(at), To: float64(to)}
				if everyone {
					o.From, o.To = 8, 11
				} else if pick(12) == 0 {
					o.To = math.Inf(1)
				}
				s.Outages = append(s.Outages, o)
				if everyone || math.IsInf(o.To, 1) {
					break
				}
				at = to + pick(3)
			}
		}
		if everyone && pick(4) == 0 {
			for k := range s.Outages {
				s.Outages[k].To = math.Inf(1)
			}
		}
	}
	return s
}

// inUnit returns the scenario with all its times multiplied.
func inUnit(s dispatch.Scenario, unit float64) dispatch.Scenario {
	s.Policy.Horizon = unit * cmp.Or(s.Policy.Horizon, 1)
	s.Learning.Default *= unit
	s.Replan *= unit
	s.Jobs, s.Outages = slices.Clone(s.Jobs), slices.Clone(s.Outages)
	for i := range s.Jobs {
		j := &s.Jobs[i]
		j.Submit *= unit
		j.Deadline *= unit
		j.Work *= unit
		j.Estimate *= unit
		j.Works = slices.Clone(j.Works)
		for k := range j.Works {
			j.Works[k] *= unit
		}
	}
	for k := range s.Outages {
		s.Outages[k].From *= unit
		s.Outages[k].To *= unit
	}
	return s
}

// closeTo allows for sums in another order, of at most a few hundred terms with relative errors of
// 2^-53.
func closeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b)) }

func closeSpreads(a, b dispatch.Spread) bool {
	mean := closeTo(a.Mean, b.Mean)
	a.Mean, b.Mean = 0, 0
	return mean && a == b
}

// sameResult returns an error if results differ: records and counts must be equal, averages as in
// closeTo.
func sameResult(a, b *dispatch.Result) error {
	for i := range a.Jobs {
		x, y := a.Jobs[i], b.Jobs[i]
		ok := closeTo(x.Slowdown, y.Slowdown)
		x.Slowdown, y.Slowdown = 0, 0
		if !ok || x != y {
			return fmt.Errorf("job %d: %+v, want %+v", i, a.Jobs[i], b.Jobs[i])
		}
	}
	switch {
	case len(a.Jobs) != len(b.Jobs), a.Missed != b.Missed, a.Decisions != b.Decisions, a.Tasks != b.Tasks,
		a.Lost != b.Lost,
		a.Makespan != b.Makespan, !closeTo(a.PriorityViolationRate, b.PriorityViolationRate),
		!closeTo(a.DecisionViolationRate, b.DecisionViolationRate),
		!closeTo(a.RunningViolationRate, b.RunningViolationRate),
		!closeTo(a.DeadlineMissPenalty, b.DeadlineMissPenalty), !closeTo(a.Utilization, b.Utilization),
		!closeTo(a.Wasted, b.Wasted), !closeSpreads(a.Waiting, b.Waiting), !closeSpreads(a.Delay, b.Delay),
		a.Slowdown.Count != b.Slowdown.Count,
		!closeTo(a.Slowdown.Mean, b.Slowdown.Mean), !closeTo(a.Slowdown.P50, b.Slowdown.P50),
		!closeTo(a.Slowdown.P95, b.Slowdown.P95), !closeTo(a.Slowdown.P99, b.Slowdown.P99),
		!closeTo(a.Slowdown.Max, b.Slowdown.Max):
		return fmt.Errorf("%+v\nwant %+v", a, b)
	}
	return nil
}

// compareWithSlow compares Run with the slow simulation: all starts and finishes, and all measures.
func compareWithSlow(t interface{ Fatalf(string, ...any) }, s dispatch.Scenario) {
	var starts, finishes, wanted, wantedFinishes []string
	s.Watch = func(d *dispatch.Decision) {
		for _, e := range d.Events {
			switch e.Kind {
			case dispatch.Started:
				starts = append(starts, fmt.Sprint(d.Time, e.Job, e.Task, e.Worker))
			case dispatch.Finished:
				finishes = append(finishes, fmt.Sprint(d.Time, e.Job, e.Task, e.Worker))
			}
		}
	}
	got, err := dispatch.Run(context.Background(), s)
	sim := slow{Scenario: s}
	end, stranded := sim.simulate()
	for _, a := range sim.attempts {
		wanted = append(wanted, fmt.Sprint(a.from, a.job, a.task, a.worker))
	}
	for _, k := range sim.finished {
		a := sim.attempts[k]
		wantedFinishes = append(wantedFinishes, fmt.Sprint(a.until, a.job, a.task, a.worker))
	}
	if stranded == nil && err == nil {
		if err := sameResult(got, sim.result(end)); err != nil {
			t.Fatalf("%v\nscenario %+v", err, s)
		}
	} else if e := (*dispatch.StrandedError)(nil); stranded == nil || !errors.As(err, &e) ||
		*e != *stranded || got != nil {
		t.Fatalf("%v, error %v, want error %v\nscenario %+v", got, err, stranded, s)
	}
	if !slices.Equal(starts, wanted) {
		t.Fatalf("time, job, task, worker of tasks started: %q, want %q\nscenario %+v", starts, wanted, s)
	}
	if !slices.Equal(finishes, wantedFinishes) {
		t.Fatalf("time, job, task, worker of tasks finished: %q, want %q\nscenario %+v", finishes, wantedFinishes, s)
	}
}

// Run matches the slow simulation for each rule and use of spare workers, on small random scenarios
// that shrink, and on many that do not. In units in which most times are rounded, many times differ
// only by rounding.
func TestRunMatchesSlow(t *testing.T) {
	for _, rule := range dispatch.AllRules() {
		for _, spare := range []dispatch.Spare{"", dispatch.SpareByDeadline, dispatch.SpareKept} {
			t.Run(fmt.Sprintf("rule=%s/spare=%s", rule, spare), func(t *testing.T) {
				t.Parallel()
				units := []float64{1, 0.1, 0.001, 1. / 3}
				rapid.Check(t, func(t *rapid.T) {
					pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
					compareWithSlow(t, inUnit(randomScenario(rule, spare, pick), units[pick(len(units))]))
				})
				random := rand.New(rand.NewPCG(1, 2))
				for n := range 600 {
					compareWithSlow(t, inUnit(randomScenario(rule, spare, random.IntN), units[n%len(units)]))
				}
			})
		}
	}
}
