package dispatch

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"

	"productform/internal/input"
	"productform/num"
)

// A Result is the outcome of a run, or of everything that a [Maker] has processed so far. The live
// system sends it under its field names; command output uses the names in the tags.
type Result struct {
	Jobs []Record `name:"-"` // in the order of Scenario.Jobs

	// PriorityViolationRate is the measure of [L14], section 6.3.2: the fraction of the jobs
	// present for which no worker is planned although one is planned for a job of lower priority,
	// averaged over the time during which jobs are present.
	//
	// DecisionViolationRate is the average of the same fraction over the decisions with jobs
	// present, each counted once.
	//
	// RunningViolationRate is also a time average, with running tasks instead of planned workers: a
	// job that waits for tasks of lower-priority jobs to end is violated.
	//
	// All three are 0 if there is nothing to average over.
	PriorityViolationRate float64 `name:"average_priority_violation_rate" unit:"of jobs"`
	DecisionViolationRate float64 `name:"decision_violation_rate" unit:"of jobs"`
	RunningViolationRate  float64 `name:"running_violation_rate" unit:"of jobs"`

	DeadlineMissPenalty float64 `name:"deadline_miss_penalty" unit:"priority s"` // Σ_j P_j M_j, M_j = Record.Missed
	Missed              int     `name:"missed" unit:"jobs"`                      // jobs with M_j > 0
	Makespan            float64 `name:"makespan" unit:"s"`                       // first submission to last completion

	Delay    Spread `name:"delay" unit:"s"`    // spread of Record.Delay
	Slowdown Spread `name:"slowdown" unit:"-"` // spread of Record.Slowdown over jobs with work; tiny jobs may dominate

	// Utilization is the fraction of the time of workers that are up that is spent on tasks that
	// finish, from the first submission to the last completion. Wasted is the fraction spent on
	// tasks that are lost. Both are 0 if no time passes. Time is measured between the moments of
	// [Run]. Because of rounding their sum may exceed 1 by less than 1e-15.
	Utilization float64 `name:"utilization" unit:"of time"`
	Wasted      float64 `name:"wasted" unit:"of time"`

	// tasks lost to outages and emergencies; a task may be lost repeatedly
	Lost      int `name:"lost" unit:"tasks"`
	Decisions int `name:"decisions" unit:"plans"` // decisions with jobs present

	Waiting Spread `name:"waiting" unit:"s"` // spread of the time from the submission to Record.Start

	Tasks int `name:"-"` // number of finished tasks
}

// A Record is the outcome of a job.
type Record struct {
	Job           int     // index in Scenario.Jobs
	Start, Finish float64 // start of its first task and finish of its last one
	Delay         float64 // Finish - submission, in seconds

	// Missed is M_j, the seconds from the deadline to the finish. It is 0 if the job is on time,
	// has no deadline, or is late by at most 1e-9 of the clock time, which rounding in sums of
	// millions of terms may cause.
	Missed float64

	// Slowdown is T / max(Σ_k w_k / Σ_s v_s, max_k w_k / max_s v_s) for a delay T, tasks of work
	// w_k and workers of speed v_s at these tasks, where outages are ignored; it is 0 for a job
	// without work. The divisor is a lower bound on the time that the job takes alone. Since tasks
	// cannot be split, the job may take longer even alone: less than twice as long on equal
	// workers, but many times as long on unequal ones. So a job that never waits may have a
	// slowdown above 1.
	Slowdown float64

	Lost    int // losses of running tasks
	GivenUp int // tasks that ended without a result; 0 in a run
}

// lateTol is the fraction of its finish time by which a job may be late and still count as on time.
const lateTol = 1e-9

// Missed returns M_j, the seconds > 0 from the deadline of the job to the given finish time. It
// returns 0 if the job is on time, has no deadline, or is late by at most 1e-9 of the clock time,
// which rounding in sums of millions of terms may cause.
func (j *Job) Missed(finish float64) float64 {
	if late := finish - j.Deadline; j.Deadline > 0 && late > lateTol*finish {
		return late
	}
	return 0
}

// A Spread summarizes a list of values. It is zero if the list is empty.
type Spread struct {
	Count int     `name:"-"`    // number of values
	Mean  float64 `name:"mean"` // mean of all values

	// P50 is the smallest value that is not exceeded by at least 50 percent of all values. P95 and
	// P99 are defined likewise.
	P50 float64 `name:"p50"`
	P95 float64 `name:"p95"`
	P99 float64 `name:"p99"`

	Max float64 `name:"max"` // the largest value
}

// A Decision is passed to [Scenario.Watch]. It is valid only during the call.
type Decision struct {
	Time    float64 // in seconds
	Events  []Event // since the last decision, in order, including those of this decision
	Present []int   // jobs present, by priority
	Planned []int   // by job: number of planned workers
	Up      []bool  // by worker
	Done    int     // number of completed jobs

	maker *Maker
}

// Plan returns for each worker the job for which it is planned, or -1. The first call for a
// decision takes O(workers) time.
func (d *Decision) Plan() []int { return d.maker.planner.plan.ByWorker() }

// Hand returns for each worker the job of its running task, or -1. It takes O(workers) time.
func (d *Decision) Hand() []int {
	jobs := make([]int, len(d.maker.hand))
	for w, h := range d.maker.hand {
		jobs[w] = h.job
	}
	return jobs
}

// Totals are the running sums from which a [Maker] computes a [Result].
type Totals struct {
	Planned    float64 `json:"planned"`     // fraction of the jobs present that the plan violates now
	Running    float64 `json:"running"`     // the same for running tasks
	Present    float64 `json:"present"`     // seconds with jobs present
	PlannedBy  float64 `json:"planned_by"`  // ∫ Planned dt
	RunningBy  float64 `json:"running_by"`  // ∫ Running dt
	PlannedSum float64 `json:"planned_sum"` // Σ Planned over decisions with jobs present
	Decisions  int     `json:"decisions"`   // decisions with jobs present
	// ∫ workers that are up, or leaving but busy, dt, since the first submission
	Capacity num.Sum `json:"capacity"`
	Useful   num.Sum `json:"useful"`  // worker-seconds spent on tasks that finish
	Wasted   num.Sum `json:"wasted"`  // worker-seconds spent on other tasks
	Started  bool    `json:"started"` // whether a job has been submitted
	First    float64 `json:"first"`   // time of the first submission
	Last     float64 `json:"last"`    // time of the last completion
}

// check returns an error if a total is negative, infinite or NaN.
func (t *Totals) check() error {
	for _, v := range []struct {
		field string
		value float64
	}{
		{"Planned", t.Planned}, {"Running", t.Running}, {"Present", t.Present}, {"PlannedBy", t.PlannedBy},
		{"RunningBy", t.RunningBy},
		{"PlannedSum", t.PlannedSum}, {"Capacity", t.Capacity.Value()}, {"Useful", t.Useful.Value()},
		{"Wasted", t.Wasted.Value()},
		{"First", t.First}, {"Last", t.Last}, {"Decisions", float64(t.Decisions)},
	} {
		if !(v.value >= 0 && v.value <= math.MaxFloat64) {
			return input.Errorf(v.field, v.value, "a number >= 0")
		}
	}
	return nil
}

// addSubmission updates First for a job submitted at a time.
func (t *Totals) addSubmission(submit float64) {
	if !t.Started || submit < t.First {
		t.First = submit
	}
	t.Started = true
}

// measure adds the interval from now until then to the time averages. Products are rounded before
// they are added, which rules out fused multiply-add, so all machines produce the same digits.
func (m *Maker) measure(then float64) {
	seconds := then - m.now
	if len(m.byPriority.List()) > 0 {
		m.totals.Present += seconds
		m.totals.PlannedBy += float64(m.totals.Planned * seconds)
		m.totals.RunningBy += float64(m.totals.Running * seconds)
	}
	if m.totals.Started {
		m.totals.Capacity.Add(float64(float64(len(m.workers)+m.leaving) * seconds))
	}
}

// judge computes the fractions of the jobs present that are violated, by the plan and by the
// running tasks. A violated job is not served and has a higher priority than some job that is.
func (m *Maker) judge() {
	if len(m.byPriority.List()) == 0 {
		m.totals.Planned, m.totals.Running = 0, 0
		return
	}
	present := float64(len(m.byPriority.List()))
	lowest, others := m.lowest(m.planner.chosen)
	higher := m.higher(lowest, len(m.planner.chosen))
	m.totals.Planned = float64(higher-others) / present
	running, others := m.lowest(m.active)
	if running != lowest {
		higher = m.higher(running, len(m.active))
	}
	m.totals.Running = float64(higher-others) / present
	m.totals.PlannedSum += m.totals.Planned
	m.totals.Decisions++
}

// lowest returns the lowest priority of the served jobs, +Inf if there are none, and the number of
// served jobs with a higher priority.
func (m *Maker) lowest(served []int) (lowest float64, others int) {
	lowest, equal := math.Inf(1), 0
	for _, j := range served {
		switch p := m.claims.of[j].priority; {
		case p < lowest:
			lowest, equal = p, 1
		case p == lowest:
			equal++
		}
	}
	return lowest, len(served) - equal
}

// higher returns the number of jobs present whose priority is above the lowest served priority. The
// boundary is usually near position served, so the search starts there with growing steps.
func (m *Maker) higher(lowest float64, served int) int {
	all, present := m.claims.of, m.byPriority.List()
	low, high := 0, max(served, 1)
	for high < len(present) && all[present[high-1]].priority > lowest {
		low, high = high, 8*high
	}
	between := present[low:min(high, len(present))]
	return low + sort.Search(len(between), func(k int) bool { return all[between[k]].priority <= lowest })
}

// Result summarizes everything until the last moment. Records cover the completed jobs that are not
// forgotten, in order of their numbers; Record.Job is that number. Slowdowns count every worker
// that ever joined, at its current speed. The cost is O(jobs log jobs + workers + entries of
// Works).
func (m *Maker) Result() *Result { return m.result(make([]Record, 0, m.done)) }

// result returns the summary. It appends the records to a list, which may share memory with
// m.records.
func (m *Maker) result(records []Record) *Result {
	res := &Result{Jobs: records, Decisions: m.totals.Decisions}
	fastest, sum := fastestAndSum(m.speeds)
	var waits, delays, slowdowns []float64
	for i := range m.records {
		if m.tasks[i].state != JobCompleted {
			continue
		}
		j, rec := m.jobs[i], m.records[i]
		rec.Delay = rec.Finish - j.Submit
		if late := j.Missed(rec.Finish); late > 0 {
			rec.Missed = late
			res.Missed++
			res.DeadlineMissPenalty += float64(j.Priority * late)
		}
		waits, delays = append(waits, rec.Start-j.Submit), append(delays, rec.Delay)
		if shortest := j.minDuration(fastest, sum); shortest > 0 {
			rec.Slowdown = rec.Delay / shortest
			slowdowns = append(slowdowns, rec.Slowdown)
		}
		res.Tasks += j.Tasks - rec.GivenUp
		res.Lost += rec.Lost
		res.Jobs = append(res.Jobs, rec)
	}
	res.Makespan = max(0, m.totals.Last-m.totals.First)
	res.Waiting, res.Delay, res.Slowdown = spread(waits), spread(delays), spread(slowdowns)
	if m.totals.Present > 0 {
		res.PriorityViolationRate, res.RunningViolationRate = m.totals.PlannedBy/m.totals.Present,
			m.totals.RunningBy/m.totals.Present
	}
	if m.totals.Decisions > 0 {
		res.DecisionViolationRate = m.totals.PlannedSum / float64(m.totals.Decisions)
	}
	if capacity := m.totals.Capacity.Value(); capacity > 0 {
		res.Utilization, res.Wasted = m.totals.Useful.Value()/capacity, m.totals.Wasted.Value()/capacity
	}
	return res
}

// minDuration returns the divisor of [Record.Slowdown], given the largest speed of the workers and
// the sum of their speeds.
func (j *Job) minDuration(fastest, sum float64) float64 {
	if j.Speeds != nil {
		fastest, sum = fastestAndSum(j.Speeds)
	}
	total, largest := j.total()
	return max(total/sum, largest/fastest)
}

func fastestAndSum(speeds []float64) (fastest, sum float64) {
	for _, v := range speeds {
		fastest, sum = max(fastest, v), sum+v
	}
	return fastest, sum
}

// spread summarizes values and sorts them in place.
func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	s := Spread{Count: len(values), Max: values[len(values)-1]}
	for _, v := range values {
		s.Mean += v
	}
	s.Mean /= float64(len(values))
	at := func(percent int) float64 { return values[(len(values)*percent+99)/100-1] }
	s.P50, s.P95, s.P99 = at(50), at(95), at(99)
	return s
}

// SpreadOf summarizes values, which it does not modify. It takes O(n log n) time.
func SpreadOf(values []float64) Spread { return spread(slices.Clone(values)) }

// Quantiles returns, for each level in (0, 1), the smallest value that is not exceeded by at least
// this fraction of the values: that is, value ⌈n level⌉ of the n values in order. These are exact
// quantiles of the given jobs, not estimates for other jobs. At least one value is needed.
// Quantiles takes O(n log n) time and does not modify the values.
func Quantiles(values []float64, levels []*big.Rat) ([]float64, error) {
	if len(values) == 0 {
		return nil, input.Errorf("values", "[]", "at least one")
	}
	sorted := slices.Sorted(slices.Values(values))
	quantiles := make([]float64, len(levels))
	for k, level := range levels {
		if level == nil || level.Sign() <= 0 || level.Cmp(big.NewRat(1, 1)) >= 0 {
			return nil, input.Errorf(input.Index("levels", k), fmt.Sprint(level), "a number > 0 and < 1")
		}
		rank := new(big.Int).Mul(level.Num(), big.NewInt(int64(len(sorted))))
		rank.Add(rank, level.Denom()).Sub(rank, big.NewInt(1)).Quo(rank, level.Denom())
		quantiles[k] = sorted[rank.Int64()-1]
	}
	return quantiles, nil
}
