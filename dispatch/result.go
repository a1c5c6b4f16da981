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

// A Result is the outcome of a run, or of what a [Maker] has seen so far. The live system sends it under the names
// of its fields; answers of commands use the names in the tags.
type Result struct {
	Jobs []Record `name:"-"` // in the order of Scenario.Jobs

	// PriorityViolationRate is the measure of [L14], section 6.3.2: the part of the jobs present for which no
	// worker is planned although one is for a job of lower priority, averaged over the time during which jobs
	// are present. DecisionViolationRate is its average over the decisions with jobs present, each counted
	// once. RunningViolationRate asks for tasks in hand instead of workers planned, over time: a job that waits
	// for tasks of jobs of lower priority to end is violated. All are 0 if there is nothing to average over.
	PriorityViolationRate float64 `name:"average_priority_violation_rate" unit:"of jobs"`
	DecisionViolationRate float64 `name:"decision_violation_rate" unit:"of jobs"`
	RunningViolationRate  float64 `name:"running_violation_rate" unit:"of jobs"`

	DeadlineMissPenalty float64 `name:"deadline_miss_penalty" unit:"priority s"` // Σ_j P_j M_j, M_j = Record.Missed
	Missed              int     `name:"missed" unit:"jobs"`                      // jobs with M_j > 0
	Makespan            float64 `name:"makespan" unit:"s"`                       // first submission to last completion

	Delay    Spread `name:"delay" unit:"s"`    // of Record.Delay
	Slowdown Spread `name:"slowdown" unit:"-"` // of Record.Slowdown, over jobs with work; tiny ones may dominate

	// Utilization is the part of the time of workers that are up that goes into tasks that finish, from the
	// first submission to the last completion; Wasted is the part that goes into tasks that are lost. 0 if no
	// time passes. Time counts between the times at which something happens in [Run]. Rounding may take their
	// sum above 1, by less than 1e-15.
	Utilization float64 `name:"utilization" unit:"of time"`
	Wasted      float64 `name:"wasted" unit:"of time"`

	Lost      int `name:"lost" unit:"tasks"`      // to outages and emergencies, each counted as often as it was
	Decisions int `name:"decisions" unit:"plans"` // with jobs present
	Tasks     int `name:"-"`                      // that finished, all
}

// A Record is what became of a job.
type Record struct {
	Job           int     // place in Scenario.Jobs
	Start, Finish float64 // time of the begin of its first task, and of the end of its last
	Delay         float64 // Finish - submission, seconds

	// Missed is M_j, seconds from deadline to finish; 0 if the job is in time or has no deadline, or is late by no more than 1e-9 of the time on the
	// clock, as the rounding of sums of millions of terms may make it.
	Missed float64

	// Slowdown is T / max(Σ_k w_k / Σ_s v_s, max_k w_k / max_s v_s) for a delay T, tasks of work w_k and workers of speed v_s at them, outages not
	// counted; 0 for a job without work. What it divides by is a bound from below on the time that the job takes alone. In whole tasks it may take
	// longer, on equal workers less than twice as long, on unequal ones many times, so that a job that never waits may have a slowdown above 1.
	Slowdown float64

	Lost    int // tasks in hand that were lost
	GivenUp int // tasks that ended without a result, 0 in a run
}

// lateTol is the part of the time on the clock by which a job may be late and not miss its deadline.
const lateTol = 1e-9

// Missed returns M_j, the seconds > 0 from the deadline of the job to its finish at that time, or 0 if the job has none or is late by no more than
// 1e-9 of the time on the clock, as the rounding of sums of millions of terms may make it.
func (j *Job) Missed(finish float64) float64 {
	if late := finish - j.Deadline; j.Deadline > 0 && late > lateTol*finish {
		return late
	}
	return 0
}

// A Spread sums up a number of values; it is 0 if there is none.
type Spread struct {
	Count int     `name:"-"`    // values
	Mean  float64 `name:"mean"` // of all values

	// P50 is the smallest value that at least 50 percent of all values do not exceed; P95 and P99 are similar.
	P50 float64 `name:"p50"`
	P95 float64 `name:"p95"`
	P99 float64 `name:"p99"`

	Max float64 `name:"max"` // the largest value
}

// A Decision is what [Scenario.Watch] is told. It may be read during the call only.
type Decision struct {
	Time    float64 // in seconds
	Events  []Event // since the last decision, in order, with what it led to
	Present []int   // jobs, by priority
	Planned []int   // by job: workers planned
	Up      []bool  // by worker
	Done    int     // jobs completed

	maker *Maker
}

// Plan returns for each worker the job for which it is planned, or -1. It takes O(workers) time, once a decision.
func (d *Decision) Plan() []int { return d.maker.planner.plan.ByWorker() }

// Hand returns for each worker the job of the task in hand, or -1. It takes O(workers) time.
func (d *Decision) Hand() []int {
	jobs := make([]int, len(d.maker.hand))
	for w, h := range d.maker.hand {
		jobs[w] = h.job
	}
	return jobs
}

// Totals are what a [Maker] sums up on its way, from which it makes a [Result].
type Totals struct {
	Planned    float64 `json:"planned"`     // part of the jobs present that is violated now, by the plan
	Running    float64 `json:"running"`     // likewise, by tasks in hand
	Present    float64 `json:"present"`     // seconds with jobs present
	PlannedBy  float64 `json:"planned_by"`  // ∫ Planned dt
	RunningBy  float64 `json:"running_by"`  // ∫ Running dt
	PlannedSum float64 `json:"planned_sum"` // Σ Planned over decisions with jobs present
	Decisions  int     `json:"decisions"`   // with jobs present
	Capacity   num.Sum `json:"capacity"`    // ∫ workers that are up, or leave with a task in hand, dt, from the first submission on
	Useful     num.Sum `json:"useful"`      // seconds of workers at tasks that finished
	Wasted     num.Sum `json:"wasted"`      // at others
	Started    bool    `json:"started"`     // a job has been submitted
	First      float64 `json:"first"`       // time of the first submission
	Last       float64 `json:"last"`        // time of the last completion
}

// check returns what cannot be.
func (t *Totals) check() error {
	for _, v := range []struct {
		field string
		value float64
	}{
		{"Planned", t.Planned}, {"Running", t.Running}, {"Present", t.Present}, {"PlannedBy", t.PlannedBy}, {"RunningBy", t.RunningBy},
		{"PlannedSum", t.PlannedSum}, {"Capacity", t.Capacity.Value()}, {"Useful", t.Useful.Value()}, {"Wasted", t.Wasted.Value()},
		{"First", t.First}, {"Last", t.Last}, {"Decisions", float64(t.Decisions)},
	} {
		if !(v.value >= 0 && v.value <= math.MaxFloat64) {
			return input.Errorf(v.field, v.value, "a number >= 0")
		}
	}
	return nil
}

// begins takes note of a submission.
func (t *Totals) begins(submit float64) {
	if !t.Started || submit < t.First {
		t.First = submit
	}
	t.Started = true
}

// measure adds the time from now until then to what is averaged over time. Products are rounded before they are added, so that no machine fuses the
// two and all give the same digits.
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

// judge computes the parts of the jobs present that are violated, by the plan and by what runs: those of a higher priority than one of the jobs
// served, not being one.
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

// lowest returns the lowest priority of the jobs served, +Inf if there are none, and how many of them have a higher one.
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

// higher returns how many jobs present have a priority above the lowest of those served. As a rule these are near the front, so the search first goes
// on from their number in growing steps.
func (m *Maker) higher(lowest float64, served int) int {
	all, present := m.claims.of, m.byPriority.List()
	low, high := 0, max(served, 1)
	for high < len(present) && all[present[high-1]].priority > lowest {
		low, high = high, 8*high
	}
	between := present[low:min(high, len(present))]
	return low + sort.Search(len(between), func(k int) bool { return all[between[k]].priority <= lowest })
}

// Result sums up until the last moment, over the jobs that are completed and not forgotten, in the order of their numbers, and over all time. Job of
// a record is the number of the job. The slowdown counts all workers that there ever were, at the speeds that they have now. The cost is O(jobs log
// jobs + workers + tasks with works of their own).
func (m *Maker) Result() *Result { return m.result(make([]Record, 0, m.done)) }

// result sums up, with the records in a list which may be that of m.
func (m *Maker) result(records []Record) *Result {
	res := &Result{Jobs: records, Decisions: m.totals.Decisions}
	fastest, sum := fastestAndSum(m.speeds)
	var delays, slowdowns []float64
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
		delays = append(delays, rec.Delay)
		if alone := j.alone(fastest, sum); alone > 0 {
			rec.Slowdown = rec.Delay / alone
			slowdowns = append(slowdowns, rec.Slowdown)
		}
		res.Tasks += j.Tasks - rec.GivenUp
		res.Lost += rec.Lost
		res.Jobs = append(res.Jobs, rec)
	}
	res.Makespan = max(0, m.totals.Last-m.totals.First)
	res.Delay, res.Slowdown = spread(delays), spread(slowdowns)
	if m.totals.Present > 0 {
		res.PriorityViolationRate, res.RunningViolationRate = m.totals.PlannedBy/m.totals.Present, m.totals.RunningBy/m.totals.Present
	}
	if m.totals.Decisions > 0 {
		res.DecisionViolationRate = m.totals.PlannedSum / float64(m.totals.Decisions)
	}
	if capacity := m.totals.Capacity.Value(); capacity > 0 {
		res.Utilization, res.Wasted = m.totals.Useful.Value()/capacity, m.totals.Wasted.Value()/capacity
	}
	return res
}

// alone returns the time of [Record.Slowdown], given the largest speed of the workers and the sum of all.
func (j *Job) alone(fastest, sum float64) float64 {
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

// spread sums up values, which it sorts.
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

// SpreadOf sums up values, which it does not change. It takes O(n log n) time.
func SpreadOf(values []float64) Spread { return spread(slices.Clone(values)) }

// Quantiles returns for each level in (0, 1) the smallest of the values that the part level of them do not exceed: value ⌈n level⌉ of the n in order.
// A log is run once, and these are of its jobs, without error; what other jobs would find is another question. There must be a value. It takes O(n
// log n) time and does not change the values.
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
