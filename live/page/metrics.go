package page

import (
	"context"
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"productform/dispatch"
	"productform/live/wire"
)

// A collector reports the manager's status as metrics. If no manager responds, it only reports that
// none leads.
type collector struct{ page *page }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pfq_"+name, help, labels, nil)
}

// Describe sends nothing: the set of metrics depends on the manager's response.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(out chan<- prometheus.Metric) {
	put := func(kind prometheus.ValueType, name, help string, v float64, labels ...string) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		var names, values []string
		for k := 0; k < len(labels); k += 2 {
			names, values = append(names, labels[k]), append(values, labels[k+1])
		}
		out <- prometheus.MustNewConstMetric(describe(name, help, names...), kind, v, values...)
	}
	count := func(name, help string, v int, labels ...string) {
		put(prometheus.CounterValue, name, help, float64(v), labels...)
	}
	gauge := func(name, help string, v float64, labels ...string) {
		put(prometheus.GaugeValue, name, help, v, labels...)
	}
	var s wire.Status
	if err := c.page.ask(context.Background(), wire.StatusService, "", &s); err != nil {
		gauge("leader", "1 if a manager leads.", 0)
		return
	}
	gauge("leader", "1 if a manager leads.", 1)
	n := &s.Cluster.Counts
	gauge("jobs", "Jobs by state.", float64(n.Jobs-n.Completed-n.Cancelled), "state", "present")
	gauge("jobs", "Jobs by state.", float64(n.Completed), "state", "completed")
	gauge("jobs", "Jobs by state.", float64(n.Cancelled), "state", "cancelled")
	gauge("tasks", "Tasks by state.", float64(n.Finished), "state", "finished")
	gauge("tasks", "Tasks by state.", float64(n.GivenUp), "state", "given up")
	states := map[wire.WorkerState]int{}
	for _, state := range []wire.WorkerState{
		wire.WorkerJoining, wire.WorkerAvailable, wire.WorkerOccupied, wire.WorkerBusy, wire.WorkerSuspect,
		wire.WorkerDown, wire.WorkerDraining, wire.WorkerGone,
	} {
		states[state] = 0
	}
	assigned := 0
	for _, w := range s.Workers {
		states[w.State]++
		if w.Attempt > 0 {
			assigned++
		}
	}
	for state, number := range states {
		gauge("workers", "Workers by state.", float64(number), "state", string(state))
	}
	gauge("tasks", "Tasks by state.", float64(assigned), "state", "assigned")
	gauge("tasks", "Tasks by state.", float64(max(0, n.Tasks-n.Finished-n.GivenUp-assigned)), "state", "waiting")
	count("decisions_total", "Plans.", int(s.Cluster.Plan))
	count("tasks_begun_total", "Attempts at tasks that began.", n.Begun)
	count("tasks_lost_total", "Attempts that were lost with their workers.", n.Lost)
	count("tasks_preempted_total", "Attempts preempted by emergencies.", n.Preempted)
	count("tasks_failed_total", "Attempts that failed on healthy workers.", n.Failures)
	count("reports_late_total", "Results of attempts that had been taken from their workers.", n.Late)
	count("messages_refused_total", "Messages that were refused.", n.Refused)
	count("workers_down_total", "Workers that went down.", n.Downs)
	count("orders_resent_total", "Orders sent again since this manager began to lead.", s.Resent)
	count("messages_malformed_total", "Unreadable messages since this manager began to lead.", s.Malformed)

	var r dispatch.Result
	if err := c.page.ask(context.Background(), wire.ReportService, "", &r); err != nil {
		return
	}
	gauge(
		"priority_violation_rate",
		"Average fraction of unfinished jobs that have no worker planned while a job of lower priority has one.",
		r.PriorityViolationRate,
	)
	gauge("running_violation_rate", "The same for running tasks.", r.RunningViolationRate)
	gauge("deadline_miss_penalty", "Sum of priority times seconds late.", r.DeadlineMissPenalty)
	gauge("utilization_ratio", "Fraction of the up time of workers spent on tasks that finished.", r.Utilization)
	gauge("wasted_ratio", "Fraction of the up time of workers spent on tasks that were lost.", r.Wasted)
}
